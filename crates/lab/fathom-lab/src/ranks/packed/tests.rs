//! What is handed over comes back, and whatever else comes is said by name.

use fathom_record::{
    CpuTime, FeatureName, FeatureUse, HostDelta, IoFailure, QuotedLatency, RankClock, RankHead, RankMerger,
    ThreadRecord, VectorDelta, Warning,
};
use proptest::prelude::*;

use super::*;

const INTERVALS_MAX: usize = 16;

fn histogram() -> impl Strategy<Value = Histogram> {
    let sample = (0_u32..64, any::<u64>(), 1_u64..1_000_000).prop_map(|(shift, raw, n)| (raw >> shift, n));
    prop::collection::vec(sample, 0..20).prop_map(|samples| {
        let mut histogram = Histogram::new();
        samples.into_iter().for_each(|(ns, n)| histogram.record_n(ns, n));
        histogram
    })
}

fn latency() -> impl Strategy<Value = Latency> {
    let quoted = (any::<u32>(), 0.0..1e9f64).prop_map(|(count, mean_ns)| QuotedLatency {
        count: count.into(),
        mean_ns,
        quantiles: vec![(0.99, 7)],
        ..QuotedLatency::default()
    });
    prop_oneof![histogram().prop_map(Latency::Samples), quoted.prop_map(Latency::Quoted)]
}

fn direction(op: Op) -> impl Strategy<Value = Direction> {
    let parts = prop::collection::vec(prop::option::of(latency()), 3);
    (0u64..1 << 50, 0u64..1 << 50, latency(), parts).prop_map(move |(ios, bytes, lat, mut parts)| {
        let mut part = || parts.pop().flatten();
        Direction { op, ios, bytes, short_ios: ios / 3, lat, slat: part(), clat: part(), service: part() }
    })
}

fn slice(op: Op) -> impl Strategy<Value = DirectionInterval> {
    (0u64..1 << 50, 0u64..1 << 50, histogram()).prop_map(move |(ios, bytes, lat)| DirectionInterval {
        op,
        ios,
        bytes,
        lat,
    })
}

fn interval() -> impl Strategy<Value = Interval> {
    (slice(Op::Read), slice(Op::Write), prop::option::of(slice(Op::Sync))).prop_map(|(reads, writes, syncs)| Interval {
        start_ns: 0,
        length_ns: 100_000_000,
        directions: vec![reads, writes],
        syncs,
    })
}

fn record() -> impl Strategy<Value = StepRecord> {
    let numbers = (any::<u64>(), any::<u64>(), -1e9..1e9f64, any::<bool>());
    let directions = (direction(Op::Read), direction(Op::Write), prop::option::of(direction(Op::Sync)));
    (numbers, directions, prop::collection::vec(interval(), 0..4)).prop_map(|(numbers, directions, intervals)| {
        let (a, b, float, is) = numbers;
        let time = CpuTime { user_ns: a, idle_ns: b, ..CpuTime::default() };
        StepRecord {
            started_unix_ns: a,
            runtime_ns: 1 << 30,
            directions: vec![directions.0, directions.1],
            syncs: directions.2,
            intervals,
            threads: vec![ThreadRecord {
                index: 1,
                targets: vec!["/data".into(), "/more".into()],
                cpus_allowed: Vec::new(),
                cpus_seen: vec![3, 70_000],
                migrations: is.then_some(b),
                paused_ns: u64::from(is),
                ios: b,
                passes: 0,
                in_flight_max: 4,
                polling: None,
            }],
            failures: vec![IoFailure { op: Op::Read, errno: 5, drive_status: None, count: a, first_offset_bytes: b }],
            host: is.then(|| HostDelta {
                cpus: vec![(0, time), (200, time)],
                cpu_busy_by_interval: vec![vec![0.1, 1.0]; 3],
                vectors: vec![VectorDelta {
                    irq: 9,
                    device: "nvme0".into(),
                    queue: None,
                    count: a,
                    by_cpu: vec![(1, b)],
                }],
                ..HostDelta::default()
            }),
            features: vec![FeatureUse::used(FeatureName::FixedBuffers, msg!("ranks-record-cut"))],
            in_flight_mean: Some(float),
            age_ns: is.then_some([a, b]),
            warnings: vec![Warning::Interrupted, Warning::ClockDrift { ppm: float }],
            ..StepRecord::default()
        }
    })
}

