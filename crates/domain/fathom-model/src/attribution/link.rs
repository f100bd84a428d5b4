//! A drive's own link, or the drive behind it: a plateau at what the link carries does not tell them apart by itself.

use fathom_message::{Quantity, msg};

use super::cause::Cause;
use super::evidence::{Evidence, EvidenceName};
use super::facts::DriveFacts;
use super::limit::Limit;
use super::neighbour::ProbeResult;
use super::probe::{self, Neighbour};
use super::seen::Seen;
use super::{LimitName, Observation, help};
use crate::ceilings::Ceiling;

/// From this share on the arithmetic of the link, good to some percent, is met.
const MET: std::ops::RangeInclusive<f64> = 0.95..=1.05;
/// A drive whose rating lies this much above the link is not what holds it there; one below by as much is.
const RATED_APART: f64 = 1.1;
/// A link this much below what both ends could carry was not what the drive was made for.
const TRAINED_DOWN: f64 = 1.5;
/// The same drive on a faster link gives this much more.
const FASTER_HELPS: f64 = 1.15;
/// Logarithms of shares of the link's ceiling that count as the same.
const SAME_SHARE: f64 = 0.01;
/// How much better the shares of two block sizes must agree than their bytes, which a drive would hold the same.
const SHARES_OVER_BYTES: f64 = 0.015;

/// What the link may be said with where it was trained down, where its ceiling is met, and where it is only near.
const PROBABLE_TRAINED_DOWN: f64 = 0.85;
const PROBABLE_MET: f64 = 0.75;
const PROBABLE_NEAR: f64 = 0.5;

/// The limit of a step whose bytes are at what its drives' own links carry; `None` where the drive's rating says that it is
/// the drive. `flat`: a deeper queue that gave nothing.
pub(super) fn limit(
    all: &Seen<'_>,
    this: &Observation,
    ceiling: &Ceiling,
    mut numbers: Vec<Evidence>,
    flat: Option<ProbeResult>,
) -> Option<Limit> {
    let used_share = this.typical_iops() / ceiling.iops;
    let rated = rated_over_link(this, ceiling);
    if let Some(rated) = rated {
        numbers.push(Evidence::new(EvidenceName::RatedOverLink, Quantity::times(rated)));
    }
    if rated.is_some_and(|rated| rated * RATED_APART <= 1.0) {
        return None;
    }
    let is_met = MET.contains(&used_share);
    let shown = faster_link(all, this).or_else(|| other_block(all, this, used_share)).filter(|_| is_met);
    let is_rated_above = is_met && rated.is_some_and(|rated| rated >= RATED_APART);
    let bytes_per_s = this.bytes_per_s();
    if shown.is_some() || is_rated_above {
        let cause = Cause::AtCeiling { ceiling: ceiling.clone(), bytes_per_s, used_share };
        let is_sure = shown.is_some() || flat.is_some();
        return Some(Limit::found(cause, is_sure, numbers).with_probes(shown.or(flat)));
    }
    if is_met && rated.is_none() && drives(this).iter().any(is_trained_down) {
        let cause = Cause::AtCeiling { ceiling: ceiling.clone(), bytes_per_s, used_share };
        return Some(Limit::probable(cause, PROBABLE_TRAINED_DOWN, numbers).with_probes(flat));
    }
    let probability = if is_met { PROBABLE_MET } else { PROBABLE_NEAR };
    let cause = Cause::LinkOrDrive { ceiling: ceiling.clone(), bytes_per_s, used_share };
    let mut limit = Limit::probable(cause, probability, numbers).with_probes(flat);
    limit.would_help = vec![msg!("help-link-or-drive")];
    limit.would_help.extend(help::would_help(all, this, LimitName::Link));
    Some(limit)
}

fn drives(this: &Observation) -> &[DriveFacts] {
    this.facts.as_ref().map_or(&[], |facts| &facts.drives)
}

/// What the drives are rated at over what their links carry of this load; `None` where one is not rated.
fn rated_over_link(this: &Observation, ceiling: &Ceiling) -> Option<f64> {
    let shape = this.shape();
    let rated = |drive: &DriveFacts| {
        drive.rated.as_ref()?.bandwidth_iops(shape.read_share, shape.block_bytes, shape.sequential)
    };
    let slowest = drives(this).iter().map(rated).collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::min)?;
    Some(slowest * f64::from(shape.drives) / ceiling.iops)
}

