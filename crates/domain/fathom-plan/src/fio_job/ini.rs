//! Text of fio jobs: sections, keys, comments, included files, variables.

use std::ops::Range;

use fathom_message::{Message, msg};

use super::arithmetic::computed;
use super::command_line::FioWord;
use super::host::{FioHost, HostNumber};
use super::keys::canonical;
use crate::error::SourceError;
use crate::knobs::KnobError;

/// Jobs as they were given: a file, or the options of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FioText {
    /// A job file.
    File {
        /// Path, for errors and for included files.
        name: String,
        /// Content.
        text: String,
    },
    /// Options behind `fio`.
    CommandLine(Vec<FioWord>),
}

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

/// A `[section]` and its keys in the order in which fio reads them.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) span: Range<usize>,
    pub(super) entries: Vec<Entry>,
    /// Number of the job file, from 0; `None`: the command line.
    pub(super) file: Option<u32>,
}

impl Section {
    /// True for defaults: fio looks at the first six letters alone.
    pub(super) fn is_global(&self) -> bool {
        self.name.starts_with("global")
    }
}

/// All texts that were read, one behind the other, so that a position also tells the text.
pub(super) struct Source<'h> {
    pub(super) text: String,
    /// Position and name of each text, in order.
    names: Vec<(usize, String)>,
    host: &'h dyn FioHost,
}

/// Deepest nesting of included files.
const INCLUDES_MAX: usize = 16;

impl<'h> Source<'h> {
    /// Reads the texts and what they include.
    ///
    /// # Errors
    /// A line that is neither section nor key, an include that cannot be read, a variable that is not set.
    pub(super) fn read(texts: &[FioText], host: &'h dyn FioHost) -> Result<(Source<'h>, Vec<Section>), SourceError> {
        let mut source = Source { text: String::new(), names: Vec::new(), host };
        let mut sections = Vec::new();
        let mut files = 0;
        for text in texts {
            match text {
                FioText::CommandLine(words) => source.command_line(words, &mut sections),
                FioText::File { name, text } => {
                    source.file(name, text, files, &mut sections)?;
                    files += 1;
                }
            }
        }
        Ok((source, sections))
    }

    fn open(&mut self, name: &str, text: &str) -> usize {
        let start = self.text.len();
        self.names.push((start, name.to_owned()));
        self.text += text;
        if !text.ends_with('\n') {
            self.text.push('\n');
        }
        start
    }

    pub(super) fn error(&self, span: Range<usize>, message: Message, help: Option<Message>) -> SourceError {
        let at = self.names.partition_point(|(start, _)| *start <= span.start).saturating_sub(1);
        let (start, name) = self.names.get(at).map_or((0, ""), |(start, name)| (*start, name.as_str()));
        let end = self.names.get(at + 1).map_or(self.text.len(), |(next, _)| *next);
        let span = span.start - start..(span.end - start).min(end - start);
        SourceError::at(name, &self.text[start..end], span, message, help)
    }

    pub(super) fn knob_error(&self, error: &KnobError, span: Range<usize>) -> SourceError {
        self.error(span, error.message.clone(), error.help.clone())
    }

    /// `--name` begins a section; what stands before the first is for all.
    fn command_line(&mut self, words: &[FioWord], sections: &mut Vec<Section>) {
        self.names.push((self.text.len(), "fio".to_owned()));
        for word in words {
            let start = self.text.len();
            let line = |text: &str| text.replace(['\n', '\r'], " ");
            let value_at = start + line(&word.key).len() + 1;
            self.text += &line(&word.key);
            if let Some(value) = &word.value {
                self.text += &format!("={}", line(value));
            }
            let span = start..self.text.len();
            self.text.push('\n');
            let section =
                |name: &str| Section { name: name.to_owned(), span: span.clone(), entries: Vec::new(), file: None };
            if let ("name", Some(name)) = (word.key.as_str(), &word.value) {
                sections.push(section(name));
                continue;
            }
            if sections.is_empty() {
                sections.push(section("global"));
            }
            let value_span = if word.value.is_some() { value_at..span.end } else { span.clone() };
            let (key_span, key) = (start..value_at - 1, word.key.clone());
            let entry = Entry { key, value: word.value.clone(), key_span, value_span };
            sections.last_mut().expect("one was opened above").entries.push(entry);
        }
    }

