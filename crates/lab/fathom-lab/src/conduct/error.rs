//! Why a run could not be conducted.

use std::path::PathBuf;

use fathom_host::ProbeError;
use fathom_host::settings::SettingError;
use fathom_message::{Arg, Join, Message, Say, msg, say_error};
use fathom_store::{RunId, StoreError};

use crate::site::{LayOutError, SiteError, TargetError};

/// Why a run could not be conducted. What was committed stays.
#[derive(Debug)]
pub enum ConductError {
    /// A target cannot be measured; nothing was written.
    Target(TargetError),
    /// The host cannot be looked at.
    Host(ProbeError),
    /// The lab database failed.
    Store(StoreError),
    /// The run that is to go on began on another machine, or with other drives.
    OtherHost {
        /// Which run.
        run: RunId,
        /// What differs.
        differences: Vec<Message>,
    },
    /// The run that is to go on was begun by fewer processes than would go on with it, or by one where several would, or by
    /// several where one would.
    OtherRanks {
        /// Which run.
        run: RunId,
        /// Ranks that began it; `None`: one process.
        was: Option<u32>,
        /// Ranks that would go on.
        now: Option<u32>,
    },
    /// Drives of the run that is to be repeated are not here, or cannot be told apart from others.
    DrivesGone {
        /// Which run.
        run: RunId,
        /// A message for each.
        lost: Vec<Message>,
    },
    /// The run that is to go on stands on a file that is gone.
    Gone {
        /// Which run.
        run: RunId,
        /// Which file.
        path: PathBuf,
    },
    /// The simulated run that is to go on holds a step that its machine cannot do again, so that its drives would not be
    /// in the state they were in.
    NotAgain {
        /// Which run.
        run: RunId,
        /// Label of the step.
        step: String,
        /// The reason.
        why: Message,
    },
    /// A setting could not be changed or brought back.
    Setting(SettingError),
    /// A file could not be filled.
    Layout {
        /// Its path.
        path: String,
        /// The reason.
        why: Message,
        /// Remedy.
        help: Message,
    },
}

macro_rules! from {
    ($($source:ty => $variant:ident;)*) => {
        $(impl From<$source> for ConductError {
            fn from(error: $source) -> ConductError {
                ConductError::$variant(error)
            }
        })*
    };
}

from! {
    TargetError => Target;
    ProbeError => Host;
    StoreError => Store;
    SettingError => Setting;
}

impl From<SiteError> for ConductError {
    fn from(error: SiteError) -> ConductError {
        match error {
            SiteError::LayOut(LayOutError { path, why, help }) => ConductError::Layout { path, why, help },
            SiteError::Probe(error) => ConductError::Host(error),
        }
    }
}

impl Say for ConductError {
    fn message(&self) -> Message {
        let joined = |list: &[Message]| Arg::list(list.iter().cloned(), Join::Semicolon);
        match self {
            ConductError::Target(error) => error.message(),
            ConductError::Host(error) => msg!("run-host-unreadable", error = error.message()),
            ConductError::Store(error) => error.message(),
            ConductError::OtherHost { run, differences } => {
                msg!("run-other-host", run = run.to_string(), differences = joined(differences))
            }
            ConductError::OtherRanks { run, was, now } => {
                let (was, now) = (was.unwrap_or(1), now.unwrap_or(1));
                msg!("run-other-ranks", run = run.to_string(), was = was, now = now)
            }
            ConductError::DrivesGone { run, lost } => {
                msg!("run-drives-gone", run = run.to_string(), lost = joined(lost))
            }
            ConductError::Gone { run, path } => msg!("run-file-gone", run = run.to_string(), path = path),
            ConductError::NotAgain { run, step, why } => {
                msg!("run-not-again", run = run.to_string(), step = step, why = why)
            }
            ConductError::Setting(error) => error.message(),
            ConductError::Layout { path, why, .. } => msg!("run-layout", path = path, why = why),
        }
    }

    fn help(&self) -> Option<Message> {
        match self {
            ConductError::Target(error) => error.help(),
            ConductError::Store(error) => error.help(),
            ConductError::Setting(error) => error.help(),
            ConductError::OtherHost { .. } | ConductError::Gone { .. } | ConductError::NotAgain { .. } => {
                Some(msg!("run-begin-again-help"))
            }
            ConductError::OtherRanks { run, was: Some(was), .. } => {
                Some(msg!("run-other-ranks-help", run = run.to_string(), was = *was))
            }
            ConductError::OtherRanks { run, was: None, .. } => {
                Some(msg!("run-one-process-help", run = run.to_string()))
            }
            ConductError::DrivesGone { .. } => Some(msg!("run-name-targets-help")),
            ConductError::Host(error) => error.help(),
            ConductError::Layout { help, .. } => Some(help.clone()),
        }
    }
}

say_error!(ConductError);
