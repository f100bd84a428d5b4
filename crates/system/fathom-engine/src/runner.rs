//! Runs a step on this host: checks it, starts the workers, watches the window, and hands over the record.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use fathom_plan::{Placement, Step};
use fathom_record::{FeatureUse, Progress, RunControl, Runner, StepFailure, StepRecord, VerifyReport};

use crate::assemble::{Pieces, assemble};
use crate::backend::refused;
use crate::check;
use crate::clock::{Clock, ClockPair, unix_ns};
use crate::collect::Intervals;
use crate::hot::Limits;
use crate::member::{self, Member};
use crate::overhead;
use crate::probe::HostProbe;
use crate::shared::{Message, Shared, Stage, Window, WorkerSummary};
use crate::tally::{Tally, ops_of};
use crate::target::Target;
use crate::worker::{Lines, WorkerPlan, work};

/// How often the collector looks at the stop flag at least.
const TICK: Duration = Duration::from_millis(20);
/// Between two calls of `on_progress`.
const PROGRESS_NS: u64 = 250_000_000;
/// After a stop, workers whose I/O does not come back are left behind after this time.
const ABANDON_AFTER_STOP_NS: u64 = 700_000_000;
/// After a regular end, a device may take so long for what is in flight.
const ABANDON_AFTER_END_NS: u64 = 60_000_000_000;
/// A look at the precision that passed must pass again this much later.
const LOOK_FACTOR: f64 = 1.5;

/// What a [`HostRunner`] is made with.
#[derive(Default)]
pub struct HostRunnerOptions {
    /// CPUs for the placements that need this host's topology (`Cores`, `Smt`, `Local`, `Remote`), thread i on the
    /// i-th, round robin.
    pub cpus: Vec<u32>,
    /// Samples the host's counters.
    pub probe: Option<Box<dyn HostProbe>>,
}

/// The runner of this host: files, block devices, and the pseudo target `null`.
pub struct HostRunner {
    options: HostRunnerOptions,
}

impl HostRunner {
    /// A runner; the clock is calibrated at the first one (about 10 ms).
    #[must_use]
    pub fn new(options: HostRunnerOptions) -> Self {
        Clock::get();
        HostRunner { options }
    }

    /// CPUs for the next steps whose placement needs the host's topology.
    pub fn set_cpus(&mut self, cpus: Vec<u32>) {
        self.options.cpus = cpus;
    }

    /// Sampler for the next steps.
    pub fn set_probe(&mut self, probe: Option<Box<dyn HostProbe>>) {
        self.options.probe = probe;
    }

    fn cpus_for(&self, step: &Step) -> Result<Vec<u32>, StepFailure> {
        match &step.placement {
            Placement::Unpinned => Ok(Vec::new()),
            Placement::Cpus(cpus) => Ok(cpus.clone()),
            _ if self.options.cpus.is_empty() => Err(refused(
                format!("placement {:?}", step.placement),
                "no CPUs were resolved for it on this host",
                "name the CPUs with `--cpus`, or run unpinned",
            )),
            _ => Ok(self.options.cpus.clone()),
        }
    }
}

impl Runner for HostRunner {
    fn run(&mut self, step: &Step, control: &mut RunControl<'_>) -> Result<StepRecord, StepFailure> {
        let clock = Clock::get();
        let begun_ns = clock.now();
        let begun_pair = clock.pair();
        let notes = check::check(step)?;
        let cpus = self.cpus_for(step)?;
        let crew = Crew::start(step, &cpus)?;
        let mut watch = Watch::new(crew, step, clock);
        let features = watch.wait_until_ready(control)?;
        let run = watch.run(step, control, self.options.probe.as_deref_mut());
        let loop_ns_per_io = overhead::loop_ns_per_io(step);
        let pieces = run.into_pieces(step, begun_ns, begun_pair, features, loop_ns_per_io, notes);
        assemble(step, &clock, pieces)
    }
}

