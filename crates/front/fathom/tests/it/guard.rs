//! The guard and the journal through the program itself, on loop devices that each test makes.

use std::fs;
use std::path::Path;

use crate::cli::machine::{LoopDevice, Mounted, Partition, SwapFile, tool};
use crate::cli::{Place, Running, skipped};

const MIB: usize = 1 << 20;

/// A randwrite on the device; it must be refused in these words, and not a byte may have changed.
fn refused(place: &Place, device: &LoopDevice, target: &str, destroy: &str, words: &[&str]) {
    let before = fs::read(&device.image).expect("the image");
    let ended = place.run(&format!("io --target {target} --rw randwrite --runtime 100ms --quiet {destroy}"));
    ended.expect(3, words);
    assert!(fs::read(&device.image).expect("the image") == before, "{target}: the device was changed");
}

#[test]
fn a_device_is_written_only_when_it_is_named_and_its_content_too() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place, &vec![0; 16 * MIB]) else { return };
    let (path, name) = (device.path.clone(), device.name().to_owned());
    let unnamed = [&*format!("{path} would be overwritten"), &*format!("--destroy {name}"), "refused before anything"];
    refused(&place, &device, &path, "", &unnamed);
    refused(&place, &device, &path, "--destroy loop99", &unnamed);
    if tool("mkfs.ext4", &["-q", "-F", &path]).is_none() {
        return;
    }
    let carries = [&*format!("{path} carries an ext2/3/4 file system"), &*format!("--destroy {name}:ext")];
    refused(&place, &device, &path, &format!("--destroy {name}"), &carries);
    // Reading needs no consent, and changes nothing.
    let before = fs::read(&device.image).expect("the image");
    place.run(&format!("io --target {path} --rw randread --runtime 100ms --quiet")).expect(0, &[]);
    assert!(fs::read(&device.image).expect("the image") == before);
    let step = place.step(&format!("io --target {path} --rw randwrite --runtime 200ms --destroy {name}:ext"));
    assert!(step["ios"].as_u64().is_some_and(|n| n > 0));
    assert!(fs::read(&device.image).expect("the image") != before, "nothing was written");
    let words = format!("io --target {path} --rw randwrite --runtime 50ms --destroy {name}:ext --destroy loop99");
    let ended = place.run(&words);
    ended.expect(0, &["--destroy loop99 has no effect"]);
    assert_eq!(ended.err.matches("has no effect").count(), 1, "{}", ended.err);
}

#[test]
fn a_mounted_device_is_refused_under_every_name_and_whatever_is_destroyed() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place, &vec![0; 16 * MIB]) else { return };
    if tool("mkfs.ext4", &["-q", "-F", &device.path]).is_none() {
        return;
    }
    let Some(mounted) = Mounted::new(&place, "mount", &[&device.path]) else { return };
    let at = mounted.path.to_str().expect("UTF-8");
    let alias = place.beside("alias");
    std::os::unix::fs::symlink(&device.path, &alias).expect("a link");
    let destroy = format!("--destroy {0} --destroy {0}:ext --destroy {1}", device.name(), device.path);
    let words = [&*format!("{} holds a mounted file system", device.path), at];
    // The journal of the file system may be written at any time, so the device is quiet first.
    tool("mount", &["-o", "remount,ro", at]);
    refused(&place, &device, &device.path.clone(), &destroy, &words);
    refused(&place, &device, alias.to_str().expect("UTF-8"), &destroy, &words);
}

#[test]
fn what_a_device_carries_is_named_and_must_be_destroyed_by_its_name() {
    for (word, what, program, args) in [
        ("ext", "an ext2/3/4 file system", "mkfs.ext4", &["-q", "-F"][..]),
        ("xfs", "an XFS file system", "mkfs.xfs", &["-q", "-f", "--unsupported"]),
        ("btrfs", "a btrfs file system", "mkfs.btrfs", &["-q", "-f", "--mixed"]),
        ("swap", "swap space", "mkswap", &["-q"]),
    ] {
        let place = Place::new();
        let Some(device) = LoopDevice::new(&place, &vec![0; 32 * MIB]) else { return };
        let name = device.name().to_owned();
        if tool(program, &[args, &[&device.path]].concat()).is_none() {
            continue;
        }
        let carries = format!("{} carries {what}", device.path);
        let help = format!("--destroy {name}:{word}");
        refused(&place, &device, &device.path.clone(), &format!("--destroy {name}"), &[&carries, &help]);
        refused(&place, &device, &device.path.clone(), &format!("--destroy {name}:zfs"), &[&carries, &help]);
    }
}

