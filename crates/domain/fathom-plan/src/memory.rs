//! On which NUMA nodes the memory of a step's threads lies, and so the buffers of its I/O.

use fathom_units::format_cpu_list;
use serde::{Deserialize, Serialize};

/// Where the kernel takes the memory of a step's threads from (set_mempolicy(2)).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MemoryPolicy {
    /// As for the process: on the node of the thread unless it was started otherwise.
    #[default]
    Inherited,
    /// On the node of the thread, whatever the process was told.
    Local,
    /// On these nodes alone.
    Bind {
        /// At least one.
        nodes: Vec<u32>,
    },
    /// On these nodes in turns, page by page.
    Interleave {
        /// At least one.
        nodes: Vec<u32>,
    },
    /// On this node as long as it has any.
    Prefer {
        /// Its number.
        node: u32,
    },
}

impl MemoryPolicy {
    /// Whether nothing is said of it.
    #[must_use]
    pub fn is_inherited(&self) -> bool {
        *self == MemoryPolicy::Inherited
    }

    /// The nodes that it names.
    #[must_use]
    pub fn nodes(&self) -> &[u32] {
        match self {
            MemoryPolicy::Inherited | MemoryPolicy::Local => &[],
            MemoryPolicy::Bind { nodes } | MemoryPolicy::Interleave { nodes } => nodes,
            MemoryPolicy::Prefer { node } => std::slice::from_ref(node),
        }
    }

    /// In fio's words: `bind:0`, `interleave:0-1`; `None` where nothing is said.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        let kind = match self {
            MemoryPolicy::Inherited => return None,
            MemoryPolicy::Local => return Some("local".to_owned()),
            MemoryPolicy::Bind { .. } => "bind",
            MemoryPolicy::Interleave { .. } => "interleave",
            MemoryPolicy::Prefer { .. } => "prefer",
        };
        Some(format!("{kind}:{}", format_cpu_list(self.nodes())))
    }
}
