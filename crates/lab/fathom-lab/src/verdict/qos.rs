//! How long are the tails, and at which depth do they grow? With rates given: which of them meets which latency.

use fathom_units::{format_iops, format_ns};

use super::parts::{
    Loads, by_kind, caveats, depth_of, figure, is_held, measured, nothing_measured, ns_with_interval, rate_of,
};
use crate::document::{Figure, LatencyView, StepView, Verdict};

/// A tail has grown when its p99 is this many times that of the shallowest load.
const GROWN: f64 = 2.0;
/// Goals for p99 that people ask for, ns.
const GOALS_NS: [u64; 10] =
    [100_000, 200_000, 500_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000, 50_000_000, 100_000_000];

/// Answers from loads by depth, and from loads by rate.
pub(super) fn verdicts(question: &str, steps: &[StepView]) -> Vec<Verdict> {
    let measured = measured(steps);
    if measured.is_empty() {
        return vec![nothing_measured(question, steps)];
    }
    let by_depth = by_kind(measured.iter().copied().filter(|s| s.rate_iops.is_none()));
    let by_rate = by_kind(measured.iter().copied().filter(|s| s.rate_iops.is_some()));
    let mut answers: Vec<String> = by_depth.iter().map(depth_answer).collect();
    answers.extend(by_rate.iter().map(rate_answer));
    let mut evidence: Vec<String> = by_depth.iter().map(tails_sentence).collect();
    evidence.extend(by_depth.iter().filter_map(growth_sentence));
    evidence.extend(by_rate.iter().flat_map(|k| [goals_sentence(k), tails_sentence(k)]));
    evidence.extend(missing_sentence(&measured));
    vec![Verdict {
        question: question.to_owned(),
        // A sentence for each kind: some hold a semicolon of their own.
        answer: format!("{}.", answers.join(". ")),
        evidence,
        would_help: Vec::new(),
        caveats: caveats(steps),
        figures: figures(by_depth.iter().chain(&by_rate)),
    }]
}

fn p99(step: &StepView) -> Option<f64> {
    step.lat_ns.as_ref()?.p99.map(|ns| ns as f64)
}

fn p99_words(step: &StepView) -> String {
    match (&step.lat_ns, p99(step)) {
        (Some(lat), Some(ns)) => ns_with_interval(ns, lat.ci95.get("p99")),
        _ => "not known".to_owned(),
    }
}

fn depth_answer(kind: &Loads<'_>) -> String {
    let known: Vec<&StepView> = kind.steps.iter().copied().filter(|s| p99(s).is_some()).collect();
    let [first, .., last] = &known[..] else {
        return match &known[..] {
            [only] => format!("{}: p99 {} at {}", kind.name, p99_words(only), depth_of(only)),
            _ => format!("{}: no p99 is known, the steps were too short", kind.name),
        };
    };
    let base = p99(first).expect("kept for it");
    let quiet = known.iter().take_while(|s| p99(s).is_some_and(|ns| ns < GROWN * base)).last().unwrap_or(first);
    let begin = format!("{}: p99 {} at {}", kind.name, p99_words(first), depth_of(first));
    if quiet.index == last.index {
        return format!("{begin}, below twice that at every depth up to {} ({})", depth_of(last), p99_words(last));
    }
    let grown = known.iter().find(|s| p99(s).is_some_and(|ns| ns >= GROWN * base)).unwrap_or(last);
    let upto = if quiet.index == first.index {
        String::new()
    } else {
        format!(", below twice that up to {} ({} IOPS)", depth_of(quiet), format_iops(quiet.iops))
    };
    let end = if grown.index == last.index {
        String::new()
    } else {
        format!(", and {} at {}", p99_words(last), depth_of(last))
    };
    format!("{begin}{upto}; it grows to {} at {}{end}", p99_words(grown), depth_of(grown))
}

fn rate_answer(kind: &Loads<'_>) -> String {
    let held = kind.steps.iter().filter(|s| is_held(s)).max_by(|a, b| rate_of(a).total_cmp(&rate_of(b)));
    let not = kind.steps.iter().filter(|s| !is_held(s)).min_by(|a, b| rate_of(a).total_cmp(&rate_of(b)));
    let beyond = not.map_or_else(String::new, |s| {
        format!("; at {} requests pile up, so that no latency belongs to it", format_iops(rate_of(s)))
    });
    match held {
        Some(s) => format!(
            "{}: the highest rate held is {} IOPS, with a response p99 of {}{beyond}",
            kind.name,
            format_iops(rate_of(s)),
            p99_words(s)
        ),
        None => format!("{}: none of the rates was held{beyond}", kind.name),
    }
}

