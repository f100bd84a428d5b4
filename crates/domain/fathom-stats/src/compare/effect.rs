//! The ratio of two figures with what is known about it.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::paired::{median_of_sorted, ratio_ci};
use crate::batch::{mean, variance};
use crate::student::t95;

/// Half width of a 95 % interval in standard errors, for a normal figure.
pub(super) const Z95: f64 = 1.959_964;
/// Fewest cells from which a spread from run to run is estimated.
const CELLS_MIN: usize = 8;

/// The ratio b / a of two figures, on the logarithmic scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// ln(b / a).
    pub log_ratio: f64,
    /// Standard error of it.
    pub error: f64,
    /// Degrees of freedom of that error; infinite for figures whose own intervals hold it already.
    pub freedom: f64,
    /// 95 % interval of the same ratio by ranks, which a few wild pairs do not move; `None` with too few pairs.
    pub by_ranks: Option<(f64, f64)>,
}

impl Effect {
    /// From pairs measured in interleaved blocks; `None` with fewer than three pairs or figures that are not positive.
    ///
    /// Student's t on the logarithms of the ratios; the rank interval is that of Hodges and Lehmann ([`ratio_ci`]).
    #[must_use]
    pub fn paired(a: &[f64], b: &[f64]) -> Option<Effect> {
        const PAIRS: usize = 3;
        if a.len() != b.len() || a.len() < PAIRS || !all_positive(a) || !all_positive(b) {
            return None;
        }
        let logs: Vec<f64> = a.iter().zip(b).map(|(a, b)| b.ln() - a.ln()).collect();
        let pairs = logs.len() as f64;
        Some(Effect {
            log_ratio: mean(&logs),
            error: (variance(&logs) / pairs).sqrt(),
            freedom: pairs - 1.0,
            by_ranks: ratio_ci(b, a).ok().map(|r| r.median_ci95),
        })
    }

    /// From several runs of each side, not paired: Welch's t on the logarithms (Welch 1947); `None` with fewer than
    /// three runs of a side or figures that are not positive.
    #[must_use]
    pub fn of_runs(a: &[f64], b: &[f64]) -> Option<Effect> {
        const RUNS: usize = 3;
        if a.len().min(b.len()) < RUNS || !all_positive(a) || !all_positive(b) {
            return None;
        }
        let logs = |values: &[f64]| values.iter().map(|x| x.ln()).collect::<Vec<f64>>();
        let (a, b) = (logs(a), logs(b));
        let share = |logs: &[f64]| variance(logs) / logs.len() as f64;
        let (of_a, of_b) = (share(&a), share(&b));
        let spread = of_a.powi(2) / (a.len() - 1) as f64 + of_b.powi(2) / (b.len() - 1) as f64;
        let freedom = if spread > 0.0 { (of_a + of_b).powi(2) / spread } else { (a.len() + b.len() - 2) as f64 };
        Some(Effect { log_ratio: mean(&b) - mean(&a), error: (of_a + of_b).sqrt(), freedom, by_ranks: None })
    }

    /// From one figure of each side with its 95 % interval; `None` when a figure or an interval is not usable.
    ///
    /// The half widths, as shares of their figures, add as squares. They hold Student's t already.
    #[must_use]
    pub fn of_figures(a: f64, a_ci95: (f64, f64), b: f64, b_ci95: (f64, f64)) -> Option<Effect> {
        let half = |value: f64, (low, high): (f64, f64)| {
            let share = (high - low) / 2.0 / value;
            (value > 0.0 && share.is_finite() && share >= 0.0).then_some(share)
        };
        let error = half(a, a_ci95)?.hypot(half(b, b_ci95)?) / Z95;
        Some(Effect { log_ratio: (b / a).ln(), error, freedom: f64::INFINITY, by_ranks: None })
    }

    /// The same with a further independent spread (standard deviation of the logarithm of a ratio).
    #[must_use]
    pub fn with_spread(self, spread: f64) -> Effect {
        Effect { error: self.error.hypot(spread), ..self }
    }

    /// The ratio the other way round: a / b. Turns a latency ratio into one of speed.
    #[must_use]
    pub fn inverse(self) -> Effect {
        let by_ranks = self.by_ranks.map(|(low, high)| (1.0 / high, 1.0 / low));
        Effect { log_ratio: -self.log_ratio, by_ranks, ..self }
    }

    /// b / a.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.log_ratio.exp()
    }

    /// Its 95 % interval.
    #[must_use]
    pub fn ci95(&self) -> (f64, f64) {
        let half = self.error * if self.freedom.is_finite() { t95(self.freedom) } else { Z95 };
        ((self.log_ratio - half).exp(), (self.log_ratio + half).exp())
    }

    /// Probability of a ratio at least this far from 1 if there were no difference.
    #[must_use]
    pub fn p_value(&self) -> f64 {
        if self.log_ratio == 0.0 {
            return 1.0;
        }
        // Beyond a thousand degrees of freedom Student's t is the normal distribution to four digits.
        let freedom = self.freedom.clamp(1.0, 1e6);
        let t = self.log_ratio.abs() / self.error;
        let Ok(distribution) = StudentsT::new(0.0, 1.0, freedom) else { return 1.0 };
        if t.is_finite() { 2.0 * distribution.sf(t) } else { 0.0 }
    }
}

