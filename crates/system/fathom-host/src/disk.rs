//! The block device behind a path, and what the kernel says about it.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fathom_message::{Message, Say, msg, say_error};
use serde::{Deserialize, Serialize};

use crate::mount::{Mount, mount_of};
use crate::root::{ProbeError, Root, attribute, names_in, number, required_number};
use crate::system::code;
use crate::system::files::{self, FileType, Stat};

/// What sort of block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    /// A drive, real or a hypervisor's.
    Disk,
    /// LVM, dm-crypt, multipath...
    DeviceMapper,
    /// Software RAID.
    Md,
    /// A file as a device.
    Loop,
    /// Compressed memory.
    Zram,
    /// Another virtual device: ram, nbd, null_blk...
    Virtual,
}

/// A whole block device. Sizes in bytes; attributes the driver does not offer are `None`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockDevice {
    /// Kernel name, e.g. `nvme0n1`.
    pub name: String,
    /// Node, e.g. `/dev/nvme0n1`.
    pub dev_path: PathBuf,
    /// `MAJ:MIN`.
    pub number: String,
    /// What sort.
    pub kind: DeviceKind,
    /// The partition that was asked for, if the path lies on one.
    pub partition: Option<String>,
    /// Devices below it (dm, md), or the backing file (loop).
    pub slaves: Vec<String>,
    /// Model.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// Capacity.
    pub size_bytes: u64,
    /// Smallest I/O.
    pub logical_block_bytes: u32,
    /// Smallest I/O that needs no read-modify-write.
    pub physical_block_bytes: u32,
    /// Spinning, as the driver believes.
    pub rotational: bool,
    /// I/O scheduler in force.
    pub scheduler: Option<String>,
    /// Requests a queue may hold.
    pub nr_requests: Option<u32>,
    /// Hardware queues.
    pub hw_queues: u32,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// How it is attached: `nvme-pcie`, `nvme-tcp`, `virtio`, `sata`, `scsi`, `usb`, `mmc`, `memory`, `virtual`...
    pub transport: String,
    /// NUMA node it is attached to.
    pub numa_node: Option<u32>,
    /// The device refuses writes.
    pub read_only: bool,
    /// Polled completion is possible on its queues.
    pub io_poll: bool,
    /// Poll queues the nvme driver was loaded with; `None` for other drivers.
    pub poll_queues: Option<u32>,
}

impl BlockDevice {
    /// What names this drive in `--destroy`: the serial number, or the kernel name where there is none (zram, loop).
    #[must_use]
    pub fn consent_name(&self) -> &str {
        self.serial.as_deref().unwrap_or(&self.name)
    }
}

/// Why no block device was found.
#[derive(Debug)]
pub enum DiskError {
    /// The path cannot be looked at.
    Path {
        /// The path.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// The file system has no block device of its own (tmpfs, overlay, NFS).
    NoBlockDevice {
        /// The path.
        path: PathBuf,
        /// Type of the file system; `None`: not known.
        fs_type: Option<String>,
    },
    /// The kernel shows no such device.
    Unknown {
        /// Name or number.
        name: String,
    },
    /// An attribute that every device has is missing.
    Probe(ProbeError),
}

impl From<ProbeError> for DiskError {
    fn from(error: ProbeError) -> DiskError {
        DiskError::Probe(error)
    }
}

impl Say for DiskError {
    fn message(&self) -> Message {
        match self {
            DiskError::Path { path, source } => msg!("guard-unreachable", path = path, error = source),
            DiskError::NoBlockDevice { path, fs_type: Some(fs) } => {
                msg!("disk-none-below-file-system", path = path, fs = fs)
            }
            DiskError::NoBlockDevice { path, fs_type: None } => msg!("disk-none", path = path),
            DiskError::Unknown { name } => msg!("disk-unknown", name = name),
            DiskError::Probe(error) => error.message(),
        }
    }
}

say_error!(DiskError);

/// The whole device behind a file, folder or block device; a file that is yet to be created counts as its folder.
///
/// # Errors
/// [`DiskError`]; [`DiskError::NoBlockDevice`] is an ordinary answer for tmpfs and the like.
pub fn whole_device_of(root: &Root, path: &Path) -> Result<BlockDevice, DiskError> {
    let (real, stat) = look_at(path)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::BlockDevice => return device_by_number(root, &number_of(stat.st_rdev)),
        FileType::CharacterDevice => return device_by_generic(root, &number_of(stat.st_rdev)),
        _ => {}
    }
    let number = number_of(stat.st_dev);
    if root.join("sys/dev/block").join(&number).exists() {
        return device_by_number(root, &number);
    }
    // btrfs gives its files a number of no device; its mount names one of its devices.
    let mount = mount_of(root, &real)?;
    let source = mount.as_ref().map(|m| Path::new(&m.source)).filter(|s| s.starts_with("/dev/"));
    let is_block_device = |stat: &Stat| FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
    if let Some(device) = source.and_then(|s| files::stat(s).ok()).filter(is_block_device) {
        return device_by_number(root, &number_of(device.st_rdev));
    }
    Err(DiskError::NoBlockDevice { path: path.to_owned(), fs_type: mount.map(|m: Mount| m.fs_type) })
}

