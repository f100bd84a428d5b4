//! Conducts a run: prepares targets, runs each step, commits it, and rebuilds the answer from the store.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fathom_engine::{HostProbe, HostRunner, HostRunnerOptions};
use fathom_host::{
    HostFacts, HostSampler, ProbeError, Root, Topology, page_cache_bytes, resolve_placement, unwritten_share,
};
use fathom_model::{Observation, attribute};
use fathom_plan::{
    BlockSize, DataPattern, EngineName, EngineSpec, Load, OpMix, Pattern, Phase, Placement, Plan, Region, RunLength,
    Step, Target, Workload,
};
use fathom_record::{HostDelta, Interval, Progress, RunControl, Runner, StepFailure, StepRecord, Warning};
use fathom_stats::AdaptiveStop;
use fathom_store::{Lab, NewRun, RunId, RunState, StepOutcome, StoreError};

use crate::checks::derived_warnings;
use crate::document::{Document, StepView};
use crate::machine::host_json;
use crate::targets::{Permission, Prepared, TargetError, devices_of, prepare};
use crate::view::{document_of, limit_view, step_view};

/// Window of the idle baseline. The kernel counts CPU time in ticks of 10 ms, so less would say little.
const BASELINE: Duration = Duration::from_millis(500);

/// How to conduct.
#[derive(Clone, Debug, Default)]
pub struct ConductOptions {
    /// Serial numbers of block devices that may be written.
    pub destroy: Vec<String>,
    /// Leave created files in place.
    pub keep_files: bool,
    /// Existing files named as targets may be overwritten.
    pub overwrite_files: bool,
    /// The command as typed, for the report.
    pub command_line: String,
}

