//! `report` and `export`: the same run in other clothes.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use fathom_lab::compare::Comparison;
use fathom_lab::document::Document;
use fathom_lab::document_of;
use fathom_lab::reproduce::Reproduction;
use fathom_plan::Step;
use fathom_record::StepRecord;
use fathom_report::html::{render_comparison, render_html, render_reproduction};
use fathom_report::language::Language;
use fathom_report::{csv, fio_json_files, fio_json_text, fio_logs, hlog};
use fathom_store::{Lab, RunId, StepOutcome};

use super::{existing_lab, load, run_number, to_json};
use crate::args::{Args, ExportArgs, ExportFormat};
use crate::exit::{Exit, Problem};
use crate::terminal::{result, talk};

/// Writes the HTML report.
pub(crate) fn report(args: &Args, run: &str, output: Option<&Path>) -> Result<Exit, Problem> {
    let lab = existing_lab(args)?;
    let document = load(&lab, run)?;
    let path = output.map_or_else(|| PathBuf::from(format!("fathom-{}.html", document.run.id)), Path::to_owned);
    write_report(&document, args.lang, &path)?;
    talk(&format!("written to {}", path.display()));
    Ok(Exit::Done)
}

/// Writes the report of `document` to `path`.
pub(crate) fn write_report(document: &Document, language: Language, path: &Path) -> Result<(), Problem> {
    write_page(path, |out| render_html(document, language, out))
}

/// Writes the report of a comparison to `path`.
pub(crate) fn write_comparison(comparison: &Comparison, language: Language, path: &Path) -> Result<(), Problem> {
    write_page(path, |out| render_comparison(comparison, language, out))
}

/// Writes the report of the articles redone to `path`.
pub(crate) fn write_reproduction(table: &Reproduction, language: Language, path: &Path) -> Result<(), Problem> {
    write_page(path, |out| render_reproduction(table, language, out))
}

fn write_page(path: &Path, render: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<(), Problem> {
    let write = || -> std::io::Result<()> {
        let mut out = BufWriter::new(File::create(path)?);
        render(&mut out)?;
        out.flush()
    };
    write().map_err(|e| {
        Problem::new(Exit::Failed, format!("cannot write {}: {e}", path.display()), "name another file with --output")
    })
}

/// Writes a run in another format to a file, a directory or stdout.
pub(crate) fn export(args: &Args, options: &ExportArgs) -> Result<Exit, Problem> {
    let lab = existing_lab(args)?;
    let run = run_number(&lab, &options.run)?;
    let document = document_of(&lab, run)?;
    let directory = options.output.as_deref().filter(|path| path.is_dir());
    let plus = options.format == ExportFormat::FioJsonPlus;
    let text = match (options.format, directory) {
        (ExportFormat::FioLog, Some(path)) => return write_all(path, &fio_logs(&measured(&lab, run, true)?)),
        (ExportFormat::FioLog, None) => {
            return Err(Problem::usage("fio's logs are several files", "name an existing directory with --output"));
        }
        (ExportFormat::FioJson | ExportFormat::FioJsonPlus, Some(path)) => {
            return write_all(path, &fio_json_files(&document, &measured(&lab, run, false)?, plus));
        }
        (ExportFormat::FioJson | ExportFormat::FioJsonPlus, None) => {
            fio_json_text(&document, &measured(&lab, run, false)?, plus)
        }
        (ExportFormat::Json, _) => to_json(&document),
        (ExportFormat::Csv, _) => csv(&document),
        (ExportFormat::Hlog, _) => hlog(&document, &measured(&lab, run, true)?)
            .map_err(|e| Problem::new(Exit::Failed, e.to_string(), "export as json or csv instead"))?,
    };
    match &options.output {
        None => result(&text),
        Some(path) => write_file(path, &text)?,
    }
    Ok(Exit::Done)
}

fn write_file(path: &Path, text: &str) -> Result<(), Problem> {
    std::fs::write(path, text).map_err(|e| {
        Problem::new(Exit::Failed, format!("cannot write {}: {e}", path.display()), "name another place with --output")
    })
}

fn write_all(directory: &Path, files: &[(String, String)]) -> Result<Exit, Problem> {
    for (name, text) in files {
        write_file(&directory.join(name), text)?;
    }
    talk(&format!("{} files written to {}", files.len(), directory.display()));
    Ok(Exit::Done)
}

/// Measured steps with their records; interval histograms, which are large, only where the format needs them.
fn measured(lab: &Lab, run: RunId, with_intervals: bool) -> Result<Vec<(Step, StepRecord)>, Problem> {
    let mut out = Vec::new();
    for index in lab.step_indexes(run)? {
        let stored = lab.load_step(run, index)?;
        if let StepOutcome::Measured(mut record) = stored.outcome {
            if !with_intervals {
                record.intervals.clear();
            }
            out.push((stored.step, record));
        }
    }
    Ok(out)
}
