//! Full-period permutation of [0, n) without a map: each value exactly once per pass.
//!
//! A counter runs over the next power of two and goes through a keyed bijection of that many bits; images outside
//! [0, n) are skipped. Since the bijection hits every value of the power of two once, every value below n comes once.
//! At most half of the images are skipped.

use fathom_random::splitmix64;

/// A keyed bijection of `bits` bits: odd multiplications and right xor-shifts, all invertible modulo 2^bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mixer {
    mask: u64,
    shift: u32,
    add: [u64; 2],
    multiply: [u64; 3],
}

impl Mixer {
    /// The bijection of the smallest power of two that holds `n` values, chosen by `key`.
    pub(crate) fn new(n: u64, key: u64) -> Self {
        let bits = n.max(2).next_power_of_two().trailing_zeros();
        let draw = |i: u64| splitmix64(key ^ splitmix64(i));
        Mixer {
            mask: (1 << bits) - 1,
            shift: bits.div_ceil(2),
            add: [draw(1), draw(2)],
            multiply: [draw(3) | 1, draw(4) | 1, draw(5) | 1],
        }
    }

    /// Image of `x`, which must be within the mask.
    #[inline(always)]
    pub(crate) fn mix(&self, x: u64) -> u64 {
        let mut y = x.wrapping_add(self.add[0]).wrapping_mul(self.multiply[0]) & self.mask;
        y ^= y >> self.shift;
        y = y.wrapping_mul(self.multiply[1]).wrapping_add(self.add[1]) & self.mask;
        y ^= y >> self.shift;
        y = y.wrapping_mul(self.multiply[2]) & self.mask;
        y ^ (y >> self.shift)
    }

    /// Image of `x` within [0, n), walking the cycle until it falls inside; a bijection of [0, n).
    pub(crate) fn mix_within(&self, x: u64, n: u64) -> u64 {
        let mut y = self.mix(x);
        while y >= n {
            y = self.mix(y);
        }
        y
    }
}

/// Endless passes over [0, n), each in another order.
#[derive(Clone, Debug)]
pub(crate) struct Permutation {
    n: u64,
    seed: u64,
    pass: u64,
    counter: u64,
    mixer: Mixer,
}

impl Permutation {
    /// Passes over [0, `n`), `n` > 0.
    pub(crate) fn new(n: u64, seed: u64) -> Self {
        assert!(n > 0, "a permutation of nothing");
        Permutation { n, seed, pass: 0, counter: 0, mixer: Mixer::new(n, splitmix64(seed)) }
    }

    /// Next value of the pass; `None` once at its end, after which the next pass begins.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<u64> {
        while self.counter <= self.mixer.mask {
            let y = self.mixer.mix(self.counter);
            self.counter += 1;
            if y < self.n {
                return Some(y);
            }
        }
        self.next_pass();
        None
    }

    /// Begins the next pass.
    #[cold]
    pub(crate) fn next_pass(&mut self) {
        self.pass += 1;
        self.counter = 0;
        self.mixer = Mixer::new(self.n, splitmix64(self.seed ^ splitmix64(self.pass)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pass(p: &mut Permutation) -> Vec<u64> {
        std::iter::from_fn(|| p.next()).collect()
    }

    proptest! {
        #[test]
        fn every_pass_covers_each_block_once(n in 1_u64..5_000, seed: u64) {
            let mut permutation = Permutation::new(n, seed);
            for _ in 0..3 {
                let mut seen = pass(&mut permutation);
                seen.sort_unstable();
                prop_assert_eq!(seen, (0..n).collect::<Vec<_>>());
            }
        }

        #[test]
        fn walking_the_cycle_is_a_bijection(n in 1_u64..3_000, key: u64) {
            let mixer = Mixer::new(n, key);
            let mut seen: Vec<u64> = (0..n).map(|x| mixer.mix_within(x, n)).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn passes_differ_and_do_not_run_in_order() {
        let mut permutation = Permutation::new(10_000, 3);
        let (first, second) = (pass(&mut permutation), pass(&mut permutation));
        assert_ne!(first, second);
        let neighbours = first.windows(2).filter(|w| w[0].abs_diff(w[1]) <= 1).count();
        assert!(neighbours < 20, "{neighbours} of 9999 steps go to a neighbour");
    }

    #[test]
    fn each_tenth_of_a_pass_spreads_over_the_whole_space() {
        let n = 100_000;
        let mut permutation = Permutation::new(n, 11);
        let order = pass(&mut permutation);
        for part in order.chunks(10_000) {
            let mut by_tenth = [0_u32; 10];
            for x in part {
                by_tenth[(x * 10 / n) as usize] += 1;
            }
            assert!(by_tenth.iter().all(|&c| (800..1_200).contains(&c)), "{by_tenth:?}");
        }
    }
}
