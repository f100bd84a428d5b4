//! Exit codes, and the one shape of an error at the surface: what, where, why, what to do.

use fathom_host::Refusal;
use fathom_lab::{ConductError, TargetError};
use fathom_plan::SourceError;
use fathom_store::StoreError;

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

    pub(crate) fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Problem::new(Exit::Usage, message, help)
    }
}

impl From<SourceError> for Problem {
    fn from(error: SourceError) -> Self {
        // Its text already carries place and help.
        Problem::usage(error.to_string(), "")
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        Problem::new(Exit::Refused, format!("{refusal}\n  refused before anything was written"), refusal.help.clone())
    }
}

impl From<TargetError> for Problem {
    fn from(error: TargetError) -> Self {
        let help = error.help();
        match error {
            TargetError::Guard(refusal) => refusal.into(),
            TargetError::WouldOverwrite { .. } => Problem::new(Exit::Refused, error.to_string(), help),
            other => Problem::usage(other.to_string(), help),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let help = error.help();
        let exit = if matches!(error, StoreError::RunNotFound { .. }) { Exit::Usage } else { Exit::Failed };
        Problem::new(exit, error.to_string(), help)
    }
}

impl From<ConductError> for Problem {
    fn from(error: ConductError) -> Self {
        match error {
            ConductError::Target(e) => e.into(),
            ConductError::Store(e) => e.into(),
            ConductError::Setting(e) => e.into(),
            ConductError::OtherHost { .. } | ConductError::Gone { .. } | ConductError::NotAgain { .. } => {
                Problem::new(Exit::Refused, error.to_string(), "begin a new run: fathom run --like RUN")
            }
            ConductError::DrivesGone { .. } => {
                Problem::new(Exit::Refused, error.to_string(), "name the targets to do it on: --target")
            }
            ConductError::Host(_) => Problem::new(Exit::Failed, error.to_string(), "mount /proc and /sys"),
            ConductError::Layout { ref help, .. } => Problem::new(Exit::Failed, error.to_string(), help.clone()),
        }
    }
}
