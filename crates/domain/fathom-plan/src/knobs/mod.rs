//! The knobs of a step in fio's words: one table for study files, fio job files and the command line.

mod build;
mod parse;
mod value;

use std::fmt;

use crate::step::{BlockSize, EngineName, Mode, Pattern, Placement, RateProcess, Verify};
use crate::word::advice;

pub(crate) use build::push_note;
pub(crate) use parse::{Rw, Span};
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
/// Highest CPU number that a list may name: the kernel's own bound.
pub const CPU_MAX: u32 = 8_191;
/// Most passes over the region.
pub const PASSES_MAX: u32 = 1_000_000;

/// What is wrong with a value; the caller knows the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

/// A knob that cannot be set, or a set of knobs that makes no step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnobError {
    /// The key at fault, as the user wrote it (as the table names it when found while building).
    pub key: String,
    /// Whether the key itself is unknown (rather than its value wrong).
    pub unknown_key: bool,
    /// What is wrong, in one line.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl std::error::Error for KnobError {}

impl fmt::Display for KnobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, "\n  help: {help}"))
    }
}

/// One row of the table: a knob's names, values and meaning.
pub struct KnobSpec {
    /// The word that is printed.
    pub name: &'static str,
    /// Other words that mean the same.
    pub aliases: &'static [&'static str],
    /// What a value looks like.
    pub values: &'static str,
    /// For `--help` and the documents.
    pub help: &'static str,
    set: fn(&mut Knobs, &str) -> Result<(), Fault>,
}

/// Knobs set so far. Later values replace earlier ones; [`Knobs::build`] makes the step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Knobs {
    rw: Option<Rw>,
    read_pct: Option<u8>,
    /// `rwmixread` needs a mixed `rw`, as in fio; `read_pct` decides the mix whatever `rw` says.
    read_pct_needs_mix: bool,
    block_sizes: Option<Vec<BlockSize>>,
    queue_depth: Option<u32>,
    batch_submit: Option<u32>,
    batch_complete_min: Option<u32>,
    threads: Option<u32>,
    engine: Option<EngineName>,
    mode: Option<Mode>,
    direct: Option<bool>,
    size_bytes: Option<u64>,
    offset_bytes: Option<u64>,
    runtime: Option<Span>,
    ramp_ns: Option<u64>,
    passes: Option<u32>,
    norandommap: Option<bool>,
    distribution: Option<Pattern>,
    seed: Option<u64>,
    rate_iops: Option<f64>,
    rate_process: Option<RateProcess>,
    placement: Option<Placement>,
    fixed_buffers: Option<bool>,
    fixed_files: Option<bool>,
    sqpoll_cpu: Option<u32>,
    compress_pct: Option<u8>,
    dedupe_pct: Option<u8>,
    verify: Option<Option<Verify>>,
    paranoid: Option<bool>,
    iops_precision: Option<f64>,
    p99_precision: Option<f64>,
    notes: Vec<String>,
}

macro_rules! knob {
    ($name:literal, [$($alias:literal),*], $values:literal, $help:literal, $set:expr) => {
        KnobSpec { name: $name, aliases: &[$($alias),*], values: $values, help: $help, set: $set }
    };
}

