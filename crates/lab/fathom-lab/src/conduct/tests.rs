//! The conductor against scripted sites: refusals, failures, stops at each phase, budgets, resumption.

mod beside;
mod streams;

use std::path::{Path, PathBuf};

use fathom_host::{OwnFile, Refusal, RefusalKind};
use fathom_message::{Say as _, msg};
use fathom_plan::{Metric, Round, RunLength, StudyHead};
use fathom_record::StepFailure;
use fathom_store::StoredStep;

use super::*;
use crate::site::DrivesToday;
use crate::site::scripted::{Act, Call, ScriptedSite, cannot_lay_out, with_io_errors};

const SECOND_NS: u64 = 1_000_000_000;

/// Steps of four seconds each.
fn plan(steps: u32) -> Plan {
    let step = |index: u32| Step {
        index,
        label: format!("step {index}"),
        length: RunLength::fixed(0, 4 * SECOND_NS),
        ..crate::samples::step()
    };
    Plan {
        study: StudyHead::new("own", "?"),
        source: String::new(),
        steps: (0..steps).map(step).collect(),
        notes: Vec::new(),
        job_files: Vec::new(),
        machine: None,
        ranks: None,
    }
}

/// A lab of its own, and what a test looks at.
struct Stage {
    _dir: tempfile::TempDir,
    lab: Lab,
    stop: AtomicBool,
    options: ConductOptions,
    notes: Vec<String>,
}

impl Stage {
    fn new() -> Stage {
        let dir = tempfile::tempdir().expect("temp dir");
        let lab = Lab::open(&dir.path().join("lab.db")).expect("a lab");
        let options = ConductOptions::default();
        Stage { _dir: dir, lab, stop: AtomicBool::new(false), options, notes: Vec::new() }
    }

    fn conduct(&mut self, site: &mut ScriptedSite, plan: &Plan) -> Result<RunOutcome, ConductError> {
        let notes = &mut self.notes;
        let mut on_event = |event: Event<'_>| {
            if let Event::Note(note) = event {
                notes.push(note.id().to_owned());
            }
        };
        conduct_at(site, &mut self.lab, plan, &self.options, &self.stop, &mut on_event)
    }

    fn resume(&mut self, site: &mut ScriptedSite, run: RunId) -> Result<RunOutcome, ConductError> {
        self.stop.store(false, Ordering::Relaxed);
        let head = self.lab.load_head(run).expect("is there");
        resume_at(site, &mut self.lab, &head, &self.options, &self.stop, &mut |_| {})
    }

    fn state(&self, run: RunId) -> RunState {
        self.lab.summary(run).expect("is there").state
    }

    fn steps(&self, run: RunId) -> Vec<StoredStep> {
        self.lab.steps(run).expect("is there").map(|s| s.expect("reads")).collect()
    }

    /// `m`, `r`, `f` for each step that is stored: measured, refused, failed.
    fn outcomes(&self, run: RunId) -> String {
        let letter = |step: &StoredStep| match step.outcome {
            Ok(_) => 'm',
            Err(StepFailure::Refused { .. }) => 'r',
            Err(StepFailure::Failed { .. }) => 'f',
        };
        self.steps(run).iter().map(letter).collect()
    }

    fn only_run(&self) -> RunId {
        self.lab.latest_run_id().expect("reads").expect("a run")
    }
}

fn refusal() -> TargetError {
    TargetError::Guard(Refusal {
        kind: RefusalKind::Mounted,
        message: msg!("guard-root-drive-help"),
        help: msg!("guard-choose-another-drive"),
    })
}

/// A run of steps that each do what is said: how it ends, and what is stored.
struct Case {
    name: &'static str,
    acts: &'static [Act],
    steps: u32,
    state: RunState,
    outcomes: &'static str,
    bad: u32,
}

const fn case(
    name: &'static str,
    acts: &'static [Act],
    steps: u32,
    state: RunState,
    outcomes: &'static str,
    bad: u32,
) -> Case {
    Case { name, acts, steps, state, outcomes, bad }
}

