//! How many files a second does each file system make, look at and remove, and what does fsync cost?
//!
//! A group is a file system. Files a second are the rate of the load; a file system is faster where the comparison of groups
//! says so, corrected for the number of loads. What fsync costs is the rate without it over the rate with it: the same files,
//! the same number of threads.

use fathom_message::{Message, Quantity, Unit, msg};
use fathom_model::LimitName;
use fathom_plan::{FileLoad, FileOp};
use fathom_stats::Effect;

use super::brief::{brief, limit_part, limited, report, row};
use super::caveats::limiting_part;
use super::groups::{Point, judged, points};
use super::parts::{change, figure, measured, nothing_measured, p99, sentences, times_as_much, verdict};
use crate::document::{BriefRow, Figure, StepView, Verdict};

/// The answer from files that are made one after the other.
pub(super) fn verdicts(question: &Message, steps: &[StepView], run: i64) -> Vec<Verdict> {
    let measured = measured(steps);
    let on_files: Vec<&StepView> = measured.iter().copied().filter(|s| s.order.files.is_some()).collect();
    let points = judged(points(&on_files));
    let Some(main) = main_point(&points) else { return vec![nothing_measured(question, steps)] };
    let headline = headline(main);
    let several = main.steps.len() > 1;
    let costs: Vec<(&StepView, Quantity)> =
        main.steps.iter().filter_map(|s| Some((*s, fsync_cost(s, &points)?))).collect();
    // The first three stand in the answer itself: files, durable files, and what makes them differ.
    let mut rows: Vec<BriefRow> = sorted(&points).into_iter().map(|point| rates_row(point, several)).take(4).collect();
    let at = rows.len().min(2);
    rows.splice(at..at, cost_row(&costs, several).into_iter().chain([limits_row(main, several)]));
    let brief = brief(headline.clone(), rows, Some(report(run)));
    let answer =
        sentences(std::iter::once(headline).chain(costs.iter().map(|(step, times)| cost_sentence(step, *times))));
    let evidence = points.iter().flat_map(|p| p.steps.iter().map(|s| of_step(s, several)).chain(lead(p))).collect();
    vec![verdict(question, brief, answer, evidence, figures(main, &costs), steps)]
}

/// Files a second, with their interval.
fn rate(step: &StepView) -> Quantity {
    Quantity::new(step.iops, Unit::PerS).with_ci95(step.iops_ci95)
}

fn is_synced(step: &StepView) -> bool {
    step.durability.sync.is_some()
}

fn is_made(step: &StepView) -> bool {
    step.order.files.is_some_and(|files| files.op == FileOp::Create)
}

/// Durable files made by one thread where there are any, else the first load.
fn main_point<'p, 'a>(points: &'p [Point<'a>]) -> Option<&'p Point<'a>> {
    let of_one = |p: &&Point<'_>| p.steps[0].threads == 1 && is_made(p.steps[0]);
    points
        .iter()
        .filter(of_one)
        .find(|p| is_synced(p.steps[0]))
        .or_else(|| points.iter().find(of_one))
        .or(points.first())
}

/// One thread before several, so that the first rows have a load of each kind.
fn sorted<'p, 'a>(points: &'p [Point<'a>]) -> Vec<&'p Point<'a>> {
    let mut out: Vec<&Point<'_>> = points.iter().collect();
    let bytes = |p: &Point<'_>| p.steps[0].order.files.map_or(0, FileLoad::moved_bytes);
    let least = points.iter().map(bytes).filter(|bytes| *bytes > 0).min().unwrap_or(0);
    out.sort_by_key(|p| (p.steps[0].threads > 1, bytes(p) > least));
    out
}

fn headline(main: &Point<'_>) -> Message {
    let best = main.steps.iter().copied().max_by(|a, b| a.iops.total_cmp(&b.iops)).expect("a load has a step");
    let kind = main.kind.message();
    if main.steps.len() == 1 {
        return match best.iops_ci95 {
            Some(_) => msg!("files-headline", rate = rate(best), kind = kind, limited = limited_by(best)),
            None => msg!("files-headline-no-interval", rate = rate(best), kind = kind, limited = limited_by(best)),
        };
    }
    match (main.winner, main.lead) {
        (Some(first), Some((ratio, ci95))) => {
            let step = main.steps[first];
            let (group, change) = (step.group.clone(), change(ratio, Some(ci95)));
            msg!(
                "files-headline-faster",
                group = group,
                rate = rate(step),
                kind = kind,
                change = change,
                limited = limited_by(step)
            )
        }
        _ if main.lead.is_none() => {
            msg!("files-headline-unranked", group = best.group.clone(), rate = rate(best), kind = kind)
        }
        _ => msg!("files-headline-none-faster", group = best.group.clone(), rate = rate(best), kind = kind),
    }
}

fn rates_row(point: &Point<'_>, several: bool) -> BriefRow {
    let cell = |step: &&StepView| match several {
        true => msg!("files-cell-of", group = step.group.clone(), rate = rate(step)),
        false => msg!("files-cell", rate = rate(step)),
    };
    let p99 = point.steps.first().filter(|_| !several).and_then(|step| slowest(step));
    row(
        msg!("verdict-kind-at", kind = point.kind.message(), load = &point.load),
        point.steps.iter().map(cell).chain(p99),
    )
}

/// The p99 of what a file waits for: its sync where it is synced.
fn slowest(step: &StepView) -> Option<Message> {
    match step.syncs.as_ref() {
        Some(syncs) => Some(msg!("brief-cell-sync-p99", p99 = p99(syncs.lat_ns.as_ref()?)?)),
        None => Some(msg!("brief-cell-p99", p99 = p99(step.lat_ns.as_ref()?)?)),
    }
}

