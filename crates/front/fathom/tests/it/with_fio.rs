//! `--with-fio`: what Fathom cannot run is run by the installed fio, guarded, sampled and judged alike.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::cli::{Place, skipped};
use serde_json::Value;

fn has_fio() -> bool {
    Command::new("fio").arg("--version").output().is_ok_and(|o| o.status.success())
}

/// Totals (I/Os, bytes, syncs) of each job as fio counts them when it runs alone.
fn alone(place: &Place, job: &str) -> Vec<(u64, u64, u64)> {
    let output = Command::new("fio").args(["--output-format=json", job]).current_dir(place.work()).output();
    let text = String::from_utf8_lossy(&output.expect("fio runs").stdout).into_owned();
    let value: Value = serde_json::from_str(&text[text.find("\n{").map_or(0, |at| at + 1)..]).expect("fio's JSON");
    let of = |job: &Value| {
        let sum = |key: &str| ["read", "write", "trim"].iter().map(|d| job[d][key].as_u64().unwrap_or(0)).sum();
        (sum("total_ios"), sum("io_bytes"), job["sync"]["lat_ns"]["N"].as_u64().unwrap_or(0))
    };
    value["jobs"].as_array().expect("jobs").iter().map(of).collect()
}

/// The same of each step of a run.
fn of_steps(document: &Value) -> Vec<(u64, u64, u64)> {
    let of = |step: &Value| {
        let per_s: f64 = ["read", "write", "trim"].iter().map(|d| step[d]["bytes_per_s"].as_f64().unwrap_or(0.0)).sum();
        let bytes = (per_s * step["runtime_s"].as_f64().expect("a time")).round() as u64;
        (step["ios"].as_u64().unwrap_or(0), bytes, step["syncs"]["ios"].as_u64().unwrap_or(0))
    };
    document["steps"].as_array().expect("steps").iter().map(of).collect()
}

#[test]
fn a_finite_job_has_the_counts_of_fio_alone_and_its_files_are_made_and_removed() {
    if !has_fio() {
        return skipped("fio is absent");
    }
    let place = Place::new();
    // At a greater depth fio's own count of syncs depends on which of the writes end first.
    let job = "[global]\nsize=4m\nbs=16k\n[posix]\nioengine=posixaio\niodepth=1\nrw=randwrite\nfsync=8\n\
               [files]\nstonewall\nioengine=posixaio\nrw=read\nnrfiles=4\nnumjobs=2\n\
               [splice]\nstonewall\nioengine=splice\nrw=write\n\
               [beside]\nrw=read\nfilename=beside\n";
    fs::write(place.file("job.fio"), job).expect("written");
    let theirs = alone(&place, "job.fio");
    for entry in fs::read_dir(place.work()).expect("a folder").flatten().filter(|e| e.file_name() != "job.fio") {
        fs::remove_file(entry.path()).expect("removed");
    }
    let refused = place.run("run job.fio");
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    for words in ["job.fio:5:", "--with-fio"] {
        assert!(refused.err.contains(words), "{}", refused.err);
    }
    let run = place.run("run job.fio --with-fio --json");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let document: Value = serde_json::from_str(&run.out).expect("JSON");
    let ours = of_steps(&document);
    // fio shows the two clones of the second section apart.
    let (ios, bytes, syncs) = theirs[1];
    let two = (ios + theirs[2].0, bytes + theirs[2].1, syncs + theirs[2].2);
    assert_eq!(ours, [theirs[0], two, theirs[3], theirs[4]]);
    let left: Vec<_> = fs::read_dir(place.work()).expect("a folder").flatten().map(|e| e.file_name()).collect();
    assert_eq!(left, ["job.fio"], "files of the run stay");
    let step = &document["steps"][0];
    let text = serde_json::to_string(step).expect("JSON");
    assert!(text.contains("measured by fio-") || text.contains("fio-run-by"), "who measured is not said");
}

#[test]
fn figures_come_second_by_second_so_that_intervals_can_be_judged() {
    if !has_fio() {
        return skipped("fio is absent");
    }
    let place = Place::new();
    let job = "[a]\nioengine=posixaio\nrw=randread\nsize=8m\nruntime=4\ntime_based\nramp_time=1\n";
    fs::write(place.file("job.fio"), job).expect("written");
    let run = place.run("run job.fio --with-fio --json");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let document: Value = serde_json::from_str(&run.out).expect("JSON");
    let step = &document["steps"][0];
    let iops = step["series"]["iops"].as_array().expect("a series");
    assert!((3..=5).contains(&iops.len()), "{iops:?}");
    let threads = step["host_delta"]["threads"].as_array().expect("threads");
    assert!(threads.iter().any(|t| t["name"] == "fio"), "fio's CPU time is not charged: {threads:?}");
    let runtime_s = step["runtime_s"].as_f64().expect("a number");
    assert!((3.5..5.5).contains(&runtime_s), "the warm-up is counted: {runtime_s} s");
}

