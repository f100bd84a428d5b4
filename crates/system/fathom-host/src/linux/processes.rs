//! Other processes of this machine: whether one still is the one it was, and who holds a lock. Both from /proc.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// What tells the starts of this machine apart; empty where the kernel does not say.
#[must_use]
pub fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|text| text.trim().to_owned()).unwrap_or_default()
}

/// When a process was started, in clock ticks since boot (field 22 of proc_pid_stat(5)). `None` when there is no such process, or only its remains (a zombie works on nothing).
#[must_use]
pub fn started_ticks(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold blanks and brackets; what follows the last bracket starts with field 3, the state.
    let mut fields = text.get(text.rfind(')')? + 1..)?.split_ascii_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

/// How often the kernel's list of locks is read before it counts as silent.
const LOOKS: usize = 8;

/// Who holds locks on a database or the files SQLite keeps beside it (/proc/locks), with their names.
#[must_use]
pub fn lock_holders(path: &Path) -> Vec<(u32, Option<String>)> {
    let beside = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let files = [path.to_owned(), beside("-shm"), beside("-wal")];
    let inodes: Vec<String> = files.iter().filter_map(|f| fs::metadata(f).ok()).map(|m| m.ino().to_string()).collect();
    let look = || -> Vec<u32> {
        let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
        locks.lines().filter_map(|line| holder_of(line, &inodes)).collect()
    };
    // The kernel walks the list lock by lock and may pass one over while others come and go.
    let mut holders = (0..LOOKS).map(|_| look()).find(|found| !found.is_empty()).unwrap_or_default();
    holders.sort_unstable();
    holders.dedup();
    let name = |pid: u32| fs::read_to_string(format!("/proc/{pid}/comm")).ok().map(|name| name.trim().to_owned());
    holders.into_iter().map(|pid| (pid, name(pid))).collect()
}

/// Process of a line such as `1: POSIX  ADVISORY  WRITE 1234 fe:00:56789 0 EOF` when it holds a write lock on one of
/// the inodes. Readers are left out: SQLite's readers do not stand in a writer's way.
fn holder_of(line: &str, inodes: &[String]) -> Option<u32> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let at = fields.iter().position(|f| *f == "WRITE")?;
    let inode = fields.get(at + 2)?.rsplit(':').next()?;
    inodes.iter().any(|i| i == inode).then(|| fields[at + 1].parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_writers_of_our_inode_count_as_holders() {
        let ours = ["56789".to_owned()];
        assert_eq!(holder_of("1: POSIX  ADVISORY  WRITE 1234 fe:00:56789 0 EOF", &ours), Some(1234));
        assert_eq!(holder_of("1: -> POSIX  ADVISORY  WRITE 77 fe:00:56789 0 EOF", &ours), Some(77));
        assert_eq!(holder_of("1: POSIX  ADVISORY  READ 1234 fe:00:56789 0 EOF", &ours), None);
        assert_eq!(holder_of("1: POSIX  ADVISORY  WRITE 1234 fe:00:5678 0 EOF", &ours), None);
    }
}
