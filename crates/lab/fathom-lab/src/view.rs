//! From the store to the [`Document`]: every judged figure is made here, once.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use fathom_hist::Histogram;
use fathom_host::inspect::Inventory;
use fathom_model::{Ceiling, Limit, Observation, attribute, cpu_cost, notices};
use fathom_plan::{EngineName, Op, Pattern, Placement, Step, fio_command};
use fathom_record::{Direction, Interval, Latency, StepRecord};
use fathom_stats::{iops_estimate, mean_latency_ci95, quantile_estimate};
use fathom_store::{Lab, RunHead, RunId, StepOutcome, StoreError};

use crate::checks::checks;
use crate::compare::{MARGIN_PCT, compare_arms};
use crate::document::{
    CeilingView, CpuView, CurvePoint, DirectionView, Document, EvidenceView, FioCommand, LatencyView, LimitView,
    NeedView, RunInfo, SCHEMA, SeriesView, StepView,
};
use crate::facts::{FactsOfRun, inventory_of, observation};
use crate::foresight::foresee;
use crate::health::{drive_health, hot_intervals};
use crate::links::link_loads;
use crate::machine::host_to_show;
use crate::proof::proofs;
use crate::references::references;
use crate::sentences::warning_text;
use crate::simulated::simulated_caveat;
use crate::steadiness::{Loops, window_view};
use crate::verdict::verdicts;

/// Quantiles of the percentile curve: nine points a decade down to seven nines.
const CURVE_DECADES: i32 = 7;
/// Samples that must lie beyond a point of the curve; fewer would draw single I/Os as a tail.
const CURVE_BEYOND_MIN: u64 = 10;

/// What an answer must say when nothing is known of the machine any more.
const HOST_IS_LOST: &str =
    "What the lab held of this machine is damaged: its drives and links, and what follows from them, are left out.";

/// Builds the document of a stored run, one step at a time: a thousand records would not fit small machines.
///
/// # Errors
/// [`StoreError`] when the run is not in the lab or cannot be read.
pub fn document_of(lab: &Lab, run: RunId) -> Result<Document, StoreError> {
    let mut head = lab.load_head(run)?;
    // A lab that lost its host facts still has its figures; the answer says so.
    let known = lab.host_of(&head);
    let host_is_lost = known.is_err();
    let host = host_to_show(known.unwrap_or_default());
    let inventory = inventory_of(&host);
    let mut steps = Vec::new();
    let mut seen = Vec::new();
    let mut loops = Loops::default();
    let mut rates = Vec::new();
    let mut facts = FactsOfRun::of_run(&head.plan, inventory.as_ref());
    for index in lab.step_indexes(run)? {
        let stored = lab.load_step(run, index)?;
        let mut view = step_view(&stored.step, &stored.outcome);
        if let Some(record) = stored.outcome.record() {
            loops.see(&stored.step, record);
            place_in_run(&mut view, record, head.summary.started_unix_ns, inventory.as_ref());
        }
        rates.extend(stored.step.load.rate.filter(|_| stored.step.role.rate_share.is_some()).map(|rate| (index, rate)));
        steps.push(view);
        seen.push(stored.outcome.record().map(|record| observation(&stored.step, record, facts.as_mut())));
    }
    loops.judge(&mut steps);
    // The plan of the document says at which rate a share was run.
    for (index, rate) in rates {
        if let Some(step) = head.plan.steps.iter_mut().find(|s| s.index == index) {
            step.load.rate = Some(rate);
        }
    }
    set_limits(&mut steps, &seen);
    let prediction = foresee(&mut steps, &lab.predictions(run)?);
    let mut document = Document {
        fathom: head.summary.fathom_version.clone(),
        schema: SCHEMA,
        verdict: Vec::new(),
        run: run_info(&head),
        host,
        steps,
        comparison: None,
        references: references(&head.summary.study),
        prediction,
    };
    document.comparison = compare_arms(&document, MARGIN_PCT);
    document.verdict =
        verdicts(&head.summary.study, &head.summary.question, &document.steps, document.comparison.as_ref());
    if let (Some(machine), Some(first)) = (&head.plan.machine, document.verdict.first_mut()) {
        first.caveats.insert(0, simulated_caveat(machine));
    }
    if let Some(first) = document.verdict.first_mut().filter(|_| host_is_lost) {
        first.caveats.insert(0, HOST_IS_LOST.to_owned());
    }
    Ok(document)
}

