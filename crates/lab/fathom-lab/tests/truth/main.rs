//! How often attribution is right: random simulated machines, judged by the simulator's own utilisations.
//!
//! A case is a machine whose parts have capacities at random margins, a ladder of loads on it, noise on what was
//! measured, and every step attributed as a run's would be. What really holds a step is read from the simulator, never
//! from the rules: whether more in flight brings more (the deeper steps, run without noise), and otherwise which part is
//! the busiest. `make truth` runs all cases and writes docs/TRUTH.md; a part of them is a test.

mod arrays;
mod case;
mod gaps;
mod machine;
mod noise;
mod page;
mod raid_band;
mod score;
mod verdict;

use score::Score;

/// Cases of the short form; `FATHOM_TRUTH_CASES` sets another number, `FATHOM_TRUTH_FIRST` where they begin.
const CASES_SHORT: u64 = 400;
/// Cases from here on; those before were looked at while the constants of attribution were chosen.
const FIRST: u64 = 10_000;
/// Share of what is said with 90 % that may be wrong, and the expected calibration error: the targets.
const SURE_WRONG_MAX: f64 = 0.02;
const CALIBRATION_ERROR_MAX: f64 = 0.05;
/// Cases are run by so many threads.
const THREADS: u64 = 2;

fn run(first: u64, cases: u64) -> Score {
    let of = |offset: u64| {
        let mut score = Score::default();
        (first + offset..first + cases).step_by(THREADS as usize).for_each(|seed| score.add(case::judged(seed)));
        score
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|offset| scope.spawn(move || of(offset))).collect();
        let mut whole = Score::default();
        threads.into_iter().for_each(|thread| whole.join(thread.join().expect("a case does not panic")));
        whole
    })
}

/// Said 90 %: right nine times in ten; the targets are those of the product, stated in the page.
#[test]
fn what_limits_a_simulated_machine_is_said_with_a_probability_that_is_earned() {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let cases = number("FATHOM_TRUTH_CASES").unwrap_or(CASES_SHORT);
    let score = run(number("FATHOM_TRUTH_FIRST").unwrap_or(FIRST), cases);
    let text = page::page(&score, cases);
    if let Some(path) = std::env::var_os("FATHOM_TRUTH_PAGE") {
        std::fs::write(path, &text).expect("the page can be written");
    }
    if let Some(path) = std::env::var_os("FATHOM_TRUTH_ROWS") {
        std::fs::write(path, page::rows(&score)).expect("the rows can be written");
    }
    let (sure, sure_wrong) = score.sure();
    // The same cases every time: what is asserted is the target, and no room for chance.
    let wrong_share = f64::from(sure_wrong) / f64::from(sure.max(1));
    assert!(wrong_share <= SURE_WRONG_MAX, "{sure_wrong} of {sure} said with 90 % are wrong");
    let error = score.calibration_error();
    assert!(error <= CALIBRATION_ERROR_MAX, "expected calibration error {error}");
    assert!(f64::from(sure) >= 0.4 * f64::from(score.steps()), "an answer is given: {sure} of {}", score.steps());
}

/// Machines on which the closed form is held against the simulator; `FATHOM_GAP_CASES` sets another number.
const GAP_CASES: u64 = 60;
/// The goal for the middle of the gaps, and what 95 % of them keep today, which the next change may not lose: its goal is 0.2.
const GAP_MEDIAN_MAX: f64 = 0.05;
const GAP_MOST_MAX: f64 = 0.4;

#[test]
fn the_closed_form_and_the_simulator_agree() {
    let cases = std::env::var("FATHOM_GAP_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(GAP_CASES);
    let of = |offset: u64| (FIRST + offset..FIRST + cases).step_by(THREADS as usize).flat_map(gaps::gaps);
    let all: Vec<gaps::Gap> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|offset| scope.spawn(move || of(offset).collect::<Vec<_>>())).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a case does not panic")).collect()
    });
    for (variable, text) in [("FATHOM_GAP_PAGE", gaps::page(&all, cases)), ("FATHOM_GAP_ROWS", gaps::rows(&all))] {
        if let Some(path) = std::env::var_os(variable) {
            std::fs::write(path, text).expect("the page can be written");
        }
    }
    let known: Vec<&gaps::Gap> = all.iter().filter(|gap| gap.kind != gaps::Kind::Lock).collect();
    let (median, most) = (gaps::quantile(&known, 0.5), gaps::quantile(&known, 0.95));
    assert!(median <= GAP_MEDIAN_MAX && most <= GAP_MOST_MAX, "median {median:.3}, 95 % within {most:.3}");
}

/// Arrays on which the closed form is held against the simulator; `FATHOM_ARRAY_CASES` sets another number.
const ARRAY_CASES: u64 = 40;
/// What nine of ten keep.
const ARRAY_MOST_MAX: f64 = 0.25;

#[test]
fn the_closed_form_and_the_simulator_agree_on_arrays_of_every_maker_whole_and_degraded() {
    let cases = std::env::var("FATHOM_ARRAY_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(ARRAY_CASES);
    let of = |offset: u64| (offset..cases).step_by(THREADS as usize).flat_map(arrays::gaps);
    let mut all: Vec<arrays::ArrayGap> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|offset| scope.spawn(move || of(offset).collect::<Vec<_>>())).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a case does not panic")).collect()
    });
    all.sort_by(|a, b| a.relative().abs().total_cmp(&b.relative().abs()));
    if let Some(path) = std::env::var_os("FATHOM_ARRAY_ROWS") {
        let row = |gap: &arrays::ArrayGap| {
            let (x, y) = (gap.predicted_iops, gap.simulated_iops);
            format!("{:+.3} {} {}: {x:.0} predicted, {y:.0} simulated\n", gap.relative(), gap.what, gap.limit)
        };
        std::fs::write(path, all.iter().map(row).collect::<String>()).expect("the rows can be written");
    }
    let quantile = |of: &[&arrays::ArrayGap], share: f64| {
        of.get(((of.len().max(1) - 1) as f64 * share) as usize).map_or(f64::NAN, |gap| gap.relative().abs())
    };
    let every: Vec<_> = all.iter().collect();
    let (median, most) = (quantile(&every, 0.5), quantile(&every, 0.9));
    assert!(median <= GAP_MEDIAN_MAX && most <= ARRAY_MOST_MAX, "median {median:.3}, 90 % within {most:.3}");
    for maker in ["card", "cached card", "md", "user space"] {
        let of: Vec<_> = all.iter().filter(|gap| gap.maker == maker).collect();
        assert!(quantile(&of, 0.5) <= GAP_MEDIAN_MAX, "{maker}: median {:.3} of {}", quantile(&of, 0.5), of.len());
    }
    let degraded: Vec<_> = all.iter().filter(|gap| gap.is_degraded).collect();
    assert!(quantile(&degraded, 0.5) <= GAP_MEDIAN_MAX, "degraded: median {:.3}", quantile(&degraded, 0.5));
}
