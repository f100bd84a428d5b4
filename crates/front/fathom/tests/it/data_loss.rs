//! What must never be lost, tried through the program itself on real files, loop devices and processes: every refusal
//! leaves each byte as it was, ends with 3 and names a remedy.

use std::fs::{self, File};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::cli::machine::{LoopDevice, Mounted, tool};
use crate::cli::{Place, skipped};
use rusqlite::Connection;

const MIB: usize = 1 << 20;
/// The guard refused, or an output did.
const REFUSED: i32 = 3;

/// Loads that destroy what is below them, in all the ways that a user asks for one.
const LOADS: [&str; 5] = [
    "io --rw randwrite --runtime 100ms",
    "io --rw write --bs 64k --runtime 100ms",
    "io --rw randrw --verify crc32c --runtime 100ms",
    "io --rw randtrim --runtime 100ms",
    "run quick --time-budget 5s --set size=1m",
];

/// Text that repeats and is no file system.
fn ledger(bytes: usize) -> Vec<u8> {
    b"paid 12 to the miller, owed 7 by the smith\n".iter().copied().cycle().take(bytes).collect()
}

/// Things that must stay as they are, and how many refusals they stood.
struct Witness<'p> {
    place: &'p Place,
    before: Vec<(PathBuf, Vec<u8>)>,
    tries: usize,
}

impl<'p> Witness<'p> {
    fn new(place: &'p Place, things: &[&Path]) -> Witness<'p> {
        let read = |path: &&Path| (path.to_path_buf(), fs::read(path).expect("readable"));
        Witness { place, before: things.iter().map(read).collect(), tries: 0 }
    }

    /// The command is refused, with a remedy, and nothing has changed.
    fn refuses(&mut self, words: &str) {
        let ended = self.place.run(words);
        ended.expect(REFUSED, &["error: ", "help: "]);
        self.unchanged(words);
        self.tries += 1;
    }

    fn unchanged(&self, after: &str) {
        for (path, bytes) in &self.before {
            assert!(fs::read(path).expect("still there") == *bytes, "{after}: {} was changed", path.display());
        }
    }
}

/// A program that holds a file, ended with this value.
struct Holder(Child);

impl Holder {
    /// `python3 -c` with the path as its argument; it says a line once it holds.
    fn python(code: &str, path: &str) -> Option<Holder> {
        let mut child = Command::new("python3")
            .args([
                "-c",
                &format!(
                    "import sys,os,time,fcntl,mmap\np=sys.argv[1]\n{code}\nprint('held',flush=True)\ntime.sleep(60)"
                ),
                path,
            ])
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let mut line = String::new();
        let out = child.stdout.as_mut().expect("piped");
        std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line).ok()?;
        assert_eq!(line.trim(), "held", "{code}");
        Some(Holder(child))
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_file_with_other_peoples_data_is_refused_by_all_its_names_and_to_every_load() {
    let place = Place::new();
    let file = place.file("ledger.img");
    fs::write(&file, ledger(4 * MIB)).expect("written");
    symlink("ledger.img", place.file("link")).expect("a link");
    symlink("link", place.file("link-to-link")).expect("a link");
    fs::hard_link(&file, place.file("twin")).expect("a hard link");
    fs::create_dir(place.file("sub")).expect("a folder");
    let open = File::open(&file).expect("opens");
    let by_process = format!("/proc/{}/fd/{}", std::process::id(), open.as_raw_fd());
    let whole = file.to_str().expect("UTF-8").to_owned();
    let mut witness = Witness::new(&place, &[&file]);
    for name in ["ledger.img", "./sub/../ledger.img", &whole, "link", "link-to-link", "twin", &by_process] {
        for load in LOADS {
            witness.refuses(&format!("{load} --target {name} -q"));
        }
    }
    fs::write(place.file("job.fio"), "[a]\nfilename=ledger.img\nrw=randwrite\nsize=1m\nruntime=1\ntime_based\n")
        .expect("a job");
    witness.refuses("run job.fio -q");
    // A pattern may name many: the word for one does not count for it.
    witness.refuses("io --rw randwrite --runtime 100ms --overwrite --target ledger* -q");
    assert_eq!(witness.tries, 37);
    // What is asked for is done, and said.
    place.run("io --rw randwrite --runtime 100ms --target ledger.img --overwrite -q").expect(0, &[]);
    assert!(fs::read(&file).expect("there") != witness.before[0].1, "nothing was written");
}

#[test]
fn what_stands_below_a_mount_or_in_a_program_is_refused_whatever_is_allowed() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place, &vec![0; 32 * MIB]) else { return };
    if tool("mkfs.ext4", &["-q", "-F", &device.path]).is_none() {
        return;
    }
    let Some(mounted) = Mounted::new(&place, "mount", &[&device.path]) else { return };
    fs::write(mounted.path.join("ledger"), ledger(MIB)).expect("written");
    // The journal of the file system may be written at any time, so the device is quiet first.
    tool("mount", &["-o", "remount,ro", mounted.path.to_str().expect("UTF-8")]);
    symlink(&device.image, place.file("link")).expect("a link");
    fs::hard_link(&device.image, place.file("twin")).expect("a hard link");
    let (image, name, path) = (device.image.display().to_string(), device.name().to_owned(), device.path.clone());
    let allow = format!("--overwrite --destroy {name} --destroy {name}:ext --destroy {name}:data+ext");
    let mut witness = Witness::new(&place, &[&device.image]);
    for target in [&*image, "link", "twin", &*path] {
        for load in LOADS {
            witness.refuses(&format!("{load} --target {target} {allow} -q"));
        }
    }
    // A second loop device over another name of the same file.
    let twin = place.file("twin").display().to_string();
    if let Some(second) = tool("losetup", &["--find", "--show", &twin]) {
        let second = second.trim().to_owned();
        let own = second.trim_start_matches("/dev/");
        witness.refuses(&format!("{} --target {second} --destroy {own} --destroy {own}:ext -q", LOADS[0]));
        tool("losetup", &["--detach", &second]);
    }
    assert!(witness.tries >= 20, "{}", witness.tries);
}

