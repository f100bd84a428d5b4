//! `fathom oltp`: order entry on a database of its own.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fathom_host::{HostSampler, OwnFolder, Root, free_bytes, whole_device_of};
use fathom_judge::oltp::{OltpRun, oltp_document};
use fathom_message::Say;
use fathom_oltp::{
    Acknowledged, Database, Drive, DriveProgress, LoadNote, OltpError, Sqlite, broken_conditions, drive, load, now_ms,
    sqlite_bytes, sqlite_version,
};
use fathom_orders::{Home, Scale};
use fathom_record::{BrokenCondition, LoadRecord, OltpRecord};
use fathom_units::{format_bytes, parse_duration_ns, parse_size};

use super::run::stop_on_signals;
use crate::args::OltpArgs;
use crate::exit::{Exit, Problem};
use crate::oltp_answer::answer;
use crate::terminal::{result, talk};

/// What folders of runs are called; after it comes what makes them unique.
const FOLDER_PREFIX: &str = "fathom-oltp-";
const FILE: &str = "orders.db";
/// Time between two lines of progress.
const SHOWN_EVERY: Duration = Duration::from_secs(5);
/// With and without waiting commits, so that what drifts does so for both.
const PROBES: [bool; 4] = [true, false, false, true];

/// What was asked for, read.
struct Asked {
    scale: Scale,
    note: LoadNote,
    ramp: Duration,
    runtime: Duration,
    cache_bytes: u64,
}

/// Loads, runs, checks, and says what was found.
pub(super) fn oltp(options: &OltpArgs) -> Result<Exit, Problem> {
    if let Some(folder) = &options.check {
        return check(folder, options);
    }
    let Some(target) = &options.target else {
        return Err(Problem::usage("no folder is named", "fathom oltp --target DIR"));
    };
    let asked = asked(options)?;
    space(target, options.warehouses)?;
    tell_of_others(target);
    let system = |source| OltpError::System { path: target.display().to_string(), source };
    // Before the load: a name that is taken is said now and not in ten minutes.
    let acknowledged = options.acknowledged.as_ref().map(|path| {
        let made = Acknowledged::create(path);
        made.map_err(|source| problem(&OltpError::System { path: path.display().to_string(), source }))
    });
    let acknowledged = acknowledged.transpose()?;
    let mut folder = OwnFolder::create(target, FOLDER_PREFIX).map_err(|error| problem(&system(error)))?;
    if options.keep {
        folder.keep();
    }
    let stop = stop_on_signals()?;
    let database = Sqlite::create(&folder.path().join(FILE), asked.cache_bytes).map_err(|e| problem(&e))?;
    let Some(loaded) = filled(&database, &asked, &stop)? else {
        talk("stopped during the load: there is nothing to keep");
        return Ok(Exit::Interrupted);
    };
    let after_load = broken_conditions(&database, true).map_err(|e| problem(&e))?;
    let record = measured(&database, &asked, options, acknowledged.as_ref(), &stop)?;
    let probes = if options.no_probes { Vec::new() } else { probed(&database, &asked, options, &stop)? };
    let after_run = broken_conditions(&database, false).map_err(|e| problem(&e))?;
    print(&database, &record, &probes, loaded, after_load, after_run, options)?;
    if options.keep {
        talk(&format!("the database stays in {}", folder.path().display()));
    }
    Ok(if record.is_stopped { Exit::Interrupted } else { Exit::Done })
}

fn print(
    database: &dyn Database,
    record: &OltpRecord,
    probes: &[(bool, f64)],
    loaded: LoadRecord,
    after_load: Vec<BrokenCondition>,
    after_run: Vec<BrokenCondition>,
    options: &OltpArgs,
) -> Result<(), Problem> {
    let document = oltp_document(&OltpRun {
        engine: "sqlite",
        version: sqlite_version(),
        has_one_writer: true,
        settings: database.settings().map_err(|e| problem(&e))?,
        load: Some(loaded),
        record,
        probes,
        broken_after_load: Some(after_load),
        broken_after_run: after_run,
    });
    if options.json {
        let text = serde_json::to_string_pretty(&document)
            .map_err(|e| Problem::new(Exit::Failed, format!("cannot write JSON: {e}"), ""))?;
        result(&(text + "\n"));
    } else {
        result(&answer(&document));
    }
    Ok(())
}

