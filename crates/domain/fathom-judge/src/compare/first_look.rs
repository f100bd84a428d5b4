//! A comparison as it is read first: what else differs, the answer, the steps farthest apart, and how to go on.

use fathom_message::{Arg, Join, Message, Quantity, msg};

use crate::document::{
    Brief, BriefRow, ComparedFigure, ComparedStep, Comparison, Difference, NextCommand, Side, Speed,
};
use crate::verdict::{change_cell, longer, report};

/// Differences that are named; the others are counted.
const DIFFERENCES_SHOWN: usize = 3;

/// What differs besides the figures, in a line; `None` where nothing known does, or where both sides are of one run.
pub(super) fn besides(comparison: &Comparison) -> Option<Message> {
    let value = |value: &Option<Message>| value.clone().unwrap_or_else(|| msg!("compare-not-known"));
    let named = |difference: &Difference| {
        let values = Arg::list(difference.values.iter().map(value), Join::Dot);
        msg!("compare-besides-one", what = &difference.what, values = values)
    };
    let shown: Vec<Message> = comparison.environment.iter().take(DIFFERENCES_SHOWN).map(named).collect();
    let more = comparison.environment.len() - shown.len();
    let list = Arg::list(shown, Join::Semicolon);
    match (comparison.environment.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(msg!("compare-besides", list = list)),
        (false, more) => Some(msg!("compare-besides-more", list = list, more = more)),
    }
}

/// The answer, the steps that are told apart, the farthest first, or where none is those that lie farthest apart, and what
/// settles it or shows all of it.
pub(super) fn brief(comparison: &Comparison) -> Brief {
    let distance = |step: &ComparedStep| step.ratio.map_or(-1.0, |ratio| ratio.ln().abs());
    let is_told = |step: &ComparedStep| matches!(step.verdict, Speed::Faster | Speed::Slower);
    let mut steps: Vec<&ComparedStep> = comparison.steps.iter().collect();
    steps.sort_by(|a, b| is_told(b).cmp(&is_told(a)).then(distance(b).total_cmp(&distance(a))));
    let several = comparison.sides.len() > 2;
    let rows = steps.into_iter().take(Brief::ROWS_MAX).map(|step| row(step, several)).collect();
    Brief { headline: comparison.answer.clone(), rows, next: Some(next(comparison)) }
}

fn row(step: &ComparedStep, several: bool) -> BriefRow {
    let label = step.label_message.clone();
    let name = if several { msg!("compare-of-side", side = &step.side, label = label) } else { label };
    let quantity = |figure: ComparedFigure, value: f64| match figure {
        ComparedFigure::Iops => Quantity::iops(value),
        _ => Quantity::ns(value),
    };
    let figures = step
        .metrics
        .iter()
        .find(|m| m.name == step.metric)
        .map(|m| msg!("brief-cell-from-to", from = quantity(m.name, m.a), to = quantity(m.name, m.b)));
    let change = step.ratio.map(|ratio| change_cell(ratio, step.ci95));
    let verdict = Some(verdict_cell(step.verdict));
    BriefRow { name, cells: [figures, change, verdict].into_iter().flatten().collect() }
}

/// What is to be said of a change, in a word.
pub(crate) fn verdict_cell(verdict: Speed) -> Message {
    match verdict {
        Speed::Faster => msg!("compare-faster"),
        Speed::Slower => msg!("compare-slower"),
        Speed::Same => msg!("compare-same"),
        Speed::Inconclusive => msg!("compare-inconclusive"),
    }
}

/// Begin of the command of an import.
const IMPORTED: &str = "fathom import ";

fn next(comparison: &Comparison) -> NextCommand {
    let runs = |side: &Side| side.runs.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    let is_one_run = comparison.sides.windows(2).all(|pair| pair[0].run == pair[1].run);
    let is_open = !comparison.steps.is_empty() && comparison.steps.iter().all(|s| s.verdict == Speed::Inconclusive);
    // What was measured elsewhere cannot be measured again here.
    let is_open = is_open && comparison.sides.iter().all(|side| !side.command.starts_with(IMPORTED));
    match (&comparison.sides[..], is_open) {
        ([first, ..], true) if is_one_run => longer(first.run),
        ([.., last], true) => {
            NextCommand { command: format!("fathom run --like {}", last.run), why: msg!("next-three-runs") }
        }
        ([only, ..], false) if is_one_run => report(only.run),
        (sides, _) => {
            let sides: Vec<String> = sides.iter().map(runs).collect();
            NextCommand {
                command: format!("fathom compare {} -o compare.html", sides.join(" ")),
                why: msg!("next-report"),
            }
        }
    }
}
