//! What goes into the lab and what comes out.

use std::fmt;
use std::path::PathBuf;

use fathom_host::FileMark;
use fathom_plan::{Plan, Step, TargetId};
pub use fathom_record::RunState;
use fathom_record::{StepFailure, StepRecord};
use serde::{Deserialize, Serialize};

/// Number of a run; never used again, also after the run was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub i64);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A run about to begin.
#[derive(Clone, Copy, Debug)]
pub struct NewRun<'a> {
    /// Name of the study.
    pub study: &'a str,
    /// Its question.
    pub question: &'a str,
    /// The plan as it will be executed.
    pub plan: &'a Plan,
    /// Facts about the host, as JSON.
    pub host_json: &'a str,
    /// Version of the program.
    pub fathom_version: &'a str,
    /// Wall clock, Unix nanoseconds.
    pub started_unix_ns: u64,
    /// The command as given.
    pub command_line: &'a str,
    /// Whether its figures are quoted from a file: nothing was measured here.
    pub is_import: bool,
}

/// A file that a run made as a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeFile {
    /// The target it stands for.
    pub target: TargetId,
    /// Where it was made.
    pub path: PathBuf,
    /// Measured bytes.
    pub bytes: u64,
    /// What stands in the file, too.
    pub mark: FileMark,
    /// Whether the user asked for it to stay.
    pub is_kept: bool,
}

/// Folder in which Fathom creates files and folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkFolder {
    /// Absolute, without symlinks.
    pub path: PathBuf,
    /// Mount point of its file system; empty if unknown.
    pub mount_point: PathBuf,
    /// Run that works in it; `None`: no run in the lab.
    pub run: Option<RunId>,
}

/// One line of the list of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// Number.
    pub id: RunId,
    /// Study.
    pub study: String,
    /// Its question.
    pub question: String,
    /// State; a run whose process died without a word is `interrupted`.
    pub state: RunState,
    /// Start, Unix nanoseconds.
    pub started_unix_ns: u64,
    /// End; `None` while it runs and when its process died.
    pub finished_unix_ns: Option<u64>,
    /// Version of the program that ran it.
    pub fathom_version: String,
    /// The command as given.
    pub command_line: String,
    /// Whether its figures are quoted from a file.
    #[serde(default)]
    pub is_import: bool,
    /// Steps of the plan.
    pub steps_planned: u32,
    /// Steps with figures.
    pub steps_measured: u32,
    /// Steps refused or failed.
    pub steps_without_figures: u32,
}

/// A run without its steps.
#[derive(Clone, Debug, PartialEq)]
pub struct RunHead {
    /// Its line in the list.
    pub summary: RunSummary,
    /// The plan as executed.
    pub plan: Plan,
    /// Facts about the host, as JSON; read by [`crate::Lab::host_of`].
    pub host_json: String,
}

/// A step that ended.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredStep {
    /// The step as it was executed.
    pub step: Step,
    /// What came of it.
    pub outcome: Result<StepRecord, StepFailure>,
}

/// A whole run.
///
/// Every interval of every step holds a histogram of about 37 KiB: 1,000 steps of 50 intervals take 1.8 GiB. Whoever
/// needs one step at a time uses [`Lab::steps`](crate::Lab::steps) instead, which is also over ten times as fast.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The run itself.
    pub head: RunHead,
    /// Steps that ended, by their index in the plan.
    pub steps: Vec<StoredStep>,
}
