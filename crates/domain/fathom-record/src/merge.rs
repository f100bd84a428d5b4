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
pub use host::CPU_ROWS_MAX;
use host::Hosts;
use parts::Parts;

/// What is known of a rank's part beside its record.
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

/// A record that is not of the same step at the same time as the others: it has more intervals than the step can have, or
/// its window begins so many intervals away that it cannot overlap with theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elsewhere;

/// Merges records one by one, as they come: no more than one of them need be in memory beside the whole.
#[derive(Debug)]
pub struct RankMerger {
    /// Length of the intervals of all; 0 until a record has any.
    interval_ns: u64,
    intervals_max: usize,
    /// Start of the window of the first record by rank 0's clock: intervals are numbered from there.
    origin_ns: i128,
    /// Number of the first of `intervals`, below 0 where a rank began earlier.
    first: i64,
    intervals: Vec<Interval>,
    directions: Vec<Direction>,
    syncs: Option<Direction>,
    ranks: Vec<Part>,
    hosts: Hosts,
    parts: Parts,
    started_unix_ns: u64,
}

/// A rank whose record was added.
#[derive(Debug)]
struct Part {
    head: RankHead,
    /// Number of its first interval.
    first: i64,
    record: RankRecord,
}

impl RankMerger {
    /// `intervals_max`: how many intervals the window of a record has at most.
    #[must_use]
    pub fn new(intervals_max: usize) -> RankMerger {
        RankMerger {
            interval_ns: 0,
            intervals_max,
            origin_ns: 0,
            first: 0,
            intervals: Vec::new(),
            directions: Vec::new(),
            syncs: None,
            ranks: Vec::new(),
            hosts: Hosts::default(),
            parts: Parts::default(),
            started_unix_ns: 0,
        }
    }

    /// Adds what a rank has: its record and, apart from it, the slices of its window. Threads, CPUs and devices follow each
    /// other in the order in which records are added.
    ///
    /// # Errors
    /// [`Elsewhere`]; then nothing of it was added.
    pub fn add(&mut self, head: RankHead, mut record: StepRecord, slices: &[Interval]) -> Result<(), Elsewhere> {
        if self.ranks.is_empty() {
            self.origin_ns = head.start_ns();
        }
        if self.interval_ns == 0 {
            // One that ended early may be shorter.
            self.interval_ns = slices.iter().map(|slice| slice.length_ns).max().unwrap_or(0);
        }
        let first = if slices.is_empty() { self.first } else { self.place(head.start_ns(), slices.len())? };
        if self.ranks.iter().all(|part| head.start_ns() < part.head.start_ns()) {
            self.started_unix_ns = record.started_unix_ns;
        }
        self.reach(first, slices.len());
        let whole = self.intervals.iter_mut().skip((first - self.first) as usize);
        whole.zip(slices).for_each(|(whole, slice)| add_interval(whole, slice));
        let of_slices = |of: fn(&DirectionInterval) -> u64| -> Vec<u64> {
            slices.iter().map(|slice| total(slice.directions.iter().map(of))).collect()
        };
        let (ios, host) = (record.ios(), record.host.take());
        let cpu = host.as_ref().map(|h| h.cpus.iter().fold(Default::default(), |sum, (_, t)| t.plus(&sum)));
        let rank = RankRecord {
            rank: head.rank,
            host: head.host.clone(),
            clock: head.clock,
            start_ns: 0,
            runtime_ns: head.runtime_ns,
            ios,
            bytes: record.bytes(),
            errors: record.errors(),
            counted_ios: 0,
            counted_bytes: 0,
            lat: record.lat_merged().as_ref().and_then(quoted),
            interval_ios: of_slices(|d| d.ios),
            interval_bytes: of_slices(|d| d.bytes),
            cpu,
            first_cpu: host.and_then(|host| self.hosts.add(&head.host, &head.host_id, host)),
        };
        self.ranks.push(Part { head, first, record: rank });
        for direction in std::mem::take(&mut record.directions) {
            match self.directions.iter_mut().find(|d| d.op == direction.op) {
                Some(whole) => whole.add(&direction),
                None => self.directions.push(direction),
            }
        }
        match (&mut self.syncs, record.syncs.take()) {
            (Some(whole), Some(syncs)) => whole.add(&syncs),
            (None, Some(syncs)) => self.syncs = Some(syncs),
            (_, None) => {}
        }
        self.parts.add(record, ios);
        Ok(())
    }

    /// Number of the interval in which a window of `count` intervals begins. Windows begin at an agreed time: what is less
    /// than half of an interval apart is the same one.
    fn place(&self, start_ns: i128, count: usize) -> Result<i64, Elsewhere> {
        let interval_ns = i128::from(self.interval_ns.max(1));
        let number = (start_ns - self.origin_ns + interval_ns / 2).div_euclid(interval_ns);
        let is_near = |number: &i64| number.unsigned_abs() <= self.intervals_max as u64;
        i64::try_from(number).ok().filter(is_near).filter(|_| count <= self.intervals_max).ok_or(Elsewhere)
    }

    /// Has `count` intervals from number `first` on.
    fn reach(&mut self, first: i64, count: usize) {
        let missing = usize::try_from(self.first - first).unwrap_or(0);
        let nothing = || Interval { start_ns: 0, length_ns: 0, directions: Vec::new(), syncs: None };
        self.intervals.splice(..0, std::iter::repeat_with(nothing).take(missing));
        self.first -= missing as i64;
        let end = (first - self.first) as usize + count;
        self.intervals.resize_with(self.intervals.len().max(end), nothing);
    }

