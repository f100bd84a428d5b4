//! Beginning, filling, finishing and deleting runs. Each call is one transaction.

use fathom_message::{Message, msg};
use fathom_plan::Step;
use fathom_record::{Direction, Latency, StepFailure, StepRecord};
use rusqlite::{Transaction, TransactionBehavior, ffi, params};
use serde::Serialize;

use crate::error::{Closed, StoreError};
use crate::lab::Lab;
use crate::message::message_to_column;
use crate::owner::Owner;
use crate::pack::{RecordRest, op_word, pack, to_column, to_json};
use crate::types::{NewRun, RunId, RunState};

impl Lab {
    /// Begins a run that belongs to this process.
    ///
    /// # Errors
    /// [`StoreError::NotStorable`] when the plan holds a number that is not finite; locked, full and so on.
    pub fn begin_run(&mut self, run: &NewRun<'_>) -> Result<RunId, StoreError> {
        let plan_json = storable(msg!("lab-part-plan"), to_json(run.plan))?;
        let owner = Owner::this();
        let values = params![
            run.study,
            run.question,
            RunState::Running.as_str(),
            to_column(run.started_unix_ns),
            run.fathom_version,
            run.command_line,
            run.plan.steps.len() as i64,
            plan_json,
            run.host_json,
            owner.pid,
            to_column(owner.started_ticks),
            owner.boot_id,
            run.is_import,
        ];
        self.sql(self.db.execute(
            "INSERT INTO run (study, question, state, started_unix_ns, fathom_version, command_line, steps_planned,
                              plan_json, host_json, owner_pid, owner_started_ticks, owner_boot_id,
                              is_import)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            values,
        ))?;
        let run = RunId(self.db.last_insert_rowid());
        self.wait_longer()?;
        Ok(run)
    }

    /// Stores a step that ended. When this returns, the step is on the disk: in the lab, or if the lab cannot be written in a
    /// file next to it ([`Lab::unsaved`]).
    ///
    /// # Errors
    /// [`StoreError::RunNotFound`], [`StoreError::RunClosed`], [`StoreError::StepExists`],
    /// [`StoreError::NotStorable`], or neither can be written. Nothing of the step is then stored.
    pub fn commit_step(
        &mut self,
        run: RunId,
        step: &Step,
        outcome: Result<&StepRecord, &StepFailure>,
    ) -> Result<(), StoreError> {
        self.or_unsaved_file(run, |lab| lab.commit_step_here(run, step, outcome))
    }

    fn commit_step_here(
        &mut self,
        run: RunId,
        step: &Step,
        outcome: Result<&StepRecord, &StepFailure>,
    ) -> Result<(), StoreError> {
        let step_json = storable(msg!("lab-part-step"), to_json(step))?;
        let rest_json = match outcome {
            Ok(record) => Some(storable(msg!("lab-part-record"), to_json(&RecordRest::of(record)))?),
            Err(_) => None,
        };
        self.require_running(run)?;
        let path = self.path.clone();
        let fail = |error: rusqlite::Error| match error.sqlite_extended_error_code() {
            Some(ffi::SQLITE_CONSTRAINT_UNIQUE) => StoreError::StepExists { id: run, index: step.index },
            _ => StoreError::from_sqlite(&path, error),
        };
        let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
        insert_step(&transaction, run, step, &step_json, outcome, rest_json.as_deref()).map_err(fail)?;
        let step_id = transaction.last_insert_rowid();
        if let Ok(record) = outcome {
            insert_directions(&transaction, step_id, record)?.map_err(fail)?;
            insert_intervals(&transaction, step_id, record).map_err(fail)?;
        }
        transaction.commit().map_err(fail)
    }

    /// Closes a run. After this it cannot be changed, only resumed when it was interrupted or failed.
    ///
    /// # Errors
    /// [`StoreError::RunNotFound`], [`StoreError::RunClosed`], or the lab is locked or full.
    ///
    /// # Panics
    /// When `state` is [`RunState::Running`], which is no end.
    pub fn finish_run(&mut self, run: RunId, state: RunState, finished_unix_ns: u64) -> Result<(), StoreError> {
        assert_ne!(state, RunState::Running, "a run ends in another state than running");
        self.or_unsaved_file(run, |lab| {
            lab.require_running(run)?;
            lab.sql(lab.db.execute(
                "UPDATE run SET state = ?2, finished_unix_ns = ?3 WHERE id = ?1",
                params![run.0, state.as_str(), to_column(finished_unix_ns)],
            ))?;
            Ok(())
        })
    }

    /// Marks the runs that this process had in hand as interrupted: for a process that was replaced (exec) while it measured.
    ///
    /// # Errors
    /// The lab is locked or full.
    pub fn interrupt_own_runs(&mut self, finished_unix_ns: u64) -> Result<(), StoreError> {
        let owner = Owner::this();
        self.sql(self.db.execute(
            "UPDATE run SET state = 'interrupted', finished_unix_ns = ?4
             WHERE state = 'running' AND owner_pid = ?1 AND owner_started_ticks = ?2 AND owner_boot_id = ?3",
            params![owner.pid, to_column(owner.started_ticks), owner.boot_id, to_column(finished_unix_ns)],
        ))?;
        Ok(())
    }

    /// Takes over a run that was interrupted or failed, so that its missing steps can be committed by this process.
    ///
    /// # Errors
    /// [`StoreError::RunNotFound`]; [`StoreError::RunClosed`] when it is finished or another process is at work on it.
    pub fn resume_run(&mut self, run: RunId) -> Result<(), StoreError> {
        let state = self.summary(run)?.state;
        if matches!(state, RunState::Finished | RunState::Running) {
            return Err(StoreError::RunClosed { id: run, state: Closed::In(state) });
        }
        self.forget_headline(run)?;
        let owner = Owner::this();
        self.sql(self.db.execute(
            "UPDATE run SET state = 'running', finished_unix_ns = NULL, owner_pid = ?2, owner_started_ticks = ?3,
                            owner_boot_id = ?4 WHERE id = ?1",
            params![run.0, owner.pid, to_column(owner.started_ticks), owner.boot_id],
        ))?;
        self.wait_longer()
    }

    /// Takes a step out of a run that is in progress, so that it can be measured again: one that was stopped in its middle.
    ///
    /// # Errors
    /// [`StoreError::RunNotFound`], [`StoreError::RunClosed`], [`StoreError::StepNotFound`].
    pub fn drop_step(&mut self, run: RunId, index: u32) -> Result<(), StoreError> {
        self.require_running(run)?;
        let sql = "DELETE FROM step WHERE run_id = ?1 AND step_index = ?2";
        match self.sql(self.db.execute(sql, params![run.0, index]))? {
            0 => Err(StoreError::StepNotFound { id: run, index }),
            _ => Ok(()),
        }
    }

    /// Deletes a run with all its steps and gives its space back to the file system.
    ///
    /// # Errors
    /// [`StoreError::RunNotFound`]; [`StoreError::RunClosed`] while a live process is at work on it.
    pub fn delete_run(&mut self, run: RunId) -> Result<(), StoreError> {
        let owner = self.owner_if_running(run)?;
        if owner.is_some_and(|owner| owner.is_alive() && owner != Owner::this()) {
            return Err(StoreError::RunClosed { id: run, state: Closed::ByAnotherProcess });
        }
        self.sql(self.db.execute("DELETE FROM run WHERE id = ?1", params![run.0]))?;
        // Each row returned is a page given back: the statement must be stepped to its end.
        let mut vacuum = self.sql(self.db.prepare("PRAGMA incremental_vacuum"))?;
        let mut rows = self.sql(vacuum.query([]))?;
        while self.sql(rows.next())?.is_some() {}
        drop(rows);
        drop(vacuum);
        // Shrinks file and log now; a reader elsewhere only postpones that, which is no error.
        self.sql(self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0)))?;
        Ok(())
    }

    /// A closed run is immutable, and a running one belongs to one process.
    pub(crate) fn require_running(&self, run: RunId) -> Result<(), StoreError> {
        match self.owner_if_running(run)? {
            Some(owner) if owner == Owner::this() => Ok(()),
            Some(owner) if owner.is_alive() => Err(StoreError::RunClosed { id: run, state: Closed::ByAnotherProcess }),
            Some(_) | None => Err(StoreError::RunClosed { id: run, state: Closed::In(self.summary(run)?.state) }),
        }
    }
}

