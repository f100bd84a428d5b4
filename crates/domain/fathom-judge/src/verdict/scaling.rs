//! Does it grow with drives and with threads, and what stops it? Linearity, the knee and its cause, IOPS per core.

use fathom_message::{Arg, Join, Message, Quantity, Unit, msg};
use fathom_plan::PlacementKind;
use fathom_stats::{Effect, MARGIN_PCT, Relation, ScalingFit, adjusted_p_values, relation};

use super::caveats::limit;
use super::kind::{Loads, by_kind};
use super::parts::{
    change, figure, iops, measured, nothing_measured, per_core, per_core_figure, rate, sentences, verdict,
};
use crate::compare::effect;
use crate::document::{ComparedFigure, Figure, StepView, Verdict};

/// Below this share of linear growth a ladder has bent.
const LINEAR: f64 = 0.9;
/// Points farther than this from the fitted law, as a share, make it a rough one.
const ROUGH: f64 = 0.05;

/// What a ladder has more and more of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Axis {
    Drives,
    Threads,
}

impl Axis {
    fn count(self, step: &StepView) -> u32 {
        match self {
            Axis::Drives => step.devices,
            Axis::Threads => step.threads,
        }
    }

    fn message(self) -> Message {
        match self {
            Axis::Drives => msg!("verdict-drives"),
            Axis::Threads => msg!("verdict-threads"),
        }
    }
}

/// A ladder over drives or over threads.
struct Ladder<'a> {
    axis: Axis,
    /// `4k random reads`, with what tells it from other ladders.
    name: Message,
    /// By number of drives or threads, rising; at least two different ones.
    points: Vec<(u32, &'a StepView)>,
    fit: Option<ScalingFit>,
}

impl<'a> Ladder<'a> {
    /// Rate at a point over that of as many times the first.
    fn share_of_linear(&self, at: usize) -> f64 {
        let (first, one) = self.points[0];
        let (n, step) = self.points[at];
        step.iops / (one.iops * f64::from(n) / f64::from(first))
    }

    /// 95 % interval of it; `None` for the first point, which is its measure, and without intervals of the rates.
    fn share_ci95(&self, at: usize) -> Option<[f64; 2]> {
        let ((first, one), (n, step)) = (self.points[0], self.points[at]);
        let (low, high) = effect(ComparedFigure::Iops, &[one], &[step]).filter(|_| at > 0)?.ci95();
        let scale = f64::from(first) / f64::from(n);
        Some([low * scale, high * scale])
    }

    /// The same as a figure, percent.
    fn share(&self, at: usize) -> Quantity {
        let ci95 = self.share_ci95(at).map(|ends| ends.map(|share| share * 100.0));
        Quantity::share(self.share_of_linear(at)).with_ci95(ci95)
    }

    /// The first point below [`LINEAR`], with its whole interval where it has one.
    fn knee(&self) -> Option<usize> {
        let most = |at: usize| self.share_ci95(at).map_or(self.share_of_linear(at), |[_, high]| high);
        (1..self.points.len()).find(|at| most(*at) < LINEAR)
    }

    fn last(&self) -> usize {
        self.points.len() - 1
    }

    /// Whether the last point may lie below [`LINEAR`] although no point is below it for sure.
    fn may_bend(&self) -> bool {
        self.knee().is_none() && self.share_ci95(self.last()).is_some_and(|[low, _]| low < LINEAR)
    }

    /// The knee, or the last point of a ladder that stays straight.
    fn end(&self) -> &'a StepView {
        self.points[self.knee().unwrap_or(self.last())].1
    }
}

/// Answers from all ladders found.
pub(super) fn verdicts(question: &Message, steps: &[StepView]) -> Vec<Verdict> {
    let measured = measured(steps);
    if measured.is_empty() {
        return vec![nothing_measured(question, steps)];
    }
    let ladders = ladders(&measured);
    if ladders.is_empty() {
        let only = by_kind(measured.iter().copied()).first().map(point);
        let answer = sentences(std::iter::once(msg!("verdict-no-ladder")).chain(only));
        return vec![verdict(question, answer, Vec::new(), Vec::new(), steps)];
    }
    let mut evidence: Vec<Message> = ladders.iter().map(points).collect();
    evidence.extend(ladders.iter().filter_map(fit));
    evidence.extend(siblings(&measured));
    evidence.extend(ladders.iter().map(cause));
    let answer = sentences(ladders.iter().take(3).flat_map(answer));
    vec![Verdict {
        would_help: ladders.iter().flat_map(|l| l.end().limit.would_help.iter().cloned()).take(3).collect(),
        ..verdict(question, answer, evidence, figures(&ladders), steps)
    }]
}

