//! Pages of this process's own.

use std::io;
use std::ptr::NonNull;

/// `bytes` of zeroed memory, present, at a whole page.
pub(crate) fn map(bytes: usize) -> io::Result<NonNull<u8>> {
    // SAFETY: a fresh anonymous mapping at an address of the kernel's choice touches no memory of ours.
    let at = unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE;
        libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
    };
    if at == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    NonNull::new(at.cast()).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

/// Gives back what [`map`] gave.
///
/// # Safety
/// Base and length are those of one call of [`map`], and nobody uses the memory any more.
pub(crate) unsafe fn unmap(base: NonNull<u8>, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { libc::munmap(base.as_ptr().cast(), bytes) };
}
