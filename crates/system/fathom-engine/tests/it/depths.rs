//! Each engine in each mode at each depth, direct and through the page cache, on each kind of target: short steps, many of
//! them, because what goes wrong in a ring goes wrong by the order of two threads.

use std::time::{Duration, Instant};

use fathom_engine::{HostRunner, HostRunnerOptions};
use fathom_host::Bindings;
use fathom_plan::{EngineName, Mode, OpMix, RunLength, Step};
use fathom_record::{StepFailure, StepRecord};

use crate::support::devices::Device;
use crate::support::{Bench, bindings, run_by, step_on};

const SIZE_BYTES: u64 = 8 << 20;
const MIX: OpMix = OpMix { read_pct: 60, write_pct: 40, trim_pct: 0 };
const WAYS: [(EngineName, Mode); 6] = [
    (EngineName::Psync, Mode::Interrupt),
    (EngineName::Libaio, Mode::Interrupt),
    (EngineName::Mmap, Mode::Interrupt),
    (EngineName::IoUring, Mode::Interrupt),
    (EngineName::IoUring, Mode::Iopoll),
    (EngineName::IoUring, Mode::Sqpoll),
];
/// Window of one try.
const WINDOW_MS: u64 = 15;
/// A try as long as this hangs: two thousand times its window. The engine gives up a worker after a minute.
const HANGS_AFTER: Duration = Duration::from_secs(30);

/// Tries of a polling kernel thread, which races with the thread it serves.
const SQPOLL_TRIES: u32 = 3;

/// Runs the step; a refusal is an answer, a failure is not.
fn tried(runner: &mut HostRunner, step: &Step) -> Option<StepRecord> {
    let begun = Instant::now();
    let what = format!(
        "{} {} QD {} T {} direct {} {:?} on {}",
        step.engine.name.as_str(),
        step.engine.mode.as_str(),
        step.load.queue_depth,
        step.load.threads,
        step.workload.direct,
        step.workload.mix,
        step.targets[0]
    );
    let record = match run_by(runner, step) {
        Ok(record) => record,
        // Not every device polls, maps or takes O_DIRECT.
        Err(StepFailure::Refused { .. }) => return None,
        Err(failure) => panic!("{what}: {failure}"),
    };
    assert!(begun.elapsed() < HANGS_AFTER, "{what}: took {:?}", begun.elapsed());
    assert_eq!(record.errors(), 0, "{what}: {:?}", record.failures);
    Some(record)
}

/// Ways, modes and depths that ran at least once.
fn every_way(base: &Step, bindings: &Bindings) -> usize {
    let options = HostRunnerOptions { bindings: bindings.clone(), ..HostRunnerOptions::default() };
    let mut runner = HostRunner::new(options);
    let mut ran = 0;
    for (name, mode) in WAYS {
        for depth in [1, 2, 32, 128] {
            if name.is_synchronous() && depth > 1 {
                continue;
            }
            let mut ios = None;
            for (mix, direct) in [(OpMix::READ, true), (OpMix::READ, false), (MIX, true), (MIX, false)] {
                let mut step = base.clone();
                step.engine.name = name;
                step.engine.mode = mode;
                step.load.queue_depth = depth;
                step.workload.mix = mix;
                step.workload.direct = direct;
                step.length = RunLength::fixed(0, WINDOW_MS * 1_000_000);
                for seed in 0..if mode == Mode::Sqpoll { SQPOLL_TRIES } else { 1 } {
                    step.seed = u64::from(seed);
                    step.load.threads = 1 + seed % 2;
                    if let Some(record) = tried(&mut runner, &step) {
                        *ios.get_or_insert(0) += record.ios();
                    }
                }
            }
            // One try of 15 ms may well end without an I/O on a busy host; all of one depth do not.
            assert_ne!(ios, Some(0), "{name:?} {mode:?} QD {depth}: not one I/O");
            ran += usize::from(ios.is_some());
        }
    }
    ran
}

#[test]
fn every_engine_mode_and_depth_runs_on_a_file() {
    let bench = Bench::new(SIZE_BYTES);
    let mut step = step_on(&bench.path, EngineName::Psync);
    step.workload.mix = MIX;
    let bindings = bindings(&step).expect("the test's own file");
    // All but iopoll, which a file may refuse.
    assert!(every_way(&step, &bindings) >= 14);
}

#[test]
fn every_engine_mode_and_depth_runs_on_a_loop_device() {
    let Some(device) = Device::new_loop(SIZE_BYTES) else { return };
    let bindings = device.bound();
    assert!(every_way(&step_on(device.path(), EngineName::Psync), &bindings) >= 14);
}

#[test]
fn every_engine_mode_and_depth_runs_on_memory_that_blocks() {
    let Some(device) = Device::new_zram(SIZE_BYTES) else { return };
    let bindings = device.bound();
    assert!(every_way(&step_on(device.path(), EngineName::Psync), &bindings) >= 14);
}
