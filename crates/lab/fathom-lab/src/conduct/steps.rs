//! The steps of a run, one after the other: each is run, judged and committed.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use fathom_judge::document::{StepState, StepView};
use fathom_judge::{limit_view, step_view};
use fathom_message::{Message, msg};
use fathom_model::{Observation, attribute, same_ladder};
use fathom_plan::{Phase, Plan, Step, StudyHead, slices, timed};
use fathom_record::{Progress, StepFailure, StepRecord, Warning};
use fathom_store::{Lab, RunId};

use super::budget::Budget;
use super::floor::Floors;
use super::goal_search::usual_rates;
use super::loops::{Loops, is_cut};
use super::surface::Pairs;
use super::surface::expected_runs;
use super::{ConductError, ConductOptions, Event, OnEvent};
use crate::ranks::Ranks;
use crate::site::{Site, SiteControl};
use crate::view::view_of;

/// What of a run is behind it.
#[derive(Default)]
pub(super) struct Past {
    /// Steps measured so far: neighbours of the next one.
    pub(super) seen: Vec<Observation>,
    loops: Loops,
    floors: Floors,
    pairs: Pairs,
    /// Steps that ended before this process took over.
    done: BTreeSet<u32>,
    /// Steps that were predicted.
    pub(super) predicted: BTreeSet<u32>,
}

impl Past {
    /// True if a step ended before this process took over.
    pub(super) fn has_ended(&self, index: u32) -> bool {
        self.done.contains(&index)
    }

    /// Whether the step ended before, its loop is steady, or other steps decide what it would show.
    fn is_over(&self, step: &Step) -> bool {
        self.done.contains(&step.index) || self.loops.is_over(step) || self.pairs.decide(step)
    }

    /// The step with the rate that what was measured so far makes of its share.
    fn with_rate(&self, step: &Step) -> Step {
        step.with_rate_of(self.seen.iter().map(|o| (o.step(), o.iops())))
    }

    /// Which of these steps would be run as they are now, if nothing happened that decides otherwise.
    fn coming<'s>(&'s self, steps: &'s [Step]) -> impl Iterator<Item = Step> + 's {
        let alone = steps.iter().filter(|s| s.role.stream.is_none() && !self.is_over(s));
        alone.map(|s| self.with_rate(s)).filter(|s| !s.lacks_rate())
    }
}

/// Conducts the steps of one run.
pub(super) struct Conductor<'a> {
    pub(super) lab: &'a mut Lab,
    pub(super) run: RunId,
    study: &'a StudyHead,
    pub(super) site: &'a mut dyn Site,
    stop: &'a AtomicBool,
    options: &'a ConductOptions,
    pub(super) past: Past,
    pub(super) budget: Budget,
    /// Until when probes may take the time that steps leave; `None` until the first step, and in virtual time.
    rest: Option<Budget>,
}

impl<'a> Conductor<'a> {
    /// Takes note of the steps that ended already.
    ///
    /// # Errors
    /// The lab cannot be read, or the site cannot go on where they ended.
    pub(super) fn new(
        lab: &'a mut Lab,
        run: RunId,
        study: &'a StudyHead,
        site: &'a mut dyn Site,
        stop: &'a AtomicBool,
        options: &'a ConductOptions,
    ) -> Result<Self, ConductError> {
        // Wall time says nothing about virtual time; the plan was scaled to the budget before.
        let budget_ns = options.time_budget_ns.filter(|_| site.is_in_real_time());
        let budget = Budget::new(budget_ns, site.now().elapsed);
        let mut conductor =
            Conductor { lab, run, study, site, stop, options, past: Past::default(), budget, rest: None };
        conductor.recall()?;
        Ok(conductor)
    }

