//! Error of the mean of a series whose memory is not known.
//!
//! In a short series the memory is known as badly as the mean. Putting one estimated memory into a formula makes the
//! interval too short whenever the estimate is too small; so all memories are kept, each with its probability.

use crate::batch::{batch_means, mean};
use crate::student::t_cdf;

/// Memories considered: first-order autoregressions at even steps of the inverse hyperbolic tangent of the coefficient,
/// which are even factors of the time they remember.
const MEMORIES: usize = 16;
/// Longest memory considered.
const COEFFICIENT_MAX: f64 = 0.98;
/// How much more likely a longer memory is taken to be beforehand, per unit of that tangent. Chosen by the coverage at
/// the longest memory and the fewest points (docs/COVERAGE.md).
const LEAN_TO_LONG: f64 = 0.2;
/// Longer series are averaged down to at most this many points.
const POINTS_MAX: usize = 300;
/// Memories less likely than this do not move the interval.
const WEIGHT_MIN: f64 = 1e-6;

/// What is known of the mean if the memory is this one: Student's t around `mean`.
struct Case {
    weight: f64,
    mean: f64,
    scale: f64,
}

/// Half width around the arithmetic mean that holds 95 % of the probability of the true mean.
///
/// Bayes' rule for a stationary Gaussian autoregression of first order (Zellner 1971, ch. 7) with flat priors for the
/// mean and the logarithm of the spread; the memory is summed out over a grid. 0 for a constant series.
pub(crate) fn half_width(series: &[f64]) -> f64 {
    let points = batch_means(series, series.len().div_ceil(POINTS_MAX).max(1));
    let centre = mean(&points);
    let total: f64 = points.iter().map(|x| (x - centre).powi(2)).sum();
    if points.len() < 2 || total <= f64::EPSILON * centre * centre * points.len() as f64 {
        return 0.0;
    }
    let freedom = points.len() as f64 - 1.0;
    let cases = cases(&points);
    let inside = |half: f64| -> f64 {
        let of = |case: &Case| {
            let at = |x: f64| t_cdf((x - case.mean) / case.scale, freedom);
            case.weight * (at(centre + half) - at(centre - half))
        };
        cases.iter().map(of).sum()
    };
    let mut high = 3.0 * cases.iter().map(|c| c.scale).fold(0.0, f64::max);
    while inside(high) < 0.95 && high.is_finite() {
        high *= 2.0;
    }
    let mut low = 0.0;
    for _ in 0..24 {
        let middle = f64::midpoint(low, high);
        if inside(middle) < 0.95 { low = middle } else { high = middle }
    }
    high
}

fn cases(points: &[f64]) -> Vec<Case> {
    let n = points.len() as f64;
    let case = |i: usize| {
        let tangent = COEFFICIENT_MAX.atanh() * i as f64 / (MEMORIES - 1) as f64;
        let phi = tangent.tanh();
        let first = 1.0 - phi * phi;
        // Generalised least squares: the first point, and what each next one has beyond its memory.
        let information = first + (n - 1.0) * (1.0 - phi).powi(2);
        let steps: f64 = points.windows(2).map(|pair| pair[1] - phi * pair[0]).sum();
        let mean = (first * points[0] + (1.0 - phi) * steps) / information;
        let left: f64 = points.windows(2).map(|pair| (pair[1] - mean - phi * (pair[0] - mean)).powi(2)).sum();
        let left = (first * (points[0] - mean).powi(2) + left).max(f64::MIN_POSITIVE);
        let likelihood = 0.5 * (first.ln() - information.ln()) - (n - 1.0) / 2.0 * left.ln();
        (
            likelihood + LEAN_TO_LONG * tangent,
            Case { weight: 0.0, mean, scale: (left / (n - 1.0) / information).sqrt() },
        )
    };
    let all: Vec<(f64, Case)> = (0..MEMORIES).map(case).collect();
    let most = all.iter().map(|(log, _)| *log).fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = all.iter().map(|(log, _)| (log - most).exp()).sum();
    let weighed = all.into_iter().map(|(log, case)| Case { weight: (log - most).exp() / total, ..case });
    weighed.filter(|case| case.weight >= WEIGHT_MIN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::variance;
    use crate::student::t95;
    use crate::testing::{Random, ar1};

    #[test]
    fn a_long_series_without_memory_has_about_the_plain_width() {
        let ratio = |points: usize| {
            let widths = (0..20).map(|seed| {
                let series = ar1(&mut Random::new(seed), 0.0, points);
                half_width(&series) / (t95(points as f64 - 1.0) * (variance(&series) / points as f64).sqrt())
            });
            widths.sum::<f64>() / 20.0
        };
        assert!((1.0..1.3).contains(&ratio(300)), "{}", ratio(300));
        assert!(ratio(10) > 2.0, "ten points do not tell a memory from none: {}", ratio(10));
    }

    #[test]
    fn a_constant_series_has_no_width_and_an_alternating_one_a_finite_one() {
        assert_eq!(half_width(&[0.1; 50]), 0.0);
        assert_eq!(half_width(&[3.0]), 0.0);
        let alternating: Vec<f64> = (0..12).map(|i| if i % 2 == 0 { 9.0e3 } else { 1.1e4 }).collect();
        assert!(half_width(&alternating).is_finite() && half_width(&alternating) > 0.0);
    }
}
