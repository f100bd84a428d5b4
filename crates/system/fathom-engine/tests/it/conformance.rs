//! One suite that every engine passes, on a real file.

use std::cell::Cell;
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fathom_engine::HostProbe;
use fathom_plan::{
    BlockSize, EngineName, Load, Op, OpMix, Pattern, Rate, RateProcess, Region, RunLength, Step, SyncEvery, SyncKind,
    Verify,
};
use fathom_record::{HostDelta, Latency, RunControl, Runner as _, StepFailure, StepRecord, Warning};

use crate::support::{BLOCK, Bench, run, run_by, runner, step_on};

fn run_with(step: &Step, probe: Option<Box<dyn HostProbe>>) -> Result<StepRecord, StepFailure> {
    run_by(&mut runner(step, probe), step)
}

/// Calls a function when the window begins and another when it ends, before anything is read back.
struct Meddler<B, F> {
    begin: B,
    finish: F,
}

impl<B: FnMut() + Send, F: FnMut() + Send> HostProbe for Meddler<B, F> {
    fn begin(&mut self) {
        (self.begin)();
    }

    fn interval(&mut self) {}

    fn finish(&mut self, _window_ns: u64) -> Option<HostDelta> {
        (self.finish)();
        None
    }
}

fn each_block_once_per_pass(engine: EngineName) {
    let bench = Bench::new(300 * BLOCK);
    let mut step = bench.step(engine);
    step.workload.mix = OpMix::WRITE;
    step.length.passes = Some(1);
    let record = run(&step).expect("a record");
    // As many writes as blocks, and no block left out: each exactly once.
    assert_eq!((record.ios(), record.bytes(), record.errors()), (300, 300 * BLOCK, 0));
    assert!((0..300).all(|i| bench.block(i).iter().any(|&b| b != 0)), "a block was left out");
    assert_eq!(record.threads[0].passes, 1);

    step.workload.mix = OpMix::READ;
    step.length.passes = Some(3);
    step.load.threads = 2;
    let record = run(&step).expect("a record");
    assert_eq!((record.ios(), record.bytes()), (2 * 3 * 300, 2 * 3 * 300 * BLOCK));
    assert!(record.threads.iter().all(|t| t.passes == 3 && t.ios == 900));
}

fn threads_share_a_sequential_region(engine: EngineName) {
    let bench = Bench::new(100 * BLOCK);
    let mut step = bench.step(engine);
    step.workload.mix = OpMix::WRITE;
    step.workload.pattern = Pattern::Sequential;
    step.length.passes = Some(1);
    step.load.threads = 3;
    let record = run(&step).expect("a record");
    assert_eq!(record.ios(), 100);
    assert!((0..100).all(|i| bench.block(i).iter().any(|&b| b != 0)), "a block was left out");
}

fn stays_in_range_and_aligned(engine: EngineName) {
    let bench = Bench::new(128 * BLOCK);
    let mut step = bench.step(engine);
    step.workload.mix = OpMix::WRITE;
    // An odd start is rounded up, an odd end down.
    step.workload.region = Region { offset_bytes: 32 * BLOCK - 100, size_bytes: Some(64 * BLOCK + 200) };
    step.workload.block_sizes =
        vec![BlockSize { bytes: BLOCK as u32, share_pct: 50 }, BlockSize { bytes: 2 * BLOCK as u32, share_pct: 50 }];
    step.length.passes = Some(40);
    let record = run(&step).expect("a record");
    assert_eq!(record.ios(), 40 * 32);
    let touched = |i: u64| bench.block(i).iter().any(|&b| b != 0);
    assert!((0..32).chain(96..128).all(|i| !touched(i)), "wrote outside the region");
    // Offsets are multiples of the larger size, so that even blocks are always written.
    assert!((32..96).step_by(2).all(touched), "left out a block of the region");
    assert!(record.bytes() > record.ios() * BLOCK && record.bytes() < record.ios() * 2 * BLOCK);
}

