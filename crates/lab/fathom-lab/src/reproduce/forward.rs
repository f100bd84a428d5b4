//! Predictions made before their figures were looked up: `catalogue/forward/`.
//!
//! `drives.toml` and `steps.toml` say what is foretold of which drives, by their data sheets alone. `frozen.toml` holds what
//! was foretold, as it was committed; nothing changes it. `figures.toml` came in a later commit: what was published. What
//! is scored is the frozen prediction, not what the model of today would say.

use std::collections::BTreeMap;

use fathom_message::{Message, msg};
use fathom_model::FigureBand;
use fathom_model::catalogue::PublishedMetric;
use fathom_units::parse_size;
use serde::{Deserialize, Deserializer, Serialize};

use super::ReproduceError;
use super::skill::{ScoreKind, Scored, Skill};

macro_rules! file {
    ($name:literal) => {
        include_str!(concat!("../../../../../catalogue/forward/", $name))
    };
}

/// Version of this form.
const SCHEMA: u32 = 1;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FrozenFile {
    #[serde(default)]
    frozen: Vec<Frozen>,
}

/// What was foretold of a load: the middle, the ends of the band of 50 % and of that of 90 %.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Frozen {
    system: String,
    load: String,
    iops: [f64; 5],
    lat_us_mean: [f64; 5],
    lat_us_p99: [f64; 5],
    /// IOPS by arithmetic.
    baseline_iops: f64,
    baseline_lat_us_mean: f64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FigureFile {
    #[serde(default)]
    figure: Vec<ForwardFigure>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ForwardFigure {
    system: String,
    load: String,
    #[serde(deserialize_with = "printed_metric")]
    metric: PublishedMetric,
    /// In the unit that the word of the metric names.
    value: f64,
    url: String,
    /// What the publication says of its conditions.
    note: Option<String>,
    /// Why it was missed, where it was.
    why: Option<String>,
}

fn printed_metric<'de, D: Deserializer<'de>>(from: D) -> Result<PublishedMetric, D::Error> {
    let word = String::deserialize(from)?;
    PublishedMetric::from_printed(&word).ok_or_else(|| serde::de::Error::custom(word))
}

/// The frozen predictions that figures were found of, and their score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Forward {
    /// Version of this form.
    pub schema: u32,
    /// Loads that were foretold.
    pub foretold: u32,
    /// Figures that were found, in the order they are written down.
    pub figures: Vec<ForwardRow>,
    /// All figures; `None`: none is written down yet.
    pub skill: Option<Skill>,
    /// By kind of figure.
    pub by_kind: Vec<(ScoreKind, Skill)>,
    /// By system.
    pub by_system: Vec<(String, Skill)>,
}

/// A published figure beside what was foretold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ForwardRow {
    /// System.
    pub system: String,
    /// Load, in the words of the file.
    pub load: String,
    /// What is counted.
    pub metric: PublishedMetric,
    /// As published, in the unit of the metric.
    pub published: f64,
    /// By arithmetic.
    pub baseline: Option<f64>,
    /// Foretold.
    pub predicted: f64,
    /// How far it may lie.
    pub band: FigureBand,
    /// Whether the figure lies in the band of 90 %.
    pub is_inside: bool,
    /// Where it was published.
    pub url: String,
    /// What the publication says of its conditions.
    pub note: Option<String>,
    /// Why it was missed, where it was.
    pub why: Option<String>,
}

/// Scores the frozen predictions.
///
/// # Errors
/// [`ReproduceError::Cell`]: what is at fault in the shipped files.
pub fn forward() -> Result<Forward, ReproduceError> {
    table().map_err(ReproduceError::Cell)
}

fn parsed<T: for<'de> Deserialize<'de>>(name: &str, text: &str) -> Result<T, Message> {
    let why = |e: toml::de::Error| Message::verbatim(e.message().to_owned());
    toml::from_str(text).map_err(|e| msg!("what-and-why", what = format!("catalogue/forward/{name}"), why = why(e)))
}

