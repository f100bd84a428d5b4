//! Pages of this process's own.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::io;
use std::ptr::NonNull;

use crate::driver::PAGE_BYTES;

fn layout(bytes: usize) -> io::Result<Layout> {
    Layout::from_size_align(bytes, PAGE_BYTES).map_err(|_| io::ErrorKind::OutOfMemory.into())
}

/// `bytes` of zeroed memory, at a whole page.
pub(crate) fn map(bytes: usize) -> io::Result<NonNull<u8>> {
    if bytes == 0 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: the layout has a size, as just checked.
    let at = unsafe { alloc_zeroed(layout(bytes)?) };
    NonNull::new(at).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

/// Gives back what [`map`] gave.
///
/// # Safety
/// Base and length are those of one call of [`map`], and nobody uses the memory any more.
pub(crate) unsafe fn unmap(base: NonNull<u8>, bytes: usize) {
    let layout = layout(bytes).expect("a layout that was given out");
    // SAFETY: the caller's promise.
    unsafe { dealloc(base.as_ptr(), layout) };
}
