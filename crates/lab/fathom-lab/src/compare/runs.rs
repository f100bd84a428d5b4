//! Runs against each other: steps matched by what they were asked to do.

use fathom_units::format_iops;

use super::arms::side_name;
use super::cell::Cell;
use super::document::{Comparison, Side, Unmatched};
use super::{concluded, environment};
use crate::document::{Document, StepView};

/// Why runs cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareRunsError {
    /// Fewer than two.
    #[error("a comparison needs at least two runs; {0} given")]
    TooFew(usize),
    /// Nothing matches.
    #[error("no step of {b} does what a step of {a} did; there is nothing to compare")]
    NothingMatches {
        /// The reference.
        a: String,
        /// The other.
        b: String,
    },
}

impl CompareRunsError {
    /// Remedy.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            CompareRunsError::TooFew(_) => "name the reference first, then the others: fathom compare 6 7",
            CompareRunsError::NothingMatches { .. } => {
                "compare runs of the same study or plan; `fathom run --like RUN` repeats one"
            }
        }
    }
}

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
            return Err(CompareRunsError::NothingMatches { a: title(reference), b: title(other) });
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
    note: Option<String>,
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
                "{load}|{}|{}|{}|{}|{settings:?}|{}",
                step.engine, step.mode, step.placement, step.direct, step.label
            )
        }
        1 => format!("{load}|{}|{}|{}|{}", step.engine, step.mode, step.placement, step.direct),
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

fn difference(a: &StepView, b: &StepView) -> Option<String> {
    let mut parts: Vec<String> =
        [("engine", &a.engine, &b.engine), ("mode", &a.mode, &b.mode), ("placement", &a.placement, &b.placement)]
            .iter()
            .filter(|(_, a, b)| a != b)
            .map(|(what, a, b)| format!("{what} {a} against {b}"))
            .collect();
    if let (Some(of_a), Some(of_b)) = (a.rate_iops, b.rate_iops)
        && of_a != of_b
    {
        parts.push(format!("rate {} against {}", format_iops(of_a), format_iops(of_b)));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn several_groups(run: &Document) -> bool {
    let mut names: Vec<&str> = measured(run).iter().map(|s| s.group.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names.len() > 1
}

fn measured(run: &Document) -> Vec<&StepView> {
    run.steps.iter().filter(|s| s.phase == "measure" && s.ios > 0).collect()
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
    let alone = run.steps.iter().filter(|s| s.phase == "measure" && !is_matched(s));
    alone
        .map(|step| {
            let key = likeness(step, groups, 1);
            let tried = other.steps.iter().find(|s| s.reason.is_some() && likeness(s, groups, 1) == key);
            let there = match (tried, &step.reason) {
                (_, Some(reason)) => format!("{}: {reason}", step.state),
                (Some(tried), None) => {
                    let reason = tried.reason.as_deref().unwrap_or_default();
                    format!("{} on {other_side}: {reason}", tried.state)
                }
                (None, None) => format!("{other_side} has no such step"),
            };
            let lost = side == "A" && tried.is_some() && step.ios > 0;
            Unmatched { side: side.to_owned(), label: step.label.clone(), why: there, lost }
        })
        .collect()
}

fn title(run: &Document) -> String {
    format!("run {}", run.run.id)
}

fn side_of(run: &Document, index: u32) -> Side {
    Side {
        name: side_name(index),
        title: title(run),
        run: run.run.id,
        study: run.run.study.clone(),
        started: run.run.started.clone(),
        state: run.run.state.clone(),
        command: run.run.command.clone(),
    }
}
