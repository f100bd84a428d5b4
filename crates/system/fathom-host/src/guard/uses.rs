//! Who uses what on this machine, read once per question: mounts, swap, btrfs members, loop devices.

use std::fs::{self, File};
use std::path::Path;

use fathom_message::{Say as _, msg};

use super::{Refusal, RefusalKind, refuse};
use crate::disk::number_of;
use crate::mount::{Mount, mounts, unescape};
use crate::root::{Root, attribute, names_in};
use crate::sys;
use crate::system::files::{self, FileType, Stat};

/// Swap space in use.
pub(crate) struct Swap {
    /// As the kernel prints it.
    pub(crate) path: String,
    /// A file on a file system, rather than a device.
    pub(crate) is_file: bool,
}

/// A mounted btrfs: its mount names one device, sysfs all of them.
pub(crate) struct Btrfs {
    /// Its id.
    pub(crate) id: String,
    /// Kernel names of devices and partitions.
    pub(crate) members: Vec<String>,
}

/// An attached loop device.
pub(crate) struct Loop {
    /// Kernel name.
    pub(crate) name: String,
    /// What it shows, a path: one of perhaps several names, or none any more.
    pub(crate) backing: String,
    /// The same as the kernel holds it: device and inode of the file, and the number of the device where it is one.
    pub(crate) shows: Option<(u64, u64, u64)>,
}

impl Loop {
    /// Whether both show the same file or device.
    pub(crate) fn shows_same(&self, other: &Loop) -> bool {
        match (self.shows, other.shows) {
            (Some(a), Some(b)) => a == b,
            _ => self.backing == other.backing,
        }
    }

    /// `MAJ:MIN` of the device it shows.
    pub(crate) fn shown_number(&self) -> Option<String> {
        self.shows.filter(|(.., number)| *number != 0).map(|(.., number)| number_of(number))
    }
}

/// The uses.
pub(crate) struct Uses {
    pub(crate) mounts: Vec<Mount>,
    pub(crate) swaps: Vec<Swap>,
    pub(crate) btrfs: Vec<Btrfs>,
    pub(crate) loops: Vec<Loop>,
}

impl Uses {
    /// Reads them; refuses when mounts or swap cannot be seen.
    pub(crate) fn read(root: &Root) -> Result<Uses, Refusal> {
        let mounts = mounts(root).or_else(|error| {
            let message = msg!("guard-mounts-unknown", error = error.message());
            refuse(RefusalKind::Unreachable, message, msg!("guard-mounts-unknown-help"))
        })?;
        Ok(Uses { mounts, swaps: swaps(root)?, btrfs: btrfs(root), loops: loops(root) })
    }

    /// Kernel name of the device or partition that a path of a node means, links followed.
    pub(crate) fn node_name(root: &Root, path: &str) -> Option<String> {
        let below = Path::new(path).strip_prefix("/").ok()?;
        let node = fs::canonicalize(root.join(below)).unwrap_or_else(|_| root.join(below));
        let is_block_device = |stat: &Stat| FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
        // The number tells even for a node that lies elsewhere under another name.
        let numbered = files::stat(&node).ok().filter(is_block_device).and_then(|stat| {
            let link = root.join("sys/dev/block").join(number_of(stat.st_rdev));
            fs::canonicalize(link).ok()
        });
        let named = numbered.unwrap_or(node);
        let name = named.file_name()?.to_str()?.to_owned();
        root.join("sys/class/block").join(&name).exists().then_some(name)
    }
}

/// /proc/swaps (proc_swaps(5)). A kernel without swapping has no such file.
fn swaps(root: &Root) -> Result<Vec<Swap>, Refusal> {
    let text = match fs::read_to_string(root.join("proc/swaps")) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            let message = msg!("guard-swap-unknown", error = error);
            return refuse(RefusalKind::Unreachable, message, msg!("guard-swap-unknown-help"));
        }
    };
    let swap = |line: &str| {
        let mut words = line.split_whitespace();
        let path = unescape(words.next()?);
        Some(Swap { path, is_file: words.next() == Some("file") })
    };
    Ok(text.lines().skip(1).filter_map(swap).collect())
}

/// `/sys/fs/btrfs/ID/devices/NAME`, there while the file system is mounted.
fn btrfs(root: &Root) -> Vec<Btrfs> {
    let home = root.join("sys/fs/btrfs");
    let of = |id: String| Btrfs { members: names_in(&home.join(&id).join("devices")), id };
    names_in(&home).into_iter().map(of).filter(|b| !b.members.is_empty()).collect()
}

fn loops(root: &Root) -> Vec<Loop> {
    let home = root.join("sys/block");
    let of = |name: String| {
        let backing = attribute(&home.join(&name).join("loop/backing_file"))?;
        let device = File::open(root.join("dev").join(&name)).ok().filter(|_| root.is_live());
        let shows = device.and_then(|device| sys::loop_backing(&device));
        Some(Loop { name, backing: backing.trim_end_matches(" (deleted)").to_owned(), shows })
    };
    names_in(&home).into_iter().filter(|n| n.starts_with("loop")).filter_map(of).collect()
}
