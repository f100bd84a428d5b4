//! Interrupts of the drives behind a step, by vector and CPU.

use fathom_record::VectorDelta;

use crate::disk::devices_below;
use crate::interrupts::InterruptTable;
use crate::root::{Root, names_in};

/// Drivers' devices (`nvme0`, `virtio1`) whose vectors complete the I/O of block devices `disks`: those of the devices
/// themselves, of all paths of a multipath drive, and of the members of an array, all the way down.
pub(crate) fn interrupt_devices(root: &Root, disks: &[String]) -> Vec<String> {
    let mut out = Vec::new();
    for device in devices_below(root, disks) {
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

/// What was added between two readings. A CPU that went off- or online in between shifts the columns: then nothing is
/// said rather than something wrong.
pub(crate) fn vector_deltas(first: &InterruptTable, last: &InterruptTable) -> Vec<VectorDelta> {
    if first.cpus != last.cpus {
        return Vec::new();
    }
    let pairs = last.rows.iter().filter_map(|after| {
        let before = first.rows.iter().find(|v| v.irq == after.irq && v.device == after.device)?;
        Some((before, after))
    });
    pairs
        .map(|(before, after)| {
            let counts = after.counts.iter().zip(&before.counts).map(|(a, b)| a.saturating_sub(*b));
            let by_cpu: Vec<(u32, u64)> = first.cpus.iter().copied().zip(counts).filter(|(_, n)| *n > 0).collect();
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

    fn parsed(text: &str) -> InterruptTable {
        InterruptTable::parse(text, |_, device| device == "nvme0")
    }

    #[test]
    fn what_a_vector_took_is_counted_by_cpu() {
        let deltas = vector_deltas(&parsed(&text(5, 7)), &parsed(&text(5, 107)));
        let seen: Vec<_> = deltas.iter().map(|d| (d.irq, d.queue, d.count, d.by_cpu.clone())).collect();
        assert_eq!(seen, [(30, None, 0, vec![]), (31, Some(1), 100, vec![(2, 100)])]);
    }

    #[test]
    fn a_cpu_that_came_or_went_leaves_nothing_to_say() {
        let other = text(5, 7).replace("CPU2", "CPU3");
        assert!(vector_deltas(&parsed(&text(5, 7)), &parsed(&other)).is_empty());
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
}
