//! I/Os per second.

use fathom_message::msg;

use crate::error::{Quantity, UnitError};
use crate::number::{check, split_number};
use crate::print::scaled;

const RATE: Quantity =
    Quantity { what: msg!("unit-rate"), help: msg!("unit-rate-help"), units: &["k", "M", "G", "IOPS", "kIOPS", "/s"] };

/// I/Os per second of a rate: `20k` = 20 000, `1.5M`, `500`; `IOPS` or `/s` may follow. Decimal, case does not count.
///
/// # Errors
/// When the text is no number above zero with a known unit.
pub fn parse_iops(text: &str) -> Result<f64, UnitError> {
    let (number, unit) = split_number(text.trim());
    check(number).map_err(|problem| RATE.bad_number(text, problem, msg!("unit-of-ios")))?;
    let exponent = exponent_of(unit).ok_or_else(|| RATE.unknown_unit(text, unit))?;
    // Through the text, because 1.1 x 1e6 is not 1 100 000 in binary.
    let iops: f64 = format!("{number}e{exponent}").parse().map_err(|_| RATE.error(text, msg!("number-malformed")))?;
    if !iops.is_finite() {
        return Err(RATE.error(text, msg!("number-too-large")));
    }
    if iops <= 0.0 {
        return Err(RATE.error(text, msg!("number-not-above-zero")));
    }
    Ok(iops)
}

fn exponent_of(unit: &str) -> Option<u32> {
    let unit = unit.to_ascii_lowercase();
    let prefix = unit.strip_suffix("iops").or_else(|| unit.strip_suffix("/s")).unwrap_or(&unit);
    Some(match prefix.trim() {
        "" => 0,
        "k" => 3,
        "m" => 6,
        "g" => 9,
        _ => return None,
    })
}

/// I/Os per second for people: `183k`, `1.50M`, `950`.
#[must_use]
pub fn format_iops(iops: f64) -> String {
    let (figure, unit) = scaled(iops, 1000.0, &["", "k", "M", "G"]);
    format!("{figure}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_language::english;
    use proptest::prelude::*;

    #[test]
    fn rates_are_decimal() {
        for (text, iops) in [
            ("20k", 20_000.0),
            ("20K", 20_000.0),
            ("1.1M", 1_100_000.0),
            ("1.5m", 1_500_000.0),
            ("500", 500.0),
            ("0.5", 0.5),
            ("20k/s", 20_000.0),
            ("20 kIOPS", 20_000.0),
            ("2g", 2e9),
        ] {
            assert_eq!(parse_iops(text), Ok(iops), "{text}");
        }
    }

    #[test]
    fn a_bad_rate_says_what_is_wrong() {
        for (text, word) in [
            ("0", "above zero"),
            ("", "begin with a number"),
            ("-5", "begin with a number"),
            ("1.2.3", "malformed"),
            ("20kb", "unknown unit `kb`"),
        ] {
            let error = parse_iops(text).unwrap_err();
            assert!(english(&error.problem).contains(word), "{text}: {}", error.problem);
        }
        assert!(english(&parse_iops(&"9".repeat(400)).unwrap_err().problem).contains("too large"));
        assert!(english(&parse_iops("20kb").unwrap_err().help).starts_with("did you mean `k`?"));
    }

    #[test]
    fn rates_are_printed_for_people() {
        assert_eq!(format_iops(183_000.0), "183k");
        assert_eq!(format_iops(1_500_000.0), "1.50M");
        assert_eq!(format_iops(950.0), "950");
        assert_eq!(format_iops(999_700.0), "1.00M");
        assert_eq!(format_iops(0.0), "0");
    }

    proptest! {
        #[test]
        fn a_printed_rate_is_read_back_nearly(exponent in -2_f64..12.0) {
            let iops = 10_f64.powf(exponent);
            let back = parse_iops(&format_iops(iops)).unwrap();
            prop_assert!((back - iops).abs() <= 0.005 * iops, "{iops} {}", format_iops(iops));
        }

        #[test]
        fn any_text_is_parsed_without_panic(text: String) {
            let _ = parse_iops(&text);
        }
    }
}
