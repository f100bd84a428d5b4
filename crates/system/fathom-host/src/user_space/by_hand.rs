//! Drives bound by hand: they stay bound after the program ends, until they are unbound or restored.

use std::path::Path;

use super::{
    AllowUnbind, IommuGroup, NvmeFunction, UserSpaceDrive, UserSpaceError, WithoutIommu, function_at, refuse_in_use,
};
use crate::disk::BlockDevice;
use crate::guard::drives_behind;
use crate::root::Root;
use crate::settings::{BoundDrive, Journal, Restoration, Setting, SettingError, bound_drives, restore_driver_of};

/// A drive that the kernel has again.
#[derive(Debug)]
pub struct Unbound {
    /// What the journal knew of it.
    pub drive: BoundDrive,
    /// What was brought back, and what could not be.
    pub restoration: Restoration,
    /// Its block devices now.
    pub devices: Vec<BlockDevice>,
}

/// Binds a drive, named by its address, serial number or a device of it, which is all the consent that this takes. `journal`:
/// one of [`Journal::open_kept`]. Call [`UserSpaceDrive::keep`] on what comes back.
///
/// # Errors
/// [`UserSpaceError`]; the machine is as it was.
pub fn bind_by_hand(
    root: &Root,
    journal: &Journal,
    drive: &str,
    pages: u64,
    without_iommu: WithoutIommu,
) -> Result<UserSpaceDrive, UserSpaceError> {
    let all_bound = bound_drives(&journal.dir());
    let address = address_of(root, &all_bound, drive)?;
    let function = function_at(root, &address)?;
    let bound = all_bound.iter().find(|bound| bound.address == address);
    super::refuse_bound(&function, bound)?;
    let serials = [function.consent_name().to_owned()];
    let allow = AllowUnbind { serials: &serials, without_iommu };
    UserSpaceDrive::take(root, journal, &address, &allow, None, pages)
}

/// Address and group of a drive that `vfio-pci` has and that nobody drives now. `dir` and `drive`: as of [`unbind`].
///
/// # Errors
/// [`UserSpaceError`].
pub fn bound_drive(root: &Root, dir: &Path, drive: &str) -> Result<(String, IommuGroup), UserSpaceError> {
    let address = address_of(root, &bound_drives(dir), drive)?;
    let function = function_at(root, &address)?;
    if !function.is_bound() {
        return Err(UserSpaceError::NotBound { address, driver: function.driver });
    }
    let group = super::wait_for_group(root, &address)?;
    refuse_in_use(root, &address, &group)?;
    Ok((address, group))
}

/// Gives a drive that Fathom bound back to the kernel's driver, waits for its block devices, and undoes what else was changed
/// for it. `drive`: as of [`bind_by_hand`]; the serial number of a bound drive is known to the journals in `dir`.
///
/// # Errors
/// [`UserSpaceError`]: nothing was done. What failed under way is in [`Unbound::restoration`].
pub fn unbind(root: &Root, dir: &Path, drive: &str) -> Result<Unbound, UserSpaceError> {
    let all_bound = bound_drives(dir);
    let address = address_of(root, &all_bound, drive)?;
    let Some(bound) = all_bound.into_iter().find(|bound| bound.address == address) else {
        let driver = function_at(root, &address)?.driver;
        return Err(UserSpaceError::NotBound { address, driver });
    };
    if bound.alive {
        let (pid, command) = (bound.pid, bound.command.clone());
        let setting = Setting::PciDriver(Box::new(bound.driver()));
        return Err(SettingError::Busy { setting, pid, command }.into());
    }
    // Else the large pages would go while that program works on in them.
    if let Some(group) = IommuGroup::of(root, &address) {
        refuse_in_use(root, &address, &group)?;
    }
    let restoration = restore_driver_of(root, dir, &address)?;
    Ok(Unbound { devices: drives_behind(root, &address), drive: bound, restoration })
}

fn address_of(root: &Root, all_bound: &[BoundDrive], drive: &str) -> Result<String, UserSpaceError> {
    let by_serial = || all_bound.iter().find(|bound| bound.serial.as_deref() == Some(drive));
    NvmeFunction::address_of(root, drive)
        .or_else(|| by_serial().map(|bound| bound.address.clone()))
        .ok_or_else(|| UserSpaceError::NoDrive { text: drive.to_owned() })
}
