//! Durable writes: syncs are counted as fio and the kernel count them, and what cannot be durable is refused.

use std::fs;
use std::process::Command;

use crate::cli::machine::LoopDevice;
use crate::cli::{Place, skipped};
use serde_json::Value;

const MIB: usize = 1 << 20;

/// Flush requests that the kernel completed on the device (diskstats, field 16).
fn flushes(device: &LoopDevice) -> u64 {
    let stat = fs::read_to_string(format!("/sys/block/{}/stat", device.name())).expect("counters");
    stat.split_whitespace().nth(15).and_then(|n| n.parse().ok()).expect("a kernel that counts flushes")
}

fn syncs(step: &Value) -> u64 {
    step["syncs"]["ios"].as_u64().unwrap_or(0)
}

#[test]
fn as_many_syncs_as_the_kernel_counts_on_a_raw_device() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place, &vec![0; 4 * MIB]) else { return };
    let path = format!("/dev/{}", device.name());
    let load = format!("io --target {path} --destroy {}:data --rw write --bs 4k --set loops=1", device.name());
    for (engine, knob, expected) in [
        ("psync", "--fdatasync 1", 1024),
        ("psync", "--fsync 16", 64),
        ("libaio", "--fdatasync 1", 1024),
        ("io_uring", "--fdatasync 1", 1024),
        ("io_uring", "--fsync 4 --iodepth 8", 256),
    ] {
        let before = flushes(&device);
        let step = place.json(&format!("{load} --engine {engine} {knob}"), 0)["steps"][0].clone();
        assert_eq!((step["ios"].as_u64(), syncs(&step)), (Some(1024), expected), "{engine} {knob}");
        // Flushes that wait for each other may be served by one; one at a time each is its own.
        let counted = flushes(&device) - before;
        let at_once = if knob.contains("iodepth") { 8 } else { 1 };
        assert!((expected / at_once..=expected + 4).contains(&counted), "{engine} {knob}: {counted} of {expected}");
        assert!(step["syncs"]["lat_ns"]["mean"].as_f64().is_some_and(|mean| mean > 0.0), "{step}");
    }
    // One for all of them at the end, by each engine, within the time of the window.
    for engine in ["psync", "libaio", "io_uring"] {
        let before = flushes(&device);
        let step = place.json(&format!("{load} --engine {engine} --end_fsync 1"), 0)["steps"][0].clone();
        let counted = flushes(&device) - before;
        assert_eq!((step["ios"].as_u64(), syncs(&step)), (Some(1024), 0), "{engine}");
        assert!((1..=5).contains(&counted), "{engine}: {counted}");
    }
    // A write that is durable by itself flushes as well (twice where the device has no FUA); plain ones do not.
    for (knob, expected) in [("--sync dsync", 1024..=2052), ("--sync none", 0..=4)] {
        let before = flushes(&device);
        let step = place.json(&format!("{load} --engine psync {knob}"), 0)["steps"][0].clone();
        let counted = flushes(&device) - before;
        assert!(expected.contains(&counted) && syncs(&step) == 0, "{knob}: {counted}");
    }
}

