//! TOML with places: entries in the order of the file, scalars as text, errors that point.

use std::ops::Range;

use fathom_message::{Message, msg};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::error::{FaultKind, SourceError};
use crate::knobs::{self, KnobError};

/// A study file and its name, for errors.
pub(super) struct Source<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
}

impl Source<'_> {
    pub(super) fn error(&self, span: Range<usize>, message: Message, help: Option<Message>) -> SourceError {
        SourceError::at(self.file, self.text, span, message, help)
    }

    pub(super) fn toml_error(&self, error: &toml::de::Error) -> SourceError {
        let message = msg!("invalid-toml", why = error.message().replace('\n', ", "));
        self.error(error.span().unwrap_or(0..0), message, None)
    }

    pub(super) fn knob_error(&self, error: &KnobError, span: Range<usize>) -> SourceError {
        let kind = if error.unknown_key { FaultKind::UnknownKey } else { FaultKind::Other };
        SourceError::at(self.file, self.text, span, error.message.clone(), error.help.clone()).of_kind(kind)
    }

    pub(super) fn unknown_key<'w>(
        &self,
        key: &Spanned<DeString<'_>>,
        words: impl IntoIterator<Item = &'w str>,
    ) -> SourceError {
        self.knob_error(&knobs::unknown_key(key.get_ref(), words), key.span())
    }

    /// Errs unless `key` is a knob; `also` are other words valid here.
    pub(super) fn check_knob<const N: usize>(
        &self,
        key: &Spanned<DeString<'_>>,
        also: [&'static str; N],
    ) -> Result<(), SourceError> {
        if knobs::knob(key.get_ref()).is_some() {
            return Ok(());
        }
        Err(self.unknown_key(key, knobs::all_words().chain(also)))
    }

    /// The table `name` of the root, if there is one.
    pub(super) fn table<'t, 'i>(
        &self,
        root: &'t DeTable<'i>,
        name: &str,
    ) -> Result<Option<&'t DeTable<'i>>, SourceError> {
        match sorted_entries(root).into_iter().find(|(key, _)| key.get_ref() == name) {
            None => Ok(None),
            Some((key, value)) => match value.get_ref().as_table() {
                Some(table) => Ok(Some(table)),
                None => {
                    let message = msg!("study-is-a-table", table = name.to_owned());
                    Err(self.error(key.span(), message, Some(msg!("study-is-a-table-help", table = name.to_owned()))))
                }
            },
        }
    }
}

/// Entries in the order of the file: the map itself sorts by name.
pub(super) fn sorted_entries<'t, 'i>(
    table: &'t DeTable<'i>,
) -> Vec<(&'t Spanned<DeString<'i>>, &'t Spanned<DeValue<'i>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// The value of a knob as the text that the table of knobs reads.
pub(super) fn scalar_text(source: &Source<'_>, key: &str, value: &Spanned<DeValue<'_>>) -> Result<String, SourceError> {
    match value.get_ref() {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => Ok(number.as_str().to_owned()),
        DeValue::Float(number) => Ok(number.as_str().to_owned()),
        DeValue::Boolean(flag) => Ok(if *flag { "1" } else { "0" }.to_owned()),
        DeValue::Table(table) if key == "runtime" => span_text(source, table, value.span()),
        other => {
            let message = msg!("study-wrong-type", key = key.to_owned(), kind = other.type_str());
            Err(source.error(value.span(), message, Some(msg!("study-wrong-type-help"))))
        }
    }
}

/// `{ min = "2s", max = "10s" }` -> `2s..10s`.
fn span_text(source: &Source<'_>, table: &DeTable<'_>, span: Range<usize>) -> Result<String, SourceError> {
    let (mut min, mut max) = (None, None);
    for (key, value) in sorted_entries(table) {
        let side = match key.get_ref().as_ref() {
            "min" => &mut min,
            "max" => &mut max,
            _ => return Err(source.unknown_key(key, ["min", "max"])),
        };
        *side = Some(scalar_text(source, key.get_ref(), value)?);
    }
    match (min, max) {
        (Some(min), Some(max)) => Ok(format!("{min}..{max}")),
        _ => Err(source.error(span, msg!("study-min-and-max"), Some(msg!("study-min-and-max-help")))),
    }
}

/// One text or a list of texts, none empty.
pub(super) fn string_list(source: &Source<'_>, value: &Spanned<DeValue<'_>>) -> Result<Vec<String>, SourceError> {
    let bad = |span| source.error(span, msg!("study-texts-expected"), None);
    let text = |v: &Spanned<DeValue<'_>>| match v.get_ref().as_str().map(str::trim) {
        Some(t) if !t.is_empty() => Ok(t.to_owned()),
        _ => Err(bad(v.span())),
    };
    match value.get_ref().as_array() {
        Some(items) if items.is_empty() => Err(bad(value.span())),
        Some(items) => items.iter().map(text).collect(),
        None => Ok(vec![text(value)?]),
    }
}
