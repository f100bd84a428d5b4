//! How often comparisons of runs are right, on runs made by chance whose truth is known.

use fathom_random::Rng;
use fathom_stats::tables::{cases, margin};
use serde_json::json;

use super::*;
use crate::document::{Design, Document, SpreadSource, StepView};
use crate::samples;

/// Trials of the whole table.
const TRIALS: u64 = 500;
const LADDERS: u64 = 200;
/// Spread from run to run of the figures, as a share.
const WOBBLES: [f64; 4] = [0.0, 0.005, 0.01, 0.02];
/// Standard error within a run that `samples::view` states: half of a 95 % interval of +-0.5 %.
const WITHIN: f64 = 0.005 / 1.96;
/// Steps of a ladder.
const CELLS: u32 = 16;

fn trials() -> u64 {
    cases(100, TRIALS)
}

/// Trials of whole ladders, which take longer.
fn ladders() -> u64 {
    cases(30, LADDERS)
}

/// Limit of a share that should be at most 5 %, seen in the first `n` of `all` trials: 5 % and twice the binomial error of the
/// whole table, 2 sqrt(p (1 - p) / all), and the [`margin`] for the trials left out.
fn at_most_5_percent(n: u64, all: u64) -> f64 {
    0.05 + 2.0 * (0.05 * 0.95 / all as f64).sqrt() + margin(0.05, n, all)
}

