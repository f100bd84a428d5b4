//! PostgreSQL: one that Fathom starts for the run, or one that is given by URL.

mod server;
mod session;
mod watch;

use std::sync::atomic::{AtomicBool, Ordering};

use fathom_orders::{Condition, Holds, Table, Value};
use postgres::binary_copy::BinaryCopyInWriter;
use postgres::config::Host;
use postgres::types::{ToSql, Type};
use postgres::{Client, Config, NoTls};

use crate::database::{Database, Doing, LoadNote, OltpError, OrderKey, Session, Watch};
pub use server::{PostgresServer, is_postgres_folder};
use session::PostgresSession;
use watch::PostgresWatch;

/// The functions that the sessions call.
const FUNCTIONS: &str = include_str!("postgres/functions.sql");
/// What our sessions are called in the server's views.
const APPLICATION: &str = "fathom-oltp";
/// Tables that are looked for before any is made.
const NOTE_TABLE: &str = "fathom_load";

/// Bytes that a warehouse takes, indexes included, with some to spare: 115 MB as measured.
const BYTES_PER_WAREHOUSE: u64 = 125_000_000;
/// Bytes of an empty server with the log that it keeps.
const BYTES_OF_SERVER: u64 = 1_300_000_000;

/// Bytes that a managed server of so many warehouses needs on its file system, log included.
#[must_use]
pub fn postgres_bytes(warehouses: u32) -> u64 {
    BYTES_OF_SERVER + BYTES_PER_WAREHOUSE * u64::from(warehouses)
}

/// A database on a server that runs.
#[derive(Debug)]
pub struct Postgres {
    config: Config,
    /// Where it is, for people.
    place: String,
    loads_at_once: usize,
    /// The tables were made through this value: no other removes them.
    is_made: AtomicBool,
}

impl Postgres {
    /// The database of a URL (`postgresql://user@host/database`).
    ///
    /// # Errors
    /// [`OltpError`] where the URL is none or nobody answers.
    pub fn connect(url: &str) -> Result<Postgres, OltpError> {
        let config: Config = url.parse().map_err(failed(Doing::Open))?;
        // Named by what it leads to: a password stands in either form of a URL, and is nobody's to read.
        let hosts = config.get_hosts().iter().map(|host| match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(folder) => folder.display().to_string(),
        });
        let place = format!("{} {}", hosts.collect::<Vec<_>>().join(","), config.get_dbname().unwrap_or_default());
        Postgres::new(config, place)
    }

    fn new(mut config: Config, place: String) -> Result<Postgres, OltpError> {
        config.application_name(APPLICATION);
        let loads_at_once = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let database = Postgres { config, place, loads_at_once, is_made: AtomicBool::new(false) };
        database.client()?;
        Ok(database)
    }

    fn client(&self) -> Result<Client, OltpError> {
        self.config.connect(NoTls).map_err(failed(Doing::Open))
    }

    fn number(&self, query: &str) -> Result<i64, OltpError> {
        let row = self.client()?.query_one(query, &[]).map_err(failed(Doing::Check))?;
        // Counts are bigint, sums of them numeric: the conditions count.
        row.try_get(0).map_err(failed(Doing::Check))
    }

    /// Removes the tables and functions that [`Database::create_tables`] of this value made; where it made none, nothing: what
    /// is there then is somebody's, also when it is of another run.
    ///
    /// # Errors
    /// [`OltpError`]: the server refuses.
    pub fn drop_tables(&self) -> Result<(), OltpError> {
        if !self.is_made.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut client = self.client()?;
        let mut text: String = Table::ALL.map(|table| format!("DROP TABLE IF EXISTS {};", table.name())).concat();
        text += "DROP TABLE fathom_load;";
        for function in FUNCTIONS.split("CREATE FUNCTION ").skip(1) {
            let name = function.split('(').next().unwrap_or_default();
            text += &format!("DROP FUNCTION IF EXISTS {name};");
        }
        client.batch_execute(&text).map_err(failed(Doing::Load))
    }

    /// The version that the server says it has.
    ///
    /// # Errors
    /// [`OltpError`]: the server refuses.
    pub fn version(&self) -> Result<String, OltpError> {
        let row = self.client()?.query_one("SHOW server_version", &[]).map_err(failed(Doing::Check))?;
        let text: String = row.get(0);
        Ok(text.split_whitespace().next().unwrap_or_default().to_owned())
    }
}

