//! What the exporters write, read back by other means than ours.

use std::collections::BTreeSet;
use std::process::Command;

use crate::support::{Op, document, fixture, is_installed, record, run, step};
use fathom_judge::document::{
    Brief, BriefRow, CheckName, CheckView, Comparison, CpuView, Figure, NextCommand, StepState, Trust, TrustLevel,
    Verdict,
};
use fathom_message::{Message, Unit, msg};
use fathom_plan::OpMix;
use fathom_record::{FeatureName, FeatureState, FeatureUse, OpenLoop, PurgeMethod, PurgeReport, Warning};
use fathom_report::{FIO_BINS, csv, fio_json, fio_json_files, fio_json_text, fio_logs, hlog, json};
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use serde_json::Value;

/// Every path of object keys; list elements count as one.
fn key_paths(value: &Value, at: &str, paths: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (key, inner) in object {
                let path = format!("{at}/{key}");
                key_paths(inner, &path, paths);
                paths.insert(path);
            }
        }
        Value::Array(list) => list.iter().for_each(|inner| key_paths(inner, &format!("{at}[]"), paths)),
        _ => {}
    }
}

/// Whether a key of fio's document may be missing in ours, by the reason given.
fn is_excused(path: &str) -> bool {
    // The options are those of the job, not of the format.
    path.contains("/job options/") || path.contains("/global options/")
        // Values, not names: bins that held samples, percentiles that 100 samples support.
        || path.contains("/bins/") || path.contains("/percentile/")
        // fio prints percentiles of fsync; Fathom has no fsync.
        || path.contains("/sync/lat_ns/percentile")
        // fio adds sums over member disks when the target is md or dm; Fathom lists every disk by itself.
        || path.contains("/disk_util[]/aggr_")
}

fn assert_has_keys_of(fio: &Value, ours: &Value) {
    let (mut theirs, mut have) = (BTreeSet::new(), BTreeSet::new());
    key_paths(fio, "", &mut theirs);
    key_paths(ours, "", &mut have);
    let missing: Vec<&String> = theirs.difference(&have).filter(|path| !is_excused(path)).collect();
    assert!(missing.is_empty(), "fio has keys that the export lacks: {missing:?}");
}

#[test]
fn every_key_of_fio_3_33_is_in_the_export() {
    let (doc, steps) = run();
    for (file, plus) in [("randrw-jsonplus.json", true), ("randread-json.json", false)] {
        let fio: Value = serde_json::from_str(&fixture(file)).expect("a fixture is JSON");
        assert_has_keys_of(&fio, &fio_json(&doc, &steps, plus));
    }
}

#[test]
fn every_key_of_the_installed_fio_is_in_the_export() {
    if !is_installed("fio", "--version") {
        return;
    }
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (doc, steps) = run();
    for (format, plus) in [("json", false), ("json+", true)] {
        let output = Command::new("fio")
            .current_dir(&dir)
            .args(["--name=keys", "--filename=data.bin", "--size=4m", "--rw=randrw", "--bs=4k", "--ioengine=psync"])
            .args(["--runtime=1", "--number_ios=2000", "--lat_percentiles=1", "--slat_percentiles=1"])
            .arg(format!("--output-format={format}"))
            .output()
            .expect("fio starts");
        let fio: Value = serde_json::from_slice(&output.stdout).expect("fio prints JSON");
        assert_has_keys_of(&fio, &fio_json(&doc, &steps, plus));
    }
}

