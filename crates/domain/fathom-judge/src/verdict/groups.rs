//! `enterprise`: groups side by side at each load: who wins, by what, and whether the state was steady.

use fathom_message::{Arg, Join, Message, Quantity, msg};
use fathom_stats::{Effect, MARGIN_PCT, Relation, adjusted_p_values, relation};

use super::brief::{brief, limited, rate_cell, report, row, study};
use super::kind::Kind;
use super::parts::{change, change_alone, figure, load, mean, measured, nothing_measured, rate, sentences, verdict};
use crate::compare::effect;
use crate::document::{Brief, ComparedFigure, Figure, GroupedLoad, StepView, Verdict};

/// One load on every group that measured it.
pub(super) struct Point<'a> {
    /// `4k random reads`.
    pub(super) kind: Kind,
    /// `T1 QD1`.
    pub(super) load: Message,
    pub(super) steps: Vec<&'a StepView>,
    /// Which step won by throughput; `None`: no clear one.
    pub(super) winner: Option<usize>,
    /// Speed of the best over the second, with its interval.
    pub(super) lead: Option<(f64, [f64; 2])>,
    /// Which step has the lowest mean latency; `None`: no clear one.
    quickest: Option<usize>,
}

impl Point<'_> {
    /// Whether a figure was still moving: groups are measured one after the other, and may have changed in between.
    fn is_unsteady(&self) -> bool {
        self.steps.iter().any(|s| s.is_unsteady())
    }

    /// `4k random reads at T1 QD1`.
    fn message(&self) -> Message {
        msg!("verdict-kind-at", kind = self.kind.message(), load = &self.load)
    }
}

/// Answers for one group or for several.
pub(super) fn verdicts(question: &Message, steps: &[StepView], run: i64) -> Vec<Verdict> {
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
    let several = groups.len() > 1;
    let answer = if several { of_groups(&groups, &points) } else { of_one(&points) };
    let kinds = kinds(&points);
    let of_kinds = kinds.iter().map(|kind| if several { kind_of_groups(kind) } else { kind_of_one(kind) });
    let evidence = of_kinds.chain(ends(&points).into_iter().map(|p| of_point(p))).collect();
    let answer = sentences(answer.into_iter().chain([steadiness(&measured)]));
    let brief = first_look(&groups, &points, steps, run);
    vec![verdict(question, brief, answer, evidence, figures(&points), steps)]
}

/// Which group gives the most how often, and for each kind of load the most of every group.
fn first_look(groups: &[&str], points: &[Point<'_>], steps: &[StepView], run: i64) -> Brief {
    let shared: Vec<&Point<'_>> = points.iter().filter(|p| p.steps.len() > 1).collect();
    let won = |group: &str| {
        shared.iter().filter(|p| p.winner.is_some_and(|i| p.steps[i].group == group)).copied().collect::<Vec<_>>()
    };
    let kinds = kinds(points);
    let (leader, most) =
        groups.iter().map(|g| (*g, won(g))).max_by_key(|(_, won)| won.len()).expect("a step has a group");
    let lead = most.iter().filter_map(|p| p.lead).map(|(ratio, _)| ratio).fold(1.0, f64::max);
    let headline = match (groups.len() > 1, shared.len(), most.len()) {
        (false, _, _) => {
            let step = best_of(&kinds[0], None).expect("a kind has a step");
            let kind = kinds[0][0].kind.message();
            msg!("brief-gives", rate = rate(step), kind = kind, load = load(step), limited = limited(step))
        }
        (true, 0, _) => msg!("verdict-groups-without-common-load"),
        (true, all, 0) if shared.iter().all(|p| p.lead.is_none()) => msg!("brief-groups-too-short", count = all),
        (true, all, 0) => msg!("verdict-no-group-wins", count = all, margin = Quantity::pct(MARGIN_PCT)),
        (true, all, won) => {
            let (group, change) = (leader.to_owned(), change_alone(lead));
            msg!("brief-group-wins", group = group, won = won, all = all, change = change)
        }
    };
    let of_kind = |kind: &Vec<&Point<'_>>| {
        let cell = |group: &&str| {
            let rate = rate(best_of(kind, Some(group))?);
            Some(match groups.len() {
                1 => rate_cell(rate),
                _ => msg!("brief-cell-group", group = (*group).to_owned(), rate = rate),
            })
        };
        row(kind[0].kind.message(), groups.iter().filter_map(cell))
    };
    // Another study would be of one group alone.
    let next = if groups.len() > 1 { Some(report(run)) } else { study("qos", steps, msg!("next-qos")) };
    brief(headline, kinds.iter().map(of_kind), next)
}

