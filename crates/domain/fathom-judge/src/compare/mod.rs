//! Sets runs, or the two sides of one run, against each other: environment first, then step by step.

mod arms;
mod cell;
mod environment;
mod first_look;
mod ledger;
mod runs;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod truth;
mod words;

use fathom_message::Message;
use fathom_stats::{Effect, FALSE_DISCOVERY_RATE, Relation, adjusted_p_values, relation, run_to_run_spread};

pub use arms::compare_arms;
pub use fathom_stats::MARGIN_PCT;
pub use ledger::{PastRun, host_identity};
pub use runs::{CompareRunsError, compare_runs};

pub(crate) use cell::effect;
pub(crate) use first_look::verdict_cell;

use cell::Cell;

use crate::document::{
    Brief, COMPARISON_SCHEMA, ComparedFigure, ComparedStep, Comparison, ComparisonKind, Difference, Side, Speed,
    Unmatched,
};

/// What is left to do once the cells are known: verdicts over all of them, and the words.
fn concluded(
    sides: Vec<Side>,
    environment: Vec<Difference>,
    cells: Vec<Cell>,
    unmatched: Vec<Unmatched>,
    margin_pct: f64,
) -> Comparison {
    let spread = run_to_run(&cells);
    let steps = judged(cells, spread, margin_pct);
    let mut comparison = Comparison {
        fathom: env!("CARGO_PKG_VERSION").to_owned(),
        schema: COMPARISON_SCHEMA,
        kind: ComparisonKind::Comparison,
        sides,
        environment,
        margin_pct,
        false_discovery_rate: FALSE_DISCOVERY_RATE,
        answer: Message::verbatim(""),
        brief: Brief::default(),
        besides: None,
        caveats: Vec::new(),
        steps,
        unmatched,
    };
    comparison.answer = words::answer(&comparison);
    comparison.caveats = words::caveats(&comparison, spread);
    comparison.besides = first_look::besides(&comparison);
    comparison.brief = first_look::brief(&comparison);
    comparison
}

/// Spread from run to run, from the cells that were not interleaved.
fn run_to_run(cells: &[Cell]) -> f64 {
    let unpaired: Vec<Effect> =
        cells.iter().filter(|c| !c.is_paired()).filter_map(|c| c.headline().and_then(|h| h.effect)).collect();
    run_to_run_spread(&unpaired)
}

/// Verdicts, each kind of figure corrected for the number of its cells.
fn judged(cells: Vec<Cell>, spread: f64, margin_pct: f64) -> Vec<ComparedStep> {
    let mut cells = cells;
    for cell in cells.iter_mut().filter(|c| !c.is_paired()) {
        cell.widen(spread);
    }
    let mut adjusted: Vec<Vec<f64>> = cells.iter().map(|c| vec![1.0; c.figures.len()]).collect();
    for name in ComparedFigure::ALL {
        let places: Vec<(usize, usize)> = cells
            .iter()
            .enumerate()
            .filter_map(|(c, cell)| Some((c, cell.figures.iter().position(|f| f.name == *name)?)))
            .collect();
        let p: Vec<f64> =
            places.iter().map(|(c, f)| cells[*c].figures[*f].effect.map_or(1.0, |e| e.p_value())).collect();
        for ((c, f), p) in places.into_iter().zip(adjusted_p_values(&p)) {
            adjusted[c][f] = p;
        }
    }
    cells.into_iter().zip(adjusted).map(|(cell, p)| cell.conclude(&p, margin_pct)).collect()
}

/// The step whose ratio is farthest from 1 among those with this verdict.
pub(crate) fn farthest<'a>(
    steps: impl IntoIterator<Item = &'a ComparedStep>,
    verdict: Speed,
) -> Option<&'a ComparedStep> {
    let far = |s: &ComparedStep| s.ratio.map_or(0.0, |r| r.ln().abs());
    steps.into_iter().filter(|s| s.verdict == verdict).max_by(|a, b| far(a).total_cmp(&far(b)))
}

/// The verdict on `effect`; without one nothing can be said.
fn relation_of(effect: Option<&Effect>, p_adjusted: f64, margin_pct: f64) -> Relation {
    effect.map_or(Relation::Inconclusive, |e| relation(e, p_adjusted, margin_pct))
}