fn table() -> Result<Forward, Message> {
    let frozen: FrozenFile = parsed("frozen.toml", file!("frozen.toml"))?;
    let figures: FigureFile = parsed("figures.toml", file!("figures.toml"))?;
    let by_load: BTreeMap<(&str, &str), &Frozen> =
        frozen.frozen.iter().map(|f| ((f.system.as_str(), f.load.as_str()), f)).collect();
    let mut rows = Vec::new();
    let mut scored = Vec::new();
    for figure in &figures.figure {
        let step = format!("{} {}", figure.system, figure.load);
        let of = by_load.get(&(figure.system.as_str(), figure.load.as_str()));
        let of = of.ok_or_else(|| msg!("reproduce-not-foretold", step = step.clone()))?;
        let (predicted, band, baseline) =
            of.metric(figure.metric).ok_or_else(|| msg!("reproduce-not-foretold", step = step.clone()))?;
        let kind = ScoreKind::of(figure.metric).ok_or_else(|| msg!("reproduce-not-foretold", step = step.clone()))?;
        let published = figure.value * figure.metric.factor();
        let published_for_baseline = published;
        let one = Scored { step, kind, published, published_for_baseline, predicted, baseline, band };
        scored.push((figure.system.as_str(), one));
        rows.push(ForwardRow {
            system: figure.system.clone(),
            load: figure.load.clone(),
            metric: figure.metric,
            published,
            baseline,
            predicted,
            band,
            is_inside: band.holds(published),
            url: figure.url.clone(),
            note: figure.note.clone(),
            why: figure.why.clone(),
        });
    }
    let of = |keep: &dyn Fn(&str, &Scored) -> bool| {
        Skill::of(&scored.iter().filter(|(system, s)| keep(system, s)).map(|(_, s)| s).collect::<Vec<_>>())
    };
    let mut systems: Vec<&str> = Vec::new();
    for (system, _) in &scored {
        if !systems.contains(system) {
            systems.push(system);
        }
    }
    let kinds = ScoreKind::ALL.into_iter().filter_map(|kind| Some((kind, of(&|_, s| s.kind == kind)?)));
    let by_system = systems.iter().filter_map(|name| Some(((*name).to_owned(), of(&|system, _| system == *name)?)));
    Ok(Forward {
        schema: SCHEMA,
        foretold: frozen.frozen.len() as u32,
        skill: of(&|_, _| true),
        by_kind: kinds.collect(),
        by_system: by_system.collect(),
        figures: rows,
    })
}

impl Frozen {
    /// Middle, band and arithmetic of a metric.
    fn metric(&self, metric: PublishedMetric) -> Option<(f64, FigureBand, Option<f64>)> {
        let block = self.load.split(' ').nth(1).and_then(|bs| parse_size(bs).ok())? as f64;
        let of = |five: [f64; 5], by: f64| {
            let [middle, low_50, high_50, low_90, high_90] = five.map(|x| x * by);
            (middle, FigureBand { within_50: [low_50, high_50], within_90: [low_90, high_90] })
        };
        let ((middle, band), baseline) = match metric {
            PublishedMetric::Iops => (of(self.iops, 1.0), Some(self.baseline_iops)),
            PublishedMetric::BytesPerS => (of(self.iops, block), Some(self.baseline_iops * block)),
            PublishedMetric::LatMeanNs => (of(self.lat_us_mean, 1e3), Some(self.baseline_lat_us_mean * 1e3)),
            PublishedMetric::LatP99Ns => (of(self.lat_us_p99, 1e3), None),
            _ => return None,
        };
        Some((middle, band, baseline))
    }
}

#[cfg(test)]
mod tests {
    use fathom_model::{Catalogue, FigureScale};

