//! The articles, redone: each published figure beside the same step on the simulated platform.
//!
//! `catalogue/reproduce.toml` (cells) -> step -> simulated machine -> metric -> [`FigureRow`]. The result is a
//! [`Reproduction`], which `fathom reproduce --json` prints as it is and the report draws:
//!
//! ```text
//! { "schema": 2, "articles": [ { "id", "title", "publisher", "url", "machines": [..] } ],
//!   "window": { "ramp_ms", "runtime_ms", "seed" },
//!   "figures": [ { "id", "article", "metric", "unit", "published", "published_max", "relation", "predicted",
//!                  "error_pct", "fitted", "contradiction", "counted", "step", "target", "assumed", "reason" } ],
//!   "pictures": [ { "article", "title", "x", "shows": ["iops", "lat_mean_ns"],
//!                   "series": [ { "name", "points": [ { "x", "step", "values": { "iops": 1.0, .. },
//!                                 "published": [ { "id", "metric", "value", "value_max" } ] } ] } ] } ],
//!   "parameters": [ { "machines": [..], "parameter", "value", "fitted_to": [..] } ],
//!   "summary": { "figures", "within_10_pct", "beyond_25_pct", "unexplained", "held_out",
//!                "held_out_within_15_pct", "without_prediction", "contradicted" } }
//! ```
//!
//! `shows` names the metrics a picture draws: with one, bars or lines of it over `x`; with two, bars of the first and a
//! line of the second; `x = "IOPS"` with `shows = ["lat_mean_ns"]` is a curve of latency over IOPS. `values` always
//! holds `iops`, `bytes_per_s`, `lat_mean_ns`, `cpu_pct`, `cores_busy` and `iops_per_core`.

mod cells;
mod described;
mod forward;
mod left_out;
mod run;
mod score;
mod skill;

use std::sync::atomic::AtomicBool;

use fathom_message::{Arg, Join, Message, Say, msg, say_error};
use fathom_model::catalogue::Catalogue;

pub use cells::{Cell, Cells, LoadCell, Parameter, PictureCells, PointCell, Remark, SeriesCells};
pub use forward::{Forward, ForwardRow, forward};
pub use left_out::{LeftOut, LeftOutRow, left_out};
pub use run::Window;
pub use score::{Article, FigureRow, Picture, PicturePoint, PictureSeries, Published, Reproduction, Summary};
pub use skill::{ScoreKind, Scored, Skill};

/// Why there is no table.
#[derive(Debug)]
pub enum ReproduceError {
    /// No article has that name.
    UnknownArticle {
        /// The name that was asked for.
        name: String,
        /// What to do.
        help: Message,
    },
    /// A cell names a figure that the catalogue lacks, or a step that cannot be run: a fault of the shipped files.
    Cell(Message),
    /// Asked to stop before the last step.
    Interrupted,
}

impl Say for ReproduceError {
    fn message(&self) -> Message {
        match self {
            ReproduceError::UnknownArticle { name, .. } => msg!("reproduce-unknown-article", name = name),
            ReproduceError::Cell(why) => msg!("what-and-why", what = cells::FILE, why = why),
            ReproduceError::Interrupted => msg!("reproduce-interrupted"),
        }
    }

    fn help(&self) -> Option<Message> {
        Some(match self {
            ReproduceError::UnknownArticle { help, .. } => help.clone(),
            ReproduceError::Cell(_) => msg!("reproduce-cell-help"),
            ReproduceError::Interrupted => msg!("reproduce-interrupted-help"),
        })
    }
}

say_error!(ReproduceError);

/// The cells of one article, or of `all`.
///
/// # Errors
/// [`ReproduceError::UnknownArticle`], with the nearest name.
pub fn cells_of(article: &str) -> Result<Cells, ReproduceError> {
    let all = Cells::embedded();
    if article == "all" {
        return Ok(all);
    }
    let names = all.articles();
    if names.contains(&article) {
        return Ok(all.of(article));
    }
    let known = || std::iter::once("all").chain(names.iter().copied());
    let help = match fathom_units::nearest(article, known()) {
        Some(near) => msg!("did-you-mean", near = near.to_owned()),
        None => msg!("valid-words", words = Arg::names(known(), Join::Comma)),
    };
    Err(ReproduceError::UnknownArticle { name: article.to_owned(), help })
}

/// Runs every step of `cells` and sets the published figures beside what it gives. `on_step` hears how many of how many
/// steps are done; nothing is run once `stop` is set.
///
/// # Errors
/// [`ReproduceError::Cell`], [`ReproduceError::Interrupted`].
pub fn reproduce(
    cells: &Cells,
    catalogue: &Catalogue,
    window: Window,
    stop: &AtomicBool,
    on_step: &mut dyn FnMut(usize, usize),
) -> Result<Reproduction, ReproduceError> {
    let points = || cells.pictures.iter().flat_map(|p| &p.series).flat_map(|s| &s.points);
    let loads: Vec<&LoadCell> = cells.cells.iter().map(|c| &c.load).chain(points().map(|p| &p.load)).collect();
    let mut machines = run::Machines::default();
    let mut outcomes = Vec::with_capacity(loads.len());
    for (done, load) in loads.iter().enumerate() {
        on_step(done, loads.len());
        let outcome = machines.run(load, window, stop).map_err(ReproduceError::Cell)?;
        outcomes.push(outcome.ok_or(ReproduceError::Interrupted)?);
    }
    on_step(loads.len(), loads.len());
    let (of_cells, of_points) = outcomes.split_at(cells.cells.len());
    score::score(cells, of_cells, of_points, catalogue, window).map_err(ReproduceError::Cell)
}

#[cfg(test)]
mod tests;
