//! The one place that talks to the kernel: admin and single I/O commands by ioctl.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use fathom_message::{Message, Say, msg, say_error};

use crate::command::{AdminCommand, IoCommand, Transfer};
use crate::features::FeatureId;
use crate::status::Status;

/// `NVME_IOCTL_ID`, linux/nvme_ioctl.h: _IO('N', 0x40).
const NVME_IOCTL_ID: libc::Ioctl = 0x4e40;
/// `NVME_IOCTL_ADMIN_CMD`: _IOWR('N', 0x41, struct nvme_passthru_cmd).
const NVME_IOCTL_ADMIN_CMD: libc::Ioctl = 0xc048_4e41_u32 as libc::Ioctl;
/// `NVME_IOCTL_IO_CMD`: _IOWR('N', 0x43, struct nvme_passthru_cmd).
const NVME_IOCTL_IO_CMD: libc::Ioctl = 0xc048_4e43_u32 as libc::Ioctl;
/// `NVME_IOCTL_ADMIN64_CMD`: _IOWR('N', 0x47, struct nvme_passthru_cmd64).
const NVME_IOCTL_ADMIN64_CMD: libc::Ioctl = 0xc050_4e47_u32 as libc::Ioctl;

/// `struct nvme_passthru_cmd64`, linux/nvme_ioctl.h.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Passthrough64 {
    opcode: u8,
    flags: u8,
    reserved_1: u16,
    namespace: u32,
    dwords_2_3: [u32; 2],
    metadata: u64,
    address: u64,
    metadata_bytes: u32,
    data_bytes: u32,
    dwords_10_15: [u32; 6],
    timeout_ms: u32,
    reserved_2: u32,
    result: u64,
}

/// `struct nvme_passthru_cmd`: the same with a result of 32 bits.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Passthrough {
    opcode: u8,
    flags: u8,
    reserved_1: u16,
    namespace: u32,
    dwords_2_3: [u32; 2],
    metadata: u64,
    address: u64,
    metadata_bytes: u32,
    data_bytes: u32,
    dwords_10_15: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

const _: () = assert!(size_of::<Passthrough64>() == 80);
const _: () = assert!(size_of::<Passthrough>() == 72);

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
            DeviceError::Open { source, .. } | DeviceError::Kernel { source, .. } => {
                Some(match source.raw_os_error() {
                    Some(libc::EACCES | libc::EPERM) => msg!("nvme-needs-root"),
                    Some(libc::ENOENT) => msg!("nvme-no-such-device"),
                    Some(libc::ENODEV | libc::ENXIO) => msg!("nvme-gone"),
                    Some(libc::ETIMEDOUT | libc::EINTR) => msg!("nvme-no-answer"),
                    _ => msg!("nvme-see-kernel-log"),
                })
            }
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
        let opened = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path);
        let file = opened.map_err(|source| DeviceError::Open { path: path.to_owned(), source })?;
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
        // SAFETY: the call takes no argument beyond the request.
        let id = unsafe { libc::ioctl(fd.as_raw_fd(), NVME_IOCTL_ID) };
        u32::try_from(id).map_err(|_| io::Error::last_os_error())
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
        let mut passthrough = Passthrough64 {
            opcode: command.opcode,
            namespace: command.namespace,
            address: if bytes == 0 { 0 } else { data.as_mut_ptr() as u64 },
            data_bytes: bytes,
            dwords_10_15: command.dwords,
            timeout_ms: command.timeout_ms,
            ..Passthrough64::default()
        };
        // SAFETY: the structure has the kernel's layout and outlives the call; the drive writes at most `data_bytes`
        // bytes to `address`, which `data` owns.
        let mut done = unsafe { libc::ioctl(self.file.as_raw_fd(), NVME_IOCTL_ADMIN64_CMD, &raw mut passthrough) };
        let mut result = passthrough.result as u32;
        if done < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::ENOTTY) {
            // Kernels before 5.4 know the narrow form only.
            let mut narrow = narrow_of(&passthrough);
            // SAFETY: as above, with the kernel's older layout.
            done = unsafe { libc::ioctl(self.file.as_raw_fd(), NVME_IOCTL_ADMIN_CMD, &raw mut narrow) };
            result = narrow.result;
        }
        self.outcome(command.name, done)?;
        Ok((data, result))
    }

    fn outcome(&self, command: &'static str, done: libc::c_int) -> Result<(), DeviceError> {
        let path = || self.path.clone();
        if done == 0 {
            return Ok(());
        }
        if let Ok(field) = u16::try_from(done) {
            return Err(DeviceError::Refused { command, path: path(), status: Status::of(field) });
        }
        let source = io::Error::last_os_error();
        if matches!(source.raw_os_error(), Some(libc::ENOTTY | libc::EINVAL)) {
            return Err(DeviceError::NotNvme { path: path() });
        }
        Err(DeviceError::Kernel { command, path: path(), source })
    }

    /// Value of a feature.
    ///
    /// # Errors
    /// [`DeviceError`]; drives refuse features they do not have.
    pub fn feature(&self, feature: FeatureId) -> Result<u32, DeviceError> {
        self.admin(&AdminCommand::get_feature(feature)).map(|(_, value)| value)
    }
}

fn narrow_of(wide: &Passthrough64) -> Passthrough {
    Passthrough {
        opcode: wide.opcode,
        namespace: wide.namespace,
        address: wide.address,
        data_bytes: wide.data_bytes,
        dwords_10_15: wide.dwords_10_15,
        timeout_ms: wide.timeout_ms,
        ..Passthrough::default()
    }
}

/// Carries one I/O command out on the namespace behind `fd` and waits for it. `buffer` takes the data of a read and is
/// not looked at otherwise.
///
/// # Errors
/// The kernel's errno, or the one that fits the drive's answer.
pub fn io_command(fd: BorrowedFd<'_>, namespace: u32, command: IoCommand, buffer: &mut [u8]) -> io::Result<()> {
    let mut range = command.range();
    let (address, bytes) = match &mut range {
        Some(range) => (range.as_mut_ptr(), range.len()),
        None => (buffer.as_mut_ptr(), buffer.len()),
    };
    let mut passthrough = Passthrough {
        opcode: command.opcode(),
        namespace,
        address: address as u64,
        data_bytes: u32::try_from(bytes).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?,
        dwords_10_15: command.dwords(),
        ..Passthrough::default()
    };
    // SAFETY: the structure has the kernel's layout and outlives the call, and so do the `data_bytes` bytes at `address`.
    let done = unsafe { libc::ioctl(fd.as_raw_fd(), NVME_IOCTL_IO_CMD, &raw mut passthrough) };
    match done {
        0 => Ok(()),
        1.. => Err(io::Error::from_raw_os_error(Status::of(done as u16).errno())),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
