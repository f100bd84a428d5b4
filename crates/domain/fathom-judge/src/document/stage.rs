//! A stage of a load that changes with time.

use serde::{Deserialize, Serialize};

use super::LatencyView;

/// What one stage asked for and got.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StageView {
    /// From the beginning of the measured window, s.
    pub start_s: f64,
    /// Length, s.
    pub length_s: f64,
    /// Rate asked for at its beginning, I/Os per second.
    pub asked_from_iops: f64,
    /// Rate asked for at its end.
    pub asked_to_iops: f64,
    /// I/Os that completed in it.
    pub ios: u64,
    /// The same per second.
    pub iops: f64,
    /// Whether what was due in it and what earlier stages left over completed in it, but for 5 %.
    pub is_kept: bool,
    /// I/Os that were due by its end and not completed.
    pub backlog_ios: u64,
    /// Response from the due time, of the I/Os that completed in it; `None` where it did not keep its rate or nothing completed.
    pub lat_ns: Option<LatencyView>,
    /// Where an earlier stage asked for more: how long after the beginning of this one the latencies were higher than an
    /// undisturbed stage's, s. `None`: nothing to recover from, or no stage to compare with.
    pub recovery_s: Option<f64>,
    /// Whether it recovered within the stage; false beside a `recovery_s` that is the whole stage.
    pub is_recovered: bool,
}
