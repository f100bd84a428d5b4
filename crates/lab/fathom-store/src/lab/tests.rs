//! Files that are no lab, newer labs, damaged, locked and full ones: named, and left as they were.

use std::fs;

use fathom_language::english;
use fathom_message::Say as _;

use super::*;
use crate::{MadeFile, NewRun, RecoveredRun, RunId, RunState, WorkFolder};
use fathom_plan::{Plan, StudyHead};

fn new_lab() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("temp dir");
    let path = dir.path().join("fathom.db");
    let mut lab = Lab::open(&path).expect("opens");
    begin(&mut lab, "").expect("begins");
    drop(lab);
    (dir, path)
}

fn begin(lab: &mut Lab, host_json: &str) -> Result<RunId, StoreError> {
    let study = StudyHead::new("s", "q");
    let plan = Plan {
        study,
        source: String::new(),
        steps: vec![],
        notes: vec![],
        job_files: Vec::new(),
        machine: None,
        ranks: None,
    };
    lab.begin_run(&NewRun {
        study: "s",
        question: "q",
        plan: &plan,
        host_json,
        fathom_version: "0",
        started_unix_ns: 1,
        command_line: "c",
        is_import: false,
    })
}

/// Opens without patience and expects a refusal that leaves the file as it is.
fn refused(path: &Path) -> StoreError {
    let before = fs::read(path).ok();
    let error = Lab::open_waiting(path, true, Duration::ZERO).expect_err("refused");
    assert_eq!(fs::read(path).ok(), before, "the file was changed by: {error}");
    assert!(!english(&error.help().expect("a remedy")).is_empty());
    error
}

#[test]
fn a_file_that_is_something_else_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().expect("temp dir");
    let text = dir.path().join("notes.txt");
    fs::write(&text, "These are my notes, and they are longer than a header of SQLite would be.\n".repeat(20))
        .expect("file");
    assert!(matches!(refused(&text), StoreError::NotALab { why, .. } if why.id() == "lab-no-database"));

    let short = dir.path().join("short");
    fs::write(&short, "hello").expect("file");
    assert!(matches!(refused(&short), StoreError::NotALab { .. } | StoreError::Damaged { .. }));

    let other = dir.path().join("other.db");
    Connection::open(&other).expect("opens").execute_batch("CREATE TABLE songs (id INTEGER)").expect("table");
    let error = refused(&other);
    assert!(matches!(&error, StoreError::NotALab { why, .. } if why.id() == "lab-of-another-program"), "{error}");

    assert!(matches!(refused(dir.path()), StoreError::NotAFile(_)));
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(dir.path().join("made-elsewhere"), &link).expect("symlink");
    assert!(matches!(refused(&link), StoreError::NotAFile(_)));
    assert!(!dir.path().join("made-elsewhere").exists());
    assert!(matches!(refused(Path::new("/dev/null")), StoreError::NotAFile(_)));
}

#[test]
fn a_missing_or_empty_lab_is_only_made_when_asked() {
    let dir = tempfile::tempdir().expect("temp dir");
    let path = dir.path().join("fathom.db");
    assert!(matches!(Lab::open_existing(&path), Err(StoreError::Missing { .. })));
    assert!(!path.exists());
    fs::write(&path, "").expect("file");
    assert!(matches!(Lab::open_existing(&path), Err(StoreError::Missing { .. })));
    assert!(Lab::open(&path).expect("made").runs().expect("lists").is_empty());
    assert!(Lab::open_existing(&path).is_ok());
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let dir = tempfile::tempdir().expect("temp dir");
    fs::write(dir.path().join("file"), "x").expect("file");
    let error = Lab::open(&dir.path().join("file/below/fathom.db")).expect_err("no folder");
    assert!(matches!(error, StoreError::Folder { .. }), "{error}");
}

