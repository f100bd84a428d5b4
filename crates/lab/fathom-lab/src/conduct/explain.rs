//! Steps beside the plan: probes that relieve one part each, in turns with the step they explain, for every measured step
//! whose limit is not confirmed yet or, where time is left, for those that decide the answer; and the step of a ladder
//! that a deeper one fell from, once more.

use fathom_message::msg;
use fathom_model::{LimitName, NextStep, Observation, Probe, level_turns, missing_probes, next_step, step_to_repeat};
use fathom_plan::{Phase, Plan, RunLength, Step, Turn, alone};

use super::budget::Budget;
use super::steps::Conductor;
use super::{ConductError, Event, OnEvent};
use crate::facts::{FactsOfRun, inventory_of, observation, observations_of};

/// Longest measured time of each of the four steps of a probe: together they tell a tenth more from as much.
const TURN_NS_MAX: u64 = 2_000_000_000;
/// Shortest.
const TURN_NS_MIN: u64 = 500_000_000;
/// Longest warm-up of each.
const TURN_RAMP_NS_MAX: u64 = 200_000_000;
/// The step that is explained and its probe take turns: a drift that is even changes both alike.
const PROBE_TURNS: [bool; 4] = [false, true, true, false];

impl Conductor<'_> {
    /// Runs the probes that the plan's own steps lack, each committed like a step of the plan but as [`Phase::Probe`];
    /// the number of those that went wrong.
    ///
    /// # Errors
    /// [`ConductError`]. A probe that is refused is not an error: it is stored with the reason.
    pub(super) fn explain(&mut self, plan: &Plan, on_event: &mut OnEvent<'_>) -> Result<u32, ConductError> {
        let mut bad = self.streams_alone(plan, on_event)?;
        let mut all = observations_of(self.lab, self.run)?;
        let budget = self.budget.clone();
        for at in 0..all.len() {
            let mut tried: Vec<LimitName> = Vec::new();
            while is_explained(all[at].step()) && !self.stopped() {
                let mut probes = missing_probes(&all, at).into_iter();
                let Some(probe) = probes.find(|p| !tried.contains(&p.relieves)) else { break };
                tried.push(probe.relieves);
                let steps = self.turns(plan, all[at].step(), &probe)?;
                if !budget.has_time_for(&steps, self.site.now().elapsed) {
                    return Ok(bad);
                }
                bad += self.beside(&steps, &mut all, on_event)?;
            }
        }
        Ok(bad)
    }

    /// Runs each stream of the plan once more, alone: what it gives without the others beside it. The number of those that
    /// went wrong.
    fn streams_alone(&mut self, plan: &Plan, on_event: &mut OnEvent<'_>) -> Result<u32, ConductError> {
        let mut bad = 0;
        // A run that goes on has some of them already.
        let seen = observations_of(self.lab, self.run)?;
        let has =
            |stream: &Step| seen.iter().filter_map(|o| o.step().role.alone.as_ref()).any(|a| a.step == stream.index);
        for stream in plan.steps.iter().filter(|s| !has(s)) {
            let Some(step) = alone(stream, self.next_index(plan)?) else { continue };
            if self.stopped() || !self.budget.has_time_for(std::slice::from_ref(&step), self.site.now().elapsed) {
                break;
            }
            on_event(Event::StepStarted(std::slice::from_ref(&step)));
            bad += u32::from(self.step(&step, on_event)?);
        }
        Ok(bad)
    }

    /// Spends the time until the end of `budget` where it changes the answer most; the number of steps that went wrong.
    ///
    /// # Errors
    /// [`ConductError`].
    pub(super) fn settle(
        &mut self,
        plan: &Plan,
        budget: &Budget,
        on_event: &mut OnEvent<'_>,
    ) -> Result<u32, ConductError> {
        let mut all = observations_of(self.lab, self.run)?;
        let mut tried: Vec<(u32, LimitName)> = Vec::new();
        let (mut bad, mut is_said) = (0, false);
        while !self.stopped() {
            let Some(next) = next_step(&all, &tried) else { break };
            let steps = match next {
                NextStep::Rung(step) => vec![Step { index: self.next_index(plan)?, ..step }],
                NextStep::Probe { at, probe } => {
                    tried.push((all[at].step().index, probe.relieves));
                    self.turns(plan, all[at].step(), &probe)?
                }
            };
            if !budget.has_time_for(&steps, self.site.now().elapsed) {
                break;
            }
            if !std::mem::replace(&mut is_said, true) {
                on_event(Event::Note(&msg!("run-settles")));
            }
            let went_wrong = self.beside(&steps, &mut all, on_event)?;
            bad += went_wrong;
            if went_wrong > 0 {
                break;
            }
        }
        Ok(bad)
    }

    /// Runs steps beside the plan and takes note of them; the number of those that went wrong.
    fn beside(
        &mut self,
        steps: &[Step],
        all: &mut Vec<Observation>,
        on_event: &mut OnEvent<'_>,
    ) -> Result<u32, ConductError> {
        let head = self.lab.load_head(self.run)?;
        let inventory = inventory_of(&self.lab.host_of(&head)?);
        let mut facts = FactsOfRun::of_run(&head.plan, inventory.as_ref());
        let mut bad = 0;
        for step in steps {
            if self.stopped() {
                break;
            }
            on_event(Event::StepStarted(std::slice::from_ref(step)));
            let is_bad = self.step(step, on_event)?;
            bad += u32::from(is_bad);
            let stored = self.lab.load_step(self.run, step.index)?;
            if let Ok(record) = &stored.outcome {
                all.push(observation(&stored.step, record, facts.as_mut()));
            }
            if is_bad {
                // What cannot be run once need not be tried in turns.
                break;
            }
        }
        level_turns(all);
        Ok(bad)
    }

    /// The four steps of a probe, with their places in the run.
    fn turns(&self, plan: &Plan, explained: &Step, probe: &Probe) -> Result<Vec<Step>, ConductError> {
        let block = self.next_index(plan)?;
        let again = again(explained);
        let turn = |(i, is_probe): (u32, bool)| {
            let mut step = short(if is_probe { probe.step.clone() } else { again.clone() }, block + i);
            step.role.turn = Some(Turn { explains: explained.index, block, is_probe });
            step
        };
        Ok((0..).zip(PROBE_TURNS).map(turn).collect())
    }

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
        if !self.budget.has_time_for(std::slice::from_ref(&step), self.site.now().elapsed) {
            return Ok(false);
        }
        on_event(Event::StepStarted(std::slice::from_ref(&step)));
        self.step(&step, on_event)
    }

    /// Index of the next step beside the plan.
    pub(super) fn next_index(&self, plan: &Plan) -> Result<u32, ConductError> {
        let last = self.lab.step_indexes(self.run)?.last().map_or(0, |i| i + 1);
        Ok(last.max(plan.steps.len() as u32))
    }
}

/// Steps of the plan, and what holds a stream when it is alone: where it loses nothing beside the others, the same holds it.
fn is_explained(step: &Step) -> bool {
    step.phase == Phase::Measure || step.role.alone.is_some()
}

/// A step of the plan once more, beside it.
fn again(step: &Step) -> Step {
    let mut again = step.clone();
    again.label = format!("{} (again)", step.label);
    again.phase = Phase::Probe;
    again.role = step.role.beside();
    again
}

/// A probe with its place in the run, of a fixed and short length.
fn short(mut step: Step, index: u32) -> Step {
    step.index = index;
    let ramp_ns = step.length.ramp_ns.min(TURN_RAMP_NS_MAX);
    // A file is made or removed once, however short the probe is.
    let passes = step.length.passes.filter(|_| step.workload.order.files.is_some());
    let length = RunLength::fixed(ramp_ns, step.length.budget_ns.clamp(TURN_NS_MIN, TURN_NS_MAX));
    step.length = RunLength { passes, ..length };
    step
}
