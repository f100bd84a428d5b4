//! Conducts a run: its site binds the targets, each step is run and committed, and the answer is rebuilt from the store.

mod budget;
mod error;
mod explain;
mod floor;
mod goal_search;
mod leftovers;
mod loops;
mod predict;
mod refusals;
mod steps;
mod surface;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fathom_host::{WithoutIommu, database_files};
use fathom_judge::document::{Document, StepState, StepView};
use fathom_message::{Message, msg};
use fathom_plan::{Phase, Plan, RanksPlan, Step};
use fathom_record::{LadderPrediction, Progress};
use fathom_store::{Closed, Lab, MadeFile, NewRun, RunHead, RunId, RunState, StoreError};

use crate::memory::with_memory_rate;
use crate::ranks::{Ranks, RanksSite};
use crate::site::{
    DrivesOfRun, Permission, RealSite, SimulatedMachine, SimulatedSite, Site, TargetError, same_drives, same_host,
};
use crate::view::document_of;
pub use error::ConductError;
pub use goal_search::goal_search_ns;
pub use leftovers::{
    Leftover, LeftoverState, Removal, delete_run, end_own_runs, leftovers, note_work_folder, remove_leftovers,
};
use leftovers::{forget_clean_folders, is_abandoned, note_work_folders, remove_folders_of};
pub(crate) use loops::is_cut;
pub use refusals::refused_writes;
use steps::Conductor;

/// How often a run starts over when another run takes the name of its test file at the same moment.
const TRIES: u32 = 4;

