//! Latency figures of a step with their intervals, and the curve of its percentiles.

use std::collections::BTreeMap;

use fathom_hist::Histogram;
use fathom_plan::Op;
use fathom_record::{Direction, Interval, Latency, StepRecord};
use fathom_stats::{BEYOND_MIN, mean_latency_ci95, quantile_estimate};

use crate::document::{CurvePoint, LatencyView, NeedView};

/// Quantiles of the percentile curve: nine points a decade down to seven nines.
const CURVE_DECADES: i32 = 7;
/// Samples that must lie beyond the 99th percentile of one interval: enough for a point of a picture.
const INTERVAL_BEYOND_MIN: u64 = 10;

pub(super) fn merged_latency(record: &StepRecord, iops: f64) -> Option<LatencyView> {
    if let Some(h) = record.lat_merged() {
        return latency_view(&Latency::Samples(h), &record.intervals, None, iops);
    }
    // Quoted figures of two operations cannot be merged; with one operation they stand for the step.
    match &record.directions[..] {
        [only] => latency_view(&only.lat, &record.intervals, None, iops),
        _ => None,
    }
}

/// A part of the latency over all operations. An unsustainable rate has none: it would pass for that of the rate.
pub(super) fn other_latency(
    record: &StepRecord,
    iops: f64,
    unsustainable: bool,
    kind: impl Fn(&Direction) -> Option<&Latency>,
) -> Option<LatencyView> {
    if unsustainable {
        return None;
    }
    let mut merged: Option<Histogram> = None;
    for d in &record.directions {
        let latency = kind(d)?;
        let Some(h) = latency.histogram() else {
            return (record.directions.len() == 1).then(|| latency_view(latency, &[], None, iops)).flatten();
        };
        match &mut merged {
            None => merged = Some(h.clone()),
            Some(m) => m.merge(h),
        }
    }
    // Sampled I/Os have no interval histograms of their own, so no interval of confidence either.
    latency_view(&Latency::Samples(merged?), &[], None, iops)
}

pub(super) fn latency_view(
    latency: &Latency,
    intervals: &[Interval],
    op: Option<Op>,
    iops: f64,
) -> Option<LatencyView> {
    let hist = match latency {
        Latency::Samples(h) => h,
        Latency::Quoted(q) => {
            let at = |p: f64| q.quantiles.iter().find(|(x, _)| (x - p).abs() < 1e-9).map(|(_, v)| *v);
            return (q.count > 0).then(|| LatencyView {
                samples: q.count,
                mean: q.mean_ns,
                stddev: q.stddev_ns,
                min: q.min_ns,
                max: q.max_ns,
                p50: at(0.5),
                p90: at(0.9),
                p95: at(0.95),
                p99: at(0.99),
                p99_9: at(0.999),
                p99_99: at(0.9999),
                p99_999: at(0.99999),
                ci95: BTreeMap::new(),
                needs: BTreeMap::new(),
            });
        }
    };
    if hist.is_empty() {
        return None;
    }
    let mut ci95 = BTreeMap::new();
    let mut needs = BTreeMap::new();
    let mut at = |q: f64, name: &str| {
        let estimate = quantile_estimate(hist, intervals, q, op);
        if let Some((lo, hi)) = estimate.ci95_ns {
            ci95.insert(name.to_owned(), [lo, hi]);
        }
        if let Some(ios) = estimate.needs_more_ios {
            let seconds = if iops > 0.0 { ios as f64 / iops } else { 0.0 };
            needs.insert(name.to_owned(), NeedView { ios, seconds });
        }
        estimate.value_ns
    };
    let [p50, p90, p95, p99, p99_9, p99_99, p99_999] = [
        at(0.5, "p50"),
        at(0.9, "p90"),
        at(0.95, "p95"),
        at(0.99, "p99"),
        at(0.999, "p99.9"),
        at(0.9999, "p99.99"),
        at(0.99999, "p99.999"),
    ];
    if let Some((lo, hi)) = mean_latency_ci95(intervals, op) {
        ci95.insert("mean".to_owned(), [lo as u64, hi.ceil() as u64]);
    }
    Some(LatencyView {
        samples: hist.count(),
        mean: hist.mean_ns()?,
        stddev: hist.stddev_ns()?,
        min: hist.min_ns()?,
        max: hist.max_ns()?,
        p50,
        p90,
        p95,
        p99,
        p99_9,
        p99_99,
        p99_999,
        ci95,
        needs,
    })
}

/// The latency of the I/Os of some intervals.
pub(crate) fn of_intervals(latency: &Latency, intervals: &[Interval], iops: f64) -> Option<LatencyView> {
    latency_view(latency, intervals, None, iops)
}

/// Points of the percentile curve, as far as the samples carry it.
pub(super) fn curve(hist: &Histogram) -> Vec<CurvePoint> {
    let n = hist.count() as f64;
    let mut points = Vec::new();
    for decade in 0..CURVE_DECADES {
        for ninth in 0..9 {
            // 0, 0.1 ... 0.8, then 0.9, 0.91 ... 0.98, then 0.99...
            let q = 1.0 - 10f64.powi(-decade) * (1.0 - f64::from(ninth) / 10.0);
            // The rule of every quantile, so that the curve ends where the figures end; q is not exact.
            if n * (1.0 - q) * (1.0 + 1e-9) < BEYOND_MIN as f64 {
                return points;
            }
            if let Some(ns) = hist.quantile(q).filter(|_| q > 0.0) {
                points.push(CurvePoint { q, ns });
            }
        }
    }
    points
}

/// The 99th percentile of one interval; `None` where too few samples lie beyond it to be drawn.
pub(super) fn interval_p99(hist: &Histogram) -> Option<u64> {
    hist.quantile(0.99).filter(|_| hist.count() >= INTERVAL_BEYOND_MIN * 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_ends_where_a_hundred_samples_lie_beyond() {
        for (samples, last) in [(1_000, 0.9), (10_000, 0.99), (19_999, 0.994), (20_000, 0.995), (100_000, 0.999)] {
            let mut hist = Histogram::new();
            (0..samples).for_each(|ns| hist.record(1000 + ns));
            let end = curve(&hist).last().expect("a point").q;
            assert!((end - last).abs() < 1e-9, "{samples} samples end at {end}");
        }
    }
}
