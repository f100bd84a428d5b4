//! Whatever is merged is what one process would have recorded.

use proptest::prelude::*;

use super::*;
use crate::host::{CpuTime, HostDelta};

const MS: u64 = 1_000_000;

fn histogram(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    values.iter().for_each(|v| histogram.record(*v));
    histogram
}

fn head(rank: u32, window_start_ns: u64, offset_ns: i64, runtime_ns: u64) -> RankHead {
    RankHead {
        rank,
        host: format!("node{rank}"),
        host_id: format!("id{rank}"),
        clock: RankClock { offset_ns, bound_ns: 500 },
        window_start_ns,
        runtime_ns,
    }
}

/// The record of a process that measured these latencies, interval by interval of 10 ms.
fn record(of_op: &[(Op, Vec<Vec<u64>>)], block: u64) -> StepRecord {
    let count = of_op.iter().map(|(_, intervals)| intervals.len()).max().unwrap_or(0);
    let slice = |op: Op, values: &[u64]| DirectionInterval {
        op,
        ios: values.len() as u64,
        bytes: values.len() as u64 * block,
        lat: histogram(values),
    };
    let empty = Vec::new();
    let intervals = (0..count).map(|at| Interval {
        start_ns: at as u64 * 10 * MS,
        length_ns: 10 * MS,
        directions: of_op.iter().map(|(op, of)| slice(*op, of.get(at).unwrap_or(&empty))).collect(),
        syncs: None,
    });
    let direction = |(op, of): &(Op, Vec<Vec<u64>>)| {
        let all: Vec<u64> = of.iter().flatten().copied().collect();
        let lat = Latency::Samples(histogram(&all));
        let (ios, bytes) = (all.len() as u64, all.len() as u64 * block);
        Direction { op: *op, ios, bytes, short_ios: 0, clat: Some(lat.clone()), lat, slat: None, service: None }
    };
    StepRecord {
        started_unix_ns: 7,
        runtime_ns: count as u64 * 10 * MS,
        directions: of_op.iter().map(direction).collect(),
        intervals: intervals.collect(),
        in_flight_mean: Some(2.0),
        occupied_mean: Some(4.0),
        ..StepRecord::default()
    }
}

fn merged(heads: Vec<RankHead>, records: Vec<StepRecord>) -> StepRecord {
    let mut merger = RankMerger::new(INTERVALS_MAX);
    heads.into_iter().zip(records).for_each(|(head, record)| add(&mut merger, head, record).expect("near the others"));
    merger.finish(Vec::new()).expect("a record")
}

/// More than any of these records has.
const INTERVALS_MAX: usize = 10;

fn add(merger: &mut RankMerger, head: RankHead, mut record: StepRecord) -> Result<(), Elsewhere> {
    let slices = std::mem::take(&mut record.intervals);
    merger.add(head, record, &slices)
}

/// Latencies, interval by interval.
type Slices = Vec<Vec<u64>>;

fn samples() -> impl Strategy<Value = Slices> {
    proptest::collection::vec(proptest::collection::vec(1u64..1 << 36, 0..40), 3)
}

proptest! {
    /// Bin by bin the sum, and so each quantile that of one process that recorded all I/Os.
    #[test]
    fn ranks_together_are_one_process_that_recorded_all(
        of_ranks in proptest::collection::vec((samples(), samples()), 1..6),
        skew in proptest::collection::vec(0u64..4 * MS, 6),
        offset in proptest::collection::vec(-(1i64 << 40)..1 << 40, 6),
    ) {
        let start = 1u64 << 50;
        let heads = (0u32..).zip(&of_ranks).map(|(rank, _)| {
            let at = rank as usize;
            head(rank, (start + skew[at]).checked_add_signed(offset[at]).expect("in range"), offset[at], 30 * MS)
        });
        let records = of_ranks.iter().map(|(reads, writes)| {
            record(&[(Op::Read, reads.clone()), (Op::Write, writes.clone())], 4096)
        });
        let whole = merged(heads.collect(), records.collect());
        let join = |of: fn(&(Slices, Slices)) -> &Slices| -> Slices {
            (0..3).map(|at| of_ranks.iter().flat_map(|rank| of(rank)[at].clone()).collect()).collect()
        };
        let alone = record(&[(Op::Read, join(|r| &r.0)), (Op::Write, join(|r| &r.1))], 4096);
        prop_assert_eq!(&whole.intervals, &alone.intervals);
        prop_assert_eq!(&whole.directions, &alone.directions);
        let (all, one) = (whole.lat_merged().expect("samples"), alone.lat_merged().expect("samples"));
        for q in [0.01, 0.5, 0.9, 0.99, 0.999, 0.9999] {
            prop_assert_eq!(all.quantile(q), one.quantile(q));
        }
        let ranks = whole.ranks.as_ref().expect("ranks");
        let used = &skew[..of_ranks.len()];
        prop_assert_eq!(ranks.start_skew_ns, used.iter().max().unwrap() - used.iter().min().unwrap());
        prop_assert_eq!(ranks.start_skew_bound_ns, 1000);
        prop_assert_eq!(ranks.together_ns, 30 * MS - ranks.start_skew_ns);
        prop_assert_eq!(ranks.ranks.iter().map(|r| r.ios).sum::<u64>(), whole.ios());
        prop_assert_eq!(ranks.ranks.iter().map(|r| r.counted_bytes).sum::<u64>(), whole.bytes());
    }

    /// What is handed over comes back.
    #[test]
    fn a_record_survives_being_handed_over(reads in samples()) {
        let own = merged(vec![head(0, 5, 0, 30 * MS)], vec![record(&[(Op::Read, reads)], 512)]);
        let text = serde_json::to_vec(&own).expect("serialises");
        prop_assert_eq!(serde_json::from_slice::<StepRecord>(&text).expect("reads"), own);
    }
}

