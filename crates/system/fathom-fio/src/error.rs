//! Why a file was not taken in.

use fathom_message::{Message, Say, msg, say_error};

/// Why nothing was imported. Each says what, where and why, and what to do.
#[derive(Clone, Debug, PartialEq)]
pub enum ImportError {
    /// The text is no valid JSON, or a field of Fathom's document has the wrong form.
    Json {
        /// File as named by the user.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong there.
        what: Message,
    },
    /// It is something else.
    WrongKind {
        /// File as named by the user.
        file: String,
        /// What it seems to be.
        looks_like: Message,
        /// What to do with it.
        help: Message,
    },
    /// Written by an fio before 3.0.
    OldFio {
        /// File as named by the user.
        file: String,
        /// What the file says about its writer.
        version: Message,
    },
    /// Written by a newer Fathom.
    NewerFathom {
        /// File as named by the user.
        file: String,
        /// Schema of the file.
        found: u64,
        /// Newest schema known.
        known: u32,
    },
    /// A value is missing, of the wrong type, or has no counterpart here.
    Content {
        /// File as named by the user.
        file: String,
        /// Where in the document, `jobs[0].read.total_ios`.
        place: String,
        /// What is wrong with it.
        what: Message,
        /// What to do, where that is known.
        help: Option<Message>,
    },
}

impl Say for ImportError {
    fn message(&self) -> Message {
        match self {
            ImportError::Json { file, line, column, what } => {
                let place = format!("{file}:{line}:{column}");
                msg!("import-at", place = place.to_owned(), what = what.clone())
            }
            ImportError::WrongKind { file, looks_like, .. } => {
                msg!("import-wrong-kind", file = file, looks_like = looks_like.clone())
            }
            ImportError::OldFio { file, version } => msg!("import-old-fio", file = file, version = version.clone()),
            ImportError::NewerFathom { file, found, known } => {
                msg!("import-newer", file = file, found = found.to_string(), known = known.to_string())
            }
            ImportError::Content { file, place, what, .. } => {
                msg!("import-at", place = format!("{file}: {place}"), what = what.clone())
            }
        }
    }

    fn help(&self) -> Option<Message> {
        match self {
            ImportError::Json { .. } => Some(msg!("import-json-help")),
            ImportError::OldFio { .. } => Some(msg!("import-old-fio-help")),
            ImportError::NewerFathom { .. } => Some(msg!("import-newer-help")),
            ImportError::WrongKind { help, .. } => Some(help.clone()),
            ImportError::Content { help, .. } => help.clone(),
        }
    }
}

say_error!(ImportError);
