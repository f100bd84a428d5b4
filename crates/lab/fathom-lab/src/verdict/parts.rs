//! What all verdicts are made of: loads, figures, caveats.

use fathom_units::format_iops;

use crate::document::{Figure, StepView, Verdict};
use crate::view::is_unsteady;

/// The answer when no step completed an I/O.
pub(super) fn nothing_measured(question: &str, steps: &[StepView]) -> Verdict {
    let reasons: Vec<String> =
        steps.iter().filter_map(|s| s.reason.as_ref().map(|r| format!("{}: {r}", s.label))).take(3).collect();
    Verdict {
        question: question.to_owned(),
        answer: "Nothing was measured: no step completed an I/O.".to_owned(),
        evidence: reasons,
        would_help: steps.iter().filter_map(|s| s.help.clone()).take(1).collect(),
        caveats: caveats(steps),
        figures: Vec::new(),
    }
}

/// `T1 QD32`, or the rate asked for.
pub(super) fn load(step: &StepView) -> String {
    match step.rate_iops {
        Some(rate) => format!("{} IOPS asked", format_iops(rate)),
        None => format!("T{} QD{}", step.threads, step.queue_depth),
    }
}

/// ` ±0.4 %` of the IOPS; empty without an interval.
pub(super) fn plus_minus(step: &StepView) -> String {
    match step.iops_ci95 {
        Some([lo, hi]) if step.iops > 0.0 => format!(" ±{:.1} %", (hi - lo) / 2.0 / step.iops * 100.0),
        _ => String::new(),
    }
}

/// For a sentence that goes on inside another.
pub(super) fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_lowercase().chain(chars).collect())
}

/// What limits the trust in any answer.
pub(super) fn caveats(steps: &[StepView]) -> Vec<String> {
    let mut out = Vec::new();
    let bad: Vec<&StepView> = steps.iter().filter(|s| s.reason.is_some()).collect();
    for step in bad.iter().take(REASONS_MAX) {
        out.push(format!("{} was {}: {}", step.label, step.state, step.reason.as_deref().unwrap_or_default()));
    }
    if bad.len() > REASONS_MAX {
        out.push(format!("{} more steps were refused or failed; the table names each.", bad.len() - REASONS_MAX));
    }
    let unsteady: Vec<&str> =
        steps.iter().filter(|s| s.phase == "measure" && is_unsteady(s)).map(|s| s.label.as_str()).collect();
    if !unsteady.is_empty() {
        out.push(format!("Not steady over their window: {}.", listed(&unsteady)));
    }
    let broken: Vec<&str> =
        steps.iter().filter(|s| s.checks.iter().any(|c| c.ok == Some(false))).map(|s| s.label.as_str()).collect();
    if !broken.is_empty() {
        out.push(format!("A law was violated in: {}; see its checks.", listed(&broken)));
    }
    match steps.iter().map(|s| s.warnings.len()).sum::<usize>() {
        0 => {}
        1 => out.push("1 warning stands with its step.".to_owned()),
        n => out.push(format!("{n} warnings stand with the steps.")),
    }
    out
}

/// Most reasons of refused steps, and most labels in a row, in a verdict.
const REASONS_MAX: usize = 6;

/// `a, b, c`, or the first few and how many more.
pub(super) fn listed(names: &[&str]) -> String {
    if names.len() <= REASONS_MAX {
        return names.join(", ");
    }
    format!("{} and {} more", names[..REASONS_MAX].join(", "), names.len() - REASONS_MAX)
}

/// A headline figure of a step.
pub(super) fn figure(name: &str, value: f64, unit: &str, ci95: Option<[f64; 2]>, step: &StepView) -> Figure {
    Figure { name: name.to_owned(), value, unit: unit.to_owned(), ci95, load: step.label.clone(), step: step.index }
}
