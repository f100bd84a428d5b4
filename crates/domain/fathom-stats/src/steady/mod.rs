//! Whether a run is in its steady state.
//!
//! Two verdicts stand beside each other: that of the SNIA specification ([`snia_determination`], over rounds), which a
//! slowly sinking drive passes for ever, and Fathom's own, stricter one ([`own_verdict`], over the intervals of a window
//! or of all rounds).

mod changes;
mod drift;
mod mser;
mod own;
mod snia;
#[cfg(test)]
mod truth;
mod verdict;

pub use changes::level_changes;
pub use drift::{Drift, theil_sen_drift};
pub(crate) use drift::{least_squares_slope, residuals};
pub use mser::mser_cut;
pub use own::{DRIFT_MARGIN_PCT, LEVEL_MARGIN_PCT, OwnVerdict, POINTS_TO_JUDGE, Unsteady, own_verdict};
pub use snia::{SNIA_ROUNDS_MAX, SniaDetermination, SniaWindow, snia_determination, snia_window};
pub use verdict::{SteadyVerdict, steady_verdict};
