//! A cap that nobody on this host set: a hypervisor's or a cloud's, by how even and how round the rate is.

use fathom_message::{Quantity, msg};
use fathom_record::Interval;

use super::cause::Cause;
use super::evidence::{Evidence, EvidenceName, base_evidence};
use super::limit::Limit;
use super::neighbour::{ProbeChange, ProbeResult};
use super::probe::{self, Neighbour};
use super::seen::Seen;
use super::{Observation, depth};

/// Steps of a cap differ by no more than this, as a share.
const FLAT: f64 = 0.02;
/// A rate this close to a round one is round.
const ROUND: f64 = 0.01;
/// Intervals that vary by less than this share of what the spread of the latency would make of them are paced.
const PACED: f64 = 0.5;
/// Block sizes at least this far apart tell commands from bytes.
const BLOCKS_APART: f64 = 4.0;
/// First digits of the rates that are sold and set.
const ROUND_DIGITS: [f64; 15] = [1.0, 1.2, 1.25, 1.5, 1.6, 2.0, 2.4, 2.5, 3.0, 3.2, 4.0, 5.0, 6.0, 6.4, 7.5];

/// What a cap is said with: on a round and flat rate alone, with paced intervals, and where another block size agrees.
const PROBABLE_ROUND: f64 = 0.5;
const PROBABLE_PACED: f64 = 0.65;
const PROBABLE_SAME_BYTES: f64 = 0.75;
const PROBABLE_SAME_IOPS: f64 = 0.85;
const PROBABLE_ALL: f64 = 0.92;
/// A fall within a step is a bucket's where it only read; a write cache that fills looks the same.
const PROBABLE_BUCKET_READS: f64 = 0.75;
const PROBABLE_BUCKET_WRITES: f64 = 0.5;

/// A rate falls to this share of what it began at and lower.
const FALLS_TO: f64 = 0.8;
/// Spread of the intervals before and after a fall, as a share of their mean.
const EVEN_BEFORE: f64 = 0.1;
const EVEN_AFTER: f64 = 0.03;
/// Fewest intervals on each side of a fall.
const SIDE_MIN: usize = 3;

/// How the IOPS of a step varied from interval to interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Pace {
    /// Standard deviation of the intervals' IOPS over their mean; `None` with too few of them.
    spread: Option<f64>,
    /// What independent latencies of the same spread would make it.
    expected_spread: Option<f64>,
    /// The IOPS fell once, from an even rate to another.
    fall: Option<Fall>,
}

/// A step that began at one rate and went on at a lower one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fall {
    before_iops: f64,
    after_iops: f64,
    after_s: f64,
}

/// Mean and standard deviation over the mean.
fn even(rates: &[f64]) -> (f64, f64) {
    let n = rates.len().max(1) as f64;
    let mean = rates.iter().sum::<f64>() / n;
    let variance = rates.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    (mean, variance.sqrt() / mean.max(f64::MIN_POSITIVE))
}

impl Pace {
    /// `lat_spread`: standard deviation of the latency over its mean.
    pub(super) fn of(intervals: &[Interval], lat_spread: Option<f64>) -> Pace {
        let ios = |i: &Interval| i.directions.iter().map(|d| d.ios).sum::<u64>() as f64;
        let rates: Vec<f64> =
            intervals.iter().filter(|i| i.length_ns > 0).map(|i| ios(i) * 1e9 / i.length_ns as f64).collect();
        if rates.len() < 2 * SIDE_MIN {
            return Pace::default();
        }
        let ios_each = intervals.iter().map(ios).sum::<f64>() / intervals.len() as f64;
        let seconds_each = intervals.iter().map(|i| i.length_ns).sum::<u64>() as f64 / 1e9 / intervals.len() as f64;
        Pace {
            spread: Some(even(&rates).1),
            expected_spread: lat_spread.map(|spread| spread / ios_each.max(1.0).sqrt()),
            fall: Fall::of(&rates, seconds_each),
        }
    }

    fn is_paced(&self) -> bool {
        self.spread.zip(self.expected_spread).is_some_and(|(seen, expected)| seen <= PACED * expected)
    }
}

impl Fall {
    fn of(rates: &[f64], seconds_each: f64) -> Option<Fall> {
        let fall_at = |at: usize| {
            let (before, before_spread) = even(&rates[..at]);
            // The interval in which it falls belongs to neither side.
            let (after, after_spread) = even(&rates[at + 1..]);
            let is_fall = after <= FALLS_TO * before && before_spread <= EVEN_BEFORE && after_spread <= EVEN_AFTER;
            is_fall.then_some(Fall { before_iops: before, after_iops: after, after_s: at as f64 * seconds_each })
        };
        let last = rates.len().checked_sub(SIDE_MIN + 1)?;
        (SIDE_MIN..=last).find_map(fall_at)
    }

