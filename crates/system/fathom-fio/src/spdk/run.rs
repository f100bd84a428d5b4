//! A call of `spdk_nvme_perf` for one step: on the drive that left the kernel for it, watched, and its figures as a record.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use fathom_host::HostSampler;
use fathom_host::child::die_with_parent;
use fathom_message::{Message, msg};
use fathom_plan::{Op, Step};
use fathom_record::{Direction, HostDelta, Progress, RunControl, StepFailure, StepRecord, Warning};
use fathom_units::format_cpu_list;

use super::table::{Row, rows_of};
use super::{BYTES_PER_MIB, NS_PER_S, latency_of};
use crate::run::longer_window;
use crate::watch::{Call, CallError, Ended, Listener, STOP_GRACE, said};

/// The program as SPDK installs it.
const PROGRAM: &str = "spdk_nvme_perf";
/// Where it is, if it is none of the folders of `PATH`: it is often run where it was built.
const PROGRAM_VARIABLE: &str = "FATHOM_SPDK_NVME_PERF";
/// Beside its time it needs some for its memory and for the drive.
const GRACE: Duration = Duration::from_secs(60);
/// In the line that it prints for each command that failed.
const FAILED_IO: &str = "error (sct=";

/// A call of `spdk_nvme_perf` for a step of [`fathom_plan::EngineName::Spdk`].
pub struct SpdkRun<'a> {
    /// The step; its load is one that the program has words for.
    pub step: &'a Step,
    /// PCI address of the drive; `vfio-pci` has it, and nobody drives it.
    pub address: &'a str,
    /// The namespace that was judged; it drives no other.
    pub namespace: u32,
    /// CPUs of its threads: it has one on each.
    pub cpus: &'a [u32],
    /// Reads the host's counters.
    pub sampler: HostSampler,
}

/// Refuses a step when there is no `spdk_nvme_perf`.
///
/// # Errors
/// [`StepFailure::Refused`].
pub fn has_spdk(step: &Step) -> Result<(), StepFailure> {
    program(step).map(|_| ())
}

/// Runs it. Its counters of the host are of its whole life: it does not say when its start-up ends.
///
/// # Errors
/// [`StepFailure::Refused`] without the program; [`StepFailure::Failed`] when it ends with an error, with what it said.
pub fn run_by_spdk(run: SpdkRun<'_>, control: &mut RunControl<'_>) -> Result<StepRecord, StepFailure> {
    let SpdkRun { step, address, namespace, cpus, sampler } = run;
    let mut command = Command::new(program(step)?);
    command.args(arguments(step, address, namespace, cpus));
    die_with_parent(&mut command).map_err(|_| refused(step, "spdk-run-not-on-this-system"))?;
    let call = Call {
        sampler,
        warm_up: Duration::ZERO,
        deadline: Some(Duration::from_secs(seconds(step)) + GRACE),
        stop_grace: STOP_GRACE,
    };
    watched(call, command, step, address, cpus, control)
}

fn watched(
    call: Call,
    command: Command,
    step: &Step,
    address: &str,
    cpus: &[u32],
    control: &mut RunControl<'_>,
) -> Result<StepRecord, StepFailure> {
    let mut heard = Heard { text: String::new(), seconds: seconds(step) };
    let ended = call.run(command, &mut heard, control).map_err(|error| match error {
        CallError::Io(error) => StepFailure::failed(what(step), &error, msg!("spdk-run-failed-help")),
        CallError::Probe(error) => StepFailure::refused(what(step), &error),
    })?;
    record(step, address, cpus, &heard.text, &ended)
}

/// The program that a variable names, else as the shell would find it.
fn program(step: &Step) -> Result<PathBuf, StepFailure> {
    if let Some(named) = std::env::var_os(PROGRAM_VARIABLE).map(PathBuf::from) {
        return if named.is_file() { Ok(named) } else { Err(refused(step, "spdk-run-not-there")) };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&path).map(|folder| folder.join(PROGRAM));
    found.find(|path| path.is_file()).ok_or_else(|| refused(step, "spdk-run-missing"))
}

fn refused(step: &Step, why: &'static str) -> StepFailure {
    let variable = PROGRAM_VARIABLE;
    let (why, help) = match why {
        "spdk-run-not-there" => {
            (msg!("spdk-run-not-there", variable = variable), msg!("spdk-run-missing-help", variable = variable))
        }
        "spdk-run-missing" => (msg!("spdk-run-missing"), msg!("spdk-run-missing-help", variable = variable)),
        _ => (msg!("spdk-run-not-on-this-system"), msg!("spdk-run-not-on-this-system-help")),
    };
    StepFailure::Refused { what: what(step), why, help }
}

fn what(step: &Step) -> Message {
    msg!("fio-run-what", steps = step.label.clone())
}

/// It counts in whole seconds.
fn seconds(step: &Step) -> u64 {
    step.length.budget_ns.div_ceil(1_000_000_000).max(1)
}

fn op_of(step: &Step) -> Op {
    if step.workload.mix.is_destructive() { Op::Write } else { Op::Read }
}

