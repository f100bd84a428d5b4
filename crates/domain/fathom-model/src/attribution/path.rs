//! What lies between the CPUs and the media as the limit: links, shared links, the array.

use fathom_message::{Quantity, Unit};

use super::cause::Cause;
use super::evidence::{Evidence, EvidenceName, base_evidence};
use super::limit::Limit;
use super::neighbour::{ProbeChange, ProbeResult};
use super::probe::{self, Neighbour};
use super::{LimitName, Observation, depth, link};
use crate::ceilings::Ceiling;

/// A part used this much is at its limit; packet overhead is known to a few percent.
const AT_CEILING: f64 = 0.90;
/// Array arithmetic rests on the members' ratings, which drives miss or beat by this much.
const NEAR_ARRAY: std::ops::RangeInclusive<f64> = 0.75..=1.30;
/// Per drive, fewer drives that give this much more show something shared.
const SHARING: f64 = 1.15;
/// Fewer targets that give as much in total.
const SAME_TOTAL: std::ops::RangeInclusive<f64> = 0.93..=1.07;
/// Member I/Os for each write from which an array amplifies them.
const MEMBER_IOS_PER_WRITE: f64 = 1.5;

pub(super) fn limit(all: &[Observation], this: &Observation) -> Option<Limit> {
    // A ladder that still rises here shows that nothing on the way is full.
    let plateau = depth::plateau_probability(all, this);
    if plateau.is_some_and(|p| p < 0.5) {
        return None;
    }
    let ceilings = this.ceilings();
    let lowest_of = |name: LimitName| ceilings.iter().find(|c| c.name == name);
    let full = |name: LimitName| lowest_of(name).filter(|c| this.iops() >= AT_CEILING * c.iops);
    let flat = depth::flat(all, this);
    // Of several that are full the fullest is the claim.
    let mut claims: Vec<&Ceiling> = [LimitName::Link, LimitName::Uplink].into_iter().filter_map(full).collect();
    claims.sort_by(|a, b| a.iops.total_cmp(&b.iops));
    if let Some(ceiling) = claims.first() {
        let is_own_link =
            ceiling.name == LimitName::Link && this.facts.as_ref().is_none_or(|f| f.machine.raid.is_none());
        return match is_own_link {
            true => link::limit(all, this, ceiling, ceiling_numbers(this, ceiling), flat),
            false => Some(at_ceiling(all, this, ceiling, flat)),
        };
    }
    array(this, lowest_of(LimitName::Raid), flat).or_else(|| shared(all, this))
}

/// What fewer targets gave, as a probe.
fn fewer_targets_result(fewer: Neighbour) -> ProbeResult {
    fewer.result(ProbeChange::FewerTargets { targets: fewer.count })
}

/// `flat`: a deeper queue that gave nothing.
fn at_ceiling(all: &[Observation], this: &Observation, ceiling: &Ceiling, flat: Option<ProbeResult>) -> Limit {
    let used_share = this.iops() / ceiling.iops;
    let numbers = ceiling_numbers(this, ceiling);
    let relieved = match ceiling.name {
        LimitName::Uplink => {
            probe::fewer_targets(all, this).filter(|fewer| fewer.gain >= SHARING).map(fewer_targets_result)
        }
        _ => None,
    };
    let probe = relieved.or(flat);
    let cause = Cause::AtCeiling { ceiling: ceiling.clone(), bytes_per_s: this.bytes_per_s(), used_share };
    Limit::found(cause, probe.is_some(), numbers).with_probes(probe)
}

fn ceiling_numbers(this: &Observation, ceiling: &Ceiling) -> Vec<Evidence> {
    let mut numbers = base_evidence(this);
    numbers.push(Evidence::new(EvidenceName::Ceiling, Quantity::iops(ceiling.iops)));
    numbers.push(Evidence::new(EvidenceName::CeilingUsed, Quantity::share(this.iops() / ceiling.iops)));
    numbers
}

/// Arrays: the write penalty shows as IOPS at the ceiling, or as reads of the members under pure writes.
fn array(this: &Observation, ceiling: Option<&Ceiling>, flat: Option<ProbeResult>) -> Option<Limit> {
    let facts = this.facts.as_ref()?;
    let raid = facts.machine.raid.as_ref()?;
    let mut numbers = base_evidence(this);
    let writes = this.step.workload.mix.write_pct > 0;
    if let Some(ceiling) = ceiling {
        numbers.push(Evidence::new(EvidenceName::ArrayCeiling, Quantity::iops(ceiling.iops)));
        if NEAR_ARRAY.contains(&(this.iops() / ceiling.iops)) && (writes || raid.card_iops.is_some()) {
            let cause = Cause::ArrayCeiling { ceiling: ceiling.clone(), iops: this.iops() };
            return Some(Limit::found(cause, flat.is_some(), numbers).with_probes(flat));
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
    Some(Limit::found(Cause::ArrayWrites { member_ios_per_write: ratio }, true, numbers).with_probes(flat))
}

/// Targets that give less each the more of them run, while their sum stays: they share the device that they lie on, or
/// something that is not described.
fn shared(all: &[Observation], this: &Observation) -> Option<Limit> {
    let fewer = probe::fewer_targets(all, this)?;
    let targets = this.step.targets.len() as u32;
    let total_gain = fewer.gain * f64::from(fewer.count) / f64::from(targets);
    if fewer.gain < SHARING || !SAME_TOTAL.contains(&total_gain) {
        return None;
    }
    let mut numbers = base_evidence(this);
    numbers.push(Evidence::new(EvidenceName::GainPerTarget { targets: fewer.count }, fewer.gain_quantity()));
    // Files on one disk share that disk before they share any link to it.
    let is_one_disk = this.host.as_ref().is_some_and(|h| h.disks.len() == 1);
    let cause = if is_one_disk { Cause::SharedDevice { targets } } else { Cause::SharedPart };
    Some(Limit::found(cause, false, numbers).with_probes([fewer_targets_result(fewer)]))
}
