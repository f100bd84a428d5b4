//! Whole files: made, looked at and removed in a folder that Fathom makes, and nothing of it stays.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cli::machine::{Mounted, is_root, tool};
use crate::cli::{Place, bytes_of, listing_of, skipped};
use serde_json::Value;

/// Folders that runs made in `within`.
fn made_in(within: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(within).expect("a folder").flatten().map(|e| e.path());
    entries.filter(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with("fathom-files-"))).collect()
}

/// Whether the first thread of a run has made files.
fn is_making(within: &Path) -> bool {
    let first = |folder: &PathBuf| fs::read_dir(folder.join("t0")).is_ok_and(|mut files| files.nth(10).is_some());
    made_in(within).iter().any(first)
}

fn wait_until_making(place: &Place, running: &mut crate::cli::Running) {
    let work = place.work();
    running.until("its files", |_| is_making(&work));
}

#[test]
fn each_file_is_made_looked_at_and_removed_once() {
    let place = Place::new();
    fs::write(place.file("mine"), "mine").expect("written");
    let before = place.listing();
    for (rw, kind) in [("filecreate", "write"), ("filestat", "read"), ("filedelete", "trim")] {
        let step =
            place.step(&format!("io --target . --rw {rw} --nrfiles 300 --filesize 4k --threads 2 --runtime 60s"));
        assert_eq!((step["ios"].as_u64(), step["errors"].as_u64()), (Some(600), Some(0)), "{rw}");
        assert_eq!((&step["op"], &step["engine"]), (&Value::from(rw), &Value::from("files")));
        let moved = if rw == "filecreate" { 600 * 4096 } else { 0 };
        assert_eq!(bytes_of(&step), moved, "{rw}");
        assert!(step[kind]["lat_ns"]["p50"].is_number(), "{rw}: no latency in {}", step[kind]);
        assert_eq!(place.listing(), before, "{rw} left something, or took something away");
    }
}

#[test]
fn files_are_looked_at_by_their_whole_path_unless_by_their_folder_is_asked() {
    let place = Place::new();
    let by = |words: &str| {
        let step = place.step(&format!("io --target . --rw filestat --nrfiles 100 --runtime 60s {words}"));
        assert_eq!((step["ios"].as_u64(), step["errors"].as_u64()), (Some(100), Some(0)), "{words}");
        (step["order"]["files"]["stat_by"].clone(), step["label"].as_str().expect("a label").to_owned())
    };
    assert_eq!(by(""), ("path".into(), "filestat T1 QD1".to_owned()));
    // As steps are that were stored before there was a choice.
    assert_eq!(by("--set stat_by=folder"), (Value::Null, "filestat stat_by=folder T1 QD1".to_owned()));
    let said = place.run("io --target . --rw filecreate --nrfiles 10 --set stat_by=path");
    assert!(said.err.contains("rw=filecreate looks at none"), "{}", said.err);
    assert_eq!(place.listing(), []);
}

#[test]
fn each_file_that_is_made_is_synced_when_that_is_asked() {
    let place = Place::new();
    let step = place.step("io --target . --rw filecreate --nrfiles 20 --filesize 512 --fsync 1 --runtime 60s");
    assert_eq!((step["ios"].as_u64(), step["syncs"]["ios"].as_u64()), (Some(20), Some(20)));
    assert_eq!(place.listing(), []);
}

#[test]
fn files_without_room_are_refused_before_one_is_made() {
    let place = Place::new();
    let ended = place.run("io --target . --rw filecreate --nrfiles 4000000000 --filesize 4k");
    let all = format!("{}{}", ended.out, ended.err);
    assert!(ended.code != Some(0) && all.contains("are free") && all.contains("nrfiles"), "{all}");
    assert_eq!(place.listing(), []);
    fs::write(place.file("mine"), "mine").expect("written");
    let ended = place.run("io --target mine --rw filestat --nrfiles 10");
    let all = format!("{}{}", ended.out, ended.err);
    assert!(ended.code != Some(0) && all.contains("is no folder"), "{all}");
    assert_eq!(fs::read_to_string(place.file("mine")).expect("there"), "mine");
}

