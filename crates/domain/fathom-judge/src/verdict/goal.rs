//! Which is the highest load that keeps the latencies asked for? Answered for any study whose steps carry a goal.

use fathom_message::{Arg, Join, Message, Quantity, Unit, msg};
use fathom_plan::LatencyGoal;
use fathom_stats::normal_cdf;

use super::brief::{brief, report, row};
use super::is_of_reference;
use super::kind::{Loads, by_kind};
use super::parts::{depth_of, depth_or_rate, figure, iops, is_held, mean, measured, p99, rate_of, sentences};
use crate::document::{Brief, ComparedFigure, GoalView, LatencyView, StepView, Verdict};

/// Headline figures at most: one of each kind of load.
const FIGURES_MAX: usize = 6;
/// Half widths of a 95 % interval in standard errors.
const HALF_WIDTH_ERRORS: f64 = 1.96;
/// Nothing that is inferred is certain.
const PROBABILITY_MAX: f64 = 0.99;

/// A figure of the latency that a goal is about.
#[derive(Clone, Copy)]
enum Figure {
    Mean,
    P99,
}

impl Figure {
    fn of(self, latency: &LatencyView) -> Option<Quantity> {
        match self {
            Figure::Mean => Some(mean(latency)),
            Figure::P99 => p99(latency),
        }
    }

    fn compared(self) -> ComparedFigure {
        match self {
            Figure::Mean => ComparedFigure::LatMean,
            Figure::P99 => ComparedFigure::LatP99,
        }
    }

    fn message(self) -> Message {
        match self {
            Figure::Mean => msg!("verdict-term-mean"),
            Figure::P99 => msg!("verdict-term-p99"),
        }
    }
}

/// A latency of the goal.
#[derive(Clone, Copy)]
pub(super) struct Term {
    figure: Figure,
    most_ns: u64,
}

impl Term {
    /// The latency over what it may be; `None` where it is not known.
    pub(super) fn over_goal(self, step: &StepView) -> Option<f64> {
        known(self, step).map(|figure| figure.value / self.most_ns as f64)
    }
}

/// How loads are made: at a rate, or by so many in flight.
#[derive(Clone, Copy)]
enum Loop {
    Open,
    Closed,
}

impl Loop {
    /// `offered rate`.
    fn message(self) -> Message {
        match self {
            Loop::Open => msg!("verdict-offered-rate"),
            Loop::Closed => msg!("verdict-closed-loop"),
        }
    }

    /// `the highest offered rate`.
    fn most(self) -> Message {
        match self {
            Loop::Open => msg!("verdict-highest-rate"),
            Loop::Closed => msg!("verdict-deepest-loop"),
        }
    }
}

/// What a load does with the goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
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
pub(super) fn verdicts(steps: &[StepView], run: i64) -> Vec<Verdict> {
    asked(steps).into_iter().filter_map(|goal| verdict(goal, steps, run)).collect()
}

/// How far each kind of load keeps each latency that was asked for, by the rules of the answer.
#[must_use]
pub fn goals(steps: &[StepView]) -> Vec<GoalView> {
    let of_goal = |goal: LatencyGoal| {
        let kinds = kinds(goal, steps);
        let one = |term: &Term, kind: &Loads<'_>| GoalView {
            figure: term.figure.compared(),
            most_ns: term.most_ns,
            steps: kind.steps.iter().map(|s| s.index).collect(),
            kept_step: kept(&[*term], kind).map(|s| s.index),
        };
        let of_term = |term: &Term| kinds.iter().map(|kind| one(term, kind)).collect::<Vec<_>>();
        terms(goal).iter().flat_map(of_term).collect::<Vec<_>>()
    };
    asked(steps).into_iter().flat_map(of_goal).collect()
}

/// True if the step was shown neither to keep its latency goal nor to miss it. False without a goal.
pub(crate) fn is_goal_undecided(step: &StepView) -> bool {
    step.role.latency_goal.is_some_and(|goal| outcome(&terms(goal), step) == Outcome::Unknown)
}

