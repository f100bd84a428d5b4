//! What SPDK's own programs say of a load: the table that `spdk_nvme_perf` prints, and the JSON with which `bdevperf`
//! answers `perform_tests`. Both keep a number of commands in flight on each drive and core, past the kernel, as engine
//! `nvme` does; so they become steps of that engine, to stand beside ours.

mod run;
mod table;

use fathom_message::{Message, msg};
use fathom_plan::{EngineName, Op, Plan, Step, StudyHead};
use fathom_record::{Direction, Latency, QuotedLatency, StepRecord, Warning};
use serde_json::{Map, Value, json};

use crate::Imported;
use crate::error::ImportError;
use crate::latency;
use crate::options::Options;
use crate::step::{JobHead, Measured, step};
use crate::text::Found;

pub use self::run::{SpdkRun, has_spdk, run_by_spdk};
pub use self::table::is_perf_table;

use self::table::{NS_PER_US, Row, rates_of, rows_of};

const NS_PER_S: f64 = 1e9;
/// Stands once in the head of a table.
const TABLE_HEAD: &str = "Latency(us)";
const BYTES_PER_MIB: f64 = (1 << 20) as f64;
/// What the figures of a table may differ by for their two decimals.
const ROUNDING: f64 = 0.02;

/// The load of all rows of a step.
#[derive(Clone, Debug, PartialEq)]
struct LoadOf {
    workload: String,
    block_bytes: u64,
    queue_depth: u32,
    runtime_s: f64,
}

/// Whether a document is what `bdevperf` answers.
#[must_use]
pub fn is_bdevperf(value: &Value) -> bool {
    let first = value.get("results").and_then(Value::as_array).and_then(|results| results.first());
    first.is_some_and(|job| job.get("queue_depth").is_some() && job.get("iops").is_some())
}

/// Takes in what `spdk_nvme_perf` printed, of one run or of several. A table says nothing of its load: the command has to
/// stand in a line before it.
///
/// # Errors
/// [`ImportError`] with what is missing or does not fit.
pub fn import_perf(text: &str, file: &str) -> Result<Imported, ImportError> {
    let mut sets = Vec::new();
    let mut commands = Vec::new();
    let mut notes = Vec::new();
    for (command, output) in runs_of(text) {
        let mut rows = rows_of(&output);
        let Some(words) = command else {
            if rows.is_empty() {
                continue;
            }
            return Err(content(file, "", msg!("import-spdk-no-command"), msg!("import-spdk-no-command-help")));
        };
        if rows.is_empty() {
            notes.push(msg!("import-spdk-no-table", command = words.join(" ")));
            continue;
        }
        if output.matches(TABLE_HEAD).count() > 1 {
            let what = msg!("import-spdk-two-tables", command = words.join(" "));
            return Err(content(file, "", what, msg!("import-spdk-no-command-help")));
        }
        let load = load_of(&words, file)?;
        for row in rows.iter_mut().filter(|row| row.samples.is_none()) {
            row.latency.count = (row.iops * load.runtime_s).round() as u64;
        }
        let (iops, mib_per_s) = output.lines().filter_map(rates_of).fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d));
        let said = iops * load.block_bytes as f64 / BYTES_PER_MIB;
        if (said - mib_per_s).abs() > ROUNDING * mib_per_s.max(1.0) {
            let what = msg!("import-spdk-other-command", bytes = load.block_bytes);
            return Err(content(file, "-o", what, msg!("import-spdk-no-command-help")));
        }
        sets.push((load, rows));
        commands.push(words.join(" "));
    }
    if sets.is_empty() {
        return Err(content(file, "", msg!("import-spdk-no-command"), msg!("import-spdk-no-command-help")));
    }
    imported("spdk_nvme_perf", &commands.join("\n"), file, &sets, notes)
}

/// The parts of a text that begin with a command, each with its output; what stands before the first command has none.
fn runs_of(text: &str) -> Vec<(Option<Vec<String>>, String)> {
    let mut out: Vec<(Option<Vec<String>>, String)> = vec![(None, String::new())];
    for line in text.lines() {
        match (words_of_command(line), out.last_mut()) {
            (Some(words), _) => out.push((Some(words), String::new())),
            (None, Some((_, output))) => {
                output.push_str(line);
                output.push('\n');
            }
            (None, None) => {}
        }
    }
    out
}

