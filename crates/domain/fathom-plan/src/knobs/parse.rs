//! Knobs whose value has a grammar of its own.

use fathom_message::{Arg, Join, Message, Quantity, msg};
use fathom_raid::{Layout, Level};
use fathom_units::{advice, did_you_mean};

use crate::arrange::BlockOf;
use crate::array::{ArrayMaker, MadeLevel, Rebuild};
use crate::goal::{Goal, LatencyGoal};
use crate::io_order::{AccessZone, ZoneSpace};
use crate::knobs::value::{
    bounded, cpu_list, duration_ns, fault, fault_help, flag, percent, rate_iops, shorten, size_bytes, whole,
};
use crate::knobs::{
    BLOCK_BYTES_MAX, Distribution, Fault, QUEUE_DEPTH_MAX, RATE_IOPS_MAX, RATE_SHARE_PCT_MAX, REGION_BYTES_MAX,
    RUNTIME_MAX_NS, THREADS_MAX,
};
use crate::memory::MemoryPolicy;
use crate::read_write::ReadWrite;
use crate::role::{Precondition, PurgeMeans};
use crate::stage::{AskedStages, STAGE_UNIT_NS, STAGES_MAX};
use crate::step::{BlockSize, EngineName, Mode, Pattern, Placement, RateProcess, Spread, Verify};

/// fio's words of `rw`, with its second one for `rw` itself.
fn rw_words() -> Vec<&'static str> {
    let mut words: Vec<&str> = ReadWrite::ALL.iter().map(|rw| rw.as_str()).collect();
    words.push("readwrite");
    words
}

/// fio's word and its sequence modifier: bytes of a sequential pattern (`read:-8k`), I/Os of a random one (`randread:8`).
pub(crate) fn parse_rw(text: &str) -> Result<(ReadWrite, Option<i64>), Fault> {
    let text = text.trim();
    if let Some(found) = ReadWrite::from_word(text) {
        return Ok((found, None));
    }
    let parts = text.split_once(':').and_then(|(word, modifier)| Some((ReadWrite::from_word(word)?, modifier)));
    if let Some((rw, modifier)) = parts {
        let refused =
            || fault_help(msg!("knob-sequence-modifier", text = shorten(text)), msg!("knob-sequence-modifier-help"));
        let value = match modifier.strip_prefix('-') {
            Some(bytes) if rw.is_sequential() => -(size_bytes(bytes, REGION_BYTES_MAX)?.0 as i64),
            None if rw.is_sequential() => size_bytes(modifier, REGION_BYTES_MAX)?.0 as i64,
            None => i64::from(bounded(modifier, 1, RUN_IOS_MAX)?),
            Some(_) => return Err(refused()),
        };
        return Ok((rw, Some(value).filter(|value| *value != 0)));
    }
    Err(fault_help(msg!("knob-unknown-workload", text = shorten(text)), advice(text, &rw_words())))
}

/// More I/Os than this at one place are no random pattern any more.
const RUN_IOS_MAX: u32 = 1_000_000;

/// One block size: at most [`BLOCK_BYTES_MAX`].
pub(crate) fn parse_block(text: &str) -> Result<(u32, Option<Message>), Fault> {
    let (bytes, note) = size_bytes(text, u64::from(BLOCK_BYTES_MAX))?;
    if bytes == 0 {
        return Err(fault_help(msg!("knob-empty-block"), msg!("knob-empty-block-help")));
    }
    Ok((bytes as u32, note))
}

/// Sizes for reads, writes and trims; `None` where they are those of the operation before.
pub(crate) type SizesByOp = [Option<Vec<BlockSize>>; 3];

