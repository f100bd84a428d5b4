//! Means of correlated series with intervals that hold where storage is rough.

use crate::batch::{Batches, effective_samples, mean};
use crate::disturbance::{Disturbance, EVENTS_MANY, EVENTS_MIN};
use crate::memory;
use crate::steady::{DRIFT_MARGIN_PCT, least_squares_slope, residuals};

/// Least number of points for an interval of confidence.
///
/// Below ten the lag-1 correlation cannot be told from noise, so an interval would only pretend to know.
pub const POINTS_MIN: usize = 10;

/// From here on batch means, which assume no model, may overrule the model.
const POINTS_FOR_BATCHES: usize = 100;
/// Events whose number may move the mean by less than this share of it do not forbid an interval.
const SMALL_SHARE: f64 = 0.01;
/// A slope is one from this many of its errors.
const SLOPE_ERRORS: f64 = 3.5;
/// Events up to this far apart are what a long run is made of: storms come every 5 to 60 s, what is rarer is another state.
const SPACING_MAX_S: f64 = 60.0;
/// Without an event in a window, one that comes every third of it or more often is ruled out with 95 %: exp(-3) = 0.05.
const WINDOWS_OF_A_RULE: f64 = 3.0;
/// Least length of a window whose interval is one of the long run, seconds.
const LONG_RUN_S: f64 = WINDOWS_OF_A_RULE * SPACING_MAX_S;

/// What the interval of a mean holds with 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scope {
    /// The mean of a long run.
    LongRun,
    /// The mean that its own window would have had without noise.
    Window {
        /// Events further apart than this may have been missed, seconds.
        blind_beyond_s: f64,
    },
}

impl Scope {
    /// What the interval of a window of this length holds. Its length alone decides: windows picked by how many events they
    /// showed would be those that showed too many.
    #[must_use]
    pub fn of(window_s: f64) -> Scope {
        match window_s >= LONG_RUN_S {
            true => Scope::LongRun,
            false => Scope::Window { blind_beyond_s: window_s / WINDOWS_OF_A_RULE },
        }
    }
}

/// A figure with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The figure; NaN when there was no data.
    pub value: f64,
    /// 95 % interval; `None` where none would hold the truth as often as it says.
    pub ci95: Option<(f64, f64)>,
    /// Why there is none.
    pub why_none: Option<NoInterval>,
    /// Points it was made of.
    pub points: usize,
    /// Batches behind the interval; 0 without one.
    pub batches: usize,
    /// Correlation of neighbouring batch means; above 0.2 the series is too short for its memory.
    pub lag1: f64,
    /// Independent points that would tell as much (effective sample size).
    pub ess: f64,
}

impl Estimate {
    /// Half width of the interval as a share of the value; `None` without an interval or for a value of zero.
    #[must_use]
    pub fn rel_half_width(&self) -> Option<f64> {
        let (low, high) = self.ci95?;
        (self.value != 0.0).then(|| ((high - low) / 2.0 / self.value).abs())
    }
}

/// Why a mean has no interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoInterval {
    /// Too few points to tell a memory from noise.
    TooFewPoints {
        /// How many it takes.
        needed: usize,
    },
    /// It has more than one level and changed between them too seldom to know how often it does.
    FewEvents {
        /// How often it left its usual level.
        seen: usize,
        /// Points that would show enough of them, at the rate seen.
        needed: usize,
    },
    /// It rises or sinks all along: the mean depends on when one looks.
    Drifts {
        /// Change over the series, as a share of the level.
        share: f64,
    },
}

