//! Jobs that the installed fio runs, because Fathom lacks their engine or one of their words.

use serde::{Deserialize, Serialize};

/// A section of an fio job file, to be run by fio itself. It stands in the role of a step with the engine
/// [`crate::EngineName::Fio`], whose workload and load say of the job what Fathom understands of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FioJob {
    /// fio's word of its engine.
    pub ioengine: String,
    /// The keys in force, each as a line of a job file; without those that name files, which `place` stands for.
    pub lines: Vec<String>,
    /// What it works on.
    pub place: FioPlace,
}

impl FioJob {
    /// The keys in force and their values; an empty value is a key that stands alone.
    pub fn options(&self) -> impl Iterator<Item = (&str, &str)> {
        self.lines.iter().map(|line| line.split_once('=').unwrap_or((line, "")))
    }
}

/// What a job of fio works on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FioPlace {
    /// The targets of the step; each of fio's jobs goes round all of them.
    All,
    /// The targets of the step: so many files for each of fio's jobs in turn.
    OwnFiles {
        /// Files per job.
        files_per_job: u32,
    },
    /// Files that it makes and removes itself, in a new folder within the target: engines that measure file systems.
    Folder {
        /// Files and folders that all its jobs make together, at most.
        files: u64,
        /// What they hold together, at most.
        bytes: u64,
    },
    /// No storage of this machine: a processor, a network.
    Nothing,
}

impl FioPlace {
    /// Whether the step's targets are files and devices that it opens.
    #[must_use]
    pub fn is_on_targets(&self) -> bool {
        matches!(self, FioPlace::All | FioPlace::OwnFiles { .. })
    }
}
