//! Which block comes next.

use fathom_message::{Message, msg};
use fathom_plan::Pattern;
use fathom_random::{Rng, splitmix64};
use rand_distr::{Distribution as _, Zipf};

use crate::permutation::{Mixer, Permutation};

/// Blocks a worker works on: `count` units of the largest block size, from `first_offset_bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// Byte offset of unit 0.
    pub(crate) first_offset_bytes: u64,
    /// Number of units.
    pub(crate) count: u64,
    /// Bytes per unit.
    pub(crate) unit_bytes: u64,
}

impl Span {
    /// Part `index` of `parts` nearly equal parts; together they cover the span without overlap.
    pub(crate) fn part(self, index: u64, parts: u64) -> Span {
        let cut = |i: u64| (u128::from(self.count) * u128::from(i) / u128::from(parts)) as u64;
        let (begin, end) = (cut(index), cut(index + 1));
        Span {
            first_offset_bytes: self.first_offset_bytes + begin * self.unit_bytes,
            count: end - begin,
            unit_bytes: self.unit_bytes,
        }
    }
}

enum Order {
    Permuted(Permutation),
    Ascending { next: u64 },
    Repeating(Repeating),
}

/// Orders in which units may come again before others came once.
pub(crate) enum Repeating {
    Uniform,
    // Boxed: the distribution is the largest variant and the rarest.
    Zipf(Box<(Zipf<f64>, Mixer)>),
    Hotspot { hot: u64, access_pct: u64 },
}

impl Repeating {
    /// The draws of `pattern` among `count` units (at least 1); `None`: its units do not repeat.
    ///
    /// # Errors
    /// Why, when the pattern's parameters make no sense.
    pub(crate) fn of(pattern: Pattern, count: u64) -> Result<Option<Self>, Message> {
        Ok(match pattern {
            Pattern::Unknown => return Err(msg!("import-not-run")),
            Pattern::Random | Pattern::Sequential => None,
            Pattern::RandomRepeat => Some(Repeating::Uniform),
            Pattern::Zipf { theta } => {
                let distribution =
                    Zipf::new(count as f64, theta).map_err(|_| msg!("engine-zipf-theta", theta = theta.to_string()))?;
                // The scatter is fixed, so that all threads and all steps agree on what is popular.
                Some(Repeating::Zipf(Box::new((distribution, Mixer::new(count, splitmix64(count))))))
            }
            Pattern::Hotspot { access_pct, space_pct } => {
                let hot = (u128::from(count) * u128::from(space_pct) / 100) as u64;
                Some(Repeating::Hotspot { hot: hot.clamp(1, count), access_pct: u64::from(access_pct) })
            }
        })
    }

    /// A unit below `count`, for which the draws were made.
    #[inline(always)]
    pub(crate) fn draw(&self, count: u64, rng: &mut Rng) -> u64 {
        match self {
            Repeating::Uniform => rng.below(count),
            Repeating::Zipf(zipf) => {
                let rank = zipf.0.sample(rng.inner()) as u64;
                // Ranks begin at 1; rounding may give the count + 1.
                zipf.1.mix_within(rank.clamp(1, count) - 1, count)
            }
            Repeating::Hotspot { hot, access_pct } => {
                let cold = count - *hot;
                if cold == 0 || rng.below(100) < *access_pct { rng.below(*hot) } else { *hot + rng.below(cold) }
            }
        }
    }
}

/// The sequence of units of one worker.
pub(crate) struct Offsets {
    order: Order,
    span: Span,
    passes: u64,
    passes_max: u64,
    /// Where blocks may repeat: draws that are left of this pass, which has as many as the span has units.
    left: u64,
}

impl Offsets {
    /// The sequence of `pattern` over `span` (not empty); ends after `passes_max` passes.
    ///
    /// # Errors
    /// Why, when the pattern's parameters make no sense.
    pub(crate) fn new(pattern: Pattern, span: Span, seed: u64, passes_max: Option<u32>) -> Result<Self, Message> {
        assert!(span.count > 0, "an empty span");
        let order = match (Repeating::of(pattern, span.count)?, pattern) {
            (Some(repeating), _) => Order::Repeating(repeating),
            (None, Pattern::Sequential) => Order::Ascending { next: 0 },
            (None, _) => Order::Permuted(Permutation::new(span.count, seed)),
        };
        Ok(Offsets { order, span, passes: 0, passes_max: passes_max.map_or(u64::MAX, u64::from), left: span.count })
    }

