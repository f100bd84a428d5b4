//! What is built on drives: arrays and file systems.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::drives::cleaned;
use crate::look::{Look, clean};
use crate::part::Part;
use fathom_host::{BlockDevice, DeviceKind, NetworkLink, NetworkMount, device_by_name, mounts, network_link};

/// A member of an array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Kernel name: a drive, a partition, another array.
    pub name: String,
    /// md's word: `in_sync`, `faulty`, `spare`...
    pub state: Option<String>,
}

/// A device built on others (md, dm).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Array {
    /// The device itself.
    #[serde(flatten)]
    pub device: BlockDevice,
    /// `raid5`, `raid10`; for device mapper `LVM`, `CRYPT`, `mpath`...
    pub level: Option<String>,
    /// Name in /dev/mapper.
    pub mapper_name: Option<String>,
    /// Members.
    pub members: Vec<Member>,
    /// Stripe unit.
    pub chunk_bytes: Option<u64>,
    /// Members missing.
    pub degraded: Option<u64>,
    /// `idle`, `resync`, `recover`, `check`...
    pub sync_action: Option<String>,
}

/// A mounted file system on a block device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSystem {
    /// Directory on which it is mounted.
    pub mount_point: String,
    /// `ext4`, `xfs`...
    pub fs_type: String,
    /// Kernel name of its device or partition.
    pub device: String,
    /// The whole device that lies on.
    pub whole_device: String,
    /// Mount options.
    pub options: String,
}

/// A mounted file system whose files lie on other hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkFileSystem {
    /// Directory on which it is mounted.
    pub mount_point: String,
    /// `nfs4`, `cifs`, `fuse.sshfs`...
    pub fs_type: String,
    /// Its server as the mount names it; empty where it names none.
    pub server: String,
    /// Mount options.
    pub options: String,
    /// The network device that leads to the server; `None` where its address is not known.
    pub link: Option<NetworkLink>,
}

/// Reads md and dm devices.
pub(crate) fn arrays(look: &Look<'_>) -> Vec<Array> {
    let mut arrays = Vec::new();
    for name in look.names("sys/block") {
        // Drives that cannot be read were noted when drives were read.
        let Ok(device) = device_by_name(look.root(), &name) else { continue };
        match device.kind {
            DeviceKind::Md => arrays.push(md(look, cleaned(device))),
            DeviceKind::DeviceMapper => arrays.push(dm(look, cleaned(device))),
            DeviceKind::Disk | DeviceKind::Loop | DeviceKind::Zram | DeviceKind::Virtual => {}
        }
    }
    arrays
}

fn md(look: &Look<'_>, device: BlockDevice) -> Array {
    let home = format!("sys/block/{}/md", device.name);
    let word = |name: &str| look.word(&format!("{home}/{name}"), Part::Array);
    let state = |member: &String| word(&format!("dev-{member}/state"));
    Array {
        level: word("level"),
        mapper_name: None,
        members: device.slaves.iter().map(|m| Member { name: m.clone(), state: state(m) }).collect(),
        chunk_bytes: look.number(&format!("{home}/chunk_size"), Part::Array).filter(|b| *b > 0),
        degraded: look.number(&format!("{home}/degraded"), Part::Array),
        sync_action: word("sync_action"),
        device,
    }
}

fn dm(look: &Look<'_>, device: BlockDevice) -> Array {
    let home = format!("sys/block/{}/dm", device.name);
    // The part before the first dash names the owner: LVM-..., CRYPT-LUKS2-..., mpath-...
    let owner = look.word(&format!("{home}/uuid"), Part::DeviceMapper).and_then(|uuid| {
        let owner = uuid.split('-').next().unwrap_or("").to_owned();
        (!owner.is_empty()).then_some(owner)
    });
    Array {
        level: owner,
        mapper_name: look.word(&format!("{home}/name"), Part::DeviceMapper),
        members: device.slaves.iter().map(|m| Member { name: m.clone(), state: None }).collect(),
        chunk_bytes: None,
        degraded: None,
        sync_action: None,
        device,
    }
}

/// Reads the mounts that lie on block devices, each mount point and device once.
pub(crate) fn file_systems(look: &Look<'_>) -> Vec<FileSystem> {
    let mounts = mounts(look.root()).unwrap_or_else(|error| {
        look.miss_probe(Part::FileSystems, "proc/self/mountinfo", &error);
        Vec::new()
    });
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for mount in mounts {
        let by_number = look.real(&format!("sys/dev/block/{}", mount.device_number));
        // btrfs and zfs have no device number of their own; the source names one of the devices.
        let name = match by_number {
            Some(real) => real.rsplit('/').next().map(ToOwned::to_owned),
            None => mount.source.strip_prefix("/dev/").map(ToOwned::to_owned),
        };
        let Some(device) = name.and_then(|n| device_by_name(look.root(), &n).ok()) else { continue };
        let device = cleaned(device);
        let system = FileSystem {
            mount_point: clean(&mount.mount_point.to_string_lossy()),
            fs_type: clean(&mount.fs_type),
            device: device.partition.clone().unwrap_or_else(|| device.name.clone()),
            whole_device: device.name,
            options: clean(&mount.options),
        };
        if seen.insert((system.mount_point.clone(), system.device.clone())) {
            found.push(system);
        }
    }
    found
}

