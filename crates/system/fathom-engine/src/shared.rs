//! What workers and the collector share: the deadline, the gate, and messages.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use fathom_record::{FeatureUse, IoFailure, StepFailure, VerifyReport};

use crate::tally::{OPS, OpTotals, Tallies};

/// The measured window, on the scale of [`crate::clock::Clock`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// Start; ramp I/O completes before it.
    pub(crate) start_ns: u64,
    /// Length of an interval.
    pub(crate) interval_ns: u64,
}

/// Where the step stands, for the workers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stage {
    /// Set up and wait.
    Prepare,
    /// Do I/O.
    Run(Window),
    /// The window was sampled: read back what was written, if asked, and leave.
    Release,
    /// Leave at once.
    Abandon,
}

/// Signs of life of one worker, on a cache line of its own.
#[derive(Default)]
#[repr(align(128))]
struct Beats(AtomicU64);

/// Shared by all threads of a step.
pub(crate) struct Shared {
    /// End of the window; workers load it once per batch. Moved earlier to stop.
    deadline_ns: AtomicU64,
    /// Set when the user stopped the step.
    stopped: AtomicBool,
    /// `[worker]`.
    beats: Box<[Beats]>,
    stage: Mutex<Stage>,
    changed: Condvar,
}

impl Shared {
    /// Nothing has begun, for so many workers.
    pub(crate) fn new(workers: usize) -> Self {
        Shared {
            deadline_ns: AtomicU64::new(u64::MAX),
            stopped: AtomicBool::new(false),
            beats: (0..workers).map(|_| Beats::default()).collect(),
            stage: Mutex::new(Stage::Prepare),
            changed: Condvar::new(),
        }
    }

    /// End of the window. Relaxed: nothing else is published with it.
    #[inline(always)]
    pub(crate) fn deadline_ns(&self) -> u64 {
        self.deadline_ns.load(Ordering::Relaxed)
    }

    /// Ends the window at `ns`, unless it ends earlier already.
    pub(crate) fn end_by(&self, ns: u64) {
        self.deadline_ns.fetch_min(ns, Ordering::Relaxed);
    }

    /// Whether the user stopped the step.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Remembers that the user stopped the step.
    pub(crate) fn set_stopped(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// A worker whose window is over got ahead: it noticed the end, or I/O came back. Not called within the window.
    pub(crate) fn beat(&self, worker: u32) {
        self.beats[worker as usize].0.fetch_add(1, Ordering::Relaxed);
    }

    /// Signs of life so far of all workers after their windows.
    pub(crate) fn beats(&self) -> u64 {
        self.beats.iter().map(|beats| beats.0.load(Ordering::Relaxed)).sum()
    }

    /// Tells the workers where the step stands.
    pub(crate) fn set_stage(&self, stage: Stage) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
        self.changed.notify_all();
    }

    /// Whether the workers are to leave at once.
    pub(crate) fn is_abandoned(&self) -> bool {
        matches!(*self.stage.lock().unwrap_or_else(PoisonError::into_inner), Stage::Abandon)
    }

    /// Waits until the stage is one that `wanted` accepts.
    pub(crate) fn wait_stage<T>(&self, wanted: impl Fn(Stage) -> Option<T>) -> T {
        let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(found) = wanted(*stage) {
                return found;
            }
            stage = self.changed.wait(stage).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// What a worker did over the window, beside its intervals.
pub(crate) struct WorkerSummary {
    /// When its last counted I/O was reaped.
    pub(crate) finished_ns: u64,
    /// When its first I/O was handed to the kernel; `None`: it issued none.
    pub(crate) first_submit_ns: Option<u64>,
    /// Whether it ended because its passes were done.
    pub(crate) passes_done: bool,
    /// Whether it gave up because nothing succeeded any more.
    pub(crate) gave_up: bool,
    /// `[op]`.
    pub(crate) totals: [OpTotals; OPS],
    pub(crate) ios: u64,
    pub(crate) passes: u64,
    pub(crate) in_flight_max: u32,
    pub(crate) polling: Option<fathom_record::Polling>,
    /// Integral of I/Os in flight over the window, I/O x ns.
    pub(crate) in_flight_area: u128,
    pub(crate) occupied_area: u128,
    pub(crate) age_ns: [u64; 2],
    pub(crate) cpus_seen: Vec<u32>,
    pub(crate) migrations: Option<u64>,
    pub(crate) paused_ns: u64,
    pub(crate) failures: Vec<IoFailure>,
    /// `[part]`: failed I/Os.
    pub(crate) errors: Vec<u64>,
    /// Sum and number of measured batch stamp errors.
    pub(crate) stamp_error_ns: (u64, u64),
    /// I/Os submitted and calls that submitted them.
    pub(crate) submitted: (u64, u64),
    pub(crate) open: Option<OpenSummary>,
    /// What its arrays did on their members.
    pub(crate) arrays: Vec<fathom_record::ArrayRecord>,
    /// What the engine used.
    pub(crate) features: Vec<FeatureUse>,
}

/// How a worker's arrivals went.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OpenSummary {
    /// Sum and number of submit delays in the halves of the window.
    pub(crate) delay_ns: [(u64, u64); 2],
    /// Due but not started at the end.
    pub(crate) backlog_ios: u64,
}

/// From a worker to the collector.
pub(crate) enum FromWorker {
    /// Set up and waiting; the kernel's number of the thread.
    Ready { worker: u32, thread: i32 },
    /// Could not be set up, or could not go on.
    Failed { worker: u32, failure: StepFailure },
    /// Left without having done anything, because the step was stopped.
    Left { worker: u32 },
    /// A finished interval that has I/Os.
    Interval { worker: u32, tallies: Tallies },
    /// The window is over for this worker and its I/O drained.
    Drained { worker: u32, summary: Box<WorkerSummary> },
    /// Read back what it wrote.
    Verified { report: Box<VerifyReport> },
}
