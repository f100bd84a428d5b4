//! What can go wrong with a lab, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use fathom_host::OutputError;
use fathom_message::{Arg, Join, Message, Say, msg, say_error};
use rusqlite::ErrorCode;

use crate::types::{RunId, RunState};

/// Why the lab could not do what was asked. Nothing that was committed before is lost by any of these.
#[derive(Debug)]
pub enum StoreError {
    /// There is no lab at this path.
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// The folder of a new lab cannot be made.
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// Neither a regular file nor a place for one.
    NotAFile(OutputError),
    /// The file is something else.
    NotALab {
        /// The file.
        path: PathBuf,
        /// What it seems to be.
        why: Message,
    },
    /// Written by a newer program.
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// Newest version this program reads.
        known: i64,
    },
    /// Another process holds it.
    Locked {
        /// The file.
        path: PathBuf,
        /// Who, as far as the kernel tells.
        holder: Message,
    },
    /// Cut off or overwritten.
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        detail: Message,
    },
    /// The file or its folder cannot be written or opened.
    NotWritable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: Message,
    },
    /// It was removed or replaced while it was open.
    Gone {
        /// The file.
        path: PathBuf,
    },
    /// No space left.
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// No such run.
    RunNotFound {
        /// Asked for.
        id: RunId,
        /// What there is, ascending.
        existing: Vec<RunId>,
    },
    /// No such step in the run.
    StepNotFound {
        /// The run.
        id: RunId,
        /// Index in the plan.
        index: u32,
    },
    /// The run is over and immutable.
    RunClosed {
        /// The run.
        id: RunId,
        /// How it stands.
        state: Closed,
    },
    /// The step was committed before.
    StepExists {
        /// The run.
        id: RunId,
        /// Index in the plan.
        index: u32,
    },
    /// A record holds a figure that would not come back as it is (not a number, infinite).
    NotStorable {
        /// Which part.
        what: Message,
    },
    /// Anything else that SQLite reports.
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What SQLite answered.
        source: rusqlite::Error,
    },
}

fn existing_runs(existing: &[RunId]) -> Message {
    const SHOWN_MAX: usize = 10;
    if existing.is_empty() {
        return msg!("lab-holds-no-runs");
    }
    let skipped = existing.len().saturating_sub(SHOWN_MAX);
    let runs = Arg::names(existing[skipped..].iter().map(ToString::to_string), Join::Comma);
    if skipped > 0 { msg!("lab-holds-last", runs = runs) } else { msg!("lab-holds", runs = runs) }
}

impl Say for StoreError {
    fn message(&self) -> Message {
        match self {
            StoreError::Missing { path } => msg!("lab-missing", path = path),
            StoreError::Folder { path, source } => msg!("lab-folder", path = path, error = source),
            StoreError::NotAFile(OutputError::Kind { path, kind }) => msg!("lab-not-a-file", path = path, kind = kind),
            StoreError::NotAFile(error) => error.message(),
            StoreError::NotALab { path, why } => msg!("lab-not-a-lab", path = path, why = why),
            StoreError::NewerSchema { path, found, known } => {
                msg!("lab-newer", path = path, found = found.unsigned_abs(), known = known.unsigned_abs())
            }
            StoreError::Locked { path, holder } => msg!("lab-locked", path = path, holder = holder),
            StoreError::Damaged { path, detail } => msg!("lab-damaged", path = path, detail = detail),
            StoreError::NotWritable { path, detail } => msg!("lab-not-writable", path = path, detail = detail),
            StoreError::Gone { path } => msg!("lab-gone", path = path),
            StoreError::DiskFull { path } => msg!("lab-disk-full", path = path),
            StoreError::RunNotFound { id, existing } => {
                msg!("lab-no-run", run = id.to_string(), existing = existing_runs(existing))
            }
            StoreError::StepNotFound { id, index } => msg!("lab-no-step", run = id.to_string(), index = *index),
            StoreError::RunClosed { id, state } => {
                msg!("lab-run-closed", run = id.to_string(), state = state.message())
            }
            StoreError::StepExists { id, index } => msg!("lab-step-exists", run = id.to_string(), index = *index),
            StoreError::NotStorable { what } => msg!("lab-not-storable", what = what),
            StoreError::Sqlite { path, source } => msg!("lab-sqlite", path = path, error = source.to_string()),
        }
    }

