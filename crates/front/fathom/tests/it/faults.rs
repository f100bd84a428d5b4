//! What goes wrong while it runs: killed, interrupted, disk full, file cut off, device gone. What was measured stays.

use std::fs;
use std::time::{Duration, Instant};

use crate::cli::machine::{LoopDevice, Mounted, tool};
use crate::cli::{Place, contract, listing_of, skipped, warns};
use serde_json::Value;

const PLAN: &str = r#"
    [study]
    name = "six"
    question = "Does it survive?"
    [defaults]
    size = "16m"
    runtime = "150ms"
    [[ladder]]
    rw = ["randread", "randwrite"]
    iodepth = [1, 4, 16]
"#;
const STEPS: usize = 6;

/// Lines of stderr that say a step of [`PLAN`] was committed.
fn committed(talk: &str) -> usize {
    talk.lines().filter(|l| l.starts_with(" 4k random")).count()
}

#[test]
fn kill_9_loses_at_most_the_step_in_progress() {
    let place = Place::new();
    fs::write(place.file("six.toml"), PLAN).expect("written");
    // A spread of moments, from the first step to the last one.
    for (round, wait_ms) in [(0, 0), (1, 7), (2, 71), (3, 120), (4, 33), (5, 140)] {
        let mut running = place.start("run six.toml --target .");
        running.until("its step", |talk| talk.contains(" · run ") && committed(talk) >= round);
        std::thread::sleep(Duration::from_millis(wait_ms));
        let said = committed(&running.talk());
        running.signal("KILL");
        let ended = running.wait();
        assert_eq!(ended.code, None, "killed, not ended: {}", ended.err);

        let id = round + 1;
        let runs = place.json("list", 0)["runs"].as_array().expect("runs").clone();
        assert_eq!(runs.len(), id);
        assert_eq!(runs[round]["state"], "interrupted", "{}", runs[round]);
        let document = place.json(&format!("show {id}"), 0);
        let steps = document["steps"].as_array().expect("steps").len();
        assert!(steps >= said && steps <= STEPS, "{said} steps were confirmed, {steps} are kept");
        contract::holds(&document);
        place.run(&format!("show {id}")).expect(0, &[]);
        place.run(&format!("report {id} -o r.html")).expect(0, &[]);
        assert!(fs::metadata(place.file("r.html")).expect("a report").len() > 10_000);
    }
    // The next run clears away what the killed ones left, and works.
    place.run("run six.toml --target .").expect(0, &[]);
    let names: Vec<String> = place.listing().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["r.html", "six.toml"]);
    let last = place.json("show last", 0);
    assert_eq!((&last["run"]["state"], last["steps"].as_array().map(Vec::len)), (&"finished".into(), Some(STEPS)));
}

#[test]
fn a_study_that_is_interrupted_keeps_its_steps() {
    let place = Place::new();
    fs::write(place.file("six.toml"), PLAN.replace("150ms", "600ms")).expect("written");
    let mut running = place.start("run six.toml --target .");
    running.until("two steps", |talk| committed(talk) >= 2);
    running.signal("TERM");
    let ended = running.wait();
    ended.expect(4, &[]);
    let document = place.json("show 1", 0);
    let steps = document["steps"].as_array().expect("steps").len();
    assert!((2..STEPS).contains(&steps), "{steps} steps");
    assert_eq!(place.listing().len(), 1, "{:?}", place.listing());
}

#[test]
fn an_interruption_while_the_file_is_laid_out_leaves_nothing() {
    let place = Place::new();
    let mut running = place.start("io --target . --size 8g --runtime 1s");
    let begun = Instant::now();
    // The file has its size from the start; what is written shows in its blocks.
    while place.listing().is_empty() && begun.elapsed() < Duration::from_secs(20) && running.is_running() {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(100));
    let begun = Instant::now();
    running.signal("INT");
    let ended = running.wait();
    if ended.code == Some(2) && ended.err.contains("free some space") {
        return skipped("no 8 GiB of space");
    }
    ended.expect(4, &[]);
    // One second is promised. A deadline only tells a run that hangs.
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(place.listing().is_empty());
}

