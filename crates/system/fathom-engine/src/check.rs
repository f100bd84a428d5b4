//! What no target could run is refused before any is opened.

use fathom_host::{MemoryBound, MemoryLeft, Root, memory_left};
use fathom_message::{Message, Quantity, msg};
use fathom_plan::{EngineName, Mode, Pattern, Spread, Step};
use fathom_record::StepFailure;

use crate::backend::refused;

/// Deepest queue of a thread. The slots of one (40 B each) then stay within the second-level cache.
pub const QUEUE_DEPTH_MAX: u32 = 4_096;
/// Most worker threads of a step.
pub const THREADS_MAX: u32 = 1_024;
/// Largest block.
pub const BLOCK_BYTES_MAX: u32 = 1 << 30;
/// Most I/Os per submission unless the plan says otherwise; a slow device gets them one by one.
pub(crate) const BATCH_DEFAULT: u32 = 16;

/// Whether each thread keeps to a part of the region: a sequence each, or blocks whose last writer must be known.
pub(crate) fn needs_own_part(step: &Step) -> bool {
    step.workload.pattern == Pattern::Sequential || step.workload.verify.is_some()
}

/// Checks the step by itself; returns remarks for the record.
///
/// # Errors
/// A refusal that names the knob.
pub(crate) fn check(step: &Step) -> Result<Vec<Message>, StepFailure> {
    check_load(step)?;
    check_workload(step)?;
    check_engine(step)?;
    check_memory(step, memory_left(&Root::live()))?;
    Ok(notes(step))
}

/// Memory that a step needs in addition to its buffers: histograms, samples, the commit to the lab.
const BYTES_BESIDE_BUFFERS: u64 = 32 << 20;
/// Memory of a thread: its counters and the used part of its stack.
const BYTES_OF_A_THREAD: u64 = 1 << 20;
/// Address space of a thread.
const STACK_BYTES: u64 = 2 << 20;

/// Refuses buffers that there is no memory for: a process that takes more than it may is ended by the kernel.
fn check_memory(step: &Step, left: Option<MemoryLeft>) -> Result<(), StepFailure> {
    let Some(left) = left else { return Ok(()) };
    let threads = u64::from(step.workers());
    let buffers = threads * u64::from(step.load.queue_depth) * u64::from(step.workload.block_bytes_max());
    let beside = match left.bound {
        // The allocator has taken more of it in advance than it uses.
        MemoryBound::AddressSpace => threads * STACK_BYTES,
        MemoryBound::Host | MemoryBound::ControlGroup => threads * BYTES_OF_A_THREAD + BYTES_BESIDE_BUFFERS,
    };
    let need_bytes = buffers + beside;
    if need_bytes <= left.bytes {
        return Ok(());
    }
    let bound = match left.bound {
        MemoryBound::Host => msg!("engine-memory-of-host"),
        MemoryBound::ControlGroup => msg!("engine-memory-of-group"),
        MemoryBound::AddressSpace => msg!("engine-memory-of-address-space"),
    };
    let why = msg!(
        "engine-memory-left",
        need = Quantity::bytes(need_bytes),
        left = Quantity::bytes(left.bytes),
        bound = bound
    );
    let help = if buffers > need_bytes / 2 { msg!("engine-no-buffers-help") } else { msg!("engine-no-memory-help") };
    Err(refused(Message::verbatim(step.label.clone()), why, help))
}

fn check_load(step: &Step) -> Result<(), StepFailure> {
    let (load, length) = (step.load, step.length);
    let depth = load.queue_depth;
    if depth == 0 || depth > QUEUE_DEPTH_MAX {
        let what = msg!("engine-depth", depth = depth);
        return Err(refused(what, msg!("engine-depth-range", max = QUEUE_DEPTH_MAX), msg!("engine-depth-range-help")));
    }
    let each = if load.spread == Spread::EachTarget { step.targets.len() as u64 } else { 1 };
    let workers = u64::from(load.threads) * each;
    if load.threads == 0 || workers > u64::from(THREADS_MAX) {
        let what = msg!("engine-threads-on-targets", threads = load.threads, targets = step.targets.len());
        return Err(refused(what, msg!("engine-threads-range", max = THREADS_MAX), msg!("engine-threads-range-help")));
    }
    if step.targets.is_empty() {
        return Err(refused(msg!("engine-no-target"), msg!("engine-no-target-why"), msg!("engine-no-target-help")));
    }
    if length.budget_ns == 0 {
        return Err(refused(msg!("engine-no-time"), msg!("engine-no-time-why"), msg!("engine-no-time-help")));
    }
    if length.passes == Some(0) {
        return Err(refused(msg!("engine-no-passes"), msg!("engine-no-passes-why"), msg!("engine-one-or-more")));
    }
    let of_ops = load.op_rates.iter().flat_map(|rates| [rates.read_iops, rates.write_iops]).flatten();
    let mut rates = load.rate.iter().map(|rate| rate.iops).chain(of_ops);
    if let Some(iops) = rates.find(|iops| !(iops.is_finite() && *iops > 0.0)) {
        let what = msg!("engine-rate", rate = iops.to_string());
        return Err(refused(what, msg!("engine-rate-not-above-zero"), msg!("engine-rate-not-above-zero-help")));
    }
    if load.batch_submit == Some(0) {
        return Err(refused(msg!("engine-no-batch"), msg!("engine-no-batch-why"), msg!("engine-one-or-more")));
    }
    Ok(())
}

