//! Which I/O path is fastest here, and what does each cost in CPU?

mod choice;

use fathom_message::{Arg, Join, Message, Quantity, Unit, msg};
use fathom_plan::{EngineName, LabelPart, Mode, PlacementKind, Spread};
use fathom_stats::{Effect, MARGIN_PCT, Relation, adjusted_p_values, relation};

use self::choice::Series;
use super::brief::{brief, rate_cell, row, study};
use super::kind::Kind;
use super::parts::{
    change, change_alone, change_inconclusive, cost as cost_of, figure, iops, mean, measured, nothing_measured, rate,
    sentences, verdict,
};
use crate::compare::effect;
use crate::document::{Brief, BriefRow, ComparedFigure, Figure, PathsView, StepView, Verdict};

/// What is registered with the kernel beforehand, where the steps differ in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Registration {
    /// As usual, or the same for all steps.
    Usual,
    None,
    Buffers,
    Files,
}

/// Most rivals of the fastest path that a headline names.
const RIVALS_NAMED: usize = 2;

/// A way of I/O: `io_uring iopoll`, `psync with 32 threads`, `io_uring unregistered`.
#[derive(Clone, PartialEq, Eq)]
struct Path {
    engine: EngineName,
    mode: Mode,
    registration: Registration,
    threads: u32,
}

impl Path {
    fn of(step: &StepView) -> Path {
        let registration = match (step.fixed_buffers, step.fixed_files) {
            _ if !step.role.label_parts.contains(&LabelPart::Registration) => Registration::Usual,
            (true, true) => Registration::Usual,
            (true, false) => Registration::Buffers,
            (false, true) => Registration::Files,
            (false, false) => Registration::None,
        };
        Path { engine: step.engine, mode: step.mode, registration, threads: step.threads }
    }

    fn message(&self) -> Message {
        let mut words = vec![Message::verbatim(self.engine.as_str())];
        if self.mode != Mode::Interrupt {
            words.push(Message::verbatim(self.mode.as_str()));
        }
        words.extend(match self.registration {
            Registration::Usual => None,
            Registration::None => Some(msg!("label-unregistered")),
            Registration::Buffers => Some(msg!("label-fixed-buffers")),
            Registration::Files => Some(msg!("label-fixed-files")),
        });
        let path = msg!("verdict-path", words = Arg::list(words, Join::Space));
        if self.threads > 1 { msg!("verdict-path-threads", path = path, threads = self.threads) } else { path }
    }
}

fn place(step: &StepView) -> (PlacementKind, u32, Spread) {
    (step.placement, step.devices, step.spread)
}

fn path(step: &StepView) -> Message {
    Path::of(step).message()
}

/// The paths measured with one number of I/Os in flight.
struct Contest<'a> {
    kind: Kind,
    /// Over all threads.
    in_flight: u32,
    /// At least two different paths.
    steps: Vec<&'a StepView>,
}

impl Contest<'_> {
    fn ios(&self) -> Message {
        msg!("verdict-ios", ios = self.in_flight)
    }

    /// Whether both did the same at the same place, whatever was in flight.
    fn is_like(&self, other: &Contest<'_>) -> bool {
        self.kind == other.kind && place(self.steps[0]) == place(other.steps[0])
    }
}