#[test]
fn files_of_engines_that_make_their_own_lie_in_a_folder_that_goes_again() {
    if !has_fio() {
        return skipped("fio is absent");
    }
    let place = Place::new();
    fs::write(place.file("mine"), "mine").expect("written");
    // The word for the priority is one that Fathom refuses.
    let job = "[a]\nioengine=filecreate\nnice=1\nnrfiles=200\nfilesize=4k\nopenfiles=1\nsize=800k\n\
               [b]\nstonewall\nioengine=cpuio\ncpuload=50\ntime_based\nruntime=1\n";
    fs::write(place.file("job.fio"), job).expect("written");
    let run = place.run("run job.fio --with-fio --json");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let document: Value = serde_json::from_str(&run.out).expect("JSON");
    assert_eq!(of_steps(&document), [(200, 0, 0), (0, 0, 0)]);
    let mut left: Vec<_> = fs::read_dir(place.work()).expect("a folder").flatten().map(|e| e.file_name()).collect();
    left.sort();
    assert_eq!(left, ["job.fio", "mine"]);
    let job = "[a]\nioengine=filecreate\nnice=1\nnrfiles=4000000000\nfilesize=1m\nopenfiles=1\n";
    fs::write(place.file("many.fio"), job).expect("written");
    let run = place.run("run many.fio --with-fio");
    let all = format!("{}{}", run.out, run.err);
    assert!(run.code != Some(0) && all.contains("are free"), "{all}");
}

#[test]
fn data_that_is_not_named_for_it_is_not_overwritten_by_fio() {
    if !has_fio() {
        return skipped("fio is absent");
    }
    let place = Place::new();
    let data = vec![7_u8; 1 << 20];
    fs::write(place.file("mine"), &data).expect("written");
    fs::write(place.file("job.fio"), "[a]\nioengine=posixaio\nrw=write\nsize=1m\nfilename=mine\n").expect("written");
    let run = place.run("run job.fio --with-fio");
    assert_eq!(run.code, Some(3), "{}{}", run.out, run.err);
    assert!(fs::read(place.file("mine")).expect("a file") == data, "data was lost");
    // fio would put a file of its own in place of one that is too small.
    let job = "[a]\nioengine=posixaio\nrw=write\nsize=4m\nfilename=mine\n";
    fs::write(place.file("job.fio"), job).expect("written");
    let run = place.run("run job.fio --with-fio --overwrite");
    assert!(run.code != Some(0) && run.err.contains("mine"), "{}{}", run.out, run.err);
    assert!(fs::read(place.file("mine")).expect("a file") == data, "data was lost");
}

#[test]
fn what_fio_says_of_an_error_is_what_is_said() {
    if !has_fio() {
        return skipped("fio is absent");
    }
    let mut place = Place::new();
    let job = "[a]\nioengine=posixaio\nrw=read\nsize=1m\ncpuload=150\n";
    fs::write(place.file("job.fio"), job).expect("written");
    let run = place.run("run job.fio --with-fio");
    assert_ne!(run.code, Some(0));
    let all = format!("{}{}", run.out, run.err);
    assert!(all.contains("cpuload"), "{all}");
    place.path = Some(place.work());
    let gone = place.run("run job.fio --with-fio");
    let all = format!("{}{}", gone.out, gone.err);
    assert!(gone.code != Some(0) && all.contains("no fio is installed"), "{all}");
}

#[test]
fn where_nobody_watches_a_failed_job_is_told_on_stderr() {
    if !has_fio() {
        return skipped("fio is absent");
    }
    let place = Place::new();
    // An engine that fio knows and whose library is not there.
    fs::write(place.file("job.fio"), "[a]\nioengine=rbd\nrw=read\nsize=1m\npool=p\nrbdname=r\n").expect("written");
    let run = place.run("fio --with-fio --output-format=json job.fio");
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.err.contains("a by fio") || run.err.contains("rbd"), "{}", run.err);
    assert!(run.out.contains("\"jobs\""), "{}", run.out);
}

