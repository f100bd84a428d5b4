//! What programs that died or ended on purpose left changed, and bringing it back.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::journal::{Entry, Line, PREFIX, SUFFIX, VERSION, append_line, boot_id, lock_folder};
use super::{Setting, SettingError};
use crate::root::{Root, names_in};

/// Which journals to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those of programs that died.
    Abandoned,
    /// Also those whose changes were meant to stay.
    All,
}

/// A change that is still in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PendingChange {
    /// Which.
    pub setting: Setting,
    /// Value before.
    pub from: String,
    /// Value that Fathom set.
    pub to: String,
}

/// A journal with changes in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pending {
    /// Process that made them.
    pub pid: u32,
    /// What it did.
    pub command: String,
    /// When it began, nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// They were meant to stay after its end.
    pub kept: bool,
    /// It still runs.
    pub alive: bool,
    /// In the order they were made.
    pub changes: Vec<PendingChange>,
}

/// Why an old value was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dropped {
    /// The machine was booted since: the kernel has forgotten the change.
    OtherBoot,
    /// The device, CPU or interrupt is gone.
    Gone,
    /// Another device or interrupt bears the name now.
    OtherBearer,
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Dropped::OtherBoot => "the machine was booted since, which undid it",
            Dropped::Gone => "it is gone",
            Dropped::OtherBearer => "another device or interrupt bears its name now",
        })
    }
}

/// What became of one change.
#[derive(Debug)]
pub enum Outcome {
    /// The old value is in force.
    Restored,
    /// There is nothing to bring back.
    Dropped(Dropped),
    /// It could not be brought back; it stays in the journal unless somebody else changed it.
    Failed(SettingError),
}

/// One change that was looked at.
#[derive(Debug)]
pub struct Restored {
    /// Which.
    pub setting: Setting,
    /// Value before Fathom.
    pub from: String,
    /// Value that Fathom set.
    pub to: String,
    /// What became of it.
    pub outcome: Outcome,
}

/// A journal as read.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    alive: bool,
    owner: Owner,
    open: Vec<Entry>,
}

#[derive(Clone, Debug, Default)]
struct Owner {
    pid: u32,
    boot_id: String,
    command: String,
    started_unix_ns: u64,
    kept: bool,
}

