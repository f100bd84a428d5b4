//! Rules about CPUs: where, how fast, how awake, how many.

use fathom_units::{format_cpu_list, format_significant};

use super::{Advice, Context, by_words, names, note, warning};
use crate::inspect::processor::Smt;

/// Waking slower than this is felt beside a fast drive's latency at queue depth 1 (10 to 80 us).
const DEEP_US: u64 = 20;

/// The load's CPUs are on other nodes than the drive.
pub(super) fn remote_node(context: &Context<'_>) -> Vec<Advice> {
    let topology = &context.inventory.processors.topology;
    if topology.nodes().len() < 2 {
        return Vec::new();
    }
    let nodes: Vec<u32> = topology.nodes();
    let load: Vec<u32> = nodes
        .into_iter()
        .filter(|n| topology.cpus.iter().any(|c| c.node == *n && context.cpus.contains(&c.id)))
        .collect();
    let found = context.drives.iter().filter_map(|drive| {
        let node = drive.numa_node()?;
        let local = format_cpu_list(&topology.cpus.iter().filter(|c| c.node == node).map(|c| c.id).collect::<Vec<_>>());
        let advice = if !load.contains(&node) {
            let reason = format!("it hangs on node {node}; the load may run on node {} only", format_cpu_list(&load));
            let effect = "each I/O crosses the link between the nodes: longer latency, and all remote I/O shares that link; local and remote placement measure by how much";
            warning("numa.remote-drive", reason, effect)
        } else if load.len() > 1 && context.targets.is_some() {
            let reason = format!("it hangs on node {node}, and the load may run on nodes {}", format_cpu_list(&load));
            note("numa.unbound", reason, "runs differ by the node the scheduler picks; bound to its node they repeat")
        } else {
            return None;
        };
        Some((drive.device.name.clone(), advice.remedy(format!("--placement local (CPUs {local})"))))
    });
    by_words(found)
}

/// A governor that holds the clock down.
pub(super) fn powersave(context: &Context<'_>) -> Vec<Advice> {
    let groups = context.inventory.processors.frequency.iter();
    groups
        .filter(|f| f.governor.as_deref() == Some("powersave") && f.energy_preference.as_deref() != Some("performance"))
        .map(|f| {
            let driver = f.driver.as_deref().unwrap_or("unknown");
            // These drivers mean by powersave that the hardware picks, guided by the energy preference.
            let picks = driver.starts_with("intel_pstate") || driver.starts_with("amd-pstate-epp") || driver.starts_with("amd_pstate_epp");
            let (reason, effect) = if picks {
                let preference = f.energy_preference.as_deref().unwrap_or("default");
                (
                    format!("governor powersave of {driver}, energy preference {preference}"),
                    "the clock follows the load with delay: light loads (queue depth 1) see slower cores and latencies that repeat less well",
                )
            } else {
                (
                    format!("governor powersave of {driver}: the lowest clock"),
                    "cost per I/O grows as the clock falls; IOPS of a busy core rise in proportion to it",
                )
            };
            warning("cpu.powersave", reason, effect)
                .about(vec![format!("CPUs {}", f.cpus)])
                .remedy("cpupower frequency-set -g performance")
        })
        .collect()
}

/// Sleeping cores answer late.
pub(super) fn deep_idle(context: &Context<'_>) -> Vec<Advice> {
    let states = context.inventory.processors.idle.iter();
    let Some(deepest) = states.filter(|s| !s.disabled && s.exit_latency_us > DEEP_US).max_by_key(|s| s.exit_latency_us)
    else {
        return Vec::new();
    };
    let reason = format!("idle state {} is allowed and takes {} us to leave", deepest.name, deepest.exit_latency_us);
    let effect = format!(
        "at queue depth 1 a core that waits for its I/O may sleep: up to {} us on top of the drive's latency",
        deepest.exit_latency_us
    );
    vec![
        note("cpu.deep-idle", reason, effect)
            .about(vec![format!("CPUs {}", deepest.cpus)])
            .remedy(format!("while measuring: cpupower idle-set -D {DEEP_US}")),
    ]
}

