//! From the keys of a job to a step with the load that fio would give.

use fathom_message::{Arg, Join, Message, Quantity, msg};

use super::ini::Source;
use super::keys;
use super::units::{fio_file_names, fio_rates};
use super::{Job, Keys};
use crate::error::SourceError;
use crate::knobs::{KnobError, Knobs, QUEUE_DEPTH_MAX, THREADS_MAX, push_note};
use crate::step::{Spread, Step, TargetId};

/// Notes and errors of one job while it is put together.
pub(super) struct Reader<'r, 'a> {
    pub(super) source: &'r Source<'r>,
    pub(super) keys: &'r Keys<'a>,
    pub(super) section: std::ops::Range<usize>,
    pub(super) notes: &'r mut Vec<Message>,
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
    let mut reader = Reader { source, keys: &first.keys, section: first.section.span.clone(), notes };
    let files: Vec<Vec<String>> = group.iter().map(|j| reader.files(j)).collect::<Result<_, _>>()?;
    if group.len() > 1 {
        let names = Arg::names(group.iter().map(|j| j.section.name.as_str()), Join::Comma);
        push_note(reader.notes, msg!("fio-sections-at-once", sections = names));
    }
    let targets: Vec<TargetId> = files.iter().flatten().map(|path| TargetId::new(path.clone())).collect();
    let named_by_fio = group.iter().zip(&files).filter(|(job, _)| !job.keys.contains_key("filename"));
    job_files.extend(named_by_fio.flat_map(|(_, files)| files).map(|path| TargetId::new(path.clone())));
    let knobs = reader.knobs(files[0].len(), group.len())?;
    let mut step = knobs.build(0, "A", targets, reader.notes).map_err(|e| reader.blame(&e))?;
    step.length.delay_ns = reader.delay_ns()?;
    step.role.job = Some(first.section.name.clone());
    reader.remark_on(&step)?;
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

