//! The word a user probably meant.

/// The candidate nearest to a misspelt word, or `None` when none is near.
///
/// Near: at most one edit for words up to five letters, else a third of the letters; swapping neighbours is one edit,
/// case does not count. Of equally near ones the first wins.
pub fn nearest<'a, S>(word: &str, candidates: impl IntoIterator<Item = &'a S>) -> Option<&'a str>
where
    S: AsRef<str> + ?Sized + 'a,
{
    let word = word.to_lowercase();
    let allowed = (word.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|c| (strsim::damerau_levenshtein(&word, &c.as_ref().to_lowercase()), c.as_ref()))
        .filter(|(distance, candidate)| *distance <= allowed && *distance < candidate.chars().count().max(2))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelling_finds_its_word() {
        let engines = ["io_uring", "libaio", "psync", "mmap", "null"];
        assert_eq!(nearest("iouring", engines), Some("io_uring"));
        assert_eq!(nearest("libiao", &engines), Some("libaio"));
        assert_eq!(nearest("IO_URING", &engines.map(String::from)), Some("io_uring"));
        assert_eq!(nearest("spdk", engines), None);
        assert_eq!(nearest("", engines), None);
    }
}
