//! Pages of memory.

use std::io;
use std::ptr::NonNull;

use windows_sys::Win32::System::Memory::{
    MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, PAGE_READWRITE, VirtualAlloc, VirtualFree,
};

/// Bytes of a page of memory: 4 KiB on x86-64, the one architecture that Fathom is built for on Windows.
pub(crate) fn page_bytes() -> usize {
    4096
}

/// `len` bytes of zeroed memory, whole pages.
///
/// # Errors
/// When the system has no memory.
pub(crate) fn map(len: usize) -> io::Result<NonNull<u8>> {
    // SAFETY: fresh memory at an address of the system's choice touches none of ours.
    let at = unsafe { VirtualAlloc(std::ptr::null(), len, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE) };
    NonNull::new(at.cast()).ok_or_else(io::Error::last_os_error)
}

/// Gives back what [`map`] gave.
///
/// # Safety
/// The base is that of one call of [`map`], and nobody uses the memory any more.
pub(crate) unsafe fn unmap(base: NonNull<u8>, _len: usize) {
    // SAFETY: the caller's promise.
    unsafe { VirtualFree(base.as_ptr().cast(), 0, MEM_RELEASE) };
}
