//! Published figures beside predicted ones.

use std::collections::BTreeSet;

use fathom_model::catalogue::{Catalogue, Figure};
use serde::Serialize;

use super::cells::{Cell, Cells, Parameter};
use crate::document::{Document, StepView};

/// An error up to this share of the published value is a hit, for figures in general, percent.
const NEAR_PCT: f64 = 10.0;
/// The same for figures that no parameter was fitted to, percent.
const NEAR_HELD_OUT_PCT: f64 = 15.0;
/// An error beyond this needs a written reason, percent.
const FAR_PCT: f64 = 25.0;
/// What is counted as reproduced: rates, mean latency and the use of the CPU.
const METRICS: [&str; 6] =
    ["iops", "bandwidth_bytes_per_s", "latency_us_mean", "cpu_pct", "cores_busy", "iops_per_core"];

/// The table and what it adds up to.
#[derive(Clone, Debug, Serialize)]
pub struct Reproduction {
    /// One row per published figure, in the order of the cells; those that no step stands for last.
    pub figures: Vec<FigureRow>,
    /// Counts.
    pub summary: Summary,
    /// Every fitted parameter.
    pub parameters: Vec<Parameter>,
}

/// A published figure and what the simulated platform gives.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigureRow {
    /// Id in the catalogue.
    pub id: String,
    /// Publication.
    pub article: String,
    /// `iops`, `latency_us_mean`...
    pub metric: String,
    /// Unit of `published` and `predicted`.
    pub unit: String,
    /// As published.
    pub published: f64,
    /// Upper end where a range is published.
    pub published_max: Option<f64>,
    /// `=`, `~`, `<`, `>`, `between`...
    pub relation: String,
    /// By the simulated platform; `None` where no step stands for the figure or the step failed.
    pub predicted: Option<f64>,
    /// (predicted - published) / published, percent; 0 inside a published range.
    pub error_pct: Option<f64>,
    /// Whether a parameter was fitted to it.
    pub fitted: bool,
    /// Whether arithmetic on the published figures contradicts it.
    pub inconsistent: bool,
    /// Whether it counts: measured, and a rate, mean latency or use of the CPU.
    pub counted: bool,
    /// The step: `4k random read T16 QD16 on sim:...`.
    pub step: Option<String>,
    /// Conditions that the article does not state.
    pub assumed: Option<String>,
    /// Why it is far off, or why nothing stands for it.
    pub reason: Option<String>,
}

/// Counts over the figures that count and do not contradict themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Figures with a prediction.
    pub figures: u32,
    /// Of them within 10 %.
    pub within_10_pct: u32,
    /// Of them beyond 25 % without a reason.
    pub unexplained: u32,
    /// Figures that no parameter was fitted to.
    pub held_out: u32,
    /// Of them within 15 %.
    pub held_out_within_15_pct: u32,
    /// Figures that count but have no prediction.
    pub without_prediction: u32,
    /// Marked as contradicting themselves; not counted above.
    pub inconsistent: u32,
}

/// Sets each figure of `cells` beside what `document`, a run of their plan, gives.
///
/// # Errors
/// A sentence naming a figure that the catalogue lacks.
pub fn score(cells: &Cells, document: &Document, catalogue: &Catalogue) -> Result<Reproduction, String> {
    let fitted: BTreeSet<&str> = cells.parameters.iter().flat_map(|p| &p.fitted_to).map(String::as_str).collect();
    let mut figures = Vec::new();
    for (cell, step) in cells.cells.iter().zip(&document.steps) {
        for id in &cell.figures {
            let figure = catalogue.figure(id).map_err(|e| e.to_string())?;
            figures.push(row(figure, Some((cell, step)), cells, fitted.contains(id.as_str())));
        }
    }
    for remark in &cells.left_out {
        let figure = catalogue.figure(&remark.figure).map_err(|e| e.to_string())?;
        if cells.cells.iter().any(|c| c.article == figure.source) {
            figures.push(row(figure, None, cells, false));
        }
    }
    let summary = summary(&figures);
    Ok(Reproduction { figures, summary, parameters: cells.parameters.clone() })
}

fn row(figure: &Figure, from: Option<(&Cell, &StepView)>, cells: &Cells, fitted: bool) -> FigureRow {
    let predicted = from.and_then(|(_, step)| predicted(figure, step));
    let reason = cells.reasons.iter().chain(&cells.left_out).find(|r| r.figure == figure.id).map(|r| r.why.clone());
    let failure = from.and_then(|(_, step)| step.reason.clone());
    FigureRow {
        id: figure.id.clone(),
        article: figure.source.clone(),
        metric: figure.metric.clone(),
        unit: figure.unit().to_owned(),
        published: figure.value,
        published_max: figure.value_max,
        relation: figure.relation.clone(),
        predicted,
        error_pct: predicted.map(|p| error_pct(figure, p)),
        fitted,
        inconsistent: !figure.self_consistent(),
        counted: matches!(figure.kind.as_str(), "measured") && METRICS.contains(&figure.metric.as_str()),
        step: from.map(|(_, step)| format!("{} on {}", step.label, step.targets.join(", "))),
        assumed: from.and_then(|(cell, _)| cell.assumed.clone()),
        reason: reason.or(failure),
    }
}

/// The step's value in the figure's metric; `None` for a metric that a step does not have, or a failed step.
fn predicted(figure: &Figure, step: &StepView) -> Option<f64> {
    if step.state != "measured" {
        return None;
    }
    let cpu = step.cpu.as_ref();
    match figure.metric.as_str() {
        "iops" => Some(step.iops),
        "bandwidth_bytes_per_s" => Some(step.bytes_per_s),
        "latency_us_mean" => step.lat_ns.as_ref().map(|l| l.mean / 1e3),
        // Task managers count logical CPUs.
        "cpu_pct" => cpu.map(|c| 100.0 * c.busy_cores / f64::from(c.cpus_online)),
        "cores_busy" => cpu.map(|c| c.busy_cores),
        // The articles divide by the cores that were given to the load.
        "iops_per_core" => Some(step.iops / cores_used(step)),
        _ => None,
    }
}

/// Physical cores that pinned threads occupied: siblings count once.
fn cores_used(step: &StepView) -> f64 {
    let threads = f64::from(step.threads * step.devices);
    if step.placement == "smt" { (threads / 2.0).ceil() } else { threads }
}

fn error_pct(figure: &Figure, predicted: f64) -> f64 {
    let low = figure.value;
    let high = figure.value_max.unwrap_or(low);
    let nearest = predicted.clamp(low.min(high), low.max(high));
    100.0 * (predicted - nearest) / nearest
}

fn summary(figures: &[FigureRow]) -> Summary {
    let mut sum = Summary::default();
    for row in figures.iter().filter(|r| r.counted) {
        if row.inconsistent {
            sum.inconsistent += 1;
            continue;
        }
        let Some(error) = row.error_pct.map(f64::abs) else {
            sum.without_prediction += 1;
            continue;
        };
        sum.figures += 1;
        sum.within_10_pct += u32::from(error <= NEAR_PCT);
        sum.unexplained += u32::from(error > FAR_PCT && row.reason.is_none());
        if !row.fitted {
            sum.held_out += 1;
            sum.held_out_within_15_pct += u32::from(error <= NEAR_HELD_OUT_PCT);
        }
    }
    sum
}
