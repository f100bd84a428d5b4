//! Purging: a target is given back to the state of a new one, or it is said why that could not be had.

use std::time::Instant;

use fathom_engine::{HostRunner, HostRunnerOptions};
use fathom_host::{
    Binding, Bindings, EraseError, EraseProgress, TargetKind, WriteConsent, format_namespace, sanitize_drive,
};
use fathom_message::{Arg, Join, Message, Quantity, Say as _, msg};
use fathom_plan::{BlockSize, EngineName, EngineSpec, Load, PurgeMeans, Region, RunLength, Step, TargetId};
use fathom_record::{
    FeatureName, FeatureState, FeatureUse, Progress, PurgeMethod, PurgeReport, RunControl, Runner as _, StepFailure,
    StepRecord, Warning,
};

/// Most bytes that one discard takes: a drive answers each within a moment, so that the run can be stopped.
const DISCARD_BYTES: u32 = 64 << 20;

/// Purges each target of the step by the means that it names; a target that cannot be purged so is reported as such. Each
/// needs its consent.
///
/// # Errors
/// None of a single target's: they are in the reports.
pub(super) fn purge(
    step: &Step,
    bindings: &Bindings,
    control: &mut RunControl<'_>,
    now_unix_ns: u64,
) -> Result<StepRecord, StepFailure> {
    let begun = Instant::now();
    let mut record = StepRecord { started_unix_ns: now_unix_ns, ..StepRecord::default() };
    for target in &step.targets {
        if control.stopped() {
            break;
        }
        let report = match bindings.get(target).and_then(|b| Some((b, b.consent()?))) {
            Some((binding, consent)) => purge_one(step, binding, consent, control),
            None => absent(target, msg!("purge-no-consent")),
        };
        let is_done = report.method != PurgeMethod::Absent;
        if !is_done {
            let (target, why) = (target.as_str().to_owned(), report.detail.clone());
            record.warnings.push(Warning::Note { text: msg!("purge-not-done", target = target, why = why) });
        }
        let state = match is_done {
            true => FeatureState::Used,
            false => FeatureState::Unavailable,
        };
        record.features.push(FeatureUse::new(FeatureName::Purge(target.to_string()), state, report.detail.clone()));
        record.purges.push(report);
    }
    if control.stopped() {
        record.warnings.push(Warning::Interrupted);
    }
    record.runtime_ns = begun.elapsed().as_nanos() as u64;
    Ok(record)
}

fn purge_one(step: &Step, binding: &Binding, consent: &WriteConsent, control: &mut RunControl<'_>) -> PurgeReport {
    let means = step.role.purge.unwrap_or(PurgeMeans::Discard);
    let target = binding.target();
    let erasures: &[PurgeMethod] = match means {
        PurgeMeans::Best => &[PurgeMethod::NvmeFormat, PurgeMethod::NvmeSanitize],
        PurgeMeans::Format => &[PurgeMethod::NvmeFormat],
        PurgeMeans::Sanitize => &[PurgeMethod::NvmeSanitize],
        PurgeMeans::Discard => &[],
    };
    let report = |method, bytes, detail| PurgeReport { target: target.clone(), method, bytes, detail };
    if binding.kind() == TargetKind::File {
        if matches!(means, PurgeMeans::Format | PurgeMeans::Sanitize) {
            return absent(target, msg!("purge-of-a-file", means = means.as_str()));
        }
        return match discard(step, binding, control) {
            Ok(bytes) => report(PurgeMethod::PunchHole, bytes, msg!("purge-hole")),
            Err(why) => absent(target, why),
        };
    }
    let mut why_not: Vec<Message> = Vec::new();
    for method in erasures {
        match erase(*method, consent, target, control) {
            Ok(done) => return report(*method, consent.device().map_or(0, |d| d.size_bytes), done),
            Err(EraseError::Unable(why)) if why_not.contains(&why) => {}
            Err(EraseError::Unable(why)) => why_not.push(why),
            // What was begun cannot be called another way's result.
            Err(error) => return absent(target, error.message()),
        }
    }
    let several = |list: Vec<Message>| msg!("several", list = Arg::list(list, Join::Semicolon));
    if matches!(means, PurgeMeans::Format | PurgeMeans::Sanitize) {
        return absent(target, several(why_not));
    }
    // An NVMe character device takes no discards of its own, its block device does.
    match discard(step, &binding.as_block_device(), control) {
        Ok(bytes) if why_not.is_empty() => report(PurgeMethod::Discard, bytes, msg!("purge-discarded")),
        Ok(bytes) => report(PurgeMethod::Discard, bytes, msg!("purge-discarded-because", why = several(why_not))),
        Err(why) => {
            why_not.insert(0, why);
            absent(target, several(why_not))
        }
    }
}

