//! Histogram as bytes: version, then LEB128 numbers; only buckets with samples.
//!
//! `1, buckets, min, max, sum, (gap to the previous bucket, count)...`; an empty histogram is `1, 0`.

use fathom_message::{Message, Say, msg, say_error};

use crate::histogram::Histogram;
use crate::layout::{BUCKETS, TOP, high_of, index_of, low_of};

const VERSION: u8 = 1;

/// Why bytes are not a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The bytes end too early.
    Truncated {
        /// Where the bytes end.
        offset: usize,
    },
    /// Written by another version of the format.
    UnknownVersion {
        /// The version byte.
        found: u8,
    },
    /// Bytes follow the last bucket.
    TrailingBytes {
        /// Where the histogram ends.
        offset: usize,
    },
    /// The numbers contradict each other.
    Inconsistent(Contradiction),
}

/// Numbers of a histogram that cannot stand together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contradiction {
    /// More buckets than the format has.
    Buckets,
    /// A bucket beyond the last.
    BucketBeyondLast,
    /// A bucket without samples.
    EmptyBucket,
    /// More than 2^64 samples.
    Samples,
    /// Minimum or maximum outside the first or last bucket.
    Extremes,
    /// A sum that the buckets cannot give.
    Sum,
    /// A number of more bits than its field has.
    Bits {
        /// Bits of the field.
        max: u32,
    },
}

impl Say for DecodeError {
    fn message(&self) -> Message {
        match *self {
            DecodeError::Truncated { offset } => msg!("hist-truncated", offset = offset),
            DecodeError::UnknownVersion { found } => {
                msg!("hist-unknown-version", found = found, readable = VERSION)
            }
            DecodeError::TrailingBytes { offset } => msg!("hist-trailing-bytes", offset = offset),
            DecodeError::Inconsistent(what) => msg!("hist-inconsistent", what = what.message()),
        }
    }
}

say_error!(DecodeError);

impl Contradiction {
    fn message(self) -> Message {
        match self {
            Contradiction::Buckets => msg!("hist-too-many-buckets"),
            Contradiction::BucketBeyondLast => msg!("hist-bucket-beyond-last"),
            Contradiction::EmptyBucket => msg!("hist-empty-bucket"),
            Contradiction::Samples => msg!("hist-too-many-samples"),
            Contradiction::Extremes => msg!("hist-extremes-outside"),
            Contradiction::Sum => msg!("hist-impossible-sum"),
            Contradiction::Bits { max } => msg!("hist-too-many-bits", max = max),
        }
    }
}

impl Histogram {
    /// The histogram as compact bytes, for the store. Read back with [`Histogram::from_bytes`].
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let filled: Vec<usize> = self.used().filter(|i| self.counts[*i] > 0).collect();
        let mut out = Vec::with_capacity(16 + 3 * filled.len());
        out.push(VERSION);
        put(&mut out, filled.len() as u128);
        if filled.is_empty() {
            return out;
        }
        put(&mut out, u128::from(self.min_ns));
        put(&mut out, u128::from(self.max_ns));
        put(&mut out, self.sum_ns);
        let mut next = 0;
        for i in filled {
            put(&mut out, (i - next) as u128);
            put(&mut out, u128::from(self.counts[i]));
            next = i + 1;
        }
        out
    }

    /// Read a histogram from bytes of [`Histogram::to_bytes`].
    ///
    /// # Errors
    /// When the bytes are cut, of another version, or contradict themselves. Never panics, whatever the bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Histogram, DecodeError> {
        let mut h = Histogram::new();
        h.read(bytes)?;
        Ok(h)
    }

    /// The same into the memory of a histogram that is there, whose samples are forgotten: for whoever reads many.
    ///
    /// # Errors
    /// As [`Histogram::from_bytes`]; then it is empty.
    pub fn read(&mut self, bytes: &[u8]) -> Result<(), DecodeError> {
        self.clear();
        let read = self.read_empty(bytes);
        if read.is_err() {
            // What was read of the extremes need not fit the buckets, which are all that `clear` looks at.
            self.counts.fill(0);
            (self.count, self.sum_ns, self.min_ns, self.max_ns) = (0, 0, u64::MAX, 0);
        }
        read
    }

    fn read_empty(&mut self, bytes: &[u8]) -> Result<(), DecodeError> {
        let mut reader = Reader { bytes, offset: 0 };
        let version = reader.byte()?;
        if version != VERSION {
            return Err(DecodeError::UnknownVersion { found: version });
        }
        let filled = reader.number()?;
        if filled > BUCKETS as u128 {
            return Err(DecodeError::Inconsistent(Contradiction::Buckets));
        }
        if filled > 0 {
            self.min_ns = reader.number_u64()?;
            self.max_ns = reader.number_u64()?;
            self.sum_ns = reader.number()?;
            read_buckets(self, &mut reader, filled as usize)?;
        }
        if reader.offset != bytes.len() {
            return Err(DecodeError::TrailingBytes { offset: reader.offset });
        }
        Ok(())
    }
}