fn reports_short_and_failed_io(engine: EngineName) {
    let bench = Bench::new(64 * BLOCK);
    let step = Step { length: RunLength { passes: Some(1), ..bench.step(engine).length }, ..bench.step(engine) };
    let path = bench.path.clone();
    // The file shrinks after it was checked: one whole block, a part of the second, nothing beyond.
    let shrink =
        move || OpenOptions::new().write(true).open(&path).and_then(|f| f.set_len(BLOCK + 512)).expect("shrunk");
    let record = run_with(&step, Some(Box::new(Meddler { begin: shrink, finish: || {} }))).expect("a record");
    let read = record.direction(Op::Read).expect("two reads went well");
    assert_eq!((read.ios, record.errors()), (2, 62), "{:?}", record.failures);
    assert_eq!(record.failures.len(), 1);
    assert_eq!((record.failures[0].op, record.failures[0].errno), (Op::Read, 0));
    assert!(record.warnings.iter().any(|w| matches!(w, Warning::IoErrors { count: 62, .. })));
    // A mapped page is there as a whole when its first byte is.
    let short = u64::from(engine != EngineName::Mmap);
    assert_eq!(read.short_ios, short);
}

fn reports_failed_io(engine: EngineName) {
    let bench = Bench::new(64 * BLOCK);
    let step = Step { length: RunLength { passes: Some(1), ..bench.step(engine).length }, ..bench.step(engine) };
    let path = bench.path.clone();
    let shrink = move || OpenOptions::new().write(true).open(&path).and_then(|f| f.set_len(BLOCK)).expect("shrunk");
    let record = run_with(&step, Some(Box::new(Meddler { begin: shrink, finish: || {} }))).expect("a record");
    assert_eq!((record.ios(), record.errors()), (1, 63), "{:?}", record.failures);
    let failure = &record.failures[0];
    assert_eq!((failure.op, failure.errno), (Op::Read, libc::ENODATA));
    assert!(failure.drive_status.is_some(), "{failure:?}");
}

fn gives_up_when_nothing_succeeds(engine: EngineName) {
    let bench = Bench::new(64 * BLOCK);
    let step = bench.step(engine);
    let path = bench.path.clone();
    let empty = move || OpenOptions::new().write(true).open(&path).and_then(|f| f.set_len(0)).expect("emptied");
    let record = run_with(&step, Some(Box::new(Meddler { begin: empty, finish: || {} }))).expect("a record");
    assert!(record.runtime_ns < step.length.budget_ns, "ran to the end of its budget");
    assert!(record.errors() > 1_000);
    assert_eq!(record.ios(), 0);
}

fn drains_on_stop(engine: EngineName) {
    let bench = Bench::new(256 * BLOCK);
    let mut step = bench.step(engine);
    step.load.threads = 2;
    let stop = AtomicBool::new(false);
    let stopped_at = Cell::new(None);
    let mut on_progress = |progress: &fathom_record::Progress| {
        // A busy host may let the first I/Os wait for long.
        if progress.bytes_done > 0 && !stop.swap(true, Ordering::Relaxed) {
            stopped_at.set(Some(Instant::now()));
        }
    };
    let mut control = RunControl { stop: &stop, on_progress: &mut on_progress, precise_enough: &|_, _| false };
    let record = runner(&step, None).run(&step, &mut control).expect("a record");
    let took = stopped_at.get().expect("progress was called").elapsed();
    // Ten times the promised second, for a busy host. The budget is a minute.
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert!(record.warnings.contains(&Warning::Interrupted));
    assert!(record.ios() > 0);
    assert!(record.runtime_ns < step.length.budget_ns);
}

