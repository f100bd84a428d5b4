//! Quantiles of latency: the tail rule and the interval.

use fathom_hist::Histogram;
use fathom_plan::Op;
use fathom_record::Interval;

use crate::batch::{Batches, half_width};
use crate::mean::POINTS_MIN;
use crate::student::t95;

/// Samples that must lie beyond a quantile before it is shown as a figure (the rank is then known to about 20 %).
pub const BEYOND_MIN: u64 = 100;

/// A quantile of latency, or how much is missing for one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuantileEstimate {
    /// Which quantile, in (0, 1).
    pub q: f64,
    /// Its value; `None` while fewer than [`BEYOND_MIN`] samples lie beyond it.
    pub value_ns: Option<u64>,
    /// 95 % interval; `None` with fewer than ten intervals, or when the data cannot bound it on both sides.
    pub ci95_ns: Option<(u64, u64)>,
    /// Samples.
    pub samples: u64,
    /// Samples beyond the quantile: above it, below it for quantiles under one half.
    pub beyond: u64,
    /// I/Os missing until the value may be shown; `None` when none is, and for 0 and 1, which no number of I/Os settles.
    pub needs_more_ios: Option<u64>,
}

impl QuantileEstimate {
    /// The larger distance from the value to an end of the interval, as a share of the value.
    #[must_use]
    pub fn rel_half_width(&self) -> Option<f64> {
        let (value, (low, high)) = (self.value_ns?, self.ci95_ns?);
        let width = value.saturating_sub(low).max(high.saturating_sub(value));
        (value > 0).then(|| width as f64 / value as f64)
    }
}

/// Quantile `q` of the samples in `hist`, with its 95 % interval from the spread over `intervals`.
///
/// `hist` holds the samples of the whole window for operation `op` (`None`: all operations merged); `intervals` are the
/// slices of the same window. The interval is that of ranks: batch means of the exceedance indicator 1{x > quantile}
/// over the intervals give its variance (never taken below the binomial one), and the quantiles at q -+ t s are the
/// ends; an end in the bucket of the value itself is widened to the whole bucket. Without intervals (imported runs) there is no confidence interval.
#[must_use]
pub fn quantile_estimate(hist: &Histogram, intervals: &[Interval], q: f64, op: Option<Op>) -> QuantileEstimate {
    let samples = hist.count();
    let tail = q.min(1.0 - q);
    let none = QuantileEstimate { q, value_ns: None, ci95_ns: None, samples, beyond: 0, needs_more_ios: None };
    if tail.is_nan() || tail <= 0.0 {
        return none;
    }
    // The allowance keeps 1 - 0.9999, a hair below 1e-4 in binary, from asking for one I/O too many.
    let needed = (BEYOND_MIN as f64 / tail * (1.0 - 1e-9)).ceil() as u64;
    let beyond = (samples as f64 * tail * (1.0 + 1e-9)).floor() as u64;
    if samples < needed {
        return QuantileEstimate { beyond, needs_more_ios: Some(needed - samples), ..none };
    }
    let value_ns = hist.quantile(q);
    let ci95_ns = value_ns.and_then(|value| interval_of(hist, intervals, q, op, value));
    QuantileEstimate { value_ns, ci95_ns, beyond, ..none }
}

/// Half the 95 % interval of quantile `q` as a share of it, where samples are taken to lie evenly within their buckets:
/// not widened to whole buckets, as the interval of [`quantile_estimate`] is. `None` where that has none.
pub(crate) fn rel_spread(hist: &Histogram, intervals: &[Interval], q: f64, op: Option<Op>) -> Option<f64> {
    let value = quantile_estimate(hist, &[], q, op).value_ns.filter(|value| *value > 0)?;
    let half = rank_half_width(hist, intervals, q, op, value)?;
    let (low, high) = (q - half, q + half);
    if low <= 0.0 || high >= 1.0 {
        return None;
    }
    Some((bucket_at(hist, high)?.at - bucket_at(hist, low)?.at) / 2.0 / value as f64)
}

fn interval_of(hist: &Histogram, intervals: &[Interval], q: f64, op: Option<Op>, value: u64) -> Option<(u64, u64)> {
    let half = rank_half_width(hist, intervals, q, op, value)?;
    let (low, high) = (q - half, q + half);
    if low <= 0.0 || high >= 1.0 {
        return None;
    }
    let (low, high) = (bucket_at(hist, low)?, bucket_at(hist, high)?);
    // Within its own bucket the value may lie anywhere; in another one the samples are taken to lie evenly.
    let holds_value = |b: &Placed| (b.low..=b.high).contains(&value);
    let low_ns = if holds_value(&low) { low.low } else { low.at.floor() as u64 };
    let high_ns = if holds_value(&high) { high.high } else { high.at.ceil() as u64 };
    Some((low_ns.min(value), high_ns.max(value)))
}

