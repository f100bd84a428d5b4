//! `plan`: what would be done, without doing it.

use fathom_lab::{
    ConductError, ConductOptions, TargetError, executed_plan, goal_search_ns, refused_writes, resumed_plan,
};
use fathom_language::Language;
use fathom_message::{Place, Say};

use super::{existing_lab, lab_if_any, lab_path, run_number, source, to_json};
use crate::args::{Args, PlanArgs};
use crate::exit::{Exit, Problem};
use crate::preview;
use crate::terminal::{result, say};

/// Steps, time, bytes written, and what would be destroyed or refused.
pub(crate) fn plan(args: &Args, options: &PlanArgs) -> Result<Exit, Problem> {
    let would = ConductOptions {
        destroy: options.destroy.clone(),
        allow_unbind: options.allow_unbind.clone(),
        without_iommu: super::nvme::without(options.no_iommu_i_accept_any_write_to_memory),
        overwrite: options.overwrite,
        lab_path: lab_path(args)?,
        ..ConductOptions::default()
    };
    let mut plan = source::read(args, &options.source, !options.allow_unbind.is_empty())?;
    let lab = lab_if_any(args)?;
    let mut begun = false;
    // As executed the plan knows its files and the sizes of its drives; where it would be refused, it says why.
    let executed = match &options.source.resume {
        Some(number) => {
            let lab = existing_lab(args)?;
            // A drive of the run may have another name by now, and another drive its name.
            let resumed = resumed_plan(&lab, run_number(&lab, number)?, &would)?;
            plan = resumed.plan;
            begun = resumed.begun;
            resumed.files.map(|files| (plan.clone(), files))
        }
        None => executed_plan(&plan, &would, lab.as_ref()),
    };
    if options.json {
        result(&to_json(&plan));
        return Ok(Exit::Done);
    }
    let (executed, files, refusal) = match executed {
        Ok((executed, files)) => (executed, files, None),
        Err(error) => (plan.clone(), Vec::new(), Some(error)),
    };
    let mut text = format!("{} · {}\n", plan.study.name, say(&plan.question_message()));
    for note in &plan.notes {
        text.push_str(&format!("note: {}\n", say(note)));
    }
    text.push_str(&preview::steps(&executed));
    let is_budgeted = options.source.time_budget.is_some();
    let searches_ns = if is_budgeted { 0 } else { goal_search_ns(&executed) };
    text.push_str(&preview::totals(&executed, files.iter().map(|f| f.bytes).sum(), searches_ns));
    text.push_str(&preview::effects(&plan, &files, &refused_writes(&plan, &would, lab.as_ref(), begun)?));
    if let Some(error) = refusal {
        let place = match &error {
            ConductError::Target(TargetError::Machine(error)) => error.place.clone(),
            _ => Place::default(),
        };
        let why = Language::English.say_at(&place, &error.message(), error.help().as_ref());
        text.push_str(&format!("It could not be run: {why}\n"));
    }
    result(&text);
    Ok(Exit::Done)
}
