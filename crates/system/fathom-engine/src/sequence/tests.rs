use std::collections::BTreeSet;

use fathom_plan::{AccessZone, BlockList, BlockSize, Knobs, Runs, SizeRange, StridedZones, TargetId, ZoneSpace};
use proptest::prelude::{Strategy, prop, prop_assert, prop_assert_eq, proptest};

use super::*;

/// A step with these words of fio's, and what it does to its order.
pub(super) fn step(words: &str, change: impl Fn(&mut IoOrder)) -> Step {
    let mut knobs = Knobs::fio_defaults();
    for word in words.split_whitespace() {
        let (key, value) = word.split_once('=').expect("key=value");
        knobs.set(key, value).expect("a knob");
    }
    let mut step = knobs.build(0, "A", &[TargetId::new("f")], &mut Vec::new()).expect("a step");
    change(&mut step.workload.order);
    step
}

pub(super) fn sequence(step: &Step, extent: Extent) -> IoSequence {
    IoSequence::new(step, extent, 7).expect("sound").expect("beyond a pattern")
}

pub(super) fn extent(begin_bytes: u64, len_bytes: u64) -> Extent {
    Extent { begin_bytes, len_bytes, end_of_target_bytes: begin_bytes + len_bytes }
}

pub(super) fn all(step: &Step, extent: Extent) -> Vec<Next> {
    let (mut sequence, mut rng) = (sequence(step, extent), Rng::new(3, 0));
    std::iter::from_fn(|| sequence.next(&mut rng, None)).take(1_000_000).collect()
}

fn offsets(all: &[Next]) -> Vec<u64> {
    all.iter().map(|next| next.offset).collect()
}

pub(super) const K: u64 = 1024;

#[test]
fn a_stride_leaves_gaps_and_goes_backwards() {
    let forward = all(&step("rw=read:4k bs=4k loops=1", |_| ()), extent(0, 32 * K));
    assert_eq!(offsets(&forward), [0, 8, 16, 24, 0, 8, 16, 24].map(|k| k * K));
    // Backwards: fio reads the first block, then from the end on.
    let backward = all(&step("rw=read:-8k bs=4k loops=1", |_| ()), extent(0, 24 * K));
    assert_eq!(offsets(&backward), [0, 16, 12, 8, 4, 0].map(|k| k * K));
}

#[test]
fn bytes_and_ios_end_a_pass() {
    let ended = all(&step("rw=randread bs=4k loops=2 number_ios=7", |_| ()), extent(0, 1 << 20));
    assert_eq!(ended.len(), 14);
    let bytes = all(&step("rw=read bs=4k loops=1", |order| order.pass_bytes = Some(40 * K)), extent(0, 16 * K));
    assert_eq!(offsets(&bytes), [0, 4, 8, 12, 0, 4, 8, 12, 0, 4].map(|k| k * K));
}

#[test]
fn strided_zones_are_gone_through_with_their_gaps() {
    let zones = StridedZones { zone_bytes: 8 * K, range_bytes: 8 * K, skip_bytes: 8 * K };
    let done = all(&step("rw=read bs=4k loops=1", |order| order.strided = Some(zones)), extent(0, 32 * K));
    assert_eq!(offsets(&done), [0, 4, 16, 20, 0, 4, 16, 20].map(|k| k * K));
}

#[test]
fn a_list_of_blocks_is_followed_and_may_advance() {
    for (advances, expected) in [(false, [2, 0, 1, 2, 0, 1]), (true, [2, 0, 1, 5, 3, 4])] {
        let list = BlockList { blocks: vec![2, 0, 1], advances };
        let change = |order: &mut IoOrder| {
            order.list = Some(list.clone());
            order.pass_bytes = Some(24 * K);
        };
        let done = all(&step("rw=randread bs=4k loops=1", change), extent(0, 48 * K));
        assert_eq!(offsets(&done), expected.map(|block: u64| block * 4 * K));
    }
}

#[test]
fn runs_go_on_behind_each_random_place_or_stay() {
    let behind = all(&step("rw=randread:4 bs=4k loops=1", |_| ()), extent(0, 4 << 20));
    let follows = behind.windows(2).filter(|two| two[1].offset == two[0].offset + 4 * K).count();
    assert!((750..790).contains(&follows), "{follows} of {}", behind.len());
    let change = |order: &mut IoOrder| order.runs = Some(Runs { ios: 4, in_place: true });
    let stay = all(&step("rw=randread:4 bs=4k loops=1", change), extent(0, 4 << 20));
    let same = stay.windows(2).filter(|two| two[1].offset == two[0].offset).count();
    assert!(same >= 750, "{same}");
}

