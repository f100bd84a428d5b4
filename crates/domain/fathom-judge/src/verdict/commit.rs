//! How many durable commits a second, how long is one, and what sets it?
//!
//! The time of a commit of one writer is what a closed loop of one I/O in flight leaves: 1 / rate. Of it the device's flushes
//! are known by the kernel's own count and time (/proc/diskstats). The writes of a record are as many as the kernel counts,
//! those of a journal among them, each as long as the plain direct write of the same size, which promises nothing. What
//! remains is the host: file system, page cache, and the threads that wait for a CPU.

use fathom_message::{Message, Quantity, Unit, msg};
use fathom_plan::{Phase, SyncKind, WriteThrough};
use fathom_record::WriteCache;

use super::brief::{brief, report, row};
use super::parts::{figure, measured, nothing_measured, p50, p99, sentences, times_as_much, verdict};
use crate::document::{BriefRow, Figure, LatencyView, StepView, Verdict};

/// A part that takes more of a commit than this sets its length.
const SETS_SHARE: f64 = 0.5;
/// etcd's rule: the 99th percentile of fdatasync below 10 ms (etcd.io, "Hardware recommendations", Disks).
const ETCD_P99_NS: f64 = 10e6;
/// A flush of a volatile cache that takes no longer than so many plain writes ...
const QUICK_FLUSH_WRITES: f64 = 1.5;
/// ... and gets no longer than by this when much more is to be written out, has not written it to the medium.
const QUICK_FLUSH_GROWTH: f64 = 1.5;
/// Below so many flushes for each commit there are none.
const FLUSHED_MIN: f64 = 0.05;

/// What sets the time of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SetBy {
    Flush,
    Writes,
    Host,
}

/// The answer from the log by one writer; `streams`: whether a step belongs to loads that ran at once.
pub(super) fn verdicts(question: &Message, steps: &[StepView], run: i64) -> Vec<Verdict> {
    let steps_done = measured(steps);
    let Some(log) = find(&steps_done, |s| is_log(s, 1) && s.block_size_bytes == 4096 && s.threads == 1)
        .or_else(|| find(&steps_done, |s| is_log(s, 1) && s.threads == 1))
    else {
        return vec![nothing_measured(question, steps)];
    };
    let plain = find(&steps_done, |s| s.durability.is_plain() && s.read_pct == 0 && s.threads == 1 && s.direct);
    let parts = Parts::of(log, plain);
    let headline = headline(log, &parts);
    let rows = [
        Some(one_writer(log)),
        most(&steps_done),
        grouped(&steps_done),
        other_ways(&steps_done, log),
        beside(steps, log),
        Some(drive(&steps_done, log, plain, &parts)),
    ];
    let etcd = etcd(&steps_done, log);
    let evidence = parts.sentences().into_iter().chain(sizes(&steps_done)).chain(flush_growth(&steps_done)).collect();
    let brief = brief(headline.clone(), rows.into_iter().flatten(), Some(report(run)));
    let answer = sentences([Some(headline), etcd].into_iter().flatten());
    vec![verdict(question, brief, answer, evidence, figures(&steps_done, log), steps)]
}

fn find<'a>(steps: &[&'a StepView], wanted: impl Fn(&StepView) -> bool) -> Option<&'a StepView> {
    steps.iter().copied().filter(|s| s.role.stream.is_none()).find(|s| wanted(s))
}

/// Whether a step writes a log that is synced by fdatasync after so many records.
fn is_log(step: &StepView, writes: u32) -> bool {
    let sync = step.durability.sync.filter(|sync| sync.kind == SyncKind::Fdatasync && sync.writes == writes);
    step.read_pct == 0 && sync.is_some() && step.durability.write_through == WriteThrough::None
}

/// Records a second, each durable when its commit returned.
fn commits(step: &StepView) -> Quantity {
    Quantity::new(step.iops, Unit::PerS).with_ci95(step.iops_ci95)
}

fn sync_latency(step: &StepView) -> Option<&LatencyView> {
    step.syncs.as_ref()?.lat_ns.as_ref()
}

/// The flushes of all devices below the step, for each of its writes: how many, and their time.
fn flushes_per_write(step: &StepView) -> Option<(f64, f64)> {
    let disks = &step.host_delta.as_ref()?.disks;
    let flushes: Vec<_> = disks.iter().map(|disk| disk.flushes).collect::<Option<_>>()?;
    let (ios, ns) = flushes.iter().fold((0, 0), |(ios, ns), f| (ios + f.ios, ns + f.time_ns));
    let writes = step.write.as_ref()?.ios.max(1) as f64;
    (!flushes.is_empty()).then_some((ios as f64 / writes, ns as f64 / writes))
}