#[test]
fn counts_and_rates_are_in_fios_units() {
    let (doc, steps) = run();
    let out = fio_json(&doc, &steps, true);
    let read = &out["jobs"][0]["read"];
    assert_eq!(read["total_ios"], 20_000);
    assert_eq!(read["io_bytes"], 20_000 * 4096);
    assert_eq!(read["io_kbytes"], 80_000);
    assert_eq!(read["bw"], 40_000, "KiB/s");
    assert_eq!(read["bw_bytes"], 40_960_000);
    assert_eq!(read["iops"], 10_000.0);
    assert_eq!(read["runtime"], 2000, "ms");
    assert_eq!(read["iops_samples"], 2);
    assert_eq!(read["iops_min"], 10_000);
    assert_eq!(out["jobs"][0]["usr_cpu"], 10.0, "0.2 s of one worker's 2 s; no other thread is a job of fio");
    assert_eq!(out["jobs"][0]["sys_cpu"], 50.0);
    assert_eq!(out["jobs"][2]["job_runtime"], 4000, "fio adds up the jobs of a group");
    assert_eq!(out["time"], "Sat Nov 21 08:36:05 2026");
    assert_eq!(out["timestamp"], 1_795_250_165);
    assert_eq!(out["disk_util"][0]["util"], 50.0);
    let version = out["fio version"].as_str().expect("a text");
    assert!(version.split('-').nth(1).expect("a number after the dash").parse::<f64>().expect("a number") >= 2.99);
}

#[test]
fn options_that_readers_look_for_are_there() {
    let (doc, steps) = run();
    let options = &fio_json(&doc, &steps, false)["jobs"][2]["job options"];
    for (key, value) in [("rw", "randrw"), ("bs", "4k"), ("iodepth", "4"), ("numjobs", "2"), ("rwmixread", "70")] {
        assert_eq!(options[key], value, "{key}");
    }
    assert_eq!(options["ioengine"], "libaio");
    assert_eq!(options["filename"], "data.bin");
}

#[test]
fn clat_holds_lat_with_a_note_unless_every_io_has_a_clat() {
    let (doc, steps) = run();
    let out = fio_json(&doc, &steps, true);
    let (full, sampled) = (&out["jobs"][0]["read"], &out["jobs"][1]["read"]);
    assert!(full["clat_ns"].get("fathom_note").is_none());
    assert_ne!(full["clat_ns"]["mean"], full["lat_ns"]["mean"]);
    assert!(sampled["clat_ns"]["fathom_note"].as_str().expect("a note").contains("2500 of 20000"));
    assert_eq!(sampled["clat_ns"]["bins"], sampled["lat_ns"]["bins"]);
    assert_eq!(sampled["slat_ns"]["N"], 2500);
}

#[test]
fn bins_add_up_to_the_ios_and_come_with_json_plus_only() {
    let (doc, steps) = run();
    let bins = &fio_json(&doc, &steps, true)["jobs"][0]["read"]["lat_ns"]["bins"];
    let sum: u64 = bins.as_object().expect("bins").values().map(|count| count.as_u64().expect("a count")).sum();
    assert_eq!(sum, 20_000);
    assert!(fio_json(&doc, &steps, false)["jobs"][0]["read"]["lat_ns"].get("bins").is_none());
}

#[test]
fn an_unsustainable_rate_has_no_percentiles() {
    let step = step(0, OpMix::READ, 1, 1);
    let mut record = record(&step, 10_000, 1);
    let submit_delay_ns_mean_halves = [1e6, 9e9];
    record.open_loop =
        Some(OpenLoop { intended_iops: 1e6, submit_delay_ns_mean_halves, backlog_end_ios: 9, unsustainable: true });
    let steps = [(step, record)];
    let out = fio_json(&document(&steps), &steps, true);
    let lat = &out["jobs"][0]["read"]["lat_ns"];
    assert!(lat.get("percentile").is_none() && lat.get("bins").is_none());
    assert!(out["jobs"][0]["fathom_note"].to_string().contains("not sustained"));
}

#[test]
fn a_refused_step_is_named_in_the_export() {
    let (mut doc, steps) = run();
    let mut refused = doc.steps[0].clone();
    refused.index = 3;
    refused.state = StepState::Refused;
    refused.reason = Some(Message::verbatim("no poll queues"));
    doc.steps.push(refused);
    assert!(fio_json(&doc, &steps, false)["fathom_note"].to_string().contains("no poll queues"));
}

