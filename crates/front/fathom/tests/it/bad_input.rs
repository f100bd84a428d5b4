//! Wrong input of every kind: the exit code as designed, a message that says what, where and what to do, and nothing
//! written.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::machine::{LoopDevice, Mounted, Zram, is_tmpfs};
use crate::cli::{Ended, Place, listing_of, skipped};
use rusqlite::Connection;

const USAGE: i32 = 2;
const REFUSED: i32 = 3;
const FAILED: i32 = 1;

/// Runs a command that must be refused with these words, and leave neither file nor lab.
fn refuses(place: &Place, words: &str, code: i32, said: &[&str]) {
    let before = place.listing();
    refused(&place.run(words), words, code, said);
    assert_eq!(place.listing(), before, "{words}: nothing is created");
}

fn refused(ended: &Ended, words: &str, code: i32, said: &[&str]) {
    ended.expect(code, &["error: "]);
    ended.expect(code, said);
    assert_eq!(ended.out, "", "{words}: nothing on stdout");
    assert!(ended.err.lines().all(|l| !l.contains("panicked")), "{words}: {}", ended.err);
}

/// As [`refuses`], for wrong words: these are found before the lab is opened.
fn wrong_usage(place: &Place, words: &str, said: &[&str]) {
    refuses(place, words, USAGE, said);
    assert!(!place.lab().exists(), "{words}: no lab is made");
}

#[test]
fn misspelt_words_name_the_nearest() {
    let place = Place::new();
    let table: &[(&str, &[&str])] = &[
        ("run quik --target .", &["no study is called `quik`", "did you mean `quick`?"]),
        (
            "run quick --target . --set io_dept=4",
            &["unknown key `io_dept`", "--set io_dept=4", "did you mean `iodepth`?"],
        ),
        ("run quick --target . --set size=16q", &["`16q` is not a size", "unknown unit `q`", "did you mean"]),
        ("run quick --target . --set runtime=3sec0", &["`3sec0` is not a duration", "for example"]),
        ("run quick --target . --set novalue", &["--set novalue has no `=`", "KEY=VALUE"]),
        ("run quick --target . --group A", &["--group A has no `=`", "help:"]),
        ("run quick --target . --time-budget soon", &["--time-budget", "`soon`", "2m"]),
        ("run quick --target . --time-budget 1s", &["too short", "give at least"]),
        ("io --target . --rw randraed", &["unknown workload `randraed`", "did you mean `randread`?"]),
        ("io --target . --engine io_urnig", &["unknown engine `io_urnig`", "did you mean `io_uring`?"]),
        ("io --target . --mode iopol", &["`iopol`", "did you mean `iopoll`?"]),
        ("io --target . --placement coers", &["`coers`", "did you mean `cores`?"]),
        ("io --target . --verify crc32", &["`crc32`", "crc32c"]),
        ("io --target . --size 16q", &["`16q` is not a size", "unknown unit `q`"]),
        ("io --target . --rate 5qps", &["`5qps`", "help:"]),
        ("io --target . --iodept 4", &["--iodept", "'--iodepth'"]),
        ("rnu quick", &["rnu", "Usage"]),
        ("export 1 --format xml", &["xml", "fio-json"]),
    ];
    for (words, said) in table {
        wrong_usage(&place, words, said);
    }
}

