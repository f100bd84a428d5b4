//! What the host did while a step ran: differences of kernel counters over the measured window.

use serde::{Deserialize, Serialize};

use crate::health::DriveSeries;
use crate::network::NetworkDelta;

/// Time of one CPU by kind over a window, nanoseconds (the kernel counts in ticks of 1/USER_HZ).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CpuTime {
    /// User and nice.
    pub user_ns: u64,
    /// System.
    pub system_ns: u64,
    /// Hard interrupts.
    pub irq_ns: u64,
    /// Soft interrupts.
    pub softirq_ns: u64,
    /// Stolen by the hypervisor.
    pub steal_ns: u64,
    /// Idle while I/O was outstanding.
    pub iowait_ns: u64,
    /// Idle.
    pub idle_ns: u64,
}

/// Unit of the times in `/proc/stat` (USER_HZ), ns.
const STAT_UNIT_NS: u64 = 10_000_000;

impl CpuTime {
    /// Time the CPU worked for this host: user, system, irq, softirq. Steal is not ours.
    #[must_use]
    pub fn busy_ns(&self) -> u64 {
        self.user_ns + self.system_ns + self.irq_ns + self.softirq_ns
    }

    /// The same with its busy time as long as the CPU was not idle in a window of `window_ns`.
    ///
    /// The kernel may count what a CPU does by looking at each tick, which misses work between ticks, while it measures idle
    /// time to the microsecond (`CONFIG_TICK_CPU_ACCOUNTING`, `CONFIG_NO_HZ`). The kinds keep their shares of the busy
    /// time. `/proc/stat` shows idle time in units of 10 ms, so that a difference of less than two of them is none. A time that does
    /// not add up to about the window is left as it is.
    #[must_use]
    pub fn with_exact_busy_time(self, window_ns: u64) -> CpuTime {
        let not_busy_ns = self.idle_ns + self.iowait_ns + self.steal_ns;
        let exact_ns = window_ns.saturating_sub(not_busy_ns);
        if (self.busy_ns() + not_busy_ns).abs_diff(window_ns) * 5 > window_ns {
            return self;
        }
        if exact_ns.abs_diff(self.busy_ns()) < 2 * STAT_UNIT_NS {
            return self;
        }
        if self.busy_ns() == 0 {
            return CpuTime { system_ns: exact_ns, ..self };
        }
        let scaled = |ns: u64| (ns as f64 * exact_ns as f64 / self.busy_ns() as f64) as u64;
        CpuTime {
            user_ns: scaled(self.user_ns),
            system_ns: scaled(self.system_ns),
            irq_ns: scaled(self.irq_ns),
            softirq_ns: scaled(self.softirq_ns),
            ..self
        }
    }

    /// Sum of two times, kind by kind.
    #[must_use]
    pub fn plus(&self, other: &CpuTime) -> CpuTime {
        CpuTime {
            user_ns: self.user_ns.saturating_add(other.user_ns),
            system_ns: self.system_ns.saturating_add(other.system_ns),
            irq_ns: self.irq_ns.saturating_add(other.irq_ns),
            softirq_ns: self.softirq_ns.saturating_add(other.softirq_ns),
            steal_ns: self.steal_ns.saturating_add(other.steal_ns),
            iowait_ns: self.iowait_ns.saturating_add(other.iowait_ns),
            idle_ns: self.idle_ns.saturating_add(other.idle_ns),
        }
    }
}

/// What a CPU did in an interval, percent of it, by kind: user, system, irq, softirq, iowait, steal. The rest was idle.
/// The kernel counts in ticks (usually 10 ms), so an interval of 1 s is known to the percent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CpuShares(pub [u8; 6]);

impl CpuShares {
    /// Shares of a difference of two readings.
    #[must_use]
    pub fn of(time: &CpuTime) -> CpuShares {
        let CpuTime { user_ns, system_ns, irq_ns, softirq_ns, steal_ns, iowait_ns, idle_ns } = *time;
        let kinds = [user_ns, system_ns, irq_ns, softirq_ns, iowait_ns, steal_ns];
        let total = kinds.iter().sum::<u64>() + idle_ns;
        CpuShares(kinds.map(|ns| if total == 0 { 0 } else { (100.0 * ns as f64 / total as f64).round() as u8 }))
    }
}

