//! The step that an fio job was, from its options.

use fathom_message::{Arg, Message, msg};
use fathom_plan::{
    BlockSize, DataPattern, Durability, EngineName, EngineSpec, ImportedLoad, Load, LoadPart, Mode, Op, OpMix, OpRates,
    Pattern, Phase, Placement, Rate, RateProcess, Region, RunLength, Step, SyncEvery, SyncKind, TargetId, Verify,
    Workload, WriteThrough, fio_bytes,
};

use crate::options::size_word;
use crate::options::{Options, block_split, cpu_list, file_names};

/// Figures of the job in the file, to check its options against.
pub(crate) struct Measured {
    pub(crate) runtime_ns: u64,
    pub(crate) ios: u64,
    pub(crate) bytes: u64,
    /// I/Os of each operation.
    pub(crate) by_op: Vec<(Op, u64)>,
    /// True for figures of all operations together, `by_op` being that sum.
    pub(crate) is_unified: bool,
}

/// A job before it is a step.
pub(crate) struct JobHead<'a> {
    pub(crate) index: u32,
    pub(crate) name: &'a str,
    /// Host of client_stats.
    pub(crate) host: Option<&'a str>,
    /// Threads that the entry, or the merged entries, stand for.
    pub(crate) threads: u32,
    pub(crate) options: &'a Options,
    /// False if the file does not list the job's own options: fio's defaults say nothing of the job then.
    pub(crate) has_options: bool,
    /// The least number of I/Os that were in flight.
    pub(crate) depth_min: u32,
    /// Exported by Fathom: the name is the label.
    pub(crate) own: bool,
}

/// Options that say a part of the load.
const SAID_BY: [(LoadPart, &str); 6] = [
    (LoadPart::Operations, "rw"),
    (LoadPart::Order, "rw"),
    (LoadPart::Threads, "numjobs"),
    (LoadPart::Depth, "iodepth"),
    (LoadPart::Engine, "ioengine"),
    (LoadPart::Direct, "direct"),
];

impl JobHead<'_> {
    /// Parts of the load that the file does not say. Directions that completed I/Os say which operations there were.
    fn unknown(&self, measured: &Measured) -> Vec<LoadPart> {
        let is_unknown = |(part, option): &&(LoadPart, &str)| match part {
            _ if self.has_options || self.options.text(option).is_some() => false,
            LoadPart::Operations => measured.is_unified,
            _ => true,
        };
        SAID_BY.iter().filter(is_unknown).map(|(part, _)| *part).collect()
    }
}

/// The step; what could not be taken at its word is added to `notes`. `Err`: an option with no counterpart, as
/// (option, why).
pub(crate) fn step(
    head: &JobHead<'_>,
    measured: &Measured,
    notes: &mut Vec<Message>,
) -> Result<Step, (&'static str, Message)> {
    let options = head.options;
    let unknown = head.unknown(measured);
    let is_unknown = |part| unknown.contains(&part);
    let mut workload = workload(options, head.has_options, measured, notes)?;
    if is_unknown(LoadPart::Order) {
        (workload.mix, workload.pattern) = (measured.mix(), Pattern::Unknown);
    }
    let (engine, foreign) = match is_unknown(LoadPart::Engine) {
        true => (EngineSpec { name: EngineName::Fio, ..PLAIN }, None),
        false => engine(options, notes),
    };
    if !unknown.is_empty() {
        notes.push(msg!("import-fio-unknown-load"));
    }
    let (targets, threads) = targets(head, notes);
    let queue_depth = match is_unknown(LoadPart::Depth) {
        true => head.depth_min,
        false => options.number("iodepth").unwrap_or(1),
    };
    let (rate, op_rates) = rates(options, workload.mix, head.threads, notes);
    let load = Load {
        batch_submit: options.number("iodepth_batch"),
        batch_complete_min: options.number("iodepth_batch_complete_min"),
        batch_complete_max: options.number("iodepth_batch_complete_max"),
        rate,
        op_rates,
        ..Load::closed(threads, queue_depth)
    };
    let imported = ImportedLoad { engine: foreign, unknown, is_unified: measured.is_unified };
    let words = load_words(head, &workload, &imported, queue_depth);
    let label = if head.own { head.name.to_owned() } else { format!("{}: {words}", head.name) };
    Ok(Step {
        index: head.index,
        label,
        phase: Phase::Measure,
        group: head.host.unwrap_or("A").to_owned(),
        targets,
        workload,
        load,
        engine,
        memory: fathom_plan::MemoryPolicy::default(),
        placement: placement(options, notes),
        length: RunLength::fixed(
            options.duration_ns("ramp_time").unwrap_or(0),
            options.duration_ns("runtime").filter(|ns| *ns > 0).unwrap_or(measured.runtime_ns),
        ),
        seed: options.text("randseed").and_then(|seed| seed.parse().ok()).unwrap_or(0),
        role: fathom_plan::Role { imported, ..fathom_plan::Role::default() },
    })
}

