//! What a run of order entry yields.

use fathom_hist::Histogram;
use fathom_orders::{Audit, Home, Kind};

use crate::host::HostDelta;

/// A run of order entry on one database.
#[derive(Clone, Debug)]
pub struct OltpRecord {
    /// Sessions at once.
    pub sessions: u32,
    /// Warehouses of the database.
    pub warehouses: u32,
    /// Seed of rows and inputs.
    pub seed: u64,
    /// Where the sessions work.
    pub home: Home,
    /// Time before the measured window, ns.
    pub ramp_ns: u64,
    /// Length of the measured window, ns.
    pub measured_ns: u64,
    /// Transactions that ended in the window, in the order of [`Kind::ALL`].
    pub kinds: [OltpKind; 5],
    /// The window second by second; what is left of a second at its end is left out.
    pub seconds: Vec<OltpSecond>,
    /// Where the sessions' time went, all of them together.
    pub time: SessionTime,
    /// Bytes that the database fetched from devices over the window: its own reads, whatever others did meanwhile; `None` where
    /// nothing tells.
    pub fetched_bytes: Option<u64>,
    /// What the server counted over the window; `None` where there is none.
    pub server: Option<ServerCounters>,
    /// Inputs that were drawn, ramp included.
    pub audit: Audit,
    /// CPUs that sessions and a server of the run's own may use.
    pub allowed_cpus: Vec<u32>,
    /// Counters of the host over the window.
    pub host: HostDelta,
    /// Bytes of the database's files at the end.
    pub database_bytes: u64,
    /// It was asked to end before its time.
    pub is_stopped: bool,
}

impl OltpRecord {
    /// What transactions of `kind` did.
    #[must_use]
    pub fn kind(&self, kind: Kind) -> &OltpKind {
        &self.kinds[kind as usize]
    }

    /// Transactions of all kinds in the window, those rolled back as they had to be among them.
    #[must_use]
    pub fn transactions(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.done).sum()
    }
}

/// Transactions of one kind.
#[derive(Clone, Debug, Default)]
pub struct OltpKind {
    /// Done, rolled back ones among them.
    pub done: u64,
    /// Rolled back because their input wants it.
    pub rolled_back: u64,
    /// Ended by the database for its own reasons and tried again.
    pub retries: u64,
    /// Districts in which a delivery found no order.
    pub skipped_districts: u64,
    /// From the intended start to the answer.
    pub latency: Histogram,
    /// The commit alone; empty where the database does not let it be told.
    pub commit: Histogram,
}

/// One second of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OltpSecond {
    /// New orders that were committed.
    pub new_orders: u64,
    /// Transactions of all kinds.
    pub transactions: u64,
}

/// Where the time of sessions went, ns. What is in none of the parts is the drawing of inputs and the like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionTime {
    /// Sessions times their time.
    pub all_ns: u64,
    /// On a CPU, outside of commits.
    pub on_cpu_ns: u64,
    /// Ready to run while something else had the CPU, outside of commits.
    pub for_cpu_ns: u64,
    /// For a turn to write, or for a lock.
    pub for_turn_ns: u64,
    /// In commits, whatever they do until the log is on the device: what it costs to be durable.
    pub for_log_ns: u64,
    /// In statements, off the CPU: for data.
    pub for_data_ns: u64,
    /// In statements and commits, neither on a CPU nor ready for one.
    pub off_cpu_ns: u64,
}

/// What a server counts, from its start or over a window. It may tell the last second's counts late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerCounters {
    /// Bytes of the log.
    pub log_bytes: u64,
    /// Times that the log was brought to the device: one may serve several commits.
    pub log_syncs: u64,
    /// Checkpoints.
    pub checkpoints: u64,
    /// Pages found in the database's own cache.
    pub pages_hit: u64,
    /// Pages asked of the kernel, which may have them in its own.
    pub pages_read: u64,
    /// Deadlocks.
    pub deadlocks: u64,
}

impl ServerCounters {
    /// From `first` to this.
    #[must_use]
    pub fn since(&self, first: &ServerCounters) -> ServerCounters {
        ServerCounters {
            log_bytes: self.log_bytes.saturating_sub(first.log_bytes),
            log_syncs: self.log_syncs.saturating_sub(first.log_syncs),
            checkpoints: self.checkpoints.saturating_sub(first.checkpoints),
            pages_hit: self.pages_hit.saturating_sub(first.pages_hit),
            pages_read: self.pages_read.saturating_sub(first.pages_read),
            deadlocks: self.deadlocks.saturating_sub(first.deadlocks),
        }
    }
}

/// How the load went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadRecord {
    /// Rows put in.
    pub rows: u64,
    /// Bytes of the database's files after it.
    pub database_bytes: u64,
    /// Time it took, indexes included, ns.
    pub elapsed_ns: u64,
}

/// A condition of consistency that does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenCondition {
    /// Its number in clause 3.3.2.
    pub number: u8,
    /// Places that break it.
    pub places: u64,
}
