//! The load of a database, and the check of what it holds.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use fathom_orders::{CONDITIONS, Scale, Seed, Table};
use fathom_record::{BrokenCondition, LoadRecord};

use crate::database::{Database, LoadNote, OltpError};

/// How far a load is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadProgress {
    /// Rows put in.
    pub rows: u64,
    /// Rows to put in, nearly.
    pub rows_in_all: u64,
    /// All rows are in, and indexes are built.
    pub is_indexing: bool,
}

/// Loads a database: makes the tables and fills them by warehouse and table, several at once where the database gains by it.
/// `None`: `stop` was set, and what is there is not whole.
///
/// # Errors
/// The first [`OltpError`] of the database.
pub fn load(
    database: &dyn Database,
    note: &LoadNote,
    scale: Scale,
    stop: &AtomicBool,
    on_progress: &mut (dyn FnMut(LoadProgress) + Send),
) -> Result<Option<LoadRecord>, OltpError> {
    let start = Instant::now();
    database.create_tables(note)?;
    let rows_in_all = Table::ALL.into_iter().map(|table| scale.rows(table)).sum();
    let rows = AtomicU64::new(0);
    // One piece is one table of one warehouse.
    let pieces = (1..=note.warehouses).flat_map(|w| Table::ALL.into_iter().map(move |table| (table, w)));
    let pieces = Mutex::new(pieces);
    let on_progress = Mutex::new(on_progress);
    let work = || -> Result<(), OltpError> {
        loop {
            let next = locked(&pieces).next();
            let Some((table, warehouse)) = next.filter(|_| !stop.load(Ordering::Relaxed)) else { return Ok(()) };
            let mut counted = Seed(note.seed).load(table, warehouse, note.at_ms).inspect(|_| {
                rows.fetch_add(1, Ordering::Relaxed);
            });
            database.load(table, &mut counted)?;
            locked(&on_progress)(LoadProgress { rows: rows.load(Ordering::Relaxed), rows_in_all, is_indexing: false });
        }
    };
    thread::scope(|scope| {
        let loaders: Vec<_> = (0..database.loads_at_once().max(1)).map(|_| scope.spawn(work)).collect();
        loaders.into_iter().try_for_each(|loader| match loader.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let rows = rows.into_inner();
    locked(&on_progress)(LoadProgress { rows, rows_in_all, is_indexing: true });
    database.finish_load()?;
    let elapsed_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    Ok(Some(LoadRecord { rows, database_bytes: database.bytes()?, elapsed_ns }))
}

/// The conditions that do not hold, of all twelve after a load, else of those that deliveries leave.
///
/// # Errors
/// [`OltpError`]: the database cannot be asked.
pub fn broken_conditions(database: &dyn Database, is_after_load: bool) -> Result<Vec<BrokenCondition>, OltpError> {
    let mut out = Vec::new();
    for condition in CONDITIONS.iter().filter(|condition| is_after_load || !condition.is_of_load) {
        let places = database.broken(condition)?;
        if places > 0 {
            out.push(BrokenCondition { number: condition.number, places });
        }
    }
    Ok(out)
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
