//! How a rate grows with the number of workers: the universal scalability law.

/// The universal scalability law fitted to points: X(n) = λ n / (1 + σ (n - 1) + κ n (n - 1)).
///
/// Source: Gunther, Guerrilla Capacity Planning (2007), chapter 4. With κ = 0 it is Amdahl's law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScalingFit {
    /// Rate of one worker, per second.
    pub lambda: f64,
    /// Share of the work that is done one after the other (contention), from 0.
    pub sigma: f64,
    /// Cost of agreement between each pair of workers (coherence), from 0; above 0 the rate falls again.
    pub kappa: f64,
    /// Root mean square of `measured / fitted - 1`.
    pub residual: f64,
}

impl ScalingFit {
    /// Fits points of (workers, rate per second); `None` with fewer than three different numbers of workers, or a point
    /// that is not positive. κ takes four.
    ///
    /// n / X is linear in 1/λ, σ/λ and κ/λ: weighted least squares on its relative error, of all choices of terms that
    /// come out not negative the one with the smallest error.
    #[must_use]
    pub fn of(points: &[(f64, f64)]) -> Option<ScalingFit> {
        const TERMS: [&[usize]; 4] = [&[0], &[0, 1], &[0, 2], &[0, 1, 2]];
        if points.iter().any(|(n, x)| !(*n >= 1.0 && *x > 0.0 && n.is_finite() && x.is_finite())) {
            return None;
        }
        let mut numbers: Vec<f64> = points.iter().map(|p| p.0).collect();
        numbers.sort_unstable_by(f64::total_cmp);
        numbers.dedup();
        if numbers.len() < 3 {
            return None;
        }
        let with_kappa = numbers.len() > 3;
        let choices = TERMS.iter().filter(|terms| with_kappa || !terms.contains(&2));
        choices.filter_map(|terms| fit(points, terms)).min_by(|a, b| a.residual.total_cmp(&b.residual))
    }

    /// The rate of `n` workers.
    #[must_use]
    pub fn at(&self, n: f64) -> f64 {
        self.lambda * n / (1.0 + self.sigma * (n - 1.0) + self.kappa * n * (n - 1.0))
    }

    /// The number of workers with the highest rate; `None` when it only grows.
    #[must_use]
    pub fn peak(&self) -> Option<f64> {
        (self.kappa > 0.0).then(|| ((1.0 - self.sigma).max(0.0) / self.kappa).sqrt().max(1.0))
    }

    /// The rate that no number of workers exceeds; `None` when the law knows no bound.
    #[must_use]
    pub fn bound(&self) -> Option<f64> {
        match self.peak() {
            Some(peak) => Some(self.at(peak)),
            None => (self.sigma > 0.0).then(|| self.lambda / self.sigma),
        }
    }
}

/// Least squares with these terms; `None` when one comes out negative or the equations cannot be solved.
fn fit(points: &[(f64, f64)], terms: &[usize]) -> Option<ScalingFit> {
    let size = terms.len();
    let mut rows = vec![vec![0.0; size + 1]; size];
    for (n, x) in points {
        let all = [1.0, n - 1.0, n * (n - 1.0)];
        // Divided by the value itself, so that every point counts by its relative error.
        let scaled: Vec<f64> = terms.iter().map(|term| all[*term] * x / n).collect();
        for i in 0..size {
            for j in 0..size {
                rows[i][j] += scaled[i] * scaled[j];
            }
            rows[i][size] += scaled[i];
        }
    }
    let solved = solve(rows)?;
    if solved.iter().any(|v| *v < 0.0) || solved[0] <= 0.0 {
        return None;
    }
    let share = |term: usize| terms.iter().position(|t| *t == term).map_or(0.0, |i| solved[i] / solved[0]);
    let found = ScalingFit { lambda: 1.0 / solved[0], sigma: share(1), kappa: share(2), residual: 0.0 };
    let squares: f64 = points.iter().map(|(n, x)| (x / found.at(*n) - 1.0).powi(2)).sum();
    Some(ScalingFit { residual: (squares / points.len() as f64).sqrt(), ..found })
}

