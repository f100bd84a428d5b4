//! Runs a step on this host: checks it, starts the workers, watches the window, and hands over the record.

use fathom_host::Bindings;
use fathom_message::{Message, msg};
use fathom_plan::{Placement, Step};
use fathom_record::{RunControl, Runner, StepFailure, StepRecord};

use crate::array::ArrayOf;
use crate::assemble::{Pieces, assemble};
use crate::backend::refused;
use crate::check;
use crate::clock::{Clock, ClockPair};
use crate::crew::{Crew, drop_caches, interval_ns, plan_workers};
use crate::gate::StartGate;
use crate::overhead;
use crate::probe::HostProbe;
use crate::streams::{Place, StreamPlan, run_streams};
use crate::watch::Watch;
use crate::worker::WorkerPlan;

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
    /// Says when a step begins; without it as soon as its workers are ready. Streams have none.
    pub gate: Option<Box<dyn StartGate>>,
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
        let fault = self.take_fault();
        let started = Started::new(step, &self.cpus_for(step)?, &self.options.bindings, None, fault)?;
        let HostRunnerOptions { probe, gate, .. } = &mut self.options;
        started.finish(step, control, probe.as_deref_mut(), gate.as_deref_mut())
    }
}

impl HostRunner {
    fn take_fault(&mut self) -> Option<Misplaced> {
        #[cfg(test)]
        return self.fault.take();
        #[cfg(not(test))]
        None
    }

    /// Runs streams at once: they begin together, and each has a record of its own, in their order. The host's counters
    /// are read over the longest of them; streams that took as long share them.
    ///
    /// When one stream cannot be run or fails, none of the others yields a record.
    pub fn run_streams(
        &mut self,
        streams: Vec<StreamPlan<'_>>,
        control: &mut RunControl<'_>,
    ) -> Vec<Result<StepRecord, StepFailure>> {
        run_streams(streams, &self.options.bindings, self.options.probe.as_deref_mut(), control)
    }
}

/// In which worker what goes wrong, in tests.
#[cfg(test)]
type Misplaced = (usize, crate::faults::Fault);
#[cfg(not(test))]
type Misplaced = std::convert::Infallible;

/// A step whose workers were started.
pub(crate) struct Started {
    clock: Clock,
    begun_ns: u64,
    begun_pair: ClockPair,
    notes: Vec<Message>,
    watch: Watch,
}

impl Started {
    /// Checks the step and starts its workers.
    ///
    /// # Errors
    /// What does not fit, before anything was touched.
    pub(crate) fn new(
        step: &Step,
        cpus: &[u32],
        bindings: &Bindings,
        place: Option<Place>,
        fault: Option<Misplaced>,
    ) -> Result<Started, StepFailure> {
        let clock = Clock::get();
        let begun_ns = clock.now();
        let begun_pair = clock.pair();
        let mut notes = check::check(step)?;
        let flow_group = place.as_ref().zip(step.load.pacing.flow).map(|(place, flow)| place.flow_group(flow.id));
        let plans = plan_workers(step, cpus, bindings, flow_group.as_ref(), place.is_some())?;
        notes.extend(array_notes(step, &plans));
        if step.workload.drop_cache {
            notes.extend(drop_caches(&plans));
        }
        #[cfg(test)]
        let plans = crate::faults::placed(plans, fault);
        #[cfg(not(test))]
        let None = fault;
        let crew = Crew::start(plans, interval_ns(step.length.budget_ns, &step.role.stages))?;
        let watch = Watch::new(crew, step, clock, place);
        Ok(Started { clock, begun_ns, begun_pair, notes, watch })
    }

    /// Waits for the workers to set themselves up.
    ///
    /// # Errors
    /// When one of them cannot.
    pub(crate) fn wait_until_ready(&mut self, control: &RunControl<'_>) -> Result<(), StepFailure> {
        self.watch.wait_until_ready(control)
    }

    /// Lets the workers go without having begun.
    pub(crate) fn abandon(self) {
        self.watch.abandon();
    }

    /// Runs the step to its end, from workers that may still be setting themselves up.
    ///
    /// # Errors
    /// When a worker failed.
    pub(crate) fn finish(
        mut self,
        step: &Step,
        control: &mut RunControl<'_>,
        probe: Option<&mut (dyn HostProbe + 'static)>,
        mut gate: Option<&mut (dyn StartGate + 'static)>,
    ) -> Result<StepRecord, StepFailure> {
        self.wait_until_ready(control)?;
        if let Some(gate) = gate.as_mut().filter(|_| !control.stopped()) {
            let Some(begin_ns) = gate.begin_ns(control.stop) else {
                self.abandon();
                return Err(StepFailure::Refused {
                    what: Message::verbatim(step.label.clone()),
                    why: msg!("engine-rank-beside"),
                    help: msg!("engine-rank-beside-help"),
                });
            };
            self.watch.begin_at(begin_ns);
        }
        let rebuilt = self.watch.rebuilt_arrays();
        let finished = self.watch.run(step, control, probe);
        rebuilt.iter().for_each(|target| target.array().into_iter().for_each(ArrayOf::note_rebuild));
        let finished = finished?;
        if let Some(gate) = gate {
            gate.began(finished.start_ns);
        }
        let loop_ns_per_io = overhead::loop_ns_per_io(step);
        let Started { clock, begun_ns, begun_pair, notes, .. } = self;
        Ok(assemble(step, &clock, Pieces { begun_ns, begun_pair, loop_ns_per_io, notes, finished }))
    }
}

/// What is to be said of the arrays that the step is on.
fn array_notes(step: &Step, plans: &[WorkerPlan]) -> Vec<Message> {
    let mut seen = Vec::new();
    let mut notes = Vec::new();
    for part in plans.iter().flat_map(|plan| &plan.parts) {
        if let Some(array) = part.target.array().filter(|_| !seen.contains(&part.member)) {
            seen.push(part.member);
            notes.extend(array.notes(step.workload.mix.is_destructive()));
        }
    }
    notes
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
        Placement::Nodes { .. } => "nodes",
    }
}
