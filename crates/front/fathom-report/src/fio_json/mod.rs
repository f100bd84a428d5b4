//! A run in the JSON of fio 3.33 (`--output-format=json` and `json+`), for the tools that read fio's results.
//!
//! Differences from fio, besides being measured by Fathom: a step that no job of fio made is one job with
//! `group_reporting`; `lat_ns` has percentiles (fio: only with `lat_percentiles=1`); where clat was not recorded for every
//! I/O, `clat_ns` holds lat and its key `fathom_note` says so. Notes stand under keys named `fathom_note`, which readers of
//! fio's JSON ignore.

mod entry;
mod job;
mod latency;
mod normal;
mod options;
mod shape;
mod terse;

use std::collections::{BTreeMap, BTreeSet};

use fathom_judge::document::Document;
use fathom_language::english;
use fathom_plan::Step;
use fathom_record::StepRecord;
use jiff::Timestamp;

use crate::json::pretty;

pub use normal::fio_normal_text;
pub(crate) use options::thread_count;
use shape::{Disk, FioDocument, Object};
pub use terse::fio_terse_text;

/// What stands before the version of Fathom in `fio version`. Readers split at `-` and want a number second.
const FIO_VERSION_PREFIX: &str = "fio-3.33-fathom-";

/// The run as fio's document; with `plus_bins` as json+.
#[must_use]
pub fn fio_json(doc: &Document, records: &[(Step, StepRecord)], plus_bins: bool) -> serde_json::Value {
    serde_json::to_value(document(doc, records, plus_bins)).expect("plain numbers and texts have a JSON form")
}

/// As [`fio_json`], as indented text with keys in fio's own order.
#[must_use]
pub fn fio_json_text(doc: &Document, records: &[(Step, StepRecord)], plus_bins: bool) -> String {
    pretty(&document(doc, records, plus_bins)).expect("plain numbers and texts have a JSON form")
}

/// One document per step as (file name, text), in the layout that bench-fio writes and fio-plot reads: a file is named
/// `randread-32-4.json` (rw, iodepth, numjobs), and steps that differ otherwise get `-step7` before the dot.
///
/// fio-plot adds up all jobs of a file, so a run of several steps must not go to it in one file.
#[must_use]
pub fn fio_json_files(doc: &Document, records: &[(Step, StepRecord)], plus_bins: bool) -> Vec<(String, String)> {
    let mut taken = BTreeMap::new();
    let named = records.iter().map(|one| {
        let name = file_stem(&one.0, &mut taken);
        (format!("{name}.json"), fio_json_text(doc, std::slice::from_ref(one), plus_bins))
    });
    named.collect()
}

fn file_stem(step: &Step, taken: &mut BTreeMap<String, u32>) -> String {
    let stem = format!("{}-{}-{}", step.workload.read_write(), step.load.queue_depth, thread_count(step));
    match taken.insert(stem.clone(), step.index) {
        None => stem,
        Some(_) => format!("{stem}-step{}", step.index),
    }
}

fn document(doc: &Document, records: &[(Step, StepRecord)], plus_bins: bool) -> FioDocument {
    let ended = ended(doc, records);
    FioDocument {
        fio_version: format!("{FIO_VERSION_PREFIX}{}", doc.fathom),
        timestamp: ended.as_second(),
        timestamp_ms: ended.as_millisecond(),
        time: ended.strftime("%a %b %e %H:%M:%S %Y").to_string(),
        global_options: Object(global_options(records)),
        jobs: entry::entries(doc, records).iter().map(|entry| job::job(entry, plus_bins)).collect(),
        disk_util: disk_util(records),
        fathom_note: notes(doc),
    }
}

/// Defaults that all jobs share, where jobs of fio made the steps.
fn global_options(records: &[(Step, StepRecord)]) -> Vec<(String, String)> {
    let first = records.first().and_then(|(step, _)| step.role.job.as_ref());
    first.map_or_else(Vec::new, |job| job.globals.clone())
}

fn notes(doc: &Document) -> Vec<String> {
    let mut notes = vec![
        format!("exported by Fathom {} from run {} ({})", doc.fathom, doc.run.id, doc.run.study),
        "read_ticks and write_ticks of disk_util are not kept and printed as 0; in_queue is".to_owned(),
    ];
    notes.extend(doc.run.plan.notes.iter().map(english));
    notes.extend(doc.verdict.iter().map(|verdict| format!("answer: {}", english(&verdict.brief.headline))));
    for (step, reason) in doc.steps.iter().filter_map(|s| Some((s, s.reason.as_ref()?))) {
        let reason = english(reason);
        notes.push(format!("step {} ({}) {}: {reason}", step.index, step.label, step.state));
    }
    notes
}

/// fio stamps the end. A run without one (interrupted, imported) ends with its last step.
fn ended(doc: &Document, records: &[(Step, StepRecord)]) -> Timestamp {
    let head = doc.run.finished.as_ref().and_then(|text| text.parse::<Timestamp>().ok());
    let last = records.iter().map(|(_, r)| i128::from(r.started_unix_ns) + i128::from(r.runtime_ns)).max();
    head.or_else(|| Timestamp::from_nanosecond(last?).ok())
        .or_else(|| doc.run.started.as_ref()?.parse().ok())
        .unwrap_or(Timestamp::UNIX_EPOCH)
}

fn disk_util(records: &[(Step, StepRecord)]) -> Vec<Disk> {
    const NS_PER_MS: u64 = 1_000_000;
    let mut disks: Vec<(Disk, u64, u64)> = Vec::new();
    // Streams of a set share one reading of the counters.
    let mut sets = BTreeSet::new();
    let mut is_first = |step: &Step| step.role.stream.as_ref().is_none_or(|stream| sets.insert(stream.set));
    let sampled = records.iter().filter_map(|(step, record)| Some((step, record.host.as_ref()?)));
    for (_, host) in sampled.filter(|(step, _)| is_first(step)) {
        for delta in &host.disks {
            let at = disks.iter().position(|(disk, ..)| disk.name == delta.device).unwrap_or_else(|| {
                disks.push((empty_disk(&delta.device), 0, 0));
                disks.len() - 1
            });
            let (disk, busy_ns, window_ns) = &mut disks[at];
            disk.read_ios += delta.read_ios;
            disk.write_ios += delta.write_ios;
            disk.read_merges += delta.read_merges;
            disk.write_merges += delta.write_merges;
            disk.in_queue += delta.weighted_ns / NS_PER_MS;
            *busy_ns += delta.busy_ns;
            *window_ns += host.window_ns;
        }
    }
    let finish = |(disk, busy_ns, window_ns): (Disk, u64, u64)| {
        let util = if window_ns == 0 { 0.0 } else { (busy_ns as f64 * 100.0 / window_ns as f64).min(100.0) };
        Disk { util, ..disk }
    };
    disks.into_iter().map(finish).collect()
}

fn empty_disk(name: &str) -> Disk {
    Disk {
        name: name.to_owned(),
        read_ios: 0,
        write_ios: 0,
        read_merges: 0,
        write_merges: 0,
        read_ticks: 0,
        write_ticks: 0,
        in_queue: 0,
        util: 0.0,
    }
}