/// Fill counts and total, and check that minimum, maximum and sum fit them.
fn read_buckets(h: &mut Histogram, reader: &mut Reader<'_>, filled: usize) -> Result<(), DecodeError> {
    let (mut next, mut first, mut last) = (0_usize, None, 0);
    let (mut lowest_sum, mut highest_sum) = (0_u128, 0_u128);
    for _ in 0..filled {
        let gap = reader.number()?;
        if gap > (TOP - next.min(TOP)) as u128 || next > TOP {
            return Err(DecodeError::Inconsistent(Contradiction::BucketBeyondLast));
        }
        let i = next + gap as usize;
        let count = reader.number_u64()?;
        if count == 0 {
            return Err(DecodeError::Inconsistent(Contradiction::EmptyBucket));
        }
        h.counts[i] = count;
        let total = h.count.checked_add(count);
        h.count = total.ok_or(DecodeError::Inconsistent(Contradiction::Samples))?;
        // No overflow: the counts add up to less than 2^64, so the sums stay below 2^128.
        lowest_sum += u128::from(low_of(i).max(h.min_ns)) * u128::from(count);
        highest_sum += u128::from(high_of(i).min(h.max_ns)) * u128::from(count);
        first = first.or(Some(i));
        last = i;
        next = i + 1;
    }
    if first != Some(index_of(h.min_ns)) || last != index_of(h.max_ns) || h.min_ns > h.max_ns {
        return Err(DecodeError::Inconsistent(Contradiction::Extremes));
    }
    if h.sum_ns < lowest_sum || h.sum_ns > highest_sum {
        return Err(DecodeError::Inconsistent(Contradiction::Sum));
    }
    Ok(())
}

fn put(out: &mut Vec<u8>, mut value: u128) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

