//! fio's latency buckets: which of its 1856 counters a latency falls into, and the value fio prints for it.
//!
//! Source: `plat_val_to_idx` and `plat_idx_to_val` in fio's stat.c. Values below 128 ns have a bucket each, larger ones
//! share 64 buckets per octave. Fathom has 128 per octave, so each of its buckets lies within one of fio's and the
//! mapping loses resolution but never misplaces a sample.

use fathom_hist::Histogram;

/// Buckets per octave.
const PER_OCTAVE: u64 = 64;

/// Groups of [`PER_OCTAVE`] buckets.
const GROUPS: u64 = 29;

/// Number of buckets, and of counters in a line of fio's histogram log.
pub const FIO_BINS: usize = (GROUPS * PER_OCTAVE) as usize;

/// Bucket of a latency; longer ones than fio can tell apart (17 s) fall into the last bucket, as in fio.
#[must_use]
pub fn bin_of_ns(ns: u64) -> usize {
    if ns < 2 * PER_OCTAVE {
        return ns as usize;
    }
    let shift = u64::from(ns.ilog2()) - u64::from(PER_OCTAVE.ilog2());
    let index = (shift + 1) * PER_OCTAVE + ((ns >> shift) & (PER_OCTAVE - 1));
    (index as usize).min(FIO_BINS - 1)
}

/// Value fio prints for a bucket, nanoseconds: its middle, rounded down.
///
/// # Panics
/// When `bin` is not below [`FIO_BINS`].
#[must_use]
pub fn ns_of_bin(bin: usize) -> u64 {
    assert!(bin < FIO_BINS, "fio has {FIO_BINS} buckets");
    let bin = bin as u64;
    if bin < 2 * PER_OCTAVE {
        return bin;
    }
    let shift = bin / PER_OCTAVE - 1;
    let low = (PER_OCTAVE + bin % PER_OCTAVE) << shift;
    low + (1_u64 << shift) / 2
}

/// Samples of a histogram per bucket of fio, [`FIO_BINS`] counters.
#[must_use]
pub fn bin_counts(histogram: &Histogram) -> Vec<u64> {
    let mut counts = vec![0_u64; FIO_BINS];
    for bucket in histogram.buckets() {
        counts[bin_of_ns(bucket.low_ns)] += bucket.count;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_are_those_that_fio_prints() {
        for printed in [0, 127, 684, 788, 804, 948, 1160, 10_688, 65_280, 66_048, 815_104, 1_449_984] {
            assert_eq!(ns_of_bin(bin_of_ns(printed)), printed);
        }
        assert_eq!(ns_of_bin(FIO_BINS - 1), 17_112_760_320);
        assert_eq!(bin_of_ns(u64::MAX), FIO_BINS - 1);
    }

    proptest! {
        #[test]
        fn no_sample_changes_its_bucket_on_the_way_through_a_histogram(values in prop::collection::vec(0_u64..20_000_000_000, 1..200)) {
            let mut histogram = Histogram::new();
            let mut expected = vec![0_u64; FIO_BINS];
            for ns in values {
                histogram.record(ns);
                expected[bin_of_ns(ns)] += 1;
            }
            prop_assert_eq!(bin_counts(&histogram), expected);
        }

        #[test]
        fn a_bucket_value_is_within_one_in_128_of_its_samples(ns in 1_u64..17_000_000_000) {
            let printed = ns_of_bin(bin_of_ns(ns));
            prop_assert!(printed.abs_diff(ns) as f64 <= ns as f64 / 128.0);
        }
    }
}
