//! Finds the one JSON document in a text that fio may have talked into.

use serde_json::Value;

use super::error::ImportError;

/// The document, and what stood around it.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) value: Value,
    /// The text with everything else blanked out, so that lines and columns stay what they are in the file.
    pub(super) clean: String,
    /// Lines that fio wrote into the file beside the JSON.
    pub(super) noise: Vec<String>,
}

/// Parses the first JSON object of `text`; lines before and after it, and lines of fio's own messages within it, are
/// returned as noise.
pub(super) fn find_document(text: &str, file: &str) -> Result<Found, ImportError> {
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
        let what = "a second JSON document begins here; import takes one at a time".to_owned();
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

/// serde's error with the file's name in front and its own position taken out of the sentence.
pub(super) fn json_error(error: &serde_json::Error, file: &str) -> ImportError {
    let (line, column) = (error.line(), error.column());
    let sentence = error.to_string();
    let what = sentence.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&sentence).to_owned();
    ImportError::Json { file: file.to_owned(), line, column, what }
}

/// What a text without JSON seems to be.
fn wrong_kind(text: &str, file: &str) -> ImportError {
    let head = text.trim_start();
    let lower = head.get(..head.len().min(4096)).unwrap_or(head).to_ascii_lowercase();
    let want_json = "run fio with --output-format=json+ and import that file";
    let (looks_like, help) = if head.is_empty() {
        ("an empty file", "check that the run that wrote it came to its end")
    } else if head.starts_with("SQLite format 3") {
        ("a SQLite database", "if it is a lab of Fathom, name it with --lab instead of importing it")
    } else if lower.starts_with("<!doctype html") || lower.starts_with("<html") {
        ("an HTML page", "import the JSON it was made from")
    } else if lower.starts_with("<?xml") {
        ("XML, as diskspd and Iometer write it", want_json)
    } else if head.lines().any(|l| l.starts_with("3;fio-") || l.starts_with("2;fio-")) {
        ("fio's terse output", want_json)
    } else if lower.contains(": (g=") || lower.contains("groupid=") {
        ("fio's normal output for people", want_json)
    } else if lower.starts_with("[[") || lower.contains("[study]") || lower.contains("[[ladder]]") {
        ("a study file", "give it to `fathom run`")
    } else if head.starts_with('[') && head.contains(']') {
        ("an fio job file", "give it to `fathom run`")
    } else if head.lines().next().is_some_and(|l| l.matches(',').count() >= 2) {
        ("a table with commas", "export with --format json instead of csv, or run fio with --output-format=json+")
    } else {
        ("plain text", want_json)
    };
    ImportError::WrongKind { file: file.to_owned(), looks_like: looks_like.to_owned(), help: help.to_owned() }
}
