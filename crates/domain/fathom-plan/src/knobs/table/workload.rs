//! What is done to the targets.

use fathom_message::msg;
use fathom_units::{advice, format_block};

use super::super::parse;
use super::super::spec::{Fio, Flag, Kind, KnobSpec, knob};
use super::super::value::{fault_help, flag, percent, size_bytes};
use super::super::{DEVICES_MAX, RANKS_MAX, REGION_BYTES_MAX, value};
use crate::durability::{SyncKind, WriteThrough};
use crate::io_order::{numbers, zones_word};
use crate::role::NewFile;
use crate::step::{BlockSize, EngineName, Pattern, Repeats, Step, Verify};

pub(super) static ROWS: &[KnobSpec] = &[
    knob(
        "rw",
        Kind::Word,
        "randread",
        msg!("knob-rw"),
        |k, v| {
            let (rw, modifier) = parse::parse_rw(v)?;
            (k.rw, k.modifier) = (Some(rw), modifier);
            Ok(())
        },
        |s| Some(rw_word(s)),
    )
    .aliases(&["readwrite"])
    .fio(Fio::SAME.aliases(&["readwrite"]).value(fio_rw))
    .flag(Flag::new("rw").aliases(&["readwrite"]).default("randread")),
    knob(
        "read_pct",
        Kind::Percent,
        "70",
        msg!("knob-read-pct"),
        |k, v| {
            k.read_pct = Some(percent(v)?);
            k.read_pct_needs_mix = false;
            Ok(())
        },
        // rw and rwmixread say it.
        |_| None,
    ),
    knob(
        "rwmixread",
        Kind::Percent,
        "70",
        msg!("knob-rwmixread"),
        |k, v| {
            k.read_pct = Some(percent(v)?);
            k.read_pct_needs_mix = true;
            Ok(())
        },
        |s| is_mixed(s).then(|| s.workload.mix.read_pct.to_string()),
    )
    .fio(Fio::SAME)
    .flag(Flag::new("read-pct").aliases(&["rwmixread"]).default("50")),
    knob(
        "rwmixwrite",
        Kind::Percent,
        "30",
        msg!("knob-rwmixwrite"),
        |k, v| {
            k.read_pct = Some(100 - percent(v)?);
            k.read_pct_needs_mix = true;
            Ok(())
        },
        |_| None,
    )
    .fio(Fio::SAME.never_written()),
    knob(
        "bs",
        Kind::Size,
        "4k",
        msg!("knob-bs"),
        |k, v| {
            k.size_range = None;
            k.arrangement.block = parse::parse_block_of(v);
            if k.arrangement.block.is_some() {
                [k.block_sizes, k.write_sizes, k.trim_sizes] = [const { None }; 3];
                return Ok(());
            }
            let (sizes, note) = parse::parse_bs(v)?;
            [k.block_sizes, k.write_sizes, k.trim_sizes] = sizes;
            k.remark(note);
            Ok(())
        },
        |s| by_op(s, false),
    )
    .aliases(&["blocksize", "block_size"])
    .fio(Fio::SAME.aliases(&["blocksize"]))
    .flag(Flag::new("bs").default("4k")),
    knob(
        "bssplit",
        Kind::Split,
        "4k/60:64k/40",
        msg!("knob-bssplit"),
        |k, v| {
            let (sizes, note) = parse::parse_bssplit(v)?;
            k.arrangement.block = None;
            [k.block_sizes, k.write_sizes, k.trim_sizes] = sizes;
            k.size_range = None;
            k.remark(note);
            Ok(())
        },
        |s| by_op(s, true),
    )
    .fio(Fio::SAME)
    .flag(Flag::new("bssplit")),
    knob(
        "norandommap",
        Kind::Switch,
        "1",
        msg!("knob-norandommap"),
        |k, v| {
            k.norandommap = Some(flag(v)?);
            Ok(())
        },
        |s| repeats(s).then(|| "1".to_owned()),
    )
    .fio(Fio::SAME.bare(repeats)),
    knob(
        "random_distribution",
        Kind::Word,
        "zipf:1.2",
        msg!("knob-random-distribution"),
        |k, v| {
            k.distribution = Some(parse::parse_distribution(v)?);
            Ok(())
        },
        |s| match s.workload.pattern {
            Pattern::Zipf { theta } => Some(format!("zipf:{theta}")),
            Pattern::Hotspot { access_pct, space_pct } => Some(format!("hotspot:{access_pct}/{space_pct}")),
            Pattern::Random | Pattern::RandomRepeat | Pattern::Sequential | Pattern::Unknown => parts_of_region(s),
        },
    )
    .aliases(&["distribution"])
    .fio(Fio::SAME.value(fio_distribution))
    .flag(Flag::new("distribution").aliases(&["random_distribution"]).default("random")),
    knob(
        "new_files",
        Kind::Word,
        "allocated",
        msg!("knob-new-files"),
        |k, v| {
            let found = NewFile::ALL.into_iter().find(|state| state.as_str() == v);
            let words = NewFile::ALL.map(NewFile::as_str);
            let unknown = || fault_help(msg!("knob-not-new-files", text = v.to_owned()), advice(v, &words));
            k.new_files = Some(found.ok_or_else(unknown)?);
            Ok(())
        },
        |s| (!s.role.new_file.is_default()).then(|| s.role.new_file.as_str().to_owned()),
    )
    .flag(Flag::new("new_files").aliases(&["new-files"]).default("written")),
    knob(
        "offset",
        Kind::Size,
        "1g",
        msg!("knob-offset"),
        |k, v| {
            if v.trim().ends_with('%') {
                k.offset_pct = Some(percent(v)?).filter(|pct| *pct > 0);
                k.offset_bytes = None;
                return Ok(());
            }
            let (bytes, note) = size_bytes(v, REGION_BYTES_MAX)?;
            k.offset_bytes = Some(bytes);
            k.offset_pct = None;
            k.remark(note);
            Ok(())
        },
        |s| match s.role.offset_pct {
            Some(pct) => Some(format!("{pct}%")),
            None => Some(s.workload.region.offset_bytes).filter(|bytes| *bytes > 0).map(format_block),
        },
    )
    .fio(Fio::SAME.aliases(&["fileoffset"]))
    .flag(Flag::new("offset").default("0")),
    knob(
        "size",
        Kind::Size,
        "2g",
        msg!("knob-size"),
        |k, v| {
            if v.trim().ends_with('%') {
                k.footprint_pct = Some(parse::parse_footprint(v)?);
                k.size_bytes = None;
                return Ok(());
            }
            let (bytes, note) = size_bytes(v, REGION_BYTES_MAX)?;
            if bytes == 0 {
                return Err(fault_help(msg!("knob-no-size"), msg!("knob-no-size-help")));
            }
            k.size_bytes = Some(bytes);
            k.footprint_pct = None;
            k.remark(note);
            Ok(())
        },
        |s| match s.role.footprint_pct {
            Some(pct) => Some(format!("{pct}%")),
            None => s.workload.region.size_bytes.map(format_block),
        },
    )
    .fio(Fio::SAME.with_others().value(fio_size))
    .flag(Flag::new("size")),
    knob(
        "devices",
        Kind::Number,
        "4",
        msg!("knob-devices"),
        |k, v| {
            k.devices = Some(value::bounded(v, 1, DEVICES_MAX)?);
            Ok(())
        },
        |s| s.role.devices.map(|n| n.to_string()),
    ),
    knob(
        "ranks",
        Kind::Number,
        "4",
        msg!("knob-ranks"),
        |k, v| {
            k.ranks = Some(value::bounded(v, 1, RANKS_MAX)?);
            Ok(())
        },
        |s| s.role.ranks.as_ref().map(|ranks| ranks.count.to_string()),
    ),
    knob(
        "buffer_compress_percentage",
        Kind::Percent,
        "50",
        msg!("knob-buffer-compress-percentage"),
        |k, v| {
            k.compress_pct = Some(percent(v)?);
            Ok(())
        },
        |s| Some(s.workload.data.compress_pct).filter(|pct| *pct > 0).map(|pct| pct.to_string()),
    )
    .aliases(&["compress_pct"])
    .fio(Fio::SAME)
    .flag(Flag::new("compress").aliases(&["buffer_compress_percentage"]).default("0")),
    knob(
        "dedupe_percentage",
        Kind::Percent,
        "30",
        msg!("knob-dedupe-percentage"),
        |k, v| {
            k.dedupe_pct = Some(percent(v)?);
            Ok(())
        },
        |s| Some(s.workload.data.dedupe_pct).filter(|pct| *pct > 0).map(|pct| pct.to_string()),
    )
    .aliases(&["dedupe_pct"])
    .fio(Fio::SAME)
    .flag(Flag::new("dedupe").aliases(&["dedupe_percentage"]).default("0")),
    knob(
        "dedupe_mode",
        Kind::Word,
        "working_set",
        msg!("knob-dedupe-mode"),
        |k, v| {
            k.dedupe.has_set = Some(match v.trim() {
                "repeat" => false,
                "working_set" => true,
                other => {
                    let why = msg!("knob-unknown-dedupe-mode", text = value::shorten(other));
                    return Err(fault_help(why, advice(other, &["repeat", "working_set"])));
                }
            });
            Ok(())
        },
        |s| working_set(s).map(|_| "working_set".to_owned()),
    )
    .fio(Fio::SAME),
    knob(
        "dedupe_working_set_percentage",
        Kind::Percent,
        "20",
        msg!("knob-dedupe-working-set"),
        |k, v| {
            k.dedupe.region_pct = Some(value::bounded(v.trim().trim_end_matches('%'), 1, 100)? as u8);
            Ok(())
        },
        |s| working_set(s).map(|(region_pct, _)| region_pct.to_string()),
    )
    .fio(Fio::SAME),
    knob(
        "dedupe_global",
        Kind::Switch,
        "1",
        msg!("knob-dedupe-global"),
        |k, v| {
            k.dedupe.is_shared = Some(flag(v)?);
            Ok(())
        },
        |s| working_set(s).filter(|(_, is_shared)| *is_shared).map(|_| "1".to_owned()),
    )
    .fio(Fio::SAME),
    knob(
        "verify",
        Kind::Word,
        "crc32c",
        msg!("knob-verify"),
        |k, v| {
            let (verify, note) = parse::parse_verify(v, k.packed)?;
            k.verify = Some(verify);
            k.remark(note);
            Ok(())
        },
        |s| {
            s.workload.verify.map(|verify| match verify {
                Verify::Crc32c | Verify::Crc32cWritten => "crc32c".to_owned(),
            })
        },
    )
    .fio(Fio::SAME)
    .flag(Flag::new("verify").default("none")),
    knob(
        "do_verify",
        Kind::Switch,
        "0",
        msg!("knob-do-verify"),
        |k, v| {
            k.checks_written = Some(flag(v)?);
            Ok(())
        },
        |s| s.workload.verify.filter(|verify| !verify.checks()).map(|_| "0".to_owned()),
    )
    .fio(Fio::SAME),
    knob(
        "buffer_pattern",
        Kind::Word,
        "0xdeadbeef",
        msg!("knob-buffer-pattern"),
        |k, v| {
            k.fill = Some(parse::parse_fill(v)?);
            Ok(())
        },
        |s| (!s.workload.fill.is_empty()).then(|| hexadecimal(&s.workload.fill)),
    )
    .aliases(&["verify_pattern"])
    .fio(Fio::SAME.aliases(&["verify_pattern"])),
    knob(
        "zero_buffers",
        Kind::Switch,
        "1",
        msg!("knob-zero-buffers"),
        |k, v| {
            if flag(v)? {
                k.fill = Some(vec![0]);
            }
            Ok(())
        },
        // buffer_pattern says it.
        |_| None,
    )
    .fio(Fio::SAME.never_written()),
    knob(
        "direct",
        Kind::Switch,
        "1",
        msg!("knob-direct"),
        |k, v| {
            k.direct = Some(flag(v)?);
            Ok(())
        },
        |s| Some(u8::from(s.workload.direct).to_string()),
    )
    .fio(Fio::SAME.value(fio_direct))
    .flag(Flag::new("direct").default("1")),
    knob(
        "invalidate",
        Kind::Switch,
        "1",
        msg!("knob-invalidate"),
        |k, v| {
            k.drop_cache = Some(flag(v)?);
            Ok(())
        },
        |s| s.workload.drop_cache.then(|| "1".to_owned()),
    )
    .fio(Fio::SAME.value(fio_invalidate)),
    knob(
        "fsync",
        Kind::Number,
        "1",
        msg!("knob-fsync"),
        |k, v| {
            k.fsync_writes = Some(value::bounded(v, 0, SYNC_WRITES_MAX)?);
            Ok(())
        },
        |s| sync_writes(s, SyncKind::Fsync),
    )
    .fio(Fio::SAME)
    .flag(Flag::new("fsync").default("0")),
    knob(
        "fdatasync",
        Kind::Number,
        "1",
        msg!("knob-fdatasync"),
        |k, v| {
            k.fdatasync_writes = Some(value::bounded(v, 0, SYNC_WRITES_MAX)?);
            Ok(())
        },
        |s| sync_writes(s, SyncKind::Fdatasync),
    )
    .fio(Fio::SAME)
    .flag(Flag::new("fdatasync").default("0")),
    knob(
        "end_fsync",
        Kind::Switch,
        "1",
        msg!("knob-end-fsync"),
        |k, v| {
            k.sync_at_end = Some(flag(v)?);
            Ok(())
        },
        |s| s.workload.durability.at_end.then(|| "1".to_owned()),
    )
    .fio(Fio::SAME.aliases(&["fsync_on_close"]))
    .flag(Flag::new("end_fsync").default("0")),
    knob(
        "uncached",
        Kind::Switch,
        "1",
        msg!("knob-uncached"),
        |k, v| {
            k.priority.is_uncached = Some(flag(v)?);
            Ok(())
        },
        |s| s.workload.priorities.is_uncached.then(|| "1".to_owned()),
    )
    .aliases(&["nocache"])
    .fio(Fio::SAME),
    knob(
        "atomic",
        Kind::Switch,
        "1",
        msg!("knob-atomic"),
        |k, v| {
            k.is_atomic = Some(flag(v)?);
            Ok(())
        },
        |s| s.workload.durability.is_atomic.then(|| "1".to_owned()),
    )
    .fio(Fio::SAME),
    knob(
        "sync",
        Kind::Word,
        "dsync",
        msg!("knob-sync"),
        |k, v| {
            k.write_through = Some(match v.trim() {
                "0" => WriteThrough::None,
                "1" => WriteThrough::Sync,
                word => {
                    let known = WriteThrough::ALL.into_iter().find(|way| way.as_str() == word);
                    known.ok_or_else(|| {
                        fault_help(msg!("knob-sync-word", word = value::shorten(word)), msg!("knob-sync"))
                    })?
                }
            });
            Ok(())
        },
        |s| {
            Some(s.workload.durability.write_through)
                .filter(|w| *w != WriteThrough::None)
                .map(|w| w.as_str().to_owned())
        },
    )
    .fio(Fio::SAME)
    .flag(Flag::new("sync").default("none")),
];

