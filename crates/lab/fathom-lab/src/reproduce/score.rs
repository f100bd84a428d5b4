//! Published figures beside predicted ones.

use std::collections::{BTreeMap, BTreeSet};

use fathom_message::{Message, Quantity, Unit, msg};
use fathom_model::catalogue::{Catalogue, Figure, FigureKind, FigureRelation, PublishedMetric};
use serde::Serialize;

use super::cells::{Cell, Cells, Parameter, PictureCells};
use super::run::{Outcome, Window};

/// An error up to this share of the published value is a hit, for figures in general, percent.
const NEAR_PCT: f64 = 10.0;
/// The same for figures that no parameter was fitted to, percent.
const NEAR_HELD_OUT_PCT: f64 = 15.0;
/// An error beyond this needs a written reason, percent.
const FAR_PCT: f64 = 25.0;
/// What is counted as reproduced: rates, mean latency and the use of the CPU.
const METRICS: [PublishedMetric; 6] = [
    PublishedMetric::Iops,
    PublishedMetric::BytesPerS,
    PublishedMetric::LatMeanNs,
    PublishedMetric::CpuPct,
    PublishedMetric::CoresBusy,
    PublishedMetric::IopsPerCore,
];

/// Version of this form.
const SCHEMA: u32 = 2;

/// The table and what it adds up to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Reproduction {
    /// Version of this form.
    pub schema: u32,
    /// The publications, in the order of their cells.
    pub articles: Vec<Article>,
    /// Virtual time of each step.
    pub window: Window,
    /// One row per published figure, in the order of the cells; those that no step stands for last in their article.
    pub figures: Vec<FigureRow>,
    /// Charts of the articles, drawn again.
    pub pictures: Vec<Picture>,
    /// Every fitted parameter.
    pub parameters: Vec<Parameter>,
    /// Counts.
    pub summary: Summary,
}

/// A publication and the machines that stand for its platforms.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Article {
    /// Name in the catalogue.
    pub id: String,
    /// Title.
    pub title: String,
    /// Who published it.
    pub publisher: String,
    /// Where it can be read, where known.
    pub url: Option<String>,
    /// Simulated machines: `r830-ws2016`.
    pub machines: Vec<String>,
}

/// A published figure and what the simulated platform gives.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FigureRow {
    /// Id in the catalogue.
    pub id: String,
    /// Publication.
    pub article: String,
    /// What is counted.
    pub metric: PublishedMetric,
    /// Unit of `published` and `predicted`.
    pub unit: Unit,
    /// The published value.
    pub published: f64,
    /// Upper end where a range is published.
    pub published_max: Option<f64>,
    /// How the publication words it.
    pub relation: FigureRelation,
    /// By the simulated platform; `None` where no step stands for the figure.
    pub predicted: Option<f64>,
    /// (predicted - published) / published, percent; 0 inside a published range.
    pub error_pct: Option<f64>,
    /// Whether a parameter was fitted to it or to another figure of the same step.
    pub fitted: bool,
    /// Arithmetic on the published figures that this one contradicts.
    pub contradiction: Option<Message>,
    /// Whether it counts: measured, and a rate, mean latency or use of the CPU.
    pub counted: bool,
    /// The step: `4k random read T16 QD2`.
    pub step: Option<String>,
    /// `sim:MACHINE/PART`.
    pub target: Option<String>,
    /// Conditions that the article does not state.
    pub assumed: Option<String>,
    /// Why it is far off, or why nothing stands for it.
    pub reason: Option<String>,
}

/// A chart of an article, drawn again.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Picture {
    /// Publication.
    pub article: String,
    /// What it shows.
    pub title: String,
    /// Name of the x axis.
    pub x: String,
    /// Metrics drawn.
    pub shows: Vec<PublishedMetric>,
    /// Lines or groups of bars.
    pub series: Vec<PictureSeries>,
}

/// One line of a chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PictureSeries {
    /// What tells it from the others.
    pub name: String,
    /// Its points, in order.
    pub points: Vec<PicturePoint>,
}