fn absent(target: &TargetId, why: Message) -> PurgeReport {
    PurgeReport { target: target.clone(), method: PurgeMethod::Absent, bytes: 0, detail: why }
}

/// Has the drive erase itself; what was done, for people.
fn erase(
    method: PurgeMethod,
    consent: &WriteConsent,
    target: &TargetId,
    control: &mut RunControl<'_>,
) -> Result<Message, EraseError> {
    let is_format = method == PurgeMethod::NvmeFormat;
    let on_progress = &mut *control.on_progress;
    let mut tell = |p: EraseProgress| {
        let elapsed_ns = p.elapsed.as_nanos() as u64;
        let left_ns = p.done.filter(|d| *d > 0.0).map(|d| (elapsed_ns as f64 * (1.0 / d - 1.0)) as u64);
        let (target, elapsed) =
            (target.as_str().to_owned(), Quantity::duration_ns(elapsed_ns / 1_000_000_000 * 1_000_000_000));
        let activity = match (is_format, p.done) {
            (true, None) => msg!("activity-formatting", target = target, elapsed = elapsed),
            (false, None) => msg!("activity-sanitizing", target = target, elapsed = elapsed),
            (true, Some(done)) => {
                msg!("activity-formatting-done", target = target, elapsed = elapsed, done = Quantity::share(done))
            }
            (false, Some(done)) => {
                msg!("activity-sanitizing-done", target = target, elapsed = elapsed, done = Quantity::share(done))
            }
        };
        on_progress(&Progress {
            elapsed_ns,
            remaining_ns: left_ns.unwrap_or(u64::MAX),
            iops: 0.0,
            bytes_per_s: 0.0,
            bytes_done: 0,
            p99_ns: None,
            activity: Some(activity),
        });
    };
    match is_format {
        true => format_namespace(consent, &mut tell),
        false => sanitize_drive(consent, control.stop, &mut tell),
    }
}

/// Discards the step's region: bytes, or why it could not.
fn discard(step: &Step, binding: &Binding, control: &mut RunControl<'_>) -> Result<u64, Message> {
    let target = binding.target();
    let mut bytes = 0;
    for part in discard_steps(step, target) {
        let (total_bytes, before_bytes) = (step.workload.region.size_bytes, bytes);
        let on_progress = &mut *control.on_progress;
        let mut in_bytes = |p: &Progress| {
            let (name, done_bytes) = (target.as_str().to_owned(), before_bytes + p.bytes_done);
            let left_ns = total_bytes
                .filter(|_| p.bytes_per_s > 0.0)
                .map_or(p.remaining_ns, |total| (total.saturating_sub(done_bytes) as f64 / p.bytes_per_s * 1e9) as u64);
            let done = Quantity::bytes(done_bytes);
            let activity = match total_bytes {
                Some(total) => {
                    msg!("activity-discarded-of", target = name, done = done, total = Quantity::bytes(total))
                }
                None => msg!("activity-discarded", target = name, done = done),
            };
            on_progress(&Progress { activity: Some(activity), remaining_ns: left_ns, ..p.clone() });
        };
        let mut control =
            RunControl { stop: control.stop, on_progress: &mut in_bytes, precise_enough: control.precise_enough };
        let bindings: Bindings = std::iter::once(binding.clone()).collect();
        let mut runner = HostRunner::new(HostRunnerOptions { bindings, ..HostRunnerOptions::default() });
        let record = runner.run(&part, &mut control).map_err(|failure| failure.message())?;
        if let Some(failure) = record.failures.first() {
            let cause = std::io::Error::from_raw_os_error(failure.errno);
            return Err(msg!("purge-no-discard", error = cause));
        }
        bytes += record.bytes();
    }
    Ok(bytes)
}