/// Standard normal (Box-Muller).
fn normal(rng: &mut Rng) -> f64 {
    let mut uniform = || ((rng.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos()
}

/// A run whose steps stand `change` above what the load gives, with a wobble of the run that is half common to its steps.
fn run(rng: &mut Rng, id: i64, cells: u32, change: f64, wobble: f64) -> Document {
    let common = normal(rng);
    let steps = (0..cells).map(|index| {
        let mut step = samples::step();
        step.index = index;
        step.load.queue_depth = 2 + index;
        step.label = format!("4k random read T1 QD{}", step.load.queue_depth);
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let own = normal(rng);
        let drawn = wobble * half * (common + own) + WITHIN * normal(rng);
        samples::view(&step, 100_000.0 * change * drawn.exp(), 80.0)
    });
    samples::document(id, json!({ "cores": 8, "cpu_model": "X" }), steps.collect())
}

fn side(rng: &mut Rng, first: i64, runs: usize, cells: u32, change: f64, wobble: f64) -> Vec<Document> {
    (0..runs as i64).map(|i| run(rng, first + i, cells, change, wobble)).collect()
}

fn past_run(d: Document) -> PastRun {
    PastRun { run: d.run.id, fathom: d.fathom, machine: None, host: d.host, steps: d.steps }
}

/// Two sides of `runs` each, and `past` runs of the same as the first in the lab.
fn trial(seed: u64, (runs, past, cells): (usize, usize, u32), change: f64, wobble: f64) -> Comparison {
    let mut rng = Rng::new(seed, 5);
    let a = side(&mut rng, 1, runs, cells, 1.0, wobble);
    let b = side(&mut rng, 11, runs, cells, change, wobble);
    let past = side(&mut rng, 101, past, cells, 1.0, wobble);
    let past: Vec<PastRun> = past.into_iter().map(past_run).collect();
    compare_runs(&[a.iter().collect(), b.iter().collect()], &past, MARGIN_PCT).expect("alike")
}

/// Share of trials with a step that has one of these verdicts.
fn share(design: (usize, usize, u32), change: f64, wobble: f64, verdicts: &[Speed]) -> f64 {
    let any = |seed: &u64| trial(*seed, design, change, wobble).steps.iter().any(|s| verdicts.contains(&s.verdict));
    let trials = if design.2 > 1 { ladders() } else { trials() };
    (0..trials).filter(any).count() as f64 / trials as f64
}

/// Prints what a test found; seen with `--nocapture`.
#[allow(clippy::print_stdout, reason = "tests of rates print what they found")]
fn tell(line: &str) {
    println!("{line}");
}

const DIFFERENT: [Speed; 2] = [Speed::Faster, Speed::Slower];

#[test]
fn runs_of_the_same_are_called_different_in_at_most_5_percent_whatever_differs_from_run_to_run() {
    for past in [0, 5] {
        for runs in [1, 2, 3, 5] {
            let shares = WOBBLES.map(|wobble| share((runs, past, 1), 1.0, wobble, &DIFFERENT));
            tell(&format!("A/A, {runs} a side, {past} past runs, wobble 0, 0.5, 1, 2 %: different in {shares:?}"));
            assert!(
                shares.iter().all(|s| *s <= at_most_5_percent(trials(), TRIALS)),
                "{runs} a side, {past} past runs: {shares:?}"
            );
        }
    }
}

#[test]
fn any_step_of_a_ladder_of_the_same_is_called_different_in_at_most_5_percent_of_ladders() {
    for (runs, past) in [(1, 5), (3, 0), (5, 0)] {
        let shares = WOBBLES.map(|wobble| share((runs, past, CELLS), 1.0, wobble, &DIFFERENT));
        tell(&format!("A/A ladder of {CELLS}, {runs} a side, {past} past runs: any different in {shares:?}"));
        assert!(
            shares.iter().all(|s| *s <= at_most_5_percent(ladders(), LADDERS)),
            "{runs} a side, {past} past runs: {shares:?}"
        );
    }
}

#[test]
fn a_change_of_5_percent_is_found_with_five_runs_a_side_or_a_ledger() {
    for (runs, past, least) in [(5, 0, 0.99), (3, 0, 0.95), (1, 5, 0.9), (1, 0, 0.0)] {
        let found = share((runs, past, 1), 0.95, 0.005, &[Speed::Slower]);
        tell(&format!("-5 % at a wobble of 0.5 %, {runs} a side, {past} past runs: found in {found}"));
        let room = margin(least, trials(), TRIALS);
        assert!(found >= least - room && (least > 0.0 || found == 0.0), "{runs} a side, {past} past runs: {found}");
    }
}

#[test]
fn sides_of_too_few_runs_are_inconclusive_without_other_runs_and_say_so() {
    for (runs, words) in [(1, "A: 1, B: 1"), (2, "A: 2, B: 2")] {
        let c = trial(1, (runs, 0, 1), 0.5, 0.0);
        let step = &c.steps[0];
        assert_eq!((step.verdict, step.ci95, step.spread), (Speed::Inconclusive, None, None));
        assert!((step.ratio.expect("a ratio") - 0.5).abs() < 0.02);
        let why = fathom_language::english(step.inconclusive.as_ref().expect("a reason"));
        assert!(why.contains(words) && why.contains("use three runs per side"), "{why}");
        assert!(fathom_language::english(&c.answer).contains(words), "{:?}", c.answer);
    }
    // Two past runs tell one difference: not enough.
    assert_eq!(trial(1, (1, 2, 1), 0.5, 0.0).steps[0].spread, None);
}

#[test]
fn the_answer_says_which_spread_was_used_and_how_many_runs_tell_it() {
    let own = trial(1, (3, 4, 1), 0.9, 0.005);
    let used = own.steps[0].spread.expect("known");
    assert_eq!((used.source, used.runs, own.steps[0].design), (SpreadSource::Runs, 6, Design::Unpaired));
    let answer = fathom_language::english(&own.answer);
    assert!(answer.contains("from the 6 runs compared"), "{answer}");
    let known = trial(1, (1, 4, 1), 0.9, 0.005);
    let used = known.steps[0].spread.expect("known");
    assert_eq!((used.source, used.runs), (SpreadSource::Ledger, 4));
    assert!((used.freedom - 3.0).abs() < 1e-9 && (0.1..2.0).contains(&used.pct), "{used:?}");
    let answer = fathom_language::english(&known.answer);
    assert!(answer.contains("from 4 runs of this kind of load on this host"), "{answer}");
}

#[test]
fn runs_of_another_host_another_kind_of_load_or_other_surroundings_are_not_the_same() {
    let mut rng = Rng::new(7, 5);
    let (a, b) = (run(&mut rng, 1, 1, 1.0, 0.0), run(&mut rng, 2, 1, 0.9, 0.0));
    let past = side(&mut rng, 101, 4, 1, 1.0, 0.01);
    let spread = |change: &dyn Fn(usize, &mut PastRun)| {
        let of_past = |(i, d): (usize, &Document)| {
            let mut run = past_run(d.clone());
            change(i, &mut run);
            run
        };
        let past: Vec<PastRun> = past.iter().enumerate().map(of_past).collect();
        compare_runs(&[vec![&a], vec![&b]], &past, MARGIN_PCT).expect("alike").steps[0].spread
    };
    assert_eq!(spread(&|_, _| {}).map(|s| s.runs), Some(4));
    assert_eq!(spread(&|_, run| run.host["cpu_model"] = "Y".into()), None);
    assert_eq!(spread(&|_, run| run.steps[0].block_size_bytes = 65_536), None);
    assert_eq!(spread(&|i, run| run.host["kernel"] = i.to_string().into()), None, "each on a kernel of its own");
    // Two and two, one of the pairs 20 % up: what changed between the pairs is no spread.
    let pairs = spread(&|i, run| {
        run.host["kernel"] = (i / 2).to_string().into();
        run.steps[0].iops *= if i < 2 { 1.0 } else { 1.2 };
    });
    assert!(pairs.is_some_and(|s| s.runs == 4 && s.freedom == 2.0 && s.pct < 4.0), "{pairs:?}");
    // An import of another tool names no host.
    let mut imported = b.clone();
    imported.host = json!({ "imported_from": "fio.json" });
    let c = compare_runs(&[vec![&a], vec![&imported]], &[], MARGIN_PCT).expect("alike");
    let why = fathom_language::english(c.steps[0].inconclusive.as_ref().expect("a reason"));
    assert!(c.steps[0].verdict == Speed::Inconclusive && why.contains("B does not say on which host"), "{why}");
}

#[test]
fn repeats_of_a_run_are_one_draw_and_a_floor_of_the_spread() {
    // Six repeats of each run agree within 0.1 %; the runs lie 4 % apart, as runs of this host do.
    let mut rng = Rng::new(3, 5);
    let repeats = |rng: &mut Rng, id: i64, change: f64| {
        let mut document = run(rng, id, 1, change, 0.0);
        let one = document.steps[0].clone();
        document.steps = (0..6)
            .map(|index| StepView { index, iops: one.iops * (1.0 + 2e-4 * f64::from(index)), ..one.clone() })
            .collect();
        document
    };
    let (a, b) = (repeats(&mut rng, 1, 1.0), repeats(&mut rng, 2, 0.96));
    let c = compare_runs(&[vec![&a], vec![&b]], &[], MARGIN_PCT).expect("alike");
    assert_eq!((c.steps[0].verdict, c.steps[0].spread), (Speed::Inconclusive, None), "six repeats are not six runs");
    // Past runs that agree by chance and whose repeats do not: the repeats count.
    let past: Vec<PastRun> = (0..3)
        .map(|i| {
            let mut run = PastRun { run: 50 + i, ..past_run(a.clone()) };
            for (step, factor) in run.steps.iter_mut().zip([0.9, 1.1, 0.9, 1.1, 0.9, 1.1]) {
                step.iops = 100_000.0 * factor;
            }
            run
        })
        .collect();
    let c = compare_runs(&[vec![&a], vec![&b]], &past, MARGIN_PCT).expect("alike");
    assert!(c.steps[0].spread.is_some_and(|s| s.pct > 9.0), "{:?}", c.steps[0].spread);
    assert_eq!(c.steps[0].verdict, Speed::Inconclusive);
}

#[test]
fn the_arms_of_an_interleaved_run_do_not_pass_for_spread() {
    // A B B A...: neighbours differ by the 26 % of the arms and by a drift; the legs of an arm hardly.
    let mut past = Vec::new();
    let mut rng = Rng::new(9, 5);
    for id in 0..3 {
        let mut document = run(&mut rng, 60 + id, 1, 1.0, 0.002);
        let one = document.steps[0].clone();
        let legs = [0, 1, 1, 0, 0, 1, 1, 0].into_iter().zip(0..).map(|(arm, index)| {
            let iops = one.iops * if arm == 1 { 1.26 } else { 1.0 };
            let label = if arm == 1 { format!("{} pinned", one.label) } else { one.label.clone() };
            StepView { index, iops, label, ..one.clone() }
        });
        document.steps = legs.collect();
        past.push(past_run(document));
    }
    let (a, b) = (run(&mut rng, 1, 1, 1.0, 0.0), run(&mut rng, 2, 1, 0.9, 0.0));
    let c = compare_runs(&[vec![&a], vec![&b]], &past, MARGIN_PCT).expect("alike");
    assert!(c.steps[0].spread.is_some_and(|s| s.pct < 2.0), "{:?}", c.steps[0].spread);
}
