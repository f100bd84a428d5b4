//! HdrHistogram interval log (`.hlog`): every interval's latencies, for HdrHistogram's own tools and plotters.
//!
//! Values are nanoseconds of lat (open loop: response), maxima in the third column are milliseconds. Each line carries
//! a tag `step3-read`. A step without intervals (imported) is one line over its whole window; a step of which only
//! quoted figures exist is named in a comment, since figures are no histogram.

use std::time::{Duration, UNIX_EPOCH};

use fathom_hist::Histogram;
use fathom_judge::document::Document;
use fathom_plan::{Op, Step};
use fathom_record::StepRecord;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};

/// Digits that HdrHistogram keeps; finer than Fathom's own buckets, so that nothing is lost on the way.
const SIGNIFICANT_DIGITS: u8 = 3;

/// Nanoseconds per unit of the maxima column.
const MAX_DIVISOR: f64 = 1e6;

/// Why no log came out.
#[derive(Debug, thiserror::Error)]
#[error("step {step} ({label}): its latencies cannot be written as an HdrHistogram log: {cause}")]
pub struct HlogError {
    /// Index of the step.
    pub step: u32,
    /// Its label.
    pub label: String,
    /// What the serializer said.
    pub cause: String,
}

/// A stretch of time with the latencies of one operation.
struct Line<'a> {
    start_ns: u64,
    length_ns: u64,
    op: Op,
    histogram: &'a Histogram,
}

/// All steps of a run in one log, in order of time.
///
/// # Errors
/// [`HlogError`] when a histogram cannot be serialized.
pub fn hlog(doc: &Document, records: &[(Step, StepRecord)]) -> Result<String, HlogError> {
    let base_ns = records.iter().map(|(_, record)| record.started_unix_ns).min().unwrap_or(0);
    let base_time = UNIX_EPOCH + Duration::from_nanos(base_ns);
    let mut out = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let head = format!("[Latencies of run {} ({}), ns, written by Fathom {}]", doc.run.id, doc.run.study, doc.fathom);
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment(&head)
        .with_start_time(base_time)
        .with_base_time(base_time)
        .with_max_value_divisor(MAX_DIVISOR)
        .begin_log_with(&mut out, &mut serializer)
        .map_err(|e| HlogError { step: 0, label: "head of the log".to_owned(), cause: e.to_string() })?;
    for (step, record) in records {
        let failed = |cause: String| HlogError { step: step.index, label: step.label.clone(), cause };
        log.write_comment(&format!("[step {}: {}]", step.index, step.label)).map_err(|e| failed(e.to_string()))?;
        let lines = lines(record);
        if lines.is_empty() {
            let note = format!("[step {}: only quoted figures, no histogram]", step.index);
            log.write_comment(&note).map_err(|e| failed(e.to_string()))?;
        }
        for line in lines {
            let histogram = to_hdr(line.histogram).map_err(&failed)?;
            let tag = format!("step{}-{}", step.index, op_word(line.op));
            let start = Duration::from_nanos(record.started_unix_ns - base_ns + line.start_ns);
            log.write_histogram(&histogram, start, Duration::from_nanos(line.length_ns), Tag::new(&tag))
                .map_err(|e| failed(e.to_string()))?;
        }
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn lines(record: &StepRecord) -> Vec<Line<'_>> {
    if record.intervals.is_empty() {
        let whole = record.directions.iter().filter_map(|direction| {
            let histogram = direction.lat.histogram()?;
            Some(Line { start_ns: 0, length_ns: record.runtime_ns, op: direction.op, histogram })
        });
        return whole.collect();
    }
    let of_interval = record.intervals.iter().flat_map(|interval| {
        interval.directions.iter().map(|direction| Line {
            start_ns: interval.start_ns,
            length_ns: interval.length_ns,
            op: direction.op,
            histogram: &direction.lat,
        })
    });
    of_interval.collect()
}

fn to_hdr(histogram: &Histogram) -> Result<hdrhistogram::Histogram<u64>, String> {
    let mut hdr = hdrhistogram::Histogram::<u64>::new(SIGNIFICANT_DIGITS).map_err(|e| e.to_string())?;
    let (min, max) = (histogram.min_ns().unwrap_or(0), histogram.max_ns().unwrap_or(0));
    for bucket in histogram.buckets() {
        let (low, high) = (bucket.low_ns.max(min), bucket.high_ns.min(max));
        hdr.record_n(low + (high - low) / 2, bucket.count).map_err(|e| e.to_string())?;
    }
    Ok(hdr)
}

/// fio's word for an operation.
pub(crate) fn op_word(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
        Op::Trim => "trim",
        Op::Sync => "sync",
    }
}
