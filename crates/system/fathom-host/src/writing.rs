//! The one place of the program that opens anything for writing; a test of the source finds no other.
//!
//! A target is written through [`reopen`], which takes a descriptor that was judged and never a path; files of Fathom's
//! own are made new, at a name in a folder that is open, and never through a symlink.

use crate::databases::open_pinned;
use crate::node::pin;
use crate::system::files;
use crate::system::{AsFd as _, BorrowedFd, OwnedFd};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;

use crate::system::files::{FileType, Mode, OFlags};

/// Nobody but the user may read what Fathom makes beside its reports: serial numbers, test data.
const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

/// Opens what `pin` (an `O_PATH` descriptor) stands for, for reading and writing: exactly that file or device, whatever
/// its path leads to by now. `flags`: further ones of open(2).
pub(crate) fn reopen(pin: BorrowedFd<'_>, flags: OFlags) -> io::Result<File> {
    Ok(File::from(open_pinned(pin, flags | OFlags::RDWR)?))
}

/// A new regular file called `name` in the folder `dir`; fails with `AlreadyExists` where anything has that name.
pub(crate) fn create_at(dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(files::openat(dir, name, flags, PRIVATE)?))
}

/// A new regular file in the folder `dir` that has no name yet: a process that ends before [`name_at`] leaves nothing. `None`
/// where the file system or the kernel has none of this kind.
#[cfg(target_os = "linux")]
pub(crate) fn create_unnamed(dir: BorrowedFd<'_>) -> io::Result<Option<File>> {
    use rustix::io::Errno;
    if !Path::new(OPEN_FILES).exists() {
        return Ok(None);
    }
    match files::openat(dir, ".", OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC, PRIVATE) {
        Ok(fd) => Ok(Some(File::from(fd))),
        // EISDIR: a kernel that does not know the flag.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Gives a file of [`create_unnamed`] the name `name` in the folder `dir`; fails with `AlreadyExists` where anything has that
/// name.
#[cfg(target_os = "linux")]
pub(crate) fn name_at(file: &File, dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    use std::os::fd::AsRawFd as _;
    let unnamed = format!("{OPEN_FILES}/{}", file.as_raw_fd());
    Ok(files::linkat(files::CWD, unnamed, dir, name, files::AtFlags::SYMLINK_FOLLOW)?)
}

/// Folder of the files that this process has open.
#[cfg(target_os = "linux")]
const OPEN_FILES: &str = "/proc/self/fd";

#[cfg(windows)]
pub(crate) fn create_unnamed(_dir: BorrowedFd<'_>) -> io::Result<Option<File>> {
    Ok(None)
}

#[cfg(windows)]
pub(crate) fn name_at(_file: &File, _dir: BorrowedFd<'_>, _name: &OsStr) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// An existing regular file, for reading and writing. Never through a symlink; does not wait for the other end of a FIFO.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let pin = regular(pin(path, false)?)?;
    reopen(pin.as_fd(), OFlags::NONBLOCK)
}

/// A regular file to append to, made where there is none.
pub(crate) fn append(path: &Path) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    regular(files::open(path, flags | OFlags::CLOEXEC, PRIVATE)?)
}

/// A regular file that is there, to append to.
pub(crate) fn append_existing(path: &Path) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    regular(files::open(path, flags, PRIVATE)?)
}

/// A new regular file to append to.
pub(crate) fn append_new(path: &Path) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(files::open(path, flags, PRIVATE)?))
}

/// A stream beside the data of a file that is Fathom's own.
#[cfg(windows)]
pub(crate) fn stream(path: &Path) -> io::Result<File> {
    Ok(File::from(files::open(path, OFlags::WRONLY | OFlags::CREATE, PRIVATE)?))
}

/// A switch of the kernel in sysfs or procfs, to be given a value by one write.
pub(crate) fn attribute(path: &Path) -> io::Result<File> {
    regular(files::open(path, OFlags::WRONLY | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC, PRIVATE)?)
}

/// A node of VFIO, by which a program has a device: what may be done to that device the guard judged before its driver let
/// go of it.
pub(crate) fn vfio(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = files::open(path, flags, Mode::empty())?;
    let is_node = FileType::from_raw_mode(files::fstat(&fd)?.st_mode) == FileType::CharacterDevice;
    if is_node { Ok(fd) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

fn regular(fd: OwnedFd) -> io::Result<File> {
    let is_file = FileType::from_raw_mode(files::fstat(&fd)?.st_mode) == FileType::RegularFile;
    if is_file { Ok(File::from(fd)) } else { Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")) }
}
