//! The limits by hand-made records.

use super::*;
use crate::CpuTaker;
use fathom_hist::Histogram;
use fathom_language::english;
use fathom_message::Quantity;
use fathom_plan::{Knobs, Op, OpMix, Placement, Step, SyncEvery, SyncKind, TargetId};
use fathom_record::{CpuTime, Direction, DiskDelta, HostDelta, Latency, OpenLoop, StepRecord, ThreadCpu};

mod arrays;
mod beside;
mod caps;
mod file_system;
mod kernel_threads;
mod memory;
mod network;
mod posterior;
mod sentences;
mod state;
mod taken;
mod turns;

const SECOND_NS: u64 = 1_000_000_000;

/// One second of 4k random reads on a host with two CPUs; `busy` is that of each worker thread.
pub(super) fn observed(threads: u32, depth: u32, ios: u64, busy: f64) -> (Step, StepRecord) {
    let mut knobs = Knobs::new();
    for (key, value) in [("numjobs", threads), ("iodepth", depth)] {
        knobs.set(key, &value.to_string()).expect("a valid knob");
    }
    let target = TargetId::new("/dev/some");
    let step = knobs.build(0, "A", &[target], &mut Vec::new()).expect("a valid step");
    let mut lat = Histogram::new();
    lat.record_n(u64::from(threads * depth) * SECOND_NS / ios, ios);
    let in_flight = u64::from(threads * depth);
    let busy_ns = (busy * SECOND_NS as f64) as u64;
    let cpus = (0..2)
        .map(|cpu| {
            let user_ns = if cpu < threads { busy_ns } else { 0 };
            (cpu, CpuTime { user_ns, idle_ns: SECOND_NS - user_ns, ..CpuTime::default() })
        })
        .collect();
    let threads = (0..threads)
        .map(|i| ThreadCpu {
            name: format!("fathom-w{i}"),
            kernel: false,
            user_ns: busy_ns,
            system_ns: 0,
            waited_ns: 0,
        })
        .collect();
    let disk = DiskDelta {
        device: "some".into(),
        read_ios: ios,
        read_bytes: ios * 4096,
        busy_ns: SECOND_NS,
        weighted_ns: in_flight * SECOND_NS,
        ..DiskDelta::default()
    };
    let host = HostDelta { window_ns: SECOND_NS, cpus, threads, disks: vec![disk], ..HostDelta::default() };
    let read = Direction {
        op: Op::Read,
        ios,
        bytes: ios * 4096,
        short_ios: 0,
        lat: Latency::Samples(lat),
        slat: None,
        clat: None,
        service: None,
    };
    let record =
        StepRecord { runtime_ns: SECOND_NS, directions: vec![read], host: Some(host), ..StepRecord::default() };
    (step, record)
}

fn limits(steps: &[(Step, StepRecord)]) -> Vec<(LimitName, Confidence)> {
    let all: Vec<Observation> = steps.iter().map(|(step, record)| Observation::of(step, record)).collect();
    (0..all.len()).map(|i| attribute(&all, i)).map(|l| (l.name, l.confidence)).collect()
}

#[test]
fn a_ladder_that_grows_then_flattens_is_depth_then_device() {
    let ladder = [
        observed(1, 1, 10_000, 0.1),
        observed(1, 2, 19_500, 0.2),
        observed(1, 4, 37_000, 0.3),
        observed(1, 8, 40_000, 0.3),
        observed(1, 16, 40_100, 0.3),
    ];
    use Confidence::{Confirmed, Likely};
    let found: Vec<_> =
        with(&ladder, 0.005).iter().zip(0..).map(|(_, i)| attribute(&with(&ladder, 0.005), i)).collect();
    let found: Vec<_> = found.iter().map(|l| (l.name, l.confidence)).collect();
    assert_eq!(
        found,
        [
            (LimitName::QueueDepth, Confirmed),
            (LimitName::QueueDepth, Confirmed),
            // Eight in flight give 8 % more, beyond both intervals.
            (LimitName::QueueDepth, Likely),
            (LimitName::Device, Confirmed),
            (LimitName::Device, Confirmed),
        ]
    );
}