const CASES: &[Case] = &[
    case("all goes well", &[], 3, RunState::Finished, "mmm", 0),
    case("a plan without steps", &[], 0, RunState::Finished, "", 0),
    case("the first step is refused", &[Act::Refuse], 3, RunState::Finished, "rmm", 1),
    case("the last step is refused", &[Act::Measure(9), Act::Measure(9), Act::Refuse], 3, RunState::Finished, "mmr", 1),
    case("a step fails", &[Act::Measure(9), Act::Fail], 3, RunState::Finished, "mfm", 1),
    case("every step fails", &[Act::Fail, Act::Fail, Act::Refuse], 3, RunState::Finished, "ffr", 3),
    case("I/Os fail", &[Act::MeasureAnd(9, with_io_errors)], 2, RunState::Finished, "mm", 1),
    case("no I/O completes", &[Act::Measure(0)], 2, RunState::Finished, "mm", 0),
    case("a stop in the first step", &[Act::StopDuring(9)], 3, RunState::Interrupted, "m", 0),
    case("a stop in the last step", &[Act::Measure(9), Act::StopDuring(9)], 2, RunState::Interrupted, "mm", 0),
    case("a stop at the end of a step", &[Act::StopAfter(9)], 3, RunState::Interrupted, "m", 0),
    case("a stop after a failure", &[Act::Fail, Act::StopDuring(9)], 3, RunState::Interrupted, "fm", 1),
];

#[test]
fn runs_end_as_their_steps_do() {
    for case in CASES {
        let mut stage = Stage::new();
        let mut site = ScriptedSite::new(case.acts.iter().cloned());
        let outcome = stage.conduct(&mut site, &plan(case.steps)).expect(case.name);
        assert_eq!(stage.state(outcome.run), case.state, "{}", case.name);
        assert_eq!(stage.outcomes(outcome.run), case.outcomes, "{}", case.name);
        assert_eq!(outcome.bad_steps, case.bad, "{}", case.name);
        assert_eq!(outcome.interrupted, case.state == RunState::Interrupted, "{}", case.name);
        let last: Vec<&Call> = site.calls.iter().rev().take(2).collect();
        assert_eq!(last, [&Call::Release, &Call::Restore], "{}: settings and files are given back", case.name);
    }
}

/// A step that needs more drives than there are is a failure, except in a study that goes on without it.
#[test]
fn a_study_skips_what_the_machine_lacks_unless_nothing_is_left() {
    let outcome = |skip_lacking: bool, lacking: u32| {
        let mut plan = plan(3);
        plan.study.skip_lacking = skip_lacking;
        plan.steps.iter_mut().take(lacking as usize).for_each(|step| step.role.devices = Some(24));
        let outcome = Stage::new().conduct(&mut ScriptedSite::new([]), &plan).expect("goes well");
        let states: Vec<&str> = outcome.document.steps.iter().map(|step| step.state.as_str()).collect();
        (outcome.bad_steps, states.join(" "))
    };
    assert_eq!(outcome(false, 1), (1, "refused measured measured".to_owned()));
    assert_eq!(outcome(true, 1), (0, "skipped measured measured".to_owned()));
    assert_eq!(outcome(true, 3), (3, "skipped skipped skipped".to_owned()));
}

#[test]
fn what_is_asked_of_a_site_comes_in_its_order() {
    let mut stage = Stage::new();
    let mut site = ScriptedSite::new([]);
    stage.conduct(&mut site, &plan(2)).expect("goes well");
    let length = 4 * SECOND_NS;
    let bind = Call::Bind { begun: false, files: 0 };
    let runs = [Call::Run(0, length), Call::Run(1, length)];
    let mut want = vec![Call::Tidy, Call::Look, Call::HostJson, bind, Call::Prepare];
    want.extend(runs);
    want.extend([Call::Restore, Call::Release]);
    assert_eq!(site.calls, want);
}

#[test]
fn a_target_that_is_refused_leaves_no_run() {
    let mut stage = Stage::new();
    let mut site = ScriptedSite::new([]);
    site.look = Some(refusal());
    let error = stage.conduct(&mut site, &plan(1)).expect_err("refused");
    assert!(matches!(error, ConductError::Target(TargetError::Guard(_))), "{error}");
    assert_eq!(site.calls, [Call::Tidy, Call::Look]);
    assert_eq!(stage.lab.runs().expect("reads"), []);
}

#[test]
fn a_target_that_is_refused_when_it_is_bound_leaves_no_run_and_gives_everything_back() {
    let mut stage = Stage::new();
    let mut site = ScriptedSite::new([]).with_file("file", PathBuf::from("/no/file"), false);
    site.bind = Some(refusal());
    stage.conduct(&mut site, &plan(1)).expect_err("refused");
    assert_eq!(site.calls.last(), Some(&Call::Release));
    assert_eq!(stage.lab.runs().expect("reads"), []);
    assert_eq!(stage.lab.all_made_files().expect("reads"), []);
}

