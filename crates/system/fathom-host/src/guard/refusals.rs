//! The refusals of the guard, one machine each, with what people read; and that no byte of any device changed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::device::check_devices;
use super::tests::MIB;
use super::*;
use crate::disk::device_by_name;
use crate::root::tree::Tree;

const BUS: &str = "pci0000:40/0000:40:01.0/0000:41:00.0/nvme/nvme0";
const SYSTEM: &str = "27 1 254:0 / / rw - ext4 /dev/vda rw\n";

/// `vda` holds the system; `nvme0n1` (serial S1, partition 1 from 256 KiB on) is free and blank, as is its twin `sdb`.
fn machine() -> Tree {
    let tree = Tree::new();
    let sectors = (MIB / 512) as u64;
    tree.disk("vda", "254:0", sectors, "pci0/virtio1")
        .disk("nvme0n1", "259:0", sectors, BUS)
        .disk("sdb", "8:16", sectors, "pci0/ata1/host0")
        .partition("nvme0n1", BUS, "nvme0n1p1", "259:1")
        .file(&format!("sys/devices/{BUS}/block/nvme0n1/nvme0n1p1/start"), "512\n")
        .file(&format!("sys/devices/{BUS}/block/nvme0n1/nvme0n1p1/size"), "1024\n")
        .file(&format!("sys/devices/{BUS}/block/nvme0n1/device/serial"), "S1\n")
        .file("sys/devices/pci0/ata1/host0/block/sdb/device/serial", "S2\n")
        .link("sys/bus/pci/devices/0000:41:00.0", "../../../devices/pci0000:40/0000:40:01.0/0000:41:00.0")
        .file("proc/self/mountinfo", SYSTEM)
        .file("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n");
    for node in ["vda", "nvme0n1", "nvme0n1p1", "sdb"] {
        tree.file(&format!("dev/{node}"), vec![0u8; MIB]);
    }
    tree
}

fn mounted(tree: &Tree, lines: &str) {
    tree.file("proc/self/mountinfo", format!("{SYSTEM}{lines}"));
}

fn swapping(tree: &Tree, line: &str) {
    tree.file("proc/swaps", format!("Filename\tType\tSize\tUsed\tPriority\n{line}\n"));
}

/// A device built on others.
fn stacked(tree: &Tree, name: &str, number: &str, kind: &str, below: &[(&str, &str)]) {
    tree.disk(name, number, (MIB / 512) as u64, "virtual").folder(&format!("sys/devices/virtual/block/{name}/{kind}"));
    tree.file(&format!("dev/{name}"), vec![0u8; MIB]);
    for (part, home) in below {
        tree.folder(&format!("sys/devices/virtual/block/{name}/slaves/{part}"));
        tree.folder(&format!("sys/devices/{home}/holders/{name}"));
    }
}

fn looped(tree: &Tree, name: &str, number: &str, backing: &str) {
    tree.disk(name, number, (MIB / 512) as u64, "virtual");
    tree.file(&format!("sys/devices/virtual/block/{name}/loop/backing_file"), format!("{backing}\n"));
    tree.file(&format!("dev/{name}"), vec![0u8; MIB]);
}

/// A process that has a node open for reading and writing.
fn held_open(tree: &Tree, node: &str, program: &str) {
    tree.file("proc/77/comm", format!("{program}\n"))
        .link("proc/77/fd/5", &format!("../../../dev/{node}"))
        .file("proc/77/fdinfo/5", "pos:\t0\nflags:\t02100002\n");
}

fn image(tree: &Tree, node: &str, marks: &[(usize, &[u8])]) {
    let mut bytes = vec![0u8; MIB];
    for (at, mark) in marks {
        bytes[*at..at + mark.len()].copy_from_slice(mark);
    }
    tree.file(&format!("dev/{node}"), bytes);
}

fn nvme(part: &str) -> String {
    format!("{BUS}/block/nvme0n1{part}")
}

