//! Settings of this machine that change results, and the journal that brings each of them back.
//!
//! The way of a change, for a study that compares settings:
//!
//! ```no_run
//! # use fathom_host::{Root, settings::{Journal, changes_for}};
//! # fn main() -> Result<(), fathom_host::settings::SettingError> {
//! let root = Root::live();
//! let journal = Journal::open(&root, "/var/lib/fathom/journal", "fathom run tune");
//! let changes = changes_for(&root, "scheduler=mq-deadline", &["nvme0n1".to_owned()])?;
//! let applied = journal.apply_all(&changes)?; // written down and synced first, then done, then read back
//! // ... measure ...
//! applied.restore()?; // or drop it: the same, but an error then waits in `Journal::failures`
//! # Ok(()) }
//! ```
//!
//! What a program killed with -9 leaves changed stands in its journal: [`pending`] lists it, [`restore_all`] brings it
//! back. Settings that the kernel forgets at a reboot are dropped from the journal of an earlier boot.

mod coalescing;
mod error;
mod found;
mod journal;
mod line;
mod md_array;
mod pci_driver;
mod restore;
mod value;
mod words;

use std::fmt;

use fathom_message::{Message, msg};
use serde::{Deserialize, Serialize};

pub use error::SettingError;
pub(crate) use found::boot_id;
pub use journal::{Applied, Done, Journal};
pub use md_array::MdArray;
pub use pci_driver::PciDriver;
pub(crate) use pci_driver::{KERNEL_DRIVER, VFIO_DRIVER, driver_of, group_node, override_of, wait};
pub use restore::{BoundDrive, bound_drives};
pub use restore::{
    Dropped, Listing, Outcome, Pending, PendingChange, Restoration, Restored, Which, pending, restore_all,
    restore_driver_of,
};
pub use words::{SETTING_WORDS, changes_for};

/// An attribute of a block device's queue: `/sys/block/DEVICE/queue/ATTRIBUTE` (Documentation/ABI/stable/sysfs-block).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueAttribute {
    /// I/O scheduler: `none`, `mq-deadline`, `kyber`, `bfq`.
    Scheduler,
    /// Requests a queue may hold.
    NrRequests,
    /// 0 merge all, 1 simple merges only, 2 none.
    Nomerges,
    /// Read-ahead of buffered reads, KiB.
    ReadAheadKb,
    /// 0 complete anywhere, 1 on the submitter's group, 2 on the submitter's CPU.
    RqAffinity,
    /// Whether the kernel counts the device's I/O.
    Iostats,
    /// Whether completions may be polled.
    IoPoll,
    /// Sleep before a poll, us; -1 polls at once.
    IoPollDelay,
    /// Latency goal of write-back throttling, us; 0 turns it off.
    WbtLatUsec,
    /// `write back` or `write through`: whether the kernel flushes the drive's cache.
    WriteCache,
    /// Largest request, KiB.
    MaxSectorsKb,
    /// Whether the device's timing feeds the kernel's random numbers.
    AddRandom,
}

impl QueueAttribute {
    /// All, in the order they are listed to people.
    pub const ALL: [QueueAttribute; 12] = [
        QueueAttribute::Scheduler,
        QueueAttribute::NrRequests,
        QueueAttribute::Nomerges,
        QueueAttribute::ReadAheadKb,
        QueueAttribute::RqAffinity,
        QueueAttribute::Iostats,
        QueueAttribute::IoPoll,
        QueueAttribute::IoPollDelay,
        QueueAttribute::WbtLatUsec,
        QueueAttribute::WriteCache,
        QueueAttribute::MaxSectorsKb,
        QueueAttribute::AddRandom,
    ];

