//! `list`, `show`, `rm`.

use fathom_judge::document::Document;
use fathom_lab::delete_run;
use fathom_store::RunId;

use super::{existing_lab, load, to_json};
use crate::args::Args;
use crate::comparison;
use crate::exit::{Exit, Problem};
use crate::explanation;
use crate::table::{self, Layout};
use crate::terminal::{fill, result, say, talk};

/// Runs in the lab, newest last.
pub(crate) fn list(args: &Args, json: bool) -> Result<Exit, Problem> {
    let runs = existing_lab(args)?.runs()?;
    if json {
        let rows: Vec<serde_json::Value> = runs
            .iter()
            .map(|r| {
                serde_json::json!({
                    "id": r.id, "study": r.study, "state": r.state.as_str(), "started": fathom_judge::rfc3339(r.started_unix_ns),
                    "steps": r.steps_measured, "steps_planned": r.steps_planned,
                })
            })
            .collect();
        result(&to_json(&serde_json::json!({ "runs": rows })));
        return Ok(Exit::Done);
    }
    let mut text = format!("{:>5}  {:<12} {:<12} {:<20} {:>7}\n", "run", "study", "state", "started (UTC)", "steps");
    for r in &runs {
        let steps = format!("{}/{}", r.steps_measured, r.steps_planned);
        let started = fathom_judge::rfc3339(r.started_unix_ns);
        text.push_str(&format!("{:>5}  {:<12} {:<12} {started:<20} {steps:>7}\n", r.id.0, r.study, r.state.as_str()));
    }
    result(&text);
    Ok(Exit::Done)
}

/// Verdict and table of a run.
pub(crate) fn show(args: &Args, run: &str, json: bool) -> Result<Exit, Problem> {
    let lab = existing_lab(args)?;
    let document = load(&lab, run)?;
    if json {
        result(&to_json(&document));
        return Ok(Exit::Done);
    }
    let cores = table::cores(Layout::of(&console::Term::stdout()), &document.steps);
    let separator = if cores.is_empty() { "" } else { "\n" };
    result(&format!("{}{separator}{cores}", shown(&document)));
    Ok(Exit::Done)
}

/// Removes runs; the first that does not exist ends it, and says which were removed.
pub(crate) fn rm(args: &Args, runs: &[i64]) -> Result<Exit, Problem> {
    let mut lab = existing_lab(args)?;
    for run in runs {
        delete_run(&mut lab, RunId(*run))?;
        talk(&format!("removed run {run}"));
    }
    Ok(Exit::Done)
}

/// The whole run as text: verdict, then the table.
pub(crate) fn shown(document: &Document) -> String {
    let mut text = format!(
        "run {} · {}{} · {} · {}\n\n{}",
        document.run.id,
        document.run.study,
        if document.run.plan.machine.is_some() { " · SIMULATED" } else { "" },
        document.run.state.as_str(),
        document.run.started,
        verdict(document)
    );
    text.push('\n');
    if let Some(comparison) = &document.comparison {
        text.push_str(&comparison::steps(comparison));
        text.push('\n');
    }
    let layout = Layout::of(&console::Term::stdout());
    text.push_str(&table::rows(layout, &document.steps));
    text.push_str(&table::legend(&document.steps));
    text.push_str(&explanation::predictions(document));
    text
}

/// The answer with its evidence, for people.
pub(crate) fn verdict(document: &Document) -> String {
    let mut text = String::new();
    for verdict in &document.verdict {
        text.push_str(&fill(&say(&verdict.answer), ""));
        for line in &verdict.evidence {
            text.push_str(&fill(&say(line), "  "));
        }
        for line in &verdict.would_help {
            text.push_str(&fill(&format!("Would help: {}", say(line)), ""));
        }
        for line in &verdict.caveats {
            text.push_str(&fill(&format!("Caveat: {}", say(line)), ""));
        }
    }
    text
}
