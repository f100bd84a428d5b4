//! Write-back cache of a RAID card: what is dirty, row by row, in the order in which it came.

use std::collections::{BTreeSet, VecDeque};

/// Rows that are held back for writes beside those that came. A complete row waits for none.
const GATHER_ROWS: usize = 256;
/// Rows beyond those, once so many are dirty, are a load that the members do not keep up with: it fills the cache.
const OUTRUN_ROWS: usize = 1024;

/// Dirty blocks of a cache, and room for more.
#[derive(Clone, Debug)]
pub(super) struct WriteCache {
    /// In blocks.
    capacity: u64,
    block_bytes: u64,
    /// Blocks of a row: a full stripe under parity, else a chunk.
    row_blocks: u64,
    /// Most rows that are held back.
    gather: usize,
    dirty: BTreeSet<u64>,
    /// Rows in the order of their first dirty block; some may have been written since.
    order: VecDeque<u64>,
    /// Rows all of whose blocks are dirty.
    complete: VecDeque<u64>,
    /// Rows with a dirty block.
    rows: usize,
    /// Blocks on their way to the members.
    flushing: u64,
    /// It was filled by a load that outran the members.
    is_filled: bool,
}

impl WriteCache {
    /// A cache of `capacity_bytes`, whose blocks no I/O and no row cuts.
    pub(super) fn new(capacity_bytes: u64, block_bytes: u64, row_bytes: u64) -> WriteCache {
        let (capacity, row_blocks) = ((capacity_bytes / block_bytes).max(1), row_bytes / block_bytes);
        // Of a small cache at most a quarter, were every row complete but for a block.
        let gather = (capacity / 4 / row_blocks.max(1)).min(GATHER_ROWS as u64) as usize;
        WriteCache {
            capacity,
            block_bytes,
            row_blocks: row_blocks.max(1),
            gather,
            dirty: BTreeSet::new(),
            order: VecDeque::new(),
            complete: VecDeque::new(),
            rows: 0,
            flushing: 0,
            is_filled: false,
        }
    }

    fn blocks(&self, offset_bytes: u64, bytes: u64) -> std::ops::Range<u64> {
        offset_bytes / self.block_bytes..(offset_bytes + bytes).div_ceil(self.block_bytes)
    }

    fn used(&self) -> u64 {
        self.dirty.len() as u64 + self.flushing
    }

    /// Bytes it holds, those on their way to the members among them.
    #[cfg(test)]
    fn used_bytes(&self) -> u64 {
        self.used() * self.block_bytes
    }

    /// Whether all of it is dirty: reads are answered, and a write needs no room.
    pub(super) fn holds(&self, offset_bytes: u64, bytes: u64) -> bool {
        self.blocks(offset_bytes, bytes).all(|block| self.dirty.contains(&block))
    }

    /// Takes a write; false: there is no room for it. One larger than all of it is taken when nothing else is in it.
    pub(super) fn put(&mut self, offset_bytes: u64, bytes: u64) -> bool {
        let blocks = self.blocks(offset_bytes, bytes);
        let new = blocks.clone().filter(|block| !self.dirty.contains(block)).count() as u64;
        if new > 0 && self.used() + new > self.capacity && self.used() > 0 {
            return false;
        }
        let mut last = None;
        for block in blocks {
            let row = block / self.row_blocks;
            if last != Some(row) {
                if !self.has_dirty(row) {
                    self.order.push_back(row);
                    self.rows += 1;
                }
                last = Some(row);
            }
            if self.dirty.insert(block) && self.dirty_of(row) == self.row_blocks {
                self.complete.push_back(row);
            }
        }
        true
    }

    fn row(&self, row: u64) -> std::ops::Range<u64> {
        row * self.row_blocks..(row + 1) * self.row_blocks
    }

    fn has_dirty(&self, row: u64) -> bool {
        self.dirty.range(self.row(row)).next().is_some()
    }

    fn dirty_of(&self, row: u64) -> u64 {
        self.dirty.range(self.row(row)).count() as u64
    }

