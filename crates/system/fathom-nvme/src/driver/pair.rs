//! A pair of I/O queues in the hands of one thread: commands on their way by slot, their buffers, and the watch over them.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::controller::Driver;
use super::entries::{DATASET_MANAGEMENT, DEALLOCATE, FLUSH, FORCE_UNIT_ACCESS, READ, Submission, WRITE};
use super::error::DriverError;
use super::memory::{DmaMemory, Lent, further_pages, prps};
use super::queue::Rings;
use super::registers::PAGE_BYTES;
use crate::command::IoCommand;
use crate::status::Status;

/// Bytes of a range of Dataset Management.
const RANGE_BYTES: usize = 16;
/// Looks at the ring between two looks at the clock. None of them pauses (PAUSE takes up to 140 cycles, and in a virtual
/// machine it may end the thread's turn): a core that polls is busy anyway.
const LOOKS: u32 = 512;
/// Between two looks at the drive's health.
const HEALTH_EVERY: Duration = Duration::from_millis(50);
/// A doorbell in memory that was overlooked is rung again after so long.
const RING_AGAIN: Duration = Duration::from_millis(2);

/// The bit of a slot that says that its command is on its way; below it are the bytes it moves.
const BUSY: u64 = 1 << 31;

/// What a thread drives a drive by. Dropping it takes the queues away, and waits for nothing.
pub struct QueuePair {
    driver: Arc<Driver>,
    number: u16,
    /// Dropped once the controller no longer uses them.
    rings: ManuallyDrop<Rings>,
    buffers: ManuallyDrop<Buffers>,
    /// By slot: number of the command in the upper half, [`BUSY`] and bytes in the lower; 0: none.
    pending: Box<[u64]>,
    pushed: u32,
    staged: u32,
    in_flight: u32,
    looks: PollCounts,
    begun: Option<Instant>,
    watch: Watch,
}

/// What is read, written and trimmed from.
struct Buffers {
    _lent: Lent,
    address: u64,
    slot_bytes: u64,
    /// A PRP list per slot, where slots are longer than a page and the drive takes no SGLs.
    lists: Option<DmaMemory>,
    has_sgls: bool,
    /// A range of Dataset Management per slot.
    ranges: DmaMemory,
}

/// How often a thread looked whether anything was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PollCounts {
    /// Looks that found the queue empty.
    pub empty: u64,
    /// Completions found.
    pub found: u64,
    /// Time in which it only looked at empty queues: what the thread had to spare.
    pub waited: Duration,
    /// Time since its first command.
    pub lasted: Duration,
}

struct Watch {
    /// Taken at the next look at the clock.
    next: Option<Instant>,
    /// The oldest command then, and since when it has been that.
    oldest: Option<(u32, Instant)>,
    aborted: Option<Instant>,
    /// Looks until the next look at the clock, while there is always something done.
    until_clock: u32,
}

impl QueuePair {
    /// Queues for `slots` commands on their way at once, each with the `slot_bytes` at its place of the buffers at `base`, of
    /// which the drive may reach all `bytes`: a large page as a whole is one entry of the IOMMU.
    ///
    /// # Errors
    /// [`DriverError`].
    ///
    /// # Safety
    /// `base` is aligned to a page of 4096 bytes, and `bytes`, whole pages and at least `slots` x `slot_bytes`, from it on stay
    /// mapped until the pair is dropped, or for ever where [`QueuePair::in_flight`] is not 0 before. A slot's bytes are not touched while
    /// its command is on its way.
    pub unsafe fn new(
        driver: &Arc<Driver>,
        slots: u32,
        base: NonNull<u8>,
        slot_bytes: usize,
        bytes: usize,
    ) -> Result<Self, DriverError> {
        let (of_slot, max_bytes) = (slot_bytes as u64, driver.transfer_bytes_max());
        if of_slot > max_bytes {
            return Err(DriverError::TransferTooLarge { bytes: of_slot, max_bytes });
        }
        assert!(slots as usize * slot_bytes <= bytes && bytes.is_multiple_of(PAGE_BYTES), "slots beyond the buffers");
        // SAFETY: the caller's promise.
        let buffers = unsafe { Buffers::new(driver, slots, base, slot_bytes, bytes) }?;
        let (number, rings) = driver.make_rings(slots)?;
        Ok(QueuePair {
            driver: driver.clone(),
            number,
            rings: ManuallyDrop::new(rings),
            buffers: ManuallyDrop::new(buffers),
            pending: vec![0; slots as usize].into_boxed_slice(),
            pushed: 0,
            staged: 0,
            in_flight: 0,
            looks: PollCounts::default(),
            begun: None,
            watch: Watch { next: None, oldest: None, aborted: None, until_clock: LOOKS },
        })
    }

