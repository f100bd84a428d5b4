//! Does it grow with drives, threads and hosts, and what stops it? Linearity, the knee and its cause, IOPS per core.

use fathom_message::{Arg, Join, Message, Quantity, Unit, msg};
use fathom_plan::PlacementKind;
use fathom_stats::{Effect, MARGIN_PCT, Relation, ScalingFit, adjusted_p_values, relation};

use super::brief::{brief, gives, limit_part, limited, next, rate_cell, row, rows_of, study};
use super::caveats::limit;
use super::kind::{Kind, Loads, by_kind, kind_order};
use super::parts::{
    change, figure, iops, measured, nothing_measured, per_core, per_core_figure, rate, sentences, verdict,
};
use crate::compare::effect;
use crate::document::{Brief, ComparedFigure, Figure, LadderAxis, StepView, Verdict};
use crate::ladder::{Ladder, along, representatives};

/// Points farther than this from the fitted law, as a share, make it a rough one.
const ROUGH: f64 = 0.05;

/// A ladder over drives, threads or ranks, with its name and its law.
struct Scaling<'a> {
    ladder: Ladder<'a>,
    /// `4k random reads`, with what tells it from other ladders.
    name: Message,
    /// The same for the small table.
    short_name: Message,
    /// True if its name says in what it differs from ladders of the same load.
    is_one_of_several: bool,
    fit: Option<ScalingFit>,
}

impl<'a> Scaling<'a> {
    fn count(&self, at: usize) -> u32 {
        self.ladder.points[at].0 as u32
    }

    fn step(&self, at: usize) -> &'a StepView {
        self.ladder.points[at].1
    }

    fn steps(&self) -> impl Iterator<Item = &'a StepView> {
        self.ladder.points.iter().map(|(_, step)| *step)
    }

    /// `drives`, `files`, `hosts`, `ranks`, `threads`.
    fn axis(&self) -> Message {
        let targets = || self.steps().flat_map(|step| &step.targets);
        match self.ladder.axis {
            LadderAxis::Ranks if self.steps().all(has_host_each) => msg!("verdict-hosts"),
            LadderAxis::Ranks => msg!("verdict-ranks"),
            LadderAxis::Devices if targets().all(|name| is_drive(name)) => msg!("verdict-drives"),
            LadderAxis::Devices => msg!("verdict-files"),
            _ => msg!("verdict-threads"),
        }
    }
}

/// Whether the name is that of a device, real or simulated; files may share one.
fn is_drive(target: &str) -> bool {
    ["/dev/", "sim:", "serial:"].iter().any(|prefix| target.starts_with(prefix))
}

/// Whether each rank of the step has a host for itself.
fn has_host_each(step: &StepView) -> bool {
    step.ranks.as_ref().is_none_or(|of| of.hosts().len() == of.ranks.len() + of.lost.len())
}

/// Does it grow with hosts? Answers from the ladders over ranks alone, whatever the study asks; none without such a ladder.
pub(super) fn over_ranks(steps: &[StepView], run: i64) -> Option<Verdict> {
    let ladders = scalings(&[LadderAxis::Ranks], steps, &representatives(steps));
    (!ladders.is_empty()).then(|| of_ladders(&msg!("verdict-ranks-question"), &ladders, Vec::new(), steps, run))
}

/// Answers from all ladders found.
pub(super) fn verdicts(question: &Message, steps: &[StepView], run: i64) -> Vec<Verdict> {
    let measured = measured(steps);
    if measured.is_empty() {
        return vec![nothing_measured(question, steps)];
    }
    let axes = [LadderAxis::Ranks, LadderAxis::Devices, LadderAxis::Threads];
    let ladders = scalings(&axes, steps, &representatives(steps));
    if ladders.is_empty() {
        let only = by_kind(measured.iter().copied()).first().map(point);
        let answer = sentences(std::iter::once(msg!("verdict-no-ladder")).chain(only));
        let kinds = by_kind(measured.iter().copied());
        let headline = kinds.first().map_or(msg!("verdict-nothing-measured"), gives);
        let brief = brief(headline, rows_of(&kinds), study("scaling", steps, msg!("next-scaling")));
        return vec![verdict(question, brief, answer, Vec::new(), Vec::new(), steps)];
    }
    vec![of_ladders(question, &ladders, siblings(&measured), steps, run)]
}

