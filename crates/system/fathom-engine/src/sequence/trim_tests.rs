//! Trims that a write of the same block follows (`rw=trimwrite`).

use fathom_plan::{FileService, ServiceChoice};
use proptest::prelude::{Just, Strategy, prop, prop_assert_eq, prop_oneof, proptest};

use super::tests::{K, all, extent, sequence, step};
use super::*;

/// The trims of a job, each with the write of its block: what `trimwrite` should do, by the plainest means.
fn each_with_its_write(trims: &[Next]) -> Vec<Next> {
    trims.iter().flat_map(|trim| [*trim, Next { op: Op::Write, ..*trim }]).collect()
}

fn words() -> impl Strategy<Value = String> {
    let rw = prop::sample::select(vec!["", "rand"]);
    let sizes = prop::sample::select(vec!["bs=4k", "bs=8k", "bssplit=4k/60:8k/10:16k/30"]);
    let end = prop_oneof![
        Just(String::new()),
        (1_u32..40).prop_map(|ios| format!("number_ios={ios}")),
        (1_u32..16).prop_map(|blocks| format!("io_size={}k", blocks * 16)),
    ];
    (rw, sizes, end, 1_u32..4).prop_map(|(rw, sizes, end, loops)| format!("{rw} {sizes} {end} loops={loops}"))
}

proptest! {
    #[test]
    fn a_write_of_the_same_block_follows_each_trim(words in words(), begin in 0_u64..8) {
        let (rand, rest) = words.split_once(' ').expect("rw and others");
        let extent = extent(begin * 4 * K, 256 * K);
        let pairs = step(&format!("rw={rand}trimwrite {rest}"), |_| ());
        let mut trims = pairs.clone();
        (trims.workload.mix, trims.workload.order.trims_first) = (OpMix::TRIM, false);
        // No limit, but one that keeps the sequence beyond a pattern.
        trims.workload.order.pass_ios.get_or_insert(u64::MAX);
        prop_assert_eq!(all(&pairs, extent), each_with_its_write(&all(&trims, extent)));
    }
}

#[test]
fn jobs_end_where_those_of_fio_do() {
    // Trims and writes of 8k in 256k, each, as fio 3.33 counts them on a loop device.
    for (words, each) in [
        ("rw=trimwrite loops=1", 32),
        ("rw=trimwrite loops=3", 96),
        ("rw=trimwrite loops=1 number_ios=10", 10),
        ("rw=trimwrite loops=2 number_ios=100", 64),
        ("rw=trimwrite loops=1 io_size=128k", 16),
        ("rw=trimwrite loops=2 io_size=128k", 32),
        ("rw=trimwrite loops=1 io_size=400k", 32),
        ("rw=trimwrite loops=1 io_size=512k", 32),
        ("rw=trimwrite loops=1 io_size=768k", 64),
        ("rw=trimwrite loops=1 io_size=1m", 64),
        ("rw=trimwrite:8k loops=1", 16),
        ("rw=randtrimwrite loops=2", 64),
        ("rw=randtrimwrite loops=1 io_size=512k", 32),
        ("rw=randtrimwrite loops=1 norandommap=1 io_size=512k", 64),
        ("rw=randtrimwrite loops=1 norandommap=1 io_size=1m", 128),
        ("rw=randtrimwrite:4 loops=1", 32),
    ] {
        // The job goes over a part of the device.
        let region = Extent { end_of_target_bytes: 16 << 20, ..extent(0, 256 * K) };
        let done = all(&step(&format!("{words} bs=8k"), |_| ()), region);
        let count = |op| done.iter().filter(|next| next.op == op).count();
        assert_eq!((count(Op::Trim), count(Op::Write)), (each, each), "{words}");
        assert!(done.chunks(2).all(|pair| pair[0].offset == pair[1].offset && pair[0].len == pair[1].len), "{words}");
    }
}

#[test]
fn a_job_on_several_targets_writes_what_it_trimmed_on_each() {
    let of = |choice, ios| Some(FileService { choice, ios, open_files: None });
    // A pass over both is 32 blocks.
    for (service, ios) in
        [(None, 7), (of(ServiceChoice::Random, 3), 20), (of(ServiceChoice::Sequential, 1), 20), (None, 40)]
    {
        let step = step(&format!("rw=trimwrite bs=4k loops=1 number_ios={ios}"), |order| {
            order.service = service;
        });
        let parts = vec![sequence(&step, extent(0, 64 * K)), sequence(&step, extent(0, 64 * K))];
        let mut sequences = Sequences::new(parts).expect("a service");
        assert!(sequences.are_pairs());
        let mut rng = Rng::new(3, 0);
        let done: Vec<(u16, Next)> = std::iter::from_fn(|| sequences.next(&mut rng, None)).take(1_000).collect();
        let of = |op| done.iter().filter(move |(_, next)| next.op == op).map(|(part, next)| (*part, next.offset));
        let (mut trims, mut writes): (Vec<_>, Vec<_>) = (of(Op::Trim).collect(), of(Op::Write).collect());
        assert_eq!(trims.len(), ios.min(32), "{service:?}");
        if service.is_some_and(|service| service.choice == ServiceChoice::Sequential) {
            assert!(done[..32].iter().all(|(part, _)| *part == 0), "all of the first before the second: {done:?}");
        }
        trims.sort_unstable();
        writes.sort_unstable();
        assert_eq!(trims, writes, "{service:?}");
    }
}

#[test]
fn a_timed_job_goes_on_in_pairs() {
    let step = step("rw=trimwrite bs=4k runtime=1s", |_| ());
    let (mut sequence, mut rng) = (sequence(&step, extent(0, 16 * K)), Rng::new(3, 0));
    let done: Vec<(Op, u64)> =
        (0..10).filter_map(|_| sequence.next(&mut rng, None)).map(|n| (n.op, n.offset)).collect();
    let pairs = [0, 4, 8, 12, 0].map(|k| [(Op::Trim, k * K), (Op::Write, k * K)]);
    assert_eq!(done, pairs.concat());
}
