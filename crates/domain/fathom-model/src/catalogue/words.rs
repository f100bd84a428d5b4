//! Words of the catalogue that decide what a figure counts for.

use std::fmt;

use fathom_plan::ReadWrite;
use serde::{Deserialize, Serialize};

/// How a figure came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureKind {
    /// Measured by the publication.
    Measured,
    /// Rated by the maker.
    Rated,
    /// Of a specification.
    Spec,
    /// Calculated from other figures of the publication.
    Derived,
    /// Estimated.
    Estimated,
    /// Predicted by a model.
    Predicted,
    /// Taken from elsewhere.
    Cited,
    /// Asserted.
    Claim,
    /// A condition of a measurement.
    Condition,
    /// Seen, not measured.
    Observed,
    /// A rule of thumb.
    Rule,
    /// Its text is garbled.
    Garbled,
    /// Made up to show what is wrong with it.
    Bogus,
}

/// How a figure is worded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum FigureRelation {
    /// As printed.
    #[default]
    #[serde(rename = "=")]
    Equal,
    /// About.
    #[serde(rename = "~")]
    About,
    /// Less than; nearly.
    #[serde(rename = "<")]
    Less,
    /// Up to.
    #[serde(rename = "<=")]
    AtMost,
    /// More than; over.
    #[serde(rename = ">")]
    More,
    /// At least.
    #[serde(rename = ">=")]
    AtLeast,
    /// A range.
    #[serde(rename = "between")]
    Between,
}

impl FigureRelation {
    /// The sign, or `between`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            FigureRelation::Equal => "=",
            FigureRelation::About => "~",
            FigureRelation::Less => "<",
            FigureRelation::AtMost => "<=",
            FigureRelation::More => ">",
            FigureRelation::AtLeast => ">=",
            FigureRelation::Between => "between",
        }
    }

    /// The sign to print before a figure; empty where the figure alone says it.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            FigureRelation::Equal | FigureRelation::Between => "",
            other => other.as_str(),
        }
    }
}

impl fmt::Display for FigureRelation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What made the load of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PublishedOp {
    /// A database.
    #[serde(rename = "oltp")]
    Oltp,
    /// I/O, in fio's word.
    #[serde(untagged)]
    Io(ReadWrite),
}

impl PublishedOp {
    /// fio's word, where it was I/O.
    #[must_use]
    pub const fn io(self) -> Option<ReadWrite> {
        match self {
            PublishedOp::Io(rw) => Some(rw),
            PublishedOp::Oltp => None,
        }
    }
}
