//! Rules about CPUs: where, how fast, how awake, how many.

use fathom_message::{Message, Quantity, msg};
use fathom_units::format_cpu_list;

use super::{Advice, Context, merged, named, names, note, warning};
use crate::processor::{Frequency, Smt};

/// Waking slower than this is felt beside a fast drive's latency at queue depth 1 (10 to 80 us).
const DEEP_US: u64 = 20;

fn of_cpus(list: &str) -> Message {
    msg!("advice-of-cpus", cpus = list.to_owned())
}

/// The load's CPUs are on other nodes than the drive.
pub(super) fn remote_node(context: &Context<'_>) -> Vec<Advice> {
    let topology = &context.inventory.processors.topology;
    if topology.nodes().len() < 2 {
        return Vec::new();
    }
    let is_loaded = |n: &u32| topology.cpus.iter().any(|c| c.node == *n && context.cpus.contains(&c.id));
    let load: Vec<u32> = topology.nodes().into_iter().filter(is_loaded).collect();
    let found = context.drives.iter().filter_map(|drive| {
        let node = drive.numa_node()?;
        let local = format_cpu_list(&topology.cpus.iter().filter(|c| c.node == node).map(|c| c.id).collect::<Vec<_>>());
        let (at, loaded) = (node.to_string(), format_cpu_list(&load));
        let advice = if !load.contains(&node) {
            let reason = msg!("advice-remote", node = at, load = loaded);
            warning("numa.remote-drive", reason, msg!("advice-remote-effect"))
        } else if load.len() > 1 && context.targets.is_some() {
            let reason = msg!("advice-unbound", node = at, load = loaded);
            note("numa.unbound", reason, msg!("advice-unbound-effect"))
        } else {
            return None;
        };
        Some((named(drive), advice.remedy(msg!("advice-local-remedy", cpus = local))))
    });
    merged(found)
}

/// A governor that holds the clock down.
pub(super) fn powersave(context: &Context<'_>) -> Vec<Advice> {
    let is_slow = |f: &&Frequency| {
        f.governor.as_deref() == Some("powersave") && f.energy_preference.as_deref() != Some("performance")
    };
    let advice = |f: &Frequency| {
        let driver = f.driver.clone().unwrap_or_else(|| "?".to_owned());
        // These drivers mean by powersave that the hardware picks, guided by the energy preference.
        let picks = ["intel_pstate", "amd-pstate-epp", "amd_pstate_epp"].iter().any(|d| driver.starts_with(d));
        let (reason, effect) = match (picks, f.energy_preference.clone()) {
            (true, Some(preference)) => (
                msg!("advice-powersave-preference", driver = driver, preference = preference),
                msg!("advice-powersave-picks-effect"),
            ),
            (true, None) => (msg!("advice-powersave", driver = driver), msg!("advice-powersave-picks-effect")),
            (false, _) => (msg!("advice-powersave-lowest", driver = driver), msg!("advice-powersave-lowest-effect")),
        };
        let advice = warning("cpu.powersave", reason, effect).about(vec![of_cpus(&f.cpus)]);
        advice.remedy(msg!("advice-powersave-remedy"))
    };
    context.inventory.processors.frequency.iter().filter(is_slow).map(advice).collect()
}

/// Sleeping cores answer late.
pub(super) fn deep_idle(context: &Context<'_>) -> Vec<Advice> {
    let states = context.inventory.processors.idle.iter();
    let Some(deepest) = states.filter(|s| !s.disabled && s.exit_latency_us > DEEP_US).max_by_key(|s| s.exit_latency_us)
    else {
        return Vec::new();
    };
    let exit = Quantity::ns(deepest.exit_latency_us as f64 * 1e3);
    let reason = msg!("advice-deep-idle", state = &deepest.name, exit = exit);
    let advice = note("cpu.deep-idle", reason, msg!("advice-deep-idle-effect", exit = exit));
    let remedy = msg!("advice-deep-idle-remedy", us = DEEP_US.to_string());
    vec![advice.about(vec![of_cpus(&deepest.cpus)]).remedy(remedy)]
}

/// Reading the time is a system call or a port read.
pub(super) fn slow_clock(context: &Context<'_>) -> Vec<Advice> {
    let fast = ["tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page", "xen", "riscv_clocksource"];
    let source = context.inventory.processors.clocksource.as_deref().filter(|c| !fast.contains(c));
    let advice = |name: &str| {
        let reason = msg!("advice-slow-clock", clock = name.to_owned());
        warning("cpu.slow-clock", reason, msg!("advice-slow-clock-effect")).remedy(msg!("advice-slow-clock-remedy"))
    };
    source.map(advice).into_iter().collect()
}

