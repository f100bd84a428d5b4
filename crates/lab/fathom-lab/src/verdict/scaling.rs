//! Does it grow with drives and with threads, and what stops it? Linearity, the knee and its cause, IOPS per core.

use fathom_stats::{Effect, MARGIN_PCT, Relation, ScalingFit, relation};
use fathom_units::format_iops;

use super::parts::{
    Loads, by_kind, caveats, change_with_interval, figure, limit_words, lower_first, measured, nothing_measured,
    plus_minus, rate_words,
};
use crate::document::{Figure, StepView, Verdict};

/// Below this share of linear growth a ladder has bent.
const LINEAR: f64 = 0.9;
/// Points farther than this from the fitted law, as a share, make it a rough one.
const ROUGH: f64 = 0.05;

/// A ladder over drives or over threads.
struct Ladder<'a> {
    /// `drives` or `threads`.
    word: &'static str,
    /// `4k random reads`, with what tells it from other ladders.
    name: String,
    /// By number of drives or threads, rising; at least two different ones.
    points: Vec<(u32, &'a StepView)>,
    fit: Option<ScalingFit>,
}

impl Ladder<'_> {
    /// Rate at a point over that of as many times the first.
    fn share_of_linear(&self, at: usize) -> f64 {
        let (first, one) = self.points[0];
        let (n, step) = self.points[at];
        step.iops / (one.iops * f64::from(n) / f64::from(first))
    }

    /// The first point below [`LINEAR`].
    fn knee(&self) -> Option<usize> {
        (1..self.points.len()).find(|at| self.share_of_linear(*at) < LINEAR)
    }
}

/// Answers from all ladders found.
pub(super) fn verdicts(question: &str, steps: &[StepView]) -> Vec<Verdict> {
    let measured = measured(steps);
    if measured.is_empty() {
        return vec![nothing_measured(question, steps)];
    }
    let ladders = ladders(&measured);
    if ladders.is_empty() {
        let answer = format!(
            "It cannot be said: no two numbers of drives or of threads were measured. {}",
            by_kind(measured.iter().copied()).first().map_or_else(String::new, |k| only_sentence(k))
        );
        return vec![verdict(question, answer.trim_end().to_owned(), Vec::new(), Vec::new(), steps, Vec::new())];
    }
    let answers: Vec<String> = ladders.iter().take(3).map(answer).collect();
    let mut evidence: Vec<String> = ladders.iter().map(points_sentence).collect();
    evidence.extend(ladders.iter().filter_map(fit_sentence));
    evidence.extend(siblings(&measured));
    evidence.extend(ladders.iter().map(cause_sentence));
    let help = ladders.iter().flat_map(|l| end(l).limit.would_help.iter().cloned()).take(3).collect();
    vec![verdict(question, answers.join(" "), evidence, help, steps, figures(&ladders))]
}

fn verdict(
    question: &str,
    answer: String,
    evidence: Vec<String>,
    would_help: Vec<String>,
    steps: &[StepView],
    figures: Vec<Figure>,
) -> Verdict {
    Verdict { question: question.to_owned(), answer, evidence, would_help, caveats: caveats(steps), figures }
}

fn only_sentence(kind: &Loads<'_>) -> String {
    let step = kind.steps[0];
    format!(
        "{}: {}{} with {} drives and {} threads.",
        kind.name,
        rate_words(step),
        plus_minus(step),
        step.devices,
        step.threads
    )
}

/// Steps that differ in the number of drives alone, or of threads alone.
fn ladders<'a>(steps: &[&'a StepView]) -> Vec<Ladder<'a>> {
    let mut out = Vec::new();
    for kind in by_kind(steps.iter().copied()) {
        for (word, of) in [("drives", (|s| s.devices) as fn(&StepView) -> u32), ("threads", |s| s.threads)] {
            let mut families: Vec<(String, Vec<&'a StepView>)> = Vec::new();
            for step in &kind.steps {
                let rest = if word == "drives" { step.threads } else { step.devices };
                let key = format!("{rest}|{}|{}|{}|{}", step.queue_depth, step.placement, step.engine, step.mode);
                match families.iter_mut().find(|(k, _)| *k == key) {
                    Some((_, family)) => family.push(step),
                    None => families.push((key, vec![step])),
                }
            }
            for (_, family) in families {
                let mut points: Vec<(u32, &StepView)> = family.iter().map(|s| (of(s), *s)).collect();
                points.sort_by_key(|p| p.0);
                points.dedup_by_key(|p| p.0);
                if points.len() < 2 {
                    continue;
                }
                let placement = &family[0].placement;
                let name = match (word, placement.as_str()) {
                    ("drives", _) | (_, "unpinned") => kind.name.clone(),
                    (_, placement) => format!("{} on {}", kind.name, placement_words(placement)),
                };
                let fit = ScalingFit::of(&points.iter().map(|(n, s)| (f64::from(*n), s.iops)).collect::<Vec<_>>());
                out.push(Ladder { word, name, points, fit });
            }
        }
    }
    out.sort_by_key(|l| (l.word, usize::MAX - l.points.len()));
    out
}

fn placement_words(placement: &str) -> &str {
    match placement {
        "cores" => "cores of their own",
        "smt" => "both siblings of a core",
        other => other,
    }
}

/// The knee, or the last point of a ladder that stays straight.
fn end<'a>(ladder: &Ladder<'a>) -> &'a StepView {
    ladder.points[ladder.knee().unwrap_or(ladder.points.len() - 1)].1
}

