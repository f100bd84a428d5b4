//! What a run of order entry means: the figures with their intervals, where time and I/O went, and what limits it.

use fathom_hist::Histogram;
use fathom_model::{OltpEvidence, OltpEvidenceName, OltpLoad, judge_oltp};
use fathom_orders::{Home, Judgement, Kind, Rule};
use fathom_record::{BrokenCondition, LoadRecord, OltpRecord, ServerCounters};
use fathom_stats::{mean_ci, quantile_estimate};
use serde::Serialize;

/// What has to stand beside every result (the rules of fair use of the TPC).
pub const DERIVED: &str = "derived from TPC-C, not comparable to published TPC-C results";
/// Version of the shape of [`OltpDocument`].
const SCHEMA: u32 = 1;
/// A run of fewer device I/Os than this per transaction tests CPUs and the log.
const CACHED_BELOW_READS: f64 = 1.0;
/// Seconds of a best and a worst minute.
const MINUTE: usize = 60;
const NS_PER_S: f64 = 1e9;

/// One run as JSON, and what the terminal prints.
#[derive(Clone, Debug, Serialize)]
pub struct OltpDocument {
    /// Version of this shape.
    pub schema: u32,
    /// Always "oltp".
    pub kind: &'static str,
    /// [`DERIVED`].
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
    /// `within`, `chance` (so few transactions allow it) or `outside`.
    pub judgement: &'static str,
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
    /// `cpu`, `storage`, `log_flush`, `locks`; `None`: not determined.
    pub limit: Option<&'static str>,
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
    pub name: &'static str,
    /// Its number.
    pub number: f64,
    /// Limits it speaks for.
    pub speaks_for: Vec<&'static str>,
    /// Limits it speaks against.
    pub speaks_against: Vec<&'static str>,
}

/// All that a run of order entry left.
#[derive(Debug)]
pub struct OltpRun<'a> {
    /// Name of the engine.
    pub engine: &'a str,
    /// Version of the engine.
    pub version: &'a str,
    /// One session at a time writes.
    pub has_one_writer: bool,
    /// Settings, durability first.
    pub settings: Vec<(String, String)>,
    /// The load, if it was loaded now.
    pub load: Option<LoadRecord>,
    /// The measured run.
    pub record: &'a OltpRecord,
    /// Short runs after it, in turns: transactions a second, and whether commits waited for the device.
    pub probes: &'a [(bool, f64)],
    /// The calibration; `None`: none was made.
    pub calibration: Option<CalibrationView>,
    /// Sessions and transactions a second of the search for the most.
    pub search: &'a [(u32, f64)],
    /// Runs at shares of the rate: share, transactions a second asked for, what it yielded.
    pub open_loop: &'a [(f64, f64, OltpRecord)],
    /// Broken after the load; `None`: not asked.
    pub broken_after_load: Option<Vec<BrokenCondition>>,
    /// Broken after the run.
    pub broken_after_run: Vec<BrokenCondition>,
}