/// One point of a chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PicturePoint {
    /// Its place on the x axis.
    pub x: String,
    /// The step.
    pub step: String,
    /// Value by metric.
    pub values: BTreeMap<PublishedMetric, f64>,
    /// Published figures that belong to the point.
    pub published: Vec<Published>,
}

/// A published figure as a mark in a chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Published {
    /// Id in the catalogue.
    pub id: String,
    /// What is counted.
    pub metric: PublishedMetric,
    /// The published value.
    pub value: f64,
    /// Upper end where a range is published.
    pub value_max: Option<f64>,
}

/// Counts over the figures that count and do not contradict themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Summary {
    /// Figures with a prediction.
    pub figures: u32,
    /// Of them within 10 %.
    pub within_10_pct: u32,
    /// Of them beyond 25 %.
    pub beyond_25_pct: u32,
    /// Of them beyond 25 % without a reason.
    pub unexplained: u32,
    /// Figures of steps that no parameter was fitted to.
    pub held_out: u32,
    /// Of them within 15 %.
    pub held_out_within_15_pct: u32,
    /// Figures that count but have no prediction.
    pub without_prediction: u32,
    /// Figures that contradict themselves; not counted above.
    pub contradicted: u32,
}

/// Sets each figure of `cells` beside what its step gave; `of_cells` and `of_points` are in the order of the cells and
/// of the points of the pictures.
///
/// # Errors
/// Which figure or source the catalogue lacks.
pub(super) fn score(
    cells: &Cells,
    of_cells: &[Outcome],
    of_points: &[Outcome],
    catalogue: &Catalogue,
    window: Window,
) -> Result<Reproduction, Message> {
    let mut figures = Vec::new();
    let mut articles = Vec::new();
    for name in cells.articles() {
        articles.push(article(name, cells, catalogue)?);
        for (cell, outcome) in cells.cells.iter().zip(of_cells).filter(|(cell, _)| cell.article == name) {
            for id in &cell.figures {
                figures.push(row(named(catalogue, id)?, Some((cell, outcome)), cells, catalogue));
            }
        }
        for remark in &cells.left_out {
            let figure = named(catalogue, &remark.figure)?;
            if figure.source == name {
                figures.push(row(figure, None, cells, catalogue));
            }
        }
    }
    let mut left = of_points;
    let pictures =
        cells.pictures.iter().map(|p| picture(p, &mut left, catalogue)).collect::<Result<Vec<_>, Message>>()?;
    let summary = summary(&figures);
    let parameters = cells.parameters.clone();
    Ok(Reproduction { schema: SCHEMA, articles, window, figures, pictures, parameters, summary })
}

fn named<'a>(catalogue: &'a Catalogue, id: &str) -> Result<&'a Figure, Message> {
    catalogue.figure(id).map_err(|e| e.message)
}

fn article(name: &str, cells: &Cells, catalogue: &Catalogue) -> Result<Article, Message> {
    let source = catalogue.source(name).map_err(|e| e.message)?;
    let mut machines: Vec<String> = Vec::new();
    for machine in cells.cells.iter().filter(|c| c.article == name).filter_map(|c| c.load.machine()) {
        if !machines.iter().any(|m| m == machine) {
            machines.push(machine.to_owned());
        }
    }
    Ok(Article {
        id: source.id.clone(),
        title: source.title.clone(),
        publisher: source.publisher.clone(),
        url: source.url.clone(),
        machines,
    })
}

