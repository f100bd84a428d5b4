//! Finds the JSON in a text that fio may have talked into: one document, a list of documents, or several documents of one
//! run (`--status-interval`).

use fathom_message::{Message, msg};
use serde_json::Value;

use crate::error::ImportError;

/// Most by which the start of a run differs between two of its documents, whose times are whole seconds.
const SAME_START_S: u64 = 2;

/// The document, and what stood around it.
#[derive(Debug)]
pub struct Found {
    /// The document; the last one, where there are several.
    pub value: Value,
    /// Documents before it.
    pub earlier: Vec<Value>,
    /// Line of the second document.
    second_line: usize,
    /// The text with everything else blanked out, so that lines and columns stay what they are in the file.
    pub clean: String,
    /// Lines that fio wrote into the file beside the JSON.
    pub noise: Vec<String>,
}

impl Found {
    /// A document that is a part of another.
    #[must_use]
    pub fn of(value: Value) -> Found {
        Found { clean: value.to_string(), value, earlier: Vec::new(), second_line: 0, noise: Vec::new() }
    }

    /// What stood beside the JSON, as notes of the import.
    pub fn notes(&self, file: &str) -> Vec<Message> {
        self.noise.iter().map(|line| msg!("import-beside", file = file.to_owned(), line = line.to_owned())).collect()
    }

    /// Refuses a file with a second document.
    ///
    /// # Errors
    /// [`ImportError::Json`] with its line.
    pub fn is_alone(&self, file: &str) -> Result<(), ImportError> {
        if self.earlier.is_empty() { Ok(()) } else { Err(self.second_document(file)) }
    }

    /// Refuses documents that are not of one run of fio: those of `--status-interval` have the same jobs, the same start and
    /// times that increase.
    pub(crate) fn is_one_run(&self, file: &str) -> Result<(), ImportError> {
        let all: Vec<&Value> = self.earlier.iter().chain([&self.value]).collect();
        let is_next = |pair: &[&Value]| match (RunClock::of(pair[0]), RunClock::of(pair[1])) {
            (Some(a), Some(b)) => {
                let (start_a, start_b) = (a.start_s(), b.start_s());
                a.jobs == b.jobs && a.now_ms < b.now_ms && start_a.abs_diff(start_b) <= SAME_START_S
            }
            _ => false,
        };
        if all.windows(2).all(is_next) { Ok(()) } else { Err(self.second_document(file)) }
    }

    fn second_document(&self, file: &str) -> ImportError {
        let what = msg!("import-second-document");
        ImportError::Json { file: file.to_owned(), line: self.second_line, column: 1, what }
    }
}

/// Jobs of a document of fio's, and its time.
struct RunClock<'a> {
    jobs: Vec<&'a Value>,
    now_ms: u64,
    elapsed_s: u64,
}

impl RunClock<'_> {
    fn of(document: &Value) -> Option<RunClock<'_>> {
        let entries = document.get("jobs").or_else(|| document.get("client_stats"))?.as_array()?;
        let now_ms = document.get("timestamp_ms")?.as_u64()?;
        let elapsed_s = entries.iter().filter_map(|job| job.get("elapsed")?.as_u64()).max()?;
        Some(RunClock { jobs: entries.iter().filter_map(|job| job.get("jobname")).collect(), now_ms, elapsed_s })
    }

    fn start_s(&self) -> u64 {
        (self.now_ms / 1000).saturating_sub(self.elapsed_s)
    }
}

/// Parses the JSON of `text`, an object or a list of objects; lines before, between and after, and lines of fio's own
/// messages within, are returned as noise.
pub fn find_document(text: &str, file: &str) -> Result<Found, ImportError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with('{')) {
        let (value, end) = first_value(text).map_err(|error| json_error(&error, file))?;
        let noise = text[end..].lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect();
        return Ok(Found { value, earlier: Vec::new(), second_line: 0, clean: text[..end].to_owned(), noise });
    }
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
    let documents = match all_objects(&clean) {
        Ok(found) => found,
        Err(at) => {
            // fio prints messages of its jobs into the middle of the JSON when it writes to the same stream.
            let mut messages = Vec::new();
            let without = blank_lines(&clean, &mut messages, |line| line.starts_with("fio:"));
            let Some(found) = all_objects(&without).ok().filter(|_| !messages.is_empty()) else {
                return Err(at.said(&clean, file));
            };
            noise.append(&mut messages);
            clean = without;
            found
        }
    };
    let mut between = String::new();
    let mut end = 0;
    for document in &documents {
        between.push_str(&clean[end..document.start]);
        end = document.end;
    }
    between.push_str(&clean[end..]);
    noise.extend(between.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned));
    let second_line = documents.get(1).map_or(0, |second| line_of(&clean, second.start));
    let mut earlier: Vec<Value> = documents.into_iter().map(|document| document.value).collect();
    let value = earlier.pop().unwrap_or(Value::Null);
    clean.truncate(end);
    Ok(Found { value, earlier, second_line, clean, noise })
}

/// An object, and its place in a text.
struct Object {
    start: usize,
    end: usize,
    value: Value,
}

/// Reason why the object at `start` cannot be read.
struct Broken {
    start: usize,
    error: serde_json::Error,
}

impl Broken {
    fn said(self, text: &str, file: &str) -> ImportError {
        let mut said = json_error(&self.error, file);
        if let ImportError::Json { line, .. } = &mut said {
            *line += line_of(text, self.start) - 1;
        }
        said
    }
}

/// Number of the line at `at`, from 1.
fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// The objects of a text that begin a line or follow the one before. The first of them begins at the first brace.
fn all_objects(text: &str) -> Result<Vec<Object>, Broken> {
    let mut out: Vec<Object> = Vec::new();
    let mut from = 0;
    while let Some(start) = next_start(text, from) {
        let (value, length) = first_value(&text[start..]).map_err(|error| Broken { start, error })?;
        from = start + length;
        out.push(Object { start, end: from, value });
    }
    Ok(out)
}

/// The next brace that has only white space before it on its line, or since `from`.
fn next_start(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    for line in text[from..].split_inclusive('\n') {
        let brace = line.len() - line.trim_start().len();
        if line[brace..].starts_with('{') {
            return Some(at + brace);
        }
        at += line.len();
    }
    None
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
