//! The collector: merges what the workers send, interval by interval.

use fathom_hist::Histogram;
use fathom_plan::Op;
use fathom_record::{DirectionInterval, Interval};

use crate::tally::{ALL_OPS, OPS, SYNC, Tallies};

/// Intervals of the window so far, over all workers.
pub(crate) struct Intervals {
    interval_ns: u64,
    used_ops: [bool; OPS],
    merged: Vec<Interval>,
    /// Intervals `[worker]` has handed over.
    done_by_worker: Vec<u32>,
}

impl Intervals {
    /// None yet, of `workers` workers.
    pub(crate) fn new(interval_ns: u64, used_ops: [bool; OPS], workers: usize) -> Self {
        Intervals { interval_ns, used_ops, merged: Vec::new(), done_by_worker: vec![0; workers] }
    }

    /// Adds one interval of one worker.
    pub(crate) fn add(&mut self, worker: u32, tallies: &Tallies) {
        self.done_by_worker[worker as usize] = tallies.interval + 1;
        self.grow(tallies.interval as usize + 1);
        let interval = &mut self.merged[tallies.interval as usize];
        for direction in interval.directions.iter_mut().chain(&mut interval.syncs) {
            let from = &tallies.ops[crate::tally::op_index(direction.op)];
            direction.ios += from.ios;
            direction.bytes += from.bytes;
            if let Some(lat) = &from.lat {
                direction.lat.merge(lat);
            }
        }
    }

    fn grow(&mut self, count: usize) {
        while self.merged.len() < count {
            let start_ns = self.merged.len() as u64 * self.interval_ns;
            let used = ALL_OPS.into_iter().filter(|&op| op != Op::Sync && self.used_ops[crate::tally::op_index(op)]);
            let empty = |op| DirectionInterval { op, ios: 0, bytes: 0, lat: Histogram::new() };
            let directions = used.map(empty).collect();
            let syncs = self.used_ops[SYNC].then(|| empty(Op::Sync));
            self.merged.push(Interval { start_ns, length_ns: self.interval_ns, directions, syncs });
        }
    }

    /// The worker sends no more.
    pub(crate) fn finish_worker(&mut self, worker: u32) {
        self.done_by_worker[worker as usize] = u32::MAX;
    }

    /// Intervals that all workers have handed over.
    pub(crate) fn complete(&self) -> &[Interval] {
        let done = self.done_by_worker.iter().copied().min().unwrap_or(0) as usize;
        &self.merged[..done.min(self.merged.len())]
    }

    /// Ends the window at `runtime_ns`: cuts or adds intervals so that they cover it without gap, the last one shorter.
    pub(crate) fn close(mut self, runtime_ns: u64) -> Vec<Interval> {
        let count = runtime_ns.div_ceil(self.interval_ns).max(1) as usize;
        self.grow(count);
        // A worker that saw the end late may have begun one interval more; its few I/Os belong to the last.
        for late in self.merged.split_off(count) {
            let last = &mut self.merged[count - 1];
            let into = last.directions.iter_mut().chain(&mut last.syncs);
            for (into, from) in into.zip(late.directions.iter().chain(&late.syncs)) {
                into.ios += from.ios;
                into.bytes += from.bytes;
                into.lat.merge(&from.lat);
            }
        }
        let last = &mut self.merged[count - 1];
        last.length_ns = runtime_ns - last.start_ns;
        let completed: Vec<Op> = ALL_OPS
            .into_iter()
            .filter(|&op| self.merged.iter().flat_map(|i| &i.directions).any(|d| d.op == op && d.ios > 0))
            .collect();
        let has_synced = self.merged.iter().flat_map(|i| &i.syncs).any(|d| d.ios > 0);
        for interval in &mut self.merged {
            interval.directions.retain(|d| completed.contains(&d.op));
            interval.syncs.take_if(|_| !has_synced);
        }
        self.merged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(interval: u32, reads: u64) -> Tallies {
        let mut tallies = Tallies::new(1, [true, true, false, false]);
        tallies.interval = interval;
        let of_reads = &mut tallies.ops[0];
        of_reads.ios = reads;
        of_reads.lat.as_mut().expect("reads are used").record_n(100, reads);
        tallies
    }

    #[test]
    fn intervals_are_complete_only_when_every_worker_has_sent_them() {
        let mut intervals = Intervals::new(100, [true, false, false, false], 2);
        intervals.add(0, &tally(0, 1));
        intervals.add(0, &tally(1, 1));
        assert_eq!(intervals.complete().len(), 0);
        intervals.add(1, &tally(0, 5));
        assert_eq!(intervals.complete()[0].directions[0].ios, 6);
        intervals.finish_worker(1);
        assert_eq!(intervals.complete().len(), 2);
    }

    #[test]
    fn closing_covers_the_window_without_gap_and_drops_unused_operations() {
        let mut intervals = Intervals::new(100, [true, true, false, false], 1);
        intervals.add(0, &tally(0, 3));
        intervals.add(0, &tally(4, 2));
        let closed = intervals.close(350);
        let spans: Vec<_> = closed.iter().map(|i| (i.start_ns, i.length_ns)).collect();
        assert_eq!(spans, [(0, 100), (100, 100), (200, 100), (300, 50)]);
        assert_eq!(closed[3].directions[0].ios, 2);
        assert!(closed.iter().all(|i| i.directions.len() == 1));
    }
}
