//! Limits that are not the hardware's: a hypervisor, a container, a control group.

use serde::{Deserialize, Serialize};

use crate::look::{Look, clean};
use crate::part::Part;

/// Limits of one device in a control group; `None` is unlimited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoLimit {
    /// `MAJ:MIN`.
    pub number: String,
    /// Kernel name, if the device is there.
    pub device: Option<String>,
    /// Bytes read per second.
    pub read_bytes_per_s: Option<u64>,
    /// Bytes written per second.
    pub write_bytes_per_s: Option<u64>,
    /// Reads per second.
    pub read_iops: Option<u64>,
    /// Writes per second.
    pub write_iops: Option<u64>,
}

/// What may hold this process back, whatever the machine has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// `docker`, `podman`, `kubernetes`, `lxc`...
    pub container: Option<String>,
    /// Control group of this process.
    pub cgroup: Option<String>,
    /// CPU time as a number of CPUs, the tightest of all levels.
    pub cpu_max: Option<f64>,
    /// CPUs the group may use, when it is known.
    pub cpuset: Option<String>,
    /// Memory, the tightest of all levels.
    pub memory_max_bytes: Option<u64>,
    /// Devices with limits, of all levels.
    pub io_max: Vec<IoLimit>,
}

impl Limits {
    pub(crate) fn read(look: &Look<'_>) -> Limits {
        let groups = look.text("proc/self/cgroup", Part::ControlGroup).unwrap_or_default();
        let mountinfo = look.text("proc/self/mountinfo", Part::ControlGroup).unwrap_or_default();
        let mut limits = Limits { container: container(look), ..Limits::default() };
        unified(look, &groups, &mountinfo, &mut limits);
        legacy(look, &groups, &mountinfo, &mut limits);
        limits
    }
}

fn container(look: &Look<'_>) -> Option<String> {
    let environment = look.text("run/systemd/container", Part::Container).map(|t| clean(&t)).filter(|t| !t.is_empty());
    let marks = [(".dockerenv", "docker"), ("run/.containerenv", "podman")];
    environment.or_else(|| marks.iter().find(|(file, _)| look.exists(file)).map(|(_, name)| (*name).to_owned()))
}

/// Where a hierarchy is mounted: (mount point without leading slash, the group that is its top there).
fn mounted(mountinfo: &str, is_it: impl Fn(&str, &str) -> bool) -> Option<(String, String)> {
    mountinfo.lines().find_map(|line| {
        let (head, tail) = line.split_once(" - ")?;
        let mut tail = tail.split(' ');
        let (fs_type, options) = (tail.next()?, tail.nth(1).unwrap_or(""));
        let mut head = head.split(' ').skip(3);
        let (top, point) = (head.next()?, head.next()?);
        is_it(fs_type, options).then(|| (point.trim_start_matches('/').to_owned(), top.to_owned()))
    })
}

/// Folders of a group and all above it, deepest first, within the mount.
fn levels(point: &str, top: &str, group: &str) -> Vec<String> {
    let below = group.strip_prefix(top.trim_end_matches('/')).unwrap_or(group).trim_matches('/');
    let parts: Vec<&str> = below.split('/').filter(|p| !p.is_empty() && *p != "..").collect();
    (0..=parts.len()).rev().map(|n| [&[point], &parts[..n]].concat().join("/")).collect()
}

/// Folders of all groups this process is in, and above them, in every hierarchy.
pub(crate) fn all_levels(groups: &str, mountinfo: &str) -> Vec<String> {
    let one = |line: &str| -> Option<Vec<String>> {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, group) = (parts.next()?, parts.next()?);
        let (point, top) = mounted(mountinfo, |fs, options| {
            if controllers.is_empty() {
                fs == "cgroup2"
            } else {
                fs == "cgroup" && controllers.split(',').any(|c| options.split(',').any(|o| o == c))
            }
        })?;
        Some(levels(&point, &top, group))
    };
    groups.lines().filter_map(one).flatten().collect()
}

