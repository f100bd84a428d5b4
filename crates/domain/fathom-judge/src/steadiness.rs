//! Whether steps were steady: over their own window, and over the rounds that conditioned them.

use std::collections::BTreeMap;

use fathom_message::{Message, Quantity, Unit, msg};
use fathom_plan::{Metric, Precondition, Step};
use fathom_record::{Interval, StepRecord};
use fathom_stats::{
    DRIFT_MARGIN_PCT, OwnVerdict, SniaDetermination, Unsteady, own_verdict, snia_determination, steady_verdict,
};

use crate::document::{OwnSteadyView, PtsView, SteadyView, StepState, StepView, WhyUnsteady};

/// Rounds of the specification's window, over which Fathom's own verdict judges drift too.
const WINDOW_ROUNDS: usize = 5;
/// A drift of a shorter window says nothing of a minute.
const DRIFT_FROM_NS: u64 = 1_000_000_000;

/// What a drift is judged over.
#[derive(Clone, Copy, Debug)]
enum Window {
    /// The step's own.
    OfStep,
    /// That of the specification.
    FiveRounds,
}

/// Steadiness of one measured window; `None` with too few intervals.
pub(crate) fn window_view(intervals: &[Interval]) -> Option<SteadyView> {
    let verdict = steady_verdict(intervals)?;
    let is_long = intervals.iter().map(|i| i.length_ns).sum::<u64>() >= DRIFT_FROM_NS;
    Some(SteadyView {
        reached: verdict.own.reached,
        why: verdict.own.why.map(WhyUnsteady::from),
        rounds: verdict.own.points as u32,
        warmup_intervals: verdict.own.warmup as u32,
        drift_pct_per_minute: is_long.then_some(verdict.drift_pct_per_minute),
        drift_ci95: verdict.drift_ci95.filter(|_| is_long).map(|(lo, hi)| [lo, hi]),
        pts: None,
        own: Some(own_view(&verdict.own, Window::OfStep)),
        series: Vec::new(),
    })
}

/// The rounds of all loops of a run, gathered while its steps are read one by one.
#[derive(Debug, Default)]
pub struct Loops(BTreeMap<u32, Loop>);

#[derive(Debug)]
struct Loop {
    metric: Metric,
    rounds_max: u32,
    /// By number of the round: its value, and the values of its intervals.
    rounds: BTreeMap<u32, (f64, Vec<f64>)>,
}

impl Loops {
    /// Takes note of a step that a loop looks at; others are passed over.
    pub fn see(&mut self, step: &Step, record: &StepRecord) {
        let Some(round) = step.role.round else { return };
        let Some(metric) = round.metric else { return };
        let Some(value) = value_of(metric, record) else { return };
        let series = record.intervals.iter().filter_map(|i| interval_value(metric, i)).collect();
        let one =
            self.0.entry(round.loop_id).or_insert(Loop { metric, rounds_max: round.max, rounds: BTreeMap::new() });
        one.rounds.insert(round.index, (value, series));
    }

    /// Gives each step that belongs to a loop, or was conditioned by one, what the loop found.
    pub fn judge(&self, steps: &mut [StepView]) {
        let judged: BTreeMap<u32, SteadyView> =
            self.0.iter().filter_map(|(id, one)| one.view().map(|view| (*id, view))).collect();
        for step in steps.iter_mut().filter(|s| s.state == StepState::Measured) {
            let conditioning = step.role.conditioning;
            let id = conditioning.and_then(|c| c.loop_id).or(step.role.round.map(|r| r.loop_id));
            let Some(of_loop) = id.and_then(|id| judged.get(&id)) else { continue };
            let quick = conditioning.is_some_and(|c| c.method == Precondition::Quick);
            step.steady = Some(with_loop(step.steady.take(), of_loop, quick));
        }
    }
}

impl Loop {
    /// `None` with fewer than five rounds.
    fn view(&self) -> Option<SteadyView> {
        let values: Vec<f64> = self.rounds.values().map(|(value, _)| *value).collect();
        let table = snia_determination(&values, self.rounds_max as usize)?;
        let series: Vec<f64> = self.rounds.values().flat_map(|(_, series)| series.iter().copied()).collect();
        let window = series.len() * WINDOW_ROUNDS / values.len();
        let own = own_verdict(&series, window.max(1));
        Some(SteadyView {
            reached: table.reached,
            why: (!table.reached).then_some(WhyUnsteady::NotAchieved),
            rounds: values.len() as u32,
            warmup_intervals: 0,
            drift_pct_per_minute: None,
            drift_ci95: None,
            pts: Some(pts_view(self.metric, &table)),
            own: own.map(|own| own_view(&own, Window::FiveRounds)),
            series: values,
        })
    }
}

