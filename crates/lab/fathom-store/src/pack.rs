//! Words and blobs: how values of the record lie in columns.

use fathom_hist::Histogram;
use fathom_message::{Message, Say as _, msg};
use fathom_plan::Op;
use fathom_record::{
    ArrayRecord, ClockUse, FeatureUse, HostDelta, IoFailure, OpenLoop, Overhead, PurgeReport, RanksRecord, StepRecord,
    TargetRecord, ThreadRecord, VerifyReport, Warning,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The parts of a record that no query asks for by itself: one JSON column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RecordRest {
    pub(crate) threads: Vec<ThreadRecord>,
    pub(crate) failures: Vec<IoFailure>,
    pub(crate) host: Option<HostDelta>,
    pub(crate) features: Vec<FeatureUse>,
    pub(crate) clock: Option<ClockUse>,
    pub(crate) overhead: Option<Overhead>,
    pub(crate) in_flight_mean: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) occupied_mean: Option<f64>,
    #[serde(rename = "in_flight_age_ns")]
    pub(crate) age_ns: Option<[u64; 2]>,
    pub(crate) verify: Option<VerifyReport>,
    pub(crate) open_loop: Option<OpenLoop>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) targets: Vec<TargetRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) arrays: Vec<ArrayRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) purges: Vec<PurgeReport>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ranks: Option<RanksRecord>,
    pub(crate) warnings: Vec<Warning>,
}

impl RecordRest {
    pub(crate) fn of(record: &StepRecord) -> RecordRest {
        RecordRest {
            threads: record.threads.clone(),
            failures: record.failures.clone(),
            host: record.host.clone(),
            features: record.features.clone(),
            clock: record.clock.clone(),
            overhead: record.overhead.clone(),
            in_flight_mean: record.in_flight_mean,
            occupied_mean: record.occupied_mean,
            age_ns: record.age_ns,
            verify: record.verify.clone(),
            open_loop: record.open_loop.clone(),
            targets: record.targets.clone(),
            arrays: record.arrays.clone(),
            purges: record.purges.clone(),
            ranks: record.ranks.clone(),
            warnings: record.warnings.clone(),
        }
    }
}

/// JSON of `value`, only if it reads back equal: JSON knows neither NaN nor infinity, and what is stored must come back.
pub(crate) fn to_json<T: Serialize + DeserializeOwned + PartialEq>(value: &T) -> Option<String> {
    let text = serde_json::to_string(value).ok()?;
    let back: T = serde_json::from_str(&text).ok()?;
    (back == *value).then_some(text)
}

pub(crate) fn op_word(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
        Op::Trim => "trim",
        Op::Sync => "sync",
    }
}

pub(crate) fn op_from_word(word: &str) -> Option<Op> {
    [Op::Read, Op::Write, Op::Trim, Op::Sync].into_iter().find(|op| op_word(*op) == word)
}

/// SQLite's integers are signed: the upper half of `u64` is stored as negative numbers and comes back exactly. Real
/// figures are far below it, so queries see what they expect.
pub(crate) fn to_column(value: u64) -> i64 {
    value as i64
}

pub(crate) fn from_column(value: i64) -> u64 {
    value as u64
}

/// Histograms one after the other, each with its length as four bytes, least first.
pub(crate) fn pack<'h>(histograms: impl Iterator<Item = &'h Histogram>) -> Vec<u8> {
    let mut out = Vec::new();
    for histogram in histograms {
        let bytes = histogram.to_bytes();
        let length = u32::try_from(bytes.len()).expect("a histogram has a bounded number of buckets");
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&bytes);
    }
    out
}

/// Takes packed histograms off the front of a blob, one by one.
pub(crate) struct Unpack<'b> {
    rest: &'b [u8],
}

impl<'b> Unpack<'b> {
    pub(crate) fn new(blob: &'b [u8]) -> Self {
        Unpack { rest: blob }
    }

    /// The next histogram, or what is wrong with the blob.
    pub(crate) fn next(&mut self) -> Result<Histogram, Message> {
        let (length, rest) = self.rest.split_first_chunk::<4>().ok_or(msg!("lab-histograms-cut-off"))?;
        let length = u32::from_le_bytes(*length) as usize;
        let bytes = rest.get(..length).ok_or(msg!("lab-histograms-cut-off"))?;
        self.rest = &rest[length..];
        Histogram::from_bytes(bytes).map_err(|error| error.message())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn figures_that_json_cannot_hold_are_found() {
        assert!(to_json(&vec![1.5f64]).is_some());
        assert!(to_json(&vec![f64::NAN]).is_none());
        assert!(to_json(&vec![f64::INFINITY]).is_none());
        assert!(to_json(&Some(f64::NAN)).is_none());
    }

    #[test]
    fn a_cut_blob_is_an_error_wherever_it_is_cut() {
        let mut histogram = Histogram::new();
        histogram.record_n(1000, 5);
        let blob = pack([&histogram].into_iter());
        for cut in 0..blob.len() {
            assert!(Unpack::new(&blob[..cut]).next().is_err(), "cut at {cut}");
        }
        let of_next = |blob: &[u8]| Unpack::new(blob).next().expect_err("is damaged").id().to_owned();
        assert_eq!(of_next(&blob[..blob.len() - 1]), "lab-histograms-cut-off");
        assert_eq!(of_next(&[1, 0, 0, 0, 255]), "hist-unknown-version", "what the histogram's decoder says, in words");
    }

    proptest! {
        #[test]
        fn packed_histograms_come_back_in_order(samples in proptest::collection::vec(
            proptest::collection::vec(0u64..1 << 45, 0..20), 0..8,
        )) {
            let histograms: Vec<Histogram> = samples.iter().map(|values| {
                let mut histogram = Histogram::new();
                values.iter().for_each(|v| histogram.record(*v));
                histogram
            }).collect();
            let blob = pack(histograms.iter());
            let mut unpack = Unpack::new(&blob);
            for histogram in &histograms {
                let back = unpack.next();
                prop_assert_eq!(back.as_ref(), Ok(histogram));
            }
            prop_assert!(unpack.is_empty());
        }

        #[test]
        fn every_finite_number_survives_json(bits in any::<u64>(), small in any::<u32>()) {
            let (wide, narrow) = (f64::from_bits(bits), f32::from_bits(small));
            prop_assume!(wide.is_finite() && narrow.is_finite());
            prop_assert!(to_json(&(wide, narrow)).is_some());
        }

        #[test]
        fn columns_hold_every_u64(value in any::<u64>()) {
            prop_assert_eq!(from_column(to_column(value)), value);
        }
    }
}
