//! What is found on known machines.

use fathom_host::Root;
use fathom_host::testing::Tree;

use crate::machines::{self, fixture, fixture_names};
use crate::{Inventory, Subject, advise};

/// Advice as programmers see it: rule, subjects, ids with figures.
fn advised(root: &Root) -> String {
    let all = advise(&Inventory::read(root), &Subject::default());
    let line = |a: &crate::Advice| {
        let subjects = a.subjects.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let remedy = a.remedy.as_ref().map_or(String::new(), |r| format!("\n  {r}"));
        format!("{:?} {} [{subjects}]\n  {}\n  {}{remedy}\n", a.severity, a.id, a.reason, a.effect)
    };
    all.iter().map(line).collect()
}

#[test]
fn advice_on_known_machines_is_this() {
    for name in fixture_names() {
        insta::assert_snapshot!(name, advised(&fixture(name).root()));
    }
    insta::assert_snapshot!("r740xd", advised(&machines::r740xd().root()));
    insta::assert_snapshot!("epyc-sixteen-drives", advised(&machines::epyc_sixteen_drives().root()));
    insta::assert_snapshot!("smt-off-with-troubles", advised(&machines::smt_off_with_troubles().root()));
    insta::assert_snapshot!("links-in-trouble", advised(&machines::links_in_trouble().root()));
    assert_eq!(advised(&Tree::new().root()), "");
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
}
