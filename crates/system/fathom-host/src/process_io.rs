//! What a program had the devices do, by the kernel's account of each process.

use std::fs;

use crate::root::Root;
use crate::tasks::children_of;

/// Bytes that process `pid` and all that it started have fetched from devices since they began: what came out of the page
/// cache is not among them. `None` where the kernel does not tell, or not this user. Children that ended are not counted.
#[must_use]
pub fn fetched_bytes(root: &Root, pid: u32) -> Option<u64> {
    let mut found = vec![pid];
    let mut next = 0;
    let mut bytes = None;
    while let Some(pid) = found.get(next).copied() {
        next += 1;
        found.extend(children_of(root, pid));
        let text = fs::read_to_string(root.join(format!("proc/{pid}/io"))).unwrap_or_default();
        let own = text.lines().find_map(|line| line.strip_prefix("read_bytes: ")?.trim().parse::<u64>().ok());
        if let Some(own) = own {
            bytes = Some(bytes.unwrap_or(0) + own);
        }
    }
    bytes
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::unix::fs::OpenOptionsExt as _;

    use super::*;

    #[test]
    fn what_is_read_around_the_page_cache_is_counted_and_what_it_holds_is_not() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder on a disk");
        let path = folder.path().join("f");
        fs::write(&path, vec![7; 1 << 20]).expect("a file");
        // Of this process alone: programs that other tests start come and go.
        let all = || {
            let text = fs::read_to_string("/proc/self/io").expect("the kernel tells");
            let own =
                text.lines().find_map(|line| line.strip_prefix("read_bytes: ")?.parse::<u64>().ok()).expect("a count");
            assert!(fetched_bytes(&Root::live(), std::process::id()).expect("told") >= own);
            own
        };
        let before = all();
        assert_eq!(fs::read(&path).expect("in memory").len(), 1 << 20);
        // Other tests of this process may read a little.
        assert!(all() - before < 1 << 20);
        let before = all();
        let mut file = fs::OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(&path).expect("O_DIRECT");
        let mut buffer = vec![0; (1 << 20) + 4096];
        let start = buffer.as_ptr().align_offset(4096);
        file.read_exact(&mut buffer[start..start + (1 << 20)]).expect("read");
        assert!(all() - before >= 1 << 20);
        assert_eq!(fetched_bytes(&Root::live(), u32::MAX), None);
    }
}
