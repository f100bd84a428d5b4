//! How a run stands.

use serde::{Deserialize, Serialize};

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// A live process is at work on it.
    Running,
    /// All steps were tried.
    Finished,
    /// Stopped by the user, or its process died; what was measured is kept.
    Interrupted,
    /// Given up because of an error.
    Failed,
}

impl RunState {
    /// The word stored and shown.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            RunState::Running => "running",
            RunState::Finished => "finished",
            RunState::Interrupted => "interrupted",
            RunState::Failed => "failed",
        }
    }

    /// The state of this word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<RunState> {
        [RunState::Running, RunState::Finished, RunState::Interrupted, RunState::Failed]
            .into_iter()
            .find(|state| state.as_str() == word)
    }
}
