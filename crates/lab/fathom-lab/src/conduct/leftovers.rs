//! Inventory of the test files and folders that runs left behind: `restore`, `run --resume` and `rm` use it.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use fathom_host::{DATABASE_FOLDER_PREFIX, FileMark, OWN_FOLDER_PREFIXES, OwnFile, OwnFolder, Root, mount_of};
use fathom_message::{Message, Say, msg};
use fathom_store::{Lab, MadeFile, RunId, RunState, StoreError, WorkFolder};

use super::{is_conditioned, unix_ns};
use crate::machine::working_directory_in;

/// File or folder that a run created and did not remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// Absolute path.
    pub path: PathBuf,
    /// Run that created the leftover; `None`: no run in the lab.
    pub run: Option<RunId>,
    /// State, which decides what `restore` does.
    pub state: LeftoverState,
    /// Mark of a test file; `None` for a folder.
    mark: Option<FileMark>,
}

/// State of a leftover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftoverState {
    /// No run needs it: `restore` removes it.
    Abandoned,
    /// A process uses it.
    InUse,
    /// Its run can be resumed and needs it.
    Resumable,
    /// A database, which the user may want to check.
    Database,
    /// It cannot be checked or removed: its file system is not mounted, or this user has no access.
    Unreachable,
    /// It no longer exists, or another file has its name.
    Gone,
}

impl LeftoverState {
    /// A word for JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            LeftoverState::Abandoned => "abandoned",
            LeftoverState::InUse => "in_use",
            LeftoverState::Resumable => "resumable",
            LeftoverState::Database => "database",
            LeftoverState::Unreachable => "unreachable",
            LeftoverState::Gone => "gone",
        }
    }
}

impl Say for Leftover {
    fn message(&self) -> Message {
        let (path, run) = (&self.path, self.run.map_or_else(String::new, |run| run.to_string()));
        match self.state {
            LeftoverState::Abandoned => msg!("leftover-abandoned", path = path, run = run),
            LeftoverState::InUse => msg!("leftover-in-use", path = path, run = run),
            LeftoverState::Resumable => msg!("leftover-resumable", path = path, run = run),
            LeftoverState::Database => msg!("leftover-database", path = path),
            LeftoverState::Unreachable => msg!("leftover-unreachable", path = path),
            LeftoverState::Gone => msg!("leftover-gone", path = path),
        }
    }

    fn help(&self) -> Option<Message> {
        let run = self.run.map_or_else(String::new, |run| run.to_string());
        Some(match self.state {
            LeftoverState::Abandoned => msg!("leftover-abandoned-help"),
            LeftoverState::InUse | LeftoverState::Gone => return None,
            LeftoverState::Resumable => msg!("leftover-resumable-help", run = run),
            LeftoverState::Database => msg!("leftover-database-help", path = &self.path),
            LeftoverState::Unreachable if self.run.is_none() => msg!("leftover-unreachable-help"),
            LeftoverState::Unreachable => msg!("leftover-unreachable-run-help", run = run),
        })
    }
}

/// Result of [`remove_leftovers`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removal {
    /// Paths that were removed.
    pub removed: Vec<PathBuf>,
    /// Leftovers that remain; the state is the reason.
    pub left: Vec<Leftover>,
}

/// Lists all leftovers of this lab. Changes nothing.
///
/// # Errors
/// [`StoreError`].
pub fn leftovers(lab: &Lab) -> Result<Vec<Leftover>, StoreError> {
    let all = inventory(lab)?;
    Ok(all.into_iter().filter(|leftover| leftover.state != LeftoverState::Gone).collect())
}