#[test]
fn what_a_program_holds_for_writing_is_refused_though_it_claims_nothing() {
    let place = Place::new();
    let file = place.file("disk.img");
    fs::write(&file, ledger(2 * MIB)).expect("written");
    let path = file.to_str().expect("UTF-8");
    let mut witness = Witness::new(&place, &[&file]);
    // An image of a virtual machine: a lock of the open file, as QEMU takes one; a map; a mere descriptor.
    for code in [
        "f=os.open(p,os.O_RDWR)",
        "f=open(p,'r+b')\nimport struct\nfcntl.fcntl(f,37,struct.pack('hhqqi',fcntl.F_WRLCK,0,0,1,0))",
        "f=open(p,'r+b')\nm=mmap.mmap(f.fileno(),0)\nf.close()",
    ] {
        let Some(_holder) = Holder::python(code, path) else { return skipped("no python3") };
        for load in LOADS {
            witness.refuses(&format!("{load} --target disk.img --overwrite -q"));
        }
    }
    let Some(device) = LoopDevice::new(&place, &vec![0; 8 * MIB]) else { return };
    let mut witness = Witness::new(&place, &[&device.image]);
    let Some(_holder) = Holder::python("f=os.open(p,os.O_RDWR)", &device.path) else { return };
    for load in LOADS {
        witness.refuses(&format!("{load} --target {} --destroy {} -q", device.path, device.name()));
    }
}