    #[inline(always)]
    fn stage(&mut self, slot: u32, len: u32, entry: Submission) {
        let number = self.pushed;
        self.pushed = number.wrapping_add(1);
        self.pending[slot as usize] = u64::from(number) << 32 | BUSY | u64::from(len);
        self.rings.push(entry);
        self.staged += 1;
    }

    /// Reads `len` bytes, whole blocks, from `first_block` of a namespace into the slot's buffer. `block_shift`: binary
    /// logarithm of the bytes of a block.
    #[inline(always)]
    pub fn read(&mut self, slot: u32, namespace: u32, first_block: u64, len: u32, block_shift: u32) {
        self.move_data(READ, slot, namespace, first_block, len, block_shift, 0);
    }

    /// As `read`, the other way. `is_durable`: it completes when it is on the medium (Force Unit Access).
    #[inline(always)]
    pub fn write(&mut self, slot: u32, namespace: u32, first_block: u64, len: u32, block_shift: u32, is_durable: bool) {
        let flags = if is_durable { FORCE_UNIT_ACCESS } else { 0 };
        self.move_data(WRITE, slot, namespace, first_block, len, block_shift, flags);
    }

    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "the fields of one command")]
    fn move_data(
        &mut self,
        opcode: u8,
        slot: u32,
        namespace: u32,
        first_block: u64,
        len: u32,
        block_shift: u32,
        flags: u32,
    ) {
        let blocks_below = (len >> block_shift).wrapping_sub(1) & 0xffff;
        let entry = self.buffers.name_in(Submission::new(opcode, slot as u16, namespace), slot, len).with_dwords([
            first_block as u32,
            (first_block >> 32) as u32,
            blocks_below | flags,
            0,
            0,
            0,
        ]);
        self.stage(slot, len, entry);
    }

    /// Makes what was written to a namespace durable, as far as it completed before.
    pub fn flush(&mut self, slot: u32, namespace: u32) {
        self.stage(slot, 0, Submission::new(FLUSH, slot as u16, namespace));
    }

    /// Tells the drive that blocks hold nothing any more.
    pub fn deallocate(&mut self, slot: u32, namespace: u32, first_block: u64, len: u32, block_shift: u32) {
        let range = IoCommand::Deallocate { first_block, blocks: len >> block_shift }.range().unwrap_or_default();
        let at = self.buffers.range(slot, range);
        let entry = Submission::new(DATASET_MANAGEMENT, slot as u16, namespace)
            .with_data((at, 0))
            .with_dwords([0, DEALLOCATE, 0, 0, 0, 0]);
        self.stage(slot, len, entry);
    }

    /// Starts what was pushed.
    #[inline(always)]
    pub fn submit(&mut self) {
        if self.staged > 0 {
            self.rings.ring();
            if self.begun.is_none() {
                self.begun = Some(Instant::now());
            }
            self.in_flight += self.staged;
            self.staged = 0;
        }
    }

    /// Forgets what was pushed and not started.
    pub fn discard(&mut self) {
        let first = self.pushed.wrapping_sub(self.staged);
        for slot in &mut self.pending {
            if *slot != 0 && ((*slot >> 32) as u32).wrapping_sub(first) < self.staged {
                *slot = 0;
            }
        }
        self.pushed = first;
        self.rings.take_back(self.staged);
        self.staged = 0;
    }

    /// Commands on their way, as far as the controller is concerned; 0 once it is off.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        if self.driver.is_stopped() { 0 } else { self.in_flight }
    }

    /// Whether something is done that was not handed out.
    #[inline(always)]
    #[must_use]
    pub fn has_done(&self) -> bool {
        self.rings.has(1)
    }

    /// Waits, polling, until something is done on one of several drives, or `timeout`.
    ///
    /// # Errors
    /// [`DriverError`]: one of them will do nothing any more.
    pub fn wait_for_any(pairs: &mut [QueuePair], timeout: Option<Duration>) -> Result<(), DriverError> {
        let (begun, mut rung) = (Instant::now(), Instant::now());
        let waited = loop {
            for _ in 0..LOOKS {
                if pairs.iter().any(QueuePair::has_done) {
                    break;
                }
                pairs.iter_mut().for_each(|pair| pair.looks.empty += 1);
            }
            let mut now = Instant::now();
            let is_over = timeout.is_some_and(|timeout| now.duration_since(begun) >= timeout);
            let is_idle = timeout.is_none() && pairs.iter().all(|pair| pair.in_flight() == 0);
            if is_over || is_idle || pairs.iter().any(QueuePair::has_done) {
                break now.duration_since(begun);
            }
            pairs.iter_mut().try_for_each(|pair| pair.look_after(&mut now))?;
            if now.duration_since(rung) > RING_AGAIN {
                pairs.iter_mut().for_each(QueuePair::ring_again);
                rung = now;
            }
        };
        pairs.iter_mut().for_each(|pair| pair.looks.waited += waited);
        Ok(())
    }

    /// Rings the register as well, where the doorbell is in memory.
    #[cold]
    fn ring_again(&mut self) {
        if self.driver.has_shadow_doorbells() {
            self.rings.ring_again();
        }
    }

    /// Whether the doorbells are in memory that the drive looks at by itself.
    #[must_use]
    pub fn has_shadow_doorbells(&self) -> bool {
        self.driver.has_shadow_doorbells()
    }

    /// How often it looked.
    #[must_use]
    pub fn poll_counts(&self) -> PollCounts {
        PollCounts { lasted: self.begun.map_or(Duration::ZERO, |begun| begun.elapsed()), ..self.looks }
    }

    /// Waits, polling, until `min` commands are done, or `timeout`.
    ///
    /// # Errors
    /// [`DriverError`]: the drive will do nothing any more.
    #[inline(always)]
    pub fn wait(&mut self, min: u32, timeout: Option<Duration>) -> Result<(), DriverError> {
        let min = min.min(self.in_flight);
        if min == 0 && timeout.is_none() || self.rings.has(min) {
            return Ok(());
        }
        self.wait_longer(min, timeout)
    }

    fn wait_longer(&mut self, min: u32, timeout: Option<Duration>) -> Result<(), DriverError> {
        let begun = Instant::now();
        let (mut rung, mut now) = (begun, begun);
        while !self.looks_until(min) {
            if timeout.is_some_and(|timeout| now.duration_since(begun) >= timeout) {
                break;
            }
            self.look_after(&mut now)?;
            if now.duration_since(rung) > RING_AGAIN {
                self.ring_again();
                rung = now;
            }
        }
        self.looks.waited += begun.elapsed();
        Ok(())
    }

    /// Whether `min` commands are done within so many looks.
    #[inline(always)]
    fn looks_until(&mut self, min: u32) -> bool {
        for _ in 0..LOOKS {
            if min > 0 && self.rings.has(min) {
                return true;
            }
            self.looks.empty += 1;
        }
        false
    }

    /// Hands out every finished command: its slot, and the bytes it moved or what went wrong. Never waits.
    ///
    /// # Errors
    /// [`DriverError`]: the drive named a command that it was not given, or will do nothing any more.
    #[inline(always)]
    pub fn reap(&mut self, mut done: impl FnMut(u32, Result<u32, Status>)) -> Result<(), DriverError> {
        let mut found = 0;
        let mut unknown = None;
        while let Some(completion) = self.rings.next() {
            found += 1;
            let slot = u32::from(completion.id);
            let Some(pending) = self.pending.get_mut(slot as usize).filter(|pending| **pending != 0) else {
                unknown = Some(completion.id);
                continue;
            };
            let len = (*pending & (BUSY - 1)) as u32;
            *pending = 0;
            self.in_flight = self.in_flight.saturating_sub(1);
            let status = completion.status;
            done(slot, if status.field() & 0x7ff == 0 { Ok(len) } else { Err(status) });
            // A drive that never stops completing must not keep the thread here.
            if found >= self.rings.entries() {
                break;
            }
        }
        if found > 0 {
            self.rings.free();
            self.looks.found += u64::from(found);
        }
        if let Some(id) = unknown {
            return Err(self.end(DriverError::UnknownCompletion { id, queue: self.number }));
        }
        self.watch.until_clock -= 1;
        if self.watch.until_clock == 0 {
            self.watch.until_clock = LOOKS;
            self.look_after(&mut Instant::now())?;
        }
        Ok(())
    }

    /// Looks at the clock, and at times at the drive.
    #[cold]
    fn look_after(&mut self, now: &mut Instant) -> Result<(), DriverError> {
        *now = Instant::now();
        if self.watch.next.is_some_and(|next| *now < next) {
            return Ok(());
        }
        self.watch.next = Some(*now + HEALTH_EVERY);
        if let Err(error) = self.driver.health() {
            return Err(self.end(error));
        }
        let Some(oldest) = self.oldest() else {
            (self.watch.oldest, self.watch.aborted) = (None, None);
            return Ok(());
        };
        let since = match self.watch.oldest {
            Some((number, since)) if number == self.number_of(oldest) => since,
            _ => {
                self.watch.oldest = Some((self.number_of(oldest), *now));
                self.watch.aborted = None;
                *now
            }
        };
        let waited = now.duration_since(since);
        match self.watch.aborted {
            None if waited > self.driver.patience().command => {
                self.watch.aborted = Some(*now);
                // What it answers does not matter: the command comes back, or it does not.
                match self.driver.abort(self.number, oldest as u16) {
                    Ok(()) | Err(DriverError::Refused { .. }) => Ok(()),
                    Err(error) => Err(self.end(error)),
                }
            }
            Some(at) if now.duration_since(at) > self.driver.patience().after_abort => {
                let waited_ms = waited.as_millis() as u64;
                Err(self.end(DriverError::NoAnswer { command: "NVM command", waited_ms }))
            }
            _ => Ok(()),
        }
    }

    fn number_of(&self, slot: usize) -> u32 {
        (self.pending[slot] >> 32) as u32
    }

    /// Slot of the command that was started first of those on their way.
    fn oldest(&self) -> Option<usize> {
        let age = |slot: &usize| self.pushed.wrapping_sub(self.number_of(*slot));
        (0..self.pending.len()).filter(|slot| self.pending[*slot] != 0).max_by_key(age)
    }

    /// After what no later call can heal: the controller is switched off, so that nothing reaches memory any more.
    #[cold]
    fn end(&mut self, error: DriverError) -> DriverError {
        self.driver.stop();
        error
    }
}