/// Solves linear equations given with their right side as last column (Gauss with pivots).
fn solve(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let size = rows.len();
    for column in 0..size {
        let pivot = (column..size).max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))?;
        rows.swap(column, pivot);
        let head = rows[column].clone();
        if head[column].abs() < 1e-300 {
            return None;
        }
        for (_, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != column) {
            let factor = row[column] / head[column];
            row.iter_mut().zip(&head).for_each(|(value, head)| *value -= factor * head);
        }
    }
    let solved: Vec<f64> = rows.iter().enumerate().map(|(i, row)| row[size] / row[i]).collect();
    solved.iter().all(|v| v.is_finite()).then_some(solved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;
    use proptest::prelude::*;

    const WORKERS: [f64; 6] = [1.0, 2.0, 4.0, 8.0, 16.0, 24.0];

    fn points(truth: ScalingFit) -> Vec<(f64, f64)> {
        WORKERS.iter().map(|n| (*n, truth.at(*n))).collect()
    }

    proptest! {
        #[test]
        fn points_of_the_law_itself_give_its_terms_back(
            lambda in 1e3_f64..1e6, sigma in 0.0_f64..0.5, kappa in 0.0_f64..0.02
        ) {
            let truth = ScalingFit { lambda, sigma, kappa, residual: 0.0 };
            let found = ScalingFit::of(&points(truth)).expect("is fitted");
            prop_assert!((found.lambda / lambda - 1.0).abs() < 1e-6, "{found:?}");
            prop_assert!((found.sigma - sigma).abs() < 1e-6 && (found.kappa - kappa).abs() < 1e-6, "{found:?}");
            prop_assert!(found.residual < 1e-6, "{found:?}");
        }
    }

    #[test]
    fn noise_of_two_percent_leaves_the_terms_near_the_truth() {
        let truth = ScalingFit { lambda: 250e3, sigma: 0.05, kappa: 0.002, residual: 0.0 };
        let mut random = Random::new(1);
        let mut off = 0;
        for _ in 0..200 {
            let noisy: Vec<(f64, f64)> =
                points(truth).into_iter().map(|(n, x)| (n, x * (1.0 + 0.02 * random.normal()))).collect();
            let found = ScalingFit::of(&noisy).expect("is fitted");
            off += u32::from((found.sigma - 0.05).abs() > 0.04 || (found.at(32.0) / truth.at(32.0) - 1.0).abs() > 0.15);
        }
        assert!(off <= 10, "{off} of 200");
    }

    #[test]
    fn linear_growth_has_no_bound_and_a_law_with_a_peak_has_one() {
        let linear: Vec<(f64, f64)> = WORKERS.iter().map(|n| (*n, n * 420e3)).collect();
        let found = ScalingFit::of(&linear).expect("is fitted");
        assert!(found.sigma < 1e-9 && found.kappa < 1e-9 && found.residual < 1e-9, "{found:?}");
        let truth = ScalingFit { lambda: 100.0, sigma: 0.1, kappa: 0.01, residual: 0.0 };
        assert!((truth.peak().expect("a peak") - 9.486_8).abs() < 1e-3);
        assert!(truth.bound().expect("a bound") >= truth.at(9.0));
        assert_eq!(ScalingFit { kappa: 0.0, ..truth }.bound(), Some(1000.0));
    }

    #[test]
    fn too_few_points_are_not_fitted() {
        assert_eq!(ScalingFit::of(&[(1.0, 10.0), (2.0, 20.0), (2.0, 19.0)]), None);
        assert_eq!(ScalingFit::of(&[(1.0, 10.0), (2.0, 0.0), (4.0, 30.0)]), None);
        let three = ScalingFit::of(&[(1.0, 10.0), (2.0, 18.0), (4.0, 25.0)]).expect("Amdahl's law takes three");
        assert!(three.kappa == 0.0 && three.sigma > 0.0, "{three:?}");
    }
}
