//! Steps that end once their figures are known, held against the same steps run whole.

use std::sync::atomic::AtomicBool;

use fathom_plan::{OpMix, Phase, Step};
use fathom_record::{RunControl, Runner as _, StepRecord, WhyShortened};

use crate::machine::Machine;
use crate::runner::SimRunner;
use crate::testing::step;
use crate::{Extent, builtin_machine};

const SECOND_NS: u64 = 1_000_000_000;

/// Runs a step; content after the first `intervals`.
fn run(runner: &mut SimRunner, extent: Extent, step: &Step, intervals: usize) -> StepRecord {
    let stop = AtomicBool::new(false);
    let precise_enough = |seen: &[fathom_record::Interval], _: &Step| seen.len() >= intervals;
    let mut control = RunControl { stop: &stop, on_progress: &mut |_| {}, precise_enough: &precise_enough };
    runner.set_extent(extent);
    // A run that breaks a law of operations is an error.
    runner.run(step, &mut control).expect("it runs and keeps the laws")
}

fn iops(record: &StepRecord) -> f64 {
    record.ios() as f64 * 1e9 / record.runtime_ns as f64
}

fn why(record: &StepRecord) -> Option<WhyShortened> {
    record.clock.as_ref().and_then(|clock| clock.shortened).map(|shortened| shortened.why)
}

#[test]
fn a_shortened_step_gives_what_the_whole_one_gives() {
    let loads = [("speed", "nvme-0", 1, 1, 100), ("r740xd", "pm1725", 1, 8, 70), ("r650-h755n", "raid10", 8, 8, 0)];
    for (name, target, threads, depth, read_pct) in loads {
        let machine = builtin_machine(name).expect("is shipped");
        let mut asked = step(target, threads, depth, 2 * SECOND_NS);
        asked.workload.mix = OpMix { read_pct, write_pct: 100 - read_pct, trim_pct: 0 };
        let mut runner = SimRunner::new(machine, 0);
        let short = run(&mut runner, Extent::UntilKnown, &asked, 20);
        let longer = Step { length: fathom_plan::RunLength::fixed(SECOND_NS / 5, 2 * SECOND_NS / 5), ..asked.clone() };
        let whole = run(&mut runner, Extent::Whole, &longer, usize::MAX);
        assert!((iops(&short) / iops(&whole) - 1.0).abs() < 0.02, "{name}: {} {}", iops(&short), iops(&whole));
        let mean = |r: &StepRecord| r.lat_merged().and_then(|lat| lat.mean_ns()).expect("there are samples");
        assert!((mean(&short) / mean(&whole) - 1.0).abs() < 0.02, "{name}: {} {}", mean(&short), mean(&whole));
        assert_eq!((why(&short), why(&whole)), (Some(WhyShortened::FiguresKnown), None), "{name}");
        assert!((20..80).contains(&short.intervals.len()), "{name}: {}", short.intervals.len());
        let ios: u64 = short.intervals.iter().flat_map(|i| &i.directions).map(|d| d.ios).sum();
        assert!(ios == short.ios() && ios >= 20_000, "{name}: {ios}");
        let lengths: u64 = short.intervals.iter().map(|i| i.length_ns).sum();
        assert_eq!(lengths, short.runtime_ns, "{name}");
        assert_eq!(short, run(&mut runner, Extent::UntilKnown, &asked, 20), "{name}: the same again");
    }
}

#[test]
fn a_step_that_is_never_known_ends_by_its_ios_or_its_time() {
    let mut runner = SimRunner::new(builtin_machine("speed").expect("is shipped"), 0);
    let many = run(&mut runner, Extent::UntilKnown, &step("nvme-0", 4, 32, 60 * SECOND_NS), usize::MAX);
    assert_eq!(why(&many), Some(WhyShortened::ManyIos));
    assert!((100_000..200_000).contains(&many.ios()), "{}", many.ios());
    let asked = run(&mut runner, Extent::UntilKnown, &step("nvme-0", 1, 1, SECOND_NS), usize::MAX);
    assert_eq!((why(&asked), asked.runtime_ns), (None, SECOND_NS));
}

fn small() -> Machine {
    let mut machine = builtin_machine("speed").expect("is shipped");
    machine.drives.iter_mut().for_each(|d| d.device.capacity_bytes = 2 << 30);
    machine
}

#[test]
fn a_purged_drive_ages_as_over_the_whole_time() {
    let mut writes = step("nvme-0", 4, 16, 4 * SECOND_NS);
    writes.workload.mix = OpMix::WRITE;
    let purge = Step { phase: Phase::Purge, ..writes.clone() };
    let aged = |extent: Extent| {
        let mut runner = SimRunner::new(small(), 0);
        run(&mut runner, extent, &purge, usize::MAX);
        let first = run(&mut runner, extent, &writes, usize::MAX);
        let second = run(&mut runner, extent, &writes, usize::MAX);
        (first, second)
    };
    let (whole, short) = (aged(Extent::Whole), aged(Extent::UntilKnown));
    // The buffer takes in the same in a shorter time.
    for (name, whole, short) in [("first", &whole.0, &short.0), ("second", &whole.1, &short.1)] {
        assert!((iops(short) / iops(whole) - 1.0).abs() < 0.08, "{name}: {} {}", iops(short), iops(whole));
    }
    assert!(iops(&short.0) > 1.05 * iops(&short.1), "it slows down: {} {}", iops(&short.0), iops(&short.1));
    assert_eq!(why(&short.0), Some(WhyShortened::DrivesAged));
    assert!(short.0.runtime_ns < whole.0.runtime_ns / 2);
}
