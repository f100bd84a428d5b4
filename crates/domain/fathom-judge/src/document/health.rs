//! Health of a drive over a step.

use fathom_message::Message;
use fathom_record::{HealthSource, ThrottleSign};
use serde::{Deserialize, Serialize};

/// One drive over one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DriveHealthView {
    /// Kernel name, e.g. `nvme0n1`.
    pub device: String,
    /// Who was asked: `nvme` (the drive's SMART log) or `hwmon` (temperature alone).
    pub source: HealthSource,
    /// Temperature at the start and at the end of the step, and the highest between.
    pub celsius_first: Option<f64>,
    /// At the end.
    pub celsius_last: Option<f64>,
    /// Highest.
    pub celsius_max: Option<f64>,
    /// From here on it warns.
    pub warning_celsius: Option<f64>,
    /// From here on it may stop.
    pub critical_celsius: Option<f64>,
    /// Bytes hosts wrote while the step ran, as the drive counts (to 512,000).
    pub host_written_bytes: Option<u64>,
    /// Bytes written to the media while the step ran; `None` where the drive does not tell.
    pub nand_written_bytes: Option<u64>,
    /// Bytes to the media per byte of the host; `None` where the drive does not tell, or below 64 MiB.
    pub write_amplification: Option<f64>,
    /// Why it counts as slowed down by heat.
    pub throttled: Option<ThrottleSign>,
    /// What it warns of.
    pub critical_warnings: Vec<Message>,
    /// Looks through the step, for charts.
    pub samples: Vec<HealthSampleView>,
}

/// One look.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HealthSampleView {
    /// Seconds since the start of the measured window.
    pub at_s: f64,
    /// Temperature.
    pub celsius: Option<f64>,
    /// The drive was hot or slowed down: mark it.
    pub hot: bool,
    /// Bytes hosts wrote since the first look.
    pub host_written_bytes: Option<u64>,
    /// Bytes written to the media since the first look.
    pub nand_written_bytes: Option<u64>,
}