/// Steps with half a 95 % interval of so much.
fn with(ladder: &[(Step, StepRecord)], half_width: f64) -> Vec<Observation> {
    let seen =
        |(s, r): &(Step, StepRecord)| Observation { iops_rel_half_width: Some(half_width), ..Observation::of(s, r) };
    ladder.iter().map(seen).collect()
}

/// A noisy disk, as it was measured: the curve rises through points of which the last stand still. Neither depth nor the device
/// is said with confidence there.
#[test]
fn depth_is_not_said_for_sure_where_no_deeper_step_gave_more() {
    let rung = |threads: u32, depth: u32, ios: u64, half_width: Option<f64>| {
        let (step, record) = observed(threads, depth, ios, 0.2);
        Observation { iops_rel_half_width: half_width, ..Observation::of(&step, &record) }
    };
    let all = [
        rung(1, 1, 12_400, Some(0.88)),
        rung(1, 2, 28_800, Some(0.178)),
        rung(1, 4, 55_200, None),
        rung(1, 8, 79_000, None),
        rung(1, 16, 95_700, None),
        rung(1, 32, 121_000, Some(0.043)),
        rung(1, 64, 148_000, None),
        rung(4, 32, 144_000, Some(0.026)),
    ];
    let at = |place: usize| attribute(&all, place);
    let (rises, open, last) = (at(5), at(6), at(7));
    assert!(rises.name == LimitName::QueueDepth && rises.probability > Some(0.9), "{rises:?}");
    assert!(open.name == LimitName::QueueDepth && open.probability < Some(0.7), "{open:?}");
    assert_eq!(last.name, LimitName::Device);
}

/// The same ladder with narrow and with wide intervals: the same parts, said with less confidence.
#[test]
fn noise_lowers_the_probability_and_changes_no_name() {
    let ladder = [
        observed(1, 1, 10_000, 0.1),
        observed(1, 4, 36_000, 0.2),
        observed(1, 16, 99_000, 0.3),
        observed(1, 64, 101_000, 0.3),
        observed(1, 128, 100_000, 0.3),
    ];
    let (quiet, noisy) = (with(&ladder, 0.01), with(&ladder, 0.4));
    // The step at the knee, 2, may turn either way.
    let parts =
        [(0, LimitName::QueueDepth), (1, LimitName::QueueDepth), (3, LimitName::Device), (4, LimitName::Device)];
    for (i, name) in parts {
        let (sure, open) = (attribute(&quiet, i), attribute(&noisy, i));
        assert_eq!((sure.name, open.name), (name, name), "{} {}", sure.sentence(), open.sentence());
        assert!(sure.probability >= open.probability, "{:?} {:?}", sure.probability, open.probability);
    }
    let (sure, open) = (attribute(&quiet, 4).probability, attribute(&noisy, 4).probability);
    assert!(sure >= Some(0.9) && open < sure, "{sure:?} {open:?}");
    let probes = missing_probes(&noisy[2..4], 0);
    let depths: Vec<u32> = probes.iter().map(|p| p.step.load.queue_depth).collect();
    assert_eq!(depths, [128], "a far one, and none that relieves another part");
    assert!(missing_probes(&noisy, 0).is_empty(), "the ladder has a far one already");
}

