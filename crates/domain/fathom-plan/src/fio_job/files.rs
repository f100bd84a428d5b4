//! Jobs of fio's engines that make, look at and remove whole files.

use fathom_message::{Arg, Join, Message, msg};

use super::ini::Source;
use super::job::Reader;
use super::jobs::Job;
use super::keys;
use super::units::fio_file_names;
use crate::error::SourceError;
use crate::file_ops::FileOp;
use crate::knobs::{Knobs, THREADS_MAX, push_note};
use crate::step::{EngineName, Step, TargetId};

/// What fio reads and does nothing with in these jobs, or what is said otherwise here.
const WITHOUT_EFFECT: [&str; 20] = [
    "ioengine",
    "rw",
    "bs",
    "bssplit",
    "bsrange",
    "size",
    "io_size",
    "number_ios",
    "direct",
    "invalidate",
    "iodepth",
    "numjobs",
    "loops",
    "runtime",
    "offset",
    "offset_increment",
    "rate_iops",
    "rate_process",
    "openfiles",
    "file_service_type",
];

/// What the job does to files; `None`: it moves blocks.
pub(super) fn op_of(job: &Job<'_>) -> Option<FileOp> {
    FileOp::from_word(job.keys.get("ioengine")?.value.as_deref()?)
}

/// The folder that a job works in.
fn folder_of(source: &Source<'_>, job: &Job<'_>) -> Result<TargetId, SourceError> {
    if let Some(entry) = job.keys.get("filename") {
        let message = msg!("fio-not-supported", key = "filename", why = msg!("fio-by-fio-own-names"));
        return Err(source.error(entry.key_span.clone(), message, Some(msg!("fio-by-fio-own-names-help"))));
    }
    let Some(entry) = job.keys.get("directory") else { return Ok(TargetId::new(".")) };
    match &fio_file_names(entry.value.as_deref().unwrap_or_default())[..] {
        [one] => Ok(TargetId::new(one.clone())),
        _ => {
            let help = Some(msg!("fio-one-file-help"));
            Err(source.error(entry.value_span.clone(), msg!("fio-several-directories"), help))
        }
    }
}

/// The step of a group of jobs that are equal but for their folders.
pub(super) fn step(
    source: &Source<'_>,
    group: &[&Job<'_>],
    op: FileOp,
    notes: &mut Vec<Message>,
) -> Result<Step, SourceError> {
    let first = group[0];
    let mut targets: Vec<TargetId> = Vec::new();
    let mut jobs_in: Vec<u32> = Vec::new();
    for job in group {
        let folder = folder_of(source, job)?;
        match targets.iter().position(|target| *target == folder) {
            Some(at) => jobs_in[at] += 1,
            None => {
                targets.push(folder);
                jobs_in.push(1);
            }
        }
    }
    if jobs_in.iter().any(|jobs| *jobs != jobs_in[0]) {
        let help = Some(msg!("fio-uneven-folders-help"));
        return Err(source.error(first.section.span.clone(), msg!("fio-uneven-folders"), help));
    }
    if group.len() > 1 {
        let names = Arg::names(group.iter().map(|j| j.name()), Join::Comma);
        push_note(notes, msg!("fio-sections-at-once", sections = names));
    }
    let mut reader = Reader { source, keys: &first.keys, section: first.section.span.clone(), notes };
    let knobs = reader.file_knobs(op, jobs_in[0], group.len())?;
    let mut step = knobs.build(0, "A", &targets, reader.notes).map_err(|e| reader.blame(&e))?;
    step.length.delay_ns = reader.delay_ns()?;
    Ok(step)
}

impl Reader<'_, '_> {
    /// The knobs of a job, of which `jobs` work in a folder; of `sections` equal ones.
    fn file_knobs(&mut self, op: FileOp, jobs: u32, sections: usize) -> Result<Knobs, SourceError> {
        let mut knobs = Knobs::fio_defaults();
        for (key, entry) in self.keys {
            if keys::knob_set_alone(key).is_some() && !WITHOUT_EFFECT.contains(key) {
                self.set(&mut knobs, key, entry.value.as_deref().unwrap_or("1"))?;
            }
        }
        self.set(&mut knobs, "rw", op.read_write().as_str())?;
        self.set(&mut knobs, "ioengine", EngineName::Files.as_str())?;
        if self.keys.contains_key("openfiles") {
            push_note(self.notes, msg!("what-and-why", what = "openfiles", why = msg!("fio-one-open-file")));
        }
        let files = self.number_or("nrfiles", 1, u32::MAX)?;
        self.set(&mut knobs, "nrfiles", &files.to_string())?;
        // fio makes files without writing to them; those that are looked at and removed have their size.
        let bytes = self.value("filesize").filter(|_| op.needs_files()).map(str::to_owned);
        if let Some(bytes) = bytes {
            self.set(&mut knobs, "filesize", &bytes)?;
        }
        let threads = self.number_or("numjobs", 1, THREADS_MAX)?.saturating_mul(jobs);
        self.set(&mut knobs, "numjobs", &threads.to_string())?;
        self.rate(&mut knobs, sections)?;
        match self.value("runtime").filter(|v| fathom_units::parse_duration_ns(v) != Ok(0)).map(str::to_owned) {
            Some(runtime) => self.set(&mut knobs, "runtime", &runtime)?,
            None => self.set(&mut knobs, "loops", "1")?,
        }
        Ok(knobs)
    }
}