#[test]
fn words_that_do_not_go_together_are_refused_by_name() {
    let place = Place::new();
    for (words, said) in [
        ("--rw filecreate --bs 4k", "bs"),
        ("--rw filecreate --engine psync", "psync"),
        ("--rw filestat --fsync 1", "fsync"),
        ("--rw filecreate --direct 1", "direct"),
        ("--rw randread --nrfiles 5 --filesize 4k --size 20k", "filesize"),
        ("--rw randread --engine files", "files"),
    ] {
        place.run(&format!("io --target . {words}")).expect(2, &[said]);
    }
    assert_eq!(place.listing(), []);
}

#[test]
fn ctrl_c_keeps_the_figures_and_leaves_no_file() {
    let place = Place::new();
    let mut running =
        place.start("io --target . --rw filecreate --nrfiles 1000000 --filesize 512 --fsync 1 --runtime 100s");
    wait_until_making(&place, &mut running);
    running.signal("INT");
    running.wait().expect(4, &[]);
    assert_eq!(place.listing(), []);
    let shown = place.run("show last --json").json();
    assert!(shown["steps"][0]["ios"].as_u64().expect("a number") > 0, "what was measured is kept");
}

#[test]
fn restore_removes_what_a_killed_run_made_and_nothing_else() {
    let place = Place::new();
    let theirs = place.file("fathom-files-theirs");
    fs::create_dir(&theirs).expect("a folder");
    fs::write(theirs.join("f0000000000"), "theirs").expect("written");
    let mut running =
        place.start("io --target . --rw filecreate --nrfiles 1000000 --filesize 512 --fsync 1 --runtime 100s");
    wait_until_making(&place, &mut running);
    running.signal("KILL");
    assert_eq!(running.wait().code, None);
    assert_eq!(made_in(&place.work()).len(), 2);
    // The target was named `.`: whoever restores is elsewhere.
    let restored = place.start_at("restore", Path::new("/")).wait();
    assert_eq!(restored.code, Some(0), "{}", restored.err);
    assert!(restored.out.contains("fathom-files-"), "{}", restored.out);
    assert_eq!(made_in(&place.work()), std::slice::from_ref(&theirs));
    assert_eq!(listing_of(&theirs), [("f0000000000".to_owned(), 6)]);
}

#[test]
fn a_job_of_fio_counts_the_files_that_fio_counts() {
    let place = Place::new();
    let job = "[global]\nnrfiles=200\nfilesize=4k\nopenfiles=1\n[c0]\nioengine=filecreate\ncreate_on_open=1\n\
               [c1]\nioengine=filecreate\ncreate_on_open=1\n[s]\nstonewall\nioengine=filestat\n\
               [d]\nstonewall\nioengine=filedelete\n";
    fs::write(place.file("job.fio"), job).expect("written");
    let before = place.listing();
    let document = place.json("run job.fio", 0);
    let ios: Vec<u64> = document["steps"].as_array().expect("steps").iter().filter_map(|s| s["ios"].as_u64()).collect();
    assert_eq!(ios, [400, 200, 200]);
    assert_eq!(place.listing(), before);
    let Ok(theirs) = Command::new("fio").args(["--output-format=json", "job.fio"]).current_dir(place.work()).output()
    else {
        return skipped("fio is absent");
    };
    let text = String::from_utf8_lossy(&theirs.stdout).into_owned();
    let value: Value = serde_json::from_str(&text[text.find("\n{").map_or(0, |at| at + 1)..]).expect("fio's JSON");
    let total =
        |job: &Value| ["read", "write", "trim"].iter().filter_map(|d| job[d]["total_ios"].as_u64()).sum::<u64>();
    let totals: Vec<u64> = value["jobs"].as_array().expect("jobs").iter().map(total).collect();
    assert_eq!(totals, [200, 200, 200, 200]);
}

