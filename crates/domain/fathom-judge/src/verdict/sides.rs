//! Sentences on the sides of a run that measured in turns; `pinning` and `tune` are made of them.

use fathom_message::{Arg, Join, Message, Quantity, Unit, msg};

use super::kind::{Kind, is_sequential};
use super::parts::{change, change_alone, change_inconclusive, depth, figure};
use crate::compare::farthest;
use crate::document::{
    ComparedFigure, ComparedMetric, ComparedStep, Comparison, CpuView, Figure, Merit, Speed, StepView,
};

/// Interrupts per I/O are named where one side has so much less than the other: coalescing, or polling.
const INTERRUPTS_APART: f64 = 0.1;

/// The cells of one side against the reference that do the same at different loads, shallow to deep.
pub(super) struct Row<'a> {
    /// With the group where there are several.
    pub(super) kind: Kind,
    pub(super) cells: Vec<&'a ComparedStep>,
}

impl<'a> Row<'a> {
    /// `4k random reads`.
    pub(super) fn name(&self) -> Message {
        self.kind.message()
    }

    /// Cells with this verdict.
    pub(super) fn with(&self, verdict: Speed) -> Vec<&'a ComparedStep> {
        self.cells.iter().copied().filter(|c| c.verdict == verdict).collect()
    }

    /// The cell whose ratio is farthest from 1 among those with this verdict.
    pub(super) fn extreme(&self, verdict: Speed) -> Option<&'a ComparedStep> {
        farthest(self.cells.iter().copied(), verdict)
    }
}

/// Cells of a side in rows: random before sequential, reads before writes.
pub(super) fn rows<'a>(comparison: &'a Comparison, side: &str) -> Vec<Row<'a>> {
    let cells: Vec<&ComparedStep> = comparison.steps.iter().filter(|s| s.side == side).collect();
    let several = cells.iter().any(|c| c.group != cells[0].group);
    let mut out: Vec<Row<'a>> = Vec::new();
    for cell in cells {
        let kind = Kind::of_load(&cell.load);
        let kind = if several { kind.in_group(&cell.group) } else { kind };
        match out.iter_mut().find(|row| row.kind == kind) {
            Some(row) => row.cells.push(cell),
            None => out.push(Row { kind, cells: vec![cell] }),
        }
    }
    out.sort_by_key(|r| (is_sequential(r.cells[0].load.pattern), 100 - r.cells[0].load.read_pct));
    for row in &mut out {
        row.cells.sort_by_key(|c| (c.load.threads > 1, c.load.threads * c.load.queue_depth, c.load.threads));
    }
    out
}

/// The load of a cell in a word, as [`depth`].
pub(super) fn cell_depth(cell: &ComparedStep) -> Message {
    depth(cell.load.threads, cell.load.queue_depth)
}

/// `4k random reads at QD 8`.
pub(super) fn cell_message(cell: &ComparedStep) -> Message {
    msg!("verdict-kind-at", kind = Kind::of_load(&cell.load).message(), load = cell_depth(cell))
}

/// `+26.1 % (95 % interval +24.0 to +28.2 %)`: what the side gains or loses.
pub(super) fn cell_change(cell: &ComparedStep) -> Message {
    change(cell.ratio.expect("a cell that is faster or slower has a ratio"), cell.ci95)
}

/// Loads with the same verdict side by side: `QD 1 to 8`, `QD 4 and 16x2`.
pub(super) fn loads(row: &Row<'_>, verdict: Speed) -> Arg {
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
    let one = |(first, last): &(&ComparedStep, &ComparedStep)| match (first.load.queue_depth, last.load.queue_depth) {
        (first_depth, last_depth) if first_depth == last_depth => cell_depth(first),
        (first, last) => msg!("verdict-depths", first = first, last = last),
    };
    Arg::list(runs.iter().map(one), Join::And)
}

/// What the cell gained or lost in figures: IOPS, latency, CPU from the reference to the side.
pub(super) fn cell_figures(cell: &ComparedStep, steps: &[StepView]) -> Message {
    let metric = |name: ComparedFigure| cell.metrics.iter().find(|m| m.name == name);
    let iops = |m: &ComparedMetric| {
        let (from, to) = (Quantity::iops(m.a), Quantity::iops(m.b));
        msg!("verdict-cell-iops", from = from, to = to, change = change(m.ratio, m.ci95))
    };
    let times = |m: &ComparedMetric| {
        let change =
            if m.verdict == Merit::Inconclusive { change_inconclusive(m.ratio) } else { change_alone(m.ratio) };
        (Quantity::ns(m.a), Quantity::ns(m.b), change)
    };
    let mean = metric(ComparedFigure::LatMean).map(times);
    let p99 = metric(ComparedFigure::LatP99).map(times);
    let cost = metric(ComparedFigure::CpuPerIo).map(times);
    let share = |indexes: &[u32]| mean_cpu_pct(steps, indexes).map(Quantity::pct);
    let machine = share(&cell.steps_a).zip(share(&cell.steps_b));
    let interrupts = |indexes: &[u32]| mean_of_cpu(steps, indexes, |cpu| cpu.interrupts_per_io);
    let interrupts = interrupts(&cell.steps_a).zip(interrupts(&cell.steps_b));
    let interrupts = interrupts.filter(|(from, to)| (to - from).abs() > INTERRUPTS_APART * from.max(*to));
    let figures = [
        metric(ComparedFigure::Iops).map(iops),
        mean.map(|(from, to, change)| msg!("verdict-cell-mean", from = from, to = to, change = change)),
        p99.map(|(from, to, change)| msg!("verdict-cell-p99", from = from, to = to, change = change)),
        cost.map(|(from, to, change)| msg!("verdict-cell-cpu", from = from, to = to, change = change)),
        machine.map(|(from, to)| msg!("verdict-cell-machine", from = from, to = to)),
        interrupts.map(|(from, to)| {
            let per_io = |value| Quantity::new(value, Unit::PerIo);
            msg!("verdict-cell-interrupts", from = per_io(from), to = per_io(to))
        }),
    ];
    let figures = Arg::list(figures.into_iter().flatten(), Join::Semicolon);
    msg!("verdict-cell", load = cell_message(cell), figures = figures)
}

