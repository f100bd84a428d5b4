//! The figures after SNIA PTS: in which round each test was steady, and the means of its measurement window.

use fathom_message::{Arg, Join, Message, Quantity, msg};
use fathom_model::LimitName;
use fathom_stats::mean_of_rounds;

use super::brief::{brief, limited, report, row};
use super::kind::Kind;
use super::parts::{figure, load, measured, nothing_measured, sentences, verdict};
use crate::document::{Brief, Figure, LoopCell, LoopView, PtsView, StepView, Verdict};

/// Which test of the specification, by the name of its ladder in the study.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Name {
    Iops,
    Throughput,
    Latency,
    WriteSaturation,
    /// A ladder of a study of the user's own.
    Other(String),
    /// A loop of a ladder without a name.
    None,
}

impl Name {
    fn of(step: &StepView) -> Name {
        match step.role.test.as_deref() {
            Some("iops") => Name::Iops,
            Some("throughput") => Name::Throughput,
            Some("latency") => Name::Latency,
            Some("wsat") => Name::WriteSaturation,
            Some(other) => Name::Other(other.to_owned()),
            None => Name::None,
        }
    }
}

/// One test of the specification: the rounds of one loop.
struct Test<'a> {
    name: Name,
    /// All measured steps of its rounds, in order.
    steps: Vec<&'a StepView>,
    pts: Option<&'a PtsView>,
}

/// One cell of a test over the measurement window.
struct Cell<'a> {
    first: &'a StepView,
    mean: Quantity,
}

/// Answers test by test; runs without rounds have no answer of this kind.
pub(super) fn verdicts(question: &Message, steps: &[StepView], run: i64) -> Vec<Verdict> {
    let tests = tests(steps);
    if tests.is_empty() {
        return vec![nothing_measured(question, steps)];
    }
    let means = tests.iter().any(|test| test.pts.is_some()).then(|| msg!("verdict-test-means"));
    let answer = sentences(tests.iter().flat_map(answer).chain(means));
    let evidence = tests.iter().flat_map(|t| determination(t).into_iter().chain(table(t))).collect();
    let figures = tests.iter().flat_map(figures).take(6).collect();
    vec![verdict(question, first_look(&tests, run), answer, evidence, figures, steps)]
}

/// The first test's figure, and a row for each test.
fn first_look(tests: &[Test<'_>], run: i64) -> Brief {
    let steady = |test: &Test<'_>| match test.pts.map(|pts| (pts.reached, pts.window)) {
        Some((true, Some([_, last]))) => msg!("brief-cell-steady", last = last, max = test.rounds_max()),
        Some((true, None)) => msg!("brief-cell-steady-somewhere"),
        Some((false, _)) => msg!("brief-cell-not-steady", rounds = test.rounds(), max = test.rounds_max()),
        None => msg!("brief-cell-too-few-rounds", rounds = test.rounds()),
    };
    let main = &tests[0];
    let headline = match main.headline().first() {
        Some(cell) => {
            let kind = Kind::of(cell.first).message();
            let (test, figure, steady) = (main.message(), cell.mean, steady(main));
            // One load alone often cannot tell what limits it; that is no part of the answer.
            match cell.first.limit.name {
                LimitName::Unknown => msg!("brief-test", test = test, kind = kind, figure = figure, steady = steady),
                _ => {
                    let limited = limited(cell.first);
                    msg!(
                        "brief-test-limited",
                        test = test,
                        kind = kind,
                        figure = figure,
                        steady = steady,
                        limited = limited
                    )
                }
            }
        }
        None => msg!("verdict-nothing-measured"),
    };
    let of_test = |test: &Test<'_>| {
        // The load that is looked at; the others are among the evidence.
        let cells = test.headline();
        let figure =
            cells.first().map(|c| msg!("brief-cell-figure", kind = Kind::of(c.first).message(), figure = c.mean));
        row(test.message(), std::iter::once(steady(test)).chain(figure))
    };
    brief(headline, tests.iter().map(of_test), Some(report(run)))
}

/// The loops of a run with the means of their workloads over the measurement window.
#[must_use]
pub fn loops(steps: &[StepView]) -> Vec<LoopView> {
    tests(steps).iter().filter_map(Test::view).collect()
}

