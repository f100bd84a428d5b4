//! Limits that are set from outside, and answers that come from elsewhere.

use fathom_message::{Quantity, msg};

use super::Observation;
use super::cause::{Cause, RateWait};
use super::evidence::{Evidence, EvidenceName, base_evidence};
use super::facts::RateLimit;
use super::limit::Limit;
use super::neighbour::ProbeChange;
use super::probe;
use super::seen::Seen;
use super::taken;

/// Share of our bytes that must reach the device before its figures are called the device's.
const DEVICE_SHARE_MIN: f64 = 0.5;
/// A held rate is met within this: token buckets start full and let a burst through.
const HELD_RATE: std::ops::RangeInclusive<f64> = 0.94..=1.10;

/// On a busy device a held rate is not quite met; then the wait above the device shows who held it.
const NEAR_RATE: std::ops::RangeInclusive<f64> = 0.5..=1.10;
/// Latency over the device's own time from which I/Os wait above the device.
const WAITS_ABOVE: f64 = 3.0;

/// Mean latency over the time that the kernel says an I/O spent in the device and its queue. What a control group holds
/// back has not come so far yet. `None` without counters.
fn waits_above_device(this: &Observation) -> Option<f64> {
    let disks = &this.host.as_ref()?.disks;
    let ios: u64 = disks.iter().map(|d| d.read_ios + d.write_ios).sum();
    let weighted_ns: u64 = disks.iter().map(|d| d.weighted_ns).sum();
    let own_ns = weighted_ns as f64 / ios as f64;
    this.mean_lat_ns.map(|lat| lat / own_ns).filter(|w| w.is_finite())
}

/// An open loop that was kept.
pub(super) fn rate_asked(this: &Observation) -> Option<Limit> {
    let open = this.open_loop.as_ref()?;
    if open.unsustainable {
        return None;
    }
    let mut numbers = base_evidence(this);
    numbers.push(Evidence::new(EvidenceName::IntendedRate, Quantity::iops(open.intended_iops)));
    Some(Limit::found(Cause::RateAsked { iops: open.intended_iops }, true, numbers))
}

/// Its threads pause for most of the time, because the load says so: it asks for no more.
pub(super) fn pauses(this: &Observation) -> Option<Limit> {
    let share = this.paused_share;
    (share >= PAUSED_SHARE_MIN).then(|| Limit::found(Cause::Pauses { share }, true, base_evidence(this)))
}

/// From here on pauses hold more of the time than all else together.
const PAUSED_SHARE_MIN: f64 = 0.5;

/// Share of our bytes that the device saw; `None` when no device was sampled.
fn device_share(this: &Observation) -> Option<f64> {
    let host = this.host.as_ref()?;
    if host.disks.is_empty() {
        return None;
    }
    let bytes: u64 = host.disks.iter().map(|d| d.read_bytes + d.write_bytes).sum();
    Some(bytes as f64 / this.bytes.max(1) as f64)
}

pub(super) fn page_cache(this: &Observation) -> Option<Limit> {
    // Names and inodes are no bytes of the load: how many of those reach the device says nothing of files as a whole.
    let is_on_files = this.step.workload.order.files.is_some();
    if this.is_null() || is_on_files || this.step.workload.mix.trim_pct > 0 {
        return None;
    }
    let share = device_share(this)?;
    let cached = this.host.as_ref().and_then(|h| h.page_cache_bytes).unwrap_or(0);
    // Under O_DIRECT a low share has other causes (a RAM disk that is not counted), so a cached file must be seen too.
    if share >= DEVICE_SHARE_MIN || (this.step.workload.direct && cached == 0) {
        return None;
    }
    let mut numbers = base_evidence(this);
    numbers.push(Evidence::new(EvidenceName::BytesAtDevice, Quantity::share(share)));
    numbers.push(Evidence::new(EvidenceName::PageCacheBytes, Quantity::bytes(cached)));
    Some(Limit::found(Cause::PageCache { device_share: share }, true, numbers))
}