/// Works out what a run means.
#[must_use]
pub fn oltp_document(run: &OltpRun<'_>) -> OltpDocument {
    let record = run.record;
    let seconds = record.measured_ns as f64 / NS_PER_S;
    let transactions = record.transactions();
    let tps = transactions as f64 / seconds;
    let new_orders = record.kind(Kind::NewOrder).done - record.kind(Kind::NewOrder).rolled_back;
    let device = device_view(record, new_orders);
    let time = time_view(record);
    let reads = device.as_ref().map(|device| device.reads_per_transaction);
    let load = OltpLoad { device_busy: device.as_ref().map(|device| device.busy), ..load_of(run, &time) };
    let most = run.calibration.as_ref().and_then(CalibrationView::most_iops);
    let reads_used = device.as_ref().zip(most).map(|(device, most)| device.read_iops / most);
    let verdict = judge_oltp(&OltpLoad { reads_per_transaction: reads, reads_used, ..load });
    let mean_latency_s: f64 = record.kinds.iter().map(|kind| kind.latency.sum_ns() as f64).sum::<f64>()
        / transactions.max(1) as f64
        / NS_PER_S;
    OltpDocument {
        schema: SCHEMA,
        kind: "oltp",
        notice: DERIVED,
        database: DatabaseView {
            engine: run.engine.to_owned(),
            version: run.version.to_owned(),
            has_one_writer: run.has_one_writer,
            settings: run.settings.clone(),
            bytes: record.database_bytes,
            warehouses: record.warehouses,
        },
        load: run.load.map(load_view),
        drive: DriveView {
            sessions: record.sessions,
            home: if record.home == Home::Fixed { "fixed" } else { "uniform" },
            has_think_time: false,
            has_deferred_delivery: false,
            seed: record.seed,
            ramp_s: record.ramp_ns as f64 / NS_PER_S,
            measured_s: seconds,
            is_stopped: record.is_stopped,
        },
        nopm: rate_view(record.seconds.iter().map(|s| s.new_orders), new_orders as f64 / seconds),
        tpm: rate_view(record.seconds.iter().map(|s| s.transactions), tps),
        tps,
        transactions: Kind::ALL.map(|kind| kind_view(record, kind)).into(),
        session_time: time,
        device,
        calibration: run.calibration.clone(),
        server: record.server.map(|counters| server_view(&counters, transactions)),
        search: run.search.iter().map(|&(sessions, tps)| SearchView { sessions, tps }).collect(),
        open_loop: run.open_loop.iter().map(open_loop_view).collect(),
        cpus: cpu_view(record),
        seconds: record.seconds.iter().map(|s| [s.new_orders, s.transactions]).collect(),
        audit: record.audit.bounds(record.warehouses).iter().map(bound_view).collect(),
        consistency: ConsistencyView {
            broken_after_load: run.broken_after_load.as_deref().map(broken),
            broken_after_run: broken(&run.broken_after_run),
        },
        verdict: VerdictView {
            limit: verdict.limit.map(fathom_model::OltpLimit::name),
            is_cached: reads.map(|reads| reads < CACHED_BELOW_READS),
            evidence: verdict.evidence.iter().map(evidence_view).collect(),
            sessions_in_flight: tps * mean_latency_s,
            reads_a_transaction_could_make: most.filter(|_| tps > 0.0).map(|most| most / tps),
        },
    }
}

/// What the verdict is made from, without what the device tells.
fn load_of(run: &OltpRun<'_>, time: &TimeView) -> OltpLoad {
    // Of a single writer: what it does while the others wait for it. They do not limit each other, it does.
    let lock_time = if run.has_one_writer { 0.0 } else { time.for_turn };
    let serving = (time.on_cpu + time.for_cpu + time.for_log + time.for_data + lock_time).max(f64::MIN_POSITIVE);
    let cpu_share = (time.on_cpu + time.for_cpu) / serving;
    let busy = if run.has_one_writer {
        // CPUs that the sessions used, or waited for: at most one of them writes.
        (time.on_cpu + time.for_cpu) * f64::from(run.record.sessions)
    } else {
        cpus_busy(run.record)
    };
    let rate = |durable: bool| -> Option<f64> {
        let rates: Vec<f64> =
            run.probes.iter().filter(|(is_durable, _)| *is_durable == durable).map(|(_, r)| *r).collect();
        (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64)
    };
    OltpLoad {
        has_one_writer: run.has_one_writer,
        cpu_share,
        data_share: time.for_data / serving,
        log_share: time.for_log / serving,
        lock_share: lock_time / serving,
        off_cpu_share: time.off_cpu / serving,
        cpus_busy: busy.min(1.0),
        device_busy: None,
        reads_per_transaction: None,
        reads_used: None,
        relaxed_gain: rate(false).zip(rate(true)).filter(|(_, base)| *base > 0.0).map(|(relaxed, base)| relaxed / base),
    }
}

fn rate_view(per_second: impl Iterator<Item = u64>, mean_per_s: f64) -> RateView {
    let series: Vec<f64> = per_second.map(|count| count as f64 * 60.0).collect();
    let estimate = mean_ci(&series);
    let minutes: Vec<f64> =
        series.chunks_exact(MINUTE).map(|minute| minute.iter().sum::<f64>() / MINUTE as f64).collect();
    let of_minutes = |pick: fn(f64, f64) -> f64| minutes.iter().copied().reduce(pick).filter(|_| minutes.len() >= 2);
    RateView {
        mean: mean_per_s * 60.0,
        ci95: estimate.ci95.map(|(low, high)| [low, high]),
        best_minute: of_minutes(f64::max),
        worst_minute: of_minutes(f64::min),
    }
}