    /// The record of all that were added; `None` without any. `lost`: ranks that had no record.
    #[must_use]
    pub fn finish(mut self, lost: Vec<LostRank>) -> Option<StepRecord> {
        let starts = || self.ranks.iter().map(|part| part.head.start_ns());
        let ends = || self.ranks.iter().map(|part| part.head.end_ns());
        let (first_start, last_start) = (starts().min()?, starts().max()?);
        let (first_end, last_end) = (ends().min()?, ends().max()?);
        self.align();
        let interval_ns = i128::from(self.interval_ns.max(1));
        let begin_ns = self.origin_ns + i128::from(self.first) * interval_ns;
        let from = ((last_start - begin_ns + interval_ns / 2) / interval_ns).max(0) as usize;
        let until = ((first_end - begin_ns) / interval_ns).max(0) as usize;
        let is_cut = last_end - first_end > interval_ns && until > from && !self.intervals.is_empty();
        let mut runtime_ns = to_u64(last_end - first_start);
        if is_cut {
            runtime_ns = ((until - from) as u64).saturating_mul(self.interval_ns);
            self.cut(from, until);
        }
        let bound_ns = self.ranks.iter().map(|part| part.head.clock.bound_ns).max().unwrap_or(0);
        let counted = |all: &[u64]| match is_cut {
            true => total(all.iter().copied().take(until).skip(from)),
            false => total(all.iter().copied()),
        };
        let first = self.first;
        let finished = |Part { head, first: own, mut record }: Part| {
            record.start_ns = to_u64(head.start_ns() - first_start);
            if !record.interval_ios.is_empty() {
                let idle = || std::iter::repeat_n(0, (own - first) as usize);
                record.interval_ios.splice(..0, idle());
                record.interval_bytes.splice(..0, idle());
            }
            (record.counted_ios, record.counted_bytes) = match record.interval_ios.is_empty() {
                // Without intervals, as of a purge, there are the totals alone.
                true => (record.ios, record.bytes),
                false => (counted(&record.interval_ios), counted(&record.interval_bytes)),
            };
            record
        };
        let mut ranks: Vec<RankRecord> = self.ranks.into_iter().map(finished).collect();
        ranks.sort_by_key(|rank| rank.rank);
        let ranks = RanksRecord {
            ranks,
            lost,
            machines: Vec::new(),
            start_skew_ns: to_u64(last_start - first_start),
            // The first start may be that much earlier, and the last that much later.
            start_skew_bound_ns: bound_ns.saturating_mul(2),
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
        for (at, interval) in self.intervals.iter_mut().enumerate() {
            interval.start_ns = (at as u64).saturating_mul(self.interval_ns);
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
            interval.start_ns = (at as u64).saturating_mul(self.interval_ns);
        }
        for direction in &mut self.directions {
            sum_up(direction, self.intervals.iter().flat_map(|i| &i.directions));
        }
        if let Some(syncs) = &mut self.syncs {
            sum_up(syncs, self.intervals.iter().flat_map(|i| &i.syncs));
        }
        self.directions.retain(|d| d.ios > 0);
        let kept: Vec<Op> = self.directions.iter().map(|d| d.op).collect();
        self.intervals.iter_mut().for_each(|i| i.directions.retain(|d| kept.contains(&d.op)));
    }
}

/// The totals of `direction` from its slices; what slices do not hold is unknown.
fn sum_up<'a>(direction: &mut Direction, slices: impl Iterator<Item = &'a DirectionInterval>) {
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

/// Sum of what ranks say, which may be anything: it ends at the largest number there is.
fn total(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}

fn add_interval(whole: &mut Interval, slice: &Interval) {
    whole.length_ns = whole.length_ns.max(slice.length_ns);
    for direction in &slice.directions {
        match whole.directions.iter_mut().find(|d| d.op == direction.op) {
            Some(sum) => add_slice(sum, direction),
            None => whole.directions.push(direction.clone()),
        }
    }
    match (&mut whole.syncs, &slice.syncs) {
        (Some(sum), Some(syncs)) => add_slice(sum, syncs),
        (None, Some(syncs)) => whole.syncs = Some(syncs.clone()),
        (_, None) => {}
    }
}

fn add_slice(sum: &mut DirectionInterval, slice: &DirectionInterval) {
    sum.ios = sum.ios.saturating_add(slice.ios);
    sum.bytes = sum.bytes.saturating_add(slice.bytes);
    sum.lat.merge(&slice.lat);
}

impl Direction {
    /// Adds what other threads did of the same operation at the same time.
    pub fn add(&mut self, part: &Direction) {
        self.ios = self.ios.saturating_add(part.ios);
        self.bytes = self.bytes.saturating_add(part.bytes);
        self.short_ios = self.short_ios.saturating_add(part.short_ios);
        add_latency(&mut self.lat, &part.lat);
        add_if_both(&mut self.slat, part.slat.as_ref());
        add_if_both(&mut self.clat, part.clat.as_ref());
        add_if_both(&mut self.service, part.service.as_ref());
    }
}

fn add_if_both(whole: &mut Option<Latency>, part: Option<&Latency>) {
    match (whole.as_mut(), part) {
        (Some(whole), Some(part)) => add_latency(whole, part),
        _ => *whole = None,
    }
}

fn add_latency(whole: &mut Latency, part: &Latency) {
    match (whole, part) {
        (Latency::Samples(whole), Latency::Samples(part)) => whole.merge(part),
        (whole, part) => *whole = Latency::Quoted(parts::pooled(&quoted_of(whole), &quoted_of(part))),
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
