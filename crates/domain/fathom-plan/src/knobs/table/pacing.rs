//! What holds threads back between their I/Os.

use fathom_message::msg;

use super::super::spec::{Fio, Kind, KnobSpec, knob};
use super::super::value::bounded;
use super::super::{Fault, RUNTIME_MAX_NS, print_duration, value};
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
];

/// As fio, a number without a unit is microseconds here.
fn microseconds(text: &str) -> Result<u64, Fault> {
    let text = text.trim();
    let is_bare = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let with_unit = if is_bare { format!("{text}us") } else { text.to_owned() };
    value::duration_ns(&with_unit, RUNTIME_MAX_NS)
}

fn flow(step: &Step, of: fn(crate::pacing::Flow) -> u64) -> Option<u64> {
    step.load.pacing.flow.map(of).filter(|n| *n > 0)
}
