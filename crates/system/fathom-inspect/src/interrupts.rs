//! Which CPU takes the interrupts of which queue.

use fathom_host::{InterruptTable, is_nvme_controller};
use fathom_message::msg;
use serde::{Deserialize, Serialize};

use crate::look::{Look, Why, clean};
use crate::part::Part;
use crate::pcie::Pcie;

/// One interrupt vector of a storage device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vector {
    /// Number in /proc/interrupts.
    pub irq: u32,
    /// Name its driver gave it: `nvme0q3`, `virtio1-req.0`.
    pub name: String,
    /// PCI function it belongs to, where the kernel says.
    pub pci_address: Option<String>,
    /// Driver's device: `nvme0`, `virtio1`.
    pub device: String,
    /// I/O queue: NVMe counts from 1 (0 is the admin queue), virtio from 0; `None` for other purposes.
    pub queue: Option<u32>,
    /// CPUs it may go to.
    pub affinity: Option<String>,
    /// CPUs it does go to.
    pub effective: Option<String>,
    /// Interrupts since boot.
    pub total: u64,
    /// (CPU, interrupts) where there were any.
    pub by_cpu: Vec<(u32, u64)>,
}

/// Interrupts of storage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interrupts {
    /// By device and queue.
    pub vectors: Vec<Vector>,
    /// The irqbalance daemon runs.
    pub irqbalance: bool,
}

impl Interrupts {
    /// Vectors that complete I/O of a device.
    pub fn io_vectors<'a>(&'a self, device: &'a str) -> impl Iterator<Item = &'a Vector> {
        self.vectors.iter().filter(move |v| v.device == device && v.queue.is_some())
    }

    pub(crate) fn read(look: &Look<'_>, pcie: &Pcie) -> Interrupts {
        let owners = owners(look, pcie);
        let text = look.expect_text("proc/interrupts", Part::Interrupts).unwrap_or_default();
        let (cpus, mut vectors) = vectors_in(&text, &owners);
        if cpus == 0 && !text.is_empty() {
            look.miss(Part::Interrupts, Why::Unreadable, "proc/interrupts", msg!("missing-no-cpu-heading"));
        }
        for vector in &mut vectors {
            let list = |name: &str| look.word(&format!("proc/irq/{}/{name}", vector.irq), Part::InterruptAffinity);
            (vector.affinity, vector.effective) = (list("smp_affinity_list"), list("effective_affinity_list"));
        }
        vectors.sort_by(|a, b| {
            let key = |v: &Vector| (crate::look::natural_key(&v.device), v.queue.is_some(), v.queue, v.irq);
            key(a).cmp(&key(b))
        });
        Interrupts { vectors, irqbalance: runs(look, "irqbalance") }
    }
}

/// Whether a process of this name exists.
fn runs(look: &Look<'_>, name: &str) -> bool {
    let pids = look.names("proc").into_iter().filter(|n| n.bytes().all(|b| b.is_ascii_digit()));
    // Processes come and go: one that ended meanwhile is nothing to note.
    let comm = |pid: String| look.quietly(&format!("proc/{pid}/comm"));
    pids.filter_map(comm).any(|comm| comm == name)
}

/// Interrupt numbers of the storage functions.
fn owners(look: &Look<'_>, pcie: &Pcie) -> Vec<(u32, String)> {
    let mut owners = Vec::new();
    for function in pcie.functions().filter(|f| f.is_storage()) {
        let names = look.names(&format!("sys/bus/pci/devices/{}/msi_irqs", function.address));
        owners.extend(names.iter().filter_map(|n| Some((n.parse().ok()?, function.address.clone()))));
    }
    owners
}

/// The rows that belong to storage: NVMe controllers, and whatever has one of the storage functions' numbers.
fn vectors_in(text: &str, owners: &[(u32, String)]) -> (usize, Vec<Vector>) {
    let owner = |irq: u32| owners.iter().find(|(owned, _)| *owned == irq).map(|(_, address)| address.clone());
    let table = InterruptTable::parse(text, |irq, device| is_nvme_controller(device) || owner(irq).is_some());
    let vectors = table.rows.into_iter().map(|row| Vector {
        irq: row.irq,
        name: clean(&row.name),
        pci_address: owner(row.irq),
        device: clean(&row.device),
        queue: row.queue,
        affinity: None,
        effective: None,
        total: row.counts.iter().fold(0, |sum, c| sum.saturating_add(*c)),
        by_cpu: table.cpus.iter().copied().zip(row.counts).filter(|(_, count)| *count > 0).collect(),
    });
    (table.cpus.len(), vectors.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_host::testing::Tree;

    const TEXT: &str = "           CPU0       CPU2\n  0:         33          0   IO-APIC   2-edge      timer\n\
         30:          1          0  IR-PCI-MSIX-0000:01:00.0    0-edge      nvme0q0\n\
         31:        100          0  IR-PCI-MSIX-0000:01:00.0    1-edge      nvme0q1\n\
         32:          5    4000000  IR-PCI-MSIX-0000:01:00.0    2-edge      nvme0q2\n\
         36:          0          7 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0\n\
        NMI:          0          0   Non-maskable interrupts\n";

    #[test]
    fn rows_of_storage_are_found_with_their_queues() {
        let vectors = vectors_in(TEXT, &[(36, "0000:00:02.0".to_owned())]).1;
        let found: Vec<_> = vectors.iter().map(|v| (v.irq, v.device.as_str(), v.queue, v.total)).collect();
        assert_eq!(
            found,
            [
                (30, "nvme0", None, 1),
                (31, "nvme0", Some(1), 100),
                (32, "nvme0", Some(2), 4_000_005),
                (36, "virtio1", Some(0), 7)
            ]
        );
        assert_eq!(vectors[2].by_cpu, [(0, 5), (2, 4_000_000)]);
    }

    #[test]
    fn affinities_and_the_daemon_are_read() {
        let tree = Tree::new();
        tree.file("proc/interrupts", TEXT)
            .file("proc/irq/32/smp_affinity_list", "0-2\n")
            .file("proc/irq/32/effective_affinity_list", "2\n")
            .file("proc/812/comm", "irqbalance\n")
            .file("proc/1/comm", "init\n");
        let root = tree.root();
        let read = Interrupts::read(&Look::new(&root), &Pcie::default());
        assert!(read.irqbalance);
        let last = read.vectors.last().expect("three vectors");
        assert_eq!((last.affinity.as_deref(), last.effective.as_deref()), (Some("0-2"), Some("2")));
        assert_eq!(read.io_vectors("nvme0").count(), 2);
    }
}
