//! What one rank of several has of the targets: its own names, its own files, its own region.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use fathom_host::{Binding, FileMark, TargetKind};
use fathom_plan::{Plan, Step, TargetId, TargetsAre, name_for_rank, region_of_rank};

use super::TargetError;
use super::bind::{Seen, bytes_of_target, capacity_bytes};
use super::real::RealSite;
use crate::ranks::WrittenDrive;

/// The rank that a site is for.
#[derive(Debug, Default)]
pub(super) struct RankShare {
    pub(super) rank: u32,
    /// Of how many; 0 until a plan was looked at.
    of: u32,
    targets_are: TargetsAre,
    /// Block devices that the plan writes.
    written: Vec<WrittenDrive>,
}

impl RankShare {
    /// Its place among the ranks that take part in the step, and how many these are; `None`: it is none of them.
    fn place_in(&self, step: &Step) -> Option<(u32, u32)> {
        let Some(parts) = &step.role.ranks else { return Some((self.rank, self.of)) };
        let at = parts.ranks.iter().position(|rank| *rank == self.rank)?;
        Some((at as u32, parts.ranks.len() as u32))
    }
}

impl RealSite {
    /// This site as that of a rank.
    pub(crate) fn of_rank(mut self, rank: u32) -> RealSite {
        self.share = Some(RankShare { rank, ..RankShare::default() });
        self
    }

    /// Marks of the lab's own files, and of those that nobody needs.
    pub(crate) fn marks(&self) -> (Vec<FileMark>, Vec<FileMark>) {
        (self.permission.own.iter().copied().collect(), self.permission.abandoned.iter().copied().collect())
    }

    /// Takes the marks of a lab that is elsewhere.
    pub(crate) fn permit(&mut self, own: Vec<FileMark>, abandoned: Vec<FileMark>) {
        self.permission.own.extend(own);
        self.permission.abandoned.extend(abandoned);
    }

    /// Block devices that the plan of the last look writes, as far as they say who they are.
    pub(crate) fn written(&self) -> &[WrittenDrive] {
        self.share.as_ref().map_or(&[], |share| &share.written)
    }

    /// The name of a target for this rank.
    pub(super) fn own_path(&self, target: &TargetId, path: PathBuf) -> PathBuf {
        match &self.share {
            Some(share) if path.as_os_str() == target.as_str() => PathBuf::from(name_for_rank(target, share.rank)),
            _ => path,
        }
    }

    /// The file that this rank makes in a folder that other ranks may see, too.
    pub(super) fn own_file(&self, path: PathBuf) -> PathBuf {
        let Some(share) = self.share.as_ref().filter(|_| path.is_dir()) else { return path };
        let own = path.join(format!("fathom-test-rank{}.data", share.rank));
        // While that is another's, any name that is free.
        if std::fs::symlink_metadata(&own).is_ok() { path } else { own }
    }

    /// Takes note of how the plan shares targets out, and judges it by what they are: `seen`.
    ///
    /// # Errors
    /// [`TargetError::NotShared`], [`TargetError::SharedWrite`], [`TargetError::SharedRebuild`].
    pub(super) fn note_share(&mut self, plan: &Plan, seen: &BTreeMap<TargetId, Seen>) -> Result<(), TargetError> {
        let (Some(share), Some(ranks)) = (&mut self.share, plan.ranks) else { return Ok(()) };
        (share.of, share.targets_are) = (ranks.count, ranks.targets_are);
        let written: BTreeSet<TargetId> = plan.steps.iter().flat_map(Step::written).collect();
        // Ranks know nothing of each other's rebuilds, and regions of their own do not keep them apart.
        let is_rebuilt = |target: &&TargetId| matches!(target.array(), Some(Ok(array)) if array.rebuild().is_some());
        let mut targets = plan.steps.iter().flat_map(|step| &step.targets);
        if ranks.count > 1
            && ranks.targets_are != TargetsAre::PerRank
            && let Some(array) = targets.find(is_rebuilt)
        {
            return Err(TargetError::SharedRebuild { target: array.clone() });
        }
        share.written.clear();
        for (target, seen) in seen {
            match seen {
                Seen::ToMake { .. } if ranks.targets_are != TargetsAre::PerRank => {
                    return Err(TargetError::NotShared { target: target.clone() });
                }
                Seen::There(binding) if binding.kind() != TargetKind::File && written.contains(target) => {
                    if ranks.targets_are == TargetsAre::Shared && ranks.count > 1 {
                        return Err(TargetError::SharedWrite { target: target.clone() });
                    }
                    share.written.extend(written_drive(binding));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The plan with every region in bytes, where ranks cut regions.
    ///
    /// # Errors
    /// A target cannot be opened to be read.
    pub(super) fn with_whole_regions(
        &self,
        mut plan: Plan,
        seen: &BTreeMap<TargetId, Seen>,
    ) -> Result<Plan, TargetError> {
        if plan.ranks.is_none_or(|ranks| ranks.targets_are != TargetsAre::Partitioned) {
            return Ok(plan);
        }
        let bytes_of = |target: &TargetId| match seen.get(target) {
            Some(Seen::There(binding)) => capacity_bytes(binding).map(|bytes| (bytes, false)),
            _ => Ok((u64::MAX, false)),
        };
        for step in plan.steps.iter_mut().filter(|step| step.opens_targets()) {
            let held = step.targets.iter().map(|target| Ok(bytes_of_target(target, &bytes_of)?.0));
            let smallest = held.collect::<Result<Vec<u64>, TargetError>>()?.into_iter().min();
            let region = &mut step.workload.region;
            region.size_bytes = region.size_bytes.or(smallest.map(|bytes| bytes.saturating_sub(region.offset_bytes)));
        }
        Ok(plan)
    }

    /// The step as this rank runs it; `None` where its part of the region has no block.
    pub(super) fn own_step(&self, step: &Step) -> Option<Step> {
        let mut step = step.clone();
        let (Some(share), Some(size_bytes)) = (&self.share, step.workload.region.size_bytes) else { return Some(step) };
        if share.targets_are == TargetsAre::Partitioned && step.opens_targets() {
            let (block, offset) = (u64::from(step.workload.block_bytes_max()), step.workload.region.offset_bytes);
            let (rank, of) = share.place_in(&step)?;
            let (offset, size) = region_of_rank(offset, size_bytes, block, rank, of)?;
            (step.workload.region.offset_bytes, step.workload.region.size_bytes) = (offset, Some(size));
        }
        Some(step)
    }
}

/// A block device by what it is from wherever it is seen; `None` where it does not say.
fn written_drive(binding: &Binding) -> Option<WrittenDrive> {
    let device = binding.device()?;
    let serial = device.serial.clone().filter(|serial| !serial.is_empty())?;
    let (size_bytes, partition) = (device.size_bytes, device.partition.clone());
    Some(WrittenDrive { path: binding.path().display().to_string(), serial, size_bytes, partition })
}
