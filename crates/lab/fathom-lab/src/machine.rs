//! The machine as a run stores it: facts about the targets, the whole inventory, and the advice on it.
//!
//! Reports are made to be passed on, so serial numbers keep only their end, as in [`HostFacts`].

use fathom_host::inspect::{Advice, Inventory, Subject, advise};
use fathom_host::{HostFacts, Root};
use serde::Serialize;

/// Characters of a serial number that are kept.
const SERIAL_END_CHARS: usize = 4;

/// What stands under `host` in the document.
#[derive(Serialize)]
struct HostSeen<'a> {
    #[serde(flatten)]
    facts: &'a HostFacts,
    inventory: Inventory,
    advice: Vec<Advice>,
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
    serde_json::to_string(&HostSeen { facts, inventory, advice }).expect("facts are plain data")
}

fn end_of(serial: &str) -> String {
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
    fn a_serial_number_keeps_its_end_only() {
        assert_eq!(end_of("S64GNE0R123456"), "…3456");
        assert_eq!(end_of("56"), "56");
    }
}
