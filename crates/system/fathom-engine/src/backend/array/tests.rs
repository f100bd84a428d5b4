//! Arrays over members in memory that finish their I/Os in any order, and fail when told to.

use std::sync::Arc;

use fathom_host::FailedMembers;
use fathom_raid::{Layout, MemberSet, field};
use fathom_random::Rng;
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

use super::*;
use crate::array::{Beside, Rebuilding};

const CHUNK: u64 = 4 << 10;
const BLOCK: u64 = 512;
const ROWS: u64 = 6;

/// Members in memory.
struct Memory {
    members: Vec<Vec<u8>>,
    queued: Vec<(u32, Io)>,
    done: Vec<(u32, i32)>,
    rng: Rng,
    /// Members that answer with this error from so many I/Os on.
    failing: Vec<(u16, u64, i32)>,
    /// The same for writes alone.
    full: Vec<(u16, u64, i32)>,
    ios: u64,
    /// Moves at most so many bytes at a time.
    len_max: u32,
}

impl Memory {
    fn new(members: Vec<Vec<u8>>, seed: u64) -> Memory {
        let (queued, done, failing, full) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Memory { members, queued, done, rng: Rng::new(seed, 7), failing, full, ios: 0, len_max: u32::MAX }
    }

    fn below(&mut self, count: usize) -> usize {
        (self.rng.next_u64() % count as u64) as usize
    }

    fn finish_one(&mut self) {
        let at = self.below(self.queued.len());
        let (slot, io) = self.queued.swap_remove(at);
        self.ios += 1;
        let is_hit = |(part, after, _): &&(u16, u64, i32)| *part == io.part && self.ios > *after;
        let full = self.full.iter().filter(|_| io.op == Op::Write).find(is_hit);
        let failed = self.failing.iter().find(is_hit).or(full);
        if let Some((_, _, errno)) = failed {
            return self.done.push((slot, -errno));
        }
        let len = io.len.min(self.len_max);
        let from = io.offset as usize;
        let bytes = &mut self.members[usize::from(io.part)][from..from + len as usize];
        // SAFETY: whoever pushed it promised a buffer of `len` bytes of its own.
        let buffer = unsafe { std::slice::from_raw_parts_mut(io.buffer, len as usize) };
        match io.op {
            Op::Read => buffer.copy_from_slice(bytes),
            _ => bytes.copy_from_slice(buffer),
        }
        self.done.push((slot, len as i32));
    }
}

impl Backend for Memory {
    const SUBMIT_STAMP: SubmitStamp = SubmitStamp::Sampled;

    fn push(&mut self, io: &Io) {
        self.queued.push((io.slot, *io));
    }

    fn push_sync(&mut self, slot: u32, _part: u16, _kind: SyncKind) {
        self.done.push((slot, 0));
    }

