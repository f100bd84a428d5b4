//! Whether I/O to a device can be polled at all. Some kernels run a polled request by interrupt without a word.

use fathom_message::{Message, Say, msg};

use crate::disk::{BlockDevice, DeviceKind, device_by_name};
use crate::root::Root;

/// What keeps I/O to a device from being polled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PollObstacle {
    /// Kernel name of the device that cannot: the one asked for, or one below it.
    pub device: String,
    kind: DeviceKind,
    is_nvme: bool,
}

impl Say for PollObstacle {
    fn message(&self) -> Message {
        match self.kind {
            DeviceKind::Md => msg!("poll-md", device = &self.device),
            DeviceKind::DeviceMapper => msg!("poll-mapped", device = &self.device),
            _ => msg!("poll-no-queues", device = &self.device),
        }
    }

    fn help(&self) -> Option<Message> {
        Some(match (self.kind, self.is_nvme) {
            (DeviceKind::Md, _) => msg!("poll-md-help"),
            (_, true) => msg!("poll-nvme-help"),
            _ => msg!("poll-help"),
        })
    }
}

/// The first device on the way down from `device` whose I/O cannot be polled; `None` when all can.
#[must_use]
pub fn poll_obstacle(root: &Root, device: &BlockDevice) -> Option<PollObstacle> {
    obstacle(root, device, 16)
}

fn obstacle(root: &Root, device: &BlockDevice, depth: u32) -> Option<PollObstacle> {
    let is_stack = matches!(device.kind, DeviceKind::Md | DeviceKind::DeviceMapper);
    // A device mapper that can poll says so itself, but says nothing of which member keeps it from polling.
    if device.kind == DeviceKind::DeviceMapper && depth > 0 {
        let below = device.slaves.iter().filter_map(|name| device_by_name(root, name).ok());
        if let Some(found) = below.into_iter().find_map(|member| obstacle(root, &member, depth - 1)) {
            return Some(found);
        }
    }
    let is_nvme = device.name.starts_with("nvme") && !is_stack;
    (!device.io_poll).then(|| PollObstacle { device: device.name.clone(), kind: device.kind, is_nvme })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tree::Tree;

    fn found(tree: &Tree, name: &str) -> Option<String> {
        let device = device_by_name(&tree.root(), name).expect("a device");
        poll_obstacle(&tree.root(), &device).map(|o| format!("{}; {}", o.message(), o.help().expect("a way out")))
    }

    #[test]
    fn a_drive_without_poll_queues_an_array_and_what_is_built_on_them_are_named() {
        let tree = Tree::new();
        for (name, number, polls) in [("nvme0n1", "259:0", "1"), ("nvme1n1", "259:1", "0")] {
            tree.disk(name, number, 8, "pci0");
            tree.file(&format!("sys/devices/pci0/block/{name}/queue/io_poll"), polls);
        }
        tree.disk("md0", "9:0", 8, "virtual").folder("sys/devices/virtual/block/md0/md");
        tree.disk("dm-0", "253:0", 8, "virtual").folder("sys/devices/virtual/block/dm-0/dm");
        tree.folder("sys/devices/virtual/block/dm-0/slaves/nvme0n1");
        tree.folder("sys/devices/virtual/block/dm-0/slaves/nvme1n1");
        assert_eq!(found(&tree, "nvme0n1"), None);
        assert_eq!(found(&tree, "nvme1n1").as_deref(), Some("poll-no-queues(device=nvme1n1); poll-nvme-help"));
        assert_eq!(found(&tree, "md0").as_deref(), Some("poll-md(device=md0); poll-md-help"));
        assert_eq!(found(&tree, "dm-0").as_deref(), Some("poll-no-queues(device=nvme1n1); poll-nvme-help"));
    }
}
