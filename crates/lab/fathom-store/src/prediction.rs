//! Predictions: made before the steps they are about, and never changed after.

use fathom_message::msg;
use fathom_record::{LadderPrediction, PredictedStep};
use rusqlite::{TransactionBehavior, params};

use crate::error::StoreError;
use crate::lab::Lab;
use crate::pack::{from_column, to_column};
use crate::types::RunId;

impl Lab {
    /// Stores a prediction of a run in progress, before the steps that it is about are committed.
    ///
    /// # Errors
    /// [`StoreError::RunNotFound`], [`StoreError::RunClosed`], [`StoreError::StepExists`] for a step that has ended: what
    /// is known cannot be predicted. [`StoreError::NotStorable`] for figures that are not finite; locked, full and so on.
    pub fn store_prediction(&mut self, run: RunId, prediction: &LadderPrediction) -> Result<(), StoreError> {
        self.require_running(run)?;
        let figures = prediction.steps.iter().flat_map(|s| [s.iops, s.lat_mean_ns]);
        let screened = prediction.screens.iter().flat_map(|s| [s.iops, s.lat_mean_ns]);
        if figures.chain(screened).any(|x| !x.is_finite()) {
            return Err(StoreError::NotStorable { what: msg!("lab-part-prediction") });
        }
        let screens = serde_json::to_string(&prediction.screens)
            .map_err(|_| StoreError::NotStorable { what: msg!("lab-part-screens") })?;
        let ended = self.step_indexes(run)?;
        if let Some(known) = prediction.steps.iter().find(|s| ended.contains(&s.index)) {
            return Err(StoreError::StepExists { id: run, index: known.index });
        }
        let path = self.path.clone();
        let fail = |error| StoreError::from_sqlite(&path, error);
        let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
        transaction
            .execute(
                "INSERT INTO prediction (run_id, made_unix_ns, screens_json) VALUES (?1, ?2, ?3)",
                params![run.0, to_column(prediction.made_unix_ns), screens],
            )
            .map_err(fail)?;
        let id = transaction.last_insert_rowid();
        for step in &prediction.steps {
            transaction
                .execute(
                    "INSERT INTO predicted_step (prediction_id, step_index, iops, lat_mean_ns) VALUES (?1, ?2, ?3, ?4)",
                    params![id, step.index, step.iops, step.lat_mean_ns],
                )
                .map_err(fail)?;
        }
        transaction.commit().map_err(fail)
    }

    /// The predictions of a run in the order they were made; empty for a run without.
    ///
    /// # Errors
    /// [`StoreError::RunNotFound`], [`StoreError::Damaged`].
    pub fn predictions(&self, run: RunId) -> Result<Vec<LadderPrediction>, StoreError> {
        self.summary(run)?;
        let mut heads = self
            .sql(self.db.prepare_cached(
                "SELECT id, made_unix_ns, screens_json FROM prediction WHERE run_id = ?1 ORDER BY id",
            ))?;
        let heads = self
            .sql(heads.query_map([run.0], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?))
            }))?;
        let mut out = Vec::new();
        for head in heads {
            let (id, made, screens) = self.sql(head)?;
            let screens = serde_json::from_str(&screens)
                .map_err(|e| self.damaged(msg!("lab-bad-screens", run = run.to_string(), error = e.to_string())))?;
            let mut rows = self.sql(self.db.prepare_cached(
                "SELECT step_index, iops, lat_mean_ns FROM predicted_step WHERE prediction_id = ?1 ORDER BY step_index",
            ))?;
            let rows = self.sql(rows.query_map([id], |row| {
                Ok(PredictedStep { index: row.get(0)?, iops: row.get(1)?, lat_mean_ns: row.get(2)? })
            }))?;
            let steps = self.sql(rows.collect())?;
            out.push(LadderPrediction { made_unix_ns: from_column(made), screens, steps });
        }
        Ok(out)
    }
}
