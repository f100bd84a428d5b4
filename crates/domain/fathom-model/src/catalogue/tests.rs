//! The shipped catalogue is sound, and unsound files are refused with their place.

use fathom_language::english;
use fathom_message::{Arg, Message, Unit, msg};
use fathom_plan::ReadWrite;

use super::*;
use crate::pcie::PcieLink;

const SOURCE: &str = "[[source]]\nid = \"s\"\ntitle = \"t\"\npublisher = \"p\"\n";

fn refusal(text: &str) -> SourceError {
    Catalogue::parse(&[("own.toml", text)]).expect_err("is refused")
}

/// Line and column.
fn place(error: &SourceError) -> (usize, usize) {
    assert_eq!(error.place.file, "own.toml");
    (error.place.line, error.place.column)
}

#[test]
fn every_shipped_entry_names_a_source_that_is_there() {
    let all = Catalogue::embedded();
    for source in all.devices().iter().flat_map(|d| &d.source).chain(all.figures().iter().map(|f| &f.source)) {
        all.source(source).expect("a known source");
    }
    assert!(all.sources().iter().all(|s| !s.title.is_empty() && !s.publisher.is_empty()));
}

#[test]
fn the_shipped_catalogue_holds_the_whole_set_of_figures() {
    let all = Catalogue::embedded();
    assert_eq!(all.figures().len(), 361);
    assert_eq!(all.checks().len(), 140);
    assert_eq!(all.claims.len(), 66);
    assert!(all.devices().len() >= 27 && all.links.len() == 15);
}

#[test]
fn catalogued_links_agree_with_the_formula() {
    for entry in Catalogue::embedded().links {
        let link = PcieLink::parse(&entry.id).expect("a link");
        assert!((link.coded_bytes_per_s() / entry.raw_bytes_per_s - 1.0).abs() < 1e-6, "{}", entry.id);
    }
}

#[test]
fn a_published_figure_carries_its_conditions_and_its_value() {
    let all = Catalogue::embedded();
    let f = all.figure("p4800x-ws2016-randread-qd1-pinned-iops").expect("is there");
    assert_eq!((f.value, f.metric, f.metric.unit()), (57_858.0, PublishedMetric::Iops, Unit::Iops));
    assert_eq!((f.conditions.threads, f.conditions.queue_depth), (Some(1), Some(1)));
    assert_eq!(f.conditions.op, Some(PublishedOp::Io(ReadWrite::RandRead)));
    assert!(f.self_consistent() && f.checks.contains(&"little-p4800x-qd1-pinned".to_owned()));
}

#[test]
fn figures_that_contradict_each_other_are_marked() {
    let all = Catalogue::embedded();
    for id in ["axboe20-qd128-iops", "fio141-node0-lat-mean", "r740xd-oracle-tpm-peak", "spdk169-bogus-iops"] {
        assert!(!all.figure(id).expect("is there").self_consistent(), "{id}");
    }
    let corrected = all.figure("p3700-ws2016-randwrite-max").expect("is there");
    assert!(corrected.corrected && corrected.self_consistent());
}

#[test]
fn consistency_checks_are_arithmetic_that_a_reader_can_repeat() {
    for check in Catalogue::embedded().checks() {
        let ratio = check.actual / check.expected;
        assert!((ratio - check.ratio).abs() <= 1e-3 * check.ratio.abs().max(1.0), "{}: {ratio}", check.id);
    }
}

#[test]
fn an_entry_without_a_source_is_refused() {
    let error = refusal(&format!("{SOURCE}[[device]]\nid = \"d\"\nmodel = \"m\"\nsource = []\n"));
    assert_eq!(error.message, msg!("catalogue-no-source", entry = "d"));
    let error = refusal(&format!("{SOURCE}[[device]]\nid = \"d\"\nmodel = \"m\"\nsource = [\"x\"]\n"));
    assert_eq!(error.message, msg!("catalogue-source-unknown", entry = "d", source = "x"));
    assert_eq!(place(&error), (6, 1));
    let error = refusal(&format!("{SOURCE}[[device]]\nid = \"d\"\nmodel = \"m\"\n"));
    assert_eq!(error.message, msg!("catalogue-key-missing", key = "source"));
    let error = refusal("[[source]]\nid = \"s\"\ntitle = \"\"\npublisher = \"\"\n");
    assert_eq!(error.message, msg!("catalogue-source-empty", source = "s"));
}

