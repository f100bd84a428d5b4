//! Threads that drive several drives, against what arithmetic says of them.

use fathom_plan::{Load, Spread, Step, TargetId};

use crate::machine::{EngineCosts, Machine, Service};
use crate::testing::{US, bare_device, host, iops, machine, run, step};

const DRIVES: u32 = 4;

/// Four drives of 4 units that take 100 us: 40k IOPS each.
fn four(cost_ps: u64) -> Machine {
    let mut host = host(1, 8, 1);
    let costs = EngineCosts { submit_ps: cost_ps, ..EngineCosts::default() };
    host.engines = vec![("default".to_owned(), costs)];
    machine(host, &bare_device(4, Service::fixed(100 * US)), DRIVES as usize)
}

fn over_four(spread: Spread, threads: u32, queue_depth: u32) -> Step {
    let mut step = step("sim:test/d0", threads, queue_depth, 200_000_000);
    step.targets = (0..DRIVES).map(|drive| TargetId::new(format!("sim:test/d{drive}"))).collect();
    step.load = Load { spread, ..Load::closed(threads, queue_depth) };
    step
}

fn is_near(got: f64, expected: f64) {
    assert!((got / expected - 1.0).abs() < 0.02, "{got} instead of {expected}");
}

#[test]
fn as_many_ios_in_flight_give_the_same_from_fewer_threads() {
    let each = iops(&four(0), &over_four(Spread::EachTarget, 1, 2));
    is_near(iops(&four(0), &over_four(Spread::Targets, 2, 4)), each);
    is_near(iops(&four(0), &over_four(Spread::AllTargets, 1, 8)), each);
}

#[test]
fn a_thread_with_all_drives_is_limited_by_its_core() {
    // 20 us of CPU for each I/O: 50k a second from one core, of 160k that the drives give.
    let machine = four(20 * US);
    is_near(iops(&machine, &over_four(Spread::AllTargets, 1, 64)), 50e3);
    is_near(iops(&machine, &over_four(Spread::Targets, 2, 64)), 100e3);
}

#[test]
fn every_drive_gets_its_share_and_the_threads_say_which_they_drive() {
    let (record, _) = run(&four(0), &over_four(Spread::Targets, 3, 8)).expect("the step runs");
    let driven: Vec<usize> = record.threads.iter().map(|thread| thread.targets.len()).collect();
    assert_eq!(driven, [2, 1, 1]);
    assert!(record.targets.iter().all(|target| target.ios > 0));
    assert_eq!(record.targets.iter().map(|target| target.ios).sum::<u64>(), record.ios());
}

#[test]
fn passes_touch_each_block_of_each_drive() {
    for (spread, threads, depth, passers) in
        [(Spread::Targets, 2, 4, 1), (Spread::AllTargets, 1, 3, 1), (Spread::AllTargets, 2, 8, 2)]
    {
        let mut step = over_four(spread, threads, depth);
        step.workload.region.size_bytes = Some(1 << 20);
        step.length.passes = Some(2);
        step.length.budget_ns = 60_000_000_000;
        let (record, _) = run(&four(0), &step).expect("the step runs");
        let ios: Vec<u64> = record.targets.iter().map(|target| target.ios).collect();
        assert_eq!(ios, [2 * 256 * passers; DRIVES as usize], "{spread:?} T{threads} QD{depth}");
    }
}

#[test]
fn held_interrupts_are_known_of_one_drive_per_thread_only() {
    let mut machine = four(0);
    machine.drives[1].device.coalesce = Some((4, 100 * US));
    assert!(run(&machine, &over_four(Spread::AllTargets, 1, 8)).is_err());
    assert!(run(&machine, &over_four(Spread::EachTarget, 1, 8)).is_ok());
}
