//! Storms, pauses and levels in turns: parts of a series that are not noise around one level.
//!
//! Garbage collection, a thermal limit, a noisy neighbour: a window holds a few of them or none, and the error of the mean is
//! then that of their number. Counted events are bounded by Poisson's limits, whatever their spacing.

use crate::batch::{mean, variance};

/// Fewest events from which a mean over more than one level is bounded.
pub(crate) const EVENTS_MIN: usize = 4;
/// From here on their number shows in the spread and memory of the series itself.
pub(crate) const EVENTS_MANY: usize = 10;
/// Share of the variance that two levels must explain; the best cut of one normal level explains 64 %, of a slope 75 %.
const EXPLAINED_MIN: f64 = 0.8;
/// How many deviations (from the median of the deviations) a rare point lies off.
const WILD: f64 = 5.0;
/// Nearer to the level than this share of it nothing is an event.
const SHARE_MIN: f64 = 0.01;

/// Events of one series.
#[derive(Clone, Debug)]
pub(crate) struct Disturbance {
    /// Where each begins; one that was under way at the start begins at 0.
    pub(crate) starts: Vec<usize>,
    /// What the events take from the mean or give to it, whichever way each goes.
    pub(crate) effect: f64,
    /// Whether an end of the series lies within an event, whose size is then not known.
    pub(crate) is_cut: bool,
    /// How many events of equal size would tell as much.
    equal_events: f64,
    /// The series with its usual level in place of the events.
    pub(crate) quiet: Vec<f64>,
}

impl Disturbance {
    /// The events of `series`, whose figures are of the size of `level`; `None` when it has one level.
    pub(crate) fn of(series: &[f64], level: f64) -> Option<Disturbance> {
        let off = off_level(series, level)?;
        let usual: Vec<f64> = series.iter().zip(&off).filter(|(_, off)| !**off).map(|(x, _)| *x).collect();
        let usual = mean(&usual);
        let (mut starts, mut sizes) = (Vec::new(), Vec::<f64>::new());
        for (at, x) in series.iter().enumerate().filter(|(at, _)| off[*at]) {
            if at == 0 || !off[at - 1] {
                starts.push(at);
                sizes.push(0.0);
            }
            if let Some(size) = sizes.last_mut() {
                *size += x - usual;
            }
        }
        let sizes: Vec<f64> = sizes.into_iter().map(f64::abs).collect();
        // Sizes that differ make the sum less certain than the number (a compound Poisson process).
        let unequal = if mean(&sizes) == 0.0 { 0.0 } else { variance(&sizes) / mean(&sizes).powi(2) };
        Some(Disturbance {
            equal_events: sizes.len() as f64 / (1.0 + unequal.min(3.0)),
            starts,
            effect: sizes.iter().sum::<f64>() / series.len() as f64,
            is_cut: off[0] || off[off.len() - 1],
            quiet: series.iter().zip(&off).map(|(x, off)| if *off { usual } else { *x }).collect(),
        })
    }

    /// How far the mean may lie off because the window held this many events and not another number.
    pub(crate) fn half_width(&self) -> f64 {
        self.effect * (events_at_most(self.equal_events) / self.equal_events - 1.0)
    }
}

/// Upper end of Poisson's 95 % interval for an expected number of which `seen` came (Byar; Breslow and Day 1987).
fn events_at_most(seen: f64) -> f64 {
    let next = seen + 1.0;
    next * (1.0 - 1.0 / (9.0 * next) + 1.959_964 / (3.0 * next.sqrt())).powi(3)
}

/// Which points do not belong to the usual level, that of most points; `None`: all do.
fn off_level(series: &[f64], level: f64) -> Option<Vec<bool>> {
    let least = SHARE_MIN * level.abs();
    let off: Vec<bool> = match two_levels(series, least) {
        Some(cut) => {
            let low = series.iter().filter(|x| **x < cut).count();
            let rare_is_low = low * 2 <= series.len();
            series.iter().map(|x| (*x < cut) == rare_is_low).collect()
        }
        None => {
            let middle = median(series);
            let distances: Vec<f64> = series.iter().map(|x| (x - middle).abs()).collect();
            // 1.4826: the deviation of a normal distribution over the median distance.
            let far = (WILD * 1.4826 * median(&distances)).max(least);
            distances.iter().map(|distance| *distance > far).collect()
        }
    };
    off.contains(&true).then_some(off)
}

/// The cut that parts the values best (Otsu 1979), if two levels describe them.
fn two_levels(series: &[f64], least: f64) -> Option<f64> {
    let n = series.len();
    let mut sorted = series.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let all: f64 = sorted.iter().sum();
    let (mut sum, mut best) = (0.0, (0.0, 0, 0.0));
    for low in 1..n {
        sum += sorted[low - 1];
        let apart = (all - sum) / (n - low) as f64 - sum / low as f64;
        let explained = (low * (n - low)) as f64 / n as f64 * apart * apart;
        if explained > best.0 {
            best = (explained, low, apart);
        }
    }
    let total = variance(series) * (n as f64 - 1.0);
    // A few points of one level can be parted well by chance.
    let share_min = EXPLAINED_MIN * (1.0 + 1.0 / n as f64);
    let (explained, low, apart) = best;
    (low > 0 && explained >= share_min * total && apart > least).then(|| f64::midpoint(sorted[low - 1], sorted[low]))
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Random, ar1};

    fn noisy(seed: u64, points: usize, level: impl Fn(usize) -> f64) -> Vec<f64> {
        ar1(&mut Random::new(seed), 0.3, points).iter().enumerate().map(|(i, x)| level(i) * (1.0 + 0.02 * x)).collect()
    }

    #[test]
    fn storms_are_counted_where_they_begin() {
        let series = noisy(1, 100, |i| if i % 25 >= 20 { 500.0 } else { 1000.0 });
        let found = Disturbance::of(&series, 1000.0).unwrap();
        assert_eq!(found.starts, [20, 45, 70, 95]);
        assert!((found.effect - 100.0).abs() < 5.0, "{}", found.effect);
        assert!(found.quiet.iter().all(|x| *x > 800.0));
        // Poisson's upper limit of 4 events is 10.24.
        assert!((found.half_width() / found.effect - 1.56).abs() < 0.1, "{}", found.half_width());
    }

    #[test]
    fn two_levels_in_turns_are_events_of_the_rarer_one() {
        let series = noisy(2, 90, |i| if i / 10 % 3 == 0 { 600.0 } else { 1000.0 });
        assert_eq!(Disturbance::of(&series, 867.0).unwrap().starts, [0, 30, 60]);
    }

    #[test]
    fn noise_small_ripples_and_a_constant_are_one_level() {
        for seed in 0..50 {
            assert!(Disturbance::of(&noisy(seed, 100, |_| 1000.0), 1000.0).is_none(), "seed {seed}");
        }
        let ripple: Vec<f64> = (0..60).map(|i| if i % 10 == 0 { 995.0 } else { 1000.0 }).collect();
        assert!(Disturbance::of(&ripple, 1000.0).is_none());
        assert!(Disturbance::of(&[7.0; 20], 7.0).is_none());
    }

    #[test]
    fn poissons_upper_limits_are_those_of_the_tables() {
        for (seen, table) in [(1.0, 5.572), (4.0, 10.242), (10.0, 18.390)] {
            assert!((events_at_most(seen) - table).abs() < 0.1, "{seen}: {}", events_at_most(seen));
        }
    }
}