#[test]
fn outputs_and_labs_go_to_files_of_their_own_alone() {
    let place = Place::new();
    place.run("io --engine null --target null --runtime 100ms -q").expect(0, &[]);
    let file = place.file("ledger");
    fs::write(&file, ledger(MIB)).expect("written");
    symlink("ledger", place.file("link")).expect("a link");
    symlink("nowhere", place.file("dangling")).expect("a link");
    fs::create_dir(place.file("folder")).expect("a folder");
    let before = place.listing();
    let lab = place.lab().display().to_string();
    let device = LoopDevice::new(&place, &ledger(MIB));
    let mut things = vec![file.as_path()];
    things.extend(device.iter().map(|d| d.image.as_path()));
    let mut witness = Witness::new(&place, &things);
    let mut places = vec!["ledger", "link", "dangling", "folder", &lab];
    places.extend(device.iter().map(|d| d.path.as_str()));
    for to in &places {
        for words in [
            "report 1",
            "export 1 --format csv",
            "io --engine null --target null --runtime 100ms -q",
            "run quick --time-budget 5s --target sim:speed/nvme-1 -q",
        ] {
            // A folder is where fio's exports go; others make one file.
            witness.refuses(&format!("{words} --output {to}"));
        }
    }
    assert_eq!(place.listing(), before, "nothing was made");
    for to in places.iter().filter(|to| **to != lab) {
        let ended = place.run(&format!("io --engine null --target null --runtime 100ms -q --lab {to}"));
        // A text is no lab: nothing is refused there that could be allowed.
        let code = if *to == "ledger" { 1 } else { REFUSED };
        ended.expect(code, &["error: ", "help: "]);
        witness.unchanged(to);
    }
    // Its own reports are replaced, and another's file where that is said.
    for words in ["report 1 --output r.html", "report 1 --output r.html", "report 1 --output ledger --force"] {
        place.run(words).expect(0, &[]);
    }
    assert!(fs::read_to_string(&file).expect("there").starts_with("<!"), "replaced as asked");
}

#[test]
fn a_test_file_that_is_switched_in_mid_run_takes_nothing_with_it() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place, &vec![7; 16 * MIB]) else { return };
    let theirs = place.file("ledger");
    fs::write(&theirs, ledger(16 * MIB)).expect("written");
    for victim in [Path::new(&device.path), theirs.as_path()] {
        let plan = "[defaults]\nruntime=\"300ms\"\nsize=\"16m\"\n[[ladder]]\nrw=[\"randwrite\",\"write\",\"randrw\"]\nload=[\"1x1\",\"1x2\",\"1x4\"]\n";
        fs::write(place.file("mine.toml"), plan).expect("a plan");
        fs::create_dir_all(place.file("dir")).expect("a folder");
        let witness = Witness::new(&place, &[&device.image, &theirs]);
        let mut running = place.start("run mine.toml --target dir");
        let made = place.file("dir").join("fathom-test.data");
        running.until("its first step", |talk| talk.contains("T1 QD1") && talk.contains("IOPS"));
        fs::rename(&made, place.file("dir").join("aside")).expect("renamed");
        symlink(victim, &made).expect("a link");
        let ended = running.wait();
        assert_ne!(ended.code, Some(0), "{}", ended.err);
        witness.unchanged("the switch");
        assert!(made.is_symlink(), "whatever has the name of the file is not removed");
        let document = place.json("show last", 0);
        let steps = document["steps"].as_array().expect("steps").clone();
        let refused: Vec<&str> = steps.iter().filter_map(|s| s["reason"].as_str()).collect();
        assert!(!refused.is_empty(), "the next step is refused: {}", ended.err);
        assert!(steps.iter().any(|s| s["state"] == "measured"), "what was measured before is kept");
        fs::remove_dir_all(place.file("dir")).expect("removed");
    }
}

#[test]
fn files_that_look_like_leftovers_are_nobodys_business() {
    let place = Place::new();
    let dir = place.file("dir");
    fs::create_dir(&dir).expect("a folder");
    fs::write(dir.join("fathom-old.data"), ledger(MIB)).expect("written");
    fs::write(dir.join("fathom-test-99999-1.data"), ledger(MIB)).expect("written");
    symlink("/dev/zero", dir.join("fathom-link.data")).expect("a link");
    if tool("mkfifo", &[dir.join("fathom-pipe.data").to_str().expect("UTF-8")]).is_none() {
        return;
    }
    let before = crate::cli::listing_of(&dir);
    for rw in ["randread", "randwrite"] {
        place.run(&format!("io --target dir --rw {rw} --size 4m --runtime 200ms -q")).expect(0, &[]);
        assert_eq!(crate::cli::listing_of(&dir), before, "{rw}: only its own file went");
    }
    // One that was kept stays, also when the folder is measured again.
    place.run("io --target dir --rw randread --size 4m --runtime 200ms --keep -q").expect(0, &[]);
    let kept = dir.join("fathom-test.data");
    assert!(kept.exists());
    place.run("io --target dir --rw randread --size 4m --runtime 200ms -q").expect(0, &[]);
    assert!(kept.exists(), "a kept file is kept");
    // The names by which a file could be taken for one of ours are no consent.
    Witness::new(&place, &[&dir.join("fathom-old.data")])
        .refuses("io --target dir/fathom-old.data --rw randwrite --runtime 100ms -q");
}

