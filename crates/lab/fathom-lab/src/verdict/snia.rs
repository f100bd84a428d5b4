//! The figures after SNIA PTS: in which round each test was steady, and the means of its measurement window.

use fathom_stats::mean_of_rounds;
use fathom_units::{format_block, format_bytes, format_iops, format_ns, format_rate};

use super::parts::{caveats, kind_name, load, measured, nothing_measured};
use crate::document::{Figure, PtsView, StepView, Verdict};

/// One test of the specification: the rounds of one loop.
struct Test<'a> {
    /// `iops`, `throughput`, `latency`, `wsat`; the name of the ladder.
    name: String,
    /// All measured steps of its rounds, in order.
    steps: Vec<&'a StepView>,
    pts: Option<&'a PtsView>,
}

/// One cell of a test over the measurement window.
struct Cell<'a> {
    first: &'a StepView,
    mean: f64,
    ci95: Option<(f64, f64)>,
}

/// What a test reports.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Iops,
    Rate,
    Latency,
}

/// Answers test by test; runs without rounds have no answer of this kind.
pub(super) fn verdicts(question: &str, steps: &[StepView]) -> Vec<Verdict> {
    let tests = tests(steps);
    if tests.is_empty() {
        return vec![nothing_measured(question, steps)];
    }
    let answers: Vec<String> = tests.iter().map(answer).collect();
    let evidence = tests.iter().flat_map(|t| determination(t).into_iter().chain(table(t))).collect();
    vec![Verdict {
        question: question.to_owned(),
        answer: answers.join(" "),
        evidence,
        would_help: Vec::new(),
        caveats: caveats(steps),
        figures: tests.iter().flat_map(figures).take(6).collect(),
    }]
}

fn tests(steps: &[StepView]) -> Vec<Test<'_>> {
    let mut out: Vec<(u32, Test<'_>)> = Vec::new();
    for step in measured(steps) {
        let Some(round) = step.role.round else { continue };
        let name = step.role.test.clone().unwrap_or_else(|| "rounds".to_owned());
        match out.iter_mut().find(|(id, _)| *id == round.loop_id) {
            Some((_, test)) => test.steps.push(step),
            None => out.push((round.loop_id, Test { name, steps: vec![step], pts: None })),
        }
    }
    let mut tests: Vec<Test<'_>> = out.into_iter().map(|(_, test)| test).collect();
    for test in &mut tests {
        test.pts = test.steps.iter().find_map(|s| s.steady.as_ref()?.pts.as_ref());
    }
    tests
}

impl Test<'_> {
    fn unit(&self) -> Unit {
        match self.name.as_str() {
            "throughput" => Unit::Rate,
            "latency" => Unit::Latency,
            _ => Unit::Iops,
        }
    }

    fn title(&self) -> String {
        let block = || format_block(u64::from(self.steps[0].block_size_bytes));
        match self.name.as_str() {
            "iops" => "IOPS test".to_owned(),
            "throughput" => format!("Throughput test, {}", block()),
            "latency" => "Latency test".to_owned(),
            "wsat" => "Write saturation".to_owned(),
            other => format!("Test {other}"),
        }
    }

    fn rounds(&self) -> usize {
        let mut seen: Vec<u32> = self.steps.iter().filter_map(|s| Some(s.role.round?.index)).collect();
        seen.dedup();
        seen.len()
    }

    fn value(&self, step: &StepView) -> Option<f64> {
        match self.unit() {
            Unit::Iops => Some(step.iops),
            Unit::Rate => Some(step.bytes_per_s),
            Unit::Latency => step.lat_ns.as_ref().map(|l| l.mean),
        }
    }

    fn words(&self, value: f64) -> String {
        match self.unit() {
            Unit::Iops => format!("{} IOPS", format_iops(value)),
            Unit::Rate => format_rate(value),
            Unit::Latency => format_ns(value),
        }
    }

    /// The rounds of the measurement window; all of them where there is none.
    fn in_window(&self, step: &StepView) -> bool {
        let round = step.role.round.map_or(0, |r| r.index + 1);
        self.pts.and_then(|p| p.window).is_none_or(|[first, last]| (first..=last).contains(&round))
    }

    fn cells(&self) -> Vec<Cell<'_>> {
        let mut rows: Vec<(String, Vec<&StepView>)> = Vec::new();
        for step in self.steps.iter().filter(|s| self.in_window(s)) {
            let key = format!("{} {}", kind_name(step), load(step));
            match rows.iter_mut().find(|(k, _)| *k == key) {
                Some((_, row)) => row.push(step),
                None => rows.push((key, vec![step])),
            }
        }
        let cell = |row: &[&'_ StepView]| {
            let values: Vec<f64> = row.iter().filter_map(|s| self.value(s)).collect();
            mean_of_rounds(&values)
        };
        rows.iter().filter_map(|(_, row)| cell(row).map(|(mean, ci95)| Cell { first: row[0], mean, ci95 })).collect()
    }

    /// The cell that the test looks at, then the one with the best figure.
    fn headline(&self) -> Vec<Cell<'_>> {
        let tracked = |c: &Cell<'_>| c.first.role.round.is_some_and(|r| r.metric.is_some());
        let better = |a: &Cell<'_>, b: &Cell<'_>| match self.unit() {
            Unit::Latency => b.mean.total_cmp(&a.mean),
            _ => a.mean.total_cmp(&b.mean),
        };
        let (mut looked_at, others): (Vec<Cell<'_>>, Vec<Cell<'_>>) = self.cells().into_iter().partition(tracked);
        looked_at.truncate(1);
        looked_at.extend(others.into_iter().max_by(better));
        looked_at
    }
}

