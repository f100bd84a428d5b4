//! CPUs that others had while the workers were ready to run.

use super::*;

fn ns(share: f64) -> u64 {
    (share * SECOND_NS as f64) as u64
}

/// The step beside programs without end on both CPUs; shares of the workers' time on a CPU and waiting for one.
fn beside_hogs((mut step, mut record): (Step, StepRecord), ran: f64, waited: f64) -> (Step, StepRecord) {
    let host = record.host.as_mut().expect("has a host");
    for (_, time) in &mut host.cpus {
        *time = CpuTime { user_ns: SECOND_NS, ..CpuTime::default() };
    }
    for thread in &mut host.threads {
        (thread.user_ns, thread.waited_ns) = (ns(ran), ns(waited));
    }
    step.placement = Placement::Unpinned;
    (step, record)
}

fn at_device((step, mut record): (Step, StepRecord), share: f64) -> (Step, StepRecord) {
    let in_flight = f64::from(step.in_flight_max());
    let disk = &mut record.host.as_mut().expect("has a host").disks[0];
    (disk.busy_ns, disk.weighted_ns) = (ns(share.min(1.0)), ns(share * in_flight));
    (step, record)
}

/// 340 writes a second, each with an fdatasync, as etcd's check of a disk: the syncs hold most of the time of the thread.
fn synced(sync_ns: u64) -> (Step, StepRecord) {
    let (mut step, mut record) = observed(1, 1, 340, 0.03);
    step.workload.mix = OpMix { read_pct: 0, write_pct: 100, trim_pct: 0 };
    step.workload.durability.sync = Some(SyncEvery { kind: SyncKind::Fdatasync, writes: 1 });
    let mut syncs = Histogram::new();
    syncs.record_n(sync_ns, 340);
    record.directions[0].op = Op::Write;
    let mut lat = Histogram::new();
    lat.record_n(100_000, 340);
    record.directions[0].lat = Latency::Samples(lat);
    record.syncs =
        Some(Direction { op: Op::Write, lat: Latency::Samples(syncs), ios: 340, ..record.directions[0].clone() });
    (step, record)
}

fn limit_of(steps: &[(Step, StepRecord)]) -> Limit {
    let all: Vec<Observation> = steps.iter().map(|(step, record)| Observation::of(step, record)).collect();
    attribute(&all, 0)
}

/// The figures of a run that said "flush 95 %, a drive with power-loss protection" while its worker waited for a CPU 91 % of
/// the time.
#[test]
fn a_sync_that_waits_for_a_cpu_is_not_the_drives() {
    let quiet = limit_of(&[at_device(synced(2_800_000), 0.9)]);
    assert_eq!((quiet.name, quiet.confidence), (LimitName::Flush, Confidence::Confirmed));
    assert_eq!(quiet.would_help.len(), 2);
    let busy = limit_of(&[at_device(beside_hogs(synced(2_800_000), 0.05, 0.91), 0.05)]);
    assert_eq!(
        (busy.name, busy.confidence),
        (LimitName::CpuTaken, Confidence::Confirmed),
        "{}",
        english(&busy.sentence())
    );
    assert!(english(&busy.would_help[0]).starts_with("stop the other programs"));
    assert_eq!(
        english(&busy.sentence()),
        "CPU time that other programs took is the limit (95 %): 91 % of the time of an I/O the load was ready to run and had \
         no CPU."
    );
}

/// Syncs held 60 % of the time, and others had the CPUs for 17 %: at least 52 % of the rest are the syncs'. It said "queue
/// depth 85 %", with 8.8 times as much from a deeper queue.
#[test]
fn syncs_that_hold_most_of_the_time_are_the_limit_however_the_taken_time_is_divided() {
    let flush = |sync_ns, waited| limit_of(&[at_device(beside_hogs(synced(sync_ns), 0.05, waited), 0.6)]);
    let least = flush(153_000, 0.17);
    assert_eq!((least.name, least.probability), (LimitName::Flush, Some(0.85)));
    // 45 % of the time was taken from 55 % syncs and 45 % writes: the syncs have 18 to 100 % of the rest.
    let open = flush(122_200, 0.45);
    assert_eq!(open.name, LimitName::Flush);
    assert!(open.probability.is_some_and(|p| (p - 0.61).abs() < 0.01), "{:?}", open.probability);
    // Writes held most of the time.
    assert_ne!(flush(90_000, 0.17).name, LimitName::Flush);
}

