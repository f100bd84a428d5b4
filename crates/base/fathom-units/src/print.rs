//! Figures for people: three significant digits.

/// A number with three significant digits: `183`, `78.0`, `1.10`, `0.0123`; from 1000 on all digits before the point.
///
/// `0` for zero, `n/a` for what is no finite number.
#[must_use]
pub fn format_significant(value: f64) -> String {
    if !value.is_finite() {
        return "n/a".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    // Through the exponent form, because rounding can carry into the next power of ten (9.999 -> 10.0).
    let exponent: i32 = format!("{value:.2e}").split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let decimals = usize::try_from(2 - exponent).unwrap_or(0);
    format!("{value:.decimals$}")
}

/// A value in the largest unit of which it has at least one: `units[i]` is base^i.
pub(crate) fn scaled<'a>(value: f64, base: f64, units: &[&'a str]) -> (String, &'a str) {
    let mut scaled = value;
    let mut last = units.first().copied().unwrap_or("");
    for (i, unit) in units.iter().enumerate() {
        last = unit;
        // What would print as the base itself belongs to the next unit: 999.6 -> 1.00k.
        if rounded(scaled).abs() < base || i + 1 == units.len() {
            break;
        }
        scaled /= base;
    }
    (format_significant(scaled), last)
}

/// The value as three significant digits show it.
fn rounded(value: f64) -> f64 {
    format_significant(value).parse().unwrap_or(0.0)
}

/// Nanoseconds in the unit that suits: `850 ns`, `78.0 us`, `1.25 ms`, `3.00 s`.
#[must_use]
pub fn format_ns(ns: f64) -> String {
    let (figure, unit) = scaled(ns, 1000.0, &["ns", "us", "ms", "s"]);
    format!("{figure} {unit}")
}

/// A percentage, given in percent: `12.3 %`.
#[must_use]
pub fn format_pct(pct: f64) -> String {
    format!("{} %", format_significant(pct))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn figures_have_three_significant_digits() {
        for (value, text) in [
            (183.4, "183"),
            (78.0, "78.0"),
            (1.1, "1.10"),
            (9.999, "10.0"),
            (99.96, "100"),
            (0.012_34, "0.0123"),
            (-4.2, "-4.20"),
            (123_456.7, "123457"),
            (0.0, "0"),
            (f64::NAN, "n/a"),
            (f64::INFINITY, "n/a"),
        ] {
            assert_eq!(format_significant(value), text);
        }
    }

    #[test]
    fn times_take_the_unit_that_suits() {
        assert_eq!(format_ns(850.0), "850 ns");
        assert_eq!(format_ns(78_000.0), "78.0 us");
        assert_eq!(format_ns(999_600.0), "1.00 ms");
        assert_eq!(format_ns(1_250_000.0), "1.25 ms");
        assert_eq!(format_ns(3e9), "3.00 s");
        assert_eq!(format_ns(7.2e12), "7200 s");
        assert_eq!(format_ns(-2_500.0), "-2.50 us");
        assert_eq!(format_ns(0.0), "0 ns");
        assert_eq!(format_pct(12.34), "12.3 %");
    }

    proptest! {
        #[test]
        fn printed_times_are_within_half_a_percent(exponent in 0_f64..17.0) {
            let ns = 10_f64.powf(exponent);
            let text = format_ns(ns);
            let (figure, unit) = text.split_once(' ').unwrap();
            let factor = match unit { "ns" => 1.0, "us" => 1e3, "ms" => 1e6, _ => 1e9 };
            let back = figure.parse::<f64>().unwrap() * factor;
            prop_assert!((back - ns).abs() <= 0.005 * ns + 1e-9, "{ns} {text}");
            prop_assert!(figure.len() <= 4 || unit == "s", "{text}");
        }
    }
}