fn books_balance(engine: EngineName) {
    let bench = Bench::new(512 * BLOCK);
    let mut step = bench.step(engine);
    step.workload.mix = OpMix { read_pct: 60, write_pct: 40, trim_pct: 0 };
    step.load.threads = 2;
    step.length.passes = Some(2);
    let record = run(&step).expect("a record");
    assert_eq!(record.ios(), 2 * 2 * 512);
    assert_eq!(record.intervals.iter().map(|i| i.length_ns).sum::<u64>(), record.runtime_ns);
    for direction in &record.directions {
        let by_interval: u64 =
            record.intervals.iter().flat_map(|i| &i.directions).filter(|d| d.op == direction.op).map(|d| d.ios).sum();
        let lat = direction.lat.histogram().expect("samples");
        assert_eq!((by_interval, lat.count()), (direction.ios, direction.ios));
        assert_eq!(direction.bytes, direction.ios * BLOCK);
    }
    // Little's law: every I/O lies within the window, so the sum of latencies is the area under the slots it held.
    let lat = record.lat_merged().expect("samples");
    let by_law = lat.sum_ns() as f64 / record.runtime_ns as f64;
    let occupied = record.occupied_mean.expect("integrated");
    assert!((by_law - occupied).abs() <= 0.02 * occupied, "{by_law} by latencies, {occupied} integrated");
    let depth = if engine.is_synchronous() { 1 } else { 8 };
    assert!(record.threads.iter().all(|t| t.in_flight_max <= depth));
}

/// What a slot waits for its next submission is latency: rate times latency is the depth that was asked for, however much
/// of it the host kept from the device.
fn latency_times_rate_is_the_depth_asked_for(engine: EngineName) {
    let bench = Bench::new(4096 * BLOCK);
    for queue_depth in if engine.is_synchronous() { vec![1] } else { vec![1, 4, 32, 128] } {
        let mut step = bench.step(engine);
        step.load.queue_depth = queue_depth;
        step.length = RunLength::fixed(30_000_000, 200_000_000);
        let record = run(&step).expect("a record");
        let depth = f64::from(queue_depth);
        assert_eq!(record.occupied_mean, Some(depth), "the ramp is over: every slot is held all the time");
        let [before_ns, at_end_ns] = record.age_ns.expect("counted");
        let held_ns = record.lat_merged().expect("samples").sum_ns() as f64 - before_ns as f64 + at_end_ns as f64;
        let by_law = held_ns / record.runtime_ns as f64;
        // A histogram's sum is that of its bins: within a per cent.
        assert!((by_law / depth - 1.0).abs() < 0.01, "{by_law} of {depth}");
        let in_flight = record.in_flight_mean.expect("integrated");
        assert!(in_flight <= depth, "{in_flight} of {depth}");
        // Where it is known for every I/O, what the host kept and what the device took are the latency.
        let reads = record.direction(Op::Read).expect("reads");
        if let (Some(slat), Some(clat)) = (&reads.slat, &reads.clat)
            && let (Some(slat), Some(clat), Some(lat)) = (slat.histogram(), clat.histogram(), reads.lat.histogram())
            && clat.count() == lat.count()
        {
            let (parts, whole) = ((slat.sum_ns() + clat.sum_ns()) as f64, lat.sum_ns() as f64);
            assert!((parts / whole - 1.0).abs() < 0.02, "{parts} of {whole}");
        }
    }
}

fn counts_only_the_window(engine: EngineName) {
    let bench = Bench::new(256 * BLOCK);
    let mut step = bench.step(engine);
    step.length = RunLength::fixed(50_000_000, 150_000_000);
    let record = run(&step).expect("a record");
    assert_eq!(record.runtime_ns, 150_000_000);
    assert_eq!(record.intervals.len(), 10);
    assert_eq!(record.intervals.iter().map(|i| i.length_ns).sum::<u64>(), 150_000_000);
    assert!(record.ios() > 0);
    assert_eq!(record.threads[0].ios, record.ios());
}

fn paranoid_stamps_every_io(engine: EngineName) {
    let bench = Bench::new(256 * BLOCK);
    let mut step = bench.step(engine);
    step.engine.paranoid = true;
    step.length.passes = Some(1);
    let record = run(&step).expect("a record");
    assert_eq!(record.ios(), 256);
    let read = record.direction(Op::Read).expect("reads");
    assert_eq!(read.clat.as_ref().and_then(|l| l.histogram()).map(fathom_hist::Histogram::count), Some(256));
    assert_eq!(record.overhead.expect("measured").batch_stamp_error_ns_mean, 0.0);
}

