//! `fathom inspect`: this machine, captured machines, advice for named drives, bad input.

use std::fs;
use std::path::Path;

use crate::cli::Place;
use serde_json::Value;

/// A machine that a test can hold in its hand: two nodes, one Gen4 x4 drive on node 1 that trained at Gen3 x2, without
/// poll queues, with mq-deadline.
fn build(root: &Path) {
    let file = |path: &str, content: &str| {
        let full = root.join(path);
        fs::create_dir_all(full.parent().expect("a folder")).expect("folders");
        fs::write(full, content).expect("a file");
    };
    let link = |path: &str, target: &str| {
        let full = root.join(path);
        fs::create_dir_all(full.parent().expect("a folder")).expect("folders");
        std::os::unix::fs::symlink(target, full).expect("a link");
    };
    file("proc/cpuinfo", "model name\t: Test CPU\n");
    file("proc/meminfo", "MemTotal: 8388608 kB\n");
    file("proc/sys/kernel/osrelease", "6.8.0\n");
    file("proc/self/status", "Cpus_allowed_list:\t0-3\n");
    file("proc/self/mountinfo", "27 1 259:0 / /data rw - ext4 /dev/nvme0n1 rw\n");
    file("sys/devices/system/cpu/online", "0-3\n");
    for node in 0..2 {
        file(&format!("sys/devices/system/node/node{node}/cpulist"), &format!("{}-{}\n", node * 2, node * 2 + 1));
    }
    for cpu in 0..4 {
        file(&format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"), &format!("{cpu}\n"));
        file(&format!("sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id"), &format!("{}\n", cpu / 2));
    }
    let port = "pci0000:80/0000:80:01.0";
    let drive = format!("{port}/0000:81:00.0");
    for (path, class) in [(port, "0x060400"), (&drive[..], "0x010802")] {
        let home = format!("sys/devices/{path}");
        for (name, value) in [
            ("class", class),
            ("numa_node", "1"),
            ("current_link_speed", "8.0 GT/s PCIe"),
            ("current_link_width", "2"),
            ("max_link_speed", "16.0 GT/s PCIe"),
            ("max_link_width", "4"),
        ] {
            file(&format!("{home}/{name}"), &format!("{value}\n"));
        }
        let address = path.rsplit('/').next().expect("an address");
        link(&format!("sys/bus/pci/devices/{address}"), &format!("../../../devices/{path}"));
    }
    let controller = format!("{drive}/nvme/nvme0");
    let names =
        [("model", "FAST"), ("serial", "SECRET1"), ("state", "live"), ("transport", "pcie"), ("queue_count", "5")];
    for (name, value) in names {
        file(&format!("sys/devices/{controller}/{name}"), &format!("{value}\n"));
    }
    let home = format!("{controller}/nvme0n1");
    for (name, value) in [
        ("dev", "259:0"),
        ("size", "2048"),
        ("queue/logical_block_size", "512"),
        ("queue/physical_block_size", "512"),
        ("queue/scheduler", "none [mq-deadline]"),
    ] {
        file(&format!("sys/devices/{home}/{name}"), &format!("{value}\n"));
    }
    file("sys/module/nvme/parameters/poll_queues", "0\n");
    link(&format!("sys/devices/{home}/device"), "../../nvme0");
    link("sys/class/nvme/nvme0", &format!("../../devices/{controller}"));
    link("sys/block/nvme0n1", &format!("../devices/{home}"));
    link("sys/class/block/nvme0n1", &format!("../../devices/{home}"));
    link("sys/dev/block/259:0", &format!("../../devices/{home}"));
}

fn advice_ids(document: &Value) -> Vec<&str> {
    document["advice"].as_array().expect("advice").iter().map(|a| a["id"].as_str().expect("an id")).collect()
}

#[test]
fn this_machine_is_shown_as_text_and_as_json() {
    let place = Place::new();
    let document = place.json("inspect", 0);
    let cpus = document["inventory"]["processors"]["topology"]["cpus"].as_array().expect("CPUs").len();
    assert!(cpus > 0);
    let text = place.run("inspect --details");
    text.expect(0, &[]);
    assert!(text.out.contains(&format!("{cpus} CPU")) && text.out.contains("\nAdvice"), "{}", text.out);
    assert!(!place.lab().exists(), "inspect needs no lab");
}

#[test]
fn a_machine_in_a_folder_gets_its_advice() {
    let place = Place::new();
    build(&place.file("tree"));
    let text = place.run("inspect --root tree --details");
    text.expect(0, &[]);
    for words in
        ["Gen3 x2 (1.75 GB/s usable) of Gen4 x4", "▼ trained down", "serial SECRET1", "/data · ext4 · on nvme0n1"]
    {
        assert!(text.out.contains(words), "no `{words}` in\n{}", text.out);
    }
    let ids = |words: &str| -> Vec<String> {
        let document = place.json(&format!("inspect --root tree {words}"), 0);
        advice_ids(&document).into_iter().map(ToOwned::to_owned).collect()
    };
    let all = ids("");
    for id in ["link.trained-down", "disk.scheduler", "queues.no-poll"] {
        assert!(all.iter().any(|i| i == id), "{id} is not in {all:?}");
    }
    assert!(ids("--target nvme0n1 --cpus 0-1").contains(&"numa.remote-drive".to_owned()));
    assert!(!ids("--target nvme0n1 --cpus 2-3").iter().any(|i| i.starts_with("numa")));
}

#[test]
fn a_capture_shows_the_same_machine_elsewhere_without_serial_numbers() {
    let place = Place::new();
    build(&place.file("tree"));
    place.run("inspect --root tree --capture plain.tar").expect(0, &["without serial numbers"]);
    place.run("inspect --root tree --capture full.tar --with-serials").expect(0, &["with serial numbers"]);
    let here = place.json("inspect --root tree", 0);
    assert_eq!(place.json("inspect --root full.tar", 0), here);
    let mut nameless = here;
    nameless["inventory"]["drives"][0]["serial"] = Value::Null;
    assert_eq!(place.json("inspect --root plain.tar", 0), nameless);
    let bytes = fs::read(place.file("plain.tar")).expect("a capture");
    assert!(!String::from_utf8_lossy(&bytes).contains("SECRET1"));
}

#[test]
fn a_capture_of_this_machine_has_its_cpus_and_drives() {
    let place = Place::new();
    place.run("inspect --capture here.tar --with-serials").expect(0, &["files written to here.tar"]);
    let (here, there) = (place.json("inspect", 0), place.json("inspect --root here.tar", 0));
    for part in ["processors", "pcie", "lanes", "settings"] {
        assert_eq!(there["inventory"][part], here["inventory"][part], "{part}");
    }
    let names = |document: &Value| -> Vec<Value> {
        let drives = document["inventory"]["drives"].as_array().expect("drives");
        drives
            .iter()
            .map(|d| d["name"].clone())
            .filter(|n| !n.as_str().is_some_and(|n| n.starts_with("loop")))
            .collect()
    };
    assert_eq!(names(&there), names(&here));
}

#[test]
fn a_folder_that_lacks_a_part_of_sys_shows_the_rest() {
    let place = Place::new();
    let tree = place.file("tree");
    build(&tree);
    // As other programs copy it: without the class of block devices, and with the maps of the nodes alone.
    fs::remove_dir_all(tree.join("sys/class/block")).expect("a class");
    for (node, map) in [("node0", "3"), ("node1", "c")] {
        let home = tree.join("sys/devices/system/node").join(node);
        fs::remove_file(home.join("cpulist")).expect("a list");
        fs::write(home.join("cpumap"), format!("{map}\n")).expect("a map");
    }
    let shown = place.run("inspect --root tree --details");
    for words in ["Machine: 2 nodes", "node 0 · CPUs 0-1", "node 1 · CPUs 2-3", "nvme0n1"] {
        assert!(shown.out.contains(words), "{words}: {}", shown.out);
    }
    fs::remove_dir_all(tree.join("sys/devices/system")).expect("the CPUs");
    let shown = place.run("inspect --root tree --details");
    assert!(shown.out.contains("Machine: CPUs not seen, 1 drive") && !shown.out.contains("0 CPUs"), "{}", shown.out);
    fs::remove_dir_all(tree.join("sys/block")).expect("the drives");
    fs::create_dir_all(tree.join("sys/block")).expect("a folder");
    fs::write(tree.join("sys/block/sda"), "../devices/pci0/block/sda").expect("no link");
    let refused =
        ["neither CPUs nor drives", "it contains proc and sys", "/sys/block/sda: a file that contains the target"];
    place.run("inspect --root tree").expect(1, &refused);
}

#[test]
fn bad_input_is_refused_with_a_way_out() {
    let place = Place::new();
    build(&place.file("tree"));
    fs::create_dir(place.file("empty")).expect("a folder");
    fs::write(place.file("words.tar"), "these are words").expect("a file");
    place.run("inspect --root nowhere").expect(2, &["cannot open nowhere", "name a capture"]);
    place.run("inspect --root empty").expect(1, &["neither CPUs nor drives"]);
    place.run("inspect --root words.tar").expect(1, &["words.tar", "fathom inspect --capture"]);
    place.run("inspect --root tree --target sdq").expect(2, &["there is no drive sdq", "nvme0n1"]);
    place.run("inspect --root tree --cpus 9").expect(2, &["CPU 9 is not online", "0-3"]);
    place.run("inspect --root tree --cpus 3-1").expect(2, &["descends", "help: "]);
    place.run("inspect --root tree --capture words.tar").expect(3, &["words.tar exists", "--capture"]);
    assert_eq!(fs::read_to_string(place.file("words.tar")).expect("untouched"), "these are words");
}

#[test]
fn who_is_not_root_is_told_what_root_would_add() {
    if !crate::cli::machine::is_root("becoming an ordinary user") {
        return;
    }
    // Somewhere that an ordinary user reaches.
    let dir = tempfile::Builder::new().prefix("fathom-user").tempdir().expect("a folder");
    let program = dir.path().join("fathom");
    fs::copy(env!("CARGO_BIN_EXE_fathom"), &program).expect("a copy");
    for path in [dir.path(), &program] {
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("permissions");
    }
    let run = |words: &[&str]| {
        let mut command = std::process::Command::new(&program);
        std::os::unix::process::CommandExt::uid(&mut command, 65_534);
        command.args(words).env("HOME", dir.path()).env("FATHOM_JOURNAL", dir.path().join("journal"));
        command.output().expect("fathom starts")
    };
    let document: Value = serde_json::from_slice(&run(&["inspect", "--json"]).stdout).expect("JSON");
    let missing = document["inventory"]["missing"].as_array().expect("a list");
    let text = String::from_utf8(run(&["inspect", "--details"]).stdout).expect("UTF-8");
    assert!(text.contains("\nAdvice"), "{text}");
    if missing.iter().any(|m| m["why"] == "needs_root") {
        assert!(text.contains("root would add it"), "{text}");
    } else {
        crate::cli::skipped("nothing on this machine needs root to be seen");
    }
    // A kernel that shows its drives' identity pages to root alone is the usual case where there are NVMe drives.
    let hidden = Path::new("/sys/class/nvme").read_dir().is_ok_and(|mut all| all.next().is_some());
    assert!(!hidden || text.contains("root would add it"), "{text}");
}
