//! Which I/O path is fastest here, and what does each cost in CPU?

use fathom_stats::{Effect, MARGIN_PCT, Relation, adjusted_p_values, relation};
use fathom_units::format_ns;

use super::parts::{
    caveats, change_with_interval, cpu_per_io_ci95, figure, measured, nothing_measured, plus_minus, rate_words,
};
use crate::compare::{change_words, effect};
use crate::document::{Figure, StepView, Verdict};

/// The paths at one number of I/Os in flight.
struct Bout<'a> {
    /// `4k random reads`.
    kind: String,
    /// I/Os in flight over all threads.
    in_flight: u32,
    /// At least two different paths.
    steps: Vec<&'a StepView>,
}

/// Answers from every number in flight at which several paths were measured.
pub(super) fn verdicts(question: &str, steps: &[StepView]) -> Vec<Verdict> {
    let measured = measured(steps);
    if measured.is_empty() {
        return vec![nothing_measured(question, steps)];
    }
    let bouts = bouts(&measured);
    if bouts.is_empty() {
        let best = measured.iter().max_by(|a, b| a.iops.total_cmp(&b.iops)).expect("something was measured");
        let answer =
            format!("Only one path could be measured: {} with {}{}.", path(best), rate_words(best), plus_minus(best));
        return vec![verdict(question, answer, Vec::new(), Vec::new(), steps)];
    }
    let deep = bouts.iter().max_by_key(|b| (b.steps.len(), b.in_flight)).expect("not empty");
    let deepest = bouts.iter().filter(|b| b.in_flight > 1).max_by_key(|b| (b.steps.len(), b.in_flight)).unwrap_or(deep);
    let mut sentences = vec![bout_answer(deepest)];
    let one = bouts.iter().find(|b| b.in_flight == 1).filter(|_| deepest.in_flight != 1);
    sentences.extend(one.and_then(one_answer));
    let evidence = bouts.iter().flat_map(|b| [speed_sentence(b), cost_sentence(b)]).collect();
    vec![verdict(question, sentences.join(" "), evidence, figures(deepest, one), steps)]
}

fn verdict(question: &str, answer: String, evidence: Vec<String>, figures: Vec<Figure>, steps: &[StepView]) -> Verdict {
    Verdict {
        question: question.to_owned(),
        answer,
        evidence,
        would_help: Vec::new(),
        caveats: caveats(steps),
        figures,
    }
}

/// `io_uring iopoll`, `psync with 32 threads`, `io_uring unregistered`.
fn path(step: &StepView) -> String {
    let mut text = step.engine.clone();
    if step.mode != "interrupt" {
        text.push_str(&format!(" {}", step.mode));
    }
    for word in ["unregistered", "fixed buffers only", "fixed files only"] {
        if step.label.contains(word) {
            text.push_str(&format!(" {word}"));
        }
    }
    if step.threads > 1 {
        text.push_str(&format!(" with {} threads", step.threads));
    }
    text
}

fn bouts<'a>(steps: &[&'a StepView]) -> Vec<Bout<'a>> {
    let mut out: Vec<Bout<'a>> = Vec::new();
    for step in steps {
        let kind = super::parts::kind_name(step);
        let in_flight = step.threads * step.queue_depth;
        match out.iter_mut().find(|b| b.kind == kind && b.in_flight == in_flight) {
            Some(bout) => {
                if bout.steps.iter().all(|s| path(s) != path(step)) {
                    bout.steps.push(step);
                }
            }
            None => out.push(Bout { kind, in_flight, steps: vec![step] }),
        }
    }
    out.retain(|b| b.steps.len() > 1);
    out.sort_by_key(|b| b.in_flight);
    out
}

fn cost(step: &StepView) -> Option<f64> {
    super::cpu_ns_per_io(step).filter(|ns| *ns > 0.0)
}

fn by_cost<'a>(bout: &Bout<'a>) -> Vec<(&'a StepView, f64)> {
    let mut known: Vec<(&StepView, f64)> = bout.steps.iter().filter_map(|s| Some((*s, cost(s)?))).collect();
    known.sort_by(|a, b| a.1.total_cmp(&b.1));
    known
}

fn by_speed<'a>(bout: &Bout<'a>) -> Vec<&'a StepView> {
    let mut steps = bout.steps.clone();
    steps.sort_by(|a, b| b.iops.total_cmp(&a.iops));
    steps
}

fn cost_words(step: &StepView, ns: f64) -> String {
    match cpu_per_io_ci95(step) {
        Some((low, high)) => {
            format!("{} (95 % interval {} to {})", format_ns(ns), format_ns(low), format_ns(high))
        }
        None => format_ns(ns),
    }
}

fn speed_effect(first: &StepView, second: &StepView) -> Option<Effect> {
    Effect::of_figures(second.iops, second.iops_ci95?.into(), first.iops, first.iops_ci95?.into())
}

