//! The guard before writes: nothing is written to anything this module did not give a [`WriteConsent`] for.
//!
//! Opens nothing for writing. A block device is opened read-only and exclusively, which the kernel grants only while
//! nobody (file system, swap, md, LVM, another namespace) has claimed it; the claim is kept as long as the consent
//! lives, so that nobody can mount the drive in between. Writers must therefore open it without `O_EXCL`.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::disk::{BlockDevice, DeviceKind, DiskError, device_by_generic, device_by_name, device_by_number, number_of};
use crate::mount::{Mount, mounts};
use crate::root::{Root, attribute, names_in};
use crate::signature::signatures_of;

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
    device: Option<BlockDevice>,
    _claim: Option<File>,
}

impl WriteConsent {
    /// What may be written, without links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The device that may be written, when it is one rather than a file.
    #[must_use]
    pub fn device(&self) -> Option<&BlockDevice> {
        self.device.as_ref()
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
/// `--destroy` with exactly this path. A block device needs `--destroy SERIAL` (the kernel name where it has no
/// serial), and `SERIAL:WORD` for each signature found on it, e.g. `S64GNE0R:ext`. No word helps against a mounted,
/// swapping, held or claimed device, nor for the drive of the running system.
///
/// # Errors
/// [`Refusal`] with the first reason found; the strongest are looked for first.
pub fn check_write_target(root: &Root, path: &Path, destroy: &[String]) -> Result<WriteConsent, Refusal> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return new_file(path),
        Err(error) => return unreachable(path, &error),
    };
    let kind = metadata.file_type();
    let real = fs::canonicalize(path).or_else(|error| unreachable(path, &error))?;
    if kind.is_block_device() {
        let device = device_by_number(root, &number_of(metadata.rdev())).or_else(|error| unknown(path, &error))?;
        return check_device(root, device, &real, destroy);
    }
    if kind.is_char_device()
        && let Ok(device) = device_by_generic(root, &number_of(metadata.rdev()))
    {
        return check_generic(root, device, real, destroy);
    }
    if !kind.is_file() {
        let what = if kind.is_dir() { "a folder" } else { "neither a regular file nor a block device" };
        let help = "name a file to create, or a block device";
        return refuse(RefusalKind::NotWritableKind, format!("{} is {what}", path.display()), help);
    }
    check_file(root, path, real, &metadata, destroy)
}

/// An NVMe character device leads to the blocks of its block device, past every claim on that: it is judged as the block
/// device, and the claim on the block device is held while the character device is written.
fn check_generic(root: &Root, device: BlockDevice, real: PathBuf, destroy: &[String]) -> Result<WriteConsent, Refusal> {
    let node = device.dev_path.clone();
    let consent = check_device(root, device, &node, destroy)?;
    Ok(WriteConsent { path: real, ..consent })
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
    Ok(WriteConsent { path: folder.join(name), device: None, _claim: None })
}

fn check_file(
    root: &Root,
    path: &Path,
    real: PathBuf,
    metadata: &fs::Metadata,
    destroy: &[String],
) -> Result<WriteConsent, Refusal> {
    let inode = (metadata.dev(), metadata.ino());
    let swapping = swaps(root).iter().any(|s| fs::metadata(s).is_ok_and(|m| (m.dev(), m.ino()) == inode));
    if swapping {
        let message = format!("{} is swap space in use", path.display());
        return refuse(RefusalKind::Swap, message, "choose another file");
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
    Ok(WriteConsent { path: real, device: None, _claim: None })
}

/// The whole device and its partitions: (kernel name, `MAJ:MIN`, folder in sysfs).
struct Part {
    name: String,
    number: String,
    home: PathBuf,
}

fn parts_of(root: &Root, device: &BlockDevice) -> Vec<Part> {
    let home = root.join("sys/class/block").join(&device.name);
    let mut parts = vec![Part { name: device.name.clone(), number: device.number.clone(), home: home.clone() }];
    for name in names_in(&home) {
        let part = home.join(&name);
        if part.join("partition").exists() {
            parts.push(Part { number: attribute(&part.join("dev")).unwrap_or_default(), name, home: part });
        }
    }
    parts
}

fn check_device(root: &Root, device: BlockDevice, real: &Path, destroy: &[String]) -> Result<WriteConsent, Refusal> {
    let parts = parts_of(root, &device);
    let mounted = mounts(root).or_else(|error| {
        let message = format!("cannot tell what is mounted: {error}");
        refuse(RefusalKind::Unreachable, message, "Fathom writes to no device while it cannot see the mounts")
    })?;
    refuse_root_drive(root, &device, &mounted)?;
    refuse_mounted(&device, &parts, &mounted)?;
    refuse_swap(root, &device, &parts)?;
    refuse_held(&device, &parts)?;
    let path = device.dev_path.display();
    if device.read_only {
        return refuse(RefusalKind::ReadOnly, format!("{path} is read-only"), "choose another drive");
    }
    if device.size_bytes == 0 {
        let help = match device.kind {
            DeviceKind::Zram => format!("set a size first: echo 8G > /sys/block/{}/disksize", device.name),
            _ => "choose another drive, or attach a medium".to_owned(),
        };
        return refuse(RefusalKind::NoSize, format!("{path} has no size"), help);
    }
    let consent = destroy.iter().any(|d| covers(d, device.consent_name()).is_some());
    if !consent {
        let message = format!("{path} would be overwritten, and no --destroy names it");
        let help = format!("if all data on it may be lost: --destroy {}", device.consent_name());
        return refuse(RefusalKind::NoConsent, message, help);
    }
    let claim = claim(root, &device, real, destroy)?;
    Ok(WriteConsent { path: real.to_owned(), device: Some(device), _claim: Some(claim) })
}

/// The signature words after `NAME:` in a `--destroy` value; empty for `NAME` alone, `None` for another drive.
fn covers<'d>(destroy: &'d str, name: &str) -> Option<&'d str> {
    let rest = destroy.strip_prefix(name)?;
    if rest.is_empty() { Some("") } else { rest.strip_prefix(':') }
}

