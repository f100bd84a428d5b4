//! What a machine is made of. Every field can be changed in code; [`crate::parse_machine`] reads them from TOML.
//!
//! Times are whole picoseconds, rates bytes per second.

use fathom_raid::{Level, MemberSet};

/// A host with its links, drives, arrays and faults.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Name, as in `sim:NAME`.
    pub name: String,
    /// What it stands for, a sentence.
    pub title: String,
    /// Where its figures come from.
    pub sources: Vec<String>,
    /// CPUs and software.
    pub host: Host,
    /// Links shared by several drives: switch uplinks, root ports. A drive's own link is in the drive.
    pub links: Vec<SharedLink>,
    /// Drives.
    pub drives: Vec<Drive>,
    /// Arrays over drives.
    pub arrays: Vec<Array>,
    /// Linux md, for arrays that a step names (`md-raid5:64k:...`).
    pub md: Md,
    /// Fathom's own arrays, for those that a step names (`raid5:64k:...`).
    pub user_space: UserSpace,
    /// What is wrong with it.
    pub faults: Vec<Fault>,
    /// Target meant by the machine's bare name: a drive, an array, or a group of drives.
    pub default_target: String,
}

/// CPUs, and what an I/O costs them.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// CPU model, for people.
    pub cpu_model: String,
    /// Operating system, for people.
    pub os: String,
    /// Sockets; each is one NUMA node.
    pub sockets: u32,
    /// Physical cores per socket.
    pub cores_per_socket: u32,
    /// SMT siblings per core, 1 or 2. CPUs are numbered as Linux does: first threads of all cores, then second ones.
    pub threads_per_core: u32,
    /// Speed of each sibling while the other works too, percent of a core alone. In [50, 100].
    pub smt_speed_pct: u32,
    /// Main memory.
    pub memory_bytes: u64,
    /// Rate at which one core copies memory.
    pub copy_bytes_per_s: u64,
    /// Added to each I/O between a CPU and a drive of another socket.
    pub remote_ps: u64,
    /// Which CPU a completion interrupts.
    pub interrupts: InterruptPolicy,
    /// Cost per I/O by engine, `default` for those not named; `ENGINE:MODE` (`io_uring:iopoll`) for a mode.
    pub engines: Vec<(String, EngineCosts)>,
}

/// Which CPU takes a drive's interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterruptPolicy {
    /// The CPU that submitted, or the first of those that share its queue.
    Submitter,
    /// This CPU takes all.
    OneCpu(u32),
}

/// What one I/O costs the CPU, alone on its core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineCosts {
    /// In user space, by the load generator.
    pub user_ps: u64,
    /// In the kernel, on the way down.
    pub submit_ps: u64,
    /// In the kernel, on the way up.
    pub complete_ps: u64,
    /// Per interrupt taken.
    pub interrupt_ps: u64,
    /// Per wake-up of a sleeping thread: switch to it and back.
    pub wake_ps: u64,
    /// Time from the interrupt until a sleeping core or thread begins, during which no CPU works.
    pub wake_delay_ps: u64,
    /// Added per wake-up when the thread is not pinned: it lands on cold caches.
    pub migrate_ps: u64,
    /// Added per I/O for each other thread on the same target: shared cache lines and locks.
    pub sharing_ps: u64,
    /// Time per I/O under a lock that all threads of a target share; the I/O waits for it, the CPU does not.
    pub serial_ps: u64,
}

/// A PCIe link or another cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// PCI Express.
    Pcie {
        /// Generation, in [1, 6].
        generation: u32,
        /// Lanes, in [1, 32].
        lanes: u32,
        /// Largest payload of a packet (MPS).
        mps_bytes: u64,
    },
    /// Anything else, by the rate that is left for data: SATA 6 Gb/s gives about 550 MB/s.
    Rate {
        /// Per direction.
        bytes_per_s: u64,
        /// Bytes that each command adds in each direction.
        command_bytes: u64,
    },
}

/// A link that several drives share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedLink {
    /// Name, as drives say it in `upstream`.
    pub name: String,
    /// Its rate.
    pub link: Link,
    /// The next one towards the host, an index of [`Machine::links`].
    pub upstream: Option<usize>,
}

