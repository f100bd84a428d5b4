//! The table of steps, for progress (stderr) and `show` (stdout). Numbers are aligned on their right edge.

use std::collections::BTreeMap;

use fathom_judge::document::{CpuView, DepthView, LatencyView, StepState, StepView};
use fathom_judge::median_step;
use fathom_plan::Phase;
use fathom_units::{format_cpu_list, format_iops, format_ns, format_rate};

use crate::terminal::say;

/// From this width on a line of the table fits whole.
const WIDE_COLUMNS: u16 = 104;

/// Columns of a label, at least and at most, where a line fits whole.
const LABEL_COLUMNS: (usize, usize) = (32, 48);

/// Columns of a label in a terminal of 80: `128k seq write T1 QD16`, and the longest limit with its marks has room.
const NARROW_LABEL_COLUMNS: usize = 22;

/// How much a line may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Every column, also where nothing is known of the reader's width (a pipe, a file); else at most 80 columns:
    /// shorter words, no p99.9.
    wide: bool,
    /// Columns of the label.
    label: usize,
    /// Whether each label begins with the name of its group.
    groups: bool,
}

impl Layout {
    /// For lines written to `stream`.
    pub(crate) fn of(stream: &console::Term) -> Layout {
        match stream.size_checked() {
            Some((_, columns)) if columns < WIDE_COLUMNS => {
                Layout { wide: false, label: NARROW_LABEL_COLUMNS, groups: false }
            }
            _ => Layout { wide: true, label: LABEL_COLUMNS.0, groups: false },
        }
    }

    /// Wide enough for the labels of these steps, given as group and label.
    pub(crate) fn fitting<'a>(self, steps: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> Layout {
        let first = steps.clone().next().map(|(group, _)| group);
        let groups = steps.clone().any(|(group, _)| Some(group) != first);
        let columns =
            |(group, label): (&str, &str)| label.chars().count() + if groups { group.chars().count() + 2 } else { 0 };
        let longest = steps.map(columns).max().unwrap_or(0);
        let label = if self.wide { longest.clamp(LABEL_COLUMNS.0, LABEL_COLUMNS.1) } else { self.label };
        Layout { label, groups, ..self }
    }
}

/// Head of the table.
pub(crate) fn head(layout: Layout) -> String {
    let names = ["step", "IOPS", "±95 %", "p50", "p99", "p99.9", "CPU/IO", "limited by"].map(str::to_owned);
    line(layout, &names)
}

/// One step as a line; refused and failed steps keep their place.
pub(crate) fn row(layout: Layout, step: &StepView) -> String {
    if step.ios == 0 {
        let why = step.reason.as_ref().map_or_else(|| "no I/O completed".to_owned(), say);
        return format!(" {:<width$} {:>7}  {why}", label(layout, step), step.state, width = layout.label);
    }
    cells_row(layout, step, 1)
}

/// The step of these whose IOPS are their median, as a line that says how many there were.
pub(crate) fn median_row(layout: Layout, steps: &[&StepView]) -> Option<String> {
    let measured: Vec<&StepView> = steps.iter().copied().filter(|s| s.ios > 0).collect();
    match median_step(&measured) {
        Some(median) => Some(cells_row(layout, median, measured.len())),
        None => steps.first().map(|step| row(layout, step)),
    }
}

fn cells_row(layout: Layout, step: &StepView, runs: usize) -> String {
    let lat = durable_latency(step).or(step.lat_ns.as_ref());
    let quantile = |pick: fn(&LatencyView) -> Option<u64>, name: &str| match lat {
        Some(l) => match (pick(l), l.needs.get(name)) {
            (Some(ns), _) => format_ns(ns as f64),
            (None, Some(need)) => format!("+{:.0} s", need.seconds.ceil()),
            (None, None) => "-".into(),
        },
        None => "-".into(),
    };
    let cells = [
        with_runs(layout, step, runs),
        format_iops(step.iops),
        half_width(step),
        quantile(|l| l.p50, "p50"),
        quantile(|l| l.p99, "p99"),
        quantile(|l| l.p99_9, "p99.9"),
        cpu(step),
        format!("{}{}", step.limit.name.as_str().replace('_', " "), marks(step)),
    ];
    line(layout, &cells)
}