#[test]
fn a_device_with_partitions_is_refused_for_what_is_in_them() {
    let place = Place::new();
    let mut content = vec![0; 24 * MIB];
    content[..512].copy_from_slice(&Partition::table(16 * MIB));
    let Some(device) = LoopDevice::new(&place, &content) else { return };
    let (path, name) = (device.path.clone(), device.name().to_owned());
    let table = [&*format!("{path} carries an MBR partition table"), &*format!("--destroy {name}:mbr")];
    refused(&place, &device, &path, &format!("--destroy {name}"), &table);
    let Some(partition) = Partition::of(&device) else { return };
    let quiet = ["-q", "-F", "-O", "^has_journal", "-E", "lazy_itable_init=0", &partition.path];
    if tool("mkfs.ext4", &quiet).is_none() {
        return;
    }
    let inside = ["an ext2/3/4 file system", &*format!("{name}p1"), &*format!("--destroy {name}:")];
    refused(&place, &device, &path, &format!("--destroy {name}:mbr"), &inside);
    refused(&place, &device, &partition.path, &format!("--destroy {name}"), &inside[..1]);

    let Some(mounted) = Mounted::new(&place, "data", &["-o", "ro", &partition.path]) else { return };
    let destroy = format!("--destroy {name} --destroy {name}:mbr+ext");
    let at = format!("{name}p1 on {}", mounted.path.to_str().expect("UTF-8"));
    refused(&place, &device, &path, &destroy, &["holds a mounted file system", &at]);
    refused(&place, &device, &partition.path, &destroy, &["holds a mounted file system", &at]);
    let alias = place.beside("by-name");
    std::os::unix::fs::symlink(&partition.path, &alias).expect("a link");
    refused(&place, &device, alias.to_str().expect("UTF-8"), &destroy, &["holds a mounted file system", &at]);
}

#[test]
fn the_device_of_a_swap_file_in_use_is_refused() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place, &vec![0; 32 * MIB]) else { return };
    let (path, name) = (device.path.clone(), device.name().to_owned());
    if tool("mkfs.ext4", &["-q", "-F", "-O", "^has_journal", "-E", "lazy_itable_init=0", &path]).is_none() {
        return;
    }
    let Some(mounted) = Mounted::new(&place, "data", &["-o", "noatime", &path]) else { return };
    let canary = mounted.path.join("canary");
    fs::write(&canary, vec![0xA5; MIB]).expect("a file");
    let Some(_swap) = SwapFile::new(&mounted.path.join("swap file"), 4 * MIB) else { return };
    let line =
        format!("io --target {path} --rw randwrite --runtime 100ms --quiet --destroy {name}:ext --destroy {name}");
    place.run(&line).expect(3, &[&format!("{path} holds a"), "/data"]);
    // A device in use may change under the test; what nobody else writes to may not.
    tool("sync", &[]);
    let image = fs::read(&device.image).expect("the image");
    let untouched = image.chunks_exact(1024).filter(|block| block.iter().all(|b| *b == 0xA5)).count();
    assert_eq!(untouched, MIB / 1024, "blocks of the canary");
}

#[test]
fn a_device_that_others_are_built_on_is_refused() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place, &vec![0; 16 * MIB]) else { return };
    let (path, name) = (device.path.clone(), device.name().to_owned());
    let destroy = format!("--destroy {name}");
    if let Some(upper) = tool("losetup", &["-f", "--show", &path]) {
        let held = format!("{path} is in use: the loop device {upper} shows ");
        refused(&place, &device, &path, &destroy, &[&held, &format!("losetup -d {upper}")]);
        tool("losetup", &["-d", &upper]);
    }
    if !fs::read_to_string("/proc/misc").is_ok_and(|m| m.contains("device-mapper")) {
        return skipped("this kernel has no device mapper");
    }
    let upper = format!("fathom-guard-{}", std::process::id());
    let table = format!("0 {} linear {path} 0", 16 * MIB / 512);
    if tool("dmsetup", &["create", &upper, "--table", &table]).is_some() {
        refused(&place, &device, &path, &destroy, &[&format!("{path} is in use by dm-"), "take"]);
        tool("dmsetup", &["remove", &upper]);
    }
}

#[test]
fn a_member_of_an_array_is_refused_while_it_runs_and_after() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place, &vec![0; 16 * MIB]) else { return };
    if !Path::new("/proc/mdstat").exists() {
        return skipped("this kernel has no md arrays");
    }
    let (path, name) = (device.path.clone(), device.name().to_owned());
    let array = format!("/dev/md/fathom-{}", std::process::id());
    let create = ["--create", &array, "--run", "--force", "--level=0", "--raid-devices=1", &path];
    if tool("mdadm", &create).is_none() {
        return;
    }
    refused(&place, &device, &path, &format!("--destroy {name}"), &[&format!("{path} is in use by md")]);
    tool("mdadm", &["--stop", &array]);
    let carries = [&*format!("{path} carries a Linux RAID (md) member"), &*format!("--destroy {name}:md")];
    refused(&place, &device, &path, &format!("--destroy {name}"), &carries);
}

