//! What all verdicts are made of: loads, figures, caveats.

use fathom_stats::mean_ci;
use fathom_units::{format_block, format_iops, format_ns, format_rate};

use crate::checks::{OTHER_LOAD, PAGE_CACHE};
use crate::compare::{change_words, interval_words};
use crate::document::{CheckView, Figure, LatencyView, StepView, Verdict};
use crate::view::is_unsteady;

/// From this block size on bandwidth is the figure, not IOPS.
const BANDWIDTH_BLOCK_BYTES: u32 = 64 << 10;

/// Measured steps that completed I/Os, in the order of the plan.
pub(super) fn measured(steps: &[StepView]) -> Vec<&StepView> {
    steps.iter().filter(|s| s.phase == "measure" && s.ios > 0).collect()
}

/// The answer when no step completed an I/O.
pub(super) fn nothing_measured(question: &str, steps: &[StepView]) -> Verdict {
    let reasons: Vec<String> =
        steps.iter().filter_map(|s| s.reason.as_ref().map(|r| format!("{}: {r}", s.label))).take(3).collect();
    Verdict {
        question: question.to_owned(),
        answer: "Nothing was measured: no step completed an I/O.".to_owned(),
        evidence: reasons,
        would_help: steps.iter().filter_map(|s| s.help.clone()).take(1).collect(),
        caveats: caveats(steps),
        figures: Vec::new(),
    }
}

/// `T1 QD32`, or the rate asked for.
pub(super) fn load(step: &StepView) -> String {
    match step.rate_iops {
        Some(rate) => format!("{} IOPS asked", format_iops(rate)),
        None => format!("T{} QD{}", step.threads, step.queue_depth),
    }
}

/// ` ±0.4 %` of the IOPS; empty without an interval.
pub(super) fn plus_minus(step: &StepView) -> String {
    rel_half_width(step).map_or_else(String::new, width_words)
}

/// ` ±0.4 %`; as in the table, a figure that may be off by more than itself is not told by how much.
fn width_words(rel_half_width: f64) -> String {
    if rel_half_width > 1.0 { " ±>100 %".to_owned() } else { format!(" ±{:.1} %", rel_half_width * 100.0) }
}

/// Half the width of the interval of the IOPS, as a share of them.
fn rel_half_width(step: &StepView) -> Option<f64> {
    step.iops_ci95.filter(|_| step.iops > 0.0).map(|[lo, hi]| (hi - lo) / 2.0 / step.iops)
}

/// `3.1x ±2.0 %`: the IOPS of a step over those of another, with the interval where both have one. Shares of independent
/// figures add as their squares.
pub(super) fn times_as_much(this: &StepView, base: &StepView) -> String {
    let width = rel_half_width(this).zip(rel_half_width(base)).map(|(a, b)| a.hypot(b));
    let interval = width.map_or_else(String::new, width_words);
    format!("{:.1}x{interval}", this.iops / base.iops)
}

/// For a sentence that goes on inside another.
pub(super) fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_lowercase().chain(chars).collect())
}

/// What limits the trust in any answer.
pub(super) fn caveats(steps: &[StepView]) -> Vec<String> {
    let mut out = Vec::new();
    let bad: Vec<&StepView> = steps.iter().filter(|s| s.reason.is_some()).collect();
    for step in bad.iter().take(REASONS_MAX) {
        out.push(format!("{} was {}: {}", step.label, step.state, step.reason.as_deref().unwrap_or_default()));
    }
    if bad.len() > REASONS_MAX {
        out.push(format!("{} more steps were refused or failed; the table names each.", bad.len() - REASONS_MAX));
    }
    // Steady when it was conditioned, but not while it was measured.
    let left = |s: &&StepView| s.steady.as_ref().is_some_and(|s| s.pts.as_ref().is_some_and(|p| p.reached));
    let (left, never): (Vec<&StepView>, Vec<&StepView>) =
        steps.iter().filter(|s| s.phase == "measure" && is_unsteady(s)).partition(left);
    for (what, steps) in [("Not steady over their window", never), ("Left the steady state again while measured", left)]
    {
        let labels: Vec<&str> = steps.iter().map(|s| s.label.as_str()).collect();
        if !labels.is_empty() {
            out.push(format!("{what}: {}.", listed(&labels)));
        }
    }
    let failed = |is_meant: &dyn Fn(&CheckView) -> bool| -> Vec<&str> {
        let has_one = |s: &&StepView| s.checks.iter().any(|c| c.ok == Some(false) && is_meant(c));
        steps.iter().filter(has_one).map(|s| s.label.as_str()).collect()
    };
    let by_others = |c: &CheckView| c.cause.as_deref() == Some(OTHER_LOAD);
    let others = failed(&by_others);
    let cached = failed(&|c| c.name == PAGE_CACHE);
    let laws = failed(&|c| c.name != PAGE_CACHE && !by_others(c));
    if !cached.is_empty() {
        out.push(format!(
            "The page cache may have answered part of: {}; these are not the drive's alone.",
            listed(&cached)
        ));
    }
    if !laws.is_empty() {
        out.push(format!("A law was violated in: {}; see its checks.", listed(&laws)));
    }
    if !others.is_empty() {
        out.push(format!(
            "The device moved more than was asked for in: {}; another program likely uses it: stop that program, or measure a device that nothing else uses.",
            listed(&others)
        ));
    }
    match steps.iter().map(|s| s.warnings.len()).sum::<usize>() {
        0 => {}
        1 => out.push("1 warning stands with its step.".to_owned()),
        n => out.push(format!("{n} warnings stand with the steps.")),
    }
    out
}