/// Latency of the sync that makes each write durable; the write alone ends in the page cache or the drive's cache. `None` for
/// steps without a sync after each write.
fn durable_latency(step: &StepView) -> Option<&LatencyView> {
    let is_each_synced = step.durability.sync.is_some_and(|sync| sync.writes == 1);
    step.syncs.as_ref().filter(|_| is_each_synced)?.lat_ns.as_ref()
}

fn line(layout: Layout, [step, iops, half, p50, p99, p99_9, cpu, limit]: &[String; 8]) -> String {
    let width = layout.label;
    if layout.wide {
        format!(" {step:<width$} {iops:>7} {half:>8} {p50:>9} {p99:>9} {p99_9:>9} {cpu:>9}  {limit}")
    } else {
        format!(" {step:<width$} {iops:>6} {half:>7} {p50:>7} {p99:>7} {cpu:>7}  {limit}")
    }
}

fn label(layout: Layout, step: &StepView) -> String {
    fitted_label(layout, step, layout.label)
}

/// The label with its group, in short words where it would be wider than `width`.
fn fitted_label(layout: Layout, step: &StepView, width: usize) -> String {
    let with_group = |text: &str| if layout.groups { format!("{}: {text}", step.group) } else { text.to_owned() };
    let full = with_group(&step.label);
    let is_fitting = layout.wide && full.chars().count() <= width;
    if is_fitting { full } else { shorten(&with_group(&short_words(&step.label)), width) }
}

/// fio's short words for the order of the blocks.
pub(crate) fn short_words(label: &str) -> String {
    label.replace("sequential", "seq").replace("random", "rand")
}

/// `4k random read T1 QD1 x6`: the median of six runs in turns.
fn with_runs(layout: Layout, step: &StepView, runs: usize) -> String {
    if runs < 2 {
        return label(layout, step);
    }
    let tail = format!(" x{runs}");
    fitted_label(layout, step, layout.label.saturating_sub(tail.len())) + &tail
}

/// The table of a run: rounds of a loop by its last one, turns of a comparison by their median, conditioning in a line.
pub(crate) fn rows(layout: Layout, steps: &[StepView]) -> String {
    let layout = layout.fitting(steps.iter().map(|s| (s.group.as_str(), s.label.as_str())));
    let mut lines = vec![head(layout)];
    for (at, step) in steps.iter().enumerate() {
        lines.extend(line_of(layout, steps, at, step));
    }
    lines.join("\n") + "\n"
}

fn line_of(layout: Layout, steps: &[StepView], at: usize, step: &StepView) -> Option<String> {
    let later = &steps[at + 1..];
    if let Some(round) = step.role.round {
        let of_loop = |s: &StepView| s.role.round.is_some_and(|r| r.loop_id == round.loop_id && r.index > round.index);
        if later.iter().any(of_loop) {
            return None;
        }
    }
    // What a stream gives alone stands beside what it gave with the others.
    if step.phase != Phase::Measure && step.role.alone.is_none() {
        return conditioning(layout, step);
    }
    let Some(block) = &step.role.block else { return Some(row(layout, step)) };
    let of_arm =
        |s: &&StepView| s.role.block.as_ref().is_some_and(|b| (b.cell, b.arm_index) == (block.cell, block.arm_index));
    if steps[..at].iter().any(|s| of_arm(&s)) {
        return None;
    }
    median_row(layout, &steps.iter().filter(of_arm).collect::<Vec<_>>())
}

