//! Probes beside the plan: steps that relieve one part each, for every measured step whose limit is not confirmed yet, and
//! the step of a ladder that a deeper one fell from, once more.

use fathom_model::{LimitName, missing_probes, step_to_repeat};
use fathom_plan::{Phase, Plan, RunLength, Step};

use super::steps::Conductor;
use super::{ConductError, Event, OnEvent};
use crate::facts::{FactsOfRun, inventory_of, observation, observations_of};

/// Longest measured time of a probe: it need only tell a fifth more from as much.
const PROBE_NS_MAX: u64 = 2_000_000_000;
/// Shortest.
const PROBE_NS_MIN: u64 = 500_000_000;
/// Longest warm-up of a probe.
const PROBE_RAMP_NS_MAX: u64 = 200_000_000;

impl Conductor<'_> {
    /// Runs the probes that the plan's own steps lack, each committed like a step of the plan but as [`Phase::Probe`];
    /// the number of those that went wrong.
    ///
    /// # Errors
    /// [`ConductError`]. A probe that is refused is not an error: it is stored with the reason.
    pub(super) fn explain(&mut self, plan: &Plan, on_event: &mut OnEvent<'_>) -> Result<u32, ConductError> {
        let mut all = observations_of(self.lab, self.run)?;
        let head = self.lab.load_head(self.run)?;
        let inventory = inventory_of(&self.lab.host_of(&head)?);
        let mut facts = FactsOfRun::of_run(&head.plan, inventory.as_ref());
        let mut index = self.next_index(plan)?;
        let mut bad = 0;
        for at in 0..all.len() {
            let mut tried: Vec<LimitName> = Vec::new();
            while all[at].step().phase == Phase::Measure && !self.stopped() {
                let probes = missing_probes(&all, at).into_iter();
                let Some(probe) = probes.filter(|p| !tried.contains(&p.relieves)).map(|p| (p.relieves, p.step)).next()
                else {
                    break;
                };
                tried.push(probe.0);
                let step = short(probe.1, index);
                if !self.budget.has_time_for(&step, self.site.now().elapsed) {
                    return Ok(bad);
                }
                on_event(Event::StepStarted(&step));
                bad += u32::from(self.step(&step, on_event)?);
                let stored = self.lab.load_step(self.run, index)?;
                if let Ok(record) = &stored.outcome {
                    all.push(observation(&stored.step, record, facts.as_mut()));
                }
                index += 1;
            }
        }
        Ok(bad)
    }
}

impl Conductor<'_> {
    /// Where a ladder ends with a step that gave less than a shallower one, measures that one again: only so a device that
    /// changed is told from one that gives less at depth. True when it went wrong.
    ///
    /// # Errors
    /// [`ConductError`].
    pub(super) fn repeat_fallen(
        &mut self,
        plan: &Plan,
        last: &Step,
        on_event: &mut OnEvent<'_>,
    ) -> Result<bool, ConductError> {
        let Some(step) = step_to_repeat(&self.past.seen, last) else { return Ok(false) };
        let step = short(step, self.next_index(plan)?);
        if !self.budget.has_time_for(&step, self.site.now().elapsed) {
            return Ok(false);
        }
        on_event(Event::StepStarted(&step));
        self.step(&step, on_event)
    }

    /// Index of the next step beside the plan.
    fn next_index(&self, plan: &Plan) -> Result<u32, ConductError> {
        let last = self.lab.step_indexes(self.run)?.last().map_or(0, |i| i + 1);
        Ok(last.max(plan.steps.len() as u32))
    }
}

/// A probe with its place in the run, of a fixed and short length.
fn short(mut step: Step, index: u32) -> Step {
    step.index = index;
    let ramp_ns = step.length.ramp_ns.min(PROBE_RAMP_NS_MAX);
    step.length = RunLength::fixed(ramp_ns, step.length.budget_ns.clamp(PROBE_NS_MIN, PROBE_NS_MAX));
    step
}