/// A bucket, narrowed to the values that can be in it, and the place of a rank within it.
struct Placed {
    low: u64,
    high: u64,
    at: f64,
}

/// The bucket that holds quantile `q`.
fn bucket_at(hist: &Histogram, q: f64) -> Option<Placed> {
    let (min, max) = (hist.min_ns()?, hist.max_ns()?);
    let rank = q * hist.count() as f64;
    let mut before = 0.0;
    for bucket in hist.buckets() {
        let count = bucket.count as f64;
        if before + count >= rank {
            let (low, high) = (bucket.low_ns.max(min), bucket.high_ns.min(max));
            let at = low as f64 + (high - low) as f64 * ((rank - before) / count).clamp(0.0, 1.0);
            return Some(Placed { low, high, at });
        }
        before += count;
    }
    None
}

/// Half width of the 95 % interval of the share of samples beyond `value`.
fn rank_half_width(hist: &Histogram, intervals: &[Interval], q: f64, op: Option<Op>, value: u64) -> Option<f64> {
    if intervals.len() < POINTS_MIN {
        return None;
    }
    // The quantile falls inside a bucket; the part of that bucket that lies beyond it is taken from each interval too.
    let above = hist.count_above(value) as f64;
    let inside = hist.count_at_or_above(value) as f64 - above;
    let share = ((1.0 - q) * hist.count() as f64 - above) / inside.max(1.0);
    let mut total = 0.0;
    let excess: Vec<f64> = intervals
        .iter()
        .map(|interval| {
            let chosen = interval.directions.iter().filter(|d| op.is_none_or(|op| d.op == op));
            chosen.fold(0.0, |sum, d| {
                let above = d.lat.count_above(value) as f64;
                let inside = d.lat.count_at_or_above(value) as f64 - above;
                total += d.lat.count() as f64;
                sum + above + share.clamp(0.0, 1.0) * inside - (1.0 - q) * d.lat.count() as f64
            })
        })
        .collect();
    if total == 0.0 {
        return None;
    }
    let batches = Batches::of(&excess);
    let binomial = q * (1.0 - q) / total;
    let per_interval = total / intervals.len() as f64;
    let least = t95(batches.means.len() as f64 - 1.0) * binomial.sqrt();
    let half = half_width(&batches, &excess) / per_interval;
    Some(half.max(least))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{cases, margin};
    use crate::testing::{Random, ar1, intervals_of, refill, tell};

    fn merged(intervals: &[Interval]) -> Histogram {
        let mut all = Histogram::new();
        for d in intervals.iter().flat_map(|i| &i.directions) {
            all.merge(&d.lat);
        }
        all
    }

    fn uniform_hist(n: u64) -> Histogram {
        let mut h = Histogram::new();
        for i in 0..n {
            h.record(1000 + i);
        }
        h
    }

    #[test]
    fn a_tail_without_a_hundred_samples_is_not_a_figure() {
        for (q, needed) in [(0.5, 200), (0.99, 10_000), (0.999, 100_000), (0.9999, 1_000_000), (0.99999, 10_000_000)] {
            let mut h = Histogram::new();
            h.record_n(80_000, needed - 1);
            let short = quantile_estimate(&h, &[], q, None);
            assert_eq!((short.value_ns, short.needs_more_ios), (None, Some(1)), "{q}");
            h.record(80_000);
            let enough = quantile_estimate(&h, &[], q, None);
            assert_eq!((enough.value_ns, enough.needs_more_ios, enough.beyond), (Some(80_000), None, 100), "{q}");
        }
    }

    #[test]
    fn an_empty_histogram_needs_everything_and_extremes_need_nothing() {
        let empty = Histogram::new();
        assert_eq!(quantile_estimate(&empty, &[], 0.99, None).needs_more_ios, Some(10_000));
        let h = uniform_hist(1000);
        for q in [0.0, 1.0, f64::NAN] {
            let e = quantile_estimate(&h, &[], q, None);
            assert_eq!((e.value_ns, e.needs_more_ios), (None, None));
        }
        assert_eq!(quantile_estimate(&h, &[], 0.1, None).beyond, 100);
    }

    #[test]
    fn imported_runs_have_values_without_intervals() {
        let e = quantile_estimate(&uniform_hist(20_000), &[], 0.99, None);
        assert!(e.value_ns.is_some() && e.ci95_ns.is_none());
    }

    #[test]
    fn only_the_asked_operation_counts() {
        let mut random = Random::new(1);
        let mut intervals = intervals_of(&latencies(&mut random, 0.0, 40, 500));
        let reads = merged(&intervals);
        let alone = quantile_estimate(&reads, &intervals, 0.99, Some(Op::Read));
        for interval in &mut intervals {
            let mut write = interval.directions[0].clone();
            write.op = Op::Write;
            write.lat.record_n(900_000_000, 1000);
            interval.directions.push(write);
        }
        assert_eq!(quantile_estimate(&reads, &intervals, 0.99, Some(Op::Read)), alone);
        assert_eq!(quantile_estimate(&reads, &intervals, 0.99, Some(Op::Trim)).ci95_ns, None);
    }

    #[test]
    fn equal_latencies_give_an_interval_of_one_value() {
        let intervals = intervals_of(&vec![vec![80_000; 500]; 40]);
        let e = quantile_estimate(&merged(&intervals), &intervals, 0.99, None);
        assert_eq!(e.ci95_ns, Some((80_000, 80_000)));
        assert_eq!(e.rel_half_width(), Some(0.0));
    }

    /// Log-normal latencies whose level wanders from interval to interval when `phi` > 0.
    fn latencies(random: &mut Random, phi: f64, intervals: usize, per_interval: usize) -> Vec<Vec<u64>> {
        let level = ar1(random, phi, intervals);
        level
            .iter()
            .map(|l| {
                let wander = if phi > 0.0 { 0.1 * l } else { 0.0 };
                (0..per_interval).map(|_| (100_000.0 * (wander + 0.3 * random.normal()).exp()) as u64).collect()
            })
            .collect()
    }

    #[test]
    fn intervals_of_p99_cover_its_true_value_in_92_to_97_percent_of_runs() {
        const ALL: u64 = 1000;
        let runs = cases(400, ALL);
        let [low, high, bound] =
            [(0.92, -1.0), (0.97, 1.0), (0.93, -1.0)].map(|(p, side)| p + side * margin(p, runs, ALL));
        let (mut intervals, mut whole) = (Vec::new(), Histogram::new());
        for (phi, slices, per_slice) in
            [(0.0, 60, 200), (0.3, 60, 200), (0.5, 100, 110), (0.7, 150, 80), (0.9, 600, 20)]
        {
            let spread = if phi > 0.0 { 0.1_f64.hypot(0.3) } else { 0.3 };
            let truth = 100_000.0 * (2.326_348 * spread).exp();
            let found: Vec<(u64, u64)> = (0..runs)
                .filter_map(|seed| {
                    refill(&mut intervals, &latencies(&mut Random::new(seed), phi, slices, per_slice));
                    whole.clear();
                    intervals.iter().for_each(|interval| whole.merge(&interval.directions[0].lat));
                    quantile_estimate(&whole, &intervals, 0.99, None).ci95_ns
                })
                .collect();
            assert!(found.len() as f64 >= bound * runs as f64, "phi {phi}: only {} runs bound it", found.len());
            let hits = found.iter().filter(|(low, high)| (*low as f64..=*high as f64).contains(&truth)).count();
            let covered = hits as f64 / found.len() as f64;
            let (share, runs) = (covered * 100.0, found.len());
            tell(&format!(
                "p99: phi {phi}, {slices} intervals of {per_slice} I/Os: {share:.1} % of {runs} runs covered"
            ));
            assert!((low..=high).contains(&covered), "phi {phi}: {covered}");
        }
    }

    #[test]
    fn a_tail_from_one_burst_is_not_bounded_above() {
        // All slow I/Os in two of forty intervals: nobody knows how often such a burst comes.
        let mut slices = vec![vec![80_000; 1000]; 40];
        for slice in &mut slices[20..22] {
            slice[..300].fill(9_000_000);
        }
        let intervals = intervals_of(&slices);
        let e = quantile_estimate(&merged(&intervals), &intervals, 0.99, None);
        assert!(e.value_ns.is_some());
        assert_eq!(e.ci95_ns, None);
    }
}