    fn file(&mut self, name: &str, text: &str, file: u32, sections: &mut Vec<Section>) -> Result<(), SourceError> {
        let start = self.open(name, text);
        let first = sections.len();
        for (content, at) in lines(text, start) {
            let span = at..at + content.len();
            if let Some(rest) = content.strip_prefix('[') {
                let Some(name) = rest.strip_suffix(']').map(str::trim).filter(|n| !n.is_empty()) else {
                    return Err(self.error(span, msg!("fio-section"), Some(msg!("fio-section-help"))));
                };
                sections.push(Section { name: name.to_owned(), span, entries: Vec::new(), file: Some(file) });
                continue;
            }
            let Some(section) = sections.get_mut(first..).and_then(<[Section]>::last_mut) else {
                return Err(self.error(span, msg!("fio-key-before-section"), Some(msg!("fio-begin-with-global"))));
            };
            self.key_line(content, at, &mut vec![name.to_owned()], &mut section.entries)?;
        }
        for section in &mut sections[first..] {
            // fio reads the names of files last.
            section.entries.sort_by_key(|entry| ["filename", "filename_format"].contains(&canonical(&entry.key)));
        }
        Ok(())
    }

    /// Adds what a line says to `entries`. `within`: the file of the line and those that included it.
    fn key_line(
        &mut self,
        line: &str,
        at: usize,
        within: &mut Vec<String>,
        entries: &mut Vec<Entry>,
    ) -> Result<(), SourceError> {
        let span = at..at + line.len();
        if let Some(rest) = line.strip_prefix("include") {
            let Some(path) = rest.strip_prefix([' ', '\t', '=']).map(str::trim).filter(|path| !path.is_empty()) else {
                return Err(self.error(span, msg!("fio-include"), Some(msg!("fio-include-help"))));
            };
            return self.include(path, span, within, entries);
        }
        entries.push(self.entry(line, span)?);
        Ok(())
    }

    fn include(
        &mut self,
        path: &str,
        span: Range<usize>,
        within: &mut Vec<String>,
        entries: &mut Vec<Entry>,
    ) -> Result<(), SourceError> {
        // Beside the file that includes it, where it is not found from here.
        let beside = within.last().and_then(|file| Some(format!("{}/{path}", file.rsplit_once('/')?.0)));
        let found = self.host.included(path).map(|text| (path.to_owned(), text));
        let found = found.or_else(|error| match beside {
            Some(beside) => self.host.included(&beside).map(|text| (beside, text)),
            None => Err(error),
        });
        let (name, text) = found.map_err(|error| {
            let message = msg!("fio-include-unread", path = path.to_owned(), error = error.to_string());
            self.error(span.clone(), message, Some(msg!("fio-include-unread-help")))
        })?;
        if within.contains(&name) || within.len() > INCLUDES_MAX {
            let message = msg!("fio-include-circle", path = path.to_owned());
            return Err(self.error(span, message, Some(msg!("fio-include-circle-help"))));
        }
        let start = self.open(&name, &text);
        within.push(name);
        for (content, at) in lines(&text, start) {
            if content.starts_with('[') {
                let span = at..at + content.len();
                return Err(self.error(span, msg!("fio-include-section"), Some(msg!("fio-include-section-help"))));
            }
            self.key_line(content, at, within, entries)?;
        }
        within.pop();
        Ok(())
    }

    fn entry(&self, line: &str, span: Range<usize>) -> Result<Entry, SourceError> {
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

    /// Replaces each `${VAR}` and fio's words for numbers of the machine, and computes what is arithmetic then.
    fn fill_in(&self, value: &str, span: &Range<usize>) -> Result<String, SourceError> {
        let mut filled = String::new();
        let mut rest = value;
        while let Some((before, after)) = rest.split_once("${") {
            let Some((name, tail)) = after.split_once('}') else {
                return Err(self.error(span.clone(), msg!("fio-open-variable"), Some(msg!("fio-open-variable-help"))));
            };
            let Some(found) = self.host.variable(name) else {
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
        let mut filled = filled + rest;
        let mut is_arithmetic = filled.starts_with('(');
        for (word, number) in HostNumber::WORDS {
            if filled.contains(word) {
                let value = self.host.number(number).ok_or_else(|| {
                    let message = msg!("fio-unset-variable", name = word);
                    self.error(span.clone(), message, Some(msg!("fio-unknown-number-help")))
                })?;
                filled = filled.replace(word, &value.to_string());
                is_arithmetic |= filled.contains(['+', '-', '*', '/']);
            }
        }
        if !is_arithmetic {
            return Ok(filled);
        }
        computed(&filled).map(|value| value.to_string()).ok_or_else(|| {
            let message = msg!("fio-arithmetic", text = filled.clone());
            self.error(span.clone(), message, Some(msg!("fio-arithmetic-help")))
        })
    }
}

/// Lines that say something, without blanks and comments around them; each with its position, counted from `start`.
fn lines(text: &str, start: usize) -> impl Iterator<Item = (&str, usize)> {
    let mut next = start;
    text.split_inclusive('\n').filter_map(move |line| {
        let offset = next;
        next += line.len();
        // fio cuts a line at the first of these characters, wherever it stands.
        let content = line.split([';', '#']).next().unwrap_or_default();
        let trimmed = content.trim();
        (!trimmed.is_empty()).then(|| (trimmed, offset + content.find(trimmed).unwrap_or(0)))
    })
}
