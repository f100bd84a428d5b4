//! Linux md: stripes of its cache, the threads that handle them, and the bitmap of what may differ.
//!
//! drivers/md/raid5.c: a stripe head is 4 KiB of each member (`STRIPE_SIZE`); a write holds those that it changes from before
//! its reads until its writes are done, and waits when none is free. One thread (`raid5d`) handles them, or so many more as
//! `group_thread_cnt` says, which take the array's `device_lock` in turn. drivers/md/md-bitmap.c: before a part of the array
//! is written for the first time, its bit is written to all members; writes that come meanwhile wait for the next such write.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::machine::Md;
use crate::pipe::{Pipe, transfer_ps};

/// Height of a stripe head.
const STRIPE_BYTES: u64 = 4096;
/// Bytes of the bitmap that are written at once.
pub(super) const BITMAP_WRITE_BYTES: u32 = 4096;

/// md's part of an array at work.
#[derive(Debug)]
pub(super) struct MdState {
    spec: Md,
    /// Stripe heads that are free.
    free: u64,
    held: BTreeMap<u32, u64>,
    waiting: VecDeque<u32>,
    /// The one thread, or those of the groups.
    pub(super) threads: Vec<Pipe>,
    pub(super) lock: Pipe,
    bitmap: Bitmap,
}

/// Bits that are set, and writes that wait for theirs.
#[derive(Debug, Default)]
struct Bitmap {
    set: BTreeSet<u64>,
    /// A write of it is under way, and these wait for its end.
    writing: Vec<(u32, u64)>,
    /// These wait for the next.
    next: Vec<(u32, u64)>,
}

impl MdState {
    pub(super) fn new(spec: &Md) -> MdState {
        MdState {
            spec: spec.clone(),
            free: u64::from(spec.stripe_cache),
            held: BTreeMap::new(),
            waiting: VecDeque::new(),
            threads: vec![Pipe::default(); spec.threads.max(1) as usize],
            lock: Pipe::default(),
            bitmap: Bitmap::default(),
        }
    }

    /// Stripe heads of so many bytes of the members.
    fn heads(&self, height_bytes: u64) -> u64 {
        // A write of more than all of them goes through them in turns.
        height_bytes.div_ceil(STRIPE_BYTES).clamp(1, u64::from(self.spec.stripe_cache))
    }

    /// Takes the stripe heads of an I/O; false: it waits for them.
    pub(super) fn take(&mut self, slot: u32, height_bytes: u64) -> bool {
        let wanted = self.heads(height_bytes);
        if !self.waiting.is_empty() || self.free < wanted {
            self.held.insert(slot, wanted);
            self.waiting.push_back(slot);
            return false;
        }
        self.free -= wanted;
        self.held.insert(slot, wanted);
        true
    }

    /// Gives back those of a finished I/O.
    pub(super) fn give_back(&mut self, slot: u32) {
        self.free += self.held.remove(&slot).unwrap_or(0);
    }

    /// The next of those that wait, once there are enough for it.
    pub(super) fn admitted(&mut self) -> Option<u32> {
        let wanted = self.held.get(self.waiting.front()?).copied().unwrap_or(0);
        if self.free < wanted {
            return None;
        }
        self.free -= wanted;
        self.waiting.pop_front()
    }

    /// Handles the stripes of an I/O on the thread that is free first; returns when that is done.
    pub(super) fn handle(&mut self, now: u64, height_bytes: u64, xor_bytes: u64) -> u64 {
        // In fractions: what a stream brings is a part of a stripe.
        let stripes = |each_ps: u64| {
            u64::try_from(u128::from(each_ps) * u128::from(height_bytes.max(1)) / u128::from(STRIPE_BYTES))
                .unwrap_or(u64::MAX)
        };
        let per_stripe = |each_ps: u64| if height_bytes >= STRIPE_BYTES { stripes(each_ps) } else { each_ps };
        let t = if self.spec.lock_ps > 0 { self.lock.reserve(now, per_stripe(self.spec.lock_ps)) } else { now };
        let work_ps = per_stripe(self.spec.stripe_ps) + transfer_ps(xor_bytes, self.spec.xor_bytes_per_s);
        let first = self.threads.iter_mut().min_by_key(|thread| thread.free_ps()).expect("there is one");
        first.reserve(t, work_ps)
    }