#[test]
fn a_machine_that_cannot_be_looked_at_ends_the_run_before_it_begins() {
    let mut stage = Stage::new();
    let mut site = ScriptedSite::new([]);
    let source = std::io::ErrorKind::PermissionDenied.into();
    site.host = Some(fathom_host::ProbeError::Read { path: PathBuf::from("/proc/stat"), source });
    assert!(matches!(stage.conduct(&mut site, &plan(1)), Err(ConductError::Host(_))));
    assert_eq!(stage.lab.runs().expect("reads"), []);
}

#[test]
fn a_file_that_cannot_be_laid_out_refuses_every_step_with_the_reason() {
    let mut stage = Stage::new();
    let mut site = ScriptedSite::new([]);
    site.prepare = Some(cannot_lay_out());
    let error = stage.conduct(&mut site, &plan(3)).expect_err("no space");
    assert!(matches!(error, ConductError::Layout { .. }), "{error}");
    let run = stage.only_run();
    assert_eq!((stage.state(run), stage.outcomes(run).as_str()), (RunState::Failed, "rrr"));
    assert!(site.ran().is_empty());
    assert_eq!(site.calls.last(), Some(&Call::Release));
}

#[test]
fn a_machine_that_cannot_be_sampled_fails_the_run() {
    let mut stage = Stage::new();
    let mut site = ScriptedSite::new([]);
    let source = std::io::ErrorKind::NotFound.into();
    let error = fathom_host::ProbeError::Read { path: PathBuf::from("/proc/stat"), source };
    site.prepare = Some(crate::site::SiteError::Probe(error));
    assert!(matches!(stage.conduct(&mut site, &plan(2)), Err(ConductError::Host(_))));
    let run = stage.only_run();
    assert_eq!((stage.state(run), stage.outcomes(run).as_str()), (RunState::Failed, ""));
}

#[test]
fn a_stop_before_the_first_step_leaves_a_run_that_can_go_on() {
    let mut stage = Stage::new();
    let mut site = ScriptedSite::new([]);
    site.stop_in_prepare = true;
    let outcome = stage.conduct(&mut site, &plan(2)).expect("is no error");
    assert!(outcome.interrupted && site.ran().is_empty());
    let mut site = ScriptedSite::new([]);
    let outcome = stage.resume(&mut site, outcome.run).expect("goes on");
    assert_eq!((site.ran(), outcome.interrupted), (vec![0, 1], false));
}

#[test]
fn a_setting_that_cannot_be_put_back_ends_the_run_at_once_and_what_was_measured_stays() {
    let mut stage = Stage::new();
    let mut site = ScriptedSite::new([Act::Measure(9), Act::LoseSetting]);
    let error = stage.conduct(&mut site, &plan(4)).expect_err("must not go on");
    assert!(matches!(error, ConductError::Setting(_)), "{error}");
    let run = stage.only_run();
    assert_eq!((stage.state(run), stage.outcomes(run).as_str()), (RunState::Failed, "m"));
    assert_eq!(site.ran(), [0, 1]);
    assert!(site.calls.contains(&Call::Restore), "the others are put back");
}

#[test]
fn settings_that_cannot_be_put_back_at_the_end_fail_the_run_with_all_its_steps() {
    let mut stage = Stage::new();
    let mut site = ScriptedSite::new([]);
    site.cannot_restore = true;
    assert!(matches!(stage.conduct(&mut site, &plan(2)), Err(ConductError::Setting(_))));
    let run = stage.only_run();
    assert_eq!((stage.state(run), stage.outcomes(run).as_str()), (RunState::Failed, "mm"));
}

#[test]
fn a_run_that_was_stopped_goes_on_with_the_step_that_was_cut_and_counts_none_twice() {
    let mut stage = Stage::new();
    let mut site = ScriptedSite::new([Act::Measure(9), Act::StopDuring(9)]);
    let run = stage.conduct(&mut site, &plan(3)).expect("is no error").run;
    let mut site = ScriptedSite::new([]);
    stage.resume(&mut site, run).expect("goes on");
    assert_eq!(site.ran(), [1, 2]);
    assert!(site.calls.contains(&Call::Recall(0)) && !site.calls.contains(&Call::Recall(1)));
    assert!(site.calls.contains(&Call::Bind { begun: true, files: 0 }));
    assert_eq!((stage.state(run), stage.outcomes(run).as_str()), (RunState::Finished, "mmm"));
}

