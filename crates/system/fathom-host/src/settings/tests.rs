//! Settings and their journal over hand-built trees, and on a loop device of this machine's kernel.

mod damage;
mod others;
mod words;

use std::fs;
use std::path::{Path, PathBuf};

use fathom_language::english;
use fathom_message::Say as _;
use proptest::prelude::*;

use super::*;
use crate::root::Root;
use crate::root::tree::Tree;

/// The first line of a journal that some other program wrote.
const OWNER: &str =
    r#"{"line":"owner","version":1,"pid":7,"boot_id":"boot-1","command":"x","started_unix_ns":1,"kept":false}"#;

const BUS: &str = "virtual/x";

/// Disk `sdb` with two schedulers, one CPU with two idle states and governors, an interrupt.
fn machine() -> Tree {
    let tree = Tree::new();
    tree.disk("sdb", "8:16", 2048, BUS);
    let cpu = "sys/devices/system/cpu";
    tree.file(&format!("{}/scheduler", queue()), "[none] mq-deadline\n")
        .file(&format!("{}/wbt_lat_usec", queue()), "2000\n")
        .file(&format!("{}/read_ahead_kb", queue()), "128\n")
        .file(&format!("sys/devices/{BUS}/block/sdb/diskseq"), "9\n")
        .file(&format!("{cpu}/online"), "0\n")
        .file(&format!("{cpu}/smt/control"), "on\n")
        .file(&format!("{cpu}/cpu0/cpufreq/scaling_governor"), "powersave\n")
        .file(&format!("{cpu}/cpu0/cpufreq/scaling_available_governors"), "performance powersave\n")
        .file(&format!("{cpu}/cpu0/cpuidle/state0/latency"), "2\n")
        .file(&format!("{cpu}/cpu0/cpuidle/state0/disable"), "0\n")
        .file(&format!("{cpu}/cpu0/cpuidle/state1/latency"), "133\n")
        .file(&format!("{cpu}/cpu0/cpuidle/state1/disable"), "0\n")
        .file("proc/irq/30/smp_affinity_list", "0-3\n")
        .folder("proc/irq/30/nvme0q1")
        .file("proc/sys/kernel/random/boot_id", "boot-1\n");
    tree
}

fn queue() -> String {
    format!("sys/devices/{BUS}/block/sdb/queue")
}

fn of_sdb(attribute: QueueAttribute) -> Setting {
    Setting::Queue { device: "sdb".into(), attribute }
}

fn change(attribute: QueueAttribute, value: &str) -> Change {
    Change { setting: of_sdb(attribute), value: value.into() }
}

struct Place {
    tree: Tree,
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        Place { tree: machine(), dir: tempfile::tempdir().expect("temp dir") }
    }

    fn root(&self) -> Root {
        self.tree.root()
    }

    fn journal(&self) -> Journal {
        Journal::open(&self.root(), self.dir.path(), "fathom test")
    }

    fn value(&self, attribute: QueueAttribute) -> String {
        of_sdb(attribute).read(&self.root()).expect("reads")
    }

    fn journal_files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.dir.path()).expect("folder").flatten().map(|e| e.path());
        entries.filter(|p| p.extension().is_some_and(|e| e == "jsonl")).collect()
    }

    fn restore(&self, which: Which) -> Vec<String> {
        let said = |r: Restored| {
            let outcome = match r.outcome {
                Outcome::Restored => "restored".to_owned(),
                Outcome::Dropped(why) => why.as_str().to_owned(),
                Outcome::Failed(error) => english(&error.message()),
            };
            format!("{}: {outcome}", r.setting)
        };
        self.restored(which).settings.into_iter().map(said).collect()
    }

    fn restored(&self, which: Which) -> Restoration {
        restore_all(&self.root(), self.dir.path(), which).expect("reads")
    }

    fn pending(&self) -> Vec<Pending> {
        let listing = pending(self.dir.path());
        assert!(listing.damaged.is_empty(), "{:?}", listing.damaged);
        listing.pending
    }
}

/// As kill -9 would: the file stays as it is; its lock goes with the journal.
fn killed(applied: Applied) {
    applied.keep();
}

