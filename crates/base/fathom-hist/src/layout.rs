//! Which bucket holds which values.

/// Bits of a value kept below its leading one: 128 buckets per octave.
const SUB_BITS: u32 = 7;
const SUB_BUCKETS: usize = 1 << SUB_BITS;

/// First value of the top bucket, nanoseconds: 2^42, about 73 minutes. Values from here on are counted together.
pub const TOP_NS: u64 = 1 << 42;

/// Largest relative error of a value read from a histogram, for values below [`TOP_NS`]: half a bucket, 1/256.
pub const REL_ERROR_MAX: f64 = 1.0 / (2 * SUB_BUCKETS) as f64;

/// Index of the top bucket, the last.
pub(crate) const TOP: usize = (42 - SUB_BITS as usize) * SUB_BUCKETS + SUB_BUCKETS;

/// Number of buckets.
pub(crate) const BUCKETS: usize = TOP + 1;

/// Bucket of a value. Without branches: it runs once per I/O.
#[inline(always)]
pub(crate) fn index_of(ns: u64) -> usize {
    // Setting bit 7 makes all values below 256 take shift 0, where the bucket is the value itself.
    let shift = (63 - SUB_BITS) - (ns | SUB_BUCKETS as u64).leading_zeros();
    let index = ((shift as usize) << SUB_BITS) + (ns >> shift) as usize;
    index.min(TOP)
}

/// Smallest value of a bucket, nanoseconds.
#[inline]
pub(crate) fn low_of(index: usize) -> u64 {
    if index < 2 * SUB_BUCKETS {
        return index as u64;
    }
    let shift = index / SUB_BUCKETS - 1;
    ((index - shift * SUB_BUCKETS) as u64) << shift
}

/// Largest value of a bucket, nanoseconds; `u64::MAX` for the top bucket.
#[inline]
pub(crate) fn high_of(index: usize) -> u64 {
    if index >= TOP { u64::MAX } else { low_of(index + 1) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_follow_each_other_without_gap_or_overlap() {
        assert_eq!(low_of(0), 0);
        for i in 0..BUCKETS {
            assert_eq!(index_of(low_of(i)), i);
            assert_eq!(index_of(high_of(i)), i);
        }
        assert_eq!(low_of(TOP), TOP_NS);
    }

    #[test]
    fn every_bucket_below_the_top_keeps_the_error_bound() {
        for i in 0..TOP {
            let (low, high) = (low_of(i), high_of(i));
            let middle = low + (high - low) / 2;
            let error = (high - middle).max(middle - low);
            assert!(error as f64 <= REL_ERROR_MAX * low as f64, "bucket {i}: {low}..={high}");
        }
    }

    #[test]
    fn an_hour_is_not_clipped() {
        let hour_ns = 3_600_000_000_000_u64;
        assert!(index_of(hour_ns) < TOP);
        assert!(high_of(index_of(hour_ns)) < TOP_NS);
    }

    proptest! {
        #[test]
        fn a_value_lies_in_its_bucket(shift in 0_u32..64, raw: u64) {
            let ns = raw >> shift;
            let i = index_of(ns);
            prop_assert!(low_of(i) <= ns && ns <= high_of(i));
        }
    }
}
