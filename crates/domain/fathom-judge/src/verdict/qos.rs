//! How long are the tails, and at which depth do they grow? With rates given: which of them meets which latency.

use fathom_message::{Arg, Join, Message, Quantity, Unit, msg};

use super::brief::{brief, report, row, study};
use super::kind::{Loads, by_kind};
use super::parts::{
    depth_of, depth_or_rate, figure, iops, is_held, measured, nothing_measured, ns, p99, rate_of, sentences, verdict,
};
use crate::document::{Brief, Figure, LatencyView, StepView, Verdict};

/// A tail has grown when its p99 is this many times that of the shallowest load.
const GROWN: f64 = 2.0;
/// Goals for p99 that people ask for, ns.
const GOALS_NS: [u64; 10] =
    [100_000, 200_000, 500_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000, 50_000_000, 100_000_000];
/// The quantiles of a tail, by their names in the document.
const QUANTILES: [Quantile; 6] = [
    ("p50", |l| l.p50),
    ("p95", |l| l.p95),
    ("p99", |l| l.p99),
    ("p99.9", |l| l.p99_9),
    ("p99.99", |l| l.p99_99),
    ("p99.999", |l| l.p99_999),
];

type Quantile = (&'static str, fn(&LatencyView) -> Option<u64>);

/// A load whose p99 is known.
type Tail<'a> = (&'a StepView, Quantity);

/// Answers from loads by depth, and from loads by rate.
pub(super) fn verdicts(question: &Message, steps: &[StepView], run: i64) -> Vec<Verdict> {
    let measured = measured(steps);
    if measured.is_empty() {
        return vec![nothing_measured(question, steps)];
    }
    let by_depth = by_kind(measured.iter().copied().filter(|s| s.rate_iops.is_none()));
    let by_rate = by_kind(measured.iter().copied().filter(|s| s.rate_iops.is_some()));
    let brief = first_look(&by_depth, &by_rate, steps, run);
    let answer = sentences(by_depth.iter().flat_map(of_depths).chain(by_rate.iter().flat_map(of_rates)));
    let mut evidence: Vec<Message> = by_depth.iter().map(quantiles).collect();
    evidence.extend(by_depth.iter().filter_map(growth));
    evidence.extend(by_rate.iter().flat_map(|k| [rates_within(k), quantiles(k)]));
    evidence.extend(missing(&measured));
    vec![verdict(question, brief, answer, evidence, figures(by_depth.iter().chain(&by_rate)), steps)]
}

/// The depth up to which the tail of the first kind is quiet, and a row for each kind.
fn first_look(by_depth: &[Loads<'_>], by_rate: &[Loads<'_>], steps: &[StepView], run: i64) -> Brief {
    let headline = match by_depth.first() {
        Some(kind) => quiet_headline(kind),
        None => by_rate.first().map_or(msg!("verdict-nothing-measured"), held_headline),
    };
    let alone = by_rate.iter().filter(|k| by_depth.iter().all(|d| d.kind != k.kind));
    let rows = by_depth.iter().map(|k| row(k.name(), quiet_cells(k))).chain(alone.map(|k| row(k.name(), held_cell(k))));
    let asked = steps.iter().any(|s| s.role.latency_goal.is_some());
    let goal = study("qos --set latency_goal='p99<=1ms'", steps, msg!("next-goal"));
    brief(headline, rows, if asked { Some(report(run)) } else { goal })
}

/// The deepest load whose p99 stays below [`GROWN`] times that of the shallowest.
fn quietest<'a>(tails: &[Tail<'a>]) -> Option<(Tail<'a>, Tail<'a>)> {
    let first = *tails.first()?;
    let quiet = tails.iter().take_while(|t| t.1.value < GROWN * first.1.value).last().copied();
    Some((first, quiet.unwrap_or(first)))
}

fn quiet_headline(kind: &Loads<'_>) -> Message {
    let tails = tails(kind);
    let Some((first, quiet)) = quietest(&tails) else { return msg!("verdict-tail-unknown", kind = kind.name()) };
    let (p99, load) = (quiet.1, depth_of(quiet.0));
    match tails.last().is_some_and(|last| last.0.index == quiet.0.index) {
        true => msg!("brief-tail-quiet", kind = kind.name(), p99 = p99, load = load, rate = iops(quiet.0)),
        false if quiet.0.index == first.0.index => {
            msg!("brief-tail-grows", kind = kind.name(), p99 = p99, load = load, rate = iops(quiet.0))
        }
        false => msg!("brief-tail-quiet-to", kind = kind.name(), p99 = p99, load = load, rate = iops(quiet.0)),
    }
}

