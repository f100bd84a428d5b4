//! What is said of a limit, and that it is made of its parts.

use fathom_language::Language;

use super::*;

/// What is said of a limit is made of its parts, in each language; the step that decided is named by its index.
#[test]
fn a_limit_says_its_cause_then_what_others_took_then_the_probe() {
    let mut steps = [observed(1, 32, 100_000, 0.93), observed(2, 32, 180_000, 0.6)];
    // Both share a CPU with a program that takes a twentieth of it.
    steps.iter_mut().for_each(|(step, _)| step.placement = Placement::Cpus(vec![0]));
    let host = steps[0].1.host.as_mut().expect("has a host");
    host.threads[0].waited_ns = SECOND_NS / 20;
    host.cpus[0].1.user_ns += SECOND_NS / 20;
    steps[1].0.index = 7;
    let all: Vec<Observation> = steps.iter().map(|(step, record)| Observation::of(step, record)).collect();
    let limit = attribute(&all, 0);
    assert!(matches!(limit.cause, Cause::Cores { workers: 1, .. }));
    assert_eq!(limit.caveats, [Caveat::CpuTaken { by: CpuTaker::Programs, share: 0.05 }]);
    let change = ProbeChange::MoreThreads { threads: 2 };
    assert_eq!(limit.probes, [ProbeResult { step_index: Some(7), change, gain: Quantity::times(1.8) }]);
    assert_eq!(
        english(&limit.sentence()),
        "One core is the limit (99 %): 98 % busy, 9.80 us of CPU per I/O. Other programs had the CPUs for 5 % of the time in \
         which the workers were to run. 2 threads gave 1.80x the IOPS."
    );
    assert_eq!(
        Language::Chinese.say(&limit.sentence()),
        "瓶颈（99 %）是单个核心：繁忙 98 %，每 I/O 耗 CPU 9.80 us。工作线程就绪时，CPU 有 5 % 的时间被其他程序占用。\
         2 个线程时 IOPS 为此步骤的 1.80x。"
    );
}

#[test]
fn a_limit_is_said_with_its_probability() {
    let sentence = |steps: &[(Step, StepRecord)], index: usize| {
        let all: Vec<Observation> = steps.iter().map(|(step, record)| Observation::of(step, record)).collect();
        english(&attribute(&all, index).sentence())
    };
    let ladder = [observed(1, 8, 40_000, 0.3), observed(1, 16, 40_100, 0.3)];
    assert_eq!(
        sentence(&ladder, 0),
        "The device is the limit (78 %): 8 in flight take 200 us each, and no core is saturated. 16 in flight gave 1.00x the IOPS."
    );
    assert!(sentence(&ladder, 1).contains(" %): 16 in flight take "));
    let alone = [observed(1, 1, 10_000, 0.1)];
    assert_eq!(sentence(&alone, 0), "Queue depth is the limit (90 %): one I/O at a time, 100 us each.");
    let grew = [observed(1, 1, 10_000, 0.1), observed(1, 2, 20_000, 0.1)];
    assert!(sentence(&grew, 1).ends_with("The IOPS are 2.00x those at 1 in flight."), "{}", sentence(&grew, 1));
}
