//! SQLite in this process: no server, one writer at a time, every commit durable before it is acknowledged.

mod session;
mod transactions;

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fathom_host::{OpenDatabase, create_new_file};
use fathom_orders::{Condition, Holds, Table, Value};
use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, OpenFlags, ToSql, params_from_iter};

use crate::database::{Database, Doing, LoadNote, OltpError, OrderKey, Session};
use session::{SqliteSession, Turns};

/// Bytes that a warehouse takes, indexes included, with some to spare: 71 MB as measured.
const BYTES_PER_WAREHOUSE: u64 = 76_000_000;
/// Bytes of ITEM, with some to spare.
const BYTES_OF_ITEMS: u64 = 11_000_000;
/// Least room for the write-ahead log while a load or a run goes on.
const BYTES_OF_LOG: u64 = 64_000_000;
/// A lock that is held longer is an error: nobody but this process has the file.
const BUSY: Duration = Duration::from_secs(60);
/// Statements that a session keeps prepared: all it has.
const STATEMENTS: usize = 64;

/// A database in one file.
#[derive(Debug)]
pub struct Sqlite {
    path: PathBuf,
    cache_bytes: u64,
    /// SQLite has one writer; who waits here is not left to its retries after sleeps.
    turns: Arc<Turns>,
}

/// Bytes that a database of so many warehouses needs on its file system, log included.
#[must_use]
pub fn sqlite_bytes(warehouses: u32) -> u64 {
    BYTES_OF_ITEMS + BYTES_OF_LOG + BYTES_PER_WAREHOUSE * u64::from(warehouses)
}

/// A connection. While it is open, nothing else of this process opens the files of its database.
#[derive(Debug)]
struct Connected {
    // Closed before the registration ends: in the order of the fields.
    connection: Connection,
    _registered: OpenDatabase,
}

impl Deref for Connected {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl DerefMut for Connected {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}

impl Sqlite {
    /// A new database in a file that is not there yet. `cache_bytes`: the page cache of each session.
    ///
    /// # Errors
    /// [`OltpError`] where the file exists or cannot be made.
    pub fn create(path: &Path, cache_bytes: u64) -> Result<Sqlite, OltpError> {
        // Made here, so that what is opened below is a file of this call's own, in a folder of its own.
        let made = create_new_file(path);
        made.map_err(|source| system(path, source))?;
        Ok(Sqlite { path: path.to_owned(), cache_bytes, turns: Arc::default() })
    }

    /// A database that is there.
    ///
    /// # Errors
    /// [`OltpError`] where it cannot be opened, or is none of ours.
    pub fn open(path: &Path, cache_bytes: u64) -> Result<Sqlite, OltpError> {
        let database = Sqlite { path: path.to_owned(), cache_bytes, turns: Arc::default() };
        database.load_note()?;
        Ok(database)
    }

    /// Its file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn connect(&self) -> Result<Connected, OltpError> {
        let registered = OpenDatabase::register(&self.path).map_err(|source| system(&self.path, source))?;
        let flags =
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(&self.path, flags).map_err(failed(Doing::Open))?;
        let set =
            |name: &str, value: &dyn ToSql| connection.pragma_update(None, name, value).map_err(failed(Doing::Open));
        connection.busy_timeout(BUSY).map_err(failed(Doing::Open))?;
        set("journal_mode", &"wal")?;
        // Each commit waits for the log to be on the device.
        set("synchronous", &"full")?;
        set("mmap_size", &0)?;
        // Negative: KiB.
        set("cache_size", &-i64::try_from(self.cache_bytes / 1024).unwrap_or(i64::MAX))?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(Connected { connection, _registered: registered })
    }

    fn number(&self, query: &str) -> Result<i64, OltpError> {
        self.connect()?.query_row(query, [], |row| row.get(0)).map_err(failed(Doing::Check))
    }
}

impl Database for Sqlite {
    fn create_tables(&self, load: &LoadNote) -> Result<(), OltpError> {
        let connection = self.connect()?;
        let mut text = String::new();
        for table in Table::ALL {
            let columns: Vec<String> = table.columns().iter().map(column).collect();
            let key = table.primary_key();
            if key.is_empty() {
                text += &format!("CREATE TABLE {} ({});", table.name(), columns.join(", "));
            } else {
                let (columns, key) = (columns.join(", "), key.join(", "));
                text += &format!("CREATE TABLE {} ({columns}, PRIMARY KEY ({key})) WITHOUT ROWID;", table.name());
            }
        }
        text += "CREATE TABLE fathom_load (seed TEXT, warehouses INTEGER, at_ms INTEGER, is_whole INTEGER);";
        connection.execute_batch(&text).map_err(failed(Doing::Load))?;
        let note = (load.seed.to_string(), load.warehouses, load.at_ms);
        let done = connection.execute("INSERT INTO fathom_load VALUES (?, ?, ?, 0)", note);
        done.map(|_| ()).map_err(failed(Doing::Load))
    }

