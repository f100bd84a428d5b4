//! Jobs: sections with the defaults before them, in fio's order.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use fathom_message::msg;

use super::files;
use super::foreign;
use super::host::FioHost;
use super::ini::{Entry, Section, Source};
use super::job::flag;
use super::keys::{self, canonical};
use super::options::as_fio_reads;
use super::units::{fio_bytes, fio_file_name, fio_file_names};
use crate::error::SourceError;
use crate::role::FioEntry;
use crate::step::EngineName;

/// Keys in force for a section, under fio's first names.
pub(super) type Keys<'a> = BTreeMap<&'a str, Cow<'a, Entry>>;

/// A section with the defaults before it.
pub(super) struct Job<'a> {
    pub(super) section: &'a Section,
    /// `filename` holds all files of the job.
    pub(super) keys: Keys<'a>,
    /// Defaults before it, in their order.
    pub(super) globals: Rc<[&'a Entry]>,
    /// True where the jobs before are over when it starts: `stonewall`, or the first job of a further job file.
    pub(super) is_walled: bool,
    /// Number of the group that it reports with.
    pub(super) group: u32,
    /// True where the results of its group are one entry: `group_reporting`.
    pub(super) is_grouped: bool,
}

impl Job<'_> {
    /// Name in the results.
    pub(super) fn name(&self) -> &str {
        self.text("name").unwrap_or(&self.section.name)
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.keys.get(key)?.value.as_deref()
    }

    /// The entry of fio's results that it belongs to. `has_options`: they are those of the whole entry.
    pub(super) fn entry(&self, has_options: bool) -> FioEntry {
        let word = |entry: &Entry| (entry.key.clone(), entry.value.clone().unwrap_or_else(|| "1".to_owned()));
        let (mut options, mut globals) = (Vec::new(), Vec::new());
        if has_options {
            // fio lists the name of a job of the command line alone.
            options.extend(self.section.file.is_none().then(|| ("name".to_owned(), self.section.name.clone())));
            options.extend(self.section.entries.iter().map(word));
            globals.extend(self.globals.iter().map(|entry| word(entry)));
        }
        FioEntry {
            name: self.name().to_owned(),
            group: self.group,
            is_grouped: self.is_grouped,
            description: self.text("description").map(str::to_owned),
            options,
            globals,
        }
    }
}

/// The keys with their numbers and sizes as fio reads them.
pub(super) fn in_numbers<'a>(keys: &Keys<'a>) -> Keys<'a> {
    let read = |(key, entry): (&&'a str, &Cow<'a, Entry>)| {
        let value = entry.value.as_deref().zip(keys::kind(key)).map(|(value, kind)| as_fio_reads(kind, value));
        let entry = match value {
            Some(value) if Some(&value) != entry.value.as_ref() => {
                Cow::Owned(Entry { value: Some(value), ..Entry::clone(entry) })
            }
            _ => entry.clone(),
        };
        (*key, entry)
    };
    keys.iter().map(read).collect()
}

/// Pairs of keys that set the same option; the later key wins.
const CONTRARIES: [(&str, &str); 4] =
    [("rwmixread", "rwmixwrite"), ("rwmixwrite", "rwmixread"), ("direct", "buffered"), ("buffered", "direct")];

/// Keys with values for reads, writes and trims.
const OF_EACH_OPERATION: [&str; 3] = ["bs", "rate", "rate_iops"];

/// `,2k` after `8k` is `8k,2k`: what a value leaves open stays as it was. `None`: it leaves nothing open.
fn filled_from(value: &str, before: &str) -> Option<String> {
    let parts: Vec<&str> = value.split(',').map(str::trim).collect();
    let before: Vec<&str> = before.split(',').map(str::trim).collect();
    if parts.iter().all(|part| !part.is_empty()) {
        return None;
    }
    // fio repeats the last one for the operations that are not named.
    let of_before = |at: usize| before.get(at).or(before.last()).copied().unwrap_or_default();
    let filled = parts.iter().enumerate().map(|(at, part)| if part.is_empty() { of_before(at) } else { part });
    Some(filled.collect::<Vec<_>>().join(","))
}

/// Keys as they come to be in force, and the files that they name.
#[derive(Clone, Default)]
struct InForce<'a> {
    keys: Keys<'a>,
    /// Files of every `filename`, with the last one.
    files: Vec<String>,
    filename: Option<&'a Entry>,
    /// Files that fio counts: at most so many of `files` are used.
    nr_files: usize,
}

impl<'a> InForce<'a> {
    fn add(&mut self, entry: &'a Entry) {
        let key = canonical(&entry.key);
        match (key, entry.value.as_deref()) {
            ("filename", Some(names)) => {
                // fio adds up the files of all its filenames; a number of files that stood before the first counts no more.
                if self.files.is_empty() {
                    self.nr_files = 0;
                }
                let names = fio_file_names(names);
                self.nr_files += names.len();
                self.files.extend(names);
                self.filename = Some(entry);
            }
            ("nrfiles", Some(files)) => self.nr_files = fio_bytes(files).unwrap_or(u64::MAX) as usize,
            _ => {}
        }
        for (_, contrary) in CONTRARIES.iter().filter(|(of, _)| *of == key) {
            self.keys.remove(contrary);
        }
        let filled = entry
            .value
            .as_deref()
            .filter(|_| OF_EACH_OPERATION.contains(&key))
            .and_then(|value| filled_from(value, self.keys.get(key)?.value.as_deref()?));
        let entry = match filled {
            Some(value) => Cow::Owned(Entry { value: Some(value), ..entry.clone() }),
            None => Cow::Borrowed(entry),
        };
        self.keys.insert(key, entry);
    }

