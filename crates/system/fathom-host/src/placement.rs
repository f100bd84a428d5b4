//! From a placement's name to the CPUs that threads are bound to on this machine.

use fathom_plan::Placement;
use fathom_units::format_cpu_list;

use crate::cpu::{Cpu, Topology};

/// Why a placement cannot be had here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlacementError {
    /// `smt` without siblings.
    #[error("placement smt: this machine has no SMT siblings")]
    NoSiblings,
    /// `local` or `remote` with a single node.
    #[error("placement {placement}: this machine has one NUMA node only")]
    OneNode {
        /// Which of the two.
        placement: &'static str,
    },
    /// The kernel does not say which node the target belongs to.
    #[error("placement {placement}: the kernel does not say which NUMA node the target belongs to")]
    NodeUnknown {
        /// Which of the two.
        placement: &'static str,
    },
    /// A CPU of the list cannot be used.
    #[error("placement {cpu}: CPU {cpu} is {why}; usable CPUs are {usable}")]
    CpuUnusable {
        /// The CPU asked for.
        cpu: u32,
        /// `not online` or `outside this process's CPU affinity`.
        why: &'static str,
        /// What could be named instead.
        usable: String,
    },
    /// An empty CPU list, or a node without a CPU this process may use.
    #[error("placement {placement}: no CPU is left to run on")]
    NoCpu {
        /// Which placement.
        placement: &'static str,
    },
}

impl PlacementError {
    /// What to do about it, for the `help:` line.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            PlacementError::NoSiblings | PlacementError::OneNode { .. } => {
                "use placement unpinned or cores, or name CPUs: 0,1"
            }
            PlacementError::NodeUnknown { .. } => "name the CPUs instead; the firmware gives this device no node",
            PlacementError::CpuUnusable { .. } => "name CPUs from the usable list",
            PlacementError::NoCpu { .. } => "name at least one CPU, or widen the affinity or cpuset of this process",
        }
    }
}

/// The CPUs to bind threads to: thread `i` runs on `cpus[i % cpus.len()]`; empty means unbound.
///
/// Exactly `threads` entries come back (none for `unpinned`), round robin when there are fewer CPUs than threads, so
/// a CPU that is named twice is visibly shared. Only CPUs in this process's affinity are chosen. The core of CPU 0
/// comes last within its kind: it does the kernel's housekeeping and, by default, many interrupts. `cores` takes the
/// cores of the target's node first when the node is known.
///
/// # Errors
/// [`PlacementError`] when the machine lacks what the placement needs.
pub fn resolve_placement(
    topology: &Topology,
    placement: &Placement,
    threads: u32,
    target_node: Option<u32>,
) -> Result<Vec<u32>, PlacementError> {
    let chosen = match placement {
        Placement::Unpinned => return Ok(Vec::new()),
        Placement::Cores => one_per_core(&usable(topology), target_node),
        Placement::Smt => {
            let cpus = usable(topology);
            if !cpus.iter().any(|c| cpus.iter().any(|o| o.id != c.id && c.siblings.contains(&o.id))) {
                return Err(PlacementError::NoSiblings);
            }
            siblings_first(&cpus, target_node)
        }
        Placement::Local => on_node(topology, target_node, "local", |node, target| node == target)?,
        Placement::Remote => on_node(topology, target_node, "remote", |node, target| node != target)?,
        Placement::Cpus(list) => validated(topology, list)?,
    };
    if chosen.is_empty() {
        return Err(PlacementError::NoCpu { placement: word(placement) });
    }
    Ok(chosen.iter().copied().cycle().take(threads as usize).collect())
}

fn word(placement: &Placement) -> &'static str {
    match placement {
        Placement::Unpinned => "unpinned",
        Placement::Cores => "cores",
        Placement::Smt => "smt",
        Placement::Local => "local",
        Placement::Remote => "remote",
        Placement::Cpus(_) => "list of CPUs",
    }
}

fn usable(topology: &Topology) -> Vec<&Cpu> {
    topology.cpus.iter().filter(|c| c.allowed).collect()
}

/// Order of cores: the target's node first, CPU 0's core last, else ascending.
fn core_order(cpu: &Cpu, target_node: Option<u32>) -> (bool, bool, u32) {
    let core = cpu.siblings.first().copied().unwrap_or(cpu.id);
    (target_node.is_some_and(|node| node != cpu.node), core == 0, core)
}

/// First usable CPU of each core.
fn one_per_core(cpus: &[&Cpu], target_node: Option<u32>) -> Vec<u32> {
    let mut sorted = cpus.to_vec();
    sorted.sort_by_key(|c| (core_order(c, target_node), c.id));
    sorted.dedup_by_key(|c| c.siblings.first().copied().unwrap_or(c.id));
    sorted.iter().map(|c| c.id).collect()
}