/// What each CPU did, interval by interval. CPUs that did nothing all the time are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CpuSeries {
    /// Their numbers.
    pub cpus: Vec<u32>,
    /// `[interval][cpu]`, in the order of `cpus`.
    pub shares_pct: Vec<Vec<CpuShares>>,
    /// Interrupts of the whole host, per interval.
    pub interrupts: Vec<u64>,
    /// Context switches of the whole host, per interval.
    pub context_switches: Vec<u64>,
}

/// CPU time of one thread over the window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ThreadCpu {
    /// Name of the thread as the kernel has it (`iou-sqp-123`, `iou-wrk-123`, `fathom-w0`).
    pub name: String,
    /// Whether it is a kernel thread working for the run (iou-sqp, iou-wrk; md in records before `kernel_threads`).
    pub kernel: bool,
    /// User time.
    pub user_ns: u64,
    /// System time.
    pub system_ns: u64,
    /// Time it was ready to run while something else had its CPU; 0 where the kernel does not tell.
    #[serde(default)]
    pub waited_ns: u64,
}

/// CPU time of all other programs over a window, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ProgramsCpu {
    /// User time.
    pub user_ns: u64,
    /// System time.
    pub system_ns: u64,
}

impl ProgramsCpu {
    /// Both kinds together.
    #[must_use]
    pub fn total_ns(self) -> u64 {
        self.user_ns + self.system_ns
    }
}

/// CPU time of the kernel's own threads of one name over the window: one thread (`md0_raid5`, `jbd2/sda1-8`), or all
/// workers that served one work queue (`kcryptd/253:0`, `loop0`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct KernelThreadCpu {
    /// Name of the thread or of the work queue.
    pub name: String,
    /// Threads that used a tenth of a CPU and more, one at least.
    pub threads: u32,
    /// Time on a CPU, all threads together.
    pub busy_ns: u64,
    /// Time that they were ready to run while something else had the CPU; 0 where the kernel does not tell.
    pub waited_ns: u64,
}

/// Kernel's own count for the whole device behind a target (/proc/diskstats) over the window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DiskDelta {
    /// Kernel name, e.g. `nvme0n1`.
    pub device: String,
    /// Reads completed.
    pub read_ios: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Reads merged into others.
    pub read_merges: u64,
    /// Writes completed.
    pub write_ios: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Writes merged into others.
    pub write_merges: u64,
    /// Discards completed.
    pub discard_ios: u64,
    /// Time with at least one I/O in flight.
    pub busy_ns: u64,
    /// Sum over I/Os of their time in the block layer.
    pub weighted_ns: u64,
    /// Flushes that reached the device, as the block layer merged them; `None` where the kernel does not count them (before
    /// Linux 5.5), and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub flushes: Option<FlushDelta>,
    /// Whether the kernel takes the device's cache for a volatile one, and flushes it; `None` where it does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub write_cache: Option<WriteCache>,
    /// Of an array of Linux md: what it does beside the load, before the window or after it; `None` for other devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub md: Option<MdState>,
}

/// The state of an array of Linux md (`md/sync_action`, `md/degraded`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MdState {
    /// What goes over its members; `None`: nothing.
    pub sync: Option<MdSync>,
    /// Members that it lacks.
    pub lost: u32,
}

/// What md does with all of an array, by the kernel's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum MdSync {
    /// Parities or copies are made right.
    Resync,
    /// A new member is filled.
    Recover,
    /// Parities or copies are compared.
    Check,
    /// They are compared and mended.
    Repair,
    /// Level, chunk or members change.
    Reshape,
}

impl MdSync {
    /// All of them.
    pub const ALL: [MdSync; 5] = [MdSync::Resync, MdSync::Recover, MdSync::Check, MdSync::Repair, MdSync::Reshape];

