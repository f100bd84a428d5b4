//! This machine: CPUs, block devices, file systems, the guard before writes, and samplers while a step runs.
//!
//! Every reader of `/proc` and `/sys` takes a [`Root`], so that a captured tree is a test; `Root::live()` is this host.
//! Nothing here opens a target for writing; settings change only through [`settings::Journal`], and a drive erases itself
//! only with a [`WriteConsent`].

mod consent;
mod cpu;
mod disk;
mod erase;
mod extents;
mod facts;
mod health;
mod identity;
pub mod inspect;
#[cfg(test)]
mod large_machine;
mod mount;
mod placement;
mod polling;
mod procfs;
mod root;
mod sampler;
pub mod settings;
mod signature;
mod sys;
mod tasks;
#[cfg(test)]
mod testing;
mod vectors;

pub use consent::{
    OWN_FILE_PREFIX, OWN_FILE_SUFFIX, Refusal, RefusalKind, WriteConsent, check_write_target, is_own_file_name,
};
pub use cpu::{Cpu, Topology};
pub use disk::{BlockDevice, DeviceKind, DiskError, device_by_name, whole_device_of};
pub use erase::{EraseError, EraseProgress, format_namespace, sanitize_drive};
pub use extents::{ExtentSource, Unwritten, page_cache_bytes, unwritten_share};
pub use facts::{HostFacts, TargetFacts};
pub use identity::{DriveIdentity, drive_identities};
pub use mount::{Mount, free_bytes, mount_of, mounts};
pub use placement::{PlacementError, resolve_placement};
pub use polling::{PollObstacle, poll_obstacle};
pub use root::{ProbeError, Root};
pub use sampler::HostSampler;
pub use signature::{Signature, signatures_of};
