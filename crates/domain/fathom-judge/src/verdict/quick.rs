//! The answer first: from the judged steps to one or two sentences with their evidence.
//!
//! One way for every plan: the steps are sorted into kinds of load (random read, sequential write...), the best step of
//! each kind is named with what limited it, and the shallowest random step gives the latency.

use fathom_message::{Message, Quantity, Unit, msg};
use fathom_model::LimitName;

use super::arrays::MemberCeiling;
use super::brief::{brief, gives, next, rate_cell, row, rows_of};
use super::caveats::limit;
use super::kind::{Kind, Loads, sorted};
use super::parts::{
    cost, depth_or_rate, figure, is_bandwidth, is_held, load, mean, measured, nothing_measured, p50, p99, per_core,
    per_core_figure, rate, rate_of, sentences, verdict,
};
use super::plateau::Most;
use crate::document::{BriefRow, Figure, LatencyView, StepView, Verdict};
use crate::sentences::counted;
use fathom_record::ArrayRecord;

/// Answers `question` from the steps; an empty run is answered as such.
pub(super) fn verdicts(question: &Message, steps: &[StepView], run: i64) -> Vec<Verdict> {
    let kinds = kinds(steps);
    let Some(main) = kinds.first() else {
        return vec![nothing_measured(question, steps)];
    };
    let mut evidence: Vec<Message> = kinds.iter().map(best_of).collect();
    evidence.extend(kinds.iter().filter(|k| !is_of_bandwidth(k)).filter_map(one_at_a_time));
    evidence.extend(cpu_cost(main.best()));
    let measured_steps = measured(steps);
    let ceilings: Vec<MemberCeiling<'_>> =
        measured_steps.iter().filter_map(|step| MemberCeiling::of(step, &measured_steps)).collect();
    evidence.extend(ceilings.iter().map(MemberCeiling::sentence));
    // A load alone has its figures in the headline: the table has those that stand beside them.
    let rows = match &measured_steps[..] {
        [only] => beside(only),
        _ if ceilings.is_empty() => rows_of(&kinds),
        _ => kinds.iter().flat_map(|kind| of_kind(kind, &ceilings)).collect(),
    };
    let mut figures = figures(&kinds);
    figures.extend(ceilings.iter().map(MemberCeiling::figure));
    let brief = brief(gives(main), rows, next(main.best(), steps, run));
    vec![Verdict {
        would_help: kinds.iter().filter_map(would_help).collect(),
        ..verdict(question, brief, answer(main, &kinds), evidence, figures, steps)
    }]
}

/// The row of a kind of load: of an array what it gives of what its members allow, which says more than a limit.
fn of_kind(kind: &Loads<'_>, ceilings: &[MemberCeiling<'_>]) -> Vec<BriefRow> {
    let best = kind.best();
    match ceilings.iter().find(|ceiling| ceiling.is_of(best)) {
        None => rows_of(std::slice::from_ref(kind)),
        Some(ceiling) => {
            let share = Quantity::pct(ceiling.share().value.min(100.0));
            let share = match ceiling.is_exceeded() {
                true => msg!("brief-cell-above-members", ceiling = ceiling.iops()),
                false => msg!("brief-cell-of-members", share = share),
            };
            vec![row(kind.name(), [rate_cell(rate(best)), depth_or_rate(best), share])]
        }
    }
}

/// What one step is told by besides its rate: latency, CPU, and syncs or throughput.
fn beside(step: &StepView) -> Vec<BriefRow> {
    let latency = match &step.lat_ns {
        Some(lat) => of_latency(lat),
        None if !is_held(step) => vec![msg!("brief-cell-rate-exceeded", rate = Quantity::iops(rate_of(step)))],
        None => Vec::new(),
    };
    let cpu = [
        cost(step).map(|cost| msg!("brief-cell-per-io", cost = cost)),
        per_core(step).map(|carried| msg!("brief-cell-carried", carried = carried)),
    ];
    let last = match &step.syncs {
        Some(syncs) => {
            let rate = std::iter::once(msg!("brief-cell-syncs", rate = Quantity::new(syncs.iops, Unit::PerS)));
            row(msg!("brief-row-syncs"), rate.chain(syncs.lat_ns.iter().flat_map(of_latency)))
        }
        None => {
            let time = Quantity::new(step.runtime_s * 1e9, Unit::DurationNs);
            row(msg!("brief-row-throughput"), [msg!("brief-cell-amount", rate = throughput(step), time = time)])
        }
    };
    let array = row(msg!("brief-row-array"), step.arrays.iter().flat_map(of_array));
    // Of an array its cost on the members comes before what fits an answer no more.
    [row(msg!("brief-row-latency"), latency), array, row(msg!("brief-row-cpu"), cpu.into_iter().flatten()), last]
        .into_iter()
        .filter(|row| !row.cells.is_empty())
        .collect()
}

/// What the headline does not say of the rate: bytes of small blocks, I/Os of large ones.
fn throughput(step: &StepView) -> Quantity {
    if is_bandwidth(step) { Quantity::iops(step.iops) } else { Quantity::bytes_per_s(step.bytes_per_s) }
}

/// What writes cost an array on its members, and what was read without them.
fn of_array(array: &ArrayRecord) -> Vec<Message> {
    let cost = array
        .write_cost()
        .map(|(reads, writes)| msg!("brief-cell-member-ios", reads = counted(reads), writes = counted(writes)));
    let degraded =
        (array.degraded_reads > 0).then(|| msg!("brief-cell-degraded", count = counted(array.degraded_reads as f64)));
    cost.into_iter().chain(degraded).collect()
}

