//! Does binding threads to cores help, and until which queue depth? Reads and writes apart, with the crossovers.

use fathom_message::{Arg, Join, Message, Quantity, msg};
use fathom_plan::Pattern;
use fathom_stats::{Effect, Relation, adjusted_p_values, relation};

use super::brief::{brief, row, study};
use super::kind::is_sequential;
use super::parts::{change_alone, nothing_measured, sentences, verdict};
use super::sides::{
    Row, cell_change, cell_depth, cell_figures, change_figure, crossovers, loads, outcome_cells, row_sentence, rows,
};
use crate::compare::effect;
use crate::document::{Brief, ComparedFigure, ComparedStep, Comparison, Figure, Speed, StepView, Verdict};

/// Answers from the sides of the run; the first side is the reference, `unpinned` in the shipped study.
pub(super) fn verdicts(question: &Message, steps: &[StepView], comparison: &Comparison) -> Vec<Verdict> {
    let mut out = Vec::new();
    for side in comparison.sides.iter().skip(1) {
        let rows = rows(comparison, &side.name);
        if rows.is_empty() {
            continue;
        }
        let reference = comparison.sides[0].title.clone();
        let side = side.title.clone();
        let mut evidence: Vec<Message> = rows.iter().filter_map(|r| best(r, steps)).collect();
        evidence.extend(rows.iter().map(|r| row_sentence(r, comparison.margin_pct)));
        evidence.extend(rows.iter().filter_map(crossover));
        evidence.extend(overtakings(&rows, steps, &reference, comparison.margin_pct));
        let answer = answer(&rows, &side, comparison.margin_pct);
        let brief = first_look(&rows, &side, comparison.margin_pct, steps);
        let mut found = verdict(question, brief, answer, evidence, figures(&rows, steps), steps);
        found.would_help = advice(&rows, &side);
        found.caveats.extend(comparison.caveats.iter().cloned());
        out.push(found);
    }
    if out.is_empty() { vec![nothing_measured(question, steps)] } else { out }
}

