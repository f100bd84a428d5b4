//! Pairs of rates: which of a grid still have to be measured to know where the goal stops being kept.

use fathom_judge::document::StepView;
use fathom_judge::keeps_by_far;
use fathom_plan::{RatePair, Step};

/// So many pairs that miss the goal speak for those that ask for more.
const MISSES: usize = 2;

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
        if let Some(pair) = step.role.rate_pair.filter(|_| step.role.block.is_none()) {
            self.seen.push(Seen { group: step.group.clone(), pair, is_kept: keeps_by_far(view) });
        }
    }

    /// Whether more of both was kept, or less of both was not, twice: latency does not fall as rates rise, but one disturbance
    /// of the host makes a pair miss its goal.
    pub(super) fn decide(&self, step: &Step) -> bool {
        let Some(pair) = step.role.rate_pair.filter(|_| step.role.block.is_none()) else { return false };
        let is_within = |a: RatePair, b: RatePair| a.read_pct <= b.read_pct && a.write_pct <= b.write_pct;
        let seen = || self.seen.iter().filter(|seen| seen.group == step.group);
        let is_kept = seen().any(|seen| seen.is_kept == Some(true) && is_within(pair, seen.pair));
        let missed = seen().filter(|seen| seen.is_kept == Some(false) && is_within(seen.pair, pair)).count();
        is_kept || missed >= MISSES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