fn check_workload(step: &Step) -> Result<(), StepFailure> {
    let workload = &step.workload;
    let mix = workload.mix;
    if u32::from(mix.read_pct) + u32::from(mix.write_pct) + u32::from(mix.trim_pct) != 100 {
        return Err(refused(msg!("engine-mix"), msg!("engine-mix-not-whole"), msg!("engine-mix-not-whole-help")));
    }
    let shares: u32 = workload.block_sizes.iter().map(|b| u32::from(b.share_pct)).sum();
    if workload.block_sizes.is_empty() || shares != 100 {
        return Err(refused(msg!("engine-split"), msg!("engine-split-not-whole"), msg!("engine-split-not-whole-help")));
    }
    if let Some(bad) = workload.block_sizes.iter().find(|b| b.bytes == 0 || b.bytes > BLOCK_BYTES_MAX) {
        let what = msg!("engine-block-size", bytes = bad.bytes);
        let why = msg!("engine-block-size-range", max = Quantity::block(u64::from(BLOCK_BYTES_MAX)));
        return Err(refused(what, why, msg!("engine-block-size-range-help")));
    }
    Ok(())
}

fn check_engine(step: &Step) -> Result<(), StepFailure> {
    let spec = step.engine;
    let (engine, mode) = (spec.name.as_str(), spec.mode.as_str());
    if spec.mode != Mode::Interrupt && !spec.name.is_uring() {
        return Err(refused(
            msg!("engine-mode-of-engine", mode = mode, engine = engine),
            msg!("engine-mode-of-ring-only"),
            msg!("engine-mode-of-ring-only-help", mode = mode),
        ));
    }
    if spec.mode == Mode::Iopoll && !step.workload.direct {
        return Err(refused(
            msg!("engine-iopoll-buffered"),
            msg!("engine-iopoll-buffered-why"),
            msg!("engine-use-direct"),
        ));
    }
    Ok(())
}

fn notes(step: &Step) -> Vec<Message> {
    let mut notes = Vec::new();
    let engine = step.engine.name.as_str();
    let (load, workload) = (step.load, &step.workload);
    if step.engine.name.is_synchronous() && load.queue_depth > 1 {
        notes.push(msg!("engine-note-one-in-flight", engine = engine, depth = load.queue_depth));
    }
    if workload.mix.trim_pct > 0 && !step.engine.name.is_synchronous() {
        notes.push(msg!("engine-note-trims", engine = engine));
    }
    if step.length.passes.is_some() && step.length.ramp_ns > 0 {
        notes.push(msg!("engine-note-no-ramp"));
    }
    if step.engine.name == EngineName::Mmap && workload.direct {
        notes.push(msg!("engine-note-mmap-direct"));
    }
    if workload.verify.is_some() && (workload.data.dedupe_pct > 0 || workload.data.compress_pct > 0) {
        notes.push(msg!("engine-note-verified-data"));
    }
    notes
}

#[cfg(test)]
mod tests {
    use fathom_plan::{Knobs, Plan, TargetId};

    use super::*;

    #[test]
    fn buffers_beyond_the_memory_that_is_left_are_refused_with_both_figures() {
        let mut knobs = Knobs::new();
        for (key, value) in [("numjobs", "8"), ("iodepth", "64"), ("bs", "1m")] {
            knobs.set(key, value).expect("a knob");
        }
        let plan = Plan::from_io(&knobs, vec![TargetId::new("/f")], "").expect("a plan");
        let left = |mib: u64| Some(MemoryLeft { bytes: mib << 20, bound: MemoryBound::ControlGroup });
        assert!(check_memory(&plan.steps[0], None).is_ok() && check_memory(&plan.steps[0], left(552)).is_ok());
        let Err(StepFailure::Refused { why, help, .. }) = check_memory(&plan.steps[0], left(551)) else {
            panic!("not refused")
        };
        let said = fathom_language::english(&why);
        assert_eq!(said, "needs 552 MiB of memory, and 551 MiB are left in its control group");
        assert_eq!(help.id(), "engine-no-buffers-help");
    }

    #[test]
    fn threads_count_beside_their_buffers_and_the_help_names_what_takes_the_most() {
        let mut knobs = Knobs::new();
        for (key, value) in [("numjobs", "8"), ("iodepth", "1"), ("bs", "4k")] {
            knobs.set(key, value).expect("a knob");
        }
        let plan = Plan::from_io(&knobs, vec![TargetId::new("/f")], "").expect("a plan");
        for (bound, enough_bytes) in [
            (MemoryBound::AddressSpace, 8 * ((2 << 20) + (4 << 10))),
            (MemoryBound::ControlGroup, 8 * ((1 << 20) + (4 << 10)) + (32 << 20)),
        ] {
            let left = |bytes| Some(MemoryLeft { bytes, bound });
            assert!(check_memory(&plan.steps[0], left(enough_bytes)).is_ok(), "{bound:?}");
            let refused = check_memory(&plan.steps[0], left(enough_bytes - 1));
            let Err(StepFailure::Refused { help, .. }) = refused else { panic!("{bound:?} not refused") };
            assert_eq!(help.id(), "engine-no-memory-help");
        }
    }
}
