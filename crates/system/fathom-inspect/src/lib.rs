//! The machine as a whole: what `fathom inspect` shows, advises on and captures.
//!
//! [`Inventory::read`] takes a [`Root`], live or captured, and never fails: what cannot be had is listed in
//! [`Inventory::missing`]. [`advise`] is a pure function of the inventory. Nothing is changed here; [`fixes`] says what
//! the journal of [`fathom_host::settings`] could change for it.

mod admin;
mod advice;
mod capture;
mod drives;
mod fix;
mod interrupts;
mod lanes;
mod limits;
mod link;
mod look;
mod part;
mod pcie;
mod processor;
mod stacks;

#[cfg(test)]
mod golden;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod large_machine;
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub mod machines;

use std::collections::HashSet;

use fathom_host::Root;
use serde::{Deserialize, Serialize};

pub use admin::{AdminFacts, NamespaceFacts};
pub use advice::{Advice, Severity, Subject, advise};
pub use capture::{CaptureError, CaptureStage, Foreign, UnpackedCapture, capture, unpack};
pub use drives::{Controller, Drive, QueueSettings, Temperature};
pub use fix::{FIXABLE, Fix, fixes};
pub use interrupts::{Interrupts, Vector};
pub use lanes::{LaneLedger, LaneUser, NodeLanes, Uplink};
pub use limits::{IoControl, IoLimit, Limits};
pub use link::{LinkRate, MAX_PAYLOAD_ASSUMED_BYTES};
pub use look::{Missing, Why, clean};
pub use pcie::{Hop, PciFunction, PciKind, Pcie, RootComplex};
pub use processor::{Cache, Frequency, IdleState, Mitigation, Node, Processors, Smt};
pub use stacks::{Array, FileSystem, Member, NetworkFileSystem};

use look::Look;
use part::Part;

/// Options that were set for the drivers of drives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Where it is from: `nvme`, `nvme_core`, `pcie_aspm`, `kernel` (its command line).
    pub of: String,
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
}

/// Everything that is known of a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inventory {
    /// Kernel release.
    pub kernel: Option<String>,
    /// CPUs and memory.
    pub processors: Processors,
    /// The PCIe tree.
    pub pcie: Pcie,
    /// Lanes and uplinks.
    pub lanes: LaneLedger,
    /// Drives.
    pub drives: Vec<Drive>,
    /// Arrays and other devices built on drives.
    pub arrays: Vec<Array>,
    /// File systems on block devices.
    pub file_systems: Vec<FileSystem>,
    /// File systems whose files lie on other hosts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub network_file_systems: Vec<NetworkFileSystem>,
    /// Interrupts of storage.
    pub interrupts: Interrupts,
    /// Limits that are not the hardware's.
    pub limits: Limits,
    /// Options of the drivers.
    pub settings: Vec<Setting>,
    /// What could not be had.
    pub missing: Vec<Missing>,
}

impl Inventory {
    /// Reads the machine below `root`. Parts that are missing or unreadable are left out and noted.
    #[must_use]
    pub fn read(root: &Root) -> Inventory {
        let look = Look::new(root);
        let processors = Processors::read(&look);
        let pcie = Pcie::read(&look);
        let interrupts = Interrupts::read(&look, &pcie);
        Inventory {
            kernel: look.expect_text("proc/sys/kernel/osrelease", Part::KernelRelease).map(|t| clean(&t)),
            lanes: LaneLedger::of(&pcie),
            drives: drives::read(&look, &interrupts),
            arrays: stacks::arrays(&look),
            file_systems: stacks::file_systems(&look),
            network_file_systems: stacks::network_file_systems(&look),
            limits: Limits::read(&look),
            settings: settings(&look),
            processors,
            pcie,
            interrupts,
            missing: look.into_missing(),
        }
    }

    /// The drive of a kernel name.
    #[must_use]
    pub fn drive(&self, name: &str) -> Option<&Drive> {
        self.drives.iter().find(|d| d.device.name == name)
    }

