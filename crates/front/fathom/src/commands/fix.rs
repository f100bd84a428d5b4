//! `fathom inspect --fix`: what following the advice would change, and with `--yes`, or a yes, the changes themselves.

use std::io::{IsTerminal, Write};

use fathom_host::Root;
use fathom_host::settings::{Applied, Change, Done, Journal, Setting, SettingError};
use fathom_inspect::{Advice, FIXABLE, Fix, Inventory, fixes};
use fathom_message::Say as _;
use serde::Serialize;

use super::to_json;
use crate::exit::{Exit, Problem};
use crate::terminal::{result, say, talk, warning_word};

/// How `--fix` is asked for.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    /// Rules to follow; empty: all that can be.
    pub(super) rules: &'a [String],
    /// Whether the user said yes beforehand.
    pub(super) yes: bool,
    pub(super) json: bool,
}

/// One setting, as `--fix --json` prints it.
#[derive(Serialize)]
struct Row {
    rule: String,
    setting: String,
    from: String,
    to: String,
}

impl Row {
    fn new(rule: &str, setting: &Setting, from: &str, to: &str) -> Row {
        Row { rule: rule.to_owned(), setting: say(&setting.message()), from: from.to_owned(), to: to.to_owned() }
    }

    fn line(&self) -> String {
        format!("{}: {}: {} -> {}\n", self.rule, self.setting, self.from, self.to)
    }
}

/// What became of some rules: settings of those that went well, and why others did not.
#[derive(Default)]
struct Outcome {
    rows: Vec<Row>,
    failures: Vec<(String, SettingError)>,
}

/// Shows what would change; changes it under the journal once the user has said yes.
pub(super) fn fix(root: &Root, inventory: &Inventory, advice: &[Advice], asked: Asked<'_>) -> Result<Exit, Problem> {
    if let Some(unknown) = asked.rules.iter().find(|r| !FIXABLE.contains(&&***r)) {
        let help = match fathom_units::nearest(unknown, &FIXABLE) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("rules that can be followed while the machine runs: {}", FIXABLE.join(", ")),
        };
        return Err(Problem::usage(format!("--fix: there is no fix for {}", fathom_inspect::clean(unknown)), help));
    }
    let fixes = fixes(root, inventory, advice, asked.rules);
    let (planned, wanted) = plan(root, fixes);
    let is_yes = asked.yes || (!planned.rows.is_empty() && !asked.json && agrees(&planned.rows));
    let outcome = if is_yes { apply(root, &wanted, planned.failures) } else { planned };
    show(&outcome, is_yes, asked);
    for (rule, error) in &outcome.failures {
        let why = say(&error.message());
        talk(&format!("{}: {rule} cannot be followed: {why}", warning_word()));
        error.help().iter().for_each(|help| talk(&format!("  help: {}", say(help))));
    }
    Ok(if outcome.failures.is_empty() { Exit::Done } else { Exit::Failed })
}

/// What would change, and the changes by rule: those of a rule are made whole or not at all.
fn plan(root: &Root, fixes: Vec<Fix>) -> (Outcome, Vec<(String, Vec<Change>)>) {
    let (mut planned, mut wanted) = (Outcome::default(), Vec::new());
    for fix in fixes {
        let with_present = fix.changes.and_then(|changes| {
            let present = changes.iter().map(|c| c.setting.read(root)).collect::<Result<Vec<String>, _>>()?;
            Ok((changes, present))
        });
        match with_present {
            Err(error) => planned.failures.push((fix.rule, error)),
            Ok((changes, present)) => {
                let differing = changes.iter().zip(&present).filter(|(c, from)| !c.setting.same(from, &c.value));
                planned.rows.extend(differing.map(|(c, from)| Row::new(&fix.rule, &c.setting, from, &c.value)));
                wanted.push((fix.rule, changes));
            }
        }
    }
    (planned, wanted)
}

fn apply(root: &Root, wanted: &[(String, Vec<Change>)], failures: Vec<(String, SettingError)>) -> Outcome {
    let journal = Journal::open_kept(root, super::restore::journal_dir(), "fathom inspect --fix");
    let mut outcome = Outcome { rows: Vec::new(), failures };
    for (rule, changes) in wanted {
        match journal.apply_all(changes) {
            Err(error) => outcome.failures.push((rule.clone(), error)),
            Ok(applied) => outcome.rows.extend(kept(rule, applied)),
        }
    }
    outcome
}

/// The settings of a rule that was followed; they stay until `fathom restore`.
fn kept(rule: &str, applied: Applied) -> Vec<Row> {
    let rows = applied.done().iter().map(|d: &Done| Row::new(rule, &d.setting, &d.from, &d.to)).collect();
    applied.keep();
    rows
}

/// Asks on a terminal; elsewhere nobody is there to say yes.
fn agrees(rows: &[Row]) -> bool {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return false;
    }
    talk("This would be changed until `fathom restore`, or the next start of the machine:");
    rows.iter().for_each(|row| talk(&format!("  {}", row.line().trim_end())));
    let _ = write!(std::io::stderr(), "Change it? [y/N] ");
    let mut word = String::new();
    std::io::stdin().read_line(&mut word).is_ok() && matches!(word.trim(), "y" | "Y" | "yes")
}

fn show(outcome: &Outcome, is_done: bool, asked: Asked<'_>) {
    if asked.json {
        let key = if is_done { "fixed" } else { "would_fix" };
        return result(&to_json(&serde_json::json!({ key: outcome.rows })));
    }
    let mut text: String = outcome.rows.iter().map(Row::line).collect();
    text.push_str(match (outcome.rows.is_empty(), is_done) {
        (true, true) => "Nothing was changed.\n",
        (true, false) => "There is nothing to change.\n",
        (false, true) => "Undo: fathom restore\n",
        (false, false) => "Nothing was changed. To change it: the same command with --yes\n",
    });
    result(&text);
}
