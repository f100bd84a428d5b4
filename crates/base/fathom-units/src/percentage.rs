//! Percentages that say how large a difference may be.

use fathom_message::msg;

use crate::error::{Quantity, UnitError};
use crate::number::{check, split_number};

const PERCENTAGE: Quantity =
    Quantity { what: msg!("unit-percentage"), help: msg!("unit-percentage-help"), units: &["%"] };

/// Percent of a text: `3%`, `0.5 %`, `3` and `3 percent`.
///
/// # Errors
/// When the text is no number from 0 to below 100.
pub fn parse_pct(text: &str) -> Result<f64, UnitError> {
    let (number, unit) = split_number(text.trim());
    check(number).map_err(|problem| PERCENTAGE.bad_number(text, problem, msg!("unit-of-percent")))?;
    if !["", "%", "percent"].contains(&unit.trim().to_ascii_lowercase().as_str()) {
        return Err(PERCENTAGE.unknown_unit(text, unit));
    }
    let pct: f64 = number.parse().map_err(|_| PERCENTAGE.error(text, msg!("number-malformed")))?;
    if !(0.0..100.0).contains(&pct) {
        return Err(PERCENTAGE.error(text, msg!("number-not-below-100")));
    }
    Ok(pct)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_language::english;

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
            assert!(english(&error.problem).contains(word) && english(&error.help).contains("3%"), "{text}: {error}");
        }
    }
}
