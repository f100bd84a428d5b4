//! Conducts a run: targets -> steps -> store -> explanation; emits events. Builds the [`document::Document`] of a run.

mod checks;
pub mod compare;
mod conduct;
pub mod document;
mod facts;
mod foresight;
mod health;
mod links;
mod machine;
mod names;
mod proof;
mod references;
pub mod reproduce;
#[cfg(test)]
mod samples;
mod sentences;
mod simulated;
mod steadiness;
mod targets;
mod verdict;
mod view;

pub use conduct::{
    ConductError, ConductOptions, Event, RunOutcome, check_targets, conduct, executed_plan, plan_again, plan_now,
    resume,
};
pub use facts::{observations_of, step_facts};
pub use health::{DriveHealthView, HealthSampleView};
pub use names::expand_target;
pub use simulated::{SimulatedMachine, simulated_machine};
pub use targets::{FILE_BYTES_DEFAULT, TargetError};
pub use view::{document_of, is_unsteady, rfc3339};
