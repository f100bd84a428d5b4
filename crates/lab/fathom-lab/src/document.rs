//! The one JSON document of a run: what `--json` and `export --format json` print and what the report draws.
//!
//! Every field is derived from the store; nothing in here is computed by a front. Fields named in the design keep their
//! names; more may be added. Times are nanoseconds, rates per second, sizes bytes, unless the name says otherwise.

use std::collections::BTreeMap;

use fathom_plan::Plan;
use fathom_record::{
    FeatureUse, HostDelta, IoFailure, OpenLoop, Overhead, PurgeReport, ThreadRecord, VerifyReport, Warning,
};
use serde::{Deserialize, Serialize};

use crate::compare::Comparison;
use crate::health::DriveHealthView;

/// Version of this document's shape.
pub const SCHEMA: u32 = 1;

/// A run with everything derived from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Version of the program that wrote it.
    pub fathom: String,
    /// [`SCHEMA`].
    pub schema: u32,
    /// The run.
    pub run: RunInfo,
    /// Facts about the host at the time of the run (`fathom_host::HostFacts` as JSON).
    pub host: serde_json::Value,
    /// Answers, most important first.
    pub verdict: Vec<Verdict>,
    /// What was measured, in order.
    pub steps: Vec<StepView>,
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
pub struct ReferencePoint {
    /// `iops`, `bytes_per_s`, `lat_mean_ns`, `lat_p99_ns`, `cpu_pct`...
    pub metric: String,
    /// In the unit of the metric.
    pub value: f64,
    /// fio's word: `randread`.
    pub op: Option<String>,
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
    /// `unpinned`, `cores`...
    pub placement: Option<String>,
    /// Group or configuration within the source.
    pub group: Option<String>,
    /// What speaks against it: it contradicts another of its figures, is read from a chart... Empty: nothing.
    pub doubt: String,
}

/// Head of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Number in the lab.
    pub id: i64,
    /// Name of the study.
    pub study: String,
    /// Question of the study.
    pub question: String,
    /// `running`, `finished`, `interrupted`, `failed` or `imported`.
    pub state: String,
    /// RFC 3339, UTC.
    pub started: String,
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

/// What fio would be told for the same load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FioCommand {
    /// Index of the step.
    pub step: u32,
    /// Command line.
    pub command: String,
}

/// An answer with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// What was asked.
    pub question: String,
    /// One or two sentences.
    pub answer: String,
    /// Sentences that carry the numbers.
    pub evidence: Vec<String>,
    /// What would help, and by how much; may be empty.
    pub would_help: Vec<String>,
    /// What limits the trust in the answer; may be empty.
    pub caveats: Vec<String>,
    /// Four to six figures the study is about.
    pub figures: Vec<Figure>,
}

/// A headline figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// `Most random reads`.
    pub name: String,
    /// SI base units.
    pub value: f64,
    /// `iops`, `bytes_per_s`, `ns`, `ns_per_io`, `iops_per_core`.
    pub unit: String,
    /// 95 % interval.
    pub ci95: Option<[f64; 2]>,
    /// `4k random read T4 QD32`.
    pub load: String,
    /// Index of the step it comes from.
    pub step: u32,
}

