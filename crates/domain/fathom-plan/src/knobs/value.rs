//! Numbers with units, as people write them: sizes, times, rates, percents, CPU lists.

use crate::knobs::Fault;

/// Fault with a message alone.
pub(crate) fn fault(message: impl Into<String>) -> Fault {
    Fault { message: message.into(), help: None }
}

/// Fault with a remedy.
pub(crate) fn fault_help(message: impl Into<String>, help: impl Into<String>) -> Fault {
    Fault { message: message.into(), help: Some(help.into()) }
}

/// A decimal number split from its unit, in billionths so that `1.5g` stays exact.
struct Quantity<'a> {
    billionths: u128,
    unit: &'a str,
}

const BILLION: u128 = 1_000_000_000;

fn quantity<'a>(text: &'a str, example: &str) -> Result<Quantity<'a>, Fault> {
    let text = text.trim();
    let bad = || fault_help(format!("`{}` is not a number", shorten(text)), format!("write it like {example}"));
    if text.starts_with('-') {
        return Err(fault_help(format!("`{}` is negative", shorten(text)), format!("write it like {example}")));
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let digits = digits.replace('_', "");
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    if whole.is_empty() || fraction.contains('.') || (digits.contains('.') && fraction.is_empty()) {
        return Err(bad());
    }
    // 20 digits hold any u64; more would only overflow the arithmetic below.
    if whole.trim_start_matches('0').len() > 20 || fraction.len() > 9 {
        return Err(fault_help(format!("`{}` has too many digits", shorten(text)), format!("write it like {example}")));
    }
    let whole: u128 = whole.parse().map_err(|_| bad())?;
    let fraction: u128 = format!("{fraction:0<9}").parse().map_err(|_| bad())?;
    Ok(Quantity { billionths: whole * BILLION + fraction, unit: unit.trim() })
}

/// Text short enough for an error message.
pub(crate) fn shorten(text: &str) -> String {
    if text.chars().count() <= 40 { text.to_owned() } else { text.chars().take(40).collect::<String>() + "…" }
}

/// Bytes: `4k` = `4K` = `4Ki` = `4KiB` = `4KB` = 4096. The second part is a remark on how it was read.
///
/// # Errors
/// Not a number, unknown unit, no whole number of bytes, above `max`.
pub(crate) fn size_bytes(text: &str, max: u64) -> Result<(u64, Option<String>), Fault> {
    const UNITS: [&str; 6] = ["k", "m", "g", "t", "p", "b"];
    let q = quantity(text, "4k, 128k, 2g")?;
    if q.unit == "%" {
        return Err(fault_help(
            format!("`{}`: a share of the target is not supported", shorten(text)),
            "give the size in bytes, e.g. 20g",
        ));
    }
    let unit = q.unit.to_ascii_lowercase();
    let prefix = unit.strip_suffix("ib").or_else(|| unit.strip_suffix('i')).unwrap_or(&unit);
    let decimal_style = !unit.contains('i') && unit.len() == 2 && unit.ends_with('b');
    let prefix = if decimal_style { &prefix[..1] } else { prefix };
    let shift = match prefix {
        "" | "b" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        "p" => 50,
        _ => {
            let near = crate::word::nearest_word(prefix, UNITS);
            let help = near.map_or("units are k, m, g, t, p (powers of 1024)".to_owned(), |n| {
                format!("did you mean `{n}`? units are k, m, g, t, p (powers of 1024)")
            });
            return Err(fault_help(format!("unknown unit `{}` of a size", shorten(q.unit)), help));
        }
    };
    let scaled = q.billionths.checked_mul(1 << shift).filter(|s| *s / BILLION <= u128::from(max));
    let Some(scaled) = scaled else {
        return Err(fault(format!("`{}` is beyond the bound of {}", shorten(text), print_size(max))));
    };
    if scaled % BILLION != 0 {
        return Err(fault(format!("`{}` is not a whole number of bytes", shorten(text))));
    }
    let bytes = (scaled / BILLION) as u64;
    let note = decimal_style.then(|| format!("`{text}` was read as {bytes} bytes: k, m, g are powers of 1024"));
    Ok((bytes, note))
}