/// Most reasons of refused steps, and most labels in a row, in a verdict.
const REASONS_MAX: usize = 6;

/// `a, b, c`, or the first few and how many more; each once.
pub(super) fn listed(names: &[&str]) -> String {
    let mut once: Vec<&str> = Vec::new();
    for name in names {
        if !once.contains(name) {
            once.push(name);
        }
    }
    if once.len() <= REASONS_MAX {
        return once.join(", ");
    }
    format!("{} and {} more", once[..REASONS_MAX].join(", "), once.len() - REASONS_MAX)
}

/// A headline figure of a step.
pub(super) fn figure(name: &str, value: f64, unit: &str, ci95: Option<[f64; 2]>, step: &StepView) -> Figure {
    Figure { name: name.to_owned(), value, unit: unit.to_owned(), ci95, load: step.label.clone(), step: step.index }
}

/// `4k random reads`.
pub(super) fn kind_name(step: &StepView) -> String {
    let what = match (step.read.is_some(), step.write.is_some(), step.trim.is_some()) {
        (true, false, false) => "reads".to_owned(),
        (false, true, false) => "writes".to_owned(),
        (false, false, true) => "trims".to_owned(),
        _ => return load_name(&step.pattern, step.read_pct, step.block_size_bytes),
    };
    format!("{} {} {what}", format_block(u64::from(step.block_size_bytes)), order_word(&step.pattern))
}

/// The same from what was asked for: `4k random reads`, `8k random 70 % reads`.
pub(super) fn load_name(pattern: &str, read_pct: u8, block_size_bytes: u32) -> String {
    let what = match read_pct {
        100 => "reads".to_owned(),
        0 => "writes".to_owned(),
        share => format!("{share} % reads"),
    };
    format!("{} {} {what}", format_block(u64::from(block_size_bytes)), order_word(pattern))
}

fn order_word(pattern: &str) -> &'static str {
    if pattern == "sequential" { "sequential" } else { "random" }
}

/// Whether bandwidth is the figure of the step.
pub(super) fn is_bandwidth(step: &StepView) -> bool {
    step.block_size_bytes >= BANDWIDTH_BLOCK_BYTES
}

/// `183k IOPS`, or `3.10 GB/s (2.89 GiB/s)` with large blocks.
pub(super) fn rate_words(step: &StepView) -> String {
    if is_bandwidth(step) { format_rate(step.bytes_per_s) } else { format!("{} IOPS", format_iops(step.iops)) }
}

/// `+26.1 % (95 % interval +24.0 to +28.2 %)`.
pub(super) fn change_with_interval(ratio: f64, ci95: Option<[f64; 2]>) -> String {
    match ci95 {
        Some(ci95) => format!("{} (95 % interval {})", change_words(ratio), interval_words(ci95)),
        None => format!("{} (no interval)", change_words(ratio)),
    }
}

/// `96.0 us (95 % interval 94.0 to 98.0 us)`; without the brackets where there is no interval.
pub(super) fn ns_with_interval(ns: f64, ci95: Option<&[u64; 2]>) -> String {
    match ci95 {
        Some([low, high]) => {
            format!("{} (95 % interval {} to {})", format_ns(ns), format_ns(*low as f64), format_ns(*high as f64))
        }
        None => format_ns(ns),
    }
}

