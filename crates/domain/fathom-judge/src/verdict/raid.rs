//! What does each RAID level give of what its members allow, and where is the rest lost?
//!
//! Each load is told by the step of the array that gave the most. What the members allow is their own measurement in the same
//! run, by device time (`arrays.rs`); where the rest went is what limited that step.

use fathom_message::{Arg, Join, Message, Quantity, Unit, msg};
use fathom_model::LimitName;
use fathom_plan::{ArrayMaker, MadeLevel};
use fathom_raid::Level;

use super::arrays::{MemberCeiling, array_of};
use super::brief::{brief, limit_cell, limited, report, row};
use super::kind::{Kind, is_sequential};
use super::parts::{
    figure, iops, is_bandwidth, mean, measured, nothing_measured, rate, sentences, times_as_much, verdict,
};
use super::quick;
use crate::document::{BriefRow, Figure, StepView, Verdict};
use crate::sentences::counted;

/// A level that reaches this share of what its members allow has lost nothing worth a word.
const REACHED_PCT: f64 = 95.0;
/// The headline gives the widest half interval of its shares above this part of the share.
const WIDE_HALF: f64 = 0.05;
/// Members that together give less than this share of so many single ones have something in common.
const APART: f64 = 0.8;
/// From this share of writes on a load is one of whole stripes.
const WHOLE: f64 = 0.9;

/// The order in which levels are told: those that protect first.
const ORDER: [Level; 4] = [Level::Raid10, Level::Raid5, Level::Raid6, Level::Raid0];

/// What an array gave under a load: the step with the most I/Os.
struct Cell<'a> {
    kind: Kind,
    step: &'a StepView,
    ceiling: Option<MemberCeiling<'a>>,
}

/// One array of the run and its loads, in the order of the plan.
struct Array<'a> {
    level: MadeLevel,
    chunk_bytes: u64,
    missing: u32,
    /// A member of it is being rebuilt.
    rebuilds: bool,
    group: &'a str,
    /// As it is called among the others.
    name: Message,
    cells: Vec<Cell<'a>>,
}

impl<'a> Array<'a> {
    fn cell(&self, kind: &Kind) -> Option<&Cell<'a>> {
        self.cells.iter().find(|cell| cell.kind == *kind)
    }

    fn is_whole(&self) -> bool {
        self.missing == 0 && !self.rebuilds
    }
}

pub(super) fn verdicts(question: &Message, steps: &[StepView], run: i64) -> Vec<Verdict> {
    let measured = measured(steps);
    if measured.is_empty() {
        return vec![nothing_measured(question, steps)];
    }
    let arrays = by_array(&measured);
    let whole: Vec<&Array<'_>> = arrays.iter().filter(|array| array.is_whole()).collect();
    let Some(main) = main_kind(&whole) else { return quick::verdicts(question, steps, run) };
    // Beside Linux md, what Fathom puts together is what md is held against.
    let by_md: Vec<&Array<'_>> = whole.iter().copied().filter(|a| a.level.maker == ArrayMaker::LinuxMd).collect();
    let asked = if by_md.is_empty() { &whole } else { &by_md };
    let told = told(asked, &main);
    let headline = headline(&told, &main);
    let lossy: Vec<(&Array<'_>, &Cell<'_>)> =
        whole.iter().filter_map(|array| Some((*array, lossy(array, &main)?))).collect();
    let losses = lossy.iter().map(|(array, cell)| loss(array, cell));
    let exceeded = whole.iter().filter_map(|array| exceeded(array, &main));
    let answer =
        sentences(std::iter::once(msg!("brief-raid-end", said = headline.clone())).chain(losses).chain(exceeded));
    // The worst of them, and none beside long names: the sentence of a first look is short.
    let worst = lossy
        .iter()
        .filter(|(array, _)| told.len() == asked.len() && asked.iter().any(|asked| asked.level == array.level));
    let worst = worst.min_by(|(_, a), (_, b)| reached_pct(a).total_cmp(&reached_pct(b)));
    let head = match worst {
        Some((array, cell)) => {
            msg!("brief-raid-loss", said = headline, level = array.name.clone(), limit = limit_cell(cell.step))
        }
        None => msg!("brief-raid-end", said = headline),
    };
    let brief = brief(head, whole.iter().map(|array| array_row(array)), Some(report(run)));
    let mut evidence = members(&measured);
    evidence.extend(whole.iter().flat_map(|array| &array.cells).filter_map(|c| Some(c.ceiling?.sentence())));
    evidence.extend(beside_md(&whole));
    evidence.extend(whole.iter().filter_map(|array| stripes(array)));
    evidence.extend(arrays.iter().flat_map(|array| degraded(array, &whole)));
    evidence.extend(measured.iter().filter_map(|step| rebuilding(step, &whole)));
    evidence.extend(whole.iter().filter_map(|array| one_at_a_time(array, &measured)));
    vec![verdict(question, brief, answer, evidence, figures(&whole, &main), steps)]
}

