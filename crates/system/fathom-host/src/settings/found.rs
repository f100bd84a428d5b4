//! Journals as they are found in their folder: written by this program, by others, or by nobody.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::system::files::{FileType, Mode, OFlags};
use crate::system::locks;
use crate::system::{Errno, files};
use fathom_message::msg;

use super::line::{Entry, Line, Open, PREFIX, SUFFIX, VERSION};
use super::{Setting, SettingError};
use crate::root::{Root, attribute};
use crate::writing;

/// More than any run writes: a larger file is no journal.
const BYTES_MAX: u64 = 64 << 20;

/// A journal as read.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    /// Its owner runs.
    pub(super) alive: bool,
    pub(super) owner: Owner,
    pub(super) open: Open,
    /// Lines that make no sense; what stands in the others is followed.
    pub(super) damage: Vec<SettingError>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Owner {
    pub(super) pid: u32,
    /// `None`: the line is damaged.
    pub(super) boot_id: Option<String>,
    pub(super) command: String,
    pub(super) started_unix_ns: u64,
    pub(super) kept: bool,
}

impl Found {
    /// Whether a new change of `setting` must wait for this journal. A change that is meant to stay may be changed for
    /// a while by a run; it may not be made twice, or its true first value would be forgotten.
    pub(super) fn refuse_if_it_holds(&self, setting: &Setting, by_kept: bool) -> Result<(), SettingError> {
        if !self.open.values().any(|e| e.setting.is_same_switch(setting)) {
            return Ok(());
        }
        let (setting, pid, command) = (setting.clone(), self.owner.pid, self.owner.command.clone());
        if self.alive {
            return Err(SettingError::Busy { setting, pid, command });
        }
        if self.owner.kept && !by_kept {
            return Ok(());
        }
        Err(SettingError::Abandoned { setting, pid, command })
    }
}

/// What a folder of journals holds.
#[derive(Debug, Default)]
pub(super) struct Journals {
    /// Oldest first.
    pub(super) found: Vec<Found>,
    /// Of what cannot be read as a journal at all.
    pub(super) unreadable: Vec<SettingError>,
}

impl Journals {
    /// All journals of a folder; none when the folder is missing. One that cannot be read keeps nobody from the others.
    pub(super) fn read(dir: &Path) -> Journals {
        let mut journals = Journals::default();
        let names = match journal_names(dir) {
            Ok(names) => names,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return journals,
            Err(source) => {
                journals.unreadable.push(SettingError::Journal { path: dir.to_owned(), source });
                return journals;
            }
        };
        for name in names {
            match read(dir.join(name)) {
                Ok(found) => journals.found.extend(found),
                Err(error) => journals.unreadable.push(error),
            }
        }
        journals.found.sort_by_key(|j| j.owner.started_unix_ns);
        journals
    }

    /// Refuses to change anything while somebody may hold it whose journal cannot be understood: one in use, one of a
    /// later version, one that may not be read. What is damaged and left behind, or is no file, holds nobody up.
    pub(super) fn refuse_unknown_holders(&mut self) -> Result<(), SettingError> {
        let is_unknown = |e: &SettingError| matches!(e, SettingError::Journal { .. } | SettingError::Newer { .. });
        if let Some(at) = self.unreadable.iter().position(is_unknown) {
            return Err(self.unreadable.swap_remove(at));
        }
        match self.found.iter_mut().find(|j| j.alive && !j.damage.is_empty()) {
            Some(damaged) => Err(damaged.damage.swap_remove(0)),
            None => Ok(()),
        }
    }
}

