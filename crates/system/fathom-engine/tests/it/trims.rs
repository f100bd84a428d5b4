//! Trims of a block device: each block once, by every engine, and beside each other where the kernel starts them.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt as _;

use fathom_engine::{HostRunner, HostRunnerOptions};
use fathom_plan::{EngineName, Mode, Op, OpMix, RunLength, Step};
use fathom_record::{FeatureName, FeatureState, StepRecord};

use crate::support::devices::Device;
use crate::support::{BLOCK, run_by, step_on};

/// A loop device takes about 2 ms to discard a block.
const SIZE_BYTES: u64 = 1 << 20;
const TRIMS: OpMix = OpMix { read_pct: 0, write_pct: 0, trim_pct: 100 };
const WAYS: [(EngineName, Mode); 4] = [
    (EngineName::Psync, Mode::Interrupt),
    (EngineName::Libaio, Mode::Interrupt),
    (EngineName::IoUring, Mode::Interrupt),
    (EngineName::IoUring, Mode::Sqpoll),
];

fn trims(device: &Device, (name, mode): (EngineName, Mode), depth: u32) -> Step {
    let mut step = step_on(device.path(), name);
    step.engine.mode = mode;
    step.workload.mix = TRIMS;
    step.load.queue_depth = if name.is_synchronous() { 1 } else { depth };
    step
}

fn async_trim(record: &StepRecord) -> Option<FeatureState> {
    record.features.iter().find(|f| f.name == FeatureName::AsyncTrim).map(|f| f.state)
}

#[test]
fn each_engine_discards_every_block_of_a_device_once() {
    let Some(device) = Device::new_loop(SIZE_BYTES) else { return };
    let mut runner = HostRunner::new(HostRunnerOptions { bindings: device.bound(), ..HostRunnerOptions::default() });
    for way in WAYS {
        let raw = OpenOptions::new().read(true).write(true).open(device.path()).expect("the test's own device");
        raw.write_all_at(&vec![0xA5; SIZE_BYTES as usize], 0).and_then(|()| raw.sync_all()).expect("written");
        drop(raw);
        let mut step = trims(&device, way, 32);
        step.length.passes = Some(1);
        let record = run_by(&mut runner, &step).unwrap_or_else(|failure| panic!("{way:?}: {failure}"));
        assert_eq!((record.ios(), record.bytes(), record.errors()), (SIZE_BYTES / BLOCK, SIZE_BYTES, 0), "{way:?}");
        let mut bytes = vec![1; SIZE_BYTES as usize];
        let raw = OpenOptions::new().read(true).open(device.path()).expect("the test's own device");
        raw.read_exact_at(&mut bytes, 0).expect("readable");
        assert!(bytes.iter().all(|byte| *byte == 0), "{way:?}: a block was left");
        // What an engine does by calls of its own it does not claim.
        assert!(way.0 == EngineName::IoUring || async_trim(&record).is_none(), "{way:?}");
    }
}

#[test]
fn a_block_that_is_trimmed_first_holds_what_was_written_after_it() {
    let Some(device) = Device::new_loop(SIZE_BYTES) else { return };
    let mut runner = HostRunner::new(HostRunnerOptions { bindings: device.bound(), ..HostRunnerOptions::default() });
    for (way, rate) in WAYS.into_iter().map(|way| (way, None)).chain([(WAYS[2], Some(1e6))]) {
        let mut step = trims(&device, way, 32);
        step.workload.mix = OpMix { read_pct: 0, write_pct: 50, trim_pct: 50 };
        step.workload.order.trims_first = true;
        step.load.rate = rate.map(|iops| fathom_plan::Rate { iops, process: fathom_plan::RateProcess::Fixed });
        step.length.passes = Some(2);
        let record = run_by(&mut runner, &step).unwrap_or_else(|failure| panic!("{way:?}: {failure}"));
        let ios = |op| record.directions.iter().find(|d| d.op == op).map(|d| (d.ios, d.bytes));
        let each = Some((2 * SIZE_BYTES / BLOCK, 2 * SIZE_BYTES));
        assert_eq!((ios(Op::Trim), ios(Op::Write), record.errors()), (each, each, 0), "{way:?}");
        let mut bytes = vec![0; SIZE_BYTES as usize];
        let raw = OpenOptions::new().read(true).open(device.path()).expect("the test's own device");
        raw.read_exact_at(&mut bytes, 0).expect("readable");
        let empty = bytes.chunks(BLOCK as usize).filter(|block| block.iter().all(|byte| *byte == 0)).count();
        assert_eq!(empty, 0, "{way:?} {rate:?}: blocks were trimmed after their writes");
    }
}

#[test]
fn reads_go_on_beside_trims() {
    let Some(device) = Device::new_loop(SIZE_BYTES) else { return };
    let mut runner = HostRunner::new(HostRunnerOptions { bindings: device.bound(), ..HostRunnerOptions::default() });
    let mut step = trims(&device, (EngineName::IoUring, Mode::Interrupt), 32);
    step.workload.mix = OpMix { read_pct: 50, write_pct: 0, trim_pct: 50 };
    step.length = RunLength::fixed(0, 200_000_000);
    let record = run_by(&mut runner, &step).expect("runs");
    assert_eq!(record.errors(), 0, "{:?}", record.failures);
    assert!(record.ios() > 0 && record.bytes() == record.ios() * BLOCK);
    // Kernels before 6.12 do not know it, and that is said.
    assert!(matches!(async_trim(&record), Some(FeatureState::Used | FeatureState::Unavailable)));
}
