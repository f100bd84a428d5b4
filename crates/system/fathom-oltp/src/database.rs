//! What a database has to do, whichever it is.

use fathom_message::{Message, Say, msg, say_error};
use fathom_orders::{Condition, Input, Table, Value};
use fathom_record::ServerCounters;

/// One database that holds, or is to hold, the nine tables.
pub trait Database: Sync {
    /// Makes the tables, without anything in them, and notes that they are ours and from what.
    ///
    /// # Errors
    /// [`OltpError`]: the server refuses, or tables of somebody else are there.
    fn create_tables(&self, load: &LoadNote) -> Result<(), OltpError>;

    /// Puts `rows` of `table` in, all or none. Several may be under way at once where [`Database::loads_at_once`] says so.
    ///
    /// # Errors
    /// [`OltpError`]: the server refuses, no space.
    fn load(&self, table: Table, rows: &mut dyn Iterator<Item = Vec<Value>>) -> Result<(), OltpError>;

    /// How many loads the database works on at once with gain.
    fn loads_at_once(&self) -> usize;

    /// After the last row: indexes, and everything to the device.
    ///
    /// # Errors
    /// [`OltpError`]: the server refuses, no space.
    fn finish_load(&self) -> Result<(), OltpError>;

    /// What was noted at the load.
    ///
    /// # Errors
    /// [`OltpError`]: no load of ours, or none that ended.
    fn load_note(&self) -> Result<LoadNote, OltpError>;

    /// A connection of its own, with everything prepared. Without `is_durable` its commits do not wait for the device: to
    /// learn what the wait costs, never for a result.
    ///
    /// # Errors
    /// [`OltpError`]: the server refuses.
    fn session(&self, is_durable: bool) -> Result<Box<dyn Session>, OltpError>;

    /// Who asks the server what its sessions wait for; `None` where sessions tell it themselves.
    ///
    /// # Errors
    /// [`OltpError`]: the server refuses.
    fn watch(&self) -> Result<Option<Box<dyn Watch>>, OltpError> {
        Ok(None)
    }

    /// How many places break `condition`.
    ///
    /// # Errors
    /// [`OltpError`]: the server refuses.
    fn broken(&self, condition: &Condition) -> Result<u64, OltpError>;

    /// Of the orders in `orders` those that the database does not have.
    ///
    /// # Errors
    /// [`OltpError`]: the server refuses.
    fn missing(&self, orders: &[OrderKey]) -> Result<Vec<OrderKey>, OltpError>;

    /// What is set and matters, durability first: (name, value).
    ///
    /// # Errors
    /// [`OltpError`]: the server refuses.
    fn settings(&self) -> Result<Vec<(String, String)>, OltpError>;

    /// Bytes of all its files.
    ///
    /// # Errors
    /// [`OltpError`]: the files cannot be looked at.
    fn bytes(&self) -> Result<u64, OltpError>;
}

/// What the rows follow from, kept in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadNote {
    /// Seed of the rows.
    pub seed: u64,
    /// Warehouses.
    pub warehouses: u32,
    /// When, milliseconds since 1970.
    pub at_ms: i64,
}

/// A connection.
pub trait Session: Send {
    /// Does one transaction and waits until it is durable, or rolled back as its input wants. `now_ms`: what its rows say,
    /// milliseconds since 1970. What the database ends for its own reasons (deadlock) is tried again and counted.
    ///
    /// # Errors
    /// [`OltpError`]: the server is lost or refuses for good.
    fn transact(&mut self, input: &Input, now_ms: i64) -> Result<Done, OltpError>;
}

/// Asks a server what its sessions do.
pub trait Watch: Send {
    /// Looks once and counts the sessions by what they do.
    ///
    /// # Errors
    /// [`OltpError`]: the server refuses.
    fn look(&mut self, seen: &mut Seen) -> Result<(), OltpError>;

    /// What the server has counted since its start.
    ///
    /// # Errors
    /// [`OltpError`]: the server refuses.
    fn counters(&mut self) -> Result<ServerCounters, OltpError>;
}

/// Sessions as looks found them: counts over all looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Looks.
    pub looks: u64,
    /// On a CPU, or ready for one.
    pub on_cpu: u64,
    /// Waiting for a lock.
    pub locks: u64,
    /// Waiting for the log.
    pub log: u64,
    /// Waiting for data.
    pub data: u64,
}

/// An order by its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OrderKey {
    /// W_ID
    pub warehouse: u32,
    /// D_ID
    pub district: u32,
    /// O_ID
    pub order: u32,
}

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// What it did.
    pub outcome: Outcome,
    /// How often the database ended it before, for reasons of its own.
    pub retries: u32,
    /// Where its time went.
    pub parts: Parts,
}