/// The answer of ladders, at least one; `beside`: evidence beside theirs.
fn of_ladders(
    question: &Message,
    ladders: &[Scaling<'_>],
    beside: Vec<Message>,
    steps: &[StepView],
    run: i64,
) -> Verdict {
    let mut evidence: Vec<Message> = ladders.iter().map(points).collect();
    evidence.extend(ladders.iter().filter_map(fit));
    evidence.extend(beside);
    evidence.extend(ladders.iter().map(cause));
    let answer = sentences(ladders.iter().take(3).flat_map(answer));
    Verdict {
        would_help: ladders.iter().flat_map(|l| l.ladder.end().limit.would_help.iter().cloned()).take(3).collect(),
        ..verdict(question, first_look(ladders, steps, run), answer, evidence, figures(ladders), steps)
    }
}

/// The range in which the ladder is linear, the rate of its last or first bent point, and its limit.
fn headline(main: &Scaling<'_>) -> Message {
    let (axis, kind, last) = (main.axis(), &main.name, main.ladder.last());
    match main.ladder.knee() {
        None => {
            let (count, rate) = (main.count(last), rate(main.step(last)));
            let (share, limited) = (share(main, last), limited(main.ladder.end()));
            match main.ladder.may_bend() {
                true => msg!(
                    "brief-linear-inconclusive",
                    axis = axis,
                    kind = kind,
                    count = count,
                    rate = rate,
                    share = share,
                    limited = limited
                ),
                false => msg!(
                    "brief-linear",
                    axis = axis,
                    kind = kind,
                    count = count,
                    rate = rate,
                    share = share,
                    limited = limited
                ),
            }
        }
        Some(1) => msg!(
            "brief-knee-first",
            axis = axis,
            kind = kind,
            count = main.count(1),
            rate = rate(main.step(1)),
            share = share(main, 1),
            limited = limited(main.step(1))
        ),
        Some(knee) => msg!(
            "brief-knee",
            axis = axis,
            kind = kind,
            straight = main.count(knee - 1),
            count = main.count(knee),
            rate = rate(main.step(knee)),
            share = share(main, knee),
            limited = limited(main.step(knee))
        ),
    }
}

/// The same for a ladder with a longer name: its rate is in the table.
fn short_headline(main: &Scaling<'_>) -> Message {
    let (axis, kind) = (main.axis(), &main.name);
    let at = main.ladder.knee().unwrap_or(main.ladder.last());
    let (count, share, limited) = (main.count(at), share(main, at), limited(main.step(at)));
    match main.ladder.knee() {
        None if main.ladder.may_bend() => msg!(
            "brief-linear-inconclusive-of",
            axis = axis,
            kind = kind,
            count = count,
            share = share,
            limited = limited
        ),
        None => msg!("brief-linear-of", axis = axis, kind = kind, count = count, share = share, limited = limited),
        Some(1) => {
            msg!("brief-knee-first-of", axis = axis, kind = kind, count = count, share = share, limited = limited)
        }
        Some(knee) => msg!(
            "brief-knee-of",
            axis = axis,
            kind = kind,
            straight = main.count(knee - 1),
            count = count,
            share = share,
            limited = limited
        ),
    }
}

/// The bend of the first ladder, and a row for each.
fn first_look(ladders: &[Scaling<'_>], steps: &[StepView], run: i64) -> Brief {
    let main = &ladders[0];
    let headline = if main.is_one_of_several { short_headline(main) } else { headline(main) };
    let of_ladder = |ladder: &Scaling<'_>| {
        let last = ladder.ladder.last();
        let top = ladder.step(last);
        let count = msg!("brief-cell-count", count = ladder.count(last), axis = ladder.axis());
        let (share, limit) = (share(ladder, last), limit_part(ladder.ladder.end()));
        let efficiency = match ladder.ladder.knee() {
            None => msg!("brief-cell-efficiency", share = share, limit = limit),
            Some(knee) => msg!("brief-cell-knee", straight = ladder.count(knee - 1), limit = limit),
        };
        row(ladder.short_name.clone(), [count, rate_cell(rate(top)), efficiency])
    };
    brief(headline, ladders.iter().map(of_ladder), next(main.ladder.end(), steps, run))
}

/// The share of proportion without its interval, which the full answer has.
fn share(ladder: &Scaling<'_>, at: usize) -> Quantity {
    ladder.ladder.share(at).with_ci95(None)
}

fn point(kind: &Loads<'_>) -> Message {
    let step = kind.steps[0];
    msg!("verdict-point", kind = kind.name(), rate = rate(step), drives = step.devices, threads = step.threads)
}

/// Ladders over each of `axes` in their order, the longest first; random before sequential, reads before writes.
fn scalings<'a>(axes: &[LadderAxis], steps: &[StepView], loads: &[&'a StepView]) -> Vec<Scaling<'a>> {
    let several = steps.iter().any(|s| s.group != steps[0].group);
    let mut out: Vec<Scaling<'a>> = Vec::new();
    for axis in axes {
        let mut found: Vec<Ladder<'a>> = along(*axis, loads).into_iter().filter(|l| l.points.len() > 1).collect();
        found.sort_by_key(|l| (usize::MAX - l.points.len(), kind_order(l.points[0].1)));
        out.extend(found.into_iter().map(|ladder| scaling(ladder, several)));
    }
    name_differences(&mut out);
    out
}

