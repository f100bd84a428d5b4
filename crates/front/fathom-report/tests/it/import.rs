//! What fio and Fathom wrote, taken in again.

use std::process::Command;

use crate::support::{Op, document, fixture, is_installed, run};
use fathom_hist::REL_ERROR_MAX;
use fathom_language::english;
use fathom_message::{Message, Say as _};
use fathom_plan::{EngineName, Pattern, Phase, Placement};
use fathom_record::{Direction, Latency, StepRecord, Warning};
use fathom_report::import::{ImportError, Imported, import_json};
use fathom_report::{bin_of_ns, fio_json, fio_json_text, json, ns_of_bin};
use proptest::prelude::*;
use serde_json::Value;

pub(crate) fn import_fixture(name: &str) -> Imported {
    import_json(&fixture(name), name).unwrap_or_else(|e| panic!("{e}"))
}

pub(crate) fn direction(record: &StepRecord, op: Op) -> &Direction {
    record.direction(op).unwrap_or_else(|| panic!("no {op:?}"))
}

pub(crate) fn notes(record: &StepRecord) -> String {
    let texts = record.warnings.iter().filter_map(|w| if let Warning::Note { text } = w { Some(text) } else { None });
    words(texts)
}

pub(crate) fn words<'a>(messages: impl IntoIterator<Item = &'a Message>) -> String {
    messages.into_iter().map(english).collect::<Vec<_>>().join("\n")
}

/// What is said of a file that is not taken in.
pub(crate) fn refusal(text: &str, file: &str) -> String {
    english(&import_json(text, file).expect_err(file).message())
}

#[test]
fn json_plus_with_lat_percentiles_becomes_samples_of_lat() {
    let imported = import_fixture("randrw-jsonplus.json");
    let source: Value = serde_json::from_str(&fixture("randrw-jsonplus.json")).expect("JSON");
    let [(step, record)] = imported.steps.as_slice() else { panic!("one step") };
    assert_eq!((step.load.threads, step.load.queue_depth, step.engine.name), (1, 4, EngineName::Libaio));
    assert_eq!((step.workload.mix.read_pct, step.workload.pattern), (70, Pattern::Random));
    assert_eq!((step.workload.block_bytes_max(), step.workload.direct), (4096, true));
    assert_eq!(step.targets[0].as_str(), "data.bin");
    for (op, key) in [(Op::Read, "read"), (Op::Write, "write")] {
        let (ours, fio) = (direction(record, op), &source["jobs"][0][key]);
        assert_eq!(Value::from(ours.ios), fio["total_ios"]);
        assert_eq!(Value::from(ours.bytes), fio["io_bytes"]);
        let lat = ours.lat.histogram().expect("bins are samples");
        assert_eq!(Value::from(lat.count()), fio["lat_ns"]["N"]);
        assert_eq!(Value::from(lat.min_ns()), fio["lat_ns"]["min"]);
        assert_eq!(Value::from(lat.max_ns()), fio["lat_ns"]["max"]);
        for percent in ["50.000000", "90.000000", "99.000000"] {
            let theirs = fio["lat_ns"]["percentile"][percent].as_f64().expect("a percentile");
            let q = percent.parse::<f64>().expect("a number") / 100.0;
            let mine = lat.quantile(q).expect("samples") as f64;
            assert!((mine - theirs).abs() <= theirs * (REL_ERROR_MAX + 1.0 / 128.0), "{key} p{percent}");
        }
        assert!(ours.clat.is_some() && ours.slat.is_some());
    }
    assert!(!notes(record).contains("clat, without"), "{}", notes(record));
    assert!(notes(record).contains("% system time"));
    assert_eq!(imported.host_json["disk_util"][0]["name"], "disk0");
}

