//! What several hosts did while a step ran on all of them, as one host with the CPUs of all.

use crate::host::{CpuTime, DiskDelta, HostDelta, ProgramsCpu, VectorDelta};

/// CPUs of several hosts of which it is kept what each did interval by interval: those of the first hosts, as many as a
/// picture can show.
pub const CPU_ROWS_MAX: u32 = 1024;

/// The hosts so far, each once however many ranks it has.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    hosts: Vec<Host>,
    /// Whether all of them so far say what each CPU did interval by interval.
    has_rows: bool,
}

/// One host.
#[derive(Debug)]
struct Host {
    name: String,
    id: String,
    first_cpu: u32,
    /// One after its last CPU.
    end_cpu: u32,
    delta: HostDelta,
}

impl Hosts {
    /// Adds what a rank's record says of its host; the number that its first CPU has among those of all. Ranks of one host
    /// saw the same CPUs: those of the first count, with the threads and devices of all.
    pub(super) fn add(&mut self, name: &str, id: &str, mut delta: HostDelta) -> Option<u32> {
        if let Some(known) = self.hosts.iter_mut().find(|host| host.id == id) {
            let whole = &mut known.delta;
            whole.threads.append(&mut delta.threads);
            whole.sampler_ns = whole.sampler_ns.saturating_add(delta.sampler_ns);
            // The ranks of a host are other programs to each other.
            (whole.other_programs, whole.idle_baseline_programs) = (None, None);
            whole.allocated_bytes = sum(whole.allocated_bytes, delta.allocated_bytes);
            whole.page_cache_bytes = sum(whole.page_cache_bytes, delta.page_cache_bytes);
            add_new(&mut whole.disks, delta.disks, |disk| &disk.device);
            add_new(&mut whole.members, delta.members, |disk| &disk.device);
            add_new(&mut whole.drives, delta.drives, |drive| &drive.device);
            add_new(&mut whole.network, delta.network, |mount| &mount.mount_point);
            add_new(&mut whole.vectors, delta.vectors, |vector| &vector.irq);
            return Some(known.first_cpu);
        }
        let first_cpu = self.hosts.last().map_or(0, |host| host.end_cpu);
        let cpus = delta.cpus.iter().map(|(cpu, _)| cpu.saturating_add(1)).max().unwrap_or(0);
        let end_cpu = first_cpu.saturating_add(cpus);
        let is_first = self.hosts.is_empty();
        let is_shown = is_first || self.has_rows && end_cpu <= CPU_ROWS_MAX;
        self.has_rows = is_shown && !delta.cpu_busy_by_interval.is_empty();
        if !is_first && !self.has_rows {
            delta.drop_cpu_rows();
        }
        self.hosts.push(Host { name: name.to_owned(), id: id.to_owned(), first_cpu, end_cpu, delta });
        Some(first_cpu)
    }

    /// All of them as one: CPUs follow each other, devices have the name of their host before their own.
    pub(super) fn finish(self) -> Option<HostDelta> {
        let cpus = self.hosts.iter().map(|host| host.delta.cpus.len()).sum::<usize>();
        let mut hosts = self.hosts.into_iter();
        let first = hosts.next()?;
        let Some(second) = hosts.next() else { return Some(first.delta) };
        let mut whole = renamed(first);
        // By doubling, memory would hold those of many hosts three times.
        whole.cpus.reserve_exact(cpus - whole.cpus.len());
        for host in std::iter::once(second).chain(hosts) {
            add(&mut whole, renamed(host));
        }
        Some(whole)
    }
}

fn renamed(host: Host) -> HostDelta {
    let Host { name, first_cpu, mut delta, .. } = host;
    let cpu = |cpu: &mut u32| *cpu = cpu.saturating_add(first_cpu);
    let device = |device: &mut String| *device = format!("{name}:{device}");
    delta.cpus.iter_mut().for_each(|(number, _)| cpu(number));
    delta.cpu_series.cpus.iter_mut().for_each(cpu);
    for (own, core) in &mut delta.core_of {
        cpu(own);
        cpu(core);
    }
    let disks = delta.disks.iter_mut().chain(&mut delta.members);
    disks.for_each(|disk: &mut DiskDelta| device(&mut disk.device));
    delta.drives.iter_mut().for_each(|drive| device(&mut drive.device));
    delta.network.iter_mut().for_each(|mount| device(&mut mount.mount_point));
    for vector in &mut delta.vectors {
        let VectorDelta { device: name, by_cpu, .. } = vector;
        device(name);
        by_cpu.iter_mut().for_each(|(number, _)| cpu(number));
    }
    delta
}

