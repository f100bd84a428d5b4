//! A worker thread: sets itself up, waits for the start, runs the hot loop, and reads back what it wrote.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};

use fathom_message::{Arg, Join, Message, Say as _, msg};
use fathom_nvme::driver::DriverError;
use fathom_plan::{Staged, Step, Verify};
use fathom_random::Rng;
use fathom_record::{FeatureName, FeatureUse, StepFailure, VerifyReport};
use fathom_units::format_cpu_list;

use crate::backend::nvme;
use crate::backend::{Backend, Unready, refused};
use crate::buffer::{Area, Buffers};
use crate::clock::Clock;
use crate::data::Content;
use crate::depth_search::DepthSearch;
use crate::draw::Draw;
use crate::hot::{Closed, ClosedStamped, Hot, Limits, Open, OpenStamped, Parts, Plain, State};
use crate::offsets::{Offsets, Span};
use crate::op_rates::{OpLimits, OpStreams};
use crate::open_loop::{Arrivals, sharpen_timers};
use crate::pacing::{FlowMember, Pacer};
use crate::priority::{self, IoMarks};
use crate::replay::Replayed;
use crate::rig::Rig;
use crate::sequence::{Extent, IoSequence, Sequences};
use crate::service::Service;
use crate::shared::{FromWorker, OpenSummary, Shared, Stage, Window, WorkerSummary};
use crate::system::{engines, threads};
use crate::tally::{Tallies, ops_of};
use crate::target::{Target, Trimmer};
use crate::trace::Recorder;
use crate::verify::{Ledger, merge};

/// What a worker does on one target.
#[derive(Clone)]
pub(crate) struct Part {
    /// Position of the target in the step.
    pub(crate) member: usize,
    pub(crate) target: Arc<Target>,
    /// Which of the threads on it this is.
    pub(crate) thread: u32,
    /// Blocks this worker may touch.
    pub(crate) span: Span,
    /// The same in bytes, not cut to whole blocks.
    pub(crate) extent: Extent,
}

/// Everything a worker is given.
pub(crate) struct WorkerPlan {
    pub(crate) index: u32,
    /// All workers of the step.
    pub(crate) workers: u32,
    /// At least one.
    pub(crate) parts: Vec<Part>,
    pub(crate) step: Arc<Step>,
    /// Its place among the threads that share their I/Os; taken once by the thread.
    pub(crate) flow: Option<Arc<Mutex<Option<FlowMember>>>>,
    /// CPUs it is bound to; empty: all.
    pub(crate) cpus: Vec<u32>,
    pub(crate) limits: Limits,
    /// Most intervals the window can have.
    pub(crate) intervals_max: usize,
    /// What goes wrong in a test.
    #[cfg(test)]
    pub(crate) fault: Option<crate::faults::Fault>,
}

impl WorkerPlan {
    /// Name of the thread.
    pub(crate) fn name(&self) -> String {
        match &self.step.role.stream {
            None => format!("fathom-w{}", self.index),
            Some(stream) => format!("fathom-w{}.{}", stream.index, self.index),
        }
    }

    /// The failure of this thread whose engine ended with `source`.
    fn ended(&self, source: &std::io::Error) -> StepFailure {
        let failed = self.failed(msg!("engine-failed"), source, msg!("engine-failed-help"));
        let of_drive = source.get_ref().and_then(|inner| inner.downcast_ref::<DriverError>());
        let (Some(error), StepFailure::Failed { what, .. }) = (of_drive, &failed) else { return failed };
        StepFailure::Failed { what: what.clone(), why: error.message(), help: nvme::help_of(error) }
    }

    /// A failure of this thread.
    pub(crate) fn failed(&self, doing: Message, source: &std::io::Error, help: Message) -> StepFailure {
        let targets = self.parts.iter().map(|part| part.target.id.as_str().to_owned());
        let target = Arg::names(targets, Join::Comma);
        let what = msg!("engine-thread", thread = self.name(), target = target, doing = doing);
        StepFailure::failed(what, source, help)
    }
}

/// Channels of a worker.
pub(crate) struct Lines {
    pub(crate) shared: Arc<Shared>,
    pub(crate) to_collector: Sender<FromWorker>,
    pub(crate) spare_tallies: Receiver<Tallies>,
}

