//! fio's JSON, 3.0 and newer: `jobs` or `client_stats` become steps.

use fathom_message::{Message, Quantity, Unit, msg};
use fathom_plan::{Op, Plan, Step, StudyHead};
use fathom_record::{Direction, Latency, StepRecord, Warning};
use serde_json::{Map, Value, json};

use crate::Imported;
use crate::error::ImportError;
use crate::latency::{self, count, has_distribution};
use crate::options::Options;
use crate::step::{JobHead, Measured, step};
use crate::text::Found;

const NS_PER_MS: u64 = 1_000_000;
const NS_PER_S: u64 = 1_000_000_000;

/// The name fio gives its sum over clients.
const ALL_CLIENTS: &str = "All clients";

const DIRECTIONS: [(Op, &str); 3] = [(Op::Read, "read"), (Op::Write, "write"), (Op::Trim, "trim")];

/// One entry of `jobs` or `client_stats`.
struct Entry<'a> {
    /// `jobs[0]`.
    place: String,
    object: &'a Map<String, Value>,
    name: &'a str,
    host: Option<&'a str>,
    group: u64,
    options: Options,
}

impl Entry<'_> {
    fn same_job(&self, other: &Entry<'_>) -> bool {
        (self.name, self.host, self.group, &self.options) == (other.name, other.host, other.group, &other.options)
    }

    fn own(&self) -> bool {
        self.object.contains_key("fathom_note")
    }
}

/// Takes in a document of fio's.
///
/// # Errors
/// [`ImportError`] with the place in the file.
pub fn import_fio(found: &Found, file: &str) -> Result<Imported, ImportError> {
    let root = &found.value;
    let version = root.get("fio version").and_then(Value::as_str);
    let entries = entries(root, file)?;
    let ended_ns = ended_unix_ns(root);
    let mut notes = found.notes(file);
    let mut steps = Vec::new();
    let mut at = 0;
    while at < entries.len() {
        let threads = entries[at].options.number("numjobs").unwrap_or(1).max(1);
        let same = entries[at..].iter().take_while(|e| e.same_job(&entries[at])).count();
        // Without group_reporting fio prints each of its numjobs jobs; with it, one entry for all.
        let taken = if same >= threads as usize { threads as usize } else { same };
        let threads = if taken == 1 { threads } else { taken as u32 };
        steps.push(step_of(&entries[at..at + taken], steps.len() as u32, threads, ended_ns, version, file)?);
        at += taken;
    }
    note_concurrent(&entries, &mut notes);
    if ended_ns > 0 && steps.len() > 1 {
        notes.push(msg!("import-fio-start"));
    }
    let elapsed_s = entries.iter().filter_map(|e| e.object.get("elapsed")?.as_u64()).max().unwrap_or(0);
    let source = entries.iter().map(|e| e.options.to_section(e.name)).collect::<Vec<_>>().join("\n");
    let study = StudyHead::new("fio", "");
    let plan = Plan {
        study,
        source,
        steps: steps.iter().map(|(s, _)| s.clone()).collect(),
        notes: notes.clone(),
        job_files: Vec::new(),
        machine: None,
        ranks: None,
    };
    let host_json = json!({
        "imported_from": file,
        "written_by": version,
        "disk_util": root.get("disk_util").cloned().unwrap_or(Value::Null),
    });
    let started_unix_ns = ended_ns.saturating_sub(elapsed_s * NS_PER_S);
    Ok(Imported { plan, steps, started_unix_ns, notes, host_json })
}

fn ended_unix_ns(root: &Value) -> u64 {
    let number = |key: &str| root.get(key).and_then(Value::as_u64);
    let ms = number("timestamp_ms").or_else(|| Some(number("timestamp")? * 1000));
    ms.unwrap_or(0).saturating_mul(NS_PER_MS)
}

fn entries<'a>(root: &'a Value, file: &str) -> Result<Vec<Entry<'a>>, ImportError> {
    let key = if root.get("client_stats").is_some() { "client_stats" } else { "jobs" };
    let list = root.get(key).and_then(Value::as_array);
    let list = list.ok_or_else(|| content(file, key, msg!("import-no-jobs"), msg!("import-no-jobs-help")))?;
    let empty = Map::new();
    let global = match root.get("global options") {
        Some(Value::Array(list)) => list.first().and_then(Value::as_object),
        other => other.and_then(Value::as_object),
    };
    let mut entries = Vec::new();
    for (i, value) in list.iter().enumerate() {
        let place = format!("{key}[{i}]");
        let object = value.as_object().ok_or_else(|| ImportError::Content {
            file: file.to_owned(),
            place: place.clone(),
            what: msg!("import-no-object"),
            help: None,
        })?;
        let name = object.get("jobname").and_then(Value::as_str).unwrap_or("job");
        if name == ALL_CLIENTS {
            continue;
        }
        let own = object.get("job options").and_then(Value::as_object).unwrap_or(&empty);
        entries.push(Entry {
            object,
            name,
            host: object.get("hostname").and_then(Value::as_str).filter(|host| !host.is_empty()),
            group: object.get("groupid").and_then(Value::as_u64).unwrap_or(0),
            options: Options::of(global.unwrap_or(&empty), own),
            place,
        });
    }
    if entries.is_empty() {
        return Err(content(file, key, msg!("import-no-job"), msg!("import-no-job-help")));
    }
    Ok(entries)
}

