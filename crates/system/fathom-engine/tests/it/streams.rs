//! Streams: steps that run at once begin and end together, each with a record of its own.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use fathom_engine::{HostProbe, HostRunner, HostRunnerOptions, StreamPlan};
use fathom_host::Bindings;
use fathom_plan::{EngineName, OpMix, RunLength, Step, Stream, TargetId};
use fathom_record::{HostDelta, Interval, RunControl, StepFailure, StepRecord, Warning};

use crate::support::{BLOCK, Bench, bindings, step_on};

const SECOND_NS: u64 = 1_000_000_000;

/// These steps as the streams of one set.
fn streams(steps: impl IntoIterator<Item = Step>) -> Vec<Step> {
    let mut steps: Vec<Step> = steps.into_iter().collect();
    let of = steps.len() as u32;
    for (index, step) in (0..).zip(&mut steps) {
        step.label = format!("stream {index}");
        step.role.stream = Some(Stream { set: 0, index, of, name: index.to_string() });
    }
    steps
}

fn null(length: RunLength) -> Step {
    Step { length, ..step_on(Path::new("null"), EngineName::Null) }
}

fn run(
    steps: &[Step],
    bindings: Bindings,
    probe: Option<Box<dyn HostProbe>>,
    precise: impl Fn(&[Interval], &Step) -> bool + Send + Copy,
) -> Vec<Result<StepRecord, StepFailure>> {
    let plans =
        steps.iter().map(|step| StreamPlan { step, cpus: Vec::new(), precise_enough: Box::new(precise) }).collect();
    let stop = AtomicBool::new(false);
    let mut control = RunControl { stop: &stop, on_progress: &mut |_| {}, precise_enough: &|_, _| false };
    HostRunner::new(HostRunnerOptions { bindings, probe, ..HostRunnerOptions::default() })
        .run_streams(plans, &mut control)
}

fn records(results: Vec<Result<StepRecord, StepFailure>>) -> Vec<StepRecord> {
    results.into_iter().map(|r| r.unwrap_or_else(|e| panic!("{e:?}"))).collect()
}

/// Counts how often it finished.
struct Counting(&'static AtomicU32);

impl HostProbe for Counting {
    fn begin(&mut self) {}
    fn interval(&mut self) {}
    fn finish(&mut self, _window_ns: u64) -> Option<HostDelta> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Some(HostDelta { interrupts: 7, ..HostDelta::default() })
    }
}

#[test]
fn streams_of_one_length_have_one_window_and_share_what_the_host_did() {
    static SAMPLED: AtomicU32 = AtomicU32::new(0);
    let of = |queue_depth: u32| {
        let mut step = null(RunLength::fixed(50_000_000, 300_000_000));
        step.load.queue_depth = queue_depth;
        step
    };
    let steps = streams([of(1), of(8), of(32)]);
    let records = records(run(&steps, Bindings::default(), Some(Box::new(Counting(&SAMPLED))), |_, _| false));
    assert_eq!((records.len(), SAMPLED.load(Ordering::Relaxed)), (3, 1));
    for (record, step) in records.iter().zip(&steps) {
        assert!(record.ios() > 0 && record.runtime_ns == 300_000_000, "{}", record.runtime_ns);
        let depth = record.occupied_mean.expect("known");
        assert!((depth / f64::from(step.load.queue_depth) - 1.0).abs() < 0.05, "{depth}");
        assert_eq!(record.host.as_ref().map(|host| host.interrupts), Some(7));
        assert!(record.started_unix_ns.abs_diff(records[0].started_unix_ns) < 200_000_000, "begin together");
    }
}

#[test]
fn a_shorter_stream_ends_before_the_others_and_has_no_share_in_what_the_host_did() {
    static SAMPLED: AtomicU32 = AtomicU32::new(0);
    let steps = streams([null(RunLength::fixed(0, 100_000_000)), null(RunLength::fixed(0, 400_000_000))]);
    let records = records(run(&steps, Bindings::default(), Some(Box::new(Counting(&SAMPLED))), |_, _| false));
    assert_eq!((records[0].runtime_ns, records[1].runtime_ns), (100_000_000, 400_000_000));
    assert!(records[0].host.is_none() && records[1].host.is_some());
}

