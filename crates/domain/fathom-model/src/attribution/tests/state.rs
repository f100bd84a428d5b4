//! Deeper steps that give less: what the shallower one gives when it is measured again decides.

use fathom_plan::Phase;

use super::*;

/// Steps of (depth, IOPS) in the order they were measured.
fn ladder(steps: &[(u32, u64)]) -> Vec<Observation> {
    let of = |(index, (depth, ios)): (u32, &(u32, u64))| {
        let (mut step, record) = observed(1, *depth, *ios, 0.3);
        step.index = index;
        (step, record)
    };
    with(&(0..).zip(steps).map(of).collect::<Vec<_>>(), 0.01)
}

const FALLS: [(u32, u64); 4] = [(1, 10_000), (8, 80_000), (32, 50_000), (64, 50_500)];

#[test]
fn a_deeper_step_that_gives_less_is_not_the_device_until_the_shallower_one_is_measured_again() {
    let all = ladder(&FALLS);
    let limit = attribute(&all, 3);
    assert_eq!((limit.name, limit.probability), (LimitName::Unknown, None), "{}", limit.sentence());
    assert_eq!(limit.cause, Cause::StateChanged { in_flight: 8, gain: 0.63125, again: None });
    let step = step_to_repeat(&all, all[3].step()).expect("is measured again");
    assert_eq!((step.load.queue_depth, step.phase), (8, Phase::Probe));
}

#[test]
fn the_shallower_one_again_tells_a_change_from_depth() {
    let with_repeat = |ios: u64| {
        let mut all = ladder(&[&FALLS[..], &[(8, ios)]].concat());
        all[4].step.phase = Phase::Probe;
        assert_eq!(step_to_repeat(&all, all[3].step()), None, "once is enough");
        attribute(&all, 3)
    };
    let slower = with_repeat(49_000);
    assert!(matches!(slower.cause, Cause::StateChanged { again: Some(again), .. } if again < 0.62));
    assert!(english(&slower.sentence()).contains("became slower during the ladder"), "{}", slower.sentence());
    let faster = with_repeat(90_000);
    assert!(english(&faster.sentence()).contains("became faster again"), "{}", faster.sentence());
    let same = with_repeat(80_500);
    assert_eq!(same.cause, Cause::LessAtDepth { in_flight: 8, gain: 0.63125 }, "{}", same.sentence());
    assert_eq!((same.name, same.probes.len()), (LimitName::Unknown, 1));
}

#[test]
fn a_small_fall_a_wide_interval_or_a_deeper_step_that_recovers_is_none() {
    let is_fall = |steps: &[(u32, u64)], at: usize, half: f64| {
        let mut all = ladder(steps);
        all.iter_mut().for_each(|o| o.iops_rel_half_width = Some(half));
        let cause = attribute(&all, at).cause;
        assert_eq!(step_to_repeat(&all, all[at].step()).is_some(), matches!(cause, Cause::StateChanged { .. }));
        matches!(cause, Cause::StateChanged { .. })
    };
    assert!(is_fall(&[(8, 80_000), (32, 50_000)], 1, 0.01));
    assert!(!is_fall(&[(8, 80_000), (32, 73_000)], 1, 0.01));
    assert!(!is_fall(&[(8, 80_000), (32, 60_000)], 1, 0.3));
    assert!(!is_fall(&[(8, 80_000), (32, 50_000), (64, 82_000)], 1, 0.01));
    // Rising all the way.
    assert!(!is_fall(&[(8, 80_000), (32, 200_000)], 1, 0.01));
}

/// Threads without time left say what their cores give, and a shallower step of theirs is no measure for the others.
#[test]
fn a_step_that_its_threads_hold_is_the_cores() {
    let mut steps = [observed(1, 8, 80_000, 0.3), observed(1, 64, 50_000, 0.99)];
    steps[1].0.index = 1;
    assert_eq!(attribute(&with(&steps, 0.01), 1).name, LimitName::Core);
}
