//! From a few seconds of measurement to a prediction of the whole ladder.

use fathom_plan::{RunLength, Step};

use crate::attribution::Observation;
use crate::closed::OpModel;
use crate::cost::{cost_model, thread_busy_shares};
use crate::fit::{Point, fit};

/// Measured time of a screening step.
const SCREEN_NS: u64 = 600_000_000;
/// Warm-up of a screening step.
const SCREEN_RAMP_NS: u64 = 150_000_000;
/// Rungs of a ladder from which its middle is screened, too.
const RUNGS_FOR_MIDDLE: usize = 4;
/// A worker this busy shows its core's rate, not the device's.
const CORE_BOUND: f64 = 0.92;

/// Predicted figures of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predicted {
    /// I/Os per second.
    pub iops: f64,
    /// Mean latency.
    pub lat_ns_mean: f64,
}

/// Whether steps differ in their load only, which is what one model predicts.
#[must_use]
pub fn same_ladder(a: &Step, b: &Step) -> bool {
    let same_work = a.workload == b.workload && a.engine == b.engine && a.role.settings == b.role.settings;
    let way = |step: &Step| (step.load.spread, step.load.pacing);
    same_work
        && way(a) == way(b)
        && a.role.ranks == b.role.ranks
        && a.placement == b.placement
        && a.targets == b.targets
}

fn predictable(step: &Step) -> bool {
    !step.is_open_loop() && step.phase == fathom_plan::Phase::Measure
}

/// The steps to screen: of each ladder the shallowest, the deepest with as many threads, and the middle of a long one.
/// Each is short; the labels say what they are.
#[must_use]
pub fn screen_steps(steps: &[Step]) -> Vec<Step> {
    let mut out: Vec<Step> = Vec::new();
    for (i, step) in steps.iter().enumerate().filter(|(_, s)| predictable(s)) {
        if steps[..i].iter().any(|s| predictable(s) && same_ladder(s, step)) {
            continue;
        }
        let mut rungs: Vec<&Step> = steps.iter().filter(|s| predictable(s) && same_ladder(s, step)).collect();
        // With more threads the core's part changes, which the cost of an I/O shows without a screen.
        let threads = rungs.iter().map(|s| s.load.threads).min().unwrap_or(1);
        rungs.retain(|s| s.load.threads == threads);
        rungs.sort_by_key(|s| s.in_flight_max());
        rungs.dedup_by_key(|s| s.in_flight_max());
        let mut chosen = vec![0, rungs.len() - 1];
        if rungs.len() >= RUNGS_FOR_MIDDLE {
            chosen.push(rungs.len() / 2);
        }
        chosen.sort_unstable();
        chosen.dedup();
        out.extend(chosen.into_iter().map(|r| screened(rungs[r])));
    }
    out
}

fn screened(step: &Step) -> Step {
    Step {
        label: format!("{} (screen)", step.label),
        length: RunLength::fixed(SCREEN_RAMP_NS, SCREEN_NS),
        ..step.clone()
    }
}

/// Predicts each step from the screened ones; `None` where its ladder was not screened, or loads cannot be predicted.
#[must_use]
pub fn predict_steps(screened: &[Observation], steps: &[Step]) -> Vec<Option<Predicted>> {
    steps.iter().map(|step| predict_step(screened, step)).collect()
}

fn predict_step(screened: &[Observation], step: &Step) -> Option<Predicted> {
    if !predictable(step) {
        return None;
    }
    let seen: Vec<&Observation> = screened.iter().filter(|o| same_ladder(o.step(), step) && o.iops() > 0.0).collect();
    let points: Vec<Point> = seen.iter().map(|o| Point { in_flight: o.in_flight(), iops: o.iops() }).collect();
    let n = step.in_flight_max();
    let free = match fit(&points) {
        Some(found) => with_free_core(found.model, &seen, n),
        // One depth alone: as fast as it, by Little's law at other depths until it is reached.
        None => points.first()?.iops * (f64::from(n) / f64::from(points.first()?.in_flight)).min(1.0),
    };
    let core = core_iops(&seen, step).unwrap_or(f64::INFINITY);
    let iops = free.min(core);
    Some(Predicted { iops, lat_ns_mean: f64::from(n) * 1e9 / iops })
}

/// The model's IOPS; where the core was the limit of the screen, its own rate takes no part.
fn with_free_core(model: OpModel, seen: &[&Observation], n: u32) -> f64 {
    let deepest = seen.iter().max_by_key(|o| o.in_flight());
    if deepest.is_some_and(|o| core_bound(o)) {
        return OpModel { stage_ns: 1e-3, ..model }.at(n).iops.max(model.at(n).iops);
    }
    model.at(n).iops
}

fn core_bound(o: &Observation) -> bool {
    let shares = o.host().map(thread_busy_shares).unwrap_or_default();
    !shares.is_empty() && shares.iter().sum::<f64>() / shares.len() as f64 >= CORE_BOUND
}

/// What the step's threads can do at the cost of an I/O of the deepest screened step.
fn core_iops(seen: &[&Observation], step: &Step) -> Option<f64> {
    let deepest = seen.iter().max_by_key(|o| o.in_flight())?;
    let host = deepest.host()?;
    let cost = cost_model(host, deepest.ios())?;
    let cpus = host.cpus.len() as f64;
    let threads = f64::from(step.workers());
    Some((threads * 1e9 / cost.thread_ns).min(cpus * 1e9 / (cost.thread_ns + cost.irq_ns)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_plan::{Overrides, parse_study, study_by_name};

    fn quick() -> Vec<Step> {
        let overrides = Overrides { targets: vec!["/dev/some".into()], ..Overrides::default() };
        parse_study(study_by_name("quick").expect("is shipped"), "quick.toml", &overrides).expect("is sound").steps
    }

    #[test]
    fn a_study_is_screened_in_seconds_by_the_ends_and_the_middle_of_each_ladder() {
        let screen = screen_steps(&quick());
        let labels: Vec<&str> = screen.iter().map(|s| s.label.as_str()).collect();
        assert!(labels.iter().any(|l| l.contains("4k random read") && l.contains("QD1 (screen)")), "{labels:?}");
        assert!(labels.iter().any(|l| l.contains("4k random read") && l.contains("QD64")), "{labels:?}");
        let total_ns: u64 = screen.iter().map(|s| s.length.ramp_ns + s.length.floor_ns).sum();
        assert!(total_ns < 10_000_000_000, "{total_ns}");
    }

    #[test]
    fn nothing_screened_predicts_nothing() {
        assert!(predict_steps(&[], &quick()).iter().all(Option::is_none));
    }
}