#[test]
fn values_beyond_their_bounds_say_the_bounds() {
    let place = Place::new();
    let table: &[(&str, &[&str])] = &[
        ("io --target . --iodepth 0", &["iodepth", "1 to 4096"]),
        ("io --target . --iodepth 1000000000", &["iodepth", "1000000000", "1 to 4096"]),
        ("io --target . --iodepth 99999999999999999999999", &["iodepth", "1 to 4096"]),
        ("io --target . --iodepth=-1", &["iodepth", "1 to 4096"]),
        ("io --target . --threads 0", &["1 to 1024"]),
        ("io --target . --runtime 0", &["runtime of 0 measures nothing", "e.g. 30s"]),
        ("io --target . --runtime 99999d", &["above the maximum"]),
        ("io --target . --bs 1000", &["1000", "multiple of 512", "4k"]),
        ("io --target . --bs 0", &["bs"]),
        ("io --target . --bs 1t", &["bs"]),
        ("io --target . --size 0", &["size of 0", "e.g. 2g"]),
        ("io --target . --size 500%", &["500 percent", "0 to 100"]),
        ("io --target . --size 4k --bs 64k", &["size", "below one block"]),
        ("io --target . --rw randrw --read-pct 170", &["170", "0 to 100"]),
        ("io --target . --bssplit 4k/60:64k/60", &["bssplit", "120"]),
        ("io --target . --rate 0", &["rate"]),
        ("io --target . --distribution zipf:-1", &["zipf"]),
        ("io --target . --engine mmap --direct 1", &["mmap", "no O_DIRECT", "direct=0"]),
        ("io --target . --engine psync --mode iopoll", &["iopoll", "io_uring"]),
        ("run quick --target . --set size=4k", &["below one block of 128k", "--set size=4k", "raise size"]),
        ("run quick --target . --set iodepth=0", &["1 to 4096", "--set iodepth=0"]),
        ("io --target . --idle-baseline 1ms", &["--idle-baseline 1ms", "10ms to 10m", "500ms"]),
        ("io --target . --idle-baseline soon", &["--idle-baseline soon", "10ms to 10m"]),
    ];
    for (words, said) in table {
        wrong_usage(&place, words, said);
    }
}

#[test]
fn a_wrong_plan_is_shown_with_file_line_and_column() {
    let place = Place::new();
    let head = "[study]\nname = \"mine\"\nquestion = \"Why?\"\n";
    let table: &[(&str, &str, &[&str])] = &[
        (
            "a.toml",
            "[defaults]\nio_depth = 4\n[[ladder]]\nrw = \"randread\"\n",
            &["unknown key `io_depth`", "a.toml:5:1", "5 | io_depth = 4", "^^^^^^^^ did you mean `iodepth`?"],
        ),
        (
            "b.toml",
            "[[ladder]]\nrw = [\"randread\", \"ranwrite\"]\n",
            &["ranwrite", "b.toml:5:", "did you mean `randwrite`?"],
        ),
        ("c.toml", "[[ladder]]\nrw = \"randread\"\nsize = \"16q\"\n", &["16q", "c.toml:6:8"]),
        ("d.toml", "[[ladder]\nrw = 1\n", &["d.toml:4:"]),
        ("e.toml", "[[laddr]]\nrw = \"randread\"\n", &["laddr", "e.toml:4:3", "did you mean `ladder`?"]),
        ("g.toml", "[[ladder]]\nrw = \"randread\"\niodepth = [1, 0]\n", &["1 to 4096", "g.toml:6:15"]),
    ];
    for (name, rest, said) in table {
        fs::write(place.file(name), format!("{head}{rest}")).expect("written");
        wrong_usage(&place, &format!("run {name} --target ."), said);
        wrong_usage(&place, &format!("plan {name} --target ."), said);
    }
    wrong_usage(&place, "run nowhere.toml --target .", &["cannot read nowhere.toml", "No such file"]);
    fs::write(place.file("notes.txt"), "hello").expect("written");
    wrong_usage(&place, "run notes.txt", &["notes.txt", "neither a plan", ".fio"]);
    fs::write(place.file("binary.toml"), [0xff, 0xfe, 0, 1]).expect("written");
    wrong_usage(&place, "run binary.toml", &["cannot read binary.toml"]);
}

#[test]
fn a_fio_job_that_is_not_supported_is_refused_by_name_and_line() {
    let place = Place::new();
    let table: &[(&str, &str, &[&str])] = &[
        (
            "a.fio",
            "[j]\nrw=randread\nsize=16m\nioengine=rbd\n",
            &["ioengine=rbd is not built in", "a.fio:4:10", "use libaio"],
        ),
        ("b.fio", "[j]\nrw=randread\nsize=16m\nzonemode=zbd\n", &["zonemode", "b.fio:4:"]),
        ("c.fio", "[j]\nrw=randread\nsize=16m\niodpeth=4\n", &["iodpeth", "c.fio:4:1", "did you mean `iodepth`?"]),
        ("d.fio", "rw=randread\n", &["d.fio:1:1"]),
        ("e.fio", "[j]\nrw=randread\nsize=16m\nfilename=x\nbs=4z\n", &["4z", "e.fio:5:"]),
    ];
    for (name, text, said) in table {
        fs::write(place.file(name), text).expect("written");
        wrong_usage(&place, &format!("run {name}"), said);
    }
    fs::write(place.file("ok.fio"), "[j]\nrw=randread\nsize=16m\nfilename=x\n").expect("written");
    wrong_usage(&place, "run ok.fio --set iodepth=4", &["--set", "job file"]);
}

