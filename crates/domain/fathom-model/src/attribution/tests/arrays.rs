//! Arrays as the kernel shows them: an md device, and its members beside it.

use super::*;
use crate::{RaidLevel, RaidModel};

/// Writes to an array of four whose members do so many I/Os for each.
fn writes(depth: u32, ios: u64, member_ios: u64) -> (Step, StepRecord) {
    let (mut step, mut record) = observed(1, depth, ios, 0.3);
    (step.workload.mix.read_pct, step.workload.mix.write_pct) = (0, 100);
    record.directions[0].op = Op::Write;
    let host = record.host.as_mut().expect("has a host");
    host.disks =
        vec![DiskDelta { device: "md0".into(), write_ios: ios, write_bytes: ios * 4096, ..DiskDelta::default() }];
    let each = ios * member_ios / 8;
    let member =
        |name: &str| DiskDelta { device: name.into(), read_ios: each, write_ios: each, ..DiskDelta::default() };
    host.members = ["sda", "sdb", "sdc", "sdd"].map(member).into();
    (step, record)
}

#[test]
fn writes_that_cost_the_members_several_ios_each_are_the_arrays() {
    let limit_of = |member_ios: u64| {
        let mut f = facts();
        f.machine.raid = Some(RaidModel::of(RaidLevel::Raid5));
        let ladder = [1, 8, 32, 64].map(|depth| writes(depth, if depth == 1 { 4_000 } else { 20_000 }, member_ios));
        let mut all = on(f, &ladder);
        all.iter_mut().for_each(|o| o.iops_rel_half_width = Some(0.005));
        attribute(&all, 2)
    };
    let limit = limit_of(4);
    assert_eq!(limit.cause, Cause::ArrayWrites { member_ios_per_write: 4.0 }, "{}", limit.sentence());
    assert_eq!(limit.name, LimitName::Raid);
    assert_eq!(limit_of(1).name, LimitName::Device, "as many as were written");
}
