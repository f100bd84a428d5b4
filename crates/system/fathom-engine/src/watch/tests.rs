use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fathom_language::english;
use fathom_message::Message;
use fathom_plan::{
    BlockSize, DataPattern, Durability, EngineName, EngineSpec, Load, OpMix, Pattern, Phase, Placement, Region,
    RunLength, TargetId, Workload,
};
use fathom_record::{FeatureName, FeatureState, Runner as _, StepRecord, Warning};

use super::*;
use crate::faults::Fault;
use crate::runner::{HostRunner, HostRunnerOptions};

/// The one of four workers in which something goes wrong.
const BAD: usize = 2;
/// The time in which a step must end after a fault or a stop.
const PROMISE: Duration = Duration::from_secs(1);
/// Ten times the promise, for a busy host. Without the promise, a step runs for its 30 s or until a worker is given up.
const HANGS_AFTER: Duration = Duration::from_secs(10);

/// Four threads without a target.
fn step(ramp_ms: u64, window_ms: u64) -> Step {
    Step {
        index: 0,
        label: "watched".to_owned(),
        phase: Phase::Measure,
        group: "A".to_owned(),
        targets: vec![TargetId::new("null".to_owned())],
        workload: Workload {
            mix: OpMix::READ,
            pattern: Pattern::Random,
            block_sizes: vec![BlockSize { bytes: 4096, share_pct: 100 }],
            region: Region { offset_bytes: 0, size_bytes: None },
            data: DataPattern::default(),
            verify: None,
            direct: true,
            drop_cache: false,
            priorities: fathom_plan::Priorities::default(),
            durability: Durability::default(),
            order: fathom_plan::IoOrder::default(),
            fill: Vec::new(),
        },
        load: Load { batch_submit: Some(8), ..Load::closed(4, 8) },
        engine: EngineSpec { name: EngineName::Null, ..EngineSpec::default() },
        memory: fathom_plan::MemoryPolicy::default(),
        placement: Placement::Unpinned,
        length: RunLength::fixed(ramp_ms * 1_000_000, window_ms * 1_000_000),
        seed: 3,
        role: fathom_plan::Role::default(),
    }
}

/// Runs the step with a fault in one worker, and stops it after `stop_after`; how long that took.
fn with_fault(step: &Step, fault: Fault, stop_after: Option<Duration>) -> (Result<StepRecord, StepFailure>, Duration) {
    let mut runner = HostRunner::new(HostRunnerOptions::default());
    runner.fault = Some((BAD, fault));
    let stop = AtomicBool::new(false);
    let begun = Instant::now();
    let result = std::thread::scope(|scope| {
        if let Some(after) = stop_after {
            let stop = &stop;
            scope.spawn(move || {
                std::thread::sleep(after);
                stop.store(true, Ordering::Relaxed);
            });
        }
        let mut control = RunControl { stop: &stop, on_progress: &mut |_| {}, precise_enough: &|_, _| false };
        runner.run(step, &mut control)
    });
    (result, begun.elapsed())
}

/// The failure, which must name the worker and `doing`.
#[track_caller]
fn failed(result: Result<StepRecord, StepFailure>, doing: &str) -> (String, Message) {
    let Err(StepFailure::Failed { what, why, help }) = result else { panic!("no failure: {result:?}") };
    let text = english(&what);
    assert!(text.contains("thread fathom-w2 on null") && what.holds(doing), "{text}");
    assert!(!english(&help).is_empty(), "no way out");
    (text, why)
}

#[test]
fn a_panic_in_one_of_four_workers_ends_the_step_at_once_by_its_name() {
    let (result, took) = with_fault(&step(0, 30_000), Fault::Panic { after: 10_000 }, None);
    let (_, why) = failed(result, "engine-thread-panicked");
    assert_eq!(why.as_verbatim(), Some("injected: panic"));
    assert!(took < HANGS_AFTER, "{took:?}");
}

#[test]
fn a_block_is_written_once_its_trim_is_over_however_deep_the_queue_is() {
    let step = step(0, 100);
    let open = Some(fathom_plan::Rate { iops: 1e6, process: fathom_plan::RateProcess::Fixed });
    for (rate, batch_complete_max) in [(None, None), (None, Some(1)), (open, None), (open, Some(1))] {
        let mut step = step.clone();
        step.workload.mix = fathom_plan::OpMix { read_pct: 0, write_pct: 50, trim_pct: 50 };
        step.workload.order.trims_first = true;
        step.load = Load { rate, batch_complete_max, ..step.load };
        let (result, _) = with_fault(&step, Fault::LateTrims, None);
        let record = result.unwrap_or_else(|failure| panic!("{rate:?} {batch_complete_max:?}: {failure}"));
        assert!(record.threads[BAD].ios > 10, "{rate:?} {batch_complete_max:?}: {:?}", record.threads);
    }
}

#[test]
fn a_panic_in_the_ramp_ends_the_step_at_once_too() {
    let (result, took) = with_fault(&step(30_000, 30_000), Fault::Panic { after: 10_000 }, None);
    failed(result, "engine-thread-panicked");
    assert!(took < HANGS_AFTER, "{took:?}");
}