/// A list for reads, writes and trims: `4k`, `4k,8k`. The last one holds for the operations behind it, unless a comma ends it:
/// those then have fio's default of 4k, as has one that is left out.
fn by_op(
    text: &str,
    parse: impl Fn(&str) -> Result<(Vec<BlockSize>, Option<Message>), Fault>,
) -> Result<(SizesByOp, Option<Message>), Fault> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.len() > 3 {
        return Err(fault_help(msg!("knob-sizes-for-three", text = shorten(text)), msg!("knob-sizes-for-three-help")));
    }
    let (mut sizes, mut remark): (SizesByOp, _) = ([const { None }; 3], None);
    for (op, part) in parts.iter().enumerate() {
        let (of_op, note) = if part.is_empty() && parts.len() > 1 {
            (vec![BlockSize { bytes: 4096, share_pct: 100 }], None)
        } else {
            parse(part)?
        };
        sizes[op] = Some(of_op);
        remark = remark.or(note);
    }
    Ok((sizes, remark))
}

pub(crate) fn parse_bs(text: &str) -> Result<(SizesByOp, Option<Message>), Fault> {
    by_op(text, |part| {
        let (bytes, note) = parse_block(part)?;
        Ok((vec![BlockSize { bytes, share_pct: 100 }], note))
    })
}

/// `chunk`, `stripe`: as long as a part of the array; `None`: a size.
pub(crate) fn parse_block_of(text: &str) -> Option<BlockOf> {
    match text.trim() {
        "chunk" => Some(BlockOf::Chunk),
        "stripe" => Some(BlockOf::Stripe),
        _ => None,
    }
}

/// Level of an array; `none`: the targets stay as they are.
pub(crate) fn parse_level(text: &str) -> Result<Option<MadeLevel>, Fault> {
    const NONE: &str = "none";
    let text = text.trim();
    match MadeLevel::from_word(text) {
        Some(level) => Ok(Some(level)),
        None if text == NONE => Ok(None),
        None => {
            let made = |maker: ArrayMaker| Level::ALL.map(|level| MadeLevel { maker, level }.to_string());
            let words = [made(ArrayMaker::UserSpace), made(ArrayMaker::LinuxMd)].concat();
            let words: Vec<&str> = words.iter().map(String::as_str).chain([NONE]).collect();
            Err(fault_help(msg!("array-level", word = shorten(text)), advice(text, &words)))
        }
    }
}

/// Speed at which a member is rebuilt, bytes a second; the inner `None`: as fast as can be. `none`: nothing is rebuilt.
pub(crate) fn parse_rebuild(text: &str) -> Result<Option<Option<u64>>, Fault> {
    const NONE: &str = "none";
    match text.trim() {
        NONE => Ok(None),
        text => match Rebuild::parse_speed(text) {
            Some(speed) => Ok(Some(speed)),
            None => {
                Err(fault_help(msg!("knob-rebuild-speed", text = shorten(text)), advice(text, &[Rebuild::FULL, NONE])))
            }
        },
    }
}

/// Bytes of an array's chunk.
pub(crate) fn parse_chunk(text: &str) -> Result<u64, Fault> {
    let (bytes, _) = size_bytes(text, REGION_BYTES_MAX)?;
    match Layout::new(Level::Raid0, Level::Raid0.members_min(), bytes) {
        Ok(layout) => Ok(layout.chunk_bytes()),
        Err(_) => Err(fault_help(msg!("array-chunk", text = shorten(text)), msg!("array-chunk-help"))),
    }
}

/// `4k/60:64k/40`; entries without a share divide what is left, as in fio.
pub(crate) fn parse_bssplit(text: &str) -> Result<(SizesByOp, Option<Message>), Fault> {
    by_op(text, parse_split)
}

