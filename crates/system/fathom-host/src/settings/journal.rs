//! The journal: what a setting was is on the disk before it changes.

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::found::{Journals, boot_id, lock_folder};
use super::line::{Entry, Line, Open, PREFIX, SUFFIX, VERSION, append, append_synced};
use super::restore::{Dropped, bring_back};
use super::{Change, Setting, SettingError};
use crate::root::Root;
use crate::system::locks;
use crate::writing;

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
    open: Open,
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
            open: Open::new(),
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

    /// Applies changes in their order as one: all of them, or none. They are brought back in reverse order. Changes that
    /// do not touch each other are written down together, and the disk is waited for once.
    ///
    /// # Errors
    /// [`SettingError`] of the first that failed; those before it were brought back.
    pub fn apply_all(&self, changes: &[Change]) -> Result<Applied, SettingError> {
        let mut applied = Applied { journal: self.clone(), done: Vec::new(), ids: Vec::new() };
        let mut rest = changes;
        while !rest.is_empty() {
            let batch = independent(&self.lock().root, rest);
            let (batch, later) = rest.split_at(batch);
            // What is done so far is undone by dropping `applied`.
            self.lock().apply(batch, &mut applied.done, &mut applied.ids)?;
            rest = later;
        }
        Ok(applied)
    }

    /// The folder of the journals.
    #[must_use]
    pub fn dir(&self) -> PathBuf {
        self.lock().dir.clone()
    }

    /// Errors of guards that were dropped; their settings stay in the journal.
    #[must_use]
    pub fn failures(&self) -> Vec<SettingError> {
        std::mem::take(&mut self.lock().failures)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // What a panicking thread left is still true: each line was written before the change it is about.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A second descriptor of the journal's file, as a process has one that is being forked.
    #[cfg(test)]
    pub(super) fn second_descriptor(&self) -> File {
        let inner = self.lock();
        let (_, file) = inner.file.as_ref().expect("something was changed");
        file.try_clone().expect("a descriptor")
    }
}

/// How many of `changes`, from the first on, do not touch what another of them changes; at least one.
fn independent(root: &Root, changes: &[Change]) -> usize {
    let mut touched: Vec<Setting> = Vec::new();
    for (at, change) in changes.iter().enumerate() {
        let mut settings = change.setting.dependents(root);
        settings.push(change.setting.clone());
        // Turning SMT on or off brings and takes the settings of CPUs.
        let is_alone = change.setting == Setting::Smt || touched.contains(&Setting::Smt);
        if at > 0 && (is_alone || settings.iter().any(|s| touched.contains(s))) {
            return at;
        }
        touched.append(&mut settings);
    }
    changes.len()
}

/// What a change did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// The setting.
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
        let Some((path, file)) = &self.file else { return };
        if self.open.is_empty() {
            // A file that stays says that nothing is open; the next restore removes it.
            let _ = fs::remove_file(path);
        }
        // Closing alone would leave the lock to a process that is being forked at this moment, and the journal would
        // look as if its owner still ran.
        let _ = file.unlock();
    }
}

impl Inner {
    /// Makes changes that do not touch each other. What was done, and the numbers of its lines, also where it fails.
    fn apply(&mut self, changes: &[Change], done: &mut Vec<Done>, ids: &mut Vec<u32>) -> Result<(), SettingError> {
        let planned = self.write_down(changes)?;
        ids.extend(planned.iter().flat_map(|plan| plan.ids.iter().copied()));
        for Planned { done: one, .. } in &planned {
            one.setting.write_checked(&self.root, &one.to)?;
        }
        let applied: Vec<u32> = planned.iter().filter_map(|plan| plan.ids.last().copied()).collect();
        for id in &applied {
            if let Some(entry) = self.open.get_mut(id) {
                entry.applied = true;
            }
        }
        self.append(&applied.iter().map(|id| Line::Applied { id: *id }).collect::<Vec<_>>(), false)?;
        done.extend(planned.into_iter().map(|plan| plan.done));
        Ok(())
    }

