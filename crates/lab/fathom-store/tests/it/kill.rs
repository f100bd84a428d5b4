//! kill -9 at any moment loses at most the step in progress.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use fathom_store::{Lab, RunState};

const LAB_VARIABLE: &str = "FATHOM_STORE_KILL_TEST_LAB";
const STEPS_MAX: u32 = 100_000;

/// The child: commits steps and says so after each, until it is killed.
fn commit_until_killed(path: &Path) {
    let mut lab = Lab::open(path).expect("opens");
    let plan = crate::samples::plan(1);
    let run = lab.begin_run(&crate::samples::new_run(&plan)).expect("begins");
    let mut out = std::io::stdout();
    for index in 0..STEPS_MAX {
        let record = crate::samples::record(u64::from(index % 7), 50);
        lab.commit_step(run, &crate::samples::step(index), Ok(&record)).expect("commits");
        writeln!(out, "committed {index}").and_then(|()| out.flush()).expect("the parent listens");
    }
    panic!("nobody killed the child");
}

/// Runs this test in a child process, kills it after `steps` commits, and returns how many it had confirmed.
fn kill_after(path: &Path, steps: usize) -> usize {
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "kill::all_steps_committed_before_a_kill_are_there", "--nocapture"])
        .env(LAB_VARIABLE, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the child starts");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let is_commit = |line: &String| line.contains("committed ");
    let before = lines.by_ref().map_while(Result::ok).filter(is_commit).take(steps).count();
    child.kill().expect("SIGKILL");
    child.wait().expect("reaped");
    // What it still said between our decision and its death.
    before + lines.map_while(Result::ok).filter(is_commit).count()
}

#[test]
fn all_steps_committed_before_a_kill_are_there() {
    if let Some(path) = std::env::var_os(LAB_VARIABLE) {
        return commit_until_killed(Path::new(&path));
    }
    let dir = tempfile::tempdir().expect("temp dir");
    let path = dir.path().join("fathom.db");
    for (round, steps) in [1usize, 8, 23, 40].into_iter().enumerate() {
        let confirmed = kill_after(&path, steps);
        assert!(confirmed >= steps, "the child confirmed {confirmed} of {steps} steps");

        let mut lab = Lab::open_existing(&path).expect("opens after the kill");
        let runs = lab.runs().expect("lists");
        assert_eq!(runs.len(), round + 1);
        let last = runs.last().expect("a run");
        assert_eq!((last.state, last.finished_unix_ns), (RunState::Interrupted, None));
        let stored = lab.step_indexes(last.id).expect("lists");
        // One more than confirmed: killed between its commit and its word.
        assert!((confirmed..=confirmed + 1).contains(&stored.len()), "{confirmed} confirmed, {} stored", stored.len());
        for index in stored {
            let step = lab.load_step(last.id, index).expect("readable");
            let want = crate::samples::record(u64::from(index % 7), 50);
            assert_eq!((step.step, step.outcome), (crate::samples::step(index), Ok(want)));
        }
        lab.resume_run(last.id).expect("an orphan can be resumed");
        lab.finish_run(last.id, RunState::Interrupted, 9).expect("and closed");
    }
}
