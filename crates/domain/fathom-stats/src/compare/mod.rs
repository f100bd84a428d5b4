//! Two systems against each other: ratio, interval, verdict, corrected for many cells.

mod effect;
mod judge;
mod paired;
mod spread;
#[cfg(test)]
mod truth;

pub use effect::{Effect, run_to_run_spread};
pub use judge::{FALSE_DISCOVERY_RATE, MARGIN_PCT, Relation, adjusted_p_values, relation};
pub use paired::{CompareError, PAIRS_MIN, RatioEstimate, ratio_ci};
pub use spread::{RunFigure, RunSpread, birge_scale};

pub(crate) use paired::median_of_sorted;
