//! Drives at their rated IOPS: the device is the probable limit where no neighbouring step decides.

use super::Observation;
use super::cause::Cause;
use super::evidence::base_evidence;
use super::facts::DriveFacts;
use super::limit::Limit;

/// Shares of the rated IOPS at which drives are at their rating. Drives that exceed their ratings have other ceilings.
const AT_RATING: std::ops::RangeInclusive<f64> = 0.95..=1.10;
/// Probability that drives at their rating are the limit, and not another part that happens to be full there.
const PROBABILITY: f64 = 0.8;

/// The device, where the drives of a step are at their rating.
pub(super) fn limit(this: &Observation) -> Option<Limit> {
    let rated = rated_iops(this)?;
    let share = this.iops() / rated;
    let cause = Cause::AtRating { rated_iops: rated, share };
    AT_RATING.contains(&share).then(|| Limit::probable(cause, PROBABILITY, base_evidence(this)))
}

/// Rated IOPS of all drives together. `None` if a drive is unknown, and for arrays: their drives see different I/Os.
fn rated_iops(this: &Observation) -> Option<f64> {
    let facts = this.facts.as_ref().filter(|facts| facts.machine.raid.is_none() && !facts.drives.is_empty())?;
    let shape = this.shape();
    let of_drive = |drive: &DriveFacts| {
        let rated = drive.rated.as_ref()?;
        let commands = rated.command_iops(shape.read_share)?;
        let bandwidth = rated.bandwidth_iops(shape.read_share, shape.block_bytes, shape.sequential);
        Some(bandwidth.map_or(commands, |bandwidth| commands.min(bandwidth)))
    };
    // I/Os are spread evenly, so that the slowest drive decides.
    let each = facts.drives.iter().map(of_drive).collect::<Option<Vec<f64>>>()?;
    Some(each.len() as f64 * each.into_iter().fold(f64::INFINITY, f64::min))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fathom_language::english;

    use super::super::tests::{facts, observed};
    use super::super::{LimitName, attribute};
    use super::*;
    use crate::{Catalogue, DeviceModel};

    #[test]
    fn a_single_step_at_the_rating_of_its_drive_is_held_by_the_drive() {
        let mut of_drive = facts();
        let rated =
            DeviceModel::of(Catalogue::embedded().device("p4800x-375").expect("is there")).expect("has ratings");
        let most = rated.command_iops(1.0).expect("reads are rated");
        of_drive.drives[0].rated = Some(rated);
        let of_drive = Arc::new(of_drive);
        let limit = |share: f64| {
            let (step, record) = observed(4, 32, (share * most) as u64, 0.3);
            attribute(&[Observation::of(&step, &record).on(of_drive.clone())], 0)
        };
        let at_rating = limit(1.0);
        assert_eq!(at_rating.name, LimitName::Device);
        let said = english(&at_rating.sentence());
        assert!(said.contains("limit (7") && said.contains(" of its rated "), "{said}");
        assert_eq!((limit(0.8).name, limit(1.2).name), (LimitName::Unknown, LimitName::Unknown));
    }
}
