//! Drives that the kernel lets go of for a while, so that a program can drive them itself through VFIO
//! (Documentation/driver-api/vfio.rst).
//!
//! ```no_run
//! # use fathom_host::{AllowUnbind, Root, UserSpaceDrive, WithoutIommu, settings::Journal};
//! # fn main() -> Result<(), fathom_host::UserSpaceError> {
//! let root = Root::live();
//! let journal = Journal::open(&root, "/var/lib/fathom/journal", "fathom run engines");
//! let allow = AllowUnbind { serials: &["S64GNE0R".to_owned()], without_iommu: WithoutIommu::Refuse };
//! // Judged, claimed, written down, and only then unbound.
//! let drive = UserSpaceDrive::take(&root, &journal, "0000:5e:00.0", &allow, None, 0)?;
//! // ... open drive.group().node, drive the controller, close everything ...
//! drive.give_back()?; // or drop it: the same, but an error then waits in `Journal::failures`
//! # Ok(()) }
//! ```

mod access;
mod by_hand;
mod error;
mod function;
mod large_pages;
mod look;
mod status;

use std::path::{Path, PathBuf};
use std::time::Duration;

pub use access::{GroupAccess, NodeOwner};
pub use by_hand::{Unbound, bind_by_hand, bound_drive, unbind};
pub use error::UserSpaceError;
pub use function::{GroupMember, IommuGroup, NvmeFunction};
pub use large_pages::{LargePages, large_pages_for_a_program};
pub use look::{namespace_number, open_function};
pub use status::{FunctionStatus, UserSpaceStatus};

use crate::disk::BlockDevice;
use crate::guard::{WriteConsent, claim_idle, drives_behind, holder_of};
use crate::module;
use crate::root::Root;
use crate::settings::{
    Applied, BoundDrive, Change, Done, Journal, KERNEL_DRIVER, PciDriver, Setting, VFIO_DRIVER, bound_drives, wait,
};

/// How long the node of a group may take: the kernel asks udev to make it.
const NODE_WITHIN: Duration = Duration::from_secs(10);

/// What the user said of a drive that no IOMMU keeps to the memory of its program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WithoutIommu {
    /// Nothing: it is refused.
    #[default]
    Refuse,
    /// That a fault of the program or the drive may write to any memory of the machine.
    AcceptAnyWriteToMemory,
}

/// The user's word that the kernel may lose drives for a while.
#[derive(Clone, Copy, Debug)]
pub struct AllowUnbind<'a> {
    /// Values of `--allow-unbind`: serial numbers, or addresses of drives without one.
    pub serials: &'a [String],
    /// What holds where there is no IOMMU.
    pub without_iommu: WithoutIommu,
}

impl AllowUnbind<'_> {
    /// No drive may be taken.
    pub const NOTHING: AllowUnbind<'static> = AllowUnbind { serials: &[], without_iommu: WithoutIommu::Refuse };
}

/// A drive that the kernel let go of: `vfio-pci` has it, and the node of its group is there. Dropping it gives it back, unless
/// it was bound before it was taken.
#[derive(Debug)]
#[must_use = "dropping it gives the drive back at once"]
pub struct UserSpaceDrive {
    address: String,
    serial: Option<String>,
    model: Option<String>,
    numa_node: Option<u32>,
    group: IommuGroup,
    judged: Vec<BlockDevice>,
    applied: Applied,
}