/// One refusal: its name, what is done to the machine, what is asked for, with which words.
struct Case {
    name: &'static str,
    build: fn(&Tree),
    target: &'static str,
    destroy: &'static [&'static str],
}

const fn case(name: &'static str, target: &'static str, destroy: &'static [&'static str], build: fn(&Tree)) -> Case {
    Case { name, build, target, destroy }
}

const S1: &[&str] = &["S1"];
const EXT: &[u8] = &[0x53, 0xEF];
const MD: &[u8] = &0xa92b_4efc_u32.to_le_bytes();

const CASES: &[Case] = &[
    case("no --destroy", "nvme0n1", &[], |_| {}),
    case("--destroy of another drive", "nvme0n1", &["S2"], |_| {}),
    case("--destroy of a part of the serial", "nvme0n1", &["S"], |_| {}),
    case("--destroy of the kernel name where there is a serial", "nvme0n1", &["nvme0n1"], |_| {}),
    case("the root drive", "vda", &["vda"], |_| {}),
    case("the drive below root on LVM", "nvme0n1", S1, |t| {
        stacked(t, "dm-0", "253:0", "dm", &[("nvme0n1p1", &nvme("/nvme0n1p1"))]);
        t.file("proc/self/mountinfo", "27 1 253:0 / / rw - ext4 /dev/mapper/vg-root rw\n");
    }),
    case("the second drive of a btrfs root", "nvme0n1", S1, |t| {
        t.file("proc/self/mountinfo", "27 1 0:20 /@ / rw - btrfs /dev/sdb rw\n");
        t.folder("sys/fs/btrfs/aa-bb/devices/sdb").folder("sys/fs/btrfs/aa-bb/devices/nvme0n1p1");
    }),
    case("the drive of /boot", "sdb", &["S2"], |t| mounted(t, "28 27 8:16 / /boot rw - ext4 /dev/sdb rw\n")),
    case("mounted whole", "nvme0n1", S1, |t| mounted(t, "28 27 259:0 / /data rw - xfs /dev/nvme0n1 rw\n")),
    case("a mounted partition", "nvme0n1", S1, |t| mounted(t, "28 27 259:1 / /data rw - xfs /dev/nvme0n1p1 rw\n")),
    case("a mounted partition under an alias", "nvme0n1", S1, |t| {
        mounted(t, "28 27 259:1 / /data rw - xfs /dev/disk/by-id/nvme-FAST_S1-part1 rw\n");
    }),
    case("a btrfs mounted through an alias", "nvme0n1", S1, |t| {
        t.link("dev/disk/by-uuid/aa-bb", "../../nvme0n1p1");
        mounted(t, "28 27 0:44 / /data rw - btrfs /dev/disk/by-uuid/aa-bb rw\n");
    }),
    case("a bind mount of a folder on it", "nvme0n1", S1, |t| {
        mounted(t, "28 27 259:1 /inner /srv/my\\040data ro - ext4 /dev/nvme0n1p1 rw\n");
    }),
    case("a btrfs member that no mount names", "nvme0n1", S1, |t| {
        mounted(t, "28 27 0:44 / /data rw - btrfs /dev/sdb rw\n");
        t.folder("sys/fs/btrfs/aa-bb/devices/sdb").folder("sys/fs/btrfs/aa-bb/devices/nvme0n1");
    }),
    case("the partition beside a mounted one", "nvme0n1p2", S1, |t| {
        t.partition("nvme0n1", BUS, "nvme0n1p2", "259:2").file("dev/nvme0n1p2", vec![0u8; MIB]);
        mounted(t, "28 27 259:1 / /data rw - xfs /dev/nvme0n1p1 rw\n");
    }),
    case("its character device while mounted", "ng0n1", S1, |t| {
        t.folder(&format!("sys/devices/{BUS}/ng0n1"));
        mounted(t, "28 27 259:1 / /data rw - xfs /dev/nvme0n1p1 rw\n");
    }),
    case("its PCI address while mounted", "0000:41:00.0", S1, |t| {
        mounted(t, "28 27 259:1 / /data rw - xfs /dev/nvme0n1p1 rw\n");
    }),
    case("its short PCI address while swapping", "41:00.0", S1, |t| swapping(t, "/dev/nvme0n1p1 partition 8 0 -2")),
    case("a PCI address with one of two namespaces in use", "0000:41:00.0", S1, |t| {
        t.disk("nvme0n2", "259:9", (MIB / 512) as u64, BUS);
        t.file(&format!("sys/devices/{BUS}/block/nvme0n2/device/serial"), "S1\n").file("dev/nvme0n2", vec![0u8; MIB]);
        mounted(t, "28 27 259:9 / /data rw - xfs /dev/nvme0n2 rw\n");
    }),
    case("the PCI address of a multipath drive in use", "0000:42:00.0", &["S3"], |t| {
        let path = "pci0000:40/0000:42:00.0/nvme/nvme3";
        t.folder(&format!("sys/devices/{path}/nvme3c3n1"))
            .link("sys/class/nvme/nvme3", &format!("../../devices/{path}"))
            .link("sys/bus/pci/devices/0000:42:00.0", "../../../devices/pci0000:40/0000:42:00.0")
            .disk("nvme3n1", "259:30", (MIB / 512) as u64, "virtual/nvme-subsystem/nvme-subsys3")
            .file("dev/nvme3n1", vec![0u8; MIB]);
        mounted(t, "28 27 259:30 / /data rw - xfs /dev/nvme3n1 rw\n");
    }),
    case("a PCI address without a drive", "0000:43:00.0", S1, |t| {
        t.folder("sys/devices/pci0000:40/0000:43:00.0")
            .link("sys/bus/pci/devices/0000:43:00.0", "../../../devices/pci0000:40/0000:43:00.0")
            .link("sys/devices/pci0000:40/0000:43:00.0/driver", "../../../bus/pci/drivers/vfio-pci");
    }),
    case("a PCI address that is not there", "0000:99:00.0", S1, |_| {}),
    case("a swap partition", "nvme0n1", S1, |t| swapping(t, "/dev/nvme0n1p1 partition 8 0 -2")),
    case("a swap device under an alias", "nvme0n1", S1, |t| {
        t.link("dev/disk/by-label/SWAP", "../../nvme0n1");
        swapping(t, "/dev/disk/by-label/SWAP partition 8 0 -2");
    }),
    case("the drive of a swap file", "nvme0n1", S1, |t| {
        mounted(t, "28 27 259:1 / /data rw - xfs /dev/nvme0n1p1 rw\n");
        swapping(t, "/data/swap\\040file file 8 0 -2");
    }),
    case("an md member", "nvme0n1", S1, |t| stacked(t, "md0", "9:0", "md", &[("nvme0n1p1", &nvme("/nvme0n1p1"))])),
    case("an LVM member", "nvme0n1", S1, |t| stacked(t, "dm-3", "253:3", "dm", &[("nvme0n1", &nvme(""))])),
    case("an array that is mounted", "md0", &["md0"], |t| {
        stacked(t, "md0", "9:0", "md", &[("nvme0n1", &nvme(""))]);
        mounted(t, "28 27 9:0 / /data rw - xfs /dev/md/data rw\n");
    }),
    case("a drive that a loop device shows", "nvme0n1", S1, |t| looped(t, "loop4", "7:4", "/dev/nvme0n1p1")),
    case("a loop device over the root drive", "loop4", &["loop4"], |t| looped(t, "loop4", "7:4", "/dev/vda")),
    case("a loop device over a mounted drive", "loop4", &["loop4"], |t| {
        looped(t, "loop4", "7:4", "/dev/nvme0n1");
        mounted(t, "28 27 259:1 / /data rw - xfs /dev/nvme0n1p1 rw\n");
    }),
    case("a loop device whose file is mounted as another", "loop4", &["loop4"], |t| {
        looped(t, "loop4", "7:4", "/srv/image");
        looped(t, "loop5", "7:5", "/srv/image");
        mounted(t, "28 27 7:5 / /data rw - xfs /dev/loop5 rw\n");
    }),
    case("a read-only drive", "nvme0n1", S1, |t| _ = t.file(&format!("sys/devices/{}/ro", nvme("")), "1\n")),
    case("a read-only partition", "nvme0n1p1", S1, |t| {
        _ = t.file(&format!("sys/devices/{}/ro", nvme("/nvme0n1p1")), "1\n");
    }),
    case("a zram device without a size", "zram0", &["zram0"], |t| {
        _ = t.disk("zram0", "252:0", 0, "virtual").file("dev/zram0", "");
    }),
    case("an ext4 file system", "nvme0n1", S1, |t| image(t, "nvme0n1", &[(1080, EXT)])),
    case("an ext4 file system inside a partition", "nvme0n1", &["S1:gpt"], |t| {
        image(t, "nvme0n1", &[(512, b"EFI PART"), (256 * 1024 + 1080, EXT)]);
    }),
    case("an XFS partition as the target", "nvme0n1p1", S1, |t| image(t, "nvme0n1p1", &[(0, b"XFSB")])),
    case("a btrfs that is not mounted", "nvme0n1", S1, |t| image(t, "nvme0n1", &[(65_600, b"_BHRfS_M")])),
    case("a ZFS member", "nvme0n1", S1, |t| image(t, "nvme0n1", &[(131_072, &0x00ba_b10c_u64.to_le_bytes())])),
    case("an md member of a stopped array", "nvme0n1", &["S1:ext"], |t| {
        image(t, "nvme0n1", &[(4096, MD), (1080, EXT)]);
    }),
    case("an LVM volume of an inactive group", "nvme0n1", S1, |t| image(t, "nvme0n1", &[(536, b"LVM2 001")])),
    case("a LUKS volume", "nvme0n1", &["S1:swap"], |t| image(t, "nvme0n1", &[(0, b"LUKS\xBA\xBE")])),
    case("data that nobody recognises", "nvme0n1", S1, |t| image(t, "nvme0n1", &[(700_000, b"ledger")])),
    case("data that nobody recognises at the end", "nvme0n1p1", S1, |t| {
        image(t, "nvme0n1p1", &[(MIB - 9, b"ledger")]);
    }),
    case("data in a partition that nobody recognises", "nvme0n1", &["S1:gpt"], |t| {
        image(t, "nvme0n1", &[(512, b"EFI PART"), (256 * 1024 + 5000, b"ledger")]);
    }),
    case("a virtual machine's disk", "nvme0n1", S1, |t| held_open(t, "nvme0n1", "qemu-system-x86")),
    case("a drive that nvmet exports", "nvme0n1", S1, |t| {
        let home = "sys/kernel/config/nvmet/subsystems/nqn.2014-08.org.example:a/namespaces/1";
        t.file(&format!("{home}/device_path"), "/dev/nvme0n1\n");
    }),
    case("a drive that the target core exports", "sdb", &["S2"], |t| {
        t.file("sys/kernel/config/target/core/iblock_0/disk/udev_path", "/dev/sdb\n");
    }),
    case("an OCFS2 of small blocks", "nvme0n1", S1, |t| image(t, "nvme0n1", &[(1024, b"OCFSV2")])),
    case("an Oracle ASM disk", "nvme0n1", S1, |t| image(t, "nvme0n1", &[(32, b"ORCLDISK")])),
    case("a machine that hides its mounts", "nvme0n1", S1, |t| {
        std::fs::remove_file(t.root().join("proc/self/mountinfo")).expect("removed");
    }),
    case("a machine that garbles its mounts", "nvme0n1", S1, |t| _ = t.file("proc/self/mountinfo", "27 1 254:0\n")),
    case("a drive that has no node here", "nvme0n1", S1, |t| {
        std::fs::remove_file(t.root().join("dev/nvme0n1")).expect("removed");
    }),
];

