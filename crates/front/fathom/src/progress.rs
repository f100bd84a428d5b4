//! Progress on stderr: one region redrawn on a terminal, plain lines elsewhere.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use console::measure_text_width;
use fathom_judge::document::{StepState, StepView};
use fathom_lab::{Event, goal_search_ns};
use fathom_model::LimitName;
use fathom_plan::{Phase, Plan, Round, Step};
use fathom_record::{LadderPrediction, Progress as StepProgress, Warning};
use fathom_units::{format_duration_ns, format_iops, format_ns};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::explanation::is_repeat;
use crate::preview;
use crate::table::{self, Layout};
use crate::terminal::{say, talk};

/// Width of the sparkline of recent rates.
const SPARK_WIDTH: usize = 12;
/// A bound on the time that is no estimate of it.
const LONG_NS: u64 = 7 * 86_400_000_000_000;
/// A longer run gets a budget proposed.
const PROPOSE_BUDGET_NS: u64 = 15 * 60 * 1_000_000_000;
/// Least columns of the name of the load that runs.
const LOAD_MIN: usize = 8;
/// Without a terminal a long step says so this often.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// Shows events; silent when quiet.
pub(crate) struct Shown {
    bar: Option<ProgressBar>,
    quiet: bool,
    /// Whether the user said how long it may take.
    is_budgeted: bool,
    steps: usize,
    done: usize,
    headed: bool,
    layout: Layout,
    /// Of each step of the plan: the most it can take, and its round.
    plan: Vec<(u64, Option<Round>)>,
    /// Warnings of conditioning steps that were shown. Each such step repeats them.
    warned: BTreeSet<String>,
    /// Loops that are steady: their later rounds are not run.
    steady: Vec<u32>,
    /// Most that the steps after this one can take.
    later_ns: u64,
    /// Turns of a comparison that are left, by cell and arm, and those that ended.
    turns_left: BTreeMap<(u32, u32), usize>,
    turns: BTreeMap<(u32, u32), Vec<StepView>>,
    /// Limits as they were shown, by step: steps that come later may tell more.
    limits: BTreeMap<u32, LimitName>,
    rates: VecDeque<f64>,
    last_plain: Instant,
}

