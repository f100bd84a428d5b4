//! Threads of the kernel that have no time left.

use fathom_record::KernelThreadCpu;

use super::*;

fn ns(share: f64) -> u64 {
    (share * SECOND_NS as f64) as u64
}

/// A step whose host shows these kernel threads: name, how many, CPUs that they had, CPUs that they waited for.
fn beside(depth: u32, ios: u64, threads: &[(&str, u32, f64, f64)]) -> (Step, StepRecord) {
    let (step, mut record) = observed(1, depth, ios, 0.3);
    let host = record.host.as_mut().expect("has a host");
    host.kernel_threads = threads
        .iter()
        .map(|(name, threads, busy, waited)| KernelThreadCpu {
            name: (*name).to_owned(),
            threads: *threads,
            busy_ns: ns(*busy),
            waited_ns: ns(*waited),
        })
        .collect();
    (step, record)
}

fn alone(threads: &[(&str, u32, f64, f64)]) -> Limit {
    let (step, record) = beside(32, 100_000, threads);
    attribute(&[Observation::of(&step, &record)], 0)
}

#[test]
fn a_kernel_thread_without_time_left_is_named_with_what_it_does_and_a_flat_ladder_confirms_it() {
    let parity = [("md0_raid5", 1, 0.97, 0.01), ("jbd2/vda1-8", 1, 0.2, 0.0)];
    let limit = alone(&parity);
    assert_eq!((limit.name, limit.confidence), (LimitName::KernelThread, Confidence::Confirmed));
    assert!(limit.cause == Cause::KernelThread { name: "md0_raid5".into(), cpus: 1, busy_share: 0.98 });
    let said = english(&limit.sentence());
    assert!(
        said.starts_with("Kernel thread md0_raid5 (parity of the md array, computed in one thread) is the limit"),
        "{said}"
    );
    assert!(english(&limit.would_help[0]).contains("group_thread_cnt"));
    let ladder =
        [beside(1, 12_000, &[]), beside(8, 80_000, &[]), beside(32, 99_500, &parity), beside(64, 100_000, &parity)];
    let all = with(&ladder, 0.004);
    let limit = attribute(&all, 2);
    assert_eq!(
        (limit.name, limit.confidence),
        (LimitName::KernelThread, Confidence::Confirmed),
        "{}",
        limit.sentence()
    );
    assert_eq!(limit.probes.len(), 1);
    // Other programs may be what keeps it from its CPU.
    let starved = [("md0_raid5", 1, 0.4, 0.58)];
    let ladder =
        [beside(1, 12_000, &[]), beside(8, 80_000, &[]), beside(32, 99_500, &starved), beside(64, 100_000, &starved)];
    let limit = attribute(&with(&ladder, 0.004), 2);
    assert_eq!((limit.name, limit.confidence), (LimitName::KernelThread, Confidence::Likely), "{}", limit.sentence());
    // What still rises is not held by it.
    let rising = [beside(1, 12_000, &parity), beside(8, 80_000, &parity), beside(64, 500_000, &parity)];
    assert_eq!(attribute(&with(&rising, 0.004), 0).name, LimitName::QueueDepth);
}

#[test]
fn a_thread_with_time_left_or_that_works_for_others_is_no_limit() {
    assert_eq!(alone(&[("md0_raid5", 1, 0.85, 0.02)]).name, LimitName::Unknown);
    assert_eq!(alone(&[("ksmd", 1, 0.99, 0.0)]).name, LimitName::Unknown);
    assert_eq!(alone(&[("ksoftirqd/0", 1, 0.99, 0.0)]).name, LimitName::Unknown);
    // Slow to be woken, not short of a CPU; one that is always ready waits for nothing else.
    assert_eq!(alone(&[("md0_raid5", 1, 0.2, 0.6)]).name, LimitName::Unknown);
    assert_eq!(alone(&[("md0_raid5", 1, 0.2, 0.79)]).name, LimitName::KernelThread);
    // Pages are taken back, but this load is direct.
    assert_eq!(alone(&[("kswapd0", 1, 0.99, 0.0)]).name, LimitName::Unknown);
}

/// Encryption runs on as many CPUs as it has workers for; a loop device has one at a time, however many take turns.
#[test]
fn a_group_is_full_when_the_cpus_that_it_can_use_are() {
    let crypt = |threads, busy, waited| alone(&[("kcryptd/253:0", threads, busy, waited)]);
    assert_eq!(crypt(2, 1.0, 0.1).name, LimitName::Unknown);
    let full = crypt(2, 1.7, 0.3);
    assert_eq!(full.cause, Cause::KernelThread { name: "kcryptd/253:0".into(), cpus: 2, busy_share: 1.0 });
    assert!(english(&full.sentence()).contains("100 % of 2 CPUs"), "{}", full.sentence());
    // Six workers take turns on two CPUs.
    assert_eq!(crypt(6, 1.9, 3.0).name, LimitName::KernelThread);
    assert_eq!(alone(&[("loop0", 3, 0.96, 0.0)]).name, LimitName::KernelThread);
}

