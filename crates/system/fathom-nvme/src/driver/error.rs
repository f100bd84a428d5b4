//! What can go wrong between the driver and a drive.

use std::io;
use std::path::PathBuf;

use fathom_message::{Message, Quantity, Say, msg, say_error};

use super::memory::PciFunction;
use super::pages::LARGE_PAGE_BYTES;
use super::registers::ControllerStatus;
use crate::bytes::ShortPage;
use crate::status::Status;

/// Why a drive cannot be driven, or no longer.
#[derive(Debug)]
pub enum DriverError {
    /// The operating system refused a call.
    System {
        /// What was to be done: a file and a call.
        call: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// Other devices of the IOMMU group have drivers of the kernel.
    GroupNotViable {
        /// Node of the group.
        group: PathBuf,
    },
    /// The kernel has no IOMMU that VFIO could use.
    NoIommu,
    /// No IOMMU guards memory from the drive, and nobody said that this may be.
    NoIommuNoWord {
        /// Node of the group.
        group: PathBuf,
    },
    /// VFIO's mode without an IOMMU is not switched on.
    NoIommuModeOff,
    /// A drive without an IOMMU needs memory in one physical piece that is never moved, and there is none.
    NoLargePages {
        /// Pages of 2 MiB that were to be free.
        pages: u64,
        /// Where.
        node: Option<u32>,
        /// What the system answered.
        source: io::Error,
    },
    /// Memory cannot be given to the device.
    Memory {
        /// Bytes that were to be locked.
        bytes: u64,
        /// What the system answered.
        source: io::Error,
    },
    /// Its first BAR does not hold the registers of a controller.
    NotNvme {
        /// Bytes of the BAR.
        bar_bytes: u64,
    },
    /// The controller lacks the NVM command set.
    NoNvmCommands,
    /// The controller wants larger memory pages than 4 KiB.
    PageSize {
        /// The smallest it takes.
        min_bytes: u64,
    },
    /// It neither became ready nor stopped in the time it says itself.
    NotReady {
        /// How long it was waited for.
        waited_ms: u64,
        /// Its status then.
        status: ControllerStatus,
    },
    /// It says itself that it failed.
    Fatal {
        /// Its status.
        status: ControllerStatus,
    },
    /// It does not answer: pulled, or its link is down.
    Gone,
    /// The operating system wants it back: it is being removed.
    WantedBack,
    /// It refused a command.
    Refused {
        /// The command, by its name in the specification.
        command: &'static str,
        /// Its answer.
        status: Status,
    },
    /// It did not answer a command.
    NoAnswer {
        /// The command, by its name in the specification.
        command: &'static str,
        /// How long it was waited for.
        waited_ms: u64,
    },
    /// It completed a command that it was not given.
    UnknownCompletion {
        /// The id it named.
        id: u16,
        /// Number of the queue.
        queue: u16,
    },
    /// It was stopped after an error on another queue.
    Stopped,
    /// It has no queue left.
    NoQueue {
        /// Queues it granted.
        granted: u16,
    },
    /// Its queues are too short.
    QueueTooShort {
        /// Commands that were to be in flight.
        wanted: u32,
        /// Most that can be.
        max: u32,
    },
    /// A command moves fewer bytes than a block has.
    TransferTooLarge {
        /// Bytes of the block.
        bytes: u64,
        /// Most that one command moves.
        max_bytes: u64,
    },
    /// A namespace with blocks that this driver does not read and write.
    Format {
        /// The namespace.
        namespace: u32,
        /// Metadata of each block; 0: the format contradicts itself, or the namespace is not there.
        metadata_bytes: u16,
    },
    /// A page that is too short.
    Page(ShortPage),
}

impl DriverError {
    /// `bytes` could not be had, or not be given to the device.
    pub(crate) fn of_memory(device: &dyn PciFunction, bytes: usize, source: io::Error) -> DriverError {
        if device.wants_large_pages() {
            let pages = bytes.div_ceil(LARGE_PAGE_BYTES) as u64;
            return DriverError::NoLargePages { pages, node: device.numa_node(), source };
        }
        DriverError::Memory { bytes: bytes as u64, source }
    }
}

impl Say for DriverError {
    fn message(&self) -> Message {
        let ms = |ms: u64| Quantity::duration_ns(ms.saturating_mul(1_000_000));
        match self {
            DriverError::System { call, path, source } => {
                msg!("nvme-driver-system", call = *call, path = path, source = source)
            }
            DriverError::GroupNotViable { group } => msg!("nvme-driver-group", group = group),
            DriverError::NoIommu => msg!("nvme-driver-no-iommu"),
            DriverError::NoIommuNoWord { group } => msg!("nvme-driver-no-iommu-no-word", group = group),
            DriverError::NoIommuModeOff => msg!("nvme-driver-no-iommu-mode-off"),
            DriverError::NoLargePages { pages, node: Some(node), source } => {
                msg!("nvme-driver-no-large-pages-on-node", pages = *pages, node = *node, source = source)
            }
            DriverError::NoLargePages { pages, node: None, source } => {
                msg!("nvme-driver-no-large-pages", pages = *pages, source = source)
            }
            DriverError::Memory { bytes, source } => {
                msg!("nvme-driver-memory", bytes = Quantity::bytes(*bytes), source = source)
            }
            DriverError::NotNvme { bar_bytes } => msg!("nvme-driver-not-nvme", bytes = *bar_bytes),
            DriverError::NoNvmCommands => msg!("nvme-driver-no-nvm"),
            DriverError::PageSize { min_bytes } => {
                msg!("nvme-driver-page-size", bytes = Quantity::bytes(*min_bytes))
            }
            DriverError::NotReady { waited_ms, status } => {
                msg!("nvme-driver-not-ready", waited = ms(*waited_ms), status = format!("{:#x}", status.value()))
            }
            DriverError::Fatal { status } => {
                msg!("nvme-driver-fatal", status = format!("{:#x}", status.value()))
            }
            DriverError::Gone => msg!("nvme-driver-gone"),
            DriverError::WantedBack => msg!("nvme-driver-wanted-back"),
            DriverError::Refused { command, status } => {
                msg!("nvme-driver-refused", command = *command, status = status.message())
            }
            DriverError::NoAnswer { command, waited_ms } => {
                msg!("nvme-driver-no-answer", command = *command, waited = ms(*waited_ms))
            }
            DriverError::UnknownCompletion { id, queue } => {
                msg!("nvme-driver-unknown-completion", id = u32::from(*id), queue = u32::from(*queue))
            }
            DriverError::Stopped => msg!("nvme-driver-stopped"),
            DriverError::NoQueue { granted } => msg!("nvme-driver-no-queue", granted = u32::from(*granted)),
            DriverError::QueueTooShort { wanted, max } => {
                msg!("nvme-driver-queue-too-short", wanted = *wanted, max = *max)
            }
            DriverError::TransferTooLarge { bytes, max_bytes } => {
                let (bytes, max) = (Quantity::bytes(*bytes), Quantity::bytes(*max_bytes));
                msg!("nvme-driver-transfer-too-large", bytes = bytes, max = max)
            }
            DriverError::Format { namespace, metadata_bytes: 0 } => {
                msg!("nvme-driver-no-format", namespace = *namespace)
            }
            DriverError::Format { namespace, metadata_bytes } => {
                msg!("nvme-driver-metadata", namespace = *namespace, bytes = u32::from(*metadata_bytes))
            }
            DriverError::Page(page) => page.message(),
        }
    }

