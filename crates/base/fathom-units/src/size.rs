//! Bytes and bytes per second.

use fathom_message::msg;

use crate::error::{Quantity, UnitError};
use crate::number::{scale, split_number};
use crate::print::{format_significant, scaled};

const SIZE: Quantity = Quantity {
    what: msg!("unit-size"),
    help: msg!("unit-size-help"),
    units: &["b", "k", "m", "g", "t", "p", "KiB", "MiB", "GiB", "TiB", "PiB", "KB", "MB", "GB", "TB", "PB"],
};

/// Bytes of a size as people write it: `4k` = `4K` = `4Ki` = `4KiB` = `4KB` = 4096; a plain number is bytes.
///
/// All units are powers of 1024, also `KB`: fio reads it so, and block sizes of 4000 bytes do not exist. A fraction is
/// accepted when it gives whole bytes (`1.5g`).
///
/// # Errors
/// When the text is no number with a known unit, is not whole bytes, or exceeds 64 bits.
pub fn parse_size(text: &str) -> Result<u64, UnitError> {
    let (number, unit) = split_number(text.trim());
    let multiplier = multiplier_of(unit).ok_or_else(|| {
        if number.is_empty() { SIZE.error(text, msg!("number-missing")) } else { SIZE.unknown_unit(text, unit) }
    })?;
    scale(number, multiplier).map_err(|problem| SIZE.bad_number(text, problem, msg!("unit-of-bytes")))
}

fn multiplier_of(unit: &str) -> Option<u64> {
    let unit = unit.to_ascii_lowercase();
    if unit.is_empty() || unit == "b" {
        return Some(1);
    }
    let (prefix, rest) = unit.split_at_checked(1)?;
    let power = "kmgtp".find(prefix)? + 1;
    matches!(rest, "" | "b" | "i" | "ib").then(|| 1 << (10 * power))
}

/// A size for people: `4 KiB`, `1.21 GiB`, `512 B`. Whole multiples have no decimals.
#[must_use]
pub fn format_bytes(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let power = largest_whole_power(bytes);
    let whole = bytes >> (10 * power);
    if whole < 1024 {
        return format!("{whole} {}", UNITS[power]);
    }
    let (figure, unit) = scaled(bytes as f64, 1024.0, &UNITS);
    format!("{figure} {unit}")
}

/// A block size in fio's words: `4k`, `128k`, `1m`, `512`; bytes when it is no multiple of 1024.
#[must_use]
pub fn format_block(bytes: u64) -> String {
    let power = largest_whole_power(bytes).min(5);
    format!("{}{}", bytes >> (10 * power), ["", "k", "m", "g", "t", "p"][power])
}

/// How often 1024 divides the bytes; 0 for 0.
fn largest_whole_power(bytes: u64) -> usize {
    if bytes == 0 { 0 } else { bytes.trailing_zeros() as usize / 10 }
}

/// A rate in bytes per second, decimal and binary: `1.10 GB/s (1.02 GiB/s)`.
#[must_use]
pub fn format_rate(bytes_per_s: f64) -> String {
    let (decimal, decimal_unit) = decimal(bytes_per_s);
    let (binary, binary_unit) = scaled(bytes_per_s, 1024.0, &["B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s"]);
    if decimal_unit == binary_unit {
        return format!("{} B/s", format_significant(bytes_per_s));
    }
    format!("{decimal} {decimal_unit} ({binary} {binary_unit})")
}

/// The same in decimal units alone, where room is short: `1.10 GB/s`.
#[must_use]
pub fn format_rate_decimal(bytes_per_s: f64) -> String {
    let (figure, unit) = decimal(bytes_per_s);
    format!("{figure} {unit}")
}

