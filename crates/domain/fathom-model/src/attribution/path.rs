//! What lies between the CPUs and the media as the limit: links, shared links, the array.

use fathom_message::{Quantity, Unit};

use super::cause::Cause;
use super::evidence::{Evidence, EvidenceName, base_evidence};
use super::neighbour::{ProbeChange, ProbeResult};
use super::posterior::{Candidate, PROBE_CONFIRMS, fill_weight};
use super::probe::{self, Neighbour};
use super::seen::Seen;
use super::{LimitName, Observation, depth, link};
use crate::RaidMaker;
use crate::ceilings::Ceiling;

/// A part used less than this is not full.
const WORTH_WEIGHING: f64 = 0.75;
/// How far the use of a part that is full lies from what its arithmetic says: packet overhead is known to a few percent.
const CEILING_SPREAD: f64 = 0.03;
const PACKETS_KNOWN: f64 = 0.04;
const ARRAY_SPREAD: f64 = 0.08;
/// Array arithmetic rests on the members' ratings, which drives miss or beat by this much.
const NEAR_ARRAY: std::ops::RangeInclusive<f64> = 0.75..=1.30;
/// Per drive, fewer drives that give this much more show something shared.
const SHARING: f64 = 1.15;
/// Fewer targets that give as much in total.
const SAME_TOTAL: f64 = 0.93;
/// Member I/Os for each write from which an array amplifies them.
const MEMBER_IOS_PER_WRITE: f64 = 1.5;

/// Links, memory, the array and what drives share, in a step.
pub(super) fn candidates(all: &Seen<'_>, this: &Observation) -> Vec<Candidate> {
    let ceilings = this.ceilings();
    let lowest_of = |name: LimitName| ceilings.iter().find(|c| c.name == name);
    let used = |name: LimitName| lowest_of(name).filter(|c| this.typical_iops() >= WORTH_WEIGHING * c.iops);
    let flat = depth::flat(all, this);
    let parts = [LimitName::Link, LimitName::Uplink].into_iter().filter_map(used);
    let has_array = this.facts.as_ref().is_some_and(|f| f.machine.raid.is_some());
    let part = |ceiling: &Ceiling| match ceiling.name {
        LimitName::Link if !has_array => own_link(all, this, ceiling, flat),
        _ => Some(at_ceiling(all, this, ceiling, flat)),
    };
    let mut out: Vec<Candidate> = parts.filter_map(part).collect();
    out.extend(array(this, lowest_of(LimitName::Raid), flat));
    out.extend(shared(all, this));
    out
}

/// What fewer targets gave, as a probe.
fn fewer_targets_result(fewer: Neighbour) -> ProbeResult {
    fewer.result(ProbeChange::FewerTargets { targets: fewer.count })
}

/// How near the use of a part is to what it carries, as [`fill_weight`] takes it: beyond is as far as below.
fn nearness(used_share: f64) -> f64 {
    1.0 - (1.0 - used_share).abs()
}

/// Drives are made for their links, so that fullness alone does not tell the two apart: `link` says how probable the link
/// is where it is full.
fn own_link(all: &Seen<'_>, this: &Observation, ceiling: &Ceiling, flat: Option<ProbeResult>) -> Option<Candidate> {
    // Met within what is known of the packets it is full; further off it is less and less probable.
    let used_share = nearness(this.typical_iops() / ceiling.iops) + PACKETS_KNOWN;
    let fullness = fill_weight(used_share, CEILING_SPREAD) / fill_weight(1.0, CEILING_SPREAD);
    let limit = link::limit(all, this, ceiling, ceiling_numbers(this, ceiling), flat)?;
    Some(Candidate::told_apart(limit, fullness))
}

/// `flat`: a deeper queue that gave nothing.
fn at_ceiling(all: &Seen<'_>, this: &Observation, ceiling: &Ceiling, flat: Option<ProbeResult>) -> Candidate {
    let used_share = this.typical_iops() / ceiling.iops;
    let numbers = ceiling_numbers(this, ceiling);
    let relieved = match ceiling.name {
        LimitName::Uplink => {
            probe::fewer_targets(all, this).filter(|fewer| fewer.gain >= SHARING).map(fewer_targets_result)
        }
        _ => None,
    };
    let weight = fill_weight(nearness(used_share), CEILING_SPREAD)
        * match (ceiling.name, &relieved, probe::fewer_targets(all, this)) {
            (_, Some(_), _) => PROBE_CONFIRMS,
            // Fewer drives that give no more each share nothing that is full.
            (LimitName::Uplink, None, Some(_)) => 1.0 / PROBE_CONFIRMS,
            _ => 1.0,
        };
    let cause = Cause::AtCeiling { ceiling: ceiling.clone(), bytes_per_s: this.bytes_per_s(), used_share };
    Candidate::part(cause, weight, numbers).with_probes(relieved.or(flat))
}

