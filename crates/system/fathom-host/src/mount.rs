//! Mounted file systems (/proc/self/mountinfo) and their free space.

use std::io;
use std::path::{Path, PathBuf};

use fathom_message::msg;
use serde::{Deserialize, Serialize};

use crate::root::{ProbeError, Root};
use crate::sys;
use crate::system::machine;

/// A mounted file system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mount {
    /// Directory on which it is mounted.
    pub mount_point: PathBuf,
    /// `ext4`, `xfs`, `tmpfs`...
    pub fs_type: String,
    /// What: a device node for file systems on block devices.
    pub source: String,
    /// `MAJ:MIN` of its files' st_dev; major 0 for file systems without a block device of their own (and btrfs).
    pub device_number: String,
    /// Options of mount and file system, comma separated.
    pub options: String,
    /// Mounted read-only.
    pub read_only: bool,
}

/// All mounts visible to this process, in mount order.
///
/// # Errors
/// [`ProbeError`] when /proc/self/mountinfo cannot be read or a line does not look as in proc_pid_mountinfo(5).
pub fn mounts(root: &Root) -> Result<Vec<Mount>, ProbeError> {
    let text = root.read("proc/self/mountinfo")?;
    let path = root.join("proc/self/mountinfo");
    text.lines()
        .map(|line| {
            parse_line(line).ok_or_else(|| ProbeError::parse(&path, msg!("probe-bad-line", line = line.to_owned())))
        })
        .collect()
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`: any number of optional fields
/// stands before the single dash.
fn parse_line(line: &str) -> Option<Mount> {
    let (head, tail) = line.split_once(" - ")?;
    let head: Vec<&str> = head.split(' ').collect();
    let (device_number, mount_point, options) = (head.get(2)?, head.get(4)?, head.get(5)?);
    let mut tail = tail.split(' ');
    let (fs_type, source) = (tail.next()?, tail.next()?);
    let fs_options = tail.next().unwrap_or("");
    let read_only = options.split(',').chain(fs_options.split(',')).any(|o| o == "ro");
    Some(Mount {
        mount_point: PathBuf::from(unescape(mount_point)),
        fs_type: fs_type.to_owned(),
        source: unescape(source),
        device_number: (*device_number).to_owned(),
        options: if fs_options.is_empty() { (*options).to_owned() } else { format!("{options},{fs_options}") },
        read_only,
    })
}

/// Undoes the kernel's octal escapes of blank, tab, newline and backslash.
pub(crate) fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code = tail.get(..3).filter(|d| first == b'\\' && d.iter().all(|b| (b'0'..=b'7').contains(b)));
        if let Some(digits) = code {
            let value = digits.iter().fold(0u32, |v, d| v * 8 + u32::from(d - b'0'));
            bytes.push(value as u8);
            rest = &tail[3..];
        } else {
            bytes.push(first);
            rest = tail;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The mount that holds `path`, which is absolute and without links: the longest mount point above it, and of equal
/// ones the last mounted, because it hides the others.
///
/// # Errors
/// [`ProbeError`] when the mounts cannot be read.
pub fn mount_of(root: &Root, path: &Path) -> Result<Option<Mount>, ProbeError> {
    if let Some(told) = machine::mount_of(root, path) {
        return Ok(told);
    }
    let above = mounts(root)?.into_iter().filter(|m| path.starts_with(&m.mount_point));
    Ok(above.max_by_key(|m| m.mount_point.components().count()))
}

/// Bytes an unprivileged user may still write to the file system that holds `path`.
///
/// # Errors
/// As statvfs(3), e.g. `NotFound`.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    sys::free_bytes(path)
}

/// Files an unprivileged user may still make in the file system of `path`; `None` where it sets no limit.
///
/// # Errors
/// The path does not exist or cannot be looked at.
pub fn free_files(path: &Path) -> io::Result<Option<u64>> {
    sys::free_files(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tree::Tree;

    const MOUNTS: &str = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n\
        30 27 259:2 / /srv/my\\040data ro,noatime shared:1 master:2 - xfs /dev/nvme0n1p2 rw,attr2\n\
        31 27 0:25 / /srv rw - tmpfs none rw,size=4k\n\
        32 27 0:26 / /srv rw - btrfs /dev/sdb rw\n";

    #[test]
    fn the_deepest_and_last_mount_holds_a_path() {
        let tree = Tree::new();
        tree.file("proc/self/mountinfo", MOUNTS);
        let find = |path: &str| mount_of(&tree.root(), Path::new(path)).expect("reads").expect("found");
        assert_eq!(find("/home/x").fs_type, "ext4");
        assert_eq!(find("/srv/x").fs_type, "btrfs");
        assert_eq!(find("/srvx").mount_point, Path::new("/"));
        let data = find("/srv/my data/f");
        assert_eq!((data.fs_type.as_str(), data.device_number.as_str(), data.read_only), ("xfs", "259:2", true));
        assert_eq!(data.options, "ro,noatime,rw,attr2");
    }

    #[test]
    fn a_line_without_its_dash_is_an_error() {
        let tree = Tree::new();
        tree.file("proc/self/mountinfo", "27 1 254:0 / / rw\n");
        assert!(mounts(&tree.root()).expect_err("bad line").to_string().contains("254:0"));
    }

    #[test]
    fn free_space_of_the_temporary_folder_is_known_and_a_missing_path_is_an_error() {
        assert!(free_bytes(&std::env::temp_dir()).expect("statvfs") > 0);
        assert_eq!(free_bytes(Path::new("/no/such/path")).expect_err("missing").kind(), io::ErrorKind::NotFound);
    }
}
