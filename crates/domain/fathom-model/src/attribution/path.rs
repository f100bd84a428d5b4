//! What lies between the CPUs and the media as the limit: memory, links, shared links, the array.

use fathom_units::{format_iops, format_rate};

use super::probe::{self, DEPTH_HELPS_PER_DOUBLING, DEPTH_USELESS_PER_DOUBLING};
use super::{Limit, LimitName, Observation, base_evidence, evidence, found};
use crate::ceilings::Ceiling;

/// A part used this much is at its limit; packet overhead is known to a few percent.
const AT_CEILING: f64 = 0.90;
/// Array arithmetic rests on the members' ratings, which drives miss or beat by this much.
const NEAR_ARRAY: std::ops::RangeInclusive<f64> = 0.75..=1.30;
/// Per drive, fewer drives that give this much more show something shared.
const SHARING: f64 = 1.15;

pub(super) fn limit(all: &[Observation], this: &Observation) -> Option<Limit> {
    // A deeper queue that still helps shows that nothing on the way is full.
    let deeper = probe::depth(all, this, true);
    if deeper.is_some_and(|d| d.per_doubling(this.in_flight()) >= DEPTH_HELPS_PER_DOUBLING) {
        return None;
    }
    let ceilings = this.ceilings();
    let lowest_of = |name: LimitName| ceilings.iter().find(|c| c.name == name);
    let full = |name: LimitName| lowest_of(name).filter(|c| this.iops() >= AT_CEILING * c.iops);
    let flat = deeper.is_some_and(|d| d.per_doubling(this.in_flight()) <= DEPTH_USELESS_PER_DOUBLING);
    // Of several that are full the fullest is the claim.
    let mut claims: Vec<&Ceiling> =
        [LimitName::Link, LimitName::Uplink, LimitName::Memory].into_iter().filter_map(full).collect();
    claims.sort_by(|a, b| a.iops.total_cmp(&b.iops));
    if let Some(ceiling) = claims.first() {
        return Some(at_ceiling(all, this, ceiling, flat));
    }
    array(this, lowest_of(LimitName::Raid), flat).or_else(|| shared(all, this))
}

fn at_ceiling(all: &[Observation], this: &Observation, ceiling: &Ceiling, flat: bool) -> Limit {
    let used = this.iops() / ceiling.iops;
    let mut numbers = base_evidence(this);
    numbers.push(evidence("ceiling", ceiling.iops, "iops"));
    numbers.push(evidence("used share of the ceiling", used * 100.0, "%"));
    let (part, probe) = match ceiling.name {
        LimitName::Uplink => {
            let alone = probe::fewer_drives(all, this).filter(|n| n.gain >= SHARING);
            let text = alone.map(|n| format!(" {} drives alone gave {:.2} times as much each.", n.count, n.gain));
            ("The shared link", text)
        }
        LimitName::Link => {
            let other = probe::same_bandwidth(all, this);
            let text = other.map(|(bs, ratio)| {
                format!(" Blocks of {} moved {ratio:.2} times the bytes.", fathom_units::format_block(u64::from(bs)))
            });
            ("The PCIe link", text)
        }
        _ => ("Memory bandwidth", None),
    };
    let confirmed = probe.is_some() || flat;
    let sentence = format!(
        "{part} is the limit: {} of data are {:.0} % of what it carries ({}).{}",
        format_rate(this.bytes_per_s()),
        used * 100.0,
        ceiling.sentence,
        probe.unwrap_or_default()
    );
    found(ceiling.name, confirmed, sentence, numbers)
}

/// Arrays: the write penalty shows as IOPS at the term, or as reads of the members under pure writes.
fn array(this: &Observation, term: Option<&Ceiling>, flat: bool) -> Option<Limit> {
    let facts = this.facts.as_ref()?;
    let raid = facts.machine.raid.as_ref()?;
    let mut numbers = base_evidence(this);
    let writes = this.step.workload.mix.write_pct > 0;
    if let Some(term) = term {
        let used = this.iops() / term.iops;
        numbers.push(evidence("array term", term.iops, "iops"));
        if NEAR_ARRAY.contains(&used) && (writes || raid.card_iops.is_some()) {
            let sentence = format!(
                "The array is the limit: {} IOPS are {:.0} % of its term ({}).",
                format_iops(this.iops()),
                used * 100.0,
                term.sentence
            );
            return Some(found(LimitName::Raid, flat, sentence, numbers));
        }
    }
    let host = this.host.as_ref()?;
    let reads: u64 = host.disks.iter().map(|d| d.read_ios).sum();
    let ratio = host.disks.iter().map(|d| d.read_ios + d.write_ios).sum::<u64>() as f64 / this.ios as f64;
    let pure_write = this.step.workload.mix.write_pct == 100;
    if flat && pure_write && ratio >= 1.5 {
        numbers.push(evidence("member I/Os per write", ratio, "ios"));
        numbers.push(evidence("member reads under pure writes", reads as f64, "ios"));
        let sentence = format!("The array is the limit: each write costs {ratio:.1} I/Os of its members.");
        return Some(found(LimitName::Raid, true, sentence, numbers));
    }
    None
}

/// Targets that give less each the more of them run, while their sum stays: they share the device that they lie on, or
/// something that is not described.
fn shared(all: &[Observation], this: &Observation) -> Option<Limit> {
    let alone = probe::fewer_drives(all, this)?;
    let total_gain = alone.gain * f64::from(alone.count) / this.step.targets.len() as f64;
    if alone.gain < SHARING || !(0.93..=1.07).contains(&total_gain) {
        return None;
    }
    let mut numbers = base_evidence(this);
    numbers.push(evidence(&format!("IOPS per drive with {} drives against this", alone.count), alone.gain, "x"));
    // Files on one disk share that disk before they share any link to it.
    if this.host.as_ref().is_some_and(|h| h.disks.len() == 1) {
        let sentence = format!(
            "The device is the limit: all {} targets lie on it, and it gives as much with {} of them.",
            this.step.targets.len(),
            alone.count
        );
        return Some(found(LimitName::Device, false, sentence, numbers));
    }
    let sentence = format!(
        "Something the drives share is the limit: {} of them give {:.2} times as much each, and as much in sum.",
        alone.count, alone.gain
    );
    Some(found(LimitName::Uplink, false, sentence, numbers))
}
