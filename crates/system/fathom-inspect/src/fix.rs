//! From advice to the changes that follow it, for those that can be undone while the machine runs.

use crate::{Advice, Inventory};
use fathom_host::Root;
use fathom_host::settings::{Change, Setting, SettingError, changes_for};

/// Rules whose advice can be followed by [`fixes`].
pub const FIXABLE: [&str; 4] = ["irq.one-core", "cpu.powersave", "cpu.deep-idle", "disk.scheduler"];

/// Waking from an allowed idle state takes at most this long after the fix.
const IDLE_MAX_US: u64 = 20;

/// What one piece of advice would change.
#[derive(Debug)]
pub struct Fix {
    /// Rule of the advice.
    pub rule: String,
    /// Changes, all of settings that the machine offers; or why it cannot be followed here.
    pub changes: Result<Vec<Change>, SettingError>,
}

/// The changes that follow each piece of fixable advice; of `rules` only, if any are named. Changes nothing.
#[must_use]
pub fn fixes(root: &Root, inventory: &Inventory, advice: &[Advice], rules: &[String]) -> Vec<Fix> {
    let is_asked = |a: &&Advice| FIXABLE.contains(&&*a.id) && (rules.is_empty() || rules.contains(&a.id));
    let fix = |a: &Advice| Fix { rule: a.id.clone(), changes: changes(root, inventory, a) };
    advice.iter().filter(is_asked).map(fix).collect()
}

fn changes(root: &Root, inventory: &Inventory, advice: &Advice) -> Result<Vec<Change>, SettingError> {
    // Drives stand there by their bare names.
    let drives: Vec<String> = advice.subjects.iter().filter_map(|s| s.as_verbatim().map(str::to_owned)).collect();
    match &*advice.id {
        "disk.scheduler" => changes_for(root, "scheduler=none", &drives),
        "cpu.powersave" => changes_for(root, "governor=performance", &[]),
        "cpu.deep-idle" => {
            let all = changes_for(root, &format!("idle_max_us={IDLE_MAX_US}"), &[])?;
            // A shallow state that somebody forbade is nobody's advice to allow.
            Ok(all.into_iter().filter(|c| c.value == "1").collect())
        }
        _ => Ok(drives.iter().flat_map(|name| spread(inventory, name)).collect()),
    }
}

/// One CPU for each vector of a drive: those of its node, around and around.
fn spread(inventory: &Inventory, name: &str) -> Vec<Change> {
    let Some(drive) = inventory.drive(name) else { return Vec::new() };
    let all = &inventory.processors.topology.cpus;
    let local: Vec<u32> = all.iter().filter(|c| drive.numa_node() == Some(c.node)).map(|c| c.id).collect();
    let cpus = if local.is_empty() { all.iter().map(|c| c.id).collect() } else { local };
    let vectors = drive.interrupt_device.iter().flat_map(|device| inventory.interrupts.io_vectors(device));
    vectors
        .zip(cpus.iter().cycle())
        .map(|(vector, cpu)| Change { setting: Setting::IrqAffinity { irq: vector.irq }, value: cpu.to_string() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_language::english;
    use fathom_message::Say as _;

    use crate::machines::Machine;
    use crate::{Subject, advise};
    use fathom_host::settings::{Journal, Which, restore_all};

    fn fixed(machine: &Machine, rules: &[&str]) -> Vec<String> {
        let inventory = Inventory::read(&machine.root());
        let rules: Vec<String> = rules.iter().map(|&r| r.to_owned()).collect();
        let all = fixes(&machine.root(), &inventory, &advise(&inventory, &Subject::default()), &rules);
        let lines = all.into_iter().flat_map(|fix| match fix.changes {
            Ok(changes) => changes.iter().map(|c| format!("{} = {}", c.setting, c.value)).collect(),
            Err(error) => vec![english(&error.message())],
        });
        lines.collect()
    }

    /// Four CPUs that sleep deeply at their lowest clock, a drive with a scheduler and all interrupts on CPU 2.
    fn slow_machine() -> Machine {
        let mut machine = Machine::server(1, 4, 1);
        machine.drive_on_port("0000:10", 0, (4, 4), (4, 4), (4, 4));
        machine.idle_state(1, "C1", 2).idle_state(2, "C6", 133);
        machine.for_each_cpu("cpufreq/scaling_governor", "powersave\n");
        machine.for_each_cpu("cpufreq/scaling_available_governors", "performance powersave\n");
        machine.file("sys/block/nvme0n1/queue/scheduler", "none [mq-deadline]\n");
        for vector in Inventory::read(&machine.root()).interrupts.vectors {
            machine.file(&format!("proc/irq/{}/smp_affinity_list", vector.irq), "0-3\n");
        }
        machine.steer_all_interrupts_to(2);
        machine
    }

    #[test]
    fn advice_becomes_changes_of_what_it_is_about() {
        let machine = slow_machine();
        assert_eq!(fixed(&machine, &["disk.scheduler"]), ["nvme0n1/scheduler = none"]);
        let governors = (0..4).map(|cpu| format!("cpu{cpu}/governor = performance")).collect::<Vec<_>>();
        assert_eq!(fixed(&machine, &["cpu.powersave"]), governors);
        let deep = (0..4).map(|cpu| format!("cpu{cpu}/idle2/disable = 1")).collect::<Vec<_>>();
        assert_eq!(fixed(&machine, &["cpu.deep-idle"]), deep);
        let spread = fixed(&machine, &["irq.one-core"]);
        assert_eq!(spread.iter().map(|t| t.rsplit(' ').next().unwrap_or("")).collect::<Vec<_>>(), ["0", "1", "2", "3"]);
        assert_eq!(fixed(&machine, &[]).len(), 1 + 4 + 4 + 4);
    }

    #[test]
    fn what_the_machine_does_not_offer_is_said() {
        let machine = slow_machine();
        machine.for_each_cpu("cpufreq/scaling_available_governors", "powersave\n");
        assert_eq!(
            fixed(&machine, &["cpu.powersave"]),
            ["governor of CPU 0 cannot be \"performance\": it takes powersave"]
        );
    }

    #[test]
    fn followed_advice_is_gone_and_comes_back_with_the_old_values() {
        let machine = slow_machine();
        let (root, dir) = (machine.root(), tempfile::tempdir().expect("temp dir"));
        let ids = || {
            let all = advise(&Inventory::read(&root), &Subject::default());
            all.into_iter().map(|a| a.id).filter(|id| FIXABLE.contains(&&**id)).collect::<Vec<_>>()
        };
        let before = ids();
        assert_eq!(before.len(), FIXABLE.len(), "{before:?}");
        let inventory = Inventory::read(&root);
        let all = fixes(&root, &inventory, &advise(&inventory, &Subject::default()), &[]);
        let journal = Journal::open_kept(&root, dir.path(), "fathom inspect --fix");
        for fix in all {
            journal.apply_all(&fix.changes.expect("offered")).expect("applies").keep();
        }
        drop(journal);
        // In a tree of plain files nobody moves the effective affinity along.
        assert_eq!(ids(), ["irq.one-core"]);
        let restored = restore_all(&root, dir.path(), Which::All).expect("restores").settings;
        assert!(restored.len() >= 12, "{restored:?}");
        assert_eq!(ids(), before);
    }
}
