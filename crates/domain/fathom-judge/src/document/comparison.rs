//! The JSON document of a comparison: what `fathom compare --json` prints and what its report page draws.

use fathom_message::{Message, Unit};
use fathom_plan::{Durability, IoOrder, Pacing, Pattern, ReadWrite, Spread};
use fathom_record::RunState;
use serde::{Deserialize, Serialize};

use super::step::without_words;
use super::words::pattern_word;
use super::{Area, Brief, ComparedFigure, ComparisonKind, Design, Merit, Speed, SpreadSource, StepView};

/// Version of this document's shape.
pub const COMPARISON_SCHEMA: u32 = 1;

/// Two or more runs, or the two sides of one run, set against each other. The first side, `A`, is the reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Comparison {
    /// Version of the program that wrote it.
    pub fathom: String,
    /// [`COMPARISON_SCHEMA`].
    pub schema: u32,
    /// Always `comparison`: tells it from a run's document.
    pub kind: ComparisonKind,
    /// What is compared, reference first.
    pub sides: Vec<Side>,
    /// Differences between the sides that a reader must know first; empty when nothing known differs.
    pub environment: Vec<Difference>,
    /// Differences up to this share either way count as the same, percent.
    pub margin_pct: f64,
    /// Expected share of wrong `faster` and `slower` among all given, at most (Benjamini and Hochberg's q).
    pub false_discovery_rate: f64,
    /// One or two sentences.
    pub answer: Message,
    /// The first look: the answer, the steps farthest apart, and how to go on; empty in older documents.
    #[serde(default)]
    pub brief: Brief,
    /// What differs besides the figures, in a line; `None` where nothing known does.
    #[serde(default)]
    pub besides: Option<Message>,
    /// What limits the trust in the answer; may be empty.
    pub caveats: Vec<Message>,
    /// One entry per step and side other than the reference, in the order of the reference.
    pub steps: Vec<ComparedStep>,
    /// Steps that stand alone, with the reason.
    pub unmatched: Vec<Unmatched>,
}

impl Comparison {
    /// Steps that are slower by more than `share` (0.03 = 3 %), by their verdict and their ratio.
    pub fn slower_by(&self, share: f64) -> impl Iterator<Item = &ComparedStep> {
        let limit = 1.0 - share;
        self.steps.iter().filter(move |s| s.verdict == Speed::Slower && s.ratio.is_some_and(|r| r < limit))
    }

    /// Steps whose data neither show nor rule out that they are slower by more than `share`.
    pub fn open_beyond(&self, share: f64) -> impl Iterator<Item = &ComparedStep> {
        let limit = 1.0 - share;
        let is_slower = move |s: &ComparedStep| s.verdict == Speed::Slower && s.ratio.is_some_and(|r| r < limit);
        self.steps.iter().filter(move |s| !is_slower(s) && s.ci95.is_none_or(|[low, _]| low < limit))
    }

    /// Steps that the reference measured and another side tried and could not.
    pub fn lost(&self) -> impl Iterator<Item = &Unmatched> {
        self.unmatched.iter().filter(|u| u.lost)
    }
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Side {
    /// `A`, `B`, `C`...
    pub name: String,
    /// `run 7`, or the setting that makes the side: `placement=cores`.
    pub title: Message,
    /// Number of the run in the lab; of several the first.
    pub run: i64,
    /// Numbers of all runs of the side; empty in older documents.
    #[serde(default)]
    pub runs: Vec<i64>,
    /// Its study.
    pub study: String,
    /// RFC 3339, UTC; `None` for an import whose file does not say.
    pub started: Option<String>,
    /// How it stands.
    pub state: RunState,
    /// The command as typed.
    pub command: String,
}

/// Something that differs between the sides besides the figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Difference {
    /// What it belongs to.
    pub area: Area,
    /// What: `kernel`, `CPU model`, `firmware of nvme0n1`, `runtime`...
    pub what: Message,
    /// One value per side, in their order; `None`: that side does not say.
    pub values: Vec<Option<Message>>,
}