#[test]
fn a_failed_run_goes_on_where_it_failed_and_keeps_its_refusals() {
    let mut stage = Stage::new();
    let mut site = ScriptedSite::new([Act::Refuse, Act::LoseSetting]);
    stage.conduct(&mut site, &plan(3)).expect_err("ends");
    let run = stage.only_run();
    let mut site = ScriptedSite::new([]);
    let outcome = stage.resume(&mut site, run).expect("goes on");
    assert_eq!((site.ran(), outcome.bad_steps), (vec![1, 2], 0));
    assert_eq!(stage.outcomes(run), "rmm");
}

#[test]
fn a_run_that_goes_on_is_shown_with_the_paths_of_today_and_keeps_the_names_that_it_began_with() {
    let mut stage = Stage::new();
    let own = plan(2);
    let name = own.steps[0].targets[0].clone();
    stage.conduct(&mut ScriptedSite::new([Act::Measure(1_000), Act::LoseSetting]), &own).expect_err("ends");
    let run = stage.only_run();
    let head = stage.lab.load_head(run).expect("stored");
    let mut site = ScriptedSite::new([]);
    site.today = DrivesToday::one(name.as_str(), "/dev/nvme7n1");
    let mut shown = Vec::new();
    let mut on_event = |event: Event<'_>| {
        if let Event::RunStarted { plan, .. } = event {
            shown.extend(plan.steps.iter().flat_map(|s| &s.targets).map(ToString::to_string));
        }
    };
    let outcome = resume_at(&mut site, &mut stage.lab, &head, &stage.options, &stage.stop, &mut on_event);
    assert_eq!(shown, ["/dev/nvme7n1", "/dev/nvme7n1"]);
    let names: Vec<_> = outcome.expect("goes on").document.steps.into_iter().flat_map(|s| s.targets).collect();
    assert_eq!(names, [name.to_string(), name.to_string()]);
}

#[test]
fn a_finished_run_does_not_go_on() {
    let mut stage = Stage::new();
    let run = stage.conduct(&mut ScriptedSite::new([]), &plan(1)).expect("goes well").run;
    let options = ConductOptions::default();
    let error = resume(&mut stage.lab, run, &options, &stage.stop, &mut |_| {}).expect_err("is over");
    assert_eq!(error.message().id(), "lab-run-closed");
}

#[test]
fn a_site_that_cannot_come_into_the_state_of_before_does_not_go_on() {
    let mut stage = Stage::new();
    let run = stage.conduct(&mut ScriptedSite::new([Act::StopAfter(9)]), &plan(2)).expect("stops").run;
    let mut site = ScriptedSite::new([]);
    site.cannot_recall = true;
    let error = stage.resume(&mut site, run).expect_err("the drive is gone");
    assert!(matches!(error, ConductError::NotAgain { .. }), "{error}");
    assert!(site.ran().is_empty());
    assert_eq!((stage.state(run), stage.outcomes(run).as_str()), (RunState::Failed, "m"));
}

#[test]
fn a_drive_that_changed_under_a_run_refuses_the_step_and_the_run_goes_on() {
    // The site says so for each step: what is bound is compared before anything is opened.
    let mut stage = Stage::new();
    let mut site = ScriptedSite::new([Act::Measure(9), Act::Refuse, Act::Refuse]);
    let outcome = stage.conduct(&mut site, &plan(3)).expect("each refusal is a result");
    assert_eq!((stage.outcomes(outcome.run).as_str(), outcome.bad_steps), ("mrr", 2));
    let steps = stage.steps(outcome.run);
    assert!(matches!(&steps[1].outcome, Err(StepFailure::Refused { why, .. }) if why.id() == "open-changed-help"));
}

/// A plan that conditions its file first.
fn conditioned() -> Plan {
    let mut plan = plan(3);
    plan.steps[0].phase = Phase::Fill;
    plan
}