impl Drop for QueuePair {
    fn drop(&mut self) {
        if self.driver.delete_rings(self.number) {
            // SAFETY: neither is used again, and the controller no longer reaches them.
            unsafe {
                ManuallyDrop::drop(&mut self.rings);
                ManuallyDrop::drop(&mut self.buffers);
            }
        }
    }
}

impl Buffers {
    /// # Safety
    /// As [`QueuePair::new`].
    unsafe fn new(
        driver: &Driver,
        slots: u32,
        base: NonNull<u8>,
        slot_bytes: usize,
        bytes: usize,
    ) -> Result<Self, DriverError> {
        let device = driver.device();
        // SAFETY: the caller's promise; the pair drops this only after the controller lost its queues.
        let lent = unsafe { Lent::new(device, base, bytes) }
            .map_err(|source| DriverError::of_memory(&**device, bytes, source))?;
        let address = lent.address();
        let lists = (slot_bytes > PAGE_BYTES && !driver.has_sgls())
            .then(|| DmaMemory::new(device, slots as usize * PAGE_BYTES));
        let lists = lists.transpose()?;
        if let Some(lists) = &lists {
            for slot in 0..slots as usize {
                let at = address + (slot * slot_bytes) as u64;
                for (index, page) in further_pages(at, slot_bytes as u64).enumerate() {
                    // SAFETY: within the list's own page: no slot is longer than one list names (`new`).
                    unsafe { lists.place::<u64>(slot * (PAGE_BYTES / 8) + index).write_volatile(page.to_le()) };
                }
            }
        }
        let ranges = DmaMemory::new(device, slots as usize * RANGE_BYTES)?;
        Ok(Buffers { _lent: lent, address, slot_bytes: slot_bytes as u64, lists, has_sgls: driver.has_sgls(), ranges })
    }

    /// A command with the first `len` bytes of a slot as its data.
    #[inline(always)]
    fn name_in(&self, entry: Submission, slot: u32, len: u32) -> Submission {
        let address = self.address + u64::from(slot) * self.slot_bytes;
        // Up to two pages PRPs stand in the command itself.
        if self.has_sgls && len > PAGE_BYTES as u32 {
            return entry.with_sgl(address, len);
        }
        let list = self.lists.as_ref().map_or(0, |lists| lists.address() + u64::from(slot) * PAGE_BYTES as u64);
        entry.with_data(prps(address, len, list))
    }

    fn range(&self, slot: u32, range: [u8; RANGE_BYTES]) -> u64 {
        // SAFETY: within the memory (`place`); the slot's command is not on its way.
        unsafe { self.ranges.place::<[u8; RANGE_BYTES]>(slot as usize).write_volatile(range) };
        self.ranges.address() + u64::from(slot) * RANGE_BYTES as u64
    }
}
