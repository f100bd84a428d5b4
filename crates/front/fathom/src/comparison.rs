//! A comparison as text: what differs besides the figures, the answer, then one line per step.

use fathom_judge::document::{ComparedFigure, ComparedMetric, ComparedStep, Comparison, Difference, Merit, Speed};
use fathom_language::change_words;
use fathom_message::Quantity;
use fathom_units::{format_iops, format_ns};

use crate::answer::brief;
use crate::table::{short_words, shorten};
use crate::terminal::{date, fill, say};

/// Columns of a step's label.
const LABEL: usize = 24;
/// Columns of a value in the table of what differs.
const VALUE: usize = 22;

/// The first look: what else differs, the answer, the farthest steps, and how to go on; six lines.
pub(crate) fn first_look(comparison: &Comparison) -> String {
    let besides = comparison.besides.as_ref().map_or_else(String::new, |besides| fill(&say(besides), ""));
    let all = comparison.steps.len() + comparison.unmatched.len();
    format!("{besides}{}", brief(&comparison.brief, all))
}

/// All of the comparison.
pub(crate) fn text(comparison: &Comparison) -> String {
    let mut out = String::new();
    let is_one_run = is_one_run(comparison);
    for side in &comparison.sides {
        let title = say(&side.title);
        // The sides of one run are named by what they set; runs by their number.
        let title = if is_one_run { format!("{title} of run {}", side.run) } else { title };
        out.push_str(&format!(
            "{}  {title} · {} · {} · {}\n",
            side.name,
            side.study,
            date(side.started.as_deref()),
            side.state.as_str()
        ));
    }
    out.push('\n');
    out.push_str(&environment(comparison));
    out.push('\n');
    out.push_str(&fill(&say(&comparison.answer), ""));
    for caveat in &comparison.caveats {
        out.push_str(&fill(&format!("Caveat: {}", say(caveat)), ""));
    }
    out.push('\n');
    out.push_str(&steps(comparison));
    out
}

/// Whether the sides are those of one run.
fn is_one_run(comparison: &Comparison) -> bool {
    comparison.sides.windows(2).all(|pair| pair[0].run == pair[1].run)
}

/// What differs between the sides besides their figures.
fn environment(comparison: &Comparison) -> String {
    if is_one_run(comparison) {
        return "Both sides were measured in one run, in turns: the rest was the same.\n".to_owned();
    }
    if comparison.environment.is_empty() {
        return "Nothing known differs between host, drives, program and plan.\n".to_owned();
    }
    let mut out = format!("{:<LABEL$}", "What else differs");
    for side in &comparison.sides {
        out.push_str(&format!("  {:<VALUE$}", side.name));
    }
    let mut out = format!("{}\n", out.trim_end());
    for difference in &comparison.environment {
        out.push_str(&difference_line(difference));
    }
    out
}

fn difference_line(difference: &Difference) -> String {
    let mut line = format!(" {:<width$}", shorten(&say(&difference.what), LABEL - 1), width = LABEL - 1);
    for value in &difference.values {
        line.push_str(&format!(
            "  {:<VALUE$}",
            shorten(&value.as_ref().map_or_else(|| "not known".to_owned(), say), VALUE)
        ));
    }
    format!("{}\n", line.trim_end())
}

/// The table of steps with what stands alone.
pub(crate) fn steps(comparison: &Comparison) -> String {
    let several = comparison.sides.len() > 2;
    let mut out = format!(
        " {:<LABEL$} {:>8} {:>8}  {:>8}  {:<18} {}\n",
        "step",
        "A",
        if several { "other" } else { "B" },
        "change",
        "95 % interval",
        "verdict"
    );
    for step in &comparison.steps {
        out.push_str(&step_lines(step, several));
    }
    for alone in &comparison.unmatched {
        out.push_str(&format!(" {:<LABEL$} {}: {}\n", shorten(&alone.label, LABEL), alone.side, say(&alone.why)));
    }
    out.push_str(&format!(
        " change: of IOPS, or of speed (latency the other way round) where the rate was given; same: within {} %\n",
        comparison.margin_pct
    ));
    if comparison.steps.len() > 1 {
        out.push_str(&format!(
            " faster, slower: of all so called over these {} steps at most {:.0} % are wrong on average (Benjamini-Hochberg)\n",
            comparison.steps.len(),
            comparison.false_discovery_rate * 100.0
        ));
    }
    out
}

fn step_lines(step: &ComparedStep, several: bool) -> String {
    let value = |of: fn(&ComparedMetric) -> f64| headline(step).map_or_else(|| "-".to_owned(), |m| figure(m, of(m)));
    let interval = step.ci95.map_or_else(|| "-".to_owned(), interval_words);
    let verdict = verdict_word(step);
    let mut out = format!(
        " {:<LABEL$} {:>8} {:>8}  {:>8}  {interval:<18} {verdict}\n",
        shorten(&short_words(&named(step, several)), LABEL),
        value(|m| m.a),
        value(|m| m.b),
        step.ratio.map_or_else(|| "-".to_owned(), change_words)
    );
    let others: Vec<String> = step
        .metrics
        .iter()
        .filter(|m| m.name != step.metric && matches!(m.verdict, Merit::Better | Merit::Worse))
        .map(|m| format!("{} {} {}", name(m), change_words(m.ratio), m.verdict))
        .collect();
    if !others.is_empty() {
        out.push_str(&fill(&others.join(" · "), "     "));
    }
    for note in &step.notes {
        out.push_str(&fill(&say(note), "     "));
    }
    out
}

/// The figure that the verdict speaks of.
fn headline(step: &ComparedStep) -> Option<&ComparedMetric> {
    step.metrics.iter().find(|m| m.name == step.metric)
}

/// The step, with its side where there are several.
fn named(step: &ComparedStep, several: bool) -> String {
    if several { format!("{} {}", step.side, step.label) } else { step.label.clone() }
}

fn verdict_word(step: &ComparedStep) -> &'static str {
    match step.verdict {
        Speed::Inconclusive => "inconclusive",
        known => known.as_str(),
    }
}

/// Both ends of the interval of a ratio, as changes: `+24.0 to +28.2 %`.
fn interval_words(ci95: [f64; 2]) -> String {
    let ends = fathom_language::interval_words(&Quantity::change(1.0).with_ci95(Some(ci95)));
    ends.map(|(low, high)| format!("{low} to {high}")).unwrap_or_default()
}

/// `-12.4 %, 95 % interval -13.0 to -11.8 %`.
pub(crate) fn change(ratio: Option<f64>, ci95: Option<[f64; 2]>) -> String {
    match (ratio, ci95) {
        (Some(ratio), Some(ci95)) if !interval_words(ci95).is_empty() => {
            format!("{}, 95 % interval {}", change_words(ratio), interval_words(ci95))
        }
        (Some(ratio), _) => change_words(ratio),
        (None, _) => "no ratio".to_owned(),
    }
}

fn figure(metric: &ComparedMetric, value: f64) -> String {
    if metric.name == ComparedFigure::Iops { format_iops(value) } else { format_ns(value) }
}

fn name(metric: &ComparedMetric) -> &'static str {
    match metric.name {
        ComparedFigure::Iops => "IOPS",
        ComparedFigure::LatMean => "mean latency",
        ComparedFigure::LatP99 => "p99",
        ComparedFigure::CpuPerIo => "CPU per I/O",
    }
}
