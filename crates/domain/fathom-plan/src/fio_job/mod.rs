//! fio job files: read with fio's own defaults, so that the same job gives the same load, and written back.
//!
//! fio runs the sections of a file at once unless `stonewall` or `wait_for` parts them: so do streams here. Sections that are equal but
//! for their files are one step, or one stream, over several targets.

mod command_line;
mod files;
mod foreign;
mod ini;
mod job;
mod keys;
mod options;
mod order;
mod remarks;
mod replay;
mod units;
mod write;

use std::collections::BTreeMap;

use fathom_message::{Arg, Join, Message, msg};

use crate::error::SourceError;
use crate::knobs;
use crate::plan::{Plan, StudyHead};
use crate::role::NewFile;
use crate::step::{Step, TargetId};
use crate::stream::{at_once, name_streams};
use crate::study::{STEPS_MAX, number};
use ini::{Entry, Section, Source};
use keys::{Treatment, canonical};

pub use command_line::{FioCommandError, FioCommandLine, FioFormat, fio_command_line};
pub use options::{FioKnobs, fio_options, knobs_from_fio};
pub use units::{fio_bytes, fio_file_name, fio_file_names, fio_rates};
pub use write::{fio_command, fio_job_text, fio_remarks};

/// The keys in force for a section, under fio's first names.
type Keys<'a> = BTreeMap<&'a str, &'a Entry>;

/// A section with the `[global]` keys before it.
struct Job<'a> {
    section: &'a Section,
    keys: Keys<'a>,
}

/// Reads an fio job file. `env` gives the value of `${VAR}`.
///
/// # Errors
/// Anything that cannot be run as fio would, with its line: unknown keys (with the nearest word), keys that
/// Fathom refuses (with the reason and a remedy), unsupported engines.
pub fn parse_fio_job(text: &str, file_name: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<Plan, SourceError> {
    parse_fio_sections(text, file_name, &FioReading::default(), env)
}

/// How a job file is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FioReading<'a> {
    /// Sections to run, as with fio's `--section`; empty: all.
    pub only: &'a [String],
    /// Jobs that Fathom cannot run are run by the installed fio, together with those that run at the same time.
    pub with_fio: bool,
}

/// [`parse_fio_job`], read as `reading` says.
///
/// # Errors
/// As [`parse_fio_job`], and a name that no section has. With `with_fio`: jobs of which it cannot be known what fio would
/// touch, or that must not be run unguarded.
pub fn parse_fio_sections(
    text: &str,
    file_name: &str,
    reading: &FioReading<'_>,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Plan, SourceError> {
    let only = reading.only;
    let source = Source { file: file_name, text, env };
    let mut sections = source.sections()?;
    if let Some(name) = only.iter().find(|name| !sections.iter().any(|s| s.name == **name)) {
        let known: Vec<&str> = sections.iter().map(|s| s.name.as_str()).filter(|name| *name != "global").collect();
        let message = msg!("fio-no-such-section", name = name.clone());
        let help = msg!("fio-no-such-section-help", sections = Arg::names(known, Join::Comma));
        return Err(SourceError::without_place(file_name, message, Some(help)));
    }
    sections.retain(|s| only.is_empty() || s.name == "global" || only.contains(&s.name));
    let mut notes = Vec::new();
    if !reading.with_fio {
        let entries = sections.iter().flat_map(|s| &s.entries);
        let mut refused = entries.filter_map(|entry| check_key(&source, entry, &mut notes).err());
        if let Some(first) = refused.next() {
            return Err(SourceError { others: refused.collect(), ..first });
        }
    }
    let jobs = with_globals(&sections);
    if jobs.is_empty() {
        return Err(source.error(0..0, msg!("fio-no-job"), Some(msg!("fio-no-job-help"))));
    }
    let mut steps: Vec<Step> = Vec::new();
    let mut job_files = Vec::new();
    for (set, part) in (0..).zip(order::parts(&source, &jobs, &mut notes)?) {
        let mut said = Said::default();
        steps.extend(match own_steps(&source, set, &part, reading.with_fio, &mut said) {
            Err(_) if reading.with_fio => {
                said = Said::default();
                steps_by_fio(&source, set, &part, &mut said)?
            }
            own => own?,
        });
        said.notes.into_iter().for_each(|note| knobs::push_note(&mut notes, note));
        job_files.append(&mut said.job_files);
    }
    if steps.len() > STEPS_MAX {
        let message = msg!("fio-too-many-steps", max = STEPS_MAX);
        return Err(source.error(0..0, message, Some(msg!("fio-too-many-steps-help"))));
    }
    settle_new_files(&mut steps);
    number(&mut steps);
    name_streams(steps.iter_mut());
    Ok(Plan {
        study: head(file_name, &jobs),
        source: text.to_owned(),
        steps,
        notes,
        job_files,
        machine: None,
        ranks: None,
    })
}

/// fio sets up the files of all jobs before it runs the first, each job in turn: the first one makes the file, and a job that
/// reads lays it out where it is shorter than the job needs. A file without space has no length yet.
fn settle_new_files(steps: &mut [Step]) {
    let size = |step: &Step| step.workload.region.size_bytes.unwrap_or(u64::MAX);
    let reads = |step: &Step| step.workload.mix.write_pct < 100;
    for at in 0..steps.len() {
        let (before, rest) = steps.split_at_mut(at);
        let Some((step, later)) = rest.split_first_mut() else { return };
        let shares = |other: &Step| other.targets.iter().any(|target| step.targets.contains(target));
        let lays_out = |other: &Step| {
            let is_short = step.role.new_file == NewFile::Sparse || size(other) > size(step);
            shares(other) && reads(other) && is_short
        };
        if before.iter().any(shares) || later.iter().any(lays_out) {
            step.role.new_file = NewFile::Written;
        }
    }
}