/// The real path of, and what the system says of, `path`, or of its folder when it does not exist yet.
pub(crate) fn look_at(path: &Path) -> Result<(PathBuf, Stat), DiskError> {
    let fail = |source| DiskError::Path { path: path.to_owned(), source };
    let real = match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            fs::canonicalize(folder).map_err(fail)?
        }
        other => other.map_err(fail)?,
    };
    let stat = files::stat(&real).map_err(|errno| fail(errno.into()))?;
    Ok((real, stat))
}

/// `MAJ:MIN` of a device number as sysfs writes it.
pub(crate) fn number_of(device: u64) -> String {
    format!("{}:{}", code::major(device), code::minor(device))
}

/// The whole device with this `MAJ:MIN`, or the one its partition lies on.
pub(crate) fn device_by_number(root: &Root, number: &str) -> Result<BlockDevice, DiskError> {
    let link = root.join("sys/dev/block").join(number);
    let home = fs::canonicalize(&link).map_err(|_| DiskError::Unknown { name: number.to_owned() })?;
    from_sysfs(root, &home)
}

/// The whole device of kernel name `name`, or the one the partition `name` lies on.
///
/// # Errors
/// [`DiskError::Unknown`] when there is none of that name.
pub fn device_by_name(root: &Root, name: &str) -> Result<BlockDevice, DiskError> {
    // A folder that somebody copied may lack the class; sys/block has whole devices alone.
    let homes = ["sys/class/block", "sys/block"].map(|folder| root.join(folder).join(name));
    let home = homes.iter().find_map(|link| fs::canonicalize(link).ok());
    let home = home.ok_or_else(|| DiskError::Unknown { name: name.to_owned() })?;
    from_sysfs(root, &home)
}

