//! Sentences on the sides of a run that measured in turns; `pinning` and `tune` are made of them.

use fathom_units::{format_iops, format_ns};

use super::parts::{change_with_interval, depth_word, load_name};
use crate::compare::{ComparedMetric, ComparedStep, Comparison, change_words, farthest};
use crate::document::{Figure, StepView};

/// The cells of one side against the reference that do the same at different loads, shallow to deep.
pub(super) struct Row<'a> {
    /// `4k random reads`; with the group where there are several.
    pub(super) name: String,
    pub(super) cells: Vec<&'a ComparedStep>,
}

impl<'a> Row<'a> {
    /// Cells with this verdict.
    pub(super) fn with(&self, verdict: &str) -> Vec<&'a ComparedStep> {
        self.cells.iter().copied().filter(|c| c.verdict == verdict).collect()
    }

    /// The cell whose ratio is farthest from 1 among those with this verdict.
    pub(super) fn extreme(&self, verdict: &str) -> Option<&'a ComparedStep> {
        farthest(self.cells.iter().copied(), verdict)
    }
}

/// Cells of a side in rows: random before sequential, reads before writes.
pub(super) fn rows<'a>(comparison: &'a Comparison, side: &str) -> Vec<Row<'a>> {
    let cells: Vec<&ComparedStep> = comparison.steps.iter().filter(|s| s.side == side).collect();
    let several = cells.iter().any(|c| c.group != cells[0].group);
    let mut out: Vec<Row<'a>> = Vec::new();
    for cell in cells {
        let kind = load_name(&cell.load.pattern, cell.load.read_pct, cell.load.block_size_bytes);
        let name = if several { format!("{kind} of {}", cell.group) } else { kind };
        match out.iter_mut().find(|row| row.name == name) {
            Some(row) => row.cells.push(cell),
            None => out.push(Row { name, cells: vec![cell] }),
        }
    }
    out.sort_by_key(|r| (r.cells[0].load.pattern == "sequential", 100 - r.cells[0].load.read_pct));
    for row in &mut out {
        row.cells.sort_by_key(|c| (c.load.threads > 1, c.load.threads * c.load.queue_depth, c.load.threads));
    }
    out
}

/// The load of a cell in a word, as [`depth_word`].
pub(super) fn load_word(cell: &ComparedStep) -> String {
    depth_word(cell.load.threads, cell.load.queue_depth)
}

/// Loads with the same verdict side by side: `QD 1 to 8`, `QD 4 and 16x2`.
pub(super) fn loads_words(row: &Row<'_>, verdict: &str) -> String {
    let mut runs: Vec<(&ComparedStep, &ComparedStep)> = Vec::new();
    let mut open = false;
    let mut threads = 0;
    for cell in &row.cells {
        let fits = cell.verdict == verdict;
        match runs.last_mut().filter(|_| open && fits && cell.load.threads == 1 && threads == 1) {
            Some(run) => run.1 = cell,
            None if fits => runs.push((cell, cell)),
            None => {}
        }
        (open, threads) = (fits, cell.load.threads);
    }
    let words: Vec<String> = runs
        .iter()
        .map(|(first, last)| match first.load.queue_depth == last.load.queue_depth {
            true => load_word(first),
            false => format!("QD {} to {}", first.load.queue_depth, last.load.queue_depth),
        })
        .collect();
    joined(&words)
}

