//! Slow change of a series, by a line that wild points do not move.

use crate::batch::{Batches, batch_means, mean};
use crate::compare::median_of_sorted;

/// Drift over a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// Change per point of the series, in its own unit.
    pub per_point: f64,
    /// 95 % interval; `None` with fewer than ten points.
    pub ci95: Option<(f64, f64)>,
}

/// Theil-Sen slope (median of the slopes between all pairs) with Sen's interval (1968), over batch means.
///
/// The interval assumes independent points, so it is taken over batches as long as the correlation of the series
/// around its line needs; that also bounds the work. `None` for fewer than two points.
#[must_use]
pub fn theil_sen_drift(series: &[f64]) -> Option<Drift> {
    if series.len() < 2 {
        return None;
    }
    let length = Batches::of(&residuals(series)).length;
    let means = batch_means(series, length);
    let mut slopes = Vec::with_capacity(means.len() * (means.len() - 1) / 2);
    for (i, from) in means.iter().enumerate() {
        for (gap, to) in means[i + 1..].iter().enumerate() {
            slopes.push((to - from) / ((gap + 1) * length) as f64);
        }
    }
    slopes.sort_unstable_by(f64::total_cmp);
    let ci95 = (means.len() >= crate::POINTS_MIN).then(|| {
        let n = means.len() as f64;
        // Half width in ranks: spread of Kendall's S under no trend.
        let half = 1.959_964 * (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt() / 2.0;
        let middle = slopes.len() as f64 / 2.0;
        let low = (middle - half).floor().max(0.0) as usize;
        let high = ((middle + half).ceil() as usize).min(slopes.len() - 1);
        (slopes[low], slopes[high])
    });
    Some(Drift { per_point: median_of_sorted(&slopes), ci95 })
}

/// The series minus its least-squares line.
pub(crate) fn residuals(series: &[f64]) -> Vec<f64> {
    let slope = least_squares_slope(series);
    let (centre, middle) = (mean(series), (series.len() as f64 - 1.0) / 2.0);
    series.iter().enumerate().map(|(i, y)| y - centre - slope * (i as f64 - middle)).collect()
}

/// Slope per point of the least-squares line; 0 for fewer than two points.
pub(crate) fn least_squares_slope(series: &[f64]) -> f64 {
    if series.len() < 2 {
        return 0.0;
    }
    let (centre, middle) = (mean(series), (series.len() as f64 - 1.0) / 2.0);
    let deviations = series.iter().enumerate().map(|(i, y)| (i as f64 - middle, y - centre));
    let (products, squares) = deviations.fold((0.0, 0.0), |(p, s), (x, y)| (p + x * y, s + x * x));
    products / squares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Random, ar1};

    #[test]
    fn a_straight_line_has_its_own_slope() {
        let line: Vec<f64> = (0..100).map(|i| 5.0 - 0.25 * f64::from(i)).collect();
        let drift = theil_sen_drift(&line).unwrap();
        assert!((drift.per_point + 0.25).abs() < 1e-9);
        let (low, high) = drift.ci95.unwrap();
        assert!((low + 0.25).abs() < 1e-9 && (high + 0.25).abs() < 1e-9);
        assert!((least_squares_slope(&line) + 0.25).abs() < 1e-9);
    }

    #[test]
    fn wild_points_do_not_tilt_it() {
        let mut flat = vec![100.0; 60];
        flat[55..58].fill(5.0);
        assert_eq!(theil_sen_drift(&flat).unwrap().per_point, 0.0);
        assert!(least_squares_slope(&flat) < -0.1);
    }

    #[test]
    fn short_series_have_no_interval() {
        assert_eq!(theil_sen_drift(&[1.0]), None);
        assert_eq!(theil_sen_drift(&[1.0, 2.0]).unwrap(), Drift { per_point: 1.0, ci95: None });
    }

    #[test]
    fn its_interval_covers_the_true_drift_of_correlated_series() {
        for phi in [0.0, 0.5, 0.8] {
            let covered = (0..500_u64)
                .filter(|seed| {
                    let noise = ar1(&mut Random::new(*seed), phi, 300);
                    let series: Vec<f64> = noise.iter().enumerate().map(|(i, x)| 0.02 * i as f64 + x).collect();
                    let (low, high) = theil_sen_drift(&series).unwrap().ci95.unwrap();
                    (low..=high).contains(&0.02)
                })
                .count();
            assert!((445..=495).contains(&covered), "phi {phi}: {covered} of 500");
        }
    }
}
