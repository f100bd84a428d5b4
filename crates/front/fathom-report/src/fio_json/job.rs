//! One step as an entry of fio's `jobs`.

use fathom_judge::document::StepView;
use fathom_plan::{Op, Step};
use fathom_record::{Direction, Interval, Latency, StepRecord};

use super::latency::{Detail, Shares, latency, sample_count, shares};
use super::options::{job_options, thread_count};
use super::shape::{self, Object};

const NS_PER_MS: u64 = 1_000_000;
const NS_PER_S: u64 = 1_000_000_000;
const NS_PER_S_F: f64 = 1e9;

/// The step's entry. `view`: the same step in the document, for the CPUs its threads were bound to.
pub(super) fn job(step: &Step, record: &StepRecord, view: Option<&StepView>, bins: bool) -> shape::Job {
    let distribution = record.open_loop.as_ref().is_none_or(|open| !open.unsustainable);
    let detail = Detail { bins, distribution };
    let Shares { ns, us, ms } =
        shares(record.directions.iter().filter_map(|d| completion(d).0.histogram()).filter(|_| distribution));
    let unified = record.directions.first().filter(|_| step.role.imported.is_unified).map(|d| d.op);
    let of = |op| unified.is_none().then(|| direction(record, op, detail));
    let cpus = view.map_or(&[][..], |view| &view.cpus);
    let (usr_cpu, sys_cpu) = cpu_shares(step, record);
    shape::Job {
        jobname: name(step),
        groupid: step.role.stream.as_ref().map_or(step.index, |stream| step.index - stream.index),
        error: record.failures.first().map_or(0, |f| f.errno),
        eta: 0,
        elapsed: (record.setup_ns + record.runtime_ns).div_ceil(NS_PER_S),
        job_options: step.role.imported.unknown.is_empty().then(|| Object(job_options(step, cpus))),
        read: of(Op::Read),
        write: of(Op::Write),
        trim: of(Op::Trim),
        mixed: unified.map(|op| direction(record, op, detail)),
        sync: syncs(record, detail),
        job_runtime: record.runtime_ns / NS_PER_MS * u64::from(thread_count(step)),
        usr_cpu,
        sys_cpu,
        ctx: record.host.as_ref().map_or(0, |h| h.context_switches),
        majf: 0,
        minf: 0,
        iodepth_level: unknown(&["1", "2", "4", "8", "16", "32", ">=64"]),
        iodepth_submit: unknown(&["0", "4", "8", "16", "32", "64", ">=64"]),
        iodepth_complete: unknown(&["0", "4", "8", "16", "32", "64", ">=64"]),
        latency_ns: ns,
        latency_us: us,
        latency_ms: ms,
        latency_depth: step.load.queue_depth,
        latency_target: 0,
        latency_percentile: 100.0,
        latency_window: 0,
        fathom_note: notes(record, distribution),
    }
}

/// The name that the user gave; the label where there is none.
fn name(step: &Step) -> String {
    let stream = step.role.stream.as_ref().map(|stream| &stream.name);
    step.role.job.as_ref().or(stream).unwrap_or(&step.label).clone()
}

/// fio prints 0 for what it did not measure; so do we, and say so in the notes.
fn unknown(keys: &[&str]) -> Object<f64> {
    Object(keys.iter().map(|key| ((*key).to_owned(), 0.0)).collect())
}

fn notes(record: &StepRecord, distribution: bool) -> Vec<String> {
    let mut notes = vec![
        "iodepth_level, iodepth_submit, iodepth_complete, majf and minf are not kept by Fathom and printed as 0"
            .to_owned(),
        "a percentile is left out where fewer than 100 samples lie beyond it".to_owned(),
    ];
    if record.host.is_some() {
        notes.push("ctx counts the context switches of the whole host".to_owned());
    } else {
        notes.push("usr_cpu, sys_cpu and ctx are not known and printed as 0".to_owned());
    }
    if record.directions.iter().any(|d| completion(d).0.histogram().is_none()) {
        notes.push("the samples are not known: latency_ns, latency_us and latency_ms are printed as 0".to_owned());
    }
    if !distribution {
        notes.push(
            "the rate was not sustained: no percentiles and no bins, they would only show the backlog".to_owned(),
        );
    }
    notes
}

