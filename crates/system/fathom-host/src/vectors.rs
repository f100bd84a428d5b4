//! Interrupts of the drives behind a step, by vector and CPU.

use fathom_record::VectorDelta;

use crate::disk::device_by_name;
use crate::inspect::device_and_queue;
use crate::root::{Root, names_in};

/// Drivers' devices (`nvme0`, `virtio1`) whose vectors complete the I/O of block devices `disks`: those of the devices
/// themselves, of all paths of a multipath drive, and of the members of an array, all the way down.
pub(crate) fn interrupt_devices(root: &Root, disks: &[String]) -> Vec<String> {
    let mut out = Vec::new();
    let mut queue = disks.to_vec();
    // Bounded, because a tree that was tampered with may stack devices in a circle.
    for _ in 0..1024 {
        let Some(disk) = queue.pop() else { break };
        let Ok(device) = device_by_name(root, &disk) else { continue };
        queue.extend(device.slaves);
        let home = root.join("sys/class/block").join(&device.name).join("device");
        if let Some(name) = std::fs::canonicalize(&home).ok().as_deref().and_then(|h| h.file_name()?.to_str()) {
            out.push(name.to_owned());
        }
        // The head of a multipath drive belongs to a subsystem, whose folder names its controllers.
        out.extend(names_in(&home).into_iter().filter(|n| n.starts_with("nvme")));
    }
    out.sort();
    out.dedup();
    out
}

/// Counts of one vector at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VectorCounts {
    irq: u32,
    device: String,
    queue: Option<u32>,
    /// In the order of the CPUs in the heading.
    counts: Vec<u64>,
}

/// CPUs of the heading and rows of `devices` in /proc/interrupts (proc_interrupts(5)).
pub(crate) fn parse_vectors(text: &str, devices: &[String]) -> (Vec<u32>, Vec<VectorCounts>) {
    let mut lines = text.lines();
    let heading = lines.next().unwrap_or("");
    let cpus: Vec<u32> = heading.split_ascii_whitespace().filter_map(|w| w.strip_prefix("CPU")?.parse().ok()).collect();
    let mut rows = Vec::new();
    for line in lines {
        let Some((irq, rest)) = line.split_once(':') else { continue };
        let Some(name) = rest.split_ascii_whitespace().next_back() else { continue };
        let (device, queue) = device_and_queue(name);
        let Ok(irq) = irq.trim().parse() else { continue };
        if !devices.contains(&device) {
            continue;
        }
        let counts: Vec<u64> = rest.split_ascii_whitespace().take(cpus.len()).map_while(|w| w.parse().ok()).collect();
        if counts.len() == cpus.len() {
            rows.push(VectorCounts { irq, device, queue, counts });
        }
    }
    (cpus, rows)
}

/// What was added between two readings. A CPU that went off- or online in between shifts the columns: then nothing is
/// said rather than something wrong.
pub(crate) fn vector_deltas(
    first: &(Vec<u32>, Vec<VectorCounts>),
    last: &(Vec<u32>, Vec<VectorCounts>),
) -> Vec<VectorDelta> {
    if first.0 != last.0 {
        return Vec::new();
    }
    let pairs = last.1.iter().filter_map(|after| {
        let before = first.1.iter().find(|v| v.irq == after.irq && v.device == after.device)?;
        Some((before, after))
    });
    pairs
        .map(|(before, after)| {
            let counts = after.counts.iter().zip(&before.counts).map(|(a, b)| a.saturating_sub(*b));
            let by_cpu: Vec<(u32, u64)> = first.0.iter().copied().zip(counts).filter(|(_, n)| *n > 0).collect();
            VectorDelta {
                irq: after.irq,
                device: after.device.clone(),
                queue: after.queue,
                count: by_cpu.iter().map(|(_, n)| n).sum(),
                by_cpu,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tree::Tree;

    fn text(first: u64, second: u64) -> String {
        format!(
            "      CPU0 CPU2\n 30: 1 0 IR-PCI-MSIX 0-edge nvme0q0\n 31: {first} {second} IR-PCI-MSIX 1-edge nvme0q1\n\
             40: 9 9 IR-PCI-MSIX 1-edge nvme1q1\nNMI: 0 0 Non-maskable interrupts\n"
        )
    }

    #[test]
    fn what_a_vector_took_is_told_by_cpu() {
        let devices = ["nvme0".to_owned()];
        let deltas = vector_deltas(&parse_vectors(&text(5, 7), &devices), &parse_vectors(&text(5, 107), &devices));
        let told: Vec<_> = deltas.iter().map(|d| (d.irq, d.queue, d.count, d.by_cpu.clone())).collect();
        assert_eq!(told, [(30, None, 0, vec![]), (31, Some(1), 100, vec![(2, 100)])]);
    }

    #[test]
    fn a_cpu_that_came_or_went_leaves_nothing_to_say() {
        let devices = ["nvme0".to_owned()];
        let other = text(5, 7).replace("CPU2", "CPU3");
        assert!(vector_deltas(&parse_vectors(&text(5, 7), &devices), &parse_vectors(&other, &devices)).is_empty());
    }

    #[test]
    fn an_array_leads_to_the_drives_below_and_a_head_to_all_its_paths() {
        let tree = Tree::new();
        tree.disk("nvme0n1", "259:0", 8, "pci0/nvme/nvme0")
            .link("sys/devices/pci0/nvme/nvme0/block/nvme0n1/device", "../../../nvme0")
            .disk("nvme5n1", "259:5", 8, "virtual/nvme-subsystem/nvme-subsys5")
            .link("sys/devices/virtual/nvme-subsystem/nvme-subsys5/block/nvme5n1/device", "../../../nvme-subsys5")
            .folder("sys/devices/virtual/nvme-subsystem/nvme-subsys5/nvme5")
            .folder("sys/devices/virtual/nvme-subsystem/nvme-subsys5/nvme6");
        tree.disk("md0", "9:0", 8, "virtual").folder("sys/devices/virtual/block/md0/md");
        for member in ["nvme0n1", "nvme5n1"] {
            tree.folder(&format!("sys/devices/virtual/block/md0/slaves/{member}"));
        }
        let found = interrupt_devices(&tree.root(), &["md0".to_owned()]);
        for name in ["nvme0", "nvme5", "nvme6"] {
            assert!(found.iter().any(|f| f == name), "{name} is not in {found:?}");
        }
    }

    #[test]
    fn garbage_gives_nothing() {
        let devices = ["nvme0".to_owned()];
        for text in ["", "CPU0\n", "CPU0 CPU1\n5: 1 nvme0q1\n", "x\n:\n7: nvme0q1\n"] {
            assert!(parse_vectors(text, &devices).1.iter().all(|v| v.counts.is_empty()), "{text}");
        }
    }
}
