//! A machine's tree in one tar file, to be inspected elsewhere.
//!
//! What [`crate::Inventory::read`] reads, and no more (raw pages of NVMe controllers lie in a folder `nvme`): no host
//! name, no address, no user; serial numbers and unique names of drives only when asked for. Symlinks are kept.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read, Seek, Write};
use std::path::{Component, Path, PathBuf};

use crate::admin::page_files;
use fathom_host::{Root, create_new_file};
use fathom_message::{Message, Say, msg, say_error};

/// What is packed: paths below the root, `*` standing for one component or a part of it.
const PATTERNS: &[&str] = &[
    "proc/{cpuinfo,meminfo,interrupts,cmdline}",
    "proc/sys/kernel/{osrelease,io_uring_disabled}",
    "proc/self/{status,mountinfo,cgroup}",
    "proc/irq/*/{smp_affinity_list,effective_affinity_list}",
    "proc/*/comm",
    ".dockerenv",
    "run/.containerenv",
    "run/systemd/container",
    "sys/hypervisor/type",
    "sys/class/dmi/id/sys_vendor",
    "sys/devices/system/cpu/{online,isolated,possible}",
    "sys/devices/system/cpu/smt/{control,active}",
    "sys/devices/system/cpu/vulnerabilities/*",
    "sys/devices/system/cpu/cpu*/topology/{core_id,physical_package_id,thread_siblings_list}",
    "sys/devices/system/cpu/cpu*/cache/index*/{level,type,size,shared_cpu_list}",
    "sys/devices/system/cpu/cpu*/cpufreq/{scaling_driver,scaling_governor,scaling_min_freq,scaling_max_freq,energy_performance_preference}",
    "sys/devices/system/cpu/cpu*/cpuidle/state*/{name,latency,disable}",
    "sys/devices/system/node/node*/{cpulist,cpumap,distance,meminfo}",
    "sys/devices/system/clocksource/clocksource0/{current_clocksource,available_clocksource}",
    "sys/module/{nvme,nvme_core,pcie_aspm}/parameters/*",
    "sys/kernel/iommu_groups/*/type",
    "sys/bus/pci/devices/*/{class,vendor,device,numa_node,current_link_speed,current_link_width,max_link_speed,max_link_width,config,driver,iommu_group}",
    "sys/bus/pci/devices/*/msi_irqs/*",
    "sys/class/nvme/nvme*/{model,serial,firmware_rev,state,transport,queue_count,numa_node,device}",
    "sys/class/nvme/nvme*/hwmon*/{temp1_input,temp1_max,temp1_crit}",
    "sys/class/nvme/nvme*/hwmon/hwmon*/{temp1_input,temp1_max,temp1_crit}",
    "sys/dev/block/*/dev",
    "sys/class/block/*/dev",
    "sys/block/*/{dev,size,ro,serial,nsid,device}",
    "sys/block/*/*/{dev,size,partition}",
    "sys/block/*/holders/*",
    "sys/block/*/slaves/*",
    "sys/block/*/queue/*",
    "sys/block/*/mq/*/cpu_list",
    "sys/block/*/device/{model,rev,firmware_rev,state,serial,vpd_pg80,transport,numa_node}",
    "sys/block/*/device/hwmon*/{temp1_input,temp1_max,temp1_crit}",
    "sys/block/*/device/hwmon/hwmon*/{temp1_input,temp1_max,temp1_crit}",
    "sys/block/*/loop/backing_file",
    "sys/block/*/md/{level,chunk_size,degraded,sync_action,array_state,raid_disks}",
    "sys/block/*/md/dev-*/state",
    "sys/block/*/dm/{name,uuid}",
];

/// Files that name one drive in the world.
const SERIALS: [&str; 2] = ["serial", "vpd_pg80"];
/// More than any machine has; a capture that holds more was tampered with.
const ENTRIES_MAX: usize = 400_000;
/// As above, for all contents together.
const BYTES_MAX: u64 = 512 << 20;

/// What was being done when reading or writing failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureStage {
    /// The machine's tree was looked at.
    Look,
    /// The archive was written.
    Write,
    /// The archive was read.
    Read,
    /// The archive was unpacked into a temporary folder.
    Unpack,
}

/// What no capture holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// A name that leads out of the tree.
    Name,
    /// A symlink that leads out of the tree.
    Link,
    /// A symlink without a target.
    EmptyLink,
    /// More than any machine has.
    Size,
    /// Neither file, folder nor symlink.
    Kind,
}

