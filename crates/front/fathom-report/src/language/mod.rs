//! Languages of the report. Its page has a catalogue of words per language (`web/src/text`); the sentences of a document
//! are written in English by the crates below and are put into another language here, by a phrasebook.

mod collect;
mod phrasebook;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub(crate) use collect::{comparison_sentences, document_sentences, reproduction_sentences};
pub use phrasebook::Phrasebook;

/// A language of the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Language {
    /// English.
    #[default]
    #[serde(rename = "en")]
    English,
    /// Simplified Chinese.
    #[serde(rename = "zh")]
    Chinese,
}

impl Language {
    /// All languages.
    pub const ALL: [Language; 2] = [Language::English, Language::Chinese];

    /// Code as on the command line and in the page.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Chinese => "zh",
        }
    }

    /// The phrasebook from English into this language; `None` for English itself.
    #[must_use]
    pub fn phrasebook(self) -> Option<&'static Phrasebook> {
        match self {
            Language::English => None,
            Language::Chinese => Some(Phrasebook::chinese()),
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// A language that the report does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no report in language `{0}`: name en or zh")]
pub struct UnknownLanguage(String);

impl FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Language::ALL.into_iter().find(|l| l.code() == text);
        found.ok_or_else(|| UnknownLanguage(text.to_owned()))
    }
}

/// Sentences in other languages, by code and English sentence: what a page needs to change its language.
pub(crate) fn translations<'a>(
    sentences: impl Iterator<Item = &'a str>,
) -> BTreeMap<&'static str, BTreeMap<&'a str, String>> {
    let mut out = BTreeMap::new();
    // Sorted and each once: a run of many steps repeats itself.
    let all: BTreeSet<&str> = sentences.filter(|s| !s.is_empty()).collect();
    for language in Language::ALL {
        let Some(book) = language.phrasebook() else { continue };
        let known = all.iter().filter_map(|s| book.translate(s).map(|t| (*s, t))).collect();
        out.insert(language.code(), known);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_named_by_their_codes_and_others_refused() {
        for language in Language::ALL {
            assert_eq!(language.code().parse(), Ok(language));
        }
        let error = "fr".parse::<Language>().expect_err("there is no French report");
        assert!(error.to_string().contains("en or zh"));
    }
}