/// All knobs, in the order help texts list them.
pub const KNOBS: &[KnobSpec] = &[
    knob!(
        "rw",
        ["readwrite"],
        "randread",
        "operations and order: read write randread randwrite rw randrw trim randtrim trimwrite",
        |k, v| {
            k.rw = Some(parse::parse_rw(v)?);
            Ok(())
        }
    ),
    knob!("read_pct", [], "70", "share of reads in percent; the rest are writes", |k, v| {
        k.read_pct = Some(value::percent(v)?);
        k.read_pct_needs_mix = false;
        Ok(())
    }),
    knob!("rwmixread", [], "70", "share of reads of a mixed rw, in percent (default 50)", |k, v| {
        k.read_pct = Some(value::percent(v)?);
        k.read_pct_needs_mix = true;
        Ok(())
    }),
    knob!("rwmixwrite", [], "30", "share of writes of a mixed rw, in percent", |k, v| {
        k.read_pct = Some(100 - value::percent(v)?);
        k.read_pct_needs_mix = true;
        Ok(())
    }),
    knob!("bs", ["blocksize", "block_size"], "4k", "bytes per I/O", |k, v| {
        let (sizes, note) = parse::parse_bs(v)?;
        k.block_sizes = Some(sizes);
        k.remark(note);
        Ok(())
    }),
    knob!("bssplit", [], "4k/60:64k/40", "several block sizes and their shares in percent", |k, v| {
        let (sizes, note) = parse::parse_bssplit(v)?;
        k.block_sizes = Some(sizes);
        k.remark(note);
        Ok(())
    }),
    knob!("iodepth", ["queue_depth", "qd"], "32", "I/Os in flight per thread", |k, v| {
        k.queue_depth = Some(value::bounded(v, 1, QUEUE_DEPTH_MAX)?);
        Ok(())
    }),
    knob!("numjobs", ["threads"], "4", "threads per target", |k, v| {
        k.threads = Some(value::bounded(v, 1, THREADS_MAX)?);
        Ok(())
    }),
    knob!("load", [], "4x32", "threads x queue depth in one word", |k, v| {
        let (threads, depth) = parse::parse_load(v)?;
        k.threads = Some(threads);
        k.queue_depth = Some(depth);
        Ok(())
    }),
    knob!(
        "iodepth_batch_submit",
        ["iodepth_batch"],
        "16",
        "I/Os handed to the kernel per call at most (capped by the depth)",
        |k, v| {
            k.batch_submit = Some(value::bounded(v, 1, QUEUE_DEPTH_MAX)?);
            Ok(())
        }
    ),
    knob!(
        "iodepth_batch_complete_min",
        ["iodepth_batch_complete"],
        "1",
        "completions waited for per call at least (capped by the depth)",
        |k, v| {
            k.batch_complete_min = Some(value::bounded(v, 0, QUEUE_DEPTH_MAX)?);
            Ok(())
        }
    ),
    knob!(
        "iodepth_batch_complete_max",
        [],
        "16",
        "accepted with a note: all completions that are ready are reaped",
        |k, v| {
            let max = value::bounded(v, 0, QUEUE_DEPTH_MAX)?;
            k.remark(Some(format!(
                "iodepth_batch_complete_max={max} sets no cap: Fathom reaps all completions that are ready"
            )));
            Ok(())
        }
    ),
    knob!("ioengine", ["engine"], "io_uring", "how I/O is issued: io_uring libaio psync mmap null", |k, v| {
        k.engine = Some(parse::parse_engine(v)?);
        Ok(())
    }),
    knob!("mode", [], "iopoll", "of io_uring: interrupt, iopoll or sqpoll", |k, v| {
        k.mode = Some(mode(v)?);
        Ok(())
    }),
    knob!("hipri", [], "1", "fio's word for mode=iopoll", |k, v| k.polled(v, Mode::Iopoll)),
    knob!("sqthread_poll", [], "1", "fio's word for mode=sqpoll", |k, v| k.polled(v, Mode::Sqpoll)),
    knob!("sqthread_poll_cpu", ["sqpoll_cpu"], "2", "CPU of the kernel's polling thread", |k, v| {
        k.sqpoll_cpu = Some(value::bounded(v, 0, CPU_MAX)?);
        Ok(())
    }),
    knob!("fixedbufs", ["fixed_buffers"], "1", "register I/O buffers (io_uring)", |k, v| {
        k.fixed_buffers = Some(value::flag(v)?);
        Ok(())
    }),
    knob!("registerfiles", ["fixed_files"], "1", "register files (io_uring)", |k, v| {
        k.fixed_files = Some(value::flag(v)?);
        Ok(())
    }),
    knob!("direct", [], "1", "bypass the page cache (O_DIRECT)", |k, v| {
        k.direct = Some(value::flag(v)?);
        Ok(())
    }),
    knob!("size", [], "2g", "bytes touched per target, from offset on", |k, v| {
        let (bytes, note) = value::size_bytes(v, REGION_BYTES_MAX)?;
        if bytes == 0 {
            return Err(value::fault_help("a size of 0 holds no block", "e.g. 2g; leave it out for the whole target"));
        }
        k.size_bytes = Some(bytes);
        k.remark(note);
        Ok(())
    }),
    knob!("offset", [], "1g", "first byte touched", |k, v| {
        let (bytes, note) = value::size_bytes(v, REGION_BYTES_MAX)?;
        k.offset_bytes = Some(bytes);
        k.remark(note);
        Ok(())
    }),
    knob!(
        "runtime",
        [],
        "30s",
        "measured time: 30s fixed, 2s..10s until the interval is narrow, auto = 2s..10s",
        |k, v| {
            k.runtime = Some(parse::parse_runtime(v)?);
            Ok(())
        }
    ),
    knob!("ramp_time", ["ramp"], "1s", "warm-up that is run but not counted", |k, v| {
        k.ramp_ns = Some(value::duration_ns(v, RUNTIME_MAX_NS)?);
        Ok(())
    }),
    knob!("loops", ["passes"], "1", "stop after so many passes over the region", |k, v| {
        k.passes = Some(value::bounded(v, 1, PASSES_MAX)?);
        Ok(())
    }),
    knob!(
        "iops_precision",
        ["precision"],
        "1%",
        "with an adaptive runtime: stop once IOPS is known this well",
        |k, v| {
            k.iops_precision = Some(value::share(v)?);
            Ok(())
        }
    ),
    knob!("p99_precision", [], "5%", "with an adaptive runtime: stop once p99 is known this well", |k, v| {
        k.p99_precision = Some(value::share(v)?);
        Ok(())
    }),
    knob!("norandommap", [], "1", "random offsets that may repeat within a pass", |k, v| {
        k.norandommap = Some(value::flag(v)?);
        Ok(())
    }),
    knob!(
        "random_distribution",
        ["distribution"],
        "zipf:1.2",
        "popularity of offsets: random, zipf:THETA, hotspot:ACCESS/SPACE",
        |k, v| {
            k.distribution = Some(parse::parse_distribution(v)?);
            Ok(())
        }
    ),
    knob!("randseed", ["seed"], "1", "seed of offsets, operations, arrivals and data", |k, v| {
        k.seed = Some(value::whole(v)?);
        Ok(())
    }),
    knob!("rate_iops", ["rate"], "20k", "open loop: I/Os per second over all threads and targets", |k, v| {
        k.rate_iops = Some(value::rate_iops(v, RATE_IOPS_MAX)?);
        Ok(())
    }),
    knob!("rate_process", [], "poisson", "gaps between arrivals: fixed (fio: linear) or poisson", |k, v| {
        k.rate_process = Some(rate_process(v)?);
        Ok(())
    }),
    knob!("placement", [], "cores", "where threads run: unpinned, cores, smt, local, remote or a CPU list", |k, v| {
        let placement = placement(v)?;
        k.place(placement);
        Ok(())
    }),
    knob!("cpus_allowed", ["cpus"], "0-3,8", "thread i on the i-th CPU of this list, round robin", |k, v| {
        let cpus = value::cpu_list(v)?;
        k.place(Placement::Cpus(cpus));
        Ok(())
    }),
    knob!(
        "buffer_compress_percentage",
        ["compress_pct"],
        "50",
        "share of written data that compresses away, in percent",
        |k, v| {
            k.compress_pct = Some(value::percent(v)?);
            Ok(())
        }
    ),
    knob!(
        "dedupe_percentage",
        ["dedupe_pct"],
        "30",
        "share of written 4 KiB chunks that repeat, in percent",
        |k, v| {
            k.dedupe_pct = Some(value::percent(v)?);
            Ok(())
        }
    ),
    knob!("verify", [], "crc32c", "write self-describing blocks and check them: crc32c or none", |k, v| {
        k.verify = Some(verify(v)?);
        Ok(())
    }),
    knob!("paranoid", [], "1", "stamp every I/O instead of once per batch", |k, v| {
        k.paranoid = Some(value::flag(v)?);
        Ok(())
    }),
];

