//! Which CPU takes the interrupts of which queue.

use serde::{Deserialize, Serialize};

use super::look::{Look, Why, clean};
use super::pcie::Pcie;

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
        let text = look.expect_text("proc/interrupts", "interrupts").unwrap_or_default();
        let mut vectors = parse(&text, &owners);
        if vectors.is_empty() && !text.is_empty() && text.lines().next().is_none_or(|l| !l.contains("CPU")) {
            look.miss("interrupts", Why::Unreadable, "proc/interrupts", "no heading with CPUs");
        }
        for vector in &mut vectors {
            let list = |name: &str| look.word(&format!("proc/irq/{}/{name}", vector.irq), "interrupt affinity");
            (vector.affinity, vector.effective) = (list("smp_affinity_list"), list("effective_affinity_list"));
        }
        vectors.sort_by(|a, b| {
            let key = |v: &Vector| (super::look::natural_key(&v.device), v.queue.is_some(), v.queue, v.irq);
            key(a).cmp(&key(b))
        });
        Interrupts { vectors, irqbalance: runs(look, "irqbalance") }
    }
}

/// Whether a process of this name exists.
fn runs(look: &Look<'_>, name: &str) -> bool {
    let pids = look.names("proc").into_iter().filter(|n| n.bytes().all(|b| b.is_ascii_digit()));
    // Processes come and go: one that ended meanwhile is nothing to note.
    let comm = |pid: String| std::fs::read_to_string(look.root().join(format!("proc/{pid}/comm"))).ok();
    pids.filter_map(comm).any(|comm| comm.trim() == name)
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

/// Rows of /proc/interrupts that belong to storage: ` 36:  0  12  PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0`.
fn parse(text: &str, owners: &[(u32, String)]) -> Vec<Vector> {
    let mut lines = text.lines();
    let heading = lines.next().unwrap_or("");
    let cpus: Vec<u32> = heading.split_whitespace().filter_map(|w| w.strip_prefix("CPU")?.parse().ok()).collect();
    let mut vectors = Vec::new();
    for line in lines {
        let Some((irq, rest)) = line.split_once(':') else { continue };
        let Ok(irq) = irq.trim().parse::<u32>() else { continue };
        let mut words = rest.split_ascii_whitespace();
        let counts: Vec<u64> = words.by_ref().take(cpus.len()).map_while(|w| w.parse().ok()).collect();
        let Some(name) = words.next_back().map(clean) else { continue };
        let pci_address = owners.iter().find(|(owned, _)| *owned == irq).map(|(_, address)| address.clone());
        let (device, queue) = device_and_queue(&name);
        if counts.len() != cpus.len() || (pci_address.is_none() && !is_nvme(&device)) {
            continue;
        }
        vectors.push(Vector {
            irq,
            pci_address,
            device,
            queue,
            affinity: None,
            effective: None,
            total: counts.iter().fold(0, |sum, c| sum.saturating_add(*c)),
            by_cpu: cpus.iter().copied().zip(counts).filter(|(_, count)| *count > 0).collect(),
            name,
        });
    }
    vectors
}

fn is_nvme(device: &str) -> bool {
    device.strip_prefix("nvme").is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

/// `nvme0q3` -> nvme0, queue 3; `nvme0q0` is for administration; `virtio1-req.0` -> virtio1, queue 0.
pub(crate) fn device_and_queue(name: &str) -> (String, Option<u32>) {
    if let Some((device, queue)) = name.rsplit_once('q')
        && is_nvme(device)
    {
        return (device.to_owned(), queue.parse().ok().filter(|q| *q > 0));
    }
    if let Some((device, purpose)) = name.split_once('-')
        && device.starts_with("virtio")
    {
        let queue =
            purpose.strip_prefix("req.").or_else(|| purpose.strip_prefix("request.")).and_then(|q| q.parse().ok());
        return (device.to_owned(), queue);
    }
    (name.to_owned(), None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tree::Tree;

    const TEXT: &str = "           CPU0       CPU2\n  0:         33          0   IO-APIC   2-edge      timer\n\
         30:          1          0  IR-PCI-MSIX-0000:01:00.0    0-edge      nvme0q0\n\
         31:        100          0  IR-PCI-MSIX-0000:01:00.0    1-edge      nvme0q1\n\
         32:          5    4000000  IR-PCI-MSIX-0000:01:00.0    2-edge      nvme0q2\n\
         36:          0          7 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0\n\
        NMI:          0          0   Non-maskable interrupts\n";

    #[test]
    fn rows_of_storage_are_found_with_their_queues() {
        let vectors = parse(TEXT, &[(36, "0000:00:02.0".to_owned())]);
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

    #[test]
    fn garbage_gives_nothing() {
        assert!(parse("", &[]).is_empty());
        assert!(parse("CPU0 CPU1\n 5: 1 x nvme0q1\n 6: 1\n:\n7\n", &[]).is_empty());
    }
}