/// User and system time of the worker threads in percent of their run time, as fio counts it for its jobs. The threads that
/// sample the host and show progress are no jobs.
fn cpu_shares(step: &Step, record: &StepRecord) -> (f64, f64) {
    let Some(host) = &record.host else { return (0.0, 0.0) };
    let (mut user_ns, mut system_ns, mut threads) = (0_u64, 0_u64, 0_u64);
    // Workers of streams are named by stream and number.
    let prefix = step.role.stream.as_ref().map_or("fathom-w".to_owned(), |stream| format!("fathom-w{}.", stream.index));
    for thread in host.threads.iter().filter(|t| !t.kernel && t.name.starts_with(&prefix)) {
        user_ns += thread.user_ns;
        system_ns += thread.system_ns;
        threads += 1;
    }
    let available_ns = (threads * host.window_ns) as f64;
    if available_ns == 0.0 {
        return (0.0, 0.0);
    }
    (user_ns as f64 * 100.0 / available_ns, system_ns as f64 * 100.0 / available_ns)
}

/// What goes to `clat_ns`: clat when every I/O has one, otherwise lat with the reason.
fn completion(direction: &Direction) -> (&Latency, Option<String>) {
    match &direction.clat {
        Some(clat) if sample_count(clat) == direction.ios => (clat, None),
        Some(clat) => {
            let (have, of) = (sample_count(clat), direction.ios);
            (&direction.lat, Some(format!("holds lat: clat was recorded for {have} of {of} I/Os only")))
        }
        None => (&direction.lat, Some("holds lat: the engine does not separate clat".to_owned())),
    }
}

fn syncs(record: &StepRecord, detail: Detail) -> shape::Sync {
    let Some(syncs) = &record.syncs else { return shape::Sync::default() };
    shape::Sync { total_ios: syncs.ios, lat_ns: latency(&syncs.lat, detail) }
}

fn direction(record: &StepRecord, op: Op, detail: Detail) -> shape::Direction {
    let Some(direction) = record.direction(op) else { return shape::Direction::default() };
    let seconds = record.runtime_ns as f64 / NS_PER_S_F;
    let per_second = |amount: u64| if seconds > 0.0 { amount as f64 / seconds } else { 0.0 };
    let bytes_per_s = per_second(direction.bytes);
    let (completion, note) = completion(direction);
    let bw = Spread::of(record.intervals.iter().map(|i| interval_rate(i, op, |d| d.bytes) / 1024.0));
    let iops = Spread::of(record.intervals.iter().map(|i| interval_rate(i, op, |d| d.ios)));
    shape::Direction {
        io_bytes: direction.bytes,
        io_kbytes: direction.bytes >> 10,
        bw_bytes: bytes_per_s as u64,
        bw: (bytes_per_s / 1024.0) as u64,
        iops: per_second(direction.ios),
        runtime: record.runtime_ns / NS_PER_MS,
        total_ios: direction.ios,
        short_ios: direction.short_ios,
        drop_ios: 0,
        slat_ns: direction.slat.as_ref().map(|slat| latency(slat, detail)).unwrap_or_default(),
        clat_ns: shape::Latency { fathom_note: note, ..latency(completion, detail) },
        lat_ns: latency(&direction.lat, detail),
        bw_min: bw.min as u64,
        bw_max: bw.max as u64,
        bw_agg: if bytes_per_s > 0.0 { (bw.mean * 1024.0 * 100.0 / bytes_per_s).min(100.0) } else { 0.0 },
        bw_mean: bw.mean,
        bw_dev: bw.stddev,
        bw_samples: bw.samples,
        iops_min: iops.min as u64,
        iops_max: iops.max as u64,
        iops_mean: iops.mean,
        iops_stddev: iops.stddev,
        iops_samples: iops.samples,
    }
}

fn interval_rate(interval: &Interval, op: Op, amount: fn(&fathom_record::DirectionInterval) -> u64) -> f64 {
    let total = interval.directions.iter().find(|d| d.op == op).map_or(0, amount);
    if interval.length_ns == 0 { 0.0 } else { total as f64 * NS_PER_S_F / interval.length_ns as f64 }
}

/// Smallest, largest, mean and standard deviation (divisor n - 1, as in fio) over the intervals.
#[derive(Default)]
struct Spread {
    min: f64,
    max: f64,
    mean: f64,
    stddev: f64,
    samples: u64,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Spread {
        let values: Vec<f64> = values.collect();
        if values.is_empty() {
            return Spread::default();
        }
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        Spread {
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(0.0, f64::max),
            mean,
            stddev: if values.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 },
            samples: values.len() as u64,
        }
    }
}
