//! Traces: what fio recorded is done again, with the counts that fio has when it replays.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use crate::cli::{Place, skipped};
use serde_json::Value;

/// The only step of a run of `words`.
fn step_of(place: &Place, words: &str) -> Value {
    let run = place.run(words);
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    let document: Value = serde_json::from_str(&run.out).expect("JSON");
    assert_eq!(document["steps"].as_array().map(Vec::len), Some(1));
    document["steps"][0].clone()
}

fn counts(step: &Value) -> [u64; 3] {
    ["read", "write", "syncs"].map(|op| step[op]["ios"].as_u64().unwrap_or(0))
}

/// 200 reads, a millisecond apart, of a file called `data`.
fn trace_of_reads() -> String {
    let mut text = "fio version 3 iolog\n0 data add\n0 data open\n".to_owned();
    for i in 0..200_u64 {
        let _infallible = writeln!(text, "{} data read {} 4096", i * 1000, i * 4096);
    }
    text
}

#[test]
fn what_fio_recorded_is_replayed_with_the_counts_of_its_own_replay() {
    if !Command::new("fio").arg("--version").output().is_ok_and(|o| o.status.success()) {
        return skipped("fio is absent");
    }
    let place = Place::new();
    fs::write(
        place.file("record.fio"),
        "[rec]\nsize=1m\nbsrange=4k-16k\nrw=randrw\niodepth=4\nioengine=libaio\ndirect=1\nnumber_ios=60\nfdatasync=5\n\
         write_iolog=log\n",
    )
    .expect("written");
    let fio = |job: &str| {
        let output = Command::new("fio").args(["--output-format=json", job]).current_dir(place.work()).output();
        let text = String::from_utf8_lossy(&output.expect("fio runs").stdout).into_owned();
        serde_json::from_str::<Value>(&text[text.find("\n{").map_or(0, |at| at + 1)..]).expect("fio's JSON")
    };
    fio("record.fio");
    fs::write(place.file("replay.fio"), "[r]\nread_iolog=log\niodepth=4\nioengine=libaio\ndirect=1\n")
        .expect("written");
    let theirs = fio("replay.fio");
    fs::remove_file(place.file("rec.0.0")).expect("fio's file");
    let log = fs::read_to_string(place.file("log")).expect("a trace");
    let of = |action: &str| log.lines().filter(|line| line.split(' ').nth(2) == Some(action)).count() as u64;
    for engine in ["libaio", "io_uring", "psync"] {
        let job = format!("[r]\nread_iolog=log\niodepth=4\nioengine={engine}\ndirect=1\n");
        fs::write(place.file("replay.fio"), job).expect("written");
        let ours = step_of(&place, "run replay.fio --json");
        assert_eq!(counts(&ours), [of("read"), of("write"), of("datasync")], "{engine}");
        let totals = ["read", "write"].map(|op| theirs["jobs"][0][op]["total_ios"].as_u64().unwrap_or(0));
        assert_eq!(counts(&ours)[..2], totals, "{engine}");
        // The bytes of the trace: fio's own replay reads past the end of the file that it makes, and is cut short there.
        let recorded = |op: &str| -> f64 {
            let words =
                log.lines().map(|line| line.split(' ').collect::<Vec<_>>()).filter(|words| words.get(2) == Some(&op));
            words.map(|words| words[4].parse::<f64>().expect("a length")).sum()
        };
        let moved =
            |op: &str| ours[op]["bytes_per_s"].as_f64().expect("a rate") * ours["runtime_s"].as_f64().expect("s");
        assert!((moved("read") - recorded("read")).abs() < 1.0 && (moved("write") - recorded("write")).abs() < 1.0);
    }
    assert!(!fs::exists(place.file("rec.0.0")).expect("a folder"), "the file of the replay stays");
}

