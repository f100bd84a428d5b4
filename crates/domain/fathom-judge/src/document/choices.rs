//! What is chosen by more than one figure: a load within a latency goal, a path of I/O by its rate and its cost.

use serde::{Deserialize, Serialize};

use super::words::ComparedFigure;

/// One latency of the goal, asked of one kind of load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct GoalView {
    /// Which latency: the mean or p99.
    pub figure: ComparedFigure,
    /// The most that it may be.
    pub most_ns: u64,
    /// The steps of this kind of load that carry the goal, in the order of the plan.
    pub steps: Vec<u32>,
    /// The highest load that keeps it with its whole interval each time it was measured: of those that were offered as a
    /// rate, or of the closed loops where no rate keeps it. `None`: none does.
    pub kept_step: Option<u32>,
}

/// One load through several paths of I/O.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PathsView {
    /// A step of each path, in the order of the plan.
    pub steps: Vec<u32>,
    /// Those that no other beats in both IOPS and CPU per I/O, the cheapest first; empty where no cost is known.
    pub front: Vec<u32>,
}