fn tests(steps: &[StepView]) -> Vec<Test<'_>> {
    let mut out: Vec<(u32, Test<'_>)> = Vec::new();
    for step in measured(steps) {
        let Some(round) = step.role.round else { continue };
        match out.iter_mut().find(|(id, _)| *id == round.loop_id) {
            Some((_, test)) => test.steps.push(step),
            None => out.push((round.loop_id, Test { name: Name::of(step), steps: vec![step], pts: None })),
        }
    }
    let mut tests: Vec<Test<'_>> = out.into_iter().map(|(_, test)| test).collect();
    for test in &mut tests {
        test.pts = test.steps.iter().find_map(|s| s.steady.as_ref()?.pts.as_ref());
    }
    tests
}

impl Test<'_> {
    fn view(&self) -> Option<LoopView> {
        let first = self.steps.first()?;
        let tracked = |step: &&&StepView| step.role.round.is_some_and(|round| round.metric.is_some());
        let cell = |c: Cell<'_>| LoopCell { step: c.first.index, mean: c.mean.value, ci95: c.mean.ci95 };
        Some(LoopView {
            loop_id: first.role.round?.loop_id,
            test: first.role.test.clone(),
            tracked: self.steps.iter().find(tracked).map(|step| step.index),
            rounds: u32::try_from(self.rounds()).ok()?,
            unit: self.quantity(0.0).unit,
            cells: self.cells().into_iter().map(cell).collect(),
        })
    }

    fn message(&self) -> Message {
        match &self.name {
            Name::Iops => msg!("verdict-test-iops"),
            Name::Throughput => {
                let block = Quantity::block(self.steps[0].block_size_bytes.into());
                msg!("verdict-test-throughput", block = block)
            }
            Name::Latency => msg!("verdict-test-latency"),
            Name::WriteSaturation => msg!("verdict-test-saturation"),
            Name::Other(name) => msg!("verdict-test-named", name = name),
            Name::None => msg!("verdict-test-rounds"),
        }
    }

    /// Most rounds that the plan has for it.
    fn rounds_max(&self) -> u32 {
        self.steps.iter().filter_map(|step| step.role.round).map(|round| round.max).max().unwrap_or(0)
    }

    /// Rounds that were done.
    fn rounds(&self) -> usize {
        let mut seen: Vec<u32> = self.steps.iter().filter_map(|s| Some(s.role.round?.index)).collect();
        seen.dedup();
        seen.len()
    }

    /// What the test reports, with its unit.
    fn quantity(&self, value: f64) -> Quantity {
        match self.name {
            Name::Throughput => Quantity::bytes_per_s(value),
            Name::Latency => Quantity::ns(value),
            Name::Iops | Name::WriteSaturation | Name::Other(_) | Name::None => Quantity::iops(value),
        }
    }

    fn value(&self, step: &StepView) -> Option<f64> {
        match self.name {
            Name::Throughput => Some(step.bytes_per_s),
            Name::Latency => step.lat_ns.as_ref().map(|l| l.mean),
            Name::Iops | Name::WriteSaturation | Name::Other(_) | Name::None => Some(step.iops),
        }
    }

    /// The rounds of the measurement window; all of them where there is none.
    fn in_window(&self, step: &StepView) -> bool {
        let round = step.role.round.map_or(0, |r| r.index + 1);
        self.pts.and_then(|p| p.window).is_none_or(|[first, last]| (first..=last).contains(&round))
    }

    fn cells(&self) -> Vec<Cell<'_>> {
        let mut rows: Vec<((Kind, Message), Vec<&StepView>)> = Vec::new();
        for step in self.steps.iter().filter(|s| self.in_window(s)) {
            let key = (Kind::of(step), load(step));
            match rows.iter_mut().find(|(k, _)| *k == key) {
                Some((_, row)) => row.push(step),
                None => rows.push((key, vec![step])),
            }
        }
        let cell = |row: &[&'_ StepView]| {
            let values: Vec<f64> = row.iter().filter_map(|s| self.value(s)).collect();
            let (mean, ci95) = mean_of_rounds(&values)?;
            Some(self.quantity(mean).with_ci95(ci95.map(|(low, high)| [low, high])))
        };
        rows.iter().filter_map(|(_, row)| cell(row).map(|mean| Cell { first: row[0], mean })).collect()
    }

    /// The cell that the test looks at, then the one with the best figure.
    fn headline(&self) -> Vec<Cell<'_>> {
        let tracked = |c: &Cell<'_>| c.first.role.round.is_some_and(|r| r.metric.is_some());
        let better = |a: &Cell<'_>, b: &Cell<'_>| match self.name {
            Name::Latency => b.mean.value.total_cmp(&a.mean.value),
            _ => a.mean.value.total_cmp(&b.mean.value),
        };
        let (mut looked_at, others): (Vec<Cell<'_>>, Vec<Cell<'_>>) = self.cells().into_iter().partition(tracked);
        looked_at.truncate(1);
        looked_at.extend(others.into_iter().max_by(better));
        looked_at
    }
}