    fn load(&self, table: Table, rows: &mut dyn Iterator<Item = Vec<Value>>) -> Result<(), OltpError> {
        let failed = |e| failed(Doing::Load)(e);
        let mut connection = self.connect()?;
        // What a load loses in a crash is loaded again: nobody was told that it is there.
        connection.pragma_update(None, "synchronous", "off").map_err(failed)?;
        let transaction = connection.transaction().map_err(failed)?;
        {
            let marks = vec!["?"; table.columns().len()].join(",");
            let insert = format!("INSERT INTO {} VALUES ({marks})", table.name());
            let mut insert = transaction.prepare(&insert).map_err(failed)?;
            for row in rows {
                insert.execute(params_from_iter(row.iter().map(Bound))).map_err(failed)?;
            }
        }
        transaction.commit().map_err(failed)
    }

    fn loads_at_once(&self) -> usize {
        1
    }

    fn finish_load(&self) -> Result<(), OltpError> {
        let connection = self.connect()?;
        let indexes = "CREATE INDEX customer_by_name ON customer (c_w_id, c_d_id, c_last, c_first, c_id); \
                       CREATE INDEX orders_of_customer ON orders (o_w_id, o_d_id, o_c_id, o_id); \
                       ANALYZE; UPDATE fathom_load SET is_whole = 1; PRAGMA wal_checkpoint(TRUNCATE);";
        connection.execute_batch(indexes).map_err(failed(Doing::Load))
    }

    fn load_note(&self) -> Result<LoadNote, OltpError> {
        let query = "SELECT seed, warehouses, at_ms FROM fathom_load WHERE is_whole = 1";
        let note = self.connect()?.query_row(query, [], |row| Ok((row.get::<_, String>(0)?, row.get(1)?, row.get(2)?)));
        let not_ours = || OltpError::NotOurs { place: self.path.display().to_string() };
        let (seed, warehouses, at_ms) = note.map_err(|_| not_ours())?;
        Ok(LoadNote { seed: seed.parse().map_err(|_| not_ours())?, warehouses, at_ms })
    }

    fn session(&self, is_durable: bool) -> Result<Box<dyn Session>, OltpError> {
        let connection = self.connect()?;
        if !is_durable {
            connection.pragma_update(None, "synchronous", "off").map_err(failed(Doing::Open))?;
        }
        Ok(Box::new(SqliteSession::new(connection, Arc::clone(&self.turns))))
    }

    fn broken(&self, condition: &Condition) -> Result<u64, OltpError> {
        Ok(self.number(condition.query)?.unsigned_abs())
    }

    fn missing(&self, orders: &[OrderKey]) -> Result<Vec<OrderKey>, OltpError> {
        let connection = self.connect()?;
        let query = "SELECT count(*) FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?";
        let mut query = connection.prepare(query).map_err(failed(Doing::Check))?;
        let mut out = Vec::new();
        for key in orders {
            let found = query.query_row((key.warehouse, key.district, key.order), |row| row.get::<_, i64>(0));
            if found.map_err(failed(Doing::Check))? == 0 {
                out.push(*key);
            }
        }
        Ok(out)
    }

    fn settings(&self) -> Result<Vec<(String, String)>, OltpError> {
        let connection = self.connect()?;
        let names = ["synchronous", "journal_mode", "page_size", "cache_size", "wal_autocheckpoint", "mmap_size"];
        let ask = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0));
        names
            .into_iter()
            .map(|name| {
                let value = match ask(name).map_err(failed(Doing::Check))? {
                    rusqlite::types::Value::Integer(2) if name == "synchronous" => "full".to_owned(),
                    rusqlite::types::Value::Integer(number) => number.to_string(),
                    rusqlite::types::Value::Text(text) => text,
                    other => format!("{other:?}"),
                };
                Ok((name.to_owned(), value))
            })
            .collect()
    }

    fn bytes(&self) -> Result<u64, OltpError> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let failed = |source| OltpError::System { path: folder.display().to_string(), source };
        let mut bytes = 0;
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            bytes += entry.and_then(|entry| entry.metadata()).map_err(failed)?.len();
        }
        Ok(bytes)
    }
}

/// The version of the library.
#[must_use]
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}

fn column(column: &fathom_orders::Column) -> String {
    let kind = if column.holds == Holds::Text { "TEXT" } else { "INTEGER" };
    let null = if column.is_optional { "" } else { " NOT NULL" };
    format!("{} {kind}{null}", column.name)
}

fn system(path: &Path, source: std::io::Error) -> OltpError {
    OltpError::System { path: path.display().to_string(), source }
}

fn failed(doing: Doing) -> impl Fn(rusqlite::Error) -> OltpError {
    move |error| OltpError::Database { doing, answer: error.to_string() }
}

/// A value on its way into SQLite.
struct Bound<'a>(&'a Value);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            Value::Number(number) => ToSqlOutput::from(*number),
            Value::Text(text) => ToSqlOutput::from(text.as_str()),
            Value::Null => ToSqlOutput::from(rusqlite::types::Null),
        })
    }
}
