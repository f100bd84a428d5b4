//! IOPS with its interval.

use fathom_plan::Op;
use fathom_record::Interval;

use crate::mean::{Estimate, half_width_of_mean, mean_ci};

/// I/Os per second of each interval over all operations, without a last interval shorter than 90 % of the first.
///
/// The last one is cut wherever the run happened to end; its rate would be noise.
#[must_use]
pub fn interval_iops(intervals: &[Interval]) -> Vec<f64> {
    whole_intervals(intervals).iter().map(|i| ios(i) as f64 * 1e9 / i.length_ns as f64).collect()
}

/// IOPS over all operations with its 95 % interval, from the intervals as [`mean_ci`] has it.
///
/// The value is I/Os divided by time. Intervals are taken to be of nearly equal length. Value NaN without intervals.
#[must_use]
pub fn iops_estimate(intervals: &[Interval]) -> Estimate {
    let estimate = mean_ci(&interval_iops(intervals));
    let whole = whole_intervals(intervals);
    let length_ns: u64 = whole.iter().map(|i| i.length_ns).sum();
    if length_ns == 0 {
        return estimate;
    }
    // Lengths differ by scheduling delays; the mean of the rates would weigh the short ones too much.
    let value = whole.iter().map(ios).sum::<u64>() as f64 * 1e9 / length_ns as f64;
    let shift = value - estimate.value;
    Estimate { value, ci95: estimate.ci95.map(|(low, high)| (low + shift, high + shift)), ..estimate }
}

/// Mean latency of operation `op` (`None`: all), ns, with its 95 % interval; `None` without samples and where
/// [`NoInterval`](crate::NoInterval) says why.
///
/// A ratio of two sums, latency by I/Os, whose error is that of the mean of what each interval has too much
/// (Cochran, Sampling Techniques, 6.4), as for IOPS.
#[must_use]
pub fn mean_latency_ci95(intervals: &[Interval], op: Option<Op>) -> Option<(f64, f64)> {
    let sums: Vec<(f64, f64)> = intervals
        .iter()
        .map(|interval| {
            let chosen = interval.directions.iter().filter(|d| op.is_none_or(|op| d.op == op));
            chosen.fold((0.0, 0.0), |(n, sum), d| (n + d.lat.count() as f64, sum + d.lat.sum_ns() as f64))
        })
        .collect();
    let (ios, sum_ns) = sums.iter().fold((0.0, 0.0), |(n, s), (m, t)| (n + m, s + t));
    if ios == 0.0 {
        return None;
    }
    let mean_ns = sum_ns / ios;
    let excess: Vec<f64> = sums.iter().map(|(n, sum)| sum - mean_ns * n).collect();
    let half = half_width_of_mean(&excess, sum_ns / sums.len() as f64).ok()? * sums.len() as f64 / ios;
    Some(((mean_ns - half).max(0.0), mean_ns + half))
}

/// The intervals without empty ones and without a last one that was cut short.
pub(crate) fn whole_intervals(intervals: &[Interval]) -> &[Interval] {
    match intervals {
        [first, .., last] if last.length_ns * 10 < first.length_ns * 9 => &intervals[..intervals.len() - 1],
        [only] if only.length_ns == 0 => &[],
        _ => intervals,
    }
}

fn ios(interval: &Interval) -> u64 {
    interval.directions.iter().map(|d| d.ios).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Random, intervals_of, intervals_with};

    #[test]
    fn a_short_last_interval_does_not_spoil_the_figure() {
        let mut intervals = intervals_with(&[1000; 31]);
        intervals[30].length_ns /= 2;
        intervals[30].directions[0].ios = 3;
        let e = iops_estimate(&intervals);
        assert_eq!(e.value, 10_000.0);
        assert_eq!(e.ci95, Some((10_000.0, 10_000.0)));
        assert_eq!(e.points, 30);
    }

    #[test]
    fn unequal_intervals_are_weighed_by_their_length() {
        let mut intervals = intervals_with(&[100, 300]);
        intervals[1].length_ns *= 3;
        assert_eq!(iops_estimate(&intervals).value, 1000.0);
    }

    #[test]
    fn nothing_measured_is_no_figure() {
        let e = iops_estimate(&[]);
        assert!(e.value.is_nan() && e.ci95.is_none());
    }

    #[test]
    fn the_interval_of_the_mean_latency_holds_the_truth_also_when_slow_intervals_hold_fewer_ios() {
        let hits = (0..300_u64)
            .filter(|seed| {
                let mut random = Random::new(*seed);
                let slices: Vec<Vec<u64>> = (0..40)
                    .map(|_| {
                        // Level 100 or 200 us, I/Os in inverse proportion: the mean over I/Os is 133 1/3 us.
                        let slow = random.uniform() < 0.5;
                        vec![if slow { 200_000 } else { 100_000 }; if slow { 50 } else { 100 }]
                    })
                    .collect();
                mean_latency_ci95(&intervals_of(&slices), None)
                    .is_none_or(|(low, high)| (low..=high).contains(&133_333.3))
            })
            .count();
        assert!(hits >= 276, "{hits} of 300");
        assert_eq!(mean_latency_ci95(&intervals_of(&vec![vec![1000]; 9]), None), None);
        assert_eq!(mean_latency_ci95(&intervals_of(&vec![vec![]; 20]), None), None);
    }

    #[test]
    fn the_interval_holds_the_true_rate_of_a_noisy_run() {
        let hits = (0..500_u64)
            .filter(|seed| {
                let mut random = Random::new(*seed);
                let ios: Vec<u64> = (0..50).map(|_| (1000.0 + 50.0 * random.normal()) as u64).collect();
                // A few of 500 look like a drift.
                iops_estimate(&intervals_with(&ios)).ci95.is_some_and(|(low, high)| (low..=high).contains(&9995.0))
            })
            .count();
        assert!((450..=490).contains(&hits), "{hits}");
    }
}