/// As on a noisy disk: 51k at 8, 72k at 64, 83k at 128. What held 8 cannot be the device.
#[test]
fn a_step_that_a_deeper_one_exceeds_beyond_both_intervals_is_not_held_by_the_device() {
    let ladder = [
        observed(1, 1, 9_000, 0.1),
        observed(1, 2, 20_000, 0.1),
        observed(1, 8, 51_000, 0.2),
        observed(1, 16, 52_000, 0.2),
        observed(1, 64, 72_000, 0.3),
        observed(4, 32, 83_000, 0.2),
    ];
    for half_width in [0.001, 0.01, 0.05, 0.2, 0.5] {
        let all = with(&ladder, half_width);
        for (i, this) in all.iter().enumerate() {
            let lower = |o: &Observation| o.iops() * (1.0 - half_width);
            let exceeded = all[i + 1..].iter().any(|o| lower(o) > this.iops() * (1.0 + half_width));
            let limit = attribute(&all, i);
            assert!(!exceeded || limit.name != LimitName::Device, "{} of {}", limit.sentence(), this.iops());
        }
    }
    // A deeper step whose core was full shows it as well.
    let steps = [observed(1, 32, 399_000, 0.8), observed(1, 128, 496_000, 1.0)];
    assert_eq!(attribute(&with(&steps, 0.01), 0).name, LimitName::QueueDepth);
    // That it gave no more says nothing of the device then.
    let steps = [observed(1, 32, 399_000, 0.8), observed(1, 128, 401_000, 1.0)];
    assert_eq!(attribute(&with(&steps, 0.01), 0).name, LimitName::Unknown);
}

/// Random ladders: 2,000, the first 200 in `make test`. No step that a later step exceeds beyond both intervals is limited by the
/// device, and the shares are probabilities.
#[test]
fn no_ladder_has_a_step_held_by_a_device_that_a_later_step_exceeds() {
    let mut rng = fathom_random::Rng::new(12, 0);
    for _ in 0..fathom_stats::tables::cases(200, 2000) {
        let half_width = [0.002, 0.02, 0.1, 0.4][rng.below(4) as usize];
        let plateau = 20_000 + rng.below(400_000);
        let mut ladder = Vec::new();
        for index in 0..2 + rng.below(7) as u32 {
            let (threads, depth) = (1 << rng.below(3), 1 << rng.below(8));
            let level = (u64::from(threads * depth) * 12_000).min(plateau);
            let ios = level * (60 + rng.below(80)) / 100;
            let (mut step, record) = observed(threads, depth, ios.max(1), rng.below(100) as f64 / 100.0);
            step.index = index;
            ladder.push((step, record));
        }
        let all = with(&ladder, half_width);
        for (i, this) in all.iter().enumerate() {
            let limit = attribute(&all, i);
            assert!(limit.probability.is_none_or(|p| (0.05..=0.99).contains(&p)), "{:?}", limit.probability);
            // A step of no more in flight is measured again: what it may differ by is more than its interval.
            let exceeds = |o: &Observation| {
                let allowed = if o.in_flight() > this.in_flight() { half_width } else { half_width.hypot(0.04) };
                o.iops() * (1.0 - allowed) > this.iops() * (1.0 + allowed)
            };
            let is_exceeded = all[i + 1..].iter().any(exceeds);
            assert!(!is_exceeded || limit.name != LimitName::Device, "{} at {}", limit.sentence(), this.iops());
        }
    }
}

#[test]
fn a_later_step_that_gives_more_with_less_in_flight_says_that_the_device_changed() {
    let mut steps = [observed(1, 64, 50_000, 0.3), observed(1, 128, 50_500, 0.3), observed(1, 32, 80_000, 0.3)];
    for (step, index) in steps.iter_mut().zip(0..) {
        step.0.index = index;
    }
    let limit = attribute(&with(&steps, 0.01), 0);
    assert_eq!(limit.cause, Cause::Unknown(UnknownReason::LessGaveMore), "{}", limit.sentence());
}

#[test]
fn a_saturated_thread_is_the_core_and_more_threads_confirm_it() {
    let steps = [observed(1, 32, 100_000, 0.99), observed(2, 32, 180_000, 0.6)];
    assert_eq!(limits(&steps)[0], (LimitName::Core, Confidence::Confirmed));
    assert_eq!(limits(&steps[..1])[0], (LimitName::Core, Confidence::Confirmed));
}

