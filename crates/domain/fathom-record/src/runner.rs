//! The contract between whoever conducts a run and whatever runs a step, real or simulated.

use std::sync::atomic::{AtomicBool, Ordering};

use fathom_plan::Step;

use crate::record::StepRecord;

/// A look at a running step, sent a few times a second.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Measured time so far (0 while ramping or preparing).
    pub elapsed_ns: u64,
    /// Most it can still take.
    pub remaining_ns: u64,
    /// I/Os per second over the last interval.
    pub iops: f64,
    /// Bytes per second over the last interval.
    pub bytes_per_s: f64,
    /// Bytes of the completed I/Os so far, over all intervals that are complete.
    pub bytes_done: u64,
    /// p99 of latency over the last interval, when it has 100 samples or more.
    pub p99_ns: Option<u64>,
    /// What is going on when it is not measuring: `laying out file 40 %`.
    pub activity: Option<String>,
}

/// What a runner is given besides the step.
pub struct RunControl<'a> {
    /// Set by the conductor (Ctrl-C, SIGTERM); workers drain and stop within a second.
    pub stop: &'a AtomicBool,
    /// Called from the runner's own thread, never from a worker.
    pub on_progress: &'a mut dyn FnMut(&Progress),
    /// Judges after each interval whether the figures are precise enough to stop between floor and budget.
    pub precise_enough: &'a dyn Fn(&[crate::Interval], &Step) -> bool,
}

impl RunControl<'_> {
    /// Whether the conductor asked to stop.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Why a step yielded no record.
#[derive(Debug, thiserror::Error)]
pub enum StepFailure {
    /// The step cannot be run here; nothing was touched. Carries what, why and what to do.
    #[error("{what}: {why}")]
    Refused {
        /// What was asked.
        what: String,
        /// Why not.
        why: String,
        /// Remedy.
        help: String,
    },
    /// It began and could not go on.
    #[error("{what}: {source}")]
    Failed {
        /// What was being done, on what.
        what: String,
        /// Cause.
        source: std::io::Error,
        /// Remedy; may be empty.
        help: String,
    },
}

/// Runs one step: an engine on this host, or a simulated machine.
pub trait Runner {
    /// Runs `step` to its end, or until `control.stop` is set; a stopped step still yields what it measured, with
    /// [`crate::Warning::Interrupted`].
    ///
    /// # Errors
    /// [`StepFailure`] when no figures could be had.
    fn run(&mut self, step: &Step, control: &mut RunControl<'_>) -> Result<StepRecord, StepFailure>;
}