#[test]
fn a_job_with_syncs_does_the_same_in_fio() {
    let place = Place::new();
    // etcd's check of a disk, with a smaller file: fdatasync after every write of 2300 bytes.
    let job = "[etcd]\nrw=write\nioengine=sync\nfdatasync=1\nfilename=etcd.dat\nsize=460000\nbs=2300\n\
               [every8]\nstonewall\nrw=randwrite\nioengine=libaio\niodepth=4\ndirect=1\nfsync=8\nfilename=b.dat\nsize=1m\nbs=4k\n";
    fs::write(place.file("durable.fio"), job).expect("written");
    let output = Command::new("fio").args(["--output-format=json", "durable.fio"]).current_dir(place.work()).output();
    let Ok(output) = output else { return skipped("fio is absent") };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let theirs: Value = serde_json::from_str(&text[text.find('{').expect("JSON")..]).expect("fio's JSON");
    let ours = place.json("run durable.fio --overwrite", 0);
    for (at, syncs_expected) in [(0, 199), (1, 31)] {
        let (job, step) = (&theirs["jobs"][at], &ours["steps"][at]);
        assert_eq!(step["ios"], job["write"]["total_ios"], "{}", job["jobname"]);
        let fio_syncs = job["sync"]["lat_ns"]["N"].as_u64().expect("fio counts its syncs");
        // No sync follows the last write. With a queue fio may already have asked for it.
        assert_eq!(syncs(step), syncs_expected, "{step}");
        assert!(fio_syncs.abs_diff(syncs_expected) <= 1, "{fio_syncs}");
    }
    assert!(
        ours["steps"][0]["label"].as_str().is_some_and(|label| label.contains("2300 sequential write + fdatasync")),
        "{}",
        ours["steps"][0]["label"]
    );
    // fio's own result has them as well once it is taken in.
    fs::write(place.file("fio.json"), &text[text.find('{').expect("JSON")..]).expect("written");
    let taken = place.json("import fio.json", 0);
    assert_eq!(
        syncs(&taken["steps"][0]),
        theirs["jobs"][0]["sync"]["lat_ns"]["N"].as_u64().expect("a number"),
        "{}",
        taken["steps"][0]
    );
    place.run("rm last").expect(2, &[]);
    place.run(&format!("rm {}", taken["run"]["id"])).expect(0, &[]);
    // What was stored comes back, and goes out in fio's words.
    assert_eq!(syncs(&place.json("show last", 0)["steps"][0]), 199);
    place.run("export last --format fio-json -o out.json").expect(0, &[]);
    let exported: Value =
        serde_json::from_str(&fs::read_to_string(place.file("out.json")).expect("a file")).expect("JSON");
    assert_eq!(exported["jobs"][0]["sync"]["total_ios"], 199, "{exported}");
}

#[test]
fn the_flush_is_named_where_it_takes_most_of_the_time() {
    let place = Place::new();
    let step =
        place.json("io --target . --rw write --bs 4k --size 8m --engine psync --fdatasync 1 --runtime 2s", 0)["steps"]
            [0]
        .clone();
    let (io, sync) =
        (step["lat_ns"]["mean"].as_f64().expect("a mean"), step["syncs"]["lat_ns"]["mean"].as_f64().expect("a mean"));
    // Tests that run at the same time may keep the load from its CPUs for most of the time.
    if step["limit"]["name"] != "cpu_taken" {
        let is_named = step["limit"]["name"] == "flush";
        assert_eq!(is_named, sync > io, "a sync takes {sync} ns, a write {io} ns: {}", step["limit"]);
    }
    assert!(step["label"].as_str().is_some_and(|label| label.contains("write + fdatasync")), "{}", step["label"]);
}

#[test]
fn what_cannot_be_durable_is_refused() {
    let place = Place::new();
    for (words, parts) in [
        ("--rw randread --fdatasync 1", &["fdatasync makes writes durable, and there are none", "rw=write"][..]),
        ("--rw write --fsync 1 --fdatasync 1", &["cannot both follow the writes", "leave out one"]),
        ("--rw write --fsync 1 --engine io_uring --mode iopoll", &["not possible on a polled ring", "polled mode"]),
        ("--rw write --sync often", &["`often` is neither none, dsync nor sync"]),
        (
            "--rw write --sync sync --engine mmap --direct 0",
            &["does not reach the writes of engine mmap", "fdatasync=1"],
        ),
        ("--rw write --fsync often", &["fsync", "`often`"]),
    ] {
        place.run(&format!("io --target . --size 8m {words}")).expect(2, parts);
    }
    place
        .run("predict --device p5510-3840 --rw write --fdatasync 1")
        .expect(2, &["how long the drive's flush takes", "fathom io"]);
    let simulated = place.run("io --target sim:epyc-8004/ssd-0 --rw write --fdatasync 1 --runtime 1s");
    simulated.expect(1, &[]);
    assert!(
        format!("{}{}", simulated.out, simulated.err).contains("its write cache is not simulated"),
        "{}",
        simulated.out
    );
}
