//! Makes the record of a step from the world it leaves.

use fathom_hist::Histogram;
use fathom_message::{Quantity, msg};
use fathom_plan::{Mode, Step};
use fathom_record::{
    ClockUse, CpuTime, Direction, DiskDelta, FeatureName, FeatureUse, HostDelta, Latency, OpenLoop, QuotedLatency,
    ShortenedWindow, StepRecord, TargetRecord, ThreadCpu, ThreadRecord, VectorDelta, Warning, WhyShortened,
};

use crate::drive::MediaState;
use crate::load::{READ, TRIM, WRITE};
use crate::machine::{ArrayController, Machine};
use crate::meter::OP_NAMES;
use crate::named::array_records;
use crate::runner::Truth;
use crate::snapshot::Snapshot;
use crate::target::Resolved;
use crate::world::{NS, World};

/// An open loop that reaches less than this share of its rate while its backlog grows is not sustainable.
const SUSTAINED_SHARE: f64 = 0.99;

/// A world at the end of its window.
pub(crate) struct Ended {
    pub(crate) world: World,
    pub(crate) before: Snapshot,
    pub(crate) after: Snapshot,
    /// `[interval][cpu]`
    pub(crate) cpu_busy: Vec<Vec<f32>>,
    pub(crate) interrupted: bool,
    /// Why it ended before the time that was asked for.
    pub(crate) shortened: Option<WhyShortened>,
}

/// The record, and what is known beside it.
pub(crate) fn assemble(
    machine: &Machine,
    step: &Step,
    targets: &[Resolved],
    mut ended: Ended,
    started_unix_ns: u64,
) -> (StepRecord, Truth) {
    let end_ns = ended.world.end_ns;
    let runtime_ns = end_ns - ended.world.meter.start_ns;
    let in_flight = ended.world.in_flight(end_ns);
    let laws = ended.world.laws(&in_flight);
    let host = host_delta(machine, step, &ended, runtime_ns);
    let truth = Truth {
        laws,
        utilisation: ended.world.utilisation(end_ns),
        events: ended.world.counters.events,
        ios: ended.world.threads.iter().map(|t| t.ios).sum(),
        write_amplification: amplifications(&ended.world),
    };
    let shortened = ended.shortened.map(|why| ShortenedWindow {
        asked_ns: step.length.budget_ns,
        warm_up_ns: ended.world.meter.start_ns,
        why,
    });
    let directions = directions(&mut ended.world);
    let ios = directions.iter().map(|d| d.ios).sum();
    let open_loop = open_loop(step, &ended.world, ios, runtime_ns);
    let mut warnings = Vec::new();
    if ended.interrupted {
        warnings.push(Warning::Interrupted);
    }
    if let Some(open) = open_loop.as_ref().filter(|open| open.unsustainable) {
        let achieved_iops = ios as f64 / (runtime_ns as f64 / 1e9);
        warnings.push(Warning::RateUnsustainable { intended_iops: open.intended_iops, achieved_iops });
    }
    let record = StepRecord {
        started_unix_ns: started_unix_ns + ended.world.meter.start_ns,
        runtime_ns,
        setup_ns: 0,
        directions,
        syncs: None,
        intervals: std::mem::take(&mut ended.world.meter.intervals),
        threads: thread_records(step, targets, &ended.world),
        failures: Vec::new(),
        host: Some(host),
        features: features(machine, step, runtime_ns, shortened),
        clock: Some(ClockUse { source: "virtual".to_owned(), read_cost_ns: 0.0, drift_ppm: 0.0, shortened }),
        overhead: None,
        in_flight_mean: Some(in_flight.area_ns as f64 / runtime_ns.max(1) as f64),
        occupied_mean: Some(in_flight.area_ns as f64 / runtime_ns.max(1) as f64),
        age_ns: Some(in_flight.ages_ns),
        verify: None,
        open_loop,
        targets: target_records(targets, &ended.world),
        arrays: array_records(targets, &ended.world),
        purges: Vec::new(),
        ranks: None,
        warnings,
    };
    (record, truth)
}

