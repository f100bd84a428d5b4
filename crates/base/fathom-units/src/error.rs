//! The error of all parsers.

use fathom_message::{Arg, Join, Message, Say, msg, say_error};

use crate::nearest::did_you_mean;
use crate::number::NumberProblem;

/// A text that is not the quantity asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitError {
    /// What was expected: `a size`, `a duration`...
    pub what: Message,
    /// The text as given.
    pub text: String,
    /// What is wrong with it.
    pub problem: Message,
    /// What to write instead.
    pub help: Message,
}

impl Say for UnitError {
    fn message(&self) -> Message {
        msg!("unit-error", text = &self.text, what = &self.what, problem = &self.problem)
    }

    fn help(&self) -> Option<Message> {
        Some(self.help.clone())
    }
}

say_error!(UnitError);

/// A quantity as its parser describes it in errors.
pub(crate) struct Quantity {
    pub(crate) what: Message,
    pub(crate) help: Message,
    /// Units as a user should write them.
    pub(crate) units: &'static [&'static str],
}

impl Quantity {
    pub(crate) fn error(&self, text: &str, problem: Message) -> UnitError {
        UnitError { what: self.what.clone(), text: text.to_owned(), problem, help: self.help.clone() }
    }

    pub(crate) fn unknown_unit(&self, text: &str, unit: &str) -> UnitError {
        let mut error = self.error(text, msg!("unit-unknown", unit = unit.to_owned()));
        if let Some(near) = did_you_mean(unit, self.units.iter().copied()) {
            error.help = msg!("several-sentences", list = Arg::list([near, self.help.clone()], Join::Sentences));
        }
        error
    }

    pub(crate) fn bad_number(&self, text: &str, problem: NumberProblem, smallest: Message) -> UnitError {
        let problem = match problem {
            NumberProblem::Missing => msg!("number-missing"),
            NumberProblem::Malformed => msg!("number-malformed"),
            NumberProblem::TooLarge => msg!("number-too-large"),
            NumberProblem::NotWhole => msg!("number-not-whole", unit = smallest),
        };
        self.error(text, problem)
    }
}
