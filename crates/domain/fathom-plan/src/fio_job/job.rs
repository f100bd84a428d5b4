//! From the keys of a job to a step with the load that fio would give.

use std::collections::HashSet;

use fathom_message::{Arg, Join, Message, Quantity, msg};
use fathom_units::advice;

use super::ini::Source;
use super::jobs::{Job, Keys, in_numbers};
use super::remarks::remark_on_iec;
use super::units::{fio_bytes, fio_file_names, fio_rates, rated_ops};
use super::{files, keys};
use crate::error::SourceError;
use crate::file_service::{BLOCK_FILES_MAX, FileService};
use crate::knobs::{KnobError, Knobs, QUEUE_DEPTH_MAX, THREADS_MAX, push_note};
use crate::role::NewFile;
use crate::step::{EngineName, Op, Spread, Step, TargetId};

/// Notes and errors of one job while it is put together.
pub(super) struct Reader<'r, 'a> {
    pub(super) source: &'r Source<'r>,
    pub(super) keys: &'r Keys<'a>,
    pub(super) section: std::ops::Range<usize>,
    pub(super) notes: &'r mut Vec<Message>,
}

/// Names of files without `filename`.
const NAME_FORMAT: &str = "$jobname.$jobnum.$filenum";

/// `randwrite` of `randwrite:8`.
fn without_modifier(rw: &str) -> &str {
    rw.split_once(':').map_or(rw, |(rw, _)| rw)
}

/// What a yes-or-no key says; `default` without it.
pub(super) fn flag(source: &Source<'_>, keys: &Keys<'_>, key: &str, default: bool) -> Result<bool, SourceError> {
    let Some(entry) = keys.get(key) else {
        return Ok(default);
    };
    match entry.value.as_deref() {
        None | Some("1" | "true") => Ok(true),
        Some("0" | "false") => Ok(false),
        Some(other) => {
            let why = msg!("knob-not-a-flag", text = other.to_owned());
            let message = msg!("what-and-why", what = key.to_owned(), why = why);
            Err(source.error(entry.value_span.clone(), message, Some(msg!("knob-not-a-flag-help"))))
        }
    }
}