fn amplifications(world: &World) -> Vec<(String, f64)> {
    let of = |drive: &crate::drive::DriveState| match &drive.media {
        MediaState::Nand(nand) if nand.host_units > 0 => {
            Some((drive.name.clone(), nand.programs as f64 / nand.host_units as f64))
        }
        _ => None,
    };
    world.drives.iter().filter_map(of).collect()
}

fn directions(world: &mut World) -> Vec<Direction> {
    let mut out = Vec::new();
    for (op, totals) in OP_NAMES.into_iter().zip(std::mem::take(&mut world.meter.totals)) {
        let (mut ios, mut bytes, mut lat) = (0, 0, Histogram::new());
        for d in world.meter.intervals.iter().flat_map(|i| &i.directions).filter(|d| d.op == op) {
            ios += d.ios;
            bytes += d.bytes;
            lat.merge(&d.lat);
        }
        if ios > 0 {
            out.push(Direction {
                op,
                ios,
                bytes,
                short_ios: 0,
                lat: Latency::Samples(lat),
                slat: Some(Latency::Samples(totals.slat)).filter(|l| l.histogram().is_some_and(|h| !h.is_empty())),
                clat: Some(Latency::Samples(totals.clat)).filter(|l| l.histogram().is_some_and(|h| !h.is_empty())),
                service: totals.service.map(Latency::Samples),
            });
        }
    }
    out
}

fn thread_records(step: &Step, targets: &[Resolved], world: &World) -> Vec<ThreadRecord> {
    let passes = |t: &crate::cpu::Thread| t.ios / t.lanes().map(|lane| lane.span.count).sum::<u64>().max(1);
    let row = |(index, t): (usize, &crate::cpu::Thread)| {
        let mut cpus_seen = t.cpus_seen.clone();
        cpus_seen.sort_unstable();
        ThreadRecord {
            index: index as u32,
            targets: t.lanes().map(|lane| targets[lane.target as usize].id.clone()).collect(),
            cpus_allowed: if t.floating { Vec::new() } else { vec![t.cpu] },
            cpus_seen,
            migrations: None,
            paused_ns: 0,
            ios: t.ios,
            passes: if step.length.passes.is_some() { passes(t) } else { 0 },
            in_flight_max: t.in_flight_max,
            polling: None,
        }
    };
    world.threads.iter().enumerate().map(row).collect()
}

fn target_records(targets: &[Resolved], world: &World) -> Vec<TargetRecord> {
    let quoted = |h: &Histogram| {
        (!h.is_empty()).then(|| QuotedLatency {
            count: h.count(),
            mean_ns: h.mean_ns().unwrap_or(0.0),
            stddev_ns: h.stddev_ns().unwrap_or(0.0),
            min_ns: h.min_ns().unwrap_or(0),
            max_ns: h.max_ns().unwrap_or(0),
            quantiles: fathom_units::PERCENTILES.iter().filter_map(|(q, _)| Some((*q, h.quantile(*q)?))).collect(),
        })
    };
    let row = |(target, tally): (&Resolved, &crate::meter::TargetTally)| TargetRecord {
        target: target.id.clone(),
        ios: tally.ios,
        bytes: tally.bytes,
        errors: 0,
        lat: quoted(&tally.lat),
    };
    targets.iter().zip(&world.meter.targets).map(row).collect()
}

fn features(machine: &Machine, step: &Step, runtime_ns: u64, shortened: Option<ShortenedWindow>) -> Vec<FeatureUse> {
    let (name, ran) = (&machine.name, Quantity::duration_ns(runtime_ns));
    let how = match shortened.map(|s| (s.why, Quantity::duration_ns(s.asked_ns))) {
        None => msg!("sim-machine", name = name),
        Some((WhyShortened::FiguresKnown, asked)) => msg!("sim-machine-known", name = name, ran = ran, asked = asked),
        Some((WhyShortened::ManyIos, asked)) => msg!("sim-machine-many", name = name, ran = ran, asked = asked),
        Some((WhyShortened::DrivesAged, asked)) => msg!("sim-machine-aged", name = name, ran = ran, asked = asked),
    };
    let mut out = vec![FeatureUse::used(FeatureName::Simulated, how)];
    let polled = match step.engine.mode {
        Mode::Interrupt => None,
        Mode::Iopoll => Some(FeatureName::Iopoll),
        Mode::Sqpoll => Some(FeatureName::Sqpoll),
    };
    out.extend(polled.map(|name| FeatureUse::used(name, msg!("sim-simulated"))));
    out
}