    fn blame(&self, error: &KnobError) -> SourceError {
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

    fn set(&self, knobs: &mut Knobs, key: &str, value: &str) -> Result<(), SourceError> {
        knobs.set(key, value).map_err(|mut e| {
            if key == "ioengine" {
                e.message = msg!("fio-no-such-engine", engine = value.to_owned());
            }
            self.blame(&e)
        })
    }

    fn bounded(&self, key: &str, max: u32) -> Result<usize, SourceError> {
        let Some(text) = self.value(key) else {
            return Ok(1);
        };
        match text.parse::<u32>() {
            Ok(n) if (1..=max).contains(&n) => Ok(n as usize),
            _ => {
                let why = msg!("knob-out-of-range", text = text.to_owned(), min = 1_u32, max = max);
                let message = msg!("what-and-why", what = key.to_owned(), why = why);
                Err(self.source.error(self.span_of(key), message, None))
            }
        }
    }

    /// The files of one section as fio names them.
    fn files(&mut self, job: &Job<'_>) -> Result<Vec<String>, SourceError> {
        let text = |key: &str| job.keys.get(key).and_then(|e| e.value.as_deref().map(|v| (v, *e)));
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
        if let Some((value, entry)) = text("filename") {
            let names = fio_file_names(value);
            if names.is_empty() {
                let help = Some(msg!("fio-no-file-help"));
                return Err(self.source.error(entry.value_span.clone(), msg!("fio-no-file"), help));
            }
            return Ok(names.into_iter().map(in_folder).collect());
        }
        let jobs = self.bounded("numjobs", THREADS_MAX)?;
        let name = text("name").map_or(job.section.name.as_str(), |(v, _)| v);
        if jobs > 1 {
            push_note(self.notes, msg!("fio-file-per-job", section = name.to_owned(), jobs = jobs));
        }
        Ok((0..jobs).map(|j| in_folder(format!("{name}.{j}.0"))).collect())
    }

    /// The knobs of `sections` equal sections over `files` files each.
    fn knobs(&mut self, files: usize, sections: usize) -> Result<Knobs, SourceError> {
        let mut knobs = Knobs::fio_defaults();
        self.remark_on_defaults();
        for (key, entry) in self.keys {
            if keys::knob_set_alone(key).is_some() {
                self.remark_on_iec(entry);
                self.set(&mut knobs, key, entry.value.as_deref().unwrap_or("1"))?;
            }
        }
        if let Some(buffered) = self.keys.get("buffered") {
            let on = flag(self.source, self.keys, "buffered", false)?;
            if self.keys.contains_key("direct") {
                let help = Some(msg!("fio-direct-and-buffered-help"));
                return Err(self.source.error(buffered.key_span.clone(), msg!("fio-direct-and-buffered"), help));
            }
            self.set(&mut knobs, "direct", if on { "0" } else { "1" })?;
        }
        let parts = self.load(&mut knobs, files)?;
        self.length(&mut knobs)?;
        self.rate(&mut knobs, sections)?;
        // A file is as large as its region here: where the two differ, fio would touch a part of its file.
        let (size, of_file) = (self.value("size"), self.value("filesize"));
        if of_file.is_some_and(|of_file| of_file.contains(['-', ',']) || size.is_some_and(|size| size != of_file)) {
            let message = msg!("fio-not-supported", key = "filesize", why = msg!("fio-filesize"));
            return Err(self.error("filesize", message, msg!("fio-filesize-help")));
        }
        let key = if size.is_some() { "size" } else { "filesize" };
        if let Some(entry) = self.keys.get(key).filter(|_| self.value(key) != Some("100%")) {
            self.remark_on_iec(entry);
            let text = entry.value.as_deref().unwrap_or_default();
            // fio divides a job's size by its files.
            let part = fathom_units::parse_size(text).map(|bytes| (bytes / parts as u64).to_string());
            self.set(&mut knobs, "size", part.as_deref().unwrap_or(text))?;
        }
        Ok(knobs)
    }

    /// Threads and depth; in how many parts fio divides the size. A job that names several files goes round them all.
    fn load(&mut self, knobs: &mut Knobs, files: usize) -> Result<usize, SourceError> {
        let jobs = self.bounded("numjobs", THREADS_MAX)?;
        let depth = self.bounded("iodepth", QUEUE_DEPTH_MAX)?;
        let own_files = !self.keys.contains_key("filename");
        let parts = if own_files { 1 } else { files };
        if parts > 1 {
            self.set(knobs, "spread", Spread::AllTargets.as_str())?;
        }
        self.set(knobs, "numjobs", &if own_files { 1 } else { jobs }.to_string())?;
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
        let loops = self.bounded("loops", crate::knobs::PASSES_MAX)? as u64 * self.passes_of_io_size()?;
        self.set(knobs, "loops", &loops.to_string())?;
        let note = if runtime.is_some() { msg!("fio-ends-after-size-or-runtime") } else { msg!("fio-ends-after-size") };
        push_note(self.notes, note);
        Ok(())
    }

    fn passes_of_io_size(&self) -> Result<u64, SourceError> {
        let Some(text) = self.value("io_size") else {
            return Ok(1);
        };
        let bytes = |t: &str| fathom_units::parse_size(t).ok().filter(|b| *b > 0);
        match (bytes(text), self.value("size").and_then(bytes)) {
            (Some(io), Some(size)) if io % size == 0 => Ok(io / size),
            _ => Err(self.error("io_size", msg!("fio-io-size"), msg!("fio-io-size-help"))),
        }
    }

    /// `rate_iops` is per job and direction in fio, per step in Fathom; fio's k is 1024 here, too.
    fn rate(&mut self, knobs: &mut Knobs, sections: usize) -> Result<(), SourceError> {
        if let Some(text) = self.value("rate").map(str::to_owned) {
            return self.bandwidth(knobs, &text, sections);
        }
        let Some(text) = self.value("rate_iops").map(str::to_owned) else {
            if self.keys.contains_key("rate_process") {
                push_note(self.notes, msg!("knob-rate-process-alone"));
            }
            return Ok(());
        };
        let help = msg!("fio-rate-help");
        let rw = self.value("rw").unwrap_or("read");
        let rates = fio_rates(&text, rw);
        let rates = rates.ok_or_else(|| self.error("rate_iops", msg!("fio-not-a-rate"), help.clone()))?;
        let per_job = rates.iter().fold(0u64, |sum, r| sum.saturating_add(*r));
        if let [reads, _] = rates[..] {
            let read_pct = if rw.starts_with("trim") || rw.starts_with("randtrim") { 50 } else { self.read_pct() };
            let given = 100.0 * reads as f64 / per_job.max(1) as f64;
            if (given - f64::from(read_pct)).abs() > 1.0 {
                let (given, read_pct) = (Quantity::pct(given.round()), Quantity::pct(read_pct.into()));
                let message = msg!("fio-rates-against-mix", given = given, mix = read_pct);
                return Err(self.error("rate_iops", message, help));
            }
        }
        let jobs = self.bounded("numjobs", THREADS_MAX)? as u64;
        let total = per_job.saturating_mul(jobs).saturating_mul(sections as u64);
        self.set(knobs, "rate_iops", &total.to_string())?;
        if let Some(process) = self.value("rate_process").map(str::to_owned) {
            self.set(knobs, "rate_process", &process)?;
        }
        push_note(self.notes, msg!("fio-rate-of-step", text = text, total = total.to_string()));
        Ok(())
    }

    /// `rate`: bytes per second of a job and direction, here as the I/Os per second that move as many.
    fn bandwidth(&mut self, knobs: &mut Knobs, text: &str, sections: usize) -> Result<(), SourceError> {
        let help = msg!("fio-rate-help");
        if self.keys.contains_key("rate_iops") {
            return Err(self.error("rate", msg!("fio-two-rates"), msg!("fio-two-rates-help")));
        }
        let rates = fio_rates(text, self.value("rw").unwrap_or("read"));
        let rates = rates.ok_or_else(|| self.error("rate", msg!("fio-not-a-rate"), help))?;
        let per_job: u64 = rates.iter().fold(0, |sum, rate| sum.saturating_add(*rate));
        let jobs = self.bounded("numjobs", THREADS_MAX)? as u64;
        let bytes_per_s = per_job.saturating_mul(jobs).saturating_mul(sections as u64);
        let iops = bytes_per_s as f64 / knobs.mean_block_bytes();
        self.set(knobs, "rate_iops", &iops.to_string())?;
        if let Some(process) = self.value("rate_process").map(str::to_owned) {
            self.set(knobs, "rate_process", &process)?;
        }
        let (rate, iops) = (Quantity::bytes_per_s(bytes_per_s as f64), Quantity::iops(iops));
        push_note(self.notes, msg!("fio-bandwidth-of-step", text = text.to_owned(), rate = rate, iops = iops));
        Ok(())
    }

    /// `startdelay` in nanoseconds; in fio it is a number of seconds unless it has a unit.
    fn delay_ns(&self) -> Result<u64, SourceError> {
        let Some(text) = self.value("startdelay") else { return Ok(0) };
        fathom_units::parse_duration_ns(text).map_err(|_| {
            self.error("startdelay", msg!("fio-not-a-time", text = text.to_owned()), msg!("fio-not-a-time-help"))
        })
    }

    fn read_pct(&self) -> u8 {
        let percent = |key| self.value(key).and_then(|v: &str| v.trim_end_matches('%').parse::<u8>().ok());
        percent("rwmixread").or(percent("rwmixwrite").map(|w| 100u8.saturating_sub(w))).unwrap_or(50)
    }
}
