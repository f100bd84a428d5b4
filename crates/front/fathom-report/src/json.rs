//! Fathom's own JSON, and what all JSON here has in common.

use fathom_language::{Language, steers_terminal};
use serde::Serialize;

use crate::words::in_words;

/// A value as indented JSON with a newline at its end, its messages in English: what `--json` and `export --format json`
/// print.
///
/// # Errors
/// Never for a document made from the store; [`serde_json::Error`] when a foreign value inside it has no JSON form.
pub fn json(value: &impl Serialize) -> Result<String, serde_json::Error> {
    pretty(&in_words(value, Language::English)?)
}

/// Indented JSON with a newline at its end. What would steer a terminal is escaped: the text reads as the same value, and
/// is safe to look at.
pub(crate) fn pretty(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let text = serde_json::to_string_pretty(value)?;
    let mut out = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        // Outside strings JSON is plain ASCII, and each of these is one unit of UTF-16: the escape is exact.
        if steers_terminal(c) {
            out.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out.push('\n');
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::json;

    #[test]
    fn what_would_steer_a_terminal_is_escaped_and_reads_back_exactly() {
        let name = "a\u{1b}]0;t\u{7}\u{7f}\u{9b}31m\u{202e}b\u{2066}\u{200f}\n\t随机读";
        let text = json(&serde_json::json!({ "name": name, (name): 1 })).expect("plain");
        assert!(text.contains(r"\u001b]0;t\u0007\u007f\u009b31m\u202eb\u2066\u200f\n\t随机读"), "{text}");
        assert!(!text.chars().any(fathom_language::steers_terminal), "{text:?}");
        let read: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!((&read["name"], &read[name]), (&name.into(), &1.into()));
    }
}
