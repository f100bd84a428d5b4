//! What goes into the lab comes out of it, exactly.

use fathom_hist::Histogram;
use fathom_message::{Message, msg};
use fathom_plan::Op;
use fathom_record::*;
use fathom_store::*;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

fn lab() -> (tempfile::TempDir, Lab) {
    let dir = tempfile::tempdir().expect("temp dir");
    let lab = Lab::open(&dir.path().join("some/new/folder/fathom.db")).expect("opens");
    (dir, lab)
}

fn any_op() -> impl Strategy<Value = Op> {
    prop_oneof![Just(Op::Read), Just(Op::Write), Just(Op::Trim)]
}

fn any_histogram() -> impl Strategy<Value = Histogram> {
    vec((0u64..1 << 50, 1u64..1000), 0..12).prop_map(|samples| {
        let mut h = Histogram::new();
        samples.iter().for_each(|(ns, n)| h.record_n(*ns, *n));
        h
    })
}

fn finite() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("finite", |x| x.is_finite())
}

fn any_latency() -> impl Strategy<Value = Latency> {
    let quoted = (any::<u64>(), finite(), finite(), vec((0.0f64..1.0, any::<u64>()), 0..5));
    let quoted = quoted.prop_map(|(count, mean_ns, stddev_ns, quantiles)| {
        Latency::Quoted(QuotedLatency { count, mean_ns, stddev_ns, min_ns: 1, max_ns: u64::MAX, quantiles })
    });
    prop_oneof![3 => any_histogram().prop_map(Latency::Samples), 1 => quoted]
}

prop_compose! {
    fn any_direction()(
        op in any_op(), ios in 0u64..1 << 60, bytes in 0u64..1 << 60, short_ios in any::<u64>(), lat in any_latency(),
        slat in option::of(any_latency()), clat in option::of(any_latency()), service in option::of(any_latency()),
    ) -> Direction {
        Direction { op, ios, bytes, short_ios, lat, slat, clat, service }
    }
}

prop_compose! {
    fn any_interval()(
        start_ns in any::<u64>(), length_ns in any::<u64>(),
        parts in vec((any_op(), any::<u64>(), any::<u64>(), any_histogram()), 0..3),
    ) -> Interval {
        let directions = parts.into_iter().map(|(op, ios, bytes, lat)| DirectionInterval { op, ios, bytes, lat });
        Interval { start_ns, length_ns, directions: directions.collect(), syncs: None }
    }
}

prop_compose! {
    fn any_host()(
        window_ns in any::<u64>(), user_ns in any::<u64>(), interrupts in any::<u64>(), page_cache in option::of(any::<u64>()),
        busy in vec(vec((0.0f32..=1.0).prop_map(|x| x / 3.0), 0..4), 0..4), name in ".*",
    ) -> HostDelta {
        HostDelta {
            window_ns,
            cpus: vec![(7, CpuTime { user_ns, ..CpuTime::default() })],
            threads: vec![ThreadCpu { name, kernel: true, user_ns, system_ns: 1, waited_ns: 2 }],
            interrupts,
            cpu_busy_by_interval: busy,
            page_cache_bytes: page_cache,
            ..HostDelta::default()
        }
    }
}

