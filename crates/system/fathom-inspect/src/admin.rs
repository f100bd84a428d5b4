//! What NVMe controllers report about themselves over their admin queue: live by passthrough, which needs root, or from the
//! raw pages of a captured tree.

use std::path::PathBuf;

use fathom_message::Say as _;
use fathom_nvme::{
    AdminPages, AutonomousTransition, Coalescing, DeviceError, Namespace, OcpSmartLog, PowerState, SmartLog,
    ThermalManagement,
};
use serde::{Deserialize, Serialize};

use crate::look::{Look, Why};
use crate::part::Part;
use fathom_host::Root;

/// Folder of a captured tree that holds the raw pages, one folder per controller.
pub(crate) const PAGES_FOLDER: &str = "nvme";

/// A namespace and what it reports about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamespaceFacts {
    /// Number within the controller.
    pub id: u32,
    /// Sizes, formats, protection.
    #[serde(flatten)]
    pub facts: Namespace,
}

/// Facts that only the drive itself knows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdminFacts {
    /// Specification it implements: major, minor, tertiary.
    pub version: (u16, u8, u8),
    /// Largest transfer.
    pub max_transfer_bytes: Option<u64>,
    /// Trim is implemented.
    pub has_trim: bool,
    /// Format NVM is implemented.
    pub can_format: bool,
    /// Sanitize is implemented, in any way.
    pub can_sanitize: bool,
    /// A volatile write cache is present.
    pub has_write_cache: bool,
    /// It is on; `None`: the drive does not report it.
    pub write_cache_on: Option<bool>,
    /// Power states, from 0.
    pub power_states: Vec<PowerState>,
    /// The one it is in.
    pub power_state: Option<u8>,
    /// Steps to deeper power states after idle time; `None`: it makes none of its own accord.
    pub transitions: Option<Vec<AutonomousTransition>>,
    /// Interrupt coalescing.
    pub coalescing: Option<Coalescing>,
    /// Submission and completion queues it granted for I/O.
    pub queues: Option<(u32, u32)>,
    /// Thermal management by the host.
    pub thermal_management: Option<ThermalManagement>,
    /// Health.
    pub smart: Option<SmartLog>,
    /// Extended health, of drives that follow OCP.
    pub ocp_smart: Option<OcpSmartLog>,
    /// Namespaces.
    pub namespaces: Vec<NamespaceFacts>,
}

impl AdminFacts {
    /// Asks the controller `name`. What cannot be had is noted; a capture without pages lacks nothing that it promised.
    pub(crate) fn read(look: &Look<'_>, name: &str) -> Option<AdminFacts> {
        const WHAT: Part = Part::AdminPages;
        let pages = match pages_of(look.root(), name)? {
            Ok(pages) => pages,
            Err(error) => {
                let source = match &error {
                    DeviceError::Open { source, .. } | DeviceError::Kernel { source, .. } => Some(source.kind()),
                    _ => None,
                };
                let why = match source {
                    Some(std::io::ErrorKind::PermissionDenied) => Why::NeedsRoot,
                    Some(std::io::ErrorKind::NotFound) => Why::Absent,
                    _ => Why::Unreadable,
                };
                look.miss(WHAT, why, &format!("dev/{name}"), error.message());
                return None;
            }
        };
        match Self::of(&pages) {
            Ok(facts) => Some(facts),
            Err(error) => {
                look.miss(WHAT, Why::Unreadable, &format!("{PAGES_FOLDER}/{name}/identify.bin"), error.message());
                None
            }
        }
    }

    fn of(pages: &AdminPages) -> Result<AdminFacts, fathom_nvme::ShortPage> {
        let controller = pages.controller()?;
        let namespaces =
            pages.namespace_ids().filter_map(|id| Some(NamespaceFacts { id, facts: pages.namespace(id)? }));
        // The unit is the smallest page the controller can map, which is 4 KiB on all known drives.
        let max_transfer_bytes = controller.max_transfer_pages.map(|pages| pages.saturating_mul(4096));
        let sanitize = controller.sanitize;
        Ok(AdminFacts {
            version: controller.version,
            max_transfer_bytes,
            has_trim: controller.has_trim,
            can_format: controller.can_format,
            can_sanitize: sanitize.block_erase || sanitize.crypto_erase || sanitize.overwrite,
            has_write_cache: controller.has_write_cache,
            write_cache_on: pages.write_cache().filter(|_| controller.has_write_cache),
            power_states: controller.power_states,
            power_state: pages.power_state(),
            transitions: pages.transitions().filter(|_| controller.has_autonomous_transitions),
            coalescing: pages.coalescing(),
            queues: pages.queues(),
            thermal_management: pages.thermal_management().filter(|_| controller.has_thermal_management),
            smart: pages.smart(),
            ocp_smart: pages.ocp_smart(),
            namespaces: namespaces.collect(),
        })
    }

