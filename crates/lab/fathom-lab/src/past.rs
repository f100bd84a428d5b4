//! Runs of the lab that tell how far runs of a kind of load lie apart on a host.

use std::collections::BTreeSet;

use fathom_judge::compare::{PastRun, host_identity};
use fathom_judge::document::Document;
use fathom_judge::{stand_in, step_view};
use fathom_plan::{Phase, Plan, Step, TargetId};
use fathom_store::{Lab, RunId, RunState, StoreError};

use crate::machine::host_to_show;

/// Runs looked at, the newest first: older ones tell little of the host of today, and each costs time to read.
const RUNS_MAX: usize = 20;

/// Runs on the hosts of the compared ones, with their steps of the same kinds of load; without those compared, and without
/// imports, which may be copies of runs that the lab holds.
///
/// # Errors
/// [`StoreError`] when the lab cannot be read.
pub fn past_runs(lab: &Lab, compared: &[&Document]) -> Result<Vec<PastRun>, StoreError> {
    let hosts: Vec<String> = compared.iter().filter_map(|d| host_identity(&d.host)).collect();
    let loads: Vec<Load> = compared.iter().flat_map(|d| &d.run.plan.steps).map(load_of).collect();
    let mut past = Vec::new();
    for run in lab.runs()?.into_iter().rev() {
        if past.len() == RUNS_MAX {
            break;
        }
        let is_compared = compared.iter().any(|d| d.run.id == run.id.0);
        if is_compared || run.is_import || run.state == RunState::Running || run.steps_measured == 0 {
            continue;
        }
        past.extend(past_run(lab, run.id, &hosts, &loads)?);
    }
    Ok(past)
}

/// The last run before `run` of the same study on the same targets that measured something here.
///
/// # Errors
/// [`StoreError`] when the run is not in the lab or cannot be read.
pub fn run_before(lab: &Lab, run: RunId) -> Result<Option<RunId>, StoreError> {
    let of = lab.load_head(run)?;
    let mut before = lab.runs()?;
    before.retain(|r| r.id < run && r.study == of.summary.study && r.steps_measured > 0 && !r.is_import);
    for candidate in before.iter().rev().filter(|r| r.state != RunState::Running) {
        if targets_of(&lab.load_head(candidate.id)?.plan) == targets_of(&of.plan) {
            return Ok(Some(candidate.id));
        }
    }
    Ok(None)
}

fn targets_of(plan: &Plan) -> BTreeSet<&TargetId> {
    plan.steps.iter().flat_map(|s| &s.targets).collect()
}

/// `None` for another host, for one that the lab lost, and for a run without such a load.
fn past_run(lab: &Lab, run: RunId, hosts: &[String], loads: &[Load]) -> Result<Option<PastRun>, StoreError> {
    let head = lab.load_head(run)?;
    let host = host_to_show(lab.host_of(&head).unwrap_or_default());
    // Such figures say nothing of how far runs on a machine lie apart.
    if stand_in(&host).is_some() {
        return Ok(None);
    }
    if !host_identity(&host).is_some_and(|identity| hosts.contains(&identity)) {
        return Ok(None);
    }
    let mut steps = Vec::new();
    let planned = |index: u32| head.plan.steps.iter().find(|s| s.index == index);
    for index in lab.step_indexes(run)? {
        if planned(index).is_some_and(|s| s.phase == Phase::Measure && loads.contains(&load_of(s))) {
            let stored = lab.load_step(run, index)?;
            steps.push(step_view(&stored.step, stored.outcome.as_ref()));
        }
    }
    let machine = head.plan.machine.map(|machine| machine.text);
    let past = PastRun { run: run.0, fathom: head.summary.fathom_version, machine, host, steps };
    Ok((!past.steps.is_empty()).then_some(past))
}

/// What a step must have in common with a compared one to be read at all; the kind of load is judged later.
type Load = (fathom_plan::OpMix, fathom_plan::Pattern, u32);

fn load_of(step: &Step) -> Load {
    (step.workload.mix, step.workload.pattern, step.workload.block_bytes_max())
}
