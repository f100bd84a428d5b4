//! The guard before writes: nothing is written to anything this module did not give a [`WriteConsent`] for.
//!
//! Opens nothing for writing itself. A block device is opened read-only and exclusively, which the kernel grants only
//! while nobody (file system, swap, md, LVM, another namespace) has claimed it; the claim is kept as long as the consent
//! lives, so that nobody can mount the drive in between. Writers must therefore open it without `O_EXCL`.
//!
//! However a drive is named (node, link, NVMe character device, PCI address), it is judged as the block device it is; a
//! file is judged by its inode. A consent is for what was judged: it opens nothing else, whatever the path leads to later.

use crate::system::FileTypeExt as _;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::system::files::OFlags;
use fathom_message::{Message, Say, msg, say_error};

use crate::disk::{BlockDevice, DiskError, device_by_generic, device_by_number, number_of};
use crate::node::{Node, OpenError};
use crate::own_file::FileMark;
use crate::root::Root;
use device::check_devices;

mod claim;
mod device;
pub(crate) mod exports;
mod file;
mod idle;
mod pci;
pub(crate) mod uses;
pub(crate) mod writers;

pub(crate) use file::is_lab;
pub(crate) use idle::claim_idle;
pub(crate) use pci::{address_of, drives_behind, head_of, is_pci_address};
pub(crate) use writers::holder_of;

/// Why writing is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// There is no such device.
    Missing,
    /// The path cannot be looked at.
    Unreachable,
    /// Neither a regular file nor a block device.
    NotWritableKind,
    /// An existing file with somebody's data.
    ForeignFile,
    /// A database of Fathom itself.
    Lab,
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
    /// A loop device, md, LVM or device mapper use it.
    Held,
    /// Offered to other machines by this one (nvmet, target core).
    Exported,
    /// A process has it open for writing.
    InUse,
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
    pub message: Message,
    /// What to do.
    pub help: Message,
}

impl Refusal {
    /// Of what cannot even be looked at, or is nothing that can be measured.
    pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Refusal {
        let refused = match fs::metadata(path) {
            Ok(metadata) if error.kind() == io::ErrorKind::InvalidInput => refuse_kind(path, metadata.file_type()),
            _ => unreachable::<()>(path, error),
        };
        refused.expect_err("both refuse")
    }
}

impl Say for Refusal {
    fn message(&self) -> Message {
        self.message.clone()
    }

    fn help(&self) -> Option<Message> {
        Some(self.help.clone())
    }
}

say_error!(Refusal);

/// What the user allows to be lost.
#[derive(Clone, Copy)]
pub struct Permit<'a> {
    /// Values of `--destroy`: a drive's serial number, with words for what is on it.
    pub destroy: &'a [String],
    /// Whether existing files with other people's data may be overwritten.
    pub overwrite: bool,
    /// Files that are never written: the lab, and what belongs to it.
    pub protected: &'a [PathBuf],
    /// Whether the lab knows a file with this mark as one of its own.
    pub is_own: &'a dyn Fn(FileMark) -> bool,
    /// Whether data on a device that nobody recognises is what Fathom wrote there before. File systems, partitions and
    /// whatever else is recognised stay protected.
    pub own_data: bool,
}

impl Permit<'_> {
    /// Nothing may be lost.
    pub const NOTHING: Permit<'static> =
        Permit { destroy: &[], overwrite: false, protected: &[], is_own: &|_| false, own_data: false };
}

/// Permission to write to one target, bound to what was judged. Made by [`check_write_target`], and for files that
/// Fathom made by [`crate::OwnFile::consent`].
#[derive(Clone, Debug)]
pub struct WriteConsent {
    /// As named; links resolved where it is one path.
    path: PathBuf,
    /// What is opened; a PCI address stands for drives and is opened by none.
    node: Option<Arc<Node>>,
    devices: Vec<JudgedDevice>,
}

/// A block device that was judged.
#[derive(Clone, Debug)]
struct JudgedDevice {
    device: BlockDevice,
    node: Arc<Node>,
    /// Open exclusively while the consent lives; `None` while an array of Linux md that this process made has the claim.
    claim: Option<Arc<File>>,
}

impl WriteConsent {
    pub(crate) fn to_file(path: PathBuf, node: Arc<Node>) -> WriteConsent {
        WriteConsent { path, node: Some(node), devices: Vec::new() }
    }

