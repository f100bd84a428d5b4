//! The articles, redone: each published figure beside the same step on the simulated platform.
//!
//! The way is that of any run: cells -> plan -> conduct on `sim:` targets -> store -> document; the table is made from
//! the document and the catalogue alone.

mod cells;
mod score;

pub use cells::{Cell, Cells, Parameter, Remark};
pub use score::{FigureRow, Reproduction, Summary, score};
