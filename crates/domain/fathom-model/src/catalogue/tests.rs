//! The shipped catalogue is sound, and unsound files are refused with their place.

use super::*;

const SOURCE: &str = "[[source]]\nid = \"s\"\ntitle = \"t\"\npublisher = \"p\"\n";

fn refusal(text: &str) -> String {
    Catalogue::parse(&[("own.toml", text)]).expect_err("is refused").to_string()
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
    assert_eq!(all.claims().len(), 66);
    assert!(all.devices().len() >= 27 && all.links().len() == 15);
}

#[test]
fn a_published_figure_carries_its_conditions_and_its_value() {
    let all = Catalogue::embedded();
    let f = all.figure("p4800x-ws2016-randread-qd1-pinned-iops").expect("is there");
    assert_eq!((f.value, f.metric.as_str(), f.unit()), (57_858.0, "iops", "1/s"));
    assert_eq!((f.conditions.threads, f.conditions.queue_depth), (Some(1), Some(1)));
    assert_eq!(f.conditions.op.as_deref(), Some("randread"));
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
    let text = format!("{SOURCE}[[device]]\nid = \"d\"\nmodel = \"m\"\nsource = []\n");
    assert!(refusal(&text).contains("`d` has no source"), "{}", refusal(&text));
    let text = format!("{SOURCE}[[device]]\nid = \"d\"\nmodel = \"m\"\nsource = [\"x\"]\n");
    assert!(refusal(&text).contains("`d` has no known source: `x`\n  own.toml:6:1"), "{}", refusal(&text));
    let text = format!("{SOURCE}[[device]]\nid = \"d\"\nmodel = \"m\"\n");
    assert!(refusal(&text).contains("missing field `source`"), "{}", refusal(&text));
    assert!(refusal("[[source]]\nid = \"s\"\ntitle = \"\"\npublisher = \"\"\n").contains("source `s` is empty"));
}

#[test]
fn a_key_without_its_unit_is_refused_at_its_place() {
    let text = format!("{SOURCE}[[device]]\nid = \"d\"\nmodel = \"m\"\nsource = [\"s\"]\n[device.sim]\nread = 80\n");
    let message = refusal(&text);
    assert!(message.contains("`read` has no unit") && message.contains("own.toml:10:1"), "{message}");
    assert!(message.contains("`read_ns = ...`"), "{message}");
}

#[test]
fn a_negative_time_is_refused_at_its_place() {
    let text =
        format!("{SOURCE}[[device]]\nid = \"d\"\nmodel = \"m\"\nsource = [\"s\"]\n[device.sim]\nread_ns = -80\n");
    let message = refusal(&text);
    assert!(message.contains("own.toml:10:11") && message.contains("-80"), "{message}");
}

#[test]
fn a_misspelled_key_or_name_names_the_nearest() {
    let text = format!("{SOURCE}[[device]]\nid = \"d\"\nmodle = \"m\"\nsource = [\"s\"]\n");
    assert!(refusal(&text).contains("did you mean `model`?"), "{}", refusal(&text));
    let message = Catalogue::embedded().device("p4800x-37").expect_err("is unknown").to_string();
    assert!(message.contains("no device is called `p4800x-37`") && message.contains("p4800x-375"), "{message}");
    let message = Catalogue::embedded().device("p4800x").expect_err("there are two sizes").to_string();
    assert!(message.contains("did you mean `p4800x-375` or `p4800x-750`?"), "{message}");
}

#[test]
fn a_name_used_twice_is_refused() {
    assert!(refusal(&format!("{SOURCE}{SOURCE}")).contains("the name `s` is used twice"));
}
