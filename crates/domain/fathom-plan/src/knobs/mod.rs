//! The knobs of a step in fio's words: one table for study files, fio job files and the command line.

mod build;
mod files;
mod order;
mod parse;
mod priority;
mod rates;
mod spec;
mod table;
mod value;

use fathom_message::{Message, Say, msg, say_error};
use fathom_units::{advice, did_you_mean};

use crate::arrange::Arrangement;
use crate::condition::Conditions;
use crate::durability::WriteThrough;
use crate::file_ops::StatBy;
use crate::file_service::ServiceChoice;
use crate::goal::LatencyGoal;
use crate::io_order::{AccessZone, SizeRange};
use crate::memory::MemoryPolicy;
use crate::read_write::ReadWrite;
use crate::role::NewFile;
use crate::stage::AskedStages;
use crate::step::{BlockSize, EngineName, Mode, Pattern, Placement, RateProcess, Spread, Verify};

pub(crate) use build::push_note;
pub(crate) use spec::Fio;
pub use spec::{Flag, Kind, KnobSpec};
pub use table::{KnobGroup, knob, knob_groups, knobs};

pub(crate) use parse::Span;
pub(crate) use table::all_words;
pub(crate) use value::print_duration;

/// Most I/Os in flight per thread.
pub const QUEUE_DEPTH_MAX: u32 = 4_096;
/// Most threads per target.
pub const THREADS_MAX: u32 = 1_024;
/// Largest block, in bytes.
pub const BLOCK_BYTES_MAX: u32 = 64 << 20;
/// Most I/O buffers of one target, in bytes: threads x depth x block.
pub const BUFFER_BYTES_MAX: u64 = 64 << 30;
/// Largest region or offset, in bytes.
pub const REGION_BYTES_MAX: u64 = 1 << 60;
/// Longest runtime; also the budget of a step that only passes over its region bound.
pub const RUNTIME_MAX_NS: u64 = 30 * 86_400 * 1_000_000_000;
/// Highest arrival rate.
pub const RATE_IOPS_MAX: f64 = 1e9;
/// Largest rate relative to what a closed loop gave, in percent: enough to see what an overload does.
pub const RATE_SHARE_PCT_MAX: u16 = 200;
/// Highest CPU number that a list may name: the kernel's own bound.
pub const CPU_MAX: u32 = 8_191;
/// Most targets of a step.
pub const DEVICES_MAX: u32 = 1_024;
/// Most ranks of a step.
pub const RANKS_MAX: u32 = 1 << 20;
/// An adaptive step ends once the half width of the 95 % interval of IOPS is within this share of it.
pub(crate) const IOPS_PRECISION: f64 = 0.01;
/// Same for p99 of latency.
pub(crate) const P99_PRECISION: f64 = 0.05;
/// Most passes over the region.
pub const PASSES_MAX: u32 = 1_000_000;

/// What is wrong with a value; the caller knows the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) message: Message,
    pub(crate) help: Option<Message>,
}

/// A knob that cannot be set, or a set of knobs that makes no step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnobError {
    /// The key at fault, as the user wrote it (as the table names it when found while building).
    pub key: String,
    /// Whether the key itself is unknown (rather than its value wrong).
    pub unknown_key: bool,
    /// What is wrong, in one line.
    pub message: Message,
    /// What to do.
    pub help: Option<Message>,
}

impl Say for KnobError {
    fn message(&self) -> Message {
        self.message.clone()
    }

    fn help(&self) -> Option<Message> {
        self.help.clone()
    }
}

say_error!(KnobError);

/// A random pattern's places.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Distribution {
    Pattern(Pattern),
    Zones(Vec<AccessZone>),
    List(Vec<u64>),
}

/// The words of strided zones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct ZoneKnobs {
    strided: Option<bool>,
    zone_bytes: Option<u64>,
    range_bytes: Option<u64>,
    skip_bytes: Option<u64>,
}

/// The words of pauses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct ThinkKnobs {
    pause_ns: Option<u64>,
    spin_ns: Option<u64>,
    ios: Option<u32>,
}

