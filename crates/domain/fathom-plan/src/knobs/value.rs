//! Numbers with units, as people write them: sizes, times, rates, percents, CPU lists.

use fathom_message::{Message, Quantity, Say, msg};
use fathom_units::{parse_cpu_list, parse_duration_ns, parse_iops, parse_size};

use crate::knobs::Fault;

/// Fault with a message alone.
pub(crate) fn fault(message: Message) -> Fault {
    Fault { message, help: None }
}

/// Fault with a remedy.
pub(crate) fn fault_help(message: Message, help: Message) -> Fault {
    Fault { message, help: Some(help) }
}

/// Fault of a value that is too large.
fn above(text: &str, max: Quantity) -> Fault {
    fault(msg!("knob-above-maximum", text = shorten(text), max = max))
}

/// A unit's error, of a text that may be long.
fn unit_fault(error: &fathom_units::UnitError) -> Fault {
    let error = fathom_units::UnitError { text: shorten(&error.text), ..error.clone() };
    fault_help(error.message(), error.help.clone())
}

/// Text short enough for an error message.
pub(crate) fn shorten(text: &str) -> String {
    if text.chars().count() <= 40 { text.to_owned() } else { text.chars().take(40).collect::<String>() + "…" }
}

/// Bytes: `4k` = `4KiB` = `4KB` = 4096. The second part is a remark on how it was read.
///
/// # Errors
/// Not a size, a share of the target, above `max`.
pub(crate) fn size_bytes(text: &str, max: u64) -> Result<(u64, Option<Message>), Fault> {
    if text.trim().ends_with('%') {
        return Err(fault_help(msg!("knob-share-of-target", text = shorten(text)), msg!("knob-share-of-target-help")));
    }
    let bytes = parse_size(text).map_err(|e| unit_fault(&e))?;
    if bytes > max {
        return Err(above(text, Quantity::block(max)));
    }
    let unit = text.trim().trim_start_matches(|c: char| !c.is_ascii_alphabetic()).to_ascii_lowercase();
    let decimal_style = unit.len() == 2 && unit.ends_with('b');
    let note = decimal_style.then(|| msg!("knob-binary-unit", text = text.to_owned(), bytes = bytes.to_string()));
    Ok((bytes, note))
}

/// Nanoseconds: `30s`, `500ms`, `1h30m`; a bare number is seconds, as in fio.
///
/// # Errors
/// Not a duration, above `max_ns`.
pub(crate) fn duration_ns(text: &str, max_ns: u64) -> Result<u64, Fault> {
    let ns = parse_duration_ns(text).map_err(|e| unit_fault(&e))?;
    if ns > max_ns {
        return Err(above(text, Quantity::duration_ns(max_ns)));
    }
    Ok(ns)
}

/// I/Os per second: `20k` = 20,000.
///
/// # Errors
/// Not a rate above 0, above `max`.
pub(crate) fn rate_iops(text: &str, max: f64) -> Result<f64, Fault> {
    let iops = parse_iops(text).map_err(|e| unit_fault(&e))?;
    if iops > max {
        return Err(above(text, Quantity::iops(max)));
    }
    Ok(iops)
}

/// Percent in [0, 100]; `70` and `70%` are the same.
///
/// # Errors
/// Not a whole number, above 100.
pub(crate) fn percent(text: &str) -> Result<u8, Fault> {
    let digits = text.trim().strip_suffix('%').unwrap_or(text.trim());
    let value = whole(digits)?;
    u8::try_from(value)
        .ok()
        .filter(|p| *p <= 100)
        .ok_or_else(|| fault(msg!("knob-above-100-percent", percent = value.to_string())))
}

/// A share below 1: `1%` = `0.01`.
///
/// # Errors
/// Not a number, 0, or 1 and more.
pub(crate) fn share(text: &str) -> Result<f64, Fault> {
    let text = text.trim();
    let (number, divisor) = text.strip_suffix('%').map_or((text, 1.0), |n| (n, 100.0));
    let value = number.trim().parse::<f64>().unwrap_or(f64::NAN) / divisor;
    if value > 0.0 && value < 1.0 {
        Ok(value)
    } else {
        Err(fault_help(msg!("knob-not-a-share", text = shorten(text)), msg!("knob-not-a-share-help")))
    }
}

/// A whole number without unit.
///
/// # Errors
/// Anything else, also beyond 64 bit.
pub(crate) fn whole(text: &str) -> Result<u64, Fault> {
    let digits = text.trim().replace('_', "");
    if digits.starts_with('-') && digits[1..].bytes().all(|b| b.is_ascii_digit()) {
        return Err(fault(msg!("knob-negative", text = shorten(text))));
    }
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(fault(msg!("knob-not-whole", text = shorten(text))));
    }
    digits.parse().map_err(|_| fault(msg!("knob-over-64-bits", text = shorten(text))))
}

/// A whole number in `min..=max`.
///
/// # Errors
/// Not a number or outside; the message names the bounds.
pub(crate) fn bounded(text: &str, min: u32, max: u32) -> Result<u32, Fault> {
    let value = whole(text).map_err(|f| Fault { help: Some(msg!("knob-whole-help", min = min, max = max)), ..f })?;
    u32::try_from(value)
        .ok()
        .filter(|v| (min..=max).contains(v))
        .ok_or_else(|| fault(msg!("knob-out-of-range", text = value.to_string(), min = min, max = max)))
}