/// What a transaction did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Committed.
    Committed,
    /// A new order, committed.
    Order(OrderKey),
    /// A delivery, committed; in so many districts there was no order to deliver.
    Delivered {
        /// Districts without an open order.
        skipped: u32,
    },
    /// A new order with an unused item, rolled back as it has to be.
    RolledBack,
}

/// Where the time of a transaction went; nothing where the database does not let it be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Waited for its turn to write, where there is one writer at a time.
    pub turn: Part,
    /// From the first statement to the last, without the commit.
    pub body: Part,
    /// Commit, until it is durable.
    pub commit: Part,
}

/// A part of a transaction, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// All of it.
    pub wall_ns: u64,
    /// On a CPU.
    pub cpu_ns: u64,
    /// Ready to run while something else had the CPU.
    pub queued_ns: u64,
}

impl Part {
    /// Neither on a CPU nor ready for one, ns: what it waited for is elsewhere.
    #[must_use]
    pub fn waited_ns(&self) -> u64 {
        self.wall_ns.saturating_sub(self.cpu_ns + self.queued_ns)
    }
}

/// Why a database did not do what was asked.
#[derive(Debug)]
pub enum OltpError {
    /// The database says so.
    Database {
        /// What it was asked for.
        doing: Doing,
        /// What it answers.
        answer: String,
    },
    /// The system says so.
    System {
        /// Where.
        path: String,
        /// What it answers.
        source: std::io::Error,
    },
    /// Not enough space for the load.
    Space {
        /// Where.
        path: String,
        /// Bytes needed.
        needed_bytes: u64,
        /// Bytes free.
        free_bytes: u64,
    },
    /// A table that would be made is there, whoever made it.
    TableExists {
        /// Where.
        place: String,
        /// Its name.
        table: String,
    },
    /// No binaries of a server are installed.
    NoServer,
    /// Root's server has to run as another user, and there is none.
    NoUser,
    /// A path too long for a socket.
    SocketPath {
        /// It.
        path: String,
    },
    /// The server of an earlier run does not end.
    StillRuns {
        /// Its data.
        path: String,
    },
    /// There are tables, and no load of ours that ended.
    NotOurs {
        /// Where.
        place: String,
    },
}

/// What a database was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// To open or to connect.
    Open,
    /// To load.
    Load,
    /// To do a transaction.
    Transaction,
    /// To check what it holds.
    Check,
}

impl Say for OltpError {
    fn message(&self) -> Message {
        match self {
            OltpError::Database { doing: Doing::Open, answer } => msg!("oltp-open", answer = answer),
            OltpError::Database { doing: Doing::Load, answer } => msg!("oltp-load", answer = answer),
            OltpError::Database { doing: Doing::Transaction, answer } => msg!("oltp-transaction", answer = answer),
            OltpError::Database { doing: Doing::Check, answer } => msg!("oltp-check", answer = answer),
            OltpError::System { path, source } => msg!("oltp-system", path = path, source = source),
            OltpError::Space { path, needed_bytes, free_bytes } => msg!(
                "oltp-space",
                path = path,
                needed = fathom_message::Quantity::bytes(*needed_bytes),
                free = fathom_message::Quantity::bytes(*free_bytes)
            ),
            OltpError::TableExists { place, table } => msg!("oltp-table-exists", place = place, table = table),
            OltpError::NoServer => msg!("oltp-no-server"),
            OltpError::NoUser => msg!("oltp-no-user"),
            OltpError::SocketPath { path } => msg!("oltp-socket-path", path = path),
            OltpError::StillRuns { path } => msg!("oltp-still-runs", path = path),
            OltpError::NotOurs { place } => msg!("oltp-not-ours", place = place),
        }
    }

    fn help(&self) -> Option<Message> {
        match self {
            OltpError::Database { .. } | OltpError::System { .. } | OltpError::StillRuns { .. } => None,
            OltpError::NoUser => Some(msg!("oltp-no-user-help")),
            OltpError::SocketPath { .. } => Some(msg!("oltp-socket-path-help")),
            OltpError::Space { .. } => Some(msg!("oltp-space-help")),
            OltpError::TableExists { .. } => Some(msg!("oltp-table-exists-help")),
            OltpError::NoServer => Some(msg!("oltp-no-server-help")),
            OltpError::NotOurs { .. } => Some(msg!("oltp-not-ours-help")),
        }
    }
}

say_error!(OltpError);