fn by_array<'a>(measured: &[&'a StepView]) -> Vec<Array<'a>> {
    let mut out: Vec<Array<'a>> = Vec::new();
    for step in measured.iter().copied() {
        let Some(target) = array_of(step) else { continue };
        let (layout, missing) = (target.layout(), target.missing().count());
        let (level, chunk_bytes) = (target.made_level(), layout.chunk_bytes());
        let rebuilds = target.rebuild().is_some();
        let kind = Kind::of(step).without_array();
        let known = out.iter().position(|a| {
            (a.level, a.chunk_bytes, a.missing, a.rebuilds, a.group)
                == (level, chunk_bytes, missing, rebuilds, step.group.as_str())
        });
        let at = known.unwrap_or_else(|| {
            let (name, cells) = (Message::verbatim(level.to_string()), Vec::new());
            out.push(Array { level, chunk_bytes, missing, rebuilds, group: &step.group, name, cells });
            out.len() - 1
        });
        let cells = &mut out[at].cells;
        match cells.iter_mut().find(|cell| cell.kind == kind) {
            Some(cell) if cell.step.iops >= step.iops => {}
            Some(cell) => cell.step = step,
            None => cells.push(Cell { kind, step, ceiling: None }),
        }
    }
    for cell in out.iter_mut().flat_map(|array| &mut array.cells) {
        cell.ceiling = MemberCeiling::of(cell.step, measured);
    }
    let several_chunks = out.iter().any(|a| a.chunk_bytes != out[0].chunk_bytes);
    let several_groups = out.iter().any(|a| a.group != out[0].group);
    for array in &mut out {
        if several_chunks {
            let chunk = Quantity::block(array.chunk_bytes);
            array.name = msg!("raid-level-chunk", level = array.name.clone(), chunk = chunk);
        }
        if several_groups {
            array.name = msg!("verdict-kind-of-group", kind = array.name.clone(), group = array.group.to_owned());
        }
    }
    out.sort_by_key(|a| (ORDER.iter().position(|level| *level == a.level.level), a.level.maker == ArrayMaker::LinuxMd));
    out
}

