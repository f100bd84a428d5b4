//! `compare`: runs against each other, or the sides of one run.

use fathom_judge::compare::{compare_arms, compare_runs};
use fathom_judge::document::{Comparison, Document};
use fathom_store::Lab;
use fathom_units::parse_pct;

use super::output::{Output, write_comparison};
use super::{existing_lab, load, run_number, to_json};
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
    result(&if options.json { to_json(&comparison) } else { comparison::text(&comparison) });
    match limit_pct.and_then(|limit| Some((fault(&comparison, limit)?, limit))) {
        Some((message, limit)) => Err(Problem::new(Exit::Failed, message, fault_help(&comparison, limit))),
        None => Ok(Exit::Done),
    }
}

fn percent(flag: &str, text: &str) -> Result<f64, Problem> {
    parse_pct(text).map_err(|e| Problem::of_flag(flag, &e))
}

fn compared(lab: &Lab, names: &[String], margin_pct: f64) -> Result<Comparison, Problem> {
    let mut numbers = Vec::new();
    for name in names {
        let number = run_number(lab, name)?;
        if numbers.contains(&number) {
            return Err(Problem::usage(
                format!("run {} is named twice: a run does not differ from itself", number.0),
                "name different runs (fathom list); one run alone has its own sides compared",
            ));
        }
        numbers.push(number);
    }
    let documents = names.iter().map(|name| load(lab, name)).collect::<Result<Vec<Document>, Problem>>()?;
    if let [only] = &documents[..] {
        return compare_arms(only, margin_pct).ok_or_else(|| {
            Problem::usage(
                format!("run {} has one side only: it measured nothing in turns", only.run.id),
                "name a second run, or measure both sides in turns: fathom run STUDY --versus KEY=VALUE",
            )
        });
    }
    compare_runs(&documents.iter().collect::<Vec<_>>(), margin_pct).map_err(|e| Problem::of(Exit::Usage, &e))
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
    let slower: Vec<&str> = comparison.slower_by(limit_pct / 100.0).map(|s| s.design.as_str()).collect();
    let mut parts = Vec::new();
    if slower.contains(&"unpaired") {
        parts.push(
            "to rule out what changes from run to run, measure both sides in turns: fathom run STUDY --versus KEY=VALUE"
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

fn counted(steps: usize) -> String {
    if steps == 1 { "1 step is".to_owned() } else { format!("{steps} steps are") }
}

fn listed(names: &[String]) -> String {
    match names.len().checked_sub(NAMED_MAX) {
        Some(more) if more > 0 => format!("{} and {more} more", names[..NAMED_MAX].join(", ")),
        _ => names.join(", "),
    }
}
