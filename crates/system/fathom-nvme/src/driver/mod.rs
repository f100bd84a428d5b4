//! A driver of NVMe in user space: a controller whose registers this process maps and whose queues it polls. No system call
//! and no interrupt per I/O.
//!
//! [`VfioFunction`] opens a function that the kernel gave to `vfio-pci`; [`Driver`] resets, enables and shuts it down and
//! has the admin queue; a [`QueuePair`] belongs to one thread and takes no lock. What the device may reach is mapped for it
//! piece by piece and stays mapped until the controller can no longer use it: a pair whose queues cannot be taken back
//! switches the controller off, and what cannot be switched off loses the bus.
//!
//! Everything that comes from the device may be hostile: completions of unknown ids, pages of nonsense and registers of
//! ones end in a [`DriverError`].

mod controller;
mod doorbell;
mod entries;
mod error;
#[cfg(all(target_os = "linux", any(test, feature = "fake")))]
pub mod fake;
mod memory;
mod namespace;
#[cfg(target_os = "linux")]
mod pages;
#[cfg(windows)]
#[path = "../windows/pages.rs"]
mod pages;
mod pair;
mod queue;
mod registers;

pub use controller::{Driver, Patience};
pub use error::DriverError;
pub use memory::PciFunction;
pub use namespace::DrivenNamespace;
#[cfg(target_os = "linux")]
pub(crate) use pages::physical_address;
pub use pages::{DrivePages, LARGE_PAGE_BYTES};
pub use pair::{PollCounts, QueuePair};
#[cfg(target_os = "linux")]
pub(crate) use registers::PAGE_BYTES;
pub use registers::{Capabilities, ControllerStatus};

pub use crate::system::vfio::{Reach, VfioFiles, VfioFunction};

#[cfg(test)]
mod tests;