/// A worker that never left CPU 0 and was busy for so much of the time, with interrupts and other programs beside it.
fn on_its_cpu(own: f64, interrupts: f64, others: f64) -> Limit {
    let (step, mut record) = observed(1, 1, 20_000, own);
    let ns = |share: f64| (share * SECOND_NS as f64) as u64;
    let host = record.host.as_mut().expect("has a host");
    let idle_ns = ns(1.0 - own - interrupts - others);
    host.cpus[0].1 = CpuTime { user_ns: ns(own + others), softirq_ns: ns(interrupts), idle_ns, ..CpuTime::default() };
    let worker_cpus = vec![0];
    attribute(&[Observation { worker_cpus, ..Observation::of(&step, &record) }], 0)
}

#[test]
fn what_others_do_on_the_cpu_of_a_worker_that_sleeps_does_not_make_its_core_the_limit() {
    assert_eq!(on_its_cpu(0.3, 0.18, 0.5).name, LimitName::QueueDepth);
    assert_eq!(on_its_cpu(0.7, 0.28, 0.0).name, LimitName::Core, "interrupts take its own time");
}

/// From four full cores to eight that are not, IOPS grow by the threads: that they were twice as deep as well tells
/// nothing. From four that were idle the same growth is the depth's.
#[test]
fn growth_from_a_step_that_its_threads_held_is_not_taken_for_depth() {
    let steps = |busy: f64| [observed(4, 32, 794_000, busy), observed(8, 32, 1_100_000, 0.7)];
    assert_eq!(limits(&steps(1.0))[1].0, LimitName::Unknown);
    assert_eq!(limits(&steps(0.5))[1].0, LimitName::QueueDepth);
}

/// Two files of one disk share the disk, not a link; two drives that each have counters of their own share more.
#[test]
fn files_that_share_a_disk_have_the_disk_as_their_limit_and_drives_what_they_share() {
    let of = |targets: &[&str], disks: usize| {
        let (mut step, mut record) = observed(8, 32, 90_000, 0.2);
        step.targets = targets.iter().map(|path| TargetId::new(*path)).collect();
        let host = record.host.as_mut().expect("has a host");
        host.disks = vec![host.disks[0].clone(); disks];
        (step, record)
    };
    let one = of(&["a.bin"], 1);
    let limit = |disks: usize| limits(&[one.clone(), of(&["a.bin", "b.bin"], disks)])[1];
    assert_eq!(limit(1), (LimitName::Device, Confidence::Likely));
    assert_eq!(limit(2), (LimitName::Uplink, Confidence::Likely));
}

/// On a busy host the worker gets a part of its CPU and waits for the rest; one that also sleeps is only woken late.
#[test]
fn a_thread_that_others_keep_off_its_cpu_still_has_its_core_as_the_limit() {
    let waits = |busy: f64, waited: f64| {
        let (step, mut record) = observed(1, 32, 100_000, busy);
        record.host.as_mut().expect("has a host").threads[0].waited_ns = (waited * SECOND_NS as f64) as u64;
        [(step, record)]
    };
    assert_eq!(limits(&waits(0.5, 0.48))[0], (LimitName::Core, Confidence::Confirmed));
    assert_eq!(limits(&waits(0.1, 0.88))[0].0, LimitName::Core, "it waited for nothing but its CPU");
    assert_eq!(limits(&waits(0.1, 0.6))[0].0, LimitName::Unknown);
    assert_eq!(limits(&waits(0.5, 0.2))[0].0, LimitName::Unknown);
}

