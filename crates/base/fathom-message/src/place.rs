//! A place in a text that somebody wrote: file, line, column, and the line itself.

use std::ops::Range;

/// Where in a text something is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// File, or `--set`, `--target`... when the command line is at fault; may be empty.
    pub file: String,
    /// From 1; 0 when no line is at fault.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// Characters to underline, at least 1.
    pub length: usize,
    /// The line as it stands in the file.
    pub source_line: String,
}

impl Place {
    /// A byte range of `text`.
    #[must_use]
    pub fn at(file: &str, text: &str, span: Range<usize>) -> Place {
        let start = floor_char_boundary(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
        let end = floor_char_boundary(text, span.end).clamp(start, line_end);
        Place {
            file: file.to_owned(),
            line: text[..start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            length: text[start..end].chars().count().max(1),
            source_line: text[line_start..line_end].trim_end_matches('\r').to_owned(),
        }
    }

    /// Something that has no lines: the command line, a name.
    #[must_use]
    pub fn of(origin: &str) -> Place {
        Place { file: origin.to_owned(), ..Place::default() }
    }
}

fn floor_char_boundary(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}
