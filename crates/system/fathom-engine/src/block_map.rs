//! Which blocks of a region were touched in this pass: for draws without repetition whose I/Os are of several sizes.

/// A bit per block, and above them a bit per 64 bits that are all set, and so on: finding a free block takes a look per level.
#[derive(Clone, Debug)]
pub(crate) struct BlockMap {
    count: u64,
    /// `[level][word]`; level 0 has a bit per block.
    levels: Vec<Vec<u64>>,
}

const FULL: u64 = u64::MAX;

impl BlockMap {
    /// A map of `count` blocks, none touched.
    pub(crate) fn new(count: u64) -> Self {
        let mut levels = Vec::new();
        let mut bits = count;
        loop {
            let words = bits.div_ceil(64).max(1);
            let mut level = vec![0; words as usize];
            // What lies behind the end counts as touched.
            if !bits.is_multiple_of(64) || bits == 0 {
                level[words as usize - 1] = FULL << (bits % 64);
            }
            levels.push(level);
            if words == 1 {
                break;
            }
            bits = words;
        }
        BlockMap { count, levels }
    }

    /// Forgets everything that was touched.
    pub(crate) fn clear(&mut self) {
        *self = BlockMap::new(self.count);
    }

    fn is_touched(&self, block: u64) -> bool {
        self.levels[0][(block / 64) as usize] >> (block % 64) & 1 == 1
    }

    /// The first free block at or behind `from`, then from the start on; `None`: all were touched.
    pub(crate) fn next_free(&self, from: u64) -> Option<u64> {
        self.free_at_or_behind(from).or_else(|| self.free_at_or_behind(0))
    }

    fn free_at_or_behind(&self, from: u64) -> Option<u64> {
        let mut at = from;
        for level in 0..self.levels.len() {
            let word = *self.levels[level].get((at / 64) as usize)?;
            let free = !word & (FULL << (at % 64));
            if free != 0 {
                let mut found = at / 64 * 64 + u64::from(free.trailing_zeros());
                for lower in (0..level).rev() {
                    let word = self.levels[lower][found as usize];
                    found = found * 64 + u64::from((!word).trailing_zeros());
                }
                return Some(found);
            }
            at = at / 64 + 1;
        }
        None
    }

    /// Touches up to `blocks` blocks from `first` on, as far as they are free; how many it were.
    pub(crate) fn touch(&mut self, first: u64, blocks: u64) -> u64 {
        let mut done = 0;
        while done < blocks && first + done < self.count && !self.is_touched(first + done) {
            self.set(first + done);
            done += 1;
        }
        done
    }

    fn set(&mut self, block: u64) {
        let mut at = block;
        for level in &mut self.levels {
            let word = &mut level[(at / 64) as usize];
            *word |= 1 << (at % 64);
            if *word != FULL {
                return;
            }
            at /= 64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_finds_and_touches_what_a_list_of_flags_does(count in 1_u64..9_000, draws in prop::collection::vec((any::<u64>(), 1_u64..40), 1..300)) {
            let mut map = BlockMap::new(count);
            let mut flags = vec![false; count as usize];
            for (draw, blocks) in draws {
                let from = draw % count;
                let slow = (from..count).chain(0..from).find(|b| !flags[*b as usize]);
                prop_assert_eq!(map.next_free(from), slow);
                let Some(first) = slow else { break };
                let mut touched = 0;
                while touched < blocks && first + touched < count && !flags[(first + touched) as usize] {
                    flags[(first + touched) as usize] = true;
                    touched += 1;
                }
                prop_assert_eq!(map.touch(first, blocks), touched);
            }
            map.clear();
            prop_assert_eq!(map.next_free(0), Some(0));
        }
    }

    #[test]
    fn a_full_map_has_no_free_block() {
        for count in [1, 63, 64, 65, 4_096, 4_097, 300_000] {
            let mut map = BlockMap::new(count);
            assert_eq!(map.touch(0, u64::MAX), count);
            assert_eq!(map.next_free(count / 2), None, "{count}");
        }
    }
}