/// The load by which levels are told apart: small random writes, else what comes nearest.
fn main_kind(whole: &[&Array<'_>]) -> Option<Kind> {
    let cells = whole.iter().flat_map(|array| &array.cells);
    let rank = |step: &StepView| (is_sequential(step.pattern), step.read_pct, step.block_size_bytes);
    Some(cells.min_by_key(|cell| rank(cell.step))?.kind.clone())
}

/// The arrays of the headline: all where each level is there once, else the best of each level, as far as they fit.
fn told<'a, 's>(whole: &[&'a Array<'s>], main: &Kind) -> Vec<&'a Array<'s>> {
    const FIT: usize = 3;
    let iops = |array: &Array<'_>| array.cell(main).map_or(0.0, |cell| cell.step.iops);
    let is_best = |array: &&&'a Array<'s>| {
        whole.iter().filter(|other| other.level == array.level).all(|other| iops(other) <= iops(array))
    };
    let best: Vec<&Array<'_>> = whole.iter().filter(is_best).copied().collect();
    if best.len() == whole.len() { best } else { best.into_iter().take(FIT).collect() }
}

fn headline(told: &[&Array<'_>], main: &Kind) -> Message {
    let cells = || told.iter().filter_map(|array| Some((array, array.cell(main)?)));
    let shares = cells().filter_map(|(array, cell)| {
        Some(match whole_pct(&cell.ceiling?) {
            Some(share) => msg!("raid-level-share", level = array.name.clone(), share = share),
            None => msg!("raid-level-all", level = array.name.clone()),
        })
    });
    let shares: Vec<Message> = shares.collect();
    if !shares.is_empty() {
        let (kind, levels) = (main.message(), Arg::list(shares, Join::Comma));
        let half = |cell: &Cell<'_>| {
            let share = cell.ceiling?.share();
            share.ci95.map(|[low, high]| (high - low) / 2.0 / share.value)
        };
        let widest = cells().filter_map(|(_, cell)| half(cell)).fold(0.0, f64::max);
        return match widest > WIDE_HALF {
            true => {
                msg!("brief-raid-wide", kind = kind, half = Quantity::pct((widest * 100.0).ceil()), levels = levels)
            }
            false => msg!("brief-raid", kind = kind, levels = levels),
        };
    }
    let rates =
        cells().map(|(array, cell)| msg!("raid-level-rate", level = array.name.clone(), rate = short(cell.step)));
    msg!("brief-raid-alone", kind = main.message(), levels = Arg::list(rates, Join::Comma))
}

/// What a cell gives of what its members allow, percent; all of it where that is not known.
fn reached_pct(cell: &Cell<'_>) -> f64 {
    cell.ceiling.map_or(100.0, |ceiling| ceiling.share().value)
}

/// The cell of a level that does not reach what its members allow, by more than its interval; without one that is not known.
fn lossy<'a, 's>(array: &'a Array<'s>, main: &Kind) -> Option<&'a Cell<'s>> {
    let cell = array.cell(main)?;
    let share = cell.ceiling?.share();
    let [_, most] = share.ci95?;
    (share.value < REACHED_PCT && most < 100.0).then_some(cell)
}

/// Where the rest is lost.
fn loss(array: &Array<'_>, cell: &Cell<'_>) -> Message {
    match cell.step.limit.name {
        LimitName::Unknown => msg!("raid-loss-unknown", level = array.name.clone()),
        LimitName::Device => msg!("raid-loss-members", level = array.name.clone()),
        _ => msg!("raid-loss", level = array.name.clone(), limited = limited(cell.step)),
    }
}

/// That a level gave more than its members alone, by more than its interval.
fn exceeded(array: &Array<'_>, main: &Kind) -> Option<Message> {
    let cell = array.cell(main)?;
    let ceiling = cell.ceiling?;
    (ceiling.share().ci95.is_some() && ceiling.is_exceeded())
        .then(|| msg!("raid-exceeded", level = array.name.clone(), rate = iops(cell.step), ceiling = ceiling.iops()))
}

/// A rate that fits a cell.
fn short(step: &StepView) -> Quantity {
    if is_bandwidth(step) { rate(step).with_ci95(None) } else { Quantity::new(step.iops, Unit::PerS) }
}

/// The rate that the members allow, in the unit of [`short`].
fn short_ceiling(step: &StepView, ceiling: &MemberCeiling<'_>) -> Quantity {
    let iops = ceiling.iops();
    let (unit, per_io) = match is_bandwidth(step) {
        true => (Unit::BytesPerS, step.bytes_per_s / step.iops.max(1e-9)),
        false => (Unit::PerS, 1.0),
    };
    Quantity::new(iops.value * per_io, unit).with_ci95(iops.ci95.map(|ends| ends.map(|iops| iops * per_io)))
}

/// The share as an answer has room for it; the evidence has it with its interval. `None` where the array gave more than its
/// members alone, whose rates are then no ceiling.
fn whole_pct(ceiling: &MemberCeiling<'_>) -> Option<Quantity> {
    (!ceiling.is_exceeded()).then(|| Quantity::pct(ceiling.share().value.round().min(100.0)))
}

/// The random loads of a level, each with its share of what the members allow; of others the first ones.
fn array_row(array: &Array<'_>) -> BriefRow {
    let mut cells: Vec<&Cell<'_>> = array.cells.iter().collect();
    cells.sort_by_key(|cell| is_sequential(cell.step.pattern));
    let told = cells.into_iter().take(3).map(|cell| {
        let (what, rate) = (operations(cell), short(cell.step));
        match (cell.ceiling.as_ref(), cell.ceiling.as_ref().and_then(whole_pct)) {
            (_, Some(share)) => msg!("brief-cell-operation-share", what = what, rate = rate, share = share),
            (Some(ceiling), None) => {
                let ceiling = short_ceiling(cell.step, ceiling);
                msg!("brief-cell-operation-above", what = what, rate = rate, ceiling = ceiling)
            }
            (None, None) => msg!("brief-cell-operation", what = what, rate = rate),
        }
    });
    row(array.name.clone(), told)
}

/// `reads`, `70/30`.
fn operations(cell: &Cell<'_>) -> Message {
    match cell.step.read_pct {
        0 | 100 => cell.kind.operations_message(),
        read => msg!("label-mix", read = read, write = 100 - read),
    }
}

/// The members at once against one of them alone, load by load.
fn members(measured: &[&StepView]) -> Vec<Message> {
    let plain = || measured.iter().copied().filter(|s| s.arrays.is_empty() && array_of(s).is_none());
    let mut out: Vec<(Kind, Message)> = Vec::new();
    for all in plain().filter(|s| s.targets.len() > 1) {
        let kind = Kind::of(all);
        if out.iter().any(|(of, _)| *of == kind) {
            continue;
        }
        let alone = plain().filter(|s| s.targets.len() == 1 && s.group == all.group && Kind::of(s) == kind);
        let Some(one) = alone.max_by(|a, b| a.iops.total_cmp(&b.iops)) else { continue };
        let times = times_as_much(all, one);
        let shared = times.ci95.map_or(times.value, |[_, high]| high) < APART * all.targets.len() as f64;
        let said = msg!(
            "raid-members",
            count = all.targets.len(),
            rate = rate(all),
            kind = kind.message(),
            times = times.with_ci95(None)
        );
        out.push((kind, if shared { msg!("raid-members-share", said = said) } else { said }));
    }
    out.into_iter().map(|(_, said)| said).collect()
}

/// What Linux md gives of what the same level gives in user space, load by load.
fn beside_md(whole: &[&Array<'_>]) -> Vec<Message> {
    let mut out = Vec::new();
    for md in whole.iter().filter(|array| array.level.maker == ArrayMaker::LinuxMd) {
        let own = MadeLevel { maker: ArrayMaker::UserSpace, ..md.level };
        let is_same =
            |other: &&&Array<'_>| (other.level, other.chunk_bytes, other.group) == (own, md.chunk_bytes, md.group);
        let Some(other) = whole.iter().find(is_same) else { continue };
        let sentences = md.cells.iter().filter_map(|cell| {
            let base = other.cell(&cell.kind)?;
            let times = times_as_much(cell.step, base.step);
            Some(msg!(
                "raid-md-beside",
                level = md.name.clone(),
                kind = cell.kind.message(),
                rate = rate(cell.step),
                times = times,
                other = other.name.clone()
            ))
        });
        out.extend(sentences);
    }
    out
}

/// Writes of whole stripes against those of a part of one.
fn stripes(array: &Array<'_>) -> Option<Message> {
    let writes = || array.cells.iter().filter(|c| is_sequential(c.step.pattern) && c.step.read_pct == 0);
    let is_whole = |cell: &&Cell<'_>| {
        cell.step
            .arrays
            .iter()
            .all(|a| a.full_stripe_writes as f64 >= WHOLE * a.writes as f64 && a.full_stripe_writes > 0)
    };
    let whole = writes().find(is_whole)?;
    let part = writes().find(|cell| !is_whole(cell))?;
    let (reads, _) = part.step.arrays.first()?.write_cost()?;
    (reads > 0.0).then(|| {
        msg!(
            "raid-stripes",
            level = array.name.clone(),
            whole = rate(whole.step),
            part = rate(part.step),
            block = Quantity::block(part.step.block_size_bytes.into()),
            reads = counted(reads)
        )
    })
}

/// What an array gives without a member, of what it gives with all.
fn degraded(array: &Array<'_>, whole: &[&Array<'_>]) -> Vec<Message> {
    if array.is_whole() || array.rebuilds {
        return Vec::new();
    }
    let same = |other: &&&Array<'_>| {
        (other.level, other.chunk_bytes, other.group) == (array.level, array.chunk_bytes, array.group)
    };
    let Some(with_all) = whole.iter().find(same) else { return Vec::new() };
    let sentence = |cell: &Cell<'_>| {
        let base = with_all.cell(&cell.kind)?;
        let share = times_as_much(cell.step, base.step);
        if share.value > 1.0 {
            return Some(msg!(
                "raid-degraded-more",
                level = array.name.clone(),
                missing = array.missing,
                kind = cell.kind.message(),
                rate = rate(cell.step),
                times = share
            ));
        }
        let pct = |value: f64| 100.0 * value;
        let share = Quantity::pct(pct(share.value)).with_ci95(share.ci95.map(|ends| ends.map(pct)));
        Some(msg!(
            "raid-degraded",
            level = array.name.clone(),
            missing = array.missing,
            kind = cell.kind.message(),
            rate = rate(cell.step),
            share = share
        ))
    };
    array.cells.iter().filter_map(sentence).collect()
}

