//! Figures with their intervals, and verdicts on a series of intervals. Pure arithmetic: no clock, no randomness.
//!
//! The unit of inference is the interval, never the single I/O: neighbouring I/Os share queues and stalls. Series are
//! cut into batches long enough to be nearly independent, and the spread of the batch means gives the error bar.

mod adaptive;
mod autoregression;
mod batch;
mod compare;
#[cfg(test)]
mod coverage;
mod disturbance;
mod laws;
mod mean;
mod memory;
mod plateau;
mod quantile;
mod recurrence;
mod scaling;
mod steady;
mod student;
#[cfg(any(test, feature = "testing"))]
pub mod tables;
#[cfg(test)]
mod testing;
mod throughput;

pub use adaptive::{AdaptiveStop, known_within, precise_enough};
pub use batch::mean_of_rounds;
pub use compare::{
    CompareError, Effect, FALSE_DISCOVERY_RATE, MARGIN_PCT, PAIRS_MIN, RatioEstimate, Relation, RunFigure, RunSpread,
    adjusted_p_values, birge_scale, ratio_ci, relation, run_to_run_spread,
};
pub use laws::{LawCheck, littles_law};
pub use mean::{Estimate, NoInterval, POINTS_MIN, Scope, mean_ci};
pub use plateau::{Plateau, plateau};
pub use quantile::{BEYOND_MIN, QuantileEstimate, quantile_estimate};
pub use recurrence::Recurrence;
pub use scaling::ScalingFit;
pub use steady::{
    DRIFT_MARGIN_PCT, Drift, LEVEL_MARGIN_PCT, OwnVerdict, POINTS_TO_JUDGE, SNIA_ROUNDS_MAX, SniaDetermination,
    SniaWindow, SteadyVerdict, Unsteady, level_changes, mser_cut, own_verdict, snia_determination, snia_window,
    steady_verdict, theil_sen_drift,
};
pub use student::normal_cdf;
pub use throughput::{interval_iops, iops_estimate, mean_latency_ci95};