impl Found {
    /// Whether a new change of `setting` must wait for this journal. A change that is meant to stay may be changed for
    /// a while by a run; it may not be made twice, or its true first value would be forgotten.
    pub(super) fn refuse_if_it_holds(&self, setting: &Setting, by_kept: bool) -> Result<(), SettingError> {
        if !self.open.iter().any(|e| e.setting == *setting) {
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

/// All journals of a folder, oldest first; none when the folder is missing.
pub(super) fn journals_in(dir: &Path) -> Result<Vec<Found>, SettingError> {
    let is_journal = |name: &String| name.starts_with(PREFIX) && name.ends_with(SUFFIX);
    let paths = names_in(dir).into_iter().filter(is_journal).map(|name| dir.join(name));
    let mut found: Vec<Found> = paths.filter_map(|path| read(path).transpose()).collect::<Result<_, _>>()?;
    found.sort_by_key(|j| j.owner.started_unix_ns);
    Ok(found)
}

/// One journal; `None` when its owner removed it meanwhile.
fn read(path: PathBuf) -> Result<Option<Found>, SettingError> {
    let fail = |source| SettingError::Journal { path: path.clone(), source };
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fail(error)),
    };
    // A lock of one's own process on another descriptor counts as well: the journal is in use.
    let alive = file.try_lock_shared().is_err();
    let text = fs::read_to_string(&path).map_err(fail)?;
    let (owner, open) = parse(&path, &text)?;
    Ok(Some(Found { path, alive, owner, open }))
}

fn parse(path: &Path, text: &str) -> Result<(Owner, Vec<Entry>), SettingError> {
    let (mut owner, mut open) = (Owner::default(), Vec::<Entry>::new());
    let mut lines = text.split_inclusive('\n').enumerate();
    for (index, line) in lines.by_ref() {
        // A line without its end was being written when the machine stopped: the change it tells of was not made.
        let Some(line) = line.strip_suffix('\n') else { break };
        let corrupt = |why: String| SettingError::Corrupt { path: path.to_owned(), line: index + 1, why };
        match serde_json::from_str(line).map_err(|e| corrupt(e.to_string()))? {
            Line::Owner { version, .. } if version != VERSION => {
                return Err(corrupt(format!("version {version}, and this program reads {VERSION}")));
            }
            Line::Owner { pid, boot_id, command, started_unix_ns, kept, .. } => {
                owner = Owner { pid, boot_id, command, started_unix_ns, kept };
            }
            Line::Change { setting, .. } if !setting.is_sound() => {
                return Err(corrupt(format!("{setting:?} names nothing in sysfs")));
            }
            Line::Change { id, setting, bearer, from, to } => {
                open.push(Entry { id, setting, bearer, from, to, applied: false });
            }
            Line::Applied { id } => open.iter_mut().filter(|e| e.id == id).for_each(|e| e.applied = true),
            Line::Restored { id } | Line::Dropped { id, .. } => open.retain(|e| e.id != id),
        }
    }
    Ok((owner, open))
}

/// Changes in force that a journal in `dir` knows of, oldest first; also those of programs that run.
///
/// # Errors
/// [`SettingError::Journal`] or [`SettingError::Corrupt`].
pub fn pending(dir: &Path) -> Result<Vec<Pending>, SettingError> {
    let journals = journals_in(dir)?.into_iter().map(|journal| Pending {
        pid: journal.owner.pid,
        command: journal.owner.command,
        started_unix_ns: journal.owner.started_unix_ns,
        kept: journal.owner.kept,
        alive: journal.alive,
        changes: journal
            .open
            .into_iter()
            .filter_map(|e| Some(PendingChange { setting: e.setting, from: e.from, to: e.to? }))
            .collect(),
    });
    Ok(journals.filter(|p| !p.changes.is_empty()).collect())
}

/// Brings back what journals in `dir` say, the last change first. Journals of programs that run are left to them.
///
/// # Errors
/// [`SettingError::Journal`] or [`SettingError::Corrupt`]; failures of single settings are in the outcomes.
pub fn restore_all(root: &Root, dir: &Path, which: Which) -> Result<Vec<Restored>, SettingError> {
    if !dir.is_dir() {
        return Ok(Vec::new());
    }
    let is_asked = |j: &Found| !j.alive && (which == Which::All || !j.owner.kept);
    // Most starts find nothing, and then need no right to write here.
    if !journals_in(dir)?.iter().any(is_asked) {
        return Ok(Vec::new());
    }
    let _alone = lock_folder(dir)?;
    let journals = journals_in(dir)?;
    let (asked, others): (Vec<_>, Vec<_>) = journals.into_iter().partition(is_asked);
    let mut restored = Vec::new();
    for journal in asked.iter().rev() {
        restored.extend(follow(root, journal, &others)?);
    }
    Ok(restored)
}

fn follow(root: &Root, journal: &Found, others: &[Found]) -> Result<Vec<Restored>, SettingError> {
    let fail = |source| SettingError::Journal { path: journal.path.clone(), source };
    let mut file = OpenOptions::new().append(true).open(&journal.path).map_err(fail)?;
    let same_boot = journal.owner.boot_id == boot_id(root);
    let (mut restored, mut left) = (Vec::new(), 0);
    for entry in journal.open.iter().rev() {
        let busy = others.iter().filter(|o| o.alive).find_map(|o| o.refuse_if_it_holds(&entry.setting, true).err());
        let result = match busy {
            Some(error) => Err(error),
            None if !same_boot => Ok(Some(Dropped::OtherBoot)),
            None => bring_back(root, entry),
        };
        let id = entry.id;
        let (outcome, line) = match result {
            Ok(None) => (Outcome::Restored, Some(Line::Restored { id })),
            Ok(Some(why)) => (Outcome::Dropped(why), Some(Line::Dropped { id, why: why.to_string() })),
            Err(error @ SettingError::ChangedSince { .. }) => {
                let line = Line::Dropped { id, why: error.to_string() };
                (Outcome::Failed(error), Some(line))
            }
            Err(error) => (Outcome::Failed(error), None),
        };
        match line {
            Some(line) => append_line(&mut file, &line, true).map_err(fail)?,
            None => left += 1,
        }
        // Dependents are told of only when they trouble.
        if let Some(to) = entry.to.clone().or_else(|| matches!(outcome, Outcome::Failed(_)).then(String::new)) {
            restored.push(Restored { setting: entry.setting.clone(), from: entry.from.clone(), to, outcome });
        }
    }
    if left == 0 {
        fs::remove_file(&journal.path).map_err(fail)?;
    }
    Ok(restored)
}

/// Writes the old value of one change, if it is still ours to write; `Some` says why nothing was to be done.
pub(super) fn bring_back(root: &Root, entry: &Entry) -> Result<Option<Dropped>, SettingError> {
    let Entry { setting, bearer, from, to, applied, .. } = entry;
    let found = match setting.read(root) {
        Ok(found) => found,
        Err(SettingError::Missing { .. }) => return Ok(Some(Dropped::Gone)),
        Err(error) => return Err(error),
    };
    if setting.bearer(root) != *bearer {
        return Ok(Some(Dropped::OtherBearer));
    }
    if setting.same(&found, from) {
        return Ok(None);
    }
    match to {
        Some(set) if *applied && !setting.same(&found, set) => {
            Err(SettingError::ChangedSince { setting: setting.clone(), found, set: set.clone(), from: from.clone() })
        }
        _ => setting.write_checked(root, from).map(|()| None),
    }
}
