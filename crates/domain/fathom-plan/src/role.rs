//! What a step is to the rest of its plan: its round, its block, what conditioned its targets, the settings it needs.

use fathom_message::{Arg, Join, Message, msg};
use serde::{Deserialize, Serialize};

use crate::by_fio::FioJob;
use crate::goal::LatencyGoal;
use crate::imported::{ImportedLoad, LoadPart};
use crate::ranks::TakePart;
use crate::rate_pair::RatePair;
use crate::stage::Stage;
use crate::step::RateProcess;
use crate::stream::{Alone, Stream};

/// Entry of fio's results that a job belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FioEntry {
    /// Name of the job: `name`, or its section.
    pub name: String,
    /// Number of its group, from 0; a group begins at a wall and at `new_group`.
    pub group: u32,
    /// True where the results of the group are one entry (`group_reporting`).
    pub is_grouped: bool,
    /// Description of the job (`description`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub description: Option<String>,
    /// Options of the job as they were given, and their values, `1` for a key that stood alone; empty where the step has
    /// several jobs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub options: Vec<(String, String)>,
    /// Defaults of all jobs likewise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub globals: Vec<(String, String)>,
}

/// Ties between steps. All empty for a step that stands alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default)]
pub struct Role {
    /// Name of the ladder that made the step (`iops`, `latency`...), when the study names its ladders.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub test: Option<String>,
    /// Entry of fio's results, where a job of fio made the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub job: Option<FioEntry>,
    /// What fio is given, where it is fio that runs the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub by_fio: Option<FioJob>,
    /// Facts of an imported load that the other fields of the step do not say.
    #[serde(skip_serializing_if = "ImportedLoad::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub imported: ImportedLoad,
    /// Round of a loop that is repeated until it is steady.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub round: Option<Round>,
    /// How the targets were brought into their state.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub conditioning: Option<Conditioning>,
    /// Place in an interleaved comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub block: Option<Block>,
    /// Place among steps that explain another one beside the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub turn: Option<Turn>,
    /// Place among steps that run at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub stream: Option<Stream>,
    /// The stream that this step beside the plan does once more, alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub alone: Option<Alone>,
    /// Settings of the host in force during the step, beside those found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub settings: Vec<HostSetting>,
    /// Drives asked for; more than the step has targets: it cannot be run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub devices: Option<u32>,
    /// The ranks that take part; `None`: all of those that run the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub ranks: Option<TakePart>,
    /// Region as a share of each target's capacity, until the capacity is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub footprint_pct: Option<u8>,
    /// Offset of the region in percent of what a target holds, rounded up to a block.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub offset_pct: Option<u8>,
    /// Bytes of a pass in percent of the region.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub pass_pct: Option<u8>,
    /// Part of the region, of so many equal ones, that a conditioning step writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub part: Option<Part>,
    /// Means of a purge; `None`: discard, as every purge did before there was a choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub purge: Option<PurgeMeans>,
    /// Rate as a share of the IOPS of a closed loop before it; `Load::rate` holds the rate once that is measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub rate_share: Option<RateShare>,
    /// How the rate changes with time; empty: it stays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub stages: Vec<Stage>,
    /// Rates of reads and of writes; `Load::rate` holds their sum, and the mix their shares, once both are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub rate_pair: Option<RatePair>,
    /// Latencies of which the verdict names the highest load that keeps them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub latency_goal: Option<LatencyGoal>,
    /// What ends once the first of its threads has done all it had to do; `None`: each thread does all it has to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub ends: Option<Ends>,
    /// Whether its files must be there: none is made for it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub must_exist: bool,
    /// Whether a file of no given size that is made for it takes all that its file system has free, but for a reserve.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub fills_space: bool,
    /// State, before the step, of a file that is made for it.
    #[serde(skip_serializing_if = "NewFile::is_default")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub new_file: NewFile,
    /// File that the I/Os of the step are written down in, for a replay; of several threads `.0`, `.1` and so on behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub trace_to: Option<String>,
    /// What the step's label says beside its workload and load, in this order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub label_parts: Vec<LabelPart>,
}

