//! Which CPUs of a simulated host the threads of a step run on.

use fathom_message::{Message, msg};
use fathom_plan::Placement;

use crate::machine::Host;

/// CPUs for `threads` threads whose target is attached to `socket`, one per thread, and whether they may move.
///
/// # Errors
/// What the machine lacks.
pub(crate) fn cpus_for(
    host: &Host,
    placement: &Placement,
    threads: u32,
    socket: u32,
) -> Result<(Vec<u32>, bool), Message> {
    let cores = host.cores();
    let second = |first: Vec<u32>| -> Vec<u32> {
        let siblings: Vec<u32> = first.iter().filter_map(|c| host.sibling_of(*c)).collect();
        first.into_iter().chain(siblings).collect()
    };
    let mut near_first: Vec<u32> = (0..cores).collect();
    near_first.sort_by_key(|core| (host.socket_of(*core) != socket, *core));
    let chosen: Vec<u32> = match placement {
        Placement::Unpinned => {
            // The scheduler spreads threads over idle cores before it uses siblings.
            let spread = second((0..cores).collect());
            return Ok((spread.into_iter().cycle().take(threads as usize).collect(), true));
        }
        Placement::Cores => near_first,
        Placement::Smt if host.threads_per_core == 1 => {
            return Err(msg!("sim-no-smt"));
        }
        Placement::Smt => near_first.iter().flat_map(|core| [Some(*core), host.sibling_of(*core)]).flatten().collect(),
        Placement::Local | Placement::Remote if host.sockets == 1 => {
            return Err(msg!("sim-one-node"));
        }
        Placement::Local => second(near_first.into_iter().filter(|c| host.socket_of(*c) == socket).collect()),
        Placement::Remote => second(near_first.into_iter().filter(|c| host.socket_of(*c) != socket).collect()),
        Placement::Cpus(list) => {
            if let Some(cpu) = list.iter().find(|cpu| **cpu >= host.cpus()) {
                return Err(msg!("sim-no-such-cpu", cpu = *cpu, last = host.cpus() - 1));
            }
            list.clone()
        }
        Placement::Nodes { nodes } => {
            if let Some(node) = nodes.iter().find(|node| **node >= host.sockets) {
                return Err(msg!("sim-no-such-node", node = node.to_string(), last = (host.sockets - 1).to_string()));
            }
            second((0..cores).filter(|core| nodes.contains(&host.socket_of(*core))).collect())
        }
    };
    if chosen.is_empty() {
        return Err(msg!("sim-no-cpus"));
    }
    Ok((chosen.into_iter().cycle().take(threads as usize).collect(), false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::host;

    #[test]
    fn placements_choose_cores_siblings_and_nodes() {
        let host = host(2, 2, 2);
        let cpus = |placement, threads| cpus_for(&host, &placement, threads, 1).map(|(cpus, _)| cpus);
        assert_eq!(cpus(Placement::Cores, 3), Ok(vec![2, 3, 0]));
        assert_eq!(cpus(Placement::Smt, 4), Ok(vec![2, 6, 3, 7]));
        assert_eq!(cpus(Placement::Local, 4), Ok(vec![2, 3, 6, 7]));
        assert_eq!(cpus(Placement::Remote, 1), Ok(vec![0]));
        assert_eq!(cpus(Placement::Cpus(vec![5, 1]), 3), Ok(vec![5, 1, 5]));
        assert_eq!(cpus(Placement::Cpus(vec![8]), 1), Err(msg!("sim-no-such-cpu", cpu = 8_u32, last = 7_u32)));
        assert!(cpus_for(&host, &Placement::Unpinned, 1, 0).unwrap().1);
    }
}