/// Reading the time is a system call or a port read.
pub(super) fn slow_clock(context: &Context<'_>) -> Vec<Advice> {
    let fast = ["tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page", "xen", "riscv_clocksource"];
    let source = context.inventory.processors.clocksource.as_deref().filter(|c| !fast.contains(c));
    let advice = |name: &str| {
        let effect =
            "each time stamp costs about a microsecond instead of some 20 ns, in every program that reads the time";
        warning("cpu.slow-clock", format!("clock source {name}"), effect)
            .remedy("see the kernel log for why tsc was rejected; boot with tsc=reliable where it is sound")
    };
    source.map(advice).into_iter().collect()
}

/// Siblings share a core.
pub(super) fn smt_on(context: &Context<'_>) -> Vec<Advice> {
    let cpus = &context.inventory.processors;
    if cpus.smt != Smt::On {
        return Vec::new();
    }
    let reason = format!("SMT is on: {} CPUs on {} cores", cpus.topology.cpus.len(), cpus.cores);
    let effect = "two threads on one core together do about 1.6 times the I/O of one, not twice; figures per core and per CPU differ";
    vec![note("cpu.smt-on", reason, effect).remedy("--placement cores and --placement smt measure both")]
}

/// Siblings are there, but off.
pub(super) fn smt_off(context: &Context<'_>) -> Vec<Advice> {
    let cpus = &context.inventory.processors;
    if cpus.smt != Smt::Off {
        return Vec::new();
    }
    let reason = format!("SMT is off: {} CPUs, one per core", cpus.cores);
    let effect = "steadier latencies; with all cores busy on I/O, SMT would give about 1.6 times their throughput";
    vec![
        note("cpu.smt-off", reason, effect)
            .remedy("echo on > /sys/devices/system/cpu/smt/control, if the firmware allows it"),
    ]
}

/// Every I/O maps and unmaps its buffers, waiting for the IOMMU.
pub(super) fn iommu_strict(context: &Context<'_>) -> Vec<Advice> {
    let pcie = &context.inventory.pcie;
    let is_strict = |address: &String| pcie.find(address).and_then(|f| f.iommu.as_deref()) == Some("DMA");
    let strict: Vec<_> =
        context.drives.iter().copied().filter(|d| d.pci_address.as_ref().is_some_and(is_strict)).collect();
    if strict.is_empty() {
        return Vec::new();
    }
    let asked = context.inventory.kernel_option("iommu.strict").map_or("", |_| " (iommu.strict on the command line)");
    let effect = "each I/O waits until its mapping is flushed; with deep queues on many cores they wait for each other. Lazy flushing costs less, passthrough nothing";
    vec![
        warning("iommu.strict", format!("their IOMMU domain is strict{asked}"), effect)
            .about(names(strict))
            .remedy("boot with iommu.strict=0 or iommu=pt, where devices are trusted"),
    ]
}

/// A control group holds the CPU time down.
pub(super) fn cgroup_cpu(context: &Context<'_>) -> Vec<Advice> {
    let cpus = context.cpus.len() as f64;
    let limit = context.inventory.limits.cpu_max.filter(|max| *max < cpus);
    let advice = |max: f64| {
        let reason = format!("the control group gives {} CPUs of time on {cpus} CPUs", format_significant(max));
        let effect = "above that all threads stop until the next period (usually 100 ms): a ceiling on IOPS, and tails of tens of milliseconds";
        warning("limit.cgroup-cpu", reason, effect).remedy("raise cpu.max of the group, or measure outside it")
    };
    limit.map(advice).into_iter().collect()
}

/// This process may not use all CPUs.
pub(super) fn cpuset(context: &Context<'_>) -> Vec<Advice> {
    let all = context.inventory.processors.topology.cpus.len();
    let allowed = context.inventory.processors.allowed();
    if allowed.len() == all || allowed.is_empty() {
        return Vec::new();
    }
    let reason = format!("this process may run on {} of {all} CPUs ({})", allowed.len(), format_cpu_list(&allowed));
    vec![note("limit.cpuset", reason, "what all cores could do cannot be measured from here")]
}

#[cfg(test)]
mod tests {
    use crate::inspect::advice::Subject;
    use crate::inspect::advice::testing::{ids, ids_for, the};
    use crate::inspect::machines::Machine;

    fn has(machine: &Machine, id: &str) -> bool {
        ids(machine).iter().any(|i| i == id)
    }

    fn with_drive(sockets: u32, node: u32) -> Machine {
        let mut machine = Machine::server(sockets, 4, 1);
        machine.drive_on_port("0000:10", node, (4, 4), (4, 4), (4, 4));
        machine
    }

