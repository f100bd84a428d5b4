//! Why a target cannot be measured.

use std::io;
use std::path::PathBuf;

use fathom_host::settings::SettingError;
use fathom_host::{OpenError, OwnArrayError, Refusal};
use fathom_message::{Message, Quantity, Say, msg, say_error};
use fathom_plan::{ArrayNameError, SourceError, TargetId};

use super::TakeError;
use super::bind::SPARE_BYTES;

/// Why a target cannot be measured. Nothing was written when this is returned.
#[derive(Debug)]
pub enum TargetError {
    /// It does not exist, and its step asks for no file to be made.
    MustExist {
        /// As named.
        target: TargetId,
    },
    /// The name leads nowhere.
    Missing {
        /// The target, as the plan names it.
        target: TargetId,
    },
    /// A pattern or serial number that names nothing, or not one thing.
    NoMatch {
        /// The name that was given.
        name: String,
        /// What to do.
        help: Message,
    },
    /// Not a file, directory or block device.
    Kind {
        /// The target, as the plan names it.
        target: TargetId,
        /// Kind of file that it is.
        kind: Message,
    },
    /// The disk is too full.
    NoSpace {
        /// Path of the file.
        path: PathBuf,
        /// How much.
        need_bytes: u64,
        /// How much there is.
        free_bytes: u64,
    },
    /// More files than this process may have open.
    TooManyOpen {
        /// So many would have to be.
        need: u64,
        /// So many may be.
        limit: u64,
    },
    /// It is there but smaller than the region.
    TooSmall {
        /// The target, as the plan names it.
        target: TargetId,
        /// Size.
        have_bytes: u64,
        /// End of the region.
        need_bytes: u64,
    },
    /// A file that the run made was replaced by another.
    NotOurs {
        /// Its path.
        path: PathBuf,
    },
    /// The system refuses.
    Io {
        /// Its path.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// It was found and cannot be opened.
    Open(OpenError),
    /// A name that begins as that of an array and is none.
    Array(ArrayNameError),
    /// An array in user space that a job names which fio runs.
    ArrayByFio {
        /// The array.
        target: TargetId,
    },
    /// An array of which some members are there and others would be made.
    PartlyMade {
        /// The array.
        target: TargetId,
    },
    /// The guard said no.
    Guard(Refusal),
    /// A setting of the host that a step wants cannot be had.
    Setting(SettingError),
    /// A member that Linux md cannot have.
    MdMember(OwnArrayError),
    /// A drive that a step cannot have for itself.
    Taken(TakeError),
    /// A simulated machine, or a part of one, that cannot be had.
    Machine(Box<SourceError>),
    /// What a run has is on one machine.
    Mixed {
        /// The simulated machine.
        simulated: String,
        /// The other one, or a real target.
        other: String,
    },
    /// All of a step's time is to be simulated, and this target is real.
    FullOfReal {
        /// The real target.
        target: TargetId,
    },
    /// It is not there, and ranks that share it make none.
    NotShared {
        /// The target, as the plan names it.
        target: TargetId,
    },
    /// A block device that all ranks would write all over.
    SharedWrite {
        /// The target, as the plan names it.
        target: TargetId,
    },
    /// An array that several ranks share, with a member that each of them would rebuild.
    SharedRebuild {
        /// The array, as the plan names it.
        target: TargetId,
    },
    /// A simulated machine, which one process runs in virtual time.
    SimulatedRanks {
        /// Its name.
        machine: String,
    },
    /// What a rank of several refuses, or lacks.
    OnRank {
        /// Its number.
        rank: u32,
        /// Its host.
        host: String,
        /// The reason.
        why: Message,
        /// Remedy.
        help: Message,
    },
    /// A name that only one engine understands.
    NullTarget {
        /// Engine asked.
        engine: &'static str,
    },
}

fn name(target: &TargetId) -> String {
    target.as_str().to_owned()
}

impl Say for TargetError {
    fn message(&self) -> Message {
        match self {
            TargetError::MustExist { target } => msg!("target-must-exist", target = name(target)),
            TargetError::Missing { target } => msg!("target-missing", target = name(target)),
            TargetError::NoMatch { name, .. } => msg!("target-no-match", name = name),
            TargetError::Kind { target, kind } => msg!("target-kind", target = name(target), kind = kind),
            TargetError::NoSpace { path, need_bytes, free_bytes } => msg!(
                "target-no-space",
                path = path,
                need = Quantity::bytes(*need_bytes),
                free = Quantity::bytes(*free_bytes)
            ),
            TargetError::TooManyOpen { need, limit } => {
                msg!("target-too-many-open", need = *need, limit = *limit)
            }
            TargetError::TooSmall { target, have_bytes, need_bytes } => {
                msg!("target-too-small", target = name(target), have = *have_bytes, need = *need_bytes)
            }
            TargetError::NotOurs { path } => msg!("target-not-ours", path = path),
            TargetError::Io { path, source } => msg!("target-io", path = path, error = source),
            TargetError::Open(error) => error.message(),
            TargetError::Array(error) => error.message(),
            TargetError::ArrayByFio { target } => msg!("target-array-by-fio", target = name(target)),
            TargetError::PartlyMade { target } => msg!("target-partly-made", target = name(target)),
            TargetError::Guard(refusal) => refusal.message(),
            TargetError::Setting(error) => error.message(),
            TargetError::MdMember(error) => error.message(),
            TargetError::Taken(error) => error.message(),
            TargetError::Machine(error) => error.message(),
            TargetError::Mixed { simulated, other } => {
                msg!("target-mixed", simulated = simulated, other = other)
            }
            TargetError::FullOfReal { target } => msg!("target-full-of-real", target = name(target)),
            TargetError::NotShared { target } => msg!("target-not-shared", target = name(target)),
            TargetError::SharedWrite { target } => msg!("target-shared-write", target = name(target)),
            TargetError::SharedRebuild { target } => msg!("target-shared-rebuild", target = name(target)),
            TargetError::SimulatedRanks { machine } => msg!("target-simulated-ranks", machine = machine),
            TargetError::OnRank { rank, host, why, .. } => msg!("ranks-on", rank = *rank, host = host, why = why),
            TargetError::NullTarget { engine } => msg!("target-null", engine = *engine),
        }
    }

