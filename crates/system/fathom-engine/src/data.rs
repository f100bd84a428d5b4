//! Content of written blocks: incompressible and unique unless asked otherwise.

use fathom_plan::DataPattern;
use fathom_random::Rng;

use crate::buffer::Area;

/// Unit of the compressibility and dedupe shares.
pub(crate) const CHUNK_BYTES: usize = 4096;
/// Unit of uniqueness: the smallest block a device deduplicates.
const SECTOR_BYTES: usize = 512;
/// Number of different chunks that repeated content is taken from.
const FIXED_CHUNKS: usize = 16;

/// Makes the content of writes. Buffers are filled once; a write then only changes 16 bytes per sector.
pub(crate) struct Content {
    pattern: DataPattern,
    /// Whether only 16 bytes per sector change from write to write.
    is_plain: bool,
    /// Bytes that all data repeats; empty: none.
    repeated: Vec<u8>,
    /// Bytes at the start of each chunk that do not compress.
    random_bytes: usize,
    fixed: Vec<u8>,
    /// First half of every stamp: differs between threads and steps.
    stamp_high: u64,
    stamp_low: u64,
}

impl Content {
    /// Content after `pattern`, or `repeated` over and over where that is not empty, for the worker that `rng` belongs to. `seed` is that of the step: the repeated chunks
    /// are the same in all threads.
    pub(crate) fn new(pattern: DataPattern, repeated: &[u8], seed: u64, rng: &mut Rng) -> Self {
        let compressed = CHUNK_BYTES * usize::from(pattern.compress_pct.min(100)) / 100;
        let random_bytes = CHUNK_BYTES - compressed;
        let mut fixed = Vec::new();
        if pattern.dedupe_pct > 0 {
            fixed = vec![0; FIXED_CHUNKS * CHUNK_BYTES];
            let mut common = Rng::new(seed, u64::MAX);
            for chunk in fixed.chunks_mut(CHUNK_BYTES) {
                common.fill(&mut chunk[..random_bytes]);
            }
        }
        let is_plain = repeated.is_empty() && pattern.dedupe_pct == 0 && random_bytes == CHUNK_BYTES;
        Content {
            pattern,
            is_plain,
            repeated: repeated.to_vec(),
            random_bytes,
            fixed,
            stamp_high: rng.next_u64(),
            stamp_low: 0,
        }
    }

    /// Fills the buffers of all slots once.
    pub(crate) fn fill(&self, area: &mut Area, slots: u32, rng: &mut Rng) {
        for slot in 0..slots {
            let slot_bytes = area.slot_bytes();
            for chunk in area.bytes_mut(slot, slot_bytes).chunks_mut(CHUNK_BYTES) {
                let random = self.random_bytes_of(chunk.len());
                rng.fill(&mut chunk[..random]);
            }
        }
    }

    /// A chunk shorter than [`CHUNK_BYTES`] keeps the share.
    fn random_bytes_of(&self, chunk_bytes: usize) -> usize {
        self.random_bytes * chunk_bytes / CHUNK_BYTES
    }

    /// Makes the content of `block` new: unique in every sector, or a repeated chunk by the dedupe share.
    #[inline(always)]
    pub(crate) fn renew(&mut self, block: &mut [u8], rng: &mut Rng) {
        if self.is_plain {
            for sector in block.chunks_exact_mut(SECTOR_BYTES) {
                self.stamp(sector);
            }
            return;
        }
        self.renew_shaped(block, rng);
    }

    #[inline(always)]
    fn stamp(&mut self, sector: &mut [u8]) {
        self.stamp_low = self.stamp_low.wrapping_add(1);
        sector[..8].copy_from_slice(&self.stamp_high.to_le_bytes());
        sector[8..16].copy_from_slice(&self.stamp_low.to_le_bytes());
    }