    /// Name of its file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            QueueAttribute::Scheduler => "scheduler",
            QueueAttribute::NrRequests => "nr_requests",
            QueueAttribute::Nomerges => "nomerges",
            QueueAttribute::ReadAheadKb => "read_ahead_kb",
            QueueAttribute::RqAffinity => "rq_affinity",
            QueueAttribute::Iostats => "iostats",
            QueueAttribute::IoPoll => "io_poll",
            QueueAttribute::IoPollDelay => "io_poll_delay",
            QueueAttribute::WbtLatUsec => "wbt_lat_usec",
            QueueAttribute::WriteCache => "write_cache",
            QueueAttribute::MaxSectorsKb => "max_sectors_kb",
            QueueAttribute::AddRandom => "add_random",
        }
    }
}

/// An attribute of an array of Linux md: `/sys/block/DEVICE/md/ATTRIBUTE` (Documentation/admin-guide/md.rst).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArrayAttribute {
    /// Stripes that RAID 4, 5 and 6 hold in memory, a page of each member for each.
    StripeCacheSize,
    /// Threads of each group that handle stripes beside the one of the array; 0: that one alone.
    GroupThreadCnt,
    /// Least speed of a resync or rebuild beside other load, KiB/s; `system`: as the host's own.
    SyncSpeedMin,
    /// Most speed of a resync or rebuild, KiB/s; `system`: as the host's own.
    SyncSpeedMax,
}

impl ArrayAttribute {
    /// All, in the order they are listed to people.
    pub const ALL: [ArrayAttribute; 4] = [
        ArrayAttribute::StripeCacheSize,
        ArrayAttribute::GroupThreadCnt,
        ArrayAttribute::SyncSpeedMin,
        ArrayAttribute::SyncSpeedMax,
    ];

    /// Name of its file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ArrayAttribute::StripeCacheSize => "stripe_cache_size",
            ArrayAttribute::GroupThreadCnt => "group_thread_cnt",
            ArrayAttribute::SyncSpeedMin => "sync_speed_min",
            ArrayAttribute::SyncSpeedMax => "sync_speed_max",
        }
    }

    /// Whether it may be left to the host's own value.
    pub(crate) fn is_speed(self) -> bool {
        matches!(self, ArrayAttribute::SyncSpeedMin | ArrayAttribute::SyncSpeedMax)
    }
}

/// One setting: one file of the kernel with one value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Setting {
    /// Of a whole block device.
    Queue {
        /// Kernel name, e.g. `nvme0n1`.
        device: String,
        /// The attribute of the queue.
        attribute: QueueAttribute,
    },
    /// Parameter of a block device's I/O scheduler: `/sys/block/DEVICE/queue/iosched/PARAMETER`.
    SchedulerParameter {
        /// Kernel name, e.g. `sda`.
        device: String,
        /// Name of its file, e.g. `read_expire`.
        parameter: String,
    },
    /// Of an array of Linux md.
    Array {
        /// Kernel name, e.g. `md0`.
        device: String,
        /// The attribute of the array.
        attribute: ArrayAttribute,
    },
    /// Whether an array of Linux md is there: `none` or `active`.
    MdArray(MdArray),
    /// Frequency governor of a CPU.
    Governor {
        /// Which CPU.
        cpu: u32,
    },
    /// Energy preference of a CPU whose hardware picks the clock.
    EnergyPreference {
        /// Which CPU.
        cpu: u32,
    },
    /// Whether an idle state of a CPU is forbidden (`1`) or allowed (`0`).
    IdleDisable {
        /// Which CPU.
        cpu: u32,
        /// Number of the state.
        state: u32,
    },
    /// SMT of the whole machine: `on` or `off`.
    Smt,
    /// CPUs an interrupt may go to, a CPU list.
    IrqAffinity {
        /// Number in /proc/interrupts.
        irq: u32,
    },
    /// Driver of the PCI function of an NVMe drive: `nvme` or `vfio-pci`.
    PciDriver(Box<PciDriver>),
    /// Large pages that the kernel keeps for programs, as many as there are.
    Hugepages {
        /// NUMA node; `None` where the machine has none.
        node: Option<u32>,
        /// Size of a page, KiB.
        page_kib: u64,
    },
    /// Completions that an NVMe drive gathers before it interrupts, and how long: `8/300us` or `off`.
    Coalescing {
        /// Kernel name of the controller, e.g. `nvme0`.
        controller: String,
    },
    /// Whether VFIO hands out drives where no IOMMU keeps them to their program's memory: `Y` or `N`.
    VfioWithoutIommu,
}