#[test]
fn plain_json_stays_quoted_and_says_that_it_is_clat() {
    let imported = import_fixture("randread-json.json");
    let source: Value = serde_json::from_str(&fixture("randread-json.json")).expect("JSON");
    let (step, record) = &imported.steps[0];
    assert_eq!(step.load.queue_depth, 8);
    let Latency::Quoted(quoted) = &direction(record, Op::Read).lat else { panic!("no samples in plain JSON") };
    let fio = &source["jobs"][0]["read"]["clat_ns"];
    assert_eq!(Value::from(quoted.mean_ns), fio["mean"]);
    assert_eq!(quoted.quantiles.len(), 17);
    assert!(quoted.quantiles.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1));
    let (q, ns) = quoted.quantiles[12];
    assert!((q - 0.99).abs() < 1e-9);
    assert_eq!(Value::from(ns), fio["percentile"]["99.000000"]);
    assert!(notes(record).contains("fio's clat"));
    assert!(record.host.is_none() && record.intervals.is_empty());
}

#[test]
fn bins_of_clat_serve_when_lat_has_none() {
    let imported = import_fixture("randread-jsonplus-clat.json");
    let record = &imported.steps[0].1;
    assert_eq!(direction(record, Op::Read).lat.histogram().expect("samples").count(), 1500);
    assert!(notes(record).contains("fio's clat"));
}

#[test]
fn jobs_of_one_numjobs_are_one_step() {
    let imported = import_fixture("numjobs2-jsonplus.json");
    let [(step, record)] = imported.steps.as_slice() else { panic!("one step, not one per job") };
    assert_eq!(step.load.threads, 2);
    assert_eq!(direction(record, Op::Read).ios, 3000);
    assert_eq!(direction(record, Op::Read).lat.histogram().expect("samples").count(), 3000);
}

#[test]
fn quoted_jobs_merge_without_percentiles_and_say_so() {
    let imported = import_fixture("numjobs2-json.json");
    let [(_, record)] = imported.steps.as_slice() else { panic!("one step") };
    let Latency::Quoted(quoted) = &direction(record, Op::Read).lat else { panic!("quoted") };
    assert_eq!((quoted.count, quoted.quantiles.len()), (3000, 0));
    assert!(notes(record).contains("cannot be merged"));
}

#[test]
fn group_reporting_is_one_entry_for_all_threads() {
    let imported = import_fixture("numjobs2-grouped-json.json");
    let [(step, record)] = imported.steps.as_slice() else { panic!("one step") };
    assert_eq!((step.load.threads, direction(record, Op::Write).ios), (2, 3000));
    let Latency::Quoted(quoted) = &direction(record, Op::Write).lat else { panic!("quoted") };
    assert_eq!(quoted.quantiles.len(), 17);
}

#[test]
fn a_job_file_becomes_its_steps_with_global_options() {
    let imported = import_fixture("jobfile-json.json");
    let [(first, _), (second, _)] = imported.steps.as_slice() else { panic!("two steps") };
    assert_eq!(
        (first.workload.read_write().as_str(), first.workload.block_bytes_max(), first.load.queue_depth),
        ("read", 65_536, 2)
    );
    assert_eq!(
        (second.workload.read_write().as_str(), second.workload.block_sizes.len(), second.index),
        ("randwrite", 2, 1)
    );
    assert_eq!(imported.plan.steps.len(), 2);
    assert!(imported.plan.source.contains("[second]") && imported.plan.source.contains("bssplit=4k/50:8k/50"));
    assert!(!words(&imported.notes).contains("at the same time"), "the second job waited for the first");
}

#[test]
fn client_stats_are_grouped_by_host() {
    let imported = import_fixture("client-stats-jsonplus.json");
    let [(step, record)] = imported.steps.as_slice() else { panic!("one step") };
    assert_eq!(step.group, "127.0.0.1");
    assert_eq!(direction(record, Op::Read).ios, 800);
    assert!(direction(record, Op::Read).lat.histogram().is_some());
}

