//! Does it grow with drives and with threads, and what stops it? Linearity, the knee and its cause, IOPS per core.

use fathom_stats::{Effect, MARGIN_PCT, Relation, ScalingFit, adjusted_p_values, relation};
use fathom_units::format_iops;

use super::parts::{
    Loads, by_kind, caveats, change_with_interval, figure, limit_words, lower_first, measured, nothing_measured,
    per_core_figure, plus_minus, rate_words,
};
use crate::compare::effect;
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

    /// 95 % interval of it; `None` for the first point, which is its measure, and without intervals of the rates.
    fn share_ci95(&self, at: usize) -> Option<[f64; 2]> {
        let ((first, one), (n, step)) = (self.points[0], self.points[at]);
        let (low, high) = effect("iops", &[one], &[step]).filter(|_| at > 0)?.ci95();
        let scale = f64::from(first) / f64::from(n);
        Some([low * scale, high * scale])
    }

    /// The first point below [`LINEAR`], with its whole interval where it has one.
    fn knee(&self) -> Option<usize> {
        let most = |at: usize| self.share_ci95(at).map_or(self.share_of_linear(at), |[_, high]| high);
        (1..self.points.len()).find(|at| most(*at) < LINEAR)
    }

    /// Whether the last point may lie below [`LINEAR`] although no point is below it for sure.
    fn may_bend(&self) -> bool {
        let last = self.points.len() - 1;
        self.knee().is_none() && self.share_ci95(last).is_some_and(|[low, _]| low < LINEAR)
    }

    /// `99 % (95 % interval 98 to 100 %)`.
    fn share_words(&self, at: usize) -> String {
        let pct = self.share_of_linear(at) * 100.0;
        match self.share_ci95(at) {
            Some([low, high]) => {
                format!("{pct:.0} % (95 % interval {:.0} to {:.0} %)", low * 100.0, high * 100.0)
            }
            None => format!("{pct:.0} %"),
        }
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
    let (word, name) = (ladder.word, &ladder.name);
    let (n, top) = ladder.points[last];
    let Some(knee) = ladder.knee() else {
        let begin = match ladder.may_bend() {
            true => format!("With {word}, whether {name} grow in a straight line to {n} cannot be told"),
            false => format!("With {word}, {name} grow in a straight line to {n}"),
        };
        return format!(
            "{begin}: {}{}, {} of {n} times the first.",
            rate_words(top),
            plus_minus(top),
            ladder.share_words(last)
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
        "With {word}, {name} {before}; {at} give {} of the ideal ({}{}), and {} at most, with {}. {}",
        ladder.share_words(knee),
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
    let mut found: Vec<(&StepView, Effect)> = Vec::new();
    for cores in steps.iter().copied().filter(|s| s.placement == "cores" && s.threads > 1) {
        let alike = |s: &&StepView| {
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
        let Some(smt) = steps.iter().copied().find(alike) else { continue };
        found.extend(effect("iops", &[cores], &[smt]).map(|effect| (cores, effect)));
    }
    let p: Vec<f64> = found.iter().map(|(_, effect)| effect.p_value()).collect();
    let told = found.iter().zip(adjusted_p_values(&p)).map(|((cores, effect), p)| {
        let words = match relation(effect, p, MARGIN_PCT) {
            Relation::Higher => "more than",
            Relation::Lower => "less than",
            Relation::Same => "the same as",
            Relation::Unsure => "not told apart from",
        };
        format!(
            "{} threads on both siblings of {} give {words} on cores of their own: {}.",
            cores.threads,
            if cores.threads == 2 { "1 core".to_owned() } else { format!("{} cores", cores.threads / 2) },
            change_with_interval(effect.ratio(), Some(effect.ci95().into()))
        )
    });
    told.collect()
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
        let share_ci95 = ladder.share_ci95(last).map(|ci| ci.map(|share| share * 100.0));
        out.push(figure(&format!("Of linear growth, {n} {}", ladder.word), share, "%", share_ci95, top));
        out.extend(per_core_figure(top));
    }
    out
}
