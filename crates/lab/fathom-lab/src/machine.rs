//! The machine as a run stores it: facts about the targets, the whole inventory, and the advice on it.
//!
//! Reports are made to be passed on, so serial numbers keep only their end, as in [`HostFacts`]. The lab keeps them whole
//! beside that, for a run that goes on after a restart: the ends of two drives of one make may be alike.

use std::path::PathBuf;

use fathom_host::{DriveIdentity, HostFacts, Root, drive_identities};
use fathom_inspect::{Advice, Inventory, Subject, advise};
use serde::{Deserialize, Serialize};

/// Characters of a serial number that are kept.
const SERIAL_END_CHARS: usize = 4;
/// Where the lab keeps what no document shows.
const IDENTITIES: &str = "identities";
const WORKING_DIRECTORY: &str = "working_directory";

/// What stands under `host` in the document, and what the lab keeps beside it.
#[derive(Serialize)]
struct HostSeen<'a> {
    #[serde(flatten)]
    facts: &'a HostFacts,
    inventory: Inventory,
    advice: Vec<Advice>,
    identities: Vec<DriveIdentity>,
    /// Where relative names of targets begin; left out where it is gone, or no text.
    working_directory: Option<String>,
}

/// The part of a stored machine that says which drive is which.
#[derive(Deserialize)]
struct IdentitiesSeen {
    identities: Vec<DriveIdentity>,
}

/// The machine below `root` as JSON, with advice for the devices of the targets.
pub(crate) fn host_json(root: &Root, facts: &HostFacts) -> String {
    let mut inventory = Inventory::read(root);
    let devices = facts.targets.iter().filter_map(|t| t.device.as_ref());
    // Advice on other drives would not be about this run: with no device behind the targets, none on drives is given.
    let targets = Some(devices.map(|d| d.name.clone()).collect());
    let advice = advise(&inventory, &Subject { targets, cpus: Vec::new() });
    let drives = inventory.drives.iter_mut().map(|d| &mut d.device);
    for device in drives.chain(inventory.arrays.iter_mut().map(|a| &mut a.device)) {
        device.serial = device.serial.as_deref().map(end_of);
    }
    let identities = drive_identities(root);
    let working_directory = std::env::current_dir().ok().and_then(|path| path.to_str().map(str::to_owned));
    serde_json::to_string(&HostSeen { facts, inventory, advice, identities, working_directory })
        .expect("facts are plain data")
}

/// The stored machine as documents show it.
pub(crate) fn host_to_show(mut host: serde_json::Value) -> serde_json::Value {
    if let Some(fields) = host.as_object_mut() {
        fields.remove(IDENTITIES);
        fields.remove(WORKING_DIRECTORY);
    }
    host
}

/// Where the relative names of a run's targets begin; `None` for runs that do not keep it.
pub(crate) fn working_directory_in(host: &serde_json::Value) -> Option<PathBuf> {
    host.get(WORKING_DIRECTORY)?.as_str().map(PathBuf::from)
}

/// The drives of the stored machine with their serial numbers; `None` for runs that keep none.
pub(crate) fn identities_in(host: &serde_json::Value) -> Option<Vec<DriveIdentity>> {
    IdentitiesSeen::deserialize(host).ok().map(|seen| seen.identities)
}

/// A serial number shortened to its end.
pub(crate) fn end_of(serial: &str) -> String {
    let skip = serial.chars().count().saturating_sub(SERIAL_END_CHARS);
    if skip == 0 { serial.to_owned() } else { format!("…{}", serial.chars().skip(skip).collect::<String>()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_machine_holds_inventory_and_advice_beside_the_facts() {
        let facts = HostFacts::collect(&Root::live(), &[]).expect("this is a Linux machine");
        let host: serde_json::Value = serde_json::from_str(&host_json(&Root::live(), &facts)).expect("json");
        assert_eq!(host["cpu_model"], facts.cpu_model);
        let inventory: Inventory = serde_json::from_value(host["inventory"].clone()).expect("an inventory");
        assert_eq!(inventory.processors.topology.cpus.len(), facts.topology.cpus.len());
        assert!(host["advice"].is_array());
    }

    #[test]
    fn whole_serial_numbers_stay_in_the_lab() {
        let facts = HostFacts::collect(&Root::live(), &[]).expect("this is a Linux machine");
        let mut stored: serde_json::Value = serde_json::from_str(&host_json(&Root::live(), &facts)).expect("json");
        assert!(stored[IDENTITIES].is_array(), "kept even where no drive tells a serial number");
        let drive = serde_json::json!({
            "name": "nvme0n1", "serial": "S64GNE0R123456", "model": null, "namespace": 1, "size_bytes": 4096,
            "interrupt_device": "nvme0",
        });
        stored[IDENTITIES] = serde_json::json!([drive]);
        assert_eq!(identities_in(&stored).map(|d| d[0].serial.clone()).as_deref(), Some("S64GNE0R123456"));
        assert_eq!(working_directory_in(&stored), std::env::current_dir().ok());
        let shown = host_to_show(stored);
        assert_eq!(working_directory_in(&shown), None, "documents are passed on");
        assert!(!shown.to_string().contains("S64GNE0R123456"), "{shown}");
        assert_eq!(shown["cpu_model"], facts.cpu_model);
        assert_eq!(identities_in(&serde_json::json!({})), None);
    }

    #[test]
    fn a_serial_number_keeps_its_end_only() {
        assert_eq!(end_of("S64GNE0R123456"), "…3456");
        assert_eq!(end_of("56"), "56");
    }
}
