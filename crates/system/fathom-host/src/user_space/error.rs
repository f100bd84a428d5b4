//! Why the kernel was not made to let go of a drive, or did not get it back.

use std::path::PathBuf;

use fathom_message::{Arg, Join, Message, Say, msg, say_error};

use super::access::NodeOwner;
use super::function::GroupMember;
use crate::guard::{Refusal, RefusalKind};
use crate::settings::{KERNEL_DRIVER, SettingError};

/// Why a drive was not taken from the kernel, or not given back. Unless it says otherwise, nothing was changed.
#[derive(Debug)]
pub enum UserSpaceError {
    /// No PCI function has that address.
    NoFunction {
        /// As it was given.
        address: String,
    },
    /// No NVMe drive of this machine is called that.
    NoDrive {
        /// As it was given.
        text: String,
    },
    /// The function is something else.
    NotNvme {
        /// Its address.
        address: String,
    },
    /// No `--allow-unbind` names it.
    NotAllowed {
        /// Its address.
        address: String,
        /// The word for it.
        name: String,
    },
    /// Something uses it.
    Guard(Refusal),
    /// A namespace is reached through another controller too.
    Shared {
        /// The function that was asked for.
        address: String,
        /// Kernel name of the namespace.
        namespace: String,
        /// Kernel name of the other controller.
        controller: String,
    },
    /// Some other driver has it, or none.
    OtherDriver {
        /// Its address.
        address: String,
        /// The driver.
        driver: Option<String>,
    },
    /// It is bound to `vfio-pci` already.
    AlreadyBound {
        /// Its address.
        address: String,
        /// The command of Fathom that did it; `None`: somebody else.
        command: Option<String>,
    },
    /// Fathom did not bind it, so that it does not know what to give it back to.
    NotBound {
        /// Its address.
        address: String,
        /// The driver that has it.
        driver: Option<String>,
    },
    /// A program has its group open.
    GroupInUse {
        /// Its address.
        address: String,
        /// Node of the group.
        node: PathBuf,
        /// Process id of the program.
        pid: u32,
        /// Its name.
        program: String,
    },
    /// This user may not open its group.
    NoAccess {
        /// Its address.
        address: String,
        /// Node of the group.
        node: PathBuf,
        /// Who may.
        owner: NodeOwner,
    },
    /// No IOMMU keeps the drive to the memory of its program.
    NoIommu {
        /// Its address.
        address: String,
    },
    /// There is no IOMMU, and this kernel has no way to go without.
    NoIommuNotBuilt {
        /// Its address.
        address: String,
    },
    /// Others are in its IOMMU group and work for the kernel.
    GroupShared {
        /// Its address.
        address: String,
        /// Number of the group.
        group: u32,
        /// Those others.
        others: Vec<GroupMember>,
    },
    /// The kernel has no `vfio-pci`.
    NoVfio,
    /// The node of the group did not appear. What was changed is undone.
    NoNode {
        /// Its address.
        address: String,
        /// Where the node would be; `None`: the function is in no group.
        node: Option<PathBuf>,
    },
    /// A driver, or the large pages, could not be changed, or the journal not be written.
    Setting(SettingError),
}

impl From<SettingError> for UserSpaceError {
    fn from(error: SettingError) -> Self {
        UserSpaceError::Setting(error)
    }
}

impl From<Refusal> for UserSpaceError {
    fn from(refusal: Refusal) -> Self {
        UserSpaceError::Guard(refusal)
    }
}

impl UserSpaceError {
    /// Whether it is a refusal: the machine is as it was, and as it should be.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        !matches!(self, UserSpaceError::Setting(_) | UserSpaceError::NoVfio | UserSpaceError::NoNode { .. })
    }
}