/// The words of shares among loads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct FlowKnobs {
    weight: Option<u32>,
    id: Option<u32>,
    sleep_ns: Option<u64>,
}

/// The words of a latency that the depth is searched for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct TargetKnobs {
    lat_ns: Option<u64>,
    window_ns: Option<u64>,
    within_ppm: Option<u32>,
    runs_on: Option<bool>,
}

/// The words of `sprandom`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct SpRandomKnobs {
    is_on: Option<bool>,
    regions: Option<u32>,
    spare_ppm: Option<u32>,
}

/// The words of repeated data.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct DedupeKnobs {
    /// Whether the blocks that repeat are those of a working set.
    has_set: Option<bool>,
    region_pct: Option<u8>,
    is_shared: Option<bool>,
}

/// The words of the order in which a thread serves its targets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct ServiceKnobs {
    /// Which, and for how many I/Os each.
    order: Option<(ServiceChoice, u32)>,
    open_files: Option<u32>,
}

/// Knobs set so far. Later values replace earlier ones; [`Knobs::build`] makes the step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Knobs {
    rw: Option<ReadWrite>,
    /// Behind the colon of `rw`: bytes of a sequential pattern, I/Os of a random one.
    modifier: Option<i64>,
    read_pct: Option<u8>,
    /// `rwmixread` needs a mixed `rw`, as in fio; `read_pct` decides the mix whatever `rw` says.
    read_pct_needs_mix: bool,
    block_sizes: Option<Vec<BlockSize>>,
    write_sizes: Option<Vec<BlockSize>>,
    trim_sizes: Option<Vec<BlockSize>>,
    size_range: Option<SizeRange>,
    bs_unaligned: Option<bool>,
    align_bytes: Option<u32>,
    /// As in fio, places are multiples of the smallest block, and sequential ones follow each other.
    packed: bool,
    runs_in_place: Option<bool>,
    random_pct: Option<u8>,
    list_advances: Option<bool>,
    zoned: ZoneKnobs,
    sprandom: SpRandomKnobs,
    pass_bytes: Option<u64>,
    pass_ios: Option<u64>,
    thread_offset_bytes: Option<u64>,
    think: ThinkKnobs,
    flow: FlowKnobs,
    latency_target: TargetKnobs,
    priority: priority::PriorityKnobs,
    queue_depth: Option<u32>,
    batch_submit: Option<u32>,
    batch_complete_min: Option<u32>,
    batch_complete_max: Option<u32>,
    threads: Option<u32>,
    spread: Option<Spread>,
    engine: Option<EngineName>,
    mode: Option<Mode>,
    direct: Option<bool>,
    drop_cache: Option<bool>,
    fsync_writes: Option<u32>,
    fdatasync_writes: Option<u32>,
    write_through: Option<WriteThrough>,
    sync_at_end: Option<bool>,
    new_files: Option<NewFile>,
    is_atomic: Option<bool>,
    size_bytes: Option<u64>,
    offset_bytes: Option<u64>,
    runtime: Option<Span>,
    ramp_ns: Option<u64>,
    passes: Option<u32>,
    norandommap: Option<bool>,
    distribution: Option<Distribution>,
    seed: Option<u64>,
    rate_iops: Option<f64>,
    rate_of_ops: Option<rates::RateOfOps>,
    rate_share_pct: Option<u16>,
    stages: Option<AskedStages>,
    read_rate_pct: Option<u16>,
    write_rate_pct: Option<u16>,
    rate_process: Option<RateProcess>,
    placement: Option<Placement>,
    memory: Option<MemoryPolicy>,
    fixed_buffers: Option<bool>,
    fixed_files: Option<bool>,
    sqpoll_cpu: Option<u32>,
    compress_pct: Option<u8>,
    dedupe_pct: Option<u8>,
    dedupe: DedupeKnobs,
    fill: Option<Vec<u8>>,
    verify: Option<Option<Verify>>,
    checks_written: Option<bool>,
    paranoid: Option<bool>,
    devices: Option<u32>,
    ranks: Option<u32>,
    footprint_pct: Option<u8>,
    offset_pct: Option<u8>,
    pass_pct: Option<u8>,
    files_per_thread: Option<u32>,
    bytes_per_file: Option<u64>,
    stat_by: Option<StatBy>,
    service: ServiceKnobs,
    latency_goal: Option<LatencyGoal>,
    trace_to: Option<String>,
    pub(crate) conditions: Conditions,
    pub(crate) arrangement: Arrangement,
    iops_precision: Option<f64>,
    p99_precision: Option<f64>,
    notes: Vec<Message>,
}