/// The step of the reads by which a job verified what it had written. fio sorts random writes before it reads them, or
/// not, as their number fits its map: their order is not known.
pub(crate) fn verify_step(
    head: &JobHead<'_>,
    measured: &Measured,
    notes: &mut Vec<Message>,
) -> Result<Step, (&'static str, Message)> {
    let mut step = step(head, measured, notes)?;
    step.workload.mix = OpMix::READ;
    if step.workload.pattern != Pattern::Sequential {
        step.workload.pattern = Pattern::Unknown;
        step.role.imported.unknown.push(LoadPart::Order);
    }
    let words = load_words(head, &step.workload, &step.role.imported, step.load.queue_depth);
    step.label = format!("{}, verify: {words}", head.name);
    Ok(step)
}

/// Load of the job in a few words: `4k randread T1 QD32`, `8k writes T? QD>=16`.
fn load_words(head: &JobHead<'_>, workload: &Workload, imported: &ImportedLoad, queue_depth: u32) -> String {
    let is_unknown = |part: LoadPart| imported.unknown.contains(&part);
    let size = size_word(u64::from(workload.block_bytes_max()));
    let operations = match (workload.mix.read_pct, workload.mix.write_pct, workload.mix.trim_pct) {
        _ if is_unknown(LoadPart::Operations) => "I/Os".to_owned(),
        _ if !is_unknown(LoadPart::Order) => workload.read_write().to_string(),
        (100, ..) => "reads".to_owned(),
        (_, 100, _) => "writes".to_owned(),
        (.., 100) => "trims".to_owned(),
        (read, write, trim) => format!("{read}/{write}/{trim} reads/writes/trims"),
    };
    let threads = if is_unknown(LoadPart::Threads) { "?".to_owned() } else { head.threads.to_string() };
    let at_least = if is_unknown(LoadPart::Depth) { ">=" } else { "" };
    format!("{size} {operations} T{threads} QD{at_least}{queue_depth}")
}

impl Measured {
    /// The operations by what was measured of each.
    fn mix(&self) -> OpMix {
        let ios = |op| self.by_op.iter().find(|(of, _)| *of == op).map_or(0, |(_, ios)| *ios);
        let pct = |op| (ios(op) as f64 / self.ios.max(1) as f64 * 100.0).round() as u8;
        let (write_pct, trim_pct) = (pct(Op::Write), pct(Op::Trim));
        OpMix { read_pct: 100_u8.saturating_sub(write_pct + trim_pct), write_pct, trim_pct }
    }
}

/// Operations that the options ask for; `None` for a word that is no workload of fio's.
pub(crate) fn mix_of(options: &Options) -> Option<OpMix> {
    let read_pct = options.number("rwmixread").or_else(|| Some(100_u32.saturating_sub(options.number("rwmixwrite")?)));
    let read_pct = read_pct.unwrap_or(50).min(100) as u8;
    let word = rw_word(options);
    Some(match word.strip_prefix("rand").unwrap_or(word) {
        "read" => OpMix::READ,
        "write" => OpMix::WRITE,
        "trim" => OpMix { read_pct: 0, write_pct: 0, trim_pct: 100 },
        "rw" | "readwrite" => OpMix { read_pct, write_pct: 100 - read_pct, trim_pct: 0 },
        "trimwrite" => OpMix { read_pct: 0, write_pct: 50, trim_pct: 50 },
        _ => return None,
    })
}

/// `rw` without the number behind it, as in `read:8`.
fn rw_word(options: &Options) -> &str {
    let rw = options.text("rw").unwrap_or("read");
    rw.split(':').next().unwrap_or(rw)
}

