//! A measured step as the attribution sees it.

use std::sync::{Arc, OnceLock};

use fathom_plan::{Mode, Placement, Step};
use fathom_record::{FeatureName, HostDelta, Interval, OpenLoop, StepRecord, ThreadRecord};

use super::cap::Pace;
use super::facts::StepFacts;
use crate::ceilings::{Ceiling, ceilings};
use crate::machine::Shape;

/// A measured step as the attribution sees it: small, so that a run of a thousand steps is judged at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    pub(super) step: Step,
    pub(super) ios: u64,
    pub(super) bytes: u64,
    pub(super) runtime_ns: u64,
    /// Median over its intervals of the I/Os per second, over their mean: above 1 where it stood still now and then.
    pub(super) typical_over_mean: f64,
    /// Half the width of the 95 % interval of its IOPS, as a share of them; `None` where the step was too short for one.
    pub(super) iops_rel_half_width: Option<f64>,
    /// What a probe gave that took turns with the step it explains.
    pub(super) levelled: Option<Levelled>,
    /// Whether another step stands for the block that it belongs to.
    pub(super) is_folded: bool,
    pub(super) mean_lat_ns: Option<f64>,
    /// Syncs and their mean time.
    pub(super) syncs: Option<(u64, f64)>,
    pub(super) pace: Pace,
    pub(super) in_flight_mean: Option<f64>,
    /// Share of the threads' time in pauses that the load asks for.
    pub(super) paused_share: f64,
    pub(super) open_loop: Option<OpenLoop>,
    pub(super) host: Option<HostDelta>,
    /// CPUs that workers were pinned to, or never left.
    pub(super) worker_cpus: Vec<u32>,
    /// Engine features that were in force or not.
    pub(super) features: Vec<(FeatureName, bool)>,
    pub(super) facts: Option<Arc<StepFacts>>,
    /// Worked out when they are first asked for: many steps ask those of many others.
    pub(super) ceilings: OnceLock<Vec<Ceiling>>,
}

/// What a probe gave that took turns with the step it explains, on the level of that step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Levelled {
    pub(super) iops: f64,
    /// Half the width of its 95 % interval, as a share.
    pub(super) rel_half_width: f64,
}

fn paused_share(record: &StepRecord) -> f64 {
    let paused_ns: u64 = record.threads.iter().map(|thread| thread.paused_ns).sum();
    paused_ns as f64 / (record.runtime_ns.max(1) as f64 * record.threads.len().max(1) as f64)
}

/// CPUs that the worker was bound to, or the one that it never left; none for one that the scheduler moved about.
fn home_cpus(thread: &ThreadRecord) -> &[u32] {
    let stayed = thread.cpus_seen.len() == 1 && thread.migrations.unwrap_or(0) == 0;
    if thread.cpus_allowed.is_empty() && stayed { &thread.cpus_seen } else { &thread.cpus_allowed }
}

/// An interval with less than this share of the median is a pause.
const PAUSE: f64 = 0.5;
/// The most that is taken for pauses.
const PAUSES_MAX: f64 = 1.05;

fn typical_over_mean(record: &StepRecord) -> Option<f64> {
    let rate = |i: &Interval| i.directions.iter().map(|d| d.ios).sum::<u64>() as f64 / i.length_ns.max(1) as f64;
    let mut rates: Vec<f64> = record.intervals.iter().map(rate).collect();
    rates.sort_by(f64::total_cmp);
    let mean = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
    let median = *rates.get(rates.len() / 2)?;
    // Pauses are taken out; two levels or a drift are what the step gave.
    let has_pauses = rates.first().is_some_and(|least| *least < PAUSE * median);
    (mean > 0.0 && has_pauses).then(|| (median / mean).clamp(1.0, PAUSES_MAX))
}

impl Observation {
    /// What counts of a record.
    #[must_use]
    pub fn of(step: &Step, record: &StepRecord) -> Observation {
        let mut worker_cpus: Vec<u32> = record.threads.iter().flat_map(|t| home_cpus(t).iter().copied()).collect();
        worker_cpus.sort_unstable();
        worker_cpus.dedup();
        let lat = record.lat_merged();
        let (mean_lat_ns, stddev_ns) = lat.as_ref().map_or((None, None), |h| (h.mean_ns(), h.stddev_ns()));
        Observation {
            step: step.clone(),
            ios: record.ios(),
            bytes: record.bytes(),
            runtime_ns: record.runtime_ns,
            typical_over_mean: typical_over_mean(record).unwrap_or(1.0),
            iops_rel_half_width: fathom_stats::iops_estimate(&record.intervals).rel_half_width(),
            levelled: None,
            is_folded: false,
            mean_lat_ns,
            syncs: record.syncs.as_ref().and_then(|d| Some((d.ios, d.lat.histogram()?.mean_ns()?))),
            pace: Pace::of(&record.intervals, stddev_ns.zip(mean_lat_ns).map(|(stddev, mean)| stddev / mean)),
            in_flight_mean: record.in_flight_mean,
            paused_share: paused_share(record),
            open_loop: record.open_loop.clone(),
            host: record.host.clone(),
            worker_cpus,
            features: record.features.iter().map(|f| (f.name.clone(), f.is_used())).collect(),
            facts: None,
            ceilings: OnceLock::new(),
        }
    }

