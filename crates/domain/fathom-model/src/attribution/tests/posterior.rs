//! What the weighing of parts rests on: where I/Os stand, pauses, what fewer drives give at any load.

use super::*;
use crate::attribution::posterior::fill_weight;
use crate::attribution::{Evidence, UnknownReason};

/// A flat ladder of which so many of 64 in flight are at the device.
fn at_the_device(in_flight: u64, requests_per_queue: Option<u32>) -> Limit {
    let mut f = facts();
    (f.drives[0].hw_queues, f.drives[0].requests_per_queue) = (1, requests_per_queue);
    let mut ladder = [observed(1, 1, 12_000, 0.1), observed(1, 8, 49_500, 0.3), observed(1, 64, 50_000, 0.3)];
    ladder[2].1.host.as_mut().expect("has a host").disks[0].weighted_ns = in_flight * SECOND_NS;
    let mut all = on(f, &ladder);
    all.iter_mut().for_each(|o| o.iops_rel_half_width = Some(0.004));
    attribute(&all, 2)
}

#[test]
fn ios_that_wait_above_the_device_are_not_held_by_it() {
    assert_eq!(at_the_device(64, None).name, LimitName::Device);
    let waits = at_the_device(5, None);
    assert_eq!(waits.cause, Cause::Unknown(UnknownReason::WaitsAboveDevice), "{}", waits.sentence());
    let of_name = |e: &&Evidence| e.name.as_str() == "at_device";
    let share = waits.evidence.iter().find(of_name).expect("is said").quantity.value;
    assert!((share - 100.0 * 5.0 / 64.0).abs() < 0.01, "{share}");
    // A device that takes four at once has all that it takes.
    assert_eq!(at_the_device(4, Some(4)).name, LimitName::Device);
    // A kernel that does not count the time says nothing.
    assert_eq!(at_the_device(0, None).name, LimitName::Device);
}

#[test]
fn a_part_weighs_the_more_the_fuller_it_is_and_nothing_far_from_it() {
    let weights = [1.0, 0.98, 0.95, 0.9, 0.5].map(|share| fill_weight(share, 0.02));
    assert!(weights.is_sorted_by(|a, b| a > b), "{weights:?}");
    assert!(weights[0] > 30.0 && weights[3] < 1.0 && weights[4] < 1e-3, "{weights:?}");
    assert_eq!(fill_weight(1.2, 0.02), fill_weight(1.0, 0.02));
    // Densities over the shares from 0 to 1: the sum of each is 1.
    let sum: f64 = (0..10_000).map(|i| fill_weight(f64::from(i) / 10_000.0, 0.02) / 10_000.0).sum();
    assert!((sum - 1.0).abs() < 0.01, "{sum}");
}

/// Intervals of so many I/Os each.
fn typical(ios: &[u64]) -> f64 {
    let (step, mut record) = observed(1, 32, 100_000, 0.3);
    let interval = |(i, ios): (usize, &u64)| fathom_record::Interval {
        start_ns: i as u64 * 100_000_000,
        length_ns: 100_000_000,
        syncs: None,
        directions: vec![fathom_record::DirectionInterval {
            op: Op::Read,
            ios: *ios,
            bytes: ios * 4096,
            lat: Histogram::new(),
        }],
    };
    record.intervals = ios.iter().enumerate().map(interval).collect();
    Observation::of(&step, &record).typical_over_mean
}

#[test]
fn short_pauses_are_taken_out_of_what_a_part_carries_and_levels_are_not() {
    let mut rates = vec![1000; 40];
    assert!((typical(&rates) - 1.0).abs() < 1e-12);
    rates[7] = 0;
    assert!((typical(&rates) - 40.0 / 39.0).abs() < 1e-12);
    rates[8..16].fill(0);
    assert!((typical(&rates) - 1.05).abs() < 1e-12, "no more than short ones");
    assert!((typical(&[1000, 800].repeat(20)) - 1.0).abs() < 1e-12);
}

/// Two drives that give together what one of them gives alone, with another queue depth: not the drives.
#[test]
fn what_fewer_drives_give_at_any_load_speaks_against_the_drives() {
    let of = |targets: &[&str], depth: u32, ios: u64| {
        let (mut step, mut record) = observed(1, depth, ios, 0.2);
        step.targets = targets.iter().map(|path| TargetId::new(*path)).collect();
        let host = record.host.as_mut().expect("has a host");
        host.disks = vec![host.disks[0].clone(); targets.len()];
        (step, record)
    };
    let both = ["a", "b"];
    let limit = |on: &str, alone: u64| {
        let steps = [of(&both, 16, 90_000), of(&both, 64, 90_500), of(&both, 128, 90_200), of(&[on], 8, alone)];
        attribute(&with(&steps, 0.004), 1)
    };
    assert_eq!(limit("a", 89_000).name, LimitName::Uplink, "{}", limit("a", 89_000).sentence());
    assert_eq!(limit("a", 45_500).name, LimitName::Device, "{}", limit("a", 45_500).sentence());
    // An array over both is not one of them, and neither is a third drive.
    for other in ["raid0:64k:a,b", "md-raid0:64k:a,b", "c"] {
        assert_ne!(limit(other, 89_000).name, LimitName::Uplink, "{other}: {}", limit(other, 89_000).sentence());
    }
}