fn storable(what: Message, json: Option<String>) -> Result<String, StoreError> {
    json.ok_or_else(|| StoreError::NotStorable { what })
}

/// The serde word of a unit variant, e.g. `measure`.
fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).expect("a unit variant is a word")
}

fn insert_step(
    transaction: &Transaction<'_>,
    run: RunId,
    step: &Step,
    step_json: &str,
    outcome: Result<&StepRecord, &StepFailure>,
    rest_json: Option<&str>,
) -> rusqlite::Result<()> {
    let (kind, reasons) = match outcome {
        Ok(_) => ("measured", None),
        Err(StepFailure::Refused { what, why, help }) => ("refused", Some((what, why, help))),
        Err(StepFailure::Failed { what, why, help }) => ("failed", Some((what, why, help))),
    };
    let record = outcome.ok();
    let per_second = |total: fn(&StepRecord) -> u64| {
        record.filter(|r| r.runtime_ns > 0).map(|r| total(r) as f64 * 1e9 / r.runtime_ns as f64)
    };
    let values = params![
        run.0,
        step.index,
        step.label,
        word(&step.phase),
        step.group,
        step.workload.read_write().as_str(),
        step.workload.block_sizes.iter().map(|b| b.bytes).max(),
        step.engine.name.as_str(),
        step.engine.mode.as_str(),
        step.load.threads,
        step.load.queue_depth,
        step_json,
        kind,
        reasons.map(|r| message_to_column(r.0)),
        reasons.map(|r| message_to_column(r.1)),
        reasons.map(|r| message_to_column(r.2)),
        record.map(|r| to_column(r.started_unix_ns)),
        record.map(|r| to_column(r.runtime_ns)),
        record.map(|r| to_column(r.setup_ns)),
        record.map(|r| to_column(r.ios())),
        record.map(|r| to_column(r.bytes())),
        record.map(|r| to_column(r.errors())),
        per_second(StepRecord::ios),
        per_second(StepRecord::bytes),
        rest_json,
    ];
    transaction
        .prepare_cached(
            "INSERT INTO step (run_id, step_index, label, phase, group_name, op, block_size_bytes, engine, mode, threads,
                               queue_depth, step_json, outcome, what, why, help, started_unix_ns, runtime_ns, setup_ns,
                               ios, bytes, errors, iops, bytes_per_s, record_json)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
                     ?23, ?24, ?25)",
        )?
        .execute(values)?;
    Ok(())
}

