//! What measured steps mean: from a step and its record to figures with intervals, the laws it must keep and what limited
//! it; from the steps of a run to the answer of its study; from several runs to a comparison. Pure: whoever reads a lab or
//! a host hands over plain values.
//!
//! [`document`] holds the types and knows nothing of the rest; [`view`](step_view) fills a step, [`compare`] and
//! [`verdicts`] judge what is filled.

mod checks;
pub mod compare;
mod cpu_time;
pub mod document;
mod health;
mod ladder;
pub mod oltp;
mod precision;
mod predicted;
mod proof;
mod references;
mod rfc3339;
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub mod samples;
mod sentences;
mod stages;
mod steadiness;
mod streams;
mod trust;
mod verdict;
mod view;

pub use checks::{derived_warnings, slow_members};
pub use ladder::{ladders, median_step};
pub use precision::withhold_intervals;
pub use predicted::{add_prediction, set_predicted};
pub use proof::{disproof, target_names};
pub use references::references;
pub use rfc3339::{known_rfc3339, rfc3339};
pub use steadiness::{Loops, value_of};
pub use streams::StreamSets;
pub use trust::{stand_in, trust, trust_of_import, trust_of_stand_in};
pub use verdict::{arrays, goals, groups, keeps_by_far, loops, paths, report, surfaces, verdicts};
pub use view::{is_lacking, limit_view, set_limits, set_stream_limits, step_view};