/// Share of the region in percent, and whether it is that of all.
fn working_set(step: &Step) -> Option<(u8, bool)> {
    match step.workload.data.repeats {
        Repeats::WorkingSet { region_pct, is_shared } => Some((region_pct, is_shared)),
        Repeats::Few => None,
    }
}

/// More writes than this between two syncs are no durability.
const SYNC_WRITES_MAX: u32 = 1_000_000_000;

fn sync_writes(step: &Step, kind: SyncKind) -> Option<String> {
    step.workload.durability.sync.filter(|sync| sync.kind == kind).map(|sync| sync.writes.to_string())
}

fn is_mixed(step: &Step) -> bool {
    step.workload.mix.read_pct > 0 && step.workload.mix.write_pct > 0
}

fn repeats(step: &Step) -> bool {
    step.workload.pattern == Pattern::RandomRepeat
}

/// Loads of files are engines in fio, whatever its `rw` says.
fn fio_rw(step: &Step) -> Option<String> {
    step.workload.order.files.is_none().then(|| rw_word(step))
}

/// fio's word with its sequence modifier.
fn rw_word(step: &Step) -> String {
    let (word, order) = (step.workload.read_write(), &step.workload.order);
    match order.runs {
        Some(runs) => format!("{word}:{}", runs.ios),
        None if order.stride_bytes < 0 => format!("{word}:-{}", format_block(order.stride_bytes.unsigned_abs())),
        None if order.stride_bytes > 0 => format!("{word}:{}", format_block(order.stride_bytes.unsigned_abs())),
        None => word.to_string(),
    }
}