/// What a rebuild beside the load costs it, and how long the rebuild of a whole member takes then.
fn rebuilding(step: &StepView, whole: &[&Array<'_>]) -> Option<Message> {
    let target = array_of(step)?;
    let asked = target.rebuild()?;
    let rebuild = step.arrays.first()?.rebuild?;
    let is_same = |array: &&&Array<'_>| {
        (array.level, array.chunk_bytes, array.group)
            == (target.made_level(), target.layout().chunk_bytes(), step.group.as_str())
    };
    let kind = Kind::of(step).without_array();
    let base = whole.iter().find(is_same).and_then(|array| array.cell(&kind)).map(|cell| cell.step);
    // Latencies of other loads would say nothing.
    let base = base.filter(|base| (base.threads, base.queue_depth) == (step.threads, step.queue_depth));
    let speed = Quantity::bytes_per_s(rebuild.bytes_per_s());
    let (name, load) = (target.made_level().to_string(), kind.message());
    let said = match asked.bytes_per_s {
        Some(asked) => {
            msg!("raid-rebuild-at", level = name, asked = Quantity::bytes_per_s(asked as f64), speed = speed)
        }
        None => msg!("raid-rebuild-full", level = name, speed = speed),
    };
    let said = match rebuild.whole_s() {
        Some(whole_s) => msg!("raid-rebuild-whole", said = said, time = Quantity::duration_ns((whole_s * 1e9) as u64)),
        None => said,
    };
    let p99 = |step: &StepView| Some(Quantity::ns(step.lat_ns.as_ref()?.p99? as f64));
    let rate = rate(step);
    let Some(base) = base else {
        return Some(msg!("raid-rebuild-alone", said = said, kind = load, rate = rate));
    };
    let times = times_as_much(step, base).with_ci95(None);
    Some(match p99(step).zip(p99(base)) {
        Some((p99, before)) => {
            msg!("raid-rebuild-load", said = said, kind = load, rate = rate, times = times, p99 = p99, before = before)
        }
        None => msg!("raid-rebuild-times", said = said, kind = load, rate = rate, times = times),
    })
}

