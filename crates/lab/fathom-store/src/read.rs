//! Reading runs back: the list, a head, one step, a whole run.

use fathom_hist::Histogram;
use fathom_message::{Message, Say as _, msg};
use fathom_plan::{Op, Plan, Step};
use fathom_record::{Direction, DirectionInterval, Interval, Latency, QuotedLatency, StepFailure, StepRecord};
use rusqlite::{OptionalExtension, Row, params};

use crate::error::StoreError;
use crate::lab::Lab;
use crate::message::message_from_column;
use crate::owner::Owner;
use crate::pack::{RecordRest, Unpack, from_column, op_from_word};
use crate::types::{Run, RunHead, RunId, RunState, RunSummary, StoredStep};

const SUMMARY: &str = "
SELECT id, study, question, state, started_unix_ns, finished_unix_ns, fathom_version, command_line, steps_planned,
       owner_pid, owner_started_ticks, owner_boot_id,
       (SELECT count(*) FROM step WHERE run_id = run.id AND outcome = 'measured'),
       (SELECT count(*) FROM step WHERE run_id = run.id AND outcome <> 'measured'),
       is_import
FROM run";

impl Lab {
    /// All runs, by number.
    ///
    /// # Errors
    /// [`StoreError`] when the lab cannot be read.
    pub fn runs(&self) -> Result<Vec<RunSummary>, StoreError> {
        let mut statement = self.sql(self.db.prepare_cached(&format!("{SUMMARY} ORDER BY id")))?;
        let rows = self.sql(statement.query_map([], read_summary))?;
        self.sql(rows.collect())
    }

    /// Number of the run that began last; `None` in an empty lab.
    ///
    /// # Errors
    /// [`StoreError`] when the lab cannot be read.
    pub fn latest_run_id(&self) -> Result<Option<RunId>, StoreError> {
        self.sql(self.db.query_row("SELECT max(id) FROM run", [], |row| Ok(row.get::<_, Option<i64>>(0)?.map(RunId))))
    }

    /// One line of the list.
    ///
    /// # Errors
    /// [`StoreError::RunNotFound`].
    pub fn summary(&self, id: RunId) -> Result<RunSummary, StoreError> {
        let sql = format!("{SUMMARY} WHERE id = ?1");
        self.sql(self.db.query_row(&sql, [id.0], read_summary).optional())?.ok_or_else(|| self.run_not_found(id))
    }

    /// A run without its steps.
    ///
    /// # Errors
    /// [`StoreError::RunNotFound`], [`StoreError::Damaged`].
    pub fn load_head(&self, id: RunId) -> Result<RunHead, StoreError> {
        let summary = self.summary(id)?;
        let (plan, host_json): (String, String) =
            self.sql(self.db.query_row("SELECT plan_json, host_json FROM run WHERE id = ?1", [id.0], |row| {
                Ok((row.get(0)?, row.get(1)?))
            }))?;
        let plan: Plan = serde_json::from_str(&plan)
            .map_err(|e| self.damaged(msg!("lab-bad-plan", run = id.to_string(), error = e.to_string())))?;
        Ok(RunHead { summary, plan, host_json })
    }

    /// What a run knows of its host.
    ///
    /// # Errors
    /// [`StoreError::Damaged`].
    pub fn host_of(&self, head: &RunHead) -> Result<serde_json::Value, StoreError> {
        serde_json::from_str(&head.host_json).map_err(|e| self.bad_host(head, &e))
    }

    fn bad_host(&self, head: &RunHead, error: &serde_json::Error) -> StoreError {
        self.damaged(msg!("lab-bad-host", run = head.summary.id.to_string(), error = error.to_string()))
    }