/// One step with its judged figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepView {
    /// Position in the plan.
    pub index: u32,
    /// For people.
    pub label: String,
    /// `measure`, `fill`... `probe`: beside the plan, to explain a measured step.
    pub phase: String,
    /// Group of the targets.
    pub group: String,
    /// Ties to the rest of the plan: test, round, conditioning, block of a comparison, settings in force.
    #[serde(default, skip_serializing_if = "fathom_plan::Role::is_empty")]
    pub role: fathom_plan::Role,
    /// As named by the user.
    pub targets: Vec<String>,
    /// `measured`, `refused`, `failed`, `imported`.
    pub state: String,
    /// Why, when refused or failed.
    pub reason: Option<String>,
    /// Remedy, when refused or failed.
    pub help: Option<String>,
    /// Engine word.
    pub engine: String,
    /// Mode word.
    pub mode: String,
    /// `unpinned`, `cores`, ...
    pub placement: String,
    /// CPUs the threads were bound to; empty: unpinned.
    pub cpus: Vec<u32>,
    /// fio's word: `randread`.
    pub op: String,
    /// Share of reads.
    pub read_pct: u8,
    /// `random`, `sequential`, `zipf:1.2`...
    pub pattern: String,
    /// Largest block of the split.
    pub block_size_bytes: u32,
    /// Whether the page cache was bypassed.
    pub direct: bool,
    /// Footprint, when known.
    pub footprint_bytes: Option<u64>,
    /// Per target.
    pub threads: u32,
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
    /// 95 % interval; `None` with too few intervals.
    pub iops_ci95: Option<[f64; 2]>,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Created -> reaped (open loop: from the intended start), all operations. `None` for an unsustainable rate.
    pub lat_ns: Option<LatencyView>,
    /// Created -> submitted.
    pub slat_ns: Option<LatencyView>,
    /// Submitted -> reaped.
    pub clat_ns: Option<LatencyView>,
    /// Open loop: from the actual start.
    pub service_ns: Option<LatencyView>,
    /// Reads alone.
    pub read: Option<DirectionView>,
    /// Writes alone.
    pub write: Option<DirectionView>,
    /// Trims alone.
    pub trim: Option<DirectionView>,
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
    /// How each target was purged, by a step that purges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub purges: Vec<PurgeReport>,
    /// Workers.
    pub workers: Vec<ThreadRecord>,
    /// Kernel's counters over the window.
    pub host_delta: Option<HostDelta>,
    /// Own cost.
    pub overhead: Option<Overhead>,
    /// Clock.
    pub clock: Option<fathom_record::ClockUse>,
    /// Health of the drives behind the targets: temperature, bytes written, write amplification, throttling.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drive_health: Vec<DriveHealthView>,
    /// Each target for itself, when there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_target: Vec<TargetView>,
    /// What failed.
    pub failures: Vec<IoFailure>,
    /// Verification.
    pub verify: Option<VerifyReport>,
    /// Open loop.
    pub open_loop: Option<OpenLoop>,
    /// As values.
    pub warnings: Vec<Warning>,
    /// The same as sentences, same order.
    pub warning_texts: Vec<String>,
}

/// What one target of several gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

/// Latency figures. A quantile is `None` when fewer than 100 samples lie beyond it; `needs` then says how many I/Os more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyView {
    /// Samples behind the figures (all I/Os, or a sample of them for slat and clat).
    pub samples: u64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub stddev: f64,
    /// Smallest.
    pub min: u64,
    /// Largest.
    pub max: u64,
    /// Median.
    pub p50: Option<u64>,
    /// 90th percentile.
    pub p90: Option<u64>,
    /// 95th percentile.
    pub p95: Option<u64>,
    /// 99th percentile.
    pub p99: Option<u64>,
    /// 99.9th percentile.
    #[serde(rename = "p99.9")]
    pub p99_9: Option<u64>,
    /// 99.99th percentile.
    #[serde(rename = "p99.99")]
    pub p99_99: Option<u64>,
    /// 99.999th percentile.
    #[serde(rename = "p99.999")]
    pub p99_999: Option<u64>,
    /// 95 % intervals of the mean (`mean`) and the quantiles that have one, by name.
    pub ci95: BTreeMap<String, [u64; 2]>,
    /// More I/Os (and seconds at this rate) that a missing quantile needs, by name.
    pub needs: BTreeMap<String, NeedView>,
}

/// How much more a quantile needs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NeedView {
    /// I/Os.
    pub ios: u64,
    /// Seconds at the measured rate.
    pub seconds: f64,
}

/// One operation of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DirectionView {
    /// Completed I/Os.
    pub ios: u64,
    /// Per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Short I/Os.
    pub short_ios: u64,
    /// As [`StepView::lat_ns`].
    pub lat_ns: Option<LatencyView>,
}

