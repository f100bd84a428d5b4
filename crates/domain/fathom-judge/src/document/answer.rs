//! An answer as it is read first, and how far it can be trusted.

use fathom_message::{Message, msg};
use serde::{Deserialize, Serialize};

use super::step::without_words;

/// The answer that fits a first look: a sentence, a small table, one command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Brief {
    /// One sentence of at most 25 words: the figure, and what limits it.
    pub headline: Message,
    /// At most [`Brief::ROWS_MAX`].
    pub rows: Vec<BriefRow>,
    /// What to type next; `None` where nothing follows from the answer.
    pub next: Option<NextCommand>,
}

impl Brief {
    /// Most rows of the table.
    pub const ROWS_MAX: usize = 6;
}

impl Default for Brief {
    /// Documents of older versions have none.
    fn default() -> Brief {
        Brief { headline: without_words(), rows: Vec::new(), next: None }
    }
}

/// A row of the small table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BriefRow {
    /// What the row is about: `4k random writes`.
    pub name: Message,
    /// What is said of it, each with its unit: `50.2k IOPS ±2.1 %`, `QD 32`, `p99 1.00 ms`, `device (96 %)`.
    pub cells: Vec<Message>,
}

/// A command with its reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NextCommand {
    /// As typed in a shell.
    pub command: String,
    /// What it shows.
    pub why: Message,
}

/// How far the figures of a run can be trusted, as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Trust {
    /// In a word.
    pub level: TrustLevel,
    /// Its main reasons, the worst first, at most two; then what the intervals are of, where that is their windows alone. Empty
    /// when nothing speaks against the figures and the windows were long.
    pub reasons: Vec<Message>,
    /// What would mend the worst of them; `None` where nothing is to be mended, or nothing would.
    pub mend: Option<Message>,
}

/// How far figures can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum TrustLevel {
    /// Nothing was measured: the figures are those of a simulated machine.
    Simulated,
    /// Nothing was measured: another program stood in for the system (Wine), and the figures are its own.
    NotMeasured,
    /// Measured elsewhere: nothing is known of the host and of its state.
    NotJudged,
    /// To decide by.
    Good,
    /// To decide by where differences are large.
    Usable,
    /// Not to decide by.
    Poor,
}

impl TrustLevel {
    /// In a word.
    #[must_use]
    pub fn message(self) -> Message {
        match self {
            TrustLevel::Simulated => msg!("trust-level-simulated"),
            TrustLevel::NotMeasured => msg!("trust-level-not-measured"),
            TrustLevel::NotJudged => msg!("trust-level-not-judged"),
            TrustLevel::Good => msg!("trust-level-good"),
            TrustLevel::Usable => msg!("trust-level-usable"),
            TrustLevel::Poor => msg!("trust-level-poor"),
        }
    }
}