/// The mean, and the quantiles that the samples allow.
fn of_latency(lat: &LatencyView) -> Vec<Message> {
    let quantile = |name: &str, ns: Option<u64>| {
        Some(msg!("brief-cell-quantile", name = name.to_owned(), latency = Quantity::ns(ns? as f64)))
    };
    let known = [("p50", lat.p50), ("p99", lat.p99), ("p99.9", lat.p99_9)];
    let mean = msg!("brief-cell-mean", mean = Quantity::ns(lat.mean));
    std::iter::once(mean).chain(known.into_iter().filter_map(|(name, ns)| quantile(name, ns))).collect()
}

/// Random before sequential, reads before writes: the order in which people ask.
fn kinds(steps: &[StepView]) -> Vec<Loads<'_>> {
    let mut out = sorted(&measured(steps), Kind::of);
    out.sort_by_key(|k| (is_of_bandwidth(k), k.steps[0].read_pct < 100));
    out
}

fn is_of_bandwidth(kind: &Loads<'_>) -> bool {
    is_bandwidth(kind.steps[0])
}

fn shallowest<'a>(kind: &Loads<'a>) -> Option<&'a StepView> {
    kind.steps.iter().copied().min_by_key(|s| s.threads * s.queue_depth)
}

fn answer(main: &Loads<'_>, kinds: &[Loads<'_>]) -> Message {
    let most = Most::of(main);
    let best = most.best;
    let gives = match best.is_real() {
        true => msg!("verdict-gives", rate = most.rate, kind = main.name(), load = most.load()),
        false => msg!("verdict-loop-gives", rate = most.rate, kind = main.name(), load = most.load()),
    };
    let several = kinds.iter().map(|k| k.steps.len()).sum::<usize>() > 1;
    let shallow = shallowest(main).filter(|s| several && s.index != best.index);
    let median = shallow.and_then(|s| {
        let latency = p50(s.lat_ns.as_ref()?)?;
        Some(msg!("verdict-median-latency", load = load(s), latency = latency))
    });
    sentences([gives, limit(best)].into_iter().chain(median))
}

/// The best step of a kind, and what limited it.
fn best_of(kind: &Loads<'_>) -> Message {
    let best = kind.best();
    let (name, load) = (kind.name(), load(best));
    // One figure has one interval: that of the answer.
    let most = Most::of(kind);
    let rate = if most.first().index == best.index { most.rate } else { rate(best) };
    let latency = best.lat_ns.as_ref().map(|lat| (mean(lat), p99(lat)));
    let figures = match latency {
        Some((mean, Some(p99))) => {
            msg!("verdict-best-tail", kind = name, rate = rate, load = load, mean = mean, p99 = p99)
        }
        Some((mean, None)) => msg!("verdict-best-mean", kind = name, rate = rate, load = load, mean = mean),
        None => msg!("verdict-best", kind = name, rate = rate, load = load),
    };
    sentences([figures, best.limit.sentence.clone()])
}

fn one_at_a_time(kind: &Loads<'_>) -> Option<Message> {
    let lat = kind.alone()?.lat_ns.as_ref()?;
    let one = kind.kind.one_message();
    Some(match p99(lat) {
        Some(p99) => msg!("verdict-one-at-a-time", kind = one, mean = mean(lat), p99 = p99),
        None => msg!("verdict-one-at-a-time-mean", kind = one, mean = mean(lat)),
    })
}

fn cpu_cost(best: &StepView) -> Option<Message> {
    let cpu = best.cpu.as_ref()?;
    Some(msg!(
        "verdict-cpu-cost",
        load = load(best),
        cost = cost(best)?,
        carried = per_core(best)?,
        busy = Quantity::cores(cpu.busy_cores),
        cpus = cpu.cpus_online
    ))
}

fn would_help(kind: &Loads<'_>) -> Option<Message> {
    let (best, name) = (kind.best(), kind.name());
    Some(match best.limit.name {
        LimitName::QueueDepth => more_in_flight(kind, name),
        LimitName::Core => msg!("verdict-help-core", kind = name),
        LimitName::AllCores => msg!("verdict-help-all-cores", kind = name),
        LimitName::Device => msg!("verdict-help-device", kind = name),
        LimitName::PageCache => msg!("verdict-help-page-cache", kind = name),
        _ => return None,
    })
}

/// More in flight, which cannot be said without a doubt where a deeper step stands below the best one.
fn more_in_flight(kind: &Loads<'_>, name: Message) -> Message {
    let in_flight = |s: &StepView| s.threads * s.queue_depth;
    let most = in_flight(kind.best());
    let deeper = kind.steps.iter().filter(|s| s.rate_iops.is_none()).map(|s| in_flight(s)).filter(|n| *n > most).max();
    match deeper {
        Some(deeper) => msg!("verdict-help-queue-depth-no-more", kind = name, tried = deeper),
        None => msg!("verdict-help-queue-depth", kind = name, tried = most),
    }
}

fn figures(kinds: &[Loads<'_>]) -> Vec<Figure> {
    let most = |kind: &Loads<'_>| {
        let most = Most::of(kind);
        figure(msg!("verdict-figure-most", kind = kind.name()), most.rate, most.first())
    };
    let mut out: Vec<Figure> = kinds.iter().take(4).map(most).collect();
    let median = kinds.iter().find(|k| !is_of_bandwidth(k)).and_then(|kind| {
        let step = shallowest(kind)?;
        Some(figure(msg!("verdict-figure-median", kind = kind.name()), p50(step.lat_ns.as_ref()?)?, step))
    });
    out.extend(median);
    out.extend(kinds.first().and_then(|kind| per_core_figure(kind.best())));
    out
}
