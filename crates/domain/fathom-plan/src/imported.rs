//! Facts of a load that another program measured, where its file does not say all that a step says.

use serde::{Deserialize, Serialize};

/// Part of a load that a file may leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum LoadPart {
    /// Reads, writes or trims.
    Operations,
    /// Order of the blocks; the step has [`crate::Pattern::Unknown`].
    Order,
    /// Number of threads; the step has the least that there can have been.
    Threads,
    /// I/Os in flight per thread; the step has the least that there can have been.
    Depth,
    /// Means by which I/O was issued.
    Engine,
    /// Direct or buffered I/O.
    Direct,
}

/// Facts that an import adds to a step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default)]
pub struct ImportedLoad {
    /// Engine of the program that measured, where Fathom has no such engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub engine: Option<String>,
    /// Parts of the load that the file does not say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub unknown: Vec<LoadPart>,
    /// True for figures of reads, writes and trims together (fio's `unified_rw_reporting=mixed`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub is_unified: bool,
}

impl ImportedLoad {
    /// True if the step says all that it takes to run it.
    #[must_use]
    pub fn can_run(&self) -> bool {
        self.engine.is_none() && self.unknown.is_empty()
    }

    /// True if there is nothing to say.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == ImportedLoad::default()
    }
}
