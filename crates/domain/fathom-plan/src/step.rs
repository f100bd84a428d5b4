//! One cell of a plan: workload + load + engine + placement + targets, measured once.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::by_fio::FioPlace;
use crate::durability::Durability;
use crate::io_order::IoOrder;
pub(crate) use crate::load::{Load, Rate, RateProcess, Spread};
use crate::memory::MemoryPolicy;
use crate::plan::RunLength;
use crate::priority::Priorities;
use crate::read_write::ReadWrite;
use crate::role::Role;
pub(crate) use crate::target::TargetId;

/// Why a step is run. Only `Measure` steps carry headline figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Discard or format the target.
    Purge,
    /// Write every block once so that reads touch written space.
    Fill,
    /// Bring the target to the state its workload leads to.
    Precondition,
    /// Run the workload until it is steady.
    Settle,
    /// The figures.
    Measure,
    /// A step beside the plan that relieves one part of the system, to see whether that part was the limit.
    Probe,
}

/// What one I/O does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Read blocks.
    Read,
    /// Write blocks.
    Write,
    /// Discard blocks (punch a hole in a file).
    Trim,
    /// Make completed writes durable (fsync, fdatasync, NVMe Flush). No part of a mix: it moves no data.
    Sync,
}

/// Share of each operation, in percent; the three add up to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OpMix {
    /// In [0, 100].
    pub read_pct: u8,
    /// In [0, 100].
    pub write_pct: u8,
    /// In [0, 100].
    pub trim_pct: u8,
}

/// In which order blocks are touched.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Pattern {
    /// Full-period permutation: each block exactly once per pass, no map.
    Random,
    /// Independent uniform draws (fio's `norandommap`): blocks repeat within a pass.
    RandomRepeat,
    /// Ascending; each thread owns an equal part of the region.
    Sequential,
    /// Zipf-distributed popularity; ranks are scattered over the region.
    Zipf {
        /// Exponent, > 0 and != 1 is not required.
        theta: f64,
    },
    /// Not said by the file of an imported load; no step with it can be run.
    Unknown,
    /// `access_pct` of the I/O goes to the first `space_pct` of the region.
    Hotspot {
        /// In [1, 99].
        access_pct: u8,
        /// In [1, 99].
        space_pct: u8,
    },
}

/// One entry of a block-size split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BlockSize {
    /// Bytes per I/O.
    pub bytes: u32,
    /// Share of the I/Os in percent; a split's shares add up to 100.
    pub share_pct: u8,
}

/// The part of the target that is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Region {
    /// First byte.
    pub offset_bytes: u64,
    /// Length; `None`: to the end of a device, or the default file size.
    pub size_bytes: Option<u64>,
}

/// What written data looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DataPattern {
    /// Share of each 4 KiB that compresses away, in [0, 100]. Default 0: incompressible.
    pub compress_pct: u8,
    /// Share of 4 KiB chunks that repeat, in [0, 100]. Default 0.
    pub dedupe_pct: u8,
    /// Which chunks repeat.
    #[serde(default, skip_serializing_if = "Repeats::are_few")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub repeats: Repeats,
}

/// The chunks that repeat in written data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Repeats {
    /// A few, the same for all threads.
    #[default]
    Few,
    /// As many as a share of a thread's region has, each as likely as the others.
    WorkingSet {
        /// In [1, 100].
        region_pct: u8,
        /// Whether all threads and all loads that run at once repeat the same chunks, rather than each its own.
        is_shared: bool,
    },
}

impl Repeats {
    // As serde asks.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn are_few(&self) -> bool {
        *self == Repeats::Few
    }
}

/// How written data is proven on the way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Verify {
    /// Self-describing blocks: offset, generation and CRC-32C in every block.
    Crc32c,
    /// Such blocks are written, and nothing is checked: a later step does that.
    Crc32cWritten,
}

impl Verify {
    /// Whether blocks are checked, rather than written alone.
    #[must_use]
    pub fn checks(self) -> bool {
        self == Verify::Crc32c
    }
}

