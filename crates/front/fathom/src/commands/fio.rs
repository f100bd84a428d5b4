//! `fio`: fio's command line, run by Fathom; the result in fio's forms, Fathom's answer beside it where a person looks on.

use std::cell::RefCell;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use fathom_judge::document::{Document, StepView};
use fathom_plan::{FioCommandLine, FioFormat, Plan, fio_command_line};
use fathom_report::{fio_json_text, fio_normal_text};
use fathom_store::RunId;

use super::output::{Output, measured};
use super::run::{What, conduct_and_show, options};
use super::{existing_lab, source};
use crate::answer::answer;
use crate::args::{Args, FioArgs, RunCommon, ShownArgs};
use crate::exit::{Exit, Problem};
use crate::terminal::{result, say, talk};

/// Runs what the words behind `fio` say.
pub(crate) fn run_fio(args: &Args, fio: &FioArgs) -> Result<Exit, Problem> {
    let line = fio_command_line(&fio.words).map_err(|e| Problem::of(Exit::Usage, &e))?;
    if line.is_version {
        result(&format!("fio-3.33-fathom-{}\n", env!("CARGO_PKG_VERSION")));
        return Ok(Exit::Done);
    }
    let plan = plan_of(&line, fio.with_fio)?;
    if line.is_read_only && plan.is_destructive() {
        return Err(Problem::new(Exit::Refused, "--readonly, and a job writes", "leave one of them out"));
    }
    if line.is_parse_only {
        return Ok(Exit::Done);
    }
    // Programs that call fio take words on stderr for a failure: what Fathom says goes to people, and into the JSON.
    let is_watched = std::io::stderr().is_terminal();
    let common = RunCommon {
        destroy: fio.destroy.clone(),
        allow_unbind: Vec::new(),
        no_iommu_i_accept_any_write_to_memory: false,
        overwrite: fio.overwrite,
        keep: true,
        shown: ShownArgs { json: false, output: None, force: false, quiet: !is_watched },
    };
    // fio replaces the file of its result, and tools that call it rely on that.
    let path = line.output.as_ref().map(PathBuf::from);
    let output = path.as_deref().map(|path| Output { path, force: true });
    output.map_or(Ok(()), Output::check)?;
    let conduct_options = options(args, &common)?;
    // What goes wrong in the forms of the result is told after the run, which is kept.
    let written = RefCell::new(Ok(()));
    let exit = conduct_and_show(args, &What::New(&plan), None, &common, &conduct_options, &|document| {
        if is_watched {
            talk(answer(document, false).trim_end());
        } else {
            failures(document).iter().for_each(|line| talk(line));
        }
        let text = forms(args, &line, document);
        match (output, text) {
            (None, Ok(text)) => text,
            (Some(output), Ok(text)) => {
                *written.borrow_mut() = output.write(|out| out.write_all(text.as_bytes()));
                String::new()
            }
            (_, Err(problem)) => {
                *written.borrow_mut() = Err(problem);
                String::new()
            }
        }
    })?;
    written.into_inner().map(|()| exit)
}

/// The jobs of the command line and of the files, in fio's order: those of the command line first.
fn plan_of(line: &FioCommandLine, with_fio: bool) -> Result<Plan, Problem> {
    let mut text = line.jobs.clone();
    for file in &line.files {
        text.push_str(&source::text_of(Path::new(file))?);
        text.push('\n');
    }
    let name = match &line.files[..] {
        [only] if line.jobs.is_empty() => only.clone(),
        _ => "fio".to_owned(),
    };
    source::fio_plan(&text, &name, &line.sections, with_fio)
}

/// Why jobs were not measured: without a terminal nothing else says it, as the forms of fio hold what was measured.
fn failures(document: &Document) -> Vec<String> {
    let of = |step: &StepView| step.reason.as_ref().map(|reason| format!("{}: {}", step.label, say(reason)));
    document.steps.iter().filter_map(of).collect()
}

/// The result in every form that is asked for, one after the other.
fn forms(args: &Args, line: &FioCommandLine, document: &Document) -> Result<String, Problem> {
    let lab = existing_lab(args)?;
    let records = measured(&lab, RunId(document.run.id), true)?;
    let form = |format: &FioFormat| match format {
        FioFormat::Normal => fio_normal_text(document, &records),
        FioFormat::Json => fio_json_text(document, &records, false),
        FioFormat::JsonPlus => fio_json_text(document, &records, true),
    };
    Ok(line.formats.iter().map(form).collect())
}