/// The worker threads of a step and the lines to them.
struct Crew {
    shared: Arc<Shared>,
    plans: Vec<Arc<WorkerPlan>>,
    handles: Vec<JoinHandle<()>>,
    spare_to: Vec<Sender<Box<Tally>>>,
    inbox: Receiver<Message>,
    interval_ns: u64,
}

impl Crew {
    fn start(step: &Step, cpus: &[u32]) -> Result<Self, StepFailure> {
        let interval_ns = interval_ns(step.length.budget_ns);
        let plans = plan_workers(step, cpus, interval_ns)?;
        let shared = Arc::new(Shared::new());
        let (outbox, inbox) = channel();
        let mut crew =
            Crew { shared, plans: Vec::new(), handles: Vec::new(), spare_to: Vec::new(), inbox, interval_ns };
        for plan in plans {
            let (spare_to, spare_tallies) = channel();
            let lines = Lines { shared: crew.shared.clone(), to_collector: outbox.clone(), spare_tallies };
            let plan = Arc::new(plan);
            let theirs = plan.clone();
            let thread = std::thread::Builder::new().name(format!("fathom-w{}", plan.index));
            match thread.spawn(move || work(&theirs, lines)) {
                Ok(handle) => crew.handles.push(handle),
                Err(source) => {
                    crew.shared.set_stage(Stage::Abandon);
                    let help = "raise the limit of processes (`ulimit -u`), or use fewer threads".to_owned();
                    return Err(StepFailure::Failed { what: format!("starting thread {}", plan.index), source, help });
                }
            }
            crew.plans.push(plan);
            crew.spare_to.push(spare_to);
        }
        Ok(crew)
    }
}

/// Intervals of 100 ms up to a minute and of 1 s beyond; shorter ones for very short windows, so that there is a
/// spread to look at, and at most 1,200, because each keeps a histogram.
fn interval_ns(budget_ns: u64) -> u64 {
    const SECOND: u64 = 1_000_000_000;
    if budget_ns < SECOND {
        (budget_ns / 10).max(1_000_000)
    } else if budget_ns <= 60 * SECOND {
        SECOND / 10
    } else {
        SECOND * budget_ns.div_ceil(1_200 * SECOND).max(1)
    }
}

fn plan_workers(step: &Step, cpus: &[u32], interval_ns: u64) -> Result<Vec<WorkerPlan>, StepFailure> {
    let shared_step = Arc::new(step.clone());
    let threads = step.load.threads;
    let workers = threads * step.targets.len() as u32;
    let limits = limits_of(step);
    let mut plans = Vec::with_capacity(workers as usize);
    for target in &step.targets {
        let target = Arc::new(Target::examine(&target.path, step)?);
        for thread in 0..threads {
            let index = plans.len() as u32;
            let span = if check::needs_own_part(step) {
                target.span.part(u64::from(thread), u64::from(threads))
            } else {
                target.span
            };
            if span.count == 0 {
                return Err(refused(
                    format!("{threads} threads on {}", target.path),
                    format!("its region has only {} blocks, and each thread needs one of its own", target.span.count),
                    "use fewer threads, a larger size or a smaller block size",
                ));
            }
            plans.push(WorkerPlan {
                index,
                workers,
                target: target.clone(),
                step: shared_step.clone(),
                span,
                cpus: cpus.get(index as usize % cpus.len().max(1)).copied().into_iter().collect(),
                limits,
                intervals_max: (step.length.budget_ns / interval_ns) as usize + 1,
            });
        }
    }
    Ok(plans)
}

fn limits_of(step: &Step) -> Limits {
    let synchronous = step.engine.name.is_synchronous();
    let queue_depth = if synchronous { 1 } else { step.load.queue_depth };
    Limits {
        queue_depth,
        batch_submit: step.load.batch_submit.unwrap_or(check::BATCH_DEFAULT).clamp(1, queue_depth),
        adaptive: step.load.batch_submit.is_none(),
        batch_complete_min: step.load.batch_complete_min.unwrap_or(1).clamp(1, queue_depth),
    }
}

