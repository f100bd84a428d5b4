//! `run` and `io`: conduct a plan, show it, say how it ended.

use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::ops::RangeInclusive;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Parser as _;
use fathom_judge::document::{Document, StepState, StepView};
use fathom_lab::{
    ConductOptions, Event, IDLE_BASELINE, Ranks, check_targets, conduct, is_pattern, is_simulated, resume, serve,
};
use fathom_plan::{Knobs, Plan, TargetId};
use fathom_store::{Lab, RunId};
use fathom_units::parse_duration_ns;

use super::restore::journal_dir;
use super::{command_line, existing_lab, lab_path, output::Output, output::write_report, run_number, source, to_json};
use crate::answer::answer;
use crate::args::{Args, IoArgs, LoadArgs, RunArgs, RunCommon};
use crate::exit::{Exit, Problem};
use crate::explanation;
use crate::idle;
use crate::knob_flags::{ByHand, KnobFlags};
use crate::progress::Shown;
use crate::ranks;
use crate::system::signals::watch_stop_signals;
use crate::terminal::{print_problem, print_result, say, talk};

/// `fathom run`.
pub(crate) fn run_study(args: &Args, run: &RunArgs) -> Result<Exit, Problem> {
    check_overwrite(run.common.overwrite, &run.source.target)?;
    if let (Some(ranks), Some(_)) = (args.ranks.as_ref().filter(|ranks| ranks.rank() > 0), &run.source.resume) {
        // The lab that has the run is rank 0's.
        return serve_rank(args, ranks, None, &options(args, &run.common)?);
    }
    let plan = source::read(args, &run.source, !run.common.allow_unbind.is_empty())?;
    let time_budget_ns = run.source.time_budget.as_deref().map(source::time_budget_ns).transpose()?;
    let options = ConductOptions {
        time_budget_ns,
        predict: run.predict,
        explain: run.explain,
        full: run.full,
        ..options(args, &run.common)?
    };
    let what = match &run.source.resume {
        Some(number) => What::Resume(run_number(&existing_lab(args)?, number)?),
        None => What::New(&plan),
    };
    let wait = match &run.wait_idle {
        Some(time) => Some(Some(Duration::from_nanos(source::time_budget_ns(time)?))),
        None => Some(None),
    };
    conduct_and_show(args, &what, wait, &run.common, &options, &|document| {
        let last = document.run.id;
        let mut text = answer(document, run.details);
        if run.details {
            text.push_str(&ranks::tables(document));
        }
        if run.explain && run.details {
            text.push_str(&explanation::reasons(document));
        }
        if run.details {
            text.push_str(&explanation::predictions(document));
        }
        text.push_str(&format!(
            "More: fathom show {last} --details · fathom report {last} · fathom run --like {last}\n"
        ));
        text
    })
}

/// `fathom io`.
pub(crate) fn run_io(args: &Args, io: &IoArgs) -> Result<Exit, Problem> {
    check_overwrite(io.common.overwrite, &io.target)?;
    let mut first = source::targets(io.machine.as_deref(), &io.target)?;
    if first.is_empty() {
        let is_null = io.knobs.iter().any(|knob| knob == ("ioengine", "null"));
        first.push(if is_null { "null" } else { "." }.to_owned());
    }
    let mut loads = vec![(load_knobs(&[], &io.knobs, &io.set)?, first.clone())];
    // The first load says for how long all of them run, unless another has a length of its own.
    let lengths: Vec<(&str, &str)> = io.knobs.iter().filter(|(key, _)| LENGTHS.contains(key)).collect();
    for words in io.beside.split(|word| word == "--").filter(|words| !words.is_empty()) {
        let load = LoadArgs::try_parse_from(words).map_err(|e| {
            let text = e.to_string();
            let text = text.trim_start_matches("error: ").lines().next().unwrap_or_default().to_owned();
            Problem::usage(format!("behind `--`: {text}"), LOAD_HELP)
        })?;
        check_overwrite(io.common.overwrite, &load.target)?;
        let targets = if load.target.is_empty() { first.clone() } else { source::targets(None, &load.target)? };
        loads.push((load_knobs(&lengths, &load.knobs, &load.set)?, targets));
    }
    let named = loads.into_iter().map(|(knobs, targets)| (knobs, targets.into_iter().map(TargetId::new).collect()));
    let plan = Plan::from_io_streams(named.collect(), &command_line()).map_err(Problem::from)?;
    let plan = if args.rank_counts.is_empty() { plan } else { plan.over_ranks(&args.rank_counts) };
    let options = ConductOptions { explain: io.explain, full: io.full, ..options(args, &io.common)? };
    // One step by hand starts at once.
    conduct_and_show(args, &What::New(&plan), None, &io.common, &options, &|document| {
        let last = document.run.id;
        let mut text = answer(document, io.details);
        text.push_str(&ranks::tables(document));
        if io.details {
            let steps = document.steps.iter().map(|s| explanation::step(s, io.explain));
            text.push('\n');
            text.extend(simulated_line(document).into_iter().chain(steps));
        }
        text.push_str(&format!("More: fathom show {last} --details · fathom report {last}\n"));
        text
    })
}

