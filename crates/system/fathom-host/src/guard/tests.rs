//! The guard against hand-built machines, and against a loop device where one can be had.

use super::*;
use crate::disk::device_by_name;
use crate::root::tree::Tree;
use crate::testing::{LoopDevice, destroying, skip};
use fathom_language::english;
use std::process::Command;

const BUS: &str = "pci0/nvme/nvme0";
pub(super) const MIB: usize = 1 << 20;

/// `vda` holds the system; `sdb` (serial SER1, one partition) is free and blank.
fn machine() -> Tree {
    let tree = Tree::new();
    tree.disk("vda", "254:0", 4096, "pci0/virtio1").disk("sdb", "8:16", (MIB / 512) as u64, BUS);
    tree.partition("sdb", BUS, "sdb1", "8:17")
        .file(&format!("sys/devices/{BUS}/block/sdb/device/serial"), "SER1\n")
        .file("proc/self/mountinfo", "27 1 254:0 / / rw - ext4 /dev/vda rw\n")
        .file("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n")
        .file("dev/sdb", vec![0u8; MIB])
        .file("dev/vda", vec![0u8; MIB]);
    tree
}

fn ask(tree: &Tree, name: &str, destroy: &[&str]) -> Result<WriteConsent, Refusal> {
    let device = device_by_name(&tree.root(), name).expect("in the tree");
    let destroy: Vec<String> = destroy.iter().map(|&d| d.to_owned()).collect();
    let (path, node) = (device.dev_path.clone(), node_of(&tree.root(), &device.dev_path)?);
    check_devices(&tree.root(), path, Some(node.clone()), vec![(device, node)], &destroying(&destroy))
}

fn check_refused(tree: &Tree, name: &str, destroy: &[&str], kind: RefusalKind, parts: &[&str]) {
    let refusal = ask(tree, name, destroy).expect_err("refused");
    assert_eq!(refusal.kind, kind, "{refusal:?}");
    let text = format!("{}\nhelp: {}", english(&refusal.message), english(&refusal.help));
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
}

#[test]
fn a_blank_drive_named_by_its_serial_may_be_written() {
    let consent = ask(&machine(), "sdb", &["SER1"]).expect("allowed");
    assert_eq!(consent.path(), Path::new("/dev/sdb"));
    assert_eq!(consent.device().map(|d| d.name.as_str()), Some("sdb"));
}

#[test]
fn a_drive_not_named_by_its_whole_serial_is_refused() {
    for destroy in [&[][..], &["SER"], &["SER12"], &["sdb"], &["OTHER"]] {
        check_refused(&machine(), "sdb", destroy, RefusalKind::NoConsent, &["/dev/sdb", "--destroy SER1"]);
    }
}

#[test]
fn the_drive_of_the_running_system_is_refused_however_it_is_named() {
    check_refused(&machine(), "vda", &["vda"], RefusalKind::RootDrive, &["vda", "never written"]);
}

#[test]
fn the_system_below_a_stack_of_devices_is_found() {
    let tree = machine();
    tree.disk("dm-0", "253:0", 4096, "virtual")
        .folder("sys/devices/virtual/block/dm-0/dm")
        .folder("sys/devices/virtual/block/dm-0/slaves/sdb1")
        .file("proc/self/mountinfo", "27 1 253:0 / / rw - ext4 /dev/mapper/root rw\n");
    check_refused(&tree, "sdb", &["SER1"], RefusalKind::RootDrive, &["sdb"]);
}

#[test]
fn a_mounted_partition_is_refused_by_number_and_by_name() {
    let tree = machine();
    let system = "27 1 254:0 / / rw - ext4 /dev/vda rw\n";
    for line in ["30 27 8:17 / /srv rw - xfs /dev/disk/by-id/x rw\n", "30 27 0:44 / /srv rw - btrfs /dev/sdb1 rw\n"] {
        tree.file("proc/self/mountinfo", format!("{system}{line}"));
        check_refused(&tree, "sdb", &["SER1"], RefusalKind::Mounted, &["sdb1 on /srv", "unmount", "--destroy SER1"]);
    }
}

#[test]
fn swap_holders_read_only_and_no_size_are_refused_with_their_reason() {
    let tree = machine();
    tree.file("proc/swaps", "Filename Type\n/dev/sdb1 partition 1 0 -2\n");
    check_refused(&tree, "sdb", &["SER1"], RefusalKind::Swap, &["sdb1", "swapoff"]);

    let tree = machine();
    tree.folder(&format!("sys/devices/{BUS}/block/sdb/sdb1/holders/md0"));
    check_refused(&tree, "sdb", &["SER1"], RefusalKind::Held, &["md0", "sdb1"]);

    let tree = machine();
    tree.file(&format!("sys/devices/{BUS}/block/sdb/ro"), "1\n");
    check_refused(&tree, "sdb", &["SER1"], RefusalKind::ReadOnly, &["read-only"]);

    let tree = machine();
    tree.disk("zram0", "252:0", 0, "virtual").file("dev/zram0", "");
    check_refused(&tree, "zram0", &["zram0"], RefusalKind::NoSize, &["disksize"]);
}

