//! Streams that run at once.

use fathom_plan::{Alone, Stream};

use super::*;

/// What a set shows: I/Os of each stream in a second beside the others, its depth, and its busy share of a core.
struct Set {
    streams: Vec<(Step, StepRecord)>,
    alone: Vec<(Step, StepRecord)>,
}

/// `loads`: depth, I/Os beside the others, I/Os alone. `busy`: of the worker of each stream; CPUs 0 and 1 are as busy as they say.
fn set(loads: &[(u32, u64, u64)], busy: &[f64], cpus: [f64; 2]) -> Set {
    let time = |share: f64| CpuTime {
        user_ns: (share * SECOND_NS as f64) as u64,
        idle_ns: ((1.0 - share) * SECOND_NS as f64) as u64,
        ..CpuTime::default()
    };
    let mut disk_ios = 0;
    let mut streams: Vec<(Step, StepRecord)> = Vec::new();
    for (at, (depth, ios, _)) in loads.iter().enumerate() {
        let (mut step, record) = observed(1, *depth, *ios, busy[at]);
        step.index = at as u32;
        step.role.stream = Some(Stream { set: 0, index: at as u32, of: loads.len() as u32, name: format!("s{at}") });
        disk_ios += ios;
        streams.push((step, record));
    }
    // One reading of the host for all of them.
    let threads = busy.iter().enumerate().map(|(at, share)| ThreadCpu {
        name: format!("fathom-w{at}.0"),
        kernel: false,
        user_ns: (share * SECOND_NS as f64) as u64,
        system_ns: 0,
        waited_ns: 0,
    });
    let mut host = streams[0].1.host.clone().expect("has a host");
    host.threads = threads.collect();
    host.cpus = vec![(0, time(cpus[0])), (1, time(cpus[1]))];
    host.disks[0].read_ios = disk_ios;
    host.disks[0].read_bytes = disk_ios * 4096;
    streams.iter_mut().for_each(|(_, record)| record.host = Some(host.clone()));
    let alone = loads.iter().enumerate().map(|(at, (depth, _, ios))| {
        let (mut step, record) = observed(1, *depth, *ios, busy[at].min(0.5));
        step.index = (loads.len() + at) as u32;
        step.phase = fathom_plan::Phase::Probe;
        step.role.alone = Some(Alone { step: at as u32, name: format!("s{at}") });
        (step, record)
    });
    let alone = alone.collect();
    Set { streams, alone }
}

fn limits(set: &Set, rest: &[(Step, StepRecord)]) -> Vec<Limit> {
    let all = with(&[&set.alone[..], rest].concat(), 0.01);
    attribute_streams(&all, &with(&set.streams, 0.01))
}

#[test]
fn streams_that_lose_beside_each_other_on_one_device_are_held_by_it() {
    let found = limits(&set(&[(64, 41_000, 80_000), (64, 40_000, 81_000)], &[0.3, 0.3], [0.3, 0.3]), &[]);
    for limit in &found {
        assert_eq!((limit.name, limit.confidence), (LimitName::Device, Confidence::Confirmed), "{}", limit.sentence());
        let sum = limit.evidence.iter().find(|e| e.name == EvidenceName::SumOfShares).expect("a sum");
        assert!((sum.quantity.value - 1.006).abs() < 0.01, "what they take of it adds up to the whole");
    }
    let said = english(&found[0].sentence());
    assert!(said.contains("beside another stream this one gives 0.51x the IOPS"), "{said}");
    assert!(english(&found[0].would_help[0]).contains("up to 80.0k IOPS (1.95x)"), "{:?}", found[0].would_help);
}

#[test]
fn a_stream_that_loses_nothing_is_held_by_what_holds_it_alone() {
    let light = set(&[(1, 9_900, 10_000), (1, 9_950, 9_900)], &[0.1, 0.1], [0.1, 0.1]);
    let found = limits(&light, &[]);
    for limit in &found {
        assert_eq!(limit.name, LimitName::QueueDepth, "{}", limit.sentence());
        assert!(english(&limit.sentence()).starts_with("As alone: Queue depth is the"), "{}", limit.sentence());
        // One I/O at a time and nothing to compare with is said with nine in ten at most.
        assert!(limit.probability.is_some_and(|p| (0.7..0.9).contains(&p)), "{:?}", limit.probability);
    }
    // A probe of what it gives alone makes it surer.
    let deeper = observed(1, 2, 19_500, 0.2);
    assert!(limits(&light, &[deeper])[0].probability > found[0].probability);
}