#[test]
fn a_newer_schema_is_refused_with_both_versions() {
    let (_dir, path) = new_lab();
    let newer = SCHEMA_VERSION + 1;
    Connection::open(&path).expect("opens").execute_batch(&format!("PRAGMA user_version = {newer}")).expect("set");
    let error = refused(&path);
    assert!(matches!(error, StoreError::NewerSchema { found, known, .. } if found == newer && known == SCHEMA_VERSION));
}

#[test]
fn a_truncated_or_overwritten_lab_is_damaged_not_empty() {
    let (_dir, path) = new_lab();
    let whole = fs::read(&path).expect("read");
    for length in [whole.len() / 2, whole.len() - 4096, 4096, 5000] {
        fs::write(&path, &whole[..length]).expect("cut");
        let outcome = Lab::open_existing(&path).and_then(|lab| lab.load_head(RunId(1)));
        assert!(matches!(outcome, Err(StoreError::Damaged { .. })), "cut to {length} of {}: {outcome:?}", whole.len());
    }
    let mut noise = whole.clone();
    noise[4096..].fill(0xA5);
    fs::write(&path, &noise).expect("overwritten");
    let outcome = Lab::open_existing(&path).and_then(|lab| lab.load_head(RunId(1)));
    assert!(matches!(outcome, Err(StoreError::Damaged { .. })), "{outcome:?}");
    fs::write(&path, &whole).expect("restored");
    assert!(Lab::open_existing(&path).expect("opens").load_head(RunId(1)).is_ok());
}

#[test]
fn a_locked_lab_names_the_process_that_holds_it() {
    let (_dir, path) = new_lab();
    let mut waiting = Lab::open_waiting(&path, false, Duration::ZERO).expect("opens");
    let holder = Connection::open(&path).expect("opens");
    holder.execute_batch("BEGIN IMMEDIATE").expect("locks");
    let error = begin(&mut waiting, "").expect_err("locked");
    let us = format!("process {}", std::process::id());
    assert!(matches!(&error, StoreError::Locked { holder, .. } if english(holder).contains(&us)), "{error}");
    // Readers are not held up by a writer.
    assert_eq!(waiting.runs().expect("lists").len(), 1);
    holder.execute_batch("COMMIT").expect("unlocks");
    begin(&mut waiting, "").expect("free again");
}

#[test]
fn a_lab_locked_for_itself_by_another_cannot_be_opened() {
    let (_dir, path) = new_lab();
    let holder = Connection::open(&path).expect("opens");
    holder.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE").expect("locks");
    let error = Lab::open_waiting(&path, false, Duration::ZERO).expect_err("locked");
    assert!(matches!(error, StoreError::Locked { .. }), "{error}");
}

#[test]
fn no_space_left_is_said_so_and_loses_nothing() {
    let (_dir, path) = new_lab();
    let mut lab = Lab::open(&path).expect("opens");
    // SQLite answers a page limit exactly as it answers a full file system.
    let pages: i64 = lab.pragma("page_count").expect("counts");
    lab.db.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |row| row.get::<_, i64>(0)).expect("limits");
    let error = begin(&mut lab, &"x".repeat(1 << 20)).expect_err("full");
    assert!(matches!(error, StoreError::DiskFull { .. }), "{error}");
    assert_eq!(lab.runs().expect("still readable").len(), 1);
}

#[test]
fn a_write_protected_lab_says_so() {
    let (_dir, path) = new_lab();
    let mut lab = Lab::open(&path).expect("opens");
    lab.db.execute_batch("PRAGMA query_only = ON").expect("protects");
    let error = begin(&mut lab, "").expect_err("write protected");
    assert!(matches!(error, StoreError::NotWritable { .. }), "{error}");
}

#[test]
fn commits_reach_the_disk_and_foreign_keys_hold() {
    let (_dir, path) = new_lab();
    let lab = Lab::open(&path).expect("opens");
    let mode: String = lab.db.query_row("PRAGMA journal_mode", [], |row| row.get(0)).expect("reads");
    assert_eq!(mode, "wal");
    const FULL: i64 = 2;
    const INCREMENTAL: i64 = 2;
    for (name, want) in [("synchronous", FULL), ("foreign_keys", 1), ("auto_vacuum", INCREMENTAL)] {
        assert_eq!(lab.pragma(name).expect("reads"), want, "{name}");
    }
}

