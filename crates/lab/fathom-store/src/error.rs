//! What can go wrong with a lab, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::types::RunId;

/// Why the lab could not do what was asked. Nothing that was committed before is lost by any of these.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no lab at this path.
    #[error("there is no lab at {path:?}")]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// The folder of a new lab cannot be made.
    #[error("cannot create the folder {path:?} for the lab")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// The file is something else.
    #[error("{path:?} is not a Fathom lab: {why}")]
    NotALab {
        /// The file.
        path: PathBuf,
        /// What it seems to be.
        why: String,
    },
    /// Written by a newer program.
    #[error("the lab {path:?} has schema version {found}; this program knows versions up to {known}")]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// Newest version this program reads.
        known: i64,
    },
    /// Another process holds it.
    #[error("the lab {path:?} is locked by {holder}")]
    Locked {
        /// The file.
        path: PathBuf,
        /// Who, as far as the kernel tells.
        holder: String,
    },
    /// Cut off or overwritten.
    #[error("the lab {path:?} is damaged: {detail}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// The file or its folder cannot be written or opened.
    #[error("the lab {path:?} cannot be opened for writing: {detail}")]
    NotWritable {
        /// The file.
        path: PathBuf,
        /// Cause.
        detail: String,
    },
    /// No space left.
    #[error("no space is left for the lab {path:?}")]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// No such run.
    #[error("there is no run {id} in the lab; {}", existing_runs(existing))]
    RunNotFound {
        /// Asked for.
        id: RunId,
        /// What there is, ascending.
        existing: Vec<RunId>,
    },
    /// No such step in the run.
    #[error("run {id} has no step {index} that ended")]
    StepNotFound {
        /// The run.
        id: RunId,
        /// Index in the plan.
        index: u32,
    },
    /// The run is over and immutable.
    #[error("run {id} is {state} and cannot be changed")]
    RunClosed {
        /// The run.
        id: RunId,
        /// Its state.
        state: &'static str,
    },
    /// The step was committed before.
    #[error("step {index} of run {id} is already in the lab")]
    StepExists {
        /// The run.
        id: RunId,
        /// Index in the plan.
        index: u32,
    },
    /// A record holds a figure that would not come back as it is (not a number, infinite).
    #[error("{what} holds a figure that is not finite and cannot be stored")]
    NotStorable {
        /// Which part.
        what: String,
    },
    /// Anything else that SQLite reports.
    #[error("the lab {path:?} cannot be used")]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: rusqlite::Error,
    },
}

fn existing_runs(existing: &[RunId]) -> String {
    const SHOWN_MAX: usize = 10;
    if existing.is_empty() {
        return "it holds no runs yet".to_owned();
    }
    let skipped = existing.len().saturating_sub(SHOWN_MAX);
    let shown = existing[skipped..].iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if skipped > 0 { format!("the last {SHOWN_MAX} are {shown}") } else { format!("it holds {shown}") }
}

impl StoreError {
    /// What to do about it, for the `help:` line.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            StoreError::Missing { .. } => "`fathom run quick` makes one; --lab or FATHOM_LAB names another",
            StoreError::Folder { .. } => "name a writable place: --lab PATH",
            StoreError::NotALab { .. } => {
                "nothing was changed; name the lab, or a file that does not exist: --lab PATH"
            }
            StoreError::NewerSchema { .. } => "nothing was changed; use the newer fathom, or another lab: --lab PATH",
            StoreError::Locked { .. } => "wait until that process is done, end it, or use another lab: --lab PATH",
            StoreError::Damaged { .. } => {
                "keep a copy; `sqlite3 FILE .recover` saves what is left; go on with another lab: --lab PATH"
            }
            StoreError::NotWritable { .. } => {
                "make the file and its folder writable (SQLite keeps two files beside it), or copy the lab: --lab PATH"
            }
            StoreError::DiskFull { .. } => {
                "free some space (`fathom rm RUN` gives back a run's), or name another: --lab PATH"
            }
            StoreError::RunNotFound { .. } | StoreError::StepNotFound { .. } => "`fathom list` shows all runs",
            StoreError::RunClosed { .. } => "begin a new run; finished runs are never changed",
            StoreError::StepExists { .. } => "each step of a plan is stored once; begin a new run to repeat it",
            StoreError::NotStorable { .. } => "this is a bug in Fathom: please report the step",
            StoreError::Sqlite { .. } => "name another lab with --lab PATH, or report this with the text above",
        }
    }

    /// Finds the kind behind an error of SQLite.
    pub(crate) fn from_sqlite(path: &Path, error: rusqlite::Error) -> StoreError {
        let path = path.to_owned();
        let detail = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged { path, detail },
            Some(ErrorCode::NotADatabase) => StoreError::NotALab { path, why: "it is no SQLite database".to_owned() },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                let holder = crate::owner::lock_holders(&path);
                StoreError::Locked { path, holder }
            }
            Some(ErrorCode::DiskFull) => StoreError::DiskFull { path },
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                StoreError::NotWritable { path, detail }
            }
            _ => StoreError::Sqlite { path, source: error },
        }
    }
}
