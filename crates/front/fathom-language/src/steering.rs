//! Characters that steer a terminal, which names of files, drives and other programs may hold.

/// Whether a terminal that is given this character does something instead of showing it: control characters but line ends
/// and tabs, and the marks and overrides that turn the direction of text.
#[must_use]
pub fn steers_terminal(c: char) -> bool {
    let turns_text =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() && !matches!(c, '\n' | '\t') || turns_text
}
