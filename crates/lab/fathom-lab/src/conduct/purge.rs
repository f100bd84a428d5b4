//! Purging: a target is given back to the state of a new one, or it is said why that could not be had.

use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::time::Instant;

use fathom_engine::{HostRunner, HostRunnerOptions};
use fathom_host::{EraseError, EraseProgress, WriteConsent, format_namespace, sanitize_drive};
use fathom_plan::{BlockSize, EngineName, EngineSpec, Load, PurgeMeans, Region, RunLength, Step, Target};
use fathom_record::{
    FeatureUse, Progress, PurgeMethod, PurgeReport, RunControl, Runner, StepFailure, StepRecord, Warning,
};
use fathom_units::format_bytes;

/// Most bytes that one discard takes: a drive answers each within a moment, so that the run can be stopped.
const DISCARD_BYTES: u32 = 64 << 20;
/// What is said of a device that was discarded.
const DISCARDED: &str = "every block discarded: a declared substitute for NVMe Format or Sanitize";

/// Purges each target of the step by the means that it names; a target that cannot be purged so is reported as such.
/// Block devices need their consent among `consents`.
///
/// # Errors
/// None of a single target's: they are in the reports.
pub(crate) fn purge(
    step: &Step,
    consents: &[WriteConsent],
    control: &mut RunControl<'_>,
    now_unix_ns: u64,
) -> Result<StepRecord, StepFailure> {
    let begun = Instant::now();
    let mut record = StepRecord { started_unix_ns: now_unix_ns, ..StepRecord::default() };
    for target in &step.targets {
        if control.stopped() {
            break;
        }
        let report = purge_one(step, target, consents, control);
        if report.method == PurgeMethod::Absent {
            let text = format!("{} was not purged: {}", target.path, report.detail);
            record.warnings.push(Warning::Note { text });
        }
        record.features.push(FeatureUse {
            name: format!("purge of {}", target.path),
            used: report.method != PurgeMethod::Absent,
            detail: report.detail.clone(),
        });
        record.purges.push(report);
    }
    if control.stopped() {
        record.warnings.push(Warning::Interrupted);
    }
    record.runtime_ns = begun.elapsed().as_nanos() as u64;
    Ok(record)
}

fn purge_one(step: &Step, target: &Target, consents: &[WriteConsent], control: &mut RunControl<'_>) -> PurgeReport {
    let means = step.role.purge.unwrap_or(PurgeMeans::Discard);
    let path = Path::new(&target.path);
    let erasures: &[PurgeMethod] = match means {
        PurgeMeans::Best => &[PurgeMethod::NvmeFormat, PurgeMethod::NvmeSanitize],
        PurgeMeans::Format => &[PurgeMethod::NvmeFormat],
        PurgeMeans::Sanitize => &[PurgeMethod::NvmeSanitize],
        PurgeMeans::Discard => &[],
    };
    let report = |method, bytes, detail: &str| PurgeReport {
        target: target.path.clone(),
        method,
        bytes,
        detail: detail.to_owned(),
    };
    if std::fs::metadata(path).is_ok_and(|m| m.is_file()) {
        if matches!(means, PurgeMeans::Format | PurgeMeans::Sanitize) {
            return absent(target, format!("it is a file, and {} is for NVMe drives", means.as_str()));
        }
        return match discard(step, target, control) {
            Ok(bytes) => report(PurgeMethod::PunchHole, bytes, "a hole over the whole region of the file"),
            Err(why) => absent(target, why),
        };
    }
    let Some(consent) = consents.iter().find(|c| c.covers(path)) else {
        return absent(target, "it is no file, and there is no consent to write to it".to_owned());
    };
    let mut why_not: Vec<String> = Vec::new();
    for method in erasures {
        match erase(*method, consent, target, control) {
            Ok(done) => return report(*method, consent.device().map_or(0, |d| d.size_bytes), &done),
            Err(EraseError::Unable(why)) if why_not.contains(&why) => {}
            Err(EraseError::Unable(why)) => why_not.push(why),
            // What was begun cannot be called another way's result.
            Err(error) => return absent(target, error.to_string()),
        }
    }
    let why_not = why_not.join("; ");
    if matches!(means, PurgeMeans::Format | PurgeMeans::Sanitize) {
        return absent(target, why_not);
    }
    match discard(step, &block_device(target, consent), control) {
        Ok(bytes) if why_not.is_empty() => report(PurgeMethod::Discard, bytes, DISCARDED),
        Ok(bytes) => report(PurgeMethod::Discard, bytes, &format!("{DISCARDED} ({why_not})")),
        Err(why) if why_not.is_empty() => absent(target, why),
        Err(why) => absent(target, format!("{why}; {why_not}")),
    }
}

