//! A plan that several processes run at once, on one host or many: what each of them does with the targets.

use serde::{Deserialize, Serialize};

use crate::target::TargetId;

/// What stands in a target's name for the number of the rank.
const RANK_PLACE: &str = "{rank}";

/// Which part of the targets each rank has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum TargetsAre {
    /// Its own: a name with `{rank}` in it, a file of its own in a folder, or what its host has by that name.
    #[default]
    PerRank,
    /// Regions of targets that all have, cut without overlap.
    Partitioned,
    /// The whole of targets that all have.
    Shared,
}

impl TargetsAre {
    /// All of them.
    pub const ALL: [TargetsAre; 3] = [TargetsAre::PerRank, TargetsAre::Partitioned, TargetsAre::Shared];

    /// The word of the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            TargetsAre::PerRank => "per-rank",
            TargetsAre::Partitioned => "partitioned",
            TargetsAre::Shared => "shared",
        }
    }
}

/// The ranks that a plan is run by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RanksPlan {
    /// How many.
    pub count: u32,
    /// What each has of the targets.
    pub targets_are: TargetsAre,
}

/// The name that a target has for one rank.
#[must_use]
pub fn name_for_rank(target: &TargetId, rank: u32) -> String {
    target.as_str().replace(RANK_PLACE, &rank.to_string())
}

/// The region of one rank among `of` that share `size_bytes` from `offset_bytes` on: whole blocks, no two of them
/// overlapping. `None` where there are fewer blocks than ranks.
#[must_use]
pub fn region_of_rank(offset_bytes: u64, size_bytes: u64, block_bytes: u64, rank: u32, of: u32) -> Option<(u64, u64)> {
    let blocks = u128::from(size_bytes / block_bytes.max(1));
    let edge = |rank: u32| (blocks * u128::from(rank) / u128::from(of.max(1))) as u64 * block_bytes;
    let (from, to) = (edge(rank), edge(rank + 1));
    (to > from).then_some((offset_bytes + from, to - from))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_has_the_number_wherever_its_place_stands() {
        let target = TargetId::new("/mnt/{rank}/on-{rank}");
        assert_eq!(name_for_rank(&target, 12), "/mnt/12/on-12");
        assert_eq!(name_for_rank(&TargetId::new("/dev/nvme0n1"), 3), "/dev/nvme0n1");
    }

    proptest! {
        #[test]
        fn regions_follow_each_other_without_gap_or_overlap(
            offset in 0u64..1 << 40, blocks in 0u64..1 << 20, block in 1u64..1 << 22, of in 1u32..300,
        ) {
            let mut next = offset;
            for rank in 0..of {
                match region_of_rank(offset, blocks * block + block / 2, block, rank, of) {
                    Some((from, bytes)) => {
                        prop_assert_eq!(from, next);
                        prop_assert_eq!(bytes % block, 0);
                        next = from + bytes;
                    }
                    None => prop_assert!(blocks < u64::from(of)),
                }
            }
            prop_assert_eq!(next, offset + blocks * block);
        }
    }
}
