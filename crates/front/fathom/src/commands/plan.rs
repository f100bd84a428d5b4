//! `plan` and `studies`: what would be done, without doing it.

use std::path::Path;

use fathom_host::{Root, check_write_target};
use fathom_plan::{Overrides, Plan, builtin_studies, parse_study};
use fathom_units::{format_bytes, format_duration_ns};

use super::{source, to_json};
use crate::args::{Args, PlanArgs};
use crate::exit::{Exit, Problem};
use crate::terminal::result;

/// Steps, time, bytes written, and what would be refused.
pub(crate) fn plan(args: &Args, options: &PlanArgs) -> Result<Exit, Problem> {
    let plan = source::read(args, &options.source)?.plan;
    if options.json {
        result(&to_json(&plan));
        return Ok(Exit::Done);
    }
    let mut text = format!("{} · {}\n", plan.study.name, plan.study.question);
    for note in &plan.notes {
        text.push_str(&format!("note: {note}\n"));
    }
    text.push_str(&format!(
        " {:>4}  {:<34} {:<10} {:<10} {:>10} {:>10}  targets\n",
        "step", "load", "engine", "placement", "at least", "at most"
    ));
    for step in &plan.steps {
        let targets: Vec<&str> = step.targets.iter().map(|t| t.path.as_str()).collect();
        text.push_str(&format!(
            " {:>4}  {:<34} {:<10} {:<10} {:>10} {:>10}  {}\n",
            step.index,
            step.label,
            step.engine.name.as_str(),
            format!("{:?}", step.placement).to_lowercase(),
            format_duration_ns(step.length.ramp_ns + step.length.floor_ns),
            format_duration_ns(step.length.ramp_ns + step.length.budget_ns),
            targets.join(", ")
        ));
    }
    text.push_str(&totals(&plan));
    result(&text);
    Ok(Exit::Done)
}

fn totals(plan: &Plan) -> String {
    let time = plan.time_budget_ns().map_or("as long as its passes take".to_owned(), format_duration_ns);
    let written = match plan.bytes_written_max_estimate() {
        Some(0) => "nothing".to_owned(),
        Some(bytes) => format!("at most {}", format_bytes(bytes)),
        None => "as much as the target takes in that time".to_owned(),
    };
    let mut text =
        format!("{} steps · {time} at most, laying out files not counted · written: {written}\n", plan.steps.len());
    let mut targets: Vec<&str> = plan.steps.iter().flat_map(|s| &s.targets).map(|t| t.path.as_str()).collect();
    targets.sort_unstable();
    targets.dedup();
    for target in targets {
        text.push_str(&format!(" {target}: {}\n", fate(plan, target)));
    }
    text
}

/// What happens to a target, in words.
fn fate(plan: &Plan, target: &str) -> String {
    let writes =
        plan.steps.iter().any(|s| s.workload.mix.is_destructive() && s.targets.iter().any(|t| t.path == target));
    let path = Path::new(target);
    match std::fs::metadata(path) {
        Ok(m) if m.is_dir() => "a file is made in this directory and removed at the end".into(),
        Ok(m) if m.is_file() && writes => "this existing file is overwritten in place".into(),
        Ok(m) if m.is_file() => "read only".into(),
        Ok(_) if !writes => "read only".into(),
        Ok(_) => match check_write_target(&Root::live(), path, &[]) {
            Ok(_) => "its content is destroyed".into(),
            Err(refusal) => format!("would be refused: {refusal} ({})", refusal.help),
        },
        Err(_) if target.starts_with("sim:") => "simulated: no real device is read or written".into(),
        Err(_) if target == "null" => "no I/O at all".into(),
        Err(_) => "this file is made and removed at the end".into(),
    }
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
