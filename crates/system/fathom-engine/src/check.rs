//! What no target could run is refused before any is opened.

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
    Ok(notes(step))
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
    if let Some(rate) = load.rate
        && !(rate.iops.is_finite() && rate.iops > 0.0)
    {
        let what = msg!("engine-rate", rate = rate.iops.to_string());
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
