//! The guard before writes: nothing is written to anything this module did not give a [`WriteConsent`] for.
//!
//! Opens nothing for writing. A block device is opened read-only and exclusively, which the kernel grants only while
//! nobody (file system, swap, md, LVM, another namespace) has claimed it; the claim is kept as long as the consent
//! lives, so that nobody can mount the drive in between. Writers must therefore open it without `O_EXCL`.
//!
//! However a drive is named (node, link, NVMe character device, PCI address), it is judged as the block device it is.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::disk::{BlockDevice, DiskError, device_by_generic, device_by_number, number_of};
use crate::mount::mount_of;
use crate::root::Root;
use device::check_devices;
use uses::Uses;

mod claim;
mod device;
mod pci;
mod uses;

/// Files that Fathom makes itself are called `fathom-*.data`; these it may overwrite and remove.
pub const OWN_FILE_PREFIX: &str = "fathom-";
/// End of the names of Fathom's own files.
pub const OWN_FILE_SUFFIX: &str = ".data";

/// Why writing is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// The path cannot be looked at.
    Unreachable,
    /// Neither a regular file nor a block device.
    NotWritableKind,
    /// An existing file that is not Fathom's.
    ForeignFile,
    /// The device is read-only.
    ReadOnly,
    /// The device has no size (an unset zram, an empty reader).
    NoSize,
    /// Holds the running system.
    RootDrive,
    /// A file system on it, or on a partition, is mounted.
    Mounted,
    /// Used for swapping.
    Swap,
    /// md, LVM or device mapper use it.
    Held,
    /// Somebody else has claimed it.
    Claimed,
    /// No `--destroy` names it.
    NoConsent,
    /// It carries somebody's data.
    Signature,
}

/// A refusal: what, why and what to do. Nothing was touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why, for programs.
    pub kind: RefusalKind,
    /// Why, for people.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

/// Permission to write to one target. Only [`check_write_target`] makes it.
#[derive(Debug)]
pub struct WriteConsent {
    path: PathBuf,
    devices: Vec<BlockDevice>,
    _claims: Vec<File>,
}

impl WriteConsent {
    /// What may be written, without links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The device that may be written, when it is one rather than a file; the first of a PCI address.
    #[must_use]
    pub fn device(&self) -> Option<&BlockDevice> {
        self.devices.first()
    }

    /// All devices that may be written: a PCI address stands for every namespace of its drive.
    #[must_use]
    pub fn devices(&self) -> &[BlockDevice] {
        &self.devices
    }

    /// Whether this is the consent for `path`, by whatever name of it.
    #[must_use]
    pub fn covers(&self, path: &Path) -> bool {
        path == self.path || fs::canonicalize(path).is_ok_and(|real| real == self.path)
    }
}

/// Whether a file's name says that Fathom made it.
#[must_use]
pub fn is_own_file_name(path: &Path) -> bool {
    let name = path.file_name().map(|n| n.to_string_lossy()).unwrap_or_default();
    name.len() > OWN_FILE_PREFIX.len() + OWN_FILE_SUFFIX.len()
        && name.starts_with(OWN_FILE_PREFIX)
        && name.ends_with(OWN_FILE_SUFFIX)
}

fn refuse<T>(kind: RefusalKind, message: String, help: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal { kind, message, help: help.into() })
}

/// Says whether `path` may be written, given what the user named with `--destroy`.
///
/// A file that does not exist yet, or whose name says that Fathom made it, is fine. An existing other file needs
/// `--destroy` with exactly this path. A block device, an NVMe character device or a PCI address (`0000:41:00.0`, then
/// all drives behind it) needs `--destroy SERIAL` (the kernel name where it has no serial), and `SERIAL:WORD` for each
/// signature found on it or on its partitions, e.g. `S64GNE0R:gpt+ext`. No word helps against a mounted, swapping, held
/// or claimed device, nor for the drive of the running system.
///
/// # Errors
/// [`Refusal`] with the first reason found; the strongest are looked for first.
pub fn check_write_target(root: &Root, path: &Path, destroy: &[String]) -> Result<WriteConsent, Refusal> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return match path.to_str().and_then(pci::address_of) {
                Some(address) => pci::check_pci(root, path, &address, destroy),
                None => new_file(path),
            };
        }
        Err(error) => return unreachable(path, &error),
    };
    let kind = metadata.file_type();
    let real = fs::canonicalize(path).or_else(|error| unreachable(path, &error))?;
    if kind.is_block_device() {
        let device = device_by_number(root, &number_of(metadata.rdev())).or_else(|error| unknown(path, &error))?;
        return check_devices(root, real.clone(), vec![(device, real)], destroy);
    }
    if kind.is_char_device()
        && let Ok(device) = device_by_generic(root, &number_of(metadata.rdev()))
    {
        return check_generic(root, device, real, destroy);
    }
    if !kind.is_file() {
        return refuse_kind(path, kind);
    }
    check_file(root, path, real, &metadata, destroy)
}