const LOAD_HELP: &str = "name loads by their targets and knobs, parted by `--`; options of the run, such as --json, \
                         stand before the first";

/// Knobs that say how long a load runs.
const LENGTHS: [&str; 2] = ["runtime", "ramp_time"];

/// The knobs of a load by hand; `before` counts unless the load says otherwise.
fn load_knobs(before: &[(&str, &str)], flags: &KnobFlags<ByHand>, set: &[String]) -> Result<Knobs, Problem> {
    let mut knobs = Knobs::new();
    let extra = set.iter().map(|s| source::pair("--set", s)).collect::<Result<Vec<_>, _>>()?;
    // It has the fixed length of its flag unless the user says otherwise, or its stages do.
    let has_stages =
        before.iter().copied().chain(flags.iter()).chain(extra.iter().copied()).any(|(key, _)| key == "stages");
    let length = fathom_plan::knob("runtime").filter(|_| !has_stages);
    let length = length.and_then(|knob| Some((knob.name, knob.flag?.default?)));
    for (key, value) in length.into_iter().chain(before.iter().copied()).chain(flags.iter()).chain(extra) {
        knobs.set(key, value).map_err(Problem::from)?;
    }
    Ok(knobs)
}

/// Said above the figures of a simulated step.
fn simulated_line(document: &Document) -> Option<String> {
    let machine = document.run.plan.machine.as_ref()?;
    Some(format!("SIMULATED on machine {}, in virtual time: no real device was read or written\n", machine.name))
}

/// What is to be conducted.
pub(super) enum What<'a> {
    New(&'a Plan),
    Resume(RunId),
}

pub(super) fn options(args: &Args, common: &RunCommon) -> Result<ConductOptions, Problem> {
    Ok(ConductOptions {
        destroy: common.destroy.clone(),
        allow_unbind: common.allow_unbind.clone(),
        without_iommu: super::nvme::without(common.no_iommu_i_accept_any_write_to_memory),
        keep_files: common.keep,
        overwrite: common.overwrite,
        lab_path: lab_path(args)?,
        command_line: command_line(),
        journal_dir: journal_dir(),
        time_budget_ns: None,
        predict: false,
        explain: false,
        full: false,
        idle_baseline: args.idle_baseline.as_deref().map(idle_baseline).transpose()?,
        ranks: args.ranks.clone(),
    })
}

/// Reads `--idle-baseline`: at least one of the kernel's ticks, and no longer than anybody would wait.
fn idle_baseline(text: &str) -> Result<Duration, Problem> {
    const LIMITS_NS: RangeInclusive<u64> = 10_000_000..=600_000_000_000;
    match parse_duration_ns(text) {
        Ok(ns) if LIMITS_NS.contains(&ns) => Ok(Duration::from_nanos(ns)),
        _ => Err(Problem::usage(format!("--idle-baseline {text}: not a time from 10ms to 10m"), "for example 500ms")),
    }
}

/// What a pattern will name tomorrow nobody has looked at today: what is overwritten is named one by one.
fn check_overwrite(overwrite: bool, targets: &[String]) -> Result<(), Problem> {
    match targets.iter().find(|t| overwrite && is_pattern(t)) {
        None => Ok(()),
        Some(pattern) => Err(Problem::new(
            Exit::Refused,
            format!("--overwrite does not go with the pattern {pattern}"),
            "name each file that may be overwritten with a --target of its own",
        )),
    }
}

