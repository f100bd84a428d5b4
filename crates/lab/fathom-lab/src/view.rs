//! From the store to the [`Document`]: the steps of a run are read one by one and judged together.

use fathom_inspect::Inventory;
use fathom_judge::compare::{MARGIN_PCT, compare_arms};
use fathom_judge::document::{Document, FioCommand, NextCommand, RunInfo, SCHEMA, StepState, StepView};
use fathom_judge::{
    Loops, StreamSets, add_prediction, is_lacking, known_rfc3339, ladders, references, report, rfc3339, set_limits,
    set_predicted, set_stream_limits, stand_in, step_view, trust, trust_of_import, trust_of_stand_in, verdicts,
    withhold_intervals,
};
use fathom_message::{Message, msg};
use fathom_model::{NextStep, Observation, level_turns, next_step};
use fathom_plan::{Phase, Step, StudyHead, fio_command, label_message, set_label};
use fathom_record::{StepFailure, StepRecord};
use fathom_store::{Lab, RunHead, RunId, RunState, RunSummary, StoreError};

use crate::facts::{FactsOfRun, inventory_of, observation};
use crate::links::link_loads;
use crate::machine::host_to_show;
use crate::site::simulated_caveat;

/// The answer of a run in a sentence; `None` while it runs. The lab keeps it: judging a long run again takes seconds.
///
/// # Errors
/// [`StoreError`] when the run is not in the lab or cannot be read.
pub fn headline_of(lab: &Lab, run: &RunSummary) -> Result<Option<Message>, StoreError> {
    // Builds of one version may judge otherwise: what another set of rules said is judged again.
    const RULES: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("FATHOM_RULES"));
    if run.state == RunState::Running {
        return Ok(None);
    }
    if let Some(kept) = lab.headline(run.id, RULES)? {
        return Ok(Some(kept));
    }
    let document = document_of(lab, run.id)?;
    let Some(verdict) = document.verdict.first() else { return Ok(None) };
    let sentence = verdict.brief.headline.clone();
    // A lab that cannot be written to, or that a run is writing to, is read all the same.
    let _not_kept = lab.keep_headline(run.id, RULES, &sentence);
    Ok(Some(sentence))
}

/// View of one ended step of a study: refused for what the machine lacks, it may be skipped instead.
pub(crate) fn view_of(study: &StudyHead, step: &Step, outcome: Result<&StepRecord, &StepFailure>) -> StepView {
    let mut view = step_view(step, outcome);
    if study.skip_lacking && outcome.is_err_and(is_lacking) {
        view.state = StepState::Skipped;
    }
    view
}

/// Steps that the run would have measured had it not stopped early. A finished run leaves out what it needed no more.
fn not_reached(head: &RunHead, steps: &[StepView]) -> usize {
    let is_missing = |index: u32| steps.iter().all(|step| step.index != index);
    let planned = head.plan.steps.iter().filter(|step| step.phase == Phase::Measure);
    match head.summary.state {
        RunState::Finished => 0,
        RunState::Running | RunState::Interrupted | RunState::Failed => {
            planned.filter(|step| is_missing(step.index)).count()
        }
    }
}