/// The row of `key`, by name or alias; `-` and `_` are the same.
#[must_use]
pub fn knob(key: &str) -> Option<&'static KnobSpec> {
    let key = key.replace('-', "_");
    KNOBS.iter().find(|k| k.name == key || k.aliases.contains(&key.as_str()))
}

/// Names and aliases of all knobs.
pub(crate) fn all_words() -> impl Iterator<Item = &'static str> {
    KNOBS.iter().flat_map(|k| std::iter::once(k.name).chain(k.aliases.iter().copied()))
}

fn mode(text: &str) -> Result<Mode, Fault> {
    let words = ["interrupt", "iopoll", "sqpoll"];
    [Mode::Interrupt, Mode::Iopoll, Mode::Sqpoll]
        .into_iter()
        .find(|m| m.as_str() == text.trim())
        .ok_or_else(|| value::fault_help(format!("unknown mode `{}`", value::shorten(text)), advice(text, &words)))
}

fn rate_process(text: &str) -> Result<RateProcess, Fault> {
    match text.trim() {
        "fixed" | "linear" => Ok(RateProcess::Fixed),
        "poisson" => Ok(RateProcess::Poisson),
        other => Err(value::fault_help(
            format!("unknown arrival process `{}`", value::shorten(other)),
            advice(other, &["fixed", "linear", "poisson"]),
        )),
    }
}

