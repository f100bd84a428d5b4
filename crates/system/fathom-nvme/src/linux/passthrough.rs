//! Commands through the kernel's driver, by ioctl.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use fathom_message::{Message, msg};

use crate::command::{AdminCommand, IoCommand};
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

/// How an admin command ended.
pub(crate) enum Answer {
    /// The drive's: its result, dword 0 of the completion.
    Done(u32),
    /// The drive refused.
    Refused(Status),
    /// The kernel knows no such call here.
    NotNvme,
    /// The kernel did not carry it out.
    Failed(io::Error),
}

/// Opens a controller or namespace to read from it, without waiting for it.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    std::fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)
}

/// Number of the namespace behind an open descriptor; `ENOTTY` when it is of no NVMe namespace.
pub(crate) fn namespace_of(fd: BorrowedFd<'_>) -> io::Result<u32> {
    // SAFETY: the call takes no argument beyond the request.
    let id = unsafe { libc::ioctl(fd.as_raw_fd(), NVME_IOCTL_ID) };
    u32::try_from(id).map_err(|_| io::Error::last_os_error())
}

/// Carries `command` out; the drive fills `data`, which is as long as the command says.
pub(crate) fn admin(file: &File, command: &AdminCommand, data: &mut [u8]) -> Answer {
    let mut passthrough = Passthrough64 {
        opcode: command.opcode,
        namespace: command.namespace,
        address: if data.is_empty() { 0 } else { data.as_mut_ptr() as u64 },
        data_bytes: data.len() as u32,
        dwords_10_15: command.dwords,
        timeout_ms: command.timeout_ms,
        ..Passthrough64::default()
    };
    // SAFETY: the structure has the kernel's layout and outlives the call; the drive writes at most `data_bytes`
    // bytes to `address`, which `data` borrows.
    let mut done = unsafe { libc::ioctl(file.as_raw_fd(), NVME_IOCTL_ADMIN64_CMD, &raw mut passthrough) };
    let mut result = passthrough.result as u32;
    if done < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::ENOTTY) {
        // Kernels before 5.4 know the narrow form only.
        let mut narrow = narrow_of(&passthrough);
        // SAFETY: as above, with the kernel's older layout.
        done = unsafe { libc::ioctl(file.as_raw_fd(), NVME_IOCTL_ADMIN_CMD, &raw mut narrow) };
        result = narrow.result;
    }
    if done == 0 {
        return Answer::Done(result);
    }
    if let Ok(field) = u16::try_from(done) {
        return Answer::Refused(Status::of(field));
    }
    let source = io::Error::last_os_error();
    match source.raw_os_error() {
        Some(libc::ENOTTY | libc::EINVAL) => Answer::NotNvme,
        _ => Answer::Failed(source),
    }
}

/// What to do about an answer of the kernel.
pub(crate) fn help(source: &io::Error) -> Message {
    match source.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => msg!("nvme-needs-root"),
        Some(libc::ENOENT) => msg!("nvme-no-such-device"),
        Some(libc::ENODEV | libc::ENXIO) => msg!("nvme-gone"),
        Some(libc::ETIMEDOUT | libc::EINTR) => msg!("nvme-no-answer"),
        _ => msg!("nvme-see-kernel-log"),
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
