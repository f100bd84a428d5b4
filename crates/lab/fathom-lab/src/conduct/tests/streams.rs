//! Streams: a set is one step of the run, whatever happens in it.

use fathom_plan::Stream;

use super::*;

/// A step, two streams, a step.
fn plan_with_streams() -> Plan {
    let mut plan = plan(4);
    for (index, name) in ["reads", "log"].into_iter().enumerate() {
        let stream = Stream { set: 0, index: index as u32, of: 2, name: name.to_owned() };
        plan.steps[1 + index].role.stream = Some(stream);
    }
    plan
}

#[test]
fn streams_take_the_time_of_one_step_and_have_a_record_each_and_a_sum() {
    let mut stage = Stage::new();
    stage.options.time_budget_ns = Some(12 * SECOND_NS + SECOND_NS);
    let mut site = ScriptedSite::new([100, 200, 300, 400].map(Act::Measure));
    let outcome = stage.conduct(&mut site, &plan_with_streams()).expect("goes well");
    assert_eq!((site.ran(), stage.outcomes(outcome.run).as_str(), outcome.bad_steps), (vec![0, 1, 2, 3], "mmmm", 0));
    assert!(site.now().elapsed <= std::time::Duration::from_secs(13), "{:?}", site.now().elapsed);
    let [set] = &outcome.document.stream_sets[..] else { panic!("one set") };
    let names: Vec<_> = set.streams.iter().map(|s| (s.step, s.name.as_str(), s.iops)).collect();
    assert_eq!((names, set.iops), (vec![(1, "reads", 200.0), (2, "log", 300.0)], 500.0));
    // No ladder mixes what ran alone with what ran beside another.
    let of_streams = |step: u32| [1, 2].contains(&step);
    for ladder in outcome.document.ladders.iter().filter(|l| l.points.iter().any(|p| of_streams(p.step))) {
        assert_eq!(ladder.points.len(), 1, "{ladder:?}");
    }
}

#[test]
fn a_set_of_which_one_stream_was_committed_is_measured_again_as_a_whole() {
    let mut stage = Stage::new();
    // Stopped in the first stream: what the second gave stood beside half a load.
    let acts = [Act::Measure(100), Act::StopDuring(200), Act::Measure(300)];
    let outcome = stage.conduct(&mut ScriptedSite::new(acts), &plan_with_streams()).expect("goes well");
    assert!(outcome.interrupted);
    let mut site = ScriptedSite::new([210, 310, 400].map(Act::Measure));
    let outcome = stage.resume(&mut site, outcome.run).expect("goes on");
    assert_eq!((site.ran(), stage.outcomes(outcome.run).as_str()), (vec![1, 2, 3], "mmmm"));
    let iops: Vec<f64> = outcome.document.steps.iter().map(|s| s.iops).collect();
    assert_eq!(iops, [100.0, 210.0, 310.0, 400.0]);
    // A set that ended is not run again.
    let mut plan = plan_with_streams();
    plan.steps.push(Step { index: 4, ..plan.steps[3].clone() });
    let acts = [Act::Measure(1), Act::Measure(2), Act::Measure(3), Act::StopAfter(4)];
    let outcome = stage.conduct(&mut ScriptedSite::new(acts), &plan).expect("goes well");
    let mut site = ScriptedSite::new([]);
    stage.resume(&mut site, outcome.run).expect("goes on");
    assert_eq!(site.ran(), [4]);
}

#[test]
fn what_streams_lose_beside_each_other_is_measured_when_it_is_to_be_explained() {
    let mut stage = Stage::new();
    stage.options.explain = true;
    let mut plan = plan_with_streams();
    plan.steps.remove(3);
    plan.steps.remove(0);
    let mut site = ScriptedSite::new([100, 300, 200, 300].map(Act::Measure));
    let outcome = stage.conduct(&mut site, &plan).expect("goes well");
    let steps = stage.steps(outcome.run);
    let alone: Vec<_> = steps.iter().filter_map(|s| Some((s.step.role.alone.as_ref()?.step, s.step.phase))).collect();
    assert_eq!(alone, [(1, Phase::Probe), (2, Phase::Probe)]);
    let brief = &outcome.document.verdict[0].brief;
    let rows: Vec<String> = brief
        .rows
        .iter()
        .map(|row| row.cells.iter().map(fathom_language::english).collect::<Vec<_>>().join("; "))
        .collect();
    assert!(rows[0].contains("0.50x of alone") && rows[1].contains("1.00x of alone"), "{rows:?}");
}