fn parse_split(text: &str) -> Result<(Vec<BlockSize>, Option<Message>), Fault> {
    const EXAMPLE: Message = msg!("knob-bssplit-help");
    let mut entries: Vec<(u32, Option<u8>)> = Vec::new();
    let mut remark = None;
    for part in text.split(':').map(str::trim) {
        let (size, share) = part.split_once('/').unwrap_or((part, ""));
        let (bytes, note) = parse_block(size)?;
        remark = remark.or(note);
        let share = if share.trim().is_empty() { None } else { Some(percent(share)?) };
        if entries.iter().any(|(b, _)| *b == bytes) {
            return Err(fault_help(msg!("knob-split-twice", bytes = bytes.to_string()), EXAMPLE));
        }
        entries.push((bytes, share));
        if entries.len() > 64 {
            return Err(fault(msg!("knob-split-too-long")));
        }
    }
    let given: u32 = entries.iter().filter_map(|(_, s)| *s).map(u32::from).sum();
    let open = entries.iter().filter(|(_, s)| s.is_none()).count() as u32;
    if given > 100 || (open == 0 && given != 100) {
        return Err(fault_help(msg!("knob-split-sum", sum = Quantity::pct(given.into())), EXAMPLE));
    }
    if open > 0 && !(100 - given).is_multiple_of(open) {
        return Err(fault_help(
            msg!("knob-split-rest", rest = Quantity::pct((100 - given).into()), sizes = open),
            EXAMPLE,
        ));
    }
    let rest = (100 - given).checked_div(open).unwrap_or(0) as u8;
    let sizes = entries.into_iter().map(|(bytes, s)| BlockSize { bytes, share_pct: s.unwrap_or(rest) });
    Ok((sizes.filter(|b| b.share_pct > 0).collect(), remark))
}

/// `1k-4k`: from the smallest to the largest size.
pub(crate) fn parse_bsrange(text: &str) -> Result<(u32, u32), Fault> {
    let example = || msg!("knob-bsrange-help");
    let mut ranges = text.split(',').map(str::trim);
    let first = ranges.next().unwrap_or_default();
    if ranges.any(|other| other != first) {
        return Err(fault_help(msg!("knob-range-per-direction"), example()));
    }
    let (min, max) = first
        .split_once(['-', ':'])
        .ok_or_else(|| fault_help(msg!("knob-not-a-range", text = shorten(text)), example()))?;
    let (min, max) = (parse_block(min)?.0, parse_block(max)?.0);
    if min > max {
        return Err(fault_help(msg!("knob-not-a-range", text = shorten(text)), example()));
    }
    Ok((min, max))
}

/// `random`, `zipf:1.2`, `hotspot:90/10`, fio's zones and lists; its two-zone `zoned:90/10:10/90` is the same as a hotspot.
pub(crate) fn parse_distribution(text: &str) -> Result<Distribution, Fault> {
    const KINDS: [&str; 6] = ["random", "zipf", "hotspot", "zoned", "zoned_abs", "sequence"];
    const WORDS: [&str; 4] = ["random", "zipf:1.2", "hotspot:90/10", "zoned:50/5:30/15:20/80"];
    let zipf_help = || msg!("knob-zipf-help");
    let text = text.trim();
    let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
    match kind {
        "random" if rest.is_empty() => Ok(Distribution::Pattern(Pattern::Random)),
        "zipf" => {
            let theta: f64 = rest
                .parse()
                .map_err(|_| fault_help(msg!("knob-not-an-exponent", text = shorten(rest)), zipf_help()))?;
            // Above 10 all I/O hits one block, and the generator's powers underflow.
            if theta.is_finite() && theta > 0.0 && theta <= 10.0 {
                Ok(Distribution::Pattern(Pattern::Zipf { theta }))
            } else {
                Err(fault_help(msg!("knob-zipf-range"), zipf_help()))
            }
        }
        "hotspot" => parse_hotspot(rest).map(Distribution::Pattern),
        "zoned" => parse_zones(rest, false).map(as_hotspot),
        "zoned_abs" => parse_zones(rest, true).map(Distribution::Zones),
        "sequence" => {
            let blocks: Vec<u64> = rest.split(',').map(whole).collect::<Result<_, _>>()?;
            if blocks.len() > LIST_MAX {
                return Err(fault_help(msg!("knob-list-too-long", max = LIST_MAX), msg!("knob-list-too-long-help")));
            }
            Ok(Distribution::List(blocks))
        }
        "pareto" | "normal" => Err(refused_distribution(kind)),
        _ => {
            let help = did_you_mean(kind, KINDS).unwrap_or_else(|| advice("", &WORDS));
            Err(fault_help(msg!("knob-unknown-distribution", text = shorten(text)), help))
        }
    }
}

