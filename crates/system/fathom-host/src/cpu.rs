//! CPUs, their cores, siblings, packages and NUMA nodes.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::root::{ProbeError, Root, names_in, number};

/// One online CPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// Number as in /proc/stat.
    pub id: u32,
    /// Core within its package.
    pub core: u32,
    /// Socket.
    pub package: u32,
    /// NUMA node.
    pub node: u32,
    /// Online CPUs of the same core, itself included, ascending.
    pub siblings: Vec<u32>,
    /// Whether this process may run on it (affinity, cpuset).
    pub allowed: bool,
}

/// The CPUs of this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topology {
    /// Online CPUs, ascending.
    pub cpus: Vec<Cpu>,
}

/// Reads a kernel CPU list such as `0-3,8,10-11`; the empty text is the empty list.
///
/// # Errors
/// The part that is not a number or a rising range.
pub fn parse_cpu_list(text: &str) -> Result<Vec<u32>, String> {
    /// More than any kernel is built for; keeps a typing error from filling the memory.
    const CPUS_MAX: u32 = 1 << 16;
    let mut cpus = Vec::new();
    for part in text.trim().split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let range = first.parse::<u32>().ok().zip(last.parse::<u32>().ok());
        match range.filter(|(a, b)| a <= b && *b < CPUS_MAX) {
            Some((first, last)) => cpus.extend(first..=last),
            None => return Err(part.to_owned()),
        }
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

fn read_list(path: &Path, text: &str) -> Result<Vec<u32>, ProbeError> {
    parse_cpu_list(text).map_err(|part| ProbeError::parse(path, format!("{part:?} is no CPU or range of CPUs")))
}

impl Topology {
    /// Reads the CPUs below `root`. Where a hypervisor hides the topology each CPU counts as a core of its own on
    /// node 0, as the kernel itself assumes.
    ///
    /// # Errors
    /// [`ProbeError`] when the list of online CPUs cannot be read.
    pub fn read(root: &Root) -> Result<Topology, ProbeError> {
        let base = root.join("sys/devices/system/cpu");
        let online = read_list(&base.join("online"), &root.read("sys/devices/system/cpu/online")?)?;
        let allowed = allowed_cpus(root)?;
        let nodes = nodes(root)?;
        let node_of = |id: u32| nodes.iter().find(|(_, cpus)| cpus.contains(&id)).map_or(0, |(node, _)| *node);
        let mut cpus = Vec::with_capacity(online.len());
        for &id in &online {
            let home = base.join(format!("cpu{id}/topology"));
            let list = home.join("thread_siblings_list");
            let mut siblings = match crate::root::attribute(&list) {
                Some(text) => read_list(&list, &text)?,
                None => vec![id],
            };
            siblings.retain(|s| online.contains(s));
            cpus.push(Cpu {
                id,
                core: number(&home.join("core_id")).map_or(id, |n| n as u32),
                package: number(&home.join("physical_package_id")).map_or(0, |n| n as u32),
                node: node_of(id),
                siblings,
                allowed: allowed.as_ref().is_none_or(|list| list.contains(&id)),
            });
        }
        Ok(Topology { cpus })
    }

    /// NUMA nodes that have CPUs, ascending.
    #[must_use]
    pub fn nodes(&self) -> Vec<u32> {
        let mut nodes: Vec<u32> = self.cpus.iter().map(|c| c.node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// Physical cores.
    #[must_use]
    pub fn cores(&self) -> usize {
        self.cpus.iter().filter(|c| c.siblings.first() == Some(&c.id)).count()
    }

    /// Sockets.
    #[must_use]
    pub fn packages(&self) -> usize {
        let mut packages: Vec<u32> = self.cpus.iter().map(|c| c.package).collect();
        packages.sort_unstable();
        packages.dedup();
        packages.len()
    }

    /// Whether any core has two CPUs online.
    #[must_use]
    pub fn has_smt(&self) -> bool {
        self.cpus.iter().any(|c| c.siblings.len() > 1)
    }
}

/// CPUs this process may run on; `None` when the kernel does not say.
fn allowed_cpus(root: &Root) -> Result<Option<Vec<u32>>, ProbeError> {
    let path = root.join("proc/self/status");
    let Some(text) = crate::root::attribute(&path) else { return Ok(None) };
    let line = text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.map(|list| read_list(&path, list)).transpose()
}

/// (node, its CPUs); empty without NUMA support.
fn nodes(root: &Root) -> Result<Vec<(u32, Vec<u32>)>, ProbeError> {
    let base = root.join("sys/devices/system/node");
    let mut nodes = Vec::new();
    for name in names_in(&base) {
        let Some(node) = name.strip_prefix("node").and_then(|n| n.parse().ok()) else { continue };
        let path = base.join(&name).join("cpulist");
        if let Some(text) = crate::root::attribute(&path) {
            nodes.push((node, read_list(&path, &text)?));
        }
    }
    Ok(nodes)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::root::tree::Tree;
    use proptest::prelude::*;

    /// Two nodes, two cores each, two siblings each: cores {0,4} {1,5} on node 0, {2,6} {3,7} on node 1.
    pub(crate) fn eight_cpus() -> Tree {
        let tree = Tree::new();
        let home = "sys/devices/system";
        tree.file(&format!("{home}/cpu/online"), "0-7\n")
            .file(&format!("{home}/node/node0/cpulist"), "0-1,4-5\n")
            .file(&format!("{home}/node/node1/cpulist"), "2-3,6-7\n")
            .file("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-7\n");
        for id in 0..8u32 {
            let core = id % 4;
            tree.file(&format!("{home}/cpu/cpu{id}/topology/thread_siblings_list"), format!("{core},{}\n", core + 4))
                .file(&format!("{home}/cpu/cpu{id}/topology/core_id"), format!("{}\n", core % 2))
                .file(&format!("{home}/cpu/cpu{id}/topology/physical_package_id"), format!("{}\n", core / 2));
        }
        tree
    }

    #[test]
    fn cores_siblings_packages_and_nodes_are_read() {
        let topology = Topology::read(&eight_cpus().root()).expect("reads");
        assert_eq!((topology.cpus.len(), topology.cores(), topology.packages()), (8, 4, 2));
        assert_eq!(topology.nodes(), [0, 1]);
        assert!(topology.has_smt());
        let six = &topology.cpus[6];
        assert_eq!((six.id, six.core, six.package, six.node, &six.siblings[..]), (6, 0, 1, 1, &[2, 6][..]));
    }

    #[test]
    fn an_offline_sibling_does_not_count() {
        let tree = eight_cpus();
        tree.file("sys/devices/system/cpu/online", "0-3\n");
        let topology = Topology::read(&tree.root()).expect("reads");
        assert!(!topology.has_smt());
        assert_eq!(topology.cores(), 4);
    }

    #[test]
    fn the_live_machine_has_at_least_one_allowed_cpu() {
        let topology = Topology::read(&Root::live()).expect("reads");
        assert!(topology.cpus.iter().any(|c| c.allowed));
        assert!(topology.cores() >= 1);
    }

    #[test]
    fn bad_lists_name_the_bad_part() {
        for (text, part) in [("0-3,x", "x"), ("5-2", "5-2"), ("1,-3", "-3"), ("0-4294967295", "0-4294967295")] {
            assert_eq!(parse_cpu_list(text), Err(part.to_owned()));
        }
        assert_eq!(parse_cpu_list("\n"), Ok(vec![]));
    }

    proptest! {
        #[test]
        fn a_list_of_single_numbers_reads_back_sorted(cpus in proptest::collection::vec(0u32..1000, 0..40)) {
            let text = cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
            let mut want = cpus.clone();
            want.sort_unstable();
            want.dedup();
            prop_assert_eq!(parse_cpu_list(&text), Ok(want));
        }
    }
}
