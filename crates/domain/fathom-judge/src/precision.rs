//! Which intervals of IOPS may be printed, and why others are not.

use std::collections::BTreeMap;

use fathom_message::{Quantity, msg};
use fathom_record::StepRecord;
use fathom_stats::{Estimate, NoInterval, Recurrence, Scope};

use crate::document::{StepState, StepView};

/// Fills the interval of the IOPS of a step, or says why it has none.
pub(crate) fn set_interval(view: &mut StepView, record: &StepRecord, estimate: &Estimate) {
    view.iops_ci95 = estimate.ci95.map(|(low, high)| [low, high]);
    view.iops_ci95_blind_beyond_s = match Scope::of(view.runtime_s) {
        Scope::Window { blind_beyond_s } if view.iops_ci95.is_some() => Some(blind_beyond_s),
        Scope::Window { .. } | Scope::LongRun => None,
    };
    // Imported runs have no intervals to judge.
    let Some(first) = record.intervals.first() else { return };
    let seconds = |points: usize| points as f64 * first.length_ns as f64 / 1e9;
    let (why, needs_s) = match estimate.why_none {
        None => return,
        Some(NoInterval::TooFewPoints { needed }) => {
            let needs_s = seconds(needed);
            (msg!("interval-too-few", least = needed, needs = time(needs_s)), Some(needs_s))
        }
        Some(NoInterval::FewEvents { seen, needed }) => {
            let needs_s = seconds(needed);
            (msg!("interval-few-events", seen = seen, needs = time(needs_s)), Some(needs_s))
        }
        Some(NoInterval::Drifts { share }) => (msg!("interval-drifts", change = Quantity::change(1.0 + share)), None),
    };
    view.iops_ci95_why_none = Some(why);
    view.iops_ci95_needs_s = needs_s;
}

/// Takes back the intervals of steps that were too short for the storms which other steps of the run saw.
pub fn withhold_intervals(steps: &mut [StepView]) {
    let mut learnt: BTreeMap<Kind, Recurrence> = BTreeMap::new();
    for step in steps.iter().filter(|s| s.state == StepState::Measured) {
        learnt.entry(kind(step)).or_default().see(&step.series.iops, length_ns(step));
    }
    for step in steps {
        let Some([low, high]) = step.iops_ci95.filter(|_| step.iops > 0.0) else { continue };
        let half = (high - low) / 2.0 / step.iops;
        let Some(learnt) = learnt.get(&kind(step)) else { continue };
        let Some(period_ns) = learnt.too_short(&step.series.iops, length_ns(step), half) else { continue };
        let needs_s = learnt.floor_ns().unwrap_or(period_ns) as f64 / 1e9;
        step.iops_ci95 = None;
        step.iops_ci95_blind_beyond_s = None;
        step.iops_ci95_needs_s = Some(needs_s);
        let period = time(period_ns as f64 / 1e9);
        step.iops_ci95_why_none = Some(msg!("interval-rare-events", period = period, needs = time(needs_s)));
    }
}

/// Steps that share their storms: on the same targets, all writing or none.
type Kind = (Vec<String>, bool);

fn kind(step: &StepView) -> Kind {
    (step.targets.clone(), step.read_pct < 100)
}

fn length_ns(step: &StepView) -> u64 {
    (step.runtime_s * 1e9) as u64
}

fn time(seconds: f64) -> Quantity {
    Quantity::duration_ns((seconds.ceil() * 1e9) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::view::step_view;
    use fathom_language::english;

    /// 100 intervals of 100 ms around 1000 I/Os, with storms of half a second at these intervals.
    fn view(storms: &[usize]) -> StepView {
        let ios = |i: usize| 1000 + (i as u64 * 7919) % 11;
        let is_in = |i: usize| storms.iter().any(|at| (*at..at + 5).contains(&i));
        let ios: Vec<u64> = (0..100).map(|i| if is_in(i) { 200 } else { ios(i) }).collect();
        step_view(&samples::step(), Ok(&samples::record(&ios)))
    }

    fn why(step: &StepView) -> String {
        english(step.iops_ci95_why_none.as_ref().expect("a reason"))
    }

    #[test]
    fn a_quiet_step_says_what_it_could_not_see() {
        let step = view(&[]);
        assert!(step.iops_ci95.is_some() && step.iops_ci95_why_none.is_none() && step.iops_ci95_needs_s.is_none());
        let blind = step.iops_ci95_blind_beyond_s.unwrap();
        assert!((blind - step.runtime_s / 3.0).abs() < 1e-9, "{blind}");
    }

    #[test]
    fn a_step_with_two_storms_says_why_it_has_no_interval_and_what_it_needs() {
        let step = view(&[20, 70]);
        assert_eq!((step.iops_ci95, step.iops_ci95_blind_beyond_s), (None, None));
        assert_eq!(step.iops_ci95_needs_s, Some(step.runtime_s * 2.0));
        assert!(why(&step).starts_with("left its usual level 2 times only"), "{}", why(&step));
        let short = step_view(&samples::step(), Ok(&samples::record(&[1000; 4])));
        assert!(why(&short).starts_with("fewer than 10 intervals"), "{}", why(&short));
    }

    #[test]
    fn a_drift_has_a_reason_and_no_time_that_would_help() {
        let ios: Vec<u64> = (0..60).map(|i| 1000 - 3 * i + i % 3).collect();
        let step = step_view(&samples::step(), Ok(&samples::record(&ios)));
        assert_eq!((step.iops_ci95, step.iops_ci95_needs_s), (None, None));
        assert!(why(&step).starts_with("changed by -"), "{}", why(&step));
    }

    #[test]
    fn storms_of_one_step_take_the_interval_of_quiet_ones_of_their_kind() {
        let mut other = view(&[]);
        other.targets = vec!["another".into()];
        let mut steps = vec![view(&[]), view(&[30, 80]), view(&[]), other];
        withhold_intervals(&mut steps);
        assert!(steps[0].iops_ci95.is_none() && steps[2].iops_ci95.is_none(), "seen before or after");
        assert!(why(&steps[0]).contains("other steps of the run"), "{}", why(&steps[0]));
        assert!(steps[3].iops_ci95.is_some());
        let mut quiet = vec![view(&[]), view(&[])];
        withhold_intervals(&mut quiet);
        assert!(quiet.iter().all(|s| s.iops_ci95.is_some()));
    }
}