fn read_ahead(device: &LoopDevice) -> String {
    let path = format!("/sys/block/{}/queue/read_ahead_kb", device.name());
    fs::read_to_string(path).expect("an attribute").trim().to_owned()
}

/// What a run that was killed in the middle of a changed setting leaves: the value, and the journal's lines.
fn killed_run(place: &Place, device: &LoopDevice, kept: bool) -> String {
    let before = read_ahead(device);
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("a boot id");
    let sequence = fs::read_to_string(format!("/sys/block/{}/diskseq", device.name())).ok();
    let disk = sequence.map_or("null".to_owned(), |s| format!("\"{}\"", s.trim()));
    let lines = format!(
        "{{\"line\":\"owner\",\"version\":1,\"pid\":99999999,\"boot_id\":\"{}\",\"command\":\"fathom run tune\",\
         \"started_unix_ns\":7,\"kept\":{kept}}}\n\
         {{\"line\":\"change\",\"id\":1,\"setting\":{{\"kind\":\"queue\",\"device\":\"{}\",\"attribute\":\
         \"read_ahead_kb\"}},\"bearer\":{disk},\"from\":\"{before}\",\"to\":\"64\"}}\n\
         {{\"line\":\"applied\",\"id\":1}}\n",
        boot.trim(),
        device.name(),
    );
    fs::create_dir_all(place.beside("journal")).expect("a folder");
    fs::write(place.beside("journal").join("settings-7-99999999.jsonl"), lines).expect("a journal");
    fs::write(format!("/sys/block/{}/queue/read_ahead_kb", device.name()), "64").expect("set");
    assert_eq!(read_ahead(device), "64");
    before
}

fn journals(place: &Place) -> usize {
    let entries = fs::read_dir(place.beside("journal")).expect("a folder").flatten();
    entries.filter(|e| Path::new(&e.file_name()).extension().is_some_and(|x| x == "jsonl")).count()
}

#[test]
fn restore_brings_back_what_a_killed_run_left_changed() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place, &vec![0; 4 * MIB]) else { return };
    let before = killed_run(&place, &device, false);
    let setting = format!("read_ahead_kb of {}", device.name());

    let listed = place.run("restore --list");
    listed.expect(0, &[]);
    assert!(listed.out.contains("`fathom run tune` (process 99999999) was killed"), "{}", listed.out);
    assert!(listed.out.contains(&format!("{setting}: 64 instead of {before}")), "{}", listed.out);
    place.run("inspect").expect(0, &["was killed and left changed", &setting, "fathom restore"]);
    assert_eq!(read_ahead(&device), "64", "looking changes nothing");

    let restored = place.run("restore");
    restored.expect(0, &[]);
    assert_eq!(restored.out, format!("{setting}: 64 -> {before}\n"));
    assert_eq!((read_ahead(&device), journals(&place)), (before, 0));
    assert_eq!(place.run("restore").out, "Nothing to restore.\n");
    assert_eq!(place.json("restore", 0)["restored"], serde_json::json!([]));
}

#[test]
fn restore_brings_back_what_a_run_changed_that_was_killed_while_it_measured() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place, &vec![0; 4 * MIB]) else { return };
    let before = read_ahead(&device);
    let other = if before == "64" { "32" } else { "64" };
    let plan = "[study]\nname = \"turns\"\nquestion = \"Does it help?\"\n\n[defaults]\nengine = \"psync\"\n\
                runtime = \"300ms\"\n\n[[ladder]]\nrw = [\"randread\"]\n";
    fs::write(place.file("turns.toml"), plan).expect("a plan");
    let words = format!("run turns.toml --target {} --versus read_ahead_kb={other}", device.path);
    let mut running = place.start(&words);
    running.until("the change", |_| read_ahead(&device) == other);
    running.signal("KILL");
    assert_eq!(running.wait().code, None, "killed");
    // Nobody was left to put it back.
    assert_eq!((read_ahead(&device).as_str(), journals(&place)), (other, 1));
    let restored = place.run("restore");
    restored.expect(0, &[]);
    assert_eq!(restored.out, format!("read_ahead_kb of {}: {other} -> {before}\n", device.name()));
    assert_eq!((read_ahead(&device), journals(&place)), (before, 0));
    // What was measured before is kept.
    assert!(place.json("list", 0)["runs"].as_array().is_some_and(|runs| runs.len() == 1));
}

