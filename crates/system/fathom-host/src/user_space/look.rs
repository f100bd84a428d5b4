//! Drives that a program is to have, looked at before anything is done.

use std::io;
use std::path::Path;

use fathom_nvme::driver::{DriverError, Reach, VfioFiles, VfioFunction};

use super::{
    AllowUnbind, IommuGroup, NvmeFunction, UserSpaceDrive, UserSpaceError, WithoutIommu, function_at, refuse_unfit,
    refuse_unnamed,
};
use crate::disk::BlockDevice;
use crate::guard::{address_of, drives_behind};
use crate::root::{Root, attribute};
use crate::writing;

impl UserSpaceDrive {
    /// Refuses what [`UserSpaceDrive::take`] would, as far as it can be told without judging what is on the drive. Drives that
    /// `vfio-pci` has are taken as they are.
    ///
    /// # Errors
    /// [`UserSpaceError`].
    pub fn check(root: &Root, address: &str, allow: &AllowUnbind<'_>) -> Result<(), UserSpaceError> {
        let function = function_at(root, address)?;
        if function.is_bound() {
            return Ok(());
        }
        refuse_unfit(root, &function, allow)?;
        refuse_unnamed(&function, allow)
    }
}

impl NvmeFunction {
    /// The form of the kernel of what is written like a PCI address; `None`: it is not.
    #[must_use]
    pub fn address_of_text(text: &str) -> Option<String> {
        address_of(text)
    }

    /// The block devices that lead to the function at an address; none while its driver is not the kernel's.
    #[must_use]
    pub fn drives_at(root: &Root, address: &str) -> Vec<BlockDevice> {
        drives_behind(root, address)
    }
}

/// Has the function at an address, which `vfio-pci` has, for this process alone; `group`: its IOMMU group. `without`: the
/// user's word for one that VFIO made up, because there is no IOMMU.
///
/// # Errors
/// [`DriverError`]; [`DriverError::NoIommuNoWord`] before anything is opened.
pub fn open_function(
    root: &Root,
    address: &str,
    group: &IommuGroup,
    without: WithoutIommu,
) -> Result<VfioFunction, DriverError> {
    let reach = match (group.without_iommu, without) {
        (false, _) => Reach::ByIommu,
        (true, WithoutIommu::AcceptAnyWriteToMemory) => Reach::Physical,
        (true, WithoutIommu::Refuse) => return Err(DriverError::NoIommuNoWord { group: group.node.clone() }),
    };
    let numa_node = NvmeFunction::at(root, address).ok().flatten().and_then(|function| function.numa_node);
    let opened = |path: &Path| {
        let failed = |source: io::Error| DriverError::System { call: "open", path: path.to_owned(), source };
        writing::vfio(path).map_err(failed)
    };
    let container = opened(Path::new(VfioFiles::CONTAINER))?;
    let files = VfioFiles { container, group: opened(&group.node)?, group_path: group.node.clone() };
    VfioFunction::open(address, numa_node, reach, files)
}

/// Number of the namespace that a block device of NVMe (`nvme0n1`) is, as its controller counts.
#[must_use]
pub fn namespace_number(root: &Root, name: &str) -> Option<u32> {
    attribute(&root.join("sys/block").join(Path::new(name)).join("nsid"))?.parse().ok()
}