fn decimal(bytes_per_s: f64) -> (String, &'static str) {
    scaled(bytes_per_s, 1000.0, &["B/s", "kB/s", "MB/s", "GB/s", "TB/s"])
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_language::english;
    use fathom_message::Say;
    use proptest::prelude::*;

    #[test]
    fn all_spellings_of_four_kibibytes_are_one() {
        for text in ["4k", "4K", "4Ki", "4KiB", "4KB", "4kb", " 4 KiB ", "4096", "4096B", "4096b", "4.0k"] {
            assert_eq!(parse_size(text), Ok(4096), "{text}");
        }
        assert_eq!(parse_size("1.5g"), Ok(3 << 29));
        assert_eq!(parse_size("2p"), Ok(2 << 50));
        assert_eq!(parse_size("0"), Ok(0));
    }

    #[test]
    fn a_bad_size_says_what_is_wrong_and_what_to_write() {
        let error = parse_size("4kk").unwrap_err();
        assert_eq!(english(&error.message()), "`4kk` is not a size: unknown unit `kk`");
        assert!(english(&error.help).starts_with("did you mean `k`?"), "{}", error.help);
        let error = parse_size("4GIBB").unwrap_err();
        assert!(english(&error.help).starts_with("did you mean `GiB`?"), "{}", error.help);
        for (text, word) in [
            ("", "begin with a number"),
            ("k", "begin with a number"),
            ("-4k", "begin with a number"),
            ("1.2.3k", "malformed"),
            ("16384p", "too large"),
            ("0.3", "whole number of bytes"),
            ("4x", "unknown unit `x`"),
            ("4µ", "unknown unit `µ`"),
        ] {
            let error = parse_size(text).unwrap_err();
            assert!(english(&error.problem).contains(word), "{text}: {}", error.problem);
            assert!(english(&error.help).contains("4k"));
        }
    }

    #[test]
    fn sizes_are_printed_for_people() {
        assert_eq!(format_bytes(0), "0 B");
        assert_eq!(format_bytes(512), "512 B");
        assert_eq!(format_bytes(4096), "4 KiB");
        assert_eq!(format_bytes(1_048_575), "1.00 MiB");
        assert_eq!(format_bytes(1 << 30), "1 GiB");
        assert_eq!(format_bytes(1_300_000_000), "1.21 GiB");
        assert_eq!(format_bytes(u64::MAX), "16.0 EiB");
        assert_eq!(format_block(4096), "4k");
        assert_eq!(format_block(131_072), "128k");
        assert_eq!(format_block(1 << 20), "1m");
        assert_eq!(format_block(512), "512");
        assert_eq!(format_block(1536), "1536");
    }

    #[test]
    fn rates_are_printed_in_both_units() {
        assert_eq!(format_rate(1.1e9), "1.10 GB/s (1.02 GiB/s)");
        assert_eq!(format_rate_decimal(1.1e9), "1.10 GB/s");
        assert_eq!(format_rate(1_048_576.0), "1.05 MB/s (1.00 MiB/s)");
        assert_eq!(format_rate(12.0), "12.0 B/s");
        assert_eq!(format_rate(0.0), "0 B/s");
    }

    proptest! {
        #[test]
        fn a_printed_block_is_read_back(shift in 0_u32..64, raw: u64, zeros in 0_u32..50) {
            let bytes = (raw >> shift) << zeros;
            prop_assert_eq!(parse_size(&format_block(bytes)), Ok(bytes));
        }

        #[test]
        fn printed_bytes_are_near(shift in 4_u32..64, raw: u64) {
            let bytes = raw >> shift;
            let printed = format_bytes(bytes);
            let (number, unit) = split_number(&printed);
            let value = number.parse::<f64>().unwrap() * multiplier_of(unit).map_or(2_f64.powi(60), |m| m as f64);
            prop_assert!((value - bytes as f64).abs() <= 0.005 * bytes as f64, "{bytes}: {printed}");
        }

        #[test]
        fn any_text_is_parsed_without_panic(text: String) {
            let _ = parse_size(&text);
        }
    }
}
