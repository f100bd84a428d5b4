//! Did the setting help? The A and B of one named setting, or of any run that measured its sides in turns.

use fathom_message::{Message, Quantity, msg};

use super::brief::{brief, change_cell, longer, report, row};
use super::parts::{change_alone, nothing_measured, verdict};
use super::sides::{Row, cell_change, cell_figures, cell_message, change_figure, outcome_cells, row_sentence, rows};
use crate::compare::{farthest, verdict_cell};
use crate::document::{Brief, BriefRow, ComparedFigure, ComparedStep, Comparison, Figure, Speed, StepView, Verdict};

/// One answer per side against the reference.
pub(super) fn verdicts(question: &Message, steps: &[StepView], comparison: &Comparison, run: i64) -> Vec<Verdict> {
    let mut out = Vec::new();
    for side in comparison.sides.iter().skip(1) {
        let rows = rows(comparison, &side.name);
        let cells: Vec<&ComparedStep> = rows.iter().flat_map(|r| r.cells.iter().copied()).collect();
        if cells.is_empty() {
            continue;
        }
        let reference = comparison.sides[0].title.clone();
        let side = side.title.clone();
        let mut evidence: Vec<Message> = shown(&cells).into_iter().map(|c| cell_figures(c, steps)).collect();
        if cells.len() > 1 {
            evidence.extend(rows.iter().map(|r| row_sentence(r, comparison.margin_pct)));
        }
        let answer = answer(&cells, &side, &reference, comparison.margin_pct);
        let brief = first_look(&cells, &rows, &side, comparison.margin_pct, run);
        let mut found = verdict(question, brief, answer, evidence, figures(&cells, steps), steps);
        found.would_help = advice(&rows, &side, &reference);
        found.caveats.extend(comparison.caveats.iter().cloned());
        out.push(found);
    }
    if out.is_empty() { vec![nothing_measured(question, steps)] } else { out }
}

/// Yes or no with the largest change, and the figures of the loads that changed most.
fn first_look(cells: &[&ComparedStep], rows: &[Row<'_>], side: &Message, margin_pct: f64, run: i64) -> Brief {
    let same = cells.iter().filter(|c| c.verdict == Speed::Same).count();
    let change = |verdict: Speed| Some(change_alone(farthest(cells.iter().copied(), verdict)?.ratio?));
    let at = |verdict: Speed| place(cells.iter().filter(|c| c.verdict == verdict).count(), cells.len());
    let headline = match (change(Speed::Faster), change(Speed::Slower)) {
        (None, None) if same == cells.len() => {
            msg!("brief-tune-same", side = side, margin = Quantity::pct(margin_pct), place = at(Speed::Same))
        }
        (None, None) => msg!("brief-tune-open", side = side),
        (Some(change), None) => msg!("brief-tune-faster", side = side, place = at(Speed::Faster), change = change),
        (None, Some(change)) => msg!("brief-tune-slower", side = side, place = at(Speed::Slower), change = change),
        (Some(gain), Some(loss)) => msg!("brief-tune-depends", side = side, change = gain, loss = loss),
    };
    let of_cell = |cell: &&ComparedStep| {
        let iops = cell.metrics.iter().find(|m| m.name == ComparedFigure::Iops)?;
        let figures = msg!("brief-cell-from-to", from = Quantity::iops(iops.a), to = Quantity::iops(iops.b));
        Some(row(cell_message(cell), [figures, change_cell(cell.ratio?, cell.ci95), verdict_cell(cell.verdict)]))
    };
    let table: Vec<BriefRow> = match cells.len() {
        // Many loads by kind: where each is faster, slower, the same.
        n if n > Brief::ROWS_MAX => rows.iter().map(|r| row(r.name(), outcome_cells(r, margin_pct))).collect(),
        _ => cells.iter().filter_map(of_cell).collect(),
    };
    let is_open = cells.iter().all(|c| c.verdict == Speed::Inconclusive);
    brief(headline, table, Some(if is_open { longer(run) } else { report(run) }))
}

/// The cells worth their figures: the farthest of those that changed, or the first.
fn shown<'a>(cells: &[&'a ComparedStep]) -> Vec<&'a ComparedStep> {
    let chosen: Vec<&ComparedStep> =
        [Speed::Faster, Speed::Slower].iter().filter_map(|v| farthest(cells.iter().copied(), *v)).collect();
    if chosen.is_empty() { cells.iter().copied().take(1).collect() } else { chosen }
}

/// Where a verdict holds, the cell that is farthest, and by how much.
struct Most {
    place: Message,
    change: Message,
    load: Message,
}

impl Most {
    fn of(cells: &[&ComparedStep], verdict: Speed) -> Option<Most> {
        let cell = farthest(cells.iter().copied(), verdict)?;
        let count = cells.iter().filter(|c| c.verdict == verdict).count();
        Some(Most { place: place(count, cells.len()), change: cell_change(cell), load: cell_message(cell) })
    }
}

/// `at 2 of 3 loads`.
fn place(count: usize, all: usize) -> Message {
    if count == all {
        msg!("verdict-at-all-loads", count = count)
    } else {
        msg!("verdict-at-some-loads", count = count, all = all)
    }
}

fn answer(cells: &[&ComparedStep], side: &Message, reference: &Message, margin_pct: f64) -> Message {
    let same = cells.iter().filter(|c| c.verdict == Speed::Same).count();
    let (all, margin) = (cells.len(), Quantity::pct(margin_pct));
    let place = |count: usize| place(count, all);
    match (Most::of(cells, Speed::Faster), Most::of(cells, Speed::Slower)) {
        (None, None) if same == all => {
            msg!("verdict-tune-same", side = side, reference = reference, margin = margin, place = place(all))
        }
        (None, None) if same == 0 => {
            msg!("verdict-tune-noise", side = side, reference = reference, place = place(all))
        }
        (None, None) => {
            msg!("verdict-tune-nothing-found", side = side, reference = reference, margin = margin, place = place(same))
        }
        (Some(Most { place, change, load }), None) => {
            msg!("verdict-tune-faster", side = side, reference = reference, place = place, change = change, load = load)
        }
        (None, Some(Most { place, change, load })) => {
            msg!("verdict-tune-slower", side = side, reference = reference, place = place, change = change, load = load)
        }
        (Some(gain), Some(loss)) => msg!(
            "verdict-tune-depends",
            side = side,
            reference = reference,
            place = gain.place,
            change = gain.change,
            load = gain.load,
            elsewhere = loss.place,
            loss = loss.change,
            worst = loss.load
        ),
    }
}

fn advice(rows: &[Row<'_>], side: &Message, reference: &Message) -> Vec<Message> {
    let any = |verdict: Speed| rows.iter().any(|r| !r.with(verdict).is_empty());
    match (any(Speed::Faster), any(Speed::Slower)) {
        (true, false) => vec![msg!("verdict-keep", side = side)],
        (false, true) => vec![msg!("verdict-stay", reference = reference)],
        _ => Vec::new(),
    }
}

fn figures(cells: &[&ComparedStep], steps: &[StepView]) -> Vec<Figure> {
    cells.iter().take(6).filter_map(|c| change_figure(msg!("verdict-figure-change"), c, steps)).collect()
}
