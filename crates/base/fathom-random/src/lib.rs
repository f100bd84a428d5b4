//! Random numbers: one stream per entity of a seed (a worker, a thread, a drive), the same on every platform.
//!
//! xoshiro256++ (Blackman and Vigna 2019) seeded by SplitMix64. Real and simulated steps draw from the same generator.

#[cfg(any(test, feature = "testing"))]
pub mod mutate;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// The generator of one entity.
#[derive(Clone, Debug)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// Stream `entity` of `seed`; streams of one seed are unrelated.
    #[must_use]
    pub fn new(seed: u64, entity: u64) -> Self {
        // `seed_from_u64` is SplitMix64, so that neighbouring seeds give unrelated states.
        Rng(Xoshiro256PlusPlus::seed_from_u64(seed ^ splitmix64(entity)))
    }

    /// 64 random bits.
    #[inline(always)]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in [0, n), by multiplication: the bias is below n / 2^64. Lemire 2019, without the rejection step.
    #[inline(always)]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Fills `bytes` with random content.
    #[inline]
    pub fn fill(&mut self, bytes: &mut [u8]) {
        self.0.fill_bytes(bytes);
    }

    /// The generator underneath, for distributions of `rand_distr`.
    #[inline]
    pub fn inner(&mut self) -> &mut Xoshiro256PlusPlus {
        &mut self.0
    }
}

/// One step of SplitMix64 (Steele, Lea, Flood 2014): a bijection of 64 bits that scatters well.
#[inline]
#[must_use]
pub fn splitmix64(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_of_a_seed_never_changes() {
        // Golden values: results of old runs must stay repeatable.
        let mut rng = Rng::new(7, 3);
        assert_eq!([rng.next_u64(), rng.below(1000)], [11_806_653_654_406_178_811, 237]);
    }

    #[test]
    fn streams_of_one_seed_differ_and_repeat_themselves() {
        let first: Vec<u64> = (0..4).map(|stream| Rng::new(7, stream).next_u64()).collect();
        let again: Vec<u64> = (0..4).map(|stream| Rng::new(7, stream).next_u64()).collect();
        assert_eq!(first, again);
        let distinct: std::collections::BTreeSet<_> = first.iter().collect();
        assert_eq!(distinct.len(), first.len());
    }

    #[test]
    fn splitmix_gives_the_published_sequence() {
        // The first outputs for seed 1234567 (reference implementation by Vigna): each adds the same constant.
        let gamma = 0x9E37_79B9_7F4A_7C15_u64;
        let outputs: Vec<u64> = (0..3).map(|i| splitmix64(1_234_567_u64.wrapping_add(gamma.wrapping_mul(i)))).collect();
        assert_eq!(outputs, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn draws_below_a_bound_stay_below_it_and_reach_all_of_it() {
        let mut rng = Rng::new(1, 0);
        let mut seen = [0_u32; 7];
        for _ in 0..7_000 {
            seen[rng.below(7) as usize] += 1;
        }
        assert!(seen.iter().all(|n| (850..1150).contains(n)), "{seen:?}");
    }
}
