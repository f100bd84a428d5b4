//! Runs that could not be saved in the lab. Such a run moves to a file next to the lab, which is itself a lab. The next
//! process that opens the lab recovers the run.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use fathom_message::{Message, Say, msg};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::error::StoreError;
use crate::lab::{Lab, identity};
use crate::owner::Owner;
use crate::types::RunId;

/// Separator in the names of files with unsaved runs: `LAB-unsaved-RUN-PROCESS`.
const INFIX: &str = "-unsaved-";

/// Run that could not be saved in the lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsavedRun {
    /// The run.
    pub run: RunId,
    /// The file that contains the run.
    pub path: PathBuf,
    /// True if the file is next to the lab, where the run is recovered.
    pub is_beside: bool,
    /// The reason.
    pub why: Message,
}

impl Say for UnsavedRun {
    fn message(&self) -> Message {
        msg!("lab-unsaved", run = self.run.to_string(), why = self.why.clone())
    }

    fn help(&self) -> Option<Message> {
        let path = &self.path;
        Some(if self.is_beside {
            msg!("lab-unsaved-help", path = path)
        } else {
            msg!("lab-unsaved-elsewhere-help", path = path)
        })
    }
}

/// Run that was recovered from a file next to the lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoveredRun {
    /// Its number now.
    pub run: RunId,
    /// The file that contained the run.
    pub path: PathBuf,
}

impl Say for RecoveredRun {
    fn message(&self) -> Message {
        msg!("lab-recovered", run = self.run.to_string(), path = &self.path)
    }
}

/// Table whose rows a column refers to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    Run,
    Step,
    Prediction,
}

/// All tables, referenced tables first, with the columns that need new numbers in another lab.
pub(crate) const TABLES: [(&str, &[(&str, Names)]); 11] = [
    ("run", &[("id", Names::Run)]),
    ("step", &[("id", Names::Step), ("run_id", Names::Run)]),
    ("direction", &[("step_id", Names::Step)]),
    ("histogram", &[("step_id", Names::Step)]),
    ("interval", &[("step_id", Names::Step)]),
    ("interval_histograms", &[("step_id", Names::Step)]),
    ("prediction", &[("id", Names::Prediction), ("run_id", Names::Run)]),
    ("predicted_step", &[("prediction_id", Names::Prediction)]),
    ("made_file", &[("run_id", Names::Run)]),
    ("headline", &[("run_id", Names::Run)]),
    ("work_folder", &[("run_id", Names::Run)]),
];

/// Row numbers of a run in the destination lab.
#[derive(Clone, Copy, Default)]
struct Numbers {
    run: i64,
    /// Added to the numbers of steps.
    steps: i64,
    /// Added to the numbers of predictions.
    predictions: i64,
}

impl Lab {
    /// Run of this process that could not be saved in the lab.
    #[must_use]
    pub fn unsaved(&self) -> Option<&UnsavedRun> {
        self.unsaved.as_ref()
    }

    /// Runs that were recovered when the lab was opened.
    #[must_use]
    pub fn recovered(&self) -> &[RecoveredRun] {
        &self.recovered
    }

    /// Calls `write` for `run`. If the lab cannot be written, moves the run to a file and calls `write` again.
    pub(crate) fn or_unsaved_file<T>(
        &mut self,
        run: RunId,
        write: impl Fn(&mut Lab) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let written =
            if self.unsaved.is_none() { self.require_in_place().and_then(|()| write(self)) } else { write(self) };
        match written {
            Err(error) if self.unsaved.is_none() && error.is_of_the_place() => {
                self.move_to_unsaved_file(run, &error).map_err(|_| error)?;
                write(self)
            }
            written => written,
        }
    }

    /// Refuses a lab that was removed or replaced: SQLite would go on writing to the unlinked file.
    fn require_in_place(&self) -> Result<(), StoreError> {
        if identity(&self.path) == self.identity { Ok(()) } else { Err(StoreError::Gone { path: self.path.clone() }) }
    }

    /// Copies the run to a new lab next to this one, or else in the folder for temporary files, and switches to that lab.
    fn move_to_unsaved_file(&mut self, run: RunId, why: &StoreError) -> Result<(), StoreError> {
        let mut name = self.path.file_name().map(OsString::from).unwrap_or_default();
        name.push(format!("{INFIX}{run}-{}", std::process::id()));
        let beside = self.path.with_file_name(&name);
        let moved = self.copied_to(run, &beside).map(|lab| (lab, beside));
        let (lab, path) = moved.or_else(|_| {
            let elsewhere = std::env::temp_dir().join(&name);
            self.copied_to(run, &elsewhere).map(|lab| (lab, elsewhere))
        })?;
        let is_beside = path.parent() == self.path.parent();
        *self = lab;
        self.unsaved = Some(UnsavedRun { run, path, is_beside, why: why.message() });
        self.wait_longer()
    }

    fn copied_to(&self, run: RunId, path: &Path) -> Result<Lab, StoreError> {
        // A file that was there before may hold another run: it stays, whatever happens.
        let is_new = !path.exists();
        let clean_up = || {
            if is_new {
                remove(path);
            }
        };
        drop(Lab::open(path).inspect_err(|_| clean_up())?);
        let attached = Attached::new(self, path)?;
        let copied = self.sql(self.db.unchecked_transaction()).and_then(|transaction| {
            self.sql(copy(&transaction, ("main", "other"), run, Numbers { run: run.0, ..Numbers::default() }))?;
            self.sql(transaction.commit())
        });
        drop(attached);
        copied.and_then(|()| Lab::open_existing(path)).inspect_err(|_| clean_up())
    }