#[test]
fn targets_that_cannot_be_measured_are_named() {
    let place = Place::new();
    fs::write(place.file("small"), vec![1_u8; 4096]).expect("written");
    let table: &[(&str, i32, &[&str])] = &[
        ("io --target nowhere/f --size 16m", USAGE, &["nowhere/f does not exist", "help: name an existing file"]),
        ("io --target /dev/nosuchdisk --rw randwrite", USAGE, &["there is no device /dev/nosuchdisk", "help:"]),
        ("io --target /dev/null --size 16m", USAGE, &["/dev/null", "character device", "help:"]),
        ("io --target null --size 16m", USAGE, &["`null` has no data", "--engine null"]),
        ("io --target small --size 16m", USAGE, &["small has 4096 bytes", "16777216", "--size 4096"]),
        ("io --target . --size 900t", USAGE, &["needs", "free", "help: free some space, or ask for less: --size"]),
        (
            "run quick --target small --set size=4k --set bs=4k",
            REFUSED,
            &["small exists", "was not created by Fathom", "--overwrite", "help:"],
        ),
    ];
    for (words, code, said) in table {
        refuses(&place, words, *code, said);
    }
    assert_eq!(fs::read(place.file("small")).expect("kept"), vec![1_u8; 4096]);
}

#[test]
fn a_directory_without_space_and_a_read_only_one_stay_as_they_are() {
    let place = Place::new();
    let Some(tiny) = Mounted::ext4(&place, "tiny", 80 << 20, "rw") else { return };
    let target = tiny.path.display();
    refuses(&place, &format!("io --target {target} --size 32m"), USAGE, &["free", "help: free some space", "--size"]);
    assert!(listing_of(&tiny.path).is_empty());
    drop(tiny);

    let Some(fixed) = Mounted::ext4(&place, "fixed", 200 << 20, "ro") else { return };
    let target = fixed.path.display();
    for words in ["randread", "randwrite"] {
        let line = format!("io --target {target} --rw {words} --size 16m");
        refuses(&place, &line, USAGE, &["cannot prepare", "ead-only", "help: the file system is read-only"]);
    }
    assert!(listing_of(&fixed.path).is_empty());
}

#[test]
fn a_block_device_is_not_written_without_consent() {
    let place = Place::new();
    let content: Vec<u8> = (0..32_u32 << 20).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let Some(device) = LoopDevice::new(&place, &content) else { return };
    let path = &device.path;
    for rw in ["randwrite", "write", "randrw", "trim"] {
        let words = format!("io --target {path} --rw {rw} --runtime 200ms");
        let said: &[&str] = &["would be overwritten", "refused before anything was written", "--destroy"];
        refuses(&place, &words, REFUSED, said);
        refuses(&place, &format!("{words} --destroy another"), REFUSED, said);
    }
    refuses(&place, &format!("run quick --target {path} --set size=16m"), REFUSED, &["would be overwritten"]);
    assert!(fs::read(&device.image).expect("image") == content, "not a byte is changed");
    let read = place.step(&format!("io --target {path} --rw randread --runtime 200ms"));
    assert!(read["ios"].as_u64() > Some(0));
    assert!(fs::read(&device.image).expect("image") == content, "reading changes nothing");

    // With a file system on it, its signature must be named too.
    let made = std::process::Command::new("mkfs.ext4").args(["-q", "-F", path]).status();
    if made.is_ok_and(|s| s.success()) {
        let words = format!("io --target {path} --rw randwrite --runtime 200ms --destroy {}", device.name());
        refuses(&place, &words, REFUSED, &["carries", "ext", &format!("--destroy {}:ext", device.name())]);
        let step = place.step(&format!("{words}:ext"));
        assert!(step["ios"].as_u64() > Some(0), "with consent it is done");
    }
}

