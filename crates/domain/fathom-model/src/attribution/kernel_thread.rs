//! A thread of the kernel that works for the I/O and has no time left: parity, encryption, a loop device, a journal.

use std::collections::BTreeMap;

use fathom_message::Quantity;
use fathom_record::HostDelta;

use super::cause::Cause;
use super::evidence::{Evidence, EvidenceName, base_evidence};
use super::posterior::{Candidate, PROBE_AGREES, fill_weight};
use super::seen::Seen;
use super::{Observation, cpu, depth};
use crate::kernel_work::KernelWork;

/// A thread less busy than this serves what comes.
const WORTH_WEIGHING: f64 = 0.85;
/// How far the busy share of a thread that is full lies from 1.
const BUSY_SPREAD: f64 = 0.02;
/// Waiting for a CPU counts where the threads themselves had a CPU for this share of the time at least, as for workers.
const OWN_TIME_MIN: f64 = 0.3;
/// With more waiting than this it may be what others do on the CPUs.
const WAIT_MAX: f64 = 0.1;
/// A CPU this busy has nothing left for a thread that waits for it.
const CPU_FULL: f64 = 0.95;

/// What the threads of one name took, in CPUs.
struct Group {
    name: String,
    work: KernelWork,
    threads: u32,
    busy: f64,
    waited: f64,
}

/// The fullest of the kernel's threads, in a step.
pub(super) fn candidate(all: &Seen<'_>, this: &Observation) -> Option<Candidate> {
    let host = this.host.as_ref()?;
    // Full workers keep others from being so.
    if cpu::is_held_by_threads(this) {
        return None;
    }
    let full = groups(this, host).into_iter().filter_map(|group| Some((full_share(this, host, &group)?, group)));
    let (busy_share, group) = full.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let flat = depth::flat(all, this);
    let mut numbers = base_evidence(this);
    numbers.push(Evidence::new(EvidenceName::KernelThreadsBusy, Quantity::share(busy_share)));
    let cpus = cpus_at_most(this, host, &group);
    let cause = Cause::KernelThread { name: group.name, cpus, busy_share };
    let waits = group.waited / f64::from(cpus) > WAIT_MAX;
    let agrees = if flat.is_some() { PROBE_AGREES } else { 1.0 };
    let weight = agrees * fill_weight(busy_share, BUSY_SPREAD);
    let waits_for_its_own = cpu_that_it_waits_for(host, group.waited / f64::from(cpus)).is_some();
    let weight = if waits && !waits_for_its_own { weight.min(PROBE_AGREES) } else { weight };
    let mut part = Candidate::part(cause, weight, numbers).with_probes(flat);
    part.limit.would_help = group.work.would_help();
    Some(part)
}

/// Threads that work for storage, by name; the workers that io_uring made for the run together.
fn groups(this: &Observation, host: &HostDelta) -> Vec<Group> {
    let window_ns = host.window_ns.max(1) as f64;
    let share = |ns: u64| ns as f64 / window_ns;
    let mut out: BTreeMap<&str, Group> = BTreeMap::new();
    let mut add = |key, name: &str, threads: u32, busy: f64, waited: f64| {
        let Some(work) = KernelWork::of(name) else { return };
        // Pages are taken back for the page cache; else it is none of the run's.
        if work == KernelWork::Reclaim && this.step.workload.direct {
            return;
        }
        let group = out.entry(key).or_insert(Group { name: name.to_owned(), work, threads: 0, busy: 0.0, waited: 0.0 });
        (group.threads, group.busy, group.waited) = (group.threads + threads, group.busy + busy, group.waited + waited);
    };
    for thread in &host.kernel_threads {
        add(&thread.name, &thread.name, thread.threads, share(thread.busy_ns), share(thread.waited_ns));
    }
    for thread in host.threads.iter().filter(|t| t.kernel) {
        let key = if thread.name.starts_with("iou-wrk-") { "iou-wrk" } else { &thread.name };
        add(key, &thread.name, 1, share(thread.user_ns + thread.system_ns), share(thread.waited_ns));
    }
    out.into_values().collect()
}

/// How many CPUs the threads could use.
fn cpus_at_most(this: &Observation, host: &HostDelta, group: &Group) -> u32 {
    // Buffered writes to a file are done one after the other, by whichever worker.
    let one_per_file =
        group.work == KernelWork::RingWorkers && !this.step.workload.direct && this.step.workload.mix.write_pct > 0;
    let threads = match group.work.is_single() {
        true => 1,
        false if one_per_file => group.threads.min(this.step.targets.len() as u32),
        false => group.threads,
    };
    threads.clamp(1, host.cpus.len().max(1) as u32)
}

/// How much of the CPUs that they could use the threads took or waited for; `None` where they had time left.
fn full_share(this: &Observation, host: &HostDelta, group: &Group) -> Option<f64> {
    let cpus = f64::from(cpus_at_most(this, host, group));
    let busy = (group.busy / cpus).min(1.0);
    // Where the run fills all CPUs one thread waits for the rest of the run: that is the CPUs' limit, not its own. Threads
    // that could fill the host wait for themselves.
    let is_own_wait = !cpu::fills_the_host(host) || cpus as usize >= host.cpus.len();
    let wanted = if is_own_wait { cpu::wanted_share(busy, group.waited / cpus, OWN_TIME_MIN) } else { busy };
    let full_cpu = cpu_that_it_waits_for(host, group.waited / cpus).unwrap_or(0.0);
    (wanted >= WORTH_WEIGHING).then_some(wanted.max(full_cpu))
}

/// How busy the CPU is that threads of the kernel wait for while it does the run's own work: soft interrupts of what they
/// complete come to the same CPU, so that neither alone fills it. The thread was not seen there; the CPU is the fullest.
fn cpu_that_it_waits_for(host: &HostDelta, waited: f64) -> Option<f64> {
    let fullest = host.cpus.iter().map(|(_, time)| cpu::busy_share(time, host.window_ns)).reduce(f64::max)?;
    (waited > WAIT_MAX && fullest >= CPU_FULL && cpu::is_host_the_runs(host)).then_some(fullest.min(1.0))
}
