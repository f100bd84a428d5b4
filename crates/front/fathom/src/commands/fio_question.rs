//! `fathom fio --version`, `--help`, `--showcmd`, `--enghelp`, `--cmdhelp`: questions that run nothing.

use std::fmt::Write as _;

use fathom_plan::{
    FioCommandLine, FioKeyInfo, FioKeyUse, FioQuestion, fio_engine_keys, fio_engines, fio_keys, fio_shown_command,
};

use super::fio::texts_of;
use super::source::ThisMachine;
use crate::exit::{Exit, Problem};
use crate::terminal::{result, say};

/// Prints the answer.
pub(super) fn answer(question: &FioQuestion, line: &FioCommandLine) -> Result<Exit, Problem> {
    let text = match question {
        FioQuestion::Version => format!("fio-3.33-fathom-{}\n", env!("CARGO_PKG_VERSION")),
        FioQuestion::Help => USAGE.to_owned(),
        FioQuestion::Command => format!("{}\n", fio_shown_command(&texts_of(line)?, &line.sections, &ThisMachine)?),
        FioQuestion::Engines(None) => {
            let names: String = fio_engines().iter().map(|name| format!("\t{name}\n")).collect();
            format!("Available IO engines:\n{names}")
        }
        FioQuestion::Engines(Some(engine)) => engine_text(engine)?,
        FioQuestion::Options(None) => fio_keys().iter().map(key_line).collect(),
        FioQuestion::Options(Some(name)) => key_text(name)?,
    };
    result(&text);
    Ok(Exit::Done)
}

const USAGE: &str = "\
fathom fio [OPTIONS] [JOB OPTIONS] [JOB FILES]
  --output=FILE           Write the result to FILE
  --output-format=LIST    normal, json, json+, terse; several with commas
  --minimal, --append-terse, --terse-version=2..5
  --section=NAME          Run this section only; may be repeated
  --readonly              Refuse jobs that write
  --parse-only            Check the jobs, run nothing
  --showcmd FILES         Print job files as a command line
  --cmdhelp[=KEY]         Explain the keys of jobs, or one of them
  --enghelp[=ENGINE]      List the engines, or the keys of one
  --version, --help
  -                       Read a job file from the standard input
A job begins with --name=NAME; options before the first name are for all jobs.
fathom fio --help before these options explains Fathom's own.
";

fn engine_text(engine: &str) -> Result<String, Problem> {
    let (name, key) = engine.split_once(',').map_or((engine, None), |(name, key)| (name, Some(key)));
    let keys = fio_engine_keys(name).ok_or_else(|| {
        let engines = fio_engines().join(", ");
        Problem::usage(format!("ioengine={name} is not built in"), format!("there are {engines}"))
    })?;
    match key {
        Some(key) => key_text(key),
        None => Ok(fio_keys().iter().filter(|key| keys.contains(&key.name)).map(key_line).collect()),
    }
}

fn key_line(key: &FioKeyInfo) -> String {
    let help = key.help.as_ref().map(say).filter(|_| key.is == FioKeyUse::AsFio).unwrap_or_else(|| use_of(key));
    format!("{:<24}: {help}\n", key.name)
}

fn use_of(key: &FioKeyInfo) -> String {
    match &key.is {
        FioKeyUse::AsFio => "as in fio".to_owned(),
        FioKeyUse::Noted(why) => format!("no effect: {}", say(why)),
        FioKeyUse::Refused { why, accepted: [], .. } => format!("refused: {}", say(why)),
        FioKeyUse::Refused { why, accepted, .. } => format!("refused, except {}: {}", accepted.join(", "), say(why)),
    }
}

fn key_text(name: &str) -> Result<String, Problem> {
    let keys = fio_keys();
    let key = keys
        .iter()
        .find(|key| key.name == name || key.aliases.contains(&name))
        .ok_or_else(|| Problem::usage(format!("fio has no key {name}"), "list the keys: fathom fio --cmdhelp"))?;
    let mut text = key_line(key);
    if !key.aliases.is_empty() {
        let _infallible = writeln!(text, "{:>24}: {}", "alias", key.aliases.join(", "));
    }
    if let FioKeyUse::Refused { help, .. } = &key.is {
        let _infallible = writeln!(text, "{:>24}: {}", "instead", say(help));
    }
    Ok(text)
}