/// Takes in what `bdevperf` answered.
///
/// # Errors
/// [`ImportError`] with the place in the document.
pub fn import_bdevperf(found: &Found, file: &str) -> Result<Imported, ImportError> {
    let results = found.value.get("results").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut sets: Vec<(LoadOf, Vec<Row>)> = Vec::new();
    for (index, job) in results.iter().enumerate() {
        let place = |key: &str| format!("results[{index}].{key}");
        let number = |key: &str| {
            let value = job.get(key).and_then(Value::as_f64);
            value.filter(|value| value.is_finite() && *value >= 0.0).ok_or_else(|| {
                content(file, &place(key), msg!("import-spdk-no-figure"), msg!("import-spdk-no-figure-help"))
            })
        };
        let word = |key: &str| {
            let value = job.get(key).and_then(Value::as_str);
            value.ok_or_else(|| {
                content(file, &place(key), msg!("import-spdk-no-word"), msg!("import-spdk-no-figure-help"))
            })
        };
        let load = LoadOf {
            workload: word("workload")?.to_owned(),
            block_bytes: number("io_size")? as u64,
            queue_depth: number("queue_depth")? as u32,
            runtime_s: number("runtime")?,
        };
        let iops = number("iops")?;
        let latency = QuotedLatency {
            count: (iops * load.runtime_s).round() as u64,
            mean_ns: number("avg_latency_us")? * NS_PER_US,
            min_ns: (number("min_latency_us")? * NS_PER_US) as u64,
            max_ns: (number("max_latency_us")? * NS_PER_US) as u64,
            ..QuotedLatency::default()
        };
        let failed = (number("io_failed")? + number("io_timeout")?) as u64;
        let row = Row { device: word("job")?.to_owned(), iops, latency, samples: None, failed };
        let is_same = |(other, _): &&mut (LoadOf, Vec<Row>)| {
            (&other.workload, other.block_bytes, other.queue_depth)
                == (&load.workload, load.block_bytes, load.queue_depth)
        };
        match sets.iter_mut().find(is_same) {
            Some((_, rows)) => rows.push(row),
            None => sets.push((load, vec![row])),
        }
    }
    let mut notes = found.notes(file);
    if let [(first, _), (second, _), ..] = &sets[..] {
        // Its jobs run at the same time.
        let name = |load: &LoadOf| format!("{} {} QD{}", load.workload, load.block_bytes, load.queue_depth);
        notes.push(msg!("import-fio-together", a = name(first), b = name(second)));
    }
    imported("bdevperf", "", file, &sets, notes)
}

fn imported(
    program: &str,
    command: &str,
    file: &str,
    sets: &[(LoadOf, Vec<Row>)],
    mut notes: Vec<Message>,
) -> Result<Imported, ImportError> {
    if sets.iter().all(|(_, rows)| rows.iter().all(|row| row.latency.count == 0)) {
        return Err(content(file, "", msg!("import-spdk-nothing"), msg!("import-spdk-no-figure-help")));
    }
    notes.push(msg!("import-spdk-engine", program = program.to_owned(), engine = EngineName::Nvme.as_str()));
    let mut steps = Vec::new();
    for (load, rows) in sets {
        steps.push(step_of(program, load, rows, steps.len() as u32, file)?);
    }
    let plan = Plan {
        study: StudyHead::new("spdk", ""),
        source: command.to_owned(),
        steps: steps.iter().map(|(step, _)| step.clone()).collect(),
        notes: notes.clone(),
        job_files: Vec::new(),
        machine: None,
        ranks: None,
    };
    let host_json = json!({ "imported_from": file, "written_by": program });
    Ok(Imported { plan, steps, started_unix_ns: 0, notes, host_json })
}

