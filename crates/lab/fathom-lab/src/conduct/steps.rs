//! The steps of a run, one after the other: each is run, completed, judged and committed.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fathom_engine::{HostRunner, HostRunnerOptions};
use fathom_host::{
    DeviceKind, HostSampler, ProbeError, Root, Topology, WriteConsent, page_cache_bytes, resolve_placement,
    unwritten_share, whole_device_of,
};
use fathom_model::{Observation, attribute};
use fathom_plan::{
    BlockSize, DataPattern, EngineName, EngineSpec, Load, OpMix, Pattern, Phase, Placement, Plan, Region, Role,
    RunLength, STEP_NS_MIN, Step, Target, Workload,
};
use fathom_record::{HostDelta, Interval, Progress, RunControl, Runner, StepFailure, StepRecord, Warning};
use fathom_stats::AdaptiveStop;
use fathom_store::{Lab, RunId, StepOutcome};
use fathom_units::format_bytes;

use super::loops::Loops;
use super::runners::{probe_failure, runner_for};
use super::settings::Settings;
use super::simulation::Simulation;
use super::{ConductError, ConductOptions, Event, Renumbered, is_cut, purge, unix_ns};
use crate::checks::{derived_warnings, slow_members};
use crate::proof::{disproof, refuse_unpollable};
use crate::targets::{Prepared, devices_of};
use crate::view::{limit_view, step_view};

/// Most that a step is stretched to use time that others left.
const STRETCH_MAX: f64 = 2.0;
/// Share of a time budget that the steps may use: preparing comes before them, and the answer after them.
const STEPS_SHARE: f64 = 0.99;
/// Wall time that a step is taken to need beside its length until steps have told.
const EXTRA_GUESS: Duration = Duration::from_millis(100);
/// Window of the idle baseline. The kernel counts CPU time in ticks of 10 ms, so less would say little.
const BASELINE: Duration = Duration::from_millis(500);

/// Conducts the steps of one run.
pub(super) struct Conductor<'a> {
    pub(super) lab: &'a mut Lab,
    pub(super) run: RunId,
    stop: &'a AtomicBool,
    to_fill: Vec<(PathBuf, u64)>,
    topology: &'a Topology,
    /// Idle CPU time and its window, once taken.
    baseline: Option<HostDelta>,
    /// Steps measured so far: neighbours of the next one.
    seen: Vec<Observation>,
    loops: Loops,
    /// Steps that ended before this process took over.
    done: BTreeSet<u32>,
    /// Targets that have other names now than in the plan.
    renumbered: Renumbered,
    settings: Settings,
    /// What the guard lets be written.
    consents: &'a [WriteConsent],
    /// The simulated machine that takes the steps instead of this one.
    simulation: Option<Simulation>,
    pub(super) deadline: Option<Instant>,
    predict: bool,
    explain: bool,
    /// Steps that were predicted.
    pub(super) foretold: BTreeSet<u32>,
    /// Time the steps so far took beyond their lengths, and their number.
    extra: (Duration, u32),
}

impl<'a> Conductor<'a> {
    /// Takes note of the steps that ended already.
    ///
    /// # Errors
    /// The lab cannot be read.
    pub(super) fn new(
        lab: &'a mut Lab,
        run: RunId,
        stop: &'a AtomicBool,
        prepared: &'a Prepared,
        topology: &'a Topology,
        options: &ConductOptions,
    ) -> Result<Self, ConductError> {
        let started_unix_ns = lab.load_head(run)?.summary.started_unix_ns;
        let simulation = prepared.simulated.as_ref().map(|machine| Simulation::new(machine, started_unix_ns));
        // Wall time says nothing about virtual time; the plan was scaled to the budget before.
        let is_real = simulation.is_none();
        let mut conductor = Conductor {
            lab,
            run,
            stop,
            to_fill: prepared.to_fill.clone(),
            topology,
            baseline: None,
            seen: Vec::new(),
            loops: Loops::default(),
            done: BTreeSet::new(),
            renumbered: prepared.renumbered.clone(),
            settings: Settings::new(&options.journal_dir, &options.command_line),
            consents: prepared.consents(),
            simulation,
            deadline: options.time_budget_ns.filter(|_| is_real).map(|ns| {
                let for_steps = Duration::from_nanos(ns).mul_f64(STEPS_SHARE);
                Instant::now() + for_steps
            }),
            extra: (Duration::ZERO, 0),
            predict: options.predict,
            explain: options.explain,
            foretold: BTreeSet::new(),
        };
        conductor.recall()?;
        Ok(conductor)
    }