fn point(kind: &Loads<'_>) -> Message {
    let step = kind.steps[0];
    msg!("verdict-point", kind = kind.name(), rate = rate(step), drives = step.devices, threads = step.threads)
}

/// Steps that differ in the number of drives alone, or of threads alone.
fn ladders<'a>(steps: &[&'a StepView]) -> Vec<Ladder<'a>> {
    let mut out = Vec::new();
    for kind in by_kind(steps.iter().copied()) {
        for (axis, other) in [(Axis::Drives, Axis::Threads), (Axis::Threads, Axis::Drives)] {
            let mut families: Vec<Vec<&'a StepView>> = Vec::new();
            let rest = |s: &StepView| (other.count(s), s.queue_depth, s.placement, s.engine, s.mode);
            for step in &kind.steps {
                match families.iter_mut().find(|family| rest(family[0]) == rest(step)) {
                    Some(family) => family.push(step),
                    None => families.push(vec![step]),
                }
            }
            out.extend(families.iter().filter_map(|family| ladder(axis, &kind, family)));
        }
    }
    out.sort_by_key(|l| (l.axis, usize::MAX - l.points.len()));
    out
}

/// `None` with one number of drives or threads.
fn ladder<'a>(axis: Axis, kind: &Loads<'_>, family: &[&'a StepView]) -> Option<Ladder<'a>> {
    let mut points: Vec<(u32, &StepView)> = family.iter().map(|s| (axis.count(s), *s)).collect();
    points.sort_by_key(|p| p.0);
    points.dedup_by_key(|p| p.0);
    if points.len() < 2 {
        return None;
    }
    let name = match (axis, family[0].placement) {
        (Axis::Drives, _) | (_, PlacementKind::Unpinned) => kind.name(),
        (_, PlacementKind::Cores) => msg!("verdict-on-cores", kind = kind.name()),
        (_, PlacementKind::Smt) => msg!("verdict-on-siblings", kind = kind.name()),
        (_, placement) => msg!("verdict-placed", kind = kind.name(), placement = placement.as_str()),
    };
    let fit = ScalingFit::of(&points.iter().map(|(n, s)| (f64::from(*n), s.iops)).collect::<Vec<_>>());
    Some(Ladder { axis, name, points, fit })
}

fn answer(ladder: &Ladder<'_>) -> Vec<Message> {
    let (axis, kind) = (ladder.axis.message(), &ladder.name);
    let Some(knee) = ladder.knee() else {
        let (count, top) = ladder.points[ladder.last()];
        let (rate, share) = (rate(top), ladder.share(ladder.last()));
        return vec![match ladder.may_bend() {
            true => {
                msg!("verdict-linear-inconclusive", axis = axis, kind = kind, count = count, rate = rate, share = share)
            }
            false => msg!("verdict-linear", axis = axis, kind = kind, count = count, rate = rate, share = share),
        }];
    };
    let (count, step) = ladder.points[knee];
    let straight = ladder.points[knee - 1].0;
    let (peak, best) = *ladder.points.iter().max_by(|a, b| a.1.iops.total_cmp(&b.1.iops)).expect("two points at least");
    let bends = match knee {
        1 => msg!(
            "verdict-knee-first",
            axis = axis,
            kind = kind,
            count = count,
            share = ladder.share(knee),
            rate = rate(step),
            most = rate(best),
            peak = peak
        ),
        _ => msg!(
            "verdict-knee",
            axis = axis,
            kind = kind,
            straight = straight,
            count = count,
            share = ladder.share(knee),
            rate = rate(step),
            most = rate(best),
            peak = peak
        ),
    };
    vec![bends, limit(step)]
}

fn points(ladder: &Ladder<'_>) -> Message {
    let one = |(at, (count, step)): (usize, &(u32, &StepView))| {
        let (rate, share) = (rate(step), ladder.share(at));
        match per_core(step) {
            Some(carried) => {
                msg!("verdict-ladder-point-core", count = *count, rate = rate, share = share, carried = carried)
            }
            None => msg!("verdict-ladder-point", count = *count, rate = rate, share = share),
        }
    };
    let points = Arg::list(ladder.points.iter().enumerate().map(one), Join::Dot);
    msg!("verdict-ladder", kind = &ladder.name, axis = ladder.axis.message(), points = points)
}

/// The universal scalability law, fitted: its two coefficients, and where it ends.
fn fit(ladder: &Ladder<'_>) -> Option<Message> {
    let fit = ladder.fit.as_ref()?;
    let (first, last) = (ladder.points[0], ladder.points[ladder.last()]);
    let end = match (fit.peak(), fit.bound()) {
        (Some(peak), Some(bound)) if peak < 4.0 * f64::from(last.0) => {
            let count = Quantity::new(peak.round(), Unit::Count);
            msg!("verdict-fit-peak", count = count, bound = Quantity::iops(bound))
        }
        (_, Some(bound)) if bound < 20.0 * last.1.iops => msg!("verdict-fit-bound", bound = Quantity::iops(bound)),
        _ => msg!("verdict-fit-unbounded"),
    };
    let (kind, axis) = (&ladder.name, ladder.axis.message());
    let coefficient = |value: f64| Quantity::new(value, Unit::Count);
    let (contention, coherence) = (coefficient(fit.sigma), coefficient(fit.kappa));
    let residual = Quantity::share(fit.residual);
    Some(match fit.residual > ROUGH {
        true => msg!(
            "verdict-fit-rough",
            kind = kind,
            axis = axis,
            first = first.0,
            last = last.0,
            contention = contention,
            coherence = coherence,
            end = end,
            residual = residual
        ),
        false => msg!(
            "verdict-fit",
            kind = kind,
            axis = axis,
            first = first.0,
            last = last.0,
            contention = contention,
            coherence = coherence,
            end = end,
            residual = residual
        ),
    })
}

/// Cores of their own against both siblings of half as many, at the same number of threads.
fn siblings(steps: &[&StepView]) -> Vec<Message> {
    let mut found: Vec<(&StepView, Effect)> = Vec::new();
    for cores in steps.iter().copied().filter(|s| s.placement == PlacementKind::Cores && s.threads > 1) {
        let alike = |s: &&StepView| {
            s.placement == PlacementKind::Smt
                && (s.threads, s.queue_depth, s.devices, &s.op, s.block_size_bytes, &s.group)
                    == (
                        cores.threads,
                        cores.queue_depth,
                        cores.devices,
                        &cores.op,
                        cores.block_size_bytes,
                        &cores.group,
                    )
        };
        let Some(smt) = steps.iter().copied().find(alike) else { continue };
        found.extend(effect(ComparedFigure::Iops, &[cores], &[smt]).map(|effect| (cores, effect)));
    }
    let p: Vec<f64> = found.iter().map(|(_, effect)| effect.p_value()).collect();
    let one = |((step, effect), p): (&(&StepView, Effect), f64)| {
        let (threads, cores) = (step.threads, step.threads / 2);
        let change = change(effect.ratio(), Some(effect.ci95().into()));
        match relation(effect, p, MARGIN_PCT) {
            Relation::Higher => msg!("verdict-siblings-more", threads = threads, cores = cores, change = change),
            Relation::Lower => msg!("verdict-siblings-less", threads = threads, cores = cores, change = change),
            Relation::Same => msg!("verdict-siblings-same", threads = threads, cores = cores, change = change),
            Relation::Unsure => {
                msg!("verdict-siblings-inconclusive", threads = threads, cores = cores, change = change)
            }
        }
    };
    found.iter().zip(adjusted_p_values(&p)).map(one).collect()
}

/// What stops the ladder, or limits its last point.
fn cause(ladder: &Ladder<'_>) -> Message {
    let (kind, axis, why) = (&ladder.name, ladder.axis.message(), &ladder.end().limit.sentence);
    match ladder.knee() {
        Some(_) => msg!("verdict-at-knee", kind = kind, axis = axis, why = why),
        None => msg!("verdict-at-end", kind = kind, axis = axis, why = why),
    }
}

fn figures(ladders: &[Ladder<'_>]) -> Vec<Figure> {
    let mut out = Vec::new();
    for ladder in ladders.iter().take(2) {
        let axis = ladder.axis.message();
        let (count, top) = ladder.points[ladder.last()];
        let name = msg!("verdict-figure-ladder", kind = &ladder.name, count = count, axis = &axis);
        out.push(figure(name, iops(top), top));
        let linear = msg!("verdict-figure-linear", count = count, axis = axis);
        out.push(figure(linear, ladder.share(ladder.last()), top));
        out.extend(per_core_figure(top));
    }
    out
}
