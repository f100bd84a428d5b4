//! One record of the records that ranks made of the same step at the same time. Histograms are added bin by bin, so that
//! quantiles are those of one process that had recorded all.

mod host;
mod parts;
#[cfg(test)]
mod tests;

use fathom_hist::Histogram;
use fathom_plan::Op;

use crate::ranks::{LostRank, RankClock, RankRecord, RanksRecord};
use crate::record::{Direction, DirectionInterval, Interval, Latency, QuotedLatency, StepRecord};
use host::Hosts;
use parts::Parts;

/// What is known of a rank's part before its record is read.
#[derive(Clone, Debug, PartialEq)]
pub struct RankHead {
    /// Its number.
    pub rank: u32,
    /// Name of its host.
    pub host: String,
    /// What tells its host from others of the same name.
    pub host_id: String,
    /// Its clock beside rank 0's.
    pub clock: RankClock,
    /// Start of its window by its own clock.
    pub window_start_ns: u64,
    /// Length of its window.
    pub runtime_ns: u64,
}

impl RankHead {
    /// Start of its window by rank 0's clock.
    fn start_ns(&self) -> i128 {
        i128::from(self.window_start_ns) - i128::from(self.clock.offset_ns)
    }

    fn end_ns(&self) -> i128 {
        self.start_ns() + i128::from(self.runtime_ns)
    }
}

/// Merges records one by one, so that no more than one of them need be in memory beside the whole.
#[derive(Debug)]
pub struct RankMerger {
    heads: Vec<RankHead>,
    /// By rank 0's clock.
    first_ns: i128,
    interval_ns: u64,
    intervals: Vec<Interval>,
    directions: Vec<Direction>,
    syncs: Option<Direction>,
    ranks: Vec<RankRecord>,
    hosts: Hosts,
    parts: Parts,
    started_unix_ns: u64,
}

impl RankMerger {
    /// For the ranks of `heads`; `interval_ns`: length of the intervals of their records.
    #[must_use]
    pub fn new(heads: Vec<RankHead>, interval_ns: u64) -> RankMerger {
        RankMerger {
            first_ns: heads.iter().map(RankHead::start_ns).min().unwrap_or(0),
            heads,
            interval_ns: interval_ns.max(1),
            intervals: Vec::new(),
            directions: Vec::new(),
            syncs: None,
            ranks: Vec::new(),
            hosts: Hosts::default(),
            parts: Parts::default(),
            started_unix_ns: 0,
        }
    }

    /// Adds the record of one of the ranks; that of a rank without a head is left out.
    pub fn add(&mut self, rank: u32, record: StepRecord) {
        let Some(head) = self.heads.iter().find(|head| head.rank == rank).cloned() else { return };
        let start_ns = to_u64(head.start_ns() - self.first_ns);
        if start_ns == 0 || self.started_unix_ns == 0 {
            self.started_unix_ns = record.started_unix_ns;
        }
        // Windows begin at an agreed time: what is less than half of an interval apart is the same interval.
        let shift = ((start_ns + self.interval_ns / 2) / self.interval_ns) as usize;
        let mut own = vec![(0, 0); shift];
        for (at, interval) in record.intervals.iter().enumerate() {
            self.add_interval(at + shift, interval);
            let sum = |of: fn(&DirectionInterval) -> u64| interval.directions.iter().map(of).sum::<u64>();
            own.push((sum(|d| d.ios), sum(|d| d.bytes)));
        }
        let first_cpu = self.hosts.add(&head.host, &head.host_id, record.host.as_ref());
        self.ranks.push(RankRecord {
            rank,
            host: head.host.clone(),
            clock: head.clock,
            start_ns,
            runtime_ns: head.runtime_ns,
            ios: record.ios(),
            bytes: record.bytes(),
            errors: record.errors(),
            counted_ios: 0,
            counted_bytes: 0,
            lat: record.lat_merged().as_ref().and_then(quoted),
            interval_ios: own.iter().map(|(ios, _)| *ios).collect(),
            interval_bytes: own.iter().map(|(_, bytes)| *bytes).collect(),
            cpu: record.host.as_ref().map(|h| h.cpus.iter().fold(Default::default(), |sum, (_, t)| t.plus(&sum))),
            first_cpu,
        });
        for direction in &record.directions {
            match self.directions.iter_mut().find(|d| d.op == direction.op) {
                Some(whole) => add_direction(whole, direction),
                None => self.directions.push(direction.clone()),
            }
        }
        match (&mut self.syncs, &record.syncs) {
            (Some(whole), Some(syncs)) => add_direction(whole, syncs),
            (None, Some(syncs)) => self.syncs = Some(syncs.clone()),
            (_, None) => {}
        }
        self.parts.add(record);
    }