/// An NVMe character device leads to the blocks of its block device, past every claim on that: it is judged as the block
/// device, and the claim on the block device is held while the character device is written.
fn check_generic(root: &Root, device: BlockDevice, real: PathBuf, destroy: &[String]) -> Result<WriteConsent, Refusal> {
    let node = device.dev_path.clone();
    check_devices(root, real, vec![(device, node)], destroy)
}

fn refuse_kind<T>(path: &Path, kind: fs::FileType) -> Result<T, Refusal> {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    // The controller's own node takes commands for every namespace behind it.
    if kind.is_char_device() && name.starts_with("nvme") {
        let message = format!("{} is an NVMe controller, not a namespace", path.display());
        let help = format!(
            "name a namespace: {}n1, or its character device /dev/{}n1",
            path.display(),
            name.replacen("nvme", "ng", 1)
        );
        return refuse(RefusalKind::NotWritableKind, message, help);
    }
    let what = if kind.is_dir() { "a folder" } else { "neither a regular file nor a block device" };
    let help = "name a file to create, or a block device";
    refuse(RefusalKind::NotWritableKind, format!("{} is {what}", path.display()), help)
}

fn unreachable<T>(path: &Path, error: &io::Error) -> Result<T, Refusal> {
    let message = format!("cannot look at {}: {error}", path.display());
    refuse(RefusalKind::Unreachable, message, "check the path and its permissions")
}

fn unknown<T>(path: &Path, error: &DiskError) -> Result<T, Refusal> {
    let message = format!("cannot tell what {} is: {error}", path.display());
    refuse(RefusalKind::Unreachable, message, "Fathom writes only to devices that sysfs describes")
}

fn new_file(path: &Path) -> Result<WriteConsent, Refusal> {
    // A link to nowhere would make the file somewhere else than named.
    if fs::symlink_metadata(path).is_ok() {
        let message = format!("{} is a link to something that does not exist", path.display());
        return refuse(RefusalKind::Unreachable, message, "remove the link or name its goal");
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = fs::canonicalize(folder).or_else(|error| unreachable(folder, &error))?;
    let Some(name) = path.file_name() else {
        return refuse(RefusalKind::NotWritableKind, format!("{} is no file name", path.display()), "name a file");
    };
    // A mistyped device would otherwise become a file that fills the memory behind /dev.
    if folder.starts_with("/dev") && !folder.starts_with("/dev/shm") {
        let message = format!("there is no device {}", path.display());
        return refuse(RefusalKind::Unreachable, message, "`lsblk` lists the block devices of this machine");
    }
    Ok(WriteConsent { path: folder.join(name), devices: Vec::new(), _claims: Vec::new() })
}

fn check_file(
    root: &Root,
    path: &Path,
    real: PathBuf,
    metadata: &fs::Metadata,
    destroy: &[String],
) -> Result<WriteConsent, Refusal> {
    refuse_kernel_file(root, path, &real)?;
    let uses = Uses::read(root)?;
    let inode = Some((metadata.dev(), metadata.ino()));
    let inode_of = |name: &str| fs::metadata(root.join(name.trim_start_matches('/'))).ok().map(|m| (m.dev(), m.ino()));
    if uses.swaps.iter().any(|s| inode_of(&s.path) == inode) {
        let message = format!("{} is swap space in use", path.display());
        return refuse(RefusalKind::Swap, message, "choose another file");
    }
    if let Some(user) = uses.loops.iter().find(|l| inode_of(&l.backing) == inode) {
        let message = format!("{} is in use as the loop device {}", path.display(), user.name);
        let help = format!("choose another file, or first: losetup -d /dev/{}", user.name);
        return refuse(RefusalKind::Held, message, help);
    }
    let named = destroy.iter().any(|d| Path::new(d) == path || Path::new(d) == real);
    // An empty file has nothing to lose.
    if !named && !is_own_file_name(&real) && metadata.len() > 0 {
        let message = format!("{} exists and was not made by Fathom ({} bytes)", path.display(), metadata.len());
        let help = format!(
            "name a file that does not exist (Fathom's own are called {OWN_FILE_PREFIX}*{OWN_FILE_SUFFIX}), or allow \
             its loss: --destroy {}",
            path.display()
        );
        return refuse(RefusalKind::ForeignFile, message, help);
    }
    Ok(WriteConsent { path: real, devices: Vec::new(), _claims: Vec::new() })
}

/// Files that are switches of the kernel look like regular, empty ones.
fn refuse_kernel_file(root: &Root, path: &Path, real: &Path) -> Result<(), Refusal> {
    const KERNEL: [&str; 12] = [
        "proc",
        "sysfs",
        "cgroup",
        "cgroup2",
        "debugfs",
        "tracefs",
        "configfs",
        "securityfs",
        "efivarfs",
        "bpf",
        "pstore",
        "devtmpfs",
    ];
    let mount = mount_of(root, real).ok().flatten();
    match mount.filter(|m| KERNEL.contains(&&*m.fs_type)) {
        None => Ok(()),
        Some(mount) => {
            let message = format!("{} is a file of the kernel ({})", path.display(), mount.fs_type);
            refuse(RefusalKind::NotWritableKind, message, "name a file to create, or a block device")
        }
    }
}

#[cfg(test)]
mod real;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod tests;
