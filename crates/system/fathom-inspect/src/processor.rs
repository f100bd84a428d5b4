//! CPUs beyond their places: caches, frequency, idle states, clock, what the kernel works around; and memory by node.

use std::collections::BTreeMap;

use fathom_message::{Say as _, msg};
use fathom_units::{format_cpu_list, parse_cpu_list, parse_cpu_map};
use serde::{Deserialize, Serialize};

use crate::look::{Look, Why};
use crate::part::Part;
use fathom_host::Topology;
use fathom_host::{cpu_model, hypervisor};

/// Caches of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// 1 to 4.
    pub level: u32,
    /// `Data`, `Instruction`, `Unified`.
    pub kind: String,
    /// Size of each.
    pub size_bytes: u64,
    /// CPUs that share one.
    pub cpus_each: u32,
    /// How many there are.
    pub count: u32,
}

/// Frequency settings that a set of CPUs has in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frequency {
    /// CPU list.
    pub cpus: String,
    /// Driver: `intel_pstate`, `amd-pstate-epp`, `acpi-cpufreq`...
    pub driver: Option<String>,
    /// Governor.
    pub governor: Option<String>,
    /// Energy preference, where the hardware picks the frequency.
    pub energy_preference: Option<String>,
    /// Lowest allowed.
    pub min_khz: Option<u64>,
    /// Highest allowed.
    pub max_khz: Option<u64>,
}

/// An idle state that a set of CPUs has in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleState {
    /// CPU list.
    pub cpus: String,
    /// `C6`, `POLL`...
    pub name: String,
    /// Time to wake from it, as the driver believes.
    pub exit_latency_us: u64,
    /// Somebody disabled it.
    pub disabled: bool,
}

/// A weakness and what the kernel does about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mitigation {
    /// Name as in sysfs.
    pub name: String,
    /// `Not affected`, `Mitigation: ...`, `Vulnerable: ...`.
    pub state: String,
}

/// SMT as the kernel controls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Smt {
    /// Siblings are online.
    On,
    /// The cores have siblings, but they are off.
    Off,
    /// The cores have none.
    None,
}

/// Memory and CPUs of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Node.
    pub id: u32,
    /// CPU list; empty for nodes of memory only, `None` when the kernel does not say.
    pub cpus: Option<String>,
    /// Memory; `None` when the kernel does not say.
    pub memory_bytes: Option<u64>,
    /// Distance to each node in the order of nodes; 10 is local.
    pub distances: Vec<u32>,
}

/// The processors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Processors {
    /// Model as the kernel names it.
    pub model: String,
    /// Online CPUs with cores, siblings, sockets, nodes.
    pub topology: Topology,
    /// Sockets.
    pub sockets: u32,
    /// Physical cores.
    pub cores: u32,
    /// SMT.
    pub smt: Smt,
    /// Nodes with CPUs or memory.
    pub nodes: Vec<Node>,
    /// All memory.
    pub memory_bytes: Option<u64>,
    /// What memory moves, reads and writes counted singly, where a run measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes_per_s: Option<u64>,
    /// Caches by level.
    pub caches: Vec<Cache>,
    /// Frequency settings; empty without frequency scaling (usual in guests).
    pub frequency: Vec<Frequency>,
    /// Idle states, light to deep; empty where the kernel has none to choose from.
    pub idle: Vec<IdleState>,
    /// Weaknesses.
    pub mitigations: Vec<Mitigation>,
    /// Clock source in force.
    pub clocksource: Option<String>,
    /// CPUs kept free of other work by the kernel's command line.
    pub isolated: Option<String>,
    /// Whose guest this is.
    pub hypervisor: Option<String>,
}

const CPU: &str = "sys/devices/system/cpu";