    /// Reads what the settings and their dependents are, writes it down and waits for the disk. From the reading to the
    /// end of the writing nobody else may do the same: two programs would take each other's values for the first ones.
    fn write_down(&mut self, changes: &[Change]) -> Result<Vec<Planned>, SettingError> {
        if !self.differs(changes)? {
            return Ok(Vec::new());
        }
        let _alone = lock_folder(&self.dir)?;
        let others = self.other_journals()?;
        let mut planned = Vec::new();
        let mut lines = Vec::new();
        let mut entries = Open::new();
        for change in changes {
            let setting = &change.setting;
            let from = setting.read(&self.root)?;
            let to = setting.checked(&self.root, &change.value)?;
            if setting.same(&from, &to) {
                continue;
            }
            // A dependent that this device does not have cannot change along.
            let dependents = setting.dependents(&self.root).into_iter();
            let along = dependents.filter_map(|s| s.read(&self.root).ok().map(|value| (s, value, None)));
            let all: Vec<_> = along.chain([(setting.clone(), from.clone(), Some(to.clone()))]).collect();
            let mut ids = Vec::new();
            for (setting, from, to) in all {
                for other in &others {
                    other.refuse_if_it_holds(&setting, self.kept)?;
                }
                let identity = setting.identity(&self.root);
                let entry = Entry { setting, identity, from, to, applied: false };
                lines.push(entry.line(self.next_id));
                entries.insert(self.next_id, entry);
                ids.push(self.next_id);
                self.next_id += 1;
            }
            planned.push(Planned { done: Done { setting: setting.clone(), from, to }, ids });
        }
        if !planned.is_empty() {
            self.ensure_file()?;
            self.append(&lines, true)?;
            self.open.append(&mut entries);
        }
        Ok(planned)
    }

    /// Whether any of the changes would change anything. One that would not is refused all the same while somebody else
    /// holds the setting: it would lose the value in the middle of a run.
    fn differs(&self, changes: &[Change]) -> Result<bool, SettingError> {
        for change in changes {
            let (from, to) = (change.setting.read(&self.root)?, change.setting.checked(&self.root, &change.value)?);
            if !change.setting.same(&from, &to) {
                return Ok(true);
            }
        }
        let others = self.other_journals()?;
        for change in changes {
            for other in others.iter().filter(|journal| journal.alive) {
                other.refuse_if_it_holds(&change.setting, self.kept)?;
            }
        }
        Ok(false)
    }

    fn other_journals(&self) -> Result<Vec<super::found::Found>, SettingError> {
        let mut journals = Journals::read(&self.dir);
        let own = self.file.as_ref().map(|(path, _)| path);
        journals.found.retain(|j| Some(&j.path) != own);
        journals.refuse_unknown_holders()?;
        Ok(journals.found)
    }

    fn restore(&mut self, id: u32) -> Result<(), SettingError> {
        let Some(entry) = self.open.get(&id) else { return Ok(()) };
        let result = bring_back(&self.root, entry);
        let line = match &result {
            Ok(None) => Line::Restored { id },
            Ok(Some(why)) => Line::Dropped { id, why: why.as_str().to_owned() },
            Err(SettingError::ChangedSince { .. }) => Line::Dropped { id, why: Dropped::CHANGED_SINCE.to_owned() },
            Err(_) => return result.map(|_| ()),
        };
        self.open.remove(&id);
        let written = self.append(&[line], false);
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
        let file = writing::append_new(&path).map_err(fail)?;
        // Whoever looks through the journals holds a shared lock for a moment.
        locks::lock(&file).map_err(fail)?;
        self.file = Some((path, file));
        let (command, boot_id) = (self.command.clone(), boot_id(&self.root));
        let owner = Line::Owner { version: VERSION, pid, boot_id, command, started_unix_ns, kept: self.kept };
        self.append(&[owner], true)?;
        let folder = File::open(&self.dir).and_then(|f| f.sync_all());
        folder.map_err(|source| SettingError::Journal { path: self.dir.clone(), source })
    }

    fn append(&mut self, lines: &[Line], sync: bool) -> Result<(), SettingError> {
        let Some((path, file)) = &mut self.file else { return Ok(()) };
        let written = if sync { append_synced(file, lines) } else { append(file, lines) };
        written.map_err(|source| SettingError::Journal { path: path.clone(), source })
    }
}

/// A change that is written down, with the numbers of its lines: those of its dependents, then its own.
struct Planned {
    done: Done,
    ids: Vec<u32>,
}