    fn add_interval(&mut self, at: usize, interval: &Interval) {
        while self.intervals.len() <= at {
            let start_ns = self.intervals.len() as u64 * self.interval_ns;
            self.intervals.push(Interval { start_ns, length_ns: 0, directions: Vec::new(), syncs: None });
        }
        let whole = &mut self.intervals[at];
        whole.length_ns = whole.length_ns.max(interval.length_ns);
        for direction in &interval.directions {
            match whole.directions.iter_mut().find(|d| d.op == direction.op) {
                Some(sum) => add_slice(sum, direction),
                None => whole.directions.push(direction.clone()),
            }
        }
        match (&mut whole.syncs, &interval.syncs) {
            (Some(sum), Some(syncs)) => add_slice(sum, syncs),
            (None, Some(syncs)) => whole.syncs = Some(syncs.clone()),
            (_, None) => {}
        }
    }

    /// The record of all that were added; `None` without any. `lost`: ranks that had no record.
    #[must_use]
    pub fn finish(mut self, lost: Vec<LostRank>) -> Option<StepRecord> {
        let present: Vec<RankHead> = {
            let has = |head: &&RankHead| self.ranks.iter().any(|rank| rank.rank == head.rank);
            self.heads.iter().filter(has).cloned().collect()
        };
        let (first_start, last_start) =
            (present.iter().map(RankHead::start_ns).min()?, present.iter().map(RankHead::start_ns).max()?);
        let (first_end, last_end) =
            (present.iter().map(RankHead::end_ns).min()?, present.iter().map(RankHead::end_ns).max()?);
        self.align();
        let interval_ns = i128::from(self.interval_ns);
        let from = ((last_start - self.first_ns + interval_ns / 2) / interval_ns).max(0) as usize;
        let until = ((first_end - self.first_ns) / interval_ns).max(0) as usize;
        let is_cut = last_end - first_end > interval_ns && until > from;
        let mut runtime_ns = to_u64(last_end - first_start);
        if is_cut {
            runtime_ns = (until - from) as u64 * self.interval_ns;
            self.cut(from, until);
        }
        let counted = |all: &[u64]| match is_cut {
            true => all.iter().take(until).skip(from).sum(),
            false => all.iter().sum::<u64>(),
        };
        for rank in &mut self.ranks {
            (rank.counted_ios, rank.counted_bytes) = match rank.interval_ios.is_empty() {
                // Without intervals, as of a purge, there are the totals alone.
                true => (rank.ios, rank.bytes),
                false => (counted(&rank.interval_ios), counted(&rank.interval_bytes)),
            };
        }
        self.ranks.sort_by_key(|rank| rank.rank);
        let bounds: Vec<u64> = present.iter().map(|head| head.clock.bound_ns).collect();
        let ranks = RanksRecord {
            ranks: self.ranks,
            lost,
            machines: Vec::new(),
            start_skew_ns: to_u64(last_start - first_start),
            // The first start may be that much earlier, and the last that much later.
            start_skew_bound_ns: 2 * bounds.iter().copied().max().unwrap_or(0),
            together_ns: to_u64(first_end - last_start),
            is_cut,
        };
        let record = StepRecord {
            started_unix_ns: self.started_unix_ns,
            runtime_ns,
            directions: self.directions,
            syncs: self.syncs,
            intervals: self.intervals,
            host: self.hosts.finish(),
            ranks: Some(ranks),
            ..StepRecord::default()
        };
        Some(self.parts.finish(record, is_cut))
    }

