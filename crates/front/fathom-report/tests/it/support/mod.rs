//! A measured step, its record and its document, as the lab would hand them over.
#![allow(dead_code)] // each test binary uses a part

use std::path::Path;
use std::process::Command;

use fathom_hist::Histogram;
use fathom_judge::document::{Document, LatencyView, LimitView, RunInfo, SCHEMA, SeriesView, StepState, StepView};
use fathom_message::Message;
use fathom_model::{Confidence, LimitName};
use fathom_plan::{
    BlockSize, DataPattern, Durability, EngineName, EngineSpec, Load, Mode, OpMix, Pattern, Phase, Placement, Plan,
    Region, RunLength, Step, StudyHead, TargetId, Workload, label_message,
};
use fathom_record::{
    CpuTime, Direction, DirectionInterval, DiskDelta, HostDelta, Interval, Latency, RunState, StepRecord, ThreadCpu,
};

pub(crate) use fathom_plan::Op;

pub(crate) const NS_PER_S: u64 = 1_000_000_000;

/// Two intervals of a second.
const INTERVALS: u64 = 2;

pub(crate) fn step(index: u32, rw_mix: OpMix, threads: u32, queue_depth: u32) -> Step {
    let mut step = Step {
        index,
        label: String::new(),
        phase: Phase::Measure,
        group: "A".to_owned(),
        targets: vec![TargetId::new("data.bin")],
        workload: Workload {
            mix: rw_mix,
            pattern: Pattern::Random,
            block_sizes: vec![BlockSize { bytes: 4096, share_pct: 100 }],
            region: Region { offset_bytes: 0, size_bytes: Some(8 << 20) },
            data: DataPattern::default(),
            verify: None,
            direct: true,
            drop_cache: false,
            priorities: fathom_plan::Priorities::default(),
            durability: Durability::default(),
            order: fathom_plan::IoOrder::default(),
            fill: Vec::new(),
        },
        load: Load::closed(threads, queue_depth),
        engine: EngineSpec { name: EngineName::Libaio, mode: Mode::Interrupt, ..EngineSpec::default() },
        memory: fathom_plan::MemoryPolicy::default(),
        placement: Placement::Unpinned,
        length: RunLength::fixed(0, INTERVALS * NS_PER_S),
        seed: 0,
        role: fathom_plan::Role::default(),
    };
    step.engine.fixed_buffers = false;
    step.engine.fixed_files = false;
    step.label = format!("4k {} T{threads} QD{queue_depth}", step.workload.read_write());
    step
}

/// `count` latencies from 50 us on with a tail, the same for each call with the same arguments.
pub(crate) fn samples(count: u64, scale: u64) -> Histogram {
    let mut histogram = Histogram::new();
    for i in 0..count {
        let spread = i.wrapping_mul(2_654_435_761) % 97_003;
        let tail = if i % 500 == 499 { 2_000_000 } else { 0 };
        histogram.record(scale * (50_000 + spread) + tail);
    }
    histogram
}

pub(crate) fn record(step: &Step, ios_per_interval: u64, clat_share_of_ios: u64) -> StepRecord {
    let mix = step.workload.mix;
    let ops: Vec<Op> = [(Op::Read, mix.read_pct), (Op::Write, mix.write_pct), (Op::Trim, mix.trim_pct)]
        .into_iter()
        .filter_map(|(op, share)| (share > 0).then_some(op))
        .collect();
    let slice = |op: Op, interval: u64| DirectionInterval {
        op,
        ios: ios_per_interval,
        bytes: ios_per_interval * 4096,
        lat: samples(ios_per_interval, 1 + interval),
    };
    let interval = |i: u64| Interval {
        start_ns: i * NS_PER_S,
        length_ns: NS_PER_S,
        syncs: None,
        directions: ops.iter().map(|op| slice(*op, i)).collect(),
    };
    let intervals: Vec<Interval> = (0..INTERVALS).map(interval).collect();
    let direction = |op: &Op| {
        let mut lat = Histogram::new();
        for part in intervals.iter().flat_map(|i| &i.directions).filter(|d| d.op == *op) {
            lat.merge(&part.lat);
        }
        let ios = lat.count();
        let clat = samples(ios / clat_share_of_ios, 1);
        let (slat, clat) = (Some(Latency::Samples(samples(ios / 8, 1))), Some(Latency::Samples(clat)));
        Direction {
            op: *op,
            ios,
            bytes: ios * 4096,
            short_ios: 0,
            lat: Latency::Samples(lat),
            slat,
            clat,
            service: None,
        }
    };
    let started_unix_ns = 1_795_250_135_351_000_000 + u64::from(step.index) * 10 * NS_PER_S;
    StepRecord {
        syncs: None,
        started_unix_ns,
        runtime_ns: INTERVALS * NS_PER_S,
        setup_ns: 40_000_000,
        directions: ops.iter().map(direction).collect(),
        intervals: intervals.clone(),
        threads: Vec::new(),
        failures: Vec::new(),
        host: Some(host()),
        features: Vec::new(),
        clock: None,
        overhead: None,
        in_flight_mean: None,
        occupied_mean: None,
        age_ns: None,
        verify: None,
        open_loop: None,
        targets: Vec::new(),
        arrays: Vec::new(),
        purges: Vec::new(),
        ranks: None,
        warnings: Vec::new(),
    }
}

