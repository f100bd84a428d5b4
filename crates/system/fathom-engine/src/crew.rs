//! The worker threads of a step: planned, started, and let go.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use fathom_host::{Binding, Bindings};
use fathom_message::{Message, msg};
use fathom_plan::{STAGE_UNIT_NS, Stage as LoadStage, Step, TargetId};
use fathom_record::StepFailure;

use crate::array;
use crate::backend::refused;
use crate::check;
use crate::hot::Limits;
use crate::offsets::Span;
use crate::pacing::{FlowGroup, FlowOfLoad};
use crate::sequence::Extent;
use crate::shared::{FromWorker, Shared, Stage};
use crate::tally::Tallies;
use crate::target::{Target, target_message};
use crate::worker::{Lines, Part, WorkerPlan, work};

/// The worker threads and the lines to them.
pub(crate) struct Crew {
    pub(crate) shared: Arc<Shared>,
    pub(crate) plans: Vec<Arc<WorkerPlan>>,
    handles: Vec<JoinHandle<()>>,
    pub(crate) spare_to: Vec<Sender<Tallies>>,
    pub(crate) inbox: Receiver<FromWorker>,
    pub(crate) interval_ns: u64,
}

impl Crew {
    /// Starts a thread for each plan.
    ///
    /// # Errors
    /// When the operating system gives no thread.
    pub(crate) fn start(plans: Vec<WorkerPlan>, interval_ns: u64) -> Result<Self, StepFailure> {
        let shared = Arc::new(Shared::new(plans.len()));
        let (outbox, inbox) = channel();
        let mut crew =
            Crew { shared, plans: Vec::new(), handles: Vec::new(), spare_to: Vec::new(), inbox, interval_ns };
        for plan in plans {
            let (spare_to, spare_tallies) = channel();
            let lines = Lines { shared: crew.shared.clone(), to_collector: outbox.clone(), spare_tallies };
            let plan = Arc::new(plan);
            let theirs = plan.clone();
            match std::thread::Builder::new().name(plan.name()).spawn(move || work(&theirs, lines)) {
                Ok(handle) => crew.handles.push(handle),
                Err(source) => {
                    crew.shared.set_stage(Stage::Abandon);
                    return Err(plan.failed(msg!("engine-no-thread"), &source, msg!("engine-no-thread-help")));
                }
            }
            crew.plans.push(plan);
            crew.spare_to.push(spare_to);
        }
        Ok(crew)
    }

    /// Waits for the threads to end: for all of them, or for those that already have.
    pub(crate) fn join(self, all: bool) {
        for handle in self.handles.into_iter().filter(|handle| all || handle.is_finished()) {
            // What a panic had to say came as a message.
            let _ = handle.join();
        }
    }
}

/// Intervals of 100 ms up to a minute and of 1 s beyond; shorter ones for very short windows, so that there is a
/// spread to look at, and at most 1,200, because each keeps a histogram.
/// Stages begin and end with one.
pub(crate) fn interval_ns(budget_ns: u64, stages: &[LoadStage]) -> u64 {
    const SECOND: u64 = 1_000_000_000;
    let long_ns = SECOND * budget_ns.div_ceil(1_200 * SECOND).max(1);
    if !stages.is_empty() {
        let fits = |ns: u64| stages.iter().all(|stage| stage.length_ns.is_multiple_of(ns));
        return if budget_ns > 60 * SECOND && fits(long_ns) { long_ns } else { STAGE_UNIT_NS };
    }
    if budget_ns < SECOND {
        (budget_ns / 10).max(1_000_000)
    } else if budget_ns <= 60 * SECOND {
        SECOND / 10
    } else {
        long_ns
    }
}

/// How many intervals a step has at most, unless its end takes longer than its budget.
#[must_use]
pub fn intervals_max(step: &Step) -> usize {
    let budget_ns = step.length.budget_ns;
    (budget_ns / interval_ns(budget_ns, &step.role.stages)) as usize + 1
}

/// What a target of the step is today. The target without data needs no binding.
///
/// # Errors
/// When the run did not bind it.
pub(crate) fn bound(bindings: &Bindings, target: &TargetId) -> Result<Binding, StepFailure> {
    match bindings.get(target) {
        Some(binding) => Ok(binding.clone()),
        None if target.user_space_array().is_some() => Ok(Binding::array(target.clone())),
        None if target.is_null() => Ok(Binding::null(target.clone())),
        None => Err(refused(target_message(target), msg!("engine-not-bound"), msg!("engine-not-bound-help"))),
    }
}

/// Empties the page cache of all targets; what is to be said of those whose cache stayed.
pub(crate) fn drop_caches(plans: &[WorkerPlan]) -> Vec<Message> {
    let mut done: Vec<usize> = Vec::new();
    let mut kept = Vec::new();
    for part in plans.iter().flat_map(|plan| &plan.parts) {
        if done.contains(&part.member) {
            continue;
        }
        done.push(part.member);
        if let Err(error) = part.target.drop_cache() {
            kept.push(msg!("engine-cache-kept", target = part.target.id.as_str().to_owned(), error = error));
        }
    }
    kept
}