fn kind_view(record: &OltpRecord, kind: Kind) -> KindView {
    let own = record.kind(kind);
    KindView {
        name: kind.name(),
        done: own.done,
        rolled_back: own.rolled_back,
        retries: own.retries,
        skipped_districts: own.skipped_districts,
        latency: latency_view(&own.latency),
        commit: (!own.commit.is_empty()).then(|| latency_view(&own.commit)),
    }
}

fn latency_view(hist: &Histogram) -> LatencyView {
    // The tail rule: a hundred samples beyond it, or none is said.
    let quantile = |q: f64| quantile_estimate(hist, &[], q, None).value_ns;
    LatencyView {
        mean_ns: hist.mean_ns(),
        p50_ns: quantile(0.5),
        p90_ns: quantile(0.9),
        p99_ns: quantile(0.99),
        p999_ns: quantile(0.999),
        p9999_ns: quantile(0.9999),
        max_ns: hist.max_ns(),
    }
}

fn time_view(record: &OltpRecord) -> TimeView {
    let share = |ns: u64| ns as f64 / record.time.all_ns.max(1) as f64;
    TimeView {
        on_cpu: share(record.time.on_cpu_ns),
        for_cpu: share(record.time.for_cpu_ns),
        for_turn: share(record.time.for_turn_ns),
        for_log: share(record.time.for_log_ns),
        for_data: share(record.time.for_data_ns),
        off_cpu: share(record.time.off_cpu_ns),
    }
}

fn device_view(record: &OltpRecord, new_orders: u64) -> Option<DeviceView> {
    let disk = record.host.disks.first()?;
    let window_s = record.host.window_ns as f64 / NS_PER_S;
    let transactions =
        (record.transactions() as f64 / record.measured_ns as f64 * record.host.window_ns as f64).max(1.0);
    let orders = new_orders as f64 / record.measured_ns as f64 * record.host.window_ns as f64;
    Some(DeviceView {
        name: disk.device.clone(),
        read_iops: disk.read_ios as f64 / window_s,
        write_iops: disk.write_ios as f64 / window_s,
        reads_per_transaction: disk.read_ios as f64 / transactions,
        writes_per_transaction: disk.write_ios as f64 / transactions,
        written_bytes_per_transaction: disk.write_bytes as f64 / transactions,
        flushes_per_transaction: disk.flushes.map(|flushes| flushes.ios as f64 / transactions),
        busy: (disk.busy_ns as f64 / record.host.window_ns.max(1) as f64).min(1.0),
        written_bytes_per_million_orders: disk.write_bytes as f64 / orders.max(1.0) * 1e6,
    })
}

fn server_view(counters: &ServerCounters, transactions: u64) -> ServerView {
    let each = |count: u64| count as f64 / transactions.max(1) as f64;
    let pages = counters.pages_hit + counters.pages_read;
    ServerView {
        log_bytes_per_transaction: each(counters.log_bytes),
        log_syncs_per_transaction: each(counters.log_syncs),
        checkpoints: counters.checkpoints,
        cache_hit: (pages > 0).then(|| counters.pages_hit as f64 / pages as f64),
        deadlocks: counters.deadlocks,
    }
}

fn open_loop_view((share, asked_tps, record): &(f64, f64, OltpRecord)) -> OpenLoopView {
    let seconds = record.measured_ns as f64 / NS_PER_S;
    let done = record.transactions() as f64;
    let asked = asked_tps * seconds;
    OpenLoopView {
        share: *share,
        asked_tps: *asked_tps,
        tps: done / seconds,
        // Arrivals are a Poisson process: so many standard deviations below what was asked for are no chance.
        is_sustained: done >= asked - 3.0 * asked.sqrt(),
        new_order: latency_view(&record.kind(Kind::NewOrder).latency),
    }
}

/// Busy share of the CPUs that the run may use.
fn cpus_busy(record: &OltpRecord) -> f64 {
    let is_allowed = |number: u32| record.allowed_cpus.is_empty() || record.allowed_cpus.contains(&number);
    let numbers: Vec<u32> = record.host.cpus.iter().map(|(number, _)| *number).collect();
    let cells = record.host.cpu_busy_by_interval.iter().flat_map(|row| row.iter().zip(&numbers));
    let shares: Vec<f64> =
        cells.filter(|(_, number)| is_allowed(**number)).map(|(share, _)| f64::from(*share)).collect();
    if shares.is_empty() { 0.0 } else { shares.iter().sum::<f64>() / shares.len() as f64 }
}

