//! Histograms within a record that is handed from one process to another: their own bytes, as hexadecimal digits.

use fathom_hist::Histogram;
use serde::de::{Error as _, Unexpected};
use serde::{Deserialize as _, Deserializer, Serializer};

/// Writes the digits.
pub(crate) fn serialize<S: Serializer>(histogram: &Histogram, to: S) -> Result<S::Ok, S::Error> {
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
    let bytes = histogram.to_bytes();
    to.serialize_str(&bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect::<String>())
}

/// Reads them back.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Histogram, D::Error> {
    let digits = String::deserialize(from)?;
    let value = |digit: u8| char::from(digit).to_digit(16).map(|v| v as u8);
    let byte = |pair: &[u8]| match pair {
        [high, low] => Some(value(*high)? << 4 | value(*low)?),
        _ => None,
    };
    let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(byte).collect();
    let bytes = bytes.ok_or_else(|| D::Error::invalid_value(Unexpected::Str(&digits), &"Histogram"))?;
    Histogram::from_bytes(&bytes).map_err(D::Error::custom)
}