/// One step on two sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ComparedStep {
    /// Label on the reference side.
    pub label: String,
    /// The same in words for people.
    #[serde(default = "without_words")]
    pub label_message: Message,
    /// Group of the targets.
    pub group: String,
    /// What both sides were asked to do, so that pictures can place the step.
    pub load: ComparedLoad,
    /// The side set against `A`.
    pub side: String,
    /// Indexes of the steps of the reference, in its first run.
    pub steps_a: Vec<u32>,
    /// Indexes of the steps of the other side, in its first run.
    pub steps_b: Vec<u32>,
    /// How the two sides were measured.
    pub design: Design,
    /// Which figure `ratio`, `ci95` and `verdict` speak of: `iops`, or `lat_mean` where the rate was given.
    pub metric: ComparedFigure,
    /// Speed of the side over that of the reference: above 1 is faster. For a latency its inverse ratio.
    pub ratio: Option<f64>,
    /// 95 % interval of the ratio; `None` where what differs from run to run is not known.
    pub ci95: Option<[f64; 2]>,
    /// How the side stands to the reference.
    pub verdict: Speed,
    /// Why the verdict is `unsure`; `None` for others.
    #[serde(default)]
    pub inconclusive: Option<Message>,
    /// The spread from run to run that the interval holds; `None` for sides of one run, and where it is not known.
    #[serde(default)]
    pub spread: Option<SpreadUsed>,
    /// Probability of a ratio this far from 1 if there were no difference.
    pub p_value: Option<f64>,
    /// The same, adjusted for the number of steps compared.
    pub p_adjusted: Option<f64>,
    /// Every figure compared: `iops`, `lat_mean`, `lat_p99`, `cpu_per_io`, in this order, where both sides have it.
    pub metrics: Vec<ComparedMetric>,
    /// What a reader must know about this step, e.g. that one side was not steady.
    pub notes: Vec<Message>,
}

/// The spread from run to run that an interval holds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SpreadUsed {
    /// Whose it is.
    pub source: SpreadSource,
    /// Standard deviation between runs, percent of the figure.
    pub pct: f64,
    /// Runs that tell it.
    pub runs: u32,
    /// Degrees of freedom of the interval.
    pub freedom: f64,
}

/// The load of a compared step, as in its [`StepView`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ComparedLoad {
    /// fio's word: `randread`.
    pub op: ReadWrite,
    /// Share of reads.
    pub read_pct: u8,
    /// In which order blocks are touched: `random`, `sequential`, `zipf:1.2`...
    #[serde(with = "pattern_word")]
    #[cfg_attr(feature = "typescript", ts(type = "string"))]
    pub pattern: Pattern,
    /// Largest block of the split.
    pub block_size_bytes: u32,
    /// Of each target or of the step, as `spread` says.
    pub threads: u32,
    /// Which targets a thread drives.
    #[serde(default, skip_serializing_if = "Spread::is_default")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub spread: Spread,
    /// Per thread.
    pub queue_depth: u32,
    /// Number of targets.
    pub devices: u32,
    /// What was to make the writes durable.
    #[serde(default)]
    pub durability: Durability,
    /// Order and sizes beyond pattern and block size.
    #[serde(default, skip_serializing_if = "IoOrder::is_plain")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub order: IoOrder,
    /// What order, durability and pacing are called, in fio's words and names of calls; empty for a plain load.
    #[serde(default)]
    pub load_words: String,
    /// What held threads back beside depth and rate.
    #[serde(default, skip_serializing_if = "Pacing::is_free")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub pacing: Pacing,
    /// Whether the page cache was emptied before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub drop_cache: bool,
}

impl ComparedLoad {
    /// The load of a step.
    #[must_use]
    pub fn of(step: &StepView) -> ComparedLoad {
        ComparedLoad {
            op: step.op,
            read_pct: step.read_pct,
            pattern: step.pattern,
            block_size_bytes: step.block_size_bytes,
            threads: step.threads,
            spread: step.spread,
            queue_depth: step.queue_depth,
            devices: step.devices,
            durability: step.durability,
            order: step.order.clone(),
            load_words: step.load_words.clone(),
            pacing: step.pacing,
            drop_cache: step.drop_cache,
        }
    }
}

/// One figure on two sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ComparedMetric {
    /// What it is.
    pub name: ComparedFigure,
    /// `iops`, `ns` or `ns_per_io`.
    pub unit: Unit,
    /// Whether more is better.
    pub more_is_better: bool,
    /// Figure of the reference.
    pub a: f64,
    /// Figure of the other side.
    pub b: f64,
    /// b / a as it stands, not turned to speed.
    pub ratio: f64,
    /// Its 95 % interval; `None` when too little is known.
    pub ci95: Option<[f64; 2]>,
    /// How the side stands to the reference; `unsure` without an interval.
    pub verdict: Merit,
    /// Ratio of each pair in the order measured (paired designs; the picture of the pairs).
    pub pairs: Vec<f64>,
}

/// A step without a partner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Unmatched {
    /// Side that has it.
    pub side: String,
    /// Its label.
    pub label: String,
    /// Why it was not compared.
    pub why: Message,
    /// Whether the reference measured it and the other side tried and could not: refused or failed.
    #[serde(default)]
    pub lost: bool,
}
