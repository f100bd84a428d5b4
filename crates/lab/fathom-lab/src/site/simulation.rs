//! A simulated machine as a site: steps run in virtual time, and drives keep their state from step to step.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fathom_host::settings::SettingError;
use fathom_host::{FileMark, ProbeError};
use fathom_judge::{derived_warnings, slow_members};
use fathom_message::{Arg, Join, Message, msg};
use fathom_plan::{Phase, Plan, Step, TargetId};
use fathom_record::{Interval, RunControl, Runner as _, StepFailure, StepRecord};
use fathom_sim::{Extent, SimRunner};
use fathom_stats::{AdaptiveStop, known_within};
use fathom_store::MadeFile;

use super::ahead::Ahead;
use super::bind::with_regions;
use super::simulated::SimulatedMachine;
use super::{Looked, Moment, Site, SiteControl, SiteError, TargetError};

/// Figures of a step without noise are known once their intervals of confidence are within this share of them.
pub(crate) const KNOWN_REL_HALF_WIDTH: f64 = 0.005;

/// A simulated machine, for one run.
pub(crate) struct SimulatedSite {
    machine: SimulatedMachine,
    runner: SimRunner,
    /// How much of the time that steps ask for is simulated.
    extent: Extent,
    ahead: Ahead,
    /// Virtual time now, on the clock that read the run's start.
    now_unix_ns: u64,
}

impl SimulatedSite {
    /// The machine, at `started_unix_ns` of the real clock. `full`: steps run for all the time that they ask for.
    pub(crate) fn new(machine: SimulatedMachine, started_unix_ns: u64, full: bool) -> Self {
        let runner = machine.runner(0);
        let extent = if full { Extent::Whole } else { Extent::UntilKnown };
        let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let ahead = Ahead::new(cpus, runner.clone(), extent);
        SimulatedSite { machine, runner, extent, ahead, now_unix_ns: started_unix_ns }
    }

    fn pass(&mut self, step: &Step, record: &StepRecord) {
        let shortened = record.clock.as_ref().and_then(|clock| clock.shortened);
        self.now_unix_ns += shortened.map_or(step.length.ramp_ns, |s| s.warm_up_ns) + record.runtime_ns;
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

    fn expect(&mut self, coming: &mut dyn Iterator<Item = Step>) {
        // What a purged drive gives depends on the steps before. Other drives are what they were, whatever was run on them.
        let is_independent = !self.runner.has_fresh_drives();
        self.ahead.expect(coming.take_while(|step| is_independent && step.phase != Phase::Purge));
    }

    fn run(
        &mut self,
        step: &Step,
        control: &mut SiteControl<'_>,
    ) -> Result<Result<StepRecord, StepFailure>, SettingError> {
        if let Err(failure) = refuse_settings(step) {
            return Ok(Err(failure));
        }
        let run = match self.ahead.take(step, control) {
            Some(run) => run,
            None => run_on(&mut self.runner, self.extent, step, control),
        };
        let mut record = match run {
            Ok(record) => record,
            Err(failure) => return Ok(Err(failure)),
        };
        record.warnings.extend(derived_warnings(step, &record, None, None));
        record.warnings.extend(slow_members(step, &record));
        // The runner counts from the step's own beginning.
        record.started_unix_ns += self.now_unix_ns;
        self.pass(step, &record);
        Ok(Ok(record))
    }

    fn recall(&mut self, step: &Step, record: &StepRecord, stop: &AtomicBool) -> Result<(), StepFailure> {
        // It is run again where its end decides how the drives answer from then on.
        if step.phase != Phase::Measure || self.runner.has_fresh_drives() {
            // It ran before with the same result, as long as it runs the same way.
            let is_shortened = record.clock.as_ref().is_some_and(|clock| clock.shortened.is_some());
            let extent = if is_shortened { Extent::UntilKnown } else { Extent::Whole };
            let mut step = step.clone();
            if !is_shortened {
                step.length.floor_ns = record.runtime_ns;
                step.length.budget_ns = record.runtime_ns;
            }
            let mut unseen = |_: &fathom_record::Progress| {};
            let mut control = SiteControl::new(stop, &mut unseen);
            run_on(&mut self.runner, extent, &step, &mut control)?;
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

    fn ends_when_known(&self) -> bool {
        self.extent == Extent::UntilKnown
    }
}

/// Runs a step for as long as its figures need, or as on a real machine where all of its time is to be simulated.
pub(super) fn run_on(
    runner: &mut SimRunner,
    extent: Extent,
    step: &Step,
    control: &mut SiteControl<'_>,
) -> Result<StepRecord, StepFailure> {
    let stopper = AdaptiveStop::new();
    let precise_enough = |intervals: &[Interval], step: &Step| match extent {
        Extent::Whole => stopper.may_stop(intervals, step),
        Extent::UntilKnown => known_within(intervals, KNOWN_REL_HALF_WIDTH),
    };
    runner.set_extent(extent);
    let (stop, on_progress) = (control.stop, &mut *control.on_progress);
    runner.run(step, &mut RunControl { stop, on_progress, precise_enough: &precise_enough })
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
        let mut site = SimulatedSite::new(machine, 0, false);
        let stop = AtomicBool::new(false);
        let mut step = samples::step();
        step.phase = Phase::Precondition;
        step.length.budget_ns = 1_000_000;
        step.length.floor_ns = 1_000_000;
        step.targets[0] = "sim:speed/nvme-0".into();
        let mut unseen = |_: &fathom_record::Progress| {};
        let mut control = SiteControl::new(&stop, &mut unseen);
        let mut record = site.run(&step, &mut control).expect("no settings").expect("runs");
        record.runtime_ns = 1_000_000;
        site.recall(&step, &record, &stop).expect("runs again");
        step.targets[0] = "sim:speed/no-such-drive".into();
        site.recall(&step, &record, &stop).expect_err("the drive is gone");
    }
}