    /// Indexes, in the plan, of the steps that ended; ascending.
    ///
    /// # Errors
    /// [`StoreError::RunNotFound`].
    pub fn step_indexes(&self, id: RunId) -> Result<Vec<u32>, StoreError> {
        self.summary(id)?;
        let sql = "SELECT step_index FROM step WHERE run_id = ?1 ORDER BY step_index";
        let mut statement = self.sql(self.db.prepare_cached(sql))?;
        let rows = self.sql(statement.query_map([id.0], |row| row.get(0)))?;
        self.sql(rows.collect())
    }

    /// One step of a run.
    ///
    /// # Errors
    /// [`StoreError::StepNotFound`], [`StoreError::Damaged`].
    pub fn load_step(&self, id: RunId, index: u32) -> Result<StoredStep, StoreError> {
        // One view of the database for all tables of the step, whatever another process deletes meanwhile.
        let view = self.sql(self.db.unchecked_transaction())?;
        let row = {
            let mut statement = self.sql(self.db.prepare_cached(
                "SELECT id, step_json, outcome, what, why, help, started_unix_ns, runtime_ns, setup_ns, record_json
                 FROM step WHERE run_id = ?1 AND step_index = ?2",
            ))?;
            self.sql(statement.query_row(params![id.0, index], StepRow::read).optional())?
        };
        let row = row.ok_or(StoreError::StepNotFound { id, index })?;
        let at = |what: Message| self.damaged(msg!("lab-bad-step", index = index, run = id.to_string(), what = what));
        let step: Step = serde_json::from_str(&row.step_json).map_err(|e| at(Message::verbatim(e.to_string())))?;
        let outcome = match row.outcome.as_str() {
            "measured" => Ok(self.load_record(&row, &at)?),
            "refused" => Err(StepFailure::Refused { what: row.what, why: row.why, help: row.help }),
            "failed" => Err(StepFailure::Failed { what: row.what, why: row.why, help: row.help }),
            other => return Err(at(msg!("lab-unknown-outcome", word = other.to_owned()))),
        };
        self.sql(view.commit())?;
        Ok(StoredStep { step, outcome })
    }

    /// The steps of a run one after the other, so that only one is in memory: the way to read a long run.
    ///
    /// # Errors
    /// [`StoreError::RunNotFound`]; each step as [`Lab::load_step`].
    pub fn steps(&self, id: RunId) -> Result<impl Iterator<Item = Result<StoredStep, StoreError>>, StoreError> {
        Ok(self.step_indexes(id)?.into_iter().map(move |index| self.load_step(id, index)))
    }

    /// A whole run; for many steps see the note on size at [`Run`].
    ///
    /// # Errors
    /// [`StoreError::RunNotFound`], [`StoreError::Damaged`].
    pub fn load_run(&self, id: RunId) -> Result<Run, StoreError> {
        let head = self.load_head(id)?;
        Ok(Run { head, steps: self.steps(id)?.collect::<Result<_, _>>()? })
    }

    /// Owner of a run in state `running`, `None` for a closed one.
    pub(crate) fn owner_if_running(&self, id: RunId) -> Result<Option<Owner>, StoreError> {
        let sql = "SELECT state, owner_pid, owner_started_ticks, owner_boot_id FROM run WHERE id = ?1";
        let found = self.sql(
            self.db.query_row(sql, [id.0], |row| Ok((row.get::<_, String>(0)?, read_owner(row, 1)?))).optional(),
        )?;
        let (state, owner) = found.ok_or_else(|| self.run_not_found(id))?;
        Ok((state == RunState::Running.as_str()).then_some(owner))
    }

    fn run_not_found(&self, id: RunId) -> StoreError {
        match self.runs() {
            Ok(runs) => StoreError::RunNotFound { id, existing: runs.iter().map(|r| r.id).collect() },
            Err(error) => error,
        }
    }

