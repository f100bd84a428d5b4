//! `report` and `export`: the same run in other clothes.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use fathom_lab::document::Document;
use fathom_lab::document_of;
use fathom_plan::Step;
use fathom_record::StepRecord;
use fathom_report::html::render_html;
use fathom_store::{Lab, RunId, StepOutcome};

use super::{existing_lab, load, run_number};
use crate::args::{Args, ExportArgs, ExportFormat};
use crate::exit::{Exit, Problem};
use crate::terminal::{result, talk};

/// Writes the HTML report.
pub(crate) fn report(args: &Args, run: &str, output: Option<&Path>) -> Result<Exit, Problem> {
    let lab = existing_lab(args)?;
    let document = load(&lab, run)?;
    let path = output.map_or_else(|| PathBuf::from(format!("fathom-{}.html", document.run.id)), Path::to_owned);
    write_report(&document, &path)?;
    talk(&format!("written to {}", path.display()));
    Ok(Exit::Done)
}

/// Writes the report of `document` to `path`.
pub(crate) fn write_report(document: &Document, path: &Path) -> Result<(), Problem> {
    let write = || -> std::io::Result<()> {
        let mut out = BufWriter::new(File::create(path)?);
        render_html(document, &mut out)?;
        out.flush()
    };
    write().map_err(|e| {
        Problem::new(Exit::Failed, format!("cannot write {}: {e}", path.display()), "name another file with --output")
    })
}

/// Writes a run in another format to a file or stdout.
pub(crate) fn export(args: &Args, options: &ExportArgs) -> Result<Exit, Problem> {
    let lab = existing_lab(args)?;
    let run = run_number(&lab, &options.run)?;
    let document = document_of(&lab, run)?;
    let text = match options.format {
        ExportFormat::Json => super::to_json(&document),
        ExportFormat::Csv => fathom_report::csv(&document),
        ExportFormat::FioJson => fathom_report::fio_json_text(&document, &measured(&lab, run, false)?, false),
        ExportFormat::FioJsonPlus => fathom_report::fio_json_text(&document, &measured(&lab, run, false)?, true),
        ExportFormat::Hlog => fathom_report::hlog(&document, &measured(&lab, run, true)?)
            .map_err(|e| Problem::new(Exit::Failed, e.to_string(), "export as json or csv instead"))?,
    };
    match &options.output {
        None => result(&text),
        Some(path) => std::fs::write(path, text).map_err(|e| {
            Problem::new(
                Exit::Failed,
                format!("cannot write {}: {e}", path.display()),
                "name another file with --output",
            )
        })?,
    }
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
