//! Results of fio that leave something out: what a file does not say stays unknown.

use fathom_plan::{EngineName, LoadPart, Pattern};
use fathom_record::{Latency, Warning};
use fathom_report::import::{ImportError, import_json};
use fathom_report::{fio_json, fio_json_text};

use crate::import::{direction, import_fixture, notes, refusal, words};
use crate::support::{Op, document, fixture};

#[test]
fn latencies_of_fio_before_3_18_have_a_sample_for_each_io() {
    let new = fixture("verify-phase.json");
    let old: String = new.lines().filter(|line| !line.contains("\"N\" :")).map(|line| format!("{line}\n")).collect();
    // The last field of an object has no comma behind it.
    let old = without_last_commas(&old);
    let (new, old) = (import_json(&new, "x").expect("new"), import_json(&old, "x").expect("old"));
    assert_eq!(old.steps, new.steps);
}

/// The text without commas before a closing brace.
fn without_last_commas(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with('}') && out.ends_with(",\n") {
            out.truncate(out.len() - 2);
            out.push('\n');
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

#[test]
fn figures_of_all_directions_together_stay_together() {
    let imported = import_fixture("uni-mixed.json");
    let [(step, record)] = imported.steps.as_slice() else { panic!("one step") };
    assert_eq!((record.ios(), record.bytes(), record.runtime_ns), (256, 1_048_576, 9_000_000));
    assert!(step.role.imported.is_unified);
    let Latency::Quoted(quoted) = &record.directions[0].lat else { panic!("quoted") };
    assert_eq!((quoted.count, quoted.quantiles.iter().find(|(q, _)| *q == 0.99)), (256, Some(&(0.99, 104_960))));
    // What is exported comes back.
    let back = import_json(&fio_json_text(&document(&imported.steps), &imported.steps, false), "x").expect("an export");
    assert!(back.steps[0].0.role.imported.is_unified);
    assert_eq!(back.steps[0].1.ios(), 256);
    let both = import_fixture("uni-both.json");
    let record = &both.steps[0].1;
    assert_eq!((record.ios(), direction(record, Op::Read).ios, direction(record, Op::Write).ios), (256, 132, 124));
}

#[test]
fn reads_that_verify_after_the_writes_are_a_step_of_their_own() {
    let imported = import_fixture("verify-phase.json");
    let [(writes, written), (reads, verified)] = imported.steps.as_slice() else { panic!("two steps") };
    assert_eq!((writes.label.as_str(), reads.label.as_str()), ("v: 16k write T1 QD1", "v, verify: 16k read T1 QD1"));
    for (record, op) in [(written, Op::Write), (verified, Op::Read)] {
        let [only] = record.directions.as_slice() else { panic!("one direction") };
        assert_eq!((only.op, only.ios, record.runtime_ns), (op, 64, 1_000_000), "64,000 IOPS");
    }
    assert_eq!(written.started_unix_ns + written.runtime_ns, verified.started_unix_ns, "one after the other");
    // Random writes are read back in an order that the file does not say.
    let random = fixture("verify-phase.json").replacen("\"rw\" : \"write\"", "\"rw\" : \"randwrite\"", 1);
    let imported = import_json(&random, "x").expect("random writes");
    assert_eq!(imported.steps[0].0.workload.pattern, Pattern::Random);
    assert_eq!(imported.steps[1].0.workload.pattern, Pattern::Unknown);
    assert_eq!(imported.steps[1].0.label, "v, verify: 16k reads T1 QD1");
    let between = fixture("verify-phase.json").replacen(
        "\"verify\" : \"crc32c\"",
        "\"verify\" : \"crc32c\", \"verify_backlog\" : \"8\"",
        1,
    );
    let imported = import_json(&between, "x").expect("a backlog");
    let [(_, record)] = imported.steps.as_slice() else { panic!("the writes") };
    assert_eq!(record.ios(), 64);
    assert!(notes(record).contains("64 reads verified data between the writes"), "{}", notes(record));
}

#[test]
fn a_runtime_of_0_has_no_rate() {
    let imported = import_fixture("verify-only.json");
    let [(_, record)] = imported.steps.as_slice() else { panic!("the read alone") };
    assert_eq!((record.ios(), record.runtime_ns, direction(record, Op::Read).ios), (1, 6_000_000, 1));
    assert!(record.warnings.contains(&Warning::IoErrors { count: 1, errno: 84 }));
    let said = words(&imported.notes);
    assert!(said.contains("jobs[0].write: 64 I/Os with a runtime of 0 ms"), "{said}");
    let error = refusal(&fixture("verify-only-alone.json"), "x");
    assert!(error.contains("jobs[0].write: 65536 I/Os with a runtime of 0 ms"), "{error}");
}

#[test]
fn what_an_entry_without_options_does_not_say_is_unknown() {
    let imported = import_fixture("client-without-options.json");
    let [(first, record), (second, _)] = imported.steps.as_slice() else { panic!("two nodes") };
    assert_eq!(first.label, "randwrite-8k: 8k writes T? QD>=16");
    assert_eq!(
        (first.workload.pattern, first.workload.mix.write_pct, first.load.queue_depth),
        (Pattern::Unknown, 100, 16)
    );
    let unknown = [LoadPart::Order, LoadPart::Threads, LoadPart::Depth, LoadPart::Engine, LoadPart::Direct];
    assert_eq!(first.role.imported.unknown, unknown);
    assert!(notes(record).contains("the file lists no options for this job"), "{}", notes(record));
    assert_eq!(second.label, "randwrite-8k: 8k randwrite T1 QD16");
    assert!(second.role.imported.is_empty());
    let said = words(&imported.notes);
    assert!(!said.contains("shared the target"), "nodes may have their own: {said}");
    // An export does not say it either: fio's defaults would be read in its place.
    let back = fio_json(&document(&imported.steps), &imported.steps, false);
    assert!(back["jobs"][0].get("job options").is_none() && back["jobs"][1].get("job options").is_some());
}

#[test]
fn of_the_documents_of_one_run_the_last_counts() {
    let imported = import_fixture("status-interval.json");
    let [(_, record)] = imported.steps.as_slice() else { panic!("one step") };
    assert_eq!((record.ios(), record.runtime_ns), (400, 2_001_000_000));
    let said = words(&imported.notes);
    assert!(said.contains("3 documents of one run"), "{said}");
    // Another run behind it.
    let text = fixture("status-interval.json");
    let later = text.replace("\"timestamp_ms\" : 1795819512727", "\"timestamp_ms\" : 1795819912727");
    assert!(refusal(&later, "x").contains("second JSON document"));
}

#[test]
fn a_list_of_results_is_one_run_with_all_steps() {
    let (first, second) = (fixture("randread-json.json"), fixture("verify-phase.json"));
    let imported = import_json(&format!("[\n{first},\n{second}\n]\n"), "x").expect("a list");
    let indexes: Vec<u32> = imported.steps.iter().map(|(step, _)| step.index).collect();
    assert_eq!(indexes, [0, 1, 2]);
    assert_eq!(imported.plan.steps.len(), 3);
    assert_eq!(imported.host_json["results"].as_array().map(Vec::len), Some(2));
    assert_eq!(imported.started_unix_ns, import_fixture("randread-json.json").started_unix_ns, "the earlier of both");
    assert!(refusal("[{\"Results\": 1}]", "x").contains("another program"));
    let cut = format!("[\n{first},");
    assert!(matches!(import_json(&cut, "x"), Err(ImportError::Json { .. })));
}

#[test]
fn engines_that_fathom_lacks_keep_their_names() {
    let text = fixture("windowsaio.json");
    for engine in ["windowsaio", "rbd", "http", "solarisaio", "sg", "xnvme", "libpmem", "nfs", "external:/lib/mine.so"]
    {
        let imported = import_json(&text.replace("windowsaio", engine), "x").unwrap_or_else(|e| panic!("{e}"));
        let (step, record) = &imported.steps[0];
        assert_eq!((step.engine_word(), step.engine.name), (engine, EngineName::Fio));
        assert_eq!((step.load.queue_depth, record.ios()), (16, 128));
        assert!(!step.role.imported.can_run());
        let back = fio_json(&document(&imported.steps), &imported.steps, false);
        assert_eq!(back["jobs"][0]["job options"]["ioengine"], engine);
    }
}
