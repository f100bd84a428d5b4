//! Parts of a record that is handed from one process to another. In text histograms are their own bytes as hexadecimal
//! digits; in binary forms they go beside the record, where whoever reads them knows how many there may be.

use fathom_hist::Histogram;
use serde::de::{Error as _, Unexpected};
use serde::ser::Error as _;
use serde::{Deserialize as _, Deserializer, Serializer};

/// Writes the digits.
pub(crate) fn serialize<S: Serializer>(histogram: &Histogram, to: S) -> Result<S::Ok, S::Error> {
    if !to.is_human_readable() {
        return Err(S::Error::custom(APART));
    }
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
    let bytes = histogram.to_bytes();
    to.serialize_str(&bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect::<String>())
}

/// Reads them back.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Histogram, D::Error> {
    if !from.is_human_readable() {
        return Err(D::Error::custom(APART));
    }
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

/// For programmers: what is to be packed was not taken apart.
const APART: &str = "Histogram";

/// Times of CPUs: in binary forms without the names of their fields, of which a large host has thousands.
pub(crate) mod cpu_times {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::host::CpuTime;

    type Compact = (u32, [u64; 7]);

    pub(crate) fn serialize<S: Serializer>(cpus: &Vec<(u32, CpuTime)>, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() {
            return cpus.serialize(to);
        }
        to.collect_seq(cpus.iter().map(|(cpu, time)| {
            let CpuTime { user_ns, system_ns, irq_ns, softirq_ns, steal_ns, iowait_ns, idle_ns } = *time;
            (*cpu, [user_ns, system_ns, irq_ns, softirq_ns, steal_ns, iowait_ns, idle_ns])
        }))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(u32, CpuTime)>, D::Error> {
        if from.is_human_readable() {
            return Vec::deserialize(from);
        }
        let time = |(cpu, [user_ns, system_ns, irq_ns, softirq_ns, steal_ns, iowait_ns, idle_ns]): Compact| {
            (cpu, CpuTime { user_ns, system_ns, irq_ns, softirq_ns, steal_ns, iowait_ns, idle_ns })
        };
        Ok(Vec::<Compact>::deserialize(from)?.into_iter().map(time).collect())
    }
}