/// Most of the time of the slots went into syncs: a closed loop's rate is then what the syncs leave. This is Little's law
/// per operation, not a guess: each slot is held by a sync, a write or a read.
pub(super) fn flush(this: &Observation) -> Option<Limit> {
    let sync = this.step.workload.durability.sync?;
    let ((syncs, mean_ns), io_mean_ns) = this.syncs.zip(this.mean_lat_ns)?;
    let (in_syncs, in_ios) = (syncs as f64 * mean_ns, this.ios as f64 * io_mean_ns);
    let share = in_syncs / (in_syncs + in_ios).max(1.0);
    if this.step.load.has_rates() || share < HALF {
        return None;
    }
    let cause = Cause::Flush { kind: sync.kind, share, mean_ns, io_mean_ns };
    let mut found = Limit::found(cause, true, base_evidence(this));
    let probability = probability_of_most(share, taken::share(this));
    if probability < 1.0 {
        found = found.said_with(probability);
    }
    found.would_help = vec![msg!("help-group-commit")];
    if drive_busy_share(this).is_none_or(|busy| busy >= DRIVE_WORKS_MIN) {
        found.would_help.push(msg!("help-protected-cache"));
    }
    Some(found)
}

/// Probability that syncs hold most of the time in which the threads had their CPUs. `share`: of all time; `taken`: the time
/// in which a thread was ready and others had its CPU, which is in the syncs, in the I/Os or in both. Every division between
/// them counts alike.
fn probability_of_most(share: f64, taken: f64) -> f64 {
    let own = (1.0 - taken).max(f64::EPSILON);
    let least = ((share - taken) / own).max(0.0);
    let most = (share / own).min(1.0);
    if least >= HALF { 1.0 } else { (most - HALF) / (most - least) }
}

/// Share of the time that a drive had something to do; `None` where the kernel counts none.
fn drive_busy_share(this: &Observation) -> Option<f64> {
    let host = this.host.as_ref()?;
    let busy_ns = host.disks.iter().map(|disk| disk.busy_ns).max()?;
    Some(busy_ns as f64 / host.window_ns.max(1) as f64)
}

/// A drive that works less of the time would bring little, however fast it flushed.
const DRIVE_WORKS_MIN: f64 = 0.5;

/// A part with more of the time than this has more than all other parts together.
const HALF: f64 = 0.5;

/// A rate that the host holds the device to, and that was met.
pub(super) fn rate_allowed(all: &Seen<'_>, this: &Observation) -> Option<Limit> {
    let facts = this.facts.as_ref()?;
    let mix = this.step.workload.mix;
    let read = f64::from(mix.read_pct) / 100.0;
    let write = f64::from(mix.write_pct) / 100.0;
    facts.rate_limits.iter().find_map(|limit| {
        // What is allowed, and what came of it.
        let rates = [
            (limit.read_iops.map(Quantity::iops), this.iops() * read),
            (limit.write_iops.map(Quantity::iops), this.iops() * write),
            (limit.read_bytes_per_s.map(Quantity::bytes_per_s), this.bytes_per_s() * read),
            (limit.write_bytes_per_s.map(Quantity::bytes_per_s), this.bytes_per_s() * write),
        ];
        rates.into_iter().find_map(|(allowed, got)| {
            let allowed = allowed.filter(|a| a.value > 0.0)?;
            held_by(all, this, limit, allowed, got / allowed.value)
        })
    })
}

/// The limit where `share` of the allowed rate came and that was all it let through.
fn held_by(all: &Seen<'_>, this: &Observation, limit: &RateLimit, allowed: Quantity, share: f64) -> Option<Limit> {
    // Workers that have no CPU make I/Os wait above the device as well.
    let waits = waits_above_device(this)
        .filter(|w| *w >= WAITS_ABOVE && NEAR_RATE.contains(&share) && taken::share(this) < taken::DISTURBS);
    if !HELD_RATE.contains(&share) && waits.is_none() {
        return None;
    }
    // A deeper queue that stays below the allowed rate as well is held by it.
    let deeper = probe::depth(all, this, true).filter(|d| d.gain * share <= *HELD_RATE.end());
    let mut numbers = base_evidence(this);
    numbers.extend(waits.map(|waits| Evidence::new(EvidenceName::LatencyOverDevice, Quantity::times(waits))));
    numbers.push(Evidence::new(EvidenceName::AllowedRate, allowed));
    let wait = waits
        .filter(|_| share < *HELD_RATE.start())
        .map(|lat_over_device| RateWait { reached_share: share, lat_over_device });
    let cause = Cause::RateAllowed { source: limit.source.clone(), allowed, wait };
    let probe = deeper.map(|d| d.result(ProbeChange::MoreInFlight { in_flight: d.count }));
    let mut found = Limit::found(cause, probe.is_some(), numbers).with_probes(probe);
    found.would_help = vec![msg!("help-higher-rate-of", source = limit.source.message())];
    Some(found)
}
