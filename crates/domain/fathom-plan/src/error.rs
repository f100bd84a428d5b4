//! Errors that point at the place in the text: file, line, column, a caret and what to do.

use std::fmt;
use std::ops::Range;

/// A plan that cannot be read, with the place and the remedy.
///
/// Prints as `unknown key `io_depth`` followed by `plan.toml:14:1`, the line and a caret. The caller writes `error: `
/// before it, as before every error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceError {
    /// File, or `--set`, `--target`... when the command line is at fault.
    pub file: String,
    /// From 1; 0 when no line is at fault (`file` may then be empty).
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// Characters to underline, at least 1.
    pub length: usize,
    /// The line as it stands in the file.
    pub source_line: String,
    /// What is wrong, in one line.
    pub message: String,
    /// What to do, if known.
    pub help: Option<String>,
}

/// Longest part of a source line that is shown, in characters.
const SHOWN_CHARS_MAX: usize = 110;

impl SourceError {
    /// An error at a byte range of `text`.
    #[must_use]
    pub fn at(file: &str, text: &str, span: Range<usize>, message: String, help: Option<String>) -> Self {
        let start = floor_char_boundary(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
        let end = floor_char_boundary(text, span.end).clamp(start, line_end);
        SourceError {
            file: file.to_owned(),
            line: text[..start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            length: text[start..end].chars().count().max(1),
            source_line: text[line_start..line_end].trim_end_matches('\r').to_owned(),
            message,
            help,
        }
    }

    /// An error of something that has no line: the command line, a name.
    #[must_use]
    pub fn without_place(origin: &str, message: String, help: Option<String>) -> Self {
        SourceError {
            file: origin.to_owned(),
            line: 0,
            column: 0,
            length: 0,
            source_line: String::new(),
            message,
            help,
        }
    }
}

fn floor_char_boundary(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

impl std::error::Error for SourceError {}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        if self.line == 0 {
            if !self.file.is_empty() {
                write!(f, "\n  in {}", self.file)?;
            }
            return match &self.help {
                Some(help) => write!(f, "\n  help: {help}"),
                None => Ok(()),
            };
        }
        let number = self.line.to_string();
        let gutter = " ".repeat(number.len());
        let (shown, caret_at) = self.window();
        // Tabs are kept in the padding so that the caret stays under its word at any tab width.
        let padding: String = shown.chars().take(caret_at).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let shown_count = shown.chars().count();
        let carets = "^".repeat(self.length.min(shown_count.saturating_sub(caret_at)).max(1));
        write!(f, "\n{gutter} {}:{}:{}", self.file, self.line, self.column)?;
        write!(f, "\n{number} | {shown}\n{gutter} | {padding}{carets}")?;
        match &self.help {
            Some(help) if caret_at + carets.len() + help.chars().count() <= SHOWN_CHARS_MAX => write!(f, " {help}"),
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

impl SourceError {
    /// The part of the line that is shown, and where in it the caret starts.
    fn window(&self) -> (String, usize) {
        // Control characters could repaint the reader's terminal.
        let clean = |c: char| if c.is_control() && c != '\t' { '\u{fffd}' } else { c };
        let caret_at = self.column.saturating_sub(1);
        let total = self.source_line.chars().count();
        if total <= SHOWN_CHARS_MAX {
            return (self.source_line.chars().map(clean).collect(), caret_at);
        }
        let first = caret_at.saturating_sub(SHOWN_CHARS_MAX / 3);
        let part = self.source_line.chars().skip(first).take(SHOWN_CHARS_MAX).map(clean);
        if first == 0 {
            return (part.collect(), caret_at);
        }
        (std::iter::once('…').chain(part).collect(), caret_at - first + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_looks_like_the_specification() {
        let text = "\n".repeat(13) + "io_depth = [1, 2, 4]\n";
        let e = SourceError::at(
            "plan.toml",
            &text,
            13..21,
            "unknown key `io_depth`".into(),
            Some("did you mean `iodepth`?".into()),
        );
        insta::assert_snapshot!(format!("error: {e}"), @r"
        error: unknown key `io_depth`
           plan.toml:14:1
        14 | io_depth = [1, 2, 4]
           | ^^^^^^^^ did you mean `iodepth`?
        ");
    }

    #[test]
    fn a_long_line_is_cut_around_the_caret() {
        let text = format!("{}bad{}", "x".repeat(5_000), "y".repeat(5_000));
        let e = SourceError::at("f", &text, 5_000..5_003, "no".into(), None);
        let shown = e.to_string();
        assert!(shown.lines().all(|l| l.chars().count() < 140), "{shown}");
        let lines: Vec<&str> = shown.lines().collect();
        let at = lines[3].chars().position(|c| c == '^').expect("a caret");
        assert_eq!(lines[2].chars().skip(at).take(3).collect::<String>(), "bad");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let e = SourceError::at("f", "a\u{1b}[2Jb", 0..1, "no".into(), None);
        assert!(!e.to_string().contains('\u{1b}'));
    }

    proptest::proptest! {
        #[test]
        fn any_span_of_any_text_can_be_shown(text in ".{0,40}\n?.{0,200}", a in 0usize..400, b in 0usize..400) {
            let e = SourceError::at("f", &text, a..b, "m".into(), Some("h".into()));
            proptest::prop_assert!(e.to_string().contains('^'));
        }
    }
}
