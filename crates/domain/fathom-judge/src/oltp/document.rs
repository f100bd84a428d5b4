//! The result of a run of order entry as JSON: types alone.

use fathom_model::{OltpEvidenceName, OltpLimit};
use serde::Serialize;

/// One run as JSON, and what the terminal prints.
#[derive(Clone, Debug, Serialize)]
pub struct OltpDocument {
    /// Version of this shape.
    pub schema: u32,
    /// Always "oltp".
    pub kind: &'static str,
    /// [`super::DERIVED`].
    pub notice: &'static str,
    /// The database.
    pub database: DatabaseView,
    /// How the load went; `None` where the database was there before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadView>,
    /// How it was driven.
    pub drive: DriveView,
    /// New orders committed a minute.
    pub nopm: RateView,
    /// Transactions of all kinds a minute.
    pub tpm: RateView,
    /// Transactions of all kinds a second.
    pub tps: f64,
    /// By kind of transaction.
    pub transactions: Vec<KindView>,
    /// Where the sessions' time went.
    pub session_time: TimeView,
    /// Pages that the database itself fetched from devices for a transaction, whatever others did meanwhile; `None` where nothing
    /// tells.
    pub own_page_reads_per_transaction: Option<f64>,
    /// What plain reads of the database's files got before the run; `None`: not calibrated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<CalibrationView>,
    /// What the device did for a transaction; `None` where no device is behind the files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceView>,
    /// What the server counted; `None` where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerView>,
    /// Numbers of sessions that were tried for the most transactions, in the order of trying; empty where one was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub search: Vec<SearchView>,
    /// Runs at shares of the rate above, responses counted from when each transaction was due.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open_loop: Vec<OpenLoopView>,
    /// CPUs, second by second.
    pub cpus: CpuView,
    /// Seconds of the window: new orders and transactions.
    pub seconds: Vec<[u64; 2]>,
    /// Bounds of clause 9.2 with what was drawn.
    pub audit: Vec<BoundView>,
    /// Conditions of consistency that do not hold.
    pub consistency: ConsistencyView,
    /// What limits it.
    pub verdict: VerdictView,
}

/// The database.
#[derive(Clone, Debug, Serialize)]
pub struct DatabaseView {
    /// `sqlite` or `postgresql`.
    pub engine: String,
    /// Its version.
    pub version: String,
    /// One session at a time writes.
    pub has_one_writer: bool,
    /// Settings that matter, durability first: [name, value].
    pub settings: Vec<(String, String)>,
    /// Bytes of its files at the end.
    pub bytes: u64,
    /// Warehouses.
    pub warehouses: u32,
}

/// How the load went.
#[derive(Clone, Debug, Serialize)]
pub struct LoadView {
    /// Rows.
    pub rows: u64,
    /// Bytes of the files after it.
    pub bytes: u64,
    /// Seconds.
    pub seconds: f64,
    /// Bytes of the files a second.
    pub bytes_per_s: f64,
}

/// How it was driven.
#[derive(Clone, Debug, Serialize)]
pub struct DriveView {
    /// Sessions at once.
    pub sessions: u32,
    /// Home warehouses: `fixed` or `uniform`.
    pub home: &'static str,
    /// Keying and thinking are off: each session has its next transaction at once.
    pub has_think_time: bool,
    /// Deliveries are done by the session at once, not queued.
    pub has_deferred_delivery: bool,
    /// Seed of rows and inputs.
    pub seed: u64,
    /// Seconds before the window.
    pub ramp_s: f64,
    /// Seconds of the window.
    pub measured_s: f64,
    /// Ended before its time.
    pub is_stopped: bool,
}

/// A rate.
#[derive(Clone, Debug, Serialize)]
pub struct RateView {
    /// Mean over the window.
    pub mean: f64,
    /// 95 % interval; `None` where none would hold.
    pub ci95: Option<[f64; 2]>,
    /// The best full minute; `None` below two minutes.
    pub best_minute: Option<f64>,
    /// The worst full minute.
    pub worst_minute: Option<f64>,
}

/// One kind of transaction.
#[derive(Clone, Debug, Serialize)]
pub struct KindView {
    /// `new-order` and so on.
    pub name: &'static str,
    /// Done, rolled back ones among them.
    pub done: u64,
    /// Rolled back because the input wants it.
    pub rolled_back: u64,
    /// Ended by the database and tried again.
    pub retries: u64,
    /// Districts without an order to deliver.
    pub skipped_districts: u64,
    /// From asking to the answer.
    pub latency: LatencyView,
    /// The commit alone; `None` where it is not told.
    pub commit: Option<LatencyView>,
}

/// Latencies, ns. A percentile without samples enough is `None`.
#[derive(Clone, Debug, Serialize)]
pub struct LatencyView {
    /// Mean.
    pub mean_ns: Option<f64>,
    /// 50 %
    pub p50_ns: Option<u64>,
    /// 90 %
    pub p90_ns: Option<u64>,
    /// 99 %
    pub p99_ns: Option<u64>,
    /// 99.9 %
    pub p999_ns: Option<u64>,
    /// 99.99 %
    pub p9999_ns: Option<u64>,
    /// The longest.
    pub max_ns: Option<u64>,
}

/// Shares of the sessions' time.
#[derive(Clone, Debug, Serialize)]
pub struct TimeView {
    /// On a CPU, outside of commits.
    pub on_cpu: f64,
    /// Ready, without a CPU.
    pub for_cpu: f64,
    /// For the turn to write, or a lock.
    pub for_turn: f64,
    /// In commits, until the log is on the device: waiting and working for it.
    pub for_log: f64,
    /// For data.
    pub for_data: f64,
    /// In statements and commits, neither on a CPU nor ready for one.
    pub off_cpu: f64,
}

