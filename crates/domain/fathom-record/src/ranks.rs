//! What each of several processes had of a step that they ran at once.

use fathom_message::Message;
use serde::{Deserialize, Serialize};

use crate::host::CpuTime;
use crate::record::QuotedLatency;

/// A rank whose share is below this part of the median one is a straggler.
pub const STRAGGLER_SHARE: f64 = 0.9;

/// The clock of a rank beside that of rank 0, by Cristian's method: the offset is right to within half of the shortest
/// way there and back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RankClock {
    /// What it shows less what rank 0's shows at the same moment.
    pub offset_ns: i64,
    /// How far that may be wrong at most.
    pub bound_ns: u64,
}

/// One rank's part of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RankRecord {
    /// Its number.
    pub rank: u32,
    /// Name of its host.
    pub host: String,
    /// Its clock beside rank 0's.
    pub clock: RankClock,
    /// Start of its window after the earliest one.
    pub start_ns: u64,
    /// Length of its window.
    pub runtime_ns: u64,
    /// Completed I/Os of its window.
    pub ios: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Failed I/Os.
    pub errors: u64,
    /// Completed I/Os of the intervals that the figures of the step hold.
    pub counted_ios: u64,
    /// Their bytes.
    pub counted_bytes: u64,
    /// Latency of all its I/Os; `None` without any.
    pub lat: Option<QuotedLatency>,
    /// Completed I/Os, interval by interval of the step.
    pub interval_ios: Vec<u64>,
    /// Their bytes.
    pub interval_bytes: Vec<u64>,
    /// What the CPUs of its host did in its window, whoever they worked for; `None`: not sampled.
    pub cpu: Option<CpuTime>,
    /// Number that the first CPU of its host has in the step's record, where CPUs of several hosts follow each other.
    pub first_cpu: Option<u32>,
}

/// What hosts that share a load should have alike, of one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RankMachine {
    /// Its name.
    pub host: String,
    /// Model of its CPUs; empty where the kernel gives none.
    pub cpu_model: String,
    /// CPUs online.
    pub cpus: u32,
    /// Main memory.
    pub memory_bytes: u64,
    /// Kernel release.
    pub kernel: String,
    /// Frequency governor of its first CPU.
    pub governor: Option<String>,
    /// Clock source of its kernel.
    pub clocksource: Option<String>,
}

/// Something in which hosts may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachineTrait {
    /// Model of the CPUs.
    CpuModel,
    /// Number of CPUs.
    Cpus,
    /// Main memory, to the GiB: what firmware takes differs by less.
    Memory,
    /// Kernel release.
    Kernel,
    /// Frequency governor.
    Governor,
    /// Clock source.
    Clocksource,
}

impl MachineTrait {
    /// All of them.
    pub const ALL: [MachineTrait; 6] = [
        MachineTrait::CpuModel,
        MachineTrait::Cpus,
        MachineTrait::Memory,
        MachineTrait::Kernel,
        MachineTrait::Governor,
        MachineTrait::Clocksource,
    ];

    /// Its value on a host, as it is written.
    #[must_use]
    pub fn of(self, machine: &RankMachine) -> String {
        const GIB: u64 = 1 << 30;
        match self {
            MachineTrait::CpuModel => machine.cpu_model.clone(),
            MachineTrait::Cpus => machine.cpus.to_string(),
            MachineTrait::Memory => format!("{} GiB", (machine.memory_bytes + GIB / 2) / GIB),
            MachineTrait::Kernel => machine.kernel.clone(),
            MachineTrait::Governor => machine.governor.clone().unwrap_or_default(),
            MachineTrait::Clocksource => machine.clocksource.clone().unwrap_or_default(),
        }
    }
}

/// A value, and the hosts that have it.
pub type ValueOnHosts = (String, Vec<String>);

/// In what `machines` differ: each value with its hosts, that of most hosts first.
#[must_use]
pub fn machine_differences(machines: &[RankMachine]) -> Vec<(MachineTrait, Vec<ValueOnHosts>)> {
    let values = |of: MachineTrait| {
        let mut values: Vec<ValueOnHosts> = Vec::new();
        for machine in machines {
            let value = of.of(machine);
            match values.iter_mut().find(|(known, _)| *known == value) {
                Some((_, hosts)) => hosts.push(machine.host.clone()),
                None => values.push((value, vec![machine.host.clone()])),
            }
        }
        values.sort_by_key(|(_, hosts)| std::cmp::Reverse(hosts.len()));
        (of, values)
    };
    MachineTrait::ALL.into_iter().map(values).filter(|(_, values)| values.len() > 1).collect()
}

/// A rank whose part is missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LostRank {
    /// Its number.
    pub rank: u32,
    /// Name of its host.
    pub host: String,
    /// What happened.
    pub why: Message,
    /// Bytes that it had moved when it was heard of last.
    pub bytes_done: u64,
}

/// The ranks of a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RanksRecord {
    /// Those whose figures the step has, by their numbers.
    pub ranks: Vec<RankRecord>,
    /// Those whose figures it lacks.
    pub lost: Vec<LostRank>,
    /// Their hosts, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub machines: Vec<RankMachine>,
    /// From the first start of a window to the last, by corrected clocks.
    pub start_skew_ns: u64,
    /// How far that may be wrong at most, by what is known of the clocks.
    pub start_skew_bound_ns: u64,
    /// Time in which all of them ran.
    pub together_ns: u64,
    /// Whether the figures of the step are those of that time alone, since some ended well before others.
    pub is_cut: bool,
}

impl RanksRecord {
    /// Names of the hosts, each once, in the order of their ranks.
    #[must_use]
    pub fn hosts(&self) -> Vec<&str> {
        let mut hosts: Vec<&str> = Vec::new();
        for host in self.ranks.iter().map(|r| r.host.as_str()).chain(self.lost.iter().map(|r| r.host.as_str())) {
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        hosts
    }

    /// The rank that moved least, and its share of what the median one moved; `None` where none stays behind by more than
    /// [`STRAGGLER_SHARE`].
    #[must_use]
    pub fn straggler(&self) -> Option<(&RankRecord, f64)> {
        // A rank that ended early is done with its part, and not slow.
        let moved = |rank: &RankRecord| match rank.counted_bytes {
            0 => rank.counted_ios,
            bytes => bytes,
        };
        let mut all: Vec<u64> = self.ranks.iter().map(moved).collect();
        all.sort_unstable();
        let median = *all.get(all.len() / 2)?;
        let slowest = self.ranks.iter().min_by_key(|rank| moved(rank))?;
        let share = moved(slowest) as f64 / median.max(1) as f64;
        (self.ranks.len() > 1 && share < STRAGGLER_SHARE).then_some((slowest, share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hosts_have_alike_is_not_told_and_the_odd_one_stands_last() {
        let machine = |host: &str, kernel: &str, memory_bytes| RankMachine {
            host: host.to_owned(),
            kernel: kernel.to_owned(),
            memory_bytes,
            ..RankMachine::default()
        };
        let all = [machine("a", "6.8", 64 << 30), machine("b", "6.1", (64 << 30) - 5), machine("c", "6.1", 64 << 30)];
        let hosts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let expected = vec![("6.1".to_owned(), hosts(&["b", "c"])), ("6.8".to_owned(), hosts(&["a"]))];
        assert_eq!(machine_differences(&all), [(MachineTrait::Kernel, expected)]);
        assert_eq!(machine_differences(&all[1..]), []);
    }
}
