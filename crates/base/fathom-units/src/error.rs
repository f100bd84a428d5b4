//! The error of all parsers.

use crate::nearest::nearest;
use crate::number::NumberProblem;

/// A text that is not the quantity asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {what}: {problem}")]
pub struct UnitError {
    /// What was expected: `a size`, `a duration`...
    pub what: &'static str,
    /// The text as given.
    pub text: String,
    /// What is wrong with it.
    pub problem: String,
    /// What to write instead, a sentence.
    pub help: String,
}

/// A quantity as its parser describes it in errors.
pub(crate) struct Quantity {
    pub(crate) what: &'static str,
    pub(crate) help: &'static str,
    /// Units as a user should write them.
    pub(crate) units: &'static [&'static str],
}

impl Quantity {
    pub(crate) fn error(&self, text: &str, problem: impl Into<String>) -> UnitError {
        UnitError { what: self.what, text: text.to_owned(), problem: problem.into(), help: self.help.to_owned() }
    }

    pub(crate) fn unknown_unit(&self, text: &str, unit: &str) -> UnitError {
        let mut error = self.error(text, format!("unknown unit `{unit}`"));
        if let Some(near) = nearest(unit, self.units) {
            error.help = format!("Did you mean `{near}`? {}", self.help);
        }
        error
    }

    pub(crate) fn bad_number(&self, text: &str, problem: NumberProblem, smallest: &str) -> UnitError {
        match problem {
            NumberProblem::Missing => self.error(text, "it does not begin with a number"),
            NumberProblem::Malformed => self.error(text, "the number is malformed"),
            NumberProblem::TooLarge => self.error(text, "it is too large"),
            NumberProblem::NotWhole => self.error(text, format!("it is not a whole number of {smallest}")),
        }
    }
}
