//! Ratio of two systems measured in pairs.

use fathom_message::{Message, Say, msg, say_error};

use crate::batch::{mean, variance};
use crate::student::t95;

/// Fewest pairs with an interval: with five, the signed-rank interval cannot reach 95 %.
pub const PAIRS_MIN: usize = 6;

/// The ratio a / b from pairs, two ways. The pair is the unit: interleave A and B so that drift cancels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioEstimate {
    /// Geometric mean of the ratios.
    pub ratio: f64,
    /// Its 95 % interval: Student's t on the logarithms.
    pub ci95: (f64, f64),
    /// Hodges-Lehmann median of the ratios: as good, and not moved by a few wild pairs.
    pub median_ratio: f64,
    /// Its 95 % interval, from the exact distribution of Wilcoxon's signed-rank statistic.
    pub median_ci95: (f64, f64),
    /// Pairs.
    pub pairs: usize,
}

/// Why two lists have no ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareError {
    /// The lists are not pairs.
    Unpaired {
        /// Length of the first list.
        a: usize,
        /// Length of the second.
        b: usize,
    },
    /// Too few pairs.
    TooFew {
        /// Pairs given.
        pairs: usize,
    },
    /// A figure that has no logarithm.
    NotPositive {
        /// Which pair.
        pair: usize,
    },
}

impl Say for CompareError {
    fn message(&self) -> Message {
        match *self {
            CompareError::Unpaired { a, b } => msg!("stats-unpaired", a = a, b = b),
            CompareError::TooFew { pairs } => msg!("stats-too-few-pairs", pairs = pairs),
            CompareError::NotPositive { pair } => msg!("stats-not-positive", pair = pair + 1),
        }
    }

    fn help(&self) -> Option<Message> {
        Some(match self {
            CompareError::Unpaired { .. } => msg!("stats-unpaired-help"),
            CompareError::TooFew { .. } => msg!("stats-too-few-pairs-help", least = PAIRS_MIN),
            CompareError::NotPositive { .. } => msg!("stats-not-positive-help"),
        })
    }
}

say_error!(CompareError);

/// Ratio of paired figures, a / b, with 95 % intervals, on the logarithmic scale.
///
/// Hodges and Lehmann 1963; Hollander and Wolfe, Nonparametric Statistical Methods, 3.3.
///
/// # Errors
/// When the lists differ in length, are shorter than [`PAIRS_MIN`], or hold a figure that is not positive and finite.
pub fn ratio_ci(a: &[f64], b: &[f64]) -> Result<RatioEstimate, CompareError> {
    if a.len() != b.len() {
        return Err(CompareError::Unpaired { a: a.len(), b: b.len() });
    }
    let pairs = a.len();
    if pairs < PAIRS_MIN {
        return Err(CompareError::TooFew { pairs });
    }
    let usable = |x: f64| x > 0.0 && x.is_finite();
    if let Some(pair) = a.iter().zip(b).position(|(x, y)| !usable(*x) || !usable(*y)) {
        return Err(CompareError::NotPositive { pair });
    }
    let logs: Vec<f64> = a.iter().zip(b).map(|(x, y)| x.ln() - y.ln()).collect();
    let centre = mean(&logs);
    let half = t95(pairs as f64 - 1.0) * (variance(&logs) / pairs as f64).sqrt();
    let walsh = walsh_averages(&logs);
    let rank = signed_rank_critical(pairs);
    Ok(RatioEstimate {
        ratio: centre.exp(),
        ci95: ((centre - half).exp(), (centre + half).exp()),
        median_ratio: median_of_sorted(&walsh).exp(),
        median_ci95: (walsh[rank].exp(), walsh[walsh.len() - 1 - rank].exp()),
        pairs,
    })
}

/// Means of all pairs of values, each with itself too, ascending.
fn walsh_averages(values: &[f64]) -> Vec<f64> {
    let mut all: Vec<f64> =
        values.iter().enumerate().flat_map(|(i, x)| values[i..].iter().map(move |y| (x + y) / 2.0)).collect();
    all.sort_unstable_by(f64::total_cmp);
    all
}

