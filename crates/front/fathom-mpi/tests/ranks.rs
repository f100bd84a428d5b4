//! Real MPI on this machine: mpirun starts the program, in one place or in several network namespaces.

mod launch;
mod targets;

use std::path::Path;
use std::time::{Duration, Instant};

use launch::{Namespaces, Run, SlowLink};

/// Four ranks read files of their own: their record is the sum, and says how they began.
#[test]
fn four_ranks_are_one_record() {
    let dir = tempfile::tempdir().expect("a folder");
    let target = dir.path().join("data");
    std::fs::create_dir(&target).expect("a folder");
    let ended = Run::new(dir.path(), 4)
        .words(&["io", "--rw", "randrw", "--size", "1m", "--runtime", "500ms", "--json", "--quiet", "--target"])
        .word(&target)
        .run();
    let step = ended.step();
    let ranks = step["ranks"]["ranks"].as_array().expect("ranks");
    assert_eq!(ranks.len(), 4);
    let sum = |key: &str| ranks.iter().map(|rank| rank[key].as_u64().expect(key)).sum::<u64>();
    assert_eq!(sum("ios"), step["ios"].as_u64().expect("ios"));
    assert!(sum("bytes") > 0 && sum("errors") == 0);
    // All ranks have this machine's clock: what was found is wrong by what it shows, and may be by its bound.
    for rank in ranks {
        let (offset, bound) = (rank["clock"]["offset_ns"].as_i64(), rank["clock"]["bound_ns"].as_u64());
        assert!(offset.expect("offset").unsigned_abs() <= bound.expect("bound"), "{}", rank["clock"]);
    }
    let together = step["ranks"]["together_ns"].as_u64().expect("together");
    let skew = step["ranks"]["start_skew_ns"].as_u64().expect("skew");
    assert!(together + skew <= 501_000_000 + skew && together > 0, "{together} {skew}");
    assert!(std::fs::read_dir(&target).expect("reads").next().is_none(), "each removed its own file");
}

#[test]
fn eight_ranks_on_few_cpus_do_not_wait_for_each_other_for_ever() {
    let dir = tempfile::tempdir().expect("a folder");
    let words = ["io", "--target", "null", "--engine", "null", "--runtime", "200ms", "--json", "--quiet"];
    let ended = Run::new(dir.path(), 8).words(&words).run();
    assert_eq!(ended.step()["ranks"]["ranks"].as_array().map(Vec::len), Some(8));
}

#[test]
fn a_plan_that_differs_is_refused_with_its_rank() {
    let dir = tempfile::tempdir().expect("a folder");
    let words = ["io", "--target", "null", "--engine", "null", "--runtime", "200ms"];
    let other = ["io", "--target", "null", "--engine", "null", "--runtime", "300ms"];
    let ended = Run::new(dir.path(), 1).words(&words).beside(&other).run();
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("rank 1 on ") && ended.stderr.contains("its plan is another"), "{}", ended.stderr);
}

/// The same program but for its version, as on a host where an update was forgotten.
#[test]
fn another_version_is_refused_with_its_rank() {
    let dir = tempfile::tempdir().expect("a folder");
    let words = ["io", "--target", "null", "--engine", "null", "--runtime", "200ms"];
    let other = Path::new(env!("CARGO_BIN_EXE_fathom-mpi")).with_file_name("examples/other_version");
    let ended = Run::new(dir.path(), 1).words(&words).program_beside(&other, &words).run();
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    let said = format!("it is Fathom 0.0.0-other, and rank 0 is {}", env!("CARGO_PKG_VERSION"));
    assert!(ended.stderr.contains("rank 1 on ") && ended.stderr.contains(&said), "{}", ended.stderr);
}

/// mdtest's pattern: each rank makes files in folders of its own, all at once.
#[test]
fn files_are_made_by_all_ranks_and_counted_together() {
    let dir = tempfile::tempdir().expect("a folder");
    let target = dir.path().join("data");
    std::fs::create_dir(&target).expect("a folder");
    for rw in ["filecreate", "filestat", "filedelete"] {
        let words = ["io", "--rw", rw, "--nrfiles", "200", "--numjobs", "2", "--json", "--quiet", "--target"];
        let step = Run::new(dir.path(), 3).words(&words).word(&target).run().step();
        // The step's own figures are of the time in which all ran.
        let ranks = step["ranks"]["ranks"].as_array().expect("ranks");
        assert_eq!(ranks.iter().map(|rank| rank["ios"].as_u64().expect("ios")).sum::<u64>(), 3 * 2 * 200, "{rw}");
        assert_eq!(ranks.len(), 3);
        let machines = step["ranks"]["machines"].as_array().expect("hosts");
        assert_eq!(machines.len(), 1, "ranks of one host");
    }
    assert!(std::fs::read_dir(&target).expect("reads").next().is_none(), "their folders are removed");
}