/// Reads the mounts of network file systems. Nobody is asked for the address of a name.
pub(crate) fn network_file_systems(look: &Look<'_>) -> Vec<NetworkFileSystem> {
    // Mounts that cannot be read were noted when file systems were read.
    let all = mounts(look.root()).unwrap_or_default();
    let found = all.into_iter().filter_map(|mount| {
        let NetworkMount { server, address, .. } = NetworkMount::of(&mount)?;
        Some(NetworkFileSystem {
            mount_point: clean(&mount.mount_point.to_string_lossy()),
            fs_type: clean(&mount.fs_type),
            server: clean(&server),
            options: clean(&mount.options),
            link: address.and_then(|address| network_link(look.root(), address)),
        })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_host::testing::Tree;

    fn stacked() -> Tree {
        let tree = Tree::new();
        tree.disk("sda", "8:0", 4096, "pci0/ata1/host0").partition("sda", "pci0/ata1/host0", "sda1", "8:1");
        tree.disk("md0", "9:0", 4096, "virtual").disk("dm-0", "253:0", 4096, "virtual");
        let md = "sys/devices/virtual/block/md0";
        tree.folder(&format!("{md}/slaves/sda1"))
            .folder(&format!("{md}/slaves/sdb1"))
            .file(&format!("{md}/md/level"), "raid1\n")
            .file(&format!("{md}/md/degraded"), "1\n")
            .file(&format!("{md}/md/chunk_size"), "0\n")
            .file(&format!("{md}/md/sync_action"), "recover\n")
            .file(&format!("{md}/md/dev-sda1/state"), "in_sync\n")
            .file("sys/devices/virtual/block/dm-0/dm/name", "vg-data\n")
            .file("sys/devices/virtual/block/dm-0/dm/uuid", "LVM-abcdef\n")
            .folder("sys/devices/virtual/block/dm-0/slaves/md0")
            .file(
                "proc/self/mountinfo",
                "30 1 253:0 / /data rw - xfs /dev/mapper/vg-data rw\n31 1 253:0 / /data rw - xfs /dev/mapper/vg-data rw\n\
                 32 1 0:40 / /b rw - btrfs /dev/sda1 rw\n33 1 0:3 / /proc rw - proc proc rw\n",
            );
        tree
    }

    #[test]
    fn arrays_list_their_members_with_state() {
        let tree = stacked();
        let root = tree.root();
        let found = arrays(&Look::new(&root));
        let (dm, md) = (&found[0], &found[1]);
        assert_eq!((dm.level.as_deref(), dm.mapper_name.as_deref()), (Some("LVM"), Some("vg-data")));
        assert_eq!((md.level.as_deref(), md.degraded, md.chunk_bytes), (Some("raid1"), Some(1), None));
        let members: Vec<_> = md.members.iter().map(|m| (m.name.as_str(), m.state.as_deref())).collect();
        assert_eq!(members, [("sda1", Some("in_sync")), ("sdb1", None)]);
    }

    #[test]
    fn file_systems_lead_to_their_whole_devices() {
        let tree = stacked();
        let root = tree.root();
        let found = file_systems(&Look::new(&root));
        let seen: Vec<_> =
            found.iter().map(|f| (f.mount_point.as_str(), f.device.as_str(), f.whole_device.as_str())).collect();
        assert_eq!(seen, [("/data", "dm-0", "dm-0"), ("/b", "sda1", "sda")]);
    }

    #[test]
    fn network_file_systems_name_their_server_and_the_way_there() {
        let tree = Tree::new();
        let routes = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n\
            eth1 0000000A 00000000 0001 0 0 0 000000FF 0 0 0\n";
        tree.file(
            "proc/self/mountinfo",
            "30 1 0:50 / /mnt rw,noatime - nfs4 nas:/export rw,vers=4.2,proto=tcp,addr=10.0.0.7\n\
             31 1 8:1 / /data rw - xfs /dev/sda1 rw\n32 1 0:51 / /s rw - fuse.sshfs me@other: rw\n",
        )
        .file("proc/net/route", routes)
        .file("sys/class/net/eth1/speed", "25000\n");
        let root = tree.root();
        let found = network_file_systems(&Look::new(&root));
        let seen: Vec<_> = found.iter().map(|f| (f.mount_point.as_str(), f.server.as_str())).collect();
        assert_eq!(seen, [("/mnt", "nas"), ("/s", "other")]);
        assert_eq!(found[0].link.as_ref().and_then(|link| link.bits_per_s), Some(25_000_000_000));
        assert_eq!(found[1].link, None);
    }
}