    fn recall(&mut self) -> Result<(), ConductError> {
        let predictions = self.lab.predictions(self.run)?;
        self.past.predicted = predictions.iter().flat_map(|p| &p.steps).map(|s| s.index).collect();
        for index in self.lab.step_indexes(self.run)? {
            let stored = self.lab.load_step(self.run, index)?;
            let record = stored.outcome.as_ref().ok();
            if record.is_some_and(is_cut) {
                // Half a step is none: it is measured again, and must not be counted twice.
                self.lab.drop_step(self.run, index)?;
                continue;
            }
            if let Some(record) = record {
                self.site.recall(&stored.step, record, self.stop).map_err(|failure| ConductError::NotAgain {
                    run: self.run,
                    step: stored.step.label.clone(),
                    why: fathom_message::Say::message(&failure),
                })?;
            }
            self.past.loops.begin(&stored.step);
            self.past.loops.take(&stored.step, record);
            self.past.pairs.see(&stored.step, &step_view(&stored.step, stored.outcome.as_ref()));
            let is_alone = stored.step.role.stream.is_none();
            if let Some(record) = record.filter(|_| stored.step.phase == Phase::Measure && is_alone) {
                self.past.floors.see(&stored.step, record);
                self.past.seen.push(Observation::of(&stored.step, record));
            }
            self.past.done.insert(index);
        }
        Ok(())
    }

    /// Runs what is left of the plan; the number of steps that went wrong.
    ///
    /// # Errors
    /// [`ConductError`]; settings that were changed are put back first.
    pub(super) fn steps(&mut self, plan: &Plan, on_event: &mut OnEvent<'_>) -> Result<u32, ConductError> {
        let mut result = self.all_steps(plan, on_event);
        if self.options.explain && !self.stopped() {
            result = result.and_then(|bad| Ok(bad + self.explain(plan, on_event)?));
        } else if let (true, Some(rest)) = (plan.study.settle && !self.stopped(), self.rest.take()) {
            result = result.and_then(|bad| Ok(bad + self.settle(plan, &rest, on_event)?));
        }
        self.site.restore()?;
        result
    }

    fn all_steps(&mut self, plan: &Plan, on_event: &mut OnEvent<'_>) -> Result<u32, ConductError> {
        let mut shown = |p: &Progress| on_event(Event::Activity(p));
        let mut control = SiteControl::new(self.stop, &mut shown);
        if let Err(error) = self.site.prepare(plan, &mut control).map_err(ConductError::from) {
            self.give_up(plan, &error)?;
            return Err(error);
        }
        // Virtual time is not left over.
        let to_run = || timed(&plan.steps).filter(|s| !self.is_over(s));
        self.rest = self.site.is_in_real_time().then(|| self.budget.or_length_of(to_run(), self.site.now().elapsed));
        let mut bad = 0;
        let mut next = 0;
        for at_once in slices(&plan.steps) {
            let (at, step) = (next, &at_once[0]);
            next += at_once.len();
            if self.stopped() {
                break;
            }
            if at_once.len() > 1 {
                bad += self.streams(at_once, &plan.steps[at..], on_event)?;
                continue;
            }
            if self.is_over(step) {
                bad += self.resume_search(plan, at, on_event)?;
                continue;
            }
            if self.budget.is_used_up(self.site.now().elapsed) && self.past.loops.out_of_time(step) {
                on_event(Event::Note(&msg!("run-budget-used-up")));
                continue;
            }
            self.past.loops.begin(step);
            if self.options.predict && step.phase == Phase::Measure {
                self.predict_ladder(&plan.steps[at..], on_event)?;
            }
            // A search that follows a step takes as long as so many of it.
            let rest: Vec<&Step> = timed(&plan.steps[at..]).filter(|s| !self.is_over(s)).collect();
            let rest = expected_runs(&rest, |step| usual_rates(&plan.steps, step));
            let fitted = self.budget.fitted(step, rest.into_iter(), self.site.now().elapsed);
            // A step that ends when its figures are known has no floor that could be raised.
            let raises = !self.site.ends_when_known();
            let (fitted, note) = if raises { self.past.floors.raised(fitted) } else { (fitted, None) };
            if let Some(note) = note {
                on_event(Event::Note(&note));
            }
            let step = &self.past.with_rate(&fitted);
            self.site.expect(&mut self.past.coming(&plan.steps[at..]));
            on_event(Event::StepStarted(std::slice::from_ref(step)));
            bad += u32::from(self.step(step, on_event)?);
            let is_last = !plan.steps[at + 1..].iter().any(|later| same_ladder(later, step));
            if is_last && step.phase == Phase::Measure && !self.stopped() {
                bad += u32::from(self.repeat_fallen(plan, step, on_event)?);
            }
            bad += self.search_goal(plan, at, step, on_event)?;
        }
        Ok(bad)
    }