#[test]
fn what_fio_says_beside_its_json_is_kept_as_a_note() {
    let clean = import_fixture("randread-json.json");
    let text = fixture("randread-json.json");
    let before = format!("fio: cannot open {{file}}\nnote: both iodepth >= 1\n{text}");
    let after = format!("{text}\nfio: terminating on signal 2\n");
    let within = text.replacen("\n  \"jobs\"", "\nfio: io_u error on file data.bin\n  \"jobs\"", 1);
    for (noisy, said) in [(before, "cannot open"), (after, "signal 2"), (within, "io_u error")] {
        let imported = import_json(&noisy, "noisy.json").unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(imported.steps, clean.steps);
        assert!(words(&imported.notes).contains(said), "{said}");
    }
}

#[test]
fn damage_is_reported_with_line_and_column() {
    let text = fixture("randread-json.json");
    let damaged = text.replacen("\"iodepth\" : \"8\"", "\"iodepth\" : oops", 1);
    let line = 1 + text[..text.find("\"iodepth\" :").expect("an option")].matches('\n').count();
    let Err(ImportError::Json { line: reported, column, .. }) = import_json(&damaged, "d.json") else {
        panic!("damaged")
    };
    assert_eq!(reported, line);
    assert!(column > 10);
    let noisy = format!("fio: said something\n{damaged}");
    let error = refusal(&noisy, "d.json");
    assert!(error.starts_with(&format!("d.json:{}:", line + 1)), "{error}");
    let cut = &text[..text.len() / 2];
    assert!(refusal(cut, "d.json").contains("EOF"));
    let twice = format!("{text}\n{text}");
    assert!(refusal(&twice, "d.json").contains("second JSON document"));
}

#[test]
fn an_old_fio_is_refused_by_name() {
    let old = r#"{"fio version": "fio-2.16", "jobs": [{"jobname": "j", "groupid": 0, "error": 0,
        "job options": {"rw": "randread", "bs": "4k"},
        "read": {"io_bytes": 4096, "bw": 1, "iops": 1.0, "runtime": 1000, "total_ios": 1,
                 "slat": {"min": 1, "max": 1, "mean": 1.0, "stddev": 0.0},
                 "clat": {"min": 1, "max": 1, "mean": 1.0, "stddev": 0.0, "percentile": {"50.000000": 1}},
                 "lat": {"min": 1, "max": 1, "mean": 1.0, "stddev": 0.0}}}]}"#;
    let error = import_json(old, "old.json").expect_err("too old");
    assert!(
        matches!(&error, ImportError::OldFio { version, .. } if *version == Message::verbatim("fio-2.16")),
        "{error}"
    );
    assert!(english(&error.help().expect("a way out")).contains("3.0"));
}

#[test]
fn other_files_are_named_for_what_they_are() {
    let cases = [
        ("", "empty file"),
        ("SQLite format 3\0", "SQLite"),
        ("<!doctype html><html>", "HTML"),
        ("<?xml version=\"1.0\"?><Results/>", "XML"),
        ("[global]\nrw=randread\n[job]\n", "job file"),
        ("# my study\n[study]\nname = \"x\"\n", "study file"),
        ("3;fio-3.33;job;0;0;\n", "terse"),
        ("job: (g=0): rw=randread, bs=(R) 4096B\n", "normal output"),
        ("step,label,phase\r\n0,x,measure\r\n", "commas"),
        ("hello\n", "plain text"),
        ("{\"Results\": 1}", "another program's JSON, with the keys Results"),
        ("{}", "empty JSON object"),
        ("[{}]", "empty JSON object"),
    ];
    for (text, kind) in cases {
        let error = import_json(text, "x").expect_err(kind);
        assert!(
            matches!(error, ImportError::WrongKind { .. }) && english(&error.message()).contains(kind),
            "{kind}: {error}"
        );
        assert!(error.help().is_some());
    }
}

#[test]
fn a_missing_or_foreign_value_is_reported_with_its_place() {
    let text = fixture("randread-json.json");
    let without = text.replacen("\"total_ios\"", "\"totally\"", 1);
    assert!(refusal(&without, "x").contains("jobs[0].read.total_ios"));
    let workload = text.replacen("\"rw\" : \"randread\"", "\"rw\" : \"shuffle\"", 1);
    let error = refusal(&workload, "x");
    assert!(error.contains("jobs[0].job options.rw") && error.contains("`shuffle`"), "{error}");
    let no_jobs = r#"{"fio version": "fio-3.33", "jobs": []}"#;
    assert!(refusal(no_jobs, "x").contains("no job in it"));
}

