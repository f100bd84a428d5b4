//! Lists of CPUs as the kernel and taskset write them.

use fathom_message::msg;

use crate::error::{Quantity, UnitError};

/// Above what any kernel can have; keeps a mistyped range from filling the memory.
const CPU_MAX: u32 = 65_535;

const LIST: Quantity = Quantity { what: msg!("unit-cpu-list"), help: msg!("unit-cpu-list-help"), units: &[] };

/// CPUs of a list such as `0-3,8`, in the order written.
///
/// # Errors
/// When the list is empty, a part is no number or ascending range, a CPU is named twice or is above 65535.
pub fn parse_cpu_list(text: &str) -> Result<Vec<u32>, UnitError> {
    let mut cpus = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (parse_cpu(text, first)?, parse_cpu(text, last)?);
        if first > last {
            return Err(LIST.error(text, msg!("cpu-range-descends", first = first, last = last)));
        }
        for cpu in first..=last {
            if !seen.insert(cpu) {
                return Err(LIST.error(text, msg!("cpu-twice", cpu = cpu)));
            }
            cpus.push(cpu);
        }
    }
    Ok(cpus)
}

/// CPUs of a bit map such as `00000003,0000000f`, as the kernel writes it: words of 32 bits, the highest first. Ascending.
///
/// # Errors
/// When a word is no hexadecimal number of 32 bits, or a CPU is above 65535.
pub fn parse_cpu_map(text: &str) -> Result<Vec<u32>, UnitError> {
    let mut cpus = Vec::new();
    for (word, digits) in (0_u32..).zip(text.trim().rsplit(',')) {
        let is_word = (1..=8).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let bits = u32::from_str_radix(digits, 16).ok().filter(|_| is_word);
        let bits = bits.ok_or_else(|| LIST.error(text, msg!("cpu-not-a-map", text = digits.to_owned())))?;
        cpus.extend((0..32).filter(|bit| bits >> bit & 1 == 1).map(|bit| word * 32 + bit));
    }
    match cpus.last() {
        Some(cpu) if *cpu > CPU_MAX => {
            Err(LIST.error(text, msg!("cpu-too-large", cpu = cpu.to_string(), max = CPU_MAX)))
        }
        _ => Ok(cpus),
    }
}

fn parse_cpu(text: &str, number: &str) -> Result<u32, UnitError> {
    let number = number.trim();
    if number.is_empty() {
        return Err(LIST.error(text, msg!("cpu-missing")));
    }
    if !number.bytes().all(|b| b.is_ascii_digit()) {
        return Err(LIST.error(text, msg!("cpu-not-a-number", text = number.to_owned())));
    }
    match number.parse() {
        Ok(cpu) if cpu <= CPU_MAX => Ok(cpu),
        _ => Err(LIST.error(text, msg!("cpu-too-large", cpu = number.to_owned(), max = CPU_MAX))),
    }
}

/// CPUs as a list with ranges: `0-3,8`. Keeps the order; empty for no CPUs.
#[must_use]
pub fn format_cpu_list(cpus: &[u32]) -> String {
    let parts = cpus.chunk_by(|a, b| a.checked_add(1) == Some(*b)).map(|run| match run {
        [one] => one.to_string(),
        [first, .., last] => format!("{first}-{last}"),
        [] => String::new(),
    });
    parts.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_language::english;
    use proptest::prelude::*;

    #[test]
    fn lists_are_read_in_order() {
        assert_eq!(parse_cpu_list("0-3,8"), Ok(vec![0, 1, 2, 3, 8]));
        assert_eq!(parse_cpu_list("8, 0-1\n"), Ok(vec![8, 0, 1]));
        assert_eq!(parse_cpu_list("5-5"), Ok(vec![5]));
    }

    #[test]
    fn a_bad_list_says_what_is_wrong() {
        for (text, word) in [
            ("", "missing"),
            ("0,", "missing"),
            ("1-", "missing"),
            ("3-1", "descends"),
            ("0-3,2", "CPU 2 is named twice"),
            ("all", "`all` is not a CPU number"),
            ("0-4000000000", "above 65535"),
            ("99999999999999999999", "above 65535"),
        ] {
            let error = parse_cpu_list(text).unwrap_err();
            assert!(english(&error.problem).contains(word), "{text}: {}", error.problem);
            assert!(english(&error.help).contains("0-3,8"));
        }
    }

    #[test]
    fn a_map_has_its_lowest_cpus_last() {
        assert_eq!(parse_cpu_map("3"), Ok(vec![0, 1]));
        let node: Vec<u32> = (0..6).chain(48..54).collect();
        assert_eq!(parse_cpu_map("00000000,003f0000,0000003f\n"), Ok(node));
        assert_eq!(parse_cpu_map("00000000"), Ok(Vec::new()));
        for bad in ["", "x", "0000000ff", "+f", ",", "1,"] {
            assert!(parse_cpu_map(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn a_printed_list_is_read_back(cpus in prop::collection::hash_set(0_u32..40, 1..30)) {
            let cpus: Vec<u32> = cpus.into_iter().collect();
            prop_assert_eq!(parse_cpu_list(&format_cpu_list(&cpus)), Ok(cpus));
        }

        #[test]
        fn ascending_cpus_print_as_the_kernel_does(cpus in prop::collection::btree_set(0_u32..12, 1..12)) {
            let cpus: Vec<u32> = cpus.into_iter().collect();
            let text = format_cpu_list(&cpus);
            let gaps = cpus.windows(2).filter(|w| w[1] - w[0] > 1).count();
            prop_assert_eq!(text.matches(',').count(), gaps);
        }

        #[test]
        fn any_text_is_parsed_without_panic(text in "[0-9,\\- a]{0,12}") {
            let _ = parse_cpu_list(&text);
        }
    }
}
