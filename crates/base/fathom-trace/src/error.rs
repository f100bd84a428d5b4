//! Traces that cannot be read.

use fathom_message::{Message, Say, msg, say_error};

/// Why a trace ends before its end.
#[derive(Debug)]
pub enum TraceError {
    /// It cannot be read.
    Io(std::io::Error),
    /// It begins like no trace.
    NoTrace,
    /// An iolog of a version that nobody can replay.
    Version {
        /// As it stands in the first line.
        found: String,
    },
    /// An entry makes no sense.
    Entry {
        /// Its line, or for a binary its number; from 1.
        number: u64,
        /// What is wrong.
        fault: TraceFault,
    },
}

/// What is wrong with an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceFault {
    /// Words are missing, or there are too many.
    Words,
    /// A number cannot be read.
    Number {
        /// As it stands there.
        text: String,
    },
    /// An action that no version has.
    Action {
        /// As it stands there.
        text: String,
    },
    /// A file that was not added.
    File {
        /// As it stands there.
        name: String,
    },
    /// A read, write or trim of nothing.
    Empty,
    /// More bytes at once than any I/O has.
    Long,
    /// No entry begins here.
    Magic,
    /// Entries of another version of blktrace.
    BinaryVersion {
        /// As it stands there.
        found: u8,
    },
    /// The file ends within the entry.
    Cut,
}

impl TraceError {
    pub(crate) fn from_io(error: std::io::Error) -> TraceError {
        TraceError::Io(error)
    }
}

impl Say for TraceError {
    fn message(&self) -> Message {
        match self {
            TraceError::Io(error) => msg!("trace-unread", error = error.to_string()),
            TraceError::NoTrace => msg!("trace-none"),
            TraceError::Version { found } => msg!("trace-version", found = found.clone()),
            TraceError::Entry { number, fault } => {
                msg!("trace-entry", number = number.to_string(), fault = fault.message())
            }
        }
    }
}

say_error!(TraceError);

impl TraceFault {
    fn message(&self) -> Message {
        match self {
            TraceFault::Words => msg!("trace-words"),
            TraceFault::Number { text } => msg!("trace-number", text = text.clone()),
            TraceFault::Action { text } => msg!("trace-action", text = text.clone()),
            TraceFault::File { name } => msg!("trace-file", name = name.clone()),
            TraceFault::Empty => msg!("trace-empty"),
            TraceFault::Long => msg!("trace-long"),
            TraceFault::Magic => msg!("trace-magic"),
            TraceFault::BinaryVersion { found } => msg!("trace-binary-version", found = u32::from(*found)),
            TraceFault::Cut => msg!("trace-cut"),
        }
    }
}
