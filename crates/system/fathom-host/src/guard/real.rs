//! The guard on real devices of this machine: loop devices that a test makes, formats, mounts and swaps to.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::*;
use crate::testing::{LoopDevice, destroying, name_of, skip};
use fathom_language::english;

const MIB: u64 = 1 << 20;

/// Runs a tool; `false`, with the reason printed, where it is absent or this kernel cannot do it.
fn tool(program: &str, words: &[&str]) -> bool {
    match Command::new(program).args(words).output() {
        Ok(output) if output.status.success() => true,
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            skip(&format!("{program} {}: {said}", words.join(" ")));
            false
        }
        Err(error) => {
            skip(&format!("{program}: {error}"));
            false
        }
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn bytes_of(device: &LoopDevice) -> Vec<u8> {
    fs::read(device.image.path()).expect("the image")
}

/// Asks for `path` with every consent there could be; refused, and not a byte of the device changed.
fn refused(device: &LoopDevice, path: &Path, kind: RefusalKind, message: &str) {
    let words = "ext+xfs+btrfs+swap+gpt+mbr+lvm2+md";
    let destroy = [format!("{}:{words}", device.name()), text(path).to_owned()];
    refused_with(device, path, &destroy, kind, message);
}

fn refused_with(device: &LoopDevice, path: &Path, destroy: &[String], kind: RefusalKind, message: &str) {
    let before = bytes_of(device);
    let permit = Permit { overwrite: true, ..destroying(destroy) };
    let refusal = check_write_target(&Root::live(), path, &permit).expect_err("refused");
    assert_eq!((refusal.kind, english(&refusal.message).as_str()), (kind, message));
    assert!(bytes_of(device) == before, "{message}: the device was changed");
}

/// A mounted file system, unmounted when dropped.
struct Mounted {
    at: tempfile::TempDir,
}

impl Mounted {
    fn new(source: &Path, options: &[&str]) -> Option<Mounted> {
        let at = tempfile::tempdir().expect("temp dir");
        let done = tool("mount", &[options, &[text(source), text(at.path())]].concat());
        done.then_some(Mounted { at })
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        assert!(tool("umount", &[text(self.at.path())]), "cannot unmount {:?}", self.at);
    }
}

/// A loop device with one partition from 1 MiB on, and the partition's node.
fn partitioned(size_bytes: u64) -> Option<(LoopDevice, PathBuf)> {
    let image = tempfile::NamedTempFile::new().expect("temp file");
    image.as_file().set_len(size_bytes).expect("sized");
    let mut sector = [0u8; 512];
    // One entry: not bootable, type Linux, from sector 2048 to the end (the classic table of the first sector).
    sector[446 + 4] = 0x83;
    sector[446 + 8..446 + 12].copy_from_slice(&2048_u32.to_le_bytes());
    let sectors = u32::try_from(size_bytes / 512 - 2048).expect("small");
    sector[446 + 12..446 + 16].copy_from_slice(&sectors.to_le_bytes());
    sector[510..].copy_from_slice(&[0x55, 0xAA]);
    std::os::unix::fs::FileExt::write_all_at(image.as_file(), &sector, 0).expect("a table");
    let device = LoopDevice::over(image, &["--partscan"])?;
    let partition = PathBuf::from(format!("{}p1", device.path.display()));
    // A kernel that reads no partition tables is given them; one that does has made it already.
    if !partition.exists() && !tool("addpart", &[text(&device.path), "1", "2048", &sectors.to_string()]) {
        return None;
    }
    Some((device, partition))
}

#[test]
fn every_file_system_of_this_machine_is_seen_and_after_that_guarded_while_mounted() {
    for (mkfs, words, size_bytes, carries) in [
        ("mkfs.ext4", &["-q", "-F"][..], 16 * MIB, "an ext2/3/4 file system"),
        ("mkfs.xfs", &["-q", "-f"], 320 * MIB, "an XFS file system"),
        ("mkfs.btrfs", &["-q", "-f"], 128 * MIB, "a btrfs file system"),
    ] {
        let Some(device) = LoopDevice::of(size_bytes, &[]) else { return };
        if !tool(mkfs, &[words, &[text(&device.path)]].concat()) {
            continue;
        }
        let path = device.path.display().to_string();
        let named = [device.name()];
        refused_with(&device, &device.path, &named, RefusalKind::Signature, &format!("{path} carries {carries}"));
        let link = tempfile::tempdir().expect("temp dir");
        let alias = link.path().join("by-another-name");
        std::os::unix::fs::symlink(&device.path, &alias).expect("link");
        let Some(mounted) = Mounted::new(&alias, &[]) else { continue };
        let at = mounted.at.path().display();
        let holds = format!("{path} holds a mounted file system ({} on {at})", device.name());
        refused(&device, &device.path, RefusalKind::Mounted, &holds);
        refused(&device, &alias, RefusalKind::Mounted, &holds);
    }
}

#[test]
fn a_bind_mount_guards_the_device_after_its_first_mount_is_gone() {
    let Some(device) = LoopDevice::of(16 * MIB, &[]) else { return };
    if !tool("mkfs.ext4", &["-q", "-F", text(&device.path)]) {
        return;
    }
    let Some(first) = Mounted::new(&device.path, &[]) else { return };
    let Some(bound) = Mounted::new(first.at.path(), &["--bind"]) else { return };
    drop(first);
    let at = bound.at.path().display();
    let message = format!("{} holds a mounted file system ({} on {at})", device.path.display(), device.name());
    refused(&device, &device.path, RefusalKind::Mounted, &message);
}

#[test]
fn a_mounted_partition_guards_its_whole_drive_and_a_quiet_one_shows_its_content() {
    let Some((device, partition)) = partitioned(32 * MIB) else { return };
    let (path, part) = (device.path.display().to_string(), name_of(&partition));
    if !tool("mkfs.ext4", &["-q", "-F", text(&partition)]) {
        return;
    }
    let carries = format!("{path} carries an MBR partition table");
    refused_with(&device, &device.path, &[device.name()], RefusalKind::Signature, &carries);
    let carries = format!("{path} carries an ext2/3/4 file system ({part})");
    let words = [format!("{}:mbr", device.name())];
    refused_with(&device, &device.path, &words, RefusalKind::Signature, &carries);
    refused_with(&device, &partition, &[device.name()], RefusalKind::Signature, &carries);
    assert!(
        check_write_target(&Root::live(), &device.path, &destroying(&[format!("{}:mbr+ext", device.name())])).is_ok()
    );
    let Some(mounted) = Mounted::new(&partition, &[]) else { return };
    let message = format!("{path} holds a mounted file system ({part} on {})", mounted.at.path().display());
    refused(&device, &device.path, RefusalKind::Mounted, &message);
    refused(&device, &partition, RefusalKind::Mounted, &message);
}

#[test]
fn every_member_of_a_mounted_btrfs_is_guarded() {
    let (Some(one), Some(two)) = (LoopDevice::of(128 * MIB, &[]), LoopDevice::of(128 * MIB, &[])) else { return };
    if !tool("mkfs.btrfs", &["-q", "-f", "-d", "raid0", text(&one.path), text(&two.path)]) {
        return;
    }
    tool("btrfs", &["device", "scan", text(&one.path), text(&two.path)]);
    let Some(_mounted) = Mounted::new(&one.path, &[]) else { return };
    for device in [&one, &two] {
        let destroy = [format!("{}:btrfs", device.name())];
        let refusal = check_write_target(&Root::live(), &device.path, &destroying(&destroy)).expect_err("in use");
        assert_eq!(refusal.kind, RefusalKind::Mounted, "{refusal}");
        assert!(english(&refusal.message).contains(&device.name()), "{refusal}");
    }
}

/// Swap space in use, given back when dropped.
struct Swapping(PathBuf);

impl Swapping {
    fn on(path: &Path) -> Option<Swapping> {
        let done = tool("mkswap", &[text(path)]) && tool("swapon", &[text(path)]);
        done.then(|| Swapping(path.to_owned()))
    }
}

impl Drop for Swapping {
    fn drop(&mut self) {
        assert!(tool("swapoff", &[text(&self.0)]), "cannot give back {:?}", self.0);
    }
}

#[test]
fn swap_space_is_guarded_as_a_device_as_a_file_and_below_a_file() {
    let Some(device) = LoopDevice::of(16 * MIB, &[]) else { return };
    if let Some(_swapping) = Swapping::on(&device.path) {
        let message = format!("{} is used for swapping ({})", device.path.display(), device.name());
        // What is swapped out changes by itself, so only the refusal is looked at here.
        let refusal =
            check_write_target(&Root::live(), &device.path, &destroying(&[device.name()])).expect_err("in use");
        assert_eq!((refusal.kind, english(&refusal.message)), (RefusalKind::Swap, message));
    }
    let Some(device) = LoopDevice::of(64 * MIB, &[]) else { return };
    if !tool("mkfs.ext4", &["-q", "-F", text(&device.path)]) {
        return;
    }
    let Some(mounted) = Mounted::new(&device.path, &[]) else { return };
    let file = mounted.at.path().join("swapfile");
    if !tool("dd", &["if=/dev/zero", &format!("of={}", file.display()), "bs=1M", "count=8"])
        || !tool("chmod", &["600", text(&file)])
    {
        return;
    }
    let Some(_swapping) = Swapping::on(&file) else { return };
    let root = Root::live();
    let below =
        check_write_target(&root, &device.path, &destroying(&[format!("{}:ext", device.name())])).expect_err("in use");
    let message =
        format!("{} holds a swap file in use ({} on {})", device.path.display(), file.display(), device.name());
    assert_eq!((below.kind, english(&below.message)), (RefusalKind::Swap, message));
    let named = check_write_target(&root, &file, &Permit { overwrite: true, ..Permit::NOTHING }).expect_err("in use");
    assert_eq!(
        (named.kind, english(&named.message)),
        (RefusalKind::Swap, format!("{} is swap space in use", file.display()))
    );
}

#[test]
fn the_file_behind_a_loop_device_and_the_device_behind_another_are_guarded() {
    let Some(device) = LoopDevice::of(16 * MIB, &[]) else { return };
    let file = device.image.path().to_owned();
    let message = format!("{} is in use as the loop device {}", file.display(), device.path.display());
    refused(&device, &file, RefusalKind::Held, &message);
    let output =
        Command::new("losetup").args(["--find", "--show"]).arg(&device.path).output().expect("losetup ran once");
    if !output.status.success() {
        return skip("no loop device over a loop device");
    }
    let upper = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    let message =
        format!("{} is in use: the loop device {} shows {}", device.path.display(), upper.display(), device.name());
    refused(&device, &device.path, RefusalKind::Held, &message);
    assert!(tool("losetup", &["--detach", text(&upper)]), "cannot detach {upper:?}");
}

#[test]
fn marks_of_volume_managers_are_seen_on_a_real_device() {
    let magic = 0xa92b_4efc_u32.to_le_bytes();
    for (at, mark, carries) in [
        (512 + 24, &b"LVM2 001"[..], "an LVM2 physical volume"),
        (4096, &magic[..], "a Linux RAID (md) member"),
        (0, b"LUKS\xBA\xBE", "a LUKS encrypted volume"),
        (132_096, &0x00ba_b10c_u64.to_le_bytes(), "a ZFS pool member"),
    ] {
        let Some(device) = LoopDevice::blank() else { return };
        std::os::unix::fs::FileExt::write_all_at(device.image.as_file(), mark, at).expect("a mark");
        device.image.as_file().sync_all().expect("synced");
        let message = format!("{} carries {carries}", device.path.display());
        refused_with(&device, &device.path, &[device.name()], RefusalKind::Signature, &message);
    }
}

#[test]
fn a_read_only_loop_device_and_the_switches_of_the_kernel_are_refused() {
    let switch = Path::new("/proc/sys/vm/drop_caches");
    let refusal = check_write_target(&Root::live(), switch, &Permit { overwrite: true, ..Permit::NOTHING })
        .expect_err("a switch");
    assert_eq!(english(&refusal.message), "/proc/sys/vm/drop_caches is a file of the kernel (proc)");
    let Some(device) = LoopDevice::of(4 * MIB, &["--read-only"]) else { return };
    refused(&device, &device.path, RefusalKind::ReadOnly, &format!("{} is read-only", device.path.display()));
}

#[test]
fn a_device_that_somebody_holds_open_for_himself_is_refused() {
    use std::os::unix::fs::OpenOptionsExt;
    let Some(device) = LoopDevice::blank() else { return };
    let claim = fs::OpenOptions::new().read(true).custom_flags(libc::O_EXCL).open(&device.path).expect("claimed");
    let message = format!("{} is claimed by another user of this machine", device.path.display());
    refused(&device, &device.path, RefusalKind::Claimed, &message);
    drop(claim);
    assert!(check_write_target(&Root::live(), &device.path, &destroying(&[device.name()])).is_ok());
}
