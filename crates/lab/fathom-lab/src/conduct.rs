//! Conducts a run: prepares targets, runs each step, commits it, and rebuilds the answer from the store.

mod explain;
mod foretell;
mod loops;
mod purge;
mod renumbered;
mod runners;
mod same_host;
mod settings;
mod simulation;
mod steps;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use fathom_host::settings::SettingError;
use fathom_host::{HostFacts, ProbeError, Root};
use fathom_plan::{Phase, Plan, Step};
use fathom_record::Progress;
use fathom_store::{Lab, NewRun, RunHead, RunId, RunState, StoreError, StoredPrediction};

use crate::document::{Document, StepView};
use crate::machine::host_json;
use crate::targets::{Permission, Prepared, TargetError, prepare};
use crate::view::document_of;
use loops::is_cut;
pub(crate) use renumbered::Renumbered;
use steps::Conductor;

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
    /// Folder of the journal of changed settings; made when a plan changes any.
    pub journal_dir: PathBuf,
    /// Wall time for all steps together: a step that would end later is shortened.
    pub time_budget_ns: Option<u64>,
    /// Screen each ladder for some seconds and predict it before it is measured.
    pub predict: bool,
    /// After the plan, run the probes that limits lack for being confirmed.
    pub explain: bool,
}

/// What happens, for whoever shows it.
#[derive(Debug)]
pub enum Event<'a> {
    /// The run has its number.
    RunStarted {
        /// Number in the lab.
        run: RunId,
        /// What will be done, by the paths that are opened.
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
    /// The loop of this step has become steady with it: its later rounds are not run.
    Steady(&'a Step),
    /// These steps were predicted; the prediction is stored.
    Predicted(&'a [Step], &'a StoredPrediction),
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
    /// The run that is to go on began on another machine, or with other drives.
    #[error("run {run} cannot go on here: {}", differences.join("; "))]
    OtherHost {
        /// Which run.
        run: RunId,
        /// What differs.
        differences: Vec<String>,
    },
    /// Drives of the run that is to be done again are not here, or not to be told from others.
    #[error("run {run} cannot be done again with its own drives: {}", lost.join("; "))]
    DrivesGone {
        /// Which run.
        run: RunId,
        /// A sentence for each.
        lost: Vec<String>,
    },
    /// The run that is to go on stands on a file that is gone.
    #[error("run {run} cannot go on: {path}, which it had conditioned, is gone")]
    Gone {
        /// Which run.
        run: RunId,
        /// Which file.
        path: String,
    },
    /// The simulated run that is to go on holds a step that its machine cannot do again, so that its drives would not be
    /// in the state they were in.
    #[error("run {run} cannot go on: {step}, which ended before, cannot be simulated again: {why}")]
    NotAgain {
        /// Which run.
        run: RunId,
        /// Label of the step.
        step: String,
        /// Why.
        why: String,
    },
    /// A setting could not be changed or brought back.
    #[error(transparent)]
    Setting(#[from] SettingError),
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
    let mut prepared = prepare(plan, &permission(options, false))?;
    let plan = &prepared.executed(plan)?;
    let facts = facts_of(plan, &prepared)?;
    let host_json = match &prepared.simulated {
        Some(simulated) => simulated.host_json(&facts),
        None => host_json(&Root::live(), &facts),
    };
    let run = lab.begin_run(&NewRun {
        study: &plan.study.name,
        question: &plan.study.question,
        plan,
        host_json: &host_json,
        fathom_version: env!("CARGO_PKG_VERSION"),
        started_unix_ns: unix_ns(),
        command_line: &options.command_line,
    })?;
    carry_out(lab, run, plan, &mut prepared, &facts, options, stop, on_event)
}

/// Goes on with a run that was interrupted or whose process died: with the first step that did not end. A step that was
/// stopped in its middle is measured again. Drives are the ones of before by their serial numbers, however the kernel
/// numbers them by now; plan and steps keep the names that they had.
///
/// # Errors
/// [`ConductError::OtherHost`], [`ConductError::Gone`] and [`ConductError::NotAgain`] when what is stored and what would
/// follow could not stand in one run; else as [`conduct`].
pub fn resume(
    lab: &mut Lab,
    run: RunId,
    options: &ConductOptions,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<RunOutcome, ConductError> {
    let head = lab.load_head(run)?;
    let plan = &head.plan;
    if matches!(head.summary.state, RunState::Finished | RunState::Running) {
        return Err(StoreError::RunClosed { id: run, state: head.summary.state.as_str() }.into());
    }
    let is_conditioned = plan.steps.iter().any(|s| s.phase != Phase::Measure);
    let begun = !lab.step_indexes(run)?.is_empty();
    if let Some(file) = plan.files.iter().find(|f| begun && is_conditioned && !Path::new(&f.path).exists()) {
        return Err(ConductError::Gone { run, path: file.path.clone() });
    }
    // Before anything is judged, claimed or opened by a name that may be another drive's by now.
    let renumbered = renumbered(lab, &head)?;
    let plan_now = renumbered.plan_now(plan);
    let mut allowed = permission(options, false);
    allowed.made = &plan.files;
    let mut prepared = prepare(&plan_now, &allowed)?;
    let facts = facts_of(&plan_now, &prepared)?;
    prepared.notes.extend(renumbered.notes());
    prepared.renumbered = renumbered;
    lab.resume_run(run)?;
    prepared.take_over(begun, options.keep_files);
    carry_out(lab, run, plan, &mut prepared, &facts, options, stop, on_event)
}

/// The plan of a run by the paths that its drives have today, noted in it where they are others. Touches nothing.
///
/// # Errors
/// [`ConductError::OtherHost`] as [`resume`] would give it; the lab or this machine cannot be read.
pub fn plan_now(lab: &Lab, run: RunId) -> Result<Plan, ConductError> {
    let head = lab.load_head(run)?;
    let renumbered = renumbered(lab, &head)?;
    let mut plan = renumbered.plan_now(&head.plan);
    plan.notes.extend(renumbered.notes());
    Ok(plan)
}

/// The plan of a run, to be done again on the drives it was for, and a note for each that has another path now. Another
/// machine will do. Touches nothing.
///
/// # Errors
/// [`ConductError::DrivesGone`]; the lab or this machine cannot be read.
pub fn plan_again(lab: &Lab, run: RunId) -> Result<(Plan, Vec<String>), ConductError> {
    let head = lab.load_head(run)?;
    if head.plan.machine.is_some() {
        return Ok((head.plan, Vec::new()));
    }
    let renumbered = same_host::same_drives(run, &lab.host_of(&head)?)?;
    Ok((renumbered.plan_now(&head.plan), renumbered.notes()))
}

/// The drives of a run as they are numbered now.
///
/// # Errors
/// [`ConductError::OtherHost`] when this is not the machine, with the drives, on which it began.
fn renumbered(lab: &Lab, head: &RunHead) -> Result<Renumbered, ConductError> {
    // A simulated machine is the one that the run kept.
    if head.plan.machine.is_some() {
        return Ok(Renumbered::default());
    }
    same_host::same_host(head.summary.id, &lab.host_of(head)?)
}

#[allow(clippy::too_many_arguments)] // The two entries above share all of it.
fn carry_out(
    lab: &mut Lab,
    run: RunId,
    plan: &Plan,
    prepared: &mut Prepared,
    facts: &HostFacts,
    options: &ConductOptions,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<RunOutcome, ConductError> {
    on_event(Event::RunStarted { run, plan: &prepared.renumbered.plan_now(plan) });
    for note in plan.notes.iter().chain(&prepared.notes) {
        on_event(Event::Note(note));
    }
    let result = Conductor::new(lab, run, stop, prepared, &facts.topology, options)
        .and_then(|mut conductor| conductor.steps(plan, on_event));
    let state = match &result {
        Err(_) => RunState::Failed,
        Ok(_) if stop.load(Ordering::Relaxed) => RunState::Interrupted,
        Ok(_) => RunState::Finished,
    };
    // What a drive or file was conditioned for is lost with the file: a run that can go on keeps it.
    if state == RunState::Interrupted && plan.steps.iter().any(|s| s.phase != Phase::Measure) {
        prepared.keep_files();
        for file in &plan.files {
            on_event(Event::Note(&format!("{} is kept for: fathom run --resume {run}", file.path)));
        }
    }
    lab.finish_run(run, state, unix_ns())?;
    let bad_steps = result?;
    let document = document_of(lab, run)?;
    Ok(RunOutcome { run, document, interrupted: state == RunState::Interrupted, bad_steps })
}

/// The machine and what is behind the targets of the plan.
fn facts_of(plan: &Plan, prepared: &Prepared) -> Result<HostFacts, ProbeError> {
    if let Some(simulated) = &prepared.simulated {
        return Ok(simulated.facts(plan));
    }
    let mut targets: Vec<&Path> =
        plan.steps.iter().flat_map(|s| &s.targets).map(|t| Path::new(&t.path)).filter(|p| p.exists()).collect();
    targets.sort();
    targets.dedup();
    HostFacts::collect(&Root::live(), &targets)
}

/// Looks whether every target of the plan can be measured, without making, opening or keeping anything.
///
/// # Errors
/// [`TargetError`], as [`conduct`] would give it.
pub fn check_targets(plan: &Plan, options: &ConductOptions) -> Result<(), TargetError> {
    prepare(plan, &permission(options, true)).map(|_| ())
}

/// The plan as it would be executed: with the files that would be made, and regions in bytes. Touches nothing.
///
/// # Errors
/// [`TargetError`], as [`conduct`] would give it.
pub fn executed_plan(plan: &Plan, options: &ConductOptions) -> Result<Plan, TargetError> {
    prepare(plan, &permission(options, true))?.executed(plan)
}

fn permission(options: &ConductOptions, look_only: bool) -> Permission<'_> {
    Permission {
        destroy: &options.destroy,
        keep: options.keep_files,
        look_only,
        overwrite_files: options.overwrite_files,
        made: &[],
    }
}

pub(crate) fn unix_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64)
}