/// Why a capture could not be written or read.
#[derive(Debug)]
pub enum CaptureError {
    /// Reading or writing failed.
    Io {
        /// What was being done.
        stage: CaptureStage,
        /// What the system answered.
        source: io::Error,
    },
    /// The archive holds what no capture holds.
    Foreign {
        /// Name in the archive.
        path: String,
        /// What is wrong with it.
        what: Foreign,
    },
}

impl Say for CaptureError {
    fn message(&self) -> Message {
        match self {
            CaptureError::Io { stage: CaptureStage::Look, source } => msg!("capture-look", source = source),
            CaptureError::Io { stage: CaptureStage::Write, source } => msg!("capture-write", source = source),
            CaptureError::Io { stage: CaptureStage::Read, source } => msg!("capture-read", source = source),
            CaptureError::Io { stage: CaptureStage::Unpack, source } => msg!("capture-unpack", source = source),
            CaptureError::Foreign { path, what } => {
                let what = match what {
                    Foreign::Name => msg!("capture-foreign-name"),
                    Foreign::Link => msg!("capture-foreign-link"),
                    Foreign::EmptyLink => msg!("capture-foreign-empty-link"),
                    Foreign::Size => msg!("capture-foreign-size"),
                    Foreign::Kind => msg!("capture-foreign-kind"),
                };
                msg!("capture-foreign", path = path, what = what)
            }
        }
    }

    fn help(&self) -> Option<Message> {
        Some(match self {
            CaptureError::Io { stage: CaptureStage::Look, .. } => msg!("capture-look-help"),
            CaptureError::Io { stage: CaptureStage::Write, .. } => msg!("capture-write-help"),
            CaptureError::Io { stage: CaptureStage::Unpack, .. } => msg!("capture-unpack-help"),
            CaptureError::Io { stage: CaptureStage::Read, .. } | CaptureError::Foreign { .. } => msg!("capture-help"),
        })
    }
}

say_error!(CaptureError);

fn failed(stage: CaptureStage) -> impl FnOnce(io::Error) -> CaptureError {
    move |source| CaptureError::Io { stage, source }
}

/// What the patterns select: folders, files and links, below the root, by their real paths.
#[derive(Default)]
struct Selection {
    folders: BTreeSet<PathBuf>,
    files: BTreeSet<PathBuf>,
    links: BTreeSet<(PathBuf, PathBuf)>,
}

/// Packs the tree below `root` into `out` and returns how many files it holds.
///
/// # Errors
/// [`CaptureError::Io`] when `out` cannot be written; files that cannot be read are left out, as an inventory of the
/// live machine would lack them too.
pub fn capture(root: &Root, out: impl Write, with_serials: bool) -> Result<u32, CaptureError> {
    let base = fs::canonicalize(root.join("")).map_err(failed(CaptureStage::Look))?;
    let mut selection = Selection::default();
    for pattern in PATTERNS.iter().flat_map(|p| expand(p)).chain(cgroup_files(root)) {
        let components: Vec<&str> = pattern.split('/').collect();
        let _found_any = select(&base, &base, &components, &mut selection);
    }
    write(&base, &selection, &page_files(root, with_serials), out, with_serials)
}

/// `a/{b,c}` -> `a/b`, `a/c`.
fn expand(pattern: &str) -> Vec<String> {
    let Some((head, rest)) = pattern.split_once('{') else { return vec![pattern.to_owned()] };
    let Some((words, tail)) = rest.split_once('}') else { return vec![pattern.to_owned()] };
    words.split(',').flat_map(|word| expand(&format!("{head}{word}{tail}"))).collect()
}

/// Limits in the control group of this process and above it, wherever the hierarchies are mounted.
fn cgroup_files(root: &Root) -> Vec<String> {
    let read = |path: &str| root.read(path).unwrap_or_default();
    let levels = crate::limits::all_levels(&read("proc/self/cgroup"), &read("proc/self/mountinfo"));
    let files = [
        "cpu.max",
        "cpuset.cpus.effective",
        "memory.max",
        "io.max",
        "io.latency",
        "io.cost.qos",
        "cpu.cfs_quota_us",
        "cpu.cfs_period_us",
        "blkio.throttle.read_bps_device",
        "blkio.throttle.write_bps_device",
        "blkio.throttle.read_iops_device",
        "blkio.throttle.write_iops_device",
    ];
    levels.iter().flat_map(|level| files.iter().map(move |file| format!("{level}/{file}"))).collect()
}