#[test]
fn a_signature_must_be_named_besides_the_serial() {
    let tree = machine();
    let mut image = vec![0u8; MIB];
    image[1080..1082].copy_from_slice(&[0x53, 0xEF]);
    image[4096..4104].copy_from_slice(b"EFI PART");
    tree.file("dev/sdb", &image);
    let help = "--destroy SER1:ext+gpt";
    check_refused(&tree, "sdb", &["SER1"], RefusalKind::Signature, &["an ext2/3/4 file system", help]);
    check_refused(&tree, "sdb", &["SER1:ext"], RefusalKind::Signature, &["GPT", help]);
    assert!(ask(&tree, "sdb", &["SER1:ext+gpt"]).is_ok());
    assert!(ask(&tree, "sdb", &["SER1:ext", "SER1:gpt"]).is_ok());
}

#[test]
fn the_live_drive_below_the_root_folder_is_refused() {
    let device = match crate::disk::whole_device_of(&Root::live(), Path::new("/")) {
        Ok(device) if device.dev_path.exists() => device,
        other => return skip(&format!("the root folder has no visible device: {other:?}")),
    };
    let destroy = [device.consent_name().to_owned()];
    let refusal = check_write_target(&Root::live(), &device.dev_path, &destroying(&destroy)).expect_err("root drive");
    assert_eq!(refusal.kind, RefusalKind::RootDrive, "{refusal}");
}

#[test]
fn a_loop_device_is_claimed_while_its_consent_lives() {
    let Some(device) = LoopDevice::blank() else { return };
    let name = device.name();
    let root = Root::live();
    let refusal = check_write_target(&root, &device.path, &Permit::NOTHING).expect_err("not named");
    assert_eq!(refusal.kind, RefusalKind::NoConsent);
    let consent = check_write_target(&root, &device.path, &destroying(std::slice::from_ref(&name))).expect("allowed");
    let second =
        check_write_target(&root, &device.path, &destroying(std::slice::from_ref(&name))).expect_err("claimed");
    assert_eq!(second.kind, RefusalKind::Claimed);
    // The writer itself is not locked out.
    drop(consent.open(OFlags::empty()).expect("opens for writing"));
    drop(consent);
    assert!(check_write_target(&root, &device.path, &destroying(&[name])).is_ok());
}

#[test]
fn a_real_swap_signature_on_a_loop_device_is_seen() {
    let Some(device) = LoopDevice::blank() else { return };
    match Command::new("mkswap").arg(&device.path).output() {
        Ok(output) if output.status.success() => {}
        other => return skip(&format!("no mkswap: {other:?}")),
    }
    let name = device.name();
    let refusal = check_write_target(&Root::live(), &device.path, &destroying(&[name])).expect_err("swap space");
    assert_eq!(refusal.kind, RefusalKind::Signature);
    assert!(refusal.message.holds("signature-swap"), "{refusal}");
}

/// `/dev/ng3n2` beside `/dev/nvme3n2`, which holds a mounted partition when `mounted`.
fn generic(mounted: bool) -> (Tree, Result<WriteConsent, Refusal>) {
    let tree = machine();
    let bus = "pci0/nvme/nvme3";
    tree.disk("nvme3n2", "259:7", (MIB / 512) as u64, bus)
        .partition("nvme3n2", bus, "nvme3n2p1", "259:8")
        .file(&format!("sys/devices/{bus}/block/nvme3n2/device/serial"), "NG3\n")
        .file("dev/nvme3n2", vec![0u8; MIB])
        .folder(&format!("sys/devices/{bus}/ng3n2"))
        .link("sys/dev/char/241:5", &format!("../../devices/{bus}/ng3n2"));
    if mounted {
        tree.file("proc/self/mountinfo", "27 1 254:0 / / rw - ext4 /dev/vda rw\n28 27 259:8 / /data rw - xfs x rw\n");
    }
    let device = device_by_generic(&tree.root(), "241:5").expect("its block device is there");
    let outcome =
        check_generic(&tree.root(), device, PathBuf::from("/dev/ng3n2"), None, &destroying(&["NG3".to_owned()]));
    (tree, outcome)
}

#[test]
fn an_nvme_character_device_is_judged_as_its_block_device() {
    let (_tree, refused) = generic(true);
    let refusal = refused.expect_err("a partition is mounted");
    assert_eq!(refusal.kind, RefusalKind::Mounted);
    assert_eq!(refusal.message.id(), "guard-mounted", "{refusal}");
    let (_tree, allowed) = generic(false);
    let consent = allowed.expect("named by its serial and free");
    assert_eq!(consent.path(), Path::new("/dev/ng3n2"));
    assert_eq!(consent.device().map(|d| d.name.as_str()), Some("nvme3n2"));
}

#[test]
fn a_character_device_that_is_no_namespace_is_not_writable() {
    let refusal =
        check_write_target(&Root::live(), Path::new("/dev/null"), &Permit::NOTHING).expect_err("no data there");
    assert_eq!(refusal.kind, RefusalKind::NotWritableKind);
    let tree = machine();
    tree.folder("sys/devices/virtual/mem/null").link("sys/dev/char/1:3", "../../devices/virtual/mem/null");
    assert!(device_by_generic(&tree.root(), "1:3").is_err());
}
