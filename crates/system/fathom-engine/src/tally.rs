//! What a worker counts: per interval, and over the whole window.

use fathom_hist::Histogram;
use fathom_plan::{Op, Workload};
use fathom_record::IoFailure;

/// Number of operations, for arrays indexed by [`op_index`].
pub(crate) const OPS: usize = 4;
/// Operations in the order of their index.
pub(crate) const ALL_OPS: [Op; OPS] = [Op::Read, Op::Write, Op::Trim, Op::Sync];

/// A thread with more targets than these counts their I/Os and bytes alone: histograms of all would be sent, merged and
/// cleared in each interval.
const PARTS_WITH_LATENCIES: usize = 64;

/// Position of syncs, which are no I/Os of the totals.
pub(crate) const SYNC: usize = 3;

/// Position of an operation in `[op]` arrays.
#[inline(always)]
pub(crate) fn op_index(op: Op) -> usize {
    match op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Trim => 2,
        Op::Sync => SYNC,
    }
}

/// Which operations the load can issue.
pub(crate) fn ops_of(workload: &Workload) -> [bool; OPS] {
    let mix = workload.mix;
    let syncs = workload.durability.sync.is_some() || workload.order.replay.as_ref().is_some_and(|r| r.syncs > 0);
    [mix.read_pct > 0, mix.write_pct > 0, mix.trim_pct > 0, syncs]
}

/// One operation within one interval of one worker.
pub(crate) struct OpTally {
    pub(crate) ios: u64,
    pub(crate) bytes: u64,
    /// `None` where the mix never draws the operation: a histogram is 37 KB.
    pub(crate) lat: Option<Histogram>,
}

/// One interval of one worker on one of several targets: all operations but syncs.
pub(crate) struct PartTally {
    pub(crate) ios: u64,
    pub(crate) bytes: u64,
    /// Of all of these I/Os, or of those of a sample of batches; `None` where a thread has many targets.
    pub(crate) lat: Option<Histogram>,
}

/// One interval of one worker. Made once, then sent to the collector and back.
pub(crate) struct Tallies {
    /// Number of the interval within the window.
    pub(crate) interval: u32,
    /// `[op]`: on all of its targets.
    pub(crate) ops: [OpTally; OPS],
    /// `[part]`: on each of them; empty where there is one.
    pub(crate) parts: Box<[PartTally]>,
}

impl Tallies {
    /// Empty, of a worker with so many targets, with histograms for the operations in `used`.
    pub(crate) fn new(parts: usize, used: [bool; OPS]) -> Self {
        let op = |used: bool| OpTally { ios: 0, bytes: 0, lat: used.then(Histogram::new) };
        let has_lat = parts <= PARTS_WITH_LATENCIES;
        let part = |_| PartTally { ios: 0, bytes: 0, lat: has_lat.then(Histogram::new) };
        let parts = if parts > 1 { (0..parts).map(part).collect() } else { Box::default() };
        Tallies { interval: 0, ops: used.map(op), parts }
    }

    /// Forgets all, keeps the memory.
    pub(crate) fn clear(&mut self) {
        for op in &mut self.ops {
            (op.ios, op.bytes) = (0, 0);
            if let Some(lat) = &mut op.lat {
                lat.clear();
            }
        }
        for part in &mut self.parts {
            (part.ios, part.bytes) = (0, 0);
            if let Some(lat) = &mut part.lat {
                lat.clear();
            }
        }
    }

    /// Completed I/Os; syncs are none.
    pub(crate) fn ios(&self) -> u64 {
        self.ops[..SYNC].iter().map(|op| op.ios).sum()
    }

    /// Whether nothing completed.
    pub(crate) fn is_empty(&self) -> bool {
        self.ops.iter().all(|op| op.ios == 0)
    }
}

/// One operation over the whole window of one worker, beside its intervals.
#[derive(Default)]
pub(crate) struct OpTotals {
    pub(crate) short_ios: u64,
    pub(crate) slat: Option<Histogram>,
    pub(crate) clat: Option<Histogram>,
    pub(crate) service: Option<Histogram>,
}

/// Failed I/Os by operation and errno, and of each target.
pub(crate) struct Failures {
    kinds: Vec<IoFailure>,
    by_part: Vec<u64>,
    /// Failures since the last success.
    pub(crate) in_a_row: u64,
}

impl Failures {
    /// None, of a worker with so many targets.
    pub(crate) fn new(parts: usize) -> Self {
        Failures { kinds: Vec::new(), by_part: vec![0; parts], in_a_row: 0 }
    }

    /// Counts one.
    pub(crate) fn add(&mut self, op: Op, errno: i32, offset_bytes: u64, part: u16) {
        self.in_a_row += 1;
        self.by_part[usize::from(part)] += 1;
        if let Some(kind) = self.kinds.iter_mut().find(|k| k.op == op && k.errno == errno) {
            kind.count += 1;
            return;
        }
        self.kinds.push(IoFailure { op, errno, drive_status: None, count: 1, first_offset_bytes: offset_bytes });
    }

    /// Forgets the counted ones: the ramp is over.
    pub(crate) fn clear(&mut self) {
        self.kinds.clear();
        self.by_part.fill(0);
    }

    /// What was counted.
    pub(crate) fn kinds(&self) -> &[IoFailure] {
        &self.kinds
    }

    /// `[part]`: how many of what was counted.
    pub(crate) fn by_part(&self) -> &[u64] {
        &self.by_part
    }
}

/// Adds `from` to `into`, summing equal kinds.
pub(crate) fn merge_failures(into: &mut Vec<IoFailure>, from: &[IoFailure]) {
    for failure in from {
        match into.iter_mut().find(|f| f.op == failure.op && f.errno == failure.errno) {
            Some(known) => known.count += failure.count,
            None => into.push(failure.clone()),
        }
    }
}