fn row(figure: &Figure, from: Option<(&Cell, &Outcome)>, cells: &Cells, catalogue: &Catalogue) -> FigureRow {
    let predicted = from.and_then(|(_, outcome)| outcome.metric(figure.metric));
    let fitted: BTreeSet<&String> = cells.parameters.iter().flat_map(|p| &p.fitted_to).collect();
    // Little's law and the block size tie the figures of a step to each other: one that was fitted binds them all.
    let of_step = from.map_or(&[][..], |(cell, _)| &cell.figures);
    FigureRow {
        id: figure.id.clone(),
        article: figure.source.clone(),
        metric: figure.metric,
        unit: figure.metric.unit(),
        published: figure.value,
        published_max: figure.value_max,
        relation: figure.relation,
        predicted,
        error_pct: predicted.map(|p| error_pct(figure, p)),
        fitted: fitted.contains(&figure.id) || of_step.iter().any(|id| fitted.contains(id)),
        contradiction: contradiction(figure, catalogue),
        counted: figure.kind == FigureKind::Measured && METRICS.contains(&figure.metric),
        step: from.map(|(_, outcome)| outcome.label.clone()),
        target: from.map(|(cell, _)| cell.load.target.clone()),
        assumed: from.and_then(|(cell, _)| cell.assumed.clone()),
        reason: cells.reasons.iter().chain(&cells.left_out).find(|r| r.figure == figure.id).map(|r| r.why.clone()),
    }
}

/// Which law the figure breaks, and by how much.
fn contradiction(figure: &Figure, catalogue: &Catalogue) -> Option<Message> {
    if figure.self_consistent() {
        return None;
    }
    let check = catalogue.checks().iter().find(|c| figure.doubted_by.contains(&c.id));
    Some(check.map_or_else(
        || match figure.kind {
            FigureKind::Garbled => msg!("reproduce-garbled"),
            _ => msg!("reproduce-bogus"),
        },
        |c| {
            msg!(
                "reproduce-contradiction",
                law = &c.law,
                formula = &c.formula,
                expected = c.expected.to_string(),
                ratio = Quantity::new(c.ratio, Unit::Count)
            )
        },
    ))
}

fn error_pct(figure: &Figure, predicted: f64) -> f64 {
    let low = figure.value;
    let high = figure.value_max.unwrap_or(low);
    let nearest = predicted.clamp(low.min(high), low.max(high));
    100.0 * (predicted - nearest) / nearest
}

/// The picture with the next outcomes of `left`.
fn picture(cells: &PictureCells, left: &mut &[Outcome], catalogue: &Catalogue) -> Result<Picture, Message> {
    let mut series = Vec::new();
    for line in &cells.series {
        let mut points = Vec::new();
        for point in &line.points {
            let (outcome, rest) = left.split_first().ok_or_else(|| msg!("reproduce-points-without-steps"))?;
            *left = rest;
            let mut published = Vec::new();
            for id in &point.figures {
                let figure = named(catalogue, id)?;
                published.push(Published {
                    id: figure.id.clone(),
                    metric: figure.metric,
                    value: figure.value,
                    value_max: figure.value_max,
                });
            }
            let values = METRICS.into_iter().filter_map(|m| outcome.metric(m).map(|v| (m, v))).collect();
            points.push(PicturePoint { x: point.x.clone(), step: outcome.label.clone(), values, published });
        }
        series.push(PictureSeries { name: line.name.clone(), points });
    }
    Ok(Picture {
        article: cells.article.clone(),
        title: cells.title.clone(),
        x: cells.x.clone(),
        shows: cells.shows.clone(),
        series,
    })
}

fn summary(figures: &[FigureRow]) -> Summary {
    let mut sum = Summary::default();
    for row in figures.iter().filter(|r| r.counted) {
        if row.contradiction.is_some() {
            sum.contradicted += 1;
            continue;
        }
        let Some(error) = row.error_pct.map(f64::abs) else {
            sum.without_prediction += 1;
            continue;
        };
        sum.figures += 1;
        sum.within_10_pct += u32::from(error <= NEAR_PCT);
        sum.beyond_25_pct += u32::from(error > FAR_PCT);
        sum.unexplained += u32::from(error > FAR_PCT && row.reason.is_none());
        if !row.fitted {
            sum.held_out += 1;
            sum.held_out_within_15_pct += u32::from(error <= NEAR_HELD_OUT_PCT);
        }
    }
    sum
}
