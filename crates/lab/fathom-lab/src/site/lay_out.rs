//! New files are written once from start to end before the first step, so that reads touch written space.

use fathom_engine::{HostRunner, HostRunnerOptions, engine_here};
use fathom_host::{Binding, Bindings};
use fathom_message::{Message, Quantity, msg};
use fathom_plan::{
    BlockSize, DataPattern, Durability, EngineName, EngineSpec, FileService, IoOrder, Load, OpMix, Pattern, Phase,
    Placement, Plan, Region, Role, RunLength, ServiceChoice, Spread, Step, TargetId, Workload,
};
use fathom_record::{Progress, RunControl, Runner as _, StepFailure};

use super::SiteControl;

/// Why a file could not be laid out.
#[derive(Debug)]
pub(crate) struct LayOutError {
    /// Which file.
    pub(crate) path: String,
    /// The reason.
    pub(crate) why: Message,
    /// Remedy.
    pub(crate) help: Message,
}

/// Fills new files of one size; an array alone.
///
/// # Errors
/// [`LayOutError`]; a stop is none.
pub(super) fn lay_out(
    files: &[&Binding],
    bound: &Bindings,
    plan: &Plan,
    control: &mut SiteControl<'_>,
) -> Result<(), LayOutError> {
    let must_be_direct = plan.steps.iter().any(|s| s.workload.direct);
    let Some(first) = files.first() else { return Ok(()) };
    let others = if files.len() > 1 { format!(" (+{})", files.len() - 1) } else { String::new() };
    let path = format!("{}{others}", first.path().display());
    let size_bytes = first.made_bytes().unwrap_or(0);
    let total_bytes = size_bytes * files.len() as u64;
    let failed = |why: Message, help: Message| LayOutError { path: path.clone(), why, help };
    let on_progress = &mut *control.on_progress;
    let mut shown = |p: &Progress| {
        let mut shown = in_bytes(p, total_bytes);
        let done = shown.activity.unwrap_or_else(|| Message::verbatim(""));
        shown.activity = Some(msg!("activity-laying-out", path = path.clone(), done = done));
        on_progress(&shown);
    };
    let stop = control.stop;
    let mut run = |region: Region, direct: bool| {
        let bindings = bound.clone();
        let mut runner = HostRunner::new(HostRunnerOptions { bindings, ..HostRunnerOptions::default() });
        let mut control = RunControl { stop, on_progress: &mut shown, precise_enough: &|_, _| false };
        runner.run(&fill_step(files, region, direct, plan), &mut control)
    };
    let tail_bytes = size_bytes % TAIL_UNIT_BYTES;
    let whole = Region { offset_bytes: 0, size_bytes: Some(size_bytes - tail_bytes) };
    let tail = Region { offset_bytes: size_bytes - tail_bytes, size_bytes: Some(tail_bytes) };
    // A partial block at the end goes through the page cache.
    for (region, is_tail) in [(whole, false), (tail, true)].into_iter().filter(|(r, _)| r.size_bytes != Some(0)) {
        // Around the page cache where that can be had, so that buffered steps start cold as well.
        let result = match run(region, !is_tail) {
            Err(StepFailure::Refused { .. }) if !must_be_direct => run(region, false),
            other => other,
        };
        let record = result.map_err(|failure| {
            let (what, why, help) = failure.parts();
            failed(msg!("what-and-why", what = what, why = why), help)
        })?;
        if let Some(failure) = record.failures.first() {
            let source = std::io::Error::from_raw_os_error(failure.errno);
            return Err(failed(Message::verbatim(source.to_string()), msg!("layout-no-space-help")));
        }
    }
    Ok(())
}

/// Bytes behind the last whole multiple of this are written apart.
const TAIL_UNIT_BYTES: u64 = 4096;

