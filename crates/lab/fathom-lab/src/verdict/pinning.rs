//! Does binding threads to cores help, and until which queue depth? Reads and writes apart, with the crossovers.

use fathom_stats::{Effect, Relation, adjusted_p_values, relation};

use super::parts::{caveats, change_with_interval, nothing_measured};
use super::sides::{
    Row, change_figure, crossovers, figures_sentence, joined, load_word, loads_words, row_sentence, rows,
};
use crate::compare::{ComparedStep, Comparison, effect};
use crate::document::{Figure, StepView, Verdict};

/// Answers from the sides of the run; the first side is the reference, `unpinned` in the shipped study.
pub(super) fn verdicts(question: &str, steps: &[StepView], comparison: &Comparison) -> Vec<Verdict> {
    let mut out = Vec::new();
    for side in comparison.sides.iter().skip(1) {
        let rows = rows(comparison, &side.name);
        if rows.is_empty() {
            continue;
        }
        let mut evidence: Vec<String> = rows.iter().filter_map(|r| best_sentence(r, steps)).collect();
        evidence.extend(rows.iter().map(|r| row_sentence(r, comparison.margin_pct)));
        evidence.extend(rows.iter().filter_map(crossover_sentence));
        evidence.extend(overtakes(&rows, steps, &comparison.sides[0].title, comparison.margin_pct));
        let mut mind = caveats(steps);
        mind.extend(comparison.caveats.iter().cloned());
        out.push(Verdict {
            question: question.to_owned(),
            answer: answer(&rows, &side.title, comparison.margin_pct),
            evidence,
            would_help: advice(&rows, &side.title),
            caveats: mind,
            figures: figures(&rows),
        });
    }
    if out.is_empty() { vec![nothing_measured(question, steps)] } else { out }
}