impl Shown {
    pub(crate) fn new(quiet: bool, is_budgeted: bool) -> Self {
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
            bar.set_style(ProgressStyle::with_template("{wide_msg}").expect("a constant template"));
            bar
        });
        Shown {
            bar,
            quiet,
            is_budgeted,
            steps: 0,
            done: 0,
            headed: false,
            layout: Layout::of(&console::Term::stderr()),
            plan: Vec::new(),
            warned: BTreeSet::new(),
            steady: Vec::new(),
            later_ns: 0,
            turns_left: BTreeMap::new(),
            turns: BTreeMap::new(),
            limits: BTreeMap::new(),
            rates: VecDeque::new(),
            last_plain: Instant::now(),
        }
    }

    /// Shows one event.
    pub(crate) fn event(&mut self, event: &Event<'_>) {
        if self.quiet {
            return;
        }
        match event {
            Event::RunStarted { run, plan, made_bytes } => {
                self.steps = plan.steps.len();
                // Of streams that run at once the first stands for the time of all.
                let timed = |at_once: &[Step]| {
                    let most = at_once.iter().map(most_ns).max().unwrap_or(0);
                    let time = (0..at_once.len()).map(move |i| if i == 0 { most } else { 0 });
                    time.zip(at_once.iter().map(|s| s.role.round).collect::<Vec<_>>())
                };
                self.plan = fathom_plan::slices(&plan.steps).flat_map(timed).collect();
                self.later_ns = self.plan.iter().map(|(ns, _)| ns).sum();
                self.layout = self.layout.fitting(plan.steps.iter().map(|s| (s.group.as_str(), s.label.as_str())));
                let question = say(&plan.question_message());
                self.line(&format!("{} · {question} · {} · run {run}", plan.study.name, targets(plan)));
                if self.steps > 1 {
                    let searches_ns = if self.is_budgeted { 0 } else { goal_search_ns(plan) };
                    self.line(preview::totals(plan, *made_bytes, searches_ns).trim_end());
                    if preview::timed_ns(plan) > PROPOSE_BUDGET_NS && !self.is_budgeted {
                        self.line("that is long: --time-budget 10m scales it to ten minutes, with wider intervals");
                    }
                    for line in preview::destroyed(plan) {
                        self.line(&line);
                    }
                }
                self.turns_left = turns(plan);
            }
            Event::Note(note) => self.line(&format!("note: {}", say(note))),
            Event::Activity(p) => self.progress("", p),
            Event::StepStarted(at_once) => {
                let step = &at_once[0];
                if self.steps > 1 && !self.headed {
                    self.headed = true;
                    self.line(&table::head(self.layout));
                }
                self.done = step.index as usize;
                self.later_ns = self.after(step.index);
                self.rates.clear();
                self.last_plain = Instant::now();
                self.show(&format!("> {}", name_of(at_once)));
            }
            Event::StepProgress(at_once, p) => self.step_progress(&name_of(at_once), p),
            Event::Predicted(steps, prediction) => {
                for line in prediction_lines(steps, prediction) {
                    self.line(&line);
                }
            }
            Event::Steady(step) => {
                self.steady.extend(step.role.round.map(|r| r.loop_id));
                let rounds = step.role.round.map_or(0, |r| r.index + 1);
                self.line(&format!("steady after {rounds} rounds: {}", step.label));
            }
            Event::StepEnded(view)
                if view.state == StepState::Measured && view.phase != Phase::Measure && view.role.alone.is_none() =>
            {
                self.conditioned(view);
            }
            Event::StepEnded(view) => {
                self.done += 1;
                if self.steps > 1 {
                    self.measured(view);
                }
                for text in view.warning_texts.iter().filter(|_| self.steps == 1) {
                    self.line(&format!("{}: {}", crate::terminal::warning_word(), say(text)));
                }
            }
        }
    }

    /// A measured step that ended. Of a loop only the cell that is looked at has a line, and the turns of a comparison
    /// have one together.
    fn measured(&mut self, view: &StepView) {
        let is_aside = view.role.round.is_some_and(|r| r.metric.is_none()) || is_repeat(view);
        if is_aside && view.reason.is_none() {
            return;
        }
        let Some(block) = &view.role.block else {
            // A probe has the number of the step that it explains.
            if view.phase == Phase::Measure {
                self.limits.insert(view.index, view.limit.name);
            }
            return self.line(&table::row(self.layout, view));
        };
        let arm = (block.cell, block.arm_index);
        let left = self.turns_left.get_mut(&arm);
        let over = left.is_none_or(|left| {
            *left = left.saturating_sub(1);
            *left == 0
        });
        self.turns.entry(arm).or_default().push(view.clone());
        if over {
            let views = self.turns.remove(&arm).unwrap_or_default();
            if let Some(line) = table::median_row(self.layout, &views.iter().collect::<Vec<_>>()) {
                self.line(&line);
            }
        }
    }

    /// A conditioning step that ended: only what is worth a line.
    fn conditioned(&mut self, view: &StepView) {
        match view.role.round {
            Some(round) if round.index + 1 == round.max && !self.steady.contains(&round.loop_id) => {
                self.line(&format!("not steady after {} rounds: {}", round.max, view.label));
            }
            Some(_) => {}
            None => {
                let how: Vec<String> =
                    view.features.iter().filter(|_| view.phase == Phase::Purge).map(|f| say(&f.detail)).collect();
                let how = if how.is_empty() { String::new() } else { format!(": {}", how.join("; ")) };
                self.line(&format!("{} ({:.1} s){how}", view.label, view.runtime_s));
            }
        }
        for (warning, text) in view.warnings.iter().zip(&view.warning_texts) {
            let text = say(text);
            if spoils_conditioning(warning) && self.warned.insert(text.clone()) {
                self.line(&format!("{}: {text}", crate::terminal::warning_word()));
            }
        }
    }

    /// Most that the steps after this one can take.
    fn after(&self, index: u32) -> u64 {
        let later = self.plan.iter().skip(index as usize + 1);
        later.filter(|(_, round)| round.is_none_or(|r| !self.steady.contains(&r.loop_id))).map(|(ns, _)| ns).sum()
    }

    /// Says which limits are others than the table showed, now that all steps are known.
    pub(crate) fn settled(&self, steps: &[StepView]) {
        if let Some(line) = settled_line(&self.limits, steps) {
            self.line(&line);
        }
        if self.headed && !self.quiet {
            // Between the table and the answer.
            self.line(&table::legend(steps));
        }
    }

    /// Clears the region.
    pub(crate) fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn step_progress(&mut self, name: &str, p: &StepProgress) {
        if p.activity.is_none() {
            self.rates.push_back(p.iops);
            if self.rates.len() > SPARK_WIDTH {
                self.rates.pop_front();
            }
        }
        self.progress(name, p);
    }

    fn progress(&mut self, label: &str, p: &StepProgress) {
        let mut load = label.to_owned();
        if let Some(activity) = &p.activity {
            load.push_str(&format!(" {}", say(activity)));
        }
        // While something else goes on there may be no rate.
        let mut figures = match p.activity.is_some() && p.iops == 0.0 {
            true => String::new(),
            false => format!("{} IOPS", format_iops(p.iops)),
        };
        if let Some(p99) = p.p99_ns {
            figures.push_str(&format!("  p99 {}", format_ns(p99 as f64)));
        }
        // A search adds steps after those of the plan. Their number is not known.
        let is_planned = self.steps > 1 && self.done < self.steps;
        let steps = if is_planned { format!("{} of {} · ", self.done + 1, self.steps) } else { String::new() };
        let left = format!("{steps}{}", time_left(p.remaining_ns, self.later_ns));
        let line = Line { load: load.trim_start(), figures: &figures, spark: &spark(&self.rates), left: &left };
        if self.bar.is_some() {
            self.show(&line.within(usize::from(console::Term::stderr().size().1)));
        } else if self.last_plain.elapsed() >= PLAIN_EVERY {
            self.last_plain = Instant::now();
            talk(&line.within(usize::MAX));
        }
    }

    fn show(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(text.to_owned());
            bar.tick();
        }
    }

    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| talk(text)),
            None => talk(text),
        }
    }
}