/// Body of the thread.
pub(crate) fn work(plan: &WorkerPlan, lines: Lines) {
    let to_collector = lines.to_collector.clone();
    let worker = plan.index;
    let message = match caught(plan, || prepare_and_run(plan, lines)) {
        Ok(Ok(())) => return,
        Ok(Err(Unready::Stopped)) => FromWorker::Left { worker },
        Ok(Err(Unready::Failed(failure))) | Err(failure) => FromWorker::Failed { worker, failure },
    };
    // Nobody listens any more when the step was abandoned.
    let _ = to_collector.send(message);
}

/// What `run` gives, or the failure that names the thread when it panics.
fn caught<T>(plan: &WorkerPlan, run: impl FnOnce() -> T) -> Result<T, StepFailure> {
    // Nothing of the thread is used after a panic, but to let go of it.
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
        plan.failed(msg!("engine-thread-panicked"), &std::io::Error::other(text), msg!("engine-fault-help"))
    })
}

fn prepare_and_run(plan: &WorkerPlan, lines: Lines) -> Result<(), Unready> {
    #[cfg(test)]
    let lines = match plan.fault {
        Some(fault) => return crate::faults::prepare_and_run(plan, lines, fault),
        None => lines,
    };
    pin(&plan.cpus)?;
    // Before the engine: what the kernel starts for it takes over the thread's priority.
    priority::take_on(&plan.step.workload.priorities)?;
    if plan.step.workload.durability.is_atomic {
        plan.parts.iter().try_for_each(|part| crate::atomic::check(&part.target, &plan.step.workload))?;
    }
    if plan.step.workload.priorities.is_uncached {
        plan.parts.iter().try_for_each(|part| crate::uncached::check(&part.target))?;
    }
    crate::memory::take_from(&plan.step.memory)?;
    threads::own_descriptor_table();
    let shared = lines.shared.clone();
    let stopped = || shared.is_stopped() || shared.is_abandoned();
    let (hot, area) = set_up(plan, lines)?;
    if plan.parts[0].target.array().is_some() {
        return crate::array::run(plan, hot, area);
    }
    engines::run(plan, hot, area, &stopped)
}

/// Binds the calling thread.
fn pin(cpus: &[u32]) -> Result<(), StepFailure> {
    if cpus.is_empty() {
        return Ok(());
    }
    threads::pin(cpus).map_err(|error| {
        refused(
            msg!("engine-placement-on-cpus", cpus = format_cpu_list(cpus)),
            msg!("engine-call-failed", call = threads::PIN_CALL, error = error),
            msg!("engine-placement-on-cpus-help"),
        )
    })
}

