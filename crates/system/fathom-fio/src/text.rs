//! Finds the one JSON document in a text that fio may have talked into.

use fathom_message::{Message, msg};
use serde_json::Value;

use crate::error::ImportError;

/// The document, and what stood around it.
#[derive(Debug)]
pub struct Found {
    /// The document.
    pub value: Value,
    /// The text with everything else blanked out, so that lines and columns stay what they are in the file.
    pub clean: String,
    /// Lines that fio wrote into the file beside the JSON.
    pub noise: Vec<String>,
}

impl Found {
    /// What stood beside the JSON, as notes of the import.
    pub fn notes(&self, file: &str) -> Vec<Message> {
        self.noise.iter().map(|line| msg!("import-beside", file = file.to_owned(), line = line.to_owned())).collect()
    }
}

/// Parses the first JSON object of `text`; lines before and after it, and lines of fio's own messages within it, are
/// returned as noise.
pub fn find_document(text: &str, file: &str) -> Result<Found, ImportError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut noise = Vec::new();
    let mut clean = blank_lines(text, &mut noise, {
        let mut begun = false;
        move |line| {
            begun |= line.trim_start().starts_with('{');
            !begun
        }
    });
    if clean.trim().is_empty() {
        return Err(wrong_kind(text, file));
    }
    let (value, end) = match first_value(&clean) {
        Ok(found) => found,
        Err(error) => {
            // fio prints messages of its jobs into the middle of the JSON when it writes to the same stream.
            let mut messages = Vec::new();
            let without = blank_lines(&clean, &mut messages, |line| line.starts_with("fio:"));
            let Some(found) = first_value(&without).ok().filter(|_| !messages.is_empty()) else {
                return Err(json_error(&error, file));
            };
            noise.append(&mut messages);
            clean = without;
            found
        }
    };
    let rest = clean.split_off(end);
    if let Some(at) = rest.find('{').filter(|at| rest[..*at].trim().is_empty()) {
        let before = clean.matches('\n').count() + rest[..at].matches('\n').count();
        let what = msg!("import-second-document");
        return Err(ImportError::Json { file: file.to_owned(), line: before + 1, column: 1, what });
    }
    noise.extend(rest.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned));
    Ok(Found { value, clean, noise })
}

/// `text` with the lines that `is_noise` picks made empty and moved to `noise`.
fn blank_lines(text: &str, noise: &mut Vec<String>, mut is_noise: impl FnMut(&str) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if is_noise(line) {
            if !line.trim().is_empty() {
                noise.push(line.trim().to_owned());
            }
            out.push_str(if line.ends_with('\n') { "\n" } else { "" });
        } else {
            out.push_str(line);
        }
    }
    out
}

fn first_value(text: &str) -> Result<(Value, usize), serde_json::Error> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match stream.next() {
        Some(value) => Ok((value?, stream.byte_offset())),
        None => Ok((Value::Null, 0)),
    }
}

/// serde's error, which is English everywhere, with the file's name in front and its own position taken out.
pub fn json_error(error: &serde_json::Error, file: &str) -> ImportError {
    let (line, column) = (error.line(), error.column());
    let sentence = error.to_string();
    let what = sentence.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&sentence);
    let what = Message::verbatim(what);
    ImportError::Json { file: file.to_owned(), line, column, what }
}

/// What a text without JSON seems to be.
fn wrong_kind(text: &str, file: &str) -> ImportError {
    let head = text.trim_start();
    let lower = head.get(..head.len().min(4096)).unwrap_or(head).to_ascii_lowercase();
    let want_json = || msg!("import-want-json");
    let (looks_like, help) = if head.is_empty() {
        (msg!("import-empty-file"), msg!("import-empty-file-help"))
    } else if head.starts_with("SQLite format 3") {
        (msg!("import-sqlite"), msg!("import-sqlite-help"))
    } else if lower.starts_with("<!doctype html") || lower.starts_with("<html") {
        (msg!("import-html"), msg!("import-html-help"))
    } else if lower.starts_with("<?xml") {
        (msg!("import-xml"), want_json())
    } else if head.lines().any(|l| l.starts_with("3;fio-") || l.starts_with("2;fio-")) {
        (msg!("import-fio-terse"), want_json())
    } else if lower.contains(": (g=") || lower.contains("groupid=") {
        (msg!("import-fio-normal"), want_json())
    } else if lower.starts_with("[[") || lower.contains("[study]") || lower.contains("[[ladder]]") {
        (msg!("import-study-file"), msg!("import-run-it"))
    } else if head.starts_with('[') && head.contains(']') {
        (msg!("import-job-file"), msg!("import-run-it"))
    } else if head.lines().next().is_some_and(|l| l.matches(',').count() >= 2) {
        (msg!("import-csv"), msg!("import-csv-help"))
    } else {
        (msg!("import-plain-text"), want_json())
    };
    ImportError::WrongKind { file: file.to_owned(), looks_like, help }
}