fn host_delta(machine: &Machine, step: &Step, ended: &Ended, runtime_ns: u64) -> HostDelta {
    let (before, after, world) = (&ended.before, &ended.after, &ended.world);
    let window_ns = ((after.at_ps - before.at_ps) / NS).max(1).min(runtime_ns.max(1));
    let mut cpus: Vec<(u32, CpuTime)> = (0..)
        .zip(after.cpus.iter().zip(&before.cpus))
        .map(|(cpu, (now, then))| {
            let user_ns = (now.user_ps - then.user_ps) / NS;
            let system_ns = (now.system_ps - then.system_ps) / NS;
            let softirq_ns = (now.irq_ps - then.irq_ps) / NS;
            let idle_ns = window_ns.saturating_sub(user_ns + system_ns + softirq_ns);
            (cpu, CpuTime { user_ns, system_ns, softirq_ns, idle_ns, ..CpuTime::default() })
        })
        .collect();
    let mut threads = thread_cpus(ended);
    spin(step, world, &mut cpus, &mut threads, window_ns);
    add_md_threads(machine, ended, &mut cpus, &mut threads, window_ns);
    let counters = (&after.counters, &before.counters);
    let hits = counters.0.cache_hits - counters.1.cache_hits;
    let direct = step.workload.direct;
    HostDelta {
        window_ns,
        cpus,
        idle_baseline: CpuTime::default(),
        idle_baseline_window_ns: window_ns,
        threads,
        interrupts: counters.0.interrupts - counters.1.interrupts,
        context_switches: counters.0.context_switches - counters.1.context_switches,
        disks: disks(ended),
        vectors: vectors(ended),
        sampler_ns: 0,
        cpu_busy_by_interval: ended.cpu_busy.clone(),
        page_cache_bytes: (hits > 0 || !direct).then(|| hits * u64::from(step.workload.block_bytes_max())),
        // A simulated drive has no temperature and no log: its faults are in the machine.
        ..HostDelta::default()
    }
}

fn thread_cpus(ended: &Ended) -> Vec<ThreadCpu> {
    let (before, after) = (&ended.before, &ended.after);
    let mut out = Vec::new();
    for (index, (now, then)) in after.threads.iter().zip(&before.threads).enumerate() {
        out.push(ThreadCpu {
            name: format!("fathom-w{index}"),
            kernel: false,
            user_ns: (now.user_ps - then.user_ps) / NS,
            system_ns: (now.system_ps - then.system_ps) / NS,
            waited_ns: 0,
        });
        if ended.world.threads[index].poller.is_some() {
            out.push(ThreadCpu {
                name: format!("iou-sqp-{index}"),
                kernel: true,
                user_ns: 0,
                system_ns: (now.poller_ps - then.poller_ps) / NS,
                waited_ns: 0,
            });
        }
    }
    out
}

/// Pollers never rest: what their CPU did not work it spun.
fn spin(step: &Step, world: &World, cpus: &mut [(u32, CpuTime)], threads: &mut [ThreadCpu], window_ns: u64) {
    if step.engine.mode == Mode::Interrupt {
        return;
    }
    for (index, thread) in world.threads.iter().enumerate() {
        let (cpu, name) = match thread.poller {
            Some(poller) => (poller, format!("iou-sqp-{index}")),
            None => (thread.cpu, format!("fathom-w{index}")),
        };
        let time = &mut cpus[cpu as usize].1;
        let spun = std::mem::take(&mut time.idle_ns).min(window_ns);
        time.system_ns += spun;
        if let Some(row) = threads.iter_mut().find(|t| t.name == name) {
            row.system_ns += spun;
        }
    }
}

