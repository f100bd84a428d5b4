//! Means of correlated series: batch means.

use crate::autoregression;
use crate::student::t95;

/// Most batches: more would leave them short and correlated.
const BATCHES_MAX: usize = 30;
/// Least batches when batches grow because they are correlated.
const BATCHES_MIN: usize = 10;
/// Batches grow until the correlation of neighbours is below this (von Neumann's test).
const LAG1_MAX: f64 = 0.2;

/// A series cut into batches of equal length, oldest leftover points left out.
#[derive(Clone, Debug)]
pub(crate) struct Batches {
    pub(crate) length: usize,
    pub(crate) means: Vec<f64>,
    pub(crate) lag1: f64,
}

impl Batches {
    /// Batches of `series` as long as their independence needs.
    pub(crate) fn of(series: &[f64]) -> Batches {
        let mut length = series.len().div_ceil(BATCHES_MAX).max(1);
        loop {
            let means = batch_means(series, length);
            let lag1 = lag1_correlation(&means);
            let longer = (length + 1).max(length * 5 / 4);
            if lag1 < LAG1_MAX || series.len() / longer < BATCHES_MIN {
                return Batches { length, means, lag1 };
            }
            length = longer;
        }
    }

    /// Variance of the mean of all batches, with what correlation is left between neighbours.
    ///
    /// The factor (1 + r) / (1 - r) is that of a first-order autoregression, as in Skart (Tafazzoli, Wilson, Lada and
    /// Steiger 2011). Negative correlation is not used to narrow the interval.
    pub(crate) fn variance_of_mean(&self) -> f64 {
        let left = self.lag1.clamp(0.0, 0.9);
        variance(&self.means) / self.means.len() as f64 * (1.0 + left) / (1.0 - left)
    }

    /// Half width of the 95 % interval of the mean.
    pub(crate) fn half_width(&self) -> f64 {
        t95(self.means.len() as f64 - 1.0) * self.variance_of_mean().sqrt()
    }
}

/// Mean of a few rounds, each long enough to be independent of the others, with its 95 % interval by Student's t;
/// `None` for no round. One round has no interval.
#[must_use]
pub fn mean_of_rounds(rounds: &[f64]) -> Option<(f64, Option<(f64, f64)>)> {
    let n = rounds.len() as f64;
    let value = (!rounds.is_empty()).then(|| mean(rounds))?;
    let half = (rounds.len() > 1).then(|| t95(n - 1.0) * (variance(rounds) / n).sqrt());
    Some((value, half.map(|half| (value - half, value + half))))
}

/// Half width of the 95 % interval of the mean of `series`, whose batches are `batches`.
pub(crate) fn half_width(batches: &Batches, series: &[f64]) -> f64 {
    // Taking the larger of two estimates of one width is too much on average; a real difference shows beyond their
    // own spread of about 13 % (that of a deviation from 30 batches).
    const CLEARLY_LARGER: f64 = 1.15;
    let (by_batches, by_model) = (batches.half_width(), autoregression::half_width(series));
    if by_batches > CLEARLY_LARGER * by_model { by_batches } else { by_model }
}

/// Means of the last `series.len() / length` whole batches.
pub(crate) fn batch_means(series: &[f64], length: usize) -> Vec<f64> {
    series[series.len() % length..].chunks_exact(length).map(mean).collect()
}

/// Arithmetic mean; NaN for no values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Sample variance (divisor n - 1); 0 for fewer than two values.
pub(crate) fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let m = mean(values);
    values.iter().map(|v| (v - m).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}

/// Correlation of neighbours, corrected for its bias of about -(1 + 4 r) / n in short series (Kendall 1954).
fn lag1_correlation(values: &[f64]) -> f64 {
    let raw = Autocorrelation::of(values).at(1);
    (raw + (1.0 + 4.0 * raw) / values.len() as f64).clamp(-1.0, 1.0)
}

/// Autocorrelations of one series.
struct Autocorrelation {
    deviations: Vec<f64>,
    /// Sum of their squares; 0 when they are rounding errors only.
    total: f64,
}

impl Autocorrelation {
    fn of(values: &[f64]) -> Self {
        let m = mean(values);
        let deviations: Vec<f64> = values.iter().map(|v| v - m).collect();
        let total: f64 = deviations.iter().map(|d| d * d).sum();
        let rounding = f64::EPSILON * m * m * values.len() as f64;
        Autocorrelation { deviations, total: if total <= rounding { 0.0 } else { total } }
    }

    /// At a lag below the length; 0 for a constant series.
    fn at(&self, lag: usize) -> f64 {
        if self.total == 0.0 {
            return 0.0;
        }
        self.deviations.iter().zip(&self.deviations[lag..]).map(|(a, b)| a * b).sum::<f64>() / self.total
    }
}

/// n / (1 + 2 sum of autocorrelations), cut by Geyer's initial positive sequence (1992); never above n.
pub(crate) fn effective_samples(series: &[f64]) -> f64 {
    // Bounds the work for hours of intervals; a memory longer than this leaves hardly a sample either way.
    const LAG_MAX: usize = 1000;
    let correlation = Autocorrelation::of(series);
    let mut sum = 0.0;
    for lag in (1..series.len().saturating_sub(1).min(LAG_MAX)).step_by(2) {
        // Sums of neighbouring pairs are positive for a reversible chain; the first that is not is noise.
        let pair = correlation.at(lag) + correlation.at(lag + 1);
        if pair <= 0.0 {
            break;
        }
        sum += pair;
    }
    series.len() as f64 / (1.0 + 2.0 * sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Random, ar1};

    #[test]
    fn a_few_rounds_have_the_interval_of_the_textbook() {
        let (mean, ci95) = mean_of_rounds(&[98.0, 99.0, 100.0, 101.0, 102.0]).unwrap();
        let (low, high) = ci95.unwrap();
        assert!((mean, (low - 98.0368).abs() < 1e-3, (high - 101.9632).abs() < 1e-3) == (100.0, true, true));
        assert_eq!(mean_of_rounds(&[7.0]), Some((7.0, None)));
        assert_eq!(mean_of_rounds(&[]), None);
    }

    #[test]
    fn batches_grow_with_the_memory_of_the_series() {
        let short = Batches::of(&ar1(&mut Random::new(3), 0.0, 600));
        let long = Batches::of(&ar1(&mut Random::new(3), 0.98, 600));
        assert!(short.length < long.length);
        assert!(long.means.len() >= BATCHES_MIN);
    }
}
