//! CPU cost of the whole host per I/O, so that it adds up.

use fathom_record::{CpuTime, HostDelta};

use crate::kernel_work::KernelWork;
use crate::machine::{CostModel, CostOrigin};

/// What the kernel counts CPU time in.
const TICK_NS: u64 = 10_000_000;

/// CPU cost of a window. All `_per_io` in nanoseconds or events per completed I/O, idle baseline and the sampler's own
/// time subtracted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuCost {
    /// Busy CPU time / window, baseline subtracted.
    pub busy_cores: f64,
    /// Busy physical cores: a core is as busy as its busiest sibling. Equals `busy_cores` where none share cores.
    pub busy_physical_cores: f64,
    /// User and nice.
    pub user_ns_per_io: f64,
    /// System without interrupts and without `kernel_worker`.
    pub system_ns_per_io: f64,
    /// Hard and soft interrupts.
    pub irq_ns_per_io: f64,
    /// Kernel threads that work for the run: io_uring's, and those that work for storage (md, dm-crypt, loop devices...).
    pub kernel_worker_ns_per_io: f64,
    /// Hardware interrupts.
    pub interrupts_per_io: f64,
    /// Context switches.
    pub context_switches_per_io: f64,
    /// Busy cores of the idle host, before the run.
    pub baseline_busy_cores: f64,
    /// Busy cores of other programs during the run; the other figures do not contain them. `None` where they are not known: the
    /// baseline stands for them.
    pub other_programs_cores: Option<f64>,
    /// Busy cores that belong to nothing known: not to threads of the run, to kernel threads that work for storage, to
    /// interrupts, or to other programs that can be seen.
    pub unexplained_cores: f64,
    /// Share of all CPU time that the hypervisor took, in [0, 1].
    pub steal_share: f64,
    /// Busiest CPU and its busy share in [0, 1].
    pub busiest_cpu: Option<(u32, f64)>,
}

impl CpuCost {
    /// I/Os per second per busy core; `None` when less than 1 % of a core was busy, for then it is noise.
    #[must_use]
    pub fn iops_per_core(&self, iops: f64) -> Option<f64> {
        (self.busy_cores >= 0.01).then(|| iops / self.busy_cores)
    }

    /// I/Os per second per busy physical core, by the same rule.
    #[must_use]
    pub fn iops_per_physical_core(&self, iops: f64) -> Option<f64> {
        (self.busy_physical_cores >= 0.01).then(|| iops / self.busy_physical_cores)
    }
}

