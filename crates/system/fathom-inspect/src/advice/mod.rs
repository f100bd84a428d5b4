//! Advice: rules over the inventory. Each has an id, a reason with figures, and an expected effect.

mod drive;
mod link;
mod processor;
mod queue;

use fathom_message::Message;
use serde::{Deserialize, Serialize};

use crate::Inventory;

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It costs performance, or will.
    Warning,
    /// It changes results; whether for the worse depends on the question.
    Note,
}

/// One piece of advice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advice {
    /// Stable name of the rule, e.g. `link.trained-down`.
    pub id: String,
    /// How much it matters.
    pub severity: Severity,
    /// Drives, CPUs or ports it is about, drives by their bare names; empty for the whole machine.
    pub subjects: Vec<Message>,
    /// What was seen.
    pub reason: Message,
    /// What a change would bring, or what the state costs.
    pub effect: Message,
    /// What to do, if something can be done in software.
    pub remedy: Option<Message>,
}

/// What the advice is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// Kernel names of devices that will be measured; `None`: all drives.
    pub targets: Option<Vec<String>>,
    /// CPUs the load will run on; empty: all this process may use.
    pub cpus: Vec<u32>,
}

/// Applies every rule. Warnings come first, then notes; each in the order of the rules.
#[must_use]
pub fn advise(inventory: &Inventory, subject: &Subject) -> Vec<Advice> {
    let context = Context::new(inventory, subject);
    let rules: [Rule; 26] = [
        link::trained_down,
        link::slot_limits,
        link::uplink,
        queue::interrupts_on_one_core,
        queue::fewer_than_cores,
        queue::no_poll_queues,
        queue::irqbalance,
        processor::remote_node,
        processor::powersave,
        processor::deep_idle,
        processor::slow_clock,
        processor::smt_on,
        processor::smt_off,
        processor::iommu_strict,
        processor::cgroup_cpu,
        processor::cpuset,
        drive::cgroup_io,
        drive::scheduler,
        drive::write_cache,
        drive::hot,
        drive::worn,
        drive::coalescing,
        drive::sleeps,
        drive::format,
        drive::state,
        drive::array,
    ];
    let mut all: Vec<Advice> = rules.iter().flat_map(|rule| rule(&context)).collect();
    all.sort_by_key(|a| a.severity);
    all
}

type Rule = fn(&Context<'_>) -> Vec<Advice>;

/// What the rules look at.
struct Context<'a> {
    inventory: &'a Inventory,
    drives: Vec<&'a crate::Drive>,
    /// Devices that were named, so that advice on a choice of CPUs makes sense; `None`: all drives are looked at.
    targets: Option<&'a [String]>,
    cpus: Vec<u32>,
}

impl<'a> Context<'a> {
    fn new(inventory: &'a Inventory, subject: &'a Subject) -> Self {
        let targets = subject.targets.as_deref();
        let mut drives: Vec<&crate::Drive> = Vec::new();
        match targets {
            None => drives.extend(&inventory.drives),
            Some(targets) => {
                for drive in targets.iter().flat_map(|t| inventory.drives_below(t)) {
                    if !drives.iter().any(|d| d.device.name == drive.device.name) {
                        drives.push(drive);
                    }
                }
            }
        }
        let cpus = if subject.cpus.is_empty() { inventory.processors.allowed() } else { subject.cpus.clone() };
        Context { inventory, drives, targets, cpus }
    }

    /// Whether what happens to the device `name` bears on the drives looked at: it is one of them, or shares one.
    fn concerns(&self, name: &str) -> bool {
        let is_looked_at = |drive: &&crate::Drive| self.drives.iter().any(|d| d.device.name == drive.device.name);
        self.targets.is_none_or(|targets| targets.iter().any(|t| t == name))
            || self.inventory.drives_below(name).iter().any(is_looked_at)
    }

    fn local_nvme(&self) -> impl Iterator<Item = &'a crate::Drive> {
        self.drives.iter().copied().filter(|d| d.is_local_nvme())
    }
}

fn names<'a>(drives: impl IntoIterator<Item = &'a crate::Drive>) -> Vec<Message> {
    drives.into_iter().map(named).collect()
}

/// One piece of advice for all drives of which the same is said.
fn merged(found: impl IntoIterator<Item = (Message, Advice)>) -> Vec<Advice> {
    let mut grouped: Vec<Advice> = Vec::new();
    for (subject, advice) in found {
        match grouped.iter_mut().find(|g| (&g.id, &g.reason, &g.effect) == (&advice.id, &advice.reason, &advice.effect))
        {
            Some(known) => known.subjects.push(subject),
            None => grouped.push(Advice { subjects: vec![subject], ..advice }),
        }
    }
    grouped
}

fn warning(id: &str, reason: Message, effect: Message) -> Advice {
    Advice { id: id.to_owned(), severity: Severity::Warning, subjects: Vec::new(), reason, effect, remedy: None }
}

fn note(id: &str, reason: Message, effect: Message) -> Advice {
    Advice { severity: Severity::Note, ..warning(id, reason, effect) }
}

/// A drive as a subject.
fn named(drive: &crate::Drive) -> Message {
    Message::verbatim(&*drive.device.name)
}

impl Advice {
    fn about(self, subjects: Vec<Message>) -> Advice {
        Advice { subjects, ..self }
    }

    fn remedy(self, remedy: Message) -> Advice {
        Advice { remedy: Some(remedy), ..self }
    }
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;
    use crate::machines::Machine;

    /// Ids of the advice on all drives of a machine.
    pub(crate) fn ids(machine: &Machine) -> Vec<String> {
        ids_for(machine, &Subject::default())
    }

    pub(crate) fn ids_for(machine: &Machine, subject: &Subject) -> Vec<String> {
        advise(&Inventory::read(&machine.root()), subject).into_iter().map(|a| a.id).collect()
    }

    /// What the one piece of advice with this id says of the reason, in English.
    pub(crate) fn reason(machine: &Machine, id: &str) -> String {
        fathom_language::english(&the(machine, id).reason)
    }

    /// What a change would bring, in English.
    pub(crate) fn effect(machine: &Machine, id: &str) -> String {
        fathom_language::english(&the(machine, id).effect)
    }

    /// Its subjects, in English.
    pub(crate) fn subjects(machine: &Machine, id: &str) -> Vec<String> {
        the(machine, id).subjects.iter().map(fathom_language::english).collect()
    }

    /// The one piece of advice with this id.
    pub(crate) fn the(machine: &Machine, id: &str) -> Advice {
        let all = advise(&Inventory::read(&machine.root()), &Subject::default());
        let ids: Vec<String> = all.iter().map(|a| a.id.clone()).collect();
        all.into_iter().find(|a| a.id == id).unwrap_or_else(|| panic!("{id} is not among {ids:?}"))
    }
}
