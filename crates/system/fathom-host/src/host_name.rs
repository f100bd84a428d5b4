//! Which host this is among others.

use serde::{Deserialize, Serialize};

use crate::root::Root;
use crate::settings::boot_id;
use crate::system;

/// A host by its name, and by what tells it from another of the same name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostName {
    /// As the kernel has it, for people.
    pub name: String,
    /// Number of the kernel's boot: containers and namespaces of one kernel are one host, whose CPUs and drives they share.
    pub boot_id: String,
}

/// The host below `root`.
#[must_use]
pub fn host_name(root: &Root) -> HostName {
    HostName { name: system::machine::host_name(root), boot_id: boot_id(root) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tree::Tree;

    #[test]
    fn a_host_has_its_name_and_the_number_of_its_boot() {
        let tree = Tree::new();
        tree.file("proc/sys/kernel/hostname", "node7\n").file("proc/sys/kernel/random/boot_id", "b-1\n");
        let found = host_name(&tree.root());
        assert_eq!((found.name.as_str(), found.boot_id.as_str()), ("node7", "b-1"));
    }
}
