//! What does the plain interrupt path give, untuned? One sentence on reads, one on writes, with the cost of an I/O.

use fathom_message::{Arg, Join, Message, msg};
use fathom_plan::{Mode, PlacementKind};

use super::caveats::limit;
use super::kind::{Loads, by_kind, is_sequential};
use super::parts::{load, mean, measured, nothing_measured, per_core, rate, sentences, times_as_much};
use super::quick;
use crate::document::{StepView, Verdict};

/// Answers from the random loads; evidence, figures and caveats are those of any run.
pub(super) fn verdicts(question: &Message, steps: &[StepView], run: i64) -> Vec<Verdict> {
    let measured = measured(steps);
    let kinds = by_kind(measured.iter().copied());
    if kinds.is_empty() {
        return vec![nothing_measured(question, steps)];
    }
    let random: Vec<&Loads<'_>> = kinds.iter().filter(|k| !is_sequential(k.steps[0].pattern)).collect();
    let shown: Vec<&Loads<'_>> = if random.is_empty() { kinds.iter().collect() } else { random };
    let mut out = quick::verdicts(question, steps, run);
    if let Some(first) = out.first_mut() {
        let of_kinds = shown.iter().flat_map(|k| of_kind(k));
        first.answer = sentences(std::iter::once(path(&measured)).chain(of_kinds));
        first.evidence.extend(shown.iter().filter_map(|k| threads_gain(k)));
    }
    out
}

fn path(steps: &[&StepView]) -> Message {
    let plain = steps.iter().all(|s| s.mode == Mode::Interrupt && s.placement == PlacementKind::Unpinned);
    let settings = steps.iter().any(|s| !s.role.settings.is_empty());
    let mut engines: Vec<&str> = Vec::new();
    for step in steps {
        if !engines.contains(&step.engine.as_str()) {
            engines.push(step.engine.as_str());
        }
    }
    let engines = Arg::names(engines, Join::Comma);
    match plain && !settings {
        true => msg!("verdict-plain-path", engines = engines),
        false => msg!("verdict-not-plain-path", engines = engines),
    }
}

fn of_kind(kind: &Loads<'_>) -> Vec<Message> {
    let best = kind.best();
    let alone = kind.steps.iter().find(|s| s.threads * s.queue_depth == 1).map(|s| match &s.lat_ns {
        Some(lat) => msg!("verdict-alone-mean", rate = rate(s), mean = mean(lat)),
        None => msg!("verdict-alone", rate = rate(s)),
    });
    let name = kind.name();
    let most = match alone {
        Some(alone) => {
            msg!("verdict-alone-and-most", kind = name, alone = alone, rate = rate(best), load = load(best))
        }
        None => msg!("verdict-most", kind = name, rate = rate(best), load = load(best)),
    };
    let carries = per_core(best).map(|carried| msg!("verdict-core-carries", carried = carried));
    std::iter::once(most).chain(carries).chain([limit(best)]).collect()
}

/// What more threads bring at the same depth of each.
fn threads_gain(kind: &Loads<'_>) -> Option<Message> {
    let fewest = kind.steps.iter().map(|s| s.threads).min()?;
    let most = kind.steps.iter().map(|s| s.threads).max().filter(|t| *t > fewest)?;
    let at = |threads: u32, depth: u32| kind.steps.iter().find(|s| s.threads == threads && s.queue_depth == depth);
    let mut depths: Vec<u32> = kind.steps.iter().map(|s| s.queue_depth).collect();
    depths.sort_unstable();
    depths.dedup();
    let gain = |depth: &u32| {
        let gain = times_as_much(at(most, *depth)?, at(fewest, *depth)?);
        Some(msg!("verdict-depth-gain", depth = *depth, gain = gain))
    };
    let gains: Vec<Message> = depths.iter().filter_map(gain).collect();
    let some = !gains.is_empty();
    some.then(|| msg!("verdict-threads-gain", kind = kind.name(), most = most, fewest = fewest, gains = gains))
}