fn fill_step(files: &[&Binding], region: Region, direct: bool, plan: &Plan) -> Step {
    const FILL_BLOCK_BYTES: u32 = 1 << 20;
    let size_bytes = region.size_bytes.unwrap_or(0);
    // A size that is no multiple of 1 MiB is filled in the largest block that divides it; what is behind the last block, at
    // once.
    let targets: Vec<TargetId> = files.iter().map(|binding| binding.target().clone()).collect();
    let block = match targets[0].array() {
        // Whole stripes, of which an array has a whole number, cost it least.
        Some(Ok(array)) if array.layout().level().parities() > 0 => array.layout().stripe_bytes() as u32,
        _ if size_bytes < TAIL_UNIT_BYTES => size_bytes as u32,
        _ => FILL_BLOCK_BYTES.min(1 << size_bytes.trailing_zeros().min(20)),
    };
    let first = plan.steps.iter().find(|step| step.targets.contains(&targets[0])).or(plan.steps.first());
    // One after the other, so that each lies in one piece.
    let one_by_one = FileService { choice: ServiceChoice::Sequential, ..FileService::IN_TURNS };
    let is_one = targets.len() == 1;
    let spread = if is_one { Spread::EachTarget } else { Spread::AllTargets };
    // An hour bounds a file system that hangs; a pass over the file ends it normally.
    let length = RunLength { passes: Some(1), ..RunLength::fixed(0, 3_600_000_000_000) };
    Step {
        index: 0,
        label: "fill".into(),
        phase: Phase::Fill,
        group: "fill".into(),
        targets,
        workload: Workload {
            mix: OpMix::WRITE,
            pattern: Pattern::Sequential,
            block_sizes: vec![BlockSize { bytes: block, share_pct: 100 }],
            region,
            data: first.map_or_else(DataPattern::default, |s| s.workload.data),
            verify: None,
            direct,
            drop_cache: false,
            priorities: fathom_plan::Priorities::default(),
            durability: Durability::default(),
            order: IoOrder {
                service: Some(one_by_one).filter(|_| !is_one),
                // The tail begins where it begins, not at a multiple of its length.
                align_bytes: Some(block).filter(|_| region.offset_bytes > 0),
                ..IoOrder::default()
            },
            // As fio: a job that writes one pattern finds it in its files.
            fill: first.filter(|s| s.role.job.is_some()).map_or_else(Vec::new, |s| s.workload.fill.clone()),
        },
        load: Load { spread, ..Load::closed(1, 8) },
        // libaio needs no privilege and is never switched off, so laying out works where io_uring is forbidden.
        engine: engine_here(EngineSpec { name: EngineName::Libaio, ..EngineSpec::default() }),
        memory: fathom_plan::MemoryPolicy::default(),
        placement: Placement::Unpinned,
        length,
        seed: first.map_or(1, |s| s.seed),
        role: Role::default(),
    }
}

/// Bytes that a conditioning pass writes over all targets; `None` for other steps.
pub(super) fn bytes_to_write(step: &Step) -> Option<u64> {
    let conditions = matches!(step.phase, Phase::Fill | Phase::Precondition);
    let passes = step.length.passes.filter(|_| conditions)?;
    Some(step.workload.region.size_bytes? * step.targets.len() as u64 * u64::from(passes))
}

/// Progress of a pass in bytes; the time left follows from the rate, not from the bound on the time, and is not known without a
/// rate.
pub(super) fn in_bytes(progress: &Progress, total_bytes: u64) -> Progress {
    let mut shown = progress.clone();
    let left_bytes = total_bytes.saturating_sub(progress.bytes_done);
    shown.remaining_ns = match progress.bytes_per_s > 0.0 {
        true => progress.remaining_ns.min((left_bytes as f64 / progress.bytes_per_s * 1e9) as u64),
        false => u64::MAX,
    };
    let done = Quantity::bytes(progress.bytes_done.min(total_bytes));
    shown.activity = Some(msg!("activity-written", done = done, total = Quantity::bytes(total_bytes)));
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_language::english;

    #[test]
    fn progress_of_a_pass_is_in_bytes_and_the_time_left_follows_from_the_rate() {
        let progress = Progress {
            elapsed_ns: 2_000_000_000,
            remaining_ns: 3_600_000_000_000,
            iops: 256.0,
            bytes_per_s: f64::from(256 << 20),
            bytes_done: 512 << 20,
            p99_ns: None,
            activity: None,
        };
        let shown = in_bytes(&progress, 2 << 30);
        assert_eq!(shown.activity.as_ref().map(english).as_deref(), Some("512 MiB of 2 GiB written"));
        assert_eq!(shown.remaining_ns, 6_000_000_000);
        let stalled = in_bytes(&Progress { bytes_per_s: 0.0, bytes_done: 3 << 30, ..progress }, 2 << 30);
        assert_eq!(stalled.activity.as_ref().map(english).as_deref(), Some("2 GiB of 2 GiB written"));
        assert_eq!(stalled.remaining_ns, u64::MAX);
    }
}
