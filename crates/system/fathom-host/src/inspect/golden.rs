//! What people see of known machines, kept as text; and what may never be seen.

use proptest::prelude::*;

use super::machines::{self, Machine};
use super::{Inventory, Subject, advise, render_text};
use crate::root::Root;
use crate::root::tree::Tree;

/// Expands a manifest into a tree. Lines are `path = value`, `path -> target of a link`, `path/` for a folder, `#` for
/// a comment; `path <<` starts several lines that end with `>>`; `{0..7}` in a path stands for eight lines, and `{}` in
/// the value for the number; a value `zeros:64` is that many zero bytes, `bytes:64 4:0a0b 9:ff` as many with some set.
fn expand(manifest: &str) -> Tree {
    let tree = Tree::new();
    let mut lines = manifest.lines();
    while let Some(line) = lines.next() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(path) = line.strip_suffix(" <<") {
            let body: Vec<&str> = lines.by_ref().take_while(|l| *l != ">>").collect();
            tree.file(path, body.join("\n") + "\n");
        } else if let Some((link, target)) = line.split_once(" -> ") {
            tree.link(link, target);
        } else if let Some((path, value)) = line.split_once(" = ") {
            for (path, value) in numbered(path, value) {
                let zeros = value.strip_prefix("zeros:").map(|n| vec![0; n.parse().expect("a number of zeros")]);
                match zeros.or_else(|| value.strip_prefix("bytes:").map(sparse)) {
                    Some(bytes) => tree.file(&path, bytes),
                    None => tree.file(&path, value + "\n"),
                };
            }
        } else {
            tree.folder(line.strip_suffix('/').unwrap_or_else(|| panic!("no manifest line: {line}")));
        }
    }
    tree
}

/// `64 4:0a0b 9:ff`: 64 bytes, all zero but those at 4, 5 and 9.
fn sparse(text: &str) -> Vec<u8> {
    let mut words = text.split(' ');
    let mut bytes = vec![0; words.next().and_then(|n| n.parse().ok()).expect("a number of bytes")];
    for word in words {
        let (at, digits) = word.split_once(':').expect("an offset and digits");
        let at: usize = at.parse().expect("an offset");
        for (index, pair) in digits.as_bytes().chunks(2).enumerate() {
            let pair = std::str::from_utf8(pair).expect("digits");
            bytes[at + index] = u8::from_str_radix(pair, 16).expect("two digits");
        }
    }
    bytes
}

fn numbered(path: &str, value: &str) -> Vec<(String, String)> {
    let parts = path.split_once('{').and_then(|(head, rest)| Some((head, rest.split_once('}')?)));
    let Some((head, (range, tail))) = parts else { return vec![(path.to_owned(), value.to_owned())] };
    let (from, to) = range.split_once("..").expect("a range such as {0..7}");
    let (from, to): (u32, u32) = (from.parse().expect("first"), to.parse().expect("last"));
    (from..=to).map(|n| (format!("{head}{n}{tail}"), value.replace("{}", &n.to_string()))).collect()
}

fn shown(root: &Root) -> String {
    let inventory = Inventory::read(root);
    let advice = advise(&inventory, &Subject::default());
    render_text(&inventory, &advice, 80)
}

macro_rules! golden {
    ($($test:ident: $root:expr;)*) => {$(
        #[test]
        fn $test() {
            let machine = $root;
            insta::assert_snapshot!(shown(&machine.root()));
        }
    )*};
}

golden! {
    a_guest_on_virtio_reads_well: expand(include_str!("../../fixtures/virtio-guest.tree"));
    a_laptop_seen_without_root_reads_well: expand(include_str!("../../fixtures/laptop.tree"));
    a_container_on_a_multipath_array_reads_well: expand(include_str!("../../fixtures/container-multipath.tree"));
    a_drive_trained_down_reads_well: expand(include_str!("../../fixtures/trained-down.tree"));
    an_emulated_machine_of_two_sockets_reads_well: expand(include_str!("../../fixtures/qemu-two-sockets.tree"));
    an_emulated_machine_under_multipath_reads_well: expand(include_str!("../../fixtures/qemu-one-socket.tree"));
    an_emulated_machine_of_three_nodes_reads_well: expand(include_str!("../../fixtures/qemu-three-nodes.tree"));
    the_r740xd_of_the_article_reads_well: machines::r740xd();
    the_epyc_with_sixteen_drives_reads_well: machines::epyc_sixteen_drives();
    smt_off_and_other_troubles_read_well: machines::smt_off_with_troubles();
    links_in_trouble_read_well: machines::links_in_trouble();
    an_empty_tree_reads_well: Tree::new();
}

