//! Where time that is left changes the answer most: one rung more of a ladder that still rises, or a probe in turns with the
//! step whose limit is least settled.

use fathom_plan::{Phase, Role, Step};

use super::probe::{self, DEPTH_MAX, Probe};
use super::seen::Seen;
use super::{Confidence, Limit, LimitName, Observation, judge};

/// How much more the first question of a run counts than the others: it is the headline.
const HEADLINE_WEIGHT: f64 = 2.0;

/// A step beside the plan that would change the answer.
#[derive(Clone, Debug, PartialEq)]
pub enum NextStep {
    /// The next rung of a ladder: like a step of the plan. Its index is that of the rung below.
    Rung(Step),
    /// A probe, to be measured in turns with the step that it explains.
    Probe {
        /// Place of the step that it explains.
        at: usize,
        /// The probe.
        probe: Probe,
    },
}

/// The step that would change most of what a run answers; `None` where all is settled or was `tried`: pairs of the index of
/// a step and what a probe of it relieved.
#[must_use]
pub fn next_step(all: &[Observation], tried: &[(u32, LimitName)]) -> Option<NextStep> {
    let all = &Seen::new(all);
    let mut out: Option<(f64, NextStep)> = None;
    for (rank, at) in answers(all).into_iter().enumerate() {
        let limit = judge(all, at);
        let weight = if rank == 0 { HEADLINE_WEIGHT } else { 1.0 };
        let found = match rung_above(all, &all[at], &limit) {
            // What rises still has no answer at all.
            Some(rung) => Some((weight, NextStep::Rung(rung))),
            None => open_probe(all, at, &limit, tried).map(|probe| {
                let open = 1.0 - limit.probability.unwrap_or(0.0);
                (weight * open, NextStep::Probe { at, probe })
            }),
        };
        // Of two as open, the one that is asked first.
        if let Some(found) = found.filter(|(score, _)| out.as_ref().is_none_or(|(most, _)| score > most)) {
            out = Some(found);
        }
    }
    out.map(|(_, step)| step)
}

/// Places of the steps that answer: of each workload the one that gave most, in the order of the plan.
fn answers(all: &[Observation]) -> Vec<usize> {
    let mut best: Vec<usize> = Vec::new();
    let counts = |o: &Observation| o.step.phase == Phase::Measure && !o.step.load.has_rates() && o.is_neighbour();
    for (at, o) in all.iter().enumerate().filter(|(_, o)| counts(o)) {
        let is_same = |b: &&mut usize| {
            let other = &all[**b].step;
            other.workload == o.step.workload && other.targets == o.step.targets
        };
        match best.iter_mut().find(is_same) {
            Some(b) if o.iops() > all[*b].iops() => *b = at,
            Some(_) => {}
            None => best.push(at),
        }
    }
    best
}

/// One rung above the step that gave most, where it is the deepest and queue depth holds it.
fn rung_above(all: &Seen<'_>, this: &Observation, limit: &Limit) -> Option<Step> {
    let is_deepest = probe::ladder(all, this).all(|o| o.in_flight() <= this.in_flight());
    // A ladder has at least two rungs: a step by itself is what the user wanted to know.
    let is_ladder = probe::ladder(all, this).any(|o| o.in_flight() < this.in_flight());
    let load = this.step.load;
    if limit.name != LimitName::QueueDepth || !is_deepest || !is_ladder || load.queue_depth > DEPTH_MAX / 2 {
        return None;
    }
    let mut step = this.step.clone();
    match this.step.engine.name.is_synchronous() {
        true => step.load.threads *= 2,
        false => step.load.queue_depth *= 2,
    }
    step.role = Role { test: this.step.role.test.clone(), ..this.step.role.beside() };
    fathom_plan::set_label(&mut step);
    Some(step)
}

/// The first probe of a step that was not tried; where there is none, what stands beside it on the ladder, once more.
fn open_probe(all: &Seen<'_>, at: usize, limit: &Limit, tried: &[(u32, LimitName)]) -> Option<Probe> {
    // A rate, the page cache, memory: known, or not to be shown by a step beside it.
    let is_open = limit.confidence != Confidence::Confirmed && limit.name != LimitName::Rate;
    let index = all[at].step.index;
    let is_new = |probe: &Probe| !tried.contains(&(index, probe.relieves));
    let probes = if is_open { probe::missing(all, at) } else { Vec::new() };
    probes.into_iter().find(is_new).or_else(|| probe::again(all, &all[at]).filter(|p| is_open && is_new(p)))
}
