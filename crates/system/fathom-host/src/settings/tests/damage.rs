//! Journals that are damaged, of a later version, or no files.

use super::*;

fn line_of(id: u32, device: &str, attribute: &str, from: &str, to: &str) -> String {
    let setting = format!(r#"{{"kind":"queue","device":"{device}","attribute":"{attribute}"}}"#);
    format!(r#"{{"line":"change","id":{id},"setting":{setting},"bearer":"9","from":"{from}","to":"{to}"}}"#)
}

#[test]
fn a_journal_cannot_lead_out_of_sysfs_and_says_where_it_is_broken() {
    let place = Place::new();
    let file = place.dir.path().join("settings-1-1.jsonl");
    for (second, id) in [
        (line_of(1, "../../../etc", "scheduler", "a", "b"), "journal-line-names-nothing"),
        (line_of(1, "..", "scheduler", "a", "b"), "journal-line-names-nothing"),
        ("{}".to_owned(), "journal-line-malformed"),
        ("\u{fffd}".to_owned(), "journal-line-malformed"),
    ] {
        fs::write(&file, format!("{OWNER}\n{second}\n")).expect("journal");
        let listing = pending(place.dir.path());
        let [SettingError::Corrupt { path, line: 2, why }] = &listing.damaged[..] else { panic!("{listing:?}") };
        assert_eq!((path, why.id()), (&file, id));
        assert!(listing.pending.is_empty());
    }
    fs::write(&file, format!("{}\n", OWNER.replace("\"version\":1", "\"version\":9"))).expect("journal");
    let listing = pending(place.dir.path());
    assert!(matches!(listing.damaged[..], [SettingError::Newer { version: 9, .. }]), "{listing:?}");
    // Whatever it says, it stays for the program that can read it; and nothing is changed that it may hold.
    assert!(place.restored(Which::All).settings.is_empty());
    assert!(file.exists());
    let error = place.journal().apply(&change(QueueAttribute::ReadAheadKb, "256")).expect_err("who knows");
    assert!(matches!(error, SettingError::Newer { .. }), "{error}");
}

#[test]
fn a_damaged_journal_holds_up_no_other_and_is_followed_as_far_as_it_can_be_read() {
    let place = Place::new();
    // One that says of the scheduler what somebody spoiled, and then of the write-back throttling; a whole one beside it.
    let (damaged, whole) = (place.dir.path().join("settings-1-1.jsonl"), place.dir.path().join("settings-2-2.jsonl"));
    let spoiled = &line_of(1, "sdb", "scheduler", "none", "mq-deadline")[..60];
    let second = line_of(2, "sdb", "wbt_lat_usec", "2000", "0");
    fs::write(&damaged, format!("{OWNER}\n{spoiled}\n{second}\n")).expect("journal");
    fs::write(&whole, format!("{OWNER}\n{}\n", line_of(1, "sdb", "read_ahead_kb", "128", "999"))).expect("journal");
    place.tree.file(&format!("{}/wbt_lat_usec", queue()), "0\n").file(&format!("{}/read_ahead_kb", queue()), "999\n");

    let listing = pending(place.dir.path());
    assert_eq!((listing.pending.len(), listing.damaged.len()), (2, 1));
    // What neither holds may be changed.
    let applied = place.journal().apply(&change(QueueAttribute::NrRequests, "64")).expect("nobody holds it");
    applied.restore().expect("restores");

    let restoration = place.restored(Which::Abandoned);
    assert_eq!(restoration.settings.len(), 2, "{restoration:?}");
    let [error] = &restoration.damaged[..] else { panic!("{restoration:?}") };
    assert_eq!(
        (place.value(QueueAttribute::WbtLatUsec), place.value(QueueAttribute::ReadAheadKb)),
        ("2000".into(), "128".into())
    );
    // The help is true: the file is where it says, and holds nobody up any more.
    let kept = place.dir.path().join("settings-1-1.jsonl.damaged");
    assert!(english(&error.help().expect("a way")).contains(&*kept.to_string_lossy()) && kept.exists());
    assert_eq!(place.journal_files(), [] as [PathBuf; 0]);
    assert!(place.restored(Which::Abandoned).damaged.is_empty());
}

#[test]
fn a_damaged_journal_overwrites_nothing_that_somebody_else_set() {
    let place = Place::new();
    let file = place.dir.path().join("settings-1-1.jsonl");
    // The line that said that the value was applied is among those lost, and so may be the one on the owner.
    for owner in [OWNER, "lost"] {
        let text = format!("{owner}\n{}\nlost\n", line_of(1, "sdb", "read_ahead_kb", "128", "256"));
        fs::write(&file, &text).expect("journal");
        place.tree.file(&format!("{}/read_ahead_kb", queue()), "999\n");
        assert!(matches!(place.restored(Which::All).settings[0].outcome, Outcome::Failed(_)));
        assert_eq!(place.value(QueueAttribute::ReadAheadKb), "999");
        fs::write(&file, &text).expect("journal");
        place.tree.file(&format!("{}/read_ahead_kb", queue()), "256\n");
        assert!(matches!(place.restored(Which::All).settings[0].outcome, Outcome::Restored));
        assert_eq!(place.value(QueueAttribute::ReadAheadKb), "128");
    }
}

#[test]
fn what_is_no_file_is_skipped_and_named_and_nobody_waits_for_it() {
    let place = Place::new();
    let dir = place.dir.path();
    let names = ["settings-1-1.jsonl", "settings-2-2.jsonl", "settings-3-3.jsonl"];
    let [fifo, folder, link] = names.map(|name| dir.join(name));
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).expect("fifo");
    fs::create_dir(&folder).expect("folder");
    std::os::unix::fs::symlink("/etc/passwd", &link).expect("symlink");
    // In a thread of its own: who waits for the other end of a FIFO waits for ever.
    let (root, at) = (place.root(), dir.to_owned());
    let (done, waited) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let listed = pending(&at).damaged.len();
        let restored = restore_all(&root, &at, Which::All).expect("reads").damaged.len();
        let applied = Journal::open(&root, at, "fathom test").apply(&change(QueueAttribute::ReadAheadKb, "256"));
        done.send((listed, restored, applied.map(drop).map_err(|e| e.to_string()))).expect("somebody waits");
    });
    let said = waited.recv_timeout(std::time::Duration::from_secs(60)).expect("nobody waits for a FIFO");
    assert_eq!(said, (3, 3, Ok(())));
    assert!(pending(dir).damaged.iter().all(|e| matches!(e, SettingError::NotAFile { .. })));
}