/// Answers from every number in flight at which several paths were measured.
pub(super) fn verdicts(question: &Message, steps: &[StepView]) -> Vec<Verdict> {
    let (twins, measured): (Vec<&StepView>, Vec<&StepView>) =
        measured(steps).into_iter().partition(|s| is_by_another(s));
    if measured.is_empty() {
        return vec![nothing_measured(question, steps)];
    }
    let contests = contests(&measured);
    let checks = twins.iter().filter_map(|twin| cross_check(twin, &measured));
    if contests.is_empty() {
        let best = measured.iter().max_by(|a, b| a.iops.total_cmp(&b.iops)).expect("something was measured");
        let answer = msg!("verdict-only-path", path = path(best), rate = rate(best));
        let brief = brief(answer.clone(), [], study("engines", steps, msg!("next-engines")));
        return vec![verdict(question, brief, answer, checks.collect(), Vec::new(), steps)];
    }
    let deep = contests.iter().max_by_key(|b| (b.steps.len(), b.in_flight)).expect("not empty");
    let deepest =
        contests.iter().filter(|b| b.in_flight > 1).max_by_key(|b| (b.steps.len(), b.in_flight)).unwrap_or(deep);
    let one = contests.iter().find(|b| b.in_flight == 1).filter(|_| deepest.in_flight != 1);
    let series = Series::all(&contests);
    let own = series.iter().find(|series| series.holds(deepest)).expect("it is of one of them");
    let answer = [fastest(deepest), cheapest(deepest)].into_iter().chain(one.and_then(soonest)).chain(own.choice());
    let crossings = series.iter().flat_map(Series::crossings);
    let evidence = contests.iter().flat_map(|b| [speeds(b), costs(b)]).chain(crossings).chain(checks).collect();
    let first_look = first_look(deepest, own, &measured, steps);
    vec![verdict(question, first_look, sentences(answer), evidence, figures(deepest, one), steps)]
}

/// The loads that were issued through several paths, and which of these none beats in both IOPS and CPU per I/O.
#[must_use]
pub fn paths(steps: &[StepView]) -> Vec<PathsView> {
    let is_path = |s: &&StepView| s.rate_iops.is_none() && !is_by_another(s);
    let closed: Vec<&StepView> = measured(steps).into_iter().filter(is_path).collect();
    let of_contest = |contest: Contest<'_>| PathsView {
        steps: contest.steps.iter().map(|s| s.index).collect(),
        front: front(&contest).iter().map(|s| s.index).collect(),
    };
    contests(&closed).into_iter().map(of_contest).collect()
}

/// The paths that no other beats in both IOPS and CPU per I/O, the cheapest first.
fn front<'a>(contest: &Contest<'a>) -> Vec<&'a StepView> {
    let costs = by_cost(contest);
    let beats = |(a, a_cost): &(&StepView, Quantity), (b, b_cost): &(&StepView, Quantity)| {
        let is_no_worse = a.iops >= b.iops && a_cost.value <= b_cost.value;
        is_no_worse && (a.iops > b.iops || a_cost.value < b_cost.value)
    };
    let is_beaten = |path: &(&StepView, Quantity)| costs.iter().any(|other| beats(other, path));
    costs.iter().filter(|path| !is_beaten(path)).map(|(step, _)| *step).collect()
}

/// Relation of the two fastest paths; `None` if an interval is missing.
fn relation_of_speeds(best: &StepView, next: &StepView) -> Option<Relation> {
    speed_effect(best, next).map(|effect| relation(&effect, effect.p_value(), MARGIN_PCT))
}

/// Paths that may be as fast as the fastest one, in the order of their rates. The fastest is not among them.
fn rivals<'a>(contest: &Contest<'a>) -> Vec<&'a StepView> {
    let speed = by_speed(contest);
    let (best, others) = speed.split_first().expect("a contest has paths");
    others.iter().copied().filter(|other| relation_of_speeds(best, other) != Some(Relation::Higher)).collect()
}

/// Names of the rivals, or their number if they are too many for a headline.
fn rivals_in_words(rivals: &[&StepView]) -> Message {
    match rivals {
        [one] => msg!("brief-rival", path = path(one)),
        _ if rivals.len() > RIVALS_NAMED => msg!("brief-rivals-many", count = rivals.len()),
        _ => msg!("brief-rivals", paths = Arg::list(rivals.iter().map(|s| path(s)), Join::Comma)),
    }
}

/// `equal`, or `inconclusive` where intervals overlap or are missing.
fn tie(relation: Option<Relation>) -> Message {
    match relation {
        Some(Relation::Same) => msg!("brief-paths-equal"),
        _ => msg!("brief-paths-open"),
    }
}

