//! CPUs as the limit: the worker's own core, all of them, or those that take the interrupts.

use fathom_message::{Quantity, Unit};
use fathom_record::{CpuTime, HostDelta};

use super::Observation;
use super::cause::Cause;
use super::evidence::{Evidence, EvidenceName, base_evidence};
use super::limit::Caveat;
use super::neighbour::{ProbeChange, ProbeResult};
use super::posterior::{Candidate, PROBE_AGREES, PROBE_CONFIRMS, fill_weight};
use super::probe::{self, DEPTH_HELPS_PER_DOUBLING, LOAD_USELESS, Neighbour, RELIEF_HELPS};
use super::seen::Seen;
use crate::cost::{cpu_cost, storage_threads_ns, thread_busy_shares, thread_waited_share};

/// A worker thread this busy is the limit of its own rate.
const THREAD_SATURATED: f64 = 0.92;
/// A worker that ran less of the time than this was not held up by its CPU, however long it waited to be woken.
const OWN_TIME_MIN: f64 = 0.3;
/// A thread that ran or was ready for this share of the time waited for nothing else.
const ALWAYS_READY: f64 = 0.95;
/// CPUs this busy on average leave nothing to other work.
const CPUS_SATURATED: f64 = 0.90;
/// How far the busy share of a CPU that is full lies from 1: its time is read a little before and after the window.
const BUSY_SPREAD: f64 = 0.02;
/// A CPU less busy than this takes its interrupts in time.
const IRQ_CPU_WORTH_WEIGHING: f64 = 0.8;
/// All CPUs that are at least this much as probable as the workers' own alone are the limit instead.
const PART_OF_WHOLE: f64 = 0.2;
/// Share of the host's interrupt time on one CPU that makes it the one that takes them, and the least of its busy time.
const IRQ_TAKES_ALL: f64 = 0.8;
const IRQ_SHARE_OF_TAKER: f64 = 0.35;
/// Share of a CPU's busy time in interrupts that makes them its work.
const IRQ_SHARE: f64 = 0.5;
/// CPUs that others keep busy are not the run's own limit: this share of the busy time must be the run's.
const OWN_SHARE_MIN: f64 = 0.75;

/// The CPUs' parts in a step.
pub(super) fn candidates(all: &Seen<'_>, this: &Observation) -> Vec<Candidate> {
    let Some(host) = &this.host else { return Vec::new() };
    let Some(cost) = cpu_cost(host, this.ios) else { return Vec::new() };
    let per_io_ns = cost.busy_cores * 1e9 / this.iops().max(1e-9);
    let mut numbers = base_evidence(this);
    numbers.push(Evidence::new(EvidenceName::CpuPerIo, Quantity::new(per_io_ns, Unit::NsPerIo)));
    if this.polls() {
        return polled(all, this, per_io_ns, numbers).into_iter().collect();
    }
    let whole = all_cores(all, this, host, per_io_ns, &mut numbers);
    let interrupts = irq_core(all, this, host, &mut numbers);
    let mut own = core(all, this, host, per_io_ns, numbers);
    // Where all CPUs are as full as the workers' own, no other could be had.
    if let (Some(whole), Some(own)) = (&whole, &mut own)
        && whole.weight >= PART_OF_WHOLE * own.weight
    {
        own.weight *= PART_OF_WHOLE;
    }
    [whole, interrupts, own].into_iter().flatten().collect()
}

/// What the CPUs are to several loads at once, by the counters alone: all of them, or those that take the interrupts.
pub(super) fn shared_candidates(all: &Seen<'_>, together: &Observation) -> Vec<Candidate> {
    let Some(host) = together.host.as_ref().filter(|_| !together.polls()) else { return Vec::new() };
    let Some(cost) = cpu_cost(host, together.ios) else { return Vec::new() };
    let per_io_ns = cost.busy_cores * 1e9 / together.iops().max(1e-9);
    let mut numbers = base_evidence(together);
    numbers.push(Evidence::new(EvidenceName::CpuPerIo, Quantity::new(per_io_ns, Unit::NsPerIo)));
    let whole = all_cores(all, together, host, per_io_ns, &mut numbers);
    [whole, irq_core(all, together, host, &mut numbers)].into_iter().flatten().collect()
}

