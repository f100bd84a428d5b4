//! What limits the trust in any answer, and the limit of its best step in a sentence.

use fathom_message::{Message, Quantity, msg};
use fathom_model::LimitName;
use fathom_plan::Phase;

use super::parts::listed;
use crate::document::{CheckCause, CheckName, CheckView, StepState, StepView};

/// Most reasons of refused steps in a verdict.
const REASONS_MAX: usize = 6;

/// What limits the trust in any answer.
pub(super) fn caveats(steps: &[StepView]) -> Vec<Message> {
    let mut out = not_run(steps);
    out.extend(not_steady(steps));
    out.extend(state_changed(steps));
    out.extend(failed_checks(steps));
    out
}

fn not_run(steps: &[StepView]) -> Vec<Message> {
    let bad: Vec<(&StepView, &Message)> = steps.iter().filter_map(|s| Some((s, s.reason.as_ref()?))).collect();
    let one = |(step, why): &(&StepView, &Message)| match step.state {
        StepState::Skipped => msg!("verdict-step-skipped", step = &step.label_message, why = *why),
        StepState::Refused => msg!("verdict-step-refused", step = &step.label_message, why = *why),
        _ => msg!("verdict-step-failed", step = &step.label_message, why = *why),
    };
    let mut out: Vec<Message> = bad.iter().take(REASONS_MAX).map(one).collect();
    let more = bad.len().saturating_sub(REASONS_MAX);
    out.extend((more > 0).then(|| msg!("verdict-more-refused", count = more)));
    out
}

fn not_steady(steps: &[StepView]) -> Vec<Message> {
    // Steady when it was conditioned, but not while it was measured.
    let left = |s: &&StepView| s.steady.as_ref().is_some_and(|s| s.pts.as_ref().is_some_and(|p| p.reached));
    let (left, never): (Vec<&StepView>, Vec<&StepView>) =
        steps.iter().filter(|s| s.phase == Phase::Measure && s.is_unsteady()).partition(left);
    let mut out = Vec::new();
    if !never.is_empty() {
        out.push(msg!("verdict-not-steady", steps = labels(&never)));
    }
    if !left.is_empty() {
        out.push(msg!("verdict-left-steady", steps = labels(&left)));
    }
    out
}

/// Only where the same step was measured again: else it may be the depth.
fn state_changed(steps: &[StepView]) -> Option<Message> {
    let changed: Vec<&StepView> = steps.iter().filter(|s| s.limit.state_change.is_some()).collect();
    (!changed.is_empty()).then(|| msg!("verdict-state-changed", steps = labels(&changed)))
}

fn failed_checks(steps: &[StepView]) -> Vec<Message> {
    let failed = |is_meant: &dyn Fn(&CheckView) -> bool| -> Vec<&StepView> {
        let has_one = |s: &&StepView| s.checks.iter().any(|c| c.ok == Some(false) && is_meant(c));
        steps.iter().filter(has_one).collect()
    };
    let by_others = |c: &CheckView| c.cause == Some(CheckCause::OtherLoad);
    let others = failed(&by_others);
    let cached = failed(&|c| c.name == CheckName::PageCache);
    let laws = failed(&|c| c.name != CheckName::PageCache && !by_others(c));
    let mut out = Vec::new();
    if !cached.is_empty() {
        out.push(msg!("verdict-page-cache", steps = labels(&cached)));
    }
    if !laws.is_empty() {
        out.push(msg!("verdict-check-failed", steps = labels(&laws)));
    }
    if !others.is_empty() {
        out.push(msg!("verdict-other-load", steps = labels(&others)));
    }
    out
}

fn labels(steps: &[&StepView]) -> fathom_message::Arg {
    listed(steps.iter().map(|s| s.label_message.clone()))
}

/// The limit in a few words; its sentence with the numbers is among the evidence.
pub(super) fn limit(step: &StepView) -> Message {
    let what = match step.limit.name {
        LimitName::Unknown => return msg!("verdict-limit-unknown"),
        LimitName::PageCache => return msg!("verdict-limit-page-cache"),
        _ => limiting_part(step),
    };
    match step.limit.probability {
        Some(p) => msg!("verdict-limit-probable", what = what, probability = Quantity::share(p)),
        None => msg!("verdict-limit", what = what),
    }
}

/// The part that limits the step: `the device`, `the cores of its threads`.
pub(super) fn limiting_part(step: &StepView) -> Message {
    match step.limit.name {
        LimitName::Core if step.spread.workers(step.threads, step.devices) == 1 => msg!("verdict-limit-one-core"),
        LimitName::Core => msg!("verdict-limit-cores"),
        name => name.message(),
    }
}