    /// A namespace by its number.
    #[must_use]
    pub fn namespace(&self, id: u32) -> Option<&Namespace> {
        self.namespaces.iter().find(|n| n.id == id).map(|n| &n.facts)
    }
}

/// Raw pages of a controller: asked for live, from files in a captured tree. `None`: a tree without them.
pub(crate) fn pages_of(root: &Root, name: &str) -> Option<Result<AdminPages, DeviceError>> {
    if root.is_live() {
        let node: PathBuf = root.join("dev").join(name);
        return Some(AdminPages::read(&node));
    }
    AdminPages::from_folder(&root.join(PAGES_FOLDER).join(name)).map(Ok)
}

/// The raw pages of all controllers below `root` as files of a capture: paths below its root, and contents.
pub(crate) fn page_files(root: &Root, with_serials: bool) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for name in root.names("sys/class/nvme") {
        // A drive that resets would hold the capture up; one that may not be asked is left out as a file would be.
        let Some(Ok(mut pages)) = pages_of(root, &name).filter(|_| is_live_controller(root, &name)) else { continue };
        if !with_serials {
            pages.anonymize();
        }
        let folder = PathBuf::from(PAGES_FOLDER).join(&name);
        files.extend(pages.files().into_iter().map(|(file, bytes)| (folder.join(file), bytes)));
    }
    files
}

fn is_live_controller(root: &Root, name: &str) -> bool {
    let state = root.attribute(format!("sys/class/nvme/{name}/state"));
    state.is_none_or(|state| state == "live")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machines::Machine;
    use crate::{Inventory, capture, unpack};

    fn machine() -> Machine {
        let mut machine = Machine::server(1, 4, 1);
        machine.drive_on_port("0000:10", 0, (4, 4), (4, 4), (4, 4));
        machine.give_pages("nvme0");
        machine
    }

    fn facts(inventory: &Inventory) -> &AdminFacts {
        inventory.drives[0].controllers[0].admin.as_deref().expect("pages are there")
    }

    #[test]
    fn raw_pages_of_a_tree_become_facts_of_the_drive() {
        let inventory = Inventory::read(&machine().root());
        let facts = facts(&inventory);
        assert_eq!((facts.version, facts.max_transfer_bytes), ((1, 4, 0), Some(128 << 10)));
        assert_eq!((facts.has_write_cache, facts.write_cache_on, facts.power_state), (true, Some(true), Some(0)));
        assert_eq!(facts.coalescing.map(|c| (c.completions, c.wait_us)), Some((8, 200)));
        let smart = facts.smart.as_ref().expect("health");
        assert_eq!((smart.used_pct, smart.celsius, smart.host_written_bytes), (3, Some(61), 2_000_000_000_000));
        assert_eq!(facts.namespace(1).and_then(Namespace::block_bytes), Some(512));
        let json = serde_json::to_string(&inventory).expect("json");
        assert_eq!(serde_json::from_str::<Inventory>(&json).expect("json"), inventory);
    }

    #[test]
    fn a_capture_carries_the_pages_without_what_names_the_drive() {
        let machine = machine();
        for with_serials in [false, true] {
            let mut packed = Vec::new();
            capture(&machine.root(), &mut packed, with_serials).expect("packs");
            let named = packed.windows(14).any(|w| w == b"S64GNE0R000000");
            assert_eq!(named, with_serials, "serial numbers only when asked");
            let unpacked = unpack(std::io::Cursor::new(packed)).expect("unpacks");
            let back = Inventory::read(&unpacked.root());
            assert_eq!(facts(&back), facts(&Inventory::read(&machine.root())));
        }
    }

    #[test]
    fn a_damaged_page_is_noted_and_costs_only_itself() {
        let machine = machine();
        machine.set_page("nvme0", "smart.bin", &[1, 2, 3]);
        assert_eq!(facts(&Inventory::read(&machine.root())).smart, None);
        machine.set_page("nvme0", "identify.bin", &[1, 2, 3]);
        let inventory = Inventory::read(&machine.root());
        assert!(inventory.drives[0].controllers[0].admin.is_none());
        assert!(inventory.missing.iter().any(|m| m.detail.to_string().contains("page=Identify Controller, found=3")));
    }
}