/// The goals that steps carry, each once.
fn asked(steps: &[StepView]) -> Vec<LatencyGoal> {
    let mut goals: Vec<LatencyGoal> = Vec::new();
    // Pairs of rates have an answer of their own.
    let of_one_load = steps.iter().filter(|s| s.role.rate_pair.is_none());
    for goal in of_one_load.filter_map(|s| s.role.latency_goal) {
        if !goals.contains(&goal) {
            goals.push(goal);
        }
    }
    goals
}

/// The kinds of load that carry the goal.
fn kinds(goal: LatencyGoal, steps: &[StepView]) -> Vec<Loads<'_>> {
    let with_goal =
        |s: &&StepView| s.role.latency_goal == Some(goal) && s.role.rate_pair.is_none() && is_of_reference(s);
    by_kind(measured(steps).into_iter().filter(with_goal))
}

fn verdict(goal: LatencyGoal, steps: &[StepView], run: i64) -> Option<Verdict> {
    let terms = terms(goal);
    let kinds = kinds(goal, steps);
    if kinds.is_empty() {
        return None;
    }
    let best = |kind: &Loads<'_>| {
        let step = kept(&terms, kind)?;
        Some(figure(msg!("verdict-figure-goal", kind = kind.name()), iops(step), step))
    };
    Some(Verdict {
        question: msg!("verdict-goal-question", terms = words(&terms)),
        brief: first_look(&terms, &kinds, run),
        answer: sentences(kinds.iter().flat_map(|k| answer(&terms, k))),
        evidence: terms.iter().flat_map(|t| kinds.iter().map(|k| upper_ends(*t, k))).collect(),
        would_help: Vec::new(),
        // They are among those of the study's own answer.
        caveats: Vec::new(),
        figures: kinds.iter().filter_map(best).take(FIGURES_MAX).collect(),
    })
}

/// Highest load of the first kind that keeps the goal, and a row for each kind.
fn first_look(terms: &[Term], kinds: &[Loads<'_>], run: i64) -> Brief {
    let goal = || words(terms);
    let best = kinds.iter().find_map(|kind| Some((kind, kept(terms, kind)?)));
    let headline = match best {
        Some((kind, step)) if step.rate_iops.is_some() => msg!(
            "brief-goal-kept-rate",
            kind = kind.name(),
            rate = Quantity::iops(rate_of(step)),
            goal = goal(),
            probability = Quantity::share(probability(terms, step))
        ),
        Some((kind, step)) => {
            msg!("brief-goal-kept", kind = kind.name(), rate = iops(step), load = depth_or_rate(step), goal = goal())
        }
        None => none_kept(terms, kinds),
    };
    let rows = kinds.iter().map(|kind| row(kind.name(), cells(terms, kind)));
    brief(headline, rows, Some(report(run)))
}

/// No load keeps the goal: how many miss it, and how many are too short to tell.
fn none_kept(terms: &[Term], kinds: &[Loads<'_>]) -> Message {
    let asked: Vec<&StepView> = kinds.iter().flat_map(asked_of).collect();
    let missed = asked.iter().filter(|step| misses(terms, step)).count();
    let short = asked.len() - missed;
    let what = if asked.iter().any(|step| step.rate_iops.is_some()) { Loop::Open } else { Loop::Closed };
    msg!("brief-goal-missed", what = what.message(), goal = words(terms), missed = missed, short = short)
}

/// Probability that a load keeps all latencies of the goal, from their intervals, which are of their logarithms.
fn probability(terms: &[Term], step: &StepView) -> f64 {
    let of = |term: &Term| {
        let figure = known(*term, step)?;
        let [low, high] = figure.ci95?;
        let error = (high / low).ln() / (2.0 * HALF_WIDTH_ERRORS);
        let room = (term.most_ns as f64 / figure.value).ln();
        Some(if error > 0.0 { normal_cdf(room / error) } else { 1.0 })
    };
    terms.iter().filter_map(of).fold(1.0, f64::min).min(PROBABILITY_MAX)
}

fn words(terms: &[Term]) -> Arg {
    let one = |t: &Term| msg!("verdict-goal-term", term = t.figure.message(), latency = Quantity::ns(t.most_ns as f64));
    Arg::list(terms.iter().map(one), Join::And)
}

/// `p99 <= 1 ms`.
pub(super) fn goal_words(goal: LatencyGoal) -> Arg {
    words(&terms(goal))
}

/// Outcomes of a kind of load: the highest load that keeps the goal, the lowest that misses it, the number of those that are too
/// short to tell, and the closed loop next to offered rates.
fn cells(terms: &[Term], kind: &Loads<'_>) -> Vec<Message> {
    let (closed, open) = halves(kind);
    let asked = asked_of(kind);
    let per_s = |rate: f64| Quantity::new(rate, Unit::PerS);
    let kept = highest(terms, &asked).map(|step| match step.rate_iops {
        Some(_) => msg!("brief-cell-offered", rate = per_s(rate_of(step))),
        None => msg!("brief-cell-kept", rate = iops(step), load = depth_of(step)),
    });
    let missed = asked.iter().find(|step| misses(terms, step)).map(|step| match step.rate_iops {
        Some(_) => msg!("brief-cell-missed", load = per_s(rate_of(step))),
        None => msg!("brief-cell-missed", load = depth_of(step)),
    });
    let short = asked.iter().filter(|step| outcome(terms, step) == Outcome::Unknown).count();
    let none = (kept.is_none() && short == 0).then(|| msg!("brief-goal-none"));
    // Between a rate that keeps the goal and one that misses it they change nothing.
    let is_bracketed = kept.is_some() && missed.is_some();
    let short = (short > 0 && !is_bracketed).then(|| msg!("brief-cell-short", count = short));
    let next_to_it = highest(terms, &closed).filter(|_| !open.is_empty());
    let next_to_it = next_to_it.map(|step| msg!("brief-cell-closed-loop", rate = per_s(step.iops)));
    [kept, none, missed, short, next_to_it].into_iter().flatten().collect()
}

/// The highest load of a kind that keeps the goal. A service is offered a rate: where rates were measured, the closed loop, which
/// waits for its own I/Os, is no answer.
fn kept<'a>(terms: &[Term], kind: &Loads<'a>) -> Option<&'a StepView> {
    highest(terms, &asked_of(kind))
}