pub(crate) fn set_up(plan: &WorkerPlan, lines: Lines) -> Result<(Hot, Area), StepFailure> {
    let step = &plan.step;
    let workload = &step.workload;
    let depth = plan.limits.queue_depth;
    let mut rng = Rng::new(step.seed, u64::from(plan.index));
    let slot_bytes = workload.block_bytes_max() as usize;
    // Of several drives the first decides: they are of one group.
    let area = match plan.parts.first().and_then(|part| part.target.driven()) {
        Some(drive) => Area::for_drive(depth as usize, slot_bytes, drive),
        None => Area::new(depth as usize, slot_bytes),
    };
    let mut area = area.map_err(|source| {
        plan.failed(
            msg!("engine-no-buffers", count = depth, bytes = slot_bytes),
            &source,
            msg!("engine-no-buffers-help"),
        )
    })?;
    // Each part has an order of its own.
    let seeds: Vec<u64> = plan.parts.iter().map(|_| rng.next_u64()).collect();
    let no_pattern = |why| refused(msg!("engine-pattern"), why, msg!("engine-pattern-help"));
    let sequence = |(part, seed): (&Part, &u64)| IoSequence::new(step, part.extent, *seed).map_err(no_pattern);
    let sequences = match &workload.order.replay {
        Some(replay) => {
            let extents = plan.parts.iter().map(|part| part.extent).collect();
            Sequences::replayed(Replayed::begin(replay, extents, workload.block_bytes_max())?)
        }
        None => {
            let own = plan.parts.iter().zip(&seeds).map(sequence).collect::<Result<Vec<_>, _>>()?;
            Sequences::new(own.into_iter().flatten().collect()).map_err(no_pattern)?
        }
    };
    let flow = plan.flow.as_ref().and_then(|member| member.lock().unwrap_or_else(PoisonError::into_inner).take());
    let pacer = Pacer::new(step.load.pacing.think, flow);
    let offsets = |(part, seed): (&Part, &u64)| {
        Offsets::new(workload.pattern, part.span, *seed, step.length.passes).map_err(no_pattern)
    };
    let mut offsets = plan.parts.iter().zip(&seeds).map(offsets);
    let first = offsets.next().unwrap_or_else(|| unreachable!("a worker drives at least one target"))?;
    let others = offsets.collect::<Result<Vec<_>, _>>()?;
    let parts = Parts::new(first, others, depth, step.load.rate.is_some());
    let parts = match workload.order.service {
        Some(asked) => {
            let pass = plan.parts.iter().map(|part| part.span.count).collect();
            parts.served(Service::new(asked, pass).map_err(no_pattern)?)
        }
        None => parts,
    };
    let trims = workload.mix.trim_pct > 0;
    let trimmers = plan.parts.iter().filter(|_| trims).map(|part| Trimmer::new(step, &part.target, plan.index));
    let region_bytes = plan.parts.iter().map(|part| part.extent.len_bytes).sum();
    let content = Content::new(workload.data, &workload.fill, step.seed, &mut rng).over(region_bytes);
    let used_ops = ops_of(workload);
    if workload.mix.write_pct > 0 {
        content.fill(&mut area, depth, &mut rng);
    }
    let hot = Hot {
        index: plan.index,
        clock: Clock::get(),
        shared: lines.shared,
        to_collector: lines.to_collector,
        spare_tallies: lines.spare_tallies,
        buffers: Buffers::NONE,
        parts,
        sequences,
        draw: Draw::new(workload.mix, &workload.block_sizes),
        rng,
        content,
        trimmers: trimmers.collect::<Result<_, _>>()?,
        ledgers: Ledger::for_step(plan, step)?,
        arrivals: None,
        op_limits: None,
        pacer,
        search: step.load.pacing.target.map(|target| DepthSearch::new(target, depth)),
        marks: IoMarks::new(workload, depth, step.seed, plan.index),
        recorder: None,
        limits: plan.limits,
        used_ops,
        state: State::new(depth, plan.parts.len(), used_ops),
    };
    Ok((hot, area))
}

/// Waits for the start, runs the loop, and reads back what it wrote. The rig ends with it, whichever way it goes; what went
/// wrong is reported before, because its end may have to wait.
pub(crate) fn run_on<B: Backend>(plan: &WorkerPlan, mut hot: Hot, mut rig: Rig<B>) -> Result<(), Unready> {
    // Before the start, which must find the thread waiting.
    let migrations_before = threads::migrations();
    hot.recorder = Recorder::begin(plan)?;
    let to_collector = hot.to_collector.clone();
    let thread = threads::number();
    if to_collector.send(FromWorker::Ready { worker: plan.index, thread }).is_err() {
        return Ok(());
    }
    let window = hot.shared.wait_stage(|stage| match stage {
        Stage::Prepare => None,
        Stage::Run(window) => Some(Some(window)),
        Stage::Release | Stage::Abandon => Some(None),
    });
    let Some(window) = window else { return Err(Unready::Stopped) };
    let ran = caught(plan, || run_loop(plan, &mut hot, &mut rig, window))
        .and_then(|ran| ran.map_err(|source| plan.ended(&source)))
        .and_then(|()| hot.sequences.failure().map_or(Ok(()), Err));
    // Once the window is over; what was done is written down whatever came of it.
    let recorded = hot.recorder.take().map_or(Ok(()), Recorder::end);
    let ran = ran.and(recorded);
    if let Err(failure) = ran {
        let _ = to_collector.send(FromWorker::Failed { worker: plan.index, failure });
        return Ok(());
    }
    let mut features = features_of(plan, &*rig.backend);
    features.extend(hot.search.as_ref().map(DepthSearch::found));
    let mut summary = summarise(&mut hot, features);
    summary.arrays = rig.backend.arrays();
    summary.polling = rig.backend.polling();
    summary.migrations = threads::migrations().zip(migrations_before).and_then(|(now, before)| now.checked_sub(before));
    let _ = to_collector.send(FromWorker::Drained { worker: plan.index, summary: Box::new(summary) });
    let released = hot.shared.wait_stage(|stage| match stage {
        Stage::Prepare | Stage::Run(_) => None,
        Stage::Release => Some(true),
        Stage::Abandon => Some(false),
    });
    let checks = plan.step.workload.verify.is_some_and(Verify::checks);
    if released && checks && !hot.ledgers.is_empty() {
        let mut report = VerifyReport::default();
        for ledger in std::mem::take(&mut hot.ledgers) {
            merge(&mut report, &ledger.conclude(plan, &hot.shared)?);
        }
        let _ = to_collector.send(FromWorker::Verified { report: Box::new(report) });
    }
    Ok(())
}