#[test]
fn what_is_written_holds_words_and_no_ids_of_messages() {
    let (mut doc, _) = run();
    let said = || msg!("what-and-why", what = "mode iopoll", why = Message::verbatim("no poll queues"));
    let step = &mut doc.steps[0];
    (step.reason, step.help, step.limit.sentence) = (Some(said()), Some(said()), said());
    (step.label_message, step.warning_texts) = (said(), vec![said()]);
    step.warnings =
        vec![Warning::Note { text: said() }, Warning::FeatureMissing { feature: FeatureName::Iopoll, reason: said() }];
    step.features = vec![FeatureUse::new(FeatureName::Iopoll, FeatureState::Unavailable, said())];
    step.purges = vec![PurgeReport { target: "f".into(), method: PurgeMethod::Absent, bytes: 0, detail: said() }];
    doc.run.plan.notes = vec![said()];
    doc.trust = Some(Trust { level: TrustLevel::Good, reasons: vec![said()], mend: Some(said()) });
    doc.verdict = vec![Verdict {
        brief: Brief {
            headline: said(),
            rows: vec![BriefRow { name: said(), cells: vec![said()] }],
            next: Some(NextCommand { command: "fathom".into(), why: said() }),
        },
        question: said(),
        answer: said(),
        evidence: vec![said()],
        would_help: vec![said()],
        caveats: vec![said()],
        figures: vec![Figure { name: said(), value: 1.0, unit: Unit::Iops, ci95: None, load: said(), step: 0 }],
    }];
    doc.run.question = said();
    let check = CheckView { name: CheckName::Bytes, ok: None, sentence: said(), cause: None };
    doc.steps[0].checks = vec![check];
    doc.host = serde_json::json!({
        "advice": [{ "id": "a.rule", "severity": "note", "subjects": [said()], "reason": said(), "effect": said(),
            "remedy": said() }],
        "targets": [{ "no_device_because": said() }],
    });
    let text = json(&doc).expect("has a JSON form");
    assert!(!text.contains("what-and-why"), "{text}");
    assert_eq!(text.matches("\"mode iopoll: no poll queues\"").count(), 30);
    assert!(csv(&doc).contains("mode iopoll: no poll queues"));
}

#[test]
fn a_comparison_is_written_in_words_and_one_of_strings_is_still_read() {
    let said = || msg!("what-and-why", what = "mode iopoll", why = Message::verbatim("no poll queues"));
    let side = serde_json::json!({ "name": "A", "title": said(), "run": 1, "study": "quick", "started": "", "state": "finished",
        "command": "" });
    let other = serde_json::json!({ "name": "B", "title": "run 2", "run": 2, "study": "quick", "started": "", "state": "finished",
        "command": "" });
    let shape = serde_json::json!({
        "fathom": "0.1.0", "schema": 1, "kind": "comparison", "sides": [side, other], "margin_pct": 2.0,
        "environment": [{ "area": "host", "what": said(), "values": [said(), null] }], "false_discovery_rate": 0.05,
        "answer": said(), "caveats": [said(), "as an older version wrote it"], "steps": [],
        "unmatched": [{ "side": "A", "label": "4k random read", "why": said() }]
    });
    let comparison: Comparison = serde_json::from_value(shape).expect("the shape of a comparison");
    let text = json(&comparison).expect("plain data");
    assert!(!text.contains("what-and-why"), "{text}");
    assert_eq!(text.matches("\"mode iopoll: no poll queues\"").count(), 6);
    assert!(text.contains("\"run 2\"") && text.contains("\"as an older version wrote it\""), "{text}");
}

#[test]
fn text_keeps_fios_order_of_keys() {
    let (doc, steps) = run();
    let text = fio_json_text(&doc, &steps, true);
    let at = |key: &str| text.find(&format!("\"{key}\":")).unwrap_or_else(|| panic!("no {key}"));
    assert!(at("fio version") < at("jobs") && at("jobname") < at("read") && at("jobs") < at("disk_util"));
    assert!(at("slat_ns") < at("clat_ns") && at("clat_ns") < at("lat_ns"));
}