    /// Work of its threads and under their lock.
    pub(super) fn work_ps(&self) -> u64 {
        self.threads.iter().map(Pipe::work_ps).sum::<u64>() + self.lock.work_ps()
    }

    /// Whether the bit of a write is not set yet, so that it has to wait; it is then in line for it.
    pub(super) fn waits_for_bit(&mut self, slot: u32, offset_bytes: u64) -> bool {
        let Some(bit) = offset_bytes.checked_div(self.spec.bitmap_bytes) else { return false };
        if self.bitmap.set.contains(&bit) {
            return false;
        }
        let is_under_way = self.bitmap.writing.iter().any(|(_, writing)| *writing == bit);
        let line = if is_under_way { &mut self.bitmap.writing } else { &mut self.bitmap.next };
        line.push((slot, bit));
        true
    }

    /// Begins a write of the bits that are waited for; false: there are none, or a write is under way.
    pub(super) fn begin_bitmap_write(&mut self) -> bool {
        if !self.bitmap.writing.is_empty() || self.bitmap.next.is_empty() {
            return false;
        }
        self.bitmap.writing = std::mem::take(&mut self.bitmap.next);
        true
    }

    /// The write of bits is done; those that waited for it.
    pub(super) fn end_bitmap_write(&mut self) -> Vec<u32> {
        let written = std::mem::take(&mut self.bitmap.writing);
        self.bitmap.set.extend(written.iter().map(|(_, bit)| *bit));
        written.into_iter().map(|(slot, _)| slot).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn md() -> Md {
        Md {
            remap_ps: 0,
            stripe_ps: 1_000,
            lock_ps: 0,
            threads: 1,
            stripe_cache: 4,
            xor_bytes_per_s: 0,
            bitmap_bytes: 1 << 20,
        }
    }

    #[test]
    fn a_full_stripe_cache_makes_writes_wait_in_their_order() {
        let mut md = MdState::new(&md());
        assert!(md.take(1, 4096) && md.take(2, 8192));
        assert!(!md.take(3, 8192) && !md.take(4, 4096), "the smaller one does not overtake");
        assert_eq!(md.admitted(), None);
        md.give_back(1);
        assert_eq!(md.admitted(), Some(3));
        assert_eq!(md.admitted(), None);
        md.give_back(2);
        assert_eq!(md.admitted(), Some(4));
        md.give_back(3);
        md.give_back(4);
        assert!(md.take(5, 1 << 20), "more than all of them: all of them");
    }

    #[test]
    fn one_thread_handles_one_stripe_after_the_other_and_two_two_of_them() {
        let mut one = MdState::new(&md());
        assert_eq!([one.handle(0, 4096, 0), one.handle(0, 8192, 0)], [1_000, 3_000]);
        let mut two = MdState::new(&Md { threads: 2, ..md() });
        assert_eq!([two.handle(0, 4096, 0), two.handle(0, 4096, 0), two.handle(0, 4096, 0)], [1_000, 1_000, 2_000]);
        let mut locked = MdState::new(&Md { threads: 8, lock_ps: 600, ..md() });
        assert_eq!([locked.handle(0, 4096, 0), locked.handle(0, 4096, 0)], [1_600, 2_200]);
    }

    #[test]
    fn a_bit_is_written_once_and_those_that_come_meanwhile_wait_for_the_next_write() {
        let mut md = MdState::new(&md());
        assert!(md.waits_for_bit(1, 0) && md.begin_bitmap_write());
        assert!(md.waits_for_bit(2, 4096), "it is under way");
        assert!(md.waits_for_bit(3, 1 << 20) && !md.begin_bitmap_write());
        assert_eq!(md.end_bitmap_write(), [1, 2]);
        assert!(!md.waits_for_bit(4, 8192), "set");
        assert!(md.begin_bitmap_write());
        assert_eq!(md.end_bitmap_write(), [3]);
        let mut none = MdState::new(&Md { bitmap_bytes: 0, ..self::md() });
        assert!(!none.waits_for_bit(1, 0));
    }
}
