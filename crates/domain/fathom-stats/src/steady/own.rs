//! Fathom's own verdict on a series of any figure.

use super::changes::level_changes;
use super::drift::{least_squares_slope, residuals, theil_sen_drift};
use super::mser::mser_cut;
use crate::batch::{Batches, mean, variance};
use crate::student::t95;

/// Drift over the window that is still called steady, percent of the mean either way.
pub const DRIFT_MARGIN_PCT: f64 = 1.0;
/// Least change of level, percent, that ends a steady state.
pub const LEVEL_MARGIN_PCT: f64 = 2.0;
/// Fewest points that are judged.
pub const POINTS_TO_JUDGE: usize = 20;

/// From here on warm-up is looked for in groups of five points, below in single ones.
const POINTS_FOR_GROUPS: usize = 50;

/// Why a series is not called steady.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsteady {
    /// Warm-up takes more than half of it.
    WarmUpTooLong,
    /// Its beginning differs from its second half (Geweke's check).
    BeginningDiffers,
    /// It changes its level.
    LevelChanges,
    /// It drifts: the whole interval lies beyond the margin on one side.
    Drifts,
    /// It may drift by more than the margin or by less: too noisy or too short to tell.
    Inconclusive,
}

/// Fathom's verdict on a series.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnVerdict {
    /// Whether the series is steady after its warm-up.
    pub reached: bool,
    /// Why not; `None` when it is.
    pub why: Option<Unsteady>,
    /// Points judged.
    pub points: usize,
    /// Points at the beginning that are warm-up; 0 when it is too long to tell.
    pub warmup: usize,
    /// Where the level changes after the warm-up, as positions in the series; each begins a new level.
    pub changes: Vec<usize>,
    /// Drift after the warm-up per window, percent of the mean.
    pub drift_pct: f64,
    /// Its 95 % interval; `None` with fewer than ten points after the warm-up.
    pub drift_ci95_pct: Option<(f64, f64)>,
    /// Mean after the warm-up.
    pub mean: f64,
    /// Where a steady state was left again; `None` when there was none, or it lasted.
    pub left_at: Option<usize>,
}

/// Whether `series` is steady, its drift being judged over a window of `window` points.
///
/// Steady is: the MSER-5 cut lies in the first half, or no warm-up can be distinguished from noise; no change of level by
/// [`LEVEL_MARGIN_PCT`] after it; the 95 % interval of the Theil-Sen drift over a window within
/// +-[`DRIFT_MARGIN_PCT`]; and Geweke's check finds no difference beyond that margin. The drift is fitted to all points
/// after the warm-up, so that many rounds tell more than the last five.
///
/// `None` with fewer than [`POINTS_TO_JUDGE`] points or a mean that is not positive.
#[must_use]
pub fn own_verdict(series: &[f64], window: usize) -> Option<OwnVerdict> {
    if series.len() < POINTS_TO_JUDGE {
        return None;
    }
    let group = if series.len() >= POINTS_FOR_GROUPS { 5 } else { 1 };
    let cut = mser_cut(series, group);
    let first = Kept::of(series, cut.unwrap_or(0), window)?;
    // What is left of the warm-up after the cut: levels that ended within the first half.
    let warmup = first.changes.iter().rev().copied().find(|at| *at <= series.len() / 2).unwrap_or(first.from);
    let kept = if warmup == first.from { first } else { Kept::of(series, warmup, window)? };
    let why = kept.judge(cut.is_none());
    let is_warming = why == Some(Unsteady::WarmUpTooLong);
    Some(OwnVerdict {
        reached: why.is_none(),
        why,
        points: series.len(),
        warmup: if is_warming { 0 } else { kept.from },
        left_at: kept.left_at(why, window),
        drift_pct: kept.drift_pct,
        drift_ci95_pct: kept.drift_ci95_pct,
        mean: kept.mean,
        changes: kept.changes,
    })
}

/// What follows the warm-up, described.
struct Kept<'a> {
    series: &'a [f64],
    /// Position of the first point in the whole series.
    from: usize,
    mean: f64,
    drift_pct: f64,
    drift_ci95_pct: Option<(f64, f64)>,
    /// Positions in the whole series.
    changes: Vec<usize>,
}

impl<'a> Kept<'a> {
    fn of(whole: &'a [f64], from: usize, window: usize) -> Option<Self> {
        let series = &whole[from..];
        let average = mean(series);
        if average.is_nan() || average <= 0.0 {
            return None;
        }
        let drift = theil_sen_drift(series)?;
        let to_window = 100.0 / average * window as f64;
        Some(Kept {
            series,
            from,
            mean: average,
            drift_pct: drift.per_point * to_window,
            drift_ci95_pct: drift.ci95.map(|(low, high)| (low * to_window, high * to_window)),
            changes: level_changes(series, LEVEL_MARGIN_PCT / 100.0).into_iter().map(|at| from + at).collect(),
        })
    }