fn answer(test: &Test<'_>) -> Vec<Message> {
    let name = test.message();
    let one = |c: &Cell<'_>| msg!("verdict-test-figure", kind = Kind::of(c.first).message(), figure = c.mean);
    let figures: Vec<Message> = test.headline().iter().map(one).collect();
    let first = match test.pts.map(|pts| (pts.reached, pts.window)) {
        Some((true, Some([first, last]))) => {
            let max = test.rounds_max();
            msg!("verdict-test-steady", test = name, first = first, last = last, max = max, figures = figures)
        }
        // Runs from elsewhere may keep the verdict without its window.
        Some((true, None)) => msg!("verdict-test-steady-somewhere", test = name, figures = figures),
        Some((false, _)) => {
            let (rounds, max) = (test.rounds(), test.rounds_max());
            msg!("verdict-test-not-steady", test = name, rounds = rounds, max = max, figures = figures)
        }
        None => return vec![msg!("verdict-test-too-few", test = name, rounds = test.rounds(), figures = figures)],
    };
    std::iter::once(first).chain(saturation(test)).collect()
}

/// How far a drive sank from its first round, and what it took.
fn saturation(test: &Test<'_>) -> Option<Message> {
    let (first, last) = (test.steps.first()?, test.steps.last()?);
    if test.name != Name::WriteSaturation || first.index == last.index {
        return None;
    }
    let written: f64 = test.steps.iter().map(|s| s.bytes_per_s * s.passed_s()).sum();
    Some(msg!(
        "verdict-test-sank",
        first = test.quantity(first.iops),
        last = test.quantity(last.iops),
        change = Quantity::change(last.iops / first.iops),
        written = Quantity::bytes(written as u64)
    ))
}

/// The steady state determination in figures.
fn determination(test: &Test<'_>) -> Option<Message> {
    let pts = test.pts?;
    let share = |part: f64| Quantity::share(part / pts.average);
    Some(msg!(
        "verdict-test-determination",
        test = test.message(),
        determination = &pts.determination,
        average = test.quantity(pts.average),
        range = share(pts.range),
        slope = share(pts.excursion),
        line = &pts.line
    ))
}

/// The table of the specification, a row per block size.
fn table(test: &Test<'_>) -> Vec<Message> {
    let mut rows: Vec<(u32, Vec<Message>)> = Vec::new();
    for cell in test.cells() {
        let mix = match cell.first.read_pct {
            100 => msg!("verdict-reads"),
            0 => msg!("verdict-writes"),
            share => Message::verbatim(format!("{share}/{}", 100 - share)),
        };
        let cell_message = msg!("verdict-test-cell", mix = mix, figure = cell.mean);
        match rows.iter_mut().find(|(block, _)| *block == cell.first.block_size_bytes) {
            Some((_, row)) => row.push(cell_message),
            None => rows.push((cell.first.block_size_bytes, vec![cell_message])),
        }
    }
    let row = |(block, cells): (u32, Vec<Message>)| {
        let (block, cells) = (Quantity::block(block.into()), Arg::list(cells, Join::Dot));
        msg!("verdict-test-row", test = test.message(), block = block, cells = cells)
    };
    rows.into_iter().map(row).collect()
}

fn figures(test: &Test<'_>) -> Vec<Figure> {
    let of_cell = |cell: Cell<'_>| {
        let kind = Kind::of(cell.first).message();
        figure(msg!("verdict-figure-test", test = test.message(), kind = kind), cell.mean, cell.first)
    };
    test.headline().into_iter().map(of_cell).collect()
}