    /// I/Os that it let through beyond the later rate.
    fn burst_ios(&self) -> f64 {
        (self.before_iops - self.after_iops) * self.after_s
    }
}

pub(super) fn limit(all: &Seen<'_>, this: &Observation) -> Option<Limit> {
    // Nobody stands between a machine of its own and its drives.
    if !this.facts.as_ref()?.is_guest {
        return None;
    }
    bucket(this).or_else(|| plateau(all, this))
}

fn bucket(this: &Observation) -> Option<Limit> {
    let fall = this.pace.fall?;
    let reads = this.step.workload.mix.read_pct == 100;
    let probability = if reads { PROBABLE_BUCKET_READS } else { PROBABLE_BUCKET_WRITES };
    let cause = Cause::TokenBucket {
        burst_iops: fall.before_iops,
        refill_iops: fall.after_iops,
        burst_ios: fall.burst_ios(),
        after_s: fall.after_s,
    };
    Some(with_help(Limit::probable(cause, probability, base_evidence(this))))
}

fn plateau(all: &Seen<'_>, this: &Observation) -> Option<Limit> {
    let near = |a: f64, b: f64| (a / b - 1.0).abs() <= FLAT;
    let mut others = probe::ladder(all, this).filter(|o| o.in_flight() > this.in_flight()).peekable();
    let flat = depth::flat(all, this)?;
    if others.peek().is_none() || !others.all(|o| near(o.iops(), this.iops())) {
        return None;
    }
    let (round_iops, round_bytes) = (is_round(this.iops()), is_round_bytes(this.bytes_per_s()));
    let agrees = |of: fn(&Observation) -> f64| other_block(all, this, |o| near(of(o), of(this)));
    let (same_iops, same_bytes) = (agrees(Observation::iops), agrees(Observation::bytes_per_s));
    let is_paced = this.pace.is_paced();
    let is_round = round_iops || round_bytes;
    let (probability, of_bytes, block) = match (same_iops, same_bytes) {
        (Some(block), _) if is_paced && round_iops => (PROBABLE_ALL, false, Some(block)),
        (Some(block), _) if is_paced || round_iops => (PROBABLE_SAME_IOPS, false, Some(block)),
        (None, Some(block)) if round_bytes => (PROBABLE_SAME_BYTES, true, Some(block)),
        // Another size gives neither the same commands nor the same bytes: no cap on either.
        (None, None) if is_round && other_block(all, this, |_| true).is_none() => {
            (if is_paced { PROBABLE_PACED } else { PROBABLE_ROUND }, !round_iops, None)
        }
        _ => return None,
    };
    let rate = if of_bytes { Quantity::bytes_per_s(this.bytes_per_s()) } else { Quantity::iops(this.iops()) };
    let mut numbers = base_evidence(this);
    let spread = |name, share: Option<f64>| share.map(|s| Evidence::new(name, Quantity::share(s)));
    numbers.extend(spread(EvidenceName::IntervalSpread, this.pace.spread));
    numbers.extend(spread(EvidenceName::ExpectedIntervalSpread, this.pace.expected_spread));
    let limit = Limit::probable(Cause::RateOutside { rate }, probability, numbers);
    Some(with_help(limit.with_probes([flat]).with_probes(block)))
}

fn with_help(mut limit: Limit) -> Limit {
    limit.would_help = vec![msg!("help-cap-outside")];
    limit
}

/// A much larger or smaller block on the same targets for which `holds`.
fn other_block(all: &Seen<'_>, this: &Observation, holds: impl Fn(&Observation) -> bool) -> Option<ProbeResult> {
    let block = |o: &Observation| f64::from(o.step.workload.block_bytes_max());
    let is_apart = |o: &&Observation| {
        let ratio = block(o) / block(this);
        ratio >= BLOCKS_APART || ratio <= 1.0 / BLOCKS_APART
    };
    let other = probe::other_blocks(all, this).filter(is_apart).find(|o| holds(o))?;
    let block_bytes = other.step.workload.block_bytes_max();
    Some(Neighbour::of_bytes(block_bytes, this, other).result(ProbeChange::OtherBlock { block_bytes }))
}

fn is_round(rate: f64) -> bool {
    let digits = rate / 10_f64.powf(rate.log10().floor());
    ROUND_DIGITS.iter().chain(&[10.0]).any(|round| (digits / round - 1.0).abs() <= ROUND)
}

/// In powers of ten or of two.
fn is_round_bytes(bytes_per_s: f64) -> bool {
    is_round(bytes_per_s) || is_round(bytes_per_s / f64::from(1 << 20))
}
