//! Runs against each other: steps matched by what they were asked to do.

use fathom_message::{Arg, Join, Message, Quantity, Say, msg, say_error};
use fathom_plan::Phase;

use super::arms::side_name;
use super::cell::Cell;
use super::{concluded, environment};
use crate::document::{Comparison, Document, Side, StepState, StepView, Unmatched};

/// Why runs cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompareRunsError {
    /// Fewer than two.
    TooFew(usize),
    /// Nothing matches.
    NothingMatches {
        /// The reference, by its number.
        a: i64,
        /// The other.
        b: i64,
    },
}

impl Say for CompareRunsError {
    fn message(&self) -> Message {
        match self {
            CompareRunsError::TooFew(given) => msg!("compare-too-few", given = *given),
            CompareRunsError::NothingMatches { a, b } => {
                msg!("compare-nothing-matches", a = a.to_string(), b = b.to_string())
            }
        }
    }

    fn help(&self) -> Option<Message> {
        Some(match self {
            CompareRunsError::TooFew(_) => msg!("compare-too-few-help"),
            CompareRunsError::NothingMatches { .. } => msg!("compare-nothing-matches-help"),
        })
    }
}

say_error!(CompareRunsError);

/// Sets every run against the first, step by step.
///
/// # Errors
/// [`CompareRunsError`] with fewer than two runs, or when a run has no step in common with the first.
pub fn compare_runs(runs: &[&Document], margin_pct: f64) -> Result<Comparison, CompareRunsError> {
    let [reference, others @ ..] = runs else { return Err(CompareRunsError::TooFew(0)) };
    if others.is_empty() {
        return Err(CompareRunsError::TooFew(1));
    }
    let (mut cells, mut unmatched, mut matched) = (Vec::new(), Vec::new(), Vec::new());
    for (index, other) in (1..).zip(others) {
        let side = side_name(index);
        let found = matches(reference, other);
        if found.is_empty() {
            return Err(CompareRunsError::NothingMatches { a: reference.run.id, b: other.run.id });
        }
        unmatched.extend(left_over((reference, "A"), (other, &side), &found, |m| &m.a));
        unmatched.extend(left_over((other, &side), (reference, "A"), &found, |m| &m.b));
        for one in found {
            let mut cell = Cell::of(&one.a[0].label, &side, &one.a, &one.b, false);
            if let Some(note) = &one.note {
                cell.note(note.clone());
            }
            cells.push(cell);
            matched.push(one);
        }
    }
    let sides = (0..).zip(runs).map(|(index, run)| side_of(run, index)).collect();
    let pairs: Vec<(&StepView, &StepView)> = matched.iter().map(|m| (m.a[0], m.b[0])).collect();
    let differences = environment::differences(runs, &pairs);
    Ok(concluded(sides, differences, cells, unmatched, margin_pct))
}

/// The same load on two sides, with its repeats.
struct Match<'a> {
    a: Vec<&'a StepView>,
    b: Vec<&'a StepView>,
    /// What differs although the load is the same.
    note: Option<Message>,
}

/// What a step was asked to do, from the strictest to the loosest likeness. Group names count only where a run has
/// several; how the load is issued and placed does not count in the loosest, which lets engines be compared.
fn likeness(step: &StepView, groups: bool, strictness: usize) -> String {
    let group = if groups { step.group.as_str() } else { "" };
    let load = format!(
        "{group}|{:?}|{}|{}|{}|{}|{}|{}|{}|{}",
        step.role.test,
        step.op,
        step.read_pct,
        step.pattern,
        step.block_size_bytes,
        step.threads,
        step.queue_depth,
        step.devices,
        rate_word(step)
    );
    match strictness {
        0 => {
            let settings = &step.role.settings;
            format!(
                "{load}|{:?}|{:?}|{:?}|{}|{settings:?}|{}",
                step.engine, step.mode, step.placement, step.direct, step.label
            )
        }
        1 => format!("{load}|{:?}|{:?}|{:?}|{}", step.engine, step.mode, step.placement, step.direct),
        _ => load,
    }
}

/// The rate asked for: the share where it is one, whatever that came to.
fn rate_word(step: &StepView) -> String {
    match step.role.rate_share {
        Some(share) => format!("{} %", share.pct),
        None => format!("{:?}", step.rate_iops),
    }
}