/// A slot that waits while those before it are filled has that wait in its submission latency. fio's have not: they begin when an
/// I/O is made, and completions are taken once the queue is full.
fn latencies_of_batches_begin_when_an_io_is_made(engine: EngineName) {
    if engine.is_synchronous() {
        return;
    }
    let bench = Bench::new(4096 * BLOCK);
    let of = |max: Option<u32>| {
        let mut step = bench.step(engine);
        step.engine.paranoid = true;
        step.load = Load { batch_submit: Some(1), batch_complete_max: max, ..Load::closed(1, 32) };
        step.length.passes = Some(1);
        let record = run(&step).expect("a record");
        let read = record.direction(Op::Read).expect("reads");
        let mean = |part: &Latency| part.histogram().and_then(fathom_hist::Histogram::mean_ns).expect("samples");
        let (lat, parts) = (mean(&read.lat), [&read.slat, &read.clat].map(|part| part.as_ref().map(mean)));
        assert_eq!(record.ios(), 4096);
        if let [Some(slat), Some(clat)] = parts {
            assert!(((slat + clat) / lat - 1.0).abs() < 0.02, "{slat} and {clat} of {lat}");
        }
        parts[0].map(|slat| slat / lat)
    };
    // Other tests run at the same time: most of the turns count.
    let turns: Vec<_> = (0..5).map(|_| [Some(1), Some(32), None].map(of)).collect();
    let smaller =
        |at: usize| turns.iter().filter(|turn| turn[at].zip(turn[2]).is_some_and(|(a, b)| a < 0.5 * b)).count();
    if turns[0][0].is_some() {
        assert!(smaller(0) >= 3 && smaller(1) >= 3, "{turns:?}");
    } else {
        assert!(engine == EngineName::Null, "{engine:?} says nothing of submission");
    }
}

fn verify_finds_each_kind_of_damage(engine: EngineName) {
    let bench = Bench::new(64 * BLOCK);
    let mut step = bench.step(engine);
    step.workload.mix = OpMix::WRITE;
    step.workload.verify = Some(Verify::Crc32c);
    step.length.passes = Some(1);
    step.load.threads = 2;
    let clean = run(&step).expect("a record").verify.expect("verified");
    assert_eq!((clean.blocks_checked, clean.examples.len()), (64, 0), "{clean:?}");
    let old = bench.block(20);

    // The next step writes everything again; then five blocks are damaged behind its back.
    step.seed += 1;
    let path = bench.path.clone();
    let damage = move || {
        let file = OpenOptions::new().read(true).write(true).open(&path).expect("the file");
        let mut other = vec![0; BLOCK as usize];
        file.read_exact_at(&mut other, 3 * BLOCK).expect("a readable block");
        file.write_all_at(&other, 10 * BLOCK).expect("misplaced");
        file.write_all_at(&old, 20 * BLOCK).expect("stale");
        file.write_all_at(&[0x5A], 30 * BLOCK + 700).expect("corrupt");
        file.write_all_at(&[0; 2048], 40 * BLOCK + 2048).expect("torn");
        file.write_all_at(&vec![0xC3; BLOCK as usize], 50 * BLOCK).expect("foreign");
        file.sync_all().expect("a disk that works");
    };
    let record = run_with(&step, Some(Box::new(Meddler { begin: || {}, finish: damage }))).expect("a record");
    let report = record.verify.expect("verified");
    assert_eq!(report.blocks_checked, 64);
    let found = [report.misplaced, report.stale, report.corrupt, report.torn, report.foreign];
    assert_eq!(found, [1, 1, 1, 1, 1], "{:?}", report.examples);
    assert!(record.warnings.contains(&Warning::VerifyFailed { blocks: 5 }));

    // A step that only reads knows no generations, but finds the rest.
    step.workload.mix = OpMix::READ;
    let report = run(&step).expect("a record").verify.expect("verified");
    let found = [report.misplaced, report.stale, report.corrupt, report.torn, report.foreign];
    assert_eq!((report.blocks_checked, found), (64, [1, 0, 1, 1, 1]), "{:?}", report.examples);
}