fn step_of(
    program: &str,
    load: &LoadOf,
    rows: &[Row],
    index: u32,
    file: &str,
) -> Result<(Step, StepRecord), ImportError> {
    let op = match load.workload.strip_prefix("rand").unwrap_or(&load.workload) {
        "read" => Op::Read,
        "write" => Op::Write,
        other => {
            let what = msg!("import-spdk-mixed", word = other.to_owned());
            return Err(content(file, "workload", what, msg!("import-spdk-mixed-help")));
        }
    };
    let mut devices: Vec<&str> = Vec::new();
    for row in rows {
        if !devices.contains(&row.device.as_str()) {
            devices.push(&row.device);
        }
    }
    // A core has so many in flight on each drive that it drives.
    let threads = rows.len() as u32;
    let words: Map<String, Value> = [
        ("rw", load.workload.clone()),
        ("bs", load.block_bytes.to_string()),
        ("iodepth", load.queue_depth.to_string()),
        ("ioengine", EngineName::Nvme.as_str().to_owned()),
        ("direct", "1".to_owned()),
        ("filename", devices.iter().map(|device| device.replace(':', "\\:")).collect::<Vec<_>>().join(":")),
    ]
    .into_iter()
    .map(|(key, value)| (key.to_owned(), Value::String(value)))
    .collect();
    let options = Options::of(&Map::new(), &words);
    let ios: u64 = rows.iter().map(|row| row.latency.count).sum();
    let bytes = ios * load.block_bytes;
    let runtime_ns = (load.runtime_s * NS_PER_S) as u64;
    let mut notes = Vec::new();
    let head = JobHead {
        index,
        name: program,
        host: None,
        threads,
        options: &options,
        has_options: true,
        depth_min: 1,
        own: false,
    };
    let measured = Measured { runtime_ns, ios, bytes, by_op: vec![(op, ios)], is_unified: false };
    let made = step(&head, &measured, &mut notes);
    let step = made.map_err(|(option, what)| content(file, option, what, msg!("import-workloads")))?;
    let lat = latency_of(rows);
    let failed: u64 = rows.iter().map(|row| row.failed).sum();
    let mut warnings: Vec<Warning> = notes.into_iter().map(|text| Warning::Note { text }).collect();
    warnings.extend((failed > 0).then_some(Warning::IoErrors { count: failed, errno: 0 }));
    let direction = Direction { op, ios, bytes, short_ios: 0, lat, slat: None, clat: None, service: None };
    Ok((step, StepRecord { runtime_ns, directions: vec![direction], warnings, ..StepRecord::default() }))
}

/// The latencies of all rows.
fn latency_of(rows: &[Row]) -> Latency {
    let lat = rows.iter().map(Row::latency).reduce(|all, more| latency::merge(all, &more));
    lat.unwrap_or_else(|| Latency::Quoted(QuotedLatency::default()))
}

/// The words of a line with the command: `$ sudo spdk_nvme_perf -q 32 -r 'trtype:PCIe traddr:0000:04:00.0'`. SPDK called the
/// program `perf` before 23.05, as the `perf` of Linux is called: of that name only what has SPDK's options is a command.
fn words_of_command(line: &str) -> Option<Vec<String>> {
    // DPDK repeats the name of the program before options of its own.
    if line.contains("EAL") {
        return None;
    }
    let words = shell_words(line);
    let has_load = |at: usize| words[at..].iter().any(|w| w.starts_with("-q") || w.starts_with("--io-depth"));
    let at = words.iter().enumerate().rposition(|(at, word)| match word.rsplit('/').next() {
        Some("spdk_nvme_perf") => words.len() > at + 1,
        Some("perf") => has_load(at),
        _ => false,
    })?;
    Some(words[at..].to_vec())
}

/// Words as a shell parts them, quotes taken off.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for c in line.chars() {
        match quote {
            Some(end) if c == end => quote = None,
            None if c == '\'' || c == '"' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

fn load_of(words: &[String], file: &str) -> Result<LoadOf, ImportError> {
    let value = |short: char, long: &str| {
        let mut words = words.iter().skip(1);
        let mut found = None;
        while let Some(word) = words.next() {
            if word.strip_prefix("--") == Some(long) || word.strip_prefix('-') == Some(short.encode_utf8(&mut [0; 4])) {
                found = words.next().cloned();
            } else if let Some(joined) =
                word.strip_prefix("--").and_then(|word| word.strip_prefix(long)?.strip_prefix('='))
            {
                found = Some(joined.to_owned());
            } else if let Some(joined) = word.strip_prefix('-').and_then(|word| word.strip_prefix(short)) {
                found = Some(joined.to_owned());
            }
        }
        let help = || msg!("import-spdk-no-command-help");
        found.ok_or_else(|| {
            content(file, &format!("-{short}"), msg!("import-spdk-no-option", word = long.to_owned()), help())
        })
    };
    let number = |short: char, long: &str| {
        let text = value(short, long)?;
        let number = text.parse::<u32>().ok().filter(|number| *number > 0);
        number.ok_or_else(|| {
            content(
                file,
                &format!("-{short} {text}"),
                msg!("import-spdk-no-figure"),
                msg!("import-spdk-no-command-help"),
            )
        })
    };
    // Up to 18.x the size of an I/O was `-s`, which is a size of memory since.
    let size = number('o', "io-size");
    let size =
        if value('o', "io-size").is_err() && value('s', "io-size").is_ok() { number('s', "io-size") } else { size };
    Ok(LoadOf {
        workload: value('w', "io-pattern")?,
        block_bytes: size?.into(),
        queue_depth: number('q', "io-depth")?,
        runtime_s: number('t', "time")?.into(),
    })
}

fn content(file: &str, place: &str, what: Message, help: Message) -> ImportError {
    ImportError::Content { file: file.to_owned(), place: place.to_owned(), what, help: Some(help) }
}

#[cfg(test)]
mod tests;