/// The collector's side of a running step.
struct Watch {
    crew: Crew,
    clock: Clock,
    intervals: Intervals,
    summaries: Vec<Option<Box<WorkerSummary>>>,
    failure: Option<StepFailure>,
    verify: Option<VerifyReport>,
    verified: usize,
    /// Share of each target so far, in the order of the step.
    members: Vec<Member>,
}

/// What the window left.
struct Finished {
    watch: Watch,
    window: Window,
    end_ns: u64,
    started_unix_ns: u64,
    host: Option<fathom_record::HostDelta>,
}

impl Watch {
    fn new(crew: Crew, step: &Step, clock: Clock) -> Self {
        let workers = crew.plans.len();
        let intervals = Intervals::new(crew.interval_ns, ops_of(step.workload.mix), workers);
        let summaries = (0..workers).map(|_| None).collect();
        let members = step.targets.iter().map(|_| Member::default()).collect();
        Watch { crew, clock, intervals, summaries, failure: None, verify: None, verified: 0, members }
    }

    /// Waits for the workers to set themselves up; features of the first stand for all.
    fn wait_until_ready(&mut self, control: &RunControl<'_>) -> Result<Vec<FeatureUse>, StepFailure> {
        let mut first = None;
        let mut ready = 0;
        while ready < self.crew.plans.len() {
            match self.crew.inbox.recv_timeout(TICK) {
                Ok(Message::Ready { features }) => {
                    ready += 1;
                    first.get_or_insert(features);
                }
                Ok(Message::Refused(failure)) => {
                    self.crew.shared.set_stage(Stage::Abandon);
                    return Err(failure);
                }
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(died("a worker thread ended before it was ready"));
                }
            }
            if control.stopped() {
                self.crew.shared.set_stopped();
                self.crew.shared.end_by(0);
            }
        }
        Ok(first.unwrap_or_default())
    }

    fn run(
        mut self,
        step: &Step,
        control: &mut RunControl<'_>,
        mut probe: Option<&mut (dyn HostProbe + '_)>,
    ) -> Finished {
        let ramp_ns = if step.length.passes.is_some() { 0 } else { step.length.ramp_ns };
        if ramp_ns == 0
            && let Some(probe) = &mut probe
        {
            probe.begin();
        }
        let start_ns = self.clock.now() + ramp_ns;
        let window = Window { start_ns, interval_ns: self.crew.interval_ns };
        let started_unix_ns = unix_ns() + ramp_ns;
        self.crew.shared.end_by(start_ns.saturating_add(step.length.budget_ns));
        self.crew.shared.set_stage(Stage::Run(window));
        if ramp_ns > 0 {
            self.watch_until(start_ns, step, window, control, None);
            if let Some(probe) = &mut probe {
                probe.begin();
            }
        }
        self.watch_until(u64::MAX, step, window, control, probe.as_deref_mut());
        let end_ns = self.end_ns(window);
        let host = probe.and_then(|probe| probe.finish(end_ns.saturating_sub(start_ns)));
        self.wait_for_stragglers(control);
        self.crew.shared.set_stage(Stage::Release);
        self.wait_for_verification(step, control);
        Finished { watch: self, window, end_ns, started_unix_ns, host }
    }

    /// Collects until `until_ns`, the deadline, or until all workers are done.
    fn watch_until(
        &mut self,
        until_ns: u64,
        step: &Step,
        window: Window,
        control: &mut RunControl<'_>,
        mut probe: Option<&mut (dyn HostProbe + '_)>,
    ) {
        let mut next_progress_ns = self.clock.now();
        let mut next_interval_ns = window.start_ns + window.interval_ns;
        let mut looks = Looks::new(step, window);
        loop {
            let now = self.clock.now();
            let end = self.crew.shared.deadline_ns().min(until_ns);
            if now >= end || self.all_drained() {
                return;
            }
            if control.stopped() {
                self.crew.shared.set_stopped();
                // A little ahead, so that no worker has yet counted anything later.
                self.crew.shared.end_by(now + 1_000_000);
            }
            if now >= next_interval_ns {
                next_interval_ns += window.interval_ns * ((now - next_interval_ns) / window.interval_ns + 1);
                if let Some(probe) = &mut probe {
                    probe.interval();
                }
            }
            if now >= next_progress_ns {
                next_progress_ns = now + PROGRESS_NS;
                (control.on_progress)(&self.progress(now, step, window));
            }
            if looks.is_due(now) && looks.passes(control, self.intervals.complete(), step) {
                let whole = (now - window.start_ns) / window.interval_ns + 1;
                self.crew.shared.end_by(window.start_ns + whole * window.interval_ns);
            }
            let wait_ns = end.min(next_interval_ns).saturating_sub(now);
            self.receive(Duration::from_nanos(wait_ns).min(TICK));
        }
    }

    fn receive(&mut self, patience: Duration) {
        match self.crew.inbox.recv_timeout(patience) {
            Ok(message) => self.take(message),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                // All workers are gone. Those that left no summary panicked.
                self.failure.get_or_insert_with(|| died("a worker thread died"));
            }
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Ready { .. } => {}
            Message::Refused(failure) => {
                self.crew.shared.end_by(0);
                self.failure.get_or_insert(failure);
            }
            Message::Interval { worker, tally } => {
                self.intervals.add(worker, &tally);
                let of_target = self.crew.plans.len() / self.members.len().max(1);
                self.members[worker as usize / of_target.max(1)].add(&tally);
                // The worker may be gone already; then the tally is simply dropped.
                let _ = self.crew.spare_to[worker as usize].send(tally);
            }
            Message::Drained { worker, summary } => {
                self.intervals.finish_worker(worker);
                self.summaries[worker as usize] = Some(summary);
            }
            Message::Verified(report) => {
                self.verified += 1;
                crate::verify::merge(self.verify.get_or_insert_default(), &report);
            }
        }
    }

    fn all_drained(&self) -> bool {
        self.failure.is_some() || self.summaries.iter().all(Option::is_some)
    }

    /// End of the window: the deadline, or when the last worker finished its passes.
    fn end_ns(&self, window: Window) -> u64 {
        let deadline = self.crew.shared.deadline_ns();
        let all_done = self.summaries.iter().all(|s| s.as_ref().is_some_and(|s| s.passes_done));
        let end = if all_done {
            self.summaries.iter().flatten().map(|s| s.finished_ns).max().unwrap_or(deadline).min(deadline)
        } else {
            deadline
        };
        end.max(window.start_ns + 1)
    }

    fn wait_for_stragglers(&mut self, control: &mut RunControl<'_>) {
        let begun = self.clock.now();
        while !self.all_drained() {
            if control.stopped() {
                self.crew.shared.set_stopped();
            }
            let patience = if self.crew.shared.is_stopped() { ABANDON_AFTER_STOP_NS } else { ABANDON_AFTER_END_NS };
            if self.clock.now().saturating_sub(begun) > patience {
                return;
            }
            self.receive(TICK);
        }
    }

    fn wait_for_verification(&mut self, step: &Step, control: &mut RunControl<'_>) {
        if step.workload.verify.is_none() {
            return;
        }
        while self.failure.is_none() && self.verified < self.crew.plans.len() && self.all_drained() {
            if control.stopped() {
                self.crew.shared.set_stopped();
            }
            (control.on_progress)(&Progress {
                elapsed_ns: step.length.budget_ns,
                remaining_ns: 0,
                iops: 0.0,
                bytes_per_s: 0.0,
                bytes_done: 0,
                p99_ns: None,
                activity: Some("reading back what was written".to_owned()),
            });
            self.receive(Duration::from_millis(200));
        }
    }

    fn progress(&self, now: u64, step: &Step, window: Window) -> Progress {
        let elapsed_ns = now.saturating_sub(window.start_ns);
        let last = self.intervals.complete().last();
        let seconds = window.interval_ns as f64 / 1e9;
        let sum = |of: fn(&fathom_record::DirectionInterval) -> u64| {
            last.map_or(0, |interval| interval.directions.iter().map(of).sum::<u64>()) as f64 / seconds
        };
        let p99_ns = last.and_then(|interval| {
            let mut merged = fathom_hist::Histogram::new();
            interval.directions.iter().for_each(|d| merged.merge(&d.lat));
            if merged.count() >= 100 { merged.quantile(0.99) } else { None }
        });
        let ramping = now < window.start_ns;
        Progress {
            elapsed_ns,
            remaining_ns: (window.start_ns + step.length.budget_ns).saturating_sub(now),
            iops: sum(|d| d.ios),
            bytes_per_s: sum(|d| d.bytes),
            bytes_done: self.members.iter().map(|m| m.bytes).sum(),
            p99_ns,
            activity: ramping.then(|| "warming up".to_owned()),
        }
    }
}

