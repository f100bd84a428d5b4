//! Results are saved even when the lab is locked, removed, or on a full disk.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use rusqlite::Connection;

use crate::cli::machine::{Mounted, tool};
use crate::cli::{Ended, Place};

const LOAD: &str = "io --target . --size 1m --rw randread --runtime 1s";

/// The run is whole in the lab again, and the `first` command that opened the lab said where it came from.
fn is_recovered(place: &Place, first: &str) {
    place.run(first).expect(0, &["note: recovered run 1 from"]);
    let shown = place.run("show 1");
    assert!(!shown.err.contains("recovered"), "{}", shown.err);
    assert!(shown.out.contains("4k random read"), "{}", shown.out);
    place.run("show 1").expect(0, &[]);
    let left = fs::read_dir(place.lab().parent().expect("a folder")).expect("reads").flatten();
    assert!(!left.into_iter().any(|entry| entry.file_name().to_string_lossy().contains("-unsaved-")));
}

fn has_figures(ended: &Ended) {
    assert!(ended.out.contains("4k random read") && ended.out.contains("IOPS"), "{}", ended.out);
}

#[test]
fn a_lock_on_the_lab_is_said_a_stop_ends_the_wait_and_nothing_is_lost() {
    let place = Place::new();
    let mut running = place.start(LOAD);
    running.until("its run", |talk| talk.contains("run 1"));
    let other = Connection::open(place.lab()).expect("opens");
    other.execute_batch("BEGIN IMMEDIATE").expect("locked");
    running.until("what it waits for", |talk| talk.contains("waiting for a lock on the lab"));
    let me = format!("process {}", std::process::id());
    assert!(running.talk().contains(&me), "{}", running.talk());
    running.signal("INT");
    let ended = running.wait();
    ended.expect(
        1,
        &["run 1 could not be saved in the lab", "is locked by", "the next command that opens the lab recovers it"],
    );
    has_figures(&ended);
    drop(other);
    is_recovered(&place, "show 1");
}

#[test]
fn a_lab_that_is_removed_under_a_run_comes_back_with_it() {
    for first in [LOAD, "restore"] {
        let place = Place::new();
        let mut running = place.start(LOAD);
        running.until("its run", |talk| talk.contains("run 1"));
        for suffix in ["", "-wal", "-shm"] {
            fs::remove_file(place.beside(&format!("lab.db{suffix}"))).expect("removed");
        }
        let ended = running.wait();
        ended.expect(1, &["run 1 could not be saved in the lab", "was removed or replaced"]);
        has_figures(&ended);
        is_recovered(&place, first);
    }
}

#[test]
fn on_a_disk_that_is_full_the_run_is_kept_elsewhere() {
    let place = Place::new();
    let Some(small) = Mounted::ext4(&place, "small", 8 << 20, "rw") else { return };
    let (lab, elsewhere) = (small.path.join("lab.db"), place.beside("elsewhere"));
    fs::create_dir(&elsewhere).expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.args(LOAD.split(' ')).args(["--lab".as_ref(), lab.as_os_str()]).current_dir(place.work());
    command
        .env("TMPDIR", &elsewhere)
        .env("FATHOM_IDLE_BASELINE", "50ms")
        .env("FATHOM_JOURNAL", place.beside("journal"));
    let output = place.beside("output");
    let file = || fs::File::options().append(true).create(true).open(&output).expect("a file");
    let mut child = command.stdout(file()).stderr(file()).spawn().expect("fathom starts");
    while !lab.with_file_name("lab.db-wal").metadata().is_ok_and(|log| log.len() > 0) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    tool("sh", &["-c", &format!("dd if=/dev/zero of={} bs=4k 2>/dev/null; true", small.path.join("hog").display())]);
    let code = child.wait().expect("ended").code();
    let said = fs::read_to_string(&output).expect("UTF-8");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("IOPS") && said.contains("which is a lab"), "{said}");
    let is_part = |name: &std::ffi::OsStr| name.to_string_lossy().contains("-unsaved-");
    let parts = fs::read_dir(&small.path).expect("reads").flatten().filter(|entry| is_part(&entry.file_name()));
    let parts: Vec<_> = parts.map(|entry| (entry.file_name(), entry.metadata().map(|meta| meta.len()).ok())).collect();
    assert_eq!(parts, [], "a part of a copy is removed");
    let kept: Vec<PathBuf> = fs::read_dir(&elsewhere).expect("reads").flatten().map(|entry| entry.path()).collect();
    let kept = kept.iter().find(|path| path.extension().is_some_and(|end| !end.to_string_lossy().ends_with("wal")));
    let shown = place.run(&format!("--lab {} show 1", kept.expect("a lab").display()));
    shown.expect(0, &[]);
    has_figures(&shown);
}
