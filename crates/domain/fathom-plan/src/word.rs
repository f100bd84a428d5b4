//! Advice for a word that is not valid.

/// "did you mean `x`?" or a list of what is valid.
pub(crate) fn advice(word: &str, valid: &[&str]) -> String {
    match fathom_units::nearest(word, valid.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("valid: {}", valid.join(", ")),
    }
}