/// What is told of jobs beside their steps.
#[derive(Default)]
struct Said {
    notes: Vec<Message>,
    /// Files named by fio's rule.
    job_files: Vec<TargetId>,
}

/// The steps of jobs that run at once, by Fathom's own engines.
fn own_steps(
    source: &Source<'_>,
    set: u32,
    part: &[&Job<'_>],
    checks_keys: bool,
    said: &mut Said,
) -> Result<Vec<Step>, SourceError> {
    if checks_keys {
        for job in part {
            for entry in job.keys.values() {
                check_key(source, entry, &mut said.notes)?;
            }
        }
    }
    let mut streams = Vec::new();
    let classes = alike(part);
    for alike in &classes {
        let name = alike[0].section.name.clone();
        streams.push((name, job::step(source, alike, &mut said.notes, &mut said.job_files)?));
    }
    order::exits(source, &classes, &mut streams)?;
    let tied = at_once(set, streams);
    tied.map_err(|e| source.error(classes[e.stream][0].section.span.clone(), e.message, Some(e.help)))
}

/// The steps of jobs that run at once, by fio: each section is one.
fn steps_by_fio(source: &Source<'_>, set: u32, part: &[&Job<'_>], said: &mut Said) -> Result<Vec<Step>, SourceError> {
    let mut streams = Vec::new();
    for job in part {
        let step = foreign::step(source, job, &mut said.notes, &mut said.job_files)?;
        streams.push((job.section.name.clone(), step));
    }
    let tied = at_once(set, streams);
    tied.map_err(|e| source.error(part[e.stream].section.span.clone(), e.message, Some(e.help)))
}

fn head(file_name: &str, jobs: &[Job<'_>]) -> StudyHead {
    let stem = file_name.rsplit('/').next().unwrap_or(file_name);
    let stem = stem.strip_suffix(".fio").or_else(|| stem.strip_suffix(".ini")).unwrap_or(stem);
    let described = jobs.iter().find_map(|j| j.keys.get("description")?.value.clone());
    StudyHead::new(stem, described.unwrap_or_default())
}

/// Errs for keys that are unknown or refused; notes those without meaning.
fn check_key(source: &Source<'_>, entry: &Entry, notes: &mut Vec<Message>) -> Result<(), SourceError> {
    let key = canonical(&entry.key);
    let Some(treatment) = keys::treatment(key) else {
        let e = knobs::unknown_key(&entry.key, keys::all_words());
        return Err(source.knob_error(&e, entry.key_span.clone()));
    };
    match treatment {
        Treatment::Refused(why, instead, harmless) => {
            if entry.value.as_deref().is_some_and(|v| harmless.contains(&v)) {
                return Ok(());
            }
            let message = msg!("fio-not-supported", key = &entry.key, why = why);
            return Err(source.error(entry.key_span.clone(), message, Some(instead.clone())));
        }
        Treatment::Noted(why) => knobs::push_note(notes, msg!("what-and-why", what = &entry.key, why = why)),
        Treatment::Knob | Treatment::Own => {}
    }
    if entry.value.is_none() && !keys::is_flag(key) {
        let message = msg!("fio-needs-a-value", key = &entry.key);
        return Err(source.error(
            entry.key_span.clone(),
            message,
            Some(msg!("fio-needs-a-value-help", key = &entry.key)),
        ));
    }
    Ok(())
}

fn with_globals(sections: &[Section]) -> Vec<Job<'_>> {
    let mut global = Keys::new();
    let mut jobs = Vec::new();
    for section in sections {
        let mut own = if section.name == "global" { std::mem::take(&mut global) } else { global.clone() };
        own.extend(section.entries.iter().map(|e| (canonical(&e.key), e)));
        if section.name == "global" {
            global = own;
        } else {
            jobs.push(Job { section, keys: own });
        }
    }
    jobs
}

/// The jobs that are equal but for their files, together; in the order of the first of each.
fn alike<'j, 'a>(part: &[&'j Job<'a>]) -> Vec<Vec<&'j Job<'a>>> {
    let mut classes: Vec<Vec<&Job<'_>>> = Vec::new();
    for &job in part {
        match classes.iter_mut().find(|class| equal_but_for_files(class[0], job)) {
            Some(class) => class.push(job),
            None => classes.push(vec![job]),
        }
    }
    classes
}

fn equal_but_for_files(a: &Job<'_>, b: &Job<'_>) -> bool {
    const FILES: [&str; 6] = ["filename", "directory", "name", "description", "stonewall", "new_group"];
    let load = |job: &Job<'_>| -> Vec<(String, Option<String>)> {
        let keys = job.keys.iter().filter(|(k, _)| !FILES.contains(k));
        keys.map(|(k, e)| ((*k).to_owned(), e.value.clone())).collect()
    };
    // A job of several files goes round its own; one of whole files has a folder.
    let value = |job: &Job<'_>, key: &str| job.keys.get(key).and_then(|e| e.value.clone());
    let has_one_file = |job: &Job<'_>| {
        let is_one = |files: &str| files == "1" || files::op_of(job).is_some();
        value(job, "filename").is_none_or(|names| fio_file_names(&names).len() < 2)
            && value(job, "nrfiles").is_none_or(|files| is_one(&files))
    };
    load(a) == load(b) && has_one_file(a) && has_one_file(b)
}

#[cfg(test)]
mod tests;
