//! Purging: a target is given back to the state of a new one, or it is said why that could not be had.

use std::path::Path;

use fathom_engine::{HostRunner, HostRunnerOptions};
use fathom_plan::{BlockSize, EngineName, EngineSpec, Load, Region, RunLength, Step, Target};
use fathom_record::{
    FeatureUse, Progress, PurgeMethod, PurgeReport, RunControl, Runner, StepFailure, StepRecord, Warning,
};
use fathom_units::format_bytes;

/// Most bytes that one discard takes: a drive answers each within a moment, so that the run can be stopped.
const DISCARD_BYTES: u32 = 64 << 20;

/// Discards every block of the step's region on each of its targets; a target that cannot discard is reported as such.
///
/// # Errors
/// None of a single target's: they are in the reports. [`StepFailure`] when the run was stopped before anything began.
pub(crate) fn purge(step: &Step, control: &mut RunControl<'_>, now_unix_ns: u64) -> Result<StepRecord, StepFailure> {
    let begun = std::time::Instant::now();
    let mut purges = Vec::new();
    let mut features = Vec::new();
    let mut warnings = Vec::new();
    for target in &step.targets {
        if control.stopped() {
            warnings.push(Warning::Interrupted);
            break;
        }
        let report = purge_one(step, target, control);
        if report.method == PurgeMethod::Absent {
            let text = format!("{} was not purged: {}", target.path, report.detail);
            warnings.push(Warning::Note { text });
        }
        features.push(FeatureUse {
            name: format!("purge of {}", target.path),
            used: report.method != PurgeMethod::Absent,
            detail: report.detail.clone(),
        });
        purges.push(report);
    }
    Ok(StepRecord {
        started_unix_ns: now_unix_ns,
        runtime_ns: begun.elapsed().as_nanos() as u64,
        features,
        purges,
        warnings,
        ..StepRecord::default()
    })
}

fn purge_one(step: &Step, target: &Target, control: &mut RunControl<'_>) -> PurgeReport {
    let report = |method, bytes, detail: String| PurgeReport { target: target.path.clone(), method, bytes, detail };
    let absent = |why: String| report(PurgeMethod::Absent, 0, why);
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
            Err(StepFailure::Refused { what, why, .. }) => return absent(format!("{what}: {why}")),
            Err(StepFailure::Failed { what, source, .. }) => return absent(format!("{what}: {source}")),
        };
        if let Some(failure) = record.failures.first() {
            let cause = std::io::Error::from_raw_os_error(failure.errno);
            return absent(format!("the target does not discard ({cause})"));
        }
        bytes += record.bytes();
    }
    let is_file = std::fs::metadata(Path::new(&target.path)).is_ok_and(|m| m.is_file());
    let (method, detail) = if is_file {
        (PurgeMethod::PunchHole, "a hole over the whole region of the file")
    } else {
        (PurgeMethod::Discard, "every block discarded: a declared substitute for NVMe Format or Sanitize")
    };
    report(method, bytes, detail.to_owned())
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

    fn purge_of(path: &Path) -> StepRecord {
        let mut step = step();
        step.phase = Phase::Purge;
        step.targets = vec![Target { path: path.to_string_lossy().into_owned() }];
        step.workload.mix = OpMix { read_pct: 0, write_pct: 0, trim_pct: 100 };
        step.workload.pattern = Pattern::Sequential;
        step.workload.region.size_bytes = Some((64 << 20) + (3 << 20));
        let stop = AtomicBool::new(false);
        let mut control = RunControl { stop: &stop, on_progress: &mut |_| {}, precise_enough: &|_, _| false };
        purge(&step, &mut control, 7).expect("a record")
    }

    #[test]
    fn a_file_gives_its_blocks_back_and_keeps_its_length() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), vec![7u8; 67 << 20]).expect("written");
        let record = purge_of(file.path());
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
        let record = purge_of(Path::new("/nowhere/at/all"));
        assert_eq!(record.purges[0].method, PurgeMethod::Absent);
        assert!(record.purges[0].detail.contains("/nowhere/at/all"), "{:?}", record.purges[0]);
        assert_eq!(record.warnings.len(), 1);
    }
}