/// What is done to the targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Workload {
    /// Shares of read, write and trim.
    pub mix: OpMix,
    /// Order of offsets.
    pub pattern: Pattern,
    /// Sizes and their shares; never empty. An offset is a multiple of the largest size of the split.
    pub block_sizes: Vec<BlockSize>,
    /// Part of the target.
    pub region: Region,
    /// Content of writes.
    pub data: DataPattern,
    /// Bytes that written data repeats over and over; empty: data is as `data` says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub fill: Vec<u8>,
    /// Data verification, if asked.
    pub verify: Option<Verify>,
    /// Bypass the page cache (O_DIRECT). Default true.
    pub direct: bool,
    /// Empty the page cache of the targets before the step, so that a buffered load begins cold.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub drop_cache: bool,
    /// Which I/O the kernel serves first.
    #[serde(default, skip_serializing_if = "Priorities::is_plain")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub priorities: Priorities,
    /// What makes the writes durable.
    #[serde(default)]
    pub durability: Durability,
    /// Order and sizes beyond pattern and block sizes.
    #[serde(default, skip_serializing_if = "IoOrder::is_plain")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub order: IoOrder,
}

/// How I/O is issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum EngineName {
    /// pread/pwrite, one at a time.
    Psync,
    /// Linux native AIO by raw system calls.
    Libaio,
    /// io_uring.
    IoUring,
    /// NVMe commands by io_uring through the character device of a namespace (`/dev/ng0n1`).
    IoUringCmd,
    /// NVMe commands by queues that the thread itself polls, past the kernel: the drive is bound to `vfio-pci` meanwhile.
    Nvme,
    /// Overlapped I/O of Windows with a completion port for each thread.
    Iocp,
    /// Memory-mapped file, copied by the CPU.
    Mmap,
    /// No I/O: the cost of the loop itself.
    Null,
    /// System calls on names of files, in a folder that Fathom makes: for loads of [`crate::FileLoad`].
    Files,
    /// The installed fio, for a job that Fathom cannot run; [`Role::by_fio`] says what it is given.
    Fio,
    /// The installed `spdk_nvme_perf`, beside a step of engine `nvme`: the same load on the same drive.
    Spdk,
}

/// Variant of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Completion by interrupt.
    Interrupt,
    /// Completion by polling the device's poll queues.
    Iopoll,
    /// Submission by a kernel polling thread.
    Sqpoll,
}

/// An engine and its options. Each feature falls back alone where the kernel lacks it; the record says what was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct EngineSpec {
    /// Which engine.
    pub name: EngineName,
    /// Variant; only io_uring and io_uring_cmd have others than `Interrupt`.
    pub mode: Mode,
    /// Register I/O buffers (io_uring). Default true.
    pub fixed_buffers: bool,
    /// Register files (io_uring). Default true.
    pub fixed_files: bool,
    /// CPU of the SQPOLL thread.
    pub sqpoll_cpu: Option<u32>,
    /// Stamp every I/O separately instead of once per batch.
    pub paranoid: bool,
}

/// Where threads run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", content = "cpus", rename_all = "snake_case")]
pub enum Placement {
    /// Wherever the scheduler likes.
    Unpinned,
    /// One thread per physical core.
    Cores,
    /// Fill both siblings of a core first.
    Smt,
    /// CPUs of the target's NUMA node.
    Local,
    /// CPUs of another NUMA node.
    Remote,
    /// Thread i on the i-th CPU of this list, round robin.
    Cpus(Vec<u32>),
    /// Thread i on the i-th CPU of these NUMA nodes, round robin; one of each core first.
    Nodes {
        /// Their numbers.
        nodes: Vec<u32>,
    },
}

/// A placement without its list of CPUs: its word in study files, tables and the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum PlacementKind {
    /// Wherever the scheduler likes.
    Unpinned,
    /// One thread per physical core.
    Cores,
    /// Fill both siblings of a core first.
    Smt,
    /// CPUs of the target's NUMA node.
    Local,
    /// CPUs of another NUMA node.
    Remote,
    /// A list of CPUs.
    Cpus,
    /// CPUs of a list of NUMA nodes.
    Nodes,
}

/// One cell of the plan, measured once. Everything an engine needs to know is in here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Step {
    /// Position in the plan, from 0.
    pub index: u32,
    /// For people, e.g. `4k random read T1 QD32`.
    pub label: String,
    /// What the step is for.
    pub phase: Phase,
    /// Name of the group the targets are judged as.
    pub group: String,
    /// At least one.
    pub targets: Vec<TargetId>,
    /// What is done.
    pub workload: Workload,
    /// How much at once.
    pub load: Load,
    /// By which means.
    pub engine: EngineSpec,
    /// On which CPUs.
    pub placement: Placement,
    /// Where its threads' memory lies.
    #[serde(default, skip_serializing_if = "MemoryPolicy::is_inherited")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub memory: MemoryPolicy,
    /// For how long.
    pub length: RunLength,
    /// Seed of offsets, operation draws, arrival times and data.
    // A number of 64 bits: the viewer keeps it as text, since its own hold 53.
    #[cfg_attr(feature = "typescript", ts(type = "string | number"))]
    pub seed: u64,
    /// Its ties to other steps of the plan.
    #[serde(default, skip_serializing_if = "Role::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub role: Role,
}

