//! Steps beside the plan: a fallen step once more, probes in turns, the time that is left.

use fathom_model::EvidenceName;
use fathom_plan::{Block, Round};

use super::{SECOND_NS, Stage, plan};
use crate::conduct::*;
use crate::site::scripted::{Act, ScriptedSite};

/// Steps of the plan at these depths.
fn ladder(depths: &[u32]) -> Plan {
    let mut plan = plan(depths.len() as u32);
    for (step, depth) in plan.steps.iter_mut().zip(depths) {
        step.load.queue_depth = *depth;
    }
    plan
}

#[test]
fn a_ladder_that_falls_measures_the_step_it_fell_from_again_and_the_answer_says_what_changed() {
    let mut stage = Stage::new();
    let acts = [1_000, 8_000, 5_000, 5_100].map(Act::Measure);
    let outcome = stage.conduct(&mut ScriptedSite::new(acts), &ladder(&[1, 8, 64])).expect("goes well");
    let steps = stage.steps(outcome.run);
    let (again, last) = (&steps[3].step, &steps[2].step);
    assert_eq!((again.index, again.load.queue_depth, again.phase), (3, 8, Phase::Probe));
    assert_eq!(again.length.budget_ns, 2 * SECOND_NS, "short");
    let limit = &outcome.document.steps[last.index as usize].limit;
    assert!(limit.sentence.holds("limit-state-changed-slower"), "{}", limit.sentence);
    assert_eq!(limit.state_change, Some(fathom_model::StateChange::Slower));
    let caveats = &outcome.document.verdict[0].caveats;
    assert!(caveats.iter().any(|c| c.holds("verdict-state-changed")), "{caveats:?}");
    // Before the next ladder, in its own state.
    let mut plan = ladder(&[8, 64, 8]);
    plan.steps[2].workload.mix.read_pct = 0;
    plan.steps[2].workload.mix.write_pct = 100;
    let mut site = ScriptedSite::new([8_000, 5_000].map(Act::Measure));
    stage.conduct(&mut site, &plan).expect("goes well");
    assert_eq!(site.ran(), [0, 1, 3, 2]);
}

/// The plan repeats such steps itself: what one measured once more would be a step without its pair.
#[test]
fn a_step_of_a_comparison_or_of_a_round_is_not_measured_again_beside_the_plan() {
    let fallen = [8_000, 5_000].map(Act::Measure);
    let mut plan = ladder(&[1, 8]);
    for (arm_index, step) in (0..).zip(&mut plan.steps) {
        step.role.block =
            Some(Block { cell: 0, pass: 0, arm: format!("{arm_index}"), arm_index, arm_parts: Vec::new() });
    }
    let mut site = ScriptedSite::new(fallen.clone());
    Stage::new().conduct(&mut site, &plan).expect("goes well");
    assert_eq!(site.ran(), [0, 1]);
    for step in &mut plan.steps {
        step.role.block = None;
        step.role.round = Some(Round { loop_id: 0, index: 0, max: 1, metric: None });
    }
    let mut site = ScriptedSite::new(fallen);
    Stage::new().conduct(&mut site, &plan).expect("goes well");
    assert_eq!(site.ran(), [0, 1]);
}

#[test]
fn a_ladder_that_rises_or_has_no_time_left_is_not_measured_again() {
    let mut stage = Stage::new();
    let mut site = ScriptedSite::new([1_000, 8_000, 8_100].map(Act::Measure));
    stage.conduct(&mut site, &ladder(&[1, 8, 64])).expect("goes well");
    assert_eq!(site.ran(), [0, 1, 2]);
    stage.options.time_budget_ns = Some(12 * SECOND_NS);
    let mut site = ScriptedSite::new([1_000, 8_000, 5_000].map(Act::Measure));
    stage.conduct(&mut site, &ladder(&[1, 8, 64])).expect("goes well");
    assert_eq!(site.ran(), [0, 1, 2]);
}

