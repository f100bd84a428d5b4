//! Loads whose I/Os are whole files: they are made, looked at and removed, as fio's `filecreate`, `filestat` and
//! `filedelete` do.

use serde::{Deserialize, Serialize};

use crate::read_write::ReadWrite;

/// What is done to each file. In a record a file that is made counts as a write, one that is looked at as a read, one that is
/// removed as a trim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FileOp {
    /// It is made (open with O_CREAT and O_EXCL), written where it has a size, and closed.
    Create,
    /// It is looked at by its name (statx).
    Stat,
    /// Its name is removed (unlink).
    Delete,
}

/// Files that are each worked on once, as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FileLoad {
    /// What is done to each.
    pub op: FileOp,
    /// Files of each thread, in a folder of its own.
    pub files_per_thread: u32,
    /// What each file holds; 0: nothing.
    pub bytes_per_file: u32,
}

impl FileOp {
    /// All of them.
    pub const ALL: [FileOp; 3] = [FileOp::Create, FileOp::Stat, FileOp::Delete];

    /// As `rw` says it.
    #[must_use]
    pub const fn read_write(self) -> ReadWrite {
        match self {
            FileOp::Create => ReadWrite::FileCreate,
            FileOp::Stat => ReadWrite::FileStat,
            FileOp::Delete => ReadWrite::FileDelete,
        }
    }

    /// By the word of `rw`, which is fio's for its engine.
    #[must_use]
    pub fn from_word(word: &str) -> Option<FileOp> {
        FileOp::ALL.into_iter().find(|op| op.read_write().as_str() == word)
    }

    /// Whether files must be there before.
    #[must_use]
    pub const fn needs_files(self) -> bool {
        !matches!(self, FileOp::Create)
    }
}

impl FileLoad {
    /// Bytes that one operation moves.
    #[must_use]
    pub const fn moved_bytes(self) -> u32 {
        match self.op {
            FileOp::Create => self.bytes_per_file,
            FileOp::Stat | FileOp::Delete => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_reads_back_from_its_word() {
        for op in FileOp::ALL {
            assert_eq!(FileOp::from_word(op.read_write().as_str()), Some(op));
            assert_eq!(op.read_write().file_op(), Some(op));
        }
        assert_eq!(FileOp::from_word("randread"), None);
    }
}