impl Say for UserSpaceError {
    fn message(&self) -> Message {
        match self {
            UserSpaceError::NoFunction { address } => msg!("guard-no-pci-device", address = address),
            UserSpaceError::NoDrive { text } => msg!("bind-no-drive", text = text),
            UserSpaceError::NotNvme { address } => msg!("bind-not-nvme", address = address),
            UserSpaceError::NotAllowed { address, name } => msg!("bind-not-allowed", address = address, name = name),
            UserSpaceError::Guard(refusal) => refusal.message(),
            UserSpaceError::Shared { address, namespace, controller } => {
                msg!("bind-shared", address = address, namespace = namespace, controller = controller)
            }
            UserSpaceError::OtherDriver { address, driver: Some(driver) } => {
                msg!("bind-other-driver", address = address, driver = driver)
            }
            UserSpaceError::OtherDriver { address, driver: None } => msg!("bind-no-driver", address = address),
            UserSpaceError::AlreadyBound { address, command: Some(command) } => {
                msg!("bind-already", address = address, command = command)
            }
            UserSpaceError::AlreadyBound { address, command: None } => msg!("bind-already-foreign", address = address),
            UserSpaceError::NotBound { address, driver: Some(driver) } if driver == KERNEL_DRIVER => {
                msg!("bind-kernel-has-it", address = address)
            }
            UserSpaceError::NotBound { address, driver: Some(driver) } => {
                msg!("bind-not-bound", address = address, driver = driver)
            }
            UserSpaceError::NotBound { address, driver: None } => msg!("bind-no-driver", address = address),
            UserSpaceError::GroupInUse { address, node, pid, program } => {
                msg!("bind-group-in-use", address = address, node = node, pid = pid.to_string(), program = program)
            }
            UserSpaceError::NoAccess { address, node, owner: NodeOwner { user, group, mode } } => {
                msg!("bind-no-access", address = address, node = node, user = user, group = group, mode = mode)
            }
            UserSpaceError::NoIommu { address } => msg!("bind-no-iommu", address = address),
            UserSpaceError::NoIommuNotBuilt { address } => msg!("bind-no-iommu-not-built", address = address),
            UserSpaceError::GroupShared { address, group, others } => {
                let name = |other: &GroupMember| match &other.driver {
                    Some(driver) => format!("{} ({driver})", other.address),
                    None => other.address.clone(),
                };
                let others = Arg::names(others.iter().map(name), Join::Comma);
                msg!("bind-group-shared", address = address, group = group.to_string(), others = others)
            }
            UserSpaceError::NoVfio => msg!("bind-no-vfio"),
            UserSpaceError::NoNode { address, node: Some(node) } => {
                msg!("bind-no-node", address = address, node = node)
            }
            UserSpaceError::NoNode { address, node: None } => msg!("bind-no-group", address = address),
            UserSpaceError::Setting(error) => error.message(),
        }
    }

    fn help(&self) -> Option<Message> {
        Some(match self {
            UserSpaceError::NoFunction { .. } => msg!("guard-no-pci-device-help"),
            UserSpaceError::NoDrive { .. } | UserSpaceError::NotNvme { .. } => msg!("bind-no-drive-help"),
            UserSpaceError::NotAllowed { name, .. } => msg!("bind-not-allowed-help", name = name),
            // The guard's own words are of writing.
            UserSpaceError::Guard(Refusal { kind: RefusalKind::Mounted, .. }) => msg!("bind-mounted-help"),
            UserSpaceError::Guard(Refusal { kind: RefusalKind::RootDrive, .. }) => msg!("bind-root-drive-help"),
            UserSpaceError::Guard(refusal) => refusal.help.clone(),
            UserSpaceError::Shared { controller, .. } => msg!("bind-shared-help", controller = controller),
            UserSpaceError::NoAccess { node, owner, .. } => {
                msg!("bind-no-access-help", node = node, group = &owner.group)
            }
            UserSpaceError::NotBound { driver: Some(driver), .. } if driver == KERNEL_DRIVER => {
                msg!("bind-no-drive-help")
            }
            UserSpaceError::OtherDriver { driver: Some(_), .. }
            | UserSpaceError::NotBound { driver: Some(_), .. }
            | UserSpaceError::AlreadyBound { command: None, .. } => msg!("bind-other-driver-help"),
            UserSpaceError::OtherDriver { address, driver: None }
            | UserSpaceError::NotBound { address, driver: None } => {
                msg!("bind-no-driver-help", address = address)
            }
            UserSpaceError::AlreadyBound { address, .. } => msg!("bind-already-help", address = address),
            UserSpaceError::GroupInUse { pid, .. } => msg!("setting-in-use-help", pid = pid.to_string()),
            UserSpaceError::NoIommu { .. } => msg!("bind-no-iommu-help"),
            UserSpaceError::NoIommuNotBuilt { .. } => msg!("bind-no-iommu-not-built-help"),
            UserSpaceError::GroupShared { .. } => msg!("bind-group-shared-help"),
            UserSpaceError::NoVfio => msg!("bind-no-vfio-help"),
            UserSpaceError::NoNode { .. } => msg!("setting-see-kernel-log"),
            UserSpaceError::Setting(error) => return error.help(),
        })
    }
}

say_error!(UserSpaceError);
