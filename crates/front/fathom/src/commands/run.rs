//! `run` and `io`: conduct a plan, show it, say how it ended.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fathom_lab::{ConductOptions, Event, check_targets, conduct, resume};
use fathom_plan::{Knobs, Plan, Target};
use fathom_store::{Lab, RunId};

use super::restore::journal_dir;
use super::{existing_lab, lab::verdict, lab_path, output::write_report, run_number, source, to_json};
use crate::args::{Args, IoArgs, RunArgs, RunCommon};
use crate::exit::{Exit, Problem};
use crate::explanation;
use crate::progress::Shown;
use crate::table;
use crate::terminal::{result, talk};

/// `fathom run`.
pub(crate) fn run_study(args: &Args, run: &RunArgs) -> Result<Exit, Problem> {
    let source = source::read(args, &run.source)?;
    let time_budget_ns = run.source.time_budget.as_deref().map(source::time_budget_ns).transpose()?;
    let options = ConductOptions {
        time_budget_ns,
        predict: run.predict,
        explain: run.explain,
        ..options(&run.common, source.by_user)
    };
    let what = match &run.source.resume {
        Some(number) => What::GoOn(run_number(&existing_lab(args)?, number)?),
        None => What::Begin(&source.plan),
    };
    conduct_and_show(args, &what, &run.common, &options, &|document| {
        let last = document.run.id;
        let mut text = verdict(document);
        if run.explain {
            text.push_str(&explanation::reasons(document));
        }
        text.push_str(&explanation::foretold(document));
        text.push_str(&table::legend(&document.steps));
        text.push_str(&format!(
            "Table: fathom show {last}    again: fathom run --like {last}    report: fathom report {last}\n"
        ));
        text
    })
}

/// `fathom io`.
pub(crate) fn run_io(args: &Args, io: &IoArgs) -> Result<Exit, Problem> {
    let mut knobs = Knobs::new();
    // A load by hand has a fixed length unless the user says otherwise.
    let extra = io.extra().iter().map(|s| source::pair("--set", s)).collect::<Result<Vec<_>, _>>()?;
    for (key, value) in [("runtime", "5s")].into_iter().chain(io.knobs()).chain(extra) {
        knobs.set(key, value).map_err(|e| Problem::usage(e.message.clone(), e.help.clone().unwrap_or_default()))?;
    }
    let targets = source::targets(io.machine.as_deref(), &io.target)?;
    let targets = targets.into_iter().map(|path| Target { path }).collect();
    let plan = Plan::from_io(&knobs, targets, &command_line())
        .map_err(|e| Problem::usage(e.message.clone(), e.help.clone().unwrap_or_default()))?;
    let options = ConductOptions { explain: io.explain, ..options(&io.common, true) };
    conduct_and_show(args, &What::Begin(&plan), &io.common, &options, &|document| {
        let steps = document.steps.iter().map(|s| explanation::step(s, io.explain));
        simulated_line(document).into_iter().chain(steps).collect()
    })
}

/// Said above the figures of a simulated step.
fn simulated_line(document: &fathom_lab::document::Document) -> Option<String> {
    let machine = document.run.plan.machine.as_ref()?;
    Some(format!("SIMULATED on machine {}, in virtual time: no real device was read or written\n", machine.name))
}

/// What is to be conducted.
enum What<'a> {
    Begin(&'a Plan),
    GoOn(RunId),
}

fn options(common: &RunCommon, overwrite_files: bool) -> ConductOptions {
    ConductOptions {
        destroy: common.destroy.clone(),
        keep_files: common.keep,
        overwrite_files,
        command_line: command_line(),
        journal_dir: journal_dir(),
        time_budget_ns: None,
        predict: false,
        explain: false,
    }
}

fn conduct_and_show(
    args: &Args,
    what: &What<'_>,
    common: &RunCommon,
    options: &ConductOptions,
    show: &dyn Fn(&fathom_lab::document::Document) -> String,
) -> Result<Exit, Problem> {
    if let What::Begin(plan) = what {
        // Before the lab is opened: a mistyped target must not leave an empty lab behind.
        check_targets(plan, options)?;
    }
    let mut lab = Lab::open(&lab_path(args)?)?;
    let stop = stop_on_signals()?;
    let mut shown = Shown::new(common.shown.quiet);
    let mut on_event = |event: Event<'_>| shown.event(&event);
    let outcome = match what {
        What::Begin(plan) => conduct(&mut lab, plan, options, &stop, &mut on_event),
        What::GoOn(run) => resume(&mut lab, *run, options, &stop, &mut on_event),
    };
    shown.finish();
    let outcome = outcome?;
    shown.settled(&outcome.document.steps);
    result(&if common.shown.json { to_json(&outcome.document) } else { show(&outcome.document) });
    if let Some(path) = &common.shown.output {
        write_report(&outcome.document, args.lang, path)?;
        talk(&format!("Report: {}", path.display()));
    }
    Ok(match (outcome.interrupted, outcome.bad_steps) {
        (true, _) => Exit::Interrupted,
        (false, 0) => Exit::Done,
        (false, _) => Exit::Failed,
    })
}

/// The command as typed, quoted where a shell would need it.
fn command_line() -> String {
    let words = std::env::args().enumerate().map(|(i, word)| {
        // The way to the program says more about the machine than about the command.
        let word = if i == 0 { "fathom".to_owned() } else { word };
        let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:,+%@".contains(c)) && !word.is_empty();
        if plain { word } else { format!("'{}'", word.replace('\'', r"'\''")) }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// First SIGINT or SIGTERM: finish tidily. Second: the kernel's default, at once.
pub(super) fn stop_on_signals() -> Result<Arc<AtomicBool>, Problem> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&stop))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)))
            .map_err(|e| Problem::new(Exit::Failed, format!("cannot watch for signal {signal}: {e}"), ""))?;
    }
    Ok(stop)
}
