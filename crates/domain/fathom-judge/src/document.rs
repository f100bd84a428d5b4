//! The one JSON document of a run: what `--json` and `export --format json` print and what the report draws.
//!
//! Every field is derived from the store; nothing in here is computed by a front. Fields named in the design keep their
//! names; more may be added. Times are nanoseconds, rates per second, sizes bytes, unless the name says otherwise.

mod answer;
mod array;
mod choices;
mod comparison;
mod figures;
mod group;
mod health;
mod ladder;
mod limits;
mod rounds;
mod stage;
mod steady;
mod step;
mod streams;
mod surface;
mod words;

use fathom_message::{Message, Unit};
use fathom_model::catalogue::PublishedMetric;
use fathom_plan::{PlacementKind, Plan, ReadWrite};
use fathom_record::RunState;
use serde::{Deserialize, Serialize};

pub use answer::{Brief, BriefRow, NextCommand, Trust, TrustLevel};
pub use array::{ArrayView, RebuildView};
pub use choices::{GoalView, PathsView};
pub use comparison::{
    COMPARISON_SCHEMA, ComparedLoad, ComparedMetric, ComparedStep, Comparison, Difference, Side, SpreadUsed, Unmatched,
};
pub use figures::{CheckView, CpuView, CurvePoint, DepthView, DirectionView, LatencyView, NeedView, SeriesView};
pub use group::GroupedLoad;
pub use health::{DriveHealthView, HealthSampleView};
pub use ladder::{KneeView, LadderPoint, LadderView};
pub use limits::{CeilingView, EvidenceView, LimitView, LinkLoad};
pub use rounds::{LoopCell, LoopView};
pub use stage::StageView;
pub use steady::{OwnSteadyView, PtsView, SteadyView};
pub use step::{PredictedView, StepView, TargetView};
pub use streams::{StreamSetView, StreamView};
pub use surface::{PairOutcome, PairView, SurfaceView};
pub use words::{
    Area, CheckCause, CheckName, ComparedFigure, ComparisonKind, Design, LadderAxis, Merit, Speed, SpreadSource,
    StepState, TrackedFigure, WhyUnsteady,
};

/// Version of this document's shape.
pub const SCHEMA: u32 = 2;

/// A run with everything derived from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Document {
    /// Version of the program that wrote it.
    pub fathom: String,
    /// [`SCHEMA`].
    pub schema: u32,
    /// The run.
    pub run: RunInfo,
    /// Facts about the host at the time of the run (`fathom-host's `HostFacts` as JSON).
    #[cfg_attr(feature = "typescript", ts(type = "Json"))]
    pub host: serde_json::Value,
    /// How far the figures can be trusted; `None` in documents of older versions.
    #[serde(default)]
    pub trust: Option<Trust>,
    /// Answers, most important first.
    pub verdict: Vec<Verdict>,
    /// What was measured, in order.
    pub steps: Vec<StepView>,
    /// Which steps differ in one thing alone, how much of proportion each gives, and where each ladder bends.
    #[serde(default)]
    pub ladders: Vec<LadderView>,
    /// Loops of rounds, with what each of their workloads gave where they were steady.
    #[serde(default)]
    pub loops: Vec<LoopView>,
    /// What streams that ran at once did together.
    #[serde(default)]
    pub stream_sets: Vec<StreamSetView>,
    /// Loads that several groups were put under, and whether the groups differ; empty with one group.
    #[serde(default)]
    pub groups: Vec<GroupedLoad>,
    /// How far each kind of load keeps each latency that was asked for; empty without a goal.
    #[serde(default)]
    pub goals: Vec<GoalView>,
    /// Rates of reads beside rates of writes, one surface for each group; empty for other studies.
    #[serde(default)]
    pub surfaces: Vec<SurfaceView>,
    /// Steps on arrays in user space beside what their members allow; empty for other runs.
    #[serde(default)]
    pub arrays: Vec<ArrayView>,
    /// Loads that were issued through several paths, and which of these none beats; empty with one path.
    #[serde(default)]
    pub paths: Vec<PathsView>,
    /// The two sides of a run that measured A against B (a placement, an engine, a setting); `None` for other runs.
    #[serde(default)]
    pub comparison: Option<Comparison>,
    /// Published results of the same study, for marks beside the measured points.
    #[serde(default)]
    pub references: Vec<Reference>,
    /// What was predicted before it was measured, over all steps; `None` for runs without.
    #[serde(default)]
    pub prediction: Option<PredictionView>,
}

