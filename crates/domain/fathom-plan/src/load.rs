//! How much is asked at once: threads and the targets that each drives, depth, arrivals, pauses.

use serde::{Deserialize, Serialize};

use crate::pacing::Pacing;
use crate::step::{Op, OpMix};

/// Distribution of open-loop arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RateProcess {
    /// Equal gaps.
    Fixed,
    /// Exponential gaps.
    Poisson,
    /// Those of a trace; the rate is its mean.
    Recorded,
}

/// An arrival rate: makes the load open loop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Rate {
    /// Intended I/Os per second over all threads and targets of the step.
    pub iops: f64,
    /// Distribution of the gaps.
    pub process: RateProcess,
}

/// Rates of reads and of writes, each independent of the other and of the mix.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OpRates {
    /// Reads per second over all threads and targets of the step; `None`: no limit.
    pub read_iops: Option<f64>,
    /// Writes per second, likewise.
    pub write_iops: Option<f64>,
    /// Distribution of the gaps.
    pub process: RateProcess,
}

/// Which targets a thread drives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// One: each target has `threads` threads of its own.
    #[default]
    EachTarget,
    /// Its share: the targets are dealt out to `threads` threads, of which each drives every `threads`-th target. With more
    /// threads than targets, the threads are dealt out to the targets.
    Targets,
    /// All: each of `threads` threads drives every target, as a job of fio does that names several files.
    AllTargets,
}

/// How much is asked at once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Load {
    /// Threads: of each target or of the step, as `spread` says.
    pub threads: u32,
    /// Which targets a thread drives.
    #[serde(default, skip_serializing_if = "Spread::is_default")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub spread: Spread,
    /// I/Os in flight per thread, over all the targets that it drives (the most, when `rate` is set).
    pub queue_depth: u32,
    /// I/Os handed to the kernel per call at most; `None`: the engine chooses, up to 16 when a
    /// call per I/O would slow the thread, one by one when the device sets the pace.
    pub batch_submit: Option<u32>,
    /// Completions waited for per call at least; `None`: the engine's default.
    pub batch_complete_min: Option<u32>,
    /// Completions taken per call at most, with a stamp for each I/O; `None`: all that are ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub batch_complete_max: Option<u32>,
    /// `None`: closed loop.
    pub rate: Option<Rate>,
    /// Rates of single operations. With both set, `rate` is their sum and each operation arrives at its own rate. With one
    /// set, the loop is closed and that operation is limited to its rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub op_rates: Option<OpRates>,
    /// What holds threads back beside that.
    #[serde(default, skip_serializing_if = "Pacing::is_free")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub pacing: Pacing,
}

impl Spread {
    /// All of them.
    pub const ALL: [Spread; 3] = [Spread::EachTarget, Spread::Targets, Spread::AllTargets];

    /// The word of study files and the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Spread::EachTarget => "each_target",
            Spread::Targets => "targets",
            Spread::AllTargets => "all_targets",
        }
    }

    /// Threads of a step over so many targets, of a load with `threads`.
    #[must_use]
    pub fn workers(self, threads: u32, targets: u32) -> u32 {
        match self {
            Spread::EachTarget => threads * targets,
            Spread::Targets | Spread::AllTargets => threads,
        }
    }

    /// Whether it is what a load has that says nothing.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Spread::EachTarget
    }
}

impl Load {
    /// A closed loop, of `threads` on each target.
    #[must_use]
    pub fn closed(threads: u32, queue_depth: u32) -> Load {
        Load {
            threads,
            spread: Spread::EachTarget,
            queue_depth,
            batch_submit: None,
            batch_complete_min: None,
            batch_complete_max: None,
            rate: None,
            op_rates: None,
            pacing: Pacing::default(),
        }
    }

    /// True if a rate limits any operation, in an open or a closed loop.
    #[must_use]
    pub fn has_rates(&self) -> bool {
        self.rate.is_some() || self.op_rates.is_some()
    }

    /// Distribution of the gaps between I/Os whose rate is set.
    #[must_use]
    pub fn process(&self) -> Option<RateProcess> {
        self.rate.map(|rate| rate.process).or(self.op_rates.map(|rates| rates.process))
    }

    /// Threads of a step over so many targets.
    #[must_use]
    pub fn workers(&self, targets: u32) -> u32 {
        self.spread.workers(self.threads, targets)
    }

    /// For each of `targets` its threads, ascending.
    #[must_use]
    pub fn workers_by_target(&self, targets: u32) -> Vec<Vec<u32>> {
        let mut by_target = vec![Vec::new(); targets as usize];
        for worker in 0..self.workers(targets) {
            for target in self.targets_of(worker, targets) {
                by_target[target as usize].push(worker);
            }
        }
        by_target
    }

    /// The targets that thread `worker` of a step over `targets` drives, as positions in the step, ascending.
    #[must_use]
    pub fn targets_of(&self, worker: u32, targets: u32) -> Vec<u32> {
        match self.spread {
            Spread::EachTarget => vec![worker / self.threads.max(1)],
            Spread::Targets if self.threads > targets => vec![worker % targets.max(1)],
            Spread::Targets => (worker..targets).step_by(self.threads.max(1) as usize).collect(),
            Spread::AllTargets => (0..targets).collect(),
        }
    }
}

impl OpRates {
    /// Rate of an operation; `None`: no limit.
    #[must_use]
    pub fn of(&self, op: Op) -> Option<f64> {
        match op {
            Op::Read => self.read_iops,
            Op::Write => self.write_iops,
            Op::Trim | Op::Sync => None,
        }
    }

    /// I/Os per second of both operations; `None`: one of them has no limit.
    #[must_use]
    pub fn sum_iops(&self) -> Option<f64> {
        Some(self.read_iops? + self.write_iops?)
    }

    /// Share of writes, in [0, 1]; `None`: one of the operations has no limit.
    #[must_use]
    pub fn write_share(&self) -> Option<f64> {
        Some(self.write_iops? / self.sum_iops()?)
    }

    /// The mix that both rates make, in whole percents; what is rarer than half a percent counts as one.
    #[must_use]
    pub fn mix(&self) -> Option<OpMix> {
        let write_pct = (100.0 * self.write_share()?).round().clamp(1.0, 99.0) as u8;
        Some(OpMix { read_pct: 100 - write_pct, write_pct, trim_pct: 0 })
    }
}

impl RateProcess {
    /// The word of study files and the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            RateProcess::Fixed => "fixed",
            RateProcess::Poisson => "poisson",
            RateProcess::Recorded => "recorded",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_driven_and_no_thread_idles() {
        for (spread, threads, targets) in [1_u32, 2, 3, 7, 16]
            .into_iter()
            .flat_map(|threads| [1_u32, 2, 5, 16].map(|targets| (threads, targets)))
            .flat_map(|(threads, targets)| Spread::ALL.map(|spread| (spread, threads, targets)))
        {
            let load = Load { spread, ..Load::closed(threads, 1) };
            let of = |worker| load.targets_of(worker, targets);
            let mut threads_on = vec![0; targets as usize];
            for worker in 0..load.workers(targets) {
                assert!(!of(worker).is_empty(), "{spread:?} {threads} threads, {targets} targets");
                of(worker).iter().for_each(|target| threads_on[*target as usize] += 1);
            }
            let (least, most) = (threads_on.iter().min(), threads_on.iter().max());
            match spread {
                Spread::EachTarget | Spread::AllTargets => assert_eq!((least, most), (Some(&threads), Some(&threads))),
                Spread::Targets => assert!(least >= Some(&1) && most.unwrap() - least.unwrap() <= 1),
            }
        }
    }
}
