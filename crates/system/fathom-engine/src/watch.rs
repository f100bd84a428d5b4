//! The collector: waits for the workers of a step, watches its window, and gathers what they leave.

use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use fathom_hist::Histogram;
use fathom_message::{Message, Quantity, msg};
use fathom_plan::{Ends, Mode, Step, Verify};
use fathom_record::{
    DirectionInterval, HostDelta, Interval, Progress, RunControl, StepFailure, TargetRecord, VerifyReport,
};

use crate::array::ArrayOf;
use crate::clock::{Clock, unix_ns};
use crate::collect::Intervals;
use crate::crew::Crew;
use crate::looks::Looks;
use crate::member::{self, Member};
use crate::probe::{HostProbe, Sampling};
use crate::shared::{FromWorker, Stage, Window, WorkerSummary};
use crate::streams::Place;
use crate::system::code;
use crate::tally::ops_of;
use crate::target::Target;
use crate::worker::WorkerPlan;

mod stragglers;
#[cfg(test)]
mod tests;

use stragglers::QUIET_LOOKS_MAX;

/// How often the collector looks at the stop flag at least.
const TICK: Duration = Duration::from_millis(20);
const TICK_NS: u64 = TICK.as_nanos() as u64;
/// Between two calls of `on_progress`.
const PROGRESS_NS: u64 = 250_000_000;
/// After a failure the other workers have so many looks to leave, so that they do not disturb the next step.
const LEAVE_LOOKS: u64 = 400_000_000 / TICK_NS;
/// The sampler gets ready at least so long before the window.
const SAMPLER_LEAD_NS: u64 = 10_000_000;
/// It takes its first reading at least so long before the window, so that none of the window is missed.
const READING_LEAD_NS: u64 = 1_000_000;

/// The collector's side of a running step.
pub(crate) struct Watch {
    crew: Crew,
    clock: Clock,
    intervals: Intervals,
    /// `[worker]`.
    summaries: Vec<Option<Box<WorkerSummary>>>,
    /// `[worker]`: it does no more I/O, or is given up.
    ended: Vec<bool>,
    /// `[worker]`: the kernel's numbers of their threads, once they are ready.
    threads: Vec<Option<i32>>,
    mode: Mode,
    /// When the user's stop was first seen.
    stopped_ns: Option<u64>,
    failure: Option<StepFailure>,
    verify: Option<VerifyReport>,
    verified: usize,
    /// Share of each target so far, in the order of the step.
    members: Vec<Member>,
    /// Its place among streams that run at once.
    place: Option<Place>,
    /// When it begins, where others begin with it elsewhere.
    begin_ns: Option<u64>,
    /// What ends with the first thread that is done.
    ends: Option<Ends>,
}

/// What the window left.
pub(crate) struct Finished {
    pub(crate) started_unix_ns: u64,
    pub(crate) start_ns: u64,
    pub(crate) runtime_ns: u64,
    pub(crate) intervals: Vec<Interval>,
    /// Each target's share, when there are several.
    pub(crate) targets: Vec<TargetRecord>,
    pub(crate) plans: Vec<Arc<WorkerPlan>>,
    /// `[worker]`; `None`: it did not come back in time.
    pub(crate) summaries: Vec<Option<Box<WorkerSummary>>>,
    /// Workers that did not come back after the user's stop.
    pub(crate) abandoned: usize,
    pub(crate) verify: Option<VerifyReport>,
    pub(crate) host: Option<HostDelta>,
    pub(crate) stopped: bool,
}

/// Whether what was written is read back at the end.
fn reads_back(step: &Step) -> bool {
    step.workload.verify.is_some_and(Verify::checks)
}

impl Watch {
    /// The targets that are arrays of which a member is rebuilt beside the load.
    pub(crate) fn rebuilt_arrays(&self) -> Vec<Arc<Target>> {
        let parts = self.crew.plans.iter().flat_map(|plan| &plan.parts);
        let rebuilt = parts.filter(|part| part.target.array().is_some_and(ArrayOf::is_rebuilding));
        rebuilt.map(|part| part.target.clone()).collect()
    }