fn workload(
    options: &Options,
    has_options: bool,
    measured: &Measured,
    notes: &mut Vec<Message>,
) -> Result<Workload, (&'static str, Message)> {
    let rw = options.text("rw").unwrap_or("read");
    let word = rw_word(options);
    let mix = mix_of(options).ok_or_else(|| ("rw", msg!("import-fio-no-workload", word = rw.to_owned())))?;
    let offset_bytes = options.size("offset").unwrap_or(0);
    let region = Region { offset_bytes, size_bytes: options.size("size") };
    let compress_pct = options.number("buffer_compress_percentage").unwrap_or(0).min(100) as u8;
    let dedupe_pct = options.number("dedupe_percentage").unwrap_or(0).min(100) as u8;
    let verify = match options.text("verify") {
        Some(kind) if kind.starts_with("crc32c") => Some(Verify::Crc32c),
        _ if !options.verifies() => None,
        None => None,
        Some(kind) => {
            notes.push(msg!("import-fio-verify", word = kind.to_owned()));
            None
        }
    };
    let direct =
        if options.text("buffered").is_some() { !options.is_set("buffered") } else { options.is_set("direct") };
    Ok(Workload {
        mix,
        pattern: pattern(word, options, notes),
        block_sizes: block_sizes(options, has_options, measured, notes),
        region,
        data: DataPattern { compress_pct, dedupe_pct, ..DataPattern::default() },
        verify,
        direct,
        drop_cache: !direct && options.text("invalidate") != Some("0"),
        priorities: fathom_plan::Priorities::default(),
        durability: durability(options),
        order: fathom_plan::IoOrder { trims_first: word.ends_with("trimwrite"), ..Default::default() },
        fill: Vec::new(),
    })
}

fn durability(options: &Options) -> Durability {
    let every = |key: &str, kind| {
        let writes = options.number(key).filter(|n| *n > 0)?;
        Some(SyncEvery { kind, writes })
    };
    let write_through = match options.text("sync") {
        Some("1" | "sync") => WriteThrough::Sync,
        Some("dsync") => WriteThrough::Dsync,
        _ => WriteThrough::None,
    };
    // fio looks for fsync first.
    let sync = every("fsync", SyncKind::Fsync).or_else(|| every("fdatasync", SyncKind::Fdatasync));
    let at_end = options.is_set("end_fsync") || options.is_set("fsync_on_close");
    Durability { sync, write_through, at_end, is_atomic: options.is_set("atomic") }
}

fn pattern(word: &str, options: &Options, notes: &mut Vec<Message>) -> Pattern {
    if !word.starts_with("rand") {
        return Pattern::Sequential;
    }
    let plain = if options.is_set("norandommap") { Pattern::RandomRepeat } else { Pattern::Random };
    let Some(distribution) = options.text("random_distribution") else { return plain };
    if distribution.starts_with("random") {
        return plain;
    }
    if let Some(theta) = distribution.strip_prefix("zipf:").and_then(|t| t.split(':').next()?.parse().ok()) {
        return Pattern::Zipf { theta };
    }
    if let Some((access_pct, space_pct)) = distribution.strip_prefix("zoned:").and_then(two_zones) {
        return Pattern::Hotspot { access_pct, space_pct };
    }
    notes.push(msg!("import-fio-distribution", word = distribution.to_owned()));
    plain
}

fn two_zones(text: &str) -> Option<(u8, u8)> {
    let mut zones = text.split(':');
    let (first, _, None) = (zones.next()?, zones.next()?, zones.next()) else { return None };
    let (access, space) = first.split_once('/')?;
    Some((access.parse().ok()?, space.parse().ok()?))
}

/// Sizes by the options, unless the file's own counts say otherwise.
fn block_sizes(options: &Options, has_options: bool, measured: &Measured, notes: &mut Vec<Message>) -> Vec<BlockSize> {
    let one = |bytes: u32| vec![BlockSize { bytes, share_pct: 100 }];
    if let Some(split) = options.text("bssplit") {
        match block_split(split) {
            Some(split) => return split,
            None => notes.push(msg!("import-fio-bssplit", word = split.to_owned())),
        }
    }
    let is_said = has_options || options.text("bs").is_some();
    let default = Some(4096).filter(|_| is_said);
    let stated = options.text("bs").map_or(default, fio_bytes).and_then(|bytes| u32::try_from(bytes).ok());
    let stated = stated.filter(|bytes| *bytes > 0);
    let mean = u32::try_from(measured.bytes.checked_div(measured.ios).unwrap_or(0)).ok().filter(|bytes| *bytes > 0);
    match (stated, mean) {
        (Some(stated), Some(mean)) if stated == mean && measured.bytes.is_multiple_of(measured.ios) => one(stated),
        (Some(stated), None) => one(stated),
        (_, Some(mean)) if !is_said => one(mean),
        (_, Some(mean)) => {
            let word = options.text("bs").unwrap_or("4k");
            notes.push(msg!("import-fio-bs", word = word.to_owned(), mean = mean.to_string()));
            one(mean)
        }
        (None, None) => {
            notes.push(msg!("import-fio-no-bs"));
            one(4096)
        }
    }
}