#[test]
fn two_file_systems_are_measured_beside_each_other_and_a_small_one_is_looked_at_for_inodes() {
    if !is_root("file systems of its own") {
        return;
    }
    let place = Place::new();
    let Some(ext4) = Mounted::ext4(&place, "ext4", 256 << 20, "rw") else { return };
    let image = place.beside("xfs.img");
    fs::File::create(&image).and_then(|f| f.set_len(320 << 20)).expect("an image");
    let image = image.to_str().expect("UTF-8");
    let Some(xfs) = tool("mkfs.xfs", &["-q", image]).and_then(|_| Mounted::new(&place, "xfs", &["-o", "loop", image]))
    else {
        return;
    };
    let (a, b) = (ext4.path.display(), xfs.path.display());
    let before = [listing_of(&ext4.path), listing_of(&xfs.path)];
    let step =
        place.step(&format!("io --target {a} --target {b} --rw filecreate --nrfiles 500 --filesize 4k --runtime 60s"));
    assert_eq!(step["ios"].as_u64(), Some(1000));
    // 256 MiB have 64 Ki inodes at most.
    let ended = place.run(&format!("io --target {a} --rw filecreate --nrfiles 1000000"));
    let all = format!("{}{}", ended.out, ended.err);
    assert!(ended.code != Some(0) && (all.contains("has room for") || all.contains("are free")), "{all}");
    assert_eq!([listing_of(&ext4.path), listing_of(&xfs.path)], before);
}

#[test]
fn the_study_of_files_holds_each_target_against_the_others_and_says_what_fsync_costs() {
    let place = Place::new();
    for name in ["left", "right"] {
        fs::create_dir(place.file(name)).expect("a folder");
    }
    let before = place.listing();
    let words = "--set nrfiles=40 --set runtime=2s";
    let document = place.json(&format!("run files --target left --target right {words}"), 0);
    let steps = document["steps"].as_array().expect("steps");
    assert!(steps.iter().all(|s| s["ios"].as_u64() > Some(0)));
    // On a noisy host the run measures a load again, as a probe.
    let loads_of = |group: &str| {
        let of_group = steps.iter().filter(|s| s["group"] == group && s["phase"] != "probe");
        of_group.map(|s| s["label"].to_string()).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!((loads_of("left").len(), loads_of("right").len()), (8, 8));
    let figures = document["verdict"][0]["figures"].as_array().expect("figures");
    assert_eq!(figures.len(), 4, "two rates and what fsync costs: {figures:?}");
    let ended = place.run("show last --details");
    assert!(ended.out.contains("an fsync per file") && ended.out.contains("With fsync a file takes"), "{}", ended.out);
    // One target is no group beside others.
    let ended = place.run(&format!("run files --only durable --target left {words}"));
    assert!(ended.code == Some(0) && !ended.out.contains("faster"), "{}{}", ended.out, ended.err);
    assert_eq!(place.listing(), before);
}

#[test]
fn blocks_of_several_files_are_served_in_the_order_that_is_asked() {
    let place = Place::new();
    let ios_of = |words: &str| -> Vec<u64> {
        let common = "--target . --rw randread --size 64k --engine psync --set loops=1";
        let step = place.step(&format!("io {common} {words}"));
        assert_eq!(place.listing(), [], "{words}");
        step["by_target"].as_array().expect("targets").iter().map(|t| t["ios"].as_u64().expect("a count")).collect()
    };
    // Sixteen blocks over four files.
    assert_eq!(ios_of("--nrfiles 4"), [4; 4]);
    assert_eq!(ios_of("--nrfiles 4 --set number_ios=10"), [3, 3, 2, 2]);
    let turns = "--nrfiles 4 --set number_ios=7 --set file_service_type=roundrobin:3";
    assert_eq!(ios_of(turns), [3, 3, 1, 0]);
    assert_eq!(ios_of("--nrfiles 4 --set number_ios=10 --set file_service_type=sequential"), [4, 4, 2, 0]);
    assert_eq!(ios_of("--nrfiles 4 --set number_ios=10 --set openfiles=2"), [4, 4, 1, 1]);
    assert_eq!(ios_of("--nrfiles 4 --set file_service_type=random:2").iter().sum::<u64>(), 16);
    // Each of two threads has its own.
    assert_eq!(ios_of("--nrfiles 2 --threads 2").len(), 4);
}

#[test]
fn more_files_of_blocks_than_there_is_room_for_are_refused_before_one_is_made() {
    let place = Place::new();
    for (words, said) in [("--nrfiles 1000000", "1000000 files"), ("--nrfiles 1000 --size 1000000g", "free")] {
        let ended = place.run(&format!("io --target . --rw randwrite {words}"));
        let all = format!("{}{}", ended.out, ended.err);
        assert!(ended.code != Some(0) && all.contains(said), "{all}");
        assert_eq!(place.listing(), []);
    }
}
