//! Quantiles of Student's t distribution.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Half width, in standard errors, of a two-sided 95 % interval with `freedom` degrees of freedom (at least 1).
pub(crate) fn t95(freedom: usize) -> f64 {
    let distribution = StudentsT::new(0.0, 1.0, freedom.max(1) as f64).expect("one or more degrees of freedom");
    distribution.inverse_cdf(0.975)
}

#[cfg(test)]
mod tests {
    use super::t95;

    #[test]
    fn half_widths_are_those_of_the_tables() {
        for (freedom, table) in [(1, 12.706_20), (4, 2.776_445), (9, 2.262_157), (29, 2.045_230), (120, 1.979_930)] {
            assert!((t95(freedom) - table).abs() < 1e-4, "{freedom}: {}", t95(freedom));
        }
    }
}