#[test]
fn a_disk_that_fills_up_while_it_is_laid_out_is_said_and_tidied() {
    let place = Place::new();
    let Some(small) = Mounted::ext4(&place, "small", 640 << 20, "rw") else { return };
    let target = small.path.display();
    let mut running = place.start(&format!("io --target {target} --size 500m --runtime 10s --rw randread"));
    let created = |all: &[(String, u64)]| all.iter().any(|(name, _)| name.starts_with("fathom-"));
    running.until("its file", |_| created(&listing_of(&small.path)));
    // Somebody else takes the space that was free a moment ago. It reserves, so it is faster than writing.
    let hog = small.path.join("hog");
    let taken =
        tool("sh", &["-c", &format!("fallocate -l 560m {0} || dd if=/dev/zero of={0} bs=4M; true", hog.display())]);
    assert!(taken.is_some());
    let ended = running.wait();
    if ended.code == Some(0) {
        return skipped("the file was laid out before the space was taken");
    }
    ended.expect(1, &["error: cannot lay out", "No space left", "help: free space"]);
    let left: Vec<String> = listing_of(&small.path).into_iter().map(|(name, _)| name).collect();
    assert_eq!(left, ["hog"], "Fathom's own file is removed, the other's is kept");
    assert_eq!(place.json("list", 0)["runs"][0]["state"], "failed");
}

#[test]
fn writes_that_meet_a_full_disk_are_counted_as_failed_and_the_run_is_kept() {
    let place = Place::new();
    let Some(small) = Mounted::ext4(&place, "small", 200 << 20, "rw") else { return };
    // A file with a hole where the disk has no room any more.
    let file = small.path.join("holes");
    fs::File::create(&file).and_then(|f| f.set_len(64 << 20)).expect("a file");
    let hog = small.path.join("hog");
    tool("sh", &["-c", &format!("dd if=/dev/zero of={} bs=1M 2>/dev/null; sync; true", hog.display())])
        .expect("filled");
    for engine in ["psync", "libaio", "io_uring"] {
        let words = format!(
            "io --target {} --rw write --engine {engine} --iodepth 4 --size 64m --runtime 400ms --overwrite",
            file.display()
        );
        let document = place.json(&words, 1);
        let step = &document["steps"][0];
        assert!(step["errors"].as_u64() > Some(0), "{engine}: {step}");
        assert_eq!(step["failures"][0]["errno"], 28, "{engine}: ENOSPC");
        assert!(warns(step, "io_errors"), "{engine}: {}", step["warnings"]);
        assert_eq!(document["run"]["state"], "finished");
    }
    assert!(file.exists(), "the user's file is kept");
}

/// Runs a load on a file of the user's and does something to it under way.
fn disturbed(place: &Place, words: &str, disturb: impl FnOnce()) -> Value {
    let mut running = place.start(&format!("io {words} --runtime 2s --json"));
    running.until("its run", |talk| talk.contains("run "));
    std::thread::sleep(Duration::from_millis(600));
    assert!(running.is_running(), "disturbed while it runs");
    disturb();
    let ended = running.wait();
    assert_eq!(ended.code, Some(1), "{}\n{}", ended.err, ended.out);
    ended.json()
}

#[test]
fn a_file_cut_off_under_way_is_reported_and_the_run_kept() {
    for engine in ["psync", "libaio", "io_uring", "mmap"] {
        let place = Place::new();
        fs::write(place.file("mine"), vec![3_u8; 32 << 20]).expect("written");
        let cut = || {
            let file = fs::OpenOptions::new().write(true).open(place.file("mine")).expect("open");
            file.set_len(4 << 20).expect("cut");
        };
        let words = format!("--target mine --rw randread --engine {engine} --iodepth 4 --size 32m");
        let document = disturbed(&place, &words, cut);
        let step = &document["steps"][0];
        assert!(step["errors"].as_u64() > Some(0), "{engine}: {step}");
        assert!(step["ios"].as_u64() > Some(0), "{engine}: what came before is kept");
        assert!(warns(step, "io_errors"), "{engine}: {}", step["warnings"]);
        assert!(step["failures"][0]["first_offset_bytes"].as_u64() >= Some(4 << 20), "{engine}: {}", step["failures"]);
        assert_eq!(place.json("show 1", 0)["steps"][0]["errors"], step["errors"]);
        assert_eq!(place.listing(), [("mine".to_owned(), 4 << 20)]);
    }
}

#[test]
fn a_device_that_fails_under_way_is_reported_and_the_run_kept() {
    let place = Place::new();
    for engine in ["psync", "libaio", "io_uring"] {
        let Some(device) = LoopDevice::new(&place, &vec![5_u8; 32 << 20]) else { return };
        // The file behind the device loses its end: reads there fail as those of a dead disk do.
        let cut = || {
            let file = fs::OpenOptions::new().write(true).open(&device.image).expect("open");
            file.set_len(1 << 20).expect("cut");
            tool("losetup", &["-c", &device.path]);
        };
        let words = format!("--target {} --rw randread --engine {engine} --iodepth 4 --size 32m", device.path);
        let document = disturbed(&place, &words, cut);
        let step = &document["steps"][0];
        assert!(step["errors"].as_u64() > Some(0) && step["ios"].as_u64() > Some(0), "{engine}: {step}");
        assert_eq!(document["run"]["state"], "finished");
    }
}