#[test]
fn a_change_is_on_the_disk_before_it_is_made_and_comes_back_when_its_guard_goes() {
    let place = Place::new();
    let journal = place.journal();
    assert_eq!(place.journal_files(), [] as [PathBuf; 0], "nothing is made before the first change");
    let applied = journal.apply(&change(QueueAttribute::ReadAheadKb, "256")).expect("applies");
    assert_eq!(place.value(QueueAttribute::ReadAheadKb), "256");
    assert_eq!(applied.done()[0].from, "128");
    let text = fs::read_to_string(&place.journal_files()[0]).expect("journal");
    assert!(text.contains(r#""from":"128","to":"256""#) && text.contains("fathom test"), "{text}");
    drop(applied);
    assert_eq!(place.value(QueueAttribute::ReadAheadKb), "128");
    assert!(journal.failures().is_empty());
    drop(journal);
    assert_eq!(place.journal_files(), [] as [PathBuf; 0], "nothing is open, so nothing stays");
}

#[test]
fn a_value_that_is_there_already_is_no_change() {
    let place = Place::new();
    let applied = place.journal().apply(&change(QueueAttribute::Scheduler, "none")).expect("applies");
    assert_eq!(applied.done(), []);
    assert_eq!(place.journal_files(), [] as [PathBuf; 0]);
}

#[test]
fn parameters_of_a_scheduler_belong_to_one_device_and_stay_in_their_folder() {
    let place = Place::new();
    let of = |device: &str, parameter: &str| Setting::SchedulerParameter {
        device: device.to_owned(),
        parameter: parameter.to_owned(),
    };
    assert_eq!(of("sdb", "read_expire").identity(&place.root()).as_deref(), Some("9"));
    assert!(of("sdb", "read_expire").is_sound());
    for (device, parameter) in
        [("sdb", "../nr_requests"), ("sdb", ".."), ("sdb", ""), ("../sdb", "x"), ("", "x"), ("..", "x")]
    {
        assert!(!of(device, parameter).is_sound(), "{device} {parameter}");
    }
}

#[test]
fn what_a_new_scheduler_resets_comes_back_with_the_old_one() {
    let place = Place::new();
    let parameter = format!("{}/iosched/read_expire", queue());
    place.tree.file(&parameter, "100\n");
    let applied = place.journal().apply(&change(QueueAttribute::Scheduler, "mq-deadline")).expect("applies");
    // What the kernel does by itself at such a change.
    place.tree.file(&format!("{}/nr_requests", queue()), "64\n").file(&format!("{}/wbt_lat_usec", queue()), "0\n");
    place.tree.file(&parameter, "500\n");
    applied.restore().expect("restores");
    assert_eq!(std::fs::read_to_string(place.tree.root().join(&parameter)).expect("reads").trim(), "100");
    let now = [QueueAttribute::Scheduler, QueueAttribute::NrRequests, QueueAttribute::WbtLatUsec];
    assert_eq!(now.map(|a| place.value(a)), ["none", "256", "2000"]);
}

#[test]
fn several_changes_are_made_whole_or_not_at_all() {
    let place = Place::new();
    let changes = [change(QueueAttribute::ReadAheadKb, "256"), change(QueueAttribute::Scheduler, "bfq")];
    let error = place.journal().apply_all(&changes).expect_err("no bfq here");
    assert_eq!(english(&error.message()), "scheduler of sdb cannot be \"bfq\": it takes none, mq-deadline");
    assert_eq!(place.value(QueueAttribute::ReadAheadKb), "128");
}

#[test]
fn what_a_killed_program_left_is_listed_and_brought_back_once() {
    let place = Place::new();
    let journal = place.journal();
    let first = journal.apply(&change(QueueAttribute::ReadAheadKb, "256")).expect("applies");
    let second = journal.apply(&change(QueueAttribute::ReadAheadKb, "512")).expect("applies");
    let alive = place.pending();
    assert!(alive[0].alive);
    assert_eq!(place.restore(Which::All), [] as [&str; 0], "its owner will do it");
    killed(first);
    killed(second);
    drop(journal);

    let left = place.pending();
    assert_eq!((left.len(), left[0].alive, left[0].command.as_str()), (1, false, "fathom test"));
    let changes: Vec<_> = left[0].changes.iter().map(|c| (c.from.as_str(), c.to.as_str())).collect();
    assert_eq!(changes, [("128", "256"), ("256", "512")]);
    let error = place.journal().apply(&change(QueueAttribute::ReadAheadKb, "64")).expect_err("left changed");
    assert_eq!(error.help().expect("a way").id(), "setting-abandoned-help", "{error}");

    assert_eq!(place.restore(Which::Abandoned), ["sdb/read_ahead_kb: restored"; 2]);
    assert_eq!(place.value(QueueAttribute::ReadAheadKb), "128");
    assert_eq!(place.restore(Which::Abandoned), [] as [&str; 0]);
    assert_eq!(place.journal_files(), [] as [PathBuf; 0]);
}

#[test]
fn a_change_that_was_written_down_and_never_made_is_nothing_to_undo() {
    let place = Place::new();
    let journal = place.journal();
    killed(journal.apply(&change(QueueAttribute::ReadAheadKb, "256")).expect("applies"));
    drop(journal);
    place.tree.file(&format!("{}/read_ahead_kb", queue()), "128\n");
    assert_eq!(place.restore(Which::Abandoned), ["sdb/read_ahead_kb: restored"]);
    assert_eq!(place.value(QueueAttribute::ReadAheadKb), "128");
}

#[test]
fn a_line_cut_by_a_power_failure_is_a_change_that_was_not_made() {
    let place = Place::new();
    let journal = place.journal();
    killed(journal.apply(&change(QueueAttribute::ReadAheadKb, "256")).expect("applies"));
    drop(journal);
    let file = place.journal_files().remove(0);
    let whole = fs::read_to_string(&file).expect("journal");
    for cut in 0..whole.len() {
        fs::write(&file, &whole[..cut]).expect("cut");
        let left = place.pending();
        let changes = left.first().map_or(0, |p| p.changes.len());
        let lines = whole[..cut].matches('\n').count();
        assert_eq!(changes, usize::from(lines >= 2), "cut at {cut}");
    }
}

#[test]
fn what_somebody_else_changed_meanwhile_is_left_alone_and_named() {
    let place = Place::new();
    let journal = place.journal();
    killed(journal.apply(&change(QueueAttribute::ReadAheadKb, "256")).expect("applies"));
    drop(journal);
    place.tree.file(&format!("{}/read_ahead_kb", queue()), "999\n");
    let said = place.restore(Which::Abandoned);
    let want = "sdb/read_ahead_kb: read_ahead_kb of sdb is \"999\": it was changed after Fathom had set \"256\"; \
                before that it was \"128\"";
    assert_eq!(said, [want]);
    assert_eq!(place.value(QueueAttribute::ReadAheadKb), "999");
    assert_eq!(place.journal_files(), [] as [PathBuf; 0]);
}

#[test]
fn another_boot_a_lost_drive_and_another_drive_of_the_name_are_left_alone() {
    let left_changed = || {
        let place = Place::new();
        let journal = place.journal();
        killed(journal.apply(&change(QueueAttribute::ReadAheadKb, "256")).expect("applies"));
        place
    };
    let place = left_changed();
    place.tree.file("proc/sys/kernel/random/boot_id", "boot-2\n");
    assert_eq!(place.restore(Which::Abandoned), ["sdb/read_ahead_kb: other_boot"]);
    let place = left_changed();
    fs::remove_dir_all(place.root().join(queue())).expect("removed");
    assert_eq!(place.restore(Which::Abandoned), ["sdb/read_ahead_kb: gone"]);
    let place = left_changed();
    place.tree.file(&format!("sys/devices/{BUS}/block/sdb/diskseq"), "10\n");
    assert_eq!(place.restore(Which::Abandoned), ["sdb/read_ahead_kb: other_device"]);
    assert_eq!(place.value(QueueAttribute::ReadAheadKb), "256");
}

#[test]
fn changes_meant_to_stay_wait_until_all_are_asked_for() {
    let place = Place::new();
    let journal = Journal::open_kept(&place.root(), place.dir.path(), "fathom inspect --fix");
    journal.apply(&change(QueueAttribute::ReadAheadKb, "256")).expect("applies").keep();
    drop(journal);
    assert_eq!(place.restore(Which::Abandoned), [] as [&str; 0]);
    // A run may change it for a while: it goes back to the value that was meant to stay.
    place.journal().apply(&change(QueueAttribute::ReadAheadKb, "64")).expect("applies").restore().expect("restores");
    assert_eq!(place.value(QueueAttribute::ReadAheadKb), "256");
    // Made to stay twice, the first value would be forgotten.
    let again = Journal::open_kept(&place.root(), place.dir.path(), "fathom inspect --fix");
    assert!(again.apply(&change(QueueAttribute::ReadAheadKb, "64")).is_err());
    assert_eq!(place.restore(Which::All), ["sdb/read_ahead_kb: restored"]);
    assert_eq!(place.value(QueueAttribute::ReadAheadKb), "128");
}

#[test]
fn two_programs_do_not_change_the_same_setting() {
    let place = Place::new();
    let (one, other) = (place.journal(), place.journal());
    let applied = one.apply(&change(QueueAttribute::ReadAheadKb, "256")).expect("applies");
    let error = other.apply(&change(QueueAttribute::ReadAheadKb, "512")).expect_err("busy");
    assert!(matches!(error, SettingError::Busy { .. }), "{error}");
    other.apply(&change(QueueAttribute::Nomerges, "2")).expect_err("the tree has no such file");
    applied.restore().expect("restores");
    other.apply(&change(QueueAttribute::ReadAheadKb, "512")).expect("free again").restore().expect("restores");
}

#[test]
fn without_a_writable_journal_nothing_is_changed() {
    let place = Place::new();
    let file = place.dir.path().join("file");
    fs::write(&file, "").expect("file");
    let journal = Journal::open(&place.root(), file.join("below"), "fathom test");
    let error = journal.apply(&change(QueueAttribute::ReadAheadKb, "256")).expect_err("no folder");
    assert!(matches!(error, SettingError::Journal { .. }), "{error}");
    assert_eq!(place.value(QueueAttribute::ReadAheadKb), "128");
}

#[derive(Clone, Debug)]
enum Act {
    Apply(u8),
    Drop,
    Kill,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => (1u8..200).prop_map(Act::Apply),
        2 => Just(Act::Drop),
        1 => Just(Act::Kill),
    ];
    proptest::collection::vec(act, 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn whatever_happens_the_first_value_comes_back(acts in acts()) {
        let place = Place::new();
        let mut journal = place.journal();
        let mut guards: Vec<Applied> = Vec::new();
        for act in acts {
            match act {
                Act::Apply(value) => {
                    guards.push(journal.apply(&change(QueueAttribute::ReadAheadKb, &value.to_string())).expect("applies"));
                }
                // Guards of one setting end in the order of a stack, as scopes do.
                Act::Drop => drop(guards.pop()),
                Act::Kill => {
                    guards.drain(..).for_each(killed);
                    journal = place.journal();
                    restore_all(&place.root(), place.dir.path(), Which::Abandoned).expect("restores");
                    prop_assert_eq!(place.value(QueueAttribute::ReadAheadKb), "128");
                }
            }
        }
        while guards.pop().is_some() {}
        drop(journal);
        prop_assert_eq!(place.value(QueueAttribute::ReadAheadKb), "128");
        prop_assert_eq!(place.journal_files().len(), 0);
    }
}

#[test]
fn a_loop_device_of_this_kernel_takes_its_settings_and_gets_them_back() {
    let Some(device) = crate::testing::LoopDevice::blank() else { return };
    let root = Root::live();
    let dir = tempfile::tempdir().expect("temp dir");
    let name = device.name();
    let queue = Path::new("/sys/block").join(&name).join("queue");
    // The kernel hands out numbers again, with what somebody set before.
    for (file, value) in [("scheduler", "none"), ("nr_requests", "128"), ("read_ahead_kb", "128"), ("nomerges", "0")] {
        if let Err(error) = fs::write(queue.join(file), value) {
            return crate::testing::skip(&format!("{file}: {error}"));
        }
    }
    let values = || {
        ["scheduler", "nr_requests", "read_ahead_kb", "nomerges", "wbt_lat_usec"]
            .map(|file| fs::read_to_string(queue.join(file)).unwrap_or_default())
    };
    let before = values();
    let journal = Journal::open(&root, dir.path(), "fathom test");
    for text in ["nr_requests=64", "read_ahead_kb=64", "nomerges=2", "scheduler=mq-deadline", "nr_requests=32"] {
        let changes = match changes_for(&root, text, std::slice::from_ref(&name)) {
            Ok(changes) => changes,
            Err(error) => return crate::testing::skip(&format!("{text}: {error}")),
        };
        let applied = journal.apply_all(&changes).expect("applies");
        let (_, value) = text.split_once('=').expect("form");
        assert_eq!(applied.done()[0].to, value);
        assert_eq!(changes[0].setting.read(&root).expect("reads"), value);
        applied.keep();
    }
    drop(journal);
    let restored = restore_all(&root, dir.path(), Which::Abandoned).expect("restores").settings;
    assert!(restored.iter().all(|r| matches!(r.outcome, Outcome::Restored)), "{restored:?}");
    assert_eq!(values(), before);
}
