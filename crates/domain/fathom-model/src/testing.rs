//! Sizes of statistical tables in tests.

/// Number of cases of a table: all with FATHOM_TEST_ALL=1, else the first `few`.
pub(crate) fn cases(few: u64, all: u64) -> u64 {
    if std::env::var("FATHOM_TEST_ALL").is_ok_and(|value| value == "1") { all } else { few }
}
