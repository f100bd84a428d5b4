//! Pages of memory.

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

/// From here on memory in huge pages is asked for.
const HUGE_BYTES: usize = 2 << 20;

static PAGE_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Bytes of a page of memory. Safe in a signal handler once it was called outside of one.
pub(crate) fn page_bytes() -> usize {
    let known = PAGE_BYTES.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    // SAFETY: takes an integer and gives one.
    let stated = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let bytes = usize::try_from(stated).ok().filter(|bytes| bytes.is_power_of_two()).unwrap_or(4096);
    PAGE_BYTES.store(bytes, Ordering::Relaxed);
    bytes
}

/// `len` bytes of zeroed memory, whole pages.
///
/// # Errors
/// When the kernel has no memory.
pub(crate) fn map(len: usize) -> io::Result<NonNull<u8>> {
    // SAFETY: a fresh anonymous mapping at an address of the kernel's choice touches no memory of ours.
    let at = unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
    };
    if at == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    if len >= HUGE_BYTES {
        // SAFETY: the range is the mapping just made; the advice may fail without harm.
        unsafe { libc::madvise(at, len, libc::MADV_HUGEPAGE) };
    }
    NonNull::new(at.cast()).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

/// Gives back what [`map`] gave.
///
/// # Safety
/// Base and length are those of one call of [`map`], and nobody uses the memory any more.
pub(crate) unsafe fn unmap(base: NonNull<u8>, len: usize) {
    // SAFETY: the caller's promise.
    unsafe { libc::munmap(base.as_ptr().cast(), len) };
}