/// Properties that may be the same at all points of a ladder, in the order in which they are named.
const KEPT: [fn(&StepView) -> Message; 6] = [
    |step| msg!("verdict-kept-drives", drives = step.devices),
    |step| msg!("verdict-kept-threads", threads = step.threads),
    |step| msg!("verdict-kept-depth", depth = step.queue_depth),
    |step| msg!("verdict-kept-placement", placement = step.placement.as_str()),
    |step| Message::verbatim(step.engine.as_str()),
    |step| Message::verbatim(step.mode.as_str()),
];

/// Adds to names that are the same what differs between their ladders: drives, threads, depth, placement, engine. Where
/// nothing of these does, the first step is named; ladders over different axes have their axis in the small table.
fn name_differences(ladders: &mut [Scaling<'_>]) {
    let same_name = |ladders: &[Scaling<'_>], at: usize| -> Vec<usize> {
        let is_same =
            |other: &Scaling<'_>| (other.ladder.axis, &other.name) == (ladders[at].ladder.axis, &ladders[at].name);
        (0..ladders.len()).filter(|other| is_same(&ladders[*other])).collect()
    };
    let added: Vec<Option<Message>> = (0..ladders.len())
        .map(|at| {
            let same = same_name(ladders, at);
            let kept = |of: usize, what: &fn(&StepView) -> Message| {
                let mut words = ladders[of].steps().map(what);
                let first = words.next()?;
                words.all(|other| other == first).then_some(first)
            };
            let differs = |what: &&fn(&StepView) -> Message| same.iter().any(|of| kept(*of, what) != kept(at, what));
            let words: Vec<Message> = KEPT.iter().filter(differs).filter_map(|what| kept(at, what)).collect();
            (same.len() > 1).then(|| msg!("verdict-kept", list = Arg::list(words, Join::Space)))
        })
        .collect();
    let named: Vec<bool> = (0..ladders.len())
        .map(|at| same_name(ladders, at).iter().all(|other| *other == at || added[*other] != added[at]))
        .collect();
    for ((ladder, added), is_named) in ladders.iter_mut().zip(added).zip(named) {
        let Some(what) = added else { continue };
        let what = if is_named { what } else { msg!("verdict-kept-from", step = &ladder.step(0).label_message) };
        ladder.is_one_of_several = true;
        ladder.name = msg!("verdict-ladder-named", kind = ladder.name.clone(), what = what.clone());
        ladder.short_name = msg!("verdict-ladder-named", kind = ladder.short_name.clone(), what = what);
    }
    let names: Vec<Message> = ladders.iter().map(|ladder| ladder.short_name.clone()).collect();
    for (at, ladder) in ladders.iter_mut().enumerate() {
        if names.iter().enumerate().any(|(other, name)| other != at && *name == names[at]) {
            ladder.short_name = msg!("verdict-ladder-by", kind = names[at].clone(), axis = ladder.axis());
        }
    }
}

fn scaling(ladder: Ladder<'_>, several_groups: bool) -> Scaling<'_> {
    let first = ladder.points[0].1;
    let kind = if several_groups { Kind::of(first).in_group(&first.group) } else { Kind::of(first) };
    let placed =
        |placement: PlacementKind| msg!("verdict-placed", kind = kind.message(), placement = placement.as_str());
    let [name, short_name] = match (ladder.axis, first.placement) {
        (LadderAxis::Devices | LadderAxis::Ranks, _) | (_, PlacementKind::Unpinned) => [kind.message(), kind.message()],
        (_, PlacementKind::Cores) => {
            [msg!("verdict-on-cores", kind = kind.message()), msg!("brief-on-cores", kind = kind.message())]
        }
        (_, PlacementKind::Smt) => {
            [msg!("verdict-on-siblings", kind = kind.message()), msg!("brief-on-siblings", kind = kind.message())]
        }
        (_, placement) => [placed(placement), placed(placement)],
    };
    let fit = ScalingFit::of(&ladder.points.iter().map(|(n, s)| (*n, s.iops)).collect::<Vec<_>>());
    Scaling { ladder, name, short_name, is_one_of_several: false, fit }
}

fn answer(ladder: &Scaling<'_>) -> Vec<Message> {
    let (axis, kind) = (ladder.axis(), &ladder.name);
    let Some(knee) = ladder.ladder.knee() else {
        let last = ladder.ladder.last();
        let (count, rate, share) = (ladder.count(last), rate(ladder.step(last)), ladder.ladder.share(last));
        let grows = match ladder.ladder.may_bend() {
            true => {
                msg!("verdict-linear-inconclusive", axis = axis, kind = kind, count = count, rate = rate, share = share)
            }
            false => msg!("verdict-linear", axis = axis, kind = kind, count = count, rate = rate, share = share),
        };
        let stops = msg!("verdict-growth-stopped", count = count, limit = limit(ladder.step(last)));
        return vec![grows, msg!("verdict-growth-open"), stops];
    };
    let (count, step) = (ladder.count(knee), ladder.step(knee));
    let straight = ladder.count(knee - 1);
    let most = |a: &usize, b: &usize| ladder.step(*a).iops.total_cmp(&ladder.step(*b).iops);
    let peak = (0..=ladder.ladder.last()).max_by(most).expect("two points at least");
    let (peak, best) = (ladder.count(peak), ladder.step(peak));
    let bends = match knee {
        1 => msg!(
            "verdict-knee-first",
            axis = axis,
            kind = kind,
            count = count,
            share = ladder.ladder.share(knee),
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
            share = ladder.ladder.share(knee),
            rate = rate(step),
            most = rate(best),
            peak = peak
        ),
    };
    vec![bends, msg!("verdict-growth-stopped", count = count, limit = limit(step))]
}

fn points(ladder: &Scaling<'_>) -> Message {
    let one = |at: usize| {
        let (count, rate, share) = (ladder.count(at), rate(ladder.step(at)), ladder.ladder.share(at));
        match per_core(ladder.step(at)) {
            Some(carried) => {
                msg!("verdict-ladder-point-core", count = count, rate = rate, share = share, carried = carried)
            }
            None => msg!("verdict-ladder-point", count = count, rate = rate, share = share),
        }
    };
    let points = Arg::list((0..=ladder.ladder.last()).map(one), Join::Dot);
    msg!("verdict-ladder", kind = &ladder.name, axis = ladder.axis(), points = points)
}

/// The universal scalability law, fitted: its two coefficients, and where it ends.
fn fit(ladder: &Scaling<'_>) -> Option<Message> {
    let fit = ladder.fit.as_ref()?;
    let last = ladder.ladder.last();
    let (first, last) = ((ladder.count(0), ladder.step(0)), (ladder.count(last), ladder.step(last)));
    let end = match (fit.peak(), fit.bound()) {
        (Some(peak), Some(bound)) if peak < 4.0 * f64::from(last.0) => {
            let count = Quantity::new(peak.round(), Unit::Count);
            msg!("verdict-fit-peak", count = count, bound = Quantity::iops(bound))
        }
        (_, Some(bound)) if bound < 20.0 * last.1.iops => msg!("verdict-fit-bound", bound = Quantity::iops(bound)),
        _ => msg!("verdict-fit-unbounded"),
    };
    let (kind, axis) = (&ladder.name, ladder.axis());
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
            Relation::Inconclusive => {
                msg!("verdict-siblings-inconclusive", threads = threads, cores = cores, change = change)
            }
        }
    };
    found.iter().zip(adjusted_p_values(&p)).map(one).collect()
}

/// What stops the ladder, or limits its last point.
fn cause(ladder: &Scaling<'_>) -> Message {
    let (kind, axis, why) = (&ladder.name, ladder.axis(), &ladder.ladder.end().limit.sentence);
    match ladder.ladder.knee() {
        Some(_) => msg!("verdict-at-knee", kind = kind, axis = axis, why = why),
        None => msg!("verdict-at-end", kind = kind, axis = axis, why = why),
    }
}

fn figures(ladders: &[Scaling<'_>]) -> Vec<Figure> {
    let mut out = Vec::new();
    for ladder in ladders.iter().take(2) {
        let axis = ladder.axis();
        let last = ladder.ladder.last();
        let (count, top) = (ladder.count(last), ladder.step(last));
        let name = msg!("verdict-figure-ladder", kind = &ladder.name, count = count, axis = &axis);
        out.push(figure(name, iops(top), top));
        let linear = msg!("verdict-figure-linear", count = count, axis = axis);
        out.push(figure(linear, ladder.ladder.share(last), top));
        out.extend(per_core_figure(top));
    }
    out
}
