//! Quantiles of Student's t distribution.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Half width, in standard errors, of a two-sided 95 % interval with `freedom` degrees of freedom (1 is the least
/// taken; the effective freedom of correlated data need not be whole).
pub(crate) fn t95(freedom: f64) -> f64 {
    t_two_sided(freedom, 0.05)
}

/// As [`t95`], for an interval that misses with the probability `miss`.
pub(crate) fn t_two_sided(freedom: f64, miss: f64) -> f64 {
    let distribution = StudentsT::new(0.0, 1.0, freedom.max(1.0)).expect("one or more degrees of freedom");
    distribution.inverse_cdf(1.0 - miss / 2.0)
}

/// Probability that Student's t with `freedom` degrees of freedom is at most `x`.
pub(crate) fn t_cdf(x: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom.max(1.0)).expect("one or more degrees of freedom").cdf(x)
}

/// Probability that a standard normal figure is at most `x`.
#[must_use]
pub fn normal_cdf(x: f64) -> f64 {
    Normal::standard().cdf(x)
}

#[cfg(test)]
mod tests {
    use super::{t_two_sided, t95};

    #[test]
    fn half_widths_are_those_of_the_tables() {
        for (freedom, table) in
            [(1.0, 12.706_20), (4.0, 2.776_445), (9.0, 2.262_157), (29.0, 2.045_230), (120.0, 1.979_930)]
        {
            assert!((t95(freedom) - table).abs() < 1e-4, "{freedom}: {}", t95(freedom));
        }
        assert!((t_two_sided(10.0, 0.01) - 3.169_273).abs() < 1e-4);
    }
}