/// Mean of a correlated series with its 95 % interval.
///
/// The interval keeps every memory that the series may have with its probability (`memory.rs`), so that it holds from ten
/// points on; with a hundred points and more, batch means overrule it when theirs is clearly larger. What leaves the
/// usual level is counted, and the count bounded by Poisson's limits (`disturbance.rs`). A series with few such events,
/// or with a drift, has no interval.
#[must_use]
pub fn mean_ci(series: &[f64]) -> Estimate {
    let value = mean(series);
    let none = Estimate {
        value,
        ci95: None,
        why_none: None,
        points: series.len(),
        batches: 0,
        lag1: 0.0,
        ess: series.len() as f64,
    };
    match half_width_of_mean(series, value) {
        Err(why) => Estimate { why_none: Some(why), ..none },
        Ok(half) => {
            let batches = Batches::of(series);
            Estimate {
                ci95: Some((value - half, value + half)),
                batches: batches.means.len(),
                lag1: batches.lag1,
                ess: effective_samples(series),
                ..none
            }
        }
    }
}

/// Half width of the 95 % interval of the mean of `series`, whose figures (or what they were made of) are of the size
/// of `level`.
pub(crate) fn half_width_of_mean(series: &[f64], level: f64) -> Result<f64, NoInterval> {
    if series.len() < POINTS_MIN {
        return Err(NoInterval::TooFewPoints { needed: POINTS_MIN });
    }
    let mut half = noise_half_width(series);
    if let Some(disturbance) = Disturbance::of(series, level) {
        let (quiet, events) = (noise_half_width(&disturbance.quiet), disturbance.half_width());
        let seen = disturbance.starts.len();
        // Events whose number hardly matters, like single late intervals, widen it and no more.
        let is_small = !disturbance.is_cut && events <= SMALL_SHARE * level.abs();
        if seen < EVENTS_MIN && events > quiet && !is_small {
            return Err(NoInterval::FewEvents { seen, needed: (series.len() * EVENTS_MIN).div_ceil(seen) });
        }
        if seen < EVENTS_MANY {
            half = half.max(quiet.hypot(events));
        }
    }
    match drift_share(series, level) {
        Some(share) => Err(NoInterval::Drifts { share }),
        None => Ok(half),
    }
}

/// Half width of the interval of a series of one level.
pub(crate) fn noise_half_width(series: &[f64]) -> f64 {
    // The larger of two estimates of one width is too much on average; a real difference shows beyond their own spread
    // of about 13 % (that of a deviation from 30 batches).
    const CLEARLY_LARGER: f64 = 1.15;
    let by_memory = memory::half_width(series);
    if series.len() < POINTS_FOR_BATCHES {
        return by_memory;
    }
    let by_batches = Batches::of(series).half_width();
    if by_batches > CLEARLY_LARGER * by_memory { by_batches } else { by_memory }
}

