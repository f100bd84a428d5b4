//! What a path leads to, held open: names change, and what they led to is compared before anything is done to it.

use crate::databases::{is_of_database, open_pinned};
use crate::system::{AsFd, BorrowedFd, OwnedFd};
use crate::system::{code, files};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::system::files::{FileType, Mode, OFlags, Stat};
use fathom_message::{Message, Say, msg, say_error};

use crate::root::{Root, number};
use crate::{sys, writing};

/// What stays the same about a file or device while a descriptor of it is open, and differs from any other's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// A regular file.
    File {
        /// Device number of its file system.
        device: u64,
        /// Inode.
        inode: u64,
    },
    /// A block device.
    Block {
        /// Device number.
        number: u64,
        /// The kernel's count of disks when this one appeared (`diskseq`): another drive with the same number has
        /// another. `None` before Linux 5.15.
        sequence: Option<u64>,
    },
    /// The character device of an NVMe namespace.
    Generic {
        /// Device number.
        number: u64,
        /// Kernel name of the block device with the same blocks.
        block: String,
        /// As of [`Identity::Block`], of the block device.
        sequence: Option<u64>,
    },
    /// Anything else, which nobody writes to.
    Other,
}

impl Identity {
    /// The identity of what an open descriptor stands for.
    pub(crate) fn of(root: &Root, fd: BorrowedFd<'_>) -> io::Result<Identity> {
        let stat = files::fstat(fd)?;
        Ok(match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Identity::File { device: stat.st_dev, inode: stat.st_ino },
            FileType::BlockDevice => Identity::Block { number: stat.st_rdev, sequence: sequence_of(root, &stat) },
            FileType::CharacterDevice => {
                match crate::disk::device_by_generic(root, &crate::disk::number_of(stat.st_rdev)) {
                    Ok(device) => Identity::Generic {
                        number: stat.st_rdev,
                        sequence: number(&root.join("sys/class/block").join(&device.name).join("diskseq")),
                        block: device.name,
                    },
                    Err(_) => Identity::Other,
                }
            }
            _ => Identity::Other,
        })
    }

    /// For people and logs: `file 254:0 inode 12`, `device 259:0 (disk 7)`.
    fn message(&self) -> Message {
        let numbers = |number: u64| crate::disk::number_of(number);
        let nth = |sequence: &Option<u64>| sequence.map_or_else(|| "?".to_owned(), |s| s.to_string());
        match self {
            Identity::File { device, inode } => {
                msg!("node-file", device = numbers(*device), inode = inode.to_string())
            }
            Identity::Block { number, sequence } | Identity::Generic { number, sequence, .. } => {
                msg!("node-device", number = numbers(*number), sequence = nth(sequence))
            }
            Identity::Other => msg!("node-other"),
        }
    }
}

/// From sysfs, which needs no readable descriptor. A partition has the sequence number of its disk.
fn sequence_of(root: &Root, stat: &Stat) -> Option<u64> {
    let home = root.join("sys/dev/block").join(crate::disk::number_of(stat.st_rdev));
    number(&home.join("diskseq")).or_else(|| number(&home.join("../diskseq")))
}

/// A path and what it led to when it was judged, held open by a descriptor that can neither read nor write.
///
/// The descriptor keeps the inode number of a file from being given to another.
#[derive(Debug)]
pub struct Node {
    path: PathBuf,
    pin: OwnedFd,
    identity: Identity,
    /// Whether the last part of the path may be a symlink.
    follows: bool,
    root: Root,
}

/// Why something that was judged is not opened.
#[derive(Debug)]
pub enum OpenError {
    /// The path leads to something else than it did.
    Changed {
        /// Its path.
        path: PathBuf,
        /// What it led to.
        was: Identity,
        /// What it leads to; `None`: nowhere.
        is: Option<Identity>,
    },
    /// It is part of a database that this process has open.
    Database {
        /// Its path.
        path: PathBuf,
    },
    /// It is to be written and nobody consented.
    NoConsent {
        /// Its path.
        path: PathBuf,
    },
    /// The system refuses.
    Io {
        /// Its path.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
}

impl Say for OpenError {
    fn message(&self) -> Message {
        match self {
            OpenError::Changed { path, was, is: Some(is) } => {
                msg!("open-changed", path = path, was = was.message(), is = is.message())
            }
            OpenError::Changed { path, was, is: None } => msg!("open-gone", path = path, was = was.message()),
            OpenError::Database { path } => msg!("open-database", path = path),
            OpenError::NoConsent { path } => msg!("open-without-consent", path = path),
            OpenError::Io { path, source } => msg!("open-failed", path = path, source = source),
        }
    }

