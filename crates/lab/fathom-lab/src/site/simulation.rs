//! A simulated machine as a site: steps run in virtual time, and drives keep their state from step to step.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fathom_host::settings::SettingError;
use fathom_host::{FileMark, ProbeError};
use fathom_judge::{derived_warnings, slow_members};
use fathom_message::{Arg, Join, Message, msg};
use fathom_plan::{Phase, Plan, Step, TargetId};
use fathom_record::{Interval, RunControl, Runner as _, StepFailure, StepRecord};
use fathom_sim::SimRunner;
use fathom_stats::AdaptiveStop;
use fathom_store::MadeFile;

use super::bind::with_regions;
use super::simulated::SimulatedMachine;
use super::{Looked, Moment, Site, SiteControl, SiteError, TargetError};

/// A simulated machine, for one run.
pub(crate) struct SimulatedSite {
    machine: SimulatedMachine,
    runner: SimRunner,
    /// Virtual time now, on the clock that read the run's start.
    now_unix_ns: u64,
}

impl SimulatedSite {
    /// The machine, at `started_unix_ns` of the real clock.
    pub(crate) fn new(machine: SimulatedMachine, started_unix_ns: u64) -> Self {
        let runner = machine.runner(0);
        SimulatedSite { machine, runner, now_unix_ns: started_unix_ns }
    }

    fn pass(&mut self, step: &Step, record: &StepRecord) {
        self.now_unix_ns += step.length.ramp_ns + record.runtime_ns;
    }
}

impl Site for SimulatedSite {
    fn tidy(&mut self, _plan: &Plan) -> Vec<(Option<FileMark>, Message)> {
        Vec::new()
    }

    fn look(&mut self, plan: &Plan) -> Result<Looked, TargetError> {
        self.machine.check_regions(plan)?;
        let mut plan = plan.clone();
        for step in &mut plan.steps {
            step.targets = self.machine.expanded(step)?;
        }
        let bytes_of = |target: &TargetId| Ok((self.machine.capacity_bytes(target).unwrap_or(0), false));
        let mut plan = with_regions(&plan, &bytes_of)?;
        plan.machine = Some(self.machine.to_kept());
        Ok(Looked { plan, files: Vec::new() })
    }

    fn to_make_again(&mut self, _plan: &Plan, _files: &[MadeFile], _begun: bool) -> Result<Vec<MadeFile>, TargetError> {
        Ok(Vec::new())
    }

    fn host_json(&mut self, plan: &Plan) -> Result<String, ProbeError> {
        Ok(self.machine.host_json(&self.machine.facts(plan)))
    }

    fn bind(&mut self, _plan: &Plan, _files: &[MadeFile], _begun: bool) -> Result<Vec<Message>, TargetError> {
        Ok(Vec::new())
    }

    fn prepare(&mut self, _plan: &Plan, _control: &mut SiteControl<'_>) -> Result<(), SiteError> {
        Ok(())
    }

    fn run(
        &mut self,
        step: &Step,
        control: &mut SiteControl<'_>,
    ) -> Result<Result<StepRecord, StepFailure>, SettingError> {
        if let Err(failure) = refuse_settings(step) {
            return Ok(Err(failure));
        }
        let stopper = AdaptiveStop::new();
        let precise_enough = |intervals: &[Interval], step: &Step| stopper.may_stop(intervals, step);
        let mut control =
            RunControl { stop: control.stop, on_progress: control.on_progress, precise_enough: &precise_enough };
        let mut record = match self.runner.run(step, &mut control) {
            Ok(record) => record,
            Err(failure) => return Ok(Err(failure)),
        };
        record.warnings.extend(derived_warnings(step, &record, None, None));
        record.warnings.extend(slow_members(&record));
        // The runner counts from the step's own beginning.
        record.started_unix_ns += self.now_unix_ns;
        self.pass(step, &record);
        Ok(Ok(record))
    }

    fn recall(&mut self, step: &Step, record: &StepRecord, stop: &AtomicBool) -> Result<(), StepFailure> {
        // It is run again where its end decides how the drives answer from then on.
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

    fn restore(&mut self) -> Result<(), SettingError> {
        Ok(())
    }

    fn keep_files(&mut self) {}

    fn release(&mut self) -> Vec<FileMark> {
        Vec::new()
    }

    fn now(&self) -> Moment {
        Moment { unix_ns: crate::conduct::unix_ns(), elapsed: Duration::ZERO }
    }

    fn is_in_real_time(&self) -> bool {
        false
    }
}

fn refuse_settings(step: &Step) -> Result<(), StepFailure> {
    if step.role.settings.is_empty() {
        return Ok(());
    }
    let names = step.role.settings.iter().map(|s| format!("{}={}", s.name, s.value));
    Err(StepFailure::Refused {
        what: Message::verbatim(step.label.clone()),
        why: msg!("step-simulated-setting", settings = Arg::names(names, Join::Comma)),
        help: msg!("step-simulated-setting-help"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::site::simulated_machine;

    #[test]
    fn a_step_that_cannot_be_run_again_is_an_error_and_not_forgotten() {
        let machine = simulated_machine("speed").expect("is shipped");
        let mut site = SimulatedSite::new(machine, 0);
        let stop = AtomicBool::new(false);
        let mut step = samples::step();
        step.phase = Phase::Precondition;
        step.length.budget_ns = 1_000_000;
        step.length.floor_ns = 1_000_000;
        step.targets[0] = "sim:speed/nvme-0".into();
        let mut control = SiteControl { stop: &stop, on_progress: &mut |_| {} };
        let mut record = site.run(&step, &mut control).expect("no settings").expect("runs");
        record.runtime_ns = 1_000_000;
        site.recall(&step, &record, &stop).expect("runs again");
        step.targets[0] = "sim:speed/no-such-drive".into();
        site.recall(&step, &record, &stop).expect_err("the drive is gone");
    }
}
