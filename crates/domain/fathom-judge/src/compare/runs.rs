//! Runs against each other: steps matched by what they were asked to do.

use std::collections::BTreeMap;

use fathom_message::{Arg, Join, Message, Quantity, Say, msg, say_error};
use fathom_plan::{IoOrder, Phase};

use super::arms::side_name;
use super::cell::{Cell, SideRuns};
use super::ledger::{Ledger, PastRun};
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

/// Sets every side against the first, step by step; a side is one run, or several runs of the same. `past`: other runs
/// that the lab holds, from which the spread from run to run is learnt.
///
/// # Errors
/// [`CompareRunsError`] with fewer than two sides, or when a side has no step in common with the first.
pub fn compare_runs(
    sides: &[Vec<&Document>],
    past: &[PastRun],
    margin_pct: f64,
) -> Result<Comparison, CompareRunsError> {
    let mut sides: Vec<Vec<&Document>> = sides.to_vec();
    sides.retain(|side| !side.is_empty());
    let [reference, others @ ..] = &sides[..] else { return Err(CompareRunsError::TooFew(0)) };
    if others.is_empty() {
        return Err(CompareRunsError::TooFew(1));
    }
    let ledger = Ledger::of(past, &sides);
    let (mut cells, mut unmatched, mut matched) = (Vec::new(), Vec::new(), Vec::new());
    for (index, other) in (1..).zip(others) {
        let name = side_name(index);
        let found = matches(reference, other);
        if found.is_empty() {
            return Err(CompareRunsError::NothingMatches { a: reference[0].run.id, b: other[0].run.id });
        }
        unmatched.extend(left_over((reference, "A"), (other, &name), &found, |m| &m.a));
        unmatched.extend(left_over((other, &name), (reference, "A"), &found, |m| &m.b));
        for one in found {
            let a = SideRuns { name: "A", runs: one.a.clone(), host: &reference[0].host };
            let b = SideRuns { name: &name, runs: one.b.clone(), host: &other[0].host };
            let first = one.first_of_a();
            let mut cell = Cell::of_runs((first.label.clone(), first.label_message.clone()), &a, &b, &ledger);
            if let Some(note) = &one.note {
                cell.note(note.clone());
            }
            cells.push(cell);
            matched.push(one);
        }
    }
    let firsts: Vec<&Document> = sides.iter().map(|side| side[0]).collect();
    let pairs: Vec<(&StepView, &StepView)> = matched.iter().map(|m| (m.first_of_a(), m.first_of_b())).collect();
    let differences = environment::differences(&firsts, &pairs);
    let mut comparison = concluded(
        (0..).zip(&sides).map(|(i, side)| side_of(side, i)).collect(),
        differences,
        cells,
        unmatched,
        margin_pct,
    );
    comparison.caveats.extend((0..).zip(&sides).filter_map(|(i, side)| mixed(side, i)));
    Ok(comparison)
}

/// That the runs of one side are not of the same.
fn mixed(side: &[&Document], index: u32) -> Option<Message> {
    const NAMED_MAX: usize = 4;
    let differences = environment::differences(side, &[]);
    let names: Vec<Message> = differences.into_iter().map(|d| d.what).take(NAMED_MAX).collect();
    let names = (!names.is_empty()).then(|| Arg::list(names, Join::Comma))?;
    Some(msg!("compare-caveat-mixed-side", side = side_name(index), names = names))
}

/// The same load on two sides: the steps of each run with its repeats, runs without it left out.
struct Match<'a> {
    a: Vec<Vec<&'a StepView>>,
    b: Vec<Vec<&'a StepView>>,
    /// What differs although the load is the same.
    note: Option<Message>,
}

impl<'a> Match<'a> {
    fn first_of_a(&self) -> &'a StepView {
        self.a[0][0]
    }

    fn first_of_b(&self) -> &'a StepView {
        self.b[0][0]
    }
}

/// What makes a load another one beside pattern, size and depth. Whether its threads share a region is left out: results of
/// others do not tell.
pub(super) fn beyond_pattern(step: &StepView) -> String {
    let order = IoOrder { thread_offset_bytes: None, ..step.order.clone() };
    format!("{order:?}|{:?}|{}|{:?}|{:?}", step.pacing, step.drop_cache, step.priorities, step.role.new_file)
}

/// What a step was asked to do, from the strictest to the loosest likeness. Group names count only where a run has
/// several; how the load is issued and placed does not count in the loosest, which lets engines be compared.
pub(super) fn likeness(step: &StepView, groups: bool, strictness: usize) -> String {
    let group = if groups { step.group.as_str() } else { "" };
    let load = format!(
        "{group}|{:?}|{}|{:?}|{}|{:?}|{}|{}|{}|{}|{}|{}|{}|{}",
        step.role.test,
        step.op,
        // A write that is made durable is another load than one that is not.
        step.durability,
        beyond_pattern(step),
        step.spread,
        step.read_pct,
        step.pattern,
        step.block_size_bytes,
        step.threads,
        step.queue_depth,
        step.devices,
        step.rank_count(),
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
        _ if step.role.rate_pair.is_some() => format!("{:?}", step.role.rate_pair),
        Some(share) => format!("{} %", share.pct),
        None => format!("{:?}", step.rate_iops),
    }
}

