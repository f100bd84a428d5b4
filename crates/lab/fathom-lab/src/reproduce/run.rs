//! Runs the steps of the articles on their simulated machines.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use fathom_message::{Message, Say, msg};
use fathom_model::catalogue::PublishedMetric;
use fathom_plan::label_message;
use fathom_record::{RunControl, Runner, StepRecord};
use fathom_sim::{Machine, SimRunner, builtin_machine};
use serde::Serialize;

use super::cells::LoadCell;

/// Virtual time of each step, and the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Window {
    /// Warm-up that is not counted, ms.
    pub ramp_ms: u32,
    /// Measured, ms.
    pub runtime_ms: u32,
    /// Seed of addresses and service times.
    pub seed: u64,
}

impl Default for Window {
    /// 20 ms and 100 ms: the slowest step of the articles then ends 1,500 I/Os.
    fn default() -> Self {
        Window { ramp_ms: 20, runtime_ms: 100, seed: 1 }
    }
}

/// What a step gave.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    /// `4k random read T16 QD2`.
    pub(super) label: String,
    pub(super) iops: f64,
    pub(super) bytes_per_s: f64,
    pub(super) lat_mean_ns: f64,
    /// Mean number of busy logical CPUs.
    pub(super) cores_busy: f64,
    /// Physical cores of the machine.
    pub(super) cores: u32,
    /// Physical cores that its threads were given, where they were pinned.
    pub(super) cores_given: f64,
}

impl Outcome {
    /// The value in a metric of the catalogue; `None` for one that a step does not have.
    pub(super) fn metric(&self, metric: PublishedMetric) -> Option<f64> {
        match metric {
            PublishedMetric::Iops => Some(self.iops),
            PublishedMetric::BytesPerS => Some(self.bytes_per_s),
            PublishedMetric::LatMeanNs => Some(self.lat_mean_ns),
            // The articles count physical cores as the whole: one of 40 is 2.5 %.
            PublishedMetric::CpuPct => Some(100.0 * self.cores_busy / f64::from(self.cores)),
            PublishedMetric::CoresBusy => Some(self.cores_busy),
            PublishedMetric::IopsPerCore => Some(self.iops / self.cores_given),
            _ => None,
        }
    }
}

/// The simulated machines, each read once.
#[derive(Debug, Default)]
pub(super) struct Machines(BTreeMap<String, Machine>);

impl Machines {
    /// Runs one load; `Ok(None)` when `stop` was set.
    ///
    /// # Errors
    /// What is at fault: the machine, its part, a knob or the step itself.
    pub(super) fn run(
        &mut self,
        load: &LoadCell,
        window: Window,
        stop: &AtomicBool,
    ) -> Result<Option<Outcome>, Message> {
        let name = fathom_sim::target_name(&load.target)
            .ok_or_else(|| msg!("reproduce-not-simulated", target = &load.target))?;
        if !self.0.contains_key(name.machine) {
            self.0.insert(name.machine.to_owned(), builtin_machine(name.machine).map_err(|e| e.message)?);
        }
        let machine = &self.0[name.machine];
        let parts = machine.members_of(name.part)?;
        let step = load.step(&parts, window).map_err(|e| e.message)?;
        // Each step starts from the same drives: the order of steps must not matter.
        let mut runner = SimRunner::new(machine.clone(), 0);
        let mut control = RunControl { stop, on_progress: &mut |_| {}, precise_enough: &|_, _| false };
        let record = runner.run(&step, &mut control).map_err(|e| e.message())?;
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let threads = f64::from(step.load.workers(parts.len() as u32));
        let given = cores_given(load, threads);
        let outcome = outcome(&step.label, &record, machine.host.cores(), given);
        let nothing = || msg!("reproduce-nothing-ended", step = label_message(&step), target = &load.target);
        outcome.map(Some).ok_or_else(nothing)
    }
}

/// Physical cores that the threads of a load were given.
pub(super) fn cores_given(load: &LoadCell, threads: f64) -> f64 {
    if load.placement.as_deref() == Some("smt") { (threads / 2.0).ceil() } else { threads }
}

/// `None` when nothing was measured: a step without I/Os has neither a latency nor a rate to set beside a published one.
fn outcome(label: &str, record: &StepRecord, cores: u32, cores_given: f64) -> Option<Outcome> {
    let seconds = (record.runtime_ns > 0).then(|| record.runtime_ns as f64 / 1e9)?;
    let host = record.host.as_ref().filter(|h| h.window_ns > 0)?;
    let busy_ns: u64 = host.cpus.iter().map(|(_, cpu)| cpu.busy_ns()).sum();
    Some(Outcome {
        label: label.to_owned(),
        iops: record.ios() as f64 / seconds,
        bytes_per_s: record.bytes() as f64 / seconds,
        lat_mean_ns: record.lat_merged()?.mean_ns()?,
        cores_busy: busy_ns as f64 / host.window_ns as f64,
        cores,
        cores_given,
    })
}

#[cfg(test)]
mod tests {
    use fathom_record::HostDelta;

    use super::*;
    use crate::samples;

    #[test]
    fn a_step_in_which_nothing_ended_has_no_figures_instead_of_a_latency_of_zero() {
        let of = |ios: u64, window_ns: u64| {
            let mut record = samples::record(&[ios]);
            record.host = Some(HostDelta { window_ns, ..HostDelta::default() });
            outcome("4k random read T1 QD1", &record, 4, 1.0).map(|o| (o.iops, o.lat_mean_ns.round()))
        };
        assert_eq!(of(12_500, 1_000_000_000), Some((12_500.0, 80_000.0)));
        assert_eq!(of(0, 1_000_000_000), None);
        assert_eq!(of(12_500, 0), None, "without counters nothing is known of the CPUs");
    }
}
