//! A TOML table that is read key by key, with errors that point and keys that nobody asked for refused.

use std::cell::RefCell;
use std::ops::Range;

use fathom_message::{Message, msg};
use fathom_plan::SourceError;
use fathom_units::advice;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::quantity::{rate_bytes_per_s, share_millionths, size_bytes, time_ps};
use crate::machine::Service;

/// A file and its name, for errors.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
}

impl Source<'_> {
    pub(crate) fn error(&self, span: Range<usize>, message: Message, help: Option<Message>) -> SourceError {
        SourceError::at(self.file, self.text, span, message, help)
    }
}

/// A value with its place.
pub(crate) struct Value<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) value: &'a Spanned<DeValue<'a>>,
    key: String,
}

impl<'a> Value<'a> {
    pub(crate) fn error(&self, why: Message) -> SourceError {
        self.source.error(self.value.span(), msg!("what-and-why", what = &self.key, why = why), None)
    }

    pub(crate) fn error_with(&self, why: Message, help: Message) -> SourceError {
        self.source.error(self.value.span(), msg!("what-and-why", what = &self.key, why = why), Some(help))
    }

    pub(crate) fn text(&self) -> Result<&'a str, SourceError> {
        self.value.get_ref().as_str().ok_or_else(|| self.error(msg!("sim-text-expected")))
    }

    /// A text, or a number as it stands.
    fn scalar(&self) -> Result<String, SourceError> {
        match self.value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            DeValue::Integer(number) => Ok(number.as_str().to_owned()),
            DeValue::Float(number) => Ok(number.as_str().to_owned()),
            _ => Err(self.error(msg!("sim-quantity-expected"))),
        }
    }

    fn quantity(&self, parse: fn(&str) -> Result<u64, Message>) -> Result<u64, SourceError> {
        parse(&self.scalar()?).map_err(|why| self.error(why))
    }

    pub(crate) fn whole(&self, range: std::ops::RangeInclusive<u64>) -> Result<u64, SourceError> {
        let number: Option<u64> = self.scalar().ok().and_then(|t| t.replace('_', "").parse().ok());
        number
            .filter(|n| range.contains(n))
            .ok_or_else(|| self.error(msg!("sim-whole-expected", min = *range.start(), max = *range.end())))
    }

    /// Whole numbers of a list, or one alone.
    pub(crate) fn wholes(&self, range: std::ops::RangeInclusive<u64>) -> Result<Vec<u64>, SourceError> {
        self.texts()?.iter().map(|item| item.whole(range.clone())).collect()
    }

    pub(crate) fn texts(&self) -> Result<Vec<Value<'a>>, SourceError> {
        match self.value.get_ref().as_array() {
            None => Ok(vec![Value { source: self.source, value: self.value, key: self.key.clone() }]),
            Some(items) => {
                Ok(items.iter().map(|v| Value { source: self.source, value: v, key: self.key.clone() }).collect())
            }
        }
    }

    /// One of these words.
    pub(crate) fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, SourceError> {
        let text = self.text()?;
        words.iter().find(|(name, _)| *name == text).map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
            self.error_with(msg!("sim-unknown-word", word = text.to_owned()), advice(text, &names))
        })
    }
}

/// A table under way.
pub(crate) struct Table<'a> {
    pub(crate) source: Source<'a>,
    table: &'a DeTable<'a>,
    pub(crate) span: Range<usize>,
    asked: RefCell<Vec<&'static str>>,
}

impl<'a> Table<'a> {
    pub(crate) fn new(source: Source<'a>, table: &'a DeTable<'a>, span: Range<usize>) -> Self {
        Table { source, table, span, asked: RefCell::new(Vec::new()) }
    }

    pub(crate) fn error(&self, message: Message) -> SourceError {
        self.source.error(self.span.clone(), message, None)
    }

