//! Comparisons of documents made by hand.

use fathom_language::english;
use fathom_message::{Message, msg};
use fathom_plan::{Block, EngineName, LabelPart, Placement, RateProcess, Step};
use serde_json::json;

use super::*;
use crate::document::{Design, Document, Merit, StepState};
use crate::samples::{self, document};

fn at_depth(index: u32, queue_depth: u32) -> Step {
    let mut step = samples::step();
    step.index = index;
    step.load.queue_depth = queue_depth;
    step.label = format!("4k random read T1 QD{queue_depth}");
    step
}

/// QD 1, 2, 4... with these IOPS.
fn ladder(id: i64, host: serde_json::Value, iops: &[f64]) -> Document {
    let steps = (0..).zip(iops).map(|(i, iops)| {
        let step = at_depth(i, 1 << i);
        samples::view(&step, *iops, f64::from(1 << i) / iops * 1e6)
    });
    document(id, host, steps.collect())
}

/// Sides of one run each, with no other run in the lab.
fn single(runs: &[&Document]) -> Result<Comparison, CompareRunsError> {
    compare_runs(&runs.iter().map(|run| vec![*run]).collect::<Vec<_>>(), &[], MARGIN_PCT)
}

/// Sides of three runs of the same each, 0.1 % apart.
fn thrice(runs: &[&Document]) -> Result<Comparison, CompareRunsError> {
    let sides: Vec<Vec<Document>> = runs.iter().map(|run| repeated(run, &[1.0, 1.001, 0.999])).collect();
    compare_runs(&sides.iter().map(|side| side.iter().collect()).collect::<Vec<_>>(), &[], MARGIN_PCT)
}

/// Runs of the same whose figures differ by these factors.
fn repeated(run: &Document, factors: &[f64]) -> Vec<Document> {
    let one = |(place, factor): (i64, &f64)| {
        let mut again = run.clone();
        again.run.id += 100 * place;
        for step in &mut again.steps {
            step.iops *= factor;
            step.iops_ci95 = step.iops_ci95.map(|ends| ends.map(|end| end * factor));
            if let Some(lat) = &mut step.lat_ns {
                lat.mean /= factor;
            }
        }
        again
    };
    (0..).zip(factors).map(one).collect()
}

#[test]
fn each_step_has_its_ratio_and_verdict_and_the_environment_comes_first() {
    let a = ladder(6, json!({"kernel": "6.1", "cpu_model": "X"}), &[10e3, 20e3, 40e3, 80e3]);
    let b = ladder(7, json!({"kernel": "6.12", "cpu_model": "X"}), &[10e3, 18e3, 44e3, 80.2e3]);
    let c = thrice(&[&a, &b]).unwrap();
    let verdicts: Vec<Speed> = c.steps.iter().map(|s| s.verdict).collect();
    assert_eq!(verdicts, [Speed::Same, Speed::Slower, Speed::Faster, Speed::Same]);
    assert!((c.steps[1].ratio.unwrap() - 0.9).abs() < 1e-9);
    let [low, high] = c.steps[1].ci95.unwrap();
    assert!(low > 0.89 && high < 0.91, "{low} {high}");
    assert_eq!(c.environment.len(), 1);
    assert_eq!(
        (c.environment[0].what.id(), english(c.environment[0].values[1].as_ref().unwrap()).as_str()),
        ("compare-kernel", "6.12")
    );
    let answer = english(&c.answer);
    assert!(answer.contains("of 4 steps 1 faster, 1 slower, 2 the same within 2 %"), "{answer}");
    assert!(answer.contains("Most slower: 4k random read T1 QD2, -10.0 %"), "{answer}");
    assert_eq!(c.slower_by(0.03).count(), 1);
    assert_eq!(c.slower_by(0.12).count(), 0);
    assert_eq!(c.steps[1].metrics.iter().map(|m| m.name).collect::<Vec<_>>(), ComparedFigure::ALL[..3]);
    assert_eq!(c.steps[1].metrics[1].verdict, Merit::Worse, "latency grew as IOPS fell");
}

