//! How much of the beginning is warm-up.

/// Points of `series` that are warm-up by the MSER rule over groups of `group` points (White 1997; White, Cobb and
/// Spratt 2000: groups of five).
///
/// Cuts where the standard error of the mean of the rest is least, within the first three quarters. `None` when that is in the second half: the run is
/// too short to tell warm-up from the rest; also with fewer than ten groups. A last incomplete group is left out.
#[must_use]
pub fn mser_cut(series: &[f64], group: usize) -> Option<usize> {
    const GROUPS_MIN: usize = 10;
    let group = group.max(1);
    let means: Vec<f64> = series.chunks_exact(group).map(crate::batch::mean).collect();
    if means.len() < GROUPS_MIN {
        return None;
    }
    // The error of few groups is small by chance. A warm-up that ends in the last quarter still shows as a minimum in
    // the second half.
    let kept_min = means.len().div_ceil(4);
    // Relative to the last mean, so that squares of large figures do not swallow their spread.
    let origin = means[means.len() - 1];
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (cut, mean) in means.iter().enumerate().rev() {
        let x = mean - origin;
        sum += x;
        squares += x * x;
        let kept = (means.len() - cut) as f64;
        let error = (squares - sum * sum / kept).max(0.0) / (kept * kept);
        // From the end to the beginning: of equal errors the shortest cut wins.
        if means.len() - cut >= kept_min && error <= best.0 {
            best = (error, cut);
        }
    }
    (best.1 <= means.len() / 2).then_some(best.1 * group)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Random, ar1};
    use proptest::prelude::*;

    fn with_warm_up(seed: u64, points: usize, warm_up: usize) -> Vec<f64> {
        let noise = ar1(&mut Random::new(seed), 0.3, points);
        noise.iter().enumerate().map(|(i, x)| if i < warm_up { 150.0 } else { 100.0 } + x).collect()
    }

    #[test]
    fn a_warm_up_is_cut_off_where_it_ends() {
        let cuts: Vec<usize> = (0..50).filter_map(|seed| mser_cut(&with_warm_up(seed, 300, 60), 5)).collect();
        assert!(cuts.iter().all(|c| *c >= 60), "{cuts:?}");
        // Noise moves the minimum later in a few runs, or past the middle; that costs data or a verdict, not truth.
        assert!(cuts.iter().filter(|c| **c <= 80).count() >= 40, "{cuts:?}");
    }

    #[test]
    fn a_warm_up_longer_than_half_the_run_is_no_verdict() {
        for seed in 0..50 {
            assert_eq!(mser_cut(&with_warm_up(seed, 300, 200), 5), None, "seed {seed}");
        }
    }

    #[test]
    fn a_constant_run_has_no_warm_up_and_a_short_run_no_verdict() {
        assert_eq!(mser_cut(&[7.0; 100], 5), Some(0));
        assert_eq!(mser_cut(&[7.0; 49], 5), None);
        assert_eq!(mser_cut(&[7.0; 10], 1), Some(0));
    }

    proptest! {
        #[test]
        fn the_cut_agrees_with_the_formula_written_out(series in prop::collection::vec(90.0_f64..110.0, 10..60)) {
            let error = |d: usize| {
                let rest = &series[d..];
                let mean = rest.iter().sum::<f64>() / rest.len() as f64;
                rest.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / (rest.len() as f64).powi(2)
            };
            let best = (0..=series.len() - series.len().div_ceil(4)).min_by(|a, b| error(*a).total_cmp(&error(*b))).unwrap();
            prop_assert_eq!(mser_cut(&series, 1), (best <= series.len() / 2).then_some(best));
        }
    }
}
