//! What the server's sessions do, asked ten times a second (pg_stat_activity).

use postgres::Client;

use super::{APPLICATION, failed};
use crate::database::{Doing, OltpError, Seen, Watch};

/// Where a session is that runs a statement: by the event that it waits for, else on a CPU or ready for one.
const QUERY: &str = "SELECT coalesce(wait_event_type, ''), coalesce(wait_event, '') FROM pg_stat_activity \
                     WHERE application_name = $1 AND state = 'active' AND pid <> pg_backend_pid()";

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
}
