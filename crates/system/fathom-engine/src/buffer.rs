//! I/O buffers of a worker: one contiguous, page-aligned area, slot i at i x the largest block size.

use std::io;
use std::ptr::NonNull;

const PAGE_BYTES: usize = 4096;
/// From this size on a huge page saves more translations than it wastes memory.
const HUGE_BYTES: usize = 2 << 20;

/// An anonymous mapping, freed on drop.
pub(crate) struct Area {
    base: NonNull<u8>,
    len: usize,
    slot_bytes: usize,
}

// SAFETY: the mapping is owned by this value alone and any thread may touch or unmap it.
unsafe impl Send for Area {}

impl Area {
    /// Room for `slots` buffers of `slot_bytes`, zeroed.
    ///
    /// # Errors
    /// When the kernel has no memory, or the size overflows.
    pub(crate) fn new(slots: usize, slot_bytes: usize) -> io::Result<Self> {
        assert!(slots > 0 && slot_bytes > 0, "an empty area");
        let wanted = slots.checked_mul(slot_bytes).and_then(|n| n.checked_next_multiple_of(PAGE_BYTES));
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
        Ok(Area { base, len, slot_bytes })
    }

    /// Address of a slot's buffer.
    #[inline(always)]
    pub(crate) fn slot(&self, slot: u32) -> *mut u8 {
        let at = slot as usize * self.slot_bytes;
        debug_assert!(at + self.slot_bytes <= self.len, "slot outside the area");
        // SAFETY: `at` is within the mapping: slots are numbered below the count given to `new`.
        unsafe { self.base.as_ptr().add(at) }
    }

    /// Bytes per slot.
    pub(crate) fn slot_bytes(&self) -> usize {
        self.slot_bytes
    }

    /// The first `len` bytes of a slot. The kernel must not be using the slot: no I/O of it is in flight.
    #[inline(always)]
    pub(crate) fn bytes_mut(&mut self, slot: u32, len: usize) -> &mut [u8] {
        assert!(len <= self.slot_bytes, "longer than a slot");
        // SAFETY: the range lies within the mapping, and `&mut self` makes this the only view in this program; the
        // worker calls it only for slots on its free list or just reaped, which the kernel no longer touches.
        unsafe { std::slice::from_raw_parts_mut(self.slot(slot), len) }
    }

    /// The area as the kernel wants it for registration, in pieces of at most `piece_bytes`.
    pub(crate) fn pieces(&self, slots: usize, piece_bytes: usize) -> Vec<libc::iovec> {
        let total = slots * self.slot_bytes;
        (0..total)
            .step_by(piece_bytes)
            .map(|at| libc::iovec {
                // SAFETY: `at` < `total` <= the length of the mapping.
                iov_base: unsafe { self.base.as_ptr().add(at) }.cast(),
                iov_len: piece_bytes.min(total - at),
            })
            .collect()
    }
}

impl Drop for Area {
    fn drop(&mut self) {
        // SAFETY: base and length are those of the mapping made in `new`, which nobody else unmaps.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.len) };
    }
}