/// Whether `name` fits a pattern with at most one `*`.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, tail)) => name.len() >= head.len() + tail.len() && name.starts_with(head) && name.ends_with(tail),
    }
}

/// Follows a pattern from `folder`, which is real, and returns whether it led anywhere. Links on the way are packed if
/// they lead somewhere; at the end of a pattern also if they do not, because their target's name says something.
fn select(base: &Path, folder: &Path, pattern: &[&str], selection: &mut Selection) -> bool {
    let Some((first, rest)) = pattern.split_first() else { return false };
    let names: Vec<String> = if first.contains('*') {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.filter_map(|e| e.file_name().into_string().ok()).filter(|n| fits(first, n)).collect()
    } else {
        vec![(*first).to_owned()]
    };
    names.iter().filter(|name| select_one(base, &folder.join(name), rest, selection)).count() > 0
}

fn select_one(base: &Path, path: &Path, rest: &[&str], selection: &mut Selection) -> bool {
    let Ok(metadata) = fs::symlink_metadata(path) else { return false };
    let Ok(relative) = path.strip_prefix(base).map(Path::to_owned) else { return false };
    // /proc/self is another process elsewhere: its files are packed in its place.
    let is_self = relative.starts_with("proc/self");
    let target = if metadata.is_symlink() && !is_self { fs::read_link(path).ok() } else { None };
    let real = if is_self { Ok(path.to_owned()) } else { fs::canonicalize(path) };
    let inside = real.ok().filter(|real| real.starts_with(base));
    let found = match (&inside, rest.is_empty()) {
        (Some(real), false) => real.is_dir() && select(base, real, rest, selection),
        (Some(real), true) => {
            let Ok(place) = real.strip_prefix(base).map(Path::to_owned) else { return false };
            if real.is_dir() {
                selection.folders.insert(place)
            } else {
                selection.files.insert(place)
            };
            true
        }
        (None, is_end) => is_end && target.is_some(),
    };
    if let Some(target) = target.filter(|_| found) {
        selection.links.insert((relative, target));
    }
    found
}

fn write(
    base: &Path,
    selection: &Selection,
    pages: &[(PathBuf, Vec<u8>)],
    out: impl Write,
    with_serials: bool,
) -> Result<u32, CaptureError> {
    let broken = || failed(CaptureStage::Write);
    let mut archive = tar::Builder::new(out);
    let header = |kind: tar::EntryType, size: u64, mode: u32| {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(size);
        header.set_mode(mode);
        header
    };
    for folder in &selection.folders {
        let mut header = header(tar::EntryType::Directory, 0, 0o755);
        archive.append_data(&mut header, folder, io::empty()).map_err(broken())?;
    }
    let mut count = 0;
    for file in &selection.files {
        let Ok(raw) = fs::read(base.join(file)) else { continue };
        let Some(bytes) = passed_on(file, raw, with_serials) else { continue };
        let mut header = header(tar::EntryType::Regular, bytes.len() as u64, 0o644);
        archive.append_data(&mut header, file, &bytes[..]).map_err(broken())?;
        count += 1;
    }
    for (file, bytes) in pages {
        let mut header = header(tar::EntryType::Regular, bytes.len() as u64, 0o644);
        archive.append_data(&mut header, file, &bytes[..]).map_err(broken())?;
        count += 1;
    }
    for (link, target) in &selection.links {
        let mut header = header(tar::EntryType::Symlink, 0, 0o777);
        archive.append_link(&mut header, link, target).map_err(broken())?;
    }
    archive.into_inner().and_then(|mut out| out.flush()).map_err(broken())?;
    Ok(count)
}

