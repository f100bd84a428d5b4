//! Streams that run at once: each is held by what holds it alone, or by something that they share. The counters of the host
//! are those of all of them together; what a stream gives alone, measured in the same run, tells the two cases apart.

use std::collections::BTreeSet;

use fathom_message::{Quantity, msg};
use fathom_plan::{BlockSize, OpMix};

use super::cause::{Cause, UnknownReason};
use super::evidence::{Evidence, EvidenceName, base_evidence};
use super::limit::Limit;
use super::posterior::{Candidate, UNSEEN_PRIOR};
use super::seen::Seen;
use super::{Observation, cpu, depth, judge, kernel_thread, pace, path, taken};

/// A stream that gives less than this share of what it gives alone loses something beside the others.
const LOSES: f64 = 0.95;
/// Whether a stream loses something is open where it was not measured alone.
const LOSES_UNSEEN: f64 = 0.5;

/// The limits of streams that ran at once. `all`: the steps of the run that are no streams, with those that did the work of a
/// stream alone.
#[must_use]
pub fn attribute_streams(all: &[Observation], set: &[Observation]) -> Vec<Limit> {
    if set.is_empty() {
        return Vec::new();
    }
    let seen = Seen::new(all);
    let shares: Vec<Option<Share>> = set.iter().map(|stream| Share::of(all, stream)).collect();
    let together = together(set);
    let nothing = Seen::new(&[]);
    let mut parts = cpu::shared_candidates(&nothing, &together);
    parts.extend(kernel_thread::candidate(&nothing, &together));
    parts.extend(path::candidates(&nothing, &together));
    let sum = shares.iter().map(|share| share.as_ref().map(|s| s.share)).sum::<Option<f64>>();
    let judged = set.iter().zip(&shares).map(|(stream, share)| {
        if stream.ios == 0 {
            return Limit::unknown(UnknownReason::NoIo, Vec::new());
        }
        let outside = pace::rate_asked(stream)
            .or_else(|| pace::pauses(stream))
            .or_else(|| taken::limit(stream))
            .or_else(|| pace::flush(stream));
        let outside = outside.or_else(|| stream_of_set(&together, stream));
        let limit =
            outside.unwrap_or_else(|| Among { seen: &seen, set, parts: &parts, sum }.judge(stream, share.as_ref()));
        taken::widened(limit, stream)
    });
    judged.collect()
}

/// What a stream gives beside the others, of what it gives alone.
struct Share {
    /// Place of the step that did it alone.
    alone: usize,
    share: f64,
    /// Standard error of its logarithm.
    error: f64,
}

impl Share {
    fn of(all: &[Observation], stream: &Observation) -> Option<Share> {
        let is_alone = |o: &Observation| o.step.role.alone.as_ref().is_some_and(|a| a.step == stream.step.index);
        let alone = all.iter().position(|o| o.ios > 0 && is_alone(o))?;
        let error = depth::relative_error(stream).hypot(depth::relative_error(&all[alone])).hypot(depth::USUAL_SPREAD);
        Some(Share { alone, share: stream.iops() / all[alone].iops(), error })
    }

    /// Probability that it gives less than it gives alone.
    fn loses(&self) -> f64 {
        fathom_stats::normal_cdf((LOSES / self.share).ln() / self.error)
    }
}

/// What is set from outside for all of them: rates that the host allows, answers of the page cache.
fn stream_of_set(together: &Observation, stream: &Observation) -> Option<Limit> {
    let nothing = Seen::new(&[]);
    let cached = || pace::page_cache(together).filter(|_| !stream.step.workload.direct);
    pace::rate_allowed(&nothing, together).or_else(cached)
}

/// One stream among those that ran with it.
struct Among<'a> {
    seen: &'a Seen<'a>,
    set: &'a [Observation],
    /// What the counters of the host show to be full.
    parts: &'a [Candidate],
    /// What all shares of alone add up to.
    sum: Option<f64>,
}

