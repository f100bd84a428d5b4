//! What can go wrong with a setting, and what to do about it.

use std::io;
use std::path::PathBuf;

use fathom_message::{Arg, Join, Message, Say, msg, say_error};
use fathom_nvme::DeviceError;

use super::{SETTING_WORDS, Setting};

/// Why a setting was not changed, or not brought back.
#[derive(Debug)]
pub enum SettingError {
    /// One of another host, which a rank there had changed.
    OnHost {
        /// Name of the host.
        host: String,
        /// The reason.
        why: Message,
        /// Remedy.
        help: Option<Message>,
    },
    /// A word that names no setting.
    UnknownWord {
        /// The key that was given.
        word: String,
        /// The nearest that exists.
        nearest: Option<&'static str>,
    },
    /// Not `name=value`.
    Form {
        /// The text that was given.
        text: String,
    },
    /// The word needs devices and none was named.
    NoDevice {
        /// Word of the setting.
        word: &'static str,
    },
    /// The kernel has no such file here.
    Missing {
        /// Which setting.
        what: Message,
        /// Where it would be.
        path: PathBuf,
    },
    /// The value is none the setting takes.
    Value {
        /// Which setting.
        what: Message,
        /// The value that was to be set.
        value: String,
        /// What it takes.
        takes: Message,
    },
    /// The kernel did not let us read it.
    Read {
        /// The setting.
        setting: Setting,
        /// What the system answered.
        source: io::Error,
    },
    /// The kernel did not take the value.
    Write {
        /// The setting.
        setting: Setting,
        /// The value that was to be set.
        value: String,
        /// What the system answered.
        source: io::Error,
    },
    /// The drive did not take it, or did not say what it has.
    Drive {
        /// The setting.
        setting: Setting,
        /// What it answered.
        source: DeviceError,
    },
    /// The kernel accepted the write and did something else.
    NotTaken {
        /// The setting.
        setting: Setting,
        /// The value that was written.
        wanted: String,
        /// The value that the kernel shows after it.
        found: String,
    },
    /// Another Fathom holds it.
    Busy {
        /// The setting.
        setting: Setting,
        /// Process id of that program.
        pid: u32,
        /// What it does.
        command: String,
    },
    /// A Fathom that died left it changed.
    Abandoned {
        /// The setting.
        setting: Setting,
        /// Process id of that program.
        pid: u32,
        /// What it did.
        command: String,
    },
    /// It was something else in the meantime, so that its old value may not be what anybody wants.
    ChangedSince {
        /// The setting.
        setting: Setting,
        /// Now.
        found: String,
        /// Fathom's value.
        set: String,
        /// The value before.
        from: String,
    },
    /// A program has the drive open, and the kernel would wait for it.
    InUse {
        /// The driver of that drive.
        setting: Setting,
        /// Process id of the program.
        pid: u32,
        /// Its name.
        program: String,
    },
    /// The kernel's driver has the drive again and does not show all that it showed before.
    NamespacesGone {
        /// The driver of that drive.
        setting: Setting,
        /// Block devices that came back.
        found: u32,
        /// Block devices that there were.
        wanted: u32,
    },
    /// The journal cannot be read or written.
    Journal {
        /// The file or folder.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// Something has the name of a journal and is no regular file.
    NotAFile {
        /// Its path.
        path: PathBuf,
    },
    /// A line of a journal makes no sense.
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        why: Message,
    },
    /// A journal was written by a later Fathom.
    Newer {
        /// The file.
        path: PathBuf,
        /// Version of its lines.
        version: u32,
    },
}