#[test]
fn a_trigger_in_a_lab_that_somebody_made_is_not_executed() {
    let (_dir, path) = new_lab();
    let trap = "CREATE TRIGGER trap AFTER INSERT ON run BEGIN DELETE FROM run; END";
    Connection::open(&path).expect("opens").execute_batch(trap).expect("a trigger");
    let mut lab = Lab::open(&path).expect("opens");
    begin(&mut lab, "").expect("begins");
    assert_eq!(lab.runs().expect("lists").len(), 2);
}

#[test]
fn files_that_a_run_made_are_known_until_they_are_removed_and_go_with_the_run() {
    let (_dir, path) = new_lab();
    let mut lab = Lab::open(&path).expect("opens");
    let run = begin(&mut lab, "").expect("begins");
    let file = |name: &str, is_kept| MadeFile {
        target: name.into(),
        path: PathBuf::from(name),
        bytes: 1 << 40,
        mark: fathom_host::FileMark::new().expect("random bits"),
        is_kept,
    };
    let (a, b) = (file("a", false), file("b", true));
    for file in [&a, &b] {
        lab.add_made_file(run, file).expect("noted");
    }
    let absolute = |file: MadeFile| MadeFile { path: std::path::absolute(&file.path).expect("absolute"), ..file };
    let (a, b) = (absolute(a), absolute(b));
    assert_eq!(lab.made_files(run).expect("reads"), [a.clone(), b.clone()]);
    lab.forget_made_files(&[a.mark]).expect("forgotten");
    assert_eq!(lab.all_made_files().expect("reads"), [(run, b)]);
    lab.delete_run(run).expect("deleted");
    assert_eq!(lab.all_made_files().expect("reads"), []);
}

#[test]
fn folders_of_work_are_known_until_they_are_forgotten_or_their_run_is_deleted() {
    let (_dir, path) = new_lab();
    let mut lab = Lab::open(&path).expect("opens");
    let run = begin(&mut lab, "").expect("begins");
    let folder = |path: &str, run| WorkFolder { path: path.into(), mount_point: "/mnt".into(), run };
    let (own, other) = (folder("/mnt/a", Some(run)), folder("/mnt/a", None));
    for folder in [&own, &other, &own, &other] {
        lab.add_work_folder(folder).expect("noted");
    }
    assert_eq!(lab.work_folders().expect("reads"), [other.clone(), own], "each once");
    lab.delete_run(run).expect("deleted");
    assert_eq!(lab.work_folders().expect("reads"), std::slice::from_ref(&other));
    lab.forget_work_folder(&other).expect("forgotten");
    assert_eq!(lab.work_folders().expect("reads"), []);
}

/// Another process that holds the write lock until this is dropped.
fn held(path: &Path) -> Connection {
    let other = Connection::open(path).expect("opens");
    other.execute_batch("BEGIN IMMEDIATE").expect("locked");
    other
}

/// A prediction of a step that has not ended.
fn prediction(made_unix_ns: u64) -> fathom_record::LadderPrediction {
    let steps = vec![fathom_record::PredictedStep { index: 7, iops: made_unix_ns as f64, lat_mean_ns: 1.0 }];
    fathom_record::LadderPrediction { made_unix_ns, screens: Vec::new(), steps }
}

/// A step that was refused, which needs no figures.
fn commit(lab: &mut Lab, run: RunId, index: u32) -> Result<(), StoreError> {
    let mut step =
        fathom_plan::Plan::from_io(&fathom_plan::Knobs::new(), vec!["f".into()], "").expect("a plan").steps.remove(0);
    step.index = index;
    let failure = fathom_record::StepFailure::Refused {
        what: msg!("verbatim", text = "it"),
        why: msg!("verbatim", text = "so"),
        help: msg!("verbatim", text = "no"),
    };
    lab.commit_step(run, &step, Err(&failure))
}