    #[test]
    fn a_drive_is_remote_when_the_load_is_on_the_other_node() {
        let machine = with_drive(2, 1);
        let on = |cpus: &[u32]| {
            let subject = Subject { targets: Some(vec!["nvme0n1".into()]), cpus: cpus.to_vec() };
            ids_for(&machine, &subject).into_iter().filter(|i| i.starts_with("numa")).collect::<Vec<_>>()
        };
        assert_eq!(on(&[0, 1]), ["numa.remote-drive"]);
        assert_eq!(on(&[4, 5]), [] as [&str; 0]);
        assert_eq!(on(&[]), ["numa.unbound"]);
        assert!(!has(&machine, "numa.unbound"), "nobody said what will be measured");
    }

    #[test]
    fn powersave_is_found_and_performance_is_not() {
        let machine = with_drive(1, 0);
        assert!(!has(&machine, "cpu.powersave"));
        machine.for_each_cpu("cpufreq/scaling_governor", "powersave\n");
        assert!(the(&machine, "cpu.powersave").reason.contains("the lowest clock"));
        machine.for_each_cpu("cpufreq/scaling_driver", "intel_pstate\n");
        assert!(the(&machine, "cpu.powersave").effect.contains("follows the load"));
        machine.for_each_cpu("cpufreq/energy_performance_preference", "performance\n");
        assert!(!has(&machine, "cpu.powersave"));
    }

    #[test]
    fn deep_idle_states_count_unless_they_are_disabled() {
        let machine = with_drive(1, 0);
        machine.idle_state(1, "C1", 2).idle_state(2, "C6", 133);
        assert!(the(&machine, "cpu.deep-idle").effect.contains("133 us"));
        machine.for_each_cpu("cpuidle/state2/disable", "1\n");
        assert!(!has(&machine, "cpu.deep-idle"));
    }

    #[test]
    fn a_slow_clock_is_found_and_tsc_is_not() {
        let machine = with_drive(1, 0);
        let file = "sys/devices/system/clocksource/clocksource0/current_clocksource";
        machine.file(file, "acpi_pm\n");
        assert!(the(&machine, "cpu.slow-clock").reason.contains("acpi_pm"));
        machine.file(file, "tsc\n");
        assert!(!has(&machine, "cpu.slow-clock"));
    }

    #[test]
    fn smt_is_noted_on_or_off_and_not_where_there_is_none() {
        let smt = |machine: &Machine| ids(machine).into_iter().filter(|i| i.contains("smt")).collect::<Vec<_>>();
        assert_eq!(smt(&Machine::server(1, 4, 2)), ["cpu.smt-on"]);
        let off = Machine::server(1, 4, 1);
        off.file("sys/devices/system/cpu/smt/control", "off\n");
        assert_eq!(smt(&off), ["cpu.smt-off"]);
        let none = Machine::server(1, 4, 1);
        none.file("sys/devices/system/cpu/smt/control", "notsupported\n");
        assert_eq!(smt(&none), [] as [&str; 0]);
    }

    #[test]
    fn a_strict_iommu_is_found_and_a_lazy_one_is_not() {
        let machine = with_drive(1, 0);
        machine.iommu_group("0000:11:00.0", 7, "DMA");
        assert_eq!(the(&machine, "iommu.strict").subjects, ["nvme0n1"]);
        machine.iommu_group("0000:11:00.0", 7, "DMA-FQ");
        assert!(!has(&machine, "iommu.strict"));
    }

    #[test]
    fn a_quota_below_the_cpus_is_found_and_one_above_is_not() {
        let machine = with_drive(1, 0);
        machine.file("proc/self/cgroup", "0::/x\n").file("proc/self/mountinfo", "31 1 0:28 / /cg rw - cgroup2 c rw\n");
        machine.file("cg/x/cpu.max", "150000 100000\n");
        assert!(the(&machine, "limit.cgroup-cpu").reason.contains("1.50 CPUs of time on 4"));
        machine.file("cg/x/cpu.max", "800000 100000\n");
        assert!(!has(&machine, "limit.cgroup-cpu"));
    }

    #[test]
    fn cpus_out_of_reach_are_noted() {
        let machine = with_drive(1, 0);
        assert!(!has(&machine, "limit.cpuset"));
        machine.file("proc/self/status", "Cpus_allowed_list:\t0-1\n");
        assert!(the(&machine, "limit.cpuset").reason.contains("2 of 4 CPUs (0-1)"));
    }
}
