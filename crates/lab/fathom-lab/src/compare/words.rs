//! The answer of a comparison in words.

use super::document::{ComparedStep, Comparison};
use super::farthest;

/// From this ratio on a multiple says more than a percentage.
const MANIFOLD: f64 = 10.0;

/// One or two sentences per side.
pub(super) fn answer(comparison: &Comparison) -> String {
    let reference = comparison.sides.first().map_or("A", |s| s.title.as_str());
    let sentences: Vec<String> = comparison
        .sides
        .iter()
        .skip(1)
        .map(|side| {
            let steps: Vec<&ComparedStep> = comparison.steps.iter().filter(|s| s.side == side.name).collect();
            format!("{} against {reference}: {}", side.title, of_side(&steps, comparison.margin_pct))
        })
        .collect();
    sentences.join(" ")
}

fn of_side(steps: &[&ComparedStep], margin_pct: f64) -> String {
    if steps.is_empty() {
        return "no step was measured on both sides.".to_owned();
    }
    let count = |verdict: &str| steps.iter().filter(|s| s.verdict == verdict).count();
    let parts: Vec<String> = [
        ("faster", "faster".to_owned()),
        ("slower", "slower".to_owned()),
        ("same", format!("the same within {margin_pct} %")),
        ("unsure", "cannot be told".to_owned()),
    ]
    .into_iter()
    .filter(|(verdict, _)| count(verdict) > 0)
    .map(|(verdict, words)| format!("{} {words}", count(verdict)))
    .collect();
    let mut text = match steps.len() {
        1 => match steps[0].verdict.as_str() {
            "same" => format!("the step is the same within {margin_pct} %."),
            "unsure" => "the step cannot be told.".to_owned(),
            word => format!("the step is {word}."),
        },
        n => format!("of {n} steps {}.", parts.join(", ")),
    };
    for verdict in ["slower", "faster"] {
        if let Some(step) = farthest(steps.iter().copied(), verdict) {
            text.push_str(&format!(" Most {verdict}: {}, {}.", step.label, ratio_words(step)));
        }
    }
    text
}

/// A ratio as people say it: `+26.1 %`, `12.4-fold`, `below -99.9 %`.
#[must_use]
pub fn change_words(ratio: f64) -> String {
    match ratio {
        r if r >= MANIFOLD => format!("{r:.1}-fold"),
        r if r < 0.001 => "below -99.9 %".to_owned(),
        r => format!("{:+.1} %", (r - 1.0) * 100.0),
    }
}

/// An interval of a ratio: `+24.0 to +28.2 %`, `11.9- to 13.0-fold`.
#[must_use]
pub fn interval_words([low, high]: [f64; 2]) -> String {
    let pct = |ratio: f64| (ratio - 1.0) * 100.0;
    match (low, high) {
        (low, high) if low >= MANIFOLD => format!("{low:.1}- to {high:.1}-fold"),
        (_, high) if high < 0.001 => change_words(high),
        // Two pairs that disagree bound nothing from above.
        (low, high) if high > UNBOUNDED => format!("{:+.1} to >{:+.0} %", pct(low), pct(UNBOUNDED)),
        _ => format!("{:+.1} to {:+.1} %", pct(low), pct(high)),
    }
}

/// From this ratio on the end of an interval says only that there are too few figures.
const UNBOUNDED: f64 = 100.0;

/// `-12.4 % (95 % interval -13.0 to -11.8 %)`.
fn ratio_words(step: &ComparedStep) -> String {
    match (step.ratio, step.ci95) {
        (Some(ratio), Some(ci95)) => format!("{} (95 % interval {})", change_words(ratio), interval_words(ci95)),
        (Some(ratio), None) => change_words(ratio),
        (None, _) => "no ratio".to_owned(),
    }
}

/// What limits the trust in the answer. `spread`: found from run to run, as a share.
pub(super) fn caveats(comparison: &Comparison, spread: f64) -> Vec<String> {
    let mut out = Vec::new();
    let unpaired = comparison.steps.iter().filter(|s| s.design == "unpaired").count();
    if unpaired > 0 && spread > 0.0005 {
        out.push(format!(
            "The ratios scatter by {:.1} % beyond their own errors: that is taken for the spread from run to run and widens each interval.",
            spread * 100.0
        ));
    } else if unpaired > 0 && comparison.sides.windows(2).any(|s| s[0].run != s[1].run) {
        out.push(
            "Each side was measured at another time, so what changes from run to run is not in the intervals; `fathom run --versus` measures both in turns."
                .to_owned(),
        );
    }
    if !comparison.environment.is_empty() {
        let names: Vec<&str> = comparison.environment.iter().map(|d| d.what.as_str()).take(6).collect();
        out.push(format!("The sides differ in more than their figures: {}.", names.join(", ")));
    }
    let noted = comparison.steps.iter().filter(|s| !s.notes.is_empty()).count();
    if noted > 0 {
        out.push(format!("{noted} of {} steps carry a note of their own.", comparison.steps.len()));
    }
    if !comparison.unmatched.is_empty() {
        out.push(format!("{} steps have no partner and were not compared.", comparison.unmatched.len()));
    }
    out
}