pub(crate) fn median_of_sorted(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
}

/// Largest k with P(W < k) <= 2.5 % for the signed-rank statistic W of n pairs: that many Walsh averages are cut off
/// at each end.
fn signed_rank_critical(n: usize) -> usize {
    // P(W = w) by adding one rank after the other, each with either sign.
    let mut probability = vec![1.0_f64];
    for rank in 1..=n {
        let mut next = vec![0.0; probability.len() + rank];
        for (w, p) in probability.iter().enumerate() {
            next[w] += p / 2.0;
            next[w + rank] += p / 2.0;
        }
        probability = next;
    }
    let mut below = 0.0;
    let beyond = probability.iter().take_while(|p| {
        below += **p;
        below <= 0.025
    });
    beyond.count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    #[test]
    fn critical_ranks_are_those_of_the_tables() {
        // Wilcoxon's two-sided 5 % table gives the largest rejected W: 0 for 6, 2 for 7, 8 for 10, 52 for 20.
        for (n, rejected) in [(6, 0), (7, 2), (10, 8), (20, 52)] {
            assert_eq!(signed_rank_critical(n), rejected + 1, "{n}");
        }
    }

    #[test]
    fn a_constant_ratio_is_found_exactly() {
        let b: Vec<f64> = (1..=10).map(f64::from).collect();
        let a: Vec<f64> = b.iter().map(|x| x * 1.25).collect();
        let r = ratio_ci(&a, &b).unwrap();
        for figure in [r.ratio, r.ci95.0, r.ci95.1, r.median_ratio, r.median_ci95.0, r.median_ci95.1] {
            assert!((figure - 1.25).abs() < 1e-9, "{r:?}");
        }
    }

    #[test]
    fn a_wild_pair_does_not_move_the_median() {
        let b = [100.0; 12];
        let mut a = [102.0, 101.5, 102.5, 102.0, 101.8, 102.2, 102.1, 101.9, 102.3, 101.7, 102.0, 102.0];
        a[3] = 10.0;
        let r = ratio_ci(&a, &b).unwrap();
        assert!((r.median_ratio - 1.02).abs() < 0.002, "{r:?}");
        assert!(r.median_ci95.0 > 1.0 && r.median_ci95.1 < 1.03, "{r:?}");
        assert!(r.ratio < 0.9, "{r:?}");
    }

    #[test]
    fn what_cannot_be_compared_is_refused_with_its_reason() {
        assert_eq!(ratio_ci(&[1.0; 7], &[1.0; 6]), Err(CompareError::Unpaired { a: 7, b: 6 }));
        assert_eq!(ratio_ci(&[1.0; 5], &[1.0; 5]), Err(CompareError::TooFew { pairs: 5 }));
        let mut a = [1.0; 8];
        a[4] = 0.0;
        assert_eq!(ratio_ci(&a, &[1.0; 8]), Err(CompareError::NotPositive { pair: 4 }));
        assert_eq!(ratio_ci(&[f64::INFINITY; 8], &[1.0; 8]), Err(CompareError::NotPositive { pair: 0 }));
    }

    #[test]
    fn both_intervals_cover_the_true_ratio() {
        let (mut by_mean, mut by_median) = (0, 0);
        for seed in 0..1000 {
            let mut random = Random::new(seed);
            // Pairs share a wandering level; only their own noise remains in the ratio.
            let pair = |r: &mut Random| {
                let level = (0.3 * r.normal()).exp();
                (1.03 * level * (0.02 * r.normal()).exp(), level * (0.02 * r.normal()).exp())
            };
            let (a, b): (Vec<f64>, Vec<f64>) = (0..12).map(|_| pair(&mut random)).unzip();
            let r = ratio_ci(&a, &b).unwrap();
            by_mean += usize::from((r.ci95.0..=r.ci95.1).contains(&1.03));
            by_median += usize::from((r.median_ci95.0..=r.median_ci95.1).contains(&1.03));
        }
        assert!((925..=975).contains(&by_mean), "{by_mean}");
        assert!((925..=980).contains(&by_median), "{by_median}");
    }
}
