//! What can go wrong with a setting, and what to do about it.

use std::io;
use std::path::PathBuf;

use super::Setting;

/// Why a setting was not changed, or not brought back.
#[derive(Debug, thiserror::Error)]
pub enum SettingError {
    /// A word that names no setting.
    #[error("there is no setting `{word}`")]
    UnknownWord {
        /// As written.
        word: String,
        /// The nearest that exists.
        nearest: Option<&'static str>,
    },
    /// Not `name=value`.
    #[error("`{text}` is not of the form setting=value")]
    Form {
        /// As written.
        text: String,
    },
    /// The word needs devices and none was named.
    #[error("the setting {word} belongs to a device, and the targets have none")]
    NoDevice {
        /// Which.
        word: &'static str,
    },
    /// The kernel has no such file here.
    #[error("{what} cannot be set on this machine: there is no {path:?}")]
    Missing {
        /// Which setting.
        what: String,
        /// Where it would be.
        path: PathBuf,
    },
    /// The value is none the setting takes.
    #[error("{setting} cannot be {value:?}: {why}")]
    Value {
        /// Which.
        setting: Setting,
        /// As asked.
        value: String,
        /// What it takes.
        why: String,
    },
    /// The kernel did not let us read or write.
    #[error("{setting} cannot be {doing}: {source}")]
    Io {
        /// Which.
        setting: Setting,
        /// `read` or `set to ...`.
        doing: String,
        /// Cause.
        source: io::Error,
    },
    /// The kernel accepted the write and did something else.
    #[error("{setting} was set to {wanted:?} and reads {found:?}")]
    NotTaken {
        /// Which.
        setting: Setting,
        /// As asked.
        wanted: String,
        /// As read back.
        found: String,
    },
    /// Another Fathom holds it.
    #[error("{setting} is changed by another Fathom right now (process {pid}: {command})")]
    Busy {
        /// Which.
        setting: Setting,
        /// Whose.
        pid: u32,
        /// What it does.
        command: String,
    },
    /// A Fathom that died left it changed.
    #[error("{setting} was left changed by a Fathom that was killed (process {pid}: {command})")]
    Abandoned {
        /// Which.
        setting: Setting,
        /// Whose.
        pid: u32,
        /// What it did.
        command: String,
    },
    /// It was something else in the meantime, so that its old value may not be what anybody wants.
    #[error("{setting} is {found:?}: somebody changed it after Fathom had set {set:?}; before that it was {from:?}")]
    ChangedSince {
        /// Which.
        setting: Setting,
        /// Now.
        found: String,
        /// Fathom's value.
        set: String,
        /// The value before.
        from: String,
    },
    /// The journal cannot be read or written.
    #[error("journal {path:?}: {source}")]
    Journal {
        /// The file or folder.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// A line of a journal makes no sense.
    #[error("journal {path:?}, line {line}: {why}")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
}

impl SettingError {
    /// What to do about it, for the `help:` line.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            SettingError::UnknownWord { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            SettingError::UnknownWord { nearest: None, .. } => {
                format!("settings are: {}", super::SETTING_WORDS.join(", "))
            }
            SettingError::Form { .. } => "write for example scheduler=none".into(),
            SettingError::NoDevice { .. } => "name a block device, or a file on one".into(),
            SettingError::Missing { .. } => "the driver, the kernel or a hypervisor does not offer it".into(),
            SettingError::Value { .. } => "choose one of the values it takes".into(),
            SettingError::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                "changing a setting needs root".into()
            }
            SettingError::Io { setting: Setting::IrqAffinity { .. }, .. } => {
                "the kernel lets nobody move interrupts that it manages itself, as those of nvme queues".into()
            }
            SettingError::Io { .. } => "the kernel log may say why".into(),
            SettingError::NotTaken { .. } => "the old value was put back; choose a value the kernel keeps".into(),
            SettingError::Busy { .. } => "wait until it ends".into(),
            SettingError::Abandoned { .. } => "bring the old values back first: fathom restore".into(),
            SettingError::ChangedSince { setting, from, .. } => {
                format!("it was left alone; set {setting} to {from} by hand if that is wanted")
            }
            SettingError::Journal { .. } => {
                "nothing is changed without a journal: make its folder writable, or name another with FATHOM_JOURNAL"
                    .into()
            }
            SettingError::Corrupt { .. } => "the lines that could be read were followed; look at the file".into(),
        }
    }
}