/// Nanoseconds: `30s`, `500ms`, `1.5s`, `2m`, `1h`; a bare number is seconds, as in fio.
///
/// # Errors
/// Not a number, unknown unit, above `max_ns`.
pub(crate) fn duration_ns(text: &str, max_ns: u64) -> Result<u64, Fault> {
    let q = quantity(text, "30s, 500ms, 2m")?;
    let unit_ns: u128 = match q.unit.to_ascii_lowercase().as_str() {
        "" | "s" | "sec" => BILLION,
        "ns" => 1,
        "us" | "µs" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "m" | "min" => 60 * BILLION,
        "h" => 3_600 * BILLION,
        "d" => 86_400 * BILLION,
        other => {
            let near = crate::word::nearest_word(other, ["ns", "us", "ms", "sec", "min", "h", "d"]);
            let help = near.map_or(String::new(), |n| format!("did you mean `{n}`? ")) + "units are ns us ms s m h d";
            return Err(fault_help(format!("unknown unit `{}` of a time", shorten(q.unit)), help));
        }
    };
    match q.billionths.checked_mul(unit_ns).map(|n| n / BILLION) {
        Some(ns) if ns <= u128::from(max_ns) => Ok(ns as u64),
        _ => Err(fault(format!("`{}` is beyond the bound of {}", shorten(text), print_duration(max_ns)))),
    }
}

/// I/Os per second: `20k` = 20,000, `1.5M`.
///
/// # Errors
/// Not a number, unknown unit, 0, above `max`.
pub(crate) fn rate_iops(text: &str, max: f64) -> Result<f64, Fault> {
    let q = quantity(text, "20k, 500, 1.5m")?;
    let factor = match q.unit.to_ascii_lowercase().as_str() {
        "" | "iops" => 1.0,
        "k" => 1e3,
        "m" => 1e6,
        "g" => 1e9,
        _ => {
            return Err(fault_help(
                format!("unknown unit `{}` of a rate", shorten(q.unit)),
                "I/Os per second: 500, 20k, 1.5m",
            ));
        }
    };
    let iops = q.billionths as f64 / 1e9 * factor;
    if iops > max {
        return Err(fault(format!("`{}` is beyond the bound of {max:.0} I/Os per second", shorten(text))));
    }
    if iops <= 0.0 {
        return Err(fault_help("a rate of 0 asks for nothing", "leave it out for a closed loop"));
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
        .ok_or_else(|| fault(format!("{value} percent is more than the whole; it must be 0 to 100")))
}

/// A share below 1: `1%` = `0.01`.
///
/// # Errors
/// Not a number, 0, or 1 and more.
pub(crate) fn share(text: &str) -> Result<f64, Fault> {
    let q = quantity(text, "1% or 0.01")?;
    let value = q.billionths as f64 / 1e9;
    let value = match q.unit {
        "%" => value / 100.0,
        "" => value,
        _ => return Err(fault_help(format!("unknown unit `{}`", shorten(q.unit)), "write it like 1% or 0.01")),
    };
    if value > 0.0 && value < 1.0 {
        Ok(value)
    } else {
        Err(fault_help(format!("`{}` is no share between 0 and 1", shorten(text)), "write it like 1% or 0.01"))
    }
}

/// A whole number without unit.
///
/// # Errors
/// Anything else, also beyond 64 bit.
pub(crate) fn whole(text: &str) -> Result<u64, Fault> {
    let digits = text.trim().replace('_', "");
    if digits.starts_with('-') && digits[1..].bytes().all(|b| b.is_ascii_digit()) {
        return Err(fault(format!("`{}` is negative", shorten(text))));
    }
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(fault(format!("`{}` is not a whole number", shorten(text))));
    }
    digits.parse().map_err(|_| fault(format!("`{}` does not fit in 64 bits", shorten(text))))
}

/// A whole number in `min..=max`.
///
/// # Errors
/// Not a number or outside; the message names the bounds.
pub(crate) fn bounded(text: &str, min: u32, max: u32) -> Result<u32, Fault> {
    let value = whole(text).map_err(|f| Fault { help: Some(format!("a whole number from {min} to {max}")), ..f })?;
    u32::try_from(value)
        .ok()
        .filter(|v| (min..=max).contains(v))
        .ok_or_else(|| fault(format!("{value} is out of bounds; it must be {min} to {max}")))
}

