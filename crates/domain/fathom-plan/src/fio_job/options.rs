//! fio's options of a step, and the knobs that fio's options set: both by the table of knobs.

use super::keys;
use super::units::{fio_bytes, fio_number};
use crate::knobs::{self, Kind, KnobError, Knobs};
use crate::step::Step;

/// The options in fio's words for a step, but for its files; an empty value is a key that stands alone.
///
/// fio's `numjobs` and `rate_iops` are per file then, as Fathom's threads are per target.
#[must_use]
pub fn fio_options(step: &Step) -> Vec<(&'static str, String)> {
    let knobs = knobs::knobs().filter_map(|knob| Some((knob.name, knob.fio_value(step)?)));
    knobs.chain(keys::written(step)).collect()
}

/// Knobs as options of fio set them.
#[derive(Clone, Debug, PartialEq)]
pub struct FioKnobs {
    /// fio's defaults, and what the options say.
    pub knobs: Knobs,
    /// Options with values that no step can have; they changed nothing.
    pub faults: Vec<KnobError>,
}

/// The knobs of a job that fio ran, from its options (an empty value: the key stood alone). Sizes are read as fio reads
/// them. Keys that are no knobs are left out, as are those whose meaning depends on others: `numjobs`, `iodepth`, `size`,
/// `runtime`, `loops`, `rate_iops` and its process.
#[must_use]
pub fn knobs_from_fio<'a>(options: impl IntoIterator<Item = (&'a str, &'a str)>) -> FioKnobs {
    let mut out = FioKnobs { knobs: Knobs::fio_defaults(), faults: Vec::new() };
    for (key, value) in options {
        let key = keys::canonical(key);
        let Some(knob) = keys::knob_set_alone(key) else { continue };
        let value = if value.is_empty() && keys::is_flag(key) { "1" } else { value };
        if let Err(fault) = out.knobs.set(key, &as_fio_reads(knob.kind, value)) {
            out.faults.push(fault);
        }
    }
    out
}

/// The value with its numbers in decimal and its sizes in bytes; what fio cannot read stays, to be named as it is.
pub(super) fn as_fio_reads(kind: Kind, value: &str) -> String {
    let bytes = |text: &str| fio_bytes(text).map_or_else(|| text.to_owned(), |bytes| bytes.to_string());
    match kind {
        Kind::Size => value.split(',').map(bytes).collect::<Vec<_>>().join(","),
        Kind::Split => {
            let part = |part: &str| match part.split_once('/') {
                Some((size, share)) => format!("{}/{share}", bytes(size)),
                None => bytes(part),
            };
            value.split(':').map(part).collect::<Vec<_>>().join(":")
        }
        Kind::Number | Kind::Percent => fio_number(value).map_or_else(|| value.to_owned(), |number| number.to_string()),
        _ => value.to_owned(),
    }
}