impl OpMix {
    /// Reads only.
    pub const READ: OpMix = OpMix { read_pct: 100, write_pct: 0, trim_pct: 0 };
    /// Trims only.
    pub const TRIM: OpMix = OpMix { read_pct: 0, write_pct: 0, trim_pct: 100 };
    /// Writes only.
    pub const WRITE: OpMix = OpMix { read_pct: 0, write_pct: 100, trim_pct: 0 };

    /// Whether any I/O changes the target.
    #[must_use]
    pub fn is_destructive(self) -> bool {
        self.write_pct > 0 || self.trim_pct > 0
    }
}

impl Step {
    /// Whether its targets are files or devices that are opened: not those of the `null` engine, nor folders in which
    /// files are made, nor those of a job of fio's that burns a processor.
    #[must_use]
    pub fn opens_targets(&self) -> bool {
        let by_fio = self.role.by_fio.as_ref();
        by_fio
            .map_or(!matches!(self.engine.name, EngineName::Null | EngineName::Files), |job| job.place.is_on_targets())
    }

    /// Whether it writes to, trims or purges `opened`, which is one of its targets or a member of one: as the load does, or
    /// because an array writes it beside the load.
    #[must_use]
    pub fn writes_to(&self, opened: &TargetId) -> bool {
        let of_array = |target: &TargetId| match target.array() {
            Some(Ok(array)) => array.always_writes(opened),
            _ => false,
        };
        self.workload.mix.is_destructive() || self.opens_targets() && self.targets.iter().any(of_array)
    }

    /// What is opened for its targets and written, each as often as it is named.
    #[must_use]
    pub fn written(&self) -> Vec<TargetId> {
        self.targets.iter().flat_map(TargetId::opened).filter(|opened| self.writes_to(opened)).collect()
    }

    /// Whether it touches no storage of this machine at all.
    #[must_use]
    pub fn is_without_storage(&self) -> bool {
        let by_fio = self.role.by_fio.as_ref();
        by_fio.map_or(self.engine.name == EngineName::Null, |job| job.place == FioPlace::Nothing)
    }

    /// The word of its engine as people know it: fio's own word where fio runs the step, or measured it.
    #[must_use]
    pub fn engine_word(&self) -> &str {
        let imported = self.role.imported.engine.as_deref();
        let by_fio = || self.role.by_fio.as_ref().map(|job| job.ioengine.as_str());
        imported.or_else(by_fio).unwrap_or(self.engine.name.as_str())
    }

    /// Threads, over all targets.
    #[must_use]
    pub fn workers(&self) -> u32 {
        self.load.workers(self.targets.len() as u32)
    }

    /// I/Os in flight at most, over all threads and targets.
    #[must_use]
    pub fn in_flight_max(&self) -> u32 {
        let depth = if self.engine.name.is_synchronous() { 1 } else { self.load.queue_depth };
        depth.saturating_mul(self.workers())
    }

    /// The targets that thread `worker` drives, as positions in `targets`, ascending.
    #[must_use]
    pub fn targets_of(&self, worker: u32) -> Vec<u32> {
        self.load.targets_of(worker, self.targets.len() as u32)
    }

    /// For each target its threads, ascending.
    #[must_use]
    pub fn workers_by_target(&self) -> Vec<Vec<u32>> {
        self.load.workers_by_target(self.targets.len() as u32)
    }
}

impl Workload {
    /// Largest block of the split, in bytes.
    ///
    /// # Panics
    /// When the split is empty, which no constructor allows.
    #[must_use]
    pub fn block_bytes_max(&self) -> u32 {
        self.all_sizes().map(|b| b.bytes).max().expect("a workload has at least one block size")
    }

    /// Bytes of the smallest I/O.
    ///
    /// # Panics
    /// As [`Workload::block_bytes_max`].
    #[must_use]
    pub fn block_bytes_min(&self) -> u32 {
        let of_sizes = || self.all_sizes().map(|b| b.bytes).min().expect("a workload has at least one block size");
        self.order.range.map_or_else(of_sizes, |range| range.min_bytes)
    }

