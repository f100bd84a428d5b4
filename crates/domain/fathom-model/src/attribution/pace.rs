//! Limits that are set from outside, and answers that come from elsewhere.

use fathom_units::{format_iops, format_rate};

use super::probe;
use super::{Limit, LimitName, Observation, base_evidence, evidence, found};

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
    numbers.push(evidence("intended rate", open.intended_iops, "iops"));
    let sentence = format!("The asked rate of {} IOPS is the limit: it was kept.", format_iops(open.intended_iops));
    Some(found(LimitName::Rate, true, sentence, numbers))
}

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
    if this.is_null() || this.step.workload.mix.trim_pct > 0 {
        return None;
    }
    let share = device_share(this)?;
    let cached = this.host.as_ref().and_then(|h| h.page_cache_bytes).unwrap_or(0);
    // Under O_DIRECT a low share has other causes (a RAM disk that is not counted), so a cached file must be seen too.
    if share >= DEVICE_SHARE_MIN || (this.step.workload.direct && cached == 0) {
        return None;
    }
    let mut numbers = base_evidence(this);
    numbers.push(evidence("bytes that reached the device", share * 100.0, "%"));
    numbers.push(evidence("bytes in the page cache", cached as f64, "bytes"));
    let sentence = format!(
        "The page cache answered: only {:.0} % of the bytes reached the device. This is memory speed, not the drive's.",
        share * 100.0
    );
    Some(found(LimitName::PageCache, true, sentence, numbers))
}

/// A rate that the host holds the device to, and that was met.
pub(super) fn rate_allowed(all: &[Observation], this: &Observation) -> Option<Limit> {
    let facts = this.facts.as_ref()?;
    let mix = this.step.workload.mix;
    let read = f64::from(mix.read_pct) / 100.0;
    let write = f64::from(mix.write_pct) / 100.0;
    for limit in &facts.rate_limits {
        let held = [
            (limit.read_iops, this.iops() * read, false),
            (limit.write_iops, this.iops() * write, false),
            (limit.read_bytes_per_s, this.bytes_per_s() * read, true),
            (limit.write_bytes_per_s, this.bytes_per_s() * write, true),
        ];
        for (allowed, got, in_bytes) in held {
            let Some(allowed) = allowed.filter(|a| *a > 0.0) else { continue };
            let share = got / allowed;
            let waits = waits_above_device(this).filter(|w| *w >= WAITS_ABOVE && NEAR_RATE.contains(&share));
            if !HELD_RATE.contains(&share) && waits.is_none() {
                continue;
            }
            // A deeper queue that stays below the allowed rate as well is held by it.
            let deeper = probe::depth(all, this, true);
            let flat = deeper.is_some_and(|d| d.gain * share <= *HELD_RATE.end());
            let mut numbers = base_evidence(this);
            if let Some(waits) = waits {
                numbers.push(evidence("latency over the device's own time", waits, "x"));
            }
            let (text, unit) =
                if in_bytes { (format_rate(allowed), "bytes/s") } else { (format_iops(allowed), "iops") };
            numbers.push(evidence("allowed rate", allowed, unit));
            let per = if in_bytes { "" } else { " IOPS" };
            let met = match waits {
                Some(w) if share < *HELD_RATE.start() => {
                    format!(
                        "{:.0} % of it came, each I/O waiting {w:.0} times as long as the device took",
                        share * 100.0
                    )
                }
                _ => "and it was met".to_owned(),
            };
            let sentence = format!("The rate allowed by {} is the limit: {text}{per}, {met}.", limit.name);
            let mut out = found(LimitName::Rate, flat, sentence, numbers);
            out.would_help = vec![format!("a higher rate in {}", limit.name)];
            return Some(out);
        }
    }
    None
}
