//! Did the setting help? The A and B of one named setting, or of any run that measured its sides in turns.

use super::parts::{caveats, change_with_interval, nothing_measured};
use super::sides::{Row, change_figure, figures_sentence, row_sentence, rows};
use crate::compare::{ComparedStep, Comparison, farthest};
use crate::document::{Figure, StepView, Verdict};

/// One answer per side against the reference.
pub(super) fn verdicts(question: &str, steps: &[StepView], comparison: &Comparison) -> Vec<Verdict> {
    let mut out = Vec::new();
    for side in comparison.sides.iter().skip(1) {
        let rows = rows(comparison, &side.name);
        let cells: Vec<&ComparedStep> = rows.iter().flat_map(|r| r.cells.iter().copied()).collect();
        if cells.is_empty() {
            continue;
        }
        let mut evidence: Vec<String> = told(&cells).into_iter().map(|c| figures_sentence(c, steps)).collect();
        if cells.len() > 1 {
            evidence.extend(rows.iter().map(|r| row_sentence(r, comparison.margin_pct)));
        }
        let mut mind = caveats(steps);
        mind.extend(comparison.caveats.iter().cloned());
        out.push(Verdict {
            question: question.to_owned(),
            answer: answer(&cells, &side.title, &comparison.sides[0].title, comparison.margin_pct),
            evidence,
            would_help: advice(&rows, &side.title, &comparison.sides[0].title),
            caveats: mind,
            figures: figures(&cells),
        });
    }
    if out.is_empty() { vec![nothing_measured(question, steps)] } else { out }
}

/// The cells worth their figures: the farthest of those that changed, or the first.
fn told<'a>(cells: &[&'a ComparedStep]) -> Vec<&'a ComparedStep> {
    let chosen: Vec<&ComparedStep> =
        ["faster", "slower"].iter().filter_map(|v| farthest(cells.iter().copied(), v)).collect();
    if chosen.is_empty() { cells.iter().copied().take(1).collect() } else { chosen }
}

fn answer(cells: &[&ComparedStep], side: &str, reference: &str, margin_pct: f64) -> String {
    let count = |verdict: &str| cells.iter().filter(|c| c.verdict == verdict).count();
    let of = |n: usize| match (n == cells.len(), cells.len()) {
        (true, 1) => String::new(),
        (true, all) => format!(" at all {all} loads"),
        (false, all) => format!(" at {n} of {all} loads"),
    };
    let most = |verdict: &str| {
        farthest(cells.iter().copied(), verdict).map_or_else(String::new, |c| {
            let ratio = c.ratio.expect("a cell with a verdict has a ratio");
            format!("{} for {}", change_with_interval(ratio, c.ci95), c.label)
        })
    };
    let against = format!("`{side}` against `{reference}`");
    match (count("faster"), count("slower")) {
        (0, 0) if count("same") == cells.len() => {
            format!("No: {against} makes no difference, the same within {margin_pct} %{}.", of(cells.len()))
        }
        (0, 0) if count("same") == 0 => {
            format!("It cannot be told: {against} differs by less than the noise{}.", of(cells.len()))
        }
        (0, 0) => format!(
            "No difference was found: {against} is the same within {margin_pct} %{}, and cannot be told at the others.",
            of(count("same"))
        ),
        (faster, 0) => format!("Yes: {against} is faster{}, by up to {}.", of(faster), most("faster")),
        (0, slower) => format!("No: {against} is slower{}, by up to {}.", of(slower), most("slower")),
        (faster, slower) => format!(
            "It depends: {against} is faster{}, by up to {}, and slower{}, by up to {}.",
            of(faster),
            most("faster"),
            of(slower),
            most("slower")
        ),
    }
}

fn advice(rows: &[Row<'_>], side: &str, reference: &str) -> Vec<String> {
    let any = |verdict: &str| rows.iter().any(|r| !r.with(verdict).is_empty());
    match (any("faster"), any("slower")) {
        (true, false) => vec![format!("Keep `{side}` for these loads.")],
        (false, true) => vec![format!("Stay with `{reference}`.")],
        _ => Vec::new(),
    }
}

fn figures(cells: &[&ComparedStep]) -> Vec<Figure> {
    cells.iter().take(6).filter_map(|c| change_figure("Change of speed", c)).collect()
}
