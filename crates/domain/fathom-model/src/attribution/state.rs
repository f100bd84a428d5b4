//! A deeper step that gives less than a shallower one did: the device changed between them (a cache that filled, a burst
//! allowance that ran out, heat), or it gives less at that depth. The shallower one, measured again, tells them apart.

use fathom_plan::{Phase, Step};

use super::cause::Cause;
use super::evidence::{Evidence, EvidenceName, base_evidence};
use super::limit::Limit;
use super::neighbour::ProbeChange;
use super::probe::{self, Neighbour};
use super::seen::Seen;
use super::{Observation, depth};

/// A deeper step that gives less than this share of a shallower one is no plateau.
const FELL: f64 = 0.9;
/// A step measured again gives the same where it is this close.
const SAME: std::ops::RangeInclusive<f64> = FELL..=1.0 / FELL;

pub(super) fn limit(all: &Seen<'_>, this: &Observation) -> Option<Limit> {
    let from = fell_from(all, this)?;
    let in_flight = from.in_flight();
    let mut numbers = base_evidence(this);
    let from_gain = Neighbour::of_iops(in_flight, this, from);
    numbers.push(Evidence::new(EvidenceName::GainOfDepth { in_flight }, from_gain.gain_quantity()));
    let Some(again) = repeat_of(all, from) else {
        let cause = Cause::StateChanged { in_flight, gain: this.iops() / from.iops(), again: None };
        return Some(Limit::undecided(cause, numbers));
    };
    let repeated = Neighbour::of_iops(in_flight, from, again);
    numbers.push(Evidence::new(EvidenceName::GainOfRepeat { in_flight }, repeated.gain_quantity()));
    let gain = this.iops() / from.iops();
    if differs(again, from) {
        let cause = Cause::StateChanged { in_flight, gain, again: Some(repeated.gain) };
        return Some(Limit::undecided(cause, numbers));
    }
    // Intervals too wide to tell leave it open.
    let cause = match SAME.contains(&repeated.gain) {
        true => Cause::LessAtDepth { in_flight, gain },
        false => Cause::StateChanged { in_flight, gain, again: None },
    };
    Some(Limit::undecided(cause, numbers).with_probes([repeated.result(ProbeChange::Repeated { in_flight })]))
}

/// The shallower step before that gave most, where this one gives clearly less and no deeper one gives more again.
fn fell_from<'a>(all: &'a Seen<'_>, this: &Observation) -> Option<&'a Observation> {
    let n = this.in_flight();
    // Steps whose threads were held by their cores say what cores give.
    let of_depth = || probe::ladder(all, this).filter(|o| probe::is_of_depth(o, this));
    let before = of_depth().filter(|o| o.in_flight() < n && o.step.index <= this.step.index);
    let from = before.max_by(|a, b| a.iops().total_cmp(&b.iops()))?;
    let recovers =
        of_depth().any(|o| o.in_flight() > n && (o.iops() >= FELL * from.iops() || depth::exceeds(o, this, 0.0)));
    (!recovers && this.iops() < FELL * from.iops() && depth::exceeds(from, this, 0.0)).then_some(from)
}

/// The same load measured again, the last time.
fn repeat_of<'a>(all: &'a Seen<'_>, of: &Observation) -> Option<&'a Observation> {
    probe::ladder(all, of)
        .filter(|o| o.step.load == of.step.load && o.step.index > of.step.index)
        .max_by_key(|o| o.step.index)
}

/// Whether two steps of the same differ beyond both intervals and what steps usually differ by.
fn differs(a: &Observation, b: &Observation) -> bool {
    depth::exceeds(a, b, depth::USUAL_SPREAD) || depth::exceeds(b, a, depth::USUAL_SPREAD)
}

/// The step that is to be measured again at the end of the ladder of `of`: the one that a deeper one fell from. `None` where
/// none fell, or it was measured again already, or the plan itself repeats its steps: in the blocks of a comparison, in
/// rounds until steady.
#[must_use]
pub fn step_to_repeat(all: &[Observation], of: &Step) -> Option<Step> {
    if of.role.block.is_some() || of.role.round.is_some() {
        return None;
    }
    let all = &Seen::new(all);
    let this = all.iter().rev().find(|o| o.step.index == of.index)?;
    let deeper = probe::ladder(all, this).filter_map(|o| Some((o, fell_from(all, o)?)));
    let (_, from) = deeper.max_by_key(|(o, _)| o.in_flight())?;
    if repeat_of(all, from).is_some() {
        return None;
    }
    let mut step = from.step.clone();
    step.label = format!("{} (again)", step.label);
    step.phase = Phase::Probe;
    step.role = from.step.role.beside();
    Some(step)
}
