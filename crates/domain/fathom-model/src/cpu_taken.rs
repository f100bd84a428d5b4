//! CPU time that the workers of a step were ready to use while others had the CPUs.

use fathom_record::{CpuTime, HostDelta, ThreadCpu};

use crate::cost::{storage_threads_ns, storage_threads_waited_ns};

/// The one that had the CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuTaker {
    /// Other programs on this host.
    Programs,
    /// The hypervisor (steal time).
    Hypervisor,
    /// A CPU limit of the control group, which stopped the workers.
    Quota,
}

/// CPU time that was taken from the workers of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CpuTaken {
    /// Share of the workers' time, in [0, 1].
    pub(crate) share: f64,
    /// The one that took most of it.
    pub(crate) by: CpuTaker,
}

/// Begin of the names of all worker threads.
const WORKERS: &str = "fathom-w";

/// Time of the worker threads of a load; shares of the window, in [0, 1], as means over the threads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WorkerTime {
    /// Worker threads.
    pub(crate) threads: u32,
    /// Worker threads of all loads that run at once.
    pub(crate) of_all_loads: u32,
    /// On a CPU.
    pub(crate) ran: f64,
    /// Ready to run, without a CPU.
    pub(crate) waited: f64,
}

impl WorkerTime {
    /// Time of the worker threads whose names begin with `prefix`.
    pub(crate) fn of(host: &HostDelta, prefix: &str) -> WorkerTime {
        let named = |prefix: &str| host.threads.iter().filter(|t| !t.kernel && t.name.starts_with(prefix)).collect();
        let (workers, all): (Vec<&ThreadCpu>, Vec<&ThreadCpu>) = (named(prefix), named(WORKERS));
        let mean = |ns: &dyn Fn(&ThreadCpu) -> u64| {
            let shares = workers.iter().map(|t| (ns(t) as f64 / host.window_ns.max(1) as f64).min(1.0));
            shares.sum::<f64>() / workers.len().max(1) as f64
        };
        WorkerTime {
            threads: workers.len() as u32,
            of_all_loads: all.len().max(workers.len()) as u32,
            ran: mean(&|t| t.user_ns + t.system_ns),
            waited: mean(&|t| t.waited_ns),
        }
    }
}

/// CPU time that was taken from the workers of a load. `cpus`: the CPUs that the workers can use.
///
/// A thread that is ready waits for a CPU for several reasons: its siblings run, the CPU is slow to wake up, or others run.
/// Only the last one is counted. It cannot exceed the time that others ran on the CPUs that the workers needed: with more
/// CPUs than workers, others can use the rest without harm.
pub(crate) fn cpu_taken(host: &HostDelta, workers: &WorkerTime, cpus: &[u32]) -> CpuTaken {
    let window_ns = host.window_ns.max(1) as f64;
    let WorkerTime { threads, of_all_loads, ran, waited } = *workers;
    let pool: Vec<&CpuTime> = host.cpus.iter().filter(|(cpu, _)| cpus.contains(cpu)).map(|(_, time)| time).collect();
    if threads == 0 || pool.is_empty() {
        return CpuTaken { share: 0.0, by: CpuTaker::Programs };
    }
    // The workers of other loads need their CPUs as well.
    let used_at_once = f64::from(of_all_loads).min(pool.len() as f64);
    let by_quota = (host.throttled_ns as f64 / window_ns / used_at_once).min(waited);
    let spare = pool.len() as f64 - used_at_once;
    let by_programs = ((others_cpus(host, &pool) - spare) / used_at_once).clamp(0.0, waited - by_quota);
    // Storage threads of the kernel can run on all CPUs. Their waits are those of all workers, while these sleep.
    let all: Vec<&CpuTime> = host.cpus.iter().map(|(_, time)| time).collect();
    let (of_one_for_all_ns, of_others_ns) = storage_threads_waited_ns(host);
    let storage_waits = (of_one_for_all_ns as f64 + of_others_ns as f64 / f64::from(of_all_loads)) / window_ns;
    let asleep = (1.0 - ran - waited).max(0.0);
    let from_storage_threads =
        (others_cpus(host, &all) - (all.len() as f64 - 1.0)).clamp(0.0, storage_waits.min(asleep));
    let (busy_ns, steal_ns) =
        pool.iter().fold((0, 0), |(busy, steal), time| (busy + time.busy_ns(), steal + time.steal_ns));
    // Steal time is neither running nor waiting to the guest. It hits whatever runs.
    let by_hypervisor = (ran * steal_ns as f64 / busy_ns.max(1) as f64).min(asleep - from_storage_threads);
    let by_programs = by_programs + from_storage_threads;
    let parts = [(by_hypervisor, CpuTaker::Hypervisor), (by_quota, CpuTaker::Quota), (by_programs, CpuTaker::Programs)];
    let by = parts.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).map_or(CpuTaker::Programs, |(_, by)| by);
    CpuTaken { share: parts.iter().map(|(share, _)| share).sum::<f64>().min(1.0), by }
}

/// CPUs of a pool that other programs used, on average. It is not known on which CPU a thread spent its time: all time of
/// the run counts as spent in the pool.
fn others_cpus(host: &HostDelta, pool: &[&CpuTime]) -> f64 {
    if let Some(programs) = host.other_programs.filter(|_| pool.len() == host.cpus.len()) {
        return programs.total_ns() as f64 / host.window_ns.max(1) as f64;
    }
    let own_ns = host.threads.iter().map(|t| t.user_ns + t.system_ns).sum::<u64>() + storage_threads_ns(host);
    let (busy_ns, irq_ns) =
        pool.iter().fold((0, 0), |(busy, irq), time| (busy + time.busy_ns(), irq + time.irq_ns + time.softirq_ns));
    busy_ns.saturating_sub(own_ns + irq_ns) as f64 / host.window_ns.max(1) as f64
}