fn host() -> HostDelta {
    let worker = |name: &str, kernel| ThreadCpu {
        name: name.to_owned(),
        kernel,
        user_ns: NS_PER_S / 5,
        system_ns: NS_PER_S,
        waited_ns: 0,
    };
    let progress = ThreadCpu { name: "fathom".to_owned(), kernel: false, user_ns: 0, system_ns: 0, waited_ns: 0 };
    HostDelta {
        window_ns: INTERVALS * NS_PER_S,
        cpus: vec![(0, CpuTime::default())],
        threads: vec![progress, worker("fathom-w0", false), worker("iou-sqp-1", true)],
        context_switches: 4321,
        disks: vec![DiskDelta {
            device: "disk0".to_owned(),
            read_ios: 20_000,
            read_bytes: 20_000 * 4096,
            read_merges: 1,
            busy_ns: NS_PER_S,
            weighted_ns: 3 * NS_PER_S,
            ..DiskDelta::default()
        }],
        ..HostDelta::default()
    }
}

pub(crate) fn latency_view(histogram: &Histogram) -> LatencyView {
    LatencyView {
        samples: histogram.count(),
        mean: histogram.mean_ns().expect("samples"),
        stddev: histogram.stddev_ns().expect("samples"),
        min: histogram.min_ns().expect("samples"),
        max: histogram.max_ns().expect("samples"),
        p50: histogram.quantile(0.5),
        p90: histogram.quantile(0.9),
        p95: histogram.quantile(0.95),
        p99: histogram.quantile(0.99),
        p99_9: None,
        p99_99: None,
        p99_999: None,
        ci95: [("p99".to_owned(), [100_000, 200_000])].into(),
        needs: std::collections::BTreeMap::new(),
    }
}

