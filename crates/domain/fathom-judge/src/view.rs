//! From a step and its record to the [`StepView`]: every judged figure is made here, once.

mod latency;

use fathom_hist::Histogram;
use fathom_message::{Message, msg};
use fathom_model::{
    Ceiling, Confidence, CpuCost, Limit, LimitName, Observation, attribute_all, attribute_streams, cpu_cost,
    level_turns, notices,
};
use fathom_plan::{Op, Step, label_message, load_words_of, loop_message, workload_message};
use fathom_record::{HostDelta, StepFailure, StepRecord, TargetRecord};
use fathom_stats::iops_estimate;

use crate::checks::checks;
use crate::document::{
    CeilingView, CpuView, DepthView, DirectionView, EvidenceView, LimitView, SeriesView, StepState, StepView,
    TargetView,
};
use crate::health::{drive_health, hot_intervals};
use crate::precision::set_interval;
use crate::proof::proofs;
use crate::rfc3339::known_rfc3339;
use crate::sentences::warning_text;
use crate::stages::stages;
use crate::steadiness::window_view;
pub(crate) use latency::of_intervals as latency_of;
use latency::{curve, interval_p99, latency_view, merged_latency, other_latency};

/// Judges every measured step with all others as probes; `seen` has one entry per step, `None` for unmeasured ones.
pub fn set_limits(steps: &mut [StepView], seen: &[Option<Observation>]) {
    let mut all: Vec<Observation> = seen.iter().flatten().cloned().collect();
    level_turns(&mut all);
    let measured = steps.iter_mut().zip(seen).filter_map(|(view, seen)| Some((view, seen.as_ref()?)));
    for ((view, observation), limit) in measured.zip(attribute_all(&all)) {
        view.limit = limit_view(limit);
        view.ceilings = observation.ceilings().iter().cloned().map(ceiling_view).collect();
        view.warning_texts.extend(notices(observation).into_iter().map(|n| n.message()));
    }
}

/// Judges the streams of each set by what they share and by what each gives alone. `seen` as for [`set_limits`], the streams
/// left out; `streams` has the places and observations of the streams, those of a set behind each other.
pub fn set_stream_limits(steps: &mut [StepView], seen: &[Option<Observation>], streams: &[(usize, Observation)]) {
    let mut all: Vec<Observation> = seen.iter().flatten().cloned().collect();
    level_turns(&mut all);
    let set_of = |(_, stream): &(usize, Observation)| stream.step().role.stream.as_ref().map(|place| place.set);
    for set in streams.chunk_by(|a, b| set_of(a) == set_of(b)) {
        let observed: Vec<Observation> = set.iter().map(|(_, stream)| stream.clone()).collect();
        for ((at, _), limit) in set.iter().zip(attribute_streams(&all, &observed)) {
            if let Some(view) = steps.get_mut(*at) {
                view.limit = limit_view(limit);
            }
        }
    }
}

/// The view of one ended step. Its limit is judged apart, since it takes the neighbours.
#[must_use]
pub fn step_view(step: &Step, outcome: Result<&StepRecord, &StepFailure>) -> StepView {
    match outcome {
        Ok(record) => measured_view(step, record),
        Err(StepFailure::Refused { what, why, help }) => unmeasured_view(step, StepState::Refused, what, why, help),
        Err(StepFailure::Failed { what, why, help }) => unmeasured_view(step, StepState::Failed, what, why, help),
    }
}

/// Reasons of a refusal that mean: the machine or the target lacks what the step measures.
const LACKING: [&str; 7] = [
    "engine-no-namespace",
    "engine-no-poll-queues",
    "engine-passthrough-kind",
    "engine-passthrough-no-polling",
    "placement-no-siblings",
    "placement-one-node",
    "step-missing-drives",
];

/// True if a step was refused because the machine or the target lacks what it measures.
#[must_use]
pub fn is_lacking(failure: &StepFailure) -> bool {
    matches!(failure, StepFailure::Refused { why, .. } if LACKING.contains(&why.id()))
}

fn ceiling_view(ceiling: Ceiling) -> CeilingView {
    CeilingView { name: ceiling.name, iops: ceiling.iops, bytes_per_s: ceiling.bytes_per_s, sentence: ceiling.sentence }
}

/// A limit in the document's words.
#[must_use]
pub fn limit_view(limit: Limit) -> LimitView {
    LimitView {
        name: limit.name,
        probability: limit.probability,
        confidence: limit.confidence,
        state_change: limit.cause.state_change(),
        sentence: limit.sentence(),
        evidence: limit
            .evidence
            .into_iter()
            .map(|e| EvidenceView {
                name: e.name,
                label: e.name.message(),
                value: e.quantity.value,
                unit: e.quantity.unit,
            })
            .collect(),
        would_help: limit.would_help,
    }
}

