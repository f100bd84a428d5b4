//! The articles, each predicted from data sheets and the other articles alone: what the predictions of a system that nobody
//! measured yet are worth.
//!
//! Nothing is fitted anew: of a device what was fitted to figures of the article is taken back to its ratings; its engine costs
//! what another publication says; its cards are links; and the width of the bands is that which the figures of the *other*
//! articles ask for.

use fathom_message::{Message, msg};
use fathom_model::catalogue::{Catalogue, Figure, FigureKind, PublishedMetric};
use fathom_model::{FigureBand, FigureScale};
use serde::{Deserialize, Serialize};

use super::ReproduceError;
use super::cells::Cells;
use super::described::System;
use super::skill::{ScoreKind, Scored, Skill, scale_of, scaled};

const FILE: &str = "catalogue/described.toml";
const TEXT: &str = include_str!("../../../../../catalogue/described.toml");

/// Version of this form.
const SCHEMA: u32 = 1;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Systems {
    system: Vec<System>,
}

/// All articles, each left out in turn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeftOut {
    /// Version of this form.
    pub schema: u32,
    /// One row per figure that was predicted.
    pub figures: Vec<LeftOutRow>,
    /// Figures that count but have no prediction: nothing on a sheet tells of them.
    pub without_prediction: u32,
    /// All figures.
    pub skill: Option<Skill>,
    /// By kind of figure.
    pub by_kind: Vec<(ScoreKind, Skill)>,
    /// By article.
    pub by_article: Vec<(String, Skill)>,
    /// Factors on the widths that the figures of all articles ask for: those of a system that is in none.
    pub scale: FigureScale,
}

/// A published figure and what was predicted of it without its article.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeftOutRow {
    /// Id in the catalogue.
    pub id: String,
    /// Publication.
    pub article: String,
    /// What is counted.
    pub metric: PublishedMetric,
    /// The step.
    pub step: String,
    /// Where a range is published, its end nearest to the prediction.
    pub published: f64,
    /// By arithmetic.
    pub baseline: Option<f64>,
    /// Without the article.
    pub predicted: f64,
    /// How far it may lie, as wide as the other articles ask for.
    pub band: FigureBand,
    /// Whether the figure lies in the band of 90 %.
    pub is_inside: bool,
}

/// Predicts every counted figure of the articles without its article.
///
/// # Errors
/// [`ReproduceError::Cell`]: what is at fault in the shipped files.
pub fn left_out(cells: &Cells, catalogue: &Catalogue) -> Result<LeftOut, ReproduceError> {
    table(cells, catalogue).map_err(ReproduceError::Cell)
}

