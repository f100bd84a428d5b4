//! The lab database: one SQLite file that holds many runs, each as run -> step -> direction -> histogram and interval.
//!
//! A step is committed, with one fsync, when it ends: a crash, kill -9 or power cut loses at most the step in
//! progress. A run is immutable once finished. Everything of a [`fathom_record::StepRecord`] comes back bit for bit.

mod error;
mod files;
mod headline;
mod lab;
mod message;
mod owner;
mod pack;
mod prediction;
mod read;
mod schema;
mod types;
mod unsaved;
mod wait;
mod write;

pub use error::{Closed, StoreError};
pub use lab::Lab;
pub use schema::{APPLICATION_ID, SCHEMA_VERSION};
pub use types::{MadeFile, NewRun, Run, RunHead, RunId, RunState, RunSummary, StoredStep, WorkFolder};
pub use unsaved::{RecoveredRun, UnsavedRun};