/// The devices `names` and all that they are built on, each once; what cannot be read is left out.
///
/// A loop device names a file as what is below it, which is no device.
pub(crate) fn devices_below(root: &Root, names: &[String]) -> Vec<BlockDevice> {
    let mut open: Vec<String> = names.to_vec();
    let mut seen = HashSet::new();
    let mut found: Vec<BlockDevice> = Vec::new();
    while let Some(name) = open.pop() {
        let Ok(device) = device_by_name(root, &name) else { continue };
        // By what is found, for a partition leads to its drive; a tree that was tampered with may lead in a circle.
        if seen.insert(device.name.clone()) {
            open.extend(device.slaves.iter().filter(|below| !below.contains('/')).cloned());
            found.push(device);
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// The block device of the NVMe namespace whose character device (`/dev/ng0n1`) has this `MAJ:MIN`. Both nodes lead to the
/// same blocks.
///
/// # Errors
/// [`DiskError::Unknown`] when the character device is something else, or its block device is not there.
pub(crate) fn device_by_generic(root: &Root, number: &str) -> Result<BlockDevice, DiskError> {
    let unknown = || DiskError::Unknown { name: number.to_owned() };
    let home = fs::canonicalize(root.join("sys/dev/char").join(number)).map_err(|_| unknown())?;
    // The driver numbers both nodes alike: ng0n1 and nvme0n1.
    let name = file_name(&home);
    let (controller, namespace) = name.strip_prefix("ng").and_then(|n| n.split_once('n')).ok_or_else(unknown)?;
    let numeric = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
    if !numeric(controller) || !numeric(namespace) {
        return Err(unknown());
    }
    device_by_name(root, &format!("nvme{controller}n{namespace}"))
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

fn from_sysfs(root: &Root, home: &Path) -> Result<BlockDevice, DiskError> {
    let partition = home.join("partition").exists().then(|| file_name(home));
    let home = if partition.is_some() { home.parent().unwrap_or(home) } else { home };
    let name = file_name(home);
    let kind = kind_of(home, &name);
    let queue = home.join("queue");
    let device = home.join("device");
    let number_text = fs::read_to_string(home.join("dev")).map_err(ProbeError::read(&home.join("dev")))?;
    let is_nvme = name.starts_with("nvme");
    let poll_queues = root.join("sys/module/nvme/parameters/poll_queues");
    Ok(BlockDevice {
        // A "/" in a node's name is written "!" in sysfs (cciss!c0d0).
        dev_path: Path::new("/dev").join(name.replace('!', "/")),
        number: number_text.trim().to_owned(),
        kind,
        partition,
        slaves: slaves_of(home, kind),
        model: attribute(&device.join("model")),
        serial: serial_of(home),
        firmware: attribute(&device.join("firmware_rev")).or_else(|| attribute(&device.join("rev"))),
        // Sysfs counts in 512-byte sectors whatever the logical block is.
        size_bytes: required_number(&home.join("size"))?.saturating_mul(512),
        logical_block_bytes: required_number(&queue.join("logical_block_size"))? as u32,
        physical_block_bytes: required_number(&queue.join("physical_block_size"))? as u32,
        rotational: number(&queue.join("rotational")) == Some(1),
        scheduler: attribute(&queue.join("scheduler")).map(|text| bracketed(&text)),
        nr_requests: number(&queue.join("nr_requests")).map(|n| n as u32),
        hw_queues: names_in(&home.join("mq")).len() as u32,
        write_cache: attribute(&queue.join("write_cache")),
        transport: transport_of(home, kind, is_nvme),
        numa_node: numa_node_of(home),
        read_only: number(&home.join("ro")) == Some(1),
        io_poll: number(&queue.join("io_poll")) == Some(1),
        poll_queues: if is_nvme { number(&poll_queues).map(|n| n as u32) } else { None },
        name,
    })
}

/// `mq-deadline` of `none [mq-deadline] kyber`; the whole text when nothing is bracketed.
fn bracketed(text: &str) -> String {
    let inner = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(word, _)| word);
    inner.unwrap_or(text).to_owned()
}

fn kind_of(home: &Path, name: &str) -> DeviceKind {
    if home.join("dm").exists() {
        DeviceKind::DeviceMapper
    } else if home.join("md").exists() {
        DeviceKind::Md
    } else if name.starts_with("loop") {
        DeviceKind::Loop
    } else if name.starts_with("zram") {
        DeviceKind::Zram
    } else if home.join("device").exists() || !home.components().any(|c| c.as_os_str() == "virtual") {
        DeviceKind::Disk
    } else {
        DeviceKind::Virtual
    }
}

fn slaves_of(home: &Path, kind: DeviceKind) -> Vec<String> {
    match kind {
        DeviceKind::Loop => attribute(&home.join("loop/backing_file")).into_iter().collect(),
        _ => names_in(&home.join("slaves")),
    }
}

/// Where drivers put the serial number: virtio beside the disk, NVMe below `device`, SCSI in vital product data page
/// 0x80 (4 bytes of header, SPC-4 7.8.17).
fn serial_of(home: &Path) -> Option<String> {
    attribute(&home.join("serial")).or_else(|| attribute(&home.join("device/serial"))).or_else(|| {
        let page = fs::read(home.join("device/vpd_pg80")).ok()?;
        let text =
            String::from_utf8_lossy(page.get(4..)?).trim_matches(|c: char| c == '\0' || c.is_whitespace()).to_owned();
        (!text.is_empty()).then_some(text)
    })
}

fn transport_of(home: &Path, kind: DeviceKind, is_nvme: bool) -> String {
    match kind {
        DeviceKind::Zram => return "memory".to_owned(),
        DeviceKind::Loop => return "file".to_owned(),
        DeviceKind::Md | DeviceKind::DeviceMapper => return "stacked".to_owned(),
        DeviceKind::Disk | DeviceKind::Virtual => {}
    }
    if is_nvme {
        // A multipath head has no transport of its own.
        return match attribute(&home.join("device/transport")) {
            Some(transport) => format!("nvme-{transport}"),
            None => "nvme".to_owned(),
        };
    }
    let has = |prefix: &str| home.components().any(|c| c.as_os_str().to_string_lossy().starts_with(prefix));
    // The order matters: a USB stick and a SATA drive are below a SCSI host as well.
    for (prefix, word) in [("usb", "usb"), ("virtio", "virtio"), ("ata", "sata"), ("mmc", "mmc"), ("host", "scsi")] {
        if has(prefix) {
            return word.to_owned();
        }
    }
    if has("virtual") { "virtual" } else { "unknown" }.to_owned()
}

/// Node of the nearest ancestor that names one; -1 means the firmware said nothing.
fn numa_node_of(home: &Path) -> Option<u32> {
    let device = fs::canonicalize(home.join("device")).ok()?;
    device.ancestors().find_map(|folder| attribute(&folder.join("numa_node"))).and_then(|text| text.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tree::Tree;

    const NVME: &str = "pci0000:00/0000:00:04.0/nvme/nvme0/nvme0n1x";

    fn nvme() -> Tree {
        let tree = Tree::new();
        tree.disk("nvme0n1", "259:0", 1000, NVME).partition("nvme0n1", NVME, "nvme0n1p2", "259:2");
        let home = format!("sys/devices/{NVME}/block/nvme0n1");
        tree.file("sys/devices/pci0000:00/0000:00:04.0/numa_node", "1\n")
            .file("sys/devices/pci0000:00/0000:00:04.0/nvme/nvme0/model", "FAST DRIVE   \n")
            .file("sys/devices/pci0000:00/0000:00:04.0/nvme/nvme0/serial", "S64GNE0R  \n")
            .file("sys/devices/pci0000:00/0000:00:04.0/nvme/nvme0/transport", "pcie\n")
            .link(&format!("{home}/device"), "../../../../nvme0")
            .file("sys/module/nvme/parameters/poll_queues", "2\n")
            .folder(&format!("{home}/mq/0"))
            .folder(&format!("{home}/mq/1"));
        tree
    }

    #[test]
    fn a_partition_leads_to_its_whole_drive_with_all_attributes() {
        let device = device_by_number(&nvme().root(), "259:2").expect("found");
        assert_eq!((device.name.as_str(), device.partition.as_deref()), ("nvme0n1", Some("nvme0n1p2")));
        assert_eq!((device.model.as_deref(), device.consent_name()), (Some("FAST DRIVE"), "S64GNE0R"));
        assert_eq!((device.size_bytes, device.logical_block_bytes, device.physical_block_bytes), (512_000, 512, 4096));
        assert_eq!((device.scheduler.as_deref(), device.nr_requests, device.hw_queues), (Some("none"), Some(256), 2));
        assert_eq!((device.transport.as_str(), device.numa_node, device.poll_queues), ("nvme-pcie", Some(1), Some(2)));
        assert_eq!((device.kind, device.number.as_str()), (DeviceKind::Disk, "259:0"));
        let text = serde_json::to_string(&device).expect("json");
        assert_eq!(serde_json::from_str::<BlockDevice>(&text).expect("json"), device);
    }

    #[test]
    fn stacked_devices_list_what_is_below_them() {
        let tree = Tree::new();
        tree.disk("md0", "9:0", 8, "virtual").folder("sys/devices/virtual/block/md0/md");
        tree.folder("sys/devices/virtual/block/md0/slaves/sda1").folder("sys/devices/virtual/block/md0/slaves/sdb1");
        tree.disk("loop3", "7:3", 8, "virtual")
            .file("sys/devices/virtual/block/loop3/loop/backing_file", "/srv/image\n");
        let md = device_by_name(&tree.root(), "md0").expect("found");
        assert_eq!((md.kind, md.slaves), (DeviceKind::Md, vec!["sda1".to_owned(), "sdb1".to_owned()]));
        let looped = device_by_name(&tree.root(), "loop3").expect("found");
        assert_eq!(
            (looped.kind, looped.slaves, looped.serial),
            (DeviceKind::Loop, vec!["/srv/image".to_owned()], None)
        );
    }

    #[test]
    fn a_serial_of_a_scsi_drive_comes_from_its_product_data() {
        let tree = Tree::new();
        tree.disk("sda", "8:0", 8, "pci0/ata1/host0");
        tree.file("sys/devices/pci0/ata1/host0/block/sda/device/vpd_pg80", b"\0\x80\0\x08  ABC123");
        let device = device_by_name(&tree.root(), "sda").expect("found");
        assert_eq!((device.serial.as_deref(), device.transport.as_str()), (Some("ABC123"), "sata"));
    }

    #[test]
    fn an_unknown_device_and_a_missing_folder_are_named() {
        assert!(device_by_name(&nvme().root(), "sdq").expect_err("none").to_string().contains("sdq"));
        let error = whole_device_of(&Root::live(), Path::new("/no/such/folder/file")).expect_err("missing");
        assert!(matches!(error, DiskError::Path { .. }), "{error}");
    }

    #[test]
    fn a_file_on_the_live_machine_has_a_device_or_a_named_reason() {
        let dir = tempfile::tempdir().expect("temp dir");
        match whole_device_of(&Root::live(), &dir.path().join("not-there-yet")) {
            Ok(device) => {
                assert!(device.size_bytes > 0);
                assert!(device.logical_block_bytes.is_power_of_two());
            }
            Err(DiskError::NoBlockDevice { fs_type, .. }) => assert!(fs_type.is_some_and(|fs| !fs.is_empty())),
            Err(other) => panic!("{other}"),
        }
    }
}
