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
    /// It is looked at by its name (fstatat), of which [`StatBy`] says how much.
    Stat,
    /// Its name is removed (unlink).
    Delete,
}

/// By which name a file is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum StatBy {
    /// Its whole path from the root, each folder of which the kernel walks through, as mdtest, fio and most programs ask.
    Path,
    /// Its name in its folder, which is open: what steps did before there was a choice.
    #[default]
    Folder,
}

impl StatBy {
    /// All of them.
    pub const ALL: [StatBy; 2] = [StatBy::Path, StatBy::Folder];

    /// The word of study files and the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            StatBy::Path => "path",
            StatBy::Folder => "folder",
        }
    }

    // As serde asks.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn is_folder(&self) -> bool {
        *self == StatBy::Folder
    }
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
    /// Of [`FileOp::Stat`]: by which name.
    #[serde(default, skip_serializing_if = "StatBy::is_folder")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub stat_by: StatBy,
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
    fn steps_stored_before_there_was_a_choice_looked_at_names_in_their_folder() {
        let old = r#"{"op":"stat","files_per_thread":7,"bytes_per_file":0}"#;
        let load: FileLoad = serde_json::from_str(old).expect("reads");
        assert_eq!(load.stat_by, StatBy::Folder);
        assert_eq!(serde_json::to_string(&load).expect("writes"), old);
        let by_path = FileLoad { stat_by: StatBy::Path, ..load };
        assert!(serde_json::to_string(&by_path).expect("writes").contains(r#""stat_by":"path""#));
    }

    #[test]
    fn each_operation_reads_back_from_its_word() {
        for op in FileOp::ALL {
            assert_eq!(FileOp::from_word(op.read_write().as_str()), Some(op));
            assert_eq!(op.read_write().file_op(), Some(op));
        }
        assert_eq!(FileOp::from_word("randread"), None);
    }
}
