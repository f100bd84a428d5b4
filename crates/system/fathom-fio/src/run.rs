//! A call of fio: watched, ended when the user wants it, and its figures as records.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use fathom_host::HostSampler;
use fathom_host::child::die_with_parent;
use fathom_message::{Message, Quantity, Say as _, Unit, msg};
use fathom_plan::{FioPlace, Step, TargetId};
use fathom_record::{HostDelta, Progress, RunControl, StepFailure, StepRecord, Warning};
use serde_json::Value;

use crate::import::records_by_name;
use crate::job::{Targets, Workplace};
use crate::output::Documents;
use crate::series::{Reading, intervals};
use crate::text::find_document;
use crate::watch::{Call, CallError, Ended, Listener, STOP_GRACE, said};

/// fio prints what it has done so far this often.
const STATUS_INTERVAL: &str = "1";
/// A reading is of the measured time alone when it comes this long after the warm-up.
const AFTER_RAMP: Duration = Duration::from_millis(500);
/// After its time fio has this long.
pub(crate) const GRACE: Duration = Duration::from_secs(60);
/// Engines that use the processor or its memory, and do no I/O.
const BURNERS: [&str; 2] = ["cpuio", "page_fault"];
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
    call.arg(place.job_file());
    die_with_parent(&mut call).map_err(|_| StepFailure::Refused {
        what: what(),
        why: msg!("fio-run-not-on-this-system"),
        help: msg!("fio-run-not-on-this-system-help"),
    })?;
    let longest = steps.iter().map(|s| s.length.delay_ns + s.length.ramp_ns).max().unwrap_or(0);
    let warm_up = Duration::from_nanos(longest);
    let mut watched = Watched {
        steps,
        sections: &place.sections,
        warm_up,
        readings: vec![Vec::new(); steps.len()],
        documents: Documents::default(),
        last: None,
    };
    let watch = Call { sampler, warm_up, deadline: deadline(steps), stop_grace: STOP_GRACE };
    let ended = watch.run(call, &mut watched, control).map_err(|e| match e {
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

/// A call while it runs.
struct Watched<'a> {
    steps: &'a [Step],
    sections: &'a [String],
    warm_up: Duration,
    /// `[step]`: what fio said of it each second.
    readings: Vec<Vec<Reading>>,
    documents: Documents,
    last: Option<String>,
}

impl Listener for Watched<'_> {
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
}

impl Watched<'_> {
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
            record.intervals = intervals(readings, step.length.ramp_ns > 0);
            keep_what_is_true(step, record);
            record.host = ended.host.clone().map(|host| HostDelta { measured_ns: host.window_ns, ..host });
            record.warnings.push(Warning::Note { text: msg!("fio-run-by", version = version.clone()) });
            let longer = longer_window(record).map(|(window, measured)| Warning::Note {
                text: msg!("fio-run-window", window = window, measured = measured),
            });
            record.warnings.extend(longer);
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
        said(ended.stderr.lines().chain(self.documents.messages.iter().map(String::as_str)))
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

/// For how long the host was watched, and how long was measured, where the two differ by much.
pub(crate) fn longer_window(record: &StepRecord) -> Option<(Quantity, Quantity)> {
    let window_ns = record.host.as_ref()?.window_ns;
    let quantity = |ns: u64| Quantity::new(ns as f64, Unit::Ns);
    let is_longer = window_ns as f64 > record.runtime_ns as f64 * (1.0 + LONGER);
    is_longer.then(|| (quantity(window_ns), quantity(record.runtime_ns)))
}
