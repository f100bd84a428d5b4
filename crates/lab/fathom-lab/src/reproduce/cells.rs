//! Which step on which simulated machine stands for which published figures: `catalogue/reproduce.toml`.

use fathom_model::catalogue::PublishedMetric;
use fathom_plan::{KnobError, Knobs, Phase, Plan, Step, TargetId};
use serde::{Deserialize, Deserializer, Serialize};

use super::run::Window;

/// The file in the source tree.
pub(super) const FILE: &str = "catalogue/reproduce.toml";
const TEXT: &str = include_str!("../../../../../catalogue/reproduce.toml");

/// What `catalogue/reproduce.toml` holds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cells {
    /// Steps, in the order they run.
    #[serde(rename = "cell")]
    pub cells: Vec<Cell>,
    /// Charts of the articles, drawn again.
    #[serde(rename = "picture", default)]
    pub pictures: Vec<PictureCells>,
    /// Parameters of machines and devices that were fitted to published figures.
    #[serde(rename = "parameter", default)]
    pub parameters: Vec<Parameter>,
    /// Measured figures that no step stands for.
    #[serde(rename = "left_out", default)]
    pub left_out: Vec<Remark>,
    /// Reasons for errors beyond 25 %.
    #[serde(rename = "reason", default)]
    pub reasons: Vec<Remark>,
}

/// One step, in fio's words, and the figures it stands for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Article the figures are from.
    pub article: String,
    /// The step.
    #[serde(flatten)]
    pub load: LoadCell,
    /// Conditions that the article does not state.
    pub assumed: Option<String>,
    /// Ids in the catalogue.
    pub figures: Vec<String>,
}

/// A load on a part of a simulated machine.
#[derive(Clone, Debug, Deserialize)]
pub struct LoadCell {
    /// `sim:MACHINE/PART`.
    pub target: String,
    /// fio's word.
    pub rw: String,
    /// Block size; 4k unless named.
    #[serde(default = "four_k")]
    pub bs: String,
    /// Threads per drive x queue depth.
    pub load: String,
    /// Share of reads of a mixed load, percent.
    pub rwmixread: Option<u8>,
    /// Where threads run; unpinned unless named.
    pub placement: Option<String>,
    /// Engine; libaio unless named, as the machines of the articles have one interrupt-driven path.
    #[serde(default = "libaio")]
    pub engine: String,
    /// Mode of the engine.
    pub mode: Option<String>,
}

/// A chart of an article.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PictureCells {
    /// Article it is from.
    pub article: String,
    /// What it shows.
    pub title: String,
    /// Name of the x axis.
    pub x: String,
    /// Metrics drawn, the first as bars or the main line.
    #[serde(deserialize_with = "printed_metrics")]
    pub shows: Vec<PublishedMetric>,
    /// Lines or groups of bars.
    pub series: Vec<SeriesCells>,
}

/// One line of a chart.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeriesCells {
    /// What tells it from the others.
    pub name: String,
    /// Its points, in order.
    #[serde(rename = "point")]
    pub points: Vec<PointCell>,
}

/// One point of a chart.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointCell {
    /// Its place on the x axis.
    pub x: String,
    /// The step.
    #[serde(flatten)]
    pub load: LoadCell,
    /// Published figures that belong to the point.
    #[serde(default)]
    pub figures: Vec<String>,
}

/// A fitted parameter.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Shipped machines that have it.
    pub machines: Vec<String>,
    /// Its place in the machine file: `engine default: user`.
    pub parameter: String,
    /// Its value as the machine file has it.
    pub value: String,
    /// Figures it was fitted to, by id; at least two.
    pub fitted_to: Vec<String>,
}

/// A sentence about a figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remark {
    /// Id in the catalogue.
    pub figure: String,
    /// The sentence.
    pub why: String,
}

/// Named as in the files of the catalogue.
fn printed_metrics<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PublishedMetric>, D::Error> {
    let words = Vec::<String>::deserialize(from)?;
    let metric = |word: &String| PublishedMetric::from_printed(word).ok_or_else(|| serde::de::Error::custom(word));
    words.iter().map(metric).collect()
}

fn four_k() -> String {
    "4k".to_owned()
}

fn libaio() -> String {
    "libaio".to_owned()
}

impl Cells {
    /// The cells that come with the program.
    ///
    /// # Panics
    /// When the embedded file is damaged, which a test rules out.
    #[must_use]
    pub fn embedded() -> Cells {
        toml::from_str(TEXT).unwrap_or_else(|error| panic!("{FILE}: {error}"))
    }

    /// Only what belongs to one article.
    #[must_use]
    pub fn of(mut self, article: &str) -> Cells {
        self.cells.retain(|cell| cell.article == article);
        self.pictures.retain(|picture| picture.article == article);
        let machines: Vec<String> = self.cells.iter().filter_map(|c| c.load.machine()).map(str::to_owned).collect();
        self.parameters.retain(|p| p.machines.iter().any(|m| machines.contains(m)));
        self
    }

    /// Names of the articles, in the order of their first cells.
    #[must_use]
    pub fn articles(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for cell in &self.cells {
            if !names.contains(&cell.article.as_str()) {
                names.push(&cell.article);
            }
        }
        names
    }
}

impl LoadCell {
    /// Reads `randread 4k 4x32` or, seven reads in ten, `randrw70 4k 1x8`; `None`: these are not three such words.
    #[cfg(test)]
    pub(super) fn of_words(target: &str, words: &str) -> Option<LoadCell> {
        let [rw, bs, load] = words.split(' ').collect::<Vec<_>>()[..] else { return None };
        let digits = rw.find(|c: char| c.is_ascii_digit()).unwrap_or(rw.len());
        let (rw, share) = rw.split_at(digits);
        Some(LoadCell {
            target: target.to_owned(),
            rw: rw.to_owned(),
            bs: bs.to_owned(),
            load: load.to_owned(),
            rwmixread: if share.is_empty() { None } else { Some(share.parse().ok()?) },
            placement: None,
            engine: libaio(),
            mode: None,
        })
    }

    /// Name of the simulated machine.
    pub(super) fn machine(&self) -> Option<&str> {
        fathom_sim::target_name(&self.target).map(|name| name.machine)
    }

    /// The step, on the drives `parts` of the machine.
    pub(super) fn step(&self, parts: &[String], window: Window) -> Result<Step, KnobError> {
        let machine = self.machine().unwrap_or_default();
        let (threads, depth) = self.load.split_once('x').unwrap_or((&self.load, "1"));
        let mut knobs = Knobs::new();
        let mut set = vec![
            ("rw", self.rw.clone()),
            ("bs", self.bs.clone()),
            ("numjobs", threads.to_owned()),
            ("iodepth", depth.to_owned()),
            ("engine", self.engine.clone()),
            ("placement", self.placement.clone().unwrap_or_else(|| "unpinned".to_owned())),
            ("ramp_time", format!("{}ms", window.ramp_ms)),
            ("runtime", format!("{}ms", window.runtime_ms)),
            ("randseed", window.seed.to_string()),
        ];
        set.extend(self.mode.clone().map(|mode| ("mode", mode)));
        set.extend(self.rwmixread.map(|share| ("rwmixread", share.to_string())));
        for (key, value) in set {
            knobs.set(key, &value)?;
        }
        let targets = parts.iter().map(|part| TargetId::new(format!("sim:{machine}/{part}"))).collect();
        let plan = Plan::from_io(&knobs, targets, FILE)?;
        Ok(plan.steps.into_iter().find(|s| s.phase == Phase::Measure).expect("a plan of one load measures it"))
    }
}