    /// Watches the workers of `step`, which may be a stream beside others.
    pub(crate) fn new(crew: Crew, step: &Step, clock: Clock, place: Option<Place>) -> Self {
        let workers = crew.plans.len();
        let intervals = Intervals::new(crew.interval_ns, ops_of(&step.workload), workers);
        let summaries = (0..workers).map(|_| None).collect();
        let members = step.targets.iter().map(|_| Member::default()).collect();
        Watch {
            crew,
            clock,
            intervals,
            summaries,
            ended: vec![false; workers],
            threads: vec![None; workers],
            mode: step.engine.mode,
            stopped_ns: None,
            failure: None,
            verify: None,
            verified: 0,
            members,
            place,
            begin_ns: None,
            ends: step.role.ends.clone(),
        }
    }

    /// Lets the workers begin then and not before.
    pub(crate) fn begin_at(&mut self, begin_ns: u64) {
        self.begin_ns = Some(begin_ns);
    }

    /// Lets the workers go that are ready and will not begin.
    pub(crate) fn abandon(mut self) {
        self.let_leave();
    }

    /// Waits for the workers to set themselves up, or for the user to stop the step.
    ///
    /// # Errors
    /// When one of them cannot, or does not for a minute.
    pub(crate) fn wait_until_ready(&mut self, control: &RunControl<'_>) -> Result<(), StepFailure> {
        let mut quiet = 0;
        while let Some(missing) = self.threads.iter().position(Option::is_none) {
            if control.stopped() {
                self.crew.shared.set_stopped();
                self.crew.shared.end_by(0);
                return Ok(());
            }
            match self.crew.inbox.recv_timeout(TICK) {
                Ok(message) => {
                    self.take(message);
                    quiet = 0;
                }
                Err(RecvTimeoutError::Timeout) => quiet += 1,
                Err(RecvTimeoutError::Disconnected) => self.lose(missing),
            }
            if quiet > QUIET_LOOKS_MAX {
                let silence = Quantity::duration_ns(quiet * TICK_NS);
                self.fall_silent(missing, msg!("engine-not-ready", time = silence));
            }
            if self.failure.is_some() {
                return Err(self.give_up());
            }
        }
        Ok(())
    }

