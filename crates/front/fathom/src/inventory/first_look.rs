//! The machine as it is looked at first: what it is, what speaks against it, and what to do about it.

use fathom_inspect::{Advice, FIXABLE, Inventory, Severity};
use fathom_language::english;

use crate::answer::next;
use crate::terminal::fill;

use super::subjects;

/// Pieces of advice that are shown: with the sentence, the machine and the command they make six lines.
const SHOWN: usize = 3;

/// The first look; `all`: the command that shows the rest. All texts are safe to print.
pub(crate) fn first_look(inventory: &Inventory, advice: &[Advice], all: &str) -> String {
    let count = |severity| advice.iter().filter(|a| a.severity == severity).count();
    let (warnings, notes) = (count(Severity::Warning), count(Severity::Note));
    let found: Vec<String> = [(warnings, "warning", "warnings"), (notes, "note", "notes")]
        .into_iter()
        .filter(|(count, _, _)| *count > 0)
        .map(|(count, one, several)| counted(count, one, several))
        .collect();
    let headline = match found.is_empty() {
        true => "No rule found anything to change.".to_owned(),
        false => format!("{} on this machine.", found.join(" and ")),
    };
    let mut text = fill(&headline, "");
    for one in advice.iter().take(SHOWN) {
        let names = subjects(&one.subjects.iter().map(english).collect::<Vec<_>>());
        let about = if names.is_empty() { String::new() } else { format!("{names}: ") };
        text.push_str(&fill(&format!("{about}{}", english(&one.reason)), "  "));
    }
    if advice.len() > SHOWN {
        text.truncate(text.trim_end().len());
        text.push_str(&format!("  (+{})\n", advice.len() - SHOWN));
    }
    text.push_str(&fill(&machine(inventory), ""));
    let is_fixable = advice.iter().any(|a| FIXABLE.contains(&a.id.as_str()));
    text.push_str(&match is_fixable {
        true => next("fathom inspect --fix", &format!("shows what it would change, and asks; all of it: {all}")),
        false => next(all, "links, nodes, queues, interrupts, and all advice"),
    });
    text
}

/// `Machine: 2 nodes, 64 cores, 128 CPUs, 251 GiB; 16 drives.`
fn machine(inventory: &Inventory) -> String {
    let topology = &inventory.processors.topology;
    let nodes = topology.cpus.iter().map(|c| c.node).collect::<std::collections::BTreeSet<_>>().len();
    let cores = topology.cpus.iter().map(|c| (c.package, c.core)).collect::<std::collections::BTreeSet<_>>().len();
    let drives = counted(inventory.drives.len(), "drive", "drives");
    if topology.cpus.is_empty() {
        return format!("Machine: CPUs not seen, {drives}");
    }
    let parts = [
        counted(nodes, "node", "nodes"),
        counted(cores, "core", "cores"),
        counted(topology.cpus.len(), "CPU", "CPUs"),
        drives,
    ];
    format!("Machine: {}", parts.join(", "))
}

fn counted(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}