/// The cores of the workers of one stream, of all whose threads the host's counters show.
pub(super) fn own_candidate(all: &Seen<'_>, stream: &Observation) -> Option<Candidate> {
    let place = stream.step.role.stream.as_ref().filter(|_| !stream.polls())?;
    let mut own = stream.clone();
    let host = own.host.as_mut()?;
    let name = format!("fathom-w{}.", place.index);
    host.threads.retain(|thread| thread.name.starts_with(&name));
    let own_ns: u64 = host.threads.iter().map(|thread| thread.user_ns + thread.system_ns).sum();
    let per_io_ns = own_ns as f64 / stream.ios.max(1) as f64;
    core(all, &own, own.host.as_ref()?, per_io_ns, base_evidence(stream))
}

/// Busy share of a CPU, its stolen time counted: it is not there to be used.
pub(super) fn busy_share(time: &CpuTime, window_ns: u64) -> f64 {
    (time.busy_ns() + time.steal_ns) as f64 / window_ns.max(1) as f64
}

/// What more threads gave, as a probe.
fn threads_result(more: Neighbour) -> ProbeResult {
    more.result(ProbeChange::MoreThreads { threads: more.count })
}

/// Share of the host's busy time that is the run's: its threads, the kernel's that work for storage, and interrupts.
fn own_share_of_busy(host: &HostDelta) -> f64 {
    let busy_ns: u64 = host.cpus.iter().map(|(_, t)| t.busy_ns()).sum();
    if let Some(programs) = host.other_programs {
        return 1.0 - (programs.total_ns() as f64 / busy_ns.max(1) as f64).min(1.0);
    }
    let own_ns = host.threads.iter().map(|t| t.user_ns + t.system_ns).sum::<u64>() + storage_threads_ns(host);
    let irq_ns: u64 = host.cpus.iter().map(|(_, t)| t.irq_ns + t.softirq_ns).sum();
    (own_ns + irq_ns) as f64 / busy_ns.max(1) as f64
}

/// Whether the run itself leaves no CPU of the host free.
pub(super) fn fills_the_host(host: &HostDelta) -> bool {
    let mean =
        host.cpus.iter().map(|(_, t)| busy_share(t, host.window_ns)).sum::<f64>() / host.cpus.len().max(1) as f64;
    mean >= CPUS_SATURATED && is_host_the_runs(host)
}

/// Whether what the CPUs do is the run's, but for little.
pub(super) fn is_host_the_runs(host: &HostDelta) -> bool {
    own_share_of_busy(host) >= OWN_SHARE_MIN
}

fn all_cores(
    all: &Seen<'_>,
    this: &Observation,
    host: &HostDelta,
    per_io_ns: f64,
    numbers: &mut Vec<Evidence>,
) -> Option<Candidate> {
    let allowed = this.allowed_cpus();
    let times: Vec<&CpuTime> = host.cpus.iter().filter(|(c, _)| allowed.contains(c)).map(|(_, t)| t).collect();
    let n = times.len();
    let mean = times.iter().map(|t| busy_share(t, host.window_ns)).sum::<f64>() / n.max(1) as f64;
    numbers.push(Evidence::new(EvidenceName::AllowedCpusBusy, Quantity::share(mean)));
    let own_share = own_share_of_busy(host);
    numbers.push(Evidence::new(EvidenceName::OwnShareOfBusy, Quantity::share(own_share)));
    // As many workers as CPUs that always want one want all of them, whoever has them meanwhile.
    let workers = thread_busy_shares(host).len();
    let wanted = saturated_share(this, host).filter(|_| workers >= n).unwrap_or(0.0);
    if n < 2 || (own_share < OWN_SHARE_MIN && wanted < THREAD_SATURATED) {
        return None;
    }
    // More threads cannot be had a core for; a cheaper engine that gave more is the probe.
    let cheaper = probe::cheaper_engine(all, this);
    let more = probe::threads(all, this);
    let weight = fill_weight(mean.max(wanted) * this.typical_over_mean, BUSY_SPREAD)
        * match (&cheaper, more) {
            (Some(_), _) => PROBE_CONFIRMS,
            (None, Some(more)) if more.gain >= RELIEF_HELPS => 1.0 / PROBE_CONFIRMS,
            (None, Some(more)) if more.gain < LOAD_USELESS => PROBE_AGREES,
            _ => 1.0,
        };
    let flat = || more.filter(|more| more.gain < LOAD_USELESS).map(threads_result);
    let cause = Cause::AllCores { cpus: n as u32, busy_share: mean, cpu_ns_per_io: per_io_ns };
    Some(Candidate::part(cause, weight, numbers.clone()).with_probes(cheaper.or_else(flat)))
}