/// What the device did, by the kernel's count for the whole device: also what others had it do.
#[derive(Clone, Debug, Serialize)]
pub struct DeviceView {
    /// Its name.
    pub name: String,
    /// Reads a second.
    pub read_iops: f64,
    /// Writes a second.
    pub write_iops: f64,
    /// Reads of a transaction.
    pub reads_per_transaction: f64,
    /// Writes of a transaction.
    pub writes_per_transaction: f64,
    /// Bytes written for a transaction.
    pub written_bytes_per_transaction: f64,
    /// Flushes of a transaction; `None` where the kernel does not count them.
    pub flushes_per_transaction: Option<f64>,
    /// Share of the time with something in flight.
    pub busy: f64,
    /// Bytes written for a million new orders.
    pub written_bytes_per_million_orders: f64,
}

/// Random reads of the database's own files, by Fathom, around the page cache.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CalibrationView {
    /// Bytes of a read: the database's page.
    pub block_bytes: u64,
    /// Depth by depth.
    pub points: Vec<CalibrationPointView>,
}

/// Reads at one depth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CalibrationPointView {
    /// In flight.
    pub in_flight: u32,
    /// Reads a second.
    pub iops: f64,
    /// Mean latency, ns.
    pub mean_ns: f64,
}

impl CalibrationView {
    /// The most reads a second of any depth.
    #[must_use]
    pub fn most_iops(&self) -> Option<f64> {
        self.points.iter().map(|point| point.iops).reduce(f64::max).filter(|iops| *iops > 0.0)
    }
}

/// What a server counted over the window.
#[derive(Clone, Debug, Serialize)]
pub struct ServerView {
    /// Bytes of the log for a transaction.
    pub log_bytes_per_transaction: f64,
    /// Syncs of the log for a transaction: below the share of writers where one serves several commits.
    pub log_syncs_per_transaction: f64,
    /// Checkpoints within the window.
    pub checkpoints: u64,
    /// Share of pages that the database's own cache had; `None` where none was asked for.
    pub cache_hit: Option<f64>,
    /// Deadlocks.
    pub deadlocks: u64,
}

/// A number of sessions that was tried.
#[derive(Clone, Debug, Serialize)]
pub struct SearchView {
    /// Sessions.
    pub sessions: u32,
    /// Transactions a second.
    pub tps: f64,
}

/// A run at a rate that was asked for.
#[derive(Clone, Debug, Serialize)]
pub struct OpenLoopView {
    /// Of the closed loop's rate.
    pub share: f64,
    /// Transactions a second asked for.
    pub asked_tps: f64,
    /// Transactions a second done.
    pub tps: f64,
    /// As many were done as were asked for, within what chance takes.
    pub is_sustained: bool,
    /// Responses of new orders, from when each was due.
    pub new_order: LatencyView,
}

/// CPUs over the window.
#[derive(Clone, Debug, Serialize)]
pub struct CpuView {
    /// Busy share of the CPUs that the run may use.
    pub busy: f64,
    /// How many those are.
    pub allowed: usize,
    /// CPUs that the sessions' own threads used: the client's, and with an embedded database also its work.
    pub client_cores: f64,
    /// CPUs that the server's processes used; `None` where it is not ours to watch, or there is none.
    pub server_cores: Option<f64>,
    /// CPUs that neither the sessions nor a server of the run's own used, of those that the run may use: other programs, and
    /// the kernel on anybody's behalf. `None` where the server is not ours to watch.
    pub others_cores: Option<f64>,
    /// Numbers of the columns of `heat_pct`.
    pub cpus: Vec<u32>,
    /// Busy percent, `[second][cpu]`.
    pub heat_pct: Vec<Vec<u8>>,
}

/// A bound of clause 9.2.
#[derive(Clone, Debug, Serialize)]
pub struct BoundView {
    /// What is bounded.
    pub rule: &'static str,
    /// Least share.
    pub least: f64,
    /// Most.
    pub most: f64,
    /// Found.
    pub found: f64,
    /// Of how many.
    pub of: u64,
    /// How it stands to them.
    pub judgement: BoundJudgement,
}

/// How a share stands to its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BoundJudgement {
    /// Within.
    Within,
    /// Outside, by no more than so few transactions allow.
    Chance,
    /// Outside: the generator is wrong.
    Outside,
}

/// Conditions of consistency that do not hold, with the places that break them: empty is good. `None`: not asked.
#[derive(Clone, Debug, Serialize)]
pub struct ConsistencyView {
    /// After the load: all twelve.
    pub broken_after_load: Option<Vec<(u8, u64)>>,
    /// After the run: all but the eleventh, which deliveries end.
    pub broken_after_run: Vec<(u8, u64)>,
}

/// The verdict.
#[derive(Clone, Debug, Serialize)]
pub struct VerdictView {
    /// `None`: not determined.
    pub limit: Option<OltpLimit>,
    /// The data come from memory: a test of CPU and log, whatever the drives could do. `None` where nothing tells.
    pub is_cached: Option<bool>,
    /// The evidence.
    pub evidence: Vec<EvidenceView>,
    /// Sessions in flight by Little: rate times mean latency.
    pub sessions_in_flight: f64,
    /// Random reads that each transaction could make before the drive is the limit: calibrated reads over transactions.
    pub reads_a_transaction_could_make: Option<f64>,
}

/// A piece of evidence.
#[derive(Clone, Debug, Serialize)]
pub struct EvidenceView {
    /// What it is about.
    pub name: OltpEvidenceName,
    /// Its number.
    pub number: f64,
    /// Limits it speaks for.
    pub speaks_for: Vec<OltpLimit>,
    /// Limits it speaks against.
    pub speaks_against: Vec<OltpLimit>,
}
