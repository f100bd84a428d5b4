//! A call of fio: watched, ended when the user wants it, and its figures as records.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use fathom_host::child::{die_with_parent, interrupt, kill_with_children};
use fathom_host::{HostSampler, ProbeError};
use fathom_message::{Message, Say as _, msg};
use fathom_plan::{FioPlace, Step, TargetId};
use fathom_record::{HostDelta, Progress, RunControl, StepFailure, StepRecord, Warning};
use serde_json::Value;

use crate::import::records_by_name;
use crate::job::{Targets, Workplace};
use crate::output::Documents;
use crate::series::{Reading, intervals};
use crate::text::find_document;

/// How often the user's wish to stop, and fio's end, are looked at.
const TICK: Duration = Duration::from_millis(50);
/// How often the host's counters are read.
const SAMPLE: Duration = Duration::from_millis(500);
/// fio prints what it has done so far this often.
const STATUS_INTERVAL: &str = "1";
/// A reading is of the measured time alone when it comes this long after the warm-up.
const AFTER_RAMP: Duration = Duration::from_millis(500);
/// After its time, and after it was asked to end, fio has this long.
const GRACE: Duration = Duration::from_secs(60);
const STOP_GRACE: Duration = Duration::from_secs(10);
/// What fio printed before its end is read this long after it at most.
const REST: Duration = Duration::from_secs(1);
/// Engines that use the processor or its memory, and do no I/O.
const BURNERS: [&str; 2] = ["cpuio", "page_fault"];
/// Lines of fio's own messages that an error repeats.
const SAID_LINES: usize = 3;
/// A host's window that is longer than the measured time by more than this share is said.
const LONGER: f64 = 0.1;

/// A call of fio for steps that run at once.
pub struct FioRun<'a> {
    /// The steps; each has [`fathom_plan::Role::by_fio`].
    pub steps: &'a [Step],
    /// Opens a target as its consent allows; `true`: to write.
    pub open: &'a dyn Fn(&TargetId, bool) -> io::Result<File>,
    /// Where the folder of a target is today.
    pub folder_of: &'a dyn Fn(&TargetId) -> PathBuf,
    /// Reads the host's counters.
    pub sampler: HostSampler,
}

/// Runs fio, and yields a record for each step in their order.
///
/// # Errors
/// [`StepFailure::Refused`] without fio; [`StepFailure::Failed`] when it ends with an error, with what it said.
pub fn run_by_fio(run: FioRun<'_>, control: &mut RunControl<'_>) -> Result<Vec<StepRecord>, StepFailure> {
    let FioRun { steps, open, folder_of, sampler } = run;
    let what = || msg!("fio-run-what", steps = steps.iter().map(|s| s.label.clone()).collect::<Vec<_>>().join(", "));
    let program = program().ok_or_else(|| StepFailure::Refused {
        what: what(),
        why: msg!("fio-run-missing"),
        help: msg!("fio-run-missing-help"),
    })?;
    let failed = |error: &io::Error| StepFailure::failed(what(), error, msg!("fio-run-place-help"));
    let place = Workplace::new(steps, &Targets { open, folder_of }).map_err(|e| failed(&e))?;
    let writes = steps.iter().any(|s| s.workload.mix.is_destructive());
    let mut call = Command::new(&program);
    call.arg("--output-format=json+").arg(format!("--status-interval={STATUS_INTERVAL}"));
    // fio takes what is sent over a network for writing too.
    let sends = steps.iter().any(|s| s.role.by_fio.as_ref().is_some_and(|job| job.place == FioPlace::Nothing));
    if !writes && !sends {
        call.arg("--readonly");
    }
    call.arg(place.job_file()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    die_with_parent(&mut call).map_err(|_| StepFailure::Refused {
        what: what(),
        why: msg!("fio-run-not-on-this-system"),
        help: msg!("fio-run-not-on-this-system-help"),
    })?;
    let longest = steps.iter().map(|s| s.length.delay_ns + s.length.ramp_ns).max().unwrap_or(0);
    let watched = Watched {
        steps,
        sections: &place.sections,
        warm_up: Duration::from_nanos(longest),
        deadline: deadline(steps),
        readings: vec![Vec::new(); steps.len()],
        documents: Documents::default(),
        last: None,
        sampler,
        is_sampling: false,
    };
    let (watched, ended) = watched.run(call, control).map_err(|e| match e {
        CallError::Io(error) => failed(&error),
        CallError::Probe(error) => StepFailure::refused(what(), &error),
    })?;
    if let Some(path) = place.replaced() {
        let why = msg!("fio-run-replaced", path = path.display().to_string());
        return Err(StepFailure::Failed { what: what(), why, help: msg!("fio-run-replaced-help") });
    }
    watched.records(&ended, what)
}

/// fio as the shell would find it.
fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("fio")).find(|path| path.is_file())
}

