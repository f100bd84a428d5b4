//! What a run of order entry means: the figures with their intervals, where time and I/O went, and what limits it.

mod document;
#[cfg(test)]
mod tests;

pub use document::*;

use fathom_hist::Histogram;
use fathom_model::{OltpEvidence, OltpLoad, judge_oltp};
use fathom_orders::{Home, Judgement, Kind, Rule};
use fathom_record::{BrokenCondition, LoadRecord, OltpRecord, ServerCounters};
use fathom_stats::{mean_ci, quantile_estimate};

/// What has to stand beside every result (the rules of fair use of the TPC).
pub const DERIVED: &str = "derived from TPC-C, not comparable to published TPC-C results";
/// Version of the shape of [`OltpDocument`].
const SCHEMA: u32 = 1;
/// A run of fewer device I/Os than this per transaction tests CPUs and the log.
const CACHED_BELOW_READS: f64 = 1.0;
/// Seconds of a best and a worst minute.
const MINUTE: usize = 60;
const NS_PER_S: f64 = 1e9;

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
    /// Bytes that the database reads at once.
    pub page_bytes: u64,
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
    // Its own reads where the kernel tells them: the device also serves others.
    let own = record.fetched_bytes.map(|bytes| bytes as f64 / run.page_bytes as f64 / transactions.max(1) as f64);
    let reads = own.or_else(|| device.as_ref().map(|device| device.reads_per_transaction));
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
        own_page_reads_per_transaction: own,
        device,
        calibration: run.calibration.clone(),
        server: record.server.map(|counters| server_view(&counters, transactions)),
        search: run.search.iter().map(|&(sessions, tps)| SearchView { sessions, tps }).collect(),
        open_loop: run.open_loop.iter().map(open_loop_view).collect(),
        cpus: cpu_view(run),
        seconds: record.seconds.iter().map(|s| [s.new_orders, s.transactions]).collect(),
        audit: record.audit.bounds(record.warehouses).iter().map(bound_view).collect(),
        consistency: ConsistencyView {
            broken_after_load: run.broken_after_load.as_deref().map(broken),
            broken_after_run: broken(&run.broken_after_run),
        },
        verdict: VerdictView {
            limit: verdict.limit,
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
    OltpLoad {
        has_one_writer: run.has_one_writer,
        cpu_share,
        data_share: time.for_data / serving,
        log_share: time.for_log / serving,
        lock_share: lock_time / serving,
        off_cpu_share: time.off_cpu / serving,
        cpus_busy: busy.min(1.0),
        others_busy: others_busy(run),
        device_busy: None,
        reads_per_transaction: None,
        reads_used: None,
        relaxed_gain: relaxed_gain(run.probes),
    }
}

/// The least and the greatest gain of neighbouring runs, one whose commits wait and one whose do not.
fn relaxed_gain(probes: &[(bool, f64)]) -> Option<(f64, f64)> {
    let gains = probes.chunks_exact(2).filter_map(|pair| match *pair {
        [(true, waits), (false, relaxed)] | [(false, relaxed), (true, waits)] if waits > 0.0 => Some(relaxed / waits),
        _ => None,
    });
    let gains: Vec<f64> = gains.collect();
    Some((gains.iter().copied().reduce(f64::min)?, gains.iter().copied().reduce(f64::max)?))
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

/// Share of those CPUs that other programs use. For a single writer it is the share of one CPU that the writer waited for.
fn others_busy(run: &OltpRun<'_>) -> Option<f64> {
    let cpus = cpu_view(run);
    let share = cpus.others_cores? / cpus.allowed.max(1) as f64;
    let waited = || time_view(run.record).for_cpu * f64::from(run.record.sessions);
    Some(if run.has_one_writer { share.min(waited()) } else { share })
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

fn cpu_view(run: &OltpRun<'_>) -> CpuView {
    let record = run.record;
    let percent = |share: &f32| (share * 100.0).round().clamp(0.0, 100.0) as u8;
    let cores = |of_server: bool| {
        let threads = record.host.threads.iter().filter(|thread| thread.name.starts_with("postgres") == of_server);
        threads.map(|thread| (thread.user_ns + thread.system_ns) as f64).sum::<f64>()
            / record.host.window_ns.max(1) as f64
    };
    let (client_cores, server_cores) = (cores(false), cores(true));
    let allowed = if record.allowed_cpus.is_empty() { record.host.cpus.len() } else { record.allowed_cpus.len() };
    let is_all_ours = run.has_one_writer || server_cores > 0.0;
    let busy = cpus_busy(record);
    CpuView {
        busy,
        allowed,
        client_cores,
        server_cores: (server_cores > 0.0).then_some(server_cores),
        others_cores: is_all_ours.then(|| (busy * allowed as f64 - client_cores - server_cores).max(0.0)),
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
        Judgement::Within => BoundJudgement::Within,
        Judgement::Chance => BoundJudgement::Chance,
        Judgement::Outside => BoundJudgement::Outside,
    };
    BoundView { rule, least: bound.least, most: bound.most, found: bound.found, of: bound.of, judgement }
}

fn broken(conditions: &[BrokenCondition]) -> Vec<(u8, u64)> {
    conditions.iter().map(|condition| (condition.number, condition.places)).collect()
}

fn evidence_view(evidence: &OltpEvidence) -> EvidenceView {
    EvidenceView {
        name: evidence.name,
        number: evidence.number,
        speaks_for: evidence.speaks_for.clone(),
        speaks_against: evidence.speaks_against.clone(),
    }
}