    /// To the array of Linux md called `name`, which this process made over members that it may write. It is claimed.
    ///
    /// # Errors
    /// [`OpenError`]: it cannot be opened, or its device is not known.
    pub(crate) fn to_own_array(root: &Root, name: &str) -> Result<WriteConsent, OpenError> {
        let path = PathBuf::from("/dev").join(name);
        let io = |source| OpenError::Io { path: path.clone(), source };
        // The first opening tells the kernel the size of a new array, which makes it another disk (`diskseq`).
        drop(File::open(&path).map_err(io)?);
        let device = crate::disk::device_by_name(root, name).map_err(|error| io(io::Error::other(error)))?;
        let node = Arc::new(Node::at(root, &path).map_err(io)?);
        let claim = Some(Arc::new(node.open_to_read(OFlags::EXCL)?));
        let judged = JudgedDevice { device, node: node.clone(), claim };
        Ok(WriteConsent { path, node: Some(node), devices: vec![judged] })
    }

    /// The same without its claims: Linux md claims the devices itself while they are members of an array.
    pub(crate) fn parked(mut self) -> WriteConsent {
        self.devices.iter_mut().for_each(|judged| judged.claim = None);
        self
    }

    /// The same with its claims again.
    ///
    /// # Errors
    /// [`OpenError`]: it is another device by now, or somebody else has it.
    pub(crate) fn claimed_again(mut self) -> Result<WriteConsent, OpenError> {
        for judged in &mut self.devices {
            judged.claim = Some(Arc::new(judged.node.open_to_read(OFlags::EXCL)?));
        }
        Ok(self)
    }

    /// What may be written, by the name it was judged under.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The device that may be written, when it is one rather than a file; the first of a PCI address.
    #[must_use]
    pub fn device(&self) -> Option<&BlockDevice> {
        self.devices().next()
    }

    /// All devices that may be written: a PCI address stands for every namespace of its drive.
    pub fn devices(&self) -> impl Iterator<Item = &BlockDevice> {
        self.devices.iter().map(|judged| &judged.device)
    }

    /// True if this value of `--destroy` is for a device that may be written.
    #[must_use]
    pub fn is_by(&self, destroy: &str) -> bool {
        self.devices().any(|device| device::covers(destroy, device.consent_name()).is_some())
    }

    /// What was judged; `None` for a PCI address.
    #[must_use]
    pub fn node(&self) -> Option<&Arc<Node>> {
        self.node.as_ref()
    }

    /// A descriptor that can write to what was judged. `flags`: further ones of open(2).
    ///
    /// # Errors
    /// [`OpenError::Changed`] when the path leads to something else by now; then nothing was opened for writing.
    pub fn open(&self, flags: OFlags) -> Result<File, OpenError> {
        match &self.node {
            Some(node) => node.open_to_write(flags),
            None => Err(OpenError::NoConsent { path: self.path.clone() }),
        }
    }

    /// The same consent for the block device, where it is for the character device of the same blocks: for commands that
    /// only block devices take. `None` for files.
    #[must_use]
    pub fn to_block_device(&self) -> Option<WriteConsent> {
        let judged = self.devices.first()?;
        Some(WriteConsent { path: judged.device.dev_path.clone(), node: Some(judged.node.clone()), ..self.clone() })
    }

    /// The same consent for the character device of the same namespace, which is at `path`: the claim stays that on the
    /// block device.
    pub(crate) fn through(consent: &WriteConsent, path: PathBuf, node: Arc<Node>) -> WriteConsent {
        WriteConsent { path, node: Some(node), ..consent.clone() }
    }

    /// A descriptor for admin commands to what was judged. It reads, but a drive takes Format through it as well.
    ///
    /// # Errors
    /// As [`WriteConsent::open`].
    pub fn open_to_command(&self) -> Result<File, OpenError> {
        let node = self.node.as_ref().or(self.devices.first().map(|judged| &judged.node));
        let no_consent = || OpenError::NoConsent { path: self.path.clone() };
        node.ok_or_else(no_consent)?.open_to_read(OFlags::NONBLOCK)
    }
}

pub(crate) fn refuse<T>(kind: RefusalKind, message: Message, help: Message) -> Result<T, Refusal> {
    Err(Refusal { kind, message, help })
}

