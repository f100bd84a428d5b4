//! When a step has run long enough.

use std::cell::Cell;

use fathom_hist::Histogram;
use fathom_plan::{Op, Step};
use fathom_record::Interval;

use crate::quantile::{quantile_estimate, rel_spread};
use crate::throughput::iops_estimate;

/// Fewest batches on which a run may be stopped early.
const BATCHES_TO_STOP: usize = 20;
/// Consecutive looks that must agree.
const PASSES_TO_STOP: u32 = 2;
/// Quantiles of latency that [`known_within`] wants.
const KNOWN_QUANTILES: [f64; 3] = [0.5, 0.9, 0.99];
/// An operation has a say in [`known_within`] from one I/O in so many on.
const SHARE_OF_AN_OP: u64 = 20;

/// Whether IOPS and p99 of latency (all operations merged) are known as precisely as the step asks.
///
/// Both need their 95 % interval within `step.length.iops_rel_half_width` and `p99_rel_half_width` of the figure, IOPS
/// from at least 20 batches, p99 with at least 100 samples beyond it. Judged afresh on the whole window: asked after
/// every interval it stops too early now and then, which [`AdaptiveStop`] prevents.
#[must_use]
pub fn precise_enough(intervals: &[Interval], step: &Step) -> bool {
    let iops = iops_estimate(intervals);
    let iops_known = iops.batches >= BATCHES_TO_STOP
        && iops.rel_half_width().is_some_and(|width| width <= step.length.iops_rel_half_width);
    if !iops_known {
        return false;
    }
    let mut lat = Histogram::new();
    for direction in intervals.iter().flat_map(|i| &i.directions) {
        lat.merge(&direction.lat);
    }
    let p99 = quantile_estimate(&lat, intervals, 0.99, None);
    p99.rel_half_width().is_some_and(|width| width <= step.length.p99_rel_half_width)
}

/// Whether IOPS and the latencies of each operation at p50, p90 and p99 are known within `rel_half_width` of themselves, by
/// batch means: what a step waits for that no noise of a host disturbs, on a simulated machine.
///
/// A latency is taken to lie evenly within its bucket of the histogram, so that the width of buckets (0.8 %) does not
/// count. An operation with less than a twentieth of the I/Os has latencies of its own that need not be known as well.
#[must_use]
pub fn known_within(intervals: &[Interval], rel_half_width: f64) -> bool {
    let is_known = |width: Option<f64>| width.is_some_and(|width| width <= rel_half_width);
    if intervals.len() < BATCHES_TO_STOP || !is_known(iops_estimate(intervals).rel_half_width()) {
        return false;
    }
    let of_op = |op: Op| {
        let mut lat = Histogram::new();
        intervals.iter().flat_map(|i| &i.directions).filter(|d| d.op == op).for_each(|d| lat.merge(&d.lat));
        lat
    };
    let lats: Vec<(Op, Histogram)> = [Op::Read, Op::Write, Op::Trim].map(|op| (op, of_op(op))).into();
    let ios: u64 = lats.iter().map(|(_, lat)| lat.count()).sum();
    let mut weighty = lats.iter().filter(|(_, lat)| !lat.is_empty() && lat.count() * SHARE_OF_AN_OP >= ios);
    weighty.all(|(op, lat)| KNOWN_QUANTILES.iter().all(|q| is_known(rel_spread(lat, intervals, *q, Some(*op)))))
}

/// Decides when one step may stop: looks at geometric times only and wants two passing looks in a row.
///
/// Looking all the time and stopping at the first good look would cover the truth less often than 95 %. The first look
/// is at floor / 1.5, so that a quiet step can stop at its floor; each next one 1.5 times later. One per step;
/// through a shared reference, because a [`fathom_record::RunControl`] asks through one.
#[derive(Debug, Default)]
pub struct AdaptiveStop {
    next_look_ns: Cell<u64>,
    passes: Cell<u32>,
}

impl AdaptiveStop {
    /// For a step that has not begun.
    #[must_use]
    pub fn new() -> Self {
        AdaptiveStop::default()
    }

