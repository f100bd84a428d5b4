//! Writes into space that a file does not have yet: the file system finds it, notes it in its journal and lets no other
//! write into the file meanwhile, however many are in flight.

use fathom_message::Quantity;

use super::Observation;
use super::cause::Cause;
use super::evidence::{Evidence, EvidenceName, base_evidence};
use super::posterior::Candidate;

/// From this share of the written bytes on, space was given for most writes.
const MOST: f64 = 0.5;
/// How many times as probable as the device the file system is then: `make truth` builds such a file.
const WEIGHT: f64 = 15.0;

/// The file system, where most of what the step wrote had no space.
pub(super) fn candidate(this: &Observation) -> Option<Candidate> {
    let given = this.host.as_ref()?.allocated_bytes?;
    let written = this.bytes as f64 * f64::from(this.step.workload.mix.write_pct) / 100.0;
    // Space was given before the window too, while the device warmed up.
    let share = (given as f64 / written.max(1.0)).min(1.0);
    if written <= 0.0 || share < MOST {
        return None;
    }
    let mut numbers = base_evidence(this);
    numbers.push(Evidence::new(EvidenceName::AllocatedShare, Quantity::share(share)));
    Some(Candidate::part(Cause::Allocation { share }, WEIGHT, numbers))
}
