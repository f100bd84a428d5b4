//! What the server's sessions do, asked ten times a second (pg_stat_activity).

use fathom_record::ServerCounters;
use postgres::Client;

use super::{APPLICATION, failed};
use crate::database::{Doing, OltpError, Seen, Watch};

/// Where a session is that runs a statement: by the event that it waits for, else on a CPU or ready for one.
const QUERY: &str = "SELECT coalesce(wait_event_type, ''), coalesce(wait_event, '') FROM pg_stat_activity \
                     WHERE application_name = $1 AND datname = current_database() AND state = 'active' \
                     AND pid <> pg_backend_pid()";

/// Up to version 16 checkpoints are counted by the background writer, from 17 on by the checkpointer.
const CHECKPOINTS: [(i32, &str); 2] = [
    (170_000, "SELECT num_timed + num_requested FROM pg_stat_checkpointer"),
    (0, "SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter"),
];
/// From 18 on the log's syncs are among all I/O.
const LOG: [(i32, &str); 2] = [
    (
        180_000,
        "SELECT wal_bytes::bigint, (SELECT coalesce(sum(fsyncs), 0)::bigint FROM pg_stat_io WHERE object = 'wal') \
         FROM pg_stat_wal",
    ),
    (0, "SELECT wal_bytes::bigint, wal_sync FROM pg_stat_wal"),
];
const PAGES: &str = "SELECT blks_hit, blks_read, deadlocks FROM pg_stat_database WHERE datname = current_database()";
/// The first version with pg_stat_wal.
const LOG_FROM: i32 = 140_000;

pub(super) struct PostgresWatch(pub(super) Client);

impl Watch for PostgresWatch {
    fn look(&mut self, seen: &mut Seen) -> Result<(), OltpError> {
        let rows = self.0.query(QUERY, &[&APPLICATION]).map_err(failed(Doing::Check))?;
        seen.looks += 1;
        for row in rows {
            let (kind, event): (&str, &str) = (row.get(0), row.get(1));
            *match (kind, event) {
                ("", _) => &mut seen.on_cpu,
                ("Lock", _) => &mut seen.locks,
                // The log's own: its writes and flushes, and the lock under which they are done for several sessions at once.
                (_, "WALSync" | "WALWrite" | "WALInitSync" | "WALInitWrite" | "WALInsert") => &mut seen.log,
                ("IO" | "BufferPin", _) => &mut seen.data,
                ("LWLock", _) => &mut seen.locks,
                // Between two statements.
                _ => continue,
            } += 1;
        }
        Ok(())
    }

    fn counters(&mut self) -> Result<ServerCounters, OltpError> {
        let mut row = |query: &str| self.0.query_one(query, &[]).map_err(failed(Doing::Check));
        let version: i32 = row("SELECT current_setting('server_version_num')::int")?.get(0);
        let of = |queries: [(i32, &'static str); 2]| queries.into_iter().find(|(from, _)| version >= *from);
        let mut counters = ServerCounters::default();
        let count = |row: &postgres::Row, at: usize| row.get::<_, i64>(at).unsigned_abs();
        if let Some((_, query)) = of(LOG).filter(|_| version >= LOG_FROM) {
            let row = row(query)?;
            (counters.log_bytes, counters.log_syncs) = (count(&row, 0), count(&row, 1));
        }
        if let Some((_, query)) = of(CHECKPOINTS) {
            counters.checkpoints = count(&row(query)?, 0);
        }
        let row = row(PAGES)?;
        (counters.pages_hit, counters.pages_read, counters.deadlocks) =
            (count(&row, 0), count(&row, 1), count(&row, 2));
        Ok(counters)
    }
}
