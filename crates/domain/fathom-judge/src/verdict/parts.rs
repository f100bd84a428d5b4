//! What all verdicts are made of: figures with their intervals, loads in words, headline figures.

use fathom_message::{Arg, Join, Message, Quantity, Unit, msg};
use fathom_plan::{LoadPart, Phase};

use super::brief::{brief, row};
use super::caveats::caveats;
use crate::cpu_time::{cpu_ns_per_io, cpu_per_io_ci95};
use crate::document::{Brief, Figure, LatencyView, StepView, Verdict};

/// From this block size on bandwidth is the figure, not IOPS.
const BANDWIDTH_BLOCK_BYTES: u32 = 64 << 10;
/// Most labels in a row.
const LISTED_MAX: usize = 6;

/// Measured steps that completed I/Os, in the order of the plan.
pub(super) fn measured(steps: &[StepView]) -> Vec<&StepView> {
    steps.iter().filter(|s| s.phase == Phase::Measure && s.ios > 0).collect()
}

/// An answer whose trust is limited by what the steps show.
pub(super) fn verdict(
    question: &Message,
    brief: Brief,
    answer: Message,
    evidence: Vec<Message>,
    figures: Vec<Figure>,
    steps: &[StepView],
) -> Verdict {
    let caveats = caveats(steps);
    Verdict { question: question.clone(), brief, answer, evidence, would_help: Vec::new(), caveats, figures }
}

/// The answer when no step completed an I/O.
pub(super) fn nothing_measured(question: &Message, steps: &[StepView]) -> Verdict {
    let reason = |s: &StepView| Some(msg!("what-and-why", what = &s.label_message, why = s.reason.as_ref()?));
    let reasons: Vec<Message> = steps.iter().filter_map(reason).take(3).collect();
    let help: Vec<Message> = steps.iter().filter_map(|s| s.help.clone()).take(1).collect();
    // Why, and the way out, are all that there is to say.
    let why = steps.iter().filter_map(|s| Some(row(s.label_message.clone(), [s.reason.clone()?]))).take(2);
    let rows = why.chain(help.iter().map(|help| row(msg!("brief-row-help"), [help.clone()])));
    let brief = brief(msg!("verdict-nothing-measured"), rows, None);
    Verdict {
        would_help: help,
        ..verdict(question, brief, msg!("verdict-nothing-measured"), reasons, Vec::new(), steps)
    }
}

/// Several sentences, one after the other.
pub(super) fn sentences(all: impl IntoIterator<Item = Message>) -> Message {
    let mut all: Vec<Message> = all.into_iter().collect();
    if all.len() == 1 {
        return all.remove(0);
    }
    msg!("several-sentences", list = Arg::list(all, Join::Sentences))
}

/// `a, b, c`, or the first few and how many more; each once.
pub(super) fn listed(names: impl IntoIterator<Item = Message>) -> Arg {
    let mut once: Vec<Message> = Vec::new();
    for name in names {
        if !once.contains(&name) {
            once.push(name);
        }
    }
    let Some(more) = once.len().checked_sub(LISTED_MAX).filter(|more| *more > 0) else { return Arg::from(once) };
    once.truncate(LISTED_MAX);
    msg!("verdict-list-more", list = once, more = more).into()
}

/// `T1 QD32`, or the rate asked for.
pub(super) fn load(step: &StepView) -> Message {
    match step.rate_iops {
        Some(rate) => msg!("verdict-rate-asked", rate = Quantity::iops(rate)),
        None if !is_load_known(step) => unknown_load(step),
        None => msg!("verdict-threads-depth", threads = step.threads, depth = step.queue_depth),
    }
}

/// True if the threads and the queue depth are known: an import may not say them.
pub(super) fn is_load_known(step: &StepView) -> bool {
    !step.role.is_unknown(LoadPart::Threads) && !step.role.is_unknown(LoadPart::Depth)
}

/// `T? QD>=16`: the figures that are known.
fn unknown_load(step: &StepView) -> Message {
    match (step.role.is_unknown(LoadPart::Threads), step.role.is_unknown(LoadPart::Depth)) {
        (true, true) => msg!("verdict-threads-depth-unknown", depth = step.queue_depth),
        (true, false) => msg!("verdict-threads-unknown", depth = step.queue_depth),
        (false, _) => msg!("verdict-depth-unknown", threads = step.threads, depth = step.queue_depth),
    }
}

/// `QD 8` with one thread, `16x2` with more.
pub(super) fn depth(threads: u32, queue_depth: u32) -> Message {
    msg!("verdict-depth", threads = threads, depth = queue_depth)
}

/// The depth of a step, or the rate asked for.
pub(super) fn depth_or_rate(step: &StepView) -> Message {
    match step.rate_iops {
        Some(rate) => msg!("verdict-rate", rate = Quantity::iops(rate)),
        None => depth_of(step),
    }
}

/// The depth of a step, in a word.
pub(super) fn depth_of(step: &StepView) -> Message {
    if !is_load_known(step) {
        return unknown_load(step);
    }
    depth(step.threads, step.queue_depth)
}