/// The step of a kind with most IOPS, of one group or of all.
fn best_of<'a>(kind: &[&Point<'a>], group: Option<&str>) -> Option<&'a StepView> {
    let steps = kind.iter().flat_map(|p| p.steps.iter().copied());
    steps.filter(|s| group.is_none_or(|g| s.group == g)).max_by(|a, b| a.iops.total_cmp(&b.iops))
}

/// Loads that several groups were put under: whether the first and the last of them differ, corrected for the number of
/// loads. What lies within chance is not shown as a difference.
#[must_use]
pub fn groups(steps: &[StepView]) -> Vec<GroupedLoad> {
    let measured = measured(steps);
    let shared: Vec<Point<'_>> = points(&measured).into_iter().filter(|p| p.steps.len() > 1).collect();
    let effects: Vec<Option<Effect>> = shared.iter().map(|p| ends_apart(&p.steps)).collect();
    let p: Vec<f64> = effects.iter().map(|e| e.as_ref().map_or(1.0, Effect::p_value)).collect();
    let of_load = |((point, effect), p): ((&Point<'_>, &Option<Effect>), f64)| GroupedLoad {
        steps: measured
            .iter()
            .filter(|s| Kind::of(s) == point.kind && load(s) == point.load)
            .map(|s| s.index)
            .collect(),
        are_apart: effect.as_ref().map(|effect| relation(effect, p, MARGIN_PCT) == Relation::Higher),
    };
    shared.iter().zip(&effects).zip(adjusted_p_values(&p)).map(of_load).collect()
}

/// How the step with most IOPS stands to the one with least.
fn ends_apart(steps: &[&StepView]) -> Option<Effect> {
    let most = steps.iter().max_by(|a, b| a.iops.total_cmp(&b.iops))?;
    let least = steps.iter().min_by(|a, b| a.iops.total_cmp(&b.iops))?;
    effect(ComparedFigure::Iops, &[*least], &[*most])
}

/// Each load with the groups that were put under it, in the order of the plan.
pub(super) fn points<'a>(steps: &[&'a StepView]) -> Vec<Point<'a>> {
    let mut out: Vec<Point<'a>> = Vec::new();
    for step in steps {
        let (kind, load) = (Kind::of(step), load(step));
        match out.iter_mut().find(|p| p.kind == kind && p.load == load) {
            // Repeats of a group: the last one counts, as the one nearest to its steady state.
            Some(point) => match point.steps.iter_mut().find(|s| s.group == step.group) {
                Some(same) => *same = step,
                None => point.steps.push(step),
            },
            None => out.push(Point { kind, load, steps: vec![step], winner: None, lead: None, quickest: None }),
        }
    }
    out
}

