//! `import`: results of fio, or of another Fathom, into the lab.

use std::io::Read;
use std::path::Path;

use fathom_host::open_to_read;
use fathom_report::import::import_json;
use fathom_store::{Lab, NewRun, RunState};

use super::{document, lab::shown, lab_path, to_json};
use crate::args::Args;
use crate::exit::{Exit, Problem};
use crate::terminal::{result, say, talk};

/// Reads `file` (`-`: standard input), stores it as a run, prints it.
pub(crate) fn import(args: &Args, file: &Path, json: bool) -> Result<Exit, Problem> {
    let name = file.display().to_string();
    let text = read(file)
        .map_err(|e| Problem::usage(format!("cannot read {name}: {e}"), "name a JSON file of fio or Fathom"))?;
    let imported = import_json(&text, &name).map_err(|e| Problem::of(Exit::Usage, &e))?;
    let mut lab = Lab::open(&lab_path(args)?)?;
    let run = lab.begin_run(&NewRun {
        study: &imported.plan.study.name,
        question: &imported.plan.study.question,
        plan: &imported.plan,
        host_json: &imported.host_json.to_string(),
        fathom_version: env!("CARGO_PKG_VERSION"),
        started_unix_ns: imported.started_unix_ns,
        command_line: &format!("fathom import {name}"),
        is_import: true,
    })?;
    for (step, record) in &imported.steps {
        lab.commit_step(run, step, Ok(record))?;
    }
    let ended_unix_ns = imported.started_unix_ns + imported.steps.iter().map(|(_, r)| r.runtime_ns).max().unwrap_or(0);
    lab.finish_run(run, RunState::Finished, ended_unix_ns)?;
    for note in &imported.notes {
        talk(&format!("note: {}", say(note)));
    }
    let document = document(&lab, run)?;
    result(&if json { to_json(&document) } else { shown(&document, false) });
    Ok(Exit::Done)
}

fn read(file: &Path) -> std::io::Result<String> {
    if file == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    // Binary files are read as well as they can be, so that the importer can say what they look like.
    let mut bytes = Vec::new();
    open_to_read(file)?.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