#[test]
fn a_block_size_that_the_counts_deny_is_corrected() {
    let text = fixture("randread-json.json").replacen("\"bs\" : \"4k\"", "\"bs\" : \"8k\"", 1);
    let imported = import_json(&text, "x").expect("still readable");
    assert_eq!(imported.steps[0].0.workload.block_bytes_max(), 4096);
    assert!(notes(&imported.steps[0].1).contains("4096 bytes on average"));
}

#[test]
fn errors_of_a_job_become_a_warning() {
    let text = fixture("randread-json.json").replacen("\"error\" : 0", "\"error\" : 5", 1);
    let imported = import_json(&text, "x").expect("readable");
    assert!(imported.steps[0].1.warnings.contains(&Warning::IoErrors { count: 1, errno: 5 }));
}

#[test]
fn an_export_comes_back_with_the_same_counts_and_quantiles() {
    let (mut doc, mut steps) = run();
    steps[1].0.placement = Placement::Cpus(vec![0, 2]);
    doc.steps[1].cpus = vec![0, 2];
    let imported = import_json(&fio_json_text(&doc, &steps, true), "x").expect("our own export");
    assert_eq!(imported.steps.len(), steps.len());
    for ((step, record), (step_back, back)) in steps.iter().zip(&imported.steps) {
        assert_eq!(step_back, step, "the options carry the whole step");
        assert_eq!((back.ios(), back.bytes(), back.runtime_ns), (record.ios(), record.bytes(), record.runtime_ns));
        for original in &record.directions {
            let returned = direction(back, original.op);
            assert_same_distribution(&original.lat, &returned.lat);
            assert_eq!(returned.clat.is_some(), step.index == 0, "clat comes back only where it was complete");
        }
        assert!(!notes(back).contains("fio's clat"));
    }
}

fn assert_same_distribution(original: &Latency, returned: &Latency) {
    let (a, b) = (original.histogram().expect("samples"), returned.histogram().expect("samples"));
    assert_eq!((a.count(), a.min_ns(), a.max_ns()), (b.count(), b.min_ns(), b.max_ns()));
    for q in [0.01, 0.5, 0.9, 0.99, 0.999] {
        let (x, y) = (a.quantile(q).expect("samples") as f64, b.quantile(q).expect("samples") as f64);
        assert!((x - y).abs() <= x * (2.0 * REL_ERROR_MAX + 1.0 / 128.0), "q {q}: {x} and {y}");
    }
}

#[test]
fn our_document_comes_back_with_its_figures_quoted() {
    let (mut doc, steps) = run();
    let mut refused = doc.steps[0].clone();
    refused.index = 3;
    refused.reason = Some(Message::verbatim("no poll queues"));
    doc.steps.push(refused);
    let mut probe = doc.steps[0].clone();
    (probe.index, probe.phase) = (4, Phase::Probe);
    doc.steps.push(probe.clone());
    let imported = import_json(&json(&doc).expect("JSON"), "run.json").expect("our own document");
    assert_eq!(imported.plan, doc.run.plan);
    assert_eq!(imported.host_json, doc.host);
    assert_eq!(imported.started_unix_ns, 1_795_250_135_000_000_000);
    assert!(words(&imported.notes).contains("no poll queues"));
    assert!(words(&imported.notes).contains("step 4 (") && words(&imported.notes).contains("is a probe"));
    assert_eq!(imported.steps.len(), 3);
    for ((_, record), (_, back)) in steps.iter().zip(&imported.steps) {
        assert_eq!((back.ios(), back.bytes(), &back.host), (record.ios(), record.bytes(), &record.host));
        for original in &record.directions {
            let Latency::Quoted(quoted) = &direction(back, original.op).lat else { panic!("quoted") };
            let samples = original.lat.histogram().expect("samples");
            let p99 = quoted.quantiles.iter().find(|(q, _)| (q - 0.99).abs() < 1e-9).expect("p99").1;
            assert_eq!((quoted.count, Some(p99)), (samples.count(), samples.quantile(0.99)));
        }
    }
    let Latency::Quoted(reads) = &direction(&imported.steps[0].1, Op::Read).lat else { panic!("quoted") };
    assert!(reads.quantiles.contains(&(0.25, 70_000)), "the curve adds its points");
}