    /// The kernel's word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            MdSync::Resync => "resync",
            MdSync::Recover => "recover",
            MdSync::Check => "check",
            MdSync::Repair => "repair",
            MdSync::Reshape => "reshape",
        }
    }
}

/// Flushes of a device over the window (/proc/diskstats, fields 16 and 17 after the name).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FlushDelta {
    /// Completed.
    pub ios: u64,
    /// Their time, summed.
    pub time_ns: u64,
}

/// `queue/write_cache` of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum WriteCache {
    /// Volatile: what was acknowledged can be lost, unless the kernel flushes it.
    Back,
    /// None, or one that outlives a power cut: the kernel sends no flushes.
    Through,
}

/// Interrupts of one vector of a drive over the window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct VectorDelta {
    /// Number in /proc/interrupts.
    pub irq: u32,
    /// Driver's device: `nvme0`, `virtio1`.
    pub device: String,
    /// I/O queue; `None` for administration and other purposes.
    pub queue: Option<u32>,
    /// Interrupts.
    pub count: u64,
    /// (CPU, interrupts) where there were any.
    pub by_cpu: Vec<(u32, u64)>,
}

/// Differences over the measured window, the whole host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HostDelta {
    /// Time from the first reading of the counters to the last one: what they are rates over.
    pub window_ns: u64,
    /// Length of the window that the I/Os of the step were counted over, which the readings enclose; 0 in records made
    /// before it was kept, where both are the same.
    #[serde(default)]
    pub measured_ns: u64,
    /// Time from before the first reading of the disks to after the last one: what `disks` may hold; 0 in records made
    /// before it was kept.
    #[serde(default)]
    pub disks_ns: u64,
    /// How much of the step's window was over before the first reading, which a busy host may make late: what the
    /// counters may lack.
    #[serde(default)]
    pub missed_ns: u64,
    /// Per CPU: (cpu number, time).
    #[serde(with = "crate::wire::cpu_times")]
    #[cfg_attr(feature = "typescript", ts(as = "Vec<(u32, CpuTime)>"))]
    pub cpus: Vec<(u32, CpuTime)>,
    /// Time of all CPUs together over a window before the run, while Fathom did nothing. Readers subtract it, scaled
    /// to `window_ns`; it is not subtracted here.
    pub idle_baseline: CpuTime,
    /// Length of the baseline window; 0 when none was taken.
    pub idle_baseline_window_ns: u64,
    /// Interrupts in the baseline window, to be subtracted alike.
    #[serde(default)]
    pub idle_baseline_interrupts: u64,
    /// Context switches in the baseline window, to be subtracted alike.
    #[serde(default)]
    pub idle_baseline_context_switches: u64,
    /// Threads of the run, io_uring's among them.
    pub threads: Vec<ThreadCpu>,
    /// Kernel threads of the host that used a hundredth of a CPU and more, whoever they work for.
    #[serde(default)]
    pub kernel_threads: Vec<KernelThreadCpu>,
    /// Time that a CPU limit of the control group stopped threads of this process, summed over CPUs; 0 without a limit.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub throttled_ns: u64,
    /// CPU time of other programs. `None`: the kernel shows no processes, several ranks were merged, or an old record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub other_programs: Option<ProgramsCpu>,
    /// CPU time of other programs in the baseline window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub idle_baseline_programs: Option<ProgramsCpu>,
    /// Interrupts.
    pub interrupts: u64,
    /// Context switches.
    pub context_switches: u64,
    /// Devices behind the targets.
    pub disks: Vec<DiskDelta>,
    /// Devices that those are built on: members of an array, what lies below dm-crypt or LVM.
    #[serde(default)]
    pub members: Vec<DiskDelta>,
    /// Vectors of the drives behind the targets; empty when the kernel shows none, or a CPU came or went.
    #[serde(default)]
    pub vectors: Vec<VectorDelta>,
    /// What the drives behind the targets said of their health; empty where none tells.
    #[serde(default)]
    pub drives: Vec<DriveSeries>,
    /// (CPU, lowest CPU of its core) where siblings share cores; empty where each CPU is a core of its own.
    #[serde(default)]
    pub core_of: Vec<(u32, u32)>,
    /// What each CPU did, interval by interval.
    #[serde(default)]
    pub cpu_series: CpuSeries,
    /// CPU time of the sampler itself between the two readings; part of `cpus`. Readers subtract it as system time, which
    /// nearly all of it is.
    pub sampler_ns: u64,
    /// Per interval, per CPU: busy share in [0, 1]. `[interval][cpu]`, in the order of `cpus`; of several hosts those of the
    /// first ones alone, as many as can be shown.
    pub cpu_busy_by_interval: Vec<Vec<f32>>,
    /// Bytes of the targets' files found in the page cache after the step although O_DIRECT was asked; `None`: not looked.
    pub page_cache_bytes: Option<u64>,
    /// Bytes that the file system gave to the targets' files during the step, warm-up included: writes into space that they
    /// did not have. `None`: no target is a file, or not looked.
    #[serde(default)]
    pub allocated_bytes: Option<u64>,
    /// Network file systems that the targets lie on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub network: Vec<NetworkDelta>,
}