/// What takes discards: an NVMe character device has none of its own, its block device has.
fn block_device(target: &Target, consent: &WriteConsent) -> Target {
    let is_character = std::fs::metadata(&target.path).is_ok_and(|m| m.file_type().is_char_device());
    match consent.device().filter(|_| is_character) {
        Some(device) => Target { path: device.dev_path.to_string_lossy().into_owned() },
        None => target.clone(),
    }
}

fn absent(target: &Target, why: String) -> PurgeReport {
    PurgeReport { target: target.path.clone(), method: PurgeMethod::Absent, bytes: 0, detail: why }
}

/// Has the drive erase itself; what was done, for people.
fn erase(
    method: PurgeMethod,
    consent: &WriteConsent,
    target: &Target,
    control: &mut RunControl<'_>,
) -> Result<String, EraseError> {
    let is_format = method == PurgeMethod::NvmeFormat;
    let verb = if is_format { "formats" } else { "sanitizes" };
    let on_progress = &mut *control.on_progress;
    let mut told = |p: EraseProgress| {
        let elapsed_ns = p.elapsed.as_nanos() as u64;
        let share = p.done.map_or_else(String::new, |done| format!(", {:.0} % done", done * 100.0));
        let left_ns = p.done.filter(|d| *d > 0.0).map(|d| (elapsed_ns as f64 * (1.0 / d - 1.0)) as u64);
        on_progress(&Progress {
            elapsed_ns,
            remaining_ns: left_ns.unwrap_or(u64::MAX),
            iops: 0.0,
            bytes_per_s: 0.0,
            bytes_done: 0,
            p99_ns: None,
            activity: Some(format!("{} {verb} itself for {:.0} s{share}", target.path, p.elapsed.as_secs_f64())),
        });
    };
    match is_format {
        true => format_namespace(consent, &mut told),
        false => sanitize_drive(consent, control.stop, &mut told),
    }
}

/// Discards the step's region: bytes, or why it could not.
fn discard(step: &Step, target: &Target, control: &mut RunControl<'_>) -> Result<u64, String> {
    let mut bytes = 0;
    for part in discard_steps(step, target) {
        let (total_bytes, before_bytes) = (step.workload.region.size_bytes, bytes);
        let on_progress = &mut *control.on_progress;
        let mut in_bytes = |p: &Progress| {
            let done = format_bytes(before_bytes + p.bytes_done);
            let of = total_bytes.map_or_else(String::new, |total| format!(" of {}", format_bytes(total)));
            let left_ns = total_bytes.filter(|_| p.bytes_per_s > 0.0).map_or(p.remaining_ns, |total| {
                (total.saturating_sub(before_bytes + p.bytes_done) as f64 / p.bytes_per_s * 1e9) as u64
            });
            let activity = Some(format!("{done}{of} discarded on {}", target.path));
            on_progress(&Progress { activity, remaining_ns: left_ns, ..p.clone() });
        };
        let mut control =
            RunControl { stop: control.stop, on_progress: &mut in_bytes, precise_enough: control.precise_enough };
        let record = match HostRunner::new(HostRunnerOptions::default()).run(&part, &mut control) {
            Ok(record) => record,
            Err(StepFailure::Refused { what, why, .. }) => return Err(format!("{what}: {why}")),
            Err(StepFailure::Failed { what, source, .. }) => return Err(format!("{what}: {source}")),
        };
        if let Some(failure) = record.failures.first() {
            let cause = std::io::Error::from_raw_os_error(failure.errno);
            return Err(format!("the target does not discard ({cause})"));
        }
        bytes += record.bytes();
    }
    Ok(bytes)
}

/// Large discards, and a smaller one for what they leave over.
fn discard_steps(step: &Step, target: &Target) -> Vec<Step> {
    let region = step.workload.region;
    let Some(size_bytes) = region.size_bytes else { return vec![discard_step(step, target, region, 4096)] };
    let rest_bytes = size_bytes % u64::from(DISCARD_BYTES);
    let bulk_bytes = size_bytes - rest_bytes;
    let bulk = Region { size_bytes: Some(bulk_bytes), ..region };
    let rest = Region { offset_bytes: region.offset_bytes + bulk_bytes, size_bytes: Some(rest_bytes) };
    let rest_block = 1 << rest_bytes.trailing_zeros().clamp(9, 26);
    let parts = [(bulk, DISCARD_BYTES), (rest, rest_block)];
    let filled = parts.into_iter().filter(|(region, _)| region.size_bytes != Some(0));
    filled.map(|(region, block)| discard_step(step, target, region, block)).collect()
}

