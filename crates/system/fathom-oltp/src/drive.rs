//! Sessions at work: ramp, measured window, end.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fathom_host::{HostSampler, ProbeError, Root, fetched_bytes};
use fathom_message::{Message, Say, say_error};
use fathom_orders::{Audit, Constants, Home, Input, Inputs, Scale, Seed};
use fathom_random::Rng;
use fathom_record::{OltpKind, OltpRecord, OltpSecond, ServerCounters, SessionTime};
use fathom_units::parse_cpu_list;

use crate::acknowledged::Acknowledged;
use crate::clock::ThreadClock;
use crate::database::{Database, Done, LoadNote, OltpError, Outcome, Parts, Seen, Session, Watch};

/// How the sessions work.
#[derive(Clone, Copy, Debug)]
pub struct Drive<'a> {
    /// Sessions at once, each a thread with a connection.
    pub sessions: u32,
    /// Before the measured window.
    pub ramp: Duration,
    /// The measured window.
    pub runtime: Duration,
    /// Where the sessions work.
    pub home: Home,
    /// Seed of the inputs.
    pub seed: u64,
    /// Transactions a second that are asked for, all sessions together, at random times (Poisson); `None`: each session has
    /// its next one at once. A response counts from when it was due.
    pub rate_per_s: Option<f64>,
    /// Commits wait for the device. Without, the run only tells what the wait costs.
    pub is_durable: bool,
    /// Process that reads the data, with its children: of a server on this machine, or this one with a database in it. `None`:
    /// somewhere else.
    pub reader_pid: Option<u32>,
    /// Where acknowledged orders are recorded, if asked for.
    pub acknowledged: Option<&'a Acknowledged>,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriveProgress {
    /// Since the sessions began.
    pub elapsed: Duration,
    /// Transactions so far, ramp included.
    pub transactions: u64,
}

/// Why a run yielded nothing.
#[derive(Debug)]
pub enum DriveError {
    /// The database.
    Database(OltpError),
    /// The host's counters.
    Probe(ProbeError),
}

impl Say for DriveError {
    fn message(&self) -> Message {
        match self {
            DriveError::Database(error) => error.message(),
            DriveError::Probe(error) => error.message(),
        }
    }

    fn help(&self) -> Option<Message> {
        match self {
            DriveError::Database(error) => error.help(),
            DriveError::Probe(error) => error.help(),
        }
    }
}

say_error!(DriveError);

impl From<OltpError> for DriveError {
    fn from(error: OltpError) -> Self {
        DriveError::Database(error)
    }
}

impl From<ProbeError> for DriveError {
    fn from(error: ProbeError) -> Self {
        DriveError::Probe(error)
    }
}

/// How long the conductor sleeps between two looks.
const LOOK: Duration = Duration::from_millis(20);
/// How often the server is asked what its sessions do.
const WATCH: Duration = Duration::from_millis(100);
/// One point of the series.
const SECOND: Duration = Duration::from_secs(1);

/// Where the run is, for the sessions.
const RAMP: u8 = 0;
const MEASURE: u8 = 1;
const END: u8 = 2;

/// What sessions and conductor share.
struct Shared<'a> {
    drive: Drive<'a>,
    phase: AtomicU8,
    transactions: AtomicU64,
    start: Instant,
    /// Begin of the measured window since `start`, ns; meaningful from [`MEASURE`] on.
    window_ns: AtomicU64,
}

/// What one session did in the window.
#[derive(Default)]
struct Tally {
    kinds: [OltpKind; 5],
    seconds: Vec<OltpSecond>,
    time: SessionTime,
    /// CPU time of commits, which is the log's.
    commit_cpu_ns: u64,
    audit: Audit,
}

