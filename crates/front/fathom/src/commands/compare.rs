//! `compare`: runs against each other, or the sides of one run.

use fathom_judge::compare::{compare_arms, compare_runs};
use fathom_judge::document::{ComparedStep, Comparison, Design, Document};
use fathom_lab::{past_runs, run_before};
use fathom_store::{Lab, RunId};
use fathom_units::parse_pct;

use super::output::{Output, write_comparison};
use super::{document, existing_lab, must_be_measured, run_number, to_json};
use crate::args::{Args, CompareArgs};
use crate::comparison;
use crate::exit::{Exit, Problem};
use crate::terminal::{result, say, talk};

/// Most labels named in a refusal.
const NAMED_MAX: usize = 4;

/// Compares, prints, and judges for `--fail-if-slower`.
pub(crate) fn compare(args: &Args, options: &CompareArgs) -> Result<Exit, Problem> {
    let margin_pct = percent("--margin", &options.margin)?;
    let limit_pct = options.fail_if_slower.as_deref().map(|text| percent("--fail-if-slower", text)).transpose()?;
    if let Some(limit) = limit_pct.filter(|limit| *limit < margin_pct) {
        return Err(Problem::usage(
            format!(
                "--fail-if-slower {limit}% lies within the margin of {margin_pct}%, where figures count as the same"
            ),
            format!("narrow the margin too: --margin {limit}%"),
        ));
    }
    let lab = existing_lab(args)?;
    let comparison = compared(&lab, &options.runs, margin_pct)?;
    if let Some(path) = &options.output {
        write_comparison(&comparison, args.lang, Output { path, force: options.force })?;
        talk(&format!("Report: {}", path.display()));
    }
    result(&match (options.json, options.details) {
        (true, _) => to_json(&comparison),
        (false, true) => comparison::text(&comparison),
        (false, false) => comparison::first_look(&comparison),
    });
    let Some(limit) = limit_pct else { return Ok(Exit::Done) };
    if let Some(message) = fault(&comparison, limit) {
        return Err(Problem::new(Exit::Failed, message, fault_help(&comparison, limit)));
    }
    match open(&comparison, limit) {
        Some(message) => Err(Problem::new(Exit::Inconclusive, message, open_help(&comparison, limit))),
        None => Ok(Exit::Done),
    }
}

fn percent(flag: &str, text: &str) -> Result<f64, Problem> {
    parse_pct(text).map_err(|e| Problem::of_flag(flag, &e))
}

fn compared(lab: &Lab, names: &[String], margin_pct: f64) -> Result<Comparison, Problem> {
    let mut numbers = Vec::new();
    let mut sides = Vec::new();
    for side in names {
        let mut documents = Vec::new();
        for name in side.split(',') {
            let number = run_number(lab, name)?;
            if numbers.contains(&number) {
                return Err(Problem::usage(
                    format!("run {} is named twice: a run does not differ from itself", number.0),
                    "name different runs (fathom list); one run alone has its own sides compared",
                ));
            }
            numbers.push(number);
            documents.push(number);
        }
        sides.push(documents);
    }
    let load_side = |side: Vec<RunId>| side.into_iter().map(|number| document(lab, number)).collect();
    let sides = sides.into_iter().map(load_side).collect::<Result<Vec<Vec<Document>>, Problem>>()?;
    let documents: Vec<&Document> = sides.iter().flatten().collect();
    documents.iter().try_for_each(|document| must_be_measured(document.run.id, &document.host))?;
    if let [only] = &documents[..] {
        if let Some(comparison) = compare_arms(only, margin_pct) {
            return Ok(comparison);
        }
        let before = run_before(lab, RunId(only.run.id))?.ok_or_else(|| {
            Problem::usage(
                format!(
                    "run {} has one side only, and no run before it did the same study on the same targets",
                    only.run.id
                ),
                "name a second run, or measure both sides in turns: fathom run STUDY --versus KEY=VALUE",
            )
        })?;
        let before = document(lab, before)?;
        must_be_measured(before.run.id, &before.host)?;
        let past = past_runs(lab, &[&before, only])?;
        return compare_runs(&[vec![&before], vec![only]], &past, margin_pct).map_err(|e| Problem::of(Exit::Usage, &e));
    }
    let past = past_runs(lab, &documents)?;
    let sides: Vec<Vec<&Document>> = sides.iter().map(|side| side.iter().collect()).collect();
    compare_runs(&sides, &past, margin_pct).map_err(|e| Problem::of(Exit::Usage, &e))
}