/// Words that nobody takes are said once.
#[test]
fn a_mistyped_word_is_said_by_one_rank() {
    let dir = tempfile::tempdir().expect("a folder");
    let ended = Run::new(dir.path(), 3).words(&["io", "--bogus"]).run();
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert_eq!(ended.stderr.matches("unexpected argument").count(), 1, "{}", ended.stderr);
}

/// What the launcher of another MPI starts sees itself alone, as often as it is started: the first says so, none runs.
#[test]
fn processes_of_another_launcher_are_refused_once() {
    let words = ["io", "--target", "null", "--engine", "null", "--runtime", "100ms", "--quiet"];
    for (environment, says) in [
        (&[("PMI_SIZE", "2"), ("PMI_RANK", "0")][..], "MPICH, Intel MPI or srun --mpi=pmi2 started 2 processes"),
        (&[("PMI_SIZE", "2"), ("PMI_RANK", "1")], ""),
        (&[("SLURM_STEP_NUM_TASKS", "8"), ("SLURM_PROCID", "0")], "srun started 8 processes"),
        (&[("SLURM_STEP_NUM_TASKS", "8"), ("SLURM_PROCID", "7")], ""),
    ] {
        let dir = tempfile::tempdir().expect("a folder");
        let ended = launch::alone(dir.path(), &words, environment);
        assert_eq!(ended.code, 2, "{environment:?} {}", ended.stderr);
        assert!(ended.stderr.contains(says) && ended.stderr.is_empty() == says.is_empty(), "{}", ended.stderr);
        assert!(says.is_empty() || ended.stderr.contains("Open MPI v"), "{}", ended.stderr);
        assert!(!dir.path().join("lab.db").exists(), "nothing was run");
    }
    // One process is one, without a launcher and with one that says so.
    for environment in [&[][..], &[("PMI_SIZE", "1"), ("PMI_RANK", "0")]] {
        let dir = tempfile::tempdir().expect("a folder");
        let ended = launch::alone(dir.path(), &words, environment);
        assert_eq!(ended.code, 0, "{environment:?} {}", ended.stderr);
    }
}

/// A run that was stopped goes on with fewer ranks, and with no more than it began with.
#[test]
fn a_run_goes_on_with_fewer_ranks() {
    let dir = tempfile::tempdir().expect("a folder");
    let study = dir.path().join("two.toml");
    std::fs::write(&study, TWO_STEPS).expect("a file");
    let started = Run::new(dir.path(), 3).words(&["run", "--target", "null", "--quiet"]).word(&study).start();
    // The first step is kept, and the second stopped in its middle.
    while launch::shown(dir.path()).is_none_or(|shown| shown["steps"].as_array().is_none_or(Vec::is_empty)) {
        std::thread::sleep(Duration::from_millis(50));
    }
    started.wait_until_measuring();
    launch::signal("INT", started.launcher());
    started.wait();
    assert_eq!(launch::show(dir.path())["run"]["state"], "interrupted");
    let again = ["run", "--resume", "last", "--quiet", "--json"];
    let more = Run::new(dir.path(), 4).words(&again).run();
    assert_eq!(more.code, 3, "{}", more.stderr);
    assert!(more.stderr.contains("run 1 was begun with 3 ranks and cannot go on with 4"), "{}", more.stderr);
    let other = Run::new(dir.path(), 1).words(&again).beside(&["run", "--resume", "7", "--quiet", "--json"]).run();
    assert!(other.stderr.contains("rank 1 on ") && other.stderr.contains("its plan is another"), "{}", other.stderr);
    let ended = Run::new(dir.path(), 2).words(&again).run();
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let shown = launch::show(dir.path());
    assert_eq!(shown["run"]["state"], "finished");
    let ranks = |step: usize| shown["steps"][step]["ranks"]["ranks"].as_array().map(Vec::len);
    assert_eq!((ranks(0), ranks(1)), (Some(3), Some(2)), "what was done is kept, the rest is run");
}

const TWO_STEPS: &str = r#"
[study]
name = "two"
question = "How fast?"
[defaults]
engine = "null"
runtime = "3s"
[[ladder]]
rw = "randread"
bs = "4k"
iodepth = [1, 2]
"#;