#[test]
fn a_third_run_is_set_against_the_first() {
    let a = ladder(1, json!({}), &[10e3, 20e3]);
    let c = thrice(&[&a, &a, &ladder(3, json!({}), &[12e3, 20e3])]).unwrap();
    let seen: Vec<(&str, Speed)> = c.steps.iter().map(|s| (s.side.as_str(), s.verdict)).collect();
    assert_eq!(seen, [("B", Speed::Same), ("B", Speed::Same), ("C", Speed::Faster), ("C", Speed::Same)]);
    assert!(c.environment.is_empty());
}

#[test]
fn engines_are_compared_where_nothing_else_differs_and_the_note_says_so() {
    let a = ladder(1, json!({}), &[10e3]);
    let mut b = ladder(2, json!({}), &[12e3]);
    b.steps[0].engine = EngineName::Libaio;
    b.steps[0].label = "4k random read T1 QD1 libaio".into();
    let c = single(&[&a, &b]).unwrap();
    assert_eq!(samples::words(&c.steps[0].notes), ["engine io_uring against libaio"]);
    // Two engines on one side: which of them is meant is unknown.
    let mut both = b.clone();
    both.steps.push(a.steps[0].clone());
    both.steps[1].engine = EngineName::Psync;
    assert!(matches!(single(&[&a, &both]), Err(CompareRunsError::NothingMatches { .. })));
}

#[test]
fn rates_that_are_shares_pair_by_their_share_and_the_note_tells_the_rates() {
    let run = |id, rates: [f64; 2]| {
        let steps = (0..).zip([50, 75]).zip(rates).map(|((index, pct), iops)| {
            let mut step = at_depth(index, 8);
            let process = RateProcess::Poisson;
            step.role.rate_share = Some(fathom_plan::RateShare { pct, process });
            step.load.rate = Some(fathom_plan::Rate { iops, process });
            step.label += &format!(" at {pct} % of max");
            samples::view(&step, iops, 100.0)
        });
        document(id, json!({}), steps.collect())
    };
    let c = single(&[&run(1, [50e3, 75e3]), &run(2, [40e3, 75e3])]).unwrap();
    assert!(c.unmatched.is_empty(), "{:?}", c.unmatched);
    assert_eq!(samples::words(&c.steps[0].notes), ["rate 50.0k against 40.0k"]);
    assert!(c.steps[1].notes.is_empty(), "{:?}", c.steps[1].notes);
    assert_eq!(c.steps[0].metric, ComparedFigure::LatMean);
}

#[test]
fn what_has_no_partner_is_listed_with_the_reason() {
    let a = ladder(1, json!({}), &[10e3, 20e3, 40e3]);
    let mut b = ladder(2, json!({}), &[10e3, 20e3]);
    b.steps[1].ios = 0;
    b.steps[1].state = StepState::Refused;
    b.steps[1].reason = Some(Message::verbatim("no such engine"));
    let c = single(&[&a, &b]).unwrap();
    let alone: Vec<(&str, String)> = c.unmatched.iter().map(|u| (u.side.as_str(), english(&u.why))).collect();
    assert_eq!(
        alone,
        [("A", "refused on B: no such engine"), ("A", "B has no such step"), ("B", "refused: no such engine")]
            .map(|(side, why)| (side, why.to_owned()))
    );
    assert_eq!(c.unmatched.iter().map(|u| u.lost).collect::<Vec<_>>(), [true, false, false]);
    assert_eq!(single(&[&a]).unwrap_err(), CompareRunsError::TooFew(1));
}

#[test]
fn a_figure_without_an_interval_is_inconclusive_and_says_why() {
    let a = ladder(1, json!({}), &[10e3]);
    let mut b = ladder(2, json!({}), &[20e3]);
    b.steps[0].iops_ci95 = None;
    let c = single(&[&a, &b]).unwrap();
    assert_eq!((c.steps[0].verdict, c.steps[0].ratio, c.steps[0].ci95), (Speed::Inconclusive, Some(2.0), None));
    assert_eq!(c.steps[0].notes, [msg!("compare-note-no-interval")]);
}