#[test]
fn where_the_run_fills_all_cpus_one_thread_that_waits_is_not_the_limit_but_they_are() {
    let limit = |own: f64, busy: f64, waited: f64| {
        let (step, mut record) = beside(32, 100_000, &[("loop0", 1, busy, waited)]);
        let host = record.host.as_mut().expect("has a host");
        host.threads[0].user_ns = ns(own);
        for (_, time) in &mut host.cpus {
            *time = CpuTime { system_ns: ns(0.97), idle_ns: ns(0.03), ..CpuTime::default() };
        }
        attribute(&[Observation::of(&step, &record)], 0).name
    };
    assert_eq!(limit(0.8, 0.75, 0.24), LimitName::AllCores, "its time is the run's");
    assert_eq!(limit(0.8, 0.97, 0.02), LimitName::KernelThread);
    // Other programs keep it from the CPUs.
    assert_eq!(limit(0.2, 0.6, 0.38), LimitName::KernelThread);
}

/// A loop device on a file in memory, as it was measured: its thread shares CPU 0 with the soft interrupts of what it
/// completes, while half of the other CPU is idle.
#[test]
fn a_thread_that_waits_for_a_cpu_which_the_run_fills_is_the_limit() {
    let limit = |cpu0: f64, cpu1: f64| {
        let (step, mut record) = beside(128, 100_000, &[("loop0", 2, 0.58, 0.32)]);
        let host = record.host.as_mut().expect("has a host");
        host.threads[0].system_ns = ns(0.2);
        host.cpus = [(0, cpu0), (1, cpu1)]
            .map(|(cpu, busy)| {
                let time = CpuTime { system_ns: ns(busy - 0.2), softirq_ns: ns(0.2), ..CpuTime::default() };
                (cpu, CpuTime { idle_ns: ns(1.0 - busy), ..time })
            })
            .to_vec();
        attribute(&[Observation::of(&step, &record)], 0)
    };
    let full = limit(0.995, 0.5);
    assert_eq!((full.name, full.confidence), (LimitName::KernelThread, Confidence::Confirmed), "{}", full.sentence());
    assert!(full.probability.is_some_and(|p| p >= 0.9), "{}", full.sentence());
    // With time left on all CPUs it was slow to be woken, and beside other programs they may be what it waits for.
    for other in [limit(0.9, 0.5), limit(0.995, 0.99)] {
        assert!(other.probability.is_none_or(|p| p < 0.9), "{}", other.sentence());
    }
}

#[test]
fn workers_without_time_left_are_named_before_the_kernel_threads_that_they_feed() {
    let (step, mut record) = beside(32, 100_000, &[("loop0", 1, 0.94, 0.0)]);
    record.host.as_mut().expect("has a host").threads[0].user_ns = ns(0.99);
    assert_eq!(attribute(&[Observation::of(&step, &record)], 0).name, LimitName::Core);
}

/// Buffered writes of one file follow each other; reads are spread over the workers.
#[test]
fn io_urings_own_workers_are_a_limit_too() {
    let limit = |rw: &str, shares: &[f64]| {
        let (mut step, mut record) = observed(1, 32, 100_000, 0.3);
        step.workload.direct = false;
        if rw == "write" {
            (step.workload.mix.read_pct, step.workload.mix.write_pct) = (0, 100);
        }
        let workers = shares.iter().map(|share| ThreadCpu {
            name: "iou-wrk-77".into(),
            kernel: true,
            user_ns: 0,
            system_ns: ns(*share),
            waited_ns: 0,
        });
        record.host.as_mut().expect("has a host").threads.extend(workers);
        attribute(&[Observation::of(&step, &record)], 0)
    };
    let writes = limit("write", &[0.6, 0.38]);
    assert_eq!(writes.name, LimitName::KernelThread, "{}", writes.sentence());
    assert!(english(&writes.sentence()).contains("io_uring's own workers"), "{}", writes.sentence());
    assert_eq!(limit("read", &[0.6, 0.38]).name, LimitName::Unknown);
    assert_eq!(limit("read", &[0.96, 0.97]).name, LimitName::KernelThread);
}
