//! `fathom oltp`: order entry on a database of its own.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fathom_host::{DATABASE_FOLDER_PREFIX, HostSampler, OwnFolder, Root, free_bytes, whole_device_of};
use fathom_judge::oltp::{CalibrationPointView, CalibrationView, OltpRun, oltp_document};
use fathom_lab::{CalibrateError, CalibrationPoint, calibrate, note_work_folder};
use fathom_message::Say;
use fathom_oltp::{
    Acknowledged, Database, Drive, DriveProgress, LoadNote, OltpError, Postgres, PostgresServer, Sqlite,
    broken_conditions, drive, is_postgres_folder, load, now_ms, postgres_bytes, sqlite_bytes, sqlite_version,
};
use fathom_orders::{Home, Scale};
use fathom_record::{LoadRecord, OltpRecord};
use fathom_units::{format_bytes, parse_duration_ns, parse_size};

use fathom_report::oltp_page;
use fathom_store::Lab;

use super::lab_path;
use super::output::Output;
use crate::args::{Args, OltpArgs};
use crate::exit::{Exit, Problem};
use crate::oltp_answer::{answer, lines};
use crate::system::signals::stop_on_signals;
use crate::terminal::{result, say, talk, warning_word};

/// What folders of runs are called; after it comes what makes them unique.
const FILE: &str = "orders.db";
/// Page cache where none is asked for.
const SQLITE_CACHE: &str = "16m";
const POSTGRES_CACHE: &str = "128m";
/// Time between two lines of progress.
const SHOWN_EVERY: Duration = Duration::from_secs(5);
/// Sessions that may be asked for, and that a search tries.
const SESSIONS_MAX: u32 = 4_096;
const SESSIONS_TRIED_MAX: u32 = 256;
/// Ramp before each number of sessions that a search measures: a fifth of the measured time. And the gain that makes one
/// number better than another.
const SEARCH_RAMP_SHARE: u32 = 5;
const SEARCH_GAIN: f64 = 1.03;
/// Shares of the closed loop's rate that an open loop asks for.
const SHARES: [f64; 3] = [0.5, 0.8, 0.95];
/// Depths of the calibration, seconds at each, and how many files of a server are read.
const CALIBRATION_DEPTHS: [u32; 4] = [1, 4, 16, 64];
const CALIBRATION_S: u32 = 2;
const CALIBRATION_FILES: usize = 16;
/// With and without waiting commits, so that what drifts does so for both.
const PROBES: [bool; 4] = [true, false, false, true];

/// What was asked for, read.
struct Asked<'a> {
    options: &'a OltpArgs,
    scale: Scale,
    note: LoadNote,
    ramp: Duration,
    runtime: Duration,
    /// Measured time for each number of sessions, where they are searched for.
    search: Duration,
    cache_bytes: u64,
    /// At once; where they are searched for, the most that are tried.
    sessions: u32,
    searches: bool,
}

/// The database of a run, with what has to live as long as it does.
enum Held {
    Sqlite(Sqlite),
    Managed { database: Postgres, server: PostgresServer },
    Given(Postgres),
}

impl Held {
    fn database(&self) -> &dyn Database {
        match self {
            Held::Sqlite(database) => database,
            Held::Managed { database, .. } | Held::Given(database) => database,
        }
    }

    fn engine(&self) -> &'static str {
        match self {
            Held::Sqlite(_) => "sqlite",
            Held::Managed { .. } | Held::Given(_) => "postgresql",
        }
    }

    fn version(&self) -> Result<String, Problem> {
        match self {
            Held::Sqlite(_) => Ok(sqlite_version().to_owned()),
            Held::Managed { database, .. } | Held::Given(database) => database.version().map_err(|e| problem(&e)),
        }
    }

    /// Files with the data, as far as they are on this machine and ours; the largest where there are many.
    fn files(&self) -> Vec<PathBuf> {
        match self {
            Held::Sqlite(database) => vec![database.path().to_owned()],
            Held::Managed { server, .. } => server.largest_files(CALIBRATION_FILES),
            Held::Given(_) => Vec::new(),
        }
    }

    /// What the database reads at once.
    fn page_bytes(&self) -> u64 {
        match self {
            Held::Sqlite(_) => 4_096,
            Held::Managed { .. } | Held::Given(_) => 8_192,
        }
    }

    /// Whose reads are the database's.
    fn reader_pid(&self) -> Option<u32> {
        match self {
            Held::Sqlite(_) => Some(std::process::id()),
            Held::Managed { server, .. } => Some(server.pid()),
            Held::Given(_) => None,
        }
    }
}