/// Every node with its bytes.
fn contents(tree: &Tree) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(tree.root().join("dev")).expect("nodes").flatten().map(|e| e.path());
    entries.filter(|p| p.is_file()).map(|p| (p.clone(), fs::read(&p).expect("node"))).collect()
}

fn ask(tree: &Tree, target: &str, destroy: &[&str]) -> Result<WriteConsent, Refusal> {
    let root = tree.root();
    let destroy: Vec<String> = destroy.iter().map(|&d| d.to_owned()).collect();
    let permit = crate::testing::destroying(&destroy);
    if let Some(name) = target.strip_prefix("ng") {
        let device = device_by_name(&root, &format!("nvme{name}")).expect("in the tree");
        return check_generic(&root, device, Path::new("/dev").join(target), None, &permit);
    }
    match device_by_name(&root, target) {
        Ok(device) => {
            let node = Path::new("/dev").join(target);
            let open = node_of(&root, &node)?;
            check_devices(&root, node, Some(open.clone()), vec![(device, open)], &permit)
        }
        Err(_) => check_write_target(&root, Path::new(target), &permit),
    }
}

#[test]
fn every_refusal_says_what_why_and_what_to_do_and_changes_no_byte() {
    let mut said = String::new();
    for case in CASES {
        let tree = machine();
        (case.build)(&tree);
        let before = contents(&tree);
        let refusal = ask(&tree, case.target, case.destroy).expect_err(case.name);
        assert!(contents(&tree) == before, "{}: a device was changed", case.name);
        let base = tree.root().join("");
        let text = format!(
            "{}\n  help: {}",
            fathom_language::english(&refusal.message),
            fathom_language::english(&refusal.help)
        )
        .replace(&*base.to_string_lossy(), "/");
        writeln!(said, "{} ({:?})\n  {text}", case.name, refusal.kind).expect("a text");
    }
    insta::assert_snapshot!(said);
}