fn asked(options: &OltpArgs) -> Result<Asked, Problem> {
    let time = |flag: &str, text: &str| -> Result<Duration, Problem> {
        Ok(Duration::from_nanos(parse_duration_ns(text).map_err(|e| Problem::of_flag(flag, &e))?))
    };
    let runtime = time("--runtime", &options.runtime)?;
    if runtime < Duration::from_secs(1) {
        return Err(Problem::usage("--runtime: less than a second says nothing", "a minute or more: --runtime 60s"));
    }
    let warehouses =
        NonZeroU32::new(options.warehouses).ok_or_else(|| Problem::usage("0 warehouses", "--warehouses 5"))?;
    Ok(Asked {
        scale: Scale { warehouses },
        note: LoadNote { seed: options.seed, warehouses: options.warehouses, at_ms: now_ms() },
        ramp: time("--ramp", &options.ramp)?,
        runtime,
        cache_bytes: parse_size(&options.cache).map_err(|e| Problem::of_flag("--cache", &e))?,
    })
}

/// Whether there is room, before anything is made.
fn space(target: &Path, warehouses: u32) -> Result<(), Problem> {
    let path = target.display().to_string();
    let free_bytes = free_bytes(target).map_err(|source| problem(&OltpError::System { path: path.clone(), source }))?;
    let needed_bytes = sqlite_bytes(warehouses);
    if needed_bytes > free_bytes {
        return Err(problem(&OltpError::Space { path, needed_bytes, free_bytes }));
    }
    Ok(())
}

/// Databases of earlier runs, killed or kept: theirs who made them, and in the way of nobody but the space.
fn tell_of_others(target: &Path) {
    for folder in OwnFolder::unused_in(target, FOLDER_PREFIX) {
        talk(&format!("left by an earlier run: {}; check it with fathom oltp --check, or remove it", folder.display()));
    }
}

fn filled(database: &dyn Database, asked: &Asked, stop: &AtomicBool) -> Result<Option<LoadRecord>, Problem> {
    let needed = format_bytes(sqlite_bytes(asked.note.warehouses));
    talk(&format!("loading {} warehouses, at most {needed}", asked.note.warehouses));
    let start = Instant::now();
    let mut shown = start;
    let mut on_progress = |progress: fathom_oltp::LoadProgress| {
        if shown.elapsed() >= SHOWN_EVERY {
            shown = Instant::now();
            let left = (progress.rows_in_all as f64 / progress.rows.max(1) as f64 - 1.0).max(0.0);
            let left_s = start.elapsed().as_secs_f64() * left;
            talk(&format!("loaded {} of {} rows, about {left_s:.0} s left", progress.rows, progress.rows_in_all));
        }
    };
    load(database, &asked.note, asked.scale, stop, &mut on_progress).map_err(|e| problem(&e))
}

fn measured(
    database: &dyn Database,
    asked: &Asked,
    options: &OltpArgs,
    acknowledged: Option<&Acknowledged>,
    stop: &AtomicBool,
) -> Result<OltpRecord, Problem> {
    let plan = Drive {
        sessions: options.sessions,
        ramp: asked.ramp,
        runtime: asked.runtime,
        home: if options.uniform { Home::Uniform } else { Home::Fixed },
        seed: options.seed,
        is_durable: true,
        acknowledged,
    };
    let whole_s = (asked.ramp + asked.runtime).as_secs_f64();
    let mut shown = (Instant::now(), 0);
    let mut on_progress = |progress: DriveProgress| {
        let since = shown.0.elapsed();
        if since >= SHOWN_EVERY {
            let tps = (progress.transactions - shown.1) as f64 / since.as_secs_f64();
            let at_s = progress.elapsed.as_secs_f64();
            let part = if progress.elapsed < asked.ramp { "ramp" } else { "measuring" };
            talk(&format!("{part}: {tps:.0} transactions/s, {:.0} s left", (whole_s - at_s).max(0.0)));
            shown = (Instant::now(), progress.transactions);
        }
    };
    one_run(database, asked, options, plan, stop, &mut on_progress)
}

