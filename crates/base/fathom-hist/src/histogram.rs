//! The histogram itself.

use crate::layout::{BUCKETS, TOP, high_of, index_of, low_of};

/// Latency histogram of nanoseconds with a relative error of at most [`REL_ERROR_MAX`](crate::REL_ERROR_MAX).
///
/// Count, minimum, maximum and sum are exact. Merging is addition: merging histograms of parts equals recording the
/// whole. About 37 KB each.
#[derive(Clone, PartialEq, Eq)]
pub struct Histogram {
    pub(crate) counts: Box<[u64; BUCKETS]>,
    pub(crate) count: u64,
    /// 128 bits: the sum of latencies grows by in-flight x time, which 64 bits hold for days only at high depths.
    pub(crate) sum_ns: u128,
    /// `u64::MAX` while empty, so that `record` needs no special first case.
    pub(crate) min_ns: u64,
    pub(crate) max_ns: u64,
}

/// A bucket with at least one sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Smallest value it can hold, nanoseconds.
    pub low_ns: u64,
    /// Largest value it can hold, nanoseconds, inclusive; for the top bucket the largest value seen.
    pub high_ns: u64,
    /// Samples in it.
    pub count: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram::new()
    }
}

impl std::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count)
            .field("min_ns", &self.min_ns())
            .field("p50_ns", &self.quantile(0.5))
            .field("p99_ns", &self.quantile(0.99))
            .field("max_ns", &self.max_ns())
            .field("sum_ns", &self.sum_ns)
            .finish_non_exhaustive()
    }
}

impl Histogram {
    /// An empty histogram. Allocates; recording never does.
    ///
    /// # Panics
    /// Never: the slice has the array's length.
    #[must_use]
    pub fn new() -> Self {
        let counts = vec![0_u64; BUCKETS].into_boxed_slice().try_into().expect("the slice has the array's length");
        Histogram { counts, count: 0, sum_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }

    /// Count one latency, nanoseconds.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.counts[index_of(ns)] += 1;
        self.count += 1;
        self.sum_ns += u128::from(ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// Count the same latency `n` times: the I/Os of one batch. Nothing happens for `n == 0`.
    #[inline]
    pub fn record_n(&mut self, ns: u64, n: u64) {
        if n == 0 {
            return;
        }
        self.counts[index_of(ns)] += n;
        self.count += n;
        self.sum_ns += u128::from(ns) * u128::from(n);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// Add the samples of another histogram. Counts saturate at 2^64 - 1, which no run reaches.
    pub fn merge(&mut self, other: &Histogram) {
        let used = other.used();
        for (mine, theirs) in self.counts[used.clone()].iter_mut().zip(&other.counts[used]) {
            *mine = mine.saturating_add(*theirs);
        }
        self.count = self.count.saturating_add(other.count);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Forget all samples, keep the memory.
    pub fn clear(&mut self) {
        let used = self.used();
        self.counts[used].fill(0);
        self.count = 0;
        self.sum_ns = 0;
        self.min_ns = u64::MAX;
        self.max_ns = 0;
    }

    /// Number of samples.
    #[inline]
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether nothing was recorded.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Smallest sample, exact; `None` when empty.
    #[must_use]
    pub fn min_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min_ns)
    }

    /// Largest sample, exact; `None` when empty.
    #[must_use]
    pub fn max_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max_ns)
    }

    /// Sum of all samples, exact, nanoseconds.
    #[must_use]
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// Mean of the samples, from their exact sum; `None` when empty.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// Standard deviation of the samples themselves (divisor n), from bucket middles; `None` when empty.
    #[must_use]
    pub fn stddev_ns(&self) -> Option<f64> {
        let mean = self.mean_ns()?;
        let squares: f64 = self
            .used()
            .map(|i| {
                let deviation = self.middle_of(i) as f64 - mean;
                self.counts[i] as f64 * deviation * deviation
            })
            .sum();
        Some((squares / self.count as f64).sqrt())
    }

