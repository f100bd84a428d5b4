//! Intervals from what fio says of its jobs each second: sums since their begin, whose differences are the intervals.

use std::collections::BTreeMap;

use fathom_hist::Histogram;
use fathom_plan::Op;
use fathom_record::{DirectionInterval, Interval};
use serde_json::{Map, Value};

const NS_PER_MS: u64 = 1_000_000;
/// A last interval shorter than this share of the others is part of the one before it.
const SHORT: f64 = 0.5;
const DIRECTIONS: [(Op, &str); 3] = [(Op::Read, "read"), (Op::Write, "write"), (Op::Trim, "trim")];

/// Sums of one operation.
#[derive(Clone, Debug, Default, PartialEq)]
struct Sums {
    ios: u64,
    bytes: u64,
    /// Latency in ns -> I/Os.
    bins: BTreeMap<u64, u64>,
}

/// What a job, with its clones, has done since its measured time began.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reading {
    runtime_ms: u64,
    /// In the order of [`DIRECTIONS`], and the syncs.
    sums: [Sums; 4],
}

impl Reading {
    /// Of the job with this name in a document of fio's; `None` where it has done nothing yet.
    pub(crate) fn of(document: &Value, name: &str) -> Option<Reading> {
        let mut out = Reading::default();
        let jobs = document.get("jobs")?.as_array()?.iter().filter(|job| job["jobname"] == name);
        for job in jobs {
            for (sums, (_, key)) in out.sums.iter_mut().zip(DIRECTIONS) {
                let Some(object) = job.get(key).and_then(Value::as_object) else { continue };
                let number = |key: &str| object.get(key).and_then(Value::as_u64).unwrap_or(0);
                if number("total_ios") == 0 {
                    continue;
                }
                out.runtime_ms = out.runtime_ms.max(number("runtime"));
                sums.add(number("total_ios"), number("io_bytes"), latencies(object));
            }
            if let Some(object) = job.get("sync").and_then(Value::as_object) {
                let bins = latencies(object);
                out.sums[3].add(bins.values().sum(), 0, bins);
            }
        }
        (out.runtime_ms > 0).then_some(out)
    }

    /// I/Os per second, and bytes, since `before`.
    pub(crate) fn rates_since(&self, before: Option<&Reading>) -> (f64, f64) {
        let none = Reading::default();
        let before = before.unwrap_or(&none);
        let seconds = self.runtime_ms.saturating_sub(before.runtime_ms).max(1) as f64 / 1e3;
        let sum = |reading: &Reading, of: fn(&Sums) -> u64| reading.sums[..3].iter().map(of).sum::<u64>();
        let since = |of: fn(&Sums) -> u64| sum(self, of).saturating_sub(sum(before, of)) as f64 / seconds;
        (since(|s| s.ios), since(|s| s.bytes))
    }

    /// Bytes so far, and how long it has measured.
    pub(crate) fn so_far(&self) -> (u64, u64) {
        (self.sums[..3].iter().map(|s| s.bytes).sum(), self.runtime_ms * NS_PER_MS)
    }

    /// Whether each sum is at least that of `before`.
    fn follows(&self, before: &Reading) -> bool {
        let grew = |(now, before): (&Sums, &Sums)| now.ios >= before.ios && now.bytes >= before.bytes;
        self.runtime_ms >= before.runtime_ms && self.sums.iter().zip(&before.sums).all(grew)
    }
}

impl Sums {
    fn add(&mut self, ios: u64, bytes: u64, bins: BTreeMap<u64, u64>) {
        self.ios += ios;
        self.bytes += bytes;
        for (ns, count) in bins {
            *self.bins.entry(ns).or_default() += count;
        }
    }

    fn since(&self, before: &Sums, op: Op) -> DirectionInterval {
        let mut lat = Histogram::new();
        for (ns, count) in &self.bins {
            lat.record_n(*ns, count.saturating_sub(before.bins.get(ns).copied().unwrap_or(0)));
        }
        DirectionInterval { op, ios: self.ios - before.ios, bytes: self.bytes - before.bytes, lat }
    }
}

