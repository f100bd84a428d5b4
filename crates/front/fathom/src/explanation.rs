//! Limits with their evidence, and predictions beside what was measured, as text.

use fathom_judge::document::{Document, EvidenceView, StepView};
use fathom_language::with_unit;
use fathom_message::Quantity;
use fathom_plan::Phase;
use fathom_units::{format_iops, format_ns};

use crate::table;
use crate::terminal::{fill, say};

/// Columns of a label, where a line of predictions fits a terminal of 80.
const LABEL: usize = 23;

/// Every measured step with its limit, what would help, and the numbers; then the probes.
pub(crate) fn reasons(document: &Document) -> String {
    let mut out = String::from("\nWhy\n");
    let measured: Vec<&StepView> = document.steps.iter().filter(|s| s.phase == Phase::Measure && s.ios > 0).collect();
    for (at, step) in measured.iter().enumerate() {
        // What is said of every stream of a set is said once, with the last of them.
        let is_said_later = measured.get(at + 1).is_some_and(|next| says_the_same_of_its_set(step, next));
        let others = measured[..at].iter().rev().take_while(|before| says_the_same_of_its_set(before, step)).count();
        if !is_said_later {
            let who: Vec<&str> = measured[at - others..=at].iter().map(|s| name_within(s, others > 0)).collect();
            out.push_str(&fill(&format!("{}: {}", who.join(", "), say(&step.limit.sentence)), " "));
        }
        out.push_str(&evidence(step));
        for help in &step.limit.would_help {
            out.push_str(&format!("    would help: {}\n", say(help)));
        }
    }
    let probes: Vec<&StepView> = document.steps.iter().filter(|s| s.phase == Phase::Probe && !is_repeat(s)).collect();
    if !probes.is_empty() {
        out.push_str("Probes\n");
    }
    for probe in probes {
        out.push_str(&format!(" {}\n", figures(probe)));
    }
    out.push('\n');
    out
}

/// Whether two steps are streams of one set of which the same is said.
fn says_the_same_of_its_set(one: &StepView, other: &StepView) -> bool {
    let set = |s: &StepView| s.role.stream.as_ref().map(|stream| stream.set);
    set(one).is_some() && set(one) == set(other) && one.limit.sentence == other.limit.sentence
}

/// The name of a stream beside others of its set, or the label of a step alone.
fn name_within(step: &StepView, is_beside_others: bool) -> &str {
    match step.role.stream.as_ref().filter(|_| is_beside_others) {
        Some(stream) => &stream.name,
        None => &step.label,
    }
}

/// One step by hand: all its figures; of a probe one line.
pub(crate) fn step(step: &StepView, explain: bool) -> String {
    match step.phase {
        Phase::Probe if is_repeat(step) => String::new(),
        Phase::Probe => format!("  {}\n", figures(step)),
        _ => table::details(step, explain),
    }
}

/// Whether it is the explained step of a block of turns once more: only the level that its probe is held against.
pub(crate) fn is_repeat(step: &StepView) -> bool {
    step.role.turn.is_some_and(|turn| !turn.is_probe)
}

fn figures(step: &StepView) -> String {
    match &step.reason {
        Some(reason) => format!("{}: {}", step.label, say(reason)),
        None => {
            let mean = step.lat_ns.as_ref().map_or(String::new(), |l| format!(", mean {}", format_ns(l.mean)));
            format!("{}: {} IOPS{mean}", step.label, format_iops(step.iops))
        }
    }
}

/// The numbers behind a limit, a line each.
pub(crate) fn evidence(step: &StepView) -> String {
    let line = |e: &EvidenceView| format!("    {}: {}\n", say(&e.label), with_unit(&Quantity::new(e.value, e.unit)));
    step.limit.evidence.iter().map(line).collect()
}

/// Predicted and measured side by side with the error of each step, and the median; empty without a prediction.
pub(crate) fn predictions(document: &Document) -> String {
    let Some(prediction) = &document.prediction else { return String::new() };
    let mut out = format!(
        "\nPredicted at {} from {} short steps, then measured\n {:<LABEL$} {:>9} {:>8} {:>8} {:>9} {:>8} {:>8}\n",
        prediction.made,
        prediction.screens.len(),
        "step",
        "predicted",
        "measured",
        "error",
        "mean said",
        "mean",
        "error"
    );
    let error = |pct: Option<f64>| pct.map_or("-".to_owned(), |p| format!("{p:+.1} %"));
    for step in &document.steps {
        let Some(predicted) = &step.predicted else { continue };
        out.push_str(&format!(
            " {:<LABEL$} {:>9} {:>8} {:>8} {:>9} {:>8} {:>8}\n",
            table::shorten(&table::short_words(&step.label), LABEL),
            format_iops(predicted.iops),
            format_iops(step.iops),
            error(predicted.iops_error_pct),
            format_ns(predicted.lat_ns_mean),
            step.lat_ns.as_ref().map_or("-".to_owned(), |l| format_ns(l.mean)),
            error(predicted.lat_error_pct)
        ));
    }
    match prediction.iops_error_pct_median {
        Some(median) => out.push_str(&format!(
            "Median error of predicted IOPS over {} steps: {median:.1} %; of mean latency: {}\n",
            prediction.steps,
            prediction.lat_error_pct_median.map_or("-".to_owned(), |m| format!("{m:.1} %"))
        )),
        None => out.push_str("No predicted step was measured.\n"),
    }
    out
}