    /// Lets the workers begin and watches them to the end.
    ///
    /// # Errors
    /// When a worker failed: what the others did is then no whole record.
    pub(crate) fn run(
        mut self,
        step: &Step,
        control: &mut RunControl<'_>,
        probe: Option<&mut (dyn HostProbe + 'static)>,
    ) -> Result<Finished, StepFailure> {
        let ramp_ns = if step.length.passes.is_some() { 0 } else { step.length.ramp_ns };
        let mut sampling = Sampling::new(probe, self.clock);
        let prepare_ns = sampling.prepare();
        let read_ns = (2 * sampling.begin() + READING_LEAD_NS).min(ramp_ns);
        let lead_ns = (2 * prepare_ns + read_ns + SAMPLER_LEAD_NS).min(ramp_ns);
        let together_ns = self.begin_ns.or_else(|| self.place.as_ref().map(Place::begin_ns));
        let begin_ns = together_ns.unwrap_or_else(|| self.clock.now()) + step.length.delay_ns;
        // No worker begins before: what it did would not be counted.
        while self.clock.now() < begin_ns && !control.stopped() {
            std::thread::sleep(Duration::from_nanos(begin_ns.saturating_sub(self.clock.now())).min(TICK));
        }
        let start_ns = self.clock.now() + ramp_ns;
        let window = Window { start_ns, interval_ns: self.crew.interval_ns };
        let started_unix_ns = unix_ns() + ramp_ns;
        self.crew.shared.end_by(start_ns.saturating_add(step.length.budget_ns));
        self.crew.shared.set_stage(Stage::Run(window));
        if ramp_ns > 0 {
            self.watch_until(start_ns - lead_ns, step, window, control, None);
            sampling.prepare();
            // The device is busy already: what it does before the window would be counted on top of the step's own I/Os.
            self.watch_until(start_ns - read_ns, step, window, control, None);
            sampling.begin();
            self.watch_until(start_ns, step, window, control, None);
        }
        self.watch_until(u64::MAX, step, window, control, Some(&mut sampling));
        if self.failure.is_some() {
            return Err(self.give_up());
        }
        let end_ns = self.end_ns(window);
        let host = sampling.finish(start_ns);
        self.wait_for_stragglers(control);
        if self.failure.is_some() {
            return Err(self.give_up());
        }
        if let Some(place) = &self.place {
            place.wait_for_all();
        }
        self.crew.shared.set_stage(Stage::Release);
        self.wait_for_verification(step, control);
        if self.failure.is_some() {
            return Err(self.give_up());
        }
        Ok(self.finish(step, start_ns, end_ns, started_unix_ns, host))
    }

    fn finish(
        self,
        step: &Step,
        start_ns: u64,
        end_ns: u64,
        started_unix_ns: u64,
        host: Option<HostDelta>,
    ) -> Finished {
        let abandoned = self.ended.iter().filter(|ended| !**ended).count();
        let all_read_back = !reads_back(step) || self.verified == self.crew.plans.len();
        let runtime_ns = end_ns - start_ns;
        let finished = Finished {
            started_unix_ns,
            start_ns,
            runtime_ns,
            intervals: self.intervals.close(runtime_ns),
            targets: member::records(&step.targets, &self.members, &self.crew.plans, &self.summaries),
            plans: self.crew.plans.clone(),
            summaries: self.summaries,
            abandoned,
            verify: self.verify,
            host,
            stopped: self.crew.shared.is_stopped(),
        };
        self.crew.join(abandoned == 0 && all_read_back);
        finished
    }

    /// Collects until `until_ns`, the deadline, or until all workers are done.
    fn watch_until(
        &mut self,
        until_ns: u64,
        step: &Step,
        window: Window,
        control: &mut RunControl<'_>,
        mut sampling: Option<&mut Sampling<'_>>,
    ) {
        let mut next_progress_ns = self.clock.now();
        let mut next_interval_ns = window.start_ns + window.interval_ns;
        let mut looks = Looks::new(step, window);
        loop {
            let now = self.clock.now();
            let end = self.crew.shared.deadline_ns().min(until_ns);
            if now >= end || self.is_over() {
                return;
            }
            if control.stopped() {
                self.crew.shared.set_stopped();
                // A little ahead, so that no worker has yet counted anything later.
                self.crew.shared.end_by(now + 1_000_000);
            }
            if now >= next_interval_ns {
                next_interval_ns += window.interval_ns * ((now - next_interval_ns) / window.interval_ns + 1);
                if let Some(sampling) = &mut sampling {
                    sampling.interval();
                }
            }
            if now >= next_progress_ns {
                next_progress_ns = now + PROGRESS_NS;
                (control.on_progress)(&self.progress(now, step, window));
            }
            if looks.is_due(now) && looks.passes(control, self.intervals.complete(), step) {
                let whole = (now - window.start_ns) / window.interval_ns + 1;
                let end_ns = window.start_ns + whole * window.interval_ns;
                match &self.place {
                    None => self.crew.shared.end_by(end_ns),
                    Some(place) => place.is_precise(now, window),
                }
            }
            if self.place.as_ref().is_some_and(Place::is_ended) {
                self.crew.shared.end_by(now);
            }
            if let Some(end_ns) = self.place.as_ref().and_then(Place::end_ns) {
                self.crew.shared.end_by(end_ns);
            }
            let wait_ns = end.min(next_interval_ns).saturating_sub(now);
            let _ = self.receive(Duration::from_nanos(wait_ns).min(TICK));
        }
    }

    /// Takes the next message; whether there was one.
    fn receive(&mut self, patience: Duration) -> bool {
        match self.crew.inbox.recv_timeout(patience) {
            Ok(message) => {
                self.take(message);
                true
            }
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => {
                if let Some(missing) = self.missing() {
                    self.lose(missing);
                }
                false
            }
        }
    }

    fn take(&mut self, message: FromWorker) {
        match message {
            FromWorker::Ready { worker, thread } => self.threads[worker as usize] = Some(thread),
            FromWorker::Failed { worker, failure } => {
                self.ended[worker as usize] = true;
                self.failure.get_or_insert(failure);
                self.crew.shared.end_by(0);
            }
            FromWorker::Left { worker } => self.ended[worker as usize] = true,
            FromWorker::Interval { worker, tallies } => {
                self.intervals.add(worker, &tallies);
                match &self.crew.plans[worker as usize].parts[..] {
                    [only] => self.members[only.member].add(&tallies),
                    parts => {
                        let parts = parts.iter().zip(&tallies.parts);
                        parts.for_each(|(part, tally)| self.members[part.member].add_part(tally));
                    }
                }
                // The worker may be gone already; then they are simply dropped.
                let _ = self.crew.spare_to[worker as usize].send(tallies);
            }
            FromWorker::Drained { worker, summary } => {
                self.ended[worker as usize] = true;
                self.intervals.finish_worker(worker);
                if summary.passes_done
                    && let Some(ends) = &self.ends
                {
                    self.crew.shared.end_by(self.clock.now());
                    if let Some(place) = &self.place {
                        place.end_streams(&ends.streams);
                    }
                }
                self.summaries[worker as usize] = Some(summary);
            }
            FromWorker::Verified { report } => {
                self.verified += 1;
                crate::verify::merge(self.verify.get_or_insert_default(), &report);
            }
        }
    }

    /// A worker that did not end yet.
    fn missing(&self) -> Option<usize> {
        self.ended.iter().position(|ended| !ended)
    }

    /// Gives up the workers that did not end, of which `worker` is one.
    fn fall_silent(&mut self, worker: usize, doing: Message) {
        let source = std::io::Error::from_raw_os_error(code::ETIME);
        let failure = self.crew.plans[worker].failed(doing, &source, msg!("engine-drive-silent-help"));
        self.failure.get_or_insert(failure);
        self.ended.fill(true);
    }

    /// A thread that ended without a word.
    fn lose(&mut self, worker: usize) {
        let source = std::io::Error::from_raw_os_error(code::ESRCH);
        let failure = self.crew.plans[worker].failed(msg!("engine-thread-lost"), &source, msg!("engine-fault-help"));
        self.failure.get_or_insert(failure);
    }

    /// Lets the other workers leave, and hands over why the step failed.
    fn give_up(&mut self) -> StepFailure {
        self.let_leave();
        self.failure.take().expect("only a step that failed is given up")
    }

    fn let_leave(&mut self) {
        self.crew.shared.end_by(0);
        self.crew.shared.set_stage(Stage::Abandon);
        let mut quiet = 0;
        while quiet < LEAVE_LOOKS && self.missing().is_some() {
            match self.crew.inbox.recv_timeout(TICK) {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) => quiet += 1,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    }

    fn is_over(&self) -> bool {
        self.failure.is_some() || self.missing().is_none()
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

    fn wait_for_verification(&mut self, step: &Step, control: &mut RunControl<'_>) {
        if !reads_back(step) {
            return;
        }
        let due = self.summaries.iter().flatten().count();
        while self.failure.is_none() && self.verified < due && !self.was_stopped_long_ago(control) {
            (control.on_progress)(&Progress {
                elapsed_ns: step.length.budget_ns,
                remaining_ns: 0,
                iops: 0.0,
                bytes_per_s: 0.0,
                bytes_done: 0,
                p99_ns: None,
                activity: Some(msg!("engine-reading-back")),
            });
            let _ = self.receive(Duration::from_millis(200));
        }
    }

    fn progress(&self, now: u64, step: &Step, window: Window) -> Progress {
        let elapsed_ns = now.saturating_sub(window.start_ns);
        let last = self.intervals.complete().last();
        let seconds = window.interval_ns as f64 / 1e9;
        let sum = |of: fn(&DirectionInterval) -> u64| {
            last.map_or(0, |interval| interval.directions.iter().map(of).sum::<u64>()) as f64 / seconds
        };
        let p99_ns = last.and_then(|interval| {
            let mut merged = Histogram::new();
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
            activity: ramping.then(|| msg!("engine-warming-up")),
        }
    }
}