    fn is_over(&self, step: &Step) -> bool {
        self.past.is_over(step)
    }

    /// Without its files no step can run: each is kept with the reason, for a refused result is a result.
    fn give_up(&mut self, plan: &Plan, error: &ConductError) -> Result<(), ConductError> {
        let ConductError::Layout { path, why, help } = error else { return Ok(()) };
        for step in plan.steps.iter().filter(|s| !self.past.done.contains(&s.index)) {
            let what = msg!("run-laying-out", path = path);
            let refused = StepFailure::Refused { what, why: why.clone(), help: help.clone() };
            self.lab.commit_step(self.run, step, Err(&refused))?;
        }
        Ok(())
    }

    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Runs and commits one step; true when it went wrong.
    pub(super) fn step(&mut self, step: &Step, on_event: &mut OnEvent<'_>) -> Result<bool, ConductError> {
        let begun = self.site.now().elapsed;
        let result = self.run_step(step, &mut |p| on_event(Event::StepProgress(std::slice::from_ref(step), p)))?;
        self.lab.commit_step(self.run, step, result.as_ref())?;
        let record = result.as_ref().ok();
        if self.past.loops.take(step, record) {
            on_event(Event::Steady(step));
        }
        let mut view = view_of(self.study, step, result.as_ref());
        if let Some(record) = record.filter(|_| step.phase == Phase::Measure) {
            self.past.floors.see(step, record);
            self.past.seen.push(Observation::of(step, record));
            view.limit = limit_view(attribute(&self.past.seen, self.past.seen.len() - 1));
        }
        self.past.pairs.see(step, &view);
        on_event(Event::StepEnded(&view));
        let measured_ns = record.map_or(0, |r| r.runtime_ns) + step.length.ramp_ns;
        self.budget.step_took(self.site.now().elapsed.saturating_sub(begun), measured_ns);
        Ok(went_wrong(&view, &result))
    }

    /// Runs and commits streams that run at once; how many went wrong. `rest`: the plan from them on.
    fn streams(&mut self, streams: &[Step], rest: &[Step], on_event: &mut OnEvent<'_>) -> Result<u32, ConductError> {
        if streams.iter().all(|s| self.past.done.contains(&s.index)) {
            return Ok(0);
        }
        // Killed between two commits: a stream's figures belong to those that ran with it, so all are measured again.
        for stream in streams.iter().filter(|s| self.past.done.remove(&s.index)) {
            self.lab.drop_step(self.run, stream.index)?;
        }
        let now = self.site.now().elapsed;
        let left = || timed(rest).filter(|s| !self.is_over(s)).map(|step| (step, 1.0));
        let fitted: Vec<Step> = streams.iter().map(|step| self.budget.fitted(step, left(), now)).collect();
        on_event(Event::StepStarted(&fitted));
        let mut on_progress = |p: &Progress| on_event(Event::StepProgress(&fitted, p));
        let mut control = SiteControl::new(self.stop, &mut on_progress);
        control.making_within = fitted.iter().filter_map(|step| self.budget.making_files(step)).min();
        let results = match fitted.iter().find_map(|s| self.refuse_lacking(s).err()) {
            Some(failure) => fitted.iter().map(|_| Err(failure.clone())).collect(),
            None => self.site.run_streams(&fitted, &mut control)?,
        };
        let mut bad = 0;
        for (step, result) in fitted.iter().zip(&results) {
            self.lab.commit_step(self.run, step, result.as_ref())?;
            let view = view_of(self.study, step, result.as_ref());
            on_event(Event::StepEnded(&view));
            bad += u32::from(went_wrong(&view, result));
        }
        let measured = |(step, result): (&Step, &Result<StepRecord, StepFailure>)| {
            result.as_ref().map_or(0, |record| record.runtime_ns) + step.length.ramp_ns
        };
        let measured_ns = fitted.iter().zip(&results).map(measured).max().unwrap_or(0);
        self.budget.step_took(self.site.now().elapsed.saturating_sub(now), measured_ns);
        Ok(bad)
    }