/// Kernel names of all whole disks that the running system stands on.
fn system_disks(root: &Root, mounted: &[Mount]) -> Vec<String> {
    const SYSTEM_MOUNTS: [&str; 4] = ["/", "/boot", "/boot/efi", "/usr"];
    let is_system = |mount: &&Mount| SYSTEM_MOUNTS.iter().any(|point| mount.mount_point == Path::new(point));
    let devices = mounted.iter().filter(is_system).filter_map(|mount| {
        // btrfs mounts have a number of no device; their source has a name.
        let by_name = || device_by_name(root, Path::new(&mount.source).file_name()?.to_str()?).ok();
        device_by_number(root, &mount.device_number).ok().or_else(by_name)
    });
    disks_below(root, devices.collect())
}

/// Kernel names of the devices and of all that lies below them.
fn disks_below(root: &Root, mut open: Vec<BlockDevice>) -> Vec<String> {
    let mut names = Vec::new();
    while let Some(device) = open.pop() {
        if names.contains(&device.name) {
            continue;
        }
        // What is below a loop device is a file, not a disk.
        if device.kind != DeviceKind::Loop {
            open.extend(device.slaves.iter().filter_map(|slave| device_by_name(root, slave).ok()));
        }
        names.push(device.name);
    }
    names
}

fn refuse_root_drive(root: &Root, device: &BlockDevice, mounted: &[Mount]) -> Result<(), Refusal> {
    let system = system_disks(root, mounted);
    match disks_below(root, vec![device.clone()]).into_iter().find(|disk| system.contains(disk)) {
        None => Ok(()),
        Some(disk) => {
            let message = format!("{} is on {disk}, the drive of the running system", device.dev_path.display());
            refuse(RefusalKind::RootDrive, message, "choose another drive; this one is never written")
        }
    }
}

fn refuse_mounted(device: &BlockDevice, parts: &[Part], mounted: &[Mount]) -> Result<(), Refusal> {
    for part in parts {
        // The number finds every alias; the source's name finds btrfs, whose mounts have a number of no device.
        let on_it = mounted.iter().find(|m| {
            m.device_number == part.number || m.source.strip_prefix("/dev/").is_some_and(|name| name == part.name)
        });
        if let Some(mount) = on_it {
            let message = format!(
                "{} holds a mounted file system ({} on {})",
                device.dev_path.display(),
                part.name,
                mount.mount_point.display()
            );
            let help = format!(
                "choose another drive, or unmount it and name it by serial: --destroy {}",
                device.consent_name()
            );
            return refuse(RefusalKind::Mounted, message, help);
        }
    }
    Ok(())
}

/// First column of /proc/swaps.
fn swaps(root: &Root) -> Vec<String> {
    let text = root.read("proc/swaps").unwrap_or_default();
    text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

fn refuse_swap(root: &Root, device: &BlockDevice, parts: &[Part]) -> Result<(), Refusal> {
    let used = swaps(root);
    match parts.iter().find(|part| used.iter().any(|s| s.strip_prefix("/dev/") == Some(&part.name))) {
        None => Ok(()),
        Some(part) => {
            let message = format!("{} is used for swapping ({})", device.dev_path.display(), part.name);
            refuse(RefusalKind::Swap, message, format!("choose another drive, or first: swapoff /dev/{}", part.name))
        }
    }
}

fn refuse_held(device: &BlockDevice, parts: &[Part]) -> Result<(), Refusal> {
    for part in parts {
        if let Some(holder) = names_in(&part.home.join("holders")).first() {
            let message = format!("{} is in use by {holder} ({})", device.dev_path.display(), part.name);
            let help = format!("choose another drive, or take {} out of {holder} first", part.name);
            return refuse(RefusalKind::Held, message, help);
        }
    }
    Ok(())
}

/// Claims the device and looks for signatures that no `--destroy` names.
fn claim(root: &Root, device: &BlockDevice, real: &Path, destroy: &[String]) -> Result<File, Refusal> {
    let node = root.join(real.strip_prefix("/").unwrap_or(real));
    let mut file = match OpenOptions::new().read(true).custom_flags(libc::O_EXCL).open(&node) {
        Ok(file) => file,
        Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
            let message = format!("{} is claimed by another user of this machine", device.dev_path.display());
            let help = "another namespace, container or program has it; choose another drive or stop that user";
            return refuse(RefusalKind::Claimed, message, help);
        }
        Err(error) => return unreachable(&node, &error),
    };
    let found = signatures_of(&mut file).or_else(|error| unreachable(&node, &error))?;
    let named: Vec<&str> =
        destroy.iter().filter_map(|d| covers(d, device.consent_name())).flat_map(|words| words.split('+')).collect();
    if let Some(first) = found.iter().find(|s| !named.contains(&s.word)) {
        let words: Vec<&str> = found.iter().map(|s| s.word).collect();
        let message = format!("{} carries {first}", device.dev_path.display());
        let help = format!(
            "choose another drive, or allow the loss of what is on it: --destroy {}:{}",
            device.consent_name(),
            words.join("+")
        );
        return refuse(RefusalKind::Signature, message, help);
    }
    Ok(file)
}

#[cfg(test)]
mod tests;
