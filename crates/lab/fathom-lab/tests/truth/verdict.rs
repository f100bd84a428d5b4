//! What holds a step, from the simulator: more in flight, or else its busiest part.

use fathom_model::LimitName;
use fathom_sim::{Truth, Utilisation};

/// More in flight that brings more than this much makes queue depth the limit: the product's definition of a plateau.
const PLATEAU_GAIN: f64 = 1.1;
/// A plateau whose busiest part is less busy than this is held by something that no part shows.
const BUSY_MIN: f64 = 0.75;
/// Two parts this near to each other hold a step together; either is right.
const TOGETHER: f64 = 0.97;
/// The gain by more in flight is this near to the definition's: either side of it is right.
const ABOUT_PLATEAU: f64 = 0.03;

/// Names that are right, the first the strongest; and how far the second part is below it.
#[derive(Clone, Debug)]
pub(super) struct Right {
    pub(super) names: Vec<LimitName>,
    /// Busiest over next busiest part that would have another name.
    pub(super) margin: f64,
}

/// What the CPUs of a step are to it.
pub(super) struct CpusOfStep {
    pub(super) workers: Vec<u32>,
    pub(super) interrupts: Option<u32>,
    pub(super) all: u32,
    /// Share of every CPU that is not there.
    pub(super) stolen_share: f64,
    /// Shares of the drives' bytes that were answered by the page cache.
    pub(super) cached_share: f64,
    /// Whether most of what is in flight is inside the drives.
    pub(super) is_at_drives: bool,
    /// How busy the one thread of an md array is.
    pub(super) array_thread_share: f64,
    /// Whether each write costs several of the members.
    pub(super) has_write_penalty: bool,
}

/// `deeper_gain`: the most that more in flight gave, without noise, over what this step gave.
pub(super) fn right(truth: &Truth, deeper_gain: f64, cpus: &CpusOfStep) -> Right {
    let mut parts = parts(&truth.utilisation, cpus);
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let (strongest, share) = parts[0];
    let next = parts.iter().find(|(name, _)| *name != strongest).map_or(0.0, |(_, share)| *share);
    let margin = share / next.max(1e-9);
    let mut held: Vec<LimitName> = match share {
        // One slow die fills up while the mean of all does not show it.
        share if share < BUSY_MIN && cpus.is_at_drives => vec![LimitName::Device],
        share if share < BUSY_MIN => vec![LimitName::Unknown],
        share => parts.iter().filter(|(_, s)| *s >= TOGETHER * share).map(|(name, _)| *name).collect(),
    };
    // Members that are full of what the write penalty makes of each write: both name it.
    if cpus.has_write_penalty && held.contains(&LimitName::Device) {
        held.push(LimitName::Raid);
    }
    // The one thread of an array is a thread of the kernel as well as the array.
    if cpus.array_thread_share > 0.0 && held.contains(&LimitName::Raid) {
        held.push(LimitName::KernelThread);
    }
    if cpus.cached_share > 0.5 {
        held = vec![LimitName::PageCache];
    }
    let names = match deeper_gain {
        _ if cpus.cached_share > 0.5 => held,
        gain if gain > PLATEAU_GAIN + ABOUT_PLATEAU => vec![LimitName::QueueDepth],
        gain if gain > PLATEAU_GAIN - ABOUT_PLATEAU => held.into_iter().chain([LimitName::QueueDepth]).collect(),
        _ => held,
    };
    Right { names, margin }
}

/// Busy shares by the names of limits, of the busiest part of each name.
fn parts(utilisation: &[Utilisation], cpus: &CpusOfStep) -> Vec<(LimitName, f64)> {
    let mut out: Vec<(LimitName, f64)> = Vec::new();
    let mut of_cpus = vec![0.0; cpus.all as usize];
    for part in utilisation {
        let last = part.part.split(' ').next_back().unwrap_or_default();
        let name = match part.part.split(' ').next().unwrap_or_default() {
            "cpu" => {
                let cpu: usize = last.parse().expect("the number of a CPU");
                of_cpus[cpu] = (part.busy_share / (1.0 - cpus.stolen_share)).min(1.0);
                continue;
            }
            "array" => LimitName::Raid,
            drive if drive.starts_with("nvme") && part.part.contains(" link ") => LimitName::Link,
            // A lock is no part that the product could know of.
            _ if part.part.ends_with("driver lock") => LimitName::Unknown,
            drive if drive.starts_with("nvme") => LimitName::Device,
            _ => LimitName::Uplink,
        };
        out.push((name, part.busy_share));
    }
    let mean = |list: &mut dyn Iterator<Item = f64>| {
        let list: Vec<f64> = list.collect();
        list.iter().sum::<f64>() / list.len().max(1) as f64
    };
    if cpus.array_thread_share > 0.0 {
        out.push((LimitName::Raid, (cpus.array_thread_share / (1.0 - cpus.stolen_share)).min(1.0)));
    }
    let interrupts = cpus.interrupts.map(|cpu| of_cpus[cpu as usize]);
    if let Some(share) = interrupts {
        out.push((LimitName::IrqCore, share));
    }
    let workers = mean(&mut cpus.workers.iter().map(|cpu| of_cpus[*cpu as usize]));
    let all = mean(&mut of_cpus.iter().copied());
    // Where all are as busy as the workers' own, they are what is left to no one.
    let cores = if all >= TOGETHER * workers { LimitName::AllCores } else { LimitName::Core };
    out.push((cores, workers));
    let mut best: Vec<(LimitName, f64)> = Vec::new();
    for (name, share) in out {
        match best.iter_mut().find(|(n, _)| *n == name) {
            Some(entry) => entry.1 = entry.1.max(share),
            None => best.push((name, share)),
        }
    }
    best
}