#[test]
fn a_rank_that_ends_early_leaves_the_time_in_which_all_ran() {
    let long = vec![vec![100; 8], vec![200; 8], vec![300; 8], vec![400; 8]];
    let short = vec![vec![100; 2], vec![200; 2]];
    let heads = vec![head(0, 1000, 0, 40 * MS), head(1, 1000, 0, 20 * MS)];
    let whole = merged(heads, vec![record(&[(Op::Read, long)], 1), record(&[(Op::Read, short)], 1)]);
    assert_eq!((whole.runtime_ns, whole.ios(), whole.intervals.len()), (20 * MS, 20, 2));
    assert_eq!(whole.lat_merged().expect("samples"), histogram(&[vec![100; 10], vec![200; 10]].concat()));
    assert_eq!(whole.directions[0].clat, None, "known for the whole window alone");
    assert_eq!((whole.in_flight_mean, whole.occupied_mean), (None, None));
    let ranks = whole.ranks.expect("ranks");
    assert!(ranks.is_cut);
    assert_eq!(ranks.together_ns, 20 * MS);
    assert_eq!(ranks.ranks.iter().map(|r| (r.ios, r.counted_ios)).collect::<Vec<_>>(), [(32, 16), (4, 4)]);
}

#[test]
fn averages_are_of_all_ranks_together() {
    let own = || record(&[(Op::Write, vec![vec![5; 3]])], 8);
    let whole = merged(vec![head(0, 0, 0, 10 * MS), head(1, 0, 0, 10 * MS)], vec![own(), own()]);
    assert_eq!((whole.in_flight_mean, whole.occupied_mean), (Some(4.0), Some(8.0)));
}

#[test]
fn the_slowest_is_named_where_it_stays_behind() {
    let own = |ios: usize| record(&[(Op::Read, vec![vec![10; ios]])], 4096);
    let heads = || (0..3).map(|rank| head(rank, 0, 0, 10 * MS)).collect();
    let even = merged(heads(), vec![own(100), own(98), own(101)]).ranks.expect("ranks");
    assert_eq!(even.straggler(), None);
    let uneven = merged(heads(), vec![own(100), own(40), own(101)]).ranks.expect("ranks");
    let (slowest, share) = uneven.straggler().expect("one");
    assert_eq!((slowest.host.as_str(), share), ("node1", 0.4));
}

#[test]
fn cpus_of_hosts_follow_each_other_and_those_of_one_host_count_once() {
    let busy = |user_ns| CpuTime { user_ns, ..CpuTime::default() };
    let own = |user_ns| StepRecord {
        host: Some(HostDelta {
            window_ns: 10 * MS,
            cpus: vec![(0, busy(user_ns)), (1, busy(user_ns))],
            disks: vec![crate::DiskDelta { device: "sda".into(), ..Default::default() }],
            ..HostDelta::default()
        }),
        ..record(&[(Op::Read, vec![vec![10; 4]])], 4096)
    };
    let mut heads: Vec<RankHead> = (0..3).map(|rank| head(rank, 0, 0, 10 * MS)).collect();
    heads[2].host_id = "id0".into();
    heads[2].host = "node0".into();
    let whole = merged(heads, vec![own(1), own(2), own(1)]);
    let host = whole.host.expect("sampled");
    let cpus: Vec<(u32, u64)> = host.cpus.iter().map(|(cpu, time)| (*cpu, time.user_ns)).collect();
    assert_eq!(cpus, [(0, 1), (1, 1), (2, 2), (3, 2)]);
    assert_eq!(host.disks.iter().map(|d| d.device.as_str()).collect::<Vec<_>>(), ["node0:sda", "node1:sda"]);
    let ranks = whole.ranks.expect("ranks");
    assert_eq!(ranks.hosts(), ["node0", "node1"]);
    assert_eq!(ranks.ranks.iter().map(|r| r.first_cpu).collect::<Vec<_>>(), [Some(0), Some(2), Some(0)]);
}

