//! The answer of a run in a sentence, kept so that a list of runs need not judge each again.

use fathom_message::Message;
use rusqlite::{OptionalExtension, params};

use crate::error::StoreError;
use crate::lab::Lab;
use crate::message::{message_from_column, message_to_column};
use crate::types::RunId;

impl Lab {
    /// The sentence that `fathom_version` kept of the run; `None`: none, or another version did.
    ///
    /// # Errors
    /// [`StoreError`] when the lab cannot be read.
    pub fn headline(&self, run: RunId, fathom_version: &str) -> Result<Option<Message>, StoreError> {
        let sql = "SELECT sentence FROM headline WHERE run_id = ?1 AND fathom_version = ?2";
        let text: Option<String> =
            self.sql(self.db.query_row(sql, params![run.0, fathom_version], |row| row.get(0)).optional())?;
        Ok(text.map(message_from_column))
    }

    /// Keeps the sentence until the run goes on.
    ///
    /// # Errors
    /// [`StoreError`] when the run is gone, or the lab is locked or full.
    pub fn keep_headline(&self, run: RunId, fathom_version: &str, sentence: &Message) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO headline (run_id, fathom_version, sentence) VALUES (?1, ?2, ?3)";
        self.sql(self.db.execute(sql, params![run.0, fathom_version, message_to_column(sentence)]))?;
        Ok(())
    }

    pub(crate) fn forget_headline(&self, run: RunId) -> Result<(), StoreError> {
        self.sql(self.db.execute("DELETE FROM headline WHERE run_id = ?1", [run.0]))?;
        Ok(())
    }
}