/// fio's most zones, and blocks of a list.
const ZONES_MAX: usize = 256;
const LIST_MAX: usize = 256;

/// Two zones that cover the region are a hotspot.
fn as_hotspot(zones: Vec<AccessZone>) -> Distribution {
    match zones[..] {
        [AccessZone { access_pct, space: ZoneSpace::Pct(space_pct) }, _]
            if zones.len() == 2 && (1..=99).contains(&access_pct) && (1..=99).contains(&space_pct) =>
        {
            Distribution::Pattern(Pattern::Hotspot { access_pct, space_pct })
        }
        _ => Distribution::Zones(zones),
    }
}

/// `50/5:30/15:20/80`, percent of the I/Os and of the space; `60/1g:40/0` with sizes, of which the last may be 0, the rest. A
/// space that is left out is the rest.
fn parse_zones(text: &str, is_absolute: bool) -> Result<Vec<AccessZone>, Fault> {
    let example = || if is_absolute { msg!("knob-zoned-abs-help") } else { msg!("knob-zoned-help") };
    let bad = || fault_help(msg!("knob-not-zones", text = shorten(text)), example());
    if text.contains(',') {
        return Err(fault_help(msg!("knob-zones-per-direction"), example()));
    }
    let parts: Vec<&str> = text.split(':').collect();
    if parts.len() > ZONES_MAX {
        return Err(bad());
    }
    let mut zones = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let (access, space) = part.split_once('/').ok_or_else(bad)?;
        let access_pct = percent(access)?;
        let is_last = at + 1 == parts.len();
        let space = match (is_absolute, space.trim()) {
            (true, "" | "0") if is_last => ZoneSpace::Bytes(None),
            (true, size) => ZoneSpace::Bytes(Some(size_bytes(size, REGION_BYTES_MAX)?.0).filter(|bytes| *bytes > 0)),
            (false, "") if is_last => {
                let given: u32 = zones.iter().map(|zone: &AccessZone| zone.space.pct()).sum();
                ZoneSpace::Pct(100_u32.saturating_sub(given) as u8)
            }
            (false, pct) => ZoneSpace::Pct(percent(pct)?),
        };
        if space == ZoneSpace::Bytes(None) && !is_last {
            return Err(bad());
        }
        zones.push(AccessZone { access_pct, space });
    }
    let sum = |of: fn(&AccessZone) -> u32| zones.iter().map(of).sum::<u32>();
    let whole_space = is_absolute || sum(|zone| zone.space.pct()) == 100;
    if sum(|zone| zone.access_pct.into()) != 100 || !whole_space || zones.iter().any(|z| z.space == ZoneSpace::Pct(0)) {
        return Err(fault_help(msg!("knob-zones-sum", text = shorten(text)), example()));
    }
    Ok(zones)
}

fn refused_distribution(kind: &str) -> Fault {
    fault_help(msg!("knob-refused-distribution", kind = kind.to_owned()), msg!("knob-refused-distribution-help"))
}

fn parse_hotspot(text: &str) -> Result<Pattern, Fault> {
    let example = || msg!("knob-hotspot-help");
    let (access, space) =
        text.split_once('/').ok_or_else(|| fault_help(msg!("knob-not-a-hotspot", text = shorten(text)), example()))?;
    let (access_pct, space_pct) = (percent(access)?, percent(space)?);
    if (1..=99).contains(&access_pct) && (1..=99).contains(&space_pct) {
        Ok(Pattern::Hotspot { access_pct, space_pct })
    } else {
        Err(fault_help(msg!("knob-hotspot-range"), example()))
    }
}