    /// Gives every interval the same operations in the same order, as in a record of one process.
    fn align(&mut self) {
        self.directions.sort_by_key(|d| d.op);
        let ops: Vec<Op> = self.directions.iter().map(|d| d.op).collect();
        let has_syncs = self.syncs.is_some();
        for interval in &mut self.intervals {
            let mut found = std::mem::take(&mut interval.directions);
            let mut take = |op: Op| match found.iter().position(|d| d.op == op) {
                Some(at) => found.swap_remove(at),
                None => nothing(op),
            };
            interval.directions = ops.iter().map(|op| take(*op)).collect();
            if has_syncs && interval.syncs.is_none() {
                interval.syncs = Some(nothing(Op::Sync));
            }
        }
    }

    /// Leaves the intervals in which all ranks ran, and the totals of these alone.
    fn cut(&mut self, from: usize, until: usize) {
        self.intervals.truncate(until);
        self.intervals.drain(..from);
        for (at, interval) in self.intervals.iter_mut().enumerate() {
            interval.start_ns = at as u64 * self.interval_ns;
        }
        for direction in &mut self.directions {
            total(direction, self.intervals.iter().flat_map(|i| &i.directions));
        }
        if let Some(syncs) = &mut self.syncs {
            total(syncs, self.intervals.iter().flat_map(|i| &i.syncs));
        }
        self.directions.retain(|d| d.ios > 0);
        let kept: Vec<Op> = self.directions.iter().map(|d| d.op).collect();
        self.intervals.iter_mut().for_each(|i| i.directions.retain(|d| kept.contains(&d.op)));
    }
}

/// The totals of `direction` from its slices; what slices do not hold is unknown.
fn total<'a>(direction: &mut Direction, slices: impl Iterator<Item = &'a DirectionInterval>) {
    let mut lat = Histogram::new();
    (direction.ios, direction.bytes) = (0, 0);
    for slice in slices.filter(|slice| slice.op == direction.op) {
        direction.ios += slice.ios;
        direction.bytes += slice.bytes;
        lat.merge(&slice.lat);
    }
    direction.lat = Latency::Samples(lat);
    (direction.slat, direction.clat, direction.service) = (None, None, None);
}

fn nothing(op: Op) -> DirectionInterval {
    DirectionInterval { op, ios: 0, bytes: 0, lat: Histogram::new() }
}

fn to_u64(ns: i128) -> u64 {
    u64::try_from(ns).unwrap_or(0)
}

fn add_slice(sum: &mut DirectionInterval, slice: &DirectionInterval) {
    sum.ios += slice.ios;
    sum.bytes += slice.bytes;
    sum.lat.merge(&slice.lat);
}

fn add_direction(whole: &mut Direction, part: &Direction) {
    whole.ios += part.ios;
    whole.bytes += part.bytes;
    whole.short_ios += part.short_ios;
    whole.lat = together(&whole.lat, &part.lat);
    // Of some ranks alone it would be said of all.
    let both = |a: &Option<Latency>, b: &Option<Latency>| Some(together(a.as_ref()?, b.as_ref()?));
    whole.slat = both(&whole.slat, &part.slat);
    whole.clat = both(&whole.clat, &part.clat);
    whole.service = both(&whole.service, &part.service);
}

fn together(a: &Latency, b: &Latency) -> Latency {
    match (a, b) {
        (Latency::Samples(a), Latency::Samples(b)) => {
            let mut sum = a.clone();
            sum.merge(b);
            Latency::Samples(sum)
        }
        _ => Latency::Quoted(parts::pooled(&quoted_of(a), &quoted_of(b))),
    }
}

fn quoted_of(latency: &Latency) -> QuotedLatency {
    match latency {
        Latency::Samples(histogram) => quoted(histogram).unwrap_or_default(),
        Latency::Quoted(quoted) => quoted.clone(),
    }
}

/// Figures of a rank's latencies that enough samples stand behind: ten beyond each quantile.
fn quoted(histogram: &Histogram) -> Option<QuotedLatency> {
    let count = histogram.count();
    let behind = |q: f64| (count as f64 * (1.0 - q) >= 10.0).then(|| Some((q, histogram.quantile(q)?))).flatten();
    Some(QuotedLatency {
        count,
        mean_ns: histogram.mean_ns()?,
        stddev_ns: histogram.stddev_ns()?,
        min_ns: histogram.min_ns()?,
        max_ns: histogram.max_ns()?,
        quantiles: [0.5, 0.99, 0.999].into_iter().filter_map(behind).collect(),
    })
}
