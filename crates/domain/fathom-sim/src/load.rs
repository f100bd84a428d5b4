//! What each thread asks for: operation, size and address of the next I/O.

use fathom_plan::{OpMix, Pattern, Workload};
use fathom_random::{Rng, splitmix64};

/// Operations as indices: read, write, trim.
pub(crate) const READ: u8 = 0;
/// See [`READ`].
pub(crate) const WRITE: u8 = 1;
/// See [`READ`].
pub(crate) const TRIM: u8 = 2;
/// How many operations there are.
pub(crate) const OPS: usize = 3;

/// An I/O to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    pub(crate) op: u8,
    /// Index into the sizes of the step.
    pub(crate) class: u16,
    pub(crate) offset_bytes: u64,
}

/// The part of a target that one thread touches, and where it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// First block.
    pub(crate) first: u64,
    /// Blocks.
    pub(crate) count: u64,
    /// Next block of a sequential walk, from 0.
    pub(crate) cursor: u64,
}

/// Draws wishes.
#[derive(Clone, Debug)]
pub(crate) struct Draw {
    mix: OpMix,
    only_op: Option<u8>,
    /// Upper ends of the shares, percent: `[class]`.
    size_ends: Vec<u8>,
    block_bytes: u64,
    base_bytes: u64,
    order: Order,
}

#[derive(Clone, Debug)]
enum Order {
    Sequential,
    Uniform,
    Zipf { theta: f64, key: u64 },
    Hotspot { access_pct: u64, space_pct: u64 },
}

impl Draw {
    pub(crate) fn new(workload: &Workload, seed: u64) -> Self {
        let mix = workload.mix;
        let only_op = match (mix.read_pct, mix.write_pct, mix.trim_pct) {
            (100, _, _) => Some(READ),
            (_, 100, _) => Some(WRITE),
            (_, _, 100) => Some(TRIM),
            _ => None,
        };
        let mut end = 0;
        let size_ends = workload
            .block_sizes
            .iter()
            .map(|b| {
                end += b.share_pct;
                end
            })
            .collect();
        let order = match workload.pattern {
            // No plan of unknown order is run: `Role::imported`.
            Pattern::Sequential | Pattern::Unknown => Order::Sequential,
            Pattern::Random | Pattern::RandomRepeat => Order::Uniform,
            Pattern::Zipf { theta } => Order::Zipf { theta, key: splitmix64(seed) | 1 },
            Pattern::Hotspot { access_pct, space_pct } => {
                Order::Hotspot { access_pct: u64::from(access_pct), space_pct: u64::from(space_pct) }
            }
        };
        Draw {
            mix,
            only_op,
            size_ends,
            block_bytes: u64::from(workload.block_bytes_max()),
            base_bytes: workload.region.offset_bytes,
            order,
        }
    }

    /// The next I/O of a thread.
    #[inline]
    pub(crate) fn next(&self, span: &mut Span, rng: &mut Rng) -> Wish {
        let op = self.only_op.unwrap_or_else(|| self.op(rng));
        let class = if self.size_ends.len() == 1 { 0 } else { self.class(rng) };
        let block = match &self.order {
            Order::Uniform => rng.below(span.count),
            Order::Sequential => {
                let at = span.cursor;
                span.cursor = if at + 1 == span.count { 0 } else { at + 1 };
                at
            }
            Order::Zipf { theta, key } => {
                let rank = zipf_rank(span.count, *theta, rng);
                scatter(rank, span.count, *key)
            }
            Order::Hotspot { access_pct, space_pct } => {
                let hot = (span.count * space_pct / 100).clamp(1, span.count);
                if rng.below(100) < *access_pct || hot == span.count {
                    rng.below(hot)
                } else {
                    hot + rng.below(span.count - hot)
                }
            }
        };
        Wish { op, class, offset_bytes: self.base_bytes + (span.first + block) * self.block_bytes }
    }

    fn op(&self, rng: &mut Rng) -> u8 {
        let at = rng.below(100) as u8;
        if at < self.mix.read_pct {
            READ
        } else if at < self.mix.read_pct + self.mix.write_pct {
            WRITE
        } else {
            TRIM
        }
    }

