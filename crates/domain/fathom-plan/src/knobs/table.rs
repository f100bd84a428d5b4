//! The table of knobs: names, values, meaning and how each is set.

use super::{
    CPU_MAX, DEVICES_MAX, Fault, Knobs, PASSES_MAX, QUEUE_DEPTH_MAX, RATE_IOPS_MAX, REGION_BYTES_MAX, RUNTIME_MAX_NS,
    THREADS_MAX,
};
use super::{parse, value};
use crate::condition::{ROUNDS_MAX, ROUNDS_MIN};
use crate::step::{Mode, Placement};

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
    pub(super) set: fn(&mut Knobs, &str) -> Result<(), Fault>,
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
    knob!(
        "ioengine",
        ["engine"],
        "io_uring",
        "how I/O is issued: io_uring io_uring_cmd libaio psync mmap null",
        |k, v| {
            k.engine = Some(parse::parse_engine(v)?);
            Ok(())
        }
    ),
    knob!("mode", [], "iopoll", "of io_uring: interrupt, iopoll or sqpoll", |k, v| {
        k.mode = Some(parse::parse_mode(v)?);
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
    knob!("size", [], "2g", "bytes touched per target, from offset on; 20% is a share of each target", |k, v| {
        if v.trim().ends_with('%') {
            k.footprint_pct = Some(parse::parse_footprint(v)?);
            k.size_bytes = None;
            return Ok(());
        }
        let (bytes, note) = value::size_bytes(v, REGION_BYTES_MAX)?;
        if bytes == 0 {
            return Err(value::fault_help("a size of 0 holds no block", "e.g. 2g; leave it out for the whole target"));
        }
        k.size_bytes = Some(bytes);
        k.footprint_pct = None;
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
    knob!(
        "rate_iops",
        ["rate"],
        "20k",
        "open loop: I/Os per second over all threads and targets; in a study 75% is a share of the most in a closed loop",
        |k, v| {
            let is_share = v.trim().ends_with('%');
            k.rate_iops = if is_share { None } else { Some(value::rate_iops(v, RATE_IOPS_MAX)?) };
            k.rate_share_pct = if is_share { Some(parse::parse_rate_share(v)?) } else { None };
            Ok(())
        }
    ),
    knob!("rate_process", [], "poisson", "gaps between arrivals: fixed (fio: linear) or poisson", |k, v| {
        k.rate_process = Some(parse::parse_rate_process(v)?);
        Ok(())
    }),
    knob!(
        "latency_goal",
        [],
        "p99<=1ms",
        "the verdict names the highest load that keeps these latencies: p99<= and lat<= (the mean)",
        |k, v| {
            k.latency_goal = Some(parse::parse_latency_goal(v)?);
            Ok(())
        }
    ),
    knob!("placement", [], "cores", "where threads run: unpinned, cores, smt, local, remote or a CPU list", |k, v| {
        let placement = parse::parse_placement(v)?;
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
        k.verify = Some(parse::parse_verify(v)?);
        Ok(())
    }),
    knob!("devices", [], "4", "use the first so many targets of the group", |k, v| {
        k.devices = Some(value::bounded(v, 1, DEVICES_MAX)?);
        Ok(())
    }),
    knob!(
        "precondition",
        [],
        "same",
        "before measuring: same (own workload until steady), snia (purge, 128k twice over, own workload), quick, none",
        |k, v| {
            k.conditions.method = parse::parse_precondition(v)?;
            Ok(())
        }
    ),
    knob!(
        "purge",
        [],
        "1",
        "purge the targets first (snia always does): 1 (the best way there is), format, sanitize, discard, 0",
        |k, v| {
            k.conditions.purge = parse::parse_purge(v)?;
            Ok(())
        }
    ),
    knob!("settle_load", [], "16x16", "threads x queue depth of the rounds that settle", |k, v| {
        k.conditions.load = parse::parse_load(v)?;
        Ok(())
    }),
    knob!("settle_rounds", [], "25", "most rounds until steady state is called not reached", |k, v| {
        k.conditions.rounds_max = value::bounded(v, ROUNDS_MIN, ROUNDS_MAX)?;
        Ok(())
    }),
    knob!("settle_time", [], "60s", "length of a round", |k, v| {
        let (_, budget_ns) = parse::parse_runtime(v)?;
        k.conditions.round_ns = budget_ns;
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