    /// Value at quantile `q` in [0, 1]: the ceil(q n)-th smallest sample, read from the middle of its bucket.
    ///
    /// Off by at most [`REL_ERROR_MAX`](crate::REL_ERROR_MAX) below [`TOP_NS`](crate::TOP_NS), never below the minimum
    /// or above the maximum; q = 0 and q = 1 give those exactly. `q` outside [0, 1] is clamped. `None` when empty or
    /// when `q` is not a number.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<u64> {
        if self.count == 0 || q.is_nan() {
            return None;
        }
        let rank = self.rank_of(q.clamp(0.0, 1.0));
        if rank == 1 {
            return Some(self.min_ns);
        }
        if rank == self.count {
            return Some(self.max_ns);
        }
        let mut seen = 0_u64;
        for i in self.used() {
            seen = seen.saturating_add(self.counts[i]);
            if seen >= rank {
                return Some(self.middle_of(i));
            }
        }
        Some(self.max_ns)
    }

    /// Samples larger than `ns`, to the resolution of the buckets: samples in the bucket of `ns` are not counted.
    ///
    /// Exact for `ns` below the minimum (all) and from the maximum on (none).
    #[must_use]
    pub fn count_above(&self, ns: u64) -> u64 {
        if self.count == 0 || ns >= self.max_ns {
            return 0;
        }
        if ns < self.min_ns {
            return self.count;
        }
        self.counts[index_of(ns) + 1..=index_of(self.max_ns)].iter().fold(0, |a, c| a.saturating_add(*c))
    }

    /// Samples of at least `ns`, to the resolution of the buckets: samples in the bucket of `ns` are counted.
    ///
    /// Exact for `ns` up to the minimum (all) and beyond the maximum (none).
    #[must_use]
    pub fn count_at_or_above(&self, ns: u64) -> u64 {
        if self.count == 0 || ns > self.max_ns {
            return 0;
        }
        if ns <= self.min_ns {
            return self.count;
        }
        self.counts[index_of(ns)..=index_of(self.max_ns)].iter().fold(0, |a, c| a.saturating_add(*c))
    }

    /// The buckets that hold samples, ascending.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.used().filter(|i| self.counts[*i] > 0).map(|i| Bucket {
            low_ns: low_of(i),
            high_ns: if i == TOP { self.max_ns } else { high_of(i) },
            count: self.counts[i],
        })
    }

    /// Indices from the first to the last bucket with samples.
    pub(crate) fn used(&self) -> std::ops::Range<usize> {
        if self.count == 0 { 0..0 } else { index_of(self.min_ns)..index_of(self.max_ns) + 1 }
    }

    /// Middle of a bucket, narrowed to the values that can be in it.
    fn middle_of(&self, index: usize) -> u64 {
        let low = low_of(index).max(self.min_ns);
        let high = high_of(index).min(self.max_ns);
        low + (high - low) / 2
    }

    /// Rank of the sample at quantile `q`, from 1.
    fn rank_of(&self, q: f64) -> u64 {
        let exact = q * self.count as f64;
        // 0.07 * 100 is a hair above 7 in binary; without the allowance it would become rank 8.
        let rank = (exact - exact * 4.0 * f64::EPSILON).ceil() as u64;
        rank.clamp(1, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{REL_ERROR_MAX, TOP_NS};
    use proptest::prelude::*;

    /// Latencies over all octaves below the top bucket, so that no size of value is rare.
    fn latency() -> impl Strategy<Value = u64> {
        (0_u32..42, any::<u64>()).prop_map(|(octave, raw)| (raw & ((1 << octave) - 1)) | (1 << octave))
    }

    fn of(values: &[u64]) -> Histogram {
        let mut h = Histogram::new();
        for v in values {
            h.record(*v);
        }
        h
    }

    fn near(measured: u64, truth: u64) -> bool {
        (measured as f64 - truth as f64).abs() <= REL_ERROR_MAX * truth as f64
    }

    #[test]
    fn an_empty_histogram_has_no_figures() {
        let h = Histogram::default();
        assert!(h.is_empty());
        assert_eq!((h.min_ns(), h.max_ns(), h.mean_ns(), h.stddev_ns()), (None, None, None, None));
        assert_eq!(h.quantile(0.5), None);
        assert_eq!(h.count_above(0), 0);
        assert_eq!(h.buckets().count(), 0);
    }

    #[test]
    fn values_beyond_the_top_share_a_bucket_but_keep_exact_extremes() {
        let h = of(&[5, TOP_NS, u64::MAX]);
        assert_eq!(h.max_ns(), Some(u64::MAX));
        assert_eq!(h.quantile(1.0), Some(u64::MAX));
        assert_eq!(h.sum_ns(), 5 + u128::from(TOP_NS) + u128::from(u64::MAX));
        let last = h.buckets().last();
        assert_eq!(last, Some(Bucket { low_ns: TOP_NS, high_ns: u64::MAX, count: 2 }));
    }

    #[test]
    fn ranks_do_not_slip_by_binary_rounding() {
        let values: Vec<u64> = (1..=100).collect();
        let h = of(&values);
        for pct in 1..=100_u64 {
            assert_eq!(h.quantile(pct as f64 / 100.0), Some(pct));
        }
    }

    #[test]
    fn a_quantile_that_is_no_number_or_out_of_range_is_harmless() {
        let h = of(&[10, 20, 30]);
        assert_eq!(h.quantile(f64::NAN), None);
        assert_eq!(h.quantile(-1.0), Some(10));
        assert_eq!(h.quantile(7.0), Some(30));
    }

    #[test]
    fn equal_samples_have_no_spread() {
        let mut h = Histogram::new();
        h.record_n(81_234, 1000);
        assert_eq!(h.stddev_ns(), Some(0.0));
        assert_eq!(h.mean_ns(), Some(81_234.0));
        assert_eq!(h.quantile(0.37), Some(81_234));
    }

    #[test]
    fn recording_nothing_changes_nothing() {
        let mut h = Histogram::new();
        h.record_n(77, 0);
        assert_eq!(h, Histogram::new());
    }

    proptest! {
        #[test]
        fn quantiles_agree_with_the_sorted_samples(
            mut values in prop::collection::vec(latency(), 1..400),
            q in 0.0_f64..=1.0,
        ) {
            let h = of(&values);
            values.sort_unstable();
            let rank = ((q * values.len() as f64).ceil() as usize).max(1);
            let (got, want) = (h.quantile(q).unwrap(), values[rank - 1]);
            prop_assert!(near(got, want), "q {q}: {got} for {want}");
            prop_assert_eq!(h.min_ns(), values.first().copied());
            prop_assert_eq!(h.max_ns(), values.last().copied());
        }

        #[test]
        fn mean_is_exact_and_stddev_near(values in prop::collection::vec(latency(), 1..200)) {
            let h = of(&values);
            let n = values.len() as f64;
            let sum: u128 = values.iter().map(|v| u128::from(*v)).sum();
            let mean = sum as f64 / n;
            prop_assert_eq!(h.mean_ns(), Some(mean));
            let var = values.iter().map(|v| (*v as f64 - mean).powi(2)).sum::<f64>() / n;
            let largest = *values.iter().max().unwrap() as f64;
            prop_assert!((h.stddev_ns().unwrap() - var.sqrt()).abs() <= REL_ERROR_MAX * largest);
        }

        #[test]
        fn quantiles_agree_with_hdrhistogram(
            values in prop::collection::vec(latency(), 1..400),
            q in 0.0_f64..=1.0,
        ) {
            let h = of(&values);
            let mut oracle = hdrhistogram::Histogram::<u64>::new_with_bounds(1, TOP_NS, 3).unwrap();
            for v in &values {
                oracle.record(*v).unwrap();
            }
            let (got, want) = (h.quantile(q).unwrap() as f64, oracle.value_at_quantile(q) as f64);
            prop_assert!((got - want).abs() <= (REL_ERROR_MAX + 0.001) * want.max(got) + 1.0, "{got} {want}");
        }

        #[test]
        fn merging_parts_equals_recording_the_whole(
            a in prop::collection::vec(any::<u64>(), 0..100),
            b in prop::collection::vec(latency(), 0..100),
        ) {
            let mut merged = of(&a);
            merged.merge(&of(&b));
            let whole: Vec<u64> = a.iter().chain(&b).copied().collect();
            prop_assert_eq!(merged, of(&whole));
        }

        #[test]
        fn recording_n_times_equals_recording_n(ns: u64, n in 0_u64..50) {
            let mut at_once = Histogram::new();
            at_once.record_n(ns, n);
            prop_assert_eq!(at_once, of(&vec![ns; n as usize]));
        }

        #[test]
        fn cleared_equals_new(values in prop::collection::vec(any::<u64>(), 0..50)) {
            let mut h = of(&values);
            h.clear();
            prop_assert_eq!(h, Histogram::new());
        }

        #[test]
        fn buckets_account_for_every_sample(values in prop::collection::vec(any::<u64>(), 0..100)) {
            let h = of(&values);
            let buckets: Vec<Bucket> = h.buckets().collect();
            prop_assert_eq!(buckets.iter().map(|b| b.count).sum::<u64>(), values.len() as u64);
            prop_assert!(buckets.windows(2).all(|w| w[0].high_ns < w[1].low_ns));
            for b in &buckets {
                let inside = values.iter().filter(|v| (b.low_ns..=b.high_ns).contains(v)).count();
                prop_assert_eq!(inside as u64, b.count);
            }
        }

        #[test]
        fn count_above_lies_between_the_bounds_of_the_bucket(
            values in prop::collection::vec(latency(), 1..100),
            at in latency(),
        ) {
            let got = of(&values).count_above(at);
            let above = values.iter().filter(|v| **v > at).count() as u64;
            let well_above = values.iter().filter(|v| **v as f64 > at as f64 * (1.0 + 2.0 * REL_ERROR_MAX)).count();
            prop_assert!(well_above as u64 <= got && got <= above);
            let from = of(&values).count_at_or_above(at);
            let at_least = values.iter().filter(|v| **v >= at).count() as u64;
            let nearly = values.iter().filter(|v| **v as f64 >= at as f64 * (1.0 - 2.0 * REL_ERROR_MAX)).count();
            prop_assert!(at_least <= from && from <= nearly as u64);
        }
    }
}