    fn class(&self, rng: &mut Rng) -> u16 {
        let at = rng.below(100) as u8;
        self.size_ends.iter().position(|end| at < *end).unwrap_or(self.size_ends.len() - 1) as u16
    }
}

/// Rank of a Zipf draw over `n` blocks: inverse of the continuous distribution with density x^-theta on [1, n + 1).
fn zipf_rank(n: u64, theta: f64, rng: &mut Rng) -> u64 {
    let u = (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let end = n as f64 + 1.0;
    let exponent = 1.0 - theta;
    let x = if exponent.abs() < 1e-9 {
        libm::exp(u * libm::log(end))
    } else {
        libm::pow(1.0 + u * (libm::pow(end, exponent) - 1.0), 1.0 / exponent)
    };
    (x as u64).clamp(1, n) - 1
}

/// Spreads ranks over the blocks, so that popular blocks are no neighbours.
fn scatter(rank: u64, n: u64, key: u64) -> u64 {
    ((u128::from(splitmix64(rank.wrapping_mul(key))) * u128::from(n)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_plan::{BlockSize, DataPattern, Region};

    fn workload(mix: OpMix, pattern: Pattern) -> Workload {
        Workload {
            mix,
            pattern,
            block_sizes: vec![BlockSize { bytes: 4096, share_pct: 60 }, BlockSize { bytes: 65_536, share_pct: 40 }],
            region: Region { offset_bytes: 1 << 20, size_bytes: None },
            data: DataPattern::default(),
            verify: None,
            direct: true,
            drop_cache: false,
            priorities: fathom_plan::Priorities::default(),
            durability: fathom_plan::Durability::default(),
            order: fathom_plan::IoOrder::default(),
            fill: Vec::new(),
        }
    }

    fn wishes(mix: OpMix, pattern: Pattern, n: usize) -> Vec<Wish> {
        let draw = Draw::new(&workload(mix, pattern), 5);
        let (mut span, mut rng) = (Span { first: 10, count: 1000, cursor: 0 }, Rng::new(1, 1));
        (0..n).map(|_| draw.next(&mut span, &mut rng)).collect()
    }

    #[test]
    fn shares_of_operations_and_sizes_are_kept() {
        let all = wishes(OpMix { read_pct: 70, write_pct: 30, trim_pct: 0 }, Pattern::Random, 50_000);
        let reads = all.iter().filter(|w| w.op == READ).count() as f64 / 500.0;
        let small = all.iter().filter(|w| w.class == 0).count() as f64 / 500.0;
        assert!((reads - 70.0).abs() < 1.0 && (small - 60.0).abs() < 1.0, "{reads} {small}");
        assert!(all.iter().all(|w| w.offset_bytes >= (1 << 20) + 10 * 65_536 && w.offset_bytes % 65_536 == 0));
    }

    #[test]
    fn a_sequential_walk_wraps_around_its_part() {
        let all = wishes(OpMix::READ, Pattern::Sequential, 1001);
        assert_eq!(all[1000].offset_bytes, all[0].offset_bytes);
        assert_eq!(all[1].offset_bytes - all[0].offset_bytes, 65_536);
    }

    #[test]
    fn popular_blocks_are_popular() {
        let hot = wishes(OpMix::READ, Pattern::Hotspot { access_pct: 90, space_pct: 10 }, 20_000);
        let first = (1 << 20) + 10 * 65_536;
        let share = hot.iter().filter(|w| w.offset_bytes < first + 100 * 65_536).count() as f64 / 20_000.0;
        assert!((share - 0.9).abs() < 0.02, "{share}");
        let mut counts = std::collections::BTreeMap::new();
        for w in wishes(OpMix::READ, Pattern::Zipf { theta: 1.0 }, 20_000) {
            *counts.entry(w.offset_bytes).or_insert(0_u32) += 1;
        }
        let top = *counts.values().max().unwrap();
        // Rank 1 of the continuous distribution has ln 2 / ln 1001 = 10 %.
        assert!((1_700..2_300).contains(&top), "{top}");
    }
}
