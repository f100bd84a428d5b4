//! Drives that steps of engines `nvme` and `spdk` drive past the kernel: taken from its driver before the first step that needs one,
//! given back before the next that does not.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fathom_host::settings::SettingError;
use fathom_host::{
    AllowUnbind, Binding, IommuGroup, NvmeFunction, Root, UserSpaceDrive, UserSpaceError, WithoutIommu, bound_drive,
    namespace_number, open_function,
};
use fathom_message::{Message, Say, msg, say_error};
use fathom_nvme::driver::{DrivenNamespace, Driver, DriverError, PciFunction};
use fathom_plan::{Plan, Step, TargetId};
use fathom_record::StepFailure;

use super::bind::Use;
use super::real::RealSite;
use super::{Permission, TargetError};

/// What a drive without an IOMMU and some threads take: about eight pages each, for queues and buffers.
const LARGE_PAGES_WITHOUT_IOMMU: u64 = 64;

/// A drive that is in user space for steps, and what its target was before.
#[derive(Debug)]
pub(super) struct TakenDrive {
    target: TargetId,
    drive: UserSpaceDrive,
    /// Its binding while the kernel had it; the claim is gone with the kernel's device.
    before: Binding,
}

/// Why a step cannot have a drive for itself.
#[derive(Debug)]
pub enum TakeError {
    /// No drive of NVMe, or one that cannot be bound to this process.
    Host(UserSpaceError),
    /// It was taken and does not work.
    Driver(DriverError),
    /// The target is no whole namespace of NVMe.
    NotNvme {
        /// The target.
        target: TargetId,
    },
    /// A PCI address with several namespaces behind it, or none.
    Namespaces {
        /// The target.
        target: TargetId,
        /// How many there are.
        count: usize,
    },
    /// A PCI address whose function the kernel's driver of NVMe does not have.
    NoBlockDevice {
        /// The target.
        target: TargetId,
    },
    /// Writes to a drive that was bound before the run.
    WritesToBound {
        /// The target.
        target: TargetId,
    },
    /// What answered in user space is not what the kernel had there.
    OtherDrive {
        /// The target.
        target: TargetId,
    },
}

impl Say for TakeError {
    fn message(&self) -> Message {
        let name = |target: &TargetId| target.as_str().to_owned();
        match self {
            TakeError::Host(error) => error.message(),
            TakeError::Driver(error) => error.message(),
            TakeError::NotNvme { target } => msg!("take-not-nvme", target = name(target)),
            TakeError::Namespaces { target, count } => {
                msg!("take-namespaces", target = name(target), count = *count)
            }
            TakeError::NoBlockDevice { target } => msg!("take-no-block-device", target = name(target)),
            TakeError::WritesToBound { target } => msg!("take-writes-to-bound", target = name(target)),
            TakeError::OtherDrive { target } => msg!("take-other-drive", target = name(target)),
        }
    }

    fn help(&self) -> Option<Message> {
        match self {
            TakeError::Host(error) => error.help(),
            TakeError::Driver(error) => error.help(),
            TakeError::NotNvme { .. } => Some(msg!("engine-nvme-kind-help")),
            TakeError::Namespaces { .. } => Some(msg!("take-namespaces-help")),
            TakeError::NoBlockDevice { .. } | TakeError::WritesToBound { .. } => {
                Some(msg!("take-no-block-device-help"))
            }
            TakeError::OtherDrive { .. } => Some(msg!("take-other-drive-help")),
        }
    }
}
say_error!(TakeError);

/// Whether a step has its targets in user space.
fn takes_drives(step: &Step) -> bool {
    step.engine.name.is_past_kernel() && step.opens_targets()
}

/// The PCI address that a target of a plan is; a file may be called like one.
fn address_in(target: &TargetId) -> Option<String> {
    let name = target.as_str();
    NvmeFunction::address_of_text(name).filter(|_| !PathBuf::from(name).exists())
}

/// The address of a drive that `vfio-pci` has already, by hand or by another program, where a target is one.
pub(super) fn bound_by_hand(target: &TargetId) -> Option<String> {
    let function = NvmeFunction::at(&Root::live(), &address_in(target)?).ok().flatten()?;
    function.is_bound().then_some(function.address)
}

/// The block device that a target of a plan is, where it is the PCI address of a drive that the kernel has.
///
/// # Errors
/// [`TakeError::Namespaces`].
pub(super) fn block_device_of(target: &TargetId) -> Result<Option<PathBuf>, TakeError> {
    let Some(address) = address_in(target) else { return Ok(None) };
    match &NvmeFunction::drives_at(&Root::live(), &address)[..] {
        [one] => Ok(Some(one.dev_path.clone())),
        [] => Ok(None),
        several => Err(TakeError::Namespaces { target: target.clone(), count: several.len() }),
    }
}