/// The bins of lat, else of clat, of a direction.
fn latencies(object: &Map<String, Value>) -> BTreeMap<u64, u64> {
    let bins = |kind: &str| object.get(kind)?.get("bins")?.as_object();
    let bins = bins("lat_ns").or_else(|| bins("clat_ns"));
    bins.into_iter().flatten().filter_map(|(ns, count)| Some((ns.parse().ok()?, count.as_u64()?))).collect()
}

/// The intervals between readings; the last reading is the sum of all. Empty with a single reading, and if a reading is not a
/// continuation of the one before (a job that restarted). `has_ramp`: fio resets its counters once, when the warm-up ends, so
/// earlier readings are not part of the measured time.
pub(crate) fn intervals(readings: &[Reading], has_ramp: bool) -> Vec<Interval> {
    let mut ends: Vec<&Reading> = readings.iter().collect();
    if has_ramp && let Some(reset) = ends.windows(2).position(|pair| !pair[1].follows(pair[0])) {
        ends.drain(..=reset);
    }
    ends.dedup_by_key(|reading| reading.runtime_ms);
    if ends.windows(2).any(|pair| !pair[1].follows(pair[0])) || ends.len() < 2 {
        return Vec::new();
    }
    let length = |i: usize| ends[i].runtime_ms - if i == 0 { 0 } else { ends[i - 1].runtime_ms };
    let last = ends.len() - 1;
    if length(last) as f64 <= SHORT * length(last - 1) as f64 {
        ends.remove(last - 1);
    }
    let zero = Reading::default();
    let has_syncs = ends.last().is_some_and(|end| end.sums[3].ios > 0);
    let did: Vec<usize> = (0..3).filter(|i| ends.last().is_some_and(|end| end.sums[*i].ios > 0)).collect();
    let starts = std::iter::once(&zero).chain(ends.iter().copied());
    starts
        .zip(&ends)
        .map(|(start, end)| Interval {
            start_ns: start.runtime_ms * NS_PER_MS,
            length_ns: (end.runtime_ms - start.runtime_ms) * NS_PER_MS,
            directions: did.iter().map(|i| end.sums[*i].since(&start.sums[*i], DIRECTIONS[*i].0)).collect(),
            syncs: has_syncs.then(|| end.sums[3].since(&start.sums[3], Op::Sync)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reading(runtime: u64, ios: u64, slow: u64) -> Reading {
        let job = json!({"jobname": "s0", "read": {"total_ios": ios, "io_bytes": ios * 4096, "runtime": runtime,
                         "lat_ns": {"bins": {"1000": ios - slow, "9000": slow}}}});
        Reading::of(&json!({"jobs": [job, {"jobname": "other"}]}), "s0").expect("it did something")
    }

    #[test]
    fn intervals_are_the_differences_of_sums_and_a_short_last_one_joins_its_neighbour() {
        let found = intervals(&[reading(1000, 100, 0), reading(2000, 250, 50), reading(2010, 252, 50)], false);
        let of = |i: &Interval| {
            let read = &i.directions[0];
            (i.start_ns, i.length_ns, read.ios, read.bytes, read.lat.count_above(5_000))
        };
        assert_eq!(
            found.iter().map(of).collect::<Vec<_>>(),
            [(0, 1_000_000_000, 100, 409_600, 0), (1_000_000_000, 1_010_000_000, 152, 622_592, 50)]
        );
    }

    #[test]
    fn a_reading_of_the_warm_up_is_left_out() {
        let all = [reading(900, 80, 0), reading(960, 90, 0), reading(100, 10, 0), reading(1100, 130, 0)];
        let measured = intervals(&all[2..], false);
        assert_eq!(measured.len(), 2);
        assert_eq!(intervals(&all, true), measured);
        let again = [&all[..], &[reading(50, 5, 0), reading(1050, 60, 0)]].concat();
        assert_eq!(intervals(&again, true), [], "a warm-up ends once");
    }

    #[test]
    fn a_job_whose_sums_fall_has_no_intervals() {
        assert_eq!(intervals(&[reading(1000, 100, 0), reading(2000, 50, 0), reading(3000, 90, 0)], false), []);
        assert_eq!(intervals(&[reading(1000, 100, 0)], false), []);
    }
}
