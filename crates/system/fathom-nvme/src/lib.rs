//! NVMe as bytes: data structures a drive hands over, decoded; commands, built; and the ioctls that carry them.
//!
//! The decoders are pure functions of bytes: buffers may be short or hostile and never panic. Sources are the NVM
//! Express Base Specification 2.0 ("Base"), the NVM Command Set Specification 1.0 ("NVM") and the OCP Datacenter NVMe
//! SSD Specification 2.0 ("OCP"); each field names its place there. [`Device`] and [`io_command`] talk to the kernel, [`driver`] to a drive past it.
#![allow(unsafe_code)]

mod bytes;
mod command;
mod device;
pub mod driver;
mod features;
mod identify;
mod ocp;
mod pages;
mod sanitize;
mod smart;
mod status;
#[cfg(target_os = "linux")]
#[path = "linux/mod.rs"]
mod system;
#[cfg(windows)]
#[path = "windows/mod.rs"]
mod system;

pub use bytes::ShortPage;
pub use command::{AdminCommand, FormatRequest, IoCommand, SanitizeAction, SecureErase, Transfer};
pub use device::{Device, DeviceError};
pub use features::{
    AutonomousTransition, Coalescing, FeatureId, ThermalManagement, autonomous_transitions, coalescing, queue_counts,
    thermal_management, write_cache_enabled,
};
pub use identify::{Controller, LbaFormat, Namespace, PowerState, SanitizeSupport};
pub use ocp::OcpSmartLog;
pub use pages::{AdminPages, PageFiles, namespace_ids};
pub use sanitize::{SanitizeState, SanitizeStatus};
pub use smart::SmartLog;
pub use status::Status;
pub use system::passthrough::io_command;