/// The rates of a kind, or its closed loops where it has none.
fn asked_of<'a>(kind: &Loads<'a>) -> Vec<&'a StepView> {
    let (closed, open) = halves(kind);
    if open.is_empty() { closed } else { open }
}

pub(super) fn terms(goal: LatencyGoal) -> Vec<Term> {
    let term = |figure, most: Option<u64>| most.map(|most_ns| Term { figure, most_ns });
    [term(Figure::Mean, goal.mean_ns), term(Figure::P99, goal.p99_ns)].into_iter().flatten().collect()
}

/// The closed loops of a kind from the fewest in flight on, and its rates from the lowest on.
fn halves<'a>(kind: &Loads<'a>) -> (Vec<&'a StepView>, Vec<&'a StepView>) {
    let (mut closed, mut open): (Vec<_>, Vec<_>) = kind.steps.iter().copied().partition(|s| s.rate_iops.is_none());
    closed.sort_by_key(|s| s.threads * s.queue_depth);
    open.sort_by(|a, b| rate_of(a).total_cmp(&rate_of(b)));
    (closed, open)
}

/// The figure of a term with its interval.
fn known(term: Term, step: &StepView) -> Option<Quantity> {
    term.figure.of(step.lat_ns.as_ref()?)
}

pub(super) fn outcome(terms: &[Term], step: &StepView) -> Outcome {
    if !is_held(step) {
        return Outcome::NotHeld;
    }
    let one = |term: &Term| {
        let most = term.most_ns as f64;
        match known(*term, step).and_then(|figure| figure.ci95) {
            Some([_, high]) if high <= most => Outcome::Meets,
            Some([low, _]) if low > most => Outcome::Misses,
            _ => Outcome::Unknown,
        }
    };
    let all: Vec<Outcome> = terms.iter().map(one).collect();
    [Outcome::Misses, Outcome::Unknown].into_iter().find(|o| all.contains(o)).unwrap_or(Outcome::Meets)
}

/// True if a load misses the goal or was not sustained.
fn misses(terms: &[Term], step: &StepView) -> bool {
    matches!(outcome(terms, step), Outcome::Misses | Outcome::NotHeld)
}