/// CPUs whose work is interrupts and who have no time left, while the workers wait.
fn irq_core(all: &Seen<'_>, this: &Observation, host: &HostDelta, numbers: &mut Vec<Evidence>) -> Option<Candidate> {
    let irq_ns = |t: &CpuTime| t.irq_ns + t.softirq_ns;
    let of_all_ns: u64 = host.cpus.iter().map(|(_, t)| irq_ns(t)).sum();
    let works_elsewhere = |cpu: u32| this.worker_cpus.iter().any(|worker| *worker != cpu);
    let mut full: Vec<(u32, f64, f64)> = host
        .cpus
        .iter()
        .filter(|(cpu, t)| {
            // Interrupts are its work; or it is the one that takes them, also for workers on other CPUs.
            let takes_all = irq_ns(t) as f64 >= IRQ_TAKES_ALL * of_all_ns as f64;
            let share = irq_ns(t) as f64 / t.busy_ns().max(1) as f64;
            share >= IRQ_SHARE || (takes_all && share >= IRQ_SHARE_OF_TAKER && works_elsewhere(*cpu))
        })
        .map(|(cpu, t)| (*cpu, busy_share(t, host.window_ns), irq_ns(t) as f64 / t.busy_ns().max(1) as f64))
        .filter(|(_, busy, _)| *busy * this.typical_over_mean >= IRQ_CPU_WORTH_WEIGHING)
        .collect();
    if full.is_empty() {
        return None;
    }
    full.sort_by(|a, b| b.1.total_cmp(&a.1));
    let (cpu, busy, irq) = full[0];
    numbers.push(Evidence::new(EvidenceName::CpuBusy { cpu }, Quantity::share(busy)));
    numbers.push(Evidence::new(EvidenceName::CpuInterrupts { cpu }, Quantity::share(irq)));
    let deeper = |d: Neighbour| (d.gain, d.result(ProbeChange::MoreInFlight { in_flight: d.count }));
    let more = probe::threads(all, this)
        .map(|more| (more.gain, threads_result(more)))
        .or_else(|| probe::depth(all, this, true).map(deeper));
    let flat = more.filter(|(gain, _)| *gain < LOAD_USELESS).map(|(_, probe)| probe);
    let cheaper = probe::cheaper_engine(all, this);
    let weight = fill_weight(busy * this.typical_over_mean, BUSY_SPREAD);
    let weight = if cheaper.is_some() { PROBE_CONFIRMS * weight } else { weight };
    let cpus = full.len() as u32;
    let cause = Cause::IrqCores { cpus, busiest_cpu: cpu, busy_share: busy, interrupt_share: irq };
    Some(Candidate::part(cause, weight, numbers.clone()).with_probes(cheaper.or(flat)))
}

/// How much of the time the workers' cores had nothing left to give; `None` without workers.
fn saturated_share(this: &Observation, host: &HostDelta) -> Option<f64> {
    let shares = thread_busy_shares(host);
    let mean = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    let wanted = wanted_share(mean, thread_waited_share(host), OWN_TIME_MIN);
    (!shares.is_empty()).then_some(wanted.max(own_share_of_own_cpus(this, host, shares.len())))
}

/// How much of the time a thread wanted a CPU. One that others keep off its CPU wants it no less; one that hardly ran was
/// only slow to be woken, unless it never had anything else to wait for: others, or a quota, held it then.
pub(super) fn wanted_share(ran: f64, waited: f64, own_time_min: f64) -> f64 {
    let all = (ran + waited).min(1.0);
    if ran >= own_time_min || all >= ALWAYS_READY { all } else { ran }
}