/// Refuses a plan whose drives could not be taken when their steps come.
///
/// # Errors
/// [`TargetError::Taken`].
pub(super) fn check_drives(
    plan: &Plan,
    permission: &Permission,
    path_of: &dyn Fn(&TargetId) -> PathBuf,
) -> Result<(), TargetError> {
    let root = Root::live();
    for target in plan.steps.iter().filter(|s| s.opens_targets()).flat_map(|s| &s.targets).collect::<BTreeSet<_>>() {
        let is_with_kernel = address_in(target).is_some() && bound_by_hand(target).is_none();
        if is_with_kernel && block_device_of(target).map_err(TargetError::Taken)?.is_none() {
            return Err(TargetError::Taken(TakeError::NoBlockDevice { target: target.clone() }));
        }
    }
    let targets: BTreeSet<&TargetId> = plan.steps.iter().filter(|s| takes_drives(s)).flat_map(|s| &s.targets).collect();
    for target in targets.into_iter().filter(|target| bound_by_hand(target).is_none()) {
        let address = address_of(target, &path_of(target)).map_err(TargetError::Taken)?;
        UserSpaceDrive::check(&root, &address, &allow(permission))
            .map_err(|error| TargetError::Taken(TakeError::Host(error)))?;
    }
    Ok(())
}

fn allow(permission: &Permission) -> AllowUnbind<'_> {
    AllowUnbind { serials: &permission.allow_unbind, without_iommu: permission.without_iommu }
}

fn address_of(target: &TargetId, path: &Path) -> Result<String, TakeError> {
    let not_nvme = || TakeError::NotNvme { target: target.clone() };
    let real = std::fs::canonicalize(path).map_err(|_| not_nvme())?;
    let address = real.to_str().and_then(|path| NvmeFunction::address_of(&Root::live(), path));
    address.ok_or_else(not_nvme)
}

impl RealSite {
    /// Takes the drives of these steps, which run at once, and gives all others back. The outer error ends the run: a
    /// drive did not come back.
    pub(super) fn drives_for(&mut self, steps: &[&Step]) -> Result<Result<(), StepFailure>, SettingError> {
        let mut wanted: Vec<&TargetId> = steps.iter().filter(|s| takes_drives(s)).flat_map(|s| &s.targets).collect();
        // What was bound before the run is in user space for all of it.
        let is_ours = |target: &TargetId| self.taken.iter().any(|taken| taken.target == *target);
        let is_bound = |target: &TargetId| self.bound.bindings.get(target).is_some_and(|b| b.driven().is_some());
        wanted.retain(|target| is_ours(target) || !is_bound(target));
        wanted.sort();
        wanted.dedup();
        // One that did not answer after a step is none of ours any more.
        let has_all = wanted.iter().all(|target| is_bound(target));
        if has_all && self.taken.iter().map(|taken| &taken.target).eq(wanted.iter().copied()) {
            return Ok(Ok(()));
        }
        let what = || Message::verbatim(steps.first().map(|step| step.label.clone()).unwrap_or_default());
        if let Err(failure) = self.give_drives_back()? {
            return Ok(Err(StepFailure::refused(what(), &failure)));
        }
        for target in wanted {
            if let Err(failure) = self.take_drive(target) {
                let failure = StepFailure::refused(what(), &failure);
                let _ = self.give_drives_back()?;
                return Ok(Err(failure));
            }
        }
        Ok(Ok(()))
    }

    /// A drive that is bound already, to be read: what is on it was judged by nobody, so that it is not written.
    pub(super) fn bind_bound(&self, target: &TargetId, address: &str, writes: bool) -> Result<Binding, TakeError> {
        if writes {
            return Err(TakeError::WritesToBound { target: target.clone() });
        }
        let (address, group) =
            bound_drive(&Root::live(), &self.settings.journal().dir(), address).map_err(TakeError::Host)?;
        let namespace =
            started(&address, &group, self.permission.without_iommu).and_then(|driver| DrivenNamespace::of(driver, 1));
        Ok(Binding::null(target.clone()).in_user_space(namespace.map_err(TakeError::Driver)?))
    }

    /// Address of the drive behind a target that is in user space.
    pub(super) fn address_of_taken(&self, target: &TargetId) -> Option<String> {
        let taken = self.taken.iter().find(|taken| taken.target == *target);
        taken.map(|taken| taken.drive.address().to_owned()).or_else(|| bound_by_hand(target))
    }

