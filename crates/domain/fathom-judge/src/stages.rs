//! What a load that changes with time did in each of its stages, and how long it took to recover from the heavier ones.

use fathom_hist::Histogram;
use fathom_plan::{Stage, Step};
use fathom_record::{Interval, Latency, StepRecord};

use crate::document::StageView;
use crate::view::latency_of;

/// A stage that completes less than this share of what was due in it did not keep its rate.
const KEPT_SHARE: f64 = 0.95;
/// So many intervals behind each other as quick as without a burst end the recovery.
const QUIET_INTERVALS: usize = 3;
/// Fewer intervals tell no usual level.
const REFERENCE_MIN: usize = 5;

/// The stages of a step; none where its rate stays, or its record has no intervals.
pub(crate) fn stages(step: &Step, record: &StepRecord) -> Vec<StageView> {
    let Some(rate) = step.load.rate.filter(|_| !record.intervals.is_empty()) else { return Vec::new() };
    let mut out: Vec<StageView> = Vec::new();
    let (mut start_ns, mut due, mut done) = (0, 0.0, 0);
    for stage in &step.role.stages {
        let end_ns = start_ns + stage.length_ns;
        let within = within(&record.intervals, start_ns, end_ns);
        // What was interrupted has no later stages.
        let Some(last) = within.last() else { break };
        let seconds = (last.start_ns + last.length_ns - start_ns) as f64 / 1e9;
        let share = seconds / (stage.length_ns as f64 / 1e9);
        let ios: u64 = within.iter().map(ios_of).sum();
        let left_before = (due - done as f64).max(0.0);
        due += stage.ios() * rate.iops * share.min(1.0);
        done += ios;
        let backlog = (due - done as f64).max(0.0);
        let is_kept = backlog <= (1.0 - KEPT_SHARE) * (stage.ios() * rate.iops + left_before).max(1.0);
        let lat = merged(within);
        let [asked_from_iops, asked_to_iops] = stage.rates(rate.iops);
        let view = StageView {
            start_s: start_ns as f64 / 1e9,
            length_s: stage.length_ns as f64 / 1e9,
            asked_from_iops,
            asked_to_iops,
            ios,
            iops: ios as f64 / seconds,
            is_kept,
            backlog_ios: backlog.round() as u64,
            lat_ns: lat
                .filter(|_| is_kept)
                .and_then(|h| latency_of(&Latency::Samples(h), within, ios as f64 / seconds)),
            recovery_s: None,
            is_recovered: true,
        };
        out.push(view);
        start_ns = end_ns;
    }
    for (at, view) in out.iter_mut().enumerate().skip(1) {
        if let Some((seconds, is_recovered)) = recovery(&step.role.stages, at, &record.intervals) {
            (view.recovery_s, view.is_recovered) = (Some(seconds), is_recovered);
        }
    }
    out
}

fn ios_of(interval: &Interval) -> u64 {
    interval.directions.iter().map(|d| d.ios).sum()
}

fn within(intervals: &[Interval], start_ns: u64, end_ns: u64) -> &[Interval] {
    let from = intervals.partition_point(|i| i.start_ns < start_ns);
    let to = intervals.partition_point(|i| i.start_ns < end_ns);
    &intervals[from..to]
}

fn merged(intervals: &[Interval]) -> Option<Histogram> {
    let mut all = Histogram::new();
    intervals.iter().flat_map(|i| &i.directions).for_each(|d| all.merge(&d.lat));
    (!all.is_empty()).then_some(all)
}

/// How long the stage at `at` is slower than it is usual at its rate, in seconds, and whether it ever ends; `None` where the
/// stage before asked for no more, or what is usual is not known: the stage before the burst that asked for the same or, where
/// there is none, the second half of this one.
fn recovery(stages: &[Stage], at: usize, intervals: &[Interval]) -> Option<(f64, bool)> {
    let start_ns = |index: usize| stages[..index].iter().map(|s| s.length_ns).sum::<u64>();
    let own = within(intervals, start_ns(at), start_ns(at + 1));
    if stages[at - 1].to_ppm <= stages[at].from_ppm {
        return None;
    }
    let same =
        stages[..at - 1].iter().rposition(|s| (s.from_ppm, s.to_ppm) == (stages[at].from_ppm, stages[at].to_ppm));
    let usual = match same {
        Some(before) => second_half(within(intervals, start_ns(before), start_ns(before + 1))),
        None => second_half(own),
    };
    let means: Vec<f64> = usual.iter().filter_map(mean_of).collect();
    let highest = means.iter().copied().fold(0.0, f64::max);
    if means.len() < REFERENCE_MIN {
        return None;
    }
    // An interval in which nothing completes waits for what comes late, unless nothing is due.
    let is_quiet = |i: &Interval| mean_of(i).is_some_and(|mean| mean <= highest);
    let quiet = own.windows(QUIET_INTERVALS).position(|run| run.iter().all(is_quiet));
    let seconds = |n: usize| own[..n].iter().map(|i| i.length_ns).sum::<u64>() as f64 / 1e9;
    Some(quiet.map_or((seconds(own.len()), false), |n| (seconds(n), true)))
}

