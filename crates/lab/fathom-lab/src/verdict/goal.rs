//! Which is the highest load that keeps the latencies asked for? Answered for any study whose steps carry a goal.

use fathom_plan::LatencyGoal;
use fathom_units::{format_iops, format_ns};

use super::is_of_reference;
use super::parts::{Loads, by_kind, depth_of, figure, is_held, measured, ns_with_interval, rate_of};
use crate::document::{StepView, Verdict};

/// Headline figures at most: one of each kind of load.
const FIGURES_MAX: usize = 6;

/// A latency of the goal.
#[derive(Clone, Copy)]
struct Term {
    name: &'static str,
    most_ns: u64,
}

/// What a load does with the goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// The upper ends of the intervals lie within it.
    Meets,
    /// The lower end of an interval lies beyond it.
    Misses,
    /// The rate was not sustained, so that no latency belongs to it.
    NotHeld,
    /// The goal lies inside an interval, or a latency or its interval is not known.
    Unknown,
}

/// An answer for each goal that steps carry, of a comparison those of its reference; empty without goals, and where nothing was measured.
pub(super) fn verdicts(steps: &[StepView]) -> Vec<Verdict> {
    let mut goals: Vec<LatencyGoal> = Vec::new();
    for goal in steps.iter().filter_map(|s| s.role.latency_goal) {
        if !goals.contains(&goal) {
            goals.push(goal);
        }
    }
    goals.into_iter().filter_map(|goal| verdict(goal, steps)).collect()
}

fn verdict(goal: LatencyGoal, steps: &[StepView]) -> Option<Verdict> {
    let terms = terms(goal);
    let with_goal = |s: &&StepView| s.role.latency_goal == Some(goal) && is_of_reference(s);
    let kinds = by_kind(measured(steps).into_iter().filter(with_goal));
    if kinds.is_empty() {
        return None;
    }
    let words: Vec<String> = terms.iter().map(|t| format!("{} <= {}", t.name, format_ns(t.most_ns as f64))).collect();
    let best = |kind: &Loads<'_>| {
        let (closed, open) = halves(kind);
        highest(&terms, &open).or_else(|| highest(&terms, &closed)).map(|step| (kind.name.clone(), step.clone()))
    };
    let figures = kinds.iter().filter_map(best).take(FIGURES_MAX);
    Some(Verdict {
        question: format!("Which is the highest load with {}?", words.join(" and ")),
        answer: kinds.iter().map(|k| answer(&terms, k)).collect::<Vec<_>>().join(" "),
        evidence: terms.iter().flat_map(|t| kinds.iter().map(|k| upper_ends(*t, k))).collect(),
        would_help: Vec::new(),
        // They stand with the study's own answer.
        caveats: Vec::new(),
        figures: figures
            .map(|(kind, step)| {
                figure(&format!("highest load that meets the goal, {kind}"), step.iops, "iops", step.iops_ci95, &step)
            })
            .collect(),
    })
}

fn terms(goal: LatencyGoal) -> Vec<Term> {
    let term = |name, most: Option<u64>| most.map(|most_ns| Term { name, most_ns });
    [term("mean", goal.mean_ns), term("p99", goal.p99_ns)].into_iter().flatten().collect()
}

/// The closed loops of a kind from the fewest in flight on, and its rates from the lowest on.
fn halves<'a>(kind: &Loads<'a>) -> (Vec<&'a StepView>, Vec<&'a StepView>) {
    let (mut closed, mut open): (Vec<_>, Vec<_>) = kind.steps.iter().copied().partition(|s| s.rate_iops.is_none());
    closed.sort_by_key(|s| s.threads * s.queue_depth);
    open.sort_by(|a, b| rate_of(a).total_cmp(&rate_of(b)));
    (closed, open)
}

/// The figure of a term and the interval around it.
fn known(term: Term, step: &StepView) -> Option<(f64, Option<&[u64; 2]>)> {
    let lat = step.lat_ns.as_ref()?;
    let value = if term.name == "mean" { Some(lat.mean) } else { lat.p99.map(|ns| ns as f64) };
    Some((value?, lat.ci95.get(term.name)))
}