impl Processors {
    pub(crate) fn read(look: &Look<'_>) -> Processors {
        let topology = Topology::read(look.root()).unwrap_or_else(|error| {
            look.miss_probe(Part::Cpus, &format!("{CPU}/online"), &error);
            Topology::default()
        });
        let cpuinfo = look.expect_text("proc/cpuinfo", Part::CpuModel).unwrap_or_default();
        let ids: Vec<u32> = topology.cpus.iter().map(|c| c.id).collect();
        Processors {
            model: crate::look::clean(&cpu_model(&cpuinfo)),
            sockets: topology.packages() as u32,
            cores: topology.cores() as u32,
            smt: smt(look, &topology),
            nodes: nodes(look),
            memory_bytes: memory_bytes(look),
            memory_bytes_per_s: None,
            caches: caches(look, &ids),
            frequency: frequency(look, &ids),
            idle: idle(look, &ids),
            mitigations: mitigations(look),
            clocksource: look
                .word("sys/devices/system/clocksource/clocksource0/current_clocksource", Part::ClockSource),
            isolated: look.word(&format!("{CPU}/isolated"), Part::IsolatedCpus),
            hypervisor: hypervisor(look.root(), &cpuinfo).map(|h| crate::look::clean(&h)),
            topology,
        }
    }

    /// Online CPUs this process may use.
    #[must_use]
    pub fn allowed(&self) -> Vec<u32> {
        self.topology.cpus.iter().filter(|c| c.allowed).map(|c| c.id).collect()
    }
}

fn smt(look: &Look<'_>, topology: &Topology) -> Smt {
    if topology.has_smt() {
        return Smt::On;
    }
    match look.word(&format!("{CPU}/smt/control"), Part::SmtControl).as_deref() {
        // `on` without online siblings: one of each pair was taken offline by hand.
        Some("off" | "forceoff" | "on") => Smt::Off,
        _ => Smt::None,
    }
}

/// `MemTotal:  1024 kB`, also `Node 0 MemTotal:  1024 kB`.
fn mem_total(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once("MemTotal:")?;
    rest.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib.saturating_mul(1024))
}

fn memory_bytes(look: &Look<'_>) -> Option<u64> {
    mem_total(&look.expect_text("proc/meminfo", Part::Memory)?)
}

fn nodes(look: &Look<'_>) -> Vec<Node> {
    let home = "sys/devices/system/node";
    let mut nodes = Vec::new();
    for name in look.names(home) {
        let Some(id) = name.strip_prefix("node").and_then(|n| n.parse().ok()) else { continue };
        let distances = look.word(&format!("{home}/{name}/distance"), Part::NodeDistances).unwrap_or_default();
        nodes.push(Node {
            id,
            cpus: node_cpus(look, &format!("{home}/{name}")),
            memory_bytes: look
                .text(&format!("{home}/{name}/meminfo"), Part::NodeMemory)
                .and_then(|text| mem_total(&text)),
            distances: distances.split_whitespace().filter_map(|d| d.parse().ok()).collect(),
        });
    }
    nodes
}

/// CPUs of a node as a list, from its list or its map; `None`, with a note, where neither can be read.
fn node_cpus(look: &Look<'_>, node: &str) -> Option<String> {
    let [list, map] = ["cpulist", "cpumap"].map(|file| format!("{node}/{file}"));
    if look.exists(&list) {
        return Some(look.word(&list, Part::NodeCpus).unwrap_or_default());
    }
    let Some(text) = look.word(&map, Part::NodeCpus) else {
        look.miss(Part::NodeCpus, Why::Absent, &list, msg!("missing-no-such-file"));
        return None;
    };
    match parse_cpu_map(&text) {
        Ok(cpus) => Some(format_cpu_list(&cpus)),
        Err(error) => {
            look.miss(Part::NodeCpus, Why::Unreadable, &map, error.message());
            None
        }
    }
}