impl UserSpaceDrive {
    /// Takes the drive at `address` from the kernel.
    ///
    /// Every namespace is judged and claimed just before: those of `consent`, which the caller may have to write to them, are
    /// already, the others here. `pages`: large pages of 2 MiB that are to be free on the drive's node, 0 for none. All that is
    /// changed stands in the `journal` first. A drive that `vfio-pci` has already is not judged, for no block device leads to
    /// it any more, and stays bound afterwards.
    ///
    /// # Errors
    /// [`UserSpaceError`]; the machine is as it was.
    pub fn take(
        root: &Root,
        journal: &Journal,
        address: &str,
        allow: &AllowUnbind<'_>,
        consent: Option<&WriteConsent>,
        pages: u64,
    ) -> Result<UserSpaceDrive, UserSpaceError> {
        let function = function_at(root, address)?;
        if function.is_bound() {
            return UserSpaceDrive::take_bound(root, journal, function, pages);
        }
        refuse_unfit(root, &function, allow)?;
        let drives = drives_behind(root, address);
        let is_judged = |drive: &BlockDevice| {
            consent.is_some_and(|consent| consent.devices().any(|judged| judged.number == drive.number))
        };
        let others: Vec<BlockDevice> = drives.iter().filter(|drive| !is_judged(drive)).cloned().collect();
        // Held until the driver has let go: nobody can mount it in between.
        let claims = claim_idle(root, &others)?;
        refuse_unnamed(&function, allow)?;
        refuse_without_vfio(root)?;
        let mut changes = large_pages::changes(root, function.numa_node, pages);
        // The group comes with the driver then.
        if function.group.is_none() {
            changes.push(Change { setting: Setting::VfioWithoutIommu, value: "Y".to_owned() });
        }
        let driver = PciDriver {
            address: function.address.clone(),
            serial: function.serial.clone(),
            model: function.model.clone(),
            override_before: function.driver_override.clone(),
            namespaces: drives.len() as u32,
        };
        changes.push(Change { setting: Setting::PciDriver(Box::new(driver)), value: VFIO_DRIVER.to_owned() });
        let applied = journal.apply_all(&changes)?;
        drop(claims);
        let group = wait_for_group(root, address)?;
        let NvmeFunction { address, serial, model, numa_node, .. } = function;
        Ok(UserSpaceDrive { address, serial, model, numa_node, group, judged: drives, applied })
    }

    /// A drive that is bound: by `fathom nvme bind`, or by somebody else.
    fn take_bound(
        root: &Root,
        journal: &Journal,
        function: NvmeFunction,
        pages: u64,
    ) -> Result<UserSpaceDrive, UserSpaceError> {
        let group = wait_for_group(root, &function.address)?;
        refuse_in_use(root, &function.address, &group)?;
        if let GroupAccess::Denied(owner) = GroupAccess::of(root, &group.node) {
            return Err(UserSpaceError::NoAccess { address: function.address, node: group.node, owner });
        }
        let known = bound_drives(&journal.dir()).into_iter().find(|bound| bound.address == function.address);
        let applied = journal.apply_all(&large_pages::changes(root, function.numa_node, pages))?;
        let (serial, model) = known.map_or((None, None), |bound| (bound.serial, bound.model));
        let NvmeFunction { address, numa_node, .. } = function;
        Ok(UserSpaceDrive { address, serial, model, numa_node, group, judged: Vec::new(), applied })
    }

    /// Address of its PCI function.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Its serial number; `None` for one that somebody else had bound, which only its own Identify tells.
    #[must_use]
    pub fn serial(&self) -> Option<&str> {
        self.serial.as_deref()
    }

    /// Its model, where it was known.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// NUMA node it is attached to.
    #[must_use]
    pub fn numa_node(&self) -> Option<u32> {
        self.numa_node
    }

    /// The group that a program opens.
    #[must_use]
    pub fn group(&self) -> &IommuGroup {
        &self.group
    }

    /// The block devices that it was, as they were judged; none where it was bound already.
    #[must_use]
    pub fn judged(&self) -> &[BlockDevice] {
        &self.judged
    }

    /// What was changed for it.
    #[must_use]
    pub fn done(&self) -> &[Done] {
        self.applied.done()
    }

    /// Gives it back to the kernel's driver, waits until its block devices are there again, and undoes the rest. Every
    /// descriptor of its group must be closed before: the kernel waits for them, so that this refuses instead.
    ///
    /// # Errors
    /// [`UserSpaceError::Setting`]; what could not be undone stays in the journal for `fathom restore`.
    pub fn give_back(self) -> Result<(), UserSpaceError> {
        Ok(self.applied.restore()?)
    }

    /// Leaves it to programs after this one ends; for journals of [`Journal::open_kept`].
    pub fn keep(self) {
        self.applied.keep();
    }
}

