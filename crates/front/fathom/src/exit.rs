//! Exit codes, and the one shape of an error at the surface: what, where, why, what to do.

use fathom_host::{OpenError, OutputError, Refusal, RefusalKind};
use fathom_lab::{ConductError, TakeError, TargetError};
use fathom_language::Language;
use fathom_message::Say;
use fathom_plan::{KnobError, SourceError};
use fathom_store::StoreError;

use crate::terminal::say;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All done.
    Done = 0,
    /// A step failed, or something else went wrong under way.
    Failed = 1,
    /// Wrong usage or plan.
    Usage = 2,
    /// Refused by the guard.
    Refused = 3,
    /// Interrupted; what was measured is kept.
    Interrupted = 4,
    /// Asked to judge, and the data do not tell.
    Inconclusive = 5,
}

impl Exit {
    /// All, in the order of their codes.
    pub(crate) const ALL: [Exit; 6] =
        [Exit::Done, Exit::Failed, Exit::Usage, Exit::Refused, Exit::Interrupted, Exit::Inconclusive];

    /// What the manual says of it.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Exit::Done => "All done.",
            Exit::Failed => {
                "A step failed, something else went wrong under way, or compare --fail-if-slower found a slower step."
            }
            Exit::Usage => "Wrong usage or plan.",
            Exit::Refused => "Refused before anything was written.",
            Exit::Interrupted => "Interrupted; what was measured is kept.",
            Exit::Inconclusive => "Asked to judge, and the data do not tell.",
        }
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        std::process::ExitCode::from(exit as u8)
    }
}

/// An error as the user sees it.
#[derive(Debug)]
pub(crate) struct Problem {
    /// What, where and why; may have several lines (a source error shows its line).
    pub(crate) message: String,
    /// What to do.
    pub(crate) help: Option<String>,
    /// How the program ends.
    pub(crate) exit: Exit,
}

impl Problem {
    pub(crate) fn new(exit: Exit, message: impl Into<String>, help: impl Into<String>) -> Self {
        let help = help.into();
        Problem { message: message.into(), help: (!help.is_empty()).then_some(help), exit }
    }

    /// What an error says, in the language of the terminal.
    pub(crate) fn of(exit: Exit, error: &impl Say) -> Self {
        Problem::new(exit, say(&error.message()), error.help().as_ref().map(say).unwrap_or_default())
    }

    /// As [`Problem::of`] for a value of the command line that was given with `flag`.
    pub(crate) fn of_flag(flag: &str, error: &impl Say) -> Self {
        let message = format!("{flag}: {}", say(&error.message()));
        Problem { message, ..Problem::of(Exit::Usage, error) }
    }

    pub(crate) fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Problem::new(Exit::Usage, message, help)
    }
}

impl From<SourceError> for Problem {
    fn from(error: SourceError) -> Self {
        // The help stands at the place.
        let one = |e: &SourceError| Language::English.say_at(&e.place, &e.message, e.help.as_ref());
        let all: Vec<String> = std::iter::once(&error).chain(&error.others).map(one).collect();
        Problem::usage(all.join("\nerror: "), "")
    }
}

impl From<KnobError> for Problem {
    fn from(error: KnobError) -> Self {
        Problem::of(Exit::Usage, &error)
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        if refusal.kind == RefusalKind::Missing {
            return Problem::of(Exit::Usage, &refusal);
        }
        let message = format!("{}\n  refused before anything was written", say(&refusal.message));
        Problem::new(Exit::Refused, message, say(&refusal.help))
    }
}

impl From<TargetError> for Problem {
    fn from(error: TargetError) -> Self {
        match error {
            TargetError::Guard(refusal) => refusal.into(),
            TargetError::Machine(error) => (*error).into(),
            TargetError::Taken(TakeError::Host(error)) => error.into(),
            TargetError::Taken(error) => Problem::of(Exit::Refused, &error),
            TargetError::Setting(error) => error.into(),
            TargetError::Open(error @ OpenError::Database { .. }) => Problem::of(Exit::Refused, &error),
            other => Problem::of(Exit::Usage, &other),
        }
    }
}

impl From<OutputError> for Problem {
    fn from(error: OutputError) -> Self {
        let exit = if matches!(error, OutputError::Io { .. }) { Exit::Failed } else { Exit::Refused };
        Problem::of(exit, &error)
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let exit = match error {
            StoreError::RunNotFound { .. } => Exit::Usage,
            StoreError::NotAFile(_) => Exit::Refused,
            _ => Exit::Failed,
        };
        Problem::of(exit, &error)
    }
}

impl From<ConductError> for Problem {
    fn from(error: ConductError) -> Self {
        match error {
            ConductError::Target(e) => e.into(),
            ConductError::Store(e) => e.into(),
            ConductError::Setting(e) => e.into(),
            ConductError::OtherHost { .. }
            | ConductError::OtherRanks { .. }
            | ConductError::Gone { .. }
            | ConductError::NotAgain { .. }
            | ConductError::DrivesGone { .. } => Problem::of(Exit::Refused, &error),
            ConductError::Host(_) | ConductError::Layout { .. } => Problem::of(Exit::Failed, &error),
        }
    }
}