/// How to conduct.
#[derive(Clone, Debug, Default)]
pub struct ConductOptions {
    /// Serial numbers of block devices that may be written.
    pub destroy: Vec<String>,
    /// Drives that may leave the kernel for steps that drive them in user space, by serial number (`--allow-unbind`).
    pub allow_unbind: Vec<String>,
    /// What the user said of such drives that no IOMMU keeps to the memory of this process.
    pub without_iommu: WithoutIommu,
    /// Leave created files in place.
    pub keep_files: bool,
    /// Existing files with other people's data may be overwritten.
    pub overwrite: bool,
    /// The command as typed, for the report.
    pub command_line: String,
    /// Folder of the journal of changed settings; made when a plan changes any.
    pub journal_dir: PathBuf,
    /// The lab: it and the files beside it are never written as targets.
    pub lab_path: PathBuf,
    /// Wall time for all steps together: a step that would end later is shortened.
    pub time_budget_ns: Option<u64>,
    /// Screen each ladder for some seconds and predict it before it is measured.
    pub predict: bool,
    /// After the plan, run the probes that limits lack for being confirmed.
    pub explain: bool,
    /// Simulate all the time that steps ask for, instead of what their figures need. Simulated targets only.
    pub full: bool,
    /// Time for which the idle host is sampled before the first step; `None`: [`crate::IDLE_BASELINE`].
    pub idle_baseline: Option<Duration>,
    /// The processes that run it at once; `None`: this one alone.
    pub ranks: Option<Ranks>,
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
        /// Measured bytes of the files that are made for it.
        made_bytes: u64,
    },
    /// Something worth a line.
    Note(&'a Message),
    /// Something before or between steps that takes time.
    Activity(&'a Progress),
    /// A step begins, or a set of streams.
    StepStarted(&'a [Step]),
    /// It goes on; of streams all together.
    StepProgress(&'a [Step], &'a Progress),
    /// The loop of this step has become steady with it: its later rounds are not run.
    Steady(&'a Step),
    /// These steps were predicted; the prediction is stored.
    Predicted(&'a [Step], &'a LadderPrediction),
    /// A step was committed.
    StepEnded(&'a StepView),
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

/// Called with each event of the run.
pub(crate) type OnEvent<'a> = dyn FnMut(Event<'_>) + 'a;

/// Runs `plan` from its first step to its last, or until `stop` is set.
///
/// # Errors
/// [`ConductError`]. A refused or failed step is not an error: it is committed as such and the run goes on.
pub fn conduct(
    lab: &mut Lab,
    plan: &Plan,
    options: &ConductOptions,
    stop: &AtomicBool,
    on_event: &mut OnEvent<'_>,
) -> Result<RunOutcome, ConductError> {
    let plan = &of_ranks(plan, options);
    let permission = permission(options, Some(lab))?;
    let mut tries = 1;
    loop {
        let mut site = site_of(plan, &permission, options)?;
        match conduct_at(&mut *site, lab, plan, options, stop, on_event) {
            Err(ConductError::Target(error)) if tries < TRIES && is_taken(&error) => tries += 1,
            other => return other,
        }
    }
}

/// The plan as the ranks run it, if there are several.
fn of_ranks(plan: &Plan, options: &ConductOptions) -> Plan {
    options.ranks.as_ref().map_or_else(|| plan.clone(), |ranks| ranks.plan(plan))
}

/// Whether a file was made by another run between the look and the making.
fn is_taken(error: &TargetError) -> bool {
    match error {
        TargetError::NotOurs { .. } => true,
        TargetError::Io { source, .. } => source.kind() == std::io::ErrorKind::AlreadyExists,
        _ => false,
    }
}

/// [`conduct`] at any site.
pub(crate) fn conduct_at(
    site: &mut dyn Site,
    lab: &mut Lab,
    plan: &Plan,
    options: &ConductOptions,
    stop: &AtomicBool,
    on_event: &mut OnEvent<'_>,
) -> Result<RunOutcome, ConductError> {
    let (removed, mut notes): (Vec<_>, Vec<_>) = site.tidy(plan).into_iter().unzip();
    lab.forget_made_files(&removed.into_iter().flatten().collect::<Vec<_>>())?;
    let looked = site.look(plan)?;
    let host_json = site.host_json(&looked.plan)?;
    let host_json = with_memory_rate(lab, host_json, || site.memory_bytes_per_s(&looked.plan))?;
    let run = lab.begin_run(&NewRun {
        study: &looked.plan.study.name,
        question: &looked.plan.study.question,
        plan: &looked.plan,
        host_json: &host_json,
        fathom_version: env!("CARGO_PKG_VERSION"),
        started_unix_ns: site.now().unix_ns,
        command_line: &options.command_line,
        is_import: false,
    })?;
    // Noted before they are made: a file that a kill leaves behind is known to the lab.
    let noted = note_work_folders(lab, run, &looked.files, &site.work_folders(&looked.plan));
    let noted = noted.and_then(|()| looked.files.iter().try_for_each(|file| lab.add_made_file(run, file)));
    let bound = noted.map_err(ConductError::from).and_then(|()| Ok(site.bind(&looked.plan, &looked.files, false)?));
    match bound {
        Ok(more) => notes.extend(more),
        Err(error) => {
            site.release();
            lab.delete_run(run)?;
            return Err(error);
        }
    }
    Run { site, lab, run, options, stop }.execute(&looked.plan, &looked.files, &notes, on_event)
}

/// Goes on with a run that was interrupted or whose process died: with the first step that did not end. A step that was
/// stopped in its middle is measured again. Drives are the ones of before by their serial numbers, however the kernel
/// numbers them by now; plan and steps keep the names that they had.
///
/// # Errors
/// [`ConductError::OtherHost`], [`ConductError::OtherRanks`], [`ConductError::Gone`] and [`ConductError::NotAgain`] when what is stored and what would
/// follow could not stand in one run; else as [`conduct`].
pub fn resume(
    lab: &mut Lab,
    run: RunId,
    options: &ConductOptions,
    stop: &AtomicBool,
    on_event: &mut OnEvent<'_>,
) -> Result<RunOutcome, ConductError> {
    let head = lab.load_head(run)?;
    if matches!(head.summary.state, RunState::Finished | RunState::Running) {
        return Err(StoreError::RunClosed { id: run, state: Closed::In(head.summary.state) }.into());
    }
    let head = RunHead { plan: by_ranks_again(&head, options)?, ..head };
    let mut site = site_again(lab, &head, options)?;
    resume_at(&mut *site, lab, &head, options, stop, on_event)
}

/// The plan of a run that goes on, with the ranks of today: as many as it began with, or fewer.
fn by_ranks_again(head: &RunHead, options: &ConductOptions) -> Result<Plan, ConductError> {
    let now = options.ranks.as_ref().map(Ranks::count);
    match (head.plan.ranks, now) {
        (None, None) => Ok(head.plan.clone()),
        (Some(was), Some(count)) if count <= was.count => {
            Ok(Plan { ranks: Some(RanksPlan { count, ..was }), ..head.plan.clone() })
        }
        (was, now) => Err(ConductError::OtherRanks { run: head.summary.id, was: was.map(|ranks| ranks.count), now }),
    }
}

/// The site of a run that goes on.
fn site_again(lab: &Lab, head: &RunHead, options: &ConductOptions) -> Result<Box<dyn Site>, ConductError> {
    if let Some(kept) = &head.plan.machine {
        let machine = SimulatedMachine::kept(kept).map_err(TargetError::from)?;
        return Ok(Box::new(SimulatedSite::new(machine, head.summary.started_unix_ns, options.full)));
    }
    refuse_full(&head.plan, options)?;
    let other_host = |run, differences| ConductError::OtherHost { run, differences };
    let today = found(head.summary.id, same_host(&lab.host_of(head)?), other_host)?;
    let real = RealSite::new(permission(options, Some(lab))?, today, options);
    Ok(match &options.ranks {
        Some(ranks) => Box::new(RanksSite::new(real, ranks)),
        None => Box::new(real),
    })
}

/// [`resume`] at any site.
pub(crate) fn resume_at(
    site: &mut dyn Site,
    lab: &mut Lab,
    head: &RunHead,
    options: &ConductOptions,
    stop: &AtomicBool,
    on_event: &mut OnEvent<'_>,
) -> Result<RunOutcome, ConductError> {
    let (run, plan) = (head.summary.id, &head.plan);
    let begun = has_begun(lab, run)?;
    let mut files = lab.made_files(run)?;
    let again = files_again(site, head, &files, begun)?;
    lab.resume_run(run)?;
    let removed = remove_folders_of(lab, run)?;
    let noted = note_work_folders(lab, run, &again, &site.work_folders(plan));
    let noted = noted.and_then(|()| again.iter().try_for_each(|file| lab.add_made_file(run, file)));
    files.extend(again);
    let bound = noted.map_err(ConductError::from).and_then(|()| Ok(site.bind(plan, &files, begun)?));
    let mut notes: Vec<Message> = removed.iter().map(|path| msg!("target-leftover-removed", path = path)).collect();
    match bound {
        Ok(more) => notes.extend(more),
        Err(error) => {
            // As it was, with its files: it can still go on once the cause is gone.
            site.keep_files();
            lab.finish_run(run, RunState::Interrupted, head.summary.finished_unix_ns.unwrap_or_else(unix_ns))?;
            return Err(error);
        }
    };
    Run { site, lab, run, options, stop }.execute(plan, &files, &notes, on_event)
}

/// Whether steps of the run ended: what they wrote is on its targets.
fn has_begun(lab: &Lab, run: RunId) -> Result<bool, StoreError> {
    Ok(!lab.step_indexes(run)?.is_empty())
}

/// Looks whether a run can go on with the `files` that it made; gives the ones it needs beside them.
fn files_again(
    site: &mut dyn Site,
    head: &RunHead,
    files: &[MadeFile],
    begun: bool,
) -> Result<Vec<MadeFile>, ConductError> {
    if begun
        && is_conditioned(&head.plan)
        && let Some(path) = site.gone(&head.plan, files)?
    {
        return Err(ConductError::Gone { run: head.summary.id, path });
    }
    Ok(site.to_make_again(&head.plan, files, begun)?)
}

/// Whether the plan brings its targets into a state that the measurements stand on.
fn is_conditioned(plan: &Plan) -> bool {
    plan.steps.iter().any(|s| s.phase != Phase::Measure)
}

/// A run that is to go on, as [`resume`] would find it.
#[derive(Debug)]
pub struct ResumedPlan {
    /// Its plan with the targets by the paths of today, and a note for each drive that had another.
    pub plan: Plan,
    /// Whether steps of it ended: data on its drives that nobody recognises may be its own.
    pub begun: bool,
    /// Files that would be made; or why it would be refused.
    pub files: Result<Vec<FileToMake>, ConductError>,
}

/// How a run would go on. Touches nothing.
///
/// # Errors
/// [`ConductError::OtherHost`] as [`resume`] would give it; the lab or this machine cannot be read.
pub fn resumed_plan(lab: &Lab, run: RunId, options: &ConductOptions) -> Result<ResumedPlan, ConductError> {
    let head = lab.load_head(run)?;
    let mut site = site_again(lab, &head, options)?;
    let begun = has_begun(lab, run)?;
    let files = files_again(&mut *site, &head, &lab.made_files(run)?, begun);
    let files = files.map(|files| files.into_iter().map(|f| FileToMake { path: f.path, bytes: f.bytes }).collect());
    let today = site.drives_today();
    let mut plan = today.renamed(&head.plan);
    plan.notes.extend(today.notes());
    Ok(ResumedPlan { plan, begun, files })
}

/// The plan of a run, to be repeated on the drives it was for, and a note for each that has another path now. Another
/// machine will do. Touches nothing.
///
/// # Errors
/// [`ConductError::DrivesGone`]; the lab or this machine cannot be read.
pub fn plan_again(lab: &Lab, run: RunId) -> Result<(Plan, Vec<Message>), ConductError> {
    let head = lab.load_head(run)?;
    if head.plan.machine.is_some() {
        return Ok((head.plan, Vec::new()));
    }
    let today = found(run, same_drives(&lab.host_of(&head)?), |run, lost| ConductError::DrivesGone { run, lost })?;
    Ok((today.renamed(&head.plan), today.notes()))
}

fn found(
    run: RunId,
    drives: DrivesOfRun,
    otherwise: impl FnOnce(RunId, Vec<Message>) -> ConductError,
) -> Result<crate::site::DrivesToday, ConductError> {
    drives?.map_err(|why| otherwise(run, why))
}

/// A run under way.
struct Run<'a> {
    site: &'a mut dyn Site,
    lab: &'a mut Lab,
    run: RunId,
    options: &'a ConductOptions,
    stop: &'a AtomicBool,
}

impl Run<'_> {
    fn execute(
        self,
        plan: &Plan,
        files: &[MadeFile],
        notes: &[Message],
        on_event: &mut OnEvent<'_>,
    ) -> Result<RunOutcome, ConductError> {
        let Run { site, lab, run, options, stop } = self;
        let made_bytes = files.iter().map(|f| f.bytes).sum();
        on_event(Event::RunStarted { run, plan: &site.drives_today().renamed(plan), made_bytes });
        for note in plan.notes.iter().chain(notes) {
            on_event(Event::Note(note));
        }
        let result = Conductor::new(lab, run, &plan.study, site, stop, options)
            .and_then(|mut conductor| conductor.steps(plan, on_event));
        let state = match &result {
            Err(_) => RunState::Failed,
            Ok(_) if stop.load(Ordering::Relaxed) => RunState::Interrupted,
            Ok(_) => RunState::Finished,
        };
        // What a drive or file was conditioned for is lost with the file: a run that can go on keeps it.
        if state == RunState::Interrupted && is_conditioned(plan) {
            site.keep_files();
            for file in files {
                let program = if plan.ranks.is_some() { "fathom-mpi" } else { "fathom" };
                let resume = format!("{program} run --resume {run}");
                on_event(Event::Note(&msg!("run-file-kept", path = &file.path, command = resume)));
            }
        }
        let removed = site.release();
        // First: if the lab cannot be written, this waits for the lock, and the run moves to a file next to the lab.
        lab.finish_run(run, state, site.now().unix_ns)?;
        lab.forget_made_files(&removed)?;
        forget_clean_folders(lab)?;
        let bad_steps = result?;
        let document = document_of(lab, run)?;
        // A run fails if the machine could run none of its steps.
        let measured: Vec<&StepView> = document.steps.iter().filter(|step| step.phase == Phase::Measure).collect();
        let skipped = measured.iter().filter(|step| step.state == StepState::Skipped).count();
        let has_none = skipped == measured.len() && state == RunState::Finished;
        let bad_steps = if has_none { skipped as u32 } else { bad_steps };
        Ok(RunOutcome { run, document, interrupted: state == RunState::Interrupted, bad_steps })
    }
}

/// Looks whether every target of the plan can be measured, without making, opening for writing or keeping anything. `lab`:
/// the lab that the run would be stored in, where there is one already.
///
/// # Errors
/// [`TargetError`], as [`conduct`] would give it.
pub fn check_targets(plan: &Plan, options: &ConductOptions, lab: Option<&Lab>) -> Result<(), ConductError> {
    executed_plan(plan, options, lab).map(|_| ())
}

/// A file that a run would make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileToMake {
    /// Path of the file.
    pub path: PathBuf,
    /// Of how many measured bytes.
    pub bytes: u64,
}

/// The plan as it would be executed, with regions in bytes, and the files that would be made. Touches nothing.
///
/// # Errors
/// [`TargetError`], as [`conduct`] would give it.
pub fn executed_plan(
    plan: &Plan,
    options: &ConductOptions,
    lab: Option<&Lab>,
) -> Result<(Plan, Vec<FileToMake>), ConductError> {
    let plan = &of_ranks(plan, options);
    let mut site = site_of(plan, &permission(options, lab)?, options)?;
    let looked = site.look(plan)?;
    let files = looked.files.into_iter().map(|f| FileToMake { path: f.path, bytes: f.bytes });
    Ok((looked.plan, files.collect()))
}

fn site_of(plan: &Plan, permission: &Permission, options: &ConductOptions) -> Result<Box<dyn Site>, TargetError> {
    Ok(match SimulatedMachine::of_plan(plan)? {
        Some(machine) if options.ranks.is_some() => {
            return Err(TargetError::SimulatedRanks { machine: machine.name });
        }
        Some(machine) => Box::new(SimulatedSite::new(machine, unix_ns(), options.full)),
        None => {
            refuse_full(plan, options)?;
            let today = crate::site::DrivesToday::default();
            let real = RealSite::new(permission.clone(), today, options);
            match &options.ranks {
                Some(ranks) => Box::new(RanksSite::new(real, ranks)),
                None => Box::new(real),
            }
        }
    })
}

/// What is measured for real always takes its time.
fn refuse_full(plan: &Plan, options: &ConductOptions) -> Result<(), TargetError> {
    let real = plan.steps.iter().find_map(|step| step.targets.first()).filter(|_| options.full);
    real.map_or(Ok(()), |target| Err(TargetError::FullOfReal { target: target.clone() }))
}

pub(crate) fn permission(options: &ConductOptions, lab: Option<&Lab>) -> Result<Permission, StoreError> {
    let mut permission = Permission {
        destroy: options.destroy.clone(),
        allow_unbind: options.allow_unbind.clone(),
        without_iommu: options.without_iommu,
        overwrite: options.overwrite,
        keep_files: options.keep_files,
        protected: database_files(&options.lab_path).collect(),
        ..Permission::default()
    };
    let Some(lab) = lab else { return Ok(permission) };
    for (run, file) in lab.all_made_files()? {
        permission.own.insert(file.mark);
        if !file.is_kept && is_abandoned(lab, run)? {
            permission.abandoned.insert(file.mark);
        }
    }
    Ok(permission)
}

pub(crate) fn unix_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64)
}