#[test]
fn a_stopped_run_keeps_the_file_that_it_conditioned_and_goes_on_with_it() {
    let dir = tempfile::tempdir().expect("temp dir");
    let file = dir.path().join("file");
    std::fs::write(&file, "conditioned").expect("file");
    let mut stage = Stage::new();
    let mut site = ScriptedSite::new([Act::StopAfter(9)]).with_file("file", file.clone(), false);
    let run = stage.conduct(&mut site, &conditioned()).expect("stops").run;
    assert!(site.calls.contains(&Call::KeepFiles) && stage.notes.contains(&"run-file-kept".to_owned()));
    assert_eq!(stage.lab.made_files(run).expect("reads").len(), 1);
    let mut again = ScriptedSite::new([]);
    stage.resume(&mut again, run).expect("goes on");
    assert!(again.calls.contains(&Call::Bind { begun: true, files: 1 }));
    assert_eq!(stage.lab.made_files(run).expect("reads"), [], "removed at the end");
}

#[test]
fn a_run_whose_conditioned_file_is_gone_does_not_go_on() {
    let dir = tempfile::tempdir().expect("temp dir");
    let file = dir.path().join("file");
    std::fs::write(&file, "conditioned").expect("file");
    let mut stage = Stage::new();
    let mut site = ScriptedSite::new([Act::StopAfter(9)]).with_file("file", file.clone(), false);
    let run = stage.conduct(&mut site, &conditioned()).expect("stops").run;
    std::fs::remove_file(&file).expect("gone");
    let mut again = ScriptedSite::new([]);
    let error = stage.resume(&mut again, run).expect_err("its state is lost");
    assert!(matches!(error, ConductError::Gone { .. }), "{error}");
    assert!(again.calls.is_empty() && stage.state(run) == RunState::Interrupted);
}

#[test]
fn a_stopped_run_that_conditioned_nothing_keeps_no_file() {
    let mut stage = Stage::new();
    let mut site = ScriptedSite::new([Act::StopAfter(9)]).with_file("file", PathBuf::from("/no/file"), false);
    let run = stage.conduct(&mut site, &plan(2)).expect("stops").run;
    assert!(!site.calls.contains(&Call::KeepFiles));
    assert_eq!(stage.lab.made_files(run).expect("reads"), []);
    // And goes on with a new one.
    let mut again = ScriptedSite::new([]);
    stage.resume(&mut again, run).expect("goes on");
    assert_eq!(again.ran(), [1]);
}

#[test]
fn a_file_that_the_user_keeps_stays_known() {
    let mut stage = Stage::new();
    let mut site = ScriptedSite::new([]).with_file("file", PathBuf::from("/no/file"), true);
    let run = stage.conduct(&mut site, &plan(1)).expect("goes well").run;
    assert!(stage.lab.made_files(run).expect("reads")[0].is_kept);
}

#[test]
fn files_of_killed_runs_are_forgotten_once_they_are_removed() {
    let mut stage = Stage::new();
    // A run that died: its file is noted, and nobody finished it.
    let mut site = ScriptedSite::new([Act::LoseSetting]).with_file("file", PathBuf::from("/no/file"), true);
    stage.conduct(&mut site, &plan(1)).expect_err("ends");
    let left = stage.lab.all_made_files().expect("reads");
    assert_eq!(left.len(), 1);
    let mut site = ScriptedSite::new([]);
    site.tidied = vec![left[0].1.mark];
    stage.conduct(&mut site, &plan(1)).expect("goes well");
    assert_eq!(stage.lab.all_made_files().expect("reads"), []);
    assert!(stage.notes.contains(&"target-leftover-removed".to_owned()));
}

#[test]
fn what_killed_runs_left_is_abandoned_and_what_somebody_needs_is_not() {
    let mut stage = Stage::new();
    let file = || PathBuf::from("/no/file");
    let mut marks = Vec::new();
    for (acts, is_kept, plan) in [
        (Act::LoseSetting, false, plan(2)),
        (Act::Measure(9), true, plan(1)),
        (Act::StopAfter(9), false, conditioned()),
    ] {
        let mut site = ScriptedSite::new([acts]).with_file("file", file(), is_kept);
        marks.push(site.files[0].mark);
        let made = site.files.clone();
        let run = match stage.conduct(&mut site, &plan) {
            Ok(outcome) => outcome.run,
            Err(_) => stage.only_run(),
        };
        // As if it had been killed before it could remove its file.
        stage.lab.forget_made_files(&[made[0].mark]).expect("forgotten");
        stage.stop.store(false, Ordering::Relaxed);
        if stage.state(run) != RunState::Finished {
            stage.lab.resume_run(run).expect("again");
            stage.lab.add_made_file(run, &made[0]).expect("noted");
            stage.lab.finish_run(run, RunState::Interrupted, 1).expect("stops");
        }
    }
    let permission = permission(&ConductOptions::default(), Some(&stage.lab)).expect("reads");
    assert!(permission.abandoned.contains(&marks[0]), "nothing stands on it");
    assert!(!permission.abandoned.contains(&marks[2]), "the run can be resumed with it");
    assert!(permission.own.contains(&marks[2]));
}

