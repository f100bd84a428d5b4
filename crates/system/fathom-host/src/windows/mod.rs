//! What Windows has for this crate, by the names that both systems go by: open files and folders, system calls, counters.
//! Code that reads `/proc` and `/sys` finds nothing there; what it would have said comes from here, or is not known.

pub(crate) mod calls;
pub mod child;
pub(crate) mod code;
pub(crate) mod extents;
mod fd;
pub(crate) mod files;
pub(crate) mod guard;
pub(crate) mod locks;
pub(crate) mod machine;
pub(crate) mod outputs;
pub mod processes;
mod processors;
#[cfg(test)]
mod tests;

pub use fd::{AsFd, AsRawFd, BorrowedFd, FileExt, FileTypeExt, OwnedFd};
pub(crate) use files::Errno;

/// Where code of Linux looks for `/proc` and `/sys`: below a device that has nothing below it, so that no folder of that name
/// on some drive is taken for them.
pub(crate) const LIVE: &str = r"\\.\NUL\";

/// Opens once more what `pin` stands for: exactly that file, whatever its path leads to by now.
pub(crate) fn reopened(pin: BorrowedFd<'_>, flags: files::OFlags) -> std::io::Result<OwnedFd> {
    Ok(files::reopen(pin, flags)?)
}