#[test]
fn a_step_that_the_plan_should_hold_and_does_not_is_refused() {
    let (mut doc, _) = run();
    let mut stray = doc.steps[0].clone();
    stray.index = 4;
    doc.steps.push(stray);
    let Err(ImportError::Content { what, .. }) = import_json(&json(&doc).expect("JSON"), "x") else {
        panic!("no step")
    };
    assert!(english(&what).contains("no step 4"), "{what}");
}

#[test]
fn a_document_of_a_newer_fathom_or_of_a_wrong_shape_is_refused() {
    let (doc, _) = run();
    let text = json(&doc).expect("JSON");
    let newer = text.replacen("\"schema\": 2", "\"schema\": 99", 1);
    assert!(matches!(import_json(&newer, "x"), Err(ImportError::NewerFathom { found: 99, .. })));
    let wrong = text.replacen("\"queue_depth\": 1", "\"queue_depth\": \"deep\"", 1);
    let Err(ImportError::Json { line, what, .. }) = import_json(&wrong, "x") else { panic!("a text is no depth") };
    assert!(line > 10 && english(&what).contains("deep"), "{what}");
}

#[test]
fn a_fresh_fio_run_is_taken_in_and_given_back_bin_by_bin() {
    if !is_installed("fio", "--version") {
        return;
    }
    let dir = tempfile::tempdir().expect("a temporary directory");
    let output = Command::new("fio")
        .current_dir(&dir)
        .args(["--name=fresh", "--filename=data.bin", "--size=4m", "--rw=randrw", "--bs=4k", "--ioengine=psync"])
        .args([
            "--runtime=1",
            "--time_based",
            "--lat_percentiles=1",
            "--numjobs=2",
            "--thread",
            "--output-format=json+",
        ])
        .output()
        .expect("fio starts");
    let text = String::from_utf8(output.stdout).expect("fio prints text");
    let source: Value = serde_json::from_str(&text).expect("JSON");
    let imported = import_json(&text, "fresh.json").unwrap_or_else(|e| panic!("{e}"));
    let back = fio_json(&document(&imported.steps), &imported.steps, true);
    for key in ["read", "write"] {
        let jobs = source["jobs"].as_array().expect("jobs");
        let total: u64 = jobs.iter().map(|j| j[key]["total_ios"].as_u64().expect("a count")).sum();
        assert_eq!(back["jobs"][0][key]["total_ios"], total);
        let mut bins = std::collections::BTreeMap::<String, u64>::new();
        for job in jobs {
            for (ns, count) in job[key]["lat_ns"]["bins"].as_object().expect("bins") {
                *bins.entry(ns.clone()).or_default() += count.as_u64().expect("a count");
            }
        }
        assert_eq!(back["jobs"][0][key]["lat_ns"]["bins"], serde_json::to_value(&bins).expect("JSON"), "{key}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_importer_panic(cut in 0_usize..33_000, insert in ".{0,12}", name in 0_usize..4) {
        let names = ["randrw-jsonplus.json", "randread-json.json", "numjobs2-jsonplus.json", "client-stats-jsonplus.json"];
        let mut text = fixture(names[name]);
        let at = (0..=cut.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.insert_str(at, &insert);
        // The outcome depends on where it lands; an error must name the file.
        if let Err(error) = import_json(&text, "some.json") {
            prop_assert!(english(&error.message()).starts_with("some.json:"), "{}", error);
        }
    }

    #[test]
    fn a_bin_value_falls_into_its_own_bin(bin in 0_usize..fathom_report::FIO_BINS) {
        prop_assert_eq!(bin_of_ns(ns_of_bin(bin)), bin);
    }
}
