//! Results of other programs, as the first look shows them: nothing is said that the file does not say.

use std::path::Path;

use crate::cli::Place;

/// A result of another program, as the tests of the importer have it.
fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fathom-report/fixtures");
    folder.join(name).to_str().expect("plain names").to_owned()
}

fn imported(place: &Place, name: &str) -> String {
    let ended = place.run(&format!("import {}", fixture(name)));
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    format!("{}{}", ended.err, ended.out)
}

#[test]
fn the_first_look_at_an_import_says_what_the_file_says() {
    let place = Place::new();
    insta::assert_snapshot!("unified", imported(&place, "uni-mixed.json"));
    insta::assert_snapshot!("verify", imported(&place, "verify-phase.json"));
    insta::assert_snapshot!("verify_only", imported(&place, "verify-only.json"));
    insta::assert_snapshot!("client", imported(&place, "client-without-options.json"));
    insta::assert_snapshot!("status_interval", imported(&place, "status-interval.json"));
    insta::assert_snapshot!("windowsaio", imported(&place, "windowsaio.json"));
    insta::assert_snapshot!("spdk", imported(&place, "spdk-two-runs.txt"));
}

#[test]
fn an_import_is_not_judged_has_no_date_of_its_own_and_is_not_run_again() {
    let place = Place::new();
    imported(&place, "spdk-two-runs.txt");
    imported(&place, "client-without-options.json");
    imported(&place, "client-without-options.json");
    let spdk = place.json("show 1", 0);
    assert_eq!(spdk["trust"]["level"], "not_judged");
    assert!(
        spdk["run"]["started"].is_null() && spdk["run"]["finished"].is_null() && spdk["run"]["elapsed_s"].is_null()
    );
    for step in spdk["steps"].as_array().expect("steps") {
        assert!(step["started"].is_null() && step["state"] == "imported", "{step}");
    }
    let list = place.run("list");
    assert!(list.out.contains("date unknown") && !list.out.contains("1970"), "{}", list.out);
    let client = place.json("show 2", 0);
    assert_eq!(client["fio_commands"], serde_json::Value::Null);
    assert_eq!(client["run"]["fio_commands"].as_array().map(Vec::len), Some(1), "of the node that is known");
    let csv = place.run("export 2 --format csv -o -");
    let row = csv.out.lines().nth(1).expect("a step").to_owned();
    assert!(!row.contains("sequential") && row.contains(",unknown,8192,,"), "{row}");
    for command in ["show 1", "show 2", "show 2 --details", "compare 2 3", "compare 1 2"] {
        let ended = place.run(command);
        assert!(!ended.out.contains("fathom run"), "{command}\n{}", ended.out);
        assert!(!ended.out.contains("Trust: good"), "{command}\n{}", ended.out);
    }
    place.run("run --like 2").expect(2, &["run 2 was imported", "does not say all of its load"]);
}
