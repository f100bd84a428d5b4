//! The answer of a comparison.

use fathom_message::{Arg, Join, Message, Quantity, msg};

use super::farthest;
use crate::document::{ComparedStep, Comparison, Design, Speed, SpreadSource};

/// Differences named in the caveat on them.
const DIFFERENCES_MAX: usize = 6;
/// A spread from run to run below this share is not worth a word.
const SPREAD_MIN: f64 = 0.0005;

/// One or two sentences per side.
pub(super) fn answer(comparison: &Comparison) -> Message {
    let Some((reference, others)) = comparison.sides.split_first() else { return Message::verbatim("") };
    let sentences = others.iter().map(|side| {
        let steps: Vec<&ComparedStep> = comparison.steps.iter().filter(|s| s.side == side.name).collect();
        let result = of_side(&steps, comparison.margin_pct);
        msg!("compare-answer", side = &side.title, reference = &reference.title, result = result)
    });
    msg!("several-sentences", list = Arg::list(sentences, Join::Sentences))
}

fn of_side(steps: &[&ComparedStep], margin_pct: f64) -> Message {
    let margin = Quantity::pct(margin_pct);
    let counts = match steps {
        [] => return msg!("compare-nothing-on-both"),
        [one] => match one.verdict {
            Speed::Faster => msg!("compare-one-faster"),
            Speed::Slower => msg!("compare-one-slower"),
            Speed::Same => msg!("compare-one-same", margin = margin),
            Speed::Inconclusive => msg!("compare-one-inconclusive"),
        },
        several => {
            let count = |verdict: Speed| several.iter().filter(|s| s.verdict == verdict).count();
            let [faster, slower, same, inconclusive] =
                [Speed::Faster, Speed::Slower, Speed::Same, Speed::Inconclusive].map(count);
            let parts = [
                (faster, msg!("compare-count-faster", steps = faster)),
                (slower, msg!("compare-count-slower", steps = slower)),
                (same, msg!("compare-count-same", steps = same, margin = margin)),
                (inconclusive, msg!("compare-count-inconclusive", steps = inconclusive)),
            ];
            let counts = parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, part)| part);
            msg!("compare-counts", steps = several.len(), counts = Arg::list(counts, Join::Comma))
        }
    };
    let most = |verdict: Speed| {
        let step = farthest(steps.iter().copied(), verdict)?;
        Some((step.label.clone(), change(step)?))
    };
    let most = [
        most(Speed::Slower).map(|(label, change)| msg!("compare-most-slower", step = label, change = change)),
        most(Speed::Faster).map(|(label, change)| msg!("compare-most-faster", step = label, change = change)),
    ];
    let most = most.into_iter().flatten();
    let said = std::iter::once(counts).chain(most).chain(spreads(steps)).chain(open(steps));
    msg!("several-sentences", list = Arg::list(said, Join::Sentences))
}

/// Which spread from run to run the verdicts hold, and how many runs tell it.
fn spreads(steps: &[&ComparedStep]) -> impl Iterator<Item = Message> {
    [SpreadSource::Runs, SpreadSource::Ledger].into_iter().filter_map(|source| {
        let used: Vec<_> = steps.iter().filter_map(|s| s.spread).filter(|s| s.source == source).collect();
        let runs = used.iter().map(|s| s.runs).min()?;
        let most = Quantity::share(used.iter().map(|s| s.pct).fold(0.0, f64::max) / 100.0);
        Some(match source {
            SpreadSource::Runs => msg!("compare-spread-runs", spread = most, runs = runs),
            SpreadSource::Ledger => msg!("compare-spread-ledger", spread = most, runs = runs),
        })
    })
}

/// Reasons of inconclusive steps without an interval, each once. If other steps are inconclusive for another reason, each has its
/// number of steps.
fn open(steps: &[&ComparedStep]) -> Vec<Message> {
    let all = steps.iter().filter(|s| s.inconclusive.is_some()).count();
    let mut reasons: Vec<(&Message, usize)> = Vec::new();
    for reason in steps.iter().filter(|s| s.ci95.is_none()).filter_map(|s| s.inconclusive.as_ref()) {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    let said = |(why, count): (&Message, usize)| match count == all {
        true => msg!("compare-inconclusive-because", why = why),
        false => msg!("compare-inconclusive-some", count = count, all = all, why = why),
    };
    reasons.into_iter().map(said).collect()
}

/// The ratio of a step; `None` where a side has no figure.
fn change(step: &ComparedStep) -> Option<Quantity> {
    step.ratio.map(|ratio| Quantity::change(ratio).with_ci95(step.ci95))
}

/// What limits the trust in the answer. `spread`: found from run to run, as a share.
pub(super) fn caveats(comparison: &Comparison, spread: f64) -> Vec<Message> {
    let mut out = Vec::new();
    let is_unpaired = comparison.steps.iter().any(|s| s.design == Design::Unpaired);
    if is_unpaired && spread > SPREAD_MIN {
        out.push(msg!("compare-caveat-spread", spread = Quantity::share(spread)));
    }
    if !comparison.environment.is_empty() {
        let names = comparison.environment.iter().map(|d| d.what.clone()).take(DIFFERENCES_MAX);
        out.push(msg!("compare-caveat-environment", names = Arg::list(names, Join::Comma)));
    }
    let noted = comparison.steps.iter().filter(|s| !s.notes.is_empty()).count();
    if noted > 0 {
        out.push(msg!("compare-caveat-noted", noted = noted, steps = comparison.steps.len()));
    }
    if !comparison.unmatched.is_empty() {
        out.push(msg!("compare-caveat-unmatched", steps = comparison.unmatched.len()));
    }
    out
}