#[test]
fn fio_ends_with_fathom_whatever_ends_that() {
    if !has_fio() {
        return skipped("fio is absent");
    }
    let place = Place::new();
    let job = "[a]\nioengine=posixaio\nrw=randread\nsize=4m\nruntime=100\ntime_based\nnumjobs=2\n";
    fs::write(place.file("job.fio"), job).expect("written");
    for is_killed in [true, false] {
        let running = place.start("run job.fio --with-fio");
        let is_reading = || !fios_of(&place).is_empty();
        wait_for("fio to begin", is_reading);
        std::thread::sleep(Duration::from_millis(1500));
        match is_killed {
            true => running.signal("KILL"),
            false => running.signal("INT"),
        }
        let ended = running.wait();
        wait_for("fio to end", || !is_reading());
        if !is_killed {
            assert_eq!(ended.code, Some(4), "{}{}", ended.out, ended.err);
            let shown = place.run("show last --json");
            let document: Value = serde_json::from_str(&shown.out).expect("JSON");
            assert!(document["steps"][0]["ios"].as_u64().expect("a number") > 0, "what was measured is kept");
        }
    }
}

/// Processes of fio whose job file is one of a run here.
fn fios_of(place: &Place) -> Vec<u32> {
    let mut out = Vec::new();
    for entry in fs::read_dir("/proc").expect("/proc").flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        let cwd = fs::read_link(entry.path().join("cwd")).ok();
        if line.starts_with("fio\0") || line.contains("/fio\0") {
            let is_ours = cwd.is_some_and(|cwd| cwd == fs::canonicalize(place.work()).expect("a folder"));
            if is_ours {
                out.push(pid);
            }
        }
    }
    out
}

fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(30), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Each read of a study also through fio, on the file of the run: a check, and no path of its own.
#[test]
fn a_study_is_cross_checked_by_fio_load_by_load() {
    let place = Place::new();
    let words =
        "run engines --only latency --cross-check fio --target . --set size=4m --set runtime=300ms --set ramp_time=0";
    let run = place.run(&format!("{words} --json"));
    let document: Value = serde_json::from_str(&run.out).unwrap_or_else(|e| panic!("{e}: {}", run.err));
    let measured = document["steps"].as_array().expect("steps").iter().filter(|s| s["phase"] == "measure");
    let steps: Vec<&Value> = measured.collect();
    let labels: Vec<&str> = steps.iter().filter_map(|s| s["label"].as_str()).collect();
    assert_eq!(labels.len(), 6, "{labels:?}");
    for (own, twin) in labels.iter().zip(&labels[1..]).step_by(2) {
        assert_eq!(format!("{own} by fio"), *twin);
    }
    if !has_fio() {
        assert!(steps.iter().skip(1).step_by(2).all(|s| s["state"] == "refused"), "{labels:?}");
        return skipped("fio is absent");
    }
    assert_eq!(run.code, Some(0), "{}", run.err);
    let evidence = serde_json::to_string(&document["verdict"]).expect("JSON");
    for engine in ["psync", "libaio", "io_uring"] {
        assert!(evidence.contains(&format!("By fio, {engine} with 1 in flight")), "no {engine} in {evidence}");
    }
    assert_eq!(document["paths"][0]["steps"].as_array().map(Vec::len), Some(3), "{}", document["paths"]);
    assert!(place.listing().is_empty(), "{:?}", place.listing());
}

#[test]
fn a_cross_check_of_nothing_is_refused() {
    let place = Place::new();
    let run = place.run("run quick --cross-check fio --target . --set rw=write --set size=4m");
    run.expect(2, &["no load of this plan is one that fio can do", "fathom plan"]);
    assert!(place.listing().is_empty(), "{:?}", place.listing());
}

#[test]
fn what_spdk_printed_is_a_run_beside_ours() {
    let place = Place::new();
    let table = "spdk_nvme_perf -q 32 -o 4096 -w randread -t 10 -r 'trtype:PCIe traddr:0000:04:00.0'\n\
                 \x20                                                                Latency(us)\n\
                 Device Information                     :       IOPS      MiB/s    Average        min        max\n\
                 PCIE (0000:04:00.0) NSID 1 from core  0:  251230.30     981.37     127.33      10.96    4210.20\n";
    fs::write(place.file("perf.txt"), table).expect("written");
    let document = place.json("import perf.txt", 0);
    let step = &document["steps"][0];
    assert_eq!((step["engine"].as_str(), step["queue_depth"].as_u64()), (Some("nvme"), Some(32)));
    assert!((step["iops"].as_f64().expect("a rate") - 251_230.3).abs() < 1.0, "{step}");
    fs::write(place.file("alone.txt"), table.split_once('\n').expect("lines").1).expect("written");
    place.run("import alone.txt").expect(2, &["says nothing of its load", "put the command"]);
}
