//! `fathom restore`, and what every start does about settings that a killed run left changed.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use fathom_host::Root;
use fathom_host::settings::{Listing, Outcome, Pending, Restored, SettingError, Which, pending, restore_all};
use fathom_lab::{Leftover, Removal, end_own_runs, leftovers, remove_leftovers};
use fathom_message::{Say as _, msg};
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

/// `fathom restore`: settings, and what killed runs left. `interrupted`: this process was the run, and hurries.
pub(crate) fn restore(args: &Args, list: bool, json: bool, interrupted: bool) -> Result<Exit, Problem> {
    let dir = journal_dir();
    if list {
        return listing(args, &dir, json);
    }
    let still_running: Vec<Pending> = pending(&dir).pending.into_iter().filter(|p| p.alive).collect();
    let all = restore_all(&Root::live(), &dir, Which::All);
    // A journal that cannot be read keeps no file, and a lab that cannot be read keeps no setting.
    let removal = removed(args, interrupted);
    let (settings, damaged) = match &all {
        Ok(all) => (&all.settings[..], &all.damaged[..]),
        Err(_) => (&[][..], &[][..]),
    };
    let left = removal.as_ref().map_or(&[][..], |removal| &removal.left[..]);
    let gone = removal.as_ref().map_or(&[][..], |removal| &removal.removed[..]);
    if json {
        let restored: Vec<RestoredView<'_>> = settings.iter().map(view).collect();
        let left: Vec<LeftoverView> = left.iter().map(leftover_view).collect();
        result(&to_json(&serde_json::json!({ "restored": restored, "removed": gone, "left": left })));
    } else {
        let mut text: String = settings.iter().map(|r| outcome_line(r) + "\n").collect();
        text.extend(gone.iter().map(|path| say(&msg!("target-leftover-removed", path = path)) + "\n"));
        text.extend(left.iter().map(leftover_lines));
        if text.is_empty() && all.is_ok() && removal.is_ok() {
            text.push_str("Nothing to restore.\n");
        }
        result(&text);
    }
    for running in &still_running {
        talk(&format!("Left to `{}` (process {}), which still runs: {}", running.command, running.pid, names(running)));
    }
    let failed: Vec<&SettingError> = settings.iter().filter_map(failure).collect();
    failed.iter().for_each(|error| help(error));
    damaged.iter().for_each(warn);
    let is_whole = failed.is_empty() && damaged.is_empty();
    all?;
    removal?;
    Ok(match (interrupted, is_whole) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Done,
        (false, false) => Exit::Failed,
    })
}

fn removed(args: &Args, interrupted: bool) -> Result<Removal, Problem> {
    let Some(mut lab) = super::lab_if_any(args)? else { return Ok(Removal::default()) };
    Ok(if interrupted { end_own_runs(&mut lab)? } else { remove_leftovers(&mut lab)? })
}

/// `fathom restore --list`: what [`restore`] would do, and what it would leave.
fn listing(args: &Args, dir: &Path, json: bool) -> Result<Exit, Problem> {
    let Listing { pending: settings, damaged } = pending(dir);
    let left = super::lab_if_any(args)?.map(|lab| leftovers(&lab)).transpose()?.unwrap_or_default();
    if json {
        let left: Vec<LeftoverView> = left.iter().map(leftover_view).collect();
        result(&to_json(&serde_json::json!({ "pending": settings, "leftovers": left })));
    } else {
        let text = listed(&settings) + &left.iter().map(leftover_lines).collect::<String>();
        result(if text.is_empty() { "Nothing to restore.\n" } else { &text });
    }
    damaged.iter().for_each(warn);
    Ok(if damaged.is_empty() { Exit::Done } else { Exit::Failed })
}

/// Leftover as `--json` prints it.
#[derive(Serialize)]
struct LeftoverView {
    path: PathBuf,
    run: Option<i64>,
    state: &'static str,
}

fn leftover_view(leftover: &Leftover) -> LeftoverView {
    LeftoverView { path: leftover.path.clone(), run: leftover.run.map(|run| run.0), state: leftover.state.word() }
}

fn leftover_lines(leftover: &Leftover) -> String {
    let help = leftover.help().map_or_else(String::new, |help| format!("  help: {}\n", say(&help)));
    format!("{}\n{help}", say(&leftover.message()))
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
    text
}