#[test]
fn a_mounted_device_is_never_written_whatever_is_named() {
    let place = Place::new();
    let Some(mounted) = Mounted::ext4(&place, "busy", 100 << 20, "rw") else { return };
    fs::write(mounted.path.join("precious"), "data").expect("written");
    let mounts = fs::read_to_string("/proc/self/mounts").expect("mounts");
    let point = mounted.path.to_str().expect("UTF-8");
    let device = mounts.lines().find(|l| l.contains(point)).and_then(|l| l.split(' ').next()).expect("mounted");
    let name = device.trim_start_matches("/dev/");
    let words = format!("io --target {device} --rw randwrite --destroy {name} --destroy {name}:ext");
    refuses(&place, &words, REFUSED, &["mounted", point, "refused before anything was written", "help:"]);
    assert_eq!(fs::read_to_string(mounted.path.join("precious")).expect("kept"), "data");
}

/// By `plan`, which opens nothing: a guard that failed here would cost the machine.
#[test]
fn the_drive_of_the_running_system_would_be_refused() {
    let place = Place::new();
    let mounts = fs::read_to_string("/proc/self/mounts").expect("mounts");
    let root = mounts.lines().filter_map(|l| l.split_once(' ')).find(|(_, rest)| rest.starts_with("/ "));
    let Some((device, _)) = root.filter(|(device, _)| device.starts_with("/dev/") && Path::new(device).exists()) else {
        return skipped("the root file system is on no device that can be seen");
    };
    let ended = place.run(&format!("plan quick --target {device}"));
    ended.expect(0, &[]);
    assert!(
        ended.out.contains("would be refused") && ended.out.contains("the drive of the running system"),
        "{}",
        ended.out
    );
}

#[test]
fn a_block_size_below_the_logical_block_of_a_device_is_refused() {
    let place = Place::new();
    let Some(zram) = Zram::new("64M") else { return };
    let ended = place.run(&format!("io --target {} --bs 512 --size 16m --runtime 200ms", zram.path()));
    ended.expect(FAILED, &[]);
    let said = format!("{}{}", ended.out, ended.err);
    for word in ["block size 512", "logical block of 4096 bytes", "help: ", "use a multiple of 4096"] {
        assert!(said.contains(word), "no `{word}` in {said}");
    }
    // A refused step is a result: it is kept and shown.
    let kept = &place.json("show last", 0)["steps"][0];
    assert_eq!(kept["state"], "refused");
    assert!(kept["reason"].as_str().is_some_and(|r| r.contains("logical block")));
}

#[test]
fn o_direct_on_tmpfs_is_refused_and_buffered_offered_by_name() {
    let place = Place::new();
    let mounted = Mounted::tmpfs(&place, "memory");
    let target = match &mounted {
        Some(m) => m.path.clone(),
        None if is_tmpfs(Path::new("/dev/shm")) => Path::new("/dev/shm").to_owned(),
        None => return skipped("no tmpfs"),
    };
    let before = listing_of(&target);
    let words = format!("io --target {} --size 16m --runtime 200ms", target.display());
    let ended = place.run(&words);
    ended.expect(FAILED, &["tmpfs", "no O_DIRECT", "`--direct 0`"]);
    assert_eq!(listing_of(&target), before);
    let step = place.step(&format!("{words} --direct 0"));
    assert_eq!(step["direct"], false);
    assert!(crate::cli::warns(&step, "page_cache"), "buffered is said: {}", step["warnings"]);
    assert_eq!(listing_of(&target), before);
}

/// A lab with one measured run.
fn a_lab(place: &Place) {
    place.run("io --target null --engine null --runtime 200ms").expect(0, &[]);
}