    /// The drives a device stands on: itself, the whole of a partition, or the members of an array, all the way down.
    #[must_use]
    pub fn drives_below(&self, name: &str) -> Vec<&Drive> {
        let mut found: Vec<&Drive> = Vec::new();
        let mut open = vec![name];
        // A tree that was tampered with may stack devices in a circle.
        let mut seen = HashSet::new();
        while let Some(next) = open.pop() {
            if !seen.insert(next) {
                continue;
            }
            if let Some(array) = self.arrays.iter().find(|a| a.device.name == next) {
                open.extend(array.members.iter().map(|m| m.name.as_str()));
            } else if let Some(drive) = self.drives.iter().find(|d| is_part_of(next, &d.device.name))
                && !found.iter().any(|f| f.device.name == drive.device.name)
            {
                found.push(drive);
            }
        }
        found
    }

    /// Options of the kernel's command line by name.
    pub(crate) fn kernel_option(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|s| s.of == "kernel" && s.name == name).map(|s| s.value.as_str())
    }
}

/// `nvme0n1p2` and `nvme0n1` of `nvme0n1`, `sda1` of `sda`; not `sdaa` of `sda`, nor `nvme0n12` of `nvme0n1`.
fn is_part_of(name: &str, drive: &str) -> bool {
    let Some(rest) = name.strip_prefix(drive) else { return false };
    let number = if drive.ends_with(|c: char| c.is_ascii_digit()) { rest.strip_prefix('p') } else { Some(rest) };
    rest.is_empty() || number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// Options of the kernel's command line that touch drives, CPUs or the IOMMU. Others may hold secrets and are not ours.
pub(crate) fn is_telling_option(name: &str) -> bool {
    let exact = ["mitigations", "nosmt", "isolcpus", "nohz_full", "rcu_nocbs", "idle", "clocksource", "tsc", "iommu"];
    let prefixes = ["nvme.", "nvme_core.", "iommu.", "intel_iommu", "amd_iommu", "intel_idle.", "processor.", "pcie_"];
    exact.contains(&name) || prefixes.iter().any(|p| name.starts_with(p))
}

const PARAMETERS: [(&str, &str); 8] = [
    ("nvme", "poll_queues"),
    ("nvme", "write_queues"),
    ("nvme", "io_queue_depth"),
    ("nvme", "use_cmb_sqes"),
    ("nvme_core", "multipath"),
    ("nvme_core", "default_ps_max_latency_us"),
    ("nvme_core", "io_timeout"),
    ("pcie_aspm", "policy"),
];

fn settings(look: &Look<'_>) -> Vec<Setting> {
    let parameter = |(module, name): &(&str, &str)| {
        let value = look.word(&format!("sys/module/{module}/parameters/{name}"), Part::DriverOptions)?;
        Some(Setting { of: (*module).to_owned(), name: (*name).to_owned(), value })
    };
    let mut all: Vec<Setting> = PARAMETERS.iter().filter_map(parameter).collect();
    let line = look.text("proc/cmdline", Part::KernelCommandLine).unwrap_or_default();
    for word in line.split_whitespace() {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        if is_telling_option(name) {
            all.push(Setting { of: "kernel".to_owned(), name: clean(name), value: clean(value) });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_told_from_other_drives() {
        assert!(is_part_of("nvme0n1p2", "nvme0n1") && is_part_of("sda1", "sda") && is_part_of("sda", "sda"));
        assert!(!is_part_of("nvme0n12", "nvme0n1") && !is_part_of("sdaa", "sda") && !is_part_of("sdb", "sda"));
    }

    #[test]
    fn the_live_machine_has_an_inventory_that_survives_json() {
        let inventory = Inventory::read(&Root::live());
        assert!(!inventory.processors.topology.cpus.is_empty());
        let text = serde_json::to_string(&inventory).expect("json");
        assert_eq!(serde_json::from_str::<Inventory>(&text).expect("json"), inventory);
    }
}