/// Removes abandoned leftovers and drops the records of those that no longer exist. Unreachable ones stay recorded.
///
/// # Errors
/// [`StoreError`].
pub fn remove_leftovers(lab: &mut Lab) -> Result<Removal, StoreError> {
    let mut out = Removal::default();
    for leftover in inventory(lab)? {
        match (leftover.state, leftover.mark) {
            (LeftoverState::Gone, Some(mark)) => lab.forget_made_files(&[mark])?,
            (LeftoverState::Gone, None) => {}
            (LeftoverState::Abandoned, mark) => {
                let removed = match mark {
                    Some(mark) => OwnFile::adopt(&leftover.path, mark).and_then(OwnFile::remove),
                    None => OwnFolder::remove_unused(&leftover.path),
                };
                match removed {
                    Ok(()) => {
                        lab.forget_made_files(mark.as_slice())?;
                        out.removed.push(leftover.path);
                    }
                    Err(_) => out.left.push(Leftover { state: LeftoverState::Unreachable, ..leftover }),
                }
            }
            _ => out.left.push(leftover),
        }
    }
    forget_clean_folders(lab)?;
    Ok(out)
}

/// Ends the runs of this process as interrupted and removes their test files. For a process that was stopped at once and
/// replaced itself by exec.
///
/// # Errors
/// [`StoreError`].
pub fn end_own_runs(lab: &mut Lab) -> Result<Removal, StoreError> {
    lab.interrupt_own_runs(unix_ns())?;
    remove_leftovers(lab)
}

/// Deletes a run and its leftovers. Files that the user asked to keep stay.
///
/// # Errors
/// [`StoreError`].
pub fn delete_run(lab: &mut Lab, run: RunId) -> Result<(), StoreError> {
    let files = lab.made_files(run)?;
    let paths: Vec<PathBuf> = files.iter().map(|file| path_of(lab, run, file)).collect::<Result<_, _>>()?;
    remove_folders_of(lab, run)?;
    lab.delete_run(run)?;
    for (file, path) in files.iter().zip(&paths).filter(|(file, _)| !file.is_kept) {
        // One that is not there any more, or is another's by now, is left alone.
        let _ = OwnFile::adopt(path, file.mark).and_then(OwnFile::remove);
    }
    Ok(())
}

/// Records a folder in which Fathom is about to create files, for work that is not part of a run.
///
/// # Errors
/// [`StoreError`].
pub fn note_work_folder(lab: &mut Lab, folder: &Path) -> Result<(), StoreError> {
    lab.add_work_folder(&work_folder(folder, None))
}

/// Records the folders of test files and those in which steps create folders, before anything is created.
pub(super) fn note_work_folders(
    lab: &mut Lab,
    run: RunId,
    files: &[MadeFile],
    folders: &[PathBuf],
) -> Result<(), StoreError> {
    let of_files = files.iter().map(|file| file.path.parent().unwrap_or(Path::new("")));
    let all: BTreeSet<&Path> = of_files.chain(folders.iter().map(PathBuf::as_path)).collect();
    all.into_iter().try_for_each(|folder| lab.add_work_folder(&work_folder(folder, Some(run))))
}

/// Removes the folders that an earlier process of this run left. Returns their paths.
pub(super) fn remove_folders_of(lab: &Lab, run: RunId) -> Result<Vec<PathBuf>, StoreError> {
    let folders = lab.work_folders()?.into_iter().filter(|folder| folder.run == Some(run));
    let left = folders.flat_map(|folder| unused_in(&folder.path));
    Ok(left.filter(|path| OwnFolder::remove_unused(path).is_ok()).collect())
}

/// Drops the records of folders without leftovers in which no run works.
pub(super) fn forget_clean_folders(lab: &mut Lab) -> Result<(), StoreError> {
    let files = inventory_of_files(lab)?;
    for folder in lab.work_folders()? {
        let runs = folder.run.map(|run| lab.summary(run)).transpose()?;
        let is_at_work = runs.is_some_and(|run| run.state == RunState::Running);
        let has_file = files.iter().any(|left| left.run == folder.run && left.path.parent() == Some(&folder.path));
        if !is_at_work
            && is_reachable(&folder)
            && !has_file
            && !OwnFolder::is_any_in(&folder.path, &OWN_FOLDER_PREFIXES)
        {
            lab.forget_work_folder(&folder)?;
        }
    }
    Ok(())
}