    use crate::reproduce::cells::LoadCell;
    use crate::reproduce::described::{Foretold, System};

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Steps {
        system: Vec<System>,
        grid: Vec<Grid>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Grid {
        systems: Vec<String>,
        loads: Vec<String>,
    }

    impl Frozen {
        fn line(system: &str, load: &str, of: &Foretold) -> Option<String> {
            let p = &of.prediction;
            let five = |middle: f64, band: &FigureBand, by: f64| {
                let all = [middle, band.within_50[0], band.within_50[1], band.within_90[0], band.within_90[1]];
                let digits: Vec<String> = all.iter().map(|x| rounded(x * by)).collect();
                format!("[{}]", digits.join(", "))
            };
            let baseline = p.baseline?;
            Some(format!(
                "    {{ system = \"{system}\", load = \"{load}\", iops = {}, lat_us_mean = {}, lat_us_p99 = {}, baseline_iops = {}, \
                 baseline_lat_us_mean = {} }},\n",
                five(p.iops, &p.bands.iops, 1.0),
                five(p.lat_ns_mean, &p.bands.lat_ns_mean, 1e-3),
                five(p.lat_ns_p99, &p.bands.lat_ns_p99, 1e-3),
                rounded(baseline.iops),
                rounded(baseline.lat_ns_mean / 1e3),
            ))
        }
    }

    /// Four digits, as a number of TOML that is no integer.
    fn rounded(x: f64) -> String {
        let digits = 10f64.powf(x.abs().max(1e-9).log10().floor() - 3.0);
        let value = (x / digits).round() * digits;
        if value >= 1000.0 { format!("{value:.1}") } else { format!("{value:.4}") }
    }

    /// Lines of `frozen.toml` for every load of `steps.toml` that it lacks: what was foretold before stays as it is.
    fn lines_to_freeze() -> Result<Vec<String>, Message> {
        let steps: Steps = parsed("steps.toml", file!("steps.toml"))?;
        let frozen: FrozenFile = parsed("frozen.toml", file!("frozen.toml"))?;
        let drives =
            Catalogue::parse(&[("catalogue/forward/drives.toml", file!("drives.toml"))]).map_err(|e| e.message)?;
        let catalogue = Catalogue::embedded().with(drives);
        let mut lines = Vec::new();
        for grid in &steps.grid {
            for name in &grid.systems {
                let system = steps.system.iter().find(|s| s.target == *name);
                let system = system.ok_or_else(|| msg!("reproduce-not-foretold", step = name))?;
                let machine = system.machine(&catalogue, None)?;
                for words in &grid.loads {
                    let known = frozen.frozen.iter().any(|f| f.system == *name && f.load == *words);
                    let load = LoadCell::of_words(name, words).filter(|_| !known);
                    let of = load
                        .map(|load| system.foretell(&machine, &load, FigureScale::PUBLISHED))
                        .transpose()?
                        .flatten();
                    lines.extend(of.and_then(|of| Frozen::line(name, words, &of)));
                }
            }
        }
        Ok(lines)
    }

    /// Nothing that was foretold is ever changed; `FATHOM_FREEZE=1` adds what `steps.toml` has and `frozen.toml` lacks.
    #[test]
    fn every_load_of_the_steps_is_frozen_or_is_frozen_now() {
        let lines = lines_to_freeze().expect("the files are sound");
        if std::env::var_os("FATHOM_FREEZE").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../catalogue/forward/frozen.toml");
            let text = std::fs::read_to_string(path).expect("is there");
            let kept = text.trim_end().strip_suffix(']').expect("ends its list");
            std::fs::write(path, format!("{kept}{}]\n", lines.concat())).expect("is written");
            return;
        }
        assert!(lines.is_empty(), "FATHOM_FREEZE=1 writes {} loads", lines.len());
    }

    #[test]
    fn every_figure_has_an_address_and_a_frozen_prediction() {
        let table = forward().expect("the files are sound");
        assert!(table.foretold > 1000);
        for row in &table.figures {
            assert!(row.url.starts_with("http"), "{}", row.load);
            assert!(row.is_inside || row.why.is_some(), "{} {} is missed without a reason", row.system, row.load);
        }
    }

    #[test]
    fn no_drive_that_is_foretold_is_in_the_catalogue() {
        let drives = Catalogue::parse(&[("drives.toml", file!("drives.toml"))]).expect("is sound");
        let known = Catalogue::embedded();
        for drive in drives.devices() {
            assert!(known.devices().iter().all(|d| d.model != drive.model && d.id != drive.id), "{}", drive.model);
            assert!(drive.sim.is_none(), "{} is fitted", drive.id);
        }
    }
}