    /// The sizes of all operations.
    pub fn all_sizes(&self) -> impl Iterator<Item = &BlockSize> {
        let others = [&self.order.write_sizes, &self.order.trim_sizes];
        self.block_sizes.iter().chain(others.into_iter().flatten().flatten())
    }

    /// fio's word for mix and pattern: `randread`, `read`, `randrw`...
    #[must_use]
    pub fn read_write(&self) -> ReadWrite {
        if let Some(files) = self.order.files {
            return files.op.read_write();
        }
        let is_random = !matches!(self.pattern, Pattern::Sequential | Pattern::Unknown);
        let of = |sequential, random| if is_random { random } else { sequential };
        let m = self.mix;
        match (m.read_pct > 0, m.write_pct > 0, m.trim_pct > 0) {
            (true, false, false) => of(ReadWrite::Read, ReadWrite::RandRead),
            (false, true, false) => of(ReadWrite::Write, ReadWrite::RandWrite),
            (false, false, true) => of(ReadWrite::Trim, ReadWrite::RandTrim),
            (false, true, true) => of(ReadWrite::TrimWrite, ReadWrite::RandTrimWrite),
            _ => of(ReadWrite::Rw, ReadWrite::RandRw),
        }
    }
}

impl EngineName {
    /// All engines of Fathom's own, in the order help texts list them.
    pub const ALL: [EngineName; 8] = [
        EngineName::IoUring,
        EngineName::IoUringCmd,
        EngineName::Nvme,
        EngineName::Libaio,
        EngineName::Psync,
        EngineName::Mmap,
        EngineName::Iocp,
        EngineName::Null,
    ];

    /// The word of the command line and of fio where it has one.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            EngineName::Psync => "psync",
            EngineName::Libaio => "libaio",
            EngineName::IoUring => "io_uring",
            EngineName::IoUringCmd => "io_uring_cmd",
            EngineName::Nvme => "nvme",
            EngineName::Iocp => "iocp",
            EngineName::Mmap => "mmap",
            EngineName::Null => "null",
            EngineName::Files => "files",
            EngineName::Fio => "fio",
            EngineName::Spdk => "spdk",
        }
    }

    /// Whether it is driven through a ring of io_uring: such engines have modes and register buffers and files.
    #[must_use]
    pub fn is_uring(self) -> bool {
        matches!(self, EngineName::IoUring | EngineName::IoUringCmd)
    }

    /// Whether its commands go past the block layer of the kernel, which therefore counts none of them and caches nothing.
    #[must_use]
    pub fn is_past_block_layer(self) -> bool {
        matches!(self, EngineName::IoUringCmd) || self.is_past_kernel()
    }

    /// Whether its drives leave the kernel's driver for its steps.
    #[must_use]
    pub fn is_past_kernel(self) -> bool {
        matches!(self, EngineName::Nvme | EngineName::Spdk)
    }

    /// Whether another program runs its steps.
    #[must_use]
    pub fn is_of_another_program(self) -> bool {
        matches!(self, EngineName::Fio | EngineName::Spdk)
    }

    /// Whether the engine has one I/O in flight per thread however deep the queue is asked.
    #[must_use]
    pub fn is_synchronous(self) -> bool {
        matches!(self, EngineName::Psync | EngineName::Mmap | EngineName::Files)
    }
}

impl Placement {
    /// Which placement, without the list of CPUs.
    #[must_use]
    pub fn kind(&self) -> PlacementKind {
        match self {
            Placement::Unpinned => PlacementKind::Unpinned,
            Placement::Cores => PlacementKind::Cores,
            Placement::Smt => PlacementKind::Smt,
            Placement::Local => PlacementKind::Local,
            Placement::Remote => PlacementKind::Remote,
            Placement::Cpus(_) => PlacementKind::Cpus,
            Placement::Nodes { .. } => PlacementKind::Nodes,
        }
    }

    /// The word of study files and the command line; `None`: a list of CPUs or nodes.
    #[must_use]
    pub fn word(&self) -> Option<&'static str> {
        match self.kind() {
            PlacementKind::Cpus | PlacementKind::Nodes => None,
            kind => Some(kind.as_str()),
        }
    }
}

