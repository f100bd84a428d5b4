//! What was predicted of steps before they ran.

use serde::{Deserialize, Serialize};

/// A short step that a prediction was made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScreenedStep {
    /// Its label.
    pub label: String,
    /// I/Os in flight over all threads and targets.
    pub in_flight: u32,
    /// I/Os per second.
    pub iops: f64,
    /// Mean latency.
    pub lat_mean_ns: f64,
}

/// What is predicted of one step of the plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictedStep {
    /// Index in the plan.
    pub index: u32,
    /// I/Os per second.
    pub iops: f64,
    /// Mean latency.
    pub lat_mean_ns: f64,
}

/// A prediction of some steps of a run: those of one ladder.
#[derive(Clone, Debug, PartialEq)]
pub struct LadderPrediction {
    /// When it was made, Unix nanoseconds.
    pub made_unix_ns: u64,
    /// What it was made from.
    pub screens: Vec<ScreenedStep>,
    /// What it says.
    pub steps: Vec<PredictedStep>,
}
