//! Knobs whose value has a grammar of its own.

use fathom_message::{Arg, Join, Message, Quantity, msg};
use fathom_units::{advice, did_you_mean};

use crate::goal::{Goal, LatencyGoal};
use crate::knobs::value::{
    bounded, cpu_list, duration_ns, fault, fault_help, flag, percent, shorten, size_bytes, whole,
};
use crate::knobs::{BLOCK_BYTES_MAX, Fault, QUEUE_DEPTH_MAX, RATE_SHARE_PCT_MAX, RUNTIME_MAX_NS, THREADS_MAX};
use crate::read_write::ReadWrite;
use crate::role::{Precondition, PurgeMeans};
use crate::step::{BlockSize, EngineName, Mode, Pattern, Placement, RateProcess, Spread, Verify};

/// fio's words of `rw`, with its second one for `rw` itself.
fn rw_words() -> Vec<&'static str> {
    let mut words: Vec<&str> = ReadWrite::ALL.iter().map(|rw| rw.as_str()).collect();
    words.push("readwrite");
    words
}

pub(crate) fn parse_rw(text: &str) -> Result<ReadWrite, Fault> {
    let text = text.trim();
    if let Some(found) = ReadWrite::from_word(text) {
        return Ok(found);
    }
    if let Some((word, _)) = text.split_once(':').filter(|(w, _)| ReadWrite::from_word(w).is_some()) {
        return Err(fault_help(
            msg!("knob-sequence-modifier", text = shorten(text)),
            msg!("knob-sequence-modifier-help", word = word.to_owned()),
        ));
    }
    Err(fault_help(msg!("knob-unknown-workload", text = shorten(text)), advice(text, &rw_words())))
}

/// One block size: at most [`BLOCK_BYTES_MAX`].
pub(crate) fn parse_block(text: &str) -> Result<(u32, Option<Message>), Fault> {
    let (bytes, note) = size_bytes(text, u64::from(BLOCK_BYTES_MAX))?;
    if bytes == 0 {
        return Err(fault_help(msg!("knob-empty-block"), msg!("knob-empty-block-help")));
    }
    Ok((bytes as u32, note))
}

pub(crate) fn parse_bs(text: &str) -> Result<(Vec<BlockSize>, Option<Message>), Fault> {
    let mut parts = text.split(',').map(str::trim);
    let first = parts.next().unwrap_or_default();
    let (bytes, note) = parse_block(first)?;
    for other in parts {
        if parse_block(other)?.0 != bytes {
            return Err(fault_help(
                msg!("knob-bs-per-direction", text = shorten(text)),
                msg!("knob-bs-per-direction-help"),
            ));
        }
    }
    Ok((vec![BlockSize { bytes, share_pct: 100 }], note))
}

/// `4k/60:64k/40`; entries without a share divide what is left, as in fio.
pub(crate) fn parse_bssplit(text: &str) -> Result<(Vec<BlockSize>, Option<Message>), Fault> {
    const EXAMPLE: Message = msg!("knob-bssplit-help");
    if text.contains(',') {
        return Err(fault_help(msg!("knob-split-per-direction"), EXAMPLE));
    }
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

/// `random`, `zipf:1.2`, `hotspot:90/10`; fio's two-zone `zoned:90/10:10/90` is the same hotspot.
pub(crate) fn parse_distribution(text: &str) -> Result<Pattern, Fault> {
    const KINDS: [&str; 3] = ["random", "zipf", "hotspot"];
    const WORDS: [&str; 3] = ["random", "zipf:1.2", "hotspot:90/10"];
    let zipf_help = || msg!("knob-zipf-help");
    let text = text.trim();
    let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
    match kind {
        "random" if rest.is_empty() => Ok(Pattern::Random),
        "zipf" => {
            let theta: f64 = rest
                .parse()
                .map_err(|_| fault_help(msg!("knob-not-an-exponent", text = shorten(rest)), zipf_help()))?;
            // Above 10 all I/O hits one block, and the generator's powers underflow.
            if theta.is_finite() && theta > 0.0 && theta <= 10.0 {
                Ok(Pattern::Zipf { theta })
            } else {
                Err(fault_help(msg!("knob-zipf-range"), zipf_help()))
            }
        }
        "hotspot" => parse_hotspot(rest),
        "zoned" => match rest.split_once(':') {
            Some((hot, cold)) => {
                let (Pattern::Hotspot { access_pct, space_pct }, Pattern::Hotspot { access_pct: a, space_pct: s }) =
                    (parse_hotspot(hot)?, parse_hotspot(cold)?)
                else {
                    return Err(refused_distribution("zoned"));
                };
                if access_pct + a == 100 && space_pct + s == 100 {
                    Ok(Pattern::Hotspot { access_pct, space_pct })
                } else {
                    Err(refused_distribution("zoned"))
                }
            }
            None => Err(refused_distribution("zoned")),
        },
        "pareto" | "normal" | "zoned_abs" => Err(refused_distribution(kind)),
        _ => {
            let help = did_you_mean(kind, KINDS).unwrap_or_else(|| advice("", &WORDS));
            Err(fault_help(msg!("knob-unknown-distribution", text = shorten(text)), help))
        }
    }
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

pub(crate) fn parse_verify(text: &str) -> Result<Option<Verify>, Fault> {
    match text.trim() {
        "crc32c" => Ok(Some(Verify::Crc32c)),
        "none" | "0" | "false" => Ok(None),
        other => {
            Err(fault_help(msg!("knob-unsupported-verify", text = shorten(other)), advice("", &["crc32c", "none"])))
        }
    }
}