/// Control groups version 2 (kernel documentation, cgroup-v2).
fn unified(look: &Look<'_>, groups: &str, mountinfo: &str, limits: &mut Limits) {
    let Some(group) = groups.lines().find_map(|l| l.strip_prefix("0::")) else { return };
    limits.cgroup = Some(clean(group));
    let Some((point, top)) = mounted(mountinfo, |fs, _| fs == "cgroup2") else { return };
    for (depth, level) in levels(&point, &top, group).iter().enumerate() {
        if let Some(text) = look.word(&format!("{level}/cpu.max"), Part::CpuQuota) {
            tighten_f64(&mut limits.cpu_max, quota(&text));
        }
        if depth == 0 {
            limits.cpuset = look.word(&format!("{level}/cpuset.cpus.effective"), Part::Cpuset);
        }
        let memory = look.word(&format!("{level}/memory.max"), Part::MemoryLimit).and_then(|t| t.parse().ok());
        limits.memory_max_bytes = limits.memory_max_bytes.into_iter().chain(memory).min();
        let io = look.text(&format!("{level}/io.max"), Part::IoLimits).unwrap_or_default();
        limits.io_max.extend(io.lines().filter_map(io_limit).map(|l| named(look, l)));
    }
}

fn tighten_f64(limit: &mut Option<f64>, value: Option<f64>) {
    *limit = match (*limit, value) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
}

/// `150000 100000` is one CPU and a half; `max 100000` is no limit.
fn quota(text: &str) -> Option<f64> {
    let (quota, period) = text.split_once(char::is_whitespace)?;
    let (quota, period): (f64, f64) = (quota.parse().ok()?, period.trim().parse().ok()?);
    (quota > 0.0 && period > 0.0).then_some(quota / period)
}

/// `259:0 rbps=max wbps=1048576 riops=300 wiops=max`
fn io_limit(line: &str) -> Option<IoLimit> {
    let (number, rest) = line.split_once(' ')?;
    let mut limit = IoLimit { number: clean(number), ..IoLimit::default() };
    for (key, value) in rest.split_whitespace().filter_map(|w| w.split_once('=')) {
        let value = value.parse().ok();
        match key {
            "rbps" => limit.read_bytes_per_s = value,
            "wbps" => limit.write_bytes_per_s = value,
            "riops" => limit.read_iops = value,
            "wiops" => limit.write_iops = value,
            _ => {}
        }
    }
    Some(limit)
}

fn named(look: &Look<'_>, limit: IoLimit) -> IoLimit {
    let real = look.real(&format!("sys/dev/block/{}", limit.number.replace('/', "")));
    let device = real.and_then(|path| path.rsplit('/').next().map(clean));
    IoLimit { device, ..limit }
}