    fn load_record(&self, row: &StepRow, at: &dyn Fn(Message) -> StoreError) -> Result<StepRecord, StoreError> {
        let rest: RecordRest =
            serde_json::from_str(&row.record_json).map_err(|e| at(Message::verbatim(e.to_string())))?;
        // Syncs lie among the operations by their word.
        let mut directions = self.load_directions(row.id, at)?;
        let syncs = directions.iter().position(|d| d.op == Op::Sync).map(|at| directions.remove(at));
        Ok(StepRecord {
            started_unix_ns: row.started_unix_ns,
            runtime_ns: row.runtime_ns,
            setup_ns: row.setup_ns,
            directions,
            syncs,
            intervals: self.load_intervals(row.id, at)?,
            threads: rest.threads,
            failures: rest.failures,
            host: rest.host,
            features: rest.features,
            clock: rest.clock,
            overhead: rest.overhead,
            in_flight_mean: rest.in_flight_mean,
            occupied_mean: rest.occupied_mean,
            age_ns: rest.age_ns,
            verify: rest.verify,
            open_loop: rest.open_loop,
            targets: rest.targets,
            arrays: rest.arrays,
            purges: rest.purges,
            ranks: rest.ranks,
            warnings: rest.warnings,
        })
    }

    fn load_directions(&self, step: i64, at: &dyn Fn(Message) -> StoreError) -> Result<Vec<Direction>, StoreError> {
        let sql = "SELECT position, op, ios, bytes, short_ios FROM direction WHERE step_id = ?1 ORDER BY position";
        let mut statement = self.sql(self.db.prepare_cached(sql))?;
        let mut rows = self.sql(statement.query([step]))?;
        let mut directions = Vec::new();
        while let Some(row) = self.sql(rows.next())? {
            let (position, op): (i64, String) = (self.sql(row.get(0))?, self.sql(row.get(1))?);
            let mut kinds = self.load_latencies(step, position, at)?;
            let mut take = |kind: &str| kinds.iter().position(|(k, _)| k == kind).map(|i| kinds.swap_remove(i).1);
            directions.push(Direction {
                op: op_of(&op, at)?,
                ios: self.sql(unsigned(row, 2))?,
                bytes: self.sql(unsigned(row, 3))?,
                short_ios: self.sql(unsigned(row, 4))?,
                lat: take("lat").ok_or_else(|| at(msg!("lab-latency-missing")))?,
                slat: take("slat"),
                clat: take("clat"),
                service: take("service"),
            });
        }
        Ok(directions)
    }

    fn load_latencies(
        &self,
        step: i64,
        position: i64,
        at: &dyn Fn(Message) -> StoreError,
    ) -> Result<Vec<(String, Latency)>, StoreError> {
        let sql = "SELECT kind, samples, quoted_json FROM histogram WHERE step_id = ?1 AND position = ?2";
        let mut statement = self.sql(self.db.prepare_cached(sql))?;
        let mut rows = self.sql(statement.query([step, position]))?;
        let mut found = Vec::with_capacity(4);
        while let Some(row) = self.sql(rows.next())? {
            let samples: Option<Vec<u8>> = self.sql(row.get(1))?;
            let latency = match samples {
                Some(bytes) => Latency::Samples(Histogram::from_bytes(&bytes).map_err(|e| at(e.message()))?),
                None => {
                    let json: String = self.sql(row.get(2))?;
                    Latency::Quoted(
                        serde_json::from_str::<QuotedLatency>(&json)
                            .map_err(|e| at(Message::verbatim(e.to_string())))?,
                    )
                }
            };
            found.push((self.sql(row.get(0))?, latency));
        }
        Ok(found)
    }