/// The workers of a step, with the targets that each drives.
///
/// # Errors
/// When a target does not fit the step.
pub(crate) fn plan_workers(
    step: &Step,
    cpus: &[u32],
    bindings: &Bindings,
    flow_group: Option<&Arc<FlowGroup>>,
    is_stream: bool,
) -> Result<Vec<WorkerPlan>, StepFailure> {
    let shared_step = Arc::new(step.clone());
    let limits = limits_of(step);
    // A load alone shares with its own threads.
    let flow = step.load.pacing.flow.map(|flow| FlowGroup::of(flow_group.cloned().unwrap_or_default(), flow));
    let intervals_max = intervals_max(step);
    let examined = |target| Ok(Arc::new(Target::examine(bindings, target, step)?));
    let targets: Vec<Arc<Target>> = step.targets.iter().map(examined).collect::<Result<_, StepFailure>>()?;
    array::check_together(step, &targets, is_stream)?;
    let threads_on = step.workers_by_target();
    for (target, threads) in targets.iter().zip(&threads_on) {
        if let Some(array) = target.array() {
            let Span { first_offset_bytes, count, unit_bytes } = target.span;
            let region = (first_offset_bytes, first_offset_bytes + count * unit_bytes);
            array.share_rebuild(region, unit_bytes, threads.len().max(1) as u64);
        }
    }
    let part = |worker: u32, member: u32| {
        let (member, threads) = (member as usize, &threads_on[member as usize]);
        let target = targets[member].clone();
        let thread = threads.iter().position(|at| *at == worker).unwrap_or(0);
        let (span, extent) = part_of(step, &target, thread as u64, threads.len() as u64);
        if span.count == 0 {
            return Err(refused(
                msg!("engine-threads-on-target", threads = threads.len(), target = target.id.as_str().to_owned()),
                msg!("engine-too-few-blocks", blocks = target.span.count),
                msg!("engine-too-few-blocks-help"),
            ));
        }
        Ok(Part { member, target, thread: thread as u32, span, extent })
    };
    let plan = |index: u32| {
        Ok(WorkerPlan {
            index,
            workers: step.workers(),
            parts: step.targets_of(index).into_iter().map(|member| part(index, member)).collect::<Result<_, _>>()?,
            step: shared_step.clone(),
            flow: flow.as_ref().map(FlowOfLoad::join),
            cpus: cpus.get(index as usize % cpus.len().max(1)).copied().into_iter().collect(),
            limits,
            intervals_max,
            #[cfg(test)]
            fault: None,
        })
    };
    (0..step.workers()).map(plan).collect()
}

/// The blocks, and the bytes, of a thread on a target.
fn part_of(step: &Step, target: &Target, thread: u64, threads: u64) -> (Span, Extent) {
    let (span, extent) = (target.span, target.extent);
    if step.workload.order.files.is_some() {
        return (span, extent);
    }
    let unit_bytes = span.unit_bytes;
    if let Some(offset_bytes) = step.workload.order.thread_offset_bytes {
        let later = thread.saturating_mul(offset_bytes);
        let begin_bytes = extent.begin_bytes.saturating_add(later).min(extent.end_of_target_bytes);
        let len_bytes = extent.len_bytes.min(extent.end_of_target_bytes - begin_bytes);
        let first_offset_bytes = span.first_offset_bytes.saturating_add(later);
        let span = Span { first_offset_bytes, count: len_bytes / unit_bytes, unit_bytes };
        return (span, Extent { begin_bytes, len_bytes, ..extent });
    }
    let writes = step.workload.mix.is_destructive();
    if let Some(array) = target.array().filter(|array| writes && array.layout().level().is_redundant()) {
        let region = (span.first_offset_bytes, span.first_offset_bytes + span.count * unit_bytes);
        let [begin, end] = [thread, thread + 1].map(|at| match at == threads {
            true => region.1,
            false => array.parts_at(region, unit_bytes, at, threads),
        });
        let part = Span { first_offset_bytes: begin, count: (end - begin) / unit_bytes, unit_bytes };
        return (part, Extent { begin_bytes: begin, len_bytes: part.count * unit_bytes, ..extent });
    }
    if !check::needs_own_part(step) {
        return (span, extent);
    }
    let span = span.part(thread, threads);
    let extent = if threads == 1 {
        extent
    } else {
        Extent { begin_bytes: span.first_offset_bytes, len_bytes: span.count * unit_bytes, ..extent }
    };
    (span, extent)
}

fn limits_of(step: &Step) -> Limits {
    let synchronous = step.engine.name.is_synchronous();
    let queue_depth = if synchronous { 1 } else { step.load.queue_depth };
    Limits {
        queue_depth,
        batch_submit: step.load.batch_submit.unwrap_or(check::BATCH_DEFAULT).clamp(1, queue_depth),
        adaptive: step.load.batch_submit.is_none(),
        batch_complete_min: step.load.batch_complete_min.unwrap_or(1).clamp(1, queue_depth),
        batch_complete_max: step.load.batch_complete_max.map_or(u32::MAX, |max| max.max(1)),
        sync: step.workload.durability.sync,
        syncs_stand_between: step.role.job.is_some(),
        sync_at_end: step.workload.durability.at_end,
    }
}