#[test]
fn a_key_without_its_unit_is_refused_at_its_place() {
    let text = format!("{SOURCE}[[device]]\nid = \"d\"\nmodel = \"m\"\nsource = [\"s\"]\n[device.sim]\nread = 80\n");
    let error = refusal(&text);
    assert_eq!((&error.message, place(&error)), (&msg!("catalogue-key-without-unit", key = "read"), (10, 1)));
    assert_eq!(error.help, Some(msg!("catalogue-key-without-unit-help", key = "read_ns")));
}

#[test]
fn a_negative_time_is_refused_at_its_place() {
    let text =
        format!("{SOURCE}[[device]]\nid = \"d\"\nmodel = \"m\"\nsource = [\"s\"]\n[device.sim]\nread_ns = -80\n");
    let error = refusal(&text);
    assert_eq!((error.message.id(), place(&error)), ("catalogue-toml", (10, 11)));
    assert!(matches!(error.message.arg("problem"), Some(Arg::Text(problem)) if problem.contains("-80")));
}

#[test]
fn a_misspelled_key_or_name_names_the_nearest() {
    let near = |name: &'static str| Some(msg!("did-you-mean", near = name));
    let error = refusal(&format!("{SOURCE}[[device]]\nid = \"d\"\nmodle = \"m\"\nsource = [\"s\"]\n"));
    assert_eq!((error.message, error.help), (msg!("catalogue-key-unknown", key = "modle"), near("model")));
    let all = Catalogue::embedded();
    let error = all.device("p4800x-37").expect_err("is unknown");
    let message = msg!("catalogue-no-such", kind = msg!("catalogue-kind-device"), name = "p4800x-37");
    assert_eq!((error.message, error.help), (message, near("p4800x-375")));
    let both = Arg::names(["`p4800x-375`", "`p4800x-750`"], Join::Or);
    let error = all.device("p4800x").expect_err("there are two sizes");
    assert_eq!(error.help, Some(msg!("catalogue-did-you-mean-one-of", names = both)));
    // By the name that is printed on the drive.
    let named = |name: &str| match all.device(name).expect_err("is no name of the catalogue").help {
        Some(help) => english(&help),
        None => String::new(),
    };
    assert!(named("Kioxia CM7-R").contains("`cm7-r`"), "{}", named("Kioxia CM7-R"));
    assert!(named("samsung 990 evo").contains("`s990evo-"), "{}", named("samsung 990 evo"));
    let error = all.entry("nothing of this name").expect_err("is unknown");
    assert_eq!(error.help.as_ref().map(Message::id), Some("catalogue-list-help"));
}

#[test]
fn a_name_used_twice_is_refused() {
    let error = refusal(&format!("{SOURCE}{SOURCE}"));
    assert_eq!(error.message, msg!("catalogue-name-twice", name = "s"));
}

#[test]
fn a_drive_is_found_by_its_family_and_size_and_by_no_part_number() {
    let all = Catalogue::embedded();
    let id = |model: &str, bytes: u64| all.device_like(model, bytes).map(|d| d.id.as_str());
    assert_eq!(id("Dell Ent NVMe P5510 RI U.2 3.84TB", 3_840_755_982_336), Some("p5510-3840"));
    assert_eq!(id("Micron_9550_MTFDLBQ6T4TGA", 6_401_252_745_216), Some("9550max-6400"));
    assert_eq!(id("Micron_9550_MTFDLBQ6T4TGA", 1_000_000_000_000), None);
    assert_eq!(id("INTEL SSDPE2KX040T8", 4_000_787_030_016), None);
    assert_eq!(id("QEMU NVMe Ctrl", 1 << 30), None);
    assert!(
        id("Samsung SSD 9100 PRO 1TB", 1_000_204_886_016).is_some_and(|id| id.starts_with("s9100pro")),
        "no Micron 9100"
    );
}