/// Runs the sessions on a loaded database. Ends early when `stop` is set, with what was measured until then.
///
/// # Errors
/// [`DriveError`]: the database is lost or refuses, or the host's counters cannot be read.
pub fn drive(
    database: &dyn Database,
    note: &LoadNote,
    scale: Scale,
    drive: Drive<'_>,
    sampler: &mut HostSampler,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(DriveProgress),
) -> Result<OltpRecord, DriveError> {
    // Before any of them begins: what takes long here is not part of the ramp.
    let sessions: Vec<Box<dyn Session>> =
        (0..drive.sessions).map(|_| database.session(drive.is_durable)).collect::<Result<_, _>>()?;
    let mut watch = database.watch()?;
    let mut seen = Watched::default();
    let constants = Constants::of_run(Seed(note.seed).constants(), &mut Rng::new(drive.seed, u64::MAX));
    sampler.prepare();
    if let Some(pid) = drive.reader_pid.filter(|pid| *pid != std::process::id()) {
        sampler.follow(pid);
    }
    let shared = Shared {
        drive,
        phase: AtomicU8::new(RAMP),
        transactions: AtomicU64::new(0),
        start: Instant::now(),
        window_ns: AtomicU64::new(0),
    };
    let (failures, failed) = mpsc::channel();
    let (tallies, conducted) = thread::scope(|scope| {
        let workers: Vec<_> = sessions
            .into_iter()
            .zip(0..)
            .map(|(session, number)| {
                let inputs = Inputs::new(drive.seed, number, scale, constants, drive.home);
                let (shared, failures) = (&shared, failures.clone());
                let named = thread::Builder::new().name(format!("fathom-oltp{number}"));
                named.spawn_scoped(scope, move || {
                    let (tally, end) = work(shared, number, session, inputs);
                    if let Err(error) = end {
                        // The conductor has its answer from the first; nobody misses the others.
                        let _gone = failures.send(error);
                    }
                    tally
                })
            })
            .collect();
        let conducted = if workers.iter().all(Result::is_ok) {
            conduct(&shared, sampler, (watch.as_deref_mut(), &mut seen), stop, &failed, on_progress)
        } else {
            let source = std::io::Error::from(std::io::ErrorKind::WouldBlock);
            Err(OltpError::System { path: "clone(2)".to_owned(), source }.into())
        };
        shared.phase.store(END, Ordering::Release);
        let tallies: Vec<Tally> = workers
            .into_iter()
            .flatten()
            .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect();
        (tallies, conducted)
    });
    let (measured, is_stopped) = conducted?;
    if let Ok(error) = failed.try_recv() {
        return Err(error.into());
    }
    let measured_ns = ns(measured);
    let host = sampler.finish(measured_ns)?;
    let mut whole = Tally::default();
    tallies.iter().for_each(|tally| whole.merge(tally));
    if seen.seen.looks > 0 {
        whole.time = seen_time(&seen.seen, whole.time.all_ns, drive.sessions);
    }
    // The last second is rarely whole.
    whole.seconds.resize((measured_ns / ns(SECOND)) as usize, OltpSecond::default());
    Ok(OltpRecord {
        sessions: drive.sessions,
        warehouses: note.warehouses,
        seed: drive.seed,
        home: drive.home,
        ramp_ns: ns(drive.ramp),
        measured_ns,
        kinds: whole.kinds,
        seconds: whole.seconds,
        time: whole.time,
        fetched_bytes: seen.fetched_bytes,
        server: seen.counters,
        audit: whole.audit,
        allowed_cpus: allowed_cpus(),
        host,
        database_bytes: database.bytes()?,
        is_stopped,
    })
}

/// What server and kernel told of the database over the window.
#[derive(Default)]
struct Watched {
    seen: Seen,
    fetched_bytes: Option<u64>,
    counters: Option<ServerCounters>,
}

/// The sessions' time as the server was seen to spend it.
fn seen_time(seen: &Seen, all_ns: u64, sessions: u32) -> SessionTime {
    let share = |count: u64| (count as f64 / (seen.looks * u64::from(sessions)).max(1) as f64 * all_ns as f64) as u64;
    SessionTime {
        all_ns,
        on_cpu_ns: share(seen.on_cpu),
        // The server does not tell a session that is ready from one that runs.
        for_cpu_ns: 0,
        for_turn_ns: share(seen.locks),
        for_log_ns: share(seen.log),
        for_data_ns: share(seen.data),
        off_cpu_ns: share(seen.locks + seen.log + seen.data),
    }
}