/// When fio must have ended; `None` for jobs that end with their size.
fn deadline(steps: &[Step]) -> Option<Duration> {
    let of = |step: &Step| {
        let ns = step.length.delay_ns + step.length.ramp_ns + step.length.budget_ns;
        step.length.passes.is_none().then_some(Duration::from_nanos(ns))
    };
    let longest: Option<Vec<Duration>> = steps.iter().map(of).collect();
    longest?.into_iter().max().map(|longest| longest + GRACE)
}

enum CallError {
    Io(io::Error),
    Probe(ProbeError),
}

/// How a call ended.
struct Ended {
    status: ExitStatus,
    /// The user wanted it to end.
    is_stopped: bool,
    /// It did not end by itself in its time.
    is_late: bool,
    stderr: String,
    host: Option<HostDelta>,
}

/// A call while it runs.
struct Watched<'a> {
    steps: &'a [Step],
    sections: &'a [String],
    warm_up: Duration,
    deadline: Option<Duration>,
    /// `[step]`: what fio said of it each second.
    readings: Vec<Vec<Reading>>,
    documents: Documents,
    last: Option<String>,
    sampler: HostSampler,
    is_sampling: bool,
}

impl Watched<'_> {
    fn run(mut self, mut call: Command, control: &mut RunControl<'_>) -> Result<(Self, Ended), CallError> {
        self.sampler.prepare();
        if self.warm_up.is_zero() {
            self.begin_sampling()?;
        }
        let mut running = Running(call.spawn().map_err(CallError::Io)?);
        let child = &mut running.0;
        self.sampler.follow(child.id());
        let stdout = read_all(child.stdout.take());
        let stderr = read_all(child.stderr.take());
        let begun = Instant::now();
        let mut stop_asked: Option<Instant> = None;
        let mut sampled = Instant::now();
        let (mut is_stopped, mut is_late) = (false, false);
        let status = loop {
            match stdout.recv_timeout(TICK) {
                Ok(text) => self.take(&text, begun.elapsed(), control),
                Err(RecvTimeoutError::Timeout) => {}
                // It has closed its output, and is about to end.
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(TICK),
            }
            if let Some(status) = child.try_wait().map_err(CallError::Io)? {
                break status;
            }
            if !self.is_sampling && begun.elapsed() >= self.warm_up {
                self.begin_sampling()?;
            }
            if self.is_sampling && sampled.elapsed() >= SAMPLE {
                sampled = Instant::now();
                self.sampler.interval().map_err(CallError::Probe)?;
            }
            is_late |= self.deadline.is_some_and(|deadline| begun.elapsed() > deadline);
            is_stopped |= control.stopped();
            match stop_asked {
                None if is_stopped || is_late => {
                    interrupt(child);
                    stop_asked = Some(Instant::now());
                }
                Some(asked) if asked.elapsed() > STOP_GRACE => kill_with_children(child),
                _ => {}
            }
        };
        let host = match self.is_sampling {
            true => Some(self.sampler.finish(1).map_err(CallError::Probe)?),
            false => None,
        };
        for text in rest_of(&stdout) {
            self.take(&text, begun.elapsed(), control);
        }
        let stderr: String = rest_of(&stderr).collect();
        Ok((self, Ended { status, is_stopped, is_late, stderr, host }))
    }

    fn begin_sampling(&mut self) -> Result<(), CallError> {
        self.is_sampling = true;
        self.sampler.begin_prepared().map_err(CallError::Probe)
    }

    /// Takes what fio printed; complete documents become readings.
    fn take(&mut self, text: &str, elapsed: Duration, control: &mut RunControl<'_>) {
        for document in self.documents.take(text) {
            let is_measured = self.warm_up.is_zero() || elapsed >= self.warm_up + AFTER_RAMP;
            if let Ok(value) = serde_json::from_str::<Value>(&document)
                && is_measured
            {
                self.read(&value, elapsed, control);
            }
            self.last = Some(document);
        }
    }

    fn read(&mut self, document: &Value, elapsed: Duration, control: &mut RunControl<'_>) {
        let mut progress = Progress {
            elapsed_ns: 0,
            remaining_ns: 0,
            iops: 0.0,
            bytes_per_s: 0.0,
            bytes_done: 0,
            p99_ns: None,
            activity: None,
        };
        for (section, readings) in self.sections.iter().zip(&mut self.readings) {
            let Some(now) = Reading::of(document, section) else { continue };
            let (iops, bytes_per_s) = now.rates_since(readings.last());
            let (bytes, measured_ns) = now.so_far();
            progress.iops += iops;
            progress.bytes_per_s += bytes_per_s;
            progress.bytes_done += bytes;
            progress.elapsed_ns = progress.elapsed_ns.max(measured_ns);
            readings.push(now);
        }
        let whole = self.steps.iter().filter(|s| s.length.passes.is_none());
        let whole = whole.map(|s| s.length.delay_ns + s.length.ramp_ns + s.length.budget_ns).max().unwrap_or(0);
        progress.remaining_ns = whole.saturating_sub(elapsed.as_nanos() as u64);
        (control.on_progress)(&progress);
    }

    /// The records from the last document.
    fn records(mut self, ended: &Ended, what: impl Fn() -> Message) -> Result<Vec<StepRecord>, StepFailure> {
        let said = self.said(ended);
        let failed = |why: Message| StepFailure::Failed { what: what(), why, help: msg!("fio-run-failed-help") };
        let Some(document) = self.last.take() else {
            return Err(failed(msg!("fio-run-failed", status = ended.status.to_string(), said = said)));
        };
        let found = find_document(&document, "fio").map_err(|e| failed(e.message()))?;
        let version = found.value.get("fio version").and_then(Value::as_str).unwrap_or("fio").to_owned();
        let mut records = records_by_name(&found, self.sections, "fio").map_err(|e| failed(e.message()))?;
        if !ended.status.success() && !ended.is_stopped && records.iter().all(|r| r.warnings.iter().all(is_no_error)) {
            return Err(failed(msg!("fio-run-failed", status = ended.status.to_string(), said = said)));
        }
        for ((step, record), readings) in self.steps.iter().zip(&mut records).zip(&self.readings) {
            record.intervals = intervals(readings);
            keep_what_is_true(step, record);
            record.host = ended.host.clone().map(|host| HostDelta { measured_ns: host.window_ns, ..host });
            record.warnings.push(Warning::Note { text: msg!("fio-run-by", version = version.clone()) });
            if let Some(window_ns) = record.host.as_ref().map(|host| host.window_ns)
                && window_ns as f64 > record.runtime_ns as f64 * (1.0 + LONGER)
            {
                let (window, measured) = (quantity_s(window_ns), quantity_s(record.runtime_ns));
                let text = msg!("fio-run-window", window = window, measured = measured);
                record.warnings.push(Warning::Note { text });
            }
            if ended.is_stopped {
                record.warnings.push(Warning::Interrupted);
            }
            if ended.is_late {
                record.warnings.push(Warning::Note { text: msg!("fio-run-late") });
            }
        }
        Ok(records)
    }

    /// What fio said beside its figures.
    fn said(&self, ended: &Ended) -> String {
        let messages = self.documents.messages.iter().map(String::as_str);
        let lines = ended.stderr.lines().chain(messages).map(str::trim).filter(|line| !line.is_empty());
        lines.take(SAID_LINES).collect::<Vec<_>>().join("; ")
    }
}

