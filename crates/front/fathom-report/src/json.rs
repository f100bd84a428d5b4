//! Fathom's own JSON document.

use fathom_lab::document::Document;

/// The document as indented JSON with a newline at its end: what `--json` and `export --format json` print.
///
/// # Errors
/// Never for a document made from the store; [`serde_json::Error`] when a foreign value inside it has no JSON form.
pub fn json(doc: &Document) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(doc)?;
    text.push('\n');
    Ok(text)
}
