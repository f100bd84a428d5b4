//! Which I/O is served first.

use fathom_message::msg;

use super::super::priority::{both, class, hint, level, share_word, split, split_word};
use super::super::spec::{Fio, Kind, KnobSpec, knob};
use super::super::value::percent;
use crate::priority::{Priority, PriorityClass};
use crate::step::Step;

pub(super) static ROWS: &[KnobSpec] = &[
    knob(
        "prioclass",
        Kind::Word,
        "idle",
        msg!("knob-prioclass"),
        |k, v| {
            k.priority.class = Some(class(v)?);
            Ok(())
        },
        |s| thread(s).map(|priority| priority.class.number().to_string()),
    )
    .fio(Fio::SAME),
    knob(
        "prio",
        Kind::Number,
        "4",
        msg!("knob-prio"),
        |k, v| {
            k.priority.level = Some(level(v)?);
            Ok(())
        },
        |s| thread(s).map(|priority| priority.level.to_string()),
    )
    .fio(Fio::SAME),
    knob(
        "priohint",
        Kind::Number,
        "1",
        msg!("knob-priohint"),
        |k, v| {
            k.priority.hint = Some(hint(v)?);
            Ok(())
        },
        |s| thread(s).map(|priority| priority.hint).filter(|hint| *hint > 0).map(|hint| hint.to_string()),
    )
    .fio(Fio::SAME),
    knob(
        "cmdprio_percentage",
        Kind::Word,
        "20",
        msg!("knob-cmdprio-percentage"),
        |k, v| {
            k.priority.share_pct = Some(both(v, percent)?);
            Ok(())
        },
        |s| share_word(s, |share| share.share_pct.into(), 0),
    )
    .fio(Fio::SAME),
    knob(
        "cmdprio_class",
        Kind::Word,
        "1",
        msg!("knob-cmdprio-class"),
        |k, v| {
            k.priority.share_class = Some(both(v, class)?);
            Ok(())
        },
        |s| share_word(s, |share| share.priority.class.number(), PriorityClass::Realtime.number()),
    )
    .fio(Fio::SAME),
    knob(
        "cmdprio",
        Kind::Word,
        "0",
        msg!("knob-cmdprio"),
        |k, v| {
            k.priority.share_level = Some(both(v, level)?);
            Ok(())
        },
        |s| share_word(s, |share| share.priority.level.into(), 0).filter(|word| word != "0"),
    )
    .fio(Fio::SAME),
    knob(
        "cmdprio_hint",
        Kind::Word,
        "1",
        msg!("knob-cmdprio-hint"),
        |k, v| {
            k.priority.share_hint = Some(both(v, hint)?);
            Ok(())
        },
        |s| share_word(s, |share| share.priority.hint, 0).filter(|word| word != "0"),
    )
    .fio(Fio::SAME),
    knob(
        "cmdprio_bssplit",
        Kind::Word,
        "64k/25/1/1:64k/75/3/2",
        msg!("knob-cmdprio-bssplit"),
        |k, v| {
            k.priority.split = Some(split(v)?);
            Ok(())
        },
        split_word,
    )
    .fio(Fio::SAME.aliases(&["cmdprio_split"])),
];

fn thread(step: &Step) -> Option<Priority> {
    step.workload.priorities.thread
}
