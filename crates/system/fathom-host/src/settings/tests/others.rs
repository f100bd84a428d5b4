//! Several programs, several changes: who waits for whom, and for what.

use super::*;

#[test]
fn a_first_value_is_read_while_nobody_else_can_change_it() {
    let place = Place::new();
    let alone = found::lock_folder(place.dir.path()).expect("locks");
    let (root, dir) = (place.root(), place.dir.path().to_owned());
    let other = std::thread::spawn(move || {
        let journal = Journal::open(&root, dir, "fathom test");
        let applied = journal.apply(&change(QueueAttribute::ReadAheadKb, "512")).expect("applies");
        let from = applied.done()[0].from.clone();
        applied.restore().expect("restores");
        from
    });
    // It has read the value by now, if it ever does so before it has the lock.
    std::thread::sleep(std::time::Duration::from_millis(300));
    place.tree.file(&format!("{}/read_ahead_kb", queue()), "256\n");
    drop(alone);
    assert_eq!(other.join().expect("no panic"), "256");
    assert_eq!(place.value(QueueAttribute::ReadAheadKb), "256");
}

#[test]
fn a_value_that_another_program_set_for_a_while_is_not_relied_on() {
    let place = Place::new();
    let applied = place.journal().apply(&change(QueueAttribute::ReadAheadKb, "256")).expect("applies");
    let error = place.journal().apply(&change(QueueAttribute::ReadAheadKb, "256")).expect_err("it will go back");
    assert!(matches!(error, SettingError::Busy { .. }), "{error}");
    applied.restore().expect("restores");
}

#[test]
fn what_a_scheduler_of_another_program_resets_is_held_by_it() {
    let place = Place::new();
    let applied = place.journal().apply(&change(QueueAttribute::NrRequests, "64")).expect("applies");
    let error = place.journal().apply(&change(QueueAttribute::Scheduler, "mq-deadline")).expect_err("resets it");
    assert!(matches!(error, SettingError::Busy { .. }), "{error}");
    assert_eq!(place.value(QueueAttribute::Scheduler), "none");
    applied.restore().expect("restores");
}

#[test]
fn an_owner_that_ended_does_not_seem_to_run_while_a_process_is_being_forked() {
    let place = Place::new();
    let journal = place.journal();
    killed(journal.apply(&change(QueueAttribute::ReadAheadKb, "256")).expect("applies"));
    // Between fork and exec a child has every descriptor, and a lock goes with the last of them.
    let of_a_child = journal.second_descriptor();
    drop(journal);
    assert_eq!(place.restore(Which::Abandoned), ["sdb/read_ahead_kb: restored"]);
    assert_eq!(place.value(QueueAttribute::ReadAheadKb), "128");
    drop(of_a_child);
}

#[test]
fn hundreds_of_idle_states_cost_one_wait_for_the_disk_and_one_look_at_the_journals() {
    const CPUS: usize = 256;
    let tree = Tree::new();
    let cpu = "sys/devices/system/cpu";
    tree.file(&format!("{cpu}/online"), format!("0-{}\n", CPUS - 1));
    for n in 0..CPUS {
        for (state, latency) in [(0, "2\n"), (1, "50\n"), (2, "133\n")] {
            let home = format!("{cpu}/cpu{n}/cpuidle/state{state}");
            tree.file(&format!("{home}/latency"), latency).file(&format!("{home}/disable"), "0\n");
        }
    }
    let dir = tempfile::tempdir().expect("temp dir");
    for n in 0..3 {
        fs::write(dir.path().join(format!("settings-{n}-{n}.jsonl")), format!("{OWNER}\n")).expect("journal");
    }
    let root = tree.root();
    let changes = changes_for(&root, "idle_max_us=20", &[]).expect("known");
    assert_eq!(changes.len(), 3 * CPUS);
    let counts = || (line::counted::SYNCS.get(), line::counted::PARSED.get());
    let before = counts();
    let journal = Journal::open(&root, dir.path(), "fathom test");
    let applied = journal.apply_all(&changes).expect("applies");
    assert_eq!(applied.done().len(), 2 * CPUS, "the fast state stays allowed");
    // The owner's line when the journal is made, and then all changes.
    let after = counts();
    assert_eq!((after.0 - before.0, after.1 - before.1), (2, 3));
    killed(applied);
    drop(journal);
    let restored = restore_all(&root, dir.path(), Which::Abandoned).expect("reads").settings;
    assert_eq!(restored.len(), 2 * CPUS);
    assert_eq!(counts().0, after.0, "bringing back waits for no disk: what is lost with it is brought back once more");
    let disabled = |n: usize| fs::read_to_string(root.join(format!("{cpu}/cpu{n}/cpuidle/state2/disable")));
    assert!((0..CPUS).all(|n| disabled(n).is_ok_and(|text| text.trim() == "0")));
}

#[test]
fn changes_that_touch_each_other_are_made_one_after_the_other() {
    let place = Place::new();
    // To the value it has: after a new scheduler it may be another.
    let changes = [change(QueueAttribute::Scheduler, "mq-deadline"), change(QueueAttribute::NrRequests, "32")];
    let journal = place.journal();
    let applied = journal.apply_all(&changes).expect("applies");
    let froms: Vec<_> = applied.done().iter().map(|d| (d.from.as_str(), d.to.as_str())).collect();
    assert_eq!(froms, [("none", "mq-deadline"), ("256", "32")]);
    let text = fs::read_to_string(&place.journal_files()[0]).expect("journal");
    let kinds: Vec<&str> = text.lines().map(|l| &l[9..13]).collect();
    // Owner; scheduler with what it resets; applied; the depth of the queue; applied.
    assert_eq!(kinds, ["owne", "chan", "chan", "chan", "appl", "chan", "appl"]);
    applied.restore().expect("restores");
    assert_eq!(
        (place.value(QueueAttribute::Scheduler), place.value(QueueAttribute::NrRequests)),
        ("none".into(), "256".into())
    );
}