/// The highest rate below every goal, where it and every lower one keep the goal by the upper ends of their intervals.
fn goals_sentence(kind: &Loads<'_>) -> String {
    let meets = |step: &StepView, goal: u64| {
        let upper = step.lat_ns.as_ref().and_then(|l| l.ci95.get("p99")).map(|ci95| ci95[1]);
        is_held(step) && upper.is_some_and(|ns| ns <= goal)
    };
    let mut by_rate: Vec<&StepView> = kind.steps.clone();
    by_rate.sort_by(|a, b| rate_of(a).total_cmp(&rate_of(b)));
    let mut parts = Vec::new();
    let mut before = 0.0;
    for goal in GOALS_NS {
        let best = by_rate.iter().take_while(|s| meets(s, goal)).last().map_or(0.0, |s| rate_of(s));
        if best > before {
            parts.push(format!("{} up to {} IOPS", format_ns(goal as f64), format_iops(best)));
            before = best;
        }
    }
    match parts.is_empty() {
        true => format!("{}: no rate is known to keep p99 within {}.", kind.name, format_ns(100e6)),
        false => format!("{}: p99 stays within {}.", kind.name, parts.join(", within ")),
    }
}

/// Every load with its quantiles as far as they are known.
fn tails_sentence(kind: &Loads<'_>) -> String {
    type Quantile = (&'static str, fn(&LatencyView) -> Option<u64>);
    const NAMES: [Quantile; 6] = [
        ("p50", |l| l.p50),
        ("p95", |l| l.p95),
        ("p99", |l| l.p99),
        ("p99.9", |l| l.p99_9),
        ("p99.99", |l| l.p99_99),
        ("p99.999", |l| l.p99_999),
    ];
    let of_step = |step: &&StepView| {
        let load = match step.rate_iops {
            Some(rate) => format!("{} IOPS", format_iops(rate)),
            None => depth_of(step),
        };
        let Some(lat) = &step.lat_ns else { return format!("{load} not held") };
        let known: Vec<String> = NAMES
            .iter()
            .filter_map(|(name, of)| of(lat).map(|ns| format!("{name} {}", format_ns(ns as f64))))
            .collect();
        if known.is_empty() { format!("{load} too short") } else { format!("{load} {}", known.join(" ")) }
    };
    let parts: Vec<String> = kind.steps.iter().map(of_step).collect();
    format!("{}: {}.", kind.name, parts.join(" · "))
}

/// Between which loads the tail grew most beside the IOPS.
fn growth_sentence(kind: &Loads<'_>) -> Option<String> {
    let known: Vec<(&StepView, f64)> = kind.steps.iter().filter_map(|s| Some((*s, p99(s)?))).collect();
    let growth = |w: &&[(&StepView, f64)]| w[1].1 / w[0].1;
    let worst = known.windows(2).max_by(|a, b| growth(a).total_cmp(&growth(b))).filter(|w| growth(w) > GROWN / 1.5)?;
    let [(from, low), (to, high)] = worst else { return None };
    Some(format!(
        "{}: from {} to {} IOPS change by {:+.0} % and p99 by {:+.0} %.",
        kind.name,
        depth_of(from),
        depth_of(to),
        (to.iops / from.iops - 1.0) * 100.0,
        (high / low - 1.0) * 100.0
    ))
}

/// What the deepest quantile still takes.
fn missing_sentence(steps: &[&StepView]) -> Option<String> {
    for name in ["p99.9", "p99.99", "p99.999"] {
        let needs: Vec<f64> = steps.iter().filter_map(|s| Some(s.lat_ns.as_ref()?.needs.get(name)?.seconds)).collect();
        if !needs.is_empty() {
            let most = needs.iter().copied().fold(0.0, f64::max);
            return Some(format!(
                "{name} is not known for {} of {} loads; the slowest needs {most:.0} s more.",
                needs.len(),
                steps.len()
            ));
        }
    }
    None
}

fn figures<'a>(kinds: impl Iterator<Item = &'a Loads<'a>>) -> Vec<Figure> {
    let mut out = Vec::new();
    for kind in kinds.take(3) {
        let known: Vec<&StepView> = kind.steps.iter().copied().filter(|s| p99(s).is_some()).collect();
        let (Some(first), Some(last)) = (known.first(), known.last()) else { continue };
        for step in [Some(first), (first.index != last.index).then_some(last)].into_iter().flatten() {
            let lat = step.lat_ns.as_ref().expect("its p99 is known");
            let ci95 = lat.ci95.get("p99").map(|[low, high]| [*low as f64, *high as f64]);
            let value = p99(step).expect("kept for it");
            out.push(figure(&format!("p99, {}", kind.name), value, "ns", ci95, step));
        }
    }
    out
}