/// Commands that need the lab fail with these words and leave the file as it is.
fn lab_refused(place: &Place, said: &[&str]) {
    let bytes = fs::read(place.lab()).expect("the lab");
    for words in
        ["list", "show 1", "rm 1", "report 1", "export 1 --format json", "io --target . --size 16m --runtime 200ms"]
    {
        refuses(place, words, FAILED, said);
        assert!(fs::read(place.lab()).expect("the lab") == bytes, "{words}: the file is not changed");
    }
}

#[test]
fn a_file_that_is_no_lab_is_left_alone() {
    let place = Place::new();
    fs::write(place.lab(), "a letter to my grandmother, longer than a hundred bytes. ".repeat(40)).expect("written");
    lab_refused(&place, &["is not a Fathom lab", "help: nothing was changed", "--lab PATH"]);

    fs::remove_file(place.lab()).expect("removed");
    let other = Connection::open(place.lab()).expect("a database");
    other.execute_batch("CREATE TABLE letters (text TEXT); INSERT INTO letters VALUES ('dear');").expect("made");
    drop(other);
    lab_refused(&place, &["another program's SQLite database", "help: nothing was changed"]);
}

#[test]
fn a_lab_that_does_not_exist_is_said_by_commands_that_read() {
    let place = Place::new();
    for words in ["list", "show last", "rm 1", "report 1", "export 1 --format csv"] {
        refuses(&place, words, FAILED, &["there is no lab at", "fathom run quick", "--lab"]);
        assert!(!place.lab().exists(), "{words} makes no lab");
    }
    fs::create_dir(place.file("folder")).expect("made");
    refuses(&place, "list --lab folder", REFUSED, &["folder is a folder and not a file", "--lab PATH"]);
    refuses(
        &place,
        "io --target null --engine null --lab /proc/nothing/lab.db",
        FAILED,
        &["/proc/nothing", "--lab PATH"],
    );
}

#[test]
fn a_lab_of_a_newer_schema_is_left_alone() {
    let place = Place::new();
    a_lab(&place);
    let db = Connection::open(place.lab()).expect("a lab");
    db.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA user_version = 99;").expect("aged");
    drop(db);
    lab_refused(
        &place,
        &["schema version 99", "knows versions up to", "help: nothing was changed; use the newer fathom"],
    );
}

#[test]
fn a_truncated_lab_is_said_to_be_damaged_and_not_made_worse() {
    let place = Place::new();
    a_lab(&place);
    let whole = fs::read(place.lab()).expect("a lab");
    for keep in [100, 4096, whole.len() / 2, whole.len() - 4096] {
        fs::write(place.lab(), &whole[..keep]).expect("cut");
        let ended = place.run("show 1");
        ended.expect(FAILED, &["error: ", "lab.db", "help:"]);
        let ended = place.run("io --target . --size 16m --runtime 200ms");
        assert_eq!(ended.code, Some(FAILED), "cut to {keep}: {}", ended.err);
        assert_eq!(fs::metadata(place.lab()).expect("the lab").len() as usize, keep, "cut to {keep}: not written");
        assert!(place.listing().is_empty(), "cut to {keep}");
    }
    fs::write(place.lab(), &whole).expect("restored");
    place.run("show 1").expect(0, &[]);
}

#[test]
fn a_locked_lab_names_who_holds_it() {
    let place = Place::new();
    a_lab(&place);
    let holder = Connection::open(place.lab()).expect("a lab");
    holder.execute_batch("BEGIN IMMEDIATE; UPDATE run SET study = 'x';").expect("locked");
    place.run("show 1").expect(0, &[]);
    let pid = format!("process {}", std::process::id());
    // Both wait for the lock at the same time.
    let before = place.listing();
    let words = ["rm 1", "io --target . --size 16m --runtime 200ms"];
    for (words, running) in words.map(|words| (words, place.start(words))) {
        refused(&running.wait(), words, FAILED, &["is locked by", &pid, "help: wait until that process is done"]);
    }
    assert_eq!(place.listing(), before);
    holder.execute_batch("ROLLBACK").expect("unlocked");
    place.run("rm 1").expect(0, &[]);
}

#[test]
fn a_target_that_cannot_be_measured_leaves_no_empty_lab_behind() {
    let place = Place::new();
    for words in ["io --target nowhere/f", "run quick --target nowhere/f", "io --target . --size 1000000g"] {
        wrong_usage(&place, words, &["help:"]);
    }
}

