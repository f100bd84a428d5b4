//! Numbers with units, exact: times in picoseconds, sizes and rates in bytes, shares in millionths.

use fathom_message::{Arg, Join, Message, msg};

/// Reads `12.5us` and the like: number, unit, each unit's worth.
fn scaled(text: &str, units: &[(&'static str, u64)], what: Message) -> Result<u64, Message> {
    let text = text.trim();
    if text.starts_with('-') {
        return Err(msg!("sim-quantity-negative", what = what));
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    let (number, unit) = (text[..end].replace('_', ""), text[end..].trim());
    let words = || Arg::names(units.iter().map(|(name, _)| *name), Join::Comma);
    if number.is_empty() {
        return Err(msg!("sim-quantity-without-number", what = what, text = text.to_owned()));
    }
    if unit.is_empty() && number.parse::<f64>() != Ok(0.0) {
        return Err(msg!("sim-quantity-without-unit", what = what, units = words()));
    }
    let factor = match units.iter().find(|(name, _)| *name == unit) {
        Some((_, factor)) => *factor,
        None if unit.is_empty() => 1,
        None => {
            return Err(msg!("sim-quantity-unknown-unit", unit = unit.to_owned(), what = what, units = words()));
        }
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if fraction.contains('.') || fraction.len() > 15 || whole.len() > 15 {
        return Err(msg!("sim-quantity-bad-number", number = number));
    }
    let bad = |_| msg!("sim-quantity-bad-number", number = &number);
    let digits: u128 = format!("{whole}{fraction}").parse().map_err(bad)?;
    let product = digits * u128::from(factor) / 10_u128.pow(fraction.len() as u32);
    u64::try_from(product).map_err(|_| msg!("sim-quantity-too-large", what = what, text = text.to_owned()))
}

/// Picoseconds of `1.7us`.
pub(crate) fn time_ps(text: &str) -> Result<u64, Message> {
    scaled(
        text,
        &[("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)],
        msg!("sim-time"),
    )
}

const SIZES: [(&str, u64); 10] = [
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("k", 1 << 10),
];

/// Bytes of `375 GB` (10^9) or `16 KiB` (2^10).
pub(crate) fn size_bytes(text: &str) -> Result<u64, Message> {
    scaled(text, &SIZES, msg!("sim-size"))
}

/// Bytes per second of `2.4 GB/s`.
pub(crate) fn rate_bytes_per_s(text: &str) -> Result<u64, Message> {
    let Some(size) = text.trim().strip_suffix("/s") else {
        let units = Arg::names(["B/s", "MB/s", "GB/s", "MiB/s", "GiB/s"], Join::Comma);
        return Err(msg!("sim-quantity-without-unit", what = msg!("sim-rate"), units = units));
    };
    scaled(size, &SIZES, msg!("sim-rate"))
}

/// Millionths of a whole: `28 %` is 280 000.
pub(crate) fn share_millionths(text: &str) -> Result<u64, Message> {
    scaled(text, &[("%", 10_000)], msg!("sim-share"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_exact() {
        assert_eq!(time_ps("1.7065us"), Ok(1_706_500));
        assert_eq!(time_ps("0"), Ok(0));
        assert_eq!(size_bytes("375 GB"), Ok(375_000_000_000));
        assert_eq!(size_bytes("16 KiB"), Ok(16_384));
        assert_eq!(rate_bytes_per_s("2.4 GB/s"), Ok(2_400_000_000));
        assert_eq!(share_millionths("28.5 %"), Ok(285_000));
    }

    #[test]
    fn bad_quantities_say_what_is_missing() {
        for (result, word) in [
            (time_ps("5"), "needs a unit"),
            (time_ps("-5us"), "negative"),
            (time_ps("5 parsecs"), "not a unit of a time"),
            (time_ps("us"), "begins with a number"),
            (size_bytes("4"), "needs a unit"),
            (rate_bytes_per_s("4 GB"), "needs a unit"),
            (time_ps("1.2.3us"), "not a number"),
            (time_ps("99999999999999s"), "too large"),
        ] {
            let words = fathom_language::english(result.as_ref().unwrap_err());
            assert!(words.contains(word), "{words}");
        }
    }
}