fn mean_words(test: &Test<'_>, cell: &Cell<'_>) -> String {
    match cell.ci95 {
        Some((low, high)) => format!("{} ±{:.1} %", test.words(cell.mean), (high - low) / 2.0 / cell.mean * 100.0),
        None => test.words(cell.mean),
    }
}

fn answer(test: &Test<'_>) -> String {
    let title = test.title();
    let figures: Vec<String> =
        test.headline().iter().map(|c| format!("{} {}", kind_name(c.first), mean_words(test, c))).collect();
    let figures = figures.join(", ");
    let sank = saturation(test).map_or_else(String::new, |text| format!(" {text}"));
    match test.pts.map(|pts| (pts.reached, pts.window)) {
        Some((true, Some([first, last]))) => {
            format!("{title}: steady in round {last}; over rounds {first} to {last} {figures}.{sank}")
        }
        // Runs from elsewhere may keep the verdict without its window.
        Some((true, None)) => format!("{title}: steady; {figures}.{sank}"),
        Some((false, _)) => {
            format!("{title}: not steady within {} rounds; the last five give {figures}.{sank}", test.rounds())
        }
        None => format!("{title}: too few rounds for a verdict ({}); they give {figures}.", test.rounds()),
    }
}

/// How far a drive sank from its first round, and what it took.
fn saturation(test: &Test<'_>) -> Option<String> {
    let (first, last) = (test.steps.first()?, test.steps.last()?);
    if test.name != "wsat" || first.index == last.index {
        return None;
    }
    let written: f64 = test.steps.iter().map(|s| s.bytes_per_s * s.runtime_s).sum();
    Some(format!(
        "It began with {} and ended with {} ({:+.0} %) after {} written.",
        test.words(first.iops),
        test.words(last.iops),
        (last.iops / first.iops - 1.0) * 100.0,
        format_bytes(written as u64)
    ))
}

/// The steady state determination in figures.
fn determination(test: &Test<'_>) -> Option<String> {
    let pts = test.pts?;
    let share = |part: f64| part / pts.average * 100.0;
    Some(format!(
        "{}: {}; average {}, range {:.1} % of it (20 % allowed), slope over the window {:.1} % (10 % allowed), {}.",
        test.title(),
        pts.determination,
        test.words(pts.average),
        share(pts.range),
        share(pts.excursion),
        pts.line
    ))
}

/// The table of the specification, a row per block size.
fn table(test: &Test<'_>) -> Vec<String> {
    let mut rows: Vec<(u32, Vec<String>)> = Vec::new();
    for cell in test.cells() {
        let mix = match cell.first.read_pct {
            100 => "reads".to_owned(),
            0 => "writes".to_owned(),
            share => format!("{share}/{}", 100 - share),
        };
        let text = format!("{mix} {}", mean_words(test, &cell));
        match rows.iter_mut().find(|(block, _)| *block == cell.first.block_size_bytes) {
            Some((_, row)) => row.push(text),
            None => rows.push((cell.first.block_size_bytes, vec![text])),
        }
    }
    let title = test.title();
    rows.into_iter()
        .map(|(block, row)| format!("{title}, {}: {}.", format_block(u64::from(block)), row.join(" · ")))
        .collect()
}

fn figures(test: &Test<'_>) -> Vec<Figure> {
    let unit = match test.unit() {
        Unit::Iops => "iops",
        Unit::Rate => "bytes_per_s",
        Unit::Latency => "ns",
    };
    let of_cell = |cell: Cell<'_>| Figure {
        name: format!("{}, {}", test.title(), kind_name(cell.first)),
        value: cell.mean,
        unit: unit.to_owned(),
        ci95: cell.ci95.map(|(low, high)| [low, high]),
        load: cell.first.label.clone(),
        step: cell.first.index,
    };
    test.headline().into_iter().map(of_cell).collect()
}