/// A drive that flushes faster does not help where the drive works little of the time.
#[test]
fn a_faster_drive_is_no_help_where_the_drive_hardly_works() {
    let limit = limit_of(&[at_device(synced(2_800_000), 0.1)]);
    assert_eq!(limit.name, LimitName::Flush);
    let help: Vec<String> = limit.would_help.iter().map(english).collect();
    assert!(help.len() == 1 && help[0].starts_with("one sync for several writes"), "{help:?}");
}

#[test]
fn what_others_take_in_part_lowers_confidence_and_is_said() {
    let half = limit_of(&[at_device(beside_hogs(synced(2_800_000), 0.05, 0.3), 0.6)]);
    assert_eq!((half.name, half.confidence), (LimitName::Flush, Confidence::Likely));
    assert!(matches!(half.caveats[..], [Caveat::CpuTaken { by: CpuTaker::Programs, .. }]), "{:?}", half.caveats);
    // A worker at QD 1 that others keep from its CPU for a third of the time: more in flight may help, or fewer others.
    let depth = limit_of(&[beside_hogs(observed(1, 1, 5_000, 0.1), 0.1, 0.3)]);
    assert_eq!((depth.name, depth.confidence), (LimitName::QueueDepth, Confidence::Likely));
    // The bytes of a cached file never reach the device, whoever has the CPUs.
    let (mut step, mut record) = at_device(beside_hogs(observed(1, 1, 100_000, 0.6), 0.6, 0.3), 0.0);
    step.workload.direct = false;
    let host = record.host.as_mut().expect("has a host");
    (host.disks[0].read_bytes, host.page_cache_bytes) = (0, Some(1 << 30));
    let cached = limit_of(&[(step, record)]);
    assert_eq!((cached.name, cached.confidence), (LimitName::PageCache, Confidence::Confirmed));
    assert_eq!(cached.caveats.len(), 1);
    // What is asked for is no inference.
    let (mut step, mut record) = beside_hogs(observed(1, 1, 100, 0.01), 0.01, 0.6);
    step.load.rate = None;
    record.open_loop = Some(OpenLoop {
        intended_iops: 100.0,
        submit_delay_ns_mean_halves: [0.0, 0.0],
        backlog_end_ios: 0,
        unsustainable: false,
    });
    assert_eq!(limit_of(&[(step, record)]).name, LimitName::Rate);
}

/// A worker waits for a CPU most of the time, and yet the drive always has all that is in flight: it is the limit.
#[test]
fn at_depth_no_more_is_lost_than_waits_above_the_device() {
    let full =
        |in_device| [1, 2].map(|n| at_device(beside_hogs(observed(1, 32 * n, 50_000, 0.2), 0.2, 0.7), in_device));
    assert_eq!(limit_of(&full(0.98)).name, LimitName::Device);
    assert_eq!(limit_of(&full(0.2)).name, LimitName::CpuTaken);
    // A thread that never had anything else to wait for.
    let ready = beside_hogs(observed(1, 32, 50_000, 0.3), 0.3, 0.69);
    assert_eq!(limit_of(&[at_device(ready, 0.9)]).name, LimitName::CpuTaken);
}

#[test]
fn a_worker_that_polls_and_has_half_a_cpu_is_held_by_those_that_have_the_rest() {
    let polled = |ran: f64, waited: f64| {
        let (mut step, record) = beside_hogs(observed(1, 1, 9_000, ran), ran, waited);
        step.engine.mode = fathom_plan::Mode::Iopoll;
        limit_of(&[(step, record)])
    };
    assert_eq!(polled(0.3, 0.7).name, LimitName::CpuTaken);
    assert_ne!(polled(0.98, 0.02).name, LimitName::CpuTaken);
}

/// The workers of a stream beside another stream wait for each other, which no other program does.
#[test]
fn nothing_is_taken_by_the_workers_themselves() {
    let (step, mut record) = observed(16, 1, 100_000, 0.12);
    let host = record.host.as_mut().expect("has a host");
    host.threads.iter_mut().for_each(|thread| thread.waited_ns = ns(0.85));
    host.cpus.iter_mut().for_each(|(_, time)| *time = CpuTime { user_ns: ns(0.98), ..CpuTime::default() });
    let limit = limit_of(&[(step, record)]);
    assert_eq!((limit.name, limit.caveats.len()), (LimitName::AllCores, 0), "{}", english(&limit.sentence()));
}
