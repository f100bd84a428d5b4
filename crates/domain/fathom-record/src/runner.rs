//! The contract between whoever conducts a run and whatever runs a step, real or simulated.

use std::sync::atomic::{AtomicBool, Ordering};

use fathom_message::{Message, Say, msg, say_error};
use fathom_plan::Step;
use serde::{Deserialize, Serialize};

use crate::record::StepRecord;

/// A look at a running step, sent a few times a second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Measured time so far (0 while ramping or preparing).
    pub elapsed_ns: u64,
    /// Most it can still take; `u64::MAX` while that is not known.
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
    pub activity: Option<Message>,
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum StepFailure {
    /// The step cannot be run here; nothing was touched. Carries what, why and what to do.
    Refused {
        /// What was asked.
        what: Message,
        /// Why not.
        why: Message,
        /// Remedy.
        help: Message,
    },
    /// It began and could not go on.
    Failed {
        /// What was being done, on what.
        what: Message,
        /// Cause: what the operating system says, or what the counters show.
        why: Message,
        /// Remedy; may be empty.
        help: Message,
    },
}

impl StepFailure {
    /// `what` cannot be had because of `error`; nothing was touched.
    #[must_use]
    pub fn refused(what: Message, error: &impl Say) -> StepFailure {
        StepFailure::Refused { what, why: error.message(), help: error.help().unwrap_or_else(|| Message::verbatim("")) }
    }

    /// `what` was begun and the operating system refused it with `error`.
    #[must_use]
    pub fn failed(what: Message, error: &std::io::Error, help: Message) -> StepFailure {
        StepFailure::Failed { what, why: Message::verbatim(error.to_string()), help }
    }

    /// What was asked or done, why that could not be, and the remedy.
    #[must_use]
    pub fn parts(&self) -> (Message, Message, Message) {
        match self {
            StepFailure::Refused { what, why, help } | StepFailure::Failed { what, why, help } => {
                (what.clone(), why.clone(), help.clone())
            }
        }
    }
}

impl Say for StepFailure {
    fn message(&self) -> Message {
        let (what, why, _) = self.parts();
        msg!("what-and-why", what = what, why = why)
    }

    fn help(&self) -> Option<Message> {
        Some(self.parts().2)
    }
}

say_error!(StepFailure);

/// Runs one step: an engine on this host, or a simulated machine.
pub trait Runner {
    /// Runs `step` to its end, or until `control.stop` is set; a stopped step still yields what it measured, with
    /// [`crate::Warning::Interrupted`].
    ///
    /// # Errors
    /// [`StepFailure`] when no figures could be had.
    fn run(&mut self, step: &Step, control: &mut RunControl<'_>) -> Result<StepRecord, StepFailure>;
}