/// Adds what takes the run around the step: when in the run it was measured, and what its links carried.
fn place_in_run(view: &mut StepView, record: &StepRecord, run_started_unix_ns: u64, inventory: Option<&Inventory>) {
    let since = record.started_unix_ns.checked_sub(run_started_unix_ns);
    view.run_offset_s = since.filter(|_| !record.intervals.is_empty()).map(|ns| ns as f64 / 1e9);
    if let (Some(inventory), Some(host)) = (inventory, &record.host) {
        view.links = link_loads(inventory, host);
    }
}

/// Judges every measured step with all others as probes.
fn set_limits(steps: &mut [StepView], seen: &[Option<Observation>]) {
    let all: Vec<Observation> = seen.iter().flatten().cloned().collect();
    let mut at = 0;
    for (view, observation) in steps.iter_mut().zip(seen) {
        if let Some(observation) = observation {
            view.limit = limit_view(attribute(&all, at));
            view.ceilings = observation.ceilings().into_iter().map(ceiling_view).collect();
            view.warning_texts.extend(notices(observation).into_iter().map(|n| n.sentence));
            at += 1;
        }
    }
}

/// The view of one ended step. Its limit is judged apart, since it takes the neighbours.
pub(crate) fn step_view<R: Borrow<StepRecord>>(step: &Step, outcome: &StepOutcome<R>) -> StepView {
    match outcome {
        StepOutcome::Measured(record) => measured_view(step, record.borrow()),
        StepOutcome::Refused { what, why, help } => unmeasured_view(step, "refused", what, why, help),
        StepOutcome::Failed { what, why, help } => unmeasured_view(step, "failed", what, why, help),
    }
}

fn ceiling_view(ceiling: Ceiling) -> CeilingView {
    CeilingView {
        name: ceiling.name.as_str().into(),
        iops: ceiling.iops,
        bytes_per_s: ceiling.bytes_per_s,
        sentence: ceiling.sentence,
    }
}

/// A limit in the document's words.
pub(crate) fn limit_view(limit: Limit) -> LimitView {
    LimitView {
        name: limit.name.as_str().into(),
        confidence: format!("{:?}", limit.confidence).to_lowercase(),
        sentence: limit.sentence,
        evidence: limit
            .evidence
            .into_iter()
            .map(|e| EvidenceView { name: e.name, value: e.value, unit: e.unit.to_owned() })
            .collect(),
        would_help: limit.would_help,
    }
}

fn run_info(head: &RunHead) -> RunInfo {
    let run = &head.summary;
    RunInfo {
        id: run.id.0,
        study: run.study.clone(),
        question: run.question.clone(),
        state: run.state.as_str().to_owned(),
        started: rfc3339(run.started_unix_ns),
        finished: run.finished_unix_ns.map(rfc3339),
        elapsed_s: run.finished_unix_ns.map(|f| f.saturating_sub(run.started_unix_ns) as f64 / 1e9),
        command: run.command_line.clone(),
        plan: head.plan.clone(),
        fio_commands: head.plan.steps.iter().map(|s| FioCommand { step: s.index, command: fio_command(s) }).collect(),
    }
}

