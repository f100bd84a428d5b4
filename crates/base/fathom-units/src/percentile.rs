//! Names of percentiles.

use fathom_message::msg;

use crate::error::{Quantity, UnitError};
use crate::number::{check, split_number};

/// The ladder of percentiles that is shown everywhere: (quantile, name).
pub const PERCENTILES: [(f64, &str); 7] = [
    (0.5, "p50"),
    (0.9, "p90"),
    (0.95, "p95"),
    (0.99, "p99"),
    (0.999, "p99.9"),
    (0.9999, "p99.99"),
    (0.99999, "p99.999"),
];

const PERCENTILE: Quantity = Quantity { what: msg!("unit-percentile"), help: msg!("unit-percentile-help"), units: &[] };

/// Name of a quantile in [0, 1]: 0.9999 is `p99.99`.
#[must_use]
pub fn percentile_name(q: f64) -> String {
    // On the decimal text, because 0.99999 x 100 is 99.99900000000001 in binary.
    let text = format!("{q}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let fraction = format!("{fraction:0<2}");
    let (shifted, rest) = fraction.split_at(2);
    let whole = format!("{whole}{shifted}");
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    if rest.is_empty() { format!("p{whole}") } else { format!("p{whole}.{rest}") }
}

/// Quantile in [0, 1] of a name: `p99.99` or `99.99` is 0.9999.
///
/// # Errors
/// When the text is no percentage from 0 to 100.
pub fn parse_percentile(text: &str) -> Result<f64, UnitError> {
    let trimmed = text.trim();
    let (number, rest) = split_number(trimmed.strip_prefix(['p', 'P']).unwrap_or(trimmed));
    check(number).map_err(|problem| PERCENTILE.bad_number(text, problem, msg!("unit-of-percent")))?;
    if !rest.is_empty() && rest != "%" {
        return Err(PERCENTILE.error(text, msg!("number-followed", rest = rest.to_owned())));
    }
    match format!("{number}e-2").parse::<f64>() {
        Ok(q) if q <= 1.0 => Ok(q),
        _ => Err(PERCENTILE.error(text, msg!("number-above-100"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_language::english;
    use proptest::prelude::*;

    #[test]
    fn the_ladder_has_its_own_names() {
        for (q, name) in PERCENTILES {
            assert_eq!(percentile_name(q), name);
            assert_eq!(parse_percentile(name), Ok(q));
        }
        assert_eq!(percentile_name(0.0), "p0");
        assert_eq!(percentile_name(1.0), "p100");
        assert_eq!(percentile_name(0.05), "p5");
        assert_eq!(percentile_name(0.001), "p0.1");
        assert_eq!(parse_percentile("99 %"), Ok(0.99));
    }

    #[test]
    fn a_bad_percentile_says_what_is_wrong() {
        for (text, word) in
            [("p101", "above 100"), ("p", "begin with a number"), ("p9.9.9", "malformed"), ("p99x", "`x` follows")]
        {
            assert!(english(&parse_percentile(text).unwrap_err().problem).contains(word), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_name_is_read_back(q in 0.0_f64..=1.0) {
            prop_assert_eq!(parse_percentile(&percentile_name(q)), Ok(q));
        }
    }
}
