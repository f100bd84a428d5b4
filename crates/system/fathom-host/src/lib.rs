//! This machine: CPUs, block devices, file systems, the guard before writes, and samplers while a step runs.
//!
//! Every reader of `/proc` and `/sys` takes a [`Root`], so that a captured tree is a test; `Root::live()` is this host.
//! Nothing here opens a target for writing; settings change only through [`settings::Journal`], and a drive erases itself
//! only with a [`WriteConsent`].

mod binding;
mod control_groups;
mod cpu;
mod databases;
mod disk;
mod erase;
mod extents;
mod facts;
mod generic;
mod guard;
mod health;
mod host_name;
mod identity;
mod interrupts;
mod kernel_threads;
mod md;
mod memory;
mod memory_left;
mod module;
mod mount;
mod network;
mod node;
mod output_file;
mod own_array;
mod own_file;
mod own_folder;
mod placement;
mod polling;
mod process_io;
mod procfs;
mod programs;
mod root;
mod sampler;
pub mod settings;
mod signature;
#[cfg(target_os = "linux")]
#[path = "linux/mod.rs"]
pub mod system;
#[cfg(windows)]
#[path = "windows/mod.rs"]
pub mod system;
mod tasks;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod text;
mod thread_folder;
mod user_space;
mod vectors;
mod writing;

pub use binding::{Access, Binding, Bindings, FailedMembers, TargetKind};
pub use cpu::{Cpu, Topology};
pub use databases::{OpenDatabase, database_files, open_to_read, read_text};
pub use disk::{BlockDevice, DeviceKind, DiskError, device_by_name, whole_device_of};
pub use erase::{EraseError, EraseProgress, format_namespace, sanitize_drive};
pub use extents::{ExtentSource, Unwritten, page_cache_bytes, unwritten_share};
pub use facts::{HostFacts, TargetFacts, cpu_model, hypervisor};
pub use generic::NoGeneric;
pub use guard::{Permit, Refusal, RefusalKind, WriteConsent, check_new_file, check_write_target};
pub use health::HealthLooks;
pub use host_name::{HostName, host_name};
pub use identity::{DriveIdentity, drive_identities};
pub use interrupts::{InterruptRow, InterruptTable, is_nvme_controller};
pub use memory::memory_bytes_per_s;
pub use memory_left::{MemoryBound, MemoryLeft, address_space_left, memory_left};
pub use mount::{Mount, free_bytes, free_files, mount_of, mounts};
pub use network::{NetworkLink, NetworkMount, network_link};
pub use node::{Identity, Node, OpenError, device_of, file_identity};
pub use output_file::{OutputError, check_lab_file, check_output, create_new_file, prepare_lab_file, write_output};
pub use own_array::{MdCounts, NotMade, OwnArray, OwnArrayError};
pub use own_file::{FileMark, MARK_BYTES, OwnFile, file_bytes, marked_files_in};
pub use own_folder::{DATABASE_FOLDER_PREFIX, FILES_FOLDER_PREFIX, FIO_FOLDER_PREFIX, OWN_FOLDER_PREFIXES, OwnFolder};
pub use placement::{PlacementError, resolve_placement};
pub use polling::{PollObstacle, poll_obstacle};
pub use process_io::fetched_bytes;
pub use root::{ProbeError, Root};
pub use sampler::HostSampler;
pub use signature::{Signature, signatures_of};
use system::calls as sys;
pub use system::calls::{
    allocated_bytes, allow_open_files, link_to_open, make_link, page_bytes, thread_cpu_ns, user_id,
};
pub use system::files::OFlags as OpenFlags;
pub use system::guard::refuse_path;
pub use system::{child, processes};
pub use thread_folder::ThreadFolder;
pub use user_space::{
    AllowUnbind, FunctionStatus, GroupAccess, GroupMember, IommuGroup, LargePages, NodeOwner, NvmeFunction, Unbound,
    UserSpaceDrive, UserSpaceError, UserSpaceStatus, WithoutIommu, bind_by_hand, bound_by_fathom, bound_drive,
    large_pages_for_a_program, namespace_number, open_function, unbind,
};