fn unpacked(unpacker: &mut Unpacker, packed: &[u8]) -> Result<StepRecord, PackedError> {
    let (mut record, slices) = unpacker.unpack(packed)?;
    record.intervals = slices.to_vec();
    Ok(record)
}

/// Whatever was read can be merged twice.
fn merge(unpacker: &mut Unpacker, packed: &[u8]) {
    let mut merger = RankMerger::new(INTERVALS_MAX);
    for rank in 0..2 {
        let Ok((record, slices)) = unpacker.unpack(packed) else { return };
        let head = RankHead {
            rank,
            host: format!("node{rank}"),
            host_id: rank.to_string(),
            clock: RankClock::default(),
            window_start_ns: 5,
            runtime_ns: record.runtime_ns,
        };
        let _ = merger.add(head, record, slices);
    }
    let _ = merger.finish(Vec::new());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Also where the memory held another record before.
    #[test]
    fn a_record_comes_back(first in record(), second in record()) {
        let mut unpacker = Unpacker::new(INTERVALS_MAX);
        for record in [&first, &second, &first] {
            let back = unpacked(&mut unpacker, &packed_record(record.clone()));
            prop_assert_eq!(back.as_ref(), Ok(record));
        }
    }

    #[test]
    fn a_cut_record_is_an_error(record in record(), at: prop::sample::Index) {
        let packed = packed_record(record);
        let mut unpacker = Unpacker::new(INTERVALS_MAX);
        prop_assert!(unpacker.unpack(&packed[..at.index(packed.len())]).is_err());
        let longer = [&packed[..], &[0]].concat();
        prop_assert_eq!(unpacker.unpack(&longer).err(), Some(PackedError::Excess));
    }

    #[test]
    fn damage_is_read_and_merged_without_panic(record in record(), damage in prop::collection::vec(any::<(prop::sample::Index, u8)>(), 1..4)) {
        let mut packed = packed_record(record);
        for (at, byte) in damage {
            let at = at.index(packed.len());
            packed[at] = byte;
        }
        merge(&mut Unpacker::new(INTERVALS_MAX), &packed);
    }

    #[test]
    fn any_bytes_are_read_without_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..300), is_form: bool) {
        if is_form && !bytes.is_empty() {
            bytes[0] = FORM;
        }
        merge(&mut Unpacker::new(INTERVALS_MAX), &bytes);
    }
}

fn small() -> StepRecord {
    let lat = || Latency::Samples(Histogram::new());
    let direction =
        Direction { op: Op::Read, ios: 0, bytes: 0, short_ios: 0, lat: lat(), slat: None, clat: None, service: None };
    let intervals = vec![nothing(); 3];
    StepRecord { directions: vec![direction], intervals, ..StepRecord::default() }
}

#[test]
fn what_is_wrong_is_named() {
    let good = packed_record(small());
    let error = |packed: &[u8], max: usize| Unpacker::new(max).unpack(packed).expect_err("refused");
    let said = |error: PackedError| fathom_language::english(&error.message());
    assert!(Unpacker::new(3).unpack(&good).is_ok());
    assert_eq!(error(&good, 2), PackedError::Excess);
    assert_eq!(said(error(&[], 3)), "its figures end in the middle");
    assert_eq!(error(&[9], 3), PackedError::Form(9));
    let form = "its figures are in a form (9) that this version does not read";
    assert_eq!(said(PackedError::Form(9)), form);
    // Four thousand million operations in no bytes: no memory is asked for.
    let rest = 5 + u32::from_le_bytes(good[1..5].try_into().expect("four")) as usize;
    let mut many = good.clone();
    many[rest..rest + 4].fill(0xff);
    assert_eq!(error(&many, 3), PackedError::Excess);
    let mut unknown = good.clone();
    unknown[rest + 4] = 77;
    assert_eq!(error(&unknown, 3), PackedError::Unknown("op 77".to_owned()));
    // Within the rest of the record no histogram is read: nobody knows how many there are.
    let mut hidden = small();
    hidden.intervals.clear();
    hidden.directions[0].lat = Latency::Samples(Histogram::new());
    assert!(rmp_serde::to_vec_named(&hidden).is_err());
}