/// A run that was interrupted, with a note of a folder in which it worked.
fn run_in(stage: &mut Stage, folder: &Path) -> RunId {
    stage.stop.store(false, Ordering::Relaxed);
    let run = stage.conduct(&mut ScriptedSite::new([Act::StopAfter(9)]), &conditioned()).expect("stops").run;
    stage.lab.resume_run(run).expect("by this process");
    leftovers::note_work_folders(&mut stage.lab, run, &[], &[folder.to_owned()]).expect("noted");
    run
}

#[test]
fn folders_are_forgotten_once_nothing_of_their_work_is_left_in_them() {
    let dir = tempfile::tempdir().expect("temp dir");
    let folder = |name: &str| {
        std::fs::create_dir(dir.path().join(name)).expect("a folder");
        dir.path().join(name).canonicalize().expect("there")
    };
    let (clean, file, at_work, elsewhere, used) =
        (folder("clean"), folder("file"), folder("at-work"), folder("elsewhere"), folder("used"));
    let mut stage = Stage::new();
    let ends = |stage: &mut Stage, run| stage.lab.finish_run(run, RunState::Interrupted, 1).expect("ends");
    for folder in [&clean, &used] {
        let run = run_in(&mut stage, folder);
        ends(&mut stage, run);
    }
    let own = fathom_host::OwnFolder::create(&used, fathom_host::DATABASE_FOLDER_PREFIX).expect("a folder");
    let run = run_in(&mut stage, &file);
    let made = ScriptedSite::new([]).with_file("file", file.join("test"), false).files.remove(0);
    drop(OwnFile::create(&made.path, 1 << 20, made.mark).expect("made"));
    stage.lab.add_made_file(run, &made).expect("noted");
    ends(&mut stage, run);
    run_in(&mut stage, &at_work);
    let mount_point = PathBuf::from("/not/here");
    let unmounted = fathom_store::WorkFolder { path: elsewhere.clone(), mount_point, run: None };
    stage.lab.add_work_folder(&unmounted).expect("noted");
    let noted = |stage: &Stage| -> Vec<PathBuf> {
        stage.lab.work_folders().expect("reads").into_iter().map(|folder| folder.path).collect()
    };
    forget_clean_folders(&mut stage.lab).expect("looked at");
    assert_eq!(noted(&stage), [at_work.clone(), elsewhere.clone(), file, used]);
    drop(own);
    OwnFile::adopt(&made.path, made.mark).and_then(OwnFile::remove).expect("removed");
    let listed = leftovers(&stage.lab).expect("looked at").into_iter().map(|left| left.path);
    assert_eq!(listed.collect::<Vec<_>>(), std::slice::from_ref(&elsewhere), "a file that is gone is no leftover");
    let removal = remove_leftovers(&mut stage.lab).expect("looked at");
    assert_eq!(removal.removed, [] as [PathBuf; 0]);
    assert_eq!(stage.lab.all_made_files().expect("reads"), [], "what is gone is forgotten");
    assert_eq!(noted(&stage), [at_work, elsewhere]);
}

