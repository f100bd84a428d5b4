//! `list`, `show`, `rm`.

use fathom_judge::document::Document;
use fathom_lab::{delete_run, headline_of};
use fathom_plan::{Plan, TargetId};
use fathom_store::{RunId, RunSummary, StoreError};

use super::{existing_lab, load, to_json};
use crate::answer::answer;
use crate::args::Args;
use crate::comparison;
use crate::exit::{Exit, Problem};
use crate::explanation;
use crate::table::{self, Layout};
use crate::terminal::{result, say, talk};

/// Runs in the lab with their answers, newest last.
pub(crate) fn list(args: &Args, json: bool) -> Result<Exit, Problem> {
    let lab = existing_lab(args)?;
    let runs = lab.runs()?;
    if json {
        let row = |r: &RunSummary| {
            let answer = headline_of(&lab, r)?;
            Ok(serde_json::json!({
                "id": r.id, "study": r.study, "state": r.state.as_str(), "started": fathom_judge::rfc3339(r.started_unix_ns),
                "steps": r.steps_measured, "steps_planned": r.steps_planned, "answer": answer.as_ref().map(say),
            }))
        };
        let rows = runs.iter().map(row).collect::<Result<Vec<serde_json::Value>, StoreError>>()?;
        result(&to_json(&serde_json::json!({ "runs": rows })));
        return Ok(Exit::Done);
    }
    let head = ["run", "study", "state", "started (UTC)", "steps", "target"];
    let mut text =
        format!("{:>5}  {:<12} {:<12} {:<20} {:>9}  {}\n", head[0], head[1], head[2], head[3], head[4], head[5]);
    for r in &runs {
        let steps = format!("{}/{}", r.steps_measured, r.steps_planned);
        let started = fathom_judge::rfc3339(r.started_unix_ns);
        let (id, state, target) = (r.id.0, r.state.as_str(), target(&lab.load_head(r.id)?.plan));
        text.push_str(&format!("{id:>5}  {:<12} {state:<12} {started:<20} {steps:>9}  {target}\n", r.study));
        // A run of which nothing was measured has its state.
        if let Some(answer) = headline_of(&lab, r)?.filter(|_| r.steps_measured > 0) {
            text.push_str(&format!("       {}\n", say(&answer)));
        }
    }
    result(&text);
    Ok(Exit::Done)
}

/// The first target of a plan, and how many more there are.
fn target(plan: &Plan) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in plan.steps.iter().flat_map(|s| &s.targets).map(TargetId::as_str) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    match names.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first, more @ ..] => format!("{first} and {} more", more.len()),
    }
}

/// Answer and table of a run.
pub(crate) fn show(args: &Args, run: &str, details: bool, json: bool) -> Result<Exit, Problem> {
    let lab = existing_lab(args)?;
    let document = load(&lab, run)?;
    if json {
        result(&to_json(&document));
        return Ok(Exit::Done);
    }
    let cores = table::cores(Layout::of(&console::Term::stdout()), &document.steps);
    let separator = if cores.is_empty() { "" } else { "\n" };
    let why = if details { explanation::reasons(&document) } else { String::new() };
    result(&format!("{}{why}{separator}{cores}", shown(&document, details)));
    Ok(Exit::Done)
}

/// Removes runs; the first that does not exist ends it, and says which were removed. Of a range those that there are.
pub(crate) fn rm(args: &Args, runs: &[String]) -> Result<Exit, Problem> {
    let mut lab = existing_lab(args)?;
    let known: Vec<i64> = lab.runs()?.iter().map(|r| r.id.0).collect();
    let named = runs.iter().map(|word| numbers(word, &known)).collect::<Result<Vec<_>, _>>()?;
    for run in named.concat() {
        delete_run(&mut lab, RunId(run))?;
        talk(&format!("removed run {run}"));
    }
    Ok(Exit::Done)
}

/// The runs that a word names: `3`, or those of `10-34` that are known.
fn numbers(word: &str, known: &[i64]) -> Result<Vec<i64>, Problem> {
    let problem =
        |what: String| Problem::usage(what, "give numbers of runs or ranges: fathom rm 3 10-34 (fathom list)");
    let number = |text: &str| text.parse::<i64>().map_err(|_| problem(format!("`{word}` is not a run")));
    let Some((first, last)) = word.split_once('-') else { return Ok(vec![number(word)?]) };
    let (first, last) = (number(first)?, number(last)?);
    let inside: Vec<i64> = known.iter().copied().filter(|run| (first..=last).contains(run)).collect();
    match inside.is_empty() {
        true => Err(problem(format!("no run lies in {word}"))),
        false => Ok(inside),
    }
}

/// The whole run as text: the answer, then the table.
pub(crate) fn shown(document: &Document, details: bool) -> String {
    let mut text = format!(
        "run {} · {}{} · {} · {}\n\n{}",
        document.run.id,
        document.run.study,
        if document.run.plan.machine.is_some() { " · SIMULATED" } else { "" },
        document.run.state.as_str(),
        document.run.started,
        answer(document, details)
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

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn a_range_names_the_runs_that_there_are() {
        let known = [1, 3, 10, 12, 40];
        assert_eq!(numbers("3", &known).expect("a run"), [3]);
        assert_eq!(numbers("2-12", &known).expect("runs"), [3, 10, 12]);
        for bad in ["", "x", "1-", "-3", "5-9", "12-10", "1-2-3", "last"] {
            let problem = numbers(bad, &known).expect_err(bad);
            assert!(problem.help.is_some_and(|help| help.contains("fathom list")), "{bad}");
        }
    }
}
