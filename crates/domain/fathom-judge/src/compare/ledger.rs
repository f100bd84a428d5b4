//! The spread from run to run that the runs of a lab show, by host and kind of load.
//!
//! Nothing is kept for it: the ledger is worked out from runs that the lab holds. Runs of the same (same host, settings,
//! program and step) form a group, and how far they lie apart is the spread of their kind of load. Steps that one run
//! measured more than once (rounds of blocks, the first rung again at the end) show a part of it, which the spread is
//! never below. Only steps of the same name are set against each other, so the arms of an interleaved run, and what
//! drifts between neighbours in A B B A, do not pass for spread.

use std::collections::BTreeMap;

use fathom_plan::Phase;
use fathom_stats::{RunFigure, RunSpread};
use serde_json::Value;

use super::cell::run_figure;
use super::environment;
use super::runs::{beyond_pattern, likeness};
use crate::document::{ComparedFigure, Document, StepView};

/// Degrees of freedom from which the spread of past runs is used: three runs of the same.
const FREEDOM_MIN: f64 = 2.0;
/// Runs of a side from which they tell their own spread.
pub(super) const RUNS_MIN: usize = 3;
/// In flight up to here a load waits for single I/Os, above it keeps some busy, and from the next bound on all.
const IN_FLIGHT_CLASSES: [u64; 2] = [1, 16];

/// A run that the lab holds besides those compared, with the steps that may tell the spread of theirs.
#[derive(Clone, Debug, PartialEq)]
pub struct PastRun {
    /// Its number.
    pub run: i64,
    /// Version of the program.
    pub fathom: String,
    /// The simulated machine as text; `None` for a real one.
    pub machine: Option<String>,
    /// What is known of its host, as in a document.
    pub host: Value,
    /// Steps that were measured.
    pub steps: Vec<StepView>,
}

/// What is known of one figure of one kind of load on one host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry {
    /// The spread between runs.
    pub(super) spread: RunSpread,
    /// Runs that tell it.
    pub(super) runs: usize,
}

/// The spread from run to run by host and kind of load.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    entries: BTreeMap<String, Vec<(ComparedFigure, Entry)>>,
}

impl Ledger {
    /// From past runs, and from sides of the comparison that have three runs or more of their own.
    pub(super) fn of(past: &[PastRun], sides: &[Vec<&Document>]) -> Ledger {
        let mut kinds: BTreeMap<String, Kind<'_>> = BTreeMap::new();
        for run in past {
            let group = format!("{}|{:?}", environment::fingerprint(&run.host, &run.fathom), run.machine);
            add(&mut kinds, &group, run.run, &run.host, &run.steps);
        }
        for (index, side) in sides.iter().enumerate().filter(|(_, side)| side.len() >= RUNS_MIN) {
            // What the user calls one side is one group, and no other side is part of it: they may differ.
            for run in side {
                add(&mut kinds, &format!("side {index}"), run.run.id, &run.host, &run.steps);
            }
        }
        Ledger { entries: kinds.into_iter().map(|(key, kind)| (key, kind.entries())).collect() }
    }

    /// The spread of `figure` for steps of this kind; `None` where too few runs tell it.
    pub(super) fn entry(&self, kind: &str, figure: ComparedFigure) -> Option<Entry> {
        let of_kind = self.entries.get(kind)?;
        let entry = of_kind.iter().find(|(name, _)| *name == figure).map(|(_, entry)| *entry)?;
        (entry.spread.freedom >= FREEDOM_MIN).then_some(entry)
    }
}

/// Steps of one kind: by group of runs, name of the step, and run.
#[derive(Default)]
struct Kind<'a> {
    groups: BTreeMap<String, BTreeMap<String, BTreeMap<i64, Vec<&'a StepView>>>>,
}

impl Kind<'_> {
    fn entries(&self) -> Vec<(ComparedFigure, Entry)> {
        ComparedFigure::ALL.iter().filter_map(|figure| Some((*figure, self.entry(*figure)?))).collect()
    }

    fn entry(&self, figure: ComparedFigure) -> Option<Entry> {
        let of_runs = |runs: &BTreeMap<i64, Vec<&StepView>>| -> Vec<RunFigure> {
            runs.values().filter_map(|steps| run_figure(figure, steps)).collect()
        };
        let between: Vec<Vec<Vec<RunFigure>>> =
            self.groups.values().map(|cells| cells.values().map(of_runs).collect()).collect();
        let runs = between.iter().map(|cells| cells.iter().map(Vec::len).max().unwrap_or(0)).filter(|n| *n > 1).sum();
        let mut spread = RunSpread::of(&between)?;
        let within: Vec<Vec<Vec<RunFigure>>> = self
            .groups
            .values()
            .flat_map(BTreeMap::values)
            .flat_map(BTreeMap::values)
            .map(|steps| vec![steps.iter().filter_map(|step| run_figure(figure, &[step])).collect()])
            .collect();
        if let Some(repeats) = RunSpread::of(&within).filter(|repeats| repeats.freedom >= FREEDOM_MIN) {
            spread.deviation = spread.deviation.max(repeats.deviation);
        }
        Some(Entry { spread, runs })
    }
}

fn add<'a>(kinds: &mut BTreeMap<String, Kind<'a>>, group: &str, run: i64, host: &Value, steps: &'a [StepView]) {
    for step in steps.iter().filter(|s| s.phase == Phase::Measure && s.ios > 0) {
        let Some(kind) = kind_of(host, step) else { continue };
        let cell = format!(
            "{}|{:?}|{:?}|{:?}",
            likeness(step, true, 0),
            step.targets,
            step.footprint_bytes,
            step.role.conditioning
        );
        let cells = kinds.entry(kind).or_default().groups.entry(group.to_owned()).or_default();
        cells.entry(cell).or_default().entry(run).or_default().push(step);
    }
}

/// The kind of load of a step, with the host and the make of the drives; `None` where the host is not known, as for
/// what was imported from other tools.
pub(super) fn kind_of(host: &Value, step: &StepView) -> Option<String> {
    let in_flight = u64::from(step.threads) * u64::from(step.queue_depth) * u64::from(step.devices);
    let class = IN_FLIGHT_CLASSES.iter().filter(|bound| in_flight > **bound).count();
    Some(format!(
        "{}|{:?}|{}|{}|{}|{}|{:?}|{:?}|{}|{}|{}|{}|{}|{}|{class}",
        host_identity(host)?,
        environment::makes(host, &step.targets),
        step.op,
        step.read_pct,
        step.pattern,
        step.block_size_bytes,
        step.engine,
        step.mode,
        step.direct,
        step.durability.words().unwrap_or_default(),
        beyond_pattern(step),
        step.spread.as_str(),
        step.rate_iops.is_some() || step.role.rate_share.is_some(),
        // Beside other loads a load wobbles with them.
        step.role.stream.is_some(),
    ))
}

/// Which machine it was, as far as its facts tell; `None` when they do not.
#[must_use]
pub fn host_identity(host: &Value) -> Option<String> {
    let text = |pointer: &str| host.pointer(pointer).filter(|v| !v.is_null()).map(Value::to_string).unwrap_or_default();
    // Facts of a host always name its cores; a result of another tool does not.
    host.get("cores").filter(|cores| cores.is_number())?;
    let facts = ["/cpu_model", "/cores", "/packages", "/hypervisor", "/simulated/machine"];
    Some(facts.map(text).join("|"))
}