/// Interrupts take time from the worker whose CPU they come to, and no account charges it to the worker.
#[test]
fn a_thread_that_shares_its_cpu_with_the_interrupts_has_its_core_as_the_limit_unless_it_was_moved() {
    let with_interrupts = |migrations: u64| {
        let (step, mut record) = observed(1, 32, 400_000, 0.75);
        let host = record.host.as_mut().expect("has a host");
        host.cpus[0].1.softirq_ns = SECOND_NS / 4;
        record.threads = vec![fathom_record::ThreadRecord {
            index: 0,
            targets: vec!["/dev/some".into()],
            cpus_allowed: Vec::new(),
            cpus_seen: vec![0],
            migrations: Some(migrations),
            paused_ns: 0,
            ios: 400_000,
            passes: 0,
            in_flight_max: 32,
            polling: None,
        }];
        [(step, record)]
    };
    assert_eq!(limits(&with_interrupts(0))[0], (LimitName::Core, Confidence::Confirmed));
    assert_eq!(limits(&with_interrupts(9))[0].0, LimitName::Unknown);
}

#[test]
fn a_load_that_pauses_for_most_of_the_time_is_its_own_limit() {
    let paused = |share: f64| {
        let (step, mut record) = observed(1, 4, 1_000, 0.05);
        record.threads = vec![fathom_record::ThreadRecord {
            index: 0,
            targets: vec!["/dev/some".into()],
            cpus_allowed: Vec::new(),
            cpus_seen: vec![0],
            migrations: None,
            paused_ns: (share * record.runtime_ns as f64) as u64,
            ios: 1_000,
            passes: 0,
            in_flight_max: 4,
            polling: None,
        }];
        limits(&[(step, record)])[0]
    };
    assert_eq!(paused(0.85), (LimitName::Rate, Confidence::Confirmed));
    assert_ne!(paused(0.1).0, LimitName::Rate);
}

#[test]
fn all_cpus_busy_is_all_cores() {
    assert_eq!(limits(&[observed(2, 32, 200_000, 0.99)])[0].0, LimitName::AllCores);
}

#[test]
fn buffered_reads_that_miss_the_device_are_the_page_cache() {
    let (mut step, mut record) = observed(1, 1, 500_000, 0.99);
    step.workload.direct = false;
    record.host.as_mut().expect("has a host").disks[0].read_bytes = 0;
    assert_eq!(limits(&[(step, record)])[0], (LimitName::PageCache, Confidence::Confirmed));
}

#[test]
fn syncs_that_hold_most_of_the_time_are_the_limit() {
    // As many syncs as writes: with three times their mean they hold 3/4 of the time of the one slot.
    let with_syncs = |mean_ns: u64| {
        let (mut step, mut record) = observed(1, 1, 10_000, 0.2);
        step.workload.mix = OpMix::WRITE;
        step.workload.durability.sync = Some(SyncEvery { kind: SyncKind::Fdatasync, writes: 1 });
        let mut lat = Histogram::new();
        lat.record_n(mean_ns, 10_000);
        let mean_of_io = record.lat_merged().and_then(|h| h.mean_ns()).expect("a mean");
        let samples = Latency::Samples(lat);
        record.syncs =
            Some(Direction { op: Op::Sync, ios: 10_000, bytes: 0, lat: samples, ..record.directions[0].clone() });
        (mean_of_io, limits(&[(step, record)])[0])
    };
    let (mean_of_io, _) = with_syncs(1_000);
    let (_, long) = with_syncs((3.0 * mean_of_io) as u64);
    assert_eq!(long, (LimitName::Flush, Confidence::Confirmed));
    let (_, short) = with_syncs((0.3 * mean_of_io) as u64);
    assert_ne!(short.0, LimitName::Flush);
}

#[test]
fn a_rate_that_was_kept_is_the_limit_and_one_that_was_not_is_none() {
    let (step, mut record) = observed(1, 8, 1_000, 0.1);
    let open = |unsustainable| OpenLoop {
        intended_iops: 1_000.0,
        submit_delay_ns_mean_halves: [0.0, 0.0],
        backlog_end_ios: 0,
        unsustainable,
    };
    record.open_loop = Some(open(false));
    assert_eq!(limits(&[(step.clone(), record.clone())])[0].0, LimitName::Rate);
    record.open_loop = Some(open(true));
    assert_ne!(limits(&[(step, record)])[0].0, LimitName::Rate);
}