/// The line of the step that runs.
struct Line<'a> {
    load: &'a str,
    figures: &'a str,
    spark: &'a str,
    left: &'a str,
}

impl Line<'_> {
    /// The line in at most `columns`: what is too much is taken from the bars first, then from the end of the load's name;
    /// the figures and the time left stay.
    fn within(&self, columns: usize) -> String {
        let line = |load: &str, spark: &str| {
            let spark = if spark.is_empty() { String::new() } else { format!("  {spark}") };
            format!("> {load}  {}{spark} · {}", self.figures, self.left)
        };
        let whole = line(self.load, self.spark);
        if measure_text_width(&whole) <= columns {
            return whole;
        }
        let rest = measure_text_width(&line("", ""));
        line(&table::shorten(self.load, columns.saturating_sub(rest).max(LOAD_MIN)), "")
    }
}

/// `limited by, with all steps known: device for 4k random read T1 QD16`; `None` when the table said the same.
fn settled_line(shown: &BTreeMap<u32, LimitName>, steps: &[StepView]) -> Option<String> {
    let mut others: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let is_other =
        |s: &&StepView| s.phase == Phase::Measure && shown.get(&s.index).is_some_and(|name| *name != s.limit.name);
    for step in steps.iter().filter(is_other) {
        others.entry(step.limit.name.as_str()).or_default().push(&step.label);
    }
    let parts: Vec<String> = others
        .iter()
        .map(|(name, labels)| {
            let more = labels.len().saturating_sub(SETTLED_MAX);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let named = labels[..labels.len().min(SETTLED_MAX)].join(", ");
            format!("{} for {named}{more}", name.replace('_', " "))
        })
        .collect();
    (!parts.is_empty()).then(|| format!("limited by, with all steps known: {}", parts.join("; ")))
}

/// Most labels behind one limit.
const SETTLED_MAX: usize = 4;

/// A prediction, a line for each step.
fn prediction_lines(steps: &[Step], prediction: &LadderPrediction) -> Vec<String> {
    let mut lines = vec![format!(" {:<32} {:>14} {:>12}", "predicted", "IOPS", "mean")];
    for predicted in &prediction.steps {
        let label = steps.iter().find(|s| s.index == predicted.index).map_or("", |s| &s.label);
        let (iops, lat) = (format_iops(predicted.iops), format_ns(predicted.lat_mean_ns));
        lines.push(format!(" {label:<32} {iops:>14} {lat:>12}"));
    }
    lines
}

