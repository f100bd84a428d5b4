//! Errors and remarks as people read them, for the tests of this crate.

use fathom_language::{Language, english};
use fathom_message::{Message, Place};

use crate::error::SourceError;
use crate::knobs::KnobError;

pub(crate) fn source_words(error: &SourceError) -> String {
    Language::English.say_at(&error.place, &error.message, error.help.as_ref())
}

pub(crate) fn knob_words(error: &KnobError) -> String {
    Language::English.say_at(&Place::default(), &error.message, error.help.as_ref())
}

/// One per line.
pub(crate) fn lines(messages: &[Message]) -> String {
    messages.iter().map(english).collect::<Vec<_>>().join("\n")
}