impl PlacementKind {
    /// The word of the document, and of study files where the placement is one word there.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            PlacementKind::Unpinned => "unpinned",
            PlacementKind::Cores => "cores",
            PlacementKind::Smt => "smt",
            PlacementKind::Local => "local",
            PlacementKind::Remote => "remote",
            PlacementKind::Cpus => "cpus",
            PlacementKind::Nodes => "nodes",
        }
    }
}

impl Phase {
    /// The word of the document.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Phase::Purge => "purge",
            Phase::Fill => "fill",
            Phase::Precondition => "precondition",
            Phase::Settle => "settle",
            Phase::Measure => "measure",
            Phase::Probe => "probe",
        }
    }
}

impl fmt::Display for Pattern {
    /// The word of the document: `random`, `zipf:1.2`, `hotspot:80/20`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Random => f.write_str("random"),
            Pattern::RandomRepeat => f.write_str("random_repeat"),
            Pattern::Sequential => f.write_str("sequential"),
            Pattern::Unknown => f.write_str("unknown"),
            Pattern::Zipf { theta } => write!(f, "zipf:{theta}"),
            Pattern::Hotspot { access_pct, space_pct } => write!(f, "hotspot:{access_pct}/{space_pct}"),
        }
    }
}

/// A text that is no pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError(String);

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no pattern: `{}`", self.0)
    }
}

impl std::error::Error for PatternError {}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Pattern, PatternError> {
        let share = |text: &str| text.parse::<u8>().ok().filter(|pct| (1..=99).contains(pct));
        let pattern = match text.split_once(':') {
            None => match text {
                "random" => Some(Pattern::Random),
                "random_repeat" => Some(Pattern::RandomRepeat),
                "sequential" => Some(Pattern::Sequential),
                "unknown" => Some(Pattern::Unknown),
                _ => None,
            },
            Some(("zipf", theta)) => {
                let theta = theta.parse().ok().filter(|theta: &f64| theta.is_finite() && *theta > 0.0);
                theta.map(|theta| Pattern::Zipf { theta })
            }
            Some(("hotspot", shares)) => shares.split_once('/').and_then(|(access, space)| {
                Some(Pattern::Hotspot { access_pct: share(access)?, space_pct: share(space)? })
            }),
            Some(_) => None,
        };
        pattern.ok_or_else(|| PatternError(text.to_owned()))
    }
}

impl Mode {
    /// The word of the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Interrupt => "interrupt",
            Mode::Iopoll => "iopoll",
            Mode::Sqpoll => "sqpoll",
        }
    }
}

impl Default for EngineSpec {
    fn default() -> Self {
        EngineSpec {
            name: EngineName::IoUring,
            mode: Mode::Interrupt,
            fixed_buffers: true,
            fixed_files: true,
            sqpoll_cpu: None,
            paranoid: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_phases_and_placements_are_those_of_the_document() {
        let phases = [Phase::Purge, Phase::Fill, Phase::Precondition, Phase::Settle, Phase::Measure, Phase::Probe];
        for phase in phases {
            assert_eq!(serde_json::to_value(phase).unwrap(), phase.as_str());
        }
        let placements = [
            Placement::Unpinned,
            Placement::Cores,
            Placement::Smt,
            Placement::Local,
            Placement::Remote,
            Placement::Cpus(vec![1]),
            Placement::Nodes { nodes: vec![0] },
        ];
        for placement in placements {
            let kind = placement.kind();
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
            let is_list = matches!(kind, PlacementKind::Cpus | PlacementKind::Nodes);
            assert_eq!(placement.word(), (!is_list).then_some(kind.as_str()));
        }
    }

    #[test]
    fn a_pattern_reads_back_from_its_word() {
        for (pattern, word) in [
            (Pattern::Random, "random"),
            (Pattern::RandomRepeat, "random_repeat"),
            (Pattern::Sequential, "sequential"),
            (Pattern::Zipf { theta: 1.2 }, "zipf:1.2"),
            (Pattern::Hotspot { access_pct: 80, space_pct: 20 }, "hotspot:80/20"),
        ] {
            assert_eq!((pattern.to_string().as_str(), word.parse()), (word, Ok(pattern)));
        }
        for bad in ["", "zipf", "zipf:", "zipf:-1", "zipf:inf", "hotspot:80", "hotspot:0/20", "hotspot:80/100", "rand"]
        {
            assert!(bad.parse::<Pattern>().is_err(), "{bad}");
        }
    }
}