/// A device that gives less and less while its depth is probed: 50,000 in the plan, then 40,000 falling to 34,000. With
/// its probe measured once, afterwards, depth would seem to cost a fifth or more.
#[test]
fn a_probe_takes_turns_with_the_step_that_it_explains_so_that_a_drift_changes_nothing() {
    let mut stage = Stage::new();
    stage.options.explain = true;
    let drifting = [40_000, 38_000, 36_000, 34_000];
    let acts = [10_000, 50_000].into_iter().chain(drifting).map(Act::Measure);
    let mut site = ScriptedSite::new(acts);
    let outcome = stage.conduct(&mut site, &ladder(&[1, 8])).expect("goes well");
    let steps = stage.steps(outcome.run);
    let block: Vec<_> =
        steps.iter().filter_map(|s| Some((s.step.role.turn?, s.step.load.queue_depth))).take(4).collect();
    let turn = |explains, is_probe| fathom_plan::Turn { explains, block: 2, is_probe };
    let (own, probe) = (block[0].1, block[1].1);
    assert!(probe > own, "{block:?}");
    let explains = block[0].0.explains;
    let want = [(false, own), (true, probe), (true, probe), (false, own)];
    assert_eq!(block, want.map(|(is_probe, depth)| (turn(explains, is_probe), depth)));
    assert!(steps.iter().skip(2).all(|s| s.step.length.budget_ns == 2 * SECOND_NS && s.step.phase == Phase::Probe));
    let limit = &outcome.document.steps[explains as usize].limit;
    let gain =
        limit.evidence.iter().find(|e| matches!(e.name, EvidenceName::GainOfDepth { .. })).expect("a probe of depth");
    assert!((gain.value - 1.0).abs() < 1e-9, "{}", gain.value);
}

#[test]
fn a_study_that_settles_spends_the_time_that_its_steps_leave_and_no_more() {
    // Three steps of four seconds that end after one: nine seconds are left, and a probe in turns takes eight.
    let early = |rate| Act::Early(rate);
    let rates = [1_000, 7_000, 7_600];
    let mut plan = ladder(&[1, 8, 16]);
    let mut stage = Stage::new();
    let mut site = ScriptedSite::new(rates.map(early));
    stage.conduct(&mut site, &plan).expect("goes well");
    assert_eq!(site.ran(), [0, 1, 2], "a study that does not settle ends with its plan");
    plan.study.settle = true;
    let mut site = ScriptedSite::new(rates.map(early));
    let outcome = stage.conduct(&mut site, &plan).expect("goes well");
    assert_eq!(site.ran(), [0, 1, 2, 3, 4, 5, 6], "one block, for no other has time");
    assert!(stage.notes.contains(&"run-settles".to_owned()));
    assert!(stage.steps(outcome.run)[3..].iter().all(|s| s.step.role.turn.is_some_and(|turn| turn.explains == 2)));
    // Steps that took their time leave none.
    let mut site = ScriptedSite::new(rates.map(Act::Measure));
    stage.conduct(&mut site, &plan).expect("goes well");
    assert_eq!(site.ran(), [0, 1, 2]);
    // In virtual time nothing is left over.
    let mut site = ScriptedSite::new(rates.map(early));
    site.is_in_real_time = false;
    stage.conduct(&mut site, &plan).expect("goes well");
    assert_eq!(site.ran(), [0, 1, 2]);
    // What fails is not tried in turns.
    let mut site = ScriptedSite::new(rates.map(early).into_iter().chain([Act::Fail]));
    let outcome = stage.conduct(&mut site, &plan).expect("goes well");
    assert_eq!((site.ran().len(), outcome.bad_steps), (4, 1));
}

#[test]
fn a_ladder_that_still_rises_gets_the_next_rung_as_a_step_of_its_own() {
    let mut stage = Stage::new();
    let mut plan = ladder(&[1, 2, 4, 8]);
    plan.study.settle = true;
    let acts = [1_000, 2_000, 4_000, 8_000].map(Act::Early).into_iter().chain([15_000, 15_900].map(Act::Early));
    let mut site = ScriptedSite::new(acts);
    let outcome = stage.conduct(&mut site, &plan).expect("goes well");
    let added: Vec<(Phase, u32)> =
        stage.steps(outcome.run)[4..].iter().map(|s| (s.step.phase, s.step.load.queue_depth)).collect();
    // At 32 the plateau is shown, and more would change nothing.
    assert_eq!(added, [(Phase::Measure, 16), (Phase::Measure, 32)]);
    let labels: Vec<&str> = outcome.document.steps[4..].iter().map(|s| s.label.as_str()).collect();
    assert!(labels[0].ends_with("QD16"), "{labels:?}");
    assert!(outcome.document.verdict[0].figures[0].value > 15_500.0, "the answer has the new rungs");
}
