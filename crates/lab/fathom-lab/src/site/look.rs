//! A look at the host before anything is measured: what other work there is.

use std::time::Duration;

use fathom_host::{HostSampler, ProbeError, Root};

/// Share of the CPUs busy with other work from which on rates are lower bounds.
const BUSY_SHARE: f64 = 0.10;
/// The same of time taken by the hypervisor.
const STOLEN_SHARE: f64 = 0.02;

/// Load of the host while Fathom does nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostLook {
    /// CPUs busy with other work.
    pub busy_cores: f64,
    /// Online.
    pub cpus: u32,
    /// Share of all CPU time that the hypervisor took, in [0, 1].
    pub stolen_share: f64,
    /// Times that CPUs slowed down because of heat meanwhile; 0 where the processor does not tell.
    pub slowdowns: u64,
}

impl HostLook {
    /// Whether it leaves the storage to us: less is busy and stolen than a measurement notices.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.busy_cores < BUSY_SHARE * f64::from(self.cpus) && self.stolen_share < STOLEN_SHARE && self.slowdowns == 0
    }
}

/// Samples the load of this host for `time`.
///
/// # Errors
/// [`ProbeError`].
pub fn look_at_host(time: Duration) -> Result<HostLook, ProbeError> {
    let root = Root::live();
    let before = slowdowns(&root);
    let mut sampler = HostSampler::new(&root, Vec::new())?;
    sampler.take_baseline(time)?;
    sampler.begin()?;
    let host = sampler.finish(1)?;
    let window_ns = host.idle_baseline_window_ns.max(1) as f64;
    // A kernel without counters of CPUs would have failed above.
    let cpus = u32::try_from(host.cpus.len()).unwrap_or(u32::MAX).max(1);
    Ok(HostLook {
        busy_cores: host.idle_baseline.busy_ns() as f64 / window_ns,
        cpus,
        stolen_share: host.idle_baseline.steal_ns as f64 / window_ns / f64::from(cpus),
        slowdowns: slowdowns(&root).saturating_sub(before),
    })
}

/// How often CPUs slowed down because of heat since the start of the system.
fn slowdowns(root: &Root) -> u64 {
    const CPUS: &str = "sys/devices/system/cpu";
    let of_cpu = |cpu: &String| {
        root.attribute(format!("{CPUS}/{cpu}/thermal_throttle/core_throttle_count"))?.trim().parse::<u64>().ok()
    };
    root.names(CPUS).iter().filter_map(of_cpu).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_is_little_busy_little_stolen_and_cool() {
        let idle = HostLook { busy_cores: 0.1, cpus: 2, stolen_share: 0.001, slowdowns: 0 };
        assert!(idle.is_idle());
        assert!(!HostLook { busy_cores: 0.3, ..idle }.is_idle());
        assert!(!HostLook { stolen_share: 0.05, ..idle }.is_idle());
        assert!(!HostLook { slowdowns: 1, ..idle }.is_idle());
    }

    #[test]
    fn a_thread_that_spins_is_seen() {
        let stop = std::sync::atomic::AtomicBool::new(false);
        let busy = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let look = look_at_host(Duration::from_secs(1));
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            look
        });
        let busy = busy.expect("a host");
        // On a host that others fill the spinning thread may get little of a CPU, but then the others are busy.
        assert!(busy.busy_cores > 0.3 || busy.stolen_share > 0.3, "{busy:?}");
        assert!(!busy.is_idle() || busy.cpus > 8, "{busy:?}");
    }
}
