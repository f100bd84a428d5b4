//! In which order and sizes the I/Os of a thread come, beyond their pattern.

use fathom_message::msg;
use fathom_units::{advice, format_block};

use super::super::spec::{Fio, Kind, KnobSpec, knob};
use super::super::value::{bounded, fault_help, flag, percent, share, shorten, size_bytes};
use super::super::{REGION_BYTES_MAX, parse};
use crate::io_order::{SizeRange, StridedZones};
use crate::step::{Pattern, Step};

/// Each region's share of the places is kept while the next is written.
const SPRANDOM_REGIONS_MAX: u32 = 1_000_000;
/// More I/Os than this have no end that anybody sees.
const PASS_IOS_MAX: u32 = u32::MAX;

pub(super) static ROWS: &[KnobSpec] = &[
    knob(
        "bsrange",
        Kind::Word,
        "4k-64k",
        msg!("knob-bsrange"),
        |k, v| {
            let (min_bytes, max_bytes) = parse::parse_bsrange(v)?;
            k.size_range = Some(SizeRange { min_bytes, max_bytes, unaligned: false });
            k.arrangement.block = None;
            (k.block_sizes, k.write_sizes, k.trim_sizes) = (None, None, None);
            Ok(())
        },
        |s| {
            let range = s.workload.order.range?;
            Some(format!("{}-{}", format_block(range.min_bytes.into()), format_block(range.max_bytes.into())))
        },
    )
    .fio(Fio::SAME.aliases(&["blocksize_range"])),
    knob(
        "bs_unaligned",
        Kind::Switch,
        "1",
        msg!("knob-bs-unaligned"),
        |k, v| {
            k.bs_unaligned = Some(flag(v)?);
            Ok(())
        },
        |s| s.workload.order.range.filter(|range| range.unaligned).map(|_| "1".to_owned()),
    )
    .fio(Fio::SAME.aliases(&["blocksize_unaligned"])),
    knob(
        "blockalign",
        Kind::Size,
        "4k",
        msg!("knob-blockalign"),
        |k, v| {
            k.align_bytes = Some(parse::parse_block(v)?.0);
            Ok(())
        },
        |s| s.workload.order.align_bytes.map(|bytes| format_block(bytes.into())),
    )
    .fio(Fio::SAME.aliases(&["ba"]).value(|s| {
        // fio takes the smallest block of a split, Fathom the largest, where neither is told.
        let workload = &s.workload;
        let is_split = workload.block_sizes.len() > 1 && workload.order.follows_pattern();
        let of_split = is_split.then(|| workload.block_bytes_max());
        workload
            .order
            .align_bytes
            .or(of_split)
            .filter(|_| workload.pattern != Pattern::Sequential)
            .map(|bytes| format_block(bytes.into()))
    })),
    knob(
        "rw_sequencer",
        Kind::Word,
        "identical",
        msg!("knob-rw-sequencer"),
        |k, v| {
            k.runs_in_place = Some(match v.trim() {
                "sequential" => false,
                "identical" => true,
                other => {
                    let why = msg!("knob-unknown-sequencer", text = shorten(other));
                    return Err(fault_help(why, advice(other, &["sequential", "identical"])));
                }
            });
            Ok(())
        },
        |s| s.workload.order.runs.filter(|runs| runs.in_place).map(|_| "identical".to_owned()),
    )
    .fio(Fio::SAME),
    knob(
        "percentage_random",
        Kind::Percent,
        "80",
        msg!("knob-percentage-random"),
        |k, v| {
            k.random_pct = Some(percent(v)?);
            Ok(())
        },
        |s| s.workload.order.random_pct.map(|pct| pct.to_string()),
    )
    .fio(Fio::SAME),
    knob(
        "random_sequence_stride",
        Kind::Switch,
        "1",
        msg!("knob-random-sequence-stride"),
        |k, v| {
            k.list_advances = Some(flag(v)?);
            Ok(())
        },
        |s| s.workload.order.list.as_ref().filter(|list| list.advances).map(|_| "1".to_owned()),
    )
    .fio(Fio::SAME),
    knob(
        "zonemode",
        Kind::Word,
        "strided",
        msg!("knob-zonemode"),
        |k, v| {
            k.zoned.strided = Some(match v.trim() {
                "none" => false,
                "strided" => true,
                other => {
                    let why = msg!("knob-unknown-zonemode", text = shorten(other));
                    return Err(fault_help(why, msg!("knob-unknown-zonemode-help")));
                }
            });
            Ok(())
        },
        |s| s.workload.order.strided.map(|_| "strided".to_owned()),
    )
    .fio(Fio::SAME),
    knob(
        "zonesize",
        Kind::Size,
        "256m",
        msg!("knob-zonesize"),
        |k, v| {
            k.zoned.zone_bytes = Some(size_bytes(v, REGION_BYTES_MAX)?.0);
            Ok(())
        },
        |s| zone(s, |zones| zones.zone_bytes),
    )
    .fio(Fio::SAME),
    knob(
        "zonerange",
        Kind::Size,
        "256m",
        msg!("knob-zonerange"),
        |k, v| {
            k.zoned.range_bytes = Some(size_bytes(v, REGION_BYTES_MAX)?.0);
            Ok(())
        },
        |s| zone(s, |zones| zones.range_bytes),
    )
    .fio(Fio::SAME),
    knob(
        "zoneskip",
        Kind::Size,
        "2g",
        msg!("knob-zoneskip"),
        |k, v| {
            k.zoned.skip_bytes = Some(size_bytes(v, REGION_BYTES_MAX)?.0);
            Ok(())
        },
        |s| zone(s, |zones| zones.skip_bytes),
    )
    .fio(Fio::SAME),
    knob(
        "sprandom",
        Kind::Switch,
        "1",
        msg!("knob-sprandom"),
        |k, v| {
            k.sprandom.is_on = Some(flag(v)?);
            Ok(())
        },
        |s| s.workload.order.sprandom.map(|_| "1".to_owned()),
    )
    .fio(Fio::SAME),
    knob(
        "spr_num_regions",
        Kind::Number,
        "100",
        msg!("knob-spr-num-regions"),
        |k, v| {
            k.sprandom.regions = Some(bounded(v, 1, SPRANDOM_REGIONS_MAX)?);
            Ok(())
        },
        |s| s.workload.order.sprandom.map(|spec| spec.regions.to_string()),
    )
    .fio(Fio::SAME),
    knob(
        "spr_op",
        Kind::Word,
        "0.15",
        msg!("knob-spr-op"),
        |k, v| {
            k.sprandom.spare_ppm = Some(((share(v)? * 1e6).round() as u32).max(1));
            Ok(())
        },
        |s| s.workload.order.sprandom.map(|spec| (f64::from(spec.spare_ppm) / 1e6).to_string()),
    )
    .fio(Fio::SAME),
    knob(
        "io_size",
        Kind::Size,
        "1g",
        msg!("knob-io-size"),
        |k, v| {
            if v.trim().ends_with('%') {
                k.pass_pct = Some(parse::parse_footprint(v)?).filter(|pct| *pct < 100);
                k.pass_bytes = None;
                return Ok(());
            }
            k.pass_bytes = Some(size_bytes(v, REGION_BYTES_MAX)?.0).filter(|bytes| *bytes > 0);
            k.pass_pct = None;
            Ok(())
        },
        |s| match s.role.pass_pct {
            Some(pct) => Some(format!("{pct}%")),
            None => s.workload.order.pass_bytes.map(format_block),
        },
    )
    .fio(Fio::SAME.aliases(&["io_limit"]).with_others()),
    knob(
        "number_ios",
        Kind::Number,
        "1000",
        msg!("knob-number-ios"),
        |k, v| {
            k.pass_ios = Some(u64::from(bounded(v, 0, PASS_IOS_MAX)?)).filter(|ios| *ios > 0);
            Ok(())
        },
        |s| s.workload.order.pass_ios.map(|ios| ios.to_string()),
    )
    .fio(Fio::SAME),
    knob(
        "offset_increment",
        Kind::Size,
        "1g",
        msg!("knob-offset-increment"),
        |k, v| {
            k.thread_offset_bytes = Some(size_bytes(v, REGION_BYTES_MAX)?.0);
            Ok(())
        },
        |s| s.workload.order.thread_offset_bytes.map(format_block),
    )
    .fio(
        Fio::SAME
            .with_others()
            .value(|s| s.workload.order.thread_offset_bytes.filter(|bytes| *bytes > 0).map(format_block)),
    ),
];

fn zone(step: &Step, of: fn(StridedZones) -> u64) -> Option<String> {
    step.workload.order.strided.map(|zones| format_block(of(zones)))
}
