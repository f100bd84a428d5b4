//! Whether a block device is free, by every way the kernel tells; the strongest reasons against it come first.

use std::path::PathBuf;

use super::claim::claim;
use super::uses::Uses;
use super::{Refusal, RefusalKind, WriteConsent, refuse};
use crate::disk::{BlockDevice, DeviceKind, device_by_name, device_by_number};
use crate::mount::mount_of;
use crate::root::{Root, attribute, names_in, number};

/// A whole device or one of its partitions.
pub(super) struct Part {
    /// Kernel name.
    pub(super) name: String,
    /// `MAJ:MIN`.
    number: String,
    /// Its folder in sysfs.
    home: PathBuf,
    /// Start on the whole device.
    pub(super) start_bytes: u64,
    /// Length.
    pub(super) size_bytes: u64,
}

/// The whole device first, then its partitions.
pub(super) fn parts_of(root: &Root, device: &BlockDevice) -> Vec<Part> {
    let home = root.join("sys/class/block").join(&device.name);
    let mut parts = vec![Part {
        name: device.name.clone(),
        number: device.number.clone(),
        home: home.clone(),
        start_bytes: 0,
        size_bytes: device.size_bytes,
    }];
    for name in names_in(&home) {
        let part = home.join(&name);
        if part.join("partition").exists() {
            // Sysfs counts in 512-byte sectors whatever the logical block is.
            let bytes = |file: &str| number(&part.join(file)).unwrap_or(0).saturating_mul(512);
            parts.push(Part {
                number: attribute(&part.join("dev")).unwrap_or_default(),
                start_bytes: bytes("start"),
                size_bytes: bytes("size"),
                name,
                home: part,
            });
        }
    }
    parts
}

/// Judges devices with their nodes; all of them must be free for the consent to `path`.
pub(super) fn check_devices(
    root: &Root,
    path: PathBuf,
    devices: Vec<(BlockDevice, PathBuf)>,
    destroy: &[String],
) -> Result<WriteConsent, Refusal> {
    let uses = Uses::read(root)?;
    let mut consent = WriteConsent { path, devices: Vec::new(), _claims: Vec::new() };
    for (device, node) in devices {
        let parts = parts_of(root, &device);
        refuse_in_use(root, &uses, &device, &parts)?;
        refuse_unwritable(&device, &parts)?;
        refuse_unnamed(&device, destroy)?;
        consent._claims.push(claim(root, &device, &parts, &node, destroy)?);
        consent.devices.push(device);
    }
    Ok(consent)
}

fn refuse_in_use(root: &Root, uses: &Uses, device: &BlockDevice, parts: &[Part]) -> Result<(), Refusal> {
    refuse_root_drive(root, uses, device)?;
    refuse_swap(root, uses, device, parts)?;
    refuse_mounted(root, uses, device, parts)?;
    refuse_btrfs_member(uses, device, parts)?;
    refuse_held(device, parts)?;
    refuse_backing(root, uses, device, parts)?;
    refuse_what_it_shows(root, uses, device)
}

fn refuse_unwritable(device: &BlockDevice, parts: &[Part]) -> Result<(), Refusal> {
    let path = device.dev_path.display();
    let asked = parts.iter().find(|p| Some(&p.name) == device.partition.as_ref());
    if let Some(part) = asked.filter(|p| number(&p.home.join("ro")) == Some(1)) {
        return refuse(RefusalKind::ReadOnly, format!("{} of {path} is read-only", part.name), "choose another drive");
    }
    if device.read_only {
        return refuse(RefusalKind::ReadOnly, format!("{path} is read-only"), "choose another drive");
    }
    if device.size_bytes == 0 {
        let help = match device.kind {
            DeviceKind::Zram => format!("set a size first: echo 8G > /sys/block/{}/disksize", device.name),
            _ => "choose another drive, or attach a medium".to_owned(),
        };
        return refuse(RefusalKind::NoSize, format!("{path} has no size"), help);
    }
    Ok(())
}