    /// Runs one step at the site, without keeping anything of it. The outer error ends the run.
    pub(super) fn run_step(
        &mut self,
        step: &Step,
        on_progress: &mut dyn FnMut(&Progress),
    ) -> Result<Result<StepRecord, StepFailure>, ConductError> {
        if let Err(failure) = self.refuse_lacking(step) {
            return Ok(Err(failure));
        }
        let mut control = SiteControl::new(self.stop, on_progress);
        control.making_within = self.budget.making_files(step);
        Ok(self.site.run(step, &mut control)?)
    }

    /// Refuses a step that lacks what it is asked with.
    fn refuse_lacking(&self, step: &Step) -> Result<(), StepFailure> {
        let ranks = self.options.ranks.as_ref().map_or(1, Ranks::count);
        refuse_missing_rate(step)
            .and_then(|()| refuse_missing_drives(step))
            .and_then(|()| refuse_missing_ranks(step, ranks))
            .and_then(|()| self.refuse_used_file(step))
    }

    /// A file is new once: a step that asks for a new one by hand is refused where an earlier step of the run used it.
    fn refuse_used_file(&self, step: &Step) -> Result<(), StepFailure> {
        let is_used = || self.past.seen.iter().any(|o| o.step().targets.iter().any(|used| step.targets.contains(used)));
        if step.role.new_file.is_default() || step.role.job.is_some() || !is_used() {
            return Ok(());
        }
        Err(StepFailure::Refused {
            what: Message::verbatim(step.label.clone()),
            why: msg!("new-file-is-used", word = step.role.new_file.as_str()),
            help: msg!("new-file-is-used-help"),
        })
    }
}

/// True if a step yielded nothing although the machine has what it measures, or failed I/Os or damaged data.
fn went_wrong(view: &StepView, result: &Result<StepRecord, StepFailure>) -> bool {
    match result {
        Ok(r) => r.errors() > 0 || r.warnings.iter().any(|w| matches!(w, Warning::VerifyFailed { .. })),
        Err(_) => view.state != StepState::Skipped,
    }
}

/// A step by more ranks than there are is refused by name, not left out in silence. `ranks`: how many run the plan.
fn refuse_missing_ranks(step: &Step, ranks: u32) -> Result<(), StepFailure> {
    let Some(wanted) = step.role.ranks.as_ref().map(|of| of.count).filter(|wanted| *wanted > ranks) else {
        return Ok(());
    };
    Err(StepFailure::Refused {
        what: Message::verbatim(step.label.clone()),
        why: msg!("ranks-too-few", wanted = wanted, has = ranks),
        help: msg!("ranks-too-few-help", wanted = wanted),
    })
}

/// A step over more drives than its group has is refused by name, not left out in silence.
fn refuse_missing_drives(step: &Step) -> Result<(), StepFailure> {
    let Some(wanted) = step.role.devices.filter(|n| *n as usize > step.targets.len()) else { return Ok(()) };
    Err(StepFailure::Refused {
        what: Message::verbatim(step.label.clone()),
        why: msg!("step-missing-drives", wanted = wanted, group = &step.group, has = step.targets.len()),
        help: msg!("step-missing-drives-help"),
    })
}

/// A share of what was not measured is no rate; without one the step would be a closed loop under the name of another.
fn refuse_missing_rate(step: &Step) -> Result<(), StepFailure> {
    let why = match step.missing_rate() {
        _ if !step.lacks_rate() => return Ok(()),
        Some(share) => msg!("step-missing-rate", pct = share.pct),
        None => msg!("step-missing-rates"),
    };
    Err(StepFailure::Refused { what: Message::verbatim(step.label.clone()), why, help: msg!("step-missing-rate-help") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_without_the_rate_it_is_a_share_of_is_refused_by_name() {
        let mut step = crate::samples::step();
        assert!(refuse_missing_rate(&step).is_ok());
        let process = fathom_plan::RateProcess::Poisson;
        step.role.rate_share = Some(fathom_plan::RateShare { pct: 75, process });
        let Err(StepFailure::Refused { what, why, .. }) = refuse_missing_rate(&step) else { panic!("not refused") };
        assert_eq!(what.as_verbatim(), Some(step.label.as_str()));
        assert_eq!(why.id(), "step-missing-rate");
        step.load.rate = Some(fathom_plan::Rate { iops: 100.0, process });
        assert!(refuse_missing_rate(&step).is_ok());
    }
}