/// What a conditioning step came to, when it is the last of its kind; passes say nothing beyond their end.
pub(crate) fn conditioning(layout: Layout, step: &StepView) -> Option<String> {
    if step.state != StepState::Measured {
        let reason = step.reason.as_ref().map_or_else(|| "-".to_owned(), say);
        return Some(format!(" {} was {}: {reason}", label(layout, step), step.state));
    }
    let group = if layout.groups { format!("{}: ", step.group) } else { String::new() };
    let name = step.loop_title.as_ref().map_or_else(|| step.label.clone(), say);
    if let Some(round) = step.role.round {
        let reached = step.steady.as_ref().and_then(|s| s.pts.as_ref()).is_some_and(|pts| pts.reached);
        let what = if reached { "steady after" } else { "not steady after" };
        return Some(format!(" {group}settled with {name}: {what} {} rounds", round.index + 1));
    }
    match step.role.part {
        Some(part) if part.index + 1 < part.of => None,
        Some(_) => Some(format!(" {group}{name}: done")),
        None => {
            let is_purge = step.phase == Phase::Purge;
            let how: Vec<String> = step.features.iter().filter(|_| is_purge).map(|f| say(&f.detail)).collect();
            let how = if how.is_empty() { format!("{:.1} s", step.runtime_s) } else { how.join("; ") };
            Some(format!(" {group}{}: {how}", step.label))
        }
    }
}

/// Legend of what a row can hold besides numbers; empty when no row needs it.
pub(crate) fn legend(steps: &[StepView]) -> String {
    let mut out = String::new();
    let missing = steps.iter().any(|s| {
        durable_latency(s)
            .or(s.lat_ns.as_ref())
            .is_some_and(|l| ["p50", "p99", "p99.9"].iter().any(|n| l.needs.contains_key(*n)))
    });
    if missing {
        out.push_str(" +N s: the quantile needs N seconds more to have 100 I/Os beyond it\n");
    }
    if steps.iter().any(|s| durable_latency(s).is_some()) {
        out.push_str(" p50 to p99.9 of synced writes: latency of the sync\n");
    }
    if steps.iter().any(|s| s.role.block.is_some()) {
        out.push_str(" xN: the median of N runs in turns\n");
    }
    if steps.iter().any(|s| !marks(s).is_empty()) {
        out.push_str(" ~ not steady over its window · ! has warnings (see the report)\n");
    }
    out
}

fn marks(step: &StepView) -> String {
    let mut out = String::new();
    if step.is_unsteady() {
        out.push('~');
    }
    if !step.warnings.is_empty() {
        out.push('!');
    }
    if out.is_empty() { out } else { format!(" {out}") }
}

/// The interval of IOPS in words, or why there is none.
fn interval(step: &StepView) -> String {
    match &step.iops_ci95_why_none {
        Some(why) => format!("no 95 % interval: {}", say(why)),
        None => format!("±{} at 95 %", half_width(step)),
    }
}

fn half_width(step: &StepView) -> String {
    match step.iops_ci95 {
        // Too few intervals for a figure: wider than the mean itself says all.
        Some([lo, hi]) if hi - lo > 2.0 * step.iops => ">100 %".into(),
        Some([lo, hi]) if step.iops > 0.0 => format!("{:.1} %", (hi - lo) / 2.0 / step.iops * 100.0),
        _ => "-".into(),
    }
}

fn cpu(step: &StepView) -> String {
    step.cpu.as_ref().and_then(|c| c.ns_per_io).map_or("-".into(), format_ns)
}

/// A text of at most `width` characters. Labels differ at their start (stream, block size) and at their end (depth), so `…`
/// replaces the middle.
pub(crate) fn shorten(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let head = width / 4;
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(length + 1 + head - width).collect();
    format!("{start}…{end}")
}

/// CPU time per I/O by kind, or the reason why it is not known.
fn cpu_per_io(c: &CpuView) -> String {
    let events = format!("{:.2} interrupts · {:.2} context switches", c.interrupts_per_io, c.context_switches_per_io);
    if c.ns_per_io.is_none() {
        let others = c.other_programs_cores.unwrap_or(c.baseline_busy_cores);
        let (used, who) = match others >= c.unexplained_cores {
            true => (others, "other programs used"),
            false => (c.unexplained_cores, "work that belongs to nothing known used"),
        };
        return format!("unknown, {who} {used:.2} of {} CPUs · {events}", c.cpus_online);
    }
    format!(
        "user {} · system {} · irq {} · kernel workers {} · {events}",
        format_ns(c.user_ns_per_io),
        format_ns(c.system_ns_per_io),
        format_ns(c.irq_ns_per_io),
        format_ns(c.kernel_worker_ns_per_io),
    )
}

