//! One step with its judged figures.

use fathom_message::Message;
use fathom_plan::{
    Durability, EngineName, IoOrder, Mode, Pacing, Pattern, Phase, PlacementKind, Priorities, ReadWrite, Spread,
    TargetId,
};
use fathom_record::{
    ArrayRecord, ClockUse, FeatureUse, HostDelta, IoFailure, OpenLoop, Overhead, PurgeReport, ThreadRecord,
    VerifyReport, Warning, WhyShortened,
};
use serde::{Deserialize, Serialize};

use super::words::pattern_word;
use super::{
    CeilingView, CheckView, CpuView, CurvePoint, DepthView, DirectionView, DriveHealthView, LatencyView, LimitView,
    LinkLoad, SeriesView, StageView, SteadyView, StepState, WhyUnsteady,
};

/// One step with its judged figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StepView {
    /// Position in the plan.
    pub index: u32,
    /// Name of the step, the same in every language: `4k random read T1 QD32`.
    pub label: String,
    /// The label in words.
    #[serde(rename = "title", default = "without_words")]
    pub label_message: Message,
    /// The same of the loop that the step is a round of, or of the pass it is a part of: without the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub loop_title: Option<Message>,
    /// The same without threads and queue depth, for tables that have columns for them; empty in older documents.
    #[serde(default = "without_words")]
    pub workload_title: Message,
    /// What the step was for.
    pub phase: Phase,
    /// Group of the targets.
    pub group: String,
    /// Ties to the rest of the plan: test, round, conditioning, block of a comparison, settings in force.
    #[serde(default, skip_serializing_if = "fathom_plan::Role::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub role: fathom_plan::Role,
    /// As named by the user.
    pub targets: Vec<String>,
    /// What became of it.
    pub state: StepState,
    /// Why, when refused or failed.
    pub reason: Option<Message>,
    /// Remedy, when refused or failed.
    pub help: Option<Message>,
    /// By which means I/O was issued.
    pub engine: EngineName,
    /// In which mode of it.
    pub mode: Mode,
    /// Whether I/O buffers were to be registered (io_uring).
    #[serde(default = "yes")]
    pub fixed_buffers: bool,
    /// Whether files were to be registered (io_uring).
    #[serde(default = "yes")]
    pub fixed_files: bool,
    /// Where the threads were to run.
    pub placement: PlacementKind,
    /// CPUs the threads were bound to; empty: unpinned.
    pub cpus: Vec<u32>,
    /// fio's word: `randread`.
    pub op: ReadWrite,
    /// Share of reads.
    pub read_pct: u8,
    /// In which order blocks were touched: `random`, `sequential`, `zipf:1.2`...
    #[serde(with = "pattern_word")]
    #[cfg_attr(feature = "typescript", ts(type = "string"))]
    pub pattern: Pattern,
    /// Largest block of the split.
    pub block_size_bytes: u32,
    /// Whether the page cache was bypassed.
    pub direct: bool,
    /// Footprint, when known.
    pub footprint_bytes: Option<u64>,
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
    /// Open loop: intended rate.
    pub rate_iops: Option<f64>,
    /// RFC 3339, UTC.
    pub started: Option<String>,
    /// Start of the measured window from the start of the run; `None` for imported runs.
    #[serde(default)]
    pub run_offset_s: Option<f64>,
    /// Length of the measured window.
    pub runtime_s: f64,
    /// Start of the step to first I/O, milliseconds.
    pub setup_ms: f64,
    /// Completed I/Os.
    pub ios: u64,
    /// Failed I/Os.
    pub errors: u64,
    /// I/Os per second.
    pub iops: f64,
    /// 95 % interval, of the long run or of the window alone as `iops_ci95_blind_beyond_s` says; `None` where none would
    /// hold as often as it says.
    pub iops_ci95: Option<[f64; 2]>,
    /// Why there is none.
    #[serde(default)]
    pub iops_ci95_why_none: Option<Message>,
    /// Length of a window that would give one, about, in seconds; `None` where there is one, or no length would.
    #[serde(default)]
    pub iops_ci95_needs_s: Option<f64>,
    /// The interval is that of the window alone: events that come less often than once in this many seconds may have been
    /// missed. `None`: it is that of a long run, because the window took three minutes or more.
    #[serde(default)]
    pub iops_ci95_blind_beyond_s: Option<f64>,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// From the moment the slot was free to the reaping (open loop: from the intended start), all operations. `None` for an unsustainable rate.
    pub lat_ns: Option<LatencyView>,
    /// The host's wait: slot free (open loop: actual start) -> submitted.
    pub slat_ns: Option<LatencyView>,
    /// Submitted -> reaped.
    pub clat_ns: Option<LatencyView>,
    /// Queue depth over all threads and targets, asked for and given; `None` where it was not counted.
    #[serde(default)]
    pub depth: Option<DepthView>,
    /// Open loop: from the actual start.
    pub service_ns: Option<LatencyView>,
    /// Reads alone.
    pub read: Option<DirectionView>,
    /// Writes alone.
    pub write: Option<DirectionView>,
    /// Trims alone.
    pub trim: Option<DirectionView>,
    /// Syncs between the writes (fsync, fdatasync, NVMe Flush): `ios` and `iops` count them, they move no bytes and are no
    /// part of the totals.
    #[serde(default)]
    pub syncs: Option<DirectionView>,
    /// What was to make the writes durable.
    #[serde(default)]
    pub durability: Durability,
    /// Order and sizes beyond pattern and block size.
    #[serde(default, skip_serializing_if = "IoOrder::is_plain")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub order: IoOrder,
    /// What each process had, of a step that several ran at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub ranks: Option<fathom_record::RanksRecord>,
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
    /// Which I/O the kernel was to serve first.
    #[serde(default, skip_serializing_if = "Priorities::is_plain")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub priorities: Priorities,
    /// Host CPU cost; `None` for imported runs.
    pub cpu: Option<CpuView>,
    /// What limited it.
    pub limit: LimitView,
    /// The most each part of the system could give, lowest first.
    #[serde(default)]
    pub ceilings: Vec<CeilingView>,
    /// What the PCIe links above the targets carried, from the processor down.
    #[serde(default)]
    pub links: Vec<LinkLoad>,
    /// Steadiness over the window; `None` with too few intervals.
    pub steady: Option<SteadyView>,
    /// Made beforehand.
    pub predicted: Option<PredictedView>,
    /// Latency over the quantile, as points for an axis of nines, cut where samples end.
    pub percentile_curve: Vec<CurvePoint>,
    /// Per interval.
    pub series: SeriesView,
    /// Laws checked.
    pub checks: Vec<CheckView>,
    /// Engine features.
    pub features: Vec<FeatureUse>,
    /// What arrays in user space did on their members.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub arrays: Vec<ArrayRecord>,
    /// How each target was purged, by a step that purges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub purges: Vec<PurgeReport>,
    /// Workers.
    pub workers: Vec<ThreadRecord>,
    /// Kernel's counters over the window.
    pub host_delta: Option<HostDelta>,
    /// Own cost.
    pub overhead: Option<Overhead>,
    /// Clock.
    pub clock: Option<ClockUse>,
    /// Health of the drives behind the targets: temperature, bytes written, write amplification, throttling.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub drive_health: Vec<DriveHealthView>,
    /// Each target for itself, when there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub by_target: Vec<TargetView>,
    /// What failed.
    pub failures: Vec<IoFailure>,
    /// Verification.
    pub verify: Option<VerifyReport>,
    /// Open loop.
    pub open_loop: Option<OpenLoop>,
    /// Stages of a load that changes with time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub stages: Vec<StageView>,
    /// As values.
    pub warnings: Vec<Warning>,
    /// The same as sentences, same order.
    pub warning_texts: Vec<Message>,
}