/// Transactions a second with commits that wait for the device and with commits that do not.
fn probed(
    database: &dyn Database,
    asked: &Asked,
    options: &OltpArgs,
    stop: &AtomicBool,
) -> Result<Vec<(bool, f64)>, Problem> {
    let runtime = (asked.runtime / 10).clamp(Duration::from_secs(2), Duration::from_secs(15));
    if !stop.load(Ordering::Relaxed) {
        let whole_s = (runtime.as_secs_f64() + 1.0) * PROBES.len() as f64;
        talk(&format!("in turns, with commits that wait and commits that do not: {whole_s:.0} s"));
    }
    let mut out = Vec::new();
    for (turn, is_durable) in (1..).zip(PROBES) {
        if stop.load(Ordering::Relaxed) {
            // Pairs that are not whole would compare different times.
            return Ok(Vec::new());
        }
        let plan = Drive {
            sessions: options.sessions,
            ramp: Duration::from_secs(1),
            runtime,
            home: if options.uniform { Home::Uniform } else { Home::Fixed },
            seed: options.seed.wrapping_add(turn),
            is_durable,
            acknowledged: None,
        };
        let record = one_run(database, asked, options, plan, stop, &mut |_| {})?;
        out.push((is_durable, record.transactions() as f64 / (record.measured_ns as f64 / 1e9)));
    }
    Ok(out)
}

fn one_run(
    database: &dyn Database,
    asked: &Asked,
    options: &OltpArgs,
    plan: Drive<'_>,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(DriveProgress),
) -> Result<OltpRecord, Problem> {
    let root = Root::live();
    let target = options.target.as_deref().unwrap_or(Path::new("."));
    // None behind tmpfs and the like: then nothing is said of a device.
    let disks = whole_device_of(&root, target).ok().map(|device| device.name).into_iter().collect();
    let mut sampler = HostSampler::new(&root, disks).map_err(|e| Problem::of(Exit::Failed, &e))?;
    let run = drive(database, &asked.note, asked.scale, plan, &mut sampler, stop, on_progress);
    run.map_err(|e| Problem::of(Exit::Failed, &e))
}

/// `--check`: what a killed run left, or a kept one.
fn check(folder: &Path, options: &OltpArgs) -> Result<Exit, Problem> {
    let system = |source| problem(&OltpError::System { path: folder.display().to_string(), source });
    let taken = OwnFolder::take_over(folder).map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidInput => problem(&OltpError::NotOurs { place: folder.display().to_string() }),
        std::io::ErrorKind::WouldBlock => {
            Problem::new(Exit::Refused, format!("{} is in use by a run", folder.display()), "wait for its end")
        }
        _ => system(error),
    })?;
    let cache_bytes = parse_size(&options.cache).map_err(|e| Problem::of_flag("--cache", &e))?;
    let database = Sqlite::open(&taken.path().join(FILE), cache_bytes).map_err(|e| problem(&e))?;
    let broken = broken_conditions(&database, false).map_err(|e| problem(&e))?;
    let orders = options.acknowledged.as_ref().map(|path| Acknowledged::read(path)).transpose().map_err(system)?;
    let missing = orders.as_ref().map(|orders| database.missing(orders)).transpose().map_err(|e| problem(&e))?;
    let mut text = match &broken[..] {
        [] => "Consistent: conditions 1 to 10 and 12 of clause 3.3.2 hold.\n".to_owned(),
        some => some.iter().fold(String::new(), |text, condition| {
            text + &format!("Condition {} does not hold in {} places.\n", condition.number, condition.places)
        }),
    };
    if let (Some(orders), Some(missing)) = (&orders, &missing) {
        text += &format!("Of {} acknowledged orders {} are missing.\n", orders.len(), missing.len());
    }
    result(&text);
    let is_whole = broken.is_empty() && missing.is_none_or(|missing| missing.is_empty());
    Ok(if is_whole { Exit::Done } else { Exit::Failed })
}

fn problem(error: &OltpError) -> Problem {
    let exit = match error {
        OltpError::Space { .. } | OltpError::NotOurs { .. } => Exit::Refused,
        OltpError::Database { .. } | OltpError::System { .. } => Exit::Failed,
    };
    let problem = Problem::of(exit, error);
    if error.help().is_some() { problem } else { Problem { help: Some(HELP.to_owned()), ..problem } }
}

const HELP: &str = "the folder has to be writable, on a file system with room; see docs/OLTP.md";