fn discard_step(step: &Step, target: &Target, region: Region, block_bytes: u32) -> Step {
    let mut one = step.clone();
    one.targets = vec![target.clone()];
    one.workload.region = region;
    one.workload.block_sizes = vec![BlockSize { bytes: block_bytes, share_pct: 100 }];
    one.load = Load { threads: 1, queue_depth: 1, batch_submit: None, batch_complete_min: None, rate: None };
    one.engine = EngineSpec { name: EngineName::Psync, fixed_buffers: false, fixed_files: false, ..one.engine };
    // A day bounds a drive that hangs; the pass over the region ends it normally.
    one.length = RunLength { passes: Some(1), ..RunLength::fixed(0, 86_400_000_000_000) };
    one.workload.direct = false;
    one
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;
    use std::sync::atomic::AtomicBool;

    use fathom_plan::{OpMix, Pattern, Phase};

    use super::*;
    use crate::samples::step;

    fn purge_of(path: &Path, means: PurgeMeans, is_stopped: bool) -> StepRecord {
        let mut step = step();
        step.role.purge = Some(means);
        step.phase = Phase::Purge;
        step.targets = vec![Target { path: path.to_string_lossy().into_owned() }];
        step.workload.mix = OpMix { read_pct: 0, write_pct: 0, trim_pct: 100 };
        step.workload.pattern = Pattern::Sequential;
        step.workload.region.size_bytes = Some((64 << 20) + (3 << 20));
        let stop = AtomicBool::new(is_stopped);
        let mut control = RunControl { stop: &stop, on_progress: &mut |_| {}, precise_enough: &|_, _| false };
        purge(&step, &[], &mut control, 7).expect("a record")
    }

    #[test]
    fn a_file_gives_its_blocks_back_and_keeps_its_length() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), vec![7u8; 67 << 20]).expect("written");
        let record = purge_of(file.path(), PurgeMeans::Best, false);
        let meta = file.path().metadata().expect("there");
        match record.purges[0].method {
            PurgeMethod::PunchHole => {
                assert_eq!(record.purges[0].bytes, 67 << 20);
                assert_eq!((meta.len(), meta.blocks()), (67 << 20, 0));
            }
            _ => assert!(!record.warnings.is_empty(), "a file system without holes is named: {record:?}"),
        }
    }

    #[test]
    fn a_target_that_cannot_be_purged_is_declared_absent_with_the_reason() {
        let record = purge_of(Path::new("/nowhere/at/all"), PurgeMeans::Best, false);
        assert_eq!(record.purges[0].method, PurgeMethod::Absent);
        assert!(record.purges[0].detail.contains("no consent"), "{:?}", record.purges[0]);
        assert!(matches!(&record.warnings[..], [Warning::Note { text }] if text.contains("/nowhere/at/all")));
    }

    #[test]
    fn no_device_is_purged_without_the_guards_consent() {
        // A character device that would swallow anything; block devices are in the tests with the binary.
        for means in PurgeMeans::ALL {
            let record = purge_of(Path::new("/dev/null"), means, false);
            assert_eq!(record.purges[0].method, PurgeMethod::Absent, "{means:?}");
            assert!(record.purges[0].detail.contains("no consent"), "{:?}", record.purges[0]);
        }
    }

    #[test]
    fn a_file_cannot_be_formatted_and_stays_as_it_is() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), [7u8; 4096]).expect("written");
        for means in [PurgeMeans::Format, PurgeMeans::Sanitize] {
            let record = purge_of(file.path(), means, false);
            assert_eq!(record.purges[0].method, PurgeMethod::Absent);
            assert!(record.purges[0].detail.contains("is for NVMe drives"), "{:?}", record.purges[0]);
        }
        assert_eq!(std::fs::read(file.path()).expect("there"), [7u8; 4096]);
    }

    #[test]
    fn a_purge_that_was_stopped_is_cut_so_that_it_is_done_again() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let record = purge_of(file.path(), PurgeMeans::Best, true);
        assert!(record.purges.is_empty() && record.warnings.contains(&Warning::Interrupted), "{record:?}");
    }
}
