//! Memory bandwidth: cores that wait for memory count as busy, so that it is asked before them.

use fathom_message::Quantity;

use super::cause::Cause;
use super::evidence::{Evidence, EvidenceName, base_evidence};
use super::limit::Limit;
use super::seen::Seen;
use super::{LimitName, Observation, cpu, depth};

/// From this share of what memory was measured to move it is at its limit.
const AT_CEILING: f64 = 0.9;
/// What a short measurement of the whole machine may be off by.
const MEASURED_TO: f64 = 1.3;

pub(super) fn limit(all: &Seen<'_>, this: &Observation) -> Option<Limit> {
    let ceilings = this.ceilings();
    let ceiling = ceilings.iter().find(|c| c.name == LimitName::Memory)?;
    let used_share = this.iops() / ceiling.iops;
    let rises = depth::plateau_probability(all, this).is_some_and(|plateau| plateau < 0.5);
    // A link or a rated device below memory would have been full before.
    let is_lowest = !ceilings.iter().any(|c| c.bytes_per_s.is_some() && c.iops < ceiling.iops);
    if rises || !is_lowest || !(AT_CEILING..=MEASURED_TO).contains(&used_share) {
        return None;
    }
    let mut numbers = base_evidence(this);
    numbers.push(Evidence::new(EvidenceName::Ceiling, Quantity::iops(ceiling.iops)));
    numbers.push(Evidence::new(EvidenceName::CeilingUsed, Quantity::share(used_share)));
    let flat = depth::flat(all, this);
    let cause = Cause::AtCeiling { ceiling: ceiling.clone(), bytes_per_s: this.bytes_per_s(), used_share };
    // Cores that copy are full at this rate as well: it is what they copied when memory was measured.
    let are_cores_full = cpu::is_held_by_threads(this) || this.host.as_ref().is_some_and(cpu::fills_the_host);
    Some(Limit::found(cause, flat.is_some() && !are_cores_full, numbers).with_probes(flat))
}