impl Database for Postgres {
    fn create_tables(&self, load: &LoadNote) -> Result<(), OltpError> {
        let mut client = self.client()?;
        for name in Table::ALL.map(Table::name).into_iter().chain([NOTE_TABLE]) {
            if has_table(&mut client, name)? {
                return Err(OltpError::TableExists { place: self.place.clone(), table: name.to_owned() });
            }
        }
        let mut text = String::new();
        for table in Table::ALL {
            let columns: Vec<String> = table.columns().iter().map(column).collect();
            text += &format!("CREATE TABLE {} ({});", table.name(), columns.join(", "));
        }
        text += "CREATE TABLE fathom_load (seed text, warehouses int, at_ms bigint, is_whole boolean);";
        // Sent at once it is one transaction: all of it is made, or nothing.
        text += FUNCTIONS;
        client.batch_execute(&text).map_err(failed(Doing::Load))?;
        self.is_made.store(true, Ordering::Relaxed);
        let note: [&(dyn ToSql + Sync); 3] =
            [&load.seed.to_string(), &i32::try_from(load.warehouses).unwrap_or(i32::MAX), &load.at_ms];
        let insert = "INSERT INTO fathom_load VALUES ($1, $2, $3, false)";
        client.execute(insert, &note).map(|_| ()).map_err(failed(Doing::Load))
    }

    fn load(&self, table: Table, rows: &mut dyn Iterator<Item = Vec<Value>>) -> Result<(), OltpError> {
        let mut client = self.client()?;
        let columns = table.columns();
        let types: Vec<Type> = columns.iter().map(|column| type_of(column.holds)).collect();
        let copy = format!("COPY {} FROM STDIN (FORMAT binary)", table.name());
        let mut writer = BinaryCopyInWriter::new(client.copy_in(&copy).map_err(failed(Doing::Load))?, &types);
        for row in rows {
            let bound: Vec<Bound> = row.into_iter().map(Bound).collect();
            let row: Vec<&(dyn ToSql + Sync)> = bound.iter().map(|value| value as &(dyn ToSql + Sync)).collect();
            writer.write(&row).map_err(failed(Doing::Load))?;
        }
        writer.finish().map(|_| ()).map_err(failed(Doing::Load))
    }

    fn loads_at_once(&self) -> usize {
        self.loads_at_once
    }

    fn finish_load(&self) -> Result<(), OltpError> {
        let mut statements: Vec<String> = Table::ALL
            .into_iter()
            .filter(|table| !table.primary_key().is_empty())
            .map(|table| format!("ALTER TABLE {} ADD PRIMARY KEY ({})", table.name(), table.primary_key().join(", ")))
            .collect();
        statements.extend([
            "CREATE INDEX customer_by_name ON customer (c_w_id, c_d_id, c_last, c_first, c_id)".to_owned(),
            "CREATE INDEX orders_of_customer ON orders (o_w_id, o_d_id, o_c_id, o_id)".to_owned(),
            "UPDATE fathom_load SET is_whole = true".to_owned(),
            "VACUUM (FREEZE, ANALYZE)".to_owned(),
            "CHECKPOINT".to_owned(),
        ]);
        let mut client = self.client()?;
        // One by one: VACUUM stands in no transaction, and several statements sent at once are one.
        statements.iter().try_for_each(|sql| client.batch_execute(sql).map_err(failed(Doing::Load)))
    }

    fn load_note(&self) -> Result<LoadNote, OltpError> {
        let not_ours = || OltpError::NotOurs { place: self.place.clone() };
        let mut client = self.client()?;
        if !has_table(&mut client, NOTE_TABLE)? {
            return Err(not_ours());
        }
        let query = "SELECT seed, warehouses, at_ms FROM fathom_load WHERE is_whole";
        let row = client.query_opt(query, &[]).map_err(failed(Doing::Check))?.ok_or_else(not_ours)?;
        let seed: String = row.get(0);
        let warehouses = row.get::<_, i32>(1).unsigned_abs();
        Ok(LoadNote { seed: seed.parse().map_err(|_| not_ours())?, warehouses, at_ms: row.get(2) })
    }