/// Says whether the existing `path` may be written, given what the user permits.
///
/// A file with other people's data needs [`Permit::overwrite`]. A block device, an NVMe character device or a PCI address
/// (`0000:41:00.0`, then all drives behind it) needs `--destroy SERIAL` (the kernel name where it has no serial), and
/// `SERIAL:WORD` for each signature found on it or on its partitions, e.g. `S64GNE0R:gpt+ext`; `data` is the word for what
/// nobody recognises. No word helps against what is mounted, swapping, held, exported, claimed or open for writing, nor for
/// the drive of the running system.
///
/// # Errors
/// [`Refusal`] with the first reason found; the strongest are looked for first.
pub fn check_write_target(root: &Root, path: &Path, permit: &Permit<'_>) -> Result<WriteConsent, Refusal> {
    crate::system::guard::refuse_path(path)?;
    let node = match Node::at(root, path) {
        Ok(node) => node,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return match path.to_str().and_then(pci::address_of) {
                Some(address) => pci::check_pci(root, path, &address, permit),
                None => unreachable(path, &error),
            };
        }
        Err(error) => return unreachable(path, &error),
    };
    let stat = node.stat().or_else(|error| unreachable(path, &error))?;
    let metadata = fs::metadata(path).or_else(|error| unreachable(path, &error))?;
    let kind = metadata.file_type();
    if kind.is_block_device() {
        let device = device_by_number(root, &number_of(stat.st_rdev)).or_else(|error| unknown(path, &error))?;
        let real = fs::canonicalize(path).or_else(|error| unreachable(path, &error))?;
        let node = Arc::new(node);
        return check_devices(root, real, Some(node.clone()), vec![(device, node)], permit);
    }
    if kind.is_char_device()
        && let Ok(device) = device_by_generic(root, &number_of(stat.st_rdev))
    {
        return check_generic(root, device, path.to_owned(), Some(Arc::new(node)), permit);
    }
    if !kind.is_file() {
        return refuse_kind(path, kind);
    }
    file::check_file(root, path, node, permit)
}

/// Says whether a new file may be made at `path`: its folder is there, and is none of the kernel's.
///
/// # Errors
/// [`Refusal`].
pub fn check_new_file(root: &Root, path: &Path) -> Result<(), Refusal> {
    file::check_new_file(root, path)
}

/// An NVMe character device leads to the blocks of its block device, past every claim on that: it is judged as the block
/// device, and the claim on the block device is held while the character device is written.
fn check_generic(
    root: &Root,
    device: BlockDevice,
    path: PathBuf,
    node: Option<Arc<Node>>,
    permit: &Permit<'_>,
) -> Result<WriteConsent, Refusal> {
    let block = node_of(root, &device.dev_path)?;
    check_devices(root, path, node, vec![(device, block)], permit)
}

/// The node of a device as the machine below `root` has it.
fn node_of(root: &Root, path: &Path) -> Result<Arc<Node>, Refusal> {
    let node = Node::at(root, &root.join(path.strip_prefix("/").unwrap_or(path)));
    node.map(Arc::new).or_else(|error| unreachable(path, &error))
}

fn refuse_kind<T>(path: &Path, kind: fs::FileType) -> Result<T, Refusal> {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    // The controller's own node takes commands for every namespace behind it.
    if kind.is_char_device() && name.starts_with("nvme") {
        let block = format!("{}n1", path.display());
        let generic = format!("/dev/{}n1", name.replacen("nvme", "ng", 1));
        return refuse(
            RefusalKind::NotWritableKind,
            msg!("guard-nvme-controller", path = path),
            msg!("guard-nvme-controller-help", block = block, generic = generic),
        );
    }
    let what = if kind.is_dir() {
        msg!("kind-folder")
    } else if kind.is_fifo() {
        msg!("kind-fifo")
    } else if kind.is_socket() {
        msg!("kind-socket")
    } else if kind.is_char_device() {
        msg!("kind-character-device")
    } else {
        msg!("kind-other")
    };
    refuse(RefusalKind::NotWritableKind, msg!("guard-kind", path = path, kind = what), msg!("guard-name-a-target"))
}

fn unreachable<T>(path: &Path, error: &io::Error) -> Result<T, Refusal> {
    let message = msg!("guard-unreachable", path = path, error = error);
    refuse(RefusalKind::Unreachable, message, msg!("guard-unreachable-help"))
}

fn unknown<T>(path: &Path, error: &DiskError) -> Result<T, Refusal> {
    let message = msg!("guard-unknown-device", path = path, error = error.message());
    refuse(RefusalKind::Unreachable, message, msg!("guard-unknown-device-help"))
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod files;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod real;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod tests;
