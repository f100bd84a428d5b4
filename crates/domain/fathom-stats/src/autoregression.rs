//! Error of the mean of a series with a memory, from an autoregressive model of it.
//!
//! Batch means need batches much longer than the memory. Where a series holds only some ten times its memory, the
//! spectral density at zero frequency of a fitted autoregression tells more (Heidelberger and Welch 1981).

use crate::batch::{batch_means, mean, variance};
use crate::student::t95;

/// Highest order tried.
const ORDER_MAX: usize = 6;
/// Longer series are averaged down to about this many points: more do not sharpen the density at zero.
const POINTS_MAX: usize = 400;
/// A sum of coefficients above this is not distinguished from a random walk by any series seen here.
const SUM_MAX: f64 = 0.985;

/// Half width of the 95 % interval of the mean of `series`.
///
/// Burg's method, order by Akaike's criterion. The sum of the coefficients is corrected for its bias of
/// -(1 + 3 phi) / n (Marriott and Pope 1954). Freedom of Student's t: that of the density of a first-order model by the
/// delta method, n / (1 + 2 (1 + phi) / (1 - phi)), with 1.5 in place of 2, which the coverage tests bear out.
pub(crate) fn half_width(series: &[f64]) -> f64 {
    let (error, freedom) = error_and_freedom(series);
    t95(freedom) * error
}

/// Standard error of the mean of `series`, as in [`half_width`].
pub(crate) fn error_of_mean(series: &[f64]) -> f64 {
    error_and_freedom(series).0
}

fn error_and_freedom(series: &[f64]) -> (f64, f64) {
    let points = batch_means(series, series.len().div_ceil(POINTS_MAX).max(1));
    let n = points.len() as f64;
    let models = burg(&points, (points.len() / 10).clamp(1, ORDER_MAX));
    let criterion = |order: usize| n * models[order].error.max(f64::MIN_POSITIVE).ln() + 2.0 * order as f64;
    let order = (0..models.len()).min_by(|a, b| criterion(*a).total_cmp(&criterion(*b))).unwrap_or(0);
    if order == 0 {
        return ((variance(&points) / n).sqrt(), n - 1.0);
    }
    let sum = models[order].sum;
    let sum = (sum + (1.0 + 3.0 * sum) / n).min(SUM_MAX);
    let error = models[order].error * n / (n - 1.0 - order as f64).max(1.0);
    let freedom = (n / (1.0 + 1.5 * ((1.0 + sum) / (1.0 - sum)).max(0.0))).max(2.0);
    ((error / n).sqrt() / (1.0 - sum), freedom)
}

/// What is needed of a fitted model.
struct Model {
    /// Sum of the coefficients.
    sum: f64,
    /// Variance of what the model leaves unexplained.
    error: f64,
}

/// Models of order 0 to `order_max`, by Burg's recursion (1975), which keeps every one of them stationary.
fn burg(points: &[f64], order_max: usize) -> Vec<Model> {
    let m = mean(points);
    let mut forward: Vec<f64> = points.iter().map(|x| x - m).collect();
    let mut backward = forward.clone();
    let mut error = forward.iter().map(|x| x * x).sum::<f64>() / points.len() as f64;
    let mut models = vec![Model { sum: 0.0, error }];
    let mut coefficients: Vec<f64> = Vec::new();
    for order in 1..=order_max {
        let pairs = || forward[order..].iter().zip(&backward[order - 1..]);
        let (products, squares) = pairs().fold((0.0, 0.0), |(p, s), (f, b)| (p + f * b, s + f * f + b * b));
        // Nothing left to explain but rounding errors.
        if squares <= f64::EPSILON * m * m * points.len() as f64 {
            break;
        }
        let reflection = 2.0 * products / squares;
        let mirrored: Vec<f64> = coefficients.iter().rev().copied().collect();
        coefficients.iter_mut().zip(mirrored).for_each(|(c, r)| *c -= reflection * r);
        coefficients.push(reflection);
        for i in (order..points.len()).rev() {
            let (f, b) = (forward[i], backward[i - 1]);
            forward[i] = f - reflection * b;
            backward[i] = b - reflection * f;
        }
        // Rounding may carry a reflection beyond one.
        error *= (1.0 - reflection * reflection).max(0.0);
        models.push(Model { sum: coefficients.iter().sum(), error });
    }
    models
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Random, ar1};

    #[test]
    fn a_series_that_only_alternates_has_a_finite_interval() {
        for spread in [0.02, 0.1, 0.3] {
            for level in [0.8e-5, 1.0, 9e3] {
                let series: Vec<f64> = (0..12)
                    .map(|i| f64::from((level * (1.0 + if i % 2 == 0 { spread } else { -spread })) as f32))
                    .collect();
                assert!(half_width(&series).is_finite(), "{level} {spread}");
            }
        }
    }

    #[test]
    fn the_memory_of_a_long_series_is_found() {
        for phi in [0.5, 0.9] {
            let models = burg(&ar1(&mut Random::new(1), phi, 20_000), 1);
            assert!((models[1].sum - phi).abs() < 0.02, "{phi}: {}", models[1].sum);
            assert!((models[1].error - (1.0 - phi * phi)).abs() < 0.02, "{phi}: {}", models[1].error);
        }
    }

    #[test]
    fn a_series_without_memory_has_the_plain_error_and_a_constant_one_none() {
        let series = ar1(&mut Random::new(2), 0.0, 300);
        let plain = t95(299.0) * (variance(&series) / 300.0).sqrt();
        assert!((half_width(&series) / plain - 1.0).abs() < 0.2);
        assert_eq!(half_width(&[7.0; 50]), 0.0);
        assert!(half_width(&[0.1; 50]) < 1e-12);
    }
}