/// A rank that hangs is named within the time that it may say nothing; the others' figures are kept, and nothing stays.
#[test]
fn a_rank_that_hangs_ends_the_step_by_name() {
    let dir = tempfile::tempdir().expect("a folder");
    let words = ["io", "--target", "null", "--engine", "null", "--runtime", "20s", "--json", "--quiet"];
    let running = Run::new(dir.path(), 3).words(&["--silence", "3s"]).words(&words).start();
    running.wait_until_measuring();
    let hung = running.ranks()[2];
    let begun = Instant::now();
    launch::signal("STOP", hung);
    let ended = running.wait();
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    let step = ended.step();
    let lost = step["ranks"]["lost"].as_array().expect("lost");
    assert_eq!(lost.len(), 1, "{}", ended.stderr);
    assert!(step["ios"].as_u64().expect("ios") > 0);
    assert!(!launch::is_alive(hung), "it went with the others");
}

/// Ctrl-C reaches all of them: the run is kept as interrupted, and their files go.
#[test]
fn an_interrupt_ends_all_ranks_and_keeps_the_run() {
    let dir = tempfile::tempdir().expect("a folder");
    let target = dir.path().join("data");
    std::fs::create_dir(&target).expect("a folder");
    let words = ["io", "--rw", "randread", "--size", "1m", "--runtime", "20s", "--quiet", "--target"];
    let running = Run::new(dir.path(), 2).words(&words).word(&target).start();
    running.wait_until_measuring();
    let ranks = running.ranks();
    launch::signal("INT", running.launcher());
    running.wait();
    assert!(ranks.iter().all(|pid| !launch::is_alive(*pid)), "no process is left");
    let kept = launch::show(dir.path());
    assert!(kept["steps"][0]["ios"].as_u64().expect("ios") > 0);
    assert_eq!(kept["run"]["state"], "interrupted");
}

/// Four hosts as far as MPI sees: each rank in a network and with a host name of its own, messages over TCP.
#[test]
fn ranks_in_four_network_namespaces_are_one_record() {
    let Some(hosts) = Namespaces::new(4) else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let words = ["io", "--target", "null", "--engine", "null", "--runtime", "500ms", "--json", "--quiet"];
    let ended = Run::new(dir.path(), 4).on(&hosts).words(&words).run();
    let step = ended.step();
    let ranks = step["ranks"]["ranks"].as_array().expect("ranks");
    let names: Vec<&str> = ranks.iter().filter_map(|rank| rank["host"].as_str()).collect();
    assert_eq!(names, ["node1", "node2", "node3", "node4"]);
    assert_eq!(ranks.iter().map(|rank| rank["ios"].as_u64().expect("ios")).sum::<u64>(), step["ios"]);
    for rank in ranks {
        let (offset, bound) = (rank["clock"]["offset_ns"].as_i64(), rank["clock"]["bound_ns"].as_u64());
        assert!(offset.expect("offset").unsigned_abs() <= bound.expect("bound"), "{}", rank["clock"]);
    }
}

