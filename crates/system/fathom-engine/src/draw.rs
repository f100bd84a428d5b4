//! Which operation and which size the next I/O has.

use fathom_plan::{BlockSize, Op, OpMix, SizeRange};
use fathom_random::Rng;

/// Draws operation and size by their shares; draws nothing where there is no choice.
#[derive(Clone, Debug)]
pub(crate) struct Draw {
    only_op: Option<Op>,
    read_below: u64,
    write_below: u64,
    /// Ascending upper bounds of shares in percent, with sizes.
    sizes: Vec<(u64, u32)>,
}

impl Draw {
    /// Shares of `mix` and `sizes` (each adding up to 100).
    pub(crate) fn new(mix: OpMix, sizes: &[BlockSize]) -> Self {
        let only_op = match (mix.read_pct, mix.write_pct, mix.trim_pct) {
            (_, 0, 0) => Some(Op::Read),
            (0, _, 0) => Some(Op::Write),
            (0, 0, _) => Some(Op::Trim),
            _ => None,
        };
        let read_below = u64::from(mix.read_pct);
        let mut bound = 0;
        let bounds = sizes.iter().map(|size| {
            bound += u64::from(size.share_pct);
            (bound, size.bytes)
        });
        Draw { only_op, read_below, write_below: read_below + u64::from(mix.write_pct), sizes: bounds.collect() }
    }

    /// Operation of the next I/O.
    #[inline(always)]
    pub(crate) fn op(&self, rng: &mut Rng) -> Op {
        if let Some(op) = self.only_op {
            return op;
        }
        let draw = rng.below(100);
        if draw < self.read_below {
            Op::Read
        } else if draw < self.write_below {
            Op::Write
        } else {
            Op::Trim
        }
    }

    /// Bytes of the next I/O.
    #[inline(always)]
    pub(crate) fn len(&self, rng: &mut Rng) -> u32 {
        if let [(_, bytes)] = self.sizes[..] {
            return bytes;
        }
        let draw = rng.below(100);
        let last = self.sizes[self.sizes.len() - 1];
        self.sizes.iter().find(|(below, _)| draw < *below).unwrap_or(&last).1
    }
}

/// Draws of a length before the smallest is taken.
const DRAWS_MAX: u32 = 100;

/// Lengths of one operation that must fit into what is left of a region.
#[derive(Clone, Debug)]
pub(crate) enum Lengths {
    /// Ascending upper bounds of shares in percent, with sizes.
    Split(Vec<(u64, u32)>),
    /// Any of these.
    Range(SizeRange),
}

impl Lengths {
    /// Sizes by their shares.
    pub(crate) fn split(sizes: &[BlockSize]) -> Lengths {
        let mut bound = 0;
        let bounds = sizes.iter().map(|size| {
            bound += u64::from(size.share_pct);
            (bound, size.bytes)
        });
        Lengths::Split(bounds.collect())
    }

    /// Sizes of a range.
    pub(crate) fn range(range: SizeRange) -> Lengths {
        Lengths::Range(range)
    }

    /// The smallest.
    pub(crate) fn min_bytes(&self) -> u64 {
        match self {
            Lengths::Split(sizes) => sizes.iter().map(|(_, bytes)| u64::from(*bytes)).min().unwrap_or(0),
            Lengths::Range(range) => u64::from(range.min_bytes),
        }
    }

    /// The largest.
    pub(crate) fn max_bytes(&self) -> u64 {
        match self {
            Lengths::Split(sizes) => sizes.iter().map(|(_, bytes)| u64::from(*bytes)).max().unwrap_or(0),
            Lengths::Range(range) => u64::from(range.max_bytes),
        }
    }

    /// Whether there is one alone.
    pub(crate) fn is_one(&self) -> bool {
        self.min_bytes() == self.max_bytes()
    }

    /// A length that fits; `None` where not even the smallest does. One that stands alone is not asked.
    pub(crate) fn draw(&self, rng: &mut Rng, fits: impl Fn(u32) -> bool) -> Option<u32> {
        let min_bytes = self.min_bytes() as u32;
        if self.is_one() {
            return Some(min_bytes);
        }
        if !fits(min_bytes) {
            return None;
        }
        for _ in 0..DRAWS_MAX {
            let drawn = match self {
                Lengths::Split(sizes) => {
                    let draw = rng.below(100);
                    let found = sizes.iter().find(|(below, bytes)| draw < *below && fits(*bytes));
                    found.or(sizes.last()).map_or(min_bytes, |(_, bytes)| *bytes)
                }
                Lengths::Range(range) => {
                    // As fio: as far above the least as the largest is long, cut at the largest.
                    let bytes = u64::from(range.min_bytes) + rng.below(u64::from(range.max_bytes));
                    let whole =
                        if range.unaligned { bytes } else { bytes / u64::from(min_bytes) * u64::from(min_bytes) };
                    whole.min(u64::from(range.max_bytes)) as u32
                }
            };
            if fits(drawn) {
                return Some(drawn);
            }
        }
        // Where hardly any size fits, at the end of a region, the smallest does.
        Some(min_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_and_sizes_come_by_their_shares() {
        let sizes = [BlockSize { bytes: 512, share_pct: 10 }, BlockSize { bytes: 4096, share_pct: 90 }];
        let draw = Draw::new(OpMix { read_pct: 70, write_pct: 20, trim_pct: 10 }, &sizes);
        let mut rng = Rng::new(2, 0);
        let (mut ops, mut small) = ([0_u32; 3], 0_u32);
        for _ in 0..100_000 {
            ops[crate::tally::op_index(draw.op(&mut rng))] += 1;
            small += u32::from(draw.len(&mut rng) == 512);
        }
        for (count, share) in [(ops[0], 70_000), (ops[1], 20_000), (ops[2], 10_000), (small, 10_000)] {
            assert!(count.abs_diff(share) < 700, "{count} instead of {share}");
        }
    }
}
