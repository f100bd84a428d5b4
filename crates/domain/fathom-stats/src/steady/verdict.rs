//! Fathom's own verdict on a window.

use fathom_record::Interval;

use super::drift::{residuals, theil_sen_drift};
use super::mser::mser_cut;
use crate::batch::{Batches, mean};
use crate::student::t95;
use crate::throughput::{interval_iops, whole_intervals};

/// Drift over the judged window that is still called steady, percent of the mean either way.
pub const DRIFT_MARGIN_PCT: f64 = 1.0;

/// Fewest intervals to judge.
const INTERVALS_MIN: usize = 20;
/// From here on warm-up is sought in groups of five intervals, below in single ones.
const INTERVALS_FOR_GROUPS: usize = 50;

/// Why a window is not called steady.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsteady {
    /// Warm-up takes more than half of it.
    WarmUpTooLong,
    /// Its beginning differs from its second half (Geweke's check).
    BeginningDiffers,
    /// It drifts: the whole interval lies beyond the margin on one side.
    Drifts,
    /// It may drift by more than the margin or by less: too noisy or too short to tell.
    CannotTell,
}

/// Fathom's verdict on the throughput of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyVerdict {
    /// Whether the window is steady after its warm-up.
    pub reached: bool,
    /// Why not; `None` when it is.
    pub why: Option<Unsteady>,
    /// Intervals judged.
    pub intervals: u32,
    /// Intervals at the beginning that look like warm-up; 0 when it is too long to tell.
    pub warmup_intervals: u32,
    /// Drift after the warm-up, percent of the mean per minute.
    pub drift_pct_per_minute: f64,
    /// Its 95 % interval.
    pub drift_ci95: Option<(f64, f64)>,
    /// Drift over the judged window, percent of the mean: what the margin applies to.
    pub drift_pct: f64,
}

/// Whether the IOPS of a window were steady: MSER-5 cut within the first half, Geweke's check passed on the rest, and
/// the 95 % interval of the Theil-Sen drift over it within +-[`DRIFT_MARGIN_PCT`] of the mean.
///
/// `None` with fewer than 20 intervals or without any I/O.
#[must_use]
pub fn steady_verdict(intervals: &[Interval]) -> Option<SteadyVerdict> {
    let series = interval_iops(intervals);
    if series.len() < INTERVALS_MIN {
        return None;
    }
    let group = if series.len() >= INTERVALS_FOR_GROUPS { 5 } else { 1 };
    let cut = mser_cut(&series, group);
    // Without a cut the whole window is described.
    let kept = &series[cut.unwrap_or(0)..];
    let average = mean(kept);
    if average.is_nan() || average <= 0.0 {
        return None;
    }
    let drift = theil_sen_drift(kept)?;
    let length_ns = mean(&whole_intervals(intervals).iter().map(|i| i.length_ns as f64).collect::<Vec<_>>());
    let to_window = 100.0 / average * kept.len() as f64;
    let to_minute = 100.0 / average * 60e9 / length_ns;
    let over_window = drift.ci95.map(|(low, high)| (low * to_window, high * to_window));
    let why = cut.map_or(Some(Unsteady::WarmUpTooLong), |_| judge(kept, over_window));
    Some(SteadyVerdict {
        reached: why.is_none(),
        why,
        intervals: series.len() as u32,
        warmup_intervals: cut.unwrap_or(0) as u32,
        drift_pct_per_minute: drift.per_point * to_minute,
        drift_ci95: drift.ci95.map(|(low, high)| (low * to_minute, high * to_minute)),
        drift_pct: drift.per_point * to_window,
    })
}

/// What speaks against calling `kept` steady.
fn judge(kept: &[f64], drift_over_window: Option<(f64, f64)>) -> Option<Unsteady> {
    let Some((low, high)) = drift_over_window else { return Some(Unsteady::CannotTell) };
    if low >= -DRIFT_MARGIN_PCT && high <= DRIFT_MARGIN_PCT {
        return (!geweke_passes(kept)).then_some(Unsteady::BeginningDiffers);
    }
    Some(if low > DRIFT_MARGIN_PCT || high < -DRIFT_MARGIN_PCT { Unsteady::Drifts } else { Unsteady::CannotTell })
}

