//! What is made of the targets: an array in user space or of Linux md. A step holds none of these: they became its target.

use fathom_message::msg;

use super::super::parse;
use super::super::spec::{Kind, KnobSpec, knob};
use super::super::value;

/// More lost members than this no level does without.
const MISSING_MAX: u32 = 32;

pub(super) static ROWS: &[KnobSpec] = &[
    knob(
        "array",
        Kind::Word,
        "raid5",
        msg!("knob-array"),
        |k, v| {
            k.arrangement.level = parse::parse_level(v)?;
            Ok(())
        },
        |_| None,
    ),
    knob(
        "chunk",
        Kind::Size,
        "64k",
        msg!("knob-chunk"),
        |k, v| {
            k.arrangement.chunk_bytes = Some(parse::parse_chunk(v)?);
            Ok(())
        },
        |_| None,
    ),
    knob(
        "missing",
        Kind::Number,
        "1",
        msg!("knob-missing"),
        |k, v| {
            k.arrangement.missing = value::bounded(v, 0, MISSING_MAX)?;
            Ok(())
        },
        |_| None,
    ),
    knob(
        "rebuild",
        Kind::Word,
        "50m",
        msg!("knob-rebuild"),
        |k, v| {
            k.arrangement.rebuild = parse::parse_rebuild(v)?;
            Ok(())
        },
        |_| None,
    ),
];
