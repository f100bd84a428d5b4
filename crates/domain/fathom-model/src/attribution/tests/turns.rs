//! Probes that took turns with the step they explain, and where time that is left is spent.

use fathom_plan::{Phase, Turn};

use super::*;
use crate::attribution::{NextStep, level_turns, next_step};

/// A ladder of one thread, and then a probe at `depth` in turns with its last step; rates in I/Os per second.
fn with_turns(ladder: &[(u32, u64)], depth: u32, rates: &[u64]) -> Vec<Observation> {
    let mut all: Vec<(Step, StepRecord)> = ladder.iter().map(|&(depth, ios)| observed(1, depth, ios, 0.2)).collect();
    let explained = u32::try_from(all.len()).expect("a few") - 1;
    for (i, (rate, is_probe)) in rates.iter().zip([false, true, true, false]).enumerate() {
        let (mut step, record) = observed(1, if is_probe { depth } else { ladder[explained as usize].0 }, *rate, 0.2);
        step.phase = Phase::Probe;
        step.role.turn = Some(Turn { explains: explained, block: explained + 1, is_probe });
        step.index = i as u32;
        all.push((step, record));
    }
    for (i, (step, _)) in all.iter_mut().enumerate() {
        step.index = i as u32;
    }
    let mut all = with(&all, 0.01);
    level_turns(&mut all);
    all
}

#[test]
fn a_block_is_held_against_its_own_repeats_and_counts_once() {
    // The device gives a fifth less by then: 20 % less at depth is as much as before.
    let all = with_turns(&[(1, 10_000), (8, 50_000)], 64, &[40_000, 40_000, 40_000, 40_000]);
    assert!((all[3].iops() - 50_000.0).abs() < 1e-6, "{}", all[3].iops());
    assert_eq!(all.iter().filter(|o| o.is_neighbour()).count(), 3);
    let limit = attribute(&all, 1);
    assert_eq!(limit.name, LimitName::Device);
    assert_eq!(limit.probes.len(), 1);
    assert!((limit.probes[0].gain.value - 1.0).abs() < 1e-9);
    // Levelled again, it is the same.
    let mut again = all.clone();
    level_turns(&mut again);
    assert_eq!(again, all);
    // A drift within the block cancels: 40, 38, 36, 34.
    let drifting = with_turns(&[(1, 10_000), (8, 50_000)], 64, &[40_000, 38_000, 36_000, 34_000]);
    assert!((drifting[3].iops() - 50_000.0).abs() < 1e-6, "{}", drifting[3].iops());
    // Four steps of 1 % each: the gain is known to 1 %.
    assert!((drifting[3].rel_half_width().expect("known") - 0.01).abs() < 1e-9);
}

#[test]
fn a_block_that_was_stopped_says_what_it_can() {
    let only_base = with_turns(&[(1, 10_000), (8, 50_000)], 64, &[40_000]);
    assert!(!only_base[2].is_neighbour());
    let one_pair = with_turns(&[(1, 10_000), (8, 50_000)], 64, &[40_000, 44_000]);
    assert!((one_pair[3].iops() - 55_000.0).abs() < 1e-6);
}

#[test]
fn time_is_spent_on_what_is_least_settled_the_headline_first() {
    let of = |steps: &[(Step, StepRecord)]| next_step(&with(steps, 0.02), &[]);
    // All settled.
    let flat: Vec<_> =
        [(1, 12_000), (8, 49_500), (64, 50_000), (128, 50_100)].map(|(d, n)| observed(1, d, n, 0.2)).into();
    assert_eq!(of(&flat), None);
    // The deepest rung is by far the best: one more.
    let rising: Vec<_> = [(1, 10_000), (8, 80_000), (16, 158_000)].map(|(d, n)| observed(1, d, n, 0.2)).into();
    match of(&rising) {
        Some(NextStep::Rung(step)) => {
            assert_eq!((step.load.queue_depth, step.phase), (32, Phase::Measure));
        }
        other => panic!("{other:?}"),
    }
    // A step by itself is what was asked for.
    assert!(!matches!(of(&rising[2..]), Some(NextStep::Rung(_))));
    // The knee: deeper decides; once that was tried, what else may be.
    let knee: Vec<_> = [(1, 10_000), (4, 36_000), (8, 46_000)].map(|(d, n)| observed(1, d, n, 0.2)).into();
    let all = with(&knee, 0.02);
    match next_step(&all, &[]) {
        Some(NextStep::Probe { at, probe }) => assert!(at == 2 && probe.step.load.queue_depth > 8, "{probe:?}"),
        Some(NextStep::Rung(step)) => assert_eq!(step.load.queue_depth, 16),
        None => panic!("nothing is settled there"),
    }
}