fn refuse_unnamed(device: &BlockDevice, destroy: &[String]) -> Result<(), Refusal> {
    if destroy.iter().any(|d| covers(d, device.consent_name()).is_some()) {
        return Ok(());
    }
    let message = format!("{} would be overwritten, and no --destroy names it", device.dev_path.display());
    let help = format!("if all data on it may be lost: --destroy {}", device.consent_name());
    refuse(RefusalKind::NoConsent, message, help)
}

/// The signature words after `NAME:` in a `--destroy` value; empty for `NAME` alone, `None` for another drive.
pub(super) fn covers<'d>(destroy: &'d str, name: &str) -> Option<&'d str> {
    let rest = destroy.strip_prefix(name)?;
    if rest.is_empty() { Some("") } else { rest.strip_prefix(':') }
}

/// Kernel names of all whole disks that the running system stands on.
fn system_disks(root: &Root, uses: &Uses) -> Vec<String> {
    const SYSTEM_MOUNTS: [&str; 4] = ["/", "/boot", "/boot/efi", "/usr"];
    let mut devices = Vec::new();
    for mount in uses.mounts.iter().filter(|m| SYSTEM_MOUNTS.iter().any(|point| m.mount_point.as_os_str() == *point)) {
        if let Ok(device) = device_by_number(root, &mount.device_number) {
            devices.push(device);
            continue;
        }
        // btrfs mounts have a number of no device; their source names one device, sysfs the others.
        let Some(name) = Uses::node_name(root, &mount.source) else { continue };
        let all = uses.btrfs.iter().find(|b| b.members.contains(&name)).map_or(vec![name], |b| b.members.clone());
        devices.extend(all.iter().filter_map(|name| device_by_name(root, name).ok()));
    }
    disks_below(root, devices)
}

/// Kernel names of the devices and of all that lies below them.
fn disks_below(root: &Root, mut open: Vec<BlockDevice>) -> Vec<String> {
    let mut names = Vec::new();
    while let Some(device) = open.pop() {
        if names.contains(&device.name) {
            continue;
        }
        match device.kind {
            // What is below a loop device is a file, unless somebody attached a disk.
            DeviceKind::Loop => open.extend(shown_by(root, &device)),
            _ => open.extend(device.slaves.iter().filter_map(|slave| device_by_name(root, slave).ok())),
        }
        names.push(device.name);
    }
    names
}

/// The device that a loop device shows, if it is one rather than a file.
fn shown_by(root: &Root, device: &BlockDevice) -> Option<BlockDevice> {
    let backing = device.slaves.first().filter(|_| device.kind == DeviceKind::Loop)?;
    device_by_name(root, &Uses::node_name(root, backing)?).ok()
}

fn refuse_root_drive(root: &Root, uses: &Uses, device: &BlockDevice) -> Result<(), Refusal> {
    let system = system_disks(root, uses);
    match disks_below(root, vec![device.clone()]).into_iter().find(|disk| system.contains(disk)) {
        None => Ok(()),
        Some(disk) => {
            let message = format!("{} is on {disk}, the drive of the running system", device.dev_path.display());
            refuse(RefusalKind::RootDrive, message, "choose another drive; this one is never written")
        }
    }
}

fn refuse_swap(root: &Root, uses: &Uses, device: &BlockDevice, parts: &[Part]) -> Result<(), Refusal> {
    let path = device.dev_path.display();
    for swap in &uses.swaps {
        if swap.is_file {
            // A swap file reaches its device past the file system: it is as much in use as a mount.
            let mount = mount_of(root, swap.path.as_ref()).ok().flatten();
            let on_it = parts.iter().find(|p| mount.as_ref().is_some_and(|m| m.device_number == p.number));
            if let Some(part) = on_it {
                let message = format!("{path} holds a swap file in use ({} on {})", swap.path, part.name);
                let help = format!("choose another drive, or first: swapoff {}", swap.path);
                return refuse(RefusalKind::Swap, message, help);
            }
        } else if let Some(name) = Uses::node_name(root, &swap.path)
            && let Some(part) = parts.iter().find(|p| p.name == name)
        {
            let message = format!("{path} is used for swapping ({})", part.name);
            return refuse(
                RefusalKind::Swap,
                message,
                format!("choose another drive, or first: swapoff {}", swap.path),
            );
        }
    }
    Ok(())
}

