//! From a placement's name to the CPUs that threads are bound to on this machine.

use fathom_message::{Message, Say, msg, say_error};
use fathom_plan::Placement;
use fathom_units::format_cpu_list;

use crate::cpu::{Cpu, Topology};

/// Why a placement cannot be had here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlacementError {
    /// `smt` without siblings.
    NoSiblings,
    /// `local` or `remote` with a single node.
    OneNode {
        /// Which of the two.
        placement: &'static str,
    },
    /// The kernel does not say which node the target belongs to.
    NodeUnknown {
        /// Which of the two.
        placement: &'static str,
    },
    /// A CPU that was named is not online.
    CpuOffline {
        /// Number of the CPU.
        cpu: u32,
        /// CPU list of what could be named instead.
        usable: String,
    },
    /// A CPU that was named is withheld from this process (a cpuset).
    CpuWithheld {
        /// Number of the CPU.
        cpu: u32,
        /// CPU list of what could be named instead.
        usable: String,
    },
    /// A NUMA node that was named is not there, or has no CPU.
    NoNode {
        /// Its number.
        node: u32,
        /// List of those that could be named instead.
        nodes: String,
    },
    /// An empty list of CPUs.
    NoneNamed,
    /// No CPU of the placement may be used by this process.
    NoCpu {
        /// Which placement.
        placement: &'static str,
    },
}

impl Say for PlacementError {
    fn message(&self) -> Message {
        match self {
            PlacementError::NoSiblings => msg!("placement-no-siblings"),
            PlacementError::OneNode { placement } => msg!("placement-one-node", placement = *placement),
            PlacementError::NodeUnknown { placement } => msg!("placement-node-unknown", placement = *placement),
            PlacementError::CpuOffline { cpu, usable } => {
                msg!("placement-cpu-offline", cpu = name(*cpu), usable = usable)
            }
            PlacementError::CpuWithheld { cpu, usable } => {
                msg!("placement-cpu-withheld", cpu = name(*cpu), usable = usable)
            }
            PlacementError::NoNode { node, nodes } => msg!("placement-no-node", node = name(*node), nodes = nodes),
            PlacementError::NoneNamed => msg!("placement-none-named"),
            PlacementError::NoCpu { placement } => msg!("placement-no-cpu", placement = *placement),
        }
    }

    fn help(&self) -> Option<Message> {
        Some(match self {
            PlacementError::NoSiblings | PlacementError::OneNode { .. } => msg!("placement-other-help"),
            PlacementError::NodeUnknown { .. } => msg!("placement-node-unknown-help"),
            PlacementError::CpuOffline { .. } | PlacementError::CpuWithheld { .. } => msg!("placement-usable-help"),
            PlacementError::NoNode { .. } => msg!("placement-no-node-help"),
            PlacementError::NoneNamed => msg!("placement-none-named-help"),
            PlacementError::NoCpu { .. } => msg!("placement-no-cpu-help"),
        })
    }
}

say_error!(PlacementError);

/// A CPU by its number, which is a name: it does not count anything.
fn name(cpu: u32) -> String {
    cpu.to_string()
}

/// The CPUs to bind threads to: thread `i` runs on `cpus[i % cpus.len()]`; empty means unbound.
///
/// Exactly `threads` entries come back (none for `unpinned`), round robin when there are fewer CPUs than threads, so
/// a CPU that is named twice is visibly shared. Only CPUs in this process's affinity are chosen, except that a list may name
/// any that its threads can be bound to (those of `isolcpus`). The core of CPU 0
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
        Placement::Nodes { nodes } => on_named_nodes(topology, nodes)?,
    };
    if chosen.is_empty() {
        return Err(word(placement).map_or(PlacementError::NoneNamed, |placement| PlacementError::NoCpu { placement }));
    }
    Ok(chosen.iter().copied().cycle().take(threads as usize).collect())
}

/// The word of the command line; `None` for a list of CPUs.
fn word(placement: &Placement) -> Option<&'static str> {
    match placement {
        Placement::Unpinned => Some("unpinned"),
        Placement::Cores => Some("cores"),
        Placement::Smt => Some("smt"),
        Placement::Local => Some("local"),
        Placement::Remote => Some("remote"),
        Placement::Nodes { .. } => Some("numa_cpu_nodes"),
        Placement::Cpus(_) => None,
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
    Ok(cores_then_siblings(topology, |cpu| wanted(cpu.node, target)))
}

