//! `fathom fit`: a device file from a run.

use fathom_judge::known_rfc3339;
use fathom_lab::observations_of;
use fathom_model::{DeviceFile, fit_device};

use super::output::Output;
use super::{existing_lab, must_be_measured, run_number};
use crate::args::Args;
use crate::exit::{Exit, Problem};
use crate::model_args::FitArgs;
use crate::terminal::{date, result, say, talk};

pub(crate) fn fit(args: &Args, options: &FitArgs) -> Result<Exit, Problem> {
    let lab = existing_lab(args)?;
    let run = run_number(&lab, &options.run)?;
    must_be_measured(run.0, &lab.host_of(&lab.load_head(run)?)?)?;
    let Some(fitted) = fit_device(&observations_of(&lab, run)?) else {
        return Err(Problem::new(
            Exit::Failed,
            format!("run {} holds no random reads of 4 KiB at two queue depths, direct and closed-loop", run.0),
            "measure some first: fathom run quick --target FILE",
        ));
    };
    let head = lab.load_head(run)?;
    let started = known_rfc3339(head.summary.started_unix_ns);
    let host = lab.host_of(&head)?;
    let device = &host["targets"][0]["device"];
    let model = device["model"].as_str().or(device["name"].as_str()).unwrap_or("unknown drive").to_owned();
    let stem = options.output.as_deref().and_then(|p| p.file_stem()).map(|s| s.to_string_lossy().into_owned());
    let id = options.name.clone().or(stem).unwrap_or_else(|| format!("run-{}-drive", run.0));
    let title = format!("run {} of {} on {}", run.0, head.summary.study, date(started.as_deref()));
    let year = started.as_ref().and_then(|started| started.get(..4)?.parse().ok());
    let source_id = format!("{id}-run");
    let file = DeviceFile { id: &id, model: &model, source_id: &source_id, source_title: &title, year };
    let text = fitted.to_toml(&file, say);
    let Some(path) = &options.output else {
        result(&text);
        return Ok(Exit::Done);
    };
    Output { path, force: options.force }.write(|out| out.write_all(text.as_bytes()))?;
    talk(&format!(
        "{}: reads met within {:.1} % (root mean square); use it with: fathom predict --device {0}",
        path.display(),
        fitted.read.residual * 100.0
    ));
    Ok(Exit::Done)
}
