//! fio job files: read with fio's own defaults, so that the same job gives the same load, and written back.
//!
//! fio runs the sections of a file at once unless `stonewall` or `wait_for` parts them: so do streams here. Sections that are equal but
//! for their files are one step, or one stream, over several targets.

mod arithmetic;
mod clones;
mod command_line;
mod describe;
mod files;
mod foreign;
mod host;
mod ini;
mod job;
mod jobs;
mod keys;
mod options;
mod order;
mod remarks;
mod replay;
mod units;
mod write;

use fathom_message::{Arg, Join, Message, msg};

use crate::error::SourceError;
use crate::knobs;
use crate::plan::{Plan, StudyHead};
use crate::role::{FioEntry, NewFile};
use crate::step::{Step, TargetId};
use crate::stream::{at_once, name_streams};
use crate::study::{STEPS_MAX, number};
use ini::{Entry, Source};
use jobs::Job;
use keys::{Treatment, canonical};

pub use command_line::{FioCommandError, FioCommandLine, FioFormat, FioQuestion, FioWord, fio_command_line};
pub use describe::{FioKeyInfo, FioKeyUse, fio_engine_keys, fio_engines, fio_keys, fio_shown_command};
pub use host::{FioHost, HostNumber, UnseenHost};
pub use ini::FioText;
pub use options::{FioKnobs, fio_options, knobs_from_fio};
pub use units::{fio_bytes, fio_file_name, fio_file_names, fio_rates};
pub use write::{fio_command, fio_job_text, fio_remarks};

/// Reads one job file. `env` gives the value of `${VAR}`; nothing else of the machine is known.
///
/// # Errors
/// As [`parse_fio`].
pub fn parse_fio_job(text: &str, file_name: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<Plan, SourceError> {
    let text = FioText::File { name: file_name.to_owned(), text: text.to_owned() };
    parse_fio(&[text], file_name, &FioReading::default(), &UnseenHost(env))
}

/// How a job file is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FioReading<'a> {
    /// Sections to run, as with fio's `--section`; empty: all.
    pub only: &'a [String],
    /// Jobs that Fathom cannot run are run by the installed fio, together with those that run at the same time.
    pub with_fio: bool,
    /// Every job is a step of its own, and every clone of `numjobs`, as fio reports them, unless `group_reporting` is set.
    /// Else sections that are equal but for their files are one step.
    pub reports_each_job: bool,
}

/// Reads fio's jobs: those of the command line first, then each file. Defaults of a further file start anew, and its first
/// job waits for those before. `name`: of the study.
///
/// # Errors
/// Anything that cannot be run as fio would, with its line: unknown keys (with the nearest word), keys that Fathom refuses
/// (with the reason and a remedy), unsupported engines; a name that no section has. With `with_fio`: jobs of which it cannot
/// be known what fio would touch, or that must not be run unguarded.
pub fn parse_fio(
    texts: &[FioText],
    name: &str,
    reading: &FioReading<'_>,
    host: &dyn FioHost,
) -> Result<Plan, SourceError> {
    let only = reading.only;
    let (source, mut sections) = Source::read(texts, host)?;
    if let Some(missing) = only.iter().find(|name| !sections.iter().any(|s| s.name == **name)) {
        let known: Vec<&str> = sections.iter().filter(|s| !s.is_global()).map(|s| s.name.as_str()).collect();
        let message = msg!("fio-no-such-section", name = missing.clone());
        let help = msg!("fio-no-such-section-help", sections = Arg::names(known, Join::Comma));
        return Err(SourceError::without_place(name, message, Some(help)));
    }
    sections.retain(|s| only.is_empty() || s.is_global() || only.contains(&s.name));
    let mut notes = Vec::new();
    let jobs = jobs::of_sections(&source, &sections, host)?;
    if !reading.with_fio {
        if let Some(error) = jobs::without_engine(&source, &jobs) {
            return Err(error);
        }
        let entries = sections.iter().flat_map(|s| &s.entries);
        let mut refused = entries.filter_map(|entry| check_key(&source, entry, &mut notes).err());
        if let Some(first) = refused.next() {
            return Err(SourceError { others: refused.collect(), ..first });
        }
    }
    if jobs.is_empty() {
        return Err(source.error(0..0, msg!("fio-no-job"), Some(msg!("fio-no-job-help"))));
    }
    let mut steps: Vec<Step> = Vec::new();
    let mut job_files = Vec::new();
    for (set, part) in (0..).zip(order::parts(&source, &jobs, &mut notes)?) {
        let mut said = Said::default();
        steps.extend(match own_steps(&source, set, &part, reading, &mut said) {
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
    if steps.iter().map(|step| u64::from(step.workers())).sum::<u64>() > FIO_JOBS_MAX {
        let message = msg!("fio-too-many-jobs", max = FIO_JOBS_MAX);
        return Err(source.error(0..0, message, Some(msg!("fio-too-many-steps-help"))));
    }
    settle_new_files(&mut steps);
    number(&mut steps);
    name_streams(steps.iter_mut());
    let study = head(name, &jobs);
    Ok(Plan { study, source: source.text, steps, notes, job_files, machine: None, ranks: None })
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

/// Jobs that fio runs at most, clones of `numjobs` among them (`REAL_MAX_JOBS`).
const FIO_JOBS_MAX: u64 = 4096;

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
    reading: &FioReading<'_>,
    said: &mut Said,
) -> Result<Vec<Step>, SourceError> {
    if reading.with_fio {
        for entry in part.iter().flat_map(|job| job.keys.values()) {
            check_key(source, entry, &mut said.notes)?;
        }
    }
    let classes = jobs::alike(part, reading.reports_each_job);
    // Streams of a class, with the number of the class.
    let mut streams = Vec::new();
    for (class, alike) in classes.iter().enumerate() {
        let first = alike[0];
        let is_alone = alike.len() == 1;
        let mut step = job::step(source, alike, &mut said.notes, &mut said.job_files)?;
        // The name is the first job's; the options, as fio lists them, are the last one's.
        let options_of = alike.last().unwrap_or(&first);
        let entry = options_of.entry(is_alone || reading.reports_each_job);
        let of_first = first.entry(false);
        step.role.job = Some(FioEntry { name: of_first.name, description: of_first.description, ..entry });
        let clones = match reading.reports_each_job && !first.is_grouped || is_alone && step.has_unlike_threads() {
            true => step.clones_of_threads(&first.section.name),
            false => vec![step],
        };
        streams.extend(clones.into_iter().map(|step| (class, first.name().to_owned(), step)));
    }
    order::exits(source, &classes, &mut streams)?;
    let class_of: Vec<usize> = streams.iter().map(|(class, ..)| *class).collect();
    let tied = at_once(set, streams.into_iter().map(|(_, name, step)| (name, step)).collect());
    tied.map_err(|e| source.error(classes[class_of[e.stream]][0].section.span.clone(), e.message, Some(e.help)))
}

/// The steps of jobs that run at once, by fio: each section is one.
fn steps_by_fio(source: &Source<'_>, set: u32, part: &[&Job<'_>], said: &mut Said) -> Result<Vec<Step>, SourceError> {
    let mut streams = Vec::new();
    for job in part {
        let step = foreign::step(source, job, &mut said.notes, &mut said.job_files)?;
        streams.push((job.name().to_owned(), step));
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
            let harmless = keys::harmless_values(key).unwrap_or(harmless);
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

#[cfg(test)]
mod tests;
