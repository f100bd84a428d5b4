//! Threads that drive several targets each: every engine, every way to spread.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use fathom_engine::HostProbe;
use fathom_plan::{
    Durability, EngineName, Load, OpMix, Pacing, Pattern, Rate, RateProcess, Spread, Step, SyncEvery, SyncKind,
    TargetId, Think, Verify,
};
use fathom_record::{HostDelta, StepRecord, TargetRecord};

use crate::support::{BLOCK, Bench, run, run_by, runner};

const BLOCKS: u64 = 64;

fn benches(count: usize) -> Vec<Bench> {
    (0..count).map(|_| Bench::new(BLOCKS * BLOCK)).collect()
}

fn step_over(benches: &[Bench], engine: EngineName, spread: Spread, threads: u32, depth: u32) -> Step {
    let mut step = benches[0].step(engine);
    step.targets = benches.iter().map(|b| TargetId::new(b.path.to_string_lossy().into_owned())).collect();
    step.load = Load { spread, ..Load::closed(threads, depth) };
    step.length.passes = Some(1);
    if engine == EngineName::Mmap {
        step.workload.direct = false;
    }
    step
}

fn ran(step: &Step) -> StepRecord {
    let record = run(step).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(record.errors(), 0, "{:?}", record.failures);
    record
}

/// Each target got what it was to get, and the parts add up to the whole.
fn every_target_gets_its_share(engine: EngineName) {
    for (spread, threads, depth, passes_on_each) in [
        (Spread::Targets, 2, 6, 1),
        // 5 threads on 3 targets: two of them have two threads, which each pass over the whole.
        (Spread::Targets, 5, 1, 0),
        // Fewer slots than targets: they take turns.
        (Spread::AllTargets, 1, 2, 1),
        (Spread::AllTargets, 2, 3, 2),
    ] {
        let benches = benches(3);
        let step = step_over(&benches, engine, spread, threads, depth);
        let record = ran(&step);
        assert_eq!(record.threads.len(), threads as usize);
        let expected = |target: usize| match passes_on_each {
            0 => BLOCKS * if target < 2 { 2 } else { 1 },
            passes => BLOCKS * passes,
        };
        let got: Vec<u64> = record.targets.iter().map(|t| t.ios).collect();
        assert_eq!(got, (0..3).map(expected).collect::<Vec<_>>(), "{engine:?} {spread:?} T{threads} QD{depth}");
        assert_eq!(record.ios(), got.iter().sum::<u64>());
        // A quick thread measures a sample of its batches target by target.
        let is_sample = |t: &TargetRecord| t.lat.as_ref().is_some_and(|lat| lat.count > 0);
        assert!(record.targets.iter().all(is_sample), "{:?}", record.targets);
    }
}

/// What one thread wrote to three files is in those files, each block in its own.
fn what_was_written_is_where_it_belongs(engine: EngineName) {
    let benches = benches(3);
    let mut step = step_over(&benches, engine, Spread::AllTargets, 1, 3);
    step.workload.mix = OpMix::WRITE;
    step.workload.verify = Some(Verify::Crc32c);
    let record = ran(&step);
    let report = record.verify.expect("verified");
    assert_eq!(
        (report.blocks_checked, report.torn + report.misplaced + report.stale + report.corrupt + report.foreign),
        (3 * BLOCKS, 0)
    );
    assert!(benches.iter().all(|b| (0..BLOCKS).all(|at| b.block(at).iter().any(|byte| *byte != 0))));
}

fn each_target_is_synced_after_its_own_writes(engine: EngineName) {
    let benches = benches(2);
    let mut step = step_over(&benches, engine, Spread::Targets, 1, 4);
    step.workload.mix = OpMix::WRITE;
    step.workload.durability =
        Durability { sync: Some(SyncEvery { kind: SyncKind::Fdatasync, writes: 4 }), ..Durability::default() };
    let record = ran(&step);
    assert_eq!(record.syncs.expect("syncs").ios, 2 * BLOCKS / 4);
}

