//! `fio`: fio's command line, run by Fathom; the result in fio's forms, Fathom's answer beside it where a person looks on.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use fathom_host::open_to_read;
use fathom_judge::document::Document;
use fathom_plan::{FioCommandLine, FioFormat, FioReading, FioText, Plan, fio_command_line};
use fathom_report::{fio_json_text, fio_normal_text, fio_terse_text};
use fathom_store::RunId;

use super::output::{Output, measured};
use super::run::{What, conduct_and_show, options};
use super::{existing_lab, fio_question, source};
use crate::answer::answer;
use crate::args::{Args, FioArgs, RunCommon, ShownArgs};
use crate::exit::{Exit, Problem};
use crate::terminal::talk;

/// Runs what the words behind `fio` say.
pub(crate) fn run_fio(args: &Args, fio: &FioArgs) -> Result<Exit, Problem> {
    let line = fio_command_line(&fio.words).map_err(|e| Problem::of(Exit::Usage, &e))?;
    // A question about the jobs needs them; every other one stands alone.
    if let Some(question) = &line.question {
        return fio_question::answer(question, &line);
    }
    let jobs = texts_of(&line)?;
    let plan = plan_of(&line, &jobs, fio.with_fio)?;
    if line.is_read_only && plan.is_destructive() {
        return Err(Problem::new(Exit::Refused, "--readonly, and a job writes", "leave one of them out"));
    }
    if line.is_parse_only {
        return Ok(Exit::Done);
    }
    // Programs that call fio take words on stderr for a failure: what Fathom says goes to people, and into the JSON.
    let is_watched = std::io::stderr().is_terminal();
    let logs = log_keys(&jobs);
    // JSON has the notes of the plan.
    if !is_watched && !logs.is_empty() && line.formats.contains(&FioFormat::Normal) {
        let keys = logs.into_iter().collect::<Vec<_>>().join(", ");
        talk(&format!(
            "note: {keys}: no log file is written; to write them afterwards: fathom export last --format fio-log --output DIR"
        ));
    }
    let common = RunCommon {
        destroy: fio.destroy.clone(),
        allow_unbind: Vec::new(),
        no_iommu_i_accept_any_write_to_memory: false,
        overwrite: fio.overwrite,
        keep: true,
        shown: ShownArgs { json: false, output: None, force: false, quiet: !is_watched },
    };
    let path = line.output.as_ref().map(PathBuf::from);
    let output = || path.as_deref().map(|path| Output { path, force: is_result_of_fio(path) });
    output().map_or(Ok(()), Output::check).map_err(|problem| with_help(problem, &line))?;
    let conduct_options = options(args, &common)?;
    // What goes wrong in the forms of the result is told after the run, which is kept.
    let written = RefCell::new(Ok(()));
    let exit = conduct_and_show(args, &What::New(&plan), None, &common, &conduct_options, &|document| {
        if is_watched {
            talk(answer(document, false).trim_end());
        }
        let text = forms(args, &line, document);
        match (output(), text) {
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

/// Bytes searched for the header of a result of fio: warnings may precede it.
const RESULT_HEAD_BYTES: u64 = 64 << 10;

/// True for a file that fio or Fathom wrote as a result: JSON, normal or terse. fio replaces the file of its result, and tools
/// that call it rely on that; it replaces anything else as well, which Fathom does not.
fn is_result_of_fio(path: &Path) -> bool {
    let mut head = Vec::new();
    // A link or a device is refused by whoever writes.
    let is_file = path.symlink_metadata().is_ok_and(|meta| meta.is_file());
    let file = is_file.then(|| open_to_read(path).ok()).flatten();
    if file.is_none_or(|file| file.take(RESULT_HEAD_BYTES).read_to_end(&mut head).is_err()) {
        return false;
    }
    let text = String::from_utf8_lossy(&head);
    let is_terse = |line: &str| line.split(';').nth(1).is_some_and(|word| word.starts_with("fio-"));
    text.contains("\"fio version\"") || text.contains(": (groupid=") || text.lines().any(is_terse)
}

/// The way out that this command has where a file is in the way.
fn with_help(problem: Problem, line: &FioCommandLine) -> Problem {
    match &line.output {
        Some(path) if problem.help.as_deref().is_some_and(|help| help.contains("--force")) => {
            let help = format!("only results of fio or Fathom are replaced: remove {path}, or name another file");
            Problem { help: Some(help), ..problem }
        }
        _ => problem,
    }
}

/// The jobs of the command line and of the files, in fio's order: those of the command line first.
pub(super) fn texts_of(line: &FioCommandLine) -> Result<Vec<FioText>, Problem> {
    let mut texts = vec![FioText::CommandLine(line.jobs.clone())];
    for file in &line.files {
        let text = if file == "-" { standard_input()? } else { source::text_of(Path::new(file))? };
        texts.push(FioText::File { name: file.clone(), text });
    }
    Ok(texts)
}

fn standard_input() -> Result<String, Problem> {
    std::io::read_to_string(std::io::stdin())
        .map_err(|e| Problem::usage(format!("cannot read the standard input: {e}"), "a job file is UTF-8 text"))
}

fn plan_of(line: &FioCommandLine, texts: &[FioText], with_fio: bool) -> Result<Plan, Problem> {
    let name = match &line.files[..] {
        [only] if line.jobs.is_empty() => only,
        _ => "fio",
    };
    let reading = FioReading { only: &line.sections, with_fio, reports_each_job: true };
    source::fio_plan(texts, name, &reading)
}

/// The keys in jobs by which fio would write logs. Fathom keeps what they would hold in the lab.
fn log_keys(texts: &[FioText]) -> BTreeSet<&str> {
    fn of(text: &FioText) -> Vec<&str> {
        match text {
            FioText::CommandLine(words) => words.iter().map(|word| word.key.as_str()).collect(),
            FioText::File { text, .. } => {
                text.lines().filter_map(|line| line.split('=').next()).map(str::trim).collect()
            }
        }
    }
    texts.iter().flat_map(of).filter(|key| key.starts_with("write_") && key.ends_with("_log")).collect()
}

/// The result in every form that is asked for, one after the other.
fn forms(args: &Args, line: &FioCommandLine, document: &Document) -> Result<String, Problem> {
    let lab = existing_lab(args)?;
    let records = measured(&lab, RunId(document.run.id), true)?;
    let form = |format: &FioFormat| match format {
        FioFormat::Normal => fio_normal_text(document, &records),
        FioFormat::Json => fio_json_text(document, &records, false),
        FioFormat::JsonPlus => fio_json_text(document, &records, true),
        FioFormat::Terse(version) => fio_terse_text(document, &records, *version),
    };
    Ok(line.formats.iter().map(form).collect())
}