#[test]
fn nothing_is_made_of_nothing() {
    assert!(RankMerger::new(INTERVALS_MAX).finish(Vec::new()).is_none());
}

#[test]
fn a_rank_may_begin_whole_intervals_before_the_first_that_is_added() {
    let own = |values: &[u64]| record(&[(Op::Read, values.iter().map(|v| vec![*v]).collect())], 1);
    let start = 100 * MS;
    let heads = vec![head(0, start, 0, 40 * MS), head(1, start - 21 * MS, 0, 40 * MS), head(2, start - MS, 0, 40 * MS)];
    let whole = merged(heads, vec![own(&[10, 11, 12, 13]), own(&[20, 21, 22, 23]), own(&[30, 31, 32, 33])]);
    let ranks = whole.ranks.as_ref().expect("ranks");
    assert_eq!(ranks.ranks.iter().map(|r| r.start_ns / MS).collect::<Vec<_>>(), [21, 0, 20]);
    assert_eq!(ranks.ranks[1].interval_ios, [1; 4]);
    assert_eq!(ranks.ranks[0].interval_ios, [0, 0, 1, 1, 1, 1]);
    // Rank 1 ended 20 ms before the others: what remains is the time in which all ran.
    assert!(ranks.is_cut);
    let of_intervals: Vec<Histogram> = whole.intervals.iter().map(|i| i.directions[0].lat.clone()).collect();
    assert_eq!(of_intervals, [histogram(&[10, 22, 30])]);
    assert_eq!(whole.intervals[0].start_ns, 0);
}

#[test]
fn what_is_not_of_the_same_time_is_left_out() {
    let own = |count: usize| record(&[(Op::Read, vec![vec![5]; count])], 1);
    let mut merger = RankMerger::new(INTERVALS_MAX);
    add(&mut merger, head(0, 0, 0, 30 * MS), own(3)).expect("the first");
    for (start, count) in [(u64::MAX, 3), (200 * MS, 3), (0, INTERVALS_MAX + 1)] {
        assert_eq!(add(&mut merger, head(1, start, 0, 30 * MS), own(count)), Err(Elsewhere), "{start} {count}");
    }
    let whole = merger.finish(Vec::new()).expect("a record");
    assert_eq!((whole.ios(), whole.intervals.len()), (3, 3));
    assert_eq!(whole.ranks.expect("ranks").ranks.len(), 1);
}

#[test]
fn rows_of_cpus_are_kept_of_as_many_hosts_as_can_be_shown() {
    let cpus = CPU_ROWS_MAX / 2;
    let own = |share: f32| StepRecord {
        host: Some(HostDelta {
            cpus: (0..cpus).map(|cpu| (cpu, CpuTime { user_ns: 1, ..CpuTime::default() })).collect(),
            cpu_busy_by_interval: vec![vec![share; cpus as usize]; 2],
            cpu_series: crate::CpuSeries {
                cpus: (0..cpus).collect(),
                shares_pct: vec![vec![crate::CpuShares::default(); cpus as usize]; 2],
                interrupts: vec![1, 2],
                context_switches: vec![3, 4],
            },
            ..HostDelta::default()
        }),
        ..record(&[(Op::Read, vec![vec![10; 4]; 2])], 4096)
    };
    let heads = (0..4).map(|rank| head(rank, 0, 0, 20 * MS)).collect();
    let host = merged(heads, vec![own(0.25), own(0.5), own(0.75), own(1.0)]).host.expect("sampled");
    assert_eq!(host.cpus.len() as u32, 4 * cpus, "what each did in all is kept of all");
    let expected = [vec![0.25; cpus as usize], vec![0.5; cpus as usize]].concat();
    assert_eq!(host.cpu_busy_by_interval, [expected.clone(), expected]);
    assert_eq!(host.cpu_series.cpus, (0..2 * cpus).collect::<Vec<_>>());
    assert!(host.cpu_series.shares_pct.iter().all(|row| row.len() as u32 == 2 * cpus));
    assert_eq!((host.cpu_series.interrupts, host.cpu_series.context_switches), (vec![4, 8], vec![12, 16]));
}

#[test]
fn without_intervals_there_are_totals() {
    let own = || StepRecord { intervals: Vec::new(), ..record(&[(Op::Write, vec![vec![5; 3]])], 8) };
    let whole = merged(vec![head(0, 0, 0, 10 * MS), head(1, 3 * MS, 0, 20 * MS)], vec![own(), own()]);
    assert_eq!((whole.ios(), whole.runtime_ns), (6, 23 * MS));
    let ranks = whole.ranks.expect("ranks");
    assert_eq!(ranks.ranks.iter().map(|r| (r.counted_ios, r.counted_bytes)).collect::<Vec<_>>(), [(3, 24), (3, 24)]);
}