/// Writes of all devices below the step, for each of its own.
fn writes_per_write(step: &StepView) -> Option<f64> {
    let disks = &step.host_delta.as_ref()?.disks;
    let writes: u64 = disks.iter().map(|disk| disk.write_ios).sum();
    (!disks.is_empty()).then(|| writes as f64 / step.write.as_ref().map_or(1.0, |w| w.ios.max(1) as f64))
}

/// The time of one commit and its parts, nanoseconds.
struct Parts {
    whole: f64,
    /// Flushes for each commit, and their time in it.
    flush: Option<(f64, f64)>,
    /// Writes that reached the device for each commit, and the time of a plain one of the same record.
    writes: Option<(f64, f64)>,
    /// The mean time of a sync, and the share of the thread's time that syncs hold.
    sync: Option<(f64, f64)>,
}

impl Parts {
    fn of(log: &StepView, plain: Option<&StepView>) -> Parts {
        let same = plain.filter(|plain| plain.block_size_bytes == log.block_size_bytes);
        Parts {
            whole: f64::from(log.threads) * 1e9 / log.iops.max(1e-9),
            flush: flushes_per_write(log),
            writes: same.and_then(|plain| Some((writes_per_write(log)?, plain.lat_ns.as_ref()?.mean))),
            sync: sync_share(log),
        }
    }

    fn share(&self, ns: f64) -> f64 {
        (ns / self.whole).clamp(0.0, 1.0)
    }

    /// The shares of flushes, of writes and of the host, of all that a commit takes: one source for every text. The writes are
    /// at most what the flushes leave. `None` where the kernel does not count the device's flushes.
    fn shares(&self) -> Option<[f64; 3]> {
        let flush = self.share(self.flush?.1);
        let writes = self.share(self.writes.map_or(0.0, |(count, each)| count * each)).min(1.0 - flush);
        Some([flush, writes, 1.0 - flush - writes])
    }

    fn set_by(&self) -> Option<(SetBy, f64)> {
        let [flush, writes, host] = self.shares()?;
        let parts = [(SetBy::Flush, flush), (SetBy::Writes, writes), (SetBy::Host, host)];
        parts.into_iter().find(|(_, share)| *share > SETS_SHARE)
    }

    fn sentences(&self) -> Vec<Message> {
        let mut out = Vec::new();
        if let Some((mean_ns, share)) = self.sync.filter(|(_, share)| *share >= SETS_SHARE) {
            out.push(msg!(
                "commit-part-sync",
                mean = Quantity::ns(mean_ns),
                whole = Quantity::ns(self.whole),
                share = Quantity::share(share)
            ));
        }
        if let Some((count, ns)) = self.flush {
            out.push(msg!(
                "commit-part-flush",
                count = Quantity::times(count),
                time = Quantity::ns(ns),
                share = Quantity::share(self.share(ns)),
                whole = Quantity::ns(self.whole)
            ));
        } else {
            out.push(msg!("commit-no-flush-count"));
        }
        if let Some((count, each)) = self.writes {
            let alone = self.share(count * each);
            let writes = self.shares().map_or(alone, |[_, writes, _]| writes);
            let (count, each, share) = (Quantity::times(count), Quantity::ns(each), Quantity::share(writes));
            out.push(match writes < alone {
                true => msg!("commit-part-write-rest", count = count, time = each, share = share),
                false => msg!("commit-part-write", count = count, time = each, share = share),
            });
        }
        out
    }
}

/// The mean time of a sync, and the share of the thread's time that syncs hold: what the limit of the step is named by
/// (`pace::flush` of fathom-model).
fn sync_share(log: &StepView) -> Option<(f64, f64)> {
    let syncs = log.syncs.as_ref()?;
    let (sync_ns, io_ns) = (syncs.lat_ns.as_ref()?.mean, log.lat_ns.as_ref()?.mean);
    let (in_syncs, in_ios) = (syncs.ios as f64 * sync_ns, log.ios as f64 * io_ns);
    (in_syncs > 0.0).then(|| (sync_ns, in_syncs / (in_syncs + in_ios)))
}

fn headline(log: &StepView, parts: &Parts) -> Message {
    let set_by = match parts.sync.filter(|(_, share)| *share >= SETS_SHARE) {
        Some((_, share)) => in_sync(Quantity::share(share), parts),
        None => match parts.set_by() {
            Some((SetBy::Flush, share)) => msg!("commit-set-by-flush", share = Quantity::share(share)),
            Some((SetBy::Writes, share)) => msg!("commit-set-by-write", share = Quantity::share(share)),
            Some((SetBy::Host, share)) => msg!("commit-set-by-host", share = Quantity::share(share)),
            None if parts.flush.is_none() => msg!("commit-set-by-unknown"),
            None => msg!("commit-set-by-several"),
        },
    };
    msg!("commit-headline", rate = commits(log), time = Quantity::ns(parts.whole), set_by = set_by)
}