    /// Adds what is known of the machine the step ran on.
    #[must_use]
    pub fn on(mut self, facts: Arc<StepFacts>) -> Observation {
        self.facts = Some(facts);
        self.ceilings = OnceLock::new();
        self
    }

    /// The step.
    #[must_use]
    pub fn step(&self) -> &Step {
        &self.step
    }

    /// Completed I/Os.
    #[must_use]
    pub fn ios(&self) -> u64 {
        self.ios
    }

    /// Counters of the host, where they were sampled.
    #[must_use]
    pub fn host(&self) -> Option<&HostDelta> {
        self.host.as_ref()
    }

    /// I/Os per second; of a probe that took turns with the step it explains, on the level of that step.
    #[must_use]
    pub fn iops(&self) -> f64 {
        self.levelled.map_or_else(|| self.measured_iops(), |level| level.iops)
    }

    /// I/Os per second as they were measured.
    pub(super) fn measured_iops(&self) -> f64 {
        match self.runtime_ns {
            0 => 0.0,
            ns => self.ios as f64 * 1e9 / ns as f64,
        }
    }

    /// Half the width of the 95 % interval of [`Observation::iops`], as a share of them; `None` where the step was too short.
    pub(super) fn rel_half_width(&self) -> Option<f64> {
        self.levelled.map_or(self.iops_rel_half_width, |level| Some(level.rel_half_width))
    }

    /// Whether it serves as a neighbour of other steps.
    pub(super) fn is_neighbour(&self) -> bool {
        self.ios > 0 && !self.is_folded
    }

    /// I/Os per second while it went on as usual: what a part that is full carries, whatever stopped it now and then.
    pub(super) fn typical_iops(&self) -> f64 {
        self.iops() * self.typical_over_mean
    }

    pub(super) fn bytes_per_s(&self) -> f64 {
        match self.runtime_ns {
            0 => 0.0,
            ns => self.bytes as f64 * 1e9 / ns as f64,
        }
    }

    /// I/Os in flight over all threads and targets.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.step.in_flight_max()
    }

    pub(super) fn threads(&self) -> u32 {
        self.step.workers()
    }

    /// The load as ceilings see it.
    #[must_use]
    pub fn shape(&self) -> Shape {
        let drives = self.facts.as_ref().map_or(0, |f| f.drives.len() as u32);
        Shape::of(&self.step, drives.max(self.step.targets.len() as u32))
    }

    /// Ceilings of the machine under this load, lowest first; empty when nothing is known of the machine. The cost of an
    /// I/O is the measured one, where the machine's is not known.
    #[must_use]
    pub fn ceilings(&self) -> &[Ceiling] {
        self.ceilings.get_or_init(|| {
            let Some(facts) = &self.facts else { return Vec::new() };
            let mut machine = facts.machine.clone();
            if machine.cost.is_none() {
                machine.cost = self.host.as_ref().and_then(|h| crate::cost::cost_model(h, self.ios));
            }
            ceilings(&machine, &self.shape())
        })
    }

    /// Whether workers or kernel threads spin, so that a busy CPU says nothing.
    pub(super) fn polls(&self) -> bool {
        let used = |name: FeatureName| self.features.contains(&(name, true));
        self.step.engine.mode != Mode::Interrupt
            || [FeatureName::Iopoll, FeatureName::Sqpoll, FeatureName::UserSpace].into_iter().any(used)
    }

    /// CPUs that the run may use: those of its list, else all of the host.
    pub(super) fn allowed_cpus(&self) -> Vec<u32> {
        match (&self.step.placement, &self.host) {
            (Placement::Cpus(list), _) => list.clone(),
            (_, Some(host)) => host.cpus.iter().map(|(cpu, _)| *cpu).collect(),
            _ => Vec::new(),
        }
    }

    pub(super) fn is_null(&self) -> bool {
        self.step.is_without_storage()
    }
}