/// What a kind of load gives while its tail is quiet: `194k IOPS (QD 16), p99 136 us`.
fn quiet_cells(kind: &Loads<'_>) -> Vec<Message> {
    let tails = tails(kind);
    let Some((_, quiet)) = quietest(&tails) else { return vec![msg!("brief-cell-too-short")] };
    let kept = msg!("brief-cell-kept", rate = iops(quiet.0), load = depth_of(quiet.0));
    vec![kept, msg!("brief-cell-p99", p99 = Quantity::ns(quiet.1.value))]
}

fn highest_held<'a>(kind: &Loads<'a>) -> Option<&'a StepView> {
    kind.steps.iter().copied().filter(|s| is_held(s)).max_by(|a, b| rate_of(a).total_cmp(&rate_of(b)))
}

fn held_headline(kind: &Loads<'_>) -> Message {
    match highest_held(kind).map(|step| (Quantity::iops(rate_of(step)), p99_of(step))) {
        Some((rate, Some(p99))) => msg!("verdict-rate-held", kind = kind.name(), rate = rate, p99 = p99),
        Some((rate, None)) => msg!("verdict-rate-held-no-p99", kind = kind.name(), rate = rate),
        None => msg!("verdict-no-rate-held", kind = kind.name()),
    }
}

/// `held at 57.0k IOPS with p99 800 us`.
fn held_cell(kind: &Loads<'_>) -> Option<Message> {
    let step = highest_held(kind)?;
    Some(msg!("brief-cell-held", rate = Quantity::iops(rate_of(step)), p99 = p99_of(step)?))
}

fn p99_of(step: &StepView) -> Option<Quantity> {
    p99(step.lat_ns.as_ref()?)
}

/// The loads of a kind whose p99 is known.
fn tails<'a>(kind: &Loads<'a>) -> Vec<Tail<'a>> {
    kind.steps.iter().filter_map(|s| Some((*s, p99_of(s)?))).collect()
}

/// At which depth the tail begins to grow.
fn of_depths(kind: &Loads<'_>) -> Vec<Message> {
    let (name, tails) = (kind.name(), tails(kind));
    let [(first, p99), .., (last, end)] = tails[..] else {
        return vec![match tails[..] {
            [(only, p99)] => msg!("verdict-tail-only", kind = name, p99 = p99, load = depth_of(only)),
            _ => msg!("verdict-tail-unknown", kind = name),
        }];
    };
    let has_grown = |tail: &&Tail<'_>| tail.1.value >= GROWN * p99.value;
    let (load, last_load) = (depth_of(first), depth_of(last));
    let quiet = tails.iter().take_while(|t| !has_grown(t)).last().map_or(first, |(step, _)| step);
    if quiet.index == last.index {
        return vec![msg!("verdict-tail-quiet", kind = name, p99 = p99, load = load, last = last_load, end = end)];
    }
    let begin = match quiet.index == first.index {
        true => msg!("verdict-tail-only", kind = name, p99 = p99, load = load),
        false => msg!(
            "verdict-tail-quiet-to",
            kind = name,
            p99 = p99,
            load = load,
            last = depth_of(quiet),
            rate = iops(quiet)
        ),
    };
    let (grown, p99) = *tails.iter().find(has_grown).unwrap_or(&(last, end));
    let grows = match grown.index == last.index {
        true => msg!("verdict-tail-grows", p99 = p99, load = depth_of(grown)),
        false => msg!("verdict-tail-grows-on", p99 = p99, load = depth_of(grown), end = end, last = last_load),
    };
    vec![begin, grows]
}

/// The highest rate that was held, and the lowest that was not.
fn of_rates(kind: &Loads<'_>) -> Vec<Message> {
    let held = highest_held(kind);
    let not = kind.steps.iter().filter(|s| !is_held(s)).min_by(|a, b| rate_of(a).total_cmp(&rate_of(b)));
    let name = kind.name();
    let highest = match held.map(|step| (Quantity::iops(rate_of(step)), p99_of(step))) {
        Some((rate, Some(p99))) => msg!("verdict-rate-held", kind = name, rate = rate, p99 = p99),
        Some((rate, None)) => msg!("verdict-rate-held-no-p99", kind = name, rate = rate),
        None => msg!("verdict-no-rate-held", kind = name),
    };
    let beyond = not.map(|step| msg!("verdict-rate-too-high", rate = Quantity::iops(rate_of(step))));
    std::iter::once(highest).chain(beyond).collect()
}

