//! The time a run may take: steps are shortened when there is too little left, and use what others left.

use std::time::Duration;

use fathom_plan::{Phase, STEP_NS_MIN, Step};

use super::surface::is_chosen_pair;

/// Most that a step is stretched to use time that others left.
const STRETCH_MAX: f64 = 2.0;
/// Stretch limit for pairs of rates: most of the pairs do not run and leave their time to the others.
const STRETCH_OF_PAIRS_MAX: f64 = 5.0;
/// Share of a time budget that the steps may use: preparing comes before them, and the answer after them.
const STEPS_SHARE: f64 = 0.99;
/// Wall time that a step is taken to need beside its length until steps have shown it.
const EXTRA_GUESS: Duration = Duration::from_millis(100);

/// True if files are made before the step is measured.
fn needs_files(step: &Step) -> bool {
    step.workload.order.files.is_some_and(|files| files.op.needs_files())
}

/// Longest measured time of a step, and the time of making its files, which may take as long.
fn length_with_making_ns(step: &Step) -> u64 {
    step.length.budget_ns.saturating_mul(if needs_files(step) { 2 } else { 1 })
}

/// What is left of a budget of wall time. Times are those of the site's clock.
#[derive(Clone, Debug, Default)]
pub(super) struct Budget {
    /// When the last step must have ended; `None`: there is no bound.
    deadline: Option<Duration>,
    /// Time the steps so far took beyond their lengths, and their number.
    extra: (Duration, u32),
}

impl Budget {
    /// A budget that begins at `now`.
    pub(super) fn new(budget_ns: Option<u64>, now: Duration) -> Budget {
        let for_steps = |ns| Duration::from_nanos(ns).mul_f64(STEPS_SHARE);
        Budget { deadline: budget_ns.map(|ns| now + for_steps(ns)), extra: (Duration::ZERO, 0) }
    }

    /// True if there is one.
    pub(super) fn is_limited(&self) -> bool {
        self.deadline.is_some()
    }

    /// Whether it is used up.
    pub(super) fn is_used_up(&self, now: Duration) -> bool {
        self.deadline.is_some_and(|deadline| now >= deadline)
    }

    /// Whether steps of these lengths still fit.
    pub(super) fn has_time_for(&self, steps: &[Step], now: Duration) -> bool {
        let needed_ns: u64 = steps.iter().map(|s| s.length.ramp_ns + s.length.budget_ns).sum();
        self.deadline.is_none_or(|deadline| now + Duration::from_nanos(needed_ns) <= deadline)
    }

    /// The same budget where there is one; else what these steps may take at most, from `now` on.
    pub(super) fn or_length_of<'s>(&self, steps: impl Iterator<Item = &'s Step>, now: Duration) -> Budget {
        let length_ns: u64 = steps.map(|s| s.length.ramp_ns + s.length.budget_ns).sum();
        let deadline = self.deadline.unwrap_or(now + Duration::from_nanos(length_ns));
        Budget { deadline: Some(deadline), extra: self.extra }
    }

    /// Longest time that making the files of a step may take: as long as it measures.
    pub(super) fn making_files(&self, step: &Step) -> Option<Duration> {
        self.deadline.filter(|_| needs_files(step)).map(|_| Duration::from_nanos(step.length.budget_ns))
    }

    /// Takes note that a step took `took`, of which it measured `measured_ns`.
    pub(super) fn step_took(&mut self, took: Duration, measured_ns: u64) {
        self.extra.0 += took.saturating_sub(Duration::from_nanos(measured_ns));
        self.extra.1 += 1;
    }

    /// The step, shortened when it and the `rest` would take longer than there is time; longer, up to twice, when steps
    /// before it were refused or ended early. Rounds of a loop stay as long as each other. `rest` begins with the step; each of its
    /// steps is expected to run so many times.
    pub(super) fn fitted<'s>(&self, step: &Step, rest: impl Iterator<Item = (&'s Step, f64)>, now: Duration) -> Step {
        let mut step = step.clone();
        let Some(deadline) = self.deadline else { return step };
        let left_ns = deadline.saturating_sub(now).as_nanos() as f64;
        let (extra, steps) = self.extra;
        // Before the first steps, each is taken to need a little beside its length.
        let extra_ns = (extra + EXTRA_GUESS).as_nanos() as f64 / f64::from(steps + 1);
        let (mut needed_ns, mut count, mut least_ns) = (0.0, 0.0, 0.0);
        for (s, times) in rest {
            needed_ns += times * (s.length.ramp_ns + length_with_making_ns(s)) as f64;
            count += times;
            // All of them may have to run.
            least_ns += times.max(1.0) * (s.length.budget_ns.min(STEP_NS_MIN) as f64 + extra_ns);
        }
        let most = match step.phase == Phase::Measure && step.role.round.is_none() {
            true if is_chosen_pair(&step) => STRETCH_OF_PAIRS_MAX,
            true => STRETCH_MAX,
            false => 1.0,
        };
        let l = &mut step.length;
        let own_ns = (l.ramp_ns + l.budget_ns) as f64;
        let others_ns = least_ns - l.budget_ns.min(STEP_NS_MIN) as f64;
        let all = (left_ns - count * extra_ns) / needed_ns.max(1.0);
        let share = all.min((left_ns - others_ns) / own_ns.max(1.0)).clamp(0.0, most);
        let part = |ns: u64| (ns as f64 * share) as u64;
        let is_fixed = l.floor_ns == l.budget_ns;
        l.ramp_ns = part(l.ramp_ns);
        let least_ns = l.budget_ns.min(STEP_NS_MIN);
        l.budget_ns = part(l.budget_ns).max(least_ns);
        let floor_ns = if is_fixed { l.budget_ns } else { part(l.floor_ns).min(l.floor_ns) };
        l.floor_ns = floor_ns.clamp(least_ns.min(l.floor_ns), l.budget_ns);
        step
    }
}

#[cfg(test)]
mod tests {
    use fathom_plan::{FileLoad, FileOp, Knobs, Plan, TargetId};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn step(rw: &str) -> Step {
        let mut knobs = Knobs::new();
        for (key, value) in [("rw", rw), ("nrfiles", "100"), ("runtime", "10s")] {
            knobs.set(key, value).expect("a knob");
        }
        Plan::from_io(&knobs, vec![TargetId::new("/f")], "").expect("a plan").steps.remove(0)
    }

    #[test]
    fn making_the_files_of_a_step_takes_a_part_of_the_time() {
        let budget = Budget::new(Some(8_000_000_000), SECOND);
        let (made, looked_at) = (step("filecreate"), step("filestat"));
        assert!(looked_at.workload.order.files.is_some_and(|FileLoad { op, .. }| op == FileOp::Stat));
        let fitted = |step: &Step| budget.fitted(step, std::iter::once((step, 1.0)), SECOND);
        let (made, looked_at) = (fitted(&made), fitted(&looked_at));
        assert!(made.length.budget_ns.abs_diff(2 * looked_at.length.budget_ns) < 10, "half of it makes the files");
        assert_eq!(budget.making_files(&made), None);
        assert_eq!(budget.making_files(&looked_at), Some(Duration::from_nanos(looked_at.length.budget_ns)));
        assert_eq!(Budget::new(None, SECOND).making_files(&looked_at), None, "without a budget all are made");
    }
}
