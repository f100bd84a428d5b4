//! The table of knobs. To add one, add a row: study files, `--set`, jobs of fio in and out, fio's JSON in and out and the
//! flags of `fathom io` are read from here.

mod conditions;
mod engine;
mod length;
mod load;
mod workload;

use super::spec::KnobSpec;

static TABLE: [&[KnobSpec]; 5] = [workload::ROWS, load::ROWS, engine::ROWS, length::ROWS, conditions::ROWS];

/// All knobs, in the order that help texts and fio's options have.
pub fn knobs() -> impl Iterator<Item = &'static KnobSpec> {
    TABLE.iter().flat_map(|rows| rows.iter())
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