/// Loads, runs, checks, and says what was found.
pub(super) fn oltp(args: &Args, options: &OltpArgs) -> Result<Exit, Problem> {
    if let Some(folder) = &options.check {
        return check(folder, options);
    }
    let asked = asked(options)?;
    let output = options.output.as_deref().map(|path| Output { path, force: options.force });
    output.as_ref().map_or(Ok(()), |output| output.check())?;
    // Before the load: a name that is taken is said now and not in ten minutes.
    let acknowledged = options.acknowledged.as_ref().map(|path| {
        let made = Acknowledged::create(path);
        made.map_err(|source| problem(&OltpError::System { path: path.display().to_string(), source }))
    });
    let acknowledged = acknowledged.transpose()?;
    let mut folder = match (&options.target, &options.postgres) {
        (Some(target), None) => Some(own_folder(args, target, &asked)?),
        _ => None,
    };
    if let (Some(folder), true) = (&mut folder, options.keep) {
        // From here on, so that it stays after a failure too.
        folder.keep();
        talk(&format!("the database stays in {}", folder.path().display()));
    }
    let stop = stop_on_signals()?;
    let held = open(&asked, folder.as_ref())?;
    let ended = run(&held, &asked, acknowledged.as_ref(), output, &stop);
    let dropped = match &held {
        Held::Given(database) if !options.keep => database.drop_tables().map_err(|e| problem(&e)),
        _ => Ok(()),
    };
    // Why the run failed says more than why its tables could not be dropped after it.
    let exit = ended?;
    dropped?;
    Ok(exit)
}

fn own_folder(args: &Args, target: &Path, asked: &Asked<'_>) -> Result<OwnFolder, Problem> {
    space(target, needed_bytes(asked))?;
    tell_of_others(target);
    // Noted before and after: another process forgets folders in which it finds nothing.
    let mut lab = Lab::open(&lab_path(args)?)?;
    note_work_folder(&mut lab, target)?;
    let made = OwnFolder::create(target, DATABASE_FOLDER_PREFIX);
    note_work_folder(&mut lab, target)?;
    made.map_err(|source| problem(&OltpError::System { path: target.display().to_string(), source }))
}

fn open(asked: &Asked<'_>, folder: Option<&OwnFolder>) -> Result<Held, Problem> {
    let opened = match (&asked.options.postgres, folder) {
        (Some(url), _) => Postgres::connect(url).map(Held::Given),
        (None, Some(folder)) if asked.options.managed_postgres => {
            talk("starting a PostgreSQL server of this run's own");
            // Twice: an open loop has sessions to spare.
            PostgresServer::start(folder.path(), asked.cache_bytes, asked.sessions.saturating_mul(2))
                .and_then(|server| Ok(Held::Managed { database: server.database()?, server }))
        }
        (None, Some(folder)) => Sqlite::create(&folder.path().join(FILE), asked.cache_bytes).map(Held::Sqlite),
        (None, None) => return Err(Problem::usage("no folder is named", "fathom oltp --target DIR")),
    };
    opened.map_err(|e| problem(&e))
}

