//! Admin commands to a drive that the kernel drives.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use fathom_message::{Message, Say, msg, say_error};

use crate::command::{AdminCommand, Transfer};
use crate::features::FeatureId;
use crate::status::Status;
use crate::system::passthrough::{self, Answer};
use crate::system::{AsFd as _, BorrowedFd};

/// Why a drive could not be asked.
#[derive(Debug)]
pub enum DeviceError {
    /// The node cannot be opened.
    Open {
        /// Its path.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// It is no NVMe device.
    NotNvme {
        /// Its path.
        path: PathBuf,
    },
    /// The kernel did not carry the command out.
    Kernel {
        /// Command, by its name in the specification.
        command: &'static str,
        /// Device.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// The drive refused the command.
    Refused {
        /// Command, by its name in the specification.
        command: &'static str,
        /// Device.
        path: PathBuf,
        /// Its answer.
        status: Status,
    },
}

impl Say for DeviceError {
    fn message(&self) -> Message {
        match self {
            DeviceError::Open { path, source } => msg!("nvme-open-failed", path = path, source = source),
            DeviceError::NotNvme { path } => msg!("nvme-not-a-device", path = path),
            DeviceError::Kernel { command, path, source } => {
                msg!("nvme-command-failed", command = *command, path = path, source = source)
            }
            DeviceError::Refused { command, path, status } => {
                msg!("nvme-command-refused", command = *command, path = path, status = status.message())
            }
        }
    }

    fn help(&self) -> Option<Message> {
        match self {
            DeviceError::Open { source, .. } | DeviceError::Kernel { source, .. } => Some(passthrough::help(source)),
            DeviceError::NotNvme { .. } => Some(msg!("nvme-not-a-device-help")),
            DeviceError::Refused { .. } => None,
        }
    }
}

say_error!(DeviceError);

/// An open controller or namespace.
#[derive(Debug)]
pub struct Device {
    path: PathBuf,
    file: File,
}

impl Device {
    /// Opens a controller (`/dev/nvme0`) or namespace (`/dev/nvme0n1`, `/dev/ng0n1`) to read from it.
    ///
    /// # Errors
    /// [`DeviceError::Open`].
    pub fn open(path: &Path) -> Result<Self, DeviceError> {
        let file = passthrough::open(path).map_err(|source| DeviceError::Open { path: path.to_owned(), source })?;
        Ok(Device { path: path.to_owned(), file })
    }

    /// A controller or namespace that is open already; `path` is what errors call it.
    #[must_use]
    pub fn of(file: File, path: &Path) -> Self {
        Device { path: path.to_owned(), file }
    }

    /// Number of the namespace behind an open descriptor.
    ///
    /// # Errors
    /// `ENOTTY` when the descriptor is of no NVMe namespace.
    pub fn namespace_of(fd: BorrowedFd<'_>) -> io::Result<u32> {
        passthrough::namespace_of(fd)
    }

    /// Number of the namespace.
    ///
    /// # Errors
    /// [`DeviceError::NotNvme`] on anything but a namespace.
    pub fn namespace(&self) -> Result<u32, DeviceError> {
        Self::namespace_of(self.file.as_fd()).map_err(|_| DeviceError::NotNvme { path: self.path.clone() })
    }

    /// Carries `command` out: its data (empty when it has none) and its result (dword 0 of the completion).
    ///
    /// # Errors
    /// [`DeviceError`]; a drive that answers with an error is [`DeviceError::Refused`].
    pub fn admin(&self, command: &AdminCommand) -> Result<(Vec<u8>, u32), DeviceError> {
        let bytes = match command.transfer {
            Transfer::None => 0,
            Transfer::FromDrive(bytes) => bytes,
        };
        let mut data = vec![0_u8; bytes as usize];
        let path = || self.path.clone();
        let name = command.name;
        match passthrough::admin(&self.file, command, &mut data) {
            Answer::Done(result) => Ok((data, result)),
            Answer::Refused(status) => Err(DeviceError::Refused { command: name, path: path(), status }),
            Answer::NotNvme => Err(DeviceError::NotNvme { path: path() }),
            Answer::Failed(source) => Err(DeviceError::Kernel { command: name, path: path(), source }),
        }
    }

    /// Value of a feature.
    ///
    /// # Errors
    /// [`DeviceError`]; drives refuse features they do not have.
    pub fn feature(&self, feature: FeatureId) -> Result<u32, DeviceError> {
        self.admin(&AdminCommand::get_feature(feature)).map(|(_, value)| value)
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::IoCommand;
    use crate::system::passthrough::io_command;

    #[test]
    fn a_missing_device_is_refused_with_the_way_to_find_one() {
        let error = Device::open(Path::new("/dev/nvme-that-is-not-there")).expect_err("not there");
        assert_eq!(error.help().expect("a way").id(), "nvme-no-such-device", "{error}");
    }

    #[test]
    fn a_regular_file_is_no_nvme_device() {
        let file = tempfile::NamedTempFile::new().expect("temp file");
        let device = Device::open(file.path()).expect("opens");
        assert!(matches!(device.namespace(), Err(DeviceError::NotNvme { .. })));
        assert!(matches!(device.admin(&AdminCommand::smart_log()), Err(DeviceError::NotNvme { .. })));
    }

    #[test]
    fn not_being_root_is_named_as_the_reason() {
        for (errno, id) in [(libc::EACCES, "nvme-needs-root"), (libc::ETIMEDOUT, "nvme-no-answer")] {
            let source = io::Error::from_raw_os_error(errno);
            let error = DeviceError::Kernel { command: "SMART log", path: "/dev/nvme0".into(), source };
            assert_eq!(error.help().expect("a way").id(), id);
        }
    }

    #[test]
    fn an_io_command_on_no_namespace_fails_with_the_kernels_errno() {
        let file = tempfile::tempfile().expect("temp file");
        let read = IoCommand::Read { first_block: 0, blocks: 1 };
        let error = io_command(file.as_fd(), 1, read, &mut [0; 512]).expect_err("a file takes no commands");
        assert_eq!(error.raw_os_error(), Some(libc::ENOTTY));
    }
}