    fn recall(&mut self) -> Result<(), ConductError> {
        self.foretold = self.lab.predictions(self.run)?.iter().flat_map(|p| &p.steps).map(|s| s.index).collect();
        for index in self.lab.step_indexes(self.run)? {
            let stored = self.lab.load_step(self.run, index)?;
            let record = stored.outcome.record();
            if record.is_some_and(is_cut) {
                // Half a step is none: it is measured again, and must not be counted twice.
                self.lab.drop_step(self.run, index)?;
                continue;
            }
            if let (Some(simulation), Some(record)) = (&mut self.simulation, record) {
                simulation.recall(&stored.step, record, self.stop).map_err(|e| ConductError::NotAgain {
                    run: self.run,
                    step: stored.step.label.clone(),
                    why: e.to_string(),
                })?;
            }
            self.loops.begin(&stored.step);
            self.loops.take(&stored.step, record);
            if let Some(record) = record.filter(|_| stored.step.phase == Phase::Measure) {
                self.seen.push(Observation::of(&stored.step, record));
            }
            self.done.insert(index);
        }
        Ok(())
    }

    /// Runs what is left of the plan; the number of steps that went wrong.
    ///
    /// # Errors
    /// [`ConductError`]; settings that were changed are put back first.
    pub(super) fn steps(&mut self, plan: &Plan, on_event: &mut dyn FnMut(Event<'_>)) -> Result<u32, ConductError> {
        let mut result = self.all_steps(plan, on_event);
        if self.explain && !self.stopped() {
            result = result.and_then(|bad| Ok(bad + self.explain(plan, on_event)?));
        }
        self.settings.restore()?;
        result
    }

    fn all_steps(&mut self, plan: &Plan, on_event: &mut dyn FnMut(Event<'_>)) -> Result<u32, ConductError> {
        for (path, size_bytes) in std::mem::take(&mut self.to_fill) {
            if let Err(error) = self.fill(&path, size_bytes, plan, on_event) {
                self.give_up(plan, &error)?;
                return Err(error);
            }
        }
        // One step by hand starts at once and takes its baseline afterwards; a study can afford to wait first.
        if plan.steps.len() > 1 && self.simulation.is_none() && !self.stopped() {
            self.baseline = Some(take_baseline()?);
        }
        let mut bad = 0;
        for (at, step) in plan.steps.iter().enumerate() {
            if self.stopped() {
                break;
            }
            if self.is_over(step) {
                continue;
            }
            if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) && self.loops.out_of_time(step) {
                on_event(Event::Note("the time budget is used up: no further rounds of this loop"));
                continue;
            }
            self.loops.begin(step);
            if self.predict && step.phase == Phase::Measure {
                self.foretell(&plan.steps[at..], on_event)?;
            }
            let measured = self.seen.iter().map(|o| (o.step(), o.iops()));
            let step = &self.within_budget(step, &plan.steps[at..]).with_rate_of(measured);
            on_event(Event::StepStarted(step));
            bad += u32::from(self.step(step, on_event)?);
        }
        Ok(bad)
    }

    /// Whether the step ended before, or its loop is steady.
    fn is_over(&self, step: &Step) -> bool {
        self.done.contains(&step.index) || self.loops.is_over(step)
    }

    /// The step, shortened when the steps from it on would take longer than there is time; longer, up to twice, when
    /// steps before it were refused or ended early. Rounds of a loop stay as long as each other.
    fn within_budget(&self, step: &Step, from_here: &[Step]) -> Step {
        let mut step = step.clone();
        let Some(deadline) = self.deadline else { return step };
        let left_ns = deadline.saturating_duration_since(Instant::now()).as_nanos() as f64;
        let (extra, steps) = self.extra;
        // Before the first steps told, each is taken to need a little beside its length.
        let extra_ns = (extra + EXTRA_GUESS).as_nanos() as f64 / f64::from(steps + 1);
        let rest = from_here.iter().filter(|s| !self.is_over(s));
        let (needed_ns, count) =
            rest.fold((0.0, 0.0), |(ns, n), s| (ns + (s.length.ramp_ns as f64) + s.length.budget_ns as f64, n + 1.0));
        let most = if step.phase == Phase::Measure && step.role.round.is_none() { STRETCH_MAX } else { 1.0 };
        let share = ((left_ns - count * extra_ns) / needed_ns.max(1.0)).clamp(0.0, most);
        let l = &mut step.length;
        let part = |ns: u64| (ns as f64 * share) as u64;
        let is_fixed = l.floor_ns == l.budget_ns;
        l.ramp_ns = part(l.ramp_ns);
        let least_ns = l.budget_ns.min(STEP_NS_MIN);
        l.budget_ns = part(l.budget_ns).max(least_ns);
        let floor_ns = if is_fixed { l.budget_ns } else { part(l.floor_ns).min(l.floor_ns) };
        l.floor_ns = floor_ns.clamp(least_ns.min(l.floor_ns), l.budget_ns);
        step
    }

    /// Without its files no step can run: each is kept with the reason, for a refused result is a result.
    fn give_up(&mut self, plan: &Plan, error: &ConductError) -> Result<(), ConductError> {
        let ConductError::Layout { path, why, help } = error else { return Ok(()) };
        for step in plan.steps.iter().filter(|s| !self.done.contains(&s.index)) {
            let what = format!("laying out {path}");
            let outcome = StepOutcome::Refused { what, why: why.clone(), help: help.clone() };
            self.lab.commit_step(self.run, step, &outcome)?;
        }
        Ok(())
    }

    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Runs and commits one step; true when it went wrong.
    pub(super) fn step(&mut self, step: &Step, on_event: &mut dyn FnMut(Event<'_>)) -> Result<bool, ConductError> {
        let begun = Instant::now();
        let result = self.under_settings(step, &mut |p| on_event(Event::StepProgress(step, p)))?;
        let outcome = match &result {
            Ok(record) => StepOutcome::Measured(record),
            Err(StepFailure::Refused { what, why, help }) => {
                StepOutcome::Refused { what: what.clone(), why: why.clone(), help: help.clone() }
            }
            Err(StepFailure::Failed { what, source, help }) => {
                StepOutcome::Failed { what: what.clone(), why: source.to_string(), help: help.clone() }
            }
        };
        self.lab.commit_step(self.run, step, &outcome)?;
        let record = result.as_ref().ok();
        if self.loops.take(step, record) {
            on_event(Event::Steady(step));
        }
        let mut view = step_view(step, &outcome);
        if let Some(record) = record.filter(|_| step.phase == Phase::Measure) {
            self.seen.push(Observation::of(step, record));
            view.limit = limit_view(attribute(&self.seen, self.seen.len() - 1));
        }
        on_event(Event::StepEnded(&view));
        let measured_ns = record.map_or(0, |r| r.runtime_ns) + step.length.ramp_ns;
        self.extra.0 += begun.elapsed().saturating_sub(Duration::from_nanos(measured_ns));
        self.extra.1 += 1;
        Ok(match &result {
            Ok(r) => r.errors() > 0 || r.warnings.iter().any(|w| matches!(w, Warning::VerifyFailed { .. })),
            Err(_) => true,
        })
    }

    /// Runs the step with the settings that it wants in force; on the drives that it means, whatever they are called now.
    pub(super) fn under_settings(
        &mut self,
        step: &Step,
        on_progress: &mut dyn FnMut(&Progress),
    ) -> Result<Result<StepRecord, StepFailure>, ConductError> {
        if let Err(failure) = refuse_missing_rate(step) {
            return Ok(Err(failure));
        }
        if let Some(simulation) = &mut self.simulation {
            return Ok(refuse_missing_drives(step).and_then(|()| simulation.run(step, self.stop, on_progress)));
        }
        let result = self.on_this_machine(&self.renumbered.step_now(step), on_progress)?;
        Ok(match result {
            Ok(mut record) => {
                self.renumbered.name_as_then(step, &mut record);
                Ok(record)
            }
            Err(failure) => Err(self.renumbered.explain(step, failure)),
        })
    }

    /// Runs a step whose targets have the names of today.
    fn on_this_machine(
        &mut self,
        step: &Step,
        on_progress: &mut dyn FnMut(&Progress),
    ) -> Result<Result<StepRecord, StepFailure>, ConductError> {
        let devices: Vec<String> = match step.role.settings.is_empty() {
            true => Vec::new(),
            false => devices_of(step).into_iter().map(|d| d.name).collect(),
        };
        let in_force = match self.settings.ensure(&step.role.settings, &devices)? {
            Ok(in_force) => in_force,
            Err(failure) => return Ok(Err(failure)),
        };
        Ok(self.run_step(step, on_progress).map(|mut record| {
            record.features.extend(in_force);
            record
        }))
    }

    fn run_step(&mut self, step: &Step, on_progress: &mut dyn FnMut(&Progress)) -> Result<StepRecord, StepFailure> {
        refuse_missing_drives(step)?;
        if step.phase == Phase::Purge {
            let mut control = RunControl { stop: self.stop, on_progress, precise_enough: &|_, _| false };
            return purge::purge(step, self.consents, &mut control, unix_ns());
        }
        let Some(total_bytes) = bytes_to_write(step) else { return self.measure(step, on_progress) };
        let mut record = self.measure(step, &mut |p| on_progress(&in_bytes(p, total_bytes)))?;
        let done_pct = record.bytes() as f64 / total_bytes as f64 * 100.0;
        if done_pct < 99.5 && !is_cut(&record) && record.errors() == 0 {
            record.warnings.push(Warning::CutShort { done_pct });
        }
        Ok(record)
    }

    fn measure(&mut self, step: &Step, on_progress: &mut dyn FnMut(&Progress)) -> Result<StepRecord, StepFailure> {
        let threads = step.load.threads * step.targets.len() as u32;
        let devices = if step.engine.name == EngineName::Null { Vec::new() } else { devices_of(step) };
        let node = devices.first().and_then(|d| d.numa_node);
        let cpus = resolve_placement(self.topology, &step.placement, threads, node).map_err(|e| {
            StepFailure::Refused { what: step.label.clone(), why: e.to_string(), help: e.help().to_owned() }
        })?;
        refuse_unpollable(step, &devices)?;
        let cached_before = cached_bytes(&open_files(step));
        let mut runner = runner_for(cpus, devices.into_iter().map(|d| d.name).collect())?;
        let stopper = AdaptiveStop::new();
        let precise_enough = |intervals: &[Interval], step: &Step| stopper.may_stop(intervals, step);
        let mut control = RunControl { stop: self.stop, on_progress, precise_enough: &precise_enough };
        let mut record = runner.run(step, &mut control)?;
        self.complete(step, &mut record).map_err(|e| probe_failure(&e))?;
        disproof(step, &record, cached_before).map_or(Ok(record), Err)
    }

    /// Adds what only the conductor knows: baseline, cache state, and the warnings that follow.
    fn complete(&mut self, step: &Step, record: &mut StepRecord) -> Result<(), ProbeError> {
        if self.baseline.is_none() && !self.stopped() {
            self.baseline = Some(take_baseline()?);
        }
        let files = open_files(step);
        let region = step.workload.region;
        if let Some(host) = &mut record.host {
            if let Some(baseline) = &self.baseline {
                host.idle_baseline = baseline.idle_baseline;
                host.idle_baseline_window_ns = baseline.idle_baseline_window_ns;
            }
            host.page_cache_bytes = cached_bytes(&files);
        }
        let files_bytes: u64 = files.iter().map(|(_, len)| len).sum();
        let footprint = match region.size_bytes {
            Some(size) => Some(size * step.targets.len() as u64),
            None => (files_bytes > 0).then_some(files_bytes),
        };
        let shown_by_loops = files_shown_by_loops(step);
        let unwritten_pct = files
            .iter()
            .chain(&shown_by_loops)
            .filter_map(|(f, len)| unwritten_share(f, region.offset_bytes, region.size_bytes.unwrap_or(*len)).ok())
            .map(|u| u.pct())
            .reduce(f64::max);
        record.warnings.extend(derived_warnings(step, record, footprint, unwritten_pct));
        record.warnings.extend(slow_members(record));
        Ok(())
    }

    /// Writes a new file once from start to end, so that reads touch written space.
    fn fill(
        &self,
        path: &Path,
        size_bytes: u64,
        plan: &Plan,
        on_event: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), ConductError> {
        let must_be_direct = plan.steps.iter().any(|s| s.workload.direct);
        let failed = |why: String, help: &str| ConductError::Layout {
            path: path.display().to_string(),
            why,
            help: help.to_owned(),
        };
        let mut on_progress = |p: &Progress| {
            let mut shown = in_bytes(p, size_bytes);
            let written = shown.activity.unwrap_or_default();
            shown.activity = Some(format!("laying out {}: {written}", path.display()));
            on_event(Event::Activity(&shown));
        };
        let mut run = |direct: bool| {
            let mut runner = HostRunner::new(HostRunnerOptions { cpus: Vec::new(), probe: None });
            let mut control =
                RunControl { stop: self.stop, on_progress: &mut on_progress, precise_enough: &|_, _| false };
            runner.run(&fill_step(path, size_bytes, direct, plan), &mut control)
        };
        // Around the page cache where that can be had, so that buffered steps start cold as well.
        let result = match run(true) {
            Err(StepFailure::Refused { .. }) if !must_be_direct => run(false),
            other => other,
        };
        let record = result.map_err(|e| match e {
            StepFailure::Refused { what, why, help } => failed(format!("{what}: {why}"), &help),
            StepFailure::Failed { what, source, help } => failed(format!("{what}: {source}"), &help),
        })?;
        if let Some(failure) = record.failures.first() {
            let source = std::io::Error::from_raw_os_error(failure.errno);
            return Err(failed(source.to_string(), "free space on the file system, or ask for a smaller --size"));
        }
        Ok(())
    }
}

/// A step over more drives than its group has is refused by name, not left out in silence.
fn refuse_missing_drives(step: &Step) -> Result<(), StepFailure> {
    let Some(wanted) = step.role.devices.filter(|n| *n as usize > step.targets.len()) else { return Ok(()) };
    Err(StepFailure::Refused {
        what: step.label.clone(),
        why: format!("it wants {wanted} drives and group {} has {}", step.group, step.targets.len()),
        help: "name more drives with --target, or leave the step out: --set devices=[...]".to_owned(),
    })
}

/// A share of what was not measured is no rate; without one the step would be a closed loop under the name of another.
fn refuse_missing_rate(step: &Step) -> Result<(), StepFailure> {
    let Some(share) = step.missing_rate() else { return Ok(()) };
    Err(StepFailure::Refused {
        what: step.label.clone(),
        why: format!("its rate is {} % of what a closed loop of the same load gave, and none was measured", share.pct),
        help: "see why those steps were refused or failed, or give rates in IOPS: --only LADDER --set rate_iops=[20000, 40000]"
            .to_owned(),
    })
}

/// Bytes that a conditioning pass writes over all targets; `None` for other steps.
fn bytes_to_write(step: &Step) -> Option<u64> {
    let conditions = matches!(step.phase, Phase::Fill | Phase::Precondition);
    let passes = step.length.passes.filter(|_| conditions)?;
    Some(step.workload.region.size_bytes? * step.targets.len() as u64 * u64::from(passes))
}

/// Progress of a pass in bytes; the time left follows from the rate, not from the bound on the time.
fn in_bytes(progress: &Progress, total_bytes: u64) -> Progress {
    let mut shown = progress.clone();
    let left_bytes = total_bytes.saturating_sub(progress.bytes_done);
    if progress.bytes_per_s > 0.0 {
        let needed_ns = left_bytes as f64 / progress.bytes_per_s * 1e9;
        shown.remaining_ns = shown.remaining_ns.min(needed_ns as u64);
    }
    shown.activity = Some(format!(
        "{} of {} written",
        format_bytes(progress.bytes_done.min(total_bytes)),
        format_bytes(total_bytes)
    ));
    shown
}

/// What the page cache holds of the files; `None` without files, or where the kernel does not tell.
fn cached_bytes(files: &[(File, u64)]) -> Option<u64> {
    let cached: Option<u64> = files.iter().map(|(f, len)| page_cache_bytes(f, *len).ok()).sum();
    cached.filter(|_| !files.is_empty())
}

/// The step's regular files with their lengths; devices have neither page cache of ours nor extents.
fn open_files(step: &Step) -> Vec<(File, u64)> {
    step.targets
        .iter()
        .filter_map(|t| {
            let meta = std::fs::metadata(&t.path).ok().filter(std::fs::Metadata::is_file)?;
            Some((File::open(&t.path).ok()?, meta.len()))
        })
        .collect()
}

/// The files that the step's loop devices show from start to end: space that was never written in them is read without
/// touching a drive, just as in a file that is a target itself.
fn files_shown_by_loops(step: &Step) -> Vec<(File, u64)> {
    let shown = |target: &Target| {
        let device = whole_device_of(&Root::live(), Path::new(&target.path)).ok()?;
        let is_device = std::fs::metadata(&target.path).is_ok_and(|m| m.file_type().is_block_device());
        let path = device.slaves.first().filter(|_| is_device && device.kind == DeviceKind::Loop)?;
        let file = File::open(path).ok()?;
        let len = file.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
        // A partition, or a window into the file, has other offsets than the file.
        (device.partition.is_none() && len == device.size_bytes).then_some((file, len))
    };
    step.targets.iter().filter_map(shown).collect()
}

fn fill_step(path: &Path, size_bytes: u64, direct: bool, plan: &Plan) -> Step {
    const FILL_BLOCK_BYTES: u32 = 1 << 20;
    // A size that is no multiple of 1 MiB is filled in the largest block that divides it.
    let block = FILL_BLOCK_BYTES.min(1 << size_bytes.trailing_zeros().min(20));
    let first = plan.steps.first();
    // An hour bounds a file system that hangs; a pass over the file ends it normally.
    let length = RunLength { passes: Some(1), ..RunLength::fixed(0, 3_600_000_000_000) };
    Step {
        index: 0,
        label: "fill".into(),
        phase: Phase::Fill,
        group: "fill".into(),
        targets: vec![Target { path: path.to_string_lossy().into_owned() }],
        workload: Workload {
            mix: OpMix::WRITE,
            pattern: Pattern::Sequential,
            block_sizes: vec![BlockSize { bytes: block, share_pct: 100 }],
            region: Region { offset_bytes: 0, size_bytes: Some(size_bytes) },
            data: first.map_or(DataPattern { compress_pct: 0, dedupe_pct: 0 }, |s| s.workload.data),
            verify: None,
            direct,
        },
        load: Load { threads: 1, queue_depth: 8, batch_submit: None, batch_complete_min: None, rate: None },
        // libaio needs no privilege and is never switched off, so laying out works where io_uring is forbidden.
        engine: EngineSpec { name: EngineName::Libaio, ..EngineSpec::default() },
        placement: Placement::Unpinned,
        length,
        seed: first.map_or(1, |s| s.seed),
        role: Role::default(),
    }
}

fn take_baseline() -> Result<HostDelta, ProbeError> {
    let mut sampler = HostSampler::new(&Root::live(), Vec::new())?;
    sampler.take_baseline(BASELINE)?;
    sampler.begin()?;
    sampler.finish(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_of_a_pass_is_in_bytes_and_the_time_left_follows_from_the_rate() {
        let progress = Progress {
            elapsed_ns: 2_000_000_000,
            remaining_ns: u64::MAX,
            iops: 256.0,
            bytes_per_s: f64::from(256 << 20),
            bytes_done: 512 << 20,
            p99_ns: None,
            activity: None,
        };
        let shown = in_bytes(&progress, 2 << 30);
        assert_eq!(shown.activity.as_deref(), Some("512 MiB of 2 GiB written"));
        assert_eq!(shown.remaining_ns, 6_000_000_000);
        let still = in_bytes(&Progress { bytes_per_s: 0.0, bytes_done: 3 << 30, ..progress }, 2 << 30);
        assert_eq!((still.activity.as_deref(), still.remaining_ns), (Some("2 GiB of 2 GiB written"), u64::MAX));
    }

    #[test]
    fn a_step_without_the_rate_it_is_a_share_of_is_refused_by_name() {
        let mut step = crate::samples::step();
        assert!(refuse_missing_rate(&step).is_ok());
        let process = fathom_plan::RateProcess::Poisson;
        step.role.rate_share = Some(fathom_plan::RateShare { pct: 75, process });
        let Err(StepFailure::Refused { what, why, help }) = refuse_missing_rate(&step) else { panic!("not refused") };
        assert_eq!(what, step.label);
        assert_eq!(why, "its rate is 75 % of what a closed loop of the same load gave, and none was measured");
        assert!(help.contains("--set rate_iops="), "{help}");
        step.load.rate = Some(fathom_plan::Rate { iops: 100.0, process });
        assert!(refuse_missing_rate(&step).is_ok());
    }
}