fn second_half(intervals: &[Interval]) -> &[Interval] {
    &intervals[intervals.len() / 2..]
}

fn mean_of(interval: &Interval) -> Option<f64> {
    merged(std::slice::from_ref(interval))?.mean_ns()
}

#[cfg(test)]
mod tests {
    use fathom_plan::{Rate, RateProcess};

    use super::*;
    use crate::samples;

    /// Ten intervals of 100 ms a stage: I/Os and latency of each.
    fn record(stages: &[[(u64, u64); 10]]) -> StepRecord {
        let all: Vec<(u64, u64)> = stages.concat();
        let mut record = samples::record(&all.iter().map(|(ios, _)| *ios).collect::<Vec<_>>());
        for (nth, (interval, (ios, lat_ns))) in (0..).zip(record.intervals.iter_mut().zip(all)) {
            (interval.start_ns, interval.length_ns) = (nth * 100_000_000, 100_000_000);
            let mut lat = Histogram::new();
            lat.record_n(lat_ns, ios);
            interval.directions[0].lat = lat;
        }
        record
    }

    fn step(asked: &[f64]) -> Step {
        let mut step = samples::step();
        let mean = asked.iter().sum::<f64>() / asked.len() as f64;
        step.load.rate = Some(Rate { iops: mean, process: RateProcess::Fixed });
        let ppm = |rate: &f64| (rate / mean * 1e6).round() as u64;
        let stage = |rate: &f64| Stage { length_ns: 1_000_000_000, from_ppm: ppm(rate), to_ppm: ppm(rate) };
        step.role.stages = asked.iter().map(stage).collect();
        step
    }

    #[test]
    fn a_burst_that_is_kept_up_with_has_latencies_and_an_end() {
        let calm = [(1_000, 100_000); 10];
        // The burst is slower, and the first 400 ms after it as well.
        let mut after = calm;
        after[..4].fill((1_000, 900_000));
        let found = stages(&step(&[1e4, 4e4, 1e4]), &record(&[calm, [(4_000, 800_000); 10], after]));
        assert_eq!(found.iter().map(|s| (s.is_kept, s.backlog_ios)).collect::<Vec<_>>(), [(true, 0); 3]);
        assert_eq!((found[1].start_s, found[1].ios, found[1].asked_to_iops), (1.0, 40_000, 4e4));
        let p99 = |at: usize| found[at].lat_ns.as_ref().and_then(|lat| lat.p99).expect("samples");
        assert!(p99(1).abs_diff(800_000) < 8_000 && p99(0).abs_diff(100_000) < 1_000, "{} {}", p99(0), p99(1));
        assert_eq!((found[0].recovery_s, found[1].recovery_s, found[2].recovery_s), (None, None, Some(0.4)));
        assert!(found[2].is_recovered);
    }

    #[test]
    fn a_burst_beyond_the_device_leaves_a_backlog_and_no_percentiles_of_its_rate() {
        let calm = [(1_000, 100_000); 10];
        // Asked for 40k, the device gives 20k; what is left keeps the next stage busy for a while.
        let drained = [(2_000, 9_000_000); 10];
        let found = stages(&step(&[1e4, 4e4, 1e4]), &record(&[calm, [(2_000, 5_000_000); 10], drained]));
        assert_eq!((found[1].is_kept, found[1].backlog_ios), (false, 20_000));
        assert!(found[1].lat_ns.is_none());
        assert_eq!((found[2].backlog_ios, found[2].is_kept), (10_000, false));
        assert_eq!((found[2].recovery_s, found[2].is_recovered), (Some(1.0), false));
    }

    #[test]
    fn gaps_ask_for_nothing_and_what_was_cut_short_has_no_later_stages() {
        let calm = [(1_000, 100_000); 10];
        let found = stages(&step(&[1e4, 0.0, 1e4]), &record(&[calm, [(0, 1); 10], calm]));
        assert_eq!(found.iter().map(|s| s.is_kept).collect::<Vec<_>>(), [true; 3]);
        assert!(found[1].lat_ns.is_none() && found[1].recovery_s.is_none());
        assert_eq!(found[2].recovery_s, None, "nothing before it asked for more");
        assert_eq!(stages(&step(&[1e4, 0.0, 1e4]), &record(&[calm])).len(), 1);
        assert!(stages(&samples::step(), &record(&[calm])).is_empty());
    }
}