/// `75%` of what a closed loop gave: 1 to [`RATE_SHARE_PCT_MAX`].
pub(crate) fn parse_rate_share(text: &str) -> Result<u16, Fault> {
    let example = || msg!("knob-rate-share-help");
    let digits = text.trim().trim_end_matches('%').trim();
    let pct = whole(digits).map_err(|f| Fault { help: Some(example()), ..f })?;
    let fits = u16::try_from(pct).ok().filter(|p| (1..=RATE_SHARE_PCT_MAX).contains(p));
    let text = || format!("{pct}%");
    fits.ok_or_else(|| fault_help(msg!("knob-share-out-of-range", text = text(), max = RATE_SHARE_PCT_MAX), example()))
}

/// `10s@5k, 2s@40k, 5s@0, 10s@5k-40k`: for how long at which rate; with `%` of what a closed loop gave.
pub(crate) fn parse_stages(text: &str) -> Result<AskedStages, Fault> {
    let bad = |part: &str| fault_help(msg!("knob-stage", text = shorten(part)), msg!("knob-stage-help"));
    let (mut stages, mut shares) = (Vec::new(), 0);
    for part in text.split(',').map(str::trim) {
        let (length, rates) = part.split_once('@').ok_or_else(|| bad(part))?;
        let length_ns = duration_ns(length, RUNTIME_MAX_NS)?;
        if length_ns == 0 || !length_ns.is_multiple_of(STAGE_UNIT_NS) {
            let unit = Quantity::duration_ns(STAGE_UNIT_NS);
            return Err(fault_help(
                msg!("knob-stage-length", text = shorten(part), unit = unit),
                msg!("knob-stage-help"),
            ));
        }
        let (from, to) = rates.split_once('-').unwrap_or((rates, rates));
        shares += [from, to].iter().filter(|rate| rate.trim().ends_with('%')).count();
        let rate = |text: &str| match text.trim() {
            "0" | "0%" => Ok(0.0),
            text if text.ends_with('%') => parse_rate_share(text).map(f64::from),
            text => rate_iops(text, RATE_IOPS_MAX),
        };
        stages.push((length_ns, rate(from)?, rate(to)?));
    }
    // A gap has no unit of its own.
    let gaps = stages.iter().flat_map(|(_, from, to)| [from, to]).filter(|rate| **rate == 0.0).count();
    let is_share = shares > 0;
    let asked = AskedStages { is_share, stages };
    if is_share && shares + gaps < 2 * asked.stages.len() {
        return Err(fault_help(msg!("knob-stage-units"), msg!("knob-stage-help")));
    }
    if asked.stages.len() > STAGES_MAX || asked.length_ns() > RUNTIME_MAX_NS {
        return Err(fault_help(msg!("knob-stages-many", max = STAGES_MAX), msg!("knob-stage-help")));
    }
    if asked.mean() <= 0.0 {
        return Err(fault_help(msg!("knob-stages-of-nothing"), msg!("knob-stage-help")));
    }
    Ok(asked)
}

/// `40%` of the most reads or writes alone, from none on.
pub(crate) fn parse_pair_share(text: &str) -> Result<u16, Fault> {
    match text.trim().strip_suffix('%').map(str::trim) {
        Some("0") => Ok(0),
        Some(_) => parse_rate_share(text),
        None => Err(fault_help(msg!("knob-pair-share", text = shorten(text)), msg!("knob-rate-share-help"))),
    }
}

/// `p99<=1ms`, `lat<=200us,p99<=1ms`: goals as everywhere, of latencies alone.
pub(crate) fn parse_latency_goal(text: &str) -> Result<LatencyGoal, Fault> {
    let goal = Goal::parse(text).map_err(|e| Fault { message: e.message, help: e.help })?;
    LatencyGoal::of(&goal)
        .ok_or_else(|| fault_help(msg!("knob-goal-asks-rate", text = shorten(text)), msg!("knob-goal-asks-rate-help")))
}