/// A drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Drive {
    /// Name, as in `sim:MACHINE/NAME`.
    pub name: String,
    /// Group it belongs to: the name it was declared under with a count; its own name otherwise.
    pub group: String,
    /// What it is.
    pub device: Device,
    /// Its own link.
    pub link: Link,
    /// Shared link above it, an index of [`Machine::links`].
    pub upstream: Option<usize>,
    /// Socket it hangs on.
    pub socket: u32,
    /// Share of the capacity outside the tested region that holds other data, percent. 100: preconditioned as a whole.
    pub rest_filled_pct: u32,
}

/// A kind of drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// Name, as drives say it in `device`.
    pub name: String,
    /// User capacity.
    pub capacity_bytes: u64,
    /// Controller time per read command; a single server.
    pub command_read_ps: u64,
    /// Controller time per write command.
    pub command_write_ps: u64,
    /// Rate of the path from the media to the link; 0: no limit of its own.
    pub read_bytes_per_s: u64,
    /// Rate of the path from the link to buffer or media; 0: no limit of its own.
    pub write_bytes_per_s: u64,
    /// Constant part of the latency that occupies nothing.
    pub fixed_ps: u64,
    /// Most commands it works on at once; 0: no limit. SATA has 32.
    pub outstanding_max: u32,
    /// I/O queue pairs; CPUs share queues when there are more CPUs.
    pub queues: u32,
    /// Interrupt coalescing: after so many completions, or this long after the first.
    pub coalesce: Option<(u32, u64)>,
    /// Rare delays of reads: (probability per 10^9, time): retries, refresh.
    pub read_tail: Vec<(u32, u64)>,
    /// Rare delays of writes.
    pub write_tail: Vec<(u32, u64)>,
    /// What holds the data.
    pub media: Media,
}

/// A service time: uniform within `spread_pct` of the mean, or exponential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// Mean.
    pub mean_ps: u64,
    /// Half width of the uniform distribution, percent of the mean. In [0, 100].
    pub spread_pct: u32,
    /// Exponential instead.
    pub exponential: bool,
}

/// What holds the data.
#[derive(Clone, Debug, PartialEq)]
pub enum Media {
    /// Flash behind a flash translation layer.
    Nand(Nand),
    /// Media that is written in place: 3D XPoint.
    Xpoint(Xpoint),
    /// Memory that the CPU itself reads and writes (persistent memory): no command leaves the core.
    Memory(Memory),
}

/// Flash.
#[derive(Clone, Debug, PartialEq)]
pub struct Nand {
    /// Units that read and program independently of each other (dies x planes, or dies).
    pub dies: u32,
    /// Channels the dies share; 0: their time is part of `read`.
    pub channels: u32,
    /// Rate of a channel.
    pub channel_bytes_per_s: u64,
    /// Bytes that one read of a die yields at most.
    pub page_bytes: u32,
    /// tR.
    pub read: Service,
    /// tPROG of `program_bytes`.
    pub program: Service,
    /// Bytes that one program of a die writes.
    pub program_bytes: u32,
    /// tBERS; occupies a die once per `block_bytes` programmed to it.
    pub erase_ps: u64,
    /// Bytes of an erase block of one die.
    pub block_bytes: u64,
    /// Write buffer, in user data.
    pub buffer_bytes: u64,
    /// Acknowledgement of a write once its data are in the buffer.
    pub ack_ps: u64,
    /// Spare space beyond the user capacity, percent of it: rho of the write-amplification formula.
    pub spare_pct: f64,
    /// Reads interrupt a program or erase after this long; `None`: they wait for its end.
    pub suspend_ps: Option<u64>,
    /// Share of reads whose mapping entry must be read from flash first, per mille.
    pub map_miss_permille: u32,
    /// How long before it is asked sequential data are fetched.
    pub read_ahead_ps: u64,
    /// How writes are amplified.
    pub ftl: Ftl,
}

/// Model of the flash translation layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ftl {
    /// Write amplification from the closed form for uniform random writes (Xiang and Kurkoski 2011).
    MeanField,
    /// Every page is mapped, at reduced scale and the same spare space.
    Pages {
        /// Erase blocks; at least 400, below which the write amplification depends on it.
        blocks: u32,
        /// Pages in each.
        pages_per_block: u32,
        /// Clean the block with the fewest valid pages instead of the oldest.
        greedy: bool,
    },
}

