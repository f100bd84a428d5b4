//! Memory that this process may still allocate: limits of the host, the control groups and the address space.

use std::path::{Path, PathBuf};

use crate::control_groups::{GroupVersion, control_groups};
use crate::root::Root;

/// Memory that may still be allocated, and the limit that bounds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLeft {
    /// Bytes.
    pub bytes: u64,
    /// The limit that bounds it.
    pub bound: MemoryBound,
}

/// Limit on the memory of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryBound {
    /// Memory available on the host.
    Host,
    /// A limit of a control group.
    ControlGroup,
    /// The limit of the address space, as set by `ulimit -v`.
    AddressSpace,
}

/// The tightest of all bounds; `None` where the kernel tells of none.
#[must_use]
pub fn memory_left(root: &Root) -> Option<MemoryLeft> {
    let bounds = [
        (MemoryBound::Host, available(root)),
        (MemoryBound::ControlGroup, left_in_groups(root)),
        (MemoryBound::AddressSpace, address_space_left(root)),
    ];
    let told = bounds.into_iter().filter_map(|(bound, bytes)| Some(MemoryLeft { bytes: bytes?, bound }));
    told.min_by_key(|left| left.bytes)
}

/// `MemAvailable` of /proc/meminfo: bytes that can be allocated without swapping.
fn available(root: &Root) -> Option<u64> {
    let text = root.read("proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Bytes that the address space may still grow by; `None` where it has no limit (`ulimit -v`).
#[must_use]
pub fn address_space_left(root: &Root) -> Option<u64> {
    let limits = root.read("proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let max: u64 = line.split_whitespace().next()?.parse().ok()?;
    let status = root.read("proc/self/status").ok()?;
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    let used_kib: u64 = size.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(max.saturating_sub(used_kib.saturating_mul(1024)))
}

/// Names of the files of a control group, by version.
struct GroupFiles {
    limit: &'static str,
    used: &'static str,
    /// In `memory.stat`: memory that the kernel takes back when it is needed.
    cache: [&'static str; 2],
}

const VERSION_1: GroupFiles = GroupFiles {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    cache: ["total_inactive_file", "total_active_file"],
};
const VERSION_2: GroupFiles =
    GroupFiles { limit: "memory.max", used: "memory.current", cache: ["inactive_file", "active_file"] };

/// The least that any control group of this process, or one above it, has left.
fn left_in_groups(root: &Root) -> Option<u64> {
    let left = |(version, group): (GroupVersion, PathBuf)| match version {
        GroupVersion::One => left_in(root, &group, &VERSION_1),
        GroupVersion::Two => left_in(root, &group, &VERSION_2),
    };
    control_groups(root, "memory").into_iter().filter_map(left).min()
}

fn left_in(root: &Root, level: &Path, files: &GroupFiles) -> Option<u64> {
    let number = |name: &str| root.attribute(level.join(name))?.parse::<u64>().ok();
    let (limit, used) = (number(files.limit)?, number(files.used)?);
    let stat = root.read(level.join("memory.stat")).unwrap_or_default();
    let of_stat = |name: &str| {
        let value = stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.and_then(|value| value.trim().parse::<u64>().ok()).unwrap_or(0)
    };
    let cache: u64 = files.cache.iter().map(|name| of_stat(name)).sum();
    Some(limit.saturating_sub(used.saturating_sub(cache)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tree::Tree;

    const MIB: u64 = 1 << 20;

    fn host() -> Tree {
        let tree = Tree::new();
        tree.file("proc/meminfo", "MemTotal: 9999999 kB\nMemAvailable:   1048576 kB\n")
            .file(
                "proc/self/limits",
                "Max address space         unlimited            unlimited            bytes     \n",
            )
            .file("proc/self/status", "Name:\tfathom\nVmSize:\t   20480 kB\n");
        tree
    }

    fn left(tree: &Tree) -> (u64, MemoryBound) {
        memory_left(&tree.root()).map(|left| (left.bytes / MIB, left.bound)).expect("is told")
    }

    #[test]
    fn the_tightest_bound_counts() {
        let tree = host();
        assert_eq!(left(&tree), (1024, MemoryBound::Host));
        tree.file(
            "proc/self/limits",
            "Max address space         104857600            unlimited            bytes     \n",
        );
        assert_eq!(left(&tree), (80, MemoryBound::AddressSpace));
        tree.file("proc/self/cgroup", "0::/a.slice/b.scope\n")
            .file("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n")
            .file("sys/fs/cgroup/a.slice/memory.max", "67108864\n")
            .file("sys/fs/cgroup/a.slice/memory.current", "33554432\n")
            .file("sys/fs/cgroup/a.slice/memory.stat", "anon 1\ninactive_file 8388608\nactive_file 8388608\n")
            .file("sys/fs/cgroup/a.slice/b.scope/memory.max", "max\n")
            .file("sys/fs/cgroup/a.slice/b.scope/memory.current", "33554432\n");
        assert_eq!(left(&tree), (48, MemoryBound::ControlGroup), "the cache can be taken back");
    }

    #[test]
    fn groups_of_version_1_and_of_a_container_are_found() {
        let tree = host();
        tree.file("proc/self/cgroup", "7:blkio:/docker/x\n4:cpu,memory:/docker/x\n0::/\n")
            .file("proc/self/mountinfo", "40 30 0:33 /docker/x /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n")
            .file("sys/fs/cgroup/memory/memory.limit_in_bytes", "33554432\n")
            .file("sys/fs/cgroup/memory/memory.usage_in_bytes", "16777216\n")
            .file("sys/fs/cgroup/memory/memory.stat", "total_inactive_file 0\n");
        assert_eq!(left(&tree), (16, MemoryBound::ControlGroup));
        tree.file("proc/self/cgroup", "4:cpu,memory:/docker/x/job\n")
            .file("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "8388608\n")
            .file("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "4194304\n");
        assert_eq!(left(&tree), (4, MemoryBound::ControlGroup), "a group below the one that is mounted");
    }

    #[test]
    fn a_system_that_tells_nothing_sets_no_bound() {
        assert_eq!(memory_left(&Tree::new().root()), None);
    }
}