/// Splits the host's CPU time over `ios` completed I/Os. `None` without I/Os or without samples.
///
/// The parts add up: `user + system + irq + kernel_worker = busy_cores * window / ios`, except that a part the baseline
/// would make negative is 0.
#[must_use]
pub fn cpu_cost(host: &HostDelta, ios: u64) -> Option<CpuCost> {
    if ios == 0 || host.window_ns == 0 || host.cpus.is_empty() {
        return None;
    }
    let total = host.cpus.iter().fold(CpuTime::default(), |acc, (_, t)| acc.plus(t));
    let scale = match host.idle_baseline_window_ns {
        0 => 0.0,
        window => host.window_ns as f64 / window as f64,
    };
    let base = &host.idle_baseline;
    let net = |now: u64, idle: u64| (now as f64 - idle as f64 * scale).max(0.0);
    // Of the baseline only what no program did goes on during the run: programs are counted there as well.
    let programs = host.other_programs.unwrap_or_default();
    let idle_programs = host.other_programs.and(host.idle_baseline_programs).unwrap_or_default();
    let user_ns =
        net(total.user_ns.saturating_sub(programs.user_ns), base.user_ns.saturating_sub(idle_programs.user_ns));
    let system_all_ns =
        net(total.system_ns.saturating_sub(programs.system_ns), base.system_ns.saturating_sub(idle_programs.system_ns));
    let system_all_ns = (system_all_ns - host.sampler_ns as f64).max(0.0);
    let irq_ns = net(total.irq_ns + total.softirq_ns, base.irq_ns + base.softirq_ns);
    let thread_ns = |is_kernel: bool| {
        host.threads.iter().filter(|t| t.kernel == is_kernel).map(|t| t.user_ns + t.system_ns).sum::<u64>()
    };
    let all_workers_ns = thread_ns(true).saturating_add(storage_threads_ns(host)) as f64;
    let workers_ns = all_workers_ns.min(system_all_ns);
    let n = host.ios_between_readings(ios);
    let all_ns = host.window_ns as f64 * host.cpus.len() as f64;
    let busy_ns = user_ns + system_all_ns + irq_ns;
    Some(CpuCost {
        busy_cores: busy_ns / host.window_ns as f64,
        busy_physical_cores: busy_ns / host.window_ns as f64 * physical_share(host),
        user_ns_per_io: user_ns / n,
        system_ns_per_io: (system_all_ns - workers_ns) / n,
        irq_ns_per_io: irq_ns / n,
        kernel_worker_ns_per_io: workers_ns / n,
        interrupts_per_io: net(host.interrupts, host.idle_baseline_interrupts) / n,
        context_switches_per_io: net(host.context_switches, host.idle_baseline_context_switches) / n,
        baseline_busy_cores: match host.idle_baseline_window_ns {
            0 => 0.0,
            window => base.busy_ns() as f64 / window as f64,
        },
        other_programs_cores: host.other_programs.map(|used| used.total_ns() as f64 / host.window_ns as f64),
        unexplained_cores: (busy_ns - irq_ns - all_workers_ns - thread_ns(false) as f64).max(0.0)
            / host.window_ns as f64,
        steal_share: total.steal_ns as f64 / all_ns,
        busiest_cpu: host
            .cpus
            .iter()
            .map(|(cpu, t)| (*cpu, (t.busy_ns() as f64 / host.window_ns as f64).min(1.0)))
            .max_by(|a, b| a.1.total_cmp(&b.1)),
    })
}

/// CPU time of the kernel's own threads that work for storage. Time in interrupts, as that of `ksoftirqd`, is in the times of
/// the CPUs already.
pub(crate) fn storage_threads_ns(host: &HostDelta) -> u64 {
    host.kernel_threads.iter().filter(|t| KernelWork::of(&t.name).is_some()).map(|t| t.busy_ns).sum()
}

/// Time that those threads were ready to run while something else had the CPU: of those that work for all I/Os at once the most,
/// of the others the sum.
pub(crate) fn storage_threads_waited_ns(host: &HostDelta) -> (u64, u64) {
    let waits = |is_single: bool| {
        let of_kind = host
            .kernel_threads
            .iter()
            .filter(move |t| KernelWork::of(&t.name).is_some_and(|w| w.is_single() == is_single));
        of_kind.map(|t| t.waited_ns)
    };
    (waits(true).max().unwrap_or(0), waits(false).sum())
}

/// Busy time of physical cores over that of CPUs, in (0, 1]: the baseline is taken off both alike, since it is not known
/// by CPU.
fn physical_share(host: &HostDelta) -> f64 {
    let mut by_core: Vec<(u32, u64)> = Vec::new();
    let mut sum_ns = 0;
    for (cpu, time) in &host.cpus {
        let core = host.core_of.iter().find(|(c, _)| c == cpu).map_or(*cpu, |(_, core)| *core);
        let busy_ns = time.busy_ns();
        sum_ns += busy_ns;
        match by_core.iter_mut().find(|(c, _)| *c == core) {
            Some((_, most)) => *most = busy_ns.max(*most),
            None => by_core.push((core, busy_ns)),
        }
    }
    if sum_ns == 0 { 1.0 } else { by_core.iter().map(|(_, ns)| *ns).sum::<u64>() as f64 / sum_ns as f64 }
}

/// Busy share of each worker thread of the run, in [0, 1]; kernel threads are left out.
#[must_use]
pub fn thread_busy_shares(host: &HostDelta) -> Vec<f64> {
    host.threads
        .iter()
        .filter(|t| !t.kernel && t.name.starts_with("fathom-w"))
        .map(|t| ((t.user_ns + t.system_ns) as f64 / host.window_ns.max(1) as f64).min(1.0))
        .collect()
}