#[test]
fn fios_own_converter_accepts_and_validates_json_plus() {
    if !is_installed("fio_jsonplus_clat2csv", "--help") {
        return;
    }
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (doc, steps) = run();
    std::fs::write(dir.path().join("run.json"), fio_json_text(&doc, &steps, true)).expect("room for a file");
    for arguments in [&["run.json", "run.csv"][..], &["run.json", "run.csv", "--validate"]] {
        let output =
            Command::new("fio_jsonplus_clat2csv").current_dir(&dir).args(arguments).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !said.contains("mismatch"), "{said}");
    }
    let table = std::fs::read_to_string(dir.path().join("run_job0.csv")).expect("the converter wrote it");
    assert!(table.lines().count() > 50);
}

#[test]
fn one_file_per_step_is_named_by_load() {
    let (doc, mut steps) = run();
    let mut twin = steps[0].clone();
    twin.0.index = 9;
    steps.push(twin);
    let names: Vec<String> = fio_json_files(&doc, &steps, false).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["randread-1-1.json", "randread-8-1.json", "randrw-4-2.json", "randread-1-1-step9.json"]);
}

#[test]
fn logs_have_the_columns_of_fio_and_lose_no_sample() {
    let (_, steps) = run();
    let files = fio_logs(&steps);
    let text = |name: &str| &files.iter().find(|(file, _)| file == name).unwrap_or_else(|| panic!("no {name}")).1;
    assert_eq!(text("randread-iodepth-1-numjobs-1_iops.1.log"), "1000, 10000, 0, 0, 0, 0\n2000, 10000, 0, 0, 0, 0\n");
    assert!(text("randread-iodepth-1-numjobs-1_bw.1.log").starts_with("1000, 40000, 0, 0, 0, 0\n"));
    let mixed = text("randrw-iodepth-4-numjobs-2_lat.1.log");
    assert_eq!(mixed.lines().map(|l| l.split(", ").nth(2).expect("ddir")).collect::<Vec<_>>(), ["0", "1", "0", "1"]);
    for line in text("randread-iodepth-1-numjobs-1_hist_lat.1.log").lines() {
        let numbers: Vec<u64> = line.split(", ").map(|n| n.parse().expect("a number")).collect();
        assert_eq!(numbers.len(), 3 + FIO_BINS);
        assert_eq!(numbers[3..].iter().sum::<u64>(), 10_000);
    }
}

#[test]
fn hdr_histogram_reads_its_log_back() {
    let (doc, steps) = run();
    let text = hlog(&doc, &steps).expect("a log");
    let mut lines = 0;
    for entry in IntervalLogIterator::new(text.as_bytes()) {
        let LogEntry::Interval(interval) = entry.expect("a line of the log") else { continue };
        let bytes = decode_base64(interval.encoded_histogram());
        let read: hdrhistogram::Histogram<u64> =
            Deserializer::new().deserialize(&mut bytes.as_slice()).expect("a histogram");
        assert_eq!(read.len(), 10_000);
        assert_eq!(interval.duration().as_secs(), 1);
        if interval.tag().expect("a tag").as_str() == "step0-read" && interval.start_timestamp().as_secs() == 0 {
            let ours = &steps[0].1.intervals[0].directions[0].lat;
            let p99 = ours.quantile(0.99).expect("samples") as f64;
            assert!((read.value_at_quantile(0.99) as f64 - p99).abs() <= p99 * 0.005);
        }
        lines += 1;
    }
    assert_eq!(lines, 2 + 2 + 4);
}

/// The standard alphabet, so that the test does not lean on the library that wrote it.
fn decode_base64(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut bits, mut held) = (0_u32, 0);
    for c in text.bytes().filter(|c| *c != b'=') {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            _ => 63,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    out
}

