//! Whether I/O is submitted by its own thread or by a worker of the kernel is learnt before the window, and not from the
//! state of one page.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt as _;

use fathom_engine::{HostRunner, HostRunnerOptions};
use fathom_plan::{EngineName, RunLength, Step};
use fathom_record::{FeatureName, FeatureState, StepRecord, Warning};

use crate::support::devices::Device;
use crate::support::{BLOCK, Bench, run, run_by, step_on};

fn short(mut step: Step) -> Step {
    step.load.threads = 2;
    step.length = RunLength::fixed(0, 20_000_000);
    step
}

/// State and threads of each row about submission.
fn submission(record: &StepRecord) -> Vec<(FeatureState, Vec<u32>)> {
    let rows = record.features.iter().filter(|f| f.name == FeatureName::InlineSubmit);
    rows.map(|f| (f.state, f.threads.clone())).collect()
}

#[test]
fn dirty_pages_do_not_send_all_io_through_a_kernel_thread() {
    let bench = Bench::new(64 * BLOCK);
    let step = short(bench.step(EngineName::IoUring));
    if !step.workload.direct || submission(&run(&step).expect("a record")) != [(FeatureState::Used, vec![])] {
        // This file system always submits from a worker.
        return;
    }
    for blocks in [1, 64] {
        let file = OpenOptions::new().write(true).open(&bench.path).expect("the file");
        file.write_all_at(&vec![0x11; (blocks * BLOCK) as usize], 0).expect("dirty pages");
        let record = run(&step).expect("a record");
        assert_eq!(submission(&record), [(FeatureState::Used, vec![])], "{blocks} dirty: {:?}", record.features);
    }
}

#[test]
fn a_device_that_always_blocks_is_told_as_such() {
    let Some(device) = Device::new_zram(1 << 20) else { return };
    let step = short(step_on(device.path(), EngineName::IoUring));
    let bindings = device.bound();
    let mut runner = HostRunner::new(HostRunnerOptions { bindings, ..HostRunnerOptions::default() });
    let record = run_by(&mut runner, &step).expect("a record");
    assert_eq!(submission(&record), [(FeatureState::Unavailable, vec![])], "{:?}", record.features);
    let reported =
        |w: &Warning| matches!(w, Warning::FeatureMissing { feature, .. } if *feature == FeatureName::InlineSubmit);
    assert!(record.warnings.iter().any(reported), "{:?}", record.warnings);
}