#[test]
fn the_r740xd_has_the_ledger_of_the_article() {
    let ledger = Inventory::read(&machines::r740xd().root()).lanes;
    let used: u32 = ledger.nodes.iter().map(|n| n.lanes_used).sum();
    let drives: u32 = ledger.nodes.iter().map(|n| n.lanes_for_drives).sum();
    // 4 (boot) + 8 (RAID card) + 8 (network) + 48 (three switch cards); boot and RAID card lead to drives as well.
    assert_eq!((used, drives), (68, 60));
    assert_eq!(ledger.uplinks.len(), 3);
    assert!(ledger.uplinks.iter().all(|u| (u.oversubscription - 1.0).abs() < 0.01 && u.links_below == 4));
}

#[test]
#[allow(clippy::print_stderr)] // A time to look at, not to assert.
fn a_machine_of_256_cpus_and_24_drives_is_read_whole() {
    let machine = machines::two_sockets_24_drives();
    let start = std::time::Instant::now();
    let inventory = Inventory::read(&machine.root());
    let took = start.elapsed();
    eprintln!("256 CPUs, 24 drives, {} vectors: read in {took:?}", inventory.interrupts.vectors.len());
    let cpus = &inventory.processors;
    assert_eq!((cpus.topology.cpus.len(), cpus.cores, cpus.sockets, cpus.nodes.len()), (256, 128, 2, 2));
    assert_eq!((inventory.drives.len(), inventory.interrupts.vectors.len()), (24, 24 * 64));
    let per_node = |node| inventory.drives.iter().filter(|d| d.numa_node() == Some(node)).count();
    assert_eq!((per_node(0), per_node(1)), (12, 12));
    assert!(inventory.drives.iter().all(|d| (d.poll_queues(), d.interrupt_queues()) == (Some(16), Some(63))));
    assert_eq!(inventory.missing, []);
    insta::assert_snapshot!(render_text(&inventory, &advise(&inventory, &Subject::default()), 80));
}

/// Files whose content a drive, a guest's firmware or a stranger decides.
const HOSTILE: [&str; 14] = [
    "sys/class/nvme/nvme0/model",
    "sys/class/nvme/nvme0/serial",
    "sys/class/nvme/nvme0/firmware_rev",
    "sys/class/nvme/nvme0/state",
    "sys/class/nvme/nvme0/queue_count",
    "sys/block/nvme0n1/queue/scheduler",
    "sys/block/nvme0n1/queue/write_cache",
    "sys/block/nvme0n1/size",
    "sys/bus/pci/devices/0000:11:00.0/class",
    "sys/bus/pci/devices/0000:11:00.0/current_link_speed",
    "sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
    "proc/interrupts",
    "proc/self/mountinfo",
    "proc/cpuinfo",
];

fn is_safe(text: &str) -> bool {
    !text.chars().any(|c| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}'))
}

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
        let text = render_text(&inventory, &advice, 80);
        prop_assert!(text.lines().all(is_safe), "{text:?}");
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
        let text = shown(&machine.root());
        assert!(text.contains("Advice"), "{gone}: {text}");
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
        let text = render_text(&inventory, &advise(&inventory, &Subject::default()), 80);
        assert!(text.contains("Advice"), "{text}");
        seen.push(inventory.drives.len());
    }
    gone.join().expect("all is gone");
    assert!(seen.iter().all(|drives| *drives <= whole), "{seen:?}");
    assert_eq!(Inventory::read(&root).drives, []);
}

/// The report's browser tests draw these machines. `FATHOM_BLESS=1` writes them anew after the inventory changed.
#[test]
fn the_machines_that_the_viewer_is_tested_with_are_these() {
    drawn("r740xd", &machines::r740xd().root());
    drawn("links-in-trouble", &machines::links_in_trouble().root());
    drawn("laptop", &expand(include_str!("../../fixtures/laptop.tree")).root());
}

fn drawn(name: &str, root: &Root) {
    let inventory = Inventory::read(root);
    let advice = advise(&inventory, &Subject::default());
    let now = serde_json::json!({ "inventory": inventory, "advice": advice });
    let path = format!("{}/../../../web/tests/machines/{name}.json", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("FATHOM_BLESS").is_some() {
        std::fs::write(&path, now.to_string() + "\n").expect("the folder is there");
    }
    let kept: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&path).expect("it was written once")).expect("json");
    assert!(kept == now, "{name} differs: run this test with FATHOM_BLESS=1 and look at the report's machine page");
}
