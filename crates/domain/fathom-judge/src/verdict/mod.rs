//! The answer first: from the judged steps to one or two sentences with their evidence, one file per study.

mod arrays;
mod baseline;
mod brief;
mod caveats;
mod commit;
mod engines;
mod files;
mod goal;
mod groups;
mod kind;
mod parts;
mod pinning;
mod plateau;
mod qos;
mod quick;
mod raid;
mod scaling;
mod sides;
mod snia;
mod stages;
mod streams;
mod surface;
#[cfg(test)]
mod tests;
mod tune;

use fathom_message::{Message, msg};
use fathom_plan::Phase;

pub use arrays::arrays;
pub use brief::report;
pub(crate) use brief::{change_cell, longer};
pub use engines::paths;
pub use goal::goals;
pub(crate) use goal::is_goal_undecided;
pub use groups::groups;
pub use snia::loops;
pub use surface::{keeps_by_far, surfaces};

use crate::document::{Comparison, StepView, StreamSetView, Verdict};

/// Answers the question of `study` from its steps; an empty run is answered as such. `comparison`: the sides of a run
/// that measured in turns. Where the study does not ask for them itself, they are answered first, and before them the
/// latencies that the user asked for; what streams gave at once comes before what steps gave alone. `run`: its number, which
/// the commands that follow name.
#[must_use]
pub fn verdicts(
    run: i64,
    study: &str,
    question: &Message,
    steps: &[StepView],
    comparison: Option<&Comparison>,
    stream_sets: &[StreamSetView],
) -> Vec<Verdict> {
    let mut out = goal::verdicts(steps, run);
    // A study that asks for scaling anyhow says it itself.
    out.extend(scaling::over_ranks(steps, run).filter(|_| study != "scaling" && comparison.is_none()));
    // The log beside readers is a part of what `commit` asks.
    let stream_sets = if study == "commit" { &[] } else { stream_sets };
    let of_streams = streams::verdicts(question, steps, stream_sets, run);
    if !of_streams.is_empty() {
        out.extend(of_streams);
        let lone: Vec<StepView> =
            steps.iter().filter(|s| s.role.stream.is_none() && s.role.alone.is_none()).cloned().collect();
        if lone.iter().any(|s| s.phase == Phase::Measure && s.ios > 0) {
            out.extend(of_study(run, study, question, &lone));
        }
        return out;
    }
    let of_stages = stages::verdicts(question, steps, run);
    if !of_stages.is_empty() && comparison.is_none() {
        out.extend(of_stages);
        let rest: Vec<StepView> = steps.iter().filter(|s| !stages::is_staged(s)).cloned().collect();
        if rest.iter().any(|s| s.phase == Phase::Measure && s.ios > 0) {
            out.extend(of_study(run, study, question, &rest));
        }
        return out;
    }
    out.extend(match (study, comparison) {
        ("pinning", Some(sides)) => pinning::verdicts(question, steps, sides),
        ("tune", Some(sides)) => tune::verdicts(question, steps, sides, run),
        (_, Some(sides)) => {
            let mut out = tune::verdicts(&msg!("verdict-sides-question"), steps, sides, run);
            // The study's own question is answered from the reference alone.
            let reference: Vec<StepView> = steps.iter().filter(|s| is_of_reference(s)).cloned().collect();
            out.extend(of_study(run, study, question, &reference));
            out
        }
        (_, None) => of_study(run, study, question, steps),
    });
    out
}

/// Answers a study that compares no sides.
fn of_study(run: i64, study: &str, question: &Message, steps: &[StepView]) -> Vec<Verdict> {
    match study {
        "baseline" => baseline::verdicts(question, steps, run),
        "commit" => commit::verdicts(question, steps, run),
        "surface" => surface::verdicts(question, steps, run),
        "engines" => engines::verdicts(question, steps),
        "files" => files::verdicts(question, steps, run),
        "enterprise" => groups::verdicts(question, steps, run),
        "raid" | "md" => raid::verdicts(question, steps, run),
        "qos" => qos::verdicts(question, steps, run),
        "scaling" => scaling::verdicts(question, steps, run),
        "snia" => snia::verdicts(question, steps, run),
        _ => quick::verdicts(question, steps, run),
    }
}

/// Whether the step is no part of a comparison, or of its reference.
fn is_of_reference(step: &StepView) -> bool {
    step.role.block.as_ref().is_none_or(|b| b.arm_index == 0)
}
