//! Writes into space that a file does not have.

use fathom_plan::OpMix;

use super::*;
use crate::attribution::Cause;

/// A ladder of writes of which so many bytes in a hundred got their space meanwhile.
fn limit_of(allocated_pct: Option<u64>, write_pct: u8) -> Limit {
    let rung = |depth, ios: u64| {
        let (mut step, mut record) = observed(1, depth, ios, 0.2);
        step.workload.mix = OpMix { read_pct: 100 - write_pct, write_pct, trim_pct: 0 };
        let host = record.host.as_mut().expect("has a host");
        host.allocated_bytes = allocated_pct.map(|pct| ios * 4096 * u64::from(write_pct) / 100 * pct / 100);
        (step, record)
    };
    attribute(&with(&[rung(1, 3_000), rung(8, 7_800), rung(64, 8_000)], 0.02), 2)
}

#[test]
fn writes_into_space_that_a_file_does_not_have_are_held_by_the_file_system() {
    let limit = limit_of(Some(90), 100);
    assert_eq!((limit.name, limit.confidence), (LimitName::FileSystem, Confidence::Confirmed));
    assert!(matches!(limit.cause, Cause::Allocation { share } if (share - 0.9).abs() < 1e-3), "{:?}", limit.cause);
    let said = english(&limit.sentence());
    assert!(said.contains("The file system is the limit") && said.contains("90 % of the written bytes"), "{said}");
    assert!(!limit.would_help.is_empty());
    assert_eq!(limit_of(Some(90), 50).name, LimitName::FileSystem, "half of them writes");
}

#[test]
fn a_file_that_has_its_space_is_not() {
    assert_eq!(limit_of(Some(10), 100).name, LimitName::Device);
    assert_eq!(limit_of(None, 100).name, LimitName::Device, "no file, or not looked");
    assert_eq!(limit_of(Some(90), 0).name, LimitName::Device, "reads");
}