/// Large discards, and a smaller one for what they leave over.
fn discard_steps(step: &Step, target: &TargetId) -> Vec<Step> {
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

fn discard_step(step: &Step, target: &TargetId, region: Region, block_bytes: u32) -> Step {
    let mut one = step.clone();
    one.targets = vec![target.clone()];
    one.workload.region = region;
    one.workload.block_sizes = vec![BlockSize { bytes: block_bytes, share_pct: 100 }];
    one.load = Load::closed(1, 1);
    one.engine = EngineSpec { name: EngineName::Psync, fixed_buffers: false, fixed_files: false, ..one.engine };
    // A day bounds a drive that hangs; the pass over the region ends it normally.
    one.length = RunLength { passes: Some(1), ..RunLength::fixed(0, 86_400_000_000_000) };
    one.workload.direct = false;
    one
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;
    use std::sync::atomic::AtomicBool;

    use fathom_host::{Permit, Root};
    use fathom_plan::{OpMix, Pattern, Phase};

    use super::*;
    use crate::samples::step;

    fn purge_of(path: &Path, means: PurgeMeans, is_stopped: bool) -> StepRecord {
        let mut step = step();
        step.role.purge = Some(means);
        step.phase = Phase::Purge;
        step.targets = vec![TargetId::new(path.to_string_lossy())];
        step.workload.mix = OpMix { read_pct: 0, write_pct: 0, trim_pct: 100 };
        step.workload.pattern = Pattern::Sequential;
        step.workload.region.size_bytes = Some((64 << 20) + (3 << 20));
        let permit = Permit { overwrite: true, ..Permit::NOTHING };
        let bound = Binding::existing(&Root::live(), step.targets[0].clone(), path, true, &permit);
        let stop = AtomicBool::new(is_stopped);
        let mut control = RunControl { stop: &stop, on_progress: &mut |_| {}, precise_enough: &|_, _| false };
        purge(&step, &bound.into_iter().collect(), &mut control, 7).expect("a record")
    }

    #[test]
    fn a_file_gives_its_blocks_back_and_keeps_its_length() {
        let file = tempfile::NamedTempFile::new().expect("a file").into_temp_path();
        std::fs::write(&file, vec![7u8; 67 << 20]).expect("written");
        let record = purge_of(&file, PurgeMeans::Best, false);
        let meta = file.metadata().expect("there");
        match record.purges[0].method {
            PurgeMethod::PunchHole => {
                assert_eq!(record.purges[0].bytes, 67 << 20);
                assert_eq!((meta.len(), meta.blocks()), (67 << 20, 0));
            }
            _ => assert!(!record.warnings.is_empty(), "a file system without holes is named: {record:?}"),
        }
    }

    #[test]
    fn nothing_is_purged_without_the_guards_consent() {
        for path in ["/nowhere/at/all", "/dev/null"] {
            for means in PurgeMeans::ALL {
                let record = purge_of(Path::new(path), means, false);
                assert_eq!(record.purges[0].method, PurgeMethod::Absent, "{path} {means:?}");
                assert_eq!(record.purges[0].detail.id(), "purge-no-consent");
                assert!(matches!(&record.warnings[..], [Warning::Note { text }] if text.id() == "purge-not-done"));
            }
        }
    }

    #[test]
    fn a_file_cannot_be_formatted_and_stays_as_it_is() {
        let file = tempfile::NamedTempFile::new().expect("a file").into_temp_path();
        std::fs::write(&file, [7u8; 4096]).expect("written");
        for means in [PurgeMeans::Format, PurgeMeans::Sanitize] {
            let record = purge_of(&file, means, false);
            assert_eq!(record.purges[0].method, PurgeMethod::Absent);
            assert_eq!(record.purges[0].detail.id(), "purge-of-a-file");
        }
        assert_eq!(std::fs::read(&file).expect("there"), [7u8; 4096]);
    }

    #[test]
    fn a_purge_that_was_stopped_is_cut_so_that_it_is_done_again() {
        let file = tempfile::NamedTempFile::new().expect("a file").into_temp_path();
        let record = purge_of(&file, PurgeMeans::Best, true);
        assert!(record.purges.is_empty() && record.warnings.contains(&Warning::Interrupted), "{record:?}");
    }
}
