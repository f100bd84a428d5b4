//! Values in which fio and Fathom differ: sizes, rates, lists of files.

use crate::step::Op;

/// Bytes of a size as fio reads it by default (`kb_base=1024`): `4k`, `4kb` and `4Ki` are 4096, `4KiB` is 4000. fio mixes
/// the standards up on purpose, for old scripts (`get_mult_bytes` in its parse.c). `None`: this is not a size.
#[must_use]
pub fn fio_bytes(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok();
    }
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let suffix = &text[digits..];
    let base: u64 = if suffix.ends_with("ib") { 1000 } else { 1024 };
    let power = match suffix.trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return None,
    };
    number.checked_mul(base.checked_pow(power)?)
}

/// A whole number as fio reads it: also `0x10`, `1k` (1024), and `30.0`. `None`: this is no whole number.
pub(super) fn fio_number(text: &str) -> Option<u64> {
    let whole = text.trim().split_once('.').filter(|(_, rest)| !rest.is_empty() && rest.bytes().all(|c| c == b'0'));
    fio_bytes(whole.map_or(text, |(whole, _)| whole))
}

/// Operations of a job whose rates fio keeps. In `trimwrite` the rate of writes decides when a block is trimmed, too.
pub(super) fn rated_ops(rw: &str) -> &'static [Op] {
    match rw.split_once(':').map_or(rw, |(rw, _)| rw) {
        "rw" | "readwrite" | "randrw" => &[Op::Read, Op::Write],
        "trimwrite" | "randtrimwrite" => &[Op::Write, Op::Write],
        rw if rw.contains("write") => &[Op::Write],
        rw if rw.contains("trim") => &[Op::Trim],
        _ => &[Op::Read],
    }
}

/// I/Os per second of one job for each operation whose rate fio keeps, as fio reads `rate_iops`: its k is 1024, the last rate
/// is repeated for operations that are not named, and 0 is no limit. `None`: this is not a rate.
#[must_use]
pub fn fio_rates(rate_iops: &str, rw: &str) -> Option<Vec<u64>> {
    let part = |text: &str| if text.trim().is_empty() { Some(0) } else { fathom_units::parse_size(text).ok() };
    let parts: Vec<u64> = rate_iops.split(',').map(part).collect::<Option<_>>()?;
    let of = |op: &Op| parts.get(*op as usize).or(parts.last()).copied().unwrap_or(0);
    Some(rated_ops(rw).iter().map(of).collect())
}

/// The names in a list of files: parted by `:`; `\:` is a colon in a name.
#[must_use]
pub fn fio_file_names(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&':') => {
                names.last_mut().expect("never empty").push(chars.next().unwrap_or(':'));
            }
            ':' => names.push(String::new()),
            _ => names.last_mut().expect("never empty").push(c),
        }
    }
    names.retain(|n| !n.is_empty());
    names
}

/// A name in which fio finds no list.
#[must_use]
pub fn fio_file_name(name: &str) -> String {
    name.replace(':', "\\:")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_those_that_fio_3_33_uses() {
        let measured = [("4KiB", 4000), ("4Ki", 4096), ("4kb", 4096), ("4k", 4096), ("0x1000", 4096), ("1mi", 1 << 20)];
        for (text, bytes) in measured {
            assert_eq!(fio_bytes(text), Some(bytes), "{text}");
        }
        assert_eq!(fio_bytes("10%"), None);
    }

    #[test]
    fn numbers_are_those_that_fio_3_33_uses() {
        assert_eq!(["0x10", "0.0", "7", "1k"].map(fio_number), [Some(16), Some(0), Some(7), Some(1024)]);
        assert_eq!(["0.5", "-1", "", ".0", "1."].map(fio_number), [None; 5]);
    }

    #[test]
    fn a_rate_is_per_direction_and_the_last_is_repeated() {
        assert_eq!(fio_rates("500", "randread"), Some(vec![500]));
        assert_eq!(fio_rates("500", "randrw"), Some(vec![500, 500]));
        assert_eq!(fio_rates("1k,300", "rw"), Some(vec![1024, 300]));
        assert_eq!(fio_rates("1k,300", "randrw:8"), Some(vec![1024, 300]));
        assert_eq!(fio_rates(",7", "write"), Some(vec![7]));
        assert_eq!(fio_rates(",7", "randrw"), Some(vec![0, 7]));
        assert_eq!(
            fio_rates("10,100,50", "trimwrite"),
            Some(vec![100, 100]),
            "fio 3.33: 100 trims and 100 writes a second"
        );
        assert_eq!(fio_rates("5,6,7", "randtrim"), Some(vec![7]));
        assert_eq!(fio_rates("fast", "read"), None);
    }

    proptest! {
        #[test]
        fn written_names_are_read_back(names in prop::collection::vec("[a-z/:.]{1,12}", 1..5)) {
            let list = names.iter().map(|n| fio_file_name(n)).collect::<Vec<_>>().join(":");
            prop_assert_eq!(fio_file_names(&list), names);
        }
    }
}