/// The highest load below the first miss that meets the goal each time it was measured.
fn highest<'a>(terms: &[Term], sorted: &[&'a StepView]) -> Option<&'a StepView> {
    let below = sorted.iter().position(|step| misses(terms, step)).unwrap_or(sorted.len());
    let key = |s: &StepView| (s.threads, s.queue_depth, s.rate_iops.map(f64::to_bits));
    let meets = |s: &&&StepView| {
        sorted.iter().filter(|o| key(o) == key(s)).all(|repeat| outcome(terms, repeat) == Outcome::Meets)
    };
    sorted[..below].iter().rev().find(meets).copied()
}

fn answer(terms: &[Term], kind: &Loads<'_>) -> Vec<Message> {
    let (closed, open) = halves(kind);
    let halves = [(Loop::Open, open), (Loop::Closed, closed)].into_iter().filter(|(_, steps)| !steps.is_empty());
    halves.flat_map(|(way, steps)| up_to(terms, kind, way, &steps)).collect()
}

/// The highest of these loads that meets the goal, the first that misses it, and how many are inconclusive.
fn up_to(terms: &[Term], kind: &Loads<'_>, way: Loop, sorted: &[&StepView]) -> Vec<Message> {
    let miss = sorted.iter().find(|s| misses(terms, s)).map(|s| with_latencies(terms, s));
    let best = highest(terms, sorted).map(|s| with_latencies(terms, s));
    let name = kind.name();
    let first = match (best, miss) {
        (Some(best), Some(miss)) => {
            msg!("verdict-goal-met-and-missed", kind = name, most = way.most(), best = best, miss = miss)
        }
        (Some(best), None) => msg!("verdict-goal-met", kind = name, most = way.most(), best = best),
        (None, Some(miss)) => msg!("verdict-goal-missed", kind = name, what = way.message(), miss = miss),
        (None, None) => return vec![msg!("verdict-goal-unknown", kind = name, what = way.message())],
    };
    let unknown = sorted.iter().filter(|s| outcome(terms, s) == Outcome::Unknown).count();
    let rest = (unknown > 0).then(|| msg!("verdict-goal-inconclusive", all = sorted.len(), count = unknown));
    std::iter::once(first).chain(rest).collect()
}

/// `69.0k IOPS with p99 800 us (95 % interval 780 us to 820 us)`.
fn with_latencies(terms: &[Term], step: &StepView) -> Message {
    let load = load(step);
    if outcome(terms, step) == Outcome::NotHeld {
        return msg!("verdict-load-exceeded", load = load);
    }
    let latencies = terms.iter().map(|term| {
        let name = term.figure.message();
        match known(*term, step) {
            Some(latency) if latency.ci95.is_some() => msg!("verdict-term-latency", term = name, latency = latency),
            Some(latency) => msg!("verdict-term-without-interval", term = name, latency = latency),
            None => msg!("verdict-term-unknown", term = name),
        }
    });
    msg!("verdict-load-latencies", load = load, latencies = Arg::list(latencies, Join::And))
}

/// `QD 16 (88.0k IOPS)`, `69.0k IOPS`.
fn load(step: &StepView) -> Message {
    match step.rate_iops {
        Some(_) => depth_or_rate(step),
        None => msg!("verdict-depth-rate", depth = depth_of(step), rate = iops(step)),
    }
}

/// What decides, load by load.
fn upper_ends(term: Term, kind: &Loads<'_>) -> Message {
    let (closed, open) = halves(kind);
    let of_step = |step: &&StepView| {
        let load = depth_or_rate(step);
        match known(term, step).and_then(|figure| figure.ci95) {
            _ if !is_held(step) => msg!("verdict-load-not-held", load = load),
            Some([_, high]) => msg!("verdict-load-latency", load = load, latency = Quantity::ns(high)),
            None => msg!("verdict-load-too-short", load = load),
        }
    };
    let loads = Arg::list(closed.iter().chain(&open).map(of_step), Join::Dot);
    msg!("verdict-upper-ends", kind = kind.name(), term = term.figure.message(), loads = loads)
}