    fn session(&self, is_durable: bool) -> Result<Box<dyn Session>, OltpError> {
        let mut client = self.client()?;
        if !is_durable {
            client.batch_execute("SET synchronous_commit = off").map_err(failed(Doing::Open))?;
        }
        Ok(Box::new(PostgresSession::new(client)?))
    }

    fn watch(&self) -> Result<Option<Box<dyn Watch>>, OltpError> {
        Ok(Some(Box::new(PostgresWatch(self.client()?))))
    }

    fn broken(&self, condition: &Condition) -> Result<u64, OltpError> {
        Ok(self.number(condition.query)?.unsigned_abs())
    }

    fn missing(&self, orders: &[OrderKey]) -> Result<Vec<OrderKey>, OltpError> {
        let mut client = self.client()?;
        let query = "SELECT count(*) FROM orders WHERE o_w_id = $1 AND o_d_id = $2 AND o_id = $3";
        let query = client.prepare(query).map_err(failed(Doing::Check))?;
        let mut out = Vec::new();
        for key in orders {
            let int = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
            let with: [&(dyn ToSql + Sync); 3] = [&int(key.warehouse), &int(key.district), &int(key.order)];
            let found: i64 = client.query_one(&query, &with).map_err(failed(Doing::Check))?.get(0);
            if found == 0 {
                out.push(*key);
            }
        }
        Ok(out)
    }

    fn settings(&self) -> Result<Vec<(String, String)>, OltpError> {
        const NAMES: [&str; 11] = [
            "synchronous_commit",
            "fsync",
            "full_page_writes",
            "wal_sync_method",
            "shared_buffers",
            "max_wal_size",
            "checkpoint_timeout",
            "wal_compression",
            "data_checksums",
            "autovacuum",
            "block_size",
        ];
        let mut client = self.client()?;
        let ask = |name: &str| {
            let row = client.query_one(&format!("SHOW {name}"), &[]).map_err(failed(Doing::Check))?;
            Ok((name.to_owned(), row.get(0)))
        };
        NAMES.into_iter().map(ask).collect()
    }

    fn bytes(&self) -> Result<u64, OltpError> {
        Ok(self.number("SELECT pg_database_size(current_database())")?.unsigned_abs())
    }
}

/// In the schema that tables would be made in, whoever made it.
fn has_table(client: &mut Client, name: &str) -> Result<bool, OltpError> {
    let query = "SELECT count(*) FROM pg_tables WHERE tablename = $1 AND schemaname = current_schema()";
    let count: i64 = client.query_one(query, &[&name]).map_err(failed(Doing::Open))?.get(0);
    Ok(count > 0)
}

fn type_of(holds: Holds) -> Type {
    match holds {
        Holds::Number => Type::INT4,
        Holds::Long => Type::INT8,
        Holds::Text => Type::TEXT,
    }
}

fn column(column: &fathom_orders::Column) -> String {
    let null = if column.is_optional { "" } else { " NOT NULL" };
    format!("{} {}{null}", column.name, type_of(column.holds).name())
}

fn failed(doing: Doing) -> impl Fn(postgres::Error) -> OltpError {
    move |error| {
        // The server's own words where it has some; else the client's, with the system's behind them.
        let answer = match (error.as_db_error(), std::error::Error::source(&error)) {
            (Some(of_server), _) => of_server.to_string(),
            (None, Some(source)) => format!("{error}: {source}"),
            (None, None) => error.to_string(),
        };
        OltpError::Database { doing, answer }
    }
}

/// A value on its way into PostgreSQL.
#[derive(Debug)]
struct Bound(Value);

impl ToSql for Bound {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut postgres::types::private::BytesMut,
    ) -> Result<postgres::types::IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match &self.0 {
            Value::Null => Ok(postgres::types::IsNull::Yes),
            Value::Text(text) => text.as_str().to_sql(kind, out),
            Value::Number(number) if *kind == Type::INT4 => i32::try_from(*number)?.to_sql(kind, out),
            Value::Number(number) => number.to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    postgres::types::to_sql_checked!();
}
