//! The character device of an NVMe namespace, by which commands are passed to the drive, found from its block device.

use std::fs;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::sync::Arc;

use fathom_message::{Message, Say, msg, say_error};
use fathom_nvme::Device;
use rustix::fs::OFlags;

use crate::binding::{Binding, TargetKind};
use crate::disk::BlockDevice;
use crate::guard::WriteConsent;
use crate::node::{Identity, Node, OpenError};
use crate::root::{Root, attribute};

/// Why a namespace has no character device that commands could be passed through.
#[derive(Debug)]
pub enum NoGeneric {
    /// The kernel shows none beside the block device.
    Missing {
        /// Kernel name of the block device.
        block: String,
        /// Name that the character device would have.
        generic: String,
    },
    /// The one of that name belongs to another namespace.
    Other {
        /// Kernel name of the block device.
        block: String,
        /// Path of the character device.
        generic: PathBuf,
    },
    /// It cannot be opened, or leads elsewhere than it did a moment before.
    Open(OpenError),
}

impl Say for NoGeneric {
    fn message(&self) -> Message {
        match self {
            NoGeneric::Missing { block, generic } => msg!("generic-missing", block = block, generic = generic),
            NoGeneric::Other { block, generic } => msg!("generic-other", block = block, generic = generic),
            NoGeneric::Open(error) => error.message(),
        }
    }

    fn help(&self) -> Option<Message> {
        match self {
            NoGeneric::Missing { .. } => Some(msg!("generic-missing-help")),
            NoGeneric::Other { .. } => Some(msg!("generic-other-help")),
            NoGeneric::Open(error) => error.help(),
        }
    }
}
say_error!(NoGeneric);

/// Path and `MAJ:MIN` of the character device of a namespace: named as its block device is, and a child of the same
/// controller or, under multipath, of the same subsystem.
fn generic_of(root: &Root, device: &BlockDevice) -> Result<(PathBuf, String), NoGeneric> {
    let block = device.name.clone();
    let generic = format!("ng{}", block.strip_prefix("nvme").unwrap_or_default());
    let parent =
        |class: &str, name: &str| fs::canonicalize(root.join("sys/class").join(class).join(name).join("device"));
    let number = attribute(&root.join("sys/class/nvme-generic").join(&generic).join("dev"));
    let Some(number) = number else { return Err(NoGeneric::Missing { block, generic }) };
    let path = PathBuf::from("/dev").join(&generic);
    match (parent("nvme-generic", &generic), parent("block", &block)) {
        (Ok(of_generic), Ok(of_block)) if of_generic == of_block => Ok((path, number)),
        _ => Err(NoGeneric::Other { block, generic: path }),
    }
}

impl Binding {
    /// The same target as the character device of its namespace, where it is the whole block device of one; `None` for
    /// all else. The consent stays the one that was given to the block device, with its claim.
    ///
    /// # Errors
    /// [`NoGeneric`], also where the two nodes do not answer with the same namespace.
    pub fn as_character_device(&self, root: &Root) -> Result<Option<Binding>, NoGeneric> {
        let is_whole = |device: &&BlockDevice| device.partition.is_none() && device.name.starts_with("nvme");
        let device = self.device().filter(is_whole).filter(|_| self.kind() == TargetKind::Block);
        let (Some(device), Some(block)) = (device, self.node()) else { return Ok(None) };
        let (path, number) = generic_of(root, device)?;
        let other = || NoGeneric::Other { block: device.name.clone(), generic: path.clone() };
        let opened = |source| NoGeneric::Open(OpenError::Io { path: path.clone(), source });
        let generic = Node::at(root, &path).map_err(opened)?;
        let Identity::Block { sequence: of_block, .. } = block.identity() else { return Ok(None) };
        match generic.identity() {
            Identity::Generic { number: is, block, sequence }
                if crate::disk::number_of(*is) == number && *block == device.name && sequence == of_block => {}
            _ => return Err(other()),
        }
        // What sysfs says of the names, the drivers of both say of the descriptors.
        let namespace = |node: &Node| {
            let file = node.open_to_read(OFlags::NONBLOCK).map_err(NoGeneric::Open)?;
            Device::namespace_of(file.as_fd()).map_err(|_| other())
        };
        if namespace(block)? != namespace(&generic)? {
            return Err(other());
        }
        let generic = Arc::new(generic);
        let consent = self.consent().map(|consent| WriteConsent::through(consent, path, generic.clone()));
        Ok(Some(self.through(TargetKind::Generic, generic, consent)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::device_by_name;
    use crate::root::tree::Tree;

    /// Two drives, of which the second has a character device that is called as the first's would be.
    fn machine() -> Tree {
        let tree = Tree::new();
        for (name, number) in [("nvme0n1", "259:0"), ("nvme1n1", "259:1")] {
            let controller = name.trim_end_matches("n1");
            let bus = format!("pci0/nvme/{controller}");
            tree.disk(name, number, 2048, &bus)
                .link(&format!("sys/devices/{bus}/block/{name}/device"), &format!("../../../{controller}"));
        }
        tree
    }

    fn found(tree: &Tree, name: &str) -> Result<(PathBuf, String), NoGeneric> {
        generic_of(&tree.root(), &device_by_name(&tree.root(), name).expect("a device"))
    }

    #[test]
    fn the_character_device_of_the_same_controller_is_found_and_no_other() {
        let tree = machine();
        assert!(matches!(found(&tree, "nvme0n1"), Err(NoGeneric::Missing { .. })));
        let add = |generic: &str, controller: &str, number: &str| {
            let home = format!("sys/devices/pci0/nvme/{controller}/{generic}");
            tree.file(&format!("{home}/dev"), format!("{number}\n"))
                .link(&format!("{home}/device"), &format!("../../{controller}"))
                .link(
                    &format!("sys/class/nvme-generic/{generic}"),
                    &format!("../../devices/pci0/nvme/{controller}/{generic}"),
                );
        };
        add("ng1n1", "nvme1", "241:1");
        let (path, number) = found(&tree, "nvme1n1").expect("there");
        assert_eq!((path, number.as_str()), (PathBuf::from("/dev/ng1n1"), "241:1"));
        add("ng0n1", "nvme1", "241:0");
        let error = found(&tree, "nvme0n1").expect_err("of another controller");
        assert!(matches!(error, NoGeneric::Other { .. }), "{error}");
    }

    #[test]
    fn only_whole_namespaces_have_one() {
        let dir = tempfile::tempdir().expect("temp dir");
        let path = dir.path().join("a");
        std::fs::write(&path, "1").expect("file");
        let target = fathom_plan::TargetId::from("a");
        let binding = Binding::to_read(&Root::live(), target, &path).expect("a file");
        assert!(binding.as_character_device(&Root::live()).expect("looked at").is_none());
    }
}
