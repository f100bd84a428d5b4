//! Steps on a simulated machine, in virtual time. Drives keep their state from step to step.

use std::sync::atomic::AtomicBool;

use fathom_plan::{Phase, Step};
use fathom_record::{Interval, Progress, RunControl, Runner, StepFailure, StepRecord};
use fathom_sim::SimRunner;
use fathom_stats::AdaptiveStop;

use crate::checks::{derived_warnings, slow_members};
use crate::simulated::SimulatedMachine;

/// A simulated machine under way.
pub(super) struct Simulation {
    runner: SimRunner,
    /// Virtual time now, on the clock that read the run's start.
    now_unix_ns: u64,
}

impl Simulation {
    pub(super) fn new(machine: &SimulatedMachine, started_unix_ns: u64) -> Self {
        Simulation { runner: machine.runner(0), now_unix_ns: started_unix_ns }
    }

    /// Runs a step.
    ///
    /// # Errors
    /// [`StepFailure`] when the machine cannot do what the step wants.
    pub(super) fn run(
        &mut self,
        step: &Step,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(&Progress),
    ) -> Result<StepRecord, StepFailure> {
        refuse_settings(step)?;
        let stopper = AdaptiveStop::new();
        let precise_enough = |intervals: &[Interval], step: &Step| stopper.may_stop(intervals, step);
        let mut control = RunControl { stop, on_progress, precise_enough: &precise_enough };
        let mut record = self.runner.run(step, &mut control)?;
        record.warnings.extend(derived_warnings(step, &record, None, None));
        record.warnings.extend(slow_members(&record));
        // The runner counts from the step's own beginning.
        record.started_unix_ns += self.now_unix_ns;
        self.pass(step, &record);
        Ok(record)
    }

    /// Takes note of a step that ended before this process took over. It is run again where its end decides how the
    /// drives answer from then on.
    ///
    /// # Errors
    /// [`StepFailure`] when the machine cannot do now what it did then: its drives are not in the state they were in.
    pub(super) fn recall(&mut self, step: &Step, record: &StepRecord, stop: &AtomicBool) -> Result<(), StepFailure> {
        if step.phase != Phase::Measure || self.runner.has_fresh_drives() {
            let mut control = RunControl { stop, on_progress: &mut |_| {}, precise_enough: &|_, _| false };
            // It ran before with the same result.
            let mut step = step.clone();
            step.length.floor_ns = record.runtime_ns;
            step.length.budget_ns = record.runtime_ns;
            self.runner.run(&step, &mut control)?;
        }
        self.pass(step, record);
        Ok(())
    }

    fn pass(&mut self, step: &Step, record: &StepRecord) {
        self.now_unix_ns += step.length.ramp_ns + record.runtime_ns;
    }
}

fn refuse_settings(step: &Step) -> Result<(), StepFailure> {
    if step.role.settings.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = step.role.settings.iter().map(|s| format!("{}={}", s.name, s.value)).collect();
    Err(StepFailure::Refused {
        what: step.label.clone(),
        why: format!("a simulated machine has no setting {}", names.join(", ")),
        help: "change the machine file instead and compare the two runs, or name a real target".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::simulated::simulated_machine;

    #[test]
    fn a_step_that_cannot_be_run_again_is_an_error_and_not_forgotten() {
        let machine = simulated_machine("speed").expect("is shipped");
        let mut simulation = Simulation::new(&machine, 0);
        let stop = AtomicBool::new(false);
        let mut step = samples::step();
        step.phase = Phase::Precondition;
        step.length.budget_ns = 1_000_000;
        step.length.floor_ns = 1_000_000;
        step.targets[0].path = "sim:speed/nvme-0".to_owned();
        let mut record = simulation.run(&step, &stop, &mut |_| {}).expect("runs");
        record.runtime_ns = 1_000_000;
        simulation.recall(&step, &record, &stop).expect("runs again");
        step.targets[0].path = "sim:speed/no-such-drive".to_owned();
        simulation.recall(&step, &record, &stop).expect_err("the drive is gone");
    }
}
