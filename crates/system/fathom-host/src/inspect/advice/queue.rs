//! Rules about queues and their interrupts.

use super::{Advice, Context, by_words, names, note, warning};

/// Every I/O queue of a drive interrupts the same CPU.
pub(super) fn interrupts_on_one_core(context: &Context<'_>) -> Vec<Advice> {
    if context.inventory.processors.topology.cpus.len() < 2 {
        return Vec::new();
    }
    let found = context.drives.iter().filter_map(|drive| {
        let device = drive.interrupt_device.as_deref()?;
        let cpus: Vec<&str> =
            context.inventory.interrupts.io_vectors(device).filter_map(|v| v.effective.as_deref()).collect();
        let (first, rest) = cpus.split_first()?;
        let same = !rest.is_empty() && rest.iter().all(|c| c == first) && first.bytes().all(|b| b.is_ascii_digit());
        same.then(|| {
            let reason = format!("the interrupts of all {} queues go to CPU {first}", cpus.len());
            let effect = format!("completions of all threads wait for CPU {first}; spread, each core takes its own");
            let remedy = "let the driver place them (managed interrupts), or write one CPU each to /proc/irq/N/smp_affinity_list";
            (drive.device.name.clone(), warning("irq.one-core", reason, effect).remedy(remedy))
        })
    });
    by_words(found)
}

/// Cores share a queue.
pub(super) fn fewer_than_cores(context: &Context<'_>) -> Vec<Advice> {
    let cores = context.inventory.processors.cores;
    let found = context.drives.iter().filter(|d| d.pci_address.is_some()).filter_map(|drive| {
        let queues = drive.interrupt_queues().filter(|q| *q > 0 && *q < cores)?;
        let reason = format!("{queues} I/O {} for {cores} cores", if queues == 1 { "queue" } else { "queues" });
        let effect =
            "cores that share a queue take turns at its lock and its interrupt; it shows from several busy threads on";
        Some((drive.device.name.clone(), note("queues.fewer-than-cores", reason, effect)))
    });
    by_words(found)
}

/// NVMe drives without poll queues.
pub(super) fn no_poll_queues(context: &Context<'_>) -> Vec<Advice> {
    let without: Vec<_> = context.local_nvme().filter(|d| d.poll_queues() == Some(0)).collect();
    if without.is_empty() {
        return Vec::new();
    }
    let effect = "polled completion saves the interrupt and the wake-up: about 2 us of each I/O at queue depth 1, for a core that is always busy";
    let remedy = "boot with nvme.poll_queues=N, one per core that will poll (then --mode iopoll)";
    vec![
        note("queues.no-poll", "no poll queues, so that I/O cannot be polled".to_owned(), effect)
            .about(names(without))
            .remedy(remedy),
    ]
}

/// The daemon moves interrupts while one measures.
pub(super) fn irqbalance(context: &Context<'_>) -> Vec<Advice> {
    if !context.inventory.interrupts.irqbalance {
        return Vec::new();
    }
    // The kernel places the interrupts of nvme queues itself and lets nobody move them.
    let movable: Vec<_> = context
        .drives
        .iter()
        .copied()
        .filter(|d| d.interrupt_device.is_some() || d.pci_address.is_some())
        .filter(|d| !d.is_local_nvme())
        .collect();
    let (reason, effect) = if movable.is_empty() {
        (
            "irqbalance runs; it cannot move the queues of NVMe drives, but those of network cards and others",
            "now and then other work lands on a CPU that is measured: a few long latencies, results that repeat less well",
        )
    } else {
        (
            "irqbalance runs and may move these drives' interrupts",
            "results change in the middle of a run when it moves one",
        )
    };
    vec![
        note("irq.irqbalance", reason.to_owned(), effect)
            .about(names(movable))
            .remedy("stop it while measuring: systemctl stop irqbalance"),
    ]
}

#[cfg(test)]
mod tests {
    use crate::inspect::advice::testing::{ids, the};
    use crate::inspect::machines::Machine;

    fn has(machine: &Machine, id: &str) -> bool {
        ids(machine).iter().any(|i| i == id)
    }

    #[test]
    fn queues_that_all_interrupt_one_cpu_are_found_and_spread_ones_are_not() {
        let mut machine = Machine::server(1, 4, 1);
        machine.drive_on_port("0000:10", 0, (4, 4), (4, 4), (4, 4));
        assert!(!has(&machine, "irq.one-core"));
        machine.steer_all_interrupts_to(2);
        assert!(the(&machine, "irq.one-core").reason.contains("all 4 queues go to CPU 2"));
    }

    #[test]
    fn fewer_queues_than_cores_are_noted_and_as_many_are_not() {
        let mut machine = Machine::server(1, 4, 2);
        machine.drive_on_port("0000:10", 0, (4, 4), (4, 4), (4, 4));
        assert!(!has(&machine, "queues.fewer-than-cores"));
        let mut machine = Machine::server(1, 4, 2);
        machine.queues_per_drive = Some(3);
        machine.drive_on_port("0000:10", 0, (4, 4), (4, 4), (4, 4));
        assert_eq!(the(&machine, "queues.fewer-than-cores").reason, "3 I/O queues for 4 cores");
    }

    #[test]
    fn poll_queues_are_missed_where_there_are_none() {
        let mut machine = Machine::server(1, 4, 1);
        machine.drive_on_port("0000:10", 0, (4, 4), (4, 4), (4, 4));
        assert_eq!(the(&machine, "queues.no-poll").subjects, ["nvme0n1"]);
        let mut machine = Machine::server(1, 4, 1);
        machine.poll_queues = 2;
        machine.drive_on_port("0000:10", 0, (4, 4), (4, 4), (4, 4));
        assert!(!has(&machine, "queues.no-poll"));
    }

    #[test]
    fn irqbalance_is_noted_while_it_runs() {
        let mut machine = Machine::server(1, 4, 1);
        machine.drive_on_port("0000:10", 0, (4, 4), (4, 4), (4, 4));
        assert!(!has(&machine, "irq.irqbalance"));
        machine.file("proc/812/comm", "irqbalance\n");
        assert!(the(&machine, "irq.irqbalance").reason.contains("cannot move"));
    }
}
