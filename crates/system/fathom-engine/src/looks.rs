//! When the collector asks whether the figures are precise enough to stop.

use fathom_plan::Step;
use fathom_record::{Interval, RunControl};

use crate::shared::Window;

/// A look at the precision that passed must pass again this much later.
const LOOK_FACTOR: f64 = 1.5;

/// Looks at the precision at geometrically spaced times only: looking all the time would stop at lucky moments.
pub(crate) struct Looks {
    next_ns: f64,
    start_ns: u64,
    passed: u32,
    floor_reached_is_end: bool,
}

impl Looks {
    /// None taken yet.
    pub(crate) fn new(step: &Step, window: Window) -> Self {
        let length = step.length;
        Looks {
            next_ns: length.floor_ns as f64,
            start_ns: window.start_ns,
            passed: 0,
            floor_reached_is_end: length.floor_ns >= length.budget_ns || length.passes.is_some(),
        }
    }

    /// Whether it is time for the next.
    pub(crate) fn is_due(&self, now: u64) -> bool {
        !self.floor_reached_is_end && now.saturating_sub(self.start_ns) as f64 >= self.next_ns.max(1.0)
    }

    /// Whether this look and the one before passed.
    pub(crate) fn passes(&mut self, control: &RunControl<'_>, intervals: &[Interval], step: &Step) -> bool {
        self.next_ns = self.next_ns.max(1.0) * LOOK_FACTOR;
        self.passed = if (control.precise_enough)(intervals, step) { self.passed + 1 } else { 0 };
        self.passed >= 2
    }
}
