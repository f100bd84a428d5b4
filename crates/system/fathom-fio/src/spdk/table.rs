//! The table that `spdk_nvme_perf` prints (app/spdk_nvme_perf/perf.c, `print_performance`), with its latencies.

use fathom_hist::Histogram;
use fathom_record::{Latency, QuotedLatency};

use super::TABLE_HEAD;
use crate::latency;

pub(super) const NS_PER_US: f64 = 1e3;

/// What a line of the table, or a job of bdevperf, had.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// The drive, as the program names it.
    pub(super) device: String,
    pub(super) iops: f64,
    pub(super) latency: QuotedLatency,
    /// Each I/O, where a histogram was asked for.
    pub(super) samples: Option<Histogram>,
    pub(super) failed: u64,
}

/// Whether a text is what `spdk_nvme_perf` prints.
#[must_use]
pub fn is_perf_table(text: &str) -> bool {
    text.contains(TABLE_HEAD) && text.lines().any(|line| row_of(line).is_some())
}

/// The rows of the table in its order, each with its quantiles (`-L`) and its histogram (`-LL`) where there are as many.
pub(super) fn rows_of(text: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = text.lines().filter_map(row_of).collect();
    let (quantiles, bins) = (quantiles_of(text), bins_of(text));
    // The order of all is that of cores and drives.
    if quantiles.len() == rows.len() {
        for (row, quantiles) in rows.iter_mut().zip(quantiles) {
            row.latency.quantiles = quantiles;
        }
    }
    if bins.len() == rows.len() {
        for (row, bins) in rows.iter_mut().zip(bins) {
            row.samples = latency::samples(bins, row.latency.min_ns, row.latency.max_ns);
            row.latency.count = row.samples.as_ref().map_or(0, Histogram::count);
        }
    }
    rows
}

impl Row {
    /// Its latencies: each of them, else what was said of them.
    pub(super) fn latency(&self) -> Latency {
        self.samples.clone().map_or_else(|| Latency::Quoted(self.latency.clone()), Latency::Samples)
    }
}

/// `PCIE (0000:04:00.0) NSID 1 from core  0:  251230.30  981.37  127.33  10.96  4210.20`: IOPS, MiB/s, and mean, least and
/// most latency in microseconds.
fn row_of(line: &str) -> Option<Row> {
    let (name, figures) = line.rsplit_once(':')?;
    let (device, _) = name.rsplit_once(" from core ")?;
    let [iops, _, mean, min, max] = floats(figures)?;
    let ns = |us: f64| (us * NS_PER_US) as u64;
    let latency =
        QuotedLatency { mean_ns: mean * NS_PER_US, min_ns: ns(min), max_ns: ns(max), ..QuotedLatency::default() };
    Some(Row { device: device_of(device), iops, latency, samples: None, failed: 0 })
}

/// IOPS and MiB/s of a line of the table.
pub(super) fn rates_of(line: &str) -> Option<(f64, f64)> {
    let (name, figures) = line.rsplit_once(':')?;
    let [iops, mib_per_s, ..] = floats(figures)?;
    name.contains(" from core ").then_some((iops, mib_per_s))
}

/// The address of a drive on PCI, which our targets are called by as well; else the name as it is.
fn device_of(name: &str) -> String {
    let address = name.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map(|(inside, _)| inside.trim());
    address.filter(|address| address.contains(':')).unwrap_or(name.trim()).to_owned()
}

fn floats(text: &str) -> Option<[f64; 5]> {
    let figures: Vec<f64> = text.split_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>()?;
    figures.try_into().ok().filter(|figures: &[f64; 5]| figures.iter().all(|f| f.is_finite() && *f >= 0.0))
}

/// The quantiles of each `Summary latency data` (`-L`): share and nanoseconds.
fn quantiles_of(text: &str) -> Vec<Vec<(f64, u64)>> {
    let mut out: Vec<Vec<(f64, u64)>> = Vec::new();
    let mut is_within = false;
    for line in text.lines() {
        if line.starts_with("Summary latency") {
            out.push(Vec::new());
            is_within = true;
        } else if line.starts_with("Latency histogram") {
            is_within = false;
        } else if let Some(quantile) = quantile_of(line).filter(|_| is_within)
            && let Some(last) = out.last_mut()
        {
            last.push(quantile);
        }
    }
    out
}

/// ` 99.00000% :   189.440us`.
fn quantile_of(line: &str) -> Option<(f64, u64)> {
    let (pct, us) = line.split_once("% :")?;
    // It prints five decimals of a percent.
    let share = (pct.trim().parse::<f64>().ok()? * 1e5).round() / 1e7;
    let us: f64 = us.trim().strip_suffix("us")?.trim().parse().ok()?;
    (share > 0.0 && share < 1.0 && us >= 0.0).then_some((share, (us * NS_PER_US) as u64))
}

/// The bins of each `Latency histogram` (`-LL`): nanoseconds in the middle of one, and I/Os in it.
fn bins_of(text: &str) -> Vec<Vec<(u64, u64)>> {
    let mut out: Vec<Vec<(u64, u64)>> = Vec::new();
    for line in text.lines() {
        if line.starts_with("Latency histogram") {
            out.push(Vec::new());
        } else if let Some(bin) = bin_of(line)
            && let Some(last) = out.last_mut()
        {
            last.push(bin);
        }
    }
    out
}

/// `   71.680 -    72.192:    0.9871%  (    24800)`: microseconds, the share up to there, and I/Os.
fn bin_of(line: &str) -> Option<(u64, u64)> {
    let (range, rest) = line.split_once(':')?;
    let (start, end) = range.split_once(" - ")?;
    let [start, end]: [f64; 2] = [start.trim().parse().ok()?, end.trim().parse().ok()?];
    let (_, count) = rest.split_once("%  (")?;
    let count = count.trim().strip_suffix(')')?.trim().parse().ok()?;
    (start >= 0.0 && end >= start && end.is_finite()).then_some((((start + end) / 2.0 * NS_PER_US) as u64, count))
}