    pub(crate) fn get(&self, key: &'static str) -> Option<Value<'a>> {
        self.asked.borrow_mut().push(key);
        let value = self.table.get(key)?;
        Some(Value { source: self.source, value, key: key.to_owned() })
    }

    pub(crate) fn need(&self, key: &'static str) -> Result<Value<'a>, SourceError> {
        self.get(key).ok_or_else(|| self.missing(key))
    }

    /// The error of a key that must be here.
    pub(crate) fn missing(&self, key: &'static str) -> SourceError {
        self.error(msg!("sim-key-missing", key = key))
    }

    /// All entries, whatever their keys, in the order of the file.
    pub(crate) fn entries(&self) -> Vec<(String, Value<'a>)> {
        let mut entries: Vec<_> = self.table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        entries
            .into_iter()
            .map(|(key, value)| {
                let key = key.get_ref().to_string();
                (key.clone(), Value { source: self.source, value, key })
            })
            .collect()
    }

    pub(crate) fn table(&self, key: &'static str) -> Result<Option<Table<'a>>, SourceError> {
        self.get(key).map(|value| as_table(&value)).transpose()
    }

    /// Tables of `[[key]]`.
    pub(crate) fn tables(&self, key: &'static str) -> Result<Vec<Table<'a>>, SourceError> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let Some(items) = value.value.get_ref().as_array() else {
            return Err(value.error_with(msg!("sim-tables-expected"), msg!("sim-tables-expected-help", key = key)));
        };
        items.iter().map(|v| as_table(&Value { source: self.source, value: v, key: key.to_owned() })).collect()
    }

    pub(crate) fn text(&self, key: &'static str) -> Result<Option<&'a str>, SourceError> {
        self.get(key).map(|v| v.text()).transpose()
    }

    pub(crate) fn time(&self, key: &'static str) -> Result<Option<u64>, SourceError> {
        self.get(key).map(|v| v.quantity(time_ps)).transpose()
    }

    pub(crate) fn size(&self, key: &'static str) -> Result<Option<u64>, SourceError> {
        self.get(key).map(|v| v.quantity(size_bytes)).transpose()
    }

    pub(crate) fn rate(&self, key: &'static str) -> Result<Option<u64>, SourceError> {
        self.get(key).map(|v| v.quantity(rate_bytes_per_s)).transpose()
    }

    pub(crate) fn share(&self, key: &'static str) -> Result<Option<u64>, SourceError> {
        self.get(key).map(|v| v.quantity(share_millionths)).transpose()
    }

    pub(crate) fn percent(
        &self,
        key: &'static str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<Option<u32>, SourceError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let millionths = value.quantity(share_millionths)?;
        let percent = millionths / 10_000;
        if millionths % 10_000 != 0 || !range.contains(&percent) {
            return Err(value.error(msg!("sim-percent-expected", min = *range.start(), max = *range.end())));
        }
        Ok(Some(percent as u32))
    }

    pub(crate) fn whole(
        &self,
        key: &'static str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<Option<u64>, SourceError> {
        self.get(key).map(|v| v.whole(range)).transpose()
    }

    /// `time`, `time_spread` and `time_distribution` of a service.
    pub(crate) fn service(&self, [time, spread, distribution]: [&'static str; 3]) -> Result<Service, SourceError> {
        let mean_ps = self.need(time)?.quantity(time_ps)?;
        let spread_pct = self.percent(spread, 0..=100)?.unwrap_or(0);
        let shapes = [("uniform", false), ("exponential", true)];
        let exponential = self.get(distribution).map(|v| v.word(&shapes)).transpose()?.unwrap_or(false);
        Ok(Service { mean_ps, spread_pct, exponential })
    }

    /// Refuses keys that nobody asked for.
    pub(crate) fn finish(self) -> Result<(), SourceError> {
        let asked = self.asked.borrow();
        for (key, _) in self.table {
            if asked.iter().any(|a| *a == key.get_ref().as_ref()) {
                continue;
            }
            let message = msg!("unknown-key", key = key.get_ref().to_string());
            return Err(self.source.error(key.span(), message, Some(advice(key.get_ref(), &asked))));
        }
        Ok(())
    }
}

pub(crate) fn as_table<'a>(value: &Value<'a>) -> Result<Table<'a>, SourceError> {
    match value.value.get_ref().as_table() {
        Some(table) => Ok(Table::new(value.source, table, value.value.span())),
        None => Err(value.error(msg!("sim-table-expected"))),
    }
}
