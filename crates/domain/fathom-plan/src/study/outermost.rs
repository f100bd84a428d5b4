//! `outermost = "read_pct"`: all ladders of a study at the first value of a knob, then all at the second.
//!
//! Without it each ladder runs whole before the next, and targets that every value conditions again are conditioned once
//! per ladder and value.

use std::ops::Range;

use fathom_message::msg;
use toml::Spanned;
use toml::de::DeValue;

use super::cells::Ladder;
use super::text::Source;
use crate::error::SourceError;
use crate::knobs::{self, KnobError};

/// The knob that `outermost` names, and where.
#[derive(Clone, Debug)]
pub(super) struct Outermost {
    key: String,
    span: Range<usize>,
}

/// Reads the value of `outermost`.
///
/// # Errors
/// Not the name of a knob.
pub(super) fn read(source: &Source<'_>, value: &Spanned<DeValue<'_>>) -> Result<Outermost, SourceError> {
    let span = value.span();
    let Some(key) = value.get_ref().as_str() else {
        return Err(source.error(span, msg!("study-knob-expected"), Some(msg!("study-knob-expected-help"))));
    };
    if knobs::knob(key).is_none() {
        let unknown: KnobError = knobs::unknown_key(key, knobs::all_words());
        return Err(source.knob_error(&unknown, span));
    }
    Ok(Outermost { key: key.to_owned(), span })
}

impl Outermost {
    /// The parts of the ladders, value by value in the order in which the values first stand in the file. A ladder
    /// without the knob, also because `--set` gave it one value, is run whole in the first turn.
    ///
    /// # Errors
    /// A ladder that runs in rounds or in turns over the knob: these must not be torn apart.
    pub(super) fn arrange(&self, source: &Source<'_>, ladders: Vec<Ladder>) -> Result<Vec<Ladder>, SourceError> {
        let mut values: Vec<String> = Vec::new();
        for ladder in &ladders {
            let Some(at) = self.axis_of(ladder) else { continue };
            if ladder.rounds.is_some() || at >= ladder.axes.len() - ladder.interleaved {
                let message = msg!("study-outermost", key = &self.key);
                return Err(source.error(self.span.clone(), message, Some(msg!("study-outermost-help"))));
            }
            for value in &ladder.axes[at].values {
                if !values.contains(&value.text) {
                    values.push(value.text.clone());
                }
            }
        }
        let mut out: Vec<Ladder> = Vec::new();
        let (with, without): (Vec<Ladder>, Vec<Ladder>) = ladders.into_iter().partition(|l| self.axis_of(l).is_some());
        out.extend(without);
        for value in &values {
            out.extend(with.iter().filter_map(|ladder| self.part(ladder, value)));
        }
        Ok(out)
    }

    fn axis_of(&self, ladder: &Ladder) -> Option<usize> {
        let name = knobs::knob(&self.key).map(|k| k.name);
        ladder.axes.iter().position(|a| knobs::knob(&a.key).map(|k| k.name) == name)
    }

    /// The ladder at this value alone; `None` when it does not have it.
    fn part(&self, ladder: &Ladder, value: &str) -> Option<Ladder> {
        let mut part = ladder.clone();
        let axis = &mut part.axes[self.axis_of(ladder)?];
        axis.values.retain(|v| v.text == value);
        (!axis.values.is_empty()).then_some(part)
    }
}