fn carried(link: Option<crate::PcieLink>) -> f64 {
    link.map_or(0.0, crate::PcieLink::coded_bytes_per_s)
}

fn is_trained_down(drive: &DriveFacts) -> bool {
    drive.link.is_some() && carried(drive.link_possible) >= TRAINED_DOWN * carried(drive.link)
}

/// The same load on another drive of the same model, whose link is faster and that gave more.
fn faster_link(all: &Seen<'_>, this: &Observation) -> Option<ProbeResult> {
    let [own] = drives(this) else { return None };
    let is_faster = |o: &&Observation| match drives(o) {
        [other] => {
            own.model.is_some() && own.model == other.model && carried(other.link) >= FASTER_HELPS * carried(own.link)
        }
        _ => false,
    };
    let others = probe::other_targets(all, this).filter(is_faster).map(|o| Neighbour::of_iops(1, this, o));
    let best = others.filter(|n| n.gain >= FASTER_HELPS).max_by(|a, b| a.gain.total_cmp(&b.gain))?;
    Some(best.result(super::ProbeChange::FasterLink))
}

/// Another block size at the same share of what the link carries of it, where its bytes differ as the link's packets make
/// them differ and a drive's bandwidth would not.
fn other_block(all: &Seen<'_>, this: &Observation, used_share: f64) -> Option<ProbeResult> {
    let of = |o: &Observation| {
        let link = o.ceilings().iter().find(|c| c.name == LimitName::Link)?;
        let block_bytes = o.step.workload.block_bytes_max();
        let neighbour = Neighbour::of_bytes(block_bytes, this, o);
        let (by_share, by_bytes) = ((o.iops() / link.iops / used_share).ln().abs(), neighbour.gain.ln().abs());
        let is_clear = by_bytes >= by_share + SHARES_OVER_BYTES && by_bytes > neighbour.gain_rel_half_width;
        (by_share <= SAME_SHARE && is_clear).then(|| neighbour.result(super::ProbeChange::OtherBlock { block_bytes }))
    };
    probe::other_blocks(all, this).find_map(of)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fathom_language::english;

    use super::super::tests::{facts, observed};
    use super::super::{Confidence, StepFacts, attribute};
    use super::*;
    use crate::closed::OpModel;
    use crate::{DeviceModel, PcieLink};

    /// 244 MB/s after packets: 52 000 blocks of 4 KiB.
    const SLOW: fn() -> PcieLink = || PcieLink::new(1, 1);

    fn on_link(change: impl Fn(&mut StepFacts)) -> StepFacts {
        let mut facts = facts();
        facts.machine.links = vec![SLOW()];
        facts.drives[0].link = Some(SLOW());
        facts.drives[0].link_possible = Some(SLOW());
        facts.drives[0].model = Some("a model".into());
        change(&mut facts);
        facts
    }

    fn step(facts: &StepFacts, depth: u32, ios: u64) -> Observation {
        let (step, record) = observed(1, depth, ios, 0.3);
        let mut seen = Observation::of(&step, &record).on(Arc::new(facts.clone()));
        seen.iops_rel_half_width = Some(0.002);
        seen
    }

    /// A flat ladder at so many 4k reads, and what is beside it.
    fn limit_of(facts: &StepFacts, ios: u64, beside: Vec<Observation>) -> Limit {
        let mut all: Vec<Observation> = [16, 32, 128].map(|depth| step(facts, depth, ios)).into();
        all.extend(beside);
        attribute(&all, 0)
    }

    fn rated(bytes_per_s: f64) -> DeviceModel {
        let read = OpModel { units: 1e3, unit_ns: 50_000.0, stage_ns: 100.0, fixed_ns: 10_000.0 };
        let (write, write_bytes_per_s, link) = (None, None, None);
        let (name, assumed) = ("a model".into(), Vec::new());
        DeviceModel {
            name,
            read,
            write,
            read_bytes_per_s: Some(bytes_per_s),
            write_bytes_per_s,
            random_write_bytes_per_s: None,
            link,
            assumed,
            sheet: None,
        }
    }

    #[test]
    fn a_flat_ladder_at_what_the_link_carries_may_be_the_drive_as_well() {
        let limit = limit_of(&on_link(|_| ()), 51_000, Vec::new());
        assert_eq!((limit.name, limit.confidence), (LimitName::Link, Confidence::Likely));
        let said = english(&limit.sentence());
        assert!(said.starts_with("The drive's PCIe link, or the drive itself, is the limit (74 %)"), "{said}");
        assert_eq!(limit.would_help[0].id(), "help-link-or-drive");
        // Further below the link's ceiling the drive is more probable.
        assert_eq!(limit_of(&on_link(|_| ()), 48_000, Vec::new()).name, LimitName::Device);
    }

    #[test]
    fn the_rating_of_the_drive_tells_them_apart() {
        let of = |rate: f64| limit_of(&on_link(|f| f.drives[0].rated = Some(rated(rate))), 51_000, Vec::new());
        let far = of(3e9);
        assert_eq!((far.name, far.confidence), (LimitName::Link, Confidence::Confirmed), "{}", far.sentence());
        assert!(matches!(far.cause, Cause::AtCeiling { .. }));
        assert!(matches!(of(215e6).cause, Cause::LinkOrDrive { .. }), "{}", of(215e6).sentence());
        assert_eq!(of(190e6).name, LimitName::Device);
    }

    #[test]
    fn a_link_that_was_trained_down_is_probable_and_no_more() {
        let limit = limit_of(&on_link(|f| f.drives[0].link_possible = Some(PcieLink::new(3, 4))), 51_000, Vec::new());
        assert!(matches!(limit.cause, Cause::AtCeiling { .. }), "{}", limit.sentence());
        assert!(limit.probability.is_some_and(|p| (0.8..0.9).contains(&p)), "{:?}", limit.probability);
    }

    #[test]
    fn a_drive_of_the_same_model_that_gives_more_on_a_faster_link_shows_it() {
        let faster = |model: &str, ios: u64| {
            let model = Some(model.to_owned());
            let mut o = step(
                &on_link(|f| (f.drives[0].link, f.drives[0].model) = (Some(PcieLink::new(3, 4)), model.clone())),
                16,
                ios,
            );
            o.step.targets = vec![fathom_plan::TargetId::new("/dev/other")];
            limit_of(&on_link(|_| ()), 51_000, vec![o])
        };
        let shown = faster("a model", 90_000);
        assert_eq!((shown.name, shown.confidence), (LimitName::Link, Confidence::Confirmed), "{}", shown.sentence());
        assert!(
            english(&shown.sentence()).contains("The same model on a faster link gave 1.76x the IOPS."),
            "{}",
            shown.sentence()
        );
        assert!(matches!(faster("a model", 51_000).cause, Cause::LinkOrDrive { .. }), "no more there: not the link");
        assert!(matches!(faster("another", 90_000).cause, Cause::LinkOrDrive { .. }));
    }

    /// Blocks of 512 bytes carry more overhead: at a full link they move fewer bytes, by a drive's bandwidth as many.
    #[test]
    fn another_block_size_shows_the_link_where_its_packets_and_not_its_bytes_are_the_same() {
        let small = |share_of_link: f64| {
            let facts = on_link(|_| ());
            let ios = (SLOW().read_iops(512.0) * share_of_link) as u64;
            let (mut step, mut record) = observed(1, 64, ios, 0.3);
            step.workload.block_sizes[0].bytes = 512;
            record.directions[0].bytes = ios * 512;
            let mut o = Observation::of(&step, &record).on(Arc::new(facts.clone()));
            o.iops_rel_half_width = Some(0.002);
            limit_of(&facts, 51_000, vec![o])
        };
        let used = 51_000.0 / SLOW().read_iops(4096.0);
        let shown = small(used);
        assert_eq!((shown.name, shown.confidence), (LimitName::Link, Confidence::Confirmed), "{}", shown.sentence());
        let same_bytes = used * SLOW().read_iops(4096.0) * 8.0 / SLOW().read_iops(512.0);
        assert!(matches!(small(same_bytes.min(1.0)).cause, Cause::LinkOrDrive { .. }));
    }
}