/// What of a file may be passed on: `None` leaves it out.
fn passed_on(path: &Path, raw: Vec<u8>, with_serials: bool) -> Option<Vec<u8>> {
    let name = path.file_name()?.to_str()?;
    let lines = |keep: &dyn Fn(&str) -> bool| {
        let text = String::from_utf8_lossy(&raw);
        text.lines().filter(|l| keep(l)).map(|l| format!("{l}\n")).collect::<String>().into_bytes()
    };
    let text = path.to_str()?;
    Some(match (text, name) {
        (_, name) if SERIALS.contains(&name) && !with_serials => return None,
        // Small computers name themselves here.
        ("proc/cpuinfo", _) => lines(&|l| !l.starts_with("Serial")),
        ("proc/cmdline", _) => {
            let line = String::from_utf8_lossy(&raw).into_owned();
            let telling = |w: &&str| crate::is_telling_option(w.split('=').next().unwrap_or(w));
            format!("{}\n", line.split_whitespace().filter(telling).collect::<Vec<_>>().join(" ")).into_bytes()
        }
        // Other mounts may name servers, shares and people.
        ("proc/self/mountinfo", _) => {
            lines(&|l| l.split_once(" - ").is_some_and(|(_, t)| t.contains(" /dev/") || t.starts_with("cgroup")))
        }
        ("proc/self/status", _) => lines(&|l| l.starts_with("Cpus_allowed_list:")),
        // Of all processes only the one that moves interrupts matters.
        (_, "comm") => {
            if String::from_utf8_lossy(&raw).trim() != "irqbalance" {
                return None;
            }
            raw
        }
        // The start names the owner; the rest is unique in the world.
        (path, "uuid") if path.contains("/dm/") && !with_serials => {
            let text = String::from_utf8_lossy(&raw);
            format!("{}-\n", text.split('-').next().unwrap_or("").trim()).into_bytes()
        }
        _ => raw,
    })
}

/// A capture unpacked into a temporary folder, which goes when this is dropped.
#[derive(Debug)]
pub struct UnpackedCapture {
    folder: tempfile::TempDir,
}

impl UnpackedCapture {
    /// The root to inspect.
    #[must_use]
    pub fn root(&self) -> Root {
        Root::new(self.folder.path())
    }
}

/// Unpacks a capture. Nothing in it can reach outside of the temporary folder: names and links that would are refused,
/// and links are made last, so that no file is written through one.
///
/// # Errors
/// [`CaptureError`] for what cannot be read or is no capture.
pub fn unpack(archive: impl Read + Seek) -> Result<UnpackedCapture, CaptureError> {
    let folder = tempfile::tempdir().map_err(failed(CaptureStage::Unpack))?;
    let read = || failed(CaptureStage::Read);
    let mut links: Vec<(PathBuf, PathBuf)> = Vec::new();
    let (mut count, mut bytes) = (0, 0);
    let mut archive = tar::Archive::new(archive);
    for entry in archive.entries().map_err(read())? {
        let mut entry = entry.map_err(read())?;
        let path = entry.path().map_err(read())?.into_owned();
        let foreign = |what| CaptureError::Foreign { path: crate::clean(&path.to_string_lossy()), what };
        let inside = plain(&path).ok_or_else(|| foreign(Foreign::Name))?;
        (count, bytes) = (count + 1, bytes + entry.size());
        if count > ENTRIES_MAX || bytes > BYTES_MAX {
            return Err(foreign(Foreign::Size));
        }
        let full = folder.path().join(&inside);
        let make = || failed(CaptureStage::Unpack);
        match entry.header().entry_type() {
            tar::EntryType::Directory => fs::create_dir_all(&full).map_err(make())?,
            tar::EntryType::Regular => {
                fs::create_dir_all(full.parent().unwrap_or(folder.path())).map_err(make())?;
                let mut file = create_new_file(&full).map_err(make())?;
                io::copy(&mut entry, &mut file).map_err(make())?;
            }
            tar::EntryType::Symlink => {
                let target = entry.link_name().map_err(read())?.ok_or_else(|| foreign(Foreign::EmptyLink))?;
                if !stays_inside(&inside, &target) {
                    return Err(foreign(Foreign::Link));
                }
                fs::create_dir_all(full.parent().unwrap_or(folder.path())).map_err(make())?;
                links.push((full, target.into_owned()));
            }
            _ => return Err(foreign(Foreign::Kind)),
        }
    }
    for (link, target) in links {
        fathom_host::make_link(&target, &link).map_err(failed(CaptureStage::Unpack))?;
    }
    Ok(UnpackedCapture { folder })
}

/// The path without `.`; `None` when it is absolute or has `..`.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => plain.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(plain)
}

