//! fio's JSON, 3.0 and newer: `jobs` or `client_stats` become steps.

mod totals;

use fathom_message::{Message, msg};
use fathom_plan::{Op, OpMix, Plan, Step, StudyHead};
use fathom_record::{StepRecord, Warning};
use serde_json::{Map, Value, json};

use self::totals::Totals;
use crate::Imported;
use crate::error::ImportError;
use crate::options::Options;
use crate::step::{JobHead, Measured, mix_of, step, verify_step};
use crate::text::Found;

const NS_PER_MS: u64 = 1_000_000;
const NS_PER_S: u64 = 1_000_000_000;

/// The name fio gives its sum over clients.
const ALL_CLIENTS: &str = "All clients";

/// One entry of `jobs` or `client_stats`.
struct Entry<'a> {
    /// `jobs[0]`.
    place: String,
    object: &'a Map<String, Value>,
    name: &'a str,
    host: Option<&'a str>,
    group: u64,
    options: Options,
    /// False for an entry without options of its own, as `fio --client` writes some: what it did is not known.
    has_options: bool,
}

impl Entry<'_> {
    fn same_job(&self, other: &Entry<'_>) -> bool {
        (self.name, self.host, self.group, &self.options) == (other.name, other.host, other.group, &other.options)
    }

    /// The least number of I/Os that were in flight for some of the time.
    fn depth_min(&self) -> u32 {
        let levels = self.object.get("iodepth_level").and_then(Value::as_object).into_iter().flatten();
        let used = levels.filter(|(_, pct)| pct.as_f64().is_some_and(|pct| pct > 0.0));
        used.filter_map(|(level, _)| level.trim_start_matches(">=").parse().ok()).max().unwrap_or(1)
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
    if !found.earlier.is_empty() {
        found.is_one_run(file)?;
        notes.push(msg!("import-fio-last-document", count = found.earlier.len() + 1));
    }
    let mut steps = Vec::new();
    let mut timeless = Vec::new();
    let mut at = 0;
    while at < entries.len() {
        let threads = entries[at].options.number("numjobs").unwrap_or(1).max(1);
        let same = entries[at..].iter().take_while(|e| e.same_job(&entries[at])).count();
        // Without group_reporting fio prints each of its numjobs jobs; with it, one entry for all.
        let taken = if same >= threads as usize { threads as usize } else { same };
        let threads = if taken == 1 { threads } else { taken as u32 };
        let job = Job { entries: &entries[at..at + taken], threads, ended_ns, version, file };
        job.add_steps(&mut steps, &mut timeless)?;
        at += taken;
    }
    if let Some((place, ios)) = timeless.first().filter(|_| steps.is_empty()) {
        let what = msg!("import-fio-no-runtime", ios = ios.to_string());
        return Err(content(file, place, what, msg!("import-fio-no-runtime-help")));
    }
    notes.extend(timeless.iter().map(timeless_note));
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
        let own = object.get("job options").and_then(Value::as_object);
        entries.push(Entry {
            object,
            name,
            host: object.get("hostname").and_then(Value::as_str).filter(|host| !host.is_empty()),
            group: object.get("groupid").and_then(Value::as_u64).unwrap_or(0),
            options: Options::of(global.unwrap_or(&empty), own.unwrap_or(&empty)),
            has_options: own.is_some(),
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
    // What clients on different hosts work on need not be the same.
    let together = |a: &Entry<'_>, b: &Entry<'_>| a.group == b.group && a.host == b.host && !a.same_job(b);
    if let Some(pair) = entries.windows(2).find(|pair| together(&pair[0], &pair[1])) {
        let (a, b) = (pair[0].name, pair[1].name);
        notes.push(msg!("import-fio-together", a = a.to_owned(), b = b.to_owned()));
    }
}

/// Entries that are one job, with what the file says of all jobs.
struct Job<'a> {
    entries: &'a [Entry<'a>],
    threads: u32,
    ended_ns: u64,
    version: Option<&'a str>,
    file: &'a str,
}

