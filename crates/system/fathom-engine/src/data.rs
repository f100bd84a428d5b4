//! Content of written blocks: incompressible and unique unless asked otherwise.

use fathom_plan::{DataPattern, Repeats};
use fathom_random::Rng;

use crate::buffer::Area;

/// Unit of the compressibility and dedupe shares.
pub(crate) const CHUNK_BYTES: usize = 4096;
/// Unit of uniqueness: the smallest block a device deduplicates.
const SECTOR_BYTES: usize = 512;
/// Number of different chunks that repeated content is taken from.
const FIXED_CHUNKS: usize = 16;
/// What repeats in the data of all loads at once is made of this, whatever their seeds are.
const SHARED_SEED: u64 = 0x7368_6172_6564;

/// Chunks that repeat: all of one content but for the numbers in their sectors, so that none has to be kept.
#[derive(Clone, Copy, Debug)]
struct WorkingSet {
    chunks: u64,
    /// First half of their stamps: that of the thread, or of all.
    stamp_high: u64,
}

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
    /// Where repeated chunks are those of a working set.
    set: Option<WorkingSet>,
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
            let is_shared = matches!(pattern.repeats, Repeats::WorkingSet { is_shared: true, .. });
            let mut common = Rng::new(if is_shared { SHARED_SEED } else { seed }, u64::MAX);
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
            set: None,
            stamp_high: rng.next_u64(),
            stamp_low: 0,
        }
    }

    /// The same of a thread that works on so many bytes: what repeats may be a share of them.
    pub(crate) fn over(self, region_bytes: u64) -> Self {
        let Repeats::WorkingSet { region_pct, is_shared } = self.pattern.repeats else { return self };
        let bytes = u128::from(region_bytes) * u128::from(region_pct) / 100;
        let chunks = (bytes as u64 / CHUNK_BYTES as u64).max(1);
        // None of those that are written once.
        let stamp_high = if is_shared { SHARED_SEED } else { !self.stamp_high };
        Content { set: Some(WorkingSet { chunks, stamp_high }), ..self }
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

    /// Makes a chunk one of those that repeat.
    fn repeat(&self, chunk: &mut [u8], rng: &mut Rng) {
        let Some(WorkingSet { chunks, stamp_high }) = self.set else {
            let from = rng.below(FIXED_CHUNKS as u64) as usize * CHUNK_BYTES;
            chunk.copy_from_slice(&self.fixed[from..from + chunk.len()]);
            return;
        };
        let first = rng.below(chunks) * (CHUNK_BYTES / SECTOR_BYTES) as u64;
        chunk.copy_from_slice(&self.fixed[..chunk.len()]);
        for (sector, stamp_low) in chunk.chunks_mut(SECTOR_BYTES).filter(|s| s.len() >= 16).zip(first..) {
            sector[..8].copy_from_slice(&stamp_high.to_le_bytes());
            sector[8..16].copy_from_slice(&stamp_low.to_le_bytes());
        }
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
                self.repeat(&mut chunk[..random], rng);
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
        let bytes = written(DataPattern::default(), 8192, 500);
        let mut seen = std::collections::BTreeSet::new();
        assert!(bytes.chunks(512).all(|sector| seen.insert(sector.to_vec())));
        assert!(share_of_zeros_pct(&bytes) <= 2);
    }

    #[test]
    fn the_asked_share_of_every_chunk_compresses() {
        for compress_pct in [0_u8, 25, 50, 75, 100] {
            for block_bytes in [512, 4096, 65_536] {
                let bytes = written(DataPattern { compress_pct, ..DataPattern::default() }, block_bytes, 20);
                let zeros = share_of_zeros_pct(&bytes);
                let asked = usize::from(compress_pct);
                assert!((asked..=asked + 2).contains(&zeros), "{zeros} % zeros for {asked} % in {block_bytes} B");
            }
        }
    }

    #[test]
    fn bytes_that_are_given_are_repeated_from_the_start_of_every_block() {
        let mut rng = Rng::new(9, 0);
        let mut content = Content::new(DataPattern::default(), &[1, 2, 3], 9, &mut rng);
        let mut block = [9; 10];
        content.renew(&mut block, &mut rng);
        assert_eq!(block, [1, 2, 3, 1, 2, 3, 1, 2, 3, 1]);
    }

    #[test]
    fn a_working_set_repeats_as_many_chunks_as_it_has_in_one_thread_or_in_all() {
        let blocks_of = |is_shared, thread| {
            let repeats = Repeats::WorkingSet { region_pct: 50, is_shared };
            let pattern = DataPattern { dedupe_pct: 80, compress_pct: 50, repeats };
            let mut rng = Rng::new(9, thread);
            let mut content = Content::new(pattern, &[], 9 + thread, &mut rng).over(100 * CHUNK_BYTES as u64);
            let mut area = Area::new(1, CHUNK_BYTES).expect("memory");
            content.fill(&mut area, 1, &mut rng);
            let mut count_by_chunk: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
            for _ in 0..2_000 {
                let block = area.bytes_mut(0, CHUNK_BYTES);
                content.renew(block, &mut rng);
                *count_by_chunk.entry(block.to_vec()).or_default() += 1;
            }
            count_by_chunk
        };
        for is_shared in [false, true] {
            let (a, b) = (blocks_of(is_shared, 0), blocks_of(is_shared, 1));
            let repeated = a.values().filter(|&&n| n > 1).count();
            assert_eq!(repeated, 50, "half of the region's 100 chunks, each some 32 times");
            let of_set: u32 = a.values().filter(|&&n| n > 1).sum();
            assert!((1_500..1_700).contains(&of_set), "{of_set} of 2000 repeat, 1600 expected");
            let in_both = a.keys().filter(|chunk| b.contains_key(*chunk)).count();
            assert_eq!(in_both, if is_shared { 50 } else { 0 });
        }
    }

    #[test]
    fn the_asked_share_of_chunks_repeats() {
        let bytes = written(DataPattern { dedupe_pct: 40, ..DataPattern::default() }, 16_384, 2_000);
        let mut count_by_chunk: BTreeMap<&[u8], u32> = BTreeMap::new();
        for chunk in bytes.chunks(4096) {
            *count_by_chunk.entry(chunk).or_default() += 1;
        }
        let repeated: u32 = count_by_chunk.values().filter(|&&n| n > 1).sum();
        assert!((3_000..3_400).contains(&repeated), "{repeated} of 8000 chunks repeat, 3200 expected");
        assert_eq!(count_by_chunk.values().filter(|&&n| n > 1).count(), 16);
    }
}
