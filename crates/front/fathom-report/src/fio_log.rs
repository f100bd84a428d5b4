//! fio's log files: `write_bw_log`, `write_iops_log`, `write_lat_log` and `write_hist_log`, one line per interval.
//!
//! A line is `time_ms, value, ddir, bs, offset, priority` with time at the interval's end, ddir 0 read, 1 write, 2 trim;
//! bandwidth in KiB/s, latency as the interval's mean in nanoseconds. The histogram log has `time_ms, ddir, bs` and
//! 1856 counters. Latencies are lat, and the file names say so. Source: fio's HOWTO, "Log File Formats".

use std::collections::BTreeMap;
use std::fmt::Write;

use fathom_plan::{Op, Step};
use fathom_record::{DirectionInterval, Interval, StepRecord};

use crate::fio_bins::bin_counts;
use crate::fio_json::thread_count;

const NS_PER_MS: u64 = 1_000_000;

/// Log files as (file name, text), in the layout of bench-fio that fio-plot reads:
/// `randread-iodepth-32-numjobs-4_lat.1.log`; steps that differ otherwise get `-step7` before the underscore.
///
/// The histogram's file ends in `_hist_lat.1.log`: fio-plot would take one that begins with `_lat` for a latency log.
/// Steps without intervals (imported) have no log.
#[must_use]
pub fn fio_logs(records: &[(Step, StepRecord)]) -> Vec<(String, String)> {
    let mut taken = BTreeMap::new();
    let mut files = Vec::new();
    for (step, record) in records.iter().filter(|(_, record)| !record.intervals.is_empty()) {
        let stem = file_stem(step, &mut taken);
        files.push((
            format!("{stem}_bw.1.log"),
            lines(record, |i, d| d.bytes * 1_000_000_000 / 1024 / i.length_ns.max(1)),
        ));
        files.push((format!("{stem}_iops.1.log"), lines(record, |i, d| d.ios * 1_000_000_000 / i.length_ns.max(1))));
        files.push((format!("{stem}_lat.1.log"), lines(record, |_, d| d.lat.mean_ns().unwrap_or(0.0).round() as u64)));
        files.push((format!("{stem}_hist_lat.1.log"), histogram_log(step, record)));
    }
    files
}

fn file_stem(step: &Step, taken: &mut BTreeMap<String, u32>) -> String {
    let (rw, depth, jobs) = (step.workload.read_write(), step.load.queue_depth, thread_count(step));
    let stem = format!("{rw}-iodepth-{depth}-numjobs-{jobs}");
    match taken.insert(stem.clone(), step.index) {
        None => stem,
        Some(_) => format!("{stem}-step{}", step.index),
    }
}

fn lines(record: &StepRecord, value: fn(&Interval, &DirectionInterval) -> u64) -> String {
    let mut out = String::new();
    for (interval, direction) in with_samples(record) {
        let _ = writeln!(out, "{}, {}, {}, 0, 0, 0", end_ms(interval), value(interval, direction), ddir(direction.op));
    }
    out
}

fn histogram_log(step: &Step, record: &StepRecord) -> String {
    let mut out = String::new();
    let block_bytes = step.workload.block_bytes_max();
    for (interval, direction) in with_samples(record) {
        let _ = write!(out, "{}, {}, {block_bytes}", end_ms(interval), ddir(direction.op));
        for count in bin_counts(&direction.lat) {
            let _ = write!(out, ", {count}");
        }
        out.push('\n');
    }
    out
}

/// fio writes no line for an interval in which nothing of that direction completed.
fn with_samples(record: &StepRecord) -> impl Iterator<Item = (&Interval, &DirectionInterval)> {
    let pairs = record.intervals.iter().flat_map(|i| i.directions.iter().map(move |d| (i, d)));
    pairs.filter(|(_, direction)| direction.ios > 0)
}

fn end_ms(interval: &Interval) -> u64 {
    (interval.start_ns + interval.length_ns) / NS_PER_MS
}

fn ddir(op: Op) -> u8 {
    match op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Trim => 2,
        Op::Sync => 3,
    }
}