fn run(
    held: &Held,
    asked: &Asked<'_>,
    acknowledged: Option<&Acknowledged>,
    output: Option<Output<'_>>,
    stop: &AtomicBool,
) -> Result<Exit, Problem> {
    let database = held.database();
    let Some(loaded) = filled(database, asked, stop)? else {
        talk("stopped during the load: there is nothing to tell");
        return Ok(Exit::Interrupted);
    };
    talk("checking the conditions of consistency");
    let broken_after_load = broken_conditions(database, true).map_err(|e| problem(&e))?;
    let calibration = if asked.options.no_calibration { None } else { calibrated(held, stop) };
    let search = if asked.searches { searched(held, asked, stop)? } else { Vec::new() };
    let most = search.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(sessions, _)| *sessions);
    let asked = &Asked { sessions: most.unwrap_or(asked.sessions), ..*asked };
    let record = measured(held, asked, acknowledged, stop)?;
    let probes = if asked.options.no_probes { Vec::new() } else { probed(held, asked, stop)? };
    let open_loop = if asked.options.open_loop { at_shares(held, asked, &record, stop)? } else { Vec::new() };
    talk("checking the conditions of consistency");
    let broken_after_run = broken_conditions(database, false).map_err(|e| problem(&e))?;
    let document = oltp_document(&OltpRun {
        engine: held.engine(),
        version: &held.version()?,
        has_one_writer: matches!(held, Held::Sqlite(_)),
        settings: database.settings().map_err(|e| problem(&e))?,
        page_bytes: held.page_bytes(),
        load: Some(loaded),
        record: &record,
        probes: &probes,
        calibration,
        search: &search,
        open_loop: &open_loop,
        broken_after_load: Some(broken_after_load),
        broken_after_run,
    });
    if asked.options.json {
        let text = serde_json::to_string_pretty(&document)
            .map_err(|e| Problem::new(Exit::Failed, format!("cannot write JSON: {e}"), ""))?;
        result(&(text + "\n"));
    } else {
        result(&answer(&document));
    }
    if let Some(output) = output {
        let page = oltp_page(&document, &lines(&document));
        output.write(|out| out.write_all(page.as_bytes()))?;
    }
    Ok(if record.is_stopped { Exit::Interrupted } else { Exit::Done })
}

fn asked(options: &OltpArgs) -> Result<Asked<'_>, Problem> {
    let time = |flag: &str, text: &str| -> Result<Duration, Problem> {
        Ok(Duration::from_nanos(parse_duration_ns(text).map_err(|e| Problem::of_flag(flag, &e))?))
    };
    let runtime = time("--runtime", &options.runtime)?;
    if runtime < Duration::from_secs(1) {
        return Err(Problem::usage("--runtime: less than a second says nothing", "a minute or more: --runtime 60s"));
    }
    let search = time("--search", &options.search)?;
    if search < Duration::from_millis(500) {
        return Err(Problem::usage("--search: less than half a second is too short", "for example --search 5s"));
    }
    let warehouses =
        NonZeroU32::new(options.warehouses).ok_or_else(|| Problem::usage("0 warehouses", "--warehouses 5"))?;
    let uses_postgres = options.managed_postgres || options.postgres.is_some();
    let cpus = std::thread::available_parallelism().map_or(1, |cpus| u32::try_from(cpus.get()).unwrap_or(1));
    let (sessions, searches) = match options.sessions.as_deref() {
        None => (if uses_postgres { 2 * cpus } else { 1 }, false),
        Some("auto") => (SESSIONS_TRIED_MAX, true),
        Some(text) => {
            let number = text.parse().ok().filter(|number| (1..=SESSIONS_MAX).contains(number));
            let help = format!("give 1 to {SESSIONS_MAX}, or auto");
            (
                number.ok_or_else(|| Problem::usage(format!("--sessions: `{text}` is no number of sessions"), help))?,
                false,
            )
        }
    };
    Ok(Asked {
        options,
        sessions,
        searches,
        scale: Scale { warehouses },
        note: LoadNote { seed: options.seed, warehouses: options.warehouses, at_ms: now_ms() },
        ramp: time("--ramp", &options.ramp)?,
        runtime,
        search,
        cache_bytes: cache_bytes(options, uses_postgres)?,
    })
}

fn cache_bytes(options: &OltpArgs, uses_postgres: bool) -> Result<u64, Problem> {
    let default = if uses_postgres { POSTGRES_CACHE } else { SQLITE_CACHE };
    parse_size(options.cache.as_deref().unwrap_or(default)).map_err(|e| Problem::of_flag("--cache", &e))
}

fn needed_bytes(asked: &Asked<'_>) -> u64 {
    let uses_postgres = asked.options.managed_postgres || asked.options.postgres.is_some();
    let bytes_of = if uses_postgres { postgres_bytes } else { sqlite_bytes };
    bytes_of(asked.note.warehouses)
}

/// Whether there is room, before anything is made.
fn space(target: &Path, needed_bytes: u64) -> Result<(), Problem> {
    let path = target.display().to_string();
    let free_bytes = free_bytes(target).map_err(|source| problem(&OltpError::System { path: path.clone(), source }))?;
    if needed_bytes > free_bytes {
        return Err(problem(&OltpError::Space { path, needed_bytes, free_bytes }));
    }
    Ok(())
}