    fn help(&self) -> Option<Message> {
        Some(match self {
            DriverError::System { source, .. } => match source.raw_os_error() {
                Some(libc::EACCES | libc::EPERM) => msg!("nvme-driver-permission"),
                Some(libc::ENOENT | libc::ENODEV) => msg!("nvme-driver-bind-first"),
                Some(libc::EBUSY) => msg!("nvme-driver-busy"),
                _ => msg!("nvme-see-kernel-log"),
            },
            DriverError::GroupNotViable { .. } => msg!("nvme-driver-group-help"),
            DriverError::NoIommu => msg!("nvme-driver-no-iommu-help"),
            DriverError::NoIommuNoWord { .. } => msg!("nvme-driver-no-iommu-no-word-help"),
            DriverError::NoIommuModeOff => msg!("nvme-driver-no-iommu-mode-off-help"),
            DriverError::NoLargePages { .. } => msg!("nvme-driver-no-large-pages-help"),
            DriverError::Memory { .. } => msg!("nvme-driver-memory-help"),
            DriverError::NotNvme { .. }
            | DriverError::NoNvmCommands
            | DriverError::PageSize { .. }
            | DriverError::Format { .. } => {
                msg!("nvme-driver-kernel-path")
            }
            DriverError::NoQueue { .. } => msg!("nvme-driver-fewer-threads"),
            DriverError::QueueTooShort { .. } => msg!("nvme-driver-fewer-in-flight"),
            DriverError::TransferTooLarge { .. } => msg!("nvme-driver-smaller-blocks"),
            DriverError::Gone | DriverError::WantedBack => msg!("nvme-driver-gone-help"),
            DriverError::NotReady { .. }
            | DriverError::Fatal { .. }
            | DriverError::Refused { .. }
            | DriverError::NoAnswer { .. }
            | DriverError::UnknownCompletion { .. }
            | DriverError::Stopped
            | DriverError::Page(_) => msg!("nvme-driver-faulty-help"),
        })
    }
}

say_error!(DriverError);

impl From<ShortPage> for DriverError {
    fn from(page: ShortPage) -> Self {
        DriverError::Page(page)
    }
}