/// What it is told: `-LL` has it print how many I/Os took how long.
fn arguments(step: &Step, address: &str, namespace: u32, cpus: &[u32]) -> Vec<String> {
    let pattern = step.workload.read_write().as_str();
    let words = [
        ("-q", step.load.queue_depth.to_string()),
        ("-o", step.workload.block_bytes_max().to_string()),
        ("-w", pattern.to_owned()),
        ("-t", seconds(step).to_string()),
        ("-c", core_mask(cpus)),
        ("-r", ["trtype:PCIe", &format!("traddr:{address}"), &format!("ns:{namespace}")].join(" ")),
    ];
    words.into_iter().flat_map(|(option, value)| [option.to_owned(), value]).chain(["-LL".to_owned()]).collect()
}

/// A bit for each CPU, as DPDK takes it: `0x5` is CPUs 0 and 2.
fn core_mask(cpus: &[u32]) -> String {
    let digits = cpus.iter().max().map_or(1, |last| *last as usize / 4 + 1);
    let digit =
        |at: usize| (0..4).filter(|bit| cpus.contains(&(at as u32 * 4 + bit))).map(|bit| 1_u32 << bit).sum::<u32>();
    let mut mask = "0x".to_owned();
    for at in (0..digits).rev() {
        let _ = write!(mask, "{:x}", digit(at));
    }
    mask
}

/// What it prints comes at its end: to a pipe it writes no progress.
struct Heard {
    text: String,
    seconds: u64,
}

impl Listener for Heard {
    fn take(&mut self, text: &str, _elapsed: Duration, _control: &mut RunControl<'_>) {
        self.text += text;
    }

    fn tick(&mut self, elapsed: Duration, control: &mut RunControl<'_>) {
        let left = Duration::from_secs(self.seconds).saturating_sub(elapsed);
        (control.on_progress)(&Progress {
            elapsed_ns: elapsed.as_nanos() as u64,
            remaining_ns: left.as_nanos() as u64,
            iops: 0.0,
            bytes_per_s: 0.0,
            bytes_done: 0,
            p99_ns: None,
            activity: Some(msg!("spdk-run-activity")),
        });
    }
}

/// The record of what it printed.
fn record(step: &Step, address: &str, cpus: &[u32], text: &str, ended: &Ended) -> Result<StepRecord, StepFailure> {
    let failed_ios = text.lines().chain(ended.stderr.lines()).filter(|line| line.contains(FAILED_IO)).count() as u64;
    let failed = |why: Message| StepFailure::Failed { what: what(step), why, help: msg!("spdk-run-failed-help") };
    let rows = rows_of(text);
    let ios: u64 = rows.iter().filter_map(|row| row.samples.as_ref()).map(fathom_hist::Histogram::count).sum();
    let iops: f64 = rows.iter().map(|row| row.iops).sum();
    if ended.is_late && ios == 0 {
        return Err(failed(msg!("spdk-run-late")));
    }
    if ended.is_stopped && ios == 0 {
        return Err(failed(msg!("spdk-run-stopped")));
    }
    let is_bad_end = !ended.status.success() && !ended.is_stopped && failed_ios == 0;
    if is_bad_end || ios == 0 || iops <= 0.0 {
        let said = said(ended.stderr.lines().chain(text.lines()));
        let status = ended.status.to_string();
        return Err(failed(match is_bad_end || said.is_empty() {
            true => msg!("spdk-run-failed", status = status, said = said),
            false => msg!("spdk-run-no-table", said = said),
        }));
    }
    let is_asked = |row: &Row| row.device == address && row.samples.is_some();
    if !rows.iter().all(is_asked) || rows.len() > cpus.len() {
        return Err(failed(msg!(
            "spdk-run-other-load",
            rows = rows.len(),
            address = address.to_owned(),
            threads = cpus.len()
        )));
    }
    let block_bytes = u64::from(step.workload.block_bytes_max());
    let mib_per_s: f64 = text.lines().filter_map(super::rates_of).map(|(_, rate)| rate).sum();
    if (iops * block_bytes as f64 / BYTES_PER_MIB - mib_per_s).abs() > super::ROUNDING * mib_per_s.max(1.0) {
        return Err(failed(msg!("import-spdk-other-command", bytes = block_bytes)));
    }
    let mut record = StepRecord {
        // All rows are of one time: that in which these I/Os make these IOPS.
        runtime_ns: (ios as f64 / iops * NS_PER_S) as u64,
        directions: vec![Direction {
            op: op_of(step),
            ios,
            bytes: ios * block_bytes,
            short_ios: 0,
            lat: latency_of(&rows),
            slat: None,
            clat: None,
            service: None,
        }],
        host: ended.host.clone().map(|host| HostDelta { measured_ns: host.window_ns, ..host }),
        ..StepRecord::default()
    };
    let note = |text| Warning::Note { text };
    record.warnings.push(note(msg!("spdk-run-by", cpus = format_cpu_list(cpus))));
    let longer = longer_window(&record);
    record
        .warnings
        .extend(longer.map(|(window, measured)| note(msg!("spdk-run-window", window = window, measured = measured))));
    record.warnings.extend((failed_ios > 0).then_some(Warning::IoErrors { count: failed_ios, errno: 0 }));
    record.warnings.extend(ended.is_stopped.then_some(Warning::Interrupted));
    record.warnings.extend(ended.is_late.then(|| note(msg!("spdk-run-late"))));
    Ok(record)
}

#[cfg(test)]
mod tests;