/// Busy share of all CPUs, mean over the steps, percent.
fn mean_cpu_pct(steps: &[StepView], indexes: &[u32]) -> Option<f64> {
    mean_of_cpu(steps, indexes, |c| (c.busy_cores / f64::from(c.cpus_online) * 100.0).min(100.0))
}

/// Mean over the steps that know their CPU time.
fn mean_of_cpu(steps: &[StepView], indexes: &[u32], of: impl Fn(&CpuView) -> f64) -> Option<f64> {
    let values: Vec<f64> = steps
        .iter()
        .filter(|s| indexes.contains(&s.index))
        .filter_map(|s| s.cpu.as_ref())
        .filter(|c| c.cpus_online > 0)
        .map(of)
        .collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Every cell of a row in one sentence: `4k random reads: faster at QD 1, the same within 2 % at QD 2 (QD 1 +26.1 %...)`.
pub(super) fn row_sentence(row: &Row<'_>, margin_pct: f64) -> Message {
    let verdicts = outcome_cells(row, margin_pct);
    let each = |cell: &&ComparedStep| match cell.ratio {
        Some(ratio) => {
            msg!("verdict-load-change", load = cell_depth(cell), change = change_alone(ratio))
        }
        None => msg!("verdict-load-without-ratio", load = cell_depth(cell)),
    };
    let cells: Vec<Message> = row.cells.iter().map(each).collect();
    msg!("verdict-row", kind = row.name(), verdicts = verdicts, cells = cells)
}

/// At which loads the side is faster, slower, the same: `faster at QD 1`, `inconclusive at QD 2 to 8`.
pub(super) fn outcome_cells(row: &Row<'_>, margin_pct: f64) -> Vec<Message> {
    let at = |verdict: Speed| -> Option<Arg> {
        match row.with(verdict).len() {
            0 => None,
            n if n > 1 && n == row.cells.len() => Some(msg!("verdict-every-load").into()),
            _ => Some(loads(row, verdict)),
        }
    };
    let margin = Quantity::pct(margin_pct);
    let verdicts = [
        at(Speed::Faster).map(|loads| msg!("verdict-faster-at", loads = loads)),
        at(Speed::Slower).map(|loads| msg!("verdict-slower-at", loads = loads)),
        at(Speed::Same).map(|loads| msg!("verdict-same-at", margin = margin, loads = loads)),
        at(Speed::Inconclusive).map(|loads| msg!("verdict-inconclusive-at", loads = loads)),
    ];
    verdicts.into_iter().flatten().collect()
}

/// Where a row turns from faster to slower or back: `between QD 2 (faster) and QD 4 (slower)`.
pub(super) fn crossovers(row: &Row<'_>) -> Vec<Message> {
    let is_faster = |cell: &ComparedStep| match cell.verdict {
        Speed::Faster => Some(true),
        Speed::Slower => Some(false),
        Speed::Same | Speed::Inconclusive => None,
    };
    let alone = row.cells.iter().copied().filter(|c| c.load.threads == 1);
    let known: Vec<(&ComparedStep, bool)> = alone.filter_map(|c| Some((c, is_faster(c)?))).collect();
    let turn = |pair: &[(&ComparedStep, bool)]| {
        let (from, to) = (cell_depth(pair[0].0), cell_depth(pair[1].0));
        match (pair[0].1, pair[1].1) {
            (true, false) => Some(msg!("verdict-faster-then-slower", from = from, to = to)),
            (false, true) => Some(msg!("verdict-slower-then-faster", from = from, to = to)),
            _ => None,
        }
    };
    known.windows(2).filter_map(turn).collect()
}

/// The change of a cell as a headline figure, percent.
pub(super) fn change_figure(name: Message, cell: &ComparedStep, steps: &[StepView]) -> Option<Figure> {
    let pct = |ratio: f64| (ratio - 1.0) * 100.0;
    let ci95 = cell.ci95.map(|ends| ends.map(pct));
    let step = steps.iter().find(|s| cell.steps_b.contains(&s.index))?;
    Some(figure(name, Quantity::new(pct(cell.ratio?), Unit::ChangePct).with_ci95(ci95), step))
}
