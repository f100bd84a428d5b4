//! Loops of rounds: what each workload gave over the window in which the loop was steady.

use serde::{Deserialize, Serialize};

use fathom_message::Unit;

/// A loop whose steps are repeated until the one that is looked at is steady.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LoopView {
    /// Its number in the plan.
    pub loop_id: u32,
    /// Name of the ladder that made it (`iops`, `wsat`...), when the study names its ladders.
    pub test: Option<String>,
    /// First step of the workload that is looked at: the determination table is about it. `None`: the plan looks at none.
    pub tracked: Option<u32>,
    /// Rounds that were measured.
    pub rounds: u32,
    /// Unit of the cells.
    pub unit: Unit,
    /// Every workload of a round.
    pub cells: Vec<LoopCell>,
}

/// One workload of a loop over its measurement window; over all rounds where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LoopCell {
    /// Its step in the first round of the window.
    pub step: u32,
    /// Mean of the rounds.
    pub mean: f64,
    /// Its 95 % interval from the rounds; `None` of fewer than two.
    pub ci95: Option<[f64; 2]>,
}