/// What binding does to the first kind of load, and a row for each.
fn first_look(rows: &[Row<'_>], side: &Message, margin_pct: f64, steps: &[StepView]) -> Brief {
    let main = &rows[0];
    let (kind, margin) = (main.name(), Quantity::pct(margin_pct));
    let most = |verdict: Speed| {
        let cell = main.extreme(verdict)?;
        Some((change_alone(cell.ratio?), cell_depth(cell)))
    };
    let headline = match (most(Speed::Faster), most(Speed::Slower)) {
        (Some((change, load)), None) => {
            msg!("brief-binding-helps", side = side, kind = kind, change = change, load = load)
        }
        (None, Some((change, load))) => {
            msg!("brief-binding-slows", side = side, kind = kind, change = change, load = load)
        }
        (Some((change, load)), Some((loss, worst))) => msg!(
            "brief-binding-depends",
            side = side,
            kind = kind,
            change = change,
            load = load,
            loss = loss,
            worst = worst
        ),
        (None, None) if main.with(Speed::Same).len() == main.cells.len() => {
            msg!("brief-binding-same", side = side, kind = kind, margin = margin)
        }
        (None, None) => msg!("brief-binding-open", side = side, kind = kind),
    };
    brief(
        headline,
        rows.iter().map(|r| row(r.name(), outcome_cells(r, margin_pct))),
        study("qos", steps, msg!("next-qos")),
    )
}

/// A sentence for random reads and one for random writes; other rows are among the evidence.
fn answer(rows: &[Row<'_>], side: &Message, margin_pct: f64) -> Message {
    let random: Vec<&Row<'_>> = rows.iter().filter(|r| !is_sequential(r.cells[0].load.pattern)).collect();
    let shown: Vec<&Row<'_>> = if random.is_empty() { rows.iter().collect() } else { random };
    let one = |(at, row): (usize, &&Row<'_>)| {
        let effects = Arg::list(effects(row, margin_pct), Join::Semicolon);
        match at {
            0 => msg!("verdict-binding", side = side, effects = effects),
            _ => msg!("verdict-binding-also", effects = effects),
        }
    };
    sentences(shown.iter().enumerate().map(one))
}

/// Loads with this verdict, and the farthest of them with its change.
struct Most {
    loads: Arg,
    change: Message,
    load: Message,
}

impl Most {
    fn of(row: &Row<'_>, verdict: Speed) -> Option<Most> {
        let cell = row.extreme(verdict)?;
        Some(Most { loads: loads(row, verdict), change: cell_change(cell), load: cell_depth(cell) })
    }
}

/// What binding does to a kind of load, the strongest effect first.
fn effects(row: &Row<'_>, margin_pct: f64) -> Vec<Message> {
    let kind = row.name();
    let all = |verdict: Speed| row.with(verdict).len() == row.cells.len();
    let first = match (Most::of(row, Speed::Faster), Most::of(row, Speed::Slower)) {
        (Some(Most { loads, change, load }), None) => {
            msg!("verdict-helps", kind = kind, loads = loads, change = change, load = load)
        }
        (None, Some(Most { loads, change, load })) => {
            msg!("verdict-slows", kind = kind, loads = loads, change = change, load = load)
        }
        (Some(gain), Some(loss)) => msg!(
            "verdict-helps-and-slows",
            kind = kind,
            loads = gain.loads,
            change = gain.change,
            load = gain.load,
            others = loss.loads,
            loss = loss.change,
            worst = loss.load
        ),
        (None, None) if all(Speed::Same) => {
            return vec![msg!("verdict-makes-no-difference", kind = kind, margin = Quantity::pct(margin_pct))];
        }
        (None, None) if all(Speed::Inconclusive) => return vec![msg!("verdict-too-noisy", kind = kind)],
        (None, None) => msg!("verdict-no-effect", kind = kind),
    };
    let at = |verdict: Speed| (!row.with(verdict).is_empty()).then(|| loads(row, verdict));
    let same = at(Speed::Same).map(|loads| msg!("verdict-no-difference-at", loads = loads));
    let inconclusive = at(Speed::Inconclusive).map(|loads| msg!("verdict-inconclusive-at", loads = loads));
    std::iter::once(first).chain(same).chain(inconclusive).collect()
}

/// The figures of the load where binding did most, or of the shallowest.
fn best(row: &Row<'_>, steps: &[StepView]) -> Option<Message> {
    let cell = row.extreme(Speed::Faster).or_else(|| row.extreme(Speed::Slower)).or(row.cells.first().copied())?;
    Some(cell_figures(cell, steps))
}

fn crossover(row: &Row<'_>) -> Option<Message> {
    let places = crossovers(row);
    let some = !places.is_empty();
    some.then(|| msg!("verdict-crossover", kind = row.name(), places = Arg::list(places, Join::And)))
}

/// Where reads overtake writes of the same size, or the other way round, on the reference side with one thread.
///
/// Claimed only between depths at which the intervals are apart; depths at which they are not lie in between.
fn overtakings(rows: &[Row<'_>], steps: &[StepView], reference: &Message, margin_pct: f64) -> Vec<Message> {
    let random = |read_pct: u8| {
        rows.iter().filter(move |r| {
            let load = &r.cells[0].load;
            load.pattern == Pattern::Random && load.read_pct == read_pct
        })
    };
    let mut out = Vec::new();
    for reads in random(100) {
        let alike = |w: &&Row<'_>| {
            let (r, w) = (reads.cells[0], w.cells[0]);
            (r.load.block_size_bytes, &r.group) == (w.load.block_size_bytes, &w.group)
        };
        for writes in random(0).filter(alike) {
            let apart = reads_ahead(reads, writes, steps, margin_pct);
            out.extend(apart.windows(2).filter(|w| w[0].1 != w[1].1).map(|w| {
                let (ahead, behind) = if w[1].1 { (reads, writes) } else { (writes, reads) };
                msg!(
                    "verdict-overtakes",
                    side = reference,
                    ahead = ahead.name(),
                    behind = behind.name(),
                    low = w[0].0,
                    high = w[1].0
                )
            }));
        }
    }
    out
}

/// Queue depths at which reads and writes of the reference with one thread differ beyond doubt, and whether reads are
/// ahead.
fn reads_ahead(reads: &Row<'_>, writes: &Row<'_>, steps: &[StepView], margin_pct: f64) -> Vec<(u32, bool)> {
    let repeats =
        |cell: &ComparedStep| -> Vec<&StepView> { steps.iter().filter(|s| cell.steps_a.contains(&s.index)).collect() };
    let effects: Vec<(u32, Effect)> = reads
        .cells
        .iter()
        .filter(|c| c.load.threads == 1)
        .filter_map(|read| {
            let write =
                writes.cells.iter().find(|w| w.load.threads == 1 && w.load.queue_depth == read.load.queue_depth)?;
            Some((read.load.queue_depth, effect(ComparedFigure::Iops, &repeats(write), &repeats(read))?))
        })
        .collect();
    let p: Vec<f64> = effects.iter().map(|(_, e)| e.p_value()).collect();
    let apart = effects.iter().zip(adjusted_p_values(&p)).filter_map(|((depth, effect), p)| {
        match relation(effect, p, margin_pct) {
            Relation::Higher => Some((*depth, true)),
            Relation::Lower => Some((*depth, false)),
            Relation::Same | Relation::Inconclusive => None,
        }
    });
    apart.collect()
}

fn advice(rows: &[Row<'_>], side: &Message) -> Vec<Message> {
    let having = |verdict: Speed| rows.iter().filter(move |r| !r.with(verdict).is_empty());
    let bind = having(Speed::Faster)
        .map(|r| msg!("verdict-bind", kind = r.name(), loads = loads(r, Speed::Faster), side = side));
    let leave =
        having(Speed::Slower).map(|r| msg!("verdict-do-not-bind", kind = r.name(), loads = loads(r, Speed::Slower)));
    bind.chain(leave).collect()
}

fn figures(rows: &[Row<'_>], steps: &[StepView]) -> Vec<Figure> {
    let mut out = Vec::new();
    for row in rows.iter().take(3) {
        let shallow = row.cells.first();
        let binding = msg!("verdict-figure-binding", kind = row.name());
        out.extend(shallow.and_then(|c| change_figure(binding, c, steps)));
        let most = row.extreme(Speed::Faster).or_else(|| row.extreme(Speed::Slower));
        let other = most.filter(|c| shallow.is_none_or(|s| s.steps_b != c.steps_b));
        let by_most = msg!("verdict-figure-most-by-binding", kind = row.name());
        out.extend(other.and_then(|c| change_figure(by_most, c, steps)));
    }
    out
}