/// `32K`, `16384K`, `1M`.
fn cache_bytes(text: &str) -> Option<u64> {
    let (digits, shift) = match text.chars().last()? {
        'K' => (&text[..text.len() - 1], 10),
        'M' => (&text[..text.len() - 1], 20),
        _ => (text, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

fn caches(look: &Look<'_>, cpus: &[u32]) -> Vec<Cache> {
    // (level, kind, size) -> the CPU lists of its instances.
    let mut found: BTreeMap<(u32, String, u64), Vec<String>> = BTreeMap::new();
    for cpu in cpus {
        let home = format!("{CPU}/cpu{cpu}/cache");
        for index in look.names(&home).iter().filter(|n| n.starts_with("index")) {
            let get = |name: &str| look.word(&format!("{home}/{index}/{name}"), Part::CpuCache);
            let (Some(level), Some(kind), Some(size), Some(shared)) = (
                get("level").and_then(|t| t.parse().ok()),
                get("type"),
                get("size").and_then(|t| cache_bytes(&t)),
                get("shared_cpu_list"),
            ) else {
                continue;
            };
            let instances = found.entry((level, kind, size)).or_default();
            if !instances.contains(&shared) {
                instances.push(shared);
            }
        }
    }
    let cpus_in = |list: &String| parse_cpu_list(list).map_or(0, |l| l.len() as u32);
    found
        .into_iter()
        .map(|((level, kind, size_bytes), lists)| Cache {
            level,
            kind,
            size_bytes,
            cpus_each: lists.first().map_or(0, cpus_in),
            count: lists.len() as u32,
        })
        .collect()
}

/// Settings that are alike, with the CPUs that have them, in the order of the first CPU.
fn grouped<T: PartialEq>(per_cpu: impl Iterator<Item = (u32, T)>) -> Vec<(String, T)> {
    let mut groups: Vec<(Vec<u32>, T)> = Vec::new();
    for (cpu, setting) in per_cpu {
        match groups.iter_mut().find(|(_, known)| *known == setting) {
            Some((cpus, _)) => cpus.push(cpu),
            None => groups.push((vec![cpu], setting)),
        }
    }
    groups.into_iter().map(|(cpus, setting)| (format_cpu_list(&cpus), setting)).collect()
}

fn frequency(look: &Look<'_>, cpus: &[u32]) -> Vec<Frequency> {
    let of = |cpu: u32| {
        let home = format!("{CPU}/cpu{cpu}/cpufreq");
        let word = |name: &str| look.word(&format!("{home}/{name}"), Part::Frequency);
        let khz = |name: &str| look.number(&format!("{home}/{name}"), Part::Frequency);
        let setting = Frequency {
            cpus: String::new(),
            driver: word("scaling_driver"),
            governor: word("scaling_governor"),
            energy_preference: word("energy_performance_preference"),
            min_khz: khz("scaling_min_freq"),
            max_khz: khz("scaling_max_freq"),
        };
        (setting.driver.is_some() || setting.governor.is_some()).then_some((cpu, setting))
    };
    let groups = grouped(cpus.iter().filter_map(|cpu| of(*cpu)));
    groups.into_iter().map(|(cpus, setting)| Frequency { cpus, ..setting }).collect()
}

fn idle(look: &Look<'_>, cpus: &[u32]) -> Vec<IdleState> {
    let mut all = Vec::new();
    for cpu in cpus {
        let home = format!("{CPU}/cpu{cpu}/cpuidle");
        for state in look.names(&home).iter().filter(|n| n.starts_with("state")) {
            let path = |name: &str| format!("{home}/{state}/{name}");
            let Some(name) = look.word(&path("name"), Part::IdleState) else { continue };
            let exit_latency_us = look.number(&path("latency"), Part::IdleState).unwrap_or(0);
            let disabled = look.number(&path("disable"), Part::IdleState) == Some(1);
            all.push((*cpu, IdleState { cpus: String::new(), name, exit_latency_us, disabled }));
        }
    }
    let mut states: Vec<IdleState> =
        grouped(all.into_iter()).into_iter().map(|(cpus, state)| IdleState { cpus, ..state }).collect();
    states.sort_by_key(|s| s.exit_latency_us);
    states
}

fn mitigations(look: &Look<'_>) -> Vec<Mitigation> {
    let home = format!("{CPU}/vulnerabilities");
    let names = look.names(&home);
    let state = |name: &String| look.word(&format!("{home}/{name}"), Part::Mitigations);
    names.into_iter().filter_map(|name| state(&name).map(|state| Mitigation { name, state })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_host::testing::eight_cpus;

    #[test]
    fn settings_that_are_alike_are_shown_once() {
        let tree = eight_cpus();
        for cpu in 0..8 {
            let home = format!("{CPU}/cpu{cpu}");
            let governor = if cpu == 5 { "powersave" } else { "performance" };
            tree.file(&format!("{home}/cpufreq/scaling_governor"), governor)
                .file(&format!("{home}/cpuidle/state1/name"), "C6\n")
                .file(&format!("{home}/cpuidle/state1/latency"), "133\n")
                .file(&format!("{home}/cpuidle/state1/disable"), "0\n")
                .file(&format!("{home}/cpuidle/state0/name"), "POLL\n")
                .file(&format!("{home}/cache/index3/level"), "3\n")
                .file(&format!("{home}/cache/index3/type"), "Unified\n")
                .file(&format!("{home}/cache/index3/size"), "16384K\n")
                .file(&format!("{home}/cache/index3/shared_cpu_list"), if cpu % 4 < 2 { "0-1,4-5" } else { "2-3,6-7" });
        }
        let root = tree.root();
        let cpus = Processors::read(&Look::new(&root));
        let governors: Vec<_> =
            cpus.frequency.iter().map(|f| (f.cpus.as_str(), f.governor.as_deref().unwrap_or(""))).collect();
        assert_eq!(governors, [("0-4,6-7", "performance"), ("5", "powersave")]);
        let idle: Vec<_> = cpus.idle.iter().map(|i| (i.name.as_str(), i.exit_latency_us, i.cpus.as_str())).collect();
        assert_eq!(idle, [("POLL", 0, "0-7"), ("C6", 133, "0-7")]);
        assert_eq!(
            cpus.caches,
            [Cache { level: 3, kind: "Unified".into(), size_bytes: 16 << 20, cpus_each: 4, count: 2 }]
        );
        assert_eq!((cpus.smt, cpus.cores, cpus.sockets), (Smt::On, 4, 2));
    }

    #[test]
    fn smt_that_is_switched_off_is_told_from_none() {
        let tree = eight_cpus();
        tree.file(&format!("{CPU}/online"), "0-3\n").file(&format!("{CPU}/smt/control"), "off\n");
        let root = tree.root();
        assert_eq!(Processors::read(&Look::new(&root)).smt, Smt::Off);
        tree.file(&format!("{CPU}/smt/control"), "notsupported\n");
        assert_eq!(Processors::read(&Look::new(&root)).smt, Smt::None);
    }

    #[test]
    fn a_node_has_the_cpus_of_its_list_or_of_its_map() {
        let tree = eight_cpus();
        let home = "sys/devices/system/node";
        std::fs::remove_file(tree.root().join(format!("{home}/node1/cpulist"))).expect("a list");
        tree.file(&format!("{home}/node1/cpumap"), "000000cc\n").folder(&format!("{home}/node2"));
        tree.file(&format!("{home}/node3/cpulist"), "\n");
        let root = tree.root();
        let look = Look::new(&root);
        let cpus: Vec<Option<String>> = nodes(&look).into_iter().map(|node| node.cpus).collect();
        assert_eq!(cpus, [Some("0-1,4-5".into()), Some("2-3,6-7".into()), None, Some(String::new())]);
        let missing = look.into_missing();
        assert_eq!(
            missing.iter().map(|m| (m.what.id(), m.why, m.count)).collect::<Vec<_>>(),
            [("part-node-cpus", Why::Absent, 1)]
        );
    }

    #[test]
    fn an_empty_tree_gives_no_cpu_and_says_so() {
        let tree = fathom_host::testing::Tree::new();
        let root = tree.root();
        let look = Look::new(&root);
        let cpus = Processors::read(&look);
        assert!(cpus.topology.cpus.is_empty() && cpus.nodes.is_empty());
        let missing: Vec<String> = look.into_missing().into_iter().map(|m| m.what.id().to_owned()).collect();
        assert_eq!(missing, ["part-cpu-model", "part-cpus", "part-memory"]);
    }

    #[test]
    fn cache_sizes_have_units() {
        assert_eq!(
            (cache_bytes("48K"), cache_bytes("2M"), cache_bytes("512")),
            (Some(49152), Some(2 << 20), Some(512))
        );
        assert_eq!((cache_bytes("xK"), cache_bytes("99999999999999999999K")), (None, None));
    }
}