fn cpu_view(record: &OltpRecord) -> CpuView {
    let percent = |share: &f32| (share * 100.0).round().clamp(0.0, 100.0) as u8;
    let cores = |of_server: bool| {
        let threads = record.host.threads.iter().filter(|thread| thread.name.starts_with("postgres") == of_server);
        threads.map(|thread| (thread.user_ns + thread.system_ns) as f64).sum::<f64>()
            / record.host.window_ns.max(1) as f64
    };
    let server_cores = cores(true);
    CpuView {
        busy: cpus_busy(record),
        allowed: if record.allowed_cpus.is_empty() { record.host.cpus.len() } else { record.allowed_cpus.len() },
        client_cores: cores(false),
        server_cores: (server_cores > 0.0).then_some(server_cores),
        cpus: record.host.cpus.iter().map(|(number, _)| *number).collect(),
        heat_pct: record.host.cpu_busy_by_interval.iter().map(|row| row.iter().map(percent).collect()).collect(),
    }
}

fn load_view(load: LoadRecord) -> LoadView {
    let seconds = load.elapsed_ns as f64 / NS_PER_S;
    LoadView { rows: load.rows, bytes: load.database_bytes, seconds, bytes_per_s: load.database_bytes as f64 / seconds }
}

fn bound_view(bound: &fathom_orders::Bound) -> BoundView {
    let rule = match bound.rule {
        Rule::Payments => "payments",
        Rule::OrderStatuses => "order_statuses",
        Rule::Deliveries => "deliveries",
        Rule::StockLevels => "stock_levels",
        Rule::Rollbacks => "rollbacks",
        Rule::LinesPerOrder => "lines_per_order",
        Rule::RemoteLines => "remote_lines",
        Rule::RemotePayments => "remote_payments",
        Rule::PaymentsByName => "payments_by_name",
        Rule::OrderStatusesByName => "order_statuses_by_name",
    };
    let judgement = match bound.judgement {
        Judgement::Within => "within",
        Judgement::Chance => "chance",
        Judgement::Outside => "outside",
    };
    BoundView { rule, least: bound.least, most: bound.most, found: bound.found, of: bound.of, judgement }
}

fn broken(conditions: &[BrokenCondition]) -> Vec<(u8, u64)> {
    conditions.iter().map(|condition| (condition.number, condition.places)).collect()
}

fn evidence_view(evidence: &OltpEvidence) -> EvidenceView {
    let names = |limits: &[fathom_model::OltpLimit]| limits.iter().map(|limit| limit.name()).collect();
    EvidenceView {
        name: match evidence.name {
            OltpEvidenceName::ServingTime(_) => "serving_time",
            OltpEvidenceName::CpusBusy => "cpus_busy",
            OltpEvidenceName::OffCpu => "off_cpu",
            OltpEvidenceName::DeviceBusy => "device_busy",
            OltpEvidenceName::DeviceReads => "device_reads_per_transaction",
            OltpEvidenceName::ReadsUsed => "share_of_calibrated_reads",
            OltpEvidenceName::RelaxedCommits => "gain_of_relaxed_commits",
        },
        number: evidence.number,
        speaks_for: names(&evidence.speaks_for),
        speaks_against: names(&evidence.speaks_against),
    }
}

#[cfg(test)]
mod tests {
    use fathom_orders::Audit;
    use fathom_record::{CpuTime, DiskDelta, HostDelta, OltpKind, OltpSecond, SessionTime};

    use super::*;

    const SECONDS: u64 = 150;

