//! The features that a step can have had, by name.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What an engine or the host was to use. In JSON a text: the word, `purge of TARGET`, `path of TARGET`, or the setting
/// as it is written (`sda/scheduler`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "string"))]
#[serde(from = "String", into = "String")]
pub enum FeatureName {
    /// One thread alone submits to its ring.
    SingleIssuer,
    /// Completions are worked off when the thread asks for them.
    DeferTaskrun,
    /// Completions interrupt no thread at work.
    CoopTaskrun,
    /// The ring without its array of indexes.
    NoSqarray,
    /// The ring is known to the kernel by number.
    RegisteredRing,
    /// So is the file.
    FixedFiles,
    /// So are the buffers.
    FixedBuffers,
    /// Completions are polled for.
    Iopoll,
    /// A thread of the kernel submits.
    Sqpoll,
    /// Submission does not wait for a worker of the kernel.
    InlineSubmit,
    /// Completions are read from memory, without a call.
    UserReap,
    /// Writes of a mapping are put on the device by `msync`.
    Msync,
    /// Every completion is checked against what was submitted.
    Paranoid,
    /// The depth of the queue was searched for a latency.
    DepthSearch,
    /// Trims are started beside each other by io_uring.
    AsyncTrim,
    /// Parities of an array in user space are computed by these instructions.
    Parity,
    /// The drive's queues are polled by the thread itself, past the kernel.
    UserSpace,
    /// Doorbells of those queues are in memory that the drive looks at.
    ShadowDoorbells,
    /// Buffers that a drive in user space reaches: on large pages, or on small ones.
    DriveMemory,
    /// No drive: a simulated machine.
    Simulated,
    /// A target was brought to the state of a new one.
    Purge(String),
    /// A target has another path today.
    Path(String),
    /// A setting of the host.
    Setting(String),
}

/// Names of one word.
const WORDS: [(FeatureName, &str); 20] = [
    (FeatureName::SingleIssuer, "single_issuer"),
    (FeatureName::DeferTaskrun, "defer_taskrun"),
    (FeatureName::CoopTaskrun, "coop_taskrun"),
    (FeatureName::NoSqarray, "no_sqarray"),
    (FeatureName::RegisteredRing, "registered_ring"),
    (FeatureName::FixedFiles, "fixed_files"),
    (FeatureName::FixedBuffers, "fixed_buffers"),
    (FeatureName::Iopoll, "iopoll"),
    (FeatureName::Sqpoll, "sqpoll"),
    (FeatureName::InlineSubmit, "inline_submit"),
    (FeatureName::UserReap, "user_reap"),
    (FeatureName::Msync, "msync"),
    (FeatureName::Paranoid, "paranoid"),
    (FeatureName::DepthSearch, "depth_search"),
    (FeatureName::AsyncTrim, "async_trim"),
    (FeatureName::Parity, "parity"),
    (FeatureName::UserSpace, "user_space"),
    (FeatureName::ShadowDoorbells, "shadow_doorbells"),
    (FeatureName::DriveMemory, "drive_memory"),
    (FeatureName::Simulated, "simulated"),
];
const PURGE: &str = "purge of ";
const PATH: &str = "path of ";

impl fmt::Display for FeatureName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FeatureName::Purge(target) => write!(f, "{PURGE}{target}"),
            FeatureName::Path(target) => write!(f, "{PATH}{target}"),
            FeatureName::Setting(setting) => f.write_str(setting),
            word => f.pad(WORDS.iter().find(|(name, _)| name == word).map_or("", |(_, word)| word)),
        }
    }
}

impl From<FeatureName> for String {
    fn from(name: FeatureName) -> String {
        name.to_string()
    }
}

impl From<String> for FeatureName {
    fn from(text: String) -> FeatureName {
        if let Some((name, _)) = WORDS.iter().find(|(_, word)| *word == text) {
            return name.clone();
        }
        match (text.strip_prefix(PURGE), text.strip_prefix(PATH)) {
            (Some(target), _) => FeatureName::Purge(target.to_owned()),
            (_, Some(target)) => FeatureName::Path(target.to_owned()),
            _ => FeatureName::Setting(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_written_as_before_and_read_back_as_itself() {
        let named = [
            (FeatureName::Purge("/dev/sda".to_owned()), "purge of /dev/sda"),
            (FeatureName::Path("./file".to_owned()), "path of ./file"),
            (FeatureName::Setting("sda/scheduler".to_owned()), "sda/scheduler"),
        ];
        for (name, text) in WORDS.iter().chain(&named) {
            assert_eq!(serde_json::to_value(name).expect("a text"), *text);
            assert_eq!(serde_json::from_value::<FeatureName>((*text).into()).expect("a name"), *name);
        }
    }
}
