//! Pages for a drive to reach. No drive is driven past the system's driver on Windows: only the controller in memory of tests has
//! them.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::io;
use std::ptr::NonNull;

use super::registers::PAGE_BYTES;

/// Bytes of a large page.
pub const LARGE_PAGE_BYTES: usize = 2 << 20;

/// Memory of its own, zeroed. Freed on drop.
#[derive(Debug)]
pub struct DrivePages {
    base: NonNull<u8>,
    layout: Layout,
    node: Option<u32>,
}

// SAFETY: an address and numbers; the memory belongs to whoever has the value.
unsafe impl Send for DrivePages {}
// SAFETY: a shared reference gives its address alone.
unsafe impl Sync for DrivePages {}

impl DrivePages {
    /// At least `bytes`.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn new(bytes: usize, node: Option<u32>) -> io::Result<DrivePages> {
        DrivePages::small(bytes, node)
    }

    /// The same on large pages alone.
    ///
    /// # Errors
    /// Always `Unsupported`.
    pub fn large(_bytes: usize, _node: Option<u32>) -> io::Result<DrivePages> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The same on small pages alone.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn small(bytes: usize, node: Option<u32>) -> io::Result<DrivePages> {
        let wanted = bytes.max(1).checked_next_multiple_of(PAGE_BYTES).ok_or(io::ErrorKind::OutOfMemory)?;
        let layout = Layout::from_size_align(wanted, PAGE_BYTES).map_err(|_| io::ErrorKind::OutOfMemory)?;
        // SAFETY: the layout has a size.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(DrivePages { base, layout, node })
    }

    /// Where it begins, aligned to a page.
    #[must_use]
    pub fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Its bytes, whole pages.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.layout.size()
    }

    /// Bytes of one of its pages.
    #[must_use]
    pub fn page_bytes(&self) -> usize {
        PAGE_BYTES
    }

    /// The node that it was asked for on.
    #[must_use]
    pub fn node(&self) -> Option<u32> {
        self.node
    }
}

impl Drop for DrivePages {
    fn drop(&mut self) {
        // SAFETY: what `small` was given, by the same layout.
        unsafe { dealloc(self.base.as_ptr(), self.layout) };
    }
}