/// Programs of two hosts together; `None` where those of one are not known.
fn both(a: Option<ProgramsCpu>, b: Option<ProgramsCpu>) -> Option<ProgramsCpu> {
    let (a, b) = (a?, b?);
    let add = u64::saturating_add;
    Some(ProgramsCpu { user_ns: add(a.user_ns, b.user_ns), system_ns: add(a.system_ns, b.system_ns) })
}

fn add(whole: &mut HostDelta, other: HostDelta) {
    // Shares of a second are of the CPUs of all hosts: windows of ranks that begin together are alike.
    whole.window_ns = whole.window_ns.max(other.window_ns);
    whole.measured_ns = whole.measured_ns.max(other.measured_ns);
    whole.disks_ns = whole.disks_ns.max(other.disks_ns);
    whole.missed_ns = whole.missed_ns.max(other.missed_ns);
    whole.idle_baseline = scaled(&whole.idle_baseline, &other, whole.idle_baseline_window_ns);
    whole.idle_baseline_interrupts = whole.idle_baseline_interrupts.saturating_add(other.idle_baseline_interrupts);
    whole.idle_baseline_context_switches =
        whole.idle_baseline_context_switches.saturating_add(other.idle_baseline_context_switches);
    whole.cpus.extend(other.cpus);
    whole.threads.extend(other.threads);
    whole.kernel_threads.extend(other.kernel_threads);
    whole.throttled_ns = whole.throttled_ns.saturating_add(other.throttled_ns);
    whole.other_programs = both(whole.other_programs, other.other_programs);
    whole.idle_baseline_programs = both(whole.idle_baseline_programs, other.idle_baseline_programs);
    whole.interrupts = whole.interrupts.saturating_add(other.interrupts);
    whole.context_switches = whole.context_switches.saturating_add(other.context_switches);
    whole.disks.extend(other.disks);
    whole.members.extend(other.members);
    whole.vectors.extend(other.vectors);
    whole.drives.extend(other.drives);
    whole.network.extend(other.network);
    whole.core_of.extend(other.core_of);
    whole.sampler_ns = whole.sampler_ns.saturating_add(other.sampler_ns);
    whole.page_cache_bytes = sum(whole.page_cache_bytes, other.page_cache_bytes);
    whole.allocated_bytes = sum(whole.allocated_bytes, other.allocated_bytes);
    let series = &mut whole.cpu_series;
    if !other.cpu_series.shares_pct.is_empty() {
        series.cpus.extend(other.cpu_series.cpus);
        join(&mut series.shares_pct, other.cpu_series.shares_pct);
    }
    plus(&mut series.interrupts, &other.cpu_series.interrupts);
    plus(&mut series.context_switches, &other.cpu_series.context_switches);
    if !other.cpu_busy_by_interval.is_empty() {
        join(&mut whole.cpu_busy_by_interval, other.cpu_busy_by_interval);
    }
}

/// The sum of two baselines over the window of the first.
fn scaled(first: &CpuTime, other: &HostDelta, window_ns: u64) -> CpuTime {
    let CpuTime { user_ns, system_ns, irq_ns, softirq_ns, steal_ns, iowait_ns, idle_ns } = other.idle_baseline;
    let scale = window_ns as f64 / other.idle_baseline_window_ns.max(1) as f64;
    let scaled = |ns: u64| (ns as f64 * scale) as u64;
    first.plus(&CpuTime {
        user_ns: scaled(user_ns),
        system_ns: scaled(system_ns),
        irq_ns: scaled(irq_ns),
        softirq_ns: scaled(softirq_ns),
        steal_ns: scaled(steal_ns),
        iowait_ns: scaled(iowait_ns),
        idle_ns: scaled(idle_ns),
    })
}

/// Interval by interval the CPUs of both, as many intervals as both have.
fn join<T>(whole: &mut Vec<Vec<T>>, other: Vec<Vec<T>>) {
    whole.truncate(other.len());
    whole.iter_mut().zip(other).for_each(|(row, more)| row.extend(more));
}

fn plus(whole: &mut Vec<u64>, other: &[u64]) {
    whole.truncate(other.len());
    whole.iter_mut().zip(other).for_each(|(sum, more)| *sum = sum.saturating_add(*more));
}

fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a.into_iter().chain(b).reduce(u64::saturating_add)
}

/// Adds the rows whose key no row has yet: what two ranks of a host saw of one device is the same.
fn add_new<T, K: PartialEq>(rows: &mut Vec<T>, more: Vec<T>, key: impl Fn(&T) -> &K) {
    for row in more {
        if !rows.iter().any(|known| key(known) == key(&row)) {
            rows.push(row);
        }
    }
}
