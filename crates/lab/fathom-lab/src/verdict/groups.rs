//! `enterprise`: groups side by side at each load: who wins, by what, and whether the state was steady.

use fathom_stats::{Effect, MARGIN_PCT, Relation, adjusted_p_values, relation};
use fathom_units::format_ns;

use super::parts::{
    caveats, change_with_interval, figure, is_bandwidth, kind_name, load, mean_with_interval, measured,
    nothing_measured, plus_minus, rate_words,
};
use super::sides::joined;
use crate::compare::{change_words, effect};
use crate::document::{Figure, LatencyView, StepView, Verdict};
use crate::view::is_unsteady;

/// One load on every group that measured it.
struct Point<'a> {
    /// `4k random reads at T1 QD1`.
    name: String,
    /// `8k random 70 % reads`.
    kind: String,
    steps: Vec<&'a StepView>,
    /// Which step won by throughput; `None`: not told apart.
    winner: Option<usize>,
    /// Speed of the best over the second, with its interval.
    lead: Option<(f64, [f64; 2])>,
    /// Which step has the lowest mean latency; `None`: not told apart.
    quickest: Option<usize>,
}

impl Point<'_> {
    /// Whether a figure was still moving: groups are measured one after the other, and may have changed in between.
    fn is_unsteady(&self) -> bool {
        self.steps.iter().any(|s| is_unsteady(s))
    }
}

/// Answers for one group or for several.
pub(super) fn verdicts(question: &str, steps: &[StepView]) -> Vec<Verdict> {
    let measured = measured(steps);
    if measured.is_empty() {
        return vec![nothing_measured(question, steps)];
    }
    let mut groups: Vec<&str> = Vec::new();
    for step in &measured {
        if !groups.contains(&step.group.as_str()) {
            groups.push(&step.group);
        }
    }
    let points = judged(points(&measured));
    let answer = if groups.len() > 1 { of_groups(&groups, &points) } else { of_one(&points) };
    let mut evidence = Vec::new();
    for kind in kinds(&points) {
        evidence.push(kind_sentence(&kind, groups.len() > 1));
    }
    evidence.extend(ends(&points).into_iter().map(|p| point_sentence(p)));
    vec![Verdict {
        question: question.to_owned(),
        answer: format!("{answer} {}", steady_sentence(&measured)),
        evidence,
        would_help: Vec::new(),
        caveats: caveats(steps),
        figures: figures(&points),
    }]
}

fn points<'a>(steps: &[&'a StepView]) -> Vec<Point<'a>> {
    let mut out: Vec<Point<'a>> = Vec::new();
    for step in steps {
        let kind = kind_name(step);
        let name = format!("{kind} at {}", load(step));
        match out.iter_mut().find(|p| p.name == name) {
            // Repeats of a group: the last one counts, as the one nearest to its steady state.
            Some(point) => match point.steps.iter_mut().find(|s| s.group == step.group) {
                Some(same) => *same = step,
                None => point.steps.push(step),
            },
            None => out.push(Point { name, kind, steps: vec![step], winner: None, lead: None, quickest: None }),
        }
    }
    out
}

