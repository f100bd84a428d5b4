//! `plan` and `studies`: what would be done, without doing it.

use fathom_lab::{ConductOptions, executed_plan, plan_now};
use fathom_plan::{Overrides, builtin_studies, parse_study};
use fathom_units::format_duration_ns;

use super::{existing_lab, run_number, source, to_json};
use crate::args::{Args, PlanArgs};
use crate::exit::{Exit, Problem};
use crate::outlook;
use crate::terminal::result;

/// Steps, time, bytes written, and what would be destroyed or refused.
pub(crate) fn plan(args: &Args, options: &PlanArgs) -> Result<Exit, Problem> {
    let source = source::read(args, &options.source)?;
    // A drive of the run may have another name by now, and another drive its name.
    let plan = match &options.source.resume {
        Some(number) => {
            let lab = existing_lab(args)?;
            plan_now(&lab, run_number(&lab, number)?)?
        }
        None => source.plan,
    };
    if options.json {
        result(&to_json(&plan));
        return Ok(Exit::Done);
    }
    let would = ConductOptions {
        destroy: options.destroy.clone(),
        overwrite_files: source.by_user,
        ..ConductOptions::default()
    };
    // As executed the plan knows its files and the sizes of its drives; where it would be refused, it says why.
    let (executed, refusal) = match executed_plan(&plan, &would) {
        Ok(executed) => (executed, None),
        Err(error) => (plan.clone(), Some(error)),
    };
    let mut text = format!("{} · {}\n", plan.study.name, plan.study.question);
    for note in &plan.notes {
        text.push_str(&format!("note: {note}\n"));
    }
    text.push_str(&outlook::steps(&executed));
    text.push_str(&outlook::totals(&executed));
    text.push_str(&outlook::fates(&plan, &executed.files, &options.destroy));
    if let Some(error) = refusal {
        text.push_str(&format!("It could not be run: {error}\n  help: {}\n", error.help()));
    }
    result(&text);
    Ok(Exit::Done)
}

/// What each study asks.
pub(crate) fn studies(json: bool) -> Result<Exit, Problem> {
    let mut rows = Vec::new();
    for (name, text) in builtin_studies() {
        let overrides = Overrides { targets: vec![".".to_owned()], describe: true, ..Overrides::default() };
        rows.push((*name, parse_study(text, &format!("{name}.toml"), &overrides)?));
    }
    if json {
        let list: Vec<serde_json::Value> = rows
            .iter()
            .map(|(name, plan)| {
                serde_json::json!({
                    "name": name, "question": plan.study.question, "steps": plan.steps.len(),
                    "time_max_s": plan.time_budget_ns().map(|ns| ns as f64 / 1e9), "writes": plan.is_destructive(),
                })
            })
            .collect();
        result(&to_json(&serde_json::json!({ "studies": list })));
        return Ok(Exit::Done);
    }
    let mut text = format!("{:<12} {:>5} {:>14}  {:<7} question\n", "study", "steps", "at most", "writes");
    for (name, plan) in &rows {
        let time = plan.time_budget_ns().map_or("-".to_owned(), format_duration_ns);
        let writes = if plan.is_destructive() { "yes" } else { "no" };
        text.push_str(&format!("{name:<12} {:>5} {time:>14}  {writes:<7} {}\n", plan.steps.len(), plan.study.question));
    }
    result(&text);
    Ok(Exit::Done)
}