    /// The extents of the next row to write back (offset and bytes): complete ones first, then the oldest beyond those that
    /// are held back, and any where writes wait for room.
    pub(super) fn next(&mut self, wants_room: bool) -> Option<Vec<(u64, u64)>> {
        while let Some(row) = self.complete.pop_front() {
            if self.dirty_of(row) == self.row_blocks {
                return Some(self.take(row));
            }
        }
        while self.rows > if wants_room { 0 } else { self.gather } {
            let row = self.order.pop_front()?;
            if self.has_dirty(row) {
                return Some(self.take(row));
            }
        }
        None
    }

    fn take(&mut self, row: u64) -> Vec<(u64, u64)> {
        let blocks: Vec<u64> = self.dirty.range(self.row(row)).copied().collect();
        self.rows -= 1;
        self.flushing += blocks.len() as u64;
        let mut extents: Vec<(u64, u64)> = Vec::new();
        for block in blocks {
            self.dirty.remove(&block);
            let at = block * self.block_bytes;
            match extents.last_mut() {
                Some((offset, bytes)) if *offset + *bytes == at => *bytes += self.block_bytes,
                _ => extents.push((at, self.block_bytes)),
            }
        }
        extents
    }

    /// What was taken is on the members.
    pub(super) fn written_back(&mut self, bytes: u64) {
        self.flushing -= bytes / self.block_bytes;
    }

    /// Whether the load outruns the members for the first time: what comes of it is a full cache, which is waited for no longer.
    pub(super) fn begins_to_fill(&mut self) -> bool {
        let begins = !self.is_filled && self.rows > self.gather + OUTRUN_ROWS;
        self.is_filled |= begins;
        begins
    }

    /// It is as full as it is now from here on.
    pub(super) fn shrink_to_used(&mut self) {
        self.capacity = self.used().max(1);
    }

    /// Makes it as large, in bytes.
    pub(super) fn shrink_to(&mut self, bytes: u64) {
        self.capacity = self.capacity.min((bytes / self.block_bytes).max(self.used())).max(1);
    }

    /// Its size.
    pub(super) fn capacity_bytes(&self) -> u64 {
        self.capacity * self.block_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_find_room_until_it_is_full_and_again_when_some_is_written_back() {
        let mut cache = WriteCache::new(4 * 4096, 4096, 4096);
        assert!((0..4).all(|i| cache.put(i * 65_536, 4096)));
        assert!(!cache.put(9 * 65_536, 4096), "full");
        assert!(cache.put(65_536, 4096), "what is dirty is written over where it is");
        let extents = cache.next(true).expect("the oldest");
        assert_eq!(extents, [(0, 4096)]);
        assert!(!cache.put(9 * 65_536, 4096), "it is still on its way");
        cache.written_back(4096);
        assert!(cache.put(9 * 65_536, 4096));
        assert_eq!(cache.used_bytes(), 4 * 4096);
    }

    #[test]
    fn neighbours_are_written_back_together_and_complete_rows_first() {
        let mut cache = WriteCache::new(1 << 30, 4096, 16_384);
        for at in [0, 8192, 100 * 4096, 4096] {
            assert!(cache.put(at, 4096));
        }
        assert_eq!(cache.next(false), None, "held back for what may come");
        assert!(cache.put(12_288, 4096));
        assert_eq!(cache.next(false), Some(vec![(0, 16_384)]), "complete");
        assert_eq!(cache.next(true), Some(vec![(100 * 4096, 4096)]));
        assert_eq!(cache.next(true), None);
    }

    #[test]
    fn a_write_larger_than_the_cache_goes_through_it_alone() {
        let mut cache = WriteCache::new(8192, 4096, 65_536);
        assert!(cache.put(0, 65_536));
        assert!(!cache.put(1 << 20, 4096));
        assert_eq!(cache.next(false), Some(vec![(0, 65_536)]));
        cache.written_back(65_536);
        assert!(cache.put(1 << 20, 4096));
    }

    #[test]
    fn a_load_that_is_not_kept_up_with_begins_to_fill_it_once() {
        let mut cache = WriteCache::new(1 << 30, 4096, 65_536);
        let rows = (GATHER_ROWS + OUTRUN_ROWS) as u64;
        for row in 0..rows {
            cache.put(row * 65_536, 4096);
        }
        assert!(!cache.begins_to_fill());
        cache.put(rows * 65_536, 4096);
        assert!(cache.begins_to_fill() && !cache.begins_to_fill());
        cache.shrink_to_used();
        assert!(!cache.put((rows + 1) * 65_536, 4096));
    }
}
