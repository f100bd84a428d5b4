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

/// The ranks that take part in a step where not all need; the others wait and are counted nowhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TakePart {
    /// How many were asked for.
    pub count: u32,
    /// Their numbers, rising. Empty until the hosts are known, and where there are fewer than asked for: then the step
    /// cannot be run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub ranks: Vec<u32>,
}

impl TakePart {
    /// So many, whichever they will be.
    #[must_use]
    pub fn of(count: u32) -> TakePart {
        TakePart { count, ranks: Vec::new() }
    }

    /// Whether that rank is one of them; before the hosts are known none is.
    #[must_use]
    pub fn has(&self, rank: u32) -> bool {
        self.ranks.binary_search(&rank).is_ok()
    }
}

/// So many ranks of those on `hosts`, the host of each by its number: one of each host, in the order of their first ranks,
/// then a second of each, and so on. Rising; empty where there are fewer.
#[must_use]
pub fn spread_over_hosts<H: PartialEq>(hosts: &[H], count: u32) -> Vec<u32> {
    let count = count as usize;
    if count > hosts.len() {
        return Vec::new();
    }
    let place = |rank: usize| {
        let before = hosts[..rank].iter().filter(|host| **host == hosts[rank]).count();
        let first = hosts.iter().position(|host| *host == hosts[rank]);
        (before, first, rank)
    };
    let mut places: Vec<_> = (0..hosts.len()).map(place).collect();
    places.sort_unstable();
    let mut chosen: Vec<u32> = places[..count].iter().map(|(.., rank)| *rank as u32).collect();
    chosen.sort_unstable();
    chosen
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

    #[test]
    fn hosts_are_filled_evenly() {
        // As `mpirun --map-by slot` places ranks: two hosts of three and one.
        let hosts = ["a", "a", "a", "b", "b", "c"];
        let chosen = |count| spread_over_hosts(&hosts, count);
        assert_eq!(chosen(1), [0]);
        assert_eq!(chosen(2), [0, 3]);
        assert_eq!(chosen(3), [0, 3, 5]);
        assert_eq!(chosen(4), [0, 1, 3, 5]);
        assert_eq!(chosen(5), [0, 1, 3, 4, 5]);
        assert_eq!(chosen(6), [0, 1, 2, 3, 4, 5]);
        assert_eq!(chosen(7), [0; 0], "there are six");
        assert_eq!(spread_over_hosts(&["a", "b", "a", "b"], 2), [0, 1]);
        let two = TakePart { count: 2, ranks: chosen(2) };
        assert!(two.has(0) && two.has(3) && !two.has(1) && !TakePart::of(2).has(0));
    }

    proptest! {
        #[test]
        fn each_host_has_as_many_as_the_others_while_it_has_ranks(hosts in prop::collection::vec(0u8..5, 1..40), part in 0.0..1.0f64) {
            let count = (hosts.len() as f64 * part) as u32 + 1;
            let chosen = spread_over_hosts(&hosts, count);
            prop_assert_eq!(chosen.len(), count as usize);
            prop_assert!(chosen.contains(&0) && chosen.windows(2).all(|pair| pair[0] < pair[1]));
            let of = |host: u8| chosen.iter().filter(|rank| hosts[**rank as usize] == host).count();
            let all = |host: u8| hosts.iter().filter(|other| **other == host).count();
            let most = hosts.iter().map(|host| of(*host)).max().unwrap_or(0);
            for host in &hosts {
                prop_assert!(of(*host) == all(*host) || of(*host) + 1 >= most);
            }
        }

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
