//! Figures of a step: latency, directions, CPU, series, checks.

use std::collections::BTreeMap;

use fathom_message::Message;
use serde::{Deserialize, Serialize};

use super::{CheckCause, CheckName};

/// Latency figures. A quantile is `None` when fewer than 100 samples lie beyond it; `needs` then says how many I/Os more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
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

/// Queue depth: what was asked for, and what the device can have seen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DepthView {
    /// Slots that held an I/O or waited for their next, mean over the window.
    pub asked: f64,
    /// I/Os handed to the engine and not reaped, mean over the window.
    pub in_flight: f64,
}

impl DepthView {
    /// Below this share of the depth asked for, a reader must know what the device saw.
    const SEEN_MIN: f64 = 0.97;

    /// Whether the host kept so many I/Os waiting that the device saw another depth.
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.in_flight < Self::SEEN_MIN * self.asked
    }
}

/// How much more a quantile needs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NeedView {
    /// I/Os.
    pub ios: u64,
    /// Seconds at the measured rate.
    pub seconds: f64,
}

/// One operation of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DirectionView {
    /// Completed I/Os.
    pub ios: u64,
    /// Per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Short I/Os.
    pub short_ios: u64,
    /// As [`super::StepView::lat_ns`].
    pub lat_ns: Option<LatencyView>,
}

/// CPU cost of the whole host per I/O, without other programs (or, where they are not known, without the idle baseline).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CpuView {
    /// Busy cores, all kinds, baseline subtracted.
    pub busy_cores: f64,
    /// Online CPUs.
    pub cpus_online: u32,
    /// All kinds of time together; `None` where other work or time that belongs to nothing known would be a good part of it.
    #[serde(default)]
    pub ns_per_io: Option<f64>,
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
    /// IOPS / `busy_cores`; `None` when hardly any CPU was used, or the idle host used more.
    pub iops_per_core: Option<f64>,
    /// Busy physical cores, baseline subtracted: a core is as busy as its busiest sibling. `busy_cores` without SMT.
    #[serde(default)]
    pub busy_physical_cores: f64,
    /// IOPS / `busy_physical_cores`; `None` as for `iops_per_core`.
    #[serde(default)]
    pub iops_per_physical_core: Option<f64>,
    /// Idle baseline, busy cores.
    pub baseline_busy_cores: f64,
    /// Busy cores of other programs during the step, in none of the other figures; `None` where they are not known.
    #[serde(default)]
    pub other_programs_cores: Option<f64>,
    /// Busy cores that belong to nothing known; part of the other figures.
    #[serde(default)]
    pub unexplained_cores: f64,
    /// Share of the window stolen by the hypervisor, percent of all CPUs.
    pub steal_pct: f64,
    /// Busiest CPU: number and busy share in [0, 1].
    pub busiest_cpu: Option<(u32, f64)>,
}

/// A point of the percentile curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CurvePoint {
    /// Quantile in (0, 1).
    pub q: f64,
    /// Latency.
    pub ns: u64,
}

/// Figures per interval; all arrays have the same length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
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
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub hot: Vec<bool>,
}

/// A law that must hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CheckView {
    /// Which law.
    pub name: CheckName,
    /// Whether it held; `None`: could not be checked (the sentence says why).
    pub ok: Option<bool>,
    /// What was compared with what.
    pub sentence: Message,
    /// What likely broke it, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub cause: Option<CheckCause>,
}
