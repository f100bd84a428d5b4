//! Reads at one rate beside writes at another.

use fathom_plan::LatencyGoal;
use serde::{Deserialize, Serialize};

/// The pairs of rates that a group was put under, and the edge of those that keep the goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SurfaceView {
    /// Name of the group.
    pub group: String,
    /// What the pairs were to keep; `None`: that the rates are kept up with.
    pub goal: Option<LatencyGoal>,
    /// Pairs that were measured, in the order of the plan. What they decide for others was not run.
    pub pairs: Vec<PairView>,
    /// Steps of the kept pairs that no other kept one exceeds in both rates, from the fewest writes on.
    pub edge: Vec<u32>,
}

/// One pair of rates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PairView {
    /// Index of its step.
    pub step: u32,
    /// Reads offered per second.
    pub reads_per_s: f64,
    /// Writes offered per second.
    pub writes_per_s: f64,
    /// What it does with the goal.
    pub outcome: PairOutcome,
}

/// What a pair of rates does with the goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum PairOutcome {
    /// Keeps it with its whole interval.
    Kept,
    /// Misses it with its whole interval.
    Missed,
    /// The rates were not kept up with.
    NotHeld,
    /// The goal lies inside the interval, or no interval is known.
    Unknown,
}
