//! Which processes have a file or device open, or mapped, for writing: `/proc/PID/fd`, `fdinfo` and `maps`.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::disk::number_of;
use crate::node::Identity;
use crate::root::{Root, attribute, names_in};
use crate::system::code;
use crate::system::files::{self, FileType};

/// A process with something open for writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Writer {
    pub(crate) pid: u32,
    /// Name of its program (`/proc/PID/comm`).
    pub(crate) program: String,
    what: Key,
}

/// What a descriptor leads to: as far as stat(2) tells.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Key {
    File(u64, u64),
    Block(u64),
    Character(u64),
}

/// All of them, read once: a host may have a hundred thousand open files.
#[derive(Debug, Default)]
pub(crate) struct Writers(Vec<Writer>);

impl Writers {
    /// Every writer but this process. Processes that cannot be looked into are left out.
    pub(crate) fn read(root: &Root) -> Writers {
        let own = std::process::id();
        Writers(pids(root).filter(|pid| *pid != own || !root.is_live()).flat_map(|pid| of_process(root, pid)).collect())
    }

    /// Who writes to this.
    pub(crate) fn of(&self, identity: &Identity) -> Option<&Writer> {
        let wanted = match identity {
            Identity::File { device, inode } => Key::File(*device, *inode),
            Identity::Block { number, .. } => Key::Block(*number),
            Identity::Generic { number, .. } => Key::Character(*number),
            Identity::Other => return None,
        };
        self.0.iter().find(|w| w.what == wanted)
    }

    /// Who writes to the block device with this `MAJ:MIN`.
    pub(crate) fn of_block(&self, number: &str) -> Option<&Writer> {
        self.0.iter().find(|w| matches!(w.what, Key::Block(n) if number_of(n) == number))
    }
}

fn pids(root: &Root) -> impl Iterator<Item = u32> {
    names_in(&root.join("proc")).into_iter().filter_map(|name| name.parse().ok())
}

/// Number and name of a process, also this one, that has the node open for writing.
pub(crate) fn holder_of(root: &Root, node: &Path) -> Option<(u32, String)> {
    let wanted = key_of(node)?;
    let held = |pid| of_process(root, pid).into_iter().find(|writer| writer.what == wanted);
    pids(root).find_map(held).map(|writer| (writer.pid, writer.program))
}

/// Who writes to it, if somebody still does after a moment: a tool that sets a device up opens it for writing in passing.
pub(crate) fn lasting_writer(root: &Root, of: impl Fn(&Writers) -> Option<&Writer>) -> Option<Writer> {
    let mut writer = of(&Writers::read(root)).cloned()?;
    for _ in 0..LOOKS {
        if root.is_live() {
            std::thread::sleep(LOOK);
        }
        writer = of(&Writers::read(root)).cloned()?;
    }
    Some(writer)
}

/// How often is looked again, and after what time each.
const LOOKS: u32 = 3;
const LOOK: Duration = Duration::from_millis(100);

fn of_process(root: &Root, pid: u32) -> Vec<Writer> {
    let home = root.join("proc").join(pid.to_string());
    let open = names_in(&home.join("fd")).into_iter().filter_map(|fd| {
        let key = key_of(&home.join("fd").join(&fd))?;
        is_writable(&home.join("fdinfo").join(&fd)).then_some(key)
    });
    let keys: Vec<Key> = open.chain(mapped(&home)).collect();
    if keys.is_empty() {
        return Vec::new();
    }
    let program = attribute(&home.join("comm")).unwrap_or_default();
    keys.into_iter().map(|what| Writer { pid, program: program.clone(), what }).collect()
}

fn key_of(path: &Path) -> Option<Key> {
    let stat = files::stat(path).ok()?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Some(Key::File(stat.st_dev, stat.st_ino)),
        FileType::BlockDevice => Some(Key::Block(stat.st_rdev)),
        FileType::CharacterDevice if code::major(stat.st_rdev) >= CHARACTER_MAJOR_MIN => {
            Some(Key::Character(stat.st_rdev))
        }
        _ => None,
    }
}

/// Below are terminals, memory and the like, which every process has open; NVMe's are given out from 234 downwards and
/// from 511 downwards.
const CHARACTER_MAJOR_MIN: u32 = 200;

/// `flags:` of fdinfo is the octal of open(2).
fn is_writable(fdinfo: &Path) -> bool {
    let text = fs::read_to_string(fdinfo).unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| i32::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & code::O_PATH == 0 && flags & code::O_ACCMODE != code::O_RDONLY)
}

/// Shared writable mappings outlive the descriptor they were made from. The device number in `maps` is not that of stat(2)
/// on every file system; the link in `map_files` leads to the file itself.
fn mapped(home: &Path) -> Vec<Key> {
    let text = fs::read_to_string(home.join("maps")).unwrap_or_default();
    let shared = text.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let (range, rights) = (words.next()?, words.next()?);
        let inode = words.nth(2)?;
        (rights.starts_with("rw") && rights.ends_with('s') && inode != "0").then(|| home.join("map_files").join(range))
    });
    shared.filter_map(|link| key_of(&link)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tree::Tree;

    #[test]
    fn who_may_write_is_found_and_who_only_reads_is_not() {
        let tree = Tree::new();
        tree.file("data/image", "x").file("data/mapped", "x").file("data/read", "x");
        tree.file("proc/7/comm", "qemu-system-x86\n")
            .link("proc/7/fd/3", "../../../data/image")
            .file("proc/7/fdinfo/3", "pos:\t0\nflags:\t02100002\n")
            .link("proc/7/fd/4", "../../../data/read")
            .file("proc/7/fdinfo/4", "pos:\t0\nflags:\t0100000\n")
            .file("proc/7/maps", "7f00-7f10 rw-s 00000000 fe:00 12 /data/mapped\n7f20-7f30 r--s 0 fe:00 13 /x\n")
            .link("proc/7/map_files/7f00-7f10", "../../../data/mapped");
        let writers = Writers::read(&tree.root());
        let of = |name: &str| {
            let meta = files::stat(tree.root().join("data").join(name)).expect("file");
            writers.of(&Identity::File { device: meta.st_dev, inode: meta.st_ino }).map(|w| (w.pid, w.program.as_str()))
        };
        assert_eq!(of("image"), Some((7, "qemu-system-x86")));
        assert_eq!(of("mapped"), Some((7, "qemu-system-x86")));
        assert_eq!(of("read"), None);
    }
}