#[test]
fn csv_has_one_row_per_step_and_quotes_what_needs_it() {
    let (mut doc, steps) = run();
    doc.steps[0].label = "line\nbreak, and \"quotes\"".to_owned();
    doc.steps[1].cpu = Some(CpuView {
        busy_cores: 0.5,
        cpus_online: 4,
        ns_per_io: Some(3250.0),
        user_ns_per_io: 1000.0,
        system_ns_per_io: 2000.0,
        irq_ns_per_io: 250.0,
        kernel_worker_ns_per_io: 0.0,
        interrupts_per_io: 1.0,
        context_switches_per_io: 1.0,
        iops_per_core: Some(40_000.5),
        busy_physical_cores: 0.25,
        iops_per_physical_core: Some(80_001.0),
        baseline_busy_cores: 0.0,
        other_programs_cores: None,
        unexplained_cores: 0.0,
        steal_pct: 0.0,
        busiest_cpu: None,
    });
    doc.steps[1].syncs = doc.steps[0].read.clone();
    let synced = doc.steps[1].syncs.clone().expect("a direction");
    let table = csv(&doc);
    let header = table.split("\r\n").next().expect("a header");
    let columns = header.split(',').count();
    assert!(table.contains("\"line\nbreak, and \"\"quotes\"\"\""));
    let rows: Vec<Vec<String>> = parse_csv(&table);
    assert_eq!(rows.len(), 1 + steps.len());
    assert!(rows.iter().all(|row| row.len() == columns));
    let at = |name: &str| rows[0].iter().position(|c| c == name).unwrap_or_else(|| panic!("no column {name}"));
    assert_eq!(rows[1][at("label")], "line\nbreak, and \"quotes\"");
    assert_eq!(rows[3][at("threads_per_target")], "2");
    assert_eq!(rows[3][at("queue_depth_per_thread")], "4");
    assert_eq!(rows[2][at("ios")], "20000");
    assert_eq!(rows[2][at("lat_p99.9_ns")], "", "not supported by the samples");
    assert_eq!(rows[1][at("warnings")], "one, \"quoted\"");
    assert_eq!(rows[1][at("write_iops")], "");
    let mean = synced.lat_ns.as_ref().map(|l| l.mean.to_string()).unwrap_or_default();
    assert_eq!((&rows[2][at("syncs_per_s")], &rows[2][at("sync_lat_mean_ns")]), (&synced.iops.to_string(), &mean));
    for name in ["syncs_per_s", "sync_lat_mean_ns", "sync_lat_p99_ns"] {
        assert_eq!(rows[1][at(name)], "", "{name}: no syncs there");
    }
    // Of a CPU and of a physical core, with the names of the document; empty where the CPU time is not known.
    for (name, value) in [
        ("busy_cores", "0.5"),
        ("iops_per_core", "40000.5"),
        ("busy_physical_cores", "0.25"),
        ("iops_per_physical_core", "80001"),
    ] {
        assert_eq!((rows[2][at(name)].as_str(), rows[1][at(name)].as_str()), (value, ""), "{name}");
    }
}

/// RFC 4180, read the slow way.
fn parse_csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (quoted, c) {
            (true, '"') if chars.peek() == Some(&'"') => field.push(chars.next().expect("peeked")),
            (_, '"') => quoted = !quoted,
            (false, ',') => row.push(std::mem::take(&mut field)),
            (false, '\r') => {}
            (false, '\n') => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            (_, c) => field.push(c),
        }
    }
    rows
}

#[test]
fn the_document_survives_its_json() {
    let (doc, _) = run();
    let text = json(&doc).expect("JSON");
    assert_eq!(serde_json::from_str::<fathom_judge::document::Document>(&text).expect("the same document"), doc);
    assert!(text.ends_with("}\n"));
}

#[test]
fn quoted_figures_are_exported_as_quoted() {
    let (_, steps) = run();
    let text = json(&document(&steps)).expect("JSON");
    let imported = fathom_report::import::import_json(&text, "run.json").expect("our own document");
    let out = fio_json(&document(&imported.steps), &imported.steps, true);
    let lat = &out["jobs"][0]["read"]["lat_ns"];
    let original = steps[0].1.direction(Op::Read).expect("reads").lat.histogram().expect("samples");
    assert_eq!(lat["percentile"]["99.000000"], original.quantile(0.99).expect("samples"));
    assert!(lat.get("bins").is_none());
    assert!(out["jobs"][0]["fathom_note"].to_string().contains("samples are not known"));
}