    /// A run of one session, 100 new orders a second of 230 transactions, 40 % of its time in commits.
    fn record() -> OltpRecord {
        let mut kinds: [OltpKind; 5] = Default::default();
        for (kind, per_s) in kinds.iter_mut().zip([101, 100, 10, 10, 9]) {
            kind.done = per_s * SECONDS;
            kind.latency.record_n(4_000_000, kind.done);
        }
        kinds[0].rolled_back = SECONDS;
        let second = |at: u64| OltpSecond { new_orders: if at < 60 { 90 } else { 100 }, transactions: 230 };
        let window_ns = SECONDS * 1_000_000_000;
        let disk = DiskDelta { device: "nvme0n1".into(), read_ios: 230 * SECONDS * 2, ..DiskDelta::default() };
        OltpRecord {
            sessions: 1,
            warehouses: 3,
            seed: 1,
            home: Home::Fixed,
            ramp_ns: 0,
            measured_ns: window_ns,
            kinds,
            seconds: (0..SECONDS).map(second).collect(),
            time: SessionTime {
                all_ns: window_ns,
                on_cpu_ns: window_ns / 2,
                for_log_ns: window_ns / 10 * 4,
                ..SessionTime::default()
            },
            audit: Audit::default(),
            allowed_cpus: vec![3],
            host: HostDelta {
                window_ns,
                cpus: vec![(2, CpuTime::default()), (3, CpuTime::default())],
                cpu_busy_by_interval: vec![vec![0.1, 0.9]; SECONDS as usize],
                disks: vec![disk],
                ..HostDelta::default()
            },
            server: None,
            database_bytes: 1,
            is_stopped: false,
        }
    }

    fn run<'a>(record: &'a OltpRecord, probes: &'a [(bool, f64)]) -> OltpRun<'a> {
        OltpRun {
            engine: "postgresql",
            version: "15",
            has_one_writer: false,
            settings: Vec::new(),
            load: None,
            record,
            probes,
            calibration: Some(CalibrationView {
                block_bytes: 8192,
                points: vec![CalibrationPointView { in_flight: 8, iops: 4_600.0, mean_ns: 1e6 }],
            }),
            search: &[],
            open_loop: &[],
            broken_after_load: None,
            broken_after_run: Vec::new(),
        }
    }

    #[test]
    fn rates_are_of_committed_orders_and_minutes_are_whole() {
        let record = record();
        let document = oltp_document(&run(&record, &[]));
        assert!((document.tps - 230.0).abs() < 1e-9 && (document.tpm.mean - 13_800.0).abs() < 1e-9);
        assert!((document.nopm.mean - 6_000.0).abs() < 1e-9, "what is rolled back is no order: {}", document.nopm.mean);
        assert_eq!((document.nopm.worst_minute, document.nopm.best_minute), (Some(5_400.0), Some(6_000.0)));
        assert!((document.verdict.sessions_in_flight - 0.92).abs() < 0.01, "{}", document.verdict.sessions_in_flight);
        let device = document.device.expect("a device");
        assert!((device.reads_per_transaction - 2.0).abs() < 1e-9);
        assert_eq!(document.verdict.is_cached, Some(false));
        assert_eq!(document.verdict.reads_a_transaction_could_make, Some(20.0));
        let used =
            document.verdict.evidence.iter().find(|e| e.name == "share_of_calibrated_reads").expect("calibrated");
        assert!((used.number - 0.1).abs() < 1e-9 && used.speaks_for.is_empty(), "460 of 4600 reads a second");
        assert!((document.cpus.busy - 0.9).abs() < 1e-6, "CPUs that the run may not use do not count");
    }

    #[test]
    fn a_percentile_without_a_hundred_samples_beyond_it_is_not_said() {
        let document = oltp_document(&run(&record(), &[]));
        let latency = &document.transactions[2].latency;
        // 1500 samples: 15 beyond p99.
        assert!(latency.p90_ns.is_some() && latency.p99_ns.is_none() && latency.p9999_ns.is_none());
        assert!(document.transactions[0].commit.is_none(), "a server does not tell them apart");
    }

    #[test]
    fn a_rate_that_is_not_done_is_not_sustained_and_chance_is_no_failure() {
        let record = record();
        // 230 a second were done for 150 s: 34 500, whose chance is 186 either way.
        let of = |asked: f64| open_loop_view(&(0.8, asked, record.clone())).is_sustained;
        assert!(of(230.0) && of(233.0) && !of(240.0));
    }

    #[test]
    fn the_gain_of_commits_that_do_not_wait_is_that_of_pairs() {
        let gain = |probes: &[(bool, f64)]| {
            let record = record();
            let document = oltp_document(&run(&record, probes));
            document.verdict.evidence.iter().find(|e| e.name == "gain_of_relaxed_commits").map(|e| e.number)
        };
        assert_eq!(gain(&[]), None);
        let pairs = [(true, 100.0), (false, 190.0), (false, 210.0), (true, 100.0)];
        assert_eq!(gain(&pairs), Some(2.0));
    }
}
