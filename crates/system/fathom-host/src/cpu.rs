//! CPUs, their cores, siblings, packages and NUMA nodes.

use std::path::Path;

use fathom_message::Say as _;
use fathom_units::{parse_cpu_list, parse_cpu_map};
use serde::{Deserialize, Serialize};

use crate::root::{ProbeError, Root, names_in, number};
use crate::sys;
use crate::system::machine;

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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topology {
    /// Online CPUs, ascending.
    pub cpus: Vec<Cpu>,
    /// CPUs outside of this process's affinity that its threads may be bound to all the same: those that `isolcpus` or
    /// `taskset` keep free, but not those that a cpuset withholds. Known of the running machine only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bindable: Vec<u32>,
}

/// A kernel list such as `0-3,8,10-11`, ascending; the empty text is the empty list.
fn read_list(path: &Path, text: &str) -> Result<Vec<u32>, ProbeError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut cpus = parse_cpu_list(text).map_err(|error| ProbeError::parse(path, error.message()))?;
    cpus.sort_unstable();
    Ok(cpus)
}

impl Topology {
    /// Reads the CPUs below `root`. Where a hypervisor hides the topology each CPU counts as a core of its own on
    /// node 0, as the kernel itself assumes.
    ///
    /// # Errors
    /// [`ProbeError`] when the list of online CPUs cannot be read.
    pub fn read(root: &Root) -> Result<Topology, ProbeError> {
        if let Some(told) = machine::topology(root) {
            return told;
        }
        let base = root.join("sys/devices/system/cpu");
        let online = online_cpus(root)?;
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
        let others: Vec<u32> = cpus.iter().filter(|c| !c.allowed).map(|c| c.id).collect();
        let bindable = if root.is_live() && !others.is_empty() { sys::bindable_cpus(&others) } else { Vec::new() };
        Ok(Topology { cpus, bindable })
    }

    /// Reads the machine again if CPUs went on- or offline or this process's affinity changed since, as after
    /// `smt=off`; otherwise two small files are all that is read. Whether anything changed.
    ///
    /// # Errors
    /// As [`Topology::read`]; what was known is then kept.
    pub fn refresh(&mut self, root: &Root) -> Result<bool, ProbeError> {
        if let Some(told) = machine::topology(root) {
            let now = told?;
            let is_same = *self == now;
            *self = now;
            return Ok(!is_same);
        }
        let online = online_cpus(root)?;
        let allowed = allowed_cpus(root)?;
        let is_allowed = |id: u32| allowed.as_ref().is_none_or(|list| list.contains(&id));
        let is_same = online.iter().eq(self.cpus.iter().map(|c| &c.id))
            && self.cpus.iter().all(|c| c.allowed == is_allowed(c.id));
        if !is_same {
            *self = Topology::read(root)?;
        }
        Ok(!is_same)
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

fn online_cpus(root: &Root) -> Result<Vec<u32>, ProbeError> {
    const ONLINE: &str = "sys/devices/system/cpu/online";
    read_list(&root.join(ONLINE), &root.read(ONLINE)?)
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
        let [list, map] = ["cpulist", "cpumap"].map(|file| base.join(&name).join(file));
        if let Some(text) = crate::root::attribute(&list) {
            nodes.push((node, read_list(&list, &text)?));
        } else if let Some(text) = crate::root::attribute(&map) {
            // Captures of other programs have the map alone.
            nodes.push((node, parse_cpu_map(&text).map_err(|error| ProbeError::parse(&map, error.message()))?));
        }
    }
    Ok(nodes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::eight_cpus;

    #[test]
    fn a_node_without_a_list_of_cpus_has_its_map() {
        let tree = eight_cpus();
        let listed = Topology::read(&tree.root()).expect("reads");
        let home = "sys/devices/system/node/node1";
        std::fs::remove_file(tree.root().join(format!("{home}/cpulist"))).expect("a list");
        tree.file(&format!("{home}/cpumap"), "000000cc\n");
        assert_eq!(Topology::read(&tree.root()).expect("reads"), listed);
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
    fn cpus_that_went_offline_are_seen_by_a_refresh_and_nothing_is_read_anew_without_need() {
        let tree = eight_cpus();
        let mut topology = Topology::read(&tree.root()).expect("reads");
        // Were the machine read again, this would be seen.
        tree.file("sys/devices/system/cpu/cpu0/topology/core_id", "9\n");
        assert!(!topology.refresh(&tree.root()).expect("reads"));
        assert_eq!(topology.cpus[0].core, 0);
        tree.file("sys/devices/system/cpu/online", "0-3\n");
        assert!(topology.refresh(&tree.root()).expect("reads"));
        assert_eq!((topology.cpus.len(), topology.has_smt()), (4, false));
        tree.file("proc/self/status", "Cpus_allowed_list:\t2\n");
        assert!(topology.refresh(&tree.root()).expect("reads"));
        assert_eq!(topology.cpus.iter().filter(|c| c.allowed).map(|c| c.id).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn a_thread_may_be_bound_to_a_cpu_outside_of_its_affinity_and_to_none_that_is_not_there() {
        let all: Vec<u32> = Topology::read(&Root::live()).expect("reads").cpus.iter().map(|c| c.id).collect();
        let found = std::thread::spawn(move || {
            // As the kernel starts this process where the rest are isolated: on one CPU.
            assert_eq!(sys::bindable_cpus(&all[..1]), all[..1]);
            sys::bind_thread(all[0]).expect("an online CPU");
            (sys::bindable_cpus(&[&all[..], &[100_000]].concat()), all)
        });
        let (found, all) = found.join().expect("no panic");
        assert_eq!(found, all);
    }

    #[test]
    fn the_live_machine_has_at_least_one_allowed_cpu() {
        let topology = Topology::read(&Root::live()).expect("reads");
        assert!(topology.cpus.iter().any(|c| c.allowed));
        assert!(topology.cores() >= 1);
    }

    #[test]
    fn a_bad_list_names_its_file_and_an_empty_one_is_empty() {
        let path = Path::new("cpu/online");
        assert_eq!(read_list(path, "\n").expect("empty"), [] as [u32; 0]);
        assert_eq!(read_list(path, "8,0-2\n").expect("reads"), [0, 1, 2, 8]);
        let error = read_list(path, "0-3,x").expect_err("x is no CPU").to_string();
        assert!(error.contains("cpu/online") && error.contains('x'), "{error}");
    }
}
