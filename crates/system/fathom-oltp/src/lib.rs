//! Order entry, derived from TPC-C, on real databases.
//!
//! A [`Database`] holds the nine tables; [`load()`] fills it, [`drive()`] lets sessions work on it, [`broken_conditions`] asks
//! whether what it holds is consistent. What a database writes are files of its own making, in an
//! [`OwnFolder`](fathom_host::OwnFolder) that this program makes, marks and removes: nothing that was there before is opened.

mod acknowledged;
mod clock;
mod database;
mod drive;
mod load;
mod postgres;
mod sqlite;

pub use acknowledged::Acknowledged;
pub use database::{Database, Doing, Done, LoadNote, OltpError, OrderKey, Outcome, Part, Parts, Seen, Session, Watch};
pub use drive::{Drive, DriveError, DriveProgress, drive, now_ms};
pub use load::{LoadProgress, broken_conditions, load};
pub use postgres::{Postgres, PostgresServer, is_postgres_folder, postgres_bytes};
pub use sqlite::{Sqlite, sqlite_bytes, sqlite_version};