fn journal_names(dir: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(dir)? {
        let Ok(name) = entry?.file_name().into_string() else { continue };
        if name.starts_with(PREFIX) && name.ends_with(SUFFIX) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// One journal; `None` when its owner removed it meanwhile.
fn read(path: PathBuf) -> Result<Option<Found>, SettingError> {
    // Without waiting for the other end of a FIFO, and never through a symlink.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match files::open(&path, flags, Mode::empty()) {
        Ok(fd) => File::from(fd),
        Err(Errno::NOENT) => return Ok(None),
        // A symlink, or the node of a device that is not there.
        Err(Errno::LOOP | Errno::NXIO) => return Err(SettingError::NotAFile { path }),
        Err(error) => return Err(SettingError::Journal { path, source: error.into() }),
    };
    let kind = files::fstat(&file).map(|stat| FileType::from_raw_mode(stat.st_mode));
    if kind != Ok(FileType::RegularFile) {
        return Err(SettingError::NotAFile { path });
    }
    #[cfg(test)]
    super::line::counted::PARSED.with(|n| n.set(n.get() + 1));
    // A lock of one's own process on another descriptor counts as well: the journal is in use.
    let alive = !locks::try_lock_shared(&file);
    let mut bytes = Vec::new();
    let read = (&file).take(BYTES_MAX).read_to_end(&mut bytes);
    if !alive {
        // As of `FolderLock`: not by closing.
        let _ = file.unlock();
    }
    if let Err(source) = read {
        return Err(SettingError::Journal { path, source });
    }
    let mut found = Found { path, alive, owner: Owner::default(), open: Open::new(), damage: Vec::new() };
    found.follow_lines(&bytes)?;
    Ok(Some(found))
}

impl Found {
    /// # Errors
    /// [`SettingError::Newer`] alone; what makes no sense is [`Found::damage`].
    fn follow_lines(&mut self, bytes: &[u8]) -> Result<(), SettingError> {
        for (index, line) in bytes.split_inclusive(|b| *b == b'\n').enumerate() {
            // A line without its end was being written when the machine stopped: the change it is about was not made.
            let Some(line) = line.strip_suffix(b"\n") else { break };
            let why = match serde_json::from_slice(line) {
                Ok(Line::Owner { version, .. }) if version > VERSION => {
                    return Err(SettingError::Newer { path: self.path.clone(), version });
                }
                Ok(Line::Change { setting, .. }) if !setting.is_sound() => msg!("journal-line-names-nothing"),
                Ok(Line::Change { setting, from, .. }) if !setting.may_come_back_as(&from) => {
                    msg!("journal-line-names-nothing")
                }
                Ok(line) => {
                    self.follow_line(line);
                    continue;
                }
                Err(error) => msg!("journal-line-malformed", error = error.to_string()),
            };
            self.damage.push(SettingError::Corrupt { path: self.path.clone(), line: index + 1, why });
        }
        if !self.damage.is_empty() {
            // A line that says so may be among those lost: with it, nothing is written over what somebody else set.
            self.open.values_mut().for_each(|entry| entry.applied = true);
        }
        Ok(())
    }

    fn follow_line(&mut self, line: Line) {
        match line {
            Line::Owner { pid, boot_id, command, started_unix_ns, kept, .. } => {
                self.owner = Owner { pid, boot_id: Some(boot_id), command, started_unix_ns, kept };
            }
            Line::Change { id, setting, identity, from, to } => {
                self.open.insert(id, Entry { setting, identity, from, to, applied: false });
            }
            Line::Applied { id } => {
                if let Some(entry) = self.open.get_mut(&id) {
                    entry.applied = true;
                }
            }
            Line::Restored { id } | Line::Dropped { id, .. } => _ = self.open.remove(&id),
        }
    }
}

/// What the kernel calls this boot; empty where it does not say.
pub(crate) fn boot_id(root: &Root) -> String {
    attribute(&root.join("proc/sys/kernel/random/boot_id")).unwrap_or_default()
}

/// Makes the folder if needed and keeps other Fathoms from changing what is in it while the file lives.
pub(super) fn lock_folder(dir: &Path) -> Result<FolderLock, SettingError> {
    let path = dir.join("lock");
    let open = || {
        fs::create_dir_all(dir)?;
        let file = writing::append(&path)?;
        locks::lock(&file)?;
        Ok(FolderLock(file))
    };
    open().map_err(|source| SettingError::Journal { path: path.clone(), source })
}

/// A held lock. Unlocked at its end by a call of its own: a process that is being forked at this moment has the descriptor too, and
/// closing this one would leave the lock to it.
#[derive(Debug)]
pub(super) struct FolderLock(File);

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Closing the file unlocks it as well, if later.
        let _ = self.0.unlock();
    }
}
