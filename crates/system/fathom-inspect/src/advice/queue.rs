//! Rules about queues and their interrupts.

use fathom_message::msg;

use super::{Advice, Context, merged, named, names, note, warning};

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
            let cpu = (*first).to_owned();
            let reason = msg!("advice-one-core", queues = cpus.len(), cpu = cpu.clone());
            let advice = warning("irq.one-core", reason, msg!("advice-one-core-effect", cpu = cpu));
            (named(drive), advice.remedy(msg!("advice-one-core-remedy")))
        })
    });
    merged(found)
}

/// Cores share a queue.
pub(super) fn fewer_than_cores(context: &Context<'_>) -> Vec<Advice> {
    let cores = context.inventory.processors.cores;
    let found = context.drives.iter().filter(|d| d.pci_address.is_some()).filter_map(|drive| {
        let queues = drive.interrupt_queues().filter(|q| *q > 0 && *q < cores)?;
        let reason = msg!("advice-few-queues", queues = queues, cores = cores);
        Some((named(drive), note("queues.fewer-than-cores", reason, msg!("advice-few-queues-effect"))))
    });
    merged(found)
}

/// NVMe drives without poll queues.
pub(super) fn no_poll_queues(context: &Context<'_>) -> Vec<Advice> {
    let without: Vec<_> = context.local_nvme().filter(|d| d.poll_queues() == Some(0)).collect();
    if without.is_empty() {
        return Vec::new();
    }
    let advice = note("queues.no-poll", msg!("advice-no-poll"), msg!("advice-no-poll-effect"));
    vec![advice.about(names(without)).remedy(msg!("advice-no-poll-remedy"))]
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
    let (reason, effect) = match movable[..] {
        [] => (msg!("advice-irqbalance-others"), msg!("advice-irqbalance-others-effect")),
        _ => (msg!("advice-irqbalance-drives"), msg!("advice-irqbalance-drives-effect")),
    };
    vec![note("irq.irqbalance", reason, effect).about(names(movable)).remedy(msg!("advice-irqbalance-remedy"))]
}

#[cfg(test)]
mod tests {
    use crate::advice::testing::{ids, reason, subjects};
    use crate::machines::Machine;

    fn has(machine: &Machine, id: &str) -> bool {
        ids(machine).iter().any(|i| i == id)
    }

    #[test]
    fn queues_that_all_interrupt_one_cpu_are_found_and_spread_ones_are_not() {
        let mut machine = Machine::server(1, 4, 1);
        machine.drive_on_port("0000:10", 0, (4, 4), (4, 4), (4, 4));
        assert!(!has(&machine, "irq.one-core"));
        machine.steer_all_interrupts_to(2);
        assert!(reason(&machine, "irq.one-core").contains("all 4 queues go to CPU 2"));
    }

    #[test]
    fn fewer_queues_than_cores_are_noted_and_as_many_are_not() {
        let mut machine = Machine::server(1, 4, 2);
        machine.drive_on_port("0000:10", 0, (4, 4), (4, 4), (4, 4));
        assert!(!has(&machine, "queues.fewer-than-cores"));
        let mut machine = Machine::server(1, 4, 2);
        machine.queues_per_drive = Some(3);
        machine.drive_on_port("0000:10", 0, (4, 4), (4, 4), (4, 4));
        assert_eq!(reason(&machine, "queues.fewer-than-cores"), "3 I/O queues for 4 cores");
    }

    #[test]
    fn poll_queues_are_missed_where_there_are_none() {
        let mut machine = Machine::server(1, 4, 1);
        machine.drive_on_port("0000:10", 0, (4, 4), (4, 4), (4, 4));
        assert_eq!(subjects(&machine, "queues.no-poll"), ["nvme0n1"]);
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
        assert!(reason(&machine, "irq.irqbalance").contains("cannot move"));
    }
}
