//! Errors that point at the place in the text: file, line, column and what to do.

use std::ops::Range;

use fathom_message::{Message, Place, Say, say_error};
use toml::de::DeTable;

/// A plan that cannot be read, with the place and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceError {
    /// Place in the source text.
    pub place: Place,
    /// What is wrong.
    pub message: Message,
    /// What to do, if known.
    pub help: Option<Message>,
    /// What kind of fault it is, for who looks for others.
    pub fault: FaultKind,
    /// Other faults of the same text that do not follow from this one.
    pub others: Box<[SourceError]>,
}

/// What is wrong, as far as it matters for what else may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A key that nobody knows: so it is whatever else the text says.
    UnknownKey,
    /// A key that should be there.
    MissingKey,
    /// Anything else; it may follow from another value.
    Other,
}

impl SourceError {
    /// The same error, of a kind.
    #[must_use]
    pub fn of_kind(self, fault: FaultKind) -> Self {
        SourceError { fault, ..self }
    }

    /// An error at a byte range of `text`.
    #[must_use]
    pub fn at(file: &str, text: &str, span: Range<usize>, message: Message, help: Option<Message>) -> Self {
        SourceError {
            place: Place::at(file, text, span),
            message,
            help,
            fault: FaultKind::Other,
            others: Box::default(),
        }
    }

    /// An error of something that has no line: the command line, a name.
    #[must_use]
    pub fn without_place(origin: &str, message: Message, help: Option<Message>) -> Self {
        SourceError { place: Place::of(origin), message, help, fault: FaultKind::Other, others: Box::default() }
    }

    /// The error with the other faults of a TOML text, which are found by reading it again without the faulty lines.
    /// `read`: the error of a text, if it has one. `is_of_its_own`: whether an error that is met then cannot follow from
    /// what was left out.
    #[must_use]
    pub fn with_others_of_toml(
        mut self,
        text: &str,
        read: &dyn Fn(&str) -> Option<SourceError>,
        is_of_its_own: fn(&SourceError) -> bool,
    ) -> Self {
        let mut rest = text.to_owned();
        let mut line = self.place.line;
        let mut others = Vec::new();
        for _ in 0..OTHERS_MAX {
            if !can_be_left_out(&rest, line) {
                break;
            }
            rest = without_line(&rest, line);
            // A value of several lines cannot be left out by one.
            if DeTable::parse(&rest).is_err() {
                break;
            }
            let Some(next) = read(&rest) else { break };
            line = next.place.line;
            others.extend(Some(next).filter(is_of_its_own));
        }
        self.others = others.into();
        self
    }
}

/// A reader who mends twenty faults looks again anyway.
const OTHERS_MAX: usize = 19;

/// Whether `line` (from 1) holds a key with its value: without the head of a table its keys would belong to another.
fn can_be_left_out(text: &str, line: usize) -> bool {
    let source = line.checked_sub(1).and_then(|at| text.lines().nth(at)).unwrap_or_default().trim();
    !source.is_empty() && !source.starts_with('[')
}

/// The text with an empty line in place of `line` (from 1), so that the others keep their numbers.
fn without_line(text: &str, line: usize) -> String {
    text.lines().enumerate().map(|(at, l)| if at + 1 == line { "\n".to_owned() } else { format!("{l}\n") }).collect()
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