    /// Whether the step may stop now. To be asked after each interval; cheap between looks.
    #[must_use]
    pub fn may_stop(&self, intervals: &[Interval], step: &Step) -> bool {
        let Some(last) = intervals.last() else { return false };
        let elapsed_ns = last.start_ns + last.length_ns;
        let look_ns = self.next_look_ns.get().max(step.length.floor_ns / 3 * 2);
        if elapsed_ns < look_ns {
            return false;
        }
        // From the planned time, not from now: otherwise a look that comes late would move the floor's look past it.
        let mut next_ns = look_ns.max(1);
        while next_ns <= elapsed_ns {
            next_ns = next_ns.saturating_mul(3).div_ceil(2);
        }
        self.next_look_ns.set(next_ns);
        let passes = if precise_enough(intervals, step) { self.passes.get() + 1 } else { 0 };
        self.passes.set(passes);
        passes >= PASSES_TO_STOP && elapsed_ns >= step.length.floor_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Random, intervals_with, step_of};

    const SECOND_NS: u64 = 1_000_000_000;

    fn noisy(seed: u64, count: usize, spread: f64) -> Vec<Interval> {
        let mut random = Random::new(seed);
        let ios: Vec<u64> = (0..count).map(|_| (5000.0 * (1.0 + spread * random.normal())) as u64).collect();
        intervals_with(&ios)
    }

    fn stop_time_ns(intervals: &[Interval], step: &Step) -> Option<u64> {
        let stop = AdaptiveStop::new();
        (1..=intervals.len()).find(|n| stop.may_stop(&intervals[..*n], step)).map(|n| n as u64 * SECOND_NS / 10)
    }

    #[test]
    fn quiet_runs_are_precise_and_noisy_ones_are_not() {
        let step = step_of(3 * SECOND_NS, 60 * SECOND_NS);
        assert!(precise_enough(&noisy(1, 60, 0.01), &step));
        assert!(!precise_enough(&noisy(1, 60, 0.2), &step));
        assert!(!precise_enough(&noisy(1, 12, 0.0), &step), "too few batches");
        assert!(!precise_enough(&[], &step));
    }

    #[test]
    fn iops_alone_do_not_stop_a_run_whose_tail_is_unknown() {
        let step = step_of(3 * SECOND_NS, 60 * SECOND_NS);
        assert!(!precise_enough(&intervals_with(&[100; 60]), &step), "6000 I/Os are too few for p99");
        assert!(precise_enough(&intervals_with(&[200; 60]), &step));
    }

    #[test]
    fn figures_are_known_once_rate_and_latencies_are() {
        assert!(known_within(&noisy(4, 60, 0.001), 0.005));
        assert!(!known_within(&noisy(4, 60, 0.1), 0.005), "the rate is not known");
        assert!(!known_within(&intervals_with(&[100; 60]), 0.005), "6000 I/Os are too few for p99");
        assert!(!known_within(&noisy(4, 19, 0.0), 0.005), "too few intervals");
        assert!(!known_within(&[], 0.005) && !known_within(&intervals_with(&[0; 60]), 0.005));
    }

    #[test]
    fn a_quiet_run_stops_at_its_floor_and_a_noisy_one_does_not() {
        let step = step_of(6 * SECOND_NS, 60 * SECOND_NS);
        assert_eq!(stop_time_ns(&noisy(2, 600, 0.001), &step), Some(6 * SECOND_NS));
        assert_eq!(stop_time_ns(&noisy(2, 600, 0.5), &step), None);
    }

    #[test]
    fn one_good_look_is_not_enough() {
        // Quiet until the first look at 4 s, wild until the second, quiet again after.
        let step = step_of(6 * SECOND_NS, 60 * SECOND_NS);
        let mut intervals = noisy(3, 600, 0.001);
        for (i, n) in [(45, 3500), (48, 6500), (52, 5500)] {
            intervals[i] = intervals_with(&vec![n; i + 1]).pop().unwrap();
        }
        assert!(precise_enough(&intervals[..40], &step));
        assert!(!precise_enough(&intervals[..60], &step));
        let stopped = stop_time_ns(&intervals, &step).unwrap();
        assert!(stopped > 9 * SECOND_NS, "{stopped}");
    }
}