/// Who is fastest and who is cheapest, the best of each engine, which path is best for which load, and a row for each path.
fn first_look(contest: &Contest<'_>, series: &Series<'_>, measured: &[&StepView], steps: &[StepView]) -> Brief {
    let speed = by_speed(contest);
    let of_path = |step: &&StepView| {
        let latency = step.lat_ns.as_ref().map(|lat| msg!("brief-cell-mean", mean = Quantity::ns(lat.mean)));
        row(path(step), [Some(rate_cell(rate(step))), latency, cost_cell(step)].into_iter().flatten())
    };
    let first = [Some(fastest_row(contest)), cheapest_row(contest), Some(engines_row(contest, measured))];
    let rows = first.into_iter().flatten().chain(series.row()).chain(speed.iter().map(of_path));
    brief(headline(contest), rows, study("pinning", steps, msg!("next-pinning")))
}

/// The fastest path and the cheapest, or the two that may be.
fn headline(contest: &Contest<'_>) -> Message {
    let speed = by_speed(contest);
    let best = speed[0];
    let rivals = rivals(contest);
    let equal = rivals.iter().all(|rival| relation_of_speeds(best, rival) == Some(Relation::Same));
    let speeds = equal.then_some(Relation::Same);
    let cheapest = surely_cheapest(contest);
    let (name, rate, in_flight) = (path(best), rate(best), contest.ios());
    match (rivals.is_empty(), cheapest) {
        (true, Some((step, _))) if step.index == best.index => {
            msg!("brief-path-wins", best = name, in_flight = in_flight, rate = rate)
        }
        (true, Some((step, cost))) => msg!(
            "brief-path-fastest",
            best = name,
            in_flight = in_flight,
            rate = rate,
            cheapest = path(step),
            cost = Quantity::ns(cost.value)
        ),
        (true, None) if by_cost(contest).len() < 2 => {
            msg!("brief-path-fastest-no-cost", best = name, in_flight = in_flight, rate = rate)
        }
        (true, None) => msg!("brief-path-fastest-alone", best = name, in_flight = in_flight, rate = rate),
        (false, Some((step, cost))) => msg!(
            "brief-path-tie",
            best = name,
            rivals = rivals_in_words(&rivals),
            how = tie(speeds),
            in_flight = in_flight,
            rate = rate,
            cheapest = path(step),
            cost = Quantity::ns(cost.value)
        ),
        (false, None) => msg!(
            "brief-path-tie-alone",
            best = name,
            rivals = rivals_in_words(&rivals),
            how = tie(speeds),
            in_flight = in_flight,
            rate = rate
        ),
    }
}

fn cost_cell(step: &StepView) -> Option<Message> {
    cost_of(step).map(|cost| msg!("brief-cell-cost", cost = cost))
}

fn fastest_row(contest: &Contest<'_>) -> BriefRow {
    let best = by_speed(contest)[0];
    let cells = match rivals(contest).first() {
        None => {
            let name = msg!("brief-cell-path", path = path(best));
            [Some(name), Some(rate_cell(rate(best))), cost_cell(best)].into_iter().flatten().collect()
        }
        Some(next) => vec![msg!(
            "brief-cell-paths-rate",
            how = tie(relation_of_speeds(best, next)),
            best = path(best),
            rate = rate(best),
            next = path(next),
            second = rate(next)
        )],
    };
    row(msg!("brief-row-fastest"), cells)
}

/// `None` where fewer than two costs are known.
fn cheapest_row(contest: &Contest<'_>) -> Option<BriefRow> {
    let costs = by_cost(contest);
    let [(least, cost), (next, second), ..] = costs[..] else { return None };
    let cells = match relation_of_costs(least, next) {
        Some(Relation::Lower) => {
            let name = msg!("brief-cell-path", path = path(least));
            [Some(name), Some(rate_cell(rate(least))), cost_cell(least)].into_iter().flatten().collect()
        }
        other => vec![msg!(
            "brief-cell-paths-cost",
            how = tie(other),
            best = path(least),
            cost = cost,
            next = path(next),
            second = second
        )],
    };
    Some(row(msg!("brief-row-cheapest"), cells))
}

