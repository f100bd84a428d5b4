//! Sizes of the tables of cases in tests: `make test` runs a fixed part, `make test-all` the whole.

/// Number of cases of a table: all with FATHOM_TEST_ALL=1, else the first `few`.
#[must_use]
pub fn cases(few: u64, all: u64) -> u64 {
    if std::env::var("FATHOM_TEST_ALL").is_ok_and(|value| value == "1") { all } else { few }
}

/// Room for chance in a share that should be `p`, seen in the first `n` of `all` cases with fixed seeds: twice the standard
/// error of the share of a sample without replacement, 2 sqrt(p (1 - p) (1 / n - 1 / all)). The whole table needs none.
#[must_use]
pub fn margin(p: f64, n: u64, all: u64) -> f64 {
    2.0 * (p * (1.0 - p) * (1.0 / n as f64 - 1.0 / all as f64).max(0.0)).sqrt()
}