fn an_open_loop_keeps_its_rate_or_says_so(engine: EngineName) {
    let bench = Bench::new(256 * BLOCK);
    let mut step = bench.step(engine);
    step.length = RunLength::fixed(0, 300_000_000);
    step.load.rate = Some(Rate { iops: 200.0, process: RateProcess::Fixed });
    let record = run(&step).expect("a record");
    let open = record.open_loop.clone().expect("an open loop");
    // 60 are due; some may still be on their way when the window closes, none may be invented.
    assert!(record.ios() <= 61 && record.ios() + open.backlog_end_ios >= 30, "{} {open:?}", record.ios());
    let read = record.direction(Op::Read).expect("reads");
    assert_eq!(read.service.as_ref().and_then(|l| l.histogram()).map(fathom_hist::Histogram::count), Some(read.ios));

    step.load.rate = Some(Rate { iops: 1e9, process: RateProcess::Poisson });
    let record = run(&step).expect("a record");
    let open = record.open_loop.expect("an open loop");
    assert!(open.unsustainable && open.backlog_end_ios > 0, "{open:?}");
    assert!(record.warnings.iter().any(|w| matches!(w, Warning::RateUnsustainable { .. })));
}

fn trims_in_a_mix(engine: EngineName) {
    let bench = Bench::new(128 * BLOCK);
    let mut step = bench.step(engine);
    step.workload.mix = OpMix { read_pct: 30, write_pct: 30, trim_pct: 40 };
    step.length.passes = Some(4);
    let record = run(&step).expect("a record");
    assert_eq!(record.ios() + record.errors(), 4 * 128);
    assert_eq!(record.directions.len(), 3, "{:?}", record.failures);
}

fn syncs_follow_the_writes_they_cover(engine: EngineName) {
    let bench = Bench::new(256 * BLOCK);
    let mut step = bench.step(engine);
    step.workload.mix = OpMix::WRITE;
    step.length.passes = Some(1);
    for (kind, writes, threads) in [(SyncKind::Fdatasync, 1, 1), (SyncKind::Fsync, 8, 2), (SyncKind::Fdatasync, 100, 1)]
    {
        step.workload.durability.sync = Some(SyncEvery { kind, writes });
        step.load.threads = threads;
        let record = run(&step).expect("a record");
        // They move nothing and are no I/Os of the totals.
        let ios = 256 * u64::from(threads);
        assert_eq!((record.ios(), record.bytes(), record.errors()), (ios, ios * BLOCK, 0), "{kind:?}");
        let syncs = record.syncs.as_ref().expect("syncs");
        assert_eq!(
            (syncs.op, syncs.ios, syncs.bytes),
            (Op::Sync, u64::from(256 / writes * threads), 0),
            "{kind:?} after {writes}"
        );
        assert_eq!(syncs.lat.histogram().map(fathom_hist::Histogram::count), Some(syncs.ios));
        let in_intervals: u64 = record.intervals.iter().flat_map(|i| &i.syncs).map(|d| d.ios).sum();
        assert_eq!(in_intervals, syncs.ios);
    }
    step.workload.mix = OpMix { read_pct: 50, write_pct: 50, trim_pct: 0 };
    step.workload.durability.sync = Some(SyncEvery { kind: SyncKind::Fdatasync, writes: 1 });
    let record = run(&step).expect("a record");
    let written = record.direction(Op::Write).map_or(0, |d| d.ios);
    assert_eq!(record.syncs.map_or(0, |d| d.ios), written, "reads need no sync");
}