impl Setting {
    /// What it is, for people.
    #[must_use]
    pub fn message(&self) -> Message {
        match self {
            Setting::Queue { device, attribute } => {
                msg!("setting-queue", attribute = attribute.as_str(), device = device)
            }
            Setting::SchedulerParameter { device, parameter } => {
                msg!("setting-queue", attribute = format!("iosched/{parameter}"), device = device)
            }
            Setting::Array { device, attribute } => {
                msg!("setting-queue", attribute = attribute.as_str(), device = device)
            }
            Setting::MdArray(array) => {
                let (device, level) = (array.device.clone(), array.level.as_str());
                msg!("setting-md-array", device = device, level = level, members = array.members.len())
            }
            Setting::Governor { cpu } => msg!("setting-governor", cpu = cpu.to_string()),
            Setting::EnergyPreference { cpu } => msg!("setting-energy-preference", cpu = cpu.to_string()),
            Setting::IdleDisable { cpu, state } => {
                msg!("setting-idle-disable", cpu = cpu.to_string(), state = state.to_string())
            }
            Setting::Smt => msg!("setting-smt"),
            Setting::IrqAffinity { irq } => msg!("setting-irq-affinity", irq = irq.to_string()),
            Setting::PciDriver(driver) => match &driver.serial {
                Some(serial) => msg!("setting-driver-of-drive", address = &driver.address, serial = serial),
                None => msg!("setting-driver", address = &driver.address),
            },
            Setting::Hugepages { node: Some(node), page_kib } => {
                msg!("setting-hugepages-of-node", kib = page_kib.to_string(), node = node.to_string())
            }
            Setting::Hugepages { node: None, page_kib } => msg!("setting-hugepages", kib = page_kib.to_string()),
            Setting::Coalescing { controller } => msg!("setting-coalescing", controller = controller),
            Setting::VfioWithoutIommu => msg!("setting-vfio-without-iommu"),
        }
    }
}

impl Setting {
    /// Whether both are the same switch of the kernel, whatever else is known of it.
    pub(crate) fn is_same_switch(&self, other: &Setting) -> bool {
        match (self, other) {
            (Setting::PciDriver(one), Setting::PciDriver(two)) => one.address == two.address,
            _ => self == other,
        }
    }
}

impl fmt::Display for Setting {
    /// A name that is the same in every language: `sdb/scheduler`, `cpu3/governor`, `irq30/affinity`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Setting::Queue { device, attribute } => write!(f, "{device}/{}", attribute.as_str()),
            Setting::SchedulerParameter { device, parameter } => write!(f, "{device}/iosched/{parameter}"),
            Setting::Array { device, attribute } => write!(f, "{device}/{}", attribute.as_str()),
            Setting::MdArray(array) => f.write_str(&array.device),
            Setting::Governor { cpu } => write!(f, "cpu{cpu}/governor"),
            Setting::EnergyPreference { cpu } => write!(f, "cpu{cpu}/energy_preference"),
            Setting::IdleDisable { cpu, state } => write!(f, "cpu{cpu}/idle{state}/disable"),
            Setting::Smt => f.write_str("smt"),
            Setting::IrqAffinity { irq } => write!(f, "irq{irq}/affinity"),
            Setting::PciDriver(driver) => write!(f, "{}/driver", driver.address),
            Setting::Hugepages { node: Some(node), page_kib } => write!(f, "node{node}/hugepages-{page_kib}kB"),
            Setting::Hugepages { node: None, page_kib } => write!(f, "hugepages-{page_kib}kB"),
            Setting::Coalescing { controller } => write!(f, "{controller}/interrupt_coalescing"),
            Setting::VfioWithoutIommu => f.write_str("vfio/enable_unsafe_noiommu_mode"),
        }
    }
}

/// A setting and the value it is to get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The setting.
    pub setting: Setting,
    /// As the kernel writes it.
    pub value: String,
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests;