fn features_of<B: Backend>(plan: &WorkerPlan, backend: &B) -> Vec<FeatureUse> {
    let mut features = backend.features();
    let spec = plan.step.engine;
    if spec.paranoid {
        features.push(FeatureUse::used(FeatureName::Paranoid, msg!("engine-paranoid")));
    }
    features
}

fn run_loop<B: Backend>(plan: &WorkerPlan, hot: &mut Hot, rig: &mut Rig<B>, window: Window) -> std::io::Result<()> {
    // See `Variant`.
    let beyond_plain = plan.limits.sync.is_some()
        || !hot.sequences.is_empty()
        || hot.pacer.is_some()
        || plan.step.load.op_rates.is_some()
        || hot.search.is_some()
        || hot.marks.is_some()
        || hot.recorder.is_some();
    let stamped = plan.step.engine.paranoid || plan.step.load.batch_complete_max.is_some() || beyond_plain;
    let load = plan.step.load;
    let Some(rate) = load.rate else {
        let limits = |rates| OpLimits::new(rates, plan.index, plan.workers, hot.clock.now());
        hot.op_limits = load.op_rates.map(limits);
        return match (stamped, &plan.parts[..]) {
            (true, _) => hot.run::<B, ClosedStamped>(rig, window),
            (false, [_]) => hot.run::<B, Plain>(rig, window),
            (false, _) => hot.run::<B, Closed>(rig, window),
        };
    };
    sharpen_timers();
    let iops = rate.iops / f64::from(plan.workers);
    // Threads take turns: the sum of their equal gaps is again a sequence of equal gaps.
    let (now, turn_ns) = (hot.clock.now(), 1e9 / rate.iops * f64::from(plan.index));
    let arrivals = Arrivals::new(iops, rate.process, now + turn_ns as u64, plan.intervals_max);
    let streams = load.op_rates.and_then(|rates| OpStreams::new(rates, plan.index, plan.workers, now));
    hot.arrivals = Some(match (Staged::new(&plan.step.role.stages), streams) {
        (Some(staged), _) => arrivals.in_stages(staged, now, window.start_ns, turn_ns),
        (None, Some(streams)) => arrivals.of_ops(streams),
        (None, None) => arrivals,
    });
    if stamped { hot.run::<B, OpenStamped>(rig, window) } else { hot.run::<B, Open>(rig, window) }
}

fn summarise(hot: &mut Hot, features: Vec<FeatureUse>) -> WorkerSummary {
    let outcome = std::mem::take(&mut hot.state.outcome);
    let end_ns = outcome.finished_ns.min(hot.shared.deadline_ns());
    WorkerSummary {
        finished_ns: outcome.finished_ns,
        first_submit_ns: outcome.first_submit_ns,
        passes_done: outcome.passes_done,
        gave_up: outcome.gave_up,
        totals: outcome.totals,
        ios: outcome.ios,
        passes: hot.sequences.passes().unwrap_or_else(|| hot.parts.passes()),
        in_flight_max: outcome.in_flight_max,
        in_flight_area: outcome.in_flight_area,
        occupied_area: outcome.occupied_area,
        age_ns: outcome.age_ns,
        cpus_seen: outcome.cpus_seen,
        migrations: None,
        paused_ns: outcome.paused_ns,
        failures: outcome.failures,
        errors: outcome.errors,
        stamp_error_ns: outcome.stamp_error_ns,
        submitted: (outcome.submitted_ios, outcome.submit_calls),
        open: hot.arrivals.as_ref().map(|arrivals| {
            let open = arrivals.summary(end_ns);
            // Nothing is due once a trace is at its end.
            if hot.sequences.is_replayed_to_its_end() { OpenSummary { backlog_ios: 0, ..open } } else { open }
        }),
        arrays: Vec::new(),
        polling: None,
        features,
    }
}
