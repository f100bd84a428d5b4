//! Everything the report's host section shows, collected once per run.
//!
//! No host name, user name or address is taken, and of serial numbers only the end: reports are made to be passed on.

use std::path::{Path, PathBuf};

use fathom_message::{Message, Say as _};
use fathom_plan::TargetId;
use serde::{Deserialize, Serialize};

use crate::cpu::Topology;
use crate::disk::{BlockDevice, DiskError, look_at, whole_device_of};
use crate::mount::{Mount, mount_of};
use crate::root::{ProbeError, Root, attribute, names_in};
use crate::system;

/// A target and what lies below it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetFacts {
    /// Its name in the plan; `None` in facts of labs before version 3, where that was the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetId>,
    /// Where it was.
    pub path: String,
    /// The file system it is on; `None` for a device.
    pub mount: Option<Mount>,
    /// The device below; its serial is shortened to the last four characters.
    pub device: Option<BlockDevice>,
    /// Why there is no device, when there is none.
    pub no_device_because: Option<Message>,
}

impl TargetFacts {
    /// Its name in the plan.
    #[must_use]
    pub fn target(&self) -> TargetId {
        self.target.clone().unwrap_or_else(|| TargetId::new(self.path.clone()))
    }
}

/// This machine at the start of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFacts {
    /// CPU model as the kernel names it; empty where it does not.
    pub cpu_model: String,
    /// CPUs, cores, nodes.
    pub topology: Topology,
    /// Physical cores online.
    pub cores: u32,
    /// Sockets.
    pub packages: u32,
    /// NUMA nodes with CPUs.
    pub numa_nodes: u32,
    /// Clock source of the kernel.
    pub clocksource: Option<String>,
    /// Frequency governor of the first CPU; `None` without frequency scaling (usual in guests).
    pub governor: Option<String>,
    /// Kernel release.
    pub kernel: String,
    /// Main memory.
    pub memory_bytes: u64,
    /// Whether it is a guest, and of what if that is known.
    pub hypervisor: Option<String>,
    /// What ran the program in the place of the system it was made for, with its version: `Wine 8.0`. Figures of such a run
    /// are no measurements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<String>,
    /// CPU weaknesses the kernel works around at a cost.
    pub mitigations: u32,
    /// Whether io_uring is closed to us: value of kernel.io_uring_disabled, if the kernel has it.
    pub io_uring_disabled: Option<u32>,
    /// The targets.
    pub targets: Vec<TargetFacts>,
}

impl HostFacts {
    /// Collects the facts about the machine, and about targets and where they are.
    ///
    /// # Errors
    /// [`ProbeError`] when a file that every Linux has cannot be read.
    pub fn collect(root: &Root, targets: &[(TargetId, PathBuf)]) -> Result<HostFacts, ProbeError> {
        let topology = Topology::read(root)?;
        let machine = system::machine::facts(root)?;
        let first_cpu = topology.cpus.first().map_or(0, |c| c.id);
        let cpu = root.join("sys/devices/system/cpu");
        Ok(HostFacts {
            cpu_model: machine.cpu_model,
            cores: topology.cores() as u32,
            packages: topology.packages() as u32,
            numa_nodes: topology.nodes().len() as u32,
            topology,
            clocksource: attribute(&root.join("sys/devices/system/clocksource/clocksource0/current_clocksource")),
            governor: attribute(&cpu.join(format!("cpu{first_cpu}/cpufreq/scaling_governor"))),
            kernel: machine.kernel,
            memory_bytes: machine.memory_bytes,
            hypervisor: machine.hypervisor,
            stand_in: system::machine::stand_in(root),
            mitigations: mitigations(&cpu.join("vulnerabilities")),
            io_uring_disabled: attribute(&root.join("proc/sys/kernel/io_uring_disabled")).and_then(|t| t.parse().ok()),
            targets: targets.iter().map(|(target, path)| target_facts(root, target, path)).collect::<Result<_, _>>()?,
        })
    }
}

fn target_facts(root: &Root, target: &TargetId, path: &Path) -> Result<TargetFacts, ProbeError> {
    let is_node = path.starts_with("/dev");
    let mount = match look_at(path) {
        Ok((real, _)) if !is_node => mount_of(root, &real)?,
        _ => None,
    };
    let (device, no_device_because) = match whole_device_of(root, path) {
        Ok(mut device) => {
            device.serial = device.serial.as_deref().map(shortened);
            (Some(device), None)
        }
        Err(DiskError::Probe(error)) => return Err(error),
        Err(other) => (None, Some(other.message())),
    };
    let target = Some(target.clone());
    Ok(TargetFacts { target, path: path.display().to_string(), mount, device, no_device_because })
}