/// Winners at every point, corrected for the number of points.
fn judged(mut points: Vec<Point<'_>>) -> Vec<Point<'_>> {
    let ranked: Vec<Option<(usize, Effect)>> = points.iter().map(|p| first_of(&p.steps, "iops")).collect();
    let soonest: Vec<Option<(usize, Effect)>> = points.iter().map(|p| first_of(&p.steps, "lat_mean")).collect();
    for (point, (told, lead)) in points.iter_mut().zip(told(&ranked, Relation::Higher).into_iter().zip(&ranked)) {
        point.lead = lead.as_ref().map(|(_, effect)| (effect.ratio(), effect.ci95().into()));
        point.winner = told;
    }
    for (point, told) in points.iter_mut().zip(told(&soonest, Relation::Lower)) {
        point.quickest = told;
    }
    points
}

/// The first of each point where it is told apart from the second, corrected for the number of points.
fn told(ranked: &[Option<(usize, Effect)>], wanted: Relation) -> Vec<Option<usize>> {
    let p: Vec<f64> = ranked.iter().map(|r| r.as_ref().map_or(1.0, |(_, e)| e.p_value())).collect();
    let pairs = ranked.iter().zip(adjusted_p_values(&p));
    pairs
        .map(|(r, p)| r.as_ref().filter(|(_, e)| relation(e, p, MARGIN_PCT) == wanted).map(|(first, _)| *first))
        .collect()
}

/// The step with most IOPS or the lowest mean latency, and how it stands to the second; `None` with one, or without
/// intervals.
fn first_of(steps: &[&StepView], figure: &'static str) -> Option<(usize, Effect)> {
    let value = |i: usize| match figure {
        "iops" => -steps[i].iops,
        _ => steps[i].lat_ns.as_ref().map_or(f64::INFINITY, |l| l.mean),
    };
    let mut order: Vec<usize> = (0..steps.len()).collect();
    order.sort_by(|a, b| value(*a).total_cmp(&value(*b)));
    let (first, second) = (*order.first()?, *order.get(1)?);
    Some((first, effect(figure, &[steps[second]], &[steps[first]])?))
}

fn of_groups(groups: &[&str], points: &[Point<'_>]) -> String {
    let shared: Vec<&Point<'_>> = points.iter().filter(|p| p.steps.len() > 1).collect();
    if shared.is_empty() {
        return "The groups have no load in common that both could run.".to_owned();
    }
    let parts: Vec<String> = groups
        .iter()
        .filter_map(|group| {
            let won: Vec<&&Point<'_>> =
                shared.iter().filter(|p| p.winner.is_some_and(|i| p.steps[i].group == *group)).collect();
            // A lead that stands is told before a larger one that may not.
            let far = |p: &Point<'_>| p.lead.map_or(1.0, |l| l.0);
            let standing = |p: &Point<'_>| !p.is_unsteady();
            let most = won
                .iter()
                .copied()
                .max_by(|a, b| standing(a).cmp(&standing(b)).then_with(|| far(a).total_cmp(&far(b))))?;
            let (ratio, ci95) = most.lead?;
            let unsteady = match won.iter().filter(|p| p.is_unsteady()).count() {
                0 => String::new(),
                n => format!(" ({n} of them not steady)"),
            };
            Some(format!(
                "{group} gives the most at {} of {} loads{unsteady}, by up to {} for {}",
                won.len(),
                shared.len(),
                change_with_interval(ratio, Some(ci95)),
                most.name
            ))
        })
        .collect();
    let open = shared.iter().filter(|p| p.winner.is_none()).count();
    let rest = match (open, parts.is_empty()) {
        (0, _) => String::new(),
        (n, true) => format!("At none of {n} loads is one group ahead by more than {MARGIN_PCT} % for sure"),
        (n, false) => format!("; {n} cannot be told apart"),
    };
    let quick: Vec<String> = groups
        .iter()
        .filter_map(|group| {
            let n = shared.iter().filter(|p| p.quickest.is_some_and(|i| p.steps[i].group == *group)).count();
            (n > 0).then(|| format!("{group} at {n}"))
        })
        .collect();
    let by_latency =
        if quick.is_empty() { String::new() } else { format!(" Lowest mean latency: {}.", joined(&quick)) };
    format!("{}{rest}.{by_latency}", parts.join("; "))
}

/// One group: the lightest and the heaviest load of the first kinds.
fn of_one(points: &[Point<'_>]) -> String {
    let parts: Vec<String> = ends(points)
        .into_iter()
        .take(4)
        .map(|p| {
            let step = p.steps[0];
            let mean =
                step.lat_ns.as_ref().map_or_else(String::new, |l| format!(", mean latency {}", mean_with_interval(l)));
            format!("{}{} for {}{mean}", rate_words(step), plus_minus(step), p.name)
        })
        .collect();
    format!("{}.", parts.join(". "))
}

/// Points of one kind, in the order of the plan.
fn kinds<'p, 'a>(points: &'p [Point<'a>]) -> Vec<Vec<&'p Point<'a>>> {
    let mut out: Vec<Vec<&Point<'_>>> = Vec::new();
    for point in points {
        match out.iter_mut().find(|k| k[0].kind == point.kind) {
            Some(kind) => kind.push(point),
            None => out.push(vec![point]),
        }
    }
    out
}

/// The first and the last point of every kind.
fn ends<'p, 'a>(points: &'p [Point<'a>]) -> Vec<&'p Point<'a>> {
    let kinds = kinds(points);
    kinds
        .iter()
        .flat_map(|kind| {
            let (first, last) = (kind[0], kind[kind.len() - 1]);
            [Some(first), (kind.len() > 1).then_some(last)].into_iter().flatten()
        })
        .collect()
}

/// A kind over all its loads.
fn kind_sentence(kind: &[&Point<'_>], several: bool) -> String {
    let name = &kind[0].kind;
    if !several {
        let steps: Vec<&StepView> = kind.iter().map(|p| p.steps[0]).collect();
        let best = steps.iter().copied().max_by(|a, b| a.iops.total_cmp(&b.iops)).expect("a kind has a point");
        return format!("{name}: most {}{} at {}.", rate_words(best), plus_minus(best), load(best));
    }
    let parts: Vec<String> = kind
        .iter()
        .filter(|p| p.steps.len() > 1)
        .map(|p| match (p.winner, p.lead) {
            (Some(i), Some((ratio, _))) => {
                let unsteady = if p.is_unsteady() { " (not steady)" } else { "" };
                format!("{} {} {}{unsteady}", load(p.steps[i]), p.steps[i].group, change_words(ratio))
            }
            _ => format!("{} not told apart", load(p.steps[0])),
        })
        .collect();
    if parts.is_empty() { format!("{name}: one group only.") } else { format!("{name}: {}.", parts.join(", ")) }
}

/// The four figures of an article's table for every group: throughput, mean, maximum, standard deviation.
fn point_sentence(point: &Point<'_>) -> String {
    let several = point.steps.len() > 1;
    let of_step = |step: &&StepView| {
        let latency = |l: &LatencyView| {
            format!(
                ", latency mean {}, max {}, standard deviation {}",
                format_ns(l.mean),
                format_ns(l.max as f64),
                format_ns(l.stddev)
            )
        };
        let group = if several { format!("{} ", step.group) } else { String::new() };
        let words = step.lat_ns.as_ref().map_or_else(String::new, latency);
        format!("{group}{}{}{words}", rate_words(step), plus_minus(step))
    };
    let parts: Vec<String> = point.steps.iter().map(of_step).collect();
    format!("{}: {}.", point.name, parts.join("; "))
}

fn steady_sentence(steps: &[&StepView]) -> String {
    let judged: Vec<&&StepView> = steps.iter().filter(|s| s.steady.is_some()).collect();
    if judged.is_empty() {
        return "Whether it was steady is not known: the steps were too short.".to_owned();
    }
    match judged.iter().filter(|s| is_unsteady(s)).count() {
        0 => format!("All {} judged steps were steady.", judged.len()),
        // Which ones is among the caveats, as for every study.
        n => format!("{} of {} judged steps were steady.", judged.len() - n, judged.len()),
    }
}

fn figures(points: &[Point<'_>]) -> Vec<Figure> {
    let mut out = Vec::new();
    for point in ends(points) {
        for step in &point.steps {
            let scale = if is_bandwidth(step) { step.bytes_per_s / step.iops.max(1e-9) } else { 1.0 };
            let unit = if is_bandwidth(step) { "bytes_per_s" } else { "iops" };
            let name = match point.steps.len() {
                1 => point.name.clone(),
                _ => format!("{}, {}", step.group, point.kind),
            };
            let ci95 = step.iops_ci95.map(|[low, high]| [low * scale, high * scale]);
            out.push(figure(&name, step.iops * scale, unit, ci95, step));
        }
    }
    out.truncate(6);
    out
}
