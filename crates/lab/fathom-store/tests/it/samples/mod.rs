//! Plans, steps and records for tests.
#![allow(dead_code, reason = "each test file uses a part")]

use fathom_hist::Histogram;
use fathom_message::Message;
use fathom_plan::*;
use fathom_record::*;
use fathom_store::NewRun;

/// A closed-loop random read.
pub(crate) fn step(index: u32) -> Step {
    Step {
        index,
        label: format!("4k random read T1 QD{index}"),
        phase: Phase::Measure,
        group: "A".to_owned(),
        targets: vec![TargetId::new("/data/file")],
        workload: Workload {
            mix: OpMix::READ,
            pattern: Pattern::Zipf { theta: 1.2 },
            block_sizes: vec![BlockSize { bytes: 4096, share_pct: 100 }],
            region: Region { offset_bytes: 0, size_bytes: Some(1 << 30) },
            data: DataPattern::default(),
            verify: None,
            direct: true,
            drop_cache: false,
            priorities: fathom_plan::Priorities::default(),
            durability: fathom_plan::Durability::default(),
            order: fathom_plan::IoOrder::default(),
            fill: Vec::new(),
        },
        load: Load {
            rate: Some(Rate { iops: 0.1 + 0.2, process: RateProcess::Poisson }),
            op_rates: None,
            ..Load::closed(1, index + 1)
        },
        engine: EngineSpec::default(),
        memory: fathom_plan::MemoryPolicy::default(),
        placement: Placement::Cpus(vec![0, 1]),
        length: RunLength::fixed(0, 1_000_000_000),
        seed: u64::MAX,
        role: fathom_plan::Role::default(),
    }
}

/// A plan of `steps` steps.
pub(crate) fn plan(steps: u32) -> Plan {
    Plan {
        study: StudyHead::new("quick", "How fast is this?"),
        source: "[study]\nname = \"quick\"\n".to_owned(),
        steps: (0..steps).map(step).collect(),
        notes: vec![Message::verbatim("a remark")],
        job_files: Vec::new(),
        machine: None,
        ranks: None,
    }
}

/// A run of `plan` about to begin.
pub(crate) fn new_run(plan: &Plan) -> NewRun<'_> {
    NewRun {
        study: &plan.study.name,
        question: &plan.study.question,
        plan,
        host_json: "{\"kernel\":\"6.1\"}",
        fathom_version: "0.1.0",
        started_unix_ns: 1_700_000_000_000_000_000,
        command_line: "fathom run quick",
        is_import: false,
    }
}

/// A histogram of `count` samples around `center_ns`, log-spread as latencies are.
pub(crate) fn histogram(center_ns: u64, count: u64) -> Histogram {
    let mut h = Histogram::new();
    for i in 0..count {
        h.record(center_ns + (i * i * 37) % (center_ns / 2 + 1) + i);
    }
    h
}

/// A record of `intervals` intervals with `samples` latencies each.
pub(crate) fn record(intervals: u64, samples: u64) -> StepRecord {
    let slices: Vec<Interval> = (0..intervals)
        .map(|i| Interval {
            start_ns: i * 100_000_000,
            length_ns: 100_000_000,
            directions: vec![DirectionInterval {
                op: Op::Read,
                ios: samples,
                bytes: samples * 4096,
                lat: histogram(80_000 + i, samples),
            }],
            syncs: Some(DirectionInterval { op: Op::Sync, ios: 3, bytes: 0, lat: histogram(900_000 + i, 3) }),
        })
        .collect();
    let mut lat = Histogram::new();
    slices.iter().for_each(|i| lat.merge(&i.directions[0].lat));
    StepRecord {
        started_unix_ns: 1_700_000_000_000_000_000,
        runtime_ns: intervals * 100_000_000,
        setup_ns: 12_345,
        directions: vec![Direction {
            op: Op::Read,
            ios: intervals * samples,
            bytes: intervals * samples * 4096,
            short_ios: 0,
            lat: Latency::Samples(lat.clone()),
            slat: Some(Latency::Samples(histogram(900, 100))),
            clat: Some(Latency::Samples(lat)),
            service: None,
        }],
        syncs: Some(Direction {
            op: Op::Sync,
            ios: intervals * 3,
            bytes: 0,
            short_ios: 0,
            lat: Latency::Samples(histogram(900_000, intervals * 3)),
            slat: None,
            clat: None,
            service: None,
        }),
        intervals: slices,
        threads: vec![ThreadRecord {
            index: 0,
            targets: vec!["/data/file".into()],
            cpus_allowed: vec![],
            cpus_seen: vec![0, 1],
            migrations: Some(4),
            paused_ns: 7,
            ios: intervals * samples,
            passes: 3,
            in_flight_max: 32,
            polling: None,
        }],
        failures: vec![],
        host: Some(HostDelta {
            window_ns: intervals * 100_000_000,
            cpus: vec![(0, CpuTime { user_ns: 7, ..CpuTime::default() }), (1, CpuTime::default())],
            cpu_busy_by_interval: vec![vec![0.1, 0.2]; intervals as usize],
            ..HostDelta::default()
        }),
        features: vec![FeatureUse::used(fathom_record::FeatureName::FixedBuffers, Message::verbatim(""))],
        clock: Some(ClockUse { source: "tsc".to_owned(), read_cost_ns: 7.3, drift_ppm: -0.1, shortened: None }),
        overhead: Some(Overhead { loop_ns_per_io: 31.7, batch_stamp_error_ns_mean: 120.5, ios_per_submit: 15.9 }),
        in_flight_mean: Some(31.999_999_999_999_996),
        occupied_mean: Some(32.0),
        age_ns: Some([1, u64::MAX]),
        verify: None,
        open_loop: None,
        targets: Vec::new(),
        arrays: Vec::new(),
        purges: Vec::new(),
        ranks: Some(ranks()),
        warnings: vec![Warning::Interrupted, Warning::ClockDrift { ppm: 0.3 }],
    }
}

/// Two ranks, one of them lost.
fn ranks() -> fathom_record::RanksRecord {
    let lost = fathom_record::LostRank {
        rank: 1,
        host: "node1".to_owned(),
        why: fathom_message::Message::verbatim("gone"),
        bytes_done: 5,
    };
    fathom_record::RanksRecord { lost: vec![lost], start_skew_ns: 7, ..fathom_record::RanksRecord::default() }
}
