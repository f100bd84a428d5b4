//! What Linux has for this crate, by the names that both systems go by: open files and folders, system calls, counters.

pub(crate) mod calls;
pub mod child;
pub(crate) mod extents;
pub(crate) mod guard;
pub(crate) mod locks;
pub(crate) mod machine;
pub(crate) mod outputs;
pub mod processes;
pub(crate) mod stat;

pub use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
pub use std::os::unix::fs::{FileExt, FileTypeExt};

pub(crate) use libc as code;
pub(crate) use rustix::fs as files;
pub(crate) use rustix::io::Errno;

/// The folder under which the kernel shows this machine.
pub(crate) const LIVE: &str = "/";

/// Opens once more what `pin` (an `O_PATH` descriptor) stands for: exactly that file or device, whatever its path leads to by
/// now. `flags`: those of open(2).
pub(crate) fn reopened(pin: BorrowedFd<'_>, flags: files::OFlags) -> std::io::Result<OwnedFd> {
    // `thread-self`: a worker may have a descriptor table of its own.
    let path = format!("/proc/thread-self/fd/{}", pin.as_raw_fd());
    Ok(files::open(path, flags | files::OFlags::CLOEXEC, files::Mode::empty())?)
}