/// The purpose of most of the sync, in steps that syncs limit.
fn in_sync(sync: Quantity, parts: &Parts) -> Message {
    match parts.set_by() {
        Some((SetBy::Flush, share)) => msg!("commit-sync-for-flush", sync = sync, share = Quantity::share(share)),
        Some((SetBy::Writes, share)) => msg!("commit-sync-for-write", sync = sync, share = Quantity::share(share)),
        Some((SetBy::Host, share)) => msg!("commit-sync-for-host", sync = sync, share = Quantity::share(share)),
        None if parts.flush.is_none() => msg!("commit-sync-for-unknown", sync = sync),
        None => msg!("commit-sync-for-several", sync = sync),
    }
}

fn one_writer(log: &StepView) -> BriefRow {
    let cell = msg!("commit-cell-rate", rate = commits(log));
    let p50 = sync_latency(log).and_then(p50).map(|p50| msg!("brief-cell-sync-p50", p50 = p50));
    let p99 = sync_latency(log).and_then(p99).map(|p99| msg!("brief-cell-quantile", name = "p99", latency = p99));
    row(msg!("commit-row-one"), [Some(cell), p50, p99].into_iter().flatten())
}

/// The most that any number of writers commits.
fn most(steps: &[&StepView]) -> Option<BriefRow> {
    let logs = steps.iter().copied().filter(|s| s.role.stream.is_none() && is_log(s, 1) && s.threads > 1);
    let best = logs.max_by(|a, b| a.iops.total_cmp(&b.iops))?;
    let p99 = sync_latency(best).and_then(p99).map(|p99| msg!("brief-cell-sync-p99", p99 = p99));
    let cell = msg!("commit-cell-rate", rate = commits(best));
    Some(row(msg!("commit-row-writers", writers = best.threads), std::iter::once(cell).chain(p99)))
}

fn grouped(steps: &[&StepView]) -> Option<BriefRow> {
    let is_group = |s: &&&StepView| s.durability.sync.is_some_and(|sync| sync.writes > 1);
    let best = steps.iter().filter(is_group).max_by(|a, b| a.iops.total_cmp(&b.iops))?;
    let writes = best.durability.sync.map_or(0, |sync| sync.writes);
    Some(row(msg!("commit-row-group", writes = writes), [msg!("commit-cell-rate", rate = commits(best))]))
}

/// The other ways to make a record durable, as shares of fdatasync.
fn other_ways(steps: &[&StepView], log: &StepView) -> Option<BriefRow> {
    let same = |s: &StepView| s.threads == 1 && s.block_size_bytes == log.block_size_bytes && s.read_pct == 0;
    let fsync =
        find(steps, |s| same(s) && s.durability.sync.is_some_and(|y| y.kind == SyncKind::Fsync && y.writes == 1));
    let dsync = find(steps, |s| same(s) && s.durability.write_through == WriteThrough::Dsync);
    let cell = |way: &'static str, step: &StepView| {
        let times = times_as_much(step, log);
        match times.ci95 {
            Some(_) => msg!("commit-cell-way", way = way, times = times),
            None => msg!("commit-cell-way-open", way = way, times = times),
        }
    };
    let cells = [fsync.map(|s| cell("fsync", s)), dsync.map(|s| cell("O_DSYNC", s))];
    let cells: Vec<Message> = cells.into_iter().flatten().collect();
    (!cells.is_empty()).then(|| row(msg!("commit-row-ways"), cells))
}

/// The log while others read.
fn beside(steps: &[StepView], log: &StepView) -> Option<BriefRow> {
    let stream =
        steps.iter().find(|s| s.phase == Phase::Measure && s.ios > 0 && s.role.stream.is_some() && is_log(s, 1))?;
    let rate = msg!("commit-cell-rate", rate = commits(stream));
    let of_alone = msg!("brief-cell-of-alone", times = times_as_much(stream, log));
    Some(row(msg!("commit-row-beside"), [rate, of_alone]))
}