fn outcome(terms: &[Term], step: &StepView) -> Outcome {
    if !is_held(step) {
        return Outcome::NotHeld;
    }
    let one = |term: &Term| match known(*term, step) {
        Some((_, Some([_, high]))) if *high <= term.most_ns => Outcome::Meets,
        Some((_, Some([low, _]))) if *low > term.most_ns => Outcome::Misses,
        _ => Outcome::Unknown,
    };
    let all: Vec<Outcome> = terms.iter().map(one).collect();
    [Outcome::Misses, Outcome::Unknown].into_iter().find(|o| all.contains(o)).unwrap_or(Outcome::Meets)
}

/// The highest load that meets the goal each time it was measured.
fn highest<'a>(terms: &[Term], sorted: &[&'a StepView]) -> Option<&'a StepView> {
    let key = |s: &StepView| (s.threads, s.queue_depth, s.rate_iops.map(f64::to_bits));
    let meets = |s: &&&StepView| {
        sorted.iter().filter(|o| key(o) == key(s)).all(|repeat| outcome(terms, repeat) == Outcome::Meets)
    };
    sorted.iter().rev().find(meets).copied()
}

fn answer(terms: &[Term], kind: &Loads<'_>) -> String {
    let (closed, open) = halves(kind);
    let parts: Vec<String> = [("offered rate", "highest", open), ("closed loop", "deepest", closed)]
        .into_iter()
        .filter(|(_, _, steps)| !steps.is_empty())
        .map(|(what, most, steps)| format!("For {}, {}.", kind.name, up_to(terms, what, most, &steps)))
        .collect();
    parts.join(" ")
}

/// In words the highest of these loads that meets the goal, the first that misses it, and how many tell neither.
fn up_to(terms: &[Term], what: &str, most: &str, sorted: &[&StepView]) -> String {
    let is = |step: &StepView, outcomes: &[Outcome]| outcomes.contains(&outcome(terms, step));
    let miss = sorted.iter().find(|s| is(s, &[Outcome::Misses, Outcome::NotHeld])).map(|s| load_words(terms, s));
    let untold = sorted.iter().filter(|s| is(s, &[Outcome::Unknown])).count();
    let told = match (highest(terms, sorted), miss) {
        (Some(best), Some(miss)) => {
            format!("the {most} {what} that meets it is {}, the first that misses it {miss}", load_words(terms, best))
        }
        (Some(best), None) => {
            format!("the {most} {what} that meets it is {}, and none misses it", load_words(terms, best))
        }
        (None, Some(miss)) => format!("no {what} is known to meet it, the first that misses it is {miss}"),
        (None, None) => return format!("no {what} was measured long enough to tell"),
    };
    if untold == 0 { told } else { format!("{told}, and {untold} of {} cannot be told", sorted.len()) }
}

/// `69.0k IOPS with p99 800 us (95 % interval 780 us to 820 us)`.
fn load_words(terms: &[Term], step: &StepView) -> String {
    let load = load(step);
    if outcome(terms, step) == Outcome::NotHeld {
        return format!("{load}, which was not held");
    }
    let figures = terms.iter().map(|term| match known(*term, step) {
        Some((ns, Some(ci95))) => format!("{} {}", term.name, ns_with_interval(ns, Some(ci95))),
        Some((ns, None)) => format!("{} {} without an interval", term.name, format_ns(ns)),
        None => format!("{} not known", term.name),
    });
    format!("{load} with {}", figures.collect::<Vec<_>>().join(" and "))
}

/// `QD 16 (88.0k IOPS)`, `69.0k IOPS`.
fn load(step: &StepView) -> String {
    match step.rate_iops {
        Some(rate) => format!("{} IOPS", format_iops(rate)),
        None => format!("{} ({} IOPS)", depth_of(step), format_iops(step.iops)),
    }
}

/// What decides, load by load.
fn upper_ends(term: Term, kind: &Loads<'_>) -> String {
    let (closed, open) = halves(kind);
    let of_step = |step: &&StepView| {
        let load = step.rate_iops.map_or_else(|| depth_of(step), |rate| format!("{} IOPS", format_iops(rate)));
        match known(term, step) {
            _ if !is_held(step) => format!("{load} not held"),
            Some((_, Some([_, high]))) => format!("{load} {}", format_ns(*high as f64)),
            _ => format!("{load} too short"),
        }
    };
    let parts: Vec<String> = closed.iter().chain(&open).map(of_step).collect();
    format!("{}, upper end of the interval of {}: {}.", kind.name, term.name, parts.join(" · "))
}