/// How much ratios of cells that were not interleaved scatter beyond their own errors: the spread from run to run, as a
/// standard deviation of the logarithm of a ratio. 0 with fewer than eight cells, which are too few for it.
///
/// From the shortest half of the ratios (Rousseeuw and Leroy 1988), so that cells that really changed, unless most did
/// and each differently, do not pass for spread; a change common to all cells is none.
#[must_use]
pub fn run_to_run_spread(effects: &[Effect]) -> f64 {
    if effects.len() < CELLS_MIN {
        return 0.0;
    }
    let mut logs: Vec<f64> = effects.iter().map(|e| e.log_ratio).collect();
    logs.sort_unstable_by(f64::total_cmp);
    let half = logs.len() / 2 + 1;
    let shortest = logs.windows(half).map(|w| w[half - 1] - w[0]).fold(f64::INFINITY, f64::min);
    let deviation = shortest / 2.0 / 0.674_49;
    let mut errors: Vec<f64> = effects.iter().map(|e| e.error).collect();
    errors.sort_unstable_by(f64::total_cmp);
    (deviation.powi(2) - median_of_sorted(&errors).powi(2)).max(0.0).sqrt()
}

fn all_positive(values: &[f64]) -> bool {
    values.iter().all(|x| *x > 0.0 && x.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    #[test]
    fn a_known_ratio_is_found_by_every_design() {
        let (a, b) = ([100.0, 110.0, 90.0, 105.0], [103.0, 113.3, 92.7, 108.15]);
        let paired = Effect::paired(&a, &b).unwrap();
        assert!((paired.ratio() - 1.03).abs() < 1e-9 && paired.p_value() < 1e-6, "{paired:?}");
        let runs = Effect::of_runs(&a, &b).unwrap();
        assert!((runs.ratio() - 1.03).abs() < 1e-9 && runs.p_value() > 0.5, "the spread of runs hides it: {runs:?}");
        let figures = Effect::of_figures(100.0, (99.0, 101.0), 103.0, (102.0, 104.0)).unwrap();
        let (low, high) = figures.ci95();
        assert!(low > 1.01 && high < 1.05 && figures.p_value() < 0.001, "{low} {high}");
    }

    #[test]
    fn welchs_freedom_and_probability_are_those_of_the_textbook() {
        // Logarithms 1..4 and 2, 4, 6, 8: t = -1.732051, freedom 4.411765 and p = 0.151 by hand and by tables.
        let of = |logs: [f64; 4]| logs.map(f64::exp);
        let effect = Effect::of_runs(&of([1.0, 2.0, 3.0, 4.0]), &of([2.0, 4.0, 6.0, 8.0])).unwrap();
        assert!((effect.freedom - 4.411_765).abs() < 1e-5, "{effect:?}");
        assert!((effect.log_ratio / effect.error - 1.732_051).abs() < 1e-5, "{effect:?}");
        assert!((effect.p_value() - 0.151).abs() < 0.003, "{}", effect.p_value());
    }

    #[test]
    fn the_inverse_is_the_ratio_the_other_way_round() {
        let effect = Effect::of_figures(100.0, (99.0, 101.0), 120.0, (118.0, 122.0)).unwrap();
        let (low, high) = effect.ci95();
        let (inverse_low, inverse_high) = effect.inverse().ci95();
        assert!((low * inverse_high - 1.0).abs() < 1e-12 && (high * inverse_low - 1.0).abs() < 1e-12);
        assert_eq!(effect.p_value(), effect.inverse().p_value());
    }

    #[test]
    fn what_cannot_be_compared_is_none() {
        assert_eq!(Effect::paired(&[1.0, 2.0], &[1.0, 2.0]), None);
        assert_eq!(Effect::paired(&[1.0; 4], &[1.0; 3]), None);
        assert_eq!(Effect::of_runs(&[1.0, 0.0, 1.0], &[1.0; 3]), None);
        assert_eq!(Effect::of_figures(0.0, (0.0, 0.0), 1.0, (1.0, 1.0)), None);
        assert_eq!(Effect::paired(&[5.0; 4], &[5.0; 4]).unwrap().p_value(), 1.0);
    }

    #[test]
    fn the_spread_from_run_to_run_is_found_and_real_changes_are_not_taken_for_it() {
        let mut random = Random::new(4);
        let mut cell = |level: f64, spread: f64| Effect {
            log_ratio: level + spread * random.normal(),
            error: 0.002,
            freedom: f64::INFINITY,
            by_ranks: None,
        };
        let wandering: Vec<Effect> = (0..40).map(|_| cell(0.0, 0.02)).collect();
        assert!((0.01..0.035).contains(&run_to_run_spread(&wandering)), "{}", run_to_run_spread(&wandering));
        let changed: Vec<Effect> = (0..16).map(|i| cell(if i < 7 { -0.3 } else { 0.0 }, 0.002)).collect();
        assert!(run_to_run_spread(&changed) < 0.004, "{}", run_to_run_spread(&changed));
        let all: Vec<Effect> = (0..16).map(|_| cell(-0.1, 0.002)).collect();
        assert!(run_to_run_spread(&all) < 0.004);
        assert_eq!(run_to_run_spread(&wandering[..7]), 0.0);
    }
}