/// True if no process works on the run and resuming it does not need its files.
pub(super) fn is_abandoned(lab: &Lab, run: RunId) -> Result<bool, StoreError> {
    Ok(match lab.summary(run)?.state {
        RunState::Running => false,
        RunState::Finished => true,
        RunState::Interrupted | RunState::Failed => !is_conditioned(&lab.load_head(run)?.plan),
    })
}

fn inventory(lab: &Lab) -> Result<Vec<Leftover>, StoreError> {
    let mut all = inventory_of_files(lab)?;
    for folder in lab.work_folders()? {
        let here = |path: PathBuf, state| Leftover { path, run: folder.run, state, mark: None };
        if !is_reachable(&folder) {
            all.push(here(folder.path.clone(), LeftoverState::Unreachable));
            continue;
        }
        for path in OwnFolder::unused_in(&folder.path, DATABASE_FOLDER_PREFIX) {
            all.push(here(path, LeftoverState::Database));
        }
        for path in unused_in(&folder.path) {
            all.push(here(path, LeftoverState::Abandoned));
        }
    }
    // Several runs may have worked in one folder.
    let mut seen = BTreeSet::new();
    all.retain(|leftover| seen.insert(leftover.path.clone()));
    Ok(all)
}

fn inventory_of_files(lab: &Lab) -> Result<Vec<Leftover>, StoreError> {
    let folders = lab.work_folders()?;
    let mut out = Vec::new();
    for (run, file) in lab.all_made_files()?.into_iter().filter(|(_, file)| !file.is_kept) {
        let path = path_of(lab, run, &file)?;
        let folder = folders.iter().find(|f| f.run == Some(run) && path.parent() == Some(&f.path));
        let is_reachable = folder.map_or_else(|| path.parent().is_some_and(Path::is_dir), is_reachable);
        let state = if lab.summary(run)?.state == RunState::Running {
            LeftoverState::InUse
        } else if !is_reachable {
            LeftoverState::Unreachable
        } else {
            match OwnFile::adopt(&path, file.mark).map_err(|error| error.kind()) {
                Ok(_) if is_abandoned(lab, run)? => LeftoverState::Abandoned,
                Ok(_) => LeftoverState::Resumable,
                Err(ErrorKind::WouldBlock) => LeftoverState::InUse,
                Err(ErrorKind::NotFound | ErrorKind::InvalidData) => LeftoverState::Gone,
                Err(_) => LeftoverState::Unreachable,
            }
        };
        out.push(Leftover { path, run: Some(run), state, mark: Some(file.mark) });
    }
    Ok(out)
}

/// Folders that a killed process left in `folder`, but no databases.
fn unused_in(folder: &Path) -> Vec<PathBuf> {
    let prefixes = OWN_FOLDER_PREFIXES.iter().filter(|prefix| **prefix != DATABASE_FOLDER_PREFIX);
    prefixes.flat_map(|prefix| OwnFolder::unused_in(folder, prefix)).collect()
}

/// Absolute path of a file of the run. Labs of older versions contain paths relative to the run's working directory.
fn path_of(lab: &Lab, run: RunId, file: &MadeFile) -> Result<PathBuf, StoreError> {
    if file.path.is_absolute() {
        return Ok(file.path.clone());
    }
    let host = lab.host_of(&lab.load_head(run)?).unwrap_or_default();
    Ok(working_directory_in(&host).unwrap_or_default().join(&file.path))
}

fn work_folder(folder: &Path, run: Option<RunId>) -> WorkFolder {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let path = folder.canonicalize().or_else(|_| std::path::absolute(folder)).unwrap_or_else(|_| folder.to_owned());
    let mount_point = mount_point_of(&path);
    WorkFolder { path, mount_point, run }
}

/// Empty where it is not known.
fn mount_point_of(path: &Path) -> PathBuf {
    mount_of(&Root::live(), path).ok().flatten().map(|mount| mount.mount_point).unwrap_or_default()
}

/// True if the folder is there, on the file system that it was on.
fn is_reachable(folder: &WorkFolder) -> bool {
    folder.path.read_dir().is_ok() && mount_point_of(&folder.path) == folder.mount_point
}
