//! The parts that can be the limit, and how sure the attribution is.

use fathom_message::{Message, msg};
use serde::{Deserialize, Serialize};

/// Part of the system that can be the limit. Names as in the JSON contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum LimitName {
    /// Too few I/Os in flight to use the device.
    QueueDepth,
    /// The device itself.
    Device,
    /// A drive's own PCI Express link.
    Link,
    /// A link that several drives share.
    Uplink,
    /// One core, or one core per thread.
    Core,
    /// All CPUs the run may use.
    AllCores,
    /// CPU time that other programs, the hypervisor or a CPU limit took from the load.
    CpuTaken,
    /// The cores that take the interrupts.
    IrqCore,
    /// A thread of the kernel that works for the I/O.
    KernelThread,
    /// The file system: what it does for each write before the device gets it.
    FileSystem,
    /// The array: its write penalty, or its card.
    Raid,
    /// Memory bandwidth.
    Memory,
    /// The page cache answered instead of the device.
    PageCache,
    /// The sync between the writes: fsync, fdatasync, the drive's Flush.
    Flush,
    /// The network between this host and the one that the files lie on.
    Network,
    /// The server that the files lie on.
    Server,
    /// The client of a network file system, on this host.
    Client,
    /// A rate: the arrivals that were asked for, or what the host or the hypervisor allows.
    Rate,
    /// The evidence does not say.
    Unknown,
}

impl LimitName {
    /// All names, in the order the documentation lists them.
    pub const ALL: [LimitName; 19] = [
        LimitName::QueueDepth,
        LimitName::Device,
        LimitName::Link,
        LimitName::Uplink,
        LimitName::Core,
        LimitName::AllCores,
        LimitName::CpuTaken,
        LimitName::IrqCore,
        LimitName::KernelThread,
        LimitName::FileSystem,
        LimitName::Raid,
        LimitName::Memory,
        LimitName::PageCache,
        LimitName::Flush,
        LimitName::Network,
        LimitName::Server,
        LimitName::Client,
        LimitName::Rate,
        LimitName::Unknown,
    ];

    /// Word of the JSON contract.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            LimitName::QueueDepth => "queue_depth",
            LimitName::Device => "device",
            LimitName::Link => "link",
            LimitName::Uplink => "uplink",
            LimitName::Core => "core",
            LimitName::AllCores => "all_cores",
            LimitName::CpuTaken => "cpu_taken",
            LimitName::IrqCore => "irq_core",
            LimitName::KernelThread => "kernel_thread",
            LimitName::FileSystem => "file_system",
            LimitName::Raid => "raid",
            LimitName::Memory => "memory",
            LimitName::PageCache => "page_cache",
            LimitName::Flush => "flush",
            LimitName::Network => "network",
            LimitName::Server => "server",
            LimitName::Client => "client",
            LimitName::Rate => "rate",
            LimitName::Unknown => "unknown",
        }
    }

    /// The part as a sentence names it: `the device`, `queue depth`.
    #[must_use]
    pub fn message(self) -> Message {
        match self {
            LimitName::QueueDepth => msg!("limit-name-queue-depth"),
            LimitName::Device => msg!("limit-name-device"),
            LimitName::Link => msg!("limit-name-link"),
            LimitName::Uplink => msg!("limit-name-uplink"),
            LimitName::Core => msg!("limit-name-core"),
            LimitName::AllCores => msg!("limit-name-all-cores"),
            LimitName::CpuTaken => msg!("limit-name-cpu-taken"),
            LimitName::IrqCore => msg!("limit-name-irq-core"),
            LimitName::KernelThread => msg!("limit-name-kernel-thread"),
            LimitName::FileSystem => msg!("limit-name-file-system"),
            LimitName::Raid => msg!("limit-name-raid"),
            LimitName::Memory => msg!("limit-name-memory"),
            LimitName::PageCache => msg!("limit-name-page-cache"),
            LimitName::Flush => msg!("limit-name-flush"),
            LimitName::Network => msg!("limit-name-network"),
            LimitName::Server => msg!("limit-name-server"),
            LimitName::Client => msg!("limit-name-client"),
            LimitName::Rate => msg!("limit-name-rate"),
            LimitName::Unknown => msg!("limit-name-unknown"),
        }
    }
}

/// How a device changed between steps: the same step was measured again and gave something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum StateChange {
    /// It gave less the second time.
    Slower,
    /// It gave more.
    Faster,
}

/// How sure the attribution is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// At least nine in ten.
    Confirmed,
    /// Less.
    Likely,
    /// No part is named.
    Unknown,
}

impl Confidence {
    /// Probability from which a part counts as confirmed.
    pub const CONFIRMED_FROM: f64 = 0.9;

    /// The word for a probability.
    #[must_use]
    pub fn of(probability: Option<f64>) -> Confidence {
        match probability {
            Some(p) if p >= Confidence::CONFIRMED_FROM => Confidence::Confirmed,
            Some(_) => Confidence::Likely,
            None => Confidence::Unknown,
        }
    }

    /// Word of the JSON contract.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Confidence::Confirmed => "confirmed",
            Confidence::Likely => "likely",
            Confidence::Unknown => "unknown",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_as_in_the_contract() {
        for name in LimitName::ALL {
            assert_eq!(serde_json::to_value(name).expect("serializes"), name.as_str());
        }
        for confidence in [Confidence::Confirmed, Confidence::Likely, Confidence::Unknown] {
            assert_eq!(serde_json::to_value(confidence).expect("serializes"), confidence.as_str());
        }
    }
}