/// Whether bandwidth is the figure of the step.
pub(super) fn is_bandwidth(step: &StepView) -> bool {
    step.block_size_bytes >= BANDWIDTH_BLOCK_BYTES
}

/// `183k IOPS`, or `3.10 GB/s (2.89 GiB/s)` with large blocks, with its interval.
pub(super) fn rate(step: &StepView) -> Quantity {
    if !is_bandwidth(step) {
        return iops(step);
    }
    let bytes_per_io = step.bytes_per_s / step.iops.max(1e-9);
    let ci95 = step.iops_ci95.map(|ends| ends.map(|iops| iops * bytes_per_io));
    Quantity::bytes_per_s(step.bytes_per_s).with_ci95(ci95)
}

/// I/Os per second, with their interval.
pub(super) fn iops(step: &StepView) -> Quantity {
    Quantity::iops(step.iops).with_ci95(step.iops_ci95)
}

/// The IOPS of a step over those of another, with the interval where both have one. Shares of independent figures add as
/// their squares.
pub(super) fn times_as_much(this: &StepView, base: &StepView) -> Quantity {
    let half =
        |step: &StepView| step.iops_ci95.filter(|_| step.iops > 0.0).map(|[low, high]| (high - low) / 2.0 / step.iops);
    let times = this.iops / base.iops;
    let ci95 = half(this).zip(half(base)).map(|(a, b)| a.hypot(b) * times).map(|half| [times - half, times + half]);
    Quantity::times(times).with_ci95(ci95)
}

/// A time with its interval.
pub(super) fn ns(value: f64, ci95: Option<&[u64; 2]>) -> Quantity {
    Quantity::ns(value).with_ci95(ci95.map(|ends| ends.map(|ns| ns as f64)))
}

/// The mean of a latency with its interval.
pub(super) fn mean(latency: &LatencyView) -> Quantity {
    ns(latency.mean, latency.ci95.get("mean"))
}

/// The median of a latency with its interval.
pub(super) fn p50(latency: &LatencyView) -> Option<Quantity> {
    Some(ns(latency.p50? as f64, latency.ci95.get("p50")))
}

/// The 99th percentile of a latency with its interval.
pub(super) fn p99(latency: &LatencyView) -> Option<Quantity> {
    Some(ns(latency.p99? as f64, latency.ci95.get("p99")))
}

/// CPU time of the whole host per I/O with its interval; `None` without host counters.
pub(super) fn cost(step: &StepView) -> Option<Quantity> {
    let ci95 = cpu_per_io_ci95(step).map(|(low, high)| [low, high]);
    Some(Quantity::ns(cpu_ns_per_io(step)?).with_ci95(ci95))
}

/// IOPS that one busy core carries, with their interval; `None` where the CPU time is not known.
pub(super) fn per_core(step: &StepView) -> Option<Quantity> {
    let per_core = step.cpu.as_ref()?.iops_per_core?;
    let interval = cpu_ns_per_io(step).zip(cpu_per_io_ci95(step));
    let ci95 = interval.filter(|(_, (low, _))| *low > 0.0);
    let ci95 = ci95.map(|(cost, (low, high))| [per_core * cost / high, per_core * cost / low]);
    Some(Quantity::new(per_core, Unit::IopsPerCore).with_ci95(ci95))
}

/// `+26.1 % (95 % interval +24.0 to +28.2 %)`.
pub(super) fn change(ratio: f64, ci95: Option<[f64; 2]>) -> Message {
    let change = Quantity::change(ratio).with_ci95(ci95);
    match ci95 {
        Some(_) => msg!("verdict-change", change = change),
        None => msg!("verdict-change-without-interval", change = change),
    }
}

/// `+26.1 %`.
pub(super) fn change_alone(ratio: f64) -> Message {
    msg!("verdict-change-alone", change = Quantity::change(ratio))
}

/// The same where it may be chance.
pub(super) fn change_inconclusive(ratio: f64) -> Message {
    msg!("verdict-change-inconclusive", change = Quantity::change(ratio))
}

/// A headline figure of a step.
pub(super) fn figure(name: Message, quantity: Quantity, step: &StepView) -> Figure {
    Figure {
        name,
        value: quantity.value,
        unit: quantity.unit,
        ci95: quantity.ci95,
        load: step.label_message.clone(),
        step: step.index,
    }
}

/// IOPS per busy core as a headline figure; `None` where the CPU time is not known.
pub(super) fn per_core_figure(step: &StepView) -> Option<Figure> {
    Some(figure(msg!("verdict-figure-per-core"), per_core(step)?, step))
}

/// Whether the rate was sustained; a closed loop always is.
pub(super) fn is_held(step: &StepView) -> bool {
    step.open_loop.as_ref().is_none_or(|o| !o.unsustainable)
}

/// The rate asked for, or that of a closed loop.
pub(super) fn rate_of(step: &StepView) -> f64 {
    step.rate_iops.unwrap_or(step.iops)
}
