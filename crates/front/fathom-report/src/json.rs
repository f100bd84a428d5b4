//! Fathom's own JSON.

use fathom_language::Language;
use serde::Serialize;

use crate::words::in_words;

/// A value as indented JSON with a newline at its end, its messages in English: what `--json` and `export --format json`
/// print.
///
/// # Errors
/// Never for a document made from the store; [`serde_json::Error`] when a foreign value inside it has no JSON form.
pub fn json(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(&in_words(value, Language::English)?)?;
    text.push('\n');
    Ok(text)
}