/// The step's own window beside its loop: a window that leaves the steady state again takes it back.
fn with_loop(window: Option<SteadyView>, of_loop: &SteadyView, quick: bool) -> SteadyView {
    let mut view = of_loop.clone();
    if quick && let Some(pts) = &mut view.pts {
        pts.determination = msg!("steady-quick", determination = &pts.determination);
    }
    if let Some(window) = window {
        view.warmup_intervals = window.warmup_intervals;
        view.drift_pct_per_minute = window.drift_pct_per_minute;
        view.drift_ci95 = window.drift_ci95;
        // What looks like warm-up over more than half of the window came after a state that was steady.
        let ends_it = [WhyUnsteady::Drifts, WhyUnsteady::LevelChanges, WhyUnsteady::WarmUpTooLong];
        let left = window.why.filter(|why| ends_it.contains(why));
        if let Some(why) = left.filter(|_| view.reached) {
            view.reached = false;
            view.why = Some(why);
        }
    }
    view
}

/// What a round contributes to its loop; `None` for one without any time.
#[must_use]
pub fn value_of(metric: Metric, record: &StepRecord) -> Option<f64> {
    let seconds = record.runtime_ns as f64 / 1e9;
    // A round in which nothing completed is a figure too, if not a steady one: the loop goes on.
    let per_s = |n: u64| (seconds > 0.0).then(|| n as f64 / seconds);
    match metric {
        Metric::Iops => per_s(record.ios()),
        Metric::BytesPerS => per_s(record.bytes()),
        // No latency where nothing completed: such a round breaks the window.
        Metric::LatMean => Some(record.lat_merged().and_then(|lat| lat.mean_ns()).unwrap_or(0.0)),
    }
}

fn interval_value(metric: Metric, interval: &Interval) -> Option<f64> {
    let per_s = |n: u64| (interval.length_ns > 0).then(|| n as f64 * 1e9 / interval.length_ns as f64);
    match metric {
        Metric::Iops => per_s(interval.directions.iter().map(|d| d.ios).sum()),
        Metric::BytesPerS => per_s(interval.directions.iter().map(|d| d.bytes).sum()),
        Metric::LatMean => {
            let samples: u64 = interval.directions.iter().map(|d| d.lat.count()).sum();
            let sum: u128 = interval.directions.iter().map(|d| d.lat.sum_ns()).sum();
            (samples > 0).then(|| sum as f64 / samples as f64)
        }
    }
}

fn pts_view(metric: Metric, table: &SniaDetermination) -> PtsView {
    PtsView {
        variable: metric.into(),
        reached: table.reached,
        window: Some([table.rounds.0, table.rounds.1]),
        average: table.window.average,
        range_allowed: table.window.range_allowed,
        range: table.window.range,
        excursion_allowed: table.window.excursion_allowed,
        excursion: table.window.excursion,
        slope: table.window.slope,
        intercept: table.intercept,
        line: table.line(),
        determination: match (table.reached, table.rounds) {
            (true, (first, last)) => msg!("steady-rounds", first = first, last = last),
            (false, _) => msg!("steady-not-achieved"),
        },
        drift_pct_per_round: table.drift_pct_per_round,
    }
}

fn own_view(own: &OwnVerdict, window: Window) -> OwnSteadyView {
    OwnSteadyView {
        reached: own.reached,
        why: own.why.map(WhyUnsteady::from),
        sentence: sentence(own, window),
        points: own.points as u32,
        warmup_points: own.warmup as u32,
        change_points: own.changes.iter().map(|at| *at as u32).collect(),
        drift_pct_per_window: own.drift_pct,
        drift_ci95_pct: own.drift_ci95_pct.map(|(lo, hi)| [lo, hi]),
        margin_pct: DRIFT_MARGIN_PCT,
        left_at: own.left_at.map(|at| at as u32),
    }
}

