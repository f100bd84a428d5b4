//! Runs a step on this host: checks it, starts the workers, watches the window, and hands over the record.

use fathom_host::Bindings;
use fathom_message::msg;
use fathom_plan::{Placement, Step};
use fathom_record::{RunControl, Runner, StepFailure, StepRecord};

use crate::assemble::{Pieces, assemble};
use crate::backend::refused;
use crate::check;
use crate::clock::Clock;
use crate::crew::{Crew, interval_ns, plan_workers};
use crate::overhead;
use crate::probe::HostProbe;
use crate::watch::Watch;

/// What a [`HostRunner`] is made with.
#[derive(Default)]
pub struct HostRunnerOptions {
    /// What the targets of the steps are today.
    pub bindings: Bindings,
    /// CPUs for the placements that need this host's topology (`Cores`, `Smt`, `Local`, `Remote`), thread i on the
    /// i-th, round robin.
    pub cpus: Vec<u32>,
    /// Samples the host's counters.
    pub probe: Option<Box<dyn HostProbe>>,
}

/// The runner of this host: files, block devices, and the pseudo target `null`.
pub struct HostRunner {
    options: HostRunnerOptions,
    /// Goes wrong in this worker of the next step.
    #[cfg(test)]
    pub(crate) fault: Option<(usize, crate::faults::Fault)>,
}

impl HostRunner {
    /// A runner; the clock is calibrated at the first one (about 10 ms).
    #[must_use]
    pub fn new(options: HostRunnerOptions) -> Self {
        Clock::get();
        HostRunner {
            options,
            #[cfg(test)]
            fault: None,
        }
    }

    fn cpus_for(&self, step: &Step) -> Result<Vec<u32>, StepFailure> {
        match &step.placement {
            Placement::Unpinned => Ok(Vec::new()),
            Placement::Cpus(cpus) => Ok(cpus.clone()),
            _ if self.options.cpus.is_empty() => Err(refused(
                msg!("engine-placement", placement = placement_word(&step.placement)),
                msg!("engine-placement-unresolved"),
                msg!("engine-placement-unresolved-help"),
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
        let plans = plan_workers(step, &cpus, &self.options.bindings)?;
        #[cfg(test)]
        let plans = crate::faults::placed(plans, self.fault.take());
        let crew = Crew::start(plans, interval_ns(step.length.budget_ns))?;
        let mut watch = Watch::new(crew, step, clock);
        watch.wait_until_ready(control)?;
        let finished = watch.run(step, control, self.options.probe.as_deref_mut())?;
        let loop_ns_per_io = overhead::loop_ns_per_io(step);
        let pieces = Pieces { begun_ns, begun_pair, loop_ns_per_io, notes, finished };
        Ok(assemble(step, &clock, pieces))
    }
}

/// The word of the plan.
fn placement_word(placement: &Placement) -> &'static str {
    match placement {
        Placement::Unpinned => "unpinned",
        Placement::Cores => "cores",
        Placement::Smt => "smt",
        Placement::Local => "local",
        Placement::Remote => "remote",
        Placement::Cpus(_) => "cpus",
    }
}
