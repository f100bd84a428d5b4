//! Machines that lie, lack parts, or go away while they are looked at.

use proptest::prelude::*;

use crate::machines::{HOSTILE, Machine, is_safe};
use crate::{Inventory, Subject, advise};

fn all_strings_are_safe(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::String(text) => is_safe(text),
        serde_json::Value::Array(all) => all.iter().all(all_strings_are_safe),
        serde_json::Value::Object(all) => all.iter().all(|(k, v)| is_safe(k) && all_strings_are_safe(v)),
        _ => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn hostile_content_neither_ends_the_program_nor_reaches_the_terminal(
        contents in prop::collection::vec((0..HOSTILE.len(), "\\PC{0,8}[\u{1b}\u{7}\n\u{202e}\u{200b}0-9,:x-]{0,30}\\PC{0,8}"), 1..6)
    ) {
        let mut machine = Machine::server(1, 2, 1);
        machine.drive_on_port("0000:10", 0, (4, 4), (4, 4), (4, 4));
        for (which, content) in &contents {
            machine.file(HOSTILE[*which], content);
        }
        let inventory = Inventory::read(&machine.root());
        let advice = advise(&inventory, &Subject::default());
        prop_assert!(all_strings_are_safe(&serde_json::to_value(&inventory).expect("json")));
        prop_assert!(all_strings_are_safe(&serde_json::to_value(&advice).expect("json")));
    }
}

#[test]
fn any_part_of_a_machine_may_be_missing() {
    for gone in [
        "proc/interrupts",
        "proc/cpuinfo",
        "proc/meminfo",
        "proc/irq",
        "proc/self",
        "sys/class/nvme",
        "sys/bus",
        "sys/block",
        "sys/devices/system",
        "sys/dev",
    ] {
        let mut machine = Machine::server(1, 2, 1);
        machine.drive_on_port("0000:10", 0, (4, 4), (4, 4), (4, 4));
        let path = machine.root().join(gone);
        if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }.expect("removed");
        let inventory = Inventory::read(&machine.root());
        let _whatever_is_said = advise(&inventory, &Subject::default());
        let text = serde_json::to_string(&inventory).expect("json");
        assert_eq!(serde_json::from_str::<Inventory>(&text).expect("json"), inventory, "{gone}");
    }
}

#[test]
fn a_machine_that_vanishes_while_it_is_looked_at_leaves_what_was_seen() {
    let mut machine = Machine::server(2, 4, 2);
    (0..4).for_each(|_| machine.drive_on_port("0000:10", 0, (4, 4), (4, 4), (4, 4)));
    let root = machine.root();
    let (sys, proc) = (root.join("sys"), root.join("proc"));
    let whole = Inventory::read(&root).drives.len();
    let gone = std::thread::spawn(move || {
        // Folder by folder, while the looks go on.
        for folder in ["block", "class/nvme", "devices/system", "bus/pci", "devices", "class", ""] {
            std::thread::sleep(std::time::Duration::from_millis(5));
            std::fs::remove_dir_all(sys.join(folder)).expect("removed");
        }
        std::fs::remove_dir_all(proc).expect("removed");
    });
    let mut seen = Vec::new();
    while !gone.is_finished() {
        let inventory = Inventory::read(&root);
        let _whatever_is_said = advise(&inventory, &Subject::default());
        seen.push(inventory.drives.len());
    }
    gone.join().expect("all is gone");
    assert!(seen.iter().all(|drives| *drives <= whole), "{seen:?}");
    assert_eq!(Inventory::read(&root).drives, []);
}