/// 3D XPoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Xpoint {
    /// Units that work independently.
    pub units: u32,
    /// Bytes that one access of a unit moves.
    pub unit_bytes: u32,
    /// Time of a read access.
    pub read: Service,
    /// Time of a write access.
    pub write: Service,
}

/// Persistent memory as one namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Modules that are interleaved.
    pub units: u32,
    /// Bytes that one access of a module moves before the next module follows.
    pub unit_bytes: u32,
    /// Latency of a read, on the CPU.
    pub read_ps: u64,
    /// Latency of a write, on the CPU.
    pub write_ps: u64,
    /// Rate of the whole namespace for reads.
    pub read_bytes_per_s: u64,
    /// Rate of the whole namespace for sequential writes.
    pub write_bytes_per_s: u64,
    /// Rate of the whole namespace for random writes.
    pub random_write_bytes_per_s: u64,
}

/// Several drives as one target.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Name, as in `sim:MACHINE/NAME`.
    pub name: String,
    /// Level.
    pub level: Level,
    /// Members, indices of [`Machine::drives`]. Of a lost one any drive may stand there: it is left alone.
    pub members: Vec<usize>,
    /// Positions of members that are lost.
    pub lost: MemberSet,
    /// A lost member that is made new while the load runs.
    pub rebuild: Option<MemberRebuild>,
    /// Bytes on one member before the next follows.
    pub chunk_bytes: u64,
    /// Who does the work.
    pub controller: ArrayController,
}

impl Array {
    /// Members whose space holds user data.
    #[must_use]
    pub fn data_members(&self) -> usize {
        let members = self.members.len();
        match self.level {
            Level::Raid10 => members - members / 2,
            level => members - level.parities() as usize,
        }
    }
}

/// Who does an array's work.
#[derive(Clone, Debug, PartialEq)]
pub enum ArrayController {
    /// A RAID card.
    Card(Card),
    /// Linux md.
    Md(Md),
    /// The load generator itself, on the threads that submit.
    UserSpace(UserSpace),
}

/// A member that is made new beside the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberRebuild {
    /// Its position.
    pub member: u32,
    /// At how many bytes of it a second; `None`: as fast as can be.
    pub bytes_per_s: Option<u64>,
}

/// A RAID card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// Its link to the host.
    pub link: Link,
    /// Shared link above it.
    pub upstream: Option<usize>,
    /// Socket it hangs on.
    pub socket: u32,
    /// Time per read command; a single server.
    pub command_read_ps: u64,
    /// Time per write command.
    pub command_write_ps: u64,
    /// Added per write that must update parity in place; a server of its own.
    pub parity_ps: u64,
    /// Rate of parity computation.
    pub xor_bytes_per_s: u64,
    /// Rate of the cache memory; 0: no limit of its own. Every byte crosses it once; what a write-back cache keeps crosses it
    /// on its way in and with each command of the members on its way out, and reads pass by it.
    pub cache_bytes_per_s: u64,
    /// Write-back cache: writes are answered once they are in it; 0: write-through.
    pub cache_bytes: u64,
    /// Constant part of the latency.
    pub fixed_ps: u64,
    /// Queue pairs towards the host.
    pub queues: u32,
    /// Interrupt coalescing towards the host.
    pub coalesce: Option<(u32, u64)>,
}

/// Linux md.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Md {
    /// CPU time per I/O to find its members.
    pub remap_ps: u64,
    /// Time of a thread of the array per stripe of its cache (4 KiB of each member) that is written (levels 5 and 6).
    pub stripe_ps: u64,
    /// Part of a stripe that is done under the lock of all its threads; 0: none.
    pub lock_ps: u64,
    /// Threads that handle stripes: one, or the workers of `group_thread_cnt`.
    pub threads: u32,
    /// Stripes of its cache (`stripe_cache_size`); a write waits when all are held.
    pub stripe_cache: u32,
    /// Rate of parity computation in a thread; 0: none of its own.
    pub xor_bytes_per_s: u64,
    /// Bytes of the array for each bit of its bitmap of writes; 0: it has none.
    pub bitmap_bytes: u64,
}

/// An array that the load generator spreads itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserSpace {
    /// Core time per I/O to cut it up and put it together. Each command of a member costs what an I/O costs beside.
    pub split_ps: u64,
    /// Rate of parity computation on the submitting core; 0: none of its own.
    pub xor_bytes_per_s: u64,
}