/// The most that each engine gave of the load: with as much in flight as the others where it was measured so.
fn engines_row(contest: &Contest<'_>, measured: &[&StepView]) -> BriefRow {
    let elsewhere = measured.iter().copied().filter(|step| {
        Kind::of(step) == Kind::of(contest.steps[0])
            && step.group == contest.steps[0].group
            && place(step) == place(contest.steps[0])
            && contest.steps.iter().all(|here| here.engine != step.engine)
    });
    let mut best: Vec<&StepView> = Vec::new();
    for step in contest.steps.iter().copied().chain(elsewhere) {
        match best.iter_mut().find(|of| of.engine == step.engine) {
            Some(of) if of.iops >= step.iops => {}
            Some(of) => *of = step,
            None => best.push(step),
        }
    }
    best.sort_by(|a, b| b.iops.total_cmp(&a.iops));
    let cell = |step: &&StepView| {
        let (engine, in_flight) = (step.engine.as_str(), step.threads * step.queue_depth);
        match in_flight == contest.in_flight {
            true => msg!("brief-cell-engine", engine = engine, rate = rate(step)),
            false => msg!("brief-cell-engine-at", engine = engine, rate = rate(step), in_flight = in_flight),
        }
    };
    row(msg!("brief-row-engines"), best.iter().map(cell))
}

fn contests<'a>(steps: &[&'a StepView]) -> Vec<Contest<'a>> {
    let mut out: Vec<Contest<'a>> = Vec::new();
    let several = steps.iter().any(|s| s.group != steps[0].group);
    for step in steps {
        let kind = if several { Kind::of(step).in_group(&step.group) } else { Kind::of(step) };
        let in_flight = step.threads * step.queue_depth;
        // Paths are held against each other where they did the same at the same place.
        let is_same = |b: &Contest<'_>| b.kind == kind && b.in_flight == in_flight && place(b.steps[0]) == place(step);
        match out.iter_mut().find(|b| is_same(b)) {
            Some(contest) => {
                if contest.steps.iter().all(|s| Path::of(s) != Path::of(step)) {
                    contest.steps.push(step);
                }
            }
            None => out.push(Contest { kind, in_flight, steps: vec![step] }),
        }
    }
    out.retain(|b| b.steps.len() > 1);
    out.sort_by_key(|b| b.in_flight);
    out
}

fn by_cost<'a>(contest: &Contest<'a>) -> Vec<(&'a StepView, Quantity)> {
    let cost = |step: &&'a StepView| Some((*step, cost_of(step).filter(|cost| cost.value > 0.0)?));
    let mut known: Vec<(&StepView, Quantity)> = contest.steps.iter().filter_map(cost).collect();
    known.sort_by(|a, b| a.1.value.total_cmp(&b.1.value));
    known
}

fn by_speed<'a>(contest: &Contest<'a>) -> Vec<&'a StepView> {
    let mut steps = contest.steps.clone();
    steps.sort_by(|a, b| b.iops.total_cmp(&a.iops));
    steps
}

fn speed_effect(first: &StepView, second: &StepView) -> Option<Effect> {
    Effect::of_figures(second.iops, second.iops_ci95?.into(), first.iops, first.iops_ci95?.into())
}

fn fastest(contest: &Contest<'_>) -> Message {
    let speed = by_speed(contest);
    // A rival decides before a slower path that is closer in rate.
    let (fastest, second) = (speed[0], rivals(contest).first().copied().unwrap_or(speed[1]));
    let (ios, best, next) = (contest.ios(), path(fastest), path(second));
    let rate = rate(fastest);
    let Some(effect) = speed_effect(fastest, second) else {
        let change = change(fastest.iops / second.iops, None);
        return msg!("verdict-path-gives", in_flight = ios, best = best, rate = rate, change = change, next = next);
    };
    let change = change(effect.ratio(), Some(effect.ci95().into()));
    match relation(&effect, effect.p_value(), MARGIN_PCT) {
        Relation::Higher => {
            msg!("verdict-path-fastest", in_flight = ios, best = best, rate = rate, change = change, next = next)
        }
        Relation::Same => msg!(
            "verdict-path-same",
            in_flight = ios,
            best = best,
            rate = rate,
            next = next,
            margin = Quantity::pct(MARGIN_PCT),
            change = change
        ),
        Relation::Lower | Relation::Inconclusive => {
            msg!("verdict-path-ahead", in_flight = ios, best = best, rate = rate, next = next, change = change)
        }
    }
}

