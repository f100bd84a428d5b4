//! One connection, and where the time of its transactions goes.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use fathom_orders::Input;

use super::{Connected, failed, transactions};
use crate::clock::ThreadClock;
use crate::database::{Doing, Done, OltpError, Outcome, Parts, Session};

/// A session of [`super::Sqlite`].
pub(super) struct SqliteSession {
    connection: Connected,
    turns: Arc<Turns>,
    /// Of the thread that works; made by its first transaction.
    clock: Option<ThreadClock>,
}

impl SqliteSession {
    pub(super) fn new(connection: Connected, turns: Arc<Turns>) -> Self {
        SqliteSession { connection, turns, clock: None }
    }
}

impl Session for SqliteSession {
    fn transact(&mut self, input: &Input, now_ms: i64) -> Result<Done, OltpError> {
        let clock = self.clock.get_or_insert_with(ThreadClock::start);
        let mut parts = Parts::default();
        let writes = !matches!(input, Input::OrderStatus(_) | Input::StockLevel(_));
        clock.lap();
        let turn = writes.then(|| self.turns.take());
        parts.turn = clock.lap();
        let run = |sql: &str| self.connection.prepare_cached(sql)?.execute([]).map(|_| ());
        let mut work = || {
            run(if writes { "BEGIN IMMEDIATE" } else { "BEGIN" })?;
            let outcome = transactions::body(&self.connection, input, now_ms);
            parts.body = clock.lap();
            let commits = outcome.as_ref().is_ok_and(|outcome| *outcome != Outcome::RolledBack);
            run(if commits { "COMMIT" } else { "ROLLBACK" })?;
            if writes && commits {
                parts.commit = clock.lap();
            }
            outcome
        };
        let outcome = work().map_err(failed(Doing::Transaction));
        drop(turn);
        // There is one writer, in turn: nothing is ever ended for a lock.
        Ok(Done { outcome: outcome?, retries: 0, parts })
    }
}

/// Who may write: one after the other, as they came. A plain lock would let whoever gave it back take it again.
#[derive(Debug, Default)]
pub(super) struct Turns {
    line: Mutex<Line>,
    next: Condvar,
}

#[derive(Debug, Default)]
struct Line {
    /// The number that the next one to come gets.
    last: u64,
    /// The number whose turn it is.
    serving: u64,
}

/// A turn; ends when it is dropped.
struct Turn<'a>(&'a Turns);

impl Turns {
    fn take(&self) -> Turn<'_> {
        // Whoever panicked left nothing half done: its transaction is rolled back, its turn ends.
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let own = line.last;
        line.last += 1;
        while line.serving != own {
            line = self.next.wait(line).unwrap_or_else(PoisonError::into_inner);
        }
        Turn(self)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.line.lock().unwrap_or_else(PoisonError::into_inner).serving += 1;
        self.0.next.notify_all();
    }
}