/// Lets the ramp and the window pass. Returns the length of the window and whether it was ended early.
fn conduct(
    shared: &Shared<'_>,
    sampler: &mut HostSampler,
    (mut watch, watched): (Option<&mut (dyn Watch + 'static)>, &mut Watched),
    stop: &AtomicBool,
    failed: &mpsc::Receiver<OltpError>,
    on_progress: &mut dyn FnMut(DriveProgress),
) -> Result<(Duration, bool), DriveError> {
    let mut looked = shared.start;
    let mut wait_until = |end: Instant, mut watch: Option<&mut (dyn Watch + 'static)>| -> Result<bool, DriveError> {
        while Instant::now() < end {
            if let Some(watch) = watch.as_deref_mut().filter(|_| looked.elapsed() >= WATCH) {
                looked = Instant::now();
                watch.look(&mut watched.seen)?;
            }
            if stop.load(Ordering::Relaxed) {
                return Ok(true);
            }
            if let Ok(error) = failed.try_recv() {
                return Err(error.into());
            }
            let transactions = shared.transactions.load(Ordering::Relaxed);
            on_progress(DriveProgress { elapsed: shared.start.elapsed(), transactions });
            thread::sleep(LOOK.min(end.saturating_duration_since(Instant::now())));
        }
        Ok(false)
    };
    let mut is_stopped = wait_until(shared.start + shared.drive.ramp, None)?;
    let first = watch.as_deref_mut().map(Watch::counters).transpose()?;
    let fetched = || fetched_bytes(&Root::live(), shared.drive.reader_pid?);
    let fetched_first = fetched();
    sampler.begin_prepared()?;
    let begin = Instant::now();
    shared.window_ns.store(ns(begin.duration_since(shared.start)), Ordering::Relaxed);
    shared.phase.store(MEASURE, Ordering::Release);
    let end = begin + shared.drive.runtime;
    let mut mark = begin;
    while !is_stopped && mark < end {
        mark = (mark + SECOND).min(end);
        is_stopped = wait_until(mark, watch.as_deref_mut())?;
        sampler.interval()?;
    }
    // Before sessions end: a server's process goes with its session, and its account with it.
    let fetched_last = fetched();
    shared.phase.store(END, Ordering::Release);
    let measured = begin.elapsed();
    watched.fetched_bytes = fetched_last.zip(fetched_first).map(|(last, first)| last.saturating_sub(first));
    let last = watch.map(Watch::counters).transpose()?;
    watched.counters = last.zip(first).map(|(last, first)| last.since(&first));
    Ok((measured, is_stopped))
}

/// One session until the end.
fn work(
    shared: &Shared<'_>,
    number: u32,
    mut session: Box<dyn Session>,
    mut inputs: Inputs,
) -> (Tally, Result<(), OltpError>) {
    let mut tally = Tally::default();
    let mut window: Option<ThreadClock> = None;
    let mut arrivals = shared.drive.rate_per_s.map(|rate| Arrivals::new(shared, rate, number));
    let end = loop {
        let phase = shared.phase.load(Ordering::Acquire);
        if phase == END {
            break Ok(());
        }
        if phase == MEASURE && window.is_none() {
            window = Some(ThreadClock::start());
        }
        let input = inputs.draw();
        let start = match &mut arrivals {
            None => Instant::now(),
            Some(arrivals) => match arrivals.wait(shared) {
                Some(due) => due,
                // It ended before the next one was due.
                None => break Ok(()),
            },
        };
        tally.audit.add(&input);
        let done = match session.transact(&input, now_ms()) {
            Ok(done) => done,
            Err(error) => break Err(error),
        };
        let ended = Instant::now();
        if let (Outcome::Order(key), Some(acknowledged)) = (done.outcome, shared.drive.acknowledged)
            && let Err(source) = acknowledged.note(key)
        {
            break Err(OltpError::System { path: "--acknowledged".to_owned(), source });
        }
        shared.transactions.fetch_add(1, Ordering::Relaxed);
        // One that began before the window and ends within it counts; its time does not, as the window's is what is shared out.
        if shared.phase.load(Ordering::Acquire) == MEASURE {
            let window_ns = shared.window_ns.load(Ordering::Relaxed);
            let at_ns = ns(ended.duration_since(shared.start)).saturating_sub(window_ns);
            tally.add(&input, &done, ns(ended.duration_since(start)), (at_ns / ns(SECOND)) as usize);
            if phase == MEASURE {
                tally.add_time(done.parts);
            }
        }
    };
    if let Some(mut clock) = window {
        let whole = clock.lap();
        tally.time.all_ns = whole.wall_ns;
        tally.time.on_cpu_ns = whole.cpu_ns.saturating_sub(tally.commit_cpu_ns);
    }
    (tally, end)
}

/// When the next transaction of a session is due.
struct Arrivals {
    rng: Rng,
    mean_gap_s: f64,
    due: Instant,
}

impl Arrivals {
    /// Of one session of those that make `rate_per_s` together.
    fn new(shared: &Shared<'_>, rate_per_s: f64, number: u32) -> Arrivals {
        let mean_gap_s = f64::from(shared.drive.sessions) / rate_per_s;
        // A stream of its own, apart from those of the inputs.
        let rng = Rng::new(shared.drive.seed, u64::from(number) | 1 << 32);
        Arrivals { rng, mean_gap_s, due: shared.start }
    }

    /// Waits until it is due, and returns when that was; `None` at the end. Who is late does not wait, and is not forgiven.
    fn wait(&mut self, shared: &Shared<'_>) -> Option<Instant> {
        // Uniform in (0, 1]; the logarithm of it makes gaps of a Poisson process.
        let uniform = (self.rng.below(1 << 53) + 1) as f64 / (1_u64 << 53) as f64;
        self.due += Duration::from_secs_f64(-uniform.ln() * self.mean_gap_s);
        loop {
            let left = self.due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Some(self.due);
            }
            if shared.phase.load(Ordering::Acquire) == END {
                return None;
            }
            thread::sleep(left.min(LOOK));
        }
    }
}

impl Tally {
    fn add(&mut self, input: &Input, done: &Done, latency_ns: u64, second: usize) {
        let kind = &mut self.kinds[input.kind() as usize];
        kind.done += 1;
        kind.retries += u64::from(done.retries);
        kind.latency.record(latency_ns);
        if done.parts.commit.wall_ns > 0 {
            kind.commit.record(done.parts.commit.wall_ns);
        }
        if self.seconds.len() <= second {
            self.seconds.resize(second + 1, OltpSecond::default());
        }
        self.seconds[second].transactions += 1;
        match done.outcome {
            Outcome::Order(_) => self.seconds[second].new_orders += 1,
            Outcome::RolledBack => kind.rolled_back += 1,
            Outcome::Delivered { skipped } => kind.skipped_districts += u64::from(skipped),
            Outcome::Committed => {}
        }
    }

    fn add_time(&mut self, Parts { turn, body, commit }: Parts) {
        // Who waits for a turn is woken to have it: until it runs, nobody writes, so that this too is the turn's.
        self.time.for_turn_ns += turn.waited_ns() + turn.queued_ns;
        self.time.for_data_ns += body.waited_ns();
        self.time.for_log_ns += commit.wall_ns;
        self.time.for_cpu_ns += body.queued_ns;
        self.time.off_cpu_ns += body.waited_ns() + commit.waited_ns();
        self.commit_cpu_ns += commit.cpu_ns;
    }

    fn merge(&mut self, other: &Tally) {
        for (sum, one) in self.kinds.iter_mut().zip(&other.kinds) {
            sum.done += one.done;
            sum.rolled_back += one.rolled_back;
            sum.retries += one.retries;
            sum.skipped_districts += one.skipped_districts;
            sum.latency.merge(&one.latency);
            sum.commit.merge(&one.commit);
        }
        if self.seconds.len() < other.seconds.len() {
            self.seconds.resize(other.seconds.len(), OltpSecond::default());
        }
        for (sum, one) in self.seconds.iter_mut().zip(&other.seconds) {
            sum.new_orders += one.new_orders;
            sum.transactions += one.transactions;
        }
        self.audit.merge(&other.audit);
        let (sum, one) = (&mut self.time, &other.time);
        sum.all_ns += one.all_ns;
        sum.on_cpu_ns += one.on_cpu_ns;
        sum.for_cpu_ns += one.for_cpu_ns;
        sum.for_turn_ns += one.for_turn_ns;
        sum.for_log_ns += one.for_log_ns;
        sum.for_data_ns += one.for_data_ns;
        sum.off_cpu_ns += one.off_cpu_ns;
    }
}

/// CPUs that this process may use; empty where the kernel does not tell.
fn allowed_cpus() -> Vec<u32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list.and_then(|list| parse_cpu_list(list.trim()).ok()).unwrap_or_default()
}

/// Milliseconds since 1970, for what rows say.
#[must_use]
pub fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