fn unmeasured_view(step: &Step, state: StepState, what: &Message, why: &Message, help: &Message) -> StepView {
    let mut view = empty_view(step);
    view.state = state;
    // Wherever the reason stands the step is named already.
    let reason = match what.as_verbatim() == Some(step.label.as_str()) {
        true => why.clone(),
        false => msg!("what-and-why", what = what, why = why),
    };
    view.limit.sentence = msg!("verdict-not-measured", why = &reason);
    view.reason = Some(reason);
    view.help = (help.as_verbatim() != Some("")).then(|| help.clone());
    view
}

pub(crate) fn empty_view(step: &Step) -> StepView {
    StepView {
        index: step.index,
        label: step.label.clone(),
        label_message: label_message(step),
        loop_title: loop_message(step),
        workload_title: workload_message(step),
        phase: step.phase,
        group: step.group.clone(),
        role: step.role.clone(),
        targets: step.targets.iter().map(ToString::to_string).collect(),
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
        block_size_bytes: step.workload.block_bytes_max(),
        direct: step.workload.direct,
        durability: step.workload.durability,
        order: step.workload.order.clone(),
        load_words: load_words_of(step),
        pacing: step.load.pacing,
        drop_cache: step.workload.drop_cache,
        priorities: step.workload.priorities.clone(),
        footprint_bytes: step.workload.region.size_bytes,
        threads: step.load.threads,
        spread: step.load.spread,
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
        iops_ci95_why_none: None,
        iops_ci95_needs_s: None,
        iops_ci95_blind_beyond_s: None,
        bytes_per_s: 0.0,
        lat_ns: None,
        slat_ns: None,
        clat_ns: None,
        depth: None,
        service_ns: None,
        read: None,
        write: None,
        trim: None,
        syncs: None,
        cpu: None,
        limit: LimitView {
            name: LimitName::Unknown,
            probability: None,
            confidence: Confidence::Unknown,
            state_change: None,
            sentence: Message::verbatim(""),
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
        arrays: Vec::new(),
        purges: Vec::new(),
        ranks: None,
        workers: Vec::new(),
        host_delta: None,
        overhead: None,
        clock: None,
        drive_health: Vec::new(),
        by_target: Vec::new(),
        failures: Vec::new(),
        verify: None,
        open_loop: None,
        stages: Vec::new(),
        warnings: Vec::new(),
        warning_texts: Vec::new(),
    }
}

fn measured_view(step: &Step, record: &StepRecord) -> StepView {
    if step.role.stream.is_some() && record.host.is_some() {
        // The host's counters are those of all streams of the set: `StreamSets` reads them.
        return measured_view(step, &StepRecord { host: None, ..record.clone() });
    }
    let runtime_s = record.runtime_ns as f64 / 1e9;
    let per_s = |n: u64| if runtime_s > 0.0 { n as f64 / runtime_s } else { 0.0 };
    let iops = per_s(record.ios());
    let is_split = !step.role.imported.is_unified;
    let unsustainable = record.open_loop.as_ref().is_some_and(|o| o.unsustainable);
    let mut cpus: Vec<u32> = record.threads.iter().flat_map(|t| t.cpus_allowed.iter().copied()).collect();
    cpus.sort_unstable();
    cpus.dedup();
    let mut view = StepView {
        state: if !step.engine.name.is_of_another_program()
            && record.intervals.is_empty()
            && record.clock.is_none()
            && record.purges.is_empty()
        {
            StepState::Imported
        } else {
            StepState::Measured
        },
        cpus,
        started: known_rfc3339(record.started_unix_ns),
        runtime_s,
        setup_ms: record.setup_ns as f64 / 1e6,
        ios: record.ios(),
        errors: record.errors(),
        iops,
        bytes_per_s: per_s(record.bytes()),
        lat_ns: if unsustainable { None } else { merged_latency(record, iops) },
        slat_ns: other_latency(record, iops, unsustainable, |d| d.slat.as_ref()),
        depth: depth_view(record),
        clat_ns: other_latency(record, iops, unsustainable, |d| d.clat.as_ref()),
        service_ns: other_latency(record, iops, unsustainable, |d| d.service.as_ref()),
        read: direction_view(record, Op::Read, runtime_s, unsustainable).filter(|_| is_split),
        write: direction_view(record, Op::Write, runtime_s, unsustainable).filter(|_| is_split),
        trim: direction_view(record, Op::Trim, runtime_s, unsustainable).filter(|_| is_split),
        syncs: syncs_view(record, runtime_s, unsustainable),
        cpu: record.host.as_ref().and_then(|host| cpu_view(host, record.ios(), iops)),
        // A load that changes on purpose is neither steady nor not.
        steady: window_view(&record.intervals).filter(|_| step.role.stages.is_empty()),
        percentile_curve: if unsustainable {
            Vec::new()
        } else {
            record.lat_merged().map_or_else(Vec::new, |h| curve(&h))
        },
        series: series(record),
        checks: checks(step, record).into_iter().chain(proofs(step, record)).collect(),
        features: record.features.clone(),
        arrays: record.arrays.clone(),
        purges: record.purges.clone(),
        ranks: record.ranks.clone(),
        workers: record.threads.clone(),
        host_delta: record.host.clone(),
        overhead: record.overhead.clone(),
        clock: record.clock.clone(),
        drive_health: drive_health(record),
        by_target: by_target(record),
        failures: record.failures.clone(),
        verify: record.verify.clone(),
        open_loop: record.open_loop.clone(),
        stages: stages(step, record),
        warnings: record.warnings.clone(),
        warning_texts: record.warnings.iter().map(warning_text).collect(),
        ..empty_view(step)
    };
    match step.role.stages.is_empty() {
        true => set_interval(&mut view, record, &iops_estimate(&record.intervals)),
        false => view.iops_ci95_why_none = Some(msg!("interval-stages")),
    }
    view
}

fn depth_view(record: &StepRecord) -> Option<DepthView> {
    Some(DepthView { asked: record.occupied_mean?, in_flight: record.in_flight_mean? })
}

/// One target alone is the step itself.
fn by_target(record: &StepRecord) -> Vec<TargetView> {
    if record.targets.len() < 2 {
        return Vec::new();
    }
    let seconds = record.runtime_ns as f64 / 1e9;
    let per_s = |n: u64| if seconds > 0.0 { n as f64 / seconds } else { 0.0 };
    let view = |target: &TargetRecord| TargetView {
        target: target.target.to_string(),
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

/// Syncs have figures of their own, from intervals of their own.
fn syncs_view(record: &StepRecord, runtime_s: f64, unsustainable: bool) -> Option<DirectionView> {
    let syncs = record.syncs.as_ref().filter(|d| d.ios > 0)?;
    let per_s = if runtime_s > 0.0 { syncs.ios as f64 / runtime_s } else { 0.0 };
    let intervals = record.sync_intervals();
    Some(DirectionView {
        ios: syncs.ios,
        iops: per_s,
        bytes_per_s: 0.0,
        short_ios: 0,
        lat_ns: if unsustainable { None } else { latency_view(&syncs.lat, &intervals, Some(Op::Sync), per_s) },
    })
}

/// CPU time that belongs to nothing known, as a share of all that is left without other programs: interrupts and threads of
/// the kernel that nothing names explain as much.
const UNEXPLAINED_MAX: f64 = 0.25;
/// The error that other programs may leave in the figure, as a share of it.
const OTHERS_ERROR_MAX: f64 = 0.1;
/// Share of all CPU time that other programs may use. Above it they displace the load from caches and slow down sibling
/// threads: beside a program on one of two CPUs an I/O took 27 % more CPU time.
const OTHERS_SHARE_MAX: f64 = 0.1;
/// The kernel tells CPU times in units of this.
const TICK_NS: f64 = 1e7;

/// True if the CPU time per I/O belongs to the load.
fn is_clear(cost: &CpuCost, host: &HostDelta) -> bool {
    let Some(others) = cost.other_programs_cores else { return cost.baseline_busy_cores <= cost.busy_cores };
    // Idle time is read to a tick for each CPU, at both ends.
    let error_cores = 2.0 * TICK_NS * host.cpus.len() as f64 / host.window_ns.max(1) as f64;
    let leave_cpus_alone = others <= OTHERS_SHARE_MAX * host.cpus.len() as f64;
    let is_error_small = error_cores <= OTHERS_ERROR_MAX * cost.busy_cores;
    let are_others_few = others <= OTHERS_ERROR_MAX * cost.busy_cores;
    leave_cpus_alone
        && (is_error_small || are_others_few)
        && cost.unexplained_cores <= UNEXPLAINED_MAX * cost.busy_cores
}

pub(crate) fn cpu_view(host: &HostDelta, ios: u64, iops: f64) -> Option<CpuView> {
    let cost = cpu_cost(host, ios)?;
    let is_clear = is_clear(&cost, host);
    let all = cost.user_ns_per_io + cost.system_ns_per_io + cost.irq_ns_per_io + cost.kernel_worker_ns_per_io;
    Some(CpuView {
        ns_per_io: is_clear.then_some(all),
        busy_cores: cost.busy_cores,
        cpus_online: host.cpus.len() as u32,
        user_ns_per_io: cost.user_ns_per_io,
        system_ns_per_io: cost.system_ns_per_io,
        irq_ns_per_io: cost.irq_ns_per_io,
        kernel_worker_ns_per_io: cost.kernel_worker_ns_per_io,
        interrupts_per_io: cost.interrupts_per_io,
        context_switches_per_io: cost.context_switches_per_io,
        iops_per_core: cost.iops_per_core(iops).filter(|_| is_clear),
        busy_physical_cores: cost.busy_physical_cores,
        iops_per_physical_core: cost.iops_per_physical_core(iops).filter(|_| is_clear),
        baseline_busy_cores: cost.baseline_busy_cores,
        other_programs_cores: cost.other_programs_cores,
        unexplained_cores: cost.unexplained_cores,
        steal_pct: cost.steal_share * 100.0,
        busiest_cpu: cost.busiest_cpu,
    })
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
        out.p99_ns.push(interval_p99(&hist));
    }
    if let Some(host) = &record.host {
        out.cpu_busy.clone_from(&host.cpu_busy_by_interval);
        out.hot = hot_intervals(&host.drives, &record.intervals);
    }
    out
}
