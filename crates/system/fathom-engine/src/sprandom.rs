//! Places that bring a drive to the state of long random writes by writing its physical capacity once (fio's `sprandom`).
//!
//! In that state the erase blocks of a drive hold between all and few valid pages. Of blocks with a share v of valid pages
//! there are as many as 1/v says (Desnoyers, Analytic Models of SSD Write Performance, 2012), down to the share at which the
//! drive collects them, which follows from its spare capacity. So the physical capacity is written region by region, and of
//! each region so much is written again with the next one as makes the share of valid pages that of its place in the order.

use std::collections::VecDeque;

use fathom_plan::SpRandom;
use fathom_random::Rng;

use crate::permutation::Permutation;

/// Parts in which shares are drawn.
const SHARE_PARTS: u64 = 10_000;

/// The places of one pass after the other.
#[derive(Clone, Debug)]
pub(crate) struct SpRandomPlaces {
    /// Blocks that are written first, each once.
    fresh: Permutation,
    /// `[region]`: share to be written again, in [`SHARE_PARTS`].
    again_share: Box<[u64]>,
    region: usize,
    /// Blocks written for one region.
    region_blocks: u64,
    /// Fresh blocks that are left of the region.
    left: u64,
    /// Blocks of the region before to be written again.
    again: VecDeque<u64>,
    /// Blocks of this region to be written again with the next.
    later: VecDeque<u64>,
}

/// Bytes that a pass over `size_bytes` writes: with what the drive has to spare.
pub(crate) fn physical_bytes(size_bytes: u64, spare_ppm: u32, block_bytes: u64) -> u64 {
    let spare = (u128::from(size_bytes) * u128::from(spare_ppm)).div_ceil(1_000_000);
    let all = size_bytes.saturating_add(u64::try_from(spare).unwrap_or(u64::MAX));
    all - all % block_bytes.max(1)
}

impl SpRandomPlaces {
    /// Those among `blocks` blocks.
    pub(crate) fn new(spec: SpRandom, blocks: u64, seed: u64) -> Self {
        let regions = spec.regions.max(1) as usize;
        let region_blocks = (physical_bytes(blocks, spec.spare_ppm, 1) / regions as u64).max(1);
        let again = valid_shares(regions, f64::from(spec.spare_ppm) / 1e6).into_iter();
        SpRandomPlaces {
            fresh: Permutation::new(blocks, seed),
            again_share: again.map(|valid| ((1.0 - valid) * SHARE_PARTS as f64).round() as u64).collect(),
            region: 0,
            region_blocks,
            left: region_blocks,
            again: VecDeque::new(),
            later: VecDeque::new(),
        }
    }

    /// The next block; `None` at the end of the pass.
    pub(crate) fn next(&mut self, rng: &mut Rng) -> Option<u64> {
        let block = match self.again.pop_front() {
            Some(block) => block,
            None => {
                if self.left == 0 {
                    self.region += 1;
                    self.again_share.get(self.region)?;
                    std::mem::swap(&mut self.again, &mut self.later);
                    self.left = self.region_blocks.saturating_sub(self.again.len() as u64);
                    if let Some(block) = self.again.pop_front() {
                        return Some(self.written(block, rng));
                    }
                }
                self.left = self.left.saturating_sub(1);
                self.fresh.next()?
            }
        };
        Some(self.written(block, rng))
    }

    /// Decides whether the block is written once more with the next region.
    fn written(&mut self, block: u64, rng: &mut Rng) -> u64 {
        if rng.below(SHARE_PARTS + 1) <= self.again_share[self.region] {
            self.later.push_back(block);
        }
        block
    }

    /// Begins anew, in another order.
    pub(crate) fn next_pass(&mut self) {
        self.fresh.next_pass();
        (self.region, self.left) = (0, self.region_blocks);
        self.again.clear();
        self.later.clear();
    }
}

/// `[region]`: share of its pages that is valid in the end. The first regions hold least.
fn valid_shares(regions: usize, spare: f64) -> Vec<f64> {
    let amplification = 0.5 / spare + 0.7;
    let at_collection = 1.0 - 1.0 / amplification;
    // Points of the curve at equal steps of the share; as much of the drive lies before each as the sum of 1/share says.
    let step = (at_collection - 1.0) / (regions.max(2) - 1) as f64;
    let shares: Vec<f64> = (0..regions).map(|i| step.mul_add(i as f64, 1.0)).collect();
    let mut before = 0.0;
    let space: Vec<f64> = shares
        .iter()
        .map(|share| {
            before += 1.0 / share;
            before
        })
        .collect();
    // The same curve at equal steps of space.
    let (first, last) = (space[0], space[regions - 1]);
    let step = (last - first) / (regions.max(2) - 1) as f64;
    let mut even: Vec<f64> = (0..regions).map(|i| at(step.mul_add(i as f64, first), &space, &shares)).collect();
    even.reverse();
    even
}

/// The curve through (`xs`, `ys`) at `x`; outside that of the nearest end.
fn at(x: f64, xs: &[f64], ys: &[f64]) -> f64 {
    let above = xs.partition_point(|of| *of < x);
    match (above.checked_sub(1), ys.get(above)) {
        (None, _) => ys[0],
        (Some(below), None) => ys[below],
        (Some(below), Some(y)) => {
            let part = (x - xs[below]) / (xs[above] - xs[below]);
            part.mul_add(y - ys[below], ys[below])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop_assert, proptest};

    #[test]
    fn shares_rise_from_that_at_which_blocks_are_collected_to_all() {
        let shares = valid_shares(4, 0.15);
        assert!(shares.windows(2).all(|pair| pair[0] < pair[1]), "{shares:?}");
        let at_collection = 1.0 - 1.0 / (0.5 / 0.15 + 0.7);
        assert!((shares[0] - at_collection).abs() < 1e-9 && (shares[3] - 1.0).abs() < 1e-9, "{shares:?}");
    }

    proptest! {
        #[test]
        fn each_block_is_written_and_the_whole_is_the_physical_capacity(
            blocks in 5_000_u64..20_000, regions in 1_u32..60, spare_ppm in 70_000_u32..400_000, seed in 0_u64..1_000,
        ) {
            let mut places = SpRandomPlaces::new(SpRandom { regions, spare_ppm }, blocks, seed);
            let mut rng = Rng::new(seed, 1);
            for _ in 0..2 {
                let mut written = vec![0_u32; blocks as usize];
                let mut all = 0_u64;
                while let Some(block) = places.next(&mut rng) {
                    written[block as usize] += 1;
                    all += 1;
                }
                let physical = physical_bytes(blocks, spare_ppm, 1);
                // The shares are of a model and drawn: within a tenth of the spare, and of one region.
                let slack = (physical - blocks) / 3 + physical / u64::from(regions) + 200;
                prop_assert!(all <= physical + slack && all + slack >= physical, "{} of {}", all, physical);
                let missed = written.iter().filter(|n| **n == 0).count() as u64;
                prop_assert!(missed <= slack, "{} blocks of {} were not written", missed, blocks);
                places.next_pass();
            }
        }
    }
}
