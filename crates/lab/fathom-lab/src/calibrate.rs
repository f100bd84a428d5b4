//! What the drive below some files gives to plain reads of them: the measure that a database's own reads are held against.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use fathom_engine::{HostRunner, HostRunnerOptions};
use fathom_host::{Binding, Bindings, Permit, Refusal, Root};
use fathom_plan::{KnobError, Knobs, TargetId};
use fathom_record::{RunControl, Runner as _, StepFailure};

/// Reads at one depth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibrationPoint {
    /// In flight, over all files.
    pub in_flight: u32,
    /// Reads a second.
    pub iops: f64,
    /// Mean latency, ns.
    pub mean_ns: f64,
}

/// Why there is no calibration.
#[derive(Debug)]
pub enum CalibrateError {
    /// A file cannot be opened to read.
    Refused(Refusal),
    /// A depth or a block size that no step takes.
    Knob(KnobError),
    /// The step failed: no O_DIRECT on this file system, most of all.
    Step(StepFailure),
}

/// Random reads of `block_bytes` around the page cache, over all of `files` by one thread, at each of the depths in turn for
/// `seconds`. Only reads. Ends early, with the depths so far, when `stop` is set.
///
/// # Errors
/// [`CalibrateError`].
pub fn calibrate(
    files: &[PathBuf],
    block_bytes: u64,
    depths: &[u32],
    seconds: u32,
    stop: &AtomicBool,
) -> Result<Vec<CalibrationPoint>, CalibrateError> {
    let targets: Vec<TargetId> = files.iter().map(|path| TargetId::new(path.to_string_lossy())).collect();
    let permit = Permit { destroy: &[], overwrite: false, protected: &[], is_own: &|_| false, own_data: false };
    let bind = |(path, target): (&PathBuf, &TargetId)| {
        Binding::existing(&Root::live(), target.clone(), path, false, &permit).map_err(CalibrateError::Refused)
    };
    let bindings: Bindings = files.iter().zip(&targets).map(bind).collect::<Result<_, _>>()?;
    let mut out = Vec::new();
    for &depth in depths {
        if stop.load(std::sync::atomic::Ordering::Relaxed) {
            break;
        }
        let mut knobs = Knobs::new();
        for (key, value) in [
            ("rw", "randread".to_owned()),
            ("bs", block_bytes.to_string()),
            // What every kernel has, also where containers forbid io_uring.
            ("engine", "libaio".to_owned()),
            ("iodepth", depth.to_string()),
            ("spread", "all_targets".to_owned()),
            ("runtime", format!("{seconds}s")),
        ] {
            knobs.set(key, &value).map_err(CalibrateError::Knob)?;
        }
        let step = knobs.build(0, "calibrate", &targets, &mut Vec::new()).map_err(CalibrateError::Knob)?;
        let options = HostRunnerOptions { bindings: bindings.clone(), ..HostRunnerOptions::default() };
        let mut control = RunControl { stop, on_progress: &mut |_| {}, precise_enough: &|_, _| false };
        let record = HostRunner::new(options).run(&step, &mut control).map_err(CalibrateError::Step)?;
        let window_s = record.runtime_ns as f64 / 1e9;
        let mean_ns = record.lat_merged().and_then(|lat| lat.mean_ns()).unwrap_or(0.0);
        if record.ios() > 0 {
            out.push(CalibrationPoint { in_flight: depth, iops: record.ios() as f64 / window_s, mean_ns });
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_of_several_files_are_counted_at_each_depth_and_change_nothing() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder on a disk");
        let files: Vec<PathBuf> = ["a", "b"].iter().map(|name| folder.path().join(name)).collect();
        let text = vec![7; 4 << 20];
        files.iter().for_each(|path| std::fs::write(path, &text).expect("a file"));
        let points = calibrate(&files, 8192, &[1, 8], 1, &AtomicBool::new(false)).expect("reads");
        assert_eq!(points.iter().map(|point| point.in_flight).collect::<Vec<_>>(), [1, 8]);
        for point in &points {
            // Little's law: what is in flight is the rate times the latency.
            let in_flight = point.iops * point.mean_ns / 1e9;
            assert!((in_flight / f64::from(point.in_flight) - 1.0).abs() < 0.2, "{point:?}");
        }
        assert!(files.iter().all(|path| std::fs::read(path).is_ok_and(|now| now == text)));
        let gone = calibrate(&[folder.path().join("c")], 8192, &[1], 1, &AtomicBool::new(false));
        assert!(matches!(gone, Err(CalibrateError::Refused(_))));
        let stopped = calibrate(&files, 8192, &[1], 1, &AtomicBool::new(true)).expect("nothing to do");
        assert_eq!(stopped, []);
    }
}