/// `TxQ`: threads x queue depth.
pub(crate) fn parse_load(text: &str) -> Result<(u32, u32), Fault> {
    let example = || msg!("knob-load-help");
    let text = text.trim();
    let (threads, depth) = text
        .split_once(['x', 'X'])
        .ok_or_else(|| fault_help(msg!("knob-not-a-load", text = shorten(text)), example()))?;
    let named = |what: Message, f: Fault| Fault {
        message: msg!("what-and-why", what = what, why = f.message),
        help: Some(example()),
    };
    Ok((
        bounded(threads, 1, THREADS_MAX).map_err(|f| named(msg!("knob-load-threads"), f))?,
        bounded(depth, 1, QUEUE_DEPTH_MAX).map_err(|f| named(msg!("knob-load-depth"), f))?,
    ))
}

/// Floor and budget of the measured time.
pub(crate) type Span = (u64, u64);

/// `auto` is this: long enough for an interval, short enough for a ladder.
pub(crate) const RUNTIME_AUTO: Span = (2_000_000_000, 10_000_000_000);

/// `30s` (fixed), `2s..10s` (until the interval is narrow, between floor and budget) or `auto` = `2s..10s`.
pub(crate) fn parse_runtime(text: &str) -> Result<Span, Fault> {
    let text = text.trim();
    if text == "auto" {
        return Ok(RUNTIME_AUTO);
    }
    let (floor, budget) = match text.split_once("..") {
        Some((floor, budget)) => (duration_ns(floor, RUNTIME_MAX_NS)?, duration_ns(budget, RUNTIME_MAX_NS)?),
        None => {
            let fixed = duration_ns(text, RUNTIME_MAX_NS)?;
            (fixed, fixed)
        }
    };
    if floor == 0 || budget == 0 {
        return Err(fault_help(msg!("knob-no-runtime"), msg!("knob-no-runtime-help")));
    }
    if floor > budget {
        return Err(fault_help(msg!("knob-runtime-order"), msg!("knob-runtime-order-help")));
    }
    Ok((floor, budget))
}

/// An engine, and a remark where fio's word stands for another call of the same kind.
pub(crate) fn parse_engine(text: &str) -> Result<(EngineName, Option<Message>), Fault> {
    let text = text.trim();
    if let Some(name) = EngineName::ALL.into_iter().find(|e| e.as_str() == text) {
        return Ok((name, None));
    }
    // No engine to choose: loads of files have it, and their steps say so when they are read again.
    if text == EngineName::Files.as_str() {
        return Ok((EngineName::Files, None));
    }
    if FIO_SYNCHRONOUS.contains(&text) {
        return Ok((EngineName::Psync, Some(msg!("knob-engine-as-psync", engine = text.to_owned()))));
    }
    let words: Vec<&str> = EngineName::ALL.iter().map(|e| e.as_str()).collect();
    let near = did_you_mean(text, words.iter().copied());
    let all = msg!("knob-engines", engines = Arg::names(words, Join::Comma));
    let help = Arg::list(near.into_iter().chain([all]), Join::Sentences);
    Err(fault_help(msg!("knob-unknown-engine", text = shorten(text)), msg!("several-sentences", list = help)))
}

/// fio's other engines of one call per I/O: lseek with read and write, and the vectored calls, with one vector each.
const FIO_SYNCHRONOUS: [&str; 4] = ["sync", "vsync", "pvsync", "pvsync2"];

pub(crate) fn parse_mode(text: &str) -> Result<Mode, Fault> {
    let words = ["interrupt", "iopoll", "sqpoll"];
    [Mode::Interrupt, Mode::Iopoll, Mode::Sqpoll]
        .into_iter()
        .find(|m| m.as_str() == text.trim())
        .ok_or_else(|| fault_help(msg!("knob-unknown-mode", text = shorten(text)), advice(text, &words)))
}

pub(crate) fn parse_rate_process(text: &str) -> Result<RateProcess, Fault> {
    match text.trim() {
        "fixed" | "linear" => Ok(RateProcess::Fixed),
        "poisson" => Ok(RateProcess::Poisson),
        other => Err(fault_help(
            msg!("knob-unknown-process", text = shorten(other)),
            advice(other, &["fixed", "linear", "poisson"]),
        )),
    }
}