/// Core by core, all usable siblings of a core before the next core.
fn siblings_first(cpus: &[&Cpu], target_node: Option<u32>) -> Vec<u32> {
    let mut sorted = cpus.to_vec();
    sorted.sort_by_key(|c| (core_order(c, target_node), c.id));
    sorted.iter().map(|c| c.id).collect()
}

/// CPUs of the wanted nodes: one per core first, then the remaining siblings.
fn on_node(
    topology: &Topology,
    target_node: Option<u32>,
    placement: &'static str,
    wanted: impl Fn(u32, u32) -> bool,
) -> Result<Vec<u32>, PlacementError> {
    if topology.nodes().len() < 2 {
        return Err(PlacementError::OneNode { placement });
    }
    let target = target_node.ok_or(PlacementError::NodeUnknown { placement })?;
    let cpus: Vec<&Cpu> = usable(topology).into_iter().filter(|c| wanted(c.node, target)).collect();
    let mut chosen = one_per_core(&cpus, None);
    let rest: Vec<u32> = siblings_first(&cpus, None).into_iter().filter(|id| !chosen.contains(id)).collect();
    chosen.extend(rest);
    Ok(chosen)
}

fn validated(topology: &Topology, list: &[u32]) -> Result<Vec<u32>, PlacementError> {
    for &cpu in list {
        let found = topology.cpus.iter().find(|c| c.id == cpu);
        let why = match found {
            None => "not online",
            Some(c) if !c.allowed => "outside this process's CPU affinity",
            Some(_) => continue,
        };
        let usable = format_cpu_list(&usable(topology).iter().map(|c| c.id).collect::<Vec<_>>());
        return Err(PlacementError::CpuUnusable { cpu, why, usable });
    }
    Ok(list.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::tests::eight_cpus;

    fn topology() -> Topology {
        Topology::read(&eight_cpus().root()).expect("reads")
    }

    fn one_node_no_smt() -> Topology {
        let mut topology = topology();
        topology.cpus.truncate(2);
        for cpu in &mut topology.cpus {
            cpu.siblings = vec![cpu.id];
        }
        topology
    }

    #[test]
    fn each_placement_takes_its_cpus_in_order() {
        let all = topology();
        let check = |placement: &Placement, threads, node, want: &[u32]| {
            assert_eq!(resolve_placement(&all, placement, threads, node).as_deref(), Ok(want), "{placement:?}");
        };
        check(&Placement::Unpinned, 4, None, &[]);
        check(&Placement::Cores, 4, None, &[1, 2, 3, 0]);
        check(&Placement::Cores, 4, Some(1), &[2, 3, 1, 0]);
        check(&Placement::Cores, 6, None, &[1, 2, 3, 0, 1, 2]);
        check(&Placement::Smt, 4, None, &[1, 5, 2, 6]);
        check(&Placement::Smt, 8, None, &[1, 5, 2, 6, 3, 7, 0, 4]);
        check(&Placement::Local, 4, Some(0), &[1, 0, 5, 4]);
        check(&Placement::Remote, 2, Some(0), &[2, 3]);
        check(&Placement::Cpus(vec![6, 1]), 3, None, &[6, 1, 6]);
    }

    #[test]
    fn what_the_machine_lacks_is_refused_by_name() {
        let small = one_node_no_smt();
        let check = |topology: &Topology, placement: &Placement, node, want: &str| {
            let error = resolve_placement(topology, placement, 1, node).expect_err("refused");
            assert!(error.to_string().contains(want), "{error}");
            assert!(!error.help().is_empty());
        };
        check(&small, &Placement::Smt, None, "no SMT siblings");
        check(&small, &Placement::Local, Some(0), "one NUMA node only");
        check(&small, &Placement::Remote, Some(0), "one NUMA node only");
        check(&topology(), &Placement::Local, None, "does not say which NUMA node");
        check(&small, &Placement::Cpus(vec![0, 9]), None, "CPU 9 is not online; usable CPUs are 0-1");
        check(&small, &Placement::Cpus(vec![]), None, "no CPU is left");
    }

    #[test]
    fn cpus_outside_the_affinity_are_never_chosen() {
        let mut all = topology();
        for cpu in &mut all.cpus {
            cpu.allowed = matches!(cpu.id, 0 | 5 | 6);
        }
        assert_eq!(resolve_placement(&all, &Placement::Cores, 3, None), Ok(vec![5, 6, 0]));
        assert_eq!(resolve_placement(&all, &Placement::Smt, 2, None), Err(PlacementError::NoSiblings));
        let error = resolve_placement(&all, &Placement::Cpus(vec![1]), 1, None).expect_err("not allowed");
        assert!(error.to_string().contains("affinity"), "{error}");
    }
}