/// I/Os per core, with the cores that they are divided by.
fn per_core(c: &CpuView) -> String {
    let rate = |iops: Option<f64>| iops.map_or("-".into(), format_iops);
    format!(
        "IOPS per busy CPU {} (by {:.2} of {} CPUs) · per busy physical core {} (by {:.2})",
        rate(c.iops_per_core),
        c.busy_cores,
        c.cpus_online,
        rate(c.iops_per_physical_core),
        c.busy_physical_cores
    )
}

/// I/Os per core of each measured step, for `show`; empty when none was sampled.
pub(crate) fn cores(layout: Layout, steps: &[StepView]) -> String {
    let layout = layout.fitting(steps.iter().map(|s| (s.group.as_str(), s.label.as_str())));
    let rows: Vec<String> = steps
        .iter()
        .filter(|s| s.ios > 0 && s.phase == Phase::Measure)
        // One of several turns or rounds stands for them.
        .filter(|s| s.role.block.as_ref().is_none_or(|b| b.pass == 0) && s.role.round.is_none_or(|r| r.index == 0))
        .filter_map(|s| {
            let text = per_core(s.cpu.as_ref()?);
            Some(format!(" {:<width$} {text}\n", label(layout, s), width = layout.label))
        })
        .collect();
    rows.concat()
}

/// Where threads ran and who took the interrupts of the drives.
fn ran_on(step: &StepView) -> Option<String> {
    let mut cpus: Vec<u32> = step.workers.iter().flat_map(|w| w.cpus_seen.iter().copied()).collect();
    cpus.sort_unstable();
    cpus.dedup();
    if cpus.is_empty() {
        return None;
    }
    let mut text = format!("threads ran on CPU {}", format_cpu_list(&cpus));
    let migrations: Option<u64> = step.workers.iter().map(|w| w.migrations).sum();
    if let Some(times) = migrations {
        text.push_str(&format!(" with {times} migrations"));
    }
    let vectors = step.host_delta.iter().flat_map(|h| &h.vectors);
    let mut by_cpu: BTreeMap<u32, u64> = BTreeMap::new();
    for (cpu, count) in vectors.flat_map(|v| &v.by_cpu) {
        *by_cpu.entry(*cpu).or_default() += count;
    }
    let most: Vec<String> = by_cpu.iter().map(|(cpu, count)| format!("CPU {cpu} {count}")).collect();
    if !most.is_empty() {
        text.push_str(&format!(" · interrupts of the drives: {}", most.join(", ")));
    }
    Some(text)
}

/// All figures of one step, for `fathom io`.
pub(crate) fn details(step: &StepView, explain: bool) -> String {
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    line(format!("{} · {} {} · {}", step.label, step.engine.as_str(), step.mode.as_str(), step.targets.join(", ")));
    if step.ios == 0 {
        line(format!("  {}", step.reason.as_ref().map_or_else(|| "no I/O completed".to_owned(), say)));
        if let Some(help) = &step.help {
            line(format!("  help: {}", say(help)));
        }
    } else {
        line(format!(
            "  IOPS {} ({}) · {} · {} I/Os in {:.2} s · {} errors",
            format_iops(step.iops),
            interval(step),
            format_rate(step.bytes_per_s),
            step.ios,
            step.runtime_s,
            step.errors
        ));
        for (name, latency) in
            [("lat", &step.lat_ns), ("slat", &step.slat_ns), ("clat", &step.clat_ns), ("service", &step.service_ns)]
        {
            if let Some(latency) = latency {
                line(latency_line(name, latency, step.ios));
            }
        }
        if let Some(syncs) = &step.syncs {
            line(format!("  syncs {} ({}/s)", syncs.ios, format_iops(syncs.iops)));
            syncs.lat_ns.iter().for_each(|latency| line(latency_line("sync", latency, syncs.ios)));
        }
    }
    if let Some(depth) = step.depth.filter(DepthView::is_short) {
        line(format!(
            "  queue depth: {:.1} of {:.1} reached the device ({:.0} %); the others waited in the host",
            depth.in_flight,
            depth.asked,
            100.0 * depth.in_flight / depth.asked
        ));
    }
    if let Some(c) = &step.cpu {
        line(format!("  CPU per I/O: {}", cpu_per_io(c)));
        if c.ns_per_io.is_some() {
            line(format!("  {}", per_core(c)));
        }
    }
    if let Some(text) = ran_on(step) {
        line(format!("  {text}"));
    }
    if let Some(o) = &step.overhead {
        line(format!(
            "  own cost: loop {} per I/O · batch stamp error {} · {:.1} I/Os per submit",
            format_ns(o.loop_ns_per_io),
            format_ns(o.batch_stamp_error_ns_mean),
            o.ios_per_submit
        ));
    }
    if let Some(v) = &step.verify {
        line(format!(
            "  verify: {} blocks · {} torn · {} misplaced · {} stale · {} corrupt · {} foreign",
            v.blocks_checked, v.torn, v.misplaced, v.stale, v.corrupt, v.foreign
        ));
        for example in &v.examples {
            line(format!("    {}", say(example)));
        }
    }
    line(format!("  {}", say(&step.limit.sentence)));
    if explain {
        for text in crate::explanation::evidence(step).lines() {
            line(text.to_owned());
        }
        for help in &step.limit.would_help {
            line(format!("    would help: {}", say(help)));
        }
        for check in &step.checks {
            let mark = match check.ok {
                Some(true) => "held",
                Some(false) => "VIOLATED",
                None => "not checked",
            };
            line(format!("    {} {mark}: {}", check.name, say(&check.sentence)));
        }
        for feature in &step.features {
            let used = if feature.is_used() { "used" } else { "not used" };
            line(format!("    {} {used} {}", feature.name, say(&feature.detail)));
        }
    }
    out
}