#[test]
fn one_step_with_idle_cpus_and_no_neighbour_is_unknown() {
    assert_eq!(limits(&[observed(1, 8, 10_000, 0.2)])[0], (LimitName::Unknown, Confidence::Unknown));
}

#[test]
fn a_step_without_io_is_unknown() {
    let (step, mut record) = observed(1, 1, 10_000, 0.1);
    record.directions.clear();
    assert_eq!(limits(&[(step, record)])[0].0, LimitName::Unknown);
}

pub(super) fn facts() -> StepFacts {
    StepFacts {
        machine: crate::MachineModel::named("m"),
        drives: vec![DriveFacts { name: "some".into(), ..DriveFacts::default() }],
        rate_limits: Vec::new(),
        io_controls: Vec::new(),
        is_guest: false,
        clocksource: Some("tsc".into()),
        siblings: Vec::new(),
    }
}

fn on(facts: StepFacts, steps: &[(Step, StepRecord)]) -> Vec<Observation> {
    let facts = std::sync::Arc::new(facts);
    steps.iter().map(|(step, record)| Observation::of(step, record).on(facts.clone())).collect()
}

/// A run that measured 88 600 IOPS at a queue depth of 128 does not promise the ceiling of a core.
#[test]
fn advice_promises_no_more_than_deeper_steps_measured() {
    let mut f = facts();
    f.machine.cores = Some(2);
    let help = |steps: &[(Step, StepRecord)]| attribute(&on(f.clone(), steps), 0).would_help.remove(0);
    let shallow = observed(1, 1, 10_000, 0.05);
    assert_eq!(help(std::slice::from_ref(&shallow)).id(), "help-up-to");
    let measured = help(&[shallow.clone(), observed(1, 128, 88_600, 0.4)]);
    assert_eq!(
        english(&measured),
        "more I/Os in flight: a deeper queue or more threads: up to 88.6k IOPS (8.86x), the most that this run measured"
    );
    assert_eq!(help(&[shallow, observed(1, 128, 199_000, 0.95)]).id(), "help-up-to");
}

/// Steps over whole files get as many as fit their time: the number is no other work.
#[test]
fn advice_on_files_knows_what_more_threads_made() {
    let made = |threads: u32, files: u32, ios: u64| {
        let mut seen = observed(threads, 1, ios, 0.05);
        let (op, stat_by) = (fathom_plan::FileOp::Create, fathom_plan::StatBy::Folder);
        let load = fathom_plan::FileLoad { op, files_per_thread: files, bytes_per_file: 4096, stat_by };
        seen.0.workload.order.files = Some(load);
        seen
    };
    let mut f = facts();
    f.machine.cores = Some(2);
    let limit = attribute(&on(f, &[made(1, 1_000, 1_770), made(4, 300, 4_010)]), 0);
    assert!(english(&limit.would_help[0]).contains("up to 4.01k IOPS"), "{:?}", limit.would_help);
}

#[test]
fn a_full_link_is_named_with_its_arithmetic_and_what_comes_next() {
    let mut f = facts();
    f.machine.links = vec![crate::PcieLink::new(1, 1)];
    // 244 MB/s after packets: 52 000 blocks of 4 KiB.
    let ladder = [observed(1, 16, 51_000, 0.3), observed(1, 32, 51_500, 0.3), observed(1, 128, 51_300, 0.3)];
    let mut all = on(f, &ladder);
    all.iter_mut().for_each(|o| o.iops_rel_half_width = Some(0.01));
    let limit = attribute(&all, 0);
    assert_eq!((limit.name, limit.confidence), (LimitName::Link, Confidence::Likely), "{}", limit.sentence());
    assert!(limit.sentence().holds("ceiling-link"), "{}", limit.sentence());
    assert_eq!(limit.would_help[1].id(), "help-up-to", "the measured cost of an I/O gives the next ceiling");
    assert!(limit.would_help[1].holds("help-better-slot") && limit.would_help[1].holds("limit-name-core"));
    let words: Vec<&str> = limit.evidence.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(words, ["iops", "mean_latency", "ceiling", "ceiling_used"]);
}