macro_rules! every_engine {
    ($($module:ident $engine:expr $(, $shrinks:ident)?;)*) => { $(
        mod $module {
            use super::*;
            const ENGINE: EngineName = $engine;
            $( #[test] fn reports_what_was_not_moved() { $shrinks(ENGINE); } )?
            #[test] fn touches_each_block_once_per_pass() { each_block_once_per_pass(ENGINE); }
            #[test] fn threads_share_a_sequential_region() { super::threads_share_a_sequential_region(ENGINE); }
            #[test] fn stays_in_range_and_aligned() { super::stays_in_range_and_aligned(ENGINE); }
            #[test] fn gives_up_when_nothing_succeeds() { super::gives_up_when_nothing_succeeds(ENGINE); }
            #[test] fn drains_on_stop() { super::drains_on_stop(ENGINE); }
            #[test] fn books_balance() { super::books_balance(ENGINE); }
            #[test] fn latency_times_rate_is_the_depth_asked_for() { super::latency_times_rate_is_the_depth_asked_for(ENGINE); }
            #[test] fn counts_only_the_window() { super::counts_only_the_window(ENGINE); }
            #[test] fn paranoid_stamps_every_io() { super::paranoid_stamps_every_io(ENGINE); }
            #[test] fn latencies_of_batches_begin_when_an_io_is_made() {
                super::latencies_of_batches_begin_when_an_io_is_made(ENGINE);
            }
            #[test] fn verify_finds_each_kind_of_damage() { super::verify_finds_each_kind_of_damage(ENGINE); }
            #[test] fn an_open_loop_keeps_its_rate_or_says_so() { super::an_open_loop_keeps_its_rate_or_says_so(ENGINE); }
            #[test] fn syncs_follow_the_writes_they_cover() { super::syncs_follow_the_writes_they_cover(ENGINE); }
            #[test] fn trims_in_a_mix() { super::trims_in_a_mix(ENGINE); }
        }
    )* };
}

every_engine! {
    psync EngineName::Psync, reports_short_and_failed_io;
    libaio EngineName::Libaio, reports_short_and_failed_io;
    io_uring EngineName::IoUring, reports_short_and_failed_io;
    mmap EngineName::Mmap, reports_short_and_failed_io;
    // A drive moves all of a command or fails it.
    nvme EngineName::Nvme, reports_failed_io;
}

/// The `null` engine has no target to look at; what can be counted must be right all the same.
#[test]
fn null_counts_exactly_and_stops() {
    let mut step = step_on(Path::new("null"), EngineName::Null);
    step.workload.region.size_bytes = Some(1000 * BLOCK);
    step.length.passes = Some(7);
    step.load.threads = 2;
    let record = run(&step).expect("a record");
    assert_eq!((record.ios(), record.errors()), (2 * 7 * 1000, 0));
    assert!(record.threads.iter().all(|t| t.passes == 7));
    let overhead = record.overhead.expect("measured");
    assert!(overhead.loop_ns_per_io > 0.0);
}

#[test]
fn a_step_stops_between_floor_and_budget_once_two_looks_find_it_precise() {
    let mut step = step_on(Path::new("null"), EngineName::Null);
    step.length = RunLength { floor_ns: 100_000_000, ..RunLength::fixed(0, 30_000_000_000) };
    let stop = AtomicBool::new(false);
    let looks = Rc::new(Cell::new(0));
    let precise = |intervals: &[fathom_record::Interval], _: &Step| {
        looks.set(looks.get() + 1);
        !intervals.is_empty()
    };
    let mut control = RunControl { stop: &stop, on_progress: &mut |_| {}, precise_enough: &precise };
    let record = runner(&step, None).run(&step, &mut control).expect("a record");
    assert!(record.runtime_ns >= 150_000_000 && record.runtime_ns < 30_000_000_000, "{}", record.runtime_ns);
    assert!(looks.get() >= 2);
    assert!(!record.warnings.contains(&Warning::Interrupted));
    let last = record.intervals.last().expect("intervals");
    assert_eq!(last.start_ns + last.length_ns, record.runtime_ns);
}

