//! The word a user probably meant.

use fathom_message::{Arg, Join, Message, msg};

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

/// Asks for the candidate nearest to a misspelt word; `None` when none is near.
pub fn did_you_mean<'a, S>(word: &str, candidates: impl IntoIterator<Item = &'a S>) -> Option<Message>
where
    S: AsRef<str> + ?Sized + 'a,
{
    nearest(word, candidates).map(|near| msg!("did-you-mean", near = near.to_owned()))
}

/// What to write instead of a word that is not valid: the nearest of the valid ones, or all of them.
#[must_use]
pub fn advice(word: &str, valid: &[&str]) -> Message {
    did_you_mean(word, valid.iter().copied())
        .unwrap_or_else(|| msg!("valid-words", words = Arg::names(valid.iter().copied(), Join::Comma)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_language::english;

    #[test]
    fn a_misspelling_finds_its_word() {
        let engines = ["io_uring", "libaio", "psync", "mmap", "null"];
        assert_eq!(nearest("iouring", engines), Some("io_uring"));
        assert_eq!(nearest("libiao", &engines), Some("libaio"));
        assert_eq!(nearest("IO_URING", &engines.map(String::from)), Some("io_uring"));
        assert_eq!(nearest("spdk", engines), None);
        assert_eq!(nearest("", engines), None);
    }

    #[test]
    fn advice_is_the_nearest_word_or_all_that_are_valid() {
        let modes = ["interrupt", "iopoll", "sqpoll"];
        assert_eq!(english(&advice("iopol", &modes)), "did you mean `iopoll`?");
        assert_eq!(english(&advice("turbo", &modes)), "valid: interrupt, iopoll, sqpoll");
    }
}