fn bout_answer(bout: &Bout<'_>) -> String {
    let load = format!("With {} I/Os in flight", bout.in_flight);
    let speed = by_speed(bout);
    let (fastest, second) = (speed[0], speed[1]);
    let (best, next) = (path(fastest), path(second));
    let rate = format!("{}{}", rate_words(fastest), plus_minus(fastest));
    let lead = match speed_effect(fastest, second) {
        Some(effect) => {
            let ratio = change_with_interval(effect.ratio(), Some(effect.ci95().into()));
            match relation(&effect, effect.p_value(), MARGIN_PCT) {
                Relation::Higher => format!("{best} is fastest with {rate}, {ratio} over {next}"),
                Relation::Same => format!("{best} gives {rate} and {next} the same within {MARGIN_PCT} %: {ratio}"),
                _ => format!("{best} is ahead with {rate}, not told apart from {next}: {ratio}"),
            }
        }
        None => format!("{best} gives {rate}, {} over {next}", change_with_interval(fastest.iops / second.iops, None)),
    };
    format!("{load} {lead}; {}.", cheapest_words(bout))
}

/// The path that costs least CPU per I/O, or the two that are not told apart.
fn cheapest_words(bout: &Bout<'_>) -> String {
    let costs = by_cost(bout);
    let [(cheapest, least), (next, second), ..] = costs[..] else {
        return "what each costs in CPU is not known".to_owned();
    };
    let (dearest, most) = costs[costs.len() - 1];
    let words = format!("{} with {} of CPU per I/O", path(cheapest), cost_words(cheapest, least));
    let less = effect("cpu_per_io", &[next], &[cheapest]);
    match less.map(|e| relation(&e, e.p_value(), MARGIN_PCT)) {
        Some(Relation::Lower) => format!(
            "the cheapest is {words}, {:.0} % less than {} and {:.1} times less than {}",
            (1.0 - least / second) * 100.0,
            path(next),
            most / least,
            path(dearest)
        ),
        _ => {
            format!("the cheapest two are not told apart: {words} and {} with {}", path(next), cost_words(next, second))
        }
    }
}

/// Latency decides where one I/O is in flight.
fn one_answer(bout: &Bout<'_>) -> Option<String> {
    let mut known: Vec<(&StepView, f64)> =
        bout.steps.iter().filter_map(|s| Some((*s, s.lat_ns.as_ref()?.mean))).collect();
    known.sort_by(|a, b| a.1.total_cmp(&b.1));
    let [(first, least), (second, next), ..] = known[..] else { return None };
    let effect = effect("lat_mean", &[second], &[first]);
    let change = change_with_interval(least / next, effect.map(|e| e.ci95().into()));
    let (best, other) = (path(first), path(second));
    Some(match effect.map(|e| relation(&e, e.p_value(), MARGIN_PCT)) {
        Some(Relation::Lower) => format!(
            "One at a time, {best} answers soonest: mean {} against {} of {other}, {change}.",
            format_ns(least),
            format_ns(next)
        ),
        _ => format!(
            "One at a time, {best} with a mean of {} is not told apart from {other} with {}: {change}.",
            format_ns(least),
            format_ns(next)
        ),
    })
}

/// Every path at this number in flight against the slowest of them.
fn speed_sentence(bout: &Bout<'_>) -> String {
    let speed = by_speed(bout);
    let slowest = speed[speed.len() - 1];
    let effects: Vec<Option<Effect>> = speed.iter().map(|s| speed_effect(s, slowest)).collect();
    let p: Vec<f64> = effects.iter().map(|e| e.as_ref().map_or(1.0, Effect::p_value)).collect();
    let adjusted = adjusted_p_values(&p);
    let parts: Vec<String> = speed
        .iter()
        .zip(effects.iter().zip(adjusted))
        .map(|(step, (effect, p))| {
            let mark = match effect {
                _ if step.index == slowest.index => String::new(),
                Some(e) => {
                    let sure = if relation(e, p, MARGIN_PCT) == Relation::Higher { "" } else { ", not told apart" };
                    format!(" ({}{sure})", change_words(e.ratio()))
                }
                None => String::new(),
            };
            format!("{} {}{}{mark}", path(step), rate_words(step), plus_minus(step))
        })
        .collect();
    format!("{}, {} in flight: {}.", bout.kind, bout.in_flight, parts.join(" · "))
}

fn cost_sentence(bout: &Bout<'_>) -> String {
    let parts: Vec<String> =
        by_cost(bout).iter().map(|(step, ns)| format!("{} {}", path(step), cost_words(step, *ns))).collect();
    if parts.is_empty() {
        return format!("{}, {} in flight: no CPU figures.", bout.kind, bout.in_flight);
    }
    format!("CPU per I/O of {}, {} in flight: {}.", bout.kind, bout.in_flight, parts.join(" · "))
}

fn figures(deep: &Bout<'_>, one: Option<&Bout<'_>>) -> Vec<Figure> {
    let mut out = Vec::new();
    let fastest = by_speed(deep)[0];
    out.push(figure(&format!("Fastest path: {}", path(fastest)), fastest.iops, "iops", fastest.iops_ci95, fastest));
    for (step, ns) in by_cost(deep).into_iter().take(3) {
        let ci95 = cpu_per_io_ci95(step).map(|(low, high)| [low, high]);
        out.push(figure(&format!("CPU per I/O: {}", path(step)), ns, "ns_per_io", ci95, step));
    }
    for step in one.map(|b| b.steps.clone()).unwrap_or_default().into_iter().take(2) {
        if let Some(lat) = &step.lat_ns {
            let ci95 = lat.ci95.get("mean").map(|[low, high]| [*low as f64, *high as f64]);
            out.push(figure(&format!("Mean latency, one at a time: {}", path(step)), lat.mean, "ns", ci95, step));
        }
    }
    out
}