/// fio's own replay of `log`: reads and writes.
fn replayed_by_fio(place: &Place) -> Option<[u64; 2]> {
    let words = ["--name=r", "--read_iolog=log", "--ioengine=libaio", "--iodepth=4", "--output-format=json"];
    let output = Command::new("fio").args(words).current_dir(place.work()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let result: Value = serde_json::from_str(&text[text.find('{')?..]).expect("fio's JSON");
    Some(["read", "write"].map(|op| result["jobs"][0][op]["total_ios"].as_u64().unwrap_or(0)))
}

#[test]
fn what_is_written_down_is_replayed_by_fio_and_by_fathom_with_the_same_counts() {
    let place = Place::new();
    let job = "[rec]\nsize=1m\nbsrange=4k-16k\nrw=randrw\niodepth=4\nioengine=libaio\nnrfiles=3\nnumber_ios=60\nfdatasync=5\n\
               write_iolog=log\n";
    fs::write(place.file("record.fio"), job).expect("written");
    let run = place.run("fio --output-format=json record.fio");
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    let log = fs::read_to_string(place.file("log")).expect("a trace");
    let of = |action: &str| log.lines().filter(|line| line.split(' ').nth(2) == Some(action)).count() as u64;
    let recorded = [of("read"), of("write"), of("datasync")];
    assert!(recorded[0] + recorded[1] == 60 && recorded[2] >= 1, "{log}");
    let result: Value = serde_json::from_str(&run.out).expect("JSON");
    let done = ["read", "write"].map(|op| result["jobs"][0][op]["total_ios"].as_u64().unwrap_or(0));
    assert_eq!(done, recorded[..2]);
    match replayed_by_fio(&place) {
        Some(theirs) => assert_eq!(theirs, recorded[..2]),
        None => skipped("fio is absent"),
    }
    fs::write(place.file("replay.fio"), "[r]\nread_iolog=log\niodepth=4\nioengine=libaio\n").expect("written");
    let again = step_of(&place, "run replay.fio --overwrite --json");
    assert_eq!(counts(&again), recorded);
}

#[test]
fn a_trace_is_a_new_file_of_each_thread_and_none_stays_of_a_load_that_did_not_begin() {
    let place = Place::new();
    let words = "io --target . --rw randread --size 64k --set loops=1 --engine psync --set";
    assert_eq!(place.run(&format!("{words} write_iolog=log --threads 2")).code, Some(0));
    for file in ["log.0", "log.1"] {
        let text = fs::read_to_string(place.file(file)).expect("a trace");
        assert_eq!(text.lines().filter(|line| line.contains(" read ")).count(), 16, "{text}");
    }
    fs::write(place.file("mine"), "mine").expect("written");
    let before = place.listing();
    let ended = place.run(&format!("{words} write_iolog=mine"));
    let all = format!("{}{}", ended.out, ended.err);
    assert!(ended.code != Some(0) && all.contains("write_iolog"), "{all}");
    assert_eq!(place.listing(), before);
    assert_eq!(fs::read_to_string(place.file("mine")).expect("there"), "mine");
}

#[test]
fn recorded_times_are_kept_scaled_or_left_out() {
    let place = Place::new();
    fs::write(place.file("data"), vec![7_u8; 1 << 20]).expect("written");
    fs::write(place.file("log"), trace_of_reads()).expect("written");
    let runtime_s = |more: &str| {
        fs::write(place.file("r.fio"), format!("[r]\nread_iolog=log\niodepth=8\n{more}")).expect("written");
        let step = step_of(&place, "run r.fio --json");
        assert_eq!(counts(&step), [200, 0, 0], "{more}");
        assert_eq!(step["open_loop"].is_object(), !more.contains("no_stall"), "{more}");
        step["runtime_s"].as_f64().expect("a number")
    };
    // Lower bounds hold on any host; how late a busy one is stands in its warning.
    assert!(runtime_s("") >= 0.199);
    let shown = place.run("run r.fio").out;
    assert!(shown.contains("IOPS of a replay of log (reads)"), "{shown}");
    assert!(runtime_s("replay_time_scale=50\n") >= 0.398);
    let at_once = runtime_s("replay_no_stall=1\n");
    assert!(at_once < 0.199, "{at_once} s without waits");
}

#[test]
fn a_trace_writes_nothing_that_was_not_named_for_it() {
    let place = Place::new();
    let data = vec![7_u8; 1 << 20];
    fs::write(place.file("data"), &data).expect("written");
    let mut text = trace_of_reads();
    text.push_str("300000 data write 0 4096\n");
    fs::write(place.file("log"), &text).expect("written");
    fs::write(place.file("r.fio"), "[r]\nread_iolog=log\n").expect("written");
    let run = place.run("run r.fio");
    assert_eq!(run.code, Some(3), "one write among 200 reads was let through: {}{}", run.out, run.err);
    assert!(fs::read(place.file("data")).expect("a file") == data, "data was lost");
    // Beyond the end of what is there.
    fs::write(place.file("log"), "fio version 3 iolog\n0 data add\n0 data read 1048576 4096\n").expect("written");
    let run = place.run("run r.fio");
    assert_ne!(run.code, Some(0), "{}{}", run.out, run.err);
    assert!(fs::read(place.file("data")).expect("a file") == data, "data was lost");
}

#[test]
fn devices_of_a_trace_are_named_by_the_user_and_what_is_wrong_by_its_place() {
    let place = Place::new();
    fs::write(place.file("data"), vec![7_u8; 1 << 20]).expect("written");
    let mut binary = Vec::new();
    for i in 0..50_u64 {
        // struct blk_io_trace: magic, sequence, time, sector, bytes, action (queued read), pid, device, cpu, error, data.
        binary.extend((0x6561_7407_u32).to_le_bytes());
        binary.extend((i as u32).to_le_bytes());
        binary.extend((i * 1_000_000).to_le_bytes());
        binary.extend((i * 8).to_le_bytes());
        for word in [4096_u32, (1 << 16) | 1, 1, 259 << 20, 0, 0] {
            binary.extend(word.to_le_bytes());
        }
    }
    fs::write(place.file("trace.bin"), &binary).expect("written");
    let run_of = |job: &str| {
        fs::write(place.file("r.fio"), job).expect("written");
        place.run("run r.fio --json")
    };
    let refused = run_of("[r]\nread_iolog=trace.bin\n");
    assert!(refused.code == Some(2) && refused.err.contains("259,0"), "{}", refused.err);
    let step = run_of("[r]\nread_iolog=trace.bin\nreplay_redirect=data\n");
    assert_eq!(step.code, Some(0), "{}{}", step.out, step.err);
    let document: Value = serde_json::from_str(&step.out).expect("JSON");
    assert_eq!(counts(&document["steps"][0]), [50, 0, 0]);
    fs::write(place.file("log"), format!("{}9 data peek 0 1\n", trace_of_reads())).expect("written");
    for (job, said) in [
        ("[r]\nread_iolog=log\n", "entry 204"),
        ("[r]\nread_iolog=r.fio\n", "no trace"),
        ("[r]\nread_iolog=none\n", "No such file"),
        ("[r]\nread_iolog=log\nrate_iops=5\n", "r.fio:3"),
        ("[r]\nrw=read\nsize=1m\nreplay_no_stall=1\n", "read_iolog"),
    ] {
        let run = run_of(job);
        assert!(run.code == Some(2) && run.err.contains(said), "{job}: {}{}", run.out, run.err);
    }
}
