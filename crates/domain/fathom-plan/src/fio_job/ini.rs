//! The text of an fio job file: sections, keys, comments, `${VAR}`.

use std::ops::Range;

use fathom_message::{Message, msg};

use crate::error::SourceError;
use crate::knobs::KnobError;

/// One `key=value`, or a key alone.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    /// `None`: the key stands alone. Variables are filled in.
    pub(super) value: Option<String>,
    pub(super) key_span: Range<usize>,
    /// Of the value; of the key when it stands alone.
    pub(super) value_span: Range<usize>,
}

/// A `[section]` and its keys in order.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) span: Range<usize>,
    pub(super) entries: Vec<Entry>,
}

/// A job file and its name, for errors.
pub(super) struct Source<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
    pub(super) env: &'a dyn Fn(&str) -> Option<String>,
}

impl Source<'_> {
    pub(super) fn error(&self, span: Range<usize>, message: Message, help: Option<Message>) -> SourceError {
        SourceError::at(self.file, self.text, span, message, help)
    }

    pub(super) fn knob_error(&self, error: &KnobError, span: Range<usize>) -> SourceError {
        SourceError::at(self.file, self.text, span, error.message.clone(), error.help.clone())
    }

    /// Splits the text into its sections, `[global]` ones included.
    pub(super) fn sections(&self) -> Result<Vec<Section>, SourceError> {
        let mut sections: Vec<Section> = Vec::new();
        let mut start = 0;
        for line in self.text.split_inclusive('\n') {
            let offset = start;
            start += line.len();
            // fio cuts a line at the first of these characters, wherever it stands.
            let content = line.split([';', '#']).next().unwrap_or_default();
            let trimmed = content.trim();
            if trimmed.is_empty() {
                continue;
            }
            let first = offset + content.find(trimmed).unwrap_or(0);
            let span = first..first + trimmed.len();
            if let Some(rest) = trimmed.strip_prefix('[') {
                let Some(name) = rest.strip_suffix(']').map(str::trim).filter(|n| !n.is_empty()) else {
                    return Err(self.error(span, msg!("fio-section"), Some(msg!("fio-section-help"))));
                };
                sections.push(Section { name: name.to_owned(), span, entries: Vec::new() });
                continue;
            }
            let entry = self.entry(trimmed, span.clone())?;
            match sections.last_mut() {
                Some(section) => section.entries.push(entry),
                None => {
                    return Err(self.error(span, msg!("fio-key-before-section"), Some(msg!("fio-begin-with-global"))));
                }
            }
        }
        Ok(sections)
    }

    fn entry(&self, line: &str, span: Range<usize>) -> Result<Entry, SourceError> {
        if line == "include" || line.starts_with("include ") {
            return Err(self.error(span, msg!("fio-include"), Some(msg!("fio-include-help"))));
        }
        let Some((key, value)) = line.split_once('=') else {
            return Ok(Entry { key: line.to_owned(), value: None, key_span: span.clone(), value_span: span });
        };
        let (key, trimmed) = (key.trim_end(), value.trim());
        let value_end = span.end;
        let value_span = value_end - value.trim_start().len()..value_end;
        if key.is_empty() || trimmed.is_empty() {
            return Err(self.error(span, msg!("fio-key-and-value"), Some(msg!("fio-key-and-value-help"))));
        }
        Ok(Entry {
            key: key.to_owned(),
            value: Some(self.fill_in(trimmed, &value_span)?),
            key_span: span.start..span.start + key.len(),
            value_span,
        })
    }

    /// Replaces each `${VAR}`; refuses fio's `$ncpus` and the like, which depend on the machine.
    fn fill_in(&self, value: &str, span: &Range<usize>) -> Result<String, SourceError> {
        for word in ["$ncpus", "$mb_memory", "$pagesize"] {
            if value.contains(word) {
                let message = msg!("fio-not-supported", key = word, why = msg!("fio-machine-word"));
                return Err(self.error(span.clone(), message, Some(msg!("fio-machine-word-help"))));
            }
        }
        let mut filled = String::new();
        let mut rest = value;
        while let Some((before, after)) = rest.split_once("${") {
            let Some((name, tail)) = after.split_once('}') else {
                return Err(self.error(span.clone(), msg!("fio-open-variable"), Some(msg!("fio-open-variable-help"))));
            };
            let Some(found) = (self.env)(name) else {
                let message = msg!("fio-unset-variable", name = name.to_owned());
                return Err(self.error(
                    span.clone(),
                    message,
                    Some(msg!("fio-unset-variable-help", name = name.to_owned())),
                ));
            };
            filled += before;
            filled += &found;
            rest = tail;
        }
        Ok(filled + rest)
    }
}