/// Last four characters: enough to distinguish two drives of a machine, too little to name one to its vendor.
fn shortened(serial: &str) -> String {
    let skip = serial.chars().count().saturating_sub(4);
    format!("…{}", serial.chars().skip(skip).collect::<String>())
}

/// x86 says `model name`; on ARM the kernel gives part numbers only, so the implementer and part are shown. Empty where
/// the kernel reports neither.
#[must_use]
pub fn cpu_model(cpuinfo: &str) -> String {
    let value = |key: &str| {
        cpuinfo.lines().find_map(|line| {
            let (k, v) = line.split_once(':')?;
            (k.trim() == key).then(|| v.trim().to_owned())
        })
    };
    value("model name").unwrap_or_else(|| match (value("CPU implementer"), value("CPU part")) {
        (Some(implementer), Some(part)) => format!("implementer {implementer} part {part}"),
        _ => String::new(),
    })
}

/// The kernel's own word, else the firmware's vendor, else the CPU's flag alone: `hypervisor`.
#[must_use]
pub fn hypervisor(root: &Root, cpuinfo: &str) -> Option<String> {
    const FLAG: &str = "hypervisor";
    if let Some(kind) = attribute(&root.join("sys/hypervisor/type")) {
        return Some(kind);
    }
    let is_guest = cpuinfo.lines().any(|l| l.starts_with("flags") && l.split_whitespace().any(|f| f == FLAG));
    let vendor = attribute(&root.join("sys/class/dmi/id/sys_vendor"));
    is_guest.then(|| vendor.unwrap_or_else(|| FLAG.to_owned()))
}

fn mitigations(folder: &Path) -> u32 {
    let active = |name: &String| attribute(&folder.join(name)).is_some_and(|text| text.starts_with("Mitigation"));
    names_in(folder).iter().filter(|name| active(name)).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::eight_cpus;

    #[test]
    fn facts_are_read_from_a_tree() {
        let tree = eight_cpus();
        tree.file("proc/cpuinfo", "processor\t: 0\nmodel name\t: Fast CPU 9\nflags\t\t: fpu hypervisor sse\n")
            .file("proc/meminfo", "MemTotal:       1024 kB\nMemFree: 1 kB\n")
            .file("proc/sys/kernel/osrelease", "6.1.0\n")
            .file("proc/self/mountinfo", "27 1 254:0 / / rw - ext4 /dev/vda rw\n")
            .file("sys/devices/system/cpu/vulnerabilities/a", "Mitigation: yes\n")
            .file("sys/devices/system/cpu/vulnerabilities/b", "Not affected\n")
            .file("sys/class/dmi/id/sys_vendor", "QEMU\n");
        let facts =
            HostFacts::collect(&tree.root(), &[("f".into(), PathBuf::from("/no/such/folder/f"))]).expect("reads");
        assert_eq!((facts.cpu_model.as_str(), facts.kernel.as_str()), ("Fast CPU 9", "6.1.0"));
        assert_eq!((facts.cores, facts.packages, facts.numa_nodes, facts.mitigations), (4, 2, 2, 1));
        assert_eq!((facts.memory_bytes, facts.hypervisor.as_deref()), (1 << 20, Some("QEMU")));
        assert!(facts.targets[0].device.is_none());
        assert!(facts.targets[0].no_device_because.as_ref().is_some_and(|why| why.to_string().contains("no/such")));
    }

    #[test]
    fn the_live_machine_gives_facts_that_survive_json() {
        let dir = tempfile::tempdir().expect("temp dir");
        let facts = HostFacts::collect(&Root::live(), &[("d".into(), dir.path().to_owned())]).expect("reads");
        assert!(facts.memory_bytes > 0);
        assert!(facts.targets[0].mount.is_some());
        let text = serde_json::to_string(&facts).expect("json");
        assert_eq!(serde_json::from_str::<HostFacts>(&text).expect("json"), facts);
    }

    #[test]
    fn a_serial_is_cut_to_its_end() {
        assert_eq!(shortened("S64GNE0R"), "…NE0R");
        assert_eq!(shortened("ab"), "…ab");
    }
}