    /// The keys of a job: with all its files under `filename`.
    fn into_keys(mut self) -> Keys<'a> {
        if let Some(last) = self.filename {
            self.files.truncate(self.nr_files.max(1));
            let list = self.files.iter().map(|name| fio_file_name(name)).collect::<Vec<_>>().join(":");
            self.keys.insert("filename", Cow::Owned(Entry { value: Some(list), ..last.clone() }));
            self.keys.remove("nrfiles");
        }
        self.keys
    }
}

/// The jobs of all sections.
///
/// # Errors
/// A value of `stonewall`, `new_group` or `group_reporting` that is neither yes nor no.
pub(super) fn of_sections<'a>(
    source: &Source<'_>,
    sections: &'a [Section],
    host: &dyn FioHost,
) -> Result<Vec<Job<'a>>, SourceError> {
    let mut defaults = InForce::default();
    let mut globals: Rc<[&Entry]> = Rc::default();
    let mut jobs: Vec<Job<'_>> = Vec::new();
    let mut file = None;
    for section in sections {
        if section.file != file {
            // What the command line says is for the first file, too.
            if section.file.is_some_and(|number| number > 0) {
                defaults = InForce::default();
                globals = Rc::default();
            }
            file = section.file;
        }
        if section.is_global() {
            section.entries.iter().for_each(|entry| defaults.add(entry));
            defaults.keys.remove("name");
            globals = globals.iter().copied().chain(&section.entries).collect();
            continue;
        }
        let mut own = defaults.clone();
        section.entries.iter().for_each(|entry| own.add(entry));
        let begins_file =
            file.is_some_and(|number| number > 0) && jobs.last().is_none_or(|last| last.section.file != file);
        let keys = own.into_keys();
        let is_walled = begins_file || flag(source, &keys, "stonewall", false)?;
        // fio's groups begin at walls, too.
        let begins_group = is_walled || flag(source, &keys, "new_group", false)?;
        let group = jobs.last().map_or(0, |last| last.group + u32::from(begins_group));
        let is_grouped = flag(source, &keys, "group_reporting", false)?;
        let mut job = Job { section, keys, globals: globals.clone(), is_walled, group, is_grouped };
        name_device(&mut job, host);
        jobs.push(job);
    }
    Ok(jobs)
}

/// A section that is called as a device, a pipe or a folder and names no files works on that.
fn name_device(job: &mut Job<'_>, host: &dyn FioHost) {
    let names_files = ["filename", "read_iolog"].iter().any(|key| job.keys.contains_key(key));
    let has_one = job.text("nrfiles").is_none_or(|files| files == "1");
    let has_no_storage = |engine: &str| engine == EngineName::Null.as_str() || foreign::is_without_files(engine);
    let needs_none = files::op_of(job).is_some() || job.text("ioengine").is_some_and(has_no_storage);
    let name = &job.section.name;
    if names_files || !has_one || needs_none || !host.is_special(name) {
        return;
    }
    let span = job.section.span.clone();
    let entry = Entry {
        key: "filename".to_owned(),
        value: Some(fio_file_name(name)),
        key_span: span.clone(),
        value_span: span,
    };
    job.keys.insert("filename", Cow::Owned(entry));
}

/// The error of jobs whose engine Fathom lacks: one for each section, whatever other keys of that engine it has.
pub(super) fn without_engine(source: &Source<'_>, jobs: &[Job<'_>]) -> Option<SourceError> {
    let mut errors: Vec<SourceError> = Vec::new();
    for job in jobs {
        let Some(entry) = job.keys.get("ioengine") else { continue };
        let engine = entry.value.as_deref().unwrap_or_default();
        if !foreign::is_engine_of_fio(engine) {
            continue;
        }
        let message = msg!("fio-engine-not-built-in", engine = engine.to_owned());
        let error = source.error(entry.value_span.clone(), message, Some(msg!("fio-engine-not-built-in-help")));
        if !errors.iter().any(|other| other.place == error.place) {
            errors.push(error);
        }
    }
    let first = (!errors.is_empty()).then(|| errors.remove(0))?;
    Some(SourceError { others: errors.into(), ..first })
}

/// The jobs that are equal but for their files, together, in the order of the first of each; every job alone with
/// `is_each_alone`, unless it reports with its group.
pub(super) fn alike<'j, 'a>(part: &[&'j Job<'a>], is_each_alone: bool) -> Vec<Vec<&'j Job<'a>>> {
    let mut classes: Vec<Vec<&Job<'_>>> = Vec::new();
    for &job in part {
        let stays_alone = is_each_alone && !job.is_grouped;
        match classes.iter_mut().find(|class| !stays_alone && are_equal_but_for_files(class[0], job)) {
            Some(class) => class.push(job),
            None => classes.push(vec![job]),
        }
    }
    classes
}

fn are_equal_but_for_files(a: &Job<'_>, b: &Job<'_>) -> bool {
    const FILES: [&str; 6] = ["filename", "directory", "name", "description", "stonewall", "new_group"];
    let load = |job: &Job<'_>| -> Vec<(String, Option<String>)> {
        let keys = job.keys.iter().filter(|(k, _)| !FILES.contains(k));
        keys.map(|(k, e)| ((*k).to_owned(), e.value.clone())).collect()
    };
    // A job of several files goes round its own; one of whole files has a folder.
    let has_one_file = |job: &Job<'_>| {
        let is_one = |files: &str| files == "1" || files::op_of(job).is_some();
        job.text("filename").is_none_or(|names| fio_file_names(names).len() < 2)
            && job.text("nrfiles").is_none_or(is_one)
    };
    a.group == b.group && load(a) == load(b) && has_one_file(a) && has_one_file(b)
}
