//! Files that runs made as targets.

use std::path::{Path, PathBuf};

use fathom_message::msg;
use fathom_plan::TargetId;
use rusqlite::{Row, params};

use crate::error::StoreError;
use crate::lab::Lab;
use crate::pack::{from_column, to_column};
use crate::types::{MadeFile, RunId, WorkFolder};

impl Lab {
    /// Takes note of a file that the run is about to make: before it is made, so that none is left unknown.
    ///
    /// # Errors
    /// The run is not this process's to change; the lab is locked or full.
    pub fn add_made_file(&mut self, run: RunId, file: &MadeFile) -> Result<(), StoreError> {
        self.require_running(run)?;
        // Found again from any folder.
        let absolute = std::path::absolute(&file.path);
        let path = absolute.as_ref().unwrap_or(&file.path).to_string_lossy();
        let mark = file.mark.to_string();
        let values = params![run.0, file.target.as_str(), path, to_column(file.bytes), mark, file.is_kept];
        self.sql(self.db.execute("INSERT OR REPLACE INTO made_file VALUES (?1, ?2, ?3, ?4, ?5, ?6)", values))?;
        Ok(())
    }

    /// Forgets the files of a run whose marks these are: they were removed.
    ///
    /// # Errors
    /// The lab is locked or full.
    pub fn forget_made_files(&mut self, marks: &[fathom_host::FileMark]) -> Result<(), StoreError> {
        for mark in marks {
            self.sql(self.db.execute("DELETE FROM made_file WHERE mark = ?1", [mark.to_string()]))?;
        }
        Ok(())
    }

    /// The files that a run made and that were not removed.
    ///
    /// # Errors
    /// [`StoreError::Damaged`]; the lab cannot be read.
    pub fn made_files(&self, run: RunId) -> Result<Vec<MadeFile>, StoreError> {
        Ok(self.all_made_files()?.into_iter().filter(|(id, _)| *id == run).map(|(_, file)| file).collect())
    }

    /// The files of all runs.
    ///
    /// # Errors
    /// As [`Lab::made_files`].
    pub fn all_made_files(&self) -> Result<Vec<(RunId, MadeFile)>, StoreError> {
        let sql = "SELECT run_id, target, path, bytes, mark, is_kept FROM made_file ORDER BY run_id, target";
        let mut statement = self.sql(self.db.prepare_cached(sql))?;
        let rows = self.sql(statement.query_map([], read_file))?;
        let rows: Vec<Option<(RunId, MadeFile)>> = self.sql(rows.collect())?;
        rows.into_iter().map(|row| row.ok_or_else(|| self.damaged(msg!("lab-file-without-mark")))).collect()
    }
}

impl Lab {
    /// Takes note of a folder in which something is about to be made.
    ///
    /// # Errors
    /// The lab is locked or full.
    pub fn add_work_folder(&mut self, folder: &WorkFolder) -> Result<(), StoreError> {
        let sql = "INSERT INTO work_folder SELECT ?1, ?2, ?3 WHERE NOT EXISTS \
                   (SELECT 1 FROM work_folder WHERE run_id IS ?1 AND path = ?2 AND mount_point = ?3)";
        self.sql(self.db.execute(sql, columns(folder)))?;
        Ok(())
    }

    /// All folders that were noted and not forgotten.
    ///
    /// # Errors
    /// The lab cannot be read.
    pub fn work_folders(&self) -> Result<Vec<WorkFolder>, StoreError> {
        let sql = "SELECT run_id, path, mount_point FROM work_folder ORDER BY path, run_id";
        let mut statement = self.sql(self.db.prepare_cached(sql))?;
        let read = |row: &Row<'_>| {
            let (run, path, mount_point): (Option<i64>, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(WorkFolder { path: path.into(), mount_point: mount_point.into(), run: run.map(RunId) })
        };
        let rows = self.sql(statement.query_map([], read))?;
        self.sql(rows.collect())
    }

    /// Forgets a folder: nothing of its work is left in it.
    ///
    /// # Errors
    /// The lab is locked or full.
    pub fn forget_work_folder(&mut self, folder: &WorkFolder) -> Result<(), StoreError> {
        let sql = "DELETE FROM work_folder WHERE run_id IS ?1 AND path = ?2 AND mount_point = ?3";
        self.sql(self.db.execute(sql, columns(folder)))?;
        Ok(())
    }
}

fn columns(folder: &WorkFolder) -> impl rusqlite::Params {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    (folder.run.map(|run| run.0), text(&folder.path), text(&folder.mount_point))
}

/// `None`: what stands for a mark is none.
fn read_file(row: &Row<'_>) -> rusqlite::Result<Option<(RunId, MadeFile)>> {
    let (run, target, path): (i64, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let (bytes, mark, is_kept): (i64, String, bool) = (row.get(3)?, row.get(4)?, row.get(5)?);
    let Ok(mark) = mark.parse() else { return Ok(None) };
    let (target, path) = (TargetId::new(target), PathBuf::from(path));
    Ok(Some((RunId(run), MadeFile { target, path, bytes: from_column(bytes), mark, is_kept })))
}
