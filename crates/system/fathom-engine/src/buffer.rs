//! I/O buffers of a worker: one contiguous, page-aligned area, slot i at i x the largest block size.

use std::io;
use std::ptr::NonNull;

use fathom_nvme::driver::{DrivePages, DrivenNamespace};

use crate::pages::page_bytes;

/// From this size on a huge page saves more translations than it wastes memory.
const HUGE_BYTES: usize = 2 << 20;

/// Where the buffers are; does not own them.
#[derive(Clone, Copy)]
pub(crate) struct Buffers {
    base: NonNull<u8>,
    len: usize,
    slot_bytes: usize,
}

// SAFETY: an address and two numbers; whoever uses them has the promise of `Area::buffers`.
unsafe impl Send for Buffers {}

impl Buffers {
    /// No buffers.
    pub(crate) const NONE: Buffers = Buffers { base: NonNull::dangling(), len: 0, slot_bytes: 0 };

    /// Address of a slot's buffer.
    #[inline(always)]
    pub(crate) fn slot(&self, slot: u32) -> *mut u8 {
        let at = slot as usize * self.slot_bytes;
        debug_assert!(at + self.slot_bytes <= self.len, "slot outside the area");
        // SAFETY: `at` is within the mapping: slots are numbered below the count given to `Area::new`.
        unsafe { self.base.as_ptr().add(at) }
    }

    /// The first `len` bytes of a slot. The kernel must not be using the slot: no I/O of it is in flight.
    #[inline(always)]
    pub(crate) fn bytes_mut(&mut self, slot: u32, len: usize) -> &mut [u8] {
        assert!(len <= self.slot_bytes, "longer than a slot");
        // SAFETY: the range lies within the mapping, and whoever has the buffers is the only one in this program that uses
        // them; the worker calls it only for slots on its free list or just reaped, which the kernel no longer touches.
        unsafe { std::slice::from_raw_parts_mut(self.slot(slot), len) }
    }
}

/// An anonymous mapping, freed on drop.
pub(crate) struct Area {
    buffers: Buffers,
    /// For a drive in user space: the mapping, which frees itself.
    for_drive: Option<DrivePages>,
}

impl Area {
    /// Room for `slots` buffers of `slot_bytes`, zeroed.
    ///
    /// # Errors
    /// When the kernel has no memory, or the size overflows.
    pub(crate) fn new(slots: usize, slot_bytes: usize) -> io::Result<Self> {
        assert!(slots > 0 && slot_bytes > 0, "an empty area");
        let wanted = slots.checked_mul(slot_bytes).and_then(|n| n.checked_next_multiple_of(page_bytes()));
        let len = wanted.ok_or_else(|| io::Error::from_raw_os_error(libc::ENOMEM))?;
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
        let base = NonNull::new(at.cast()).ok_or_else(|| io::Error::from_raw_os_error(libc::ENOMEM))?;
        Ok(Area { buffers: Buffers { base, len, slot_bytes }, for_drive: None })
    }

    /// The same for a drive that reaches them by itself: on large pages where some are free on its node.
    ///
    /// # Errors
    /// When there is no memory.
    pub(crate) fn for_drive(slots: usize, slot_bytes: usize, drive: &DrivenNamespace) -> io::Result<Self> {
        assert!(slots > 0 && slot_bytes > 0, "an empty area");
        let wanted = slots.checked_mul(slot_bytes).ok_or_else(|| io::Error::from_raw_os_error(libc::ENOMEM))?;
        let pages = DrivePages::new(wanted, drive.driver().numa_node())?;
        let buffers = Buffers { base: pages.base(), len: pages.bytes(), slot_bytes };
        Ok(Area { buffers, for_drive: Some(pages) })
    }

    /// The pages of an area for a drive.
    pub(crate) fn drive_pages(&self) -> Option<&DrivePages> {
        self.for_drive.as_ref()
    }

    /// Bytes of the whole mapping.
    pub(crate) fn len_bytes(&self) -> usize {
        self.buffers.len
    }

    /// Where the buffers are.
    ///
    /// # Safety
    /// They are used only while the area lives, and not beside the area's own views of them.
    pub(crate) unsafe fn buffers(&self) -> Buffers {
        self.buffers
    }

    /// Address of a slot's buffer.
    pub(crate) fn slot(&self, slot: u32) -> *mut u8 {
        self.buffers.slot(slot)
    }

    /// Bytes per slot.
    pub(crate) fn slot_bytes(&self) -> usize {
        self.buffers.slot_bytes
    }

    /// As [`Buffers::bytes_mut`].
    pub(crate) fn bytes_mut(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.buffers.bytes_mut(slot, len)
    }

    /// The area as the kernel wants it for registration, in pieces of at most `piece_bytes`.
    pub(crate) fn pieces(&self, slots: usize, piece_bytes: usize) -> Vec<libc::iovec> {
        let total = slots * self.buffers.slot_bytes;
        (0..total)
            .step_by(piece_bytes)
            .map(|at| libc::iovec {
                // SAFETY: `at` < `total` <= the length of the mapping.
                iov_base: unsafe { self.buffers.base.as_ptr().add(at) }.cast(),
                iov_len: piece_bytes.min(total - at),
            })
            .collect()
    }
}

impl Drop for Area {
    fn drop(&mut self) {
        if self.for_drive.is_some() {
            return;
        }
        // SAFETY: base and length are those of the mapping made in `new`, which nobody else unmaps.
        unsafe { libc::munmap(self.buffers.base.as_ptr().cast(), self.buffers.len) };
    }
}
