//! From the keys of a job to a step with the load that fio would give.

use super::ini::Source;
use super::keys::{self, Fate};
use super::{Job, Keys};
use crate::error::SourceError;
use crate::knobs::{KnobError, Knobs, QUEUE_DEPTH_MAX, THREADS_MAX, push_note};
use crate::step::{EngineName, Step, Target};

/// Notes and errors of one job while it is put together.
pub(super) struct Reader<'r, 'a> {
    pub(super) source: &'r Source<'r>,
    pub(super) keys: &'r Keys<'a>,
    pub(super) section: std::ops::Range<usize>,
    pub(super) notes: &'r mut Vec<String>,
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
            let message = format!("{key}: `{other}` is neither 1 nor 0");
            Err(source.error(entry.value_span.clone(), message, "write 1 or 0"))
        }
    }
}

/// The step of a group of jobs that are equal but for their files.
pub(super) fn step(source: &Source<'_>, group: &[Job<'_>], notes: &mut Vec<String>) -> Result<Step, SourceError> {
    let first = &group[0];
    let mut reader = Reader { source, keys: &first.keys, section: first.section.span.clone(), notes };
    let files: Vec<Vec<String>> = group.iter().map(|j| reader.files(j)).collect::<Result<_, _>>()?;
    // Equal sections have equally many files, or their loads on each file would differ.
    if let Some(i) = files.iter().position(|f| f.len() != files[0].len()) {
        return Err(source.error(
            group[i].section.span.clone(),
            "sections that run at once need equally many files",
            "",
        ));
    }
    if group.len() > 1 {
        let names: Vec<&str> = group.iter().map(|j| j.section.name.as_str()).collect();
        push_note(reader.notes, format!("sections {} run at once in fio: one step over their files", names.join(", ")));
    }
    let targets: Vec<Target> = files.iter().flatten().map(|path| Target { path: path.clone() }).collect();
    let knobs = reader.knobs(files[0].len(), group.len())?;
    let step = knobs.build(0, "A", targets, reader.notes).map_err(|e| reader.blame(&e))?;
    reader.remark_on(&step)?;
    Ok(step)
}

impl Reader<'_, '_> {
    pub(super) fn value(&self, key: &str) -> Option<&str> {
        self.keys.get(key)?.value.as_deref()
    }

    pub(super) fn error(&self, key: &str, message: &str, help: &str) -> SourceError {
        let span = self.keys.get(key).map_or(self.section.clone(), |e| e.value_span.clone());
        self.source.error(span, message, help)
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
        self.error(found.unwrap_or_default(), &error.message, error.help.as_deref().unwrap_or_default())
    }

