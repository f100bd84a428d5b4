//! The non-uniform random function of clause 2.1.6.

use fathom_random::Rng;

/// Its constants C, one per field; those of a run are drawn anew, that of the last names within the rule of 2.1.6.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constants {
    /// For C_LAST, 0 to 255.
    pub last_name: u32,
    /// For C_ID, 0 to 1023.
    pub customer: u32,
    /// For OL_I_ID, 0 to 8191.
    pub item: u32,
}

impl Constants {
    /// Those of a load.
    #[must_use]
    pub fn of_load(rng: &mut Rng) -> Self {
        Constants { last_name: below(rng, 256), customer: below(rng, 1024), item: below(rng, 8192) }
    }

    /// Those of a run on what was loaded with `load`: between the two constants of the last names lie 65 to 119, and neither
    /// 96 nor 112 (2.1.6.1), so that the names asked for are not the ones that the load made frequent.
    #[must_use]
    pub fn of_run(load: Constants, rng: &mut Rng) -> Self {
        // Every constant of a load has at least 8 that fit, so this ends: above it there is room below 137, else below it.
        let last_name = loop {
            let drawn = below(rng, 256);
            if Self::may_follow(load.last_name, drawn) {
                break drawn;
            }
        };
        Constants { last_name, customer: below(rng, 1024), item: below(rng, 8192) }
    }

    /// Whether a run may use `run` for the last names on a database loaded with `load` (2.1.6.1).
    #[must_use]
    pub fn may_follow(load: u32, run: u32) -> bool {
        let apart = load.abs_diff(run);
        (65..=119).contains(&apart) && apart != 96 && apart != 112
    }
}

/// NURand(A, x, y) with constant `c`: `(((random(0, A) | random(x, y)) + C) % (y - x + 1)) + x` (clause 2.1.6), in `x..=y`.
#[must_use]
pub fn nurand(rng: &mut Rng, a: u32, c: u32, x: u32, y: u32) -> u32 {
    let bits = between(rng, 0, a) | between(rng, x, y);
    (bits + c) % (y - x + 1) + x
}

fn below(rng: &mut Rng, n: u32) -> u32 {
    rng.below(u64::from(n)) as u32
}

/// Uniform in `x..=y`.
pub(crate) fn between(rng: &mut Rng, x: u32, y: u32) -> u32 {
    x + below(rng, y - x + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constant_of_a_load_has_constants_of_a_run_that_keep_the_rule() {
        let fits = |load| (0..256).filter(|&run| Constants::may_follow(load, run)).count();
        assert!((0..256).all(|load| fits(load) >= 8));
        let mut rng = Rng::new(3, 0);
        for last_name in 0..256 {
            let load = Constants { last_name, customer: 0, item: 0 };
            let apart = Constants::of_run(load, &mut rng).last_name.abs_diff(last_name);
            assert!(matches!(apart, 65..=95 | 97..=111 | 113..=119), "{last_name}: {apart}");
        }
    }

    #[test]
    fn draws_stay_in_range_and_are_far_from_uniform() {
        let mut rng = Rng::new(1, 0);
        let mut seen = vec![0_u32; 3_001];
        for _ in 0..300_000 {
            let id = nurand(&mut rng, 1023, 259, 1, 3_000);
            assert!((1..=3_000).contains(&id));
            seen[id as usize] += 1;
        }
        seen.sort_unstable_by(|a, b| b.cmp(a));
        // Uniform draws would put 10 % of the accesses on the busiest tenth, and a little by chance.
        let busiest_tenth: u32 = seen[..300].iter().sum();
        assert!(busiest_tenth > 90_000, "{busiest_tenth}");
    }
}
