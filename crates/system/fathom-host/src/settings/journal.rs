//! The journal: what a setting was is on the disk before it changes.
//!
//! One file per process, `settings-STARTED-PID.jsonl`, of lines of JSON: the owner first, then `change` (synced before
//! the setting is written), `applied`, `restored` or `dropped`. The owner holds a lock on its file, so that a file
//! without a lock is that of a program which died. A file with nothing open is removed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::restore::{bring_back, journals_in};
use super::{Change, Setting, SettingError};
use crate::root::{Root, attribute};

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
    Change { id: u32, setting: Setting, bearer: Option<String>, from: String, to: Option<String> },
    /// The value was read back.
    Applied { id: u32 },
    /// The old value is back.
    Restored { id: u32 },
    /// Given up, and why.
    Dropped { id: u32, why: String },
}

/// A change whose end is not written yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) id: u32,
    pub(super) setting: Setting,
    pub(super) bearer: Option<String>,
    pub(super) from: String,
    pub(super) to: Option<String>,
    pub(super) applied: bool,
}

impl Entry {
    fn line(&self) -> Line {
        Line::Change {
            id: self.id,
            setting: self.setting.clone(),
            bearer: self.bearer.clone(),
            from: self.from.clone(),
            to: self.to.clone(),
        }
    }
}

/// Changes settings of this machine so that each comes back. Cheap to clone; makes no file before the first change.
#[derive(Clone, Debug)]
pub struct Journal {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug)]
struct Inner {
    root: Root,
    dir: PathBuf,
    command: String,
    kept: bool,
    file: Option<(PathBuf, File)>,
    next_id: u32,
    open: Vec<Entry>,
    failures: Vec<SettingError>,
}

impl Journal {
    /// A journal in folder `dir` (made when needed); `command` is shown to whoever finds it left behind.
    #[must_use]
    pub fn open(root: &Root, dir: impl Into<PathBuf>, command: &str) -> Journal {
        Journal::new(root, dir.into(), command, false)
    }

    /// As [`Journal::open`], for changes that stay after this program ends, until somebody asks for their old values.
    #[must_use]
    pub fn open_kept(root: &Root, dir: impl Into<PathBuf>, command: &str) -> Journal {
        Journal::new(root, dir.into(), command, true)
    }

    fn new(root: &Root, dir: PathBuf, command: &str, kept: bool) -> Journal {
        let inner = Inner {
            root: root.clone(),
            dir,
            command: command.to_owned(),
            kept,
            file: None,
            next_id: 1,
            open: Vec::new(),
            failures: Vec::new(),
        };
        Journal { inner: Arc::new(Mutex::new(inner)) }
    }

    /// Journals, writes and reads back one change.
    ///
    /// # Errors
    /// [`SettingError`]; the setting then is as it was.
    pub fn apply(&self, change: &Change) -> Result<Applied, SettingError> {
        self.apply_all(std::slice::from_ref(change))
    }

    /// Applies changes in their order as one: all of them, or none. They are brought back in reverse order.
    ///
    /// # Errors
    /// [`SettingError`] of the first that failed; those before it were brought back.
    pub fn apply_all(&self, changes: &[Change]) -> Result<Applied, SettingError> {
        let mut applied = Applied { journal: self.clone(), done: Vec::new(), ids: Vec::new() };
        for change in changes {
            let (done, ids) = self.lock().apply(change)?;
            applied.done.extend(done);
            applied.ids.extend(ids);
        }
        Ok(applied)
    }

    /// Errors of guards that were dropped; their settings stay in the journal.
    #[must_use]
    pub fn failures(&self) -> Vec<SettingError> {
        std::mem::take(&mut self.lock().failures)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // What a panicking thread left is still true: each line was written before the change it tells of.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a change did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// Which.
    pub setting: Setting,
    /// Value before.
    pub from: String,
    /// Value now.
    pub to: String,
}

/// Changes in force; dropping it brings the old values back.
#[derive(Debug)]
#[must_use = "dropping it brings the old value back at once"]
pub struct Applied {
    journal: Journal,
    done: Vec<Done>,
    ids: Vec<u32>,
}

impl Applied {
    /// What was changed; a setting that had the value already is not in it.
    #[must_use]
    pub fn done(&self) -> &[Done] {
        &self.done
    }

    /// Brings the old values back, the last change first.
    ///
    /// # Errors
    /// [`SettingError`] of the first that failed, after all were tried; it stays in the journal for `fathom restore`,
    /// except for one that somebody else changed meanwhile, which is left alone.
    pub fn restore(mut self) -> Result<(), SettingError> {
        let ids = std::mem::take(&mut self.ids);
        let mut inner = self.journal.lock();
        let results: Vec<_> = ids.iter().rev().map(|id| inner.restore(*id)).collect();
        results.into_iter().collect()
    }