impl Default for Md {
    /// One thread, 256 stripes (`NR_STRIPES` of drivers/md/raid5.c) and no bitmap; 4 us a stripe, of which a tenth under the
    /// lock, is judged: nobody publishes it.
    fn default() -> Self {
        Md {
            remap_ps: 500_000,
            stripe_ps: 3_600_000,
            lock_ps: 400_000,
            threads: 1,
            stripe_cache: 256,
            xor_bytes_per_s: 10_000_000_000,
            bitmap_bytes: 0,
        }
    }
}

impl Default for UserSpace {
    /// As measured of Fathom itself (docs/ARRAYS.md): 0.7 us an I/O, 11.9 GB/s of read-modify-writes by AVX2.
    fn default() -> Self {
        UserSpace { split_ps: 700_000, xor_bytes_per_s: 11_900_000_000 }
    }
}

/// Something wrong, from `from_ps` to `until_ps` of the step (ramp included).
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Kind of fault.
    pub kind: FaultKind,
    /// Drive it affects; `None`: all.
    pub drive: Option<String>,
    /// Beginning.
    pub from_ps: u64,
    /// End; `u64::MAX`: to the end of the step.
    pub until_ps: u64,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FaultKind {
    /// Too hot: media and controller work at this share of their speed, percent.
    Throttle {
        /// In [1, 100].
        speed_pct: u32,
    },
    /// Speed falls by this share per minute, percent of the beginning.
    Drift {
        /// Per minute.
        loss_pct: f64,
    },
    /// One die takes this many times as long.
    SlowDie {
        /// Number of the die.
        die: u32,
        /// Factor.
        factor: u32,
    },
    /// Background cleaning blocks a share of the dies again and again.
    GcStorm {
        /// From one beginning to the next.
        period_ps: u64,
        /// How long the dies are blocked.
        length_ps: u64,
        /// Share of the dies, percent.
        dies_pct: u32,
    },
    /// The drive's link came up slower or narrower.
    LinkTrainedDown {
        /// Generation it runs at.
        generation: u32,
        /// Lanes it runs with.
        lanes: u32,
    },
    /// One CPU takes all interrupts.
    InterruptsOnOneCpu {
        /// Number of the CPU.
        cpu: u32,
    },
    /// A share of the reads never leaves the host's memory, percent.
    PageCacheHits {
        /// In [1, 100].
        hit_pct: u32,
    },
}

impl Host {
    /// Physical cores.
    #[must_use]
    pub fn cores(&self) -> u32 {
        self.sockets * self.cores_per_socket
    }

    /// Logical CPUs.
    #[must_use]
    pub fn cpus(&self) -> u32 {
        self.cores() * self.threads_per_core
    }

    /// Socket of a CPU.
    #[must_use]
    pub fn socket_of(&self, cpu: u32) -> u32 {
        cpu % self.cores() / self.cores_per_socket
    }

    /// The other CPU of the core, if it has two.
    #[must_use]
    pub fn sibling_of(&self, cpu: u32) -> Option<u32> {
        (self.threads_per_core == 2).then(|| (cpu + self.cores()) % self.cpus())
    }

    /// What an I/O costs with this engine and mode, both as the command line names them: the entry `ENGINE:MODE`, else
    /// `ENGINE`, else `default`, else nothing.
    #[must_use]
    pub fn costs(&self, engine: &str, mode: &str) -> EngineCosts {
        let full = format!("{engine}:{mode}");
        [full.as_str(), engine, "default"]
            .iter()
            .find_map(|name| self.engines.iter().find(|(n, _)| n == name))
            .map_or_else(EngineCosts::default, |(_, costs)| *costs)
    }
}

impl Service {
    /// Always the same time.
    #[must_use]
    pub fn fixed(mean_ps: u64) -> Self {
        Service { mean_ps, spread_pct: 0, exponential: false }
    }

    /// Uniform within a share of the mean.
    #[must_use]
    pub fn uniform(mean_ps: u64, spread_pct: u32) -> Self {
        Service { mean_ps, spread_pct, exponential: false }
    }

    /// Exponential.
    #[must_use]
    pub fn exponential(mean_ps: u64) -> Self {
        Service { mean_ps, spread_pct: 0, exponential: true }
    }
}
