//! Why a file was not taken in.

/// Why nothing was imported. Each says what, where and why; [`ImportError::help`] says what to do.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// The text is no valid JSON, or a field of Fathom's document has the wrong form.
    #[error("{file}:{line}:{column}: {what}")]
    Json {
        /// File as named by the user.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong there.
        what: String,
    },
    /// It is something else.
    #[error("{file}: this is no result of fio or Fathom; it looks like {looks_like}")]
    WrongKind {
        /// File as named by the user.
        file: String,
        /// What it seems to be.
        looks_like: String,
        /// What to do with it.
        help: String,
    },
    /// Written by an fio before 3.0.
    #[error("{file}: written by {version}, whose latencies are in microseconds and whose bins mean something else")]
    OldFio {
        /// File as named by the user.
        file: String,
        /// What the file says about its writer.
        version: String,
    },
    /// Written by a newer Fathom.
    #[error("{file}: the document has schema {found}, this Fathom reads up to {known}")]
    NewerFathom {
        /// File as named by the user.
        file: String,
        /// Schema of the file.
        found: u64,
        /// Newest schema known.
        known: u32,
    },
    /// A value is missing, of the wrong type, or has no counterpart here.
    #[error("{file}: {place}: {what}")]
    Content {
        /// File as named by the user.
        file: String,
        /// Where in the document, `jobs[0].read.total_ios`.
        place: String,
        /// What is wrong with it.
        what: String,
        /// What to do.
        help: String,
    },
}

impl ImportError {
    /// What to do about it; may be empty.
    #[must_use]
    pub fn help(&self) -> &str {
        match self {
            ImportError::Json { .. } => "the file may be cut off or edited; fio writes clean JSON with --output=FILE",
            ImportError::OldFio { .. } => "run the job with fio 3.0 or newer and --output-format=json+",
            ImportError::NewerFathom { .. } => "use the Fathom that wrote it, or a newer one",
            ImportError::WrongKind { help, .. } | ImportError::Content { help, .. } => help,
        }
    }
}