/// Jobs of one group ran at the same time; each alone does not say what the target gave.
fn note_concurrent(entries: &[Entry<'_>], notes: &mut Vec<Message>) {
    let together = |a: &Entry<'_>, b: &Entry<'_>| a.group == b.group && !a.same_job(b);
    if let Some(pair) = entries.windows(2).find(|pair| together(&pair[0], &pair[1])) {
        let (a, b) = (pair[0].name, pair[1].name);
        notes.push(msg!("import-fio-together", a = a.to_owned(), b = b.to_owned()));
    }
}

fn step_of(
    entries: &[Entry<'_>],
    index: u32,
    threads: u32,
    ended_ns: u64,
    version: Option<&str>,
    file: &str,
) -> Result<(Step, StepRecord), ImportError> {
    let first = &entries[0];
    let mut notes = Vec::new();
    let totals = totals(entries, version, file, &mut notes)?;
    let (ios, bytes) = totals.directions.iter().fold((0, 0), |(i, b), d| (i + d.ios, b + d.bytes));
    let (name, host, own) = (first.name, first.host, first.own());
    let head = JobHead { index, name, host, threads, options: &first.options, own };
    let measured = Measured { runtime_ns: totals.runtime_ns, ios, bytes };
    let step = step(&head, &measured, &mut notes).map_err(|(option, what)| {
        content(file, &format!("{}.job options.{option}", first.place), what, msg!("import-engines"))
    })?;
    cpu_note(entries, &mut notes);
    Ok((step, record(entries, totals, ended_ns, notes)))
}

/// What fio measured of a job, or of several that are one.
struct Totals {
    directions: Vec<Direction>,
    syncs: Option<Direction>,
    runtime_ns: u64,
}

fn totals(
    entries: &[Entry<'_>],
    version: Option<&str>,
    file: &str,
    notes: &mut Vec<Message>,
) -> Result<Totals, ImportError> {
    let mut directions: Vec<Direction> = Vec::new();
    let mut runtime_ns = 0;
    for entry in entries {
        for (op, key) in DIRECTIONS {
            let Some(object) = entry.object.get(key).and_then(Value::as_object) else { continue };
            let place = format!("{}.{key}", entry.place);
            let Some((direction, ran_ns)) = direction(op, object, &place, version, file, notes)? else { continue };
            runtime_ns = runtime_ns.max(ran_ns);
            match directions.iter_mut().find(|d| d.op == op) {
                None => directions.push(direction),
                Some(into) => merge(into, direction, notes),
            }
        }
    }
    let syncs = entries.iter().filter_map(|entry| syncs(entry.object)).reduce(|mut all, more| {
        merge(&mut all, more, notes);
        all
    });
    Ok(Totals { directions, syncs, runtime_ns })
}

/// The records of jobs that ran here, by their names, in the order of `names`. Jobs of one name are one: fio's clones.
///
/// # Errors
/// [`ImportError`]; also when a job is missing.
pub(crate) fn records_by_name(found: &Found, names: &[String], file: &str) -> Result<Vec<StepRecord>, ImportError> {
    let root = &found.value;
    let version = root.get("fio version").and_then(Value::as_str);
    let entries = entries(root, file)?;
    let ended_ns = ended_unix_ns(root);
    let mut by_name: Vec<Vec<Entry<'_>>> = names.iter().map(|_| Vec::new()).collect();
    for entry in entries {
        if let Some(at) = names.iter().position(|name| name == entry.name) {
            by_name[at].push(entry);
        }
    }
    let record_of = |(name, entries): (&String, Vec<Entry<'_>>)| {
        if entries.is_empty() {
            let help = msg!("import-no-job-help");
            return Err(content(file, name, msg!("import-no-job"), help));
        }
        let mut notes = Vec::new();
        let totals = totals(&entries, version, file, &mut notes)?;
        Ok(record(&entries, totals, ended_ns, notes))
    };
    names.iter().zip(by_name).map(record_of).collect()
}

fn record(entries: &[Entry<'_>], totals: Totals, ended_ns: u64, mut notes: Vec<Message>) -> StepRecord {
    notes.dedup();
    let mut warnings: Vec<Warning> = notes.into_iter().map(|text| Warning::Note { text }).collect();
    warnings.extend(entries.iter().filter_map(|e| errors(e.object)));
    let Totals { directions, syncs, runtime_ns } = totals;
    StepRecord {
        started_unix_ns: ended_ns.saturating_sub(runtime_ns),
        runtime_ns,
        directions,
        syncs,
        warnings,
        ..StepRecord::default()
    }
}

/// fio's syncs between the writes. Its own number of them is 0 in some versions; the samples count them.
fn syncs(object: &Map<String, Value>) -> Option<Direction> {
    let lat = object.get("sync")?.get("lat_ns")?.as_object().and_then(latency::parse)?;
    let ios = count(&lat);
    (ios > 0).then_some(Direction {
        op: Op::Sync,
        ios,
        bytes: 0,
        short_ios: 0,
        lat,
        slat: None,
        clat: None,
        service: None,
    })
}

/// Totals of a direction and how long it ran; `None` when nothing completed.
fn direction(
    op: Op,
    object: &Map<String, Value>,
    place: &str,
    version: Option<&str>,
    file: &str,
    notes: &mut Vec<Message>,
) -> Result<Option<(Direction, u64)>, ImportError> {
    if object.contains_key("clat") && !object.contains_key("clat_ns") {
        let version = version.map_or_else(|| msg!("import-fio-unknown"), Message::verbatim);
        return Err(ImportError::OldFio { file: file.to_owned(), version });
    }
    let number = |key: &str| {
        let value = object.get(key).and_then(Value::as_u64);
        value.ok_or_else(|| {
            content(file, &format!("{place}.{key}"), msg!("import-no-number"), msg!("import-no-number-help"))
        })
    };
    let ios = number("total_ios")?;
    if ios == 0 {
        return Ok(None);
    }
    let (bytes, runtime_ms) = (number("io_bytes")?, number("runtime")?);
    let kind = |key: &str| object.get(key).and_then(Value::as_object).filter(|o| !o.contains_key("fathom_note"));
    let (slat, clat) = (kind("slat_ns").and_then(latency::parse), kind("clat_ns").and_then(latency::parse));
    let lat = response(kind("lat_ns").and_then(latency::parse), clat.as_ref(), place, notes);
    if let Latency::Samples(samples) = &lat
        && samples.count() != ios
    {
        notes.push(msg!(
            "import-fio-bins",
            place = place.to_owned(),
            bins = samples.count().to_string(),
            ios = ios.to_string()
        ));
    }
    let short_ios = object.get("short_ios").and_then(Value::as_u64).unwrap_or(0);
    let direction = Direction { op, ios, bytes, short_ios, lat, slat, clat, service: None };
    // fio rounds down: a direction that did something did not do it in no time.
    Ok(Some((direction, runtime_ms.max(1) * NS_PER_MS)))
}

/// lat where its distribution is known, else clat: fio keeps percentiles of lat only when asked.
fn response(lat: Option<Latency>, clat: Option<&Latency>, place: &str, notes: &mut Vec<Message>) -> Latency {
    match (lat, clat) {
        (Some(lat), _) if has_distribution(&lat) => lat,
        (lat, Some(clat)) if has_distribution(clat) || lat.is_none() => {
            notes.push(match lat {
                Some(Latency::Quoted(quoted)) if count(clat) > 0 => {
                    let mean = Quantity::new(quoted.mean_ns, Unit::Ns);
                    msg!("import-fio-clat-mean", place = place.to_owned(), mean = mean)
                }
                _ => msg!("import-fio-clat", place = place.to_owned()),
            });
            clat.clone()
        }
        (Some(lat), _) => lat,
        (None, _) => {
            notes.push(msg!("import-fio-no-latencies", place = place.to_owned()));
            Latency::Quoted(fathom_record::QuotedLatency::default())
        }
    }
}

fn merge(into: &mut Direction, from: Direction, notes: &mut Vec<Message>) {
    let had = has_distribution(&into.lat);
    into.ios += from.ios;
    into.bytes += from.bytes;
    into.short_ios += from.short_ios;
    let pair = |a: Option<Latency>, b: Option<Latency>| match (a, b) {
        (Some(a), Some(b)) => Some(latency::merge(a, &b)),
        _ => None,
    };
    into.slat = pair(into.slat.take(), from.slat);
    into.clat = pair(into.clat.take(), from.clat);
    let lat = std::mem::replace(&mut into.lat, Latency::Quoted(fathom_record::QuotedLatency::default()));
    into.lat = latency::merge(lat, &from.lat);
    if had && !has_distribution(&into.lat) {
        notes.push(msg!("import-fio-no-merge"));
    }
}

/// What fio knows of the CPU: the time of its own jobs.
fn cpu_note(entries: &[Entry<'_>], notes: &mut Vec<Message>) {
    let mean = |key: &str| {
        let values: Option<Vec<f64>> = entries.iter().map(|e| e.object.get(key)?.as_f64()).collect();
        values.map(|v| v.iter().sum::<f64>() / v.len() as f64)
    };
    if let (Some(user), Some(system)) = (mean("usr_cpu"), mean("sys_cpu")) {
        let share = |pct: f64| format!("{pct:.1}");
        notes.push(msg!("import-fio-cpu", user_pct = share(user), system_pct = share(system)));
    }
}

fn errors(object: &Map<String, Value>) -> Option<Warning> {
    let number = |key: &str| object.get(key).and_then(Value::as_u64);
    let errno = number("error").or_else(|| number("first_error")).filter(|errno| *errno != 0);
    let count = number("total_err").unwrap_or(0).max(u64::from(errno.is_some()));
    (count > 0).then(|| Warning::IoErrors { count, errno: errno.and_then(|e| i32::try_from(e).ok()).unwrap_or(0) })
}

fn content(file: &str, place: &str, what: Message, help: Message) -> ImportError {
    ImportError::Content { file: file.to_owned(), place: place.to_owned(), what, help: Some(help) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::find_document;

    /// Two jobs, one after the other: reads of 4 KiB, then reads and writes of 8 KiB.
    const DOCUMENT: &str = r#"{
        "fio version": "fio-3.33", "timestamp": 1700000100, "timestamp_ms": 1700000100500,
        "global options": {"direct": "1", "bs": "4k", "ioengine": "libaio"},
        "jobs": [
            {"jobname": "a", "groupid": 0, "elapsed": 3, "job options": {"rw": "randread", "iodepth": "8"},
             "read": {"total_ios": 1000, "io_bytes": 4096000, "runtime": 2000, "short_ios": 1,
                      "lat_ns": {"min": 10000, "max": 90000, "mean": 20000.0, "stddev": 5000.0, "N": 1000}},
             "write": {"total_ios": 0, "io_bytes": 0, "runtime": 0}, "trim": {"total_ios": 0, "io_bytes": 0, "runtime": 0}},
            {"jobname": "b", "groupid": 1, "elapsed": 7, "job options": {"rw": "randrw", "bs": "8k"},
             "read": {"total_ios": 300, "io_bytes": 2457600, "runtime": 4000,
                      "lat_ns": {"min": 10000, "max": 90000, "mean": 30000.0, "stddev": 5000.0, "N": 300}},
             "write": {"total_ios": 100, "io_bytes": 819200, "runtime": 3900,
                      "lat_ns": {"min": 20000, "max": 80000, "mean": 40000.0, "stddev": 5000.0, "N": 100}},
             "trim": {"total_ios": 0, "io_bytes": 0, "runtime": 0}}
        ]}"#;

    #[test]
    fn a_document_of_two_jobs_keeps_their_figures_and_their_times() {
        let found = find_document(DOCUMENT, "two.json").expect("a document");
        let imported = import_fio(&found, "two.json").expect("two jobs");
        // It ended at the time stamp, and the last job ended 7 s after the start.
        let ended_ns = 1_700_000_100_500_000_000;
        assert_eq!(imported.started_unix_ns, ended_ns - 7 * NS_PER_S);
        let [(first, reads), (second, mixed)] = imported.steps.as_slice() else { panic!("{:?}", imported.steps.len()) };
        assert_eq!((first.workload.block_bytes_max(), first.load.queue_depth), (4096, 8));
        assert_eq!((second.workload.block_bytes_max(), second.load.queue_depth), (8192, 1));
        let of = |record: &StepRecord| -> Vec<(Op, u64, u64, u64)> {
            record.directions.iter().map(|d| (d.op, d.ios, d.bytes, d.short_ios)).collect()
        };
        assert_eq!(of(reads), [(Op::Read, 1000, 4_096_000, 1)]);
        assert_eq!(of(mixed), [(Op::Read, 300, 2_457_600, 0), (Op::Write, 100, 819_200, 0)]);
        // The longer of both directions.
        assert_eq!((reads.runtime_ns, mixed.runtime_ns), (2 * NS_PER_S, 4 * NS_PER_S));
        assert_eq!(mixed.started_unix_ns, ended_ns - 4 * NS_PER_S);
    }
}