    /// Next unit; `None` when all passes are done.
    #[inline(always)]
    pub(crate) fn next(&mut self, rng: &mut Rng) -> Option<u64> {
        match &mut self.order {
            Order::Permuted(permutation) => {
                if self.passes == self.passes_max {
                    return None;
                }
                if let Some(unit) = permutation.next() {
                    return Some(unit);
                }
                self.passes += 1;
                if self.passes == self.passes_max { None } else { permutation.next() }
            }
            Order::Ascending { next } => {
                if *next == self.span.count {
                    *next = 0;
                    self.passes += 1;
                }
                if self.passes == self.passes_max {
                    return None;
                }
                *next += 1;
                Some(*next - 1)
            }
            // A pass is as many draws as there are units, as in fio.
            Order::Repeating(repeating) => {
                if self.left == 0 {
                    self.passes += u64::from(self.passes < self.passes_max);
                    if self.passes == self.passes_max {
                        return None;
                    }
                    self.left = self.span.count;
                }
                self.left -= 1;
                Some(repeating.draw(self.span.count, rng))
            }
        }
    }

    /// Byte offset of a unit.
    #[inline(always)]
    pub(crate) fn offset_of(&self, unit: u64) -> u64 {
        self.span.first_offset_bytes + unit * self.span.unit_bytes
    }

    /// Full passes so far; a pass counts once its last block was handed out and another was asked for.
    pub(crate) fn passes(&self) -> u64 {
        self.passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    fn span(count: u64) -> Span {
        Span { first_offset_bytes: 1 << 20, count, unit_bytes: 4096 }
    }

    fn draw(pattern: Pattern, count: u64, draws: usize) -> Vec<u64> {
        let mut offsets = Offsets::new(pattern, span(count), 5, None).expect("valid pattern");
        let mut rng = Rng::new(5, 0);
        (0..draws).map(|_| offsets.next(&mut rng).expect("endless")).collect()
    }

    proptest! {
        #[test]
        fn every_pattern_stays_in_its_span(count in 1_u64..2_000, theta in 0.1_f64..2.0, access in 1_u8..100, space in 1_u8..100) {
            let patterns = [
                Pattern::Random, Pattern::RandomRepeat, Pattern::Sequential,
                Pattern::Zipf { theta }, Pattern::Hotspot { access_pct: access, space_pct: space },
            ];
            for pattern in patterns {
                prop_assert!(draw(pattern, count, 3_000).iter().all(|&unit| unit < count));
            }
        }

        #[test]
        fn parts_cover_the_span_without_overlap(count in 1_u64..10_000, parts in 1_u64..70) {
            let whole = span(count);
            let mut next = whole.first_offset_bytes;
            for i in 0..parts {
                let part = whole.part(i, parts);
                prop_assert_eq!(part.first_offset_bytes, next);
                next += part.count * part.unit_bytes;
            }
            prop_assert_eq!(next, whole.first_offset_bytes + count * whole.unit_bytes);
        }
    }

    #[test]
    fn passes_end_the_sequence_and_are_counted() {
        let repeating =
            [Pattern::RandomRepeat, Pattern::Zipf { theta: 1.2 }, Pattern::Hotspot { access_pct: 80, space_pct: 20 }];
        for pattern in [Pattern::Random, Pattern::Sequential].into_iter().chain(repeating) {
            let mut offsets = Offsets::new(pattern, span(100), 1, Some(2)).expect("valid pattern");
            let mut rng = Rng::new(1, 0);
            let drawn = std::iter::from_fn(|| offsets.next(&mut rng)).count();
            assert_eq!((drawn, offsets.passes()), (200, 2));
            assert_eq!(offsets.next(&mut rng), None);
        }
    }

    #[test]
    fn a_hotspot_takes_its_share() {
        let units = draw(Pattern::Hotspot { access_pct: 90, space_pct: 10 }, 1_000, 100_000);
        let hot = units.iter().filter(|&&unit| unit < 100).count();
        assert!((89_000..91_000).contains(&hot), "{hot}");
    }

    #[test]
    fn zipf_prefers_few_blocks_and_scatters_them() {
        let units = draw(Pattern::Zipf { theta: 1.1 }, 10_000, 100_000);
        let mut by_unit = vec![0_u32; 10_000];
        for unit in units {
            by_unit[unit as usize] += 1;
        }
        let mut ranked: Vec<usize> = (0..by_unit.len()).collect();
        ranked.sort_by_key(|&unit| std::cmp::Reverse(by_unit[unit]));
        let top: u32 = ranked[..100].iter().map(|&unit| by_unit[unit]).sum();
        assert!(top > 50_000, "the 100 most popular of 10000 blocks got {top} of 100000");
        assert!(ranked[0].abs_diff(ranked[1]) > 1 || ranked[1].abs_diff(ranked[2]) > 1);
    }
}