/// What happens, for whoever shows it.
#[derive(Debug)]
pub enum Event<'a> {
    /// The run has its number.
    RunStarted {
        /// Number in the lab.
        run: RunId,
        /// What will be done.
        plan: &'a Plan,
    },
    /// Something worth a line.
    Note(&'a str),
    /// Something before or between steps that takes time.
    Activity(&'a Progress),
    /// A step begins.
    StepStarted(&'a Step),
    /// A step goes on.
    StepProgress(&'a Step, &'a Progress),
    /// A step was committed.
    StepEnded(&'a StepView),
}

/// Why a run could not be conducted. What was committed stays.
#[derive(Debug, thiserror::Error)]
pub enum ConductError {
    /// A target cannot be measured; nothing was written.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The host cannot be looked at.
    #[error("cannot read this machine's own counters: {0}")]
    Host(#[from] ProbeError),
    /// The lab database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file could not be filled.
    #[error("cannot lay out {path}: {why}")]
    Layout {
        /// Which.
        path: String,
        /// Why.
        why: String,
        /// Remedy.
        help: String,
    },
}

/// How a run ended.
#[derive(Debug)]
pub struct RunOutcome {
    /// Number in the lab.
    pub run: RunId,
    /// Rebuilt from the store.
    pub document: Document,
    /// Whether the user stopped it.
    pub interrupted: bool,
    /// Steps that were refused or failed, or had failed I/Os or damaged data.
    pub bad_steps: u32,
}

/// Runs `plan` from its first step to its last, or until `stop` is set.
///
/// # Errors
/// [`ConductError`]. A refused or failed step is not an error: it is committed as such and the run goes on.
pub fn conduct(
    lab: &mut Lab,
    plan: &Plan,
    options: &ConductOptions,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<RunOutcome, ConductError> {
    let prepared = prepare(plan, &permission(options, false))?;
    let plan = &prepared.executed(plan);
    let mut targets: Vec<&Path> =
        plan.steps.iter().flat_map(|s| &s.targets).map(|t| Path::new(&t.path)).filter(|p| p.exists()).collect();
    targets.sort();
    targets.dedup();
    let facts = HostFacts::collect(&Root::live(), &targets)?;
    let host_json = host_json(&Root::live(), &facts);
    let run = lab.begin_run(&NewRun {
        study: &plan.study.name,
        question: &plan.study.question,
        plan,
        host_json: &host_json,
        fathom_version: env!("CARGO_PKG_VERSION"),
        started_unix_ns: unix_ns(),
        command_line: &options.command_line,
    })?;
    on_event(Event::RunStarted { run, plan });
    for note in plan.notes.iter().chain(&prepared.notes) {
        on_event(Event::Note(note));
    }
    let mut conductor =
        Conductor { lab, run, stop, prepared: &prepared, topology: &facts.topology, baseline: None, seen: Vec::new() };
    let result = conductor.steps(plan, on_event);
    let state = match &result {
        Err(_) => RunState::Failed,
        Ok(_) if stop.load(Ordering::Relaxed) => RunState::Interrupted,
        Ok(_) => RunState::Finished,
    };
    lab.finish_run(run, state, unix_ns())?;
    let bad_steps = result?;
    let document = document_of(lab, run)?;
    Ok(RunOutcome { run, document, interrupted: state == RunState::Interrupted, bad_steps })
}

/// Looks whether every target of the plan can be measured, without making, opening or keeping anything.
///
/// # Errors
/// [`TargetError`], as [`conduct`] would give it.
pub fn check_targets(plan: &Plan, options: &ConductOptions) -> Result<(), TargetError> {
    prepare(plan, &permission(options, true)).map(|_| ())
}

fn permission(options: &ConductOptions, look_only: bool) -> Permission<'_> {
    Permission {
        destroy: &options.destroy,
        keep: options.keep_files,
        look_only,
        overwrite_files: options.overwrite_files,
    }
}

struct Conductor<'a> {
    lab: &'a mut Lab,
    run: RunId,
    stop: &'a AtomicBool,
    prepared: &'a Prepared,
    topology: &'a Topology,
    /// Idle CPU time and its window, once taken.
    baseline: Option<HostDelta>,
    /// Steps measured so far: neighbours of the next one.
    seen: Vec<Observation>,
}

impl Conductor<'_> {
    fn steps(&mut self, plan: &Plan, on_event: &mut dyn FnMut(Event<'_>)) -> Result<u32, ConductError> {
        for (path, size_bytes) in &self.prepared.to_fill {
            if let Err(error) = self.fill(path, *size_bytes, plan, on_event) {
                self.give_up(plan, &error)?;
                return Err(error);
            }
        }
        // One step by hand starts at once and takes its baseline afterwards; a study can afford to wait first.
        if plan.steps.len() > 1 && !self.stopped() {
            self.baseline = Some(take_baseline()?);
        }
        let mut bad = 0;
        for step in &plan.steps {
            if self.stopped() {
                break;
            }
            on_event(Event::StepStarted(step));
            bad += u32::from(self.step(step, on_event)?);
        }
        Ok(bad)
    }

    /// Without its files no step can run: each is kept with the reason, for a refused result is a result.
    fn give_up(&mut self, plan: &Plan, error: &ConductError) -> Result<(), ConductError> {
        let ConductError::Layout { path, why, help } = error else { return Ok(()) };
        for step in &plan.steps {
            let what = format!("laying out {path}");
            self.lab.commit_step(
                self.run,
                step,
                &StepOutcome::Refused { what, why: why.clone(), help: help.clone() },
            )?;
        }
        Ok(())
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Runs and commits one step; true when it went wrong.
    fn step(&mut self, step: &Step, on_event: &mut dyn FnMut(Event<'_>)) -> Result<bool, ConductError> {
        let result = self.measure(step, &mut |p| on_event(Event::StepProgress(step, p)));
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
        let mut view = step_view(step, &outcome);
        if let Ok(record) = &result {
            self.seen.push(Observation::of(step, record));
            view.limit = limit_view(attribute(&self.seen, self.seen.len() - 1));
        }
        on_event(Event::StepEnded(&view));
        Ok(match &result {
            Ok(r) => r.errors() > 0 || r.warnings.iter().any(|w| matches!(w, Warning::VerifyFailed { .. })),
            Err(_) => true,
        })
    }

    fn measure(&mut self, step: &Step, on_progress: &mut dyn FnMut(&Progress)) -> Result<StepRecord, StepFailure> {
        let threads = step.load.threads * step.targets.len() as u32;
        let devices = if step.engine.name == EngineName::Null { Vec::new() } else { devices_of(step) };
        let node = devices.first().and_then(|d| d.numa_node);
        let cpus = resolve_placement(self.topology, &step.placement, threads, node).map_err(|e| {
            StepFailure::Refused { what: step.label.clone(), why: e.to_string(), help: e.help().to_owned() }
        })?;
        let names = devices.into_iter().map(|d| d.name).collect();
        let probe = Probe(HostSampler::new(&Root::live(), names).map_err(|e| probe_failure(&e))?);
        let mut runner = HostRunner::new(HostRunnerOptions { cpus, probe: Some(Box::new(probe)) });
        let stopper = AdaptiveStop::new();
        let precise_enough = |intervals: &[Interval], step: &Step| stopper.may_stop(intervals, step);
        let mut control = RunControl { stop: self.stop, on_progress, precise_enough: &precise_enough };
        let mut record = runner.run(step, &mut control)?;
        self.complete(step, &mut record).map_err(|e| probe_failure(&e))?;
        Ok(record)
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
            let cached: Option<u64> = files.iter().map(|(f, len)| page_cache_bytes(f, *len).ok()).sum();
            host.page_cache_bytes = cached.filter(|_| !files.is_empty());
        }
        let files_bytes: u64 = files.iter().map(|(_, len)| len).sum();
        let footprint = match region.size_bytes {
            Some(size) => Some(size * step.targets.len() as u64),
            None => (files_bytes > 0).then_some(files_bytes),
        };
        let unwritten_pct = files
            .iter()
            .filter_map(|(f, len)| unwritten_share(f, region.offset_bytes, region.size_bytes.unwrap_or(*len)).ok())
            .map(|u| u.pct())
            .reduce(f64::max);
        record.warnings.extend(derived_warnings(step, record, footprint, unwritten_pct));
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
            let mut shown = p.clone();
            shown.activity = Some(format!("laying out {} ({} MiB)", path.display(), size_bytes >> 20));
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

fn probe_failure(error: &ProbeError) -> StepFailure {
    StepFailure::Failed {
        what: "cannot sample this machine".to_owned(),
        source: std::io::Error::other(error.to_string()),
        help: "mount /proc and /sys, or run outside the sandbox that hides them".to_owned(),
    }
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
        role: fathom_plan::Role::default(),
    }
}

struct Probe(HostSampler);

impl HostProbe for Probe {
    // The trait has no errors: a sample that cannot be had leaves `finish` without a result, and the record says so.
    fn begin(&mut self) {
        let _ = self.0.begin();
    }

    fn interval(&mut self) {
        let _ = self.0.interval();
    }

    fn finish(&mut self, window_ns: u64) -> Option<HostDelta> {
        self.0.finish(window_ns).ok()
    }
}

fn take_baseline() -> Result<HostDelta, ProbeError> {
    let mut sampler = HostSampler::new(&Root::live(), Vec::new())?;
    sampler.take_baseline(BASELINE)?;
    sampler.begin()?;
    sampler.finish(1)
}

fn unix_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64)
}
