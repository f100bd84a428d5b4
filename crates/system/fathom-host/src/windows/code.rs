//! Codes of Windows for what code of both systems asks about, by the names of Linux.

use windows_sys::Win32::Foundation as of;

/// There is none.
pub(crate) const ENOENT: i32 = of::ERROR_FILE_NOT_FOUND as i32;
/// Somebody else has it.
pub(crate) const EBUSY: i32 = of::ERROR_SHARING_VIOLATION as i32;
/// The device is gone.
pub(crate) const ENODEV: i32 = of::ERROR_DEV_NOT_EXIST as i32;
/// A symbolic link that is not to be followed.
pub(crate) const ELOOP: i32 = of::ERROR_CANT_RESOLVE_FILENAME as i32;
/// A part of the path is no folder.
pub(crate) const ENOTDIR: i32 = of::ERROR_PATH_NOT_FOUND as i32;
/// Flags of open(2) as `/proc` of Linux shows them: no process here has such a file.
pub(crate) const O_PATH: i32 = 0o10_000_000;
pub(crate) const O_ACCMODE: i32 = 3;
pub(crate) const O_RDONLY: i32 = 0;

/// The first half of a number of a volume, as people read it.
pub(crate) fn major(device: u64) -> u32 {
    (device >> 16) as u32
}

/// The second half.
pub(crate) fn minor(device: u64) -> u32 {
    (device & 0xffff) as u32
}