#[test]
fn full_cpus_hold_all_streams_and_a_full_core_the_stream_whose_it_is() {
    let all = limits(&set(&[(32, 50_000, 90_000), (32, 50_000, 90_000)], &[0.98, 0.99], [0.99, 0.99]), &[]);
    assert!(
        all.iter().all(|l| matches!(l.name, LimitName::AllCores | LimitName::Core)),
        "{} {}",
        all[0].sentence(),
        all[1].sentence()
    );
    let one = limits(&set(&[(32, 90_000, 90_500), (1, 9_900, 10_000)], &[0.99, 0.1], [0.99, 0.1]), &[]);
    assert_eq!((one[0].name, one[1].name), (LimitName::Core, LimitName::QueueDepth), "{}", one[0].sentence());
}

#[test]
fn without_what_it_gives_alone_a_stream_has_no_limit_but_what_its_own_record_or_full_cpus_show() {
    let mut unseen = set(&[(64, 41_000, 80_000), (1, 500, 1_000)], &[0.3, 0.1], [0.3, 0.3]);
    unseen.alone.clear();
    let found = limits(&unseen, &[]);
    assert_eq!(found[0].cause, Cause::Unknown(UnknownReason::NotAlone));
    // A rate that was asked for and kept needs no comparison, and neither do syncs that take most of the time.
    unseen.streams[1].1.open_loop = Some(OpenLoop {
        intended_iops: 500.0,
        submit_delay_ns_mean_halves: [0.0, 0.0],
        backlog_end_ios: 0,
        unsustainable: false,
    });
    assert_eq!(limits(&unseen, &[])[1].name, LimitName::Rate);
    unseen.streams[1].1.open_loop = None;
    unseen.streams[1].0.workload.durability.sync = Some(SyncEvery { writes: 1, kind: SyncKind::Fdatasync });
    let mut lat = Histogram::new();
    lat.record_n(3 * SECOND_NS / 500, 500);
    unseen.streams[1].1.syncs = Some(Direction {
        op: Op::Sync,
        ios: 500,
        bytes: 0,
        short_ios: 0,
        lat: Latency::Samples(lat),
        slat: None,
        clat: None,
        service: None,
    });
    assert_eq!(limits(&unseen, &[])[1].name, LimitName::Flush);
    let full = Set { alone: Vec::new(), ..set(&[(32, 50_000, 1), (32, 50_000, 1)], &[0.98, 0.99], [0.99, 0.99]) };
    assert!(limits(&full, &[]).iter().all(|l| matches!(l.name, LimitName::AllCores | LimitName::Core)));
}

#[test]
fn a_loss_on_several_devices_of_which_nobody_knows_whose_is_not_called_the_device() {
    let mut two = set(&[(64, 41_000, 80_000), (64, 40_000, 81_000)], &[0.3, 0.3], [0.3, 0.3]);
    for (_, record) in &mut two.streams {
        let disks = &mut record.host.as_mut().expect("has a host").disks;
        let other = DiskDelta { device: "other".into(), ..disks[0].clone() };
        disks.push(other);
    }
    let found = limits(&two, &[]);
    assert!(matches!(found[0].cause, Cause::Unknown(UnknownReason::SharedAmongStreams { streams: 1, .. })));
}

/// Noise in what it gives alone lowers the probability; it does not turn the answer round.
#[test]
fn wide_intervals_leave_open_whether_a_stream_loses_anything() {
    let loads = set(&[(64, 70_000, 80_000), (64, 70_000, 80_000)], &[0.3, 0.3], [0.3, 0.3]);
    let at = |half: f64| {
        let streams = with(&loads.streams, half);
        attribute_streams(&with(&loads.alone, half), &streams).swap_remove(0)
    };
    let (narrow, wide) = (at(0.01), at(0.4));
    assert_eq!((narrow.name, narrow.confidence), (LimitName::Device, Confidence::Confirmed));
    assert!(wide.probability.is_none_or(|p| p < 0.8), "{}", wide.sentence());
}