#[cfg(test)]
mod tests {
    use fathom_record::KernelThreadCpu;

    use super::*;

    const SECOND_NS: f64 = 1e9;

    fn ns(share: f64) -> u64 {
        (share * SECOND_NS) as u64
    }

    /// A second of a host: busy and stolen share of each CPU, ran and waited share of each worker.
    fn host(cpus: &[(f64, f64)], workers: &[(f64, f64)]) -> HostDelta {
        let cpu = |&(busy, stolen): &(f64, f64)| CpuTime {
            user_ns: ns(busy),
            steal_ns: ns(stolen),
            idle_ns: ns(1.0 - busy - stolen),
            ..CpuTime::default()
        };
        let worker = |(index, &(ran, waited)): (usize, &(f64, f64))| ThreadCpu {
            name: format!("fathom-w{index}"),
            kernel: false,
            user_ns: ns(ran),
            system_ns: 0,
            waited_ns: ns(waited),
        };
        HostDelta {
            window_ns: ns(1.0),
            cpus: (0..).zip(cpus.iter().map(cpu)).collect(),
            threads: workers.iter().enumerate().map(worker).collect(),
            ..HostDelta::default()
        }
    }

    fn taken(host: &HostDelta, cpus: &[u32]) -> (f64, CpuTaker) {
        let taken = cpu_taken(host, &WorkerTime::of(host, "fathom-w"), cpus);
        ((taken.share * 1000.0).round() / 1000.0, taken.by)
    }

    #[test]
    fn waiting_counts_only_while_other_programs_run_on_the_cpus_of_the_workers() {
        use CpuTaker::Programs;
        // A program without end on the CPU that the worker is pinned to.
        let pinned = host(&[(1.0, 0.0), (0.1, 0.0)], &[(0.5, 0.5)]);
        assert_eq!(taken(&pinned, &[0]), (0.5, Programs));
        // On both CPUs, unpinned.
        assert_eq!(taken(&host(&[(1.0, 0.0); 2], &[(0.1, 0.88)]), &[0, 1]), (0.88, Programs));
        // On the other CPU: the wait is that of a CPU that wakes up slowly.
        assert_eq!(taken(&host(&[(1.0, 0.0), (0.3, 0.0)], &[(0.3, 0.4)]), &[0, 1]), (0.0, Programs));
        // Workers that wait for each other.
        assert_eq!(taken(&host(&[(1.0, 0.0); 2], &[(0.25, 0.75); 8]), &[0, 1]), (0.0, Programs));
        // An idle host.
        assert_eq!(taken(&host(&[(0.35, 0.0), (0.02, 0.0)], &[(0.3, 0.3)]), &[0, 1]), (0.0, Programs));
    }

    /// Two workers of one stream and two of another fill two CPUs: nothing is spare for other programs.
    #[test]
    fn the_workers_of_other_streams_need_their_cpus_as_well() {
        let mut both = host(&[(1.0, 0.0); 2], &[(0.2, 0.7), (0.2, 0.7), (0.2, 0.7), (0.2, 0.7)]);
        for (thread, name) in both.threads.iter_mut().zip(["fathom-w0.0", "fathom-w1.0", "fathom-w1.1", "fathom-w1.2"])
        {
            thread.name = name.to_owned();
        }
        let first = cpu_taken(&both, &WorkerTime::of(&both, "fathom-w0."), &[0, 1]);
        // Others ran for 1.2 of 2 CPUs.
        assert!((first.share - 0.6).abs() < 1e-6, "{first:?}");
    }

    /// Threads of the kernel that waited are one wait of each of the workers that sleep meanwhile.
    #[test]
    fn waits_of_storage_threads_are_no_more_than_the_workers_slept() {
        let mut waiting = host(&[(1.0, 0.0); 2], &[(0.1, 0.1); 2]);
        let thread =
            |waited| KernelThreadCpu { name: "kblockd".to_owned(), threads: 1, busy_ns: 0, waited_ns: ns(waited) };
        waiting.kernel_threads = vec![thread(0.3), thread(0.3)];
        // 0.6 s of waits among two workers; their own waits are 0.1 each.
        assert_eq!(taken(&waiting, &[0, 1]), (0.4, CpuTaker::Programs));
        // The journal's one thread lets all of them wait.
        waiting.kernel_threads = vec![KernelThreadCpu { name: "jbd2/vda-8".to_owned(), ..thread(0.3) }];
        assert_eq!(taken(&waiting, &[0, 1]), (0.4, CpuTaker::Programs));
        waiting.kernel_threads = (0..8).map(|_| thread(0.9)).collect();
        assert_eq!(taken(&waiting, &[0, 1]), (0.9, CpuTaker::Programs));
    }

    #[test]
    fn steal_time_and_a_quota_are_told_apart_from_programs() {
        let stolen = host(&[(0.4, 0.4), (0.0, 0.0)], &[(0.4, 0.0)]);
        assert_eq!(taken(&stolen, &[0]), (0.4, CpuTaker::Hypervisor));
        let stopped = HostDelta { throttled_ns: ns(0.7), ..host(&[(0.3, 0.0), (0.0, 0.0)], &[(0.25, 0.75)]) };
        assert_eq!(taken(&stopped, &[0, 1]), (0.7, CpuTaker::Quota));
    }
}
