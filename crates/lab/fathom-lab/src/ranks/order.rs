//! What goes between the ranks.

use std::path::PathBuf;

use fathom_host::{FileMark, HostName};
use fathom_message::{Message, Say};
use fathom_plan::{Plan, Step, TargetId};
use fathom_record::{Progress, RankMachine, StepFailure};
use fathom_store::MadeFile;
use serde::{Deserialize, Serialize};

/// From rank 0 to another rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// Say who you are.
    Join,
    /// These files are the lab's own; these of them nobody needs any more. `sets`: whether this rank sets its host;
    /// `cpu_rows`: whether it tells what each CPU did interval by interval.
    Permit { own: Vec<FileMark>, abandoned: Vec<FileMark>, sets: bool, cpu_rows: bool },
    /// As [`crate::site::Site::tidy`].
    Tidy(Plan),
    /// As [`crate::site::Site::look`].
    Look(Plan),
    /// Of a run that goes on: which of the files that it made on this rank is not there any more?
    Gone(Vec<RankFile>),
    /// As [`crate::site::Site::to_make_again`]; `files`: what the run made on this rank.
    Again { plan: Plan, files: Vec<RankFile>, begun: bool },
    /// As [`crate::site::Site::bind`], with the files of the last look.
    Bind { plan: Plan, begun: bool },
    /// As [`crate::site::Site::prepare`].
    Prepare(Plan),
    /// As [`crate::site::Site::run`]; the number tells this step from others.
    Run { number: u64, step: Box<Step> },
    /// What does your clock show?
    Ping { number: u64 },
    /// Begin then, by your clock.
    Start { number: u64, begin_ns: u64 },
    /// Do not begin.
    Abandon { number: u64 },
    /// The run is over: end the step.
    Stop,
    /// Rank 0 lives: one that hears nothing of it in a window is cut off.
    Alive,
    /// As [`crate::site::Site::restore`].
    Restore,
    /// As [`crate::site::Site::keep_files`].
    KeepFiles,
    /// As [`crate::site::Site::release`].
    Release,
    /// There is nothing more to do.
    End,
}

/// From another rank to rank 0.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    /// Who it is.
    Joined {
        version: String,
        plan_hash: u64,
        host: HostName,
        /// `None`: its kernel does not tell.
        machine: Option<RankMachine>,
    },
    /// It cannot begin.
    Unable {
        host: HostName,
        refused: Refused,
    },
    Tidied(Vec<(Option<FileMark>, Message)>),
    /// To [`Order::Look`] and [`Order::Again`].
    Looked(Result<RankLooked, Refused>),
    Gone(Option<PathBuf>),
    Bound(Result<Vec<Message>, Refused>),
    Prepared(Result<(), Refused>),
    /// Its workers wait for the start.
    Ready {
        number: u64,
    },
    Pong {
        number: u64,
        clock_ns: u64,
    },
    /// It lives, and is so far.
    Beat(Progress),
    /// The step ended; the record, if there is one, follows in the same message. `waited`: it failed only because the ranks
    /// were not to begin.
    Done {
        number: u64,
        outcome: Result<RankDone, StepFailure>,
        waited: bool,
    },
    /// The step ended, and a setting could not be put back.
    SettingLost(Refused),
    Restored(Result<(), Refused>),
    Released(Vec<FileMark>),
    /// The rank was cut off, has put back its settings and leaves. `silence_ns`: time since it last heard from rank 0.
    Left {
        silence_ns: u64,
    },
}

/// What a rank would do with a plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RankLooked {
    /// Files that it would make.
    pub(super) files: Vec<RankFile>,
    /// Drives that it would write, by what they are wherever they are seen from.
    pub(super) written: Vec<WrittenDrive>,
}

/// A drive that hosts may share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WrittenDrive {
    /// As its host names it.
    pub(crate) path: String,
    /// Its serial number.
    pub(crate) serial: String,
    /// Its capacity.
    pub(crate) size_bytes: u64,
    /// Its partition.
    pub(crate) partition: Option<String>,
}

impl WrittenDrive {
    /// Whether both are one drive, or parts of one that may overlap.
    pub(super) fn is_same(&self, other: &WrittenDrive) -> bool {
        (&self.serial, self.size_bytes) == (&other.serial, other.size_bytes)
            && (self.partition == other.partition || self.partition.is_none() || other.partition.is_none())
    }
}

/// [`MadeFile`], to be sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RankFile {
    target: TargetId,
    path: PathBuf,
    bytes: u64,
    mark: FileMark,
    is_kept: bool,
}

impl From<&MadeFile> for RankFile {
    fn from(file: &MadeFile) -> RankFile {
        let MadeFile { target, path, bytes, mark, is_kept } = file.clone();
        RankFile { target, path, bytes, mark, is_kept }
    }
}

impl RankFile {
    /// The file as the lab notes it: each rank's under a name of its own.
    pub(super) fn noted(self, rank: u32) -> MadeFile {
        let file = self.known();
        MadeFile { target: noted_name(&file.target, rank), ..file }
    }

    /// The file as the rank itself knows it.
    pub(super) fn known(self) -> MadeFile {
        let RankFile { target, path, bytes, mark, is_kept } = self;
        MadeFile { target, path, bytes, mark, is_kept }
    }
}

/// Those of the `files` of a plan that a rank made, as the lab noted them.
pub(super) fn files_of_rank(plan: &Plan, files: &[MadeFile], rank: u32) -> Vec<MadeFile> {
    let mut targets: Vec<TargetId> = plan.steps.iter().flat_map(|s| &s.targets).flat_map(TargetId::opened).collect();
    targets.sort();
    targets.dedup();
    let of_target = |target: TargetId| {
        let name = if rank == 0 { target.clone() } else { noted_name(&target, rank) };
        let file = files.iter().find(|file| file.target == name)?;
        Some(MadeFile { target, ..file.clone() })
    };
    targets.into_iter().filter_map(of_target).collect()
}

fn noted_name(target: &TargetId, rank: u32) -> TargetId {
    TargetId::new(format!("{target}@{rank}"))
}

/// How a rank's step ended.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct RankDone {
    /// Start of its window by its clock.
    pub(super) window_start_ns: u64,
    /// Length of its window.
    pub(super) runtime_ns: u64,
}

/// Why a rank cannot do what it was asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Refused {
    pub(super) why: Message,
    pub(super) help: Option<Message>,
}

impl Refused {
    pub(super) fn of(error: &impl Say) -> Refused {
        Refused { why: error.message(), help: error.help() }
    }
}

/// A message: its length, itself, and what follows it.
pub(super) fn frame(message: &impl Serialize, payload: &[u8]) -> Vec<u8> {
    let text = serde_json::to_vec(message).expect("messages are plain data");
    let length = u32::try_from(text.len()).expect("a message is far below 4 GiB");
    [&length.to_le_bytes()[..], &text, payload].concat()
}

/// Takes a message apart; `None` for what is none, as from a program that is not Fathom or another version of it.
pub(super) fn unframe<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Option<(T, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (text, payload) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    Some((serde_json::from_slice(text).ok()?, payload))
}
