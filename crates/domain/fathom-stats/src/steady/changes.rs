//! Where the level of a series changes.

use crate::autoregression;
use crate::batch::mean;
use crate::compare::median_of_sorted;

/// Fewest points on each side of a change.
const SEGMENT_MIN: usize = 8;
/// 0.1 % point of the largest value of a Brownian bridge (Kolmogorov's distribution); the spread being estimated, about
/// 1 % of series without a change pass it.
const CRITICAL: f64 = 1.949;
/// Points of a piece from which the spread is estimated; most pieces hold no change.
const PIECE: usize = 50;

/// Positions at which the level of `series` changes for good by at least `share` of it; each begins a new level.
///
/// Cumulative sums (Page 1954) with binary segmentation (Vostrikova 1981), on the logarithms, which makes shares of
/// them differences. The spread is the long-run one (the median of those of pieces of 50 points, so that changes do not
/// widen it), and the memory of a series does not pass for changes; wild single points are pulled in first. Empty for fewer than 16 points and for
/// figures that are not positive.
#[must_use]
pub fn level_changes(series: &[f64], share: f64) -> Vec<usize> {
    if series.iter().any(|x| *x <= 0.0 || !x.is_finite()) {
        return Vec::new();
    }
    let logs: Vec<f64> = series.iter().map(|x| x.ln()).collect();
    let deviation = long_run_deviation(&logs);
    let mut found = Vec::new();
    let mut open = vec![(0, logs.len())];
    while let Some((start, end)) = open.pop() {
        if let Some(at) = change_in(&tamed(&logs[start..end]), deviation) {
            found.push(start + at);
            open.push((start, start + at));
            open.push((start + at, end));
        }
    }
    found.sort_unstable();
    merged(&logs, found, share)
}

/// Square root of n times the variance of a mean of n points, without the changes of level.
fn long_run_deviation(logs: &[f64]) -> f64 {
    let pieces = (logs.len() / PIECE).max(1);
    let mut deviations: Vec<f64> = logs
        .chunks(logs.len().div_ceil(pieces).max(1))
        .filter(|piece| piece.len() >= SEGMENT_MIN)
        .map(|piece| autoregression::error_of_mean(&tamed(piece)) * (piece.len() as f64).sqrt())
        .collect();
    deviations.sort_unstable_by(f64::total_cmp);
    if deviations.is_empty() { 0.0 } else { median_of_sorted(&deviations) }
}

/// The clearest change of a segment, if it is one.
fn change_in(logs: &[f64], deviation: f64) -> Option<usize> {
    if logs.len() < 2 * SEGMENT_MIN {
        return None;
    }
    let centre = mean(logs);
    let mut sum = 0.0;
    let mut best = (0.0_f64, 0);
    for (i, x) in logs.iter().enumerate().take(logs.len() - SEGMENT_MIN) {
        sum += x - centre;
        if i + 1 >= SEGMENT_MIN && sum.abs() > best.0 {
            best = (sum.abs(), i + 1);
        }
    }
    // Rounding errors of a constant series are no change.
    let least = (CRITICAL * deviation * (logs.len() as f64).sqrt()).max(1e-9);
    (best.0 >= least).then_some(best.1)
}

/// Single points far from the middle half of their segment, brought to its fences (Tukey's, 3 quartile ranges).
fn tamed(logs: &[f64]) -> Vec<f64> {
    let mut sorted = logs.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (low, high) = (sorted[sorted.len() / 4], sorted[sorted.len() * 3 / 4]);
    let reach = 3.0 * (high - low);
    logs.iter().map(|x| x.clamp(low - reach, high + reach)).collect()
}

/// Without changes between whose sides, all changes being known, less than `share` lies.
fn merged(logs: &[f64], mut found: Vec<usize>, share: f64) -> Vec<usize> {
    loop {
        let level = |from: usize, to: usize| mean(&logs[from..to]);
        let small = (0..found.len()).find(|i| {
            let from = if *i == 0 { 0 } else { found[i - 1] };
            let to = found.get(i + 1).copied().unwrap_or(logs.len());
            (level(found[*i], to) - level(from, found[*i])).abs() < share
        });
        match small {
            Some(i) => found.remove(i),
            None => return found,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Random, ar1};

    fn noisy(seed: u64, phi: f64, points: usize, level: impl Fn(usize) -> f64) -> Vec<f64> {
        let noise = ar1(&mut Random::new(seed), phi, points);
        noise.iter().enumerate().map(|(i, x)| level(i) * (1.0 + 0.02 * x)).collect()
    }

    #[test]
    fn changes_are_found_where_they_are() {
        let levels = |i: usize| if (100..220).contains(&i) { 900.0 } else { 1000.0 };
        for seed in 0..50 {
            let found = level_changes(&noisy(seed, 0.3, 400, levels), 0.02);
            assert_eq!(found.len(), 2, "seed {seed}: {found:?}");
            assert!(found[0].abs_diff(100) <= 5 && found[1].abs_diff(220) <= 5, "seed {seed}: {found:?}");
        }
    }

    #[test]
    fn a_memory_does_not_pass_for_changes() {
        for phi in [0.0, 0.5, 0.9] {
            let wrong = (0..300).filter(|s| !level_changes(&noisy(*s, phi, 300, |_| 1000.0), 0.0).is_empty()).count();
            assert!(wrong <= 9, "phi {phi}: {wrong} of 300");
        }
    }

    #[test]
    fn small_changes_wild_points_and_short_series_are_none() {
        let small = noisy(1, 0.0, 600, |i| if i < 300 { 1000.0 } else { 1010.0 });
        assert_eq!(level_changes(&small, 0.02), Vec::<usize>::new());
        let mut wild = noisy(2, 0.0, 300, |_| 1000.0);
        wild[140] = 1.0;
        wild[290] = 90_000.0;
        assert_eq!(level_changes(&wild, 0.02), Vec::<usize>::new());
        assert_eq!(level_changes(&[1.0, 9.0], 0.02), Vec::<usize>::new());
        assert_eq!(level_changes(&[0.0; 50], 0.02), Vec::<usize>::new());
    }
}