    fn help(&self) -> Option<Message> {
        Some(match self {
            OpenError::Changed { .. } => msg!("open-changed-help"),
            OpenError::Database { .. } => msg!("guard-choose-another-file"),
            OpenError::NoConsent { .. } => msg!("open-without-consent-help"),
            OpenError::Io { .. } => msg!("open-failed-help"),
        })
    }
}

say_error!(OpenError);

impl Node {
    /// Looks at what `path` leads to, symlinks followed.
    ///
    /// # Errors
    /// As open(2) with `O_PATH`, which needs no permission on the target itself.
    pub fn at(root: &Root, path: &Path) -> io::Result<Node> {
        Node::new(root, path, true)
    }

    /// The same of a path whose last part must be no symlink.
    ///
    /// # Errors
    /// As [`Node::at`].
    pub fn at_itself(root: &Root, path: &Path) -> io::Result<Node> {
        Node::new(root, path, false)
    }

    fn new(root: &Root, path: &Path, follows: bool) -> io::Result<Node> {
        let pin = pin(path, follows)?;
        let identity = Identity::of(root, pin.as_fd())?;
        Ok(Node { path: path.to_owned(), pin, identity, follows, root: root.clone() })
    }

    /// The path it was looked up by.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it led to.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Metadata of what it led to.
    ///
    /// # Errors
    /// As fstat(2).
    pub fn stat(&self) -> io::Result<Stat> {
        Ok(files::fstat(&self.pin)?)
    }

    /// Opens it for reading, if the path still leads there. `flags`: further ones of open(2).
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open_to_read(&self, flags: OFlags) -> Result<File, OpenError> {
        self.opened(|pin| Ok(File::from(open_pinned(pin, flags | OFlags::RDONLY)?)))
    }

    /// Opens it for writing, if the path still leads there: for [`crate::WriteConsent`] alone.
    pub(crate) fn open_to_write(&self, flags: OFlags) -> Result<File, OpenError> {
        self.opened(|pin| writing::reopen(pin, flags))
    }

