//! Percentages that say how large a difference may be.

use crate::error::{Quantity, UnitError};
use crate::number::{check, split_number};

const PERCENTAGE: Quantity = Quantity {
    what: "a percentage",
    help: "Write a number from 0 to below 100, for example 3% or 0.5%.",
    units: &["%"],
};

/// Percent of a text: `3%`, `0.5 %`, `3` and `3 percent`.
///
/// # Errors
/// When the text is no number from 0 to below 100.
pub fn parse_pct(text: &str) -> Result<f64, UnitError> {
    let (number, unit) = split_number(text.trim());
    check(number).map_err(|problem| PERCENTAGE.bad_number(text, problem, "percent"))?;
    if !["", "%", "percent"].contains(&unit.trim().to_ascii_lowercase().as_str()) {
        return Err(PERCENTAGE.unknown_unit(text, unit));
    }
    let pct: f64 = number.parse().map_err(|_| PERCENTAGE.error(text, "the number is malformed"))?;
    if !(0.0..100.0).contains(&pct) {
        return Err(PERCENTAGE.error(text, "it is not from 0 to below 100"));
    }
    Ok(pct)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_may_carry_its_sign() {
        for (text, pct) in [("3%", 3.0), ("0.5 %", 0.5), ("3", 3.0), (" 12.5 percent ", 12.5), ("0", 0.0)] {
            assert_eq!(parse_pct(text), Ok(pct), "{text}");
        }
    }

    #[test]
    fn a_bad_percentage_says_what_is_wrong() {
        for (text, word) in [("3x", "unknown unit"), ("much", "number"), ("100%", "below 100"), ("-3%", "number")] {
            let error = parse_pct(text).unwrap_err();
            assert!(error.problem.contains(word) && error.help.contains("3%"), "{text}: {error}");
        }
    }
}