    fn help(&self) -> Option<Message> {
        Some(match self {
            TargetError::MustExist { .. } => msg!("target-must-exist-help"),
            TargetError::Missing { .. } => msg!("target-missing-help"),
            TargetError::NoMatch { help, .. } => help.clone(),
            TargetError::Kind { .. } => msg!("target-kind-help"),
            TargetError::NoSpace { free_bytes, .. } => match free_bytes.saturating_sub(SPARE_BYTES) >> 20 {
                0 => msg!("target-no-space-at-all-help"),
                mib => msg!("target-no-space-help", size = format!("{mib}m")),
            },
            TargetError::TooManyOpen { need, .. } => msg!("target-too-many-open-help", need = *need),
            TargetError::TooSmall { have_bytes: 0, .. } => msg!("target-empty-help"),
            TargetError::TooSmall { target, have_bytes, .. } if target.as_str().starts_with("sim:") => {
                msg!("target-too-small-simulated-help", size = have_bytes.to_string())
            }
            TargetError::TooSmall { have_bytes, .. } => {
                msg!("target-too-small-help", size = have_bytes.to_string())
            }
            TargetError::NotOurs { .. } => msg!("target-not-ours-help"),
            TargetError::Io { source, .. } if source.kind() == io::ErrorKind::ReadOnlyFilesystem => {
                msg!("target-read-only-help")
            }
            TargetError::Io { .. } => msg!("target-io-help"),
            TargetError::Open(error) => return error.help(),
            TargetError::Array(error) => return error.help(),
            TargetError::ArrayByFio { .. } => msg!("target-array-by-fio-help"),
            TargetError::PartlyMade { .. } => msg!("target-partly-made-help"),
            TargetError::Guard(refusal) => refusal.help.clone(),
            TargetError::Setting(error) => return error.help(),
            TargetError::MdMember(error) => return error.help(),
            TargetError::Taken(error) => return error.help(),
            TargetError::Machine(error) => return error.help(),
            TargetError::Mixed { .. } => msg!("target-mixed-help"),
            TargetError::FullOfReal { .. } => msg!("target-full-of-real-help"),
            TargetError::NotShared { .. } => msg!("target-not-shared-help"),
            TargetError::SharedWrite { .. } => msg!("target-shared-write-help"),
            TargetError::SharedRebuild { .. } => msg!("target-shared-rebuild-help"),
            TargetError::SimulatedRanks { .. } => msg!("target-simulated-ranks-help"),
            TargetError::OnRank { help, .. } => help.clone(),
            TargetError::NullTarget { .. } => msg!("target-null-help"),
        })
    }
}

say_error!(TargetError);

impl From<Refusal> for TargetError {
    fn from(refusal: Refusal) -> TargetError {
        TargetError::Guard(refusal)
    }
}

impl From<SourceError> for TargetError {
    fn from(error: SourceError) -> TargetError {
        TargetError::Machine(Box::new(error))
    }
}
