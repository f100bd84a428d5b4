//! Pairs of rates: which of a grid still have to be measured to know where the goal stops being kept.

use fathom_judge::document::StepView;
use fathom_judge::keeps_by_far;
use fathom_plan::{RatePair, Step};

/// So many pairs that miss the goal speak for those that ask for more.
const MISSES: usize = 2;

/// True for a pair of rates that is run only if the pairs before it leave open whether it keeps the goal.
pub(super) fn is_chosen_pair(step: &Step) -> bool {
    step.role.rate_pair.is_some() && step.role.block.is_none()
}

/// Times that each of these steps is expected to run. Of n pairs of a grid that are still open about 4 sqrt(n) lie near the edge and
/// are run, and the others are decided by them.
pub(super) fn expected_runs<'s>(steps: &[&'s Step], searches: impl Fn(&Step) -> usize) -> Vec<(&'s Step, f64)> {
    let open = steps.iter().filter(|step| is_chosen_pair(step)).count() as f64;
    let share = (4.0 / open.sqrt()).min(1.0);
    let runs = |step: &Step| if is_chosen_pair(step) { share } else { 1.0 + searches(step) as f64 };
    steps.iter().map(|step| (*step, runs(step))).collect()
}

/// The pairs that were measured.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    seen: Vec<Seen>,
}

#[derive(Debug)]
struct Seen {
    group: String,
    pair: RatePair,
    /// `None`: near the goal, so that it decides nothing.
    is_kept: Option<bool>,
}

impl Pairs {
    /// Takes note of a pair that was measured. Sides of a comparison are all measured: they say nothing of each other.
    pub(super) fn see(&mut self, step: &Step, view: &StepView) {
        if let Some(pair) = step.role.rate_pair.filter(|_| is_chosen_pair(step)) {
            self.seen.push(Seen { group: step.group.clone(), pair, is_kept: keeps_by_far(view) });
        }
    }

    /// Whether more of both was kept, or less of both was not, twice: latency does not fall as rates rise, but one disturbance
    /// of the host makes a pair miss its goal.
    pub(super) fn decide(&self, step: &Step) -> bool {
        let Some(pair) = step.role.rate_pair.filter(|_| is_chosen_pair(step)) else { return false };
        let is_within = |a: RatePair, b: RatePair| a.read_pct <= b.read_pct && a.write_pct <= b.write_pct;
        let seen = || self.seen.iter().filter(|seen| seen.group == step.group);
        let is_kept = seen().any(|seen| seen.is_kept == Some(true) && is_within(pair, seen.pair));
        let missed = seen().filter(|seen| seen.is_kept == Some(false) && is_within(seen.pair, pair)).count();
        is_kept || missed >= MISSES
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use fathom_plan::{Overrides, parse_study, study_by_name};

    use super::super::budget::Budget;
    use super::*;

    /// The study `surface` in a minute, on drives that keep the goal up to several sums of both shares. Where nearly all pairs keep
    /// it, few are left to run.
    #[test]
    fn the_time_of_the_study_is_used_wherever_the_edge_lies() {
        const BUDGET_NS: u64 = 60_000_000_000;
        // `None`: no pair can be decided, so that all run.
        for most_pct in [Some(40), Some(60), Some(80), Some(100), Some(120), Some(140), None] {
            let overrides = Overrides { targets: vec!["f".to_owned()], ..Overrides::default() };
            let text = study_by_name("surface").expect("is shipped");
            let mut plan = parse_study(text, "surface.toml", &overrides).expect("a plan");
            plan.scale_to_time_budget(BUDGET_NS).expect("a minute is enough");
            let (mut pairs, mut now) = (Pairs::default(), Duration::ZERO);
            let mut budget = Budget::new(Some(BUDGET_NS), now);
            for (at, step) in
                plan.steps.iter().enumerate().filter(|(_, step)| step.phase == fathom_plan::Phase::Measure)
            {
                if pairs.decide(step) {
                    continue;
                }
                let open: Vec<&Step> = plan.steps[at..].iter().filter(|later| !pairs.decide(later)).collect();
                let fitted = budget.fitted(step, expected_runs(&open, |_| 0).into_iter(), now);
                let length = Duration::from_nanos(fitted.length.ramp_ns + fitted.length.budget_ns);
                let took = length + Duration::from_millis(60);
                now += took;
                budget.step_took(took, length.as_nanos() as u64);
                if let Some(pair) = step.role.rate_pair {
                    let is_kept = most_pct.map(|most_pct| pair.read_pct + pair.write_pct <= most_pct);
                    pairs.seen.push(Seen { group: step.group.clone(), pair, is_kept });
                }
            }
            let used = now.as_secs_f64();
            assert!((45.0..=60.1).contains(&used), "goal kept up to {most_pct:?} %: {used} s of 60");
        }
    }

    #[test]
    fn a_pair_speaks_for_all_that_ask_for_less_or_for_more_and_an_inconclusive_one_for_none() {
        let step = |read_pct, write_pct| {
            let mut step = crate::samples::step();
            step.role.rate_pair = Some(RatePair { read_pct, write_pct });
            step
        };
        let seen = |read_pct, write_pct, is_kept| Seen {
            group: step(0, 0).group,
            pair: RatePair { read_pct, write_pct },
            is_kept,
        };
        let pairs = Pairs {
            seen: vec![
                seen(40, 20, Some(true)),
                seen(90, 40, Some(false)),
                seen(0, 80, Some(false)),
                seen(60, 30, None),
            ],
        };
        assert!(pairs.decide(&step(40, 10)) && pairs.decide(&step(90, 80)), "more was kept; two of less were not");
        assert!(!pairs.decide(&step(90, 60)) && !pairs.decide(&step(10, 90)), "one of less was not kept");
        assert!(!pairs.decide(&step(50, 10)) && !pairs.decide(&step(80, 40)) && !pairs.decide(&step(60, 30)));
        let mut other = step(40, 10);
        other.group = "other".into();
        assert!(!pairs.decide(&other) && !pairs.decide(&crate::samples::step()));
    }
}