fn table(cells: &Cells, catalogue: &Catalogue) -> Result<LeftOut, Message> {
    let systems: Systems = toml::from_str(TEXT)
        .map_err(|e| msg!("what-and-why", what = FILE, why = Message::verbatim(e.message().to_owned())))?;
    let mut found: Vec<(&Figure, Scored, String)> = Vec::new();
    let mut without_prediction = 0;
    for (index, cell) in cells.cells.iter().enumerate() {
        let figures = cell.figures.iter().map(|id| catalogue.figure(id).map_err(|e| e.message));
        let figures: Vec<&Figure> = figures.collect::<Result<_, _>>()?;
        let counted = figures.into_iter().filter(|f| f.kind == FigureKind::Measured && f.self_consistent());
        let counted: Vec<(&Figure, ScoreKind)> = counted.filter_map(|f| Some((f, ScoreKind::of(f.metric)?))).collect();
        let system = systems.system.iter().find(|s| s.target == cell.load.target);
        let machine = system.map(|s| s.machine(catalogue, Some(&cell.article))).transpose()?;
        let foretold = match system.zip(machine.as_ref()) {
            Some((system, machine)) => system.foretell(machine, &cell.load, FigureScale::ONE)?,
            None => None,
        };
        for (figure, kind) in counted {
            let of = foretold.as_ref().and_then(|f| Some((f, f.metric(figure.metric)?, f.band(figure.metric)?)));
            let Some((foretold, predicted, band)) = of else {
                without_prediction += 1;
                continue;
            };
            let baseline = foretold.baseline(figure.metric);
            let published = nearest_end(figure, predicted);
            let published_for_baseline = nearest_end(figure, baseline.unwrap_or(predicted));
            let step = format!("{index} {}", foretold.label);
            found.push((
                figure,
                Scored { step, kind, published, published_for_baseline, predicted, baseline, band },
                foretold.label.clone(),
            ));
        }
    }
    let at_one: Vec<(&str, &Scored)> = found.iter().map(|(f, s, _)| (f.source.as_str(), s)).collect();
    let scale_without =
        |article: &str| scale_of(&at_one.iter().filter(|(of, _)| *of != article).map(|(_, s)| *s).collect::<Vec<_>>());
    let scored: Vec<(&Figure, Scored, &String)> = found
        .iter()
        .map(|(figure, s, label)| {
            let band = scaled(s.band, s.predicted, s.kind, &scale_without(&figure.source));
            (*figure, Scored { band, ..s.clone() }, label)
        })
        .collect();
    let of = |keep: &dyn Fn(&Figure, &Scored) -> bool| {
        Skill::of(&scored.iter().filter(|(f, s, _)| keep(f, s)).map(|(_, s, _)| s).collect::<Vec<_>>())
    };
    let kinds = ScoreKind::ALL.into_iter().filter_map(|kind| Some((kind, of(&|_, s| s.kind == kind)?)));
    let articles =
        cells.articles().into_iter().filter_map(|name| Some((name.to_owned(), of(&|f, _| f.source == name)?)));
    Ok(LeftOut {
        schema: SCHEMA,
        without_prediction,
        skill: of(&|_, _| true),
        by_kind: kinds.collect(),
        by_article: articles.collect(),
        scale: scale_of(&at_one.iter().map(|(_, s)| *s).collect::<Vec<_>>()),
        figures: scored
            .iter()
            .map(|(figure, s, label)| LeftOutRow {
                id: figure.id.clone(),
                article: figure.source.clone(),
                metric: figure.metric,
                step: (*label).clone(),
                published: s.published,
                baseline: s.baseline,
                predicted: s.predicted,
                band: s.band,
                is_inside: s.band.holds(s.published),
            })
            .collect(),
    })
}

/// The end of a published range that lies nearest to what was predicted.
pub(super) fn nearest_end(figure: &Figure, predicted: f64) -> f64 {
    let (low, high) = (figure.value, figure.value_max.unwrap_or(figure.value));
    predicted.clamp(low.min(high), low.max(high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_scale_is_about_what_the_articles_ask_for() {
        let table = left_out(&Cells::embedded(), &Catalogue::embedded()).expect("the files are sound");
        // By ranks of some sixty figures it moves with every formula: a quarter is within what another article would do.
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 0.25;
        let (found, shipped) = (table.scale, FigureScale::PUBLISHED);
        assert!(near(found.rate, shipped.rate) && near(found.cores, shipped.cores), "{found:?}");
    }

    #[test]
    fn nothing_of_an_article_is_in_its_own_prediction() {
        let catalogue = Catalogue::embedded();
        let systems: Systems = toml::from_str(TEXT).expect("is sound");
        for system in &systems.system {
            let device = catalogue.device(&system.device).expect("is there");
            for figure in device.sim.iter().flat_map(|s| &s.fitted_to).filter_map(|id| catalogue.figure(id).ok()) {
                let machine = system.machine(&catalogue, Some(&figure.source)).expect("is described");
                let sheet = machine.device.and_then(|d| d.sheet).expect("is a sheet's");
                assert!(!sheet.is_read_fitted && !sheet.is_write_fitted, "{}", system.target);
            }
            let engine = system.engine.as_deref().map(|id| catalogue.engine(id).expect("is there"));
            assert!(engine.is_none_or(|e| !Cells::embedded().articles().contains(&e.source.as_str())));
        }
    }
}