/// The mean of a latency with its interval, where there is one.
pub(super) fn mean_with_interval(latency: &LatencyView) -> String {
    ns_with_interval(latency.mean, latency.ci95.get("mean"))
}

/// 95 % interval of the CPU time per I/O, from its values interval by interval; `None` with too few of them.
pub(crate) fn cpu_per_io_ci95(step: &StepView) -> Option<(f64, f64)> {
    let cpu = step.cpu.as_ref()?;
    let busy = step.series.cpu_busy.iter().map(|cpus| cpus.iter().map(|busy| f64::from(*busy)).sum::<f64>());
    let costs: Vec<f64> = busy
        .zip(&step.series.iops)
        .filter(|(_, iops)| **iops > 0.0)
        .map(|(busy, iops)| (busy - cpu.baseline_busy_cores).max(0.0) / iops)
        .collect();
    let estimate = mean_ci(&costs);
    let (value, half) = (super::cpu_ns_per_io(step)?, estimate.rel_half_width()?);
    Some((value * (1.0 - half), value * (1.0 + half)))
}

/// IOPS per busy core as a headline figure; `None` where the CPU time is not known.
pub(super) fn per_core_figure(step: &StepView) -> Option<Figure> {
    let per_core = step.cpu.as_ref()?.iops_per_core?;
    let interval = super::cpu_ns_per_io(step).zip(cpu_per_io_ci95(step));
    let ci95 = interval.filter(|(_, (low, _))| *low > 0.0);
    let ci95 = ci95.map(|(cost, (low, high))| [per_core * cost / high, per_core * cost / low]);
    Some(figure("IOPS per busy core", per_core, "iops_per_core", ci95, step))
}

/// The limit in a few words; its sentence with the numbers stands with the evidence.
pub(super) fn limit_words(step: &StepView) -> String {
    let what = match step.limit.name.as_str() {
        "device" => "the device itself",
        "core" if step.threads * step.devices == 1 => "one core",
        "core" => "the cores of its threads",
        "all_cores" => "the CPUs of this machine",
        "queue_depth" => "the queue depth",
        "page_cache" => return "That is the page cache, not the drive.".to_owned(),
        "rate" => "the rate that was asked for",
        "link" => "the link of the drive",
        "uplink" => "a link that the drives share",
        "irq_core" => "the core that takes the interrupts",
        "raid" => "the RAID level",
        "memory" => "the memory",
        _ => return "What limits it is not known.".to_owned(),
    };
    let sure = if step.limit.confidence == "confirmed" { "is" } else { "is likely" };
    format!("The limit {sure} {what}.")
}

/// Steps of one kind of load, in the order of the plan.
pub(super) struct Loads<'a> {
    /// `4k random reads`; with the group where there are several.
    pub(super) name: String,
    /// At least one.
    pub(super) steps: Vec<&'a StepView>,
}

/// Measured steps by kind of load and group: random before sequential, reads before writes.
pub(super) fn by_kind<'a>(steps: impl IntoIterator<Item = &'a StepView>) -> Vec<Loads<'a>> {
    let steps: Vec<&StepView> = steps.into_iter().collect();
    let several = steps.iter().any(|s| s.group != steps[0].group);
    let mut out: Vec<Loads<'a>> = Vec::new();
    for step in steps {
        let name = if several { format!("{} of {}", kind_name(step), step.group) } else { kind_name(step) };
        match out.iter_mut().find(|k| k.name == name) {
            Some(kind) => kind.steps.push(step),
            None => out.push(Loads { name, steps: vec![step] }),
        }
    }
    out.sort_by_key(|k| (k.steps[0].pattern == "sequential", is_bandwidth(k.steps[0]), 100 - k.steps[0].read_pct));
    out
}

/// `QD 8` with one thread, `16x2` with more.
pub(super) fn depth_word(threads: u32, queue_depth: u32) -> String {
    match threads {
        1 => format!("QD {queue_depth}"),
        n => format!("{n}x{queue_depth}"),
    }
}

/// The depth of a step, in a word.
pub(super) fn depth_of(step: &StepView) -> String {
    depth_word(step.threads, step.queue_depth)
}

/// Whether the rate was sustained; a closed loop always is.
pub(super) fn is_held(step: &StepView) -> bool {
    step.open_loop.as_ref().is_none_or(|o| !o.unsustainable)
}

/// The rate asked for, or that of a closed loop.
pub(super) fn rate_of(step: &StepView) -> f64 {
    step.rate_iops.unwrap_or(step.iops)
}
