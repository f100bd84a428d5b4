//! A lab written by the version before this one's schema opens, is brought up to date, and says the same figures.
//!
//! `labs/schema-2.db.gz` was made by that version: a step on a simulated drive, two refused steps, a study in turns, and a
//! step on a file that it had made (with the facts of a simulated host, which name nobody's machine).

use std::fs;
use std::process::{Command, Stdio};

use crate::cli::Place;
use rusqlite::Connection;

const LAB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/labs/schema-2.db.gz");

fn with_old_lab() -> Place {
    let place = Place::new();
    let file = fs::File::create(place.lab()).expect("a file");
    let status = Command::new("gzip").args(["-dc", LAB]).stdout(Stdio::from(file)).status().expect("gzip runs");
    assert!(status.success());
    place
}

fn version(place: &Place) -> i64 {
    let lab = Connection::open(place.lab()).expect("a lab");
    lab.pragma_query_value(None, "user_version", |row| row.get(0)).expect("a version")
}

#[test]
fn a_lab_of_the_version_before_opens_and_says_the_same_figures() {
    let place = with_old_lab();
    assert_eq!(version(&place), 2);
    let runs = place.json("list", 0);
    assert_eq!(runs["runs"].as_array().map(Vec::len), Some(4));
    assert!(version(&place) > 2, "brought up to date");

    let one = place.json("show 1", 0);
    let step = &one["steps"][0];
    assert_eq!((&step["label"], &step["iops"]), (&"4k random read T1 QD8".into(), &109_659.0.into()));
    assert_eq!(step["targets"], serde_json::json!(["sim:speed/nvme-1"]), "objects with a path became names");
    assert_eq!(one["verdict"][0]["question"], "What does this one load give?");
    assert!(step["features"].as_array().is_some_and(|all| all.iter().all(|f| f["state"].is_string())), "{step}");

    let refused = place.json("show 2", 0);
    for step in refused["steps"].as_array().expect("steps") {
        assert_eq!(step["state"], "refused");
        assert!(step["reason"].as_str().is_some_and(|why| !why.is_empty()), "{step}");
    }
    let turns = place.json("compare 3", 0);
    assert!(turns["steps"].as_array().is_some_and(|all| all.iter().all(|s| s["verdict"] == "same")), "{turns}");
    let file = place.json("show 4", 0);
    assert_eq!((&file["steps"][0]["ios"], &file["steps"][0]["state"]), (&43_482.into(), &"measured".into()));
    for run in 1..=4 {
        place.run(&format!("report {run} --lang zh --output {run}.html")).expect(0, &[]);
    }
}

#[test]
fn a_run_of_an_old_lab_is_repeated_and_removed_and_takes_no_file_with_it() {
    let place = with_old_lab();
    // The old plan says that its run made this file; by now it is somebody's.
    fs::write(place.file("fathom-test.data"), b"by now a diary".repeat(1000)).expect("written");
    let before = fs::read(place.file("fathom-test.data")).expect("read");
    let again = place.json("run --like 1", 0);
    assert_eq!(again["steps"][0]["label"], "4k random read T1 QD8");
    place.run("run --like 4 -q").expect(3, &["fathom-test.data exists", "help:"]);
    place.run("restore").expect(0, &[]);
    place.run("rm 4").expect(0, &[]);
    assert_eq!(fs::read(place.file("fathom-test.data")).expect("still there"), before);
}