impl Knobs {
    /// No knob set: [`Knobs::build`] then takes Fathom's defaults (4k random reads, T1 QD1, io_uring, O_DIRECT, auto).
    #[must_use]
    pub fn new() -> Self {
        Knobs::default()
    }

    /// fio's defaults: sequential read, 4k, T1 QD1, psync, buffered, one I/O or completion per call, nothing registered.
    #[must_use]
    pub fn fio_defaults() -> Self {
        let mut knobs = Knobs::new();
        knobs.rw = Some(ReadWrite::Read);
        knobs.engine = Some(EngineName::Psync);
        knobs.direct = Some(false);
        knobs.drop_cache = Some(true);
        knobs.batch_submit = Some(1);
        knobs.batch_complete_min = Some(1);
        knobs.batch_complete_max = Some(1);
        knobs.fixed_buffers = Some(false);
        knobs.fixed_files = Some(false);
        knobs.packed = true;
        knobs
    }

    /// Sets one knob from text, replacing an earlier value.
    ///
    /// # Errors
    /// Unknown key (with the nearest word), unreadable value, value out of range (with the range).
    pub fn set(&mut self, key: &str, value_text: &str) -> Result<(), KnobError> {
        let Some(spec) = knob(key) else {
            return Err(unknown_key(key, all_words()));
        };
        (spec.set)(self, value_text).map_err(|fault| KnobError {
            key: key.to_owned(),
            unknown_key: false,
            message: msg!("what-and-why", what = key.to_owned(), why = fault.message),
            help: fault.help,
        })
    }

    fn remark(&mut self, note: Option<Message>) {
        if let Some(note) = note {
            push_note(&mut self.notes, note);
        }
    }

    fn place(&mut self, placement: Placement) {
        // A CPU list and a rule for choosing CPUs cannot both hold: the later one wins, and says so.
        let is_list = |p: &Placement| matches!(p, Placement::Cpus(_));
        if let Some(old) = self.placement.as_ref().filter(|p| **p != Placement::Unpinned)
            && is_list(old) != is_list(&placement)
        {
            self.remark(Some(msg!("knob-placement-and-cpus")));
        }
        self.placement = Some(placement);
    }

    /// fio's flags `hipri` and `sqthread_poll` each switch one mode on or off.
    fn polled(&mut self, text: &str, mode: Mode) -> Result<(), Fault> {
        let on = value::flag(text)?;
        match self.mode {
            Some(other) if on && other != mode && other != Mode::Interrupt => {
                Err(value::fault_help(msg!("knob-mode-twice", mode = other.as_str()), msg!("knob-mode-twice-help")))
            }
            Some(same) if !on && same == mode => {
                self.mode = Some(Mode::Interrupt);
                Ok(())
            }
            _ => {
                if on {
                    self.mode = Some(mode);
                }
                Ok(())
            }
        }
    }
}

/// The error of a key that nobody knows, with the nearest of `words`.
pub(crate) fn unknown_key<'a>(key: &str, words: impl IntoIterator<Item = &'a str>) -> KnobError {
    let words: Vec<&str> = words.into_iter().collect();
    // A short list is quicker read than looked up; the knobs' own list is long.
    let help = if words.len() <= 6 { Some(advice(key, &words)) } else { did_you_mean(key, words) };
    let message = msg!("unknown-key", key = value::shorten(key));
    KnobError { key: key.to_owned(), unknown_key: true, message, help }
}

#[cfg(test)]
mod tests;
