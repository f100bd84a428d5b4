//! How far runs of the same lie apart: one run is one draw, and its own interval does not hold what the next run changes.

use super::effect::{Effect, Z95};
use crate::batch::{mean, variance};
use crate::student::t95;

/// A figure of one run of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunFigure {
    /// Natural logarithm of it.
    pub log: f64,
    /// Standard error within the run, as a share; 0 where the run does not tell it.
    pub error: f64,
}

impl RunFigure {
    /// From the repeats of one load within a run, each with its 95 % interval where it has one; `None` without repeats,
    /// or when one is not positive.
    #[must_use]
    pub fn of(repeats: &[(f64, Option<(f64, f64)>)]) -> Option<RunFigure> {
        if repeats.is_empty() || repeats.iter().any(|(value, _)| !(*value > 0.0 && value.is_finite())) {
            return None;
        }
        let n = repeats.len() as f64;
        let share = |(value, ci95): &(f64, Option<(f64, f64)>)| {
            ci95.map_or(0.0, |(low, high)| ((high - low) / 2.0 / value / Z95).max(0.0))
        };
        let logs: Vec<f64> = repeats.iter().map(|(value, _)| value.ln()).collect();
        Some(RunFigure { log: mean(&logs), error: repeats.iter().map(|r| share(r).powi(2)).sum::<f64>().sqrt() / n })
    }
}

/// The spread from run to run of one kind of load on one host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunSpread {
    /// Standard deviation of the logarithm of a run's figure, between runs; holds what varies within a run, too.
    pub deviation: f64,
    /// Degrees of freedom of it.
    pub freedom: f64,
    /// Standard error within a run that these runs had, root mean square.
    pub error: f64,
}

impl RunSpread {
    /// From groups of runs of the same; each group has its cells, each cell the figures of the runs that measured it.
    /// `None` without two runs of one cell.
    ///
    /// The variances of the cells are pooled. Cells of a run may rise and fall together, so a group has as many degrees
    /// of freedom as one of its cells, however many there are.
    #[must_use]
    pub fn of(groups: &[Vec<Vec<RunFigure>>]) -> Option<RunSpread> {
        let (mut squares, mut divisor, mut freedom) = (0.0, 0.0, 0.0);
        let mut errors = Vec::new();
        for cells in groups {
            for cell in cells.iter().filter(|cell| cell.len() > 1) {
                let logs: Vec<f64> = cell.iter().map(|run| run.log).collect();
                let of_cell = (logs.len() - 1) as f64;
                squares += variance(&logs) * of_cell;
                divisor += of_cell;
                errors.extend(cell.iter().map(|run| run.error.powi(2)));
            }
            freedom += cells.iter().map(|cell| cell.len().saturating_sub(1)).max().unwrap_or(0) as f64;
        }
        (divisor > 0.0).then(|| RunSpread {
            deviation: (squares / divisor).sqrt(),
            freedom,
            error: mean(&errors).sqrt(),
        })
    }

    /// Variance of the mean of runs of this kind: the spread from run to run, and what the own errors of these runs
    /// exceed those of the runs that it was learnt from; never below their own errors.
    fn variance_of_mean(&self, runs: &[RunFigure]) -> f64 {
        let of_run = |run: &RunFigure| {
            let excess = (run.error.powi(2) - self.error.powi(2)).max(0.0);
            (self.deviation.powi(2) + excess).max(run.error.powi(2))
        };
        runs.iter().map(of_run).sum::<f64>() / (runs.len() as f64).powi(2)
    }
}

impl Effect {
    /// From runs of each side and the spread from run to run known for each; `same_spread`: both are the same estimate.
    /// `None` when a side has no run.
    #[must_use]
    pub fn of_known_spread(
        (a, spread_a): (&[RunFigure], &RunSpread),
        (b, spread_b): (&[RunFigure], &RunSpread),
        same_spread: bool,
    ) -> Option<Effect> {
        if a.is_empty() || b.is_empty() {
            return None;
        }
        let (of_a, of_b) = (spread_a.variance_of_mean(a), spread_b.variance_of_mean(b));
        let total = of_a + of_b;
        let spread = of_a.powi(2) / spread_a.freedom + of_b.powi(2) / spread_b.freedom;
        // Two estimates: Welch and Satterthwaite. One: it is wrong on both sides alike.
        let freedom = match same_spread || spread <= 0.0 {
            true => spread_a.freedom.min(spread_b.freedom),
            false => total.powi(2) / spread,
        };
        let centre = |runs: &[RunFigure]| runs.iter().map(|run| run.log).sum::<f64>() / runs.len() as f64;
        Some(Effect { log_ratio: centre(b) - centre(a), error: total.sqrt(), freedom, by_ranks: None })
    }

    /// From three or more runs of each side, by their own spread ([`Effect::of_runs`]), which chance may make too small:
    /// never below what the runs vary within themselves.
    #[must_use]
    pub fn of_own_spread(a: &[RunFigure], b: &[RunFigure]) -> Option<Effect> {
        let values = |runs: &[RunFigure]| runs.iter().map(|run| run.log.exp()).collect::<Vec<f64>>();
        let within =
            |runs: &[RunFigure]| runs.iter().map(|run| run.error.powi(2)).sum::<f64>() / (runs.len() as f64).powi(2);
        let effect = Effect::of_runs(&values(a), &values(b))?;
        Some(Effect { error: effect.error.max((within(a) + within(b)).sqrt()), ..effect })
    }
}

