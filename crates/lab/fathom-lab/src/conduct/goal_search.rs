//! Search for the highest offered rate that keeps a latency goal: by halves between the highest rate that keeps it and the lowest
//! that does not, after the rates of the plan.

use fathom_judge::{keeps_by_far, step_view};
use fathom_message::msg;
use fathom_plan::{Load, Phase, Plan, Rate, Role, Step, rate_base, set_label};

use super::steps::Conductor;
use super::{ConductError, Event, OnEvent};

/// The search ends where the two rates differ by no more than this factor.
const RESOLUTION: f64 = 1.03;
/// Most rates of a search.
const RATES_MAX: usize = 8;
/// Rates of a usual search, which a time budget sets aside: from a grid of quarters to the resolution.
const RATES_USUAL: usize = 5;

/// An offered rate, I/Os per second, and whether it keeps the goal; `None`: too near or too short to tell.
type Tried = (f64, Option<bool>);

/// True if the highest rate that keeps the goal of this step is searched: it offers a share of the rate of a closed loop.
fn is_searched(step: &Step) -> bool {
    let role = &step.role;
    let is_alone = role.rate_pair.is_none() && role.block.is_none() && role.stream.is_none() && role.round.is_none();
    step.phase == Phase::Measure && role.latency_goal.is_some() && role.rate_share.is_some() && is_alone
}

/// True if two steps differ in nothing but the rate.
fn is_same_kind(a: &Step, b: &Step) -> bool {
    let closed = |step: &Step| Load { rate: None, ..step.load };
    let process = |step: &Step| {
        let measured = step.load.rate.map(|rate| rate.process);
        step.role.rate_share.as_ref().map(|share| share.process).or(measured)
    };
    let place = |s: &Step| (s.group.clone(), s.targets.clone(), s.placement.clone(), s.memory.clone());
    let share_of_target = |s: &Step| s.role.footprint_pct.filter(|_| s.workload.region.size_bytes.is_none());
    let ties = |s: &Step| (s.role.settings.clone(), s.role.ranks.clone(), share_of_target(s), s.role.latency_goal);
    let is_one_load = closed(a) == closed(b) && process(a) == process(b) && a.workload == b.workload;
    is_one_load && a.engine == b.engine && place(a) == place(b) && ties(a) == ties(b)
}

/// Number of rates that are searched after step `at` of the plan in the usual case, and at most.
fn rates_after(steps: &[Step], at: usize) -> (usize, usize) {
    let step = &steps[at];
    let is_last =
        is_searched(step) && !steps[at + 1..].iter().any(|later| is_searched(later) && is_same_kind(later, step));
    if is_last { (RATES_USUAL, RATES_MAX) } else { (0, 0) }
}

/// Number of rates that are usually searched after a step of these.
pub(super) fn usual_rates(steps: &[Step], step: &Step) -> usize {
    let at = steps.iter().position(|s| s.index == step.index).filter(|_| is_searched(step));
    at.map_or(0, |at| rates_after(steps, at).0)
}

/// Longest time of the searches of a plan, ns.
#[must_use]
pub fn goal_search_ns(plan: &Plan) -> u64 {
    let most = |at: usize| {
        let length = plan.steps[at].length;
        rates_after(&plan.steps, at).1 as u64 * (length.ramp_ns + length.budget_ns)
    };
    (0..plan.steps.len()).map(most).sum()
}

/// Whole I/Os per second, which read better; a rate below ten is too low for that.
fn whole(iops: f64) -> f64 {
    if iops >= 10.0 { iops.round() } else { iops }
}