#[test]
fn an_error_of_one_of_four_engines_ends_the_step_at_once_by_its_name() {
    let (result, took) = with_fault(&step(0, 30_000), Fault::Error { after: 10_000 }, None);
    let (_, why) = failed(result, "engine-failed");
    let ebadf = std::io::Error::from_raw_os_error(crate::faults::FAILURE).to_string();
    assert_eq!(why.as_verbatim(), Some(&ebadf[..]));
    assert!(took < HANGS_AFTER, "{took:?}");
}

#[test]
fn a_worker_that_hangs_ends_the_step_by_its_name_after_the_deadline() {
    let window_ms = 300;
    let (result, took) = with_fault(&step(0, window_ms), Fault::Hang { after: 10_000 }, None);
    failed(result, "engine-hung");
    assert!(took >= Duration::from_millis(window_ms), "before the deadline nothing tells a hang: {took:?}");
    assert!(took < Duration::from_millis(window_ms) + HANGS_AFTER, "{took:?}");
}

#[test]
fn a_worker_that_spins_is_told_from_one_that_waits_for_its_device() {
    let window_ms = 300;
    let (result, took) = with_fault(&step(0, window_ms), Fault::Spin { after: 10_000 }, None);
    failed(result, "engine-hung");
    // It must be seen to use CPU time, of which a busy host gives it little.
    assert!(took < Duration::from_millis(window_ms) + 3 * HANGS_AFTER, "{took:?}");
}

#[test]
fn a_panic_before_the_start_ends_the_step_at_once_by_its_name() {
    let (result, took) = with_fault(&step(0, 30_000), Fault::PanicEarly, None);
    failed(result, "engine-thread-panicked");
    assert!(took < HANGS_AFTER, "{took:?}");
}

#[test]
fn a_drive_that_never_answers_the_first_read_can_be_interrupted() {
    for fault in [Fault::NoAnswer, Fault::HangEarly] {
        let (result, took) = with_fault(&step(0, 30_000), fault, Some(Duration::from_millis(100)));
        let record = result.expect("what was measured until then: nothing");
        assert!(record.warnings.contains(&Warning::Interrupted), "{fault:?}: {:?}", record.warnings);
        assert_eq!(record.ios(), 0);
        let left = |w: &Warning| matches!(w, Warning::Note { text } if text.id() == "engine-left-behind");
        assert_eq!(record.warnings.iter().any(left), fault == Fault::HangEarly, "{:?}", record.warnings);
        assert!(took < Duration::from_millis(100) + HANGS_AFTER, "{fault:?}: {took:?}");
    }
}

#[test]
fn a_step_that_was_stopped_tells_who_did_not_come_back() {
    let (result, took) = with_fault(&step(0, 30_000), Fault::Hang { after: 10_000 }, Some(Duration::from_millis(200)));
    let record = result.expect("what the others measured, marked as interrupted");
    assert!(record.warnings.contains(&Warning::Interrupted));
    assert!(record.ios() > 0 && record.in_flight_mean.is_none());
    assert!(took < Duration::from_millis(200) + HANGS_AFTER, "{took:?}");
}

#[test]
fn features_that_differ_between_threads_name_their_threads() {
    let (result, _) = with_fault(&step(0, 20), Fault::OtherFeatures, None);
    let record = result.expect("a record");
    let rows: Vec<_> = record.features.iter().map(|f| (&f.name, f.state, &f.threads[..])).collect();
    assert_eq!(rows, [(&FeatureName::Paranoid, FeatureState::Used, &[BAD as u32][..])]);
}

#[test]
fn ios_per_submission_are_those_of_the_window() {
    let share = |ramp_ms| {
        let mut runner = HostRunner::new(HostRunnerOptions::default());
        let stop = AtomicBool::new(false);
        let mut control = RunControl { stop: &stop, on_progress: &mut |_| {}, precise_enough: &|_, _| false };
        let record = runner.run(&step(ramp_ms, 100), &mut control).expect("a record");
        record.overhead.expect("measured").ios_per_submit
    };
    // Batches of eight, also after a ramp that submits twice as many as the window.
    for ramp_ms in [0, 200] {
        let ios = share(ramp_ms);
        assert!((7.5..=8.0).contains(&ios), "{ios} after {ramp_ms} ms");
    }
}

/// Tests that measure time: they need a quiet host.
mod alone {
    use super::*;

    #[test]
    fn a_step_ends_within_a_second_of_a_fault_its_deadline_or_a_stop() {
        let ms = Duration::from_millis;
        let cases = [
            (step(0, 30_000), Fault::Panic { after: 10_000 }, None, ms(0)),
            (step(30_000, 30_000), Fault::Panic { after: 10_000 }, None, ms(0)),
            (step(0, 30_000), Fault::PanicEarly, None, ms(0)),
            (step(0, 30_000), Fault::Error { after: 10_000 }, None, ms(0)),
            (step(0, 300), Fault::Hang { after: 10_000 }, None, ms(300)),
            (step(0, 30_000), Fault::Hang { after: 10_000 }, Some(ms(200)), ms(200)),
            (step(0, 30_000), Fault::HangEarly, Some(ms(100)), ms(100)),
        ];
        for (step, fault, stop_after, due) in cases {
            let (_, took) = with_fault(&step, fault, stop_after);
            assert!(took < due + PROMISE, "{fault:?}: {took:?}");
        }
    }
}
