//! Loads that run at once: fio's sections and `io A -- B`, their sum, what they lose beside each other, and bad input.

use std::fs;
use std::process::Command;

use crate::cli::{Place, skipped};
use serde_json::Value;

/// fio's own result of a job file.
fn fio(place: &Place, job: &str) -> Option<Value> {
    let output = Command::new("fio").args(["--output-format=json", job]).current_dir(place.work()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(serde_json::from_str(&text[text.find('{').expect("JSON")..]).expect("fio's JSON"))
}

#[test]
fn sections_of_a_job_run_at_once_and_do_as_much_as_in_fio() {
    let place = Place::new();
    let job = "[global]\nsize=1m\nioengine=psync\n[reads]\nrw=randread\nbs=4k\nfilename=a.dat\nloops=3\n\
               [log]\nrw=write\nbs=2k\nfdatasync=1\nfilename=b.dat\n[scan]\nrw=read\nbs=64k\nfilename=a.dat\nioengine=libaio\niodepth=4\n";
    fs::write(place.file("three.fio"), job).expect("written");
    let Some(theirs) = fio(&place, "three.fio") else { return skipped("fio is absent") };
    let ours = place.json("run three.fio --overwrite", 0);
    let steps = ours["steps"].as_array().expect("steps");
    assert_eq!(steps.len(), 3);
    for (at, step) in steps.iter().enumerate() {
        let job = &theirs["jobs"][at];
        assert_eq!(step["role"]["stream"]["name"], job["jobname"]);
        let total = job["read"]["total_ios"].as_u64().unwrap_or(0) + job["write"]["total_ios"].as_u64().unwrap_or(0);
        assert_eq!(step["ios"].as_u64(), Some(total), "{}", job["jobname"]);
    }
    assert_eq!(steps[1]["syncs"]["ios"], 511, "none follows the last write, as in fio");
    let set = &ours["stream_sets"][0];
    let sum: f64 = steps.iter().filter_map(|s| s["iops"].as_f64()).sum();
    assert!((set["iops"].as_f64().expect("a sum") - sum).abs() < 1.0, "{set}");
}

#[test]
fn loads_by_hand_run_at_once_and_each_alone_when_asked_why() {
    let place = Place::new();
    let words = "io --json --target a.dat --size 1m --rw randread --iodepth 8 --runtime 300ms --explain \
                 -- --target b.dat --size 1m --rw write --fdatasync 1 -- --rw randread --rate_iops 50";
    let document = place.run(words).json();
    let steps = document["steps"].as_array().expect("steps");
    // Probes of what each gives alone come behind.
    let of_a_stream = |step: &&Value| step["role"].get("stream").is_some() || step["role"].get("alone").is_some();
    let labels: Vec<&str> = steps.iter().filter(of_a_stream).filter_map(|s| s["label"].as_str()).collect();
    assert_eq!(
        labels,
        [
            "A: 4k random read T1 QD8",
            "B: 4k sequential write + fdatasync T1 QD1",
            "C: 4k random read T1 QD1 at 50/s",
            "A alone: 4k random read T1 QD8",
            "B alone: 4k sequential write + fdatasync T1 QD1",
            "C alone: 4k random read T1 QD1 at 50/s",
        ]
    );
    assert_eq!(document["run"]["question"], "What do these loads give at once?");
    // The third waits for its rate, whatever runs beside it; the others are told by what they give alone, unless it is the
    // syncs that a log waits for.
    assert_eq!(steps[2]["limit"]["name"], "rate", "{}", steps[2]["limit"]);
    for limit in [&steps[0]["limit"], &steps[1]["limit"]] {
        let evidence = limit["evidence"].as_array().expect("evidence");
        let share = evidence.iter().find(|e| e["name"] == "share_of_alone").and_then(|e| e["value"].as_f64());
        assert!(limit["name"] == "flush" || share > Some(0.0), "{limit}");
    }
    // The third has the target of the first, and all run as long as the first says.
    assert_eq!(document["steps"][2]["targets"][0], document["steps"][0]["targets"][0]);
    let lengths: Vec<&Value> = steps.iter().filter(of_a_stream).map(|s| &s["runtime_s"]).collect();
    assert!(lengths.iter().all(|s| **s == 0.3), "{lengths:?}");
    let shown = place.run("show last").out;
    assert!(shown.contains("A QD 8, B QD 1, C 50.0 IOPS at once: ") && shown.contains("of alone"), "{shown}");
    assert!(shown.lines().any(|line| line.starts_with(" A alone: 4k random read T1 QD8")), "{shown}");
    // Each run of the same loads is compared stream by stream.
    place.run(words).json();
    let compared = place.json("compare 1 2", 0);
    assert_eq!(compared["steps"].as_array().map(Vec::len), Some(3), "{compared}");
    let page = place.run("report 2 --output page.html");
    assert!(page.code == Some(0) && place.file("page.html").exists(), "{}", page.err);
}

#[test]
fn streams_of_a_study_file_run_at_once_in_each_of_its_cells() {
    let place = Place::new();
    let text = "[study]\nquestion = \"What do reads lose beside a log?\"\n[defaults]\nruntime = \"200ms\"\nsize = \"1m\"\n\
                target = \"a.dat\"\n[[ladder]]\niodepth = [1, 4]\n[[ladder.stream]]\nname = \"reads\"\nrw = \"randread\"\n\
                [[ladder.stream]]\nname = \"log\"\nrw = \"write\"\nfdatasync = 1\niodepth = 1\ntarget = \"b.dat\"\n";
    fs::write(place.file("beside.toml"), text).expect("written");
    let document = place.json("run beside.toml", 0);
    let sets = document["stream_sets"].as_array().expect("sets");
    assert_eq!(sets.len(), 2);
    let steps = document["steps"].as_array().expect("steps");
    assert!(steps[1]["syncs"]["ios"].as_u64() > Some(0) && steps[3]["targets"][0] == "b.dat", "{}", steps[1]);
    // What both took of the host is known of the set, and of no single stream.
    assert!(sets[0]["cpu"].is_object() && steps[0]["cpu"].is_null() && steps[0]["host_delta"].is_null());
    // Streams are no rungs of one ladder: each of them ran beside something.
    assert!(
        document["ladders"]
            .as_array()
            .is_some_and(|all| all.iter().all(|l| l["points"].as_array().map(Vec::len) == Some(1)))
    );
    assert_eq!(document["verdict"].as_array().map(Vec::len), Some(2), "an answer for each set");
    assert!(!place.file("a.dat").exists() && !place.file("b.dat").exists(), "files that were made go");
}

/// The command of the tour: without a target both loads run on files in the current directory, which are removed again.
#[test]
fn loads_without_a_target_use_the_current_directory() {
    let place = Place::new();
    let ended = place.run("io --rw randread --size 4m --runtime 300ms -- --rw write --fdatasync 1 --size 4m");
    ended.expect(0, &["4k random read T1 QD1", "4k sequential write + fdatasync T1 QD1"]);
    let null = place.run("io --engine null --runtime 50ms");
    assert!(null.code == Some(0) && null.out.contains(" IOPS"), "{}{}", null.out, null.err);
    assert!(place.listing().is_empty(), "{:?}", place.listing());
}

#[test]
fn streams_that_cannot_be_are_refused_before_anything_is_made() {
    let place = Place::new();
    for (words, said) in [
        ("io --target a --size 1m -- --bs", "behind `--`"),
        ("io --target a --size 1m -- --rw read --json", "stand before the first"),
        ("io --target a --size 1m -- --rw sideways", "sideways"),
        ("io --target a --size 1m --rw randwrite --verify crc32c -- --rw write", "which stream A verifies"),
        ("io --target sim:r740xd/pm1725-0 -- --rw randread", "one load at a time"),
    ] {
        let run = place.run(words);
        assert!(
            run.code != Some(0) && (run.err.contains(said) || run.out.contains(said)),
            "{words}: {} {}",
            run.out,
            run.err
        );
        assert!(!place.file("a").exists(), "{words}");
    }
}
