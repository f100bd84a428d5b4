//! `list`, `show`, `rm`.

use std::time::{Duration, Instant};

use fathom_judge::document::{Document, StepView};
use fathom_lab::{delete_run, headline_of};
use fathom_message::{Message, Say as _};
use fathom_plan::{Phase, Plan, TargetId};
use fathom_store::{Lab, RunId, RunSummary, StoreError};

use super::{existing_lab, load, to_json};
use crate::answer::answer;
use crate::args::Args;
use crate::comparison;
use crate::exit::{Exit, Problem};
use crate::explanation;
use crate::ranks;
use crate::table::{self, Layout};
use crate::terminal::{date, result, say, talk};

/// Judging runs for longer than this is said.
const PATIENCE: Duration = Duration::from_secs(1);

/// Runs in the lab with their answers, newest last. A run that cannot be read says so in its place: the others can.
pub(crate) fn list(args: &Args, json: bool) -> Result<Exit, Problem> {
    let lab = existing_lab(args)?;
    let runs = lab.runs()?;
    let (started, mut is_said) = (Instant::now(), false);
    let mut answers = Vec::new();
    for (done, run) in runs.iter().enumerate() {
        if let Some(line) = still_judging(started.elapsed(), done, runs.len()).filter(|_| !is_said) {
            talk(&line);
            is_said = true;
        }
        answers.push(headline_of(&lab, run));
    }
    let rows = runs.iter().zip(&answers);
    if json {
        let rows: Vec<serde_json::Value> = rows.map(|(run, answer)| json_row(run, answer)).collect();
        result(&to_json(&serde_json::json!({ "runs": rows })));
        return Ok(Exit::Done);
    }
    let head = ["run", "study", "state", "started (UTC)", "steps", "target"];
    let mut text =
        format!("{:>5}  {:<12} {:<12} {:<20} {:>9}  {}\n", head[0], head[1], head[2], head[3], head[4], head[5]);
    rows.for_each(|(run, answer)| text.push_str(&text_row(&lab, run, answer)));
    result(&text);
    Ok(Exit::Done)
}

/// What is said of a list that is not there yet; `None` before anybody wonders.
fn still_judging(elapsed: Duration, done: usize, all: usize) -> Option<String> {
    let line =
        || format!("judging runs whose answers are not kept yet: {done} of {all} done; the next list is at once");
    (elapsed > PATIENCE).then(line)
}

/// A sentence; `None`: the run goes on.
type Answer = Result<Option<Message>, StoreError>;

fn json_row(run: &RunSummary, answer: &Answer) -> serde_json::Value {
    let mut row = serde_json::json!({
        "id": run.id, "study": run.study, "state": run.state.as_str(), "started": fathom_judge::known_rfc3339(run.started_unix_ns),
        "steps": run.steps_measured, "steps_planned": run.steps_planned,
        "answer": answer.as_ref().ok().and_then(Option::as_ref).map(say),
    });
    if let Err(error) = answer {
        row["answer_error"] = say(&error.message()).into();
    }
    row
}

fn text_row(lab: &Lab, run: &RunSummary, answer: &Answer) -> String {
    let steps = format!("{}/{}", run.steps_measured, run.steps_planned);
    let started = fathom_judge::known_rfc3339(run.started_unix_ns);
    let started = date(started.as_deref());
    let target = lab.load_head(run.id).map_or_else(|_| "-".to_owned(), |head| target(&head.plan));
    let (id, state) = (run.id.0, run.state.as_str());
    let row = format!("{id:>5}  {:<12} {state:<12} {started:<20} {steps:>9}  {target}\n", run.study);
    let answer = match answer {
        // A run of which nothing was measured has its state.
        Ok(answer) => answer.as_ref().filter(|_| run.steps_measured > 0).map(say),
        Err(error) => Some(format!("no answer: {}; to remove it: fathom rm {id}", say(&error.message()))),
    };
    row + &answer.map_or_else(String::new, |answer| format!("       {answer}\n"))
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
    let mut why = if details { explanation::reasons(&document) } else { String::new() };
    // A load by hand has more to show than the rows of a table.
    if let ([only], true) = (&measured_steps(&document)[..], details) {
        why.push_str(&explanation::step(only, true));
        why.push('\n');
    }
    if details {
        why.push_str(&ranks::tables(&document));
    }
    result(&format!("{}{why}{separator}{cores}", shown(&document, details)));
    Ok(Exit::Done)
}

/// The steps that the plan is about.
fn measured_steps(document: &Document) -> Vec<&StepView> {
    document.steps.iter().filter(|s| s.phase == Phase::Measure).collect()
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
        date(document.run.started.as_deref()),
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
    use super::{Duration, numbers, still_judging};

    #[test]
    fn a_list_that_takes_long_says_how_far_it_is() {
        assert_eq!(still_judging(Duration::from_millis(900), 3, 40), None);
        let said = still_judging(Duration::from_millis(1_100), 3, 40).expect("a line");
        assert!(said.contains("3 of 40"), "{said}");
    }

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
