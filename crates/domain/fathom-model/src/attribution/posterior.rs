//! What holds a step, of all that may: each part weighed by what its counters show, against the device, whose own use no
//! counter shows, and against queue depth, for which the whole ladder speaks.
//!
//! Given a plateau, a part that holds the step is full, but for the error of its counter; one that does not is used by
//! any share. The ratio of the two densities is its weight (Bayes). `make truth` measures how often the result is right.

use fathom_message::Quantity;

use super::cause::{Cause, UnknownReason};
use super::evidence::{Evidence, EvidenceName, base_evidence};
use super::facts::DriveFacts;
use super::limit::{Caveat, Limit};
use super::neighbour::ProbeResult;
use super::seen::Seen;
use super::{LimitName, Observation, cap, cpu, depth, file_system, kernel_thread, path, probe, rating, state};

/// How common it is that something holds a plateau that neither counters nor inventory show.
pub(super) const UNSEEN_PRIOR: f64 = 0.03;
/// The same for several drives of which no step tried fewer: what they share may be full.
const UNSEEN_SHARED_PRIOR: f64 = 0.12;
/// Share of the parts that are nearly but not quite full while they hold a step, and how far they are from it.
const TAIL: f64 = 0.1;
const TAIL_SPREAD: f64 = 0.05;

/// At the device stand so few of the I/Os in flight that the rest must wait above it.
const AT_DEVICE_FEW: f64 = 0.4;
/// Fewer in flight than this, for each device, say nothing of where they wait.
const IN_FLIGHT_MIN: f64 = 4.0;
/// What a device takes at once where that is not known; more wait for a tag, above where the kernel counts.
const REQUESTS_MAX: f64 = 128.0;
/// I/Os that wait above the device: how many times as probable that is if something there holds them.
const WAITS_ABOVE: f64 = 60.0;

/// Something that may hold a step on its plateau.
pub(super) struct Candidate {
    pub(super) limit: Limit,
    /// How many times as probable as the device.
    pub(super) weight: f64,
    /// Whether CPUs hold it: then a step of more threads says nothing about depth.
    pub(super) is_cpu: bool,
    /// How many times less probable a probe made the device, where it leaves queue depth as it was.
    pub(super) against_device: f64,
}

/// A step that relieved a part and gave more: how many times as probable that is if the part held it.
pub(super) const PROBE_CONFIRMS: f64 = 25.0;
/// A step that fits the part and others as well.
pub(super) const PROBE_AGREES: f64 = 3.0;

impl Candidate {
    /// A part that is said with its probability against the device; `share` of its weight is left by what else speaks.
    pub(super) fn told_apart(limit: Limit, share: f64) -> Candidate {
        let probability = limit.probability.unwrap_or(0.0);
        Candidate { weight: share * probability / (1.0 - probability), limit, is_cpu: false, against_device: 1.0 }
    }

    pub(super) fn with_probes(mut self, probes: impl IntoIterator<Item = ProbeResult>) -> Candidate {
        self.limit = self.limit.with_probes(probes);
        self
    }

    pub(super) fn with_caveats(mut self, caveats: impl IntoIterator<Item = Caveat>) -> Candidate {
        self.limit = self.limit.with_caveats(caveats);
        self
    }

    /// `weight`: what the counters and probes of the part say for it; before them it is as common a limit as the device.
    pub(super) fn part(cause: Cause, weight: f64, evidence: Vec<Evidence>) -> Candidate {
        let is_cpu = matches!(cause.name(), LimitName::Core | LimitName::AllCores);
        Candidate { limit: Limit::probable(cause, 0.0, evidence), weight, is_cpu, against_device: 1.0 }
    }
}

/// How many times as probable a use of `share` of a part's most is, if the part holds the step; `spread`: standard
/// deviation of the share.
pub(super) fn fill_weight(share: f64, spread: f64) -> f64 {
    let below = 1.0 - share.min(1.0);
    let full = 2.0 * (-0.5 * (below / spread).powi(2)).exp() / (spread * std::f64::consts::TAU.sqrt());
    let nearly = (-below / TAIL_SPREAD).exp() / TAIL_SPREAD;
    (1.0 - TAIL) * full + TAIL * nearly
}

