//! Whether a block device is free, by every way the kernel tells; the strongest reasons against it come first.

use std::path::PathBuf;
use std::sync::Arc;

use fathom_message::{Message, msg};

use super::claim::claim;
use super::exports::exports;
use super::uses::{Loop, Uses};
use super::writers::lasting_writer;
use super::{JudgedDevice, Permit, Refusal, RefusalKind, WriteConsent, refuse};
use crate::disk::{BlockDevice, DeviceKind, device_by_name, device_by_number};
use crate::mount::mount_of;
use crate::node::Node;
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

/// Judges devices with their nodes; all of them must be free for the consent to `path`. `target`: what is opened for it.
pub(super) fn check_devices(
    root: &Root,
    path: PathBuf,
    target: Option<Arc<Node>>,
    devices: Vec<(BlockDevice, Arc<Node>)>,
    permit: &Permit<'_>,
) -> Result<WriteConsent, Refusal> {
    let uses = Uses::read(root)?;
    let mut consent = WriteConsent { path, node: target, devices: Vec::new() };
    for (device, node) in devices {
        let parts = parts_of(root, &device);
        refuse_in_use(root, &uses, &device, &parts)?;
        refuse_writers(root, &device, &parts, &node)?;
        refuse_unwritable(&device, &parts)?;
        refuse_unnamed(&device, permit)?;
        let claim = Some(Arc::new(claim(&device, &parts, &node, permit)?));
        consent.devices.push(JudgedDevice { device, node, claim });
    }
    Ok(consent)
}

pub(super) fn refuse_in_use(root: &Root, uses: &Uses, device: &BlockDevice, parts: &[Part]) -> Result<(), Refusal> {
    refuse_root_drive(root, uses, device)?;
    refuse_swap(root, uses, device, parts)?;
    refuse_mounted(root, uses, device, parts)?;
    refuse_btrfs_member(uses, device, parts)?;
    refuse_held(device, parts)?;
    refuse_backing(root, uses, device, parts)?;
    refuse_what_it_shows(root, uses, device)?;
    refuse_exported(root, device, parts)
}

fn refuse_unwritable(device: &BlockDevice, parts: &[Part]) -> Result<(), Refusal> {
    let path = &device.dev_path;
    let asked = parts.iter().find(|p| Some(&p.name) == device.partition.as_ref());
    if let Some(part) = asked.filter(|p| number(&p.home.join("ro")) == Some(1)) {
        let message = msg!("guard-partition-read-only", part = &part.name, path = path);
        return refuse(RefusalKind::ReadOnly, message, msg!("guard-choose-another-drive"));
    }
    if device.read_only {
        let message = msg!("guard-read-only", path = path);
        return refuse(RefusalKind::ReadOnly, message, msg!("guard-choose-another-drive"));
    }
    if device.size_bytes == 0 {
        let help = match device.kind {
            DeviceKind::Zram => msg!("guard-no-size-zram-help", device = &device.name),
            _ => msg!("guard-no-size-help"),
        };
        return refuse(RefusalKind::NoSize, msg!("guard-no-size", path = path), help);
    }
    Ok(())
}

fn refuse_unnamed(device: &BlockDevice, permit: &Permit<'_>) -> Result<(), Refusal> {
    if permit.destroy.iter().any(|d| covers(d, device.consent_name()).is_some()) {
        return Ok(());
    }
    refuse(
        RefusalKind::NoConsent,
        msg!("guard-no-consent", path = &device.dev_path),
        msg!("guard-no-consent-help", name = device.consent_name().to_owned()),
    )
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
        Some(disk) => refuse(
            RefusalKind::RootDrive,
            msg!("guard-root-drive", path = &device.dev_path, disk = disk),
            msg!("guard-root-drive-help"),
        ),
    }
}

fn refuse_swap(root: &Root, uses: &Uses, device: &BlockDevice, parts: &[Part]) -> Result<(), Refusal> {
    for swap in &uses.swaps {
        let help = || msg!("guard-swap-help", swap = &swap.path);
        if swap.is_file {
            // A swap file reaches its device past the file system: it is as much in use as a mount.
            let mount = mount_of(root, swap.path.as_ref()).ok().flatten();
            let on_it = parts.iter().find(|p| mount.as_ref().is_some_and(|m| m.device_number == p.number));
            if let Some(part) = on_it {
                let message =
                    msg!("guard-holds-swap-file", path = &device.dev_path, swap = &swap.path, part = &part.name);
                return refuse(RefusalKind::Swap, message, help());
            }
        } else if let Some(name) = Uses::node_name(root, &swap.path)
            && let Some(part) = parts.iter().find(|p| p.name == name)
        {
            let message = msg!("guard-swapping", path = &device.dev_path, part = &part.name);
            return refuse(RefusalKind::Swap, message, help());
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
            let mount = &mount.mount_point;
            let message = msg!("guard-mounted", path = &device.dev_path, part = &part.name, mount = mount);
            return refuse(RefusalKind::Mounted, message, unmount(device));
        }
    }
    Ok(())
}