fn ceiling_numbers(this: &Observation, ceiling: &Ceiling) -> Vec<Evidence> {
    let mut numbers = base_evidence(this);
    numbers.push(Evidence::new(EvidenceName::Ceiling, Quantity::iops(ceiling.iops)));
    numbers.push(Evidence::new(EvidenceName::CeilingUsed, Quantity::share(this.typical_iops() / ceiling.iops)));
    numbers
}

/// Arrays: the write penalty shows as IOPS at the ceiling, or as reads of the members under pure writes.
fn array(this: &Observation, ceiling: Option<&Ceiling>, flat: Option<ProbeResult>) -> Option<Candidate> {
    let facts = this.facts.as_ref()?;
    let raid = facts.machine.raid.as_ref()?;
    let mut numbers = base_evidence(this);
    let writes = this.step.workload.mix.write_pct > 0;
    if let Some(ceiling) = ceiling {
        numbers.push(Evidence::new(EvidenceName::ArrayCeiling, Quantity::iops(ceiling.iops)));
        let used_share = this.typical_iops() / ceiling.iops;
        if NEAR_ARRAY.contains(&used_share) && (writes || matches!(raid.maker, RaidMaker::Card(_))) {
            let weight = fill_weight(nearness(used_share), ARRAY_SPREAD);
            let cause = Cause::ArrayCeiling { ceiling: ceiling.clone(), iops: this.iops() };
            return Some(Candidate::part(cause, weight, numbers).with_probes(flat));
        }
    }
    let host = this.host.as_ref()?;
    // The kernel counts the I/Os of an md array and those of its members; behind a simulated array only members are seen.
    let members = if host.members.is_empty() { &host.disks } else { &host.members };
    let reads: u64 = members.iter().map(|d| d.read_ios).sum();
    let ratio = members.iter().map(|d| d.read_ios + d.write_ios).sum::<u64>() as f64 / this.ios as f64;
    let pure_write = this.step.workload.mix.write_pct == 100;
    if flat.is_none() || !pure_write || ratio < MEMBER_IOS_PER_WRITE {
        return None;
    }
    numbers.push(Evidence::new(EvidenceName::MemberIosPerWrite, Quantity::new(ratio, Unit::Count)));
    numbers.push(Evidence::new(EvidenceName::MemberReads, Quantity::new(reads as f64, Unit::Count)));
    Some(Candidate::part(Cause::ArrayWrites { member_ios_per_write: ratio }, PROBE_CONFIRMS, numbers).with_probes(flat))
}

/// Targets that give less each the more of them run, while their sum stays: they share the device that they lie on, or
/// something that is not described.
fn shared(all: &Seen<'_>, this: &Observation) -> Option<Candidate> {
    let fewer = probe::fewer_targets_at_best(all, this)?;
    let targets = this.step.targets.len() as u32;
    let total_gain = fewer.gain * f64::from(fewer.count) / f64::from(targets);
    if fewer.gain < SHARING || total_gain < SAME_TOTAL {
        return None;
    }
    let mut numbers = base_evidence(this);
    numbers.push(Evidence::new(EvidenceName::GainPerTarget { targets: fewer.count }, fewer.gain_quantity()));
    // Files on one disk share that disk before they share any link to it.
    let is_one_disk = this.host.as_ref().is_some_and(|h| h.disks.len() == 1);
    let cause = if is_one_disk { Cause::SharedDevice { targets } } else { Cause::SharedPart };
    let part = Candidate::part(cause, 1.0, numbers).with_probes([fewer_targets_result(fewer)]);
    // With less in flight each, these targets would give less each whether they share anything or not.
    Some(Candidate { against_device: PROBE_CONFIRMS, ..part })
}