pub(crate) fn parse_spread(text: &str) -> Result<Spread, Fault> {
    let words = Spread::ALL.map(Spread::as_str);
    let found = Spread::ALL.into_iter().find(|spread| spread.as_str() == text.trim());
    found.ok_or_else(|| fault_help(msg!("knob-unknown-spread", text = shorten(text)), advice(text, &words)))
}

pub(crate) fn parse_placement(text: &str) -> Result<Placement, Fault> {
    match text.trim() {
        "unpinned" => Ok(Placement::Unpinned),
        "cores" => Ok(Placement::Cores),
        "smt" => Ok(Placement::Smt),
        "local" => Ok(Placement::Local),
        "remote" => Ok(Placement::Remote),
        list if list.starts_with(|c: char| c.is_ascii_digit()) => cpu_list(list).map(Placement::Cpus),
        other => {
            const WORDS: [&str; 5] = ["unpinned", "cores", "smt", "local", "remote"];
            let all = || msg!("knob-placements", words = Arg::names(WORDS, Join::Comma));
            let help = did_you_mean(other, WORDS).unwrap_or_else(all);
            Err(fault_help(msg!("knob-unknown-placement", text = shorten(other)), help))
        }
    }
}

/// Highest number of a NUMA node that a list may name: the kernel's own bound.
const NODE_MAX: u32 = 1_023;

/// NUMA nodes, as CPUs are listed.
pub(crate) fn parse_nodes(text: &str) -> Result<Vec<u32>, Fault> {
    let nodes =
        cpu_list(text).map_err(|_| fault_help(msg!("knob-nodes", text = shorten(text)), msg!("knob-nodes-help")))?;
    match nodes.iter().find(|node| **node > NODE_MAX) {
        Some(node) => Err(fault_help(msg!("knob-nodes", text = node.to_string()), msg!("knob-nodes-help"))),
        None => Ok(nodes),
    }
}

/// fio's `numa_mem_policy`: `bind:0`, `interleave:0-1`, `prefer:1`, `local`, `default`.
pub(crate) fn parse_memory_policy(text: &str) -> Result<MemoryPolicy, Fault> {
    let unknown = || fault_help(msg!("knob-memory-policy", text = shorten(text)), msg!("knob-memory-policy-help"));
    let (kind, nodes) = match text.trim().split_once(':') {
        Some((kind, nodes)) => (kind, Some(parse_nodes(nodes)?)),
        None => (text.trim(), None),
    };
    match (kind, nodes) {
        ("default", None) => Ok(MemoryPolicy::Inherited),
        ("local", None) => Ok(MemoryPolicy::Local),
        ("bind", Some(nodes)) => Ok(MemoryPolicy::Bind { nodes }),
        ("interleave", Some(nodes)) => Ok(MemoryPolicy::Interleave { nodes }),
        ("prefer", Some(nodes)) => match nodes[..] {
            [node] => Ok(MemoryPolicy::Prefer { node }),
            _ => Err(unknown()),
        },
        _ => Err(unknown()),
    }
}

/// What t/io_uring of fio's repository hands over and waits for per call, where it is not told otherwise.
const T_IO_URING_BATCH: u32 = 32;

/// The most I/Os handed to the kernel, and the fewest completions waited for, per call; `None`: as the pace asks.
pub(crate) fn parse_batching(text: &str) -> Result<(Option<u32>, Option<u32>), Fault> {
    match text.trim() {
        "adaptive" => Ok((None, None)),
        "single" => Ok((Some(1), Some(1))),
        "whole" => Ok((Some(QUEUE_DEPTH_MAX), Some(1))),
        "t/io_uring" => Ok((Some(T_IO_URING_BATCH), Some(T_IO_URING_BATCH))),
        other => {
            const WORDS: [&str; 4] = ["adaptive", "single", "whole", "t/io_uring"];
            let all = || msg!("knob-batchings", words = Arg::names(WORDS, Join::Comma));
            let help = did_you_mean(other, WORDS).unwrap_or_else(all);
            Err(fault_help(msg!("knob-unknown-batching", text = shorten(other)), help))
        }
    }
}