/// Whether a target is written as the kernel writes them, first up, then down, and never climbs above the root. Going
/// up again after going down could leave by way of another link.
fn stays_inside(link: &Path, target: &Path) -> bool {
    let mut depth = link.components().count().saturating_sub(1);
    let mut went_down = false;
    for component in target.components() {
        match component {
            Component::Normal(_) => went_down = true,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 && !went_down => depth -= 1,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machines::{self, Machine};
    use crate::{Inventory, Subject, advise};
    use std::io::Cursor;

    fn packed(root: &Root, with_serials: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        assert!(capture(root, &mut bytes, with_serials).expect("packs") > 0);
        bytes
    }

    fn unpacked(bytes: Vec<u8>) -> Result<UnpackedCapture, CaptureError> {
        unpack(Cursor::new(bytes))
    }

    fn without_serials(mut inventory: Inventory) -> Inventory {
        for drive in &mut inventory.drives {
            drive.device.serial = None;
        }
        inventory
    }

    fn same_elsewhere(machine: &Machine) {
        let here = Inventory::read(&machine.root());
        let there = unpacked(packed(&machine.root(), true)).expect("unpacks");
        assert_eq!(Inventory::read(&there.root()), here);
        let nameless = unpacked(packed(&machine.root(), false)).expect("unpacks");
        let nameless = Inventory::read(&nameless.root());
        assert_eq!(nameless, without_serials(here.clone()));
        assert_eq!(advise(&nameless, &Subject::default()), advise(&here, &Subject::default()));
    }

    #[test]
    fn a_capture_gives_the_same_inventory_elsewhere() {
        same_elsewhere(&machines::r740xd());
        same_elsewhere(&machines::smt_off_with_troubles());
        same_elsewhere(&machines::links_in_trouble());
    }

    #[test]
    fn a_capture_of_a_group_with_limits_keeps_them() {
        let mut machine = Machine::server(1, 4, 1);
        machine.drive_on_port("0000:10", 0, (4, 4), (4, 4), (4, 4));
        machine
            .file("proc/self/cgroup", "0::/x\n")
            .file("proc/self/mountinfo", "31 1 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
            .file("sys/fs/cgroup/x/cpu.max", "150000 100000\n")
            .file("sys/fs/cgroup/x/io.max", "259:0 riops=300\n");
        same_elsewhere(&machine);
    }

    #[test]
    fn no_secret_of_the_machine_is_packed() {
        let mut machine = Machine::server(1, 2, 1);
        machine.drive_on_port("0000:10", 0, (4, 4), (4, 4), (4, 4));
        machine
            .file("proc/cmdline", "root=UUID=topsecret1 nvme.poll_queues=2 token=topsecret2\n")
            .file("proc/77/comm", "topsecret3\n")
            .file("proc/cpuinfo", "model name : x\nSerial : topsecret4\n")
            .file("proc/self/mountinfo", "30 1 0:50 / /mnt rw - nfs topsecret5:/x rw\n")
            .file("proc/sys/kernel/hostname", "topsecret6\n");
        let bytes = packed(&machine.root(), false);
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("topsecret") && !text.contains("S64GNE0R"));
        assert!(text.contains("nvme.poll_queues=2"));
        assert!(String::from_utf8_lossy(&packed(&machine.root(), true)).contains("S64GNE0R"));
    }

    fn archive(fill: impl Fn(&mut tar::Builder<Vec<u8>>)) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        fill(&mut builder);
        builder.into_inner().expect("an archive")
    }

    fn link(path: &str, target: &str) -> Vec<u8> {
        archive(|b| {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(tar::EntryType::Symlink);
            header.set_size(0);
            b.append_link(&mut header, path, target).expect("a link");
        })
    }

    #[test]
    fn an_archive_that_reaches_out_of_its_folder_is_refused() {
        for bytes in [link("sys/a", "/etc"), link("sys/a", "../../etc"), link("sys/a", "b/../../../etc")] {
            let error = unpacked(bytes).expect_err("refused");
            assert!(matches!(error, CaptureError::Foreign { what: Foreign::Link, .. }), "{error}");
        }
        let climbing = archive(|b| {
            let mut header = tar::Header::new_gnu();
            header.set_size(0);
            header.as_old_mut().name[..9].copy_from_slice(b"../escape");
            header.set_cksum();
            b.append(&header, io::empty()).expect("an entry");
        });
        let error = unpacked(climbing).expect_err("refused");
        assert!(matches!(error, CaptureError::Foreign { what: Foreign::Name, .. }), "{error}");
    }

    #[test]
    fn what_is_no_archive_is_refused() {
        let error = unpacked(vec![b'x'; 2048]).expect_err("refused");
        assert!(matches!(error, CaptureError::Io { stage: CaptureStage::Read, .. }), "{error}");
    }

    #[test]
    fn patterns_fit_names() {
        assert!(fits("cpu*", "cpu12") && fits("*", "x") && fits("dev-*", "dev-sda") && fits("class", "class"));
        assert!(!fits("cpu*", "node1") && !fits("class", "classes"));
        assert_eq!(expand("a/{b,c}/{d,e}"), ["a/b/d", "a/b/e", "a/c/d", "a/c/e"]);
    }
}
