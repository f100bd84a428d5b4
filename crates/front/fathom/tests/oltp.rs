//! `fathom oltp` from the command line: a whole run, one that is killed, one that is interrupted, and bad input.

mod cli;

use std::fs;
use std::path::PathBuf;

use cli::Place;
use serde_json::Value;

/// The folder that a run made in the place.
fn folders(place: &Place) -> Vec<PathBuf> {
    let entries = fs::read_dir(place.work()).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.filter(|path| path.display().to_string().contains("fathom-oltp-")).collect()
}

fn orders(list: &std::path::Path) -> usize {
    fs::read_to_string(list).map_or(0, |text| text.lines().count())
}

#[test]
fn a_run_yields_rates_checks_and_evidence_and_leaves_nothing() {
    let place = Place::new();
    let run = place.json("oltp --target . --warehouses 1 --ramp 300ms --runtime 4s", 0);
    assert_eq!(run["database"]["engine"], "sqlite");
    assert_eq!(run["database"]["settings"][0], serde_json::json!(["synchronous", "full"]));
    assert!(run["notice"].as_str().expect("a notice").contains("not comparable to published TPC-C results"));
    assert!(!run.to_string().contains("tpmC"));
    let mean = |name: &str| run[name]["mean"].as_f64().expect("a rate");
    assert!(mean("nopm") > 0.0 && (mean("tpm") / 60.0 / run["tps"].as_f64().expect("a rate") - 1.0).abs() < 1e-9);
    assert!(run["nopm"]["ci95"].is_null(), "four points give no interval: {}", run["nopm"]);
    assert!(run["nopm"]["best_minute"].is_null(), "no two minutes");
    // New orders are 10 of 23 transactions, and 1 in 100 of them is rolled back.
    let share = mean("nopm") / mean("tpm");
    assert!((0.40..0.45).contains(&share), "{share}");
    let seconds = run["seconds"].as_array().expect("seconds");
    assert_eq!(seconds.len(), 4);
    let done: u64 = run["transactions"].as_array().expect("kinds").iter().filter_map(|k| k["done"].as_u64()).sum();
    let in_seconds: u64 = seconds.iter().filter_map(|second| second[1].as_u64()).sum();
    assert!(in_seconds <= done && in_seconds * 10 > done * 9, "{in_seconds} of {done}");
    assert_eq!(run["consistency"]["broken_after_load"], serde_json::json!([]));
    assert_eq!(run["consistency"]["broken_after_run"], serde_json::json!([]));
    assert!(run["audit"].as_array().expect("bounds").iter().all(|bound| bound["judgement"] != "outside"));
    let names: Vec<&str> =
        run["verdict"]["evidence"].as_array().expect("evidence").iter().filter_map(|e| e["name"].as_str()).collect();
    assert!(names.contains(&"serving_time") && names.contains(&"gain_of_relaxed_commits"), "{names:?}");
    assert_eq!(run["cpus"]["heat_pct"].as_array().expect("seconds").len(), 4);
    assert_eq!(folders(&place), Vec::<PathBuf>::new());
}

#[test]
fn what_was_acknowledged_before_a_kill_is_in_the_database_after_it() {
    let place = Place::new();
    let list = place.file("acknowledged");
    let words = "oltp --target . --warehouses 1 --sessions 3 --ramp 0s --runtime 10m --acknowledged acknowledged";
    let mut running = place.start(words);
    running.until("500 orders", |_| orders(&list) >= 500);
    let [folder] = &folders(&place)[..] else { panic!("one folder") };
    let used = place.run(&format!("oltp --check {}", folder.display()));
    used.expect(3, &["is in use by a run"]);
    running.signal("KILL");
    assert_eq!(running.wait().code, None);
    let known = orders(&list);

    let check = format!("oltp --check {} --acknowledged acknowledged", folder.display());
    let checked = place.run(&check);
    checked.expect(0, &[]);
    assert!(checked.out.starts_with("Consistent:"), "{}", checked.out);
    assert!(checked.out.contains(&format!("Of {known} acknowledged orders 0 are missing")), "{}", checked.out);
    // An order that nobody entered is missed.
    let text = fs::read_to_string(&list).expect("a list");
    fs::write(&list, format!("{text}1 1 999999\n")).expect("a line more");
    let missed = place.run(&check);
    assert_eq!(missed.code, Some(1), "{}", missed.out);
    assert!(missed.out.contains(&format!("Of {} acknowledged orders 1 are missing", known + 1)), "{}", missed.out);
    // And a database that lost a line of an order is found out.
    let database = rusqlite::Connection::open(folder.join("orders.db")).expect("a database");
    database.execute("DELETE FROM order_line WHERE ol_d_id = 3 AND ol_o_id = 5 AND ol_number = 1", []).expect("a loss");
    drop(database);
    let broken = place.run(&check);
    assert_eq!(broken.code, Some(1));
    assert!(broken.out.contains("Condition 4 does not hold in 1 places."), "{}", broken.out);
    // A new run tells of it and leaves it alone.
    let next = place.run("oltp --target . --warehouses 1 --ramp 0s --runtime 1s --no-probes");
    next.expect(0, &["left by an earlier run"]);
    assert_eq!(folders(&place), std::slice::from_ref(folder));
}

#[test]
fn an_interrupted_run_says_what_it_measured_and_removes_its_database() {
    let place = Place::new();
    let mut running = place.start("oltp --target . --warehouses 1 --ramp 0s --runtime 10m --json");
    running.until("progress", |talk| talk.contains("measuring:"));
    running.signal("INT");
    let ended = running.wait();
    assert_eq!(ended.code, Some(4), "{}", ended.err);
    let run: Value = ended.json();
    assert_eq!(run["drive"]["is_stopped"], true);
    assert_eq!(run["consistency"]["broken_after_run"], serde_json::json!([]));
    assert!(run["verdict"]["limit"].is_null() || run["verdict"]["limit"].is_string());
    assert_eq!(folders(&place), Vec::<PathBuf>::new());
}

#[test]
fn bad_input_is_refused_before_anything_is_made() {
    let place = Place::new();
    fs::write(place.file("taken"), "mine").expect("a file");
    let before = place.listing();
    for (words, code, said) in [
        ("oltp", 2, "--target"),
        ("oltp --target . --warehouses 0", 2, "warehouses"),
        ("oltp --target . --sessions 0", 2, "sessions"),
        ("oltp --target . --runtime 10ms", 2, "less than a second"),
        ("oltp --target . --runtime soon", 2, "--runtime"),
        ("oltp --target . --warehouses 100000", 3, "free, and the database needs up to"),
        ("oltp --target nowhere", 1, "nowhere"),
        ("oltp --target . --acknowledged taken", 1, "taken"),
        ("oltp --check .", 3, "holds no database that Fathom loaded whole"),
        ("oltp --check nowhere", 1, "nowhere"),
    ] {
        let ended = place.run(words);
        assert_eq!(ended.code, Some(code), "{words}: {}", ended.err);
        assert!(ended.err.contains(said), "{words}: {}", ended.err);
    }
    assert_eq!(place.listing(), before);
}