#[test]
fn runs_that_do_not_exist_and_places_that_cannot_be_written_are_named() {
    let place = Place::new();
    a_lab(&place);
    let table: &[(&str, i32, &[&str])] = &[
        ("show 99", USAGE, &["no run 99", "it holds 1", "`fathom list`"]),
        ("show x", USAGE, &["`x` is not a run", "`last`"]),
        ("rm 99", USAGE, &["no run 99"]),
        ("report 1 -o nowhere/r.html", FAILED, &["nowhere/r.html", "--output"]),
        ("export 1 --format csv -o nowhere/r.csv", FAILED, &["nowhere/r.csv", "--output"]),
        ("import nothing.json", USAGE, &["cannot read nothing.json", "help:"]),
    ];
    for (words, code, said) in table {
        refuses(&place, words, *code, said);
    }
    fs::write(place.file("other.json"), "{\"a\": 1}").expect("written");
    refuses(&place, "import other.json", USAGE, &["other.json", "help:"]);
    fs::write(place.file("cut.json"), "{\"fio version\": \"fio-3.33\", \"jobs\": [").expect("written");
    refuses(&place, "import cut.json", USAGE, &["cut.json", "help:"]);
    assert_eq!(place.json("list", 0)["runs"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_full_output_does_not_pass_for_a_success() {
    let place = Place::new();
    a_lab(&place);
    let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else { return skipped("no /dev/full") };
    let status = std::process::Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(["show", "1", "--json"])
        .env("FATHOM_LAB", place.lab())
        .stdout(full)
        .stderr(std::process::Stdio::null())
        .status()
        .expect("runs");
    assert_eq!(status.code(), Some(FAILED));
}

#[test]
fn a_report_that_cannot_be_written_takes_nothing_from_the_result() {
    let place = Place::new();
    fs::create_dir(place.file("gone")).expect("a folder");
    let mut running = place.start("io --engine null --target null --runtime 1s --json -o gone/report.html");
    // The place of the report is checked before the lab is opened: now it may go.
    running.until("opens the lab", |_| place.lab().exists());
    fs::remove_dir(place.file("gone")).expect("removed");
    let ended = running.wait();
    ended.expect(FAILED, &["gone/report.html", "help:"]);
    assert!(ended.json()["steps"][0]["ios"].as_u64() > Some(0), "{}", ended.out);
}

#[test]
fn programs_get_names_as_they_are() {
    let place = Place::new();
    let name = "a\u{9b}31m\u{202e}b\u{1b}c";
    place.run(&format!("io --engine psync --rw read --size 64k --runtime 50ms -q --target {name}")).expect(0, &[]);
    let shown = place.run("show last --json");
    assert!(shown.out.contains(r"a\u009b31m\u202eb\u001bc"), "{}", shown.out);
    assert!(!shown.out.contains(['\u{9b}', '\u{202e}', '\u{1b}']), "safe to look at");
    assert_eq!(shown.json()["run"]["plan"]["steps"][0]["targets"][0], name);
    let csv = place.run("export last --format csv");
    assert!(csv.out.contains(name) && !csv.out.contains('\u{fffd}'), "{}", csv.out);
    // What is said on stderr is read by people alone.
    let refused = place.run(&format!("io --rw read --target {name}/x"));
    assert!(refused.err.contains("a\u{fffd}31m") && !refused.err.contains('\u{1b}'), "{}", refused.err);
}

/// SIGXFSZ ends a process that does not ask for anything else.
#[test]
fn a_limit_of_a_files_size_is_said() {
    let place = Place::new();
    for (words, code) in [
        ("io --target . --size 8m --rw write --runtime 100ms", 2),
        ("fio --name=a --rw=write --size=8m --filename=f", 2),
    ] {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &format!("ulimit -f 2048; exec \"$0\" {words}"), env!("CARGO_BIN_EXE_fathom")]);
        shell.current_dir(place.work()).env("FATHOM_LAB", place.lab()).env("FATHOM_IDLE_BASELINE", "50ms");
        let ended = shell.output().expect("sh runs");
        let said = String::from_utf8_lossy(&ended.stdout) + String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(code), "{words}: {said}");
        assert!(said.contains("File too large"), "{words}: {said}");
    }
}