#[test]
fn the_same_drives_are_allowed_when_nothing_is_against_them() {
    for (target, destroy) in [
        ("nvme0n1", &["S1"][..]),
        ("nvme0n1p1", &["S1"]),
        ("sdb", &["S1", "S2"]),
        ("ng0n1", &["S1"]),
        ("0000:41:00.0", &["S1"]),
        ("41:00.0", &["S1"]),
    ] {
        let consent = ask(&machine(), target, destroy).expect(target);
        assert_eq!(consent.devices().count(), 1, "{target}");
    }
    let tree = machine();
    image(&tree, "nvme0n1", &[(512, b"EFI PART"), (256 * 1024 + 1080, EXT)]);
    assert!(ask(&tree, "nvme0n1", &["S1:gpt+ext"]).is_ok());
    assert!(ask(&tree, "nvme0n1", &["S1:gpt", "S1:ext"]).is_ok());
    let tree = machine();
    looped(&tree, "loop4", "7:4", "/srv/image");
    assert!(ask(&tree, "loop4", &["loop4"]).is_ok());
}

#[test]
fn a_pci_address_gives_consent_to_all_its_namespaces() {
    let tree = machine();
    tree.disk("nvme0n2", "259:9", (MIB / 512) as u64, BUS);
    tree.file(&format!("sys/devices/{BUS}/block/nvme0n2/device/serial"), "S1\n").file("dev/nvme0n2", vec![0u8; MIB]);
    let consent = ask(&tree, "0000:41:00.0", &["S1"]).expect("both are free");
    let names: Vec<&str> = consent.devices().map(|d| d.name.as_str()).collect();
    assert_eq!(names, ["nvme0n1", "nvme0n2"]);
    assert_eq!(consent.path(), Path::new("0000:41:00.0"));
}