/// `1`/`0`, `true`/`false`, `yes`/`no`, `on`/`off`; empty is true, as fio's keys that stand alone.
///
/// # Errors
/// Any other word.
pub(crate) fn flag(text: &str) -> Result<bool, Fault> {
    match text.trim().to_ascii_lowercase().as_str() {
        "" | "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err(fault_help(format!("`{}` is neither yes nor no", shorten(text)), "write 1 or 0")),
    }
}

/// CPUs: `0-3,8` -> 0 1 2 3 8, in the order given.
///
/// # Errors
/// Not numbers, a range that falls, a CPU beyond [`crate::knobs::CPU_MAX`] or given twice.
pub(crate) fn cpu_list(text: &str) -> Result<Vec<u32>, Fault> {
    let example = "a CPU list looks like 0-3,8";
    let mut cpus = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let cpu = |t: &str| bounded(t, 0, crate::knobs::CPU_MAX).map_err(|f| Fault { help: Some(example.into()), ..f });
        let (first, last) = (cpu(first)?, cpu(last)?);
        if first > last {
            return Err(fault_help(format!("`{}` runs backwards", shorten(part)), example));
        }
        for cpu in first..=last {
            if cpus.contains(&cpu) {
                return Err(fault_help(format!("CPU {cpu} is named twice"), example));
            }
            cpus.push(cpu);
        }
    }
    Ok(cpus)
}

/// Bytes with the largest unit that keeps them whole: 4096 -> `4k`.
pub(crate) fn print_size(bytes: u64) -> String {
    let mut value = bytes;
    let mut unit = "";
    for next in ["k", "m", "g", "t", "p"] {
        if value == 0 || !value.is_multiple_of(1024) {
            break;
        }
        value /= 1024;
        unit = next;
    }
    format!("{value}{unit}")
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
    use proptest::prelude::*;

    fn size(text: &str) -> Result<u64, String> {
        size_bytes(text, 1 << 60).map(|(b, _)| b).map_err(|f| f.message)
    }

    #[test]
    fn all_spellings_of_four_kib_are_4096() {
        for text in ["4k", "4K", "4Ki", "4KiB", "4kib", "4KB", "4kb", "4096", "4096b", " 4 k ", "4_096", "4.0k"] {
            assert_eq!(size(text), Ok(4096), "{text}");
        }
        assert!(size_bytes("4KB", 1 << 60).expect("valid").1.is_some(), "4KB is read with a remark");
        assert!(size_bytes("4KiB", 1 << 60).expect("valid").1.is_none());
        assert_eq!(size("1.5g"), Ok(3 << 29));
    }

    #[test]
    fn bad_sizes_say_why() {
        for (text, why) in [
            ("4q", "unknown unit `q` of a size"),
            ("4xib", "unknown unit `xib` of a size"),
            ("k", "`k` is not a number"),
            ("-4k", "`-4k` is negative"),
            ("1.0001k", "`1.0001k` is not a whole number of bytes"),
            ("99999999999999999999999999", "`99999999999999999999999999` has too many digits"),
            ("9999999p", "`9999999p` is beyond the bound of 1024p"),
            ("20%", "`20%`: a share of the target is not supported"),
        ] {
            assert_eq!(size(text), Err(why.to_owned()), "{text}");
        }
    }

    #[test]
    fn times_default_to_seconds() {
        for (text, ns) in
            [("30", 30_000_000_000), ("1.5s", 1_500_000_000), ("2m", 120_000_000_000), ("7us", 7_000), ("9ns", 9)]
        {
            assert_eq!(duration_ns(text, u64::MAX).map_err(|f| f.message), Ok(ns), "{text}");
        }
        assert_eq!(
            duration_ns("3 parsecs", u64::MAX).map_err(|f| f.message),
            Err("unknown unit `parsecs` of a time".into())
        );
    }

    #[test]
    fn cpu_lists_keep_their_order() {
        assert_eq!(cpu_list("4,0-2").map_err(|f| f.message), Ok(vec![4, 0, 1, 2]));
        assert_eq!(cpu_list("3-1").map_err(|f| f.message), Err("`3-1` runs backwards".into()));
        assert_eq!(cpu_list("1,1").map_err(|f| f.message), Err("CPU 1 is named twice".into()));
        assert!(cpu_list("0-4000000000").is_err());
    }

    proptest! {
        #[test]
        fn sizes_and_times_round_trip(n in 0u64..(1 << 60)) {
            prop_assert_eq!(size(&print_size(n)), Ok(n));
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
