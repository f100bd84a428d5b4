//! The floor of a step follows the storms that earlier steps of the run saw.

use std::collections::{BTreeMap, BTreeSet};

use fathom_message::{Message, Quantity, msg};
use fathom_plan::{Phase, Step, TargetId};
use fathom_record::StepRecord;
use fathom_stats::{Recurrence, interval_iops};

/// Storms seen so far, by what shares them: the same targets, all writing or none.
#[derive(Debug, Default)]
pub(super) struct Floors {
    seen: BTreeMap<Kind, Recurrence>,
    /// Of these it was said why they take longer: once is enough.
    told: BTreeSet<Kind>,
}

type Kind = (Vec<TargetId>, bool);

fn kind(step: &Step) -> Kind {
    (step.targets.clone(), step.workload.mix.read_pct < 100)
}

impl Floors {
    /// Takes note of a measured step.
    pub(super) fn see(&mut self, step: &Step, record: &StepRecord) {
        let rates = interval_iops(&record.intervals);
        self.seen.entry(kind(step)).or_default().see(&rates, record.runtime_ns);
    }

    /// The step, kept from stopping before it has seen enough storms, and what to say of the first of its kind. Its budget stays: where
    /// that is too short, the step uses all of it. Steps of a fixed length stay as they are.
    pub(super) fn raised(&mut self, step: Step) -> (Step, Option<Message>) {
        let length = step.length;
        let may_stop = step.phase == Phase::Measure && length.passes.is_none() && length.floor_ns < length.budget_ns;
        let learnt = self.seen.get(&kind(&step)).filter(|_| may_stop);
        let Some((floor_ns, period_ns)) = learnt.and_then(|l| l.floor_ns().zip(l.period_ns())) else {
            return (step, None);
        };
        if floor_ns <= length.floor_ns {
            return (step, None);
        }
        let (floor, period) = (Quantity::duration_ns(floor_ns), Quantity::duration_ns(period_ns));
        let label = &step.label;
        let note = if floor_ns <= length.budget_ns {
            msg!("run-floor-learnt", step = label, floor = floor, period = period)
        } else {
            let budget = Quantity::duration_ns(length.budget_ns);
            msg!("run-floor-beyond-budget", step = label, floor = floor, period = period, budget = budget)
        };
        let is_news = self.told.insert(kind(&step));
        let mut step = step;
        step.length.floor_ns = floor_ns.min(length.budget_ns);
        (step, is_news.then_some(note))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_plan::RunLength;

    const SECOND_NS: u64 = 1_000_000_000;

    fn adaptive(budget_s: u64) -> Step {
        let length = RunLength { budget_ns: budget_s * SECOND_NS, ..RunLength::fixed(0, 2 * SECOND_NS) };
        Step { phase: Phase::Measure, length, ..crate::samples::step() }
    }

    /// 100 s with two storms of five seconds.
    fn stormy() -> StepRecord {
        let ios: Vec<u64> = (0..100).map(|i| if i % 50 < 5 { 100 } else { 1000 + i % 7 }).collect();
        crate::samples::record(&ios)
    }

    #[test]
    fn a_step_after_storms_runs_for_eight_of_their_periods_or_its_budget() {
        let mut floors = Floors::default();
        let (step, note) = floors.raised(adaptive(600));
        assert_eq!((step.length.floor_ns, note), (2 * SECOND_NS, None));
        floors.see(&adaptive(600), &stormy());
        let (step, note) = floors.raised(adaptive(600));
        assert_eq!((step.length.floor_ns, step.length.budget_ns), (400 * SECOND_NS, 600 * SECOND_NS));
        assert_eq!(note.expect("said").id(), "run-floor-learnt");
        let (step, note) = floors.raised(adaptive(20));
        assert_eq!((step.length.floor_ns, note), (20 * SECOND_NS, None), "once is enough");
        let mut floors = Floors::default();
        floors.see(&adaptive(600), &stormy());
        assert_eq!(floors.raised(adaptive(20)).1.expect("said").id(), "run-floor-beyond-budget");
        let mut other = adaptive(600);
        other.targets = vec![TargetId::new("another")];
        assert_eq!(floors.raised(other).1, None);
        let mut fixed = adaptive(600);
        fixed.length = RunLength::fixed(0, SECOND_NS);
        assert_eq!(floors.raised(fixed.clone()).0.length, fixed.length);
    }
}
