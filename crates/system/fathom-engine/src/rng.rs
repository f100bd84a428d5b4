//! Random numbers of a worker: xoshiro256++ seeded by SplitMix64.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// The generator of one worker.
#[derive(Clone, Debug)]
pub(crate) struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// A generator for stream `stream` of `seed`; streams of one seed are unrelated.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        // `seed_from_u64` is SplitMix64, so that neighbouring seeds give unrelated states.
        Rng(Xoshiro256PlusPlus::seed_from_u64(seed ^ splitmix64(stream)))
    }

    /// 64 random bits.
    #[inline(always)]
    pub(crate) fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in [0, n), by multiplication: the bias is below n / 2^64. Lemire 2019, without the rejection step.
    #[inline(always)]
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Exponential with mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        // 53 bits into (0, 1]: the logarithm of zero must not happen.
        let uniform = ((self.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        -uniform.ln()
    }

    /// Fills `bytes` with random content.
    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        self.0.fill_bytes(bytes);
    }

    /// The generator underneath, for distributions of `rand_distr`.
    pub(crate) fn inner(&mut self) -> &mut Xoshiro256PlusPlus {
        &mut self.0
    }
}

/// One step of SplitMix64 (Steele, Lea, Flood 2014): a bijection of 64 bits that scatters well.
pub(crate) fn splitmix64(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_one_seed_differ_and_repeat_themselves() {
        let first: Vec<u64> = (0..4).map(|stream| Rng::new(7, stream).next_u64()).collect();
        let again: Vec<u64> = (0..4).map(|stream| Rng::new(7, stream).next_u64()).collect();
        assert_eq!(first, again);
        let distinct: std::collections::BTreeSet<_> = first.iter().collect();
        assert_eq!(distinct.len(), first.len());
    }

    #[test]
    fn exponential_draws_have_mean_one() {
        let mut rng = Rng::new(1, 0);
        let mean = (0..200_000).map(|_| rng.exponential()).sum::<f64>() / 200_000.0;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
    }
}
