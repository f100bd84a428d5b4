//! The queue or the device: what is left when the host is idle enough.

use super::Observation;
use super::cause::{Cause, UnknownReason};
use super::evidence::{Evidence, EvidenceName, base_evidence};
use super::limit::{Caveat, Limit};
use super::neighbour::{ProbeChange, inverse};
use super::probe::{self, DEPTH_HELPS_PER_DOUBLING, DEPTH_USELESS_PER_DOUBLING, DepthSays, Neighbour};

pub(super) fn limit(all: &[Observation], this: &Observation) -> Option<Limit> {
    let lat_ns = this.mean_lat_ns?;
    let mut numbers = base_evidence(this);
    let n = this.in_flight();
    if let Some(deeper) = deciding_depth(all, this) {
        let name = EvidenceName::GainOfDepth { in_flight: deeper.count };
        numbers.push(Evidence::new(name, deeper.gain_quantity()));
        if let Some(limit) = by_deeper(n, deeper, lat_ns, &numbers) {
            return Some(limit);
        }
    }
    if let Some(shallower) = probe::depth(all, this, false) {
        let by_threads = probe::is_shallower_held_by_threads(all, this);
        return Some(by_shallower(n, shallower, by_threads, lat_ns, numbers));
    }
    (n == 1).then(|| Limit::found(Cause::QueueDepth { in_flight: n, lat_ns }, false, numbers))
}

/// The deeper step that decides: the nearest, or a much deeper one where noise or the knee leaves one doubling open.
fn deciding_depth(all: &[Observation], this: &Observation) -> Option<Neighbour> {
    let n = this.in_flight();
    let near = probe::depth(all, this, true)?;
    // That it grew less over all these doublings than one must to help leaves nothing to gain from depth.
    let decides = |f: &Neighbour| f.gain <= DEPTH_HELPS_PER_DOUBLING || f.per_doubling(n) >= DEPTH_HELPS_PER_DOUBLING;
    let far = Some(near).filter(|d| d.is_open(n)).and_then(|_| probe::far_depth(all, this)).filter(decides);
    // Noise that leaves room for two answers over one doubling may leave room for one over three.
    let sharper = Some(near)
        .filter(|d| d.is_noisy(n))
        .and_then(|d| probe::far_depth(all, this).filter(|f| f.says(n) == d.says(n) && !f.is_noisy(n)))
        .filter(|f| !f.is_held_by_threads || f.says(n) == DepthSays::Helps);
    far.or(sharper).or(Some(near))
}

/// `None` where the deeper step gave neither clearly more nor clearly nothing.
fn by_deeper(n: u32, deeper: Neighbour, lat_ns: f64, numbers: &[Evidence]) -> Option<Limit> {
    let cause = match deeper.says(n) {
        DepthSays::Open => return None,
        DepthSays::Helps => Cause::QueueDepth { in_flight: n, lat_ns },
        DepthSays::Useless if deeper.is_held_by_threads => {
            return Some(Limit::unknown(UnknownReason::DeeperHeldByThreads, numbers.to_vec()));
        }
        DepthSays::Useless => Cause::Device { in_flight: n, lat_ns },
    };
    let is_noisy = deeper.is_noisy(n);
    let probe = deeper.result(ProbeChange::MoreInFlight { in_flight: deeper.count });
    let limit = Limit::found(cause, !is_noisy, numbers.to_vec()).with_probes([probe]);
    Some(limit.with_caveats(is_noisy.then_some(Caveat::Noise)))
}

/// The deepest step has no deeper neighbour: a flat last rung is the device's signature, without a probe beyond it.
/// `by_threads`: the shallower step was held by its threads, so that what was gained since may be all theirs.
fn by_shallower(n: u32, shallower: Neighbour, by_threads: bool, lat_ns: f64, mut numbers: Vec<Evidence>) -> Limit {
    let growth = 1.0 / shallower.gain;
    let name = EvidenceName::GrowthOfDepth { in_flight: shallower.count };
    numbers.push(Evidence::new(name, inverse(shallower.gain_quantity())));
    let per_doubling = growth.powf(1.0 / (f64::from(n) / f64::from(shallower.count)).log2());
    let cause = match per_doubling {
        g if g <= DEPTH_USELESS_PER_DOUBLING => Cause::Device { in_flight: n, lat_ns },
        _ if by_threads => return Limit::unknown(UnknownReason::ShallowerHeldByThreads, numbers),
        g if g >= DEPTH_HELPS_PER_DOUBLING => Cause::QueueDepth { in_flight: n, lat_ns },
        _ => return Limit::unknown(UnknownReason::NearKnee, numbers),
    };
    let probe = shallower.result(ProbeChange::FewerInFlight { in_flight: shallower.count });
    Limit::found(cause, false, numbers).with_probes([probe])
}
