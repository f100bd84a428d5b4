//! Steps, records and views made by hand, for tests.

use fathom_hist::Histogram;
use fathom_plan::{
    BlockSize, DataPattern, Durability, EngineSpec, Load, Op, OpMix, Pattern, Phase, Placement, Plan, Region, Role,
    RunLength, Step, StudyHead, TargetId, Workload,
};
use fathom_record::{Direction, DirectionInterval, Interval, Latency, StepRecord};

use crate::document::{Document, LatencyView, RunInfo, SCHEMA, StepView};

const SECOND_NS: u64 = 1_000_000_000;

/// As people read them.
#[cfg(test)]
pub(crate) fn words<'a>(messages: impl IntoIterator<Item = &'a fathom_message::Message>) -> Vec<String> {
    messages.into_iter().map(fathom_language::english).collect()
}

/// What an answer says first: its headline, and each row as `name: cell | cell`.
#[cfg(test)]
pub(crate) fn first_look(verdict: &crate::document::Verdict) -> (String, Vec<String>) {
    let row = |row: &crate::document::BriefRow| {
        format!("{}: {}", fathom_language::english(&row.name), words(&row.cells).join(" | "))
    };
    (fathom_language::english(&verdict.brief.headline), verdict.brief.rows.iter().map(row).collect())
}

/// `4k random read T1 QD1` on one file.
#[must_use]
pub fn step() -> Step {
    Step {
        index: 0,
        label: "4k random read T1 QD1".into(),
        phase: Phase::Measure,
        group: "file".into(),
        targets: vec![TargetId::new("file")],
        workload: Workload {
            mix: OpMix::READ,
            pattern: Pattern::Random,
            block_sizes: vec![BlockSize { bytes: 4096, share_pct: 100 }],
            region: Region { offset_bytes: 0, size_bytes: None },
            data: DataPattern::default(),
            verify: None,
            direct: true,
            drop_cache: false,
            priorities: fathom_plan::Priorities::default(),
            durability: Durability::default(),
            order: fathom_plan::IoOrder::default(),
            fill: Vec::new(),
        },
        load: Load::closed(1, 1),
        engine: EngineSpec::default(),
        memory: fathom_plan::MemoryPolicy::default(),
        placement: Placement::Unpinned,
        length: RunLength::fixed(0, SECOND_NS),
        seed: 1,
        role: Role::default(),
    }
}

/// Reads of 80 us, so many in each second.
#[must_use]
pub fn record(ios_per_second: &[u64]) -> StepRecord {
    let mut all = Histogram::new();
    let mut intervals = Vec::new();
    for (i, ios) in (0..).zip(ios_per_second) {
        let mut lat = Histogram::new();
        lat.record_n(80_000, *ios);
        all.merge(&lat);
        let read = DirectionInterval { op: Op::Read, ios: *ios, bytes: ios * 4096, lat };
        intervals.push(Interval { start_ns: i * SECOND_NS, length_ns: SECOND_NS, directions: vec![read], syncs: None });
    }
    let ios = all.count();
    let read = Direction {
        op: Op::Read,
        ios,
        bytes: ios * 4096,
        short_ios: 0,
        lat: Latency::Samples(all),
        slat: None,
        clat: None,
        service: None,
    };
    StepRecord {
        started_unix_ns: 0,
        runtime_ns: ios_per_second.len() as u64 * SECOND_NS,
        setup_ns: 0,
        directions: vec![read],
        syncs: None,
        intervals,
        threads: vec![],
        failures: vec![],
        host: None,
        features: vec![],
        clock: None,
        overhead: None,
        in_flight_mean: None,
        occupied_mean: None,
        age_ns: None,
        verify: None,
        open_loop: None,
        targets: vec![],
        arrays: Vec::new(),
        purges: vec![],
        ranks: None,
        warnings: vec![],
    }
}

/// The view of a measured step with an IOPS figure known to 0.5 % and a mean latency in microseconds.
#[must_use]
pub fn view(step: &Step, iops: f64, lat_us: f64) -> StepView {
    let mut view = crate::view::empty_view(step);
    view.iops = iops;
    view.iops_ci95 = Some([iops * 0.995, iops * 1.005]);
    view.bytes_per_s = iops * f64::from(view.block_size_bytes);
    view.runtime_s = 30.0;
    view.ios = (iops * 30.0) as u64;
    view.lat_ns = Some(latency(view.ios, lat_us));
    view
}

/// Latency figures around a mean in microseconds; p99 at twice, the maximum at twenty times the mean.
#[must_use]
pub fn latency(samples: u64, mean_us: f64) -> LatencyView {
    let ns = |factor: f64| (mean_us * 1000.0 * factor) as u64;
    LatencyView {
        samples,
        mean: mean_us * 1000.0,
        stddev: mean_us * 300.0,
        min: ns(0.8),
        max: ns(20.0),
        p50: Some(ns(0.95)),
        p90: Some(ns(1.2)),
        p95: Some(ns(1.4)),
        p99: Some(ns(2.0)),
        p99_9: Some(ns(4.0)),
        p99_99: Some(ns(8.0)),
        p99_999: None,
        ci95: [("p99".to_owned(), [ns(1.95), ns(2.05)])].into(),
        needs: std::collections::BTreeMap::new(),
    }
}

/// A run of these steps on a host with these facts.
#[must_use]
pub fn document(id: i64, host: serde_json::Value, steps: Vec<StepView>) -> Document {
    let study = StudyHead::new("quick", "How fast?");
    Document {
        fathom: "0.1.0".into(),
        schema: SCHEMA,
        run: RunInfo {
            id,
            study: "quick".into(),
            question: study.question_message(),
            state: fathom_record::RunState::Finished,
            started: Some("2026-11-21T02:03:04Z".into()),
            finished: None,
            elapsed_s: None,
            command: "fathom run quick".into(),
            plan: Plan {
                study,
                source: String::new(),
                steps: Vec::new(),
                notes: Vec::new(),
                job_files: Vec::new(),
                machine: None,
                ranks: None,
            },
            fio_commands: Vec::new(),
        },
        host,
        trust: None,
        verdict: Vec::new(),
        ladders: crate::ladders(&steps),
        loops: crate::loops(&steps),
        stream_sets: Vec::new(),
        groups: crate::groups(&steps),
        goals: crate::goals(&steps),
        surfaces: crate::surfaces(&steps),
        arrays: crate::arrays(&steps),
        paths: crate::paths(&steps),
        steps,
        comparison: None,
        references: Vec::new(),
        prediction: None,
    }
}