/// The highest rate below every goal, where it and every lower one keep the goal by the upper ends of their intervals.
fn rates_within(kind: &Loads<'_>) -> Message {
    let meets = |step: &StepView, goal: u64| {
        let upper = step.lat_ns.as_ref().and_then(|l| l.ci95.get("p99")).map(|ci95| ci95[1]);
        is_held(step) && upper.is_some_and(|ns| ns <= goal)
    };
    let mut by_rate: Vec<&StepView> = kind.steps.clone();
    by_rate.sort_by(|a, b| rate_of(a).total_cmp(&rate_of(b)));
    let mut goals = Vec::new();
    let mut before = 0.0;
    for goal in GOALS_NS {
        let best = by_rate.iter().take_while(|s| meets(s, goal)).last().map_or(0.0, |s| rate_of(s));
        if best > before {
            let (latency, rate) = (Quantity::ns(goal as f64), Quantity::iops(best));
            goals.push(msg!("verdict-rate-within", latency = latency, rate = rate));
            before = best;
        }
    }
    match goals.is_empty() {
        true => msg!("verdict-no-rate-within", kind = kind.name(), latency = Quantity::ns(100e6)),
        false => msg!("verdict-rates-within", kind = kind.name(), goals = goals),
    }
}

/// Every load with its quantiles as far as they are known.
fn quantiles(kind: &Loads<'_>) -> Message {
    let of_step = |step: &&StepView| {
        let load = depth_or_rate(step);
        let Some(lat) = &step.lat_ns else { return msg!("verdict-load-not-held", load = load) };
        let one = |(name, of): &Quantile| {
            let latency = ns(of(lat)? as f64, lat.ci95.get(*name));
            Some(msg!("verdict-quantile", name = *name, latency = latency))
        };
        let known: Vec<Message> = QUANTILES.iter().filter_map(one).collect();
        match known.is_empty() {
            true => msg!("verdict-load-too-short", load = load),
            false => msg!("verdict-load-quantiles", load = load, quantiles = Arg::list(known, Join::Space)),
        }
    };
    msg!("verdict-tails", kind = kind.name(), loads = Arg::list(kind.steps.iter().map(of_step), Join::Dot))
}

/// Between which loads the tail grew most beside the IOPS.
fn growth(kind: &Loads<'_>) -> Option<Message> {
    let known = tails(kind);
    let growth = |w: &&[Tail<'_>]| w[1].1.value / w[0].1.value;
    let worst = known.windows(2).max_by(|a, b| growth(a).total_cmp(&growth(b))).filter(|w| growth(w) > GROWN / 1.5)?;
    let [(from, low), (to, high)] = worst else { return None };
    Some(msg!(
        "verdict-growth",
        kind = kind.name(),
        first = depth_of(from),
        last = depth_of(to),
        rate = Quantity::change(to.iops / from.iops),
        p99 = Quantity::change(high.value / low.value)
    ))
}

/// What the deepest quantile still takes.
fn missing(steps: &[&StepView]) -> Option<Message> {
    for name in ["p99.9", "p99.99", "p99.999"] {
        let needs: Vec<f64> = steps.iter().filter_map(|s| Some(s.lat_ns.as_ref()?.needs.get(name)?.seconds)).collect();
        if !needs.is_empty() {
            let most_s = needs.iter().copied().fold(0.0, f64::max);
            return Some(msg!(
                "verdict-quantile-missing",
                name = name,
                missing = needs.len(),
                all = steps.len(),
                time = Quantity::new(most_s.ceil(), Unit::S)
            ));
        }
    }
    None
}

fn figures<'a>(kinds: impl Iterator<Item = &'a Loads<'a>>) -> Vec<Figure> {
    let mut out = Vec::new();
    for kind in kinds.take(3) {
        let known = tails(kind);
        let (Some(first), Some(last)) = (known.first(), known.last()) else { continue };
        let ends = [Some(first), (first.0.index != last.0.index).then_some(last)];
        let name = msg!("verdict-figure-p99", kind = kind.name());
        out.extend(ends.into_iter().flatten().map(|(step, p99)| figure(name.clone(), *p99, step)));
    }
    out
}
