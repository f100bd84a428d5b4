//! Units of figures, and a figure with its unit and interval.

use serde::{Deserialize, Serialize};

/// The unit of a figure. One list for evidence, tiles, comparisons and charts; the words are those of the JSON contract.
/// Aliases are words of schema 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// I/Os per second.
    Iops,
    /// Bytes per second.
    #[serde(alias = "bytes/s")]
    BytesPerS,
    /// Bytes.
    Bytes,
    /// A block size in bytes; shown in fio's words (`4k`).
    BlockBytes,
    /// Nanoseconds.
    Ns,
    /// A length of time in nanoseconds, shown as people plan it (`1 min 30 s`).
    DurationNs,
    /// CPU time per I/O, nanoseconds.
    NsPerIo,
    /// I/Os per second that one busy core carries.
    IopsPerCore,
    /// Percent of a whole, from 0 to 100.
    #[serde(alias = "%")]
    Pct,
    /// A change in percent, shown with its sign.
    ChangePct,
    /// A ratio of two rates, shown as a change (`+26.1 %`, `12.4-fold`).
    Change,
    /// A multiple (`1.43x`).
    #[serde(alias = "x")]
    Times,
    /// Percent of the mean per minute.
    PctPerMinute,
    /// Cores, or CPUs.
    Cores,
    /// Things counted: I/Os in flight, interrupts, threads.
    #[serde(alias = "ios")]
    Count,
    /// Things counted for each I/O.
    PerIo,
    /// Degrees Celsius.
    Celsius,
    /// Hertz.
    Hertz,
    /// Parts per million.
    Ppm,
    /// Watts.
    Watts,
    /// Seconds.
    S,
    /// Events per second that are no I/Os: transactions, commands.
    #[serde(alias = "1/s")]
    PerS,
}

impl Unit {
    /// All units.
    pub const ALL: [Unit; 22] = [
        Unit::Iops,
        Unit::BytesPerS,
        Unit::Bytes,
        Unit::BlockBytes,
        Unit::Ns,
        Unit::DurationNs,
        Unit::NsPerIo,
        Unit::IopsPerCore,
        Unit::Pct,
        Unit::ChangePct,
        Unit::Change,
        Unit::Times,
        Unit::PctPerMinute,
        Unit::Cores,
        Unit::Count,
        Unit::PerIo,
        Unit::Celsius,
        Unit::Hertz,
        Unit::Ppm,
        Unit::Watts,
        Unit::S,
        Unit::PerS,
    ];

    /// The word of the JSON contract.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Unit::Iops => "iops",
            Unit::BytesPerS => "bytes_per_s",
            Unit::Bytes => "bytes",
            Unit::BlockBytes => "block_bytes",
            Unit::Ns => "ns",
            Unit::DurationNs => "duration_ns",
            Unit::NsPerIo => "ns_per_io",
            Unit::IopsPerCore => "iops_per_core",
            Unit::Pct => "pct",
            Unit::ChangePct => "change_pct",
            Unit::Change => "change",
            Unit::Times => "times",
            Unit::PctPerMinute => "pct_per_minute",
            Unit::Cores => "cores",
            Unit::Count => "count",
            Unit::PerIo => "per_io",
            Unit::Celsius => "celsius",
            Unit::Hertz => "hertz",
            Unit::Ppm => "ppm",
            Unit::Watts => "watts",
            Unit::S => "s",
            Unit::PerS => "per_s",
        }
    }
}

/// A figure with its unit and, where there is one, its 95 % interval in the same unit.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Quantity {
    /// In the unit, unscaled.
    pub value: f64,
    /// Of what.
    pub unit: Unit,
    /// 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci95: Option<[f64; 2]>,
}

impl Quantity {
    /// A figure without an interval.
    #[must_use]
    pub const fn new(value: f64, unit: Unit) -> Quantity {
        Quantity { value, unit, ci95: None }
    }

    /// The same figure with its interval.
    #[must_use]
    pub const fn with_ci95(self, ci95: Option<[f64; 2]>) -> Quantity {
        Quantity { ci95, ..self }
    }

    /// I/Os per second.
    #[must_use]
    pub const fn iops(value: f64) -> Quantity {
        Quantity::new(value, Unit::Iops)
    }

    /// Bytes per second.
    #[must_use]
    pub const fn bytes_per_s(value: f64) -> Quantity {
        Quantity::new(value, Unit::BytesPerS)
    }

    /// Bytes.
    #[must_use]
    pub const fn bytes(value: u64) -> Quantity {
        Quantity::new(value as f64, Unit::Bytes)
    }

    /// A block size in bytes.
    #[must_use]
    pub const fn block(bytes: u64) -> Quantity {
        Quantity::new(bytes as f64, Unit::BlockBytes)
    }

    /// Nanoseconds.
    #[must_use]
    pub const fn ns(value: f64) -> Quantity {
        Quantity::new(value, Unit::Ns)
    }

    /// A length of time.
    #[must_use]
    pub const fn duration_ns(value: u64) -> Quantity {
        Quantity::new(value as f64, Unit::DurationNs)
    }

    /// Percent of a whole.
    #[must_use]
    pub const fn pct(value: f64) -> Quantity {
        Quantity::new(value, Unit::Pct)
    }

    /// A share in [0, 1] as percent of the whole.
    #[must_use]
    pub const fn share(value: f64) -> Quantity {
        Quantity::new(value * 100.0, Unit::Pct)
    }

    /// A ratio of two rates as a change.
    #[must_use]
    pub const fn change(ratio: f64) -> Quantity {
        Quantity::new(ratio, Unit::Change)
    }

    /// A multiple.
    #[must_use]
    pub const fn times(ratio: f64) -> Quantity {
        Quantity::new(ratio, Unit::Times)
    }

    /// Cores, or CPUs.
    #[must_use]
    pub const fn cores(value: f64) -> Quantity {
        Quantity::new(value, Unit::Cores)
    }

    fn bits(&self) -> (u64, Unit, Option<[u64; 2]>) {
        (self.value.to_bits(), self.unit, self.ci95.map(|ci| ci.map(f64::to_bits)))
    }
}

impl PartialEq for Quantity {
    /// Bit by bit, so that messages can be compared and counted; figures are not meant to be equal otherwise.
    fn eq(&self, other: &Quantity) -> bool {
        self.bits() == other.bits()
    }
}

impl Eq for Quantity {}

impl std::hash::Hash for Quantity {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.bits().hash(state);
    }
}
