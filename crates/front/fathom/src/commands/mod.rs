//! One module per command; each returns how the program ends.

mod catalogue;
mod compare;
mod fio;
mod fio_question;
mod fit;
mod fix;
mod import;
mod inspect;
mod lab;
mod left_out;
mod machines;
mod manual;
mod nvme;
#[cfg(target_os = "linux")]
mod oltp;
#[cfg(windows)]
#[path = "../windows/oltp.rs"]
mod oltp;
mod output;
mod plan;
mod predict;
mod predict_array;
mod predict_bands;
mod predict_subject;
mod predicted;
mod rebuild;
mod reproduce;
mod restore;
mod run;
mod source;
mod studies;

use std::path::PathBuf;

use fathom_judge::document::Document;
use fathom_lab::document_of;
use fathom_message::Say as _;
use fathom_store::{Lab, RunId, StoreError};

pub(crate) use output::Output;

use crate::args::{Args, Command};
use crate::exit::{Exit, Problem};
use crate::terminal::{say, talk};

/// Runs the command.
pub(crate) fn dispatch(args: &Args) -> Result<Exit, Problem> {
    let Some(command) = &args.command else { return studies::first_commands() };
    match command {
        // What a killed run left changed would distort what is measured now.
        Command::Run(_) | Command::Io(_) => restore::restore_abandoned(),
        Command::Plan(_) | Command::Inspect(_) => restore::warn_of_abandoned(),
        _ => {}
    }
    match command {
        Command::Run(run) => run::run_study(args, run),
        Command::Io(io) => run::run_io(args, io),
        Command::Fio(fio) => fio::run_fio(args, fio),
        Command::Plan(options) => plan::plan(args, options),
        Command::Studies { name, toml, json } => studies::studies(name.as_deref(), *toml, *json),
        Command::Inspect(options) => inspect::inspect(options),
        Command::Nvme(options) => nvme::nvme(options),
        Command::Oltp(options) => oltp::oltp(args, options),
        Command::Rebuild(options) => rebuild::rebuild(args, options),
        Command::Restore { list, json, interrupted } => restore::restore(args, *list, *json, *interrupted),
        Command::List { json } => lab::list(args, *json),
        Command::Show { run, details, json } => lab::show(args, run, *details, *json),
        Command::Catalogue(options) => catalogue::catalogue(options),
        Command::Predict(options) => predict::predict(args, options),
        Command::Machines(options) => machines::machines(options),
        Command::Reproduce(options) => reproduce::reproduce_articles(args, options),
        Command::Fit(options) => fit::fit(args, options),
        Command::Compare(options) => compare::compare(args, options),
        Command::Rm { runs } => lab::rm(args, runs),
        Command::Report { run, output, force } => output::report(args, run, output.as_deref(), *force),
        Command::Export(options) => output::export(args, options),
        Command::Completions { shell } => manual::completions(*shell),
        Command::Manual { dir, force } => manual::manual(dir, *force),
        Command::Import { file, json } => import::import(args, file, *json),
    }
}

/// `--lab`, `FATHOM_LAB`, or `fathom.db` in the user's data directory.
fn lab_path(args: &Args) -> Result<PathBuf, Problem> {
    if let Some(path) = &args.lab {
        return Ok(path.clone());
    }
    data_dir().map(|d| d.join("fathom").join("fathom.db")).ok_or_else(|| {
        Problem::usage("no place for the lab: neither HOME nor XDG_DATA_HOME is set", "name a file: --lab PATH")
    })
}

/// The user's data directory.
fn data_dir() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    set("XDG_DATA_HOME").or_else(|| crate::system::user_data(&set))
}

/// Opens the lab for reading what is in it; a lab that does not exist is an error, not an empty one.
fn existing_lab(args: &Args) -> Result<Lab, Problem> {
    Ok(report_recovered(Lab::open_existing(&lab_path(args)?)?))
}

/// Reports the runs that were recovered when the lab was opened.
fn report_recovered(lab: Lab) -> Lab {
    lab.recovered().iter().for_each(|taken| talk(&format!("note: {}", say(&taken.message()))));
    lab
}

/// Refuses what takes figures of a run for those of a machine, where another program stood in for its system.
fn must_be_measured(run: i64, host: &serde_json::Value) -> Result<(), Problem> {
    let Some(system) = fathom_judge::stand_in(host) else { return Ok(()) };
    Err(Problem::new(
        Exit::Refused,
        format!("run {run} was run by {system} in the place of Windows: its figures are no measurements"),
        "measure on Windows itself: fathom run quick --target FILE",
    ))
}

/// The lab, where there is one already.
fn lab_if_any(args: &Args) -> Result<Option<Lab>, Problem> {
    let path = lab_path(args)?;
    match Lab::open_existing(&path) {
        Ok(lab) => Ok(Some(report_recovered(lab))),
        Err(StoreError::Missing { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// `last` or a number.
fn run_number(lab: &Lab, text: &str) -> Result<RunId, Problem> {
    if text == "last" {
        return lab
            .latest_run_id()?
            .ok_or_else(|| Problem::usage("the lab is empty", "measure something first: fathom run quick"));
    }
    text.parse()
        .map(RunId)
        .map_err(|_| Problem::usage(format!("`{text}` is not a run"), "give its number (fathom list) or `last`"))
}

/// The document of a run named by the user.
fn load(lab: &Lab, text: &str) -> Result<Document, Problem> {
    document(lab, run_number(lab, text)?)
}

fn document(lab: &Lab, run: RunId) -> Result<Document, Problem> {
    Ok(document_of(lab, run)?)
}

fn to_json(value: &impl serde::Serialize) -> String {
    fathom_report::json(value).expect("the document is plain data")
}

/// The command as typed, quoted where a shell would need it.
pub(crate) fn command_line() -> String {
    let words = std::env::args().enumerate().map(|(i, word)| {
        // The way to the program says more about the machine than about the command.
        let word = if i == 0 { "fathom".to_owned() } else { word };
        let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:,+%@".contains(c)) && !word.is_empty();
        if plain { word } else { format!("'{}'", word.replace('\'', r"'\''")) }
    });
    words.collect::<Vec<_>>().join(" ")
}