impl Among<'_> {
    fn judge(&self, this: &Observation, share: Option<&Share>) -> Limit {
        let loses = share.map_or(LOSES_UNSEEN, Share::loses);
        let numbers = self.numbers(this, share);
        // Its own core holds it alone as well, whatever else runs.
        let own = cpu::own_candidate(self.seen, this);
        let full: Vec<(f64, &Limit)> = self
            .parts
            .iter()
            .map(|part| (loses * part.weight, &part.limit))
            .chain(own.iter().map(|own| (own.weight, &own.limit)))
            .collect();
        let device = loses;
        let unseen = loses * UNSEEN_PRIOR;
        let sum = device + unseen + (1.0 - loses) + full.iter().map(|(weight, _)| weight).sum::<f64>();
        let best = full.iter().max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((weight, limit)) = best.filter(|(weight, _)| *weight >= device.max(1.0 - loses)) {
            let found = Limit::probable(limit.cause.clone(), weight / sum, [numbers, limit.evidence.clone()].concat());
            return Limit { would_help: limit.would_help.clone(), ..found };
        }
        let Some(share) = share else { return Limit::unknown(UnknownReason::NotAlone, numbers) };
        if loses < 0.5 {
            return as_alone(&judge(self.seen, share.alone), (1.0 - loses) / sum, numbers);
        }
        let streams = self.set.len() as u32 - 1;
        let disks = this.host.as_ref().map_or(0, |host| host.disks.len());
        if disks > 1 {
            // Which of them is whose the counters do not say.
            return Limit::unknown(UnknownReason::SharedAmongStreams { streams, share: share.share }, numbers);
        }
        let mut found =
            Limit::probable(Cause::SharedWithStreams { streams, share: share.share }, device / sum, numbers);
        found.would_help = vec![msg!(
            "help-stream-on-its-own",
            iops = Quantity::iops(self.seen[share.alone].iops()),
            gain = Quantity::times(1.0 / share.share)
        )];
        found
    }

    fn numbers(&self, this: &Observation, share: Option<&Share>) -> Vec<Evidence> {
        let mut numbers = base_evidence(this);
        numbers.extend(share.map(|s| {
            let ends = [-1.0, 1.0].map(|side| s.share * (side * depth::HALF_WIDTH_ERRORS * s.error).exp());
            Evidence::new(EvidenceName::ShareOfAlone, Quantity::times(s.share).with_ci95(Some(ends)))
        }));
        numbers.extend(self.sum.map(|sum| Evidence::new(EvidenceName::SumOfShares, Quantity::times(sum))));
        numbers
    }
}

/// What holds a stream that loses nothing beside the others: what holds it alone.
fn as_alone(alone: &Limit, share: f64, numbers: Vec<Evidence>) -> Limit {
    let evidence = [numbers, alone.evidence.clone()].concat();
    let Some(probability) = alone.probability else {
        return Limit::unknown(UnknownReason::AsAlone, evidence);
    };
    let cause = Cause::AsAlone(Box::new(alone.cause.clone()));
    let found = Limit::probable(cause, probability * share, evidence);
    Limit { would_help: alone.would_help.clone(), ..found }.with_probes(alone.probes.iter().copied())
}

/// All streams as one load: what the counters of the host are about.
fn together(set: &[Observation]) -> Observation {
    let mut sum = set[0].clone();
    let ios = |o: &Observation| o.ios as f64;
    let all = set.iter().map(ios).sum::<f64>().max(1.0);
    let of_ios = |pct: fn(&Observation) -> u8| {
        (set.iter().map(|o| ios(o) * f64::from(pct(o))).sum::<f64>() / all).round().clamp(0.0, 100.0) as u8
    };
    let (write_pct, trim_pct) = (of_ios(|o| o.step.workload.mix.write_pct), of_ios(|o| o.step.workload.mix.trim_pct));
    sum.step.workload.mix = OpMix { read_pct: 100 - (write_pct + trim_pct).min(100), write_pct, trim_pct };
    sum.ios = set.iter().map(|o| o.ios).sum();
    sum.bytes = set.iter().map(|o| o.bytes).sum();
    let mean_block = (sum.bytes as f64 / all).round() as u32;
    sum.step.workload.block_sizes = vec![BlockSize { bytes: mean_block.max(1), share_pct: 100 }];
    sum.step.workload.direct = set.iter().all(|o| o.step.workload.direct);
    let targets: BTreeSet<_> = set.iter().flat_map(|o| o.step.targets.iter().cloned()).collect();
    sum.step.targets = targets.into_iter().collect();
    // What the threads of all of them had in flight.
    sum.step.load.threads = set.iter().map(Observation::threads).sum::<u32>().max(1);
    sum.worker_cpus = set.iter().flat_map(|o| o.worker_cpus.iter().copied()).collect();
    sum.worker_cpus.sort_unstable();
    sum.worker_cpus.dedup();
    sum.open_loop = None;
    sum.syncs = None;
    sum.typical_over_mean = 1.0;
    sum.features = set.iter().flat_map(|o| o.features.iter().cloned()).collect();
    sum.ceilings = std::sync::OnceLock::new();
    sum
}