fn matches<'a>(a: &[&'a Document], b: &[&'a Document]) -> Vec<Match<'a>> {
    let groups = several_groups(a) && several_groups(b);
    let (mut left_a, mut left_b) = (measured(a), measured(b));
    let mut found = Vec::new();
    for strictness in 0..3 {
        let mut rest: Vec<OfRun<'_>> = Vec::new();
        while let Some((_, first)) = left_a.first().copied() {
            let key = likeness(first, groups, strictness);
            let alike = |(_, step): &OfRun<'_>| likeness(step, groups, strictness) == key;
            let (same_a, others): (Vec<_>, Vec<_>) = left_a.into_iter().partition(alike);
            left_a = others;
            let (same_b, others): (Vec<_>, Vec<_>) = left_b.into_iter().partition(alike);
            left_b = others;
            // Loosely alike is a match only when nothing else is alike, too.
            let unique = strictness < 2 || uniform(&same_a) && uniform(&same_b);
            if same_b.is_empty() || !unique {
                rest.extend(same_a);
                left_b.extend(same_b);
            } else {
                found.push(Match { note: difference(same_a[0].1, same_b[0].1), a: by_run(same_a), b: by_run(same_b) });
            }
        }
        left_a = rest;
    }
    found.sort_by_key(|m| m.first_of_a().index);
    found
}

/// A step with the place of its run in the side.
type OfRun<'a> = (usize, &'a StepView);

fn by_run(steps: Vec<OfRun<'_>>) -> Vec<Vec<&StepView>> {
    let mut runs: BTreeMap<usize, Vec<&StepView>> = BTreeMap::new();
    for (run, step) in steps {
        runs.entry(run).or_default().push(step);
    }
    runs.into_values().collect()
}

/// Whether all steps are issued and placed alike.
fn uniform(steps: &[OfRun<'_>]) -> bool {
    steps.iter().all(|(_, s)| likeness(s, false, 1) == likeness(steps[0].1, false, 1))
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

fn several_groups(side: &[&Document]) -> bool {
    let mut names: Vec<&str> = measured(side).iter().map(|(_, s)| s.group.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names.len() > 1
}

fn measured<'a>(side: &[&'a Document]) -> Vec<OfRun<'a>> {
    let steps = side.iter().enumerate().flat_map(|(run, document)| document.steps.iter().map(move |s| (run, s)));
    steps.filter(|(_, s)| s.phase == Phase::Measure && s.ios > 0).collect()
}

/// Steps of a side that were not compared with any of `other`; each side its runs and its name. What several runs lack
/// for one reason is said once.
fn left_over<'a>(
    (runs, side): (&[&'a Document], &str),
    (others, other_side): (&[&'a Document], &str),
    found: &[Match<'a>],
    of: impl for<'m> Fn(&'m Match<'a>) -> &'m Vec<Vec<&'a StepView>>,
) -> Vec<Unmatched> {
    let is_matched = |step: &StepView| found.iter().any(|m| of(m).iter().flatten().any(|s| std::ptr::eq(*s, step)));
    let groups = several_groups(runs) && several_groups(others);
    let alone = runs.iter().flat_map(|run| &run.steps).filter(|s| s.phase == Phase::Measure && !is_matched(s));
    let mut out: Vec<Unmatched> = Vec::new();
    for step in alone {
        let key = likeness(step, groups, 1);
        let mut unmeasured = others.iter().flat_map(|o| &o.steps).filter_map(|s| Some((s, s.reason.as_ref()?)));
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
        let one = Unmatched { side: side.to_owned(), label: step.label.clone(), why: there, lost };
        if !out.contains(&one) {
            out.push(one);
        }
    }
    out
}

/// Refused before it began, rather than failed.
fn is_refused(step: &StepView) -> bool {
    matches!(step.state, StepState::Refused | StepState::Skipped)
}

fn side_of(runs: &[&Document], index: u32) -> Side {
    let first = runs[0];
    let ids: Vec<i64> = runs.iter().map(|r| r.run.id).collect();
    let title = match ids.len() {
        1 => msg!("compare-run", run = first.run.id.to_string()),
        _ => msg!("compare-runs", list = ids.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")),
    };
    Side {
        name: side_name(index),
        title,
        run: first.run.id,
        runs: ids,
        study: first.run.study.clone(),
        started: first.run.started.clone(),
        state: first.run.state,
        command: first.run.command.clone(),
    }
}