fn sentence(own: &OwnVerdict, window: Window) -> Message {
    let drift = || {
        let ci95 = own.drift_ci95_pct.map(|(low, high)| [low, high]);
        let drift = Quantity::new(own.drift_pct, Unit::ChangePct).with_ci95(ci95);
        match window {
            Window::OfStep => msg!("steady-drift-over-window", drift = drift),
            Window::FiveRounds => msg!("steady-drift-over-rounds", drift = drift),
        }
    };
    let margin = Quantity::pct(DRIFT_MARGIN_PCT);
    match own.why {
        None if own.warmup == 0 => msg!("steady-reached", drift = drift(), margin = margin),
        None => {
            msg!("steady-reached-after", warmup = own.warmup, points = own.points, drift = drift(), margin = margin)
        }
        Some(Unsteady::WarmUpTooLong) => msg!("steady-warm-up-too-long"),
        Some(Unsteady::BeginningDiffers) => msg!("steady-beginning-differs"),
        Some(Unsteady::LevelChanges) => match own.left_at {
            Some(at) => msg!("steady-level-left", times = own.changes.len(), at = at),
            None => msg!("steady-level-changes", times = own.changes.len()),
        },
        Some(Unsteady::Drifts) => msg!("steady-drifts", drift = drift()),
        Some(Unsteady::Inconclusive) => {
            msg!("steady-inconclusive", drift = drift(), margin = Quantity::pct(DRIFT_MARGIN_PCT))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_language::english;
    use fathom_plan::{Conditioning, Phase, Round};

    use crate::samples;
    use crate::view::step_view;

    fn round(index: u32, ios_per_s: u64) -> (Step, StepRecord) {
        let mut step = samples::step();
        step.phase = Phase::Settle;
        step.role.round = Some(Round { loop_id: 3, index, max: 25, metric: Some(Metric::Iops) });
        (step, samples::record(&[ios_per_s; 10]))
    }

    fn measured_after(rounds: &[u64], method: Precondition) -> SteadyView {
        then_measured(rounds, method, &[1000; 30])
    }

    fn then_measured(rounds: &[u64], method: Precondition, window: &[u64]) -> SteadyView {
        let mut loops = Loops::default();
        for (index, ios) in (0..).zip(rounds) {
            let (step, record) = round(index, *ios);
            loops.see(&step, &record);
        }
        let mut step = samples::step();
        step.role.conditioning = Some(Conditioning { method, loop_id: Some(3) });
        let mut views = vec![step_view(&step, Ok(&samples::record(window)))];
        loops.judge(&mut views);
        views.remove(0).steady.expect("the loop gives it one")
    }

    #[test]
    fn a_measured_step_carries_the_table_of_the_rounds_that_conditioned_it() {
        let view = measured_after(&[2000, 1500, 1020, 1010, 1000, 1000, 990], Precondition::Same);
        assert!(view.reached && view.why.is_none(), "{view:?}");
        assert_eq!((view.rounds, view.series.len()), (7, 7));
        let pts = view.pts.unwrap();
        assert_eq!((pts.window, english(&pts.determination).as_str()), (Some([3, 7]), "rounds 3..7"));
        assert_eq!((pts.average, pts.range, pts.range_allowed.round()), (1004.0, 30.0, 201.0));
        assert_eq!(view.own.unwrap().points, 70);
    }

    #[test]
    fn a_window_that_leaves_the_steady_state_again_takes_it_back() {
        let rounds = [2000, 1000, 1010, 1000, 990, 1000];
        let window: Vec<u64> = (0..200).map(|i| if i < 140 { 1000 } else { 600 } + i % 3).collect();
        let view = then_measured(&rounds, Precondition::Same, &window);
        assert!(!view.reached && view.why.is_some_and(|why| why != WhyUnsteady::NotAchieved), "{view:?}");
        assert!(view.pts.is_some_and(|p| p.reached), "it had been steady when it was conditioned");
        let sinking: Vec<u64> = (0..60).map(|i| 1000 - 5 * i + i % 3).collect();
        let view = then_measured(&rounds, Precondition::Same, &sinking);
        assert!(!view.reached && view.why.is_some(), "{view:?}");
        assert!(then_measured(&rounds, Precondition::Same, &[1000; 40]).reached);
    }

    #[test]
    fn not_achieved_and_quick_conditioning_are_said() {
        let view = measured_after(&[1000, 600, 1000, 600, 1000, 600], Precondition::Same);
        assert_eq!((view.reached, view.why), (false, Some(WhyUnsteady::NotAchieved)));
        let quick = measured_after(&[1000; 5], Precondition::Quick);
        let determination = quick.pts.unwrap().determination;
        assert_eq!(english(&determination), "rounds 1..5 (quick conditioning: not PTS)");
    }
}