    fn load_intervals(&self, step: i64, at: &dyn Fn(Message) -> StoreError) -> Result<Vec<Interval>, StoreError> {
        let sql = "SELECT lat_samples FROM interval_histograms WHERE step_id = ?1";
        let blob: Option<Vec<u8>> =
            self.sql(self.sql(self.db.prepare_cached(sql))?.query_row([step], |row| row.get(0)).optional())?;
        let blob = blob.unwrap_or_default();
        let mut histograms = Unpack::new(&blob);
        let sql = "SELECT interval_index, start_ns, length_ns, op, ios, bytes FROM interval
                   WHERE step_id = ?1 ORDER BY interval_index, position";
        let mut statement = self.sql(self.db.prepare_cached(sql))?;
        let mut rows = self.sql(statement.query([step]))?;
        let mut intervals: Vec<Interval> = Vec::new();
        while let Some(row) = self.sql(rows.next())? {
            let index: i64 = self.sql(row.get(0))?;
            if index as usize == intervals.len() {
                let (start_ns, length_ns) = (self.sql(unsigned(row, 1))?, self.sql(unsigned(row, 2))?);
                intervals.push(Interval { start_ns, length_ns, directions: Vec::new(), syncs: None });
            }
            let op: Option<String> = self.sql(row.get(3))?;
            if let (Some(op), Some(interval)) = (op, intervals.last_mut()) {
                let loaded = DirectionInterval {
                    op: op_of(&op, at)?,
                    ios: self.sql(unsigned(row, 4))?,
                    bytes: self.sql(unsigned(row, 5))?,
                    lat: histograms.next().map_err(at)?,
                };
                match loaded.op {
                    Op::Sync => interval.syncs = Some(loaded),
                    _ => interval.directions.push(loaded),
                }
            }
        }
        if histograms.is_empty() { Ok(intervals) } else { Err(at(msg!("lab-too-many-histograms"))) }
    }
}

/// Columns of a step before they are understood.
struct StepRow {
    id: i64,
    step_json: String,
    outcome: String,
    what: Message,
    why: Message,
    help: Message,
    started_unix_ns: u64,
    runtime_ns: u64,
    setup_ns: u64,
    record_json: String,
}

impl StepRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<StepRow> {
        let text = |i: usize| Ok::<_, rusqlite::Error>(row.get::<_, Option<String>>(i)?.unwrap_or_default());
        let number = |i: usize| Ok::<_, rusqlite::Error>(from_column(row.get::<_, Option<i64>>(i)?.unwrap_or(0)));
        Ok(StepRow {
            id: row.get(0)?,
            step_json: row.get(1)?,
            outcome: row.get(2)?,
            what: text(3).map(message_from_column)?,
            why: text(4).map(message_from_column)?,
            help: text(5).map(message_from_column)?,
            started_unix_ns: number(6)?,
            runtime_ns: number(7)?,
            setup_ns: number(8)?,
            record_json: text(9)?,
        })
    }
}

fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get(column).map(from_column)
}

fn op_of(word: &str, at: &dyn Fn(Message) -> StoreError) -> Result<Op, StoreError> {
    op_from_word(word).ok_or_else(|| at(msg!("lab-unknown-operation", word = word.to_owned())))
}

fn read_owner(row: &Row<'_>, first: usize) -> rusqlite::Result<Owner> {
    Ok(Owner { pid: row.get(first)?, started_ticks: unsigned(row, first + 1)?, boot_id: row.get(first + 2)? })
}

fn read_summary(row: &Row<'_>) -> rusqlite::Result<RunSummary> {
    let word: String = row.get(3)?;
    let bad_state = || rusqlite::Error::InvalidColumnType(3, "state".to_owned(), rusqlite::types::Type::Text);
    let stored = RunState::from_word(&word).ok_or_else(bad_state)?;
    // A process that died could not say so.
    let abandoned = stored == RunState::Running && !read_owner(row, 9)?.is_alive();
    Ok(RunSummary {
        id: RunId(row.get(0)?),
        study: row.get(1)?,
        question: row.get(2)?,
        state: if abandoned { RunState::Interrupted } else { stored },
        started_unix_ns: unsigned(row, 4)?,
        finished_unix_ns: row.get::<_, Option<i64>>(5)?.map(from_column),
        fathom_version: row.get(6)?,
        command_line: row.get(7)?,
        steps_planned: row.get(8)?,
        steps_measured: row.get(12)?,
        steps_without_figures: row.get(13)?,
        is_import: row.get(14)?,
    })
}