/// Relation of the least CPU per I/O to the next, of the costs in ascending order; `None` where an interval is missing.
fn relation_of_costs(least: &StepView, next: &StepView) -> Option<Relation> {
    effect(ComparedFigure::CpuPerIo, &[next], &[least]).map(|e| relation(&e, e.p_value(), MARGIN_PCT))
}

/// The path that costs less CPU per I/O than any other, beyond doubt.
fn surely_cheapest<'a>(contest: &Contest<'a>) -> Option<(&'a StepView, Quantity)> {
    match by_cost(contest)[..] {
        [least, (next, _), ..] if relation_of_costs(least.0, next) == Some(Relation::Lower) => Some(least),
        _ => None,
    }
}

/// The path that costs least CPU per I/O, or the two that may.
fn cheapest(contest: &Contest<'_>) -> Message {
    let costs = by_cost(contest);
    let [(cheapest, least), (next, second), ..] = costs[..] else { return msg!("verdict-costs-unknown") };
    let (dearest, most) = costs[costs.len() - 1];
    let lower = relation_of_costs(cheapest, next);
    let less = Quantity::share(1.0 - least.value / second.value);
    match lower {
        Some(Relation::Lower) if costs.len() > 2 => msg!(
            "verdict-cheapest",
            path = path(cheapest),
            cost = least,
            less = less,
            next = path(next),
            dearest = path(dearest),
            times = Quantity::times(most.value / least.value)
        ),
        Some(Relation::Lower) => {
            msg!("verdict-cheapest-of-two", path = path(cheapest), cost = least, less = less, next = path(next))
        }
        Some(Relation::Same) => msg!(
            "verdict-cheapest-same",
            path = path(cheapest),
            cost = least,
            next = path(next),
            second = second,
            margin = Quantity::pct(MARGIN_PCT)
        ),
        _ => msg!(
            "verdict-cheapest-inconclusive",
            path = path(cheapest),
            cost = least,
            next = path(next),
            second = second
        ),
    }
}

/// Latency decides where one I/O is in flight.
fn soonest(contest: &Contest<'_>) -> Option<Message> {
    let known = |step: &&StepView| step.lat_ns.as_ref().map(|lat| lat.mean);
    let mut steps: Vec<&StepView> = contest.steps.iter().copied().filter(|s| known(s).is_some()).collect();
    steps.sort_by(|a, b| known(a).unwrap_or_default().total_cmp(&known(b).unwrap_or_default()));
    let [first, second, ..] = steps[..] else { return None };
    let (least, more) = (mean(first.lat_ns.as_ref()?), mean(second.lat_ns.as_ref()?));
    let effect = effect(ComparedFigure::LatMean, &[second], &[first]);
    let (best, next) = (path(first), path(second));
    let change = change(least.value / more.value, effect.map(|e| e.ci95().into()));
    Some(match effect.map(|e| relation(&e, e.p_value(), MARGIN_PCT)) {
        Some(Relation::Lower) => {
            msg!("verdict-soonest", best = best, mean = least, second = more, next = next, change = change)
        }
        Some(Relation::Same) => msg!(
            "verdict-soonest-same",
            best = best,
            next = next,
            margin = Quantity::pct(MARGIN_PCT),
            mean = least,
            second = more,
            change = change
        ),
        _ => {
            msg!("verdict-soonest-inconclusive", best = best, mean = least, second = more, next = next, change = change)
        }
    })
}

/// Whether another program ran it: a check on a path, and none of its own.
fn is_by_another(step: &StepView) -> bool {
    step.role.by_fio.is_some() || step.engine == EngineName::Spdk
}

