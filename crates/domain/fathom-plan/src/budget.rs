//! How long a plan takes, how much it writes, and fitting it into a time.

use crate::knobs::{KnobError, Knobs, RUNTIME_MAX_NS, print_duration};
use crate::plan::{Plan, StudyHead};
use crate::step::{Step, Target};

/// Least measured time that scaling leaves to a step.
pub const STEP_NS_MIN: u64 = 100_000_000;

/// A time budget too short for the number of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} are too short for {steps} steps\n  help: give at least {}, or run fewer steps",
    print_duration(*budget_ns),
    print_duration(*needed_ns)
)]
pub struct TimeBudgetError {
    /// Asked for.
    pub budget_ns: u64,
    /// Least that gives each step [`STEP_NS_MIN`].
    pub needed_ns: u64,
    /// Number of steps.
    pub steps: usize,
}

/// Whether only passes over the region end the step.
fn is_bounded_by_passes_alone(step: &Step) -> bool {
    step.length.passes.is_some() && step.length.budget_ns >= RUNTIME_MAX_NS
}

impl Plan {
    /// Makes the one-step plan of `fathom io`. `command_line` is kept as the source.
    ///
    /// # Errors
    /// Knobs that contradict each other, or no target.
    pub fn from_io(knobs: &Knobs, targets: Vec<Target>, command_line: &str) -> Result<Plan, KnobError> {
        let mut notes = Vec::new();
        let step = knobs.build(0, "A", targets, &mut notes)?;
        let study = StudyHead { name: "io".to_owned(), question: "What does this one load give?".to_owned() };
        Ok(Plan { study, source: command_line.to_owned(), steps: vec![step], notes })
    }

    /// Most time the steps run, warm-ups included, in ns; laying out files comes on top. `None` when a step ends only
    /// after its passes over the region.
    #[must_use]
    pub fn time_budget_ns(&self) -> Option<u64> {
        let times = self
            .steps
            .iter()
            .map(|s| (!is_bounded_by_passes_alone(s)).then(|| s.length.ramp_ns.saturating_add(s.length.budget_ns)));
        times.sum::<Option<u64>>()
    }

    /// Whether any step writes or trims.
    #[must_use]
    pub fn is_destructive(&self) -> bool {
        self.steps.iter().any(|s| s.workload.mix.is_destructive())
    }

    /// Most bytes the steps can write to all targets, laying out files not counted. `None` when that depends on the
    /// speed of the target (a closed loop without a number of passes).
    #[must_use]
    pub fn bytes_written_max_estimate(&self) -> Option<u64> {
        self.steps.iter().map(step_bytes_written_max).try_fold(0u64, |sum, b| Some(sum.saturating_add(b?)))
    }

    /// Stretches or shrinks all steps in proportion so that warm-ups and budgets add up to `budget_ns` at most. Steps
    /// that were bounded by their passes alone share the time equally with the mean of the others.
    ///
    /// # Errors
    /// Less than [`STEP_NS_MIN`] per step; the plan is then unchanged.
    pub fn scale_to_time_budget(&mut self, budget_ns: u64) -> Result<(), TimeBudgetError> {
        let steps = self.steps.len();
        let needed_ns = STEP_NS_MIN.saturating_mul(steps as u64);
        if budget_ns < needed_ns {
            return Err(TimeBudgetError { budget_ns, needed_ns, steps });
        }
        let timed: Vec<u64> = self
            .steps
            .iter()
            .filter(|s| !is_bounded_by_passes_alone(s))
            .map(|s| s.length.ramp_ns.saturating_add(s.length.budget_ns))
            .collect();
        let timed_sum: u128 = timed.iter().map(|t| u128::from(*t)).sum();
        let mean_ns = timed_sum.checked_div(timed.len() as u128).map_or(STEP_NS_MIN, |m| m as u64);
        for step in self.steps.iter_mut().filter(|s| is_bounded_by_passes_alone(s)) {
            step.length.ramp_ns = 0;
            step.length.floor_ns = mean_ns;
            step.length.budget_ns = mean_ns;
        }
        let total: u128 = timed_sum + u128::from(mean_ns) * (steps - timed.len()) as u128;
        // Steps at the least length first take their share; the others divide what is left in proportion.
        let spare_ns = u128::from(budget_ns - needed_ns);
        for step in &mut self.steps {
            let l = &mut step.length;
            let step_ns = u128::from(l.ramp_ns) + u128::from(l.budget_ns);
            let share_ns = u128::from(STEP_NS_MIN) + spare_ns * step_ns / total.max(1);
            let part = |ns: u64| (u128::from(ns) * share_ns / step_ns.max(1)) as u64;
            (l.ramp_ns, l.floor_ns, l.budget_ns) = (part(l.ramp_ns), part(l.floor_ns), part(l.budget_ns));
        }
        Ok(())
    }
}

fn step_bytes_written_max(step: &Step) -> Option<u64> {
    let mix = step.workload.mix;
    if mix.write_pct == 0 {
        return Some(0);
    }
    let targets = step.targets.len() as u128;
    let by_passes = step.length.passes.and_then(|passes| {
        let region = u128::from(step.workload.region.size_bytes?);
        Some(region * u128::from(passes) * u128::from(step.load.threads) * targets)
    });
    let by_rate = step.load.rate.map(|rate| {
        let seconds = step.length.ramp_ns.saturating_add(step.length.budget_ns) as f64 / 1e9;
        (rate.iops * seconds * f64::from(step.workload.block_bytes_max())) as u128
    });
    let moved = match (by_passes, by_rate) {
        (Some(a), Some(b)) => a.min(b),
        (a, b) => a.or(b)?,
    };
    u64::try_from(moved * u128::from(mix.write_pct) / 100).ok()
}