/// State of a file that is made for a step, before the first step that uses it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum NewFile {
    /// Written once from start to end: later writes go over blocks that the file has.
    #[default]
    Written,
    /// It has its space, and nothing was written: a first write makes a block valid. As fio leaves files for writes alone.
    Allocated,
    /// Without space: a first write gets it from the file system.
    Sparse,
}

impl NewFile {
    /// All of them.
    pub const ALL: [NewFile; 3] = [NewFile::Written, NewFile::Allocated, NewFile::Sparse];

    /// The word of study files and the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            NewFile::Written => "written",
            NewFile::Allocated => "allocated",
            NewFile::Sparse => "sparse",
        }
    }

    /// True for the state that a step has if it names none.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == NewFile::Written
    }
}

/// What ends with the first thread that has done all it had to do: the other threads of its step, and streams beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Ends {
    /// Indices of the streams of its set.
    pub streams: Vec<u32>,
}

/// What a label can say beside workload and load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum LabelPart {
    /// Name of the engine.
    Engine,
    /// Its mode.
    Mode,
    /// Whether buffers and files are registered.
    Registration,
    /// Where threads run.
    Placement,
    /// How many drives of the group.
    Drives,
    /// How many ranks take part.
    Ranks,
    /// Whether I/O goes through the page cache.
    Cache,
    /// How far data compresses.
    Compression,
    /// How much data repeats.
    Dedupe,
    /// How much of the target is touched.
    Size,
    /// From where on.
    Offset,
    /// State of a file that is made for the step.
    NewFile,
    /// That data is verified.
    Verify,
    /// Distribution of the arrivals.
    Arrivals,
    /// Settings of the host.
    Settings,
    /// I/Os handed over per call.
    SubmitBatch,
    /// Completions waited for per call.
    CompleteBatch,
    /// Completions taken per call.
    CompleteMax,
    /// That the conditioning is the quick one.
    Quick,
    /// Number of the round.
    Round,
    /// Which pass over the region.
    Pass {
        /// From 1.
        number: u32,
        /// Number of passes in all.
        of: u32,
    },
    /// Which part of the region.
    Part,
    /// Name of the stream, among those that run at once.
    Stream,
}

/// One round of a loop. The steps of all rounds are in the plan; those after the round that was steady are not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Round {
    /// Number of the loop, unique in the plan.
    pub loop_id: u32,
    /// From 0.
    pub index: u32,
    /// Most rounds.
    pub max: u32,
    /// What is looked at to call the loop steady; `None`: this step of the round is not looked at.
    pub metric: Option<Metric>,
}

/// The figure tracked over rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// I/Os per second.
    Iops,
    /// Bytes per second.
    BytesPerS,
    /// Mean latency.
    LatMean,
}

/// How targets are brought into their state before a step measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Precondition {
    /// Not at all: measured as found.
    None,
    /// Filled once, then the step's own workload at 16 threads x 16 until steady.
    Same,
    /// After SNIA PTS: purge, 128 KiB sequential writes of twice the region, then the own workload until steady.
    Snia,
    /// Filled once, then at most five rounds of the own workload: short, and labelled so.
    Quick,
}

/// By which means targets are given back to the state of new ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum PurgeMeans {
    /// NVMe Format where the drive has it, else Sanitize, else discard; the record says which and why.
    Best,
    /// NVMe Format with erasure of user data, in the format that the namespace has: the whole namespace.
    Format,
    /// NVMe Sanitize: the whole drive.
    Sanitize,
    /// Discard of the step's region; a hole in a file.
    Discard,
}

/// What a measured step stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Conditioning {
    /// By which method.
    pub method: Precondition,
    /// Loop whose rounds say whether steady state was reached; `None`: there was no loop.
    pub loop_id: Option<u32>,
}

/// Place in a block of four short steps A B B A: the step that is explained (A) and a probe (B) take turns, so that what
/// drifts meanwhile changes both alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Turn {
    /// Index of the step that is explained.
    pub explains: u32,
    /// Index of the first step of the block.
    pub block: u32,
    /// Whether it is the probe; otherwise it is the step that is explained, once more.
    pub is_probe: bool,
}

/// Place in an interleaved comparison. Steps with the same `cell` and `pass` pair up, one per `arm`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Block {
    /// Cell of the other knobs, unique in the plan (also over groups).
    pub cell: u32,
    /// Each pass holds every arm once; passes alternate in direction (A B, B A, A B...).
    pub pass: u32,
    /// Name of what differs: `placement=cores`, `scheduler=none`, `scheduler as found`. The same in every language.
    pub arm: String,
    /// Position of the arm in its list: 0 is the baseline.
    pub arm_index: u32,
    /// What differs, one by one; empty in plans of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub arm_parts: Vec<ArmPart>,
}

