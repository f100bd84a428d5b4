//! Leftovers of killed runs are found from any folder, listed, and removed; none is dropped from the lab unchecked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::Connection;

use crate::cli::machine::Mounted;
use crate::cli::{Ended, Place, skipped};

const READS: &str = "io --target . --size 4m --rw randread --runtime 100s";
const FILES: &str = "io --target . --rw filecreate --nrfiles 1000000 --filesize 512 --fsync 1 --runtime 100s";

/// Kills a run once `is_made` returns true for the entries of `directory`.
fn kill(place: &Place, words: &str, directory: &Path, is_made: impl Fn(&[PathBuf]) -> bool) {
    let mut running = place.start_at(words, directory);
    running.until("its files", |_| is_made(&entries(directory)));
    running.signal("KILL");
    assert_eq!(running.wait().code, None);
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(directory).expect("a folder").flatten().map(|entry| entry.path());
    all.filter(|path| !path.ends_with("lost+found")).collect()
}

fn from_root(place: &Place, words: &str) -> Ended {
    let ended = place.start_at(words, Path::new("/")).wait();
    ended.expect(0, &[]);
    ended
}

fn has_test_file(all: &[PathBuf]) -> bool {
    all.iter().any(|path| path.ends_with("fathom-test.data"))
}

fn has_files(all: &[PathBuf]) -> bool {
    all.iter().any(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("fathom-files-"))
            && path.join("t0/f0000000000").exists()
    })
}

#[test]
fn a_test_file_that_was_named_by_a_relative_path_is_removed_from_another_folder() {
    let place = Place::new();
    kill(&place, READS, &place.work(), has_test_file);
    let path = place.file("fathom-test.data").canonicalize().expect("there");
    let listed = from_root(&place, "restore --list");
    assert_eq!(listed.out, format!("{} is left over from run 1\n  help: remove it: fathom restore\n", path.display()));
    let json = from_root(&place, "restore --list --json").json();
    assert_eq!(json["leftovers"][0]["path"].as_str().map(Path::new), Some(path.as_path()));
    assert!(path.exists(), "a list removes nothing");
    let restored = from_root(&place, "restore");
    assert_eq!(restored.out, format!("removed {}, left behind by a run that was killed\n", path.display()));
    assert_eq!(entries(&place.work()), [] as [PathBuf; 0]);
    assert_eq!(from_root(&place, "restore").out, "Nothing to restore.\n");
    assert_eq!(from_root(&place, "restore --list").out, "Nothing to restore.\n");
}

#[test]
fn what_lies_on_a_file_system_that_is_not_mounted_is_kept_in_mind() {
    let place = Place::new();
    let Some(mounted) = Mounted::ext4(&place, "away", 256 << 20, "rw") else { return };
    // In this order: the second run removes the test files of killed runs where it works.
    kill(&place, &FILES.replace("1000000", "10000"), &mounted.path, has_files);
    kill(&place, READS, &mounted.path, has_test_file);
    let (path, image) = (mounted.path.clone(), place.beside("away.img"));
    drop(mounted);
    for command in ["restore --list", "restore", "restore"] {
        let out = from_root(&place, command).out;
        assert!(out.contains(&format!("{}/fathom-test.data cannot be reached", path.display())), "{command}: {out}");
        assert!(out.contains("mount the file system"), "{command}: {out}");
    }
    let remount = |way: &[&str]| assert!(Command::new(way[0]).args(&way[1..]).status().expect("runs").success());
    remount(&["mount", "-o", "loop", image.to_str().expect("UTF-8"), path.to_str().expect("UTF-8")]);
    let out = from_root(&place, "restore").out;
    let left = entries(&path);
    remount(&["umount", path.to_str().expect("UTF-8")]);
    assert_eq!(out.matches("removed ").count(), 2, "{out}");
    assert_eq!(left, [] as [PathBuf; 0]);
    assert_eq!(from_root(&place, "restore").out, "Nothing to restore.\n");
}

#[test]
fn a_run_that_goes_on_removes_the_files_that_its_killed_process_left() {
    let place = Place::new();
    kill(&place, FILES, &place.work(), has_files);
    let mut running = place.start("run --resume 1");
    running.until("its end of the old files", |talk| talk.contains("left behind by a run that was killed"));
    running.signal("INT");
    running.wait().expect(4, &[]);
    assert_eq!(entries(&place.work()), [] as [PathBuf; 0]);
    assert_eq!(place.run("restore --list").out, "Nothing to restore.\n");
}