prop_compose! {
    fn any_record()(
        times in any::<[u64; 3]>(), directions in vec(any_direction(), 0..4), intervals in vec(any_interval(), 0..6),
        host in option::of(any_host()), in_flight_mean in option::of(finite()), text in ".*",
        rates in option::of((finite(), finite(), finite())), offset in any::<u64>(),
    ) -> StepRecord {
        let base = crate::samples::record(0, 0);
        StepRecord {
            started_unix_ns: times[0],
            runtime_ns: times[1],
            setup_ns: times[2],
            directions,
            intervals,
            failures: vec![IoFailure { op: Op::Trim, errno: 5, drive_status: None, count: 2, first_offset_bytes: offset }],
            host,
            clock: None,
            in_flight_mean,
            occupied_mean: in_flight_mean,
            age_ns: in_flight_mean.map(|n| [n.to_bits() >> 1, 7]),
            verify: Some(VerifyReport { torn: offset, examples: vec![Message::verbatim(text.clone())], ..VerifyReport::default() }),
            open_loop: rates.map(|(a, b, c)| OpenLoop {
                intended_iops: a,
                submit_delay_ns_mean_halves: [b, c],
                backlog_end_ios: offset,
                unsustainable: true,
            }),
            targets: Vec::new(),
            arrays: Vec::new(),
            purges: Vec::new(),
            ranks: None,
            warnings: vec![Warning::Note { text: Message::verbatim(text) }],
            ..base
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]
    #[test]
    fn every_record_comes_back_equal_after_closing_and_opening(records in vec(any_record(), 1..3)) {
        let (dir, mut lab) = lab();
        let path = lab.path().to_owned();
        let plan = crate::samples::plan(3);
        let run = lab.begin_run(&crate::samples::new_run(&plan)).expect("begins");
        for (index, record) in records.iter().enumerate() {
            lab.commit_step(run, &crate::samples::step(index as u32), Ok(record)).expect("commits");
        }
        drop(lab);
        let back = Lab::open_existing(&path).expect("opens").load_run(run).expect("loads");
        prop_assert_eq!(back.steps.len(), records.len());
        for (index, (stored, record)) in back.steps.iter().zip(&records).enumerate() {
            prop_assert_eq!(&stored.step, &crate::samples::step(index as u32));
            prop_assert_eq!(stored.outcome.as_ref().ok(), Some(record));
        }
        prop_assert_eq!(back.head.plan, plan);
        drop(dir);
    }
}

#[test]
fn a_run_is_listed_with_its_counts_and_states() {
    let (_dir, mut lab) = lab();
    assert_eq!(lab.latest_run_id().expect("reads"), None);
    let plan = crate::samples::plan(3);
    let run = lab.begin_run(&crate::samples::new_run(&plan)).expect("begins");
    assert_eq!(lab.summary(run).expect("reads").state, RunState::Running);
    let record = crate::samples::record(2, 10);
    lab.commit_step(run, &plan.steps[0], Ok(&record)).expect("commits");
    let why = msg!("what-and-why", what = "CPU 0", why = Message::verbatim("no siblings"));
    let refused =
        StepFailure::Refused { what: Message::verbatim("smt"), why: why.clone(), help: Message::verbatim("") };
    lab.commit_step(run, &plan.steps[2], Err(&refused)).expect("commits");
    let failed = StepFailure::Failed {
        what: Message::verbatim("read"),
        why: Message::verbatim("EIO"),
        help: Message::verbatim("cable?"),
    };
    lab.commit_step(run, &plan.steps[1], Err(&failed)).expect("commits");
    lab.finish_run(run, RunState::Finished, 1_700_000_000_000_000_007).expect("finishes");

    let runs = lab.runs().expect("lists");
    assert_eq!(runs.len(), 1);
    let line = &runs[0];
    assert_eq!(
        (line.id, line.state, line.finished_unix_ns),
        (run, RunState::Finished, Some(1_700_000_000_000_000_007))
    );
    assert_eq!((line.steps_planned, line.steps_measured, line.steps_without_figures), (3, 1, 2));
    assert_eq!((line.study.as_str(), line.command_line.as_str()), ("quick", "fathom run quick"));
    assert_eq!(lab.latest_run_id().expect("reads"), Some(run));

    let loaded = lab.load_run(run).expect("loads");
    assert_eq!(loaded.head.host_json, "{\"kernel\":\"6.1\"}");
    assert_eq!(lab.host_of(&loaded.head).expect("reads")["kernel"], "6.1");
    let cut = RunHead { host_json: "{\"kernel\":".to_owned(), ..loaded.head.clone() };
    let error = lab.host_of(&cut).expect_err("is damaged");
    assert!(matches!(&error, StoreError::Damaged { detail, .. } if detail.id() == "lab-bad-host"), "{error}");
    let owned = |o: &StoredStep| o.outcome.clone();
    assert_eq!(loaded.steps.iter().map(|s| s.step.index).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(owned(&loaded.steps[0]), Ok(record));
    assert!(
        matches!(owned(&loaded.steps[1]), Err(StepFailure::Failed { why, .. }) if why.as_verbatim() == Some("EIO"))
    );
    assert_eq!(
        owned(&loaded.steps[2]),
        Err(StepFailure::Refused { what: Message::verbatim("smt"), why, help: Message::verbatim("") })
    );
}

#[test]
fn a_finished_run_cannot_be_changed_and_a_step_is_stored_once() {
    let (_dir, mut lab) = lab();
    let plan = crate::samples::plan(2);
    let run = lab.begin_run(&crate::samples::new_run(&plan)).expect("begins");
    let record = crate::samples::record(1, 10);
    let measured = Ok(&record);
    lab.commit_step(run, &plan.steps[0], measured).expect("commits");
    let twice = lab.commit_step(run, &plan.steps[0], measured).expect_err("stored before");
    assert!(matches!(twice, StoreError::StepExists { index: 0, .. }), "{twice}");
    lab.finish_run(run, RunState::Interrupted, 5).expect("finishes");
    let closed = lab.commit_step(run, &plan.steps[1], measured).expect_err("closed");
    assert!(matches!(closed, StoreError::RunClosed { state: Closed::In(RunState::Interrupted), .. }), "{closed}");

    lab.resume_run(run).expect("an interrupted run goes on");
    lab.commit_step(run, &plan.steps[1], measured).expect("commits");
    lab.finish_run(run, RunState::Finished, 6).expect("finishes");
    assert!(matches!(lab.resume_run(run), Err(StoreError::RunClosed { state: Closed::In(RunState::Finished), .. })));
    assert!(matches!(lab.finish_run(run, RunState::Failed, 7), Err(StoreError::RunClosed { .. })));
    assert_eq!(lab.step_indexes(run).expect("lists"), [0, 1]);
}

#[test]
fn figures_that_are_not_finite_are_refused_and_leave_nothing_behind() {
    let (_dir, mut lab) = lab();
    let plan = crate::samples::plan(1);
    let run = lab.begin_run(&crate::samples::new_run(&plan)).expect("begins");
    let mut record = crate::samples::record(1, 10);
    record.in_flight_mean = Some(f64::NAN);
    let error = lab.commit_step(run, &plan.steps[0], Ok(&record)).expect_err("not a number");
    assert!(matches!(error, StoreError::NotStorable { .. }), "{error}");
    assert!(lab.step_indexes(run).expect("lists").is_empty());
}

#[test]
fn deleting_gives_the_space_back_and_the_number_is_not_used_again() {
    let (_dir, mut lab) = lab();
    let plan = crate::samples::plan(20);
    let size = |lab: &Lab| std::fs::metadata(lab.path()).expect("there").len();
    let keep = lab.begin_run(&crate::samples::new_run(&plan)).expect("begins");
    let record = crate::samples::record(50, 1000);
    lab.commit_step(keep, &plan.steps[0], Ok(&record)).expect("commits");
    let large = lab.begin_run(&crate::samples::new_run(&plan)).expect("begins");
    for step in &plan.steps {
        lab.commit_step(large, step, Ok(&record)).expect("commits");
    }
    let small = lab.begin_run(&crate::samples::new_run(&plan)).expect("begins");
    lab.delete_run(small).expect("deletes");
    let before = size(&lab);
    lab.delete_run(large).expect("deletes");
    assert!(size(&lab) * 4 < before, "{} of {before} bytes are left", size(&lab));
    assert_eq!(lab.load_run(keep).expect("loads").steps[0].outcome, Ok(record));

    let error = lab.load_run(large).expect_err("deleted");
    assert_eq!(
        fathom_language::english(&fathom_message::Say::message(&error)),
        format!("there is no run {large} in the lab; it holds {keep}")
    );
    assert!(matches!(lab.delete_run(large), Err(StoreError::RunNotFound { .. })));
    let next = lab.begin_run(&crate::samples::new_run(&plan)).expect("begins");
    assert!(next > small);
}

#[test]
fn a_prediction_comes_back_and_cannot_be_made_of_a_step_that_has_ended() {
    let (_dir, mut lab) = lab();
    let plan = crate::samples::plan(2);
    let run = lab.begin_run(&crate::samples::new_run(&plan)).expect("begins");
    let prediction = |index| LadderPrediction {
        made_unix_ns: 7_000,
        screens: vec![ScreenedStep { label: "QD1 (screen)".into(), in_flight: 1, iops: 1e4, lat_mean_ns: 1e5 }],
        steps: vec![PredictedStep { index, iops: 0.1 + 0.2, lat_mean_ns: 1e5 }],
    };
    assert_eq!(lab.predictions(run).expect("reads"), []);
    lab.store_prediction(run, &prediction(1)).expect("is stored");
    assert_eq!(lab.predictions(run).expect("reads"), [prediction(1)]);
    let refused =
        StepFailure::Refused { what: Message::verbatim("w"), why: Message::verbatim("y"), help: Message::verbatim("") };
    lab.commit_step(run, &plan.steps[0], Err(&refused)).expect("commits");
    let late = lab.store_prediction(run, &prediction(0)).expect_err("is known");
    assert!(matches!(late, StoreError::StepExists { index: 0, .. }), "{late}");
    lab.finish_run(run, RunState::Finished, 9_000).expect("ends");
    assert!(matches!(lab.store_prediction(run, &prediction(1)), Err(StoreError::RunClosed { .. })));
    lab.delete_run(run).expect("is deleted");
    assert!(matches!(lab.predictions(run), Err(StoreError::RunNotFound { .. })));
}