/// What one knob or setting is on a side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ArmPart {
    /// It has this value.
    Set {
        /// Knob or setting.
        key: String,
        /// The value that was given.
        value: String,
    },
    /// The knob as the study has it.
    AsInStudy {
        /// Knob.
        key: String,
    },
    /// The setting as the host has it.
    AsFound {
        /// Setting.
        key: String,
    },
}

impl Block {
    pub(crate) fn new(cell: u32, pass: u32, arm_index: u32, arm_parts: Vec<ArmPart>) -> Block {
        let names: Vec<String> = arm_parts.iter().map(ArmPart::name).collect();
        Block { cell, pass, arm: names.join(" "), arm_index, arm_parts }
    }

    /// The arm in words that the front can say in any language.
    #[must_use]
    pub fn arm_message(&self) -> Message {
        match &self.arm_parts[..] {
            [] => Message::verbatim(self.arm.clone()),
            [only] => only.message(),
            several => msg!("arm-parts", parts = Arg::list(several.iter().map(ArmPart::message), Join::Space)),
        }
    }
}

impl ArmPart {
    pub(crate) fn set(key: &str, value: &str) -> ArmPart {
        ArmPart::Set { key: key.to_owned(), value: value.to_owned() }
    }

    fn name(&self) -> String {
        match self {
            ArmPart::Set { key, value } => format!("{key}={value}"),
            ArmPart::AsInStudy { key } => format!("{key} as in the study"),
            ArmPart::AsFound { key } => format!("{key} as found"),
        }
    }

    fn message(&self) -> Message {
        match self {
            ArmPart::Set { .. } => Message::verbatim(self.name()),
            ArmPart::AsInStudy { key } => msg!("arm-as-in-study", key = key),
            ArmPart::AsFound { key } => msg!("arm-as-found", key = key),
        }
    }
}

/// A setting of the host that a step runs under.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HostSetting {
    /// `scheduler`, `nr_requests`, `governor`...
    pub name: String,
    /// The value that was given.
    pub value: String,
}

/// A rate relative to the highest IOPS that a closed loop with the same work gave before it in the same run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RateShare {
    /// In percent of these IOPS; above 100 the load is more than they.
    pub pct: u16,
    /// Distribution of the gaps.
    pub process: RateProcess,
}

/// One of `of` equal parts of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Part {
    /// From 0.
    pub index: u32,
    /// Number of parts in all.
    pub of: u32,
    /// Whether the step's region is the part already, not the whole.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub is_cut: bool,
}

impl Role {
    /// That of a step beside the plan that does the same elsewhere in it: under the same settings, by the same ranks.
    #[must_use]
    pub fn beside(&self) -> Role {
        Role { settings: self.settings.clone(), ranks: self.ranks.clone(), ..Role::default() }
    }

    /// True for a part of an imported load that its file does not say.
    #[must_use]
    pub fn is_unknown(&self, part: LoadPart) -> bool {
        self.imported.unknown.contains(&part)
    }

    /// Whether there is nothing to say.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Role::default()
    }
}

impl Metric {
    /// The word of study files and the document.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Metric::Iops => "iops",
            Metric::BytesPerS => "bytes_per_s",
            Metric::LatMean => "lat_mean_ns",
        }
    }
}

impl PurgeMeans {
    /// All, as help texts list them.
    pub const ALL: [PurgeMeans; 4] = [PurgeMeans::Best, PurgeMeans::Format, PurgeMeans::Sanitize, PurgeMeans::Discard];

    /// The word of study files and the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            PurgeMeans::Best => "best",
            PurgeMeans::Format => "format",
            PurgeMeans::Sanitize => "sanitize",
            PurgeMeans::Discard => "discard",
        }
    }
}

impl Precondition {
    /// All, as help texts list them.
    pub const ALL: [Precondition; 4] =
        [Precondition::Same, Precondition::Snia, Precondition::Quick, Precondition::None];

    /// The word of study files and the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Precondition::None => "none",
            Precondition::Same => "same",
            Precondition::Snia => "snia",
            Precondition::Quick => "quick",
        }
    }
}