    /// What speaks against calling it steady. `late_cut`: the warm-up rule found its minimum in the second half.
    fn judge(&self, late_cut: bool) -> Option<Unsteady> {
        let Some((low, high)) = self.drift_ci95_pct else { return Some(Unsteady::Inconclusive) };
        let drifts = low > DRIFT_MARGIN_PCT || high < -DRIFT_MARGIN_PCT;
        if drifts && (self.changes.is_empty() || self.line_fits_better()) {
            return Some(Unsteady::Drifts);
        }
        match self.changes.len() {
            0 => {}
            // One change in the second half with a late cut is a warm-up that ended there.
            1 if late_cut => return Some(Unsteady::WarmUpTooLong),
            _ => return Some(Unsteady::LevelChanges),
        }
        if low < -DRIFT_MARGIN_PCT || high > DRIFT_MARGIN_PCT {
            return Some(Unsteady::Inconclusive);
        }
        (!geweke_passes(self.series)).then_some(Unsteady::BeginningDiffers)
    }

    /// Whether a slope describes it rather than levels: all steps go the same way, or a line leaves hardly more.
    fn line_fits_better(&self) -> bool {
        // A staircase has more freedom than a line, so it leaves a little less also of what is a slope.
        const HARDLY_MORE: f64 = 1.1;
        let mut ends: Vec<usize> = self.changes.iter().map(|at| at - self.from).collect();
        ends.push(self.series.len());
        let mut start = 0;
        let (mut squares, mut levels) = (0.0, Vec::new());
        for end in ends {
            let level = &self.series[start..end];
            squares += variance(level) * (level.len() - 1) as f64;
            levels.push(mean(level));
            start = end;
        }
        let staircase = levels.len() > 2 && (levels.is_sorted() || levels.iter().rev().is_sorted());
        staircase || variance(&residuals(self.series)) <= HARDLY_MORE * squares / (self.series.len() - 1) as f64
    }

    /// The first change of level after at least a window (and a quarter of the points) at one level without drift.
    fn left_at(&self, why: Option<Unsteady>, window: usize) -> Option<usize> {
        let at = self.changes.first().copied().filter(|_| why == Some(Unsteady::LevelChanges))?;
        let level = &self.series[..at - self.from];
        let long = level.len() >= window.min(self.series.len() / 4).max(POINTS_TO_JUDGE);
        let rise_pct = least_squares_slope(level).abs() * level.len() as f64 / mean(level) * 100.0;
        (long && rise_pct <= LEVEL_MARGIN_PCT).then_some(at)
    }
}

/// Geweke's check (1992): means of the first tenth and the last half agree within their errors, or within the margin
/// of drift: a difference that small is none, however well it is known.
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
    let margin = DRIFT_MARGIN_PCT / 100.0 * mean(series).abs();
    difference <= (t95(batches.means.len() as f64 - 1.0) * error).max(margin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Random, ar1};

    #[test]
    fn gewekes_check_finds_a_different_beginning() {
        let noise = ar1(&mut Random::new(11), 0.0, 200);
        let around = |level: f64, at_first: f64| -> Vec<f64> {
            noise.iter().enumerate().map(|(i, x)| level + x + if i < 20 { at_first } else { 0.0 }).collect()
        };
        assert!(geweke_passes(&around(100.0, 0.0)));
        assert!(!geweke_passes(&around(100.0, 5.0)));
        assert!(geweke_passes(&around(1000.0, 5.0)), "half a percent is no difference");
    }

    #[test]
    fn a_level_that_changes_is_named_with_the_place_where_steadiness_was_left() {
        let noise = ar1(&mut Random::new(5), 0.2, 400);
        let series: Vec<f64> =
            noise.iter().enumerate().map(|(i, x)| (if i < 260 { 1000.0 } else { 800.0 }) * (1.0 + 0.01 * x)).collect();
        let verdict = own_verdict(&series, 100).unwrap();
        assert!(!verdict.reached && verdict.changes.len() == 1, "{verdict:?}");
        assert!(verdict.changes[0].abs_diff(260) <= 3, "{verdict:?}");
        let long: Vec<f64> = series.iter().chain(&series[..300]).copied().collect();
        let verdict = own_verdict(&long, 100).unwrap();
        assert_eq!(verdict.why, Some(Unsteady::LevelChanges), "{verdict:?}");
    }

    #[test]
    fn series_that_cannot_be_judged_are_not() {
        assert_eq!(own_verdict(&[100.0; POINTS_TO_JUDGE - 1], 5), None);
        assert_eq!(own_verdict(&[0.0; 50], 5), None);
        assert!(own_verdict(&[100.0; POINTS_TO_JUDGE], 5).unwrap().reached);
    }
}
