//! `fathom restore`, and what every start does about settings that a killed run left changed.

use std::fmt::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fathom_host::Root;
use fathom_host::settings::{Outcome, Pending, Restored, SettingError, Which, pending, restore_all};
use serde::Serialize;

use super::to_json;
use crate::exit::{Exit, Problem};
use crate::terminal::{result, talk, warning_word};

/// Where root's journals are, whatever home directory sudo hands on.
const ROOT_JOURNALS: &str = "/var/lib/fathom/journal";

/// Folder of the journals: `FATHOM_JOURNAL`, else one for the whole machine when root, else in the user's data
/// directory (who is not root can change little).
pub(crate) fn journal_dir() -> PathBuf {
    if let Some(dir) = std::env::var_os("FATHOM_JOURNAL").filter(|v| !v.is_empty()) {
        return PathBuf::from(dir);
    }
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|m| m.uid() == 0);
    let data = super::data_dir().filter(|_| !is_root);
    data.map_or_else(|| PathBuf::from(ROOT_JOURNALS), |data| data.join("fathom").join("journal"))
}

/// Before a measurement: brings back what a killed run left changed, and says so.
pub(crate) fn restore_abandoned() {
    let dir = journal_dir();
    match restore_all(&Root::live(), &dir, Which::Abandoned) {
        Ok(all) => all.iter().for_each(|r| talk(&format!("left changed by a run that was killed: {}", told(r)))),
        Err(error) => warn(&error),
    }
    if dir != Path::new(ROOT_JOURNALS) && std::env::var_os("FATHOM_JOURNAL").is_none() {
        tell(Path::new(ROOT_JOURNALS));
    }
}

/// Before a look: says what a killed run left changed.
pub(crate) fn tell_abandoned() {
    tell(&journal_dir());
}

fn tell(dir: &Path) {
    match pending(dir) {
        Ok(all) => {
            for left in all.iter().filter(|p| !p.alive && !p.kept) {
                let what = names(left);
                let whose = format!("`{}` (process {}) was killed and left changed", left.command, left.pid);
                talk(&format!("{}: {whose}: {what}", warning_word()));
                talk("  help: fathom restore");
            }
        }
        Err(error) => warn(&error),
    }
}

fn names(left: &Pending) -> String {
    let name = |c: &fathom_host::settings::PendingChange| format!("{} ({} instead of {})", c.setting, c.to, c.from);
    left.changes.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn warn(error: &SettingError) {
    talk(&format!("{}: {error}", warning_word()));
    talk(&format!("  help: {}", error.help()));
}

impl From<SettingError> for Problem {
    fn from(error: SettingError) -> Self {
        let exit = match error {
            SettingError::UnknownWord { .. } | SettingError::Form { .. } | SettingError::Value { .. } => Exit::Usage,
            _ => Exit::Failed,
        };
        Problem::new(exit, error.to_string(), error.help())
    }
}

/// What `--json` prints of one change.
#[derive(Serialize)]
struct Told<'a> {
    setting: String,
    from: &'a str,
    to: &'a str,
    restored: bool,
    detail: Option<String>,
}

/// `fathom restore`.
pub(crate) fn restore(list: bool, json: bool) -> Result<Exit, Problem> {
    let dir = journal_dir();
    let before = pending(&dir)?;
    if list {
        let text = if json { to_json(&serde_json::json!({ "pending": before })) } else { listed(&before) };
        result(&text);
        return Ok(Exit::Done);
    }
    let all = restore_all(&Root::live(), &dir, Which::All)?;
    if json {
        let told: Vec<Told<'_>> = all.iter().map(told_in_json).collect();
        result(&to_json(&serde_json::json!({ "restored": told })));
    } else {
        let mut text: String = all.iter().map(|r| told(r) + "\n").collect();
        if all.is_empty() {
            text.push_str("Nothing to restore.\n");
        }
        result(&text);
    }
    for running in before.iter().filter(|p| p.alive) {
        talk(&format!("Left to `{}` (process {}), which still runs: {}", running.command, running.pid, names(running)));
    }
    let failed: Vec<&SettingError> = all.iter().filter_map(failure).collect();
    failed.iter().for_each(|error| talk(&format!("  help: {}", error.help())));
    Ok(if failed.is_empty() { Exit::Done } else { Exit::Failed })
}

fn failure(restored: &Restored) -> Option<&SettingError> {
    match &restored.outcome {
        Outcome::Failed(error) => Some(error),
        Outcome::Restored | Outcome::Dropped(_) => None,
    }
}

fn told(restored: &Restored) -> String {
    let Restored { setting, from, to, outcome } = restored;
    match outcome {
        Outcome::Restored => format!("{setting}: {to} -> {from}"),
        Outcome::Dropped(why) => format!("{setting}: nothing to do, {why}"),
        Outcome::Failed(error) => error.to_string(),
    }
}

fn told_in_json(restored: &Restored) -> Told<'_> {
    let detail = match &restored.outcome {
        Outcome::Restored => None,
        Outcome::Dropped(why) => Some(why.to_string()),
        Outcome::Failed(error) => Some(error.to_string()),
    };
    Told {
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
            let _ = writeln!(text, "  {}: {} instead of {}", change.setting, change.to, change.from);
        }
    }
    if text.is_empty() { "Nothing to restore.\n".to_owned() } else { text }
}