/// CPU cost of the whole host per I/O, idle baseline subtracted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CpuView {
    /// Busy cores, all kinds, baseline subtracted.
    pub busy_cores: f64,
    /// Online CPUs.
    pub cpus_online: u32,
    /// User time.
    pub user_ns_per_io: f64,
    /// System time, without interrupts and without kernel workers.
    pub system_ns_per_io: f64,
    /// Hard and soft interrupts.
    pub irq_ns_per_io: f64,
    /// Kernel threads working for the run (iou-sqp, iou-wrk, md).
    pub kernel_worker_ns_per_io: f64,
    /// Interrupts per I/O.
    pub interrupts_per_io: f64,
    /// Context switches per I/O.
    pub context_switches_per_io: f64,
    /// IOPS / `busy_cores`; `None` when hardly any CPU was used.
    pub iops_per_core: Option<f64>,
    /// Busy physical cores, baseline subtracted: a core is as busy as its busiest sibling. `busy_cores` without SMT.
    #[serde(default)]
    pub busy_physical_cores: f64,
    /// IOPS / `busy_physical_cores`; `None` when hardly any CPU was used.
    #[serde(default)]
    pub iops_per_physical_core: Option<f64>,
    /// Idle baseline, busy cores.
    pub baseline_busy_cores: f64,
    /// Share of the window stolen by the hypervisor, percent of all CPUs.
    pub steal_pct: f64,
    /// Busiest CPU: number and busy share in [0, 1].
    pub busiest_cpu: Option<(u32, f64)>,
}

/// What limited a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LimitView {
    /// `queue_depth`, `device`, `core`, `all_cores`, `rate`, `page_cache`, `unknown`...
    pub name: String,
    /// `confirmed`, `likely` or `unknown`.
    pub confidence: String,
    /// One sentence.
    pub sentence: String,
    /// The numbers behind it.
    pub evidence: Vec<EvidenceView>,
    /// What would help, and by how much; may be empty.
    #[serde(default)]
    pub would_help: Vec<String>,
}

/// The most a part of the system could give under the step's load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CeilingView {
    /// `device`, `link`, `uplink`, `core`, `all_cores`, `irq_core`, `queue_depth`, `raid`, `memory`...
    pub name: String,
    /// I/Os per second.
    pub iops: f64,
    /// Bytes per second, where that is what the part is limited in.
    pub bytes_per_s: Option<f64>,
    /// How it was reckoned, with its numbers.
    pub sentence: String,
}

/// What a PCIe link carried during a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkLoad {
    /// PCI function at its lower end.
    pub address: String,
    /// As trained: `Gen4 x4`.
    pub link: String,
    /// What one direction can carry after coding and packets.
    pub usable_bytes_per_s: f64,
    /// Towards the processor.
    pub read_bytes_per_s: f64,
    /// Towards the drives.
    pub write_bytes_per_s: f64,
    /// The larger of the two over `usable_bytes_per_s`, in [0, 1].
    pub load_share: f64,
}

/// A number behind a claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvidenceView {
    /// What it is.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Its unit.
    pub unit: String,
}

/// Steadiness: of the rounds where the step was settled in rounds, else of the intervals of its window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SteadyView {
    /// Whether it was steady: where there are rounds by the specification's rule, unless the measured window left that
    /// state again; else by Fathom's own.
    pub reached: bool,
    /// Why not: `not_achieved` (by the specification), `warm_up_too_long`, `beginning_differs`, `level_changes`,
    /// `drifts`, or `cannot_tell` (too noisy or short to say).
    pub why: Option<String>,
    /// Rounds run, or intervals looked at.
    pub rounds: u32,
    /// Intervals that still look like warm-up.
    pub warmup_intervals: u32,
    /// Drift over the step's own window, percent of the mean per minute; `None` where only rounds were judged.
    #[serde(default)]
    pub drift_pct_per_minute: Option<f64>,
    /// Its 95 % interval.
    pub drift_ci95: Option<[f64; 2]>,
    /// Steady state determination table after SNIA PTS; `None` without rounds.
    #[serde(default)]
    pub pts: Option<PtsView>,
    /// Fathom's own verdict in full; `None` with too little data.
    #[serde(default)]
    pub own: Option<OwnSteadyView>,
    /// The tracked variable round by round, for the convergence plot; empty without rounds.
    #[serde(default)]
    pub series: Vec<f64>,
}

