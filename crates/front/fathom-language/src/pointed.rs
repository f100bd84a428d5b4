//! An error with the place it is about: file, line, column, the line and carets.

use std::fmt::Write as _;

use fathom_message::{Message, Place};

use crate::language::Language;

/// Longest part of a source line that is shown, in characters.
const SHOWN_CHARS_MAX: usize = 110;

impl Language {
    /// What is wrong where, and what to do: the message, `plan.toml:14:1`, the line and carets, the remedy. The caller
    /// writes `error: ` before it, as before every error.
    #[must_use]
    pub fn say_at(self, place: &Place, message: &Message, help: Option<&Message>) -> String {
        let mut out = self.say(message);
        let help = help.map(|help| self.say(help)).filter(|help| !help.is_empty());
        // Writing to a string cannot fail.
        if place.line == 0 {
            if !place.file.is_empty() {
                let _ = write!(out, "\n  in {}", place.file);
            }
            if let Some(help) = help {
                let _ = write!(out, "\n  help: {help}");
            }
            return out;
        }
        let number = place.line.to_string();
        let gutter = " ".repeat(number.len());
        let (shown, caret_at) = window(place);
        // Tabs are kept in the padding so that the caret stays under its word at any tab width.
        let padding: String = shown.chars().take(caret_at).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let shown_count = shown.chars().count();
        let carets = "^".repeat(place.length.min(shown_count.saturating_sub(caret_at)).max(1));
        let _ = write!(out, "\n{gutter} {}:{}:{}", place.file, place.line, place.column);
        let _ = write!(out, "\n{number} | {shown}\n{gutter} | {padding}{carets}");
        let _ = match help {
            Some(help) if caret_at + carets.len() + help.chars().count() <= SHOWN_CHARS_MAX => write!(out, " {help}"),
            Some(help) => write!(out, "\n  help: {help}"),
            None => Ok(()),
        };
        out
    }
}

/// The part of the line that is shown, and where in it the caret starts.
fn window(place: &Place) -> (String, usize) {
    // Control characters could repaint the reader's terminal.
    let clean = |c: char| if c.is_control() && c != '\t' { '\u{fffd}' } else { c };
    let caret_at = place.column.saturating_sub(1);
    let total = place.source_line.chars().count();
    if total <= SHOWN_CHARS_MAX {
        return (place.source_line.chars().map(clean).collect(), caret_at);
    }
    let first = caret_at.saturating_sub(SHOWN_CHARS_MAX / 3);
    let part = place.source_line.chars().skip(first).take(SHOWN_CHARS_MAX).map(clean);
    if first == 0 {
        return (part.collect(), caret_at);
    }
    (std::iter::once('…').chain(part).collect(), caret_at - first + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_message::msg;

    fn shown(
        file: &str,
        text: &str,
        span: std::ops::Range<usize>,
        message: &Message,
        help: Option<&Message>,
    ) -> String {
        Language::English.say_at(&Place::at(file, text, span), message, help)
    }

    #[test]
    fn an_error_looks_like_the_specification() {
        let text = "\n".repeat(13) + "io_depth = [1, 2, 4]\n";
        let message = Message::verbatim("unknown key `io_depth`");
        let help = msg!("did-you-mean", near = "iodepth");
        insta::assert_snapshot!(format!("error: {}", shown("plan.toml", &text, 13..21, &message, Some(&help))), @r"
        error: unknown key `io_depth`
           plan.toml:14:1
        14 | io_depth = [1, 2, 4]
           | ^^^^^^^^ did you mean `iodepth`?
        ");
    }

    #[test]
    fn a_long_line_is_cut_around_the_caret() {
        let text = format!("{}bad{}", "x".repeat(5_000), "y".repeat(5_000));
        let shown = shown("f", &text, 5_000..5_003, &Message::verbatim("no"), None);
        assert!(shown.lines().all(|l| l.chars().count() < 140), "{shown}");
        let lines: Vec<&str> = shown.lines().collect();
        let at = lines[3].chars().position(|c| c == '^').expect("a caret");
        assert_eq!(lines[2].chars().skip(at).take(3).collect::<String>(), "bad");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert!(!shown("f", "a\u{1b}[2Jb", 0..1, &Message::verbatim("no"), None).contains('\u{1b}'));
    }

    proptest::proptest! {
        #[test]
        fn any_span_of_any_text_can_be_shown(text in ".{0,40}\n?.{0,200}", a in 0usize..400, b in 0usize..400) {
            let help = Message::verbatim("h");
            proptest::prop_assert!(shown("f", &text, a..b, &Message::verbatim("m"), Some(&help)).contains('^'));
        }
    }
}
