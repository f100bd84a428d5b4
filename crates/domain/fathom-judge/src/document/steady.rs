//! Steadiness of a step and of its rounds.

use fathom_message::Message;
use serde::{Deserialize, Serialize};

use super::{TrackedFigure, WhyUnsteady};

/// Steadiness: of the rounds where the step was settled in rounds, else of the intervals of its window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SteadyView {
    /// Whether it was steady: where there are rounds by the specification's rule, unless the measured window left that
    /// state again; else by Fathom's own.
    pub reached: bool,
    /// Why not.
    pub why: Option<WhyUnsteady>,
    /// Rounds run, or intervals looked at.
    pub rounds: u32,
    /// Intervals that still look like warm-up.
    pub warmup_intervals: u32,
    /// Drift over the step's own window, percent of the mean per minute; `None` where only rounds were judged, or less than a second.
    #[serde(default)]
    pub drift_pct_per_minute: Option<f64>,
    /// Its 95 % interval.
    pub drift_ci95: Option<[f64; 2]>,
    /// Steady state determination table after SNIA PTS; `None` without rounds.
    #[serde(default)]
    pub pts: Option<PtsView>,
    /// Fathom's own verdict in full; `None` with too little data.
    #[serde(default)]
    pub own: Option<OwnSteadyView>,
    /// The tracked variable round by round, for the convergence plot; empty without rounds.
    #[serde(default)]
    pub series: Vec<f64>,
}

/// Steady state determination table after SNIA PTS. All values in the unit of the tracked variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PtsView {
    /// What is tracked.
    pub variable: TrackedFigure,
    /// Whether range and slope were both within their limits.
    pub reached: bool,
    /// First and last round of the window, counted from 1; the last five rounds when it was not reached.
    pub window: Option<[u32; 2]>,
    /// Mean of the window.
    pub average: f64,
    /// Largest data excursion allowed: 20 % of the average.
    pub range_allowed: f64,
    /// Data excursion measured: largest minus smallest.
    pub range: f64,
    /// Largest slope excursion allowed: 10 % of the average.
    pub excursion_allowed: f64,
    /// Slope excursion measured: |slope| x 4.
    pub excursion: f64,
    /// Slope of the least-squares line per round.
    pub slope: f64,
    /// Its value at round 0, so that y = intercept + slope x round.
    pub intercept: f64,
    /// The line as people read it: `y = 10234 - 12.3 x`.
    pub line: String,
    /// `rounds 4..8` or `NOT ACHIEVED`.
    pub determination: Message,
    /// Drift over all rounds, percent of their mean per round: what the window of five cannot see.
    pub drift_pct_per_round: f64,
}

/// Fathom's own verdict: warm-up cut, level changes, drift with its interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OwnSteadyView {
    /// Whether it was steady after its warm-up.
    pub reached: bool,
    /// As [`SteadyView::why`].
    pub why: Option<WhyUnsteady>,
    /// The verdict as a sentence.
    pub sentence: Message,
    /// Points judged (intervals, or intervals of all rounds).
    pub points: u32,
    /// Points at the beginning that are warm-up.
    pub warmup_points: u32,
    /// Where the level changes after the warm-up, as positions among the points; each begins a new level.
    pub change_points: Vec<u32>,
    /// Drift over the window that the margin applies to, percent of the mean.
    pub drift_pct_per_window: f64,
    /// Its 95 % interval.
    pub drift_ci95_pct: Option<[f64; 2]>,
    /// Largest drift over that window still called steady, percent either way.
    pub margin_pct: f64,
    /// Point at which a steady state was left again; `None` when it was not.
    pub left_at: Option<u32>,
}
