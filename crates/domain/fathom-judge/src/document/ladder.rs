//! Ladders: steps that differ in one thing alone, of which each has more than the one before.

use fathom_model::LimitName;
use serde::{Deserialize, Serialize};

use super::LadderAxis;

/// A ladder by its steps. Those over the queue depth and over the rate hold each load of the run once, also where a
/// load stands alone; those over threads, drives and ranks have at least two points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LadderView {
    /// What its steps have more and more of.
    pub axis: LadderAxis,
    /// Rising.
    pub points: Vec<LadderPoint>,
    /// Where it stops growing in proportion; `None`: nowhere for sure.
    pub knee: Option<KneeView>,
    /// The step with the least that gives 95 % of the most of the ladder; `None` for rates and single points.
    #[serde(default)]
    pub enough: Option<u32>,
    /// Whether its last point may lie below proportion although no point does for sure.
    pub may_bend: bool,
    /// Median size of the error of predicted IOPS over its steps, percent; `None` where nothing was predicted.
    pub iops_error_pct_median: Option<f64>,
}

/// One load of a ladder.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LadderPoint {
    /// Its step: of rounds the last, of repeats the one with the median IOPS.
    pub step: u32,
    /// Place on the axis.
    pub at: f64,
    /// IOPS over those of as many times the first point, a share; `None` for rates, which are asked for.
    pub efficiency: Option<f64>,
    /// Its 95 % interval; `None` for the first point, which is its measure, and without intervals of the rates.
    pub efficiency_ci95: Option<[f64; 2]>,
}

/// The first point that gives less than nine tenths of its proportion, with its whole interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct KneeView {
    /// Its step.
    pub step: u32,
    /// Its place on the axis.
    pub at: f64,
    /// Where the ladder bends: after the last point that is in proportion for sure, at the latest at the knee.
    pub between: [f64; 2],
    /// The part that limits it from there on; `None` where no step names one.
    #[serde(default)]
    pub takes_over: Option<LimitName>,
}