/// The most probable limit with its probability; `None` where nothing speaks for any.
pub(super) fn limit(all: &Seen<'_>, this: &Observation) -> Option<Limit> {
    // A ladder that falls is a change until its best step was measured again.
    let base = state::limit(all, this).or_else(|| depth::limit(all, this));
    let is_decided = base.as_ref().is_some_and(|limit| limit.probability.is_some());
    let base = if is_decided { base } else { rating::limit(this).or(base) };
    let said = base.as_ref().and_then(|limit| limit.probability);
    let plateau = match (base.as_ref().map(|limit| limit.name), said) {
        (Some(LimitName::Device), Some(p)) => p,
        (Some(LimitName::QueueDepth), Some(p)) => 1.0 - p,
        _ => 0.5,
    };
    let at_device = share_at_device(this);
    let waits_above = at_device.is_some_and(|share| share < AT_DEVICE_FEW);
    let may_share = this.step.targets.len() > 1 && probe::fewer_targets_at_best(all, this).is_none();
    let prior = if may_share { UNSEEN_SHARED_PRIOR } else { UNSEEN_PRIOR };
    let unseen = plateau * prior * if waits_above { WAITS_ABOVE } else { 1.0 };
    let mut parts = cpu::candidates(all, this);
    parts.extend(path::candidates(all, this));
    parts.extend(kernel_thread::candidate(all, this));
    parts.extend(file_system::candidate(this));
    let against_device: f64 = parts.iter().map(|part| part.against_device).product();
    let device = plateau / against_device / if waits_above { WAITS_ABOVE } else { 1.0 };
    // More threads bring more where cores were the limit: that growth is not one of depth.
    let of_cpus = parts.iter().any(|part| part.is_cpu).then(|| depth::plateau_of_own_threads(all, this).unwrap_or(0.5));
    for part in &mut parts {
        part.weight *= of_cpus.filter(|_| part.is_cpu).map_or(plateau, |own| own.max(plateau));
    }
    let sum = (1.0 - plateau) + device + unseen + parts.iter().map(|part| part.weight).sum::<f64>();
    let best = parts.into_iter().max_by(|a, b| a.weight.total_cmp(&b.weight));
    let best_weight = best.as_ref().map_or(0.0, |part| part.weight);
    if let Some(best) = best.filter(|part| part.weight >= device.max(1.0 - plateau).max(unseen)) {
        return Some(best.limit.said_with(best_weight / sum));
    }
    // Where no part of this host is full, an even and round rate says more than the ladder.
    if let Some(outside) = cap::limit(all, this) {
        return Some(outside);
    }
    if unseen > device.max(1.0 - plateau) {
        let mut numbers = base_evidence(this);
        numbers.extend(at_device.map(|share| Evidence::new(EvidenceName::AtDevice, Quantity::share(share))));
        return Some(Limit::unknown(UnknownReason::WaitsAboveDevice, numbers));
    }
    let base = base?;
    let share = match base.name {
        LimitName::Device => device,
        LimitName::QueueDepth => 1.0 - plateau,
        _ => return Some(base),
    };
    Some(base.said_with(share / sum))
}

/// Share of the I/Os in flight that the kernel counts at the devices, on average: what waits elsewhere waits for
/// something else. `None` where that is not known or says nothing.
fn share_at_device(this: &Observation) -> Option<f64> {
    let host = this.host.as_ref()?;
    let is_array = this.facts.as_ref().is_some_and(|facts| facts.machine.raid.is_some());
    if host.disks.is_empty() || is_array || !this.step.workload.direct || this.is_null() {
        return None;
    }
    let devices = host.disks.len() as f64;
    let in_flight = f64::from(this.in_flight()).min(requests_max(this).unwrap_or(REQUESTS_MAX * devices));
    let weighted_ns = host.disks.iter().map(|d| d.weighted_ns).sum::<u64>();
    // A device whose statistics are off counts nothing at all.
    let is_counted = weighted_ns > 0 && in_flight >= IN_FLIGHT_MIN * devices;
    is_counted.then(|| weighted_ns as f64 / host.window_ns.max(1) as f64 / in_flight)
}

/// What all devices of a step take at once: a thread on one CPU reaches one queue of each.
fn requests_max(this: &Observation) -> Option<f64> {
    let drives = &this.facts.as_ref()?.drives;
    let of = |drive: &DriveFacts| {
        Some(f64::from(drive.requests_per_queue? * drive.hw_queues.clamp(1, this.step.load.threads.max(1))))
    };
    drives.iter().map(of).collect::<Option<Vec<f64>>>().filter(|all| !all.is_empty()).map(|all| all.iter().sum())
}
