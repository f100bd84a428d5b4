//! What there is to bind, what is bound, and what stands in the way. Changes nothing.

use std::path::Path;

use super::access::GroupAccess;
use super::{AllowUnbind, LargePages, NvmeFunction, UserSpaceError, WithoutIommu, below, refuse_unfit};
use crate::disk::BlockDevice;
use crate::guard::{Refusal, claim_idle, drives_behind, holder_of};
use crate::root::Root;
use crate::settings::{BoundDrive, VFIO_DRIVER, bound_drives};

/// What this machine has for driving NVMe drives without the kernel.
#[derive(Debug)]
pub struct UserSpaceStatus {
    /// Every NVMe function, by address.
    pub functions: Vec<FunctionStatus>,
    /// Large pages of each size on each node.
    pub large_pages: Vec<LargePages>,
    /// Whether any function is in a group that an IOMMU made.
    pub has_iommu: bool,
    /// Whether `vfio-pci` is loaded; binding loads it.
    pub is_vfio_loaded: bool,
    /// Memory that this process may lock, bytes; `None`: any. VFIO counts what drives may reach against it, except for root.
    pub locked_memory_max_bytes: Option<u64>,
}

/// One NVMe function.
#[derive(Debug)]
pub struct FunctionStatus {
    /// The function.
    pub function: NvmeFunction,
    /// Its block devices, with what the guard has against taking each.
    pub namespaces: Vec<(BlockDevice, Option<Refusal>)>,
    /// What a journal knows of it: Fathom bound it.
    pub bound: Option<BoundDrive>,
    /// Where `vfio-pci` has it: whether this user may open its group.
    pub access: Option<GroupAccess>,
    /// Where `vfio-pci` has it: the program that has its group open.
    pub user: Option<(u32, String)>,
    /// Why binding it would be refused.
    pub against: Option<UserSpaceError>,
}

impl FunctionStatus {
    /// The serial number, as the kernel's driver or a journal has it.
    #[must_use]
    pub fn serial(&self) -> Option<&str> {
        self.function.serial.as_deref().or_else(|| self.bound.as_ref()?.serial.as_deref())
    }

    /// The model, likewise.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.function.model.as_deref().or_else(|| self.bound.as_ref()?.model.as_deref())
    }

    fn read(root: &Root, function: NvmeFunction, all_bound: &[BoundDrive]) -> FunctionStatus {
        let judged = |device: BlockDevice| {
            let refusal = claim_idle(root, std::slice::from_ref(&device)).err();
            (device, refusal)
        };
        let namespaces: Vec<_> = drives_behind(root, &function.address).into_iter().map(judged).collect();
        let bound = all_bound.iter().find(|bound| bound.address == function.address).cloned();
        let node = function.group.as_ref().filter(|_| function.is_bound()).map(|group| group.node.clone());
        let refusal = namespaces.iter().find_map(|(_, refusal)| refusal.clone());
        FunctionStatus {
            against: against(root, &function, bound.as_ref(), refusal),
            access: node.as_ref().map(|node| GroupAccess::of(root, node)),
            user: node.and_then(|node| holder_of(root, &below(root, &node))),
            function,
            namespaces,
            bound,
        }
    }
}

/// Why binding a function would be refused, in the order in which it would be.
fn against(
    root: &Root,
    function: &NvmeFunction,
    bound: Option<&BoundDrive>,
    refusal: Option<Refusal>,
) -> Option<UserSpaceError> {
    if let Some(error) = super::refuse_bound(function, bound).err() {
        return Some(error);
    }
    let allow = AllowUnbind { serials: &[], without_iommu: WithoutIommu::Refuse };
    refuse_unfit(root, function, &allow).err().or(refusal.map(UserSpaceError::Guard))
}

impl UserSpaceStatus {
    /// Looks at the machine below `root`, and at the journals in `dir`. A drive is claimed for a moment to see whether it is
    /// free.
    #[must_use]
    pub fn read(root: &Root, dir: &Path) -> UserSpaceStatus {
        let bound = bound_drives(dir);
        let functions = NvmeFunction::all(root);
        UserSpaceStatus {
            has_iommu: !root.names("sys/kernel/iommu_groups").is_empty()
                && functions.iter().all(|f| f.group.as_ref().is_some_and(|group| !group.without_iommu)),
            functions: functions.into_iter().map(|function| FunctionStatus::read(root, function, &bound)).collect(),
            large_pages: LargePages::all(root),
            is_vfio_loaded: root.join("sys/bus/pci/drivers").join(VFIO_DRIVER).exists(),
            locked_memory_max_bytes: locked_memory_max(&root.read("proc/self/limits").unwrap_or_default()),
        }
    }
}

/// `Max locked memory         8388608              8388608              bytes` (proc_pid_limits(5)): the first is in force.
fn locked_memory_max(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max locked memory"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_locked_memory_is_read_and_none_is_none() {
        let limits = "Max cpu time  unlimited unlimited seconds\nMax locked memory         8388608              16777216 bytes\n";
        assert_eq!(locked_memory_max(limits), Some(8_388_608));
        assert_eq!(
            locked_memory_max("Max locked memory         unlimited            unlimited            bytes\n"),
            None
        );
    }
}