    fn submit(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn submit_and_wait(&mut self, min: u32, _timeout_ns: Option<u64>) -> io::Result<()> {
        while (self.done.len() as u32) < min {
            self.finish_one();
        }
        Ok(())
    }

    fn reap(&mut self, mut done: impl FnMut(u32, i32)) {
        self.done.drain(..).for_each(|(slot, result)| done(slot, result));
    }

    fn in_flight(&self) -> u32 {
        0
    }

    fn discard(&mut self) {
        self.queued.clear();
    }

    fn poll(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn submit_calls(&self) -> u64 {
        0
    }

    fn features(&self) -> Vec<FeatureUse> {
        Vec::new()
    }
}

fn layout(level: Level, members: u32) -> Layout {
    Layout::new(level, members, CHUNK).expect("a layout")
}

fn array(layout: Layout, members: Vec<Vec<u8>>, lost: MemberSet, depth: u32, seed: u64) -> Array<Memory> {
    let names: Vec<_> = (0..layout.members()).map(|m| (!lost.has(m)).then(|| format!("/m{m}").into())).collect();
    let parts = (0..layout.members()).map(|m| (!lost.has(m)).then_some(m as u16)).collect();
    let set = Set::new(&"raid".into(), layout, parts, names, lost, FailedMembers::default(), None);
    Array::new(Memory::new(members, seed), 8, vec![set], depth, 1 << 20).expect("memory")
}

fn empty(layout: Layout) -> Vec<Vec<u8>> {
    vec![vec![0; (ROWS * CHUNK) as usize]; layout.members() as usize]
}

/// One I/O from start to end.
fn alone(array: &mut Array<Memory>, op: Op, offset: u64, buffer: &mut [u8]) -> i32 {
    let (len, buffer) = (buffer.len() as u32, buffer.as_mut_ptr());
    array.push(&Io { slot: 0, part: 0, op, len, offset, buffer });
    array.submit_and_wait(1, None).expect("memory does not fail");
    let mut result = None;
    array.reap(|_, moved| result = Some(moved));
    result.expect("finished")
}

fn content(array: &mut Array<Memory>, capacity: u64) -> Vec<u8> {
    let mut bytes = vec![0; capacity as usize];
    assert_eq!(alone(array, Op::Read, 0, &mut bytes), capacity as i32);
    bytes
}

/// Writes of any place and length, as many at once as the depth, none on the bytes of another; what the array then holds.
fn write_at_random(array: &mut Array<Memory>, capacity: u64, depth: u32, writes: u32, seed: u64, model: &mut [u8]) {
    let mut rng = Rng::new(seed, 1);
    let blocks = capacity / BLOCK;
    let mut in_flight: Vec<Option<(u64, Vec<u8>)>> = (0..depth).map(|_| None).collect();
    let (mut begun, mut ended) = (0, 0);
    while ended < writes {
        for slot in 0..depth {
            if in_flight[slot as usize].is_some() || begun == writes {
                continue;
            }
            let first = rng.next_u64() % blocks;
            // Small ones, whole stripes, and anything between.
            let longest = [1, 4, CHUNK / BLOCK, 3 * CHUNK / BLOCK, 10 * CHUNK / BLOCK][(rng.next_u64() % 5) as usize];
            let len = (1 + rng.next_u64() % longest).min(blocks - first) * BLOCK;
            let offset = first * BLOCK;
            let overlaps = |other: &(u64, Vec<u8>)| other.0 < offset + len && offset < other.0 + other.1.len() as u64;
            if in_flight.iter().flatten().any(overlaps) {
                continue;
            }
            let mut data: Vec<u8> = (0..len).map(|_| rng.next_u64() as u8).collect();
            model[offset as usize..][..data.len()].copy_from_slice(&data);
            let buffer = data.as_mut_ptr();
            in_flight[slot as usize] = Some((offset, data));
            array.push(&Io { slot, part: 0, op: Op::Write, len: len as u32, offset, buffer });
            begun += 1;
        }
        array.submit_and_wait(1, None).expect("memory does not fail");
        array.reap(|slot, result| {
            let (_, data) = in_flight[slot as usize].take().expect("in flight");
            assert_eq!(result, data.len() as i32);
            ended += 1;
        });
    }
}

/// P and Q of each row, byte by byte from the definition.
fn check_parities(layout: &Layout, members: &[Vec<u8>]) {
    for at in 0..ROWS * CHUNK {
        let (row, at) = (at / CHUNK, at as usize);
        let (mut p, mut q) = (0, 0);
        for column in 0..layout.data_columns() {
            let byte = members[layout.data_member(row, column) as usize][at];
            p ^= byte;
            q ^= field::multiply(field::power_of_two(column), byte);
        }
        let of = |member: Option<u32>| member.map(|m| members[m as usize][at]);
        assert!(of(layout.p_member(row)).is_none_or(|held| held == p), "P of row {row}");
        assert!(of(layout.q_member(row)).is_none_or(|held| held == q), "Q of row {row}");
    }
}

/// Every set of members that the layout does without.
fn losses(layout: &Layout) -> Vec<MemberSet> {
    (0..1_u64 << layout.members()).map(MemberSet::from_bits).filter(|lost| layout.survives(*lost)).collect()
}

proptest! {
    #[test]
    fn what_was_written_in_any_order_comes_back_whole_and_with_each_loss(
        level in 0_usize..4, members in 4_u32..8, depth in 1_u32..9, seed in any::<u64>(),
    ) {
        let layout = layout(Level::ALL[level], members);
        let capacity = layout.capacity_bytes(ROWS * CHUNK);
        let mut model = vec![0; capacity as usize];
        let mut whole = array(layout, empty(layout), MemberSet::EMPTY, depth, seed);
        write_at_random(&mut whole, capacity, depth, 60, seed, &mut model);
        prop_assert!(content(&mut whole, capacity) == model);
        let held = std::mem::take(&mut whole.inner.members);
        if layout.level().parities() > 0 {
            check_parities(&layout, &held);
        }
        for lost in losses(&layout) {
            let mut left = held.clone();
            (0..members).filter(|m| lost.has(*m)).for_each(|m| left[m as usize].fill(0xaa));
            let mut degraded = array(layout, left, lost, depth, seed);
            prop_assert!(content(&mut degraded, capacity) == model, "{layout:?} without {lost:?}");
        }
    }

    #[test]
    fn what_is_written_without_members_comes_back_without_them(
        level in 1_usize..4, members in 4_u32..8, depth in 1_u32..5, which in any::<u64>(), seed in any::<u64>(),
    ) {
        let layout = layout(Level::ALL[level], members);
        let capacity = layout.capacity_bytes(ROWS * CHUNK);
        let all = losses(&layout);
        let lost = all[(which % all.len() as u64) as usize];
        let mut model = vec![0; capacity as usize];
        let mut degraded = array(layout, empty(layout), lost, depth, seed);
        write_at_random(&mut degraded, capacity, depth, 60, seed, &mut model);
        prop_assert!(content(&mut degraded, capacity) == model);
        prop_assert_eq!(degraded.inner.members.iter().zip(0..).filter(|(m, at)| lost.has(*at) && m.iter().any(|b| *b != 0)).count(), 0);
    }

    #[test]
    fn a_member_that_fails_under_way_is_done_without(
        level in 1_usize..4, members in 4_u32..8, depth in 1_u32..9, after in 0_u64..300, which in 0_u16..8, seed in any::<u64>(),
    ) {
        let layout = layout(Level::ALL[level], members);
        let capacity = layout.capacity_bytes(ROWS * CHUNK);
        let member = which % members as u16;
        let mut model = vec![0; capacity as usize];
        let mut array = array(layout, empty(layout), MemberSet::EMPTY, depth, seed);
        array.inner.failing.push((member, after, libc::EIO));
        write_at_random(&mut array, capacity, depth, 60, seed, &mut model);
        let before = array.inner.ios;
        prop_assert!(content(&mut array, capacity) == model);
        let record = array.arrays().remove(0);
        let errno = record.members[usize::from(member)].failed_errno;
        prop_assert!(errno.is_none_or(|errno| errno == libc::EIO));
        // To read it all asks every member that holds data, and with parity that is each; a copy may be read instead.
        if before >= after && layout.level().parities() > 0 {
            prop_assert_eq!(errno, Some(libc::EIO));
        }
        prop_assert!(record.members.iter().filter(|m| m.failed_errno.is_some()).count() <= 1);
    }

    #[test]
    fn a_kernel_that_moves_a_part_at_a_time_loses_nothing(level in 0_usize..4, seed in any::<u64>()) {
        let layout = layout(Level::ALL[level], 5);
        let capacity = layout.capacity_bytes(ROWS * CHUNK);
        let mut model = vec![0; capacity as usize];
        let mut array = array(layout, empty(layout), MemberSet::EMPTY, 4, seed);
        array.inner.len_max = 1536;
        write_at_random(&mut array, capacity, 4, 40, seed, &mut model);
        prop_assert!(content(&mut array, capacity) == model);
    }
}

#[test]
fn a_small_write_is_two_four_or_six_ios_on_members() {
    for (level, members, reads, writes) in
        [(Level::Raid0, 6, 0, 1), (Level::Raid10, 6, 0, 2), (Level::Raid5, 6, 2, 2), (Level::Raid6, 6, 3, 3)]
    {
        let layout = layout(level, members);
        let mut array = array(layout, empty(layout), MemberSet::EMPTY, 1, 1);
        for at in 0..100 {
            let mut block = [at as u8; BLOCK as usize];
            let offset = at * 7 % (layout.capacity_bytes(ROWS * CHUNK) / BLOCK) * BLOCK;
            assert_eq!(alone(&mut array, Op::Write, offset, &mut block), BLOCK as i32);
        }
        let record = array.arrays().remove(0);
        assert_eq!(record.write_cost(), Some((f64::from(reads), f64::from(writes))), "{level}");
        assert_eq!(array.inner.ios, 100 * u64::from(reads as u32 + writes as u32), "{level}: as the members counted");
    }
}

#[test]
fn a_full_stripe_reads_nothing() {
    let layout = layout(Level::Raid6, 6);
    let mut array = array(layout, empty(layout), MemberSet::EMPTY, 1, 1);
    let mut stripe = vec![7; layout.stripe_bytes() as usize];
    for row in 0..ROWS {
        assert!(alone(&mut array, Op::Write, row * layout.stripe_bytes(), &mut stripe) > 0);
    }
    let record = array.arrays().remove(0);
    assert_eq!((record.full_stripe_writes, record.member_reads_for_writes, record.member_writes()), (6, 0, 36));
}

#[test]
fn more_losses_than_the_level_makes_up_for_fail_the_io_by_their_errno() {
    let layout = layout(Level::Raid5, 4);
    let mut array = array(layout, empty(layout), MemberSet::EMPTY, 1, 1);
    array.inner.failing = vec![(0, 0, libc::ENODEV), (1, 0, libc::EIO)];
    let mut all = vec![1; layout.capacity_bytes(ROWS * CHUNK) as usize];
    let result = alone(&mut array, Op::Read, 0, &mut all);
    assert!([-libc::EIO, -libc::ENODEV].contains(&result), "{result}");
    let failed: Vec<_> = array.arrays().remove(0).members.iter().filter_map(|m| m.failed_errno).collect();
    assert_eq!(failed.len(), 1, "the second failure is the load's, and no member is given up for it");
}

#[test]
fn a_full_disk_or_a_wrong_request_is_no_loss_of_a_member() {
    for errno in [libc::ENOSPC, libc::EINVAL] {
        let layout = layout(Level::Raid6, 5);
        let mut array = array(layout, empty(layout), MemberSet::EMPTY, 1, 1);
        array.inner.failing = vec![(0, 0, errno)];
        let mut stripe = vec![1; layout.stripe_bytes() as usize];
        assert_eq!(alone(&mut array, Op::Write, 0, &mut stripe), -errno);
        assert!(!array.arrays().remove(0).is_degraded());
    }
}

#[test]
fn a_sync_reaches_each_member_that_is_left() {
    let layout = layout(Level::Raid5, 4);
    let mut array = array(layout, empty(layout), [2].into_iter().collect(), 1, 1);
    array.push_sync(0, 0, SyncKind::Fsync);
    array.submit_and_wait(1, None).expect("memory does not fail");
    let mut results = Vec::new();
    array.reap(|slot, result| results.push((slot, result)));
    assert_eq!(results, [(0, 0)]);
}

/// The array with a member that one thread rebuilds, which as yet holds nothing of it.
fn rebuilding(
    layout: Layout,
    mut members: Vec<Vec<u8>>,
    member: u32,
    bytes_per_s: Option<u64>,
    depth: u32,
    seed: u64,
) -> Array<Memory> {
    members[member as usize].fill(0xaa);
    let names: Vec<_> = (0..layout.members()).map(|m| Some(format!("/m{m}").into())).collect();
    let parts = (0..layout.members()).map(|m| Some(m as u16)).collect();
    let shared = Arc::new(Beside::new(member, bytes_per_s, CHUNK, ROWS, &[0, ROWS]));
    let (id, lost) = ("raid".into(), MemberSet::EMPTY);
    let rebuild = Some(Rebuilding::new(shared, Some(0)));
    let set = Set::new(&id, layout, parts, names, lost, FailedMembers::default(), rebuild);
    Array::new(Memory::new(members, seed), 8, vec![set], depth, 1 << 20).expect("memory")
}

/// The rebuild goes on until there is no more to do.
fn finish(array: &mut Array<Memory>) {
    let deadline_ns = array.clock.now() + 60_000_000_000;
    array.work_until(deadline_ns).expect("memory does not fail");
    assert!(!array.works_beside(), "it came to its end");
}

proptest! {
    #[test]
    fn a_member_rebuilt_beside_writes_stands_in_for_any_other(
        level in 1_usize..4, members in 4_u32..8, depth in 1_u32..9, which in 0_u32..8, before in 0_u32..40, seed in any::<u64>(),
    ) {
        let layout = layout(Level::ALL[level], members);
        let capacity = layout.capacity_bytes(ROWS * CHUNK);
        let member = which % members;
        let mut model = vec![0; capacity as usize];
        let mut whole = array(layout, empty(layout), MemberSet::EMPTY, depth, seed);
        write_at_random(&mut whole, capacity, depth, 60, seed, &mut model);
        let mut array = rebuilding(layout, std::mem::take(&mut whole.inner.members), member, None, depth, seed);
        write_at_random(&mut array, capacity, depth, before, seed ^ 1, &mut model);
        prop_assert!(content(&mut array, capacity) == model, "while it may be under way");
        finish(&mut array);
        // From here on the member is read and written as the others are.
        let rebuilt = array.arrays().remove(0).rebuild.expect("a rebuild");
        prop_assert!(rebuilt.is_whole() && rebuilt.failure.is_none());
        let reads = rebuilt.ios.expect("counted").reads;
        prop_assert!(reads <= u64::from(members - 1) * ROWS, "no more than all others are read");
        write_at_random(&mut array, capacity, depth, 20, seed ^ 2, &mut model);
        prop_assert!(content(&mut array, capacity) == model);
        let held = std::mem::take(&mut array.inner.members);
        if layout.level().parities() > 0 {
            check_parities(&layout, &held);
        }
        for lost in losses(&layout) {
            let mut left = held.clone();
            (0..members).filter(|m| lost.has(*m)).for_each(|m| left[m as usize].fill(0x55));
            let mut degraded = self::array(layout, left, lost, depth, seed);
            prop_assert!(content(&mut degraded, capacity) == model, "{layout:?} without {lost:?}");
        }
    }

    #[test]
    fn another_member_that_fails_under_way_is_made_up_for_or_ends_the_rebuild_by_its_name(
        level in 2_usize..4, members in 4_u32..8, depth in 1_u32..9, after in 0_u64..120, seed in any::<u64>(),
    ) {
        let layout = layout(Level::ALL[level], members);
        let capacity = layout.capacity_bytes(ROWS * CHUNK);
        let mut model = vec![0; capacity as usize];
        let mut whole = array(layout, empty(layout), MemberSet::EMPTY, depth, seed);
        write_at_random(&mut whole, capacity, depth, 60, seed, &mut model);
        let mut array = rebuilding(layout, std::mem::take(&mut whole.inner.members), 1, None, depth, seed);
        array.inner.failing.push((2, after, libc::EIO));
        finish(&mut array);
        let rebuilt = array.arrays().remove(0).rebuild.expect("a rebuild");
        if layout.level() == Level::Raid6 {
            prop_assert!(rebuilt.is_whole() && rebuilt.failure.is_none(), "two parities make up for two members");
            prop_assert!(content(&mut array, capacity) == model);
            let held = std::mem::take(&mut array.inner.members);
            let mut degraded = self::array(layout, held, [0, 2].into_iter().collect(), depth, seed);
            prop_assert!(content(&mut degraded, capacity) == model, "what is rebuilt stands in for the one that failed");
        } else if let Some(failure) = rebuilt.failure {
            prop_assert_eq!((failure.member, failure.errno, rebuilt.is_whole()), (2, libc::EIO, false));
        } else {
            prop_assert!(rebuilt.is_whole(), "it was done before the failure");
        }
    }

    #[test]
    fn a_rebuilt_member_that_fills_up_is_given_up_and_the_load_goes_on(
        level in 1_usize..4, depth in 1_u32..9, after in 0_u64..150, seed in any::<u64>(),
    ) {
        let layout = layout(Level::ALL[level], 5);
        let capacity = layout.capacity_bytes(ROWS * CHUNK);
        let mut model = vec![0; capacity as usize];
        let mut whole = array(layout, empty(layout), MemberSet::EMPTY, depth, seed);
        write_at_random(&mut whole, capacity, depth, 60, seed, &mut model);
        let mut array = rebuilding(layout, std::mem::take(&mut whole.inner.members), 3, None, depth, seed);
        array.inner.full.push((3, after, libc::ENOSPC));
        write_at_random(&mut array, capacity, depth, 60, seed ^ 1, &mut model);
        finish(&mut array);
        prop_assert!(content(&mut array, capacity) == model);
        let record = array.arrays().remove(0);
        let rebuilt = record.rebuild.expect("a rebuild");
        match rebuilt.failure {
            Some(failure) => {
                prop_assert_eq!((failure.member, failure.errno), (3, libc::ENOSPC));
                prop_assert_eq!(record.members[3].failed_errno, Some(libc::ENOSPC));
                let held = std::mem::take(&mut array.inner.members);
                let mut degraded = self::array(layout, held, [3].into_iter().collect(), depth, seed);
                prop_assert!(content(&mut degraded, capacity) == model);
            }
            None => prop_assert!(rebuilt.is_whole()),
        }
    }
}

#[test]
fn a_rebuild_keeps_to_its_speed_and_small_writes_to_their_cost() {
    let layout = layout(Level::Raid5, 6);
    let mut array = rebuilding(layout, empty(layout), 5, Some(1), 1, 1);
    let second_ns = 1_000_000_000;
    let shared = Arc::new(Beside::new(0, Some(10 * CHUNK), CHUNK, 1000, &[0, 500, 1000]));
    let mut rebuild = Rebuilding::new(shared, Some(1));
    let rows = (0..4_000_u64).filter(|ms| rebuild.next_row(second_ns + ms * second_ns / 1000).is_some()).count();
    assert!((20..=21).contains(&rows), "half of ten rows a second for each of two threads, in four seconds: {rows}");
    // One row is due at once, the next in an hour: writes to the other rows are done without the member.
    for at in 0..20 {
        let mut block = [at as u8; BLOCK as usize];
        assert_eq!(alone(&mut array, Op::Write, at * BLOCK, &mut block), BLOCK as i32);
    }
    let record = array.arrays().remove(0);
    assert!(array.works_beside() && record.rebuild.is_some_and(|rebuild| rebuild.done_bytes <= CHUNK));
    assert_eq!(record.write_cost().map(|(_, writes)| writes <= 2.0), Some(true), "{record:?}");
}

#[test]
fn each_row_is_rebuilt_by_the_one_thread_that_may_write_it() {
    let beside = Arc::new(Beside::new(0, None, CHUNK, 100, &[10, 10, 25, 40]));
    let mut seen = vec![0; 100];
    for thread in 0..3 {
        let mut part = Rebuilding::new(beside.clone(), Some(thread));
        while let Some(row) = part.next_row(0) {
            seen[row as usize] += 1;
            let writer = (10..25).contains(&row).then_some(1).or((25..40).contains(&row).then_some(2));
            assert!(writer.is_none_or(|writer| writer == thread), "row {row} of thread {thread}");
            assert!(!beside.is_done(row));
            part.begin(row);
            part.end(row, 0);
            assert!(beside.is_done(row));
        }
        assert!(part.is_over());
    }
    assert!(seen.iter().all(|times| *times == 1) && beside.is_whole(), "{seen:?}");
}