/// The step of a group of jobs that are equal but for their files.
pub(super) fn step(
    source: &Source<'_>,
    group: &[&Job<'_>],
    notes: &mut Vec<Message>,
    job_files: &mut Vec<TargetId>,
) -> Result<Step, SourceError> {
    let first = group[0];
    if let Some(op) = files::op_of(first) {
        return files::step(source, group, op, notes);
    }
    first.keys.values().for_each(|entry| remark_on_iec(entry, notes));
    let mut keys = in_numbers(&first.keys);
    // fio syncs between writes alone.
    let is = |key: &str, is: &dyn Fn(&str) -> bool| keys.get(key).and_then(|e| e.value.as_deref()).is_some_and(is);
    let reads_alone = is("rwmixread", &|pct| pct == "100") || is("rwmixwrite", &|pct| pct == "0");
    let writes = is("rw", &|rw| rw.contains("write") || rw.contains("rw") && !reads_alone);
    keys.retain(|key, _| writes || !["fsync", "fdatasync"].contains(key));
    let mut reader = Reader { source, keys: &keys, section: first.section.span.clone(), notes };
    let files: Vec<Vec<String>> = group.iter().map(|j| reader.files(j)).collect::<Result<_, _>>()?;
    if group.len() > 1 {
        let names = Arg::names(group.iter().map(|j| j.name()), Join::Comma);
        push_note(reader.notes, msg!("fio-sections-at-once", sections = names));
    }
    let targets: Vec<TargetId> = files.iter().flatten().map(|path| TargetId::new(path.clone())).collect();
    // A trace names files itself.
    let is_named_by_fio = |job: &Job<'_>| !job.keys.contains_key("filename") && !job.keys.contains_key("read_iolog");
    let named_by_fio = group.iter().zip(&files).filter(|(job, _)| is_named_by_fio(job));
    job_files.extend(named_by_fio.flat_map(|(_, files)| files).map(|path| TargetId::new(path.clone())));
    let of_each = reader.files_of_each(first)?;
    let parts = if of_each > 1 { of_each as usize } else { files[0].len() };
    let knobs = reader.knobs(parts, group.len())?;
    // fio's null engine has files by name alone.
    let is_null = reader.value("ioengine") == Some(EngineName::Null.as_str());
    let targets = if is_null { targets.iter().map(|_| TargetId::new("null")).collect() } else { targets };
    let mut step = knobs.build(0, "A", &targets, reader.notes).map_err(|e| reader.blame(&e))?;
    step.length.delay_ns = reader.delay_ns()?;
    step.role.must_exist = !flag(source, &first.keys, "allow_file_create", true)?;
    step.role.fills_space = reader.fills_space(&step)?;
    reader.remark_on(&step)?;
    reader.replay(group.len(), &mut step)?;
    Ok(step)
}

impl Reader<'_, '_> {
    pub(super) fn value(&self, key: &str) -> Option<&str> {
        self.keys.get(key)?.value.as_deref()
    }

    pub(super) fn error(&self, key: &str, message: Message, help: Message) -> SourceError {
        self.source.error(self.span_of(key), message, Some(help))
    }

    /// The value of the key, or the head of the section.
    fn span_of(&self, key: &str) -> std::ops::Range<usize> {
        self.keys.get(key).map_or(self.section.clone(), |e| e.value_span.clone())
    }

    pub(super) fn blame(&self, error: &KnobError) -> SourceError {
        // The knob may have been set by another of fio's words.
        let words: &[&str] = match error.key.as_str() {
            "mode" => &["hipri", "sqthread_poll", "ioengine"],
            "direct" => &["direct", "buffered", "hipri", "ioengine"],
            "size" => &["size", "bs", "bssplit"],
            _ => &[],
        };
        let found =
            std::iter::once(error.key.as_str()).chain(words.iter().copied()).find(|k| self.keys.contains_key(k));
        self.source.knob_error(error, self.span_of(found.unwrap_or_default()))
    }

    pub(super) fn set(&self, knobs: &mut Knobs, key: &str, value: &str) -> Result<(), SourceError> {
        knobs.set(key, value).map_err(|mut e| {
            if key == "ioengine" {
                e.message = msg!("fio-no-such-engine", engine = value.to_owned());
            }
            self.blame(&e)
        })
    }

    fn bounded(&self, key: &str, max: u32) -> Result<usize, SourceError> {
        self.number_or(key, 1, max).map(|n| n as usize)
    }

    /// A number from 1 to `max`, or what stands for it where the key is absent.
    pub(super) fn number_or(&self, key: &str, absent: u32, max: u32) -> Result<u32, SourceError> {
        let Some(text) = self.value(key) else {
            return Ok(absent);
        };
        match text.parse::<u32>() {
            Ok(n) if (1..=max).contains(&n) => Ok(n),
            _ => {
                let why = msg!("knob-out-of-range", text = text.to_owned(), min = 1_u32, max = max);
                let message = msg!("what-and-why", what = key.to_owned(), why = why);
                Err(self.source.error(self.span_of(key), message, None))
            }
        }
    }

    /// The files of one section as fio names them.
    fn files(&mut self, job: &Job<'_>) -> Result<Vec<String>, SourceError> {
        let text = |key: &str| job.keys.get(key).and_then(|e| e.value.as_deref().map(|v| (v, &**e)));
        let folder = match text("directory") {
            Some((value, entry)) => match &fio_file_names(value)[..] {
                [one] => Some(one.clone()),
                _ => {
                    let help = Some(msg!("fio-one-file-help"));
                    return Err(self.source.error(entry.value_span.clone(), msg!("fio-several-directories"), help));
                }
            },
            None => None,
        };
        let in_folder = |name: String| match &folder {
            Some(folder) if !name.starts_with('/') => format!("{}/{name}", folder.trim_end_matches('/')),
            _ => name,
        };
        let of_each = self.files_of_each(job)?;
        if let Some((value, entry)) = text("filename") {
            let names = fio_file_names(value);
            if let Some(twice) =
                names.iter().enumerate().find_map(|(at, name)| names[..at].contains(name).then_some(name))
            {
                let message = msg!("fio-file-twice", name = twice.clone());
                return Err(self.source.error(entry.value_span.clone(), message, Some(msg!("fio-file-twice-help"))));
            }
            if names.is_empty() {
                let help = Some(msg!("fio-no-file-help"));
                return Err(self.source.error(entry.value_span.clone(), msg!("fio-no-file"), help));
            }
            return Ok(names.into_iter().map(in_folder).collect());
        }
        let jobs = self.bounded("numjobs", THREADS_MAX)?;
        let name = &job.section.name;
        if jobs > 1 && of_each == 1 {
            push_note(self.notes, msg!("fio-file-per-job", section = name.to_owned(), jobs = jobs));
        }
        let files = jobs as u64 * u64::from(of_each);
        if files > u64::from(BLOCK_FILES_MAX) {
            let message = msg!("knob-too-many-files", files = files, max = BLOCK_FILES_MAX);
            return Err(self.error("nrfiles", message, msg!("knob-too-many-files-help")));
        }
        // Dealt out to the jobs, each gets those that bear its number.
        let all = (0..of_each).flat_map(|file| (0..jobs).map(move |job| (job, file)));
        let format = text("filename_format").map_or(NAME_FORMAT, |(format, _)| format);
        let named = |job: usize, file: u32| {
            let numbered = format.replace("$jobnum", &job.to_string()).replace("$filenum", &file.to_string());
            in_folder(numbered.replace("$clientuid", "localhost").replace("$jobname", name))
        };
        let names: Vec<String> = all.map(|(job, file)| named(job, file)).collect();
        if names.iter().collect::<HashSet<_>>().len() < names.len() {
            let message = msg!("fio-format-repeats", format = format.to_owned());
            return Err(self.error("filename_format", message, msg!("fio-format-repeats-help")));
        }
        Ok(names)
    }

    /// Files that each job of a section has of its own.
    fn files_of_each(&self, job: &Job<'_>) -> Result<u32, SourceError> {
        let is_replayed = job.keys.contains_key("read_iolog");
        if is_replayed { Ok(1) } else { self.number_or("nrfiles", 1, u32::MAX) }
    }

    /// The knobs of `sections` equal sections over `files` files each.
    fn knobs(&mut self, files: usize, sections: usize) -> Result<Knobs, SourceError> {
        let mut knobs = Knobs::fio_defaults();
        self.remark_on_defaults();
        for (key, entry) in self.keys {
            if keys::knob_set_alone(key).is_some() {
                self.set(&mut knobs, key, entry.value.as_deref().unwrap_or("1"))?;
            }
        }
        if self.keys.contains_key("buffered") {
            let on = flag(self.source, self.keys, "buffered", false)?;
            self.set(&mut knobs, "direct", if on { "0" } else { "1" })?;
        }
        self.new_files(&mut knobs)?;
        let parts = self.load(&mut knobs, files)?;
        self.length(&mut knobs)?;
        self.rate(&mut knobs, sections)?;
        self.region(&mut knobs, parts)?;
        Ok(knobs)
    }

    /// `overwrite` and `fallocate`: fio writes a new file before the load only where the load reads it or `overwrite` is set.
    fn new_files(&self, knobs: &mut Knobs) -> Result<(), SourceError> {
        let state = match self.value("fallocate").unwrap_or("native") {
            "native" | "posix" | "keep" | "1" => NewFile::Allocated,
            "none" | "truncate" | "0" => NewFile::Sparse,
            other => {
                let words = ["native", "posix", "keep", "truncate", "none"];
                let message = msg!("fio-not-a-fallocate", text = other.to_owned());
                return Err(self.error("fallocate", message, advice(other, &words)));
            }
        };
        // fio's mmap engine writes its files first: a mapping of a hole would fail where the space ends.
        let is_mapped = self.value("ioengine") == Some(EngineName::Mmap.as_str());
        let writes_alone = self.value("rw").is_some_and(|rw| ["write", "randwrite"].contains(&without_modifier(rw)));
        if writes_alone && !is_mapped && !flag(self.source, self.keys, "overwrite", false)? {
            self.set(knobs, "new_files", state.as_str())?;
        }
        Ok(())
    }

    /// The region of each file, and how much of it a job moves where that is another size.
    fn region(&mut self, knobs: &mut Knobs, parts: usize) -> Result<(), SourceError> {
        self.refuse_unequal_parts(parts)?;
        let (size, of_file) = (self.value("size"), self.value("filesize"));
        if of_file.is_some_and(|of_file| of_file.contains(['-', ','])) {
            let message = msg!("fio-not-supported", key = "filesize", why = msg!("fio-filesize"));
            return Err(self.error("filesize", message, msg!("fio-filesize-help")));
        }
        // I/O goes over the whole file; the size says how much of it there is. Beyond the file only I/O goes that may repeat
        // blocks.
        let bytes = |text: &str| fathom_units::parse_size(text).unwrap_or(0);
        let of_files = of_file.map(|of_file| bytes(of_file).saturating_mul(parts as u64));
        if let (Some(size), Some(of_files)) = (size, of_files)
            && (bytes(size) < of_files || flag(self.source, self.keys, "norandommap", false)?)
            && bytes(size) != of_files
            && !self.keys.contains_key("io_size")
            && !flag(self.source, self.keys, "time_based", false)?
        {
            let size = size.to_owned();
            self.set(knobs, "io_size", &size)?;
        }
        let has_filesize = of_file.is_some();
        let key = if has_filesize { "filesize" } else { "size" };
        if let Some(entry) = self.keys.get(key).filter(|_| self.value(key) != Some("100%")) {
            let text = entry.value.as_deref().unwrap_or_default();
            let offset = self.value("offset").map_or(0, bytes);
            let part = match fathom_units::parse_size(text) {
                // fio divides a job's size by its files, to the byte.
                Ok(bytes) if parts > 1 && !has_filesize => (bytes / parts as u64).to_string(),
                // The size of a file holds what is before the offset, too.
                Ok(bytes) if has_filesize => bytes.saturating_sub(offset).to_string(),
                _ => text.to_owned(),
            };
            self.set(knobs, "size", &part)?;
        }
        Ok(())
    }

    /// Refuses what would give the files of a job, or its clones, regions of other sizes: a step has one for all; and passes
    /// that fio ends by a rule of its own.
    fn refuse_unequal_parts(&self, parts: usize) -> Result<(), SourceError> {
        let is_share = |key: &&&str| self.value(key).is_some_and(|text| text.ends_with('%') && text != "100%");
        if let Some(key) = ["size", "offset", "io_size"].iter().find(is_share).filter(|_| parts > 1) {
            let message = msg!("fio-not-supported", key = *key, why = msg!("fio-share-of-several"));
            return Err(self.error(key, message, msg!("fio-share-of-several-help")));
        }
        let is_set = |key: &str| self.value(key).is_some_and(|text| text != "0");
        let is_repeated = self.value("loops").is_some_and(|loops| loops != "1");
        let block = self.value("bs").and_then(fio_bytes).unwrap_or(4096).max(1);
        let size = self.value("size").and_then(fio_bytes).unwrap_or(0);
        let has_rest = parts > 1 && !size.is_multiple_of(block * parts as u64);
        if is_set("io_size") && (has_rest || is_repeated) && !flag(self.source, self.keys, "time_based", false)? {
            let message = msg!("fio-not-supported", key = "io_size", why = msg!("fio-io-size-of-several"));
            return Err(self.error("io_size", message, msg!("fio-io-size-of-several-help")));
        }
        if is_set("filesize") && is_set("offset_increment") {
            let message = msg!("fio-not-supported", key = "offset_increment", why = msg!("fio-filesize-increment"));
            return Err(self.error("offset_increment", message, msg!("fio-filesize-increment-help")));
        }
        Ok(())
    }

    /// Whether a file that is made for the job takes what is free on its file system.
    fn fills_space(&mut self, step: &Step) -> Result<bool, SourceError> {
        let is_sized = step.workload.region.size_bytes.is_some() || self.is_on_device();
        let fills = flag(self.source, self.keys, "fill_device", false)? && !is_sized;
        if fills {
            push_note(self.notes, msg!("fio-fills-space"));
        }
        Ok(fills)
    }

    /// Whether its files are those of devices: they end where the device does.
    fn is_on_device(&self) -> bool {
        self.value("filename").is_some_and(|names| fio_file_names(names).iter().all(|name| name.starts_with("/dev/")))
    }

    /// Threads and depth; in how many parts fio divides the size. A job that names several files goes round them all.
    fn load(&mut self, knobs: &mut Knobs, files: usize) -> Result<usize, SourceError> {
        let jobs = self.bounded("numjobs", THREADS_MAX)?;
        let depth = self.bounded("iodepth", QUEUE_DEPTH_MAX)?;
        let own_files = !self.keys.contains_key("filename");
        let has_several = own_files && self.number_or("nrfiles", 1, u32::MAX)? > 1;
        let parts = if own_files && !has_several { 1 } else { files };
        if parts > 1 {
            let spread = if has_several { Spread::Targets } else { Spread::AllTargets };
            self.set(knobs, "spread", spread.as_str())?;
        }
        if has_several && !self.keys.contains_key("file_service_type") {
            self.set(knobs, "file_service_type", &FileService::IN_TURNS.to_string())?;
        }
        let threads = if own_files && !has_several { 1 } else { jobs };
        let is_sequential = !self.value("rw").is_some_and(|rw| rw.starts_with("rand"));
        let verifies = self.keys.contains_key("verify");
        if self.keys.contains_key("offset_increment") || threads > 1 && !has_several && (is_sequential || verifies) {
            // Each of fio's jobs has the whole of its region, whatever the others do.
            let increment = self.value("offset_increment").unwrap_or("0").to_owned();
            self.set(knobs, "offset_increment", &increment)?;
        }
        self.set(knobs, "numjobs", &threads.to_string())?;
        self.set(knobs, "iodepth", &depth.to_string())?;
        Ok(parts)
    }

    /// `runtime`, `time_based`, `loops`, `io_size`: without `time_based` fio stops after the region.
    fn length(&mut self, knobs: &mut Knobs) -> Result<(), SourceError> {
        let time_based = flag(self.source, self.keys, "time_based", false)?;
        let runtime = self.value("runtime").filter(|v| fathom_units::parse_duration_ns(v) != Ok(0));
        if let Some(runtime) = runtime {
            // Only fio's own form: `2s..10s` and `auto` are Fathom's.
            if !runtime.starts_with(|c: char| c.is_ascii_digit()) || runtime.contains("..") {
                let message = msg!("fio-not-a-time", text = runtime.to_owned());
                return Err(self.error("runtime", message, msg!("fio-not-a-time-help")));
            }
            self.set(knobs, "runtime", runtime)?;
        }
        if time_based {
            if runtime.is_none() {
                return Err(self.error("time_based", msg!("fio-time-based"), msg!("fio-time-based-help")));
            }
            for key in ["loops", "io_size"] {
                if self.keys.contains_key(key) {
                    push_note(self.notes, msg!("fio-no-effect", key = key, with = "time_based"));
                }
            }
            return Ok(());
        }
        let mut passes = self.bounded("loops", crate::knobs::PASSES_MAX)? as u64;
        if let Some(text) = self.value("io_size").map(str::to_owned) {
            let bytes = |text: &str| fathom_units::parse_size(text).ok().filter(|bytes| *bytes > 0);
            match (bytes(&text), self.value("size").and_then(bytes)) {
                // Passes say the same where each goes over the whole region.
                (Some(io), Some(size)) if io % size == 0 && self.covers_region() => passes *= io / size,
                _ => self.set(knobs, "io_size", &text)?,
            }
        }
        self.set(knobs, "loops", &passes.to_string())?;
        if self.keys.contains_key("read_iolog") && runtime.is_none() {
            return Ok(());
        }
        let note = if runtime.is_some() { msg!("fio-ends-after-size-or-runtime") } else { msg!("fio-ends-after-size") };
        push_note(self.notes, note);
        Ok(())
    }

    /// Whether nothing parts a pass over the region from as many bytes as the region has.
    fn covers_region(&self) -> bool {
        const PARTS: [&str; 6] = ["filesize", "zonemode", "zonesize", "number_ios", "bsrange", "bssplit"];
        let is_listed = self.value("random_distribution").is_some_and(|word| word.starts_with("sequence"));
        !is_listed
            && !self.value("rw").is_some_and(|rw| rw.contains(':') || rw.contains("trimwrite"))
            && !PARTS.iter().any(|key| self.keys.contains_key(key))
    }

    /// `rate_iops` is per job and direction in fio, per step in Fathom; fio's k is 1024 here, too.
    pub(super) fn rate(&mut self, knobs: &mut Knobs, sections: usize) -> Result<(), SourceError> {
        if let Some(text) = self.value("rate").map(str::to_owned) {
            return self.bandwidth(knobs, &text, sections);
        }
        let Some(text) = self.value("rate_iops").map(str::to_owned) else {
            if self.keys.contains_key("rate_process") {
                push_note(self.notes, msg!("knob-rate-process-alone"));
            }
            return Ok(());
        };
        let rates = fio_rates(&text, self.value("rw").unwrap_or("read"));
        let rates = rates.ok_or_else(|| self.error("rate_iops", msg!("fio-not-a-rate"), msg!("fio-rate-help")))?;
        let jobs = self.bounded("numjobs", THREADS_MAX)? as u64 * sections as u64;
        let rates: Vec<u64> = rates.iter().map(|rate| rate.saturating_mul(jobs)).collect();
        let iops: Vec<f64> = rates.iter().map(|rate| *rate as f64).collect();
        if self.set_rates(knobs, &iops)? {
            let total = rates.iter().fold(0, |sum: u64, rate| sum.saturating_add(*rate)).to_string();
            push_note(self.notes, msg!("fio-rate-of-step", text = text, total = total));
        }
        Ok(())
    }

    /// `rate`: bytes per second of a job and direction, here as the I/Os per second that move as many.
    fn bandwidth(&mut self, knobs: &mut Knobs, text: &str, sections: usize) -> Result<(), SourceError> {
        if self.keys.contains_key("rate_iops") {
            return Err(self.error("rate", msg!("fio-two-rates"), msg!("fio-two-rates-help")));
        }
        let rw = self.value("rw").unwrap_or("read");
        let rates = fio_rates(text, rw);
        let rates = rates.ok_or_else(|| self.error("rate", msg!("fio-not-a-rate"), msg!("fio-rate-help")))?;
        let jobs = self.bounded("numjobs", THREADS_MAX)? as u64 * sections as u64;
        let rates: Vec<u64> = rates.iter().map(|rate| rate.saturating_mul(jobs)).collect();
        let ops = rated_ops(rw);
        let iops: Vec<f64> =
            rates.iter().zip(ops).map(|(rate, op)| *rate as f64 / knobs.mean_block_bytes(*op)).collect();
        if self.set_rates(knobs, &iops)? {
            let rate = Quantity::bytes_per_s(rates.iter().map(|rate| *rate as f64).sum());
            let iops = Quantity::iops(iops.iter().sum());
            push_note(self.notes, msg!("fio-bandwidth-of-step", text = text.to_owned(), rate = rate, iops = iops));
        }
        Ok(())
    }

    /// Sets the rate of each operation in [`rated_ops`]; 0 means no limit. Returns false if no operation has a limit.
    fn set_rates(&mut self, knobs: &mut Knobs, iops: &[f64]) -> Result<bool, SourceError> {
        if iops.iter().all(|iops| *iops == 0.0) {
            if self.keys.contains_key("rate_process") {
                push_note(self.notes, msg!("knob-rate-process-alone"));
            }
            return Ok(false);
        }
        let is_mixed = rated_ops(self.value("rw").unwrap_or("read")) == [Op::Read, Op::Write];
        let text = match iops {
            [reads, writes] if is_mixed => format!("{reads},{writes}"),
            _ => iops.iter().sum::<f64>().to_string(),
        };
        self.set(knobs, "rate_iops", &text)?;
        if let Some(process) = self.value("rate_process").map(str::to_owned) {
            self.set(knobs, "rate_process", &process)?;
        }
        Ok(true)
    }

    /// `startdelay` in nanoseconds; in fio it is a number of seconds unless it has a unit.
    pub(super) fn delay_ns(&self) -> Result<u64, SourceError> {
        let Some(text) = self.value("startdelay") else { return Ok(0) };
        fathom_units::parse_duration_ns(text).map_err(|_| {
            self.error("startdelay", msg!("fio-not-a-time", text = text.to_owned()), msg!("fio-not-a-time-help"))
        })
    }
}