/// Reasons of steps that were not measured, each once.
fn failures(document: &Document) -> Vec<String> {
    let reason_of = |step: &StepView| {
        let word = if step.state == StepState::Skipped { "skipped" } else { "error" };
        Some(format!("{word}: {}: {}", step.label, say(step.reason.as_ref()?)))
    };
    let mut all: Vec<String> = document.steps.iter().filter_map(reason_of).collect();
    let mut seen = BTreeSet::new();
    all.retain(|line| seen.insert(line.clone()));
    all
}

/// Does what rank 0 says.
fn serve_rank(args: &Args, ranks: &Ranks, plan: Option<&Plan>, options: &ConductOptions) -> Result<Exit, Problem> {
    let stop = watch_stop_signals(lab_path(args)?, true)?;
    serve(ranks, plan, options, &stop)?;
    Ok(Exit::Done)
}

/// `look`: whether the host is looked at first, and how long may be waited for it to be idle.
pub(super) fn conduct_and_show(
    args: &Args,
    what: &What<'_>,
    look: Option<Option<Duration>>,
    common: &RunCommon,
    options: &ConductOptions,
    show: &dyn Fn(&Document) -> String,
) -> Result<Exit, Problem> {
    if let (Some(ranks), What::New(plan)) = (options.ranks.as_ref().filter(|ranks| ranks.rank() > 0), what) {
        return serve_rank(args, ranks, Some(plan), options);
    }
    if let What::New(plan) = what {
        // Before the lab is opened: a mistyped target must not leave an empty lab behind.
        check_targets(plan, options, super::lab_if_any(args)?.as_ref())?;
    }
    let output = common.shown.destination();
    output.map_or(Ok(()), Output::check)?;
    let mut lab = super::report_recovered(Lab::open(&lab_path(args)?)?);
    let stop = watch_stop_signals(lab_path(args)?, options.ranks.is_some())?;
    let is_stopped = stop.clone();
    lab.when_waiting(|message| talk(&say(&message)), move || is_stopped.load(Ordering::Relaxed));
    let is_in_virtual_time = match what {
        What::New(plan) => is_simulated(plan),
        What::Resume(run) => is_simulated(&lab.load_head(*run)?.plan),
    };
    if let Some(wait) = look.filter(|_| !is_in_virtual_time)
        && idle::before_run(wait, 2 * options.idle_baseline.unwrap_or(IDLE_BASELINE), common.shown.quiet, &stop)?
    {
        return Ok(Exit::Interrupted);
    }
    let mut shown = Shown::new(common.shown.quiet, options.time_budget_ns.is_some());
    let mut on_event = |event: Event<'_>| shown.event(&event);
    let outcome = match what {
        What::New(plan) => conduct(&mut lab, plan, options, &stop, &mut on_event),
        What::Resume(run) => resume(&mut lab, *run, options, &stop, &mut on_event),
    };
    shown.finish();
    let outcome = outcome?;
    shown.settled(&outcome.document.steps);
    // Each of the two is of use without the other: both are tried before an error ends it.
    let printed = print_result(&if common.shown.json { to_json(&outcome.document) } else { show(&outcome.document) });
    let written = output.map_or(Ok(()), |output| {
        write_report(&outcome.document, args.lang, output)?;
        talk(&format!("Report: {}", output.path.display()));
        Ok(())
    });
    // A user who redirects one of the two outputs sees the failures in the other.
    if !(std::io::stdout().is_terminal() && std::io::stderr().is_terminal()) {
        failures(&outcome.document).iter().for_each(|line| talk(line));
    }
    match (printed, written) {
        (Err(problem), Err(other)) => {
            print_problem(&problem);
            return Err(other);
        }
        (printed, written) => printed.and(written)?,
    }
    if let Some(unsaved) = lab.unsaved() {
        return Err(Problem::of(Exit::Failed, unsaved));
    }
    Ok(match (outcome.interrupted, outcome.bad_steps) {
        (true, _) => Exit::Interrupted,
        (false, 0) => Exit::Done,
        (false, _) => Exit::Failed,
    })
}
