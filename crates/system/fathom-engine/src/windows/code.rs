//! Codes of Windows for what code of both systems asks about, by the names of Linux. A result of an engine is the code with a
//! minus before it.

use windows_sys::Win32::Foundation as of;

/// The drive failed.
pub(crate) const EIO: i32 = of::ERROR_IO_DEVICE as i32;
/// The system has no room for the request now.
pub(crate) const EAGAIN: i32 = of::ERROR_NO_SYSTEM_RESOURCES as i32;
/// To be tried again.
pub(crate) const EINTR: i32 = of::ERROR_RETRY as i32;
/// The request makes no sense to the file system: its size or place is no multiple of a sector.
pub(crate) const EINVAL: i32 = of::ERROR_INVALID_PARAMETER as i32;
/// There is none.
pub(crate) const ENOENT: i32 = of::ERROR_FILE_NOT_FOUND as i32;
/// The user may not.
pub(crate) const EACCES: i32 = of::ERROR_ACCESS_DENIED as i32;
/// The user lacks a privilege.
pub(crate) const EPERM: i32 = of::ERROR_PRIVILEGE_NOT_HELD as i32;
/// The volume or drive takes no writes.
pub(crate) const EROFS: i32 = of::ERROR_WRITE_PROTECT as i32;
/// The device is gone.
pub(crate) const ENODEV: i32 = of::ERROR_DEV_NOT_EXIST as i32;
/// The device does not answer.
pub(crate) const ENXIO: i32 = of::ERROR_NOT_READY as i32;
/// The drive is empty.
pub(crate) const ENOMEDIUM: i32 = of::ERROR_NO_MEDIA_IN_DRIVE as i32;
/// Neither the system nor the drive knows it.
pub(crate) const EOPNOTSUPP: i32 = of::ERROR_NOT_SUPPORTED as i32;
/// What is read is damaged.
pub(crate) const ENODATA: i32 = of::ERROR_CRC as i32;
/// What is read is not what was written.
pub(crate) const EILSEQ: i32 = of::ERROR_DATA_CHECKSUM_ERROR as i32;
/// The drive took too long.
pub(crate) const ETIMEDOUT: i32 = of::ERROR_SEM_TIMEOUT as i32;
/// The way to the drive is gone.
pub(crate) const ENOLINK: i32 = of::ERROR_DEVICE_NOT_CONNECTED as i32;
/// The drive says that it failed.
pub(crate) const EREMOTEIO: i32 = of::ERROR_DEVICE_HARDWARE_ERROR as i32;
/// Another host has the drive.
pub(crate) const EBADE: i32 = of::ERROR_BUSY as i32;
/// A thread is gone.
pub(crate) const ESRCH: i32 = of::ERROR_INVALID_THREAD_ID as i32;
/// Nothing came in time.
pub(crate) const ETIME: i32 = of::ERROR_TIMEOUT as i32;