/// The sizes of reads, writes and trims, where they are splits or where none is; those that are drawn from a range stand
/// elsewhere.
fn by_op(step: &Step, as_split: bool) -> Option<String> {
    let (workload, order) = (&step.workload, &step.workload.order);
    let is_split = workload.block_sizes.len() > 1
        || [&order.write_sizes, &order.trim_sizes]
            .iter()
            .any(|sizes| sizes.as_ref().is_some_and(|sizes| sizes.len() > 1));
    if order.files.is_some() || order.range.is_some() || is_split != as_split {
        return None;
    }
    let first = &workload.block_sizes;
    let writes = order.write_sizes.as_ref().unwrap_or(first);
    let trims = order.trim_sizes.as_ref().unwrap_or(writes);
    if writes == first && trims == first {
        return Some(split(first));
    }
    let all = if trims == writes { vec![first, writes] } else { vec![first, writes, trims] };
    Some(all.into_iter().map(|sizes| split(sizes)).collect::<Vec<_>>().join(","))
}

fn split(sizes: &[BlockSize]) -> String {
    match sizes {
        [one] => format_block(one.bytes.into()),
        _ => {
            let parts = sizes.iter().map(|b| format!("{}/{}", format_block(b.bytes.into()), b.share_pct));
            parts.collect::<Vec<_>>().join(":")
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}")
}

/// Zones and lists of blocks, in fio's words.
fn parts_of_region(step: &Step) -> Option<String> {
    let order = &step.workload.order;
    let zones = (!order.zones.is_empty()).then(|| zones_word(&order.zones));
    zones.or_else(|| order.list.as_ref().map(|list| format!("sequence:{}", numbers(&list.blocks))))
}

/// fio has no hotspot; two zones are the same.
fn fio_distribution(step: &Step) -> Option<String> {
    match step.workload.pattern {
        Pattern::Zipf { theta } => Some(format!("zipf:{theta}")),
        Pattern::Hotspot { access_pct, space_pct } => {
            Some(format!("zoned:{access_pct}/{space_pct}:{}/{}", 100 - access_pct, 100 - space_pct))
        }
        Pattern::Random | Pattern::RandomRepeat | Pattern::Sequential | Pattern::Unknown => parts_of_region(step),
    }
}

/// fio empties the cache unless it is told otherwise.
fn fio_invalidate(step: &Step) -> Option<String> {
    let has_cache = !matches!(step.engine.name, EngineName::Null | EngineName::Files);
    let keeps = !step.workload.direct && !step.workload.drop_cache && has_cache;
    keeps.then(|| "0".to_owned())
}

/// fio wants a size even where there is nothing to touch.
fn fio_size(step: &Step) -> Option<String> {
    let null = || (step.engine.name == EngineName::Null).then(|| "1g".to_owned());
    step.workload.region.size_bytes.map(format_block).or_else(null)
}

/// fio's passthrough refuses direct=1, though it goes past the page cache all the same.
fn fio_direct(step: &Step) -> Option<String> {
    (!matches!(step.engine.name, EngineName::IoUringCmd | EngineName::Files))
        .then(|| u8::from(step.workload.direct).to_string())
}