/// What another program found of a load against what we did.
fn cross_check(twin: &StepView, measured: &[&StepView]) -> Option<Message> {
    let by_fio = twin.role.by_fio.as_ref();
    let engine = by_fio.map_or(EngineName::Nvme.as_str(), |job| &job.ioengine);
    let registers = |step: &StepView| (step.fixed_buffers, step.fixed_files);
    let is_own = |step: &&&StepView| {
        step.engine.as_str() == engine
            && (step.mode, step.threads, step.queue_depth) == (twin.mode, twin.threads, twin.queue_depth)
            && (step.block_size_bytes, step.pattern, &step.group) == (twin.block_size_bytes, twin.pattern, &twin.group)
            && step.read_pct == twin.read_pct
            && registers(step) == registers(twin)
            && place(step) == place(twin)
    };
    let own = *measured.iter().find(is_own)?;
    let effect = speed_effect(twin, own);
    let ratio = effect.as_ref().map_or(twin.iops / own.iops, Effect::ratio);
    let change = change(ratio, effect.map(|effect| effect.ci95().into()));
    let (path, in_flight, theirs, ours) = (path(own), twin.threads * twin.queue_depth, rate(twin), rate(own));
    if by_fio.is_some() {
        let said = msg!(
            "verdict-path-by-fio",
            path = path,
            in_flight = in_flight,
            theirs = theirs,
            ours = ours,
            change = change
        );
        return Some(said);
    }
    let cpu = |step: &StepView| cost_of(step).filter(|cost| cost.value > 0.0);
    let rates =
        msg!("verdict-path-by-spdk", path = path, in_flight = in_flight, theirs = theirs, ours = ours, change = change);
    Some(match (cpu(twin), cpu(own)) {
        (Some(theirs), Some(ours)) => msg!("verdict-path-by-spdk-cost", rates = rates, theirs = theirs, ours = ours),
        _ => rates,
    })
}

/// Every path at this number in flight against the slowest of them.
fn speeds(contest: &Contest<'_>) -> Message {
    let speed = by_speed(contest);
    let slowest = speed[speed.len() - 1];
    let effects: Vec<Option<Effect>> = speed.iter().map(|s| speed_effect(s, slowest)).collect();
    let p: Vec<f64> = effects.iter().map(|e| e.as_ref().map_or(1.0, Effect::p_value)).collect();
    let one = |(step, (effect, p)): (&&StepView, (&Option<Effect>, f64))| match effect {
        Some(effect) if step.index != slowest.index => {
            let change = match relation(effect, p, MARGIN_PCT) {
                Relation::Higher => change_alone(effect.ratio()),
                Relation::Same => msg!("verdict-change-same", change = Quantity::change(effect.ratio())),
                Relation::Lower | Relation::Inconclusive => change_inconclusive(effect.ratio()),
            };
            msg!("verdict-path-speed-change", path = path(step), rate = rate(step), change = change)
        }
        _ => msg!("verdict-path-speed", path = path(step), rate = rate(step)),
    };
    let paths: Vec<Message> = speed.iter().zip(effects.iter().zip(adjusted_p_values(&p))).map(one).collect();
    let paths = Arg::list(paths, Join::Dot);
    msg!("verdict-paths-speed", kind = contest.kind.message(), in_flight = contest.in_flight, paths = paths)
}

fn costs(contest: &Contest<'_>) -> Message {
    let one = |(step, cost): (&StepView, Quantity)| msg!("verdict-path-cost", path = path(step), cost = cost);
    let paths: Vec<Message> = by_cost(contest).into_iter().map(one).collect();
    let kind = contest.kind.message();
    if paths.is_empty() {
        return msg!("verdict-paths-no-cost", kind = kind, in_flight = contest.in_flight);
    }
    let paths = Arg::list(paths, Join::Dot);
    msg!("verdict-paths-cost", kind = kind, in_flight = contest.in_flight, paths = paths)
}

fn figures(deep: &Contest<'_>, one: Option<&Contest<'_>>) -> Vec<Figure> {
    let fastest = by_speed(deep)[0];
    let mut out = vec![figure(msg!("verdict-figure-fastest-path", path = path(fastest)), iops(fastest), fastest)];
    for (step, cost) in by_cost(deep).into_iter().take(3) {
        let cost = Quantity { unit: Unit::NsPerIo, ..cost };
        out.push(figure(msg!("verdict-figure-path-cost", path = path(step)), cost, step));
    }
    let alone = |step: &&StepView| {
        let mean = mean(step.lat_ns.as_ref()?);
        Some(figure(msg!("verdict-figure-path-alone", path = path(step)), mean, step))
    };
    out.extend(one.iter().flat_map(|b| b.steps.iter().take(2)).filter_map(alone));
    out
}