#[test]
fn a_run_that_is_deleted_takes_what_it_left_with_it() {
    let place = Place::new();
    kill(&place, FILES, &place.work(), has_files);
    kill(&place, READS, &place.work(), has_test_file);
    from_root(&place, "rm 1 2");
    assert_eq!(entries(&place.work()), [] as [PathBuf; 0]);
}

/// Labs of older versions hold paths as the user named them, and no folders.
#[test]
fn a_test_file_in_a_lab_of_an_older_version_is_found_from_the_folder_of_its_run() {
    for is_deleted in [false, true] {
        let place = Place::new();
        kill(&place, READS, &place.work(), has_test_file);
        let lab = Connection::open(place.lab()).expect("opens");
        lab.execute_batch("UPDATE made_file SET path = './fathom-test.data'; DELETE FROM work_folder")
            .expect("written");
        drop(lab);
        let (here, away) = (place.work(), place.beside("away"));
        fs::rename(&here, &away).expect("moved");
        for command in ["restore --list", "restore", "restore"] {
            let out = from_root(&place, command).out;
            assert!(out.contains("fathom-test.data cannot be reached"), "{command}: {out}");
        }
        fs::rename(&away, &here).expect("moved back");
        from_root(&place, if is_deleted { "rm 1" } else { "restore" });
        assert_eq!(entries(&here), [] as [PathBuf; 0]);
    }
}

#[test]
fn what_lies_in_a_folder_of_several_runs_is_listed_once_and_clean_folders_are_forgotten() {
    let place = Place::new();
    let folders = || -> i64 {
        let lab = Connection::open(place.lab()).expect("opens");
        lab.query_row("SELECT count(*) FROM work_folder", [], |row| row.get(0)).expect("reads")
    };
    kill(&place, READS, &place.work(), has_test_file);
    kill(&place, FILES, &place.work(), has_files);
    assert_eq!(folders(), 2);
    let listed = from_root(&place, "restore --list").out;
    assert_eq!(listed.matches("fathom-files-").count(), 1, "{listed}");
    let removed = from_root(&place, "restore --json").json();
    assert_eq!(removed["left"], serde_json::json!([]), "{removed}");
    assert!(removed["removed"].as_array().is_some_and(|paths| paths.len() == entries_named(&listed)), "{removed}");
    assert_eq!((entries(&place.work()), folders()), (Vec::new(), 0));
}

/// Leftovers that `restore --list` names.
fn entries_named(listed: &str) -> usize {
    listed.matches("is left over from run").count()
}

#[test]
fn a_run_that_was_stopped_and_goes_on_is_noted_again() {
    let place = Place::new();
    let mut running = place.start(FILES);
    running.until("its files", |_| has_files(&entries(&place.work())));
    running.signal("INT");
    running.wait().expect(4, &[]);
    kill(&place, "run --resume 1", &place.work(), has_files);
    from_root(&place, "restore");
    assert_eq!(entries(&place.work()), [] as [PathBuf; 0]);
}