#[test]
fn zones_take_their_shares_of_the_ios() {
    let pct = |access_pct, space| AccessZone { access_pct, space: ZoneSpace::Pct(space) };
    let change = |order: &mut IoOrder| order.zones = vec![pct(50, 5), pct(30, 15), pct(20, 80)];
    let done = all(&step("rw=randread bs=4k norandommap=1 loops=25", change), extent(0, 4 << 20));
    let within = |from: u64, to: u64| {
        let inside = |offset: &&u64| (from * 4 * K..to * 4 * K).contains(*offset);
        offsets(&done).iter().filter(inside).count() as f64 / done.len() as f64
    };
    for (share, expected) in [(within(0, 51), 0.5), (within(51, 204), 0.3), (within(204, 1024), 0.2)] {
        assert!((share - expected).abs() < 0.02, "{share} instead of {expected}");
    }
    let zone = |access_pct, bytes| AccessZone { access_pct, space: ZoneSpace::Bytes(bytes) };
    let change = |order: &mut IoOrder| order.zones = vec![zone(60, Some(1 << 20)), zone(40, None)];
    let done = all(&step("rw=randread bs=4k norandommap=1 loops=25", change), extent(0, 4 << 20));
    let first = done.iter().filter(|next| next.offset < 1 << 20).count() as f64 / done.len() as f64;
    assert!((first - 0.6).abs() < 0.02, "{first}");
}

#[test]
fn sizes_of_a_range_are_multiples_of_the_least_and_of_a_direction_its_own() {
    let change = |order: &mut IoOrder| {
        order.range = Some(SizeRange { min_bytes: 4096, max_bytes: 16_384, unaligned: false });
    };
    let done = all(&step("rw=randread bs=16k norandommap=1 loops=50", change), extent(0, 1 << 20));
    let sizes: BTreeSet<u32> = done.iter().map(|next| next.len / 4096).collect();
    assert_eq!(sizes, BTreeSet::from([1, 2, 3, 4]));
    let both = all(&step("rw=randrw bs=4k,8k norandommap=1 loops=1", |_| ()), extent(0, 1 << 20));
    assert!(both.iter().all(|next| next.len == if next.op == Op::Read { 4096 } else { 8192 }));
    assert!(both.iter().any(|next| next.op == Op::Read) && both.iter().any(|next| next.op == Op::Write));
}

fn split() -> impl Strategy<Value = Vec<BlockSize>> {
    prop::sample::subsequence(vec![512_u32, 1024, 4096, 8192, 65_536], 1..4).prop_map(|sizes| {
        let share = 100 / sizes.len() as u8;
        let rest = 100 - share * (sizes.len() as u8 - 1);
        let shares = std::iter::once(rest).chain(std::iter::repeat(share));
        sizes.into_iter().zip(shares).map(|(bytes, share_pct)| BlockSize { bytes, share_pct }).collect()
    })
}

proptest! {
    /// Whatever the words are: I/Os stay in the region, nothing is touched twice in a pass with a map, and as many bytes are
    /// moved as are asked for, but for less than the largest I/O and what has no place any more.
    #[test]
    fn a_pass_stays_in_its_region_and_moves_its_bytes(
        sizes in split(),
        align in prop::sample::select(vec![None, Some(512_u32), Some(4096)]),
        random: bool,
        begin in 0_u64..8,
        blocks in 130_u64..600,
    ) {
        let step = step(if random { "rw=randread loops=1" } else { "rw=read loops=1" }, |order| order.align_bytes = align);
        let mut step = step;
        let smallest = sizes.iter().map(|size| size.bytes).min().unwrap_or(512);
        step.workload.block_sizes = sizes.clone();
        step.workload.order.align_bytes = align.or(Some(smallest));
        let largest = u64::from(step.workload.block_bytes_max());
        let extent = extent(begin * 512, blocks * 512);
        let done = all(&step, extent);
        let end = extent.begin_bytes + extent.len_bytes;
        for next in &done {
            prop_assert!(next.offset >= extent.begin_bytes && next.offset + u64::from(next.len) <= end);
            prop_assert_eq!(next.offset.wrapping_sub(extent.begin_bytes) % 512, 0);
        }
        let moved: u64 = done.iter().map(|next| u64::from(next.len)).sum();
        prop_assert!(moved <= extent.len_bytes + largest);
        if random {
            let mut touched = BTreeSet::new();
            for next in &done {
                for sector in next.offset / 512..(next.offset + u64::from(next.len)) / 512 {
                    prop_assert!(touched.insert(sector), "sector {} twice", sector);
                }
            }
        } else {
            prop_assert!(moved + largest > extent.len_bytes, "{} of {}", moved, extent.len_bytes);
            let mut at = extent.begin_bytes;
            for next in &done {
                prop_assert_eq!(next.offset, at);
                at += u64::from(next.len);
            }
        }
    }
}
