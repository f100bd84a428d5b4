//! Which drive is which, by what stays when the kernel numbers the drives again.

use serde::{Deserialize, Serialize};

use crate::disk::device_by_name;
use crate::root::{Root, names_in, number};
use crate::vectors::interrupt_devices;

/// A drive that reports a serial number, and the names that the kernel gave it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriveIdentity {
    /// Kernel name when it was looked at, e.g. `nvme0n1`.
    pub name: String,
    /// Serial number, whole.
    pub serial: String,
    /// Model.
    pub model: Option<String>,
    /// Number of the namespace, of NVMe drives.
    pub namespace: Option<u32>,
    /// Capacity, bytes.
    pub size_bytes: u64,
    /// Driver's device for its interrupts, e.g. `nvme0`, where it has exactly one.
    pub interrupt_device: Option<String>,
}

impl DriveIdentity {
    /// Whether both are one drive, whatever the kernel called it.
    #[must_use]
    pub fn is_same(&self, other: &DriveIdentity) -> bool {
        self.serial == other.serial
            && self.model == other.model
            && self.namespace == other.namespace
            && self.size_bytes == other.size_bytes
    }
}

/// The drives of the machine below `root` that report a serial number, by name. Drives that cannot be read are left out.
#[must_use]
pub fn drive_identities(root: &Root) -> Vec<DriveIdentity> {
    names_in(&root.join("sys/block")).iter().filter_map(|name| identity_of(root, name)).collect()
}

fn identity_of(root: &Root, name: &str) -> Option<DriveIdentity> {
    let home = root.join("sys/block").join(name);
    // A path of a multipath drive: the drive is its head.
    if number(&home.join("hidden")) == Some(1) {
        return None;
    }
    let device = device_by_name(root, name).ok()?;
    let mut interrupts = interrupt_devices(root, std::slice::from_ref(&device.name));
    // The folder of a controller names its namespaces too.
    interrupts.retain(|name| name.strip_prefix("nvme").is_none_or(|n| n.bytes().all(|b| b.is_ascii_digit())));
    let reported = number(&home.join("nsid")).map(|n| n as u32);
    Some(DriveIdentity {
        serial: device.serial?,
        model: device.model,
        // Kernels that do not report it number the names alike, as long as no namespace was deleted.
        namespace: reported.or_else(|| name.strip_prefix("nvme")?.rsplit_once('n')?.1.parse().ok()),
        size_bytes: device.size_bytes,
        interrupt_device: interrupts.pop().filter(|_| interrupts.is_empty()),
        name: device.name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tree::Tree;

    /// Two drives of two namespaces each, and a loop device, which has no serial number.
    fn tree() -> Tree {
        let tree = Tree::new();
        for (controller, serial) in [("nvme0", "S64GNE0R"), ("nvme1", "S64GNE0S")] {
            let bus = format!("pci0/{controller}");
            tree.file(&format!("sys/devices/{bus}/serial"), format!("{serial}  \n"))
                .file(&format!("sys/devices/{bus}/model"), "FAST DRIVE  \n");
            for namespace in 1..3 {
                let name = format!("{controller}n{namespace}");
                let minor = controller.len() + namespace + if controller == "nvme1" { 10 } else { 0 };
                tree.disk(&name, &format!("259:{minor}"), 1000 * namespace as u64, &bus)
                    .link(&format!("sys/devices/{bus}/block/{name}/device"), "../..")
                    .folder(&format!("sys/devices/{bus}/{name}"));
            }
        }
        tree.disk("loop0", "7:0", 8, "virtual");
        tree
    }

    #[test]
    fn drives_with_a_serial_number_are_listed_with_namespace_size_and_interrupts() {
        let found = drive_identities(&tree().root());
        let names: Vec<&str> = found.iter().map(|d| d.name.as_str()).collect();
        assert_eq!(names, ["nvme0n1", "nvme0n2", "nvme1n1", "nvme1n2"]);
        let last = &found[3];
        assert_eq!((last.serial.as_str(), last.model.as_deref()), ("S64GNE0S", Some("FAST DRIVE")));
        assert_eq!((last.namespace, last.size_bytes), (Some(2), 1_024_000));
        assert_eq!(last.interrupt_device.as_deref(), Some("nvme1"));
    }

    #[test]
    fn a_path_of_a_multipath_drive_is_no_drive_of_its_own() {
        let tree = tree();
        tree.file("sys/devices/pci0/nvme1/block/nvme1n1/hidden", "1\n");
        assert!(drive_identities(&tree.root()).iter().all(|d| d.name != "nvme1n1"));
    }

    #[test]
    fn a_drive_is_the_same_under_another_name_and_no_other_namespace_serial_or_size_is() {
        let found = drive_identities(&tree().root());
        let renamed = DriveIdentity { name: "nvme7n1".into(), interrupt_device: None, ..found[0].clone() };
        assert!(found[0].is_same(&renamed));
        assert!(found[1..].iter().all(|other| !found[0].is_same(other)));
        assert!(!found[0].is_same(&DriveIdentity { size_bytes: 512, ..renamed }));
    }

    #[test]
    fn what_was_listed_survives_json() {
        let found = drive_identities(&tree().root());
        let text = serde_json::to_string(&found).expect("json");
        assert_eq!(serde_json::from_str::<Vec<DriveIdentity>>(&text).expect("json"), found);
    }
}