/// Winners at every point, corrected for the number of points.
pub(super) fn judged(mut points: Vec<Point<'_>>) -> Vec<Point<'_>> {
    let ranked: Vec<Option<(usize, Effect)>> =
        points.iter().map(|p| first_of(&p.steps, ComparedFigure::Iops)).collect();
    let soonest: Vec<Option<(usize, Effect)>> =
        points.iter().map(|p| first_of(&p.steps, ComparedFigure::LatMean)).collect();
    let winners = conclusive(&ranked, Relation::Higher);
    for (point, (winner, lead)) in points.iter_mut().zip(winners.into_iter().zip(&ranked)) {
        point.lead = lead.as_ref().map(|(_, effect)| (effect.ratio(), effect.ci95().into()));
        point.winner = winner;
    }
    for (point, quickest) in points.iter_mut().zip(conclusive(&soonest, Relation::Lower)) {
        point.quickest = quickest;
    }
    points
}

/// The first of each point where it is beyond doubt ahead of the second, corrected for the number of points.
fn conclusive(ranked: &[Option<(usize, Effect)>], wanted: Relation) -> Vec<Option<usize>> {
    let p: Vec<f64> = ranked.iter().map(|r| r.as_ref().map_or(1.0, |(_, e)| e.p_value())).collect();
    let pairs = ranked.iter().zip(adjusted_p_values(&p));
    pairs
        .map(|(r, p)| r.as_ref().filter(|(_, e)| relation(e, p, MARGIN_PCT) == wanted).map(|(first, _)| *first))
        .collect()
}

/// The step with most IOPS or the lowest mean latency, and how it stands to the second; `None` with one, or without
/// intervals.
fn first_of(steps: &[&StepView], figure: ComparedFigure) -> Option<(usize, Effect)> {
    let value = |i: usize| match figure {
        ComparedFigure::Iops => -steps[i].iops,
        _ => steps[i].lat_ns.as_ref().map_or(f64::INFINITY, |l| l.mean),
    };
    let mut order: Vec<usize> = (0..steps.len()).collect();
    order.sort_by(|a, b| value(*a).total_cmp(&value(*b)));
    let (first, second) = (*order.first()?, *order.get(1)?);
    Some((first, effect(figure, &[steps[second]], &[steps[first]])?))
}

fn of_groups(groups: &[&str], points: &[Point<'_>]) -> Vec<Message> {
    let shared: Vec<&Point<'_>> = points.iter().filter(|p| p.steps.len() > 1).collect();
    if shared.is_empty() {
        return vec![msg!("verdict-groups-without-common-load")];
    }
    let mut parts: Vec<Message> = groups.iter().filter_map(|group| wins(group, &shared)).collect();
    let open = shared.iter().filter(|p| p.winner.is_none()).count();
    let wins = if parts.is_empty() {
        msg!("verdict-no-group-wins", count = open, margin = Quantity::pct(MARGIN_PCT))
    } else {
        parts.extend((open > 0).then(|| msg!("verdict-loads-without-winner", count = open)));
        msg!("verdict-groups", parts = Arg::list(parts, Join::Semicolon))
    };
    let quickest = |group: &&str| {
        let count = shared.iter().filter(|p| p.quickest.is_some_and(|i| p.steps[i].group == *group)).count();
        (count > 0).then(|| msg!("verdict-group-at", group = (*group).to_owned(), count = count))
    };
    let quick: Vec<Message> = groups.iter().filter_map(quickest).collect();
    let some = !quick.is_empty();
    let by_latency = some.then(|| msg!("verdict-lowest-latency", groups = Arg::list(quick, Join::And)));
    std::iter::once(wins).chain(by_latency).collect()
}

/// How often the group gave the most, and by how much; `None`: never.
fn wins(group: &str, shared: &[&Point<'_>]) -> Option<Message> {
    let won: Vec<&Point<'_>> =
        shared.iter().copied().filter(|p| p.winner.is_some_and(|i| p.steps[i].group == group)).collect();
    // A lead at a steady load goes before a larger one that may pass.
    let far = |p: &Point<'_>| p.lead.map_or(1.0, |l| l.0);
    let most =
        won.iter().max_by(|a, b| (!a.is_unsteady()).cmp(&!b.is_unsteady()).then_with(|| far(a).total_cmp(&far(b))))?;
    let (ratio, ci95) = most.lead?;
    let (group, change, load) = (group.to_owned(), change(ratio, Some(ci95)), most.message());
    Some(match won.iter().filter(|p| p.is_unsteady()).count() {
        0 => {
            msg!("verdict-group-wins", group = group, won = won.len(), all = shared.len(), change = change, load = load)
        }
        unsteady => msg!(
            "verdict-group-wins-unsteady",
            group = group,
            won = won.len(),
            all = shared.len(),
            unsteady = unsteady,
            change = change,
            load = load
        ),
    })
}

/// One group: the lightest and the heaviest load of the first kinds.
fn of_one(points: &[Point<'_>]) -> Vec<Message> {
    let one = |point: &Point<'_>| {
        let (step, load) = (point.steps[0], point.message());
        match &step.lat_ns {
            Some(lat) => msg!("verdict-load-gives-mean", rate = rate(step), load = load, mean = mean(lat)),
            None => msg!("verdict-load-gives", rate = rate(step), load = load),
        }
    };
    ends(points).into_iter().take(4).map(one).collect()
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

/// The best of all loads of a kind.
fn kind_of_one(kind: &[&Point<'_>]) -> Message {
    let steps = kind.iter().map(|p| p.steps[0]);
    let best = steps.max_by(|a, b| a.iops.total_cmp(&b.iops)).expect("a kind has a point");
    msg!("verdict-kind-most", kind = kind[0].kind.message(), rate = rate(best), load = load(best))
}

/// Who wins at each load of a kind.
fn kind_of_groups(kind: &[&Point<'_>]) -> Message {
    let one = |p: &&Point<'_>| {
        let load = &p.load;
        let (Some(winner), Some((ratio, _))) = (p.winner, p.lead) else {
            return msg!("verdict-load-without-winner", load = load);
        };
        let (group, change) = (&p.steps[winner].group, change_alone(ratio));
        match p.is_unsteady() {
            true => msg!("verdict-load-winner-unsteady", load = load, group = group, change = change),
            false => msg!("verdict-load-winner", load = load, group = group, change = change),
        }
    };
    let loads: Vec<Message> = kind.iter().filter(|p| p.steps.len() > 1).map(one).collect();
    let kind = kind[0].kind.message();
    match loads.is_empty() {
        true => msg!("verdict-kind-one-group", kind = kind),
        false => msg!("verdict-kind-groups", kind = kind, loads = loads),
    }
}

/// The four figures of an article's table for every group: throughput, mean, maximum, standard deviation.
fn of_point(point: &Point<'_>) -> Message {
    let several = point.steps.len() > 1;
    let one = |step: &&StepView| {
        let figures = match &step.lat_ns {
            Some(lat) => msg!(
                "verdict-step-figures",
                rate = rate(step),
                mean = mean(lat),
                max = Quantity::ns(lat.max as f64),
                deviation = Quantity::ns(lat.stddev)
            ),
            None => msg!("verdict-step-rate", rate = rate(step)),
        };
        if several { msg!("verdict-group-gives", group = &step.group, figures = figures) } else { figures }
    };
    let groups = Arg::list(point.steps.iter().map(one), Join::Semicolon);
    msg!("verdict-load-groups", load = point.message(), groups = groups)
}

fn steadiness(steps: &[&StepView]) -> Message {
    let judged: Vec<&&StepView> = steps.iter().filter(|s| s.steady.is_some()).collect();
    if judged.is_empty() {
        return msg!("verdict-steadiness-unknown");
    }
    match judged.iter().filter(|s| s.is_unsteady()).count() {
        0 => msg!("verdict-all-steady", count = judged.len()),
        // Which ones is among the caveats, as for every study.
        unsteady => msg!("verdict-some-steady", steady = judged.len() - unsteady, all = judged.len()),
    }
}

fn figures(points: &[Point<'_>]) -> Vec<Figure> {
    let of_point = |point: &Point<'_>| {
        let one = |step: &&StepView| {
            let name = match point.steps.len() {
                1 => point.message(),
                _ => msg!("verdict-figure-group", group = &step.group, kind = point.kind.message()),
            };
            figure(name, rate(step), step)
        };
        point.steps.iter().map(one).collect::<Vec<Figure>>()
    };
    ends(points).into_iter().flat_map(of_point).take(6).collect()
}
