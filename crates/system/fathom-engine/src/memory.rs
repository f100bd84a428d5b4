//! From which NUMA nodes a thread gets its memory.

use fathom_message::{Message, msg};
use fathom_plan::MemoryPolicy;
use fathom_record::StepFailure;
use fathom_units::{format_cpu_list, parse_cpu_list};

use crate::backend::refused;
use crate::system::threads;

/// Bits of a set of nodes: more than any kernel is built for.
const NODES_MAX: usize = 1_024;
/// linux/mempolicy.h
const MPOL_PREFERRED: usize = 1;
const MPOL_BIND: usize = 2;
const MPOL_INTERLEAVE: usize = 3;
const MPOL_LOCAL: usize = 4;

/// Takes the calling thread's memory, from here on, where `policy` says.
///
/// # Errors
/// A refusal that names the nodes.
pub(crate) fn take_from(policy: &MemoryPolicy) -> Result<(), StepFailure> {
    let mode = match policy {
        MemoryPolicy::Inherited => return Ok(()),
        MemoryPolicy::Local => MPOL_LOCAL,
        MemoryPolicy::Bind { .. } => MPOL_BIND,
        MemoryPolicy::Interleave { .. } => MPOL_INTERLEAVE,
        MemoryPolicy::Prefer { .. } => MPOL_PREFERRED,
    };
    let refusal = |why| {
        let what = msg!("engine-memory", policy = policy.words().unwrap_or_default());
        Err(refused(what, why, msg!("engine-memory-help")))
    };
    // The kernel leaves out nodes that it lacks as long as one is left.
    if let Some(why) = missing_node(policy.nodes(), &nodes_with_memory()) {
        return refusal(why);
    }
    let mut mask = [0_usize; NODES_MAX / usize::BITS as usize];
    for node in policy.nodes().iter().map(|node| *node as usize).filter(|node| *node < NODES_MAX) {
        mask[node / usize::BITS as usize] |= 1 << (node % usize::BITS as usize);
    }
    let nodes = (!policy.nodes().is_empty()).then_some(&mask[..]);
    let taken = threads::take_memory_from(mode, nodes);
    taken.or_else(|error| refusal(msg!("engine-call-failed", call = "set_mempolicy", error = error)))
}

/// Nodes with memory; only the first where the kernel knows of no nodes.
fn nodes_with_memory() -> Vec<u32> {
    threads::nodes_with_memory().and_then(|text| parse_cpu_list(&text).ok()).unwrap_or_else(|| vec![0])
}

fn missing_node(wanted: &[u32], nodes: &[u32]) -> Option<Message> {
    let missing = wanted.iter().find(|node| !nodes.contains(node))?;
    Some(msg!("engine-no-node", node = missing.to_string(), nodes = format_cpu_list(nodes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_is_not_there_is_refused_and_one_that_is_is_used() {
        assert!(missing_node(&[0, 1], &[0, 1, 3]).is_none());
        assert_eq!(
            missing_node(&[0, 2], &[0, 1]),
            Some(msg!("engine-no-node", node = "2".to_owned(), nodes = "0-1".to_owned()))
        );
        let refused = take_from(&MemoryPolicy::Interleave { nodes: vec![0, 1_000] });
        assert!(matches!(refused, Err(StepFailure::Refused { .. })), "{refused:?}");
        let worker = std::thread::spawn(|| take_from(&MemoryPolicy::Inherited));
        assert!(worker.join().expect("ends").is_ok());
    }
}
