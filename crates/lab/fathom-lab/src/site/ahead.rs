//! Steps of a simulated machine that are run before they are due, each on a CPU that would idle. A step gives the same record
//! wherever and whenever it runs, so that nothing but the time of waiting differs from running one after the other.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use fathom_plan::Step;
use fathom_record::{Progress, StepFailure, StepRecord};
use fathom_sim::{Extent, SimRunner};

use super::SiteControl;
use super::simulation::run_on;

/// How often somebody who waits looks whether the user wants to stop.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Steps that are kept ready per CPU, the running ones among them.
const READY_PER_CPU: usize = 2;

/// A step under way, or done and not asked for yet.
struct Job {
    step: Step,
    stop: Arc<AtomicBool>,
    progress: Receiver<Progress>,
    thread: JoinHandle<Result<StepRecord, StepFailure>>,
}

/// The steps that come next, some of them under way.
pub(super) struct Ahead {
    cpus: usize,
    runner: SimRunner,
    extent: Extent,
    due: VecDeque<Step>,
    jobs: Vec<Job>,
}

impl Ahead {
    /// `runner`: of a machine in the state that every step finds. With one CPU nothing is run ahead.
    pub(super) fn new(cpus: usize, runner: SimRunner, extent: Extent) -> Ahead {
        Ahead { cpus, runner, extent, due: VecDeque::new(), jobs: Vec::new() }
    }

    /// Takes note of what comes next, in its order, and begins with it. What is under way and does not come is given up.
    pub(super) fn expect(&mut self, coming: impl Iterator<Item = Step>) {
        let ready = if self.cpus > 1 { self.cpus * READY_PER_CPU } else { 0 };
        self.due = coming.take(ready).collect();
        for job in self.jobs.iter().filter(|job| !self.due.contains(&job.step)) {
            job.stop.store(true, Ordering::Relaxed);
        }
        self.jobs.retain(|job| self.due.contains(&job.step));
        self.begin(0);
    }

    /// Begins steps while CPUs idle, `busy` of them with something else.
    fn begin(&mut self, busy: usize) {
        let mut running = busy + self.jobs.iter().filter(|job| !job.thread.is_finished()).count();
        while running < self.cpus
            && let Some(step) = self.due.pop_front()
        {
            if !self.jobs.iter().any(|job| job.step == step) {
                self.jobs.push(self.job(step));
                running += 1;
            }
        }
    }

    fn job(&self, step: Step) -> Job {
        let (sender, progress) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let (mut runner, extent) = (self.runner.clone(), self.extent);
        let (own_step, own_stop) = (step.clone(), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            // Nobody listens to a step that was given up.
            let mut on_progress = |p: &Progress| {
                let _ = sender.send(p.clone());
            };
            let mut control = SiteControl::new(&own_stop, &mut on_progress);
            run_on(&mut runner, extent, &own_step, &mut control)
        });
        Job { step, stop, progress, thread }
    }

    /// The outcome of a step that was begun, once it has one; `None` for a step that was not.
    pub(super) fn take(
        &mut self,
        step: &Step,
        control: &mut SiteControl<'_>,
    ) -> Option<Result<StepRecord, StepFailure>> {
        let job = self.jobs.iter().position(|job| job.step == *step).map(|at| self.jobs.remove(at))?;
        loop {
            if control.is_stopped() {
                job.stop.store(true, Ordering::Relaxed);
            } else {
                self.begin(usize::from(!job.thread.is_finished()));
            }
            match job.progress.recv_timeout(LOOK_EVERY) {
                Ok(progress) => (control.on_progress)(&progress),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        // A step that panics does so for whoever asked for it.
        Some(job.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        for job in &self.jobs {
            job.stop.store(true, Ordering::Relaxed);
        }
        for job in self.jobs.drain(..) {
            // Its outcome was not asked for.
            let _ = job.thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::site::simulated_machine;

    fn steps() -> Vec<Step> {
        let step = |index: u32| {
            let mut step = samples::step();
            (step.index, step.seed) = (index, u64::from(index));
            step.targets = vec!["sim:speed/nvme-0".into()];
            step.length = fathom_plan::RunLength::fixed(0, 20_000_000);
            step
        };
        (0..6).map(step).collect()
    }

    fn runner() -> SimRunner {
        simulated_machine("speed").expect("is shipped").runner(0)
    }

    /// What a site with so many CPUs gives and reports; `None` where it does not run steps ahead.
    fn outcomes(cpus: usize) -> Vec<Option<(StepRecord, Vec<Progress>)>> {
        let (steps, stop) = (steps(), AtomicBool::new(false));
        let mut ahead = Ahead::new(cpus, runner(), Extent::Whole);
        let take = |at: usize| {
            ahead.expect(steps[at..].iter().cloned());
            let mut seen = Vec::new();
            let mut on_progress = |p: &Progress| seen.push(p.clone());
            let mut control = SiteControl::new(&stop, &mut on_progress);
            let taken = ahead.take(&steps[at], &mut control);
            taken.map(|result| (result.expect("it runs"), seen))
        };
        (0..steps.len()).map(take).collect()
    }

    #[test]
    fn steps_run_ahead_give_what_they_give_one_after_the_other() {
        assert!(outcomes(1).iter().all(Option::is_none));
        let (two, three) = (outcomes(2), outcomes(3));
        assert!(two.iter().flatten().all(|(record, seen)| record.ios() > 0 && !seen.is_empty()));
        assert!(two == three && two.iter().all(Option::is_some));
        let mut runner = runner();
        for (step, (record, seen)) in steps().iter().zip(two.into_iter().flatten()) {
            let (stop, mut live) = (AtomicBool::new(false), Vec::new());
            let mut on_progress = |p: &Progress| live.push(p.clone());
            let mut control = SiteControl::new(&stop, &mut on_progress);
            let alone = run_on(&mut runner, Extent::Whole, step, &mut control).expect("it runs");
            assert!(alone == record && live == seen, "{}", step.label);
        }
    }

    #[test]
    fn a_stop_reaches_the_step_that_is_waited_for() {
        let (mut ahead, stop) = (Ahead::new(2, runner(), Extent::Whole), AtomicBool::new(true));
        let mut long = steps().remove(0);
        long.length = fathom_plan::RunLength::fixed(0, 60_000_000_000);
        ahead.expect([long.clone()].into_iter());
        let mut unseen = |_: &fathom_record::Progress| {};
        let mut control = SiteControl::new(&stop, &mut unseen);
        let record = ahead.take(&long, &mut control).expect("it was begun").expect("what it has is a record");
        assert!(record.warnings.iter().any(|w| matches!(w, fathom_record::Warning::Interrupted)));
        ahead.expect(std::iter::empty());
        assert!(ahead.jobs.is_empty());
    }
}
