//! The table of knobs. To add one, add a row: study files, `--set`, jobs of fio in and out, fio's JSON in and out and the
//! flags of `fathom io` are read from here.

mod array;
mod conditions;
mod engine;
mod files;
mod length;
mod load;
mod order;
mod pacing;
mod priority;
mod workload;

use fathom_message::{Message, msg};

use super::spec::KnobSpec;

/// Knobs that belong together.
pub struct KnobGroup {
    /// What they are about: a heading of help texts.
    pub title: Message,
    /// In the order of help texts.
    pub knobs: &'static [KnobSpec],
}

static TABLE: [KnobGroup; 10] = [
    KnobGroup { title: msg!("knob-group-workload"), knobs: workload::ROWS },
    KnobGroup { title: msg!("knob-group-files"), knobs: files::ROWS },
    KnobGroup { title: msg!("knob-group-order"), knobs: order::ROWS },
    KnobGroup { title: msg!("knob-group-load"), knobs: load::ROWS },
    KnobGroup { title: msg!("knob-group-pacing"), knobs: pacing::ROWS },
    KnobGroup { title: msg!("knob-group-priority"), knobs: priority::ROWS },
    KnobGroup { title: msg!("knob-group-engine"), knobs: engine::ROWS },
    KnobGroup { title: msg!("knob-group-length"), knobs: length::ROWS },
    KnobGroup { title: msg!("knob-group-conditions"), knobs: conditions::ROWS },
    KnobGroup { title: msg!("knob-group-array"), knobs: array::ROWS },
];

/// All knobs by group, in the order that help texts and fio's options have.
#[must_use]
pub fn knob_groups() -> &'static [KnobGroup] {
    &TABLE
}

/// All knobs, in the order of their groups.
pub fn knobs() -> impl Iterator<Item = &'static KnobSpec> {
    TABLE.iter().flat_map(|group| group.knobs.iter())
}

/// The row of `key`, by name or alias; `-` and `_` are the same.
#[must_use]
pub fn knob(key: &str) -> Option<&'static KnobSpec> {
    let key = key.replace('-', "_");
    knobs().find(|k| k.name == key || k.aliases.contains(&key.as_str()))
}

/// Names and aliases of all knobs.
pub(crate) fn all_words() -> impl Iterator<Item = &'static str> {
    knobs().flat_map(|k| std::iter::once(k.name).chain(k.aliases.iter().copied()))
}