/// `1`/`0`, `true`/`false`, `yes`/`no`, `on`/`off`.
///
/// # Errors
/// Any other word, and none.
pub(crate) fn flag(text: &str) -> Result<bool, Fault> {
    match text.trim().to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err(fault_help(msg!("knob-not-a-flag", text = shorten(text)), msg!("knob-not-a-flag-help"))),
    }
}

/// CPUs: `0-3,8` -> 0 1 2 3 8, in the order given.
///
/// # Errors
/// Not a CPU list, or a CPU beyond [`crate::knobs::CPU_MAX`].
pub(crate) fn cpu_list(text: &str) -> Result<Vec<u32>, Fault> {
    let cpus = parse_cpu_list(text).map_err(|e| unit_fault(&e))?;
    match cpus.iter().find(|c| **c > crate::knobs::CPU_MAX) {
        Some(cpu) => Err(fault(msg!("knob-cpu-above-maximum", cpu = *cpu, max = crate::knobs::CPU_MAX))),
        None => Ok(cpus),
    }
}

/// A time in the largest of s, ms, us, ns that keeps it whole: 1.5e9 -> `1500ms`.
pub(crate) fn print_duration(ns: u64) -> String {
    for (unit_ns, unit) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")] {
        if ns.is_multiple_of(unit_ns) {
            return format!("{}{unit}", ns / unit_ns);
        }
    }
    format!("{ns}ns")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_language::english;
    use fathom_units::format_block;
    use insta::assert_snapshot;
    use proptest::prelude::*;

    fn size(text: &str) -> Result<u64, String> {
        size_bytes(text, 1 << 60).map(|(b, _)| b).map_err(|f| english(&f.message))
    }

    #[test]
    fn all_spellings_of_four_kib_are_4096() {
        for text in ["4k", "4K", "4Ki", "4KiB", "4kib", "4KB", "4kb", "4096", "4096b", " 4 k ", "4.0k"] {
            assert_eq!(size(text), Ok(4096), "{text}");
        }
        assert!(size_bytes("4KB", 1 << 60).expect("valid").1.is_some(), "4KB is read with a remark");
        assert!(size_bytes("4KiB", 1 << 60).expect("valid").1.is_none());
        assert_eq!(size("1.5g"), Ok(3 << 29));
    }

    #[test]
    fn bad_values_say_why_and_what_to_write() {
        let shown =
            |f: Fault| format!("{} | {}", english(&f.message), f.help.as_ref().map(english).unwrap_or_default());
        let size = |t| shown(size_bytes(t, 1 << 60).expect_err("wrong"));
        assert_snapshot!(size("4q"), @"`4q` is not a size: unknown unit `q` | did you mean `b`? write bytes, or a number with k, m, g, t or p (powers of 1024), for example 512, 4k or 1.5g");
        assert_snapshot!(size("-4k"), @"`-4k` is not a size: it does not begin with a number | write bytes, or a number with k, m, g, t or p (powers of 1024), for example 512, 4k or 1.5g");
        assert_snapshot!(size("20%"), @"`20%`: a share of the target is not supported here | give the size in bytes, e.g. 20g");
        assert_snapshot!(size("9999p"), @"`9999p` is above the maximum of 1024p |");
        assert_snapshot!(shown(duration_ns("3 parsecs", u64::MAX).expect_err("wrong")), @"`3 parsecs` is not a duration: unknown unit `parsecs` | write seconds, or a number with ns, us, ms, s, m, h or d, for example 30s, 500ms or 1h30m");
        assert_snapshot!(shown(cpu_list("3-1").expect_err("wrong")), @"`3-1` is not a CPU list: the range 3-1 descends | write CPU numbers and ranges separated by commas, for example 0-3,8");
        assert_snapshot!(shown(share("5").expect_err("wrong")), @"`5` is not a share between 0 and 1 | write it like 1% or 0.01");
        assert_snapshot!(shown(size_bytes(&"9".repeat(500), 1).expect_err("wrong")), @"`9999999999999999999999999999999999999999…` is not a size: it is too large | write bytes, or a number with k, m, g, t or p (powers of 1024), for example 512, 4k or 1.5g");
    }

    proptest! {
        #[test]
        fn sizes_and_times_round_trip(n in 0u64..(1 << 60)) {
            prop_assert_eq!(size(&format_block(n)), Ok(n));
            prop_assert_eq!(duration_ns(&print_duration(n), u64::MAX).map_err(|f| f.message), Ok(n));
        }

        #[test]
        fn no_text_makes_a_parser_panic(text in "\\PC{0,12}|[0-9.,kmgi%_-]{0,30}") {
            let _ = size_bytes(&text, u64::MAX);
            let _ = duration_ns(&text, u64::MAX);
            let _ = rate_iops(&text, 1e9);
            let _ = percent(&text);
            let _ = share(&text);
            let _ = bounded(&text, 1, 4096);
            let _ = flag(&text);
            let _ = cpu_list(&text);
        }
    }
}
