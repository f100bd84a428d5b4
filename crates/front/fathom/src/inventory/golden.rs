//! What people see of known machines, kept as text; and that nothing reaches the terminal that could fool it.

use fathom_host::Root;
use fathom_host::testing::Tree;
use fathom_inspect::machines::{self, Machine, fixture};
use fathom_inspect::{Inventory, Subject, advise};
use fathom_language::Language;
use fathom_report::in_words;
use proptest::prelude::*;

use super::{first_look, render_text};

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
    a_guest_on_virtio_reads_well: fixture("virtio-guest");
    a_laptop_seen_without_root_reads_well: fixture("laptop");
    a_container_on_a_multipath_array_reads_well: fixture("container-multipath");
    a_drive_trained_down_reads_well: fixture("trained-down");
    an_emulated_machine_of_two_sockets_reads_well: fixture("qemu-two-sockets");
    an_emulated_machine_under_multipath_reads_well: fixture("qemu-one-socket");
    an_emulated_machine_of_three_nodes_reads_well: fixture("qemu-three-nodes");
    the_r740xd_of_the_article_reads_well: machines::r740xd();
    the_epyc_with_sixteen_drives_reads_well: machines::epyc_sixteen_drives();
    smt_off_and_other_troubles_read_well: machines::smt_off_with_troubles();
    links_in_trouble_read_well: machines::links_in_trouble();
    a_machine_of_256_cpus_and_24_drives_is_read_whole: machines::two_sockets_24_drives();
    an_empty_tree_reads_well: Tree::new();
}

/// What is looked at first: six lines, a sentence of at most 25 words, the worst advice, one command.
#[test]
fn the_first_look_is_six_lines_on_every_machine() {
    let look = |name: &str, root: &Root| {
        let inventory = Inventory::read(root);
        let advice = advise(&inventory, &Subject::default());
        let look = first_look(&inventory, &advice, "fathom inspect --details");
        assert!(look.lines().all(|line| line.chars().count() <= 80), "{look}");
        // What is broken goes on four columns in, or under the command.
        let lines = look.lines().filter(|l| !l.starts_with("    ") && !l.starts_with("  # ")).count();
        assert!(lines <= 6, "{lines} lines:\n{look}");
        assert!(look.lines().next().is_some_and(|l| l.split_whitespace().count() <= 25), "{look}");
        format!("{name}\n{look}\n")
    };
    let said = [
        look("trained down", &fixture("trained-down").root()),
        look("laptop", &fixture("laptop").root()),
        look("in trouble", &machines::links_in_trouble().root()),
        look("24 drives", &machines::two_sockets_24_drives().root()),
    ]
    .concat();
    insta::assert_snapshot!(said);
}

/// The report's browser tests draw these machines. `FATHOM_BLESS=1` writes them again after the inventory changed.
#[test]
fn the_machines_that_the_viewer_is_tested_with_are_these() {
    drawn("r740xd", &machines::r740xd().root());
    drawn("links-in-trouble", &machines::links_in_trouble().root());
    drawn("laptop", &fixture("laptop").root());
}

fn drawn(name: &str, root: &Root) {
    let inventory = Inventory::read(root);
    let advice = advise(&inventory, &Subject::default());
    let now = serde_json::json!({ "inventory": inventory, "advice": advice });
    let now = in_words(&now, Language::English).expect("has a JSON form");
    let path = format!("{}/../../../web/tests/machines/{name}.json", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("FATHOM_BLESS").is_some() {
        std::fs::write(&path, now.to_string() + "\n").expect("the folder is there");
    }
    let kept: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&path).expect("it was written once")).expect("json");
    assert!(kept == now, "{name} differs: run this test with FATHOM_BLESS=1 and look at the report's machine page");
}

#[test]
fn what_a_drive_says_of_itself_is_shown() {
    let mut machine = Machine::server(1, 4, 1);
    machine.drive_on_port("0000:10", 0, (4, 4), (4, 4), (4, 4));
    machine.give_pages("nvme0");
    let text = render_text(&Inventory::read(&machine.root()), &[], 400);
    for words in ["3 % of its life used", "2.00 TB written", "coalescing 8 completions or 200 us"] {
        assert!(text.contains(words), "{words:?} is not in\n{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_strangers_say_does_not_reach_the_terminal_as_it_is(
        contents in prop::collection::vec(
            (0..machines::HOSTILE.len(), "\\PC{0,8}[\u{1b}\u{7}\n\u{202e}\u{200b}0-9,:x-]{0,30}\\PC{0,8}"), 1..6)
    ) {
        let mut machine = Machine::server(1, 2, 1);
        machine.drive_on_port("0000:10", 0, (4, 4), (4, 4), (4, 4));
        for (which, content) in &contents {
            machine.file(machines::HOSTILE[*which], content);
        }
        let text = shown(&machine.root());
        prop_assert!(text.lines().all(machines::is_safe), "{text:?}");
    }
}
