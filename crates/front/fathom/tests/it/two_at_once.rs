//! Several processes on one lab that lies where they measure: nothing is lost, and the lab stays sound.

use rusqlite::Connection;

use crate::cli::Place;

#[test]
fn a_lab_in_the_target_folder_survives_runs_that_begin_at_once() {
    let place = Place::new();
    // A lab without locks was destroyed after one to five pairs.
    let pairs = if std::env::var("FATHOM_TEST_ALL").is_ok_and(|value| value == "1") { 200 } else { 12 };
    for pair in 0..pairs {
        let load = "io --lab lab.db --target . --size 64k --rw randread --bs 4k --runtime 10ms -q";
        let both = [place.start(load), place.start(&format!("{load} --output report.html"))];
        for running in both {
            let ended = running.wait();
            assert!(ended.code == Some(0), "pair {pair}: {}\n{}{}", ended.command, ended.out, ended.err);
        }
        let lab = Connection::open(place.file("lab.db")).expect("opens");
        let text = |query: &str| lab.query_row(query, [], |row| row.get::<_, String>(0)).expect("answers");
        assert_eq!(text("PRAGMA integrity_check"), "ok", "pair {pair}");
        let finished = text("SELECT CAST(count(*) AS TEXT) FROM run WHERE state = 'finished'");
        assert_eq!(finished, (2 * (pair + 1)).to_string(), "pair {pair}: a run is lost");
    }
    let left: Vec<String> = place.listing().into_iter().map(|(name, _)| name).collect();
    assert!(left.iter().all(|name| name.starts_with("lab.db") || name == "report.html"), "{left:?}");
}

/// Each attempt would have opened and closed the lab while this process has it open.
#[test]
fn a_lab_is_no_target_and_no_output_and_says_so() {
    let place = Place::new();
    place.run("io --target . --size 1m --rw randread --runtime 10ms -q").expect(0, &[]);
    let lab = place.lab().display().to_string();
    let read = place.run(&format!("io --target {lab} --rw randread --runtime 10ms"));
    read.expect(3, &["lab.db belongs to a database that Fathom has open", "choose another file"]);
    place.run(&format!("io --target {lab} --rw randwrite --overwrite --runtime 10ms")).expect(3, &["is a lab"]);
    for output in [lab.clone(), format!("{lab}-wal"), format!("{lab}-shm"), format!("{lab}-journal")] {
        place.run(&format!("report 1 --force --output {output}")).expect(3, &["is a lab"]);
    }
    place.run("show 1").expect(0, &[]);
}
