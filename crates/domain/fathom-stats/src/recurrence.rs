//! What the steps of a run tell each other of storms.
//!
//! A window in which nothing happened does not know of what happens every minute; the windows before it may.

use crate::batch::mean;
use crate::disturbance::{Disturbance, EVENTS_MIN};
use crate::mean::{POINTS_MIN, noise_half_width};

/// Least number of events that have a period.
const EVENTS_OF_A_PERIOD: usize = 2;
/// Periods for which a step should run, so that it sees enough events also when they come late.
const PERIODS_TO_RUN: u64 = 8;

/// Storms seen in the steps of one kind of load so far.
#[derive(Clone, Debug, Default)]
pub struct Recurrence {
    events: usize,
    measured_ns: f64,
    /// Time that would be lost if each event were a full stop.
    lost_ns: f64,
}

impl Recurrence {
    /// Takes note of the rates of one step, `length_ns` in all.
    pub fn see(&mut self, rates: &[f64], length_ns: u64) {
        let level = mean(rates);
        if rates.len() < POINTS_MIN || level.is_nan() || level <= 0.0 {
            return;
        }
        self.measured_ns += length_ns as f64;
        let Some(found) = material(rates, level) else { return };
        self.events += found.starts.len();
        self.lost_ns += found.effect / level * length_ns as f64;
    }

    /// Mean time from one event to the next; `None` until two were seen.
    #[must_use]
    pub fn period_ns(&self) -> Option<u64> {
        (self.events >= EVENTS_OF_A_PERIOD).then(|| (self.measured_ns / self.events as f64) as u64)
    }

    /// How long a step should run at least to see enough of them.
    #[must_use]
    pub fn floor_ns(&self) -> Option<u64> {
        self.period_ns().map(|period| period.saturating_mul(PERIODS_TO_RUN))
    }

    /// The period, where a step with these rates was too short for it: an interval of its mean would claim to hold what
    /// the step did not see. `rel_half_width` is that of the interval: what is lost in it does not matter.
    #[must_use]
    pub fn too_short(&self, rates: &[f64], length_ns: u64, rel_half_width: f64) -> Option<u64> {
        let period_ns = self.period_ns()?;
        let is_short = length_ns < period_ns.saturating_mul(EVENTS_MIN as u64);
        let matters = self.lost_ns / self.measured_ns > rel_half_width;
        let saw_enough = || material(rates, mean(rates)).is_some_and(|found| found.starts.len() >= EVENTS_MIN);
        (is_short && matters && !saw_enough()).then_some(period_ns)
    }
}

/// The events of a step, if their number matters beside its noise.
fn material(rates: &[f64], level: f64) -> Option<Disturbance> {
    Disturbance::of(rates, level).filter(|found| found.half_width() > noise_half_width(&found.quiet))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Random, ar1};

    const SECOND_NS: u64 = 1_000_000_000;

    /// A window of 10 s in intervals of 100 ms with storms at these intervals.
    fn window(seed: u64, storms: &[usize]) -> Vec<f64> {
        let mut rates: Vec<f64> =
            ar1(&mut Random::new(seed), 0.3, 100).iter().map(|x| 5e3 * (1.0 + 0.01 * x)).collect();
        storms.iter().for_each(|at| rates[*at..at + 5].fill(1e3));
        rates
    }

    #[test]
    fn a_period_is_learnt_from_several_steps_and_not_from_one_event() {
        let mut learnt = Recurrence::default();
        learnt.see(&window(1, &[30]), 10 * SECOND_NS);
        learnt.see(&window(2, &[]), 10 * SECOND_NS);
        assert_eq!((learnt.period_ns(), learnt.floor_ns()), (None, None));
        learnt.see(&window(3, &[60]), 10 * SECOND_NS);
        assert_eq!((learnt.period_ns(), learnt.floor_ns()), (Some(15 * SECOND_NS), Some(120 * SECOND_NS)));
        assert_eq!(learnt.too_short(&window(2, &[]), 10 * SECOND_NS, 0.002), Some(15 * SECOND_NS));
        assert_eq!(learnt.too_short(&window(2, &[]), 60 * SECOND_NS, 0.002), None, "four periods without one");
        assert_eq!(learnt.too_short(&window(2, &[]), 10 * SECOND_NS, 0.2), None, "2.7 % lost within +-20 %");
        assert_eq!(learnt.too_short(&window(2, &[10, 30, 50, 70]), 10 * SECOND_NS, 0.002), None);
    }

    #[test]
    fn quiet_and_short_steps_teach_nothing() {
        let mut learnt = Recurrence::default();
        (0..20).for_each(|seed| learnt.see(&window(seed, &[]), 10 * SECOND_NS));
        learnt.see(&[1.0; 3], SECOND_NS);
        learnt.see(&[0.0; 30], SECOND_NS);
        assert_eq!(learnt.period_ns(), None);
        assert_eq!(learnt.too_short(&window(1, &[]), SECOND_NS, 0.0), None);
    }
}