#[test]
fn a_file_whose_folder_cannot_be_reached_stays_known_and_goes_later() {
    for is_folder_noted in [false, true] {
        let dir = tempfile::tempdir().expect("temp dir");
        let (here, away) = (dir.path().join("here"), dir.path().join("away"));
        std::fs::create_dir(&here).expect("a folder");
        let mut stage = Stage::new();
        let mut site = ScriptedSite::new([Act::LoseSetting]).with_file("file", here.join("test"), false);
        let made = site.files[0].clone();
        stage.conduct(&mut site, &plan(2)).expect_err("ends");
        let run = stage.only_run();
        drop(OwnFile::create(&made.path, 1 << 20, made.mark).expect("made"));
        stage.lab.resume_run(run).expect("by this process");
        stage.lab.add_made_file(run, &made).expect("noted");
        if is_folder_noted {
            leftovers::note_work_folders(&mut stage.lab, run, std::slice::from_ref(&made), &[]).expect("noted");
        } else {
            for folder in stage.lab.work_folders().expect("reads") {
                stage.lab.forget_work_folder(&folder).expect("forgotten");
            }
        }
        stage.lab.finish_run(run, RunState::Interrupted, 1).expect("ends");
        std::fs::rename(&here, &away).expect("moved");
        let left = remove_leftovers(&mut stage.lab).expect("looked at").left;
        let of_file = left.iter().find(|left| left.path == made.path).map(|left| left.state);
        assert_eq!(of_file, Some(LeftoverState::Unreachable), "{left:?}");
        std::fs::rename(&away, &here).expect("moved back");
        assert_eq!(remove_leftovers(&mut stage.lab).expect("looked at").removed, [made.path]);
        assert_eq!(leftovers(&stage.lab).expect("looked at"), []);
        assert_eq!(stage.lab.all_made_files().expect("reads"), []);
    }
}

#[test]
fn a_budget_shortens_what_is_left_after_a_step_that_took_too_long() {
    let mut stage = Stage::new();
    stage.options.time_budget_ns = Some(16 * SECOND_NS);
    let mut site = ScriptedSite::new([Act::Overrun(9)]);
    stage.conduct(&mut site, &plan(4)).expect("goes well");
    let lengths: Vec<u64> =
        site.calls.iter().filter_map(|c| if let Call::Run(_, ns) = c { Some(*ns) } else { None }).collect();
    assert_eq!(lengths.len(), 4);
    assert!(lengths[1] < 4 * SECOND_NS && lengths.iter().sum::<u64>() <= 13 * SECOND_NS, "{lengths:?}");
}

#[test]
fn a_budget_gives_steps_the_time_that_refused_ones_left() {
    let mut stage = Stage::new();
    stage.options.time_budget_ns = Some(16 * SECOND_NS);
    let mut site = ScriptedSite::new([Act::Refuse, Act::Refuse]);
    stage.conduct(&mut site, &plan(4)).expect("goes well");
    let last = site.calls.iter().rev().find_map(|c| if let Call::Run(_, ns) = c { Some(*ns) } else { None });
    assert!(last.is_some_and(|ns| ns > 5 * SECOND_NS && ns <= 8 * SECOND_NS), "{last:?}");
}

#[test]
fn a_budget_says_nothing_about_virtual_time() {
    let mut stage = Stage::new();
    stage.options.time_budget_ns = Some(SECOND_NS);
    let mut site = ScriptedSite::new([]);
    site.is_in_real_time = false;
    stage.conduct(&mut site, &plan(3)).expect("goes well");
    assert!(site.calls.contains(&Call::Run(2, 4 * SECOND_NS)));
}

/// Rounds of one loop over one step.
fn rounds(count: u32) -> Plan {
    let mut plan = plan(count);
    for (index, step) in (0..).zip(&mut plan.steps) {
        step.role.round = Some(Round { loop_id: 1, index, max: count, metric: Some(Metric::Iops) });
    }
    plan
}

#[test]
fn a_loop_ends_with_the_round_in_which_it_is_steady() {
    let mut stage = Stage::new();
    let mut site = ScriptedSite::new([]);
    let outcome = stage.conduct(&mut site, &rounds(12)).expect("goes well");
    assert_eq!(site.ran(), [0, 1, 2, 3, 4], "five equal rounds are steady by SNIA's rule");
    assert_eq!(stage.state(outcome.run), RunState::Finished);
}

#[test]
fn a_loop_that_never_settles_runs_all_its_rounds() {
    let mut stage = Stage::new();
    let acts = (0..8).map(|i| Act::Measure(1_000 * 2_u64.pow(i)));
    let mut site = ScriptedSite::new(acts);
    stage.conduct(&mut site, &rounds(8)).expect("goes well");
    assert_eq!(site.ran().len(), 8);
}

#[test]
fn a_loop_whose_step_is_refused_is_not_tried_again() {
    let mut stage = Stage::new();
    let mut site = ScriptedSite::new([Act::Refuse]);
    stage.conduct(&mut site, &rounds(8)).expect("goes well");
    assert_eq!(site.ran(), [0]);
}