/// Databases of earlier runs, killed or kept: theirs who made them, and in the way of nobody but the space.
fn tell_of_others(target: &Path) {
    for folder in OwnFolder::unused_in(target, DATABASE_FOLDER_PREFIX) {
        talk(&format!("left by an earlier run: {}; check it with fathom oltp --check, or remove it", folder.display()));
    }
}

fn filled(database: &dyn Database, asked: &Asked<'_>, stop: &AtomicBool) -> Result<Option<LoadRecord>, Problem> {
    let needed = format_bytes(needed_bytes(asked));
    talk(&format!("loading {} warehouses, at most {needed}", asked.note.warehouses));
    let start = Instant::now();
    let mut shown = start;
    let mut on_progress = |progress: fathom_oltp::LoadProgress| {
        if progress.is_indexing {
            talk(&format!("loaded {} rows; building indexes", progress.rows));
        } else if shown.elapsed() >= SHOWN_EVERY {
            shown = Instant::now();
            let left = (progress.rows_in_all as f64 / progress.rows.max(1) as f64 - 1.0).max(0.0);
            let left_s = start.elapsed().as_secs_f64() * left;
            talk(&format!("loaded {} of {} rows, about {left_s:.0} s left", progress.rows, progress.rows_in_all));
        }
    };
    load(database, &asked.note, asked.scale, stop, &mut on_progress).map_err(|e| problem(&e))
}

fn measured(
    held: &Held,
    asked: &Asked<'_>,
    acknowledged: Option<&Acknowledged>,
    stop: &AtomicBool,
) -> Result<OltpRecord, Problem> {
    let plan = Drive { acknowledged, ..plan_of(held, asked) };
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
    one_run(held, asked, plan, stop, &mut on_progress)
}