/// Steady state determination table after SNIA PTS. All values in the unit of the tracked variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PtsView {
    /// What is tracked: `iops`, `bytes_per_s` or `lat_mean_ns`.
    pub variable: String,
    /// Whether range and slope were both within their limits.
    pub reached: bool,
    /// First and last round of the window, counted from 1; the last five rounds when it was not reached.
    pub window: Option<[u32; 2]>,
    /// Mean of the window.
    pub average: f64,
    /// Largest data excursion allowed: 20 % of the average.
    pub range_allowed: f64,
    /// Data excursion measured: largest minus smallest.
    pub range: f64,
    /// Largest slope excursion allowed: 10 % of the average.
    pub excursion_allowed: f64,
    /// Slope excursion measured: |slope| x 4.
    pub excursion: f64,
    /// Slope of the least-squares line per round.
    pub slope: f64,
    /// Its value at round 0, so that y = intercept + slope x round.
    pub intercept: f64,
    /// The line as people read it: `y = 10234 - 12.3 x`.
    pub line: String,
    /// `rounds 4..8` or `NOT ACHIEVED`.
    pub determination: String,
    /// Drift over all rounds, percent of their mean per round: what the window of five cannot see.
    pub drift_pct_per_round: f64,
}

/// Fathom's own verdict: warm-up cut, level changes, drift with its interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnSteadyView {
    /// Whether it was steady after its warm-up.
    pub reached: bool,
    /// As [`SteadyView::why`].
    pub why: Option<String>,
    /// The verdict as a sentence.
    pub sentence: String,
    /// Points judged (intervals, or intervals of all rounds).
    pub points: u32,
    /// Points at the beginning that are warm-up.
    pub warmup_points: u32,
    /// Where the level changes after the warm-up, as positions among the points; each begins a new level.
    pub change_points: Vec<u32>,
    /// Drift over the window that the margin applies to, percent of the mean.
    pub drift_pct_per_window: f64,
    /// Its 95 % interval.
    pub drift_ci95_pct: Option<[f64; 2]>,
    /// Largest drift over that window still called steady, percent either way.
    pub margin_pct: f64,
    /// Point at which a steady state was left again; `None` when it was not.
    pub left_at: Option<u32>,
}

/// A prediction made before the step ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

/// A point of the percentile curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Quantile in (0, 1).
    pub q: f64,
    /// Latency.
    pub ns: u64,
}

/// Figures per interval; all arrays have the same length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SeriesView {
    /// Start of each interval from the start of the window, seconds.
    pub start_s: Vec<f64>,
    /// I/Os per second.
    pub iops: Vec<f64>,
    /// Median latency; `None` without samples.
    pub p50_ns: Vec<Option<u64>>,
    /// p99; `None` with fewer than 10 samples beyond it (enough for a picture, not for a headline).
    pub p99_ns: Vec<Option<u64>>,
    /// Busy share in [0, 1]. `[interval][cpu]`; empty when not sampled.
    pub cpu_busy: Vec<Vec<f32>>,
    /// Whether a drive showed itself hot or slowed down by heat: mark the interval. Drives are looked at once a second,
    /// so a mark reaches from the look before to the look after. Empty where no drive tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hot: Vec<bool>,
}

/// A law that must hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckView {
    /// `littles_law`, `bytes`, `diskstats`, `page_cache`; of the mode: `polled`, `submitted_by_poller`,
    /// `fixed_buffers`; of the placement: `pinned`.
    pub name: String,
    /// Whether it held; `None`: could not be checked (the sentence says why).
    pub ok: Option<bool>,
    /// What was compared with what.
    pub sentence: String,
    /// What likely broke it, where that can be told: `other_load` (the device did more than this step asked for).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}