/// An engine without options.
const PLAIN: EngineSpec = EngineSpec {
    name: EngineName::Psync,
    mode: Mode::Interrupt,
    fixed_buffers: false,
    fixed_files: false,
    sqpoll_cpu: None,
    paranoid: false,
};

/// The engine, and its name where Fathom has none like it.
fn engine(options: &Options, notes: &mut Vec<Message>) -> (EngineSpec, Option<String>) {
    let word = options.text("ioengine").unwrap_or("psync");
    let name = match word {
        "psync" => EngineName::Psync,
        "libaio" => EngineName::Libaio,
        "io_uring" => EngineName::IoUring,
        "mmap" => EngineName::Mmap,
        "null" => EngineName::Null,
        "sync" | "pvsync" | "pvsync2" | "vsync" => EngineName::Psync,
        "posixaio" => EngineName::Libaio,
        "io_uring_cmd" => EngineName::IoUringCmd,
        "nvme" => EngineName::Nvme,
        _ => return (EngineSpec { name: EngineName::Fio, ..PLAIN }, Some(word.to_owned())),
    };
    if name.as_str() != word {
        notes.push(msg!("import-fio-engine", word = word.to_owned(), engine = name.as_str()));
    }
    let is_uring = name.is_uring();
    let mode = match (is_uring && options.is_set("sqthread_poll"), is_uring && options.is_set("hipri")) {
        (true, _) => Mode::Sqpoll,
        (false, true) => Mode::Iopoll,
        (false, false) => Mode::Interrupt,
    };
    let spec = EngineSpec {
        name,
        mode,
        fixed_buffers: is_uring && options.is_set("fixedbufs"),
        fixed_files: is_uring && options.is_set("registerfiles"),
        sqpoll_cpu: options.number("sqthread_poll_cpu"),
        paranoid: false,
    };
    (spec, None)
}

/// fio's jobs go over all files, Fathom's threads belong to one target; what was in flight is the same when the
/// jobs can be dealt out evenly.
fn targets(head: &JobHead<'_>, notes: &mut Vec<Message>) -> (Vec<TargetId>, u32) {
    let Some(listed) = head.options.text("filename") else {
        notes.push(msg!("import-fio-no-filename"));
        return (vec![TargetId::new(head.name.to_owned())], head.threads);
    };
    let names = file_names(listed);
    let count = names.len() as u32;
    if count > 1 && head.threads.is_multiple_of(count) {
        let targets = names.into_iter().map(TargetId::new).collect();
        return (targets, head.threads / count);
    }
    if count > 1 {
        notes.push(msg!("import-fio-files", jobs = Arg::Count(head.threads.into()), files = count.to_string()));
    }
    (vec![TargetId::new(names.join(":"))], head.threads)
}

/// The rate of all I/Os, and those of reads and writes where they have their own.
fn rates(options: &Options, mix: OpMix, threads: u32, notes: &mut Vec<Message>) -> (Option<Rate>, Option<OpRates>) {
    let Some(text) = options.text("rate_iops").filter(|text| !text.is_empty() && *text != "0") else {
        return (None, None);
    };
    notes.push(msg!("import-fio-rate", rate = text.to_owned()));
    let poisson = options.text("rate_process") == Some("poisson");
    let process = if poisson { RateProcess::Poisson } else { RateProcess::Fixed };
    let of_step = |part: &str| fio_bytes(part).map(|iops| iops as f64 * f64::from(threads)).filter(|iops| *iops > 0.0);
    if let Some((reads, writes)) = text.split_once(',').filter(|_| mix.read_pct > 0 && mix.write_pct > 0) {
        let writes = writes.split(',').next().and_then(of_step);
        let of_ops = OpRates { read_iops: of_step(reads), write_iops: writes, process };
        let is_any = of_ops.read_iops.or(of_ops.write_iops).is_some();
        return (of_ops.sum_iops().map(|iops| Rate { iops, process }), is_any.then_some(of_ops));
    }
    let iops: f64 = text.split(',').filter_map(of_step).sum();
    ((iops > 0.0).then_some(Rate { iops, process }), None)
}

fn placement(options: &Options, notes: &mut Vec<Message>) -> Placement {
    let Some(text) = options.text("cpus_allowed") else { return Placement::Unpinned };
    match cpu_list(text) {
        Some(cpus) => Placement::Cpus(cpus),
        None => {
            notes.push(msg!("import-fio-cpus", word = text.to_owned()));
            Placement::Unpinned
        }
    }
}