fn unmount(device: &BlockDevice) -> Message {
    msg!("guard-mounted-help", name = device.consent_name().to_owned())
}

fn refuse_btrfs_member(uses: &Uses, device: &BlockDevice, parts: &[Part]) -> Result<(), Refusal> {
    for part in parts {
        if let Some(system) = uses.btrfs.iter().find(|b| b.members.contains(&part.name)) {
            let message = msg!("guard-btrfs-member", path = &device.dev_path, id = &system.id, part = &part.name);
            return refuse(RefusalKind::Mounted, message, unmount(device));
        }
    }
    Ok(())
}

fn refuse_held(device: &BlockDevice, parts: &[Part]) -> Result<(), Refusal> {
    for part in parts {
        if let Some(holder) = names_in(&part.home.join("holders")).first() {
            let message = msg!("guard-held", path = &device.dev_path, holder = holder, part = &part.name);
            let help = msg!("guard-held-help", holder = holder, part = &part.name);
            return refuse(RefusalKind::Held, message, help);
        }
    }
    Ok(())
}

/// Whether a loop device shows this device or a partition of it.
fn refuse_backing(root: &Root, uses: &Uses, device: &BlockDevice, parts: &[Part]) -> Result<(), Refusal> {
    for user in &uses.loops {
        let name = Uses::node_name(root, &user.backing);
        let shows = |p: &&Part| Some(&p.name) == name.as_ref() || user.shown_number().is_some_and(|n| n == p.number);
        if let Some(part) = parts.iter().find(shows) {
            let user = format!("/dev/{}", user.name);
            let message = msg!("guard-behind-loop", path = &device.dev_path, device = user.clone(), part = &part.name);
            return refuse(RefusalKind::Held, message, msg!("guard-behind-loop-help", device = user));
        }
    }
    Ok(())
}

/// A loop device leads to what it shows, and another loop device may lead there too.
fn refuse_what_it_shows(root: &Root, uses: &Uses, device: &BlockDevice) -> Result<(), Refusal> {
    let Some(backing) = device.slaves.first().filter(|_| device.kind == DeviceKind::Loop) else { return Ok(()) };
    let path = &device.dev_path;
    let judged = |other: &BlockDevice| {
        let parts = parts_of(root, other);
        refuse_swap(root, uses, other, &parts)?;
        refuse_mounted(root, uses, other, &parts)?;
        refuse_btrfs_member(uses, other, &parts)?;
        refuse_held(other, &parts)
    };
    let wrap = |refusal: Refusal| Refusal {
        message: msg!("guard-loop-shows", path = path, backing = backing, why = refusal.message),
        help: msg!("guard-loop-shows-help", path = path),
        ..refusal
    };
    if let Some(shown) = shown_by(root, device) {
        judged(&shown).map_err(wrap)?;
    }
    let own = uses.loops.iter().find(|l| l.name == device.name);
    let is_twin =
        |other: &&Loop| other.name != device.name && own.map_or(other.backing == *backing, |own| other.shows_same(own));
    for other in uses.loops.iter().filter(is_twin) {
        if let Ok(other) = device_by_name(root, &other.name) {
            judged(&other).map_err(wrap)?;
        }
    }
    Ok(())
}

fn refuse_exported(root: &Root, device: &BlockDevice, parts: &[Part]) -> Result<(), Refusal> {
    for export in exports(root) {
        let Some(name) = Uses::node_name(root, &export.path) else { continue };
        if parts.iter().any(|p| p.name == name) {
            let message = msg!("guard-exported", path = &device.dev_path, export = export.name);
            return refuse(RefusalKind::Exported, message, msg!("guard-exported-help"));
        }
    }
    Ok(())
}

/// Programs that have it open for writing without a claim: virtual machines, user-space storage.
pub(super) fn refuse_writers(root: &Root, device: &BlockDevice, parts: &[Part], node: &Node) -> Result<(), Refusal> {
    let generic = device.name.strip_prefix("nvme").map(|rest| root.join("dev").join(format!("ng{rest}")));
    let generic = generic.and_then(|path| Node::at(root, &path).ok());
    let writer = lasting_writer(root, |writers| {
        let by_block = parts.iter().find_map(|part| writers.of_block(&part.number));
        by_block.or_else(|| writers.of(node.identity())).or_else(|| writers.of(generic.as_ref()?.identity()))
    });
    match writer {
        None => Ok(()),
        Some(writer) => refuse(
            RefusalKind::InUse,
            msg!("guard-open-for-writing", path = &device.dev_path, program = writer.program, pid = writer.pid),
            msg!("guard-open-for-writing-help", pid = writer.pid),
        ),
    }
}
