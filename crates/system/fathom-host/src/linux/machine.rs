//! This machine: on Linux everything is read from `/proc` and `/sys`, so that nothing here knows more than a tree of files.

use std::path::Path;

use fathom_message::msg;

use super::stat::parse_stat;
use crate::cpu::Topology;
use crate::mount::Mount;
use crate::procfs::Stat;
use crate::root::{ProbeError, Root};
use crate::text::OpenText;

/// The counters of all CPUs, kept open: `/proc/stat`.
pub(crate) struct Counters {
    file: OpenText,
    buffer: Vec<u8>,
}

impl Counters {
    /// # Errors
    /// [`ProbeError::Read`] where there is no such file.
    pub(crate) fn open(root: &Root) -> Result<Counters, ProbeError> {
        Ok(Counters { file: OpenText::open(root.join("proc/stat"))?, buffer: Vec::new() })
    }

    /// Reads them.
    ///
    /// # Errors
    /// [`ProbeError`].
    pub(crate) fn read(&mut self, tick_ns: u64, into: &mut Stat) -> Result<(), ProbeError> {
        let text = self.file.read(&mut self.buffer)?;
        parse_stat(&self.file.path, text, tick_ns, into)
    }
}

/// The CPUs as the system itself tells of them: in its files alone.
pub(crate) fn topology(_root: &Root) -> Option<Result<Topology, ProbeError>> {
    None
}

/// The file system of a path as the system itself tells of it: in its list of mounts alone.
pub(crate) fn mount_of(_root: &Root, _path: &Path) -> Option<Option<Mount>> {
    None
}

/// What [`crate::HostFacts`] says of the machine itself.
pub(crate) struct MachineFacts {
    pub(crate) cpu_model: String,
    pub(crate) kernel: String,
    pub(crate) memory_bytes: u64,
    pub(crate) hypervisor: Option<String>,
}

/// The same, from the files below `root`.
pub(crate) fn facts(root: &Root) -> Result<MachineFacts, ProbeError> {
    let cpuinfo = root.read("proc/cpuinfo")?;
    Ok(MachineFacts {
        cpu_model: crate::facts::cpu_model(&cpuinfo),
        kernel: root.read("proc/sys/kernel/osrelease")?.trim().to_owned(),
        memory_bytes: memory_bytes(root)?,
        hypervisor: crate::facts::hypervisor(root, &cpuinfo),
    })
}

/// Name of this host.
pub(crate) fn host_name(root: &Root) -> String {
    std::fs::read_to_string(root.join("proc/sys/kernel/hostname")).unwrap_or_default().trim().to_owned()
}

/// What runs this program in the place of the system it was made for: nothing.
pub(crate) fn stand_in(_root: &Root) -> Option<String> {
    None
}

fn memory_bytes(root: &Root) -> Result<u64, ProbeError> {
    let text = root.read("proc/meminfo")?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kib.map(|k| k.saturating_mul(1024))
        .ok_or_else(|| ProbeError::parse(&root.join("proc/meminfo"), msg!("probe-no-line", line = "MemTotal")))
}
