//! Verdicts over one or many cells.

use super::effect::Effect;

/// Differences up to this share either way count as the same, percent.
pub const MARGIN_PCT: f64 = 2.0;
/// Expected share of wrong verdicts among all `Higher` and `Lower`, at most.
pub const FALSE_DISCOVERY_RATE: f64 = 0.05;

/// How a figure stands to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Higher.
    Higher,
    /// Lower.
    Lower,
    /// The same within the margin.
    Same,
    /// The data do not say.
    Inconclusive,
}

/// The verdict on `effect`, whose probability after correction for all cells is `p_adjusted`.
///
/// `Same`: the 95 % interval lies within 1 / (1 + margin) and 1 + margin, whether or not it holds 1. `Higher`, `Lower`:
/// the corrected probability is at most [`FALSE_DISCOVERY_RATE`], and the rank interval, where there is one, agrees.
/// Anything else is `Inconclusive`.
#[must_use]
pub fn relation(effect: &Effect, p_adjusted: f64, margin_pct: f64) -> Relation {
    let margin = 1.0 + margin_pct / 100.0;
    let (low, high) = effect.ci95();
    if low >= 1.0 / margin && high <= margin {
        return Relation::Same;
    }
    let ranks_agree = effect.by_ranks.is_none_or(|(low, high)| low > 1.0 || high < 1.0);
    if p_adjusted > FALSE_DISCOVERY_RATE || !ranks_agree {
        return Relation::Inconclusive;
    }
    if effect.log_ratio > 0.0 { Relation::Higher } else { Relation::Lower }
}

/// Probabilities adjusted for their number (Benjamini and Hochberg 1995), in the order given: rejecting all that are at
/// most q keeps the expected share of false rejections at most q. Values that are not numbers count as 1.
#[must_use]
pub fn adjusted_p_values(p: &[f64]) -> Vec<f64> {
    let value = |i: usize| if p[i].is_nan() { 1.0 } else { p[i] };
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| value(*a).total_cmp(&value(*b)));
    let mut adjusted = vec![1.0; p.len()];
    let mut least = 1.0_f64;
    for (rank, i) in order.iter().enumerate().rev() {
        least = least.min(value(*i) * p.len() as f64 / (rank + 1) as f64);
        adjusted[*i] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn effect(ratio: f64, error: f64) -> Effect {
        Effect { log_ratio: ratio.ln(), error, freedom: f64::INFINITY, by_ranks: None }
    }

    fn alone(effect: &Effect) -> Relation {
        relation(effect, effect.p_value(), MARGIN_PCT)
    }

    #[test]
    fn the_four_verdicts() {
        assert_eq!(alone(&effect(1.05, 0.005)), Relation::Higher);
        assert_eq!(alone(&effect(0.95, 0.005)), Relation::Lower);
        assert_eq!(alone(&effect(1.005, 0.001)), Relation::Same, "significant, and within the margin");
        assert_eq!(alone(&effect(1.005, 0.05)), Relation::Inconclusive);
    }

    #[test]
    fn ranks_that_disagree_make_it_inconclusive() {
        let wild = Effect { by_ranks: Some((0.99, 1.3)), ..effect(1.2, 0.01) };
        assert_eq!(alone(&wild), Relation::Inconclusive);
        assert_eq!(alone(&Effect { by_ranks: Some((1.1, 1.3)), ..wild }), Relation::Higher);
    }

    #[test]
    fn adjusted_values_are_those_of_the_paper() {
        // The 15 values of Benjamini and Hochberg's example: four are rejected at 0.05.
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528,
            0.7590, 1.0,
        ];
        let adjusted = adjusted_p_values(&p);
        assert_eq!(adjusted.iter().filter(|p| **p <= 0.05).count(), 4);
        assert!((adjusted[0] - 0.0015).abs() < 1e-12 && (adjusted[3] - 0.035_625).abs() < 1e-9, "{adjusted:?}");
        assert_eq!(adjusted_p_values(&[]), Vec::<f64>::new());
        assert_eq!(adjusted_p_values(&[f64::NAN, 0.01]), vec![1.0, 0.02]);
    }

    proptest! {
        #[test]
        fn rejections_are_those_of_the_step_up_rule(p in prop::collection::vec(0.0_f64..1.0, 1..40), q in 0.01_f64..0.3) {
            let mut sorted = p.clone();
            sorted.sort_by(f64::total_cmp);
            let passing = (1..=p.len()).filter(|k| sorted[k - 1] <= *k as f64 / p.len() as f64 * q);
            let limit = passing.max().map_or(-1.0, |k| sorted[k - 1]);
            for (p, adjusted) in p.iter().zip(adjusted_p_values(&p)) {
                // Equality within rounding is not decided by either.
                prop_assume!((adjusted - q).abs() > 1e-12);
                prop_assert_eq!(*p <= limit, adjusted <= q);
            }
        }
    }
}
