//! Errors that point at the place in the text: file, line, column and what to do.

use std::ops::Range;

use fathom_message::{Message, Place, Say, say_error};

/// A plan that cannot be read, with the place and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceError {
    /// Place in the source text.
    pub place: Place,
    /// What is wrong.
    pub message: Message,
    /// What to do, if known.
    pub help: Option<Message>,
}

impl SourceError {
    /// An error at a byte range of `text`.
    #[must_use]
    pub fn at(file: &str, text: &str, span: Range<usize>, message: Message, help: Option<Message>) -> Self {
        SourceError { place: Place::at(file, text, span), message, help }
    }

    /// An error of something that has no line: the command line, a name.
    #[must_use]
    pub fn without_place(origin: &str, message: Message, help: Option<Message>) -> Self {
        SourceError { place: Place::of(origin), message, help }
    }
}

impl Say for SourceError {
    fn message(&self) -> Message {
        self.message.clone()
    }

    fn help(&self) -> Option<Message> {
        self.help.clone()
    }
}

say_error!(SourceError);