/// A sentence for random reads and one for random writes; other rows stand with the evidence.
fn answer(rows: &[Row<'_>], side: &str, margin_pct: f64) -> String {
    let random: Vec<&Row<'_>> = rows.iter().filter(|r| r.cells[0].load.pattern != "sequential").collect();
    let shown = if random.is_empty() { rows.iter().collect() } else { random };
    let parts: Vec<String> = shown.iter().map(|row| row_answer(row, margin_pct)).collect();
    format!("Binding threads (`{side}`) {}.", parts.join("; it "))
}

fn row_answer(row: &Row<'_>, margin_pct: f64) -> String {
    let (faster, slower) = (row.with("faster"), row.with("slower"));
    let by = |verdict: &str| {
        row.extreme(verdict).map_or_else(String::new, |c| {
            let ratio = c.ratio.expect("a cell with a verdict has a ratio");
            format!("{} at {}", change_with_interval(ratio, c.ci95), load_word(c))
        })
    };
    let rest = || {
        let words: Vec<String> = [("same", "no difference"), ("unsure", "cannot be told")]
            .iter()
            .filter(|(verdict, _)| !row.with(verdict).is_empty())
            .map(|(verdict, word)| format!("{word} at {}", loads_words(row, verdict)))
            .collect();
        if words.is_empty() { String::new() } else { format!(", {}", words.join(", ")) }
    };
    let name = &row.name;
    match (faster.is_empty(), slower.is_empty()) {
        (false, true) => {
            format!("helps {name} at {}, by up to {}{}", loads_words(row, "faster"), by("faster"), rest())
        }
        (true, false) => {
            format!("slows {name} at {}, by up to {}{}", loads_words(row, "slower"), by("slower"), rest())
        }
        (false, false) => format!(
            "helps {name} at {}, by up to {}, and slows them at {}, by up to {}{}",
            loads_words(row, "faster"),
            by("faster"),
            loads_words(row, "slower"),
            by("slower"),
            rest()
        ),
        (true, true) if row.with("same").len() == row.cells.len() => {
            format!("makes no difference for {name}: the same within {margin_pct} % at every load")
        }
        (true, true) if row.with("unsure").len() == row.cells.len() => {
            format!("cannot be judged for {name}: the noise is larger than any effect")
        }
        (true, true) => format!("shows no effect on {name}{}", rest()),
    }
}

/// The figures of the load where binding did most, or of the shallowest.
fn best_sentence(row: &Row<'_>, steps: &[StepView]) -> Option<String> {
    let cell = row.extreme("faster").or_else(|| row.extreme("slower")).or(row.cells.first().copied())?;
    Some(figures_sentence(cell, steps))
}

fn crossover_sentence(row: &Row<'_>) -> Option<String> {
    let places = crossovers(row);
    (!places.is_empty()).then(|| format!("Crossover for {}: {}.", row.name, joined(&places)))
}

/// Where reads overtake writes of the same size, or the other way round, on the reference side with one thread.
///
/// Claimed only between depths at which the intervals are apart; depths at which they are not lie in between.
fn overtakes(rows: &[Row<'_>], steps: &[StepView], reference: &str, margin_pct: f64) -> Vec<String> {
    let random = |read_pct: u8| {
        rows.iter().filter(move |r| {
            let load = &r.cells[0].load;
            load.pattern == "random" && load.read_pct == read_pct
        })
    };
    let mut out = Vec::new();
    for reads in random(100) {
        let alike = |w: &&Row<'_>| {
            let (r, w) = (reads.cells[0], w.cells[0]);
            (r.load.block_size_bytes, &r.group) == (w.load.block_size_bytes, &w.group)
        };
        for writes in random(0).filter(alike) {
            let told = reads_ahead(reads, writes, steps, margin_pct);
            out.extend(told.windows(2).filter(|w| w[0].1 != w[1].1).map(|w| {
                let (ahead, behind) = if w[1].1 { (reads, writes) } else { (writes, reads) };
                format!(
                    "With `{reference}`, {} overtake {} between QD {} and QD {}.",
                    ahead.name, behind.name, w[0].0, w[1].0
                )
            }));
        }
    }
    out
}

/// Queue depths at which reads and writes of the reference with one thread are told apart, and whether reads are ahead.
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
            Some((read.load.queue_depth, effect("iops", &repeats(write), &repeats(read))?))
        })
        .collect();
    let p: Vec<f64> = effects.iter().map(|(_, e)| e.p_value()).collect();
    let told = effects.iter().zip(adjusted_p_values(&p)).filter_map(|((depth, effect), p)| {
        match relation(effect, p, margin_pct) {
            Relation::Higher => Some((*depth, true)),
            Relation::Lower => Some((*depth, false)),
            Relation::Same | Relation::Unsure => None,
        }
    });
    told.collect()
}

fn advice(rows: &[Row<'_>], side: &str) -> Vec<String> {
    let (faster, slower): (Vec<_>, Vec<_>) = (
        rows.iter().filter(|r| !r.with("faster").is_empty()).collect(),
        rows.iter().filter(|r| !r.with("slower").is_empty()).collect(),
    );
    let mut out: Vec<String> =
        faster.iter().map(|r| format!("{} at {}: `{side}`.", r.name, loads_words(r, "faster"))).collect();
    out.extend(
        slower
            .iter()
            .map(|r| format!("{} at {}: leave the threads to the scheduler.", r.name, loads_words(r, "slower"))),
    );
    out
}

fn figures(rows: &[Row<'_>]) -> Vec<Figure> {
    let mut out = Vec::new();
    for row in rows.iter().take(3) {
        let shallow = row.cells.first();
        out.extend(shallow.and_then(|c| change_figure(&format!("Binding, {}", row.name), c)));
        let most = row.extreme("faster").or_else(|| row.extreme("slower"));
        let other = most.filter(|c| shallow.is_none_or(|s| s.steps_b != c.steps_b));
        out.extend(other.and_then(|c| change_figure(&format!("Most by binding, {}", row.name), c)));
    }
    out
}
