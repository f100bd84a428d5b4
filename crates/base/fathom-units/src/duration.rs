//! Durations as people write them, in nanoseconds.

use fathom_message::msg;

use crate::error::{Quantity, UnitError};
use crate::number::{scale, split_number};
use crate::print::format_ns;

const SECOND_NS: u64 = 1_000_000_000;

const DURATION: Quantity = Quantity {
    what: msg!("unit-duration"),
    help: msg!("unit-duration-help"),
    units: &["ns", "us", "ms", "s", "sec", "m", "min", "h", "d"],
};

/// Nanoseconds of a duration: `30s`, `500ms`, `10us`, `2m`, `1h30m`; a plain number is seconds.
///
/// `m` is minutes. Parts add up; each needs a unit when there are several.
///
/// # Errors
/// When the text is no sum of numbers with known units, is not whole nanoseconds, or exceeds 64 bits (584 years).
pub fn parse_duration_ns(text: &str) -> Result<u64, UnitError> {
    let mut rest = text.trim();
    let mut total = 0_u64;
    let mut parts = 0;
    while !rest.is_empty() || parts == 0 {
        let (number, tail) = split_number(rest);
        let end = tail.find(|c: char| c.is_ascii_digit() || c == '.' || c.is_whitespace()).unwrap_or(tail.len());
        let (unit, next) = (&tail[..end], tail[end..].trim_start());
        if number.is_empty() {
            return Err(DURATION.error(text, msg!("number-missing")));
        }
        let sole = parts == 0 && next.is_empty();
        let factor = factor_of(unit, sole).ok_or_else(|| unit_error(text, unit))?;
        let part = scale(number, factor).map_err(|p| DURATION.bad_number(text, p, msg!("unit-of-ns")))?;
        total = total.checked_add(part).ok_or_else(|| DURATION.error(text, msg!("number-too-large")))?;
        parts += 1;
        rest = next;
    }
    Ok(total)
}

fn unit_error(text: &str, unit: &str) -> UnitError {
    if unit.is_empty() {
        DURATION.error(text, msg!("duration-without-unit"))
    } else {
        DURATION.unknown_unit(text, unit)
    }
}

fn factor_of(unit: &str, sole: bool) -> Option<u64> {
    Some(match unit.to_lowercase().as_str() {
        "" if sole => SECOND_NS,
        "ns" => 1,
        // Both micro signs of Unicode look alike on screen.
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" | "sec" => SECOND_NS,
        "m" | "min" => 60 * SECOND_NS,
        "h" => 3600 * SECOND_NS,
        "d" => 86_400 * SECOND_NS,
        _ => return None,
    })
}

/// A length of time for people: `500 ms`, `30 s`, `1 min 05 s`, `2 h 30 min`, `3 d 04 h`.
///
/// From a minute on in whole seconds (minutes, hours), rounded to the nearest.
#[must_use]
pub fn format_duration_ns(ns: u64) -> String {
    let seconds = ns / SECOND_NS + u64::from(ns % SECOND_NS >= SECOND_NS / 2);
    if seconds < 60 {
        for (factor, unit) in [(SECOND_NS, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")] {
            if ns >= factor && ns.is_multiple_of(factor) && ns / factor < 1000 {
                return format!("{} {unit}", ns / factor);
            }
        }
        return if ns == 0 { "0 s".to_owned() } else { format_ns(ns as f64) };
    }
    let minutes = (seconds + 30) / 60;
    let hours = (minutes + 30) / 60;
    if seconds < 3600 {
        format!("{} min {:02} s", seconds / 60, seconds % 60)
    } else if minutes < 24 * 60 {
        format!("{} h {:02} min", minutes / 60, minutes % 60)
    } else {
        format!("{} d {:02} h", hours / 24, hours % 24)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_language::english;
    use proptest::prelude::*;

    #[test]
    fn durations_are_read_with_their_units() {
        for (text, ns) in [
            ("30", 30 * SECOND_NS),
            ("30s", 30 * SECOND_NS),
            ("30 sec", 30 * SECOND_NS),
            ("0.5", SECOND_NS / 2),
            ("500ms", SECOND_NS / 2),
            ("10us", 10_000),
            ("10µs", 10_000),
            ("7ns", 7),
            ("2m", 120 * SECOND_NS),
            ("1h", 3600 * SECOND_NS),
            ("1h30m", 5400 * SECOND_NS),
            ("1 min 05 s", 65 * SECOND_NS),
            ("0", 0),
        ] {
            assert_eq!(parse_duration_ns(text), Ok(ns), "{text}");
        }
    }

    #[test]
    fn a_bad_duration_says_what_is_wrong() {
        for (text, word) in [
            ("", "begin with a number"),
            ("fast", "begin with a number"),
            ("-1s", "begin with a number"),
            ("1h30", "no unit"),
            ("30 40", "no unit"),
            ("0.1ns", "whole number of nanoseconds"),
            ("600000d", "too large"),
            ("5 fortnights", "unknown unit `fortnights`"),
        ] {
            let error = parse_duration_ns(text).unwrap_err();
            assert!(english(&error.problem).contains(word), "{text}: {}", error.problem);
            assert!(english(&error.help).contains("30s"));
        }
        assert!(english(&parse_duration_ns("3mss").unwrap_err().help).starts_with("did you mean `ms`?"));
    }

    #[test]
    fn lengths_are_printed_for_people() {
        for (ns, text) in [
            (0, "0 s"),
            (500_000_000, "500 ms"),
            (1_500_000_000, "1.50 s"),
            (30 * SECOND_NS, "30 s"),
            (65 * SECOND_NS, "1 min 05 s"),
            (59_700_000_000, "1 min 00 s"),
            (9000 * SECOND_NS, "2 h 30 min"),
            (86_390 * SECOND_NS, "1 d 00 h"),
            (273_600 * SECOND_NS, "3 d 04 h"),
        ] {
            assert_eq!(format_duration_ns(ns), text);
        }
    }

    proptest! {
        #[test]
        fn a_printed_length_is_read_back_nearly(shift in 0_u32..63, raw: u64) {
            let ns = raw >> shift;
            let back = parse_duration_ns(&format_duration_ns(ns)).unwrap();
            let off = back.abs_diff(ns) as f64;
            prop_assert!(off <= 0.025 * ns as f64, "{ns} -> {} -> {back}", format_duration_ns(ns));
        }

        #[test]
        fn any_text_is_parsed_without_panic(text: String) {
            let _ = parse_duration_ns(&text);
        }
    }
}
