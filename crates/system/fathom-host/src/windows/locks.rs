//! Locks by which a process says that a file is in use. A lock of Windows keeps every other handle from the bytes that it is on,
//! also to read: so it is on one byte far behind the end of any file.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::windows::io::AsRawHandle as _;

use windows_sys::Win32::Storage::FileSystem::{LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx};
use windows_sys::Win32::System::IO::OVERLAPPED;

/// High half of the place of the byte that is locked.
const FAR: u32 = 0x7fff_fffe;

fn locked(file: &File, flags: u32) -> io::Result<()> {
    let mut at = OVERLAPPED::default();
    at.Anonymous.Anonymous.OffsetHigh = FAR;
    // SAFETY: the handle is open, and the structure outlives the call, which ends when the lock is had.
    let done = unsafe { LockFileEx(file.as_raw_handle(), flags, 0, 1, 0, &raw mut at) };
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Locks a file for this process alone; waits for others.
pub(crate) fn lock(file: &File) -> io::Result<()> {
    locked(file, LOCKFILE_EXCLUSIVE_LOCK)
}

/// The same without waiting; whether it was free.
pub(crate) fn try_lock(file: &File) -> bool {
    locked(file, LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY).is_ok()
}

/// Whether nobody has locked it: a lock that others may have as well was had.
pub(crate) fn try_lock_shared(file: &File) -> bool {
    locked(file, LOCKFILE_FAIL_IMMEDIATELY).is_ok()
}
