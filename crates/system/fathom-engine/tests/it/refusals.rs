//! What cannot be run is refused before anything is touched, with the reason and the way out.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use fathom_engine::{HostRunner, HostRunnerOptions};
use fathom_language::english;
use fathom_plan::{EngineName, Mode, OpMix, Pattern, Placement, RunLength, Step, Verify};
use fathom_record::{RunControl, Runner as _, StepFailure};

fn step_on(path: &Path) -> Step {
    let mut step = crate::support::step_on(path, EngineName::IoUring);
    step.load.queue_depth = 1;
    step.length = RunLength::fixed(0, 50_000_000);
    step
}

/// `change` makes a good step bad; the refusal must contain `word`.
#[track_caller]
fn check(change: impl FnOnce(&mut Step), word: &str) {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary directory");
    let path = dir.path().join("target");
    std::fs::write(&path, vec![0; 1 << 20]).expect("a file");
    let mut step = step_on(&path);
    change(&mut step);
    let stop = AtomicBool::new(false);
    let mut control = RunControl { stop: &stop, on_progress: &mut |_| {}, precise_enough: &|_, _| false };
    let bindings = match crate::support::bindings(&step) {
        Ok(bindings) => bindings,
        Err(refusal) => {
            let text = format!("{} ({})", english(&refusal.message), english(&refusal.help));
            assert!(text.contains(word), "{text}");
            return;
        }
    };
    match HostRunner::new(HostRunnerOptions { bindings, ..HostRunnerOptions::default() }).run(&step, &mut control) {
        Err(StepFailure::Refused { what, why, help }) => {
            let text = format!("{}: {} ({})", english(&what), english(&why), english(&help));
            assert!(text.contains(word), "{text}");
            assert!(!english(&help).is_empty(), "no way out: {text}");
        }
        other => panic!("not refused: {other:?}"),
    }
}

fn target(path: &str) -> impl FnOnce(&mut Step) + use<'_> {
    move |step| step.targets[0] = path.into()
}

#[test]
fn targets_that_are_none() {
    check(target("/nowhere/at/all"), "No such file");
    check(target("/"), "is a folder");
    check(target("/dev/zero"), "is a character device");
    let passthrough = |path: &'static str| {
        move |step: &mut Step| {
            target(path)(step);
            step.engine.name = EngineName::IoUringCmd;
        }
    };
    check(passthrough("/dev/zero"), "is a character device");
    check(|step| step.engine.name = EngineName::IoUringCmd, "passthrough needs an NVMe namespace");
    check(target("null"), "engine `null`");
    check(|step| step.engine.name = EngineName::Null, "engine `null`");
    check(|step| step.targets.clear(), "without a target");
}

#[test]
fn regions_that_do_not_fit() {
    check(|step| step.workload.region.size_bytes = Some(2 << 20), "too small");
    check(|step| step.workload.region.offset_bytes = 4 << 20, "holds no block");
    check(|step| step.workload.block_sizes[0].bytes = 2 << 20, "holds no block");
    check(
        |step| {
            step.workload.pattern = Pattern::Sequential;
            step.load.threads = 257;
        },
        "only 256 blocks",
    );
}

#[test]
fn block_sizes_that_direct_io_cannot_do() {
    check(|step| step.workload.block_sizes[0].bytes = 1000, "not a multiple of its logical block");
    check(|step| step.workload.block_sizes[0].bytes = 0, "block size 0");
    check(|step| step.workload.block_sizes.clear(), "100 %");
}

#[test]
fn loads_out_of_range() {
    check(|step| step.load.queue_depth = 0, "1 to 4096");
    check(|step| step.load.queue_depth = 1_000_000_000, "1 to 4096");
    check(|step| step.load.threads = 0, "threads");
    check(|step| step.length.budget_ns = 0, "runtime 0");
    check(
        |step| step.load.rate = Some(fathom_plan::Rate { iops: 0.0, process: fathom_plan::RateProcess::Fixed }),
        "rate",
    );
}

#[test]
fn combinations_that_make_no_sense() {
    check(
        |step| {
            step.engine.name = EngineName::Libaio;
            step.engine.mode = Mode::Iopoll;
        },
        "only io_uring and io_uring_cmd have modes",
    );
    check(
        |step| {
            step.engine.mode = Mode::Iopoll;
            step.workload.direct = false;
        },
        "O_DIRECT",
    );
    check(
        |step| {
            step.workload.verify = Some(Verify::Crc32c);
            step.workload.mix = OpMix { read_pct: 0, write_pct: 50, trim_pct: 50 };
        },
        "trimmed",
    );
    check(|step| step.placement = Placement::Cores, "no CPUs were resolved");
    check(|step| step.placement = Placement::Cpus(vec![1000]), "placement on CPUs");
}

#[test]
fn memory_file_systems_are_not_measured_as_if_they_were_disks() {
    let Ok(dir) = tempfile::tempdir_in("/dev/shm") else { return };
    let path = dir.path().join("target");
    std::fs::write(&path, vec![0; 1 << 20]).expect("a file");
    check(target(&path.to_string_lossy()), "--direct 0");
}

#[test]
fn too_deep_a_queue_for_a_synchronous_engine_is_only_a_remark() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary directory");
    let path = dir.path().join("target");
    std::fs::write(&path, vec![0; 1 << 20]).expect("a file");
    let mut step = step_on(&path);
    step.engine.name = EngineName::Psync;
    step.workload.direct = false;
    step.load.queue_depth = 32;
    let stop = AtomicBool::new(false);
    let mut control = RunControl { stop: &stop, on_progress: &mut |_| {}, precise_enough: &|_, _| false };
    let bindings = crate::support::bindings(&step).expect("the test's own file");
    let options = HostRunnerOptions { bindings, ..HostRunnerOptions::default() };
    let record = HostRunner::new(options).run(&step, &mut control).expect("a record");
    assert_eq!(record.threads[0].in_flight_max, 1);
    let noted = |w: &fathom_record::Warning| matches!(w, fathom_record::Warning::Note { text } if english(text).contains("counts as 1"));
    assert!(record.warnings.iter().any(noted));
}
