//! Opening a lab: what is a lab, what is not, and what a new one starts with.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fathom_host::{OpenDatabase, check_lab_file, prepare_lab_file};
use fathom_message::{Message, msg};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::error::StoreError;
use crate::schema::{APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION};
use crate::unsaved::{RecoveredRun, UnsavedRun, unsaved_files};
use crate::wait;

/// How long a statement waits for another process's lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// An open lab database.
#[derive(Debug)]
pub struct Lab {
    pub(crate) path: PathBuf,
    // Closed before the registration ends: in the order of the fields.
    pub(crate) db: Connection,
    /// Device and inode of the file.
    pub(crate) identity: Option<(u64, u64)>,
    pub(crate) unsaved: Option<UnsavedRun>,
    pub(crate) recovered: Vec<RecoveredRun>,
    _registered: OpenDatabase,
}

impl Lab {
    /// Opens the lab at `path`, making it and its folders when there is none.
    ///
    /// # Errors
    /// [`StoreError`]; a file that is something else is left as it is.
    pub fn open(path: &Path) -> Result<Lab, StoreError> {
        Lab::open_waiting(path, true, BUSY_TIMEOUT)
    }

    /// Opens the lab at `path`, which must exist.
    ///
    /// # Errors
    /// [`StoreError::Missing`] when there is none, else as [`Lab::open`].
    pub fn open_existing(path: &Path) -> Result<Lab, StoreError> {
        Lab::open_waiting(path, false, BUSY_TIMEOUT)
    }

    /// Where the lab is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn open_waiting(path: &Path, create: bool, busy_timeout: Duration) -> Result<Lab, StoreError> {
        // A lab that was removed during a run is created again when the run is recovered.
        let create = create || !path.exists() && !unsaved_files(path).is_empty();
        if !create && !path.exists() {
            return Err(StoreError::Missing { path: path.to_owned() });
        }
        // Before SQLite sees the path: it would open, and write to, a device or whatever a symlink leads to.
        let checked = if create { prepare_lab_file(path) } else { check_lab_file(path) };
        checked.map_err(|error| StoreError::from_output(path, error))?;
        let registered =
            OpenDatabase::register(path).map_err(|source| StoreError::Folder { path: path.to_owned(), source })?;
        let before = identity(path);
        // The file exists. Without permission to create, ATTACH cannot leave an empty file either.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = Connection::open_with_flags(path, flags).map_err(|e| StoreError::from_sqlite(path, e))?;
        let (unsaved, recovered) = (None, Vec::new());
        let mut lab = Lab { path: path.to_owned(), db, identity: before, unsaved, recovered, _registered: registered };
        lab.sql(lab.db.busy_timeout(busy_timeout))?;
        if before.is_none() || identity(path) != before {
            return Err(StoreError::NotALab { path: path.to_owned(), why: msg!("lab-changed-while-opened") });
        }
        // A lab that somebody else made is data: none of its triggers or views is executed.
        for (config, on) in [
            (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        ] {
            lab.sql(lab.db.set_db_config(config, on))?;
        }
        lab.recognise(create)?;
        lab.prepare()?;
        lab.migrate()?;
        lab.recover();
        Ok(lab)
    }

    /// From now on a measurement is at stake: what is committed waits longer for its turn.
    pub(crate) fn wait_longer(&mut self) -> Result<(), StoreError> {
        let handled = self.db.busy_handler(Some(wait::wait));
        self.sql(handled)
    }

    /// Sets the callbacks for waits of this thread for another process's lock during a run: `notice` is called after
    /// 5 seconds, and the wait ends when `is_stopped` returns true.
    pub fn when_waiting(&self, notice: impl Fn(Message) + 'static, is_stopped: impl Fn() -> bool + 'static) {
        wait::set(wait::Waiting::new(&self.path, Box::new(notice), Box::new(is_stopped)));
    }

    /// Says no to anything that is neither a lab of a known version nor, when creating, an empty database. Only reads:
    /// somebody else's file must stay as it is.
    fn recognise(&self, create: bool) -> Result<(), StoreError> {
        let not_a_lab = |why: Message| Err(StoreError::NotALab { path: self.path.clone(), why });
        // One view of the file: another process may be making the lab at this very moment.
        let _view = self.sql(self.db.unchecked_transaction())?;
        let application = self.pragma("application_id")?;
        let version = self.pragma("user_version")?;
        if application != APPLICATION_ID {
            let tables: i64 = self.sql(self.db.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0)))?;
            if application != 0 || version != 0 || tables > 0 {
                return not_a_lab(msg!("lab-of-another-program", tables = tables.unsigned_abs()));
            }
            if !create {
                // Another process may be about to make the lab here.
                return Err(StoreError::Missing { path: self.path.clone() });
            }
        } else if version > SCHEMA_VERSION {
            return Err(StoreError::NewerSchema { path: self.path.clone(), found: version, known: SCHEMA_VERSION });
        }
        Ok(())
    }

    /// Settings of the connection and, for a new file, of the file.
    ///
    /// synchronous=FULL: with WAL, NORMAL would survive kill -9 as well, but a power cut could roll back several
    /// committed steps. FULL adds one fsync per step, and a step lasts seconds.
    fn prepare(&mut self) -> Result<(), StoreError> {
        // Only of an empty file: on a lab it would take the write lock, and readers would wait for whoever writes.
        if self.pragma("user_version")? == 0 {
            self.sql(self.db.execute_batch("PRAGMA auto_vacuum = INCREMENTAL;"))?;
        }
        self.sql(self.db.query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0)))?;
        self.sql(self.db.execute_batch("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"))?;
        Ok(())
    }

    /// Brings a new or older lab to this program's version, in one transaction.
    fn migrate(&mut self) -> Result<(), StoreError> {
        if self.pragma("user_version")? == SCHEMA_VERSION {
            return Ok(());
        }
        let path = self.path.clone();
        let fail = |error| StoreError::from_sqlite(&path, error);
        let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
        // Read again under the lock: another process may have done it meanwhile.
        let version: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(fail)?;
        for step in MIGRATIONS.iter().skip(usize::try_from(version).unwrap_or(0)) {
            transaction.execute_batch(step).map_err(fail)?;
        }
        let marks = format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION};");
        transaction.execute_batch(&marks).map_err(fail)?;
        transaction.commit().map_err(fail)
    }

    fn pragma(&self, name: &str) -> Result<i64, StoreError> {
        self.sql(self.db.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0)))
    }

    /// Gives an SQLite result the lab's own kind of error.
    pub(crate) fn sql<T>(&self, result: rusqlite::Result<T>) -> Result<T, StoreError> {
        result.map_err(|error| StoreError::from_sqlite(&self.path, error))
    }

    pub(crate) fn damaged(&self, detail: impl Into<Message>) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), detail: detail.into() }
    }
}

/// Which file the path leads to; `None` for nothing and for a symlink.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
    fathom_host::file_identity(path).ok().flatten()
}

#[cfg(test)]
mod tests;
