//! What holds threads back between their I/Os.

use fathom_message::msg;

use super::super::spec::{Fio, Kind, KnobSpec, knob};
use super::super::value::bounded;
use super::super::{Fault, RUNTIME_MAX_NS, print_duration, value};
use crate::pacing::LatencyTarget;
use crate::step::Step;

/// I/Os between two pauses, and weights, beyond which nothing is held back.
const MANY: u32 = 1_000_000_000;

pub(super) static ROWS: &[KnobSpec] = &[
    knob(
        "thinktime",
        Kind::Time,
        "2ms",
        msg!("knob-thinktime"),
        |k, v| {
            k.think.pause_ns = Some(microseconds(v)?);
            Ok(())
        },
        |s| s.load.pacing.think.map(|think| print_duration(think.pause_ns)),
    )
    .fio(Fio::SAME),
    knob(
        "thinktime_spin",
        Kind::Time,
        "1ms",
        msg!("knob-thinktime-spin"),
        |k, v| {
            k.think.spin_ns = Some(microseconds(v)?);
            Ok(())
        },
        |s| s.load.pacing.think.filter(|think| think.spin_ns > 0).map(|think| print_duration(think.spin_ns)),
    )
    .fio(Fio::SAME),
    knob(
        "thinktime_blocks",
        Kind::Number,
        "8",
        msg!("knob-thinktime-blocks"),
        |k, v| {
            k.think.ios = Some(bounded(v, 1, MANY)?);
            Ok(())
        },
        |s| s.load.pacing.think.filter(|think| think.ios > 1).map(|think| think.ios.to_string()),
    )
    .fio(Fio::SAME),
    knob(
        "flow",
        Kind::Number,
        "8",
        msg!("knob-flow"),
        |k, v| {
            k.flow.weight = Some(bounded(v, 0, MANY)?);
            Ok(())
        },
        |s| s.load.pacing.flow.map(|flow| flow.weight.to_string()),
    )
    .fio(Fio::SAME),
    knob(
        "flow_id",
        Kind::Number,
        "1",
        msg!("knob-flow-id"),
        |k, v| {
            k.flow.id = Some(bounded(v, 0, MANY)?);
            Ok(())
        },
        |s| flow(s, |flow| u64::from(flow.id)).map(|id| id.to_string()),
    )
    .fio(Fio::SAME),
    knob(
        "flow_sleep",
        Kind::Time,
        "1ms",
        msg!("knob-flow-sleep"),
        |k, v| {
            k.flow.sleep_ns = Some(microseconds(v)?);
            Ok(())
        },
        |s| flow(s, |flow| flow.sleep_ns).map(print_duration),
    )
    .fio(Fio::SAME),
    knob(
        "latency_target",
        Kind::Time,
        "500us",
        msg!("knob-latency-target"),
        |k, v| {
            k.latency_target.lat_ns = Some(microseconds(v)?);
            Ok(())
        },
        |s| target(s).map(|target| print_duration(target.lat_ns)),
    )
    .fio(Fio::SAME),
    knob(
        "latency_window",
        Kind::Time,
        "5s",
        msg!("knob-latency-window"),
        |k, v| {
            k.latency_target.window_ns = Some(some_time(v)?);
            Ok(())
        },
        |s| target(s).map(|target| print_duration(target.window_ns)),
    )
    .fio(Fio::SAME),
    knob(
        "latency_percentile",
        Kind::Word,
        "99.9",
        msg!("knob-latency-percentile"),
        |k, v| {
            k.latency_target.within_ppm = Some(share_ppm(v)?);
            Ok(())
        },
        |s| target(s).map(|target| (f64::from(target.within_ppm) / 1e4).to_string()),
    )
    .fio(Fio::SAME),
    knob(
        "latency_run",
        Kind::Switch,
        "1",
        msg!("knob-latency-run"),
        |k, v| {
            k.latency_target.runs_on = Some(value::flag(v)?);
            Ok(())
        },
        |s| target(s).filter(|target| target.runs_on).map(|_| "1".to_owned()),
    )
    .fio(Fio::SAME),
];

fn target(step: &Step) -> Option<LatencyTarget> {
    step.load.pacing.target
}

/// A share in percent with decimals, in parts of a million.
fn share_ppm(text: &str) -> Result<u32, Fault> {
    let pct = text.trim().trim_end_matches('%').parse::<f64>().ok().filter(|pct| *pct > 0.0 && *pct <= 100.0);
    let wrong =
        || value::fault_help(msg!("knob-latency-share", text = value::shorten(text)), msg!("knob-latency-share-help"));
    pct.map(|pct| (pct * 1e4).round().max(1.0) as u32).ok_or_else(wrong)
}

/// As fio, a number without a unit is microseconds here.
fn microseconds(text: &str) -> Result<u64, Fault> {
    let text = text.trim();
    let is_bare = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let with_unit = if is_bare { format!("{text}us") } else { text.to_owned() };
    value::duration_ns(&with_unit, RUNTIME_MAX_NS)
}

/// As [`microseconds`], but not 0.
fn some_time(text: &str) -> Result<u64, Fault> {
    let ns = microseconds(text)?;
    if ns > 0 { Ok(ns) } else { Err(value::fault_help(msg!("knob-no-window"), msg!("knob-no-window-help"))) }
}

fn flow(step: &Step, of: fn(crate::pacing::Flow) -> u64) -> Option<u64> {
    step.load.pacing.flow.map(of).filter(|n| *n > 0)
}
