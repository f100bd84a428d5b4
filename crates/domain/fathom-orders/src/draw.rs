//! Texts as clause 4.3.2 wants them.

use crate::nurand::between;
use fathom_random::Rng;

const ALPHANUMERIC: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SYLLABLES: [&str; 10] = ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];

/// The last name of `number`, below 1000: a syllable for each of its three digits (clause 4.3.2.3).
#[must_use]
pub fn last_name(number: u32) -> String {
    let digit = |n: u32| SYLLABLES[(n % 10) as usize];
    [digit(number / 100), digit(number / 10), digit(number)].concat()
}

/// A random text of letters and digits, `shortest` to `longest` long: hardly 6 bits in 8 are chance, so that a drive that
/// compresses can save a quarter of it and no more.
pub(crate) fn text(rng: &mut Rng, shortest: u32, longest: u32) -> String {
    let length = between(rng, shortest, longest);
    (0..length).map(|_| char::from(ALPHANUMERIC[rng.below(62) as usize])).collect()
}

/// Random digits.
pub(crate) fn digits(rng: &mut Rng, length: u32) -> String {
    (0..length).map(|_| char::from(b'0' + rng.below(10) as u8)).collect()
}

/// True with `percent` in 100.
pub(crate) fn chance(rng: &mut Rng, percent: u64) -> bool {
    rng.below(100) < percent
}

/// I_DATA or S_DATA: 26 to 50 long, with ORIGINAL somewhere in one of ten (clause 4.3.3.1).
pub(crate) fn data(rng: &mut Rng) -> String {
    const MARK: &str = "ORIGINAL";
    let mut text = text(rng, 26, 50);
    if chance(rng, 10) {
        let at = rng.below((text.len() - MARK.len() + 1) as u64) as usize;
        text.replace_range(at..at + MARK.len(), MARK);
    }
    text
}

/// The numbers 1 to `n` in random order (Fisher and Yates).
pub(crate) fn permutation(rng: &mut Rng, n: u32) -> Vec<u32> {
    let mut out: Vec<u32> = (1..=n).collect();
    shuffle(rng, &mut out);
    out
}

/// Puts `items` in random order.
pub(crate) fn shuffle<T>(rng: &mut Rng, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, rng.below(last as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_names_are_those_of_the_specification() {
        // The example of clause 4.3.2.3.
        assert_eq!(last_name(371), "PRICALLYOUGHT");
        assert_eq!(last_name(40), "BARPRESBAR");
        let names: std::collections::BTreeSet<String> = (0..1000).map(last_name).collect();
        assert_eq!(names.len(), 1000);
        assert!(names.iter().all(|name| name.len() <= 16), "C_LAST has 16 characters");
    }

    #[test]
    fn a_tenth_of_the_data_is_marked_and_all_of_it_has_its_length() {
        let mut rng = Rng::new(5, 0);
        let texts: Vec<String> = (0..10_000).map(|_| data(&mut rng)).collect();
        assert!(texts.iter().all(|text| (26..=50).contains(&text.len())));
        let marked = texts.iter().filter(|text| text.contains("ORIGINAL")).count();
        assert!((900..1100).contains(&marked), "{marked}");
    }

    #[test]
    fn a_permutation_has_each_number_once_in_another_order() {
        let mut rng = Rng::new(5, 0);
        let mut drawn = permutation(&mut rng, 3_000);
        assert!(!drawn.is_sorted());
        drawn.sort_unstable();
        assert!(drawn.into_iter().eq(1..=3_000));
    }
}
