//! Control groups of this process, and what they say of it.

use std::path::{Path, PathBuf};

use crate::root::Root;

/// Version of the interface of control groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupVersion {
    One,
    Two,
}

/// Folders, relative to the root, of the control groups of this process that may have a controller, and of all groups above
/// them.
pub(crate) fn control_groups(root: &Root, controller: &str) -> Vec<(GroupVersion, PathBuf)> {
    let groups = root.read("proc/self/cgroup").unwrap_or_default();
    let mounts = root.read("proc/self/mountinfo").unwrap_or_default();
    let mut found = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else { continue };
        let version = match controllers {
            "" => GroupVersion::Two,
            _ if controllers.split(',').any(|c| c == controller) => GroupVersion::One,
            _ => continue,
        };
        let mounted = mounts.lines().find_map(|line| mount_of_groups(line, version, controller));
        if let Some((point, top)) = mounted {
            found.extend(levels(&point, &top, group).into_iter().map(|level| (version, level)));
        }
    }
    found
}

/// Mount point of the control groups, and the group mounted there. Version 1 lists the controllers last.
fn mount_of_groups(line: &str, version: GroupVersion, controller: &str) -> Option<(PathBuf, String)> {
    let (before, after) = line.split_once(" - ")?;
    let (mut before, after) = (before.split(' '), after.split(' ').collect::<Vec<_>>());
    let (top, point) = (before.nth(3)?, before.next()?);
    let has_controller = || after.last().is_some_and(|options| options.split(',').any(|o| o == controller));
    let is_it = match version {
        GroupVersion::One => after.first() == Some(&"cgroup") && has_controller(),
        GroupVersion::Two => after.first() == Some(&"cgroup2"),
    };
    is_it.then(|| (PathBuf::from(point.trim_start_matches('/')), top.to_owned()))
}

/// The folders of a group and of all above it, relative to the root.
fn levels(point: &Path, top: &str, group: &str) -> Vec<PathBuf> {
    let inside = group.strip_prefix(top.trim_end_matches('/')).unwrap_or(group).trim_matches('/');
    Path::new(inside).ancestors().map(|level| point.join(level)).collect()
}

/// Time that CPU limits stopped the threads of this process's control groups, summed over CPUs, ns (`cpu.stat`).
pub(crate) fn throttled_ns(root: &Root) -> u64 {
    let of_group = |(version, group): (GroupVersion, PathBuf)| {
        let stat = root.read(group.join("cpu.stat")).unwrap_or_default();
        let (word, unit_ns) = match version {
            GroupVersion::One => ("throttled_time ", 1),
            GroupVersion::Two => ("throttled_usec ", 1_000),
        };
        let value = stat.lines().find_map(|line| line.strip_prefix(word)?.trim().parse::<u64>().ok());
        value.unwrap_or(0).saturating_mul(unit_ns)
    };
    control_groups(root, "cpu").into_iter().map(of_group).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tree::Tree;

    #[test]
    fn stopped_time_is_summed_over_a_group_and_those_above_it() {
        let tree = Tree::new();
        tree.file("proc/self/cgroup", "0::/a.slice/b.scope\n")
            .file("proc/self/mountinfo", "31 1 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
            .file("sys/fs/cgroup/a.slice/cpu.stat", "usage_usec 7\nthrottled_usec 2\n")
            .file("sys/fs/cgroup/a.slice/b.scope/cpu.stat", "nr_throttled 1\nthrottled_usec 40\n");
        assert_eq!(throttled_ns(&tree.root()), 42_000);
    }

    #[test]
    fn version_1_is_found_by_its_controller() {
        let tree = Tree::new();
        tree.file("proc/self/cgroup", "7:blkio:/x\n4:cpu,cpuacct:/x\n0::/\n")
            .file(
                "proc/self/mountinfo",
                "30 1 0:27 / /cg/blkio rw - cgroup c rw,blkio\n31 1 0:28 / /cg/cpu rw - cgroup c rw,cpu,cpuacct\n",
            )
            .file("cg/cpu/x/cpu.stat", "nr_periods 27\nnr_throttled 26\nthrottled_time 1662900659\n");
        assert_eq!(throttled_ns(&tree.root()), 1_662_900_659);
        assert_eq!(throttled_ns(&Tree::new().root()), 0);
    }
}