    /// A binding of a drive that is in user space still, after another program drove it: our driver begins anew.
    pub(super) fn drive_again(&self, target: &TargetId, step: &Step, number: u32) -> Result<Binding, TakeError> {
        let Some(taken) = self.taken.iter().find(|taken| taken.target == *target) else {
            let address = bound_by_hand(target).ok_or_else(|| TakeError::NotNvme { target: target.clone() })?;
            return self.bind_bound(target, &address, step.workload.mix.is_destructive());
        };
        let size_bytes = taken.before.device().map_or(0, |device| device.size_bytes);
        let driven = driven(target, &taken.drive, self.permission.without_iommu, (number, size_bytes))?;
        Ok(taken.before.in_user_space(driven))
    }

    fn take_drive(&mut self, target: &TargetId) -> Result<(), TakeError> {
        let root = Root::live();
        let address = address_of(target, &self.path_of(target))?;
        let not_nvme = || TakeError::NotNvme { target: target.clone() };
        let before = self.bound.bindings.get(target).cloned().ok_or_else(not_nvme)?;
        let device = before.device().filter(|device| device.partition.is_none()).ok_or_else(not_nvme)?;
        let number = namespace_number(&root, &device.name).ok_or_else(not_nvme)?;
        let drive = UserSpaceDrive::take(
            &root,
            self.settings.journal(),
            &address,
            &allow(&self.permission),
            before.consent(),
            large_pages_for(&root, &address),
        )
        .map_err(TakeError::Host)?;
        let driven = driven(target, &drive, self.permission.without_iommu, (number, device.size_bytes));
        // What was claimed is gone.
        self.bound.bindings.take(target);
        let taken = TakenDrive { target: target.clone(), drive, before: before.without_claim() };
        let made = driven.map(|namespace| self.bound.bindings.add(taken.before.in_user_space(namespace)));
        self.taken.push(taken);
        made
    }

    /// Gives all of them back to the kernel, and binds their targets again. The outer error: one is in the journal still.
    pub(super) fn give_drives_back(&mut self) -> Result<Result<(), TargetError>, SettingError> {
        let (mut result, mut stayed) = (Ok(()), None);
        let taken = std::mem::take(&mut self.taken);
        // The driver shuts a drive down when nobody has it any more; none may be open when it is given back.
        for drive in &taken {
            self.bound.bindings.take(&drive.target);
        }
        // In their order: a controller gets the lowest number that is free, and so its own again.
        for TakenDrive { target, drive, before } in taken {
            match drive.give_back() {
                Ok(()) => {}
                Err(UserSpaceError::Setting(error)) => {
                    stayed = stayed.or(Some(error));
                    continue;
                }
                Err(other) => {
                    result = Err(TargetError::Taken(TakeError::Host(other)));
                    continue;
                }
            }
            match self.bind_again(&target, &before) {
                Ok(binding) => self.bound.bindings.add(binding),
                Err(error) => result = Err(error),
            }
        }
        stayed.map_or(Ok(result), Err)
    }

    /// The binding of a target whose drive came back: judged once more, for the kernel made a new device of it.
    fn bind_again(&self, target: &TargetId, before: &Binding) -> Result<Binding, TargetError> {
        let used = Use::of_whole_device(before.consent().is_some());
        let again = self.look_at_device(target, used)?;
        let serial = |binding: &Binding| binding.device().and_then(|device| device.serial.clone());
        if serial(&again) != serial(before) {
            return Err(TargetError::Taken(TakeError::OtherDrive { target: target.clone() }));
        }
        Ok(again)
    }
}

/// Large pages that are to be free for a drive: without an IOMMU it takes no others.
fn large_pages_for(root: &Root, address: &str) -> u64 {
    let is_guarded = NvmeFunction::at(root, address).ok().flatten().is_some_and(|function| function.group.is_some());
    if is_guarded { 0 } else { LARGE_PAGES_WITHOUT_IOMMU }
}

fn started(address: &str, group: &IommuGroup, without: WithoutIommu) -> Result<Arc<Driver>, DriverError> {
    Driver::start(Arc::new(open_function(&Root::live(), address, group, without)?) as Arc<dyn PciFunction>)
}

/// Starts the drive and looks at the namespace of that number, which the kernel had as so many bytes.
fn driven(
    target: &TargetId,
    drive: &UserSpaceDrive,
    without: WithoutIommu,
    (number, size_bytes): (u32, u64),
) -> Result<DrivenNamespace, TakeError> {
    let driver = started(drive.address(), drive.group(), without).map_err(TakeError::Driver)?;
    let is_same = drive.serial().is_none_or(|serial| driver.described().serial == serial.trim());
    let namespace = DrivenNamespace::of(driver, number).map_err(TakeError::Driver)?;
    if !is_same || namespace.size_bytes() != size_bytes {
        return Err(TakeError::OtherDrive { target: target.clone() });
    }
    Ok(namespace)
}