#[test]
fn a_last_sync_after_a_timed_window_leaves_what_was_counted() {
    let bench = Bench::new(256 * BLOCK);
    for engine in [EngineName::Psync, EngineName::Libaio, EngineName::IoUring] {
        let mut step = bench.step(engine);
        (step.workload.mix, step.workload.durability.at_end) = (OpMix::WRITE, true);
        step.length = RunLength::fixed(50_000_000, 150_000_000);
        let record = run(&step).expect("a record");
        assert!(record.ios() > 0 && record.syncs.is_none() && record.errors() == 0, "{engine:?}");
        let depth = if engine == EngineName::Psync { 1.0 } else { 8.0 };
        let occupied = record.occupied_mean.expect("known");
        assert!((occupied / depth - 1.0).abs() < 0.1, "{engine:?}: {occupied} of {depth}");
        assert!(record.directions[0].clat.is_some(), "{engine:?}");
        assert_eq!(record.threads[0].ios, record.ios(), "{engine:?}");
    }
}

/// Tests that measure time: they need a quiet host.
mod alone {
    use super::*;

    /// A probe that is slow to begin, as on a host with many processes, and remembers when it sampled and over what time.
    struct SlowProbe {
        begun: Option<Instant>,
        seen: Arc<Mutex<Option<(Duration, u64)>>>,
    }

    impl HostProbe for SlowProbe {
        fn begin(&mut self) {
            std::thread::sleep(Duration::from_millis(30));
            self.begun = Some(Instant::now());
        }

        fn interval(&mut self) {}

        fn finish(&mut self, window_ns: u64) -> Option<HostDelta> {
            *self.seen.lock().expect("whole") = Some((self.begun.expect("begun").elapsed(), window_ns));
            Some(HostDelta { window_ns, ..HostDelta::default() })
        }
    }

    #[test]
    fn the_host_is_sampled_over_the_whole_window_also_after_a_ramp() {
        for ramp_ms in [0, 200] {
            let mut step = step_on(Path::new("null"), EngineName::Null);
            step.length = RunLength::fixed(ramp_ms * 1_000_000, 200_000_000);
            let seen = Arc::new(Mutex::new(None));
            let record =
                run_with(&step, Some(Box::new(SlowProbe { begun: None, seen: seen.clone() }))).expect("a record");
            let (sampled, told_ns) = seen.lock().expect("whole").expect("sampled");
            let window = Duration::from_nanos(record.runtime_ns);
            assert!(sampled >= window, "{sampled:?} of {window:?} sampled after a ramp of {ramp_ms} ms");
            // What is reported is what was sampled, not what was planned; a busy host may take the thread its CPU in between.
            let reported = Duration::from_nanos(told_ns);
            assert!(
                reported >= window && reported <= sampled + Duration::from_millis(1),
                "{reported:?} of {sampled:?}"
            );
            assert!(sampled - reported < Duration::from_millis(50), "{reported:?} of {sampled:?}");
        }
    }

    /// A probe whose drives answer slowly, and that reads its counters at once.
    struct SlowDrives {
        begun: Option<Instant>,
        sampled: Arc<Mutex<Option<Duration>>>,
    }

    impl HostProbe for SlowDrives {
        fn prepare(&mut self) {
            std::thread::sleep(Duration::from_millis(150));
        }

        fn begin(&mut self) {
            self.begun = Some(Instant::now());
        }

        fn interval(&mut self) {}

        fn finish(&mut self, _window_ns: u64) -> Option<HostDelta> {
            *self.sampled.lock().expect("whole") = self.begun.map(|begun| begun.elapsed());
            None
        }
    }

    #[test]
    fn what_the_device_does_in_the_ramp_is_not_counted_while_drives_answer_slowly() {
        let mut step = step_on(Path::new("null"), EngineName::Null);
        step.length = RunLength::fixed(600_000_000, 200_000_000);
        let sampled = Arc::new(Mutex::new(None));
        let probe = SlowDrives { begun: None, sampled: sampled.clone() };
        let record = run_with(&step, Some(Box::new(probe))).expect("a record");
        let (sampled, window) =
            (sampled.lock().expect("whole").expect("sampled"), Duration::from_nanos(record.runtime_ns));
        // A busy host may take the thread its CPU between the start of the window and the first reading; the ramp is longer.
        assert!(sampled + Duration::from_millis(100) >= window, "{sampled:?} of {window:?}");
        assert!(sampled < window + Duration::from_millis(150), "{sampled:?} for {window:?}");
    }
}
