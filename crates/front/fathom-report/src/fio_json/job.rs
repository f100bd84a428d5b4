//! An entry of fio's `jobs`.

use fathom_plan::{Op, Step};
use fathom_record::{Direction, Interval, Latency, StepRecord};

use super::entry::{Entry, Member};
use super::latency::{Detail, Shares, latency, sample_count, shares};
use super::options::{job_options, thread_count};
use super::shape::{self, Object};

const NS_PER_MS: u64 = 1_000_000;
const NS_PER_S: u64 = 1_000_000_000;
const NS_PER_S_F: f64 = 1e9;

/// The entry in fio's form.
pub(super) fn job(entry: &Entry<'_>, bins: bool) -> shape::Job {
    let is_sustained = |record: &StepRecord| record.open_loop.as_ref().is_none_or(|open| !open.unsustainable);
    let distribution = entry.members().iter().all(|member| is_sustained(member.record));
    let detail = Detail { bins, distribution };
    let directions = [Op::Read, Op::Write, Op::Trim].map(|op| entry.direction(op));
    let Shares { ns, us, ms } =
        shares(directions.iter().flatten().filter_map(|d| completion(d).0.histogram()).filter(|_| distribution));
    let (usr_cpu, sys_cpu) = cpu_shares(entry);
    let Member { step, record, .. } = entry.first();
    // fio lists the options of the last job of a group.
    let Member { step: last, view, .. } = entry.last();
    let is_unified = step.role.imported.is_unified;
    let unified = directions.iter().flatten().next().filter(|_| is_unified);
    let of = |at: usize| (!is_unified).then(|| direction(entry, directions[at].as_ref(), detail));
    let cpus = view.map_or(&[][..], |view| &view.cpus);
    let elapsed = entry.members().iter().map(|m| (m.record.setup_ns + m.record.runtime_ns).div_ceil(NS_PER_S)).max();
    let threads_ns = |m: &Member<'_>| m.record.runtime_ns / NS_PER_MS * u64::from(thread_count(m.step));
    shape::Job {
        jobname: name(step),
        groupid: group(step),
        error: entry.members().iter().find_map(|m| m.record.failures.first()).map_or(0, |f| f.errno),
        eta: 0,
        elapsed: elapsed.unwrap_or(0),
        desc: step.role.job.as_ref().and_then(|job| job.description.clone()),
        job_options: step.role.imported.unknown.is_empty().then(|| Object(job_options(last, cpus))),
        read: of(0),
        write: of(1),
        trim: of(2),
        mixed: unified.map(|mixed| direction(entry, Some(mixed), detail)),
        sync: syncs(entry, detail),
        job_runtime: entry.members().iter().map(threads_ns).sum(),
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
        fathom_note: notes(entry, distribution),
        jobs: entry.jobs(),
    }
}

/// The name that the user gave; the label where there is none.
fn name(step: &Step) -> String {
    let job = step.role.job.as_ref().map(|job| &job.name);
    let stream = step.role.stream.as_ref().map(|stream| &stream.name);
    job.or(stream).unwrap_or(&step.label).clone()
}

/// Number of fio's group: what runs at once, where no job file says otherwise.
fn group(step: &Step) -> u32 {
    let at_once = || step.role.stream.as_ref().map_or(step.index, |stream| step.index - stream.index);
    step.role.job.as_ref().map_or_else(at_once, |job| job.group)
}

/// fio prints 0 for what it did not measure; so do we, and say so in the notes.
fn unknown(keys: &[&str]) -> Object<f64> {
    Object(keys.iter().map(|key| ((*key).to_owned(), 0.0)).collect())
}

fn notes(entry: &Entry<'_>, distribution: bool) -> Vec<String> {
    let mut notes = vec![
        "iodepth_level, iodepth_submit, iodepth_complete, majf and minf are not kept by Fathom and printed as 0"
            .to_owned(),
        "percentiles are printed as fio prints them, also where fewer than 100 samples lie beyond".to_owned(),
    ];
    let records = || entry.members().iter().map(|member| member.record);
    if records().all(|record| record.host.is_some()) {
        notes.push("ctx counts the context switches of the whole host".to_owned());
    } else {
        notes.push("usr_cpu, sys_cpu and ctx are not known and printed as 0".to_owned());
    }
    if records().flat_map(|record| &record.directions).any(|d| completion(d).0.histogram().is_none()) {
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
fn cpu_shares(entry: &Entry<'_>) -> (f64, f64) {
    let (mut user_ns, mut system_ns, mut available_ns) = (0_u64, 0_u64, 0_u64);
    for Member { step, record, .. } in entry.members() {
        let Some(host) = &record.host else { return (0.0, 0.0) };
        // Workers of streams are named by stream and number.
        let stream = step.role.stream.as_ref();
        let prefix = stream.map_or("fathom-w".to_owned(), |stream| format!("fathom-w{}.", stream.index));
        for thread in host.threads.iter().filter(|t| !t.kernel && t.name.starts_with(&prefix)) {
            user_ns += thread.user_ns;
            system_ns += thread.system_ns;
            available_ns += host.window_ns;
        }
    }
    if available_ns == 0 {
        return (0.0, 0.0);
    }
    let share = |ns: u64| ns as f64 * 100.0 / available_ns as f64;
    (share(user_ns), share(system_ns))
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

fn syncs(entry: &Entry<'_>, detail: Detail) -> shape::Sync {
    let Some(syncs) = entry.syncs() else { return shape::Sync::default() };
    shape::Sync { total_ios: syncs.ios, lat_ns: latency(&syncs.lat, detail) }
}

fn direction(entry: &Entry<'_>, of: Option<&Direction>, detail: Detail) -> shape::Direction {
    let Some(direction) = of else { return shape::Direction::default() };
    let runtime_ns = entry.runtime_ns();
    let seconds = runtime_ns as f64 / NS_PER_S_F;
    let per_second = |amount: u64| if seconds > 0.0 { amount as f64 / seconds } else { 0.0 };
    let bytes_per_s = per_second(direction.bytes);
    let (completion, note) = completion(direction);
    let op = direction.op;
    let bw = Spread::of_entry(entry, |i| interval_rate(i, op, |d| d.bytes) / 1024.0);
    let iops = Spread::of_entry(entry, |i| interval_rate(i, op, |d| d.ios));
    shape::Direction {
        io_bytes: direction.bytes,
        io_kbytes: direction.bytes >> 10,
        bw_bytes: bytes_per_s as u64,
        bw: (bytes_per_s / 1024.0) as u64,
        iops: per_second(direction.ios),
        runtime: runtime_ns / NS_PER_MS,
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
    /// Over the steps of an entry as fio adds them up: means are sums.
    fn of_entry(entry: &Entry<'_>, rate: impl Fn(&Interval) -> f64) -> Spread {
        let spreads = entry.members().iter().map(|member| Spread::of(member.record.intervals.iter().map(&rate)));
        let sum = |a: Spread, b: Spread| match (a.samples, b.samples) {
            (_, 0) => a,
            (0, _) => b,
            _ => Spread {
                min: a.min.min(b.min),
                max: a.max.max(b.max),
                mean: a.mean + b.mean,
                stddev: a.stddev.hypot(b.stddev),
                samples: a.samples + b.samples,
            },
        };
        spreads.fold(Spread::default(), sum)
    }

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
