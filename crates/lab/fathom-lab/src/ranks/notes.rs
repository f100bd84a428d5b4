//! What is said of the ranks of a step.

use fathom_message::{Arg, Join, Message, Quantity, msg};
use fathom_record::{MachineTrait, StepRecord, ValueOnHosts, Warning, machine_differences};

/// Hosts named one by one at most.
const HOSTS_NAMED: usize = 8;

fn shortened(hosts: &[String]) -> String {
    let mut named = hosts.iter().take(HOSTS_NAMED).cloned().collect::<Vec<_>>();
    if hosts.len() > HOSTS_NAMED {
        named.push(format!("+{}", hosts.len() - HOSTS_NAMED));
    }
    named.join(", ")
}

fn trait_message(of: MachineTrait) -> Message {
    match of {
        MachineTrait::CpuModel => msg!("ranks-trait-cpu-model"),
        MachineTrait::Cpus => msg!("ranks-trait-cpus"),
        MachineTrait::Memory => msg!("ranks-trait-memory"),
        MachineTrait::Kernel => msg!("ranks-trait-kernel"),
        MachineTrait::Governor => msg!("ranks-trait-governor"),
        MachineTrait::Clocksource => msg!("ranks-trait-clocksource"),
    }
}

/// Adds what a reader must know of the ranks.
pub(super) fn note(record: &mut StepRecord) {
    let Some(ranks) = &record.ranks else { return };
    let mut notes = Vec::new();
    for lost in &ranks.lost {
        notes.push(msg!("ranks-lost", rank = lost.rank, host = lost.host.clone(), why = &lost.why));
    }
    for (what, values) in machine_differences(&ranks.machines) {
        let value = |(value, hosts): &ValueOnHosts| {
            let value = if value.is_empty() { "-" } else { value };
            Message::verbatim(format!("{value} ({})", shortened(hosts)))
        };
        let values = Arg::list(values.iter().map(value), Join::Semicolon);
        notes.push(msg!("ranks-hosts-differ", what = trait_message(what), values = values));
    }
    if ranks.is_cut {
        let time = Quantity::duration_ns(ranks.together_ns);
        notes.push(msg!("ranks-cut", time = time));
    }
    if let Some((slowest, share)) = ranks.straggler() {
        let pct = Quantity::pct(100.0 * share);
        notes.push(msg!("ranks-straggler", rank = slowest.rank, host = slowest.host.clone(), share = pct));
    }
    record.warnings.extend(notes.into_iter().map(|text| Warning::Note { text }));
}