/// How busy the CPUs of `workers` threads were with what is the run's: interrupts on a worker's own CPU take time from it
/// that is not charged to it, and so do kernel threads that work for it. What others do there while the workers sleep is
/// no load of theirs. 0 where the workers have no CPUs of their own.
fn own_share_of_own_cpus(this: &Observation, host: &HostDelta, workers: usize) -> f64 {
    let is_own = |cpu: u32| this.worker_cpus.contains(&cpu) && this.worker_cpus.len() <= workers;
    let cpus: Vec<&CpuTime> = host.cpus.iter().filter(|(cpu, _)| is_own(*cpu)).map(|(_, t)| t).collect();
    let cpu_ns = cpus.len().max(1) as f64 * host.window_ns.max(1) as f64;
    let busy = cpus.iter().map(|t| busy_share(t, host.window_ns)).sum::<f64>() / cpus.len().max(1) as f64;
    let taken_ns: u64 = cpus.iter().map(|t| t.irq_ns + t.softirq_ns + t.steal_ns).sum();
    // Which CPU a thread's time was spent on is not known: all of it is the most that can have been here.
    let thread_ns: u64 = host.threads.iter().map(|t| t.user_ns + t.system_ns).sum();
    busy.min((taken_ns + thread_ns) as f64 / cpu_ns)
}

/// Whether the cores of the workers held a step: then more of them may bring what a deeper queue seems to. Workers that poll
/// are always busy, which says nothing.
pub(super) fn is_held_by_threads(this: &Observation) -> bool {
    if this.polls() {
        return false;
    }
    let share = this.host.as_ref().and_then(|host| saturated_share(this, host));
    share.is_some_and(|share| share >= THREAD_SATURATED)
}

fn core(
    all: &Seen<'_>,
    this: &Observation,
    host: &HostDelta,
    per_io_ns: f64,
    mut numbers: Vec<Evidence>,
) -> Option<Candidate> {
    let shares = thread_busy_shares(host);
    let mean = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    let waited = thread_waited_share(host);
    let saturated = saturated_share(this, host)?;
    numbers.push(Evidence::new(EvidenceName::WorkersBusy, Quantity::share(mean)));
    numbers.push(Evidence::new(EvidenceName::WorkersWaited, Quantity::share(waited)));
    let more = probe::threads(all, this);
    if let Some(more) = more {
        numbers.push(gain_of_threads(more));
    }
    let relieved = more.filter(|more| more.gain >= RELIEF_HELPS).map(threads_result);
    let has_free_cpus = this.allowed_cpus().len() >= 2 * shares.len();
    let probe = relieved.or_else(|| probe::cheaper_engine(all, this));
    let weight = fill_weight(saturated * this.typical_over_mean, BUSY_SPREAD)
        * match more {
            _ if probe.is_some() => PROBE_CONFIRMS,
            // Twice the cores that bring nothing were not what it wanted.
            Some(more) if more.gain < LOAD_USELESS && has_free_cpus => 1.0 / PROBE_AGREES,
            _ => 1.0,
        };
    let cause = Cause::Cores { workers: shares.len() as u32, busy_share: saturated, cpu_ns_per_io: per_io_ns };
    Some(Candidate::part(cause, weight, numbers).with_probes(probe))
}

fn gain_of_threads(more: Neighbour) -> Evidence {
    Evidence::new(EvidenceName::GainOfThreads { threads: more.count }, more.gain_quantity())
}

/// Spinning threads are always busy: only probes show whether their core is the limit.
fn polled(all: &Seen<'_>, this: &Observation, per_io_ns: f64, mut numbers: Vec<Evidence>) -> Option<Candidate> {
    let more = probe::threads(all, this)?;
    let deeper = probe::depth(all, this, true);
    let deeper_helps = deeper
        .filter(|d| d.count != more.count * this.step.load.queue_depth * this.step.targets.len() as u32)
        .is_some_and(|d| d.per_doubling(this.in_flight()) >= DEPTH_HELPS_PER_DOUBLING);
    if more.gain < RELIEF_HELPS || deeper_helps || this.in_flight() == 1 {
        return None;
    }
    // More threads also put more in flight; a step as deep by depth alone tells the two apart.
    let deeper = deeper.filter(|d| d.gain < LOAD_USELESS)?;
    let in_flight = deeper.count;
    numbers.push(Evidence::new(EvidenceName::GainOfDepth { in_flight }, deeper.gain_quantity()));
    numbers.push(gain_of_threads(more));
    let is_noisy = more.may_give_nothing();
    let weight = if is_noisy { PROBE_AGREES } else { PROBE_CONFIRMS };
    let part = Candidate::part(Cause::PollingCore { cpu_ns_per_io: per_io_ns }, weight, numbers);
    let probes = [deeper.result(ProbeChange::MoreInFlight { in_flight }), threads_result(more)];
    Some(part.with_probes(probes).with_caveats(is_noisy.then_some(Caveat::Noise)))
}
