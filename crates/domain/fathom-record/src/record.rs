//! The record of one step, as the runner hands it over. Nothing in here is judged yet.

use fathom_hist::Histogram;
use fathom_message::Message;
use fathom_plan::{Op, TargetId};
use serde::{Deserialize, Deserializer, Serialize};

use crate::array::ArrayRecord;
use crate::feature::FeatureUse;
use crate::host::HostDelta;
use crate::ranks::RanksRecord;
use crate::warning::Warning;

/// Latencies of one kind, either as samples or as a foreign tool printed them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Latency {
    /// Every sample, in a histogram of nanoseconds.
    Samples(#[serde(with = "crate::wire")] Histogram),
    /// Only what an imported file says.
    Quoted(QuotedLatency),
}

/// Latency figures without samples (imported from fio's plain JSON). Nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct QuotedLatency {
    /// Number of I/Os behind the figures.
    pub count: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Standard deviation.
    pub stddev_ns: f64,
    /// Smallest.
    pub min_ns: u64,
    /// Largest.
    pub max_ns: u64,
    /// (quantile in (0,1), value).
    pub quantiles: Vec<(f64, u64)>,
}

/// Totals of one operation over the measured window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Direction {
    /// Which operation.
    pub op: Op,
    /// Completed I/Os.
    pub ios: u64,
    /// Bytes of the completed I/Os.
    pub bytes: u64,
    /// I/Os that moved fewer bytes than asked (the rest was not retried).
    pub short_ios: u64,
    /// From the moment the slot became free (the reaping of its last I/O) to the reaping. In an open loop: from the
    /// intended start (response). Records without `occupied_mean` were made by versions that left out what a slot waited.
    pub lat: Latency,
    /// The host's wait: slot free (open loop: actual start) -> submitted; `None` where the engine cannot separate it. May hold a sample of the I/Os only.
    pub slat: Option<Latency>,
    /// Submitted -> reaped; as `slat`.
    pub clat: Option<Latency>,
    /// Open loop only: from the actual start (service).
    pub service: Option<Latency>,
}

/// One operation within one interval, over all threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DirectionInterval {
    /// Which operation.
    pub op: Op,
    /// Completed I/Os.
    pub ios: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Latencies as in [`Direction::lat`].
    #[serde(with = "crate::wire")]
    pub lat: Histogram,
}

/// A slice of the measured window. Slices follow each other without gaps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Start, from the start of the measured window.
    pub start_ns: u64,
    /// Length.
    pub length_ns: u64,
    /// Operations that completed at least once in the step, same order in every interval.
    pub directions: Vec<DirectionInterval>,
    /// Syncs, where the step has any.
    pub syncs: Option<DirectionInterval>,
}

/// One worker thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ThreadRecord {
    /// Number of the worker, from 0.
    pub index: u32,
    /// Targets it worked on. Records of before 23 November 2026 have one, as `target`.
    #[serde(alias = "target", deserialize_with = "one_or_several")]
    pub targets: Vec<TargetId>,
    /// CPUs it was allowed on; empty: all.
    pub cpus_allowed: Vec<u32>,
    /// CPUs it was seen on at interval ends, ascending.
    pub cpus_seen: Vec<u32>,
    /// How often the scheduler moved it to another CPU while it worked; `None` where the kernel does not tell.
    #[serde(default)]
    pub migrations: Option<u64>,
    /// Time of the window that it paused because its load says so (thinktime, flow), with nothing in flight.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub paused_ns: u64,
    /// Completed I/Os.
    pub ios: u64,
    /// Full passes over its blocks.
    pub passes: u64,
    /// Most I/Os in flight at once.
    pub in_flight_max: u32,
    /// How much of its time it only looked for completions, where it polls by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub polling: Option<Polling>,
}

/// How much of its time a thread that polls found nothing: its CPU is busy all the same, and could do so much more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Polling {
    /// Time in which it only looked.
    pub waited_ns: u64,
    /// Of all the time since its first I/O.
    pub lasted_ns: u64,
}

// As serde asks.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

fn one_or_several<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<TargetId>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrSeveral {
        One(TargetId),
        Several(Vec<TargetId>),
    }
    Ok(match OneOrSeveral::deserialize(from)? {
        OneOrSeveral::One(target) => vec![target],
        OneOrSeveral::Several(targets) => targets,
    })
}