#[test]
fn a_rate_that_the_host_allows_and_that_is_met_is_the_limit() {
    let mut f = facts();
    f.rate_limits = vec![RateLimit {
        source: RateSource::ControlGroup { device: "some".into() },
        read_iops: Some(10_000.0),
        write_iops: None,
        read_bytes_per_s: None,
        write_bytes_per_s: None,
    }];
    let all = on(f, &[observed(1, 4, 10_050, 0.1), observed(1, 8, 10_020, 0.1)]);
    let limit = attribute(&all, 0);
    assert_eq!((limit.name, limit.confidence), (LimitName::Rate, Confidence::Confirmed), "{}", limit.sentence());
    assert!(limit.would_help[0].holds("limit-rate-of-control-group"));
}

/// Evidence of a rate in bytes has the unit of the contract, so that it is scaled like any other.
#[test]
fn an_allowed_rate_in_bytes_is_bytes_per_second() {
    let mut f = facts();
    let source = RateSource::ControlGroup { device: "some".into() };
    let read_bytes_per_s = Some(4e7);
    f.rate_limits =
        vec![RateLimit { source, read_iops: None, write_iops: None, read_bytes_per_s, write_bytes_per_s: None }];
    let limit = attribute(&on(f, &[observed(1, 4, 10_000, 0.1)]), 0);
    assert_eq!(limit.name, LimitName::Rate);
    let allowed = limit.evidence.iter().find(|e| e.name == EvidenceName::AllowedRate).expect("is shown");
    assert_eq!(allowed.quantity, Quantity::bytes_per_s(4e7));
    assert!(english(&limit.sentence()).contains("40.0 MB/s"), "{}", english(&limit.sentence()));
}

/// Others use the disk, so that not all of the allowed rate comes: I/Os still wait in front of the device, not in it.
#[test]
fn a_rate_that_is_not_quite_met_is_the_limit_where_ios_wait_above_the_device() {
    let held = |ios: u64, device_ns: u64| {
        let mut f = facts();
        f.rate_limits = vec![RateLimit {
            source: RateSource::ControlGroup { device: "some".into() },
            read_iops: Some(400.0),
            write_iops: None,
            read_bytes_per_s: None,
            write_bytes_per_s: None,
        }];
        let (step, mut record) = observed(1, 8, ios, 0.1);
        record.host.as_mut().expect("has a host").disks[0].weighted_ns = ios * device_ns;
        attribute(&on(f, &[(step, record), observed(1, 16, 400, 0.1)]), 0)
    };
    let limit = held(308, 500_000);
    assert_eq!((limit.name, limit.confidence), (LimitName::Rate, Confidence::Confirmed), "{}", limit.sentence());
    assert_ne!(held(308, 25_000_000).name, LimitName::Rate, "the device itself took the time");
}

#[test]
fn a_cpu_full_of_interrupts_is_the_irq_core() {
    let (step, mut record) = observed(1, 32, 300_000, 0.5);
    let host = record.host.as_mut().expect("has a host");
    host.cpus[1].1 = CpuTime { softirq_ns: SECOND_NS * 97 / 100, idle_ns: SECOND_NS * 3 / 100, ..CpuTime::default() };
    assert_eq!(limits(&[(step, record)])[0], (LimitName::IrqCore, Confidence::Likely));
}

