//! What streams that ran at once did together.

use fathom_plan::{Phase, Step};
use fathom_record::{DirectionInterval, HostDelta, StepRecord};

use crate::document::{StreamSetView, StreamView};
use crate::view::cpu_view;

/// Sums of the sets of streams of a run, gathered stream by stream in the order of the plan.
#[derive(Clone, Debug, Default)]
pub struct StreamSets(Vec<Sum>);

#[derive(Clone, Debug)]
struct Sum {
    set: u32,
    streams: Vec<StreamView>,
    progress: Vec<Progress>,
    ios: u64,
    /// Length of the longest stream.
    runtime_ns: u64,
    /// What the host did; of streams of one length.
    host: Option<HostDelta>,
    /// Whether every stream ran as long as the host was sampled.
    same_window: bool,
}

/// Progress of a stream at the ends of its intervals, in their order.
#[derive(Clone, Debug)]
struct Progress {
    runtime_ns: u64,
    points: Vec<Point>,
}

/// Sums of a stream from its start.
#[derive(Clone, Copy, Debug, Default)]
struct Point {
    at_ns: u64,
    ios: f64,
    bytes: f64,
}

impl Progress {
    fn of(record: &StepRecord) -> Progress {
        let mut points = vec![Point::default()];
        for interval in &record.intervals {
            let last = points.last().copied().unwrap_or_default();
            let sum = |of: fn(&DirectionInterval) -> u64| interval.directions.iter().map(of).sum::<u64>() as f64;
            points.push(Point {
                at_ns: interval.start_ns + interval.length_ns,
                ios: last.ios + sum(|direction| direction.ios),
                bytes: last.bytes + sum(|direction| direction.bytes),
            });
        }
        let end = Point { at_ns: record.runtime_ns, ios: record.ios() as f64, bytes: record.bytes() as f64 };
        points.retain(|point| point.at_ns < end.at_ns);
        points.push(end);
        Progress { runtime_ns: record.runtime_ns, points }
    }

    /// I/Os and bytes until `at_ns`; within an interval as if they came evenly.
    fn until(&self, at_ns: u64) -> (f64, f64) {
        let after = self.points.partition_point(|point| point.at_ns < at_ns).min(self.points.len() - 1);
        let (a, b) = (self.points[after.saturating_sub(1)], self.points[after]);
        let share = at_ns.saturating_sub(a.at_ns) as f64 / b.at_ns.saturating_sub(a.at_ns).max(1) as f64;
        let between = |a: f64, b: f64| a + (b - a) * share.min(1.0);
        (between(a.ios, b.ios), between(a.bytes, b.bytes))
    }
}

/// IOPS and bytes per second of streams together, while all of them ran.
fn together(streams: &[Progress]) -> (f64, f64) {
    let common_ns = streams.iter().map(|stream| stream.runtime_ns).min().unwrap_or(0);
    let all = streams.iter().map(|stream| stream.until(common_ns));
    let (ios, bytes) = all.fold((0.0, 0.0), |sum, (ios, bytes)| (sum.0 + ios, sum.1 + bytes));
    let seconds = common_ns as f64 / 1e9;
    if seconds > 0.0 { (ios / seconds, bytes / seconds) } else { (0.0, 0.0) }
}

impl StreamSets {
    /// Takes note of a measured stream; of steps that stand alone nothing.
    pub fn see(&mut self, step: &Step, record: &StepRecord) {
        let Some(stream) = step.role.stream.as_ref().filter(|_| step.phase == Phase::Measure) else { return };
        if self.0.last().is_none_or(|last| last.set != stream.set) {
            self.0.push(Sum {
                set: stream.set,
                streams: Vec::new(),
                progress: Vec::new(),
                ios: 0,
                runtime_ns: 0,
                host: None,
                same_window: true,
            });
        }
        let Some(sum) = self.0.last_mut() else { return };
        let seconds = record.runtime_ns as f64 / 1e9;
        let per_s = |n: u64| if seconds > 0.0 { n as f64 / seconds } else { 0.0 };
        let (iops, bytes_per_s) = (per_s(record.ios()), per_s(record.bytes()));
        sum.streams.push(StreamView { step: step.index, name: stream.name.clone(), iops, bytes_per_s });
        sum.progress.push(Progress::of(record));
        sum.ios += record.ios();
        sum.runtime_ns = sum.runtime_ns.max(record.runtime_ns);
        sum.same_window &= record.host.is_some();
        if sum.host.is_none() {
            sum.host.clone_from(&record.host);
        }
    }

    /// The sums. Rates are those while all streams ran; CPU time per I/O is that of all I/Os, and unknown where the streams did
    /// not run equally long.
    #[must_use]
    pub fn finish(self) -> Vec<StreamSetView> {
        let view = |sum: Sum| {
            let (iops, bytes_per_s) = together(&sum.progress);
            let host = sum.host.filter(|_| sum.same_window);
            StreamSetView {
                set: sum.set,
                iops,
                bytes_per_s,
                runtime_s: sum.runtime_ns as f64 / 1e9,
                cpu: host.and_then(|host| cpu_view(&host, sum.ios, iops)),
                streams: sum.streams,
            }
        };
        self.0.into_iter().map(view).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream of `seconds` that gives these I/Os of 100 bytes in its seconds.
    fn stream(per_second: &[u64]) -> Progress {
        let mut points = vec![Point::default()];
        for (second, ios) in (1..).zip(per_second) {
            let last = *points.last().expect("the start");
            let ios = *ios as f64;
            points.push(Point { at_ns: second * 1_000_000_000, ios: last.ios + ios, bytes: last.bytes + 100.0 * ios });
        }
        Progress { runtime_ns: points.len() as u64 * 1_000_000_000 - 1_000_000_000, points }
    }

    #[test]
    fn together_is_what_streams_gave_while_all_of_them_ran() {
        // The second one speeds up when the first one has ended: 800 and 200, not 800 and 500.
        let streams = [stream(&[800, 800]), stream(&[200, 200, 800, 800])];
        assert_eq!(together(&streams), (1_000.0, 100_000.0));
        assert_eq!(together(&streams[1..]), (500.0, 50_000.0));
        // An end within an interval.
        let cut = Progress {
            runtime_ns: 500_000_000,
            points: vec![Point::default(), Point { at_ns: 500_000_000, ios: 50.0, bytes: 1.0 }],
        };
        assert_eq!(together(&[cut, stream(&[200, 900])]).0, 300.0);
        assert_eq!(together(&[]), (0.0, 0.0));
    }
}