/// Geweke's check (1992): means of the first tenth and the last half agree within their errors.
///
/// The spectral density at zero is taken from batch means of the whole series around its line, because a tenth of it
/// is too short for one of its own.
fn geweke_passes(series: &[f64]) -> bool {
    let first = &series[..(series.len() / 10).max(1)];
    let last = &series[series.len() / 2..];
    let batches = Batches::of(&residuals(series));
    let density = batches.variance_of_mean() * (batches.means.len() * batches.length) as f64;
    let error = (density / first.len() as f64 + density / last.len() as f64).sqrt();
    let difference = (mean(first) - mean(last)).abs();
    // A thousandth of the margin is no difference, whatever the error: a simulated run may have none.
    difference <= (t95(batches.means.len() as f64 - 1.0) * error).max(DRIFT_MARGIN_PCT / 1e5 * mean(series).abs())
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let reached = (0..200).filter(|s| steady_verdict(&run(*s, 300, spread, shape)).unwrap().reached).count();
        reached as f64 / 200.0
    }

    #[test]
    fn quiet_runs_are_steady_also_after_a_warm_up() {
        // Not all: MSER finds a late minimum in some runs, and Geweke's check refuses one in twenty.
        let shapes: [fn(f64) -> f64; 2] = [|_| 1.0, |t| if t < 0.2 { 1.5 } else { 1.0 }];
        for shape in shapes {
            let reached = share_reached(0.005, shape);
            assert!(reached > 0.85, "{reached}");
        }
    }

    #[test]
    fn a_sinking_run_is_not_steady_and_its_drift_is_named() {
        for seed in 0..100 {
            // 5 % over 30 s: 10 % a minute.
            let verdict = steady_verdict(&run(seed, 300, 0.01, |t| 1.0 - 0.05 * t)).unwrap();
            assert!(!verdict.reached, "{verdict:?}");
            if verdict.why == Some(Unsteady::Drifts) {
                assert!((-13.0..=-7.0).contains(&verdict.drift_pct_per_minute), "{verdict:?}");
                let (low, high) = verdict.drift_ci95.unwrap();
                assert!(low <= verdict.drift_pct_per_minute && verdict.drift_pct_per_minute <= high && high < 0.0);
            }
        }
    }

    #[test]
    fn a_late_warm_up_is_named_as_such() {
        let late = |t: f64| if t < 0.7 { 2.0 } else { 1.0 };
        let verdict = steady_verdict(&run(5, 300, 0.01, late)).unwrap();
        assert_eq!((verdict.reached, verdict.why), (false, Some(Unsteady::WarmUpTooLong)));
    }

    #[test]
    fn a_noisy_run_cannot_be_called_steady_or_drifting() {
        let undecided = (0..100)
            .filter(|s| steady_verdict(&run(*s, 100, 0.15, |_| 1.0)).unwrap().why == Some(Unsteady::CannotTell))
            .count();
        assert!(undecided > 75, "{undecided}");
        assert!(share_reached(0.15, |_| 1.0) < 0.05);
    }

    #[test]
    fn a_run_without_noise_is_steady_and_short_or_empty_ones_are_not_judged() {
        let verdict = steady_verdict(&intervals_with(&[1000; 25])).unwrap();
        assert!(verdict.reached && verdict.drift_pct_per_minute == 0.0 && verdict.intervals == 25);
        assert_eq!(steady_verdict(&intervals_with(&[1000; 19])), None);
        assert_eq!(steady_verdict(&intervals_with(&[0; 50])), None);
    }

    #[test]
    fn gewekes_check_finds_a_different_beginning() {
        let noise = ar1(&mut Random::new(11), 0.0, 200);
        assert!(geweke_passes(&noise));
        let stepped: Vec<f64> = noise.iter().enumerate().map(|(i, x)| x + if i < 20 { 5.0 } else { 0.0 }).collect();
        assert!(!geweke_passes(&stepped));
    }
}