#[test]
fn a_spinning_worker_is_not_taken_for_a_full_core() {
    let spin = |threads: u32, depth: u32, ios: u64| {
        let (mut step, record) = observed(threads, depth, ios, 1.0);
        step.engine.mode = fathom_plan::Mode::Iopoll;
        (step, record)
    };
    let ladder = [spin(1, 1, 10_000), spin(1, 2, 20_000), spin(1, 64, 400_000), spin(1, 128, 401_000)];
    let found = limits(&ladder);
    assert_eq!((found[0].0, found[2].0), (LimitName::QueueDepth, LimitName::Device));
}

#[test]
fn missing_probes_relieve_one_part_each_and_a_confirmed_limit_needs_none() {
    let alone = [observed(1, 8, 40_000, 0.3)];
    let all: Vec<Observation> = alone.iter().map(|(s, r)| Observation::of(s, r)).collect();
    let probes = missing_probes(&all, 0);
    let relieved: Vec<LimitName> = probes.iter().map(|p| p.relieves).collect();
    assert_eq!(relieved, [LimitName::QueueDepth, LimitName::Core]);
    assert_eq!((probes[0].step.load.queue_depth, probes[1].step.load.threads), (16, 2));
    let ladder = [observed(1, 8, 40_000, 0.3), observed(1, 16, 40_100, 0.3), observed(1, 32, 40_000, 0.3)];
    assert!(missing_probes(&with(&ladder, 0.01), 0).is_empty());
}

#[test]
fn settings_that_are_seldom_wanted_are_noticed() {
    let mut f = facts();
    f.io_controls = vec![("io.latency".into(), "some".into())];
    f.drives[0] = DriveFacts {
        name: "nvme0n1".into(),
        link: Some(crate::PcieLink::new(3, 2)),
        link_possible: Some(crate::PcieLink::new(4, 4)),
        scheduler: Some("mq-deadline".into()),
        poll_queues: Some(0),
        irq_cpus: vec![0],
        temperature_celsius: Some((81.0, Some(75.0))),
        remote_cpus: vec![0, 1],
        ..DriveFacts::default()
    };
    f.clocksource = Some("hpet".into());
    f.siblings = vec![vec![0, 1]];
    let (mut step, mut record) = observed(2, 8, 10_000, 0.4);
    step.engine.mode = fathom_plan::Mode::Iopoll;
    let host = record.host.as_mut().expect("has a host");
    host.cpus[0].1.softirq_ns = SECOND_NS / 2;
    host.disks[0].read_merges = 2_000;
    record.threads = (0..2)
        .map(|i| fathom_record::ThreadRecord {
            index: i,
            targets: vec!["/dev/some".into()],
            cpus_allowed: vec![i],
            cpus_seen: vec![i],
            migrations: None,
            paused_ns: 0,
            ios: 1,
            passes: 0,
            in_flight_max: 1,
            polling: None,
        })
        .collect();
    let observation = &on(f, &[(step, record)])[0];
    let mut names: Vec<&str> = notices(observation).iter().map(Notice::as_str).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "drive_hot",
            "interrupts_on_one_cpu",
            "io_control",
            "link_trained_down",
            "merges",
            "poll_not_real",
            "remote_node",
            "scheduler",
            "siblings_as_cores",
            "slow_clock"
        ]
    );
    let quiet = on(facts(), &[observed(1, 1, 10_000, 0.1)]);
    assert_eq!(notices(&quiet[0]), []);
}

#[test]
fn each_ladder_is_fitted_once_however_many_steps_it_has() {
    let mut ladders = Vec::new();
    for block in [4096, 8192, 16_384] {
        for depth in 1..=40 {
            let (mut step, record) = observed(1, depth, u64::from(depth.min(16)) * 40_960_000 / u64::from(block), 0.3);
            step.workload.block_sizes[0].bytes = block;
            step.index = ladders.len() as u32;
            ladders.push((step, record));
        }
    }
    let all = with(&ladders, 0.01);
    let seen = Seen::new(&all);
    for index in 0..all.len() {
        assert_eq!(judge(&seen, index), attribute(&all, index), "the same as alone");
    }
    assert_eq!(seen.fitted(), 3);
}