#[test]
fn folders_of_a_killed_run_by_fio_are_removed() {
    if !Command::new("fio").arg("--version").output().is_ok_and(|run| run.status.success()) {
        return skipped("fio is absent");
    }
    let place = Place::new();
    // The word for the priority is one that Fathom refuses.
    let job = "[a]\nioengine=filecreate\nnice=1\nnrfiles=100\nfilesize=4k\nopenfiles=1\nsize=400k\n\
               [b]\nstonewall\nioengine=cpuio\ncpuload=5\ntime_based\nruntime=100\n";
    let (jobs, links) = (place.beside("job.fio"), place.beside("links"));
    fs::write(&jobs, job).expect("written");
    fs::create_dir(&links).expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.args(["run", "--with-fio"]).arg(&jobs).current_dir(place.work());
    command.env("FATHOM_LAB", place.lab()).env("FATHOM_JOURNAL", place.beside("journal"));
    command.env("FATHOM_IDLE_BASELINE", "50ms").env("TMPDIR", &links).env("HOME", place.beside("links"));
    let mut child = command.spawn().expect("fathom starts");
    let begun = std::time::Instant::now();
    // A folder has its mark a moment after its name.
    let is_marked = |made: &PathBuf| fs::metadata(made.join(".in-use")).is_ok_and(|mark| mark.len() > 0);
    while ![place.work(), links.clone()].iter().all(|within| entries(within).iter().any(is_marked)) {
        assert!(begun.elapsed().as_secs() < 60, "fio makes folders");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().and_then(|()| child.wait()).expect("killed");
    from_root(&place, "restore");
    assert_eq!((entries(&place.work()), entries(&links)), (Vec::new(), Vec::new()));
}

/// Files are removed even if the journal of settings cannot be read.
#[test]
fn restore_removes_files_beside_a_broken_journal() {
    let place = Place::new();
    kill(&place, READS, &place.work(), has_test_file);
    fs::write(place.beside("journal"), "no folder")
        .or_else(|_| {
            fs::remove_dir_all(place.beside("journal")).and_then(|()| fs::write(place.beside("journal"), "no folder"))
        })
        .expect("written");
    let ended = place.run("restore");
    assert_eq!(entries(&place.work()), [] as [PathBuf; 0], "{:?} {}{}", ended.code, ended.out, ended.err);
}

#[test]
fn a_database_of_a_killed_run_is_named_and_kept_for_its_user() {
    let place = Place::new();
    let words = "oltp --target . --warehouses 1 --ramp 0s --runtime 100s --no-probes --no-calibration";
    kill(&place, words, &place.work(), |all| all.iter().any(|path| path.join("orders.db").exists()));
    let folder = entries(&place.work())[0].canonicalize().expect("there");
    for command in ["restore --list", "restore", "restore"] {
        let out = from_root(&place, command).out;
        assert!(out.starts_with(&format!("{} is a database", folder.display())), "{command}: {out}");
        assert!(out.contains("fathom oltp --check"), "{command}: {out}");
    }
    kill(&place, READS, &place.work(), has_test_file);
    from_root(&place, "rm 1");
    assert_eq!(
        entries(&place.work()),
        [place.work().join(folder.file_name().expect("a name"))],
        "a run takes no database along"
    );
    fs::remove_dir_all(&folder).expect("removed");
    assert_eq!(from_root(&place, "restore").out, "Nothing to restore.\n");
}

/// Commands that are killed; `.` is a folder with a file of another user.
const COMMANDS: [&str; 6] = [
    "io --target . --size 4m --rw randwrite --runtime 2s",
    "run quick --target . --set size=8m --time-budget 5s",
    "run files --target . --time-budget 5s",
    "run commit --target . --set size=4m --time-budget 5s",
    "io --target . --rw filecreate --nrfiles 20000 --filesize 512 --fsync 1 --runtime 2s",
    "oltp --target . --warehouses 1 --ramp 0s --runtime 2s --no-probes --no-calibration",
];

/// Ten moments for each of the studies of `fathom studies`, too, with FATHOM_TEST_ALL=1.
fn commands(place: &Place) -> Vec<String> {
    let mut all: Vec<String> = COMMANDS.map(str::to_owned).to_vec();
    if std::env::var("FATHOM_TEST_ALL").is_ok_and(|value| value == "1") {
        let listed = place.run("studies").out;
        let is_study = |line: &&str| line.split_whitespace().nth(1).is_some_and(|word| word.parse::<u32>().is_ok());
        let names = listed.lines().filter(is_study).filter_map(|line| line.split_whitespace().next());
        all.extend(names.map(|name| format!("run {name} --target . --set size=8m --time-budget 10s")));
    }
    all
}

#[test]
fn a_kill_at_any_moment_leaves_nothing_that_restore_does_not_know() {
    let seed: u64 = std::env::var("FATHOM_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_128);
    let mut state = seed;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let commands = commands(&Place::new());
    let kills = if commands.len() > COMMANDS.len() { 10 * commands.len() } else { 20 };
    for kill in 0..kills {
        let place = Place::new();
        fs::write(place.file("thesis"), "mine").expect("written");
        let words = &commands[kill % commands.len()];
        let delay = std::time::Duration::from_millis(random(700));
        let what = format!("seed {seed}, kill {kill} after {delay:?}: fathom {words}");
        let running = place.start(words);
        std::thread::sleep(delay);
        running.signal("KILL");
        running.wait();
        if random(2) == 0 {
            let running = place.start("run --resume last");
            std::thread::sleep(std::time::Duration::from_millis(random(300)));
            running.signal("INT");
            running.wait();
        }
        let directory = if random(2) == 0 { place.work() } else { PathBuf::from("/") };
        let restored = place.start_at("restore", &directory).wait();
        assert_eq!(restored.code, Some(0), "{what}: {}{}", restored.out, restored.err);
        assert_eq!(fs::read_to_string(place.file("thesis")).ok().as_deref(), Some("mine"), "{what}");
        for path in entries(&place.work()).into_iter().filter(|path| !path.ends_with("thesis")) {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            assert!(restored.out.contains(&name), "{what}: {name} stays, and restore says: {}", restored.out);
        }
    }
}
