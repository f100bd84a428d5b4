//! The most that several steps give: their common level, not the luckiest of them.

use crate::student::t_two_sided;

/// How far steps of one plateau lie apart beside their own intervals, relative standard deviation, and how many steps that
/// is worth: two or three steps alone say little of their spread.
const USUAL_SPREAD: (f64, f64) = (0.02, 4.0);
/// Half widths of a 95 % interval in standard errors.
const HALF_WIDTH_ERRORS: f64 = 1.96;

/// The level that several steps reach.
#[derive(Clone, Debug, PartialEq)]
pub struct Plateau {
    /// Which of the steps are on it, in their order.
    pub members: Vec<usize>,
    /// The level.
    pub value: f64,
    /// Its 95 % interval. It holds although the steps were chosen by what they gave.
    pub ci95: (f64, f64),
}

/// The plateau of steps, each a positive figure and its 95 % interval; `None` of none.
///
/// On it are the greatest step and all that it does not exceed by more than both intervals and the usual spread of steps
/// allow: left out for an unlucky draw, the others would be lucky ones. Their level is the mean of the
/// logarithms, with the spread between them pooled with the usual one and Student's t of the pooled freedom. A step that
/// stands alone above the others is the greatest of all that were tried: its interval is Bonferroni's for so many.
#[must_use]
pub fn plateau(steps: &[(f64, (f64, f64))]) -> Option<Plateau> {
    let (usual, worth) = USUAL_SPREAD;
    let error = |i: &usize| (steps[*i].1.1 - steps[*i].1.0) / 2.0 / HALF_WIDTH_ERRORS / steps[*i].0;
    let best = (0..steps.len()).max_by(|a, b| steps[*a].0.total_cmp(&steps[*b].0))?;
    let is_member = |i: &usize| {
        let apart = (error(&best).powi(2) + error(i).powi(2) + 2.0 * usual * usual).sqrt();
        *i == best || (steps[*i].0 > 0.0 && (steps[best].0 / steps[*i].0).ln() <= HALF_WIDTH_ERRORS * apart)
    };
    let members: Vec<usize> = (0..steps.len()).filter(is_member).collect();
    let n = members.len() as f64;
    let own = members.iter().map(|i| error(i).powi(2)).sum::<f64>() / n;
    let level = members.iter().map(|i| steps[*i].0.ln()).sum::<f64>() / n;
    let between: f64 = members.iter().map(|i| (steps[*i].0.ln() - level).powi(2)).sum();
    let freedom = worth + n - 1.0;
    let spread = (worth * usual * usual + between) / freedom;
    let tried = if members.len() == 1 { steps.len() as f64 } else { 1.0 };
    let half = t_two_sided(freedom, 0.05 / tried) * ((own + spread) / n).sqrt();
    let value = level.exp();
    Some(Plateau { members, value, ci95: (value * (-half).exp(), value * half.exp()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    fn step(value: f64, relative_half_width: f64) -> (f64, (f64, f64)) {
        (value, (value * (1.0 - relative_half_width), value * (1.0 + relative_half_width)))
    }

    #[test]
    fn steps_of_one_level_are_pooled_and_lower_ones_left_out() {
        let found =
            plateau(&[step(10e3, 0.01), step(99e3, 0.01), step(101e3, 0.01), step(100e3, 0.01)]).expect("steps");
        assert_eq!(found.members, [1, 2, 3]);
        assert!((found.value / 100e3 - 1.0).abs() < 0.001 && found.ci95.0 < 99e3 && found.ci95.1 > 101e3, "{found:?}");
        assert_eq!(plateau(&[]), None);
    }

    #[test]
    fn the_greatest_of_many_has_a_wider_interval_than_one_alone() {
        let width = |steps: &[(f64, (f64, f64))]| plateau(steps).map(|p| p.ci95.1 / p.ci95.0).expect("steps");
        let rising: Vec<_> = (0..8).map(|i| step(f64::from(1 << i), 0.01)).collect();
        assert!(width(&rising) > width(&[step(128.0, 0.01)]));
    }

    /// Ladders that rise to a plateau of one to five steps, whose steps differ by more than their intervals say: the level is
    /// covered as often as is said, whichever steps were lucky.
    #[test]
    fn the_interval_holds_although_the_steps_were_chosen_by_what_they_gave() {
        let mut random = Random::new(7);
        for wobble in [0.002, 0.01, 0.02] {
            for on_plateau in 1..=5_usize {
                let covered = (0..2000)
                    .filter(|_| {
                        let rising = [0.2, 0.4, 0.7].into_iter();
                        let levels = rising.chain(std::iter::repeat_n(1.0, on_plateau));
                        let error = 0.005;
                        let steps: Vec<_> = levels
                            .map(|level| {
                                step(level * (random.normal() * f64::hypot(wobble, error)).exp(), 1.96 * error)
                            })
                            .collect();
                        let (low, high) = plateau(&steps).expect("steps").ci95;
                        low <= 1.0 && 1.0 <= high
                    })
                    .count();
                assert!(covered >= 1800, "wobble {wobble}, {on_plateau} steps: {covered} of 2000");
            }
        }
    }
}