/// What the drive's cache is, and whether its flushes look as if they did something.
fn drive(steps: &[&StepView], log: &StepView, plain: Option<&StepView>, parts: &Parts) -> BriefRow {
    let caches = log.host_delta.iter().flat_map(|host| &host.disks).filter_map(|disk| disk.write_cache);
    // Of several devices the one that can lose something.
    let cache = caches.min_by_key(|cache| *cache != WriteCache::Back);
    let flushes = parts.flush.filter(|(count, _)| *count > FLUSHED_MIN).map(|(count, ns)| (count, ns / count));
    let write = plain.and_then(|plain| Some(plain.lat_ns.as_ref()?.mean));
    let cell = match (cache, flushes) {
        (None, _) => msg!("commit-cache-unknown"),
        (Some(WriteCache::Through), _) => msg!("commit-cache-through"),
        (Some(WriteCache::Back), None) => msg!("commit-cache-not-flushed"),
        (Some(WriteCache::Back), Some((_, each))) if is_quick(each, write, growth(steps)) => {
            msg!("commit-cache-quick", each = Quantity::ns(each))
        }
        (Some(WriteCache::Back), Some((count, each))) => {
            msg!("commit-cache-flushed", count = Quantity::times(count), each = Quantity::ns(each))
        }
    };
    row(msg!("commit-row-drive"), [cell])
}

fn is_quick(flush_ns: f64, write_ns: Option<f64>, growth: Option<(f64, f64)>) -> bool {
    let like_a_write = write_ns.is_some_and(|write| flush_ns <= QUICK_FLUSH_WRITES * write);
    like_a_write && growth.is_some_and(|(few, many)| many <= QUICK_FLUSH_GROWTH * few)
}

/// Time of a flush of the device after the fewest and after the most records between syncs, nanoseconds.
fn growth(steps: &[&StepView]) -> Option<(f64, f64)> {
    let every = |s: &StepView| s.durability.sync.map_or(0, |sync| sync.writes);
    let mut logs: Vec<&StepView> =
        steps.iter().copied().filter(|s| s.role.stream.is_none() && s.threads == 1 && is_log(s, every(s))).collect();
    logs.retain(|s| s.block_size_bytes == 4096);
    logs.sort_by_key(|s| every(s));
    let each = |s: &StepView| flushes_per_write(s).filter(|(count, _)| *count > 0.0).map(|(count, ns)| ns / count);
    let (few, many) = (logs.first()?, logs.last()?);
    if every(few) == every(many) {
        return None;
    }
    Some((each(few)?, each(many)?))
}

fn flush_growth(steps: &[&StepView]) -> Option<Message> {
    let (few, many) = growth(steps)?;
    Some(msg!("commit-flush-growth", few = Quantity::ns(few), many = Quantity::ns(many)))
}

/// How the rate follows the size of the record.
fn sizes(steps: &[&StepView]) -> Option<Message> {
    let logs = || steps.iter().copied().filter(|s| s.role.stream.is_none() && is_log(s, 1) && s.threads == 1);
    let small = logs().min_by_key(|s| s.block_size_bytes)?;
    let large = logs().max_by_key(|s| s.block_size_bytes).filter(|l| l.block_size_bytes > small.block_size_bytes)?;
    Some(msg!(
        "commit-sizes",
        small = Quantity::block(small.block_size_bytes.into()),
        small_rate = commits(small),
        large = Quantity::block(large.block_size_bytes.into()),
        large_rate = commits(large)
    ))
}

/// etcd's question, asked of the record that comes nearest to its own.
fn etcd(steps: &[&StepView], log: &StepView) -> Option<Message> {
    let near = find(steps, |s| is_log(s, 1) && s.threads == 1 && s.block_size_bytes == 2048).unwrap_or(log);
    let p99 = p99(sync_latency(near)?)?;
    let [low, high] = p99.ci95.unwrap_or([p99.value; 2]);
    Some(match (high < ETCD_P99_NS, low >= ETCD_P99_NS) {
        (true, _) => msg!("commit-etcd-met", p99 = p99),
        (_, true) => msg!("commit-etcd-missed", p99 = p99),
        _ => msg!("commit-etcd-undecided", p99 = p99),
    })
}

fn figures(steps: &[&StepView], log: &StepView) -> Vec<Figure> {
    let mut out = vec![figure(msg!("commit-figure-one"), commits(log), log)];
    out.extend(sync_latency(log).and_then(p99).map(|p99| figure(msg!("commit-figure-p99"), p99, log)));
    let logs = steps.iter().copied().filter(|s| s.role.stream.is_none() && is_log(s, 1) && s.threads > 1);
    let best = logs.max_by(|a, b| a.iops.total_cmp(&b.iops));
    out.extend(best.map(|best| figure(msg!("commit-figure-most"), commits(best), best)));
    out
}

#[cfg(test)]
mod tests;