/// fio counts cycles of a processor as I/Os, and a block for each file that it makes.
fn keep_what_is_true(step: &Step, record: &mut StepRecord) {
    let Some(job) = &step.role.by_fio else { return };
    if BURNERS.contains(&job.ioengine.as_str()) {
        record.directions.clear();
        record.intervals.clear();
    }
    if matches!(job.place, FioPlace::Folder { .. }) {
        record.directions.iter_mut().for_each(|d| d.bytes = 0);
        record.intervals.iter_mut().flat_map(|i| &mut i.directions).for_each(|d| d.bytes = 0);
    }
}

fn is_no_error(warning: &Warning) -> bool {
    !matches!(warning, Warning::IoErrors { .. })
}

fn quantity_s(ns: u64) -> fathom_message::Quantity {
    fathom_message::Quantity::new(ns as f64, fathom_message::Unit::Ns)
}

/// fio while it runs: whatever ends the watch ends it, with the jobs that it started.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            kill_with_children(&mut self.0);
            let _ended = self.0.wait();
        }
    }
}

/// What is left in a pipe whose program has ended: a child that it lost may hold the pipe open for as long as it likes.
fn rest_of(texts: &Receiver<String>) -> impl Iterator<Item = String> + '_ {
    std::iter::from_fn(|| texts.recv_timeout(REST).ok())
}