/// The next rate to try, of those that were `tried`; `most`: IOPS of the closed loop, beyond which no rate is sustained. `None`
/// where the search has ended.
fn next_rate(tried: &[Tried], most: Option<f64>) -> Option<f64> {
    let lowest = |a: Tried, b: Tried| if b.0 < a.0 { b } else { a };
    let closed = most.map(|most| (most, Some(false)));
    let missed = tried.iter().copied().filter(|(_, is_kept)| *is_kept == Some(false)).reduce(lowest).or(closed);
    // A rate above one that misses may keep the goal by chance; below one that keeps it, none is in question.
    let is_below = |rate: f64| missed.is_none_or(|(missed, _)| rate < missed);
    let kept = tried.iter().filter(|(rate, is_kept)| *is_kept == Some(true) && is_below(*rate));
    let kept = kept.map(|(rate, _)| *rate).reduce(f64::max);
    let not_kept =
        tried.iter().copied().filter(|(rate, is_kept)| *is_kept != Some(true) && kept.is_none_or(|kept| kept < *rate));
    let (above, outcome) = not_kept.reduce(lowest).or(closed)?;
    match kept {
        // What is too short to tell has even fewer I/Os at half the rate.
        None => outcome.map(|_| whole(above / 2.0)),
        Some(kept) if above <= RESOLUTION * kept => None,
        Some(kept) => Some(whole((kept * above).sqrt())).filter(|rate| kept < *rate && *rate < above),
    }
}

impl Conductor<'_> {
    /// Searches the highest rate that keeps the goal of the step at `at` of the plan, where it is the last of its kind; `last`: the
    /// step as it was measured. The number of steps that went wrong.
    ///
    /// # Errors
    /// [`ConductError`].
    pub(super) fn search_goal(
        &mut self,
        plan: &Plan,
        at: usize,
        last: &Step,
        on_event: &mut OnEvent<'_>,
    ) -> Result<u32, ConductError> {
        let (rates_usual, rates_most) = rates_after(&plan.steps, at);
        // While steps of the plan are to come, a search has only the time that the budget sets aside for it.
        let is_more_to_come = self.budget.is_limited() && at + 1 < plan.steps.len();
        let rates_max = if is_more_to_come { rates_usual } else { rates_most };
        let mut bad = 0;
        for number in 0..rates_max {
            let Some(step) = self.next_rate_step(plan, last)? else { break };
            if self.stopped() || !self.budget.has_time_for(std::slice::from_ref(&step), self.site.now().elapsed) {
                break;
            }
            if number == 0 {
                on_event(Event::Note(&msg!("run-goal-search")));
            }
            on_event(Event::StepStarted(std::slice::from_ref(&step)));
            let is_bad = self.step(&step, on_event)?;
            bad += u32::from(is_bad);
            if is_bad {
                break;
            }
        }
        Ok(bad)
    }

    /// Goes on with the search after a step of the plan that ended before this process took over.
    ///
    /// # Errors
    /// [`ConductError`].
    pub(super) fn resume_search(
        &mut self,
        plan: &Plan,
        at: usize,
        on_event: &mut OnEvent<'_>,
    ) -> Result<u32, ConductError> {
        let index = plan.steps[at].index;
        if rates_after(&plan.steps, at).1 == 0 || !self.past.has_ended(index) {
            return Ok(0);
        }
        let stored = self.lab.load_step(self.run, index)?;
        self.search_goal(plan, at, &stored.step, on_event)
    }

    /// The next step of the search, from all steps of its kind that ended.
    fn next_rate_step(&self, plan: &Plan, last: &Step) -> Result<Option<Step>, ConductError> {
        let mut tried: Vec<Tried> = Vec::new();
        for index in self.lab.step_indexes(self.run)? {
            let stored = self.lab.load_step(self.run, index)?;
            let rate = stored.step.load.rate.filter(|_| is_same_kind(&stored.step, last));
            if let (Some(rate), Ok(_)) = (rate, &stored.outcome) {
                let view = step_view(&stored.step, stored.outcome.as_ref());
                tried.push((rate.iops, keeps_by_far(&view)));
            }
        }
        let most = rate_base(last, self.past.seen.iter().map(|o| (o.step(), o.iops()))).map(|(_, iops)| iops);
        let (Some(iops), Some(rate)) = (next_rate(&tried, most), last.load.rate) else { return Ok(None) };
        let mut step = last.clone();
        step.index = self.next_index(plan)?;
        step.load.rate = Some(Rate { iops, ..rate });
        step.role = Role { latency_goal: last.role.latency_goal, test: last.role.test.clone(), ..last.role.beside() };
        set_label(&mut step);
        Ok(Some(step))
    }
}