/// The label of a step; of streams that run at once their names.
fn name_of(at_once: &[Step]) -> String {
    match at_once {
        [only] => only.label.clone(),
        several => {
            let names: Vec<&str> = several.iter().filter_map(|s| Some(s.role.stream.as_ref()?.name.as_str())).collect();
            names.join(" + ")
        }
    }
}

/// The targets of the run, by group where there are several.
fn targets(plan: &Plan) -> String {
    const TARGETS_NAMED_MAX: usize = 32;

    let groups = preview::groups(plan);
    // Of many files the first say where they are.
    let some = |targets: &[&str]| match targets {
        [first, second, .., last] if targets.len() > TARGETS_NAMED_MAX => format!("{first}, {second} ... {last}"),
        all => all.join(", "),
    };
    let named = |(name, targets): &(&str, Vec<&str>)| match groups.len() {
        1 => some(targets),
        _ => format!("{name}: {}", some(targets)),
    };
    groups.iter().map(named).collect::<Vec<_>>().join(" · ")
}

/// Turns of each arm of each comparison of the plan.
fn turns(plan: &Plan) -> BTreeMap<(u32, u32), usize> {
    let mut turns = BTreeMap::new();
    for block in plan.steps.iter().filter_map(|s| s.role.block.as_ref()) {
        *turns.entry((block.cell, block.arm_index)).or_default() += 1;
    }
    turns
}

/// Whether a warning of a conditioning step matters: no figure is taken there, so only what leaves the targets
/// unconditioned does.
fn spoils_conditioning(warning: &Warning) -> bool {
    matches!(
        warning,
        Warning::CutShort { .. }
            | Warning::IoErrors { .. }
            | Warning::Note { .. }
            | Warning::SlowMember { .. }
            | Warning::Interrupted
    )
}

/// Time left of the run: of this step, which may not be known (`u64::MAX`), and of the later ones.
fn time_left(this_ns: u64, later_ns: u64) -> String {
    match (this_ns, later_ns) {
        (u64::MAX, 0) => "time left not known".to_owned(),
        (u64::MAX, later_ns) => format!("{} left after this", format_duration_ns(later_ns)),
        _ => format!("{} left", format_duration_ns(this_ns.saturating_add(later_ns))),
    }
}

/// Most that a step can take; a pass over its region ends long before its bound, so that counts as nothing.
fn most_ns(step: &Step) -> u64 {
    let unbounded = step.length.passes.is_some() && step.length.budget_ns > LONG_NS;
    if unbounded { 0 } else { step.length.ramp_ns + step.length.budget_ns }
}

fn spark(rates: &VecDeque<f64>) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let max = rates.iter().copied().fold(0.0, f64::max);
    if max <= 0.0 {
        return String::new();
    }
    rates.iter().map(|r| BARS[((r / max * 7.0).round() as usize).min(7)]).collect()
}

#[cfg(test)]
mod tests {
    use super::{Line, time_left};

    #[test]
    fn a_time_that_is_not_known_is_not_told() {
        assert_eq!(time_left(2_000_000_000, 60_000_000_000), "1 min 02 s left");
        assert_eq!(time_left(u64::MAX, 60_000_000_000), "1 min 00 s left after this");
        assert_eq!(time_left(u64::MAX, 0), "time left not known");
    }

    #[test]
    fn eighty_columns_keep_the_figures_and_the_time_left() {
        let line = Line {
            load: "128k sequential read T16 QD32 through io_uring polled",
            figures: "1.23M IOPS  p99 1.25 ms",
            spark: "▁▂▃▄▅▆▇█▁▂▃▄",
            left: "106 of 1810 · 1 h 02 min left",
        };
        assert!(line.within(200).contains(line.spark) && line.within(200).contains(line.load));
        for columns in [60, 80, 100] {
            let said = line.within(columns);
            let wide = console::measure_text_width(&said);
            assert!(wide <= columns.max(70), "{wide} columns: {said}");
            assert!(said.contains(line.figures) && said.ends_with(line.left), "{said}");
        }
    }
}