/// `20%`: a share of the target, 1 to 100.
pub(crate) fn parse_footprint(text: &str) -> Result<u8, Fault> {
    match percent(text)? {
        0 => Err(fault_help(msg!("knob-no-size"), msg!("knob-no-share-help"))),
        pct => Ok(pct),
    }
}

pub(crate) fn parse_precondition(text: &str) -> Result<Precondition, Fault> {
    let words = Precondition::ALL.map(Precondition::as_str);
    Precondition::ALL
        .into_iter()
        .find(|p| p.as_str() == text.trim())
        .ok_or_else(|| fault_help(msg!("knob-unknown-precondition", text = shorten(text)), advice(text, &words)))
}

/// A means of purging; yes stands for the best one, no for none.
pub(crate) fn parse_purge(text: &str) -> Result<Option<PurgeMeans>, Fault> {
    if let Ok(wanted) = flag(text) {
        return Ok(wanted.then_some(PurgeMeans::Best));
    }
    let words = PurgeMeans::ALL.map(PurgeMeans::as_str);
    let found = PurgeMeans::ALL.into_iter().find(|m| m.as_str() == text.trim());
    let unknown = || fault_help(msg!("knob-unknown-purge", text = shorten(text)), advice(text, &words));
    found.map(Some).ok_or_else(unknown)
}

/// fio's other checks: here all blocks carry a CRC-32C.
const FIO_CHECKS: [&str; 19] = [
    "md5",
    "crc64",
    "crc32c-intel",
    "crc32",
    "crc16",
    "crc7",
    "xxhash",
    "sha512",
    "sha256",
    "sha1",
    "sha3-224",
    "sha3-256",
    "sha3-384",
    "sha3-512",
    "meta",
    "pattern",
    "pattern_hdr",
    "xxh64",
    "xxh3",
];

/// Whether data is verified, and in jobs of fio a remark where its word stands for another check.
pub(crate) fn parse_verify(text: &str, as_fio: bool) -> Result<(Option<Verify>, Option<Message>), Fault> {
    match text.trim() {
        "crc32c" => Ok((Some(Verify::Crc32c), None)),
        "none" | "0" | "false" => Ok((None, None)),
        word if as_fio && FIO_CHECKS.contains(&word) => {
            Ok((Some(Verify::Crc32c), Some(msg!("knob-verify-as-crc32c", word = word.to_owned()))))
        }
        other => {
            Err(fault_help(msg!("knob-unsupported-verify", text = shorten(other)), advice("", &["crc32c", "none"])))
        }
    }
}

/// Longest pattern of written data, in bytes, as in fio.
const FILL_BYTES_MAX: usize = 512;

/// `0xdeadbeef`, `"text"`, or a number as 32 bits: the bytes in the order in which they are written.
pub(crate) fn parse_fill(text: &str) -> Result<Vec<u8>, Fault> {
    let text = text.trim();
    let bad = || fault_help(msg!("knob-not-a-fill", text = shorten(text)), msg!("knob-not-a-fill-help"));
    let bytes = if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let even = if hex.len().is_multiple_of(2) { hex.to_owned() } else { format!("0{hex}") };
        let pairs = even.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).ok());
        pairs.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect::<Option<Vec<u8>>>().ok_or_else(bad)?
    } else if let Some(quoted) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        quoted.as_bytes().to_vec()
    } else {
        let number =
            text.parse::<i64>().ok().and_then(|n| i32::try_from(n).ok().or(u32::try_from(n).ok().map(|n| n as i32)));
        let bytes = number.ok_or_else(bad)?.to_le_bytes().to_vec();
        // A small number is one byte, over and over.
        if bytes[1..] == [0; 3] { vec![bytes[0]] } else { bytes }
    };
    if bytes.is_empty() || bytes.len() > FILL_BYTES_MAX { Err(bad()) } else { Ok(bytes) }
}