#[test]
fn help_that_cannot_be_written_is_an_error() {
    for words in ["--help", "io --help", "--version", "help run"] {
        let mut shell = std::process::Command::new("sh");
        let ended =
            shell.args(["-c", &format!("exec \"$0\" {words} >/dev/full"), env!("CARGO_BIN_EXE_fathom")]).output();
        let ended = ended.expect("sh runs");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{words}: {said}");
        assert!(said.contains("cannot write to standard output"), "{words}: {said}");
    }
}

#[test]
fn what_is_asked_for_and_not_done_is_said_to_programs_too() {
    let place = Place::new();
    let job = "fio --name=a --rw=read --size=64k --filename=a.dat --write_bw_log=log --log_avg_msec=100";
    place.run(job).expect(0, &["write_bw_log: no log file is written"]);
    let load = "io --target . --size 64k --rw randread --runtime 10ms -q";
    place
        .run(&format!("{} --destroy NOSUCH", load.trim_end_matches(" -q")))
        .expect(0, &["--destroy NOSUCH has no effect"]);
    let contradiction = place.run(&format!("{load} --set read_pct=0"));
    contradiction.expect(2, &["read_pct 0 contradicts rw=randread", "set rw=randrw"]);
}

/// Without the check the kernel ends the process, or an allocation does.
#[test]
fn memory_beyond_a_limit_is_refused_with_both_figures() {
    let place = Place::new();
    let group = PathBuf::from(format!("/sys/fs/cgroup/memory/fathom-test-{}", std::process::id()));
    let load = "io --target null --engine null --bs 1m --numjobs 4 --iodepth 512 --runtime 10ms";
    let mut limits = vec![("ulimit -v 1500000".to_owned(), load, "are left of its address space (ulimit -v)")];
    let is_made = std::fs::create_dir(&group).and_then(|()| std::fs::write(group.join("memory.limit_in_bytes"), "64m"));
    match is_made {
        Ok(()) => limits.push((
            format!("echo $$ >{}/cgroup.procs", group.display()),
            load,
            "MiB are left in its control group",
        )),
        Err(error) => skipped(&format!("no control group for memory: {error}")),
    }
    let limited = |limit: &str, words: &str| {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &format!("{limit}; exec \"$0\" {words}"), env!("CARGO_BIN_EXE_fathom")]);
        shell.current_dir(place.work()).env("FATHOM_LAB", place.lab()).env("FATHOM_IDLE_BASELINE", "50ms");
        let ended = shell.output().expect("sh runs");
        (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
    };
    for (limit, words, said) in limits {
        let (code, err) = limited(&limit, words);
        assert!(code == Some(1) && err.contains(said), "{limit}: {code:?} {err}");
    }
    let _ = std::fs::remove_dir(&group);
    // Into less than its own size the kernel or the dynamic linker (127) does not even load the program.
    let mut loaded = (5..).map(|step| limited(&format!("ulimit -v {}", step * 4_000), "list"));
    let (code, err) = loaded.find(|(code, _)| code.is_some_and(|code| code != 127)).expect("some size");
    assert!(code == Some(1) && err.contains("needs 32 MiB of address space, and"), "{code:?} {err}");
}

/// Making the files of such a load takes minutes, whatever the disk.
#[test]
fn files_that_a_time_budget_does_not_suffice_for_are_fewer_and_said() {
    let place = Place::new();
    let study = "[defaults]\nruntime=\"1s\"\nfilesize=\"0\"\n[[ladder]]\nrw=\"filestat\"\nnrfiles=1000000\n";
    fs::write(place.file("many.toml"), study).expect("written");
    let begun = std::time::Instant::now();
    let ended = place.run("run many.toml --target . --time-budget 3s");
    ended.expect(0, &[]);
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    let said = format!("{}{}", ended.out, ended.err);
    assert!(said.contains("files per thread instead of 1000000"), "{said}");
}