#[cfg(test)]
mod tests {
    use fathom_plan::HostSetting;

    use super::*;

    /// Searches the highest rate at which a single server with exponential times keeps its p99: ln(100) / (service rate - rate).
    #[test]
    fn the_search_finds_the_rate_of_a_queue_whose_p99_is_known() {
        for (service_per_s, goal_s) in [(100e3, 200e-6), (100e3, 1e-3), (10e3, 5e-3), (50e3, 120e-6), (1e6, 50e-6)] {
            let truth = service_per_s - 100_f64.ln() / goal_s;
            let try_rate = |rate: f64| (rate, Some(rate <= truth));
            let mut tried: Vec<Tried> = [0.25, 0.5, 0.75, 0.9].map(|share| try_rate(share * service_per_s)).into();
            let mut rates = 0;
            while let Some(rate) = next_rate(&tried, Some(service_per_s)) {
                tried.push(try_rate(rate));
                rates += 1;
            }
            let found =
                tried.iter().filter(|(_, is_kept)| *is_kept == Some(true)).map(|(rate, _)| *rate).fold(0.0, f64::max);
            assert!(rates <= RATES_MAX, "{rates} rates");
            assert!(found <= truth && found >= 0.95 * truth, "{found} of {truth} after {rates} rates");
        }
    }

    #[test]
    fn loads_that_differ_in_more_than_the_rate_are_searched_apart() {
        let knobs = |pairs: &[(&str, &str)]| {
            let mut knobs = fathom_plan::Knobs::new();
            pairs.iter().for_each(|(key, value)| knobs.set(key, value).expect("a knob"));
            knobs.build(0, "A", &[fathom_plan::TargetId::new("f")], &mut Vec::new()).expect("a step")
        };
        let step = knobs(&[("rate_iops", "50%")]);
        assert!(is_same_kind(&step, &knobs(&[("rate_iops", "75%")])));
        let under_scheduler = || {
            let mut other = step.clone();
            other.role.settings = vec![HostSetting { name: "scheduler".into(), value: "none".into() }];
            other
        };
        for other in [
            knobs(&[("rate_iops", "75%"), ("rate_process", "poisson")]),
            knobs(&[("rate_iops", "75%"), ("size", "50%")]),
            knobs(&[("rate_iops", "75%"), ("ranks", "2")]),
            knobs(&[("rate_iops", "75%"), ("numa_mem_policy", "local")]),
            under_scheduler(),
        ] {
            assert!(!is_same_kind(&step, &other), "{}", other.label);
        }
    }

    #[test]
    fn the_search_ends_at_its_resolution_and_trusts_no_rate_above_a_miss() {
        let [kept, missed, unknown] = [Some(true), Some(false), None];
        assert_eq!(next_rate(&[(100.0, kept), (102.0, missed)], None), None);
        assert_eq!(next_rate(&[(100.0, kept), (400.0, missed), (800.0, kept)], None), Some(200.0));
        assert_eq!(next_rate(&[(100.0, kept), (400.0, unknown)], None), Some(200.0));
        assert_eq!(next_rate(&[(100.0, missed)], Some(500.0)), Some(50.0));
        assert_eq!(next_rate(&[(100.0, unknown), (200.0, missed)], Some(500.0)), None, "half is even shorter");
        assert_eq!(next_rate(&[(100.0, kept)], Some(400.0)), Some(200.0), "up to the closed loop");
        assert_eq!(next_rate(&[(100.0, kept)], None), None);
        // Rates below one that keeps the goal were too short to tell: a drive held to 2,000 I/Os per second ended at 1,810.
        assert_eq!(next_rate(&[(516.0, unknown), (1010.0, unknown), (1810.0, kept)], Some(2000.0)), Some(1903.0));
        assert_eq!(next_rate(&[(516.0, unknown), (1810.0, kept), (1903.0, unknown)], Some(2000.0)), Some(1856.0));
        // A slow drive has no whole rate in between.
        assert_eq!(next_rate(&[(25.0, kept), (26.0, missed)], None), None);
        assert_eq!(next_rate(&[(4.0, kept), (5.0, missed)], None), Some(20_f64.sqrt()));
    }
}