#[test]
fn a_run_that_a_locked_lab_does_not_take_is_taken_in_by_the_next_that_opens_it() {
    let (_dir, path) = new_lab();
    let mut lab = Lab::open(&path).expect("opens");
    let before = begin(&mut lab, "before").expect("begins");
    lab.finish_run(before, RunState::Finished, 5).expect("ends");
    let run = begin(&mut lab, "at stake").expect("begins");
    commit(&mut lab, run, 0).expect("committed");
    let told = std::rc::Rc::new(std::cell::Cell::new(0));
    let counted = told.clone();
    lab.when_waiting(move |message| counted.set(counted.get() + u32::from(message.id() == "lab-waits")), || true);
    let holder = held(&path);
    commit(&mut lab, run, 1).expect("kept beside the lab");
    let unsaved = lab.unsaved().expect("is unsaved").clone();
    assert_eq!((unsaved.run, unsaved.is_beside, told.get()), (run, true, 0), "a run that was stopped waits a second");
    commit(&mut lab, run, 2).expect("goes on there");
    lab.finish_run(run, RunState::Finished, 9).expect("ends");
    assert_eq!(lab.load_run(run).expect("is whole").steps.len(), 3);
    drop(lab);
    assert_eq!(Lab::open(&path).expect("reads meanwhile").step_indexes(run).expect("reads"), [0]);
    drop(holder);
    let lab = Lab::open_existing(&path).expect("opens");
    assert_eq!(lab.recovered(), [RecoveredRun { run, path: unsaved.path.clone() }]);
    assert_eq!(lab.step_indexes(run).expect("reads"), [0, 1, 2]);
    assert_eq!(lab.summary(run).expect("reads").state, RunState::Finished);
    assert_eq!(lab.runs().expect("reads").len(), 3);
    assert!(!unsaved.path.exists() && unsaved_files(&path).is_empty());
    assert_eq!(Lab::open(&path).expect("opens").recovered(), []);
}

#[test]
fn a_lab_that_is_removed_or_replaced_under_a_run_loses_none_of_it() {
    for replaces in [false, true] {
        let (_dir, path) = new_lab();
        let mut lab = Lab::open(&path).expect("opens");
        let run = begin(&mut lab, "at stake").expect("begins");
        lab.store_prediction(run, &prediction(1)).expect("stored");
        commit(&mut lab, run, 0).expect("committed");
        for suffix in ["", "-wal", "-shm"] {
            fs::remove_file(path.with_file_name(format!("fathom.db{suffix}"))).expect("removed");
        }
        let expected = if replaces {
            let mut other = Lab::open(&path).expect("another lab");
            begin(&mut other, "its first").expect("begins");
            let taken = begin(&mut other, "its second").expect("begins");
            other.db.execute("UPDATE run SET started_unix_ns = 77", []).expect("begun at another time");
            assert_eq!(taken, run, "its number is taken");
            other.store_prediction(taken, &prediction(2)).expect("stored");
            commit(&mut other, taken, 0).expect("committed");
            RunId(run.0 + 1)
        } else {
            run
        };
        commit(&mut lab, run, 1).expect("kept");
        lab.finish_run(run, RunState::Finished, 9).expect("ends");
        assert_eq!(lab.unsaved().map(|unsaved| unsaved.why.id().to_owned()), Some("lab-gone".to_owned()));
        drop(lab);
        let lab = Lab::open_existing(&path).expect("opens");
        assert_eq!(lab.recovered().iter().map(|taken| taken.run).collect::<Vec<_>>(), [expected]);
        assert_eq!(lab.step_indexes(expected).expect("reads"), [0, 1]);
        assert_eq!(lab.predictions(expected).expect("reads"), [prediction(1)]);
        assert_eq!(lab.runs().expect("reads").len(), if replaces { 3 } else { 1 });
        if replaces {
            assert_eq!(lab.step_indexes(run).expect("reads"), [0], "the steps of other runs stay");
            assert_eq!(lab.predictions(run).expect("reads"), [prediction(2)], "and their predictions");
        }
    }
}