/// The clock that stamped the I/Os.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ClockUse {
    /// `tsc` or `clock_monotonic`.
    pub source: String,
    /// Cost of one reading.
    pub read_cost_ns: f64,
    /// Difference to CLOCK_MONOTONIC over the step, parts per million.
    pub drift_ppm: f64,
    /// In virtual time, where less was run than was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortened: Option<ShortenedWindow>,
}

/// How the window of a step in virtual time is shorter than the one that was asked for. The record holds its real length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ShortenedWindow {
    /// Length of the window that was asked for, ns.
    pub asked_ns: u64,
    /// What ran before the window, until nothing depended on the beginning any more, ns.
    pub warm_up_ns: u64,
    /// Why it could be shorter.
    pub why: WhyShortened,
}

/// Why a step in virtual time ended before the time that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum WhyShortened {
    /// Its figures were known as precisely as they need to be, and nothing in the machine changes with time.
    FiguresKnown,
    /// So many I/Os were run that more would tell little; not every figure is known as precisely.
    ManyIos,
    /// The drives aged faster than the clock: the whole time that was asked for passed for their flash.
    DrivesAged,
}

/// What Fathom itself cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Overhead {
    /// User time of the loop per I/O with the `null` engine under the same load, calibrated on this host.
    pub loop_ns_per_io: f64,
    /// Largest error of a start because one clock reading serves a batch; mean over batches. 0 with `paranoid`, and in a
    /// closed loop, where an I/O starts when its slot is reaped.
    pub batch_stamp_error_ns_mean: f64,
    /// Mean I/Os submitted per system call.
    pub ios_per_submit: f64,
}

/// Failed I/Os of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct IoFailure {
    /// Which operation.
    pub op: Op,
    /// Positive errno; 0 for a read that met the end of the file.
    pub errno: i32,
    /// What the drive itself answered, where the engine sees it: the NVMe status in words and numbers. `errno` is then
    /// what the kernel's block layer would have made of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub drive_status: Option<Message>,
    /// How often.
    pub count: u64,
    /// Offset of the first.
    pub first_offset_bytes: u64,
}

/// Outcome of data verification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct VerifyReport {
    /// Blocks read back.
    pub blocks_checked: u64,
    /// Sectors of different generations within one block.
    pub torn: u64,
    /// A good block that belongs to another offset.
    pub misplaced: u64,
    /// A good block of an older generation.
    pub stale: u64,
    /// Checksum wrong.
    pub corrupt: u64,
    /// No block of ours there.
    pub foreign: u64,
    /// The first few findings.
    pub examples: Vec<Message>,
}

/// How the open loop went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OpenLoop {
    /// I/Os per second intended.
    pub intended_iops: f64,
    /// Mean delay from intended to actual start, over the first and second half of the window.
    pub submit_delay_ns_mean_halves: [f64; 2],
    /// I/Os due but not started when the window closed.
    pub backlog_end_ios: u64,
    /// Whether the backlog grew: latencies then mean nothing.
    pub unsustainable: bool,
}

/// One target's share of a step over several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetRecord {
    /// The target, as the step names it.
    pub target: TargetId,
    /// Completed I/Os.
    pub ios: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Failed I/Os.
    pub errors: u64,
    /// Slot free -> reaped, all operations; where a thread drives several targets fast, an estimate from one batch in 16, and its
    /// `count` with it. `None` without any.
    pub lat: Option<QuotedLatency>,
}

/// How a target was purged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum PurgeMethod {
    /// NVMe Format.
    NvmeFormat,
    /// NVMe Sanitize.
    NvmeSanitize,
    /// Discard of the whole device.
    Discard,
    /// A hole over the whole file.
    PunchHole,
    /// There was no way; `detail` says why. The steps after it stand on what was there.
    Absent,
}

/// What a purge did to one target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PurgeReport {
    /// The target, as the step names it.
    pub target: TargetId,
    /// By which means.
    pub method: PurgeMethod,
    /// Bytes purged; 0 when absent.
    pub bytes: u64,
    /// For people: what was done, or why it was not.
    pub detail: Message,
}

