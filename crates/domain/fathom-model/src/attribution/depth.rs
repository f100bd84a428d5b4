//! The queue or the device: what is left when the host is idle enough.

use fathom_units::format_ns;

use super::probe::{self, DEPTH_HELPS_PER_DOUBLING, DEPTH_USELESS_PER_DOUBLING, DepthSays, Neighbour};
use super::{Evidence, Limit, LimitName, Observation, base_evidence, evidence, found, unknown};

pub(super) fn limit(all: &[Observation], this: &Observation) -> Option<Limit> {
    let lat = this.mean_lat_ns?;
    let mut numbers = base_evidence(this);
    let n = this.in_flight();
    let near = probe::depth(all, this, true);
    // One doubling that leaves it open is blurred by noise, or lies near the knee: a much deeper step tells.
    // That it grew less over all these doublings than one must to help leaves nothing to gain from depth.
    let tells = |f: &Neighbour| f.gain <= DEPTH_HELPS_PER_DOUBLING || f.per_doubling(n) >= DEPTH_HELPS_PER_DOUBLING;
    let far = near.filter(|d| d.is_open(n)).and_then(|_| probe::far_depth(all, this)).filter(tells);
    // Noise that leaves room for two answers over one doubling may leave room for one over three.
    let sharper = near
        .filter(|d| d.is_blurred(n))
        .and_then(|d| probe::far_depth(all, this).filter(|f| f.says(n) == d.says(n) && !f.is_blurred(n)))
        .filter(|f| !f.is_held_by_threads || f.says(n) == DepthSays::Helps);
    if let Some(deeper) = far.or(sharper).or(near) {
        numbers.push(evidence(&format!("IOPS at {} in flight against this", deeper.count), deeper.gain, "x"));
        let (says, is_blurred) = (deeper.says(n), deeper.is_blurred(n));
        if says == DepthSays::Helps {
            let sentence = format!(
                "Queue depth is the {}limit: {n} in flight at {} each; {} in flight gave {}.",
                if is_blurred { "likely " } else { "" },
                format_ns(lat),
                deeper.count,
                deeper.told(is_blurred)
            );
            return Some(Limit { is_blurred, ..found(LimitName::QueueDepth, !is_blurred, sentence, numbers) });
        }
        if says == DepthSays::Useless && deeper.is_held_by_threads {
            let why = "a deeper queue gave little more because the cores of its threads were full, which says nothing of the device";
            return Some(unknown(why, numbers));
        }
        if says == DepthSays::Useless {
            let told = format!("{} in flight gave {}", deeper.count, deeper.told(is_blurred));
            return Some(Limit { is_blurred, ..device(!is_blurred, n, &told, lat, numbers) });
        }
    }
    if let Some(shallower) = probe::depth(all, this, false) {
        let by_threads = probe::is_shallower_held_by_threads(all, this);
        return Some(by_shallower(n, shallower, by_threads, lat, numbers));
    }
    if n == 1 {
        let sentence = format!("Queue depth is the likely limit: one I/O at a time, {} each.", format_ns(lat));
        return Some(found(LimitName::QueueDepth, false, sentence, numbers));
    }
    None
}

/// The deepest step has no deeper neighbour: a flat last rung is the device's signature, without a probe beyond it.
/// `by_threads`: the shallower step was held by its threads, so that what was gained since may be all theirs.
fn by_shallower(n: u32, shallower: Neighbour, by_threads: bool, lat: f64, mut numbers: Vec<Evidence>) -> Limit {
    let growth = 1.0 / shallower.gain;
    numbers.push(evidence(&format!("IOPS here against {} in flight", shallower.count), growth, "x"));
    let per_doubling = growth.powf(1.0 / (f64::from(n) / f64::from(shallower.count)).log2());
    if per_doubling <= DEPTH_USELESS_PER_DOUBLING {
        return device(false, n, "the last doubling of the depth added under 12 %", lat, numbers);
    }
    if by_threads {
        let why = "the step with fewer in flight was held by its threads, so that what was gained since says nothing of depth";
        return unknown(why, numbers);
    }
    if per_doubling >= DEPTH_HELPS_PER_DOUBLING {
        let sentence = format!(
            "Queue depth is the likely limit: {n} in flight at {} each, and IOPS still grew {growth:.2} times from {}.",
            format_ns(lat),
            shallower.count
        );
        return found(LimitName::QueueDepth, false, sentence, numbers);
    }
    unknown("near the knee, more depth still helps a little, and nothing in the host is saturated", numbers)
}

/// `proof`: what a deeper or the shallower queue showed.
fn device(confirmed: bool, n: u32, proof: &str, lat_ns: f64, numbers: Vec<Evidence>) -> Limit {
    let sentence = format!(
        "The device is the limit: {n} in flight take {} each, {proof}, and no core is saturated.",
        format_ns(lat_ns)
    );
    found(LimitName::Device, confirmed, sentence, numbers)
}
