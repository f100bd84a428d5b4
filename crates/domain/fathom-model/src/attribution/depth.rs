//! The queue or the device: what is left when the host is idle enough.

use super::cause::{Cause, UnknownReason};
use super::evidence::{Evidence, EvidenceName, base_evidence};
use super::ladder::Rung;
use super::limit::Limit;
use super::neighbour::{ProbeChange, ProbeResult, inverse};
use super::probe::{self, Neighbour};
use super::seen::Seen;
use super::{Confidence, Observation};

/// More in flight that can bring no more than this leaves queue depth out: the plateau is reached.
const PLATEAU_GAIN: f64 = 1.1;
/// What a step is said to be held by depth with at least where a deeper one exceeds it while the ladder says plateau, and by
/// the device where none of those deeper gave more while the ladder says depth.
const EXCEEDED: f64 = 0.35;
/// One I/O at a time and no other step to compare with: rarely can a device do no more than one.
const ALONE_BY_DEPTH: f64 = 0.9;
/// How far two steps that should give the same lie apart beside their intervals, relative standard deviation.
pub(super) const USUAL_SPREAD: f64 = 0.02;
/// Relative error of a step that is too short for an interval.
pub(super) const ERROR_WITHOUT_INTERVAL: f64 = 0.05;
/// Half widths of a 95 % interval in standard errors.
pub(super) const HALF_WIDTH_ERRORS: f64 = 1.96;

pub(super) fn limit(all: &Seen<'_>, this: &Observation) -> Option<Limit> {
    let lat_ns = this.mean_lat_ns?;
    let mut numbers = base_evidence(this);
    let n = this.in_flight();
    let depth = Cause::QueueDepth { in_flight: n, lat_ns };
    let probe = shown(all, this, &mut numbers);
    let plateau = plateau_probability(all, this);
    // What another step exceeds beyond both intervals is no device's limit, however little it is.
    let above = probe::ladder(all, this).filter(|o| o.in_flight() > n && exceeds(o, this, 0.0));
    if let Some(above) = above.min_by_key(|o| o.in_flight()) {
        // Where the curve says plateau and one deeper step says otherwise, neither is said with confidence.
        let share = plateau.map_or(ALONE_BY_DEPTH, |plateau| (1.0 - plateau).max(EXCEEDED));
        let probe = Neighbour::of_iops(above.in_flight(), this, above).result(more(above.in_flight()));
        return Some(Limit::probable(depth, share, numbers).with_probes([probe]));
    }
    let Some(plateau) = plateau else {
        let held = probe::ladder(all, this).find(|o| o.in_flight() != n).map(|o| o.in_flight() > n);
        return match held {
            _ if n == 1 => Some(Limit::probable(depth, ALONE_BY_DEPTH, numbers).with_probes(probe)),
            Some(true) => Some(Limit::unknown(UnknownReason::DeeperHeldByThreads, numbers)),
            Some(false) => Some(Limit::unknown(UnknownReason::ShallowerHeldByThreads, numbers)),
            None => None,
        };
    };
    if plateau < 0.5 {
        // Where the curve says depth and no deeper step gave more, neither is said with confidence.
        let share = if is_denied(all, this) { (1.0 - plateau).min(1.0 - EXCEEDED) } else { 1.0 - plateau };
        return Some(Limit::probable(depth, share, numbers).with_probes(probe));
    }
    let is_later = |o: &&Observation| o.in_flight() <= n && o.step.index > this.step.index;
    if probe::ladder(all, this).filter(is_later).any(|o| exceeds(o, this, USUAL_SPREAD)) {
        return Some(Limit::unknown(UnknownReason::LessGaveMore, numbers).with_probes(probe));
    }
    let device = Cause::Device { in_flight: n, lat_ns };
    Some(Limit::probable(device, plateau, numbers).with_probes(probe))
}

/// Probability that more in flight brings this step no more than a tenth; `None` without a step to compare with.
pub(super) fn plateau_probability(all: &Seen<'_>, this: &Observation) -> Option<f64> {
    // Steps whose threads were held by their cores say what cores give.
    let rungs: Vec<Rung> = probe::ladder(all, this).filter(|o| probe::is_of_depth(o, this)).map(rung).collect();
    Some(all.fit(&rungs)?.probability_of_less_than(PLATEAU_GAIN, f64::from(this.in_flight())))
}

/// Whether there are steps of more in flight, and the best of them gave no more than this one did.
fn is_denied(all: &Seen<'_>, this: &Observation) -> bool {
    let deeper = probe::ladder(all, this).filter(|o| o.in_flight() > this.in_flight() && probe::is_of_depth(o, this));
    deeper.map(Observation::iops).reduce(f64::max).is_some_and(|most| most <= this.iops())
}

/// A deeper queue that gave nothing, where the ladder is surely flat.
pub(super) fn flat(all: &Seen<'_>, this: &Observation) -> Option<ProbeResult> {
    let deeper = probe::depth(all, this, true)?;
    let is_sure = plateau_probability(all, this)? >= Confidence::CONFIRMED_FROM;
    is_sure.then(|| deeper.result(more(deeper.count)))
}

/// The same among the steps of as many threads; `None` where none of them is of another depth.
pub(super) fn plateau_of_own_threads(all: &Seen<'_>, this: &Observation) -> Option<f64> {
    let is_alike = |o: &&Observation| o.step.load.threads == this.step.load.threads;
    let rungs: Vec<Rung> = probe::ladder(all, this).filter(is_alike).map(rung).collect();
    Some(all.fit(&rungs)?.probability_of_less_than(PLATEAU_GAIN, f64::from(this.in_flight())))
}

fn more(in_flight: u32) -> ProbeChange {
    ProbeChange::MoreInFlight { in_flight }
}

/// The neighbour that a reader is shown, the next deeper or else the next shallower one; its gain becomes evidence.
fn shown(all: &Seen<'_>, this: &Observation, numbers: &mut Vec<Evidence>) -> Option<ProbeResult> {
    if let Some(deeper) = probe::depth(all, this, true) {
        let in_flight = deeper.count;
        numbers.push(Evidence::new(EvidenceName::GainOfDepth { in_flight }, deeper.gain_quantity()));
        return Some(deeper.result(more(in_flight)));
    }
    let shallower = probe::depth(all, this, false)?;
    let in_flight = shallower.count;
    numbers.push(Evidence::new(EvidenceName::GrowthOfDepth { in_flight }, inverse(shallower.gain_quantity())));
    Some(shallower.result(ProbeChange::FewerInFlight { in_flight }))
}

pub(super) fn relative_error(o: &Observation) -> f64 {
    o.rel_half_width().map_or(ERROR_WITHOUT_INTERVAL, |half| half / HALF_WIDTH_ERRORS)
}

fn rung(o: &Observation) -> Rung {
    Rung { in_flight: f64::from(o.in_flight()), iops: o.iops(), relative_error: relative_error(o) }
}

/// Whether a step gave more, beyond both intervals, each widened by what steps differ by from one time to the next.
pub(super) fn exceeds(other: &Observation, this: &Observation, spread: f64) -> bool {
    let half = |o: &Observation| HALF_WIDTH_ERRORS * relative_error(o).hypot(spread);
    other.iops() * (1.0 - half(other)) > this.iops() * (1.0 + half(this))
}
