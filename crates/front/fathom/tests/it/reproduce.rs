//! `fathom reproduce` with the real program.

use std::fs;

use crate::cli::{Place, packed_document};

#[test]
fn an_article_is_reproduced_as_table_json_and_page() {
    let place = Place::new();
    let ended = place.run("reproduce r740xd-oracle -o page.html");
    ended.expect(0, &["Report: page.html", "simulated steps in"]);
    for word in
        ["published", "f+ oracle-randread-1ssd-iops", "!+ oracle-randread-1ssd-bw", "bytes per I/O", "within 10 %"]
    {
        assert!(ended.out.contains(word), "`{word}` is missing:\n{}", ended.out);
    }
    let page = fs::read_to_string(place.file("page.html")).expect("written");
    let held = packed_document(&page).to_string();
    for word in ["oracle-randread-4ssd-iops", "Random reads of 8 KiB by number of drives"] {
        assert!(held.contains(word), "`{word}` is missing in the page");
    }

    let table = place.json("reproduce r740xd-oracle --quiet", 0);
    let figure = &table["figures"][0];
    assert_eq!((&figure["id"], &figure["published"]), (&"oracle-randread-1ssd-iops".into(), &420_000.0.into()));
    let four = &table["pictures"][0]["series"][0]["points"][1]["values"]["iops"];
    assert!(four.as_f64().is_some_and(|iops| iops > 1.5e6), "{four}");
    assert_eq!(table, place.json("reproduce r740xd-oracle --quiet", 0), "the same seed gives the same table");
}

#[test]
fn an_unknown_article_names_the_nearest() {
    let place = Place::new();
    place.run("reproduce epyc-nvme-tunning").expect(2, &["no article is called", "did you mean `epyc-nvme-tuning`?"]);
}