impl Job<'_> {
    /// Adds the step of the job, and one of the reads that verified its writes. Figures without a run time have no rate
    /// and go to `timeless`; a job that has no others has no step.
    fn add_steps(
        &self,
        steps: &mut Vec<(Step, StepRecord)>,
        timeless: &mut Vec<(String, u64)>,
    ) -> Result<(), ImportError> {
        let first = &self.entries[0];
        let mut notes = Vec::new();
        let asked = mix_of(&first.options);
        let unified_op = match asked {
            Some(OpMix::WRITE) => Op::Write,
            Some(OpMix { trim_pct: 100, .. }) => Op::Trim,
            _ => Op::Read,
        };
        let mut totals = Totals::of(self.entries, unified_op, self.version, self.file, &mut notes)?;
        let is_unified = totals.is_unified && !asked.is_some_and(|mix| mix == OpMix::READ || mix.read_pct == 0);
        timeless.append(&mut totals.timeless);
        let verifies = asked == Some(OpMix::WRITE) && first.options.verifies() && !totals.is_unified;
        let verified = verifies.then(|| totals.take_reads()).flatten();
        let verified_ns = verified.as_ref().map_or(0, Totals::runtime_ns);
        let head = |index: usize| JobHead {
            index: index as u32,
            name: first.name,
            host: first.host,
            threads: self.threads,
            options: &first.options,
            has_options: first.has_options,
            depth_min: first.depth_min(),
            own: first.own(),
        };
        let refused = |(option, what): (&'static str, Message)| {
            content(self.file, &format!("{}.job options.{option}", first.place), what, msg!("import-workloads"))
        };
        if !totals.directions.is_empty() || verified.is_none() && timeless.is_empty() {
            let mut notes = notes.clone();
            let measured = Measured::of(&totals, is_unified);
            let step = step(&head(steps.len()), &measured, &mut notes).map_err(refused)?;
            cpu_note(self.entries, &mut notes);
            steps.push((step, record(self.entries, totals, self.ended_ns.saturating_sub(verified_ns), notes)));
        }
        let Some(verified) = verified else { return Ok(()) };
        if first.options.number("verify_backlog").is_some_and(|writes| writes > 0) {
            // These reads ran between the writes, and fio has no time of theirs.
            let (ios, _) = verified.moved();
            if let Some((_, record)) = steps.last_mut() {
                let text = msg!("import-fio-backlog", place = first.place.clone(), ios = ios.to_string());
                record.warnings.push(Warning::Note { text });
            }
            return Ok(());
        }
        let step = verify_step(&head(steps.len()), &Measured::of(&verified, false), &mut notes).map_err(refused)?;
        notes.push(msg!("import-fio-verify-reads"));
        cpu_note(self.entries, &mut notes);
        steps.push((step, record(self.entries, verified, self.ended_ns, notes)));
        Ok(())
    }
}

fn timeless_note((place, ios): &(String, u64)) -> Message {
    let why = msg!("import-fio-no-runtime", ios = ios.to_string());
    msg!("import-at", place = place.clone(), what = why)
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
        let totals = Totals::of(&entries, Op::Read, version, file, &mut notes)?;
        notes.extend(totals.timeless.iter().map(timeless_note));
        Ok(record(&entries, totals, ended_ns, notes))
    };
    names.iter().zip(by_name).map(record_of).collect()
}

fn record(entries: &[Entry<'_>], totals: Totals, ended_ns: u64, mut notes: Vec<Message>) -> StepRecord {
    notes.dedup();
    let mut warnings: Vec<Warning> = notes.into_iter().map(|text| Warning::Note { text }).collect();
    warnings.extend(entries.iter().filter_map(|e| errors(e.object)));
    let runtime_ns = totals.runtime_ns();
    StepRecord {
        started_unix_ns: ended_ns.saturating_sub(runtime_ns),
        runtime_ns,
        directions: totals.directions.into_iter().map(|(direction, _)| direction).collect(),
        syncs: totals.syncs,
        warnings,
        ..StepRecord::default()
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
