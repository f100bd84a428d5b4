//! Fathom's own verdict on the throughput of a measured window.

use fathom_record::Interval;

use super::own::{OwnVerdict, own_verdict};
use crate::batch::mean;
use crate::throughput::{interval_iops, whole_intervals};

/// Fathom's verdict on the throughput of a window, with its drift per minute too.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyVerdict {
    /// The verdict; its drift is that over the whole window.
    pub own: OwnVerdict,
    /// Drift after the warm-up, percent of the mean per minute.
    pub drift_pct_per_minute: f64,
    /// Its 95 % interval.
    pub drift_ci95: Option<(f64, f64)>,
}

/// Whether the IOPS of a measured window were steady: [`own_verdict`] on its intervals, the drift judged over all of it.
///
/// `None` with fewer than 20 intervals or without any I/O.
#[must_use]
pub fn steady_verdict(intervals: &[Interval]) -> Option<SteadyVerdict> {
    let series = interval_iops(intervals);
    let own = own_verdict(&series, series.len())?;
    let length_ns = mean(&whole_intervals(intervals).iter().map(|i| i.length_ns as f64).collect::<Vec<_>>());
    let to_minute = 60e9 / (length_ns * series.len() as f64);
    Some(SteadyVerdict {
        drift_pct_per_minute: own.drift_pct * to_minute,
        drift_ci95: own.drift_ci95_pct.map(|(low, high)| (low * to_minute, high * to_minute)),
        own,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unsteady;
    use crate::testing::{Random, ar1, intervals_with};

    /// Interval counts around 10 000 with a relative spread, and a factor per position.
    fn run(seed: u64, count: usize, spread: f64, shape: impl Fn(f64) -> f64) -> Vec<Interval> {
        let noise = ar1(&mut Random::new(seed), 0.3, count);
        let at = |i: usize| shape(i as f64 / count as f64);
        let ios: Vec<u64> =
            noise.iter().enumerate().map(|(i, x)| (10_000.0 * at(i) * (1.0 + spread * x)) as u64).collect();
        intervals_with(&ios)
    }

    fn share_reached(spread: f64, shape: impl Fn(f64) -> f64 + Copy) -> f64 {
        let reached = (0..200).filter(|s| steady_verdict(&run(*s, 300, spread, shape)).unwrap().own.reached).count();
        reached as f64 / 200.0
    }

    #[test]
    fn quiet_runs_are_steady_also_after_a_warm_up() {
        let shapes: [fn(f64) -> f64; 2] = [|_| 1.0, |t| if t < 0.2 { 1.5 } else { 1.0 }];
        for shape in shapes {
            let reached = share_reached(0.005, shape);
            assert!(reached >= 0.95, "{reached}");
        }
    }

    #[test]
    fn a_sinking_run_is_not_steady_and_its_drift_is_named() {
        for seed in 0..100 {
            // 5 % over 30 s: 10 % a minute.
            let verdict = steady_verdict(&run(seed, 300, 0.01, |t| 1.0 - 0.05 * t)).unwrap();
            assert!(!verdict.own.reached, "{verdict:?}");
            if verdict.own.why == Some(Unsteady::Drifts) {
                assert!((-14.0..=-6.0).contains(&verdict.drift_pct_per_minute), "{verdict:?}");
                let (low, high) = verdict.drift_ci95.unwrap();
                assert!(low <= verdict.drift_pct_per_minute && verdict.drift_pct_per_minute <= high && high < 0.0);
            }
        }
    }

    #[test]
    fn a_late_warm_up_is_named_as_such() {
        let late = |t: f64| if t < 0.7 { 2.0 } else { 1.0 };
        let verdict = steady_verdict(&run(5, 300, 0.01, late)).unwrap();
        assert_eq!((verdict.own.reached, verdict.own.why), (false, Some(Unsteady::WarmUpTooLong)));
    }

    #[test]
    fn a_noisy_run_cannot_be_called_steady_or_drifting() {
        let undecided = (0..100)
            .filter(|s| steady_verdict(&run(*s, 100, 0.15, |_| 1.0)).unwrap().own.why == Some(Unsteady::Inconclusive))
            .count();
        assert!(undecided > 75, "{undecided}");
        assert!(share_reached(0.15, |_| 1.0) < 0.05);
    }

    #[test]
    fn a_run_without_noise_is_steady_and_short_or_empty_ones_are_not_judged() {
        let verdict = steady_verdict(&intervals_with(&[1000; 25])).unwrap();
        assert!(verdict.own.reached && verdict.drift_pct_per_minute == 0.0 && verdict.own.points == 25);
        assert_eq!(steady_verdict(&intervals_with(&[1000; 19])), None);
        assert_eq!(steady_verdict(&intervals_with(&[0; 50])), None);
    }
}