/// `a, b and c`.
pub(super) fn joined(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// What the cell gained or lost in figures: IOPS, latency, CPU from the reference to the side.
pub(super) fn figures_sentence(cell: &ComparedStep, steps: &[StepView]) -> String {
    let figure = |name: &str| cell.metrics.iter().find(|m| m.name == name);
    let mut parts = Vec::new();
    if let Some(m) = figure("iops") {
        parts.push(format!(
            "{} to {} IOPS, {}",
            format_iops(m.a),
            format_iops(m.b),
            change_with_interval(m.ratio, m.ci95)
        ));
    }
    for (name, word) in [("lat_mean", "mean latency"), ("lat_p99", "p99"), ("cpu_per_io", "CPU per I/O")] {
        if let Some(m) = figure(name) {
            parts.push(format!(
                "{word} {} to {} ({}{})",
                format_ns(m.a),
                format_ns(m.b),
                change_words(m.ratio),
                unsure(m)
            ));
        }
    }
    let share = |indexes: &[u32]| mean_cpu_pct(steps, indexes);
    if let (Some(a), Some(b)) = (share(&cell.steps_a), share(&cell.steps_b)) {
        parts.push(format!("CPU of the whole machine {a:.1} to {b:.1} %"));
    }
    format!("{} at {}: {}.", row_name(cell), load_word(cell), parts.join("; "))
}

fn row_name(cell: &ComparedStep) -> String {
    load_name(&cell.load.pattern, cell.load.read_pct, cell.load.block_size_bytes)
}

fn unsure(metric: &ComparedMetric) -> &'static str {
    if metric.verdict == "unsure" { ", not sure" } else { "" }
}

/// Busy share of all CPUs, mean over the steps, percent.
fn mean_cpu_pct(steps: &[StepView], indexes: &[u32]) -> Option<f64> {
    let shares: Vec<f64> = steps
        .iter()
        .filter(|s| indexes.contains(&s.index))
        .filter_map(|s| s.cpu.as_ref())
        .filter(|c| c.cpus_online > 0)
        .map(|c| (c.busy_cores / f64::from(c.cpus_online) * 100.0).min(100.0))
        .collect();
    (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
}

/// Every cell of a row in one sentence: `4k random reads: QD 1 +26.1 %, QD 2 +0.4 % (same)...`.
pub(super) fn row_sentence(row: &Row<'_>, margin_pct: f64) -> String {
    let mut parts = Vec::new();
    for (verdict, word) in [("faster", "faster"), ("slower", "slower"), ("same", "the same"), ("unsure", "cannot tell")]
    {
        if row.with(verdict).is_empty() {
            continue;
        }
        let what = if verdict == "same" { format!("{word} within {margin_pct} %") } else { word.to_owned() };
        let loads = match row.cells.len() {
            n if n > 1 && row.with(verdict).len() == n => "every load".to_owned(),
            _ => loads_words(row, verdict),
        };
        parts.push(format!("{what} at {loads}"));
    }
    let each: Vec<String> = row
        .cells
        .iter()
        .map(|c| format!("{} {}", load_word(c), c.ratio.map_or_else(|| "no ratio".to_owned(), change_words)))
        .collect();
    format!("{}: {} ({}).", row.name, parts.join(", "), each.join(", "))
}

/// Where a row turns from faster to slower or back: `between QD 2 and QD 4`.
pub(super) fn crossovers(row: &Row<'_>) -> Vec<String> {
    let told: Vec<&ComparedStep> = row
        .cells
        .iter()
        .copied()
        .filter(|c| c.load.threads == 1 && ["faster", "slower"].contains(&c.verdict.as_str()))
        .collect();
    told.windows(2)
        .filter(|w| w[0].verdict != w[1].verdict)
        .map(|w| format!("between {} ({}) and {} ({})", load_word(w[0]), w[0].verdict, load_word(w[1]), w[1].verdict))
        .collect()
}

/// The change of a cell as a headline figure, percent.
pub(super) fn change_figure(name: &str, cell: &ComparedStep) -> Option<Figure> {
    let pct = |ratio: f64| (ratio - 1.0) * 100.0;
    Some(Figure {
        name: name.to_owned(),
        value: pct(cell.ratio?),
        unit: "%".to_owned(),
        ci95: cell.ci95.map(|[low, high]| [pct(low), pct(high)]),
        load: cell.label.clone(),
        step: *cell.steps_b.first()?,
    })
}
