//! fio's words of `rw`: which operations a step does, and in which order of the blocks.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::file_ops::FileOp;

/// What `rw` (`readwrite`) says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum ReadWrite {
    /// Reads, one block after the other.
    Read,
    /// Writes, one block after the other.
    Write,
    /// Reads in random order.
    RandRead,
    /// Writes in random order.
    RandWrite,
    /// Both, one block after the other.
    #[serde(alias = "readwrite")]
    Rw,
    /// Both in random order.
    RandRw,
    /// Discards, one block after the other.
    Trim,
    /// Discards in random order.
    RandTrim,
    /// Discards and writes, one block after the other.
    TrimWrite,
    /// Discards and writes in random order.
    RandTrimWrite,
    /// Files are made.
    FileCreate,
    /// Files are looked at.
    FileStat,
    /// Files are removed.
    FileDelete,
}

impl ReadWrite {
    /// All of them.
    pub const ALL: [ReadWrite; 13] = [
        ReadWrite::Read,
        ReadWrite::Write,
        ReadWrite::RandRead,
        ReadWrite::RandWrite,
        ReadWrite::Rw,
        ReadWrite::RandRw,
        ReadWrite::Trim,
        ReadWrite::RandTrim,
        ReadWrite::TrimWrite,
        ReadWrite::RandTrimWrite,
        ReadWrite::FileCreate,
        ReadWrite::FileStat,
        ReadWrite::FileDelete,
    ];

    /// fio's word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            ReadWrite::Read => "read",
            ReadWrite::Write => "write",
            ReadWrite::RandRead => "randread",
            ReadWrite::RandWrite => "randwrite",
            ReadWrite::Rw => "rw",
            ReadWrite::RandRw => "randrw",
            ReadWrite::Trim => "trim",
            ReadWrite::RandTrim => "randtrim",
            ReadWrite::TrimWrite => "trimwrite",
            ReadWrite::RandTrimWrite => "randtrimwrite",
            ReadWrite::FileCreate => "filecreate",
            ReadWrite::FileStat => "filestat",
            ReadWrite::FileDelete => "filedelete",
        }
    }

    /// By fio's word; it has two for one of them.
    #[must_use]
    pub fn from_word(word: &str) -> Option<ReadWrite> {
        match word {
            "readwrite" => Some(ReadWrite::Rw),
            _ => ReadWrite::ALL.into_iter().find(|rw| rw.as_str() == word),
        }
    }

    /// What is done to whole files; `None`: blocks are moved.
    #[must_use]
    pub const fn file_op(self) -> Option<FileOp> {
        match self {
            ReadWrite::FileCreate => Some(FileOp::Create),
            ReadWrite::FileStat => Some(FileOp::Stat),
            ReadWrite::FileDelete => Some(FileOp::Delete),
            _ => None,
        }
    }

    /// Whether it has reads.
    #[must_use]
    pub const fn reads(self) -> bool {
        matches!(self, ReadWrite::Read | ReadWrite::RandRead | ReadWrite::Rw | ReadWrite::RandRw | ReadWrite::FileStat)
    }

    /// Whether it has writes.
    #[must_use]
    pub const fn writes(self) -> bool {
        !matches!(
            self,
            ReadWrite::Read
                | ReadWrite::RandRead
                | ReadWrite::Trim
                | ReadWrite::RandTrim
                | ReadWrite::FileStat
                | ReadWrite::FileDelete
        )
    }

    /// Whether it discards blocks.
    #[must_use]
    pub const fn trims(self) -> bool {
        matches!(
            self,
            ReadWrite::Trim
                | ReadWrite::RandTrim
                | ReadWrite::TrimWrite
                | ReadWrite::RandTrimWrite
                | ReadWrite::FileDelete
        )
    }

    /// Whether one block follows the other.
    #[must_use]
    pub const fn is_sequential(self) -> bool {
        matches!(
            self,
            ReadWrite::Read
                | ReadWrite::Write
                | ReadWrite::Rw
                | ReadWrite::Trim
                | ReadWrite::TrimWrite
                | ReadWrite::FileCreate
                | ReadWrite::FileStat
                | ReadWrite::FileDelete
        )
    }
}

impl fmt::Display for ReadWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_says_its_operations_and_is_read_back_as_itself() {
        for rw in ReadWrite::ALL {
            let word = rw.as_str();
            assert_eq!(ReadWrite::from_word(word), Some(rw));
            assert_eq!(serde_json::to_value(rw).expect("a word"), word);
            assert_eq!(rw.is_sequential(), !word.starts_with("rand"), "{word}");
            if rw.file_op().is_some() {
                continue;
            }
            assert_eq!(rw.trims(), word.contains("trim"), "{word}");
            assert_eq!(rw.writes(), word.contains("write") || word.ends_with("rw"), "{word}");
            assert_eq!(rw.reads(), word.contains("read") || word.ends_with("rw"), "{word}");
        }
        assert_eq!(ReadWrite::from_word("readwrite"), Some(ReadWrite::Rw));
        assert_eq!(ReadWrite::from_word("reed"), None);
    }
}