fn an_open_loop_goes_round_the_targets(engine: EngineName) {
    let benches = benches(3);
    let mut step = step_over(&benches, engine, Spread::AllTargets, 1, 4);
    step.load.rate = Some(Rate { iops: 2_000.0, process: RateProcess::Fixed });
    let record = ran(&step);
    assert!(record.targets.iter().all(|t| t.ios == BLOCKS), "{:?}", record.targets);
}

fn trims_go_to_their_target(engine: EngineName) {
    let benches = benches(2);
    let mut step = step_over(&benches, engine, Spread::AllTargets, 1, 2);
    step.workload.mix = OpMix { read_pct: 0, write_pct: 0, trim_pct: 100 };
    step.workload.pattern = Pattern::Sequential;
    for bench in &benches {
        let file = File::options().write(true).open(&bench.path).expect("the file");
        file.write_all_at(&vec![1; (BLOCKS * BLOCK) as usize], 0).expect("room");
        file.sync_all().expect("a disk that works");
    }
    ran(&step);
    assert!(benches.iter().all(|b| (0..BLOCKS).all(|at| b.block(at).iter().all(|byte| *byte == 0))));
}

macro_rules! engines {
    ($($module:ident: $engine:expr;)*) => {
        $(mod $module {
            use super::*;
            #[test] fn every_target_gets_its_share() { super::every_target_gets_its_share($engine); }
            #[test] fn what_was_written_is_where_it_belongs() { super::what_was_written_is_where_it_belongs($engine); }
            #[test] fn each_target_is_synced_after_its_own_writes() { super::each_target_is_synced_after_its_own_writes($engine); }
            #[test] fn an_open_loop_goes_round_the_targets() { super::an_open_loop_goes_round_the_targets($engine); }
            #[test] fn trims_go_to_their_target() { super::trims_go_to_their_target($engine); }
        })*
    };
}

engines! {
    psync: EngineName::Psync;
    libaio: EngineName::Libaio;
    io_uring: EngineName::IoUring;
    mmap: EngineName::Mmap;
}

/// Cuts off a file once everything is set up.
struct CutOff(PathBuf);

impl HostProbe for CutOff {
    fn begin(&mut self) {
        File::options().write(true).open(&self.0).and_then(|f| f.set_len(0)).expect("cut off");
    }

    fn interval(&mut self) {}

    fn finish(&mut self, _window_ns: u64) -> Option<HostDelta> {
        None
    }
}

#[test]
fn sequential_threads_own_a_part_of_each_target() {
    let benches = benches(2);
    let mut step = step_over(&benches, EngineName::IoUring, Spread::AllTargets, 2, 4);
    step.workload.pattern = Pattern::Sequential;
    let record = ran(&step);
    assert_eq!(record.ios(), 2 * BLOCKS, "each block once, by one of the threads");
    assert_eq!(record.threads.iter().map(|t| t.ios).collect::<Vec<_>>(), [BLOCKS, BLOCKS]);
}

#[test]
fn errors_belong_to_their_target() {
    let benches = benches(2);
    let step = step_over(&benches, EngineName::IoUring, Spread::AllTargets, 1, 2);
    let probe = CutOff(benches[1].path.clone());
    let record = run_by(&mut runner(&step, Some(Box::new(probe))), &step).expect("a record");
    let counted: Vec<(u64, u64)> = record.targets.iter().map(|t| (t.ios, t.errors)).collect();
    assert_eq!(counted, [(BLOCKS, 0), (0, BLOCKS)]);
}

#[test]
fn pauses_are_counted_as_such() {
    let benches = benches(1);
    let mut step = step_over(&benches, EngineName::Psync, Spread::EachTarget, 1, 1);
    step.load.pacing.think = Some(Think { pause_ns: 5_000_000, spin_ns: 0, ios: 8 });
    let record = ran(&step);
    // 64 reads: a pause after each 8 but for the last, whose I/Os nothing follows.
    let paused_ns = record.threads[0].paused_ns;
    assert!((7 * 5_000_000..2 * record.runtime_ns).contains(&paused_ns), "{paused_ns} of {} ns", record.runtime_ns);
    step.load.pacing = Pacing::default();
    assert_eq!(ran(&step).threads[0].paused_ns, 0);
}
