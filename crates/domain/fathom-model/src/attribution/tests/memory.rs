//! Memory bandwidth, which keeps the cores busy that wait for it.

use super::*;

/// A RAM disk on memory that moves 2 GB/s: at most 244 000 blocks of 4 KiB, each read and written once.
fn ram_disk(steps: &[(Step, StepRecord)]) -> Vec<Observation> {
    let mut f = facts();
    (f.machine.memory_bytes_per_s, f.machine.is_ram_disk) = (Some(2e9), true);
    let mut all = on(f, steps);
    all.iter_mut().for_each(|o| o.iops_rel_half_width = Some(0.005));
    all
}

#[test]
fn a_ram_disk_at_what_memory_moves_is_limited_by_memory_and_not_by_the_cores_that_wait_for_it() {
    let busy = [observed(2, 8, 240_000, 0.99), observed(2, 16, 241_000, 0.99), observed(2, 64, 240_000, 0.99)];
    let limit = attribute(&ram_disk(&busy), 0);
    // Cores that copy at that rate are full as well.
    assert_eq!((limit.name, limit.confidence), (LimitName::Memory, Confidence::Likely), "{}", limit.sentence());
    let idle = [observed(1, 8, 240_000, 0.5), observed(1, 16, 241_000, 0.5), observed(1, 64, 240_000, 0.5)];
    let limit = attribute(&ram_disk(&idle), 0);
    assert_eq!((limit.name, limit.confidence), (LimitName::Memory, Confidence::Confirmed), "{}", limit.sentence());
}

#[test]
fn below_what_memory_moves_the_cores_are_the_limit_and_far_above_it_was_measured_wrong() {
    assert_eq!(attribute(&ram_disk(&[observed(2, 8, 150_000, 0.99)]), 0).name, LimitName::AllCores);
    assert_eq!(attribute(&ram_disk(&[observed(2, 8, 500_000, 0.99)]), 0).name, LimitName::AllCores);
}
