//! Which process a running run belongs to, and who holds a lock: both from /proc.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process;

use fathom_message::{Arg, Join, Message, msg};

/// The process at work on a run. The number alone says little, since it is used again: start time and boot go with it.
///
/// Processes of another PID namespace (a container) cannot be seen; their runs look interrupted from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) pid: u32,
    /// Start in clock ticks since boot, field 22 of proc_pid_stat(5).
    pub(crate) started_ticks: u64,
    pub(crate) boot_id: String,
}

impl Owner {
    /// This process.
    pub(crate) fn this() -> Owner {
        let pid = process::id();
        Owner { pid, started_ticks: started_ticks(pid).unwrap_or(0), boot_id: boot_id() }
    }

    /// Whether that very process still lives.
    pub(crate) fn is_alive(&self) -> bool {
        self.boot_id == boot_id() && started_ticks(self.pid) == Some(self.started_ticks)
    }
}

fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|text| text.trim().to_owned()).unwrap_or_default()
}

/// `None` when there is no such process, or only its remains (a zombie works on nothing).
fn started_ticks(pid: u32) -> Option<u64> {
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

/// Who holds locks on the lab or the files SQLite keeps beside it (/proc/locks).
pub(crate) fn lock_holders(path: &Path) -> Message {
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
    if holders.is_empty() {
        return msg!("lab-another-process");
    }
    let named = holders.iter().map(|pid| match fs::read_to_string(format!("/proc/{pid}/comm")) {
        Ok(name) => msg!("lab-process-named", pid = *pid, name = name.trim().to_owned()),
        Err(_) => msg!("lab-process", pid = *pid),
    });
    msg!("several", list = Arg::list(named, Join::Comma))
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
    fn this_process_lives_and_a_reused_number_or_an_older_boot_does_not() {
        let this = Owner::this();
        assert!(this.is_alive());
        assert!(!Owner { started_ticks: this.started_ticks + 1, ..this.clone() }.is_alive());
        assert!(!Owner { boot_id: "another".to_owned(), ..this }.is_alive());
    }

    #[test]
    fn a_process_that_ended_is_dead_even_before_it_is_reaped() {
        let mut child = process::Command::new("sleep").arg("60").spawn().expect("sleep");
        let pid = child.id();
        let owner = Owner { pid, started_ticks: started_ticks(pid).expect("alive"), boot_id: boot_id() };
        assert!(owner.is_alive());
        child.kill().expect("killed");
        child.wait().expect("reaped");
        assert!(!owner.is_alive());
    }

    #[test]
    fn only_writers_of_our_inode_count_as_holders() {
        let ours = ["56789".to_owned()];
        assert_eq!(holder_of("1: POSIX  ADVISORY  WRITE 1234 fe:00:56789 0 EOF", &ours), Some(1234));
        assert_eq!(holder_of("1: -> POSIX  ADVISORY  WRITE 77 fe:00:56789 0 EOF", &ours), Some(77));
        assert_eq!(holder_of("1: POSIX  ADVISORY  READ 1234 fe:00:56789 0 EOF", &ours), None);
        assert_eq!(holder_of("1: POSIX  ADVISORY  WRITE 1234 fe:00:5678 0 EOF", &ours), None);
    }
}