/// What is worse than `limit_pct` allows; `None`: nothing.
fn fault(comparison: &Comparison, limit_pct: f64) -> Option<String> {
    let slower: Vec<String> = comparison
        .slower_by(limit_pct / 100.0)
        .map(|s| format!("{} ({})", s.label, comparison::change(s.ratio, s.ci95)))
        .collect();
    let lost: Vec<String> = comparison.lost().map(|u| format!("{} ({})", u.label, say(&u.why))).collect();
    let mut parts = Vec::new();
    if !slower.is_empty() {
        parts.push(format!("{} slower by more than {limit_pct} %: {}", counted(slower.len()), listed(&slower)));
    }
    if !lost.is_empty() {
        parts.push(format!("{} could not be measured again: {}", counted(lost.len()), listed(&lost)));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What to do about it.
fn fault_help(comparison: &Comparison, limit_pct: f64) -> String {
    let run = match &comparison.sides[..] {
        [_, other] => other.run.to_string(),
        _ => "RUN".to_owned(),
    };
    let slower: Vec<Design> = comparison.slower_by(limit_pct / 100.0).map(|s| s.design).collect();
    let mut parts = Vec::new();
    if slower.contains(&Design::Unpaired) {
        parts.push(
            "to see what changes with the side alone, measure both sides in turns: fathom run STUDY --versus KEY=VALUE"
                .to_owned(),
        );
    } else if !slower.is_empty() {
        parts.push(format!("measured in turns, so not by drift; each figure of it: fathom show {run}"));
    }
    if comparison.lost().next().is_some() {
        parts.push(format!("what to do about a step that was refused or failed stands with it: fathom show {run}"));
    }
    parts.join("; ")
}

/// What is neither shown to be slower than `limit_pct` allows nor shown not to be; `None`: nothing.
fn open(comparison: &Comparison, limit_pct: f64) -> Option<String> {
    let open: Vec<&ComparedStep> = comparison.open_beyond(limit_pct / 100.0).collect();
    let first = open.first()?;
    let named: Vec<String> =
        open.iter().map(|s| format!("{} ({})", s.label, comparison::change(s.ratio, s.ci95))).collect();
    let what = if open.len() == 1 { "1 step".to_owned() } else { format!("{} steps", open.len()) };
    let mut message = format!("inconclusive: {what} may be slower by more than {limit_pct} %: {}", listed(&named));
    if let Some(why) = first.inconclusive.as_ref().filter(|_| first.ci95.is_none()) {
        message.push_str(&format!("; {}", say(why)));
    }
    Some(message)
}

/// How to settle it.
fn open_help(comparison: &Comparison, limit_pct: f64) -> String {
    if comparison.open_beyond(limit_pct / 100.0).all(|s| s.design == Design::Paired) {
        return "measure longer, or in more blocks: what was measured in turns does not tell it yet".to_owned();
    }
    let reference = comparison.sides.first().map_or(0, |s| s.run);
    format!(
        "repeat each side (fathom run --like {reference}) and name all its runs, three or more: \
         fathom compare 1,2,3 4,5,6; or measure both sides in turns: fathom run STUDY --versus KEY=VALUE"
    )
}

fn counted(steps: usize) -> String {
    if steps == 1 { "1 step is".to_owned() } else { format!("{steps} steps are") }
}

fn listed(names: &[String]) -> String {
    match names.len().checked_sub(NAMED_MAX) {
        Some(more) if more > 0 => format!("{} and {more} more", names[..NAMED_MAX].join(", ")),
        _ => names.join(", "),
    }
}