/// Siblings share a core.
pub(super) fn smt_on(context: &Context<'_>) -> Vec<Advice> {
    let cpus = &context.inventory.processors;
    if cpus.smt != Smt::On {
        return Vec::new();
    }
    let reason = msg!("advice-smt-on", cpus = cpus.topology.cpus.len(), cores = cpus.cores);
    vec![note("cpu.smt-on", reason, msg!("advice-smt-on-effect")).remedy(msg!("advice-smt-on-remedy"))]
}

/// Siblings are there, but off.
pub(super) fn smt_off(context: &Context<'_>) -> Vec<Advice> {
    let cpus = &context.inventory.processors;
    if cpus.smt != Smt::Off {
        return Vec::new();
    }
    let reason = msg!("advice-smt-off", cpus = cpus.cores);
    vec![note("cpu.smt-off", reason, msg!("advice-smt-off-effect")).remedy(msg!("advice-smt-off-remedy"))]
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
    let reason = match context.inventory.kernel_option("iommu.strict") {
        Some(_) => msg!("advice-iommu-asked"),
        None => msg!("advice-iommu"),
    };
    let advice = warning("iommu.strict", reason, msg!("advice-iommu-effect"));
    vec![advice.about(names(strict)).remedy(msg!("advice-iommu-remedy"))]
}

/// A control group holds the CPU time down.
pub(super) fn cgroup_cpu(context: &Context<'_>) -> Vec<Advice> {
    let cpus = context.cpus.len();
    let limit = context.inventory.limits.cpu_max.filter(|max| *max < cpus as f64);
    let advice = |max: f64| {
        let reason = msg!("advice-cgroup-cpu", limit = Quantity::cores(max), cpus = cpus);
        warning("limit.cgroup-cpu", reason, msg!("advice-cgroup-cpu-effect")).remedy(msg!("advice-cgroup-cpu-remedy"))
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
    let list = format_cpu_list(&allowed);
    let reason = msg!("advice-cpuset", allowed = allowed.len(), all = all, list = list);
    vec![note("limit.cpuset", reason, msg!("advice-cpuset-effect"))]
}

#[cfg(test)]
mod tests {
    use crate::advice::Subject;
    use crate::advice::testing::{effect, ids, ids_for, reason, subjects};
    use crate::machines::Machine;

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
        assert!(reason(&machine, "cpu.powersave").contains("the lowest clock"));
        machine.for_each_cpu("cpufreq/scaling_driver", "intel_pstate\n");
        assert!(effect(&machine, "cpu.powersave").contains("follows the load"));
        machine.for_each_cpu("cpufreq/energy_performance_preference", "performance\n");
        assert!(!has(&machine, "cpu.powersave"));
    }

    #[test]
    fn deep_idle_states_count_unless_they_are_disabled() {
        let machine = with_drive(1, 0);
        machine.idle_state(1, "C1", 2).idle_state(2, "C6", 133);
        assert!(effect(&machine, "cpu.deep-idle").contains("133 us"));
        machine.for_each_cpu("cpuidle/state2/disable", "1\n");
        assert!(!has(&machine, "cpu.deep-idle"));
    }

    #[test]
    fn a_slow_clock_is_found_and_tsc_is_not() {
        let machine = with_drive(1, 0);
        let file = "sys/devices/system/clocksource/clocksource0/current_clocksource";
        machine.file(file, "acpi_pm\n");
        assert!(reason(&machine, "cpu.slow-clock").contains("acpi_pm"));
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
        assert_eq!(subjects(&machine, "iommu.strict"), ["nvme0n1"]);
        machine.iommu_group("0000:11:00.0", 7, "DMA-FQ");
        assert!(!has(&machine, "iommu.strict"));
    }

    #[test]
    fn a_quota_below_the_cpus_is_found_and_one_above_is_not() {
        let machine = with_drive(1, 0);
        machine.file("proc/self/cgroup", "0::/x\n").file("proc/self/mountinfo", "31 1 0:28 / /cg rw - cgroup2 c rw\n");
        machine.file("cg/x/cpu.max", "150000 100000\n");
        assert!(reason(&machine, "limit.cgroup-cpu").contains("1.50 CPUs of time on 4"));
        machine.file("cg/x/cpu.max", "800000 100000\n");
        assert!(!has(&machine, "limit.cgroup-cpu"));
    }

    #[test]
    fn cpus_out_of_reach_are_noted() {
        let machine = with_drive(1, 0);
        assert!(!has(&machine, "limit.cpuset"));
        machine.file("proc/self/status", "Cpus_allowed_list:\t0-1\n");
        assert!(reason(&machine, "limit.cpuset").contains("2 of 4 CPUs (0-1)"));
    }
}
