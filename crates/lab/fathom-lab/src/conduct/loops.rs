//! Loops that are repeated until they are steady: which rounds of a plan still have to run.

use std::collections::BTreeMap;

use fathom_judge::value_of;
use fathom_plan::Step;
use fathom_record::{StepRecord, Warning};
use fathom_stats::snia_window;

/// The rounds of one loop so far.
#[derive(Debug, Default)]
struct Rounds {
    /// The tracked figure, by round.
    values: Vec<f64>,
    /// Round after which no other is run.
    last: Option<u32>,
    /// The latest round that began.
    begun: Option<u32>,
}

/// All loops of a run.
#[derive(Debug, Default)]
pub(crate) struct Loops {
    rounds: BTreeMap<u32, Rounds>,
}

impl Loops {
    /// Whether the step belongs to a round after the one that ended its loop.
    pub(crate) fn is_over(&self, step: &Step) -> bool {
        let Some(round) = step.role.round else { return false };
        self.rounds.get(&round.loop_id).and_then(|r| r.last).is_some_and(|last| round.index > last)
    }

    /// Takes note that the time is used up as `step` is due. True: it would have begun another round of its loop, and
    /// that and all later rounds are now over. A round that began is finished, so that it has all its cells.
    pub(crate) fn out_of_time(&mut self, step: &Step) -> bool {
        let Some(round) = step.role.round else { return false };
        let rounds = self.rounds.entry(round.loop_id).or_default();
        let Some(begun) = rounds.begun.filter(|begun| *begun < round.index) else { return false };
        rounds.last.get_or_insert(begun);
        true
    }

    /// Takes note of a step that begins.
    pub(crate) fn begin(&mut self, step: &Step) {
        let Some(round) = step.role.round else { return };
        let rounds = self.rounds.entry(round.loop_id).or_default();
        rounds.begun = rounds.begun.max(Some(round.index));
    }

    /// Takes note of a step that ended; `record` is `None` for one that was refused or failed. True: its loop has just
    /// become steady.
    pub(crate) fn take(&mut self, step: &Step, record: Option<&StepRecord>) -> bool {
        let Some(round) = step.role.round else { return false };
        let Some(metric) = round.metric else { return false };
        let rounds = self.rounds.entry(round.loop_id).or_default();
        let value = record.filter(|r| !is_cut(r)).and_then(|r| value_of(metric, r));
        let Some(value) = value else {
            // What cannot be run once cannot be run again: the loop ends without a steady state.
            rounds.last.get_or_insert(round.index);
            return false;
        };
        rounds.values.push(value);
        let steady = snia_window(&rounds.values).is_some_and(|w| w.reached);
        if steady {
            rounds.last.get_or_insert(round.index);
        }
        steady
    }
}

/// Whether the user stopped the step in its middle.
pub(crate) fn is_cut(record: &StepRecord) -> bool {
    record.warnings.iter().any(|w| matches!(w, Warning::Interrupted))
}

#[cfg(test)]
mod tests {
    use fathom_plan::{Metric, Round};

    use super::*;
    use crate::samples::{record, step};

    fn round(index: u32, tracked: bool) -> Step {
        let mut step = step();
        step.role.round = Some(Round { loop_id: 4, index, max: 25, metric: tracked.then_some(Metric::Iops) });
        step
    }

    #[test]
    fn a_loop_ends_after_the_round_that_is_steady_with_all_its_cells() {
        let mut loops = Loops::default();
        for (index, ios) in [9000, 4000, 1000, 1010, 990, 1000].into_iter().enumerate() {
            assert!(!loops.take(&round(index as u32, true), Some(&record(&[ios]))), "round {index}");
        }
        assert!(loops.take(&round(6, true), Some(&record(&[1005]))));
        assert!(!loops.is_over(&round(6, false)), "the other cells of the round still run");
        assert!(loops.is_over(&round(7, true)) && loops.is_over(&round(7, false)));
        let mut other = round(9, true);
        other.role.round.as_mut().expect("a round").loop_id = 5;
        assert!(!loops.is_over(&other));
    }

    #[test]
    fn when_time_is_up_the_round_that_began_is_finished_and_no_other_begins() {
        let mut loops = Loops::default();
        assert!(!loops.out_of_time(&round(0, true)), "one round is always run");
        loops.begin(&round(0, true));
        loops.begin(&round(1, true));
        assert!(!loops.out_of_time(&round(1, false)));
        assert!(loops.out_of_time(&round(2, true)));
        assert!(loops.is_over(&round(2, true)) && loops.is_over(&round(3, false)) && !loops.is_over(&round(1, false)));
        assert!(!loops.out_of_time(&step()), "a step outside of loops is run");
    }

    #[test]
    fn a_round_without_a_completed_io_is_not_steady_and_does_not_end_the_loop() {
        let mut loops = Loops::default();
        for (index, ios) in [1000, 1000, 0, 1000, 1000, 1000, 1000].into_iter().enumerate() {
            assert!(!loops.take(&round(index as u32, true), Some(&record(&[ios]))), "round {index}");
            assert!(!loops.is_over(&round(index as u32 + 1, true)));
        }
        assert!(loops.take(&round(7, true), Some(&record(&[1000]))), "five whole rounds");
    }

    #[test]
    fn cells_that_are_not_tracked_do_not_count_and_a_refused_one_ends_the_loop() {
        let mut loops = Loops::default();
        for index in 0..8 {
            assert!(!loops.take(&round(index, false), Some(&record(&[1000]))));
        }
        assert!(!loops.is_over(&round(8, true)));
        assert!(!loops.take(&round(8, true), None));
        assert!(loops.is_over(&round(9, true)));
    }
}
