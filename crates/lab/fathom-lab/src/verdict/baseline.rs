//! What does the plain interrupt path give, untuned? One sentence on reads, one on writes, with the cost of an I/O.

use fathom_units::{format_iops, format_ns};

use super::parts::{
    Loads, by_kind, limit_words, load, measured, nothing_measured, plus_minus, rate_words, times_as_much,
};
use super::quick;
use crate::document::{StepView, Verdict};

/// Answers from the random loads; evidence, figures and caveats are those of any run.
pub(super) fn verdicts(question: &str, steps: &[StepView]) -> Vec<Verdict> {
    let measured = measured(steps);
    let kinds = by_kind(measured.iter().copied());
    if kinds.is_empty() {
        return vec![nothing_measured(question, steps)];
    }
    let random: Vec<&Loads<'_>> = kinds.iter().filter(|k| k.steps[0].pattern != "sequential").collect();
    let shown: Vec<&Loads<'_>> = if random.is_empty() { kinds.iter().collect() } else { random };
    let sentences: Vec<String> = shown.iter().map(|k| sentence(k)).collect();
    let mut out = quick::verdicts(question, steps);
    if let Some(first) = out.first_mut() {
        first.answer = format!("{} {}", path_words(&measured), sentences.join(" "));
        first.evidence.extend(shown.iter().filter_map(|k| threads_sentence(k)));
    }
    out
}

fn path_words(steps: &[&StepView]) -> String {
    let plain = steps.iter().all(|s| s.mode == "interrupt" && s.placement == "unpinned");
    let settings = steps.iter().any(|s| !s.role.settings.is_empty());
    let mut engines: Vec<&str> = Vec::new();
    for step in steps {
        if !engines.contains(&step.engine.as_str()) {
            engines.push(&step.engine);
        }
    }
    match plain && !settings {
        true => format!("This is the plain path: {}, interrupts, nothing pinned or tuned.", engines.join(", ")),
        false => format!("This is not the plain path any more: {}, changed on the command line.", engines.join(", ")),
    }
}

fn sentence(kind: &Loads<'_>) -> String {
    let alone = kind.steps.iter().find(|s| s.threads * s.queue_depth == 1);
    let best = kind.steps.iter().max_by(|a, b| a.iops.total_cmp(&b.iops)).expect("a kind has a step");
    let first = alone.map_or_else(String::new, |s| {
        let mean = s.lat_ns.as_ref().map_or_else(String::new, |l| format!(" (mean latency {})", format_ns(l.mean)));
        format!("{}{} one at a time{mean} and ", rate_words(s), plus_minus(s))
    });
    let per_core = best.cpu.as_ref().and_then(|c| c.iops_per_core);
    let cost = per_core.map_or_else(String::new, |i| format!("; a busy core carries {}", format_iops(i)));
    format!(
        "{}: {first}{}{} at most, at {}{cost}. {}",
        kind.name,
        rate_words(best),
        plus_minus(best),
        load(best),
        limit_words(best)
    )
}

/// What more threads bring at the same depth of each.
fn threads_sentence(kind: &Loads<'_>) -> Option<String> {
    let fewest = kind.steps.iter().map(|s| s.threads).min()?;
    let most = kind.steps.iter().map(|s| s.threads).max().filter(|t| *t > fewest)?;
    let at = |threads: u32, depth: u32| kind.steps.iter().find(|s| s.threads == threads && s.queue_depth == depth);
    let mut depths: Vec<u32> = kind.steps.iter().map(|s| s.queue_depth).collect();
    depths.sort_unstable();
    depths.dedup();
    let parts: Vec<String> = depths
        .iter()
        .filter_map(|depth| Some(format!("QD {depth} {}", times_as_much(at(most, *depth)?, at(fewest, *depth)?))))
        .collect();
    (!parts.is_empty()).then(|| format!("{}: {most} threads against {fewest}: {}.", kind.name, parts.join(", ")))
}