impl StepView {
    /// Time that passed for the drives while it was measured: longer than the window where purged ones aged faster than the
    /// clock, in virtual time.
    #[must_use]
    pub fn passed_s(&self) -> f64 {
        let shortened = self.clock.as_ref().and_then(|clock| clock.shortened);
        let aged = shortened.filter(|window| window.why == WhyShortened::DrivesAged);
        aged.map_or(self.runtime_s, |window| window.asked_ns as f64 / 1e9)
    }

    /// Whether the window is known to be unsteady; one too noisy to tell is not.
    #[must_use]
    pub fn is_unsteady(&self) -> bool {
        self.steady.as_ref().is_some_and(|s| !s.reached && s.why != Some(WhyUnsteady::Inconclusive))
    }

    /// The array in user space that it was on, in the words of its label; `None` for other targets. What loads do there is
    /// of its own kind, whatever it is.
    #[must_use]
    pub fn array_words(&self) -> Option<String> {
        TargetId::new(self.targets.first()?.as_str()).array_words()
    }

    /// Processes that took part in it, those among them that were lost; 1 for a run of one process.
    #[must_use]
    pub fn rank_count(&self) -> u32 {
        let measured = self.ranks.as_ref().map(|of| (of.ranks.len() + of.lost.len()) as u32);
        measured.or(self.role.ranks.as_ref().map(|of| of.count)).unwrap_or(1)
    }

    /// Whether it ran in virtual time: nothing was measured.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.targets.iter().any(|target| target.starts_with("sim:"))
    }

    /// Whether it did real I/O, for verdicts that speak of a drive.
    #[must_use]
    pub fn is_real(&self) -> bool {
        self.engine != EngineName::Null && self.ios > 0
    }
}

/// Documents of older versions have labels alone.
pub(super) fn without_words() -> Message {
    Message::verbatim("")
}

/// Buffers and files are registered unless the plan says otherwise.
fn yes() -> bool {
    true
}

/// What one target of several gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TargetView {
    /// As named by the user.
    pub target: String,
    /// Completed I/Os.
    pub ios: u64,
    /// I/Os per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Failed I/Os.
    pub errors: u64,
    /// Mean latency; `None` without a completed I/O.
    pub lat_mean_ns: Option<f64>,
}

/// A prediction made before the step ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PredictedView {
    /// I/Os per second.
    pub iops: f64,
    /// Mean latency.
    pub lat_ns_mean: f64,
    /// How far the prediction lies from what was measured: predicted / measured - 1, percent; `None` without figures.
    #[serde(default)]
    pub iops_error_pct: Option<f64>,
    /// The same for the mean latency.
    #[serde(default)]
    pub lat_error_pct: Option<f64>,
    /// When it was made, RFC 3339.
    #[serde(default)]
    pub made: Option<String>,
}
