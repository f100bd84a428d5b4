//! The lines of a journal's file.
//!
//! One file per process, `settings-STARTED-PID.jsonl`, of lines of JSON: the owner first, then `change` (synced before
//! the setting is written), `applied`, `restored` or `dropped`. The owner holds a lock on its file, so that a file
//! without a lock is that of a program which died. A file with nothing open is removed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write as _};

use serde::{Deserialize, Serialize};

use super::Setting;

/// Version of the lines.
pub(super) const VERSION: u32 = 1;
/// First part of a journal's file name.
pub(super) const PREFIX: &str = "settings-";
/// End of a journal's file name.
pub(super) const SUFFIX: &str = ".jsonl";

/// One line of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub(super) enum Line {
    /// The first: whose journal this is.
    Owner { version: u32, pid: u32, boot_id: String, command: String, started_unix_ns: u64, kept: bool },
    /// About to be changed. Without `to` the kernel may change it along with the next line's setting.
    Change {
        id: u32,
        setting: Setting,
        // The key of all journals so far: a name that older programs do not find would make them forget the change.
        #[serde(rename = "bearer")]
        identity: Option<String>,
        from: String,
        to: Option<String>,
    },
    /// The value was read back.
    Applied { id: u32 },
    /// The old value is back.
    Restored { id: u32 },
    /// Given up, and why: for whoever reads the file.
    Dropped { id: u32, why: String },
}

/// A change whose end is not written yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) setting: Setting,
    /// Distinguishes the device or interrupt from a later one of the same name.
    pub(super) identity: Option<String>,
    pub(super) from: String,
    /// `None`: the kernel may have changed it along with the entry that follows.
    pub(super) to: Option<String>,
    pub(super) applied: bool,
}

impl Entry {
    pub(super) fn line(&self, id: u32) -> Line {
        Line::Change {
            id,
            setting: self.setting.clone(),
            identity: self.identity.clone(),
            from: self.from.clone(),
            to: self.to.clone(),
        }
    }
}

/// Changes whose end is not written yet, in the order they were made.
pub(super) type Open = BTreeMap<u32, Entry>;

/// Appends lines with one write.
pub(super) fn append(file: &mut File, lines: &[Line]) -> io::Result<()> {
    let mut text = String::new();
    for line in lines {
        text.push_str(&serde_json::to_string(line).map_err(io::Error::other)?);
        text.push('\n');
    }
    file.write_all(text.as_bytes())
}

/// Appends lines with one write and waits until they are on the disk.
pub(super) fn append_synced(file: &mut File, lines: &[Line]) -> io::Result<()> {
    append(file, lines)?;
    #[cfg(test)]
    counted::SYNCS.with(|n| n.set(n.get() + 1));
    file.sync_data()
}

#[cfg(test)]
pub(super) mod counted {
    //! What costs time, counted by the thread that pays for it.

    use std::cell::Cell;

    thread_local! {
        pub(in crate::settings) static SYNCS: Cell<u32> = const { Cell::new(0) };
        pub(in crate::settings) static PARSED: Cell<u32> = const { Cell::new(0) };
    }
}