/// A prediction as a whole; the figures stand with their steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PredictionView {
    /// When it was made, RFC 3339: before the first predicted step began.
    pub made: String,
    /// The short steps it was made from.
    pub screens: Vec<ScreenView>,
    /// Steps that were predicted and measured.
    pub steps: u32,
    /// Median size of the error of predicted IOPS over these steps, percent.
    pub iops_error_pct_median: Option<f64>,
    /// The same of the mean latency.
    pub lat_error_pct_median: Option<f64>,
}

/// A short step that a prediction was made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ScreenView {
    /// For people.
    pub label: String,
    /// I/Os in flight over all threads and targets.
    pub in_flight: u32,
    /// I/Os per second.
    pub iops: f64,
    /// Mean latency.
    pub lat_ns_mean: f64,
}

/// A published result that the catalogue holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Reference {
    /// Name in the catalogue.
    pub id: String,
    /// What was measured: `Intel Optane P4800X, Windows Server 2016`.
    pub subject: String,
    /// Who published it where: author, title, date.
    pub source: String,
    /// Where to read it.
    pub url: Option<String>,
    /// Its figures.
    pub points: Vec<ReferencePoint>,
}

/// One published figure with the load it belongs to. `None`: the source does not say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ReferencePoint {
    /// What it is.
    pub metric: PublishedMetric,
    /// In the unit of the metric.
    pub value: f64,
    /// fio's word: `randread`.
    pub op: Option<ReadWrite>,
    /// Share of reads.
    pub read_pct: Option<u8>,
    /// Block size.
    pub block_size_bytes: Option<u32>,
    /// Per target.
    pub threads: Option<u32>,
    /// Per thread.
    pub queue_depth: Option<u32>,
    /// In flight over all drives, where the source says so.
    #[serde(default)]
    pub outstanding: Option<u32>,
    /// Number of drives.
    pub devices: Option<u32>,
    /// Where the threads ran.
    pub placement: Option<PlacementKind>,
    /// Group or configuration within the source.
    pub group: Option<String>,
    /// What speaks against it: it contradicts another of its figures, is read from a chart... Empty: nothing.
    pub doubt: Message,
}

/// Head of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunInfo {
    /// Number in the lab.
    pub id: i64,
    /// Name of the study.
    pub study: String,
    /// Question of the study.
    pub question: Message,
    /// How it stands.
    pub state: RunState,
    /// RFC 3339, UTC; `None` for an import whose file does not say.
    pub started: Option<String>,
    /// RFC 3339, UTC.
    pub finished: Option<String>,
    /// Wall time from start to finish, seconds.
    pub elapsed_s: Option<f64>,
    /// The command as typed.
    pub command: String,
    /// The plan as executed, with its source text.
    pub plan: Plan,
    /// The same steps as fio commands, one per step that fio can do: `(step index, command)`.
    pub fio_commands: Vec<FioCommand>,
}

/// The command of fio for the same load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FioCommand {
    /// Index of the step.
    pub step: u32,
    /// Command line.
    pub command: String,
}

/// An answer with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Verdict {
    /// What was asked.
    pub question: Message,
    /// The answer at a first look.
    #[serde(default)]
    pub brief: Brief,
    /// The answer in full.
    pub answer: Message,
    /// Sentences that carry the numbers.
    pub evidence: Vec<Message>,
    /// What would help, and by how much; may be empty.
    pub would_help: Vec<Message>,
    /// What limits the trust in the answer; may be empty.
    pub caveats: Vec<Message>,
    /// Four to six figures the study is about.
    pub figures: Vec<Figure>,
}

/// A headline figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Figure {
    /// `Most random reads`.
    pub name: Message,
    /// SI base units.
    pub value: f64,
    /// Of what.
    pub unit: Unit,
    /// 95 % interval.
    pub ci95: Option<[f64; 2]>,
    /// `4k random read T4 QD32`.
    pub load: Message,
    /// Index of the step it comes from.
    pub step: u32,
}
