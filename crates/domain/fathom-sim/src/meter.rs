//! Figures of the measured window: intervals of histograms, and the totals that the laws are checked with.

use fathom_hist::Histogram;
use fathom_plan::Op;
use fathom_record::{DirectionInterval, Interval};

use crate::load::OPS;

/// Operations in the order of their indices.
pub(crate) const OP_NAMES: [Op; OPS] = [Op::Read, Op::Write, Op::Trim];
/// Of the submission and completion latencies one sample in so many is kept.
const SPLIT_SAMPLING: u64 = 16;

#[derive(Debug)]
struct Tally {
    ios: u64,
    bytes: u64,
    lat: Histogram,
}

/// Whole-window figures of one operation beside the intervals.
#[derive(Debug)]
pub(crate) struct OpTotals {
    pub(crate) slat: Histogram,
    pub(crate) clat: Histogram,
    pub(crate) service: Option<Histogram>,
}

/// A completed I/O, in nanoseconds of the virtual clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completed {
    pub(crate) op: u8,
    pub(crate) bytes: u32,
    /// Intended start, or creation in a closed loop.
    pub(crate) due_ns: u64,
    pub(crate) created_ns: u64,
    pub(crate) submitted_ns: u64,
    pub(crate) reaped_ns: u64,
    /// Index of its target.
    pub(crate) target: u32,
}

/// One target's share.
#[derive(Debug)]
pub(crate) struct TargetTally {
    pub(crate) ios: u64,
    pub(crate) bytes: u64,
    pub(crate) lat: Histogram,
}

/// The window and what fell into it.
#[derive(Debug)]
pub(crate) struct Meter {
    pub(crate) start_ns: u64,
    pub(crate) interval_ns: u64,
    /// End of the interval that is open.
    interval_end_ns: u64,
    /// The open interval and the next: `[2][op]`. Completions come up to one job's time out of order.
    open: [Vec<Tally>; 2],
    active_ops: [bool; OPS],
    pub(crate) intervals: Vec<Interval>,
    pub(crate) totals: Vec<OpTotals>,
    pub(crate) targets: Vec<TargetTally>,
    /// Sum over the completed of the time they were in flight within the window.
    pub(crate) residence_ns: u128,
    /// Sum of what of it lay before the window.
    pub(crate) age_before_ns: u64,
    pub(crate) bytes_done: u64,
    /// I/Os and bytes that were completed before the window.
    pub(crate) before_window: (u64, u64),
    sampled: u64,
}

impl Meter {
    pub(crate) fn new(
        start_ns: u64,
        interval_ns: u64,
        active_ops: [bool; OPS],
        targets: usize,
        open_loop: bool,
    ) -> Self {
        let tallies = || (0..OPS).map(|_| Tally { ios: 0, bytes: 0, lat: Histogram::new() }).collect();
        Meter {
            start_ns,
            interval_ns,
            interval_end_ns: start_ns + interval_ns,
            open: [tallies(), tallies()],
            active_ops,
            intervals: Vec::new(),
            totals: (0..OPS)
                .map(|_| OpTotals {
                    slat: Histogram::new(),
                    clat: Histogram::new(),
                    service: open_loop.then(Histogram::new),
                })
                .collect(),
            // A single target's share is the whole.
            targets: (0..if targets > 1 { targets } else { 0 })
                .map(|_| TargetTally { ios: 0, bytes: 0, lat: Histogram::new() })
                .collect(),
            residence_ns: 0,
            age_before_ns: 0,
            bytes_done: 0,
            before_window: (0, 0),
            sampled: 0,
        }
    }

    /// Lets the window begin at `start_ns`, before which nothing was counted.
    pub(crate) fn begin_window(&mut self, start_ns: u64, interval_ns: u64) {
        self.start_ns = start_ns;
        self.interval_ns = interval_ns;
        self.interval_end_ns = start_ns + interval_ns;
    }

    /// Makes the interval that was just opened, and all that follow, twice as long.
    pub(crate) fn double_intervals(&mut self) {
        self.interval_end_ns += self.interval_ns;
        self.interval_ns *= 2;
    }

    /// End of the open interval.
    pub(crate) fn interval_end_ns(&self) -> u64 {
        self.interval_end_ns
    }

    /// Counts a completion; those before the window are not counted.
    #[inline]
    pub(crate) fn record(&mut self, io: &Completed) {
        if io.reaped_ns < self.start_ns {
            self.before_window.0 += 1;
            self.before_window.1 += u64::from(io.bytes);
            return;
        }
        let lat_ns = io.reaped_ns - io.due_ns;
        let later = usize::from(io.reaped_ns >= self.interval_end_ns);
        let tally = &mut self.open[later][io.op as usize];
        tally.ios += 1;
        tally.bytes += u64::from(io.bytes);
        tally.lat.record(lat_ns);
        self.residence_ns += u128::from(io.reaped_ns - io.created_ns.max(self.start_ns));
        self.age_before_ns += self.start_ns.saturating_sub(io.created_ns);
        self.sampled += 1;
        let totals = &mut self.totals[io.op as usize];
        if self.sampled.is_multiple_of(SPLIT_SAMPLING) {
            totals.slat.record(io.submitted_ns - io.created_ns);
            totals.clat.record(io.reaped_ns - io.submitted_ns);
        }
        if let Some(service) = &mut totals.service {
            service.record(io.reaped_ns - io.created_ns);
        }
        if let Some(target) = self.targets.get_mut(io.target as usize) {
            target.ios += 1;
            target.bytes += u64::from(io.bytes);
            target.lat.record(lat_ns);
        }
    }

    /// Closes the open interval at its end, or at `end_ns` if that is earlier.
    pub(crate) fn close_interval(&mut self, end_ns: u64) {
        let start_ns = self.interval_end_ns - self.interval_ns;
        let length_ns = end_ns.min(self.interval_end_ns).saturating_sub(start_ns);
        let mut directions = Vec::new();
        for (op, tally) in self.open[0].iter_mut().enumerate() {
            if self.active_ops[op] {
                let lat = std::mem::take(&mut tally.lat);
                self.bytes_done += tally.bytes;
                directions.push(DirectionInterval { op: OP_NAMES[op], ios: tally.ios, bytes: tally.bytes, lat });
            }
            (tally.ios, tally.bytes) = (0, 0);
        }
        self.open.swap(0, 1);
        self.intervals.push(Interval { start_ns: start_ns - self.start_ns, length_ns, directions, syncs: None });
        self.interval_end_ns += self.interval_ns;
    }
}
