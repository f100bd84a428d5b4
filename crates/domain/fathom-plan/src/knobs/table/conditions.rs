//! In which state targets are brought before a step measures. A step holds none of these: they became steps of their own.

use fathom_message::msg;

use super::super::spec::{Kind, KnobSpec, knob};
use super::super::{parse, value};
use crate::condition::{ROUNDS_MAX, ROUNDS_MIN};

pub(super) static ROWS: &[KnobSpec] = &[
    knob(
        "precondition",
        Kind::Word,
        "same",
        msg!("knob-precondition"),
        |k, v| {
            k.conditions.method = parse::parse_precondition(v)?;
            Ok(())
        },
        |_| None,
    ),
    knob(
        "purge",
        Kind::Word,
        "1",
        msg!("knob-purge"),
        |k, v| {
            k.conditions.purge = parse::parse_purge(v)?;
            Ok(())
        },
        |_| None,
    ),
    knob(
        "settle_load",
        Kind::Word,
        "16x16",
        msg!("knob-settle-load"),
        |k, v| {
            k.conditions.load = parse::parse_load(v)?;
            Ok(())
        },
        |_| None,
    ),
    knob(
        "settle_rounds",
        Kind::Number,
        "25",
        msg!("knob-settle-rounds"),
        |k, v| {
            k.conditions.rounds_max = value::bounded(v, ROUNDS_MIN, ROUNDS_MAX)?;
            Ok(())
        },
        |_| None,
    ),
    knob(
        "settle_time",
        Kind::Time,
        "60s",
        msg!("knob-settle-time"),
        |k, v| {
            let (_, budget_ns) = parse::parse_runtime(v)?;
            k.conditions.round_ns = budget_ns;
            Ok(())
        },
        |_| None,
    ),
];
