//! Whether a run is in its steady state.
//!
//! Two verdicts stand beside each other: that of the SNIA specification ([`snia_window`], over rounds), which a slowly
//! sinking drive passes for ever, and Fathom's own, stricter one ([`steady_verdict`], over intervals).

mod drift;
mod mser;
mod snia;
mod verdict;

pub use drift::{Drift, theil_sen_drift};
pub use mser::mser_cut;
pub use snia::{SNIA_ROUNDS_MAX, SniaWindow, snia_window};
pub use verdict::{DRIFT_MARGIN_PCT, SteadyVerdict, Unsteady, steady_verdict};
