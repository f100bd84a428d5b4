//! Exponential draws in whole numbers, the same on every platform.

use std::sync::LazyLock;

use fathom_random::Rng;

/// Exponentially distributed with this mean, in whole units of it.
#[inline]
pub(crate) fn exponential(rng: &mut Rng, mean: u64) -> u64 {
    let mut units_q32 = 0_u64;
    loop {
        let bits = rng.next_u64();
        let cell = (bits >> 52) as usize;
        if cell >= EXP_CELLS {
            // The distribution has no memory: beyond ln 16 it begins again.
            units_q32 += EXP.tail_q32;
            continue;
        }
        let fraction = (bits >> 20) & 0xFFFF_FFFF;
        let (low, high) = (EXP.table_q32[cell], EXP.table_q32[cell + 1]);
        units_q32 += low + (((high - low) * fraction) >> 32);
        return ((u128::from(mean) * u128::from(units_q32)) >> 32) as u64;
    }
}

/// Cells of the inverse distribution over [0, 15/16), each 1/4096 wide.
const EXP_CELLS: usize = 15 * 256;

struct ExponentialTable {
    table_q32: Vec<u64>,
    tail_q32: u64,
}

/// -ln(1 - u) by `libm`, whose arithmetic is the same everywhere. Linear between the points: off by at most 2e-6.
static EXP: LazyLock<ExponentialTable> = LazyLock::new(|| {
    let q32 = |x: f64| libm::round(x * 4_294_967_296.0) as u64;
    let table_q32 = (0..=EXP_CELLS).map(|i| q32(-libm::log(1.0 - i as f64 / 4096.0))).collect();
    ExponentialTable { table_q32, tail_q32: q32(libm::log(16.0)) }
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_draws_of_a_seed_never_change() {
        // Golden values: results of old runs must stay repeatable.
        let mut rng = Rng::new(7, 3);
        assert_eq!(
            [rng.next_u64(), rng.below(1000), exponential(&mut rng, 1_000_000)],
            [11_806_653_654_406_178_811, 237, 724_709]
        );
    }

    #[test]
    fn exponential_draws_have_the_moments_of_the_distribution() {
        let mut rng = Rng::new(1, 0);
        let n = 400_000;
        let xs: Vec<f64> = (0..n).map(|_| exponential(&mut rng, 1_000_000) as f64 / 1e6).collect();
        let mean = xs.iter().sum::<f64>() / f64::from(n);
        let variance = xs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n);
        let beyond_5 = xs.iter().filter(|x| **x > 5.0).count() as f64 / f64::from(n);
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        assert!((variance - 1.0).abs() < 0.02, "{variance}");
        assert!((beyond_5 / (-5.0_f64).exp() - 1.0).abs() < 0.1, "{beyond_5}");
    }
}
