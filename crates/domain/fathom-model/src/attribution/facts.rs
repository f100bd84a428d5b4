//! What is known of the machine a step ran on, beside its counters.

use fathom_message::{Message, msg};
use serde::{Deserialize, Serialize};

use crate::device::DeviceModel;
use crate::machine::MachineModel;
use crate::pcie::PcieLink;

/// A drive behind a target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DriveFacts {
    /// Kernel name.
    pub name: String,
    /// Model, as it calls itself.
    pub model: Option<String>,
    /// What the catalogue says of the model; `None` when it is not there.
    pub rated: Option<DeviceModel>,
    /// Link as trained.
    pub link: Option<PcieLink>,
    /// Link as both ends could.
    pub link_possible: Option<PcieLink>,
    /// I/O scheduler in force.
    pub scheduler: Option<String>,
    /// Poll queues.
    pub poll_queues: Option<u32>,
    /// Hardware queues, and requests that each holds at once; further ones wait above where the kernel counts.
    pub hw_queues: u32,
    /// See `hw_queues`.
    pub requests_per_queue: Option<u32>,
    /// CPUs its completion interrupts reach.
    pub irq_cpus: Vec<u32>,
    /// CPUs of other NUMA nodes than the drive's; none where the machine has one node or does not tell.
    pub remote_cpus: Vec<u32>,
    /// Warmest sensor, and where the drive begins to slow down.
    pub temperature_celsius: Option<(f64, Option<f64>)>,
}

/// Where a rate is set that the host holds a device to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RateSource {
    /// `io.max` of a control group.
    ControlGroup {
        /// Kernel name of the device, or its number where it has none.
        device: String,
    },
}

impl RateSource {
    /// Where it is set, as a sentence names it.
    #[must_use]
    pub fn message(&self) -> Message {
        match self {
            RateSource::ControlGroup { device } => msg!("limit-rate-of-control-group", device = device),
        }
    }
}

/// A rate that the host holds a device to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateLimit {
    /// Where it is set.
    pub source: RateSource,
    /// Reads per second.
    pub read_iops: Option<f64>,
    /// Writes per second.
    pub write_iops: Option<f64>,
    /// Bytes read per second.
    pub read_bytes_per_s: Option<f64>,
    /// Bytes written per second.
    pub write_bytes_per_s: Option<f64>,
}

/// What is known of the machine a step ran on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepFacts {
    /// What bounds its I/O.
    pub machine: MachineModel,
    /// Drives behind the targets: members of an array singly.
    pub drives: Vec<DriveFacts>,
    /// Rates the host allows.
    pub rate_limits: Vec<RateLimit>,
    /// Controls that share the devices among control groups without a fixed rate: name and device.
    pub io_controls: Vec<(String, String)>,
    /// Whether a hypervisor stands between it and its drives, which may hold them to a rate.
    pub is_guest: bool,
    /// Clock source of the kernel.
    pub clocksource: Option<String>,
    /// CPUs of each physical core, where it has several.
    pub siblings: Vec<Vec<u32>>,
}
