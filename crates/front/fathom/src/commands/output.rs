//! `report` and `export`: a run in another format.

use std::io::Write;
use std::path::{Path, PathBuf};

use fathom_host::{check_output, write_output};
use fathom_judge::document::{Comparison, Document};
use fathom_lab::reproduce::Reproduction;
use fathom_language::Language;
use fathom_plan::Step;
use fathom_record::StepRecord;
use fathom_report::html::{render_comparison, render_html, render_reproduction};
use fathom_report::{csv, fio_json_files, fio_json_text, fio_logs, hlog};
use fathom_store::{Lab, RunId};

use super::{document, existing_lab, load, run_number, to_json};
use crate::args::{Args, ExportArgs, ExportFormat};
use crate::exit::{Exit, Problem};
use crate::terminal::{result, stdout, talk};

/// Where a result goes.
#[derive(Clone, Copy)]
pub(crate) struct Output<'a> {
    /// File; `-` for standard output.
    pub(crate) path: &'a Path,
    /// Whether another program's file may be replaced.
    pub(crate) force: bool,
}

impl Output<'_> {
    fn is_stdout(self) -> bool {
        self.path == Path::new("-")
    }

    /// Looks whether it may be written, before the work begins whose result goes there.
    pub(crate) fn check(self) -> Result<(), Problem> {
        if self.is_stdout() { Ok(()) } else { Ok(check_output(self.path, self.force)?) }
    }

    pub(crate) fn write(self, render: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<(), Problem> {
        if self.is_stdout() {
            return stdout(render);
        }
        Ok(write_output(self.path, self.force, render)?)
    }
}

/// Writes the HTML report.
pub(crate) fn report(args: &Args, run: &str, output: Option<&Path>, force: bool) -> Result<Exit, Problem> {
    let lab = existing_lab(args)?;
    let document = load(&lab, run)?;
    let path = output.map_or_else(|| PathBuf::from(format!("fathom-{}.html", document.run.id)), Path::to_owned);
    let output = Output { path: &path, force };
    write_report(&document, args.lang, output)?;
    if !output.is_stdout() {
        talk(&format!("written to {}", path.display()));
    }
    Ok(Exit::Done)
}

/// Writes the report of `document` to `path`.
pub(crate) fn write_report(document: &Document, language: Language, output: Output<'_>) -> Result<(), Problem> {
    output.write(|out| render_html(document, language, out))
}

/// Writes the report of a comparison to `path`.
pub(crate) fn write_comparison(comparison: &Comparison, language: Language, output: Output<'_>) -> Result<(), Problem> {
    output.write(|out| render_comparison(comparison, language, out))
}

/// Writes the report of the articles redone to `path`.
pub(crate) fn write_reproduction(table: &Reproduction, language: Language, output: Output<'_>) -> Result<(), Problem> {
    output.write(|out| render_reproduction(table, language, out))
}

/// Writes a run in another format to a file, a directory or stdout.
pub(crate) fn export(args: &Args, options: &ExportArgs) -> Result<Exit, Problem> {
    let lab = existing_lab(args)?;
    let run = run_number(&lab, &options.run)?;
    let document = document(&lab, run)?;
    let directory = options.output.as_deref().filter(|path| path.is_dir());
    let plus = options.format == ExportFormat::FioJsonPlus;
    let text = match (options.format, directory) {
        (ExportFormat::FioLog, Some(path)) => {
            return write_all(path, options.force, &fio_logs(&measured(&lab, run, true)?));
        }
        (ExportFormat::FioLog, None) => {
            return Err(Problem::usage("fio's logs are several files", "name an existing directory with --output"));
        }
        (ExportFormat::FioJson | ExportFormat::FioJsonPlus, Some(path)) => {
            let files = fio_json_files(&document, &measured(&lab, run, false)?, plus);
            return write_all(path, options.force, &files);
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
        Some(path) => Output { path, force: options.force }.write(|out| out.write_all(text.as_bytes()))?,
    }
    Ok(Exit::Done)
}

fn write_all(directory: &Path, force: bool, files: &[(String, String)]) -> Result<Exit, Problem> {
    for (name, text) in files {
        Output { path: &directory.join(name), force }.write(|out| out.write_all(text.as_bytes()))?;
    }
    talk(&format!("{} files written to {}", files.len(), directory.display()));
    Ok(Exit::Done)
}

/// Measured steps with their records; interval histograms, which are large, only where the format needs them.
pub(super) fn measured(lab: &Lab, run: RunId, with_intervals: bool) -> Result<Vec<(Step, StepRecord)>, Problem> {
    let mut out = Vec::new();
    for index in lab.step_indexes(run)? {
        let stored = lab.load_step(run, index)?;
        if let Ok(mut record) = stored.outcome {
            if !with_intervals {
                record.intervals.clear();
            }
            out.push((stored.step, record));
        }
    }
    Ok(out)
}
