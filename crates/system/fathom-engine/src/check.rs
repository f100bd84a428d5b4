//! What no target could run is refused before any is opened.

use fathom_plan::{EngineName, Mode, Pattern, Step};
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
pub(crate) fn check(step: &Step) -> Result<Vec<String>, StepFailure> {
    check_load(step)?;
    check_workload(step)?;
    check_engine(step)?;
    Ok(notes(step))
}

fn check_load(step: &Step) -> Result<(), StepFailure> {
    let (load, length) = (step.load, step.length);
    let depth = load.queue_depth;
    if depth == 0 || depth > QUEUE_DEPTH_MAX {
        return Err(refused(
            format!("queue depth {depth}"),
            format!("it must be 1 to {QUEUE_DEPTH_MAX} per thread"),
            "use more threads for more I/Os in flight",
        ));
    }
    let workers = u64::from(load.threads) * step.targets.len() as u64;
    if load.threads == 0 || workers > u64::from(THREADS_MAX) {
        return Err(refused(
            format!("{} threads on each of {} targets", load.threads, step.targets.len()),
            format!("a step runs 1 to {THREADS_MAX} threads"),
            "choose another number of threads",
        ));
    }
    if step.targets.is_empty() {
        return Err(refused("a step without a target", "there is nothing to measure", "name one with `--target`"));
    }
    if length.budget_ns == 0 {
        return Err(refused("runtime 0", "nothing can be measured in no time", "give `--runtime`, for example 5s"));
    }
    if length.passes == Some(0) {
        return Err(refused("0 passes", "nothing would be done", "use 1 or more"));
    }
    if let Some(rate) = load.rate
        && !(rate.iops.is_finite() && rate.iops > 0.0)
    {
        return Err(refused(
            format!("rate {}", rate.iops),
            "a rate must be above 0",
            "give I/Os per second, for example 20k",
        ));
    }
    if load.batch_submit == Some(0) {
        return Err(refused("batch 0", "at least one I/O is submitted at once", "use 1 or more"));
    }
    Ok(())
}

fn check_workload(step: &Step) -> Result<(), StepFailure> {
    let workload = &step.workload;
    let mix = workload.mix;
    if u32::from(mix.read_pct) + u32::from(mix.write_pct) + u32::from(mix.trim_pct) != 100 {
        return Err(refused("the mix", "shares of read, write and trim do not add up to 100 %", "correct the shares"));
    }
    let shares: u32 = workload.block_sizes.iter().map(|b| u32::from(b.share_pct)).sum();
    if workload.block_sizes.is_empty() || shares != 100 {
        return Err(refused("the block sizes", "their shares do not add up to 100 %", "correct the split"));
    }
    if let Some(bad) = workload.block_sizes.iter().find(|b| b.bytes == 0 || b.bytes > BLOCK_BYTES_MAX) {
        return Err(refused(
            format!("block size {}", bad.bytes),
            format!("it must be 1 to {BLOCK_BYTES_MAX} bytes"),
            "choose another block size",
        ));
    }
    let has_passes = matches!(workload.pattern, Pattern::Random | Pattern::Sequential);
    if step.length.passes.is_some() && !has_passes {
        return Err(refused(
            format!("passes with pattern {:?}", workload.pattern),
            "only `random` and `sequential` touch each block once per pass",
            "give a runtime instead of passes",
        ));
    }
    Ok(())
}

fn check_engine(step: &Step) -> Result<(), StepFailure> {
    let spec = step.engine;
    let word = spec.name.as_str();
    if spec.mode != Mode::Interrupt && !spec.name.is_uring() {
        return Err(refused(
            format!("mode {} of engine {word}", spec.mode.as_str()),
            "only io_uring and io_uring_cmd have modes other than interrupt",
            format!("use `--engine io_uring --mode {}`", spec.mode.as_str()),
        ));
    }
    if spec.mode == Mode::Iopoll && !step.workload.direct {
        return Err(refused("mode iopoll with buffered I/O", "the kernel polls only O_DIRECT I/O", "use `--direct 1`"));
    }
    Ok(())
}

fn notes(step: &Step) -> Vec<String> {
    let mut notes = Vec::new();
    let word = step.engine.name.as_str();
    if step.engine.name.is_synchronous() && step.load.queue_depth > 1 {
        notes.push(format!(
            "engine {word} has one I/O in flight per thread; queue depth {} counts as 1",
            step.load.queue_depth
        ));
    }
    if step.workload.mix.trim_pct > 0 && !step.engine.name.is_synchronous() {
        notes.push(format!("trims are issued one at a time by their own system call, also with engine {word}"));
    }
    if step.length.passes.is_some() && step.length.ramp_ns > 0 {
        notes.push("a step that ends by passes has no ramp: every I/O of the passes is counted".to_owned());
    }
    if step.engine.name == EngineName::Mmap && step.workload.direct {
        notes.push(
            "engine mmap goes through the page cache unless the file is on DAX; O_DIRECT has no meaning for it"
                .to_owned(),
        );
    }
    let data = step.workload.data;
    if step.workload.verify.is_some() && (data.dedupe_pct > 0 || data.compress_pct > 0) {
        notes.push("verified blocks describe themselves: 16 bytes per sector neither repeat nor compress".to_owned());
    }
    notes
}