/// Figures of a direction's latency that are worth a query: mean, p50, p99, max.
fn latency_columns(latency: &Latency) -> (Option<f64>, [Option<i64>; 3]) {
    match latency {
        Latency::Samples(h) => (h.mean_ns(), [h.quantile(0.5), h.quantile(0.99), h.max_ns()].map(|v| v.map(to_column))),
        Latency::Quoted(quoted) => {
            let at = |q: f64| quoted.quantiles.iter().find(|(p, _)| (p - q).abs() < 1e-9).map(|(_, ns)| to_column(*ns));
            (Some(quoted.mean_ns), [at(0.5), at(0.99), Some(to_column(quoted.max_ns))])
        }
    }
}

/// The outer error is a figure that cannot be stored, the inner one is SQLite's.
fn insert_directions(
    transaction: &Transaction<'_>,
    step_id: i64,
    record: &StepRecord,
) -> Result<rusqlite::Result<()>, StoreError> {
    for (position, direction) in record.directions.iter().chain(&record.syncs).enumerate() {
        let mut blobs = Vec::with_capacity(4);
        for (kind, latency) in latencies(direction) {
            blobs.push(match latency {
                Latency::Samples(histogram) => (kind, Some(histogram.to_bytes()), None),
                Latency::Quoted(quoted) => (kind, None, Some(storable(msg!("lab-part-latency"), to_json(quoted))?)),
            });
        }
        if let Err(error) = insert_direction(transaction, step_id, position as i64, direction, &blobs) {
            return Ok(Err(error));
        }
    }
    Ok(Ok(()))
}

fn latencies(direction: &Direction) -> impl Iterator<Item = (&'static str, &Latency)> {
    let optional = [("slat", &direction.slat), ("clat", &direction.clat), ("service", &direction.service)];
    std::iter::once(("lat", &direction.lat)).chain(optional.into_iter().filter_map(|(k, l)| Some((k, l.as_ref()?))))
}

/// Kind, samples, quoted figures: one of the last two.
type HistogramColumns = (&'static str, Option<Vec<u8>>, Option<String>);

fn insert_direction(
    transaction: &Transaction<'_>,
    step_id: i64,
    position: i64,
    direction: &Direction,
    blobs: &[HistogramColumns],
) -> rusqlite::Result<()> {
    let (mean, [p50, p99, max]) = latency_columns(&direction.lat);
    transaction.prepare_cached("INSERT INTO direction VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")?.execute(
        params![
            step_id,
            position,
            op_word(direction.op),
            to_column(direction.ios),
            to_column(direction.bytes),
            to_column(direction.short_ios),
            mean,
            p50,
            p99,
            max,
        ],
    )?;
    let mut insert = transaction.prepare_cached("INSERT INTO histogram VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for (kind, samples, quoted) in blobs {
        insert.execute(params![step_id, position, kind, samples, quoted])?;
    }
    Ok(())
}

fn insert_intervals(transaction: &Transaction<'_>, step_id: i64, record: &StepRecord) -> rusqlite::Result<()> {
    if record.intervals.is_empty() {
        return Ok(());
    }
    let mut insert = transaction.prepare_cached("INSERT INTO interval VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
    for (index, interval) in record.intervals.iter().enumerate() {
        let (index, start, length) = (index as i64, to_column(interval.start_ns), to_column(interval.length_ns));
        if interval.directions.is_empty() && interval.syncs.is_none() {
            insert.execute(params![step_id, index, 0, start, length, None::<&str>, 0, 0])?;
        }
        for (position, d) in interval.directions.iter().chain(&interval.syncs).enumerate() {
            let (ios, bytes) = (to_column(d.ios), to_column(d.bytes));
            insert.execute(params![step_id, index, position as i64, start, length, op_word(d.op), ios, bytes])?;
        }
    }
    let histograms = record.intervals.iter().flat_map(|i| i.directions.iter().chain(&i.syncs)).map(|d| &d.lat);
    transaction
        .prepare_cached("INSERT INTO interval_histograms VALUES (?1, ?2)")?
        .execute(params![step_id, pack(histograms)])?;
    Ok(())
}
