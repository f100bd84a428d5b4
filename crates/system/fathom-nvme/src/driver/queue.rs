//! A pair of queues: what one thread starts commands by and finds them finished in.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use super::doorbell::Doorbell;
use super::entries::{COMPLETION_BYTES, Completion, Submission, phase_of};
use super::error::DriverError;
use super::memory::{DmaMemory, PciFunction};

/// The two rings and where this program is in them. Owns their memory, but not the queues of the controller.
pub(crate) struct Rings {
    submissions: DmaMemory,
    completions: DmaMemory,
    entries: u32,
    tail: u32,
    head: u32,
    /// The phase tag of completions not seen yet.
    phase: bool,
    tail_bell: Doorbell,
    head_bell: Doorbell,
}

impl Rings {
    /// Rings of `entries` each, empty.
    ///
    /// # Errors
    /// [`DriverError::Memory`].
    pub(crate) fn new(
        device: &Arc<dyn PciFunction>,
        entries: u32,
        tail_bell: Doorbell,
        head_bell: Doorbell,
    ) -> Result<Self, DriverError> {
        let memory = |entry_bytes: usize| DmaMemory::new(device, entries as usize * entry_bytes);
        Ok(Rings {
            submissions: memory(size_of::<Submission>())?,
            completions: memory(COMPLETION_BYTES)?,
            entries,
            tail: 0,
            head: 0,
            phase: true,
            tail_bell,
            head_bell,
        })
    }

    pub(crate) fn entries(&self) -> u32 {
        self.entries
    }

    /// Where the device finds the submission and the completion queue.
    pub(crate) fn addresses(&self) -> (u64, u64) {
        (self.submissions.address(), self.completions.address())
    }

    /// Writes a command; the controller does not know of it yet. At most `entries - 1` may be on their way.
    #[inline(always)]
    pub(crate) fn push(&mut self, entry: Submission) {
        let place: NonNull<Submission> = self.submissions.place(self.tail as usize);
        // SAFETY: within the ring; the controller reads an entry only after the doorbell says so. Volatile, so that it is
        // written as it stands.
        unsafe { place.write_volatile(entry) };
        self.tail = if self.tail + 1 == self.entries { 0 } else { self.tail + 1 };
    }

    /// Takes back what was pushed since the last `ring`: `count` commands.
    pub(crate) fn take_back(&mut self, count: u32) {
        self.tail = (self.tail + self.entries - count) % self.entries;
    }

    /// Tells the controller of what was pushed.
    #[inline(always)]
    pub(crate) fn ring(&mut self) {
        // The entries before the doorbell.
        fence(Ordering::Release);
        self.tail_bell.ring(self.tail);
    }

    /// As `ring`, by the register itself: for controllers that overlook the doorbell in memory.
    #[cold]
    pub(crate) fn ring_again(&mut self) {
        self.tail_bell.ring_register(self.tail);
    }

    #[inline(always)]
    fn dword_3(&self, index: u32) -> u32 {
        let place: NonNull<u32> = self.completions.place(index as usize * 4 + 3);
        // SAFETY: within the ring. Volatile: the device writes it.
        unsafe { place.read_volatile() }
    }

    /// Whether `count` completions, at least one and fewer than the ring has entries, are there.
    #[inline(always)]
    pub(crate) fn has(&self, count: u32) -> bool {
        let last = self.head + count.clamp(1, self.entries) - 1;
        let (index, phase) = if last >= self.entries { (last - self.entries, !self.phase) } else { (last, self.phase) };
        phase_of(self.dword_3(index)) == phase
    }

    /// The next completion, if there is one; [`Rings::free`] tells the controller that its place is free again.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<Completion> {
        let dword_3 = self.dword_3(self.head);
        if phase_of(dword_3) != self.phase {
            return None;
        }
        // What the command moved, and the other dwords, after the phase tag that says they are there.
        fence(Ordering::Acquire);
        let result: NonNull<u32> = self.completions.place(self.head as usize * 4);
        // SAFETY: as in `dword_3`.
        let completion = Completion::of(unsafe { result.read_volatile() }, dword_3);
        self.head += 1;
        if self.head == self.entries {
            (self.head, self.phase) = (0, !self.phase);
        }
        Some(completion)
    }

    /// Tells the controller which completions were taken.
    #[inline(always)]
    pub(crate) fn free(&mut self) {
        self.head_bell.ring(self.head);
    }
}