/// Mean share of the window that the worker threads of the run were ready but had no CPU, in [0, 1].
#[must_use]
pub(crate) fn thread_waited_share(host: &HostDelta) -> f64 {
    let workers = host.threads.iter().filter(|t| !t.kernel && t.name.starts_with("fathom-w"));
    let shares: Vec<f64> = workers.map(|t| (t.waited_ns as f64 / host.window_ns.max(1) as f64).min(1.0)).collect();
    shares.iter().sum::<f64>() / shares.len().max(1) as f64
}

/// Core time per I/O as the ceilings want it: that of the workers' own cores, and that of interrupts. `None` without I/Os,
/// without samples, or when the workers' time is below a tick of the kernel's clock.
#[must_use]
pub(crate) fn cost_model(host: &HostDelta, ios: u64) -> Option<CostModel> {
    let cost = cpu_cost(host, ios)?;
    let own_ns: u64 = host
        .threads
        .iter()
        .filter(|t| !t.kernel && t.name.starts_with("fathom-w"))
        .map(|t| t.user_ns + t.system_ns)
        .sum();
    let thread_ns = own_ns as f64 / ios as f64;
    let model = CostModel { thread_ns, irq_ns: cost.irq_ns_per_io, origin: CostOrigin::Measured };
    (own_ns > TICK_NS).then_some(model)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_record::{KernelThreadCpu, ProgramsCpu, ThreadCpu};

    fn host() -> HostDelta {
        HostDelta {
            window_ns: 1_000_000_000,
            cpus: vec![
                (
                    0,
                    CpuTime {
                        user_ns: 200_000_000,
                        system_ns: 500_000_000,
                        softirq_ns: 100_000_000,
                        ..CpuTime::default()
                    },
                ),
                (1, CpuTime { user_ns: 50_000_000, idle_ns: 950_000_000, ..CpuTime::default() }),
            ],
            idle_baseline: CpuTime { user_ns: 25_000_000, ..CpuTime::default() },
            idle_baseline_window_ns: 500_000_000,
            threads: vec![ThreadCpu {
                name: "iou-sqp-9".into(),
                kernel: true,
                user_ns: 0,
                system_ns: 300_000_000,
                waited_ns: 0,
            }],
            interrupts: 500,
            context_switches: 2_000,
            ..HostDelta::default()
        }
    }

    #[test]
    fn parts_add_up_to_the_busy_time() {
        let c = cpu_cost(&host(), 1_000).expect("has I/Os");
        let parts = c.user_ns_per_io + c.system_ns_per_io + c.irq_ns_per_io + c.kernel_worker_ns_per_io;
        assert!((parts * 1_000.0 - c.busy_cores * 1e9).abs() < 1.0);
    }

    #[test]
    fn baseline_is_scaled_to_the_window() {
        let c = cpu_cost(&host(), 1_000).expect("has I/Os");
        // 250 ms of user time less 25 ms per half second of baseline.
        assert!((c.user_ns_per_io - 200_000.0).abs() < 1.0);
        assert!((c.baseline_busy_cores - 0.05).abs() < 1e-9);
    }

    #[test]
    fn the_idle_hosts_interrupts_and_the_samplers_own_time_are_taken_off() {
        let mut host = host();
        (host.idle_baseline_interrupts, host.idle_baseline_context_switches) = (100, 900);
        host.sampler_ns = 50_000_000;
        let c = cpu_cost(&host, 1_000).expect("has I/Os");
        // The baseline is half as long as the window.
        assert!((c.interrupts_per_io - 0.3).abs() < 1e-9 && (c.context_switches_per_io - 0.2).abs() < 1e-9);
        assert!((c.system_ns_per_io - 150_000.0).abs() < 1.0);
    }

    #[test]
    fn readings_that_enclose_the_window_are_spread_over_the_ios_between_them() {
        let exact = cpu_cost(&host(), 1_000).expect("has I/Os");
        // The same second of counters, of which the step measured 0.8 s and counted 800 I/Os.
        let around = cpu_cost(&HostDelta { measured_ns: 800_000_000, ..host() }, 800).expect("has I/Os");
        assert_eq!(around, exact);
    }

    #[test]
    fn kernel_poller_is_charged_apart() {
        let c = cpu_cost(&host(), 1_000).expect("has I/Os");
        assert!((c.kernel_worker_ns_per_io - 300_000.0).abs() < 1.0);
        assert!((c.system_ns_per_io - 200_000.0).abs() < 1.0);
    }

    #[test]
    fn kernel_threads_that_work_for_storage_are_charged_once_and_others_are_not() {
        let thread = |name: &str, busy_ns| KernelThreadCpu { name: name.to_owned(), threads: 1, busy_ns, waited_ns: 0 };
        let threads = vec![thread("loop0", 100_000_000), thread("ksoftirqd/0", 90_000_000), thread("ksmd", 50_000_000)];
        let c = cpu_cost(&HostDelta { kernel_threads: threads, ..host() }, 1_000).expect("has I/Os");
        // 500 ms of system time: 300 ms of the poller, 100 ms of the loop device, and the rest.
        assert!((c.kernel_worker_ns_per_io - 400_000.0).abs() < 1.0);
        assert!((c.system_ns_per_io - 100_000.0).abs() < 1.0);
        assert!((c.busy_cores - cpu_cost(&host(), 1_000).expect("has I/Os").busy_cores).abs() < 1e-12);
    }

    /// A program that begins after the baseline is charged to nobody, and what no program did in the baseline goes on.
    #[test]
    fn other_programs_are_not_charged_to_the_load() {
        let programs = |user_ns, system_ns| Some(ProgramsCpu { user_ns, system_ns });
        let known =
            HostDelta { other_programs: programs(0, 0), idle_baseline_programs: programs(25_000_000, 0), ..host() };
        let quiet = cpu_cost(&known, 1_000).expect("has I/Os");
        let mut beside = HostDelta { other_programs: programs(700_000_000, 100_000_000), ..known.clone() };
        beside.cpus[1].1 = CpuTime { user_ns: 750_000_000, system_ns: 100_000_000, ..CpuTime::default() };
        let busy = cpu_cost(&beside, 1_000).expect("has I/Os");
        assert!((busy.busy_cores - quiet.busy_cores).abs() < 1e-9, "{busy:?} {quiet:?}");
        assert!((busy.user_ns_per_io - 250_000.0).abs() < 1.0 && (busy.system_ns_per_io - 200_000.0).abs() < 1.0);
        assert!((busy.other_programs_cores.expect("known") - 0.8).abs() < 1e-9);
        assert_eq!(cpu_cost(&host(), 1_000).expect("has I/Os").other_programs_cores, None);
    }

    #[test]
    fn time_that_belongs_to_nothing_known_is_told() {
        // 850 ms busy: 100 ms in interrupts, 300 ms in the poller, 450 ms in no known thread.
        let known = HostDelta { other_programs: Some(ProgramsCpu::default()), idle_baseline_window_ns: 0, ..host() };
        let cost = cpu_cost(&known, 1_000).expect("has I/Os");
        assert!((cost.unexplained_cores - 0.45).abs() < 1e-9, "{cost:?}");
    }

    #[test]
    fn a_physical_core_is_as_busy_as_its_busiest_sibling() {
        let mut host = host();
        let apart = cpu_cost(&host, 1_000).expect("has I/Os");
        assert!((apart.busy_physical_cores - apart.busy_cores).abs() < 1e-12);
        // Both CPUs on one core: 800 ms of the busier one stand for 850 ms of both.
        host.core_of = vec![(0, 0), (1, 0)];
        let together = cpu_cost(&host, 1_000).expect("has I/Os");
        assert!((together.busy_physical_cores - apart.busy_cores * 800.0 / 850.0).abs() < 1e-9);
        let per_core = together.iops_per_physical_core(1_000.0).expect("busy");
        assert!(per_core > together.iops_per_core(1_000.0).expect("busy"));
    }

    #[test]
    fn no_io_has_no_cost() {
        assert_eq!(cpu_cost(&host(), 0), None);
    }
}
