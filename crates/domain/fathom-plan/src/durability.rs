//! What makes writes durable: syncs between them, or each write by itself.

use serde::{Deserialize, Serialize};

/// How the step's writes are made durable. The default leaves it to the drive and the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Durability {
    /// Syncs between the writes; `None`: no sync is issued.
    pub sync: Option<SyncEvery>,
    /// How the target is opened for writing.
    pub write_through: WriteThrough,
    /// A sync once a thread has written all it had to (fio's end_fsync): part of the time, no sync of the record.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub at_end: bool,
    /// Each write reaches the medium whole or not at all (RWF_ATOMIC), also when power fails.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub is_atomic: bool,
}

impl Durability {
    /// Whether nothing is asked beyond plain writes.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Durability::default()
    }

    /// As it stands behind the operations in a label: `+ fdatasync`, `+ fsync/8`, `O_DSYNC`; `None` where nothing is asked.
    /// Names of calls and flags, the same in every language.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        let flag = match self.write_through {
            WriteThrough::None => None,
            WriteThrough::Dsync => Some("O_DSYNC".to_owned()),
            WriteThrough::Sync => Some("O_SYNC".to_owned()),
        };
        let sync = self.sync.map(|sync| match sync.writes {
            1 => format!("+ {}", sync.kind.as_str()),
            n => format!("+ {}/{n}", sync.kind.as_str()),
        });
        let at_end = self.at_end.then(|| "+ end_fsync".to_owned());
        let atomic = self.is_atomic.then(|| "RWF_ATOMIC".to_owned());
        let words: Vec<String> = atomic.into_iter().chain(flag).chain(sync).chain(at_end).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}

/// A sync after every so many writes of a thread. It is issued when they have completed, and covers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SyncEvery {
    /// By which call.
    pub kind: SyncKind,
    /// Completed writes of the thread before each sync, at least 1.
    pub writes: u32,
}

/// The call that makes completed writes durable. Through passthrough both are the NVMe Flush command; a mapped file is
/// synced by the call for its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SyncKind {
    /// fsync(2): data and all metadata.
    Fsync,
    /// fdatasync(2): data, and the metadata that is needed to find it.
    Fdatasync,
}

impl SyncKind {
    /// The call, which is fio's key as well.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            SyncKind::Fsync => "fsync",
            SyncKind::Fdatasync => "fdatasync",
        }
    }
}

/// Whether a write returns only when it is durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum WriteThrough {
    /// When kernel and drive have taken it.
    #[default]
    None,
    /// O_DSYNC: when its data is durable.
    Dsync,
    /// O_SYNC: when its data and metadata are.
    Sync,
}

impl WriteThrough {
    /// Every value.
    pub const ALL: [WriteThrough; 3] = [WriteThrough::None, WriteThrough::Dsync, WriteThrough::Sync];

    /// fio's word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            WriteThrough::None => "none",
            WriteThrough::Dsync => "dsync",
            WriteThrough::Sync => "sync",
        }
    }
}