/// The function at an address in the form of the kernel.
fn function_at(root: &Root, address: &str) -> Result<NvmeFunction, UserSpaceError> {
    let address = address.to_owned();
    match NvmeFunction::at(root, &address) {
        Err(()) => Err(UserSpaceError::NoFunction { address }),
        Ok(None) => Err(UserSpaceError::NotNvme { address }),
        Ok(Some(function)) => Ok(function),
    }
}

/// Refuses what is taken from the kernel already, also by half.
fn refuse_bound(function: &NvmeFunction, bound: Option<&BoundDrive>) -> Result<(), UserSpaceError> {
    if !function.is_bound() && (bound.is_none() || function.driver.is_some()) {
        return Ok(());
    }
    let command = bound.map(|bound| bound.command.clone());
    Err(UserSpaceError::AlreadyBound { address: function.address.clone(), command })
}

/// Refuses what can be told without touching the drive.
fn refuse_unfit(root: &Root, function: &NvmeFunction, allow: &AllowUnbind<'_>) -> Result<(), UserSpaceError> {
    let address = function.address.clone();
    if function.driver.as_deref() != Some(KERNEL_DRIVER) {
        return Err(UserSpaceError::OtherDriver { address, driver: function.driver.clone() });
    }
    if let Some((controller, namespace)) = function.shared_with(root) {
        return Err(UserSpaceError::Shared { address, namespace, controller });
    }
    match &function.group {
        Some(group) if group.blockers().next().is_some() => {
            let others = group.blockers().cloned().collect();
            return Err(UserSpaceError::GroupShared { address, group: group.number, others });
        }
        Some(_) => {}
        None if allow.without_iommu == WithoutIommu::Refuse => return Err(UserSpaceError::NoIommu { address }),
        None => {
            module::load(root, "vfio", &root.join("sys/module/vfio"));
            if Setting::VfioWithoutIommu.read(root).is_err() {
                return Err(UserSpaceError::NoIommuNotBuilt { address });
            }
        }
    }
    Ok(())
}

fn refuse_unnamed(function: &NvmeFunction, allow: &AllowUnbind<'_>) -> Result<(), UserSpaceError> {
    let name = function.consent_name();
    if allow.serials.iter().any(|serial| serial == name) {
        return Ok(());
    }
    Err(UserSpaceError::NotAllowed { address: function.address.clone(), name: name.to_owned() })
}

/// Loads what hands drives to programs. Modules stay: nothing changes by their being there.
fn refuse_without_vfio(root: &Root) -> Result<(), UserSpaceError> {
    let driver = root.join("sys/bus/pci/drivers").join(VFIO_DRIVER);
    module::load(root, "vfio_iommu_type1", &root.join("sys/module/vfio_iommu_type1"));
    module::load(root, "vfio_pci", &driver);
    if driver.exists() { Ok(()) } else { Err(UserSpaceError::NoVfio) }
}

/// The group of a function that `vfio-pci` has, once its node is there.
fn wait_for_group(root: &Root, address: &str) -> Result<IommuGroup, UserSpaceError> {
    let Some(group) = IommuGroup::of(root, address) else {
        return Err(UserSpaceError::NoNode { address: address.to_owned(), node: None });
    };
    if wait(NODE_WITHIN, || below(root, &group.node).exists()) {
        return Ok(group);
    }
    Err(UserSpaceError::NoNode { address: address.to_owned(), node: Some(group.node) })
}

fn refuse_in_use(root: &Root, address: &str, group: &IommuGroup) -> Result<(), UserSpaceError> {
    match holder_of(root, &below(root, &group.node)) {
        None => Ok(()),
        Some((pid, program)) => {
            let (address, node) = (address.to_owned(), group.node.clone());
            Err(UserSpaceError::GroupInUse { address, node, pid, program })
        }
    }
}

/// A path of the machine as it lies below `root`.
fn below(root: &Root, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// The journal's words for a drive that it knows to be bound.
#[must_use]
pub fn bound_by_fathom(dir: &Path, address: &str) -> Option<BoundDrive> {
    bound_drives(dir).into_iter().find(|bound| bound.address == address)
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests;