/// What a pipe gives, as it comes, from a thread of its own: a full pipe would hold fio up.
fn read_all(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (to_here, texts) = channel();
    if let Some(mut pipe) = pipe {
        std::thread::spawn(move || {
            let mut buffer = vec![0; 64 << 10];
            let mut tail = Vec::new();
            while let Ok(length) = pipe.read(&mut buffer) {
                if length == 0 {
                    break;
                }
                tail.extend_from_slice(&buffer[..length]);
                // A character may be cut by the end of the buffer.
                let whole = match std::str::from_utf8(&tail) {
                    Ok(_) => tail.len(),
                    Err(error) if error.error_len().is_none() => error.valid_up_to(),
                    Err(_) => tail.len(),
                };
                let rest = tail.split_off(whole);
                let text = String::from_utf8_lossy(&std::mem::replace(&mut tail, rest)).into_owned();
                if to_here.send(text).is_err() {
                    break;
                }
            }
        });
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_that_ends_with_an_error_leaves_no_program_behind() {
        let mut call = Command::new("sh");
        call.args(["-c", "sleep 100 & wait"]).stdout(Stdio::piped());
        let mut running = Running(call.spawn().expect("sh starts"));
        let texts = read_all(running.0.stdout.take());
        drop(running);
        // The pipe ends when the last of them is gone.
        assert_eq!(texts.recv_timeout(Duration::from_secs(30)), Err(RecvTimeoutError::Disconnected));
    }

    #[test]
    fn a_lost_child_that_holds_the_pipe_does_not_hold_up_the_result() {
        let mut call = Command::new("sh");
        call.args(["-c", "echo said; sleep 30 &"]).stdout(Stdio::piped());
        let mut child = call.spawn().expect("sh starts");
        let texts = read_all(child.stdout.take());
        assert!(child.wait().expect("ended").success());
        let begun = Instant::now();
        assert_eq!(rest_of(&texts).collect::<String>(), "said\n");
        assert!(begun.elapsed() < Duration::from_secs(20), "it waited for the child");
    }
}