/// Everything one step yields. The default is the record of a step that did nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepRecord {
    /// Wall clock at the start of the measured window, Unix nanoseconds.
    pub started_unix_ns: u64,
    /// Length of the measured window.
    pub runtime_ns: u64,
    /// Start of the step to the first I/O handed to the kernel.
    pub setup_ns: u64,
    /// One entry per operation that completed at least once.
    pub directions: Vec<Direction>,
    /// Syncs between the writes, where at least one completed. They move no data and are no I/Os of the totals.
    pub syncs: Option<Direction>,
    /// Slices of the measured window; empty for imported runs.
    pub intervals: Vec<Interval>,
    /// Workers.
    pub threads: Vec<ThreadRecord>,
    /// What failed.
    pub failures: Vec<IoFailure>,
    /// What the host did meanwhile; `None` for imported and simulated runs that lack it.
    pub host: Option<HostDelta>,
    /// Engine features and settings.
    pub features: Vec<FeatureUse>,
    /// Clock; `None` for imported runs.
    pub clock: Option<ClockUse>,
    /// Own cost; `None` for imported runs.
    pub overhead: Option<Overhead>,
    /// Mean I/Os handed to the engine and not reaped, integrated by the runner independently of the latencies: the depth
    /// that the device can have seen at most. `None` when unknown.
    pub in_flight_mean: Option<f64>,
    /// Mean slots that held an I/O or waited for their next: in a closed loop the depth that was asked for (less where a
    /// last pass runs out), in an open loop as `in_flight_mean`. `None` when unknown, and in records of versions whose
    /// latencies leave out the wait.
    pub occupied_mean: Option<f64>,
    /// Summed age of what `occupied_mean` counts when the window began and when it ended, ns (without `occupied_mean`:
    /// of the I/Os in flight): what a short window must know to check Little's law. `None` when unknown.
    pub age_ns: Option<[u64; 2]>,
    /// Verification, if asked.
    pub verify: Option<VerifyReport>,
    /// Open loop, if one.
    pub open_loop: Option<OpenLoop>,
    /// Each target's share of the totals, in the order of the step; empty for imported runs and single targets.
    pub targets: Vec<TargetRecord>,
    /// What arrays in user space did on their members, in the order of the step; empty without any.
    pub arrays: Vec<ArrayRecord>,
    /// What a purge did, one entry per target.
    pub purges: Vec<PurgeReport>,
    /// What each process had, of a step that several ran at once; `None` for one alone.
    pub ranks: Option<RanksRecord>,
    /// What a reader must know.
    pub warnings: Vec<Warning>,
}

impl Latency {
    /// The samples, when there are any.
    #[must_use]
    pub fn histogram(&self) -> Option<&Histogram> {
        match self {
            Latency::Samples(h) => Some(h),
            Latency::Quoted(_) => None,
        }
    }
}

impl StepRecord {
    /// Completed I/Os of all operations.
    #[must_use]
    pub fn ios(&self) -> u64 {
        self.directions.iter().map(|d| d.ios).fold(0, u64::saturating_add)
    }

    /// Bytes of the completed I/Os of all operations.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.directions.iter().map(|d| d.bytes).fold(0, u64::saturating_add)
    }

    /// Failed I/Os.
    #[must_use]
    pub fn errors(&self) -> u64 {
        self.failures.iter().map(|f| f.count).fold(0, u64::saturating_add)
    }

    /// The slices with the syncs in place of the other operations; empty where the step has none.
    #[must_use]
    pub fn sync_intervals(&self) -> Vec<Interval> {
        let of = |interval: &Interval| {
            let syncs = interval.syncs.clone()?;
            Some(Interval { directions: vec![syncs], syncs: None, ..*interval })
        };
        self.intervals.iter().filter_map(of).collect()
    }

    /// Totals of one operation.
    #[must_use]
    pub fn direction(&self, op: Op) -> Option<&Direction> {
        self.directions.iter().find(|d| d.op == op)
    }

    /// Latencies of all operations merged; `None` when any is only quoted or there are none.
    #[must_use]
    pub fn lat_merged(&self) -> Option<Histogram> {
        let mut merged: Option<Histogram> = None;
        for direction in &self.directions {
            let h = direction.lat.histogram()?;
            match &mut merged {
                None => merged = Some(h.clone()),
                Some(m) => m.merge(h),
            }
        }
        merged
    }
}