fn answer(ladder: &Ladder<'_>) -> String {
    let last = ladder.points.len() - 1;
    let pct = |at: usize| ladder.share_of_linear(at) * 100.0;
    let (word, name) = (ladder.word, &ladder.name);
    let (n, top) = ladder.points[last];
    let Some(knee) = ladder.knee() else {
        return format!(
            "With {word}, {name} grow in a straight line to {n}: {}{}, {:.0} % of {n} times the first.",
            rate_words(top),
            plus_minus(top),
            pct(last)
        );
    };
    let (at, step) = ladder.points[knee];
    let straight = ladder.points[knee - 1].0;
    let before = if straight == ladder.points[0].0 {
        "bend from the start".to_owned()
    } else {
        format!("grow in a straight line to {straight}")
    };
    let best = ladder.points.iter().max_by(|a, b| a.1.iops.total_cmp(&b.1.iops)).expect("two points at least");
    format!(
        "With {word}, {name} {before}; {at} give {:.0} % of the ideal ({}{}), and {} at most, with {}. {}",
        pct(knee),
        rate_words(step),
        plus_minus(step),
        rate_words(best.1),
        best.0,
        limit_words(step)
    )
}

fn points_sentence(ladder: &Ladder<'_>) -> String {
    let parts: Vec<String> = ladder
        .points
        .iter()
        .enumerate()
        .map(|(at, (n, step))| {
            let per_core = step.cpu.as_ref().and_then(|c| c.iops_per_core);
            let core = per_core.map_or_else(String::new, |i| format!(", {} per busy core", format_iops(i)));
            format!("{n}: {}{} ({:.0} %{core})", rate_words(step), plus_minus(step), ladder.share_of_linear(at) * 100.0)
        })
        .collect();
    format!("{} by {}: {}.", ladder.name, ladder.word, parts.join(" · "))
}

fn fit_sentence(ladder: &Ladder<'_>) -> Option<String> {
    let fit = ladder.fit.as_ref()?;
    let (Some(first), Some(last)) = (ladder.points.first(), ladder.points.last()) else { return None };
    let end = match (fit.peak(), fit.bound()) {
        (Some(peak), Some(bound)) if peak < 4.0 * f64::from(last.0) => {
            format!("most at {peak:.0} with {} IOPS, falling beyond", format_iops(bound))
        }
        (_, Some(bound)) if bound < 20.0 * last.1.iops => format!("never above {} IOPS", format_iops(bound)),
        _ => "no bound in sight".to_owned(),
    };
    Some(format!(
        "{} by {}, fitted to the universal scalability law over {} to {}: contention {:.2} %, coherence {:.3} %, {end}; the points lie {:.1} % off it{}.",
        ladder.name,
        ladder.word,
        first.0,
        last.0,
        fit.sigma * 100.0,
        fit.kappa * 100.0,
        fit.residual * 100.0,
        if fit.residual > ROUGH { ", so take it as a rough one" } else { "" }
    ))
}

/// Cores of their own against both siblings of half as many, at the same number of threads.
fn siblings(steps: &[&StepView]) -> Vec<String> {
    let mut out = Vec::new();
    for cores in steps.iter().filter(|s| s.placement == "cores" && s.threads > 1) {
        let alike = |s: &&&StepView| {
            s.placement == "smt"
                && (s.threads, s.queue_depth, s.devices, &s.op, s.block_size_bytes, &s.group)
                    == (
                        cores.threads,
                        cores.queue_depth,
                        cores.devices,
                        &cores.op,
                        cores.block_size_bytes,
                        &cores.group,
                    )
        };
        let Some(smt) = steps.iter().find(alike) else { continue };
        let intervals = smt.iops_ci95.zip(cores.iops_ci95);
        let effect = intervals.and_then(|(b, a)| Effect::of_figures(cores.iops, a.into(), smt.iops, b.into()));
        let Some(effect) = effect else { continue };
        let words = match relation(&effect, effect.p_value(), MARGIN_PCT) {
            Relation::Higher => "more than",
            Relation::Lower => "less than",
            Relation::Same => "the same as",
            Relation::Unsure => "not told apart from",
        };
        out.push(format!(
            "{} threads on both siblings of {} give {words} on cores of their own: {}.",
            cores.threads,
            if cores.threads == 2 { "1 core".to_owned() } else { format!("{} cores", cores.threads / 2) },
            change_with_interval(effect.ratio(), Some(effect.ci95().into()))
        ));
    }
    out
}

fn cause_sentence(ladder: &Ladder<'_>) -> String {
    let step = end(ladder);
    let what = if ladder.knee().is_some() { "knee" } else { "end" };
    format!("At the {what} of {} by {}: {}", ladder.name, ladder.word, lower_first(&step.limit.sentence))
}

fn figures(ladders: &[Ladder<'_>]) -> Vec<Figure> {
    let mut out = Vec::new();
    for ladder in ladders.iter().take(2) {
        let last = ladder.points.len() - 1;
        let (n, top) = ladder.points[last];
        out.push(figure(&format!("{} with {n} {}", ladder.name, ladder.word), top.iops, "iops", top.iops_ci95, top));
        let share = ladder.share_of_linear(last) * 100.0;
        out.push(figure(&format!("Of linear growth, {n} {}", ladder.word), share, "%", None, top));
        if let Some(per_core) = top.cpu.as_ref().and_then(|c| c.iops_per_core) {
            out.push(figure("IOPS per busy core", per_core, "iops_per_core", None, top));
        }
    }
    out
}