/// Scaling over hosts, of which each is a network namespace: first one host takes part, then two, then all four.
#[test]
fn a_ladder_over_hosts_is_measured_by_so_many_of_them() {
    let Some(hosts) = Namespaces::new(4) else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let words = ["--ranks", "1,2,4,8", "io", "--target", "null", "--engine", "null", "--runtime", "300ms"];
    let ended = Run::new(dir.path(), 4).on(&hosts).words(&words).words(&["--json", "--quiet"]).run();
    assert_eq!(ended.code, 1, "one of its steps was refused: {}", ended.stderr);
    let document: serde_json::Value = serde_json::from_str(&ended.stdout).expect("a document");
    let steps = document["steps"].as_array().expect("steps");
    let hosts_of = |step: &serde_json::Value| {
        let ranks = step["ranks"]["ranks"].as_array().cloned().unwrap_or_default();
        ranks.iter().map(|rank| rank["host"].as_str().expect("a host").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(hosts_of(&steps[0]), ["node1"]);
    assert_eq!(hosts_of(&steps[1]), ["node1", "node2"]);
    assert_eq!(hosts_of(&steps[2]), ["node1", "node2", "node3", "node4"]);
    assert_eq!((&steps[3]["state"], steps.len()), (&"refused".into(), 4));
    let ladders = document["ladders"].as_array().expect("ladders");
    let ladder = ladders.iter().find(|ladder| ladder["axis"] == "ranks").expect("a ladder over ranks");
    let places: Vec<f64> =
        ladder["points"].as_array().expect("points").iter().filter_map(|point| point["at"].as_f64()).collect();
    assert_eq!(places, [1.0, 2.0, 4.0]);
    assert_eq!(document["verdict"][0]["question"], "Does it grow with hosts, and what stops it?");
}

/// A host that is 20 ms away and loses a frame in a hundred: what is said of its clock and of the start holds, as all
/// clocks are one.
#[test]
fn a_slow_link_widens_the_bounds_and_they_hold() {
    let Some(hosts) = Namespaces::with(2, Some(SlowLink { host: 2, delay_ms: 20, loss_pct: 1 })) else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let words = ["io", "--target", "null", "--engine", "null", "--runtime", "500ms", "--json", "--quiet"];
    let ended = Run::new(dir.path(), 2).on(&hosts).words(&words).run();
    let step = ended.step();
    let far = &step["ranks"]["ranks"][1];
    assert_eq!(far["host"], "node2");
    let (offset, bound) = (far["clock"]["offset_ns"].as_i64(), far["clock"]["bound_ns"].as_u64().expect("bound"));
    assert!(offset.expect("offset").unsigned_abs() <= bound, "{}", far["clock"]);
    assert!(bound >= 10_000_000, "half of the way there and back: {bound} ns");
    // How far apart they began in truth, by the one clock, is what is said of it to within its bound.
    let skew = step["ranks"]["start_skew_ns"].as_i64().expect("skew");
    let skew_bound = step["ranks"]["start_skew_bound_ns"].as_u64().expect("bound");
    let start = |rank: &serde_json::Value| rank["start_ns"].as_i64().expect("start");
    let apart = start(far) + offset.expect("offset") - start(&step["ranks"]["ranks"][0]);
    assert!(skew.abs_diff(apart.abs()) <= skew_bound, "{skew} {apart} {skew_bound}");
}

/// The network of a host goes: its rank is named, the figures of the other are kept, and it ends by itself, without its
/// files.
#[test]
fn a_rank_that_is_cut_off_is_named_and_ends_by_itself() {
    let Some(hosts) = Namespaces::new(2) else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let target = dir.path().join("data");
    std::fs::create_dir(&target).expect("a folder");
    let words = ["io", "--rw", "randread", "--size", "1m", "--runtime", "30s", "--json", "--quiet", "--target"];
    let running = Run::new(dir.path(), 2).on(&hosts).words(&["--silence", "3s"]).words(&words).word(&target).start();
    running.wait_until_measuring();
    let ranks = running.ranks();
    hosts.cut_off(2);
    let begun = Instant::now();
    while ranks.iter().any(|pid| launch::is_alive(*pid)) {
        assert!(begun.elapsed() < Duration::from_secs(40), "a rank goes on");
    }
    // What mpirun waits for is its own daemon there, until TCP gives it up: Open MPI's affair.
    hosts.join_again(2);
    let ended = running.wait();
    let step = ended.step();
    let lost = step["ranks"]["lost"].as_array().expect("lost");
    assert_eq!(lost.len(), 1, "{}", ended.stderr);
    assert_eq!((&lost[0]["rank"], &lost[0]["host"]), (&1.into(), &"node2".into()));
    assert!(step["ios"].as_u64().expect("ios") > 0);
    assert!(std::fs::read_dir(&target).expect("reads").next().is_none(), "each removed its own file");
}

/// Tests that depend on time: the runner starts them last, one at a time, and allows one retry.
mod alone {
    use super::*;

    /// mpirun ends all ranks when one dies; rank 0 has a second to keep what there is.
    #[test]
    fn a_rank_that_dies_leaves_what_the_others_measured() {
        let dir = tempfile::tempdir().expect("a folder");
        let words = ["io", "--target", "null", "--engine", "null", "--runtime", "20s", "--json", "--quiet"];
        let running = Run::new(dir.path(), 3).words(&words).start();
        running.wait_until_measuring();
        let ranks = running.ranks();
        let begun = Instant::now();
        launch::signal("KILL", ranks[1]);
        running.wait();
        assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
        assert!(ranks.iter().all(|pid| !launch::is_alive(*pid)), "no process is left");
        let kept = launch::show(dir.path());
        let step = &kept["steps"][0];
        assert!(step["ios"].as_u64().expect("ios") > 0, "{step}");
        assert_eq!(step["ranks"]["lost"].as_array().map(Vec::len), Some(1));
    }
}
