//! What a target is asked through its handle.

use std::fs::File;
use std::io;
use std::os::windows::io::AsRawHandle as _;

use fathom_host::OpenFlags;
use windows_sys::Win32::Foundation::{ERROR_HANDLE_EOF, HANDLE};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_STORAGE_INFO, FileStorageInfo, FlushFileBuffers, GetFileInformationByHandleEx, ReadFile, WriteFile,
};
use windows_sys::Win32::System::IO::{DeviceIoControl, OVERLAPPED};
use windows_sys::Win32::System::Ioctl::{FILE_ZERO_DATA_INFORMATION, FSCTL_SET_ZERO_DATA};

use super::{AsFd, OwnedFd};
use crate::backend::Io;

/// Nothing: NTFS writes no times of reads unless that was switched on.
pub(crate) const WITHOUT_TIMES: OpenFlags = OpenFlags::empty();

/// Windows empties the cache of a file for nobody; a step past the cache does not see it.
///
/// # Errors
/// Always `Unsupported`.
pub(crate) fn drop_file_cache(_file: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// No device is opened on Windows yet.
///
/// # Errors
/// Always `Unsupported`.
pub(crate) fn drop_device_cache(_file: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// No device is opened on Windows yet.
///
/// # Errors
/// Always `Unsupported`.
pub(crate) fn device_bytes(_file: &File) -> io::Result<(u64, u64)> {
    Err(io::ErrorKind::Unsupported.into())
}

/// No device is opened on Windows yet.
pub(crate) fn can_poll(_number: u64) -> Option<bool> {
    None
}

/// Windows has no file system in memory of its own.
pub(crate) fn is_in_memory(_file: &File) -> bool {
    false
}

/// Bytes of a sector of the volume, of which I/O past the cache is a multiple; `None` where the volume does not tell.
pub(crate) fn file_alignment(file: &File) -> Option<u64> {
    let mut found = FILE_STORAGE_INFO::default();
    let bytes = size_of::<FILE_STORAGE_INFO>() as u32;
    // SAFETY: the structure outlives the call, which fills as many bytes as it has.
    let done =
        unsafe { GetFileInformationByHandleEx(file.as_raw_handle(), FileStorageInfo, (&raw mut found).cast(), bytes) };
    (done != 0 && found.LogicalBytesPerSector > 0).then(|| u64::from(found.LogicalBytesPerSector))
}

/// Discards blocks of a device: none is opened.
pub(crate) fn discard(_fd: &OwnedFd, _offset: u64, _len: u32) -> bool {
    false
}

/// Zeroes a part of a file, which frees it where the file is sparse; whether that was done, else the reason is the last error.
pub(crate) fn punch(fd: &OwnedFd, offset: u64, len: u32) -> bool {
    let range = FILE_ZERO_DATA_INFORMATION {
        FileOffset: offset.cast_signed(),
        BeyondFinalZero: (offset + u64::from(len)).cast_signed(),
    };
    let mut bytes = 0;
    // SAFETY: the structure outlives the call, which reads it and writes nothing.
    let done = unsafe {
        DeviceIoControl(
            fd.as_raw_handle(),
            FSCTL_SET_ZERO_DATA,
            (&raw const range).cast(),
            size_of::<FILE_ZERO_DATA_INFORMATION>() as u32,
            std::ptr::null_mut(),
            0,
            &raw mut bytes,
            std::ptr::null_mut(),
        )
    };
    done != 0
}

/// Writes out what the cache holds; Windows lets nothing of it go on demand.
pub(crate) fn leave_cache(fd: &OwnedFd) {
    // SAFETY: takes a handle that is open.
    unsafe { FlushFileBuffers(fd.as_raw_handle()) };
}

/// Bytes read into the front of `buffer`; 0 at the end.
///
/// # Errors
/// As ReadFile.
pub(crate) fn read_at(fd: &OwnedFd, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let len = u32::try_from(buffer.len()).unwrap_or(u32::MAX);
    // SAFETY: the buffer is writable for its length.
    let moved = unsafe { transfer(fd.as_raw_handle(), true, buffer.as_mut_ptr(), len, offset) };
    usize::try_from(moved).map_err(|_| io::Error::from_raw_os_error(-moved))
}

/// Where an I/O begins, as calls take it.
pub(crate) fn at(offset: u64) -> OVERLAPPED {
    let mut overlapped = OVERLAPPED::default();
    overlapped.Anonymous.Anonymous.Offset = offset as u32;
    overlapped.Anonymous.Anonymous.OffsetHigh = (offset >> 32) as u32;
    overlapped
}

/// Reads or writes through a handle whose I/O is done when the call returns: bytes moved, or a negative code. Reads behind the
/// end of a file move none.
///
/// # Safety
/// `buffer` is valid for `len` bytes until the call returns.
#[inline(always)]
pub(crate) unsafe fn transfer(file: HANDLE, is_read: bool, buffer: *mut u8, len: u32, offset: u64) -> i32 {
    let mut overlapped = at(offset);
    let mut moved = 0_u32;
    // SAFETY: the caller's promise; the structures outlive the call.
    let done = unsafe {
        if is_read {
            ReadFile(file, buffer, len, &raw mut moved, &raw mut overlapped)
        } else {
            WriteFile(file, buffer.cast_const(), len, &raw mut moved, &raw mut overlapped)
        }
    };
    if done != 0 { moved.cast_signed() } else { failed() }
}

/// As results of engines say it: 0 for the end of a file.
#[cold]
fn failed() -> i32 {
    match io::Error::last_os_error().raw_os_error() {
        Some(code) if code == ERROR_HANDLE_EOF.cast_signed() => 0,
        code => -code.unwrap_or(super::code::EIO),
    }
}

/// As [`transfer`], of an I/O.
///
/// # Safety
/// The buffer of the I/O is nobody else's until the call returns.
#[inline(always)]
pub(crate) unsafe fn transfer_io(file: HANDLE, io: &Io) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { transfer(file, io.op == fathom_plan::Op::Read, io.buffer, io.len, io.offset) }
}

/// Least and largest atomic write of a target: Windows does not tell.
pub(crate) fn atomic_bytes(_fd: &impl AsFd) -> Option<(u32, u32)> {
    None
}

/// Reads a byte without leaving anything in the cache.
///
/// # Errors
/// Always `Unsupported`.
pub(crate) fn read_uncached(_fd: &impl AsFd) -> io::Result<()> {
    Err(io::Error::from_raw_os_error(super::code::EOPNOTSUPP))
}