/// A run that was stopped while it conditions a file, which it keeps for going on.
fn interrupted(place: &Place) -> PathBuf {
    fs::create_dir(place.file("dir")).expect("a folder");
    let mut running = place.start("run enterprise --target dir --set size=64m");
    let made = place.file("dir").join("fathom-test.data");
    running.until("its first step", |talk| talk.contains("fill") && made.exists());
    std::thread::sleep(std::time::Duration::from_millis(500));
    running.signal("INT");
    running.wait().expect(4, &["--resume 1"]);
    assert!(made.exists(), "kept for going on");
    made
}

#[test]
fn a_run_goes_on_with_its_own_file_alone() {
    let place = Place::new();
    let made = interrupted(&place);
    let length = fs::metadata(&made).expect("there").len();
    // Somebody's file of the same name and length.
    fs::rename(&made, place.file("aside")).expect("renamed");
    fs::write(&made, ledger(length as usize)).expect("written");
    let witness = Witness::new(&place, &[&made]);
    let ended = place.run("run --resume 1 -q");
    assert!(matches!(ended.code, Some(2 | 3)), "{:?}: {}", ended.code, ended.err);
    assert!(ended.err.contains("is not the file that the run made") && ended.err.contains("help:"), "{}", ended.err);
    witness.unchanged("--resume");
    place.run("restore").expect(0, &[]);
    place.run("rm 1").expect(0, &[]);
    witness.unchanged("rm");
}

#[test]
fn a_lab_that_was_edited_names_no_file_for_removal() {
    let place = Place::new();
    interrupted(&place);
    let theirs = place.file("ledger");
    fs::write(&theirs, ledger(MIB)).expect("written");
    let lab = Connection::open(place.lab()).expect("a lab");
    let changed = lab.execute("UPDATE made_file SET path = ?1", [theirs.to_str().expect("UTF-8")]).expect("edited");
    assert_eq!(changed, 1);
    drop(lab);
    let witness = Witness::new(&place, &[&theirs]);
    assert_ne!(place.run("run --resume 1 -q").code, Some(0));
    witness.unchanged("--resume");
    place.run("restore").expect(0, &[]);
    place.run("rm 1").expect(0, &[]);
    witness.unchanged("rm");
}

#[test]
fn a_second_stop_and_a_closed_terminal_leave_no_file_and_no_setting() {
    let read = |device: &LoopDevice| {
        let path = format!("/sys/block/{}/queue/read_ahead_kb", device.name());
        fs::read_to_string(path).expect("a queue").trim().to_owned()
    };
    for signals in [&["INT", "INT"][..], &["HUP"], &["QUIT"]] {
        let place = Place::new();
        let Some(device) = LoopDevice::new(&place, &vec![0; 8 * MIB]) else { return };
        let before = read(&device);
        let other = if before == "64" { "32" } else { "64" };
        fs::create_dir(place.file("dir")).expect("a folder");
        let plan = "[defaults]\nengine=\"psync\"\nruntime=\"2s\"\nsize=\"4m\"\n[[ladder]]\nrw=[\"randread\"]\n";
        fs::write(place.file("turns.toml"), plan).expect("a plan");
        let mut running = place
            .start(&format!("run turns.toml --target {} --target dir --versus read_ahead_kb={other}", device.path));
        let made = place.file("dir").join("fathom-test.data");
        running.until("the change", |_| read(&device) == other && made.exists());
        for signal in signals {
            running.signal(signal);
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let ended = running.wait();
        assert_eq!(ended.code, Some(4), "{signals:?}: {}", ended.err);
        assert_eq!(read(&device), before, "{signals:?}: {}", ended.err);
        assert!(!made.exists(), "{signals:?}: {}", ended.err);
        assert_eq!(place.json("list", 0)["runs"][0]["state"], "interrupted", "{signals:?}");
    }
}