fn placement(text: &str) -> Result<Placement, Fault> {
    match text.trim() {
        "unpinned" => Ok(Placement::Unpinned),
        "cores" => Ok(Placement::Cores),
        "smt" => Ok(Placement::Smt),
        "local" => Ok(Placement::Local),
        "remote" => Ok(Placement::Remote),
        list if list.starts_with(|c: char| c.is_ascii_digit()) => value::cpu_list(list).map(Placement::Cpus),
        other => Err(value::fault_help(
            format!("unknown placement `{}`", value::shorten(other)),
            fathom_units::nearest(other, ["unpinned", "cores", "smt", "local", "remote"]).map_or_else(
                || "valid: unpinned, cores, smt, local, remote, or a CPU list such as 0-3,8".to_owned(),
                |near| format!("did you mean `{near}`?"),
            ),
        )),
    }
}

fn verify(text: &str) -> Result<Option<Verify>, Fault> {
    match text.trim() {
        "crc32c" => Ok(Some(Verify::Crc32c)),
        "none" | "0" | "false" => Ok(None),
        other => Err(value::fault_help(
            format!("verification by `{}` is not carried out", value::shorten(other)),
            "use crc32c or none",
        )),
    }
}

impl Knobs {
    /// No knob set: [`Knobs::build`] then takes Fathom's defaults (4k random reads, T1 QD1, io_uring, O_DIRECT, auto).
    #[must_use]
    pub fn new() -> Self {
        Knobs::default()
    }

    /// fio's defaults: sequential read, 4k, T1 QD1, psync, buffered, one I/O per call, nothing registered.
    #[must_use]
    pub fn fio_defaults() -> Self {
        let mut knobs = Knobs::new();
        knobs.rw = parse::RW.iter().find(|r| r.word == "read").copied();
        knobs.engine = Some(EngineName::Psync);
        knobs.direct = Some(false);
        knobs.batch_submit = Some(1);
        knobs.batch_complete_min = Some(1);
        knobs.fixed_buffers = Some(false);
        knobs.fixed_files = Some(false);
        knobs
    }

    /// Sets one knob from text, replacing an earlier value.
    ///
    /// # Errors
    /// Unknown key (with the nearest word), unreadable value, value out of bounds (with the bounds).
    pub fn set(&mut self, key: &str, value_text: &str) -> Result<(), KnobError> {
        let Some(spec) = knob(key) else {
            return Err(unknown_key(key, all_words()));
        };
        (spec.set)(self, value_text).map_err(|fault| KnobError {
            key: key.to_owned(),
            unknown_key: false,
            message: format!("{key}: {}", fault.message),
            help: fault.help,
        })
    }

    fn remark(&mut self, note: Option<String>) {
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
            self.remark(Some("placement and cpus_allowed were both given: the later one counts".to_owned()));
        }
        self.placement = Some(placement);
    }

    /// fio's flags `hipri` and `sqthread_poll` each switch one mode on or off.
    fn polled(&mut self, text: &str, mode: Mode) -> Result<(), Fault> {
        let on = value::flag(text)?;
        match self.mode {
            Some(other) if on && other != mode && other != Mode::Interrupt => Err(value::fault_help(
                format!("mode is already {}", other.as_str()),
                "iopoll (hipri) and sqpoll (sqthread_poll) are not combined: choose one",
            )),
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
    let near = fathom_units::nearest(key, words.iter().copied()).map(|near| format!("did you mean `{near}`?"));
    // A short list is quicker read than looked up; the knobs' own list is long.
    let help = near.or_else(|| (words.len() <= 6).then(|| format!("valid here: {}", words.join(", "))));
    KnobError {
        key: key.to_owned(),
        unknown_key: true,
        message: format!("unknown key `{}`", value::shorten(key)),
        help,
    }
}

#[cfg(test)]
mod tests;