/// By how much the half widths of figures grow because the repeats of each side lie further apart than their own 95 %
/// intervals allow; each side is its repeats as value and half width. At least 1.
///
/// Birge's ratio (R. T. Birge, Phys. Rev. 40, 1932; the scale factor of the Particle Data Group) over both sides, times
/// Student's t over the normal quantile: few repeats tell their spread badly, two sides of two repeats by 4.30 / 1.96.
#[must_use]
pub fn birge_scale(sides: &[Vec<(f64, f64)>]) -> f64 {
    // A figure that did not vary at all has no width to measure its distance in.
    if sides.iter().flatten().any(|(_, half)| *half <= 0.0) {
        return 1.0;
    }
    let (mut chi_square, mut freedom) = (0.0, 0.0);
    for side in sides.iter().filter(|side| side.len() > 1) {
        let values: Vec<f64> = side.iter().map(|(value, _)| *value).collect();
        let centre = mean(&values);
        chi_square += side.iter().map(|(value, half)| ((value - centre) / half * Z95).powi(2)).sum::<f64>();
        freedom += (side.len() - 1) as f64;
    }
    if freedom == 0.0 { 1.0 } else { ((chi_square / freedom).sqrt() * t95(freedom) / Z95).max(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(figures: &[f64], half_share: f64) -> Vec<RunFigure> {
        let of = |f: &f64| RunFigure::of(&[(*f, Some((f * (1.0 - half_share), f * (1.0 + half_share))))]).unwrap();
        figures.iter().map(of).collect()
    }

    #[test]
    fn repeats_of_a_run_are_one_figure_with_a_smaller_error() {
        let one = RunFigure::of(&[(100.0, Some((98.0, 102.0)))]).unwrap();
        let four = RunFigure::of(&[(100.0, Some((98.0, 102.0))); 4]).unwrap();
        assert!((one.error - 0.02 / Z95).abs() < 1e-12 && (four.error - one.error / 2.0).abs() < 1e-12);
        assert_eq!(RunFigure::of(&[]), None);
        assert_eq!(RunFigure::of(&[(0.0, None)]), None);
    }

    #[test]
    fn cells_of_the_same_runs_add_no_freedom_and_groups_do() {
        let cell = runs(&[100.0, 102.0, 98.0], 0.001);
        let one = RunSpread::of(&[vec![cell.clone()]]).unwrap();
        assert!((one.deviation - 0.02).abs() < 1e-4 && one.freedom == 2.0, "{one:?}");
        let many = RunSpread::of(&[vec![cell.clone(); 8]]).unwrap();
        assert_eq!((many.freedom, (many.deviation - one.deviation).abs() < 1e-12), (2.0, true));
        // A group at another level adds its freedom and not its level.
        let groups = RunSpread::of(&[vec![cell], vec![runs(&[500.0, 510.0, 490.0], 0.001)]]).unwrap();
        assert_eq!((groups.freedom, (groups.deviation - one.deviation).abs() < 1e-4), (4.0, true));
        assert_eq!(RunSpread::of(&[vec![runs(&[100.0], 0.001)]]), None);
    }

    #[test]
    fn a_known_spread_widens_the_interval_by_students_t() {
        // Three runs 2 % apart: one run a side is known to 4.30 * 2 % * sqrt(2) = 12.2 %.
        let spread = RunSpread::of(&[vec![runs(&[100.0, 102.0, 98.0], 0.001)]]).unwrap();
        let (a, b) = (runs(&[100.0], 0.001), runs(&[108.0], 0.001));
        let effect = Effect::of_known_spread((&a, &spread), (&b, &spread), true).unwrap();
        let (low, high) = effect.ci95();
        assert!((high.ln() - low.ln() - 2.0 * 0.1217).abs() < 0.001, "{low} {high}");
        // A run that is itself known badly is not made better by the others.
        let rough = runs(&[108.0], 0.2);
        assert!(Effect::of_known_spread((&a, &spread), (&rough, &spread), true).unwrap().error > 0.1);
        // Two estimates have more freedom than either.
        let two = Effect::of_known_spread((&a, &spread), (&b, &spread), false).unwrap();
        assert!((two.freedom - 4.0).abs() < 1e-9, "{two:?}");
    }

    #[test]
    fn runs_that_agree_by_chance_are_not_known_better_than_each_is_within() {
        let (a, b) = (runs(&[100.0; 3], 0.02), runs(&[100.5; 3], 0.02));
        assert!(Effect::of_own_spread(&a, &b).unwrap().p_value() > 0.5);
        assert_eq!(Effect::of_own_spread(&a[..2], &b), None);
    }

    #[test]
    fn repeats_further_apart_than_their_intervals_allow_widen_by_students_t() {
        assert_eq!(birge_scale(&[vec![(100.0, 2.0)], vec![(150.0, 2.0)]]), 1.0, "one has nothing to disagree with");
        // 2 % apart at +-2 %: Birge's ratio 1.386; one degree of freedom has t = 12.7, two have 4.30.
        let apart = vec![(99.0, 2.0), (101.0, 2.0)];
        assert!((birge_scale(std::slice::from_ref(&apart)) - 1.386 * 12.706 / 1.96).abs() < 0.01);
        assert!((birge_scale(&[apart.clone(), apart]) - 1.386 * 4.303 / 1.96).abs() < 0.01);
        assert_eq!(birge_scale(&[vec![(99.99, 2.0), (100.01, 2.0)]]), 1.0, "never narrower");
        assert_eq!(birge_scale(&[vec![(95.0, 0.0), (105.0, 0.0)]]), 1.0);
    }
}