#[test]
fn a_reason_of_some_inconclusive_steps_is_not_that_of_all() {
    let a = ladder(1, json!({}), &[10e3, 10e3]);
    let mut b = ladder(2, json!({}), &[10.2e3, 20e3]);
    b.steps[1].iops_ci95 = None;
    let mut c = single(&[&a, &b]).unwrap();
    c.steps[0].ci95 = Some([0.8, 1.3]);
    c.steps[0].inconclusive = Some(msg!("compare-why-interval"));
    c.steps[1].inconclusive = Some(msg!("compare-note-no-interval"));
    let said = english(&words::answer(&c));
    assert!(said.contains("1 of 2 inconclusive steps: a side has no interval"), "{said}");
}

#[test]
fn with_a_given_rate_latency_decides() {
    let with_rate = |id: i64, lat_us: f64| {
        let mut step = samples::step();
        step.load.rate = Some(fathom_plan::Rate { iops: 1000.0, process: RateProcess::Fixed });
        let mut view = samples::view(&step, 1000.0, lat_us);
        let ns = (lat_us * 1000.0) as u64;
        view.lat_ns.as_mut().unwrap().ci95.insert("mean".into(), [ns - ns / 100, ns + ns / 100]);
        document(id, json!({}), vec![view])
    };
    let c = thrice(&[&with_rate(1, 100.0), &with_rate(2, 80.0)]).unwrap();
    assert_eq!((c.steps[0].metric, c.steps[0].verdict), (ComparedFigure::LatMean, Speed::Faster));
    assert!((c.steps[0].ratio.unwrap() - 1.25).abs() < 1e-9);
}

/// A run that measured QD 1 and 16 unpinned and pinned in turns, with these ratios and a drift.
fn in_turns(ratios: [f64; 2], passes: u32) -> Document {
    let (mut steps, mut planned) = (Vec::new(), Vec::new());
    for (cell, ratio) in (0..).zip(ratios) {
        for pass in 0..passes {
            for (arm_index, arm) in [(0, "placement=unpinned"), (1, "placement=cores")] {
                let mut step = at_depth(steps.len() as u32, [1, 16][cell as usize]);
                step.role.block = Some(Block { cell, pass, arm: arm.into(), arm_index, arm_parts: Vec::new() });
                if arm_index == 1 {
                    step.placement = Placement::Cores;
                    step.label += " pinned";
                    step.role.label_parts = vec![LabelPart::Placement];
                }
                let wobble = 1.0 + 0.004 * f64::from((pass * 7 + arm_index * 3) % 5);
                let drift = 1.0 - 0.02 * f64::from(pass);
                planned.push(step.clone());
                steps.push(samples::view(
                    &step,
                    50e3 * drift * wobble * if arm_index == 1 { ratio } else { 1.0 },
                    20.0,
                ));
            }
        }
    }
    let mut run = document(9, json!({}), steps);
    run.run.plan.steps = planned;
    run
}

#[test]
fn the_sides_of_one_run_are_compared_in_pairs_so_that_drift_cancels() {
    let c = compare_arms(&in_turns([1.26, 1.0], 6), MARGIN_PCT).unwrap();
    let titles: Vec<Option<&str>> = c.sides.iter().map(|s| s.title.as_verbatim()).collect();
    assert_eq!(titles, [Some("placement=unpinned"), Some("placement=cores")]);
    assert_eq!(c.steps.len(), 2);
    let (one, deep) = (&c.steps[0], &c.steps[1]);
    assert_eq!((one.design, one.verdict, one.label.as_str()), (Design::Paired, Speed::Faster, "4k random read T1 QD1"));
    assert!((one.ratio.unwrap() - 1.26).abs() < 0.01);
    assert_eq!((one.metrics[0].pairs.len(), one.steps_a.len()), (6, 6));
    assert_eq!(deep.verdict, Speed::Same);
    assert!(compare_arms(&ladder(1, json!({}), &[1.0, 2.0]), MARGIN_PCT).is_none());
}

#[test]
fn a_cell_with_too_few_pairs_falls_back_to_the_intervals_of_its_steps() {
    let c = compare_arms(&in_turns([1.26, 1.0], 2), MARGIN_PCT).unwrap();
    assert_eq!((c.steps[0].design, c.steps[0].verdict), (Design::Unpaired, Speed::Faster));
}
