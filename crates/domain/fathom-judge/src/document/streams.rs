//! Streams that ran at once, together.

use serde::{Deserialize, Serialize};

use super::CpuView;

/// The sum over a set of streams. Each of them is a step of the document as well.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StreamSetView {
    /// Its number in the plan.
    pub set: u32,
    /// The streams that were measured.
    pub streams: Vec<StreamView>,
    /// I/Os per second of all.
    pub iops: f64,
    /// Bytes per second of all.
    pub bytes_per_s: f64,
    /// Window of the longest, s.
    pub runtime_s: f64,
    /// CPU time of the host meanwhile, per I/O of all streams; `None` where they did not run equally long.
    pub cpu: Option<CpuView>,
}

/// One stream of a set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StreamView {
    /// Index of its step.
    pub step: u32,
    /// What the user calls it.
    pub name: String,
    /// I/Os per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
}