/// Usable CPUs that are `wanted`: one per core first, then the remaining siblings.
fn cores_then_siblings(topology: &Topology, wanted: impl Fn(&Cpu) -> bool) -> Vec<u32> {
    let cpus: Vec<&Cpu> = usable(topology).into_iter().filter(|cpu| wanted(cpu)).collect();
    let mut chosen = one_per_core(&cpus, None);
    let rest: Vec<u32> = siblings_first(&cpus, None).into_iter().filter(|id| !chosen.contains(id)).collect();
    chosen.extend(rest);
    chosen
}

fn on_named_nodes(topology: &Topology, nodes: &[u32]) -> Result<Vec<u32>, PlacementError> {
    let known = topology.nodes();
    if let Some(&node) = nodes.iter().find(|node| !known.contains(node)) {
        return Err(PlacementError::NoNode { node, nodes: format_cpu_list(&known) });
    }
    Ok(cores_then_siblings(topology, |cpu| nodes.contains(&cpu.node)))
}

fn validated(topology: &Topology, list: &[u32]) -> Result<Vec<u32>, PlacementError> {
    let may_use = |cpu: &Cpu| cpu.allowed || topology.bindable.contains(&cpu.id);
    let usable = || format_cpu_list(&topology.cpus.iter().filter(|c| may_use(c)).map(|c| c.id).collect::<Vec<_>>());
    for &cpu in list {
        match topology.cpus.iter().find(|c| c.id == cpu) {
            None => return Err(PlacementError::CpuOffline { cpu, usable: usable() }),
            Some(found) if !may_use(found) => return Err(PlacementError::CpuWithheld { cpu, usable: usable() }),
            Some(_) => {}
        }
    }
    Ok(list.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_language::english;

    use crate::testing::eight_cpus;

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
        check(&Placement::Nodes { nodes: vec![1] }, 3, None, &[2, 3, 6]);
        check(&Placement::Nodes { nodes: vec![1, 0] }, 4, None, &[1, 2, 3, 0]);
    }

    #[test]
    fn what_the_machine_lacks_is_refused_by_name() {
        let small = one_node_no_smt();
        let check = |topology: &Topology, placement: &Placement, node, want: &str| {
            let error = resolve_placement(topology, placement, 1, node).expect_err("refused");
            assert!(english(&error.message()).contains(want), "{error}");
            assert!(error.help().is_some());
        };
        check(&small, &Placement::Smt, None, "no SMT siblings");
        check(&small, &Placement::Local, Some(0), "has one NUMA node");
        check(&small, &Placement::Remote, Some(0), "has one NUMA node");
        check(&topology(), &Placement::Local, None, "does not report which NUMA node");
        check(&small, &Placement::Cpus(vec![0, 9]), None, "CPU 9 is not online; available CPUs: 0-1");
        check(&small, &Placement::Cpus(vec![]), None, "no CPU is named");
        check(&topology(), &Placement::Nodes { nodes: vec![0, 2] }, None, "NUMA node 2");
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
        assert_eq!(error, PlacementError::CpuWithheld { cpu: 1, usable: "0,5-6".into() });
    }

    #[test]
    fn isolated_cpus_are_used_when_they_are_named_and_never_chosen() {
        let mut all = topology();
        for cpu in &mut all.cpus {
            cpu.allowed = cpu.id < 2;
        }
        // The kernel was booted with isolcpus=2-3; a cpuset withholds the rest.
        all.bindable = vec![2, 3];
        assert_eq!(resolve_placement(&all, &Placement::Cpus(vec![3, 2]), 2, None), Ok(vec![3, 2]));
        assert_eq!(resolve_placement(&all, &Placement::Cores, 4, None), Ok(vec![1, 0, 1, 0]));
        let error = resolve_placement(&all, &Placement::Cpus(vec![2, 5]), 2, None).expect_err("withheld");
        assert_eq!(error, PlacementError::CpuWithheld { cpu: 5, usable: "0-3".into() });
    }
}