    fn set(&self, knobs: &mut Knobs, key: &str, value: &str) -> Result<(), SourceError> {
        knobs.set(key, value).map_err(|mut e| {
            if key == "ioengine" {
                e.message = format!("ioengine={value} is not carried out: Fathom has no such engine");
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
            _ => Err(self.error(key, &format!("{key}: `{text}` is out of bounds; it must be 1 to {max}"), "")),
        }
    }

    /// The files of one section as fio names them.
    fn files(&mut self, job: &Job<'_>) -> Result<Vec<String>, SourceError> {
        let text = |key: &str| job.keys.get(key).and_then(|e| e.value.as_deref().map(|v| (v, *e)));
        let folder = match text("directory") {
            Some((value, entry)) => match &split_names(value)[..] {
                [one] => Some(one.clone()),
                _ => {
                    let help = "name the files with filename=a:b";
                    return Err(self.source.error(
                        entry.value_span.clone(),
                        "several directories are not carried out",
                        help,
                    ));
                }
            },
            None => None,
        };
        let in_folder = |name: String| match &folder {
            Some(folder) if !name.starts_with('/') => format!("{}/{name}", folder.trim_end_matches('/')),
            _ => name,
        };
        if let Some((value, entry)) = text("filename") {
            let names = split_names(value);
            if names.is_empty() {
                return Err(self.source.error(entry.value_span.clone(), "filename names no file", "filename=a:b"));
            }
            return Ok(names.into_iter().map(in_folder).collect());
        }
        let jobs = self.bounded("numjobs", THREADS_MAX)?;
        let name = text("name").map_or(job.section.name.as_str(), |(v, _)| v);
        if jobs > 1 {
            push_note(
                self.notes,
                format!("[{name}] has no filename: fio gives each of its {jobs} jobs a file of its own"),
            );
        }
        Ok((0..jobs).map(|j| in_folder(format!("{name}.{j}.0"))).collect())
    }

    /// The knobs of `sections` equal sections over `files` files each.
    fn knobs(&mut self, files: usize, sections: usize) -> Result<Knobs, SourceError> {
        let mut knobs = Knobs::fio_defaults();
        self.remark_on_defaults();
        for (key, entry) in self.keys {
            if keys::fate(key) == Some(Fate::Knob) {
                self.remark_on_iec(entry);
                self.set(&mut knobs, key, entry.value.as_deref().unwrap_or("1"))?;
            }
        }
        if let Some(buffered) = self.keys.get("buffered") {
            let on = flag(self.source, self.keys, "buffered", false)?;
            if self.keys.contains_key("direct") {
                return Err(self.source.error(
                    buffered.key_span.clone(),
                    "direct and buffered say the same twice",
                    "keep one",
                ));
            }
            self.set(&mut knobs, "direct", if on { "0" } else { "1" })?;
        }
        let spread = self.load(&mut knobs, files)?;
        self.length(&mut knobs)?;
        self.rate(&mut knobs, sections)?;
        if let Some(entry) = self.keys.get("size").filter(|_| self.value("size") != Some("100%")) {
            self.remark_on_iec(entry);
            let text = entry.value.as_deref().unwrap_or_default();
            // fio divides a job's size by its files.
            let part = fathom_units::parse_size(text).map(|bytes| (bytes / spread as u64).to_string());
            self.set(&mut knobs, "size", part.as_deref().unwrap_or(text))?;
        }
        Ok(knobs)
    }

    /// Threads and depth per file such that as many I/Os are in flight as in fio.
    fn load(&mut self, knobs: &mut Knobs, files: usize) -> Result<usize, SourceError> {
        let jobs = self.bounded("numjobs", THREADS_MAX)?;
        let depth = self.bounded("iodepth", QUEUE_DEPTH_MAX)?;
        let own_files = !self.keys.contains_key("filename");
        let (threads, queue_depth) = if own_files {
            (1, depth)
        } else if jobs % files == 0 {
            (jobs / files, depth)
        } else if depth % files == 0 && !self.is_synchronous() {
            (jobs, depth / files)
        } else {
            return Err(self.error(
                "filename",
                &format!("{jobs} jobs x {depth} I/Os in flight do not divide by {files} files"),
                "fio lets each job go round all files; write one section per file instead",
            ));
        };
        let spread = if own_files { 1 } else { files };
        if spread > 1 {
            push_note(
                self.notes,
                format!(
                    "fio lets {jobs} jobs of iodepth {depth} go round {files} files; Fathom gives each file threads of its \
                     own: T{threads} QD{queue_depth} on each, as many I/Os in flight in all"
                ),
            );
        }
        self.set(knobs, "numjobs", &threads.to_string())?;
        self.set(knobs, "iodepth", &queue_depth.to_string())?;
        Ok(spread)
    }

    fn is_synchronous(&self) -> bool {
        let name = self.value("ioengine").unwrap_or("psync");
        EngineName::ALL.iter().any(|e| e.as_str() == name && e.is_synchronous())
    }

    /// `runtime`, `time_based`, `loops`, `io_size`: without `time_based` fio stops after the region.
    fn length(&mut self, knobs: &mut Knobs) -> Result<(), SourceError> {
        let time_based = flag(self.source, self.keys, "time_based", false)?;
        let runtime = self.value("runtime").filter(|v| fathom_units::parse_duration_ns(v) != Ok(0));
        if let Some(runtime) = runtime {
            // Only fio's own form: `2s..10s` and `auto` are Fathom's.
            if !runtime.starts_with(|c: char| c.is_ascii_digit()) || runtime.contains("..") {
                return Err(self.error("runtime", &format!("runtime: `{runtime}` is not a time"), "e.g. 30 or 30s"));
            }
            self.set(knobs, "runtime", runtime)?;
        }
        if time_based {
            if runtime.is_none() {
                return Err(self.error("time_based", "time_based needs a runtime", "add runtime=30s"));
            }
            for key in ["loops", "io_size"] {
                if self.keys.contains_key(key) {
                    push_note(self.notes, format!("{key} has no effect with time_based"));
                }
            }
            return Ok(());
        }
        let loops = self.bounded("loops", crate::knobs::PASSES_MAX)? as u64 * self.passes_of_io_size()?;
        self.set(knobs, "loops", &loops.to_string())?;
        let stop = if runtime.is_some() { "or its runtime" } else { "however long that takes" };
        push_note(self.notes, format!("without time_based a job ends after its size ({stop}), as in fio"));
        Ok(())
    }

    fn passes_of_io_size(&self) -> Result<u64, SourceError> {
        let Some(text) = self.value("io_size") else {
            return Ok(1);
        };
        let bytes = |t: &str| fathom_units::parse_size(t).ok().filter(|b| *b > 0);
        match (bytes(text), self.value("size").and_then(bytes)) {
            (Some(io), Some(size)) if io % size == 0 => Ok(io / size),
            _ => Err(self.error(
                "io_size",
                "io_size is carried out only as a whole multiple of size",
                "give size and a multiple of it, or use time_based with runtime",
            )),
        }
    }

    /// `rate_iops` is per job and direction in fio, per step in Fathom; fio's k is 1024 here, too.
    fn rate(&mut self, knobs: &mut Knobs, sections: usize) -> Result<(), SourceError> {
        let Some(text) = self.value("rate_iops").map(str::to_owned) else {
            if self.keys.contains_key("rate_process") {
                push_note(self.notes, "rate_process has no effect without rate_iops".to_owned());
            }
            return Ok(());
        };
        let help = "e.g. rate_iops=1000, or rate_iops=700,300 for rwmixread=70";
        let parts: Option<Vec<u64>> = text
            .split(',')
            .map(|p| if p.trim().is_empty() { Some(0) } else { fathom_units::parse_size(p).ok() })
            .collect();
        let parts = parts.ok_or_else(|| self.error("rate_iops", "rate_iops: this is no rate", help))?;
        let rw = self.value("rw").unwrap_or("read");
        let directions: &[usize] = match rw {
            "rw" | "readwrite" | "randrw" => &[0, 1],
            "trimwrite" | "randtrimwrite" => &[1, 2],
            _ if rw.contains("write") => &[1],
            _ if rw.contains("trim") => &[2],
            _ => &[0],
        };
        // fio repeats the last rate for the directions that are not named.
        let of = |d: usize| parts.get(d).or(parts.last()).copied().unwrap_or(0);
        let rates: Vec<u64> = directions.iter().map(|d| of(*d)).collect();
        let per_job = rates.iter().fold(0u64, |sum, r| sum.saturating_add(*r));
        if let [reads, _] = rates[..] {
            let read_pct = if rw.starts_with("trim") || rw.starts_with("randtrim") { 50 } else { self.read_pct() };
            let given = 100.0 * reads as f64 / per_job.max(1) as f64;
            if (given - f64::from(read_pct)).abs() > 1.0 {
                let message = format!("these rates make {given:.0} percent, the mix asks for {read_pct}");
                return Err(self.error("rate_iops", &message, help));
            }
        }
        let jobs = self.bounded("numjobs", THREADS_MAX)? as u64;
        let total = per_job.saturating_mul(jobs).saturating_mul(sections as u64);
        self.set(knobs, "rate_iops", &total.to_string())?;
        if let Some(process) = self.value("rate_process").map(str::to_owned) {
            self.set(knobs, "rate_process", &process)?;
        }
        push_note(
            self.notes,
            format!("rate_iops={text} of each fio job is {total} for the step; latency counts from the intended start"),
        );
        Ok(())
    }

    fn read_pct(&self) -> u8 {
        let percent = |key| self.value(key).and_then(|v: &str| v.trim_end_matches('%').parse::<u8>().ok());
        percent("rwmixread").or(percent("rwmixwrite").map(|w| 100u8.saturating_sub(w))).unwrap_or(50)
    }
}

/// Splits at `:`; `\:` is a colon in a name.
fn split_names(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&':') => {
                names.last_mut().expect("never empty").push(chars.next().unwrap_or(':'));
            }
            ':' => names.push(String::new()),
            _ => names.last_mut().expect("never empty").push(c),
        }
    }
    names.retain(|n| !n.is_empty());
    names
}