/// Control groups version 1: cpu.cfs_quota_us and the blkio throttle files, each in a hierarchy of its own.
fn legacy(look: &Look<'_>, groups: &str, mountinfo: &str, limits: &mut Limits) {
    let has = |list: &str, name: &str| list.split(',').any(|c| c == name);
    let levels_of = |controller: &str| -> Vec<String> {
        let group = groups.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            has(parts.next()?, controller).then(|| parts.next())?
        });
        let mount = mounted(mountinfo, |fs, options| fs == "cgroup" && has(options, controller));
        match (group, mount) {
            (Some(group), Some((point, top))) => levels(&point, &top, group),
            _ => Vec::new(),
        }
    };
    for level in levels_of("cpu") {
        let number = |name: &str| look.word(&format!("{level}/{name}"), Part::CpuQuota);
        if let (Some(quota_us), Some(period_us)) = (number("cpu.cfs_quota_us"), number("cpu.cfs_period_us")) {
            tighten_f64(&mut limits.cpu_max, quota(&format!("{quota_us} {period_us}")));
        }
    }
    // Unlike all others, the throttle of version 1 holds the processes of a group alone, not those of groups below it
    // (block/blk-throttle.c, throtl_pd_init).
    for level in levels_of("blkio").into_iter().take(1) {
        for (file, key) in [
            ("read_bps_device", "rbps"),
            ("write_bps_device", "wbps"),
            ("read_iops_device", "riops"),
            ("write_iops_device", "wiops"),
        ] {
            let text = look.text(&format!("{level}/blkio.throttle.{file}"), Part::IoLimits).unwrap_or_default();
            let lines = text.lines().filter_map(|l| l.split_once(' '));
            let found = lines.filter_map(|(number, value)| io_limit(&format!("{number} {key}={value}")));
            limits.io_max.extend(found.map(|l| named(look, l)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_host::testing::Tree;

    #[test]
    fn the_tightest_level_of_a_group_rules() {
        let tree = Tree::new();
        let base = "sys/fs/cgroup";
        tree.file("proc/self/cgroup", "0::/a.slice/b.scope\n")
            .file("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n")
            .file(&format!("{base}/a.slice/cpu.max"), "150000 100000\n")
            .file(&format!("{base}/a.slice/b.scope/cpu.max"), "max 100000\n")
            .file(&format!("{base}/a.slice/b.scope/cpuset.cpus.effective"), "0-3\n")
            .file(&format!("{base}/a.slice/memory.max"), "1073741824\n")
            .file(&format!("{base}/a.slice/b.scope/memory.max"), "max\n")
            .file(&format!("{base}/a.slice/b.scope/io.max"), "8:0 rbps=max wbps=1048576 riops=300 wiops=max\n")
            .disk("sda", "8:0", 8, "pci0/ata1/host0");
        let root = tree.root();
        let limits = Limits::read(&Look::new(&root));
        assert_eq!((limits.cpu_max, limits.cpuset.as_deref()), (Some(1.5), Some("0-3")));
        assert_eq!(limits.memory_max_bytes, Some(1 << 30));
        let io = &limits.io_max[0];
        assert_eq!((io.device.as_deref(), io.read_iops, io.write_bytes_per_s), (Some("sda"), Some(300), Some(1 << 20)));
        assert_eq!((io.read_bytes_per_s, io.write_iops), (None, None));
    }

    #[test]
    fn version_one_groups_are_read_too() {
        let tree = Tree::new();
        tree.file("proc/self/cgroup", "7:blkio:/docker/x\n1:cpu,cpuacct:/docker/x\n")
            .file(
                "proc/self/mountinfo",
                "32 31 0:29 /docker/x /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
                 38 31 0:35 /docker/x /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n",
            )
            .file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n")
            .file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n")
            .file("sys/fs/cgroup/blkio/blkio.throttle.read_iops_device", "259:0 500\n")
            .file(".dockerenv", "");
        let root = tree.root();
        let limits = Limits::read(&Look::new(&root));
        assert_eq!((limits.cpu_max, limits.container.as_deref()), (Some(2.0), Some("docker")));
        assert_eq!((limits.io_max[0].number.as_str(), limits.io_max[0].read_iops), ("259:0", Some(500)));
    }

    #[test]
    fn a_parents_limit_holds_in_version_two_and_not_in_version_one() {
        let mounts = "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n\
                      38 31 0:35 / /sys/fs/blkio rw - cgroup cgroup rw,blkio\n";
        let tree = Tree::new();
        tree.file("proc/self/cgroup", "7:blkio:/a/b\n0::/a/b\n")
            .file("proc/self/mountinfo", mounts)
            .file("sys/fs/cgroup/a/io.max", "8:0 rbps=max wbps=max riops=300 wiops=max\n")
            .file("sys/fs/blkio/a/blkio.throttle.read_iops_device", "8:0 100\n")
            .file("sys/fs/blkio/a/b/blkio.throttle.write_iops_device", "8:0 700\n");
        let root = tree.root();
        let limits = Limits::read(&Look::new(&root)).io_max;
        let rates: Vec<_> = limits.iter().map(|l| (l.read_iops, l.write_iops)).collect();
        assert_eq!(rates, [(Some(300), None), (None, Some(700))]);
    }

    #[test]
    fn no_limit_is_no_limit() {
        assert_eq!((quota("max 100000"), quota("-1 100000"), quota(""), quota("1 0")), (None, None, None, None));
        let tree = Tree::new();
        let root = tree.root();
        assert_eq!(Limits::read(&Look::new(&root)), Limits::default());
    }

    #[test]
    fn a_group_cannot_lead_out_of_its_mount() {
        assert_eq!(levels("m", "/", "/../../etc"), ["m/etc", "m"]);
    }
}