fn refuse_mounted(root: &Root, uses: &Uses, device: &BlockDevice, parts: &[Part]) -> Result<(), Refusal> {
    for part in parts {
        // The number finds every alias and bind mount; the source finds btrfs, whose mounts have a number of no device.
        let is_on = |m: &&crate::mount::Mount| {
            m.device_number == part.number || Uses::node_name(root, &m.source).is_some_and(|name| name == part.name)
        };
        if let Some(mount) = uses.mounts.iter().find(is_on) {
            let message = format!(
                "{} holds a mounted file system ({} on {})",
                device.dev_path.display(),
                part.name,
                mount.mount_point.display()
            );
            return refuse(RefusalKind::Mounted, message, unmount(device));
        }
    }
    Ok(())
}

fn unmount(device: &BlockDevice) -> String {
    let name = device.consent_name();
    format!("choose another drive, or unmount it and name it by serial: --destroy {name}")
}

fn refuse_btrfs_member(uses: &Uses, device: &BlockDevice, parts: &[Part]) -> Result<(), Refusal> {
    for part in parts {
        if let Some(system) = uses.btrfs.iter().find(|b| b.members.contains(&part.name)) {
            let message =
                format!("{} is a member of the mounted btrfs {} ({})", device.dev_path.display(), system.id, part.name);
            return refuse(RefusalKind::Mounted, message, unmount(device));
        }
    }
    Ok(())
}

fn refuse_held(device: &BlockDevice, parts: &[Part]) -> Result<(), Refusal> {
    for part in parts {
        if let Some(holder) = names_in(&part.home.join("holders")).first() {
            let message = format!("{} is in use by {holder} ({})", device.dev_path.display(), part.name);
            let help = format!("choose another drive, or take {} out of {holder} first", part.name);
            return refuse(RefusalKind::Held, message, help);
        }
    }
    Ok(())
}

/// Whether a loop device shows this device or a partition of it.
fn refuse_backing(root: &Root, uses: &Uses, device: &BlockDevice, parts: &[Part]) -> Result<(), Refusal> {
    for user in &uses.loops {
        let Some(name) = Uses::node_name(root, &user.backing) else { continue };
        if let Some(part) = parts.iter().find(|p| p.name == name) {
            let path = device.dev_path.display();
            let message = format!("{path} is in use as the loop device {} ({})", user.name, part.name);
            return refuse(
                RefusalKind::Held,
                message,
                format!("choose another drive, or first: losetup -d /dev/{}", user.name),
            );
        }
    }
    Ok(())
}

/// A loop device leads to what it shows, and another loop device may lead there too.
fn refuse_what_it_shows(root: &Root, uses: &Uses, device: &BlockDevice) -> Result<(), Refusal> {
    let Some(backing) = device.slaves.first().filter(|_| device.kind == DeviceKind::Loop) else { return Ok(()) };
    let path = device.dev_path.display();
    let judged = |other: &BlockDevice| {
        let parts = parts_of(root, other);
        refuse_swap(root, uses, other, &parts)?;
        refuse_mounted(root, uses, other, &parts)?;
        refuse_btrfs_member(uses, other, &parts)?;
        refuse_held(other, &parts)
    };
    let wrap = |refusal: Refusal| Refusal {
        message: format!("{path} shows {backing}: {}", refusal.message),
        help: format!("choose another drive, or first: losetup -d {path}"),
        ..refusal
    };
    if let Some(shown) = shown_by(root, device) {
        judged(&shown).map_err(wrap)?;
    }
    for other in uses.loops.iter().filter(|l| l.backing == *backing && l.name != device.name) {
        if let Ok(other) = device_by_name(root, &other.name) {
            judged(&other).map_err(wrap)?;
        }
    }
    Ok(())
}
