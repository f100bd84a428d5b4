//! Which step on which simulated machine stands for which published figures: `catalogue/reproduce.toml`.

use std::fmt::Write as _;

use fathom_plan::{Overrides, Plan, SourceError, parse_study};
use serde::Deserialize;

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
    /// `sim:MACHINE/DRIVES`.
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
    /// Conditions that the article does not state.
    pub assumed: Option<String>,
    /// Ids in the catalogue.
    pub figures: Vec<String>,
}

/// A fitted parameter.
#[derive(Clone, Debug, PartialEq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Where it is: `machine r830-ws2016: engine default, user`.
    pub name: String,
    /// Its value as the machine file has it.
    pub value: String,
    /// Figures it was fitted to, by id.
    pub fitted_to: Vec<String>,
    /// Figures it acts on beside those.
    #[serde(default)]
    pub acts_on: Vec<String>,
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

    /// Only those of one article.
    #[must_use]
    pub fn of(mut self, article: Option<&str>) -> Cells {
        self.cells.retain(|cell| article.is_none_or(|a| a == cell.article));
        self
    }

    /// Names of the articles, in the order of their first cells.
    #[must_use]
    pub fn articles(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for cell in &self.cells {
            if !names.contains(&cell.article) {
                names.push(cell.article.clone());
            }
        }
        names
    }

    /// The study that runs every cell once; step `i` is cell `i`.
    ///
    /// # Errors
    /// [`SourceError`] when a cell says what no step can do.
    pub fn plan(&self, name: &str, seed: u64) -> Result<Plan, SourceError> {
        let text = self.study_text(name, seed);
        let plan = parse_study(&text, FILE, &Overrides::default())?;
        if plan.steps.len() == self.cells.len() {
            return Ok(plan);
        }
        let message = format!("{} cells became {} steps", self.cells.len(), plan.steps.len());
        Err(SourceError::without_place(FILE, message, None))
    }

    fn study_text(&self, name: &str, seed: u64) -> String {
        let mut text = format!(
            "[study]\nname = \"{name}\"\nquestion = \"Does the simulated platform give what was published?\"\n\n\
             [defaults]\nramp_time = \"20ms\"\nruntime = \"100ms\"\nprecondition = \"none\"\nrandseed = {seed}\n"
        );
        for cell in &self.cells {
            let placement = cell.placement.as_deref().unwrap_or("unpinned");
            let _ = write!(
                text,
                "\n[[ladder]]\ntarget = \"{}\"\nrw = \"{}\"\nbs = \"{}\"\nload = \"{}\"\nengine = \"{}\"\nplacement = \
                 \"{placement}\"\n",
                cell.target, cell.rw, cell.bs, cell.load, cell.engine
            );
            if let Some(mode) = &cell.mode {
                let _ = writeln!(text, "mode = \"{mode}\"");
            }
            if let Some(share) = cell.rwmixread {
                let _ = writeln!(text, "rwmixread = {share}");
            }
        }
        text
    }
}