    fn renew_shaped(&mut self, block: &mut [u8], rng: &mut Rng) {
        if !self.repeated.is_empty() {
            for part in block.chunks_mut(self.repeated.len()) {
                part.copy_from_slice(&self.repeated[..part.len()]);
            }
            return;
        }
        for chunk in block.chunks_mut(CHUNK_BYTES) {
            let random = self.random_bytes_of(chunk.len());
            if self.pattern.dedupe_pct > 0 && rng.below(100) < u64::from(self.pattern.dedupe_pct) {
                let from = rng.below(FIXED_CHUNKS as u64) as usize * CHUNK_BYTES;
                chunk[..random].copy_from_slice(&self.fixed[from..from + random]);
                continue;
            }
            // The zeros that make the chunk compressible stay zeros; a chunk of zeros only cannot be made unique.
            let stamped = random.div_ceil(SECTOR_BYTES) * SECTOR_BYTES;
            if random >= 16 {
                for sector in chunk[..stamped.min(random)].chunks_mut(SECTOR_BYTES).filter(|s| s.len() >= 16) {
                    self.stamp(sector);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Content of `blocks` successive writes through one slot.
    fn written(pattern: DataPattern, block_bytes: usize, blocks: usize) -> Vec<u8> {
        let mut rng = Rng::new(9, 0);
        let mut content = Content::new(pattern, &[], 9, &mut rng);
        let mut area = Area::new(1, block_bytes).expect("memory");
        content.fill(&mut area, 1, &mut rng);
        let mut all = Vec::new();
        for _ in 0..blocks {
            let block = area.bytes_mut(0, block_bytes);
            content.renew(block, &mut rng);
            all.extend_from_slice(block);
        }
        all
    }

    fn share_of_zeros_pct(bytes: &[u8]) -> usize {
        bytes.iter().filter(|&&b| b == 0).count() * 100 / bytes.len()
    }

    #[test]
    fn no_sector_repeats_by_default() {
        let bytes = written(DataPattern { compress_pct: 0, dedupe_pct: 0 }, 8192, 500);
        let mut seen = std::collections::BTreeSet::new();
        assert!(bytes.chunks(512).all(|sector| seen.insert(sector.to_vec())));
        assert!(share_of_zeros_pct(&bytes) <= 2);
    }

    #[test]
    fn the_asked_share_of_every_chunk_compresses() {
        for compress_pct in [0_u8, 25, 50, 75, 100] {
            for block_bytes in [512, 4096, 65_536] {
                let bytes = written(DataPattern { compress_pct, dedupe_pct: 0 }, block_bytes, 20);
                let zeros = share_of_zeros_pct(&bytes);
                let asked = usize::from(compress_pct);
                assert!((asked..=asked + 2).contains(&zeros), "{zeros} % zeros for {asked} % in {block_bytes} B");
            }
        }
    }

    #[test]
    fn bytes_that_are_given_are_repeated_from_the_start_of_every_block() {
        let mut rng = Rng::new(9, 0);
        let mut content = Content::new(DataPattern { compress_pct: 0, dedupe_pct: 0 }, &[1, 2, 3], 9, &mut rng);
        let mut block = [9; 10];
        content.renew(&mut block, &mut rng);
        assert_eq!(block, [1, 2, 3, 1, 2, 3, 1, 2, 3, 1]);
    }

    #[test]
    fn the_asked_share_of_chunks_repeats() {
        let bytes = written(DataPattern { compress_pct: 0, dedupe_pct: 40 }, 16_384, 2_000);
        let mut count_by_chunk: BTreeMap<&[u8], u32> = BTreeMap::new();
        for chunk in bytes.chunks(4096) {
            *count_by_chunk.entry(chunk).or_default() += 1;
        }
        let repeated: u32 = count_by_chunk.values().filter(|&&n| n > 1).sum();
        assert!((3_000..3_400).contains(&repeated), "{repeated} of 8000 chunks repeat, 3200 expected");
        assert_eq!(count_by_chunk.values().filter(|&&n| n > 1).count(), 16);
    }
}