    /// Leaves the changes in force after this program ends; for journals of [`Journal::open_kept`].
    pub fn keep(mut self) {
        self.ids.clear();
    }
}

impl Drop for Applied {
    fn drop(&mut self) {
        let mut inner = self.journal.lock();
        for id in self.ids.drain(..).rev() {
            if let Err(error) = inner.restore(id) {
                inner.failures.push(error);
            }
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some((path, _)) = &self.file
            && self.open.is_empty()
        {
            // A file that stays says that nothing is open; the next restore removes it.
            let _ = fs::remove_file(path);
        }
    }
}

impl Inner {
    /// The change done, if the value was another, and the numbers of its lines.
    fn apply(&mut self, change: &Change) -> Result<(Option<Done>, Vec<u32>), SettingError> {
        let root = self.root.clone();
        let setting = &change.setting;
        let from = setting.read(&root)?;
        let to = setting.checked(&root, &change.value)?;
        if setting.same(&from, &to) {
            return Ok((None, Vec::new()));
        }
        let ids = self.write_down(setting, &from, &to)?;
        if let Err(error) = setting.write_checked(&root, &to) {
            // Nothing may have changed at all, then bringing back does nothing.
            for id in ids.iter().rev() {
                if let Err(second) = self.restore(*id) {
                    self.failures.push(second);
                }
            }
            return Err(error);
        }
        if let Some(id) = ids.last() {
            self.append(&Line::Applied { id: *id }, false)?;
            self.open.iter_mut().filter(|e| e.id == *id).for_each(|e| e.applied = true);
        }
        Ok((Some(Done { setting: setting.clone(), from, to }), ids))
    }

    /// Writes what the setting and its dependents are, and syncs. The change itself has the last number.
    fn write_down(&mut self, setting: &Setting, from: &str, to: &str) -> Result<Vec<u32>, SettingError> {
        let _alone = lock_folder(&self.dir)?;
        let own = self.file.as_ref().map(|(path, _)| path.clone());
        for other in journals_in(&self.dir)?.iter().filter(|j| Some(&j.path) != own.as_ref()) {
            other.refuse_if_it_holds(setting, self.kept)?;
        }
        self.ensure_file()?;
        let root = self.root.clone();
        let mut entries: Vec<(Setting, String, Option<String>)> = Vec::new();
        for dependent in setting.dependents() {
            // One that this device does not have cannot change along.
            if let Ok(value) = dependent.read(&root) {
                entries.push((dependent, value, None));
            }
        }
        entries.push((setting.clone(), from.to_owned(), Some(to.to_owned())));
        let mut ids = Vec::new();
        for (setting, from, to) in entries {
            let bearer = setting.bearer(&root);
            let entry = Entry { id: self.next_id, setting, bearer, from, to, applied: false };
            self.next_id += 1;
            self.append(&entry.line(), true)?;
            ids.push(entry.id);
            self.open.push(entry);
        }
        Ok(ids)
    }

    fn restore(&mut self, id: u32) -> Result<(), SettingError> {
        let Some(at) = self.open.iter().position(|e| e.id == id) else { return Ok(()) };
        let result = bring_back(&self.root, &self.open[at]);
        let line = match &result {
            Ok(None) => Line::Restored { id },
            Ok(Some(why)) => Line::Dropped { id, why: why.to_string() },
            Err(error @ SettingError::ChangedSince { .. }) => Line::Dropped { id, why: error.to_string() },
            Err(_) => return result.map(|_| ()),
        };
        self.open.remove(at);
        let written = self.append(&line, false);
        result.and(written)
    }

    fn ensure_file(&mut self) -> Result<(), SettingError> {
        if self.file.is_some() {
            return Ok(());
        }
        let started_unix_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
        let pid = std::process::id();
        let path = self.dir.join(format!("{PREFIX}{started_unix_ns}-{pid}{SUFFIX}"));
        let fail = |source| SettingError::Journal { path: path.clone(), source };
        let file = OpenOptions::new().append(true).create_new(true).open(&path).map_err(fail)?;
        // Whoever looks through the journals holds a shared lock for a moment.
        file.lock().map_err(fail)?;
        self.file = Some((path, file));
        let command = self.command.clone();
        let boot_id = boot_id(&self.root);
        self.append(&Line::Owner { version: VERSION, pid, boot_id, command, started_unix_ns, kept: self.kept }, true)?;
        let folder = File::open(&self.dir).and_then(|f| f.sync_all());
        folder.map_err(|source| SettingError::Journal { path: self.dir.clone(), source })
    }

    fn append(&mut self, line: &Line, sync: bool) -> Result<(), SettingError> {
        let Some((path, file)) = &mut self.file else { return Ok(()) };
        append_line(file, line, sync).map_err(|source| SettingError::Journal { path: path.clone(), source })
    }
}

/// Appends one line with one write, and waits for the disk if asked.
pub(super) fn append_line(file: &mut File, line: &Line, sync: bool) -> io::Result<()> {
    let mut text = serde_json::to_string(line).map_err(io::Error::other)?;
    text.push('\n');
    file.write_all(text.as_bytes())?;
    if sync { file.sync_data() } else { Ok(()) }
}

/// What the kernel calls this boot; empty where it does not say.
pub(super) fn boot_id(root: &Root) -> String {
    attribute(&root.join("proc/sys/kernel/random/boot_id")).unwrap_or_default()
}

/// Makes the folder if needed and keeps other Fathoms from changing what is in it while the file lives.
pub(super) fn lock_folder(dir: &Path) -> Result<File, SettingError> {
    let path = dir.join("lock");
    let open = || {
        fs::create_dir_all(dir)?;
        let file = OpenOptions::new().append(true).create(true).open(&path)?;
        file.lock()?;
        Ok(file)
    };
    open().map_err(|source| SettingError::Journal { path: path.clone(), source })
}