/// Builds the document of a stored run, one step at a time: a thousand records would not fit small machines.
///
/// # Errors
/// [`StoreError`] when the run is not in the lab or cannot be read.
pub fn document_of(lab: &Lab, run: RunId) -> Result<Document, StoreError> {
    let mut head = lab.load_head(run)?;
    // A lab that lost its host facts still has its figures; the answer says so.
    let known = lab.host_of(&head);
    let host_is_lost = known.is_err();
    let host = host_to_show(known.unwrap_or_default());
    let inventory = inventory_of(&host);
    let mut steps = Vec::new();
    let mut seen = Vec::new();
    let mut loops = Loops::default();
    let mut rates = Vec::new();
    let mut sets = StreamSets::default();
    let mut streams = Vec::new();
    let mut facts = FactsOfRun::of_run(&head.plan, inventory.as_ref());
    for index in lab.step_indexes(run)? {
        let stored = lab.load_step(run, index)?;
        let mut view = view_of(&head.plan.study, &stored.step, stored.outcome.as_ref());
        let record = stored.outcome.as_ref().ok();
        if head.summary.is_import && view.phase == Phase::Measure && view.state == StepState::Measured {
            view.state = StepState::Imported;
        }
        if let Some(record) = record {
            loops.see(&stored.step, record);
            place_in_run(&mut view, record, head.summary.started_unix_ns, inventory.as_ref());
        }
        let is_share = stored.step.role.rate_share.is_some() || stored.step.role.rate_pair.is_some();
        let made = stored.step.load.rate.filter(|_| is_share);
        rates.extend(made.map(|rate| (index, rate, stored.step.workload.mix)));
        steps.push(view);
        // What the host counted is of all streams of a set together: no single one is explained by it.
        let alone = record.filter(|_| stored.step.role.stream.is_none());
        seen.push(alone.map(|record| observation(&stored.step, record, facts.as_mut())));
        if let Some(record) = record.filter(|_| stored.step.role.stream.is_some()) {
            sets.see(&stored.step, record);
            streams.push((steps.len() - 1, observation(&stored.step, record, facts.as_mut())));
        }
    }
    withhold_intervals(&mut steps);
    loops.judge(&mut steps);
    // The plan of the document says at which rate a share was run.
    for (index, rate, mix) in rates {
        if let Some(step) = head.plan.steps.iter_mut().find(|s| s.index == index) {
            (step.load.rate, step.workload.mix) = (Some(rate), mix);
        }
    }
    set_limits(&mut steps, &seen);
    set_stream_limits(&mut steps, &seen, &streams);
    let prediction = set_predicted(&mut steps, &lab.predictions(run)?);
    let mut document = Document {
        fathom: head.summary.fathom_version.clone(),
        schema: SCHEMA,
        trust: Some(match stand_in(&host) {
            Some(system) => trust_of_stand_in(system),
            None if head.summary.is_import && head.plan.machine.is_none() => trust_of_import(),
            None => trust(&steps, not_reached(&head, &steps), head.plan.machine.is_some()),
        }),
        verdict: Vec::new(),
        run: run_info(&head),
        host,
        ladders: ladders(&steps),
        loops: fathom_judge::loops(&steps),
        stream_sets: sets.finish(),
        groups: fathom_judge::groups(&steps),
        goals: fathom_judge::goals(&steps),
        surfaces: fathom_judge::surfaces(&steps),
        arrays: fathom_judge::arrays(&steps),
        paths: fathom_judge::paths(&steps),
        steps,
        comparison: None,
        references: references(&head.summary.study),
        prediction,
    };
    document.comparison = compare_arms(&document, MARGIN_PCT);
    document.verdict = verdicts(
        head.summary.id.0,
        &head.summary.study,
        &document.run.question,
        &document.steps,
        document.comparison.as_ref(),
        &document.stream_sets,
    );
    if let (Some(prediction), Some(first)) = (&document.prediction, document.verdict.first_mut()) {
        add_prediction(&mut first.brief, prediction, &document.steps);
    }
    let open = head.plan.study.settle.then(|| would_settle(seen.into_iter().flatten().collect())).flatten();
    if let (Some(open), Some(first)) = (open, document.verdict.first_mut()) {
        first.would_help.push(open);
    }
    if let (Some(machine), Some(first)) = (&head.plan.machine, document.verdict.first_mut()) {
        first.caveats.insert(0, simulated_caveat(machine, &document.steps));
    }
    if let (Some(system), Some(first)) = (stand_in(&document.host), document.verdict.first_mut()) {
        first.caveats.insert(0, msg!("verdict-stand-in", system = system.to_owned()));
    }
    if head.summary.is_import {
        // Its run was measured elsewhere: no command measures it again.
        let is_run = |next: &NextCommand| next.command.starts_with("fathom run");
        let of_sides = document.comparison.iter_mut().map(|comparison| &mut comparison.brief);
        for brief in document.verdict.iter_mut().map(|verdict| &mut verdict.brief).chain(of_sides) {
            brief.next = brief.next.take().map(|next| if is_run(&next) { report(run.0) } else { next });
        }
    }
    if let Some(first) = document.verdict.first_mut().filter(|_| host_is_lost) {
        first.caveats.insert(0, msg!("verdict-host-lost"));
    }
    Ok(document)
}

/// The step that would settle what is open in the answer, in words; `None` where nothing is.
fn would_settle(mut seen: Vec<Observation>) -> Option<Message> {
    level_turns(&mut seen);
    let mut step = match next_step(&seen, &[])? {
        NextStep::Rung(step) => step,
        NextStep::Probe { probe, .. } => probe.step,
    };
    set_label(&mut step);
    Some(msg!("verdict-would-settle", step = label_message(&step)))
}

/// Adds what takes the run around the step: when in the run it was measured, and what its links carried.
fn place_in_run(view: &mut StepView, record: &StepRecord, run_started_unix_ns: u64, inventory: Option<&Inventory>) {
    let since = record.started_unix_ns.checked_sub(run_started_unix_ns);
    view.run_offset_s = since.filter(|_| !record.intervals.is_empty()).map(|ns| ns as f64 / 1e9);
    if let (Some(inventory), Some(host)) = (inventory, &record.host) {
        view.links = link_loads(inventory, host);
    }
}

fn run_info(head: &RunHead) -> RunInfo {
    let run = &head.summary;
    let finished = run.finished_unix_ns.filter(|_| run.started_unix_ns > 0);
    RunInfo {
        id: run.id.0,
        study: run.study.clone(),
        question: head.plan.question_message(),
        state: run.state,
        started: known_rfc3339(run.started_unix_ns),
        finished: finished.map(rfc3339),
        elapsed_s: finished.map(|f| f.saturating_sub(run.started_unix_ns) as f64 / 1e9),
        command: run.command_line.clone(),
        plan: head.plan.clone(),
        fio_commands: head
            .plan
            .steps
            .iter()
            .filter(|s| s.role.imported.can_run())
            .map(|s| FioCommand { step: s.index, command: fio_command(s) })
            .collect(),
    }
}