/// How often as long a file takes when it is synced: the rate of the same load without sync over its own.
fn fsync_cost(synced: &StepView, points: &[Point<'_>]) -> Option<Quantity> {
    let is_same = |s: &StepView| {
        (s.group.as_str(), s.threads) == (synced.group.as_str(), synced.threads)
            && !is_synced(s)
            && s.order.files.map(|f| (f.op, f.bytes_per_file)) == synced.order.files.map(|f| (f.op, f.bytes_per_file))
    };
    let plain = points.iter().flat_map(|p| p.steps.iter().copied()).find(|s| is_same(s))?;
    is_synced(synced).then(|| ratio_of_rates(plain, synced))
}

/// The ratio of two rates. Where the interval is wide its ends are those of the logarithm, which cannot fall below nothing:
/// half widths add as squares there too.
fn ratio_of_rates(this: &StepView, base: &StepView) -> Quantity {
    let times = times_as_much(this, base);
    match speed_ratio(this, base) {
        Some([low, high]) if times.ci95.is_some_and(|[from, to]| (to - from) / 2.0 / times.value > WIDE_HALF) => {
            times.with_ci95(Some([low, high]))
        }
        _ => times,
    }
}

/// 95 % interval of the ratio by its logarithm; `None` where a rate has no interval.
fn speed_ratio(this: &StepView, base: &StepView) -> Option<[f64; 2]> {
    let effect = Effect::of_figures(base.iops, base.iops_ci95?.into(), this.iops, this.iops_ci95?.into())?;
    let (low, high) = effect.ci95();
    Some([low, high])
}

/// Widest half of an interval of a ratio, as a share of it, that is said as plus or minus.
const WIDE_HALF: f64 = 0.25;

/// Both ends of a ratio that is known to a factor alone; `None` where plus or minus says it, and where no interval is known.
fn range(times: Quantity) -> Option<(Quantity, Quantity)> {
    let [low, high] = times.ci95?;
    let half = (high - low) / 2.0 / times.value;
    (half > WIDE_HALF).then(|| (Quantity::times(low), Quantity::times(high)))
}

fn cost_row(costs: &[(&StepView, Quantity)], several: bool) -> Option<BriefRow> {
    let cell = |(step, times): &(&StepView, Quantity)| match (several, range(*times)) {
        (true, None) => msg!("files-cell-cost-of", group = step.group.clone(), times = *times),
        (true, Some((low, high))) => {
            msg!("files-cell-cost-of-range", group = step.group.clone(), low = low, high = high)
        }
        (false, None) => msg!("files-cell-cost", times = *times),
        (false, Some((low, high))) => msg!("files-cell-cost-range", low = low, high = high),
    };
    (!costs.is_empty()).then(|| row(msg!("files-row-cost"), costs.iter().map(cell)))
}

/// The limit alone in a cell. Its probability is called that: next to rates it was read as a share of the time.
fn limit(step: &StepView) -> Message {
    match step.limit.probability.filter(|_| step.limit.name != LimitName::Unknown) {
        Some(p) => msg!("files-cell-limit-probable", limit = limit_part(step), probability = Quantity::share(p)),
        None => limit_part(step),
    }
}

/// The same after a figure.
fn limited_by(step: &StepView) -> Message {
    let is_part = !matches!(step.limit.name, LimitName::Unknown | LimitName::PageCache);
    match step.limit.probability.filter(|_| is_part) {
        Some(p) => msg!("files-limited-probable", what = limiting_part(step), probability = Quantity::share(p)),
        None => limited(step),
    }
}

fn limits_row(main: &Point<'_>, several: bool) -> BriefRow {
    let cell = |step: &&StepView| match several {
        true => msg!("files-cell-limit-of", group = step.group.clone(), limit = limit(step)),
        false => limit(step),
    };
    row(msg!("files-row-limit"), main.steps.iter().map(cell))
}

fn cost_sentence(step: &StepView, times: Quantity) -> Message {
    match range(times) {
        Some((low, high)) => msg!("files-cost-range", group = step.group.clone(), low = low, high = high),
        None => msg!("files-cost", group = step.group.clone(), times = times),
    }
}

/// Rate, p99 and limit of one load on one file system.
fn of_step(step: &StepView, several: bool) -> Message {
    let what = match several {
        true => msg!("verdict-kind-of-group", kind = &step.label_message, group = step.group.clone()),
        false => step.label_message.clone(),
    };
    match slowest(step) {
        Some(p99) => msg!("files-step", what = what, rate = rate(step), p99 = p99, limited = limited_by(step)),
        None => msg!("files-step-without-p99", what = what, rate = rate(step), limited = limited_by(step)),
    }
}

/// Which file system is faster at this load, and by what.
fn lead(point: &Point<'_>) -> Option<Message> {
    let (winner, (ratio, ci95)) = (point.steps[point.winner?], point.lead?);
    let kind = msg!("verdict-kind-at", kind = point.kind.message(), load = &point.load);
    Some(msg!("files-faster", kind = kind, group = winner.group.clone(), change = change(ratio, Some(ci95))))
}

fn figures(main: &Point<'_>, costs: &[(&StepView, Quantity)]) -> Vec<Figure> {
    let several = main.steps.len() > 1;
    let rate_name = |s: &StepView| match several {
        true => msg!("files-figure-rate-of", group = s.group.clone()),
        false => msg!("files-figure-rate"),
    };
    let cost_name = |s: &StepView| match several {
        true => msg!("files-figure-cost-of", group = s.group.clone()),
        false => msg!("files-figure-cost"),
    };
    let rates = main.steps.iter().map(|s| figure(rate_name(s), rate(s), s));
    let costs = costs.iter().map(|(s, times)| figure(cost_name(s), *times, s));
    rates.chain(costs).collect()
}

#[cfg(test)]
mod tests;