    fn help(&self) -> Option<Message> {
        Some(match self {
            StoreError::Missing { .. } => msg!("lab-missing-help"),
            StoreError::Folder { .. } | StoreError::NotAFile(_) => msg!("lab-folder-help"),
            StoreError::NotALab { .. } => msg!("lab-not-a-lab-help"),
            StoreError::NewerSchema { .. } => msg!("lab-newer-help"),
            StoreError::Locked { .. } => msg!("lab-locked-help"),
            StoreError::Damaged { .. } => msg!("lab-damaged-help"),
            StoreError::NotWritable { .. } => msg!("lab-not-writable-help"),
            StoreError::Gone { .. } => msg!("lab-gone-help"),
            StoreError::DiskFull { .. } => msg!("lab-disk-full-help"),
            StoreError::RunNotFound { .. } | StoreError::StepNotFound { .. } => msg!("lab-no-run-help"),
            StoreError::RunClosed { .. } => msg!("lab-run-closed-help"),
            StoreError::StepExists { .. } => msg!("lab-step-exists-help"),
            StoreError::NotStorable { .. } => msg!("lab-not-storable-help"),
            StoreError::Sqlite { .. } => msg!("lab-sqlite-help"),
        })
    }
}

say_error!(StoreError);

/// How a run stands that cannot be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// In this state.
    In(RunState),
    /// Another process is at work on it.
    ByAnotherProcess,
}

impl Closed {
    fn message(self) -> Message {
        match self {
            Closed::In(RunState::Finished) => msg!("lab-state-finished"),
            Closed::In(RunState::Interrupted) => msg!("lab-state-interrupted"),
            Closed::In(RunState::Failed) => msg!("lab-state-failed"),
            Closed::In(RunState::Running) => msg!("lab-state-running"),
            Closed::ByAnotherProcess => msg!("lab-state-other-process"),
        }
    }
}

impl StoreError {
    /// True if another file would take what this one did not.
    pub(crate) fn is_of_the_place(&self) -> bool {
        match self {
            StoreError::Locked { .. }
            | StoreError::Damaged { .. }
            | StoreError::NotWritable { .. }
            | StoreError::Gone { .. }
            | StoreError::DiskFull { .. } => true,
            StoreError::Sqlite { source, .. } => source.sqlite_error_code() == Some(ErrorCode::SystemIoFailure),
            _ => false,
        }
    }

    /// Of a path that is no place for a lab.
    pub(crate) fn from_output(path: &Path, error: OutputError) -> StoreError {
        match error {
            OutputError::Io { source, .. } => {
                let folder = path.parent().unwrap_or(Path::new("."));
                StoreError::Folder { path: folder.to_owned(), source }
            }
            other => StoreError::NotAFile(other),
        }
    }

    /// Finds the kind behind an error of SQLite.
    pub(crate) fn from_sqlite(path: &Path, error: rusqlite::Error) -> StoreError {
        let path = path.to_owned();
        let detail = Message::verbatim(error.to_string());
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged { path, detail },
            Some(ErrorCode::NotADatabase) => StoreError::NotALab { path, why: msg!("lab-no-database") },
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

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[test]
    fn what_another_file_may_take_is_told_from_what_none_takes() {
        let of = |code| {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            StoreError::from_sqlite(Path::new("lab"), error).is_of_the_place()
        };
        let of_the_place =
            [ffi::SQLITE_BUSY, ffi::SQLITE_FULL, ffi::SQLITE_READONLY, ffi::SQLITE_CORRUPT, ffi::SQLITE_IOERR];
        assert!(of_the_place.into_iter().all(of));
        assert!(![ffi::SQLITE_CONSTRAINT, ffi::SQLITE_NOMEM].into_iter().any(of));
    }
}