fn plan_of(held: &Held, asked: &Asked<'_>) -> Drive<'static> {
    Drive {
        sessions: asked.sessions,
        ramp: asked.ramp,
        runtime: asked.runtime,
        home: if asked.options.uniform { Home::Uniform } else { Home::Fixed },
        seed: asked.options.seed,
        rate_per_s: None,
        is_durable: true,
        reader_pid: held.reader_pid(),
        acknowledged: None,
    }
}

/// What the drive gives to plain reads of the database's files. Where it cannot be had the run goes on without.
fn calibrated(held: &Held, stop: &AtomicBool) -> Option<CalibrationView> {
    let files = held.files();
    if files.is_empty() {
        return None;
    }
    talk(&format!("reading the database's files at random: {} s", CALIBRATION_S * CALIBRATION_DEPTHS.len() as u32));
    let block_bytes = held.page_bytes();
    match calibrate(&files, block_bytes, &CALIBRATION_DEPTHS, CALIBRATION_S, stop) {
        Ok(points) => {
            let view = |point: CalibrationPoint| CalibrationPointView {
                in_flight: point.in_flight,
                iops: point.iops,
                mean_ns: point.mean_ns,
            };
            Some(CalibrationView { block_bytes, points: points.into_iter().map(view).collect() })
        }
        Err(error) => {
            let why = match error {
                CalibrateError::Refused(error) => say(&error.message()),
                CalibrateError::Knob(error) => say(&error.message()),
                CalibrateError::Step(failure) => say(&failure.parts().1),
            };
            talk(&format!("{}: no calibration: {why}", warning_word()));
            None
        }
    }
}

/// Numbers of sessions and the transactions a second that each gave, until more gain hardly anything twice.
fn searched(held: &Held, asked: &Asked<'_>, stop: &AtomicBool) -> Result<Vec<(u32, f64)>, Problem> {
    talk("looking for the number of sessions that gives the most");
    let mut out: Vec<(u32, f64)> = Vec::new();
    let (mut sessions, mut flat) = (1, 0);
    while sessions <= asked.sessions && flat < 2 && !stop.load(Ordering::Relaxed) {
        let (ramp, runtime) = (asked.search / SEARCH_RAMP_SHARE, asked.search);
        let plan = Drive { sessions, ramp, runtime, ..plan_of(held, asked) };
        let tps = rate_of(&one_run(held, asked, plan, stop, &mut |_| {})?);
        let best = out.iter().map(|(_, tps)| *tps).fold(0.0, f64::max);
        flat = if tps < best * SEARCH_GAIN { flat + 1 } else { 0 };
        talk(&format!("{sessions} sessions: {tps:.0} transactions/s"));
        out.push((sessions, tps));
        sessions *= 2;
    }
    Ok(out)
}

/// Runs at shares of the rate that the closed loop gave: share, rate asked for, what it yielded.
fn at_shares(
    held: &Held,
    asked: &Asked<'_>,
    closed: &OltpRecord,
    stop: &AtomicBool,
) -> Result<Vec<(f64, f64, OltpRecord)>, Problem> {
    let mut out = Vec::new();
    let runtime = (asked.runtime / 4).max(Duration::from_secs(2));
    for (turn, share) in (100..).zip(SHARES) {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let rate = rate_of(closed) * share;
        talk(&format!("at {:.0} % of the rate: {} s", share * 100.0, runtime.as_secs()));
        let seed = asked.options.seed.wrapping_add(turn);
        // Sessions to spare: who is due does not wait for a session, as far as the database allows.
        let sessions = asked.sessions.saturating_mul(2).max(4);
        let ramp = Duration::from_secs(1);
        let plan = Drive { ramp, runtime, seed, sessions, rate_per_s: Some(rate), ..plan_of(held, asked) };
        out.push((share, rate, one_run(held, asked, plan, stop, &mut |_| {})?));
    }
    Ok(out)
}

fn rate_of(record: &OltpRecord) -> f64 {
    record.transactions() as f64 / (record.measured_ns as f64 / 1e9)
}

/// Transactions a second with commits that wait for the device and with commits that do not.
fn probed(held: &Held, asked: &Asked<'_>, stop: &AtomicBool) -> Result<Vec<(bool, f64)>, Problem> {
    let (ramp, runtime) =
        (Duration::from_secs(1), (asked.runtime / 10).clamp(Duration::from_secs(2), Duration::from_secs(15)));
    if !stop.load(Ordering::Relaxed) {
        let whole_s = (ramp + runtime).as_secs_f64() * PROBES.len() as f64;
        talk(&format!("in turns, with commits that wait and commits that do not: {whole_s:.0} s"));
    }
    let mut out = Vec::new();
    for (turn, is_durable) in (1..).zip(PROBES) {
        if stop.load(Ordering::Relaxed) {
            // Pairs that are not whole would compare different times.
            return Ok(Vec::new());
        }
        let seed = asked.options.seed.wrapping_add(turn);
        let plan = Drive { ramp, runtime, seed, is_durable, ..plan_of(held, asked) };
        let record = one_run(held, asked, plan, stop, &mut |_| {})?;
        out.push((is_durable, rate_of(&record)));
    }
    Ok(out)
}

fn one_run(
    held: &Held,
    asked: &Asked<'_>,
    plan: Drive<'_>,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(DriveProgress),
) -> Result<OltpRecord, Problem> {
    let root = Root::live();
    // None behind tmpfs and the like, and of a server that is somewhere: then nothing is said of a device.
    let device = asked.options.target.as_deref().and_then(|target| whole_device_of(&root, target).ok());
    let disks = device.map(|device| device.name).into_iter().collect();
    let mut sampler = HostSampler::new(&root, disks).map_err(|e| Problem::of(Exit::Failed, &e))?;
    let run = drive(held.database(), &asked.note, asked.scale, plan, &mut sampler, stop, on_progress);
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
    let is_postgres = is_postgres_folder(taken.path());
    let cache_bytes = cache_bytes(options, is_postgres)?;
    let held = if is_postgres {
        talk("starting the PostgreSQL server that was left: it recovers first");
        PostgresServer::start(taken.path(), cache_bytes, 1)
            .and_then(|server| Ok(Held::Managed { database: server.database()?, server }))
    } else {
        Sqlite::open(&taken.path().join(FILE), cache_bytes).map(Held::Sqlite)
    };
    let held = held.map_err(|e| problem(&e))?;
    let database = held.database();
    database.load_note().map_err(|e| problem(&e))?;
    let broken = broken_conditions(database, false).map_err(|e| problem(&e))?;
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
        OltpError::Space { .. } | OltpError::NotOurs { .. } | OltpError::TableExists { .. } => Exit::Refused,
        _ => Exit::Failed,
    };
    let problem = Problem::of(exit, error);
    if error.help().is_some() { problem } else { Problem { help: Some(HELP.to_owned()), ..problem } }
}

const HELP: &str = "the folder has to be writable, on a file system with room; see docs/OLTP.md";