/// A time as RFC 3339 in UTC, whole seconds.
#[must_use]
pub fn rfc3339(unix_ns: u64) -> String {
    jiff::Timestamp::from_nanosecond(i128::from(unix_ns))
        .map_or_else(|_| format!("{unix_ns} ns after 1970"), |t| t.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

fn unmeasured_view(step: &Step, state: &str, what: &str, why: &str, help: &str) -> StepView {
    let mut view = empty_view(step);
    view.state = state.to_owned();
    view.reason = Some(format!("{what}: {why}"));
    view.help = (!help.is_empty()).then(|| help.to_owned());
    view.limit.sentence = format!("Not measured: {what}: {why}");
    view
}

pub(crate) fn empty_view(step: &Step) -> StepView {
    StepView {
        index: step.index,
        label: step.label.clone(),
        phase: format!("{:?}", step.phase).to_lowercase(),
        group: step.group.clone(),
        role: step.role.clone(),
        targets: step.targets.iter().map(|t| t.path.clone()).collect(),
        state: "measured".into(),
        reason: None,
        help: None,
        engine: step.engine.name.as_str().into(),
        mode: step.engine.mode.as_str().into(),
        placement: placement_word(&step.placement),
        cpus: Vec::new(),
        op: step.workload.fio_rw().into(),
        read_pct: step.workload.mix.read_pct,
        pattern: pattern_word(step.workload.pattern),
        block_size_bytes: step.workload.block_bytes_max(),
        direct: step.workload.direct,
        footprint_bytes: step.workload.region.size_bytes,
        threads: step.load.threads,
        queue_depth: step.load.queue_depth,
        devices: step.targets.len() as u32,
        rate_iops: step.load.rate.map(|r| r.iops),
        started: None,
        run_offset_s: None,
        runtime_s: 0.0,
        setup_ms: 0.0,
        ios: 0,
        errors: 0,
        iops: 0.0,
        iops_ci95: None,
        bytes_per_s: 0.0,
        lat_ns: None,
        slat_ns: None,
        clat_ns: None,
        service_ns: None,
        read: None,
        write: None,
        trim: None,
        cpu: None,
        limit: LimitView {
            name: "unknown".into(),
            confidence: "unknown".into(),
            sentence: String::new(),
            evidence: Vec::new(),
            would_help: Vec::new(),
        },
        ceilings: Vec::new(),
        links: Vec::new(),
        steady: None,
        predicted: None,
        percentile_curve: Vec::new(),
        series: SeriesView::default(),
        checks: Vec::new(),
        features: Vec::new(),
        purges: Vec::new(),
        workers: Vec::new(),
        host_delta: None,
        overhead: None,
        clock: None,
        drive_health: Vec::new(),
        by_target: Vec::new(),
        failures: Vec::new(),
        verify: None,
        open_loop: None,
        warnings: Vec::new(),
        warning_texts: Vec::new(),
    }
}

fn placement_word(placement: &Placement) -> String {
    match placement {
        Placement::Unpinned => "unpinned".into(),
        Placement::Cores => "cores".into(),
        Placement::Smt => "smt".into(),
        Placement::Local => "local".into(),
        Placement::Remote => "remote".into(),
        Placement::Cpus(_) => "cpus".into(),
    }
}

fn pattern_word(pattern: Pattern) -> String {
    match pattern {
        Pattern::Random => "random".into(),
        Pattern::RandomRepeat => "random_repeat".into(),
        Pattern::Sequential => "sequential".into(),
        Pattern::Zipf { theta } => format!("zipf:{theta}"),
        Pattern::Hotspot { access_pct, space_pct } => format!("hotspot:{access_pct}/{space_pct}"),
    }
}

fn measured_view(step: &Step, record: &StepRecord) -> StepView {
    let runtime_s = record.runtime_ns as f64 / 1e9;
    let per_s = |n: u64| if runtime_s > 0.0 { n as f64 / runtime_s } else { 0.0 };
    let iops = per_s(record.ios());
    let unsustainable = record.open_loop.as_ref().is_some_and(|o| o.unsustainable);
    let estimate = iops_estimate(&record.intervals);
    let mut cpus: Vec<u32> = record.threads.iter().flat_map(|t| t.cpus_allowed.iter().copied()).collect();
    cpus.sort_unstable();
    cpus.dedup();
    StepView {
        state: if record.intervals.is_empty() && record.clock.is_none() && record.purges.is_empty() {
            "imported".into()
        } else {
            "measured".into()
        },
        cpus,
        started: Some(rfc3339(record.started_unix_ns)),
        runtime_s,
        setup_ms: record.setup_ns as f64 / 1e6,
        ios: record.ios(),
        errors: record.errors(),
        iops,
        iops_ci95: estimate.ci95.map(|(lo, hi)| [lo, hi]),
        bytes_per_s: per_s(record.bytes()),
        lat_ns: if unsustainable { None } else { merged_latency(record, iops) },
        slat_ns: other_latency(record, iops, unsustainable, |d| d.slat.as_ref()),
        clat_ns: other_latency(record, iops, unsustainable, |d| d.clat.as_ref()),
        service_ns: other_latency(record, iops, unsustainable, |d| d.service.as_ref()),
        read: direction_view(record, Op::Read, runtime_s, unsustainable),
        write: direction_view(record, Op::Write, runtime_s, unsustainable),
        trim: direction_view(record, Op::Trim, runtime_s, unsustainable),
        cpu: cpu_view(record, iops),
        steady: window_view(&record.intervals),
        percentile_curve: if unsustainable {
            Vec::new()
        } else {
            record.lat_merged().map_or_else(Vec::new, |h| curve(&h))
        },
        series: series(record),
        checks: checks(step, record).into_iter().chain(proofs(step, record)).collect(),
        features: record.features.clone(),
        purges: record.purges.clone(),
        workers: record.threads.clone(),
        host_delta: record.host.clone(),
        overhead: record.overhead.clone(),
        clock: record.clock.clone(),
        drive_health: drive_health(record),
        by_target: by_target(record),
        failures: record.failures.clone(),
        verify: record.verify.clone(),
        open_loop: record.open_loop.clone(),
        warnings: record.warnings.clone(),
        warning_texts: record.warnings.iter().map(warning_text).collect(),
        ..empty_view(step)
    }
}

/// One target alone is the step itself.
fn by_target(record: &StepRecord) -> Vec<crate::document::TargetView> {
    if record.targets.len() < 2 {
        return Vec::new();
    }
    let seconds = record.runtime_ns as f64 / 1e9;
    let per_s = |n: u64| if seconds > 0.0 { n as f64 / seconds } else { 0.0 };
    let view = |target: &fathom_record::TargetRecord| crate::document::TargetView {
        target: target.target.clone(),
        ios: target.ios,
        iops: per_s(target.ios),
        bytes_per_s: per_s(target.bytes),
        errors: target.errors,
        lat_mean_ns: target.lat.as_ref().map(|lat| lat.mean_ns),
    };
    record.targets.iter().map(view).collect()
}

fn direction_view(record: &StepRecord, op: Op, runtime_s: f64, unsustainable: bool) -> Option<DirectionView> {
    let d = record.direction(op).filter(|d| d.ios > 0)?;
    let iops = if runtime_s > 0.0 { d.ios as f64 / runtime_s } else { 0.0 };
    Some(DirectionView {
        ios: d.ios,
        iops,
        bytes_per_s: if runtime_s > 0.0 { d.bytes as f64 / runtime_s } else { 0.0 },
        short_ios: d.short_ios,
        lat_ns: if unsustainable { None } else { latency_view(&d.lat, &record.intervals, Some(op), iops) },
    })
}

fn merged_latency(record: &StepRecord, iops: f64) -> Option<LatencyView> {
    if let Some(h) = record.lat_merged() {
        return latency_view(&Latency::Samples(h), &record.intervals, None, iops);
    }
    // Quoted figures of two operations cannot be merged; with one operation they stand for the step.
    match &record.directions[..] {
        [only] => latency_view(&only.lat, &record.intervals, None, iops),
        _ => None,
    }
}

/// A part of the latency over all operations. An unsustainable rate has none: it would pass for that of the rate.
fn other_latency(
    record: &StepRecord,
    iops: f64,
    unsustainable: bool,
    kind: impl Fn(&Direction) -> Option<&Latency>,
) -> Option<LatencyView> {
    if unsustainable {
        return None;
    }
    let mut merged: Option<Histogram> = None;
    for d in &record.directions {
        let latency = kind(d)?;
        let Some(h) = latency.histogram() else {
            return (record.directions.len() == 1).then(|| latency_view(latency, &[], None, iops)).flatten();
        };
        match &mut merged {
            None => merged = Some(h.clone()),
            Some(m) => m.merge(h),
        }
    }
    // Sampled I/Os have no interval histograms of their own, so no interval of confidence either.
    latency_view(&Latency::Samples(merged?), &[], None, iops)
}

fn latency_view(latency: &Latency, intervals: &[Interval], op: Option<Op>, iops: f64) -> Option<LatencyView> {
    let hist = match latency {
        Latency::Samples(h) => h,
        Latency::Quoted(q) => {
            let at = |p: f64| q.quantiles.iter().find(|(x, _)| (x - p).abs() < 1e-9).map(|(_, v)| *v);
            return (q.count > 0).then(|| LatencyView {
                samples: q.count,
                mean: q.mean_ns,
                stddev: q.stddev_ns,
                min: q.min_ns,
                max: q.max_ns,
                p50: at(0.5),
                p90: at(0.9),
                p95: at(0.95),
                p99: at(0.99),
                p99_9: at(0.999),
                p99_99: at(0.9999),
                p99_999: at(0.99999),
                ci95: BTreeMap::new(),
                needs: BTreeMap::new(),
            });
        }
    };
    if hist.is_empty() {
        return None;
    }
    let mut ci95 = BTreeMap::new();
    let mut needs = BTreeMap::new();
    let mut at = |q: f64, name: &str| {
        let estimate = quantile_estimate(hist, intervals, q, op);
        if let Some((lo, hi)) = estimate.ci95_ns {
            ci95.insert(name.to_owned(), [lo, hi]);
        }
        if let Some(ios) = estimate.needs_more_ios {
            let seconds = if iops > 0.0 { ios as f64 / iops } else { 0.0 };
            needs.insert(name.to_owned(), NeedView { ios, seconds });
        }
        estimate.value_ns
    };
    let [p50, p90, p95, p99, p99_9, p99_99, p99_999] = [
        at(0.5, "p50"),
        at(0.9, "p90"),
        at(0.95, "p95"),
        at(0.99, "p99"),
        at(0.999, "p99.9"),
        at(0.9999, "p99.99"),
        at(0.99999, "p99.999"),
    ];
    if let Some((lo, hi)) = mean_latency_ci95(intervals, op) {
        ci95.insert("mean".to_owned(), [lo as u64, hi.ceil() as u64]);
    }
    Some(LatencyView {
        samples: hist.count(),
        mean: hist.mean_ns()?,
        stddev: hist.stddev_ns()?,
        min: hist.min_ns()?,
        max: hist.max_ns()?,
        p50,
        p90,
        p95,
        p99,
        p99_9,
        p99_99,
        p99_999,
        ci95,
        needs,
    })
}

fn cpu_view(record: &StepRecord, iops: f64) -> Option<CpuView> {
    let host = record.host.as_ref()?;
    let cost = cpu_cost(host, record.ios())?;
    Some(CpuView {
        busy_cores: cost.busy_cores,
        cpus_online: host.cpus.len() as u32,
        user_ns_per_io: cost.user_ns_per_io,
        system_ns_per_io: cost.system_ns_per_io,
        irq_ns_per_io: cost.irq_ns_per_io,
        kernel_worker_ns_per_io: cost.kernel_worker_ns_per_io,
        interrupts_per_io: cost.interrupts_per_io,
        context_switches_per_io: cost.context_switches_per_io,
        iops_per_core: cost.iops_per_core(iops),
        busy_physical_cores: cost.busy_physical_cores,
        iops_per_physical_core: cost.iops_per_physical_core(iops),
        baseline_busy_cores: cost.baseline_busy_cores,
        steal_pct: cost.steal_share * 100.0,
        busiest_cpu: cost.busiest_cpu,
    })
}

fn curve(hist: &Histogram) -> Vec<CurvePoint> {
    let n = hist.count() as f64;
    let mut points = Vec::new();
    for decade in 0..CURVE_DECADES {
        for ninth in 0..9 {
            // 0, 0.1 ... 0.8, then 0.9, 0.91 ... 0.98, then 0.99...
            let q = 1.0 - 10f64.powi(-decade) * (1.0 - f64::from(ninth) / 10.0);
            if n * (1.0 - q) < CURVE_BEYOND_MIN as f64 {
                return points;
            }
            if let Some(ns) = hist.quantile(q).filter(|_| q > 0.0) {
                points.push(CurvePoint { q, ns });
            }
        }
    }
    points
}

fn series(record: &StepRecord) -> SeriesView {
    let mut out = SeriesView::default();
    for interval in &record.intervals {
        let seconds = interval.length_ns as f64 / 1e9;
        let ios: u64 = interval.directions.iter().map(|d| d.ios).sum();
        let mut hist = Histogram::new();
        for d in &interval.directions {
            hist.merge(&d.lat);
        }
        out.start_s.push(interval.start_ns as f64 / 1e9);
        out.iops.push(if seconds > 0.0 { ios as f64 / seconds } else { 0.0 });
        out.p50_ns.push(hist.quantile(0.5).filter(|_| !hist.is_empty()));
        out.p99_ns.push(hist.quantile(0.99).filter(|_| hist.count() >= CURVE_BEYOND_MIN * 100));
    }
    if let Some(host) = &record.host {
        out.cpu_busy.clone_from(&host.cpu_busy_by_interval);
        out.hot = hot_intervals(&host.drives, &record.intervals);
    }
    out
}

/// Whether the window is known to be unsteady; one too noisy to tell is not.
#[must_use]
pub fn is_unsteady(view: &StepView) -> bool {
    view.steady.as_ref().is_some_and(|s| !s.reached && s.why.as_deref() != Some("cannot_tell"))
}

/// Whether the step did real I/O, for verdicts that speak of a drive.
pub(crate) fn is_real(view: &StepView) -> bool {
    view.engine != EngineName::Null.as_str() && view.ios > 0
}
