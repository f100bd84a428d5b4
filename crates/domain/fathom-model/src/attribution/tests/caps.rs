//! Caps that nobody on the host set.

use fathom_record::{DirectionInterval, Interval};

use super::*;

/// Intervals of 100 ms with so many I/Os each.
fn intervals(ios: &[u64]) -> Vec<Interval> {
    let one = |(at, ios): (u64, &u64)| {
        let part = DirectionInterval { op: Op::Read, ios: *ios, bytes: ios * 4096, lat: Histogram::new() };
        Interval { start_ns: at * SECOND_NS / 10, length_ns: SECOND_NS / 10, directions: vec![part], syncs: None }
    };
    (0..).zip(ios).map(one).collect()
}

/// A second at so many IOPS, each interval within so much of them; latencies are half and twice the mean.
fn step(block: u32, depth: u32, ios: u64, off: f64) -> (Step, StepRecord) {
    let (mut step, mut record) = observed(1, depth, ios, 0.2);
    step.workload.block_sizes[0].bytes = block;
    record.directions[0].bytes = ios * u64::from(block);
    let mean_ns = u64::from(depth) * SECOND_NS / ios;
    let mut lat = Histogram::new();
    lat.record_n(mean_ns / 2, ios / 2);
    lat.record_n(mean_ns * 3 / 2, ios / 2);
    record.directions[0].lat = Latency::Samples(lat);
    let each = |i: u64| (ios as f64 / 10.0 * if i.is_multiple_of(2) { 1.0 + off } else { 1.0 - off }) as u64;
    record.intervals = intervals(&(0..10).map(each).collect::<Vec<_>>());
    (step, record)
}

fn guest(is_guest: bool, steps: &[(Step, StepRecord)]) -> Vec<Observation> {
    let mut all = on(StepFacts { is_guest, ..facts() }, steps);
    all.iter_mut().for_each(|o| o.iops_rel_half_width = Some(0.003));
    all
}

/// A ladder of 4k that is flat from 16 on, at so many IOPS, and steps beside it.
fn capped(is_guest: bool, ios: u64, off: f64, beside: &[(Step, StepRecord)]) -> Limit {
    let ladder = [
        step(4096, 1, ios / 4, 0.1),
        step(4096, 16, ios, off),
        step(4096, 32, ios + 5, off),
        step(4096, 64, ios - 4, off),
    ];
    attribute(&guest(is_guest, &[&ladder[..], beside].concat()), 1)
}

#[test]
fn a_round_and_even_rate_at_every_depth_of_a_guest_is_a_cap_with_a_moderate_probability() {
    let paced = capped(true, 16_000, 0.001, &[]);
    assert_eq!((paced.name, paced.probability), (LimitName::Rate, Some(0.65)), "{}", paced.sentence());
    assert!(
        english(&paced.sentence())
            .starts_with("A cap outside this host, of the hypervisor or the provider, is the limit")
    );
    assert_eq!(paced.would_help[0].id(), "help-cap-outside");
    assert_eq!(capped(true, 16_000, 0.02, &[]).probability, Some(0.5));
    // Any rate, on a machine of its own, or one that is not round.
    assert_eq!(capped(false, 16_000, 0.001, &[]).name, LimitName::Device);
    assert_eq!(capped(true, 17_300, 0.001, &[]).name, LimitName::Device);
}

#[test]
fn another_block_size_tells_commands_from_bytes_and_from_no_cap() {
    let large = |ios: u64| [step(65_536, 64, ios, 0.001)];
    let iops = capped(true, 3_000, 0.001, &large(3_010));
    assert_eq!((iops.name, iops.confidence), (LimitName::Rate, Confidence::Confirmed), "{}", iops.sentence());
    assert_eq!(iops.cause, Cause::RateOutside { rate: Quantity::iops(3_000.0) });
    // 131 MB/s, which are 125 MiB/s, by either block.
    let bytes = capped(true, 32_000, 0.001, &large(2_000));
    assert_eq!(bytes.probability, Some(0.75), "{}", bytes.sentence());
    assert!(english(&bytes.sentence()).contains("131 MB/s"), "{}", bytes.sentence());
    let neither = capped(true, 16_000, 0.001, &large(9_000));
    assert_eq!(neither.name, LimitName::Device, "{}", neither.sentence());
}

#[test]
fn a_step_that_falls_to_a_lower_even_rate_is_a_bucket_with_its_burst_and_refill() {
    let of = |is_guest: bool, ios: &[u64]| {
        let (step, mut record) = step(4096, 16, ios.iter().sum(), 0.0);
        record.intervals = intervals(ios);
        attribute(&guest(is_guest, &[(step, record)]), 0)
    };
    let falls = [1_200, 1_210, 1_195, 1_205, 700, 300, 301, 299, 300, 300];
    let limit = of(true, &falls);
    let Cause::TokenBucket { burst_iops, refill_iops, burst_ios, after_s } = limit.cause else {
        panic!("{}", limit.sentence())
    };
    assert!((burst_iops - 12_025.0).abs() < 1.0 && (refill_iops - 3_000.0).abs() < 1.0);
    assert!((burst_ios - 3_610.0).abs() < 1.0 && (after_s - 0.4).abs() < 1e-9);
    assert_eq!((limit.name, limit.probability), (LimitName::Rate, Some(0.75)));
    assert_eq!(of(false, &falls).name, LimitName::Unknown);
    // Noise is no fall, and neither is a decline.
    assert_eq!(of(true, &[1_200, 300, 1_200, 300, 1_200, 300, 1_200, 300, 1_200, 300]).name, LimitName::Unknown);
    assert_eq!(of(true, &[1_200, 1_100, 1_000, 900, 800, 700, 600, 500, 400, 300]).name, LimitName::Unknown);
}