#[test]
fn a_stream_with_a_delay_begins_so_much_later() {
    let length = RunLength::fixed(0, 300_000_000);
    let steps = streams([null(length), null(RunLength { delay_ns: 200_000_000, ..length })]);
    let records = records(run(&steps, Bindings::default(), None, |_, _| false));
    let later_ns = records[1].started_unix_ns - records[0].started_unix_ns;
    assert!((150_000_000..2 * SECOND_NS).contains(&later_ns), "{later_ns}");
    assert!(records.iter().all(|r| r.runtime_ns == 300_000_000));
}

#[test]
fn streams_whose_length_is_left_to_their_precision_end_together_once_all_are_precise() {
    let length = RunLength { floor_ns: 100_000_000, ..RunLength::fixed(0, 30 * SECOND_NS) };
    let steps = streams([null(length), null(RunLength { floor_ns: 300_000_000, ..length })]);
    let records = records(run(&steps, Bindings::default(), None, |intervals, _| !intervals.is_empty()));
    // Their ends are one moment; how apart they began is the scheduler's.
    assert!(records[0].runtime_ns.abs_diff(records[1].runtime_ns) < 200_000_000);
    assert!((450_000_000..20 * SECOND_NS).contains(&records[0].runtime_ns), "{}", records[0].runtime_ns);
    assert!(records.iter().all(|r| !r.warnings.contains(&Warning::Interrupted)));
}

#[test]
fn one_stream_that_cannot_be_run_keeps_all_from_running_and_names_itself() {
    let mut missing = null(RunLength::fixed(0, SECOND_NS));
    missing.targets = vec![TargetId::new("/nowhere")];
    let results = run(&streams([null(missing.length), missing]), Bindings::default(), None, |_, _| false);
    let ids: Vec<String> = results
        .iter()
        .map(|r| match r {
            Err(StepFailure::Refused { why, .. }) => why.id().to_owned(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(ids, ["engine-stream-beside", "engine-not-bound"]);
}

#[test]
fn a_stop_ends_all_streams_with_what_they_measured() {
    let steps = streams([null(RunLength::fixed(0, 60 * SECOND_NS)), null(RunLength::fixed(0, 60 * SECOND_NS))]);
    let stop = AtomicBool::new(false);
    let plans = steps.iter().map(|step| StreamPlan { step, cpus: Vec::new(), precise_enough: Box::new(|_, _| false) });
    let mut on_progress = |p: &fathom_record::Progress| {
        if p.iops > 0.0 {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let mut control = RunControl { stop: &stop, on_progress: &mut on_progress, precise_enough: &|_, _| false };
    let mut runner = HostRunner::new(HostRunnerOptions::default());
    let records = records(runner.run_streams(plans.collect(), &mut control));
    assert!(records.iter().all(|r| r.warnings.contains(&Warning::Interrupted) && r.ios() > 0));
    assert!(records.iter().all(|r| r.runtime_ns < 30 * SECOND_NS));
}

#[test]
fn each_stream_does_its_own_work_on_a_file_of_both() {
    const BLOCKS: u64 = 512;
    let bench = Bench::new(BLOCKS * BLOCK);
    let of = |mix: OpMix, passes: u32| {
        let mut step = bench.step(EngineName::Psync);
        (step.workload.mix, step.length.passes) = (mix, Some(passes));
        step
    };
    let steps = streams([of(OpMix::READ, 3), of(OpMix::WRITE, 2)]);
    let records = records(run(&steps, bindings(&steps[1]).expect("the test's own file"), None, |_, _| false));
    let did: Vec<_> = records.iter().map(|r| (r.directions.len(), r.directions[0].op, r.ios(), r.errors())).collect();
    assert_eq!(did, [(1, fathom_plan::Op::Read, 3 * BLOCKS, 0), (1, fathom_plan::Op::Write, 2 * BLOCKS, 0)]);
    let names = records.iter().flat_map(|r| &r.threads).map(|t| (t.index, t.ios)).collect::<Vec<_>>();
    assert_eq!(names, [(0, 3 * BLOCKS), (0, 2 * BLOCKS)]);
}
