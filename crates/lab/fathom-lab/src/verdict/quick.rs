//! The answer first: from the judged steps to one or two sentences with their evidence.
//!
//! One way for every plan: the steps are sorted into kinds of load (random read, sequential write...), the best step of
//! each kind is named with what limited it, and the shallowest random step tells the latency.

use fathom_units::{format_iops, format_ns};

use super::parts::{
    caveats, figure, is_bandwidth, kind_name, limit_words, load, lower_first, nothing_measured, ns_with_interval,
    per_core_figure, plus_minus, rate_words,
};
use crate::document::{Figure, StepView, Verdict};
use crate::view::is_real;

/// A kind of load and its steps, in the order of the plan.
struct Kind<'a> {
    /// `4k random reads`.
    name: String,
    /// Whether bandwidth is the figure.
    bandwidth: bool,
    steps: Vec<&'a StepView>,
}

impl<'a> Kind<'a> {
    fn best(&self) -> &'a StepView {
        self.steps.iter().copied().max_by(|a, b| a.iops.total_cmp(&b.iops)).expect("a kind has at least one step")
    }
}

/// Answers `question` from the steps; an empty run is answered as such.
pub(super) fn verdicts(question: &str, steps: &[StepView]) -> Vec<Verdict> {
    let kinds = kinds(steps);
    let Some(main) = kinds.first() else {
        return vec![nothing_measured(question, steps)];
    };
    let best = main.best();
    let mut evidence: Vec<String> = kinds.iter().map(kind_sentence).collect();
    evidence.extend(latency_sentence(&kinds));
    evidence.extend(cost_sentence(best));
    vec![Verdict {
        question: question.to_owned(),
        answer: answer(main, best, &kinds),
        evidence,
        would_help: would_help(&kinds),
        caveats: caveats(steps),
        figures: figures(&kinds),
    }]
}

/// Random before sequential, reads before writes: the order in which people ask.
fn kinds(steps: &[StepView]) -> Vec<Kind<'_>> {
    let mut out: Vec<Kind<'_>> = Vec::new();
    for step in steps.iter().filter(|s| s.ios > 0 && s.phase == "measure") {
        let name = kind_name(step);
        match out.iter_mut().find(|k| k.name == name) {
            Some(kind) => kind.steps.push(step),
            None => {
                out.push(Kind { name, bandwidth: is_bandwidth(step), steps: vec![step] });
            }
        }
    }
    out.sort_by_key(|k| (k.bandwidth, k.steps[0].read_pct < 100));
    out
}

fn answer(main: &Kind<'_>, best: &StepView, kinds: &[Kind<'_>]) -> String {
    let subject = if is_real(best) { "This storage gives" } else { "The loop without I/O gives" };
    let mut text = format!(
        "{subject} {} of {} at {}{}. {}",
        rate_words(best),
        main.name,
        load(best),
        plus_minus(best),
        limit_words(best)
    );
    let several = kinds.iter().map(|k| k.steps.len()).sum::<usize>() > 1;
    let shallow =
        main.steps.iter().min_by_key(|s| s.threads * s.queue_depth).filter(|s| several && s.index != best.index);
    if let Some((shallow, lat)) = shallow.and_then(|s| Some((s, s.lat_ns.as_ref()?)))
        && let Some(p50) = lat.p50
    {
        let p50 = ns_with_interval(p50 as f64, lat.ci95.get("p50"));
        text.push_str(&format!(" Median latency at {}: {p50}.", load(shallow)));
    }
    text
}

fn kind_sentence(kind: &Kind<'_>) -> String {
    let best = kind.best();
    let latency = best.lat_ns.as_ref().map_or_else(String::new, |l| {
        let p99 = l.p99.map_or_else(String::new, |p| format!(", p99 {}", format_ns(p as f64)));
        format!(", mean latency {}{p99}", format_ns(l.mean))
    });
    format!(
        "{}: {}{} at {}{latency}; {}",
        kind.name,
        rate_words(best),
        plus_minus(best),
        load(best),
        lower_first(&best.limit.sentence)
    )
}

fn latency_sentence(kinds: &[Kind<'_>]) -> Vec<String> {
    kinds
        .iter()
        .filter(|k| !k.bandwidth)
        .filter_map(|k| {
            k.steps.iter().find(|s| s.threads * s.queue_depth == 1 && s.rate_iops.is_none()).map(|s| (k, s))
        })
        .filter_map(|(k, s)| {
            let l = s.lat_ns.as_ref()?;
            let p99 = l.p99.map_or("not known (too few I/Os)".to_owned(), |p| format_ns(p as f64));
            Some(format!("One {} at a time: mean {}, p99 {p99}.", k.name.trim_end_matches('s'), format_ns(l.mean)))
        })
        .collect()
}

fn cost_sentence(best: &StepView) -> Option<String> {
    let cpu = best.cpu.as_ref()?;
    let per_core = cpu.iops_per_core?;
    let per_io = super::cpu_ns_per_io(best)?;
    Some(format!(
        "CPU cost at {}: {} per I/O over the whole host, so one busy core carries {} IOPS; {:.2} of {} cores were busy.",
        load(best),
        format_ns(per_io),
        format_iops(per_core),
        cpu.busy_cores,
        cpu.cpus_online
    ))
}

fn would_help(kinds: &[Kind<'_>]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for kind in kinds {
        let best = kind.best();
        let advice = match best.limit.name.as_str() {
            "queue_depth" => format!(
                "{}: more in flight; {} was the most tried and IOPS still grew.",
                kind.name,
                best.threads * best.queue_depth
            ),
            "core" => format!("{}: more threads on other cores, or an engine that costs less CPU per I/O.", kind.name),
            "all_cores" => {
                format!("{}: more or faster cores, larger blocks, or an engine that costs less CPU.", kind.name)
            }
            "device" => format!("{}: a faster device; nothing in the host holds it back.", kind.name),
            "page_cache" => format!("{}: `--direct 1` to see the drive instead of memory.", kind.name),
            _ => continue,
        };
        out.push(advice);
    }
    out
}

fn figures(kinds: &[Kind<'_>]) -> Vec<Figure> {
    let mut out = Vec::new();
    for kind in kinds.iter().take(4) {
        let best = kind.best();
        let (value, unit, ci95) = if kind.bandwidth {
            let scale = best.bytes_per_s / best.iops.max(1e-9);
            (best.bytes_per_s, "bytes_per_s", best.iops_ci95.map(|[lo, hi]| [lo * scale, hi * scale]))
        } else {
            (best.iops, "iops", best.iops_ci95)
        };
        out.push(figure(&format!("Most {}", kind.name), value, unit, ci95, best));
    }
    if let Some((kind, step)) = kinds
        .iter()
        .filter(|k| !k.bandwidth)
        .find_map(|k| k.steps.iter().min_by_key(|s| s.threads * s.queue_depth).map(|s| (k, *s)))
        && let Some(lat) = &step.lat_ns
        && let Some(p50) = lat.p50
    {
        let ci95 = lat.ci95.get("p50").map(|[lo, hi]| [*lo as f64, *hi as f64]);
        out.push(figure(&format!("Median latency, {}", kind.name), p50 as f64, "ns", ci95, step));
    }
    out.extend(kinds.first().and_then(|kind| per_core_figure(kind.best())));
    out
}