impl Say for SettingError {
    fn message(&self) -> Message {
        match self {
            SettingError::OnHost { host, why, .. } => msg!("setting-on-host", host = host, why = why),
            SettingError::UnknownWord { word, .. } => msg!("setting-unknown", word = word),
            SettingError::Form { text } => msg!("setting-form", text = text),
            SettingError::NoDevice { word } => msg!("setting-no-device", word = *word),
            SettingError::Missing { what, path } => msg!("setting-missing", what = what, path = path),
            SettingError::Value { what, value, takes } => {
                msg!("setting-value", what = what, value = value, takes = takes)
            }
            SettingError::Read { setting, source } => {
                msg!("setting-unreadable", setting = setting.message(), source = source)
            }
            SettingError::Write { setting, value, source } => {
                msg!("setting-unwritable", setting = setting.message(), value = value, source = source)
            }
            SettingError::Drive { setting, source } => {
                msg!("setting-of-drive", setting = setting.message(), error = source.message())
            }
            SettingError::NotTaken { setting, wanted, found } => {
                msg!("setting-not-taken", setting = setting.message(), wanted = wanted, found = found)
            }
            SettingError::Busy { setting, pid, command } => {
                msg!("setting-busy", setting = setting.message(), pid = pid.to_string(), command = command)
            }
            SettingError::Abandoned { setting, pid, command } => {
                msg!("setting-abandoned", setting = setting.message(), pid = pid.to_string(), command = command)
            }
            SettingError::ChangedSince { setting, found, set, from } => {
                msg!("setting-changed-since", setting = setting.message(), found = found, set = set, from = from)
            }
            SettingError::InUse { setting, pid, program } => {
                msg!("setting-in-use", setting = setting.message(), pid = pid.to_string(), program = program)
            }
            SettingError::NamespacesGone { setting, found, wanted } => {
                let (found, wanted) = (found.to_string(), wanted.to_string());
                msg!("setting-namespaces-gone", setting = setting.message(), found = found, wanted = wanted)
            }
            SettingError::Journal { path, source } => msg!("journal-failed", path = path, source = source),
            SettingError::NotAFile { path } => msg!("journal-not-a-file", path = path),
            SettingError::Corrupt { path, line, why } => {
                msg!("journal-corrupt", path = path, line = line.to_string(), why = why)
            }
            SettingError::Newer { path, version } => {
                msg!("journal-newer", path = path, version = version.to_string())
            }
        }
    }

    fn help(&self) -> Option<Message> {
        Some(match self {
            SettingError::OnHost { help, .. } => return help.clone(),
            SettingError::UnknownWord { nearest: Some(nearest), .. } => msg!("did-you-mean", near = *nearest),
            SettingError::UnknownWord { nearest: None, .. } => {
                msg!("setting-unknown-help", words = Arg::names(SETTING_WORDS, Join::Comma))
            }
            SettingError::Form { .. } => msg!("setting-form-help"),
            SettingError::NoDevice { .. } => msg!("setting-no-device-help"),
            SettingError::Missing { .. } => msg!("setting-missing-help"),
            SettingError::Value { .. } => msg!("setting-value-help"),
            SettingError::Read { source, .. } | SettingError::Write { source, .. }
                if source.kind() == io::ErrorKind::PermissionDenied =>
            {
                msg!("setting-needs-root")
            }
            SettingError::Write { setting: Setting::IrqAffinity { .. }, .. } => msg!("setting-managed-interrupt"),
            SettingError::Read { .. } | SettingError::Write { .. } => msg!("setting-see-kernel-log"),
            SettingError::Drive { source, .. } => {
                return Some(source.help().unwrap_or_else(|| msg!("setting-of-drive-help")));
            }
            SettingError::NotTaken { setting: Setting::Hugepages { .. }, .. } => msg!("setting-hugepages-help"),
            SettingError::NotTaken { setting: Setting::PciDriver(_), .. } | SettingError::NamespacesGone { .. } => {
                msg!("setting-see-kernel-log")
            }
            SettingError::InUse { pid, .. } => msg!("setting-in-use-help", pid = pid.to_string()),
            SettingError::NotTaken { .. } => msg!("setting-not-taken-help"),
            SettingError::Busy { .. } => msg!("setting-busy-help"),
            SettingError::Abandoned { .. } => msg!("setting-abandoned-help"),
            SettingError::ChangedSince { setting, from, .. } => {
                msg!("setting-changed-since-help", setting = setting.message(), from = from)
            }
            SettingError::Journal { .. } => msg!("journal-failed-help"),
            SettingError::NotAFile { .. } => msg!("journal-not-a-file-help"),
            SettingError::Corrupt { path, .. } => msg!("journal-corrupt-help", kept = kept_as(path)),
            SettingError::Newer { .. } => msg!("journal-newer-help"),
        })
    }
}

say_error!(SettingError);

/// Where `fathom restore` puts a damaged journal once everything that could be read of it is followed.
pub(super) fn kept_as(journal: &std::path::Path) -> PathBuf {
    let mut name = journal.as_os_str().to_owned();
    name.push(".damaged");
    PathBuf::from(name)
}