#[test]
fn no_round_begins_after_the_time_is_used_up() {
    let mut stage = Stage::new();
    stage.options.time_budget_ns = Some(SECOND_NS / 4);
    let mut site = ScriptedSite::new((0..12).map(|i| Act::Overrun(1_000 * 2_u64.pow(i))));
    stage.conduct(&mut site, &rounds(12)).expect("goes well");
    assert!(site.ran().len() < 12, "{:?}", site.ran());
    assert!(stage.notes.contains(&"run-budget-used-up".to_owned()));
}

#[test]
fn a_resumed_loop_remembers_its_rounds() {
    let mut stage = Stage::new();
    let acts = [Act::Measure(1_000), Act::Measure(1_000), Act::StopAfter(1_000)];
    let run = stage.conduct(&mut ScriptedSite::new(acts), &rounds(12)).expect("stops").run;
    let mut site = ScriptedSite::new([]);
    stage.resume(&mut site, run).expect("goes on");
    assert_eq!(site.ran(), [3, 4], "two more make five");
}

#[test]
fn a_step_over_more_drives_than_there_are_is_refused_before_the_site_sees_it() {
    let mut stage = Stage::new();
    let mut plan = plan(2);
    plan.steps[1].role.devices = Some(4);
    let mut site = ScriptedSite::new([]);
    let outcome = stage.conduct(&mut site, &plan).expect("goes well");
    assert_eq!((site.ran(), stage.outcomes(outcome.run).as_str()), (vec![0], "mr"));
}

#[test]
fn predictions_are_stored_before_what_they_predict_and_screens_are_no_steps() {
    let mut stage = Stage::new();
    stage.options.predict = true;
    let mut plan = plan(4);
    for (depth, step) in [1, 4, 16, 64].into_iter().zip(&mut plan.steps) {
        step.load.queue_depth = depth;
    }
    let mut site = ScriptedSite::new([]);
    let outcome = stage.conduct(&mut site, &plan).expect("goes well");
    assert_eq!(stage.outcomes(outcome.run), "mmmm");
    assert!(site.ran().len() > 4, "screens run beside the plan");
    let predicted = stage.lab.predictions(outcome.run).expect("reads");
    assert!(!predicted.is_empty() && predicted[0].steps.iter().all(|s| s.index < 4));
}

#[test]
fn a_stop_while_screening_ends_the_run_without_a_prediction() {
    let mut stage = Stage::new();
    stage.options.predict = true;
    let mut site = ScriptedSite::new([Act::StopDuring(9)]);
    let outcome = stage.conduct(&mut site, &plan(2)).expect("stops");
    assert!(outcome.interrupted);
    assert_eq!(stage.lab.predictions(outcome.run).expect("reads").len(), 0);
}

#[test]
fn a_run_by_another_process_is_not_taken_over() {
    let mut stage = Stage::new();
    let run = stage.conduct(&mut ScriptedSite::new([Act::StopAfter(9)]), &plan(2)).expect("stops").run;
    stage.lab.resume_run(run).expect("by this process");
    let head = stage.lab.load_head(run).expect("is there");
    let mut site = ScriptedSite::new([]);
    let result = resume_at(&mut site, &mut stage.lab, &head, &stage.options, &stage.stop, &mut |_| {});
    assert!(matches!(result, Err(ConductError::Store(StoreError::RunClosed { .. }))));
    assert!(site.ran().is_empty());
}

#[test]
fn deleting_a_run_removes_its_file_by_its_mark_and_no_other() {
    let dir = tempfile::tempdir().expect("temp dir");
    let mark = fathom_host::FileMark::new().expect("random bits");
    let (own, others) = (dir.path().join("own"), dir.path().join("others"));
    drop(OwnFile::create(&own, 1 << 20, mark).expect("made"));
    std::fs::write(&others, "theirs").expect("file");
    let mut stage = Stage::new();
    let mut site = ScriptedSite::new([Act::StopAfter(9)]).with_file("file", own.clone(), false);
    site.files[0].mark = mark;
    let first = stage.conduct(&mut site, &conditioned()).expect("stops").run;
    stage.stop.store(false, Ordering::Relaxed);
    let mut site = ScriptedSite::new([Act::StopAfter(9)]).with_file("file", others.clone(), false);
    let second = stage.conduct(&mut site, &conditioned()).expect("stops").run;
    for run in [first, second] {
        delete_run(&mut stage.lab, run).expect("deleted");
    }
    assert!(!own.exists());
    assert_eq!(std::fs::read_to_string(&others).expect("there"), "theirs");
}