pub(crate) fn view(step: &Step, record: &StepRecord) -> StepView {
    let seconds = record.runtime_ns as f64 / NS_PER_S as f64;
    let direction = |op| {
        let direction = record.direction(op)?;
        Some(fathom_judge::document::DirectionView {
            ios: direction.ios,
            iops: direction.ios as f64 / seconds,
            bytes_per_s: direction.bytes as f64 / seconds,
            short_ios: 0,
            lat_ns: direction.lat.histogram().map(latency_view),
        })
    };
    StepView {
        durability: Durability::default(),
        order: step.workload.order.clone(),
        pacing: step.load.pacing,
        load_words: String::new(),
        drop_cache: step.workload.drop_cache,
        priorities: step.workload.priorities.clone(),
        syncs: None,
        by_target: Vec::new(),
        index: step.index,
        label: step.label.clone(),
        label_message: label_message(step),
        loop_title: None,
        depth: None,
        workload_title: label_message(step),
        phase: step.phase,
        group: step.group.clone(),
        role: step.role.clone(),
        targets: step.targets.iter().map(|t| t.as_str().to_owned()).collect(),
        state: StepState::Measured,
        reason: None,
        help: None,
        engine: step.engine.name,
        mode: step.engine.mode,
        fixed_buffers: step.engine.fixed_buffers,
        fixed_files: step.engine.fixed_files,
        placement: step.placement.kind(),
        cpus: Vec::new(),
        op: step.workload.read_write(),
        read_pct: step.workload.mix.read_pct,
        pattern: step.workload.pattern,
        block_size_bytes: 4096,
        direct: true,
        footprint_bytes: Some(8 << 20),
        threads: step.load.threads,
        spread: step.load.spread,
        queue_depth: step.load.queue_depth,
        devices: 1,
        rate_iops: None,
        started: Some("2026-11-21T08:35:35Z".to_owned()),
        run_offset_s: Some(2.5),
        runtime_s: seconds,
        setup_ms: 40.0,
        ios: record.ios(),
        errors: 0,
        iops: record.ios() as f64 / seconds,
        iops_ci95: Some([1.5, 2.5]),
        iops_ci95_why_none: None,
        iops_ci95_needs_s: None,
        iops_ci95_blind_beyond_s: Some(seconds / 3.0),
        bytes_per_s: record.bytes() as f64 / seconds,
        lat_ns: record.lat_merged().as_ref().map(latency_view),
        slat_ns: None,
        clat_ns: None,
        service_ns: None,
        stages: Vec::new(),
        read: direction(Op::Read),
        write: direction(Op::Write),
        trim: direction(Op::Trim),
        cpu: None,
        limit: LimitView {
            name: LimitName::QueueDepth,
            probability: Some(0.75),
            confidence: Confidence::Likely,
            state_change: None,
            sentence: Message::verbatim("More depth gives more."),
            evidence: Vec::new(),
            would_help: Vec::new(),
        },
        ceilings: Vec::new(),
        links: Vec::new(),
        steady: None,
        predicted: None,
        percentile_curve: vec![fathom_judge::document::CurvePoint { q: 0.25, ns: 70_000 }],
        series: SeriesView::default(),
        checks: Vec::new(),
        features: Vec::new(),
        arrays: Vec::new(),
        purges: Vec::new(),
        ranks: None,
        workers: Vec::new(),
        host_delta: record.host.clone(),
        overhead: None,
        clock: None,
        drive_health: Vec::new(),
        failures: Vec::new(),
        verify: None,
        open_loop: None,
        warnings: Vec::new(),
        warning_texts: vec![Message::verbatim("one, \"quoted\"")],
    }
}

pub(crate) fn document(steps: &[(Step, StepRecord)]) -> Document {
    Document {
        trust: None,
        fathom: "0.1.0".to_owned(),
        schema: SCHEMA,
        run: RunInfo {
            id: 7,
            study: "quick".to_owned(),
            question: Message::verbatim("How fast is this?"),
            state: RunState::Finished,
            started: Some("2026-11-21T08:35:35Z".to_owned()),
            finished: Some("2026-11-21T08:36:05Z".to_owned()),
            elapsed_s: Some(30.0),
            command: "fathom run quick".to_owned(),
            plan: Plan {
                study: StudyHead::new("quick", "How fast is this?"),
                source: String::new(),
                steps: steps.iter().map(|(step, _)| step.clone()).collect(),
                notes: Vec::new(),
                job_files: Vec::new(),
                machine: None,
                ranks: None,
            },
            fio_commands: Vec::new(),
        },
        host: serde_json::json!({"kernel": "6.1"}),
        verdict: Vec::new(),
        steps: steps.iter().map(|(step, record)| view(step, record)).collect(),
        comparison: None,
        prediction: None,
        ladders: Vec::new(),
        loops: Vec::new(),
        stream_sets: Vec::new(),
        groups: Vec::new(),
        goals: Vec::new(),
        surfaces: Vec::new(),
        arrays: Vec::new(),
        paths: Vec::new(),
        references: Vec::new(),
    }
}

/// A run of three steps: reads at two depths and a mix.
pub(crate) fn run() -> (Document, Vec<(Step, StepRecord)>) {
    let mix = OpMix { read_pct: 70, write_pct: 30, trim_pct: 0 };
    let plan = [step(0, OpMix::READ, 1, 1), step(1, OpMix::READ, 1, 8), step(2, mix, 2, 4)];
    let steps: Vec<(Step, StepRecord)> = plan
        .into_iter()
        .map(|step| {
            let record = record(&step, 10_000, if step.index == 0 { 1 } else { 8 });
            (step, record)
        })
        .collect();
    (document(&steps), steps)
}

/// Text of a file in `fixtures/`.
pub(crate) fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Whether `program` starts; when not, says on stderr why a test is skipped.
#[allow(clippy::print_stderr)]
pub(crate) fn is_installed(program: &str, argument: &str) -> bool {
    let found = Command::new(program).arg(argument).output().is_ok();
    if !found {
        eprintln!("skipped: `{program}` does not start; install Debian's package fio to run this test");
    }
    found
}