// As serde asks.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl HostDelta {
    /// The same with the baseline of another one: for a baseline that was taken apart from the step.
    #[must_use]
    pub fn with_baseline_of(self, other: &HostDelta) -> HostDelta {
        HostDelta {
            idle_baseline: other.idle_baseline,
            idle_baseline_window_ns: other.idle_baseline_window_ns,
            idle_baseline_interrupts: other.idle_baseline_interrupts,
            idle_baseline_context_switches: other.idle_baseline_context_switches,
            idle_baseline_programs: other.idle_baseline_programs,
            ..self
        }
    }

    /// Forgets what each CPU did interval by interval; what each did in all stays.
    pub fn drop_cpu_rows(&mut self) {
        self.cpu_busy_by_interval = Vec::new();
        (self.cpu_series.cpus, self.cpu_series.shares_pct) = (Vec::new(), Vec::new());
    }

    /// I/Os between the two readings, of `ios` in the measured window.
    #[must_use]
    pub fn ios_between_readings(&self, ios: u64) -> f64 {
        match (self.measured_ns, self.window_ns) {
            (0, _) | (_, 0) => ios as f64,
            (measured, window) => ios as f64 * window as f64 / measured as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_time_is_what_idle_time_leaves_and_keeps_the_shares_of_its_kinds() {
        const MS: u64 = 1_000_000;
        let of = |user: u64, system: u64, idle: u64| CpuTime {
            user_ns: user * MS,
            system_ns: system * MS,
            idle_ns: idle * MS,
            ..CpuTime::default()
        };
        let ticks = CpuTime { iowait_ns: 60 * MS, steal_ns: 20 * MS, ..of(10, 30, 800) };
        let exact = ticks.with_exact_busy_time(1_000 * MS);
        assert_eq!((exact.user_ns, exact.system_ns, exact.busy_ns()), (30 * MS, 90 * MS, 120 * MS));
        assert_eq!((exact.idle_ns, exact.iowait_ns, exact.steal_ns), (800 * MS, 60 * MS, 20 * MS));
        assert_eq!(of(0, 0, 900).with_exact_busy_time(1_000 * MS).busy_ns(), 100 * MS);
        // An idle CPU whose idle time was cut to 10 ms.
        assert_eq!(of(0, 0, 990).with_exact_busy_time(1_005 * MS).busy_ns(), 0);
        // A kernel that counts idle time in ticks as well.
        assert_eq!(of(200, 0, 800).with_exact_busy_time(1_000 * MS), of(200, 0, 800));
        // A CPU that was offline for a while.
        assert_eq!(of(200, 0, 300).with_exact_busy_time(1_000 * MS), of(200, 0, 300));
    }
}
