//! `studies`, and what is said to one who typed no command: where to begin.

use fathom_message::Say as _;
use fathom_plan::{Overrides, Plan, builtin_studies, parse_study};

use super::to_json;
use crate::exit::{Exit, Problem};
use crate::preview;
use crate::terminal::{fill, result, say};

/// The time budget of the first look at tails.
const FIRST_LOOK_NS: u64 = 300_000_000_000;

/// Where to begin: the first commands with the time each takes.
pub(crate) fn first_commands() -> Result<Exit, Problem> {
    let quick = builtin("quick")?;
    // Hours of it are for whoever asks for every tail: minutes answer the question.
    let mut qos = builtin("qos")?;
    qos.scale_to_time_budget(FIRST_LOOK_NS).map_err(|e| Problem::usage(say(&e.message()), String::new()))?;
    let time = |plan: &Plan| format!("{} at most", preview::time_at_most(plan));
    let rows = [
        ("fathom run quick", time(&quick), "How fast is it, and what limits it?"),
        ("fathom inspect", "2 s".to_owned(), "Drives, links, settings, with advice."),
        ("fathom run qos --time-budget 5m", time(&qos), "How long are the tails, at which load?"),
    ];
    let mut text = "How fast is this storage, what limits it, and what would change that. Begin with:\n\n".to_owned();
    for (command, time, what) in rows {
        text.push_str(&format!("  {command:<32} {time:<19} {what}\n"));
    }
    text.push_str("\nThe answer: fathom show. The page: fathom report. Other studies: fathom studies. All commands: fathom help.\n");
    result(&text);
    Ok(Exit::Done)
}

/// The file of a shipped study; empty where there is none of this name.
fn source(name: &str) -> &'static str {
    builtin_studies().iter().find(|(known, _)| *known == name).map_or("", |(_, text)| *text)
}

/// A shipped study on the current directory.
fn builtin(name: &str) -> Result<Plan, Problem> {
    let text = source(name);
    if text.is_empty() {
        let names: Vec<&str> = builtin_studies().iter().map(|(name, _)| *name).collect();
        return Err(Problem::usage(
            format!("there is no study `{name}`"),
            format!("the studies are {}", names.join(", ")),
        ));
    }
    let overrides = Overrides { targets: vec![".".to_owned()], describe: true, ..Overrides::default() };
    Ok(parse_study(text, &format!("{name}.toml"), &overrides)?)
}

/// What each study asks; all about one where it is named.
pub(crate) fn studies(name: Option<&str>, toml: bool, json: bool) -> Result<Exit, Problem> {
    if let Some(name) = name.filter(|_| toml) {
        builtin(name)?;
        result(source(name));
        return Ok(Exit::Done);
    }
    let rows = match name {
        Some(name) => vec![(name, builtin(name)?)],
        None => {
            let all = builtin_studies().iter().map(|(name, _)| Ok((*name, builtin(name)?)));
            all.collect::<Result<Vec<_>, Problem>>()?
        }
    };
    if json {
        let list: Vec<serde_json::Value> = rows
            .iter()
            .map(|(name, plan)| {
                serde_json::json!({
                    "name": name, "question": say(&plan.study.question_message()), "steps": plan.steps.len(),
                    "time_max_s": plan.time_budget_ns().map(|ns| ns as f64 / 1e9), "writes": plan.is_destructive(),
                })
            })
            .collect();
        result(&to_json(&serde_json::json!({ "studies": list })));
        return Ok(Exit::Done);
    }
    if let (Some(_), [(name, plan)]) = (name, rows.as_slice()) {
        result(&one_study(name, plan));
        return Ok(Exit::Done);
    }
    let mut text = format!("{:<12} {:>5} {:>19}  {:<7} question\n", "study", "steps", "at most", "writes");
    for (name, plan) in &rows {
        let time = preview::time_at_most(plan);
        let writes = if plan.is_destructive() { "yes" } else { "no" };
        let question = say(&plan.study.question_message());
        text.push_str(&format!("{name:<12} {:>5} {time:>19}  {writes:<7} {question}\n", plan.steps.len()));
    }
    if rows.iter().any(|(_, plan)| preview::has_passes(plan)) {
        text.push_str("+ fill: and the passes that fill the drive, as long as it takes.\n");
    }
    text.push_str("More of one: fathom studies NAME. Shorter: fathom run NAME --time-budget 10m.\n");
    result(&text);
    Ok(Exit::Done)
}

/// All about one study: its question, its time, what it writes, its loads, how it is run.
fn one_study(name: &str, plan: &Plan) -> String {
    let mut text = format!("{name} · {}\n", say(&plan.study.question_message()));
    // The head of the file says how the study answers it.
    let about: Vec<&str> =
        source(name).lines().take_while(|l| l.starts_with('#')).map(|l| l.trim_start_matches('#').trim()).collect();
    text.push_str(&fill(&about.join(" "), "  "));
    text.push_str(&preview::totals(plan, 0, 0));
    text.push_str(&preview::steps(plan));
    let takes_members = plan.steps.iter().any(|step| step.targets.iter().any(|target| target.array().is_some()));
    let target = if takes_members { "MEMBER --target MEMBER ..." } else { "DIR-OR-DEVICE" };
    text.push_str(&format!(
        "Run it: fathom run {name} --target {target}\nShorter: fathom run {name} --time-budget 10m\nIts file: fathom studies {name} --toml\n"
    ));
    text
}