/// Change over the series along its least-squares line, as a share of `level`; `None` when it is within the margin of
/// drift or cannot be told from the noise around the line.
fn drift_share(series: &[f64], level: f64) -> Option<f64> {
    let n = series.len() as f64;
    let around = residuals(series);
    let squares: f64 = around.iter().map(|x| x * x).sum();
    let slope = least_squares_slope(series);
    let share = slope * n / level.abs();
    if share.is_nan() || share.abs() <= DRIFT_MARGIN_PCT / 100.0 {
        return None;
    }
    let neighbours: f64 = around.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let raw = if squares > 0.0 { neighbours / squares } else { 0.0 };
    // Taking the line off costs twice the bias of taking the mean off.
    let lag1 = (raw + (2.0 + 4.0 * raw) / n).clamp(0.0, 0.97);
    let spread = n * (n * n - 1.0) / 12.0;
    let error = (squares / (n - 2.0) / spread * (1.0 + lag1) / (1.0 - lag1)).sqrt();
    (slope.abs() > SLOPE_ERRORS * error).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::variance;
    use crate::testing::{Random, ar1, tell};

    #[test]
    fn intervals_of_long_series_are_not_wider_than_they_must_be() {
        for (phi, points) in [(0.0, 100), (0.0, 300), (0.5, 300), (0.7, 600), (0.9, 3000)] {
            let printed: Vec<(f64, f64)> = (0..300)
                .filter_map(|seed| {
                    let noise = ar1(&mut Random::new(seed), phi, points);
                    mean_ci(&noise.iter().map(|x| 100.0 + x).collect::<Vec<f64>>()).ci95
                })
                .collect();
            let held = printed.iter().filter(|(low, high)| (*low..=*high).contains(&100.0)).count();
            let covered = held as f64 / printed.len() as f64;
            tell(&format!("IOPS: phi {phi}, {points} intervals: {:.1} % of {} held", covered * 100.0, printed.len()));
            assert!(printed.len() >= 290 && (0.92..=0.99).contains(&covered), "phi {phi}, {points} points: {covered}");
        }
    }

    #[test]
    fn why_there_is_no_interval_is_told() {
        assert_eq!(mean_ci(&[1.0; 3]).why_none, Some(NoInterval::TooFewPoints { needed: POINTS_MIN }));
        let noise = ar1(&mut Random::new(4), 0.0, 60);
        let with = |level: &dyn Fn(usize) -> f64| -> Vec<f64> {
            noise.iter().enumerate().map(|(i, x)| level(i) * (1.0 + 0.01 * x)).collect()
        };
        let two_storms = with(&|i| if i % 30 < 5 { 400.0 } else { 1000.0 });
        assert_eq!(mean_ci(&two_storms).why_none, Some(NoInterval::FewEvents { seen: 2, needed: 120 }));
        let Some(NoInterval::Drifts { share }) = mean_ci(&with(&|i| 1000.0 - 2.0 * i as f64)).why_none else {
            panic!("a drift of 12 % is none")
        };
        assert!((share + 0.128).abs() < 0.02, "{share}");
        assert_eq!(mean_ci(&with(&|_| 1000.0)).why_none, None);
    }

    #[test]
    fn one_late_interval_widens_and_does_not_forbid() {
        let noise = ar1(&mut Random::new(9), 0.0, 100);
        let mut series: Vec<f64> = noise.iter().map(|x| 1000.0 * (1.0 + 0.02 * x)).collect();
        let quiet = mean_ci(&series).rel_half_width().unwrap();
        series[40] = 890.0;
        let with_one = mean_ci(&series).rel_half_width().unwrap();
        assert!(with_one > 1.05 * quiet && with_one < 3.0 * quiet, "{quiet} {with_one}");
        series[40] = 200.0;
        assert!(matches!(mean_ci(&series).why_none, Some(NoInterval::FewEvents { seen: 1, .. })));
    }

    #[test]
    fn ignoring_the_correlation_would_not_cover() {
        // Proves that the coverage test can fail: the plain interval over correlated points.
        let hits = (0..500_u64)
            .filter(|seed| {
                let series = ar1(&mut Random::new(*seed), 0.9, 600);
                mean(&series).abs() <= 1.96 * (variance(&series) / 600.0).sqrt()
            })
            .count();
        assert!(hits < 300, "{hits}");
    }

    #[test]
    fn few_points_give_a_mean_without_an_interval() {
        let e = mean_ci(&[1.0, 2.0, 3.0]);
        assert_eq!((e.value, e.ci95, e.batches), (2.0, None, 0));
        assert!(mean_ci(&[]).value.is_nan());
        assert!(mean_ci(&[1.0; POINTS_MIN]).ci95.is_some());
    }

    #[test]
    fn a_constant_series_has_an_interval_of_no_width() {
        let e = mean_ci(&[0.1; 100]);
        let width = e.rel_half_width().unwrap();
        assert!(width < 1e-12, "{width}");
        assert_eq!(mean_ci(&[0.0; 100]).rel_half_width(), None);
    }

    #[test]
    fn memory_lowers_the_effective_samples() {
        let ess = |phi| mean_ci(&ar1(&mut Random::new(7), phi, 5000)).ess;
        // Truth: n (1 - phi) / (1 + phi).
        assert!((4000.0..=5000.0).contains(&ess(0.0)), "{}", ess(0.0));
        assert!((180.0..=380.0).contains(&ess(0.9)), "{}", ess(0.9));
    }
}