fn matches<'a>(a: &'a Document, b: &'a Document) -> Vec<Match<'a>> {
    let groups = several_groups(a) && several_groups(b);
    let (mut left_a, mut left_b) = (measured(a), measured(b));
    let mut found = Vec::new();
    for strictness in 0..3 {
        let mut rest: Vec<&StepView> = Vec::new();
        while let Some(first) = left_a.first().copied() {
            let key = likeness(first, groups, strictness);
            let (same_a, others): (Vec<_>, Vec<_>) =
                left_a.into_iter().partition(|s| likeness(s, groups, strictness) == key);
            left_a = others;
            let (same_b, others): (Vec<_>, Vec<_>) =
                left_b.into_iter().partition(|s| likeness(s, groups, strictness) == key);
            left_b = others;
            // Loosely alike is a match only when nothing else is alike, too.
            let unique = strictness < 2 || uniform(&same_a) && uniform(&same_b);
            if same_b.is_empty() || !unique {
                rest.extend(same_a);
                left_b.extend(same_b);
            } else {
                found.push(Match { note: difference(same_a[0], same_b[0]), a: same_a, b: same_b });
            }
        }
        left_a = rest;
    }
    found.sort_by_key(|m| m.a[0].index);
    found
}

/// Whether all steps are issued and placed alike.
fn uniform(steps: &[&StepView]) -> bool {
    steps.iter().all(|s| likeness(s, false, 1) == likeness(steps[0], false, 1))
}

fn difference(a: &StepView, b: &StepView) -> Option<Message> {
    let mut parts = Vec::new();
    for (what, of_a, of_b) in [
        (msg!("compare-engine"), a.engine.as_str(), b.engine.as_str()),
        (msg!("compare-mode"), a.mode.as_str(), b.mode.as_str()),
        (msg!("compare-placement"), a.placement.as_str(), b.placement.as_str()),
    ] {
        if of_a != of_b {
            parts.push(msg!("compare-note-differs", what = what, a = of_a, b = of_b));
        }
    }
    if let (Some(of_a), Some(of_b)) = (a.rate_iops, b.rate_iops)
        && of_a != of_b
    {
        parts.push(msg!("compare-note-rate", a = Quantity::iops(of_a), b = Quantity::iops(of_b)));
    }
    (!parts.is_empty()).then(|| msg!("several", list = Arg::list(parts, Join::Comma)))
}

fn several_groups(run: &Document) -> bool {
    let mut names: Vec<&str> = measured(run).iter().map(|s| s.group.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names.len() > 1
}

fn measured(run: &Document) -> Vec<&StepView> {
    run.steps.iter().filter(|s| s.phase == Phase::Measure && s.ios > 0).collect()
}

/// Steps of `run` that were not compared with any of `other`; each a document and the name of its side.
fn left_over<'a>(
    (run, side): (&'a Document, &str),
    (other, other_side): (&'a Document, &str),
    found: &[Match<'a>],
    of: impl for<'m> Fn(&'m Match<'a>) -> &'m Vec<&'a StepView>,
) -> Vec<Unmatched> {
    let is_matched = |step: &StepView| found.iter().any(|m| of(m).iter().any(|s| s.index == step.index));
    let groups = several_groups(run) && several_groups(other);
    let alone = run.steps.iter().filter(|s| s.phase == Phase::Measure && !is_matched(s));
    alone
        .map(|step| {
            let key = likeness(step, groups, 1);
            let mut unmeasured = other.steps.iter().filter_map(|s| Some((s, s.reason.as_ref()?)));
            let tried = unmeasured.find(|(s, _)| likeness(s, groups, 1) == key);
            let there = match (tried, &step.reason) {
                (_, Some(reason)) => match is_refused(step) {
                    true => msg!("compare-refused", why = reason),
                    false => msg!("compare-failed", why = reason),
                },
                (Some((tried, reason)), None) => match is_refused(tried) {
                    true => msg!("compare-refused-on", side = other_side.to_owned(), why = reason),
                    false => msg!("compare-failed-on", side = other_side.to_owned(), why = reason),
                },
                (None, None) => msg!("compare-no-such-step", side = other_side.to_owned()),
            };
            let lost = side == "A" && tried.is_some() && step.ios > 0;
            Unmatched { side: side.to_owned(), label: step.label.clone(), why: there, lost }
        })
        .collect()
}

/// Refused before it began, rather than failed.
fn is_refused(step: &StepView) -> bool {
    step.state == StepState::Refused
}

fn side_of(run: &Document, index: u32) -> Side {
    Side {
        name: side_name(index),
        title: msg!("compare-run", run = run.run.id.to_string()),
        run: run.run.id,
        study: run.run.study.clone(),
        started: run.run.started.clone(),
        state: run.run.state,
        command: run.run.command.clone(),
    }
}
