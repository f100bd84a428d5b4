//! What each PCIe link carried during a step: the kernel's bytes of the drives below it against what it can carry.

use fathom_inspect::Inventory;
use fathom_judge::document::LinkLoad;
use fathom_record::HostDelta;

/// The links above the drives of a step, from the processor down, each once. Empty without drives on PCIe.
///
/// A link carries both directions at once, so its load is the larger of the two over what one direction can carry.
pub(crate) fn link_loads(inventory: &Inventory, host: &HostDelta) -> Vec<LinkLoad> {
    let mut loads: Vec<LinkLoad> = Vec::new();
    let per_s = |bytes: u64| if host.window_ns > 0 { bytes as f64 * 1e9 / host.window_ns as f64 } else { 0.0 };
    for disk in &host.disks {
        for drive in inventory.drives_below(&disk.device) {
            let Some(address) = &drive.pci_address else { continue };
            for function in inventory.pcie.path_to(address) {
                let Some(hop) = &function.hop else { continue };
                let at = loads.iter().position(|l| l.address == function.address).unwrap_or_else(|| {
                    loads.push(LinkLoad {
                        address: function.address.clone(),
                        link: hop.current.to_string(),
                        usable_bytes_per_s: hop.usable_bytes_per_s,
                        read_bytes_per_s: 0.0,
                        write_bytes_per_s: 0.0,
                        load_share: 0.0,
                    });
                    loads.len() - 1
                });
                // An array's bytes are spread over its members; which took how much is not counted here.
                let members = inventory.drives_below(&disk.device).len() as f64;
                loads[at].read_bytes_per_s += per_s(disk.read_bytes) / members;
                loads[at].write_bytes_per_s += per_s(disk.write_bytes) / members;
            }
        }
    }
    for load in &mut loads {
        load.load_share = load.read_bytes_per_s.max(load.write_bytes_per_s) / load.usable_bytes_per_s;
    }
    loads
}

#[cfg(test)]
mod tests {
    use fathom_record::DiskDelta;
    use serde_json::json;

    use super::*;

    fn function(
        address: &str,
        kind: &str,
        hop: &serde_json::Value,
        children: &[serde_json::Value],
    ) -> serde_json::Value {
        json!({
            "address": address, "kind": kind, "class": "010802", "class_name": "NVMe drive", "vendor_id": "144d", "device_id": "a80a",
            "driver": null, "numa_node": 0, "iommu": null, "link_max": null, "hop": hop, "children": children
        })
    }

    fn hop(generation: u8, width: u8, usable: f64) -> serde_json::Value {
        json!({
            "current": { "generation": generation, "width": width }, "device_max": null, "port_max": null,
            "max_payload_bytes": 256, "max_payload_known": true, "usable_bytes_per_s": usable
        })
    }

    fn disk(device: &str, read_bytes: u64, write_bytes: u64) -> DiskDelta {
        DiskDelta { device: device.into(), read_bytes, write_bytes, ..DiskDelta::default() }
    }

    /// Two drives behind a switch: the live inventory of this machine with a tree put in.
    fn two_behind_a_switch() -> Inventory {
        let mut inventory = Inventory::read(&fathom_host::Root::live());
        let drives = ["0000:03:00.0", "0000:04:00.0"].map(|a| function(a, "endpoint", &hop(4, 4, 7e9), &[]));
        let switch = function("0000:02:00.0", "switch_upstream", &hop(3, 16, 14e9), &drives);
        let port = function("0000:00:01.0", "root_port", &serde_json::Value::Null, &[switch]);
        inventory.pcie = serde_json::from_value(
            json!({ "complexes": [{ "name": "pci0000:00", "numa_node": 0, "functions": [port] }] }),
        )
        .expect("a tree");
        let like = inventory.drives.first().expect("this machine has a block device").clone();
        inventory.drives = [("nvme0n1", "0000:03:00.0"), ("nvme1n1", "0000:04:00.0")]
            .map(|(name, address)| {
                let mut drive = like.clone();
                (drive.device.name, drive.pci_address) = (name.into(), Some(address.into()));
                drive
            })
            .to_vec();
        inventory.arrays.clear();
        inventory
    }

    #[test]
    fn an_uplink_carries_the_sum_of_its_drives_and_each_drive_its_own() {
        let host = HostDelta {
            window_ns: 2_000_000_000,
            disks: vec![disk("nvme0n1", 7_000_000_000, 0), disk("nvme1n1", 14_000_000_000, 2_000_000_000)],
            ..HostDelta::default()
        };
        let loads = link_loads(&two_behind_a_switch(), &host);
        let share = |address: &str| {
            loads.iter().find(|l| l.address == address).map(|l| (l.load_share * 1000.0).round() / 1000.0)
        };
        assert_eq!(share("0000:02:00.0"), Some(0.75));
        assert_eq!(share("0000:03:00.0"), Some(0.5));
        assert_eq!(share("0000:04:00.0"), Some(1.0));
        assert_eq!(loads.len(), 3);
        assert_eq!(loads[0].link, "Gen3 x16");
    }

    #[test]
    fn a_device_without_a_pcie_link_has_none() {
        let mut inventory = two_behind_a_switch();
        inventory.drives[0].pci_address = None;
        let host =
            HostDelta { window_ns: 1, disks: vec![disk("nvme0n1", 1, 1), disk("loop0", 1, 1)], ..HostDelta::default() };
        assert!(link_loads(&inventory, &host).is_empty());
    }
}
