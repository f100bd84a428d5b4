//! The answer first: from the judged steps to one or two sentences with their evidence, one file per study.

mod parts;
mod quick;

use crate::compare::Comparison;
use crate::document::{StepView, Verdict};

/// Answers the question of `study` from its steps; an empty run is answered as such. `comparison`: the sides of a run
/// that measured in turns.
pub(crate) fn verdicts(
    study: &str,
    question: &str,
    steps: &[StepView],
    comparison: Option<&Comparison>,
) -> Vec<Verdict> {
    let _ = (study, comparison);
    quick::verdicts(question, steps)
}

/// CPU time of the whole host per I/O, ns; `None` without host counters.
pub(crate) fn cpu_ns_per_io(step: &StepView) -> Option<f64> {
    let cpu = step.cpu.as_ref()?;
    Some(cpu.user_ns_per_io + cpu.system_ns_per_io + cpu.irq_ns_per_io + cpu.kernel_worker_ns_per_io)
}