    /// Recovers the unsaved runs of earlier processes. Files that cannot be read now stay.
    pub(crate) fn recover(&mut self) {
        for path in unsaved_files(&self.path) {
            if let Ok(Some(run)) = self.recover_from(&path) {
                remove(&path);
                self.recovered.push(RecoveredRun { run, path });
            }
        }
    }

    /// Returns `None` if a process still writes the run.
    fn recover_from(&mut self, path: &Path) -> Result<Option<RunId>, StoreError> {
        let other = Lab::open_existing(path)?;
        let Some(id) = other.latest_run_id()? else { return Ok(None) };
        if other.owner_if_running(id)?.is_some_and(|owner| owner.is_alive() && owner != Owner::this()) {
            return Ok(None);
        }
        drop(other);
        let attached = Attached::new(self, path)?;
        let taken = (|| {
            let transaction = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
            let run = copy_in(&transaction, id)?;
            transaction.commit().map(|()| run)
        })();
        drop(attached);
        self.sql(taken).map(Some)
    }
}

/// Attaches another lab as `other` to the connection of a lab, until dropped.
pub(crate) struct Attached<'a>(&'a Connection);

impl<'a> Attached<'a> {
    pub(crate) fn new(lab: &'a Lab, path: &Path) -> Result<Attached<'a>, StoreError> {
        lab.sql(lab.db.execute("ATTACH ?1 AS other", [path.to_string_lossy()]))?;
        Ok(Attached(&lab.db))
    }
}

impl Drop for Attached<'_> {
    fn drop(&mut self) {
        // It ends with the connection at the latest.
        let _ = self.0.execute_batch("DETACH other");
    }
}

/// Copies a run from `other`. It replaces the same run, or keeps its number, or gets a new number if that is taken.
fn copy_in(transaction: &Transaction<'_>, id: RunId) -> rusqlite::Result<RunId> {
    let same = "SELECT count(*) FROM main.run AS here, other.run AS there WHERE here.id = ?1 AND there.id = ?1
                AND here.started_unix_ns = there.started_unix_ns AND here.owner_pid = there.owner_pid
                AND here.owner_started_ticks = there.owner_started_ticks AND here.owner_boot_id = there.owner_boot_id";
    let number = |sql: &str| transaction.query_row(sql, [], |row| row.get::<_, i64>(0));
    if transaction.query_row(same, [id.0], |row| row.get::<_, i64>(0))? > 0 {
        transaction.execute("DELETE FROM main.run WHERE id = ?1", [id.0])?;
    }
    let is_taken = number(&format!("SELECT count(*) FROM main.run WHERE id = {}", id.0))? > 0;
    let run = if is_taken { number("SELECT max(id) + 1 FROM main.run")? } else { id.0 };
    let numbers = Numbers {
        run,
        steps: number("SELECT coalesce(max(id), 0) FROM main.step")?,
        predictions: number("SELECT coalesce(max(id), 0) FROM main.prediction")?,
    };
    copy(transaction, ("other", "main"), id, numbers)?;
    Ok(RunId(run))
}

/// Copies all rows of a run between attached databases.
fn copy(transaction: &Transaction<'_>, (from, to): (&str, &str), run: RunId, numbers: Numbers) -> rusqlite::Result<()> {
    for (table, named) in TABLES {
        let mut columns = transaction.prepare("SELECT name FROM pragma_table_info(?1, ?2) ORDER BY cid")?;
        let columns: Vec<String> =
            columns.query_map(params![table, from], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        let value = |column: &String| match named.iter().find(|(name, _)| name == column) {
            Some((_, Names::Run)) => numbers.run.to_string(),
            Some((_, Names::Step)) => format!("{column} + {}", numbers.steps),
            Some((_, Names::Prediction)) => format!("{column} + {}", numbers.predictions),
            None => column.clone(),
        };
        let values: Vec<String> = columns.iter().map(value).collect();
        let rows_of = |table: &str| format!("SELECT id FROM {from}.{table} WHERE run_id = {}", run.0);
        let is_of_run = match named.iter().find(|(_, names)| *names == Names::Run).or(named.first()) {
            Some((column, Names::Run)) => format!("{column} = {}", run.0),
            Some((column, Names::Step)) => format!("{column} IN ({})", rows_of("step")),
            Some((column, Names::Prediction)) => format!("{column} IN ({})", rows_of("prediction")),
            None => continue,
        };
        let sql = format!(
            "INSERT OR REPLACE INTO {to}.{table} ({}) SELECT {} FROM {from}.{table} WHERE {is_of_run}",
            columns.join(", "),
            values.join(", ")
        );
        transaction.execute(&sql, [])?;
    }
    Ok(())
}

/// Files with unsaved runs of the lab at `path`.
pub(crate) fn unsaved_files(path: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Vec::new() };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let begin = format!("{}{INFIX}", name.to_string_lossy());
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    // SQLite's own files beside it have a letter in their names.
    let is_one = |name: &String| {
        let rest = name.strip_prefix(&begin);
        rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'))
    };
    let mut found: Vec<PathBuf> = names.filter(is_one).map(|name| path.with_file_name(name)).collect();
    found.sort();
    found
}

/// Removes a file of [`unsaved_files`] and the files that SQLite keeps next to it.
pub(crate) fn remove(path: &Path) {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        // A file that stays is recovered again under the same number.
        let _ = fs::remove_file(name);
    }
}