/// md's thread of an array runs on whichever CPU is least busy; it is shown on the last one.
fn add_md_threads(
    machine: &Machine,
    ended: &Ended,
    cpus: &mut [(u32, CpuTime)],
    threads: &mut Vec<ThreadCpu>,
    window_ns: u64,
) {
    for (index, array) in machine.arrays.iter().enumerate() {
        if !matches!(array.controller, ArrayController::Md(_)) {
            continue;
        }
        let work_ns = (ended.after.md_threads_ps[index] - ended.before.md_threads_ps[index]) / NS;
        if work_ns == 0 {
            continue;
        }
        let work_ns = work_ns.min(window_ns);
        threads.push(ThreadCpu {
            name: format!("md{index}_{}", array.level.as_str()),
            kernel: true,
            user_ns: 0,
            system_ns: work_ns,
            waited_ns: 0,
        });
        if let Some((_, time)) = cpus.iter_mut().min_by_key(|(cpu, time)| (time.busy_ns(), u32::MAX - cpu)) {
            let taken = work_ns.min(time.idle_ns);
            time.system_ns += taken;
            time.idle_ns -= taken;
        }
    }
}

/// The drives behind the targets, as the kernel would count them.
fn disks(ended: &Ended) -> Vec<DiskDelta> {
    let used = |index: usize| ended.after.drives[index].arrived > 0;
    ended
        .world
        .drives
        .iter()
        .enumerate()
        .filter(|(index, drive)| used(*index) && !matches!(drive.media, MediaState::Memory { .. }))
        .map(|(index, drive)| {
            let (now, then) = (&ended.after.drives[index], &ended.before.drives[index]);
            let ios = |op: u8| now.ios[op as usize] - then.ios[op as usize];
            let bytes = |op: u8| now.bytes[op as usize] - then.bytes[op as usize];
            DiskDelta {
                device: drive.name.clone(),
                read_ios: ios(READ),
                read_bytes: bytes(READ),
                read_merges: 0,
                write_ios: ios(WRITE),
                write_bytes: bytes(WRITE),
                write_merges: 0,
                discard_ios: ios(TRIM),
                busy_ns: (now.busy_ps - then.busy_ps) / NS,
                weighted_ns: u64::try_from((now.area_ps - then.area_ps) / u128::from(NS)).unwrap_or(u64::MAX),
                flushes: None,
                write_cache: None,
                md: None,
            }
        })
        .collect()
}

/// One vector per drive or array and CPU that took its interrupts.
fn vectors(ended: &Ended) -> Vec<VectorDelta> {
    let world = &ended.world;
    let drives = world.drives.iter().map(|d| d.name.clone()).chain(std::iter::once("null".to_owned()));
    let names: Vec<String> = drives.chain(world.arrays.iter().map(|a| a.spec.name.clone())).collect();
    let mut out = Vec::new();
    for (device, (now, then)) in names.iter().zip(ended.after.vectors.iter().zip(&ended.before.vectors)) {
        for (cpu, (now, then)) in now.iter().zip(then).enumerate() {
            let count = now - then;
            if count > 0 {
                out.push(VectorDelta {
                    irq: out.len() as u32 + 64,
                    device: device.clone(),
                    queue: Some(cpu as u32 + 1),
                    count,
                    by_cpu: vec![(cpu as u32, count)],
                });
            }
        }
    }
    out
}

fn open_loop(step: &Step, world: &World, ios: u64, runtime_ns: u64) -> Option<OpenLoop> {
    let rate = step.load.rate?;
    let mut halves = [(0_u64, 0_u64); 2];
    let mut backlog_end_ios = 0;
    let end_ps = world.end_ns * NS;
    for arrivals in world.threads.iter().filter_map(|t| t.arrivals.as_ref()) {
        let half = arrivals.delays.len().div_ceil(2);
        for (index, delay) in arrivals.delays.iter().enumerate() {
            let into = &mut halves[usize::from(index >= half)];
            into.0 += delay.0;
            into.1 += delay.1;
        }
        let late_ps = end_ps.saturating_sub(arrivals.next_due_ps);
        backlog_end_ios += if late_ps > 0 { late_ps / arrivals.gap_ps.max(1) + 1 } else { 0 };
    }
    let delay = halves.map(|(sum, n)| if n == 0 { 0.0 } else { sum as f64 / n as f64 });
    let achieved = ios as f64 / (runtime_ns.max(1) as f64 / 1e9);
    Some(OpenLoop {
        intended_iops: rate.iops,
        submit_delay_ns_mean_halves: delay,
        backlog_end_ios,
        unsustainable: delay[1] > delay[0] && backlog_end_ios > 0 && achieved < SUSTAINED_SHARE * rate.iops,
    })
}