#[test]
fn the_next_measurement_restores_before_it_measures() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place, &vec![0; 4 * MIB]) else { return };
    let before = killed_run(&place, &device, false);
    let words = format!("io --target {} --rw randread --runtime 100ms --quiet", device.path);
    place.run(&words).expect(0, &["left changed by a run that was killed", &format!("64 -> {before}")]);
    assert_eq!(read_ahead(&device), before);
    // What somebody made to stay stays while others measure.
    let before = killed_run(&place, &device, true);
    place.run(&words).expect(0, &[]);
    assert_eq!(read_ahead(&device), "64");
    place.run("restore").expect(0, &[]);
    assert_eq!(read_ahead(&device), before);
}

#[test]
fn what_somebody_else_changed_since_is_reported_and_left_alone() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place, &vec![0; 4 * MIB]) else { return };
    killed_run(&place, &device, false);
    fs::write(format!("/sys/block/{}/queue/read_ahead_kb", device.name()), "32").expect("set");
    let ended = place.run("restore");
    ended.expect(1, &["it was left alone"]);
    assert!(ended.out.contains("it was changed after Fathom had set \"64\""), "{}", ended.out);
    assert_eq!((read_ahead(&device), journals(&place)), ("32".to_owned(), 0));
}

#[test]
fn fixes_are_named_and_a_captured_machine_is_not_changed() {
    let place = Place::new();
    place.run("inspect --fix disk.schedular").expect(2, &["there is no fix for disk.schedular", "disk.scheduler?"]);
    place.run("inspect --fix link.trained-down").expect(2, &["rules that can be followed", "cpu.powersave"]);
    place.run("inspect --root /tmp --fix").expect(2, &["--root", "--fix"]);
    place.run("inspect --yes").expect(2, &["--fix"]);
}

#[test]
fn a_broken_journal_is_reported_by_file_and_line_and_stops_no_measurement() {
    let place = Place::new();
    fs::create_dir_all(place.beside("journal")).expect("a folder");
    fs::write(place.beside("journal").join("settings-1-1.jsonl"), "{\"line\":\"nonsense\"}\n").expect("a journal");
    place.run("inspect").expect(0, &["settings-1-1.jsonl", "line 1"]);
    place.run("io --engine null --target null --runtime 50ms --quiet").expect(0, &["settings-1-1.jsonl", "line 1"]);
    // Reported once, it is put aside and holds nobody up any more.
    assert_eq!(journals(&place), 0);
    place.run("restore").expect(0, &[]);
}

/// The kernel forgets the parameters of a scheduler that is changed.
#[test]
fn a_changed_scheduler_comes_back_with_its_parameters() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place, &vec![0; 4 * MIB]) else { return };
    let queue = std::path::PathBuf::from(format!("/sys/block/{}/queue", device.name()));
    let value = |name: &str| fs::read_to_string(queue.join(name)).expect("an attribute").trim().to_owned();
    if fs::write(queue.join("scheduler"), "mq-deadline").is_err() {
        return skipped("no mq-deadline");
    }
    fs::write(queue.join("iosched/read_expire"), "100").expect("set");
    fs::write(queue.join("nr_requests"), "77").expect("set");
    fs::write(place.file("turns.toml"), "[defaults]\nruntime=\"50ms\"\n[[ladder]]\nrw=\"randread\"\niodepth=4\n")
        .expect("written");
    let begin = format!("run turns.toml --target {} --versus scheduler=none", device.path);
    place.run(&begin).expect(0, &[]);
    assert_eq!((value("iosched/read_expire"), value("nr_requests")), ("100".to_owned(), "77".to_owned()));
    let mut running = place.start(&begin);
    running.until("the setting", |_| value("scheduler").contains("[none]"));
    running.signal("KILL");
    running.wait();
    place.run("restore").expect(0, &[]);
    assert!(value("scheduler").contains("[mq-deadline]"));
    assert_eq!((value("iosched/read_expire"), value("nr_requests")), ("100".to_owned(), "77".to_owned()));
}

#[test]
fn two_runs_that_change_one_setting_say_that_they_are_in_each_others_way() {
    let place = Place::new();
    let Some(device) = LoopDevice::new(&place, &vec![0; 4 * MIB]) else { return };
    let scheduler = std::path::PathBuf::from(format!("/sys/block/{}/queue/scheduler", device.name()));
    if fs::write(&scheduler, "mq-deadline").is_err() {
        return skipped("no mq-deadline");
    }
    let words = format!(
        "run tune --target {} --versus scheduler=none --set rw=randread --set iodepth=1 --set runtime=50ms \
         --set ramp_time=0 -q",
        device.path
    );
    let both = [place.start(&words), place.start(&words)].map(Running::wait);
    for ended in &both {
        // One may have ended before the other began.
        let says_why = ended.err.contains("is in use by another Fathom right now (process ");
        assert!(ended.code == Some(0) || ended.code == Some(1) && says_why, "{:?}: {}", ended.code, ended.err);
    }
    assert!(fs::read_to_string(&scheduler).expect("an attribute").contains("[mq-deadline]"));
}