    /// The path is looked up again, compared, and what was found is opened: the same descriptor all the way, so that
    /// nothing can be put in its place in between. The opened descriptor is compared once more.
    fn opened(&self, open: impl FnOnce(BorrowedFd<'_>) -> io::Result<File>) -> Result<File, OpenError> {
        let io = |source| OpenError::Io { path: self.path.clone(), source };
        if let Identity::File { device, inode } = self.identity
            && is_of_database(device, inode)
        {
            return Err(OpenError::Database { path: self.path.clone() });
        }
        let now = match pin(&self.path, self.follows) {
            Ok(pin) => pin,
            Err(error) if matches!(error.raw_os_error(), Some(code::ENOENT | code::ELOOP | code::ENOTDIR)) => {
                return Err(self.changed(None));
            }
            Err(error) => return Err(io(error)),
        };
        self.check(now.as_fd())?;
        let file = open(now.as_fd()).map_err(io)?;
        self.check(file.as_fd())?;
        // Sysfs went by the number; the descriptor is the device itself.
        if let Identity::Block { sequence: Some(was), .. } = self.identity
            && sys::disk_sequence(&file).is_some_and(|is| is != was)
        {
            return Err(self.changed(None));
        }
        Ok(file)
    }

    fn check(&self, fd: BorrowedFd<'_>) -> Result<(), OpenError> {
        let is = Identity::of(&self.root, fd).map_err(|source| OpenError::Io { path: self.path.clone(), source })?;
        if is == self.identity { Ok(()) } else { Err(self.changed(Some(is))) }
    }

    pub(crate) fn changed(&self, is: Option<Identity>) -> OpenError {
        OpenError::Changed { path: self.path.clone(), was: self.identity.clone(), is }
    }
}

/// What tells the regular file at `path` from all others: its file system and its number there. `None` for anything else, also
/// for a symlink.
///
/// # Errors
/// As lstat(2).
pub fn file_identity(path: &Path) -> io::Result<Option<(u64, u64)>> {
    let stat = files::lstat(path)?;
    let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    Ok(is_file.then_some((stat.st_dev, stat.st_ino)))
}

/// The file system that `path` leads to, as [`file_identity`] numbers it.
///
/// # Errors
/// As stat(2).
pub fn device_of(path: &Path) -> io::Result<u64> {
    Ok(files::stat(path)?.st_dev)
}

/// An `O_PATH` descriptor of what `path` leads to.
///
/// # Errors
/// As open(2); `ELOOP` for a symlink at the end of `path` unless `follows`.
pub(crate) fn pin(path: &Path, follows: bool) -> io::Result<OwnedFd> {
    let mut flags = OFlags::PATH | OFlags::CLOEXEC;
    flags.set(OFlags::NOFOLLOW, !follows);
    let pin = files::open(path, flags, Mode::empty())?;
    // With O_PATH the kernel opens a symlink itself instead of refusing it.
    if !follows && FileType::from_raw_mode(files::fstat(&pin)?.st_mode) == FileType::Symlink {
        return Err(io::Error::from_raw_os_error(code::ELOOP));
    }
    Ok(pin)
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_a_path_led_to_is_opened_and_nothing_that_took_its_place() {
        let dir = tempfile::tempdir().expect("temp dir");
        let (path, aside, other) = (dir.path().join("a"), dir.path().join("b"), dir.path().join("c"));
        std::fs::write(&path, "mine").expect("file");
        std::fs::write(&other, "theirs").expect("file");
        let node = Node::at(&Root::live(), &path).expect("is there");
        node.open_to_write(OFlags::empty()).expect("unchanged").write_all(b"x").expect("writes");
        std::fs::rename(&path, &aside).expect("renamed");
        assert!(matches!(node.open_to_write(OFlags::empty()), Err(OpenError::Changed { is: None, .. })));
        symlink(&other, &path).expect("link");
        assert!(matches!(node.open_to_write(OFlags::empty()), Err(OpenError::Changed { is: Some(_), .. })));
        assert!(matches!(node.open_to_read(OFlags::empty()), Err(OpenError::Changed { .. })));
        // A symlink back to what was judged is the same file.
        std::fs::remove_file(&path).expect("removed");
        symlink(&aside, &path).expect("link");
        assert!(node.open_to_read(OFlags::empty()).is_ok());
        assert_eq!(std::fs::read_to_string(&other).expect("reads"), "theirs");
    }

    #[test]
    fn a_file_that_is_made_anew_under_the_name_is_another() {
        let dir = tempfile::tempdir().expect("temp dir");
        let path = dir.path().join("a");
        std::fs::write(&path, "1").expect("file");
        let node = Node::at(&Root::live(), &path).expect("is there");
        // The inode number stays taken while the node lives, so that the new file cannot have it.
        std::fs::remove_file(&path).expect("removed");
        std::fs::write(&path, "2").expect("file");
        assert!(matches!(node.open_to_read(OFlags::empty()), Err(OpenError::Changed { .. })));
    }

    #[test]
    fn a_node_of_the_path_itself_is_no_symlink_and_a_fifo_does_not_hang() {
        let dir = tempfile::tempdir().expect("temp dir");
        let (path, link, fifo) = (dir.path().join("a"), dir.path().join("l"), dir.path().join("f"));
        std::fs::write(&path, "1").expect("file");
        symlink(&path, &link).expect("link");
        assert_eq!(Node::at_itself(&Root::live(), &link).expect_err("link").raw_os_error(), Some(libc::ELOOP));
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, FileType::Fifo, Mode::RUSR, 0).expect("fifo");
        assert_eq!(*Node::at(&Root::live(), &fifo).expect("looked at").identity(), Identity::Other);
        assert!(writing::open_regular(&fifo).is_err() && writing::append(&link).is_err());
    }
}
