//! `fathom restore`, and what every start does about settings that a killed run left changed.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use fathom_host::Root;
use fathom_host::settings::{Listing, Outcome, Pending, Restored, SettingError, Which, pending, restore_all};
use fathom_lab::{end_own_runs, remove_left_files};
use fathom_message::Say as _;
use serde::Serialize;

use super::to_json;
use crate::args::Args;
use crate::exit::{Exit, Problem};
use crate::terminal::{result, say, talk, warning_word};

/// Where root's journals are, whatever home directory sudo hands on.
const ROOT_JOURNALS: &str = "/var/lib/fathom/journal";

/// Folder of the journals: `FATHOM_JOURNAL`, else one for the whole machine when root, else in the user's data
/// directory (who is not root can change little).
pub(crate) fn journal_dir() -> PathBuf {
    if let Some(dir) = std::env::var_os("FATHOM_JOURNAL").filter(|v| !v.is_empty()) {
        return PathBuf::from(dir);
    }
    let is_root = crate::system::is_root();
    let data = super::data_dir().filter(|_| !is_root);
    data.map_or_else(|| PathBuf::from(ROOT_JOURNALS), |data| data.join("fathom").join("journal"))
}

/// Before a measurement: brings back what a killed run left changed, and says so.
pub(crate) fn restore_abandoned() {
    let dir = journal_dir();
    match restore_all(&Root::live(), &dir, Which::Abandoned) {
        Ok(all) => {
            all.settings
                .iter()
                .for_each(|r| talk(&format!("left changed by a run that was killed: {}", outcome_line(r))));
            all.damaged.iter().for_each(warn);
        }
        Err(error) => warn(&error),
    }
    if dir != Path::new(ROOT_JOURNALS) && std::env::var_os("FATHOM_JOURNAL").is_none() {
        warn_of_changes(Path::new(ROOT_JOURNALS));
    }
}

/// Before a look: says what a killed run left changed.
pub(crate) fn warn_of_abandoned() {
    warn_of_changes(&journal_dir());
}

fn warn_of_changes(dir: &Path) {
    let Listing { pending: all, damaged } = pending(dir);
    for left in all.iter().filter(|p| !p.alive && !p.kept) {
        let what = names(left);
        let whose = format!("`{}` (process {}) was killed and left changed", left.command, left.pid);
        talk(&format!("{}: {whose}: {what}", warning_word()));
        talk("  help: fathom restore");
    }
    damaged.iter().for_each(warn);
}

fn names(left: &Pending) -> String {
    let name = |c: &fathom_host::settings::PendingChange| {
        format!("{} ({} instead of {})", say(&c.setting.message()), c.to, c.from)
    };
    left.changes.iter().map(name).collect::<Vec<_>>().join(", ")
}

pub(super) fn warn(error: &SettingError) {
    talk(&format!("{}: {}", warning_word(), say(&error.message())));
    help(error);
}

pub(super) fn help(error: &SettingError) {
    error.help().iter().for_each(|help| talk(&format!("  help: {}", say(help))));
}

impl From<SettingError> for Problem {
    fn from(error: SettingError) -> Self {
        let exit = match error {
            SettingError::UnknownWord { .. } | SettingError::Form { .. } | SettingError::Value { .. } => Exit::Usage,
            _ => Exit::Failed,
        };
        Problem::of(exit, &error)
    }
}

/// What `--json` prints of one change.
#[derive(Serialize)]
pub(super) struct RestoredView<'a> {
    setting: String,
    from: &'a str,
    to: &'a str,
    restored: bool,
    detail: Option<String>,
}

/// `fathom restore`: settings, and test files of killed runs. `interrupted`: this process was the run, and hurries.
pub(crate) fn restore(args: &Args, list: bool, json: bool, interrupted: bool) -> Result<Exit, Problem> {
    let dir = journal_dir();
    let settings = restore_settings(&dir, list, json);
    let files = if list { Ok(()) } else { remove_files(args, interrupted) };
    let exit = settings?;
    files?;
    Ok(if interrupted { Exit::Interrupted } else { exit })
}

fn remove_files(args: &Args, interrupted: bool) -> Result<(), Problem> {
    let Some(mut lab) = super::lab_if_any(args)? else { return Ok(()) };
    let removed = if interrupted { end_own_runs(&mut lab)? } else { remove_left_files(&mut lab)? };
    removed.iter().for_each(|path| talk(&format!("removed {}, left by a run that was killed", path.display())));
    Ok(())
}

fn restore_settings(dir: &Path, list: bool, json: bool) -> Result<Exit, Problem> {
    let Listing { pending: before, damaged } = pending(dir);
    if list {
        let text = if json { to_json(&serde_json::json!({ "pending": before })) } else { listed(&before) };
        result(&text);
        damaged.iter().for_each(warn);
        return Ok(if damaged.is_empty() { Exit::Done } else { Exit::Failed });
    }
    let all = restore_all(&Root::live(), dir, Which::All)?;
    if json {
        let restored: Vec<RestoredView<'_>> = all.settings.iter().map(view).collect();
        result(&to_json(&serde_json::json!({ "restored": restored })));
    } else {
        let mut text: String = all.settings.iter().map(|r| outcome_line(r) + "\n").collect();
        if all.settings.is_empty() {
            text.push_str("Nothing to restore.\n");
        }
        result(&text);
    }
    for running in before.iter().filter(|p| p.alive) {
        talk(&format!("Left to `{}` (process {}), which still runs: {}", running.command, running.pid, names(running)));
    }
    let failed: Vec<&SettingError> = all.settings.iter().filter_map(failure).collect();
    failed.iter().for_each(|error| help(error));
    all.damaged.iter().for_each(warn);
    Ok(if failed.is_empty() && all.damaged.is_empty() { Exit::Done } else { Exit::Failed })
}

pub(super) fn failure(restored: &Restored) -> Option<&SettingError> {
    match &restored.outcome {
        Outcome::Failed(error) => Some(error),
        Outcome::Restored | Outcome::Dropped(_) => None,
    }
}

pub(super) fn outcome_line(restored: &Restored) -> String {
    let Restored { setting, from, to, outcome } = restored;
    let setting = say(&setting.message());
    match outcome {
        Outcome::Restored => format!("{setting}: {to} -> {from}"),
        Outcome::Dropped(why) => format!("{setting}: nothing to do, {}", say(&why.message())),
        Outcome::Failed(error) => say(&error.message()),
    }
}

pub(super) fn view(restored: &Restored) -> RestoredView<'_> {
    let detail = match &restored.outcome {
        Outcome::Restored => None,
        Outcome::Dropped(why) => Some(say(&why.message())),
        Outcome::Failed(error) => Some(say(&error.message())),
    };
    RestoredView {
        setting: restored.setting.to_string(),
        from: &restored.from,
        to: &restored.to,
        restored: matches!(restored.outcome, Outcome::Restored),
        detail,
    }
}

fn listed(all: &[Pending]) -> String {
    let mut text = String::new();
    for left in all {
        let state = match (left.alive, left.kept) {
            (true, _) => "still runs",
            (false, true) => "meant them to stay",
            (false, false) => "was killed",
        };
        let _ = writeln!(text, "`{}` (process {}) {state}", left.command, left.pid);
        for change in &left.changes {
            let _ = writeln!(text, "  {}: {} instead of {}", say(&change.setting.message()), change.to, change.from);
        }
    }
    if text.is_empty() { "Nothing to restore.\n".to_owned() } else { text }
}
