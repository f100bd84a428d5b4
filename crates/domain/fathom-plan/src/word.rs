//! The nearest valid word for a misspelling.

/// The candidate closest to `word`, if one is close enough to be meant.
///
/// Underscores, dashes and case do not count; at most one edit per three letters is forgiven (at least one).
#[must_use]
pub fn nearest_word<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = plain(word);
    // A word beyond any key's length is no misspelling, and the distance is quadratic in it.
    if plain.is_empty() || plain.len() > 64 {
        return None;
    }
    let letters = plain.chars().count();
    // Fewer edits than letters: a word replaced as a whole was not meant.
    let edits_max = (letters / 3).max(1).min(letters - 1);
    candidates
        .into_iter()
        .map(|c| (strsim::damerau_levenshtein(&plain, &self::plain(c)), c))
        .filter(|(edits, _)| *edits <= edits_max)
        .min_by_key(|(edits, c)| (*edits, c.len().abs_diff(word.len())))
        .map(|(_, c)| c)
}

fn plain(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

/// "did you mean `x`?" or a list of what is valid.
pub(crate) fn advice(word: &str, candidates: &[&str]) -> String {
    match nearest_word(word, candidates.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("valid: {}", candidates.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_word_finds_its_neighbour() {
        let words = ["iodepth", "numjobs", "rw", "io_uring", "libaio"];
        for (wrong, right) in
            [("io_depth", "iodepth"), ("iouring", "io_uring"), ("libiao", "libaio"), ("numjob", "numjobs")]
        {
            assert_eq!(nearest_word(wrong, words), Some(right), "{wrong}");
        }
    }

    #[test]
    fn a_word_from_nowhere_has_no_neighbour() {
        assert_eq!(nearest_word("watermelon", ["iodepth", "rw"]), None);
        assert_eq!(nearest_word("", ["iodepth"]), None);
        assert_eq!(nearest_word(&"x".repeat(100_000), ["iodepth"]), None);
    }
}