/// The latency of one I/O at a time, which no queue hides.
fn one_at_a_time(array: &Array<'_>, measured: &[&StepView]) -> Option<Message> {
    let is_alone = |step: &&&StepView| {
        step.threads * step.queue_depth == 1
            && step.group == array.group
            && array_of(step).is_some_and(|t| {
                (t.made_level(), t.layout().chunk_bytes()) == (array.level, array.chunk_bytes) && t.missing().is_empty()
            })
    };
    let of = |read_pct: u8| measured.iter().filter(is_alone).find(|step| step.read_pct == read_pct);
    let latency = |step: &StepView| step.lat_ns.as_ref().map(mean);
    let (reads, writes) = (of(100)?, of(0)?);
    Some(msg!("raid-latency", level = array.name.clone(), reads = latency(reads)?, writes = latency(writes)?))
}

fn figures(whole: &[&Array<'_>], main: &Kind) -> Vec<Figure> {
    let cells = || whole.iter().filter_map(|array| array.cell(main));
    let most = cells().map(|cell| {
        figure(msg!("verdict-figure-most", kind = Kind::of(cell.step).message()), rate(cell.step), cell.step)
    });
    most.chain(cells().filter_map(|cell| Some(cell.ceiling?.figure()))).collect()
}

#[cfg(test)]
mod tests;