#[test]
fn an_end_that_a_locked_lab_does_not_take_is_recovered_with_the_whole_run() {
    let (_dir, path) = new_lab();
    let mut lab = Lab::open(&path).expect("opens");
    let run = begin(&mut lab, "at stake").expect("begins");
    commit(&mut lab, run, 0).expect("committed");
    lab.when_waiting(|_| {}, || true);
    let holder = held(&path);
    lab.finish_run(run, RunState::Finished, 9).expect("ends beside the lab");
    assert_eq!(lab.unsaved().map(|unsaved| unsaved.run), Some(run));
    drop((holder, lab));
    let lab = Lab::open_existing(&path).expect("opens");
    assert_eq!(lab.summary(run).expect("reads").state, RunState::Finished);
    assert_eq!(lab.step_indexes(run).expect("reads"), [0]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_is_not_recovered_while_another_process_writes_it() {
    let (_dir, path) = new_lab();
    let mut lab = Lab::open(&path).expect("opens");
    let run = begin(&mut lab, "at stake").expect("begins");
    fs::remove_file(&path).expect("removed");
    commit(&mut lab, run, 0).expect("kept");
    let file = lab.unsaved().expect("is unsaved").path.clone();
    drop(lab);
    // Another process that lives as long as this one.
    let other = std::os::unix::process::parent_id();
    let ticks = fathom_host::processes::started_ticks(other).expect("alive");
    let owned_by = |pid: u32, ticks: u64| {
        let db = Connection::open(&file).expect("opens");
        db.execute("UPDATE run SET owner_pid = ?1, owner_started_ticks = ?2", (pid, ticks as i64)).expect("written");
    };
    owned_by(other, ticks);
    assert_eq!(Lab::open_existing(&path).expect("opens").recovered(), []);
    assert!(file.exists());
    owned_by(other, ticks + 1);
    assert_eq!(Lab::open_existing(&path).expect("opens").recovered().len(), 1, "its process has ended");
}

#[test]
fn a_file_that_has_the_name_of_an_unsaved_run_already_is_left_alone() {
    let (dir, path) = new_lab();
    let mut lab = Lab::open(&path).expect("opens");
    let run = begin(&mut lab, "at stake").expect("begins");
    let other = dir.path().join(format!("fathom.db-unsaved-{run}-{}", std::process::id()));
    fs::write(&other, "what somebody keeps").expect("written");
    fs::remove_file(&path).expect("removed");
    commit(&mut lab, run, 0).expect("kept elsewhere");
    let unsaved = lab.unsaved().expect("is unsaved");
    assert!(!unsaved.is_beside);
    assert_eq!(fs::read_to_string(&other).expect("reads"), "what somebody keeps");
    let elsewhere = unsaved.path.clone();
    drop(lab);
    crate::unsaved::remove(&elsewhere);
}

#[test]
fn a_file_that_another_process_recovered_is_not_created_again() {
    let (_dir, path) = new_lab();
    let lab = Lab::open(&path).expect("opens");
    let recovered = path.with_file_name("fathom.db-unsaved-1-2");
    assert!(crate::unsaved::Attached::new(&lab, &recovered).is_err());
    assert!(!recovered.exists());
}

#[test]
fn every_table_is_copied_with_a_run() {
    let (_dir, path) = new_lab();
    let lab = Lab::open(&path).expect("opens");
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";
    let mut statement = lab.db.prepare(sql).expect("a query");
    let tables: Vec<String> = statement.query_map([], |row| row.get(0)).expect("reads").flatten().collect();
    let mut copied = crate::unsaved::TABLES.map(|(table, _)| table);
    copied.sort_unstable();
    assert_eq!(tables, copied);
}