/// Looks at the precision at geometrically spaced times only: looking all the time would stop at lucky moments.
struct Looks {
    next_ns: f64,
    start_ns: u64,
    passed: u32,
    floor_reached_is_end: bool,
}

impl Looks {
    fn new(step: &Step, window: Window) -> Self {
        let length = step.length;
        Looks {
            next_ns: length.floor_ns as f64,
            start_ns: window.start_ns,
            passed: 0,
            floor_reached_is_end: length.floor_ns >= length.budget_ns || length.passes.is_some(),
        }
    }

    fn is_due(&self, now: u64) -> bool {
        !self.floor_reached_is_end && now.saturating_sub(self.start_ns) as f64 >= self.next_ns.max(1.0)
    }

    /// Whether this look and the one before passed.
    fn passes(&mut self, control: &RunControl<'_>, intervals: &[fathom_record::Interval], step: &Step) -> bool {
        self.next_ns = self.next_ns.max(1.0) * LOOK_FACTOR;
        self.passed = if (control.precise_enough)(intervals, step) { self.passed + 1 } else { 0 };
        self.passed >= 2
    }
}

impl Finished {
    fn into_pieces(
        self,
        step: &Step,
        begun_ns: u64,
        begun_pair: ClockPair,
        features: Vec<FeatureUse>,
        loop_ns_per_io: f64,
        notes: Vec<String>,
    ) -> Pieces {
        let Watch { crew, intervals, summaries, failure, verify, members, .. } = self.watch;
        let abandoned = summaries.iter().filter(|s| s.is_none()).count();
        if abandoned == 0 && failure.is_none() {
            for handle in crew.handles {
                // A panic of a worker was already reported as a missing summary.
                let _ = handle.join();
            }
        }
        let runtime_ns = self.end_ns - self.window.start_ns;
        Pieces {
            started_unix_ns: self.started_unix_ns,
            begun_ns,
            begun_pair,
            start_ns: self.window.start_ns,
            runtime_ns,
            intervals: intervals.close(runtime_ns),
            targets: member::records(&members, &crew.plans, &summaries),
            plans: crew.plans,
            summaries,
            failure,
            verify,
            features,
            host: self.host,
            loop_ns_per_io,
            notes,
            abandoned,
            stopped: crew.shared.is_stopped(),
            verify_asked: step.workload.verify.is_some(),
        }
    }
}

fn died(what: &str) -> StepFailure {
    StepFailure::Failed {
        what: what.to_owned(),
        source: std::io::Error::other("it panicked; this is a fault of Fathom"),
        help: "please report it with the plan and the messages above".to_owned(),
    }
}