fn latency_line(name: &str, l: &LatencyView, ios: u64) -> String {
    let mut text =
        format!("  {name:<7} mean {} ± {} · min {}", format_ns(l.mean), format_ns(l.stddev), format_ns(l.min as f64));
    for (label, value) in [
        ("p50", l.p50),
        ("p90", l.p90),
        ("p99", l.p99),
        ("p99.9", l.p99_9),
        ("p99.99", l.p99_99),
        ("p99.999", l.p99_999),
    ] {
        match (value, l.needs.get(label)) {
            (Some(ns), _) => text.push_str(&format!(" · {label} {}", format_ns(ns as f64))),
            (None, Some(need)) => {
                text.push_str(&format!(" · {label} needs {:.0} s more", need.seconds.ceil()));
                break;
            }
            (None, None) => {}
        }
    }
    text.push_str(&format!(" · max {}", format_ns(l.max as f64)));
    if l.samples < ios {
        text.push_str(&format!(" (sampled: {} of {ios})", l.samples));
    }
    text
}

#[cfg(test)]
mod tests {
    use fathom_judge::document::StepState;
    use fathom_judge::samples;
    use fathom_model::LimitName;
    use fathom_record::Warning;

    use super::{Layout, NARROW_LABEL_COLUMNS, StepView, head, row};

    const NARROW: Layout = Layout { wide: false, label: NARROW_LABEL_COLUMNS, groups: false };

    /// The widest that a step of a shipped study can be.
    fn widest() -> StepView {
        let mut step = samples::view(&samples::step(), 1_230_000.0, 100.0);
        step.label = "128k sequential write T1 QD16".to_owned();
        step.state = StepState::Measured;
        step.limit.name = LimitName::KernelThread;
        step.warnings = vec![Warning::SmallFootprint { footprint_bytes: 4096 }];
        step.iops_ci95 = Some([1_000_000.0, 1_460_000.0]);
        let lat = step.lat_ns.as_mut().expect("a latency");
        (lat.p50, lat.p99) = (Some(123_456), Some(1_234_567));
        step
    }

    #[test]
    fn a_row_is_neither_wrapped_nor_cut_at_eighty_columns() {
        let said = row(NARROW, &widest());
        assert!(said.chars().count() <= 80, "{} columns: {said}", said.chars().count());
        assert!(said.contains("128k seq write T1 QD16 ") && said.ends_with("kernel thread !"), "{said}");
        assert!(!said.contains('…') && said.contains(" 1.23 ms "), "{said}");
        let limit = |line: String, word: &str| line.split(word).next().map(|before| before.chars().count());
        assert_eq!(limit(head(NARROW), "limited by"), limit(said, "kernel thread"));
    }
}