struct Reader<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl Reader<'_> {
    fn byte(&mut self) -> Result<u8, DecodeError> {
        let byte = self.bytes.get(self.offset).copied();
        self.offset += 1;
        byte.ok_or(DecodeError::Truncated { offset: self.bytes.len() })
    }

    fn number(&mut self) -> Result<u128, DecodeError> {
        match self.short_number() {
            Some(value) => Ok(u128::from(value)),
            None => self.long_number(),
        }
    }

    /// A number of at most nine bytes, as nearly all are; `None`, with nothing taken, for another or none.
    #[inline]
    fn short_number(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for (at, byte) in self.bytes.get(self.offset..)?.iter().take(9).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * at);
            if byte & 0x80 == 0 {
                self.offset += at + 1;
                return Some(value);
            }
        }
        None
    }

    fn long_number(&mut self) -> Result<u128, DecodeError> {
        let mut value = 0_u128;
        for shift in (0..128).step_by(7) {
            let byte = self.byte()?;
            let part = u128::from(byte & 0x7f);
            if shift == 126 && part > 3 {
                break;
            }
            value |= part << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(DecodeError::Inconsistent(Contradiction::Bits { max: 128 }))
    }

    fn number_u64(&mut self) -> Result<u64, DecodeError> {
        let wide = DecodeError::Inconsistent(Contradiction::Bits { max: 64 });
        match self.short_number() {
            Some(value) => Ok(value),
            None => u64::try_from(self.long_number()?).map_err(|_| wide),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn histogram() -> impl Strategy<Value = Histogram> {
        let sample = (0_u32..64, any::<u64>(), 1_u64..1_000_000).prop_map(|(shift, raw, n)| (raw >> shift, n));
        prop::collection::vec(sample, 0..60).prop_map(|samples| {
            let mut h = Histogram::new();
            for (ns, n) in samples {
                h.record_n(ns, n);
            }
            h
        })
    }

    #[test]
    fn an_empty_histogram_takes_two_bytes() {
        assert_eq!(Histogram::new().to_bytes(), [1, 0]);
        assert_eq!(Histogram::from_bytes(&[1, 0]), Ok(Histogram::new()));
    }

    #[test]
    fn another_version_is_named() {
        let error = Histogram::from_bytes(&[9, 0]).unwrap_err();
        assert_eq!(error, DecodeError::UnknownVersion { found: 9 });
        assert_eq!(error.message(), msg!("hist-unknown-version", found = 9_u8, readable = VERSION));
    }

    #[test]
    fn a_second_of_a_million_ios_takes_few_bytes() {
        let mut h = Histogram::new();
        for i in 0..1_000_000_u64 {
            h.record(80_000 + i % 40_000);
        }
        assert!(h.to_bytes().len() < 500, "{}", h.to_bytes().len());
    }

    #[test]
    fn contradictions_are_refused() {
        let mut h = Histogram::new();
        h.record(100);
        let good = h.to_bytes();
        assert_eq!(good, [1, 1, 100, 100, 100, 100, 1]);
        for (at, value) in [(1, 2), (2, 99), (3, 101), (4, 99), (5, 99), (6, 0), (6, 2)] {
            let mut bad = good.clone();
            bad[at] = value;
            assert!(Histogram::from_bytes(&bad).is_err(), "byte {at} = {value}");
        }
        let mut longer = good.clone();
        longer.push(0);
        assert_eq!(Histogram::from_bytes(&longer), Err(DecodeError::TrailingBytes { offset: 7 }));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(h in histogram()) {
            prop_assert_eq!(Histogram::from_bytes(&h.to_bytes()), Ok(h));
        }

        /// Whatever a histogram held before, and also where the bytes end too early.
        #[test]
        fn memory_is_read_into_again(before in histogram(), h in histogram(), cut: prop::sample::Index) {
            let bytes = h.to_bytes();
            let mut again = before.clone();
            prop_assert_eq!(again.read(&bytes), Ok(()));
            prop_assert_eq!(&again, &h);
            again = before;
            prop_assert!(again.read(&bytes[..cut.index(bytes.len())]).is_err());
            prop_assert_eq!(&again, &Histogram::new());
        }

        #[test]
        fn any_bytes_are_read_without_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..200), versioned: bool) {
            if versioned && !bytes.is_empty() {
                bytes[0] = VERSION;
            }
            if let Ok(h) = Histogram::from_bytes(&bytes) {
                // Whatever passes must behave: its figures are defined and its bytes stand for it.
                prop_assert_eq!(h.quantile(0.5).is_some(), !h.is_empty());
                prop_assert_eq!(Histogram::from_bytes(&h.to_bytes()), Ok(h));
            }
        }

        #[test]
        fn damaged_bytes_are_read_without_panic(h in histogram(), at: prop::sample::Index, bit in 0_u8..8) {
            let mut bytes = h.to_bytes();
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            if let Ok(read) = Histogram::from_bytes(&bytes) {
                prop_assert!(read.stddev_ns().is_none_or(|s| !s.is_nan()));
            }
        }

        #[test]
        fn cut_bytes_are_refused(h in histogram(), at: prop::sample::Index) {
            let bytes = h.to_bytes();
            prop_assert!(Histogram::from_bytes(&bytes[..at.index(bytes.len())]).is_err());
        }
    }
}
